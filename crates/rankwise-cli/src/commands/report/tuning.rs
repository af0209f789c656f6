//! How a model was chosen: the search in facts, in pictures and as a table of every point.

use rankwise::kernel::{Gamma, Kernel};
use rankwise::model::{Method, Training, Tuning, TuningSplit};

use super::content::show;
use super::tuning_charts::{self, Charts};
use crate::commands::tuning as search;
use crate::page::{Page, Table};
use crate::picture::Picture;
use crate::text::{Facts, count};

/// The section of a model that was tuned.
pub(super) fn section(page: &mut Page, training: &Training, pictures: &mut Vec<Picture>) {
    let Some(tuning) = &training.tuning else { return };
    page.section("How it was chosen");
    page.facts(&facts(tuning, training));
    tuning.warnings.iter().for_each(|warning| page.note(&format!("The search warned: {warning}.")));
    if tuning.n_measured() > 1 {
        page.paragraph(&format!(
            "As the best of {}, this value flatters; what the model does on these data stands below.",
            count(tuning.n_measured(), "point")
        ));
    }
    let Charts { figures, alone, n_left_out } = tuning_charts::charts(tuning, training.method);
    if !figures.is_empty() {
        show(page, figures, pictures);
    }
    if n_left_out > 0 {
        page.paragraph(&format!(
            "{} would be too large or too many to draw; the table has all points.",
            count(n_left_out, "picture")
        ));
    }
    if !alone.is_empty() {
        let caption = format!("What has a single C and γ; {}", direction(tuning));
        page.table(&table(tuning, &alone, caption));
    }
    if alone.len() < tuning.points.len() {
        let all: Vec<usize> = (0..tuning.points.len()).collect();
        let caption = format!("Every point, in the order of the grid; {}", direction(tuning));
        page.details(&format!("All {}", count(all.len(), "point")), &table(tuning, &all, caption));
    }
}

fn facts(tuning: &Tuning, training: &Training) -> Facts {
    let mut facts = Facts::default();
    facts.add("metric", format!("{}, {}", tuning.metric, direction(tuning)));
    let held_out = match (tuning.split, training.groups) {
        (TuningSplit::Folds { folds }, Some(groups)) => {
            format!("{}, which never split one of the {}", count(folds, "fold"), count(groups, "group"))
        }
        (split, _) => search::split_text(split),
    };
    facts.add("measured on", held_out);
    let missing = match tuning.points.len() - tuning.n_measured() {
        0 => String::new(),
        n if tuning.stopped_after.is_some() => format!(", {n} of them not measured: the time was over"),
        n => format!(", {n} of them could not be measured"),
    };
    facts.add("tried", format!("{}{missing}", count(tuning.points.len(), "point")));
    let best = &tuning.points[tuning.best];
    let epsilon = best.epsilon.map_or_else(String::new, |epsilon| format!(", ε {}", search::short(epsilon)));
    let kernel = kernel_text(best.kernel);
    facts.add("chosen", format!("{}, {kernel}{epsilon}, C {}", best.loss.name(), search::short(best.c)));
    facts.add(
        "its value",
        match tuning.split {
            TuningSplit::Folds { .. } => {
                format!("{}, over the folds {}", search::four_or_dash(best.mean), search::spread(&best.folds))
            }
            TuningSplit::Validation { .. } | TuningSplit::ValidationItems { .. } => search::four_or_dash(best.mean),
        },
    );
    facts.add("beside it", beside(tuning, training.method));
    facts
}

/// What a constant answer gets.
pub(super) fn beside(tuning: &Tuning, method: Method) -> String {
    match &tuning.baseline {
        Some(baseline) => {
            let answer = search::constant_answer(tuning, baseline, method, ['“', '”']);
            format!("{answer} would get {}", search::four_or_dash(Some(baseline.value)))
        }
        None => format!("{} of a constant answer is not known", tuning.metric),
    }
}

pub(super) fn direction(tuning: &Tuning) -> &'static str {
    if tuning.greater_is_better { "more is better" } else { "less is better" }
}

/// A kernel as it was asked for.
fn kernel_text(kernel: Kernel) -> String {
    let gamma = match kernel {
        Kernel::Poly { gamma, .. } | Kernel::Rbf { gamma } | Kernel::Sigmoid { gamma, .. } => Some(gamma),
        _ => None,
    };
    let name = tuning_charts::family_name(kernel);
    gamma.map_or_else(|| name.clone(), |gamma| format!("{name}, γ {}", gamma_text(gamma)))
}

/// γ as it was asked for.
pub(super) fn gamma_text(gamma: Gamma) -> String {
    match gamma {
        Gamma::Value(value) => search::short(value),
        Gamma::Scale => "scale".into(),
    }
}

fn table(tuning: &Tuning, points: &[usize], caption: String) -> Table {
    let (header, rows) = search::rows(tuning, points, "★");
    let numbered = rows.into_iter().zip(points).map(|(mut row, at)| {
        row.insert(0, (at + 1).to_string());
        row
    });
    let mut names = vec!["point".to_string()];
    names.extend(header);
    Table { caption, header: names, rows: numbered.collect(), is_words: false }
}
