//! Limits of time act within a second, also within a product of all items with all others.

use std::time::{Duration, Instant};

use rankwise::data::{ClassItems, Features, Items, Precision, Random, Ranking};
use rankwise::{Approx, Effort, Error, Fit, Kernel, Loss, RankSvm, Result, Stop, SvmClassifier, SvmRegressor, SwapSvm};

const N: usize = 100_000;
const LIMIT: Duration = Duration::from_millis(200);

fn effort() -> Effort {
    let mut effort = Effort::default();
    (effort.time_limit, effort.cache_mb) = (Some(LIMIT), 16);
    effort
}

/// Many items whose kernel matrix takes seconds.
fn many() -> Ranking {
    let mut random = Random::new(7);
    let values: Vec<f64> = (0..20 * N).map(|_| random.normal()).collect();
    let labels = values.chunks(20).map(|x| (x[0] + x[1] * x[2]).round().clamp(-2.0, 2.0)).collect();
    let items = Items::new(Features::dense(20, values, Precision::F32).unwrap(), None, None).unwrap();
    Ranking::new(items, labels, None).unwrap()
}

/// Whether what ended in time is a model of finite numbers with a warning, or an error that says why.
fn ends_in_time(name: &str, fit: impl FnOnce() -> Result<Fit>) {
    let started = Instant::now();
    let found = fit();
    let took = started.elapsed();
    // A second where nothing else runs.
    assert!(took < LIMIT + Duration::from_millis(2_500), "{name}: {took:?}");
    match found {
        Ok(fit) => {
            let training = &fit.model.training;
            assert_eq!(training.stop, Stop::TimeLimit, "{name}");
            assert!(training.objective.is_finite() && (0.0..=1.0).contains(&training.gap), "{name}: {training:?}");
            assert!(training.warnings.iter().any(|w| w.contains("the allowed time was used up")), "{name}");
            assert!(!training.warnings.iter().any(|w| w.contains("say nothing")), "{name}: {:?}", training.warnings);
        }
        Err(Error::Search { problem, .. }) => assert!(problem.contains("time was used up"), "{name}: {problem}"),
        Err(error) => panic!("{name}: {error}"),
    }
}

#[test]
fn limits_act_within_products_of_all_items() {
    let data = many();
    let labels: Vec<f64> = data.labels.iter().map(|y| f64::from(*y > 0.0)).collect();
    let classes = ClassItems::of_labels(data.items.clone(), &labels).unwrap();
    let (kernel, approx) = (Kernel::rbf(0.05), Some(Approx::Nystrom(2000)));
    let rank = RankSvm::new().kernel(kernel).effort(effort());
    ends_in_time("rank", || rank.clone().fit(&data));
    ends_in_time("rank, hinge", || rank.clone().loss(Loss::Hinge).fit(&data));
    ends_in_time("rank over landmarks", || rank.clone().approx(approx).fit(&data));
    ends_in_time("swap", || SwapSvm::new().kernel(kernel).effort(effort()).fit(&data));
    let regress = SvmRegressor::new().kernel(kernel).c(100.0).effort(effort());
    ends_in_time("regress", || regress.clone().fit(&data));
    ends_in_time("regress over landmarks", || regress.clone().approx(approx).fit(&data));
    let classify = SvmClassifier::new().kernel(kernel).c(100.0).effort(effort());
    ends_in_time("classify", || classify.clone().fit(&classes));
    ends_in_time("classify over landmarks", || classify.clone().approx(approx).fit(&classes));
}

/// What a search has found until its time is over is what it says: objective and bound are those of the model.
#[test]
fn what_a_limit_leaves_is_no_worse_than_it_says() {
    let mut random = Random::new(8);
    let n = 3000;
    let values: Vec<f64> = (0..5 * n).map(|_| random.normal()).collect();
    let labels: Vec<f64> = values.chunks(5).map(|x| (x[0] * x[1]).round().clamp(-2.0, 2.0)).collect();
    let items = Items::new(Features::dense(5, values, Precision::F64).unwrap(), None, None).unwrap();
    let data = Ranking::new(items, labels, None).unwrap();
    for loss in Loss::ALL {
        let fit = |millis| {
            let mut effort = effort();
            effort.time_limit = Some(Duration::from_millis(millis));
            RankSvm::new().loss(loss).kernel(Kernel::rbf(0.1)).c(0.01).effort(effort).fit(&data).unwrap().model
        };
        let models: Vec<_> = [1, 20, 60, 20_000].into_iter().map(fit).collect();
        let least = models[3].training.objective;
        for model in &models {
            let training = &model.training;
            assert!(training.objective >= least * (1.0 - 2e-3), "{loss:?}: {training:?} {least}");
            assert!(
                training.objective * (1.0 - training.gap) <= least * (1.0 + 1e-6),
                "{loss:?}: {training:?} {least}"
            );
            assert!(training.objective <= 1.001 * zero(&data, loss, 0.01), "{loss:?}: worse than equal scores");
        }
    }
}

/// The objective where all scores are equal.
fn zero(data: &Ranking, loss: Loss, c: f64) -> f64 {
    let n = data.n_items();
    let mut pairs = 0.0;
    for i in 0..n {
        pairs += (0..i).filter(|&j| data.labels[i] != data.labels[j]).count() as f64;
    }
    c * pairs * loss.value(1.0)
}
