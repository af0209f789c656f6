//! Every check there is, in the order in which it is cheapest to fail.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::{Outcome, cargo, docs, python, step};

pub(crate) fn run() -> Outcome {
    step("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    step("lints", &mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    let in_rust = tests()?;
    // Off by default, so that nothing above has built it; without optimisation, as building is all that takes time.
    let with_parquet = ["test", "--package", "rankwise", "--features", "parquet", "--test", "main", "parquet"];
    step("Parquet", cargo(&with_parquet).env("CARGO_PROFILE_DEV_OPT_LEVEL", "0"))?;
    step("documentation", cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    let in_python = python::test()?;
    docs::check()?;
    let [passed, failed, skipped] = std::array::from_fn(|k| in_rust[k] + in_python[k]);
    println!("== all checks passed");
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    let _ = std::io::stdout().flush();
    Ok(())
}

/// Runs all tests in Rust, documentation examples included, and tells how many passed, failed and were ignored.
fn tests() -> Result<[u64; 3], String> {
    println!("== tests");
    let mut child = cargo(&["test", "--workspace", "--no-fail-fast"])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("tests could not be started: {e}"))?;
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
        let line = line.map_err(|e| format!("the tests' output could not be read: {e}"))?;
        println!("{line}");
        if let Some(counts) = line.strip_prefix("test result: ") {
            let count = |word: &str| {
                let before = counts.split(word).next().unwrap_or_default();
                before.split_whitespace().last().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0)
            };
            passed += count("passed");
            failed += count("failed");
            skipped += count("ignored");
        }
    }
    let status = child.wait().map_err(|e| format!("tests could not be waited for: {e}"))?;
    if status.success() && passed > 0 {
        return Ok([passed, failed, skipped]);
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    Err(format!("tests failed ({status})"))
}
