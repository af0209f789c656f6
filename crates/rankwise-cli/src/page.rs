//! One self-contained HTML page: sections, facts, tables and pictures, with nothing to fetch and nothing to run.
//!
//! System fonts, light and dark by the reader's setting, as narrow as 320 pixels (tables scroll in their own box), and
//! black on white on paper. Whatever text comes in is escaped here.

use crate::picture::{COLOURS, MARKS, Picture, escape};
use crate::text::Facts;

/// The looks of a page; colours are the pictures'.
const LAYOUT: &str = "\
*{box-sizing:border-box}\
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}\
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",sans-serif}\
main,header,footer{max-width:68rem;margin:0 auto;padding:0 1rem}\
header{padding-top:1.5rem}footer{padding-bottom:2rem;color:var(--soft);font-size:.875rem}\
h1{font-size:1.6rem;line-height:1.25;margin:.2rem 0 .6rem}h2{font-size:1.2rem;margin:2.2rem 0 .6rem;border-bottom:1px solid var(--grid);padding-bottom:.25rem}\
h1,h2,p,figcaption,summary,td,th,dd{overflow-wrap:anywhere}\
p{max-width:46rem;margin:.6rem 0}\
.lead{font-size:1.15rem}\
.note{border-left:4px solid var(--c1);padding:.3rem .8rem;background:var(--panel);max-width:46rem}\
.box{overflow-x:auto;max-width:100%;margin:0 0 .8rem}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
.caption{color:var(--soft);font-size:.925rem;margin:1rem 0 .2rem}\
th,td{padding:.3rem .7rem;text-align:right;border-bottom:1px solid var(--grid);vertical-align:top;overflow-wrap:normal}\
th{font-weight:600}\
th:first-child,td:first-child,.words th,.words td,.name{text-align:left}\
.wide{min-width:11rem;max-width:22rem;overflow-wrap:anywhere}\
.facts th{font-weight:400;color:var(--soft);white-space:nowrap}.facts td{text-align:left;overflow-wrap:anywhere}\
.matrix td,.matrix th{text-align:center}.matrix th[scope=row]{text-align:right}\
.matrix td{min-width:5.5rem;background:color-mix(in srgb,var(--accent) calc(var(--share,0)*50%),transparent)}\
.matrix td small{display:block;color:inherit;white-space:nowrap}.matrix .hit{outline:2px solid var(--soft);outline-offset:-3px}\
.matrix .apart{background:repeating-linear-gradient(135deg,var(--panel) 0 6px,transparent 6px 12px)}\
@media screen{.dense th[scope=row]{position:sticky;left:0;background:var(--paper)}}\
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem 2rem;align-items:start}\
.row{grid-template-columns:repeat(auto-fit,minmax(min(100%,14rem),1fr));gap:.5rem 1rem}.row figure{margin:.4rem 0}\
@media (min-width:45rem){.row .rw-picture{font-size:16px}}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--panel);padding:.6rem .8rem;font:.875rem/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\
figure{margin:.8rem 0;min-width:0;break-inside:avoid}\
figure svg{display:block;max-width:100%;height:auto}figure .box{margin:0}\
@media screen and (max-width:30rem){.figures:not(.row) svg{max-width:none;min-width:27rem}}\
figcaption{color:var(--soft);font-size:.925rem;max-width:46rem;margin-top:.4rem}\
details{margin:.6rem 0}summary{cursor:pointer;color:var(--accent);padding:.25rem 0}\
summary:focus-visible,.box:focus-visible{outline:2px solid var(--accent);outline-offset:2px}\
@media (max-width:30rem){th,td{padding:.3rem .45rem}.matrix td{min-width:3.4rem}}\
@media print{body{font-size:10.5pt}main,header,footer{max-width:none;padding:0}h2{break-after:avoid}\
figure,tr,.note{break-inside:avoid}.box{overflow:visible}.figures{grid-template-columns:1fr 1fr}\
.dense td,.dense th{min-width:0;padding:.1rem;font-size:6pt;overflow-wrap:anywhere}.dense td small{white-space:normal}details:not([open]){display:none}}";

/// A page in the making.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    title: String,
    body: String,
}

/// A table of text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    /// What it shows.
    pub(crate) caption: String,
    /// The names of the columns.
    pub(crate) header: Vec<String>,
    /// The rows; the first cell of each names it.
    pub(crate) rows: Vec<Vec<String>>,
    /// Columns are words, not numbers.
    pub(crate) is_words: bool,
}

/// A cell of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// A thing against itself.
    Itself,
    /// A share, which gives the colour, in words; what else is known stands below, in small letters.
    Share(f64, String, Vec<String>),
    /// What cannot be told, with what is known all the same.
    Apart(Vec<String>),
}

/// Text for the page: escaped, and a number stays with its percent sign, and with what it varies by.
fn prose(text: &str) -> String {
    escape(text).replace(" %", "\u{a0}%").replace(" ± ", "\u{a0}±\u{a0}")
}

impl Page {
    /// An empty page.
    pub(crate) fn new(title: &str) -> Self {
        Page { title: title.into(), body: String::new() }
    }

    /// The sentence that everybody reads.
    pub(crate) fn lead(&mut self, text: &str) {
        self.body += &format!("<p class=\"lead\">{}</p>\n", prose(text));
    }

    /// A new section.
    pub(crate) fn section(&mut self, heading: &str) {
        self.body += &format!("<h2>{}</h2>\n", prose(heading));
    }

    /// A paragraph.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.body += &format!("<p>{}</p>\n", prose(text));
    }

    /// A paragraph that should not be missed.
    pub(crate) fn note(&mut self, text: &str) {
        self.body += &format!("<p class=\"note\">{}</p>\n", prose(text));
    }

    /// Names and values.
    pub(crate) fn facts(&mut self, facts: &Facts) {
        let row = |(name, value): (&str, &str)| {
            format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", prose(name), prose(value))
        };
        self.scrolling("facts", &facts.iter().map(row).collect::<String>(), "");
    }

    /// A table.
    pub(crate) fn table(&mut self, table: &Table) {
        let class = if table.is_words { "words" } else { "" };
        self.scrolling(class, &table.inner(0), &table.caption);
    }

    /// A table of numbers whose rows are named by another column than the first one.
    pub(crate) fn table_named_by(&mut self, column: usize, table: &Table) {
        self.scrolling("", &table.inner(column), &table.caption);
    }

    /// Things against things: `corner` says what rows and columns are, names come short and whole.
    pub(crate) fn matrix(&mut self, caption: &str, corner: &str, names: &[(String, String)], cells: &[Vec<Cell>]) {
        let name = |(short, whole): &(String, String)| match short == whole {
            true => prose(short),
            false => format!("<span title=\"{}\">{}</span>", escape(whole), prose(short)),
        };
        let heads: String = names.iter().map(|one| format!("<th scope=\"col\">{}</th>", name(one))).collect();
        let mut inner = format!("<tr><th scope=\"col\">{}</th>{heads}</tr>\n", prose(corner));
        for (row, one) in cells.iter().zip(names) {
            let cells: String = row.iter().map(Cell::html).collect();
            inner += &format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", name(one));
        }
        let class = if names.len() > 6 { "matrix dense" } else { "matrix" };
        self.scrolling(class, &inner, caption);
    }

    /// A table that is shown on demand.
    pub(crate) fn details(&mut self, summary: &str, table: &Table) {
        self.body += &format!("<details><summary>{}</summary>\n", prose(summary));
        self.table(table);
        self.body += "</details>\n";
    }

    /// Counts of what was (rows) against what was predicted (columns), each with its share of the row; the diagonal is
    /// what was right.
    pub(crate) fn confusion<const N: usize>(&mut self, caption: &str, names: [&str; N], counts: [[f64; N]; N]) {
        let rows: Vec<&[f64]> = counts.iter().map(|row| &row[..]).collect();
        self.confusion_of(caption, "judged", &names, N, &rows);
    }

    /// The same for any names, of which only the first `n_predicted` can be predicted; `what` stands in the rows.
    pub(crate) fn confusion_of(
        &mut self,
        caption: &str,
        what: &str,
        names: &[&str],
        n_predicted: usize,
        counts: &[&[f64]],
    ) {
        let heads: String =
            names[..n_predicted].iter().map(|name| format!("<th scope=\"col\">{}</th>", prose(name))).collect();
        let mut inner =
            format!("<tr><th scope=\"col\">{what} \\ predicted</th>{heads}<th scope=\"col\">all</th></tr>\n");
        for (row, name) in names.iter().enumerate() {
            let total: f64 = counts[row].iter().sum();
            inner += &format!("<tr><th scope=\"row\">{}</th>", prose(name));
            for (column, &count) in counts[row].iter().enumerate() {
                let share = if total > 0.0 { count / total } else { 0.0 };
                let class = if row == column { " class=\"hit\"" } else { "" };
                let words = if total > 0.0 { crate::text::percent(share) } else { "–".into() };
                let count = crate::text::rounded(count);
                inner += &format!("<td{class} style=\"--share:{share:.3}\">{count}<small>{words}</small></td>");
            }
            inner += &format!("<td>{}</td></tr>\n", crate::text::rounded(total));
        }
        self.scrolling("matrix", &inner, caption);
    }

    /// Lines to type.
    pub(crate) fn commands(&mut self, lines: &[String]) {
        let lines: String = lines.iter().map(|line| format!("{}\n", escape(line))).collect();
        self.body +=
            &format!("<pre class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"commands\">{lines}</pre>\n");
    }

    /// Pictures with their captions, side by side where there is room.
    pub(crate) fn figures(&mut self, figures: &[(&Picture, String)]) {
        self.figures_in("figures", figures);
    }

    /// Small pictures that belong together: four in a row where there is room.
    pub(crate) fn row(&mut self, figures: &[(&Picture, String)]) {
        self.figures_in("figures row", figures);
    }

    fn figures_in(&mut self, class: &str, figures: &[(&Picture, String)]) {
        self.body += &format!("<div class=\"{class}\">\n");
        for (picture, caption) in figures {
            let caption = prose(caption);
            self.body += &format!(
                "<figure>\n<div class=\"box\">{}</div>\n<figcaption>{caption}</figcaption>\n</figure>\n",
                picture.inline()
            );
        }
        self.body += "</div>\n";
    }

    /// A table in a box that scrolls by itself, with the keyboard, too. The caption stands outside, so that it does not.
    fn scrolling(&mut self, class: &str, inner: &str, caption: &str) {
        if !caption.is_empty() {
            self.body += &format!("<p class=\"caption\">{}</p>\n", prose(caption));
        }
        let label = if caption.is_empty() { "table".into() } else { prose(caption) };
        self.body += &format!(
            "<div class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\"><table class=\"{class}\">\n{inner}</table></div>\n"
        );
    }

    /// The page as HTML.
    pub(crate) fn html(&self) -> String {
        let (title, body) = (prose(&self.title), &self.body);
        let version = env!("CARGO_PKG_VERSION");
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
             <title>{title}</title>\n<style>\n{COLOURS}\n{MARKS}\n{LAYOUT}\n</style>\n</head>\n<body>\n\
             <header><h1>{title}</h1></header>\n<main>\n{body}</main>\n<footer><p>Made by rankwise {version}.</p></footer>\n\
             </body>\n</html>\n"
        )
    }
}

impl Cell {
    fn html(&self) -> String {
        let small = |lines: &[String]| lines.iter().map(|line| format!("<small>{}</small>", prose(line))).collect();
        let (start, words, lines): (_, _, String) = match self {
            Cell::Itself => return "<td></td>".into(),
            Cell::Share(share, words, lines) => {
                let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
                (format!(" style=\"--share:{share:.3}\""), prose(words), small(lines))
            }
            Cell::Apart(lines) => (" class=\"apart\"".into(), "–".into(), small(lines)),
        };
        format!("<td{start}>{words}{lines}</td>")
    }
}

impl Table {
    /// Rows are named by their cells of the column `named`.
    fn inner(&self, named: usize) -> String {
        let class = |at: usize| if at == named && at > 0 { " class=\"name\"" } else { "" };
        let head = |(at, name): (usize, &String)| format!("<th scope=\"col\"{}>{}</th>", class(at), prose(name));
        let mut inner = format!("<tr>{}</tr>\n", self.header.iter().enumerate().map(head).collect::<String>());
        for row in &self.rows {
            let cell = |(at, text): (usize, &String)| match (at, text.chars().count() > 24) {
                (0, _) if named == 0 => format!("<th scope=\"row\">{}</th>", prose(text)),
                (_, true) if at == named => format!("<th scope=\"row\" class=\"name wide\">{}</th>", prose(text)),
                _ if at == named => format!("<th scope=\"row\"{}>{}</th>", class(at), prose(text)),
                (_, true) => format!("<td class=\"wide\">{}</td>", prose(text)),
                (_, false) => format!("<td>{}</td>", prose(text)),
            };
            inner += &format!("<tr>{}</tr>\n", row.iter().enumerate().map(cell).collect::<String>());
        }
        inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_comes_in_is_escaped() {
        let bad = "<script>alert(1)</script>\"&'";
        let mut page = Page::new(bad);
        page.lead(bad);
        page.section(bad);
        page.paragraph(bad);
        page.note(bad);
        let mut facts = Facts::default();
        facts.add("fact", bad);
        page.facts(&facts);
        let table =
            Table { caption: bad.into(), header: vec![bad.into()], rows: vec![vec![bad.into(); 2]], is_words: true };
        page.table(&table);
        page.details(bad, &table);
        page.table_named_by(1, &table);
        let cells = [Cell::Itself, Cell::Share(f64::NAN, bad.into(), vec![bad.into()]), Cell::Apart(vec![bad.into()])];
        page.matrix(bad, bad, &[(bad.into(), bad.into()), ("short".into(), bad.into())], &[cells.to_vec()]);
        page.confusion(bad, [bad, bad], [[1.0, f64::NAN], [0.0, 0.0]]);
        let html = page.html();
        assert!(!html.contains("<script") && !html.contains("\"&'"), "{html}");
        assert!(html.matches("&lt;script&gt;").count() >= 15);
    }

    #[test]
    fn a_page_asks_for_nothing() {
        let html = Page::new("t").html();
        for word in ["http://", "https://", "src=", "@import", "url(", "<script"] {
            assert!(!html.contains(word), "{word}");
        }
        for word in
            ["lang=\"en\"", "name=\"viewport\"", "Content-Security-Policy", "prefers-color-scheme", "@media print"]
        {
            assert!(html.contains(word), "{word}");
        }
    }
}
