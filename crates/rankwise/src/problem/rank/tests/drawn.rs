//! Groups whose pairs are listed: every sum against the pairs one by one.

use super::super::group::{Group, Scratch};
use super::super::listed::{Draw, PairList};
use super::{SHAPES, Shape, cases, close, of_lead};
use crate::data::{Random, draw_partners};

#[test]
fn sums_over_drawn_pairs_equal_the_list() {
    let mut random = Random::new(4);
    for (number, case) in cases().iter().enumerate().step_by(3) {
        let n = case.labels.len();
        let items: Vec<u32> = (0..n as u32).map(|i| 7 * i + 3).collect();
        let draw = Draw { per_item: 1 + number % 4, seed: number as u64 };
        let pairs = draw_partners(&items, &case.labels, draw.per_item, draw.seed);
        let weight = |i: u32| case.weights.as_ref().map_or(1.0, |w| w[i as usize]);
        let change: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        for shape in SHAPES {
            let list = PairList::draw(draw, &items, &case.labels);
            assert_eq!(list.len(), pairs.len());
            let mut group = Group::listed(0, 1.0, n, list);
            let (mut slopes, mut product, mut scratch) = (vec![0.0; n], vec![0.0; n], Scratch::default());
            let losses = group.go_to(shape, &case.scores, case.weights.as_deref(), &mut slopes, &mut scratch);
            group.curvature_times(shape, &case.scores, &change, case.weights.as_deref(), &mut product, &mut scratch);
            let (mut value, mut meant, mut curved, mut scale) = (0.0, 0.0, 0.0, 1.0);
            let mut slow_slopes = vec![0.0; n];
            for &(i, j) in &pairs {
                let w = weight(i) * weight(j);
                let lead = case.scores[i as usize] - case.scores[j as usize];
                let (loss, slope, curvature, true_loss) = of_lead(shape, lead);
                value += w * loss;
                meant += w * true_loss;
                slow_slopes[i as usize] += w * slope;
                slow_slopes[j as usize] -= w * slope;
                // On the edge of a curved part the curvature is a matter of choice.
                let t = 1.0 - lead;
                let width = if let Shape::Hinge(width) = shape { width } else { 1.0 };
                if t.abs() > 1e-9 && (t - width).abs() > 1e-9 {
                    curved += w * curvature * (change[i as usize] - change[j as usize]).powi(2);
                }
                scale += w * (1.0 + lead.abs()).powi(2) / width;
            }
            let what = format!("case {number}, {shape:?}");
            assert!(close(losses.value, value, scale) && close(losses.meant, meant, scale), "{what}");
            assert!(slopes.iter().zip(&slow_slopes).all(|(a, b)| close(*a, *b, scale)), "{what}");
            let quadratic: f64 = product.iter().zip(&change).map(|(p, t)| p * t).sum();
            if case.scores.iter().any(|s| (8.0 * s).fract() != 0.0 && (10.0 * s).fract().abs() > 1e-6) {
                assert!(close(quadratic, curved, scale), "{what}: {quadratic} and {curved}");
            }
            // A partner is one of a pair with a curvature.
            for item in 0..n {
                let partner = group.draw_partner(
                    shape,
                    item,
                    &case.scores,
                    |i| case.labels[i],
                    case.weights.as_deref(),
                    || random.uniform(),
                );
                let has = |i: usize, j: usize| pairs.contains(&(i as u32, j as u32));
                assert!(partner.is_none_or(|other| has(item, other) || has(other, item)), "{what}");
                assert_eq!(partner.is_some(), group.degrees()[item] > 0.0, "{what}");
            }
        }
    }
}
