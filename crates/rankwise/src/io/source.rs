//! Where data come from, and in which format.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::decompress::{self, Compression, Decompressed};
use crate::error::{Error, Result};

/// Bytes of an archive that are looked at behind the line that makes no sense: more than that would keep the user waiting for
/// the news of a typing error.
const LOOKED_AT: usize = 64 << 20;

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
        if let (Err(Error::Data { place, .. }), Source::File { path, .. }) = (&result, self) {
            check_archive(path, place.line)?;
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

/// The same of the file that the error names, where that is one of several.
pub(super) fn blame_named<T>(result: Result<T>) -> Result<T> {
    if let Err(Error::Data { place, .. }) = &result {
        check_archive(Path::new(&place.source), place.line)?;
    }
    result
}

/// An error if a file is an archive that is damaged, up to this line or not far behind it.
fn check_archive(path: &Path, line: Option<u64>) -> Result<()> {
    if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    let file = File::open(path).map_err(|source| Error::Io { path: path.into(), action: "open", source })?;
    let Decompressed { mut reader, action } = decompress::reader(Box::new(file), path)?;
    if action == "read" {
        return Ok(());
    }
    let failed = |source| Error::Io { path: path.into(), action, source };
    let (mut lines, mut left) = (line.unwrap_or(0), LOOKED_AT);
    let mut buffer = vec![0; 1 << 16];
    while left > 0 {
        let n = match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        };
        if lines > 0 {
            lines = lines.saturating_sub(buffer[..n].iter().filter(|&&byte| byte == b'\n').count() as u64);
        } else {
            left = left.saturating_sub(n);
        }
    }
    Ok(())
}

/// Why a Parquet file is of no use to a build without the feature.
#[cfg(not(feature = "parquet"))]
pub(super) fn without_parquet(name: &str) -> Error {
    Error::Unsupported {
        problem: format!("{name} is a Parquet file, and this rankwise was built without them"),
        remedy: "build it with `--features parquet`, or use .csv".into(),
    }
}
