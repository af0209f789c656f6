//! Choosing parameters, against loops that do the same by hand.

mod choice;
mod grades;
mod items;
mod labels;
mod refusals;
mod twin;

use rankwise::data::simulate::{Norm, Simulation};
use rankwise::data::{Comparisons, Items, Outcome, Pair, PairSet, cross_fit_folds};
use rankwise::metrics::{Judged, PairMetric};
use rankwise::model::Tuning;
use rankwise::selection::{Grid, Split, Tuner};
use rankwise::{Error, Fit, Kernel, Loss, PairEstimator, Unwatched};

fn simulated(n_pairs: usize, seed: u64) -> Comparisons {
    Simulation { norm: Norm::L2, n_pairs, ties: 0.4, noise: 0.25, seed }.draw().unwrap()
}

fn grid(c: &[f64], kernels: &[Kernel], losses: &[Loss]) -> Grid {
    Grid { c: c.to_vec(), kernels: kernels.to_vec(), losses: losses.to_vec() }
}

/// A model and the search that it keeps.
struct Tuned {
    fit: Fit,
    tuning: Tuning,
}

fn tune(tuner: &Tuner, data: &Comparisons, split: Split<'_>) -> Tuned {
    let tuned = tuner.tune(data, split, &Unwatched).unwrap();
    let tuning = tuned.tuning().unwrap().clone();
    Tuned { fit: tuned.fit, tuning }
}

#[track_caller]
fn refused(tuner: &Tuner, data: &Comparisons, split: Split<'_>, words: &[&str]) -> Error {
    let error = tuner.tune(data, split, &Unwatched).unwrap_err();
    words.iter().for_each(|word| assert!(error.to_string().contains(word), "no {word:?} in: {error}"));
    error
}

/// Learns and measures, straight from the definitions.
fn measured(estimator: &PairEstimator, train: &Comparisons, held: &Comparisons, metric: PairMetric) -> f64 {
    let model = estimator.fit(train).unwrap().model;
    let verdicts = model.judge(&held.set).unwrap();
    metric.of(&Judged::of(&held.outcomes, &verdicts, held.weights.as_deref()).unwrap()).unwrap()
}

/// Training and held-out pairs of every fold, with the seed that tuning derives from the estimator's.
fn folds(data: &Comparisons, n_folds: usize, seed: u64) -> Vec<(Comparisons, Comparisons)> {
    let folds = cross_fit_folds(data, n_folds, seed ^ u64::from_be_bytes(*b"TuneFold"));
    let select = |keep: &dyn Fn(usize) -> bool| {
        let kept: Vec<usize> = (0..folds.len()).filter(|&k| keep(folds[k] as usize)).collect();
        data.select(&kept)
    };
    (0..n_folds).map(|fold| (select(&|f| f != fold), select(&|f| f == fold))).collect()
}

/// Pairs of items known by number alone.
fn board(n_items: u32, pairs: &[(u32, u32, Outcome)], groups: Option<Vec<u32>>) -> Comparisons {
    let items = Items::indicators((0..n_items).map(|item| format!("i{item}")).collect());
    let set = PairSet::new(items, pairs.iter().map(|&(left, right, _)| Pair { left, right }).collect()).unwrap();
    Comparisons::new(set, pairs.iter().map(|pair| pair.2).collect(), None, groups).unwrap()
}
