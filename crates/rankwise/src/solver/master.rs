//! The lower envelope of what is known of a convex function: ½‖w‖² + the largest of some planes offset_k − normal_k·w, one of
//! which is 0. Its minimum is the maximum of the dual over shares λ ≥ 0, Σλ = 1,
//!
//!   Σ λ_k·offset_k − ½‖w‖²,   w = Σ λ_k·normal_k,
//!
//! which an active set method finds: the equations of the planes in use are solved exactly, a plane whose share would get
//! negative goes, the plane that stands out most comes in.

use super::cholesky::Cholesky;
use crate::math::add_multiple;
use crate::problem::Plane;

/// Rounds without a share after which a plane is forgotten.
const MOST_IDLE: u32 = 30;
/// Planes that are always affordable, the most that are ever kept, and the numbers that all of them may have together.
const FEW_PLANES: usize = 16;
const MANY_PLANES: usize = 2000;
const MOST_NUMBERS: usize = 1 << 27;
/// Pivots this small beside the largest are rounding.
const LEAST_PIVOT: f64 = 1e-13;
/// Pivots this small beside differences of height would move far more than there is of any share.
const PARALLEL: f64 = 1e-9;

/// The inner product of normals and weights.
pub(super) type Product<'a> = &'a dyn Fn(&[f64], &[f64]) -> f64;

/// Planes and their shares.
pub(super) struct Master {
    planes: Vec<Plane>,
    shares: Vec<f64>,
    /// Rounds since a plane had a share.
    idle: Vec<u32>,
    /// Products of normals, row by row, each up to its own plane.
    products: Vec<Vec<f64>>,
}

/// The minimum of the envelope.
pub(super) struct Lowest {
    pub(super) weights: Vec<f64>,
    /// Σ shares·offsets
    pub(super) offset: f64,
    pub(super) value: f64,
}

impl Master {
    /// The plane 0 alone.
    pub(super) fn new(dim: usize) -> Self {
        let flat = Plane { offset: 0.0, normal: vec![0.0; dim] };
        Master { planes: vec![flat], shares: vec![1.0], idle: vec![0], products: vec![vec![0.0]] }
    }

    /// Adds a plane; where there are too many, those without a share go, then the two smallest shares become one.
    pub(super) fn add(&mut self, plane: Plane, dot: Product<'_>) {
        self.make_room(dot);
        let row = self.planes.iter().chain([&plane]).map(|other| dot(&other.normal, &plane.normal)).collect();
        self.products.push(row);
        self.planes.push(plane);
        self.shares.push(0.0);
        self.idle.push(0);
    }

    /// The minimum, such that no plane stands out by more than `slack`.
    pub(super) fn solve(&mut self, slack: f64, dot: Product<'_>) -> Lowest {
        let n = self.planes.len();
        let mut active: Vec<usize> = (0..n).filter(|&k| self.shares[k] > 0.0).collect();
        for _ in 0..10 * n + 100 {
            let heights = self.heights();
            // What the best plane in use has too little of, the whole of them has too much of.
            let level: f64 = self.shares.iter().zip(&heights).map(|(share, height)| share * height).sum();
            let outside = (0..n).filter(|k| !active.contains(k));
            let newcomer = outside.max_by(|&a, &b| heights[a].total_cmp(&heights[b]).then(b.cmp(&a)));
            let highest = active.iter().map(|&k| heights[k]).fold(f64::NEG_INFINITY, f64::max);
            let is_level = highest - level <= slack;
            match newcomer.filter(|&k| is_level && heights[k] - level > slack) {
                Some(newcomer) => active.push(newcomer),
                None if is_level => break,
                None => {}
            }
            if !self.move_within(&mut active, &heights) {
                break;
            }
        }
        for (idle, &share) in self.idle.iter_mut().zip(&self.shares) {
            *idle = if share > 0.0 { 0 } else { *idle + 1 };
        }
        let mut weights = vec![0.0; self.planes[0].normal.len()];
        let mut offset = 0.0;
        for (plane, &share) in self.planes.iter().zip(&self.shares).filter(|(_, share)| **share > 0.0) {
            add_multiple(&mut weights, share, &plane.normal);
            offset += share * plane.offset;
        }
        // A bound must not gain from a square that rounding has made negative.
        let value = offset - 0.5 * dot(&weights, &weights).max(0.0);
        Lowest { weights, offset, value }
    }

    fn product(&self, k: usize, l: usize) -> f64 {
        self.products[k.max(l)][k.min(l)]
    }

    /// The slope of the dual in every share: how high each plane stands at the weights of the shares.
    fn heights(&self) -> Vec<f64> {
        let used: Vec<usize> = (0..self.planes.len()).filter(|&k| self.shares[k] > 0.0).collect();
        let height = |(k, plane): (usize, &Plane)| {
            plane.offset - used.iter().map(|&l| self.shares[l] * self.product(k, l)).sum::<f64>()
        };
        self.planes.iter().enumerate().map(height).collect()
    }

    /// Moves the shares of the active planes towards the point where all stand equally high, as far as none gets negative;
    /// one that would leaves. Says whether anything has changed.
    fn move_within(&mut self, active: &mut Vec<usize>, heights: &[f64]) -> bool {
        let Some(&base) = active.iter().max_by(|&&a, &&b| self.shares[a].total_cmp(&self.shares[b])) else {
            return false;
        };
        let others: Vec<usize> = active.iter().copied().filter(|&k| k != base).collect();
        let n = others.len();
        if n == 0 {
            return false;
        }
        // Shares move from the base to the others and back.
        let mut matrix = vec![0.0; n * n];
        let own = self.product(base, base);
        for (a, &k) in others.iter().enumerate() {
            for (b, &l) in others[..=a].iter().enumerate() {
                matrix[a * n + b] = self.product(k, l) - self.product(k, base) - self.product(l, base) + own;
            }
        }
        let largest = (0..n).map(|a| matrix[a * n + a]).fold(0.0, f64::max);
        let mut moves: Vec<f64> = others.iter().map(|&k| heights[k] - heights[base]).collect();
        // Planes that lie in parallel have no pivot: there any move that is long beside a share will do.
        let steepest = moves.iter().fold(f64::MIN_POSITIVE, |most, m| most.max(m.abs()));
        Cholesky::new(matrix, n, (LEAST_PIVOT * largest).max(PARALLEL * steepest)).solve(&mut moves);
        if moves.iter().any(|m| !m.is_finite()) {
            return false;
        }
        let from_base: f64 = -moves.iter().sum::<f64>();
        let all = || others.iter().copied().zip(moves.iter().copied()).chain([(base, from_base)]);
        let (mut size, mut leaver) = (1.0, None);
        for (k, change) in all() {
            let room = self.shares[k] / -change;
            if change < 0.0 && room < size {
                (size, leaver) = (room, Some(k));
            }
        }
        let before = self.shares.clone();
        for (k, change) in all() {
            self.shares[k] = (self.shares[k] + size * change).max(0.0);
        }
        if let Some(leaver) = leaver {
            self.shares[leaver] = 0.0;
            active.retain(|&k| k != leaver);
        }
        let total: f64 = self.shares.iter().sum();
        self.shares.iter_mut().for_each(|share| *share /= total);
        leaver.is_some() || before != self.shares
    }

    /// Forgets planes that have long had no share, and, where there is no room for one more, what matters least.
    fn make_room(&mut self, dot: Product<'_>) {
        let dim = self.planes[0].normal.len().max(1);
        let most = (MOST_NUMBERS / dim).clamp(FEW_PLANES, MANY_PLANES);
        let is_full = self.planes.len() >= most;
        let keeps = |k: usize| k == 0 || self.shares[k] > 0.0 || (!is_full && self.idle[k] <= MOST_IDLE);
        let kept: Vec<usize> = (0..self.planes.len()).filter(|&k| keeps(k)).collect();
        if kept.len() < self.planes.len() {
            self.keep(&kept);
        }
        if self.planes.len() >= most {
            self.join_two(dot);
        }
    }

    fn keep(&mut self, kept: &[usize]) {
        let of = |row: &Vec<f64>, k: usize| kept.iter().filter(|&&l| l <= k).map(|&l| row[l]).collect();
        self.products = kept.iter().map(|&k| of(&self.products[k], k)).collect();
        let mut is_kept = vec![false; self.planes.len()];
        kept.iter().for_each(|&k| is_kept[k] = true);
        let mut numbers = 0..;
        self.planes.retain(|_| numbers.next().is_some_and(|k: usize| is_kept[k]));
        self.shares = kept.iter().map(|&k| self.shares[k]).collect();
        self.idle = kept.iter().map(|&k| self.idle[k]).collect();
    }

    /// Joins the two planes with the smallest shares to one that has the share of both, which leaves the minimum as it is.
    fn join_two(&mut self, dot: Product<'_>) {
        let mut by_share: Vec<usize> = (1..self.planes.len()).collect();
        by_share.sort_by(|&a, &b| self.shares[a].total_cmp(&self.shares[b]));
        let [first, second, ..] = by_share[..] else { return };
        let total = self.shares[first] + self.shares[second];
        let part = if total > 0.0 { self.shares[first] / total } else { 0.5 };
        let mix = |a: f64, b: f64| part * a + (1.0 - part) * b;
        let (a, b) = (&self.planes[first], &self.planes[second]);
        let joined = Plane {
            offset: mix(a.offset, b.offset),
            normal: a.normal.iter().zip(&b.normal).map(|(&a, &b)| mix(a, b)).collect(),
        };
        let kept: Vec<usize> = (0..self.planes.len()).filter(|&k| k != first && k != second).collect();
        self.keep(&kept);
        let row = self.planes.iter().chain([&joined]).map(|other| dot(&other.normal, &joined.normal)).collect();
        self.products.push(row);
        self.planes.push(joined);
        self.shares.push(total);
        self.idle.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;
    use crate::math::dot;

    fn plane(random: &mut Random, dim: usize) -> Plane {
        Plane { offset: 3.0 * random.uniform(), normal: (0..dim).map(|_| random.normal()).collect() }
    }

    /// ½‖w‖² + the largest plane.
    fn envelope(planes: &[Plane], w: &[f64]) -> f64 {
        let highest = planes.iter().map(|p| p.offset - dot(&p.normal, w)).fold(f64::NEG_INFINITY, f64::max);
        0.5 * dot(w, w) + highest
    }

    #[test]
    fn the_minimum_is_that_of_the_envelope() {
        let mut random = Random::new(1);
        for dim in [1, 3, 20] {
            let mut master = Master::new(dim);
            for round in 0..60 {
                // Some planes come twice, or nearly so: the equations must bear that.
                let next = match round % 7 {
                    3 => master.planes[random.below(master.planes.len())].clone(),
                    5 => {
                        let mut near = master.planes[random.below(master.planes.len())].clone();
                        near.offset += 1e-9;
                        near
                    }
                    _ => plane(&mut random, dim),
                };
                master.add(next, &dot);
                let lowest = master.solve(1e-9, &dot);
                let above = envelope(&master.planes, &lowest.weights);
                assert!(above >= lowest.value - 1e-9 && above - lowest.value <= 2e-9, "{above}, {}", lowest.value);
                assert!(master.shares.iter().all(|&share| share >= 0.0));
                assert!((master.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_is_joined_or_forgotten_leaves_the_minimum() {
        let mut random = Random::new(2);
        let mut master = Master::new(8);
        (0..40).for_each(|_| master.add(plane(&mut random, 8), &dot));
        let lowest = master.solve(1e-9, &dot);
        let n_used = master.shares.iter().filter(|&&share| share > 0.0).count();
        assert!(n_used > 3);
        let used: Vec<usize> = (0..41).filter(|&k| k == 0 || master.shares[k] > 0.0).collect();
        master.keep(&used);
        assert!((master.solve(1e-9, &dot).value - lowest.value).abs() < 1e-8);
        master.join_two(&dot);
        assert_eq!(master.planes.len(), used.len() - 1);
        let value: f64 = master.planes.iter().zip(&master.shares).map(|(plane, share)| share * plane.offset).sum();
        let mut weights = vec![0.0; 8];
        for (plane, &share) in master.planes.iter().zip(&master.shares) {
            add_multiple(&mut weights, share, &plane.normal);
        }
        assert!((value - 0.5 * dot(&weights, &weights) - lowest.value).abs() < 1e-8);
        // Products go with their planes.
        for k in 0..master.planes.len() {
            for l in 0..=k {
                let product = dot(&master.planes[k].normal, &master.planes[l].normal);
                assert!((master.product(k, l) - product).abs() < 1e-12);
            }
        }
    }
}
