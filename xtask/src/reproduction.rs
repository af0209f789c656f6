//! `cargo xtask reproduction --data DIR`: runs every study and puts what they say together in docs/reproduction.md.
//!
//! What is in the journals of an earlier run is not computed again; journals, pages and numbers stay in target/reproduction.

use std::fs;
use std::path::Path;

use crate::{Outcome, cargo, root, step};

const HEAD: &str = "docs/reproduction/head.md";

pub(crate) fn run(data: &str) -> Outcome {
    let data = Path::new(data).canonicalize().map_err(|e| format!("{data}: {e}"))?;
    let out = root().join("target/reproduction");
    let [data, target] = [data.as_path(), out.as_path()].map(|path| path.display().to_string());
    let all = ["run", "--release", "--", "reproduce", "all", "--data", &data, "--out", &target];
    step("every study", &mut cargo(&all))?;
    assemble(&out)
}

/// The page: its head, then what each study wrote, in the order of the list; pictures are copied beside.
fn assemble(out: &Path) -> Outcome {
    let read = |path: &Path| fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    let listed = cargo(&["run", "--release", "--quiet", "--", "reproduce", "--list"]).output();
    let listed = listed.map_err(|e| format!("the list of studies: {e}"))?.stdout;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let names = listed.lines().filter(|line| !line.starts_with(' ') && !line.is_empty());
    let mut page = read(&root().join(HEAD))?;
    let mut sections = String::new();
    for name in names {
        let section = read(&out.join(format!("{name}.md")))?;
        // The first paragraph after the command, without the sentence about the run itself.
        let paragraph = section.split("```\n\n").nth(1).and_then(|rest| rest.split("\n\n").next());
        let lead = paragraph.and_then(|text| text.split(" This is the ").next());
        let lead = lead.ok_or_else(|| format!("{name}.md does not begin as the others do"))?;
        page += &format!("| `{name}` | {lead} |\n");
        sections += "\n";
        sections += &section.replace(&format!("]({name}.svg)"), &format!("](reproduction/{name}.svg)"));
        let (from, to) = (out.join(format!("{name}.svg")), root().join(format!("docs/reproduction/{name}.svg")));
        fs::copy(&from, &to).map_err(|e| format!("{}: {e}", to.display()))?;
    }
    page += &sections;
    let target = root().join("docs/reproduction.md");
    fs::write(&target, page).map_err(|e| format!("{}: {e}", target.display()))?;
    println!("written: {}", target.display());
    Ok(())
}
