//! `simulate`: pairs from a known ranking function.

use std::path::Path;

use rankwise::data::Comparisons;
use rankwise::data::simulate::Simulation;
use rankwise::io;
use serde_json::{Value, json};

use super::{check_writable, target};
use crate::args::{Common, SimulateArgs};
use crate::exit::{Failure, Run};
use crate::output::{self, Output};

/// Simulates.
pub(super) fn run(args: &SimulateArgs, common: &Common, output: &Output) -> Run<()> {
    let target = target(args.output.as_ref());
    if let Some(path) = target {
        check_name(path)?;
        check_writable(path)?;
    }
    let simulation = Simulation {
        norm: args.norm,
        n_pairs: args.pairs as usize,
        ties: args.ties,
        noise: args.noise,
        seed: common.seed,
    };
    let data = simulation.draw()?;
    let csv = to_csv(&data)?;
    let mut facts = json!({ "pairs": data.n_pairs(), "ties": data.n_ties(), "noise": args.noise, "seed": common.seed, "output": null });
    match target {
        Some(path) => {
            output::write_file(path, &csv)?;
            output.note(|| format!("wrote {}", path.display()));
            facts["output"] = json!(path.display().to_string());
            if output.is_json() { output.result(|| facts, String::new) } else { Ok(()) }
        }
        None if output.is_json() => {
            facts["comparisons"] = to_json(&data);
            output.result(|| facts, String::new)
        }
        None => output.raw(&csv),
    }
}

/// A name that promises another format than csv is refused; devices, pipes and the like promise nothing.
fn check_name(path: &Path) -> Run<()> {
    let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    if is_csv || path.starts_with("/dev") || path.metadata().is_ok_and(|found| !found.is_file()) {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::Usage(format!("{path}: pairs are written as csv and nothing else; give the file a name in .csv")))
}

/// The pairs as a csv file.
pub(super) fn to_csv(data: &Comparisons) -> Run<Vec<u8>> {
    let mut bytes = Vec::new();
    io::write_pairs(&mut bytes, data)?;
    Ok(bytes)
}

fn to_json(data: &Comparisons) -> Value {
    let features = &data.set.items.features;
    let item = |number: u32| {
        let mut row = vec![0.0; features.n_cols()];
        features.copy_row(number as usize, &mut row);
        row
    };
    let pairs = data.set.pairs.iter().zip(&data.outcomes);
    pairs
        .map(|(pair, outcome)| json!({ "left": item(pair.left), "right": item(pair.right), "outcome": outcome.name() }))
        .collect()
}
