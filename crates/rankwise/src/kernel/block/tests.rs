//! Every fast path against `KernelFunction::value`.

use super::super::PackedPairs;
use super::*;
use crate::data::{Precision, Random};

const KERNELS: [KernelFunction; 4] = [
    KernelFunction::Linear,
    KernelFunction::Poly { gamma: 0.3, coef0: 0.5, degree: 3 },
    KernelFunction::Rbf { gamma: 0.2 },
    KernelFunction::Sigmoid { gamma: 0.3, coef0: -0.2 },
];

fn rows(n: usize, d: usize, offset: f64) -> Vec<Vec<f64>> {
    let mut random = Random::new((n * 100 + d) as u64);
    // Numbers that f32 holds exactly, so that both precisions see the same items.
    let mut value = || offset + f64::from((random.normal() / (d as f64).sqrt() * 64.0).round() as f32) / 64.0;
    (0..n).map(|_| (0..d).map(|_| value()).collect()).collect()
}

fn dense(rows: &[Vec<f64>]) -> Features {
    Features::dense(rows[0].len(), rows.concat(), Precision::F64).unwrap()
}

fn sparse(rows: &[Vec<f64>]) -> Features {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        for (c, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(c as u32);
            values.push(v);
        }
        starts.push(values.len());
    }
    Features::sparse(rows[0].len(), starts, columns, values).unwrap()
}

fn assert_near(found: f64, expected: f64, accuracy: f64, what: &str) {
    assert!((found - expected).abs() <= accuracy * (1.0 + expected.abs()), "{what}: {found}, expected {expected}");
}

/// Rows, sums, scores of new items and values. Linear kernels are centred, so that only their differences are defined.
fn check<T: Real>(kernel: KernelFunction, features: &Features, rows: &[Vec<f64>], accuracy: f64) {
    let (n, d) = (rows.len(), rows[0].len());
    let what = format!("{kernel:?}, {n} × {d}, sparse {}, {} bytes", features.is_sparse(), size_of::<T>());
    let blocks = ItemBlocks::<T>::new(kernel, features).unwrap();
    let base = if kernel == KernelFunction::Linear && !features.is_sparse() { Some(n / 2) } else { None };
    let value = |a: usize, b: usize| kernel.value(&rows[a], &rows[b]);
    let mut coefficients: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
    let mean = coefficients.iter().sum::<f64>() / n as f64;
    coefficients.iter_mut().for_each(|c| *c -= mean); // as those of every machine: they sum to 0
    let terms: Vec<(u32, f64)> = (0..n as u32).zip(coefficients.iter().copied()).collect();
    let (sums, scores) = (blocks.sums(&terms), blocks.scores_of(features, &coefficients).unwrap());
    let expected = |x: usize| (0..n).map(|s| coefficients[s] * value(s, x)).sum::<f64>();
    let mut row = vec![T::ZERO; n.next_multiple_of(LANES)];
    for a in 0..n {
        blocks.row(a, &mut row);
        for b in 0..n {
            let (found, exact) = match base {
                // K(a, b) − K(a, o) − K(o, b) + K(o, o) does not depend on the centre.
                Some(o) => {
                    let four = |f: &dyn Fn(usize, usize) -> f64| f(a, b) - f(a, o) - f(o, b) + f(o, o);
                    assert_near(four(&|a, b| blocks.value(a, b)), four(&value), accuracy, &what);
                    let of_row = row[b].to_f64() - row[o].to_f64();
                    (of_row - (blocks.value(o, b) - blocks.value(o, o)), four(&value))
                }
                None => {
                    assert_near(blocks.value(a, b), value(a, b), accuracy, &what);
                    (row[b].to_f64(), value(a, b))
                }
            };
            assert_near(found, exact, accuracy, &what);
        }
        let origin = base.map_or((0.0, 0.0, 0.0), |o| (sums[o], scores[o], expected(o)));
        let loose = accuracy * n as f64;
        assert_near(sums[a] - origin.0, expected(a) - origin.2, loose, &what);
        assert_near(scores[a] - origin.1, expected(a) - origin.2, loose, &what);
    }
    let Some(packed) = blocks.packed() else { return };
    let (left, right): (Vec<u32>, Vec<u32>) = (0..n as u32).map(|k| (k, (k * 7 + 3) % n as u32)).unzip();
    let pairs = PackedPairs::new(&kernel, packed, &left, &right);
    for k in [0, n / 2, n - 1] {
        let (l, r) = (left[k] as usize, right[k] as usize);
        for first in (0..n).step_by(LANES) {
            pairs.row(&kernel, packed, (left[k], right[k]), first, &mut row[first..]);
            for (at, found) in row[first..n].iter().enumerate().map(|(at, v)| (first + at, v.to_f64())) {
                let (a, b) = (left[at] as usize, right[at] as usize);
                let exact = value(r, b) - value(l, b) - value(r, a) + value(l, a);
                assert_near(found, exact, 4.0 * accuracy, &what);
            }
        }
    }
}

#[test]
fn all_paths_equal_the_definition() {
    for kernel in KERNELS {
        for n in [1, 2, 15, 16, 17, 31, 32, 33, 70] {
            for d in [1, 2, 7, 33] {
                let rows = rows(n, d, 0.0);
                for features in [dense(&rows), sparse(&rows)] {
                    check::<f64>(kernel, &features, &rows, 1e-13);
                    check::<f32>(kernel, &features, &rows, 4e-6);
                }
            }
        }
    }
}

#[test]
fn centring_keeps_f32_accurate_far_from_the_origin() {
    for kernel in [KernelFunction::Linear, KernelFunction::Rbf { gamma: 0.2 }] {
        let near = rows(40, 7, 0.0);
        let far: Vec<Vec<f64>> = near.iter().map(|x| x.iter().map(|v| v + 1000.0).collect()).collect();
        let (near, far) = (dense(&near), dense(&far));
        let blocks = [&near, &far].map(|items| ItemBlocks::<f32>::new(kernel, items).unwrap());
        for (a, b) in (0..40).flat_map(|a| (0..40).map(move |b| (a, b))) {
            assert_near(blocks[1].value(a, b), blocks[0].value(a, b), 4e-6, kernel.name());
        }
    }
}

#[test]
fn identical_rows_score_identically_wherever_they_stand() {
    for kernel in KERNELS {
        let mut rows = rows(53, 5, 0.0);
        (1..53).step_by(4).for_each(|i| rows[i] = rows[0].clone());
        for features in [dense(&rows), sparse(&rows)] {
            let blocks = ItemBlocks::<f64>::new(kernel, &features).unwrap();
            let scores = blocks.scores_of(&features, &rows.iter().map(|x| x[0]).collect::<Vec<_>>()).unwrap();
            assert!((1..53).step_by(4).all(|i| scores[i].to_bits() == scores[0].to_bits()), "{kernel:?}");
            let last = blocks.scores_of(&features.select_rows(&[49]), &rows.iter().map(|x| x[0]).collect::<Vec<_>>());
            assert_eq!(last.unwrap()[0].to_bits(), scores[0].to_bits(), "{kernel:?}");
        }
    }
}

/// In numbers so large that a rounding of ‖a‖² + ‖b‖² − 2a·b is a distance by itself.
#[test]
fn the_distance_of_an_item_from_itself_is_0() {
    fn check<T: Real>(features: &Features) {
        let blocks = ItemBlocks::<T>::new(KernelFunction::Rbf { gamma: 10.0 }, features).unwrap();
        let n = features.n_rows();
        let mut row = vec![T::ZERO; n.next_multiple_of(LANES)];
        let at = blocks.values_at(features);
        for item in 0..n {
            let what = format!("item {item}, sparse {}, {} bytes", features.is_sparse(), size_of::<T>());
            blocks.row(item, &mut row);
            assert_eq!((row[item], at[item * n + item]), (T::ONE, T::ONE), "{what}");
            blocks.tile(item..item + 1, 0, &mut row);
            assert_eq!((row[item], blocks.value(item, item)), (T::ONE, 1.0), "{what}");
            assert_eq!(blocks.sums(&[(item as u32, 1.0)])[item], 1.0, "{what}");
        }
    }
    let rows: Vec<Vec<f64>> = rows(37, 33, 0.0).iter().map(|x| x.iter().map(|v| v * 1e9).collect()).collect();
    for features in [dense(&rows), sparse(&rows)] {
        check::<f64>(&features);
        check::<f32>(&features);
    }
}
