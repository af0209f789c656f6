//! Sums over the pairs of a group with many labels, in O(n log n).
//!
//! The items in the order of their labels are cut in two at a change of label, and each part again: every pair of
//! different labels is split by exactly one cut. At a cut the lower and the upper part, each in the order of scores,
//! meet in one merge, which leaves for every item the place in the other part where its window ends; sums are then
//! differences of running sums. Items come down the tree in the order of their scores by stable partition, so that memory is
//! read and written in sequence; the two parts of a cut are independent of each other, and so run on different threads.

use super::windows::falls_short;

/// Parts smaller than this are not given to another thread.
const WORTH_A_THREAD: usize = 1 << 13;
const NO_NODE: u32 = u32::MAX;

/// A cut; the item places below it are those of the slice it is given.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Items in the lower part.
    n_lower: u32,
    /// The cuts of the two parts.
    lower: u32,
    upper: u32,
    /// Window ends that this cut and all below it store.
    n_ends: usize,
}

/// Where the window of an item ends at a cut, for the larger and for the smaller margin: places in the other part.
type Ends = [u32; 2];

/// An item on its way down.
#[derive(Clone, Copy, Default)]
struct Traveller {
    /// What is summed, or the score while windows are found.
    x: f64,
    /// The weight, while windows are found.
    weight: f64,
    /// The sums so far.
    sums: [f64; 2],
    /// Its place in the order of labels, from the start of the slice it is in.
    place: u32,
}

/// An item on its way down when only the sum over all partners is wanted.
#[derive(Clone, Copy, Default)]
struct Light {
    x: f64,
    sum: f64,
    place: u32,
}

/// The windows of a group with many labels.
#[derive(Debug, Clone)]
pub(super) struct LabelTree {
    nodes: Vec<Node>,
    root: u32,
    /// Each item's place in the order of labels.
    places: Vec<u32>,
    /// The items in the order of scores.
    order: Vec<u32>,
    ends: Vec<Ends>,
}

/// Sums over the partners of every item: over the worse ones, and over the better ones.
#[derive(Debug, Clone, Default)]
pub(super) struct PartnerSums {
    pub(super) worse: Vec<f64>,
    pub(super) better: Vec<f64>,
}

impl LabelTree {
    /// The tree of these labels, for n < 2³² items.
    pub(super) fn new(labels: &[f64]) -> Self {
        let mut by_label: Vec<u32> = (0..labels.len() as u32).collect();
        by_label.sort_by(|&a, &b| labels[a as usize].total_cmp(&labels[b as usize]));
        let mut places = vec![0; labels.len()];
        by_label.iter().enumerate().for_each(|(place, &item)| places[item as usize] = place as u32);
        // Where a new label begins; −0 and 0 are one label.
        let is_new = |place: usize| labels[by_label[place] as usize] != labels[by_label[place - 1] as usize];
        let starts: Vec<u32> = (1..labels.len()).filter(|&place| is_new(place)).map(|place| place as u32).collect();
        let mut nodes = Vec::with_capacity(starts.len());
        let root = cut(&mut nodes, &starts, 0, labels.len() as u32);
        let n_ends = nodes.get(root as usize).map_or(0, |node: &Node| node.n_ends);
        LabelTree { nodes, root, places, order: (0..labels.len() as u32).collect(), ends: vec![[0; 2]; n_ends] }
    }

    /// The items in the order of the scores that windows were found for.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Finds the windows for new scores and one or two margins, the larger first; says for each margin what the weights
    /// of every item's partners sum to.
    pub(super) fn find_windows(
        &mut self,
        scores: &[f64],
        weights: Option<&[f64]>,
        margins: &[f64],
    ) -> Vec<PartnerSums> {
        sort_items(scores, &mut self.order);
        let mut ends = std::mem::take(&mut self.ends);
        let mut spare = vec![Traveller::default(); scores.len()];
        let sums = margins
            .iter()
            .enumerate()
            .map(|(which, &margin)| {
                let mut items: Vec<Traveller> = self
                    .order
                    .iter()
                    .map(|&item| Traveller {
                        x: scores[item as usize],
                        weight: weights.map_or(1.0, |w| w[item as usize]),
                        sums: [0.0; 2],
                        place: self.places[item as usize],
                    })
                    .collect();
                self.merge(self.root, (margin, which), &mut items, &mut spare, true, &mut ends);
                let mut sums = PartnerSums { worse: vec![0.0; scores.len()], better: vec![0.0; scores.len()] };
                // The items have arrived in the order of labels.
                for (item, &place) in self.places.iter().enumerate() {
                    [sums.worse[item], sums.better[item]] = items[place as usize].sums;
                }
                sums
            })
            .collect();
        self.ends = ends;
        sums
    }

    /// For every item, the sum of x over its partners; with two margins, over those that lack the larger one but
    /// not the smaller one.
    pub(super) fn partner_sums(&self, n_margins: usize, x: &[f64], out: &mut [f64]) {
        let mut items: Vec<Light> = self
            .order
            .iter()
            .map(|&item| Light { x: x[item as usize], sum: 0.0, place: self.places[item as usize] })
            .collect();
        let mut spare = vec![Light::default(); x.len()];
        if n_margins == 1 {
            self.add::<1>(self.root, &mut items, &mut spare, true, &self.ends);
        } else {
            self.add::<2>(self.root, &mut items, &mut spare, true, &self.ends);
        }
        for (out, &place) in out.iter_mut().zip(&self.places) {
            *out = items[place as usize].sum;
        }
    }

    /// Finds the windows at a cut and below it. `items` come in the order of scores and leave in the order of labels, in
    /// `items` itself (`at_home`) or in `spare`.
    fn merge(
        &self,
        node: u32,
        (margin, which): (f64, usize),
        items: &mut [Traveller],
        spare: &mut [Traveller],
        at_home: bool,
        ends: &mut [Ends],
    ) {
        let Some(&Node { n_lower, lower, upper, .. }) = self.nodes.get(node as usize) else {
            return arrive(items, spare, at_home, |item| item.place);
        };
        partition(n_lower, items, spare, |item| &mut item.place);
        let (low, up) = spare.split_at_mut(n_lower as usize);
        let (own, below) = ends.split_at_mut(low.len() + up.len());
        let (low_ends, up_ends) = own.split_at_mut(low.len());
        // One merge finds both ends: that of `u` among the lower ones (all from there on are its partners), and that of
        // `l` among the upper ones (all before it).
        let (mut l, mut u) = (0, 0);
        while l < low.len() && u < up.len() {
            let is_partner = falls_short(margin, up[u].x, low[l].x);
            up_ends[u][which] = l as u32;
            low_ends[l][which] = u as u32;
            u += usize::from(is_partner);
            l += usize::from(!is_partner);
        }
        low_ends[l..].iter_mut().for_each(|end| end[which] = up.len() as u32);
        up_ends[u..].iter_mut().for_each(|end| end[which] = low.len() as u32);
        add_window_weights(low, up, low_ends, up_ends, which);
        let (lower_ends, upper_ends) = below.split_at_mut(self.n_ends(lower));
        let (low_spare, up_spare) = items.split_at_mut(low.len());
        let is_worth = low.len().min(up.len()) >= WORTH_A_THREAD;
        in_two(
            is_worth,
            || self.merge(lower, (margin, which), low, low_spare, !at_home, lower_ends),
            || self.merge(upper, (margin, which), up, up_spare, !at_home, upper_ends),
        );
    }

    fn add<const MARGINS: usize>(
        &self,
        node: u32,
        items: &mut [Light],
        spare: &mut [Light],
        at_home: bool,
        ends: &[Ends],
    ) {
        let Some(&Node { n_lower, lower, upper, .. }) = self.nodes.get(node as usize) else {
            return arrive(items, spare, at_home, |item| item.place);
        };
        partition(n_lower, items, spare, |item| &mut item.place);
        let (low, up) = spare.split_at_mut(n_lower as usize);
        let (own, below) = ends.split_at(low.len() + up.len());
        let (low_ends, up_ends) = own.split_at(low.len());
        // `items` is free now: its sums hold the running sums, each over the items before its place.
        let (low_sums, up_sums) = items.split_at_mut(low.len());
        let total_low = running_sums(low, low_sums);
        let total_up = running_sums(up, up_sums);
        let before = |sums: &[Light], end: u32, total: f64| sums.get(end as usize).map_or(total, |item| item.sum);
        for (item, ends) in up.iter_mut().zip(up_ends) {
            let from = before(low_sums, ends[0], total_low);
            item.sum += match MARGINS {
                1 => total_low - from,
                _ => before(low_sums, ends[1], total_low) - from,
            };
        }
        for (item, ends) in low.iter_mut().zip(low_ends) {
            let to = before(up_sums, ends[0], total_up);
            item.sum += match MARGINS {
                1 => to,
                _ => to - before(up_sums, ends[1], total_up),
            };
        }
        let (lower_ends, upper_ends) = below.split_at(self.n_ends(lower));
        let is_worth = low.len().min(up.len()) >= WORTH_A_THREAD;
        in_two(
            is_worth,
            || self.add::<MARGINS>(lower, low, low_sums, !at_home, lower_ends),
            || self.add::<MARGINS>(upper, up, up_sums, !at_home, upper_ends),
        );
    }

    fn n_ends(&self, node: u32) -> usize {
        self.nodes.get(node as usize).map_or(0, |node| node.n_ends)
    }
}

/// Cuts the places `from..to` at the change of label nearest to their middle; the number of the cut.
fn cut(nodes: &mut Vec<Node>, starts: &[u32], from: u32, to: u32) -> u32 {
    // Changes of label strictly inside.
    let starts = &starts[starts.partition_point(|&s| s <= from)..];
    let starts = &starts[..starts.partition_point(|&s| s < to)];
    let middle = from + (to - from) / 2;
    let after = starts.partition_point(|&s| s < middle);
    let nearest = [after.checked_sub(1), Some(after)].into_iter().flatten().filter_map(|k| starts.get(k));
    let Some(&at) = nearest.min_by_key(|s| s.abs_diff(middle)) else { return NO_NODE };
    let lower = cut(nodes, starts, from, at);
    let upper = cut(nodes, starts, at, to);
    let n_ends = |node: u32| nodes.get(node as usize).map_or(0, |node: &Node| node.n_ends);
    let n_ends = (to - from) as usize + n_ends(lower) + n_ends(upper);
    nodes.push(Node { n_lower: at - from, lower, upper, n_ends });
    nodes.len() as u32 - 1
}

/// Moves the items of the lower part to the front, each part in its order, and counts places from the start of the part.
fn partition<T: Copy>(n_lower: u32, items: &[T], out: &mut [T], place: impl Fn(&mut T) -> &mut u32) {
    let (mut low, mut up) = (0, n_lower as usize);
    for item in items {
        let mut item = *item;
        let at = *place(&mut item);
        let is_upper = at >= n_lower;
        *place(&mut item) = at - if is_upper { n_lower } else { 0 };
        out[if is_upper { up } else { low }] = item;
        low += usize::from(!is_upper);
        up += usize::from(is_upper);
    }
}

/// Items of one label go to their places.
fn arrive<T: Copy>(items: &mut [T], spare: &mut [T], at_home: bool, place: impl Fn(&T) -> u32) {
    for item in items.iter() {
        spare[place(item) as usize] = *item;
    }
    if at_home {
        items.copy_from_slice(spare);
    }
}

/// Adds what the weights of each item's partners sum to.
fn add_window_weights(low: &mut [Traveller], up: &mut [Traveller], low_ends: &[Ends], up_ends: &[Ends], which: usize) {
    // Partners of an upper item lie behind its end, so that sums run from behind; those of a lower one before it.
    let (mut sum, mut next) = (0.0, low.len());
    for (item, ends) in up.iter_mut().zip(up_ends).rev() {
        while next > ends[which] as usize {
            next -= 1;
            sum += low[next].weight;
        }
        item.sums[0] += sum;
    }
    let (mut sum, mut next) = (0.0, 0);
    for (item, ends) in low.iter_mut().zip(low_ends) {
        while next < ends[which] as usize {
            sum += up[next].weight;
            next += 1;
        }
        item.sums[1] += sum;
    }
}

/// Writes the sum of everything before each place; the sum of all.
fn running_sums(items: &[Light], out: &mut [Light]) -> f64 {
    let mut sum = 0.0;
    for (item, out) in items.iter().zip(out) {
        out.sum = sum;
        sum += item.x;
    }
    sum
}

fn in_two(on_two_threads: bool, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    if on_two_threads {
        rayon::join(a, b);
    } else {
        a();
        b();
    }
}

/// Sorts items by score, equal ones by number; from the order they had.
fn sort_items(scores: &[f64], order: &mut [u32]) {
    use rayon::slice::ParallelSliceMut;
    let by_score = |a: &u32, b: &u32| scores[*a as usize].total_cmp(&scores[*b as usize]).then(a.cmp(b));
    if order.len() >= WORTH_A_THREAD {
        order.par_sort_by(by_score);
    } else {
        order.sort_by(by_score);
    }
}
