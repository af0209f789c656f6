//! Whatever the bytes: no panic, and what is written reads back the same.

use proptest::prelude::*;
use rankwise::data::{Comparisons, Features, Items, Outcome, Pair, PairSet, Precision};
use rankwise::io::{Columns, read_items, read_pairs, write_pairs};

use super::*;

/// Bytes that look like a table often enough to get past the header.
fn tables() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        "left", "right", "outcome", "weight", "group", "id", "left.x", "right.x", "1", "-1e300", "nan", "tie", "a", "",
        "\"", "\"\"", "\"a,b\"", ",", ",", ",", "\n", "\n", "\r\n", "\r", "\t", ";", "é", "\0", "\u{feff}",
    ]);
    let headers = prop::sample::select(vec!["", "left,right\n", "left.x,right.x,outcome\r\n", "left,right,weight\n"]);
    (headers, prop::collection::vec(word, 0..60))
        .prop_map(|(header, words)| (header.to_string() + &words.concat()).into())
}

fn comparisons() -> impl Strategy<Value = Comparisons> {
    let number = prop_oneof![
        any::<f64>().prop_filter("finite", |v| v.is_finite()),
        (-5i32..5).prop_map(f64::from),
        prop::sample::select(vec![0.1, -0.0, 1e16, 1e-5, 123456.789, f64::MAX, f64::MIN_POSITIVE, 5e-324]),
    ];
    let id = "[a-c\",é][a-c ,\"\n]{0,2}[a-z\"]";
    (1usize..4, 1usize..8, any::<[bool; 5]>()).prop_flat_map(move |(n_features, n_items, has)| {
        let [ids, names, weights, groups, indicators] = has;
        let values = prop::collection::vec(number.clone(), n_features * n_items);
        let id_set = prop::collection::hash_set(id, n_items);
        let pair = (0..n_items as u32, 0..n_items as u32, 0..3usize, 0.0..10.0f64, 0..4u32);
        (values, id_set, prop::collection::vec(pair, 1..20)).prop_map(move |(values, id_set, rows)| {
            let id_list: Vec<String> = id_set.into_iter().collect();
            let items = if indicators {
                Items::indicators(id_list)
            } else {
                let features = Features::dense(n_features, values, Precision::F64).unwrap();
                let names = names.then(|| (0..n_features).map(|c| format!("feature, {c}")).collect());
                Items::new(features, names, ids.then_some(id_list)).unwrap()
            };
            let pairs = rows.iter().map(|row| Pair { left: row.0, right: row.1 }).collect();
            let outcomes = rows.iter().map(|row| Outcome::ALL[row.2]).collect();
            let weight_list = weights.then(|| rows.iter().map(|row| row.3).collect());
            let group_list = groups.then(|| rows.iter().map(|row| row.4).collect());
            Comparisons::new(PairSet::new(items, pairs).unwrap(), outcomes, weight_list, group_list).unwrap()
        })
    })
}

/// Group numbers as they are given out in order of first appearance.
fn renumbered(groups: &[u32]) -> Vec<u32> {
    let mut seen = Vec::new();
    let mut number = |group| {
        seen.iter().position(|&known| known == group).unwrap_or_else(|| {
            seen.push(group);
            seen.len() - 1
        }) as u32
    };
    groups.iter().map(|&group| number(group)).collect()
}

fn bits(rows: &[[Vec<f64>; 2]]) -> Vec<u64> {
    rows.iter().flatten().flatten().map(|v| (v + 0.0).to_bits()).collect()
}

fn read_all(name: &str, bytes: &[u8]) {
    let folder = Files::new();
    let source = folder.write(name, bytes);
    let items = folder.write("items.csv", "id,x\na,1\nb,2\n");
    let _ = read_pairs(&files(source.clone(), None, Columns::default()));
    let _ = read_pairs(&files(source.clone(), Some(items.clone()), Columns::default()));
    let _ = read_pairs(&files(items, Some(source.clone()), dropping(&["x", "id"])));
    let _ = read_items(&source, &Columns::default(), Precision::Auto);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all("pairs.csv", &bytes);
    }

    #[test]
    fn no_table_panics(bytes in tables()) {
        read_all("pairs.csv", &bytes);
        read_all("pairs.tsv", &bytes);
    }

    #[test]
    fn no_archive_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), magic in 0..3usize) {
        let magics: [&[u8]; 3] = [b"\x1f\x8b\x08\0\0\0\0\0\0\0", b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46", b"\x28\xb5\x2f\xfd"];
        read_all("pairs.csv", &[magics[magic], &bytes].concat());
    }

    #[test]
    fn line_ends_do_not_matter(bytes in tables()) {
        // Outside quotes, that is: inside they are part of the cell.
        let text = String::from_utf8(bytes).unwrap().replace(['"', '\r'], "");
        let message = |text: String| pairs(text).map(|t| (numbers(&t), t.outcomes)).map_err(|e| {
            let message = e.to_string();
            message[message.find("pairs.csv").unwrap()..].to_string()
        });
        let expected = message(text.clone());
        prop_assert_eq!(&message(text.replace('\n', "\r\n")), &expected);
        prop_assert_eq!(&message(text.replace('\n', "\r")), &expected);
    }

    #[test]
    fn what_is_written_reads_back_the_same(data in comparisons()) {
        let mut bytes = Vec::new();
        write_pairs(&mut bytes, &data).unwrap();
        let table = pairs(&bytes).unwrap();
        let items = &data.set.items;
        prop_assert_eq!(table.set.items.are_indicators, items.are_indicators);
        prop_assert_eq!(&table.weights, &data.weights);
        prop_assert_eq!(table.groups.clone(), data.groups.as_deref().map(renumbered));
        let back = table.into_comparisons().unwrap();
        prop_assert_eq!(&back.outcomes, &data.outcomes);
        if items.ids.is_some() {
            let names = |c: &Comparisons| -> Vec<String> {
                c.set.pairs.iter().flat_map(|p| [c.set.items.name(p.left), c.set.items.name(p.right)]).collect()
            };
            prop_assert_eq!(names(&back), names(&data));
        }
        if !items.are_indicators {
            prop_assert_eq!(bits(&side_features(&back)), bits(&side_features(&data)));
            if items.feature_names.is_some() {
                prop_assert_eq!(&back.set.items.feature_names, &items.feature_names);
            }
        }
    }
}

#[test]
fn simulated_pairs_have_the_expected_table() {
    let side = |values| Features::dense(2, values, Precision::F64).unwrap();
    let names = Some(vec!["x1".to_string(), "x2".to_string()]);
    let set =
        PairSet::from_sides(&side(vec![0.1, 1e300, 2.0, -0.5]), &side(vec![3.0, 1e-7, 2.0, -0.5]), names).unwrap();
    let data = Comparisons::new(set, vec![Outcome::Left, Outcome::Tie], None, None).unwrap();
    let mut bytes = Vec::new();
    write_pairs(&mut bytes, &data).unwrap();
    let expected = "left.x1,left.x2,right.x1,right.x2,outcome\n0.1,1e300,3,1e-7,-1\n2,-0.5,2,-0.5,0\n";
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}
