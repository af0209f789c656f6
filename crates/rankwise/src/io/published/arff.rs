//! ARFF, the format of WEKA: attributes that are numbers or one of some words, then rows of their values.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::files::Origin;
use crate::data::{Features, Items, Precision, Ranking};
use crate::error::{Error, Place, Result};
use crate::io::source::blame_named;

const ORIGIN: Origin =
    Origin { what: "ARFF files", from: "WEKA (https://waikato.github.io/weka-wiki/datasets/), or OpenML" };

/// What a column of an ARFF file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArffKind {
    /// Numbers: `numeric`, `real` or `integer`.
    Numeric,
    /// One of these words.
    Nominal(Vec<String>),
}

/// A column of an ARFF file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArffAttribute {
    /// Its name, distinct from all others.
    pub name: String,
    /// What it holds.
    pub kind: ArffKind,
}

/// A cell of an ARFF file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ArffValue {
    /// A finite number.
    Number(f64),
    /// The number of a word among those of its attribute.
    Word(u32),
    /// `?`
    Missing,
}

/// An ARFF file.
#[derive(Debug, Clone)]
pub struct ArffTable {
    /// What `@relation` calls it.
    pub relation: String,
    /// The columns.
    pub attributes: Vec<ArffAttribute>,
    /// Row by row.
    values: Vec<ArffValue>,
    /// The file as the user named it.
    pub source: String,
}

/// The attribute that is to be learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArffTarget<'a> {
    /// The last one, as usual.
    #[default]
    Last,
    /// The first one.
    First,
    /// The one of this name.
    Named(&'a str),
}

/// The items of an ARFF file.
#[derive(Debug, Clone)]
pub struct ArffRanking {
    /// One item per complete row, all in one group; the labels are the values of the target.
    pub ranking: Ranking,
    /// The name of the target.
    pub target: String,
    /// Rows with a missing value, which were left out.
    pub n_incomplete: usize,
}

impl ArffTable {
    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.attributes.len().max(1)
    }

    /// The rows, one value per attribute.
    pub fn rows(&self) -> impl Iterator<Item = &[ArffValue]> {
        self.values.chunks_exact(self.attributes.len().max(1))
    }

    /// The same without the attributes of these names.
    pub fn without(&self, names: &[String]) -> Result<Self> {
        if let Some(unknown) = names.iter().find(|name| self.attributes.iter().all(|known| known.name != **name)) {
            return Err(self.no_attribute(unknown));
        }
        let kept: Vec<usize> =
            (0..self.attributes.len()).filter(|&at| !names.contains(&self.attributes[at].name)).collect();
        if kept.is_empty() {
            let remedy = "leave out fewer";
            return Err(Error::data(Place::file(&self.source), "no attribute is left", remedy));
        }
        Ok(ArffTable {
            relation: self.relation.clone(),
            attributes: kept.iter().map(|&at| self.attributes[at].clone()).collect(),
            values: self.rows().flat_map(|row| kept.iter().map(|&at| row[at])).collect(),
            source: self.source.clone(),
        })
    }

    /// The rows as items with labels, in one group. A numeric attribute is a feature of its name; a nominal one is a
    /// feature `NAME=WORD` for each of its words, 1 where the row has it, else 0. The target must be numeric. Rows with
    /// a missing value are left out and counted.
    pub fn to_ranking(&self, target: ArffTarget<'_>, precision: Precision) -> Result<ArffRanking> {
        let target = self.target(target)?;
        let feature_names = self.feature_names(target)?;
        let (mut labels, mut values, mut n_incomplete) = (Vec::new(), Vec::new(), 0);
        for row in self.rows() {
            let ArffValue::Number(label) = row[target] else {
                n_incomplete += 1;
                continue;
            };
            if row.contains(&ArffValue::Missing) {
                n_incomplete += 1;
                continue;
            }
            labels.push(label);
            for (at, value) in row.iter().enumerate().filter(|(at, _)| *at != target) {
                match (value, &self.attributes[at].kind) {
                    (ArffValue::Word(word), ArffKind::Nominal(words)) => {
                        values.extend((0..words.len()).map(|k| f64::from(k == *word as usize)));
                    }
                    (ArffValue::Number(number), _) => values.push(*number),
                    _ => {}
                }
            }
        }
        if labels.is_empty() {
            let problem = format!("none of the {n_incomplete} rows is complete");
            return Err(Error::data(Place::file(&self.source), problem, "take out the attributes with missing values"));
        }
        let features = Features::dense(feature_names.len(), values, precision)?;
        let ranking = Ranking::new(Items::new(features, Some(feature_names), None)?, labels, None)?;
        Ok(ArffRanking { ranking, target: self.attributes[target].name.clone(), n_incomplete })
    }

    /// The number of the target, which must be numeric and not the only attribute.
    fn target(&self, target: ArffTarget<'_>) -> Result<usize> {
        let wrong = |problem: String, remedy: &str| Err(Error::data(Place::file(&self.source), problem, remedy));
        let found = match target {
            ArffTarget::First => Some(0),
            ArffTarget::Last => self.attributes.len().checked_sub(1),
            ArffTarget::Named(name) => self.attributes.iter().position(|attribute| attribute.name == name),
        };
        let Some(found) = found else {
            return Err(self.no_attribute(if let ArffTarget::Named(name) = target { name } else { "" }));
        };
        let attribute = &self.attributes[found];
        if let ArffKind::Nominal(_) = attribute.kind {
            let problem = format!("the target {:?} is nominal, expected numbers, which have an order", attribute.name);
            return wrong(problem, "name a numeric attribute with --label");
        }
        if self.attributes.len() == 1 {
            return wrong(format!("{:?} is the only attribute", attribute.name), "add features to learn from");
        }
        Ok(found)
    }

    fn no_attribute(&self, name: &str) -> Error {
        let names: Vec<&str> = self.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
        let problem = format!("no attribute {name:?}; there are {}", names.join(", "));
        Error::data(Place::file(&self.source), problem, "name one of them")
    }

    /// The names of the features that a row becomes.
    fn feature_names(&self, target: usize) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for (_, attribute) in self.attributes.iter().enumerate().filter(|(at, _)| *at != target) {
            match &attribute.kind {
                ArffKind::Numeric => names.push(attribute.name.clone()),
                ArffKind::Nominal(words) => names.extend(words.iter().map(|word| format!("{}={word}", attribute.name))),
            }
        }
        let mut seen = HashSet::new();
        match names.iter().find(|name| !seen.insert(name.as_str())) {
            None => Ok(names),
            Some(twice) => {
                let problem = format!("two features would be called {twice:?}");
                Err(Error::data(Place::file(&self.source), problem, "rename one of the attributes"))
            }
        }
    }
}

/// Reads an ARFF file with dense rows, compressed or not. `%` begins a comment wherever it stands outside quotes;
/// keywords are in any case; names and words may be quoted; a comma may end a row. Attributes of strings, dates and
/// relations, and sparse rows, are errors.
pub fn read_arff(path: &Path) -> Result<ArffTable> {
    blame_named(read_plain(path))
}

fn read_plain(path: &Path) -> Result<ArffTable> {
    let mut lines = ORIGIN.lines(path)?;
    let mut header = Header { source: lines.source(), ..Header::default() };
    loop {
        let Some((number, line)) = lines.next_line()? else {
            return Err(Error::data(
                Place::file(header.source),
                "no line @data, behind which the rows stand",
                "check that the file is complete, and that it is ARFF",
            ));
        };
        if header.add(number, line)? {
            break;
        }
    }
    let Header { source, relation, attributes, .. } = header;
    if attributes.is_empty() {
        let problem = "no @attribute before @data";
        return Err(Error::data(lines.place(), problem, "declare every column as @attribute NAME TYPE"));
    }
    let words: Vec<HashMap<&str, u32>> = attributes.iter().map(word_numbers).collect();
    let mut values = Vec::new();
    while let Some((number, line)) = lines.next_line()? {
        let row = Row { source: &source, line: number, attributes: &attributes };
        row.read(line, &words, &mut values)?;
    }
    if values.is_empty() {
        return Err(Error::data(lines.place(), "no rows behind @data", "add the data"));
    }
    Ok(ArffTable { relation, attributes, values, source })
}

fn word_numbers(attribute: &ArffAttribute) -> HashMap<&str, u32> {
    match &attribute.kind {
        ArffKind::Numeric => HashMap::new(),
        ArffKind::Nominal(words) => words.iter().zip(0..).map(|(word, number)| (word.as_str(), number)).collect(),
    }
}

/// The lines before the rows.
#[derive(Default)]
struct Header {
    source: String,
    relation: String,
    attributes: Vec<ArffAttribute>,
    /// The line of each attribute.
    lines: HashMap<String, u64>,
}

impl Header {
    /// Takes a line in; says whether it is the last one.
    fn add(&mut self, number: u64, line: &str) -> Result<bool> {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('%') {
            return Ok(false);
        }
        let end = line.find(|c: char| c.is_whitespace() || c == '%').unwrap_or(line.len());
        let (keyword, rest) = (&line[..end], line[end..].trim_start());
        let place = Place::line(&self.source, number);
        if keyword.eq_ignore_ascii_case("@data") {
            return Ok(true);
        }
        if keyword.eq_ignore_ascii_case("@relation") {
            let fault = |problem: String| Error::data(place, problem, "write @relation NAME");
            self.relation = Cells(rest).next(&[]).map_err(fault)?.text;
            return Ok(false);
        }
        if keyword.eq_ignore_ascii_case("@attribute") {
            let attribute = attribute(rest, place.clone())?;
            if let Some(first) = self.lines.insert(attribute.name.clone(), number) {
                let problem = format!("the attribute {:?} is in line {first} already", attribute.name);
                return Err(Error::data(place, problem, "give every attribute a name of its own"));
            }
            self.attributes.push(attribute);
            return Ok(false);
        }
        let problem = format!("found {keyword:?}, expected @relation, @attribute or @data");
        Err(Error::data(place, problem, "check that the file is ARFF; comments begin with %"))
    }
}

/// What stands behind `@attribute`.
fn attribute(rest: &str, place: Place) -> Result<ArffAttribute> {
    let wrong = |problem: String, remedy: &str| Error::data(place.clone(), problem, remedy);
    let usual = "write @attribute NAME numeric, or @attribute NAME {WORD,WORD,…}";
    let mut cells = Cells(rest);
    let name = cells.next(&[' ', '\t', '{']).map_err(|problem| wrong(problem, usual))?.text;
    if name.is_empty() {
        return Err(wrong("an attribute without a name".into(), usual));
    }
    let kind = cells.0.trim_start();
    if let Some(list) = kind.strip_prefix('{') {
        let words = nominal_words(list).map_err(|problem| wrong(format!("attribute {name:?}: {problem}"), usual))?;
        return Ok(ArffAttribute { name, kind: ArffKind::Nominal(words) });
    }
    let word = kind.split(|c: char| c.is_whitespace() || c == '%').next().unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "numeric" | "real" | "integer" => Ok(ArffAttribute { name, kind: ArffKind::Numeric }),
        "string" | "date" | "relational" => Err(wrong(
            format!("the attribute {name:?} is of type {word}, expected numbers or a list of words"),
            "take the attribute out of the file",
        )),
        _ => Err(wrong(format!("the attribute {name:?} is of the unknown type {word:?}"), usual)),
    }
}

/// The words of a list up to its closing brace.
fn nominal_words(list: &str) -> std::result::Result<Vec<String>, String> {
    let (mut cells, mut words) = (Cells(list), Vec::new());
    loop {
        let cell = cells.next(&[',', '}'])?;
        let closes = cells.0.starts_with('}');
        if !closes && !cells.0.starts_with(',') {
            return Err("the list of words is not closed by }".into());
        }
        cells.0 = &cells.0[1..];
        if !cell.text.is_empty() || cell.is_quoted {
            if words.contains(&cell.text) {
                return Err(format!("the word {:?} is in the list twice", cell.text));
            }
            words.push(cell.text);
        } else if !closes {
            return Err("an empty word in the list".into());
        }
        if closes {
            return if words.is_empty() { Err("the list of words is empty".into()) } else { Ok(words) };
        }
    }
}

/// A row to be read.
struct Row<'a> {
    source: &'a str,
    line: u64,
    attributes: &'a [ArffAttribute],
}

impl Row<'_> {
    fn fault(&self, at: usize, problem: String, remedy: &str) -> Error {
        let name = self.attributes.get(at).map_or("", |attribute| attribute.name.as_str());
        Error::data(Place::line(self.source, self.line).column(at + 1, name), problem, remedy)
    }

    /// Adds the values of a line, which may be empty or a comment.
    fn read(&self, line: &str, words: &[HashMap<&str, u32>], values: &mut Vec<ArffValue>) -> Result<()> {
        let mut cells = Cells(line.trim_start());
        if cells.is_at_end() {
            return Ok(());
        }
        if cells.0.starts_with('{') {
            return Err(self.fault(0, "a sparse row, expected all values".into(), "write the rows dense, without {…}"));
        }
        let n = self.attributes.len();
        let expected = || format!("expected {n}, one for each attribute");
        let unclosed = |at| move |problem| self.fault(at, problem, "close the quote on the same line");
        for (at, words) in words.iter().enumerate() {
            let cell = cells.next(&[',']).map_err(unclosed(at))?;
            values.push(self.value(at, &cell, words)?);
            if !cells.is_at_end() {
                cells.0 = &cells.0[1..];
            } else if at + 1 < n {
                let problem = format!("{} values, {}", at + 1, expected());
                return Err(self.fault(at + 1, problem, "write ? for a missing value, and commas between values"));
            }
        }
        // A comma may stand behind the last value.
        if !cells.is_at_end() {
            return Err(self.fault(n, format!("too many values, {}", expected()), "take out what is too much"));
        }
        Ok(())
    }

    fn value(&self, at: usize, cell: &Cell, words: &HashMap<&str, u32>) -> Result<ArffValue> {
        let text = cell.text.as_str();
        if text == "?" && !cell.is_quoted {
            return Ok(ArffValue::Missing);
        }
        if text.is_empty() && !cell.is_quoted {
            return Err(self.fault(at, "an empty value".into(), "write ? for a missing value"));
        }
        match &self.attributes[at].kind {
            ArffKind::Numeric => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(ArffValue::Number(number)),
                _ => {
                    let problem = format!("found {text:?}, expected a finite number");
                    Err(self.fault(at, problem, "correct it, or write ? for a missing value"))
                }
            },
            ArffKind::Nominal(known) => match words.get(text) {
                Some(&number) => Ok(ArffValue::Word(number)),
                None => {
                    let problem = format!("found {text:?}, expected one of {}", known.join(", "));
                    Err(self.fault(at, problem, "correct it, or add the word to the list of the attribute"))
                }
            },
        }
    }
}

/// A name, a word or a value.
struct Cell {
    text: String,
    is_quoted: bool,
}

/// Text of which cells are taken from the front.
struct Cells<'a>(&'a str);

impl Cells<'_> {
    /// Whether nothing is left but blanks and a comment.
    fn is_at_end(&self) -> bool {
        let rest = self.0.trim_start();
        rest.is_empty() || rest.starts_with('%')
    }

    /// The next cell, up to one of these characters, a comment or the end of the line; the character stays.
    fn next(&mut self, ends: &[char]) -> std::result::Result<Cell, String> {
        let rest = self.0.trim_start();
        let Some(quote) = rest.chars().next().filter(|c| ['\'', '"'].contains(c)) else {
            let end = rest.find(|c: char| c == '%' || ends.contains(&c)).unwrap_or(rest.len());
            self.0 = &rest[end..];
            return Ok(Cell { text: rest[..end].trim_end().to_string(), is_quoted: false });
        };
        let (mut text, mut is_escaped) = (String::new(), false);
        for (at, c) in rest.char_indices().skip(1) {
            if is_escaped {
                text.push(c);
                is_escaped = false;
            } else if c == '\\' {
                is_escaped = true;
            } else if c == quote {
                self.0 = rest[at + 1..].trim_start();
                let follows = self.0.chars().next();
                if follows.is_some_and(|c| c != '%' && !ends.is_empty() && !is_end(c, ends)) {
                    return Err(format!("text behind the closing quote of {text:?}"));
                }
                return Ok(Cell { text, is_quoted: true });
            } else {
                text.push(c);
            }
        }
        Err("a quote that nothing closes".into())
    }
}

/// Whether a cell may end here; behind a quoted name any text may follow.
fn is_end(c: char, ends: &[char]) -> bool {
    ends.contains(&' ') || ends.contains(&c)
}
