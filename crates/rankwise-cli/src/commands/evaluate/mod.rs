//! `evaluate`: a model measured on judged pairs or on items with labels, or a run of a search engine on its judgments.

pub(super) mod classes;
pub(super) mod items;
mod pairs;
pub(super) mod ranked;
mod run;
mod values;

pub(super) use pairs::{Evaluation, TieShares, threshold_text};

use rankwise::data::Ranking;

use crate::args::{Common, EvaluateArgs};
use crate::exit::Run;
use crate::output::Output;
use crate::plan::{self, EvaluatePlan};

/// Measures.
pub(super) fn run(args: &EvaluateArgs, common: &Common, output: &Output) -> Run<()> {
    match plan::evaluate(args, common)? {
        EvaluatePlan::Pairs(plan) => pairs::run(&plan, args, output),
        EvaluatePlan::Items { model, source, columns, ignore_extra, ranked } => {
            items::run(&items::Files { model: &model, source: &source, columns, ignore_extra }, &ranked, output)
        }
        EvaluatePlan::Run { qrels, run, queries, ranked } => {
            run::run(&run::Files { qrels: &qrels, run: &run, queries }, &ranked, output)
        }
    }
}

/// The weight of each item times that of its group.
pub(super) fn item_weights(data: &Ranking) -> Vec<f64> {
    let weight = |item: usize| data.weight(item) * data.group_weight(data.groups.numbers()[item] as usize);
    (0..data.n_items()).map(weight).collect()
}
