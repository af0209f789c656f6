//! Rows of the matrix over pairs, K_kl = K(r,b) − K(r,a) − K(l,b) + K(l,a), kept in memory up to a budget.
//!
//! Where items repeat (fewer items than pairs), kernel rows are computed and kept **per item** and a pair's row is
//! gathered from two of them; the matrix over pairs is never formed, only its recently used rows are kept with what
//! memory is left. Where items hardly repeat, rows over items would be four times as long as rows over pairs: these
//! are then computed directly from the two packed sides.

use super::PairMatrix;
use super::compare::PairProblem;
use super::exact::Direction;
use super::gram::PairGram;
use crate::error::Result;
use crate::kernel::{ItemBlocks, KernelFunction, LANES, PackedPairs, RowCache, gather_differences};
use crate::math::Real;

/// Rows over pairs in precision `T`.
pub(crate) struct PairRows<'a, T> {
    directions: &'a [Direction],
    diagonal: Vec<f64>,
    order: Vec<u32>,
    rows: RowCache<T>,
    source: Source<'a, T>,
}

enum Source<'a, T> {
    /// From the matrix that is at hand.
    Gram(&'a PairGram),
    /// Straight from the packed sides of the pairs at each position.
    Direct { kernel: KernelFunction, items: ItemBlocks<T>, pairs: PackedPairs<T> },
    /// From rows over items.
    Items { items: ItemBlocks<T>, rows: RowCache<T>, left: Vec<u32>, right: Vec<u32>, differences: Vec<T> },
}

impl<'a, T: Real> PairRows<'a, T> {
    /// Rows for all pairs of a problem, within `bytes` of memory.
    pub(crate) fn new(problem: &'a PairProblem<'_>, bytes: usize) -> Result<Self> {
        let (exact, (left, right)) = (problem.exact(), problem.sides());
        let (kernel, n_pairs) = (exact.kernel(), left.len());
        let (source, rest) = if let Some(gram) = exact.gram() {
            (Source::Gram(gram), bytes)
        } else {
            let items = ItemBlocks::new(kernel, exact.items())?;
            let n_items = items.len();
            match items.packed() {
                Some(packed) if n_items > n_pairs || kernel == KernelFunction::Linear => {
                    let pairs = PackedPairs::new(&kernel, packed, &left, &right);
                    (Source::Direct { kernel, items, pairs }, bytes)
                }
                _ => {
                    let row_len = padded(n_items);
                    let share = (n_items * row_len * size_of::<T>()).min(bytes / 2);
                    let rows = RowCache::new(n_items, row_len, share);
                    let differences = vec![T::ZERO; n_items];
                    (Source::Items { items, rows, left, right, differences }, bytes - share)
                }
            }
        };
        Ok(PairRows {
            directions: problem.directions(),
            diagonal: problem.diagonal(),
            order: (0..n_pairs as u32).collect(),
            rows: RowCache::new(n_pairs, padded(n_pairs), rest),
            source,
        })
    }
}

/// Rows are computed and scanned in whole panels.
fn padded(len: usize) -> usize {
    len.next_multiple_of(LANES)
}

impl<T: Real> PairMatrix for PairRows<'_, T> {
    type Value = T;

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn order(&self) -> &[u32] {
        &self.order
    }

    fn rearrange(&mut self, kept: &[u32], appended: &[u32]) {
        self.rows.keep_positions(kept, padded(kept.len() + appended.len()));
        self.order = kept.iter().map(|&p| self.order[p as usize]).chain(appended.iter().copied()).collect();
        let sides = self.order.iter().map(|&k| self.directions[k as usize]).map(|d| (d.left, d.right));
        match &mut self.source {
            Source::Gram(_) => {}
            Source::Items { left, right, .. } => (*left, *right) = sides.unzip(),
            Source::Direct { kernel, items, pairs } => {
                if let Some(packed) = items.packed() {
                    let (left, right): (Vec<u32>, Vec<u32>) = sides.unzip();
                    *pairs = PackedPairs::new(kernel, packed, &left, &right);
                }
            }
        }
    }

    fn load(&mut self, pair: u32, keep: Option<u32>) -> u32 {
        let slot = match self.rows.find(pair) {
            Some(slot) => slot,
            None => self.rows.insert(pair, keep),
        };
        let known = self.rows.known(slot);
        if known >= self.order.len() {
            return slot;
        }
        // Rows are computed from a whole panel on.
        let first = known / LANES * LANES;
        let row = &mut self.rows.fill(slot)[first..];
        let direction = self.directions[pair as usize];
        match &mut self.source {
            Source::Gram(gram) => {
                let values = gram.row(direction.row);
                for (out, &k) in row.iter_mut().zip(&self.order[first..]) {
                    let other = self.directions[k as usize];
                    *out = T::from_f64(direction.sign * other.sign * values[other.row as usize]);
                }
            }
            Source::Direct { kernel, items, pairs } => {
                if let Some(packed) = items.packed() {
                    pairs.row(kernel, packed, (direction.left, direction.right), first, row);
                }
            }
            Source::Items { items, rows, left, right, differences } => {
                let r = load_item(items, rows, direction.right, None);
                let l = load_item(items, rows, direction.left, Some(r));
                for ((d, &r), &l) in differences.iter_mut().zip(rows.row(r)).zip(rows.row(l)) {
                    *d = r.minus(l);
                }
                gather_differences(differences, &left[first..], &right[first..], row);
            }
        }
        slot
    }

    fn row(&self, slot: u32) -> &[T] {
        self.rows.row(slot)
    }
}

fn load_item<T: Real>(items: &ItemBlocks<T>, rows: &mut RowCache<T>, item: u32, keep: Option<u32>) -> u32 {
    if let Some(slot) = rows.find(item) {
        return slot;
    }
    let slot = rows.insert(item, keep);
    items.row(item as usize, rows.fill(slot));
    slot
}
