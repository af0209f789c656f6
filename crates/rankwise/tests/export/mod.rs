//! What other programs read: texts are read back by the definition of their format and scored from there, ONNX files by a reader
//! of protocol buffers that knows nothing of the writer.

mod onnx;
mod texts;

use rankwise::data::{ClassItems, Random, Ranking, Scale};
use rankwise::export::{ExportOptions, Target, export};
use rankwise::kernel::Gamma;
use rankwise::model::Model;
use rankwise::{Error, Kernel, SvmClassifier, SvmRegressor};

use crate::oracle::classify::items;

pub(crate) const KERNELS: [Kernel; 4] = [
    Kernel::Linear,
    Kernel::Poly { gamma: Gamma::Value(0.3), coef0: 1.0, degree: 3 },
    Kernel::Rbf { gamma: Gamma::Value(0.4) },
    Kernel::Sigmoid { gamma: Gamma::Value(0.1), coef0: 0.5 },
];

/// Items around several centres, some of them copies of others.
pub(crate) fn rows(n: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let mut rows: Vec<Vec<f64>> =
        (0..n).map(|k| (0..3).map(|f| random.normal() + if f == k % 3 { 1.5 } else { 0.2 }).collect()).collect();
    for k in (7..n).step_by(9) {
        rows[k] = rows[k - 7].clone();
    }
    rows
}

pub(crate) fn classifier(n_classes: usize, svm: &SvmClassifier) -> Model {
    let rows = rows(90, 1);
    let labels: Vec<String> =
        (0..rows.len()).map(|k| format!("{}", (k % 3).min(n_classes - 1) as i32 * 2 - 1)).collect();
    svm.fit(&ClassItems::new(items(&rows), &labels).unwrap()).unwrap().model
}

pub(crate) fn regression(svm: &SvmRegressor) -> Model {
    let rows = rows(60, 2);
    let labels = rows.iter().map(|x| 3.0 + x[0] - 2.0 * x[1] + x[2] * x[2]).collect();
    svm.fit(&Ranking::new(items(&rows), labels, None).unwrap()).unwrap().model
}

pub(crate) fn text(model: &Model, to: Target) -> String {
    String::from_utf8(export(model, to, &ExportOptions::new()).unwrap().bytes).unwrap()
}

#[test]
fn names_of_targets_are_read_back_and_others_are_refused() {
    for target in Target::ALL {
        assert_eq!(target.name().parse::<Target>().unwrap(), target);
        assert_eq!(serde_json::to_value(target).unwrap(), target.name());
    }
    let error = "pmml".parse::<Target>().unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "to", .. }) && error.to_string().contains("elasticsearch"));
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    let model = classifier(3, &SvmClassifier::new().kernel(Kernel::rbf(0.3)).probabilities(true));
    for target in [Target::Onnx, Target::OnnxMl] {
        let bytes = || export(&model, target, &ExportOptions::new()).unwrap().bytes;
        assert_eq!(bytes(), bytes());
    }
}

#[test]
fn options_that_do_not_apply_are_refused() {
    let model = regression(&SvmRegressor::new());
    let all = [
        (Target::Sql, ExportOptions::new().name("a"), "name"),
        (Target::Elasticsearch, ExportOptions::new().store("a"), "store"),
        (Target::Onnx, ExportOptions::new().dialect(Default::default()), "dialect"),
        (Target::Libsvm, ExportOptions::new().scores(true), "scores"),
    ];
    for (target, options, name) in all {
        let error = export(&model, target, &options).unwrap_err();
        assert!(error.is_usage() && error.to_string().starts_with(&format!("--{name} does not apply")), "{error}");
    }
    let error = export(&model, Target::Solr, &ExportOptions::new().name(" ")).unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "name", .. }));
}

#[test]
fn features_of_the_same_name_are_refused_where_names_tell() {
    let mut model = regression(&SvmRegressor::new());
    model.scorer.feature_names = Some(["a", "b", "a"].map(String::from).to_vec());
    for target in [Target::Solr, Target::Opensearch, Target::Sql, Target::Json] {
        let error = export(&model, target, &ExportOptions::new()).unwrap_err().to_string();
        assert!(error.contains("\"a\""), "{error}");
    }
    for target in [Target::Onnx, Target::OnnxMl, Target::Liblinear, Target::Libsvm] {
        export(&model, target, &ExportOptions::new()).unwrap();
    }
}

#[test]
fn a_scaling_before_a_kernel_is_no_model_of_libsvm() {
    let svm = SvmRegressor::new().scale(Scale::Standard);
    assert!(text(&regression(&svm), Target::Libsvm).contains("kernel_type linear"));
    let error = export(&regression(&svm.kernel(Kernel::rbf(0.2))), Target::Libsvm, &ExportOptions::new()).unwrap_err();
    assert!(error.to_string().contains("--scale none"), "{error}");
}
