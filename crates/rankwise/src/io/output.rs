//! Files that are either complete or not there: write beside, then rename.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Writes a file so that it appears at `path` complete or not at all.
///
/// What `write` produces goes to a temporary file in the same directory (`.rankwise-` and random letters; one that a killed
/// program has left behind may be deleted), which takes the place of `path` only when
/// everything has reached the disk; on any error the temporary file is removed and what was at `path` stays. An
/// existing file keeps its permissions, a symbolic link keeps pointing where it does. A terminal, a pipe and the like
/// (`/dev/stdout`) cannot be renamed over and are written directly.
///
/// ```
/// use std::io::Write;
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("scores.txt");
/// rankwise::io::write_atomically(&path, |out| writeln!(out, "0.5"))?;
/// assert_eq!(std::fs::read_to_string(&path)?, "0.5\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    write_beside(path, write).and_then(Beside::keep).map_err(failed(path))
}

/// Writes files that belong together, each as [`write_atomically`] does: not one takes its place before the bytes of all of
/// them have reached the disk, so that an error leaves what was there.
pub fn write_together<B: AsRef<[u8]>>(files: &[(PathBuf, B)]) -> Result<()> {
    let beside = |(path, bytes): &(PathBuf, B)| {
        write_beside(path, |out| out.write_all(bytes.as_ref()))
            .map(|beside| (path.clone(), beside))
            .map_err(failed(path))
    };
    let all = files.iter().map(beside).collect::<Result<Vec<_>>>()?;
    all.into_iter().try_for_each(|(path, beside)| beside.keep().map_err(failed(&path)))
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Error {
    move |source| Error::Io { path: path.to_path_buf(), action: "write", source }
}

/// What is written already, and does not stand in its place yet.
enum Beside {
    /// A file to be renamed.
    File(NamedTempFile, PathBuf),
    /// A stream, which has taken what it was given.
    Stream,
}

impl Beside {
    /// Puts it in its place.
    fn keep(self) -> io::Result<()> {
        match self {
            Beside::File(temporary, target) => temporary.persist(&target).map(drop).map_err(|failed| failed.error),
            Beside::Stream => Ok(()),
        }
    }
}

fn write_beside(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Beside> {
    let stream = |()| Beside::Stream;
    // Opened again by name, a redirected stream would be written from its beginning, over what else goes there.
    match path.to_str() {
        Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => return fill(io::stdout().lock(), write).map(stream),
        Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => return fill(io::stderr().lock(), write).map(stream),
        _ => {}
    }
    let existing = match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(io::Error::new(ErrorKind::IsADirectory, "it is a directory; name a file inside it"));
        }
        Ok(found) if !found.is_file() || is_open_stream(path) => {
            // `append` neither cuts nor overwrites what a redirected stream holds already.
            return fill(OpenOptions::new().append(true).open(path)?, write).map(stream);
        }
        Ok(found) => Some(found),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let target = match &existing {
        Some(_) => {
            // A rename asks only the directory: a file that is protected from writing must be asked itself.
            OpenOptions::new().write(true).open(path)?;
            fs::canonicalize(path)?
        }
        None if path.file_name().is_none() || ends_as_directory(path) => {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it does not name a file"));
        }
        None => path.to_path_buf(),
    };
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !directory.is_dir() {
        let problem = format!("there is no directory {}; create it first", directory.display());
        return Err(io::Error::new(ErrorKind::NotFound, problem));
    }
    // The error of the builder would name the temporary file, which means nothing to the user.
    let temporary = new_file_beside(directory).map_err(|error| {
        io::Error::new(error.kind(), format!("no file can be created in {}: {}", directory.display(), error.kind()))
    })?;
    if let Some(existing) = existing {
        temporary.as_file().set_permissions(existing.permissions())?;
    }
    fill(temporary.as_file(), write)?;
    temporary.as_file().sync_all()?;
    Ok(Beside::File(temporary, target))
}

fn fill(target: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(target);
    write(&mut out)?;
    out.flush()
}

fn ends_as_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|&byte| std::path::is_separator(char::from(byte)))
}

/// Open files of this process by number. Redirected to a file they look like one, but replacing it would part the stream
/// from the file.
fn is_open_stream(path: &Path) -> bool {
    ["/dev/fd", "/proc/self/fd"].iter().any(|stream| path.starts_with(stream))
}

fn new_file_beside(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rankwise-");
    #[cfg(unix)]
    {
        // As any other new file, 0666 less the umask: results are to be shared, unlike usual temporary files.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(directory)
}
