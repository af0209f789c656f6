//! Machines that learn weights for all classes at once, against an interior-point solver and by plain loops.

use rankwise::data::{ClassItems, Features, Items, Precision, Random, Scale};
use rankwise::model::{Basis, ClassScheme, ClassWeights, Model, ScoreFunction};
use rankwise::{Kernel, Loss, Stop, SvmClassifier};

use crate::oracle::classify::{clouds, items};
use crate::oracle::conic::{Entries, minimum};

const JOINT: [ClassScheme; 2] = [ClassScheme::CrammerSinger, ClassScheme::WestonWatkins];

fn svm(scheme: ClassScheme, c: f64) -> SvmClassifier {
    SvmClassifier::new().classes(scheme).c(c).tol(1e-8)
}

/// (rows, data) with weights and margins of their own, of three or four classes.
fn problem(seed: u64) -> (Vec<Vec<f64>>, ClassItems) {
    let (rows, labels) = clouds(36, 3, 3 + seed as usize % 2, seed);
    let mut random = Random::new(seed);
    let weights = rows.iter().map(|_| random.between(-1.0, 1.0).exp2()).collect();
    let margins = rows.iter().map(|_| random.between(0.3, 2.0)).collect();
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    (rows, data.with_weights(weights).unwrap().with_margins(margins).unwrap())
}

/// The least value of the objective; weights are those of (x, 1).
fn conic_objective(rows: &[Vec<f64>], data: &ClassItems, scheme: ClassScheme, c: f64) -> f64 {
    let (k, d) = (data.classes.len(), rows[0].len() + 1);
    let mut p = vec![1.0; k * d];
    let (mut q, mut lacking) = (vec![0.0; k * d], Vec::new());
    for (item, x) in rows.iter().enumerate() {
        let own = data.labels[item] as usize;
        for other in (0..k).filter(|&other| other != own) {
            if scheme == ClassScheme::WestonWatkins
                || lacking.last().is_none_or(|row: &(usize, usize, usize, usize)| row.0 != item)
            {
                p.push(0.0);
                q.push(c * data.weight(item));
            }
            lacking.push((item, own, other, p.len() - 1));
        }
        assert_eq!(x.len() + 1, d);
    }
    let (mut a, mut b) = (Entries::new(p.len()), Vec::new());
    for &(item, own, other, slack) in &lacking {
        let x: Vec<f64> = rows[item].iter().copied().chain([1.0]).collect();
        let lead = (0..d).flat_map(|f| [(own * d + f, -x[f]), (other * d + f, x[f])]);
        a.row(lead.chain([(slack, -1.0)]));
        b.push(-data.margin(item));
        a.row([(slack, -1.0)]);
        b.push(0.0);
    }
    minimum(&p, &q, &a, &b, 0)
}

/// Weights and biases of all classes, as the model's scores have them; two classes have half of one machine each.
fn parts(model: &Model) -> Vec<(Vec<f64>, f64)> {
    match &model.scorer.function {
        ScoreFunction::Linear { weights, bias } => {
            let half = |sign: f64| (weights.iter().map(|w| sign * 0.5 * w).collect(), sign * 0.5 * bias);
            vec![half(-1.0), half(1.0)]
        }
        ScoreFunction::Several { basis: Basis::Features, coefficients, biases } => {
            let d = coefficients.len() / biases.len();
            biases.iter().enumerate().map(|(at, bias)| (coefficients[at * d..][..d].to_vec(), *bias)).collect()
        }
        _ => panic!(),
    }
}

fn plain_objective(model: &Model, rows: &[Vec<f64>], data: &ClassItems, scheme: ClassScheme, c: f64) -> f64 {
    let parts = parts(model);
    let square: f64 = parts.iter().map(|(w, b)| w.iter().map(|w| w * w).sum::<f64>() + b * b).sum();
    let score = |x: &[f64], of: &(Vec<f64>, f64)| of.0.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + of.1;
    let mut losses = 0.0;
    for (item, x) in rows.iter().enumerate() {
        let own = data.labels[item] as usize;
        let lacking = (0..parts.len())
            .filter(|&k| k != own)
            .map(|k| (data.margin(item) - (score(x, &parts[own]) - score(x, &parts[k]))).max(0.0));
        let loss = match scheme {
            ClassScheme::WestonWatkins => lacking.sum::<f64>(),
            _ => lacking.fold(0.0, f64::max),
        };
        losses += data.weight(item) * loss;
    }
    0.5 * square + c * losses
}

#[test]
fn objectives_are_those_of_the_conic_solver() {
    for scheme in JOINT {
        for seed in 0..4 {
            let (rows, data) = problem(seed);
            for c in [0.02, 1.0, 20.0] {
                let model = svm(scheme, c).fit(&data).unwrap().model;
                let training = &model.training;
                let expected = conic_objective(&rows, &data, scheme, c);
                let what =
                    format!("{scheme:?} seed {seed} C {c}: {} {expected} {:?}", training.objective, training.stop);
                assert!((training.objective / expected - 1.0).abs() <= 1e-6, "{what}");
                assert!(training.stop == Stop::Converged && training.gap <= 1e-8 && training.gap >= 0.0, "{what}");
                let plain = plain_objective(&model, &rows, &data, scheme, c);
                assert!((plain / training.objective - 1.0).abs() < 1e-10, "{what}: {plain}");
                // Dual variables of an item sum to 0 over the classes, and so do weights.
                let sum: f64 = parts(&model).iter().map(|of| of.1).sum();
                assert!(sum.abs() < 1e-9, "{what}: {sum}");
                // The largest score wins.
                let verdicts = model.classify(&data.items).unwrap();
                let best = |scores: &[f64]| (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
                let k = data.classes.len();
                let expected: Vec<u32> = verdicts.scores.chunks(k).map(|scores| best(scores) as u32).collect();
                assert_eq!((verdicts.n_scores, verdicts.classes), (k, expected));
            }
        }
    }
}

#[test]
fn the_gap_bounds_what_is_missing_wherever_the_search_ends() {
    for scheme in JOINT {
        let (rows, data) = problem(1);
        let best = conic_objective(&rows, &data, scheme, 5.0);
        for max_iter in [1, 36, 100, 400] {
            let mut svm = svm(scheme, 5.0);
            svm.effort.max_iter = Some(max_iter);
            let training = svm.fit(&data).unwrap().model.training;
            let missing = 1.0 - best / training.objective;
            assert!(missing <= training.gap + 1e-9, "{scheme:?} {max_iter}: {missing} {}", training.gap);
        }
    }
}

/// Weight 2 is the item twice is its slack times two; a margin times two is something else.
#[test]
fn a_large_c_is_answered_from_smaller_ones() {
    for scheme in [ClassScheme::CrammerSinger, ClassScheme::WestonWatkins] {
        for seed in 0..3 {
            let (rows, data) = problem(seed);
            let large = svm(scheme, 1e5).tol(1e-3).fit(&data).unwrap().model;
            let found = plain_objective(&large, &rows, &data, scheme, 1e5);
            let expected = conic_objective(&rows, &data, scheme, 1e5);
            assert!(found <= 1.02 * expected, "{scheme:?} {seed}: {found}, at best {expected}");
            assert!(found * (1.0 - large.training.gap) <= expected * (1.0 + 1e-6));
        }
    }
}

#[test]
fn weights_are_copies_are_scaled_slacks_and_margins_are_not() {
    for scheme in [ClassScheme::CrammerSinger, ClassScheme::WestonWatkins, ClassScheme::Ovo] {
        for n_classes in [2, 3] {
            let (rows, labels) = clouds(30, 2, n_classes, 7);
            let twice: Vec<usize> = (0..rows.len()).filter(|item| item.is_multiple_of(3)).collect();
            let plain = ClassItems::new(items(&rows), &labels).unwrap();
            let weight = |item: usize| if item.is_multiple_of(3) { 2.0 } else { 1.0 };
            let weighted = plain.clone().with_weights((0..rows.len()).map(weight).collect()).unwrap();
            let mut more = (rows.clone(), labels.clone());
            twice.iter().for_each(|&item| {
                more.0.push(rows[item].clone());
                more.1.push(labels[item].clone());
            });
            let copied = ClassItems::new(items(&more.0), &more.1).unwrap();
            let margins = plain.clone().with_margins((0..rows.len()).map(weight).collect()).unwrap();
            let objective = |data: &ClassItems| svm(scheme, 0.7).fit(data).unwrap().model.training.objective;
            let (a, b, other) = (objective(&weighted), objective(&copied), objective(&margins));
            assert!((a / b - 1.0).abs() < 1e-7, "{scheme:?}: {a} {b}");
            assert!((other / a - 1.0).abs() > 1e-3, "{scheme:?}: {other} {a}");
            if scheme.is_joint() {
                let expected = conic_objective(&rows, &margins, scheme, 0.7);
                assert!((other / expected - 1.0).abs() < 1e-6, "{scheme:?}: {other} {expected}");
            }
            // A class that weighs twice is one whose items do.
            let first = plain.classes[0].clone();
            let named = ClassWeights::Named(vec![(first, 2.0)]);
            let of_class = |item: usize| if plain.labels[item] == 0 { 2.0 } else { 1.0 };
            let by_items = plain.clone().with_weights((0..rows.len()).map(of_class).collect()).unwrap();
            let by_class = svm(scheme, 0.7).class_weight(named).fit(&plain).unwrap().model.training.objective;
            assert!((by_class / objective(&by_items) - 1.0).abs() < 1e-7);
        }
    }
}

/// f = f₁ − f₀ with ¼(‖w‖² + b²) and the losses of a binary machine: half of its objective with 2C.
#[test]
fn two_classes_are_the_binary_machine_with_twice_the_c() {
    // Every point has its mirror image in the other class, so that a free bias is 0, too.
    let (mut rows, labels) = clouds(25, 3, 2, 3);
    let mirrored: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|v| -v).collect()).collect();
    let other = |label: &String| if label == "b" { "c".to_string() } else { "b".to_string() };
    let labels: Vec<String> = labels.iter().cloned().chain(labels.iter().map(other)).collect();
    rows.extend(mirrored);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    for c in [0.05, 1.0] {
        let binary = svm(ClassScheme::Ovo, 2.0 * c).fit(&data).unwrap().model;
        for scheme in JOINT {
            let joint = svm(scheme, c).fit(&data).unwrap().model;
            let ratio = 2.0 * joint.training.objective / binary.training.objective;
            assert!((ratio - 1.0).abs() < 1e-7, "{scheme:?} {c}: {ratio}");
            let ScoreFunction::Linear { weights, bias } = &joint.scorer.function else { panic!() };
            let ScoreFunction::Linear { weights: expected, .. } = &binary.scorer.function else { panic!() };
            assert!(bias.abs() < 1e-6);
            weights.iter().zip(expected).for_each(|(w, e)| assert!((w - e).abs() < 1e-3 * (1.0 + e.abs()), "{w} {e}"));
            let verdicts = joint.classify(&data.items).unwrap();
            assert_eq!(verdicts.n_scores, 1);
        }
    }
    // Without mirrors the bias shows, and both schemes are the same machine.
    let (rows, labels) = clouds(31, 2, 2, 5);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    let [cs, ww] = JOINT.map(|scheme| svm(scheme, 2.0).fit(&data).unwrap().model.training.objective);
    assert!((cs / ww - 1.0).abs() < 1e-7 && (cs / conic_objective(&rows, &data, JOINT[0], 2.0) - 1.0).abs() < 1e-6);
}

#[test]
fn names_of_classes_do_not_matter() {
    let (rows, labels) = clouds(45, 3, 3, 11);
    let renamed: Vec<String> = labels
        .iter()
        .map(|label| ["z", "y", "x"][["a", "b", "c"].iter().position(|n| n == label).unwrap()].into())
        .collect();
    for scheme in JOINT {
        let [first, second] = [&labels, &renamed].map(|labels| {
            let data = ClassItems::new(items(&rows), labels).unwrap();
            svm(scheme, 1.0).fit(&data).unwrap().model
        });
        let [a, b] = [&first, &second].map(|model| (model.training.objective, model.training.gap, model.training.stop));
        assert!((a.0 / b.0 - 1.0).abs() < 3e-8, "{scheme:?}: {a:?} {b:?}");
        let (a, mut b) = (parts(&first), parts(&second));
        b.reverse();
        for (a, b) in a.iter().zip(&b) {
            a.0.iter().zip(&b.0).for_each(|(a, b)| assert!((a - b).abs() < 1e-3, "{a} {b}"));
        }
    }
}

#[test]
fn scaling_and_storage_make_no_difference() {
    let (rows, labels) = clouds(40, 3, 3, 2);
    let far: Vec<Vec<f64>> =
        rows.iter().map(|row| row.iter().enumerate().map(|(f, v)| 10.0 * v + 500.0 * f as f64).collect()).collect();
    for scheme in JOINT {
        let svm = svm(scheme, 0.5).tol(1e-7);
        let data = ClassItems::new(items(&far), &labels).unwrap();
        let scaled = svm.clone().scale(Scale::Standard).fit(&data).unwrap().model;
        let (n, mut by_hand) = (far.len() as f64, far.clone());
        for column in 0..3 {
            let mean = far.iter().map(|row| row[column]).sum::<f64>() / n;
            let deviation = (far.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / n).sqrt();
            by_hand.iter_mut().for_each(|row| row[column] = (row[column] - mean) / deviation);
        }
        let plain = ClassItems::new(items(&by_hand), &labels).unwrap();
        let expected = svm.fit(&plain).unwrap().model;
        assert!((scaled.training.objective / expected.training.objective - 1.0).abs() < 1e-7);
        let (a, b) = (scaled.classify(&data.items).unwrap(), expected.classify(&plain.items).unwrap());
        a.scores.iter().zip(&b.scores).for_each(|(a, b)| assert!((a - b).abs() < 1e-3, "{a} {b}"));
        // The bias is penalised where the features are, however far that is.
        let model = svm.clone().tol(1e-4).c(1e-4).fit(&data).unwrap().model;
        let objective = plain_objective(&model, &far, &data, scheme, 1e-4);
        assert!((objective / model.training.objective - 1.0).abs() < 1e-9, "{objective}");
        // Sparse rows.
        let with_zeros: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().map(|v| if v.abs() < 0.5 { 0.0 } else { *v }).collect()).collect();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in &with_zeros {
            row.iter().enumerate().filter(|(_, v)| **v != 0.0).for_each(|(c, v)| {
                columns.push(c as u32);
                values.push(*v);
            });
            starts.push(values.len());
        }
        let sparse = Items::new(Features::sparse(3, starts, columns, values).unwrap(), None, None).unwrap();
        let sparse = ClassItems::new(sparse, &labels).unwrap();
        let dense = ClassItems::new(items(&with_zeros), &labels).unwrap();
        let (a, b) = (svm.fit(&sparse).unwrap().model, svm.fit(&dense).unwrap().model);
        assert!((a.training.objective / b.training.objective - 1.0).abs() < 1e-6);
        // Threads do not matter.
        let one = svm.clone().threads(1).fit(&dense).unwrap().model;
        assert_eq!(parts(&one), parts(&b));
    }
}

#[test]
fn degenerate_items_have_answers() {
    let fit = |rows: &[Vec<f64>], labels: &[&str], scheme: ClassScheme| {
        let data = ClassItems::new(items(rows), labels).unwrap();
        svm(scheme, 1.0).fit(&data).map(|fit| fit.model)
    };
    let rows = vec![vec![1.0, 2.0], vec![1.0, 2.0], vec![1.0, 2.0], vec![-1.0, 0.0]];
    for scheme in JOINT {
        // The same point in three classes, and constant features.
        let model = fit(&rows, &["a", "b", "c", "a"], scheme).unwrap();
        assert!(model.training.stop == Stop::Converged && model.training.objective.is_finite());
        let constant = vec![vec![0.0]; 5];
        let model = fit(&constant, &["a", "a", "b", "c", "a"], scheme).unwrap();
        assert_eq!(model.classify(&items(&constant)).unwrap().classes, [0; 5], "the most frequent one");
        let data = ClassItems::new(items(&constant), &["a", "a", "b", "c", "a"]).unwrap();
        let expected = conic_objective(&constant, &data, scheme, 1.0);
        assert!((model.training.objective / expected - 1.0).abs() < 1e-6);
        // One class is nothing to tell apart; a class without weight is none.
        let error = fit(&rows, &["a"; 4], scheme).unwrap_err().to_string();
        assert!(error.contains("nothing to tell apart"), "{error}");
        let data = ClassItems::new(items(&rows), &["a", "b", "c", "d"]).unwrap();
        let data = data.with_weights(vec![1.0, 1.0, 0.0, 1.0]).unwrap();
        let model = svm(scheme, 1.0).fit(&data).unwrap().model;
        assert_eq!(model.classes.unwrap(), ["a", "b", "d"]);
    }
}

#[test]
fn what_such_machines_lack_is_refused() {
    let (rows, labels) = clouds(20, 2, 3, 1);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    for scheme in JOINT {
        let svm = svm(scheme, 1.0);
        for (asked, expected) in [
            (svm.clone().kernel(Kernel::rbf(1.0)), "linear"),
            (svm.clone().loss(Loss::SquaredHinge), "hinge alone"),
            (svm.clone().c(f64::INFINITY), "hard margin"),
            (svm.clone().probabilities(true), "probabilities"),
        ] {
            let error = asked.fit(&data).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains(scheme.name()) && error.contains("ovo"), "{error}");
        }
        assert!(svm.fit_given(&vec![0.0; 400], &labels, None).is_err());
    }
}

#[test]
fn single_precision_is_enough_to_be_exact_for_the_stored_numbers() {
    let (rows, labels) = clouds(60, 4, 4, 8);
    let single: Vec<f64> = rows.iter().flatten().map(|v| f64::from(*v as f32)).collect();
    let stored = |precision| Items::new(Features::dense(4, single.clone(), precision).unwrap(), None, None).unwrap();
    for scheme in JOINT {
        let [a, b] = [Precision::F32, Precision::F64].map(|precision| {
            let data = ClassItems::new(stored(precision), &labels).unwrap();
            svm(scheme, 1.0).fit(&data).unwrap().model.training.objective
        });
        assert_eq!(a, b);
    }
}
