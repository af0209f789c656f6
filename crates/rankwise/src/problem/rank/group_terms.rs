//! Groups drawn one at a time, each in proportion to the weight of its pairs: a term is the mean loss over those, from sums
//! over windows.

use super::group::{Group, Scratch};
use super::{LabelCounts, RankCounts, Weighing};
use crate::data::{Alias, Features, Members, Random, Ranking};
use crate::problem::RandomTerms;

/// Groups that tell how long differences are.
const TELLING_GROUPS: usize = 64;

/// A group that has pairs.
#[derive(Debug)]
struct Drawable {
    rows: Vec<u32>,
    weights: Option<Vec<f64>>,
    /// Σ v_i v_j over its pairs.
    mass: f64,
    group: Group,
}

/// The mean hinge losses of groups that are drawn.
#[derive(Debug)]
pub(crate) struct GroupTerms<'a> {
    features: &'a Features,
    groups: Vec<Drawable>,
    alias: Option<Alias>,
    counts: RankCounts,
    mass: f64,
    random: Random,
    drawn: usize,
    scores: Vec<f64>,
    slopes: Vec<f64>,
    scratch: Scratch,
}

impl<'a> GroupTerms<'a> {
    /// The groups of a ranking; items and groups of weight 0 are absent.
    pub(crate) fn new(data: &'a Ranking, weighing: Weighing) -> Self {
        let mut terms = GroupTerms {
            features: &data.items.features,
            groups: Vec::new(),
            alias: None,
            counts: RankCounts::default(),
            mass: 0.0,
            random: Random::new(0),
            drawn: 0,
            scores: Vec::new(),
            slopes: Vec::new(),
            scratch: Scratch::default(),
        };
        let members: Members = data.groups.members();
        let mut masses = Vec::new();
        for (number, items) in members.iter().enumerate().filter(|&(group, _)| data.group_weight(group) > 0.0) {
            let rows: Vec<u32> = items.iter().copied().filter(|&i| data.weight(i as usize) > 0.0).collect();
            let labels: Vec<f64> = rows.iter().map(|&i| data.labels[i as usize]).collect();
            let weights = data.weights.as_ref().map(|w| rows.iter().map(|&i| w[i as usize]).collect::<Vec<f64>>());
            let Some(pairs) = LabelCounts::of(&labels, weights.as_deref()) else {
                terms.counts.n_dropped += 1;
                continue;
            };
            let factor = data.group_weight(number);
            masses.push(if weighing == Weighing::Balanced { factor } else { factor * pairs.mass });
            terms.counts.n_items += rows.len();
            terms.counts.n_groups += 1;
            terms.counts.n_pairs += pairs.n_pairs;
            let group = Group::new(0, factor, &labels, &pairs.distinct, true);
            terms.groups.push(Drawable { rows, weights, mass: pairs.mass, group });
        }
        terms.mass = masses.iter().sum();
        if terms.mass > 0.0 && terms.mass.is_finite() {
            terms.alias = Some(Alias::new(&masses));
        }
        terms
    }

    /// What was found in the data.
    pub(crate) fn counts(&self) -> RankCounts {
        self.counts
    }

    /// The weights of all pairs.
    pub(crate) fn mass(&self) -> f64 {
        self.mass
    }

    /// Starts a stream of random numbers.
    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.random = Random::new(seed);
    }

    fn look(&mut self, drawn: usize, direction: &[f64], scale: f64) -> bool {
        self.drawn = drawn;
        let Drawable { rows, weights, mass, group } = &mut self.groups[drawn];
        self.scores.resize(rows.len(), 0.0);
        self.slopes.resize(rows.len(), 0.0);
        self.features.times_rows(rows, &direction[..self.features.n_cols()], &mut self.scores);
        // Only differences count; near 0 they lose no digits.
        let mean = self.scores.iter().sum::<f64>() / rows.len() as f64;
        self.scores.iter_mut().for_each(|score| *score = (*score - mean) * scale);
        if self.scores.iter().any(|score| !score.is_finite()) {
            return false;
        }
        group.hinge_slopes(&self.scores, weights.as_deref(), &mut self.slopes, &mut self.scratch);
        self.slopes.iter_mut().for_each(|slope| *slope /= *mass);
        self.slopes.iter().any(|&slope| slope != 0.0)
    }
}

impl RandomTerms for GroupTerms<'_> {
    fn draw(&mut self, direction: &[f64], scale: f64) -> bool {
        let Some(alias) = &self.alias else { return false };
        let drawn = alias.draw(&mut self.random);
        self.look(drawn, direction, scale)
    }

    fn descend(&mut self, direction: &mut [f64], factor: f64, other: Option<(&mut [f64], f64)>) {
        let rows = &self.groups[self.drawn].rows;
        let mut add = |to: &mut [f64], factor: f64| {
            self.scores.iter_mut().zip(&self.slopes).for_each(|(product, slope)| *product = -factor * slope);
            self.features.add_rows(rows, &self.scores, &mut to[..self.features.n_cols()]);
        };
        add(direction, factor);
        if let Some((other, factor)) = other {
            add(other, factor);
        }
    }

    /// Of means of differences: a step takes all of a group's pairs together.
    fn mean_square(&mut self) -> f64 {
        let n_cols = self.features.n_cols();
        let zero = vec![0.0; n_cols];
        let mut random = Random::new(0);
        let mut total = 0.0;
        for _ in 0..TELLING_GROUPS {
            let Some(drawn) = self.alias.as_ref().map(|alias| alias.draw(&mut random)) else { return 0.0 };
            let mut sum = vec![0.0; n_cols];
            if self.look(drawn, &zero, 0.0) {
                self.descend(&mut sum, 1.0, None);
            }
            total += sum.iter().map(|x| x * x).sum::<f64>() / TELLING_GROUPS as f64;
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::super::pair_terms::tests::hard_ranking;
    use super::{GroupTerms, Weighing};
    use crate::problem::{BlockSums, RandomTerms, RankSums, Shape};

    #[test]
    fn the_mean_slope_is_the_slope_of_all_losses() {
        for is_weighted in [false, true] {
            for weighing in [Weighing::AsGiven, Weighing::Balanced] {
                let data = hard_ranking(is_weighted);
                let weights = [0.3, -0.2, 0.1];
                let mut sums = RankSums::new(&data, |_| true, None, Shape::Hinge(1e-6), 1.0, weighing, None);
                let gradient = sums.go_to(&weights).gradient;
                let mut terms = GroupTerms::new(&data, weighing);
                assert_eq!(terms.counts(), sums.counts());
                assert!((terms.mass() - sums.mass()).abs() < 1e-12 * sums.mass());
                let mut mean = vec![0.0; 3];
                for (drawn, chance) in terms.alias.as_ref().unwrap().chances().into_iter().enumerate() {
                    if terms.look(drawn, &weights.map(|w| w / 4.0), 4.0) {
                        terms.descend(&mut mean, -chance, None);
                    }
                }
                for (mean, slope) in mean.iter().zip(&gradient) {
                    assert!((mean * sums.mass() - slope).abs() < 1e-9 * sums.mass(), "{mean} {slope}");
                }
            }
        }
    }
}
