//! Every place of unsafe code is known, and says why it is sound.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All of it, with how often; ARCHITECTURE.md says why and what checks it.
const KNOWN: [(&str, usize); 4] = [
    ("crates/rankwise/src/data/features/terms.rs", 1),
    ("crates/rankwise/src/math.rs", 2),
    ("python/src/input.rs", 3),
    ("python/src/table.rs", 1),
];
/// Lines above an unsafe one among which its reason is.
const NEAR: usize = 6;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether a line has unsafe code in it, beside comments and texts.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    ["unsafe {", "unsafe impl", "unsafe fn", "unsafe extern", "unsafe trait", "unsafe("]
        .iter()
        .any(|word| code.contains(word))
}

#[test]
fn unsafe_code_is_where_it_is_known_to_be_and_says_why() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates/rankwise/src", "crates/rankwise-cli/src", "python/src", "xtask/src"] {
        sources(&root.join(folder), &mut files);
    }
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        let lines: Vec<&str> = text.lines().collect();
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| is_unsafe(line)) {
            *found.entry(name.clone()).or_default() += 1;
            let above = &lines[at.saturating_sub(NEAR)..at];
            assert!(above.iter().any(|line| line.contains("SAFETY: ")), "{name}, line {}: no reason above it", at + 1);
        }
    }
    let known: BTreeMap<String, usize> = KNOWN.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    assert_eq!(found, known, "new unsafe code belongs into this list and into ARCHITECTURE.md, or better nowhere");
    let told = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    for (name, _) in KNOWN {
        assert!(told.contains(name), "ARCHITECTURE.md says nothing of {name}");
    }
}
