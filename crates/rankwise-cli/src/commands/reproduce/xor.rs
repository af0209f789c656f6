//! Section 2.3.1 of the SVM tutorial: four points that no line separates, and the kernel (1 + x·y)².
//!
//! The text solves the dual by hand: α = 1/8 for every point, Q = ¼, ‖w‖ = 1/√2, b = 0 and f(x) = −x₁x₂.

use rankwise::data::{ClassItems, Features, Items, Precision};
use rankwise::estimator::SvmClassifier;
use rankwise::kernel::{Gamma, Kernel};
use rankwise::model::ScoreFunction;

use super::study::{Claim, Findings, Found, Paper, Prepared, Room, Study, Task, row};
use crate::exit::{Failure, Run};
use crate::page::Table;
use crate::picture::{Cloud, Field, Levels, Panel, Scatter, Sheet};

const POINTS: [[f64; 2]; 4] = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];
const LABELS: [f64; 4] = [-1.0, 1.0, 1.0, -1.0];
/// The tutorial's numbers are fractions; ours must be those.
const CLOSE: f64 = 1e-6;
/// Points along a side of the picture: an even number, so that none lies on the curve f = 0.
const SIDE: usize = 42;

/// The study.
pub(super) struct Xor;

impl Study for Xor {
    fn name(&self) -> &'static str {
        "xor"
    }

    fn title(&self) -> &'static str {
        "The XOR problem by a polynomial kernel"
    }

    fn paper(&self) -> Paper {
        Paper::Tutorial
    }

    fn varies(&self) -> bool {
        false
    }

    fn prepare(&self, _: &Room) -> Run<Box<dyn Prepared>> {
        Ok(Box::new(Xor))
    }
}

impl Prepared for Xor {
    fn tasks(&self) -> Vec<Task<'_>> {
        Vec::new()
    }

    fn tell(&self, _: &Found) -> Run<Findings> {
        let features = Features::dense(2, POINTS.concat(), Precision::F64)?;
        let data = ClassItems::of_labels(Items::new(features, None, None)?, &LABELS)?;
        let kernel = Kernel::Poly { gamma: Gamma::Value(1.0), degree: 2, coef0: 1.0 };
        let fit = SvmClassifier::new().kernel(kernel).c(f64::INFINITY).tol(1e-10).fit(&data)?;
        let ScoreFunction::Kernel { support, coefficients, bias, .. } = &fit.model.scorer.function else {
            return Err(Failure::Fault("a classifier with a kernel is an expansion over support vectors".into()));
        };
        let score = |x: [f64; 2]| -> Run<f64> {
            let items = Items::new(Features::dense(2, x.to_vec(), Precision::F64)?, None, None)?;
            Ok(fit.model.scorer.scores(&items)?[0])
        };
        // Coefficients are y·α; ½‖w‖² is ½ Σ α over the optimum's support vectors, where every margin is 1.
        let alpha: Vec<f64> = coefficients.iter().map(|value| value.abs()).collect();
        let half_norm = 0.5 * alpha.iter().sum::<f64>();
        let objective = alpha.iter().sum::<f64>() - half_norm;
        let spread = alpha.iter().map(|a| (a - 0.125).abs()).fold(0.0, f64::max);
        let mut off = 0.0f64;
        let mut values = Vec::new();
        for k in 0..SIDE * SIDE {
            let at = |k: usize| -2.0 + 4.0 * k as f64 / (SIDE - 1) as f64;
            let x = [at(k % SIDE), at(k / SIDE)];
            let value = score(x)?;
            off = off.max((value + x[0] * x[1]).abs());
            values.push(value);
        }
        let shown = |value: f64| format!("{value:.6}");
        let rows = vec![
            row(["support vectors", "4", &support.n_rows().to_string()]),
            row(["α of each", "1/8 = 0.125", &alpha.iter().map(|a| shown(*a)).collect::<Vec<_>>().join(", ")]),
            row(["Q(α)", "1/4", &shown(objective)]),
            row(["½‖w‖²", "1/4", &shown(half_norm)]),
            row(["b", "0", &shown(*bias + 0.0)]),
            row(["f(x)", "−x₁x₂", &format!("−x₁x₂ within {off:.0e} on [−2, 2]²")]),
        ];
        let numbers = POINTS.iter().zip(LABELS).enumerate().map(|(k, (x, y))| {
            let own = (0..support.n_rows()).find(|s| {
                let mut point = [0.0; 2];
                support.copy_row(*s, &mut point);
                point == *x
            });
            let alpha = own.map_or(0.0, |s| alpha[s]);
            Ok(vec![
                (k + 1).to_string(),
                x[0].to_string(),
                x[1].to_string(),
                y.to_string(),
                alpha.to_string(),
                score(*x)?.to_string(),
            ])
        });
        let header = row(["point", "x1", "x2", "y", "alpha", "score"]);
        let numbers = (header, numbers.collect::<Run<Vec<_>>>()?);
        Ok(Findings {
            lead: format!("All four points are support vectors with α = {:.3}, and f(x) = −x₁x₂, as worked out by hand in the text.", alpha[0]),
            beside: Table { caption: "The text's solution and ours".into(), header: row(["", "paper", "ours"]), rows, is_words: true },
            claims: vec![
                Claim::new("all four points are support vectors with α = 1/8", alpha.len() == 4 && spread < CLOSE),
                Claim::new("½‖w‖² = ¼ and b = 0", (half_norm - 0.25).abs() < CLOSE && bias.abs() < CLOSE),
                Claim::new("the separating surface is −x₁x₂ = 0", off < 10.0 * CLOSE),
            ],
            notes: vec![
                "The text's (48) prints 9α₃ where 9α₃² is meant, and +α₄² where 9α₄² is: the equations below it follow from the squares, and so do ours.".into(),
                "The text's last sentence has the signs the wrong way round: by Table 1 and by f(x) = −x₁x₂ the output is −1 where x₁ = x₂, and +1 where they differ.".into(),
            ],
            tables: Vec::new(),
            picture: picture(values),
            caption: "Left: the function that is learnt; it is 0 along the axes. Right: the same points over the features √2·x₁ and √2·x₁x₂ of the kernel's space, where a horizontal line separates them.".into(),
            numbers,
        })
    }
}

fn picture(values: Vec<f64>) -> crate::picture::Picture {
    let field = Field { n_columns: SIDE, values, threshold: 0.0 };
    let levels = Levels {
        name: "xor-levels",
        title: "The learnt function".into(),
        features: ["x₁".into(), "x₂".into()],
        extent: [(-2.0, 2.0); 2],
        panels: vec![Panel { field: Some(field), ..Panel::default() }],
    };
    let cloud = |label: &str, y: f64| {
        let root = 2f64.sqrt();
        let own = POINTS.iter().zip(LABELS).filter(|point| point.1 == y);
        Cloud { label: label.into(), points: own.map(|(x, _)| (root * x[0], root * x[0] * x[1])).collect() }
    };
    let space = Scatter {
        name: "xor-space",
        title: "The four points in the kernel's space".into(),
        description: "A horizontal line at 0 separates the two classes.".into(),
        x: crate::picture::Axis::linear("√2·x₁").with(&[-2.0, 2.0]),
        y: crate::picture::Axis::linear("√2·x₁x₂").with(&[-2.0, 2.0]),
        clouds: vec![cloud("y = −1", -1.0), cloud("y = +1", 1.0)],
        strokes: vec![crate::picture::Stroke { label: "f = 0".into(), lines: vec![[(-9.0, 0.0), (9.0, 0.0)]] }],
    };
    let panels = vec![
        ("f(x) over the input space".to_string(), levels.draw()),
        ("the kernel's space".to_string(), space.draw()),
    ];
    Sheet { name: "xor", title: "The XOR problem".into(), n_columns: 2, panels }.draw()
}
