//! Archives: bytes that are none pass as they are, and what gzip made of them comes back.
#![no_main]

use std::io::Write;

use rankwise::io::fuzzing::all_bytes;

/// More than a few kilobytes become only where somebody means harm, and then they are not all asked for.
const AT_MOST: u64 = 1 << 20;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&how, bytes)) = input.split_first() else { return };
    let (name, magic): (&str, &[u8]) = match how % 5 {
        0 => ("a.gz", b"\x1f\x8b"),
        1 => ("a.xz", b"\xfd7zXZ\0"),
        2 => ("a.zst", b"\x28\xb5\x2f\xfd"),
        3 => ("a", b""),
        _ => {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(bytes).expect("memory takes all");
            let packed = packed.finish().expect("memory takes all");
            assert_eq!(all_bytes(packed, "a.gz", AT_MOST).expect("it is an archive"), bytes);
            return;
        }
    };
    let archive = [magic, bytes].concat();
    let found = all_bytes(archive, name, AT_MOST);
    let is_archive =
        [&b"\x1f\x8b"[..], b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"].iter().any(|magic| bytes.starts_with(magic))
            || matches!(bytes, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
    if magic.is_empty() && !is_archive {
        assert_eq!(found.expect("nothing to unpack"), bytes);
    }
});
