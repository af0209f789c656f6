//! Data in parts give the model of the whole, wherever they are cut and whatever is lost on the way.

use std::cell::{Cell, RefCell};

use rankwise::data::simulate::{Norm, Simulation};
use rankwise::data::{Comparisons, Features, Groups, Items, Outcome, Pair, PairSet, Precision, Random, Ranking, Scale};
use rankwise::estimator::spread::{Described, Part, Parts, add_answers};
use rankwise::model::{Balance, ThresholdRule, TieRegion};
use rankwise::{CompareSvm, Davidson, Error, Kernel, Loss, Model, RankSvm, Result, Unwatched};

/// Parts in one process.
struct Local<'a> {
    parts: Vec<RefCell<Part>>,
    /// Makes all parts anew before each question, as if all machines were lost every time.
    make: Option<Box<dyn Fn() -> Vec<Part> + 'a>>,
    rounds: Cell<usize>,
    fails_after: usize,
}

impl<'a> Local<'a> {
    fn new(parts: Vec<Part>) -> Self {
        let parts = parts.into_iter().map(RefCell::new).collect();
        Local { parts, make: None, rounds: Cell::new(0), fails_after: usize::MAX }
    }

    fn forgetful(make: impl Fn() -> Vec<Part> + 'a) -> Self {
        Local { make: Some(Box::new(make)), ..Local::new(Vec::new()) }
    }
}

impl Parts for Local<'_> {
    fn ask(&self, question: &[u8]) -> Result<Vec<u8>> {
        self.rounds.set(self.rounds.get() + 1);
        if self.rounds.get() > self.fails_after {
            return Err(Error::Interrupted);
        }
        let answers: Vec<Vec<u8>> = match &self.make {
            Some(make) => make().iter_mut().map(|part| part.answer(question)).collect::<Result<_>>()?,
            None => self.parts.iter().map(|part| part.borrow_mut().answer(question)).collect::<Result<_>>()?,
        };
        add_answers(answers.iter().map(Vec::as_slice))
    }
}

fn weights(model: &Model) -> Vec<f64> {
    let mut weights: Vec<f64> = match &model.scorer.function {
        rankwise::model::ScoreFunction::Linear { weights, .. } => weights.clone(),
        _ => panic!("linear"),
    };
    if let Some(scaler) = &model.scorer.scaler {
        weights.iter_mut().zip(&scaler.divisor).for_each(|(w, d)| *w /= d);
    }
    weights
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied()).max(1e-300)
}

/// Items in groups of many sizes, some without a pair.
fn ranking(n_groups: usize, n_features: usize, seed: u64, is_sparse: bool) -> Ranking {
    let mut random = Random::new(seed);
    let truth: Vec<f64> = (0..n_features).map(|_| random.normal()).collect();
    let (mut rows, mut labels, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for group in 0..n_groups {
        for _ in 0..1 + random.below(30) {
            let row: Vec<f64> = (0..n_features)
                .map(|_| if is_sparse && random.below(3) > 0 { 0.0 } else { random.normal() * 2.0 + 5.0 })
                .collect();
            let score: f64 = row.iter().zip(&truth).map(|(x, w)| x * w).sum::<f64>() + 2.0 * random.normal();
            labels.push((score / n_features as f64).round().clamp(-2.0, 2.0));
            ids.push(group.to_string());
            rows.extend(row);
        }
    }
    let features = if is_sparse {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows.chunks_exact(n_features) {
            for (column, &value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                columns.push(column as u32);
                values.push(value);
            }
            starts.push(values.len());
        }
        Features::sparse(n_features, starts, columns, values).unwrap()
    } else {
        Features::dense(n_features, rows, Precision::F64).unwrap()
    };
    let items = Items::new(features, None, None).unwrap();
    Ranking::new(items, labels, Some(Groups::from_ids(ids.iter().map(String::as_str)))).unwrap()
}

/// Cuts a ranking into parts of whole groups; items stay in order.
fn cut(data: &Ranking, n_parts: usize, svm: &RankSvm) -> Vec<Part> {
    let n_groups = data.groups.len();
    (0..n_parts)
        .map(|number| {
            let groups = number * n_groups / n_parts..(number + 1) * n_groups / n_parts;
            let rows: Vec<usize> =
                (0..data.n_items()).filter(|&row| groups.contains(&(data.groups.numbers()[row] as usize))).collect();
            Part::of_items(&data.select(&rows), number, svm)
        })
        .collect()
}

#[test]
fn parts_of_a_ranking_give_the_model_of_the_whole() {
    for (seed, is_sparse) in [(1, false), (2, true)] {
        let plain = ranking(120, 6, seed, is_sparse);
        let n = plain.n_items();
        let weighted = plain.clone().with_weights((0..n).map(|k| (k % 4) as f64).collect()).unwrap();
        let weighted =
            weighted.with_group_weights((0..plain.groups.len()).map(|g| 0.5 + (g % 3) as f64).collect()).unwrap();
        for (data, svm) in [
            (&plain, RankSvm::new()),
            (&plain, RankSvm::new().c(100.0).scale(Scale::Standard)),
            (&plain, RankSvm::new().loss(Loss::Hinge).scale(Scale::Minmax)),
            (&plain, RankSvm::new().loss(Loss::Logistic).c(0.01)),
            (&plain, RankSvm::new().balance(Balance::Groups)),
            (&weighted, RankSvm::new().scale(Scale::Standard)),
            (&weighted, RankSvm::new().loss(Loss::Hinge).c(0.1)),
        ] {
            let whole = svm.fit(data).unwrap().model;
            for n_parts in [1, 2, 7] {
                let parts = Local::new(cut(data, n_parts, &svm));
                let found = svm.fit_spread(&parts, None, None, &Unwatched).unwrap().model;
                let apart = distance(&weights(&found), &weights(&whole));
                assert!(apart < 1e-8, "{svm:?} {n_parts}: {apart:e}");
                let (a, b) = (&found.training, &whole.training);
                assert!((a.objective / b.objective - 1.0).abs() < 1e-9, "{} {}", a.objective, b.objective);
                assert_eq!(
                    (a.items, a.pairs, a.groups, a.groups_dropped),
                    (b.items, b.pairs, b.groups, b.groups_dropped)
                );
                assert_eq!(a.warnings, b.warnings);
                let most = if svm.loss == Loss::Hinge { 100 } else { 50 };
                assert!(parts.rounds.get() <= most, "{svm:?}: {} rounds", parts.rounds.get());
            }
        }
    }
}

#[test]
fn large_parts_start_from_some_of_their_items() {
    let data = ranking(4000, 24, 3, false);
    let svm = RankSvm::new();
    let whole = svm.fit(&data).unwrap().model;
    for n_parts in [1, 3] {
        let parts = Local::new(cut(&data, n_parts, &svm));
        let found = svm.fit_spread(&parts, None, None, &Unwatched).unwrap().model;
        let apart = distance(&weights(&found), &weights(&whole));
        assert!(apart < 1e-8, "{n_parts}: {apart:e}");
        assert!(parts.rounds.get() <= 20, "{} rounds", parts.rounds.get());
    }
}

#[test]
fn parts_that_are_lost_and_made_again_answer_the_same() {
    let data = ranking(60, 5, 4, false);
    for svm in [RankSvm::new().c(10.0), RankSvm::new().loss(Loss::Hinge), RankSvm::new().loss(Loss::Logistic)] {
        let kept = svm.fit_spread(&Local::new(cut(&data, 3, &svm)), None, None, &Unwatched).unwrap().model;
        let lost = Local::forgetful(|| cut(&data, 3, &svm));
        let lost = svm.fit_spread(&lost, None, None, &Unwatched).unwrap().model;
        assert_eq!(weights(&kept), weights(&lost));
    }
    let data = pairs(300, 5);
    let svm = CompareSvm::new();
    let kept = svm.fit_spread(&Local::new(cut_pairs(&data, 3)), Described::default(), &Unwatched).unwrap().model;
    let lost = Local::forgetful(|| cut_pairs(&data, 3));
    let lost = svm.fit_spread(&lost, Described::default(), &Unwatched).unwrap().model;
    assert_eq!((weights(&kept), kept.threshold), (weights(&lost), lost.threshold));
}

/// Judged pairs of items of their own, with weights.
fn pairs(n: usize, seed: u64) -> Comparisons {
    let drawn = Simulation { norm: Norm::L2, n_pairs: n, ties: 0.4, noise: 0.5, seed }.draw().unwrap();
    let weights = (0..n).map(|k| [1.0, 2.0, 0.5][k % 3]).collect();
    Comparisons::new(drawn.set, drawn.outcomes, Some(weights), None).unwrap()
}

fn cut_pairs(data: &Comparisons, n_parts: usize) -> Vec<Part> {
    let n = data.n_pairs();
    (0..n_parts)
        .map(|number| {
            let some: Vec<usize> = (number * n / n_parts..(number + 1) * n / n_parts).collect();
            Part::of_pairs(&data.select(&some), number)
        })
        .collect()
}

/// Sums in another order end elsewhere within a gap of 1e-13, which is some 1e-7 in weights.
fn is_near(found: &Model, whole: &Model, what: &str) {
    let apart = distance(&weights(found), &weights(whole));
    assert!(apart < 1e-7, "{what}: weights {apart:e}");
    assert!(
        (found.threshold - whole.threshold).abs() < 1e-7 * (1.0 + whole.threshold),
        "{what}: threshold {} {}",
        found.threshold,
        whole.threshold
    );
    assert_eq!(found.no_tie_region, whole.no_tie_region, "{what}");
    assert_eq!(found.chances.is_some(), whole.chances.is_some());
    let (a, b) = (&found.training, &whole.training);
    assert!((a.objective / b.objective.max(1e-300) - 1.0).abs() < 1e-9, "{what}: {} {}", a.objective, b.objective);
    assert_eq!((a.pairs, a.ties, a.stop, a.threshold_rule), (b.pairs, b.ties, b.stop, b.threshold_rule), "{what}");
    assert!((a.tie_share.observed - b.tie_share.observed).abs() < 1e-12, "{what}");
    assert!((a.tie_share.predicted - b.tie_share.predicted).abs() < 1e-12, "{what}");
    assert_eq!(a.warnings, b.warnings, "{what}");
    match (found.beta, whole.beta) {
        (Some(a), Some(b)) => assert!((a - b).abs() < 1e-8 * (1.0 + b.abs()), "{what}: β {a} {b}"),
        (a, b) => assert_eq!(a, b),
    }
}

#[test]
fn parts_of_pairs_give_the_model_of_the_whole() {
    let data = pairs(3000, 7);
    for svm in [
        CompareSvm::new(),
        CompareSvm::new().c(1000.0),
        CompareSvm::new().loss(Loss::Logistic),
        CompareSvm::new().scale(Scale::Standard).tie_weight(2.0),
        CompareSvm::new().threshold(ThresholdRule::Model),
        CompareSvm::new().tie_region(TieRegion::Always).tie_weight(0.05),
        CompareSvm::new().balance(Balance::Outcomes),
    ] {
        let whole = svm.fit(&data).unwrap().model;
        for n_parts in [1, 2, 7] {
            let parts = Local::new(cut_pairs(&data, n_parts));
            let found = svm.fit_spread(&parts, Described::default(), &Unwatched).unwrap().model;
            is_near(&found, &whole, &format!("{svm:?} {n_parts}"));
            assert!(parts.rounds.get() <= 50, "{svm:?}: {} rounds", parts.rounds.get());
        }
    }
    for machine in [Davidson::new(), Davidson::new().c(0.01).scale(Scale::Minmax)] {
        let whole = machine.fit(&data).unwrap().model;
        for n_parts in [1, 2, 7] {
            let parts = Local::new(cut_pairs(&data, n_parts));
            let found = machine.fit_spread(&parts, Described::default(), &Unwatched).unwrap().model;
            is_near(&found, &whole, &format!("{machine:?} {n_parts}"));
            assert!(parts.rounds.get() <= 50, "{machine:?}: {} rounds", parts.rounds.get());
        }
    }
}

#[test]
fn the_hinge_on_parts_meets_its_tolerance() {
    let data = pairs(3000, 8);
    let svm = CompareSvm::new().loss(Loss::Hinge).tol(1e-5);
    let whole = svm.fit(&data).unwrap().model;
    let found = svm.fit_spread(&Local::new(cut_pairs(&data, 4)), Described::default(), &Unwatched).unwrap().model;
    assert!((found.training.objective / whole.training.objective - 1.0).abs() < 2e-5);
    assert!(found.training.gap <= 1e-5);
}

#[test]
fn many_pairs_choose_the_threshold_of_the_whole() {
    // More than are sorted at once.
    let n = 300_000;
    let mut random = Random::new(5);
    let values: Vec<f64> = (0..2 * n).map(|_| random.normal()).collect();
    let outcome = |k: usize, noise: f64| {
        let margin = values[2 * k + 1] - values[2 * k] + 0.3 * noise;
        if margin.abs() < 0.7 {
            Outcome::Tie
        } else if margin > 0.0 {
            Outcome::Right
        } else {
            Outcome::Left
        }
    };
    let outcomes: Vec<Outcome> = (0..n).map(|k| outcome(k, random.normal())).collect();
    let items = Items::new(Features::dense(1, values, Precision::F64).unwrap(), None, None).unwrap();
    let pairs = (0..n as u32).map(|k| Pair { left: 2 * k, right: 2 * k + 1 }).collect();
    let data = Comparisons::new(PairSet::new(items, pairs).unwrap(), outcomes, None, None).unwrap();
    let svm = CompareSvm::new().tol(1e-12);
    let whole = svm.fit(&data).unwrap().model;
    let parts = Local::new(cut_pairs(&data, 3));
    let found = svm.fit_spread(&parts, Described::default(), &Unwatched).unwrap().model;
    is_near(&found, &whole, "many");
}

#[test]
fn no_ties_and_only_ties_have_the_answers_of_the_whole() {
    let data = pairs(200, 9);
    let of = |wanted: bool| {
        let some: Vec<usize> = (0..200).filter(|&k| (data.outcomes[k] == Outcome::Tie) == wanted).collect();
        data.select(&some)
    };
    for data in [of(true), of(false)] {
        for svm in [CompareSvm::new(), CompareSvm::new().loss(Loss::Logistic)] {
            let whole = svm.fit(&data).unwrap().model;
            let parts = Local::new(cut_pairs(&data, 3));
            let found = svm.fit_spread(&parts, Described::default(), &Unwatched).unwrap().model;
            assert_eq!(found.training.warnings, whole.training.warnings);
            assert!(distance(&weights(&found), &weights(&whole)) < 1e-7);
            assert!((found.threshold - whole.threshold).abs() < 1e-8, "{} {}", found.threshold, whole.threshold);
        }
    }
}

#[test]
fn what_parts_cannot_do_is_refused() {
    let data = ranking(10, 3, 6, false);
    for svm in [
        RankSvm::new().kernel(Kernel::rbf(1.0)),
        RankSvm::new().c(f64::INFINITY),
        RankSvm::new().pairs_per_item(Some(2)),
    ] {
        let parts = Local::new(cut(&data, 2, &svm));
        assert!(matches!(svm.fit_spread(&parts, None, None, &Unwatched), Err(Error::Unsupported { .. })));
    }
    let svm = RankSvm::new();
    // Other features in another part.
    let parts = [Part::of_items(&data, 0, &svm), Part::of_items(&ranking(10, 4, 6, false), 1, &svm)];
    let problem = svm.fit_spread(&Local::new(parts.into()), None, None, &Unwatched).unwrap_err().to_string();
    assert!(problem.contains("part 1 has 4 features, part 0 has 3"), "{problem}");
    // Parts that fail in any round.
    for fails_after in 0..8 {
        let parts = Local { fails_after, ..Local::new(cut(&data, 2, &svm)) };
        assert!(matches!(svm.fit_spread(&parts, None, None, &Unwatched), Err(Error::Interrupted)), "{fails_after}");
        let pairs = Local { fails_after, ..Local::new(cut_pairs(&pairs(100, 1), 2)) };
        let found = CompareSvm::new().fit_spread(&pairs, Described::default(), &Unwatched);
        assert!(matches!(found, Err(Error::Interrupted)), "{fails_after}");
    }
}
