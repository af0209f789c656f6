//! Pairs of items drawn one at a time, each in proportion to its weight: uniformly where nothing has a weight.
//!
//! With the items of a group in the order of their labels, the item at place p is better than the ones before its label
//! begins. Its pairs weigh  factor·v_p·Σ v  over those together; a place is drawn by that in constant time, then a partner
//! among them, in O(log n) where items have weights and in O(1) where not. No pair is ever listed.

use super::{RankCounts, Weighing};
use crate::data::{Alias, Features, Random, Ranking};
use crate::problem::RandomTerms;

/// Pairs that are drawn ahead, so that their rows can be fetched in time.
const AHEAD: usize = 256;
/// How far ahead rows are asked for.
const FETCHED: usize = 6;
/// Pairs that tell how long differences are.
const TELLING_PAIRS: usize = 1024;

/// An item that is better than another one.
#[derive(Debug, Clone, Copy)]
struct Place {
    row: u32,
    /// Its worse items are those from here
    group_start: u32,
    /// up to here in the order of labels.
    label_start: u32,
}

/// What can be drawn.
#[derive(Debug)]
pub(crate) struct PairDraws {
    /// Rows group by group, in the order of labels.
    rows: Vec<u32>,
    /// For each of them the weights of those before it in its group; empty where nothing has a weight.
    before: Vec<f64>,
    /// The items that are better than others, drawn by the weights of their pairs.
    places: Vec<Place>,
    alias: Option<Alias>,
    counts: RankCounts,
    mass: f64,
}

impl PairDraws {
    /// All pairs of a ranking; items and groups of weight 0 are absent.
    pub(crate) fn new(data: &Ranking, weighing: Weighing) -> Self {
        let mut draws = PairDraws {
            rows: Vec::with_capacity(data.n_items()),
            before: Vec::new(),
            places: Vec::with_capacity(data.n_items()),
            alias: None,
            counts: RankCounts::default(),
            mass: 0.0,
        };
        let mut masses = Vec::with_capacity(data.n_items());
        for (group, items) in data.groups.members().iter().enumerate() {
            if data.group_weight(group) > 0.0 {
                draws.add_group(data, group, items, weighing, &mut masses);
            }
        }
        draws.mass = masses.iter().sum();
        if draws.mass > 0.0 && draws.mass.is_finite() {
            draws.alias = Some(Alias::new(&masses));
        }
        draws
    }

    fn add_group(&mut self, data: &Ranking, group: usize, items: &[u32], weighing: Weighing, masses: &mut Vec<f64>) {
        let start = self.rows.len();
        self.rows.extend(items.iter().copied().filter(|&i| data.weight(i as usize) > 0.0));
        let label = |row: u32| data.labels[row as usize];
        self.rows[start..].sort_by(|&a, &b| label(a).total_cmp(&label(b)));
        // Zeros of either sign are the same label.
        let rows = &self.rows[start..];
        if rows.first().is_none_or(|&first| rows.last().is_some_and(|&last| label(first) == label(last))) {
            self.rows.truncate(start);
            self.counts.n_dropped += 1;
            return;
        }
        let n_masses = masses.len();
        let (mut label_start, mut before, mut before_label, mut n_pairs) = (start, 0.0, 0.0, 0);
        for at in start..self.rows.len() {
            let row = self.rows[at];
            if at > start && label(self.rows[at - 1]) != label(row) {
                (label_start, before_label) = (at, before);
            }
            let weight = data.weight(row as usize);
            if data.weights.is_some() {
                self.before.push(before);
            }
            before += weight;
            if label_start > start {
                n_pairs += (label_start - start) as u64;
                self.places.push(Place { row, group_start: start as u32, label_start: label_start as u32 });
                masses.push(weight * before_label);
            }
        }
        let mut factor = data.group_weight(group);
        if weighing == Weighing::Balanced {
            factor /= masses[n_masses..].iter().sum::<f64>();
        }
        masses[n_masses..].iter_mut().for_each(|mass| *mass *= factor);
        self.counts.n_items += self.rows.len() - start;
        self.counts.n_groups += 1;
        self.counts.n_pairs += n_pairs;
    }

    /// What was found in the data.
    pub(crate) fn counts(&self) -> RankCounts {
        self.counts
    }

    /// The weights of all pairs.
    pub(crate) fn mass(&self) -> f64 {
        self.mass
    }

    /// A pair, the better item first; of no pairs none.
    #[inline]
    fn draw(&self, random: &mut Random) -> Option<(u32, u32)> {
        let place = &self.places[self.alias.as_ref()?.draw(random)];
        let (start, end) = (place.group_start as usize, place.label_start as usize);
        let partner = if self.before.is_empty() {
            start + random.below(end - start)
        } else {
            let target = random.uniform() * self.before[end];
            let n = self.before[start..end].partition_point(|&before| before <= target);
            start + n.saturating_sub(1)
        };
        Some((place.row, self.rows[partner]))
    }

    /// How likely each pair is drawn.
    #[cfg(test)]
    pub(super) fn chances(&self) -> Vec<((u32, u32), f64)> {
        let mut chances = Vec::new();
        let Some(alias) = &self.alias else { return chances };
        for (place, chance) in self.places.iter().zip(alias.chances()) {
            for partner in place.group_start as usize..place.label_start as usize {
                let share = if self.before.is_empty() {
                    1.0 / f64::from(place.label_start - place.group_start)
                } else {
                    (self.before[partner + 1] - self.before[partner]) / self.before[place.label_start as usize]
                };
                chances.push(((place.row, self.rows[partner]), chance * share));
            }
        }
        chances
    }
}

/// The hinge losses of pairs that are drawn.
#[derive(Debug)]
pub(crate) struct PairTerms<'a> {
    features: &'a Features,
    draws: PairDraws,
    random: Random,
    ahead: Vec<(u32, u32)>,
    next: usize,
    drawn: (u32, u32),
}

impl<'a> PairTerms<'a> {
    /// The pairs of a ranking.
    pub(crate) fn new(data: &'a Ranking, weighing: Weighing) -> Self {
        PairTerms {
            features: &data.items.features,
            draws: PairDraws::new(data, weighing),
            random: Random::new(0),
            ahead: Vec::new(),
            next: 0,
            drawn: (0, 0),
        }
    }

    /// What can be drawn.
    pub(crate) fn draws(&self) -> &PairDraws {
        &self.draws
    }

    /// Starts a stream of random numbers.
    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.random = Random::new(seed);
        self.ahead.clear();
        self.next = 0;
    }

    fn fetch(&self, at: usize) {
        if let Some(&(better, worse)) = self.ahead.get(at) {
            self.features.prefetch(better);
            self.features.prefetch(worse);
        }
    }

    #[cold]
    fn draw_ahead(&mut self) {
        self.ahead.clear();
        for _ in 0..AHEAD {
            self.ahead.extend(self.draws.draw(&mut self.random));
        }
        self.next = 0;
        (0..FETCHED).for_each(|at| self.fetch(at));
    }
}

impl RandomTerms for PairTerms<'_> {
    #[inline]
    fn draw(&mut self, direction: &[f64], scale: f64) -> bool {
        if self.next >= self.ahead.len() {
            self.draw_ahead();
        }
        self.fetch(self.next + FETCHED);
        let Some(&drawn) = self.ahead.get(self.next) else { return false };
        self.next += 1;
        self.drawn = drawn;
        scale * self.features.dot_difference(drawn.0, drawn.1, &direction[..self.features.n_cols()]) < 1.0
    }

    #[inline]
    fn descend(&mut self, direction: &mut [f64], factor: f64, other: Option<(&mut [f64], f64)>) {
        let n_cols = self.features.n_cols();
        let other = other.map(|(other, factor)| (&mut other[..n_cols], factor));
        self.features.add_difference(self.drawn.0, self.drawn.1, &mut direction[..n_cols], factor, other);
    }

    fn mean_square(&mut self) -> f64 {
        let mut random = Random::new(0);
        let pairs = (0..TELLING_PAIRS).filter_map(|_| self.draws.draw(&mut random));
        pairs.map(|(better, worse)| self.features.squared_distance(better, Some(worse)) / TELLING_PAIRS as f64).sum()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{PairDraws, PairTerms, Weighing};
    use crate::data::{Features, Groups, Items, Precision, Random, Ranking};
    use crate::problem::{BlockSums, RandomTerms, RankSums, Shape};

    /// Groups of all kinds: one label, one item, equal labels, zeros of both signs, weights of 0.
    pub(in crate::problem::rank) fn hard_ranking(is_weighted: bool) -> Ranking {
        let labels = [2.0, 0.0, -0.0, 1.0, 0.0, 7.0, 1.0, 1.0, 1e300, -1e300, 3.0, 3.0, 5.0, 0.5, 2.0, 2.0];
        let groups = ["a", "b", "a", "a", "a", "c", "b", "d", "e", "e", "a", "f", "f", "g", "g", "g"];
        let mut random = Random::new(11);
        let features = (0..16 * 3).map(|_| random.normal()).collect();
        let items = Items::new(Features::dense(3, features, Precision::F64).unwrap(), None, None).unwrap();
        let data = Ranking::new(items, labels.to_vec(), Some(Groups::from_ids(groups))).unwrap();
        if !is_weighted {
            return data;
        }
        let weights: Vec<f64> = (0..16).map(|i| if i == 3 { 0.0 } else { 0.25 + random.uniform() }).collect();
        let data = data.with_weights(weights).unwrap();
        data.with_group_weights(vec![1.0, 3.0, 1.0, 1.0, 0.5, 0.0, 2.0]).unwrap()
    }

    /// Every pair is as likely as it is heavy, and there are no others.
    #[test]
    fn pairs_are_drawn_by_weight() {
        for (is_weighted, weighing) in [
            (false, Weighing::AsGiven),
            (true, Weighing::AsGiven),
            (false, Weighing::Balanced),
            (true, Weighing::Balanced),
        ] {
            let data = hard_ranking(is_weighted);
            let numbers = data.groups.numbers();
            let weight = |i: usize, j: usize| {
                let is_pair = numbers[i] == numbers[j] && data.labels[i] > data.labels[j];
                let weight = data.weight(i) * data.weight(j) * data.group_weight(numbers[i] as usize);
                if is_pair { weight } else { 0.0 }
            };
            let n = data.n_items();
            let all: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).collect();
            let in_group = |g: u32| all.iter().filter(|p| numbers[p.0] == g).map(|&(i, j)| weight(i, j)).sum::<f64>();
            let cost = |i: usize, j: usize| match weighing {
                Weighing::Balanced if weight(i, j) > 0.0 => {
                    weight(i, j) / in_group(numbers[i]) * data.group_weight(numbers[i] as usize)
                }
                _ => weight(i, j),
            };
            let total: f64 = all.iter().map(|&(i, j)| cost(i, j)).sum();
            let draws = PairDraws::new(&data, weighing);
            assert!((draws.mass() - total).abs() < 1e-12 * total);
            let mut found = vec![0.0; n * n];
            draws.chances().iter().for_each(|&((i, j), chance)| found[i as usize * n + j as usize] += chance);
            for &(i, j) in &all {
                assert!((found[i * n + j] - cost(i, j) / total).abs() < 1e-13, "{i} over {j}");
                assert_eq!(found[i * n + j] > 0.0, cost(i, j) > 0.0);
            }
            let sums = RankSums::new(&data, |_| true, None, Shape::Hinge(1.0), 1.0, weighing, None);
            assert_eq!(draws.counts(), sums.counts());
            // What is drawn has those chances.
            let (mut random, n_drawn) = (Random::new(5), 40_000);
            let mut seen = vec![0.0; n * n];
            for _ in 0..n_drawn {
                let (i, j) = draws.draw(&mut random).unwrap();
                seen[i as usize * n + j as usize] += 1.0 / n_drawn as f64;
            }
            for (seen, chance) in seen.iter().zip(&found) {
                assert!((seen - chance).abs() < 0.015, "{seen} {chance}");
            }
        }
    }

    /// The mean slope over everything that can be drawn, by its chances, is the slope of the objective's losses.
    #[test]
    fn the_mean_slope_is_the_slope_of_all_losses() {
        for is_weighted in [false, true] {
            let data = hard_ranking(is_weighted);
            let weights = [0.3, -0.2, 0.1];
            let features = &data.items.features;
            let mut terms = PairTerms::new(&data, Weighing::AsGiven);
            let mut mean = vec![0.0; 3];
            for ((better, worse), chance) in terms.draws().chances() {
                if features.dot_difference(better, worse, &weights) < 1.0 {
                    features.add_difference(better, worse, &mut mean, -chance, None);
                }
            }
            // So narrow a kink holds no pair.
            let mut sums = RankSums::new(&data, |_| true, None, Shape::Hinge(1e-6), 1.0, Weighing::AsGiven, None);
            let gradient = sums.go_to(&weights).gradient;
            for (mean, slope) in mean.iter().zip(&gradient) {
                assert!((mean * sums.mass() - slope).abs() < 1e-9 * sums.mass(), "{mean} {slope}");
            }
            terms.set_seed(1);
            let n_drawn = 50_000;
            let mut seen = vec![0.0; 3];
            for _ in 0..n_drawn {
                if terms.draw(&weights, 1.0) {
                    terms.descend(&mut seen, -1.0 / n_drawn as f64, None);
                }
            }
            for (seen, mean) in seen.iter().zip(&mean) {
                assert!((seen - mean).abs() < 0.03, "{seen} {mean}");
            }
        }
    }
}
