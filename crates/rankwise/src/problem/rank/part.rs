//! A part of a ranking that is spread over several: whole groups, asked by somebody far away.

use super::block::Block;
use super::{Listed, RankCounts, RankSums, Shape, Source, Standing, Weighing};
use crate::data::{Groups, Items, Ranking, Rows};
use crate::error::{Error, Result};
use crate::problem::BlockSums;
use crate::problem::spread::{Answer, Ask, ListedRows, Question, products, put_row};

/// Groups with all that is known of them, and where they were sent last.
pub(crate) struct RankPart {
    data: Ranking,
    /// Which part it is.
    number: usize,
    shape: Shape,
    blocks: Vec<Block>,
    counts: RankCounts,
    mass: f64,
    c: f64,
    place: Option<Vec<f64>>,
    /// Whether the curvature is that of the place.
    is_settled: bool,
    direction: Option<Vec<f64>>,
}

impl RankPart {
    /// Makes ready. Features far from zero are moved there: nothing but their differences is ever seen.
    pub(crate) fn new(data: &Ranking, number: usize, shape: Shape, weighing: Weighing) -> Self {
        let data = data.near_zero().into_owned();
        let RankSums { blocks, counts, mass, .. } = RankSums::new(&data, |_| true, None, shape, 1.0, weighing, None);
        RankPart { data, number, shape, blocks, counts, mass, c: 1.0, place: None, is_settled: false, direction: None }
    }

    /// What was found, and the weight of all pairs.
    pub(crate) fn counts(&self) -> (RankCounts, f64) {
        (self.counts, self.mass)
    }

    /// Numbers stored in the groups that count.
    pub(crate) fn n_numbers(&self) -> usize {
        self.blocks.iter().map(|block| block.n_numbers).sum()
    }

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
        let blocks = std::mem::take(&mut self.blocks);
        let mut sums = RankSums { source, blocks, shape: self.shape, c: self.c, counts: self.counts, mass: self.mass };
        let result = work(&mut sums);
        self.blocks = sums.blocks;
        result
    }

    /// Answers a question.
    pub(crate) fn answer(&mut self, question: &Question) -> Result<Answer> {
        let dim = self.data.items.features.n_cols();
        let Question { ask, weights, direction, numbers } = question;
        let (&[c, width], more) = numbers.split_first_chunk::<2>().ok_or_else(misunderstood)?;
        let has_weights = weights.len() == dim || (weights.is_empty() && *ask == Ask::Thinned);
        let has_direction = direction.len() == dim || !matches!(ask, Ask::Times | Ask::Along);
        if !has_weights || !has_direction {
            return Err(misunderstood());
        }
        let shape = if let Shape::Hinge(_) = self.shape { Shape::Hinge(width) } else { self.shape };
        if shape != self.shape {
            (self.shape, self.is_settled) = (shape, false);
        }
        self.c = c;
        match ask {
            Ask::Point => Ok(self.point(weights)),
            Ask::Times => {
                self.settle(weights);
                Ok(Answer { sums: self.with_sums(|sums| sums.hessian_times(direction)), ..Answer::default() })
            }
            Ask::Diagonal => {
                self.settle(weights);
                Ok(Answer { sums: self.with_sums(|sums| sums.hessian_diagonal()), ..Answer::default() })
            }
            Ask::Curved => {
                self.settle(weights);
                Ok(Answer { list: vec![self.with_sums(|sums| sums.curved())], ..Answer::default() })
            }
            Ask::Sketch => {
                self.settle(weights);
                let (&spacing, starts) = more.split_first().ok_or_else(misunderstood)?;
                let before = *starts.get(self.number).ok_or_else(misunderstood)?;
                let (count, matrix) = self.with_sums(|sums| {
                    let drawn = sums.draw_pairs(before, spacing);
                    let matrix = products(dim, |take| sums.for_vectors(&drawn, 1.0, take));
                    (drawn.len(), matrix)
                });
                Ok(Answer { sums: [vec![count as f64], matrix].concat(), ..Answer::default() })
            }
            Ask::Along => {
                let &step = more.first().ok_or_else(misunderstood)?;
                if self.place.as_ref() != Some(weights) {
                    self.point(weights);
                }
                if self.direction.as_ref() != Some(direction) {
                    self.with_sums(|sums| sums.aim(direction));
                    self.direction = Some(direction.clone());
                }
                self.is_settled = false;
                let (value, slope) = self.with_sums(|sums| sums.along(step));
                Ok(Answer { sums: vec![value, slope], ..Answer::default() })
            }
            Ask::Thinned => {
                let (&[level, n_items], starts) = more.split_first_chunk().ok_or_else(misunderstood)?;
                let &[first_group, first_item] = starts.as_chunks().0.get(self.number).ok_or_else(misunderstood)?;
                let standing = Standing {
                    n_items: n_items as u64,
                    first_group: first_group as u64,
                    first_item: first_item as u64,
                };
                Ok(Answer { list: self.thinned(level as u32, standing), ..Answer::default() })
            }
            _ => Err(misunderstood()),
        }
    }

    /// Value and gradient at weights, where the part is from now on.
    fn point(&mut self, weights: &[f64]) -> Answer {
        let point = self.with_sums(|sums| sums.go_to(weights));
        (self.place, self.is_settled, self.direction) = (Some(weights.to_vec()), true, None);
        Answer { sums: [vec![point.value, point.meant, point.excess], point.gradient].concat(), ..Answer::default() }
    }

    /// Goes to weights, unless it is there.
    fn settle(&mut self, weights: &[f64]) {
        if !self.is_settled || self.place.as_deref() != Some(weights) {
            self.point(weights);
        }
    }

    /// Some groups with all that is theirs, as [`gathered`] reads them.
    fn thinned(&mut self, level: u32, standing: Standing) -> Vec<f64> {
        let lists = self.with_sums(|sums| sums.thinned_groups(level, standing));
        let (features, mut out) = (&self.data.items.features, Vec::new());
        for Listed { items, factor } in lists {
            out.extend([items.len() as f64, factor]);
            for item in items.into_iter().map(|item| item as usize) {
                out.extend([self.data.labels[item], self.data.weight(item)]);
                put_row(features, item, &mut out);
            }
        }
        out
    }
}

fn misunderstood() -> Error {
    Error::Mismatch {
        problem: "a part was asked what it cannot answer".into(),
        remedy: "use the same version of rankwise on all machines".into(),
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
