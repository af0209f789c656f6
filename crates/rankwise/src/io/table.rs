//! A table read row by row: a header of distinct names, rows as long as the header, cells of clean UTF-8. Every error
//! names file, line and column.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::Columns;
#[cfg(feature = "parquet")]
use super::parquet_rows::ParquetRows;
use super::source::{Format, Source};
use super::text::{QuoteFault, TextReader};
use super::write::of_csv;
use crate::error::{Error, Place, Result};

/// The names of the features of the models that a table is read for, where they are known.
pub(super) type Known<'a> = Option<&'a HashSet<&'a str>>;

/// The first line of a table.
pub(super) struct Header {
    /// The file as the user named it.
    pub(super) source: String,
    /// The names of the columns.
    pub(super) names: Vec<String>,
    /// Where each name is.
    positions: HashMap<String, usize>,
    /// The columns of each name in small letters.
    alike: HashMap<String, Vec<usize>>,
    /// Names that another table has exactly as they are: here none like them is meant.
    elsewhere: HashSet<String>,
    /// Whether each column is a feature of the model that the table is read for, and so nothing else.
    own: Option<Vec<bool>>,
    /// Whether each column is left out, by the user or because it numbers the rows.
    dropped: Vec<bool>,
    /// A column that numbers the rows, as pandas writes its index.
    index: Option<usize>,
    /// Columns that are an index by their names alone.
    levels: Vec<usize>,
    /// The line it stands in, where files have lines.
    line: Option<u64>,
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

    /// Where a column of exactly this name is, unless the user leaves it out.
    pub(super) fn find_exactly(&self, name: &str) -> Option<usize> {
        self.exactly(name).filter(|&column| !self.is_dropped(column))
    }

    /// Where a column is; if none has this name, the only one that has it in other letter case and is no feature of the model.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.exactly(name).or_else(|| {
            let alike = self.alike.get(&name.to_ascii_lowercase()).filter(|_| !self.elsewhere.contains(name))?;
            let mut alike = alike.iter().copied().filter(|&column| !self.is_own(column));
            alike.next().filter(|_| alike.next().is_none())
        })
    }

    /// Where a column of exactly this name is.
    pub(super) fn exactly(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Takes these names as they are written, if they are.
    pub(super) fn take_exactly<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.elsewhere.extend(names.map(String::from));
    }

    /// Whether the model that the table is read for has this feature.
    pub(super) fn is_own(&self, column: usize) -> bool {
        self.own.as_ref().is_some_and(|own| own[column])
    }

    /// Whether the table is read for a model whose features have names.
    pub(super) fn is_for_model(&self) -> bool {
        self.own.is_some()
    }

    /// What is to be told of how columns were read.
    pub(super) fn notes(&self) -> Vec<String> {
        let note = |column: usize| match self.names[column].as_str() {
            "" => format!("left out column {}, which has no name and numbers the rows", column + 1),
            name => format!("left out the column {name}, which numbers the rows"),
        };
        let level = |&column: &usize| format!("left out the column {}, an index of pandas", self.names[column]);
        self.index.map(note).into_iter().chain(self.levels.iter().map(level)).collect()
    }

    /// How to leave a column out; the columns of the two sides go together.
    pub(super) fn drop_hint(&self, name: &str) -> String {
        let (is_left, feature) = match (without_prefix(name, "left."), without_prefix(name, "right.")) {
            (Some(feature), _) => (true, feature),
            (_, Some(feature)) => (false, feature),
            _ => return format!("--drop {name}"),
        };
        let partner = self.position(&format!("{}.{feature}", if is_left { "right" } else { "left" }));
        match partner.map(|column| &self.names[column]) {
            Some(right) if is_left => format!("--drop {name},{right}"),
            Some(left) => format!("--drop {left},{name}"),
            None => format!("--drop {name}"),
        }
    }

    /// The header as a place.
    pub(super) fn place(&self) -> Place {
        Place { line: self.line, ..Place::file(&self.source) }
    }

    /// The name of a column as a place.
    pub(super) fn place_of(&self, column: usize) -> Place {
        self.place().column(column + 1, &self.names[column])
    }

    /// The columns there are, for messages about one that is not there.
    pub(super) fn listing(&self) -> String {
        self.names.join(", ")
    }

    fn nameless(&self, column: usize) -> Error {
        Error::data(self.place_of(column), "a column without a name", "name it, or take it out of the file")
    }

    /// Leaves out the columns of exactly these names; those that are not there are somebody else's business.
    fn drop_columns(&mut self, names: &[String]) {
        self.dropped = vec![false; self.names.len()];
        let named: Vec<usize> = names.iter().filter_map(|name| self.exactly(name)).collect();
        let columns = named.into_iter().chain(self.index).chain(self.levels.iter().copied());
        columns.for_each(|column| self.dropped[column] = true);
    }

    /// Refuses a header that is one column because something else separates the columns, or nothing within quotes.
    fn check_separator(&self, separator: u8, how: &Opening<'_>) -> Result<()> {
        let [only] = self.names.as_slice() else { return Ok(()) };
        if how.columns.given().any(|(_, given)| given == only) {
            return Ok(());
        }
        let found = format!("the header is one column that contains {:?}", char::from(separator));
        if only.contains(char::from(separator)) {
            let problem = format!("{found}, for it is in quotes as a whole");
            return Err(Error::data(self.place_of(0), problem, "take off the quotes around whole lines"));
        }
        let Some(&(other, word)) = SEPARATORS.iter().find(|(other, _)| only.contains(char::from(*other))) else {
            return Ok(());
        };
        let expected = match SEPARATORS.iter().find(|(known, _)| *known == separator) {
            Some((_, word)) => (*word).to_string(),
            None => format!("{:?}", char::from(separator)),
        };
        let other = char::from(other);
        let typed = if other == '\t' { "tab".into() } else { format!("'{other}'") };
        Err(Error::data(
            self.place_of(0),
            format!("the header is one column that contains {other:?}, expected columns separated by {expected}"),
            match how.has_options {
                true => format!("for {word} add --separator {typed}"),
                false => format!("write the table with {expected} between the columns"),
            },
        ))
    }

    /// Takes the names in, which must be there and distinct.
    fn fill(&mut self, names: Vec<String>, separator: Option<u8>, how: &Opening<'_>) -> Result<()> {
        self.names = names;
        self.own = how.known.map(|known| self.names.iter().map(|name| known.contains(name.as_str())).collect());
        if let Some(separator) = separator {
            self.check_separator(separator, how)?;
        }
        for (column, name) in self.names.iter().enumerate() {
            if name.is_empty() && self.index != Some(column) {
                return Err(self.nameless(column));
            }
            if let Some(first) = self.positions.insert(name.clone(), column) {
                return Err(Error::data(
                    self.place_of(column),
                    format!("column {} has the same name", first + 1),
                    "rename one of them",
                ));
            }
            self.alike.entry(name.to_ascii_lowercase()).or_default().push(column);
        }
        Ok(())
    }
}

/// How a table is opened.
struct Opening<'a> {
    columns: &'a Columns,
    known: Known<'a>,
    /// Whether somebody can name columns and their separator.
    has_options: bool,
}

/// Bytes that separate columns somewhere, with their words.
const SEPARATORS: [(u8, &str); 4] = [(b';', "semicolons"), (b'\t', "tabs"), (b',', "commas"), (b'|', "bars")];

/// What pandas calls an index without a name in text: nothing, or this once it has read that back.
const INDEX_NAMES: [&str; 2] = ["", "Unnamed: 0"];

/// Whether a column of this name, if it is the first, may be an index in text.
pub(super) fn is_index_name(name: &str) -> bool {
    INDEX_NAMES.contains(&name)
}

/// Whether a column is an index by its name: what pandas writes into Parquet of rows that were chosen or put in another order.
pub(super) fn is_level_name(name: &str) -> bool {
    let number = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    number.is_some_and(is_row_number)
}

/// A name without what it begins with, in any letter case.
pub(super) fn without_prefix<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = name.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn is_row_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A table and its current row.
pub(super) struct Table {
    pub(super) header: Header,
    rows: Rows,
    n_rows: usize,
    /// The first row was read to see what is in it.
    is_ahead: bool,
}

/// Why a separator is of no use.
pub(super) fn no_separator(name: &str, kind: &str) -> Error {
    Error::Unsupported {
        problem: format!("--separator is for tables of text, and {name} is {kind}"),
        remedy: "leave it out".into(),
    }
}

/// Where rows come from.
enum Rows {
    Text(Box<TextRows>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetRows>),
}

/// Rows of text, and the current one.
struct TextRows {
    reader: csv::Reader<TextReader>,
    record: csv::ByteRecord,
    path: PathBuf,
    action: &'static str,
}

impl Table {
    /// Opens a source and reads its header.
    pub(super) fn open(source: &Source, columns: &Columns) -> Result<Self> {
        Self::open_for(source, columns, None)
    }

    /// The same for models whose features are known: what has the name of one is nothing else.
    pub(super) fn open_for(source: &Source, columns: &Columns, known: Known<'_>) -> Result<Self> {
        Self::open_as(source, &Opening { columns, known, has_options: true })
    }

    /// A table whose columns are known, so that no option is about them.
    pub(super) fn open_published(source: &Source) -> Result<Self> {
        Self::open_as(source, &Opening { columns: &Columns::default(), known: None, has_options: false })
    }

    fn open_as(source: &Source, how: &Opening<'_>) -> Result<Self> {
        let columns = how.columns;
        let name = source.name();
        let header = Header {
            source: name.clone(),
            names: Vec::new(),
            positions: HashMap::new(),
            alike: HashMap::new(),
            elsewhere: HashSet::new(),
            own: None,
            dropped: Vec::new(),
            index: None,
            levels: Vec::new(),
            line: None,
        };
        let delimiter = source.format().delimiter().map(|usual| columns.separator.unwrap_or(usual));
        let (mut table, names) = match (delimiter, source.format()) {
            (Some(delimiter), _) => Self::open_text(header, delimiter, source)?,
            #[cfg(feature = "parquet")]
            (None, Format::Parquet) => {
                if columns.separator.is_some() {
                    return Err(no_separator(&name, "a Parquet file"));
                }
                let rows = ParquetRows::open(source)?;
                let names = rows.names().to_vec();
                (Table { header, rows: Rows::Parquet(Box::new(rows)), n_rows: 0, is_ahead: false }, names)
            }
            #[cfg(not(feature = "parquet"))]
            (None, Format::Parquet) => return Err(super::source::without_parquet(&name)),
            (None, format) => {
                let kind = if format == Format::Blocks { "a block file" } else { "in SVMlight's format" };
                return Err(Error::Unsupported {
                    problem: format!(
                        "{name} is {kind}, which has items and their features, but neither ids to find them by nor pairs"
                    ),
                    remedy:
                        "give a table (.csv or .tsv); a table of another name is read with --format csv or --format tsv"
                            .into(),
                });
            }
        };
        table.find_index(&names, how)?;
        table.header.fill(names, delimiter, how)?;
        table.header.drop_columns(&columns.drop);
        #[cfg(feature = "parquet")]
        if let Rows::Parquet(rows) = &mut table.rows {
            rows.leave_out(&table.header.dropped);
        }
        Ok(table)
    }

    /// Text, whose first line is the header.
    fn open_text(mut header: Header, delimiter: u8, source: &Source) -> Result<(Self, Vec<String>)> {
        let path = PathBuf::from(&header.source);
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
        header.line = Some(1);
        let record = csv::ByteRecord::new();
        let rows = Rows::Text(Box::new(TextRows { reader, record, path, action }));
        let mut table = Table { header, rows, n_rows: 0, is_ahead: false };
        if !table.read_record()? {
            return Err(Error::data(
                table.header.place(),
                "the file is empty, expected a header line",
                "write the names of the columns into the first line",
            ));
        }
        table.header.line = table.text_line();
        // A byte order mark at the end of a blank is still none of a name, and would be taken off where a copy begins with it.
        let name = |text: &str| text.trim_matches(|c: char| c == '\u{feff}' || c.is_whitespace()).to_string();
        let names = (0..table.n_fields()).map(|column| Ok(name(table.text(column)?))).collect::<Result<_>>()?;
        Ok((table, names))
    }

    /// The first column numbers the rows if it is called as pandas calls its index and begins with a whole number, which need not
    /// be 0: rows may have been shuffled or left out. Rows that go on otherwise are an error.
    fn find_index(&mut self, names: &[String], how: &Opening<'_>) -> Result<()> {
        let is_named = |name: &str| how.columns.given().any(|(_, given)| given == name);
        let is_free = |name: &str| !is_named(name) && !how.known.is_some_and(|known| known.contains(name));
        let levels = names.iter().enumerate().filter(|(_, name)| is_level_name(name) && is_free(name));
        self.header.levels = levels.map(|(column, _)| column).collect();
        let is_index = |name: &&String| is_index_name(name) && is_free(name);
        if names.len() > 1 && names.first().filter(is_index).is_some() && matches!(self.rows, Rows::Text(_)) {
            self.is_ahead = self.read_record()?;
            let is_number = self.is_ahead && self.n_fields() == names.len() && is_row_number(self.text(0)?);
            self.header.index = is_number.then_some(0);
        }
        Ok(())
    }

    /// An error if the index column has something other than a whole number in this row.
    fn check_index(&self) -> Result<()> {
        let Some(column) = self.header.index else { return Ok(()) };
        if is_row_number(self.text(column)?) {
            return Ok(());
        }
        let (found, name) = (self.text(column)?, &self.header.names[column]);
        let problem = format!("found {found:?} where the rows before have whole numbers, as an index of pandas has");
        let remedy = match name.as_str() {
            "" => "name the column, or take it out of the file".into(),
            name => format!("rename the column, or leave it out with --drop {name:?}"),
        };
        Err(Error::data(self.place(column), problem, remedy))
    }

    /// Whether the numbers of a column are stored in single precision, or are so few that they might.
    pub(super) fn is_single(&self, _column: usize) -> bool {
        match &self.rows {
            Rows::Text(_) => false,
            #[cfg(feature = "parquet")]
            Rows::Parquet(rows) => rows.is_single(_column),
        }
    }

    fn n_fields(&self) -> usize {
        match &self.rows {
            Rows::Text(rows) => rows.record.len(),
            #[cfg(feature = "parquet")]
            Rows::Parquet(_) => self.header.names.len(),
        }
    }

    /// Goes to the next row; false after the last one. A table without rows is an error.
    pub(super) fn next_row(&mut self) -> Result<bool> {
        if !std::mem::take(&mut self.is_ahead) && !self.read_record()? {
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
        let (found, expected) = (self.n_fields(), self.header.names.len());
        if found != expected {
            return Err(Error::data(
                self.place(found.min(expected)),
                format!("found {found} fields, expected {expected} as in the header"),
                "give every row one field per column, in quotes where a field contains the separator",
            ));
        }
        self.check_index()?;
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
        self.feature(column, |_| None)
    }

    /// The same of a feature; `meant` says what to do where its name is that of something else.
    pub(super) fn feature(&self, column: usize, meant: impl FnOnce(&str) -> Option<String>) -> Result<f64> {
        self.parse(column, |name| {
            let out = format!("leave the column out with {}", self.header.drop_hint(name));
            [Some(out), meant(name)].into_iter().flatten().collect::<Vec<_>>().join("; ")
        })
    }

    /// A cell that must be a finite number, of a column that says what is to be learnt.
    pub(super) fn label(&self, column: usize) -> Result<f64> {
        self.parse(column, |_| "take the row out of the file".into())
    }

    /// A finite number; `way_out` says what to do about another cell if it cannot be corrected.
    #[inline]
    fn parse(&self, column: usize, way_out: impl FnOnce(&str) -> String) -> Result<f64> {
        let (text, parsed) = match &self.rows {
            Rows::Text(_) => {
                let text = self.text(column)?;
                (text, text.parse::<f64>().ok())
            }
            #[cfg(feature = "parquet")]
            Rows::Parquet(rows) => match rows.number(column) {
                Ok(number) if number.is_finite() => return Ok(number),
                Ok(number) => (self.text(column)?, Some(number)),
                Err(_) => (self.text(column)?, None),
            },
        };
        match parsed {
            Some(number) if number.is_finite() => Ok(number),
            parsed => {
                let way_out = way_out(self.header.names.get(column).map_or("", String::as_str));
                Err(self.not_a_number(column, text, parsed, &way_out))
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
        self.place_of_row().column(column + 1, name)
    }

    /// Where the current row is.
    fn place_of_row(&self) -> Place {
        match self.text_line() {
            Some(line) => Place::line(&self.header.source, line),
            None => Place::file(format!("{}, row {}", self.header.source, self.n_rows)),
        }
    }

    /// The line in which the current row begins, or its number where files have no lines.
    pub(super) fn line(&self) -> u64 {
        self.text_line().unwrap_or(self.n_rows as u64)
    }

    /// The line in which the current row begins, where files have lines. The parser's own position of a row is that of the
    /// blank lines before it, so it is found from the end: every row ends with one `\n`, and its cells keep theirs.
    pub(super) fn text_line(&self) -> Option<u64> {
        match &self.rows {
            Rows::Text(rows) => {
                let n_inside = rows.record.as_slice().iter().filter(|&&byte| byte == b'\n').count();
                Some(rows.reader.position().line().saturating_sub(1 + n_inside as u64))
            }
            #[cfg(feature = "parquet")]
            Rows::Parquet(_) => None,
        }
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

    /// A cell that may be empty, without the blanks around it.
    pub(super) fn text(&self, column: usize) -> Result<&str> {
        match &self.rows {
            Rows::Text(rows) => match std::str::from_utf8(&rows.record[column]) {
                Ok(text) => Ok(text.trim()),
                Err(_) => Err(self.not_utf8(column)),
            },
            #[cfg(feature = "parquet")]
            Rows::Parquet(rows) if rows.is_broken(column) => Err(self.not_utf8(column)),
            #[cfg(feature = "parquet")]
            Rows::Parquet(rows) => Ok(rows.word(column).trim()),
        }
    }

    fn not_utf8(&self, column: usize) -> Error {
        Error::data(self.place(column), "bytes that are not UTF-8", "save the file as UTF-8 text")
    }

    fn read_record(&mut self) -> Result<bool> {
        let read = match &mut self.rows {
            Rows::Text(rows) => rows.reader.read_byte_record(&mut rows.record),
            #[cfg(feature = "parquet")]
            Rows::Parquet(rows) => return rows.next(),
        };
        match read {
            Ok(true) => self.check_bytes().map(|()| true),
            Ok(false) => Ok(false),
            Err(error) => Err(self.failure(error)),
        }
    }

    /// Columns that nobody reads must be text too: a file with broken bytes is not the file it was meant to be.
    fn check_bytes(&self) -> Result<()> {
        let record = match &self.rows {
            Rows::Text(rows) => &rows.record,
            #[cfg(feature = "parquet")]
            Rows::Parquet(_) => return Ok(()),
        };
        let bytes = record.as_slice();
        if bytes.is_ascii() && !bytes.contains(&0) {
            return Ok(());
        }
        for (column, cell) in record.iter().enumerate() {
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
        let source = of_csv(error);
        match source.get_ref().and_then(|inner| inner.downcast_ref::<QuoteFault>()) {
            Some(quote) => {
                let name = self.header.names.get(quote.column - 1).map_or("", String::as_str);
                let (problem, remedy) = match quote.is_closed {
                    true => (
                        "text behind the quote that closes the field, expected the end of the field",
                        "write a quote inside a quoted field twice",
                    ),
                    false => (
                        "a quote that is never closed, expected a second one",
                        "close it; a quote inside a quoted field is written twice",
                    ),
                };
                Error::data(Place::line(&self.header.source, quote.line).column(quote.column, name), problem, remedy)
            }
            None => match &self.rows {
                Rows::Text(rows) => Error::Io { path: rows.path.clone(), action: rows.action, source },
                #[cfg(feature = "parquet")]
                Rows::Parquet(_) => Error::Io { path: PathBuf::from(&self.header.source), action: "read", source },
            },
        }
    }
}
