//! Metrics of ranked items by name: what they are called, what they need, how groups make one number.
//!
//! Every metric is Σ numerators / Σ denominators over groups. A metric of pairs pools them: a group's denominator is the
//! weight of its pairs with different labels. The others are means: a group's denominator is its weight.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;

use super::concordance::{PairCounts, spearman};
use super::gain::{self, Rules};
use super::ranked::{List, Ranked, Ties};
use crate::error::{Error, Result};

/// The longest list that `err@K` looks at; what is further down adds next to nothing.
const LONGEST_ERR: usize = 1000;

/// A metric of ranked items, as its name says.
///
/// | name | what it is |
/// |---|---|
/// | `pair_accuracy` | pairs with different labels whose scores have the same order; equal scores are wrong; pooled over all pairs |
/// | `swapped_pairs` | 1 − `pair_accuracy`; less is better |
/// | `concordance` | `pair_accuracy` with ½ for equal scores (the c-index; with two labels the area under the ROC curve) |
/// | `kendall_tau`, `kendall_tau_a` | Kendall's τ-b and τ-a; mean over groups, as all that follow |
/// | `spearman` | Spearman's rank correlation |
/// | `ndcg@K`, `ndcg` | gain 2^label − 1, discount 1/log₂(1 + rank) |
/// | `map`, `mrr`, `precision@K` | average precision, reciprocal rank, precision; relevant is label ≥ 1, `:rel=X` label ≥ X |
/// | `err@K` | expected reciprocal rank; the largest label of all data sets the scale |
///
/// Of items with equal scores every order is as likely: all but the metrics of pairs are means over these orders, computed
/// exactly. Groups in which the labels leave nothing to measure (no two labels differ; no gain; for `map` nothing relevant)
/// are left out and counted, whatever the scores: scores that are all equal have correlation 0 with labels that are not.
/// `mrr`, `err` and `precision` are 0 where nothing is relevant.
///
/// `:sklearn`, `:lightgbm`, `:xgboost`, `:letor`, `:trec` after `ndcg` give the numbers of those tools, for groups
/// without gain and for equal scores, too (`letor`: the scripts of LETOR 4.0, which count 0 for a group of fewer than K
/// items; `trec`: trec_eval's `ndcg` and `ndcg_cut`). `map` and `precision@K` know `:letor` and `:trec`, `mrr` knows
/// `:trec`.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemMetric {
    name: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    PairAccuracy,
    SwappedPairs,
    Concordance,
    TauA,
    TauB,
    Spearman,
    Ndcg { cut: Option<usize>, rules: Rules },
    Map { from: f64, rules: Rules },
    Mrr { from: f64, rules: Rules },
    Precision { cut: usize, from: f64, rules: Rules },
    Err { cut: usize },
}

/// A metric's value over all groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The value; `None` where no group has one.
    pub value: Option<f64>,
    /// Groups that are present: of a weight above 0, with an item.
    pub n_groups: usize,
    /// Those of them that are left out, because the metric is not defined on them.
    pub n_skipped: usize,
}

/// A metric over groups that come some at a time: its value is that over all of them at once, to the last digit. Not for
/// `err`, which asks for the largest label of all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MetricSum {
    numerator: f64,
    denominator: f64,
}

impl MetricSum {
    /// Takes in some groups.
    pub fn add(&mut self, metric: &ItemMetric, ranked: &Ranked<'_>) -> Result<()> {
        for part in metric.shares(ranked)?.into_iter().filter_map(Share::part) {
            self.numerator += part.numerator;
            self.denominator += part.denominator;
        }
        Ok(())
    }

    /// The value over all groups so far; `None` where no group has one.
    pub fn value(&self) -> Option<f64> {
        (self.denominator > 0.0).then(|| self.numerator / self.denominator)
    }
}

/// What a group adds to a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    pub(super) numerator: f64,
    pub(super) denominator: f64,
}

/// A group as a metric sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Share {
    Absent,
    Undefined,
    Part(Part),
}

impl Share {
    pub(super) fn part(self) -> Option<Part> {
        match self {
            Share::Part(part) => Some(part),
            Share::Absent | Share::Undefined => None,
        }
    }
}

impl ItemMetric {
    /// What can be asked for; K stands for a number of ranks.
    pub const NAMES: [&'static str; 12] = [
        "pair_accuracy",
        "swapped_pairs",
        "concordance",
        "kendall_tau",
        "kendall_tau_a",
        "spearman",
        "ndcg",
        "ndcg@K",
        "map",
        "mrr",
        "precision@K",
        "err@K",
    ];

    /// Reads a name such as `ndcg@10`, `map:rel=2` or `ndcg@10:trec`.
    pub fn parse(name: &str) -> Result<Self> {
        Ok(ItemMetric { name: name.to_string(), kind: Kind::parse(name)? })
    }

    /// The metrics that are usual for such labels: with grades (whole numbers from 0 to 31) those of search engines, too.
    pub fn usual(ranked: &Ranked<'_>) -> Vec<Self> {
        let is_grade = |label: f64| label.fract() == 0.0 && (0.0..=31.0).contains(&label);
        let names: &[&str] = if ranked.present_labels().all(|(_, label)| is_grade(label)) {
            &["pair_accuracy", "ndcg@10", "map", "mrr", "precision@10", "err@10", "kendall_tau"]
        } else {
            &["pair_accuracy", "concordance", "kendall_tau", "spearman"]
        };
        names.iter().filter_map(|name| ItemMetric::parse(name).ok()).collect()
    }

    /// The name as it was typed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether more is better.
    pub fn greater_is_better(&self) -> bool {
        self.kind != Kind::SwappedPairs
    }

    /// The value over all groups. O(n log n), in parallel over groups.
    pub fn of(&self, ranked: &Ranked<'_>) -> Result<Measured> {
        Ok(Measured::new(&self.shares(ranked)?))
    }

    /// The value of every group; `None` where it is not defined.
    pub fn per_group(&self, ranked: &Ranked<'_>) -> Result<Vec<Option<f64>>> {
        let value = |share: Share| share.part().map(|part| part.numerator / part.denominator);
        Ok(self.shares(ranked)?.into_iter().map(value).collect())
    }

    /// What scores get that know nothing: the mean over all orders, whatever the rules for equal scores, because the data may
    /// stand in the order of their labels.
    pub fn of_random_order(&self, ranked: &Ranked<'_>) -> Result<Measured> {
        let scores = ranked.constant_scores();
        self.check(ranked)?;
        // Half of the pairs that equal scores leave open are in order.
        let averaged = match self.kind {
            Kind::PairAccuracy | Kind::SwappedPairs => &ItemMetric { kind: Kind::Concordance, ..self.clone() },
            _ => self,
        };
        let mut measured = Measured::new(&averaged.shares_with(&ranked.scored(&scores), Ties::Averaged)?);
        if matches!(self.kind, Kind::SwappedPairs) {
            measured.value = measured.value.map(|share| 1.0 - share);
        }
        Ok(measured)
    }

    /// What every group adds.
    pub(super) fn shares(&self, ranked: &Ranked<'_>) -> Result<Vec<Share>> {
        self.check(ranked)?;
        self.shares_with(ranked, self.kind.rules().ties())
    }

    fn shares_with(&self, ranked: &Ranked<'_>, ties: Ties) -> Result<Vec<Share>> {
        let largest = match self.kind {
            Kind::Err { .. } => ranked.present_labels().fold(0.0, |largest: f64, (_, label)| largest.max(label)),
            _ => 0.0,
        };
        let share = |group: usize| {
            let list = ranked.list(group);
            if list.labels.is_empty() {
                return Share::Absent;
            }
            let part = self.kind.part(&list, ties, largest).map(|part| Part {
                numerator: ranked.group_weight(group) * part.numerator,
                denominator: ranked.group_weight(group) * part.denominator,
            });
            part.filter(|part| part.denominator > 0.0).map_or(Share::Undefined, Share::Part)
        };
        let shares: Vec<Share> = (0..ranked.groups().len()).into_par_iter().map(share).collect();
        let total = total(shares.iter().filter_map(|share| share.part()));
        if !total.denominator.is_finite() {
            return Err(Error::Numeric {
                problem: "the weights are so large that their products are no finite numbers".into(),
                remedy: "divide all weights by the largest one; only their ratios matter".into(),
            });
        }
        Ok(shares)
    }

    /// Whether the metric has a meaning for these labels; the first label that has none is the one to name.
    fn check(&self, ranked: &Ranked<'_>) -> Result<()> {
        let rules = self.kind.rules();
        if rules.ties() == Ties::IdsDescending && !ranked.has_ids() {
            return Err(Error::Unsupported {
                problem: format!("{self} orders equal scores by the ids of items, and these items have no ids"),
                remedy: "give them ids, or leave :trec out".into(),
            });
        }
        let needs_gains = matches!(self.kind, Kind::Ndcg { .. } | Kind::Err { .. });
        if !needs_gains || rules == Rules::Trec {
            return Ok(());
        }
        let is_ndcg = matches!(self.kind, Kind::Ndcg { .. });
        let n_items = ranked.groups().n_items() as f64;
        for (group, label) in ranked.present_labels() {
            let fault = if label < 0.0 {
                Some(("labels of at least 0", "add a constant to all labels"))
            } else if rules.largest_grade().is_some_and(|largest| label > largest || label.fract() != 0.0) {
                Some(("grades: whole numbers, and not too large", "round the labels, or leave the tool's name out"))
            } else if is_ndcg && !(n_items * rules.gain(label)).is_finite() {
                Some(("gains that are finite numbers", "name ndcg:sklearn, whose gain is the label itself"))
            } else {
                None
            };
            if let Some((needed, remedy)) = fault {
                let place = match ranked.groups().name(group) {
                    "" => String::new(),
                    name => format!(" in group {name}"),
                };
                return Err(Error::Unsupported {
                    problem: format!("{self} needs {needed}, and there is a label {label:?}{place}"),
                    remedy: format!("{remedy}, or choose a metric of the order alone, such as kendall_tau"),
                });
            }
        }
        Ok(())
    }
}

impl Default for ItemMetric {
    /// `pair_accuracy`, which any labels have.
    fn default() -> Self {
        ItemMetric { name: "pair_accuracy".into(), kind: Kind::PairAccuracy }
    }
}

impl fmt::Display for ItemMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl FromStr for ItemMetric {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        ItemMetric::parse(name)
    }
}

impl Measured {
    fn new(shares: &[Share]) -> Self {
        let total = total(shares.iter().filter_map(|share| share.part()));
        Measured {
            value: (total.denominator > 0.0).then(|| total.numerator / total.denominator),
            n_groups: shares.iter().filter(|&&share| share != Share::Absent).count(),
            n_skipped: shares.iter().filter(|&&share| share == Share::Undefined).count(),
        }
    }
}

/// Sums in the order of the groups.
pub(super) fn total(parts: impl Iterator<Item = Part>) -> Part {
    parts.fold(Part { numerator: 0.0, denominator: 0.0 }, |sum, part| Part {
        numerator: sum.numerator + part.numerator,
        denominator: sum.denominator + part.denominator,
    })
}

impl Kind {
    fn rules(self) -> Rules {
        match self {
            Kind::Ndcg { rules, .. }
            | Kind::Map { rules, .. }
            | Kind::Mrr { rules, .. }
            | Kind::Precision { rules, .. } => rules,
            _ => Rules::Own,
        }
    }

    /// What a group of weight 1 adds; `None` where the metric is not defined on it.
    fn part(self, list: &List<'_>, ties: Ties, largest: f64) -> Option<Part> {
        let mean = |value: f64| Part { numerator: value, denominator: 1.0 };
        let pooled = |hits: fn(&PairCounts) -> f64| {
            let counts = PairCounts::of(list);
            Some(Part { numerator: hits(&counts), denominator: counts.comparable() })
        };
        let order = || list.order(ties, self.rules().in_f32());
        match self {
            Kind::PairAccuracy => pooled(|counts| counts.concordant),
            Kind::SwappedPairs => pooled(|counts| counts.discordant + counts.score_ties),
            Kind::Concordance => pooled(|counts| counts.concordant + 0.5 * counts.score_ties),
            Kind::TauA => PairCounts::of(list).tau_a().map(mean),
            Kind::TauB => PairCounts::of(list).tau_b().map(mean),
            Kind::Spearman => spearman(list).map(mean),
            Kind::Ndcg { cut, rules } => gain::ndcg(&order(), &list.labels, cut, rules).map(mean),
            Kind::Map { from, rules } => gain::average_precision(&order(), &list.labels, from, rules).map(mean),
            Kind::Mrr { from, .. } => Some(mean(gain::reciprocal_rank(&order(), from))),
            Kind::Precision { cut, from, .. } => Some(mean(gain::precision(&order(), cut, from))),
            Kind::Err { cut } => Some(mean(gain::expected_reciprocal_rank(&order(), cut, largest))),
        }
    }

    fn parse(name: &str) -> Result<Self> {
        let fault = |expected: String| Error::parameter("metric", format!("`{name}`"), expected);
        let mut words = name.split(':');
        let base = words.next().unwrap_or_default();
        let (base, cut) = base.split_once('@').map_or((base, None), |(base, cut)| (base, Some(cut)));
        if !ItemMetric::NAMES.iter().any(|known| known.trim_end_matches("@K") == base) {
            return Err(fault(format!("one of {}", Self::known())));
        }
        let takes_cut = matches!(base, "ndcg" | "precision" | "err");
        let cut = match cut {
            None => None,
            Some(text) if takes_cut => match text.parse::<usize>() {
                Ok(cut) if cut > 0 => Some(cut),
                _ => return Err(fault(format!("a number of ranks from 1 on after @, such as {base}@10"))),
            },
            Some(_) => return Err(fault(format!("{base} without @, which looks at whole lists"))),
        };
        let takes_rel = matches!(base, "map" | "mrr" | "precision");
        let tools: &[Rules] = match base {
            "ndcg" => &[Rules::Sklearn, Rules::LightGbm, Rules::XgBoost, Rules::Letor, Rules::Trec],
            "map" | "precision" => &[Rules::Letor, Rules::Trec],
            "mrr" => &[Rules::Trec],
            _ => &[],
        };
        let (mut from, mut rules) = (None, None);
        for word in words {
            let tool = Rules::WORDS.iter().find(|(known, rules)| *known == word && tools.contains(rules));
            let rel = word.strip_prefix("rel=").filter(|_| takes_rel).and_then(|text| text.parse::<f64>().ok());
            match (tool, rel.filter(|rel| rel.is_finite())) {
                (Some(&(_, tool)), _) if rules.is_none() => rules = Some(tool),
                (_, Some(rel)) if from.is_none() => from = Some(rel),
                _ => return Err(fault(Self::options(base, takes_rel, tools))),
            }
        }
        let (from, rules) = (from.unwrap_or(1.0), rules.unwrap_or(Rules::Own));
        let needed_cut = || cut.ok_or_else(|| fault(format!("a number of ranks, such as {base}@10")));
        Ok(match base {
            "pair_accuracy" => Kind::PairAccuracy,
            "swapped_pairs" => Kind::SwappedPairs,
            "concordance" => Kind::Concordance,
            "kendall_tau" => Kind::TauB,
            "kendall_tau_a" => Kind::TauA,
            "spearman" => Kind::Spearman,
            "ndcg" => Kind::Ndcg { cut, rules },
            "map" => Kind::Map { from, rules },
            "mrr" => Kind::Mrr { from, rules },
            "precision" => Kind::Precision { cut: needed_cut()?, from, rules },
            _ => match needed_cut()? {
                cut if cut <= LONGEST_ERR => Kind::Err { cut },
                _ => {
                    let why = "what is further down adds next to nothing";
                    return Err(fault(format!("at most {LONGEST_ERR} ranks: {why}")));
                }
            },
        })
    }

    fn known() -> String {
        let tools = Rules::WORDS.map(|(word, _)| format!(":{word}")).join(", ");
        format!("{} (K a number; after ndcg also {tools})", ItemMetric::NAMES.join(", "))
    }

    fn options(base: &str, takes_rel: bool, tools: &[Rules]) -> String {
        let rel = takes_rel.then(|| "rel=X with X a number".to_string());
        let tools = Rules::WORDS.iter().filter(|(_, rules)| tools.contains(rules)).map(|(word, _)| word.to_string());
        let known: Vec<String> = rel.into_iter().chain(tools).collect();
        match known.as_slice() {
            [] => format!("{base} with nothing after it"),
            known => format!("{base} followed by one of {} after a colon, each kind once", known.join(", ")),
        }
    }
}
