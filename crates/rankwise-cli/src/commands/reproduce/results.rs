//! What a study leaves behind: numbers as csv, the figure as SVG, paper and ours as Markdown, all of it as a page.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::study::{Findings, Room, Study};
use crate::exit::Run;
use crate::output::write_files;
use crate::page::{Page, Table};
use crate::text::{csv_field, wide_table};

/// Writes the files, all or nothing, and names them.
pub(super) fn write(study: &dyn Study, room: &Room, findings: &Findings, out: &Path) -> Run<Vec<PathBuf>> {
    let files = [
        ("csv", csv(findings)),
        ("svg", findings.picture.file()),
        ("md", markdown(study, room, findings)),
        ("html", page(study, room, findings)),
    ];
    let files = files.map(|(ending, text)| (out.join(format!("{}.{ending}", study.name())), text));
    write_files(&files)?;
    Ok(files.map(|(path, _)| path).into())
}

/// What is printed.
pub(super) fn text(study: &dyn Study, room: &Room, findings: &Findings) -> String {
    let header: Vec<&str> = findings.beside.header.iter().map(String::as_str).collect();
    let mut text = format!("{}\n{}{}\n\n", study.title(), findings.lead, scope(study, room));
    text += &format!("{}:\n", findings.beside.caption);
    text += &wide_table(&header, findings.beside.rows.iter().cloned());
    if !findings.claims.is_empty() {
        text += "\nThe paper says:\n";
    }
    for claim in &findings.claims {
        text += &format!("  {} {}\n", if claim.holds { "[so here]" } else { "[not so here]" }, claim.text);
    }
    for note in &findings.notes {
        text += &format!("\n{note}\n");
    }
    text
}

/// The same for programs.
pub(super) fn json(study: &dyn Study, room: &Room, findings: &Findings, files: &[PathBuf], resumed: usize) -> Value {
    let rows = |(header, rows): (&Vec<String>, &Vec<Vec<String>>)| json!({ "columns": header, "rows": rows });
    json!({
        "name": study.name(),
        "title": study.title(),
        "paper": study.paper().citation(),
        "quick": room.is_quick,
        "seed": room.seed,
        "lead": findings.lead,
        "table": rows((&findings.beside.header, &findings.beside.rows)),
        "claims": findings.claims.iter().map(|c| json!({ "text": c.text, "holds": c.holds })).collect::<Vec<_>>(),
        "notes": findings.notes,
        "tasks_resumed": resumed,
        "files": files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
    })
}

fn csv(findings: &Findings) -> String {
    let (header, rows) = &findings.numbers;
    let line = |cells: &Vec<String>| cells.iter().map(|cell| csv_field(cell)).collect::<Vec<_>>().join(",") + "\n";
    std::iter::once(header).chain(rows).map(line).collect()
}

/// How it was run, in words.
fn scope(study: &dyn Study, room: &Room) -> String {
    if !study.varies() {
        return String::new();
    }
    let size =
        if room.is_quick { "the quick version, which shows that it runs and little else" } else { "the whole study" };
    format!(" This is {size}, with seed {}.", room.seed)
}

fn markdown(study: &dyn Study, room: &Room, findings: &Findings) -> String {
    let name = study.name();
    let data = if study.needs().is_empty() { "" } else { " --data DIR" };
    let quick = if room.is_quick && study.varies() { " --quick" } else { "" };
    let seed = if room.seed == 0 || !study.varies() { String::new() } else { format!(" --seed {}", room.seed) };
    let mut text = format!("## {name}: {}\n\n", study.title());
    text += &format!(
        "*{}*\n\n```sh\nrankwise reproduce {name}{data} --out DIR{quick}{seed}\n```\n\n",
        study.paper().citation()
    );
    text += &format!("{}{}\n\n", findings.lead, scope(study, room));
    text += &markdown_table(&findings.beside);
    if !findings.claims.is_empty() {
        text += "\n| the paper says | here |\n|---|---|\n";
    }
    for claim in &findings.claims {
        text += &format!("| {} | {} |\n", cell(&claim.text), if claim.holds { "yes" } else { "**no**" });
    }
    text += &format!("\n![{}]({name}.svg)\n\n{}\n", findings.picture.name(), findings.caption);
    for note in &findings.notes {
        text += &format!("\n- {note}");
    }
    text + "\n"
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn markdown_table(table: &Table) -> String {
    let line = |cells: &Vec<String>| format!("| {} |\n", cells.iter().map(|c| cell(c)).collect::<Vec<_>>().join(" | "));
    let mut text = format!("{}\n\n{}", table.caption, line(&table.header));
    text += &format!("|---|{}\n", "---:|".repeat(table.header.len().saturating_sub(1)));
    text += &table.rows.iter().map(line).collect::<String>();
    text
}

fn page(study: &dyn Study, room: &Room, findings: &Findings) -> String {
    let mut page = Page::new(&format!("{}: {}", study.name(), study.title()));
    page.lead(&findings.lead);
    page.paragraph(&format!("{}.{}", study.paper().citation(), scope(study, room)));
    page.section("Paper and ours");
    page.table(&findings.beside);
    if !findings.claims.is_empty() {
        let verdict = |holds: bool| if holds { "yes" } else { "no" }.to_string();
        let rows = findings.claims.iter().map(|claim| vec![claim.text.clone(), verdict(claim.holds)]).collect();
        let header = ["the paper says", "here"].map(String::from).into();
        page.table(&Table { caption: "Claims".into(), header, rows, is_words: true });
    }
    page.section("Picture");
    page.figures(&[(&findings.picture, findings.caption.clone())]);
    if !findings.notes.is_empty() {
        page.section("How it was done, and where it differs");
    }
    for note in &findings.notes {
        page.paragraph(note);
    }
    for table in &findings.tables {
        page.details(&table.caption, &Table { caption: String::new(), ..table.clone() });
    }
    page.html()
}
