//! Figure 2: pairs that a line tells apart, the linear program (7) and the hard-margin quadratic program (9) on features as they
//! are and on scaled ones.

use rankwise::data::{Comparisons, Features, Outcome, PairSet, Precision, Random, Scale, Scaler};
use rankwise::estimator::{CompareLp, CompareSvm};
use rankwise::model::{Model, ScoreFunction};

use crate::commands::reproduce::study::{
    Claim, Findings, Found, Paper, Patient, Prepared, Room, Study, Task, Values, row, values,
};
use crate::exit::{Failure, Run};
use crate::page::Table;
use crate::picture::{Axis, Cloud, Picture, Scatter, Sheet, Stroke};

/// Pairs of a draw.
const PAIRS: usize = 20;
/// Features of the first kind spread over [−3, 3], those of the second over ten times as much.
const SPREAD: [f64; 2] = [3.0, 30.0];
/// r(x) = w·x.
const WEIGHTS: [f64; 2] = [0.2, 0.06];
/// No margin is closer to the threshold 1 than this.
const CLEAR: f64 = 0.3;
/// Margins this close are the same.
const SAME: f64 = 0.01;

/// The study.
pub(in crate::commands::reproduce) struct Figure2;

impl Study for Figure2 {
    fn name(&self) -> &'static str {
        "svmcompare-fig2"
    }

    fn title(&self) -> &'static str {
        "The separable linear and quadratic programs, unscaled and scaled (Figure 2)"
    }

    fn paper(&self) -> Paper {
        Paper::Comparison
    }

    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>> {
        Ok(Box::new(Separable { seed: room.seed, n_draws: room.pick(5, 100) }))
    }
}

/// The study as it is run.
struct Separable {
    seed: u64,
    n_draws: usize,
}

/// What the two programs make of the same pairs.
struct Both {
    lp: Model,
    qp: Model,
    margin_lp: f64,
    margin_qp: f64,
}

impl Both {
    fn of(pairs: &Comparisons) -> Run<Self> {
        let lp = CompareLp::new().tol(1e-8).threads(1).fit_watched(pairs, &Patient)?.model;
        let qp = CompareSvm::new().c(f64::INFINITY).tol(1e-8).threads(1).fit_watched(pairs, &Patient)?.model;
        let missing = || Failure::Fault("a hard margin was not reported".into());
        let margin_lp = lp.training.margin.ok_or_else(missing)?;
        let margin_qp = qp.training.margin.ok_or_else(missing)?;
        Ok(Both { lp, qp, margin_lp, margin_qp })
    }
}

/// Draws pairs that the true weights tell apart with room to spare.
fn draw(seed: u64) -> Run<Comparisons> {
    let mut random = Random::new(seed);
    let (mut left, mut right, mut outcomes) = (Vec::new(), Vec::new(), Vec::new());
    let mut missing = [PAIRS / 2, PAIRS - PAIRS / 2];
    while missing.iter().sum::<usize>() > 0 {
        let mut point = || SPREAD.map(|spread| random.between(-spread, spread));
        let (x, y) = (point(), point());
        let margin: f64 = (0..2).map(|k| WEIGHTS[k] * (y[k] - x[k])).sum();
        let outcome = Outcome::of_margin(margin, 1.0);
        let kind = usize::from(outcome == Outcome::Tie);
        if (margin.abs() - 1.0).abs() >= CLEAR && missing[kind] > 0 {
            missing[kind] -= 1;
            left.extend(x);
            right.extend(y);
            outcomes.push(outcome);
        }
    }
    let side = |values| Features::dense(2, values, Precision::F64);
    let names = Some(vec!["x1".to_string(), "x2".to_string()]);
    Ok(Comparisons::new(PairSet::from_sides(&side(left)?, &side(right)?, names)?, outcomes, None, None)?)
}

/// The same pairs with features of mean 0 and deviation 1.
fn scaled(pairs: &Comparisons) -> Run<Comparisons> {
    let mut scaled = pairs.clone();
    if let Some(scaler) = Scaler::learn(Scale::Standard, &pairs.set.items.features) {
        scaled.set.items.features = scaler.apply(&pairs.set.items.features)?;
    }
    Ok(scaled)
}

impl Separable {
    fn seed(&self, draw: usize) -> u64 {
        self.seed.wrapping_add(draw as u64)
    }

    fn trial(&self, at: usize) -> Run<Values> {
        let pairs = draw(self.seed(at))?;
        let (plain, scaled) = (Both::of(&pairs)?, Both::of(&scaled(&pairs)?)?);
        Ok(values([
            ("lp", plain.margin_lp),
            ("qp", plain.margin_qp),
            ("lp_scaled", scaled.margin_lp),
            ("qp_scaled", scaled.margin_qp),
        ]))
    }
}

fn key(at: usize) -> String {
    format!("draw {at}")
}

impl Prepared for Separable {
    fn tasks(&self) -> Vec<Task<'_>> {
        (0..self.n_draws).map(|at| Task::new(key(at), 1.0, move || self.trial(at))).collect()
    }

    fn tell(&self, found: &Found) -> Run<Findings> {
        let get = |at, name| found.get(&key(at), name);
        let all = |name| (0..self.n_draws).map(|at| get(at, name)).collect::<Run<Vec<f64>>>();
        let (lp, qp, lp_scaled, qp_scaled) = (all("lp")?, all("qp")?, all("lp_scaled")?, all("qp_scaled")?);
        let ratios = |lp: &[f64], qp: &[f64]| lp.iter().zip(qp).map(|(lp, qp)| qp / lp).collect::<Vec<f64>>();
        let (plain, scaled_ratio) = (ratios(&lp, &qp), ratios(&lp_scaled, &qp_scaled));
        let n_same = |ratios: &[f64]| ratios.iter().filter(|ratio| **ratio > 1.0 - SAME).count();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let (same_plain, same_scaled) = (n_same(&plain), n_same(&scaled_ratio));
        let (mean_plain, mean_scaled) = (mean(&plain), mean(&scaled_ratio));
        let is_feasible = plain.iter().chain(&scaled_ratio).all(|ratio| *ratio <= 1.0 + 1e-6);
        let invariant = lp.iter().zip(&lp_scaled).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let n = self.n_draws;
        let share = |k: usize| format!("{k} of {n}");
        let rows = vec![
            row(["QP = LP, unscaled", "no (a counterexample)", &format!("{} draws", share(same_plain))]),
            row(["QP = LP, scaled", "observed to be equivalent", &format!("{} draws", share(same_scaled))]),
            row(["μ̂/μ, unscaled", "–", &format!("mean {mean_plain:.3}, least {:.3}", least(&plain))]),
            row(["μ̂/μ, scaled", "–", &format!("mean {mean_scaled:.3}, least {:.3}", least(&scaled_ratio))]),
            row(["μ̂ ≤ μ (Lemma 1)", "always", if is_feasible { "always" } else { "no" }]),
        ];
        let shown = (0..n).min_by(|&a, &b| plain[a].total_cmp(&plain[b])).unwrap_or(0);
        let numbers = (0..n).map(|at| {
            let values = [lp[at], qp[at], lp_scaled[at], qp_scaled[at]];
            std::iter::once(at.to_string()).chain(values.map(|v| v.to_string())).collect()
        });
        Ok(Findings {
            lead: format!(
                "Scaling brings the quadratic program's margin from {:.0} % to {:.0} % of the linear program's; after it the two are the same in {same_scaled} of {n} draws, before it in {same_plain}.",
                100.0 * mean_plain,
                100.0 * mean_scaled
            ),
            beside: Table { caption: format!("Margins μ of the linear program and μ̂ of the quadratic program over {n} draws of {PAIRS} pairs; same: within {SAME}"), header: row(["", "paper", "ours"]), rows, is_words: true },
            claims: vec![
                Claim::new("Lemma 1: the quadratic program's answer is feasible for the linear program (μ̂ ≤ μ)", is_feasible),
                Claim::new("on unscaled data the two differ", same_plain < n),
                Claim::new("on scaled data the two are equivalent", same_scaled == n),
                Claim::new("(ours) scaling brings them closer", mean_scaled > mean_plain),
                Claim::new("(ours) the linear program does not depend on scales", invariant < 1e-5),
            ],
            notes: vec![
                format!("The paper does not say how its pairs were made. Ours: items uniform over [−3, 3] × [−30, 30], r(x) = 0.2·x₁ + 0.06·x₂, half of the pairs ties, and no margin closer than {CLEAR} to the threshold."),
                "Why scaled data need not agree, so that the paper's observation is a tendency and not a rule: the linear program measures the margin in ranks alone; the quadratic one also asks for a small ‖u‖. Scaling makes the directions of the difference vectors count alike and so the two answers similar, but only where the same pairs hold both margins are they one.".into(),
            ],
            tables: Vec::new(),
            picture: picture(&draw(self.seed(shown))?)?,
            caption: "The draw in which the two differ most before scaling. Left: difference vectors and the linear program's boundaries r = ±1 (its margins are r = ±1 ± μ). Middle: the pairs flipped as for a binary SVM, unscaled, where the programs differ. Right: scaled.".into(),
            numbers: (row(["draw", "margin_lp", "margin_qp", "margin_lp_scaled", "margin_qp_scaled"]), numbers.collect()),
        })
    }
}

/// The weights of a linear comparer, scaled so that its threshold is 1.
fn weights(model: &Model) -> Run<[f64; 2]> {
    match &model.scorer.function {
        ScoreFunction::Linear { weights, .. } if weights.len() == 2 && model.threshold > 0.0 => {
            Ok([weights[0] / model.threshold, weights[1] / model.threshold])
        }
        _ => Err(Failure::Fault("a linear comparer over two features was expected".into())),
    }
}

/// From where to where.
type Line = [(f64, f64); 2];

/// The line w·d = level, long enough for any picture.
fn line(w: [f64; 2], level: f64) -> Line {
    let square = w[0] * w[0] + w[1] * w[1];
    let (x, y) = (level * w[0] / square, level * w[1] / square);
    let far = 1e3 / square.sqrt();
    [(x - far * w[1], y + far * w[0]), (x + far * w[1], y - far * w[0])]
}

/// Difference vectors with their outcomes.
fn differences(pairs: &Comparisons) -> Vec<((f64, f64), Outcome)> {
    let mut found = Vec::new();
    for (pair, &outcome) in pairs.set.pairs.iter().zip(&pairs.outcomes) {
        let [mut left, mut right] = [[0.0; 2]; 2];
        pairs.set.items.features.copy_row(pair.left as usize, &mut left);
        pairs.set.items.features.copy_row(pair.right as usize, &mut right);
        found.push(((right[0] - left[0], right[1] - left[1]), outcome));
    }
    found
}

fn picture(pairs: &Comparisons) -> Run<Picture> {
    let scaled = scaled(pairs)?;
    let (plain, other) = (Both::of(pairs)?, Both::of(&scaled)?);
    let w = weights(&plain.lp)?;
    let margins = [-1.0, 1.0].map(|side| [side * (1.0 - plain.margin_lp), side * (1.0 + plain.margin_lp)]).concat();
    let of = |outcome: Outcome| {
        let own = differences(pairs).into_iter().filter(|d| d.1 == outcome).map(|d| d.0);
        Cloud { label: outcome.name().into(), points: own.collect() }
    };
    let original = Scatter {
        name: "fig2-original",
        title: "Difference vectors".into(),
        description: "Ties lie between two parallel lines, the others outside.".into(),
        x: Axis::linear("x₁′ − x₁"),
        y: Axis::linear("x₂′ − x₂"),
        clouds: vec![of(Outcome::Left), of(Outcome::Tie), of(Outcome::Right)],
        strokes: vec![
            Stroke { label: "LP: r = ±1".into(), lines: vec![line(w, -1.0), line(w, 1.0)] },
            Stroke { label: "its margins".into(), lines: margins.iter().map(|&level| line(w, level)).collect() },
        ],
    };
    let flipped = |name: &'static str, pairs: &Comparisons, both: &Both| -> Run<Picture> {
        let (mut ties, mut others) = (Vec::new(), Vec::new());
        for ((x, y), outcome) in differences(pairs) {
            match outcome {
                Outcome::Tie => ties.extend([(x, y), (-x, -y)]),
                Outcome::Right => others.push((x, y)),
                Outcome::Left => others.push((-x, -y)),
            }
        }
        let of = |model: &Model, margin: f64| -> Run<[Vec<Line>; 2]> {
            let w = weights(model)?;
            Ok([vec![line(w, 1.0)], vec![line(w, 1.0 - margin), line(w, 1.0 + margin)]])
        };
        let [lp, lp_margins] = of(&both.lp, both.margin_lp)?;
        let [qp, qp_margins] = of(&both.qp, both.margin_qp)?;
        Ok(Scatter {
            name,
            title: "Flipped difference vectors".into(),
            description: "A line of either program separates ties from the others.".into(),
            x: Axis::linear("x₁′ − x₁"),
            y: Axis::linear("x₂′ − x₂"),
            clouds: vec![
                Cloud { label: "different".into(), points: others },
                Cloud { label: "tie".into(), points: ties },
            ],
            strokes: [("LP", lp), ("LP margins", lp_margins), ("QP", qp), ("QP margins", qp_margins)]
                .map(|(label, lines)| Stroke { label: label.into(), lines })
                .into(),
        }
        .draw())
    };
    let panels = vec![
        ("the original pairs, unscaled".to_string(), original.draw()),
        (
            format!("flipped, unscaled: μ = {:.3}, μ̂ = {:.3}", plain.margin_lp, plain.margin_qp),
            flipped("fig2-flipped", pairs, &plain)?,
        ),
        (
            format!("flipped, scaled: μ = {:.3}, μ̂ = {:.3}", other.margin_lp, other.margin_qp),
            flipped("fig2-scaled", &scaled, &other)?,
        ),
    ];
    Ok(Sheet { name: "svmcompare-fig2", title: "Separable programs".into(), n_columns: 3, panels }.draw())
}
