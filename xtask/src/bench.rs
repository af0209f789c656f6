//! Benchmarks beside other tools, in a virtual environment of their own.

use std::path::Path;

use crate::{Outcome, cargo, command, python, root, step};

pub(crate) fn run(name: &str, args: &[&str]) -> Outcome {
    let (script, packages): (&str, &[&str]) = match name {
        "comparing-kernel" => ("bench/comparing_kernel.py", &["numpy", "scikit-learn"]),
        "tuning" => ("bench/tuning.py", &["numpy", "scikit-learn"]),
        "ranking" => ("bench/ranking.py", &["numpy", "scipy", "scikit-learn", "lightgbm", "xgboost"]),
        "comparing" => ("bench/comparing.py", &["numpy", "scipy", "pandas", "scikit-learn", "lightgbm", "catboost"]),
        "kernel" => ("bench/kernel.py", &["numpy", "scipy", "scikit-learn", "safetensors"]),
        "ordinal" => ("bench/ordinal.py", &["numpy", "skordinal"]),
        "programs" => ("bench/programs.py", &["numpy", "scipy"]),
        "program-costs" => ("bench/program_costs.py", &["numpy", "highspy"]),
        "classes" => ("bench/classes.py", &["numpy", "scipy", "scikit-learn"]),
        "ratings" => ("bench/ratings.py", &["numpy", "scipy"]),
        "coverage" => ("bench/coverage.py", &["numpy", "scipy"]),
        "python" => ("bench/python.py", &["maturin>=1.8,<2", "numpy", "scipy", "scikit-learn>=1.6"]),
        "cluster" => (
            "bench/cluster.py",
            &["maturin>=1.8,<2", "numpy", "scipy", "scikit-learn>=1.6", "dask[array,dataframe,distributed]"],
        ),
        "out-of-core" => ("bench/out_of_core.py", &["numpy"]),
        _ => {
            let known = "classes, cluster, comparing, comparing-kernel, coverage, kernel, ordinal, programs, program-costs, \
                         python, tuning, ranking, ratings, out-of-core";
            return Err(format!("unknown benchmark {name}; there are: {known}"));
        }
    };
    step("program", &mut cargo(&["build", "--release", "--package", "rankwise-cli"]))?;
    let venv = root().join("bench/.venv");
    let python = venv.join("bin/python");
    if !python.exists() {
        step("virtual environment", command("python3", &["-m", "venv"]).arg(&venv))?;
    }
    let python = python.to_string_lossy().into_owned();
    let install =
        |packages: &[&str]| step("packages", command(&python, &["-m", "pip", "install", "--quiet"]).args(packages));
    install(packages)?;
    // Not every platform has wheels or a compiler for these; the table names what is missing.
    let wanted: &[&str] = match name {
        "kernel" => &["scikit-learn-intelex", "libsvm-official"],
        "cluster" => &["lightgbm"],
        "python" => &["lightgbm", "choix"],
        "ratings" => &["evalica", "choix", "arena-rank", "openskill", "trueskill", "elote"],
        _ => &[],
    };
    for &package in wanted {
        if let Err(problem) = install(&[package]) {
            eprintln!("warning: {package}: {problem}");
        }
    }
    if matches!(name, "python" | "cluster") {
        python::install(Path::new(&python), "release")?;
    }
    step(name, command(&python, &[script]).args(args))
}
