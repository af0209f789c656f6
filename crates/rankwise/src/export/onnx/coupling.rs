//! Probabilities of many classes from those of all pairs of them, as `model/coupling` has them: the minimum over θ of
//! Σ [r log(r/μ) + (1 − r) log((1 − r)/(1 − μ))] with μ_ij = 1/(1 + e^(θ_i − θ_j)), all items at once in a loop of Newton's steps.
//!
//! A step is shortened to ln(1 + d)/d of itself, where d is the farthest that any θ_j − θ_i would move: the third derivative of
//! the logistic loss is at most its second, so that the function falls by such a step wherever it starts (Sun and
//! Tran-Dinh 2019), and near the minimum it is the whole step. No value needs to be compared with another.

use super::graph::{Axis, Graph, Tensor, graph as inner_graph, int, ints};
use super::proto::Element;

/// Steps; far more than it takes.
const MOST_STEPS: i64 = 200;

/// One row of probabilities for each row of `pairs`, which has P(j among i and j) for i < j in order.
pub(super) fn add(graph: &mut Graph, pairs: &str, n: usize) -> Tensor {
    let sides: Vec<(usize, usize)> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
    let m = sides.len();
    let first = graph.ints(&sides.iter().map(|pair| pair.0 as i64).collect::<Vec<_>>());
    let second = graph.ints(&sides.iter().map(|pair| pair.1 as i64).collect::<Vec<_>>());
    // Where in (values of pairs, their negatives, 0) each entry of an antisymmetric or a symmetric matrix stands.
    let mut antisymmetric = vec![2 * m as i64; n * n];
    let mut symmetric = vec![m as i64; n * n];
    for (at, &(i, j)) in sides.iter().enumerate() {
        (antisymmetric[j * n + i], antisymmetric[i * n + j]) = (at as i64, (m + at) as i64);
        (symmetric[j * n + i], symmetric[i * n + j]) = (at as i64, at as i64);
    }
    let places = Places {
        antisymmetric: graph.ints(&antisymmetric),
        symmetric: graph.ints(&symmetric),
        square: graph.ints(&[-1, n as i64, n as i64]),
        first,
        second,
    };
    let nothing = graph.reals(&[m, n], &vec![0.0; m * n]);
    let start = graph.op("MatMul", &[pairs, &nothing]);
    let body = step(pairs, &places, n);
    let trips = graph.count(MOST_STEPS);
    let go_on = graph.cast(&trips, Element::Bool);
    let theta = graph.op_with("Loop", &[&trips, &go_on, &start], vec![inner_graph("body", body.finish("step"))]);
    softmax(graph, &theta)
}

/// Tensors of the graph around the loop.
struct Places {
    first: Tensor,
    second: Tensor,
    antisymmetric: Tensor,
    symmetric: Tensor,
    square: Tensor,
}

/// One step of Newton's method: θ in, θ out, and whether to go on.
fn step(pairs: &str, places: &Places, n: usize) -> Graph {
    let mut graph = Graph::inner("step_");
    let g = &mut graph;
    g.input("step_number", Element::Int64, &[], "");
    g.input("step_condition", Element::Bool, &[], "");
    let theta = g.input("step_theta", Element::Double, &[Axis::Rows, Axis::Of(n)], "");
    let of_second = g.gather(&theta, &places.second, 1);
    let of_first = g.gather(&theta, &places.first, 1);
    let x = g.op("Sub", &[&of_second, &of_first]);
    let mu = g.sigmoid(&x);
    let zero = g.real(0.0);
    // Σ over the other classes, by way of a square matrix.
    let pull = g.op("Sub", &[&mu, pairs]);
    let back = g.op("Neg", &[&pull]);
    let edge = g.entry(&pull, 0, 1);
    let none = g.op("Mul", &[&edge, &zero]);
    let values = g.beside(&[&pull, &back, &none]);
    let values = g.gather(&values, &places.antisymmetric, 1);
    let values = g.op("Reshape", &[&values, &places.square]);
    let slope = g.sum(&values, 2); // [rows, n, 1]
    // The curvature: a Laplacian, with a constant that keeps the sum of θ where it is.
    let one = g.real(1.0);
    let rest = g.op("Sub", &[&one, &mu]);
    let bend = g.op("Mul", &[&mu, &rest]);
    let least = g.real(1e-300);
    let bend = g.op("Max", &[&bend, &least]);
    let values = g.beside(&[&bend, &none]);
    let values = g.gather(&values, &places.symmetric, 1);
    let between = g.op("Reshape", &[&values, &places.square]);
    let own = g.sum(&between, 2);
    let unit: Vec<f64> = (0..n * n).map(|at| if at / n == at % n { 1.0 } else { 0.0 }).collect();
    let unit = g.reals(&[1, n, n], &unit);
    let diagonal = g.op("Mul", &[&own, &unit]);
    let laplacian = g.op("Sub", &[&diagonal, &between]);
    let trace = g.sum(&own, 1);
    let share = g.real(1.0 / (n * n) as f64);
    let constant = g.op("Mul", &[&trace, &share]);
    let curve = g.op("Add", &[&laplacian, &constant]);
    let step = solved(g, &curve, &slope, n); // −step
    let step = g.list_rows(&step, n);
    let slope = g.list_rows(&slope, n);
    let product = g.op("Mul", &[&slope, &step]);
    let fall = g.sum(&product, 1);
    // How far to go.
    let of_second = g.gather(&step, &places.second, 1);
    let of_first = g.gather(&step, &places.first, 1);
    let moves = g.op("Sub", &[&of_second, &of_first]);
    let moves = g.op("Abs", &[&moves]);
    let farthest = g.op_with("ReduceMax", &[&moves], vec![ints("axes", &[1]), int("keepdims", 1)]);
    let tiny = g.real(1e-6);
    let is_far = g.op("Greater", &[&farthest, &tiny]);
    let total = g.op("Add", &[&one, &farthest]);
    let log = g.op("Log", &[&total]);
    let divisor = g.op("Max", &[&farthest, &tiny]);
    let shortened = g.op("Div", &[&log, &divisor]);
    let part = g.op("Where", &[&is_far, &shortened, &one]);
    let go = g.op("Mul", &[&part, &step]);
    let next = g.op("Sub", &[&theta, &go]);
    let enough = g.real(1e-20);
    let is_open = g.op("Greater", &[&fall, &enough]);
    let is_open = g.cast(&is_open, Element::Int64);
    let open = g.sum(&is_open, 0);
    let open = g.cast(&open, Element::Bool);
    let scalar = g.ints(&[]);
    let open = g.op("Reshape", &[&open, &scalar]);
    g.output("step_go_on", &open, Element::Bool, &[], "");
    g.output("step_next", &next, Element::Double, &[Axis::Rows, Axis::Of(n)], "");
    graph
}

/// curve⁻¹·slope, by Gauss and Jordan's elimination of all items at once.
fn solved(g: &mut Graph, curve: &str, slope: &str, n: usize) -> Tensor {
    let mut both = g.op_with("Concat", &[curve, slope], vec![int("axis", 2)]);
    for pivot in 0..n {
        let row = g.entry(&both, pivot, 1);
        let column = g.entry(&both, pivot, 2);
        let corner = g.entry(&row, pivot, 2);
        let unit: Vec<f64> = (0..n).map(|at| if at == pivot { 1.0 } else { 0.0 }).collect();
        let unit = g.reals(&[1, n, 1], &unit);
        let row = g.op("Div", &[&row, &corner]);
        // The row itself becomes 1 times the divided row, others lose their part of it.
        let column = g.op("Sub", &[&column, &unit]);
        let product = g.op("Mul", &[&column, &row]);
        both = g.op("Sub", &[&both, &product]);
    }
    g.entry(&both, n, 2)
}

/// e^θ in parts of their sum.
fn softmax(graph: &mut Graph, theta: &str) -> Tensor {
    let attributes = vec![ints("axes", &[1]), int("keepdims", 1)];
    let highest = graph.op_with("ReduceMax", &[theta], attributes);
    let below = graph.op("Sub", &[theta, &highest]);
    let parts = graph.exp(&below);
    let total = graph.sum(&parts, 1);
    graph.op("Div", &[&parts, &total])
}
