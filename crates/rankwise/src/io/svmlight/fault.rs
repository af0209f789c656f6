//! What can be wrong with a line, in words.

use super::number::token_end;
use crate::error::{Error, Place};

/// Something wrong in a line.
#[derive(Debug)]
pub(super) struct Fault {
    /// Line, counted from 1 at the beginning of the chunk.
    pub(super) line: u64,
    /// Byte of the line, counted from 1.
    pub(super) column: usize,
    problem: String,
    remedy: String,
}

pub(super) type Found<T> = Result<T, Box<Fault>>;

impl Fault {
    /// The error, for a chunk that begins after so many lines.
    pub(super) fn into_error(self, source: &str, n_lines_before: u64) -> Error {
        let place = Place::line(source, n_lines_before + self.line).column(self.column, "");
        Error::data(place, self.problem, self.remedy)
    }
}

/// A line of text, to say where in it something is wrong.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    /// The chunk that the line is in.
    pub(super) text: &'a [u8],
    /// Where it begins.
    pub(super) start: usize,
    /// Its number, counted from 1 in the chunk.
    pub(super) number: u64,
}

impl Line<'_> {
    #[cold]
    pub(super) fn fault<T>(&self, at: usize, problem: impl Into<String>, remedy: impl Into<String>) -> Found<T> {
        let (line, column) = (self.number, at - self.start + 1);
        Err(Box::new(Fault { line, column, problem: problem.into(), remedy: remedy.into() }))
    }

    /// Text must be text before it can be anything else.
    #[cold]
    pub(super) fn check_text(&self, at: usize, end: usize) -> Found<()> {
        let bytes = &self.text[at..end];
        let n_good = std::str::from_utf8(bytes).err().map(|error| error.valid_up_to());
        let nul = bytes.iter().position(|&byte| byte == 0);
        match (nul, n_good) {
            (Some(nul), good) if good.is_none_or(|n| nul < n) => {
                self.fault(at + nul, "a NUL byte, expected text", "save the file as UTF-8 text")
            }
            (_, Some(n)) => self.fault(at + n, "bytes that are not UTF-8", "save the file as UTF-8 text"),
            _ => Ok(()),
        }
    }

    /// The token at a place, short enough to be shown.
    fn shown(&self, at: usize) -> Found<String> {
        const LONGEST: usize = 40;
        let end = token_end(self.text, at);
        self.check_text(at, end)?;
        let token = String::from_utf8_lossy(&self.text[at..end]);
        Ok(match token.char_indices().nth(LONGEST) {
            Some((cut, _)) => format!("{:?}", format!("{}…", &token[..cut])),
            None => format!("{token:?}"),
        })
    }

    /// What was found instead of a finite number.
    #[cold]
    pub(super) fn no_number<T>(&self, at: usize, expected: &str, parsed: Option<f64>) -> Found<T> {
        let shown = self.shown(at)?;
        let problem = match parsed {
            Some(_) if shown.contains(|c: char| c.is_ascii_digit()) => {
                format!("{} is beyond the range of floating point, expected {expected}", shown.trim_matches('"'))
            }
            Some(_) => format!("found {}, expected {expected}", shown.trim_matches('"')),
            None => format!("found {shown}, expected {expected}"),
        };
        self.fault(at, problem, "correct it, or take the line out of the file")
    }

    #[cold]
    pub(super) fn no_label<T>(&self, at: usize) -> Found<T> {
        let problem = format!("found {}, expected the label of the item", self.shown(at)?);
        self.fault(at, problem, "begin every line with a number; any, such as 0, where the label is not known")
    }

    #[cold]
    pub(super) fn no_colon<T>(&self, at: usize) -> Found<T> {
        let problem = format!("found {}, expected index:value", self.shown(at)?);
        self.fault(at, problem, "write features as index:value, and comments after a #")
    }

    #[cold]
    pub(super) fn no_index<T>(&self, at: usize) -> Found<T> {
        let problem = format!("found {}, expected a whole number before the colon", self.shown(at)?);
        self.fault(at, problem, "number the features")
    }

    #[cold]
    pub(super) fn no_value<T>(&self, at: usize, token: usize) -> Found<T> {
        let problem = format!("nothing after the colon of {}", self.shown(token)?);
        self.fault(at, problem, "write no blank after the colon; features of value 0 may be left out")
    }

    #[cold]
    pub(super) fn misplaced<T>(&self, at: usize) -> Found<T> {
        let problem = format!("{} after the features", self.shown(at)?);
        self.fault(at, problem, "write label, qid:GROUP, cost:WEIGHT, then index:value …")
    }

    #[cold]
    pub(super) fn repeated<T>(&self, at: usize) -> Found<T> {
        let problem = format!("{} after another one", self.shown(at)?);
        self.fault(at, problem, "give every line one qid and one cost at most")
    }

    #[cold]
    pub(super) fn negative_weight<T>(&self, at: usize, weight: f64) -> Found<T> {
        let problem = format!("the weight {weight} is negative, expected a number of at least 0");
        self.fault(at, problem, "weight 0 leaves an item out, weight 2 counts it twice")
    }

    #[cold]
    pub(super) fn too_large_for_f32<T>(&self, at: usize) -> Found<T> {
        let problem = format!("{} is beyond the range of f32", self.shown(at)?.trim_matches('"'));
        self.fault(at, problem, "use --precision f64")
    }

    /// An index that does not ascend, or is too large.
    #[cold]
    pub(super) fn wrong_index<T>(&self, at: usize, index: u64, base: u64, previous: Option<u64>) -> Found<T> {
        match previous {
            _ if index < base => self.fault(
                at,
                "index 0, expected indices from 1 on",
                "where features are numbered from 0 on, add --index-base 0",
            ),
            Some(previous) if previous == index => {
                self.fault(at, format!("index {index} twice in a line"), "give every feature one value")
            }
            Some(previous) if previous > index => {
                let problem = format!("index {index} after {previous}, expected ascending indices");
                self.fault(at, problem, "sort the features of each line by index")
            }
            _ => self.too_large_index(at),
        }
    }

    #[cold]
    pub(super) fn too_large_index<T>(&self, at: usize) -> Found<T> {
        let problem = format!("{}: the index is beyond 2147483647", self.shown(at)?);
        self.fault(at, problem, "number the features without large gaps")
    }
}
