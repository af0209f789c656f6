//! Whether probabilities mean what they say: of the pairs that were given a probability of 0.3, three in ten should come
//! true.

use super::Judged;
use crate::data::order::argsort;
use crate::data::{Outcome, unit_of};

/// The 97.5 % quantile of the normal distribution: intervals of 95 %.
const QUANTILE: f64 = 1.959_963_984_540_054;

/// Which probabilities are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chance {
    /// P(tie).
    Tie,
    /// P(left) and P(right) alike, since exchanging the sides of a pair exchanges the two: every pair counts twice.
    Side,
}

/// Probabilities that are about the same, and what came true of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReliabilityBin {
    /// The mean probability.
    pub predicted: f64,
    /// The share that came true.
    pub observed: f64,
    /// The lower end of the 95 % interval of that share (Wilson 1927).
    pub low: f64,
    /// The upper end of it.
    pub high: f64,
    /// The weight of what is in it.
    pub weight: f64,
}

/// Probabilities beside what came true.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    /// By ascending probability.
    pub bins: Vec<ReliabilityBin>,
    /// The mean distance between the two, weighted by what is in the bins: the expected calibration error.
    pub error: f64,
}

impl Judged<'_> {
    /// Probabilities in up to `n_bins` bins of about equal weight; equal probabilities are never parted. `None` without
    /// probabilities or without pairs. O(n log n).
    pub fn reliability(&self, chance: Chance, n_bins: usize) -> Option<Reliability> {
        let mut events: Vec<Event> = Vec::new();
        // Squares of weights as they are may be out of range.
        let unit = unit_of((0..self.outcomes.len()).map(|k| self.weight(k)).fold(0.0, f64::max));
        for k in (0..self.outcomes.len()).filter(|&k| self.weight(k) > 0.0) {
            let (chances, judged, weight) = (self.chances_of(k)?, self.outcomes[k], self.weight(k) / unit);
            let outcomes: &[Outcome] = match chance {
                Chance::Tie => &[Outcome::Tie],
                Chance::Side => &[Outcome::Left, Outcome::Right],
            };
            let of = |&o: &Outcome| Event { chance: chances[o as usize], weight, came_true: o == judged };
            events.extend(outcomes.iter().map(of));
        }
        of_events(&events, unit, n_bins)
    }
}

/// Events, whose weights are in some unit, in up to `n_bins` bins.
pub(super) fn of_events(events: &[Event], unit: f64, n_bins: usize) -> Option<Reliability> {
    let total: f64 = events.iter().map(|event| event.weight).sum();
    let sizes: Vec<f64> = events.iter().map(|event| event.chance).collect();
    let order = argsort(&sizes);
    let (mut bins, mut bin, mut so_far) = (Vec::new(), Bin::default(), 0.0);
    for (at, &k) in order.iter().enumerate() {
        let event = &events[k as usize];
        bin.add(event);
        so_far += event.weight;
        let next = order.get(at + 1).map(|&next| sizes[next as usize]);
        let is_full = so_far * n_bins.max(1) as f64 >= total * (bins.len() + 1) as f64 * (1.0 - 1e-12);
        if next.is_none() || (is_full && next != Some(event.chance)) {
            bins.push(std::mem::take(&mut bin).finish());
        }
    }
    let distance = |bin: &ReliabilityBin| bin.weight * (bin.predicted - bin.observed).abs();
    let error = bins.iter().map(distance).sum::<f64>() / total;
    bins.iter_mut().for_each(|bin| bin.weight *= unit);
    (total > 0.0).then_some(Reliability { bins, error })
}

/// A probability, and whether it came true.
pub(super) struct Event {
    pub(super) chance: f64,
    pub(super) weight: f64,
    pub(super) came_true: bool,
}

/// Sums over events.
#[derive(Default)]
struct Bin {
    weight: f64,
    squares: f64,
    predicted: f64,
    observed: f64,
}

impl Bin {
    fn add(&mut self, event: &Event) {
        self.weight += event.weight;
        self.squares += event.weight * event.weight;
        self.predicted += event.weight * event.chance;
        self.observed += if event.came_true { event.weight } else { 0.0 };
    }

    fn finish(self) -> ReliabilityBin {
        let Bin { weight, squares, predicted, observed } = self;
        let share = (observed / weight).min(1.0);
        // So many events of equal weight would tell as much.
        let n = weight * weight / squares;
        let z = QUANTILE * QUANTILE / n;
        let middle = (share + z / 2.0) / (1.0 + z);
        let reach = (share * (1.0 - share) * z + z * z / 4.0).sqrt() / (1.0 + z);
        ReliabilityBin {
            predicted: predicted / weight,
            observed: share,
            low: (middle - reach).clamp(0.0, share),
            high: (middle + reach).clamp(share, 1.0),
            weight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Random, Verdicts};

    fn said(chances: Vec<[f64; 3]>) -> Verdicts {
        Verdicts {
            margins: vec![0.0; chances.len()],
            threshold: 0.0,
            thresholds: None,
            excess: None,
            chances: Some(chances),
        }
    }

    /// Probabilities, and outcomes that are drawn from them after `bend` has changed them.
    fn draw(n: usize, seed: u64, bend: impl Fn(f64) -> f64) -> (Vec<Outcome>, Verdicts) {
        let mut random = Random::new(seed);
        let chances: Vec<[f64; 3]> = (0..n)
            .map(|_| {
                let (tie, right) = (random.uniform(), random.uniform());
                [(1.0 - tie) * (1.0 - right), tie, (1.0 - tie) * right]
            })
            .collect();
        let outcomes = chances
            .iter()
            .map(|p| {
                let tie = bend(p[1]);
                let at = random.uniform();
                let right = (1.0 - tie) * p[2] / (p[0] + p[2]);
                if at < tie {
                    Outcome::Tie
                } else if at < tie + right {
                    Outcome::Right
                } else {
                    Outcome::Left
                }
            })
            .collect();
        (outcomes, said(chances))
    }

    #[test]
    fn true_probabilities_are_found_to_be_true() {
        let (outcomes, verdicts) = draw(20_000, 1, |p| p);
        let judged = Judged::of(&outcomes, &verdicts, None).unwrap();
        let mut n_inside = 0;
        for (chance, n) in [(Chance::Tie, 20_000.0), (Chance::Side, 40_000.0)] {
            let Reliability { bins, error } = judged.reliability(chance, 10).unwrap();
            assert_eq!(bins.len(), 10);
            assert!(error < 0.02, "{error}");
            assert!(bins.windows(2).all(|w| w[0].predicted < w[1].predicted));
            assert!(bins.iter().all(|bin| (bin.weight - n / 10.0).abs() <= 1.0), "equal counts: {bins:?}");
            n_inside += bins.iter().filter(|bin| (bin.low..=bin.high).contains(&bin.predicted)).count();
        }
        assert!(n_inside >= 17, "{n_inside} of 20 intervals hold the truth");
    }

    #[test]
    fn bent_probabilities_are_found_out() {
        let (outcomes, verdicts) = draw(20_000, 2, |p| p * p);
        let judged = Judged::of(&outcomes, &verdicts, None).unwrap();
        // ∫ p − p² over 0 to 1
        let error = judged.reliability(Chance::Tie, 10).unwrap().error;
        assert!((error - 1.0 / 6.0).abs() < 0.01, "{error}");
    }

    #[test]
    fn bins_are_what_their_pairs_say() {
        use Outcome::{Left, Right, Tie};
        let outcomes = [Tie, Left, Tie, Right, Tie];
        let ties = [0.2, 0.2, 0.6, 0.6, 0.9];
        let verdicts = said(ties.map(|p| [(1.0 - p) / 2.0, p, (1.0 - p) / 2.0]).to_vec());
        let weights = [1.0, 3.0, 2.0, 0.0, 1.0];
        let judged = Judged::of(&outcomes, &verdicts, Some(&weights)).unwrap();
        let found = judged.reliability(Chance::Tie, 100).unwrap();
        let seen: Vec<_> = found.bins.iter().map(|bin| (bin.predicted, bin.observed, bin.weight)).collect();
        let expected = [(0.2, 0.25, 4.0), (0.6, 1.0, 2.0), (0.9, 1.0, 1.0)];
        for (seen, expected) in seen.iter().zip(expected) {
            assert!((seen.0 - expected.0).abs() < 1e-12 && (seen.1, seen.2) == (expected.1, expected.2), "{seen:?}");
        }
        assert_eq!(seen.len(), 3);
        assert!((found.error - (4.0 * 0.05 + 2.0 * 0.4 + 0.1) / 7.0).abs() < 1e-12);
        let one = judged.reliability(Chance::Tie, 1).unwrap();
        assert_eq!((one.bins.len(), one.bins[0].weight), (1, 7.0));
        // Wilson's interval of 1 in 1.
        assert!((found.bins[2].low - 1.0 / (1.0 + QUANTILE * QUANTILE)).abs() < 1e-12 && found.bins[2].high == 1.0);
    }

    #[test]
    fn weights_of_any_size_tell_the_same() {
        let (outcomes, verdicts) = draw(200, 4, |p| p);
        let found = |factor: f64| {
            let weights: Vec<f64> = (0..200).map(|k| f64::from(k % 5) * factor).collect();
            Judged::of(&outcomes, &verdicts, Some(&weights)).unwrap().reliability(Chance::Side, 10).unwrap()
        };
        let plain = found(1.0);
        for factor in [1e160, 1e-200, 1e300] {
            let other = found(factor);
            assert!((other.error - plain.error).abs() < 1e-12 && other.bins.len() == plain.bins.len());
            for (a, b) in other.bins.iter().zip(&plain.bins) {
                let all = |bin: &ReliabilityBin| [bin.predicted, bin.observed, bin.low, bin.high];
                assert!(all(a).iter().zip(all(b)).all(|(a, b)| (a - b).abs() < 1e-12), "{factor:e}: {a:?} {b:?}");
                assert!((a.weight / factor / b.weight - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn exchanging_sides_changes_nothing_and_nothing_is_known_of_nothing() {
        let (outcomes, verdicts) = draw(500, 3, |p| p);
        let swapped: Vec<Outcome> = outcomes.iter().map(|o| o.swapped()).collect();
        let mirrored = said(verdicts.chances.as_ref().unwrap().iter().map(|p| [p[2], p[1], p[0]]).collect());
        let (here, there) =
            (Judged::of(&outcomes, &verdicts, None).unwrap(), Judged::of(&swapped, &mirrored, None).unwrap());
        let [here, there] = [here, there].map(|judged| judged.reliability(Chance::Side, 10).unwrap());
        here.bins.iter().zip(&there.bins).for_each(|(a, b)| assert!((a.observed - b.observed).abs() < 1e-12));
        let plain = Verdicts::plain(vec![1.0], 0.0);
        assert!(Judged::of(&[Outcome::Tie], &plain, None).unwrap().reliability(Chance::Tie, 10).is_none());
        let none = said(Vec::new());
        assert!(Judged::of(&[], &none, None).unwrap().reliability(Chance::Tie, 10).is_none());
    }
}
