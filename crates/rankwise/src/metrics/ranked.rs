//! Items with labels and a model's scores, group by group: what every metric of a ranking looks at.

use crate::data::{Groups, Members, check_weights};
use crate::error::{Error, Result};

/// Labelled items with a model's scores, in groups.
///
/// A score of −∞ says that the item was judged but not retrieved: it comes after all others, has no rank, and counts only
/// where the best possible order is asked for (the ideal of NDCG, the number of relevant items of `map`); to metrics of
/// pairs it is the lowest score.
#[derive(Debug, Clone)]
pub struct Ranked<'a> {
    labels: &'a [f64],
    scores: &'a [f64],
    groups: &'a Groups,
    members: Members,
    weights: Option<&'a [f64]>,
    group_weights: Option<&'a [f64]>,
    ids: Option<&'a [String]>,
}

impl<'a> Ranked<'a> {
    /// Checks lengths and numbers: labels are finite, scores anything but NaN.
    ///
    /// ```
    /// use rankwise::data::Groups;
    /// use rankwise::metrics::{ItemMetric, Ranked};
    ///
    /// let groups = Groups::from_ids(["a", "a", "a", "b", "b"]);
    /// let ranked = Ranked::new(&[2.0, 1.0, 0.0, 0.0, 1.0], &[0.9, 0.1, 0.3, 0.5, 0.7], &groups)?;
    /// // Three of the four pairs with different labels are in the right order.
    /// assert_eq!(ItemMetric::parse("pair_accuracy")?.of(&ranked)?.value, Some(0.75));
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn new(labels: &'a [f64], scores: &'a [f64], groups: &'a Groups) -> Result<Self> {
        let n = labels.len();
        if let Some(bad) = labels.iter().find(|label| !label.is_finite()) {
            return Err(Error::parameter("labels", bad, "finite numbers"));
        }
        if scores.len() != n {
            return Err(Error::parameter("scores", scores.len(), format!("one for each of the {n} items")));
        }
        if let Some(nan) = scores.iter().find(|score| score.is_nan()) {
            return Err(Error::parameter("scores", nan, "numbers"));
        }
        if groups.n_items() != n {
            return Err(Error::parameter("groups", groups.n_items(), format!("one for each of the {n} items")));
        }
        let members = groups.members();
        Ok(Ranked { labels, scores, groups, members, weights: None, group_weights: None, ids: None })
    }

    /// The same with a weight per item. Items of weight 0 are absent. Metrics of pairs (`pair_accuracy`,
    /// `swapped_pairs`, `concordance`, `kendall_tau`, `kendall_tau_a`) weigh a pair by the product of its two,
    /// `spearman` weighs items; the others, which are about ranks, know no other weights.
    pub fn with_weights(mut self, weights: &'a [f64]) -> Result<Self> {
        check_weights("weights", weights, self.labels.len())?;
        self.weights = Some(weights);
        Ok(self)
    }

    /// The same with a weight per group, which multiplies those of its pairs, and the group's share of a mean. Groups
    /// of weight 0 are absent.
    pub fn with_group_weights(mut self, weights: &'a [f64]) -> Result<Self> {
        check_weights("group_weights", weights, self.groups.len())?;
        self.group_weights = Some(weights);
        Ok(self)
    }

    /// The same with an id per item, by which the rules of TREC order equal scores.
    pub fn with_ids(mut self, ids: &'a [String]) -> Result<Self> {
        let n = self.labels.len();
        if ids.len() != n {
            return Err(Error::parameter("ids", ids.len(), format!("one for each of the {n} items")));
        }
        self.ids = Some(ids);
        Ok(self)
    }

    /// The groups of the items.
    pub fn groups(&self) -> &'a Groups {
        self.groups
    }

    pub(super) fn has_ids(&self) -> bool {
        self.ids.is_some()
    }

    /// The same items with other scores, which are checked already.
    pub(super) fn scored<'b>(&self, scores: &'b [f64]) -> Ranked<'b>
    where
        'a: 'b,
    {
        Ranked { scores, ..self.clone() }
    }

    /// Scores that know nothing: 0 for all that was retrieved.
    pub(super) fn constant_scores(&self) -> Vec<f64> {
        let flat = |&score: &f64| if score == f64::NEG_INFINITY { score } else { 0.0 };
        self.scores.iter().map(flat).collect()
    }

    pub(super) fn group_weight(&self, group: usize) -> f64 {
        self.group_weights.map_or(1.0, |weights| weights[group])
    }

    /// The items of a group that are present; none where the group is absent.
    fn present(&self, group: usize) -> impl Iterator<Item = usize> {
        let items = if self.group_weight(group) > 0.0 { self.members.of(group) } else { &[] };
        let items = items.iter().map(|&item| item as usize);
        items.filter(|&item| self.weights.is_none_or(|weights| weights[item] > 0.0))
    }

    /// The labels of all items that are present, each with its group.
    pub(super) fn present_labels(&self) -> impl Iterator<Item = (usize, f64)> {
        let groups = 0..self.groups.len();
        groups.flat_map(move |group| self.present(group).map(move |item| (group, self.labels[item])))
    }

    /// What is present of a group.
    pub(super) fn list(&self, group: usize) -> List<'_> {
        let items: Vec<usize> = self.present(group).collect();
        List {
            labels: items.iter().map(|&item| self.labels[item]).collect(),
            // Adding 0 makes a positive zero of a negative one: the two are equal, and must not be ordered.
            scores: items.iter().map(|&item| self.scores[item] + 0.0).collect(),
            weights: self.weights.map(|weights| items.iter().map(|&item| weights[item]).collect()),
            ids: self.ids,
            items,
        }
    }
}

/// The present items of one group, in the order of the data.
pub(super) struct List<'a> {
    pub(super) labels: Vec<f64>,
    pub(super) scores: Vec<f64>,
    pub(super) weights: Option<Vec<f64>>,
    ids: Option<&'a [String]>,
    items: Vec<usize>,
}

/// What becomes of equal scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ties {
    /// Every order of them is as likely: the metric is its mean over all orders.
    Averaged,
    /// As they stand in the data.
    InputOrder,
    /// The largest id first, byte by byte.
    IdsDescending,
}

impl List<'_> {
    /// Ranks what was retrieved, by descending score. `in_f32` rounds scores first, as some tools do. O(n log n).
    pub(super) fn order(&self, ties: Ties, in_f32: bool) -> Order {
        let score = |at: usize| if in_f32 { f64::from(self.scores[at] as f32) } else { self.scores[at] };
        let mut by_rank: Vec<usize> =
            (0..self.scores.len()).filter(|&at| self.scores[at] != f64::NEG_INFINITY).collect();
        // Stable: equal scores keep the order of the data.
        by_rank.sort_by(|&a, &b| {
            let by_score = score(b).total_cmp(&score(a));
            match (ties, self.ids) {
                (Ties::IdsDescending, Some(ids)) => by_score.then_with(|| ids[self.items[b]].cmp(&ids[self.items[a]])),
                _ => by_score,
            }
        });
        let run_ends = match ties {
            Ties::Averaged => {
                let mut end = 0;
                let runs = by_rank.chunk_by(|&a, &b| score(a) == score(b));
                runs.map(|run| {
                    end += run.len();
                    end
                })
                .collect()
            }
            Ties::InputOrder | Ties::IdsDescending => (1..=by_rank.len()).collect(),
        };
        Order { labels: by_rank.into_iter().map(|at| self.labels[at]).collect(), run_ends }
    }
}

/// Labels by rank, in runs within which every order is as likely.
pub(super) struct Order {
    pub(super) labels: Vec<f64>,
    run_ends: Vec<usize>,
}

impl Order {
    /// Every run with the number of ranks before it.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let starts = std::iter::once(0).chain(self.run_ends.iter().copied());
        starts.zip(&self.run_ends).map(|(start, &end)| (start, &self.labels[start..end]))
    }
}
