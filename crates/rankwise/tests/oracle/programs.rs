//! Machines that are linear programs, against the programs written out in full: HiGHS's optima (from
//! `fixtures/make_program_fixtures.py`), and Clarabel's for random data.

use rankwise::data::{Comparisons, Features, Groups, Items, Outcome, Pair, PairSet, Precision, Random, Ranking};
use rankwise::model::{CoefficientSign, ScoreFunction};
use rankwise::{CompareLp, Fit, Gamma, Kernel, Model, OneNormRankSvm, RankingVectorMachine, Stop};
use serde_json::Value;

use crate::oracle::conic::{Entries, minimum};
use crate::oracle::plain::{Draw, rows_of, weighted};

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(|v| v.as_f64().unwrap()).collect()
}

fn items(rows: &Value) -> Items {
    let d = list(&rows[0]).len();
    let values = list(rows).iter().flat_map(numbers).collect();
    Items::new(Features::dense(d, values, Precision::F64).unwrap(), None, None).unwrap()
}

fn kernel(of: &Value) -> Kernel {
    let gamma = Gamma::Value(of["gamma"].as_f64().unwrap());
    match of["name"].as_str().unwrap() {
        "linear" => Kernel::Linear,
        "rbf" => Kernel::Rbf { gamma },
        _ => {
            Kernel::Poly { gamma, coef0: of["coef0"].as_f64().unwrap(), degree: of["degree"].as_u64().unwrap() as u32 }
        }
    }
}

fn ranking(program: &Value) -> Ranking {
    let groups: Vec<String> = numbers(&program["groups"]).iter().map(f64::to_string).collect();
    let data = Ranking::new(items(&program["items"]), numbers(&program["labels"]), Some(Groups::from_ids(&groups)));
    data.unwrap().with_weights(numbers(&program["weights"])).unwrap()
}

fn comparisons(program: &Value) -> Comparisons {
    let sides = numbers(&program["left"]).into_iter().zip(numbers(&program["right"]));
    let pairs = sides.map(|(left, right)| Pair { left: left as u32, right: right as u32 }).collect();
    let outcomes = numbers(&program["outcomes"]).iter().map(|&sign| Outcome::of_margin(sign, 0.0)).collect();
    let set = PairSet::new(items(&program["items"]), pairs).unwrap();
    Comparisons::new(set, outcomes, Some(numbers(&program["weights"])), None).unwrap()
}

fn sign(program: &Value) -> CoefficientSign {
    if program["coefficients"] == "signed" { CoefficientSign::Signed } else { CoefficientSign::Nonnegative }
}

fn fit_ranker(program: &Value, data: &Ranking, tol: f64) -> Fit {
    let (c, kernel) = (program["C"].as_f64().unwrap(), kernel(&program["kernel"]));
    let fit = if program["method"] == "rvm" {
        RankingVectorMachine::new().c(c).kernel(kernel).coefficients(sign(program)).tol(tol).fit(data)
    } else {
        OneNormRankSvm::new().c(c).kernel(kernel).tol(tol).fit(data)
    };
    fit.unwrap_or_else(|error| panic!("{}: {error}", program["name"]))
}

/// C·Σ max(0, 1 − lead) over all pairs, one by one.
pub(super) fn losses(data: &Ranking, scores: &[f64], c: f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..data.n_items() {
        for j in 0..data.n_items() {
            if data.labels[i] > data.labels[j] && data.groups.numbers()[i] == data.groups.numbers()[j] {
                sum += c * data.weight(i) * data.weight(j) * (1.0 - (scores[i] - scores[j])).max(0.0);
            }
        }
    }
    sum
}

/// Σ|a| of the coefficients of a kernel model.
fn norm(model: &Model) -> f64 {
    match &model.scorer.function {
        ScoreFunction::Kernel { coefficients, .. } => coefficients.iter().map(|a| a.abs()).sum(),
        ScoreFunction::Linear { weights, .. } => weights.iter().map(|w| w.abs()).sum(),
        _ => unreachable!(),
    }
}

pub(super) fn close(found: f64, expected: f64, tol: f64, what: &str) {
    assert!((found - expected).abs() <= tol * expected.abs().max(1e-9), "{what}: {found}, not {expected}");
}

#[test]
fn the_optima_and_vectors_are_those_of_the_full_programs() {
    let fixtures: Value = serde_json::from_str(include_str!("../fixtures/linear_programs.json")).unwrap();
    let rankers: Vec<&Value> = list(&fixtures).iter().filter(|program| program["method"] != "compare-lp").collect();
    assert_eq!(rankers.len(), 11);
    for program in rankers {
        let name = program["name"].as_str().unwrap();
        let data = ranking(program);
        let fit = fit_ranker(program, &data, 1e-9);
        let training = &fit.model.training;
        let expected = program["objective"].as_f64().unwrap();
        close(training.objective, expected, 1e-6, name);
        assert!(training.stop == Stop::Converged && training.gap <= 1e-9, "{name}: {training:?}");
        let scores = fit.model.scorer.scores(&data.items).unwrap();
        let of_scores = losses(&data, &scores, training.c);
        let support: Vec<usize> = list(&program["support"]).iter().map(|v| v.as_u64().unwrap() as usize).collect();
        let n_coefficients = program["n_coefficients"].as_u64().unwrap() as usize;
        if program["method"] == "rank-l1" {
            // Which pairs make a function is not always unique: the norm is what the objective leaves.
            assert!(training.objective > of_scores, "{name}");
            assert!(training.support_pairs <= n_coefficients + 2, "{name}: {} pairs", training.support_pairs);
            continue;
        }
        assert_eq!(training.support, Some(support.len()), "{name}");
        if let ScoreFunction::Kernel { support: found, .. } = &fit.model.scorer.function {
            close(training.objective, of_scores + norm(&fit.model), 1e-9, name);
            assert_eq!(rows_of(found), rows_of(&data.items.features.select_rows(&support)), "{name}");
        }
    }
}

#[test]
fn comparisons_have_the_optima_of_the_full_programs() {
    let fixtures: Value = serde_json::from_str(include_str!("../fixtures/linear_programs.json")).unwrap();
    let mut n = 0;
    for program in list(&fixtures).iter().filter(|program| program["method"] == "compare-lp") {
        n += 1;
        let name = program["name"].as_str().unwrap();
        let data = comparisons(program);
        let machine = CompareLp::new().kernel(kernel(&program["kernel"])).tol(1e-9);
        let machine = machine.c(program["C"].as_f64().unwrap_or(f64::INFINITY));
        let fit = machine.fit(&data);
        if program["separable"] == false {
            assert!(matches!(&fit, Err(rankwise::Error::NotSeparable { .. })), "{name}: {fit:?}");
            continue;
        }
        let model = fit.unwrap().model;
        let training = &model.training;
        close(training.objective, program["objective"].as_f64().unwrap(), 1e-6, name);
        assert!(training.stop == Stop::Converged && training.gap <= 1e-9, "{name}: {training:?}");
        close(training.objective, objective_of(&machine, &model, &data), 1e-9, name);
        if let Some(beta) = program["beta"].as_f64() {
            close(model.beta.unwrap(), beta, 1e-5, name);
            let n_support = list(&program["support"]).len();
            match &model.scorer.function {
                ScoreFunction::Linear { weights, .. } => {
                    assert_eq!(weights.iter().filter(|w| **w != 0.0).count(), n_support, "{name}");
                }
                _ => assert_eq!(training.support, Some(n_support), "{name}"),
            }
        }
    }
    assert_eq!(n, 7);
}

/// μ, or ‖a‖₁ + losses: from what the model says.
pub(super) fn objective_of(machine: &CompareLp, model: &Model, data: &Comparisons) -> f64 {
    let scores = model.scorer.scores(&data.set.items).unwrap();
    let mut sum = 0.0;
    let mut margin = f64::INFINITY;
    let beta = model.beta.unwrap_or(-1.0);
    for (k, pair) in data.set.pairs.iter().enumerate() {
        if data.weight(k) == 0.0 {
            continue;
        }
        let lead = scores[pair.right as usize] - scores[pair.left as usize];
        let (slack, own) = match data.outcomes[k] {
            Outcome::Tie => (1.0 + beta - beta * lead.abs(), 1.0 - lead.abs()),
            outcome => {
                let lead = f64::from(outcome.sign()) * lead;
                (1.0 - beta + beta * lead, lead - 1.0)
            }
        };
        let factor = if data.outcomes[k] == Outcome::Tie { machine.tie_weight } else { 1.0 };
        sum += factor * data.weight(k) * slack.max(0.0);
        margin = margin.min(own);
    }
    if machine.c.is_finite() { machine.c * sum - beta * norm(model) } else { margin }
}

/// min Σa + costs·ξ, a ≥ 0, leads·a ≥ 1 − ξ.
fn conic_rank(data: &Ranking, kernel: Kernel, c: f64, columns: impl Fn(&[Vec<f64>], usize, usize) -> Vec<f64>) -> f64 {
    let rows = rows_of(&data.items.features);
    let function = kernel.resolve(&data.items.features).unwrap();
    // What has no weight is not there.
    let value = |x: &[f64], at: usize| if data.weight(at) > 0.0 { function.value(x, &rows[at]) } else { 0.0 };
    let k: Vec<Vec<f64>> = rows.iter().map(|x| (0..rows.len()).map(|at| value(x, at)).collect()).collect();
    let mut leads = Vec::new();
    for i in 0..rows.len() {
        for j in 0..rows.len() {
            let is_pair = data.labels[i] > data.labels[j] && data.groups.numbers()[i] == data.groups.numbers()[j];
            if is_pair && data.weight(i) * data.weight(j) > 0.0 {
                leads.push((columns(&k, i, j), c * data.weight(i) * data.weight(j)));
            }
        }
    }
    let m = leads[0].0.len();
    let n = m + leads.len();
    let (mut a, mut b, mut q) = (Entries::new(n), Vec::new(), vec![1.0; n]);
    for (at, (lead, cost)) in leads.iter().enumerate() {
        q[m + at] = *cost;
        a.row(lead.iter().enumerate().map(|(j, v)| (j, -v)).chain([(m + at, -1.0)]));
        b.push(-1.0);
    }
    (0..n).for_each(|at| {
        a.row([(at, -1.0)]);
        b.push(0.0);
    });
    minimum(&vec![0.0; n], &q, &a, &b, 0)
}

fn random_ranking(seed: u64, n: usize, groups: usize, is_weighted: bool) -> Ranking {
    let mut random = Random::new(seed);
    let rows: Vec<f64> = (0..3 * n).map(|_| random.normal()).collect();
    let label = |x: &[f64]| (2.0 * (x[0] - 0.3 * x[1] * x[1])).round();
    let labels = rows.chunks(3).map(|x| label(x) + if random.between(0.0, 1.0) < 0.2 { 1.0 } else { 0.0 }).collect();
    let items = Items::new(Features::dense(3, rows, Precision::F64).unwrap(), None, None).unwrap();
    let ids: Vec<String> = (0..n).map(|at| (at % groups).to_string()).collect();
    let data = Ranking::new(items, labels, Some(Groups::from_ids(&ids))).unwrap();
    if !is_weighted {
        return data;
    }
    let weights = (0..n).map(|_| random.below(4) as f64 / 2.0).collect();
    data.with_weights(weights).unwrap()
}

#[test]
fn random_rankings_have_the_optima_of_an_interior_point_method() {
    for seed in 0..6 {
        let data = random_ranking(seed, 16, 1 + seed as usize % 2, seed % 3 == 0);
        let kernel = [Kernel::Linear, Kernel::Rbf { gamma: Gamma::Value(0.4) }][seed as usize % 2];
        let c = [0.05, 1.0, 30.0][seed as usize % 3];
        let what = format!("seed {seed}");
        let signed = conic_rank(&data, kernel, c, |k, i, j| {
            let lead = |at: usize| k[i][at] - k[j][at];
            (0..k.len()).map(lead).chain((0..k.len()).map(|at| -lead(at))).collect()
        });
        let machine = RankingVectorMachine::new().c(c).kernel(kernel).tol(1e-8);
        let training = machine.fit(&data).unwrap().model.training;
        close(training.objective, signed, 1e-6, &what);
        // The gap that is told is not below the one there is.
        let loose = machine.clone().tol(0.05).fit(&data).unwrap().model.training;
        assert!(loose.objective * (1.0 - loose.gap) <= signed * (1.0 + 1e-7), "{what}: {loose:?}");
        let nonnegative = conic_rank(&data, kernel, c, |k, i, j| (0..k.len()).map(|at| k[i][at] - k[j][at]).collect());
        let machine = machine.coefficients(CoefficientSign::Nonnegative);
        close(machine.fit(&data).unwrap().model.training.objective, nonnegative, 1e-6, &what);
        let is_pair = |u: usize, v: usize| {
            data.labels[u] > data.labels[v]
                && data.groups.numbers()[u] == data.groups.numbers()[v]
                && data.weight(u) * data.weight(v) > 0.0
        };
        let pairs = conic_rank(&data, kernel, c, |k, i, j| {
            let all = (0..k.len()).flat_map(|u| (0..k.len()).map(move |v| (u, v))).filter(|&(u, v)| is_pair(u, v));
            all.map(|(u, v)| k[i][u] - k[i][v] - k[j][u] + k[j][v]).collect()
        });
        let svm = OneNormRankSvm::new().c(c).kernel(kernel).tol(1e-8);
        close(svm.fit(&data).unwrap().model.training.objective, pairs, 1e-6, &what);
    }
}

#[test]
fn random_comparisons_have_the_optima_of_an_interior_point_method() {
    for seed in 0..6 {
        let ties = [0.5, 0.2, 0.8][seed as usize % 3];
        let data = weighted(Draw { seed, items: 12, features: 3, pairs: 30, ties, noise: 0.6 }.data(), seed);
        let machine = CompareLp::new().c([0.1, 1.0, 20.0][seed as usize % 3]).tie_weight(1.5).tol(1e-8);
        let rows = rows_of(&data.set.items.features);
        // (w+, w−, β, ξ)
        let n = 7 + data.n_pairs();
        let (mut a, mut b, mut q) = (Entries::new(n), Vec::new(), vec![1.0; n]);
        q[6] = 0.0;
        for (k, pair) in data.set.pairs.iter().enumerate() {
            let outcome = data.outcomes[k];
            q[7 + k] = machine.c * data.weight(k) * if outcome == Outcome::Tie { 1.5 } else { 1.0 };
            let (x, z) = (&rows[pair.left as usize], &rows[pair.right as usize]);
            let signs: &[(f64, f64)] = match outcome {
                Outcome::Tie => &[(1.0, 1.0), (-1.0, 1.0)],
                Outcome::Right => &[(-1.0, -1.0)],
                Outcome::Left => &[(1.0, -1.0)],
            };
            for &(of_lead, of_beta) in signs {
                let lead = (0..3).map(|j| of_lead * (z[j] - x[j]));
                let entries: Vec<f64> = lead.collect();
                let both = entries.iter().enumerate().flat_map(|(j, v)| [(j, *v), (3 + j, -*v)]);
                a.row(both.chain([(6, of_beta), (7 + k, -1.0)]));
                b.push(-1.0);
            }
        }
        (0..n).for_each(|at| {
            a.row([(at, if at == 6 { 1.0 } else { -1.0 })]);
            b.push(if at == 6 { -1.0 } else { 0.0 });
        });
        let expected = minimum(&vec![0.0; n], &q, &a, &b, 0);
        let model = machine.fit(&data).unwrap().model;
        close(model.training.objective, expected, 1e-6, &format!("seed {seed}"));
        close(objective_of(&machine, &model, &data), expected, 1e-6, &format!("seed {seed}"));
    }
}
