//! `cargo xtask soak`: many small fits of every kind, and their certificates computed again.

use super::{Outcome, cargo, number, step};

const DEFAULT_FITS: u64 = 20_000;

pub(super) fn run(args: &[&str]) -> Outcome {
    let (mut fits, mut seed) = (DEFAULT_FITS, 0);
    let mut rest = args.iter();
    while let Some(&arg) = rest.next() {
        match arg {
            "--fits" => fits = number(arg, rest.next())?,
            "--seed" => seed = number(arg, rest.next())?,
            _ => return Err(format!("unknown: {arg}; usage: cargo xtask soak [--fits N] [--seed S]")),
        }
    }
    let mut soak = cargo(&["test", "--release", "-p", "rankwise", "--test", "soak", "--", "--nocapture"]);
    soak.env("RANKWISE_SOAK", fits.to_string()).env("RANKWISE_SOAK_SEED", seed.to_string());
    step(&format!("{fits} fits from seed {seed}"), &mut soak)
}
