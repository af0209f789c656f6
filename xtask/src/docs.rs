//! `cargo xtask docs`: the pages of docs/, the docstrings of the Python package, the help of the program and the Rust API as one
//! site, target/site. Warnings are errors: broken links, names that nothing has, pages that nothing leads to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::python::{self, target};
use crate::{Outcome, cargo, command, root, step};

const PACKAGES: [&str; 7] = [
    "furo>=2025",
    "maturin>=1.8,<2",
    "myst-parser>=5,<6",
    "numpy",
    "numpydoc>=1.9",
    "sphinx>=9,<10",
    "sphinx-copybutton>=0.5",
];

/// Builds all that the site is made of, then the site.
pub(crate) fn run() -> Outcome {
    step("program", &mut cargo(&["build", "--package", "rankwise-cli"]))?;
    step("Rust API", &mut cargo(&["doc", "--package", "rankwise", "--no-deps"]))?;
    let python = python::environment("site-python", &PACKAGES)?;
    python::install(&python, "dev")?;
    site(&python)
}

/// The site alone, where the rest has been built, by the tests or earlier.
pub(crate) fn check() -> Outcome {
    let python = python::environment("site-python", &PACKAGES)?;
    python::install_wheel(&python, &python::built("dev")?)?;
    site(&python)
}

fn site(python: &Path) -> Outcome {
    let (source, out) = (target().join("site-source"), target().join("site"));
    for folder in [&source, &out] {
        let _ = fs::remove_dir_all(folder);
    }
    gather(&source).map_err(|e| format!("{}: {e}", source.display()))?;
    let [from, to, trees] = [&source, &out, &target().join("site-trees")].map(|path| path.display().to_string());
    let build = ["-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-E", "-d", &trees, &from, &to];
    step("site", &mut command(&python.to_string_lossy(), &build))?;
    copy(&target().join("doc"), &out.join("rust")).map_err(|e| format!("the Rust API: {e}"))?;
    look(&out)
}

/// Puts the pages into one folder: docs/ at its top, what else is read or linked beside.
fn gather(source: &Path) -> std::io::Result<()> {
    copy(&root().join("docs"), source)?;
    copy(&root().join("examples"), &source.join("examples"))?;
    copy(&root().join("bench/results"), &source.join("bench/results"))?;
    for page in ["bench/README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        fs::copy(root().join(page), source.join(page))?;
    }
    fs::write(source.join("commands.md"), commands()?)
}

/// The help of the program and of its commands as a page.
fn commands() -> std::io::Result<String> {
    let program = target().join("debug/rankwise");
    let help = |args: &[&str]| -> std::io::Result<String> {
        let told = command(&program.to_string_lossy(), args).output()?;
        if !told.status.success() {
            return Err(std::io::Error::other(format!("{} {}: {}", program.display(), args.join(" "), told.status)));
        }
        Ok(String::from_utf8_lossy(&told.stdout).trim_end().to_string())
    };
    let overview = help(&["--help"])?;
    let mut page = format!("# Commands\n\nWhat `--help` prints.\n\n```text\n{overview}\n```\n");
    for name in names(&overview) {
        page += &format!("\n## rankwise {name}\n\n```text\n{}\n```\n", help(&[name, "--help"])?);
    }
    Ok(page)
}

/// The commands that a help text lists.
fn names(overview: &str) -> impl Iterator<Item = &str> {
    let listed = overview.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Lines that go on with the last one's words begin further right.
    let names = listed.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help")
}

/// Looks through the pages: nothing may come from elsewhere; links that lead elsewhere are listed, not followed.
fn look(site: &Path) -> Outcome {
    let mut outside = BTreeSet::new();
    let mut remote = Vec::new();
    for file in files(site).map_err(|e| format!("{}: {e}", site.display()))? {
        let of_rust = file.starts_with(site.join("rust"));
        let text = match file.extension().and_then(|kind| kind.to_str()) {
            Some("html" | "css") if !of_rust => {
                fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?
            }
            _ => continue,
        };
        let found = addresses(&text);
        remote.extend(found.loaded.into_iter().map(|address| format!("{}: {address}", file.display())));
        outside.extend(found.linked);
    }
    if !remote.is_empty() {
        return Err(format!("pages load what is not theirs:\n{}", remote.join("\n")));
    }
    let list = target().join("site-links.txt");
    let lines: String = outside.iter().map(|address| format!("{address}\n")).collect();
    fs::write(&list, lines).map_err(|e| format!("{}: {e}", list.display()))?;
    println!("written: {}; {} links elsewhere, not followed: {}", site.display(), outside.len(), list.display());
    Ok(())
}

/// Addresses of other machines: what a page loads when it is opened, and where its links lead.
#[derive(Default, Debug, PartialEq)]
struct Addresses {
    loaded: Vec<String>,
    linked: Vec<String>,
}

fn addresses(text: &str) -> Addresses {
    let is_remote = |address: &str| ["http:", "https:", "//"].iter().any(|start| address.starts_with(start));
    let mut found = Addresses::default();
    for tag in text.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        for attribute in ["href=\"", "src=\"", "srcset=\"", "data=\""] {
            let values = tag.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
            for address in values.filter(|address| is_remote(address)) {
                let list = if tag.starts_with("a ") { &mut found.linked } else { &mut found.loaded };
                list.push(address.to_string());
            }
        }
    }
    for before in ["url(", "@import "] {
        let values = text.split(before).skip(1).map(|rest| rest.trim_start_matches(['"', '\'', ' ']));
        let values = values.filter(|rest| is_remote(rest));
        found
            .loaded
            .extend(values.map(|rest| rest.split(['"', '\'', ')', ';', '\n']).next().unwrap_or(rest).to_string()));
    }
    found
}

/// Copies a folder with all that is in it, but for what runs have left there.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        if name == "out" || name == "__pycache__" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// All files below a folder.
fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_loads_from_elsewhere_is_found() {
        let page = "<link rel=\"x\" href=\"https://a/b.css\"><script src=\"//c/d.js\"></script><img src=\"e.png\" srcset=\"http://f\">\
            <a class=\"x\" href=\"https://g\">g</a><a href=\"h.html\">h</a><style>@import \"https://i\"; b { background: url(https://j) }</style>";
        let found = addresses(page);
        assert_eq!(found.loaded, ["https://a/b.css", "//c/d.js", "http://f", "https://j", "https://i"]);
        assert_eq!(found.linked, ["https://g"]);
        assert_eq!(addresses("<p>https://a</p><svg xmlns=\"http://www.w3.org/2000/svg\"></svg>"), Addresses::default());
    }

    #[test]
    fn commands_are_read_from_the_help() {
        let help =
            "x\n\nCommands:\n  train  Learn\n         and more\n  tune   Choose\n  help   Print\n\nOptions:\n  -h\n";
        assert_eq!(names(help).collect::<Vec<_>>(), ["train", "tune"]);
    }
}
