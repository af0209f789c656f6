//! One run of linfa-svm: `kernel-linfa TASK FOLDER`, TASK a JSON object, one JSON object on standard output.
//!
//! FOLDER has the arrays as plain little-endian f64, row by row: `x`, `y` (training) and `t` (rows to score). It gets `coefficients`,
//! one for each training row, and `scores`, one for each row of `t`.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use linfa::dataset::Dataset;
use linfa::traits::Fit;
use linfa_svm::Svm;
use ndarray::{Array1, Array2};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, task, folder] = arguments.as_slice() else { return Err("usage: kernel-linfa TASK FOLDER".into()) };
    let (task, folder): (Value, &Path) = (serde_json::from_str(task)?, Path::new(folder));
    let number = |name: &str| task[name].as_f64().ok_or_else(|| format!("the task has no number {name}"));
    let features = number("features")? as usize;
    let (x, y, t) = (rows(folder, "x", features)?, column(folder, "y")?, rows(folder, "t", features)?);
    // Its Gaussian kernel is exp(-|a - b|²/width).
    let width = 1.0 / number("gamma")?;
    let (c, tol) = (number("C")?, number("tol")?);
    let shrinking = task["shrinking"].as_bool().unwrap_or(false);

    let start = Instant::now();
    let answer = if task["kind"] == "classify" {
        let data = Dataset::new(x, y.mapv(|label| label > 0.0));
        let machine =
            Svm::<f64, bool>::params().pos_neg_weights(c, c).gaussian_kernel(width).eps(tol).shrinking(shrinking);
        let machine = machine.fit(&data)?;
        scored(start, &machine, &t)
    } else {
        let data = Dataset::new(x, y);
        let machine = Svm::<f64, f64>::params().c_svr(c, Some(number("epsilon")?)).gaussian_kernel(width);
        let machine = machine.eps(tol).shrinking(shrinking).fit(&data)?;
        scored(start, &machine, &t)
    };
    write(&folder.join("coefficients"), &answer.coefficients)?;
    write(&folder.join("scores"), &answer.scores)?;
    let said = json!({
        "train": answer.train, "predict": answer.predict, "bias": answer.bias, "peak_memory_bytes": answer.peak,
    });
    println!("{said}");
    Ok(())
}

struct Answer {
    train: f64,
    predict: f64,
    bias: f64,
    peak: Option<u64>,
    coefficients: Vec<f64>,
    scores: Vec<f64>,
}

/// The fit ends here; then the rows are scored one by one, which is what its own prediction does.
fn scored<T>(start: Instant, machine: &Svm<f64, T>, rows: &Array2<f64>) -> Answer {
    let train = start.elapsed().as_secs_f64();
    let peak = peak_memory();
    let start = Instant::now();
    let scores = rows.outer_iter().map(|row| machine.weighted_sum(&row) - machine.rho).collect();
    let predict = start.elapsed().as_secs_f64();
    Answer { train, predict, bias: -machine.rho, peak, coefficients: machine.alpha.clone(), scores }
}

/// The high-water mark of this process in bytes.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

fn column(folder: &Path, name: &str) -> Outcome<Array1<f64>> {
    let bytes = fs::read(folder.join(name))?;
    Ok(bytes.chunks_exact(8).map(|b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])).collect())
}

fn rows(folder: &Path, name: &str, features: usize) -> Outcome<Array2<f64>> {
    let values = column(folder, name)?;
    let n = values.len() / features;
    Ok(values.into_shape_with_order((n, features))?)
}

fn write(path: &Path, values: &[f64]) -> Outcome<()> {
    Ok(fs::write(path, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())?)
}
