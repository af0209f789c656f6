//! Where converted items go.

use std::io::Write;
use std::path::Path;

use super::input::ItemRow;
#[cfg(feature = "parquet")]
use super::parquet_file::ParquetFile;
use super::text::{SvmLightText, TableText};
use super::{Shape, failed};
use crate::error::{Error, Result};
use crate::io::Format;
use crate::io::block_file::{BlockWriter, NewRow};
use crate::io::write::of_csv;

/// Columns beyond which a table is of no use to anybody.
const MOST_COLUMNS: usize = 1 << 20;

/// What is being written.
pub(super) struct Sink<'a> {
    kind: Kind<'a>,
    target: &'a Path,
    has_ids: bool,
}

enum Kind<'a> {
    Blocks(Box<BlockWriter<'a>>),
    SvmLight(SvmLightText<'a>),
    Table(Box<TableText<'a>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetFile<'a>>),
}

/// Whether a format can have what there is.
pub(super) fn check(format: Format, shape: &Shape) -> Result<()> {
    let refuse =
        |problem: &str, remedy: &str| Err(Error::Unsupported { problem: problem.into(), remedy: remedy.into() });
    match format {
        Format::SvmLight if !shape.has_labels => {
            refuse("SVMlight's format begins every line with a label, and the items have none", "write .csv or .rwb")
        }
        Format::SvmLight if shape.has_group_weights => {
            refuse("SVMlight's format has no weights of groups, and the items have some", "write .csv or .rwb")
        }
        // A table of ids alone means a feature for each item, and one without either is none.
        Format::Csv | Format::Tsv | Format::Parquet if shape.n_features == 0 => refuse(
            "the items have no features, and a table would read as others",
            "give them some, or write .svm or .rwb",
        ),
        Format::Csv | Format::Tsv | Format::Parquet if shape.n_features > MOST_COLUMNS => {
            refuse("a table of more than a million columns is of no use", "write .svm or .rwb")
        }
        _ => Ok(()),
    }
}

/// What a format does not keep.
pub(super) fn losses(format: Format, shape: &Shape) -> Vec<String> {
    let names = format == Format::SvmLight && shape.has_names;
    names.then(|| "SVMlight's format has no names of features: they are numbered".to_string()).into_iter().collect()
}

impl<'a> Sink<'a> {
    pub(super) fn new(
        format: Format,
        out: &'a mut dyn Write,
        target: &'a Path,
        shape: Shape,
        names: Option<&'a [String]>,
        block_bytes: usize,
    ) -> Result<Self> {
        let kind = match format {
            Format::Blocks => {
                let writer = BlockWriter::new(out, shape, names, block_bytes as u64).map_err(failed(target))?;
                Kind::Blocks(Box::new(writer))
            }
            Format::SvmLight => Kind::SvmLight(SvmLightText::new(out, shape)),
            Format::Csv | Format::Tsv => {
                let delimiter = format.delimiter().unwrap_or(b',');
                let table = TableText::new(out, delimiter, shape, names).map_err(of_csv).map_err(failed(target))?;
                Kind::Table(Box::new(table))
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => Kind::Parquet(Box::new(ParquetFile::new(out, shape, names).map_err(failed(target))?)),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(crate::io::source::without_parquet(&target.display().to_string())),
        };
        Ok(Sink { kind, target, has_ids: shape.has_ids })
    }

    /// Adds an item; `number` is that in the input, from 0, by which an item without an id is known.
    pub(super) fn push(&mut self, number: usize, begins_group: bool, row: &ItemRow<'_>) -> Result<()> {
        let own;
        let id = match row.id {
            Some(id) => id,
            None if self.has_ids => {
                own = format!("#{}", number + 1);
                &own
            }
            None => "",
        };
        match &mut self.kind {
            Kind::Blocks(writer) => writer
                .push(&NewRow {
                    label: row.label.unwrap_or(0.0),
                    weight: row.weight.unwrap_or(1.0),
                    begins_group,
                    group: row.group.unwrap_or_default(),
                    group_weight: row.group_weight.unwrap_or(1.0),
                    id,
                    columns: row.columns,
                    values: row.values,
                })
                .map_err(failed(self.target)),
            Kind::SvmLight(text) => text.push(row, id)?.map_err(failed(self.target)),
            Kind::Table(table) => table.push(row, id).map_err(of_csv).map_err(failed(self.target)),
            #[cfg(feature = "parquet")]
            Kind::Parquet(file) => file.push(row, id).map_err(failed(self.target)),
        }
    }

    /// Ends the file; false if it is not what was announced.
    pub(super) fn finish(self) -> Result<bool> {
        match self.kind {
            Kind::Blocks(writer) => writer.finish(),
            Kind::SvmLight(text) => Ok(text.is_complete()),
            Kind::Table(table) => table.finish(),
            #[cfg(feature = "parquet")]
            Kind::Parquet(file) => file.finish(),
        }
        .map_err(failed(self.target))
    }
}
