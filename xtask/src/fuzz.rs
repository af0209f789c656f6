//! `cargo xtask fuzz`: readers and the model file under libFuzzer, as many inputs as asked for, from a fixed seed.
//!
//! Stable Rust will do: without a sanitizer no flag is needed that it lacks, and the library's own code is safe but for the
//! places that `cargo xtask sanitize` looks at. Arithmetic that overflows and assertions that fail are findings.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use super::{Outcome, command, root, step};

/// Inputs of all targets together, unless told otherwise: some minutes.
const DEFAULT_RUNS: u64 = 10_000_000;

/// What is fed with inputs.
struct Target {
    name: &'static str,
    /// Its part of all inputs: what is fast gets more.
    share: u64,
    max_len: u32,
}

const TARGETS: [Target; 14] = [
    target("number", 700, 40),
    target("words", 80, 60),
    target("svmlight", 20, 256),
    target("stream", 20, 256),
    target("item_table", 20, 256),
    target("pair_table", 20, 300),
    target("block_file", 20, 2048),
    target("trec", 30, 256),
    target("decompress", 20, 512),
    target("arff", 30, 512),
    target("published", 15, 1024),
    target("model_file", 15, 4096),
    target("parquet", 5, 4096),
    target("convert", 5, 256),
];

const fn target(name: &'static str, share: u64, max_len: u32) -> Target {
    Target { name, share, max_len }
}

/// What became of a target.
struct Found {
    name: &'static str,
    inputs: u64,
    seconds: f64,
    coverage: String,
    findings: usize,
}

pub(super) fn run(args: &[&str]) -> Outcome {
    let (mut runs, mut wanted) = (DEFAULT_RUNS, Vec::new());
    let mut rest = args.iter();
    while let Some(&arg) = rest.next() {
        match arg {
            "--runs" => runs = super::number(arg, rest.next())?,
            name => match TARGETS.iter().find(|target| target.name == name) {
                Some(target) => wanted.push(target),
                None => return Err(format!("no target {name}; there are {}", TARGETS.map(|t| t.name).join(", "))),
            },
        }
    }
    if wanted.is_empty() {
        wanted = TARGETS.iter().collect();
    }
    let programs = build()?;
    let scratch = root().join("target/fuzz");
    let folder = scratch.join(format!("files-{}", std::process::id()));
    let in_memory = Path::new("/dev/shm");
    let files =
        if in_memory.is_dir() { in_memory.join(format!("rankwise-fuzz-{}", std::process::id())) } else { folder };
    fs::create_dir_all(&files).map_err(|e| format!("{}: {e}", files.display()))?;
    let shares: u64 = wanted.iter().map(|target| target.share).sum();
    let queue = Mutex::new(wanted.iter().copied().collect::<VecDeque<_>>());
    let found = Mutex::new(Vec::new());
    let n_jobs = std::thread::available_parallelism().map_or(1, usize::from).min(wanted.len());
    std::thread::scope(|scope| {
        for _ in 0..n_jobs {
            scope.spawn(|| {
                let next = || queue.lock().ok().and_then(|mut queue| queue.pop_front());
                while let Some(target) = next() {
                    let inputs = (runs as u128 * u128::from(target.share) / u128::from(shares)).max(1) as u64;
                    let outcome = feed(target, inputs, &programs, &scratch, &files);
                    if let Ok(mut found) = found.lock() {
                        found.push(outcome);
                    }
                }
            });
        }
    });
    let _ = fs::remove_dir_all(&files);
    report(found.into_inner().map_err(|_| "a thread has failed")?, &scratch)
}

/// Builds all targets; says where they are. Comparisons are not traced, which would take most of the time; dictionaries make up
/// for it.
fn build() -> Result<PathBuf, String> {
    let is_there = command("cargo", &["fuzz", "--version"]).output().is_ok_and(|output| output.status.success());
    if !is_there {
        return Err("cargo-fuzz is not there: cargo install cargo-fuzz --locked".into());
    }
    let triple = host()?;
    let target_dir =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target/fuzz-build"), PathBuf::from);
    let mut build =
        command("cargo", &["fuzz", "build", "-s", "none", "-a", "--no-trace-compares", "--target", &triple]);
    // cargo-fuzz finds its crate by the folder it is called in.
    build.current_dir(root().join("fuzz")).env("CARGO_TARGET_DIR", &target_dir);
    step("build", &mut build)?;
    Ok(target_dir.join(triple).join("release"))
}

/// The triple of this machine.
pub(super) fn host() -> Result<String, String> {
    let output = command("rustc", &["-vV"]).output().map_err(|e| format!("rustc could not be started: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let triple = text.lines().find_map(|line| line.strip_prefix("host: "));
    triple.map(String::from).ok_or_else(|| "rustc does not say what it builds for".into())
}

/// Runs one target, from its seeds on.
fn feed(target: &Target, inputs: u64, programs: &Path, scratch: &Path, files: &Path) -> Result<Found, String> {
    let name = target.name;
    let [corpus, artifacts] = ["corpus", "findings"].map(|kind| scratch.join(kind).join(name));
    let failed = |e: std::io::Error| format!("{name}: {e}");
    // From nothing but the seeds, so that the same run can be had again.
    let _ = fs::remove_dir_all(&corpus);
    fs::create_dir_all(&corpus).map_err(failed)?;
    fs::create_dir_all(&artifacts).map_err(failed)?;
    let log = scratch.join(format!("{name}.log"));
    let out = File::create(&log).map_err(failed)?;
    let is_parquet = name == "parquet";
    let mut program = Command::new(programs.join(name));
    program.arg(&corpus).arg(root().join("fuzz/seeds").join(name)).args([
        format!("-runs={inputs}"),
        "-seed=1".into(),
        format!("-max_len={}", target.max_len),
        // The parquet crate skips lists of up to 2³¹ things of no bytes one by one, and makes room for as much as a page says it
        // has when unpacked: seconds and up to 2 GiB, but no more.
        format!("-timeout={}", if is_parquet { 60 } else { 10 }),
        format!("-rss_limit_mb={}", if is_parquet { 3072 } else { 1024 }),
        "-print_final_stats=1".into(),
        format!("-artifact_prefix={}/", artifacts.display()),
    ]);
    let dictionary = root().join("fuzz/dictionaries").join(format!("{name}.dict"));
    if dictionary.is_file() {
        program.arg(format!("-dict={}", dictionary.display()));
    }
    println!("== {name}: {inputs} inputs (log: {})", log.display());
    let start = Instant::now();
    let status = program.env("RANKWISE_FUZZ_DIR", files).stdout(out.try_clone().map_err(failed)?).stderr(out).status();
    let status = status.map_err(failed)?;
    let seconds = start.elapsed().as_secs_f64();
    let text = fs::read_to_string(&log).map_err(failed)?;
    let inputs = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let coverage = text.lines().rfind(|line| line.contains(" ft: ")).and_then(|line| line.split(" ft: ").nth(1));
    Ok(Found {
        name,
        inputs: inputs.and_then(|n| n.trim().parse().ok()).unwrap_or(0),
        seconds,
        coverage: coverage.and_then(|rest| rest.split(' ').next()).unwrap_or("?").into(),
        findings: usize::from(!status.success()),
    })
}

fn report(found: Vec<Result<Found, String>>, scratch: &Path) -> Outcome {
    let found = found.into_iter().collect::<Result<Vec<Found>, String>>()?;
    println!(
        "\n{:<12} {:>13} {:>9} {:>12} {:>9} {:>9}",
        "target", "inputs", "seconds", "inputs/s", "features", "findings"
    );
    let line = |name: &str, inputs: u64, seconds: f64, coverage: &str, findings: usize| {
        let speed = inputs as f64 / seconds.max(1e-9);
        println!("{name:<12} {inputs:>13} {seconds:>9.1} {speed:>12.0} {coverage:>9} {findings:>9}");
    };
    for target in TARGETS {
        for found in found.iter().filter(|found| found.name == target.name) {
            line(found.name, found.inputs, found.seconds, &found.coverage, found.findings);
        }
    }
    let findings = found.iter().map(|found| found.findings).sum();
    line("all", found.iter().map(|f| f.inputs).sum(), found.iter().map(|f| f.seconds).sum(), "", findings);
    if findings == 0 {
        return Ok(());
    }
    Err(format!(
        "findings in {0}, the logs beside it say more; again with `TARGET FILE`",
        scratch.join("findings").display()
    ))
}
