//! Ridge regression against a dense solve of its equations, and what must not matter.

use rankwise::data::{Features, Items, Precision, Random, Ranking, Scale};
use rankwise::model::{Model, ScoreFunction};
use rankwise::{Error, Ridge, Stop, io};

use crate::oracle::rank_items::solved;

fn ranking(n_cols: usize, values: Vec<f64>, labels: Vec<f64>) -> Ranking {
    let items = Items::new(Features::dense(n_cols, values, Precision::F64).unwrap(), None, None).unwrap();
    Ranking::new(items, labels, None).unwrap()
}

/// Features far from 0 and of different sizes; labels that depend on them.
fn drawn(n: usize, d: usize, seed: u64) -> Ranking {
    let mut random = Random::new(seed);
    let truth: Vec<f64> = (0..d).map(|_| random.normal()).collect();
    let of_column = |at: usize| (at % d % 3) as f64;
    let values: Vec<f64> = (0..n * d).map(|at| (1.0 + of_column(at)) * random.normal() + 2.0 * of_column(at)).collect();
    let labels = values.chunks(d).map(|row| dot(row, &truth) + random.normal() + 20.0).collect();
    ranking(d, values, labels)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn parts(model: &Model) -> (&[f64], f64) {
    match &model.scorer.function {
        ScoreFunction::Linear { weights, bias } => (weights, *bias),
        other => panic!("not linear: {other:?}"),
    }
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}

/// (I 0; 0 0) + 2C Σ c (x, 1)(x, 1)ᵀ on (w, b), by Gauss.
fn dense_solution(data: &Ranking, c: f64) -> Vec<f64> {
    let d = data.items.features.n_cols();
    let rows = data.items.features.to_dense();
    let mut matrix = vec![vec![0.0; d + 1]; d + 1];
    (0..d).for_each(|k| matrix[k][k] = 1.0);
    let mut right = vec![0.0; d + 1];
    for (i, row) in rows.chunks(d).enumerate() {
        let x: Vec<f64> = row.iter().copied().chain([1.0]).collect();
        let cost = 2.0 * c * data.weight(i);
        for k in 0..=d {
            right[k] += cost * x[k] * data.labels[i];
            (0..=d).for_each(|l| matrix[k][l] += cost * x[k] * x[l]);
        }
    }
    solved(matrix, &right)
}

#[test]
fn weights_equal_a_dense_solve() {
    for (n, d) in [(30, 4), (12, 12), (8, 30), (200, 40)] {
        for c in [1e-3, 0.1, 5.0] {
            let mut random = Random::new(7);
            let data = drawn(n, d, (n + d) as u64);
            let weights = (0..n).map(|_| [0.0, 0.5, 1.0, 3.0][random.below(4)]).collect();
            for data in [data.clone(), data.with_weights(weights).unwrap()] {
                let model = Ridge::new().c(c).fit(&data).unwrap().model;
                let (weights, bias) = parts(&model);
                let expected = dense_solution(&data, c);
                let n_off = weights.iter().zip(&expected).filter(|(a, b)| !close(**a, **b, 1e-10)).count();
                assert_eq!(n_off, 0, "{n} × {d}, C {c}: {weights:?} and {expected:?}");
                assert!(close(bias, expected[d], 1e-9), "{n} × {d}, C {c}: {bias} and {}", expected[d]);
                assert_eq!(model.training.stop, Stop::Converged);
            }
        }
    }
}

/// Primal and dual value of the residuals' dual variables α = 2C·c·(y − r(x)): y·α − ½‖Σ α x‖² − Σ α²/(4C·c), Σ α = 0.
fn recomputed(data: &Ranking, model: &Model, c: f64) -> (f64, f64) {
    let (weights, bias) = parts(model);
    let d = weights.len();
    let rows = data.items.features.to_dense();
    let (mut losses, mut dual, mut total) = (0.0, 0.0, 0.0);
    let mut made = vec![0.0; d];
    for (i, row) in rows.chunks(d).enumerate() {
        let residual = data.labels[i] - dot(weights, row) - bias;
        let alpha = 2.0 * c * residual;
        losses += residual * residual;
        dual += alpha * data.labels[i] - alpha * alpha / (4.0 * c);
        made.iter_mut().zip(row).for_each(|(m, x)| *m += alpha * x);
        total += alpha;
    }
    assert!(total.abs() < 1e-8 * (1.0 + dual.abs()), "the bias is at its best");
    (0.5 * dot(weights, weights) + c * losses, dual - 0.5 * dot(&made, &made))
}

#[test]
fn many_features_by_conjugate_gradients_to_the_tolerance() {
    let (n, d) = (40, 2500);
    let mut random = Random::new(3);
    let values: Vec<f64> = (0..n * d).map(|_| if random.uniform() < 0.1 { random.normal() } else { 0.0 }).collect();
    let labels: Vec<f64> = (0..n).map(|_| 5.0 + random.normal()).collect();
    let (mut starts, mut columns, mut stored) = (vec![0], vec![], vec![]);
    for row in values.chunks(d) {
        for (column, &value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(column as u32);
            stored.push(value);
        }
        starts.push(stored.len());
    }
    let sparse = Features::sparse(d, starts, columns, stored).unwrap();
    let sparse = Ranking::new(Items::new(sparse, None, None).unwrap(), labels.clone(), None).unwrap();
    let dense = ranking(d, values, labels);
    for tol in [1e-2, 1e-6, 1e-12] {
        for data in [&sparse, &dense] {
            let model = Ridge::new().c(0.01).tol(tol).fit(data).unwrap().model;
            let (primal, dual) = recomputed(&dense, &model, 0.01);
            let gap = (primal - dual) / primal;
            assert!(close(model.training.objective, primal, 1e-9));
            assert!((gap - model.training.gap).abs() <= 1e-9 + 1e-4 * gap, "{gap} and {}", model.training.gap);
            assert!(model.training.gap <= tol && model.training.stop == Stop::Converged);
        }
    }
}

#[test]
fn shifts_scales_copies_and_threads_change_nothing_they_should_not() {
    let data = drawn(25, 5, 1);
    let fit = |data: &Ranking| Ridge::new().c(0.2).fit(data).unwrap().model;
    let scores = |model: &Model, data: &Ranking| model.scorer.scores(&data.items).unwrap();
    let plain = fit(&data);
    let own = scores(&plain, &data);
    let values = data.items.features.to_dense();
    // Features and labels moved far away: the bias follows, the weights stay.
    let moved = ranking(
        5,
        values.iter().enumerate().map(|(at, v)| v + 1e6 * (1.0 + (at % 5) as f64)).collect(),
        data.labels.iter().map(|label| label - 1e4).collect(),
    );
    for (a, b) in parts(&fit(&moved)).0.iter().zip(parts(&plain).0) {
        assert!(close(*a, *b, 1e-8), "{a} and {b}");
    }
    for (a, b) in scores(&fit(&moved), &moved).iter().zip(&own) {
        assert!(close(*a + 1e4, *b, 1e-6), "{a} and {b}");
    }
    // Labels times 3: scores times 3.
    let tripled = ranking(5, values.clone(), data.labels.iter().map(|label| 3.0 * label).collect());
    for (a, b) in scores(&fit(&tripled), &tripled).iter().zip(&own) {
        assert!(close(*a, 3.0 * b, 1e-10));
    }
    // Weights are copies.
    let weights: Vec<f64> = (0..25).map(|i| [1.0, 2.0, 0.0][i % 3]).collect();
    let copies: Vec<usize> = (0..25).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
    let copied = fit(&data.select(&copies));
    let weighted = fit(&data.clone().with_weights(weights).unwrap());
    for (a, b) in parts(&weighted).0.iter().zip(parts(&copied).0) {
        assert!(close(*a, *b, 1e-10));
    }
    assert_eq!(weighted.training.items, 17);
    // Standard features: units no longer matter.
    let scaled = |data: &Ranking| Ridge::new().scale(Scale::Standard).fit(data).unwrap().model;
    let in_other_units: Vec<f64> = values.iter().enumerate().map(|(at, v)| v * [1e-3, 7.0][at % 5 % 2] - 2.0).collect();
    let other = ranking(5, in_other_units, data.labels.clone());
    for (a, b) in scores(&scaled(&other), &other).iter().zip(&scores(&scaled(&data), &data)) {
        assert!(close(*a, *b, 1e-9));
    }
    let many = drawn(9000, 6, 4);
    let bytes = |threads| io::model_to_bytes(&Ridge::new().threads(threads).fit(&many).unwrap().model).unwrap();
    assert_eq!(bytes(1), bytes(3));
}

#[test]
fn degenerate_data_have_answers_or_reasons() {
    // Constant features: the mean of the labels.
    let model =
        Ridge::new().c(1e6).fit(&ranking(2, vec![0.1, 3e7, 0.1, 3e7, 0.1, 3e7], vec![1.0, 2.0, 6.0])).unwrap().model;
    let (weights, bias) = parts(&model);
    assert!(weights.iter().all(|w| w.abs() < 1e-9) && close(bias, 3.0, 1e-7), "{weights:?}, {bias}");
    // Constant labels.
    let model = Ridge::new().fit(&ranking(1, vec![1.0, 2.0, 3.0], vec![4.0; 3])).unwrap().model;
    assert_eq!((parts(&model).0, parts(&model).1, model.training.objective), (&[0.0][..], 4.0, 0.0));
    // One item.
    let model = Ridge::new().fit(&ranking(1, vec![1.0], vec![4.0])).unwrap().model;
    assert_eq!(model.scorer.scores(&ranking(1, vec![9.0], vec![0.0]).items).unwrap(), [4.0]);
    for c in [1e-12, 1e12] {
        let data = drawn(20, 3, 2);
        let model = Ridge::new().c(c).fit(&data).unwrap().model;
        let (primal, dual) = recomputed_loosely(&data, &model, c);
        assert!(primal >= dual - 1e-6 * primal.abs() && model.training.stop == Stop::Converged);
    }
    let huge = Ridge::new().fit(&ranking(1, vec![1.0, 2.0], vec![1e300, -1e300]));
    assert!(matches!(huge, Err(Error::Numeric { .. })), "{huge:?}");
    let weightless = drawn(5, 2, 1).with_weights(vec![0.0; 5]).unwrap();
    assert!(Ridge::new().fit(&weightless).unwrap_err().to_string().contains("every weight is 0"));
    for c in [0.0, f64::INFINITY, f64::NAN] {
        assert!(matches!(Ridge::new().c(c).fit(&drawn(5, 2, 1)), Err(Error::Parameter { name: "C", .. })));
    }
}

fn recomputed_loosely(data: &Ranking, model: &Model, c: f64) -> (f64, f64) {
    let scores = model.scorer.scores(&data.items).unwrap();
    let squares: f64 = scores.iter().zip(&data.labels).map(|(s, y)| (s - y) * (s - y)).sum();
    let primal = 0.5 * dot(parts(model).0, parts(model).0) + c * squares;
    (primal, model.training.objective * (1.0 - model.training.gap))
}
