//! The most violated assignment of swapped pairs: against every pair, against the published algorithm, against all
//! assignments there are.

use super::super::Shape;
use super::super::group::{Group, Scratch};
use super::{cases, close, distinct, falls_short};
use crate::data::Random;

/// Δ, the violation and β of every item, as the sums have them.
fn fast(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> (f64, f64, Vec<f64>) {
    let mut group = Group::new(0, 1.0, labels, &distinct(labels), true);
    let mut slopes = vec![0.0; labels.len()];
    let losses = group.go_to(Shape::Swapped, scores, weights, &mut slopes, &mut Scratch::default());
    (losses.swapped, losses.value, slopes.iter().map(|slope| -slope).collect())
}

fn pairs(labels: &[f64]) -> Vec<(usize, usize)> {
    let n = labels.len();
    (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| labels[i] > labels[j]).collect()
}

#[test]
fn the_most_violated_assignment_is_that_of_every_pair_by_itself() {
    let mut n_exact = 0;
    for case in cases() {
        let weight = |i: usize| case.weights.as_ref().map_or(1.0, |w| w[i]);
        let (mut swapped, mut violation, mut scale) = (0.0, 0.0, 0.0);
        let mut beta = vec![0.0; case.labels.len()];
        for (i, j) in pairs(&case.labels) {
            let (w, lead) = (weight(i) * weight(j), case.scores[i] - case.scores[j]);
            violation += w * (1.0 - 2.0 * lead).max(0.0);
            scale += w * (1.0 + lead.abs());
            if falls_short(0.5, case.scores[i], case.scores[j]) {
                swapped += w;
                beta[i] += 2.0 * w;
                beta[j] -= 2.0 * w;
            }
        }
        let found = fast(&case.labels, &case.scores, case.weights.as_deref());
        if case.weights.is_none() {
            // Whole numbers: to the last digit.
            assert_eq!((found.0, &found.2), (swapped, &beta));
            n_exact += 1;
        }
        assert!(close(found.0, swapped, scale) && close(found.1, violation, scale), "{found:?}, {violation}");
        assert!(found.2.iter().zip(&beta).all(|(a, b)| close(*a, *b, scale)));
    }
    assert!(n_exact > 50);
}

/// Algorithm 2 of the multivariate SVM of swapped pairs, thresholds in descending order; labels are 1, …, r.
fn algorithm_2(labels: &[usize], r: usize, scores: &[f64]) -> (Vec<i64>, Vec<i64>) {
    let n = labels.len();
    let mut thresholds = Vec::new();
    for i in 0..n {
        if labels[i] > 1 {
            thresholds.push((scores[i] - 0.25, i, true));
        }
        if labels[i] < r {
            thresholds.push((scores[i] + 0.25, i, false));
        }
    }
    thresholds.sort_by(|a, b| b.0.total_cmp(&a.0));
    let count = |below: bool, k: usize| {
        labels.iter().filter(|&&label| if below { label < k } else { label > k }).count() as i64
    };
    let mut seen_worse = vec![0; r + 1];
    let mut left_better: Vec<i64> = (0..=r).map(|k| count(false, k)).collect();
    let (mut c, mut d) = (vec![0; n], vec![0; n]);
    for (_, i, is_better) in thresholds {
        let k = labels[i];
        if is_better {
            c[i] = count(true, k) - 2 * seen_worse[k];
            left_better[1..k].iter_mut().for_each(|left| *left -= 1);
        } else {
            d[i] = count(false, k) - 2 * left_better[k];
            seen_worse[k + 1..].iter_mut().for_each(|seen| *seen += 1);
        }
    }
    (c, d)
}

#[test]
fn no_assignment_is_more_violated() {
    let mut random = Random::new(5);
    let mut n_swapped = 0;
    for trial in 0..300 {
        let (n, r) = (3 + trial % 4, 2 + trial % 3);
        let mut grades: Vec<usize> = (0..n).map(|_| 1 + random.below(r)).collect();
        (grades[0], grades[1]) = (1, r);
        let labels: Vec<f64> = grades.iter().map(|&k| k as f64).collect();
        let scores: Vec<f64> = (0..n).map(|_| 0.6 * random.normal()).collect();
        let pairs = pairs(&labels);
        // Δ(y′) + w·Ψ(y′) for every y′; w·Ψ(y) belongs to all +1, assignment 0.
        let merit = |assignment: u32| {
            let of_pair = |(k, &(i, j)): (usize, &(usize, usize))| {
                let lead = scores[i] - scores[j];
                if assignment >> k & 1 == 1 { 1.0 - lead } else { lead }
            };
            pairs.iter().enumerate().map(of_pair).sum::<f64>()
        };
        let best = (0..1u32 << pairs.len()).max_by(|&a, &b| merit(a).total_cmp(&merit(b))).unwrap();
        let (mut c, mut d) = (vec![0; n], vec![0; n]);
        for (k, &(i, j)) in pairs.iter().enumerate() {
            let sign = if best >> k & 1 == 1 { -1 } else { 1 };
            c[i] += sign;
            d[j] += sign;
        }
        assert_eq!(algorithm_2(&grades, r, &scores), (c.clone(), d.clone()), "{grades:?}, {scores:?}");
        let (swapped, violation, beta) = fast(&labels, &scores, None);
        assert_eq!(swapped, f64::from(best.count_ones()));
        assert!(close(violation, merit(best) - merit(0), 1.0));
        for i in 0..n {
            let worse = labels.iter().filter(|&&label| label < labels[i]).count() as i64;
            let better = labels.iter().filter(|&&label| label > labels[i]).count() as i64;
            assert_eq!(beta[i], ((worse - better) - (c[i] - d[i])) as f64);
        }
        n_swapped += u32::from(best != 0);
    }
    assert!(n_swapped > 200);
}
