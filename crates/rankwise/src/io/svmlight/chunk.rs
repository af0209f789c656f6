//! Some lines of a file, parsed: label, group, weight, features and comment of each, without an allocation per line.

use super::super::convert::ItemRow;
use super::fault::{Fault, Found, Line};
use super::number::{any_number, byte, digits, expected_index, token_end, usual_number, usual_value};
use crate::data::{Block, ColumnDigits, ColumnRanges, Stored, has_f32_magnitude};
use crate::error::Result;
use crate::io::IndexBase;

/// Larger indices are refused.
pub(super) const MAX_INDEX: u64 = i32::MAX as u64;
/// A row is written out with its zeros while it is about half full.
const SPARE_ZEROS: usize = 8;

/// How lines are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// The first index: 0 or 1.
    pub(super) base: u64,
    /// Whether numbers that only f64 can hold are errors.
    pub(super) must_fit_f32: bool,
    /// Indices from here on are read over.
    pub(super) end: u64,
}

impl Rules {
    pub(super) fn new(base: IndexBase, most_features: Option<usize>, must_fit_f32: bool) -> Self {
        let base = base.first();
        let end = most_features.map_or(u64::MAX, |most| base.saturating_add(most as u64));
        Rules { base, must_fit_f32, end }
    }
}

/// Where something is: line (counted from 1) and column.
pub(super) type At = (u64, usize);

/// The lines of a chunk.
#[derive(Debug)]
pub(super) struct Chunk<T> {
    /// How many lines there are, those without an item among them.
    pub(super) n_lines: u64,
    /// One label per item.
    pub(super) labels: Vec<f64>,
    /// One weight per item; empty if no line has one.
    pub(super) weights: Vec<f64>,
    /// Groups one after the other: the name ends there in `run_names`, the items are so many.
    pub(super) runs: Vec<(usize, u32)>,
    pub(super) run_names: String,
    /// The first line with a group, and the first one without.
    pub(super) with_group: Option<u64>,
    pub(super) without_group: Option<At>,
    /// Where the id of each item ends in `id_text`; empty if no line has one.
    pub(super) id_ends: Vec<usize>,
    pub(super) id_text: String,
    /// What is wrong with the line after the last one.
    pub(super) fault: Option<Box<Fault>>,
    /// The columns of rows without gaps.
    pub(super) ranges: ColumnRanges,
    /// The digits of rows with a number that is not surely short.
    pub(super) digits: ColumnDigits,
    /// The shortest of the rows without gaps.
    pub(super) shortest: usize,
    /// Some rows have gaps; `columns` has the columns of all rows.
    pub(super) has_gaps: bool,
    /// A row with gaps has numbers that f32 may not do for.
    pub(super) has_extremes: bool,
    row_ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
    width: usize,
    n_nonzero: usize,
    /// The current row, and its columns if it has gaps.
    row: Vec<f64>,
    row_columns: Vec<u32>,
    /// Whether it has a number that is not surely short.
    row_has_long: bool,
}

impl<T> Default for Chunk<T> {
    fn default() -> Self {
        Chunk {
            n_lines: 0,
            labels: Vec::new(),
            weights: Vec::new(),
            runs: Vec::new(),
            run_names: String::new(),
            with_group: None,
            without_group: None,
            id_ends: Vec::new(),
            id_text: String::new(),
            fault: None,
            ranges: ColumnRanges::default(),
            digits: ColumnDigits::default(),
            shortest: usize::MAX,
            has_gaps: false,
            has_extremes: false,
            row_ends: Vec::new(),
            columns: Vec::new(),
            values: Vec::new(),
            width: 0,
            n_nonzero: 0,
            row: Vec::new(),
            row_columns: Vec::new(),
            row_has_long: false,
        }
    }
}

/// What a line says of an item before its features.
struct Head {
    label: f64,
    group: Option<(usize, usize)>,
    weight: Option<f64>,
    /// Where a group would have been.
    after_label: usize,
    end: usize,
}

impl<T: Stored> Chunk<T> {
    /// Forgets all but the memory.
    fn clear(&mut self) {
        self.n_lines = 0;
        self.labels.clear();
        self.weights.clear();
        self.runs.clear();
        self.run_names.clear();
        (self.with_group, self.without_group, self.fault) = (None, None, None);
        self.id_ends.clear();
        self.id_text.clear();
        self.ranges.clear();
        self.digits.clear();
        self.shortest = usize::MAX;
        (self.has_gaps, self.has_extremes) = (false, false);
        self.row_ends.clear();
        self.columns.clear();
        self.values.clear();
        (self.width, self.n_nonzero) = (0, 0);
    }

    /// Parses lines up to the first that is wrong.
    pub(super) fn parse(&mut self, text: &[u8], rules: Rules) {
        self.clear();
        let mut start = 0;
        while start < text.len() {
            self.n_lines += 1;
            match self.parse_line(Line { text, start, number: self.n_lines }, rules) {
                Ok(end) => start = end + 1,
                Err(fault) => {
                    self.fault = Some(fault);
                    return;
                }
            }
        }
    }

    /// The rows.
    pub(super) fn block(&self) -> Block<'_, T> {
        Block {
            ends: &self.row_ends,
            columns: self.has_gaps.then_some(&self.columns),
            values: &self.values,
            width: self.width,
            n_nonzero: self.n_nonzero,
        }
    }

    /// Parses a line; says where it ends.
    #[inline]
    fn parse_line(&mut self, line: Line<'_>, rules: Rules) -> Found<usize> {
        let text = line.text;
        let start = skip_blanks(text, line.start);
        match byte(text, start) {
            b'\n' => return Ok(start),
            b'#' => return comment(line, start).map(|(_, end)| end),
            _ => {}
        }
        let head = parse_head(line, start)?;
        let at = self.parse_features(line, head.end, rules)?;
        let (id, end) = if byte(text, at) == b'#' { comment(line, at)? } else { ("", at) };
        self.add_row();
        self.add_head(&head, line);
        self.add_id(id);
        Ok(end)
    }

    /// Parses features into the current row; says where they end.
    #[inline]
    fn parse_features(&mut self, line: Line<'_>, start: usize, rules: Rules) -> Found<usize> {
        let text = line.text;
        let mut at = start;
        self.row.clear();
        self.row_columns.clear();
        let (mut has_gaps, mut has_long) = (false, false);
        let mut next = rules.base;
        loop {
            at = skip_blanks(text, at);
            self.row_has_long = has_long;
            let value_at = match expected_index(text, at, next) {
                Some(value_at) => value_at,
                None => {
                    let Some((index, value_at)) = parse_index(line, at)? else { return Ok(at) };
                    if index < next || index > MAX_INDEX {
                        let previous = (next > rules.base).then(|| next - 1);
                        return line.wrong_index(at, index, rules.base, previous);
                    }
                    if index > next && !has_gaps && index < rules.end {
                        has_gaps = self.leave_out((index - rules.base) as usize);
                    }
                    next = index;
                    value_at
                }
            };
            let value;
            (value, at) = match usual_value(text, value_at) {
                Some((value, end, is_long)) => {
                    has_long |= is_long;
                    (value, end)
                }
                None => {
                    has_long = true;
                    unusual_value(line, value_at, at, rules)?
                }
            };
            next += 1;
            if next > rules.end {
                continue;
            }
            if has_gaps {
                self.row_columns.push((next - 1 - rules.base) as u32);
            }
            self.row.push(value);
        }
    }

    /// The current row has nothing before a column: zeros if they are few, else (true) its columns are to be kept.
    fn leave_out(&mut self, column: usize) -> bool {
        let n_entries = self.row.len();
        let has_gaps = column > 2 * n_entries + SPARE_ZEROS;
        if has_gaps {
            self.row_columns.extend(0..n_entries as u32);
        } else {
            self.row.resize(column, 0.0);
        }
        has_gaps
    }

    /// Keeps the current row.
    #[inline]
    fn add_row(&mut self) {
        let n_before = self.values.len();
        // −0 becomes 0, as which it would come back from compressed rows.
        self.values.extend(self.row.iter().map(|&value| T::from_f64(value).plus(T::ZERO)));
        self.n_nonzero += self.values[n_before..].iter().filter(|value| **value != T::ZERO).count();
        if self.row_columns.is_empty() {
            self.ranges.add_row(&self.row);
            self.shortest = self.shortest.min(self.row.len());
            self.width = self.width.max(self.row.len());
            if self.has_gaps {
                self.columns.extend(0..self.row.len() as u32);
            }
        } else {
            self.add_columns();
        }
        self.row_ends.push(self.values.len());
        if self.row_has_long {
            self.add_digits();
        }
    }

    fn add_digits(&mut self) {
        match self.row_columns.is_empty() {
            true => self.digits.add_row(&self.row),
            false => self.digits.add_scattered(&self.row),
        }
    }

    fn add_columns(&mut self) {
        if !self.has_gaps {
            self.has_gaps = true;
            let mut start = 0;
            for &end in &self.row_ends {
                self.columns.extend(0..(end - start) as u32);
                start = end;
            }
        }
        self.columns.extend_from_slice(&self.row_columns);
        self.width = self.width.max(self.row_columns.last().map_or(0, |&last| last as usize + 1));
        self.has_extremes |= self.row.iter().any(|&value| value != 0.0 && !has_f32_magnitude(value.abs()));
    }

    #[inline]
    fn add_head(&mut self, head: &Head, line: Line<'_>) {
        if let Some(weight) = head.weight {
            self.weights.resize(self.labels.len(), 1.0);
            self.weights.push(weight);
        } else if !self.weights.is_empty() {
            self.weights.push(1.0);
        }
        self.labels.push(head.label);
        match head.group {
            None => {
                self.without_group.get_or_insert((line.number, head.after_label - line.start + 1));
            }
            Some((start, end)) => {
                self.with_group.get_or_insert(line.number);
                self.add_group(&line.text[start..end]);
            }
        }
    }

    #[inline]
    fn add_group(&mut self, name: &[u8]) {
        let last_start = self.runs.len().checked_sub(2).map_or(0, |before| self.runs[before].0);
        match self.runs.last_mut() {
            Some((_, n_items)) if &self.run_names.as_bytes()[last_start..] == name => *n_items += 1,
            _ => {
                // The head was checked to be text.
                self.run_names.push_str(&String::from_utf8_lossy(name));
                self.runs.push((self.run_names.len(), 1));
            }
        }
    }

    #[inline]
    fn add_id(&mut self, id: &str) {
        if !id.is_empty() {
            self.id_ends.resize(self.labels.len() - 1, self.id_text.len());
            self.id_text.push_str(id);
            self.id_ends.push(self.id_text.len());
        } else if !self.id_ends.is_empty() {
            self.id_ends.push(self.id_text.len());
        }
    }
}

impl Chunk<f64> {
    /// Hands over the items one by one.
    pub(super) fn for_each_item(&self, take: &mut dyn FnMut(&ItemRow<'_>) -> Result<()>) -> Result<()> {
        let mut runs = self.runs.iter();
        let (mut name, mut name_end, mut n_left) = ("", 0, 0);
        let (mut start, mut id_start) = (0, 0);
        for (at, &label) in self.labels.iter().enumerate() {
            if n_left == 0
                && let Some(&(end, n)) = runs.next()
            {
                (name, name_end, n_left) = (&self.run_names[name_end..end], end, n);
            }
            n_left = n_left.saturating_sub(1);
            let id_end = self.id_ends.get(at).copied().unwrap_or(id_start);
            let end = self.row_ends[at];
            take(&ItemRow {
                label: Some(label),
                weight: self.weights.get(at).copied(),
                group: (!self.runs.is_empty()).then_some(name),
                group_weight: None,
                id: Some(&self.id_text[id_start..id_end]).filter(|id| !id.is_empty()),
                columns: self.has_gaps.then(|| &self.columns[start..end]),
                values: &self.values[start..end],
                line: None,
            })?;
            (start, id_start) = (end, id_end);
        }
        Ok(())
    }
}

#[inline(always)]
fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(byte(text, at), b' ' | b'\t' | b'\r') {
        at += 1;
    }
    at
}

/// Label, group and weight.
#[inline]
fn parse_head(line: Line<'_>, start: usize) -> Found<Head> {
    let text = line.text;
    let (label, mut at) = match usual_number(text, start) {
        Some(found) => found,
        None => unusual_label(line, start)?,
    };
    let mut head = Head { label, group: None, weight: None, after_label: at, end: at };
    loop {
        at = skip_blanks(text, at);
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with(b"qid:") {
            let (start, end) = (at + 4, token_end(text, at));
            if start == end {
                return line.no_value(start, at);
            }
            if head.group.is_some() {
                return line.repeated(at);
            }
            if !text[start..end].iter().all(u8::is_ascii_graphic) {
                line.check_text(start, end)?;
            }
            head.group = Some((start, end));
            at = end;
        } else if rest.starts_with(b"cost:") {
            if head.weight.is_some() {
                return line.repeated(at);
            }
            let weight;
            (weight, at) = parse_weight(line, at)?;
            head.weight = Some(weight);
        } else {
            head.end = at;
            return Ok(head);
        }
    }
}

fn unusual_label(line: Line<'_>, at: usize) -> Found<(f64, usize)> {
    let end = token_end(line.text, at);
    let token = &line.text[at..end];
    match any_number(token) {
        Some(label) if label.is_finite() => Ok((label, end)),
        None if token.contains(&b':') => line.no_label(at),
        parsed => line.no_number(at, "a finite number as label", parsed),
    }
}

fn parse_weight(line: Line<'_>, at: usize) -> Found<(f64, usize)> {
    let (start, end) = (at + 5, token_end(line.text, at));
    if start == end {
        return line.no_value(start, at);
    }
    match any_number(&line.text[start..end]) {
        Some(weight) if weight.is_finite() && weight >= 0.0 => Ok((weight, end)),
        Some(weight) if weight.is_finite() => line.negative_weight(start, weight),
        parsed => line.no_number(start, "a finite number of at least 0", parsed),
    }
}

/// The index here and where its value begins; nothing at the end of the features.
#[inline]
fn parse_index(line: Line<'_>, at: usize) -> Found<Option<(u64, usize)>> {
    let (index, n) = digits(line.text, at);
    if n > 0 && byte(line.text, at + n) == b':' {
        return Ok(Some((index, at + n + 1)));
    }
    if matches!(byte(line.text, at), b'\n' | b'#') {
        return Ok(None);
    }
    unusual_index(line, at).map(Some)
}

/// An index of more than eight digits, or none at all.
#[cold]
fn unusual_index(line: Line<'_>, at: usize) -> Found<(u64, usize)> {
    let end = token_end(line.text, at);
    let token = &line.text[at..end];
    let Some(n) = token.iter().position(|&byte| byte == b':') else {
        return line.no_colon(at);
    };
    if token.starts_with(b"qid:") || token.starts_with(b"cost:") {
        return line.misplaced(at);
    }
    if n == 0 || !token[..n].iter().all(u8::is_ascii_digit) {
        return line.no_index(at);
    }
    match any_index(&token[..n]) {
        Some(index) if index <= MAX_INDEX => Ok((index, at + n + 1)),
        _ => line.too_large_index(at),
    }
}

fn any_index(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A value with an exponent or with many digits, or none at all; says where it ends.
fn unusual_value(line: Line<'_>, at: usize, token: usize, rules: Rules) -> Found<(f64, usize)> {
    let end = token_end(line.text, at);
    if at == end {
        return line.no_value(at, token);
    }
    match any_number(&line.text[at..end]) {
        Some(value) if value.is_finite() => {
            if rules.must_fit_f32 && !(value as f32).is_finite() {
                return line.too_large_for_f32(at);
            }
            Ok((value, end))
        }
        parsed => line.no_number(at, "a finite number", parsed),
    }
}

/// The id that a comment gives, and where the line ends.
#[inline]
fn comment(line: Line<'_>, hash: usize) -> Found<(&str, usize)> {
    let start = hash + 1;
    let rest = line.text.get(start..).unwrap_or_default();
    let end = rest.iter().position(|&byte| byte == b'\n').map_or(line.text.len(), |n| start + n);
    let bytes = &line.text[start..end];
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.contains(&0) => Ok((id_of(text), end)),
        _ => line.check_text(start, end).map(|()| ("", end)),
    }
}

/// `docid = NAME …` names the item; any other comment is its name.
pub(in crate::io) fn id_of(comment: &str) -> &str {
    let comment = comment.trim();
    let value = comment.strip_prefix("docid").and_then(|rest| rest.trim_start().strip_prefix('='));
    value.and_then(|value| value.split_whitespace().next()).unwrap_or(comment)
}
