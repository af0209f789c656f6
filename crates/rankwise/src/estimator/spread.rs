//! Learning from data that are spread over parts: in other processes, or on other machines.
//!
//! A [`Part`] holds whole groups of items, or judged pairs, and answers questions of a few numbers. Whoever implements [`Parts`]
//! brings a question to all of them and their answers back, added in the order of the parts by [`add_answers`]. A question says all
//! that a part must know: one that was lost and made again from its data gives the same answers.

use std::cell::RefCell;
use std::time::Instant;

use super::common::Fit;
use super::item_ranker::{check_pairs, check_width_of, of_scale_ratio, weights_of, why_dropped};
use super::pair_record::Known;
use super::pair_solution::{By, Margins, Solution, of_only_ties};
use super::pair_weights::{InWeights, factors_of, rule_of};
use super::pairs::{Answer as PairAnswer, PairMachine};
use super::rank_svm::{record, solution_of};
use super::{CompareSvm, Davidson, RankSvm};
use crate::data::{Comparisons, Features, Items, Outcome, Precision, Ranking, Scale, ScaleSurvey};
use crate::error::{Error, Place, Result};
use crate::kernel::{Kernel, KernelFunction};
use crate::loss::Loss;
use crate::model::{Chances, Method, Model, Scorer, ThresholdRule, TieBandKind, TieShare};
use crate::problem::threshold::best_threshold_of;
use crate::problem::{
    self, Answer, Ask, Asked, BlockSums, PairPart, Question, RankCounts, RankPart, Spread, SpreadPairs, SpreadRank,
    Task,
};
use crate::progress::{Stop, Watch};

/// Rows that tell how features differ in scale.
const TELLING_ROWS: usize = 1000;
/// Numbers that a survey begins with.
const SURVEYED: usize = 10;

/// Whoever brings a question to all parts, and what they say back.
pub trait Parts {
    /// Asks every part ([`Part::answer`]), and adds the answers in the order of the parts ([`add_answers`]).
    fn ask(&self, question: &[u8]) -> Result<Vec<u8>>;
}

/// The sum of what neighbouring parts say, or runs of them, in their order.
pub fn add_answers<'a>(answers: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>> {
    let mut answers = answers.into_iter();
    let mut sum = Answer::from_bytes(answers.next().unwrap_or_default())?;
    answers.try_for_each(|answer| sum.add(&Answer::from_bytes(answer)?))?;
    Ok(sum.to_bytes())
}

/// A part of the data, where they are.
pub struct Part {
    features: Features,
    of: Of,
}

enum Of {
    Items { weights: Option<Vec<f64>>, part: Box<RankPart> },
    Pairs { known: [f64; 4], part: Box<PairPart> },
}

impl Part {
    /// Items with labels in whole groups, for this machine; `number` says which part it is, from 0.
    pub fn of_items(data: &Ranking, number: usize, svm: &RankSvm) -> Self {
        let (shape, weighing, _) = svm.of_sums();
        let part = RankPart::new(data, number, shape, weighing);
        let of = Of::Items { weights: data.weights.clone(), part: Box::new(part) };
        Part { features: data.items.features.clone(), of }
    }

    /// Judged pairs.
    pub fn of_pairs(data: &Comparisons, number: usize) -> Self {
        let present: Vec<usize> = (0..data.n_pairs()).filter(|&k| data.weight(k) > 0.0).collect();
        let chosen = (present.len() < data.n_pairs()).then(|| data.select(&present));
        let data = chosen.as_ref().unwrap_or(data);
        let weight = |ties: bool| -> f64 {
            let is_meant = |&k: &usize| !ties || data.outcomes[k] == Outcome::Tie;
            (0..data.n_pairs()).filter(is_meant).map(|k| data.weight(k)).sum::<f64>() + 0.0
        };
        let known = [data.n_pairs() as f64, data.n_ties() as f64, weight(false), weight(true)];
        let part = Box::new(PairPart::new(data, number));
        Part { features: data.set.items.features.clone(), of: Of::Pairs { known, part } }
    }

    /// Answers a question.
    pub fn answer(&mut self, question: &[u8]) -> Result<Vec<u8>> {
        let question = Question::from_bytes(question)?;
        let answer = match (&mut self.of, question.ask) {
            (_, Ask::Survey) => self.survey(question.numbers.first() != Some(&0.0)),
            (Of::Items { part, .. }, _) => part.answer(&question)?,
            (Of::Pairs { part, .. }, _) => part.answer(&question)?,
        };
        Ok(answer.to_bytes())
    }

    /// What there is: counts of all kinds, then what scaling needs to know.
    fn survey(&self, is_scaled: bool) -> Answer {
        let features = &self.features;
        let n_rows = features.n_rows();
        let (counted, weights): ([f64; SURVEYED - 4], Option<&[f64]>) = match &self.of {
            Of::Items { weights, part } => {
                let (counts, mass) = part.counts();
                let RankCounts { n_items, n_groups, n_dropped, n_pairs } = counts;
                let counted =
                    [n_items as f64, n_groups as f64, n_dropped as f64, n_pairs as f64, mass, part.n_numbers() as f64];
                (counted, weights.as_deref())
            }
            Of::Pairs { known: [n_pairs, n_ties, weight, of_ties], .. } => {
                ([*n_pairs, *n_ties, *weight, *of_ties, 0.0, features.n_stored() as f64], None)
            }
        };
        let scales = match is_scaled || n_rows <= TELLING_ROWS {
            true => ScaleSurvey::of(features, 0..n_rows, weights),
            false => ScaleSurvey::of(features, (0..TELLING_ROWS).map(|k| k * n_rows / TELLING_ROWS), None),
        };
        let scales: Vec<f64> = scales.numbers().collect();
        let head = [n_rows as f64, features.n_cols() as f64, features.n_stored() as f64, scales.len() as f64];
        Answer { list: [&head[..], &counted, &scales].concat(), ..Answer::default() }
    }
}

/// What one part has.
struct PartSurvey {
    n_rows: usize,
    n_cols: usize,
    n_stored: usize,
    counted: [f64; SURVEYED - 4],
    scales: ScaleSurvey,
}

/// What all parts have.
struct Survey {
    parts: Vec<PartSurvey>,
    scales: ScaleSurvey,
}

impl Survey {
    fn of(parts: &dyn problem::Parts, scale: Scale) -> Result<Self> {
        let numbers = vec![f64::from(u8::from(scale != Scale::None))];
        let question = Question { ask: Ask::Survey, weights: Vec::new(), direction: Vec::new(), numbers };
        let answer = parts.ask(&question)?;
        let (mut list, mut found) = (&answer.list[..], Vec::new());
        let unclear = || Error::Mismatch {
            problem: "the parts do not say what they have".into(),
            remedy: "use the same version of rankwise on all machines".into(),
        };
        while let Some((head, rest)) = list.split_first_chunk::<SURVEYED>() {
            let [n_rows, n_cols, n_stored, n_scales, counted @ ..] = *head;
            let (scales, rest) = rest.split_at_checked(n_scales as usize).ok_or_else(unclear)?;
            found.push(PartSurvey {
                n_rows: n_rows as usize,
                n_cols: n_cols as usize,
                n_stored: n_stored as usize,
                counted,
                scales: ScaleSurvey::of_numbers(scales).ok_or_else(unclear)?,
            });
            list = rest;
        }
        let n_cols = found.first().ok_or_else(unclear)?.n_cols;
        if let Some((at, other)) = found.iter().enumerate().find(|(_, part)| part.n_cols != n_cols) {
            return Err(Error::data(
                Place::file("parts"),
                format!("part {at} has {} features, part 0 has {n_cols}", other.n_cols),
                "give all parts the same columns",
            ));
        }
        let mut scales = ScaleSurvey::default();
        found.iter().for_each(|part| scales.join(&part.scales));
        Ok(Survey { parts: found, scales })
    }

    fn n_cols(&self) -> usize {
        self.parts.first().map_or(0, |part| part.n_cols)
    }

    fn sum(&self, at: usize) -> f64 {
        self.parts.iter().map(|part| part.counted[at]).sum()
    }

    fn n_rows(&self) -> usize {
        self.parts.iter().map(|part| part.n_rows).sum()
    }

    fn n_stored(&self) -> usize {
        self.parts.iter().map(|part| part.n_stored).sum()
    }

    /// Items of the same features, but none of them.
    fn shape(&self, names: Option<Vec<String>>, are_indicators: bool) -> Result<Items> {
        let features = Features::dense(self.n_cols(), Vec::new(), Precision::F64)?;
        let mut items = Items::new(features, names, None)?;
        items.are_indicators = are_indicators;
        Ok(items)
    }

    fn why_to_scale(&self, scale: Scale, are_indicators: bool) -> Option<String> {
        if scale != Scale::None || are_indicators {
            return None;
        }
        of_scale_ratio(self.scales.scale_ratio())
    }
}

/// Parts that speak in bytes, to a problem that asks in numbers.
struct InBytes<'a> {
    parts: &'a dyn Parts,
}

impl problem::Parts for InBytes<'_> {
    fn ask(&self, question: &Question) -> Result<Answer> {
        Answer::from_bytes(&self.parts.ask(&question.to_bytes())?)
    }
}

fn refuse<T>(what: &str, remedy: &str) -> Result<T> {
    Err(Error::Unsupported { problem: format!("{what} when data are spread over parts"), remedy: remedy.into() })
}

fn check_linear(kernel: Kernel, c: f64) -> Result<()> {
    if kernel != Kernel::Linear {
        return refuse("kernels do not work", "choose --kernel linear");
    }
    if c == f64::INFINITY {
        return refuse("C = inf, a hard margin, is not sought", "choose a finite C");
    }
    Ok(())
}

impl RankSvm {
    /// Whether the machine can learn from data that are spread over parts.
    pub fn check_spread(&self) -> Result<()> {
        self.check()?;
        check_linear(self.kernel, self.c)?;
        if self.pairs_per_item.is_some() {
            return refuse("pairs are not drawn", "leave out --pairs-per-item: all pairs take no more time");
        }
        Ok(())
    }

    /// The same as [`RankSvm::fit_from`] on all parts together, but for rounding, if these were made for this machine.
    pub fn fit_spread(
        &self,
        parts: &dyn Parts,
        feature_names: Option<Vec<String>>,
        start: Option<&Model>,
        watch: &dyn Watch,
    ) -> Result<Fit> {
        self.check_spread()?;
        let started = Instant::now();
        let parts = InBytes { parts };
        let survey = Survey::of(&parts, self.scale)?;
        check_width_of(survey.n_cols(), survey.n_stored())?;
        let [n_items, n_groups, n_dropped] = [0, 1, 2].map(|at| survey.sum(at) as usize);
        let counts = RankCounts { n_items, n_groups, n_dropped, n_pairs: survey.sum(3) as u64 };
        let mass = survey.sum(4);
        check_pairs(survey.n_rows(), counts, mass)?;
        let scaler = survey.scales.finish(self.scale);
        let shape = survey.shape(feature_names, false)?;
        let start = start.map(|model| weights_of(model, &shape, scaler.as_ref())).transpose()?;
        let mut warnings: Vec<String> = survey.why_to_scale(self.scale, false).into_iter().collect();
        warnings.extend(why_dropped(counts));
        let over: Vec<[u64; 3]> =
            survey.parts.iter().map(|p| [p.counted[1] as u64, p.counted[0] as u64, p.n_rows as u64]).collect();
        let asked = Asked::new(&parts);
        let divisors = scaler.as_ref().map(|scaler| scaler.divisor.as_slice());
        let of_sums = (self.of_sums().0, self.c);
        let size = (survey.n_cols(), survey.sum(5) as usize);
        let mut sums = SpreadRank::new(&asked, divisors, size, of_sums, (mass, &over));
        let limits = self.effort.limits(started, watch);
        let solution = solution_of(&mut sums, self.loss, start, limits);
        if let Some(failure) = asked.take_failure() {
            return Err(failure);
        }
        let solution = solution.checked()?;
        let record = record(self, self.c, counts, &solution, warnings);
        let model = record.model(solution, &shape, scaler.as_ref());
        Ok(Fit { model, seconds: started.elapsed().as_secs_f64(), threads: rayon::current_num_threads() })
    }
}

impl CompareSvm {
    /// The same as [`CompareSvm::fit_watched`] on all parts together, but for rounding. With a scaling, items that several
    /// parts have count once in each.
    pub fn fit_spread(&self, parts: &dyn Parts, features: Described, watch: &dyn Watch) -> Result<Fit> {
        self.machine().fit_spread(parts, features, watch)
    }

    /// Whether the machine can learn from data that are spread over parts.
    pub fn check_spread(&self) -> Result<()> {
        self.machine().check_spread()
    }
}

impl Davidson {
    /// The same as [`Davidson::fit_watched`] on all parts together, but for rounding. With a scaling, items that several parts
    /// have count once in each.
    pub fn fit_spread(&self, parts: &dyn Parts, features: Described, watch: &dyn Watch) -> Result<Fit> {
        self.machine().fit_spread(parts, features, watch)
    }

    /// Whether the machine can learn from data that are spread over parts.
    pub fn check_spread(&self) -> Result<()> {
        self.machine().check_spread()
    }
}

/// What the features of spread pairs are called.
#[derive(Debug, Clone, Default)]
pub struct Described {
    /// Their names, if they have some.
    pub names: Option<Vec<String>>,
    /// Every feature says whether an item is the one of that name, and nothing else.
    pub are_indicators: bool,
}

impl PairMachine {
    fn check_spread(&self) -> Result<()> {
        self.check()?;
        check_linear(self.kernel, self.c)?;
        if self.tie_band == TieBandKind::Pair {
            return refuse("a tie band that depends on the pair is not learnt", "choose --tie-band constant");
        }
        if self.calibrate {
            return refuse(
                "margins are not calibrated",
                "choose the loss logistic, which has probabilities of its own",
            );
        }
        Ok(())
    }

    fn fit_spread(&self, parts: &dyn Parts, features: Described, watch: &dyn Watch) -> Result<Fit> {
        self.check_spread()?;
        let started = Instant::now();
        let parts = InBytes { parts };
        let survey = Survey::of(&parts, self.scale)?;
        let [pairs, ties] = [0, 1].map(|at| survey.sum(at) as usize);
        if pairs == 0 {
            let remedy = "give at least one pair with a weight above 0";
            return Err(Error::data(Place::file("pairs"), "there is no pair with a weight above 0", remedy));
        }
        check_width_of(survey.n_cols(), survey.n_stored())?;
        let scaler = survey.scales.finish(self.scale);
        let shape = survey.shape(features.names, features.are_indicators)?;
        let mut warnings: Vec<String> = survey.why_to_scale(self.scale, features.are_indicators).into_iter().collect();
        let task = self.task(ties);
        let known = Known {
            kernel: KernelFunction::Linear,
            is_approximate: false,
            has_beta: matches!(task, Task::Compare { .. } | Task::Davidson),
            items: if features.are_indicators { survey.n_cols() } else { survey.n_rows() },
            groups: None,
            pairs,
            ties,
            context: 0,
        };
        let n_pairs: Vec<usize> = survey.parts.iter().map(|part| part.counted[0] as usize).collect();
        // As many as on one machine, where scores are looked up, too.
        let n_numbers = survey.sum(5) as usize + 16 * pairs;
        let over = Spread { dim: survey.n_cols(), n_numbers, n_pairs, weight: survey.sum(2), of_ties: survey.sum(3) };
        let [tie, other] = self.factors_of(over.of_ties, over.weight - over.of_ties);
        let [of_tie, of_other] = factors_of(task);
        let costs = [tie * of_tie, other * of_other];
        let capped = task == Task::Compare { capped: true };
        let asked = Asked::new(&parts);
        let sums = SpreadPairs::new(&asked, scaler.as_ref(), &over, costs, rule_of(task, self.loss), capped);
        let sums = RefCell::new(sums);
        let limits = self.effort.limits(started, watch);
        let is_only_ties = ties == pairs;
        let solved = || -> Result<PairAnswer<'_>> {
            let sums = &mut *sums.borrow_mut();
            let solution = if is_only_ties {
                let of_ties = of_only_ties(task, self.loss, tie * over.weight, ties);
                Solution::constant(of_ties, survey.n_cols(), known.has_beta)
            } else {
                self.solve_spread(sums, task, limits)?
            };
            let largest = if solution.is_constant { 0.0 } else { sums.facts(0.0).map_or(0.0, |facts| facts[2]) };
            let (beta, unit, no_tie_region) = self.unit(solution.beta, largest);
            let threshold = match self.threshold {
                _ if self.has_likelihood() => 0.0,
                ThresholdRule::Refit if ties == 0 => 0.0,
                // All differences are 0.
                ThresholdRule::Refit if solution.is_constant => 0.0,
                ThresholdRule::Refit => best_threshold_of(&*sums),
                ThresholdRule::Model if no_tie_region => 0.0,
                ThresholdRule::Model => unit,
            };
            let (stop, is_exact) = (solution.stop, solution.is_exact);
            Ok(PairAnswer { solution, beta, unit, no_tie_region, threshold, held_out: None, stop, is_exact })
        };
        let answer = solved();
        if let Some(failure) = asked.take_failure() {
            return Err(failure);
        }
        let mut answer = answer?;
        self.warn(&known, &answer, &mut warnings);
        let chances = self.has_likelihood().then(|| self.likelihood(&answer, &known));
        let threshold = chances.and_then(|rule| rule.threshold(None)).unwrap_or(answer.threshold / answer.unit);
        let predicted = match answer.solution.is_constant {
            true => Some([0.0, over.weight, 0.0]),
            false => sums.borrow().facts(threshold * answer.unit),
        };
        let Some([n_support, predicted, _]) = predicted else {
            return Err(asked.take_failure().unwrap_or(Error::Interrupted));
        };
        let tie_share = TieShare { observed: over.of_ties / over.weight + 0.0, predicted: predicted / over.weight };
        let By::Weights { weights, n_support: support, .. } = &mut answer.solution.by else {
            return Err(Error::Interrupted);
        };
        *support = n_support as usize;
        let weights = weights.iter().map(|w| w / answer.unit).collect();
        let scorer = Scorer {
            n_features: survey.n_cols(),
            feature_names: shape.feature_names,
            are_indicators: shape.are_indicators,
            scaler,
            function: crate::model::ScoreFunction::Linear { weights, bias: 0.0 },
        };
        let mut training = self.record(&known, &answer, &scorer, tie_share, warnings);
        training.tie_parameter = match chances {
            Some(Chances::RaoKupper { tau }) if answer.beta.is_some() => Some(tau),
            Some(Chances::Davidson { log_nu }) => Some(log_nu.exp()),
            _ => None,
        };
        let model = Model {
            scorer,
            threshold,
            beta: answer.beta,
            no_tie_region: answer.no_tie_region,
            band: None,
            chances,
            classes: None,
            class_rule: None,
            grades: None,
            state: None,
            training,
        };
        Ok(Fit { model, seconds: started.elapsed().as_secs_f64(), threads: rayon::current_num_threads() })
    }

    fn solve_spread(
        &self,
        sums: &mut SpreadPairs<'_>,
        task: Task,
        limits: crate::solver::Limits<'_>,
    ) -> Result<Solution<'static>> {
        let found = InWeights::minimise(sums, (task, self.loss), true, None, limits)?;
        let beta = sums.beta();
        let mut solution = Solution {
            objective: found.objective,
            gap: found.gap.max(0.0),
            stop: found.stop,
            margins: Margins::Each(Vec::new()),
            offsets: None,
            largest_tie_offset: beta.unwrap_or(0.0),
            beta,
            collapsed: found.is_no_better && self.loss == Loss::Hinge && self.method == Method::Compare,
            is_constant: false,
            is_exact: found.is_exact && found.stop == Stop::Converged,
            by: By::Weights { weights: found.weights.clone(), steps: found.steps, n_support: 0, bound: None },
        };
        if let Some((at_zero, beta, gap)) = found.constant(sums) {
            let zeros = vec![0.0; found.weights.len()];
            solution.is_constant = true;
            solution.objective = at_zero;
            solution.beta = solution.beta.map(|_| beta);
            solution.largest_tie_offset = beta;
            solution.gap = gap;
            solution.by = By::Weights { weights: zeros, steps: found.steps, n_support: 0, bound: None };
        } else if found.stop != Stop::Converged || found.is_no_better {
            sums.go_to(&found.weights);
        }
        Ok(solution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Groups, Random};
    use crate::progress::Unwatched;
    use crate::solver::newton_cg;

    struct Here(Vec<RefCell<Part>>);

    impl problem::Parts for Here {
        fn ask(&self, question: &Question) -> Result<Answer> {
            let mut answers = self.0.iter().map(|part| part.borrow_mut().answer(&question.to_bytes()));
            let mut sum = Answer::from_bytes(&answers.next().unwrap()?)?;
            answers.try_for_each(|answer| sum.add(&Answer::from_bytes(&answer?)?))?;
            Ok(sum)
        }
    }

    /// Many groups, so that they are worth thinning, and one that is thinned item by item.
    fn ranking(n_groups: usize) -> Ranking {
        let mut random = Random::new(3);
        let (mut values, mut labels, mut groups) = (Vec::new(), Vec::new(), Vec::new());
        for group in 0..n_groups {
            for _ in 0..if group == 7 { 6000 } else { 10 } {
                let row: [f64; 8] = std::array::from_fn(|_| random.normal());
                labels.push((row[0] - row[1] + random.normal()).round());
                values.extend(row);
                groups.push(group as u32);
            }
        }
        let items = Items::new(Features::dense(8, values, Precision::F64).unwrap(), None, None).unwrap();
        let names = (0..n_groups).map(|group| group.to_string()).collect();
        Ranking::new(items, labels, Some(Groups::from_numbers(groups, names).unwrap())).unwrap()
    }

    #[test]
    fn parts_that_are_thinned_where_they_are_lead_the_same_way() {
        let data = ranking(20_000);
        let svm = RankSvm::new().c(1e-3);
        let whole = svm.fit(&data).unwrap().model;
        let crate::model::ScoreFunction::Linear { weights: expected, .. } = &whole.scorer.function else { panic!() };
        let n = data.n_items();
        let cuts = [0, n / 5 / 10 * 10, n / 2 / 10 * 10, n];
        let make = || {
            let part = |number: usize| {
                let rows: Vec<usize> = (cuts[number]..cuts[number + 1]).collect();
                RefCell::new(Part::of_items(&data.select(&rows), number, &svm))
            };
            Here((0..3).map(part).collect())
        };
        let parts = make();
        let survey = Survey::of(&parts, Scale::None).unwrap();
        let over: Vec<[u64; 3]> =
            survey.parts.iter().map(|p| [p.counted[1] as u64, p.counted[0] as u64, p.n_rows as u64]).collect();
        let limits = svm.effort.limits(Instant::now(), &Unwatched);
        for most in [1e9, 20_000.0, 0.0] {
            let parts = make();
            let asked = Asked::new(&parts);
            let size = (8, survey.sum(5) as usize);
            let of_sums = (svm.of_sums().0, svm.c);
            let mut sums = SpreadRank::new(&asked, None, size, of_sums, (survey.sum(4), &over)).gathering(most);
            let found = newton_cg::minimise(&mut sums, None, limits);
            assert!(asked.take_failure().is_none());
            let apart = found.weights.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-9, "{most}: {apart:e}");
        }
    }
}
