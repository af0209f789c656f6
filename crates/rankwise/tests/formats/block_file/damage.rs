//! Damaged, foreign and hostile block files: an error with a reason, never a panic, never more memory than the file.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use rankwise::io::BlockFile;

use super::super::model_file::allocation::peak_during;
use super::{Room, TEXTS, small, told};
use crate::formats::says;

/// Files of every kind, each with what is in it.
static FILES: LazyLock<Vec<(Vec<u8>, String)>> = LazyLock::new(|| {
    let make = |(name, text): &(&str, &str)| {
        let room = Room::new();
        room.write(name, text);
        room.convert(name, "a.rwb", &small()).unwrap();
        (std::fs::read(room.path("a.rwb")).unwrap(), told(&room.read("a.rwb")))
    };
    TEXTS.iter().map(make).collect()
});

/// Opens, verifies and reads everything in every way.
fn read(path: &Path) -> rankwise::Result<String> {
    let source = rankwise::io::Source::parse(&path.to_string_lossy(), None)?;
    let columns = rankwise::io::Columns::default();
    let table = rankwise::io::read_items(&source, &columns, rankwise::data::Precision::Auto)?;
    let _ = rankwise::io::score_items(&source, &columns, &[])?;
    if table.labels.is_some() {
        BlockFile::open(path)?.into_stored(1 << 20)?;
    }
    Ok(told(&table))
}

fn survives(bytes: &[u8], original: &str) -> Result<(), TestCaseError> {
    let room = Room::new();
    let path = room.path("a.rwb");
    std::fs::write(&path, bytes).unwrap();
    // Verification has buffers of a megabyte.
    let (result, peak) = peak_during(|| read(&path));
    prop_assert!(peak < 40 * bytes.len() + (16 << 20), "{} bytes for a file of {}", peak, bytes.len());
    match result {
        Ok(found) => prop_assert_eq!(found, original),
        Err(error) => prop_assert!(error.to_string().contains("a.rwb"), "{}", error),
    }
    Ok(())
}

fn any_file() -> impl Strategy<Value = &'static (Vec<u8>, String)> {
    any::<Index>().prop_map(|which| which.get(&FILES))
}

/// Puts all checksums right, whatever the file says; where blocks cannot be found, only those of header and end.
fn sealed(bytes: &mut [u8]) {
    let n = bytes.len();
    if n < 128 {
        return;
    }
    let number = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let crc = |bytes: &mut [u8], of: std::ops::Range<usize>, at: usize| {
        let crc = crc32fast::hash(&bytes[of]);
        bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
    };
    let (index, length, n_blocks) = (number(bytes, n - 64), number(bytes, n - 56), number(bytes, n - 48));
    if index.checked_add(length).is_some_and(|end| end <= n) && n_blocks.checked_mul(48).is_some_and(|b| b <= length) {
        for block in 0..n_blocks {
            let entry = index + 48 * block;
            let start = number(bytes, entry);
            let end = if block + 1 < n_blocks { number(bytes, entry + 48) } else { index };
            if start <= end && end <= n {
                crc(bytes, start..end, entry + 40);
            }
        }
        crc(bytes, index..index + length, n - 32);
    }
    crc(bytes, n - 64..n - 12, n - 12);
    crc(bytes, 0..60, 60);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_truncated_file(file in any_file(), keep in any::<Index>()) {
        survives(&file.0[..keep.index(file.0.len())], "nothing")?;
    }

    #[test]
    fn a_splice(
        file in any_file(),
        at in any::<Index>(),
        cut in 0usize..200,
        insert in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = file.0.clone();
        let start = at.index(bytes.len());
        let end = (start + cut).min(bytes.len());
        bytes.splice(start..end, insert);
        survives(&bytes, &file.1)?;
    }

    /// Somebody who knows the format: numbers are changed and all checksums put right. Used or refused, no more.
    #[test]
    fn a_sealed_change(
        file in any_file(),
        changes in proptest::collection::vec((any::<Index>(), prop_oneof![
            Just(0u64), Just(1), Just(u64::MAX), Just(1 << 31), Just(1 << 40), any::<u64>(), 0u64..300,
        ], 0usize..9), 1..4),
    ) {
        let mut bytes = file.0.clone();
        for (at, number, n_bytes) in changes {
            let at = at.index(bytes.len());
            let end = (at + n_bytes).min(bytes.len());
            bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
        }
        sealed(&mut bytes);
        let room = Room::new();
        let path = room.path("a.rwb");
        std::fs::write(&path, &bytes).unwrap();
        let (result, peak) = peak_during(|| read(&path));
        // A sparse matrix may have any number of columns, which a table of all zeros shows.
        if let Err(error) = result {
            prop_assert!(error.to_string().contains("a.rwb"), "{}", error);
            prop_assert!(peak < 40 * bytes.len() + (16 << 20), "{} bytes", peak);
        }
    }
}

#[test]
fn every_bit_counts() {
    let room = Room::new();
    let path = room.path("a.rwb");
    for which in [0, 1, 5] {
        let (bytes, _) = &FILES[which];
        let mut changed = bytes.clone();
        for at in 0..bytes.len() {
            changed[at] ^= 1 << (at % 8);
            std::fs::write(&path, &changed).unwrap();
            let verified = BlockFile::open(&path).and_then(|file| file.verify());
            assert!(verified.is_err(), "file {which}, byte {at}");
            changed[at] ^= 1 << (at % 8);
        }
    }
}

#[test]
fn files_that_are_something_else_are_told_so() {
    let room = Room::new();
    let path = room.path("a.rwb");
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        BlockFile::open(&path).map(|_| ())
    };
    says(open(b""), &["a.rwb", "does not begin like a block file", "convert"]);
    says(open(b"1 qid:1 1:2\n"), &["does not begin like a block file"]);
    let (bytes, _) = &FILES[0];
    says(open(&bytes[..100]), &["cut off"]);
    says(open(&bytes[..bytes.len() - 1]), &["cut off"]);
    let mut newer = bytes.clone();
    newer[8] = 9;
    says(open(&newer), &["version 9", "expected version 1"]);
    let mut changed = bytes.clone();
    changed[64] ^= 1;
    std::fs::write(&path, &changed).unwrap();
    let file = BlockFile::open(&path).unwrap();
    says(file.verify(), &["block 1 of", "checksum", "again"]);
}
