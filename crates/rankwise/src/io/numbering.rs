//! Texts numbered in order of first appearance. Millions of rows name the same few items in any order, so a look-up
//! should touch one place in memory: short texts stand in the table itself.

use std::hash::{BuildHasher, RandomState};

/// A slot that no text has.
const FREE: u32 = u32::MAX;
/// Texts up to this long are keys themselves; the last byte of a key is the length.
const SHORT: usize = 15;
/// The last byte of the key of a longer text, which begins with its hash.
const LONG: u8 = u8::MAX;

type Key = [u8; SHORT + 1];

#[derive(Clone, Copy)]
struct Slot {
    key: Key,
    number: u32,
}

/// Texts numbered in order of first appearance; fewer than `u32::MAX` of them.
#[derive(Default)]
pub(super) struct Numbering {
    /// All texts, one after the other.
    texts: String,
    /// Where each ends.
    ends: Vec<usize>,
    /// Open addressing, each text in the first free slot from that of its hash on; as many slots as a power of two,
    /// at least an eighth of them free.
    slots: Vec<Slot>,
    hasher: RandomState,
}

impl Numbering {
    /// How many texts there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text of a number.
    pub(super) fn text(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.texts[start..self.ends[number]]
    }

    /// The number of a text that is known.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        if self.slots.is_empty() { None } else { self.look_up(text).ok() }
    }

    /// The number of a text, a new one if it is not known.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if 8 * self.len() >= 7 * self.slots.len() {
            self.grow();
        }
        self.look_up(text).unwrap_or_else(|(free, key)| {
            let number = self.len() as u32;
            self.texts.push_str(text);
            self.ends.push(self.texts.len());
            self.slots[free] = Slot { key, number };
            number
        })
    }

    /// All texts, in the order of their numbers.
    pub(super) fn to_texts(&self) -> Vec<String> {
        (0..self.len()).map(|number| self.text(number as u32).to_string()).collect()
    }

    /// The key of a text, and its hash.
    fn key(&self, text: &str) -> (Key, u64) {
        let hash = self.hasher.hash_one(text);
        let mut key = [0; SHORT + 1];
        if text.len() <= SHORT {
            key[..text.len()].copy_from_slice(text.as_bytes());
            key[SHORT] = text.len() as u8;
        } else {
            key[..8].copy_from_slice(&hash.to_le_bytes());
            key[SHORT] = LONG;
        }
        (key, hash)
    }

    /// The number of a text, or the free slot for it and its key.
    fn look_up(&self, text: &str) -> Result<u32, (usize, Key)> {
        let (key, hash) = self.key(text);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.number == FREE {
                return Err((at, key));
            }
            if slot.key == key && (key[SHORT] != LONG || self.text(slot.number) == text) {
                return Ok(slot.number);
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let n_slots = (2 * self.slots.len()).max(16);
        let mask = n_slots - 1;
        self.slots.clear();
        self.slots.resize(n_slots, Slot { key: [0; SHORT + 1], number: FREE });
        for number in 0..self.len() as u32 {
            let (key, hash) = self.key(self.text(number));
            let mut at = hash as usize & mask;
            while self.slots[at].number != FREE {
                at = (at + 1) & mask;
            }
            self.slots[at] = Slot { key, number };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::Numbering;
    use crate::data::Random;

    /// Against a map: many texts, most of them several times; short and long ones, the empty one, zeros at the end.
    #[test]
    fn numbers_are_those_of_a_map() {
        let (mut random, mut fast, mut slow) = (Random::new(5), Numbering::default(), HashMap::new());
        assert_eq!(fast.find(""), None);
        let mut texts = Vec::new();
        for _ in 0..20_000 {
            let draw = (random.uniform() * 3000.0) as usize;
            let tail = if draw.is_multiple_of(5) { "\0" } else { "" };
            let text = if draw == 0 { String::new() } else { format!("{draw}").repeat(1 + draw % 7) + tail };
            assert_eq!(fast.find(&text), slow.get(&text).copied());
            let expected = *slow.entry(text.clone()).or_insert_with(|| {
                texts.push(text.clone());
                texts.len() as u32 - 1
            });
            assert_eq!(fast.number(&text), expected);
        }
        assert_eq!(fast.to_texts(), texts);
        assert_eq!(fast.text(17), texts[17]);
        assert_eq!(fast.len(), texts.len());
    }
}
