//! Classifiers and regressions over landmarks beside those over the whole kernel, and their gaps beside plain loops.

use std::path::Path;

use rankwise::data::{ClassItems, Random, Ranking};
use rankwise::kernel::{Gamma, KernelFunction};
use rankwise::model::{Basis, ClassScheme, Model, ScoreFunction};
use rankwise::{Approx, Error, Kernel, Loss, Stop, SvmClassifier, SvmRegressor, io};

use super::classify::{clouds, items};
use super::regress::bent;

const RBF: (Kernel, KernelFunction) = (Kernel::Rbf { gamma: Gamma::Value(0.4) }, KernelFunction::Rbf { gamma: 0.4 });
const POLY: (Kernel, KernelFunction) = (
    Kernel::Poly { gamma: Gamma::Value(0.5), coef0: 1.0, degree: 3 },
    KernelFunction::Poly { gamma: 0.5, coef0: 1.0, degree: 3 },
);

fn nystrom(n: usize) -> Option<Approx> {
    Some(Approx::Nystrom(n))
}

/// Items of two classes with weights and margins, and a bent line with weights; some items are there twice.
struct Lessons {
    rows: Vec<Vec<f64>>,
    classes: ClassItems,
    values: Ranking,
    epsilon: f64,
}

impl Lessons {
    fn new(n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (mut rows, labels) = clouds(n, 2, 2, seed);
        let values = bent(n, seed).1;
        rows.copy_within_rows(n / 8);
        let weights: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0).exp2()).collect();
        let margins = (0..n).map(|_| random.between(0.5, 1.5)).collect();
        let classes = ClassItems::new(items(&rows), &labels).unwrap();
        let classes = classes.with_weights(weights.clone()).unwrap().with_margins(margins).unwrap();
        let values = Ranking::new(items(&rows), values, None).unwrap().with_weights(weights).unwrap();
        Lessons { rows, classes, values, epsilon: 1.5 }
    }

    fn fit(&self, loss: Loss, kernel: Kernel, c: f64, approx: Option<Approx>, tol: f64) -> Model {
        if Loss::OF_CLASSES.contains(&loss) {
            let svm = SvmClassifier::new().loss(loss).kernel(kernel).c(c).approx(approx).tol(tol);
            return svm.fit(&self.classes).unwrap().model;
        }
        let svm = SvmRegressor::new().loss(loss).kernel(kernel).c(c).approx(approx).epsilon(self.epsilon).tol(tol);
        svm.fit(&self.values).unwrap().model
    }

    fn scores(&self, model: &Model) -> Vec<f64> {
        model.scorer.scores(&self.classes.items).unwrap()
    }

    /// Weight, and which way f should go by how much (0 where it is as it should be).
    fn slack(&self, loss: Loss, item: usize, f: f64) -> (f64, f64) {
        if Loss::OF_CLASSES.contains(&loss) {
            let sign = if self.classes.labels[item] == 1 { 1.0 } else { -1.0 };
            return (self.classes.weight(item), sign * (self.classes.margin(item) - sign * f).max(0.0));
        }
        let error = self.values.labels[item] - f;
        (self.values.weight(item), error.signum() * (error.abs() - self.epsilon).max(0.0))
    }

    /// ½‖f‖² from coefficients of landmarks and C·Σ losses, by plain loops.
    fn objective(&self, model: &Model, loss: Loss, c: f64) -> f64 {
        let ScoreFunction::Kernel { kernel, support, coefficients, bias } = &model.scorer.function else { panic!() };
        let own: Vec<Vec<f64>> = support.to_dense().chunks(support.n_cols()).map(<[f64]>::to_vec).collect();
        let sum = |x: &Vec<f64>| own.iter().zip(coefficients).map(|(s, a)| a * kernel.value(s, x)).sum::<f64>();
        let square: f64 = own.iter().zip(coefficients).map(|(s, a)| a * sum(s)).sum();
        let losses = self.rows.iter().enumerate().map(|(item, x)| {
            let (weight, slack) = self.slack(loss, item, sum(x) + bias);
            weight * loss.value(slack.abs())
        });
        0.5 * square + c * losses.sum::<f64>()
    }
}

trait CopyRows {
    /// The last rows become the first ones.
    fn copy_within_rows(&mut self, n: usize);
}

impl CopyRows for Vec<Vec<f64>> {
    fn copy_within_rows(&mut self, n: usize) {
        let at = self.len() - n;
        for k in 0..n {
            self[at + k] = self[k].clone();
        }
    }
}

const LOSSES: [Loss; 4] = [Loss::Hinge, Loss::SquaredHinge, Loss::Epsilon, Loss::SquaredEpsilon];

#[test]
fn all_items_as_landmarks_are_no_approximation() {
    for (seed, (kernel, _)) in [(1, RBF), (2, POLY)] {
        let lessons = Lessons::new(64, seed);
        for loss in LOSSES {
            for c in [0.1, 3.0] {
                let exact = lessons.fit(loss, kernel, c, None, 1e-6);
                let all = lessons.fit(loss, kernel, c, nystrom(500), 1e-6);
                let (a, b) = (&exact.training, &all.training);
                let what = format!("{kernel:?} {loss:?} {c}: {} {}, {}", a.objective, b.objective, b.gap);
                assert_eq!((a.stop, b.stop), (Stop::Converged, Stop::Converged), "{what}");
                assert!((b.objective / a.objective - 1.0).abs() < 3e-6, "{what}");
                assert!(b.gap < 4e-6, "{what}");
                assert!(b.support <= Some(56), "{what}");
                let size = lessons.scores(&exact).iter().fold(1.0, |a: f64, b| a.max(b.abs()));
                for (a, b) in lessons.scores(&exact).iter().zip(lessons.scores(&all)) {
                    assert!((a - b).abs() < 1e-2 * size, "{what}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn what_is_lost_is_never_more_than_the_gap_says() {
    for (seed, (kernel, _)) in [(3, RBF), (4, POLY)] {
        let lessons = Lessons::new(80, seed);
        for loss in LOSSES {
            for c in [0.05, 2.0] {
                let best = lessons.fit(loss, kernel, c, None, 1e-9).training;
                let (mut last, mut gaps) = (f64::INFINITY, Vec::new());
                for n in [1, 4, 12, 200] {
                    let model = lessons.fit(loss, kernel, c, nystrom(n), 1e-7);
                    let training = &model.training;
                    let what = format!("{kernel:?} {loss:?} {c} {n}: {} {}", training.objective, training.gap);
                    assert_eq!(training.certificate, "relative duality gap of the machine without approximation");
                    assert!(training.support <= Some(n) && training.approx == nystrom(n), "{what}");
                    // The objective in the kernel's own space is that of the weights.
                    let plain = lessons.objective(&model, loss, c);
                    assert!((plain / training.objective - 1.0).abs() < 1e-7, "{what} {plain}");
                    let lost = 1.0 - best.objective / training.objective;
                    assert!(lost > -1e-8 && lost <= training.gap + 1e-8 && training.gap <= 1.0, "{what}: {lost}");
                    // Landmarks come one after the other, so that more of them are never worse.
                    assert!(training.objective <= last * (1.0 + 1e-6), "{what} {last}");
                    last = training.objective;
                    gaps.push(training.gap);
                }
                assert!(gaps[3] < 1e-6 && gaps[3] < gaps[1], "{kernel:?} {loss:?} {c}: {gaps:?}");
            }
        }
    }
}

/// The dual value of what squared losses ask for, by plain loops over all items: where the search for a better one begins.
#[test]
fn the_gap_of_squared_losses_is_at_most_that_of_plain_loops() {
    let lessons = Lessons::new(50, 5);
    for (kernel, value) in [RBF, POLY] {
        for loss in [Loss::SquaredHinge, Loss::SquaredEpsilon] {
            let c = 0.7;
            let model = lessons.fit(loss, kernel, c, nystrom(6), 1e-10);
            let scores = lessons.scores(&model);
            let (mut t, mut gain, mut curve) = (Vec::new(), 0.0, 0.0);
            for (item, f) in scores.iter().enumerate() {
                let (weight, slack) = lessons.slack(loss, item, *f);
                let own = 2.0 * c * weight * slack;
                // Where the loss ends.
                gain += own * (f + slack);
                curve += own * own / (2.0 * c * weight);
                t.push(own);
            }
            let size: f64 = t.iter().map(|t| t.abs()).sum();
            assert!(t.iter().sum::<f64>().abs() < 1e-9 * size);
            for (a, x) in t.iter().zip(&lessons.rows) {
                for (b, y) in t.iter().zip(&lessons.rows) {
                    curve += a * b * value.value(x, y);
                }
            }
            let dual = 0.5 * gain * gain / curve;
            let gap = 1.0 - dual / model.training.objective;
            let best = lessons.fit(loss, kernel, c, None, 1e-9).training;
            let lost = 1.0 - best.objective / model.training.objective;
            let told = model.training.gap;
            assert!(lost - 1e-8 <= told && told <= gap + 1e-9 && gap > 0.01, "{loss:?} {lost} {told} {gap}");
        }
    }
}

/// Items that landmarks describe badly make the dual value of what they ask for 0, or nearly so: a gap of 1 that says nothing.
#[test]
fn landmarks_of_a_fifth_of_smooth_data_have_a_gap_near_what_is_lost() {
    let n = 400;
    let mut random = Random::new(11);
    let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..4).map(|_| random.normal()).collect()).collect();
    let value = |x: &[f64]| x[0].sin() + 0.5 * x[1] * x[2];
    let labels: Vec<f64> = rows.iter().map(|x| value(x) + 0.1 * random.normal()).collect();
    let names: Vec<&str> = labels.iter().map(|y| if *y > 0.0 { "b" } else { "a" }).collect();
    let (classes, values) =
        (ClassItems::new(items(&rows), &names).unwrap(), Ranking::new(items(&rows), labels, None).unwrap());
    for c in [1.0, 30.0] {
        let told = |approx: Option<Approx>, tol: f64, is_class: bool| match is_class {
            true => {
                SvmClassifier::new().kernel(RBF.0).c(c).approx(approx).tol(tol).fit(&classes).unwrap().model.training
            }
            false => {
                SvmRegressor::new().kernel(RBF.0).c(c).approx(approx).tol(tol).fit(&values).unwrap().model.training
            }
        };
        for is_class in [true, false] {
            let best = told(None, 1e-6, is_class).objective;
            let training = told(nystrom(n / 5), 1e-3, is_class);
            let lost = 1.0 - best / training.objective;
            assert!(lost > 0.003, "{lost}");
            assert!((lost - 1e-6..=3.0 * lost).contains(&training.gap), "{c} {is_class}: {} and {lost}", training.gap);
        }
    }
}

#[test]
fn machines_of_many_classes_share_their_landmarks() {
    let (rows, labels) = clouds(90, 3, 3, 6);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    let svm = SvmClassifier::new().kernel(RBF.0).approx(nystrom(10)).tol(1e-7);
    let several = svm.clone().classes(ClassScheme::Ovr).fit(&data).unwrap().model;
    let ScoreFunction::Several { basis: Basis::Kernel { support, .. }, .. } = &several.scorer.function else {
        panic!()
    };
    assert!(support.n_rows() == 10 && several.training.support == Some(10));
    let scores = several.scorer.scores_of_machines(&data.items).unwrap();
    let (mut objective, mut dual) = (0.0, 0.0);
    for class in 0..3 {
        // The same items, so that landmarks are the same.
        let rest: Vec<&str> = data.labels.iter().map(|l| if *l == class { "b" } else { "a" }).collect();
        let one = svm.fit(&ClassItems::new(items(&rows), &rest).unwrap()).unwrap().model;
        let own = one.scorer.scores(&data.items).unwrap();
        own.iter().zip(scores.chunks(3)).for_each(|(a, b)| assert!((a - b[class as usize]).abs() < 1e-9));
        objective += one.training.objective;
        dual += one.training.objective * (1.0 - one.training.gap);
    }
    assert!((several.training.objective / objective - 1.0).abs() < 1e-12);
    assert!((several.training.gap - (1.0 - dual / objective)).abs() < 1e-9);

    for scheme in [ClassScheme::Ovo, ClassScheme::Ovr] {
        let model = svm.clone().classes(scheme).probabilities(true).fit(&data).unwrap().model;
        let found = model.classify(&data.items).unwrap();
        let mut loss = 0.0;
        for (item, chances) in found.chances.unwrap().chunks_exact(3).enumerate() {
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            loss -= chances[data.labels[item] as usize].ln() / 90.0;
        }
        assert!(loss < 0.9 * 3f64.ln(), "{scheme:?} {loss}");
    }
}

/// More items than landmarks are chosen from, and than one block of sums.
#[test]
fn threads_change_no_bit_and_files_keep_all() {
    let (rows, labels) = clouds(2600, 3, 3, 7);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    let (rows, labels) = bent(9000, 7);
    let values = Ranking::new(items(&rows), labels, None).unwrap();
    let fits = |threads: usize| {
        let svm = SvmClassifier::new().kernel(RBF.0).approx(nystrom(12)).probabilities(true).threads(threads);
        let regressor = SvmRegressor::new().kernel(RBF.0).approx(nystrom(8)).threads(threads);
        let models = [svm.fit(&data).unwrap().model, regressor.fit(&values).unwrap().model];
        models.map(|model| io::model_to_bytes(&model).unwrap())
    };
    let one = fits(1);
    for threads in [2, 3] {
        assert!(fits(threads) == one, "{threads}");
    }
    for bytes in &one {
        let model = io::model_from_bytes(Path::new("model"), bytes).unwrap();
        assert!(matches!(model.training.approx, Some(Approx::Nystrom(8 | 12))));
        assert_eq!(&io::model_to_bytes(&model).unwrap(), bytes);
    }
}

#[test]
fn what_cannot_be_approximated_is_refused() {
    let (rows, labels) = clouds(20, 2, 2, 8);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    let values = Ranking::new(items(&rows), vec![1.0; 20], None).unwrap();
    let sigmoid = Kernel::Sigmoid { gamma: Gamma::Scale, coef0: 0.0 };
    let below = Kernel::Poly { gamma: Gamma::Scale, coef0: -1.0, degree: 2 };
    for (kernel, c, n, word) in [
        (Kernel::Linear, 1.0, 5, "solved exactly"),
        (RBF.0, f64::INFINITY, 5, "hard margin"),
        (RBF.0, 1.0, 0, "from 1 to 20000"),
        (RBF.0, 1.0, 20_001, "from 1 to 20000"),
        (sigmoid, 1.0, 5, "not positive definite"),
        (below, 1.0, 5, "not positive definite"),
    ] {
        let classify = SvmClassifier::new().kernel(kernel).c(c).approx(nystrom(n)).fit(&data);
        let regress = SvmRegressor::new().kernel(kernel).c(c).approx(nystrom(n)).fit(&values);
        for error in [classify.unwrap_err(), regress.unwrap_err()] {
            assert!(error.is_usage() && error.to_string().contains(word), "{error}");
        }
    }
    let matrix = vec![1.0; 400];
    let given = SvmClassifier::new().kernel(RBF.0).approx(nystrom(5)).fit_given(&matrix, &labels, None);
    assert!(matches!(given, Err(Error::Parameter { name: "approx", .. })));
    let given = SvmRegressor::new().kernel(RBF.0).approx(nystrom(5)).fit_given(&matrix, &values.labels, None);
    assert!(matches!(given, Err(Error::Parameter { name: "approx", .. })));
}

#[test]
fn strange_data_and_extreme_parameters_end() {
    let (rows, labels) = clouds(30, 2, 2, 9);
    let few: Vec<Vec<f64>> = (0..30).map(|k| vec![f64::from(k % 3), 0.0]).collect();
    for rows in [rows, few, vec![vec![3.0, 1.0]; 30]] {
        let data = ClassItems::new(items(&rows), &labels).unwrap();
        let values = Ranking::new(items(&rows), (0..30).map(|k| f64::from(k * k % 7)).collect(), None).unwrap();
        for loss in LOSSES {
            for (c, gamma) in [(1e-12, 1.0), (1.0, 1e-9), (1.0, 1e9), (1e9, 1.0)] {
                let kernel = Kernel::rbf(gamma);
                let model = if Loss::OF_CLASSES.contains(&loss) {
                    let mut svm = SvmClassifier::new().loss(loss).kernel(kernel).c(c).approx(nystrom(4));
                    svm.effort.max_iter = Some(300);
                    svm.fit(&data)
                } else {
                    let mut svm = SvmRegressor::new().loss(loss).kernel(kernel).c(c).approx(nystrom(4));
                    svm.effort.max_iter = Some(300);
                    svm.fit(&values)
                };
                let training = model.unwrap().model.training;
                assert!(training.objective.is_finite() && (0.0..=1.0).contains(&training.gap), "{loss:?} {c} {gamma}");
            }
        }
    }
}
