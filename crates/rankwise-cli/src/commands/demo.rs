//! `demo`: the methods side by side on simulated pairs with ties (Venuto et al., section 4.1), each with the C and γ
//! that do best on validation pairs.

use std::path::Path;

use rankwise::data::Comparisons;
use rankwise::data::simulate::{Norm, Simulation};
use rankwise::estimator::PairEstimator;
use rankwise::kernel::Kernel;
use rankwise::metrics::Judged;
use rankwise::model::{Method, Model};
use rankwise::{Error, Loss};
use serde::Serialize;

use super::simulate::to_csv;
use crate::args::{Common, DemoArgs};
use crate::exit::{Failure, Run};
use crate::interrupt::{self, Shield};
use crate::output::{self, Output};
use crate::plan;
use crate::progress::CountingBar;
use crate::text::{number, table};

const NORM: Norm = Norm::L1;
const N_PAIRS: usize = 400;
const TIES: f64 = 0.5;
const NOISE: f64 = 0.25;
const GRID_C: [f64; 4] = [0.1, 1.0, 10.0, 100.0];
const GRID_GAMMA: [f64; 4] = [0.0625, 0.25, 1.0, 4.0];
const METHODS: [Method; 3] = [Method::Rank, Method::Rank2, Method::Compare];

/// Runs the demonstration.
pub(super) fn run(args: &DemoArgs, common: &Common, output: &Output) -> Run<()> {
    let sets = Sets::draw(common.seed)?;
    if let Some(directory) = &args.out {
        sets.write(directory)?;
    }
    let shield = Shield::up();
    let bar = CountingBar::new(output.shows_progress(), METHODS.len() * GRID_C.len() * GRID_GAMMA.len());
    let mut done = 0;
    let mut methods = Vec::new();
    for method in METHODS {
        let mut best: Option<Row> = None;
        for c in GRID_C {
            for gamma in GRID_GAMMA {
                let row = Row::train(method, c, gamma, &sets, common, &bar)?;
                if best.as_ref().is_none_or(|best| row.validation_error < best.validation_error) {
                    best = Some(row);
                }
                done += 1;
                bar.set(done);
            }
        }
        methods.extend(best);
    }
    drop((bar, shield));
    let demo = Demo {
        pairs: N_PAIRS,
        ties: TIES,
        noise: NOISE,
        seed: common.seed,
        methods,
        majority_error: judge(&sets.test, &vec![0.0; N_PAIRS], 1.0, |judged| judged.majority_error())?,
        true_ranking_error: judge(&sets.test, &true_margins(&sets.test), 1.0, |judged| judged.zero_one())?,
        next: Vec::new(),
    };
    let demo = Demo { next: next_commands(&demo, args.out.as_deref(), common.seed), ..demo };
    output.result(|| &demo, || demo.text())
}

/// Pairs to learn from, to choose with and to be judged by.
struct Sets {
    train: Comparisons,
    validation: Comparisons,
    test: Comparisons,
}

impl Sets {
    fn draw(seed: u64) -> Run<Self> {
        let draw = |more: u64| {
            let seed = seed.wrapping_add(more);
            Simulation { norm: NORM, n_pairs: N_PAIRS, ties: TIES, noise: NOISE, seed }.draw()
        };
        Ok(Sets { train: draw(0)?, validation: draw(1)?, test: draw(2)? })
    }

    fn write(&self, directory: &Path) -> Run<()> {
        std::fs::create_dir_all(directory).map_err(|source| Error::Io {
            path: directory.into(),
            action: "create",
            source,
        })?;
        for (name, data) in [("train", &self.train), ("validation", &self.validation), ("test", &self.test)] {
            output::write_file(&directory.join(format!("{name}.csv")), &to_csv(data)?)?;
        }
        Ok(())
    }
}

/// A line of the table.
#[derive(Debug, Serialize)]
struct Row {
    method: Method,
    #[serde(rename = "C")]
    c: f64,
    gamma: f64,
    validation_error: f64,
    test_error: f64,
    test_auc: f64,
    threshold: f64,
    support_pairs: usize,
}

impl Row {
    fn train(method: Method, c: f64, gamma: f64, sets: &Sets, common: &Common, bar: &CountingBar) -> Run<Self> {
        let mut estimator = PairEstimator::new(method)?.shaped(c, Kernel::rbf(gamma), Loss::default());
        *estimator.effort_mut() = plan::common_effort(common);
        let fit = estimator.fit_watched(&sets.train, bar);
        interrupt::check()?;
        let model: Model = fit?.model;
        let validation = model.margins(&sets.validation.set)?;
        let test = model.margins(&sets.test.set)?;
        Ok(Row {
            method,
            c,
            gamma,
            validation_error: judge(&sets.validation, &validation, model.threshold, |judged| judged.zero_one())?,
            test_error: judge(&sets.test, &test, model.threshold, |judged| judged.zero_one())?,
            test_auc: judge(&sets.test, &test, model.threshold, |judged| judged.auc())?,
            threshold: model.threshold,
            support_pairs: model.training.support_pairs,
        })
    }
}

fn judge(
    data: &Comparisons,
    margins: &[f64],
    threshold: f64,
    measure: impl Fn(&Judged<'_>) -> Option<f64>,
) -> Run<f64> {
    let judged = Judged::new(&data.outcomes, margins, None, threshold)?;
    measure(&judged).ok_or_else(|| Failure::Fault("the simulated pairs lack an outcome".into()))
}

/// Margins of the function the pairs were drawn from.
fn true_margins(data: &Comparisons) -> Vec<f64> {
    let rank = |item: u32| {
        let mut point = [0.0; 2];
        data.set.items.features.copy_row(item as usize, &mut point);
        NORM.rank(point)
    };
    data.set.pairs.iter().map(|pair| rank(pair.right) - rank(pair.left)).collect()
}

/// What to type next: learn with the best comparer's parameters, measure, look inside.
fn next_commands(demo: &Demo, directory: Option<&Path>, seed: u64) -> Vec<String> {
    let compare = demo.methods.iter().find(|row| row.method == Method::Compare);
    let (c, gamma) = compare.map_or((1.0, 1.0), |row| (row.c, row.gamma));
    // The table was made without a file in between: f64 keeps every digit of it.
    let again = if seed == 0 { String::new() } else { format!(" --seed {seed}") };
    let train = format!("--kernel rbf --C {} --gamma {} --precision f64{again}", number(c), number(gamma));
    match directory {
        Some(directory) => {
            let file = |name: &str| quoted(&directory.join(name).display().to_string());
            let (model, pairs, test) = (file("compare.safetensors"), file("train.csv"), file("test.csv"));
            vec![
                format!("rankwise train --pairs {pairs} {train} -o {model}"),
                format!("rankwise evaluate {model} --pairs {test}"),
                format!("rankwise inspect {model} --top 5"),
            ]
        }
        None => {
            let simulate = |more: u64| {
                let seed = seed.wrapping_add(more);
                format!("rankwise simulate --norm l1 --pairs {N_PAIRS} --ties {TIES} --noise {NOISE} --seed {seed}")
            };
            vec![
                format!("{} -o train.csv", simulate(0)),
                format!("rankwise train --pairs train.csv {train} -o compare.safetensors"),
                format!("{} | rankwise evaluate compare.safetensors --pairs - --format csv", simulate(2)),
            ]
        }
    }
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/._-+".contains(c));
    if is_plain { path.into() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// What was found; its fields are the JSON keys.
#[derive(Debug, Serialize)]
struct Demo {
    pairs: usize,
    ties: f64,
    noise: f64,
    seed: u64,
    methods: Vec<Row>,
    majority_error: f64,
    true_ranking_error: f64,
    next: Vec<String>,
}

impl Demo {
    fn text(&self) -> String {
        let short = |value: f64| format!("{value:.3}");
        let methods = self.methods.iter().map(|row| {
            let errors = [row.validation_error, row.test_error, row.test_auc, row.threshold].map(short);
            let [validation, test, auc, threshold] = errors;
            let (c, gamma) = (number(row.c), number(row.gamma));
            [row.method.name().into(), c, gamma, validation, test, auc, threshold, row.support_pairs.to_string()]
        });
        let beside = |name: &str, error: f64| {
            let none = String::new;
            [name.into(), none(), none(), none(), short(error), none(), none(), none()]
        };
        let others =
            [beside("majority outcome", self.majority_error), beside("true ranking function", self.true_ranking_error)];
        let header = ["method", "C", "γ", "validation error", "test error", "test AUC", "threshold", "support pairs"];
        format!(
            "Pairs of points, compared by ‖x‖₁² with noise {}: {} to learn from, {} to choose C and γ, {} to test; half \
             are ties.\n\n{}\nWhat to see: rank never sees the ties, rank2 takes each as two opposite pairs, compare as a \
             difference that does not matter.\nThe true ranking function errs by the noise alone; who does no better than the majority \
             outcome has learnt nothing.\n\nNext:\n{}",
            self.noise,
            self.pairs,
            self.pairs,
            self.pairs,
            table(header, methods.chain(others)),
            self.next.iter().map(|command| format!("  {command}\n")).collect::<String>()
        )
    }
}
