//! The problem on a working set: two coefficients at a time, on a matrix that fits into the cache.
//!
//! `up` is what a coefficient offers for a step up, target − score − shift·t, and `down` what it asks for a step down; what
//! cannot move is −∞ or ∞. All are kept relative to the violation at the start, so that the range of f32 is no matter.

use crate::math::{Real, wide};
use crate::problem::ItemDual;

/// Numbers that are worked on together.
pub(super) const LANES: usize = 16;

wide! {
    /// Moves all levels by −step·(row i − row j); the best offer, where it is, and the least demand.
    fn update<T>(up: &mut [T], down: &mut [T], row_i: &[T], row_j: &[T], step: T) -> (T, usize, T) {
        let mut best = [T::LOWEST; LANES];
        let mut least = [T::HIGHEST; LANES];
        // Places are numbers of the same type: the compiler then keeps all of it in vectors.
        let mut at = [T::ZERO; LANES];
        let mut place = T::ZERO;
        let minus = T::ZERO.minus(step);
        let levels = up.as_chunks_mut::<LANES>().0.iter_mut().zip(down.as_chunks_mut::<LANES>().0);
        let rows = row_i.as_chunks::<LANES>().0.iter().zip(row_j.as_chunks::<LANES>().0);
        for ((up, down), (row_i, row_j)) in levels.zip(rows) {
            let (mut u, mut d) = (*up, *down);
            for lane in 0..LANES {
                let difference = row_i[lane].minus(row_j[lane]);
                u[lane] = minus.times_plus::<FMA>(difference, u[lane]);
                d[lane] = minus.times_plus::<FMA>(difference, d[lane]);
            }
            for lane in 0..LANES {
                let is_better = u[lane] > best[lane];
                best[lane] = if is_better { u[lane] } else { best[lane] };
                at[lane] = if is_better { place } else { at[lane] };
                least[lane] = if d[lane] < least[lane] { d[lane] } else { least[lane] };
            }
            (*up, *down) = (u, d);
            place = place.plus(T::ONE);
        }
        first_of(&best, &at, &least)
    }
}

wide! {
    /// The partner with the largest (offer − demand)²/(own + diagonal − 2 K_ij) among those that ask for less; `usize::MAX`: none.
    fn partner<T>(down: &[T], diagonal: &[T], row: &[T], own: T, flat: T, offer: T) -> usize {
        let mut best = [T::ZERO; LANES];
        let mut at = [T::LOWEST; LANES];
        let mut place = T::ZERO;
        let minus_two = T::from_f64(-2.0);
        let all = down.as_chunks::<LANES>().0.iter().zip(diagonal.as_chunks::<LANES>().0);
        for ((down, diagonal), row) in all.zip(row.as_chunks::<LANES>().0) {
            let mut gain = [T::ZERO; LANES];
            for lane in 0..LANES {
                let lack = offer.minus(down[lane]).at_least(T::ZERO);
                let curvature = minus_two.times_plus::<FMA>(row[lane], own.plus(diagonal[lane])).at_least(flat);
                gain[lane] = lack.times(lack).over(curvature);
            }
            for lane in 0..LANES {
                let is_better = gain[lane] > best[lane];
                best[lane] = if is_better { gain[lane] } else { best[lane] };
                at[lane] = if is_better { place } else { at[lane] };
            }
            place = place.plus(T::ONE);
        }
        partner_of(&best, &at)
    }
}

// Out of line: lanes that go through memory stay vectors in the loops above.
#[inline(never)]
fn first_of<T: Real>(best: &[T; LANES], at: &[T; LANES], least: &[T; LANES]) -> (T, usize, T) {
    let lane = largest(best, at);
    let low = least.iter().fold(T::HIGHEST, |low, &value| if value < low { value } else { low });
    (best[lane], at[lane].to_f64() as usize * LANES + lane, low)
}

#[inline(never)]
fn partner_of<T: Real>(best: &[T; LANES], at: &[T; LANES]) -> usize {
    let lane = largest(best, at);
    if at[lane] < T::ZERO { usize::MAX } else { at[lane].to_f64() as usize * LANES + lane }
}

/// The lane of the largest number; of equal ones, that of the first place.
#[inline(always)]
fn largest<T: Real>(best: &[T; LANES], at: &[T; LANES]) -> usize {
    let mut lane = 0;
    for other in 1..LANES {
        if best[other] > best[lane] || (best[other] == best[lane] && at[other] < at[lane]) {
            lane = other;
        }
    }
    lane
}

/// A working set: its matrix, row by row, and what the dual says of each coefficient.
pub(super) struct WorkingSet<'a, T> {
    pub(super) gram: &'a [T],
    /// Numbers from row to row, a multiple of [`LANES`].
    pub(super) stride: usize,
    pub(super) duals: &'a [ItemDual],
    /// Curvature below which a direction counts as flat.
    pub(super) flat: f64,
}

/// Moves coefficients `t`, whose scores these are, until the violation is `share` of what it was, or after `most` steps.
/// Returns the steps.
pub(super) fn solve<T: Real>(set: &WorkingSet<'_, T>, t: &mut [f64], scores: &[f64], share: f64, most: u64) -> u64 {
    let (m, stride) = (t.len(), set.stride);
    let level = |k: usize| -scores[k] - set.duals[k].shift * t[k];
    let offer = (0..m).map(|k| level(k) + set.duals[k].up(t[k])).fold(f64::NEG_INFINITY, f64::max);
    let demand = (0..m).map(|k| level(k) + set.duals[k].down(t[k])).fold(f64::INFINITY, f64::min);
    let (unit, middle) = (offer - demand, 0.5 * (offer + demand));
    if !(unit > 0.0 && unit.is_finite()) {
        return 0;
    }
    let row = |k: usize| &set.gram[k * stride..][..stride];
    let mut up = vec![T::LOWEST; stride];
    let mut down = vec![T::HIGHEST; stride];
    let mut diagonal = vec![T::ZERO; stride];
    for k in 0..m {
        let dual = &set.duals[k];
        diagonal[k] = T::from_f64(set.gram[k * stride + k].to_f64() + dual.shift);
        up[k] = T::from_f64((level(k) + dual.up(t[k]) - middle) / unit);
        down[k] = T::from_f64((level(k) + dual.down(t[k]) - middle) / unit);
    }
    let (mut i, mut j, mut step) = (0, 0, T::ZERO);
    for steps in 0..most {
        let (offer, first, demand) = update(&mut up, &mut down, row(i), row(j), step);
        if offer.to_f64() - demand.to_f64() <= share {
            return steps;
        }
        i = first;
        j = partner(&down, &diagonal, row(i), diagonal[i], T::from_f64(set.flat), offer);
        if j == usize::MAX {
            return steps;
        }
        let (dual_i, dual_j) = (&set.duals[i], &set.duals[j]);
        let curvature = diagonal[i].to_f64() + diagonal[j].to_f64() - 2.0 * set.gram[i * stride + j].to_f64();
        let wanted = (offer.to_f64() - down[j].to_f64()) * unit / curvature.max(set.flat);
        let (end_i, end_j) = (dual_i.next_up(t[i]), dual_j.next_down(t[j]));
        let (room_i, room_j) = (end_i - t[i], t[j] - end_j);
        let moved = wanted.min(room_i).min(room_j);
        // The levels themselves, to which the targets that the new coefficients have are added again.
        let level_i = offer.to_f64() - (dual_i.up(t[i]) - middle) / unit - dual_i.shift * moved / unit;
        let level_j = down[j].to_f64() - (dual_j.down(t[j]) - middle) / unit + dual_j.shift * moved / unit;
        t[i] = if moved == room_i { end_i } else { t[i] + moved };
        t[j] = if moved == room_j { end_j } else { t[j] - moved };
        for (k, dual, level) in [(i, dual_i, level_i), (j, dual_j, level_j)] {
            up[k] = T::from_f64(level + (dual.up(t[k]) - middle) / unit);
            down[k] = T::from_f64(level + (dual.down(t[k]) - middle) / unit);
        }
        step = T::from_f64(moved / unit);
    }
    most
}
