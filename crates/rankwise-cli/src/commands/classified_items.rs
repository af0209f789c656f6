//! What a classifier says of items: as a class (or its scores) a line, as a table, as JSON.

use rankwise::io::ItemTable;
use rankwise::model::ClassVerdicts;
use serde_json::{Map, Value, json};

use crate::args::PredictFormat;
use crate::text::{csv_field, number};

/// Items with what is said of them.
pub(super) struct ClassifiedItems<'a> {
    pub(super) table: &'a ItemTable,
    pub(super) classes: &'a [String],
    pub(super) verdicts: &'a ClassVerdicts,
    /// Scores are wanted rather than classes.
    pub(super) only_scores: bool,
}

impl ClassifiedItems<'_> {
    fn scores(&self, item: usize) -> &[f64] {
        let n = self.verdicts.n_scores;
        &self.verdicts.scores[item * n..][..n]
    }

    fn chances(&self, item: usize) -> Option<&[f64]> {
        let n = self.classes.len();
        self.verdicts.chances.as_ref().map(|chances| &chances[item * n..][..n])
    }

    fn class(&self, item: usize) -> &str {
        &self.classes[self.verdicts.classes[item] as usize]
    }

    fn group(&self, item: usize) -> Option<&str> {
        self.table.groups.as_ref().map(|groups| groups.name(groups.numbers()[item] as usize))
    }

    /// As the user wants them.
    pub(super) fn text(&self, format: PredictFormat) -> String {
        if format == PredictFormat::Csv {
            return self.csv();
        }
        let line = |item: usize| match self.only_scores {
            true => self.scores(item).iter().map(|&score| number(score)).collect::<Vec<_>>().join(" "),
            false => self.class(item).to_string(),
        };
        (0..self.verdicts.classes.len()).flat_map(|item| [line(item), "\n".into()]).collect()
    }

    /// The names of the columns of scores, then of probabilities.
    fn columns(&self) -> Vec<String> {
        let of_classes = |prefix: &str| self.classes.iter().map(|class| format!("{prefix}{class}")).collect();
        let mut names: Vec<String> =
            if self.verdicts.n_scores == 1 { vec!["score".into()] } else { of_classes("score_") };
        if self.verdicts.chances.is_some() {
            names.extend(of_classes("p_"));
        }
        names
    }

    fn csv(&self) -> String {
        let mut text = String::from("id");
        text += if self.table.groups.is_some() { ",qid" } else { "" };
        text += ",label";
        for name in self.columns() {
            text.push(',');
            text += &csv_field(&name);
        }
        text.push('\n');
        for item in 0..self.verdicts.classes.len() {
            let id = self.table.items.name(item as u32);
            text += &csv_field(&id);
            for word in self.group(item).into_iter().chain([self.class(item)]) {
                text.push(',');
                text += &csv_field(word);
            }
            for value in self.scores(item).iter().chain(self.chances(item).unwrap_or_default()) {
                text.push(',');
                text += &number(*value);
            }
            text.push('\n');
        }
        text
    }

    /// The rows of the table.
    pub(super) fn json(&self) -> Value {
        let by_class = |values: &[f64]| -> Value {
            let entries = self.classes.iter().zip(values).map(|(class, value)| (class.clone(), json!(value)));
            entries.collect::<Map<String, Value>>().into()
        };
        let row = |item: usize| {
            let mut row = json!({ "id": self.table.items.name(item as u32), "label": self.class(item) });
            match self.scores(item) {
                [only] => row["score"] = json!(only),
                scores => row["scores"] = by_class(scores),
            }
            if let Some(chances) = self.chances(item) {
                row["probabilities"] = by_class(chances);
            }
            if let Some(group) = self.group(item) {
                row["qid"] = json!(group);
            }
            row
        };
        (0..self.verdicts.classes.len()).map(row).collect()
    }
}
