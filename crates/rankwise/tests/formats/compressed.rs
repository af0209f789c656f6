//! Compressed files are read as what is in them; broken ones are errors.

use std::io::Write;

use rankwise::io::{Columns, read_pairs};

use super::*;

/// `left,right,outcome`, then fifty times `a,b,left` and `b,c,tie`, compressed by Python's lzma.
const XZ: &[u8] = b"\
    \xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\
    \xe0\x03\x64\x00\x2b\x5d\x00\x36\x19\x49\x05\xe4\xc5\xe3\x58\x04\x2d\x06\xd9\x1c\xb1\x2d\x5c\x56\
    \xd3\xe5\x6e\x4d\x8a\x7e\x65\x6e\x68\xa5\xbf\xc3\x80\x03\x2c\xfa\x76\x33\xd1\x4c\x3a\xea\xf7\x12\
    \x47\x2b\x00\x00\x8f\x45\xd7\x03\x06\x12\x15\xdc\x00\x01\x47\xe5\x06\x00\x00\x00\x7a\xf9\x57\x14\
    \xb1\xc4\x67\xfb\x02\x00\x00\x00\x00\x04\x59\x5a\
";

/// The same, compressed by zstd --check.
const ZST: &[u8] = b"\
    \x28\xb5\x2f\xfd\x04\x58\x5d\x01\x00\x24\x02\x6c\x65\x66\x74\x2c\x72\x69\x67\x68\x74\x2c\x6f\x75\
    \x74\x63\x6f\x6d\x65\x0a\x61\x2c\x62\x2c\x6c\x65\x66\x74\x0a\x62\x2c\x63\x2c\x74\x69\x01\x00\x02\
    \x4a\xd5\x7c\x02\xe5\xdf\x4a\x38\
";

fn content() -> String {
    "left,right,outcome\n".to_string() + &"a,b,left\nb,c,tie\n".repeat(50)
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn archives() -> [(&'static str, Vec<u8>); 3] {
    [("pairs.csv.gz", gzip(content().as_bytes())), ("pairs.csv.xz", XZ.to_vec()), ("pairs.csv.zst", ZST.to_vec())]
}

fn read(name: &str, bytes: &[u8]) -> Result<PairTable> {
    let folder = Files::new();
    read_pairs(&files(folder.write(name, bytes), None, Columns::default()))
}

#[test]
fn archives_are_read_transparently() {
    let plain = pairs(content()).unwrap();
    for (name, bytes) in archives() {
        // By its name, and by its first bytes alone.
        for name in [name, "pairs.csv"] {
            let table = read(name, &bytes).unwrap();
            assert_eq!(numbers(&table), numbers(&plain), "{name}");
            assert_eq!(table.outcomes, plain.outcomes, "{name}");
        }
    }
}

#[test]
fn archives_of_several_parts_are_read_to_the_end() {
    let more = b"c,a,right\n";
    let last = gzip(more);
    let table = read("pairs.csv.gz", &[gzip(content().as_bytes()), last].concat()).unwrap();
    assert_eq!(table.set.n_pairs(), 101);
    // The whole table again: its header becomes a row with an unknown outcome, so that the second part was read.
    for (name, bytes) in archives() {
        says(read(name, &bytes.repeat(2)), &[name, "line 102", "\"outcome\""]);
    }
    let skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
    assert_eq!(read("pairs.csv.zst", &[skippable, ZST, skippable].concat()).unwrap().set.n_pairs(), 100);
}

#[test]
fn truncated_archives_are_errors_at_every_length() {
    for (name, bytes) in archives() {
        for length in 1..bytes.len() {
            let message = says(read(name, &bytes[..length]), &[name]).to_string();
            let is_plain = message.ends_with("cannot decompress: the archive is damaged or truncated; fetch it again");
            assert!(is_plain || message.contains("does not begin like"), "{message}");
        }
        says(read(name, &[]), &[name, "empty"]);
    }
}

#[test]
fn no_damaged_byte_is_read_in_silence() {
    let plain = pairs(content()).unwrap();
    for (name, bytes) in archives() {
        for at in 0..bytes.len() {
            for flipped in [1, 0x10, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flipped;
                // A few bytes of a gzip header mean nothing; then the content must be whole.
                if let Ok(table) = read(name, &damaged) {
                    assert_eq!(
                        (numbers(&table), &table.outcomes),
                        (numbers(&plain), &plain.outcomes),
                        "{name} at {at}"
                    );
                }
            }
        }
    }
}

#[test]
fn damage_is_said() {
    for (name, mut bytes) in archives() {
        let last = bytes.len() - 1;
        bytes[last] ^= 0xff;
        bytes[last - 6] ^= 0xff;
        says(read(name, &bytes), &[name, "cannot decompress: the archive is damaged or truncated; fetch it again"]);
        says(read(name, content().as_bytes()), &[name, "does not begin like", "name it"]);
    }
}

#[test]
fn a_damaged_archive_is_not_taken_for_bad_data() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(content().as_bytes()).unwrap();
    let gz = encoder.finish().unwrap();
    for (name, mut bytes, from) in
        [("pairs.csv.gz", gz, &b"b,c,tie"[..]), ("pairs.csv.zst", ZST.to_vec(), &b"b,c,ti"[..])]
    {
        let at = bytes.windows(from.len()).position(|found| found == from).unwrap();
        bytes[at + 4] = b'x';
        let damaged = "cannot decompress: the archive is damaged or truncated; fetch it again";
        says(read(name, &bytes), &[name, damaged]);
        let folder = Files::new();
        let source = folder.write(name, &bytes);
        let items = rankwise::io::read_items(&source, &Columns::default(), rankwise::data::Precision::F64);
        says(items, &[name, damaged]);
    }
}

/// Bytes of stored blocks are wrong without any trace but the checksum at the end.
fn damaged(content: &str, from: &str, to: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(content.as_bytes()).unwrap();
    let mut bytes = encoder.finish().unwrap();
    let at = bytes.windows(from.len()).position(|found| found == from.as_bytes()).unwrap();
    bytes[at..][..to.len()].copy_from_slice(to.as_bytes());
    bytes
}

#[test]
fn damage_of_published_files_is_said() {
    use rankwise::io::published;
    let folder = Files::new();
    let damage = ["cannot decompress: the archive is damaged or truncated; fetch it again"];
    let write = |name: &str, content: &str, from: &str, to: &str| {
        folder.write(&format!("{name}.csv.gz"), damaged(content, from, to));
        folder.path(&format!("{name}.csv.gz"))
    };
    let battles = "model_a,model_b,winner\na,b,model_a\n";
    says(published::read_battles(&write("a", battles, "b,model_a", "b,xodel_a")), &damage);
    let battles = "{\"model_a\": \"a\", \"model_b\": \"b\", \"winner\": \"tie\"}\n";
    says(published::read_battles(&write("b", battles, "tie", "xie")), &damage);
    let arff = "@relation r\n@attribute x numeric\n@attribute y numeric\n@data\n1,2\n3,4\n";
    says(published::read_arff(&write("c", arff, "3,4", "z,4")), &damage);
    let matches = "date,home_team,away_team,home_score,away_score,neutral\n2024-07-14,a,b,1,2,TRUE\n";
    let football = Source::File { path: write("d", matches, "1,2", "x,2"), format: rankwise::io::Format::Csv };
    says(published::read_football(&football), &damage);
    says(rankwise::io::read_qrels(&write("e", "q 0 d 1\nq 0 e 2\n", "e 2", "e x")), &damage);
    for k in 1..=5 {
        folder.write(&format!("S{k}.txt"), "1 qid:1 1:2\n0 qid:1 1:3\n");
    }
    std::fs::rename(folder.path("S2.txt"), folder.path("old")).unwrap();
    let letor = damaged("1 qid:1 1:2\n0 qid:1 1:3\n", "1:3", "1:x");
    std::fs::write(folder.path("S2.txt.gz"), letor).unwrap();
    let folds = published::LetorFolds::read(folder.0.path()).unwrap();
    says(folds.part(1, published::LetorPart::Train, Precision::F64), &[&["S2.txt.gz"][..], &damage].concat());
    // What is wrong in a sound archive is told as it is.
    let path = folder.path("f.arff.gz");
    std::fs::write(&path, gzip(arff.replace("3,4", "z,4").as_bytes())).unwrap();
    says(published::read_arff(&path), &["f.arff.gz, line 6"]);
}

/// A typing error at the start is told without a look at all the rest.
#[test]
fn little_is_read_behind_an_error() {
    let folder = Files::new();
    let start = "label,x\n1,y\n".to_string();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(start.as_bytes()).unwrap();
    let row = "1,2\n".repeat(1 << 18);
    (0..72).for_each(|_| encoder.write_all(row.as_bytes()).unwrap());
    let mut bytes = encoder.finish().unwrap();
    let last = bytes.len() - 5;
    bytes[last] ^= 0xff;
    let source = folder.write("items.csv.gz", bytes);
    let read = || rankwise::io::read_items(&source, &Columns::default(), Precision::F64);
    says(read(), &["items.csv.gz, line 2, column 2 (x)", "found \"y\""]);
}
