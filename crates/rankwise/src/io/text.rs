//! The text of a table on its way to the parser: a byte order mark is taken off, every line end becomes `\n` and the
//! last line gets one, so that lines can be counted; and quotes are followed, because the parser takes an unclosed one
//! for the rest of the file without a word, and text behind a closing one for more of the field.

use std::fmt;
use std::io::{self, Read};

use super::decompress::peek;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A quote that nothing closes, or that something other than the end of the field follows: the line and the column (from 1)
/// where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuoteFault {
    pub(super) line: u64,
    pub(super) column: usize,
    pub(super) is_closed: bool,
}

impl fmt::Display for QuoteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_closed { "text after a closed" } else { "unclosed" };
        write!(f, "{what} quote, line {}, column {}", self.line, self.column)
    }
}

impl std::error::Error for QuoteFault {}

/// Where in the grammar of a table a byte stands; the parser has the same states.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    FieldStart,
    Field,
    Quoted,
    /// After a quote inside quotes, which closes them unless another one follows.
    QuoteInQuotes,
    /// Blanks after the closing quote.
    AfterQuotes,
}

pub(super) struct TextReader {
    source: Box<dyn Read>,
    delimiter: u8,
    state: State,
    line: u64,
    column: usize,
    opened: QuoteFault,
    /// Text that stands behind a closing quote, where it was seen first.
    misplaced: Option<QuoteFault>,
    /// The last byte was `\r` outside quotes, passed on as `\n`: a `\n` after it belongs to it.
    is_after_return: bool,
    last: u8,
    /// Bytes that are still read once a NUL was seen: enough for the parser to say where it stands, and no more, for
    /// a file of zeros is one endless cell.
    until_end: Option<usize>,
}

const AFTER_NUL: usize = 1 << 20;

impl TextReader {
    pub(super) fn new(mut source: Box<dyn Read>, delimiter: u8) -> io::Result<Self> {
        let start = peek(&mut source, BYTE_ORDER_MARK.len() as u64)?;
        let source = if start == BYTE_ORDER_MARK { source } else { Box::new(io::Cursor::new(start).chain(source)) };
        Ok(TextReader {
            source,
            delimiter,
            state: State::FieldStart,
            line: 1,
            column: 1,
            opened: QuoteFault { line: 1, column: 1, is_closed: false },
            misplaced: None,
            is_after_return: false,
            last: b'\n',
            until_end: None,
        })
    }

    /// Follows the bytes of `chunk` and moves those to keep to its front; returns how many they are.
    fn follow(&mut self, chunk: &mut [u8]) -> usize {
        if !self.follow_plain(chunk) {
            let mut kept = 0;
            for at in 0..chunk.len() {
                let mut byte = chunk[at];
                if std::mem::take(&mut self.is_after_return) && byte == b'\n' {
                    continue;
                }
                if byte == b'\r' && self.state != State::Quoted {
                    self.is_after_return = true;
                    byte = b'\n';
                }
                self.step(byte);
                // What stands before is parsed first; bytes that are no text at all are told of instead.
                if self.misplaced.is_some() && self.until_end.is_none() {
                    return kept;
                }
                chunk[kept] = byte;
                kept += 1;
            }
            return kept;
        }
        chunk.len()
    }

    /// Most chunks have neither quotes nor `\r`, and can be followed without looking at every byte in turn.
    fn follow_plain(&mut self, chunk: &[u8]) -> bool {
        let is_closing = matches!(self.state, State::QuoteInQuotes | State::AfterQuotes);
        if self.is_after_return || is_closing || chunk.contains(&b'"') {
            return false;
        }
        let n_lines = |chunk: &[u8]| chunk.iter().filter(|&&byte| byte == b'\n').count() as u64;
        if self.state == State::Quoted {
            self.line += n_lines(chunk);
            return true;
        }
        let Some(&last) = chunk.last() else { return true };
        if chunk.contains(&b'\r') {
            return false;
        }
        self.line += n_lines(chunk);
        let mut last_line = chunk;
        if let Some(end) = chunk.iter().rposition(|&byte| byte == b'\n') {
            last_line = &chunk[end + 1..];
            self.column = 1;
        }
        self.column += last_line.iter().filter(|&&byte| byte == self.delimiter).count();
        self.state = if last == b'\n' || last == self.delimiter { State::FieldStart } else { State::Field };
        true
    }

    fn step(&mut self, byte: u8) {
        self.line += u64::from(byte == b'\n');
        self.state = match (self.state, byte) {
            (State::Quoted, b'"') => State::QuoteInQuotes,
            (State::Quoted, _) | (State::QuoteInQuotes, b'"') => State::Quoted,
            (State::FieldStart, b'"') => {
                self.opened = QuoteFault { line: self.line, column: self.column, is_closed: false };
                State::Quoted
            }
            (_, b'\n') => {
                self.column = 1;
                State::FieldStart
            }
            (_, byte) if byte == self.delimiter => {
                self.column += 1;
                State::FieldStart
            }
            (State::QuoteInQuotes | State::AfterQuotes, b' ' | b'\t') => State::AfterQuotes,
            (State::QuoteInQuotes | State::AfterQuotes, _) => {
                let here = QuoteFault { line: self.line, column: self.column, is_closed: true };
                self.misplaced.get_or_insert(here);
                State::Field
            }
            _ => State::Field,
        };
    }
}

impl Read for TextReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if let (Some(fault), None) = (self.misplaced, self.until_end) {
                return Err(io::Error::other(fault));
            }
            let n = if self.until_end == Some(0) { 0 } else { self.source.read(buffer)? };
            if n == 0 {
                break;
            }
            if self.until_end.is_some() || buffer[..n].contains(&0) {
                self.until_end = Some(self.until_end.unwrap_or(AFTER_NUL).saturating_sub(n));
            }
            let kept = self.follow(&mut buffer[..n]);
            if kept > 0 {
                self.last = buffer[kept - 1];
                return Ok(kept);
            }
        }
        if self.state == State::Quoted {
            if self.until_end.is_none() {
                return Err(io::Error::other(self.opened));
            }
            // The NUL is what is told of, with the line of its row, which is counted from the row's end.
            (self.state, self.last, buffer[0]) = (State::QuoteInQuotes, b'"', b'"');
            return Ok(1);
        }
        if self.last == b'\n' {
            return Ok(0);
        }
        buffer[0] = b'\n';
        self.last = b'\n';
        Ok(1)
    }
}
