//! A linear model as an expression for a database.
//!
//! Rankers and regressions give the score of a row, from columns with the names of features; comparers the outcome −1, 0 or 1 of
//! two rows that the query calls "left" and "right" (and "pair", for what describes the comparison); classifiers of two classes and
//! models of grades the label. A missing value (NULL) makes the answer NULL. Numbers have exponents, which makes them floating
//! point in most databases, and are the shortest that read back as the same number.

use super::linear::Linear;
use super::{Dialect, ExportOptions, Kind, Target, feature_names};
use crate::error::{Error, Result};
use crate::model::{Chances, Model, ScoreFunction, TieBand};

/// Terms that stand in one pair of parentheses.
const TOGETHER: usize = 100;

/// The expression.
pub(super) fn write(model: &Model, options: &ExportOptions) -> Result<String> {
    if model.scorer.are_indicators {
        return Err(Error::Unsupported {
            problem: "SQL scores columns of features, and this model knows items by their names alone".into(),
            remedy: "train with features of items (--items), or look scores up in a table (predict --format csv)"
                .into(),
        });
    }
    let quote = Quote(options.dialect.unwrap_or_default());
    let (weights, bias) = Linear::single(model, Target::Sql)?;
    let names = feature_names(model)?;
    let score = || {
        let columns = names.iter().map(|name| quote.name(name));
        sum(weights.iter().copied().zip(columns), bias)
    };
    let text = match Kind::of(model) {
        _ if options.scores => score(),
        Kind::Score => score(),
        Kind::Outcome => {
            let differences = names.iter().map(|name| {
                let column = quote.name(name);
                format!("({}.{column} - {}.{column})", quote.name("right"), quote.name("left"))
            });
            let margin = sum(weights.iter().copied().zip(differences), 0.0);
            match &model.band {
                None => outcome(&margin, &literal(model.threshold)),
                Some(band) => outcome(&margin, &width(model, band, &names, quote)?),
            }
        }
        Kind::Class => {
            let classes = model.classes.as_deref().unwrap_or_default();
            let [first, second] = classes else { return Err(unsupported("more than two classes")) };
            let score = score();
            // Where probabilities decide, equal ones mean the first class.
            let curve = model.class_rule.as_ref().and_then(|rule| rule.sigmoids.as_ref()?.first().copied());
            let (value, is) = match curve {
                Some(curve) => (format!("{} * ({score}) + {}", literal(curve.slope), literal(curve.offset)), ">"),
                None => (score, ">="),
            };
            let not = if is == ">" { "<=" } else { "<" };
            let [first, second] = [first, second].map(|class| quote.class(class));
            format!("CASE WHEN {value} {is} 0 THEN {second} WHEN {value} {not} 0 THEN {first} END")
        }
        Kind::Grade => {
            let Some(rule) = &model.grades else { return Err(unsupported("no thresholds")) };
            let score = score();
            let below = rule.thresholds.iter().zip(&rule.grades);
            let mut text = String::from("CASE");
            for (threshold, grade) in below {
                text += &format!(" WHEN {score} < {} THEN {}", literal(*threshold), plain(*grade));
            }
            if let (Some(last), Some(threshold)) = (rule.grades.last(), rule.thresholds.last()) {
                text += &format!(" WHEN {score} >= {} THEN {}", literal(*threshold), plain(*last));
            }
            text + " END"
        }
    };
    Ok(text + "\n")
}

fn unsupported(what: &str) -> Error {
    Error::Unsupported {
        problem: format!("an expression in SQL cannot tell {what} apart"),
        remedy: "export to onnx, or look predictions up in a table (predict --format csv)".into(),
    }
}

/// −1, 0 or 1; nothing where the margin or the threshold is NULL.
fn outcome(margin: &str, threshold: &str) -> String {
    format!(
        "CASE WHEN ABS({margin}) <= {threshold} THEN 0 WHEN {margin} > {threshold} THEN 1 \
         WHEN {margin} < -({threshold}) THEN -1 END"
    )
}

/// Where |margin| stops being a tie: the width of the tie band, twice of it in Davidson's model.
fn width(model: &Model, band: &TieBand, names: &[String], quote: Quote) -> Result<String> {
    if !matches!(model.scorer.function, ScoreFunction::Linear { .. }) {
        return Err(unsupported("pairs by a tie band over a kernel"));
    }
    let factor = match model.chances {
        Some(Chances::RaoKupper { .. }) => return Err(unsupported("pairs by a tie band with the logistic loss")),
        Some(Chances::Davidson { .. }) => 2.0,
        _ => 1.0,
    };
    let mut constant = band.base;
    let mut terms = Vec::new();
    let sides = ["left", "right"].map(|side| quote.name(side));
    for (at, name) in names.iter().enumerate() {
        let (shift, divisor) = model.scorer.scaler.as_ref().map_or((0.0, 1.0), |s| (s.shift[at], s.divisor[at]));
        let [left, right] = [&sides[0], &sides[1]].map(|side| format!("{side}.{}", quote.name(name)));
        let mean = band.mean[at] / divisor;
        constant -= mean * shift;
        terms.push((factor * 0.5 * mean, format!("({left} + {right})")));
        terms.push((factor * band.difference[at] / divisor, format!("ABS({left} - {right})")));
    }
    for (at, name) in band.context_names.iter().enumerate() {
        let (shift, divisor) = band.context_scaler.as_ref().map_or((0.0, 1.0), |s| (s.shift[at], s.divisor[at]));
        let weight = band.context[at] / divisor;
        constant -= weight * shift;
        terms.push((factor * weight, format!("{}.{}", quote.name("pair"), quote.name(name))));
    }
    let width = sum(terms.into_iter(), factor * constant);
    // max(0, width), in the words that every database knows.
    Ok(format!("((({width}) + ABS({width})) / 2e0)"))
}

/// weight * column + … + constant. Columns of weight 0 stay, so that a missing value is one everywhere.
fn sum(terms: impl Iterator<Item = (f64, String)>, constant: f64) -> String {
    let mut parts: Vec<String> = terms.map(|(weight, column)| format!("{} * {column}", literal(weight))).collect();
    if constant != 0.0 || parts.is_empty() {
        parts.push(literal(constant));
    }
    // In parentheses, so that no database has to go thousands of steps deep.
    while parts.len() > TOGETHER {
        parts = parts.chunks(TOGETHER).map(|some| format!("({})", some.join(" + "))).collect();
    }
    parts.join(" + ")
}

/// A floating-point number.
fn literal(value: f64) -> String {
    if value < 0.0 { format!("(-{:e})", -value) } else { format!("{:e}", value + 0.0) }
}

/// A grade: whole numbers stay whole.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value}") } else { literal(value) }
}

/// How names and words are quoted.
#[derive(Clone, Copy)]
struct Quote(Dialect);

impl Quote {
    fn name(self, name: &str) -> String {
        match self.0 {
            Dialect::Ansi => format!("\"{}\"", name.replace('"', "\"\"")),
            Dialect::Mysql => format!("`{}`", name.replace('`', "``")),
            Dialect::Bigquery => format!("`{}`", escaped(name, '`')),
        }
    }

    /// A class: a whole number as it is, anything else as a word.
    fn class(self, class: &str) -> String {
        if class.parse::<i64>().is_ok_and(|number| number.to_string() == class) {
            return class.into();
        }
        match self.0 {
            Dialect::Ansi => format!("'{}'", class.replace('\'', "''")),
            Dialect::Mysql => format!("'{}'", class.replace('\\', "\\\\").replace('\'', "''")),
            Dialect::Bigquery => format!("'{}'", escaped(class, '\'')),
        }
    }
}

/// With backslashes, for BigQuery, whose words end with their line.
fn escaped(text: &str, quote: char) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\\' => out += "\\\\",
            letter if letter == quote => {
                out.push('\\');
                out.push(letter);
            }
            letter => out.push(letter),
        }
    }
    out
}
