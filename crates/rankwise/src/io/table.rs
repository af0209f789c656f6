//! A table read row by row: a header of distinct names, rows as long as the header, cells of clean UTF-8. Every error
//! names file, line and column.

use std::collections::HashMap;
use std::path::PathBuf;

use super::Columns;
use super::source::{Format, Source};
use super::text::{TextReader, UnclosedQuote};
use crate::error::{Error, Place, Result};

/// The first line of a table.
pub(super) struct Header {
    /// The file as the user named it.
    pub(super) source: String,
    /// The names of the columns.
    pub(super) names: Vec<String>,
    /// Where each name is.
    positions: HashMap<String, usize>,
    /// Whether the user leaves each column out.
    dropped: Vec<bool>,
    line: u64,
}

impl Header {
    /// Where a column is, unless the user leaves it out.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.position(name).filter(|&column| !self.is_dropped(column))
    }

    /// Whether the user leaves a column out.
    pub(super) fn is_dropped(&self, column: usize) -> bool {
        self.dropped[column]
    }

    /// Where a column is.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// The header as a place.
    pub(super) fn place(&self) -> Place {
        Place::line(&self.source, self.line)
    }

    /// The name of a column as a place.
    pub(super) fn place_of(&self, column: usize) -> Place {
        self.place().column(column + 1, &self.names[column])
    }

    /// The columns there are, for messages about one that is not there.
    pub(super) fn listing(&self) -> String {
        self.names.join(", ")
    }

    /// Leaves out the columns of these names; those that are not there are somebody else's business.
    fn drop_columns(&mut self, names: &[String]) {
        self.dropped = vec![false; self.names.len()];
        for column in names.iter().filter_map(|name| self.positions.get(name)) {
            self.dropped[*column] = true;
        }
    }

    /// Takes the names in, which must be there and distinct.
    fn fill(&mut self, names: Vec<String>, source: &Source) -> Result<()> {
        self.names = names;
        if let [only] = self.names.as_slice()
            && let Some(other) = [';', '\t', ','].into_iter().find(|&separator| only.contains(separator))
        {
            // A name that tells the format has the last word, so that no option would help.
            let is_named =
                matches!(source, Source::File { path, .. } if Format::of_path(path).is_ok_and(Format::is_table));
            let (expected, remedy) = match (source.format(), other, is_named) {
                (Format::Csv, '\t', true) => ("commas", "for tabs rename the file from .csv to .tsv"),
                (Format::Csv, '\t', false) => ("commas", "for tabs read it with --input-format tsv"),
                (Format::Tsv, ',', true) => ("tabs", "for commas rename the file from .tsv to .csv"),
                (Format::Tsv, ',', false) => ("tabs", "for commas read it with --input-format csv"),
                (Format::Csv, ..) => ("commas", "separate the columns by commas"),
                (Format::Tsv | Format::SvmLight | Format::Blocks, ..) => ("tabs", "separate the columns by tabs"),
            };
            return Err(Error::data(
                self.place_of(0),
                format!("the header is one column that contains {other:?}, expected columns separated by {expected}"),
                remedy,
            ));
        }
        for (column, name) in self.names.iter().enumerate() {
            if name.is_empty() {
                return Err(Error::data(
                    self.place_of(column),
                    "a column without a name",
                    "name it, or take it out of the file",
                ));
            }
            if let Some(first) = self.positions.insert(name.clone(), column) {
                return Err(Error::data(
                    self.place_of(column),
                    format!("column {} has the same name", first + 1),
                    "rename one of them",
                ));
            }
        }
        Ok(())
    }
}

/// How to leave a column out; the columns of the two sides go together.
pub(super) fn drop_hint(name: &str) -> String {
    match name.strip_prefix("left.").or(name.strip_prefix("right.")) {
        Some(feature) => format!("--drop left.{feature},right.{feature}"),
        None => format!("--drop {name}"),
    }
}

/// A table and its current row.
pub(super) struct Table {
    pub(super) header: Header,
    reader: csv::Reader<TextReader>,
    record: csv::ByteRecord,
    path: PathBuf,
    action: &'static str,
    n_rows: usize,
}

impl Table {
    /// Opens a source and reads its header.
    pub(super) fn open(source: &Source, columns: &Columns) -> Result<Self> {
        let name = source.name();
        let path = PathBuf::from(&name);
        let Some(delimiter) = source.format().delimiter() else {
            let kind = if source.format() == Format::Blocks { "a block file" } else { "in SVMlight's format" };
            return Err(Error::Unsupported {
                problem: format!(
                    "{name} is {kind}, which has items and their features, but neither ids to find them by nor pairs"
                ),
                remedy:
                    "give a table (.csv or .tsv); a table of another name is read with --format csv or --format tsv"
                        .into(),
            });
        };
        let bytes = source.open()?;
        let action = bytes.action;
        let text = TextReader::new(bytes.reader, delimiter).map_err(|source| Error::Io {
            path: path.clone(),
            action,
            source,
        })?;
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(1 << 16)
            .from_reader(text);
        let header =
            Header { source: name, names: Vec::new(), positions: HashMap::new(), dropped: Vec::new(), line: 1 };
        let mut table = Table { header, reader, record: csv::ByteRecord::new(), path, action, n_rows: 0 };
        if !table.read_record()? {
            return Err(Error::data(
                table.header.place(),
                "the file is empty, expected a header line",
                "write the names of the columns into the first line",
            ));
        }
        table.header.line = table.line();
        let names = (0..table.record.len()).map(|column| Ok(table.text(column)?.to_string())).collect::<Result<_>>()?;
        table.header.fill(names, source)?;
        table.header.drop_columns(&columns.drop);
        Ok(table)
    }

    /// Goes to the next row; false after the last one. A table without rows is an error.
    pub(super) fn next_row(&mut self) -> Result<bool> {
        if !self.read_record()? {
            if self.n_rows > 0 {
                return Ok(false);
            }
            return Err(Error::data(
                self.header.place(),
                "a header and no rows below it, expected at least one row",
                "add the data",
            ));
        }
        self.n_rows += 1;
        let (found, expected) = (self.record.len(), self.header.names.len());
        if found != expected {
            return Err(Error::data(
                self.place(found.min(expected)),
                format!("found {found} fields, expected {expected} as in the header"),
                "give every row one field per column, in quotes where a field contains the separator",
            ));
        }
        Ok(true)
    }

    /// How many rows were read so far.
    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// A cell that must not be empty, without the blanks around it.
    pub(super) fn word(&self, column: usize) -> Result<&str> {
        let text = self.text(column)?;
        if text.is_empty() {
            let remedy = "fill it in, or take the row out of the file";
            return Err(Error::data(self.place(column), "an empty cell", remedy));
        }
        Ok(text)
    }

    /// A cell that must be a finite number, of a column that can be done without.
    pub(super) fn number(&self, column: usize) -> Result<f64> {
        self.parse(column, |name| format!("leave the column out with {}", drop_hint(name)))
    }

    /// A cell that must be a finite number, of a column that says what is to be learnt.
    pub(super) fn label(&self, column: usize) -> Result<f64> {
        self.parse(column, |_| "take the row out of the file".into())
    }

    /// A finite number; `way_out` says what to do about another cell if it cannot be corrected.
    #[inline]
    fn parse(&self, column: usize, way_out: impl FnOnce(&str) -> String) -> Result<f64> {
        let text = self.text(column)?;
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            parsed => {
                let way_out = way_out(self.header.names.get(column).map_or("", String::as_str));
                Err(self.not_a_number(column, text, parsed.ok(), &way_out))
            }
        }
    }

    /// A cell that must be a finite number of at least 0.
    pub(super) fn weight(&self, column: usize) -> Result<f64> {
        let weight = self.number(column)?;
        if weight < 0.0 {
            let problem = format!("the weight {weight} is negative, expected a number of at least 0");
            return Err(Error::data(
                self.place(column),
                problem,
                "weight 0 leaves a row out, weight 2 counts it twice",
            ));
        }
        Ok(weight)
    }

    /// Where a cell of the current row is.
    pub(super) fn place(&self, column: usize) -> Place {
        let name = self.header.names.get(column).map_or("", String::as_str);
        Place::line(&self.header.source, self.line()).column(column + 1, name)
    }

    /// The line in which the current row begins. The parser's own position of a row is that of the blank lines before
    /// it, so it is found from the end: every row ends with one `\n`, and its cells keep theirs.
    pub(super) fn line(&self) -> u64 {
        let n_inside = self.record.as_slice().iter().filter(|&&byte| byte == b'\n').count();
        self.reader.position().line().saturating_sub(1 + n_inside as u64)
    }

    #[cold]
    fn not_a_number(&self, column: usize, text: &str, parsed: Option<f64>, way_out: &str) -> Error {
        let problem = match parsed {
            _ if text.is_empty() => "an empty cell, expected a number".to_string(),
            Some(_) if text.contains(|c: char| c.is_ascii_digit()) => {
                format!("{text} is beyond the range of floating point, expected a finite number")
            }
            Some(_) => format!("found {text}, expected a finite number"),
            None => format!("found {text:?}, expected a number"),
        };
        let verb = if text.is_empty() { "fill it in" } else { "correct it" };
        Error::data(self.place(column), problem, format!("{verb}, or {way_out}"))
    }

    fn text(&self, column: usize) -> Result<&str> {
        match std::str::from_utf8(&self.record[column]) {
            Ok(text) => Ok(text.trim()),
            Err(_) => Err(self.not_utf8(column)),
        }
    }

    fn not_utf8(&self, column: usize) -> Error {
        Error::data(self.place(column), "bytes that are not UTF-8", "save the file as UTF-8 text")
    }

    fn read_record(&mut self) -> Result<bool> {
        match self.reader.read_byte_record(&mut self.record) {
            Ok(true) => self.check_bytes().map(|()| true),
            Ok(false) => Ok(false),
            Err(error) => Err(self.failure(error)),
        }
    }

    /// Columns that nobody reads must be text too: a file with broken bytes is not the file it was meant to be.
    fn check_bytes(&self) -> Result<()> {
        let bytes = self.record.as_slice();
        if bytes.is_ascii() && !bytes.contains(&0) {
            return Ok(());
        }
        for (column, cell) in self.record.iter().enumerate() {
            if cell.contains(&0) {
                return Err(Error::data(
                    self.place(column),
                    "a NUL byte, expected text",
                    "save the file as UTF-8 text",
                ));
            }
            if std::str::from_utf8(cell).is_err() {
                return Err(self.not_utf8(column));
            }
        }
        Ok(())
    }

    fn failure(&self, error: csv::Error) -> Error {
        let source = match error.into_kind() {
            csv::ErrorKind::Io(source) => source,
            other => std::io::Error::other(format!("{other:?}")),
        };
        match source.get_ref().and_then(|inner| inner.downcast_ref::<UnclosedQuote>()) {
            Some(quote) => {
                let name = self.header.names.get(quote.column - 1).map_or("", String::as_str);
                Error::data(
                    Place::line(&self.header.source, quote.line).column(quote.column, name),
                    "a quote that is never closed, expected a second one",
                    "close it; a quote inside a quoted field is written twice",
                )
            }
            None => Error::Io { path: self.path.clone(), action: self.action, source },
        }
    }
}
