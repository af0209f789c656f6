//! Every sum against the list of all pairs, and the tree against a Fenwick tree.

mod drawn;
mod swapped;

use super::group::{Group, Scratch};
use super::windows::falls_short;
use super::{RankSums, Shape, Weighing};
use crate::data::{Features, Groups, Items, Precision, Random, Ranking};
use crate::loss::Loss;
use crate::problem::BlockSums;

const SHAPES: [Shape; 5] =
    [Shape::SquaredHinge, Shape::Hinge(1.0), Shape::Hinge(0.25), Shape::Hinge(1e-3), Shape::Logistic];

/// The loss that is minimised, its slope and its curvature in the lead of a pair, and the loss that is meant.
fn of_lead(shape: Shape, lead: f64) -> (f64, f64, f64, f64) {
    // Within the windows as the evaluators see them: the lead must fall short of the margin.
    let t = 1.0 - lead;
    match shape {
        Shape::SquaredHinge => {
            let t = t.max(0.0);
            (t * t, -2.0 * t, if t > 0.0 { 2.0 } else { 0.0 }, t * t)
        }
        Shape::Hinge(width) => {
            let meant = t.max(0.0);
            if t <= 0.0 {
                (0.0, 0.0, 0.0, meant)
            } else if t <= width {
                (t * t / (2.0 * width), -t / width, 1.0 / width, meant)
            } else {
                (t - width / 2.0, -1.0, 0.0, meant)
            }
        }
        Shape::Logistic => {
            let p = 1.0 / (1.0 + lead.exp());
            let value = Loss::Logistic.value(t);
            (value, -p, p * (1.0 - p), value)
        }
        Shape::Swapped => unreachable!("has tests of its own"),
    }
}

struct Case {
    labels: Vec<f64>,
    scores: Vec<f64>,
    weights: Option<Vec<f64>>,
}

/// Scores and labels with many ties, or none; scores on a grid where leads hit the margins exactly.
fn cases() -> Vec<Case> {
    let mut random = Random::new(11);
    let mut cases = Vec::new();
    for n in [2, 3, 17, 60, 150] {
        for n_labels in [2, 5, 16, 17, 1000] {
            for step in [0.0, 0.125, 0.1, 1.0] {
                for weighted in [false, true] {
                    let round = |x: f64| if step > 0.0 { (x / step).round() * step } else { x };
                    let mut labels: Vec<f64> = (0..n).map(|_| random.below(n_labels) as f64 * 0.5 - 3.0).collect();
                    (labels[0], labels[1]) = (-9.0, 1e300);
                    let scores = (0..n).map(|_| round(random.normal() * 1.5)).collect();
                    let weights = weighted.then(|| (0..n).map(|_| 0.25 + random.uniform()).collect());
                    cases.push(Case { labels, scores, weights });
                }
            }
        }
    }
    cases
}

fn distinct(labels: &[f64]) -> Vec<f64> {
    let mut sorted = labels.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    sorted
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-10 * scale.max(1.0)
}

#[test]
fn sums_over_windows_equal_sums_over_all_pairs() {
    let mut random = Random::new(12);
    for (number, case) in cases().iter().enumerate() {
        let n = case.labels.len();
        let weight = |i: usize| case.weights.as_ref().map_or(1.0, |w| w[i]);
        let change: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        for shape in SHAPES {
            let needs_windows = shape != Shape::Logistic;
            let mut group = Group::new(0, 1.0, &case.labels, &distinct(&case.labels), needs_windows);
            let (mut slopes, mut product, mut scratch) = (vec![0.0; n], vec![0.0; n], Scratch::default());
            // From some other order first: the answer must not depend on where the group was before.
            let before: Vec<f64> = case.scores.iter().rev().copied().collect();
            group.go_to(shape, &before, case.weights.as_deref(), &mut slopes, &mut scratch);
            let losses = group.go_to(shape, &case.scores, case.weights.as_deref(), &mut slopes, &mut scratch);
            group.curvature_times(shape, &case.scores, &change, case.weights.as_deref(), &mut product, &mut scratch);
            let (mut value, mut meant, mut excess, mut scale) = (0.0, 0.0, 0.0, 0.0f64);
            let (mut slow_slopes, mut slow_product) = (vec![0.0; n], vec![0.0; n]);
            for i in 0..n {
                for j in (0..n).filter(|&j| case.labels[i] > case.labels[j]) {
                    let w = weight(i) * weight(j);
                    let lead = case.scores[i] - case.scores[j];
                    let (loss, slope, mut curvature, true_loss) = of_lead(shape, lead);
                    if let Shape::Hinge(width) = shape {
                        // On an edge of the rounded part the curvature is a matter of choice: take the windows'.
                        let inside = |m: f64| falls_short(m, case.scores[i], case.scores[j]);
                        curvature = if inside(1.0) && !inside(1.0 - width) { 1.0 / width } else { 0.0 };
                        let t = (1.0 - lead).clamp(0.0, width);
                        excess += w * t * (1.0 - t / width);
                    } else if shape == Shape::SquaredHinge {
                        curvature = if falls_short(1.0, case.scores[i], case.scores[j]) { 2.0 } else { 0.0 };
                    }
                    value += w * loss;
                    meant += w * true_loss;
                    slow_slopes[i] += w * slope;
                    slow_slopes[j] -= w * slope;
                    let part = w * curvature * (change[i] - change[j]);
                    slow_product[i] += part;
                    slow_product[j] -= part;
                    scale += w * (1.0 + lead.abs()).powi(2);
                }
            }
            if let Shape::Hinge(width) = shape {
                scale /= width;
            }
            let what = format!("case {number}, {shape:?}");
            assert!(close(losses.value, value, scale), "{what}: value {} and {value}", losses.value);
            assert!(close(losses.meant, meant, scale), "{what}: meant {} and {meant}", losses.meant);
            assert!(close(losses.excess, excess, scale), "{what}: excess {} and {excess}", losses.excess);
            for i in 0..n {
                assert!(close(slopes[i], slow_slopes[i], scale), "{what}: slope {} and {}", slopes[i], slow_slopes[i]);
                assert!(close(product[i], slow_product[i], scale), "{what}: {} and {}", product[i], slow_product[i]);
            }
            let total: f64 = slopes.iter().sum();
            assert!(close(total, 0.0, scale), "{what}: slopes of a group sum to {total}");
        }
    }
}

/// For every item, the sum of x over its worse partners and over its better ones, by a Fenwick tree over labels: another way
/// to the same sums in O(n log n).
fn fenwick_sums(margin: f64, case: &Case, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    struct Fenwick(Vec<f64>);
    impl Fenwick {
        fn add(&mut self, mut at: usize, x: f64) {
            at += 1;
            while at < self.0.len() {
                self.0[at] += x;
                at += at & at.wrapping_neg();
            }
        }
        /// The sum of everything before `at`.
        fn before(&self, mut at: usize) -> f64 {
            let mut sum = 0.0;
            while at > 0 {
                sum += self.0[at];
                at &= at - 1;
            }
            sum
        }
    }
    let levels = distinct(&case.labels);
    let level = |i: usize| levels.partition_point(|l| *l < case.labels[i]);
    let n = case.labels.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| case.scores[a].total_cmp(&case.scores[b]));
    let (mut worse, mut better) = (vec![0.0; n], vec![0.0; n]);
    let (mut tree, mut next) = (Fenwick(vec![0.0; levels.len() + 1]), n);
    for &i in order.iter().rev() {
        while next > 0 && falls_short(margin, case.scores[i], case.scores[order[next - 1]]) {
            next -= 1;
            tree.add(level(order[next]), x[order[next]]);
        }
        worse[i] = tree.before(level(i));
    }
    let (mut tree, mut next, mut all) = (Fenwick(vec![0.0; levels.len() + 1]), 0, 0.0);
    for &j in &order {
        while next < n && falls_short(margin, case.scores[order[next]], case.scores[j]) {
            tree.add(level(order[next]), x[order[next]]);
            all += x[order[next]];
            next += 1;
        }
        better[j] = all - tree.before(level(j) + 1);
    }
    (worse, better)
}

#[test]
fn label_tree_equals_fenwick_tree_on_large_groups() {
    let mut random = Random::new(13);
    for n_labels in [3, 40, 100_000] {
        let n = 30_000;
        let labels: Vec<f64> = (0..n).map(|_| random.below(n_labels) as f64).collect();
        let scores: Vec<f64> =
            (0..n).map(|i| ((labels[i] / n_labels as f64 + random.normal()) * 64.0).round() / 64.0).collect();
        let x: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
        let case = Case { labels, scores, weights: Some(x.clone()) };
        let mut tree = super::label_tree::LabelTree::new(&case.labels);
        let margins = [1.0, 0.75];
        let found = tree.find_windows(&case.scores, Some(&x), &margins);
        let mut partners = vec![0.0; n];
        tree.partner_sums(2, &x, &mut partners);
        let slow = margins.map(|margin| fenwick_sums(margin, &case, &x));
        for (i, &sum) in partners.iter().enumerate() {
            for which in 0..2 {
                assert!((found[which].worse[i] - slow[which].0[i]).abs() < 1e-7);
                assert!((found[which].better[i] - slow[which].1[i]).abs() < 1e-7);
            }
            let band = (slow[0].0[i] + slow[0].1[i]) - (slow[1].0[i] + slow[1].1[i]);
            assert!((sum - band).abs() < 1e-7, "{sum} and {band}");
        }
    }
}

fn ranking(n_groups: usize, per_group: usize, n_cols: usize, n_labels: usize, is_sparse: bool) -> Ranking {
    let mut random = Random::new(14);
    let n = n_groups * per_group;
    let mut values: Vec<f64> =
        (0..n * n_cols).map(|_| if is_sparse && random.uniform() < 0.6 { 0.0 } else { random.normal() }).collect();
    values.iter_mut().for_each(|v| *v = f64::from(*v as f32));
    let features = if is_sparse {
        let (mut starts, mut columns, mut stored) = (vec![0], vec![], vec![]);
        for row in values.chunks(n_cols) {
            for (c, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                columns.push(c as u32);
                stored.push(*v);
            }
            starts.push(stored.len());
        }
        Features::sparse(n_cols, starts, columns, stored).unwrap()
    } else {
        Features::dense(n_cols, values, Precision::F32).unwrap()
    };
    let labels = (0..n).map(|_| random.below(n_labels) as f64).collect();
    // Groups in turn, so that none of them stands together.
    let groups = Groups::from_ids((0..n).map(|i| (i % n_groups).to_string()));
    Ranking::new(Items::new(features, None, None).unwrap(), labels, Some(groups)).unwrap()
}

#[test]
fn gradient_and_hessian_are_differences_of_values() {
    let mut random = Random::new(15);
    for is_sparse in [false, true] {
        for n_labels in [4, 60] {
            let data = ranking(5, 30, 12, n_labels, is_sparse);
            let divisors: Vec<f64> = (0..12).map(|k| 0.5 + f64::from(k)).collect();
            for shape in SHAPES {
                let mut sums = RankSums::new(&data, |_| true, Some(&divisors), shape, 0.7, Weighing::Balanced, None);
                let w: Vec<f64> = (0..12).map(|_| random.normal()).collect();
                let v: Vec<f64> = (0..12).map(|_| random.normal()).collect();
                let moved = |h: f64| w.iter().zip(&v).map(|(w, v)| w + h * v).collect::<Vec<f64>>();
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                let h = 1e-7;
                let (above, below) = (sums.go_to(&moved(h)), sums.go_to(&moved(-h)));
                let here = sums.go_to(&w);
                let slope = (above.value - below.value) / (2.0 * h);
                assert!((slope - dot(&here.gradient, &v)).abs() < 1e-5 * slope.abs().max(1.0), "{shape:?}");
                let product = sums.hessian_times(&v);
                let size = dot(&product, &product).sqrt();
                for (k, product) in product.iter().enumerate() {
                    let difference = (above.gradient[k] - below.gradient[k]) / (2.0 * h);
                    // A window may change within the step where the rounded part is narrow.
                    let tolerance = if matches!(shape, Shape::Hinge(width) if width < 0.1) { 0.3 } else { 1e-4 };
                    assert!((difference - product).abs() <= tolerance * size.max(1e-3), "{shape:?}");
                }
                sums.go_to(&w);
                let u: Vec<f64> = (0..12).map(|_| random.normal()).collect();
                let symmetric = dot(&sums.hessian_times(&u), &v) - dot(&product, &u);
                assert!(symmetric.abs() < 1e-9 * size.max(1.0) && dot(&product, &v) >= -1e-12);
                sums.aim(&v);
                let (value, along) = sums.along(h);
                assert!((value - above.value).abs() < 1e-10 * value.abs().max(1.0));
                assert!((along - dot(&above.gradient, &v)).abs() < 1e-6 * along.abs().max(1.0));
            }
        }
    }
}

/// The sketch is the Hessian but for chance: many drawn pairs come close to it.
#[test]
fn sketch_of_the_hessian_tends_to_it() {
    for n_labels in [4, 60] {
        let data = ranking(6, 50, 4, n_labels, false);
        for shape in [Shape::SquaredHinge, Shape::Hinge(0.5), Shape::Logistic] {
            let mut sums = RankSums::new(&data, |_| true, None, shape, 0.01, Weighing::AsGiven, None);
            sums.go_to(&[0.3, -0.2, 0.5, 0.1]);
            let sketch = sums.hessian_sketch(40_000);
            for k in 0..4 {
                let mut unit = [0.0; 4];
                unit[k] = 1.0;
                let exact = sums.hessian_times(&unit);
                for l in 0..4 {
                    let drawn: f64 = sketch.chunks(4).map(|row| row[k] * row[l]).sum();
                    let scale = exact[k].abs();
                    assert!((drawn - exact[l]).abs() < 0.05 * scale, "{shape:?}: {drawn} and {}", exact[l]);
                }
            }
            let diagonal = sums.hessian_diagonal();
            for (k, about) in diagonal.iter().enumerate() {
                let mut unit = [0.0; 4];
                unit[k] = 1.0;
                let exact = sums.hessian_times(&unit)[k];
                assert!(*about > 0.3 * exact && *about < 3.0 * exact, "{about} is not about {exact}");
            }
        }
    }
}

#[test]
fn pairs_are_counted_beyond_32_bits() {
    let n = 100_001;
    let features = Features::dense(1, vec![0.0; n], Precision::F32).unwrap();
    let labels = (0..n).map(|i| i as f64).collect();
    let data = Ranking::new(Items::new(features, None, None).unwrap(), labels, None).unwrap();
    let mut sums = RankSums::new(&data, |_| true, None, Shape::SquaredHinge, 1.0, Weighing::AsGiven, None);
    assert_eq!(sums.counts().n_pairs, 5_000_050_000);
    // All scores are 0: every pair lacks the whole margin.
    assert_eq!(sums.go_to(&[0.0]).value, 5_000_050_000.0);
}

#[test]
fn thinned_sums_can_be_thinned_again() {
    let mut random = Random::new(16);
    let n = 150_000;
    let labels = (0..n).map(|_| random.uniform()).collect();
    let features = Features::dense(1, (0..n).map(|_| random.normal()).collect(), Precision::F32).unwrap();
    let data = Ranking::new(Items::new(features, None, None).unwrap(), labels, None).unwrap();
    let mut sums = RankSums::new(&data, |_| true, None, Shape::SquaredHinge, 1.0, Weighing::AsGiven, None);
    let all = sums.go_to(&[0.3]).value;
    let mut once = sums.thinned().unwrap();
    let (about, n_once) = (once.go_to(&[0.3]).value, once.n_numbers());
    let twice = once.thinned().unwrap().n_numbers();
    assert!((n / 20..n / 12).contains(&n_once) && (n_once / 24..n_once / 10).contains(&twice), "{n_once}, {twice}");
    assert!((about / all - 1.0).abs() < 0.1, "{about} and {all}");
}
