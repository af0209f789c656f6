//! `train --method online`, as meant.

use std::path::PathBuf;

use rankwise::data::{Precision, Scale};
use rankwise::io::{Columns, Source};
use rankwise::{Loss, OnlineSvm};

use super::train::{check_item_options, refuse_cache, refuse_kernels};
use super::{common_effort, item_source, refuse, time_limit};
use crate::args::{Common, KernelName, TrainArgs};
use crate::exit::{Failure, Run};

/// `train --method online`, as meant.
pub(crate) struct OnlinePlan {
    /// The items.
    pub(crate) source: Source,
    /// Their columns.
    pub(crate) columns: Columns,
    /// How dense features are stored.
    pub(crate) precision: Precision,
    /// The method with its parameters.
    pub(crate) svm: OnlineSvm,
    /// A model to start from.
    pub(crate) init: Option<PathBuf>,
    /// Whether the items are read part by part.
    pub(crate) is_stream: bool,
}

/// What was asked.
pub(super) fn plan(args: &TrainArgs, common: &Common) -> Run<OnlinePlan> {
    let (learn, online) = (&args.learn, &args.online);
    refuse(&[("--memory-mb", args.memory_mb.is_some())], "--method online", "give --stream")?;
    refuse(&[("--pairs", learn.source.pairs.is_some())], "--method online", "choose --method rank")?;
    let Some(data) = &learn.data else {
        return Err(Failure::Usage(
            "--method online learns from items with labels, not from pairs; give items (train DATA --method online -o \
             MODEL)"
                .into(),
        ));
    };
    if learn.loss.is_some_and(|loss| loss != Loss::Hinge) {
        return Err(Failure::Usage(
            "--method online has the hinge loss alone; leave out --loss, or choose --method rank".into(),
        ));
    }
    refuse(&[("--max-iter", learn.effort.max_iter.is_some())], "--method online", "give --steps")?;
    refuse_kernels(learn, "online")?;
    refuse_cache(learn, &[KernelName::Linear])?;
    let balance = check_item_options(learn)?;
    let mut effort = common_effort(common);
    effort.tol = learn.effort.tol;
    effort.time_limit = time_limit(args.time_limit)?;
    let svm = OnlineSvm::new()
        .task(online.task.unwrap_or_default())
        .batch(online.batch.unwrap_or_default())
        .schedule(online.schedule.unwrap_or_default())
        .average(!online.no_average)
        .c(learn.c.unwrap_or(1.0))
        .balance(balance)
        .scale(learn.scale)
        .steps(online.steps)
        .epochs(online.epochs)
        .certify(online.certify)
        .effort(effort);
    svm.check()?; // before anything is read
    let (source, columns) = item_source(data, learn.format.format, &learn.source.columns)?;
    if online.stream {
        refuse(&[("--precision", learn.precision != Precision::Auto)], "--stream", "read the items as a whole")?;
        if !source.can_read_again() {
            let again = [
                ("--certify", online.certify),
                ("--steps", online.steps.is_some()),
                ("--epochs", online.epochs.is_some_and(|epochs| epochs > 1)),
                ("--scale", learn.scale != Scale::None),
            ];
            refuse(&again, "a stream that is read once", "give a file")?;
        }
    }
    let init = args.init.clone();
    Ok(OnlinePlan { source, columns, precision: learn.precision, svm, init, is_stream: online.stream })
}
