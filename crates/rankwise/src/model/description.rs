//! A model and its training in words and numbers: the keys of JSON output.

use serde::{Serialize, Serializer};

use super::{
    Balance, Chances, ClassScheme, ClassWeights, CoefficientSign, Constraints, LearntFrom, Method, Model,
    OnlineTraining, ScoreFunction, SvmTraining, ThresholdRule, TieBandKind, TieRegion, TieShare,
};
use crate::data::Scale;
use crate::kernel::KernelFunction;
use crate::loss::Loss;
use crate::progress::Stop;

/// The JSON keys that describe a model.
#[derive(Debug, Serialize)]
pub struct Description<'a> {
    method: Method,
    learnt_from: LearntFrom,
    loss: Loss,
    kernel: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    degree: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coef0: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approx: Option<String>,
    #[serde(rename = "C", serialize_with = "or_inf")]
    c: f64,
    tol: f64,
    seed: u64,
    scale: Scale,
    balance: Balance,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    normalise: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs_per_item: Option<usize>,
    items: usize,
    features: usize,
    groups: Option<usize>,
    groups_dropped: usize,
    pairs: usize,
    ties: usize,
    objective: Option<f64>,
    gap: Option<f64>,
    certificate: &'a str,
    iterations: u64,
    stop: Stop,
    support: Option<usize>,
    #[serde(flatten)]
    online: Option<OnlineTraining>,
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bias: Option<f64>,
    #[serde(flatten)]
    svm: Option<SvmJson<'a>>,
    #[serde(flatten)]
    program: Option<ProgramJson>,
    #[serde(flatten)]
    separation: Option<Separation>,
    #[serde(flatten)]
    comparer: Option<Comparer>,
}

/// What only classifiers, regressions and models of grades have.
#[derive(Debug, Serialize)]
struct SvmJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class_scheme: Option<ClassScheme>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class_weight: Option<String>,
    #[serde(skip_serializing_if = "<[usize]>::is_empty")]
    class_sizes: &'a [usize],
    /// How grades are told apart.
    #[serde(flatten)]
    grades: Option<GradesJson<'a>>,
    /// How many machines tell the classes apart.
    machines: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<bool>,
    /// Whether items had margins of their own.
    item_margins: bool,
}

/// What only models of grades have.
#[derive(Debug, Serialize)]
struct GradesJson<'a> {
    constraints: Option<Constraints>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<usize>,
    grades: &'a [f64],
    grade_sizes: &'a [usize],
    /// Between neighbouring grades.
    thresholds: &'a [f64],
    /// Between labels that were put into bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    label_cuts: Option<&'a [f64]>,
}

impl<'a> SvmJson<'a> {
    fn new(model: &'a Model, svm: &'a SvmTraining) -> Self {
        SvmJson {
            epsilon: svm.epsilon,
            class_scheme: svm.scheme,
            class_weight: (svm.class_weights != ClassWeights::Equal).then(|| svm.class_weights.text()),
            class_sizes: if model.grades.is_some() { &[] } else { &svm.class_sizes },
            grades: model.grades.as_ref().map(|rule| GradesJson {
                constraints: svm.constraints,
                bins: svm.bins,
                grades: &rule.grades,
                grade_sizes: &svm.class_sizes,
                thresholds: &rule.thresholds,
                label_cuts: rule.cuts.as_deref(),
            }),
            machines: model.scorer.function.n_machines(),
            probabilities: model.class_rule.as_ref().map(|rule| rule.sigmoids.is_some()),
            item_margins: svm.has_margins,
        }
    }
}

/// What only linear programs have.
#[derive(Debug, Serialize)]
struct ProgramJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    coefficients: Option<CoefficientSign>,
    #[serde(rename = "critical_C", skip_serializing_if = "Option::is_none")]
    critical_c: Option<f64>,
    /// Of rank-l1: pairs with a coefficient.
    #[serde(rename = "support_pairs", skip_serializing_if = "Option::is_none")]
    pairs: Option<usize>,
}

/// What a hard margin says.
#[derive(Debug, Serialize)]
struct Separation {
    separable: bool,
    margin: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lp_slack: Option<f64>,
}

/// What only models learnt from pairs have.
#[derive(Debug, Serialize)]
struct Comparer {
    threshold_rule: ThresholdRule,
    tie_region: TieRegion,
    tie_weight: f64,
    /// Not counted where labels and judged pairs were learnt from together.
    support_pairs: Option<usize>,
    threshold: f64,
    beta: Option<f64>,
    no_tie_region: bool,
    collapsed: bool,
    tie_parameter: Option<f64>,
    tie_band: TieBandKind,
    /// How margins become probabilities: `rule` and its numbers; null without probabilities.
    probabilities: Option<Chances>,
    /// Items that make the kernel linear, where the model is made of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    landmarks: Option<usize>,
    tie_share: TieShare,
}

/// C in JSON, which knows no infinite numbers.
pub fn or_inf<S: Serializer>(c: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if *c == f64::INFINITY { serializer.serialize_str("inf") } else { serializer.serialize_f64(*c) }
}

impl<'a> Description<'a> {
    /// Describes a model.
    pub fn new(model: &'a Model) -> Self {
        let training = &model.training;
        let (gamma, degree, coef0) = match training.kernel {
            KernelFunction::Poly { gamma, coef0, degree } => (Some(gamma), Some(degree), Some(coef0)),
            KernelFunction::Rbf { gamma } => (Some(gamma), None, None),
            KernelFunction::Sigmoid { gamma, coef0 } => (Some(gamma), None, Some(coef0)),
            _ => (None, None, None),
        };
        Description {
            method: training.method,
            learnt_from: training.learnt_from,
            loss: training.loss,
            kernel: training.kernel.name(),
            gamma,
            degree,
            coef0,
            approx: training.approx.map(|approx| approx.to_string()),
            c: training.c,
            tol: training.tol,
            seed: training.seed,
            scale: training.scale,
            balance: training.balance,
            normalise: training.normalise,
            pairs_per_item: training.pairs_per_item,
            items: training.items,
            features: training.features,
            groups: training.groups,
            groups_dropped: training.groups_dropped,
            pairs: training.pairs,
            ties: training.ties,
            objective: training.known_objective(),
            gap: training.known_gap(),
            certificate: &training.certificate,
            iterations: training.iterations,
            stop: training.stop,
            support: training.support,
            online: training.online,
            classes: model.classes.as_deref(),
            bias: model.bias(),
            svm: training.svm.as_ref().map(|svm| SvmJson::new(model, svm)),
            program: training.program.map(|program| ProgramJson {
                coefficients: program.coefficients,
                critical_c: program.critical_c,
                pairs: (training.method == Method::RankL1).then_some(training.support_pairs),
            }),
            separation: training.margin.map(|margin| Separation {
                separable: true,
                margin,
                lp_slack: training.lp_slack,
            }),
            comparer: (training.learnt_from != LearntFrom::Items).then(|| Comparer::new(model)),
        }
    }
}

impl Comparer {
    fn new(model: &Model) -> Self {
        let training = &model.training;
        Comparer {
            threshold_rule: training.threshold_rule,
            tie_region: training.tie_region,
            tie_weight: training.tie_weight,
            support_pairs: (training.learnt_from == LearntFrom::Pairs).then_some(training.support_pairs),
            threshold: model.threshold,
            beta: model.beta,
            no_tie_region: model.no_tie_region,
            collapsed: training.collapsed,
            tie_parameter: training.tie_parameter,
            tie_band: training.tie_band,
            probabilities: model.chances,
            landmarks: model.n_landmarks(),
            tie_share: training.tie_share,
        }
    }
}

impl Model {
    /// What a regression or a classifier of two classes adds to all scores.
    pub fn bias(&self) -> Option<f64> {
        match self.scorer.function {
            ScoreFunction::Linear { bias, .. } | ScoreFunction::Kernel { bias, .. }
                if self.grades.is_none()
                    && (self.training.method == Method::Ridge
                        || self.training.svm.is_some()
                        || self.classes.is_some()) =>
            {
                Some(bias)
            }
            _ => None,
        }
    }

    /// How many items the features of a kernel come from, where such features stand for it.
    pub fn n_landmarks(&self) -> Option<usize> {
        match &self.scorer.function {
            ScoreFunction::Landmarks { map, .. } => Some(map.len()),
            _ => None,
        }
    }
}
