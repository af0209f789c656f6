//! The commands of the README, typed as they stand there, from the root of the repository.

use std::path::Path;

/// Copies the files of a directory.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn the_commands_of_the_readme_work() {
    // Not in the repository itself, where they would leave their files.
    let dir = tempfile::tempdir().unwrap();
    for example in ["examples/comparison", "examples/ranking"] {
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(example), &dir.path().join(example));
    }
    let readme = include_str!("../../../README.md").replace("\\\n", " ");
    let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("rankwise ")).collect();
    assert!(commands.len() >= 5, "the README lost its commands");
    for command in commands {
        let words: Vec<&str> = command.split('#').next().unwrap().split_whitespace().collect();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_rankwise"))
            .args(&words)
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{command} printed nothing");
    }
    for file in ["wine.safetensors", "wine.html", "hotels.safetensors"] {
        assert!(dir.path().join(file).is_file(), "{file}");
    }
}

#[test]
fn the_rows_of_the_readme_are_those_of_the_example() {
    let readme = include_str!("../../../README.md");
    for table in ["comparison/tastings.csv", "comparison/wines.csv", "ranking/train.csv"] {
        let path = format!("{}/../../examples/{table}", env!("CARGO_MANIFEST_DIR"));
        let table = std::fs::read_to_string(path).unwrap();
        table.lines().take(4).for_each(|row| assert!(readme.contains(row), "no {row:?}"));
    }
}
