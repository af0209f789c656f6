//! Metrics of the top of a ranked list: NDCG, expected reciprocal rank, average precision, reciprocal rank, precision.
//!
//! Of items with equal scores every order is as likely, and each metric is its exact mean over all orders (McSherry and
//! Najork, 2008, for most of them). In a run of m items that take the ranks a + 1, …, a + m:
//!
//! - a rank holds the mean gain of the run (NDCG), and is relevant with chance s/m, where s of the m are (precision);
//! - two given ranks are both relevant with chance s(s − 1)/(m(m − 1)) (average precision);
//! - the first relevant one comes j-th with chance C(m − j, s − 1)/C(m, s) (reciprocal rank);
//! - the first j satisfy nobody with chance E_j, the mean over all choices of j items of the product of 1 − R (expected
//!   reciprocal rank); from t − 1 items to t, E_j ← (1 − j/t)·E_j + (j/t)·(1 − R_t)·E_(j−1).
//!
//! Rules of other tools that order equal scores make runs of one item.

use super::ranked::{Order, Ties};

/// Whose rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Equal scores averaged; groups without anything to find left out.
    Own,
    Sklearn,
    LightGbm,
    XgBoost,
    Letor,
    Trec,
}

impl Rules {
    /// The rules that a name can ask for.
    pub(super) const WORDS: [(&'static str, Rules); 5] = [
        ("sklearn", Rules::Sklearn),
        ("lightgbm", Rules::LightGbm),
        ("xgboost", Rules::XgBoost),
        ("letor", Rules::Letor),
        ("trec", Rules::Trec),
    ];

    pub(super) fn ties(self) -> Ties {
        match self {
            Rules::Own | Rules::Sklearn => Ties::Averaged,
            Rules::LightGbm | Rules::XgBoost | Rules::Letor => Ties::InputOrder,
            Rules::Trec => Ties::IdsDescending,
        }
    }

    /// XGBoost and trec_eval keep scores in single precision, and so see ties that others do not.
    pub(super) fn in_f32(self) -> bool {
        matches!(self, Rules::XgBoost | Rules::Trec)
    }

    /// The value of a group in which there is nothing to find.
    fn of_nothing(self) -> Option<f64> {
        match self {
            Rules::Own => None,
            Rules::Sklearn | Rules::Letor | Rules::Trec => Some(0.0),
            Rules::LightGbm | Rules::XgBoost => Some(1.0),
        }
    }

    /// The largest label that the tool takes; it takes whole numbers only. `None`: any number.
    pub(super) fn largest_grade(self) -> Option<f64> {
        match self {
            Rules::LightGbm => Some(30.0),
            Rules::XgBoost => Some(31.0),
            Rules::Letor => Some(1023.0),
            Rules::Own | Rules::Sklearn | Rules::Trec => None,
        }
    }

    pub(super) fn gain(self, label: f64) -> f64 {
        match self {
            Rules::Sklearn => label,
            // Negative judgments (spam, junk) gain nothing.
            Rules::Trec => label.max(0.0),
            _ => label.exp2() - 1.0,
        }
    }

    /// What the gain at a rank, counted from 0, is multiplied by.
    fn discount(self, rank: usize) -> f64 {
        match self {
            Rules::Letor if rank < 2 => 1.0,
            Rules::Letor => 1.0 / (rank as f64 + 1.0).log2(),
            _ => 1.0 / (rank as f64 + 2.0).log2(),
        }
    }
}

/// NDCG of the first `cut` ranks; `labels` are those of all items of the group, retrieved or not.
pub(super) fn ndcg(order: &Order, labels: &[f64], cut: Option<usize>, rules: Rules) -> Option<f64> {
    let limit = cut.unwrap_or(usize::MAX);
    let mut best = labels.to_vec();
    best.sort_unstable_by(|a, b| b.total_cmp(a));
    let ideal: f64 =
        best.iter().take(limit).enumerate().map(|(rank, &label)| rules.gain(label) * rules.discount(rank)).sum();
    if ideal <= 0.0 {
        return rules.of_nothing();
    }
    if rules == Rules::Letor && cut.is_some_and(|cut| cut > labels.len()) {
        return Some(0.0); // its scripts have no value beyond the end of the list, and add none to their mean
    }
    let mut found = 0.0;
    for (start, run) in order.runs().take_while(|&(start, _)| start < limit) {
        let gain = run.iter().map(|&label| rules.gain(label)).sum::<f64>() / run.len() as f64;
        let discounts: f64 = (start..limit.min(start + run.len())).map(|rank| rules.discount(rank)).sum();
        found += gain * discounts;
    }
    Some((found / ideal).min(1.0))
}

/// Expected reciprocal rank of the first `cut` ranks (Chapelle, Metzler, Zhang and Grinspan, 2009): an item of label g
/// satisfies with chance (2^g − 1)/2^(`largest`), and ends the search. O(n · cut) where scores are equal.
pub(super) fn expected_reciprocal_rank(order: &Order, cut: usize, largest: f64) -> f64 {
    let (mut sum, mut unsatisfied) = (0.0, 1.0);
    let mut means = Vec::new();
    for (start, run) in order.runs().take_while(|&(start, _)| start < cut) {
        let n_ranks = run.len().min(cut - start);
        means.clear();
        means.resize(n_ranks + 1, 0.0);
        means[0] = 1.0;
        for (number, label) in (1..).zip(run) {
            let fails = 1.0 - ((label - largest).exp2() - (-largest).exp2());
            for j in (1..=n_ranks.min(number)).rev() {
                let share = j as f64 / number as f64;
                means[j] = (1.0 - share) * means[j] + share * fails * means[j - 1];
            }
        }
        for j in 1..=n_ranks {
            sum += unsatisfied * (means[j - 1] - means[j]) / (start + j) as f64;
        }
        unsatisfied *= means[n_ranks];
    }
    sum
}

fn n_relevant(labels: &[f64], from: f64) -> usize {
    labels.iter().filter(|&&label| label >= from).count()
}

/// Average precision: the mean over the relevant items (label at least `from`) of the precision at their rank, 0 for those
/// that were not retrieved.
pub(super) fn average_precision(order: &Order, labels: &[f64], from: f64, rules: Rules) -> Option<f64> {
    let n_all = n_relevant(labels, from);
    if n_all == 0 {
        return rules.of_nothing();
    }
    let (mut sum, mut n_before) = (0.0, 0);
    for (start, run) in order.runs() {
        let n_here = n_relevant(run, from);
        if n_here > 0 {
            let (size, here) = (run.len() as f64, n_here as f64);
            let is_relevant = here / size;
            let are_both = if n_here > 1 { is_relevant * (here - 1.0) / (size - 1.0) } else { 0.0 };
            for place in 0..run.len() {
                let hits = is_relevant * (n_before as f64 + 1.0) + are_both * place as f64;
                sum += hits / (start + place + 1) as f64;
            }
        }
        n_before += n_here;
    }
    Some((sum / n_all as f64).min(1.0))
}

/// One over the rank of the first relevant item; 0 where none was retrieved.
pub(super) fn reciprocal_rank(order: &Order, from: f64) -> f64 {
    let first = order.runs().map(|(start, run)| (start, run.len(), n_relevant(run, from)));
    let Some((start, size, n_here)) = first.into_iter().find(|&(.., n_here)| n_here > 0) else { return 0.0 };
    let (mut mean, mut chance) = (0.0, n_here as f64 / size as f64);
    for place in 0..=size - n_here {
        mean += chance / (start + place + 1) as f64;
        let left = size - place - 1;
        chance *= (left + 1 - n_here) as f64 / left.max(1) as f64;
    }
    mean
}

/// The share of relevant items among the first `cut` ranks; ranks that nothing takes are not relevant.
pub(super) fn precision(order: &Order, cut: usize, from: f64) -> f64 {
    let hits = order.runs().take_while(|&(start, _)| start < cut).map(|(start, run)| {
        let n_ranks = run.len().min(cut - start);
        n_relevant(run, from) as f64 * n_ranks as f64 / run.len() as f64
    });
    hits.sum::<f64>() / cut as f64
}
