//! Hard tubes beside an interior-point solver: which width is the least, and the shortest function within a wider one.

use rankwise::data::{Features, Items, Precision, Random, Ranking};
use rankwise::kernel::{Gamma, KernelFunction};
use rankwise::{Error, Kernel, Stop, SvmRegressor};

use super::classify::items;
use super::conic::{Entries, factor, minimum};
use super::regress::half_square;

fn hard(kernel: Kernel, epsilon: f64) -> SvmRegressor {
    SvmRegressor::new().c(f64::INFINITY).kernel(kernel).epsilon(epsilon)
}

fn range(labels: &[f64]) -> f64 {
    let fold = |best: fn(f64, f64) -> f64| labels.iter().copied().reduce(best).unwrap();
    fold(f64::max) - fold(f64::min)
}

/// Fits; every label must be within the tube, and the objective that of the model. Returns the objective.
fn answered(name: &str, rows: &[Vec<f64>], labels: &[f64], kernel: Kernel, epsilon: f64) -> f64 {
    let data = Ranking::new(items(rows), labels.to_vec(), None).unwrap();
    let model = hard(kernel, epsilon).fit(&data).unwrap_or_else(|error| panic!("{name}: {error}")).model;
    let values = model.scorer.scores(&data.items).unwrap();
    let off = values.iter().zip(labels).map(|(f, y)| (f - y).abs() - epsilon).fold(f64::NEG_INFINITY, f64::max);
    assert!(off <= 1e-9 * range(labels), "{name}: {off:e} outside, of {}", range(labels));
    let told = model.training.objective;
    let own = half_square(&model);
    let near = if kernel == Kernel::Linear { 1e-9 } else { 1e-6 };
    assert!((told - own).abs() <= near * own + 1e-20 * range(labels).powi(2), "{name}: {told} and {own}");
    assert_eq!(model.training.stop, Stop::Converged, "{name}: {:e}", model.training.gap);
    assert!(model.training.gap <= hard(kernel, epsilon).effort.tol, "{name}: {:e}", model.training.gap);
    own
}

fn refused(name: &str, rows: &[Vec<f64>], labels: &[f64], kernel: Kernel, epsilon: f64) -> String {
    let data = Ranking::new(items(rows), labels.to_vec(), None).unwrap();
    match hard(kernel, epsilon).fit(&data) {
        Err(Error::NotSeparable { problem, .. }) => problem,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_hard_tube_of_ten_points_on_a_zigzag_is_found_at_the_default_tolerance() {
    let rows: Vec<Vec<f64>> = (0..10).map(|x| vec![f64::from(x)]).collect();
    let labels = [0.3, 2.7, 4.3, 6.7, 8.3, 10.7, 12.3, 14.7, 16.3, 18.7];
    for (epsilon, slope) in
        [(0.21, 1.997_777_777_777_777_6), (0.3, 1.977_777_777_777_777_8), (0.5, 1.933_333_333_333_333_3)]
    {
        let found = answered(&format!("{epsilon}"), &rows, &labels, Kernel::Linear, epsilon);
        let expected: f64 = 0.5 * slope * slope;
        assert!((found - expected).abs() < 1e-9, "{epsilon}: {found} {expected}");
    }
    answered("1", &rows, &labels, Kernel::Linear, 1.0);
    refused("0.1", &rows, &labels, Kernel::Linear, 0.1);
}

/// One random problem: rows with copies and whole numbers among them, labels, and the rows as the kernel sees them.
struct Draw {
    rows: Vec<Vec<f64>>,
    labels: Vec<f64>,
    kernel: Kernel,
    places: Vec<Vec<f64>>,
}

fn draw(seed: u64, kind: usize) -> Draw {
    let mut random = Random::new(seed);
    let (n, d) = (2 + random.below(if kind == 1 { 31 } else { 59 }), 1 + random.below(5));
    let is_whole = random.below(3) == 0;
    let number = |random: &mut Random| if is_whole { random.between(-4.0, 4.0).round() } else { random.normal() };
    let mut rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| number(&mut random)).collect()).collect();
    if random.below(3) == 0 {
        (0..n / 3).for_each(|k| rows[n - 1 - k] = rows[k].clone());
    }
    if kind == 0 && random.below(4) == 0 {
        rows.iter_mut().for_each(|row| row[0] = 1000.0 * row[0] + 1e6);
    }
    let noise = [0.0, 0.1, 1.0][random.below(3)];
    let unit = [1e-6, 1.0, 1e6][random.below(3)];
    let label = |row: &Vec<f64>, random: &mut Random| {
        unit * (7.0 + 2.0 * row[d - 1] + row[d - 1].sin() + noise * random.normal())
    };
    let labels: Vec<f64> = rows.iter().map(|row| label(row, &mut random)).collect();
    let gamma = Gamma::Value([0.3, 1.0, 3.0][random.below(3)]);
    let (kernel, function) = match (kind, gamma) {
        (1, Gamma::Value(gamma)) => (Kernel::rbf(gamma), KernelFunction::Rbf { gamma }),
        (2, Gamma::Value(value)) => {
            let degree = 1 + random.below(2) as u32;
            (Kernel::Poly { gamma, coef0: 1.0, degree }, KernelFunction::Poly { gamma: value, coef0: 1.0, degree })
        }
        _ => (Kernel::Linear, KernelFunction::Linear),
    };
    let places = match kernel {
        Kernel::Linear => rows.clone(),
        _ => factor(rows.iter().map(|x| rows.iter().map(|y| function.value(x, y)).collect()).collect()),
    };
    Draw { rows, labels, kernel, places }
}

impl Draw {
    fn has_copies(&self) -> bool {
        self.rows.iter().enumerate().any(|(at, row)| self.rows[..at].contains(row))
    }

    /// The least of p·½‖w‖² + q·ε over (w, b, ε) with every label within ε of the function; `width` fixes ε. In units of labels
    /// and of places.
    fn least(&self, width: Option<f64>) -> f64 {
        let d = self.places[0].len();
        let middle = self.labels.iter().sum::<f64>() / self.labels.len() as f64;
        let unit = range(&self.labels);
        let mean = |at: usize| self.places.iter().map(|place| place[at]).sum::<f64>() / self.places.len() as f64;
        let centre: Vec<f64> = (0..d).map(mean).collect();
        let size = self.size();
        let (mut a, mut b) = (Entries::new(d + 2), Vec::new());
        if let Some(width) = width {
            a.row([(d + 1, 1.0)]);
            b.push(width / unit);
        }
        let n_equal = b.len();
        for (place, label) in self.places.iter().zip(&self.labels) {
            for sign in [1.0, -1.0] {
                let row = place.iter().zip(&centre).enumerate().map(|(at, (v, c))| (at, sign * (v - c) / size));
                a.row(row.chain([(d, sign), (d + 1, -1.0)]));
                b.push(sign * (label - middle) / unit);
            }
        }
        a.row([(d + 1, -1.0)]);
        b.push(0.0);
        let (mut p, mut q) = (vec![0.0; d + 2], vec![0.0; d + 2]);
        match width {
            Some(_) => p[..d].fill(1.0),
            None => q[d + 1] = 1.0,
        }
        minimum(&p, &q, &a, &b, n_equal)
    }

    /// The longest place, from their middle.
    fn size(&self) -> f64 {
        let d = self.places[0].len();
        let mean = |at: usize| self.places.iter().map(|place| place[at]).sum::<f64>() / self.places.len() as f64;
        let centre: Vec<f64> = (0..d).map(mean).collect();
        let far = |place: &Vec<f64>| place.iter().zip(&centre).map(|(v, c)| (v - c) * (v - c)).sum::<f64>().sqrt();
        self.places.iter().map(far).fold(0.0, f64::max).max(1e-300)
    }
}

/// Over random problems of one kind: half of them in a tube that is wide enough, half in one that is not.
fn random_tubes(kind: usize) {
    let (mut n_found, mut n_refused) = (0, 0);
    let mut seed = 1000 * kind as u64;
    while n_found < 170 || n_refused < 170 {
        seed += 1;
        let draw = draw(seed, kind);
        let unit = range(&draw.labels);
        if unit == 0.0 {
            continue;
        }
        if n_found >= 170 && kind == 1 && !draw.has_copies() {
            continue; // some function of the kernel goes through all points
        }
        let name = format!("kind {kind}, seed {seed}, {} items", draw.rows.len());
        let narrowest = draw.least(None).max(0.0) * unit;
        if n_found < 170 {
            // Narrow tubes of a kernel need functions longer than floating point can tell.
            let least = if kind == 1 { 0.2 } else { 0.02 };
            let more = [1.0, least, 0.5, 0.3][seed as usize % 4] * 0.3;
            let epsilon = narrowest * (1.0 + 1e-3) + more * unit;
            let found = answered(&name, &draw.rows, &draw.labels, draw.kernel, epsilon);
            let expected = draw.least(Some(epsilon)) * (unit / draw.size()).powi(2);
            let off = (found - expected).abs();
            assert!(off <= 1e-6 * expected + 1e-8 * (unit / draw.size()).powi(2), "{name}: {found}, not {expected}");
            n_found += 1;
        }
        if narrowest > 1e-4 * unit && n_refused < 170 {
            refused(&name, &draw.rows, &draw.labels, draw.kernel, narrowest * (1.0 - 1e-3));
            n_refused += 1;
        }
    }
}

#[test]
fn random_linear_tubes_are_found_or_refuted() {
    random_tubes(0);
}

#[test]
fn random_rbf_tubes_are_found_or_refuted() {
    random_tubes(1);
}

#[test]
fn random_poly_tubes_are_found_or_refuted() {
    random_tubes(2);
}

#[test]
fn a_tube_that_no_function_stays_in_names_the_labels_that_contradict() {
    let rows: Vec<Vec<f64>> = [0.5, 1.0, 2.0, 1.0, 7.0].iter().map(|x| vec![*x]).collect();
    let labels = [0.0, 0.2, 3.0, 5.0, 1.0];
    for kernel in [Kernel::rbf(1.0), Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 4 }] {
        let problem = refused("twins", &rows, &labels, kernel, 0.1);
        assert!(problem.contains("numbers 2, 4 contradict one another"), "{kernel:?} {problem}");
    }
}

#[test]
fn wide_and_long_and_far_tables_have_hard_tubes() {
    let mut random = Random::new(4);
    let mut table =
        |n: usize, d: usize| -> Vec<Vec<f64>> { (0..n).map(|_| (0..d).map(|_| random.normal()).collect()).collect() };
    let label = |row: &Vec<f64>| 3.0 + row[0] + row[1].abs();
    // More features than items; more items than features; few of each, far from zero and in very different units.
    for (n, d) in [(30, 200), (400, 60), (1000, 3)] {
        let rows = table(n, d);
        let labels: Vec<f64> = rows.iter().map(label).collect();
        let epsilon = if d > n { 0.05 } else { 3.0 };
        answered(&format!("{n} {d}"), &rows, &labels, Kernel::Linear, epsilon);
    }
    let rows: Vec<Vec<f64>> =
        table(40, 3).iter().map(|x| vec![1.7e9 + 1e5 * x[0].round(), 1e-3 * x[1], x[2]]).collect();
    let labels: Vec<f64> = rows.iter().map(|x| 2.0 + 500.0 * x[1] - x[2]).collect();
    answered("units", &rows, &labels, Kernel::Linear, 0.01);
}

#[test]
fn given_kernel_values_have_hard_tubes() {
    let (rows, labels) = super::regress::bent(50, 6);
    let kernel = KernelFunction::Rbf { gamma: 0.8 };
    let matrix: Vec<f64> = rows.iter().flat_map(|a| rows.iter().map(|b| kernel.value(a, b))).collect();
    let given = hard(Kernel::rbf(0.8), 0.5).fit_given(&matrix, &labels, None).unwrap();
    let values = given.scores_of_rows(&matrix).unwrap();
    let off = values.iter().zip(&labels).map(|(f, y)| (f - y).abs() - 0.5).fold(0.0, f64::max);
    assert!(off <= 1e-9 * range(&labels), "{off:e}");
    let narrow = Features::dense(1, vec![1.0, 1.0], Precision::F64).unwrap();
    let twins = Ranking::new(Items::new(narrow, None, None).unwrap(), vec![0.0, 1.0], None).unwrap();
    assert!(matches!(hard(Kernel::Linear, 0.4).fit(&twins), Err(Error::NotSeparable { .. })));
    assert!(hard(Kernel::Linear, 0.5).fit(&twins).is_ok());
}

/// Between different items there is always a function of this kernel, but its coefficients may need more digits than there are:
/// that is no contradiction, and nobody is named for one.
#[test]
fn a_function_that_floating_point_cannot_hold_is_no_contradiction() {
    let mut random = Random::new(20);
    let mut n_refused = 0;
    for _ in 0..20 {
        let rows: Vec<Vec<f64>> = (0..20).map(|at| vec![0.3 * f64::from(at)]).collect();
        let labels: Vec<f64> = rows.iter().map(|row| row[0].sin() + 0.2 * random.normal()).collect();
        let data = Ranking::new(items(&rows), labels, None).unwrap();
        match hard(Kernel::rbf(0.3), 0.05).fit(&data) {
            Ok(_) => {}
            Err(Error::NotSeparable { problem, .. }) => {
                n_refused += 1;
                assert!(problem.contains("as far as floating point can tell"), "{problem}");
                assert!(!problem.contains("contradict"), "{problem}");
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(n_refused > 5, "{n_refused}");
}

/// What is to be the same everywhere has no range that anything could be measured by.
#[test]
fn equal_labels_have_hard_tubes() {
    let mut random = Random::new(9);
    for (epsilon, unit) in [(0.1, 1.0), (0.0, 1.0), (0.1, 1e-150), (0.0, 0.0), (0.5, 1e6)] {
        let rows: Vec<Vec<f64>> = (0..6).map(|at| vec![f64::from(at), random.normal()]).collect();
        let spread = if epsilon > 0.0 { 0.1 * f64::min(epsilon, unit) } else { 0.0 };
        let labels: Vec<f64> = (0..6).map(|_| 5.0 * unit + spread * random.normal().clamp(-4.0, 4.0)).collect();
        let poly = Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 };
        let sigmoid = Kernel::Sigmoid { gamma: Gamma::Value(1.0), coef0: 0.0 };
        for kernel in [Kernel::Linear, Kernel::rbf(1.0), poly, sigmoid] {
            let data = Ranking::new(items(&rows), labels.clone(), None).unwrap();
            let model = hard(kernel, epsilon).fit(&data).unwrap().model;
            let values = model.scorer.scores(&data.items).unwrap();
            let off = values.iter().zip(&labels).map(|(f, y)| (f - y).abs() - epsilon).fold(0.0, f64::max);
            assert!(off <= 1e-15 * unit && model.training.objective == 0.0, "{kernel:?} {epsilon} {unit}: {off}");
        }
    }
}

/// A small multiplier of an item that is far from the others is not rounding, and the others alone contradict nobody.
#[test]
fn items_that_are_named_contradict_one_another() {
    let rows: Vec<Vec<f64>> = [1.7e9, 1.7e9 + 1.0, 1.7e9 + 5.0, 0.0].iter().map(|x| vec![*x]).collect();
    let problem = refused("time stamps", &rows, &[0.0, 1.0, 5.0, 0.0], Kernel::Linear, 0.1);
    assert!(problem.contains(", 4 contradict one another"), "{problem}");
}

/// With a kernel of squares below 0 no bound says that there is no function; copies of an item still do.
#[test]
fn a_sigmoid_kernel_proves_nothing_but_what_copies_say() {
    let sigmoid = Kernel::Sigmoid { gamma: Gamma::Value(0.09), coef0: 0.0 };
    let fit = |rows: &[f64], labels: &[f64]| {
        let rows: Vec<Vec<f64>> = rows.iter().map(|x| vec![*x]).collect();
        hard(sigmoid, 0.1).fit(&Ranking::new(items(&rows), labels.to_vec(), None).unwrap())
    };
    assert!(!matches!(fit(&[0.0, 2.0, 7.0], &[1.0, 5.0, 15.0]), Err(Error::NotSeparable { .. })));
    assert!(matches!(fit(&[1.0, 1.0, 7.0], &[1.0, 5.0, 15.0]), Err(Error::NotSeparable { .. })));
}
