//! Files made to mislead: each is refused with a reason, even where the checksum is right.

use super::allocation::peak_during;
use super::parts::{Parts, with_header};
use super::*;

fn parts(model: &Model) -> Parts {
    Parts::of(&model_to_bytes(model).unwrap())
}

/// Refused as a model file with the path, a reason and a remedy.
#[track_caller]
fn refused(bytes: &[u8], reason: &str) {
    match read(bytes) {
        Ok(_) => panic!("read, but expected: {reason}"),
        Err(Error::ModelFile { path, problem, remedy }) => {
            assert_eq!(path, Path::new(PATH));
            assert!(problem.contains(reason), "{problem:?} does not say {reason:?}");
            assert!(!remedy.is_empty());
        }
        Err(other) => panic!("another error: {other}"),
    }
}

#[test]
fn sealing_by_hand_works() {
    for model in all_models() {
        assert_same(&model, &read(&parts(&model).sealed()).unwrap());
    }
}

#[test]
fn not_a_model_file() {
    refused(b"", "empty");
    refused(b"1 qid", "too few");
    refused(b"left,right,outcome\na,b,left\n", "does not begin like");
    refused(&[0; 100], "does not begin like");
    refused(&with_header("{}", &[]), "without a format");
    refused(&parts(&linear()).without("format").sealed(), "without a format");
    refused(&parts(&linear()).text("format", "pt").sealed(), "\"pt\"");
    refused(&with_header("{\"a\":1}", &[]), "not that of a safetensors file");
    refused(&with_header("{\"a\":\u{1}}", &[]), "not that of a safetensors file");
    let mut no_text = with_header("{\"format\":\"ab\"}", &[]);
    no_text[20] = 0xff;
    refused(&no_text, "no text");
    refused(&with_header(&"{\"a\":".repeat(100_000), &[]), "not that of a safetensors file");
}

#[test]
fn an_unknown_version_names_the_known_one() {
    let bytes = parts(&linear()).text("format", "rankwise/2").sealed();
    refused(&bytes, "\"rankwise/1\"");
    refused(&bytes, "\"rankwise/2\"");
    assert!(read(&bytes).unwrap_err().to_string().contains("update rankwise, or train the model again"));
    // Whatever its checksum means.
    refused(&parts(&linear()).text("format", "rankwise/2").bytes(), "\"rankwise/2\"");
}

#[test]
fn tampering_is_noticed() {
    for model in all_models() {
        let whole = parts(&model);
        refused(&whole.clone().text("threshold", "0.25").bytes(), "checksum");
        refused(&whole.clone().text("note", "").bytes(), "checksum");
        refused(&whole.clone().without("no_tie_region").bytes(), "checksum");
        refused(&whole.clone().without("sha256").bytes(), "no checksum");
        refused(&whole.clone().text("sha256", "").bytes(), "checksum");
        refused(&whole.clone().text("sha256", &whole.checksum().to_uppercase()).bytes(), "checksum");
        for name in whole.tensors.keys() {
            let mut changed = whole.clone();
            if let Some(byte) = changed.tensors.get_mut(name).unwrap().data.last_mut() {
                *byte ^= 1;
                refused(&changed.bytes(), "checksum");
            }
        }
    }
    // The same numbers under another shape or type.
    let whole = parts(&rbf_f32());
    let data = whole.tensors["support"].data.clone();
    refused(&whole.clone().tensor("support", "F32", &[3, 2], data.clone()).bytes(), "checksum");
    refused(&whole.tensor("support", "U32", &[2, 3], data).bytes(), "checksum");
}

#[test]
fn truncation_and_additions_are_noticed() {
    let bytes = model_to_bytes(&poly_sparse()).unwrap();
    refused(&bytes[..bytes.len() - 1], "truncated");
    refused(&bytes[..100], "truncated");
    refused(&bytes[..8], "truncated");
    refused(&[&bytes[..], b"\n"].concat(), "follows its end");
}

#[test]
fn missing_and_unknown_entries() {
    // Their absence is another fault: see `wrong_grades`.
    let of_grades = ["grades", "label_cuts"];
    let optional = ["sha256", "format", "beta", "bias", "feature_names", "classes", "class_rule"];
    for model in all_models() {
        let whole = parts(&model);
        for name in whole.texts.keys().filter(|name| !optional.contains(&name.as_str())) {
            refused(&whole.clone().without(name).sealed(), &format!("{name:?} is missing"));
        }
        for name in whole.tensors.keys().filter(|name| !of_grades.contains(&name.as_str())) {
            refused(&whole.clone().without(name).sealed(), "is missing");
        }
        refused(&whole.clone().text("tie_band", "1").sealed(), "does not know its entry \"tie_band\"");
        refused(&whole.clone().f64s("bias", &[1.0]).sealed(), "does not know its entry \"bias\"");
    }
    refused(&parts(&indicators()).without("feature_names").sealed(), "no names");
    refused(&parts(&linear()).f64s("coefficients", &[1.0]).sealed(), "does not know");
}

#[test]
fn wrong_texts() {
    let change = |model: &Model, name: &str, text: &str| parts(model).text(name, text).sealed();
    refused(&change(&linear(), "threshold", "-0.5"), "at least 0");
    refused(&change(&linear(), "threshold", "NaN"), "threshold is NaN");
    refused(&change(&linear(), "threshold", "inf"), "threshold is inf");
    refused(&change(&linear(), "threshold", "wide"), "\"wide\"");
    refused(&change(&linear(), "beta", "-inf"), "beta is -inf");
    refused(&change(&linear(), "no_tie_region", "1"), "true or false");
    refused(&change(&linear(), "are_indicators", "True"), "true or false");
    refused(&change(&linear(), "method", "compare"), "trained by \"rank2\"");
    refused(&change(&linear(), "n_features", "4"), "for 4 features");
    refused(&change(&linear(), "n_features", "-1"), "n_features");
    refused(&change(&linear(), "n_features", "1152921504606846976"), "features");
    refused(&change(&linear(), "n_features", "99999999999999999999999"), "n_features");
    refused(&change(&linear(), "feature_names", r#"["a","b"]"#), "2 feature names for 3 features");
    refused(&change(&linear(), "feature_names", r#"["a","b",3]"#), "feature_names");
    refused(&change(&linear(), "feature_names", &"[".repeat(100_000)), "feature_names");
    refused(&change(&linear(), "training", "{}"), "training");
    refused(&change(&linear(), "kernel", r#"{"name":"rbf","gamma":1.0}"#), "another kernel");
    let training = parts(&linear()).texts["training"].replace("\"rank2\"", "\"rank9\"");
    refused(&change(&linear(), "training", &training), "rank9");
}

#[test]
fn wrong_kernels() {
    // Both places that name the kernel agree: the number itself must be refused.
    let with_kernel = |model: &Model, kernel: &str| {
        let whole = parts(model);
        let training = whole.texts["training"].replace(&whole.texts["kernel"], kernel);
        assert_ne!(training, whole.texts["training"]);
        whole.text("training", &training).text("kernel", kernel).sealed()
    };
    assert!(read(&with_kernel(&rbf_f32(), r#"{"name":"rbf","gamma":2.5}"#)).is_ok());
    refused(&with_kernel(&rbf_f32(), r#"{"name":"rbf","gamma":0.0}"#), "gamma = 0");
    refused(&with_kernel(&rbf_f32(), r#"{"name":"rbf","gamma":-1.0}"#), "gamma = -1");
    refused(&with_kernel(&rbf_f32(), r#"{"name":"rbf","gamma":1e999}"#), "number out of range");
    refused(&with_kernel(&rbf_f32(), r#"{"name":"rbf","gamma":null}"#), "cannot be read");
    refused(&with_kernel(&rbf_f32(), r#"{"name":"rbf"}"#), "gamma");
    refused(&with_kernel(&rbf_f32(), r#"{"name":"rbf","gamma":1.0,"degree":2}"#), "degree");
    refused(&with_kernel(&rbf_f32(), r#"{"name":"wavelet","gamma":1.0}"#), "wavelet");
    let poly = |numbers: &str| with_kernel(&poly_sparse(), &format!(r#"{{"name":"poly",{numbers}}}"#));
    assert!(read(&poly(r#""gamma":1.0,"coef0":0.0,"degree":2"#)).is_ok());
    refused(&poly(r#""gamma":1.0,"coef0":0.0,"degree":0"#), "degree = 0");
    refused(&poly(r#""gamma":1.0,"coef0":0.0,"degree":4294967295"#), "degree = 4294967295");
    refused(&poly(r#""gamma":1.0,"coef0":0.0,"degree":4294967296"#), "cannot be read");
    // Only one of the two is changed.
    let alone = parts(&rbf_f32()).text("kernel", r#"{"name":"rbf","gamma":2.5}"#).sealed();
    refused(&alone, "trained with");
}

#[test]
fn wrong_numbers() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        refused(&parts(&linear()).f64s("weights", &[0.0, bad, 0.0]).sealed(), "weight 2");
        refused(&parts(&linear()).f64s("scaler_shift", &[bad, 0.0, 0.0]).sealed(), "scaler shift 1");
        refused(&parts(&linear()).f64s("scaler_divisor", &[1.0, 1.0, bad]).sealed(), "scaler divisor 3");
        refused(&parts(&rbf_f64()).f64s("coefficients", &[bad, 0.0]).sealed(), "coefficient 1");
        refused(&parts(&poly_sparse()).f64s("support_values", &[1.0, 1.0, bad]).sealed(), "NaN or infinity");
        let data: Vec<u8> = [0.0, 0.0, bad as f32].iter().flat_map(|v| v.to_le_bytes()).collect();
        refused(&parts(&indicators()).tensor("support_values", "F32", &[3], data).sealed(), "NaN or infinity");
        let data = [0.0, 0.0, 0.0, bad].iter().flat_map(|v: &f64| v.to_le_bytes()).collect();
        refused(&parts(&rbf_f64()).tensor("support", "F64", &[2, 2], data).sealed(), "NaN or infinity");
    }
    refused(&parts(&linear()).f64s("scaler_divisor", &[1.0, 0.0, 1.0]).sealed(), "divisor is 0");
    refused(&parts(&linear()).f64s("scaler_divisor", &[1.0, -1.0, 1.0]).sealed(), "divisor is -1");
}

#[test]
fn wrong_shapes() {
    refused(&parts(&linear()).f64s("weights", &[1.0; 2]).sealed(), "2 weights for 3 features");
    refused(&parts(&linear()).f64s("scaler_shift", &[1.0; 4]).sealed(), "4 scaler shifts for 3 features");
    refused(&parts(&rbf_f64()).f64s("coefficients", &[1.0; 3]).sealed(), "3 coefficients for 2 support items");
    refused(&parts(&rbf_f64()).f64s("support", &[1.0; 4]).sealed(), "1 dimensions, expected 2");
    refused(&parts(&rbf_f64()).tensor("support", "F64", &[4, 1], vec![0; 32]).sealed(), "columns of support items");
    refused(&parts(&linear()).tensor("weights", "F64", &[3, 1], vec![0; 24]).sealed(), "2 dimensions, expected 1");
    refused(&parts(&linear()).tensor("weights", "F64", &[], vec![0; 8]).sealed(), "0 dimensions, expected 1");
    refused(&parts(&linear()).tensor("weights", "F32", &[3], vec![0; 12]).sealed(), "type F32, expected F64");
    refused(&parts(&linear()).tensor("weights", "I64", &[3], vec![0; 24]).sealed(), "type I64, expected F64");
    refused(&parts(&linear()).tensor("weights", "F64", &[4], vec![0; 24]).sealed(), "contradicts itself");
    refused(&parts(&linear()).tensor("weights", "F4", &[1], vec![0; 1]).sealed(), "contradicts itself");
    // Rows without columns take no bytes: any number of them fits.
    let empty = parts(&no_support()).text("n_features", "0").tensor("support", "F64", &[1 << 60, 0], vec![]);
    refused(&empty.sealed(), "without features");
}

#[test]
fn wrong_sparse_rows() {
    let starts = |values: &[u64]| {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        parts(&poly_sparse()).tensor("support_starts", "U64", &[values.len() as u64], data).sealed()
    };
    assert!(read(&starts(&[0, 2, 2, 3])).is_ok());
    refused(&starts(&[]), "do not span");
    refused(&starts(&[0, 2, 3]), "3 coefficients for 2 support items");
    refused(&starts(&[0, 2, 1, 3]), "ends before it starts");
    refused(&starts(&[0, 2, u64::MAX, 3]), "cannot be used");
    refused(&starts(&[1, 2, 2, 3]), "do not span");
    refused(&starts(&[0, 2, 2, 4]), "do not span");
    let columns = |values: &[u32]| {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        parts(&poly_sparse()).tensor("support_columns", "U32", &[values.len() as u64], data).sealed()
    };
    assert!(read(&columns(&[0, 69_999, 5])).is_ok());
    refused(&columns(&[0, 70_000, 5]), "do not ascend below 70000");
    refused(&columns(&[0, 1, u32::MAX]), "do not ascend below 70000");
    refused(&columns(&[7, 7, 5]), "do not ascend");
    refused(&columns(&[0, 1]), "do not span");
}

/// Sizes that no file of a few hundred bytes can have.
#[test]
fn claimed_sizes_allocate_nothing() {
    let entry = |name: &str, shape: &str, start: u64, end: u64| {
        format!(r#""{name}":{{"dtype":"F64","shape":[{shape}],"data_offsets":[{start},{end}]}}"#)
    };
    let mut hostile: Vec<Vec<u8>> = Vec::new();
    for length in [u64::MAX, 1 << 63, 1 << 40, 100_000_000] {
        hostile.push([&length.to_le_bytes()[..], b"{}"].concat());
    }
    let whole = |entries: &[String]| with_header(&format!("{{{}}}", entries.join(",")), &[0; 64]);
    hostile.push(whole(&[entry("weights", "1152921504606846976", 0, 1 << 63)]));
    hostile.push(whole(&[entry("weights", "268435456", 0, 1 << 31)]));
    hostile.push(whole(&[entry("weights", "4294967296,4294967296", 0, 64)]));
    hostile.push(whole(&[entry("weights", "18446744073709551615,18446744073709551615,0", 0, 64)]));
    hostile.push(whole(&[entry("weights", "8", 64, 128), entry("support", "8", 0, 64)]));
    hostile.push(whole(&[entry("weights", "8", 0, 64), entry("weights", "8", 0, 64)]));
    hostile.push(whole(&[entry("weights", "8", 64, 0)]));
    // Offsets that add up to nearly 2^64: one more byte would overflow.
    let step = (1u64 << 61) - 8;
    let mut chain: Vec<_> =
        (0..8).map(|k| entry(&format!("t{k}"), &(step / 8).to_string(), k * step, (k + 1) * step)).collect();
    chain.push(entry("t8", "7", 8 * step, 8 * step + 56));
    hostile.push(whole(&chain));
    let n_features = "4294967296";
    hostile.push(parts(&rbf_f32()).text("n_features", n_features).sealed());
    hostile.push(parts(&no_support()).text("n_features", n_features).sealed());
    for bytes in &hostile {
        let (result, peak) = peak_during(|| read(bytes));
        assert!(matches!(result, Err(Error::ModelFile { .. })), "{result:?}");
        assert!(peak < 16 * bytes.len() + 4096, "{peak} bytes for a file of {}", bytes.len());
    }
    // A header of nothing but numbers, the worst case of a tree of values.
    let zeros = vec!["0"; 500_000].join(",");
    let bytes = whole(&[entry("weights", &zeros, 0, 0)]);
    let (result, peak) = peak_during(|| read(&bytes));
    assert!(result.is_err());
    assert!(peak < 16 * bytes.len(), "{peak} bytes for a file of {}", bytes.len());
}

#[test]
fn wrong_classes() {
    let model = classes();
    let good = || parts(&model);
    for (broken, reason) in [
        (good().text("classes", "[\"a\", \"b\"]"), "3 machines for 2 classes"),
        (good().text("classes", "[\"a\", \"b\", \"a\"]"), "3 classes of which 2 differ"),
        (good().text("classes", "[]"), "0 classes"),
        (good().without("classes"), "no classes"),
        (good().without("class_rule"), "classes"),
        (good().text("class_rule", "{\"scheme\":\"crammer\"}"), "class_rule"),
        (good().text("class_rule", "{\"scheme\":\"ovo\",\"sigmoids\":[]}"), "impossible numbers"),
        (
            good().text(
                "class_rule",
                &format!("{{\"scheme\":\"ovo\",\"sigmoids\":[{}]}}", ["{\"slope\":-1.0,\"offset\":0.0}"; 3].join(",")),
            ),
            "impossible numbers",
        ),
        (good().f64s("machine_biases", &[0.0, 0.0]), "machines"),
        (good().f64s("machine_biases", &[0.0, f64::NAN, 0.0]), "bias 2 is NaN"),
        (good().without("machine_coefficients"), "missing"),
        (good().tensor("machine_coefficients", "F64", &[3, 1], vec![0; 24]), "coefficients"),
        (good().without("support"), "support"),
    ] {
        refused(&broken.sealed(), reason);
    }
    let linear = linear_classes();
    refused(&parts(&linear).tensor("machine_coefficients", "F64", &[3, 1], vec![0; 24]).sealed(), "coefficients");
    refused(&parts(&linear).text("class_rule", "{\"scheme\":\"ovo\"}").without("classes").sealed(), "no classes");
}

#[test]
fn wrong_grades() {
    let whole = parts(&grades());
    let change = |name: &str, values: &[f64]| whole.clone().f64s(name, values).sealed();
    refused(&change("thresholds", &[0.5, 0.25]), "no numbers in order");
    refused(&change("thresholds", &[f64::NAN, 0.25]), "no numbers in order");
    refused(&change("thresholds", &[0.25, f64::INFINITY]), "no numbers in order");
    refused(&change("thresholds", &[0.25]), "1 thresholds for 3 grades");
    refused(&change("thresholds", &[]), "0 thresholds for 3 grades");
    refused(&change("grades", &[1.0, 1.0, 2.0]), "no ascending numbers");
    refused(&change("grades", &[1.0, f64::NAN, 2.0]), "no ascending numbers");
    refused(&change("grades", &[1.0]), "2 thresholds for 1 grades");
    refused(&change("label_cuts", &[0.0]), "one for each threshold");
    refused(&change("label_cuts", &[1.0, 0.0]), "no ascending numbers");
    refused(&whole.clone().without("thresholds").sealed(), "is missing");
    refused(&whole.clone().without("grades").sealed(), "does not know");
    refused(&parts(&linear()).f64s("grades", &[1.0, 2.0]).f64s("thresholds", &[0.0]).sealed(), "rank2 has thresholds");
    assert!(read(&whole.without("label_cuts").sealed()).is_ok(), "grades need not be bins");
}
