//! What is computed so far, a line for each task, so that a study goes on where it was stopped.
//!
//! The first line says what the numbers depend on; a journal of anything else is set aside as `.old` and a new one begun.
//! Every line carries a checksum: one that was torn or changed counts for nothing, and its task is done again.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::study::{Found, Values};
use crate::exit::{Failure, Run};
use crate::text::number;

/// What the numbers depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) study: String,
    pub(super) version: String,
    pub(super) seed: u64,
    pub(super) quick: bool,
    /// Of the data.
    pub(super) fingerprint: String,
}

/// A line: numbers as text, which keeps every bit and also what JSON has no number for.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    key: String,
    values: Vec<(String, String)>,
    /// Of the rest.
    check: String,
}

impl Entry {
    fn new(key: &str, values: &Values) -> Self {
        let values = values.iter().map(|(name, value)| (name.clone(), number(*value))).collect();
        let mut entry = Entry { key: key.into(), values, check: String::new() };
        entry.check = entry.checksum();
        entry
    }

    fn checksum(&self) -> String {
        let mut hash = Sha256::new();
        let words = self.values.iter().flat_map(|(name, text)| [name, text]);
        for word in std::iter::once(&self.key).chain(words) {
            hash.update(word.as_bytes());
            hash.update([0]);
        }
        hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The numbers, if all is as it was written.
    fn numbers(&self) -> Option<Values> {
        let number = |(name, text): &(String, String)| Some((name.clone(), text.parse().ok()?));
        if self.check == self.checksum() { self.values.iter().map(number).collect() } else { None }
    }
}

/// An open journal.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens the journal and gives what it has; begins a new one where there is none for `head`, or if `is_fresh`.
    pub(super) fn open(path: &Path, head: &Head, is_fresh: bool) -> Run<(Self, Found)> {
        let refused = |action| move |source| rankwise::Error::Io { path: path.into(), action, source };
        let kept = if is_fresh { None } else { read(path, head).map_err(refused("read"))? };
        if kept.is_none() && path.is_file() {
            std::fs::rename(path, path.with_extension("journal.old")).map_err(refused("set aside"))?;
        }
        let mut found = Found::default();
        let mut text = line(head)?;
        for entry in kept.unwrap_or_default() {
            if let Some(numbers) = entry.numbers() {
                text += &line(&entry)?;
                found.add(entry.key, numbers);
            }
        }
        // Written anew as a whole: what is of no use goes away.
        crate::output::write_file(path, text.as_bytes())?;
        let file = OpenOptions::new().append(true).open(path).map_err(refused("write"))?;
        Ok((Journal { path: path.into(), file: Mutex::new(file) }, found))
    }

    /// Adds what a task gave.
    pub(super) fn add(&self, key: &str, values: &Values) -> Run<()> {
        let text = line(&Entry::new(key, values))?;
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let written = file.write_all(text.as_bytes()).and_then(|()| file.flush());
        Ok(written.map_err(|source| rankwise::Error::Io { path: self.path.clone(), action: "write", source })?)
    }
}

fn line(value: &impl Serialize) -> Run<String> {
    let text = serde_json::to_string(value).map_err(|error| Failure::Fault(format!("journal: {error}")))?;
    Ok(text + "\n")
}

/// The entries of a journal, if it is one of `head`.
fn read(path: &Path, head: &Head) -> io::Result<Option<Vec<Entry>>> {
    let text = match std::fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut lines = text.lines();
    let first = lines.next().and_then(|first| serde_json::from_str::<Head>(first).ok());
    if first.as_ref() != Some(head) {
        return Ok(None);
    }
    Ok(Some(lines.filter_map(|line| serde_json::from_str(line).ok()).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::study::values;
    use super::*;

    fn head(seed: u64) -> Head {
        Head { study: "s".into(), version: "1".into(), seed, quick: true, fingerprint: String::new() }
    }

    #[test]
    fn numbers_come_back_to_the_last_bit_and_a_torn_line_is_forgotten() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("j");
        let (journal, found) = Journal::open(&path, &head(1), false).unwrap();
        assert!(!found.contains("a"));
        let numbers = values([("x", 0.1 + 0.2), ("none", f64::NAN), ("far", f64::INFINITY), ("small", 5e-324)]);
        journal.add("a", &numbers).unwrap();
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"key\":\"b\",\"va").unwrap();
        let (journal, found) = Journal::open(&path, &head(1), false).unwrap();
        let bits = |values: &Values| values.iter().map(|(_, v)| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(found.all("a").unwrap()), bits(&numbers));
        assert!(!found.contains("b"));
        journal.add("b", &values([("x", 2.0)])).unwrap();
        assert_eq!(Journal::open(&path, &head(1), false).unwrap().1.get("b", "x").unwrap(), 2.0);
        assert!(!Journal::open(&path, &head(2), false).unwrap().1.contains("a"), "other data begin anew");
        let old = std::fs::read_to_string(room.path().join("j.journal.old")).unwrap();
        assert!(old.contains("\"a\""), "what was there is set aside: {old}");
    }

    #[test]
    fn a_line_that_was_changed_is_forgotten_and_the_others_are_not() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("j");
        let (journal, _) = Journal::open(&path, &head(1), false).unwrap();
        for key in ["a", "b", "c", "d", "e"] {
            journal.add(key, &values([("x", 1.5), ("y", 2.0)])).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<String> = text.lines().map(String::from).collect();
        let changed = [
            lines[0].clone(),
            lines[1].replace("1.5", "NaN"),
            lines[2].replace("[\"x\",\"1.5\"],", ""),
            "garbage".into(),
            lines[4].replace("\"x\"", "\"z\""),
            lines[5].clone(),
        ];
        std::fs::write(&path, changed.join("\n") + "\n").unwrap();
        let (_, found) = Journal::open(&path, &head(1), false).unwrap();
        assert_eq!(["a", "b", "c", "d", "e"].map(|key| found.contains(key)), [false, false, false, false, true]);
    }

    #[test]
    fn fresh_means_fresh_and_no_journal_is_no_harm() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("j");
        std::fs::write(&path, b"\xff\xfenot a journal").unwrap();
        let (journal, _) = Journal::open(&path, &head(1), false).unwrap();
        journal.add("a", &values([("x", 2.0)])).unwrap();
        assert!(!Journal::open(&path, &head(1), true).unwrap().1.contains("a"));
    }
}
