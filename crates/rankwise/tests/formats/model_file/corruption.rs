//! Random damage: always an error, or the very same model where the damage means nothing.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;

use super::allocation::peak_during;
use super::parts::{Parts, with_header};
use super::*;

static FILES: LazyLock<Vec<(Vec<u8>, String)>> =
    LazyLock::new(|| all_models().iter().map(|model| (model_to_bytes(model).unwrap(), format!("{model:?}"))).collect());

/// Refused with a reason, or as if nothing had happened; memory within bounds.
fn survives(bytes: &[u8], original: &str) -> Result<(), TestCaseError> {
    let (result, peak) = peak_during(|| read(bytes));
    prop_assert!(peak < 40 * bytes.len() + 16_384, "{} bytes for a file of {}", peak, bytes.len());
    match result {
        Err(Error::ModelFile { problem, remedy, .. }) => prop_assert!(!problem.is_empty() && !remedy.is_empty()),
        Err(other) => prop_assert!(false, "another error: {other}"),
        Ok(model) => prop_assert_eq!(format!("{model:?}"), original),
    }
    Ok(())
}

fn any_file() -> impl Strategy<Value = &'static (Vec<u8>, String)> {
    any::<Index>().prop_map(|which| which.get(&FILES))
}

fn header_of(bytes: &[u8]) -> (String, &[u8]) {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    (String::from_utf8(bytes[8..8 + length].to_vec()).unwrap(), &bytes[8 + length..])
}

/// Words that mean something in a header.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\"weights\"".to_string()),
        Just("\"F32\"".to_string()),
        Just("\"__metadata__\"".to_string()),
        Just("null".to_string()),
        Just("-1".to_string()),
        Just("1e999".to_string()),
        Just("{}".to_string()),
        Just("[0,0]".to_string()),
        Just(",".to_string()),
        Just(" ".to_string()),
        Just("\\u0000".to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        "[ -~]{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Not damage at all: whatever the numbers are, they come back to the last bit.
    #[test]
    fn numbers_survive(
        training in proptest::array::uniform3(proptest::num::f64::ANY),
        finite in proptest::array::uniform3(proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL),
    ) {
        let mut model = rbf_f64();
        [model.training.c, model.training.objective, model.training.gap] = training;
        let [gamma, threshold, beta] = finite;
        let kernel = KernelFunction::Rbf { gamma: gamma.abs() };
        model.training.kernel = kernel;
        (model.threshold, model.beta) = (threshold.abs(), Some(beta));
        if let ScoreFunction::Kernel { kernel: of_model, coefficients, .. } = &mut model.scorer.function {
            *of_model = kernel;
            coefficients[0] = beta;
        }
        let bytes = model_to_bytes(&model).unwrap();
        let back = read(&bytes).unwrap();
        prop_assert_eq!(format!("{model:?}"), format!("{back:?}"));
        prop_assert_eq!(bytes, model_to_bytes(&back).unwrap());
    }

    #[test]
    fn a_flipped_bit(file in any_file(), at in any::<Index>(), bit in 0..8) {
        let mut bytes = file.0.clone();
        let at = at.index(bytes.len());
        bytes[at] ^= 1u8 << bit;
        survives(&bytes, &file.1)?;
    }

    #[test]
    fn a_truncated_file(file in any_file(), keep in any::<Index>()) {
        let kept = &file.0[..keep.index(file.0.len())];
        prop_assert!(read(kept).is_err());
        survives(kept, &file.1)?;
    }

    #[test]
    fn a_splice(
        file in any_file(),
        at in any::<Index>(),
        cut in 0usize..64,
        insert in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        let mut bytes = file.0.clone();
        let start = at.index(bytes.len());
        let end = (start + cut).min(bytes.len());
        bytes.splice(start..end, insert);
        survives(&bytes, &file.1)?;
    }

    #[test]
    fn two_files_mixed(a in any_file(), b in any_file(), at in any::<Index>(), from in any::<Index>()) {
        let mixed = [&a.0[..at.index(a.0.len())], &b.0[from.index(b.0.len())..]].concat();
        // A whole file may come out again.
        if mixed != a.0 && mixed != b.0 {
            survives(&mixed, &a.1)?;
        }
    }

    /// The header's length is put right, the checksum is not.
    #[test]
    fn an_edited_header(file in any_file(), at in any::<Index>(), cut in 0usize..20, word in word()) {
        let (mut header, data) = header_of(&file.0);
        let mut boundaries: Vec<usize> = header.char_indices().map(|(at, _)| at).collect();
        boundaries.push(header.len());
        let start = at.index(boundaries.len());
        let end = (start + cut).min(boundaries.len() - 1);
        header.replace_range(boundaries[start]..boundaries[end], &word);
        survives(&with_header(&header, data), &file.1)?;
    }

    /// The checksum is put right too: whatever is read can then be used and saved, and nothing panics.
    #[test]
    fn a_sealed_edit(file in any_file(), which in any::<Index>(), at in any::<Index>(), cut in 0usize..20, word in word()) {
        let mut parts = Parts::of(&file.0);
        let names: Vec<String> = parts.texts.keys().cloned().collect();
        let text = parts.texts.get_mut(which.get(&names)).unwrap();
        let mut chars: Vec<char> = text.chars().collect();
        let start = at.index(chars.len() + 1);
        chars.splice(start..(start + cut).min(chars.len()), word.chars());
        *text = chars.into_iter().collect();
        let bytes = parts.sealed();
        let (result, peak) = peak_during(|| read(&bytes));
        prop_assert!(peak < 40 * bytes.len() + 16_384);
        match result {
            Ok(model) => {
                let again = read(&model_to_bytes(&model).unwrap()).unwrap();
                assert_same(&model, &again);
                if model.scorer.n_features < 100_000 {
                    scores(&model);
                }
            }
            Err(error) => prop_assert!(matches!(error, Error::ModelFile { .. }), "{error}"),
        }
    }

    /// Numbers, types and shapes that are sealed: used or refused, never a panic.
    #[test]
    fn sealed_numbers(
        file in any_file(),
        which in any::<Index>(),
        shape in proptest::option::of(proptest::collection::vec(prop_oneof![0u64..5, any::<u64>()], 0..3)),
        dtype in proptest::option::of(prop_oneof![Just("F32"), Just("F64"), Just("U32"), Just("U64"), Just("F4")]),
        splice in proptest::option::of((any::<Index>(), proptest::collection::vec(any::<u8>(), 1..9))),
    ) {
        let mut parts = Parts::of(&file.0);
        let names: Vec<String> = parts.tensors.keys().cloned().collect();
        let part = parts.tensors.get_mut(which.get(&names)).unwrap();
        if let Some(shape) = shape {
            part.shape = shape;
        }
        if let Some(dtype) = dtype {
            part.dtype = dtype.into();
        }
        if let Some((at, new)) = splice {
            let start = at.index(part.data.len() + 1);
            let end = (start + new.len()).min(part.data.len());
            part.data.splice(start..end, new);
        }
        match read(&parts.sealed()) {
            Ok(model) => {
                assert_same(&model, &read(&model_to_bytes(&model).unwrap()).unwrap());
                let _ = model.scorer.scores(&Items::indicators(vec!["a".into()]));
            }
            Err(error) => prop_assert!(matches!(error, Error::ModelFile { .. }), "{error}"),
        }
    }
}

#[test]
fn every_bit_of_a_small_file() {
    let (bytes, original) = &FILES[2];
    let mut changed = bytes.clone();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            changed[at] ^= 1 << bit;
            if let Ok(model) = read(&changed) {
                assert_eq!(&format!("{model:?}"), original, "byte {at}, bit {bit}");
            }
            changed[at] ^= 1 << bit;
        }
    }
}
