//! Scores of items: what the function of a model becomes in operators.
//!
//! Kernels of distances and the linear kernel are computed from the middle of the support items, as the model itself does:
//! ‖a − b‖² = ‖a‖² + ‖b‖² − 2a·b loses no digits there, however far from 0 the data are.

use super::graph::{Graph, Tensor, floats, int, word};
use super::proto::Element;
use crate::data::{Features, Scaler};
use crate::error::{Error, Result};
use crate::export::linear::middle;
use crate::kernel::{KernelFunction, Landmarks};
use crate::model::{Basis, ScoreFunction, Scorer};

/// Where scores are computed: in f64 by core operators, or in f32 by those of `ai.onnx.ml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    F64,
    F32,
}

impl Precision {
    /// What numbers come in and go out as.
    pub(super) fn element(self) -> Element {
        match self {
            Precision::F64 => Element::Double,
            Precision::F32 => Element::Float,
        }
    }
}

/// Scores of items, in f64.
pub(super) struct Scored {
    /// One column for each machine.
    pub(super) scores: Tensor,
    /// What the function is linear in, where it is: features, scaled, and those of landmarks.
    pub(super) mapped: Option<Tensor>,
}

/// Adds the scores of the rows of `items`.
pub(super) fn add(graph: &mut Graph, scorer: &Scorer, items: &str, precision: Precision) -> Result<Scored> {
    let scaler = scorer.scaler.as_ref();
    match (&scorer.function, precision) {
        // No support items: nothing but what is added.
        (ScoreFunction::Kernel { support, bias, .. }, _) if support.n_rows() == 0 => {
            Ok(constant(graph, scorer, items, &[*bias]))
        }
        (ScoreFunction::Several { basis: Basis::Kernel { support, .. }, biases, .. }, _) if support.n_rows() == 0 => {
            Ok(constant(graph, scorer, items, biases))
        }
        (ScoreFunction::Landmarks { map, weights }, _) => {
            // In f32 the factor of the landmarks would lose all digits.
            let items = graph.cast(items, Element::Double);
            let scaled = scaled(graph, scaler, &items);
            let psi = landmarks(graph, map, &scaled);
            let mapped = graph.beside(&[&scaled, &psi]);
            let weights = graph.reals(&[weights.len(), 1], weights);
            let scores = graph.op("MatMul", &[&mapped, &weights]);
            Ok(Scored { scores, mapped: Some(mapped) })
        }
        (ScoreFunction::Linear { weights, bias }, Precision::F64) => {
            let scaled = scaled(graph, scaler, items);
            let scores = weighted(graph, &scaled, weights, &[*bias]);
            Ok(Scored { scores, mapped: Some(scaled) })
        }
        (ScoreFunction::Several { basis: Basis::Features, coefficients, biases }, Precision::F64) => {
            let scaled = scaled(graph, scaler, items);
            Ok(Scored { scores: weighted(graph, &scaled, coefficients, biases), mapped: None })
        }
        (ScoreFunction::Linear { weights, bias }, Precision::F32) => {
            // A tie band sees the scaled features, too.
            let scaled = ml_scaled(graph, scaler, None, items)?;
            let scores = regressor(graph, &scaled, weights, &[*bias])?;
            let mapped = Some(graph.cast(&scaled, Element::Double));
            Ok(Scored { scores, mapped })
        }
        (ScoreFunction::Several { basis: Basis::Features, coefficients, biases }, Precision::F32) => {
            let scaled = ml_scaled(graph, scaler, None, items)?;
            Ok(Scored { scores: regressor(graph, &scaled, coefficients, biases)?, mapped: None })
        }
        (ScoreFunction::Kernel { kernel, support, coefficients, bias }, Precision::F32)
            if f32_will_do(kernel, support, coefficients, *bias) =>
        {
            let scores = svm_regressor(graph, scaler, items, kernel, support, coefficients, *bias)?;
            Ok(Scored { scores, mapped: None })
        }
        (ScoreFunction::Kernel { kernel, support, coefficients, bias }, _) => {
            let items = graph.cast(items, Element::Double);
            let scaled = scaled(graph, scaler, &items);
            let values = kernel_values(graph, kernel, support, &scaled);
            Ok(Scored { scores: weighted(graph, &values, coefficients, &[*bias]), mapped: None })
        }
        (ScoreFunction::Several { basis: Basis::Kernel { kernel, support }, coefficients, biases }, _) => {
            let items = graph.cast(items, Element::Double);
            let scaled = scaled(graph, scaler, &items);
            let values = kernel_values(graph, kernel, support, &scaled);
            Ok(Scored { scores: weighted(graph, &values, coefficients, biases), mapped: None })
        }
    }
}

/// The same scores for all items.
fn constant(graph: &mut Graph, scorer: &Scorer, items: &str, biases: &[f64]) -> Scored {
    let items = graph.cast(items, Element::Double);
    let weights = vec![0.0; scorer.n_features * biases.len()];
    Scored { scores: weighted(graph, &items, &weights, biases), mapped: None }
}

/// What of the largest score sums in f32 may err by, as measured on support items.
const F32_ERROR: f64 = 2e-6;
/// Support items that it is measured on.
const MEASURED: usize = 256;

/// Whether sums of kernel values in f32 have digits enough: large coefficients that nearly cancel each other leave none.
fn f32_will_do(kernel: &KernelFunction, support: &Features, coefficients: &[f64], bias: f64) -> bool {
    let (n, d) = (support.n_rows(), support.n_cols());
    let rows = from_middle(kernel, support).1;
    let single: Vec<f32> = rows.iter().map(|&value| value as f32).collect();
    let row = |at: usize| at * d..(at + 1) * d;
    let (mut error, mut largest) = (0.0f64, 0.0f64);
    for query in (0..n).step_by(n.div_ceil(MEASURED).max(1)) {
        let (mut exact, mut rounded) = (bias, bias as f32);
        for (at, coefficient) in coefficients.iter().enumerate() {
            exact += coefficient * kernel.value(&rows[row(query)], &rows[row(at)]);
            rounded += *coefficient as f32 * value_in_f32(kernel, &single[row(query)], &single[row(at)]);
        }
        error = error.max((exact - f64::from(rounded)).abs());
        largest = largest.max(exact.abs());
    }
    error <= F32_ERROR * largest
}

/// [`KernelFunction::value`] as a runtime computes it in f32.
fn value_in_f32(kernel: &KernelFunction, a: &[f32], b: &[f32]) -> f32 {
    let dot = || a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    match *kernel {
        KernelFunction::Linear => dot(),
        KernelFunction::Poly { gamma, coef0, degree } => (gamma as f32 * dot() + coef0 as f32).powi(degree as i32),
        KernelFunction::Rbf { gamma } => {
            (-gamma as f32 * a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f32>()).exp()
        }
        KernelFunction::Sigmoid { gamma, coef0 } => (gamma as f32 * dot() + coef0 as f32).tanh(),
    }
}

/// The middle that a kernel is computed from, and the support items seen from there.
fn from_middle(kernel: &KernelFunction, support: &Features) -> (Vec<f64>, Vec<f64>) {
    let d = support.n_cols();
    let is_centred = matches!(kernel, KernelFunction::Rbf { .. } | KernelFunction::Linear);
    let centre = if is_centred { middle(support) } else { vec![0.0; d] };
    let mut rows = support.to_dense();
    rows.chunks_exact_mut(d.max(1)).for_each(|row| row.iter_mut().zip(&centre).for_each(|(v, c)| *v -= c));
    (centre, rows)
}

/// (x − shift)/divisor, as it is done here.
fn scaled(graph: &mut Graph, scaler: Option<&Scaler>, items: &str) -> Tensor {
    let Some(scaler) = scaler else { return items.into() };
    let shift = graph.reals(&[1, scaler.shift.len()], &scaler.shift);
    let divisor = graph.reals(&[1, scaler.divisor.len()], &scaler.divisor);
    let moved = graph.op("Sub", &[items, &shift]);
    graph.op("Div", &[&moved, &divisor])
}

/// The same in f32, and then moved by the middle of support items.
fn ml_scaled(graph: &mut Graph, scaler: Option<&Scaler>, middle: Option<&[f64]>, items: &str) -> Result<Tensor> {
    let shift_of = |at: usize| scaler.map_or(0.0, |scaler| scaler.shift[at]);
    let divisor_of = |at: usize| scaler.map_or(1.0, |scaler| scaler.divisor[at]);
    let n = scaler.map(|scaler| scaler.shift.len()).or(middle.map(<[f64]>::len));
    let is_moved = middle.is_some_and(|middle| middle.iter().any(|m| *m != 0.0));
    let Some(n) = n.filter(|_| scaler.is_some() || is_moved) else { return Ok(items.into()) };
    let offset: Vec<f64> =
        (0..n).map(|at| shift_of(at) + middle.map_or(0.0, |middle| middle[at]) * divisor_of(at)).collect();
    let scale: Vec<f64> = (0..n).map(|at| 1.0 / divisor_of(at)).collect();
    in_f32(&offset)?;
    in_f32(&scale)?;
    if let Some(tiny) = scale.iter().find(|value| (**value as f32).abs() < f32::MIN_POSITIVE) {
        return Err(beyond_f32(*tiny));
    }
    Ok(graph.ml_op("Scaler", items, vec![floats("offset", offset), floats("scale", scale)]))
}

/// Values times coefficients, a row of them for each machine, and what each machine adds.
fn weighted(graph: &mut Graph, values: &str, coefficients: &[f64], biases: &[f64]) -> Tensor {
    let (n_machines, n) = (biases.len(), coefficients.len() / biases.len().max(1));
    let columns: Vec<f64> =
        (0..n).flat_map(|at| (0..n_machines).map(move |machine| coefficients[machine * n + at])).collect();
    let columns = graph.reals(&[n, n_machines], &columns);
    let scores = graph.op("MatMul", &[values, &columns]);
    if biases.iter().all(|&bias| bias == 0.0) {
        return scores;
    }
    let biases = graph.reals(&[1, n_machines], biases);
    graph.op("Add", &[&scores, &biases])
}

/// A column of K(support item, item) for each support item, in f64.
fn kernel_values(graph: &mut Graph, kernel: &KernelFunction, support: &Features, items: &str) -> Tensor {
    let (n, d) = (support.n_rows(), support.n_cols());
    let (centre, rows) = from_middle(kernel, support);
    // γ·a·b with γ in the support items: a runtime may join a product of matrices with a number in f32.
    let factor = match *kernel {
        KernelFunction::Poly { gamma, .. } | KernelFunction::Sigmoid { gamma, .. } => gamma,
        _ => 1.0,
    };
    let rows = rows.as_slice();
    let column = |feature: usize| rows.iter().skip(feature).step_by(d.max(1)).map(move |value| factor * value);
    let columns: Vec<f64> = (0..d).flat_map(column).collect();
    let columns = graph.reals(&[d, n], &columns);
    let items = if centre.iter().all(|c| *c == 0.0) {
        items.into()
    } else {
        let centre = graph.reals(&[1, d], &centre);
        graph.op("Sub", &[items, &centre])
    };
    let products = graph.op("MatMul", &[&items, &columns]);
    match *kernel {
        KernelFunction::Linear => products,
        KernelFunction::Poly { coef0, degree, .. } => {
            let (coef0, degree) = (graph.real(coef0), graph.real(f64::from(degree)));
            let base = graph.op("Add", &[&products, &coef0]);
            graph.op("Pow", &[&base, &degree])
        }
        KernelFunction::Rbf { gamma } => {
            let squares = graph.op("Mul", &[&items, &items]);
            // A product with ones sums a row in the same order wherever it stands, unlike a sum over an axis.
            let ones = graph.reals(&[d, 1], &vec![1.0; d]);
            let norms = graph.op("MatMul", &[&squares, &ones]);
            let of_support: Vec<f64> = rows.chunks_exact(d.max(1)).map(|row| row.iter().map(|v| v * v).sum()).collect();
            let of_support = graph.reals(&[1, n], &of_support);
            let both = graph.op("Add", &[&norms, &of_support]);
            let minus_two = graph.real(-2.0);
            let twice = graph.op("Mul", &[&minus_two, &products]);
            let distances = graph.op("Add", &[&both, &twice]);
            let zero = graph.real(0.0);
            let distances = graph.op("Max", &[&distances, &zero]);
            let minus_gamma = graph.real(-gamma);
            let exponents = graph.op("Mul", &[&minus_gamma, &distances]);
            graph.exp(&exponents)
        }
        KernelFunction::Sigmoid { coef0, .. } => {
            let coef0 = graph.real(coef0);
            let inner = graph.op("Add", &[&products, &coef0]);
            // 1 − 2/(1 + e^2x), for the reason that exp has.
            let (one, two) = (graph.real(1.0), graph.real(2.0));
            let doubled = graph.op("Mul", &[&two, &inner]);
            let power = graph.exp(&doubled);
            let total = graph.op("Add", &[&one, &power]);
            let part = graph.op("Div", &[&two, &total]);
            graph.op("Sub", &[&one, &part])
        }
    }
}

/// ψ = L⁻¹·K(landmarks, x), in f64.
fn landmarks(graph: &mut Graph, map: &Landmarks, items: &str) -> Tensor {
    let values = kernel_values(graph, &map.kernel, &map.items, items);
    let r = map.len();
    // L⁻ᵀ: its column i solves L·z = unit vector i, row by row.
    let mut inverse = vec![0.0; r * r];
    for column in 0..r {
        for row in column..r {
            let known: f64 = (column..row).map(|at| map.factor[row * r + at] * inverse[column * r + at]).sum();
            let unit = if row == column { 1.0 } else { 0.0 };
            inverse[column * r + row] = (unit - known) / map.factor[row * r + row];
        }
    }
    let inverse = graph.reals(&[r, r], &inverse);
    graph.op("MatMul", &[&values, &inverse])
}

/// `LinearRegressor`, then in f64.
fn regressor(graph: &mut Graph, items: &str, coefficients: &[f64], biases: &[f64]) -> Result<Tensor> {
    in_f32(coefficients.iter().chain(biases))?;
    let attributes = vec![
        floats("coefficients", coefficients.iter().copied()),
        floats("intercepts", biases.iter().copied()),
        int("targets", biases.len() as i64),
    ];
    let scores = graph.ml_op("LinearRegressor", items, attributes);
    Ok(graph.cast(&scores, Element::Double))
}

/// `SVMRegressor`, then in f64. What it calls rho is added.
fn svm_regressor(
    graph: &mut Graph,
    scaler: Option<&Scaler>,
    items: &str,
    kernel: &KernelFunction,
    support: &Features,
    coefficients: &[f64],
    bias: f64,
) -> Result<Tensor> {
    let n = support.n_rows();
    let (centre, rows) = from_middle(kernel, support);
    in_f32(rows.iter().chain(coefficients).chain([&bias]))?;
    let items = ml_scaled(graph, scaler, Some(&centre), items)?;
    let (name, parameters) = match *kernel {
        KernelFunction::Linear => ("LINEAR", [0.0, 0.0, 0.0]),
        KernelFunction::Poly { gamma, coef0, degree } => ("POLY", [gamma, coef0, f64::from(degree)]),
        KernelFunction::Rbf { gamma } => ("RBF", [gamma, 0.0, 0.0]),
        KernelFunction::Sigmoid { gamma, coef0 } => ("SIGMOID", [gamma, coef0, 0.0]),
    };
    let attributes = vec![
        floats("coefficients", coefficients.iter().copied()),
        floats("kernel_params", parameters),
        word("kernel_type", name),
        int("n_supports", n as i64),
        floats("rho", [bias]),
        floats("support_vectors", rows),
    ];
    let scores = graph.ml_op("SVMRegressor", &items, attributes);
    Ok(graph.cast(&scores, Element::Double))
}

/// Numbers that f32 does not reach are refused.
fn in_f32<'a>(values: impl IntoIterator<Item = &'a f64>) -> Result<()> {
    match values.into_iter().find(|value| !(**value as f32).is_finite()) {
        None => Ok(()),
        Some(value) => Err(beyond_f32(*value)),
    }
}

fn beyond_f32(value: f64) -> Error {
    Error::Unsupported {
        problem: format!("the model has a number, {value:e}, that f32 does not reach"),
        remedy: "export to onnx, which has f64".into(),
    }
}
