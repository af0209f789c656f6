//! Files of a published data set: found under their names, compressed or not, and read line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result};
use crate::io::decompress::{self, Decompressed};

/// Endings that a file may have besides those of its name.
const ENDINGS: [&str; 4] = ["", ".xz", ".gz", ".zst"];

/// A data set: what it is, and who has it.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    /// What is expected.
    pub(super) what: &'static str,
    /// Where to get it.
    pub(super) from: &'static str,
}

impl Origin {
    /// What to do about a file that is not there.
    fn remedy(&self) -> String {
        format!("{} come from {}", self.what, self.from)
    }

    /// The file of this name in a directory, perhaps compressed.
    pub(super) fn find(&self, directory: &Path, name: &str) -> Result<PathBuf> {
        self.check_directory(directory)?;
        find_file(directory, name).ok_or_else(|| {
            let problem = format!("no file {name} there (nor with .xz, .gz or .zst behind its name)");
            Error::data(Place::file(directory.display().to_string()), problem, self.remedy())
        })
    }

    /// An error unless it is a directory.
    pub(super) fn check_directory(&self, directory: &Path) -> Result<()> {
        if directory.is_dir() {
            return Ok(());
        }
        let found = if directory.exists() { "a file" } else { "no such directory" };
        let problem = format!("{found}, expected the directory with {}", self.what);
        Err(Error::data(Place::file(directory.display().to_string()), problem, self.remedy()))
    }

    /// The bytes of a file, decompressed.
    pub(super) fn open(&self, path: &Path) -> Result<Decompressed> {
        let wrong = |problem: &str| Error::data(Place::file(path.display().to_string()), problem, self.remedy());
        if path.is_dir() {
            return Err(wrong("a directory, expected a file"));
        }
        let file = File::open(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => wrong("no such file"),
            _ => Error::Io { path: path.into(), action: "open", source },
        })?;
        decompress::reader(Box::new(file), path)
    }

    /// The lines of a file.
    pub(super) fn lines(&self, path: &Path) -> Result<Lines> {
        let Decompressed { reader, action } = self.open(path)?;
        Ok(Lines {
            reader: BufReader::with_capacity(1 << 16, reader),
            path: path.into(),
            action,
            number: 0,
            line: Vec::new(),
        })
    }
}

/// The file of this name in a directory, perhaps compressed (`.xz`, `.gz`, `.zst`); none where there is none.
pub fn find_file(directory: &Path, name: &str) -> Option<PathBuf> {
    ENDINGS.iter().map(|ending| directory.join(format!("{name}{ending}"))).find(|path| path.is_file())
}

/// The lines of a text, one at a time.
pub(super) struct Lines {
    reader: BufReader<Box<dyn Read>>,
    path: PathBuf,
    action: &'static str,
    number: u64,
    line: Vec<u8>,
}

impl Lines {
    /// The file as the user named it.
    pub(super) fn source(&self) -> String {
        self.path.display().to_string()
    }

    /// Where the current line is; the file before the first one.
    pub(super) fn place(&self) -> Place {
        Place { line: Some(self.number).filter(|&number| number > 0), ..Place::file(self.source()) }
    }

    /// The next line without its end, with its number from 1; none after the last one.
    pub(super) fn next_line(&mut self) -> Result<Option<(u64, &str)>> {
        self.line.clear();
        let failed = |source| Error::Io { path: self.path.clone(), action: self.action, source };
        if self.reader.read_until(b'\n', &mut self.line).map_err(failed)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let place = || Place::line(self.path.display().to_string(), self.number);
        let bytes = match self.line.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if self.number == 1 => rest,
            _ => &self.line,
        };
        if bytes.contains(&0) {
            return Err(Error::data(place(), "a NUL byte, expected text", "save the file as UTF-8 text"));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some((self.number, text.trim_end_matches(['\n', '\r'])))),
            Err(_) => Err(Error::data(place(), "bytes that are not UTF-8", "save the file as UTF-8 text")),
        }
    }
}
