//! Rows kept in memory up to a budget; the one used longest ago goes first.

const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Slot<T> {
    key: u32,
    row: Vec<T>,
    newer: u32,
    older: u32,
}

/// Rows by key. A row may be shorter than asked for: the caller fills in the rest.
#[derive(Debug)]
pub(crate) struct RowCache<T> {
    /// Numbers that may be kept, and are.
    budget: usize,
    used: usize,
    slot_of: Vec<u32>,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
}

impl<T: Copy> RowCache<T> {
    /// A cache for keys below `n_keys` that keeps at most `bytes`, but always room for two rows.
    pub(crate) fn new(n_keys: usize, bytes: usize) -> Self {
        RowCache {
            budget: bytes / size_of::<T>(),
            used: 0,
            slot_of: vec![NONE; n_keys],
            slots: Vec::new(),
            free: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
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

    /// An empty row for a key that is not here, with room made for `len` numbers; `keep` is not thrown out.
    pub(crate) fn insert(&mut self, key: u32, len: usize, keep: Option<u32>) -> u32 {
        self.make_room(len, keep);
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.slots.push(Slot { key, row: Vec::new(), newer: NONE, older: NONE });
                (self.slots.len() - 1) as u32
            }
        };
        self.slots[slot as usize].key = key;
        self.slots[slot as usize].row.clear();
        self.slot_of[key as usize] = slot;
        self.link_newest(slot);
        slot
    }

    /// The numbers in a slot.
    pub(crate) fn row(&self, slot: u32) -> &[T] {
        &self.slots[slot as usize].row
    }

    /// Lengthens the row in a slot to `len` numbers and hands it out for filling.
    pub(crate) fn extend_row(&mut self, slot: u32, len: usize, zero: T, keep: Option<u32>) -> &mut [T] {
        let row_len = self.slots[slot as usize].row.len();
        if len > row_len {
            // The row itself is newest, so it is thrown out last; two rows always fit.
            self.make_room(len - row_len, keep.or(Some(slot)));
            let row = &mut self.slots[slot as usize].row;
            row.reserve_exact(len - row_len);
            row.resize(len, zero);
            self.used += len - row_len;
        }
        &mut self.slots[slot as usize].row
    }

    /// Keeps of every row the numbers at the given positions (ascending); rows that do not reach that far are cut
    /// where they end, the others padded to `padded` numbers.
    pub(crate) fn keep_positions(&mut self, kept: &[u32], padded: usize, zero: T) {
        self.used = 0;
        for slot in &mut self.slots {
            let reach = kept.partition_point(|&p| (p as usize) < slot.row.len());
            for (to, &from) in kept[..reach].iter().enumerate() {
                slot.row[to] = slot.row[from as usize];
            }
            slot.row.truncate(reach);
            if reach == kept.len() && !slot.row.is_empty() {
                slot.row.resize(padded.max(reach), zero);
            }
            slot.row.shrink_to_fit();
            self.used += slot.row.len();
        }
    }

    fn make_room(&mut self, len: usize, keep: Option<u32>) {
        let mut candidate = self.oldest;
        while self.used + len > self.budget && candidate != NONE {
            let next = self.slots[candidate as usize].newer;
            if Some(candidate) != keep && candidate != self.newest {
                self.throw_out(candidate);
            }
            candidate = next;
        }
    }

    fn throw_out(&mut self, slot: u32) {
        self.unlink(slot);
        let entry = &mut self.slots[slot as usize];
        self.used -= entry.row.len();
        entry.row = Vec::new();
        self.slot_of[entry.key as usize] = NONE;
        self.free.push(slot);
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

    /// Every row found is the row that was put in, whatever was thrown out, and the budget holds.
    #[test]
    fn finds_what_was_kept_and_stays_within_its_budget() {
        let (n_keys, len) = (40u32, 10usize);
        let mut cache = RowCache::<f64>::new(n_keys as usize, 12 * len * 8);
        let mut random = Random::new(3);
        let (mut hits, mut previous) = (0, None);
        for _ in 0..5000 {
            let key = (random.below(n_keys as usize / 2) + random.below(n_keys as usize / 2)) as u32;
            let slot = match cache.find(key) {
                Some(slot) => {
                    hits += 1;
                    slot
                }
                None => cache.insert(key, len, previous),
            };
            let row = cache.extend_row(slot, len, 0.0, previous);
            if row[0] == 0.0 {
                row.fill(f64::from(key) + 1.0);
            }
            assert!(cache.row(slot).iter().all(|&v| v == f64::from(key) + 1.0));
            assert!(cache.used <= 13 * len && cache.used == cache.slots.iter().map(|s| s.row.len()).sum::<usize>());
            previous = Some(slot);
        }
        assert!(hits > 1000);
    }

    #[test]
    fn keeps_positions_of_full_and_short_rows() {
        let mut cache = RowCache::<f32>::new(2, 1000);
        let a = cache.insert(0, 5, None);
        cache.extend_row(a, 5, 0.0, None).copy_from_slice(&[0.0, 1.0, 2.0, 3.0, 4.0]);
        let b = cache.insert(1, 2, Some(a));
        cache.extend_row(b, 2, 0.0, Some(a)).copy_from_slice(&[5.0, 6.0]);
        cache.keep_positions(&[1, 4], 3, 0.0);
        assert_eq!(cache.row(a), [1.0, 4.0, 0.0]);
        assert_eq!(cache.row(b), [6.0]);
    }
}
