//! The files of a study: where they are, and what to say of those that are missing.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rankwise::io::published::find_file;
use sha2::{Digest, Sha256};

use crate::exit::{Failure, Run};

/// A file that a study reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    /// The folder of its data set, which may stand in the directory of the user, or be it.
    pub(super) folder: &'static str,
    /// Its name.
    pub(super) file: &'static str,
    /// Where it comes from.
    pub(super) source: &'static str,
    /// On what terms.
    pub(super) licence: &'static str,
}

/// The directory that the user gave.
#[derive(Debug, Clone)]
pub(super) struct DataDir(Option<PathBuf>);

impl DataDir {
    pub(super) fn new(directory: Option<&Path>) -> Self {
        DataDir(directory.map(Path::to_path_buf))
    }

    /// The file, compressed or not, in the folder of its data set or in the directory itself.
    pub(super) fn find(&self, need: &Need) -> Run<PathBuf> {
        let Need { folder, file, source, licence } = need;
        let Some(directory) = &self.0 else {
            return Err(Failure::Usage(format!(
                "{folder}/{file} is needed, from {source} (licence: {licence}); name the directory that has it with --data DIR"
            )));
        };
        let places = [directory.join(folder), directory.clone()];
        places.iter().find_map(|place| find_file(place, file)).ok_or_else(|| {
            Failure::Fault(format!(
                "{}: not there, also not as .xz, .gz or .zst; it comes from {source} (licence: {licence})",
                directory.join(folder).join(file).display()
            ))
        })
    }

    /// The folder that holds a file.
    pub(super) fn folder_of(&self, need: &Need) -> Run<PathBuf> {
        let path = self.find(need)?;
        Ok(path.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf))
    }
}

/// Tells other data from these: a checksum over the files in their order.
pub(super) fn fingerprint(files: &[PathBuf]) -> Run<String> {
    let mut hash = Sha256::new();
    for path in files {
        let refused = |source: io::Error| rankwise::Error::Io { path: path.clone(), action: "read", source };
        let mut file = File::open(path).map_err(refused)?;
        let mut piece = vec![0; 1 << 16];
        loop {
            let n = file.read(&mut piece).map_err(refused)?;
            if n == 0 {
                break;
            }
            hash.update(&piece[..n]);
        }
        hash.update([0xff]);
    }
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEED: Need = Need { folder: "wines", file: "wines.csv", source: "the cellar", licence: "CC0" };

    #[test]
    fn a_file_is_found_compressed_or_not_in_its_folder_or_beside() {
        let room = tempfile::tempdir().unwrap();
        let data = DataDir::new(Some(room.path()));
        let missing = data.find(&NEED).unwrap_err().to_string();
        for word in ["wines/wines.csv", "the cellar", "CC0"] {
            assert!(missing.contains(word), "{missing}");
        }
        assert_eq!(missing.lines().count(), 1);
        std::fs::write(room.path().join("wines.csv.xz"), "").unwrap();
        assert_eq!(data.find(&NEED).unwrap(), room.path().join("wines.csv.xz"));
        std::fs::create_dir(room.path().join("wines")).unwrap();
        std::fs::write(room.path().join("wines/wines.csv"), "").unwrap();
        assert_eq!(data.find(&NEED).unwrap(), room.path().join("wines/wines.csv"));
        assert_eq!(data.folder_of(&NEED).unwrap(), room.path().join("wines"));
        let nowhere = DataDir::new(None).find(&NEED).unwrap_err();
        assert!(nowhere.to_string().contains("--data"), "{nowhere}");
    }

    #[test]
    fn other_bytes_have_another_fingerprint() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("a");
        std::fs::write(&path, "1").unwrap();
        let one = fingerprint(std::slice::from_ref(&path)).unwrap();
        assert_eq!(one, fingerprint(std::slice::from_ref(&path)).unwrap());
        std::fs::write(&path, "2").unwrap();
        assert_ne!(one, fingerprint(&[path]).unwrap());
    }
}
