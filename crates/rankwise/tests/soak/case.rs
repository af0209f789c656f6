//! One fit, and everything that must hold of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use rankwise::data::{Comparisons, Outcome, Pair, PairSet, Random, Scale};
use rankwise::io::{model_from_bytes, model_to_bytes};
use rankwise::{Error, Fit, Gamma, Kernel, Loss, Result, Stop};

use crate::ask::{Ask, LIMIT};
use crate::draw::Data;
use crate::twins::{Function, objective, pairs_of, scaled};

/// What there is to tell of a fit.
pub(crate) struct Told {
    pub(crate) method: &'static str,
    pub(crate) what: String,
    pub(crate) error: Option<String>,
    pub(crate) stop: Option<Stop>,
    pub(crate) gap: f64,
    /// Between the objective that was reported and the twin's, relative and beyond rounding.
    pub(crate) difference: f64,
    pub(crate) seconds: f64,
    pub(crate) faults: Vec<String>,
    /// Faults of certificates where numbers are too large for their squares to keep digits.
    pub(crate) doubts: Vec<String>,
}

/// Features beyond this, scaled if asked for, leave few digits to differences of kernel values.
const LARGE: f64 = 1e4;
/// Squares of features below this, or above its inverse, are out of range, however they are scaled afterwards.
const TINY: f64 = 1e-100;

fn draw(seed: u64, number: u64) -> (Ask, Data, Random) {
    let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
    let ask = Ask::draw(&mut random, number);
    let data = ask.data(&mut random);
    (ask, data, random)
}

/// The items of a case.
pub(crate) fn drawn(seed: u64, number: u64) -> String {
    let (_, data, _) = draw(seed, number);
    match &data {
        Data::Items(data) => format!("{data:?}"),
        Data::Classes(data) => format!("{data:?}"),
        Data::Pairs(data) => format!("{data:?}"),
    }
}

/// Draws a case, fits it and looks at all of it.
pub(crate) fn tell(seed: u64, number: u64) -> Told {
    let (ask, data, mut random) = draw(seed, number);
    let started = Instant::now();
    let fitted = quietly(|| ask.fit(&data));
    let mut told = Told {
        method: ask.method,
        what: format!("{ask:?} on {} items of {} features", data.items().n_items(), data.items().features.n_cols()),
        error: None,
        stop: None,
        gap: 0.0,
        difference: 0.0,
        seconds: started.elapsed().as_secs_f64(),
        faults: Vec::new(),
        doubts: Vec::new(),
    };
    match fitted {
        Err(panic) => told.faults.push(format!("panicked: {panic}")),
        Ok(Err(error)) => {
            told.error = Some(kind(&error));
            if error.to_string().is_empty() {
                told.faults.push("an error without a word".into());
            }
            if ask.c == f64::INFINITY {
                refused_in_every_way(&ask, &data, &mut random, &mut told.faults);
            }
        }
        Ok(Ok(fit)) => look(&ask, &data, &fit, &mut random, &mut told),
    }
    if told.seconds > LIMIT.as_secs_f64() || told.stop == Some(Stop::TimeLimit) {
        told.faults.push(format!("took {:.2} s", told.seconds));
    }
    told
}

/// A panic as a text.
fn quietly<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default()
    })
}

/// The name of an error's variant.
fn kind(error: &Error) -> String {
    format!("{error:?}").chars().take_while(|c| c.is_alphanumeric()).collect()
}

/// A hard machine that has no answer has none in another order of rows, nor by another solver.
fn refused_in_every_way(ask: &Ask, data: &Data, random: &mut Random, faults: &mut Vec<String>) {
    let mut ways = vec![("shuffled", ask.clone(), data.shuffled(random), 1.0)];
    ways.extend(another_way(ask, data));
    for (name, ask, data, _) in ways {
        if let Ok(Ok(fit)) = quietly(|| ask.fit(&data)) {
            faults.push(format!("refused, but {name} the objective is {}", fit.model.training.objective));
        }
    }
}

/// How far a hard machine may be from meeting its constraints: margins are 1, tubes are measured by the range of labels.
fn most_missed(ask: &Ask, data: &Data) -> f64 {
    match data {
        Data::Items(data) if ask.method == "regress" => {
            let least = data.labels.iter().copied().fold(f64::INFINITY, f64::min);
            1e-9 * (data.labels.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least)
        }
        _ => 1e-9,
    }
}

fn look(ask: &Ask, data: &Data, fit: &Fit, random: &mut Random, told: &mut Told) {
    let (model, training) = (&fit.model, &fit.model.training);
    let rows = data.rows();
    let largest = rows.iter().flat_map(|row| scaled(model, row)).fold(0.0, |most: f64, x| most.max(x.abs()));
    let raw = rows.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    let is_extreme = largest > LARGE || !(TINY..1.0 / TINY).contains(&raw);
    let mut of_certificate = Vec::new();
    let Told { faults, .. } = told;
    told.stop = Some(training.stop);
    let has_norm = training.kernel.is_positive_definite();
    let (found, gap) = (training.objective, training.gap);
    let is_known = found.is_finite() && gap.is_finite();
    if !is_known && !(ask.method == "online" && (found.is_nan() || gap.is_nan())) {
        faults.push(format!("objective {found}, gap {gap}"));
    }
    match model.scorer.scores_of_machines(data.items()) {
        Ok(scores) if scores.iter().all(|score| score.is_finite()) => {}
        Ok(_) => faults.push("a score that is no number".into()),
        Err(error) => faults.push(format!("cannot score what it was fitted to: {error}")),
    }
    if is_known {
        let rounding =
            1e-8 + objective(ask, data, model).map_or(0.0, |twin| twin.rounding / twin.value.abs().max(1e-12));
        told.gap = gap;
        if has_norm && gap < -rounding {
            of_certificate.push(format!("the gap {gap:e} is below 0"));
        }
        // Of ties alone the likelihood has a least value that it does not take.
        let is_limit = training.ties == training.pairs && matches!(ask.method, "davidson" | "compare");
        if training.stop == Stop::Converged && gap > 1.01 * ask.effort.tol && ask.method != "online" && !is_limit {
            of_certificate.push(format!("converged with a gap of {gap:e}, tol {:e}", ask.effort.tol));
        }
        if let Some(twin) = objective(ask, data, model) {
            let difference = ((found - twin.value).abs() - twin.rounding) / twin.value.abs().max(1e-9);
            told.difference = if is_extreme { 0.0 } else { difference.max(0.0) };
            // Values of a kernel over items are f32 unless the tolerance asks for more, and so are features that random steps
            // have scaled.
            let is_single = matches!(data, Data::Items(_) | Data::Classes(_)) && ask.kernel != Kernel::Linear;
            let most = if is_single {
                1e-5f64.max(0.1 * ask.effort.tol)
            } else if ask.method == "online" {
                1e-6
            } else {
                1e-9
            };
            if ask.c == f64::INFINITY && twin.missed > most_missed(ask, data) {
                of_certificate.push(format!("a constraint is missed by {:e}", twin.missed));
            }
            if difference > most {
                of_certificate.push(format!("objective {found}, the twin says {} ± {:e}", twin.value, twin.rounding));
            }
        }
    }
    same_bytes(ask, data, fit, faults);
    if is_known && has_norm && ask.method != "online" {
        others(ask, data, fit, random, &mut of_certificate);
    }
    if is_extreme {
        told.doubts = of_certificate;
    } else {
        told.faults.append(&mut of_certificate);
    }
}

/// Saved and loaded it is the same; and so it is from two threads.
fn same_bytes(ask: &Ask, data: &Data, fit: &Fit, faults: &mut Vec<String>) {
    let bytes = match model_to_bytes(&fit.model) {
        Ok(bytes) => bytes,
        Err(error) => return faults.push(format!("cannot be saved: {error}")),
    };
    match model_from_bytes("model".as_ref(), &bytes) {
        Ok(loaded) => {
            let bits = |model: &rankwise::Model| -> Result<Vec<u64>> {
                Ok(model.scorer.scores_of_machines(data.items())?.iter().map(|score| score.to_bits()).collect())
            };
            if bits(&loaded).ok() != bits(&fit.model).ok() {
                faults.push("other scores once loaded".into());
            }
        }
        Err(error) => faults.push(format!("cannot be loaded: {error}")),
    }
    if let Some(function) = Function::of(&fit.model, &data.rows())
        && let Ok(scores) = fit.model.scorer.scores(data.items())
    {
        for (item, (plain, score)) in function.scores.iter().zip(&scores).enumerate() {
            if (plain - score).abs() > function.rounding(item) + 1e-300 {
                faults.push(format!("item {item} has the score {score}, plainly {plain}"));
                break;
            }
        }
    }
    // A limit of time ends searches within searches, and nobody can tell when.
    let is_slow = |fit: &Fit| fit.seconds > 0.5 * LIMIT.as_secs_f64();
    if is_slow(fit) {
        return;
    }
    match quietly(|| ask.threads(2).fit(data)) {
        Ok(Ok(two)) if is_slow(&two) => {}
        Ok(Ok(two)) if model_to_bytes(&two.model).is_ok_and(|two| two == bytes) => {}
        Ok(Ok(_)) => faults.push("another model from two threads".into()),
        Ok(Err(error)) => faults.push(format!("refused by two threads: {error}")),
        Err(panic) => faults.push(format!("panicked with two threads: {panic}")),
    }
}

/// The same problem in other ways: none may lie below the bound, and none may be bounded above this one.
fn others(ask: &Ask, data: &Data, fit: &Fit, random: &mut Random, faults: &mut Vec<String>) {
    let shuffled = data.shuffled(random);
    let mut ways = vec![("shuffled", ask.clone(), shuffled, 1.0)];
    ways.extend(another_way(ask, data));
    let training = &fit.model.training;
    for (name, ask, data, factor) in ways {
        let other = match quietly(|| ask.fit(&data)) {
            Ok(Ok(other)) => other,
            // Squares of large numbers are larger still.
            Ok(Err(Error::Numeric { .. })) if name == "with a kernel" => continue,
            Ok(Err(error)) => {
                faults.push(format!("refused {name}: {error}"));
                continue;
            }
            Err(panic) => {
                faults.push(format!("panicked {name}: {panic}"));
                continue;
            }
        };
        let (a, b) = (training.objective, other.model.training.objective * factor);
        let is_single = !matches!(data, Data::Pairs(_)) && ask.kernel != Kernel::Linear;
        let slack = if is_single { 1e-5f64.max(2.0 * ask.effort.tol) } else { 1e-8 }
            + [objective(&ask, &data, &other.model)]
                .iter()
                .flatten()
                .map(|twin| 2.0 * twin.rounding / twin.value.abs().max(1e-12))
                .sum::<f64>();
        // A gap of nearly 1 is no bound but rounding.
        let bound = |value: f64, gap: f64| if gap > 0.99 { 0.0 } else { value - gap * value.max(1e-12) };
        let bounds = [(bound(a, training.gap), b), (bound(b, other.model.training.gap), a)];
        for (bound, value) in bounds {
            if bound > value + slack * value.abs().max(1e-9) {
                faults.push(format!(
                    "{name}: {a} with gap {:e} ({:?}) and {b} with gap {:e} ({:?}) contradict each other",
                    training.gap, training.stop, other.model.training.gap, other.model.training.stop
                ));
            }
        }
    }
}

/// Another method that solves the same problem, and what its objective is multiplied with.
fn another_way(ask: &Ask, data: &Data) -> Option<(&'static str, Ask, Data, f64)> {
    let mut other = ask.clone();
    let is_fixed = match ask.kernel {
        Kernel::Linear => true,
        Kernel::Rbf { gamma } | Kernel::Poly { gamma, .. } | Kernel::Sigmoid { gamma, .. } => gamma != Gamma::Scale,
        _ => false,
    };
    match (ask.method, data) {
        ("rank", Data::Items(ranking)) if ask.scale == Scale::None && is_fixed => {
            if ask.loss == Loss::Logistic && ask.kernel != Kernel::Linear {
                return None;
            }
            let pairs = pairs_of(ranking, ask.balance);
            if pairs.is_empty() {
                return None;
            }
            let sides = pairs.iter().map(|&(i, j, _)| Pair { left: j as u32, right: i as u32 }).collect();
            let set = PairSet::new(ranking.items.clone(), sides).unwrap();
            let weights = pairs.iter().map(|pair| pair.2).collect();
            let judged = Comparisons::new(set, vec![Outcome::Right; pairs.len()], Some(weights), None).unwrap();
            (other.method, other.balance) = ("pair-rank", rankwise::model::Balance::None);
            if ask.c == f64::INFINITY {
                other.loss = Loss::Hinge; // a hard margin of items knows no loss, one of pairs none but those that can be 0
            }
            Some(("by its pairs", other, Data::Pairs(judged), 1.0))
        }
        ("swap", Data::Items(ranking)) => {
            let total: f64 = pairs_of(ranking, ask.balance).iter().map(|pair| pair.2).sum();
            (other.method, other.loss) = ("rank", Loss::Hinge);
            other.c = 4.0 * if ask.normalise { ask.c / total } else { ask.c };
            other.c.is_finite().then(|| ("as rank", other, Data::Items(ranking.clone()), 0.25))
        }
        ("classify" | "regress" | "ordinal" | "compare" | "rank2" | "pair-rank", _) if ask.kernel == Kernel::Linear => {
            if ask.scheme.is_joint() && ask.method == "classify" {
                return None;
            }
            other.kernel = Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 1 };
            let same = match data {
                Data::Items(data) => Data::Items(data.clone()),
                Data::Classes(data) => Data::Classes(data.clone()),
                Data::Pairs(data) => Data::Pairs(data.clone()),
            };
            Some(("with a kernel", other, same, 1.0))
        }
        _ => None,
    }
}
