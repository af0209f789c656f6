//! What an ONNX file is made of, seen by a reader of protocol buffers. That it computes what the model does is checked from Python,
//! where there is a runtime.

use rankwise::data::simulate::{Norm, Simulation};
use rankwise::export::{ExportOptions, Target, export};
use rankwise::model::TieBandKind;
use rankwise::{CompareSvm, Kernel, Loss, SvmClassifier, SvmRegressor};

use super::{KERNELS, classifier, regression};

/// A field of a message: its number, and its bytes where it has a length.
fn fields(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    fn number(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = number(&mut bytes);
        let length = match key & 7 {
            0 => {
                number(&mut bytes);
                0
            }
            1 => 8,
            2 => number(&mut bytes) as usize,
            5 => 4,
            kind => panic!("wire type {kind}"),
        };
        found.push((key >> 3, &bytes[..length]));
        bytes = &bytes[length..];
    }
    found
}

fn all(message: &[u8], field: u64) -> Vec<&[u8]> {
    fields(message).into_iter().filter(|(number, _)| *number == field).map(|(_, bytes)| bytes).collect()
}

fn word(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A file: its operators, inputs, outputs, and metadata.
struct File {
    operators: Vec<String>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    metadata: Vec<(String, String)>,
}

impl File {
    fn read(bytes: &[u8]) -> Self {
        let graph = all(bytes, 7)[0];
        // Every tensor that a node reads is there before it.
        let mut known: Vec<String> = [all(graph, 11), all(graph, 5)]
            .iter()
            .zip([1, 8])
            .flat_map(|(values, name)| values.iter().map(move |value| word(all(value, name)[0])))
            .collect();
        for node in all(graph, 1) {
            all(node, 1).into_iter().for_each(|input| assert!(known.contains(&word(input)), "{}", word(input)));
            known.extend(all(node, 2).into_iter().map(word));
        }
        let names = |field| all(graph, field).into_iter().map(|value| word(all(value, 1)[0])).collect::<Vec<_>>();
        let outputs = names(12);
        outputs.iter().for_each(|output| assert!(known.contains(output)));
        File {
            operators: all(graph, 1).into_iter().map(|node| word(all(node, 4)[0])).collect(),
            inputs: names(11),
            outputs,
            metadata: all(bytes, 14).into_iter().map(|e| (word(all(e, 1)[0]), word(all(e, 2)[0]))).collect(),
        }
    }

    fn of(model: &rankwise::Model, to: Target) -> Self {
        File::read(&export(model, to, &ExportOptions::new()).unwrap().bytes)
    }

    fn has(&self, operator: &str) -> bool {
        self.operators.iter().any(|own| own == operator)
    }
}

#[test]
fn regressions_use_core_operators_or_those_of_machines() {
    for kernel in KERNELS {
        let model = regression(&SvmRegressor::new().kernel(kernel).c(0.1));
        let core = File::of(&model, Target::Onnx);
        assert!(core.has("MatMul") && !core.has("SVMRegressor") && !core.has("LinearRegressor"));
        assert_eq!((core.inputs, core.outputs), (vec!["features".to_string()], vec!["value".to_string()]));
        let ml = File::of(&model, Target::OnnxMl);
        assert!(ml.has(if kernel == Kernel::Linear { "LinearRegressor" } else { "SVMRegressor" }), "{kernel:?}");
    }
}

#[test]
fn sums_that_f32_has_no_digits_for_stay_in_f64() {
    let mut model = regression(&SvmRegressor::new().kernel(Kernel::rbf(1e-6)));
    let rankwise::model::ScoreFunction::Kernel { coefficients, .. } = &mut model.scorer.function else { panic!() };
    // All items are nearly the same to so wide a kernel: coefficients that sum to 0 leave a millionth.
    coefficients.iter_mut().enumerate().for_each(|(at, value)| *value = if at % 2 == 0 { 1e6 } else { -1e6 });
    let total: f64 = coefficients.iter().sum();
    *coefficients.last_mut().unwrap() -= total;
    assert!(!File::of(&model, Target::OnnxMl).has("SVMRegressor"));
}

#[test]
fn comparers_have_two_inputs_and_classifiers_labels() {
    let pairs = Simulation { norm: Norm::L2, n_pairs: 80, ties: 0.5, noise: 0.25, seed: 1 }.draw().unwrap();
    let model = CompareSvm::new().loss(Loss::Logistic).tie_band(TieBandKind::Pair).fit(&pairs).unwrap().model;
    let file = File::of(&model, Target::Onnx);
    assert_eq!(file.inputs, ["left", "right"]);
    assert_eq!(file.outputs, ["margin", "outcome", "threshold", "probabilities"]);
    let told = |key: &str| &file.metadata.iter().find(|entry| entry.0 == key).unwrap().1;
    assert_eq!(told("feature_names"), "[\"x1\",\"x2\"]");
    assert_eq!(told("threshold").parse::<f64>().unwrap(), model.threshold);
    let options = ExportOptions::new().scores(true);
    let scores = File::read(&export(&model, Target::Onnx, &options).unwrap().bytes);
    assert_eq!((scores.inputs, scores.outputs), (vec!["features".to_string()], vec!["score".to_string()]));

    let file = File::of(&classifier(3, &SvmClassifier::new().probabilities(true)), Target::Onnx);
    assert_eq!(file.outputs, ["label", "scores", "probabilities"]);
    assert!(file.has("Loop") && file.has("ArgMax"));
}
