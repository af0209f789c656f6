//! What the paper leaves to the future: comparison on data of a search engine. Documents of a query are paired, equal grades are
//! ties, and the machines of the paper are tried as on its own data.

use rankwise::Loss;
use rankwise::data::{Comparisons, Outcome, Pair, PairSet, Precision, Random, Ranking, Scale};
use rankwise::estimator::RankSvm;
use rankwise::io::published::{LETOR_FOLDS, LetorFolds};
use rankwise::metrics::{ItemMetric, PairMetric, Ranked};
use rankwise::model::Model;

use super::{MACHINES, Machine};
use crate::commands::pair_trial::{GRID_VALUES, Measured, Sets, Trial};
use crate::commands::reproduce::data_dir::Need;
use crate::commands::reproduce::stats::Summary;
use crate::commands::reproduce::study::{
    Claim, Findings, Found, Paper, Patient, Prepared, Room, Study, Task, Values, row, values,
};
use crate::exit::{Failure, Run};
use crate::page::Table;
use crate::picture::{Axis, IntervalKind, Intervals, Sheet};

const NDCG: &str = "ndcg@10";
/// The share of ties.
const TIES: f64 = 0.5;

/// The study.
pub(in crate::commands::reproduce) struct Letor;

impl Study for Letor {
    fn name(&self) -> &'static str {
        "svmcompare-letor"
    }

    fn title(&self) -> &'static str {
        "Comparison on search-engine data, MQ2008 (the paper's future work)"
    }

    fn paper(&self) -> Paper {
        Paper::Comparison
    }

    fn needs(&self) -> Vec<Need> {
        let need = |file| Need {
            folder: "mq2008",
            file,
            source: "LETOR 4.0 (Microsoft Research), MQ2008, parts S1 to S5",
            licence: "research use",
        };
        ["S1.txt", "S2.txt", "S3.txt", "S4.txt", "S5.txt"].map(need).into()
    }

    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>> {
        let first = self.needs().into_iter().next().ok_or_else(|| Failure::Fault("no files are known".into()))?;
        let folds = LetorFolds::read(&room.data.folder_of(&first)?)?;
        let n_folds = room.pick(2, LETOR_FOLDS);
        let folds = (1..=n_folds).map(|k| {
            let fold = folds.fold(k, Precision::F64)?;
            Ok([fold.train, fold.validation, fold.test])
        });
        Ok(Box::new(Folds {
            folds: folds.collect::<Run<Vec<_>>>()?,
            seed: room.seed,
            n_grid: room.pick(3, GRID_VALUES),
            sizes: room.pick([100, 4000], [800, 20_000]),
        }))
    }
}

/// The folds.
struct Folds {
    /// To learn from, to choose with, to be judged by.
    folds: Vec<[Ranking; 3]>,
    seed: u64,
    n_grid: usize,
    /// Pairs of the Gaussian and of the linear machines.
    sizes: [usize; 2],
}

/// Kernels: Gaussian as in the paper, and linear on more pairs.
const KERNELS: [&str; 2] = ["gaussian", "linear"];

/// Draws pairs of documents within queries, half of them ties; all of them where there are no more.
fn draw(data: &Ranking, n_pairs: usize, seed: u64) -> Run<Comparisons> {
    let (mut ties, mut others) = (Vec::new(), Vec::new());
    for members in data.groups.members().iter() {
        for (at, &left) in members.iter().enumerate() {
            for &right in &members[at + 1..] {
                let is_tie = data.labels[left as usize] == data.labels[right as usize];
                if is_tie { &mut ties } else { &mut others }.push(Pair { left, right });
            }
        }
    }
    let mut random = Random::new(seed);
    let n_ties = (n_pairs as f64 * TIES) as usize;
    let half = n_ties.min(ties.len()).min(others.len());
    let mut pairs = Vec::with_capacity(2 * half);
    for mut kind in [ties, others] {
        random.shuffle(&mut kind);
        kind.truncate(half);
        pairs.extend(kind);
    }
    // Which side a document stands on means nothing.
    let mut outcomes = Vec::with_capacity(pairs.len());
    for pair in &mut pairs {
        if random.uniform() < 0.5 {
            std::mem::swap(&mut pair.left, &mut pair.right);
        }
        outcomes.push(Outcome::of_margin(data.labels[pair.right as usize] - data.labels[pair.left as usize], 0.0));
    }
    let n = pairs.len();
    let all = Comparisons::new(PairSet::new(data.items.clone(), pairs)?, outcomes, None, None)?;
    // Documents of no pair are left behind.
    Ok(all.select(&(0..n).collect::<Vec<_>>()))
}

fn ndcg(model: &Model, data: &Ranking) -> Run<f64> {
    let scores = model.scorer.scores(&data.items)?;
    let measured = ItemMetric::parse(NDCG)?.of(&Ranked::new(&data.labels, &scores, &data.groups)?)?;
    measured.value.ok_or_else(|| Failure::Fault("no query of the test part has a relevant document".into()))
}

impl Folds {
    fn sets(&self, fold: usize, kernel: usize) -> Run<Sets> {
        let seed = self.seed.wrapping_add(10 * fold as u64);
        let [train, validation, test] = &self.folds[fold];
        let n = self.sizes[kernel];
        Ok(Sets {
            train: draw(train, n, seed)?,
            validation: draw(validation, n.min(5000), seed + 1)?,
            test: draw(test, 5000, seed + 2)?,
        })
    }

    fn trial(&self, fold: usize, kernel: usize, machine: Machine) -> Run<Values> {
        let sets = self.sets(fold, kernel)?;
        let Machine { method, settings, .. } = machine;
        let of = |metric| {
            let trial = Trial {
                method,
                settings,
                metric,
                n_grid: self.n_grid,
                is_linear: KERNELS[kernel] == "linear",
                scale: Scale::Standard,
                seed: self.seed,
            };
            trial.run(&sets, &Patient)
        };
        let (by_error, by_auc) = (of(PairMetric::ZeroOne)?, of(PairMetric::Auc)?);
        Ok(values([
            ("error", by_error.test.error),
            ("auc", by_auc.test.auc),
            ("ndcg", ndcg(&by_auc.model, &self.folds[fold][2])?),
            ("C", by_error.c),
            ("gamma", by_error.gamma.unwrap_or(f64::NAN)),
            ("constant_error", Measured::constant(&sets.test)?.error),
            ("constant_auc", Measured::constant(&sets.test)?.auc),
            ("pairs", sets.train.n_pairs() as f64),
        ]))
    }

    /// The ranking SVM on the items themselves, for NDCG beside it.
    fn beside(&self, fold: usize) -> Run<Values> {
        let [train, validation, test] = &self.folds[fold];
        let mut best = (f64::NEG_INFINITY, f64::NAN, f64::NAN);
        for power in -5..=2 {
            let c = 10f64.powi(power);
            let svm = RankSvm::new().loss(Loss::SquaredHinge).c(c).scale(Scale::Standard).threads(1);
            let model = svm.fit_from(train, None, &Patient)?.model;
            let held = ndcg(&model, validation)?;
            if held > best.0 {
                best = (held, c, ndcg(&model, test)?);
            }
        }
        Ok(values([("ndcg", best.2), ("C", best.1)]))
    }

    fn of(&self, found: &Found, kernel: usize, machine: Machine, name: &str) -> Run<Vec<f64>> {
        (0..self.folds.len()).map(|fold| found.get(&key(fold, kernel, machine), name)).collect()
    }
}

fn key(fold: usize, kernel: usize, machine: Machine) -> String {
    format!("fold {} | {} | {}", fold + 1, KERNELS[kernel], machine.name)
}

fn beside_key(fold: usize) -> String {
    format!("fold {} | ranking SVM", fold + 1)
}

impl Prepared for Folds {
    fn tasks(&self) -> Vec<Task<'_>> {
        let mut tasks = Vec::new();
        for fold in 0..self.folds.len() {
            for kernel in 0..KERNELS.len() {
                for machine in MACHINES {
                    let work = move || self.trial(fold, kernel, machine);
                    tasks.push(Task::new(key(fold, kernel, machine), [10.0, 2.0][kernel], work));
                }
            }
            tasks.push(Task::new(beside_key(fold), 1.0, move || self.beside(fold)));
        }
        tasks
    }

    fn tell(&self, found: &Found) -> Run<Findings> {
        let (mut rows, mut claims, mut csv, mut kinds) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut aucs, mut leads) = (Vec::new(), Vec::new());
        for (kernel, name) in KERNELS.iter().enumerate() {
            let mut errors = Vec::new();
            let (mut shown, mut shown_auc) = (Vec::new(), Vec::new());
            for machine in MACHINES {
                let [error, auc, ndcg] = ["error", "auc", "ndcg"].map(|name| self.of(found, kernel, machine, name));
                let [error, auc, ndcg] = [Summary::of(&error?), Summary::of(&auc?), Summary::of(&ndcg?)];
                rows.push(row([
                    &format!("{name}, {}", machine.name),
                    "–",
                    &error.told(3),
                    &auc.told(3),
                    &ndcg.told(3),
                ]));
                errors.push(error.mean);
                shown.push(Some((error.mean, error.mean - error.sd, error.mean + error.sd)));
                shown_auc.push(Some((auc.mean, auc.mean - auc.sd, auc.mean + auc.sd)));
                for fold in 0..self.folds.len() {
                    let mut line = vec![(fold + 1).to_string(), (*name).to_string(), machine.name.to_string()];
                    line.extend(found.all(&key(fold, kernel, machine))?.iter().map(|value| value.1.to_string()));
                    csv.push(line);
                }
            }
            leads.push(format!("{:.3}, {:.3} and {:.3} ({name})", errors[2], errors[1], errors[0]));
            kinds.push(IntervalKind { label: (*name).to_string(), values: shown });
            aucs.push(IntervalKind { label: (*name).to_string(), values: shown_auc });
            claims.push(Claim::new(
                format!("the order of the paper's Figure 4, {name}: compare errs least, then rank2, then rank ({:.3}, {:.3}, {:.3})", errors[2], errors[1], errors[0]),
                errors[2] < errors[1] && errors[1] < errors[0],
            ));
            claims.push(Claim::new(
                format!(
                    "(ours) with rankwise's defaults, {name}: compare errs less than rank and rank2 ({:.3})",
                    errors[3]
                ),
                errors[3] < errors[0] && errors[3] < errors[1],
            ));
        }
        let constant = |name| Ok::<_, Failure>(Summary::of(&self.of(found, 0, MACHINES[0], name)?).mean);
        let beside = (0..self.folds.len()).map(|fold| found.get(&beside_key(fold), "ndcg")).collect::<Run<Vec<_>>>()?;
        rows.push(row([
            "constant",
            "–",
            &format!("{:.3}", constant("constant_error")?),
            &format!("{:.3}", constant("constant_auc")?),
            "–",
        ]));
        rows.push(row(["ranking SVM on the items, linear", "–", "–", "–", &Summary::of(&beside).told(3)]));
        let names: Vec<String> = MACHINES.iter().map(|machine| machine.name.to_string()).collect();
        let chart = |name: &'static str, title: &str, kinds: Vec<IntervalKind>| {
            let description = "A row for each machine, a mark for each kernel.".into();
            Intervals { name, title: title.into(), description, axis: Axis::linear(title), rows: names.clone(), kinds }
                .draw()
        };
        let panels = vec![
            ("test error".to_string(), chart("letor-error", "test error", kinds)),
            ("AUC".to_string(), chart("letor-auc", "test AUC", aucs)),
        ];
        let told = format!("On data of a search engine compare, rank2 and rank err on {}.", leads.join("; "));
        Ok(Findings {
            lead: told,
            beside: Table {
                caption: format!("MQ2008, {} folds, mean ± standard deviation; the paper has no numbers", self.folds.len()),
                header: row(["", "paper", "test error", "test AUC", "NDCG@10"]),
                rows,
                is_words: false,
            },
            claims,
            notes: vec![
                format!("Pairs of documents within a query, half of them ties: {} for the Gaussian machines, up to {} for the linear ones; C (and γ) by validation pairs, for the error by the error and for AUC and NDCG by AUC; features standardised; 5,000 test pairs.", self.sizes[0], self.sizes[1]),
                "Most grades are 0, so that most ties say only that neither document is relevant: whoever ranks by relevance alone loses little by leaving them out.".into(),
            ],
            tables: Vec::new(),
            picture: Sheet { name: "svmcompare-letor", title: "Comparison on MQ2008".into(), n_columns: 2, panels }.draw(),
            caption: "Means over folds, and one standard deviation.".into(),
            numbers: (row(["fold", "kernel", "machine", "error", "auc", "ndcg@10", "C", "gamma", "constant_error", "constant_auc", "pairs"]), csv),
        })
    }
}
