//! The rows of a Parquet file, some thousand at a time: numbers and words, column by column.

use std::cell::OnceCell;
use std::fs::File;

use parquet::basic::{ConvertedType, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::Source;
use super::write::{shortest, shortest_f32};
use crate::error::{Error, Place, Result};

/// Rows that are decoded at a time.
const ROWS_AT_A_TIME: usize = 1024;

/// What a column is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned32,
    Unsigned64,
    Single,
    Double,
    Bool,
    Text,
    /// Lists, times, decimals and the like.
    Other,
}

/// The cells of a column, one for each of some rows; `None` where there is nothing.
enum Cells {
    Whole(Vec<Option<i128>>),
    Single(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
    Text(Vec<Option<ByteArray>>),
    Unread,
}

struct Column {
    kind: Kind,
    is_optional: bool,
    reader: Option<ColumnReader>,
    cells: Cells,
    /// The current cell as a word, once somebody has asked for it.
    word: OnceCell<String>,
}

/// A file and its current row.
pub(super) struct ParquetRows {
    source: String,
    file: SerializedFileReader<File>,
    names: Vec<String>,
    columns: Vec<Column>,
    is_wanted: Vec<bool>,
    next_group: usize,
    /// Rows of the current group that were not decoded yet.
    n_left: usize,
    n_decoded: usize,
    at: usize,
}

impl ParquetRows {
    /// Opens a file and reads its schema.
    pub(super) fn open(source: &Source) -> Result<Self> {
        let name = source.name();
        let Source::File { path, .. } = source else {
            return Err(Error::Unsupported {
                problem: format!("{name} cannot be read at any place, as a Parquet file is"),
                remedy: "save it to a file first".into(),
            });
        };
        let file = File::open(path).map_err(|source| Error::Io { path: path.clone(), action: "open", source })?;
        let file = guarded(|| SerializedFileReader::new(file)).map_err(|error| fault(&name, &error))?;
        let schema = file.metadata().file_metadata().schema_descr();
        let (mut names, mut columns) = (Vec::new(), Vec::new());
        for column in schema.columns() {
            names.push(column.path().string());
            let is_flat = column.max_rep_level() == 0 && column.max_def_level() <= 1;
            let kind = if is_flat { kind_of(column) } else { Kind::Other };
            let is_optional = column.max_def_level() > 0;
            columns.push(Column { kind, is_optional, reader: None, cells: Cells::Unread, word: OnceCell::new() });
        }
        let is_wanted = vec![true; names.len()];
        Ok(ParquetRows { source: name, file, names, columns, is_wanted, next_group: 0, n_left: 0, n_decoded: 0, at: 0 })
    }

    /// The names of the columns.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Columns that are left out are not read.
    pub(super) fn leave_out(&mut self, dropped: &[bool]) {
        self.is_wanted.iter_mut().zip(dropped).for_each(|(wanted, dropped)| *wanted = !dropped);
    }

    /// Whether a column has numbers of single precision, or truth values, which are in any.
    pub(super) fn is_single(&self, column: usize) -> bool {
        matches!(self.columns[column].kind, Kind::Single | Kind::Bool)
    }

    /// Goes to the next row; false after the last one.
    pub(super) fn next(&mut self) -> Result<bool> {
        self.columns.iter_mut().for_each(|column| column.word = OnceCell::new());
        self.at += 1;
        if self.at < self.n_decoded {
            return Ok(true);
        }
        while self.n_left == 0 {
            if self.next_group == self.file.num_row_groups() {
                return Ok(false);
            }
            self.open_group()?;
        }
        let n = self.n_left.min(ROWS_AT_A_TIME);
        for column in &mut self.columns {
            guarded(|| column.decode(n)).map_err(|error| fault(&self.source, &error))?;
        }
        (self.n_left, self.n_decoded, self.at) = (self.n_left - n, n, 0);
        Ok(true)
    }

    fn open_group(&mut self) -> Result<()> {
        let mut open = || -> std::result::Result<usize, ParquetError> {
            let group = self.file.get_row_group(self.next_group)?;
            let columns = self.columns.iter_mut().enumerate();
            for (number, column) in columns.filter(|(number, _)| self.is_wanted[*number]) {
                column.reader = if column.kind == Kind::Other { None } else { Some(group.get_column_reader(number)?) };
            }
            usize::try_from(group.metadata().num_rows()).map_err(|_| ParquetError::General("negative rows".into()))
        };
        self.n_left = guarded(&mut open).map_err(|error| fault(&self.source, &error))?;
        self.next_group += 1;
        Ok(())
    }

    /// The current cell of a column as a number: `Err` is the cell as a word, empty where there is nothing.
    pub(super) fn number(&self, column: usize) -> std::result::Result<f64, &str> {
        match &self.columns[column].cells {
            Cells::Whole(cells) => cells[self.at].map(|n| n as f64),
            Cells::Single(cells) => cells[self.at].map(f64::from),
            Cells::Double(cells) => cells[self.at],
            Cells::Text(_) | Cells::Unread => None,
        }
        .ok_or_else(|| self.word(column))
    }

    /// The current cell of a column as a word; empty where there is nothing.
    pub(super) fn word(&self, column: usize) -> &str {
        let Column { cells, word, .. } = &self.columns[column];
        word.get_or_init(|| {
            let mut text = String::new();
            match cells {
                Cells::Whole(cells) => cells[self.at].map(|n| n.to_string()),
                Cells::Single(cells) => cells[self.at].map(|n| shortest_f32(n, &mut text).to_string()),
                Cells::Double(cells) => cells[self.at].map(|n| shortest(n, &mut text).to_string()),
                Cells::Text(cells) => cells[self.at].as_ref().and_then(|cell| Some(cell.as_utf8().ok()?.to_string())),
                Cells::Unread => Some("a list, a time or another value that is neither a number nor a word".into()),
            }
            .unwrap_or_default()
        })
    }

    /// Whether the current cell of a column has bytes that are no text.
    pub(super) fn is_broken(&self, column: usize) -> bool {
        match &self.columns[column].cells {
            Cells::Text(cells) => {
                cells[self.at].as_ref().is_some_and(|cell| cell.as_utf8().is_err() || cell.data().contains(&0))
            }
            _ => false,
        }
    }
}

impl Column {
    fn decode(&mut self, n: usize) -> std::result::Result<(), ParquetError> {
        let (kind, is_optional) = (self.kind, self.is_optional);
        self.cells = match &mut self.reader {
            None => Cells::Unread,
            Some(ColumnReader::BoolColumnReader(reader)) => {
                Cells::Whole(cells(reader, n, is_optional, |value: bool| i128::from(value))?)
            }
            Some(ColumnReader::Int32ColumnReader(reader)) => Cells::Whole(cells(reader, n, is_optional, |value| {
                if kind == Kind::Unsigned32 { i128::from(value as u32) } else { i128::from(value) }
            })?),
            Some(ColumnReader::Int64ColumnReader(reader)) => Cells::Whole(cells(reader, n, is_optional, |value| {
                if kind == Kind::Unsigned64 { i128::from(value as u64) } else { i128::from(value) }
            })?),
            Some(ColumnReader::FloatColumnReader(reader)) => {
                Cells::Single(cells(reader, n, is_optional, |value| value)?)
            }
            Some(ColumnReader::DoubleColumnReader(reader)) => {
                Cells::Double(cells(reader, n, is_optional, |value| value)?)
            }
            Some(ColumnReader::ByteArrayColumnReader(reader)) => {
                Cells::Text(cells(reader, n, is_optional, |value| value)?)
            }
            Some(_) => Cells::Unread,
        };
        Ok(())
    }
}

/// The crate takes some numbers of a damaged file on trust, and panics where they make no sense.
fn guarded<T>(read: impl FnOnce() -> std::result::Result<T, ParquetError>) -> std::result::Result<T, ParquetError> {
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    read.unwrap_or_else(|_| Err(ParquetError::General("the file contradicts itself".into())))
}

/// Exactly `n` cells of a column.
fn cells<T: DataType, C>(
    reader: &mut ColumnReaderImpl<T>,
    n: usize,
    is_optional: bool,
    cell: impl Fn(T::T) -> C,
) -> std::result::Result<Vec<Option<C>>, ParquetError> {
    let (mut levels, mut values) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut n_read = 0;
    while n_read < n {
        let (n_records, ..) = reader.read_records(n - n_read, is_optional.then_some(&mut levels), None, &mut values)?;
        if n_records == 0 {
            return Err(ParquetError::EOF("a column is shorter than the others".into()));
        }
        n_read += n_records;
    }
    let mut values = values.into_iter().map(cell);
    if is_optional {
        Ok(levels.into_iter().map(|level| if level > 0 { values.next() } else { None }).collect())
    } else {
        Ok(values.map(Some).collect())
    }
}

fn kind_of(column: &parquet::schema::types::ColumnDescriptor) -> Kind {
    use parquet::basic::Type;
    let converted = column.converted_type();
    // Times and decimals are whole numbers, too, but not these.
    let is_plain_number = matches!(column.logical_type_ref(), None | Some(LogicalType::Integer(_)))
        && !matches!(
            converted,
            ConvertedType::DECIMAL
                | ConvertedType::DATE
                | ConvertedType::TIME_MILLIS
                | ConvertedType::TIME_MICROS
                | ConvertedType::TIMESTAMP_MILLIS
                | ConvertedType::TIMESTAMP_MICROS
        );
    match column.physical_type() {
        Type::BOOLEAN => Kind::Bool,
        Type::INT32 if converted == ConvertedType::UINT_32 => Kind::Unsigned32,
        Type::INT64 if converted == ConvertedType::UINT_64 => Kind::Unsigned64,
        Type::INT32 | Type::INT64 if is_plain_number => Kind::Signed,
        Type::FLOAT => Kind::Single,
        Type::DOUBLE => Kind::Double,
        Type::BYTE_ARRAY if converted != ConvertedType::DECIMAL => Kind::Text,
        _ => Kind::Other,
    }
}

fn fault(name: &str, error: &ParquetError) -> Error {
    let text = error.to_string();
    let remedy = match text.contains("Disabled feature") {
        true => "write it again with the compression snappy, gzip, lz4 or brotli, or with none",
        false => "write it again, or convert it to CSV",
    };
    Error::data(Place::file(name), format!("Parquet: {text}"), remedy)
}
