//! What is known of training by random steps, and what is needed to go on with it.

/// What is learnt from items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// To put the items of every group in the order of their labels.
    #[default]
    Rank,
    /// To tell items with one label from those with another.
    Classify,
}

impl Task {
    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Task::Rank => "rank",
            Task::Classify => "classify",
        }
    }
}

/// What a step looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Batch {
    /// One pair of items, drawn from all of them.
    #[default]
    Pair,
    /// All pairs of a group, drawn by the weight of its pairs.
    Group,
}

impl Batch {
    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Batch::Pair => "pair",
            Batch::Group => "group",
        }
    }
}

/// How steps get smaller, with λ = 1/(C·weight of all pairs) and D² the mean squared length of their differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// 1/(D² + λt)
    #[default]
    Inverse,
    /// 1/(D² + λ + D·√(λt))
    Sqrt,
}

impl Schedule {
    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Schedule::Inverse => "inverse",
            Schedule::Sqrt => "sqrt",
        }
    }
}

/// How random steps were made.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OnlineTraining {
    /// What was learnt.
    pub task: Task,
    /// What a step looked at.
    pub batch: Batch,
    /// How steps got smaller.
    pub schedule: Schedule,
    /// Whether the weights are an average over the steps.
    pub average: bool,
    /// Whether the data were read group by group, never held as a whole.
    pub stream: bool,
}

/// Where random steps stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineState {
    /// Steps so far, those of the models it was started from included.
    pub steps: u64,
    /// D², the mean squared length of differences (of items, for a classifier), of scaled features.
    pub spread: f64,
    /// The weights after the last step; of several classes those of each, and its bias after them.
    pub weights: Vec<f64>,
    /// The bias after the last step; of several classes 0.
    pub bias: f64,
}
