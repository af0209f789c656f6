//! Rows of the matrix over pairs, K_kl = K(r,b) − K(r,a) − K(l,b) + K(l,a), kept in memory up to a budget.
//!
//! Where items repeat (fewer items than pairs), kernel rows are computed and kept **per item** and a pair's row is
//! gathered from two of them; the matrix over pairs is never formed, only its recently used rows are kept with what
//! memory is left. Where items hardly repeat, rows over items would be four times as long as rows over pairs: these
//! are then computed directly from the two packed sides.

use super::PairMatrix;
use crate::data::Features;
use crate::error::Result;
use crate::kernel::{ItemBlocks, KernelFunction, LANES, PackedPairs, RowCache, gather_differences};
use crate::math::Real;

/// Rows over pairs in precision `T`.
pub(crate) struct PairRows<T> {
    kernel: KernelFunction,
    items: ItemBlocks<T>,
    left: Vec<u32>,
    right: Vec<u32>,
    diagonal: Vec<f64>,
    order: Vec<u32>,
    rows: RowCache<T>,
    source: Source<T>,
}

enum Source<T> {
    /// Straight from the packed sides of the pairs at each position.
    Direct(PackedPairs<T>),
    /// From rows over items.
    Items { rows: RowCache<T>, left: Vec<u32>, right: Vec<u32>, differences: Vec<T> },
}

impl<T: Real> PairRows<T> {
    /// Rows for the pairs (left, right), all of them, within `bytes` of memory.
    pub(crate) fn new(
        kernel: KernelFunction,
        features: &Features,
        (left, right): (Vec<u32>, Vec<u32>),
        diagonal: Vec<f64>,
        bytes: usize,
    ) -> Result<Self> {
        let items = ItemBlocks::new(kernel, features)?;
        let (n_items, n_pairs) = (items.len(), left.len());
        let order: Vec<u32> = (0..n_pairs as u32).collect();
        let (source, rest) = match items.packed() {
            Some(packed) if n_items > n_pairs || kernel == KernelFunction::Linear => {
                (Source::Direct(PackedPairs::new(&kernel, packed, &left, &right)), bytes)
            }
            _ => {
                let row_len = padded(n_items);
                let share = (n_items * row_len * size_of::<T>()).min(bytes / 2);
                let source = Source::Items {
                    rows: RowCache::new(n_items, row_len, share),
                    left: left.clone(),
                    right: right.clone(),
                    differences: vec![T::ZERO; n_items],
                };
                (source, bytes - share)
            }
        };
        let rows = RowCache::new(n_pairs, padded(n_pairs), rest);
        Ok(PairRows { kernel, items, left, right, diagonal, order, rows, source })
    }
}

/// Rows are computed and scanned in whole panels.
fn padded(len: usize) -> usize {
    len.next_multiple_of(LANES)
}

impl<T: Real> PairMatrix for PairRows<T> {
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
        let of = |side: &[u32]| self.order.iter().map(|&k| side[k as usize]).collect::<Vec<_>>();
        let (now_left, now_right) = (of(&self.left), of(&self.right));
        match (&mut self.source, self.items.packed()) {
            (Source::Items { left, right, .. }, _) => (*left, *right) = (now_left, now_right),
            (Source::Direct(pairs), Some(packed)) => {
                *pairs = PackedPairs::new(&self.kernel, packed, &now_left, &now_right);
            }
            (Source::Direct(_), None) => {}
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
        let sides = (self.left[pair as usize], self.right[pair as usize]);
        match &mut self.source {
            Source::Direct(pairs) => {
                if let Some(packed) = self.items.packed() {
                    pairs.row(&self.kernel, packed, sides, first, row);
                }
            }
            Source::Items { rows, left, right, differences } => {
                let r = load_item(&self.items, rows, sides.1, None);
                let l = load_item(&self.items, rows, sides.0, Some(r));
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
