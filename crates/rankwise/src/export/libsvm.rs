//! The text of a LIBSVM model (`svm-predict`, version 3).
//!
//! Rankers, comparers, grades and regressions are `epsilon_svr`: the score is Σ coefficient·K(support item, item) − rho.
//! Classifiers are `c_svc`: a decision Σ … − rho for each pair of classes i < j, above 0 a vote for i; support items stand class by
//! class, and one of class i has its coefficient against class j in column j − 1 for j > i, in column j for j < i.

use std::fmt::Write;

use super::liblinear::{labels, words};
use super::linear::Linear;
use super::{Kind, Target, method_of, number};
use crate::data::{Features, Precision};
use crate::error::{Error, Result};
use crate::kernel::KernelFunction;
use crate::model::{Basis, ClassScheme, Model, ScoreFunction};

/// Machines over the same support items.
struct Machines {
    kernel: KernelFunction,
    support: Features,
    /// A row of coefficients for each machine, one for each support item.
    coefficients: Vec<Vec<f64>>,
    biases: Vec<f64>,
}

/// The text.
pub(super) fn write(model: &Model) -> Result<String> {
    let machines = Machines::of(model)?;
    let kernel = kernel_lines(&machines.kernel);
    if Kind::of(model) != Kind::Class {
        let rho: Vec<f64> = machines.biases.iter().map(|bias| -bias).collect();
        let n = machines.support.n_rows();
        let mut out = format!(
            "svm_type epsilon_svr\n{kernel}nr_class 2\ntotal_sv {n}\nrho {}\nSV\n",
            words(rho.iter().map(|rho| number(*rho)))
        );
        for row in 0..n {
            out += &line(machines.coefficients.iter().map(|of_machine| of_machine[row]), &machines.support, row);
        }
        return Ok(out);
    }
    classifier(model, &machines, &kernel)
}

impl Machines {
    fn of(model: &Model) -> Result<Self> {
        let (kernel, support, coefficients, biases) = match &model.scorer.function {
            ScoreFunction::Kernel { kernel, support, coefficients, bias } if *kernel != KernelFunction::Linear => {
                (*kernel, support, coefficients, vec![*bias])
            }
            ScoreFunction::Several { basis: Basis::Kernel { kernel, support }, coefficients, biases }
                if *kernel != KernelFunction::Linear =>
            {
                (*kernel, support, coefficients, biases.clone())
            }
            ScoreFunction::Landmarks { .. } => {
                return Err(Error::Unsupported {
                    problem: "LIBSVM knows no features of landmarks, which this model is made of".into(),
                    remedy: "export to onnx, or train with --tie-band constant".into(),
                });
            }
            _ => return Self::of_weights(model),
        };
        if model.scorer.scaler.is_some() {
            return Err(Error::Unsupported {
                problem: format!(
                    "LIBSVM knows no scaling, and this model of {} has one before its {} kernel",
                    method_of(model),
                    kernel.name()
                ),
                remedy: "train with --scale none on data that are scaled already, or export to onnx".into(),
            });
        }
        let each = support.n_rows();
        let coefficients = (0..biases.len()).map(|at| coefficients[at * each..][..each].to_vec()).collect();
        Ok(Machines { kernel, support: support.clone(), coefficients, biases })
    }

    /// The weights of each machine are a support item of the linear kernel.
    fn of_weights(model: &Model) -> Result<Self> {
        let Linear { weights, biases } = Linear::of(model, Target::Libsvm)?;
        let n = weights.len();
        let support = Features::dense(model.scorer.n_features, weights.concat(), Precision::F64)?;
        let mut coefficients = vec![vec![0.0; n]; n];
        coefficients.iter_mut().enumerate().for_each(|(at, row)| row[at] = 1.0);
        Ok(Machines { kernel: KernelFunction::Linear, support, coefficients, biases })
    }
}

fn classifier(model: &Model, machines: &Machines, kernel: &str) -> Result<String> {
    let labels = labels(model, Target::Libsvm)?;
    let rule = model.class_rule.clone().unwrap_or_default();
    let n = labels.len();
    if n > 2 && rule.scheme != ClassScheme::Ovo {
        return Err(Error::Unsupported {
            problem: format!(
                "LIBSVM has a machine for each pair of classes, and this model was trained with --classes {}",
                rule.scheme.name()
            ),
            remedy: "train with --classes ovo, or export to liblinear (linear models) or onnx".into(),
        });
    }
    if n > 2 && rule.sigmoids.is_some() {
        return Err(Error::Unsupported {
            problem: "LIBSVM makes probabilities of three classes and more in another way than this model does".into(),
            remedy: "train without --probabilities, or export to onnx".into(),
        });
    }
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
    // A score of 0 and above means the second class here, a decision above 0 the first one there.
    let mut lines = vec![String::new(); n];
    let mut sizes = vec![0; n];
    for row in 0..machines.support.n_rows() {
        let mut left: Vec<usize> = (0..pairs.len()).filter(|&at| machines.coefficients[at][row] != 0.0).collect();
        while !left.is_empty() {
            let says = |class: usize| left.iter().filter(|&&at| pairs[at].0 == class || pairs[at].1 == class).count();
            // The class that is in most of them; equal rows of several classes were merged, and need more than one line.
            let Some(class) = (0..n).max_by_key(|&class| says(class)) else { break };
            let mut coefficients = vec![0.0; n - 1];
            for &at in left.iter().filter(|&&at| pairs[at].0 == class || pairs[at].1 == class) {
                let (i, j) = pairs[at];
                coefficients[if class == i { j - 1 } else { i }] = -machines.coefficients[at][row];
            }
            left.retain(|&at| pairs[at].0 != class && pairs[at].1 != class);
            lines[class] += &line(coefficients.into_iter(), &machines.support, row);
            sizes[class] += 1;
        }
    }
    let rho = words(machines.biases.iter().map(|bias| number(*bias)));
    let total: usize = sizes.iter().sum();
    let mut out = format!("svm_type c_svc\n{kernel}nr_class {n}\ntotal_sv {total}\nrho {rho}\n");
    let _ = writeln!(out, "label {}", words(labels.iter()));
    if let Some(sigmoids) = &rule.sigmoids {
        // Its P(first) is 1/(1 + e^(A·decision + B)), ours of the second 1/(1 + e^(−(slope·score + offset))).
        let _ = writeln!(out, "probA {}", words(sigmoids.iter().map(|curve| number(-curve.slope))));
        let _ = writeln!(out, "probB {}", words(sigmoids.iter().map(|curve| number(curve.offset))));
    }
    let _ = writeln!(out, "nr_sv {}\nSV", words(sizes.iter()));
    Ok(out + &lines.concat())
}

fn kernel_lines(kernel: &KernelFunction) -> String {
    match *kernel {
        KernelFunction::Linear => "kernel_type linear\n".into(),
        KernelFunction::Poly { gamma, coef0, degree } => {
            let [gamma, coef0] = [gamma, coef0].map(number);
            format!("kernel_type polynomial\ndegree {degree}\ngamma {gamma}\ncoef0 {coef0}\n")
        }
        KernelFunction::Rbf { gamma } => format!("kernel_type rbf\ngamma {}\n", number(gamma)),
        KernelFunction::Sigmoid { gamma, coef0 } => {
            format!("kernel_type sigmoid\ngamma {}\ncoef0 {}\n", number(gamma), number(coef0))
        }
    }
}

/// A support item: its coefficients, then its features that are not 0, counted from 1.
fn line(coefficients: impl Iterator<Item = f64>, support: &Features, row: usize) -> String {
    let mut out: String = coefficients.map(|value| number(value) + " ").collect();
    support.for_each_in_row(row, |column, value| {
        if value != 0.0 {
            let _ = write!(out, "{}:{} ", column + 1, number(value));
        }
    });
    out.push('\n');
    out
}
