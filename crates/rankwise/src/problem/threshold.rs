//! The threshold with the least zero-one error (equation (6) of the SVMcompare paper, without its grid).
//!
//! err(τ) = weight of the ties with |z| > τ, plus that of the others with |z| ≤ τ or the wrong sign: constant between
//! neighbouring values of |z|, so one sort finds the exact minimum.

use rayon::prelude::*;

use crate::data::Outcome;

/// Sizes closer than this share of the largest are equal.
const ROUNDING: f64 = 1e-9;

/// Pairs that are all sorted; more are parted by size first, so that nothing is kept for each of many.
const AT_ONCE: usize = 1 << 18;
/// Parts of more.
const PARTS: usize = 1024;

/// What is to be cut: pairs by their size, up to which they are ties.
pub(crate) struct Cuts<'a> {
    pub(crate) n: usize,
    pub(crate) outcome: &'a (dyn Fn(usize) -> Outcome + Sync),
    pub(crate) margin: &'a (dyn Fn(usize) -> f64 + Sync),
    pub(crate) weight: &'a (dyn Fn(usize) -> f64 + Sync),
}

/// The minimiser of the weighted zero-one error over τ ≥ 0. Below the smallest |z| it is 0, beyond the largest it is
/// max|z|, in between the middle of two neighbours; among equal errors the widest inner gap wins, then the smallest τ.
/// Without ties it is 0. Sizes that differ by rounding are one: margins pile up where losses have corners. O(n log n).
pub(crate) fn best_threshold(cuts: &Cuts<'_>) -> f64 {
    if !(0..cuts.n).any(|k| (cuts.outcome)(k) == Outcome::Tie) {
        return 0.0;
    }
    best_cut(&Here { cuts, size: &|k| (cuts.margin)(k).abs() }, None, AT_ONCE)
}

/// What to widen a tie region by that depends on the pair, for the least error: a pair is a tie where |z| ≤ width + that.
pub(crate) fn best_widening(cuts: &Cuts<'_>, width: &(dyn Fn(usize) -> f64 + Sync)) -> f64 {
    let size = |k: usize| (cuts.margin)(k).abs() - width(k);
    let least = (0..cuts.n).map(size).fold(f64::INFINITY, f64::min);
    let most = (0..cuts.n).map(size).fold(f64::NEG_INFINITY, f64::max);
    if !(0..cuts.n).any(|k| (cuts.outcome)(k) == Outcome::Tie) {
        return least - 1.0;
    }
    best_cut(&Here { cuts, size: &size }, Some(least - (1e-3 * (most - least)).max(1e-9)), AT_ONCE)
}

/// Sizes of pairs, and how the error moves where a cut passes them, wherever the pairs are.
pub(crate) trait Sizes {
    /// How many there are.
    fn n(&self) -> usize;
    /// The largest, without its sign.
    fn largest(&self) -> f64;
    /// The weight of all pairs.
    fn total(&self) -> f64;
    /// About so many of them, evenly from all.
    fn sample(&self, n: usize) -> Vec<f64>;
    /// How the error moves within the parts between edges: down by ties, up by others. An edge is the first of its part.
    fn moves(&self, edges: &[f64]) -> Vec<(f64, f64)>;
    /// Those from `low` up to below `high`, the smallest first, with how the error moves.
    fn within(&self, low: f64, high: f64) -> Vec<(f64, f64)>;
}

/// How the error moves where a cut passes a pair.
pub(crate) fn change(outcome: Outcome, margin: f64, weight: f64) -> f64 {
    if outcome == Outcome::Tie {
        -weight
    } else if Outcome::of_margin(margin, 0.0) == outcome {
        weight
    } else {
        0.0
    }
}

/// The part between edges that a size is in.
pub(crate) fn part_of(edges: &[f64], size: f64) -> usize {
    edges.partition_point(|edge| *edge <= size)
}

/// Pairs that are here.
struct Here<'a> {
    cuts: &'a Cuts<'a>,
    size: &'a (dyn Fn(usize) -> f64 + Sync),
}

impl Here<'_> {
    fn change(&self, k: usize) -> f64 {
        change((self.cuts.outcome)(k), (self.cuts.margin)(k), (self.cuts.weight)(k))
    }
}

impl Sizes for Here<'_> {
    fn n(&self) -> usize {
        self.cuts.n
    }

    fn largest(&self) -> f64 {
        (0..self.n()).into_par_iter().map(|k| (self.size)(k).abs()).reduce(|| 0.0, f64::max)
    }

    fn total(&self) -> f64 {
        (0..self.n()).map(self.cuts.weight).sum()
    }

    fn sample(&self, n: usize) -> Vec<f64> {
        (0..self.n()).step_by((self.n() / n).max(1)).map(self.size).collect()
    }

    fn moves(&self, edges: &[f64]) -> Vec<(f64, f64)> {
        let mut moves = vec![(0.0, 0.0); edges.len() + 1];
        for k in 0..self.n() {
            let (change, part) = (self.change(k), part_of(edges, (self.size)(k)));
            if change < 0.0 { moves[part].0 += change } else { moves[part].1 += change }
        }
        moves
    }

    fn within(&self, low: f64, high: f64) -> Vec<(f64, f64)> {
        let sizes = (0..self.n()).into_par_iter().map(|k| ((self.size)(k), k as u32));
        let mut sorted: Vec<(f64, u32)> = sizes.filter(|(size, _)| (low..high).contains(size)).collect();
        sorted.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        sorted.into_iter().map(|(size, k)| (size, self.change(k as usize))).collect()
    }
}

/// The best of all cuts through sizes of pairs with ties among them.
pub(crate) fn best_threshold_of(sizes: &dyn Sizes) -> f64 {
    best_cut(sizes, None, AT_ONCE)
}

/// The best of all cuts through sizes, up to which a pair is a tie. `below` is the cut below all of them; without it, 0 is,
/// unless a size is 0. Of many pairs only those are sorted that are near a cut that may be the best.
fn best_cut(sizes: &dyn Sizes, below: Option<f64>, at_once: usize) -> f64 {
    let slack = 1e-12 * sizes.total();
    let rounding = ROUNDING * sizes.largest();
    let mut search = Search { error: 0.0, rounding, slack, below, is_first: true, last: None, best: None };
    let edges = if sizes.n() <= at_once { Vec::new() } else { edges(sizes.sample(8 * PARTS)) };
    let moves = if edges.is_empty() { vec![(0.0, 0.0)] } else { sizes.moves(&edges) };
    let mut error = 0.0;
    let starts: Vec<f64> = moves
        .iter()
        .map(|(down, up)| {
            let start = error;
            error += down + up;
            start
        })
        .collect();
    let ends = || starts.iter().skip(1).copied().chain([error]);
    // Errors that are known to be reached.
    let reached = starts.iter().copied().chain([error]).fold(f64::INFINITY, f64::min) + 4.0 * slack;
    let may_be_best: Vec<bool> = (starts.iter().zip(&moves).zip(ends()))
        .map(|((start, (down, _)), end)| edges.is_empty() || start + down <= reached || end <= reached)
        .collect();
    let mut part = 0;
    while part < may_be_best.len() {
        if !may_be_best[part] {
            part += 1;
            continue;
        }
        // Neighbours are one.
        let last = (part..may_be_best.len()).take_while(|&at| may_be_best[at]).last().unwrap_or(part);
        let low = part.checked_sub(1).map_or(f64::NEG_INFINITY, |at| edges[at]);
        let high = edges.get(last).copied().unwrap_or(f64::INFINITY);
        search.begin(starts[part], part == 0);
        sizes.within(low, high).into_iter().for_each(|(size, change)| search.add(size, change));
        search.end(last + 1 == may_be_best.len());
        part = last + 1;
    }
    search.best.map_or(0.0, |(_, _, cut)| cut)
}

/// Sizes that part many pairs into about equal numbers, from a sample.
fn edges(mut sample: Vec<f64>) -> Vec<f64> {
    sample.sort_unstable_by(f64::total_cmp);
    let mut edges: Vec<f64> = (1..PARTS).filter_map(|at| sample.get(at * sample.len() / PARTS).copied()).collect();
    edges.dedup();
    edges
}

/// Sizes that are one, and the error for cuts from there up to the next.
struct Run {
    high: f64,
    error: f64,
}

/// A walk through sizes from the smallest.
struct Search {
    /// What moves with the cut, relative to one below all sizes.
    error: f64,
    rounding: f64,
    slack: f64,
    below: Option<f64>,
    is_first: bool,
    last: Option<Run>,
    /// (error, inner width, cut)
    best: Option<(f64, f64, f64)>,
}

impl Search {
    /// Goes on where cuts have this error, with the smallest size of all or with another.
    fn begin(&mut self, error: f64, is_first: bool) {
        (self.error, self.last) = (error, None);
        self.is_first = is_first;
    }

    fn add(&mut self, size: f64, change: f64) {
        self.error += change;
        let error = self.error;
        match &mut self.last {
            // A tie at exactly 0 is one for every τ, whatever is near it.
            Some(run) if size - run.high <= self.rounding && (run.high != 0.0 || size == 0.0) => {
                (run.high, run.error) = (size, error);
            }
            Some(run) => {
                let middle = run.high + 0.5 * (size - run.high);
                let cut = if middle < size { middle } else { run.high };
                let (before, width) = (run.error, size - run.high);
                *run = Run { high: size, error };
                self.offer(before, width, cut);
            }
            None => {
                if let Some(cut) = self.below.or((size > 0.0).then_some(0.0)).filter(|_| self.is_first) {
                    self.offer(0.0, 0.0, cut);
                }
                self.last = Some(Run { high: size, error });
            }
        }
    }

    fn offer(&mut self, error: f64, width: f64, cut: f64) {
        let is_better = match self.best {
            None => true,
            Some((least, widest, _)) => error < least - self.slack || (error <= least + self.slack && width > widest),
        };
        if is_better {
            self.best = Some((error, width, cut));
        }
    }

    /// Ends with the largest size of all, or before others: the cut there is not known to be a middle, nor better.
    fn end(&mut self, is_last: bool) {
        if let Some(run) = self.last.take().filter(|_| is_last) {
            self.offer(run.error, 0.0, run.high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    fn best_threshold(outcomes: &[Outcome], margins: &[f64], weight: impl Fn(usize) -> f64 + Sync) -> f64 {
        let cuts = Cuts { n: outcomes.len(), outcome: &|k| outcomes[k], margin: &|k| margins[k], weight: &weight };
        let found = super::best_threshold(&cuts);
        // A few at a time, the same.
        let size = |k: usize| margins[k].abs();
        let has_ties = outcomes.contains(&Outcome::Tie);
        for at_once in [0, 1, 5] {
            assert!(!has_ties || best_cut(&Here { cuts: &cuts, size: &size }, None, at_once) == found);
        }
        found
    }

    fn error(outcomes: &[Outcome], margins: &[f64], weights: &[f64], tau: f64) -> f64 {
        (0..outcomes.len()).filter(|&k| Outcome::of_margin(margins[k], tau) != outcomes[k]).map(|k| weights[k]).sum()
    }

    #[test]
    fn never_worse_than_any_other_threshold() {
        let mut random = Random::new(1);
        for case in 0..300 {
            let n = 1 + random.below(30);
            let rounded = case % 2 == 0;
            let margins: Vec<f64> =
                (0..n).map(|_| if rounded { random.below(5) as f64 - 2.0 } else { random.normal() }).collect();
            let outcomes: Vec<Outcome> = (0..n).map(|_| Outcome::ALL[random.below(3)]).collect();
            let weights: Vec<f64> = (0..n).map(|_| random.below(4) as f64 * 0.5).collect();
            let tau = best_threshold(&outcomes, &margins, |k| weights[k]);
            if !outcomes.contains(&Outcome::Tie) {
                assert_eq!(tau, 0.0);
                continue;
            }
            let found = error(&outcomes, &margins, &weights, tau);
            for step in 0..=400 {
                assert!(found <= error(&outcomes, &margins, &weights, step as f64 * 0.01) + 1e-9);
            }
        }
    }

    #[test]
    fn follows_the_rule_for_gaps() {
        use Outcome::{Left, Right, Tie};
        // ties at 1, wins at 3: the middle of the gap
        assert_eq!(best_threshold(&[Tie, Right, Tie, Left], &[1.0, 3.0, -1.0, -3.0], |_| 1.0), 2.0);
        // only ties: the last gap
        assert_eq!(best_threshold(&[Tie, Tie], &[1.0, -4.0], |_| 1.0), 4.0);
        // ties are farther out than wins: the first gap
        assert_eq!(best_threshold(&[Tie, Right, Right], &[5.0, 1.0, 2.0], |_| 1.0), 0.0);
        // no ties at all
        assert_eq!(best_threshold(&[Left, Right], &[-1.0, 2.0], |_| 1.0), 0.0);
        // two inner gaps with the same error: the wider one
        assert_eq!(best_threshold(&[Tie, Right, Tie, Right], &[1.0, 2.0, 3.0, 9.0], |_| 1.0), 6.0);
    }
}
