//! Tables of pairs, written so that reading gives back the same numbers.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::data::Comparisons;
use crate::error::{Error, Result};

/// Writes comparisons as CSV: `left,right` where the items have ids, `left.NAME,…,right.NAME,…` where they have features
/// of their own (`x1`, `x2`, … when these have no names), `outcome` (−1, 0, 1), then `weight`, `group` and `pair.NAME` where
/// there are any. Numbers are in shortest round-trip form; reading takes blanks off the ends of ids.
pub fn write_pairs(out: &mut dyn Write, data: &Comparisons) -> Result<()> {
    let text = PairText { data, delimiter: b',', group_names: None, times: None };
    write_table(out, &text).map_err(|source| Error::Io { path: PathBuf::from("output"), action: "write", source })
}

/// A table of pairs to be written.
pub(super) struct PairText<'a> {
    pub(super) data: &'a Comparisons,
    pub(super) delimiter: u8,
    /// What the groups are called; `None`: by their numbers.
    pub(super) group_names: Option<&'a [String]>,
    /// The time of each pair.
    pub(super) times: Option<&'a [String]>,
}

pub(super) fn write_table(out: &mut dyn Write, text: &PairText<'_>) -> io::Result<()> {
    write_rows(out, text).map_err(of_csv)
}

/// What the system said; the crate's own conversion hides which kind of error it is.
pub(super) fn of_csv(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn write_rows(out: &mut dyn Write, text: &PairText<'_>) -> csv::Result<()> {
    let data = text.data;
    let mut table = csv::WriterBuilder::new().delimiter(text.delimiter).from_writer(out);
    let items = &data.set.items;
    let n_features = if items.are_indicators { 0 } else { items.features.n_cols() };
    let names = match &items.feature_names {
        Some(names) => names.clone(),
        None => (1..=n_features).map(|number| format!("x{number}")).collect(),
    };
    if items.ids.is_some() {
        table.write_field("left")?;
        table.write_field("right")?;
    }
    for side in ["left", "right"] {
        for name in &names[..n_features] {
            table.write_field(format!("{side}.{name}"))?;
        }
    }
    table.write_field("outcome")?;
    let others = [("weight", data.weights.is_some()), ("group", data.groups.is_some()), ("time", text.times.is_some())];
    for (name, _) in others.into_iter().filter(|(_, is_there)| *is_there) {
        table.write_field(name)?;
    }
    for name in data.set.context.iter().flat_map(|context| &context.names) {
        table.write_field(format!("pair.{name}"))?;
    }
    table.write_record(None::<&[u8]>)?;

    let mut row = vec![0.0; n_features];
    let mut context_row = vec![0.0; data.set.context.as_ref().map_or(0, |context| context.names.len())];
    let mut cell = String::new();
    for (k, (pair, outcome)) in data.set.pairs.iter().zip(&data.outcomes).enumerate() {
        let sides = [pair.left as usize, pair.right as usize];
        if let Some(ids) = &items.ids {
            for side in sides {
                table.write_field(&ids[side])?;
            }
        }
        if n_features > 0 {
            for side in sides {
                items.features.copy_row(side, &mut row);
                for &value in &row {
                    table.write_field(shortest(value, &mut cell))?;
                }
            }
        }
        table.write_field(["-1", "0", "1"][*outcome as usize])?;
        if let Some(weights) = &data.weights {
            table.write_field(shortest(weights[k], &mut cell))?;
        }
        if let Some(groups) = &data.groups {
            match text.group_names.and_then(|names| names.get(groups[k] as usize)) {
                Some(name) => table.write_field(name)?,
                None => table.write_field(groups[k].to_string())?,
            }
        }
        if let Some(times) = text.times {
            table.write_field(times.get(k).map_or("", String::as_str))?;
        }
        if let Some(context) = &data.set.context {
            context.features.copy_row(k, &mut context_row);
            for &value in &context_row {
                table.write_field(shortest(value, &mut cell))?;
            }
        }
        table.write_record(None::<&[u8]>)?;
    }
    Ok(table.flush()?)
}

/// The shortest text that reads back as the same number in single precision.
pub(super) fn shortest_f32(value: f32, cell: &mut String) -> &str {
    use std::fmt::Write;
    cell.clear();
    let has_plain_form = value == 0.0 || (1e-5..1e7).contains(&value.abs());
    // Writing to a string cannot fail.
    let _ = if has_plain_form { write!(cell, "{value}") } else { write!(cell, "{value:e}") };
    cell
}

/// The shortest text that reads back as the same number.
pub(super) fn shortest(value: f64, cell: &mut String) -> &str {
    use std::fmt::Write;
    cell.clear();
    let has_plain_form = value == 0.0 || (1e-5..1e16).contains(&value.abs());
    // Writing to a string cannot fail.
    let _ = if has_plain_form { write!(cell, "{value}") } else { write!(cell, "{value:e}") };
    cell
}
