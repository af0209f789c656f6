//! `train --method classify` and `--method regress`, as meant.

use rankwise::data::Precision;
use rankwise::io::{Columns, Source};
use rankwise::model::Method;
use rankwise::{Loss, SvmClassifier, SvmRegressor};

use super::train::check_precision;
use super::{common_effort, item_source, kernel, refuse, time_limit};
use crate::args::{Common, LearnArgs, TrainArgs};
use crate::exit::{Failure, Run};

/// `train --method classify` or `--method regress`, as meant.
pub(crate) struct SvmPlan {
    /// The items.
    pub(crate) source: Source,
    /// Their columns.
    pub(crate) columns: Columns,
    /// How dense features are stored.
    pub(crate) precision: Precision,
    /// The method with its parameters.
    pub(crate) machine: SvmMachine,
}

/// What is learnt.
pub(crate) enum SvmMachine {
    /// Classes.
    Classify(SvmClassifier),
    /// Values.
    Regress(SvmRegressor),
}

impl SvmMachine {
    /// Which method it is.
    pub(crate) fn method(&self) -> Method {
        match self {
            SvmMachine::Classify(_) => Method::Classify,
            SvmMachine::Regress(_) => Method::Regress,
        }
    }

    /// C.
    pub(crate) fn c(&self) -> f64 {
        match self {
            SvmMachine::Classify(svm) => svm.c,
            SvmMachine::Regress(svm) => svm.c,
        }
    }
}

/// What was asked.
pub(super) fn plan(method: Method, args: &TrainArgs, common: &Common) -> Run<SvmPlan> {
    let learn = &args.learn;
    let with = format!("--method {}", method.name());
    let Some(data) = &learn.data else {
        return Err(Failure::Usage(format!(
            "{with} learns from items with labels, not from compared pairs; give items (train DATA {with} -o MODEL)"
        )));
    };
    refuse_others(args, &with)?;
    let mut effort = common_effort(common);
    (effort.tol, effort.max_iter, effort.cache_mb) = (learn.effort.tol, learn.effort.max_iter, learn.effort.cache_mb);
    effort.time_limit = time_limit(args.time_limit)?;
    let (c, kernel) = (learn.c.unwrap_or(1.0), kernel(&learn.kernel)?);
    // Before anything is read.
    let machine = if method == Method::Classify {
        refuse(&args.svm.of_values(), &with, "choose --method regress")?;
        let svm = SvmClassifier::new()
            .c(c)
            .kernel(kernel)
            .approx(learn.kernel.approx)
            .loss(learn.loss.unwrap_or(Loss::Hinge))
            .scheme(args.svm.classes.unwrap_or_default())
            .class_weights(args.svm.class_weight.clone().unwrap_or_default())
            .probabilities(args.svm.probabilities)
            .scale(learn.scale)
            .effort(effort);
        svm.check()?;
        SvmMachine::Classify(svm)
    } else {
        refuse(&args.svm.of_classes(), &with, "choose --method classify")?;
        let svm = SvmRegressor::new()
            .c(c)
            .kernel(kernel)
            .approx(learn.kernel.approx)
            .loss(learn.loss.unwrap_or(Loss::Epsilon))
            .epsilon(args.svm.epsilon.unwrap_or(0.1))
            .scale(learn.scale)
            .effort(effort);
        svm.check()?;
        SvmMachine::Regress(svm)
    };
    let (source, columns) = item_source(data, learn.format.format, &learn.source.columns)?;
    check_precision(&source, learn.precision)?;
    Ok(SvmPlan { source, columns, precision: learn.precision, machine })
}

/// Refuses what neither method knows.
fn refuse_others(args: &TrainArgs, with: &str) -> Run<()> {
    let learn = &args.learn;
    let of_rankers = [
        ("--pairs", learn.source.pairs.is_some()),
        ("--pairs-per-item", learn.pairs_per_item.is_some()),
        ("--balance", learn.ties.balance.is_some()),
        ("--init", args.init.is_some()),
        ("--memory-mb", args.memory_mb.is_some()),
    ];
    refuse(&of_rankers, with, "choose --method rank")?;
    refuse(&[("--normalise", args.normalise)], with, "choose --method swap")?;
    refuse(&[("--calibrate", learn.ties.calibrate)], with, "give --probabilities to --method classify")?;
    let of_ties = [
        ("--threshold", learn.ties.threshold.is_some()),
        ("--tie-region", learn.ties.tie_region.is_some()),
        ("--tie-weight", learn.ties.tie_weight.is_some()),
        ("--tie-band", learn.ties.tie_band.is_some()),
    ];
    refuse(&of_ties, with, "give compared pairs with --pairs FILE")
}

/// Refuses losses that only regressions have.
pub(super) fn refuse_tubes(learn: &LearnArgs) -> Run<()> {
    match learn.loss.filter(|loss| Loss::OF_TUBES.contains(loss)) {
        Some(loss) => Err(Failure::Usage(format!(
            "--loss {} is for --method regress; choose another loss, or --method regress",
            loss.name()
        ))),
        None => Ok(()),
    }
}
