//! Model files: what is written is read back to the last bit.
#![allow(clippy::unwrap_used, clippy::panic)]

pub(super) mod allocation;
mod corruption;
mod hostile;
mod parts;
mod tuning;

use std::path::Path;

use parts::Parts;
use rankwise::data::{Features, Items, Precision, Scale, Scaler};
use rankwise::io::{model_from_bytes, model_to_bytes, read_model, write_model};
use rankwise::kernel::KernelFunction;
use rankwise::model::{
    Balance, Basis, ClassRule, ClassScheme, ClassWeights, Constraints, GradeRule, LearntFrom, Method, Model,
    ScoreFunction, Scorer, Sigmoid, SvmTraining, ThresholdRule, TieRegion, TieShare, Training,
};
use rankwise::{Error, Loss, Stop};

const PATH: &str = "some/model.rwm";

fn training(kernel: KernelFunction, method: Method) -> Training {
    Training {
        method,
        learnt_from: LearntFrom::Pairs,
        loss: Loss::SquaredHinge,
        kernel,
        approx: None,
        c: 0.1 + 0.2,
        tol: 1e-3,
        seed: u64::MAX,
        threshold_rule: ThresholdRule::Refit,
        tie_region: TieRegion::Free,
        tie_band: rankwise::model::TieBandKind::Constant,
        tie_parameter: None,
        tie_weight: 1.0 / 3.0,
        balance: Balance::None,
        scale: Scale::None,
        items: 4,
        features: 3,
        groups: Some(2),
        groups_dropped: 1,
        pairs: 7,
        ties: 3,
        objective: 1.234_567_890_123_456_7e-300,
        gap: -0.0,
        certificate: "primal − dual".into(),
        iterations: 12,
        stop: Stop::Converged,
        support: None,
        support_names: None,
        support_pairs: 5,
        collapsed: false,
        tie_share: TieShare { observed: 3.0 / 7.0, predicted: 2.0 / 7.0 },
        margin: Some(0.1),
        normalise: false,
        pairs_per_item: None,
        lp_slack: None,
        online: None,
        svm: None,
        program: None,
        warnings: vec!["feature \"a\\b\"\n differs".into()],
        tuning: None,
    }
}

fn model(function: ScoreFunction, n_features: usize) -> Model {
    let training = training(function.kernel(), Method::Compare);
    let scorer = Scorer { n_features, feature_names: None, are_indicators: false, scaler: None, function };
    Model {
        scorer,
        threshold: 0.1,
        beta: Some(-0.7),
        no_tie_region: false,
        classes: None,
        class_rule: None,
        grades: None,
        state: None,
        band: None,
        chances: None,
        training,
    }
}

fn linear() -> Model {
    let mut model = model(ScoreFunction::Linear { weights: vec![1.0 / 3.0, -0.0, 5e-324], bias: 0.0 }, 3);
    model.scorer.feature_names = Some(vec!["größe".into(), "a\"b".into(), String::new()]);
    model.scorer.scaler = Some(Scaler { shift: vec![0.1, -2.5, 1e300], divisor: vec![0.7, 1.0, 3.0] });
    model.threshold = 0.0;
    model.beta = None;
    model.no_tie_region = true;
    model.training = training(KernelFunction::Linear, Method::Rank2);
    model
}

/// Scores with a constant: 1e300 needs an exponent, −1/3 all digits.
fn biased() -> Model {
    model(ScoreFunction::Linear { weights: vec![2.0, 1e300], bias: -1.0 / 3.0 }, 2)
}

fn rbf_f64() -> Model {
    let support = Features::dense(2, vec![0.1, 0.2, 1e9 + 0.3, -0.4], Precision::F64).unwrap();
    let coefficients = vec![0.5, -1.0 / 7.0];
    let kernel = KernelFunction::Rbf { gamma: 0.3 };
    let mut model = model(ScoreFunction::Kernel { kernel, support, coefficients, bias: 0.0 }, 2);
    model.training.support_names = Some(vec!["größe, \"a\\b\"\n".into(), String::new()]);
    model
}

fn rbf_f32() -> Model {
    let support = Features::dense_f32(3, vec![0.1, 0.2, 0.3, -0.4, 1e-40, 7.0]).unwrap();
    let coefficients = vec![0.25, 1e-9];
    model(ScoreFunction::Kernel { kernel: KernelFunction::Rbf { gamma: 1.5 }, support, coefficients, bias: 0.0 }, 3)
}

fn poly_sparse() -> Model {
    let values = vec![0.1, 1e-300, 3.0];
    let support = Features::sparse(70_000, vec![0, 2, 2, 3], vec![0, 69_999, 5], values).unwrap();
    let kernel = KernelFunction::Poly { gamma: 0.1, coef0: -0.3, degree: 3 };
    model(ScoreFunction::Kernel { kernel, support, coefficients: vec![1.0, 2.0, -3.0], bias: 0.0 }, 70_000)
}

/// A leaderboard with a kernel: sparse support in f32.
fn indicators() -> Model {
    let kernel = KernelFunction::Sigmoid { gamma: 0.2, coef0: 0.1 };
    let support = Features::indicators(3);
    let mut model = model(ScoreFunction::Kernel { kernel, support, coefficients: vec![0.3, 0.1, -0.4], bias: 0.0 }, 3);
    model.scorer.are_indicators = true;
    model.scorer.feature_names = Some(["anna", "bo", "cem"].map(String::from).to_vec());
    model
}

fn no_support() -> Model {
    let support = Features::dense(2, vec![], Precision::F64).unwrap();
    model(ScoreFunction::Kernel { kernel: KernelFunction::Linear, support, coefficients: vec![], bias: 0.0 }, 2)
}

/// Three classes, a machine for each pair, a kernel, and probabilities.
fn classes() -> Model {
    let support = Features::dense(2, vec![0.1, 0.2, -3.0, 0.4], Precision::F64).unwrap();
    let basis = Basis::Kernel { kernel: KernelFunction::Rbf { gamma: 0.7 }, support };
    let coefficients = vec![1.0 / 3.0, -0.25, 0.0, 1e-300, 2.0, -2.0];
    let mut model = model(ScoreFunction::Several { basis, coefficients, biases: vec![0.1, -0.2, 1.0 / 7.0] }, 2);
    model.beta = None;
    model.classes = Some(["große", "a,b", "1"].map(String::from).to_vec());
    let sigmoid = |slope: f64| Sigmoid { slope, offset: -1.0 / 3.0 };
    model.class_rule =
        Some(ClassRule { scheme: ClassScheme::Ovo, sigmoids: Some([0.0, 0.5, 1e300].map(sigmoid).to_vec()) });
    model.training.method = Method::Classify;
    model.training.svm = Some(SvmTraining {
        epsilon: Some(0.1),
        scheme: Some(ClassScheme::Ovr),
        class_weights: ClassWeights::Named(vec![("a,b".into(), 1.0 / 3.0)]),
        class_sizes: vec![1, 2, 3],
        has_margins: true,
        ..SvmTraining::default()
    });
    model
}

/// Three classes against the rest, in weights of features.
fn linear_classes() -> Model {
    let coefficients = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let several = ScoreFunction::Several { basis: Basis::Features, coefficients, biases: vec![0.0, -0.0, 1.0] };
    let mut model = model(several, 2);
    model.classes = Some(["a", "b", "c"].map(String::from).to_vec());
    model.class_rule = Some(ClassRule { scheme: ClassScheme::Ovr, sigmoids: None });
    model
}

/// Three grades, which are bins of labels.
fn grades() -> Model {
    let mut model = model(ScoreFunction::Linear { weights: vec![2.0, -1.0 / 3.0], bias: 0.0 }, 2);
    model.beta = None;
    let cuts = Some(vec![-0.1, 1e300]);
    model.grades = Some(GradeRule { grades: vec![1.0, 2.0, 3.0], thresholds: vec![-1.0 / 7.0, 0.25], cuts });
    model.training.method = Method::Ordinal;
    let constraints = Some(Constraints::Explicit);
    model.training.svm = Some(SvmTraining { constraints, bins: Some(3), ..SvmTraining::default() });
    model
}

fn all_models() -> Vec<Model> {
    vec![
        linear(),
        biased(),
        rbf_f64(),
        rbf_f32(),
        poly_sparse(),
        indicators(),
        grades(),
        no_support(),
        classes(),
        linear_classes(),
    ]
}

fn scores(model: &Model) -> Vec<u64> {
    let n = model.scorer.n_features;
    let items = if model.scorer.are_indicators {
        Items::indicators(model.scorer.feature_names.clone().unwrap())
    } else {
        let values = (0..3 * n).map(|k| (k as f64 * 0.37).sin()).collect();
        let features = Features::dense(n, values, Precision::F64).unwrap();
        Items::new(features, model.scorer.feature_names.clone(), None).unwrap()
    };
    model.scorer.scores_of_machines(&items).unwrap().iter().map(|score| score.to_bits()).collect()
}

/// The debug form shows every field, storage and all digits.
fn assert_same(a: &Model, b: &Model) {
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
}

fn read(bytes: &[u8]) -> rankwise::Result<Model> {
    model_from_bytes(Path::new(PATH), bytes)
}

#[test]
fn every_model_reads_back_as_it_was() {
    for model in all_models() {
        let bytes = model_to_bytes(&model).unwrap();
        let back = read(&bytes).unwrap();
        assert_same(&model, &back);
        assert_eq!(scores(&model), scores(&back));
        assert_eq!(bytes, model_to_bytes(&back).unwrap());
    }
}

#[test]
fn files_read_back_as_they_were_and_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.rwm");
    for model in all_models() {
        write_model(&path, &model).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), model_to_bytes(&model).unwrap());
        assert_same(&model, &read_model(&path).unwrap());
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn same_model_same_bytes() {
    // Hash maps are seeded per map: a header in their order would differ within one run.
    for model in all_models() {
        let bytes = model_to_bytes(&model).unwrap();
        (0..20).for_each(|_| assert_eq!(bytes, model_to_bytes(&model.clone()).unwrap()));
        let header_length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header = std::str::from_utf8(&bytes[8..8 + header_length]).unwrap();
        let position = |name: &str| header.find(&format!("\"{name}\":")).unwrap();
        assert!(position("__metadata__") < position("are_indicators"));
        assert!(position("are_indicators") < position("format"));
        assert!(position("threshold") < position("training"));
    }
}

#[test]
fn the_container_is_plain_safetensors_with_known_entries() {
    for model in all_models() {
        let bytes = model_to_bytes(&model).unwrap();
        let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let parts = Parts::of(&bytes);
        assert_eq!(file.len(), parts.tensors.len());
        assert_eq!(parts.texts["sha256"], parts.checksum());
        assert_eq!(parts.texts["format"], "rankwise/1");
    }
    let parts = Parts::of(&model_to_bytes(&linear()).unwrap());
    let names: Vec<&str> = parts.tensors.keys().map(String::as_str).collect();
    assert_eq!(names, ["scaler_divisor", "scaler_shift", "weights"]);
    assert_eq!(parts.texts["kernel"], r#"{"name":"linear"}"#);
    assert_eq!(parts.texts["method"], "rank2");
    assert!(!parts.texts.contains_key("beta"));
    let parts = Parts::of(&model_to_bytes(&indicators()).unwrap());
    let types: Vec<_> = parts.tensors.iter().map(|(name, part)| (name.as_str(), part.dtype.as_str())).collect();
    let expected =
        [("coefficients", "F64"), ("support_columns", "U32"), ("support_starts", "U64"), ("support_values", "F32")];
    assert_eq!(types, expected);
    assert_eq!(parts.texts["are_indicators"], "true");
    assert_eq!(parts.texts["beta"], "-0.7");
}

#[test]
fn training_numbers_may_be_infinite() {
    let mut model = linear();
    model.training.c = f64::INFINITY;
    model.training.objective = f64::NEG_INFINITY;
    model.training.gap = f64::NAN;
    let bytes = model_to_bytes(&model).unwrap();
    assert!(Parts::of(&bytes).texts["training"].contains(r#""c":"inf""#));
    let back = read(&bytes).unwrap().training;
    assert_eq!((back.c, back.objective), (f64::INFINITY, f64::NEG_INFINITY));
    assert!(back.gap.is_nan());
}

/// A file of version 1 loads for ever. The scores were computed from the file's tensors with numpy.
#[test]
fn golden_model_of_version_1() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/model_v1.rwm");
    let model = read_model(&path).unwrap();
    assert_eq!(model.training.method, Method::Compare);
    assert_eq!(model.training.loss, Loss::Hinge);
    assert_eq!(model.training.c, 2.5);
    assert_eq!(model.training.stop, Stop::Converged);
    assert_eq!(model.threshold, 0.1875);
    assert_eq!(model.beta, Some(-0.8125));
    assert!(!model.no_tie_region);
    assert_eq!(model.training.tuning, None);
    assert_eq!(model.scorer.function.kernel(), KernelFunction::Rbf { gamma: 0.75 });
    // Named the other way round, so that the columns are matched by name.
    let names = ["mass", "speed"].map(String::from).to_vec();
    let values = vec![0.5, 1.5, -1.0, 2.0, 3.0, 0.25, 1.125, 1.0];
    let items = Items::new(Features::dense(2, values, Precision::F64).unwrap(), Some(names), None).unwrap();
    let expected = [0.01486304914748726, 0.05540230179436149, 0.2072949973945546, 0.1039550175588991];
    let found = model.scorer.scores(&items).unwrap();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found} for {expected}");
    }
}

#[test]
fn a_missing_file_or_a_directory_is_no_model_file_error() {
    let directory = tempfile::tempdir().unwrap();
    let error = read_model(&directory.path().join("absent.rwm")).unwrap_err();
    assert!(matches!(error, Error::Io { action: "open", .. }), "{error}");
    assert!(error.to_string().contains("absent.rwm"));
    let error = read_model(directory.path()).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

#[test]
fn what_cannot_be_read_back_is_not_written() {
    let refuse = |change: &dyn Fn(&mut Model), model: Model, expected: &str| {
        let mut model = model;
        change(&mut model);
        let error = model_to_bytes(&model).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        let directory = tempfile::tempdir().unwrap();
        assert!(write_model(&directory.path().join("m.rwm"), &model).is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    };
    refuse(&|m| m.threshold = -0.5, linear(), "threshold");
    refuse(&|m| m.threshold = f64::NAN, linear(), "threshold");
    refuse(&|m| m.beta = Some(f64::INFINITY), linear(), "beta");
    refuse(&|m| m.scorer.n_features = 4, linear(), "for 4 features");
    refuse(&|m| m.scorer.feature_names = None, indicators(), "no names");
    refuse(&|m| m.training.kernel = KernelFunction::Rbf { gamma: 1.0 }, linear(), "trained with");
    refuse(
        &|m| m.scorer.function = ScoreFunction::Linear { weights: vec![0.0, f64::NAN, 0.0], bias: 0.0 },
        linear(),
        "weight 2 is NaN",
    );
    refuse(
        &|m| m.scorer.function = ScoreFunction::Linear { weights: vec![0.0; 3], bias: f64::INFINITY },
        linear(),
        "the bias is inf",
    );
}

#[test]
fn a_bias_is_added_to_scores_and_absent_where_it_is_0() {
    let items = |values: Vec<f64>| {
        rankwise::data::Items::new(Features::dense(2, values, Precision::F64).unwrap(), None, None).unwrap()
    };
    let scores = biased().scorer.scores(&items(vec![1.0, 0.0, -2.0, 0.0])).unwrap();
    assert_eq!(scores, [2.0 - 1.0 / 3.0, -4.0 - 1.0 / 3.0]);
    let texts = |model: &Model| parts::Parts::of(&model_to_bytes(model).unwrap()).texts;
    assert_eq!(texts(&biased())["bias"], format!("{:?}", -1.0 / 3.0));
    assert!(!texts(&linear()).contains_key("bias"), "files of models without a bias are those of before");
}
