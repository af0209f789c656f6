//! Numbers that somebody else owns: the same fits as with a copy of them, and no copy.

use std::sync::Arc;

use rankwise::data::{
    Comparisons, Features, Groups, Items, Numbers, Outcome, PairSet, Precision, Random, Ranking, Shared,
};
use rankwise::{CompareRank, CompareSvm, Davidson, Error, Fit, Kernel, RankSvm, Variant};

struct Lent<T>(Arc<Vec<T>>);

impl<T> AsRef<[T]> for Lent<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

type Fitting = fn(&Comparisons) -> Result<Fit, Error>;

const N_COLS: usize = 5;

/// Rows of sides in turn; with `repeated` some rows appear again.
fn rows(n: usize, repeated: bool, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut rows: Vec<[f64; N_COLS]> = Vec::new();
    for row in 0..n {
        if repeated && row > 0 && random.uniform() < 0.4 {
            rows.push(rows[random.below(row)]);
        } else {
            // About half are 0, and all are numbers of f32.
            let mut draw = || if random.uniform() < 0.5 { 0.0 } else { f64::from(random.normal() as f32) };
            rows.push(std::array::from_fn(|column| if column == 0 { row as f64 / 64.0 } else { draw() }));
        }
    }
    rows.concat()
}

fn sparse_parts(values: &[f64]) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let (mut starts, mut columns, mut stored) = (vec![0], vec![], vec![]);
    for row in values.chunks(N_COLS) {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            columns.push(column as u32);
            stored.push(value);
        }
        starts.push(stored.len());
    }
    (starts, columns, stored)
}

fn singles(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// Dense in f32 and f64, sparse in f64: owned and shared.
fn both(values: &[f64]) -> [(Features, Features); 3] {
    let (starts, columns, stored) = sparse_parts(values);
    let shared_starts = Shared::from(starts.clone());
    [
        (
            Features::dense_f32(N_COLS, singles(values)).unwrap(),
            Features::dense_shared(N_COLS, Numbers::F32(singles(values).into())).unwrap(),
        ),
        (
            Features::dense(N_COLS, values.to_vec(), Precision::F64).unwrap(),
            Features::dense_shared(N_COLS, Numbers::F64(values.to_vec().into())).unwrap(),
        ),
        (
            Features::sparse(N_COLS, starts, columns.clone(), stored.clone()).unwrap(),
            Features::sparse_shared(N_COLS, shared_starts, columns.into(), Numbers::F64(stored.into())).unwrap(),
        ),
    ]
}

fn outcomes(n: usize) -> Vec<Outcome> {
    let mut random = Random::new(3);
    (0..n).map(|_| Outcome::ALL[random.below(3)]).collect()
}

#[test]
fn shared_features_are_kept_and_let_go_with_the_last_clone() {
    let numbers = Arc::new(singles(&rows(20, false, 1)));
    let shared = Shared::from_owner(Lent(numbers.clone())).unwrap();
    let features = Features::dense_shared(N_COLS, Numbers::F32(shared)).unwrap();
    let clone = features.clone();
    drop(features);
    assert_eq!((clone.n_rows(), clone.is_f32(), clone.is_sparse()), (20, true, false));
    assert_eq!(singles(&clone.to_dense()), **numbers);
    assert_eq!(Arc::strong_count(&numbers), 2);
    // Distinct rows are no reason for a copy.
    let set = PairSet::from_alternating(clone, None).unwrap();
    assert_eq!(Arc::strong_count(&numbers), 2);
    assert_eq!((set.n_pairs(), set.items.n_items()), (10, 20));
    drop(set);
    assert_eq!(Arc::strong_count(&numbers), 1);
}

#[test]
fn fits_on_shared_features_are_those_on_owned_ones() {
    let values = rows(300, true, 2);
    let labels: Vec<f64> = (0..300).map(|row| ((row * 7) % 5) as f64).collect();
    let groups = || Some(Groups::from_ids((0..300).map(|row| (row / 110).to_string())));
    for (owned, shared) in both(&values) {
        let fit = |features: Features| {
            let items = Items::new(features, None, None).unwrap();
            let data = Ranking::new(items, labels.clone(), groups()).unwrap();
            let fit = RankSvm::new().c(0.1).fit(&data).unwrap();
            (fit.model.scorer.scores(&data.items).unwrap(), fit.model.training.known_objective())
        };
        assert_eq!(fit(owned), fit(shared));
    }
}

#[test]
fn alternating_rows_give_the_fits_of_two_sides() {
    for repeated in [false, true] {
        let values = rows(160, repeated, 4);
        let side =
            |side: usize| -> Vec<f64> { values.chunks(N_COLS).skip(side).step_by(2).flatten().copied().collect() };
        let [left, right] = [0, 1].map(|at| both(&side(at)));
        let all = both(&values);
        for ((left, right), all) in left.into_iter().zip(right).zip(all) {
            let sides = PairSet::from_sides(&left.0, &right.0, None).unwrap();
            let alternating = PairSet::from_alternating(all.1, None).unwrap();
            assert_eq!(sides.items.n_items(), alternating.items.n_items());
            assert_eq!(repeated, alternating.items.n_items() < 160);
            let [sides, alternating] =
                [sides, alternating].map(|set| Comparisons::new(set, outcomes(80), None, None).unwrap());
            let fits: [Fitting; 4] = [
                |data| CompareSvm::new().fit(data),
                |data| CompareSvm::new().kernel(Kernel::rbf(0.3)).fit(data),
                |data| CompareRank::new(Variant::Rank).fit(data),
                |data| Davidson::new().fit(data),
            ];
            for fit in fits {
                let [(margins, objective), (other_margins, other_objective)] = [&sides, &alternating].map(|data| {
                    let fit = fit(data).unwrap();
                    (fit.model.margins(&data.set).unwrap(), fit.model.training.known_objective().unwrap())
                });
                for (a, b) in margins.iter().zip(&other_margins) {
                    assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{a} {b}");
                }
                assert!((objective - other_objective).abs() <= 1e-12 * objective.abs());
            }
        }
    }
}

#[test]
fn what_cannot_be_used_is_refused_by_name() {
    let mut values = rows(6, false, 5);
    let text = |result: Result<Features, Error>| result.unwrap_err().to_string();
    let odd = Features::dense(N_COLS, values[..5 * N_COLS].to_vec(), Precision::F64).unwrap();
    let error = PairSet::from_alternating(odd, None).unwrap_err().to_string();
    assert!(error.contains("features") && error.contains("5 rows"), "{error}");
    let dense = |values: &[f64]| Features::dense_shared(N_COLS, Numbers::F64(values.to_vec().into()));
    assert!(text(dense(&values[1..])).contains("a multiple of the 5 columns"));
    let (starts, columns, mut stored) = sparse_parts(&values);
    let sparse = |columns: &[u32], stored: &[f64]| {
        let numbers = Numbers::F32(singles(stored).into());
        Features::sparse_shared(N_COLS, starts.clone().into(), columns.to_vec().into(), numbers)
    };
    assert!(sparse(&columns, &stored).is_ok());
    // The second row begins with its first column, which is never 0 there.
    let mut falling = columns.clone();
    falling[starts[1]] = 4;
    let error = text(sparse(&falling, &stored));
    assert!(starts[2] - starts[1] > 1 && error.contains("row 1 with columns"), "{error}");
    stored[starts[3]] = f64::INFINITY;
    let error = text(sparse(&columns, &stored));
    assert!(error.contains("row 3, column 0"), "{error}");
    values[2 * N_COLS + 3] = f64::NAN;
    let error = text(dense(&values));
    assert!(error.contains("features") && error.contains("row 2, column 3"), "{error}");
}
