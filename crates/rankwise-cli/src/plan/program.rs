//! Methods that are linear programs: what was typed, as meant.

use rankwise::model::Method;
use rankwise::{CompareLp, OneNormRankSvm, RankingVectorMachine};

use super::train::of_items;
use super::{common_effort, kernel, refuse, time_limit};
use crate::args::{Common, LearnArgs, TrainArgs};
use crate::exit::{Failure, Run};

/// The Ranking Vector Machine.
pub(super) fn rvm(args: &TrainArgs, common: &Common) -> Run<RankingVectorMachine> {
    let learn = &args.learn;
    refuse_on_items(args, Method::Rvm)?;
    let (balance, effort) = of_items(learn, common)?;
    let machine = RankingVectorMachine::new().c(learn.c.unwrap_or(1.0)).kernel(kernel(&learn.kernel)?);
    let machine = machine.coefficients(learn.coefficients.unwrap_or_default()).balance(balance);
    Ok(machine.scale(learn.scale).effort(effort))
}

/// The 1-norm ranking SVM.
pub(super) fn rank_l1(args: &TrainArgs, common: &Common) -> Run<OneNormRankSvm> {
    let learn = &args.learn;
    refuse_on_items(args, Method::RankL1)?;
    let (balance, effort) = of_items(learn, common)?;
    let svm = OneNormRankSvm::new().c(learn.c.unwrap_or(1.0)).kernel(kernel(&learn.kernel)?).balance(balance);
    Ok(svm.scale(learn.scale).effort(effort))
}

/// The comparison machine as a linear program.
pub(super) fn compare_lp(args: &TrainArgs, common: &Common) -> Run<CompareLp> {
    let learn = &args.learn;
    let ties = &learn.ties;
    let with = "--method compare-lp";
    let typed = [
        ("--loss", learn.loss.is_some()),
        ("--threshold", ties.threshold.is_some()),
        ("--tie-region", ties.tie_region.is_some()),
        ("--tie-band", ties.tie_band.is_some()),
        ("--balance", ties.balance.is_some()),
        ("--calibrate", ties.calibrate),
        ("--approx", learn.kernel.approx.is_some()),
    ];
    refuse(&typed, with, "choose --method compare")?;
    let c = learn.c.unwrap_or(f64::INFINITY);
    if c == f64::INFINITY {
        let typed = [("--tie-weight", ties.tie_weight.is_some())];
        refuse(&typed, &format!("{with} without slack"), "give a finite C (--C 1)")?;
    }
    let kernel = kernel(&learn.kernel)?;
    if c == f64::INFINITY && kernel != rankwise::Kernel::Linear {
        return Err(Failure::Usage(
            "--method compare-lp with a kernel needs --C X: without slack and without a norm a kernel tells any pairs apart"
                .into(),
        ));
    }
    if kernel == rankwise::Kernel::Linear {
        refuse(&[("--cache-mb", learn.effort.cache_mb.is_some())], "--kernel linear", "choose another kernel")?;
    }
    let mut effort = common_effort(common);
    learn.effort.apply_to(&mut effort);
    effort.time_limit = time_limit(args.time_limit)?;
    let machine = CompareLp::new().c(c).kernel(kernel).tie_weight(ties.tie_weight.unwrap_or(1.0));
    let machine = machine.scale(learn.scale).effort(effort);
    machine.check()?; // before anything is read
    Ok(machine)
}

fn refuse_on_items(args: &TrainArgs, method: Method) -> Run<()> {
    let learn = &args.learn;
    let with = format!("--method {}", method.name());
    let typed = [
        ("--loss", learn.loss.is_some()),
        ("--pairs-per-item", learn.pairs_per_item.is_some()),
        ("--approx", learn.kernel.approx.is_some()),
        ("--init", args.init.is_some()),
    ];
    refuse(&typed, &with, "choose --method rank")?;
    refuse(&[("--normalise", args.normalise)], &with, "choose --method swap")
}

/// Refuses the option that the Ranking Vector Machine alone has.
pub(super) fn refuse_coefficients(learn: &LearnArgs) -> Run<()> {
    let typed = [("--coefficients", learn.coefficients.is_some() && learn.method != Some(Method::Rvm))];
    refuse(&typed, "the method that was chosen", "choose --method rvm")
}
