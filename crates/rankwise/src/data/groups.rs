//! Which items may be compared with each other: one id per item, any value, any order.

use std::collections::HashMap;

use crate::error::{Error, Result};

/// Groups of items, numbered in order of first appearance. Items of a group need not stand together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// The number of each item's group.
    numbers: Vec<u32>,
    /// What each group is called.
    names: Vec<String>,
}

impl Groups {
    /// All items in one group, which has no name.
    pub fn single(n_items: usize) -> Self {
        Groups { numbers: vec![0; n_items], names: vec![String::new()] }
    }

    /// One id per item.
    pub fn from_ids<S: AsRef<str>>(ids: impl IntoIterator<Item = S>) -> Self {
        let mut found: HashMap<String, u32> = HashMap::new();
        let (mut numbers, mut names) = (Vec::new(), Vec::new());
        let mut last: Option<u32> = None;
        for id in ids {
            let id = id.as_ref();
            let number = match last.filter(|&last| names[last as usize] == id) {
                Some(same) => same,
                None => *found.entry(id.to_string()).or_insert_with(|| {
                    names.push(id.to_string());
                    names.len() as u32 - 1
                }),
            };
            last = Some(number);
            numbers.push(number);
        }
        Groups { numbers, names }
    }

    /// Numbers below the number of names.
    pub fn from_numbers(numbers: Vec<u32>, names: Vec<String>) -> Result<Self> {
        match numbers.iter().find(|&&number| number as usize >= names.len()) {
            Some(bad) => Err(Error::parameter("groups", bad, format!("numbers below {}", names.len()))),
            None => Ok(Groups { numbers, names }),
        }
    }

    /// [`Groups::from_numbers`] of a caller who knows that they are.
    pub(crate) fn trusted(numbers: Vec<u32>, names: Vec<String>) -> Self {
        debug_assert!(numbers.iter().all(|&number| (number as usize) < names.len()));
        Groups { numbers, names }
    }

    /// Whether somebody said which items belong together: a single group without a name is what data have that say nothing.
    pub fn are_given(&self) -> bool {
        self.names.len() != 1 || !self.names[0].is_empty()
    }

    /// How many items there are.
    pub fn n_items(&self) -> usize {
        self.numbers.len()
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no group at all.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The group of every item.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// What a group is called; empty where the data name none.
    pub fn name(&self, group: usize) -> &str {
        &self.names[group]
    }

    /// The items of every group, each in their order: those of group `g` are
    /// `items[starts[g]..starts[g + 1]]`. O(items + groups).
    pub fn members(&self) -> Members {
        let mut starts = vec![0usize; self.len() + 1];
        self.numbers.iter().for_each(|&group| starts[group as usize + 1] += 1);
        for group in 0..self.len() {
            starts[group + 1] += starts[group];
        }
        let mut next = starts.clone();
        let mut items = vec![0u32; self.numbers.len()];
        for (item, &group) in self.numbers.iter().enumerate() {
            items[next[group as usize]] = item as u32;
            next[group as usize] += 1;
        }
        Members { starts, items }
    }

    /// The groups of the given items; groups without any of them are gone.
    pub fn select(&self, items: &[usize]) -> Self {
        const ABSENT: u32 = u32::MAX;
        let mut new = vec![ABSENT; self.len()];
        let mut names = Vec::new();
        let numbers = items
            .iter()
            .map(|&item| {
                let old = self.numbers[item] as usize;
                if new[old] == ABSENT {
                    new[old] = names.len() as u32;
                    names.push(self.names[old].clone());
                }
                new[old]
            })
            .collect();
        Groups { numbers, names }
    }
}

/// The items of every group.
#[derive(Debug, Clone)]
pub struct Members {
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Members {
    /// Row starts and items, as [`Groups::members`] makes them.
    pub(super) fn new(starts: Vec<usize>, items: Vec<u32>) -> Self {
        Members { starts, items }
    }

    /// The items of one group.
    pub fn of(&self, group: usize) -> &[u32] {
        &self.items[self.starts[group]..self.starts[group + 1]]
    }

    /// The items of every group in turn.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|span| &self.items[span[0]..span[1]])
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;

    #[test]
    fn groups_may_come_in_any_order() {
        let groups = Groups::from_ids(["b", "a", "b", "c", "a"]);
        assert_eq!(groups.numbers(), [0, 1, 0, 2, 1]);
        assert_eq!((groups.len(), groups.name(1)), (3, "a"));
        let members = groups.members();
        assert_eq!(members.iter().collect::<Vec<_>>(), [&[0, 2][..], &[1, 4], &[3]]);
        let some = groups.select(&[4, 3]);
        assert_eq!((some.numbers(), some.name(0), some.name(1)), (&[0, 1][..], "a", "c"));
    }
}
