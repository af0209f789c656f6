//! The Python package: a wheel in a virtual environment of its own, tested there.

use std::path::{Path, PathBuf};

use crate::{Outcome, command, root, step};

/// What the tests need beside the wheel.
const PACKAGES: [&str; 17] = [
    "dask[array,dataframe,distributed]>=2024.8",
    "joblib",
    "maturin>=1.8,<2",
    "matplotlib",
    "mypy",
    "numpy",
    "onnx",
    "onnxruntime",
    "pandas",
    "polars",
    "pyarrow",
    "pyright[nodejs]",
    "pytest",
    "ruff>=0.17,<0.18", // another version may format otherwise
    "scikit-learn>=1.6",
    "scipy",
    "tqdm",
];

/// An interpreter with `packages`, in a folder of its own below `target`.
pub(crate) fn environment(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let venv = target().join(name);
    let python = venv.join("bin/python");
    if !python.exists() {
        step("virtual environment", command("python3", &["-m", "venv"]).arg(&venv))?;
    }
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    step("packages", command(&python.to_string_lossy(), &pip).args(packages))?;
    Ok(python)
}

/// Builds the wheel with a profile of cargo and installs it.
pub(crate) fn install(python: &Path, profile: &str) -> Outcome {
    let wheels = wheels(profile);
    // The wheel of an earlier build must not be taken for this one.
    let _ = std::fs::remove_dir_all(&wheels);
    let out = wheels.to_string_lossy().into_owned();
    let interpreter = python.to_string_lossy().into_owned();
    let build = ["-m", "maturin", "build", "--profile", profile, "--out", &out, "--interpreter", &interpreter];
    step("wheel", command(&interpreter, &build).args(["--manifest-path", "python/Cargo.toml"]))?;
    install_wheel(python, &built(profile)?)
}

/// The wheel that was built last with a profile of cargo.
pub(crate) fn built(profile: &str) -> Result<PathBuf, String> {
    let wheels = wheels(profile);
    let found = std::fs::read_dir(&wheels).map_err(|e| format!("{}: {e}", wheels.display()))?;
    let wheel = found.flatten().map(|entry| entry.path());
    let wheel = wheel.filter(|path| path.extension().is_some_and(|kind| kind == "whl")).max();
    wheel.ok_or_else(|| "the build left no wheel".to_string())
}

/// Puts a wheel into an environment, in the place of another one.
pub(crate) fn install_wheel(python: &Path, wheel: &Path) -> Outcome {
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"];
    step("installation", command(&python.to_string_lossy(), &pip).arg(wheel))
}

fn wheels(profile: &str) -> PathBuf {
    target().join("wheels").join(profile)
}

/// Runs the tests of the package, and tells how many passed, failed and were skipped.
pub(crate) fn test() -> Result<[u64; 3], String> {
    let python = environment("python", &PACKAGES)?;
    let interpreter = python.to_string_lossy().into_owned();
    step("Python format", &mut command(&interpreter, &["-m", "ruff", "format", "--check", "--no-cache", "python"]))?;
    step("Python lints", &mut command(&interpreter, &["-m", "ruff", "check", "--no-cache", "python"]))?;
    install(&python, "dev")?;
    // The program that files are exchanged with is there since the tests in Rust were built.
    let report = target().join("python/report.xml");
    let _ = std::fs::remove_file(&report);
    // From outside of the package's folder, so that the wheel is tested and not the folder.
    let tests = root().join("python/tests").to_string_lossy().into_owned();
    let xml = format!("--junit-xml={}", report.display());
    let config = root().join("python/pyproject.toml").to_string_lossy().into_owned();
    let args = ["-m", "pytest", "-c", &config, "--rootdir", &tests, &tests, &xml, "-p", "no:cacheprovider"];
    let outcome = step("Python tests", command(&interpreter, &args).current_dir(target()));
    let counts = counts(&std::fs::read_to_string(&report).unwrap_or_default());
    outcome.and(counts.ok_or_else(|| "the Python tests left no report".to_string()))
}

/// Passed, failed and skipped, from the head of a report.
fn counts(report: &str) -> Option<[u64; 3]> {
    let suite = report.split("<testsuite ").nth(1)?.split('>').next()?;
    let count = |name: &str| {
        let value = suite.split(&format!("{name}=\"")).nth(1)?;
        value.split('"').next()?.parse::<u64>().ok()
    };
    let (all, failed, skipped) = (count("tests")?, count("failures")? + count("errors")?, count("skipped")?);
    Some([all - failed - skipped, failed, skipped])
}

/// The folder of build products.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
