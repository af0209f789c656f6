//! Sums over the pairs of a group with many labels, in O(n log n).
//!
//! The items in the order of their labels are cut in two at a change of label, and each part again: every pair of
//! different labels is split by exactly one cut. At a cut the lower and the upper part, each in the order of scores,
//! meet in one merge, which leaves for every item the place in the other part where its window ends; sums are then
//! differences of running sums. Items come down the tree in the order of their scores by stable partition, so that memory is
//! read and written in sequence; the two parts of a cut are independent of each other, and so run on different threads.

use rayon::slice::ParallelSliceMut;

use super::windows::falls_short;

/// Parts smaller than this are not given to another thread.
const WORTH_A_THREAD: usize = 1 << 13;
const NO_NODE: u32 = u32::MAX;

/// A cut; places below it count from the start of the part that it cuts.
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

/// The windows of a group with many labels.
#[derive(Debug, Clone)]
pub(super) struct LabelTree {
    nodes: Vec<Node>,
    root: u32,
    /// Each item's place in the order of labels.
    places: Vec<u32>,
    /// The items in the order of scores.
    order: Vec<u32>,
    /// For each margin, the larger first: where the window of an item ends in the other part of a cut.
    ends: [Vec<u32>; 2],
    /// Where items travel: kept from one journey to the next.
    rooms: [Vec<Room>; 2],
}

/// Room for an item on its way.
type Room = [u64; 3];

/// Sums over the partners of every item: over the worse ones, and over the better ones.
#[derive(Debug, Clone, Default)]
pub(super) struct PartnerSums {
    pub(super) worse: Vec<f64>,
    pub(super) better: Vec<f64>,
}

/// An item on its way down to its place.
trait Traveller: Copy + Default + Send {
    fn place(&self) -> u32;
    fn set_place(&mut self, place: u32);
}

/// How partners are counted while windows are found: one by one, or by weight.
trait Seeker: Traveller {
    fn new(score: f64, weight: f64, place: u32) -> Self;
    fn score(&self) -> f64;
    /// Sums over worse and over better partners.
    fn sums(&self) -> [f64; 2];
    /// Adds the partners that the ends at a cut say.
    fn meet(low: &mut [Self], up: &mut [Self], low_ends: &[u32], up_ends: &[u32]);
}

macro_rules! travels {
    ($Name:ident) => {
        impl Traveller for $Name {
            #[inline(always)]
            fn place(&self) -> u32 {
                self.place
            }
            #[inline(always)]
            fn set_place(&mut self, place: u32) {
                self.place = place;
            }
        }
    };
}

/// An item whose partners are counted.
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Counted {
    score: f64,
    n_worse: u32,
    n_better: u32,
    place: u32,
    unused: u32,
}
travels!(Counted);

impl Seeker for Counted {
    fn new(score: f64, _: f64, place: u32) -> Self {
        Counted { score, place, ..Counted::default() }
    }

    #[inline(always)]
    fn score(&self) -> f64 {
        self.score
    }

    fn sums(&self) -> [f64; 2] {
        [f64::from(self.n_worse), f64::from(self.n_better)]
    }

    fn meet(low: &mut [Self], up: &mut [Self], low_ends: &[u32], up_ends: &[u32]) {
        let n_lower = low.len() as u32;
        up.iter_mut().zip(up_ends).for_each(|(item, end)| item.n_worse += n_lower - end);
        low.iter_mut().zip(low_ends).for_each(|(item, end)| item.n_better += end);
    }
}

/// An item whose partners are weighed.
#[derive(Clone, Copy, Default)]
struct Weighed {
    score: f64,
    weight: f64,
    worse: f64,
    better: f64,
    place: u32,
}
travels!(Weighed);

impl Seeker for Weighed {
    fn new(score: f64, weight: f64, place: u32) -> Self {
        Weighed { score, weight, place, ..Weighed::default() }
    }

    #[inline(always)]
    fn score(&self) -> f64 {
        self.score
    }

    fn sums(&self) -> [f64; 2] {
        [self.worse, self.better]
    }

    fn meet(low: &mut [Self], up: &mut [Self], low_ends: &[u32], up_ends: &[u32]) {
        // Partners of an upper item lie behind its end, so that sums run from behind; those of a lower one before it.
        let (mut sum, mut next) = (0.0, low.len());
        for (item, &end) in up.iter_mut().zip(up_ends).rev() {
            while next > end as usize {
                next -= 1;
                sum += low[next].weight;
            }
            item.worse += sum;
        }
        let (mut sum, mut next) = (0.0, 0);
        for (item, &end) in low.iter_mut().zip(low_ends) {
            while next < end as usize {
                sum += up[next].weight;
                next += 1;
            }
            item.better += sum;
        }
    }
}

/// An item with a number that is summed over the partners of others, or sorted by.
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Bearer {
    x: f64,
    sum: f64,
    place: u32,
    unused: u32,
}
travels!(Bearer);

impl LabelTree {
    /// The tree of these labels, for n < 2³² items.
    pub(super) fn new(labels: &[f64]) -> Self {
        let new = |(&x, place): (&f64, u32)| Bearer { x, place, ..Bearer::default() };
        let mut by_label: Vec<Bearer> = labels.iter().zip(0..).map(new).collect();
        sort(&mut by_label);
        let mut places = vec![0; labels.len()];
        by_label.iter().zip(0..).for_each(|(label, place)| places[label.place as usize] = place);
        // Where a new label begins; −0 and 0 are one label.
        let is_new = |place: usize| by_label[place].x != by_label[place - 1].x;
        let starts: Vec<u32> = (1..labels.len()).filter(|&place| is_new(place)).map(|place| place as u32).collect();
        let mut nodes = Vec::with_capacity(starts.len());
        let root = cut(&mut nodes, &starts, 0, labels.len() as u32);
        let order = (0..labels.len() as u32).collect();
        LabelTree { nodes, root, places, order, ends: Default::default(), rooms: Default::default() }
    }

    /// The items in the order of the scores that windows were found for.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// For each item the rank of its label among the distinct ones.
    pub(super) fn label_ranks(&self) -> Vec<u32> {
        let mut starts = Vec::with_capacity(self.nodes.len());
        self.add_starts(self.root, 0, &mut starts);
        self.places.iter().map(|place| starts.partition_point(|start| start <= place) as u32).collect()
    }

    /// Adds the places where labels change below a cut, in order; its part begins at `from`.
    fn add_starts(&self, node: u32, from: u32, starts: &mut Vec<u32>) {
        if let Some(&Node { n_lower, lower, upper, .. }) = self.nodes.get(node as usize) {
            self.add_starts(lower, from, starts);
            starts.push(from + n_lower);
            self.add_starts(upper, from + n_lower, starts);
        }
    }

    /// Finds the windows for new scores and one or two margins, the larger first; says for each margin what the weights
    /// of every item's partners sum to.
    pub(super) fn find_windows(
        &mut self,
        scores: &[f64],
        weights: Option<&[f64]>,
        margins: &[f64],
    ) -> Vec<PartnerSums> {
        let mut rooms = self.take_rooms();
        let sorted: &mut [Bearer] = bytemuck::cast_slice_mut(&mut rooms[0]);
        for (to, &item) in sorted.iter_mut().zip(&self.order) {
            *to = Bearer { x: scores[item as usize], place: item, ..Bearer::default() };
        }
        sort(sorted);
        self.order.iter_mut().zip(sorted).for_each(|(to, from)| *to = from.place);
        let find = |(which, &margin): (usize, &f64)| match weights {
            None => {
                let [items, spare] = rooms.each_mut().map(|room| bytemuck::cast_slice_mut(room));
                self.seek::<Counted>(scores, |_| 1.0, (margin, which), items, spare)
            }
            Some(weights) => {
                let [mut items, mut spare] = [(); 2].map(|()| vec![Weighed::default(); scores.len()]);
                self.seek(scores, |item| weights[item], (margin, which), &mut items, &mut spare)
            }
        };
        let sums = margins.iter().enumerate().map(find).collect();
        self.rooms = rooms;
        sums
    }

    /// Gives memory back that the next journey makes anew.
    pub(super) fn rest(&mut self) {
        self.rooms = Default::default();
    }

    /// Bytes it has at rest once windows were found.
    pub(super) fn bytes(&self, n_margins: usize) -> usize {
        let windows = 4 * n_margins * self.n_ends(self.root);
        size_of::<LabelTree>() + 8 * self.places.len() + size_of::<Node>() * self.nodes.len() + windows
    }

    fn take_rooms(&mut self) -> [Vec<Room>; 2] {
        let mut rooms = std::mem::take(&mut self.rooms);
        rooms.iter_mut().for_each(|room| room.resize(self.places.len(), Room::default()));
        rooms
    }

    fn seek<S: Seeker>(
        &mut self,
        scores: &[f64],
        weight: impl Fn(usize) -> f64,
        (margin, which): (f64, usize),
        items: &mut [S],
        spare: &mut [S],
    ) -> PartnerSums {
        let new = |&item: &u32| S::new(scores[item as usize], weight(item as usize), self.places[item as usize]);
        items.iter_mut().zip(&self.order).for_each(|(to, item)| *to = new(item));
        let mut ends = std::mem::take(&mut self.ends[which]);
        ends.resize(self.n_ends(self.root), 0);
        self.merge(self.root, margin, items, spare, true, &mut ends);
        self.ends[which] = ends;
        // The items have arrived in the order of labels.
        let mut sums = PartnerSums { worse: vec![0.0; scores.len()], better: vec![0.0; scores.len()] };
        for (item, &place) in self.places.iter().enumerate() {
            [sums.worse[item], sums.better[item]] = items[place as usize].sums();
        }
        sums
    }

    /// For every item, the sum of x over its partners; with two margins, over those that lack the larger one but
    /// not the smaller one.
    pub(super) fn partner_sums(&mut self, n_margins: usize, x: &[f64], out: &mut [f64]) {
        let mut rooms = self.take_rooms();
        let [items, spare] = rooms.each_mut().map(|room| bytemuck::cast_slice_mut::<Room, Bearer>(room));
        for (to, &item) in items.iter_mut().zip(&self.order) {
            *to = Bearer { x: x[item as usize], place: self.places[item as usize], ..Bearer::default() };
        }
        let [large, small] = &self.ends;
        self.add(self.root, items, spare, true, large, (n_margins == 2).then_some(small));
        for (out, &place) in out.iter_mut().zip(&self.places) {
            *out = items[place as usize].sum;
        }
        self.rooms = rooms;
    }

    /// Finds the windows at a cut and below it. `items` come in the order of scores and leave in the order of labels, in
    /// `items` itself (`at_home`) or in `spare`.
    fn merge<S: Seeker>(
        &self,
        node: u32,
        margin: f64,
        items: &mut [S],
        spare: &mut [S],
        at_home: bool,
        ends: &mut [u32],
    ) {
        let Some(&Node { n_lower, lower, upper, .. }) = self.nodes.get(node as usize) else {
            return arrive(items, spare, at_home);
        };
        partition(n_lower, items, spare);
        let (low, up) = spare.split_at_mut(n_lower as usize);
        let (own, below) = ends.split_at_mut(low.len() + up.len());
        let (low_ends, up_ends) = own.split_at_mut(low.len());
        // One merge finds both ends: that of `u` among the lower ones (all from there on are its partners), and that of
        // `l` among the upper ones (all before it).
        let (mut l, mut u) = (0, 0);
        while l < low.len() && u < up.len() {
            let is_partner = falls_short(margin, up[u].score(), low[l].score());
            up_ends[u] = l as u32;
            low_ends[l] = u as u32;
            u += usize::from(is_partner);
            l += usize::from(!is_partner);
        }
        low_ends[l..].fill(up.len() as u32);
        up_ends[u..].fill(low.len() as u32);
        S::meet(low, up, low_ends, up_ends);
        let (lower_ends, upper_ends) = below.split_at_mut(self.n_ends(lower));
        let (low_spare, up_spare) = items.split_at_mut(low.len());
        in_two(
            low.len().min(up.len()) >= WORTH_A_THREAD,
            || self.merge(lower, margin, low, low_spare, !at_home, lower_ends),
            || self.merge(upper, margin, up, up_spare, !at_home, upper_ends),
        );
    }

    /// Adds the sums over partners at a cut and below it, travelling like [`LabelTree::merge`].
    fn add(
        &self,
        node: u32,
        items: &mut [Bearer],
        spare: &mut [Bearer],
        at_home: bool,
        large: &[u32],
        small: Option<&[u32]>,
    ) {
        let Some(&Node { n_lower, lower, upper, .. }) = self.nodes.get(node as usize) else {
            return arrive(items, spare, at_home);
        };
        partition(n_lower, items, spare);
        let (low, up) = spare.split_at_mut(n_lower as usize);
        // `items` is free now: its sums hold the running sums, each over the items before its place.
        let (low_sums, up_sums) = items.split_at_mut(low.len());
        let (total_low, total_up) = (running_sums(low, low_sums), running_sums(up, up_sums));
        let before = |sums: &[Bearer], end: u32, total: f64| sums.get(end as usize).map_or(total, |item| item.sum);
        let (own, large_below) = large.split_at(low.len() + up.len());
        let (low_ends, up_ends) = own.split_at(low.len());
        up.iter_mut().zip(up_ends).for_each(|(item, &end)| item.sum += total_low - before(low_sums, end, total_low));
        low.iter_mut().zip(low_ends).for_each(|(item, &end)| item.sum += before(up_sums, end, total_up));
        let small_below = small.map(|small| {
            let (own, below) = small.split_at(low.len() + up.len());
            let (low_ends, up_ends) = own.split_at(low.len());
            up.iter_mut()
                .zip(up_ends)
                .for_each(|(item, &end)| item.sum -= total_low - before(low_sums, end, total_low));
            low.iter_mut().zip(low_ends).for_each(|(item, &end)| item.sum -= before(up_sums, end, total_up));
            below
        });
        let at = self.n_ends(lower);
        let (lower_large, upper_large) = large_below.split_at(at);
        let (lower_small, upper_small) = small_below.map(|below| below.split_at(at)).unzip();
        in_two(
            low.len().min(up.len()) >= WORTH_A_THREAD,
            || self.add(lower, low, low_sums, !at_home, lower_large, lower_small),
            || self.add(upper, up, up_sums, !at_home, upper_large, upper_small),
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
fn partition<T: Traveller>(n_lower: u32, items: &[T], out: &mut [T]) {
    let (mut low, mut up) = (0, n_lower as usize);
    for item in items {
        let mut item = *item;
        let is_upper = item.place() >= n_lower;
        item.set_place(item.place() - if is_upper { n_lower } else { 0 });
        out[if is_upper { up } else { low }] = item;
        low += usize::from(!is_upper);
        up += usize::from(is_upper);
    }
}

/// Items of one label go to their places.
fn arrive<T: Traveller>(items: &mut [T], spare: &mut [T], at_home: bool) {
    if let ([item], [spare]) = (&*items, &mut *spare) {
        *spare = *item;
        return;
    }
    for item in items.iter() {
        spare[item.place() as usize] = *item;
    }
    if at_home {
        items.copy_from_slice(spare);
    }
}

/// Writes the sum of everything before each place; the sum of all.
fn running_sums(items: &[Bearer], out: &mut [Bearer]) -> f64 {
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

/// Sorts by number, equal ones by place.
fn sort(items: &mut [Bearer]) {
    let by_number = |a: &Bearer, b: &Bearer| a.x.total_cmp(&b.x).then(a.place.cmp(&b.place));
    if items.len() >= WORTH_A_THREAD {
        items.par_sort_unstable_by(by_number);
    } else {
        items.sort_unstable_by(by_number);
    }
}
