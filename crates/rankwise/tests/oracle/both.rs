//! Labels and judged pairs in one training, against a ranking SVM on all of the pairs written out.

use rankwise::data::{
    Comparisons, Features, Groups, Items, JudgedPairs, Outcome, Pair, PairSet, Precision, Random, Ranking, Scale,
};
use rankwise::model::{LearntFrom, ScoreFunction};
use rankwise::{CompareRank, Loss, RankSvm, Unwatched, Variant};

fn data() -> (Ranking, JudgedPairs) {
    let mut random = Random::new(12);
    let (n, d) = (60, 4);
    let values: Vec<f64> = (0..n * d).map(|_| 2.0 * random.normal()).collect();
    let items = Items::new(Features::dense(d, values, Precision::F64).unwrap(), None, None).unwrap();
    let labels = (0..n).map(|_| random.below(3) as f64).collect();
    let groups = Groups::from_ids((0..n).map(|k| (k / 12).to_string()).collect::<Vec<_>>());
    let ranking = Ranking::new(items, labels, Some(groups)).unwrap();
    let pairs = (0..80).map(|_| Pair { left: random.below(n) as u32, right: random.below(n) as u32 }).collect();
    let outcomes = (0..80).map(|_| Outcome::ALL[random.below(3)]).collect();
    let weights = (0..80).map(|k| if k % 9 == 0 { 0.0 } else { 0.5 + random.uniform() }).collect();
    (ranking, JudgedPairs { pairs, outcomes, weights: Some(weights) })
}

#[test]
fn labels_and_judgments_equal_all_their_pairs() {
    let (ranking, judged) = data();
    let mut pairs = Vec::new();
    let (mut outcomes, mut weights) = (Vec::new(), Vec::new());
    for a in 0..ranking.n_items() {
        for b in 0..ranking.n_items() {
            if a / 12 == b / 12 && ranking.labels[a] < ranking.labels[b] {
                pairs.push(Pair { left: a as u32, right: b as u32 });
                outcomes.push(Outcome::Right);
                weights.push(1.0);
            }
        }
    }
    for k in 0..judged.pairs.len() {
        if judged.outcomes[k] != Outcome::Tie {
            pairs.push(judged.pairs[k]);
            outcomes.push(judged.outcomes[k]);
            weights.push(judged.weight(k));
        }
    }
    let set = PairSet::new(ranking.items.clone(), pairs).unwrap();
    let all = Comparisons::new(set, outcomes, Some(weights), None).unwrap();
    for loss in [Loss::SquaredHinge, Loss::Hinge, Loss::Logistic] {
        for scale in [Scale::None, Scale::Standard] {
            let svm = RankSvm::new().c(0.05).loss(loss).scale(scale).tol(1e-7);
            let both = svm.fit_both(&ranking, &judged, None, &Unwatched).unwrap().model;
            let twin =
                CompareRank::new(Variant::Rank).c(0.05).loss(loss).scale(scale).tol(1e-7).fit(&all).unwrap().model;
            let (a, b) = (both.training.objective, twin.training.objective);
            // Scales are learnt from the items: all of them here, those of the pairs there. These are the same.
            assert!((a / b - 1.0).abs() < 1e-6, "{loss:?} {scale:?}: {a} {b}");
            let (ScoreFunction::Linear { weights: a, .. }, ScoreFunction::Linear { weights: b, .. }) =
                (&both.scorer.function, &twin.scorer.function)
            else {
                unreachable!()
            };
            for (a, b) in a.iter().zip(b) {
                assert!((a - b).abs() < 2e-3 * (1.0 + b.abs()), "{loss:?} {scale:?}: {a} {b}");
            }
            assert_eq!(both.training.learnt_from, LearntFrom::Both);
            assert!(both.threshold >= 0.0 && both.training.gap <= 1e-7);
        }
    }
}

#[test]
fn judgments_of_items_that_are_not_there_are_refused() {
    let (ranking, mut judged) = data();
    judged.pairs[3].left = 60;
    let fit = RankSvm::new().fit_both(&ranking, &judged, None, &Unwatched);
    assert!(fit.unwrap_err().to_string().contains("item numbers below 60"));
    let (ranking, judged) = data();
    let fit = RankSvm::new().c(f64::INFINITY).fit_both(&ranking, &judged, None, &Unwatched);
    assert!(fit.unwrap_err().to_string().contains("finite C"));
}
