//! The problem on a working set: two variables at a time, on a matrix that fits into the cache.
//!
//! The level of an item is minus its score. A variable offers `up` + level for a step up and asks for `down` + level for a step
//! down; what cannot move is −∞ or ∞. Steps leave the sum over a threshold as it is, or move the multipliers between two.

use super::Pairing;
use crate::math::{Real, wide};
use crate::problem::GradeDuals;

/// Numbers that are worked on together.
pub(super) const LANES: usize = 16;

wide! {
    /// level −= step·(row i − row k)
    fn shift<T>(level: &mut [T], row_i: &[T], row_k: &[T], step: T) {
        let minus = T::ZERO.minus(step);
        for ((level, i), k) in level.iter_mut().zip(row_i).zip(row_k) {
            *level = minus.times_plus::<FMA>(i.minus(*k), *level);
        }
    }
}

wide! {
    /// The best offer, where it is, and the least demand.
    fn scan<T>(up: &[T], down: &[T], level: &[T]) -> (T, usize, T) {
        let mut best = [T::LOWEST; LANES];
        let mut least = [T::HIGHEST; LANES];
        // Places are numbers of the same type: the compiler then keeps all of it in vectors.
        let mut at = [T::ZERO; LANES];
        let mut place = T::ZERO;
        let both = up.as_chunks::<LANES>().0.iter().zip(down.as_chunks::<LANES>().0);
        for ((up, down), level) in both.zip(level.as_chunks::<LANES>().0) {
            for lane in 0..LANES {
                let (offer, demand) = (up[lane].plus(level[lane]), down[lane].plus(level[lane]));
                let is_better = offer > best[lane];
                best[lane] = if is_better { offer } else { best[lane] };
                at[lane] = if is_better { place } else { at[lane] };
                least[lane] = if demand < least[lane] { demand } else { least[lane] };
            }
            place = place.plus(T::ONE);
        }
        let lane = largest(&best, &at);
        let low = least.iter().fold(T::HIGHEST, |low, &value| if value < low { value } else { low });
        (best[lane], at[lane].to_f64() as usize * LANES + lane, low)
    }
}

wide! {
    /// The largest (offer − demand)²/(own + diagonal − 2 K) among those that ask for less, and where it is; 0: there is none.
    fn partner<T>(down: &[T], level: &[T], diagonal: &[T], row: &[T], own: T, flat: T, offer: T) -> (T, usize) {
        let mut best = [T::ZERO; LANES];
        let mut at = [T::ZERO; LANES];
        let mut place = T::ZERO;
        let minus_two = T::from_f64(-2.0);
        let levels = down.as_chunks::<LANES>().0.iter().zip(level.as_chunks::<LANES>().0);
        let rows = diagonal.as_chunks::<LANES>().0.iter().zip(row.as_chunks::<LANES>().0);
        for ((down, level), (diagonal, row)) in levels.zip(rows) {
            for lane in 0..LANES {
                let lack = offer.minus(down[lane].plus(level[lane])).at_least(T::ZERO);
                let curvature = minus_two.times_plus::<FMA>(row[lane], own.plus(diagonal[lane])).at_least(flat);
                let gain = lack.times(lack).over(curvature);
                let is_better = gain > best[lane];
                best[lane] = if is_better { gain } else { best[lane] };
                at[lane] = if is_better { place } else { at[lane] };
            }
            place = place.plus(T::ONE);
        }
        let lane = largest(&best, &at);
        (best[lane], at[lane].to_f64() as usize * LANES + lane)
    }
}

/// The lane of the largest number; of equal ones, that of the first place. Out of line: lanes that go through memory stay vectors
/// in the loops above.
#[inline(never)]
fn largest<T: Real>(best: &[T; LANES], at: &[T; LANES]) -> usize {
    let mut lane = 0;
    for other in 1..LANES {
        if best[other] > best[lane] || (best[other] == best[lane] && at[other] < at[lane]) {
            lane = other;
        }
    }
    lane
}

/// A working set: its matrix, row by row, and what the dual says of its items.
pub(super) struct WorkingSet<'a, T> {
    pub(super) gram: &'a [T],
    /// Numbers from row to row, a multiple of [`LANES`].
    pub(super) stride: usize,
    pub(super) duals: &'a GradeDuals,
    /// Curvature below which a direction counts as flat.
    pub(super) flat: f64,
}

/// The variables of a threshold, from a multiple of [`LANES`] on.
struct Band<T> {
    start: usize,
    up: Vec<T>,
    down: Vec<T>,
    /// What is added to the number of an item to have that of its variable.
    offset: isize,
}

impl<T: Real> Band<T> {
    fn renew(&mut self, set: &WorkingSet<'_, T>, threshold: usize, item: usize, t: f64) {
        let dual = set.duals.of(threshold, item);
        self.up[item - self.start] = T::from_f64(dual.up(t) - dual.shift * t);
        self.down[item - self.start] = T::from_f64(dual.down(t) - dual.shift * t);
    }
}

/// Moves variables `t` and the multipliers between thresholds until the violation is `share` of what it was, or after `most` steps.
/// Returns the steps.
pub(super) fn solve<T: Real>(
    set: &WorkingSet<'_, T>,
    t: &mut [f64],
    scores: &[f64],
    multipliers: &mut [f64],
    share: f64,
    most: u64,
) -> u64 {
    let (runs, stride) = (&set.duals.runs, set.stride);
    let m = runs.n_thresholds();
    let mut level = vec![T::ZERO; stride];
    let mut diagonal = vec![T::ZERO; stride];
    for (item, &score) in scores.iter().enumerate() {
        level[item] = T::from_f64(-score);
        let shift = set.duals.of(0, item).shift;
        diagonal[item] = T::from_f64(set.gram[item * stride + item].to_f64() + shift);
    }
    let offsets = runs.offsets();
    let mut bands: Vec<Band<T>> = Vec::with_capacity(m);
    for (threshold, &offset) in offsets.iter().take(m).enumerate() {
        let span = runs.span(threshold);
        let start = span.start / LANES * LANES;
        let len = (span.end - start).next_multiple_of(LANES);
        let offset = offset as isize - span.start as isize;
        let mut band = Band { start, up: vec![T::LOWEST; len], down: vec![T::HIGHEST; len], offset };
        for item in span {
            band.renew(set, threshold, item, t[(item as isize + offset) as usize]);
        }
        bands.push(band);
    }
    let row = |item: usize| &set.gram[item * stride..][..stride];
    let (mut offers, mut demands, mut places) = (vec![0.0; m], vec![0.0; m], vec![0; m]);
    let mut goal = f64::NEG_INFINITY;
    for steps in 0..most {
        for (threshold, band) in bands.iter().enumerate() {
            let (offer, place, demand) = scan(&band.up, &band.down, &level[band.start..][..band.up.len()]);
            (offers[threshold], demands[threshold]) = (offer.to_f64(), demand.to_f64());
            places[threshold] = band.start + place;
        }
        let pairing = Pairing::new(runs.is_explicit, &offers, &demands, multipliers);
        if steps == 0 {
            goal = share * pairing.violation;
        }
        if !(pairing.violation > goal && pairing.violation.is_finite()) {
            return steps;
        }
        let (first, i) = (pairing.first, places[pairing.first]);
        let (mut gain, mut found) = (T::ZERO, None);
        for second in pairing.partners(runs.is_explicit, multipliers) {
            let band = &bands[second];
            let part = band.start..band.start + band.up.len();
            let (own, flat, offer) = (diagonal[i], T::from_f64(set.flat), T::from_f64(offers[first]));
            let (of_band, place) =
                partner(&band.down, &level[part.clone()], &diagonal[part.clone()], &row(i)[part], own, flat, offer);
            if of_band > gain {
                (gain, found) = (of_band, Some((second, band.start + place)));
            }
        }
        let Some((second, k)) = found else { return steps };
        let (dual_i, dual_k) = (set.duals.of(first, i), set.duals.of(second, k));
        let (at_i, at_k) = ((i as isize + bands[first].offset) as usize, (k as isize + bands[second].offset) as usize);
        let curvature = diagonal[i].to_f64() + diagonal[k].to_f64() - 2.0 * set.gram[i * stride + k].to_f64();
        let demand = bands[second].down[k - bands[second].start].to_f64() + level[k].to_f64();
        let wanted = (offers[first] - demand) / curvature.max(set.flat);
        let (room_i, room_k) = (dual_i.high - t[at_i], t[at_k] - dual_k.low);
        // A step up before one down is paid for by the multipliers between them, the other way round they grow.
        let room = multipliers[first.min(second)..second].iter().copied().fold(f64::INFINITY, f64::min);
        let moved = wanted.min(room_i).min(room_k).min(room);
        t[at_i] = if moved == room_i { dual_i.high } else { t[at_i] + moved };
        t[at_k] = if moved == room_k { dual_k.low } else { t[at_k] - moved };
        for multiplier in &mut multipliers[first.min(second)..second] {
            *multiplier = if *multiplier == moved { 0.0 } else { *multiplier - moved };
        }
        if second < first {
            multipliers[second..first].iter_mut().for_each(|multiplier| *multiplier += moved);
        }
        bands[first].renew(set, first, i, t[at_i]);
        bands[second].renew(set, second, k, t[at_k]);
        shift(&mut level, row(i), row(k), T::from_f64(moved));
    }
    most
}
