//! Groups by name, numbered as they appear.

use std::collections::HashMap;

use crate::data::Groups;

/// Groups by name, and those of the items.
#[derive(Default)]
pub(super) struct GroupNames {
    numbers: Vec<u32>,
    names: Vec<String>,
    known: HashMap<String, u32>,
}

impl GroupNames {
    /// The next items are in this group, of which the number is returned.
    pub(super) fn add(&mut self, name: &str, n_items: usize) -> u32 {
        let last = self.numbers.last().copied().filter(|&last| self.names[last as usize] == name);
        let number = last.or_else(|| self.known.get(name).copied()).unwrap_or_else(|| {
            let new = self.names.len() as u32;
            self.names.push(name.to_string());
            self.known.insert(name.to_string(), new);
            new
        });
        self.numbers.resize(self.numbers.len() + n_items, number);
        number
    }

    /// The groups.
    pub(super) fn finish(self) -> Groups {
        Groups::trusted(self.numbers, self.names)
    }
}
