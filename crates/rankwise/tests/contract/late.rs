//! How late a fit hears that its time is over, or that somebody said to stop.

use std::time::{Duration, Instant};

use rankwise::data::{ClassItems, Features, Items, Precision, Random, Ranking};
use rankwise::estimator::Effort;
use rankwise::model::ClassScheme;
use rankwise::{Approx, Error, Fit, Kernel, Loss, Result, SvmClassifier, SvmRegressor, Watch};

/// Says to stop from some time on.
struct Until(Instant);

impl Watch for Until {
    fn on_progress(&self, _: rankwise::Progress) -> bool {
        Instant::now() < self.0
    }
}

const ALLOWED: Duration = Duration::from_millis(150);
/// The second that is promised, and as much again for machines that have other things to do.
const LATE: Duration = Duration::from_millis(2000);

fn data(n: usize, d: usize) -> (ClassItems, Ranking) {
    let mut random = Random::new(6);
    let rows: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
    let labels: Vec<f64> = rows.chunks(d).map(|x| x[0] + x[1] * x[2] + random.normal()).collect();
    let names: Vec<&str> = labels.iter().map(|y| ["a", "b", "c"][(y.abs() as usize).min(2)]).collect();
    let items = Items::new(Features::dense(d, rows, Precision::F64).unwrap(), None, None).unwrap();
    (ClassItems::new(items.clone(), &names).unwrap(), Ranking::new(items, labels, None).unwrap())
}

/// A fit that takes far longer than it may ends soon after, whichever way it is told; a model or an error, but no panic.
fn ends_in_time(name: &str, fit: &dyn Fn(Effort, &dyn Watch) -> Result<Fit>) {
    let far = Until(Instant::now() + Duration::from_secs(3600));
    for (how, is_watched) in [("time", false), ("stop", true)] {
        let mut effort = Effort::default();
        effort.tol = 1e-12;
        effort.time_limit = (!is_watched).then_some(ALLOWED);
        let started = Instant::now();
        let near = Until(started + ALLOWED);
        let found = fit(effort, if is_watched { &near } else { &far });
        let late = started.elapsed().saturating_sub(ALLOWED);
        assert!(late < LATE, "{name}, {how}: {late:?}");
        assert!(found.is_ok() || matches!(found, Err(Error::Interrupted | Error::Search { .. })), "{name}, {how}");
    }
}

#[test]
fn machines_of_a_kernel_hear_within_a_second_that_their_time_is_over() {
    let (classes, values) = data(12_000, 20);
    for (kernel, approx, c) in [(Kernel::rbf(0.05), None, 1e3), (Kernel::rbf(0.05), Some(Approx::Nystrom(200)), 1e3)] {
        ends_in_time(&format!("classify {approx:?}"), &|effort, watch| {
            SvmClassifier::new().kernel(kernel).approx(approx).c(c).effort(effort).fit_watched(&classes, watch)
        });
        ends_in_time(&format!("regress {approx:?}"), &|effort, watch| {
            SvmRegressor::new().kernel(kernel).approx(approx).c(c).effort(effort).fit_watched(&values, watch)
        });
    }
}

#[test]
fn machines_in_weights_hear_within_a_second_that_their_time_is_over() {
    let (classes, values) = data(20_000, 60);
    for loss in [Loss::Hinge, Loss::SquaredHinge] {
        ends_in_time(&format!("classify {loss:?}"), &|effort, watch| {
            SvmClassifier::new().loss(loss).c(1e4).effort(effort).fit_watched(&classes, watch)
        });
    }
    for scheme in [ClassScheme::CrammerSinger, ClassScheme::WestonWatkins] {
        ends_in_time(&format!("classify {scheme:?}"), &|effort, watch| {
            SvmClassifier::new().classes(scheme).c(1e4).effort(effort).fit_watched(&classes, watch)
        });
    }
    for c in [1e4, f64::INFINITY] {
        ends_in_time(&format!("regress {c}"), &|effort, watch| {
            SvmRegressor::new().c(c).epsilon(6.0).effort(effort).fit_watched(&values, watch)
        });
    }
}
