//! `inspect`: what is in a model file.

use rankwise::data::Features;
use rankwise::model::{Balance, Basis, ClassScheme, LearntFrom, Method, Model, ScoreFunction, Scorer};
use rankwise::{Loss, io};
use serde::Serialize;

use super::band;
use super::describe::{self, Description};
use super::tuning::{self, TuningJson};
use crate::args::InspectArgs;
use crate::exit::Run;
use crate::output::Output;
use crate::text::{Facts, rounded, rounded_or_dash, table};

/// How many numbers of a support item are shown.
const SHOWN_FEATURES: usize = 6;

/// Shows a model.
pub(super) fn run(args: &InspectArgs, output: &Output) -> Run<()> {
    let model = io::read_model(&args.model)?;
    let inspection = Inspection::new(&model, args.top);
    model.training.warnings.iter().for_each(|warning| output.note(|| format!("warning of the training: {warning}")));
    output.result(|| &inspection, || inspection.text(&model))
}

/// What there is to see; its fields are the JSON keys.
#[derive(Debug, Serialize)]
struct Inspection<'a> {
    #[serde(flatten)]
    description: Description<'a>,
    /// The threshold that the comparison machine itself would use on these scores.
    machine_threshold: Option<f64>,
    feature_names: Option<&'a [String]>,
    features_are_items: bool,
    is_scaled: bool,
    /// None for a hard margin.
    conventions: Option<Conventions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<Weight>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coefficients: Option<Vec<Coefficient>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    machine_parts: Vec<MachinePart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    band: Option<Band>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tuning: Option<TuningJson<'a>>,
    warnings: &'a [String],
}

#[derive(Debug, Serialize)]
struct Weight {
    feature: String,
    weight: f64,
}

/// One of several machines.
#[derive(Debug, Serialize)]
struct MachinePart<'a> {
    /// The class that scores below 0 speak for; null: all others.
    below: Option<&'a str>,
    /// The class that scores above 0 speak for.
    above: &'a str,
    bias: f64,
    /// Support items with a coefficient in this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    support: Option<usize>,
    /// The largest weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<Weight>>,
}

/// How the tie region depends on the pair.
#[derive(Debug, Serialize)]
struct Band {
    /// Its width where all the rest is 0.
    base: f64,
    /// How many weights there are.
    n_weights: usize,
    /// The largest of them.
    weights: Vec<BandWeight>,
}

#[derive(Debug, Serialize)]
struct BandWeight {
    of: String,
    weight: f64,
}

#[derive(Debug, Serialize)]
struct Coefficient {
    /// Number of the support item, counted from 1.
    item: usize,
    /// What it is called, where the training data had ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    coefficient: f64,
    features: Vec<f64>,
}

/// The same C in the words of others.
#[derive(Debug, Default, Serialize)]
struct Conventions {
    /// ½λ‖w‖² + Σ loss
    lambda_of_sum: f64,
    /// ½λ‖w‖² + mean loss; with balanced groups the mean over groups of the means over their pairs
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda_of_mean: Option<f64>,
    /// C of `rank --loss hinge` with twice these scores, for which the others speak; of swapped pairs
    #[serde(rename = "rank_C", skip_serializing_if = "Option::is_none")]
    rank_c: Option<f64>,
    /// ½‖w‖² + C·Σ loss with a free bias; of classifiers by the hinge and of tubes
    #[serde(rename = "libsvm_C", skip_serializing_if = "Option::is_none")]
    libsvm_c: Option<f64>,
    /// Σ squares + α‖w‖²; of ridge regression
    #[serde(skip_serializing_if = "Option::is_none")]
    ridge_alpha: Option<f64>,
    /// ½‖w‖² + C·mean loss; none with balanced groups
    #[serde(rename = "dlib_C")]
    dlib_c: Option<f64>,
    /// ½‖w‖² + c/groups·Σ hinge, groups without a pair counted, too; items without balance
    #[serde(skip_serializing_if = "Option::is_none")]
    svm_rank_c: Option<f64>,
    /// ½‖w‖² + C·Σ squared hinge; items without balance. Of Crammer and Singer's machine the same C
    #[serde(rename = "liblinear_C", skip_serializing_if = "Option::is_none")]
    liblinear_c: Option<f64>,
    /// The solver of theirs that has it.
    #[serde(skip)]
    liblinear_options: &'static str,
}

impl Conventions {
    fn of(model: &Model) -> Option<Self> {
        let training = &model.training;
        // What has no ‖w‖² has no λ for it.
        if !training.c.is_finite() || training.program.is_some() {
            return None;
        }
        if training.method == Method::Ridge {
            // ½‖w‖² + C·Σ squares, in their words.
            let alpha = 0.5 / training.c;
            return Some(Conventions {
                ridge_alpha: Some(alpha),
                lambda_of_sum: 1.0 / training.c,
                ..Conventions::default()
            });
        }
        if training.svm.is_some() {
            // LIBSVM and scikit-learn's SVC and SVR have the same C, and no squares.
            let scheme = training.svm.as_ref().and_then(|svm| svm.scheme);
            let is_joint = scheme.is_some_and(ClassScheme::is_joint);
            let is_plain = matches!(training.loss, Loss::Hinge | Loss::Epsilon) && !is_joint && model.grades.is_none();
            let is_theirs = scheme == Some(ClassScheme::CrammerSinger);
            return Some(Conventions {
                lambda_of_sum: 1.0 / training.c,
                // An item with a grade has several losses.
                lambda_of_mean: model.grades.is_none().then(|| 1.0 / (training.c * training.items.max(1) as f64)),
                libsvm_c: is_plain.then_some(training.c),
                liblinear_c: is_theirs.then_some(training.c),
                liblinear_options: "-s 4 -B 1",
                ..Conventions::default()
            });
        }
        let n_pairs = match training.method {
            Method::Rank => training.pairs - training.ties.min(training.pairs),
            Method::Rank2 => 2 * training.pairs,
            Method::Online if model.classes.is_some() => training.items,
            _ => training.pairs,
        };
        let is_balanced = training.balance == Balance::Groups;
        let groups = training.groups.unwrap_or(1);
        let n_losses = if is_balanced { groups } else { n_pairs } as f64;
        // A machine of swapped pairs is a ranking SVM with another C.
        let rank_c = (training.method == Method::Swap)
            .then(|| 4.0 * training.c / if training.normalise { n_losses } else { 1.0 });
        let c = rank_c.unwrap_or(training.c);
        let times_mean = c * n_losses;
        let is_plain_ranking = training.learnt_from == LearntFrom::Items
            && !is_balanced
            && training.pairs_per_item.is_none()
            && model.classes.is_none();
        let is_squared = training.loss == Loss::SquaredHinge;
        Some(Conventions {
            lambda_of_sum: 1.0 / c,
            lambda_of_mean: Some(1.0 / times_mean),
            rank_c,
            ridge_alpha: None,
            libsvm_c: None,
            dlib_c: (!is_balanced).then_some(times_mean),
            svm_rank_c: is_plain_ranking.then(|| c * (groups + training.groups_dropped) as f64),
            liblinear_options: "-s 8",
            liblinear_c: (is_plain_ranking && is_squared && training.kernel.name() == "linear").then_some(c),
        })
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if let Some(c) = self.rank_c {
            text += &format!("C {} for rank --loss hinge, whose scores are twice these; there ", rounded(c));
        }
        text += &format!("λ {} for ½λ‖w‖² + Σ loss", rounded(self.lambda_of_sum));
        if let Some(lambda) = self.lambda_of_mean {
            text += &format!("; λ {} for ½λ‖w‖² + mean loss", rounded(lambda));
        }
        if let Some(c) = self.libsvm_c {
            text += &format!("; C {} in LIBSVM and scikit-learn's SVC and SVR", rounded(c));
        }
        if let Some(alpha) = self.ridge_alpha {
            text += &format!("; alpha {} in scikit-learn's Ridge", rounded(alpha));
        }
        if let Some(c) = self.dlib_c {
            text += &format!("; C {} in dlib, whose C multiplies the mean", rounded(c));
        }
        if let Some(c) = self.svm_rank_c {
            text += &format!("; -c {} in svm_rank, whose loss is the hinge", rounded(c));
        }
        if let Some(c) = self.liblinear_c {
            text += &format!("; {} -c {} in LIBLINEAR", self.liblinear_options, rounded(c));
        }
        text
    }
}

impl<'a> Inspection<'a> {
    fn new(model: &'a Model, top: usize) -> Self {
        let scorer = &model.scorer;
        let (weights, coefficients) = match &scorer.function {
            ScoreFunction::Linear { weights, .. } => (Some(largest_weights(scorer, weights, top)), None),
            ScoreFunction::Landmarks { weights, .. } => {
                (Some(largest_weights(scorer, &weights[..scorer.n_features], top)), None)
            }
            ScoreFunction::Several { .. } => (None, None),
            ScoreFunction::Kernel { support, coefficients, .. } => {
                let names = model.training.support_names.as_deref();
                (None, Some(largest_coefficients(support, names, coefficients, top)))
            }
        };
        Inspection {
            description: Description::new(model),
            machine_threshold: machine_threshold(model),
            feature_names: scorer.feature_names.as_deref(),
            features_are_items: scorer.are_indicators,
            is_scaled: scorer.scaler.is_some(),
            conventions: Conventions::of(model),
            weights,
            coefficients,
            machine_parts: machine_parts(model, top),
            band: model.band.as_ref().map(|tie_band| Band {
                base: tie_band.base,
                n_weights: band::n_weights(tie_band),
                weights: band::largest_weights(model, tie_band, top)
                    .into_iter()
                    .map(|(of, weight)| BandWeight { of, weight })
                    .collect(),
            }),
            tuning: model.training.tuning.as_ref().map(TuningJson::new),
            warnings: &model.training.warnings,
        }
    }

    fn text(&self, model: &Model) -> String {
        let mut facts = Facts::default();
        describe::add_facts(&mut facts, model);
        if self.machine_threshold.is_some() {
            facts.add("machine's own", format!("threshold {}", rounded_or_dash(self.machine_threshold)));
        }
        if let Some(conventions) = &self.conventions {
            facts.add("C elsewhere", conventions.text());
        }
        if let Some(tuning) = &model.training.tuning {
            facts.add("tuning", tuning::line(tuning));
        }
        self.warnings.iter().for_each(|warning| facts.add("warning", warning.as_str()));
        let mut text = facts.to_string();
        let units = if self.is_scaled { ", of scaled features" } else { "" };
        if let Some(weights) = &self.weights {
            let what = if self.features_are_items { "item" } else { "feature" };
            text += &format!("\nweights, {} of {}, the largest first{units}\n", weights.len(), model.scorer.n_features);
            let rows = weights.iter().map(|entry| [entry.feature.clone(), rounded(entry.weight)]);
            text += &table([what, "weight"], rows);
        }
        if let Some(coefficients) = &self.coefficients {
            let n_support = model.training.support.unwrap_or(coefficients.len());
            text += &format!("\nsupport items, {} of {n_support}, the largest first{units}\n", coefficients.len());
            let rows = coefficients.iter().map(|entry| {
                let shown = entry.features.iter().take(SHOWN_FEATURES).map(|&value| rounded(value));
                let mut features = shown.collect::<Vec<_>>().join(", ");
                if entry.features.len() > SHOWN_FEATURES {
                    features += ", …";
                }
                let item = entry.name.clone().unwrap_or_else(|| format!("#{}", entry.item));
                [item, rounded(entry.coefficient), features]
            });
            text += &table(["item", "coefficient", "features"], rows);
        }
        if !self.machine_parts.is_empty() {
            text += &format!("\nmachines{units}\n");
            let rows = self.machine_parts.iter().map(|part| {
                let made_of = match (&part.weights, part.support) {
                    (Some(weights), _) => {
                        let few = weights.iter().take(SHOWN_FEATURES);
                        few.map(|w| format!("{} {}", w.feature, rounded(w.weight))).collect::<Vec<_>>().join(", ")
                    }
                    (None, support) => support.map_or_else(String::new, |n| format!("{n} support items")),
                };
                [part.below.unwrap_or("(others)").to_string(), part.above.to_string(), rounded(part.bias), made_of]
            });
            text += &table(["below 0", "above 0", "bias", "made of"], rows);
        }
        if let Some(Band { base, n_weights, weights }) = &self.band {
            let shown = weights.len();
            text += &format!("\ntie band, {shown} of {n_weights} weights, the largest first{units}\n");
            let rows = weights.iter().map(|entry| [entry.of.clone(), rounded(entry.weight)]);
            text += &table(["of", "weight"], [["base".to_string(), rounded(*base)]].into_iter().chain(rows));
        }
        text
    }
}

/// 1 on scores −u/β, 0 where the machine found no region of ties; rankers, tie bands and probabilities that decide have none.
fn machine_threshold(model: &Model) -> Option<f64> {
    let training = &model.training;
    let is_plain = model.band.is_none() && training.loss != Loss::Logistic;
    (training.method == Method::Compare && is_plain).then_some(match model.beta {
        Some(_) if !model.no_tie_region => 1.0,
        _ => 0.0,
    })
}

/// The machines of a classifier, where there are several.
fn machine_parts(model: &Model, top: usize) -> Vec<MachinePart<'_>> {
    let ScoreFunction::Several { basis, coefficients, biases } = &model.scorer.function else { return Vec::new() };
    let (Some(classes), Some(rule)) = (&model.classes, &model.class_rule) else { return Vec::new() };
    let each = coefficients.len() / biases.len().max(1);
    let part = |(at, (below, above)): (usize, (Option<usize>, usize))| {
        let numbers = &coefficients[at * each..][..each];
        let (support, weights) = match basis {
            Basis::Kernel { .. } => (Some(numbers.iter().filter(|t| **t != 0.0).count()), None),
            Basis::Features => (None, Some(largest_weights(&model.scorer, numbers, top))),
        };
        MachinePart {
            below: below.map(|class| classes[class].as_str()),
            above: &classes[above],
            bias: biases[at],
            support,
            weights,
        }
    };
    rule.scheme.machines(classes.len()).into_iter().enumerate().map(part).collect()
}

/// The places of the largest absolute values; equal ones in order.
fn largest(values: &[f64], top: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    order.truncate(top);
    order
}

fn largest_weights(scorer: &Scorer, weights: &[f64], top: usize) -> Vec<Weight> {
    let name = |at: usize| match &scorer.feature_names {
        Some(names) => names.get(at).cloned().unwrap_or_default(),
        None => format!("#{}", at + 1),
    };
    largest(weights, top).into_iter().map(|at| Weight { feature: name(at), weight: weights[at] }).collect()
}

fn largest_coefficients(
    support: &Features,
    names: Option<&[String]>,
    coefficients: &[f64],
    top: usize,
) -> Vec<Coefficient> {
    let entry = |at: usize| {
        let mut features = vec![0.0; support.n_cols()];
        support.copy_row(at, &mut features);
        Coefficient {
            item: at + 1,
            name: names.map(|names| names[at].clone()),
            coefficient: coefficients[at],
            features,
        }
    };
    largest(coefficients, top).into_iter().map(entry).collect()
}
