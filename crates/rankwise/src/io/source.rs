//! Where data come from, and in which format.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::decompress::{self, Compression, Decompressed};
use crate::error::{Error, Result};

/// What is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A table with columns separated by commas.
    Csv,
    /// A table with columns separated by tabs.
    Tsv,
    /// Items in lines `label qid:GROUP index:value …`.
    SvmLight,
    /// Items in binary blocks.
    Blocks,
    /// A table in Parquet; read and written by a build with the cargo feature `parquet`.
    Parquet,
}

impl Format {
    /// The words that name formats.
    pub const WORDS: [(&'static str, Format); 6] = [
        ("csv", Format::Csv),
        ("tsv", Format::Tsv),
        ("svmlight", Format::SvmLight),
        ("letor", Format::SvmLight),
        ("rwb", Format::Blocks),
        ("parquet", Format::Parquet),
    ];
    /// The extensions of files that are named by no word.
    const EXTENSIONS: [(&'static str, Format); 3] =
        [("svm", Format::SvmLight), ("txt", Format::SvmLight), ("dat", Format::SvmLight)];

    /// Reads a word of [`Format::WORDS`], in any case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|&(_, format)| format)
    }

    /// The format of a file by its extension, looking through `.gz`, `.xz` and `.zst`.
    pub fn of_path(path: &Path) -> Result<Self> {
        let inner = if Compression::of_path(path).is_some() { path.with_extension("") } else { path.to_path_buf() };
        let extension = inner.extension().map(|extension| extension.to_string_lossy().into_owned());
        let of_extension = |extension: &str| {
            let other = Self::EXTENSIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension));
            Format::parse(extension).or(other.map(|&(_, format)| format))
        };
        if extension.as_ref().is_some_and(|extension| extension.eq_ignore_ascii_case("arff")) {
            return Err(Error::Unsupported {
                problem: format!("{}: .arff files are neither learnt from as they are nor written", path.display()),
                remedy: "make a table of one first: rankwise convert IN.arff OUT.csv".into(),
            });
        }
        extension.as_deref().and_then(of_extension).ok_or_else(|| Error::Unsupported {
            problem: match &extension {
                Some(extension) => format!("{}: no format has the extension .{extension}", path.display()),
                None => format!("{}: no extension to tell the format by", path.display()),
            },
            remedy: "known are .csv and .tsv, for items also .svm, .svmlight, .letor, .txt and .dat, each also with \
                     .gz, .xz or .zst after it, .parquet, and block files .rwb; for a file of another name add \
                     --format csv, tsv or svmlight"
                .into(),
        })
    }

    /// The format of a file to be written, by its extension.
    pub(super) fn of_target(path: &Path) -> Result<Self> {
        if let Some(compression) = Compression::of_path(path) {
            return Err(Error::Unsupported {
                problem: format!("{}: files are written as they are, not compressed", path.display()),
                remedy: format!("leave .{} out, and compress the file afterwards", compression.extension()),
            });
        }
        Self::of_path(path)
    }

    /// Whether files have a header and columns; pairs are always such tables.
    pub fn is_table(self) -> bool {
        self.delimiter().is_some() || self == Format::Parquet
    }

    /// The byte between two columns of a table.
    pub(super) fn delimiter(self) -> Option<u8> {
        match self {
            Format::Csv => Some(b','),
            Format::Tsv => Some(b'\t'),
            Format::SvmLight | Format::Blocks | Format::Parquet => None,
        }
    }
}

/// Where data come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file, compressed or not.
    File {
        /// As the user named it.
        path: PathBuf,
        /// What is in it once decompressed.
        format: Format,
    },
    /// Standard input.
    Stdin(Format),
    /// A copy on the disk of what can be read once only.
    Copy {
        /// Where it is.
        path: PathBuf,
        /// What the user knows it by.
        name: String,
        /// What is in it.
        format: Format,
    },
}

impl Source {
    /// Reads what a user typed: `-` is standard input and needs a format; a file has that of its extension unless
    /// one is given.
    pub fn parse(path: &str, format: Option<Format>) -> Result<Self> {
        match (path, format) {
            ("-", Some(format)) => Ok(Source::Stdin(format)),
            ("-", None) => Err(Error::Unsupported {
                problem: "standard input has no extension to tell its format by".into(),
                remedy: "add --format csv or --format tsv, for items also --format svmlight".into(),
            }),
            (path, given) => {
                let path = PathBuf::from(path);
                let format = given.map_or_else(|| Format::of_path(&path), Ok)?;
                Ok(Source::File { path, format })
            }
        }
    }

    /// The format of what is read.
    pub fn format(&self) -> Format {
        match self {
            Source::File { format, .. } | Source::Copy { format, .. } | Source::Stdin(format) => *format,
        }
    }

    /// Whether it can be read more than once: a regular file.
    pub fn can_read_again(&self) -> bool {
        match self {
            Source::File { path, .. } => std::fs::metadata(path).is_ok_and(|file| file.is_file()),
            Source::Stdin(_) => false,
            Source::Copy { .. } => true,
        }
    }

    /// What to call it in messages.
    pub fn name(&self) -> String {
        match self {
            Source::File { path, .. } => path.display().to_string(),
            Source::Stdin(_) => "standard input".into(),
            Source::Copy { name, .. } => name.clone(),
        }
    }

    /// What is at fault where reading has failed: data that make no sense may come from a damaged archive, whose checksum stands
    /// at its end.
    pub(super) fn blame<T>(&self, result: Result<T>) -> Result<T> {
        let is_archive = || matches!(self, Source::File { .. }) && self.can_read_again();
        if matches!(result, Err(Error::Data { .. })) && is_archive() {
            let Decompressed { mut reader, action } = self.open()?;
            let rest = if action == "read" { Ok(0) } else { io::copy(&mut reader, &mut io::sink()) };
            rest.map_err(|source| Error::Io { path: PathBuf::from(self.name()), action, source })?;
        }
        result
    }

    /// Opens it; what comes out is decompressed.
    pub(super) fn open(&self) -> Result<Decompressed> {
        match self {
            Source::File { path, .. } => {
                let file =
                    File::open(path).map_err(|source| Error::Io { path: path.clone(), action: "open", source })?;
                decompress::reader(Box::new(file), path)
            }
            Source::Copy { path, name, .. } => {
                let name = Path::new(name);
                let file =
                    File::open(path).map_err(|source| Error::Io { path: name.into(), action: "open", source })?;
                decompress::reader(Box::new(file), name)
            }
            Source::Stdin(_) => decompress::reader(Box::new(io::stdin().lock()), Path::new("standard input")),
        }
    }
}

/// Why a Parquet file is of no use to a build without the feature.
#[cfg(not(feature = "parquet"))]
pub(super) fn without_parquet(name: &str) -> Error {
    Error::Unsupported {
        problem: format!("{name} is a Parquet file, and this rankwise was built without them"),
        remedy: "build it with `--features parquet`, or use .csv".into(),
    }
}
