//! The post on the pairwise transform: ridge regression and RankSVM on two blocks of items that lie apart.
//!
//! The post's data and its split come from a seeded generator, so that they are the same here. One split says little; a thousand
//! others say where it lies among them.

use rankwise::data::{ClassItems, Features, Groups, Items, Precision, Random, Ranking, pairwise_transform};
use rankwise::metrics::{ItemMetric, Ranked};
use rankwise::model::{Model, ScoreFunction};
use rankwise::{Effort, Loss, RankSvm, Ridge, SvmClassifier};

use super::legacy_normal::LegacyRandom;
use super::stats::Summary;
use super::study::{Claim, Findings, Found, Paper, Patient, Prepared, Room, Study, Task, Values, row, values};
use crate::exit::{Failure, Run};
use crate::page::Table;
use crate::picture::{Axis, Cloud, LineChart, Picture, Scatter, Series, Sheet, Stroke};
use crate::text::number;

/// Items of a grade.
const K: usize = 20;
const N_GRADES: usize = 3;
/// What the post adds to items of the first block.
const SHIFT: [f64; 2] = [-3.0, -7.0];
/// Ridge's α = 1 is ½‖w‖² + ½Σ(…)².
const RIDGE_C: f64 = 0.5;
const SVM_C: f64 = 0.1;
const TOL: f64 = 1e-6;
/// Splits, whole and quick.
const N_SPLITS: (usize, usize) = (1000, 40);

/// What is compared: names in keys, names in tables, τ of both blocks in the post.
const METHODS: [(&str, &str, Option<[f64; 2]>); 3] = [
    ("ridge", "ridge", Some([0.71122, 0.84387])),
    ("ranksvm", "RankSVM", Some([0.83627, 0.84387])),
    ("ranksvm-without-bias", "RankSVM without bias", None),
];

/// The study.
pub(super) struct PairwiseTransform;

impl Study for PairwiseTransform {
    fn name(&self) -> &'static str {
        "pairwise-transform"
    }

    fn title(&self) -> &'static str {
        "The pairwise transform: ridge regression and RankSVM on two blocks"
    }

    fn paper(&self) -> Paper {
        Paper::PairwiseTransform
    }

    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>> {
        let mut random = LegacyRandom::new(0);
        let (n, w) = (K * N_GRADES, direction());
        let mut x = Vec::with_capacity(2 * n);
        for item in 0..n {
            let grade = (item / K) as f64;
            for feature in 0..2 {
                let shift = if item % 2 == 0 { SHIFT[feature] } else { 0.0 };
                x.push(random.normal() + grade * 4.0 * w[feature] + shift);
            }
        }
        let labels = (0..n).map(|item| (item / K) as f64).collect();
        let groups = Groups::from_ids((0..n).map(|item| (item % 2).to_string()));
        let items = Items::new(Features::dense(2, x, Precision::F64)?, None, None)?;
        let data = Ranking::new(items, labels, Some(groups))?;
        let of_post = split_by(|values| random.shuffle(values));
        Ok(Box::new(Trials { data, of_post, seed: room.seed, n_splits: room.pick(N_SPLITS.1, N_SPLITS.0) }))
    }
}

/// The direction that orders both blocks.
fn direction() -> [f64; 2] {
    let angle = 60f64.to_radians();
    [angle.sin(), angle.cos()]
}

/// Items to learn from and items to test on: half of every grade each, in random order.
fn split_by(mut shuffle: impl FnMut(&mut Vec<usize>)) -> [Vec<usize>; 2] {
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for grade in 0..N_GRADES {
        let mut own: Vec<usize> = (K * grade..K * (grade + 1)).collect();
        shuffle(&mut own);
        train.extend_from_slice(&own[..K / 2]);
        test.extend_from_slice(&own[K / 2..]);
    }
    shuffle(&mut train);
    shuffle(&mut test);
    [train, test]
}

struct Trials {
    data: Ranking,
    of_post: [Vec<usize>; 2],
    seed: u64,
    n_splits: usize,
}

/// What was learnt from a half: a direction for each method.
struct Learnt {
    weights: [[f64; 2]; 3],
    /// τ of both blocks on the other half, method by method.
    tau: [[f64; 2]; 3],
}

impl Trials {
    fn learn(&self, [train, test]: &[Vec<usize>; 2]) -> Run<Learnt> {
        let (train, test) = (self.data.select(train), self.data.select(test));
        let mut effort = Effort::default();
        (effort.tol, effort.threads) = (TOL, 1);
        let ridge = Ridge::new().c(RIDGE_C).effort(effort).fit_watched(&train, &Patient)?;
        let pairs = pairwise_transform(&train, u64::MAX)?;
        let pairs = ClassItems::of_labels(Items::new(pairs.features, None, None)?, &pairs.labels)?;
        let classifier = SvmClassifier::new().c(SVM_C).effort(effort).fit(&pairs)?;
        let ranker = RankSvm::new().loss(Loss::Hinge).c(SVM_C).effort(effort).fit_from(&train, None, &Patient)?;
        let weights = [weights(&ridge.model)?, weights(&classifier.model)?, weights(&ranker.model)?];
        let mut tau = [[0.0; 2]; 3];
        for (tau, weights) in tau.iter_mut().zip(&weights) {
            let scores = test.items.features.times(weights);
            let ranked = Ranked::new(&test.labels, &scores, &test.groups)?;
            let of_groups = ItemMetric::parse("kendall_tau")?.per_group(&ranked)?;
            for (group, value) in of_groups.into_iter().enumerate() {
                let block = usize::from(test.groups.name(group) == "1");
                tau[block] = value.unwrap_or(f64::NAN);
            }
        }
        Ok(Learnt { weights, tau })
    }

    fn one(&self, split: usize) -> Run<Values> {
        let mut random = Random::new(self.seed.wrapping_mul(1_000_003).wrapping_add(split as u64));
        let learnt = self.learn(&split_by(|values| random.shuffle(values)))?;
        let [ridge, svm, without] = learnt.tau;
        Ok(values([
            ("ridge 0", ridge[0]),
            ("ridge 1", ridge[1]),
            ("ranksvm 0", svm[0]),
            ("ranksvm 1", svm[1]),
            ("ranksvm-without-bias 0", without[0]),
            ("ranksvm-without-bias 1", without[1]),
        ]))
    }

    /// τ of a method on a block, split by split.
    fn taus(&self, method: usize, block: usize, found: &Found) -> Run<Vec<f64>> {
        let name = format!("{} {block}", METHODS[method].0);
        let all = (0..self.n_splits).map(|split| found.get(&key(split), &name)).collect::<Run<Vec<f64>>>()?;
        // A block may have items of one grade alone in a half, and then no τ.
        Ok(all.into_iter().filter(|tau| tau.is_finite()).collect())
    }

    fn picture(&self, learnt: &Learnt, found: &Found) -> Run<Picture> {
        let mut panels = vec![
            ("the half to learn from, and directions".to_string(), self.items(learnt)),
            ("differences of pairs, and the planes between them".to_string(), self.differences(learnt)?),
        ];
        for block in 0..2 {
            let mut series = Vec::new();
            for (method, (_, label, printed)) in METHODS.iter().enumerate().take(2) {
                let mut taus = self.taus(method, block, found)?;
                taus.sort_by(f64::total_cmp);
                let n = taus.len() as f64;
                let points = taus.iter().enumerate().map(|(at, tau)| (*tau, (at + 1) as f64 / n)).collect();
                series.push(Series { label: label.to_string(), points, band: Vec::new() });
                let at = printed.map_or(f64::NAN, |printed| printed[block]);
                let points = vec![(at, 0.0), (at, 1.0)];
                series.push(Series { label: format!("the post’s {label}"), points, band: Vec::new() });
            }
            let chart = LineChart {
                name: if block == 0 { "tau-0" } else { "tau-1" },
                title: format!("Kendall’s τ on block {block}"),
                description: "The share of splits whose τ is at most that.".into(),
                x: Axis::linear("Kendall’s τ"),
                y: Axis::linear("share of splits with at most this τ").with(&[0.0, 1.0]),
                series,
                reference: None,
            };
            panels.push((format!("block {block}: τ over {} splits", self.n_splits), chart.draw()));
        }
        Ok(Sheet { name: "pairwise-transform", title: PairwiseTransform.title().into(), n_columns: 2, panels }.draw())
    }

    fn items(&self, learnt: &Learnt) -> Picture {
        let x = self.data.items.features.to_dense();
        let mut clouds = Vec::new();
        for block in [1, 0] {
            for grade in 0..N_GRADES {
                let own = self.of_post[0].iter().filter(|&&item| item % 2 == block && item / K == grade);
                let points = own.map(|&item| (x[2 * item], x[2 * item + 1])).collect();
                clouds.push(Cloud { label: format!("block {block}, y = {grade}"), points });
            }
        }
        let along = |w: [f64; 2], label: &str| {
            let unit = w.map(|part| part / w[0].hypot(w[1]));
            let from = |(x, y): (f64, f64)| [(x, y), (x + 8.0 * unit[0], y + 8.0 * unit[1])];
            Stroke { label: label.into(), lines: vec![from((0.0, 0.0)), from((-3.0, -8.0))] }
        };
        let scatter = Scatter {
            name: "items",
            title: "The post’s half to learn from".into(),
            description: "Two blocks of items in three grades, with the true direction and the two that were learnt."
                .into(),
            x: Axis::linear("x₁"),
            y: Axis::linear("x₂"),
            clouds,
            strokes: vec![
                along(direction(), "w"),
                along(learnt.weights[0], "ridge"),
                along(learnt.weights[1], "RankSVM"),
            ],
        };
        scatter.draw()
    }

    fn differences(&self, learnt: &Learnt) -> Run<Picture> {
        let pairs = pairwise_transform(&self.data.select(&self.of_post[0]), u64::MAX)?;
        let x = pairs.features.to_dense();
        let cloud = |label: &str, sign: f64| {
            let own = x.chunks(2).zip(&pairs.labels).filter(|pair| *pair.1 == sign);
            Cloud { label: label.into(), points: own.map(|(x, _)| (x[0], x[1])).collect() }
        };
        let plane = |w: [f64; 2], label: &str| {
            let far = 100.0 / w[0].hypot(w[1]);
            Stroke { label: label.into(), lines: vec![[(-far * w[1], far * w[0]), (far * w[1], -far * w[0])]] }
        };
        let scatter = Scatter {
            name: "differences",
            title: "The pairwise transform".into(),
            description: "Differences of two items of one block; a line through 0 separates the two signs.".into(),
            x: Axis::linear("difference of x₁"),
            y: Axis::linear("difference of x₂"),
            clouds: vec![cloud("first is better", 1.0), cloud("second is better", -1.0)],
            strokes: vec![
                plane(direction(), "x·w = 0"),
                plane(learnt.weights[0], "ridge"),
                plane(learnt.weights[1], "RankSVM"),
            ],
        };
        Ok(scatter.draw())
    }
}

fn key(split: usize) -> String {
    format!("split={split}")
}

fn weights(model: &Model) -> Run<[f64; 2]> {
    match &model.scorer.function {
        ScoreFunction::Linear { weights, .. } => match weights[..] {
            [a, b] => Ok([a, b]),
            _ => Err(Failure::Fault("a linear model of two features has two weights".into())),
        },
        _ => Err(Failure::Fault("a machine without a kernel has weights".into())),
    }
}

impl Prepared for Trials {
    fn tasks(&self) -> Vec<Task<'_>> {
        (0..self.n_splits).map(|split| Task::new(key(split), 1.0, move || self.one(split))).collect()
    }

    fn tell(&self, found: &Found) -> Run<Findings> {
        let learnt = self.learn(&self.of_post)?;
        let train = self.data.select(&self.of_post[0]);
        let hard = RankSvm::new().loss(Loss::Hinge).c(1e6).tol(TOL).threads(1).fit_from(&train, None, &Patient)?;
        let scores = hard.model.scorer.scores(&train.items)?;
        let ranked = Ranked::new(&train.labels, &scores, &train.groups)?;
        let is_separable = ItemMetric::parse("pair_accuracy")?.of(&ranked)?.value == Some(1.0);
        let (mut rows, mut is_same, mut means) = (Vec::new(), true, [[0.0; 2]; 3]);
        for (method, (_, label, printed)) in METHODS.iter().enumerate() {
            for block in 0..2 {
                let taus = self.taus(method, block, found)?;
                let summary = Summary::of(&taus);
                means[method][block] = summary.mean;
                let ours = learnt.tau[method][block];
                let (paper, place) = match printed {
                    Some(printed) => {
                        is_same &= format!("{ours:.5}") == format!("{:.5}", printed[block]);
                        // Values printed with five digits.
                        let below = taus.iter().filter(|tau| **tau < printed[block] - 5e-6).count();
                        let up_to = taus.iter().filter(|tau| **tau <= printed[block] + 5e-6).count();
                        let percent = |n: usize| 100.0 * n as f64 / taus.len() as f64;
                        (format!("{:.5}", printed[block]), format!("{:.1}–{:.1} %", percent(below), percent(up_to)))
                    }
                    None => ("–".into(), "–".into()),
                };
                let name = format!("{label}, block {block}");
                rows.push(vec![name, paper, format!("{ours:.5}"), summary.told(5), place]);
            }
        }
        let [ridge, svm, _] = learnt.tau;
        let mut lines = vec![vec!["post".to_string()]];
        lines[0].extend(learnt.tau.iter().flatten().map(|tau| number(*tau)));
        for split in 0..self.n_splits {
            let mut line = vec![split.to_string()];
            line.extend(found.all(&key(split))?.iter().map(|value| number(value.1)));
            lines.push(line);
        }
        let mut columns = row(["split"]);
        columns.extend(METHODS.iter().flat_map(|method| [0, 1].map(|block| format!("{} block {block}", method.0))));
        let header = row(["", "post", "ours, same split", "other splits", "place of the post"]);
        let caption =
            format!("Kendall’s τ (τ-b) on the test half: the post’s split, and mean ± sd of {} others", self.n_splits);
        let lead = match is_same {
            true => "On the post’s own split all four of its numbers come out the same, to every digit that it prints.",
            false => "On the post’s own split some of its numbers come out otherwise.",
        };
        Ok(Findings {
            lead: format!(
                "{lead} Over {} splits RankSVM has a mean τ of {:.3} and {:.3} on the two blocks, ridge regression {:.3} and {:.3}.",
                self.n_splits, means[1][0], means[1][1], means[0][0], means[0][1]
            ),
            beside: Table { caption, header, rows, is_words: false },
            claims: vec![
                Claim::new("the transformed training half is separable", is_separable),
                Claim::new("RankSVM has a higher τ than ridge regression on block 0 of the post’s split", svm[0] > ridge[0]),
                Claim::new("RankSVM has a higher τ than ridge regression on block 1 of the post’s split", svm[1] > ridge[1]),
                Claim::new(
                    "RankSVM increases Kendall’s τ (mean over all splits, both blocks)",
                    means[1].iter().zip(means[0]).all(|(svm, ridge)| *svm > ridge),
                ),
            ],
            notes: vec![
                "The post’s data are numpy’s with seed 0, drawn here by the same generator; its split comes from the same stream, by the stratified shuffle of scikit-learn of that time: a permutation of each grade, half of it for each side.".into(),
                "The post says 30 items; its code makes 60, 30 of which are to learn from. On block 1 the post’s two figures are equal, so that “higher” is about block 0.".into(),
                format!("Ridge with α = 1 is C = {RIDGE_C} here. RankSVM is, as in the post, a linear SVC with C = {SVM_C} on the balanced differences, bias included, which scores then leave out. RankSVM without bias is what rankwise does from the items themselves, without forming pairs: differences have no use for a bias."),
                "“Place of the post” is the share of the other splits with a τ below the post’s, and with one of at most that. Splits overlap: their spread is not that of independent data.".into(),
            ],
            tables: Vec::new(),
            picture: self.picture(&learnt, found)?,
            caption: "Above: the post’s half to learn from with the true direction w and the two that were learnt, and its pairwise transform. Below: τ over all splits; vertical lines are the post’s.".into(),
            numbers: (columns, lines),
        })
    }
}
