//! Who may use whom: every path from one module of the library to another is an edge of the table below.

mod unsafe_code;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A module of the library, and the modules it may name. `lib.rs` re-exports anything.
const MAY_USE: [(&str, &[&str]); 15] = [
    // Open to all.
    ("error", &[]),
    ("math", &[]),
    ("progress", &[]),
    // One direction: data → problem → solver → model.
    ("data", &[]),
    ("loss", &["data"]),
    ("kernel", &["data"]),
    ("metrics", &["data"]),
    ("rating", &["data"]),
    ("problem", &["data", "loss", "kernel"]),
    ("solver", &["problem"]), // what problem/mod.rs itself defines, no more: see the second test
    ("model", &["data", "kernel", "loss"]), // loss: the record of the training names it
    ("estimator", &["data", "loss", "kernel", "problem", "solver", "model"]), // not metrics, not io
    ("selection", &["data", "loss", "kernel", "metrics", "rating", "model", "estimator"]), // loss and kernel: their types
    ("export", &["data", "loss", "kernel", "model"]), // loss: the record of the training names it
    ("io", &["data", "model"]), // kernel and loss reach the model file through the model's own serde
];
const OPEN_TO_ALL: [&str; 3] = ["error", "math", "progress"];

#[test]
fn modules_use_only_what_the_table_allows() {
    let mut rows: BTreeSet<&str> = MAY_USE.iter().map(|row| row.0).collect();
    let mut edges = BTreeSet::new();
    let mut faults = Vec::new();
    for (file, module) in sources() {
        let Some(from) = module.first() else { continue }; // lib.rs
        let Some((_, allowed)) = MAY_USE.iter().find(|row| row.0 == from) else {
            faults.push(format!("{}: module {from} has no row in the table", file.display()));
            continue;
        };
        rows.remove(from.as_str());
        for path in paths(&read(&file), &module) {
            let named = path.join("::");
            match path.first().map(String::as_str) {
                Some(to) if to == from || OPEN_TO_ALL.contains(&to) || allowed.contains(&to) => {
                    edges.insert((from.clone(), to.to_string()));
                }
                Some(to) if MAY_USE.iter().any(|row| row.0 == to) => {
                    faults.push(format!("{}: {from} may not use {to} (crate::{named})", file.display()));
                }
                _ => faults.push(format!("{}: crate::{named} hides which module is meant", file.display())),
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    assert!(rows.is_empty(), "rows of the table without a module: {rows:?}");
    // The collector sees what is surely there.
    for (from, to) in [("problem", "kernel"), ("solver", "problem"), ("estimator", "solver"), ("io", "model")] {
        assert!(edges.contains(&(from.to_string(), to.to_string())), "{from} → {to} was not found");
    }
}

#[test]
fn solvers_see_problems_through_traits_and_plain_data_only() {
    let view = defined_types(&tokens(&read(&source_root().join("problem/mod.rs"))));
    assert!(view.contains("MirroredQp") && !view.contains("PairProblem"), "{view:?}");
    let mut n_seen = 0;
    for (file, module) in sources().into_iter().filter(|(_, module)| module.first().is_some_and(|m| m == "solver")) {
        for path in paths(&read(&file), &module).iter().filter(|path| path.first().is_some_and(|m| m == "problem")) {
            n_seen += 1;
            assert!(
                path.get(1).is_some_and(|name| view.contains(name)),
                "{}: crate::{} is not one of {view:?}, which problem/mod.rs defines",
                file.display(),
                path.join("::")
            );
        }
    }
    assert!(n_seen > 0);
}

fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

/// Every source file with the path of its module, `["kernel", "cache"]`; empty for `lib.rs`.
fn sources() -> Vec<(PathBuf, Vec<String>)> {
    let (root, mut folders, mut found) = (source_root(), vec![source_root()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(&root).unwrap().with_extension("");
                let mut module: Vec<String> = name.iter().map(|part| part.to_str().unwrap().to_string()).collect();
                module.pop_if(|last| last == "mod" || last == "lib");
                found.push((path, module));
            }
        }
    }
    assert!(found.len() > 30, "only {} source files", found.len());
    found.sort();
    found
}

/// Identifiers and punctuation without comments, strings and characters; `::` is one token. A string that is a path
/// (`#[serde(with = "super::number")]`) counts as one.
fn tokens(source: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some((text, length)) = string(rest) {
            if text.starts_with("crate::") || text.starts_with("super::") {
                found.extend(tokens(text));
            }
            length
        } else if first == '\'' {
            character(rest)
        } else if rest.starts_with("::") {
            found.push("::".into());
            2
        } else if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push(rest[..length].into());
            length
        } else {
            if !first.is_whitespace() {
                found.push(first.into());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

/// The text of the string literal that `rest` starts with, and the literal's length.
fn string(rest: &str) -> Option<(&str, usize)> {
    let body = rest.trim_start_matches('b');
    if let Some(raw) = body.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let text = raw[hashes..].strip_prefix('"')?;
        let end = text.find(&format!("\"{}", "#".repeat(hashes)))?;
        return Some((&text[..end], rest.len() - text.len() + end + 1 + hashes));
    }
    let text = body.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    Some((&text[..end], rest.len() - text.len() + end + 1))
}

/// The length of a character literal, or of the quote of a lifetime.
fn character(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), _) => rest[3..].find('\'').map_or(1, |end| end + 4),
        (_, Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// The position behind the bracket that closes the one at `open`.
fn behind_group(tokens: &[String], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Tokens without what `#[cfg(test)]` stands before.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let attribute = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if tokens[at..].iter().take(attribute.len()).eq(attribute.iter()) {
            at += attribute.len();
            while at < tokens.len() && tokens[at] != "{" && tokens[at] != ";" {
                at += 1;
            }
            at = if tokens.get(at).is_some_and(|t| t == "{") { behind_group(tokens, at) } else { at + 1 };
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Names of the types and traits that tokens define.
fn defined_types(tokens: &[String]) -> BTreeSet<String> {
    let defines = |word: &str| matches!(word, "trait" | "struct" | "enum");
    without_tests(tokens).windows(2).filter(|w| defines(&w[0])).map(|w| w[1].clone()).collect()
}

/// Every path that starts with `crate` or `super`, from the root of the crate; tests left out.
fn paths(source: &str, module: &[String]) -> Vec<Vec<String>> {
    let tokens = without_tests(&tokens(source));
    let mut found = Vec::new();
    let mut inner: Vec<(String, usize)> = Vec::new(); // modules written in place, and where each ends
    for (at, token) in tokens.iter().enumerate() {
        inner.retain(|&(_, end)| at < end);
        let next = |offset: usize| tokens.get(at + offset).map_or("", String::as_str);
        let continues_a_path = at > 0 && tokens[at - 1] == "::";
        match token.as_str() {
            "mod" if next(2) == "{" => inner.push((next(1).to_string(), behind_group(&tokens, at + 2))),
            "crate" if next(1) == "as" => found.push(Vec::new()),
            "crate" if next(1) == "::" => {
                collect(&tokens, at + 2, &[], &mut found);
            }
            "super" if next(1) == "::" && !continues_a_path => {
                let mut here: Vec<String> = module.iter().cloned().chain(inner.iter().map(|m| m.0.clone())).collect();
                let mut start = at;
                while tokens.get(start).is_some_and(|t| t == "super")
                    && tokens.get(start + 1).is_some_and(|t| t == "::")
                {
                    here.pop();
                    start += 2;
                }
                collect(&tokens, start, &here, &mut found);
            }
            _ => {}
        }
    }
    found
}

/// Collects the paths of the tree that starts at `at`, each behind `prefix`; says where the tree ends.
fn collect(tokens: &[String], mut at: usize, prefix: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("{") => {
                let end = behind_group(tokens, at) - 1;
                at += 1;
                while at < end {
                    at = if tokens[at] == "," { at + 1 } else { collect(tokens, at, &path, found) };
                }
                return end + 1;
            }
            Some("self") => {}
            Some(name) => path.push(name.to_string()),
            None => {}
        }
        at += 1;
        if tokens.get(at).is_none_or(|t| t != "::") {
            break;
        }
        at += 1;
    }
    found.push(path);
    if tokens.get(at).is_some_and(|t| t == "as") { at + 2 } else { at }
}

#[test]
fn the_collector_finds_paths_wherever_they_hide() {
    let source = r##"
        //! crate::comment::A
        /* crate::comment::B */
        use crate::{a, b::{self, C as Other, d::*}, e::F};
        use super::{near::G, super_far::H};
        use super::super::far::{H2};
        pub(crate) use super::super::I;
        pub(in crate::j) const TEXT: &str = "crate::in_a_path::K";
        #[serde(with = "super::l")]
        fn f<'a>(x: &'a crate::m::N<crate::o::P>) -> char { '"'; '\''; b'"'; "no \" crate::q"; r#"" crate::r"# }
        mod inner { use super::s; use super::super::super::t::U; }
        macro_rules! v { () => { $crate::w::X }; }
        #[cfg(test)]
        use crate::test_only::Y;
        #[cfg(test)]
        mod tests { mod deep { use crate::test_only::Z; } }
        use crate::last;
    "##;
    let module = ["one".to_string(), "two".to_string()];
    let found: Vec<String> = paths(source, &module).iter().map(|path| path.join("::")).collect();
    let expected = [
        "a",
        "b",
        "b::C",
        "b::d::*",
        "e::F",
        "one::near::G",
        "one::super_far::H",
        "far::H2",
        "I",
        "j",
        "in_a_path::K",
        "one::l",
        "m::N",
        "o::P",
        "one::two::s",
        "t::U",
        "w::X",
        "last",
    ];
    assert_eq!(found, expected);
    let types =
        defined_types(&tokens("pub use x::A; struct B; pub(crate) trait C {} #[cfg(test)] mod t { enum D {} }"));
    assert_eq!(types.into_iter().collect::<Vec<_>>(), ["B", "C"]);
}
