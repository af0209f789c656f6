//! Items as text, every number in the shortest form that reads back as the same one.

use std::io::{self, Write};

use super::Shape;
use super::input::ItemRow;
use crate::error::{Error, Place, Result};
use crate::io::svmlight::id_of;
use crate::io::write::{shortest, shortest_f32};

/// Lines `label qid:GROUP cost:WEIGHT index:value … # id`.
pub(super) struct SvmLightText<'a> {
    out: &'a mut dyn Write,
    shape: Shape,
    n_items: usize,
    line: String,
    cell: String,
}

impl<'a> SvmLightText<'a> {
    pub(super) fn new(out: &'a mut dyn Write, shape: Shape) -> Self {
        SvmLightText { out, shape, n_items: 0, line: String::new(), cell: String::new() }
    }

    /// Adds an item; an error of what it is, or of writing it.
    pub(super) fn push(&mut self, row: &ItemRow<'_>, id: &str) -> Result<io::Result<()>> {
        use std::fmt::Write as _;
        let refuse = |problem: String| {
            let place = Place { line: row.line, ..Place::file(format!("item {}", self.n_items + 1)) };
            Err(Error::data(place, problem, "rename it, or write .csv or .rwb"))
        };
        self.line.clear();
        self.line += shortest(row.label.unwrap_or(0.0), &mut self.cell);
        if self.shape.has_groups {
            let group = row.group.unwrap_or_default();
            if group.is_empty() || group.contains(|c: char| c.is_ascii_whitespace() || c == '#') {
                return refuse(format!(
                    "the group {group:?} is empty, or has blanks or #: SVMlight's format cannot write it"
                ));
            }
            self.line += " qid:";
            self.line += group;
        }
        if self.shape.has_weights {
            self.line += " cost:";
            self.line += shortest(row.weight.unwrap_or(1.0), &mut self.cell);
        }
        for (at, &value) in row.values.iter().enumerate() {
            let column = row.columns.map_or(at, |columns| columns[at] as usize);
            // Writing to a string cannot fail.
            let _ = write!(self.line, " {}:", column + 1);
            self.line += number(value, self.shape.is_f32, &mut self.cell);
        }
        let width = row.columns.map_or(row.values.len(), |columns| columns.last().map_or(0, |&last| last as usize + 1));
        if self.n_items == 0 && width < self.shape.n_features {
            // Features end with the last one that some line has, and this one may have none but zeros.
            let _ = write!(self.line, " {}:0", self.shape.n_features);
        }
        if self.shape.has_ids {
            if id.contains(['\n', '\r']) {
                return refuse(format!("the id {id:?} has more than one line, which SVMlight's format cannot write"));
            }
            if id_of(id) != id {
                return refuse(format!("the id {id:?} would be read back from SVMlight's format as {:?}", id_of(id)));
            }
            self.line += " # ";
            self.line += id;
        }
        self.line.push('\n');
        self.n_items += 1;
        Ok(self.out.write_all(self.line.as_bytes()))
    }

    pub(super) fn is_complete(&self) -> bool {
        self.n_items == self.shape.n_items
    }
}

fn number(value: f64, is_f32: bool, cell: &mut String) -> &str {
    if is_f32 { shortest_f32(value as f32, cell) } else { shortest(value, cell) }
}

/// A table with a header: what is known of items, then their features.
pub(super) struct TableText<'a> {
    table: csv::Writer<&'a mut dyn Write>,
    shape: Shape,
    n_items: usize,
    dense: Vec<f64>,
    cell: String,
}

impl<'a> TableText<'a> {
    pub(super) fn new(
        out: &'a mut dyn Write,
        delimiter: u8,
        shape: Shape,
        names: Option<&[String]>,
    ) -> csv::Result<Self> {
        let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
        let heads = [
            (shape.has_ids, "id"),
            (shape.has_groups, "qid"),
            (shape.has_labels, "label"),
            (shape.has_weights, "weight"),
            (shape.has_group_weights, "group_weight"),
        ];
        for (_, name) in heads.into_iter().filter(|(has, _)| *has) {
            table.write_field(name)?;
        }
        for number in 0..shape.n_features {
            match names.and_then(|names| names.get(number)) {
                Some(name) => table.write_field(name)?,
                None => table.write_field(format!("x{}", number + 1))?,
            }
        }
        table.write_record(None::<&[u8]>)?;
        Ok(TableText { table, shape, n_items: 0, dense: vec![0.0; shape.n_features], cell: String::new() })
    }

    pub(super) fn push(&mut self, row: &ItemRow<'_>, id: &str) -> csv::Result<()> {
        let (table, shape, cell) = (&mut self.table, &self.shape, &mut self.cell);
        if shape.has_ids {
            table.write_field(id)?;
        }
        if shape.has_groups {
            table.write_field(row.group.unwrap_or_default())?;
        }
        let heads = [
            (shape.has_labels, row.label.unwrap_or(0.0)),
            (shape.has_weights, row.weight.unwrap_or(1.0)),
            (shape.has_group_weights, row.group_weight.unwrap_or(1.0)),
        ];
        for (_, value) in heads.into_iter().filter(|(has, _)| *has) {
            table.write_field(shortest(value, cell))?;
        }
        self.dense.fill(0.0);
        for (at, &value) in row.values.iter().enumerate() {
            self.dense[row.columns.map_or(at, |columns| columns[at] as usize)] = value;
        }
        for &value in &self.dense {
            table.write_field(number(value, shape.is_f32, cell))?;
        }
        table.write_record(None::<&[u8]>)?;
        self.n_items += 1;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<bool> {
        self.table.flush()?;
        Ok(self.n_items == self.shape.n_items)
    }
}
