//! `evaluate` of a classifier: how many items it puts into the wrong class, beside what the larger class would get.

use rankwise::Model;
use rankwise::data::Ranking;
use rankwise::model::class_name;
use serde_json::json;

use super::super::train_online::class_error;
use super::items::is_present;
use crate::exit::Run;
use crate::output::Output;
use crate::text::{Facts, rounded_or_dash};

/// Measures and tells.
pub(super) fn tell(model: &Model, data: &Ranking, output: &Output) -> Run<()> {
    let zero_one = class_error(model, data)?;
    let present: Vec<usize> = (0..data.n_items()).filter(|&item| is_present(data, item)).collect();
    let weight = |item: usize| data.weight(item) * data.group_weight(data.groups.numbers()[item] as usize);
    let weight_of = |is_meant: &dyn Fn(&str) -> bool| -> f64 {
        present.iter().filter(|&&item| is_meant(&class_name(data.labels[item]))).map(|&item| weight(item)).sum()
    };
    let total = weight_of(&|_| true);
    let classes = model.classes.as_deref().unwrap_or_default();
    let largest = classes.iter().map(|class| weight_of(&|label| label == class)).fold(0.0, f64::max);
    let majority_error = (total > 0.0).then(|| 1.0 - largest / total);
    let unknown = total - classes.iter().map(|class| weight_of(&|label| label == class)).sum::<f64>();
    let mut warnings = Vec::new();
    if total == 0.0 {
        warnings.push("zero_one is not defined: no item has a weight above 0".to_string());
    } else if unknown > 0.0 {
        warnings.push(format!("some labels are neither {}: they count as wrong", classes.join(" nor ")));
    }
    warnings.iter().for_each(|warning| output.warning(warning));
    output.result(
        || {
            json!({
                "metrics": { "zero_one": zero_one },
                "items": present.len(),
                "groups": null,
                "groups_skipped": 0,
                "majority_error": majority_error,
                "warnings": warnings,
            })
        },
        || {
            let mut facts = Facts::default();
            facts.add("items", present.len().to_string());
            facts.add("zero_one", rounded_or_dash(zero_one));
            facts.add("majority_error", rounded_or_dash(majority_error));
            facts.to_string()
        },
    )
}
