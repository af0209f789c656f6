//! `demo`: what ties teach, on simulated pairs (Venuto et al., section 4.1): a table, a page with pictures, and what to
//! type next.

mod content;
mod study;
mod trial;

use std::path::{Path, PathBuf};

use rankwise::model::Method;
use rankwise::{Error, Loss};
use serde::Serialize;

use self::study::{AucOrder, Order, Point, Results, Study, TABLE_PAIRS, TIES};
use super::check_writable;
use super::pair_trial::{Beside, GRID_C, GRID_GAMMA, GRID_VALUES, METHODS, NOISE, Sets, Settings, TEST_PAIRS};
use super::simulate::to_csv;
use crate::args::{Common, DemoArgs};
use crate::exit::{Failure, Run};
use crate::output::{self, Output};
use crate::text::{number, percent, rounded, table, wide_table};

const PAGE: &str = "rankwise-demo.html";
/// How the title of every demo's page begins: by this a page is known as one.
const TITLE: &str = "rankwise demo";
/// The first line of every file of simulated pairs.
const CSV_HEADER: &str = "left.x1,left.x2,right.x1,right.x2,outcome";
const CSV_NAMES: [&str; 3] = ["train.csv", "validation.csv", "test.csv"];

/// Runs the demonstration; nothing is written before everything is made.
pub(super) fn run(args: &DemoArgs, common: &Common, output: &Output) -> Run<()> {
    let files = Files::new(args.out.as_deref());
    files.check()?;
    let make = if args.full { Study::full } else { Study::short };
    let study = make(common.seed, args.seeds.map(|n| n as usize));
    output.note(|| format!("trying {} draws of pairs", study.n_trials));
    let results = study.run(output.shows_progress())?;
    let sets = results.study.table_draw().sets()?;
    let demo = Demo::new(&results, &files)?;
    let page = content::page(&demo, &results)?;
    files.write(&page.html(), &sets)?;
    demo.warnings.iter().for_each(|warning| output.warning(warning));
    output.result(|| &demo, || demo.text())
}

/// What is written where.
struct Files {
    page: PathBuf,
    /// The directory that the pairs are written to.
    pairs: Option<PathBuf>,
}

impl Files {
    fn new(out: Option<&Path>) -> Self {
        Files {
            page: out.map_or_else(|| PAGE.into(), |directory| directory.join(PAGE)),
            pairs: out.map(Path::to_path_buf),
        }
    }

    fn csv(&self) -> Vec<PathBuf> {
        self.pairs.iter().flat_map(|directory| CSV_NAMES.map(|name| directory.join(name))).collect()
    }

    /// Makes sure, before the work, that everything can be written and nothing of somebody else is lost.
    fn check(&self) -> Run<()> {
        if let Some(directory) = &self.pairs {
            std::fs::create_dir_all(directory).map_err(|source| Error::Io {
                path: directory.into(),
                action: "create",
                source,
            })?;
        }
        refuse_foreign(&self.page, |text| text.contains(&format!("<title>{TITLE}")))?;
        for path in self.csv() {
            refuse_foreign(&path, |text| text.lines().next() == Some(CSV_HEADER))?;
        }
        Ok(())
    }

    fn write(&self, page: &str, sets: &Sets) -> Run<()> {
        let mut files = Vec::new();
        for (path, data) in self.csv().into_iter().zip([&sets.train, &sets.validation, &sets.test]) {
            files.push((path, to_csv(data)?));
        }
        files.push((self.page.clone(), page.as_bytes().to_vec()));
        output::write_files(&files)
    }
}

/// Refuses to write over a file that no demo has written.
fn refuse_foreign(path: &Path, is_own: impl Fn(&str) -> bool) -> Run<()> {
    check_writable(path)?;
    if !path.is_file() {
        return Ok(());
    }
    let found = std::fs::read(path).map_err(|source| Error::Io { path: path.into(), action: "read", source })?;
    if is_own(&String::from_utf8_lossy(&found)) {
        return Ok(());
    }
    Err(Failure::Fault(format!(
        "{}: is there already and not from an earlier demo; name another directory with --out, or move the file away",
        path.display()
    )))
}

/// A method on the pairs of the table.
#[derive(Debug, Serialize)]
struct Row {
    method: Method,
    loss: Loss,
    #[serde(rename = "C")]
    c: f64,
    gamma: f64,
    validation_error: f64,
    test_error: f64,
    test_auc: f64,
    threshold: f64,
    support_pairs: usize,
}

/// The seeds of the table's pairs.
#[derive(Debug, Clone, Copy, Serialize)]
struct Seeds {
    train: u64,
    validation: u64,
    test: u64,
}

/// What was found; its fields are the JSON keys.
#[derive(Debug, Serialize)]
struct Demo {
    page: String,
    /// The files of pairs.
    files: Vec<String>,
    pairs: usize,
    test_pairs: usize,
    ties: f64,
    noise: f64,
    seed: u64,
    seeds: Seeds,
    /// Draws that the figures are means of.
    trials: usize,
    /// With the paper's settings.
    methods: Vec<Row>,
    /// With rankwise's defaults.
    defaults: Vec<Row>,
    /// Mean test errors of the same over all draws, in the same order.
    defaults_mean: [f64; 3],
    majority_error: f64,
    true_ranking_error: f64,
    true_ranking_auc: f64,
    figure4: Vec<Point>,
    /// By norm: does compare err less than rank2, and rank2 less than rank?
    orders: Vec<Order>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    figure5: Vec<Point>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    auc_orders: Vec<AucOrder>,
    next: Vec<String>,
    warnings: Vec<String>,
}

impl Demo {
    fn new(results: &Results, files: &Files) -> Run<Self> {
        let rows = |settings| METHODS.into_iter().map(move |method| row(results, method, settings)).collect::<Run<_>>();
        let study = &results.study;
        let Beside { truth, constant } = results.of(&study.table_job(METHODS[0], Settings::Paper))?.beside;
        let [train, validation, test] = study.table_draw().seeds();
        let (figure4, figure5) = (results.figure4()?, results.figure5()?);
        Ok(Demo {
            page: files.page.display().to_string(),
            files: files.csv().iter().map(|path| path.display().to_string()).collect(),
            pairs: TABLE_PAIRS,
            test_pairs: TEST_PAIRS,
            ties: TIES,
            noise: NOISE,
            seed: study.seed,
            seeds: Seeds { train, validation, test },
            trials: study.n_trials,
            methods: rows(Settings::Paper)?,
            defaults: rows(Settings::Defaults)?,
            defaults_mean: results.defaults_mean()?,
            majority_error: constant.error,
            true_ranking_error: truth.error,
            true_ranking_auc: truth.auc,
            orders: study::orders(&figure4),
            figure4,
            auc_orders: study::auc_orders(&figure5),
            figure5,
            next: next_commands(files.pairs.as_deref(), study.seed),
            warnings: results.warnings(),
        })
    }

    /// The error of a method with the paper's settings.
    fn error(&self, method: Method) -> f64 {
        self.methods.iter().find(|row| row.method == method).map_or(f64::NAN, |row| row.test_error)
    }

    /// What became of the methods with rankwise's defaults.
    fn defaults_sentence(&self) -> String {
        let list = |errors: &mut dyn Iterator<Item = (Method, f64)>| {
            errors.map(|(method, error)| format!("{} {}", method.name(), percent(error))).collect::<Vec<_>>().join(", ")
        };
        let here = list(&mut self.defaults.iter().map(|row| (row.method, row.test_error)));
        let mean = list(&mut METHODS.into_iter().zip(self.defaults_mean));
        format!(
            "With rankwise's defaults (squared hinge, threshold re-fitted): {here}; mean of {} draws: {mean}. The squared hinge \
             helps rank2 most: over many draws it is level with compare.",
            self.trials
        )
    }

    fn text(&self) -> String {
        let methods = self.methods.iter().map(|row| {
            let (error, auc) = (percent(row.test_error), format!("{:.3}", row.test_auc));
            [row.method.name().into(), three_digits(row.c), three_digits(row.gamma), error, auc]
        });
        let beside = |name: &str, error: f64, auc: Option<f64>| {
            let auc = auc.map_or_else(String::new, |auc| format!("{auc:.3}"));
            [name.into(), String::new(), String::new(), percent(error), auc]
        };
        let truth = beside("true ranking function", self.true_ranking_error, Some(self.true_ranking_auc));
        let others = [truth, beside("majority outcome", self.majority_error, None)];
        let next: String = self.next.iter().map(|command| format!("  {command}\n")).collect();
        format!(
            "{} judged pairs, half of them ties, to learn from; as many to choose C and γ; {} to test.\n\n{}\n\
             What to see: rank drops the ties, rank2 takes each as two opposite pairs, compare as a difference that does \
             not matter.\nThe true ranking function, with ties up to a difference of 1, is the line to reach.\n\
             These are the settings of the SVMcompare paper (hinge, the machine's own threshold).\n{}\n{}\n\
             Page with pictures: {}\n\n{}\n{next}",
            self.pairs,
            self.test_pairs,
            table(["method", "C", "γ", "test error", "test AUC"], methods.chain(others)),
            self.defaults_sentence(),
            self.orders_text(),
            self.page,
            self.next_heading(),
        )
    }

    /// The claims for every norm, where several were tried.
    fn orders_text(&self) -> String {
        if self.auc_orders.is_empty() {
            return String::new();
        }
        let yes = |holds| if holds { "yes" } else { "no" }.to_string();
        let errors = self.orders.iter().map(|o| {
            let [rank, rank2, compare, truth] = [o.rank, o.rank2, o.compare, o.truth].map(percent);
            vec![o.norm.into(), rank, rank2, compare, truth, o.verdict()]
        });
        let aucs = self.auc_orders.iter().map(|o| {
            let [rank, rank2, compare, truth] = [o.rank, o.rank2, o.compare, o.truth].map(|auc| format!("{auc:.4}"));
            vec![o.norm.into(), rank, rank2, compare, truth, yes(o.holds)]
        });
        let header = |last| ["norm", "rank", "rank2", "compare", "true function", last];
        format!(
            "\nMean test error over all sizes, {} draws each:\n{}\nMean test AUC over all shares of ties, {} draws each:\n{}",
            self.trials,
            wide_table(&header("compare < rank2 < rank"), errors),
            self.trials,
            wide_table(&header("compare best"), aucs),
        )
    }

    /// What the next commands are for.
    fn next_heading(&self) -> String {
        if self.files.is_empty() {
            "Next, on your own data (a row per judged pair: columns left.NAME and right.NAME with numbers, and outcome, which \
             is left, tie or right):"
                .into()
        } else {
            "Next, on these pairs (the first command repeats the row compare of the table; put your own files in their \
             place):"
                .into()
        }
    }
}

fn row(results: &Results, method: Method, settings: Settings) -> Run<Row> {
    let found = results.of(&results.study.table_job(method, settings))?;
    Ok(Row {
        method,
        loss: settings.loss(),
        c: found.c,
        gamma: found.gamma,
        validation_error: found.validation,
        test_error: found.test.error,
        test_auc: found.test.auc,
        threshold: found.threshold,
        support_pairs: found.support_pairs,
    })
}

/// For people to read.
fn three_digits(value: f64) -> String {
    format!("{value:.2e}").parse().map_or_else(|_| rounded(value), rounded)
}

/// What to type next: choose and learn, look, use.
fn next_commands(pairs: Option<&Path>, seed: u64) -> Vec<String> {
    let Some(directory) = pairs else {
        return vec![
            "rankwise tune --pairs pairs.csv --kernel rbf --scale standard -o model.safetensors".into(),
            "rankwise report model.safetensors --pairs more_pairs.csv -o report.html".into(),
            "rankwise predict model.safetensors --pairs new_pairs.csv -o predictions.csv".into(),
        ];
    };
    let file = |name: &str| quoted(&directory.join(name).display().to_string());
    let (model, test) = (file("compare.safetensors"), file("test.csv"));
    let grid =
        |name: &str, (low, high): (f64, f64)| format!("--grid {name}={}:{}:{GRID_VALUES}", number(low), number(high));
    let again = if seed == 0 { String::new() } else { format!(" --seed {seed}") };
    vec![
        // The table was made without a file in between: f64 keeps every digit of it.
        format!(
            "rankwise tune --pairs {} --valid {} --kernel rbf --loss hinge --threshold model {} {} --precision f64{again} \
             -o {model}",
            file("train.csv"),
            file("validation.csv"),
            grid("C", GRID_C),
            grid("gamma", GRID_GAMMA),
        ),
        format!("rankwise report {model} --pairs {test} -o {}", file("report.html")),
        format!("rankwise predict {model} --pairs {test} -o {}", file("predictions.csv")),
    ]
}

/// A path as a shell takes it, and no option.
fn quoted(path: &str) -> String {
    let path = if path.starts_with('-') { format!("./{path}") } else { path.into() };
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/._-+".contains(c));
    if is_plain { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_demo_tells_every_norm_and_every_share_of_ties() {
        let results = study::tests::tiny().run(false).unwrap();
        let demo = Demo::new(&results, &Files::new(None)).unwrap();
        let text = demo.text();
        for words in ["l1", "linf", "compare < rank2 < rank", "of 2 sizes", "compare best", "Mean test AUC", "2 draws"]
        {
            assert!(text.contains(words), "no {words:?} in {text}");
        }
        let html = content::page(&demo, &results).unwrap().html();
        assert_eq!(html.matches("<svg").count(), 4 + 2 + 2);
        for words in ["With more ties", "‖x‖₁²", "‖x‖∞²", "compare is best", "constant answer"] {
            assert!(html.contains(words), "no {words:?}");
        }
        let notes = html.matches("does not hold everywhere").count();
        assert_eq!(notes, usize::from(demo.orders.iter().any(|order| !order.holds)));
        let json = serde_json::to_value(&demo).unwrap();
        for key in ["figure4", "figure5"] {
            let point = &json[key][0];
            for name in ["norm", "n", "ties", "method", "mean", "low", "high"] {
                assert!(!point[name].is_null(), "{key}: no {name} in {point}");
            }
        }
        assert_eq!(json["auc_orders"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn paths_are_quoted_for_a_shell() {
        assert_eq!(quoted("a/b-1.csv"), "a/b-1.csv");
        assert_eq!(quoted("-x/b"), "./-x/b");
        assert_eq!(quoted("it's here"), r"'it'\''s here'");
    }
}
