//! Options of `--method classify`, `--method regress` and `--method ordinal`, for `train` and `tune`.

use clap::Args;
use rankwise::model::{ClassScheme, ClassWeights, Constraints};

use super::choice;

/// How classes are told apart, and how wide a tube is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Classes, values and grades")]
pub(crate) struct SvmArgs {
    /// classify: more than two classes by a machine for every pair of them (ovo), for each against the rest (ovr), or by one
    /// with weights for all of them, linear: crammer-singer, weston-watkins [default: ovo]
    #[arg(long, value_name = "SCHEME", value_parser = choice::class_scheme())]
    pub(crate) classes: Option<ClassScheme>,
    /// classify: multiplies the weights of the items of a class, NAME=W,…; balanced makes all classes weigh the same
    #[arg(long, value_name = "NAME=W,…|balanced", value_parser = choice::class_weights)]
    pub(crate) class_weight: Option<ClassWeights>,
    /// classify: probabilities of the classes, fitted to items that were held out
    #[arg(long)]
    pub(crate) probabilities: bool,
    /// regress: how far from a label a value may be without loss [default: 0.1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) epsilon: Option<f64>,
    /// ordinal: every item has a say in every threshold between grades (implicit), or only in those beside its grade, thresholds
    /// being kept in order (explicit) [default: implicit]
    #[arg(long, value_name = "KIND", value_parser = choice::constraints())]
    pub(crate) constraints: Option<Constraints>,
    /// ordinal: puts labels into so many bins of about equal weight first; these are the grades [default: labels are grades]
    #[arg(long, value_name = "N")]
    pub(crate) bins: Option<usize>,
}

impl SvmArgs {
    /// The options of classifiers, and whether each was typed.
    pub(crate) fn of_classes(&self) -> [(&'static str, bool); 3] {
        [
            ("--classes", self.classes.is_some()),
            ("--class-weight", self.class_weight.is_some()),
            ("--probabilities", self.probabilities),
        ]
    }

    /// The options of machines of grades, and whether each was typed.
    pub(crate) fn of_grades(&self) -> [(&'static str, bool); 2] {
        [("--constraints", self.constraints.is_some()), ("--bins", self.bins.is_some())]
    }

    /// The options of regressions, and whether each was typed.
    pub(crate) fn of_values(&self) -> [(&'static str, bool); 1] {
        [("--epsilon", self.epsilon.is_some())]
    }
}
