//! How things look as text: numbers, lists of facts, tables, fields of a csv file.

use std::borrow::Cow;
use std::fmt;

use comfy_table::{CellAlignment, Table};

/// The shortest form that reads back as the same number.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) || !size.is_finite() {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// A number for people to read: six digits that matter. Results and JSON use [`number`].
pub(crate) fn rounded(value: f64) -> String {
    let six = format!("{value:.5e}").parse().unwrap_or(value);
    number(six)
}

/// A rounded number, or a dash where there is none.
pub(crate) fn rounded_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), rounded)
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A share in percent, or a dash where there is none.
pub(crate) fn percent_or_dash(share: Option<f64>) -> String {
    share.map_or_else(|| "–".into(), percent)
}

/// `1 pair`, `2 pairs`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Facts under each other, their names aligned.
#[derive(Debug, Default)]
pub(crate) struct Facts(Vec<(&'static str, String)>);

impl Facts {
    /// Adds one.
    pub(crate) fn add(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.push((name, value.into()));
    }

    /// Names and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        self.0.iter().try_for_each(|(name, value)| writeln!(f, "{name:width$}  {}", one_line(value)))
    }
}

/// A table with a header; the first column is aligned left, the others right. Ends with a line break.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    wide_table(&header, rows.into_iter().map(Vec::from))
}

/// The same for columns that are known only when the program runs.
pub(crate) fn wide_table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(header.iter().map(|name| one_line(name)));
    rows.into_iter().for_each(|row| {
        table.add_row(row.iter().map(|cell| one_line(cell)));
    });
    for (at, column) in table.column_iter_mut().enumerate() {
        let alignment = if at == 0 { CellAlignment::Left } else { CellAlignment::Right };
        column.set_padding((0, 2)).set_cell_alignment(alignment);
    }
    table.trim_fmt() + "\n"
}

/// Whether a character does something to a terminal instead of being seen there: controls, and marks that turn the direction
/// of what follows.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text with a visible sign in place of every character that does something to a terminal, but those of `kept`: an escape
/// is ␛, a line break ␊.
pub(crate) fn visible<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let is_hidden = |c: char| is_unseen(c) && !kept.contains(&c);
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c as u32 {
            _ if !is_hidden(c) => shown.push(c),
            // Unicode has a picture for each of the first controls, and one for the last.
            control @ ..0x20 => shown.extend(char::from_u32(0x2400 + control)),
            0x7f => shown.push('␡'),
            _ => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

/// A text in one line, so that no name looks like two, or like another.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    visible(text, &[])
}

/// A field of a csv file, in quotes where it needs them.
pub(crate) fn csv_field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back() {
        for value in [0.0, 1.0, -0.1, 1e-5, 1e-300, 1.5e300, 123_456_789.125, 1e16, -2e-9] {
            assert_eq!(number(value).parse::<f64>().unwrap(), value);
            assert!(number(value).len() < 20, "{}", number(value));
        }
    }

    #[test]
    fn fields_are_quoted_only_where_needed() {
        assert_eq!(csv_field("plain"), "plain");
        assert_eq!(csv_field("a, \"b\""), "\"a, \"\"b\"\"\"");
    }

    #[test]
    fn names_with_line_breaks_do_not_look_like_others() {
        let shown = table(["item", "n"], ["ab", "a\nb", "a\tb", "a\u{1b}[2Jb"].map(|id| [id.to_string(), "1".into()]));
        let lines: Vec<&str> = shown.lines().collect();
        let starts: Vec<&str> = lines[1..].iter().map(|line| line.split(' ').next().unwrap_or("")).collect();
        assert_eq!(starts, ["ab", "a␊b", "a␉b", "a␛[2Jb"], "{shown}");
        let mut facts = Facts::default();
        facts.add("name", "a\nerror: b");
        assert_eq!(facts.to_string(), "name  a␊error: b\n");
    }

    #[test]
    fn what_moves_a_terminal_is_made_visible() {
        assert_eq!(visible("one\ntwo\t3", &['\n', '\t']), "one\ntwo\t3");
        assert_eq!(visible("\u{7f}\u{9b}2J\u{202e}äβ–", &['\n']), "␡\\u{9b}2J\\u{202e}äβ–");
    }

    #[test]
    fn facts_are_aligned() {
        let mut facts = Facts::default();
        facts.add("β", "−1");
        facts.add("gap", "0");
        assert_eq!(facts.to_string(), "β    −1\ngap  0\n");
    }
}
