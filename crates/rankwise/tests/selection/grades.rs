//! Choosing parameters of ordinal machines, against loops that train and evaluate.

use rankwise::OrdinalSvm;
use rankwise::data::{Groups, Ranking};
use rankwise::metrics::{ClassMetric, Classified, ItemMetric, Ranked};
use rankwise::model::{Constraints, Model};
use rankwise::selection::{LabelMetric, LabelSplit, LabelTuner, OrderMetric};

use super::*;
use crate::oracle::ordinal::graded;

const METRICS: [LabelMetric; 4] = [
    LabelMetric::Class(ClassMetric::ZeroOne),
    LabelMetric::Class(ClassMetric::Mae),
    LabelMetric::Order(OrderMetric::SwappedPairs),
    LabelMetric::Order(OrderMetric::PairAccuracy),
];

fn measured(model: &Model, held: &Ranking, metric: LabelMetric) -> f64 {
    let rule = model.grades.as_ref().unwrap();
    let scores = model.scorer.scores(&held.items).unwrap();
    match metric {
        LabelMetric::Order(metric) => {
            let ranked = Ranked::new(&held.labels, &scores, &held.groups).unwrap();
            let ranked = ranked.with_weights(held.weights.as_ref().unwrap()).unwrap();
            ItemMetric::parse(metric.name()).unwrap().of(&ranked).unwrap().value.unwrap()
        }
        LabelMetric::Class(metric) => {
            let (names, labels) = rule.places_of_labels(&held.labels);
            let verdicts = rule.verdicts(scores);
            let classified = Classified::new(&names, rule.grades.len(), &labels, &verdicts.classes).unwrap();
            metric.of(&classified.with_weights(held.weights.as_ref().unwrap()).unwrap()).unwrap()
        }
        _ => panic!(),
    }
}

#[test]
fn points_have_the_metric_of_training_and_evaluating() {
    let (mut data, mut valid) = (graded(80, 4, 0.5, 1), graded(60, 4, 0.5, 2));
    valid.groups = Groups::from_ids((0..60).map(|item| (item % 3).to_string()));
    for bins in [None, Some(3)] {
        if bins.is_some() {
            let values = |data: &Ranking| (0..data.n_items()).map(|k| data.labels[k] + (k % 7) as f64 / 7.0).collect();
            (data.labels, valid.labels) = (values(&data), values(&valid));
        }
        for (metric, constraints) in METRICS.into_iter().zip([Constraints::Implicit, Constraints::Explicit].repeat(2)) {
            let svm = OrdinalSvm::new().bins(bins).constraints(constraints).tol(1e-7);
            let kernels = vec![Kernel::Linear, Kernel::rbf(0.2)];
            let grid = Grid { c: vec![10.0, 0.1, 1.0], kernels, losses: vec![Loss::Hinge] };
            let tuner = LabelTuner::new(svm.clone()).grid(grid).metric(metric);
            let tuned = tuner.tune(&data, LabelSplit::Valid((&valid).into()), &Unwatched).unwrap();
            let tuning = tuned.tuning().unwrap();
            assert_eq!(tuning.metric, metric.name());
            for point in &tuning.points {
                let model = svm.clone().c(point.c).kernel(point.kernel).fit(&data).unwrap().model;
                let (own, found) = (measured(&model, &valid, metric), point.mean.unwrap());
                assert!((own - found).abs() < 1e-3, "{metric:?} {:?} C {}: {own} {found}", point.kernel, point.c);
            }
            let best = &tuning.points[tuning.best];
            let better = |point: &&rankwise::model::TuningPoint| match metric.greater_is_better() {
                true => point.mean > best.mean,
                false => point.mean < best.mean,
            };
            assert!(tuning.points.iter().find(better).is_none());
            assert_eq!(tuned.fit.model.training.c, best.c);
        }
    }
}

#[test]
fn folds_of_grades() {
    let data = graded(90, 3, 0.5, 3);
    for metric in METRICS {
        let tuner = LabelTuner::new(OrdinalSvm::new().kernel(Kernel::rbf(0.3))).metric(metric);
        let tuned = tuner.tune(&data, LabelSplit::Folds(3), &Unwatched).unwrap();
        let tuning = tuned.tuning().unwrap();
        let (best, baseline) = (tuning.points[tuning.best].mean.unwrap(), tuning.baseline.as_ref().unwrap().value);
        let is_better = if metric.greater_is_better() { best > baseline } else { best < baseline };
        assert!(is_better, "{metric:?}: {best} {baseline}");
    }
    // A part that has one grade alone, and metrics of other labels.
    let mut labels = vec![1.0; 90];
    labels[0] = 2.0;
    let lonely = Ranking { labels, weights: None, ..data.clone() };
    let told = LabelTuner::new(OrdinalSvm::new()).tune(&lonely, LabelSplit::Folds(3), &Unwatched).unwrap_err();
    assert!(told.to_string().contains("the training part of fold"), "{told}");
    let chances = LabelTuner::new(OrdinalSvm::new()).metric(LabelMetric::Class(ClassMetric::LogLoss));
    assert!(matches!(chances.check(), Err(Error::Parameter { name: "metric", .. })));
}
