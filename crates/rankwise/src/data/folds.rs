//! Folds that depend on what a pair or a group of items says, not on where it stands in the file.

use super::random::mix;
use super::{ClassItems, Comparisons, Features, Items, Outcome, Ranking};

/// A fold number below `n_folds` for every pair. Pairs of one group share a fold; without groups, copies of one pair
/// do (left and right exchanged or not), so that weight 2 and writing a pair twice give the same folds, and neither
/// the order of rows nor the sides matter. Ties and non-ties are spread evenly.
pub fn cross_fit_folds(data: &Comparisons, n_folds: usize, seed: u64) -> Vec<u32> {
    let item_hash: Vec<u64> = (0..data.set.items.n_items()).map(|item| hash_item(&data.set.items, item)).collect();
    let key = |k: usize| {
        let pair = data.set.pairs[k];
        let (a, b) = (item_hash[pair.left as usize], item_hash[pair.right as usize]);
        mix(mix(mix(0, seed), a.min(b)), a.max(b))
    };
    // (stratum, key): the pairs that must stay together share both.
    let cells: Vec<(bool, u64)> = match &data.groups {
        Some(groups) => {
            let n_groups = groups.iter().max().map_or(0, |&g| g as usize + 1);
            // A copy of a pair must not change its group's key.
            let mut members: Vec<(u32, u64)> = (0..data.n_pairs()).map(|k| (groups[k], key(k))).collect();
            members.sort_unstable();
            members.dedup();
            let mut group_key = vec![0u64; n_groups];
            for (group, key) in members {
                let of_group = &mut group_key[group as usize];
                *of_group = of_group.wrapping_add(key);
            }
            groups.iter().map(|&g| (false, group_key[g as usize])).collect()
        }
        None => (0..data.n_pairs()).map(|k| (data.outcomes[k] == Outcome::Tie, key(k))).collect(),
    };
    dealt_out(&cells, n_folds)
}

/// A fold number below `n_folds` for every group of items. It depends on the group's name; on its items where it has
/// none, so that neither the order of rows nor that of groups matters. Groups with pairs are spread evenly, and so are
/// those without.
pub fn group_folds(data: &Ranking, n_folds: usize, seed: u64) -> Vec<u32> {
    let cell = |(group, items): (usize, &[u32])| {
        let name = data.groups.name(group);
        let present = items.iter().map(|&item| item as usize).filter(|&item| data.weight(item) > 0.0);
        // Adding 0 makes one zero of the two.
        let label = |item: usize| (data.labels[item] + 0.0).to_bits();
        let key = match name.is_empty() {
            true => hash_items(&data.items.features, present, label),
            false => hash_bytes(name.as_bytes()),
        };
        (!data.has_pair(group, items), mix(mix(0, seed), key))
    };
    let cells: Vec<(bool, u64)> = data.groups.members().iter().enumerate().map(cell).collect();
    dealt_out(&cells, n_folds)
}

/// A fold number below `n_folds` for every item of a class. Items of one group share a fold; without groups, copies of an item
/// do. The order of rows does not matter. Classes are spread evenly, groups by the class that most of their items have.
pub fn class_folds(data: &ClassItems, n_folds: usize, seed: u64) -> Vec<u32> {
    let Some(groups) = &data.groups else {
        return spread_classes(&data.items.features, &data.labels, n_folds, seed);
    };
    let label = |item: usize| u64::from(data.labels[item]);
    let members = groups.members();
    let cell = |(group, items): (usize, &[u32])| {
        let mut sizes = vec![0usize; data.classes.len()];
        let present = || items.iter().map(|&item| item as usize).filter(|&item| data.weight(item) > 0.0);
        present().for_each(|item| sizes[data.labels[item] as usize] += 1);
        let most = sizes.iter().copied().max().unwrap_or(0);
        let name = groups.name(group);
        let key = match name.is_empty() {
            true => hash_items(&data.items.features, present(), label),
            false => hash_bytes(name.as_bytes()),
        };
        (sizes.iter().position(|size| *size == most).unwrap_or(0), mix(mix(0, seed), key))
    };
    let cells: Vec<(usize, u64)> = members.iter().enumerate().map(cell).collect();
    let folds = dealt_out(&cells, n_folds);
    groups.numbers().iter().map(|&group| folds[group as usize]).collect()
}

/// A fold number below `n_folds` for every item with a value. Items of one group share a fold; where the data have no groups,
/// copies of an item do. The order of rows does not matter.
pub fn value_folds(data: &Ranking, n_folds: usize, seed: u64) -> Vec<u32> {
    if data.groups.are_given() {
        let folds = group_folds(data, n_folds, seed);
        return data.groups.numbers().iter().map(|&group| folds[group as usize]).collect();
    }
    spread_classes(&data.items.features, &vec![0; data.n_items()], n_folds, seed)
}

/// A fold number below `n_folds` for every item, of which copies share one; classes are spread evenly.
pub(crate) fn spread_classes(features: &Features, labels: &[u32], n_folds: usize, seed: u64) -> Vec<u32> {
    let key = |item: usize| mix(mix(0, seed), features.hash_row(item));
    let cells: Vec<(u32, u64)> = labels.iter().enumerate().map(|(item, &label)| (label, key(item))).collect();
    dealt_out(&cells, n_folds)
}

/// A hash of what an item is: without features what it is called, for columns are then numbered as they came.
pub(super) fn hash_item(items: &Items, item: usize) -> u64 {
    match &items.ids {
        Some(ids) if items.are_indicators => hash_bytes(ids[item].as_bytes()),
        _ => items.features.hash_row(item),
    }
}

/// A hash of what the items of a group are, whatever their order; copies count once.
fn hash_items(features: &Features, items: impl Iterator<Item = usize>, label: impl Fn(usize) -> u64) -> u64 {
    let mut hashes: Vec<u64> = items.map(|item| mix(features.hash_row(item), label(item))).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into_iter().fold(0, mix)
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(bytes.len() as u64, |hash, &byte| mix(hash, u64::from(byte)))
}

/// Deals cells out to folds in their order, stratum by stratum; equal ones share a fold.
fn dealt_out<S: Ord + Copy>(cells: &[(S, u64)], n_folds: usize) -> Vec<u32> {
    let mut distinct = cells.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    cells.iter().map(|cell| distinct.binary_search(cell).map_or(0, |position| (position % n_folds) as u32)).collect()
}
