//! Pair metrics against slow and obvious twins, and the properties every one of them has.

use rankwise::Error;
use rankwise::data::{Outcome, Random, Verdicts};
use rankwise::metrics::{Judged, PairMetric};

/// Judged pairs that own what [`Judged`] borrows.
#[derive(Debug, Clone)]
struct Case {
    outcomes: Vec<Outcome>,
    weights: Option<Vec<f64>>,
    said: Verdicts,
}

impl Case {
    fn judged(&self) -> Judged<'_> {
        Judged::of(&self.outcomes, &self.said, self.weights.as_deref()).unwrap()
    }

    /// Of these pairs, as often as they are named.
    fn taken(&self, numbers: &[usize]) -> Case {
        let Verdicts { margins, threshold, thresholds, excess, chances } = &self.said;
        let take = |all: &Vec<f64>| numbers.iter().map(|&k| all[k]).collect();
        Case {
            outcomes: numbers.iter().map(|&k| self.outcomes[k]).collect(),
            weights: self.weights.as_ref().map(take),
            said: Verdicts {
                margins: take(margins),
                threshold: *threshold,
                thresholds: thresholds.as_ref().map(take),
                excess: excess.as_ref().map(take),
                chances: chances.as_ref().map(|all| numbers.iter().map(|&k| all[k]).collect()),
            },
        }
    }

    fn n_pairs(&self) -> usize {
        self.outcomes.len()
    }

    fn weight(&self, k: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[k])
    }

    /// Weight of the pairs that `is` holds for.
    fn sum(&self, is: impl Fn(usize) -> bool) -> f64 {
        (0..self.n_pairs()).filter(|&k| is(k)).map(|k| self.weight(k)).sum()
    }

    fn share(&self, among: impl Fn(usize) -> bool, is: impl Fn(usize) -> bool) -> Option<f64> {
        let total = self.sum(&among);
        (total > 0.0).then(|| self.sum(|k| among(k) && is(k)) / total)
    }

    fn is_tie(&self, k: usize) -> bool {
        self.outcomes[k] == Outcome::Tie
    }

    /// The comparison function c_τ; with a band, its thresholds moved by τ.
    fn predicted(&self, k: usize, tau: f64) -> i8 {
        let z = self.said.margins[k];
        if self.size(k) <= tau || z == 0.0 {
            0
        } else if z < 0.0 {
            -1
        } else {
            1
        }
    }

    /// The τ from which on a pair is a tie.
    fn size(&self, k: usize) -> f64 {
        let z = self.said.margins[k];
        match &self.said.excess {
            None => z.abs(),
            Some(_) if z == 0.0 => f64::NEG_INFINITY,
            Some(excess) => excess[k],
        }
    }

    /// Where τ stands when nothing is moved.
    fn tau(&self) -> f64 {
        if self.said.excess.is_some() { 0.0 } else { self.said.threshold }
    }

    fn sign_is_right(&self, k: usize) -> bool {
        f64::from(self.outcomes[k].sign()) * self.said.margins[k] > 0.0
    }

    fn zero_one(&self) -> Option<f64> {
        self.share(|_| true, |k| self.predicted(k, self.tau()) != self.outcomes[k].sign())
    }

    /// The mean of a loss of probabilities.
    fn mean(&self, loss: impl Fn([f64; 3], usize) -> f64) -> Option<f64> {
        let chances = self.said.chances.as_ref()?;
        let total = self.sum(|_| true);
        let losses = (0..self.n_pairs()).map(|k| self.weight(k) * loss(chances[k], self.outcomes[k] as usize));
        (total > 0.0).then(|| losses.sum::<f64>() / total)
    }

    fn log_loss(&self) -> Option<f64> {
        self.mean(|p, judged| -(p[judged].max(1e-15)).ln())
    }

    fn brier(&self) -> Option<f64> {
        self.mean(|p, judged| (0..3).map(|at| if at == judged { (1.0 - p[at]).powi(2) } else { p[at].powi(2) }).sum())
    }

    fn pair_accuracy(&self) -> Option<f64> {
        self.share(|k| !self.is_tie(k), |k| self.sign_is_right(k))
    }

    /// 1/(n₀n₁) Σ over non-ties of the right sign, Σ over ties: [|z_i| > |z_j|] + ½[|z_i| = |z_j|].
    fn auc_by_pairs_of_pairs(&self) -> Option<f64> {
        let n = self.sum(|k| self.is_tie(k)) * self.sum(|k| !self.is_tie(k));
        let mut sum = 0.0;
        for i in (0..self.n_pairs()).filter(|&i| self.sign_is_right(i)) {
            for j in (0..self.n_pairs()).filter(|&j| self.is_tie(j)) {
                let (non_tie, tie) = (self.size(i), self.size(j));
                let beats = f64::from(u8::from(non_tie > tie)) + 0.5 * f64::from(u8::from(non_tie == tie));
                sum += self.weight(i) * self.weight(j) * beats;
            }
        }
        (n > 0.0).then(|| sum / n)
    }

    /// False positive rate and 1 − false negative rate of Table 3 at a threshold.
    fn rates(&self, tau: f64) -> Option<[f64; 2]> {
        let false_positive = self.share(|k| self.is_tie(k), |k| self.predicted(k, tau) != 0)?;
        let false_negative = self.share(|k| !self.is_tie(k), |k| self.predicted(k, tau) != self.outcomes[k].sign())?;
        Some([false_positive, 1.0 - false_negative])
    }

    /// Trapezoids below the rates at every threshold, closed by the point where nothing is a tie.
    fn auc_by_thresholds(&self) -> Option<f64> {
        let mut taus: Vec<f64> = (0..self.n_pairs()).map(|k| self.size(k)).chain([0.0, f64::INFINITY]).collect();
        taus.sort_by(|a, b| b.total_cmp(a));
        let mut points: Vec<[f64; 2]> = taus.into_iter().map(|tau| self.rates(tau)).collect::<Option<_>>()?;
        points.push([1.0, self.pair_accuracy()?]);
        Some(points.windows(2).map(|w| (w[1][0] - w[0][0]) * (w[0][1] + w[1][1]) / 2.0).sum())
    }

    fn with_margins(&self, margins: impl Fn(usize) -> f64) -> Case {
        let mut other = self.clone();
        other.said.margins = (0..self.n_pairs()).map(margins).collect();
        other
    }

    fn with_threshold(mut self, threshold: f64) -> Case {
        self.said.threshold = threshold;
        self
    }

    /// The AUC of a constant prediction: every margin the same, whatever the sign.
    fn auc_baseline(&self) -> Option<f64> {
        let constant = |z: f64| {
            let mut same = self.with_margins(|_| z);
            same.said.excess = None;
            same.auc_by_pairs_of_pairs()
        };
        Some(constant(1.0)?.max(constant(-1.0)?))
    }

    fn majority_error(&self) -> Option<f64> {
        let errors = [-1, 0, 1].map(|answer| self.share(|_| true, |k| self.outcomes[k].sign() != answer));
        errors.into_iter().flatten().reduce(f64::min)
    }

    /// What is expected of each metric that is a number, with its name.
    fn expected(&self) -> [(PairMetric, Option<f64>); PairMetric::ALL.len()] {
        [
            (PairMetric::ZeroOne, self.zero_one()),
            (PairMetric::Auc, self.auc_by_pairs_of_pairs()),
            (PairMetric::AucBaseline, self.auc_baseline()),
            (PairMetric::PairAccuracy, self.pair_accuracy()),
            (PairMetric::LogLoss, self.log_loss()),
            (PairMetric::Brier, self.brier()),
        ]
    }
}

/// Random cases: rounded margins with many equal ones or fine ones, with and without weights, some with one kind only.
fn cases() -> Vec<Case> {
    let mut random = Random::new(7);
    let mut cases = Vec::new();
    for number in 0..600 {
        let n = 1 + random.below(25);
        let known = match number % 7 {
            0 => &[Outcome::Left, Outcome::Right][..],
            1 => &[Outcome::Tie],
            _ => &Outcome::ALL,
        };
        let outcomes = (0..n).map(|_| known[random.below(known.len())]).collect();
        let margins: Vec<f64> = match number % 4 {
            0 | 1 => (0..n).map(|_| random.below(7) as f64 * 0.5 - 1.5).collect(),
            2 => (0..n).map(|_| random.normal()).collect(),
            _ => vec![random.below(3) as f64 - 1.0; n],
        };
        let weights = match number % 3 {
            0 => None,
            1 => Some((0..n).map(|_| random.below(4) as f64 * 0.1).collect()),
            _ => Some((0..n).map(|_| random.uniform()).collect()),
        };
        let threshold = if number % 5 == 0 { margins[0].abs() } else { random.uniform() };
        // Now and then certain, and now and then certainly wrong.
        let chances = (number % 4 != 0).then(|| {
            let odds = (0..n).map(|_| [0; 3].map(|_| (8.0 * random.normal()).exp()));
            odds.map(|odds| odds.map(|part| part / odds.iter().sum::<f64>())).collect()
        });
        let said = Verdicts { chances, ..Verdicts::plain(margins, threshold) };
        cases.push(Case { outcomes, weights, said });
    }
    cases
}

/// The same with a threshold for every pair.
fn banded_cases() -> Vec<Case> {
    let mut random = Random::new(8);
    let mut cases = cases();
    for case in &mut cases {
        let widths = case.said.margins.iter().map(|_| random.below(6) as f64 * 0.5 - 1.0);
        case.said.excess = Some(case.said.margins.iter().zip(widths).map(|(z, width)| z.abs() - width).collect());
    }
    cases
}

fn close(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() <= 1e-12,
        (None, None) => true,
        _ => false,
    }
}

#[test]
fn every_metric_equals_its_definition() {
    let (mut n_defined, mut n_undefined) = (0, 0);
    for case in cases().into_iter().chain(banded_cases()) {
        let judged = case.judged();
        for (metric, expected) in case.expected() {
            let found = metric.of(&judged);
            assert!(close(found, expected), "{}: {found:?}, expected {expected:?}: {case:?}", metric.name());
            if metric == PairMetric::Auc {
                assert!(close(found, case.auc_by_thresholds()), "{case:?}");
                *if found.is_some() { &mut n_defined } else { &mut n_undefined } += 1;
            }
        }
        assert!(close(judged.majority_error(), case.majority_error()), "{case:?}");
        let majority = judged.majority_outcome();
        let of_majority = majority.and_then(|answer| case.share(|_| true, |k| case.outcomes[k] != answer));
        assert!(close(of_majority, case.majority_error()), "{majority:?}: {case:?}");
        for (row, judged_as) in [-1, 0, 1].into_iter().enumerate() {
            for (column, predicted_as) in [-1, 0, 1].into_iter().enumerate() {
                let is =
                    |k: usize| case.outcomes[k].sign() == judged_as && case.predicted(k, case.tau()) == predicted_as;
                assert!((judged.confusion()[row][column] - case.sum(is)).abs() < 1e-12, "{case:?}");
            }
            let total = case.sum(|k| case.outcomes[k].sign() == judged_as);
            assert!((judged.totals()[row] - total).abs() < 1e-12, "{case:?}");
        }
    }
    assert!(n_defined > 200 && n_undefined > 100, "{n_defined} defined, {n_undefined} not");
}

#[test]
fn one_kind_of_pair_alone_leaves_metrics_undefined() {
    let judged = |outcomes: &[Outcome]| {
        let said = Verdicts::plain(vec![1.0, -2.0], 1.5);
        let case = Case { outcomes: outcomes.to_vec(), weights: None, said };
        PairMetric::ALL.map(|metric| metric.of(&case.judged()))
    };
    use Outcome::{Left, Right, Tie};
    // zero_one, auc, auc_baseline, pair_accuracy; without probabilities no log_loss and no brier
    assert_eq!(judged(&[Tie, Tie]), [Some(0.5), None, None, None, None, None]);
    assert_eq!(judged(&[Right, Left]), [Some(0.5), None, None, Some(1.0), None, None]);
    assert_eq!(judged(&[Tie, Left]), [Some(0.0), Some(1.0), Some(0.5), Some(1.0), None, None]);
    let nothing = Judged::new(&[], &[], None, 0.0).unwrap();
    assert!(PairMetric::ALL.iter().all(|metric| metric.of(&nothing).is_none()));
    assert!(nothing.majority_error().is_none() && nothing.roc().is_none());
    let weightless = Judged::new(&[Tie, Left], &[0.0, 1.0], Some(&[0.0, 0.0]), 0.0).unwrap();
    assert!(PairMetric::ALL.iter().all(|metric| metric.of(&weightless).is_none()));
}

#[test]
fn numbers_that_are_none_are_errors() {
    let outcomes = [Outcome::Tie, Outcome::Left];
    let name_of = |margins: &[f64], weights: Option<&[f64]>, threshold: f64| match Judged::new(
        &outcomes, margins, weights, threshold,
    ) {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let nan = f64::NAN;
    assert_eq!(name_of(&[1.0, nan], None, 0.0), "margins");
    assert_eq!(name_of(&[nan, 1.0], None, 0.0), "margins");
    assert_eq!(name_of(&[1.0], None, 0.0), "margins");
    assert_eq!(name_of(&[1.0; 3], None, 0.0), "margins");
    for weights in [&[1.0, -1.0][..], &[nan, 1.0], &[1.0, f64::INFINITY], &[1.0]] {
        assert_eq!(name_of(&[1.0, 2.0], Some(weights), 0.0), "weights");
    }
    assert_eq!(name_of(&[1.0, 2.0], None, -1e-9), "threshold");
    assert_eq!(name_of(&[1.0, 2.0], None, nan), "threshold");
    let of_verdicts = |excess: Option<Vec<f64>>, chances: Option<Vec<[f64; 3]>>| {
        let said = Verdicts { excess, chances, ..Verdicts::plain(vec![0.0, 1.0], 0.5) };
        match Judged::of(&outcomes, &said, None) {
            Err(Error::Parameter { name, .. }) => name,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of_verdicts(Some(vec![0.0]), None), "excess");
    assert_eq!(of_verdicts(Some(vec![0.0, nan]), None), "excess");
    assert_eq!(of_verdicts(None, Some(vec![[1.0, 0.0, 0.0]])), "chances");
    assert_eq!(of_verdicts(None, Some(vec![[0.0, 1.0, 0.0], [nan, 0.5, 0.5]])), "chances");
    assert_eq!(of_verdicts(None, Some(vec![[0.0, 1.0, 0.0], [1.1, -0.1, 0.0]])), "chances");
    // Infinite margins and thresholds have an order, and so a meaning.
    let infinite = Judged::new(&outcomes, &[0.0, f64::NEG_INFINITY], None, 1.0).unwrap();
    assert_eq!((infinite.zero_one(), infinite.auc()), (Some(0.0), Some(1.0)));
}

#[test]
fn metrics_lie_between_0_and_1_and_sign_accuracy_bounds_the_auc() {
    for case in cases().into_iter().chain(banded_cases()) {
        let judged = case.judged();
        let shares = PairMetric::ALL.into_iter().filter(|metric| !metric.needs_chances());
        let values = shares.filter_map(|metric| metric.of(&judged));
        assert!(values.chain(judged.majority_error()).all(|value| (0.0..=1.0).contains(&value)), "{case:?}");
        // −log 1e-15
        assert!(judged.log_loss().is_none_or(|loss| (0.0..34.54).contains(&loss)), "{case:?}");
        assert!(judged.brier().is_none_or(|loss| (0.0..=2.0).contains(&loss)), "{case:?}");
        if let (Some(auc), Some(accuracy)) = (judged.auc(), judged.pair_accuracy()) {
            assert!(auc <= accuracy + 1e-12, "AUC {auc}, sign accuracy {accuracy}: {case:?}");
        }
    }
}

#[test]
fn only_the_order_of_margins_and_threshold_matters() {
    for case in cases() {
        // Powers of two scale without rounding; the cube keeps every order among these few numbers.
        let Verdicts { margins, threshold, .. } = &case.said;
        let scaled = |factor: f64| case.with_margins(|k| margins[k] * factor).with_threshold(threshold * factor);
        let cubed = case.with_margins(|k| margins[k].powi(3)).with_threshold(threshold.powi(3));
        for other in [scaled(0.25), scaled(1024.0), cubed] {
            for metric in PairMetric::ALL {
                assert_eq!(metric.of(&case.judged()), metric.of(&other.judged()), "{}: {case:?}", metric.name());
            }
        }
    }
}

#[test]
fn a_perfect_model_is_best_to_the_last_bit() {
    for case in cases() {
        let sign = |k: usize| f64::from(case.outcomes[k].sign());
        let perfect = case.with_margins(|k| sign(k) * (1.0 + k as f64)).with_threshold(0.5);
        let reversed = case.with_margins(|k| -sign(k) * (1.0 + k as f64)).with_threshold(0.5);
        let certain = |outcome: &Outcome| Outcome::ALL.map(|o| f64::from(u8::from(o == *outcome)));
        let mut certain_case = case.clone();
        certain_case.said.chances = Some(case.outcomes.iter().map(certain).collect());
        for metric in [PairMetric::LogLoss, PairMetric::Brier] {
            let best = metric.of(&certain_case.judged());
            assert!(best.is_none_or(|best| best == 0.0 && best.is_sign_positive()), "{best:?}");
        }
        for metric in [PairMetric::ZeroOne, PairMetric::Auc, PairMetric::PairAccuracy] {
            let [best, worst] = [&perfect, &reversed].map(|case| metric.of(&case.judged()));
            let expected = if metric.greater_is_better() { 1.0 } else { 0.0 };
            assert!(best.is_none_or(|best| best == expected), "{}: {best:?}: {case:?}", metric.name());
            if metric != PairMetric::ZeroOne {
                assert!(worst.is_none_or(|worst| worst == 0.0), "{}: {worst:?}: {case:?}", metric.name());
            }
        }
    }
}

#[test]
fn swapping_sides_and_outcomes_changes_nothing() {
    for case in cases().into_iter().chain(banded_cases()) {
        let outcomes = case.outcomes.iter().map(|outcome| outcome.swapped()).collect();
        let mut swapped = Case { outcomes, ..case.with_margins(|k| -case.said.margins[k]) };
        if let Some(chances) = &mut swapped.said.chances {
            chances.iter_mut().for_each(|p| p.reverse());
        }
        for metric in PairMetric::ALL {
            let [here, there] = [&case, &swapped].map(|case| metric.of(&case.judged()));
            assert!(close(here, there), "{}: {here:?}, {there:?}: {case:?}", metric.name());
        }
        let [here, there] = [&case, &swapped].map(|case| case.judged().confusion());
        assert!((0..9).all(|at| here[at / 3][at % 3] == there[2 - at / 3][2 - at % 3]), "{here:?}, {there:?}");
        assert_eq!(case.judged().roc().is_some(), swapped.judged().roc().is_some());
    }
}

#[test]
fn weight_two_is_twice_and_weight_zero_is_absent() {
    let mut random = Random::new(3);
    for case in cases().into_iter().chain(banded_cases()) {
        let times: Vec<usize> = (0..case.n_pairs()).map(|_| random.below(4)).collect();
        let weighted = Case { weights: Some(times.iter().map(|&n| n as f64).collect()), ..case.clone() };
        let copies: Vec<usize> = (0..case.n_pairs()).flat_map(|k| vec![k; times[k]]).collect();
        let repeated = Case { weights: None, ..case.taken(&copies) };
        for metric in PairMetric::ALL {
            let [found, expected] = [&weighted, &repeated].map(|case| metric.of(&case.judged()));
            if metric.needs_chances() {
                assert!(close(found, expected), "{}: {case:?}", metric.name());
            } else {
                assert_eq!(found, expected, "{}: {case:?}", metric.name());
            }
        }
        assert_eq!(weighted.judged().confusion(), repeated.judged().confusion());
        assert_eq!(weighted.judged().roc(), repeated.judged().roc(), "{case:?}");
    }
}

#[test]
fn every_roc_point_holds_from_its_threshold_up_to_the_one_before() {
    let mut n_closed_below_zero = 0;
    for case in cases() {
        let Some(points) = case.judged().roc() else { continue };
        let rates_at = |tau: f64| {
            let predicted = |k: usize| Outcome::of_margin(case.said.margins[k], tau);
            let wrong = case.share(|k| case.is_tie(k), |k| predicted(k) != Outcome::Tie).unwrap();
            [wrong, case.share(|k| !case.is_tie(k), |k| predicted(k) == case.outcomes[k]).unwrap()]
        };
        let same = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).abs() < 1e-12 && (a[1] - b[1]).abs() < 1e-12;
        let rates: Vec<[f64; 2]> = points.iter().map(|p| [p.false_positive_rate, p.true_positive_rate]).collect();
        assert_eq!((points[0].threshold, rates[0]), (f64::INFINITY, [0.0, 0.0]));
        for (w, r) in points.windows(2).zip(rates.windows(2)) {
            assert!(w[1].threshold < w[0].threshold, "thresholds descend: {points:?}");
            assert!(r[1] != r[0] && r[1][0] >= r[0][0] && r[1][1] >= r[0][1], "rates rise: {points:?}");
        }
        let last = points.len() - 1;
        let has_zero_tie =
            (0..case.n_pairs()).any(|k| case.is_tie(k) && case.said.margins[k] == 0.0 && case.weight(k) > 0.0);
        assert!(same(rates[last], [1.0, case.pair_accuracy().unwrap()]), "{points:?}");
        assert_eq!(rates[last][0], 1.0);
        assert_eq!(points[last].threshold == f64::NEG_INFINITY, has_zero_tie, "{case:?}");
        n_closed_below_zero += usize::from(has_zero_tie);
        for (at, point) in points.iter().enumerate().filter(|(_, point)| point.threshold >= 0.0) {
            assert!(same(rates_at(point.threshold), rates[at]), "{point:?}: {case:?}");
            if at > 0 && point.threshold > 0.0 {
                let below = rates_at(point.threshold.next_down());
                assert!(!same(below, rates[at]), "not the smallest: {point:?}: {case:?}");
            }
            if at > 1 {
                let above = rates_at(points[at - 1].threshold.next_down());
                assert!(same(above, rates[at]), "up to the threshold before: {point:?}: {case:?}");
            }
        }
    }
    assert!(n_closed_below_zero > 20, "{n_closed_below_zero}");
}

#[test]
fn a_band_moves_its_thresholds_together() {
    let mut n_points = 0;
    for case in banded_cases() {
        let Some(points) = case.judged().roc() else { continue };
        let last = points[points.len() - 1];
        assert_eq!((points[0].threshold, last.threshold), (f64::INFINITY, f64::NEG_INFINITY), "{points:?}");
        assert_eq!(last.false_positive_rate, 1.0);
        assert!((last.true_positive_rate - case.pair_accuracy().unwrap()).abs() < 1e-12);
        for point in points.iter().filter(|point| point.threshold.is_finite()) {
            let [wrong, right] = case.rates(point.threshold).unwrap();
            assert!((wrong - point.false_positive_rate).abs() < 1e-12, "{point:?}: {case:?}");
            assert!((right - point.true_positive_rate).abs() < 1e-12, "{point:?}: {case:?}");
            let below = case.rates(point.threshold.next_down()).unwrap();
            assert!((below[0] - wrong).abs() + (below[1] - right).abs() > 1e-12, "not the smallest: {point:?}");
            n_points += 1;
        }
    }
    assert!(n_points > 500, "{n_points}");
}

#[test]
fn a_band_that_is_the_same_for_all_pairs_is_a_threshold() {
    for case in cases() {
        let mut banded = case.clone();
        // The difference of two numbers has the right sign whatever is rounded.
        banded.said.excess = Some(case.said.margins.iter().map(|z| z.abs() - case.said.threshold).collect());
        assert_eq!(banded.said.outcomes(), case.said.outcomes());
        assert_eq!(banded.judged().confusion(), case.judged().confusion());
        assert_eq!(banded.judged().zero_one(), case.judged().zero_one());
        assert!(close(banded.judged().auc(), case.judged().auc()), "{case:?}");
    }
}

#[test]
fn no_constant_probabilities_are_better_than_the_shares() {
    let mut random = Random::new(13);
    for case in cases() {
        let with = |chances: [f64; 3]| {
            let mut case = case.clone();
            case.said.chances = Some(vec![chances; case.n_pairs()]);
            case
        };
        let total = case.sum(|_| true);
        let shares = Outcome::ALL.map(|o| case.sum(|k| case.outcomes[k] == o) / total);
        for metric in [PairMetric::LogLoss, PairMetric::Brier] {
            let found = metric.of_constant(&case.judged());
            assert_eq!(found.is_some(), total > 0.0);
            let Some((outcome, best)) = found else { continue };
            assert_eq!(outcome, None);
            assert!(close(metric.of(&with(shares).judged()), Some(best)), "{}: {case:?}", metric.name());
            let odds = [0; 3].map(|_| random.uniform() + 1e-3);
            let other = metric.of(&with(odds.map(|part| part / odds.iter().sum::<f64>())).judged()).unwrap();
            assert!(other >= best - 1e-12, "{}: {other} < {best}: {case:?}", metric.name());
        }
    }
}

#[test]
fn the_best_constant_answer_is_the_best_of_all_three() {
    let mut random = Random::new(12);
    for n in [1, 2, 3, 8, 40] {
        for _ in 0..30 {
            let outcomes: Vec<Outcome> = (0..n).map(|_| Outcome::ALL[random.below(3)]).collect();
            let weights: Vec<f64> = (0..n).map(|_| random.below(3) as f64).collect();
            let judged = |margin: f64| Case {
                outcomes: outcomes.clone(),
                weights: Some(weights.clone()),
                said: Verdicts::plain(vec![margin; n], 0.5),
            };
            for metric in [PairMetric::ZeroOne, PairMetric::Auc, PairMetric::PairAccuracy] {
                let sign = if metric.greater_is_better() { 1.0 } else { -1.0 };
                let of = |answer: Outcome| metric.of(&judged(f64::from(answer.sign())).judged());
                let best = Outcome::ALL.into_iter().filter_map(of).max_by(|a, b| (sign * a).total_cmp(&(sign * b)));
                let found = metric.of_constant(&judged(0.0).judged());
                assert_eq!(found.map(|(_, value)| value), best, "{metric:?} {outcomes:?} {weights:?}");
                found.inspect(|&(answer, value)| assert_eq!(of(answer.unwrap()), Some(value), "{metric:?}"));
            }
        }
    }
}
