//! Options of `train --method online`.

use clap::Args;
use rankwise::model::{Batch, Schedule, Task};

use super::choice;

/// How random steps are made.
#[derive(Debug, Args)]
#[command(next_help_heading = "Online")]
pub(crate) struct OnlineArgs {
    /// rank: puts items in the order of their labels; classify: tells the labels apart [default: rank]
    #[arg(long, value_parser = choice::task())]
    pub(crate) task: Option<Task>,
    /// What a step looks at: one pair, drawn from all of them, or all pairs of one group [default: pair]
    #[arg(long, value_parser = choice::batch())]
    pub(crate) batch: Option<Batch>,
    /// How steps get smaller: inverse 1/(D² + λt), sqrt 1/(D² + λ + D√(λt)) [default: inverse]
    #[arg(long, value_parser = choice::schedule())]
    pub(crate) schedule: Option<Schedule>,
    /// Keep the last weights instead of their average
    #[arg(long)]
    pub(crate) no_average: bool,
    /// How many steps to make
    #[arg(long, value_name = "N", conflicts_with = "epochs")]
    pub(crate) steps: Option<u64>,
    /// Passes, each as many steps as there are items (groups, with --batch group) [default: 10, for few data more; with
    /// --stream 1]
    #[arg(long, value_name = "E")]
    pub(crate) epochs: Option<u64>,
    /// Compute the duality gap at the end, by a few exact passes
    #[arg(long)]
    pub(crate) certify: bool,
    /// Read the data group by group, never as a whole: the items of a group must stand together. A pipe is read once, a
    /// file once to count and once in every pass
    #[arg(long)]
    pub(crate) stream: bool,
}

impl OnlineArgs {
    /// The options, and whether each was typed.
    pub(crate) fn typed(&self) -> [(&'static str, bool); 8] {
        [
            ("--task", self.task.is_some()),
            ("--batch", self.batch.is_some()),
            ("--schedule", self.schedule.is_some()),
            ("--no-average", self.no_average),
            ("--steps", self.steps.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--certify", self.certify),
            ("--stream", self.stream),
        ]
    }
}
