//! `train --method classify`, `--method regress` and `--method ordinal`, as meant.

use rankwise::data::Precision;
use rankwise::io::{Columns, Source};
use rankwise::model::Method;
use rankwise::{LabelEstimator, Loss, OrdinalSvm, SvmClassifier, SvmRegressor};

use super::train::{check_precision, refuse_cache};
use super::{common_effort, item_source, kernel, refuse, time_limit};
use crate::args::{Common, KernelName, LearnArgs, SvmArgs, TrainArgs};
use crate::exit::{Failure, Run};

/// `train --method classify`, `--method regress` or `--method ordinal`, as meant.
pub(crate) struct SvmPlan {
    /// The items.
    pub(crate) source: Source,
    /// Their columns.
    pub(crate) columns: Columns,
    /// How dense features are stored.
    pub(crate) precision: Precision,
    /// The method with its parameters.
    pub(crate) machine: LabelEstimator,
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
    let of_train = [("--init", args.init.is_some()), ("--memory-mb", args.memory_mb.is_some())];
    refuse(&of_train, &with, "choose --method rank")?;
    refuse(&[("--normalise", args.normalise)], &with, "choose --method swap")?;
    let mut machine = machine(method, learn, &args.svm, common)?;
    refuse_cache(learn, &[learn.kernel.kernel.unwrap_or(KernelName::Linear)])?;
    machine.effort_mut().time_limit = time_limit(args.time_limit)?;
    let (_, loss, epsilon) = machine.shape();
    let machine = machine.shaped(learn.c.unwrap_or(1.0), kernel(&learn.kernel)?, loss, epsilon);
    machine.check()?; // before anything is read
    let (source, columns) = item_source(data, learn.format.format, &learn.source.columns)?;
    check_precision(&source, learn.precision)?;
    Ok(SvmPlan { source, columns, precision: learn.precision, machine })
}

/// The method with all of its parameters but C and the kernel.
pub(super) fn machine(method: Method, learn: &LearnArgs, typed: &SvmArgs, common: &Common) -> Run<LabelEstimator> {
    let with = format!("--method {}", method.name());
    refuse_others(learn, &with)?;
    let mut effort = common_effort(common);
    learn.effort.apply_to(&mut effort);
    if method != Method::Ordinal {
        refuse(&typed.of_grades(), &with, "choose --method ordinal")?;
    }
    if method == Method::Classify {
        refuse(&typed.of_values(), &with, "choose --method regress")?;
        let svm = SvmClassifier::new()
            .approx(learn.kernel.approx)
            .loss(learn.loss.unwrap_or(Loss::Hinge))
            .classes(typed.classes.unwrap_or_default())
            .class_weight(typed.class_weight.clone().unwrap_or_default())
            .probabilities(typed.probabilities)
            .scale(learn.scale)
            .effort(effort);
        return Ok(svm.into());
    }
    refuse(&typed.of_classes(), &with, "choose --method classify")?;
    if method == Method::Ordinal {
        refuse(&typed.of_values(), &with, "choose --method regress")?;
        refuse(&[("--approx", learn.kernel.approx.is_some())], &with, "choose --method classify")?;
        let svm = OrdinalSvm::new()
            .loss(learn.loss.unwrap_or(Loss::Hinge))
            .constraints(typed.constraints.unwrap_or_default())
            .bins(typed.bins)
            .scale(learn.scale)
            .effort(effort);
        return Ok(svm.into());
    }
    let svm = SvmRegressor::new()
        .approx(learn.kernel.approx)
        .loss(learn.loss.unwrap_or(Loss::Epsilon))
        .epsilon(typed.epsilon.unwrap_or(0.1))
        .scale(learn.scale)
        .effort(effort);
    Ok(svm.into())
}

/// Refuses what none of the methods knows.
fn refuse_others(learn: &LearnArgs, with: &str) -> Run<()> {
    let of_rankers = [
        ("--pairs", learn.source.pairs.is_some()),
        ("--pairs-per-item", learn.pairs_per_item.is_some()),
        ("--balance", learn.ties.balance.is_some()),
    ];
    refuse(&of_rankers, with, "choose --method rank")?;
    refuse(&[("--calibrate", learn.ties.calibrate)], with, "give --probabilities to --method classify")?;
    let of_ties = [
        ("--threshold", learn.ties.threshold.is_some()),
        ("--tie-region", learn.ties.tie_region.is_some()),
        ("--tie-weight", learn.ties.tie_weight.is_some()),
        ("--tie-band", learn.ties.tie_band.is_some()),
    ];
    refuse(&of_ties, with, "give compared pairs with --pairs FILE")
}

/// Refuses options of classifiers, regressions and machines of grades where they have no meaning.
pub(super) fn refuse_svm(typed: &SvmArgs) -> Run<()> {
    refuse(&typed.of_classes(), "the method that was chosen", "choose --method classify")?;
    refuse(&typed.of_values(), "the method that was chosen", "choose --method regress")?;
    refuse(&typed.of_grades(), "the method that was chosen", "choose --method ordinal")
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
