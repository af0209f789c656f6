//! The loops over pairs inside an SMO step.
//!
//! Of a pair with margin z, the dual variables enter only through four numbers: with g = −y·∂/∂a of the objective,
//! g = level − z for the variable and g = level + z for its mirror, where level = y − y·shift·a. A variable that may
//! move up (in the direction of y) offers g, one that may move down asks for g; what may not is −∞ or +∞.

use crate::math::{Real, wide};

/// Pairs scanned together; the best of a chunk is found first, its place afterwards.
const CHUNK: usize = 128;
/// Arrays over positions are padded to a multiple of this with pairs that neither offer nor ask for anything.
pub(super) const PAD: usize = 16;

/// What the dual variables of the pairs at each position offer and ask for.
#[derive(Debug, Default)]
pub(super) struct Levels {
    pub(super) up: Vec<f64>,
    pub(super) up_mirror: Vec<f64>,
    pub(super) down: Vec<f64>,
    pub(super) down_mirror: Vec<f64>,
}

impl Levels {
    /// The best offer at a position.
    #[inline(always)]
    pub(super) fn offer(&self, p: usize, z: f64) -> f64 {
        (self.up[p] - z).max(self.up_mirror[p] + z)
    }

    /// The lowest demand at a position.
    #[inline(always)]
    pub(super) fn demand(&self, p: usize, z: f64) -> f64 {
        (self.down[p] - z).min(self.down_mirror[p] + z)
    }
}

/// A dual variable: position and whether it is the mirror.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) position: usize,
    pub(super) mirror: bool,
}

wide! {
    fn chunk_offers<T>(margins: &mut [f64], rows: [(f64, &[T]); 2], up: &[f64], up_mirror: &[f64], best: &mut [f64]) {
        let [(a, row_a), (b, row_b)] = rows;
        let chunks = margins.chunks_mut(CHUNK).zip(row_a.chunks(CHUNK)).zip(row_b.chunks(CHUNK));
        let chunks = chunks.zip(up.chunks(CHUNK)).zip(up_mirror.chunks(CHUNK));
        for (((((z, row_a), row_b), up), up_mirror), best) in chunks.zip(best) {
            let mut most = [f64::NEG_INFINITY; PAD];
            let wide = z.as_chunks_mut::<PAD>().0.iter_mut().zip(row_a.as_chunks::<PAD>().0);
            let wide = wide.zip(row_b.as_chunks::<PAD>().0).zip(up.as_chunks::<PAD>().0);
            for ((((z, row_a), row_b), up), up_mirror) in wide.zip(up_mirror.as_chunks::<PAD>().0) {
                for lane in 0..PAD {
                    let moved = z[lane] + (a * row_a[lane].to_f64() + b * row_b[lane].to_f64());
                    z[lane] = moved;
                    let (x, y) = (up[lane] - moved, up_mirror[lane] + moved);
                    let offer = if x > y { x } else { y };
                    most[lane] = if offer > most[lane] { offer } else { most[lane] };
                }
            }
            *best = most.iter().fold(f64::NEG_INFINITY, |m, &v| if v > m { v } else { m });
        }
        let _ = FMA;
    }
}

/// Adds two multiples of rows to the margins and finds the variable with the best offer: (offer, variable).
pub(super) fn update_and_find_offer<T: Real>(
    margins: &mut [f64],
    rows: [(f64, &[T]); 2],
    levels: &Levels,
    scratch: &mut Vec<f64>,
) -> Option<(f64, Variable)> {
    scratch.clear();
    scratch.resize(margins.len().div_ceil(CHUNK), 0.0);
    chunk_offers(margins, rows, &levels.up, &levels.up_mirror, scratch);
    let (chunk, &best) =
        scratch.iter().enumerate().reduce(|a, b| if b.1 > a.1 { b } else { a }).filter(|b| *b.1 > f64::NEG_INFINITY)?;
    let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(margins.len());
    let position = range.clone().find(|&p| levels.offer(p, margins[p]) >= best)?;
    Some((best, Variable { position, mirror: levels.up[position] - margins[position] < best }))
}

/// What the second-order choice weighs: the first variable's offer and direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct First {
    pub(super) offer: f64,
    /// +1, or −1 for a mirror; 0 for a variable that touches no item.
    pub(super) sign: f32,
    /// Its diagonal entry.
    pub(super) diagonal: f32,
}

/// Curvature below which a direction counts as flat.
pub(super) const FLAT: f64 = 1e-12;

#[inline(always)]
fn gains<T: Real>(first: First, z: f64, row: T, diagonal: f32, down: f64, down_mirror: f64) -> (f32, f32, f32, f32) {
    // Distances to the demands; never negative.
    let (b, m) = ((first.offer - (down - z)) as f32, (first.offer - (down_mirror + z)) as f32);
    let (b, m) = (if b > 0.0 { b } else { 0.0 }, if m > 0.0 { m } else { 0.0 });
    let (sum, cross) = (first.diagonal + diagonal, 2.0 * first.sign * row.to_f32());
    let (q, r) = (sum - cross, sum + cross);
    let (q, r) = (if q > FLAT as f32 { q } else { FLAT as f32 }, if r > FLAT as f32 { r } else { FLAT as f32 });
    (b, m, b * b / q, m * m / r)
}

wide! {
    fn chunk_gains<T>(first: First, margins: &[f64], row: &[T], diagonal: &[f32], down: &[f64], down_mirror: &[f64], best: &mut [(f32, f32)]) {
        let chunks = margins.chunks(CHUNK).zip(row.chunks(CHUNK)).zip(diagonal.chunks(CHUNK));
        let chunks = chunks.zip(down.chunks(CHUNK)).zip(down_mirror.chunks(CHUNK));
        for (((((z, row), diagonal), down), down_mirror), best) in chunks.zip(best) {
            let (mut violation, mut gain) = ([0.0f32; PAD], [0.0f32; PAD]);
            let wide = z.as_chunks::<PAD>().0.iter().zip(row.as_chunks::<PAD>().0);
            let wide = wide.zip(diagonal.as_chunks::<PAD>().0).zip(down.as_chunks::<PAD>().0);
            for ((((z, row), diagonal), down), down_mirror) in wide.zip(down_mirror.as_chunks::<PAD>().0) {
                for lane in 0..PAD {
                    let (b, m, x, y) = gains(first, z[lane], row[lane], diagonal[lane], down[lane], down_mirror[lane]);
                    let (v, g) = (if b > m { b } else { m }, if x > y { x } else { y });
                    violation[lane] = if v > violation[lane] { v } else { violation[lane] };
                    gain[lane] = if g > gain[lane] { g } else { gain[lane] };
                }
            }
            let largest = |m: f32, v: &f32| if *v > m { *v } else { m };
            *best = (violation.iter().fold(0.0, largest), gain.iter().fold(0.0, largest));
        }
        let _ = FMA;
    }
}

/// The second variable: the one whose step with the first promises most (Fan, Chen & Lin 2005). Returns the largest
/// violation, and the variable with its gain.
pub(super) fn find_second<T: Real>(
    first: First,
    margins: &[f64],
    row: &[T],
    diagonal: &[f32],
    levels: &Levels,
    scratch: &mut Vec<(f32, f32)>,
) -> (f32, Option<(f32, Variable)>) {
    scratch.clear();
    scratch.resize(margins.len().div_ceil(CHUNK), (0.0, 0.0));
    chunk_gains(first, margins, row, diagonal, &levels.down, &levels.down_mirror, scratch);
    let violation = scratch.iter().fold(0.0f32, |m, b| m.max(b.0));
    let Some((chunk, best)) =
        scratch.iter().enumerate().reduce(|a, b| if b.1.1 > a.1.1 { b } else { a }).filter(|b| b.1.1 > 0.0)
    else {
        return (violation, None);
    };
    let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(margins.len());
    for p in range {
        let (_, _, x, y) = gains(first, margins[p], row[p], diagonal[p], levels.down[p], levels.down_mirror[p]);
        if x >= best.1 || y >= best.1 {
            return (violation, Some((best.1, Variable { position: p, mirror: x < best.1 })));
        }
    }
    (violation, None)
}
