//! Item tables: one row per item, every column that has no other meaning is a feature.

use std::collections::HashMap;

use super::table::{Header, Table, drop_hint};
use super::{Columns, Source};
use crate::data::{Features, Items, Precision};
use crate::error::{Error, Place, Result};

/// The columns of an item table that are never features.
const RESERVED: [&str; 6] = ["id", "label", "qid", "weight", "group_weight", "margin"];

/// A table of items, in the order of the file.
#[derive(Debug, Clone)]
pub struct ItemTable {
    /// One item per row of the file, with ids where the file has an `id` column.
    pub items: Items,
    /// One label per item, where the file has a `label` column.
    pub labels: Option<Vec<f64>>,
    /// The file as the user named it.
    pub source: String,
}

/// Reads a table of items. Columns: `id`, `label` (both optional), features; `qid`, `weight`, `group_weight` and
/// `margin` are read over. A table of ids alone gives indicator features.
pub fn read_items(source: &Source, columns: &Columns, precision: Precision) -> Result<ItemTable> {
    let table = Table::open(source, columns)?;
    check_given(columns, &[&table.header])?;
    let labels_at = find(&table.header, columns.label.as_deref(), "label");
    let rows = ItemRows::read(table, columns, labels_at)?;
    let source = rows.source;
    let items = match (rows.feature_names.is_empty(), rows.ids) {
        (true, None) => {
            return Err(Error::data(
                Place::file(source),
                "no feature columns and no column id",
                "give every item features, or an id that the model knows",
            ));
        }
        (true, Some(ids)) => {
            check_distinct(&ids, &rows.lines, &source)?;
            Items::indicators(ids)
        }
        (false, ids) => {
            let features = Features::dense(rows.feature_names.len(), rows.values, precision)?;
            Items::new(features, Some(rows.feature_names), ids)?
        }
    };
    Ok(ItemTable { items, labels: rows.labels, source })
}

/// The items that pairs refer to by id.
pub(super) struct Catalogue {
    /// The file as the user named it.
    pub(super) source: String,
    /// Names of the features.
    pub(super) feature_names: Vec<String>,
    values: Vec<f64>,
    rows: HashMap<String, usize>,
}

impl Catalogue {
    /// Reads the rows of an item table that has ids. Equal rows of one id count once.
    pub(super) fn read(table: Table, columns: &Columns) -> Result<Self> {
        if find(&table.header, columns.id.as_deref(), "id").is_none() {
            let problem = format!(
                "no column {} to find the items of the pairs by; columns: {}",
                columns.id.as_deref().unwrap_or("id"),
                table.header.listing()
            );
            return Err(Error::data(
                table.header.place(),
                problem,
                "add it, or name the column of the ids with --id COL",
            ));
        }
        let ItemRows { source, feature_names, ids, values, lines, .. } = ItemRows::read(table, columns, None)?;
        let n_features = feature_names.len();
        let features_of = |row: usize| &values[row * n_features..][..n_features];
        let mut rows: HashMap<String, usize> = HashMap::new();
        for (row, id) in ids.into_iter().flatten().enumerate() {
            match rows.get(&id) {
                Some(&first) if features_of(first) != features_of(row) => {
                    return Err(Error::data(
                        Place::line(source, lines[row]),
                        format!("item {id:?} has other features in line {}", lines[first]),
                        "give every item one row, or write what changes from pair to pair into the columns left.NAME \
                         and right.NAME of the pair table",
                    ));
                }
                Some(_) => {}
                None => {
                    rows.insert(id, row);
                }
            }
        }
        Ok(Catalogue { source, feature_names, values, rows })
    }

    /// The row of an id.
    pub(super) fn row(&self, id: &str) -> Option<usize> {
        self.rows.get(id).copied()
    }

    /// The features of a row.
    pub(super) fn features(&self, row: usize) -> &[f64] {
        &self.values[row * self.feature_names.len()..][..self.feature_names.len()]
    }
}

/// Every name that the user gave must be that of a column in one of the tables.
pub(super) fn check_given(columns: &Columns, headers: &[&Header]) -> Result<()> {
    for (option, name) in columns.given() {
        if headers.iter().any(|header| header.position(name).is_some()) {
            continue;
        }
        let place = headers.first().map(|header| header.place()).unwrap_or_default();
        let listings: Vec<String> = match headers {
            [only] => vec![format!("columns: {}", only.listing())],
            several => several.iter().map(|h| format!("columns of {}: {}", h.source, h.listing())).collect(),
        };
        let problem = format!("no column {name}, named by --{option}; {}", listings.join("; "));
        return Err(Error::data(place, problem, "give the name of a column"));
    }
    Ok(())
}

/// The column that the user named, or else the one with the usual name.
fn find(header: &Header, given: Option<&str>, usual: &str) -> Option<usize> {
    header.find(given.unwrap_or(usual))
}

/// The rows of an item table as they are.
struct ItemRows {
    source: String,
    feature_names: Vec<String>,
    ids: Option<Vec<String>>,
    /// Row by row.
    values: Vec<f64>,
    labels: Option<Vec<f64>>,
    /// The line in which each row begins; empty without ids.
    lines: Vec<u64>,
}

impl ItemRows {
    fn read(mut table: Table, columns: &Columns, label_at: Option<usize>) -> Result<Self> {
        let id_at = find(&table.header, columns.id.as_deref(), "id");
        let given = [&columns.id, &columns.label, &columns.weight, &columns.group];
        let names = &table.header.names;
        let is_feature = |&column: &usize| {
            let name = names[column].as_str();
            !table.header.is_dropped(column)
                && !RESERVED.contains(&name)
                && !given.iter().any(|g| g.as_deref() == Some(name))
        };
        let features_at: Vec<usize> = (0..names.len()).filter(is_feature).collect();
        let feature_names = features_at.iter().map(|&column| names[column].clone()).collect();
        let mut ids = id_at.map(|_| Vec::new());
        let mut labels = label_at.map(|_| Vec::new());
        let (mut values, mut lines) = (Vec::new(), Vec::new());
        while table.next_row()? {
            if table.n_rows() > u32::MAX as usize {
                let problem = format!("more than {} items", u32::MAX);
                return Err(Error::data(Place::line(table.header.source.clone(), table.line()), problem, "use fewer"));
            }
            if let (Some(ids), Some(column)) = (&mut ids, id_at) {
                ids.push(table.word(column)?.to_string());
                lines.push(table.line());
            }
            if let (Some(labels), Some(column)) = (&mut labels, label_at) {
                labels.push(table.number(column)?);
            }
            for &column in &features_at {
                values.push(table.number(column)?);
            }
        }
        Ok(ItemRows { source: table.header.source, feature_names, ids, values, labels, lines })
    }
}

/// Indicator features are one per id, so that none may be there twice.
fn check_distinct(ids: &[String], lines: &[u64], source: &str) -> Result<()> {
    let mut first_lines = HashMap::new();
    for (id, &line) in ids.iter().zip(lines) {
        if let Some(first) = first_lines.insert(id, line) {
            let problem = format!("item {id:?} is in line {first} already, and has no features to tell the two apart");
            return Err(Error::data(Place::line(source, line), problem, "give every item one row"));
        }
    }
    Ok(())
}

/// Why a column cannot be a feature of both tables.
pub(super) fn clash(place: Place, feature: &str, items: &str) -> Error {
    let problem = format!("{items} has a feature {feature} too");
    let hint = drop_hint(&format!("left.{feature}"));
    Error::data(place, problem, format!("rename one of them, or leave this one out with {hint}"))
}
