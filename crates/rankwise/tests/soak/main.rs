//! Many small fits of every kind, at random parameters and on strange data. Each ends in an error that says why, or in a model
//! whose certificate holds: the objective is computed again by plain loops, and no other way to the same problem may lie below
//! the bound. Where features are huge, squares of them keep too few digits for that; there only the rest must hold, and how often
//! a certificate does not is counted as doubtful.
//!
//! `RANKWISE_SOAK=N` makes N fits instead of a few, `RANKWISE_SOAK_SEED=S` from another seed on, `RANKWISE_SOAK_ONLY=K` the
//! K-th of them alone, and prints its items; `cargo xtask soak` sets them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "clippy.toml exempts test functions, not the helpers beside them"
)]

mod ask;
mod case;
mod draw;
mod twins;

use std::collections::BTreeMap;

use case::{Told, drawn, tell};

/// Fits in the usual tests.
const FEW: u64 = 200;

/// What became of the fits of a method.
#[derive(Default)]
struct Tally {
    fits: usize,
    errors: BTreeMap<String, usize>,
    stops: BTreeMap<&'static str, usize>,
    largest_gap: f64,
    largest_difference: f64,
    doubtful: usize,
    slowest: (f64, u64),
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn certificates_hold_whatever_is_fitted() {
    let seed = setting("RANKWISE_SOAK_SEED").unwrap_or(0);
    let cases = match setting("RANKWISE_SOAK_ONLY") {
        Some(only) => only..only + 1,
        None => 0..setting("RANKWISE_SOAK").unwrap_or(FEW),
    };
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut findings = Vec::new();
    let is_alone = cases.clone().count() == 1;
    for number in cases {
        if is_alone {
            println!("{}", drawn(seed, number));
        }
        let Told { method, what, error, stop, gap, difference, seconds, faults, doubts } = tell(seed, number);
        let tally = tallies.entry(method).or_default();
        tally.fits += 1;
        if let Some(error) = error {
            *tally.errors.entry(error).or_default() += 1;
        }
        if let Some(stop) = stop {
            *tally.stops.entry(stop.name()).or_default() += 1;
        }
        tally.largest_gap = tally.largest_gap.max(gap);
        tally.largest_difference = tally.largest_difference.max(difference);
        tally.doubtful += usize::from(!doubts.is_empty());
        doubts.iter().for_each(|doubt| println!("doubtful: case {number} of seed {seed}: {what}: {doubt}"));
        if seconds > tally.slowest.0 {
            tally.slowest = (seconds, number);
        }
        findings.extend(faults.iter().map(|fault| format!("case {number} of seed {seed}: {what}: {fault}")));
    }
    println!("method      fits  largest gap  objective off by  doubtful  slowest s (case)  ended");
    for (method, tally) in &tallies {
        let ends = tally.stops.iter().map(|(name, n)| format!("{name} {n}"));
        let ends: Vec<String> = ends.chain(tally.errors.iter().map(|(name, n)| format!("{name} {n}"))).collect();
        println!(
            "{method:<11} {:>4}  {:>11.1e}  {:>16.1e}  {:>8}  {:>9.2} ({:>5})  {}",
            tally.fits,
            tally.largest_gap,
            tally.largest_difference,
            tally.doubtful,
            tally.slowest.0,
            tally.slowest.1,
            ends.join(", ")
        );
    }
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}
