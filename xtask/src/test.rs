//! Every check there is, in the order in which it is cheapest to fail.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::{Outcome, cargo, step};

pub(crate) fn run() -> Outcome {
    step("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    step("lints", &mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    tests()?;
    // Off by default, so that nothing above has built it.
    let with_parquet = ["test", "--package", "rankwise", "--features", "parquet", "--test", "main", "parquet"];
    step("Parquet", &mut cargo(&with_parquet))?;
    step("documentation", cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    println!("== all checks passed");
    Ok(())
}

/// Runs all tests, documentation examples included, and closes with one line of counts.
fn tests() -> Outcome {
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
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    let _ = std::io::stdout().flush();
    if status.success() && passed > 0 { Ok(()) } else { Err(format!("tests failed ({status})")) }
}
