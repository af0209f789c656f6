//! Linear machines learnt by random steps: rankers from pairs of items, classifiers from items of two or more classes.

use std::time::Instant;

use super::common::{Effort, Fit, setters};
use super::item_ranker::{check_width, why_to_scale};
use super::online_run::OnlineRun;
use crate::data::{Ranking, Scale};
use crate::error::{Error, Result};
use crate::model::{Balance, Batch, Model, Schedule, Task};
use crate::progress::{Unwatched, Watch};

/// Passes over the data unless others are asked for.
const USUAL_EPOCHS: u64 = 10;
/// Steps that few data get all the same: on one pair, and on one group.
const LEAST_STEPS: [u64; 2] = [1_000_000, 20_000];

/// Ranking SVM or binary SVM with linear scores, by stochastic subgradient steps on the hinge:
///
/// ½‖w‖² + C·Σ c·max(0, 1 − lead)
///
/// as [`RankSvm`](crate::RankSvm) has it; a classifier's lead is y·(w·x + b), c the item's weight, and b is penalised like
/// w. More than two classes have weights for each of them and a lead over every other class, as
/// [`ClassScheme::WestonWatkins`](crate::model::ClassScheme::WestonWatkins) has them. A step looks at one random pair (or group, or item), drawn by weight. The answer is near the optimum, not at it:
/// steps are cheap, for data that are too many for anything else, or that keep coming (see
/// [`OnlineSvm::stream`] and [`OnlineSvm::fit_from`]).
///
/// ```
/// use rankwise::OnlineSvm;
/// use rankwise::data::{Features, Groups, Items, Precision, Ranking};
///
/// let features = Features::dense(2, vec![0.1, 3.0, 0.5, 1.0, 0.9, 2.0, 0.2, 7.0, 0.4, 6.0], Precision::Auto)?;
/// let items = Items::new(features, None, None)?;
/// let groups = Groups::from_ids(["a", "a", "a", "b", "b"]);
/// let data = Ranking::new(items, vec![0.0, 1.0, 2.0, 0.0, 1.0], Some(groups))?;
///
/// let fit = OnlineSvm::new().c(10.0).steps(Some(20_000)).fit(&data)?;
/// let scores = fit.model.scorer.scores(&data.items)?;
/// assert!(scores[0] < scores[1] && scores[1] < scores[2] && scores[3] < scores[4]);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OnlineSvm {
    /// What is learnt.
    pub task: Task,
    /// What a step looks at.
    pub batch: Batch,
    /// How steps get smaller.
    pub schedule: Schedule,
    /// Whether the weights are an average over the steps, later ones counting more, rather than the last ones.
    pub average: bool,
    /// C multiplies the sum of weighted losses.
    pub c: f64,
    /// [`Balance::Groups`]: all groups of weight 1 count the same.
    pub balance: Balance,
    /// The scaling of features.
    pub scale: Scale,
    /// How many steps to make; `None`: by `epochs`.
    pub steps: Option<u64>,
    /// Passes: each is as many steps as there are items (groups, with [`Batch::Group`]). `None`: 10, or more for few data.
    pub epochs: Option<u64>,
    /// Whether to compute the duality gap at the end, by a few exact passes.
    pub certify: bool,
    /// How much work a fit may do; `max_iter` and `cache_mb` do not count here.
    pub effort: Effort,
}

impl Default for OnlineSvm {
    fn default() -> Self {
        Self::new()
    }
}

impl OnlineSvm {
    /// Default parameters: a ranker, C 1, one pair a step, steps of 1/(D² + λt), averaged.
    pub fn new() -> Self {
        OnlineSvm {
            task: Task::Rank,
            batch: Batch::Pair,
            schedule: Schedule::Inverse,
            average: true,
            c: 1.0,
            balance: Balance::None,
            scale: Scale::None,
            steps: None,
            epochs: None,
            certify: false,
            effort: Effort::default(),
        }
    }

    setters! {
        /// Sets what is learnt.
        task: Task,
        /// Sets what a step looks at.
        batch: Batch,
        /// Sets how steps get smaller.
        schedule: Schedule,
        /// Sets whether the weights are an average over the steps.
        average: bool,
        /// Sets C, which multiplies the sum of weighted losses.
        c: f64,
        /// Sets how groups are weighted against each other.
        balance: Balance,
        /// Sets the scaling of features.
        scale: Scale,
        /// Sets how many steps to make.
        steps: Option<u64>,
        /// Sets how many passes to make.
        epochs: Option<u64>,
        /// Sets whether to compute the duality gap at the end.
        certify: bool,
        /// Sets how much work a fit may do.
        effort: Effort,
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        if !(self.c > 0.0 && self.c.is_finite()) {
            return Err(Error::parameter("C", self.c, "a finite number above 0"));
        }
        if self.balance == Balance::Outcomes {
            return Err(Error::parameter("balance", "outcomes", "none or groups for items"));
        }
        if self.task == Task::Classify && self.balance == Balance::Groups {
            return Err(Error::parameter("balance", "groups", "none for classifiers, which know no groups"));
        }
        if self.task == Task::Classify && self.batch == Batch::Group {
            return Err(Error::parameter("batch", "group", "pair for classifiers, which know no groups"));
        }
        if self.steps.is_some() && self.epochs.is_some() {
            return Err(Error::parameter("steps", "given", "either steps or epochs, not both"));
        }
        if self.steps == Some(0) {
            return Err(Error::parameter("steps", 0, "a number above 0"));
        }
        if self.epochs == Some(0) {
            return Err(Error::parameter("epochs", 0, "a number above 0"));
        }
        self.effort.check()
    }

    /// Fits a model. A classifier takes the labels of the ranking as classes; of groups only their weights count.
    pub fn fit(&self, data: &Ranking) -> Result<Fit> {
        self.fit_from(data, None, &Unwatched)
    }

    /// Fits a model, starting from another linear one, while `watch` looks on, and perhaps stops it. A model of this
    /// method for the same task and batch is gone on with: its count of steps, its last weights and their average.
    pub fn fit_from(&self, data: &Ranking, start: Option<&Model>, watch: &dyn Watch) -> Result<Fit> {
        self.check()?;
        check_width(&data.items.features)?;
        let started = Instant::now();
        self.effort.in_pool(|threads| {
            let mut run = OnlineRun::whole(self, start, started, data)?;
            run.learn_whole(data, watch)?;
            run.measure(data)?;
            let model = run.finish(why_to_scale(self.scale, &data.items).into_iter().collect())?;
            Fit::new(model, &data.items, started, threads)
        })
    }

    /// Learns from data that come in parts, of which one is in memory at a time.
    pub fn stream(&self, start: Option<&Model>) -> Result<OnlineRun> {
        self.check()?;
        OnlineRun::new(self, start, Instant::now())
    }

    /// How many steps a fit makes.
    pub(super) fn n_steps(&self, n_items: usize, n_groups: usize) -> u64 {
        let (a_pass, least) = match self.batch {
            Batch::Pair => (n_items as u64, LEAST_STEPS[0]),
            Batch::Group => (n_groups as u64, LEAST_STEPS[1]),
        };
        match (self.steps, self.epochs) {
            (Some(steps), _) => steps,
            (None, Some(epochs)) => a_pass.saturating_mul(epochs),
            (None, None) => a_pass.saturating_mul(USUAL_EPOCHS).max(least),
        }
    }
}
