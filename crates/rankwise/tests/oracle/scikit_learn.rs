//! Objectives of independent solvers (scikit-learn's SVC on the explicit flipped pairs, Clarabel), computed by
//! `fixtures/make_comparison_fixtures.py`.

use rankwise::data::{Comparisons, Features, Items, Outcome, Pair, PairSet, Precision};
use rankwise::model::{ThresholdRule, TieRegion};
use rankwise::{CompareRank, CompareSvm, Fit, Gamma, Kernel, Loss, Stop, Variant};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(number).collect()
}

pub(crate) struct Problem {
    pub(crate) name: String,
    pub(crate) data: Comparisons,
    pub(crate) kernel: Kernel,
    pub(crate) loss: Loss,
    pub(crate) c: f64,
    pub(crate) tie_region: TieRegion,
    objectives: Value,
}

pub(crate) fn problems() -> Vec<Problem> {
    let text = include_str!("../fixtures/comparison.json");
    let json: Value = serde_json::from_str(text).unwrap();
    let list = json.as_array().or_else(|| json["problems"].as_array()).expect("a list of problems");
    list.iter()
        .map(|p| {
            let rows: Vec<Vec<f64>> = p["items"].as_array().unwrap().iter().map(numbers).collect();
            let items = Features::dense(rows[0].len(), rows.concat(), Precision::Auto).unwrap();
            let pairs = p["pairs"]
                .as_array()
                .unwrap()
                .iter()
                .map(|pair| Pair { left: pair[0].as_u64().unwrap() as u32, right: pair[1].as_u64().unwrap() as u32 });
            let set = PairSet::new(Items::new(items, None, None).unwrap(), pairs.collect()).unwrap();
            let outcomes = numbers(&p["outcomes"]).iter().map(|&o| Outcome::of_margin(o, 0.5)).collect();
            let weights = (!p["weights"].is_null()).then(|| numbers(&p["weights"]));
            let gamma = Gamma::Value(number(&p["kernel"]["gamma"]));
            let coef0 = number(&p["kernel"]["coef0"]);
            let degree = number(&p["kernel"]["degree"]) as u32;
            Problem {
                name: p["name"].as_str().unwrap().to_string(),
                data: Comparisons::new(set, outcomes, weights, None).unwrap(),
                kernel: match p["kernel"]["name"].as_str().unwrap() {
                    "linear" => Kernel::Linear,
                    "poly" => Kernel::Poly { gamma, coef0, degree },
                    "rbf" => Kernel::Rbf { gamma },
                    "sigmoid" => Kernel::Sigmoid { gamma, coef0 },
                    other => panic!("unknown kernel {other}"),
                },
                loss: if p["loss"] == "hinge" { Loss::Hinge } else { Loss::SquaredHinge },
                c: number(&p["C"]),
                tie_region: if p["tie_region"] == "always" { TieRegion::Always } else { TieRegion::Free },
                objectives: p["objectives"].clone(),
            }
        })
        .collect()
}

fn fit(problem: &Problem, method: &str) -> Fit {
    let rank = |variant| {
        CompareRank::new(variant).c(problem.c).kernel(problem.kernel).loss(problem.loss).tol(1e-6).fit(&problem.data)
    };
    match method {
        "compare" => CompareSvm::new()
            .c(problem.c)
            .kernel(problem.kernel)
            .loss(problem.loss)
            .tie_region(problem.tie_region)
            .threshold(ThresholdRule::Model)
            .tol(1e-6)
            .fit(&problem.data),
        "rank" => rank(Variant::Rank),
        _ => rank(Variant::Rank2),
    }
    .unwrap()
}

#[test]
fn objectives_and_betas_equal_those_of_independent_solvers() {
    let problems = problems();
    assert!(problems.len() >= 24);
    for problem in &problems {
        for method in ["compare", "rank", "rank2"] {
            let model = fit(problem, method).model;
            let (name, expected) = (&problem.name, &problem.objectives[method]);
            let objective = number(&expected["objective"]);
            let found = model.training.objective;
            assert_eq!(model.training.stop, Stop::Converged, "{name}, {method}");
            assert!(
                (found - objective).abs() <= 1e-5 * objective.max(1e-9),
                "{name}, {method}: objective {found}, expected {objective}"
            );
            assert!(model.training.gap.abs() <= 1e-6, "{name}, {method}: gap {}", model.training.gap);
            if let Some(beta) = expected.get("beta").and_then(Value::as_f64) {
                let found = model.beta.unwrap();
                assert!((found - beta).abs() <= 2e-3 * (1.0 + beta.abs()), "{name}: β {found}, expected {beta}");
            }
        }
    }
}
