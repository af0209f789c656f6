//! The experiments of the SVMcompare paper.

mod games;
mod letor;
mod levels;
mod panels;
mod separable;
mod sushi;

pub(super) use games::Figure6;
pub(super) use letor::Letor;
pub(super) use levels::Figure3;
pub(super) use panels::{Figure4, Figure5};
pub(super) use separable::Figure2;

use rankwise::model::Method;

use super::super::pair_trial::Settings;

/// A machine of the figures: a method with the paper's settings or rankwise's own.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Machine {
    method: Method,
    settings: Settings,
    name: &'static str,
}

/// From the one that makes least of ties to the one that makes most.
const MACHINES: [Machine; 4] = [
    Machine { method: Method::Rank, settings: Settings::Paper, name: "rank" },
    Machine { method: Method::Rank2, settings: Settings::Paper, name: "rank2" },
    Machine { method: Method::Compare, settings: Settings::Paper, name: "compare" },
    Machine { method: Method::Compare, settings: Settings::Defaults, name: "compare, rankwise's defaults" },
];
