//! Pairs that were compared: unique items stored once, pairs as two item numbers.

use super::folds::hash_item;
use super::{Features, Items};
use crate::error::{Error, Result};

/// Which side of a pair is better. `Left` is −1, `Tie` is 0, `Right` is +1: the sign that the margin
/// score(right) − score(left) should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The left item is better.
    Left,
    /// No difference.
    Tie,
    /// The right item is better.
    Right,
}

impl Outcome {
    /// All outcomes, in the order −1, 0, +1 of every table.
    pub const ALL: [Outcome; 3] = [Outcome::Left, Outcome::Tie, Outcome::Right];

    /// −1, 0 or +1.
    pub fn sign(self) -> i8 {
        self as i8 - 1
    }

    /// `left`, `tie` or `right`.
    pub fn name(self) -> &'static str {
        ["left", "tie", "right"][self as usize]
    }

    /// The outcome seen from the other side.
    pub fn swapped(self) -> Self {
        match self {
            Outcome::Left => Outcome::Right,
            Outcome::Tie => Outcome::Tie,
            Outcome::Right => Outcome::Left,
        }
    }

    /// What a margin score(right) − score(left) says when differences up to `threshold` do not matter.
    pub fn of_margin(margin: f64, threshold: f64) -> Self {
        if margin.abs() <= threshold {
            Outcome::Tie
        } else if margin > 0.0 {
            Outcome::Right
        } else {
            Outcome::Left
        }
    }

    /// The words that stand for each outcome in files; the first-named side is the left one.
    pub const WORDS: [(&'static str, Outcome); 24] = [
        ("left", Outcome::Left),
        ("tie", Outcome::Tie),
        ("right", Outcome::Right),
        ("-1", Outcome::Left),
        ("0", Outcome::Tie),
        ("1", Outcome::Right),
        ("+1", Outcome::Right),
        ("-1.0", Outcome::Left),
        ("0.0", Outcome::Tie),
        ("1.0", Outcome::Right),
        ("a", Outcome::Left),
        ("b", Outcome::Right),
        ("model_a", Outcome::Left),
        ("model_b", Outcome::Right),
        ("tie (bothbad)", Outcome::Tie),
        ("white", Outcome::Left),
        ("black", Outcome::Right),
        ("draw", Outcome::Tie),
        ("1-0", Outcome::Left),
        ("0-1", Outcome::Right),
        ("1/2-1/2", Outcome::Tie),
        ("½-½", Outcome::Tie),
        // With a minus sign (U+2212) instead of a hyphen.
        ("−1", Outcome::Left),
        ("−1.0", Outcome::Left),
    ];

    /// Reads a word of [`Outcome::WORDS`], in any case, with blanks around it.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.trim();
        Self::WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|&(_, outcome)| outcome)
    }
}

/// Two item numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// Row of the left item in the features.
    pub left: u32,
    /// Row of the right item in the features.
    pub right: u32,
}

/// Numbers that describe each comparison itself, and so belong to neither side: who judged, what was asked.
#[derive(Debug, Clone)]
pub struct Context {
    /// One row per pair.
    pub features: Features,
    /// One name per column.
    pub names: Vec<String>,
}

/// Pairs of items, judged or not.
#[derive(Debug, Clone)]
pub struct PairSet {
    /// The unique items.
    pub items: Items,
    /// The pairs.
    pub pairs: Vec<Pair>,
    /// What is known of each comparison itself, if anything is.
    pub context: Option<Context>,
}

impl PairSet {
    /// Checks that every pair names two items.
    pub fn new(items: Items, pairs: Vec<Pair>) -> Result<Self> {
        let n_items = items.n_items();
        if let Some(pair) = pairs.iter().find(|p| p.left.max(p.right) as usize >= n_items) {
            return Err(Error::parameter(
                "pairs",
                format!("({}, {})", pair.left, pair.right),
                format!("item numbers below {n_items}"),
            ));
        }
        Ok(PairSet { items, pairs, context: None })
    }

    /// The same pairs with what is known of each comparison itself. Checks lengths.
    pub fn with_context(mut self, context: Context) -> Result<Self> {
        let (n, found) = (self.pairs.len(), context.features.n_rows());
        if found != n {
            return Err(Error::parameter("context", found, format!("one row for each of the {n} pairs")));
        }
        if context.names.len() != context.features.n_cols() {
            return Err(Error::parameter(
                "context names",
                context.names.len(),
                format!("one for each of the {} columns", context.features.n_cols()),
            ));
        }
        self.context = Some(context);
        Ok(self)
    }

    /// Pairs given by the features of both sides, row by row; identical rows are stored once.
    pub fn from_sides(left: &Features, right: &Features, feature_names: Option<Vec<String>>) -> Result<Self> {
        if left.n_rows() != right.n_rows() || left.n_cols() != right.n_cols() {
            return Err(Error::parameter(
                "right",
                format!("{} × {}", right.n_rows(), right.n_cols()),
                format!("the shape of left, {} × {}", left.n_rows(), left.n_cols()),
            ));
        }
        let n = left.n_rows();
        let (features, number) = left.stacked(right).unique_rows();
        let pairs = (0..n).map(|k| Pair { left: number[k], right: number[n + k] }).collect();
        PairSet::new(Items::new(features, feature_names, None)?, pairs)
    }

    /// Pairs whose sides follow one another: rows 2k and 2k + 1 are the left and the right side of pair k. Identical rows are
    /// stored once; where all differ the features stay as they are, without a copy.
    pub fn from_alternating(features: Features, feature_names: Option<Vec<String>>) -> Result<Self> {
        let n = features.n_rows();
        if !n.is_multiple_of(2) {
            return Err(Error::parameter("features", format!("{n} rows"), "two rows for each pair"));
        }
        let (features, number) = features.into_unique_rows();
        let pairs = number.as_chunks::<2>().0.iter().map(|&[left, right]| Pair { left, right }).collect();
        PairSet::new(Items::new(features, feature_names, None)?, pairs)
    }

    /// How many pairs there are.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Keeps the pairs of the given numbers, and of the items those that they touch.
    pub fn select(&self, numbers: &[usize]) -> Self {
        let touched = self.touched_items(numbers.iter().copied());
        let mut new_number = vec![u32::MAX; self.items.n_items()];
        touched.iter().enumerate().for_each(|(new, &item)| new_number[item] = new as u32);
        let renumber = |item: u32| new_number[item as usize];
        let pairs = numbers
            .iter()
            .map(|&k| Pair { left: renumber(self.pairs[k].left), right: renumber(self.pairs[k].right) })
            .collect();
        let context = self
            .context
            .as_ref()
            .map(|context| Context { features: context.features.select_rows(numbers), names: context.names.clone() });
        PairSet { items: self.items.select(&touched), pairs, context }
    }

    /// The items that pairs touch, in an order that exchanging sides does not change.
    pub(crate) fn item_order(&self) -> Vec<u32> {
        self.touched_items(0..self.pairs.len()).into_iter().map(|item| item as u32).collect()
    }

    /// The items that the pairs of the given numbers touch, in order of appearance; within a pair what an item says
    /// decides, not the side it stands on, so that exchanging sides changes no numbers.
    fn touched_items(&self, numbers: impl Iterator<Item = usize>) -> Vec<usize> {
        let hash = |item: u32| hash_item(&self.items, item as usize);
        let mut seen = vec![false; self.items.n_items()];
        let mut touched = Vec::new();
        for k in numbers {
            let Pair { left, right } = self.pairs[k];
            let is_new = |item: u32| !seen[item as usize];
            // Only what is new on both sides has an order to be found.
            let exchanged = is_new(left) && is_new(right) && (hash(right), right) < (hash(left), left);
            for item in if exchanged { [right, left] } else { [left, right] } {
                if !std::mem::replace(&mut seen[item as usize], true) {
                    touched.push(item as usize);
                }
            }
        }
        touched
    }
}

/// Judged pairs of items that are known already, such as those of a ranking.
#[derive(Debug, Clone)]
pub struct JudgedPairs {
    /// Two item numbers each.
    pub pairs: Vec<Pair>,
    /// One outcome per pair.
    pub outcomes: Vec<Outcome>,
    /// One weight per pair; absent: all 1.
    pub weights: Option<Vec<f64>>,
}

impl JudgedPairs {
    /// The weight of pair `k`.
    pub fn weight(&self, k: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[k])
    }

    /// Checks lengths, weights and item numbers.
    pub(crate) fn check(&self, n_items: usize) -> Result<()> {
        let n = self.pairs.len();
        if let Some(pair) = self.pairs.iter().find(|p| p.left.max(p.right) as usize >= n_items) {
            let found = format!("({}, {})", pair.left, pair.right);
            return Err(Error::parameter("pairs", found, format!("item numbers below {n_items}")));
        }
        if self.outcomes.len() != n {
            return Err(Error::parameter("outcomes", self.outcomes.len(), format!("one for each of the {n} pairs")));
        }
        match &self.weights {
            Some(weights) if weights.len() != n => {
                Err(Error::parameter("weights", weights.len(), format!("one for each of the {n} pairs")))
            }
            Some(weights) => match weights.iter().find(|w| !w.is_finite() || **w < 0.0) {
                Some(bad) => Err(Error::parameter("weight", bad, "finite numbers of at least 0")),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }
}

/// Pairs with what was judged.
#[derive(Debug, Clone)]
pub struct Comparisons {
    /// The pairs and their items.
    pub set: PairSet,
    /// One outcome per pair.
    pub outcomes: Vec<Outcome>,
    /// One weight per pair; absent: all 1. Weight 0 means absent, weight 2 means twice.
    pub weights: Option<Vec<f64>>,
    /// One group number per pair (a judge, a tournament): folds never split a group.
    pub groups: Option<Vec<u32>>,
}

impl Comparisons {
    /// Checks lengths and weights.
    pub fn new(
        set: PairSet,
        outcomes: Vec<Outcome>,
        weights: Option<Vec<f64>>,
        groups: Option<Vec<u32>>,
    ) -> Result<Self> {
        let n = set.n_pairs();
        let length = |name: &'static str, found: usize| {
            if found == n {
                Ok(())
            } else {
                Err(Error::parameter(name, found, format!("one entry for each of the {n} pairs")))
            }
        };
        length("outcomes", outcomes.len())?;
        if let Some(groups) = &groups {
            length("groups", groups.len())?;
        }
        if let Some(weights) = &weights {
            length("weights", weights.len())?;
            if let Some(bad) = weights.iter().find(|w| !w.is_finite() || **w < 0.0) {
                return Err(Error::parameter("weight", bad, "finite numbers of at least 0"));
            }
        }
        Ok(Comparisons { set, outcomes, weights, groups })
    }

    /// How many pairs there are.
    pub fn n_pairs(&self) -> usize {
        self.outcomes.len()
    }

    /// How many of them are ties.
    pub fn n_ties(&self) -> usize {
        self.outcomes.iter().filter(|&&o| o == Outcome::Tie).count()
    }

    /// The weight of pair `k`.
    pub fn weight(&self, k: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[k])
    }

    /// The pairs of a weight above 0 in an order that follows from what they say, not from where they stand or which side is
    /// which: all that is summed or decided in this order is the same however rows are sorted. Pairs of an item are near each other.
    pub(crate) fn present_in_order(&self) -> Vec<usize> {
        let hashes: Vec<u64> = (0..self.set.items.n_items()).map(|item| hash_item(&self.set.items, item)).collect();
        let key = |k: usize| {
            let Pair { left, right } = self.set.pairs[k];
            let (left, right) = (hashes[left as usize], hashes[right as usize]);
            let outcome = match self.outcomes[k] {
                Outcome::Tie => 0,
                // Of two items that are the same, no side is the first.
                Outcome::Left if left <= right => 1,
                Outcome::Right if left >= right => 1,
                _ => 2,
            };
            let context = self.set.context.as_ref().map_or(0, |context| context.features.hash_row(k));
            (left.min(right), left.max(right), context, outcome, self.weight(k).to_bits())
        };
        let mut order: Vec<usize> = (0..self.n_pairs()).filter(|&k| self.weight(k) > 0.0).collect();
        order.sort_by_cached_key(|&k| key(k));
        order
    }

    /// Keeps the pairs of the given numbers.
    pub fn select(&self, numbers: &[usize]) -> Self {
        Comparisons {
            set: self.set.select(numbers),
            outcomes: numbers.iter().map(|&k| self.outcomes[k]).collect(),
            weights: self.weights.as_ref().map(|w| numbers.iter().map(|&k| w[k]).collect()),
            groups: self.groups.as_ref().map(|g| numbers.iter().map(|&k| g[k]).collect()),
        }
    }
}
