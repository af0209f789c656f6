//! Metrics of ranked items as scipy, scikit-learn, LightGBM, XGBoost, trec_eval and LETOR's rules compute them, from
//! `fixtures/make_metric_fixtures.py`.

use rankwise::data::Groups;
use rankwise::io::{Queries, read_qrels, read_run};
use rankwise::metrics::{ItemMetric, Ranked};
use serde_json::Value;

use super::ranking_metrics::Case;

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../fixtures/ranking_metrics.json")).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(|number| number.as_f64().unwrap()).collect()
}

fn strings(value: &Value) -> Vec<String> {
    list(value).iter().map(|text| text.as_str().unwrap().to_string()).collect()
}

fn assert_agrees(name: &str, ranked: &Ranked<'_>, expected: &Value, of: &str) -> usize {
    let metric = ItemMetric::parse(name).unwrap();
    if let Some(mean) = expected.as_f64() {
        let found = metric.of(ranked).unwrap().value.unwrap();
        assert!((found - mean).abs() < 1e-9, "{of}, {name}: {found}, not {mean}");
        return 1;
    }
    let found = metric.per_group(ranked).unwrap();
    assert_eq!(found.len(), list(expected).len());
    let known = found.iter().zip(list(expected)).filter_map(|(found, expected)| Some((found, expected.as_f64()?)));
    known
        .map(|(found, expected)| {
            let found = found.unwrap();
            assert!((found - expected).abs() < 1e-9, "{of}, {name}: {found}, not {expected}");
        })
        .count()
}

#[test]
fn other_tools_compute_the_same() {
    let fixtures = fixtures();
    let mut n_compared = 0;
    for case in list(&fixtures["cases"]) {
        let groups: Vec<String> = numbers(&case["groups"]).iter().map(f64::to_string).collect();
        let of = case["name"].as_str().unwrap();
        let expected = case["expected"].as_object().unwrap();
        let case = Case {
            labels: numbers(&case["labels"]),
            scores: numbers(&case["scores"]),
            groups: Groups::from_ids(&groups),
            weights: None,
            group_weights: None,
            ids: strings(&case["ids"]),
        };
        assert!(expected.len() >= 30);
        for (name, expected) in expected {
            n_compared += assert_agrees(name, &case.ranked(), expected, of);
        }
    }
    assert!(n_compared > 2500, "{n_compared}");
}

#[test]
fn runs_measure_as_with_trec_eval() {
    let fixtures = fixtures();
    let directory = tempfile::tempdir().unwrap();
    let mut n_compared = 0;
    for files in list(&fixtures["runs"]) {
        let [qrels, run] = ["qrels", "run"].map(|name| {
            let path = directory.path().join(name);
            std::fs::write(&path, files[name].as_str().unwrap()).unwrap();
            path
        });
        let joined = read_run(&run).unwrap().judged(&read_qrels(&qrels).unwrap(), Queries::InBoth).unwrap();
        let names: Vec<&str> = (0..joined.groups.len()).map(|group| joined.groups.name(group)).collect();
        assert_eq!(names, strings(&files["queries"]));
        assert_eq!(joined.queries_without_judgments, ["q99"]);
        assert_eq!(joined.queries_without_run, ["q7"]);
        let ranked = Ranked::new(&joined.labels, &joined.scores, &joined.groups).unwrap();
        let ranked = ranked.with_ids(&joined.ids).unwrap();
        for (name, expected) in files["expected"].as_object().unwrap() {
            n_compared += assert_agrees(name, &ranked, expected, "a run");
        }
    }
    assert_eq!(n_compared, 2 * 11 * 11);
}
