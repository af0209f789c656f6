//! Pairs of items with different labels, one by one: some at random, or all of them as differences of features.

use super::random::mix;
use super::{Features, Pair, Precision, Ranking};
use crate::error::{Error, Result};

/// For every item, `per_item` random partners of its group whose label is another one (Herbrich's pairs, thinned): uniform
/// without replacement, and all of them where there are no more. In a pair `right` is the better item. A pair that both of
/// its items have drawn is there twice; with as many partners as there are, every pair is. Items and groups of weight 0 have no
/// pairs.
///
/// What an item draws depends on the seed, its number and the labels of its group alone.
pub fn drawn_pairs(data: &Ranking, per_item: usize, seed: u64) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (group, members) in data.groups.members().iter().enumerate().filter(|(g, _)| data.group_weight(*g) > 0.0) {
        debug_assert!(group < data.groups.len());
        let items: Vec<u32> = members.iter().copied().filter(|&item| data.weight(item as usize) > 0.0).collect();
        let labels: Vec<f64> = items.iter().map(|&item| data.labels[item as usize]).collect();
        let drawn = draw_partners(&items, &labels, per_item, seed);
        pairs.extend(
            drawn
                .into_iter()
                .map(|(better, worse)| Pair { left: items[worse as usize], right: items[better as usize] }),
        );
    }
    pairs
}

/// The same for one group: (better, worse), as places in `items`.
pub(crate) fn draw_partners(items: &[u32], labels: &[f64], per_item: usize, seed: u64) -> Vec<(u32, u32)> {
    let n = items.len();
    let mut by_label: Vec<u32> = (0..n as u32).collect();
    by_label.sort_by(|&a, &b| labels[a as usize].total_cmp(&labels[b as usize]).then(a.cmp(&b)));
    // Where the label at each place begins, and ends.
    let is_new = |place: usize| labels[by_label[place] as usize] != labels[by_label[place - 1] as usize];
    let (mut starts, mut ends) = (vec![0; n], vec![n; n]);
    for place in 1..n {
        starts[place] = if is_new(place) { place } else { starts[place - 1] };
    }
    for place in (1..n).rev() {
        ends[place - 1] = if is_new(place) { place } else { ends[place] };
    }
    let mut pairs = Vec::new();
    let mut is_drawn = vec![false; n];
    let mut drawn: Vec<usize> = Vec::new();
    for place in 0..n {
        let item = by_label[place];
        let (start, end) = (starts[place], ends[place]);
        let n_partners = n - (end - start);
        let mut hash = mix(seed, u64::from(items[item as usize]));
        let mut below = |bound: usize| {
            hash = mix(hash, 1);
            ((u128::from(hash) * bound as u128) >> 64) as usize
        };
        // Floyd's way to draw without replacement: one number for each.
        drawn.clear();
        for bound in n_partners.saturating_sub(per_item)..n_partners {
            let number = below(bound + 1);
            let number = if is_drawn[number] { bound } else { number };
            is_drawn[number] = true;
            drawn.push(number);
        }
        for &number in &drawn {
            is_drawn[number] = false;
            // Partners stand around the run of the item's own label.
            let partner = by_label[if number < start { number } else { number + (end - start) }];
            pairs.push(if number < start { (item, partner) } else { (partner, item) });
        }
    }
    pairs
}

/// Differences of two items of a group with different labels, with which of the two is better: a ranking as classification.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PairwiseTransform {
    /// One row per pair: x_left − x_right.
    pub features: Features,
    /// +1 where the left item is better, −1 where the right one is.
    pub labels: Vec<f64>,
    /// The items.
    pub pairs: Vec<Pair>,
    /// weight_left·weight_right·(weight of the group); `None`: all 1.
    pub weights: Option<Vec<f64>>,
}

/// The pairwise transform: the differences of all pairs of items with different labels in one group, in the order of the items.
/// Sides are chosen so that labels +1 and −1 alternate, and both classes are equally large (but for one pair).
///
/// A classifier without a bias whose loss is that of [`RankSvm`](crate::RankSvm) learns from these the same weights, from n² rows
/// instead of n: this is for other classifiers, for pictures and for tests. More than `max_pairs` pairs are an error.
///
/// ```
/// use rankwise::data::{Features, Items, Precision, Ranking, pairwise_transform};
///
/// let items = Items::new(Features::dense(1, vec![1.0, 5.0, 4.0], Precision::F64)?, None, None)?;
/// let pairs = pairwise_transform(&Ranking::new(items, vec![0.0, 2.0, 1.0], None)?, 1000)?;
/// assert_eq!(pairs.labels, [1.0, -1.0, 1.0]);
/// assert_eq!(pairs.features.to_dense(), [4.0, -3.0, 1.0]);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn pairwise_transform(data: &Ranking, max_pairs: u64) -> Result<PairwiseTransform> {
    let members = data.groups.members();
    let counts = |group: usize, item: u32| data.weight(item as usize) * data.group_weight(group) > 0.0;
    let n_pairs: u64 =
        members.iter().enumerate().map(|(group, items)| count_pairs(data, items, |item| counts(group, item))).sum();
    if n_pairs > max_pairs {
        return Err(Error::Unsupported {
            problem: format!("the pairwise transform would have {n_pairs} rows, one per pair; {max_pairs} are allowed"),
            remedy: "rank with RankSvm, which learns the same from the items and forms no pair, or allow for more"
                .into(),
        });
    }
    let numbers = data.groups.numbers();
    // How many members of each group have been passed.
    let mut passed = vec![0; data.groups.len()];
    let (mut pairs, mut labels) = (Vec::new(), Vec::new());
    for first in 0..data.n_items() as u32 {
        let group = numbers[first as usize] as usize;
        passed[group] += 1;
        let later = members.of(group)[passed[group]..].iter().copied();
        for second in later.filter(|&second| counts(group, first) && counts(group, second)) {
            let (a, b) = (data.labels[first as usize], data.labels[second as usize]);
            if a != b {
                let label = if pairs.len() % 2 == 0 { 1.0 } else { -1.0 };
                let is_kept = (a > b) == (label > 0.0);
                pairs.push(if is_kept {
                    Pair { left: first, right: second }
                } else {
                    Pair { left: second, right: first }
                });
                labels.push(label);
            }
        }
    }
    let weight = |pair: &Pair| {
        let group = numbers[pair.left as usize] as usize;
        data.weight(pair.left as usize) * data.weight(pair.right as usize) * data.group_weight(group)
    };
    let is_weighted = data.weights.is_some() || data.group_weights.is_some();
    let weights = is_weighted.then(|| pairs.iter().map(weight).collect());
    Ok(PairwiseTransform { features: differences(&data.items.features, &pairs)?, labels, pairs, weights })
}

/// Pairs of different labels among some items.
fn count_pairs(data: &Ranking, items: &[u32], counts: impl Fn(u32) -> bool) -> u64 {
    let mut labels: Vec<f64> =
        items.iter().filter(|&&item| counts(item)).map(|&item| data.labels[item as usize]).collect();
    labels.sort_unstable_by(f64::total_cmp);
    let (mut n_pairs, mut n_before) = (0, 0);
    for run in labels.chunk_by(|a, b| a == b) {
        n_pairs += n_before * run.len() as u64;
        n_before += run.len() as u64;
    }
    n_pairs
}

/// x_left − x_right of every pair, stored as the features are, in f64.
fn differences(features: &Features, pairs: &[Pair]) -> Result<Features> {
    let d = features.n_cols();
    if !features.is_sparse() {
        let mut values = vec![0.0; pairs.len() * d];
        for (row, pair) in values.chunks_exact_mut(d.max(1)).zip(pairs) {
            features.for_each_in_row(pair.left as usize, |column, value| row[column] = value);
            features.for_each_in_row(pair.right as usize, |column, value| row[column] -= value);
        }
        return Features::dense(d, values, Precision::F64);
    }
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for pair in pairs {
        let mut entries: Vec<(usize, f64)> = Vec::new();
        features.for_each_in_row(pair.left as usize, |column, value| entries.push((column, value)));
        features.for_each_in_row(pair.right as usize, |column, value| entries.push((column, -value)));
        entries.sort_by_key(|entry| entry.0);
        for of_column in entries.chunk_by(|a, b| a.0 == b.0) {
            columns.push(of_column[0].0 as u32);
            values.push(of_column.iter().map(|entry| entry.1).sum());
        }
        starts.push(values.len());
    }
    Features::sparse(d, starts, columns, values)
}
