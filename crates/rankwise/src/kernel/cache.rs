//! Rows kept in one piece of memory up to a budget; the one used longest ago goes first.

use super::arena::Arena;
use crate::math::Real;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Slot {
    key: u32,
    /// How many numbers of the row are known.
    known: usize,
    newer: u32,
    older: u32,
}

/// Rows of one length by key. Of a row, the first so many numbers may be known; the caller fills in the rest.
#[derive(Debug)]
pub(crate) struct RowCache<T> {
    row_len: usize,
    arena: Arena<T>,
    slot_of: Vec<u32>,
    slots: Vec<Slot>,
    newest: u32,
    oldest: u32,
}

impl<T: Real> RowCache<T> {
    /// A cache of rows of at most `row_len` numbers for keys below `n_keys` that keeps at most `bytes`, but always two rows.
    pub(crate) fn new(n_keys: usize, row_len: usize, bytes: usize) -> Self {
        let len = (bytes / size_of::<T>()).min(n_keys * row_len).max(2 * row_len);
        RowCache {
            row_len,
            arena: Arena::new(len, 2 * row_len),
            slot_of: vec![NONE; n_keys],
            slots: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// How many numbers a row has.
    pub(super) fn row_len(&self) -> usize {
        self.row_len
    }

    /// How many rows there is room for.
    fn capacity(&self) -> usize {
        self.arena.numbers().len() / self.row_len.max(1)
    }

    /// The slot of a key, now the newest; `None` when its row is not here.
    pub(crate) fn find(&mut self, key: u32) -> Option<u32> {
        let slot = self.slot_of[key as usize];
        if slot == NONE {
            return None;
        }
        if slot != self.newest {
            self.unlink(slot);
            self.link_newest(slot);
        }
        Some(slot)
    }

    /// A slot for a key that is not here, nothing of its row known; the row in slot `keep` is not thrown out.
    pub(crate) fn insert(&mut self, key: u32, keep: Option<u32>) -> u32 {
        let slot = if self.slots.len() < self.capacity() {
            self.slots.push(Slot { key, known: 0, newer: NONE, older: NONE });
            (self.slots.len() - 1) as u32
        } else {
            let oldest = self.oldest;
            let slot = if Some(oldest) == keep { self.slots[oldest as usize].newer } else { oldest };
            self.unlink(slot);
            self.slot_of[self.slots[slot as usize].key as usize] = NONE;
            slot
        };
        self.slots[slot as usize].key = key;
        self.slots[slot as usize].known = 0;
        self.slot_of[key as usize] = slot;
        self.link_newest(slot);
        slot
    }

    /// How many numbers of the row in a slot are known.
    pub(crate) fn known(&self, slot: u32) -> usize {
        self.slots[slot as usize].known
    }

    /// The row in a slot.
    pub(crate) fn row(&self, slot: u32) -> &[T] {
        &self.arena.numbers()[slot as usize * self.row_len..][..self.row_len]
    }

    /// The row in a slot, for filling in what is not known; from now on all of it is.
    pub(crate) fn fill(&mut self, slot: u32) -> &mut [T] {
        self.slots[slot as usize].known = self.row_len;
        &mut self.arena.numbers_mut()[slot as usize * self.row_len..][..self.row_len]
    }

    /// Keeps of every row the numbers at the given positions (ascending), as far as they are known, and makes rows
    /// `row_len` numbers long, at most as many as at first.
    pub(crate) fn keep_positions(&mut self, kept: &[u32], row_len: usize) {
        let old_len = self.row_len;
        let numbers = self.arena.numbers_mut();
        for (at, slot) in self.slots.iter_mut().enumerate() {
            let row = &mut numbers[at * old_len..][..old_len];
            slot.known = kept.partition_point(|&p| (p as usize) < slot.known);
            for (to, &from) in kept[..slot.known].iter().enumerate() {
                row[to] = row[from as usize];
            }
        }
        self.row_len = row_len;
        while self.slots.len() > self.capacity() {
            self.remove_oldest(old_len);
        }
        let numbers = self.arena.numbers_mut();
        let mut spread = |(at, slot): (usize, &Slot)| {
            numbers.copy_within(at * old_len..at * old_len + slot.known, at * row_len);
        };
        // Rows that move up start with the last one, rows that move down with the first.
        if row_len > old_len {
            self.slots.iter().enumerate().rev().for_each(&mut spread);
        } else {
            self.slots.iter().enumerate().for_each(&mut spread);
        }
    }

    /// Throws out the oldest row and moves the last slot into its place, while rows are still `len` numbers apart.
    fn remove_oldest(&mut self, len: usize) {
        let gone = self.oldest;
        self.unlink(gone);
        self.slot_of[self.slots[gone as usize].key as usize] = NONE;
        let last = (self.slots.len() - 1) as u32;
        if gone != last {
            let moved = self.slots[last as usize];
            let from = last as usize * len;
            self.arena.numbers_mut().copy_within(from..from + moved.known, gone as usize * len);
            self.slots[gone as usize] = moved;
            self.slot_of[moved.key as usize] = gone;
            match moved.newer {
                NONE => self.newest = gone,
                newer => self.slots[newer as usize].older = gone,
            }
            match moved.older {
                NONE => self.oldest = gone,
                older => self.slots[older as usize].newer = gone,
            }
        }
        self.slots.pop();
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match newer {
            NONE => self.newest = older,
            _ => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.slots[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, slot: u32) {
        let older = self.newest;
        self.slots[slot as usize].newer = NONE;
        self.slots[slot as usize].older = older;
        match older {
            NONE => self.oldest = slot,
            _ => self.slots[older as usize].newer = slot,
        }
        self.newest = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    /// The number a row of `key` has for column `column`: nothing else may ever be found there.
    fn number(key: u32, column: u32) -> f64 {
        f64::from(key * 1000 + column + 1)
    }

    /// Loads rows, drops columns and appends some again, with hits checked number by number against what they must be.
    #[test]
    fn what_is_found_is_what_was_put_in() {
        let mut random = Random::new(3);
        for rows_that_fit in [1, 2, 5, 17, 100] {
            let (n_keys, n_columns) = (40u32, 30u32);
            let mut columns: Vec<u32> = (0..n_columns).collect();
            let mut cache = RowCache::<f64>::new(n_keys as usize, columns.len(), rows_that_fit * 30 * 8);
            let (mut hits, mut previous) = (0, None::<(u32, u32)>);
            for step in 1..4000 {
                let key = random.below(n_keys as usize) as u32;
                let slot = cache.find(key).unwrap_or_else(|| cache.insert(key, previous.map(|p| p.0)));
                let known = cache.known(slot);
                hits += usize::from(known == columns.len());
                for (at, &column) in columns.iter().enumerate().take(known) {
                    assert_eq!(cache.row(slot)[at], number(key, column));
                }
                let row = cache.fill(slot);
                columns.iter().enumerate().skip(known).for_each(|(at, &column)| row[at] = number(key, column));
                if let (Some((slot, key)), Some(&column)) = (previous, columns.first()) {
                    assert_eq!(cache.row(slot)[0], number(key, column), "the row that was to be kept is gone");
                }
                previous = (step % 2 == 0).then_some((slot, key));
                assert!(cache.slots.len() <= cache.capacity());
                if step % 97 == 0 {
                    let kept: Vec<u32> = (0..columns.len() as u32).filter(|_| random.below(3) > 0).collect();
                    let dropped = (0..n_columns).filter(|c| !kept.iter().any(|&p| columns[p as usize] == *c));
                    let appended: Vec<u32> = dropped.filter(|_| random.below(2) == 0).collect();
                    columns = kept.iter().map(|&p| columns[p as usize]).chain(appended).collect();
                    cache.keep_positions(&kept, columns.len());
                    previous = None;
                }
            }
            assert!(hits > rows_that_fit.min(40), "{hits} hits with room for {rows_that_fit}");
        }
    }
}
