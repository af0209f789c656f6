//! From scores of two sides to the outcome of a pair: margin, threshold or tie band, probabilities.

use super::graph::{Axis, Graph, Tensor, int};
use super::proto::Element;
use super::scores::{self, Precision};
use crate::error::Result;
use crate::model::{Chances, Model, TieBand};

/// Adds inputs `left` and `right` (and `pair`, where the tie band depends on the comparison itself), and outputs `margin`, `outcome`,
/// with a tie band `threshold`, and `probabilities` where there are any.
pub(super) fn add(graph: &mut Graph, model: &Model, precision: Precision) -> Result<()> {
    let (element, n) = (precision.element(), model.scorer.n_features);
    let shape = [Axis::Rows, Axis::Of(n)];
    let left = graph.input("left", element, &shape, "the features of the left items");
    let right = graph.input("right", element, &shape, "the features of the right items");
    let both = graph.op_with("Concat", &[&left, &right], vec![int("axis", 0)]);
    let scored = scores::add(graph, &model.scorer, &both, precision)?;
    let sides = Sides::new(graph, &left);
    let [of_left, of_right] = sides.of(graph, &scored.scores);
    let difference = graph.op("Sub", &[&of_right, &of_left]);
    // Items that are the same have no margin, whatever a runtime makes of their scores.
    let equal = graph.op("Equal", &[&left, &right]);
    let equal = graph.cast(&equal, Element::Int64);
    let equal = graph.sum(&equal, 1);
    let all = graph.ints(&[n as i64]);
    let same = graph.op("Equal", &[&equal, &all]);
    let zero = graph.real(0.0);
    let margin = graph.op("Where", &[&same, &zero, &difference]);

    let width = match (&model.band, &scored.mapped) {
        (Some(band), Some(mapped)) => {
            let [left, right] = sides.of(graph, mapped);
            Some(width(graph, band, &left, &right, precision))
        }
        _ => None,
    };
    let size = graph.op("Abs", &[&margin]);
    let beyond = match &width {
        None => {
            let threshold = graph.real(model.threshold);
            graph.op("Greater", &[&size, &threshold])
        }
        Some(width) => {
            let excess = excess(graph, model.chances, &size, width);
            graph.op("Greater", &[&excess, &zero])
        }
    };
    let beyond = graph.cast(&beyond, Element::Int64);
    let sign = graph.op("Sign", &[&margin]);
    let sign = graph.cast(&sign, Element::Int64);
    let outcome = graph.op("Mul", &[&beyond, &sign]);

    give(graph, "margin", &margin, precision, "score(right) − score(left)");
    let outcome = graph.list(&outcome);
    graph.output("outcome", &outcome, Element::Int64, &[Axis::Rows], "-1 left is better, 0 a tie, 1 right is better");
    if let Some(width) = &width {
        let threshold = threshold(graph, model.chances, width);
        give(graph, "threshold", &threshold, precision, "the largest |margin| that is a tie");
    }
    if let Some(rule) = model.chances {
        let three = chances(graph, rule, &margin, width.as_deref());
        let three = graph.beside(&[&three[0], &three[1], &three[2]]);
        let three = graph.cast(&three, element);
        let shape = [Axis::Rows, Axis::Of(3)];
        graph.output("probabilities", &three, element, &shape, "of left, tie and right");
    }
    Ok(())
}

/// A column as an output.
fn give(graph: &mut Graph, name: &str, column: &str, precision: Precision, doc: &str) {
    let list = graph.list(column);
    let list = graph.cast(&list, precision.element());
    graph.output(name, &list, precision.element(), &[Axis::Rows], doc);
}

/// Where the rows of the left side end, and those of the right side begin.
struct Sides {
    start: Tensor,
    middle: Tensor,
    end: Tensor,
    axis: Tensor,
}

impl Sides {
    fn new(graph: &mut Graph, left: &str) -> Self {
        let shape = graph.op("Shape", &[left]);
        let middle = graph.entry(&shape, 0, 0);
        Sides { start: graph.ints(&[0]), middle, end: graph.ints(&[i64::MAX]), axis: graph.ints(&[0]) }
    }

    fn of(&self, graph: &mut Graph, both: &str) -> [Tensor; 2] {
        [(&self.start, &self.middle), (&self.middle, &self.end)]
            .map(|(from, to)| graph.op("Slice", &[both, from, to, &self.axis]))
    }
}

/// The width of the tie band.
fn width(graph: &mut Graph, band: &TieBand, left: &str, right: &str, precision: Precision) -> Tensor {
    let column = |graph: &mut Graph, values: &str, weights: &[f64]| {
        let weights = graph.reals(&[weights.len(), 1], weights);
        graph.op("MatMul", &[values, &weights])
    };
    let half = graph.real(0.5);
    let total = graph.op("Add", &[left, right]);
    let mean = graph.op("Mul", &[&total, &half]);
    let of_mean = column(graph, &mean, &band.mean);
    let difference = graph.op("Sub", &[right, left]);
    let distance = graph.op("Abs", &[&difference]);
    let of_distance = column(graph, &distance, &band.difference);
    let base = graph.real(band.base);
    let sum = graph.op("Add", &[&of_mean, &of_distance]);
    let width = graph.op("Add", &[&sum, &base]);
    if band.context_names.is_empty() {
        return width;
    }
    let shape = [Axis::Rows, Axis::Of(band.context_names.len())];
    let doc = format!("what describes the comparison: {}", band.context_names.join(", "));
    let context = graph.input("pair", precision.element(), &shape, &doc);
    let mut context = graph.cast(&context, Element::Double);
    if let Some(scaler) = &band.context_scaler {
        let shift = graph.reals(&[1, scaler.shift.len()], &scaler.shift);
        let divisor = graph.reals(&[1, scaler.divisor.len()], &scaler.divisor);
        let moved = graph.op("Sub", &[&context, &shift]);
        context = graph.op("Div", &[&moved, &divisor]);
    }
    let of_context = column(graph, &context, &band.context);
    graph.op("Add", &[&width, &of_context])
}

/// max(τ, width), of Rao and Kupper's model with a tie band.
fn tau_of(graph: &mut Graph, tau: f64, width: Option<&str>) -> Tensor {
    let least = graph.real(tau);
    match width {
        Some(width) => graph.op("Max", &[width, &least]),
        None => least,
    }
}

/// 1 − e^(−2τ), exact for small τ as well: 2·tanh τ/(1 + tanh τ).
fn tie_factor(graph: &mut Graph, tau: &str) -> Tensor {
    let (one, two) = (graph.real(1.0), graph.real(2.0));
    let tanh = graph.op("Tanh", &[tau]);
    let doubled = graph.op("Mul", &[&two, &tanh]);
    let total = graph.op("Add", &[&one, &tanh]);
    graph.op("Div", &[&doubled, &total])
}

/// How far a pair is beyond its own threshold.
fn excess(graph: &mut Graph, chances: Option<Chances>, size: &str, width: &str) -> Tensor {
    match chances {
        Some(Chances::RaoKupper { tau }) => {
            let tau = tau_of(graph, tau, Some(width));
            let factor = tie_factor(graph, &tau);
            let log = graph.op("Log", &[&factor]);
            let total = graph.op("Add", &[size, &tau]);
            let negative = graph.op("Neg", &[&total]);
            let small = graph.exp(&negative);
            let one = graph.real(1.0);
            let inner = graph.op("Add", &[&one, &small]);
            let soft = graph.op("Log", &[&inner]);
            let ahead = graph.op("Sub", &[size, &tau]);
            let ahead = graph.op("Sub", &[&ahead, &log]);
            graph.op("Add", &[&ahead, &soft])
        }
        Some(Chances::Davidson { .. }) => {
            let half = graph.real(0.5);
            let half = graph.op("Mul", &[&half, size]);
            graph.op("Sub", &[&half, width])
        }
        _ => graph.op("Sub", &[size, width]),
    }
}

/// The largest size of a margin that is a tie.
fn threshold(graph: &mut Graph, chances: Option<Chances>, width: &str) -> Tensor {
    let zero = graph.real(0.0);
    let value = match chances {
        Some(Chances::RaoKupper { tau }) => {
            // e^m = e^τ − 2e^(−τ), where that is above 1
            let tau = tau_of(graph, tau, Some(width));
            let (one, two) = (graph.real(1.0), graph.real(2.0));
            let doubled = graph.op("Mul", &[&two, &tau]);
            let negative = graph.op("Neg", &[&doubled]);
            let small = graph.exp(&negative);
            let part = graph.op("Mul", &[&two, &small]);
            let inner = graph.op("Sub", &[&one, &part]);
            // The logarithm of what is not above 0 is never needed.
            let least = graph.real(f64::MIN_POSITIVE);
            let inner = graph.op("Max", &[&inner, &least]);
            let log = graph.op("Log", &[&inner]);
            graph.op("Add", &[&tau, &log])
        }
        Some(Chances::Davidson { .. }) => {
            let two = graph.real(2.0);
            graph.op("Mul", &[&two, width])
        }
        _ => width.into(),
    };
    graph.op("Max", &[&value, &zero])
}

/// Columns of the probabilities of left, tie and right.
fn chances(graph: &mut Graph, rule: Chances, margin: &str, width: Option<&str>) -> [Tensor; 3] {
    match rule {
        Chances::RaoKupper { tau } => {
            let tau = tau_of(graph, tau, width);
            let factor = tie_factor(graph, &tau);
            let ahead = graph.op("Sub", &[margin, &tau]);
            let total = graph.op("Add", &[margin, &tau]);
            let [behind, back] = [&total, &ahead].map(|value| graph.op("Neg", &[value]));
            let [left, right] = [&behind, &ahead].map(|value| graph.sigmoid(value));
            let [here, there] = [&back, &total].map(|value| graph.sigmoid(value));
            let both = graph.op("Mul", &[&here, &there]);
            [left, graph.op("Mul", &[&factor, &both]), right]
        }
        Chances::Davidson { log_nu } => {
            let tie = width.map_or_else(|| graph.real(log_nu), Into::into);
            of_odds(graph, margin, 0.5, &tie)
        }
        Chances::Calibrated { slope, offset, by_width } => {
            let offset = graph.real(offset);
            let tie = match width {
                Some(width) => {
                    let factor = graph.real(by_width);
                    let part = graph.op("Mul", &[&factor, width]);
                    graph.op("Add", &[&offset, &part])
                }
                None => offset,
            };
            of_odds(graph, margin, 0.5 * slope, &tie)
        }
    }
}

/// Probabilities in the proportions e^(−half) : e^tie : e^half, where half = factor·margin.
fn of_odds(graph: &mut Graph, margin: &str, factor: f64, tie: &str) -> [Tensor; 3] {
    let factor = graph.real(factor);
    let half = graph.op("Mul", &[&factor, margin]);
    let size = graph.op("Abs", &[&half]);
    let largest = graph.op("Max", &[&size, tie]);
    let minus = graph.op("Neg", &[&half]);
    let [left, tie, right] = [&minus, tie, &half].map(|log: &str| {
        let below = graph.op("Sub", &[log, &largest]);
        graph.exp(&below)
    });
    let sides = graph.op("Add", &[&left, &right]);
    let total = graph.op("Add", &[&sides, &tie]);
    [left, tie, right].map(|part| graph.op("Div", &[&part, &total]))
}
