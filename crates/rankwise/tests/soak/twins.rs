//! Objectives from their definitions, by plain loops over what a model says, each with how far rounding may carry it.

use rankwise::data::{Comparisons, Outcome, Ranking};
use rankwise::kernel::KernelFunction;
use rankwise::model::{Balance, Constraints, ScoreFunction};
use rankwise::{Loss, Model};

use crate::ask::Ask;
use crate::draw::Data;

/// What a score of magnitude 1 may be off by.
const ROUNDING: f64 = 1e-13;

/// A value, and what rounding may make of it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Value {
    pub(crate) value: f64,
    pub(crate) rounding: f64,
    /// By how much the worst constraint of a hard machine is missed, beyond rounding.
    pub(crate) missed: f64,
}

impl Value {
    fn add(&mut self, value: f64, rounding: f64) {
        self.value += value;
        self.rounding += rounding + 1e-15 * value.abs();
    }

    fn lose(&mut self, cost: f64, loss: Loss, t: f64, rounding: f64) {
        // A weight of 0 is not there, whatever its loss; a hard machine allows for no loss at all.
        if cost == f64::INFINITY {
            self.missed = self.missed.max(t - rounding);
        } else if cost > 0.0 {
            let at = value(loss, t);
            let t = if loss == Loss::Squared { t.abs() } else { t };
            self.add(cost * at, cost * (value(loss, t + rounding) - at));
        }
    }
}

/// A model's function on items, as far as it is one function.
pub(crate) struct Function {
    pub(crate) scores: Vec<f64>,
    /// The sum of what scores are sums of, without signs.
    sizes: Vec<f64>,
    /// ‖f‖², and Σ|coefficients|.
    square: Value,
    absolute: f64,
}

impl Function {
    /// `None` where there are several, or features that stand for a kernel.
    pub(crate) fn of(model: &Model, rows: &[Vec<f64>]) -> Option<Self> {
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| scaled(model, row)).collect();
        let sum = |parts: Vec<f64>| (parts.iter().sum::<f64>(), parts.iter().map(|part| part.abs()).sum::<f64>());
        let mut square = Value::default();
        let (scored, absolute): (Vec<(f64, f64)>, f64) = match &model.scorer.function {
            ScoreFunction::Linear { weights, bias } => {
                weights.iter().for_each(|w| square.add(w * w, 0.0));
                let score = |row: &Vec<f64>| sum(weights.iter().zip(row).map(|(w, x)| w * x).chain([*bias]).collect());
                (rows.iter().map(score).collect(), weights.iter().map(|w| w.abs()).sum())
            }
            ScoreFunction::Kernel { kernel, support, coefficients, bias } => {
                let dense = support.to_dense();
                let support: Vec<&[f64]> = dense.chunks_exact(support.n_cols().max(1)).collect();
                for (a, x) in coefficients.iter().zip(&support) {
                    for (b, y) in coefficients.iter().zip(&support) {
                        let part = a * b * kernel.value(x, y);
                        square.add(part, ROUNDING * part.abs() + (a * b).abs() * doubt(kernel, x, y));
                    }
                }
                let score = |row: &Vec<f64>| {
                    let parts = coefficients.iter().zip(&support).map(|(a, x)| a * kernel.value(x, row));
                    let (score, size) = sum(parts.chain([*bias]).collect());
                    let doubts = coefficients.iter().zip(&support).map(|(a, x)| a.abs() * doubt(kernel, x, row));
                    (score, size + doubts.sum::<f64>() / ROUNDING)
                };
                (rows.iter().map(score).collect(), coefficients.iter().map(|a| a.abs()).sum())
            }
            _ => return None,
        };
        let (scores, sizes) = scored.into_iter().unzip();
        Some(Function { scores, sizes, square, absolute })
    }

    /// How far a score may be off.
    pub(crate) fn rounding(&self, item: usize) -> f64 {
        10.0 * ROUNDING * self.sizes[item]
    }
}

/// A row as the model's function sees it.
pub(crate) fn scaled(model: &Model, row: &[f64]) -> Vec<f64> {
    match &model.scorer.scaler {
        Some(scaler) => {
            let parts = row.iter().zip(&scaler.shift).zip(&scaler.divisor);
            parts.map(|((x, shift), divisor)| (x - shift) / divisor).collect()
        }
        None => row.to_vec(),
    }
}

/// What a kernel value may be off by where it is computed from dot products: distances of large numbers keep few digits.
fn doubt(kernel: &KernelFunction, x: &[f64], y: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum::<f64>();
    match *kernel {
        KernelFunction::Rbf { gamma } => (1e-14 * gamma * (dot(x, x) + dot(y, y))).min(1.0),
        KernelFunction::Poly { gamma, coef0, degree } => {
            1e-14 * f64::from(degree) * (gamma * dot(x, y) + coef0.abs()).powi(degree as i32)
        }
        KernelFunction::Sigmoid { gamma, .. } => 1e-14 + 1e-14 * gamma * dot(x, y),
        _ => 1e-14 * dot(x, y),
    }
}

/// The pairs of items in a group with different labels, better first, and what each costs.
pub(crate) fn pairs_of(data: &Ranking, balance: Balance) -> Vec<(usize, usize, f64)> {
    let members = data.groups.members();
    let mut pairs = Vec::new();
    for (group, items) in members.iter().enumerate() {
        let start = pairs.len();
        let mut total = 0.0;
        for &i in items {
            for &j in items {
                let (i, j) = (i as usize, j as usize);
                let cost = data.weight(i) * data.weight(j);
                if data.labels[i] > data.labels[j] && cost > 0.0 {
                    total += cost;
                    pairs.push((i, j, cost * data.group_weight(group)));
                }
            }
        }
        if balance == Balance::Groups {
            pairs[start..].iter_mut().for_each(|pair| pair.2 /= total);
        }
    }
    pairs
}

fn value(loss: Loss, t: f64) -> f64 {
    match loss {
        Loss::Hinge | Loss::Epsilon => t.max(0.0),
        Loss::SquaredHinge | Loss::SquaredEpsilon => t.max(0.0).powi(2),
        Loss::Squared => t * t,
        // log(1 + e^(t−1)), without overflow.
        _ => (t - 1.0).max(0.0) + (-(t - 1.0).abs()).exp().ln_1p(),
    }
}

/// The primal value at a model; `None` where the definition asks for what a model does not keep.
pub(crate) fn objective(ask: &Ask, data: &Data, model: &Model) -> Option<Value> {
    let function = Function::of(model, &data.rows())?;
    let mut sum = Value::default();
    let mut unit = 1.0;
    match data {
        Data::Items(data) => match ask.method {
            "rank" | "swap" | "rvm" | "online" => pair_losses(ask, data, &function, &mut sum),
            "ordinal" => grade_losses(ask, data, model, &function, &mut sum)?,
            "ridge" | "regress" => {
                for (i, y) in data.labels.iter().enumerate() {
                    let (t, off) = (y - function.scores[i], function.rounding(i) + 1e-15 * y.abs());
                    let cost = ask.c * weight_of(data, i);
                    match ask.method {
                        "ridge" => sum.lose(cost, Loss::Squared, t, off),
                        _ => sum.lose(cost, ask.loss, t.abs() - ask.epsilon, off),
                    }
                }
            }
            _ => return None,
        },
        Data::Classes(data) => {
            if data.classes.len() != 2 || ask.scheme.is_joint() {
                return None;
            }
            for i in 0..data.n_items() {
                let sign = if data.labels[i] == 1 { 1.0 } else { -1.0 };
                sum.lose(ask.c * data.weight(i), ask.loss, 1.0 - sign * function.scores[i], function.rounding(i));
            }
        }
        Data::Pairs(data) => {
            let is_likelihood = ask.method == "davidson" || (ask.method == "compare" && ask.loss == Loss::Logistic);
            unit = model.beta.filter(|beta| *beta < 0.0 && !is_likelihood).map_or(1.0, |beta| -beta);
            for k in 0..data.n_pairs() {
                judged_loss(ask, data, model, &function, unit, k, &mut sum)?;
            }
        }
    }
    match ask.method {
        // The margin of a program, not a cost.
        "compare-lp" if ask.c == f64::INFINITY => return None,
        // Coefficients of items are gone once they are weights of features.
        "rvm" if matches!(model.scorer.function, ScoreFunction::Linear { .. }) => return None,
        "rvm" | "compare-lp" => sum.add(unit * function.absolute, 0.0),
        _ => sum.add(0.5 * unit * unit * function.square.value, 0.5 * unit * unit * function.square.rounding),
    }
    Some(sum)
}

/// An item's own weight, and that of its group.
fn weight_of(data: &Ranking, item: usize) -> f64 {
    data.weight(item) * data.group_weight(data.groups.numbers()[item] as usize)
}

fn pair_losses(ask: &Ask, data: &Ranking, function: &Function, sum: &mut Value) {
    let pairs = pairs_of(data, ask.balance);
    let total: f64 = pairs.iter().map(|pair| pair.2).sum();
    let each = if ask.method == "swap" && ask.normalise { ask.c / total } else { ask.c };
    let (loss, lead) = match ask.method {
        "swap" => (Loss::Hinge, 2.0),
        "rank" => (ask.loss, 1.0),
        _ => (Loss::Hinge, 1.0),
    };
    for (i, j, cost) in pairs {
        let t = 1.0 - lead * (function.scores[i] - function.scores[j]);
        sum.lose(each * cost, loss, t, lead * (function.rounding(i) + function.rounding(j)));
    }
}

fn grade_losses(ask: &Ask, data: &Ranking, model: &Model, function: &Function, sum: &mut Value) -> Option<()> {
    let rule = model.grades.as_ref()?;
    for (i, y) in data.labels.iter().enumerate() {
        // Grades that nobody of weight above 0 has are none.
        let Some(grade) = rule.grades.iter().position(|known| known == y) else { continue };
        for (at, threshold) in rule.thresholds.iter().enumerate() {
            let is_beside = grade == at || grade == at + 1;
            if ask.constraints == Constraints::Explicit && !is_beside {
                continue;
            }
            let sign = if grade > at { 1.0 } else { -1.0 };
            let off = function.rounding(i) + 10.0 * ROUNDING * threshold.abs();
            sum.lose(ask.c * weight_of(data, i), ask.loss, 1.0 - sign * (function.scores[i] - threshold), off);
        }
    }
    Some(())
}

/// What a judged pair costs.
fn judged_loss(
    ask: &Ask,
    data: &Comparisons,
    model: &Model,
    function: &Function,
    unit: f64,
    k: usize,
    sum: &mut Value,
) -> Option<()> {
    let (pair, outcome, training) = (data.set.pairs[k], data.outcomes[k], &model.training);
    let [l, r] = [pair.left as usize, pair.right as usize];
    let m = unit * (function.scores[r] - function.scores[l]);
    let off = unit * (function.rounding(l) + function.rounding(r));
    let z = f64::from(outcome.sign()) * m;
    let cost = ask.c * data.weight(k) * tie_factor(ask, data, outcome);
    match (ask.method, model.beta, outcome == Outcome::Tie) {
        ("rank2", _, false) => sum.lose(2.0 * cost, ask.loss, 1.0 - z, off),
        ("rank2", _, true) => [m, -m].iter().for_each(|m| sum.lose(cost, ask.loss, 1.0 + m, off)),
        ("pair-rank", _, true) => {}
        ("pair-rank", _, false) => sum.lose(cost, ask.loss, 1.0 - z, off),
        ("compare-lp", Some(beta), false) => sum.lose(cost, Loss::Hinge, 1.0 - beta - z, off),
        ("compare-lp", Some(beta), true) => sum.lose(cost, Loss::Hinge, 1.0 + beta + m.abs(), off),
        // Chances of ties that nobody has seen are no part of what was minimised.
        ("compare", ..) if ask.loss == Loss::Logistic && training.ties == 0 => sum.lose(cost, ask.loss, 1.0 - z, off),
        ("davidson", ..) if training.ties == 0 => sum.lose(cost, Loss::Logistic, 1.0 - z, off),
        ("compare", ..) if ask.loss == Loss::Logistic => {
            sum.add(cost * rao_kupper(outcome, m, training.tie_parameter?), 2.0 * cost * off);
        }
        ("davidson", ..) => sum.add(cost * davidson(outcome, m, training.tie_parameter?), 2.0 * cost * off),
        ("compare", Some(beta), false) => sum.lose(cost, ask.loss, 1.0 - beta - z, off),
        ("compare", Some(beta), true) => {
            [m, -m].iter().for_each(|m| sum.lose(cost, ask.loss, 1.0 + beta + m, off));
        }
        // Without ties it is a ranking machine, and of nothing else there is nothing to learn.
        ("compare", None, false) => sum.lose(cost, ask.loss, 1.0 - z, off),
        _ => return None,
    }
    Some(())
}

/// What ties are weighted with, so that they weigh half of the others.
fn tie_factor(ask: &Ask, data: &Comparisons, outcome: Outcome) -> f64 {
    if ask.balance != Balance::Outcomes || outcome != Outcome::Tie {
        return 1.0;
    }
    let total = |ties: bool| -> f64 {
        let of = |&k: &usize| (data.outcomes[k] == Outcome::Tie) == ties;
        (0..data.n_pairs()).filter(of).map(|k| data.weight(k)).sum()
    };
    let (ties, others) = (total(true), total(false));
    if ties * others > 0.0 { others / (2.0 * ties) } else { 1.0 }
}

/// log(1 + e^x)
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn rao_kupper(outcome: Outcome, m: f64, tau: f64) -> f64 {
    match outcome {
        Outcome::Right => softplus(tau - m),
        Outcome::Left => softplus(tau + m),
        Outcome::Tie => softplus(m - tau) + softplus(-m - tau) - (-(-2.0 * tau).exp_m1()).ln(),
    }
}

fn davidson(outcome: Outcome, m: f64, nu: f64) -> f64 {
    let parts = [-m / 2.0, m / 2.0, nu.ln()];
    let top = parts.iter().fold(f64::NEG_INFINITY, |a: f64, &b| a.max(b));
    let total = top + parts.iter().map(|part| (part - top).exp()).sum::<f64>().ln();
    total
        - match outcome {
            Outcome::Left => parts[0],
            Outcome::Right => parts[1],
            Outcome::Tie => parts[2],
        }
}
