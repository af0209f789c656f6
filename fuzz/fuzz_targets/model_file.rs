//! Model files, checksums taken for right: what loads predicts without a panic, and saved again has the same bytes.
#![no_main]

use std::path::Path;

use rankwise::data::{Features, Items, Pair, PairSet, Precision};
use rankwise::io::{model_from_bytes, model_to_bytes};
use rankwise::model::Description;
use rankwise_fuzz::alone;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    alone();
    let path = Path::new("a.safetensors");
    let model = match model_from_bytes(path, bytes) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let saved = model_to_bytes(&model).expect("what was loaded can be saved");
    let again = model_from_bytes(path, &saved).expect("what was saved can be loaded");
    assert!(model_to_bytes(&again).expect("it can be saved again") == saved);
    let _ = serde_json::to_string(&Description::new(&model));
    let items = items(&model);
    let Some(items) = items else { return };
    let scores = model.scorer.scores(&items);
    if let Ok(scores) = &scores {
        assert!(scores.len() == items.n_items() && scores.iter().all(|score| score.is_finite()));
        let others = again.scorer.scores(&items).expect("it is the same model");
        assert!(scores.iter().zip(&others).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
    let _ = model.scorer.scores_of_machines(&items);
    let _ = model.scorer.support_among(&items);
    // Data that end before the last feature.
    if let Ok(narrow) = Features::dense(1, vec![1.0, -0.5], Precision::F64)
        && let Ok(narrow) = Items::new(narrow, None, None)
    {
        let _ = model.scorer.scores(&narrow);
    }
    let _ = model.classify(&items);
    let _ = model.grade(&items);
    if let Ok(set) = PairSet::new(items, vec![Pair { left: 0, right: 1 }, Pair { left: 1, right: 1 }])
        && let Ok(verdicts) = model.judge(&set)
    {
        assert!(verdicts.margins.len() == 2 && verdicts.outcomes().len() == 2);
    }
});

/// Two items that the model knows the features of.
fn items(model: &rankwise::Model) -> Option<Items> {
    let scorer = &model.scorer;
    let n = scorer.n_features;
    if scorer.are_indicators {
        return Some(Items::indicators(scorer.feature_names.clone()?.into_iter().take(2).collect()));
    }
    let features = if n <= 64 {
        let values = (0..2 * n).map(|k| [0.0, 1.0, -0.5, 3e9][k % 4]).collect();
        Features::dense(n, values, Precision::F64).ok()?
    } else {
        Features::sparse(n, vec![0, 1, 2], vec![0, n as u32 - 1], vec![1.0, -2.0]).ok()?
    };
    Items::new(features, scorer.feature_names.clone(), None).ok().filter(|items| items.n_items() == 2)
}
