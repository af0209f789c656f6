//! A part of a ranking that is spread over several: whole groups, asked by somebody far away.

use super::block::Block;
use super::{Listed, RankCounts, RankSums, Shape, Source, Standing, Weighing};
use crate::data::{Groups, Items, Ranking, Rows};
use crate::error::Result;
use crate::problem::BlockSums;
use crate::problem::spread::{Answer, Ask, ListedRows, Question, misunderstood, products, put_row};

/// Groups with all that is known of them.
pub(crate) struct RankPart {
    data: Ranking,
    /// Which part it is.
    number: usize,
    shape: Shape,
    /// All groups; then, where they were asked for, some of them, some of those, and so on.
    levels: Vec<Level>,
}

/// Some groups, and where they were sent last.
struct Level {
    blocks: Vec<Block>,
    counts: RankCounts,
    mass: f64,
    place: Option<Vec<f64>>,
    /// Whether the curvature is that of the place, and of this shape.
    is_settled: Option<Shape>,
    direction: Option<Vec<f64>>,
}

impl Level {
    fn of(sums: RankSums<'_>) -> Self {
        let RankSums { blocks, counts, mass, .. } = sums;
        Level { blocks, counts, mass, place: None, is_settled: None, direction: None }
    }
}

impl RankPart {
    /// Makes ready. Features far from zero are moved there: nothing but their differences is ever seen.
    pub(crate) fn new(data: &Ranking, number: usize, shape: Shape, weighing: Weighing) -> Self {
        let data = data.near_zero().into_owned();
        let all = Level::of(RankSums::new(&data, |_| true, None, shape, 1.0, weighing, None));
        RankPart { data, number, shape, levels: vec![all] }
    }

    /// What was found, and the weight of all pairs.
    pub(crate) fn counts(&self) -> (RankCounts, f64) {
        (self.levels[0].counts, self.levels[0].mass)
    }

    /// Numbers stored in the groups that count.
    pub(crate) fn n_numbers(&self) -> usize {
        numbers_of(&self.levels[0].blocks)
    }

    /// Answers a question. Its numbers: C, the width that the hinge is rounded off over, the level and for each level up to it where
    /// the parts stand in the one before; then whatever else it takes.
    pub(crate) fn answer(&mut self, question: &Question) -> Result<Answer> {
        let dim = self.data.items.features.n_cols();
        let Question { ask, weights, direction, numbers } = question;
        let (&[c, width, level, n_parts], more) = numbers.split_first_chunk().ok_or_else(misunderstood)?;
        let more = self.reach(level as usize, n_parts as usize, more)?;
        let has_weights = weights.len() == dim || (weights.is_empty() && *ask == Ask::Thinned);
        let has_direction = direction.len() == dim || !matches!(ask, Ask::Times | Ask::Along);
        if !has_weights || !has_direction {
            return Err(misunderstood());
        }
        let shape = if let Shape::Hinge(_) = self.shape { Shape::Hinge(width) } else { self.shape };
        let data = &self.data;
        let mut at = At { data, level: &mut self.levels[level as usize], shape, c };
        let added = |sums: Vec<f64>| Ok(Answer { sums, ..Answer::default() });
        match ask {
            Ask::Point => Ok(at.point(weights)),
            Ask::Times => added(at.settled(weights, |sums| sums.hessian_times(direction))),
            Ask::Diagonal => added(at.settled(weights, |sums| sums.hessian_diagonal())),
            Ask::Curved => Ok(Answer { list: vec![at.settled(weights, |sums| sums.curved())], ..Answer::default() }),
            Ask::Sketch => {
                let (&spacing, starts) = more.split_first().ok_or_else(misunderstood)?;
                let before = *starts.get(self.number).ok_or_else(misunderstood)?;
                let (count, matrix) = at.settled(weights, |sums| {
                    let drawn = sums.draw_pairs(before, spacing);
                    let matrix = products(dim, |take| sums.for_vectors(&drawn, 1.0, take));
                    (drawn.len(), matrix)
                });
                added([vec![count as f64], matrix].concat())
            }
            Ask::Along => {
                let &step = more.first().ok_or_else(misunderstood)?;
                let (value, slope) = at.along(weights, direction, step);
                added(vec![value, slope])
            }
            Ask::Thinned if more.first() == Some(&1.0) => {
                Ok(Answer { list: listed(data, &at.level.blocks), ..Answer::default() })
            }
            Ask::Thinned => {
                let Level { blocks, counts, mass, .. } = &at.level;
                let list = vec![counts.n_groups as f64, counts.n_items as f64, numbers_of(blocks) as f64, *mass];
                Ok(Answer { list, ..Answer::default() })
            }
            _ => Err(misunderstood()),
        }
    }

    /// Makes the levels that are not there; what is left of the numbers.
    fn reach<'n>(&mut self, level: usize, n_parts: usize, numbers: &'n [f64]) -> Result<&'n [f64]> {
        let length = 1 + n_parts.checked_mul(2).ok_or_else(misunderstood)?;
        let needed = level.checked_mul(length).ok_or_else(misunderstood)?;
        let (standings, more) = numbers.split_at_checked(needed).ok_or_else(misunderstood)?;
        for (at, standing) in standings.chunks_exact(length).enumerate().skip(self.levels.len() - 1) {
            let starts = standing[1..].as_chunks().0;
            let &[first_group, first_item] = starts.get(self.number).ok_or_else(misunderstood)?;
            let standing = Standing {
                n_items: standing[0] as u64,
                first_group: first_group as u64,
                first_item: first_item as u64,
            };
            let mut here = At { data: &self.data, level: &mut self.levels[at], shape: self.shape, c: 1.0 };
            let next = here.with_sums(|sums| Level::of(sums.thinned_sums(standing)));
            self.levels.push(next);
        }
        Ok(more)
    }
}

fn numbers_of(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block.n_numbers).sum()
}

/// Groups with all that is theirs, as [`gathered`] reads them.
fn listed(data: &Ranking, blocks: &[Block]) -> Vec<f64> {
    let mut out = Vec::new();
    for (items, factor) in blocks.iter().flat_map(Block::groups) {
        out.extend([items.len() as f64, factor]);
        for item in items.iter().map(|&item| item as usize) {
            out.extend([data.labels[item], data.weight(item)]);
            put_row(&data.items.features, item, &mut out);
        }
    }
    out
}

/// A level that is asked.
struct At<'a> {
    data: &'a Ranking,
    level: &'a mut Level,
    shape: Shape,
    c: f64,
}

impl At<'_> {
    fn with_sums<R>(&mut self, work: impl FnOnce(&mut RankSums<'_>) -> R) -> R {
        let source = Source {
            rows: Rows::Held(&self.data.items.features),
            divisors: None,
            unit: 1.0,
            labels: &self.data.labels,
            weights: self.data.weights.as_deref(),
            draw: None,
            are_units: false,
        };
        let Level { blocks, counts, mass, .. } = &mut *self.level;
        let blocks = std::mem::take(blocks);
        let mut sums = RankSums { source, blocks, shape: self.shape, c: self.c, counts: *counts, mass: *mass };
        let result = work(&mut sums);
        self.level.blocks = sums.blocks;
        result
    }

    /// Value and gradient at weights, where the groups are from now on.
    fn point(&mut self, weights: &[f64]) -> Answer {
        let point = self.with_sums(|sums| sums.go_to(weights));
        (self.level.place, self.level.direction) = (Some(weights.to_vec()), None);
        self.level.is_settled = Some(self.shape);
        Answer { sums: [vec![point.value, point.meant, point.excess], point.gradient].concat(), ..Answer::default() }
    }

    /// Something at weights; goes there first, unless the groups are there.
    fn settled<R>(&mut self, weights: &[f64], work: impl FnOnce(&mut RankSums<'_>) -> R) -> R {
        if self.level.is_settled != Some(self.shape) || self.level.place.as_deref() != Some(weights) {
            self.point(weights);
        }
        self.with_sums(work)
    }

    /// Value and slope after a step.
    fn along(&mut self, weights: &[f64], direction: &[f64], step: f64) -> (f64, f64) {
        if self.level.place.as_deref() != Some(weights) {
            self.point(weights);
        }
        if self.level.direction.as_deref() != Some(direction) {
            self.with_sums(|sums| sums.aim(direction));
            self.level.direction = Some(direction.to_vec());
        }
        self.level.is_settled = None;
        self.with_sums(|sums| sums.along(step))
    }
}

/// The groups that parts list, with what their losses are multiplied with; `None` if there is nothing.
pub(crate) fn gathered(list: &[f64], n_cols: usize) -> Option<(Ranking, Vec<f64>)> {
    let mut numbers = list.iter().copied();
    let mut rows = ListedRows::new(n_cols);
    let (mut labels, mut weights, mut groups, mut factors) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    while let Some(n_items) = numbers.next() {
        factors.push(numbers.next()?);
        for _ in 0..n_items as usize {
            labels.push(numbers.next()?);
            weights.push(numbers.next()?);
            groups.push(factors.len() as u32 - 1);
            rows.take(&mut numbers)?;
        }
    }
    let names = (0..factors.len()).map(|group| group.to_string()).collect();
    let items = Items::new(rows.features()?, None, None).ok()?;
    let is_weighted = weights.iter().any(|&weight| weight != 1.0);
    let data = Ranking::new(items, labels, Some(Groups::from_numbers(groups, names).ok()?)).ok()?;
    let data = if is_weighted { data.with_weights(weights).ok()? } else { data };
    Some((data, factors))
}

impl<'a> RankSums<'a> {
    /// Groups that were gathered, each with its factor.
    pub(crate) fn of_factors(
        data: &'a Ranking,
        factors: &[f64],
        divisors: Option<&'a [f64]>,
        shape: Shape,
        c: f64,
    ) -> Self {
        let mut sums = RankSums::new(data, |_| false, divisors, shape, c, Weighing::AsGiven, None);
        let groups = data.view().groups.members();
        let lists =
            groups.iter().zip(factors).map(|(items, &factor)| (Listed { items: items.to_vec(), factor }, false));
        sums = Self::of_groups(sums.source, shape, c, lists);
        sums
    }
}
