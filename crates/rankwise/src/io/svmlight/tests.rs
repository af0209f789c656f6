//! The reader against a slow and obvious one, whatever the bytes and wherever pieces end.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::data::Features;

/// What a line says.
#[derive(Debug, Default)]
struct PlainLine {
    label: f64,
    group: Option<String>,
    weight: Option<f64>,
    entries: Vec<(usize, f64)>,
    id: String,
}

/// A file, or the line and the column of what is wrong first.
fn read_plainly(text: &[u8], base: u64) -> std::result::Result<Vec<PlainLine>, (u64, usize)> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut lines: Vec<PlainLine> = Vec::new();
    let mut first_without = None;
    for (number, bytes) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let line = plain_line(bytes, base).map_err(|column| (number, column))?;
        if let Some((line, after_label)) = line {
            if line.group.is_none() && first_without.is_none() {
                first_without = Some((number, after_label));
            }
            lines.push(line);
            if let (Some(place), true) = (first_without, lines.iter().any(|line| line.group.is_some())) {
                return Err(place);
            }
        }
    }
    if lines.is_empty() {
        return Err((0, 0));
    }
    Ok(lines)
}

/// A line and the column behind its label; nothing if there is no item.
fn plain_line(bytes: &[u8], base: u64) -> std::result::Result<Option<(PlainLine, usize)>, usize> {
    let hash = bytes.iter().position(|&byte| byte == b'#').unwrap_or(bytes.len());
    let (data, comment) = bytes.split_at(hash);
    let comment = || match std::str::from_utf8(comment) {
        Ok(text) if !text.contains('\0') => Ok(text.trim_start_matches('#').trim().to_string()),
        _ => Err(hash + 2),
    };
    let mut tokens = Vec::new();
    let mut column = 1;
    for token in data.split(|byte| b" \t\r".contains(byte)) {
        if !token.is_empty() {
            tokens.push((column, String::from_utf8(token.to_vec()).unwrap_or("\0".into())));
        }
        column += token.len() + 1;
    }
    let number = |column: usize, text: &str| match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(column),
    };
    let Some((column, label)) = tokens.first() else { return comment().map(|_| None) };
    let mut line = PlainLine { label: number(*column, label)?, ..PlainLine::default() };
    let after_label = column + label.len();
    let mut last = None;
    for (column, token) in &tokens[1..] {
        let (name, value) = token.split_once(':').ok_or(*column)?;
        let value_at = column + name.len() + 1;
        match name {
            "qid" | "cost" if last.is_some() => return Err(*column),
            "cost" if line.weight.is_some() => return Err(*column),
            "qid" | "cost" if value.is_empty() => return Err(value_at),
            "qid" if line.group.is_some() => return Err(*column),
            "qid" if value.contains('\0') => return Err(value_at),
            "qid" => line.group = Some(value.to_string()),
            "cost" => {
                line.weight = Some(number(value_at, value).and_then(|w| if w < 0.0 { Err(value_at) } else { Ok(w) })?)
            }
            _ => {
                let is_index = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
                let index = name.parse::<u64>().ok().filter(|&index| is_index && index <= 2_147_483_647);
                let index = index.filter(|&index| index >= base && Some(index) > last).ok_or(*column)?;
                last = Some(index);
                line.entries.push(((index - base) as usize, number(value_at, value)?));
            }
        }
    }
    line.id = comment()?;
    if let Some(rest) = line.id.strip_prefix("docid")
        && let Some(value) = rest.trim_start().strip_prefix('=')
        && let Some(value) = value.split_whitespace().next()
    {
        line.id = value.to_string();
    }
    Ok(Some((line, after_label)))
}

fn read_in_pieces(text: &[u8], base: IndexBase, precision: Precision, piece_bytes: usize) -> Result<ItemTable> {
    let source = Source::Stdin(super::super::Format::SvmLight);
    let input = Input { source: &source, index_base: base, most_features: None, can_read_again: true, piece_bytes };
    input.read(precision, || Ok(Decompressed { reader: Box::new(Cursor::new(text.to_vec())), action: "read" }))
}

/// Everything in a table, to be compared to the last bit.
fn fingerprint(table: &ItemTable) -> String {
    let features = &table.items.features;
    let mut rows = Vec::new();
    for row in 0..features.n_rows() {
        features.for_each_in_row(row, |column, value| rows.push((row, column, value.to_bits())));
    }
    let shape = (features.n_cols(), features.is_sparse(), features.is_f32());
    let labels: Vec<u64> = table.labels.iter().flatten().map(|label| label.to_bits()).collect();
    format!("{shape:?} {rows:?} {labels:?} {:?} {:?} {:?}", table.groups, table.weights, table.items.ids)
}

fn check_against_twin(text: &[u8], base: IndexBase) {
    let expected = read_plainly(text, base.first());
    for precision in [Precision::F64, Precision::Auto] {
        let found = read_in_pieces(text, base, precision, 1 << 20);
        let first = found.as_ref().map(fingerprint).map_err(|error| error.to_string());
        for piece_bytes in [1, 5, 64, 1000] {
            let other = read_in_pieces(text, base, precision, piece_bytes);
            let other = other.as_ref().map(fingerprint).map_err(|error| error.to_string());
            assert_eq!(other, first, "pieces of {piece_bytes} bytes");
        }
        match (found, &expected) {
            (Ok(table), Ok(lines)) => compare(&table, lines, precision),
            (Err(Error::Data { place, .. }), Err((line, column))) => {
                assert_eq!(place.line.unwrap_or(0), *line, "{text:?}");
                let is_plain = text.is_ascii() && !text.contains(&0);
                if is_plain {
                    assert_eq!(place.column.map_or(0, |(column, _)| column), *column, "{text:?}");
                }
            }
            (found, expected) => panic!(
                "{:?}: found {:?}, expected {expected:?}",
                String::from_utf8_lossy(text),
                found.map(|t| fingerprint(&t))
            ),
        }
    }
}

fn compare(table: &ItemTable, lines: &[PlainLine], precision: Precision) {
    let features = &table.items.features;
    assert_eq!(features.n_rows(), lines.len());
    let n_cols = lines.iter().filter_map(|line| line.entries.last()).map(|entry| entry.0 + 1).max().unwrap_or(0);
    assert_eq!(features.n_cols(), n_cols);
    let labels: Vec<f64> = lines.iter().map(|line| line.label).collect();
    assert_eq!(table.labels.as_ref(), Some(&labels));
    let weights = lines.iter().map(|line| line.weight.unwrap_or(1.0)).collect();
    assert_eq!(table.weights, lines.iter().any(|line| line.weight.is_some()).then_some(weights));
    let groups: Option<Vec<&String>> = lines.iter().map(|line| line.group.as_ref()).collect();
    let found = table.groups.as_ref();
    assert_eq!(found.is_some(), groups.is_some());
    for (item, name) in groups.into_iter().flatten().enumerate() {
        assert_eq!(found.unwrap().name(found.unwrap().numbers()[item] as usize), name);
    }
    let ids = lines.iter().zip(1..).map(|(line, n)| if line.id.is_empty() { format!("#{n}") } else { line.id.clone() });
    assert_eq!(table.items.ids, lines.iter().any(|line| !line.id.is_empty()).then(|| ids.collect()));
    if n_cols == 0 {
        assert!(features.is_sparse());
        return;
    }
    if n_cols > 10_000 {
        return;
    }
    let mut dense = vec![0.0; lines.len() * n_cols];
    for (line, row) in lines.iter().zip(dense.chunks_exact_mut(n_cols)) {
        line.entries.iter().for_each(|&(column, value)| row[column] = value);
    }
    let mut expected = Features::dense(n_cols, dense.clone(), precision).unwrap();
    let are_plain = || lines.iter().flat_map(|line| &line.entries).all(|&(_, value)| is_plain(value));
    if precision != Precision::Auto || lines.iter().all(|line| line.entries.len() == n_cols) || are_plain() {
        assert_eq!(features.is_f32(), expected.is_f32());
    } else if !features.is_f32() {
        // Rows with gaps do not tell columns apart, so that a column of one long number may be kept in f64 for nothing.
        expected = Features::dense(n_cols, dense, Precision::F64).unwrap();
    }
    assert!(expected.is_f32() || !features.is_f32());
    // 0 and −0 are the same number, and sparse rows have neither.
    let bits = |features: &Features| -> Vec<u64> { features.to_dense().iter().map(|v| (v + 0.0).to_bits()).collect() };
    assert_eq!(bits(features), bits(&expected));
    let width = if features.is_f32() { 4 } else { 8 };
    let n_nonzero = expected.to_dense().iter().filter(|v| **v != 0.0).count();
    let sparse_bytes = (4 + width) * n_nonzero + 8 * (lines.len() + 1);
    assert_eq!(features.is_sparse(), width * n_cols * lines.len() > sparse_bytes);
}

/// Whether a number has few digits, and is neither tiny nor huge.
fn is_plain(value: f64) -> bool {
    let text = format!("{:e}", value.abs());
    let digits = text.split('e').next().unwrap().replace('.', "");
    value == 0.0 || (1e-30..1e30).contains(&value.abs()) && digits.parse::<u64>().unwrap() < 1 << 22
}

fn numbers() -> impl Strategy<Value = String> {
    prop_oneof![
        (-100_000i64..100_000, 0u32..6).prop_map(|(n, decimals)| format!("{}", n as f64 / 10f64.powi(decimals as i32))),
        (-9.0..9.0f64).prop_map(|value| value.to_string()),
        any::<f64>().prop_filter("finite", |v| v.is_finite()).prop_map(|value| value.to_string()),
        (any::<u64>(), any::<u16>()).prop_map(|(a, b)| format!("{b}.{a}")),
        (1e9..1.000001e9f64).prop_map(|value| value.to_string()),
        prop::sample::select(vec!["0", "-0", "+1", "1e-3", "1E+3", ".5", "5.", "0.1", "1e-40", "1e35", "00012.50"])
            .prop_map(String::from),
    ]
}

/// Lines that are right, dense or sparse.
fn good_lines() -> impl Strategy<Value = String> {
    (any::<[bool; 4]>(), 1usize..12, prop::sample::select(vec![1.0, 0.9, 0.3, 0.02])).prop_flat_map(
        |([groups, weights, ids, zero_based], n_cols, density)| {
            let entry = (numbers(), prop::bool::weighted(density), 0usize..30);
            let entries = prop::collection::vec(entry, n_cols);
            let line = (numbers(), 0usize..4, prop::option::of(0u8..3), any::<[u8; 3]>(), entries);
            prop::collection::vec(line, 1..12).prop_map(move |lines| {
                let mut text = String::new();
                for (label, group, weight, [id, blank, end], entries) in lines {
                    let blank = [" ", "\t", "  ", " "][blank as usize % 4];
                    text += &label;
                    if groups {
                        text += &format!("{blank}qid:{group}");
                    }
                    if let (true, Some(weight)) = (weights, weight) {
                        text += &format!("{blank}cost:{weight}");
                    }
                    let mut index = usize::from(!zero_based);
                    for (value, is_there, gap) in entries {
                        if is_there {
                            text += &format!("{blank}{index}:{value}");
                        }
                        index += 1 + if density < 0.1 { gap } else { 0 };
                    }
                    if ids && id % 2 == 0 {
                        text += [" # note", "#", " #docid = G-7 inc = 1", " # é\u{a0}", "# docid ="][id as usize % 5];
                    }
                    text += ["\n", "\r\n", " \n", "\n\n", "\n# between\n"][end as usize % 5];
                }
                text
            })
        },
    )
}

/// Words that are right somewhere.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "1",
        "-1",
        "+2",
        "0.5",
        "1e3",
        "nan",
        "inf",
        "1e999",
        "qid:1",
        "qid:2",
        "qid:x",
        "qid:",
        "cost:2",
        "cost:-1",
        "cost:",
        "1:1",
        "1:2",
        "2:0",
        "3:0.25",
        "4:-1e-3",
        "10:1",
        "100:7",
        "0:1",
        "5:",
        "6:x",
        ":3",
        "7:inf",
        "8:1e999",
        "x:1",
        "-3:1",
        "2147483647:1",
        "2147483648:1",
        "99999999999999999999:1",
        "9:1:2",
        "#c",
        "#",
        "\n",
        "\n",
        "\n1 ",
        "\n1 ",
        "\n2 qid:1 ",
        "\r\n",
        "\t",
        "\0",
        "é",
        "\u{feff}",
        "\n1 1:1 2:2",
    ]);
    prop::collection::vec(word, 0..25).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn good_files_are_read_as_by_the_twin(text in good_lines(), is_zero_based in any::<bool>(), cut in any::<bool>()) {
        let base = if is_zero_based { IndexBase::Zero } else { IndexBase::One };
        let text = if cut { text.trim_end() } else { &text };
        check_against_twin(text.as_bytes(), base);
    }

    #[test]
    fn bad_words_are_refused_as_by_the_twin(text in words()) {
        check_against_twin(text.as_bytes(), IndexBase::One);
        check_against_twin(format!("1 1:1\n{text}").as_bytes(), IndexBase::Zero);
    }

    #[test]
    fn damaged_files_are_refused_as_by_the_twin(text in good_lines(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        check_against_twin(&bytes, IndexBase::One);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_against_twin(&bytes, IndexBase::One);
    }
}

#[test]
fn threads_do_not_matter() {
    let mut random = crate::data::Random::new(3);
    let mut text = String::new();
    for line in 0..3000 {
        text += &format!("{} qid:{}", line % 5, random.below(50));
        for index in 1..=20 {
            if random.uniform() < 0.95 {
                text += &format!(" {index}:{:.4}", random.normal());
            }
        }
        text += if line % 7 == 0 { " # named\n" } else { "\n" };
    }
    let on = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| fingerprint(&read_in_pieces(text.as_bytes(), IndexBase::One, Precision::Auto, 4096).unwrap()))
    };
    assert!(on(1) == on(2));
    // Of two things that are wrong the first is named, though a later piece is parsed at the same time.
    let bad = format!("{text}1 qid:1 1:x\n{text}1 qid:1 1:y\n");
    for n_threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let error = pool.install(|| read_in_pieces(bad.as_bytes(), IndexBase::One, Precision::Auto, 4096));
        assert!(error.unwrap_err().to_string().starts_with("standard input, line 3001, column 11: found \"x\""));
    }
}

#[test]
fn a_failing_source_comes_after_what_it_gave() {
    struct Failing(Cursor<Vec<u8>>);
    impl std::io::Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::Error::other("the disk is gone")),
                n => Ok(n),
            }
        }
    }
    let read = |text: &str| {
        let source = Source::Stdin(super::super::Format::SvmLight);
        let input = Input {
            source: &source,
            index_base: IndexBase::One,
            most_features: None,
            can_read_again: false,
            piece_bytes: 16,
        };
        let reader = || Box::new(Failing(Cursor::new(text.as_bytes().to_vec())));
        let table = input.read(Precision::F32, || Ok(Decompressed { reader: reader(), action: "read" }));
        table.unwrap_err().to_string()
    };
    let good = "1 1:1\n".repeat(100);
    assert_eq!(read(&good), "standard input: cannot read: the disk is gone");
    assert!(read(&format!("{good}1 1:x\n{good}")).starts_with("standard input, line 101, column 5:"));
}
