//! From scores to classes and grades: votes, probabilities, thresholds.

use super::coupling;
use super::graph::{Axis, Graph, Tensor, int};
use super::proto::Element;
use super::scores::Precision;
use crate::model::{ClassRule, ClassScheme, GradeRule, Sigmoid};

/// Adds outputs `label`, `scores` (one of two classes, else one for each class) and, where there are any, `probabilities`.
pub(super) fn add(graph: &mut Graph, classes: &[String], rule: &ClassRule, machines: &str, precision: Precision) {
    let n = classes.len();
    let scores = match (n, rule.scheme) {
        (3.., ClassScheme::Ovo) => votes(graph, machines, n),
        _ => machines.into(),
    };
    let chances = rule.sigmoids.as_ref().map(|sigmoids| chances(graph, machines, sigmoids, rule.scheme, n));
    let number = match &chances {
        Some(chances) => largest(graph, chances),
        None if n <= 2 => {
            let zero = graph.real(0.0);
            let is_second = graph.op("GreaterOrEqual", &[&scores, &zero]);
            let number = graph.cast(&is_second, Element::Int64);
            graph.list(&number)
        }
        None => largest(graph, &scores),
    };
    let whole: Option<Vec<i64>> =
        classes.iter().map(|class| class.parse().ok().filter(|n: &i64| n.to_string() == *class)).collect();
    let (labels, kind) = match whole {
        Some(numbers) => (graph.ints(&numbers), Element::Int64),
        None => (graph.words(classes), Element::String),
    };
    let label = graph.gather(&labels, &number, 0);
    graph.output("label", &label, kind, &[Axis::Rows], "the class");
    let element = precision.element();
    let n_scores = if n <= 2 { 1 } else { n };
    let doc = if n <= 2 { "below 0: the first class" } else { "one for each class" };
    let scores = graph.cast(&scores, element);
    graph.output("scores", &scores, element, &[Axis::Rows, Axis::Of(n_scores)], doc);
    if let Some(chances) = chances {
        let chances = graph.cast(&chances, element);
        graph.output("probabilities", &chances, element, &[Axis::Rows, Axis::Of(n)], "of the classes in order");
    }
}

/// Adds outputs `label` and `score`.
pub(super) fn add_grades(graph: &mut Graph, rule: &GradeRule, score: &str, precision: Precision) {
    let thresholds = graph.reals(&[1, rule.thresholds.len()], &rule.thresholds);
    let reached = graph.op("GreaterOrEqual", &[score, &thresholds]);
    let reached = graph.cast(&reached, Element::Int64);
    let number = graph.sum(&reached, 1);
    let number = graph.list(&number);
    let is_whole = rule.grades.iter().all(|grade| grade.fract() == 0.0 && grade.abs() < 1e15);
    let (grades, kind) = if is_whole {
        (graph.ints(&rule.grades.iter().map(|&grade| grade as i64).collect::<Vec<_>>()), Element::Int64)
    } else {
        (graph.reals(&[rule.grades.len()], &rule.grades), Element::Double)
    };
    let label = graph.gather(&grades, &number, 0);
    graph.output("label", &label, kind, &[Axis::Rows], "the grade");
    let score = graph.list(score);
    let score = graph.cast(&score, precision.element());
    graph.output("score", &score, precision.element(), &[Axis::Rows], "higher is better");
}

/// The number of the largest column; of equal ones the first.
fn largest(graph: &mut Graph, values: &str) -> Tensor {
    graph.op_with("ArgMax", &[values], vec![int("axis", 1), int("keepdims", 0)])
}

/// Votes for each class, and a part below ½ that orders classes of as many votes by the sum of their scores.
fn votes(graph: &mut Graph, machines: &str, n: usize) -> Tensor {
    let sides = ClassScheme::Ovo.machines(n);
    // A row for each machine: 1 at the class that it may vote for.
    let row = |class: Option<usize>| (0..n).map(move |one| if Some(one) == class { 1.0 } else { 0.0 });
    let first: Vec<f64> = sides.iter().flat_map(|pair| row(pair.0)).collect();
    let second: Vec<f64> = sides.iter().flat_map(|pair| row(Some(pair.1))).collect();
    let sign: Vec<f64> = second.iter().zip(&first).map(|(b, a)| b - a).collect();
    let shape = [sides.len(), n];
    let [first, second, sign] = [first, second, sign].map(|values| graph.reals(&shape, &values));
    let (zero, one, three) = (graph.real(0.0), graph.real(1.0), graph.real(3.0));
    let is_second = graph.op("GreaterOrEqual", &[machines, &zero]);
    let is_second = graph.cast(&is_second, Element::Double);
    let is_first = graph.op("Sub", &[&one, &is_second]);
    let for_second = graph.op("MatMul", &[&is_second, &second]);
    let for_first = graph.op("MatMul", &[&is_first, &first]);
    let votes = graph.op("Add", &[&for_second, &for_first]);
    let sums = graph.op("MatMul", &[machines, &sign]);
    let size = graph.op("Abs", &[&sums]);
    let size = graph.op("Add", &[&size, &one]);
    let size = graph.op("Mul", &[&three, &size]);
    let part = graph.op("Div", &[&sums, &size]);
    graph.op("Add", &[&votes, &part])
}

/// Probabilities of all classes.
fn chances(graph: &mut Graph, machines: &str, sigmoids: &[Sigmoid], scheme: ClassScheme, n: usize) -> Tensor {
    let row = [1, sigmoids.len()];
    let slopes = graph.reals(&row, &sigmoids.iter().map(|s| s.slope).collect::<Vec<_>>());
    let offsets = graph.reals(&row, &sigmoids.iter().map(|s| s.offset).collect::<Vec<_>>());
    let product = graph.op("Mul", &[machines, &slopes]);
    let inner = graph.op("Add", &[&product, &offsets]);
    let each = graph.sigmoid(&inner);
    let (least, most) = (graph.real(1e-12), graph.real(1.0 - 1e-12));
    let each = graph.op("Max", &[&each, &least]);
    let each = graph.op("Min", &[&each, &most]);
    match scheme {
        _ if n == 2 => {
            let one = graph.real(1.0);
            let other = graph.op("Sub", &[&one, &each]);
            graph.beside(&[&other, &each])
        }
        ClassScheme::Ovo => coupling::add(graph, &each, n),
        _ => {
            let total = graph.sum(&each, 1);
            graph.op("Div", &[&each, &total])
        }
    }
}
