//! The rules by which tables are read.

use rankwise::data::{Features, Outcome, Precision};
use rankwise::io::{Columns, Format, Source, read_items, read_pairs};

use super::*;

#[test]
fn ids_alone_become_indicators_in_order_of_first_appearance() {
    let table = pairs("left,right,outcome\nb,a,left\na,c,tie\nb,c,right\n").unwrap();
    assert_eq!(ids(&table), ["b", "a", "c"]);
    assert_eq!(feature_names(&table), ["b", "a", "c"]);
    assert!(table.set.items.are_indicators);
    assert_eq!(numbers(&table), [(0, 1), (1, 2), (0, 2)]);
    assert_eq!(table.outcomes.unwrap(), [Outcome::Left, Outcome::Tie, Outcome::Right]);
    assert!(table.weights.is_none() && table.groups.is_none());
    assert!(table.source.ends_with("pairs.csv"));
}

#[test]
fn side_columns_alone_need_no_ids_and_equal_items_are_stored_once() {
    let table = pairs("right.x,left.x,left.y,right.y,winner\n3,1,0,4,0\n1,5,6,-0,1\n").unwrap();
    assert!(table.set.items.ids.is_none() && !table.set.items.are_indicators);
    assert_eq!(feature_names(&table), ["x", "y"]);
    assert_eq!(numbers(&table), [(0, 1), (2, 0)]);
    assert_eq!(table.set.items.features.to_dense(), [1.0, 0.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(table.into_comparisons().unwrap().outcomes, [Outcome::Tie, Outcome::Right]);
}

#[test]
fn with_ids_and_side_columns_an_item_is_both() {
    let text = "left,right,left.form,right.form,outcome\na,b,1,1,left\nb,a,1,2,tie\na,b,1,1,right\n";
    let table = pairs(text).unwrap();
    // a and b have equal features in the first row, and stay two items; a with 2 is a third one.
    assert_eq!(ids(&table), ["a", "b", "a"]);
    assert_eq!(numbers(&table), [(0, 1), (1, 2), (0, 1)]);
    assert_eq!(table.set.items.features.to_dense(), [1.0, 1.0, 2.0]);
}

#[test]
fn features_come_from_the_item_table_by_id() {
    let items = "id,x,label,y,qid,weight,group_weight,margin\nc,5,9,6,q,1,1,1\na,1,9,2,q,1,1,1\nb,3,9,4,q,1,1,1\n";
    let table = pairs_and_items("left,right,outcome\nb,a,left\n", items, Columns::default()).unwrap();
    assert_eq!(ids(&table), ["b", "a"], "an item that no pair names is not stored");
    assert_eq!(feature_names(&table), ["x", "y"]);
    assert_eq!(table.set.items.features.to_dense(), [3.0, 4.0, 1.0, 2.0]);
    assert!(!table.set.items.are_indicators);
}

#[test]
fn item_features_stand_before_side_features() {
    let text = "left.form,left,right,right.form,outcome\n7,b,a,8,left\n9,b,a,8,left\n";
    let table = pairs_and_items(text, "id,x\na,1\nb,3\n", Columns::default()).unwrap();
    assert_eq!(feature_names(&table), ["x", "form"]);
    assert_eq!(ids(&table), ["b", "a", "b"]);
    assert_eq!(numbers(&table), [(0, 1), (2, 1)]);
    assert_eq!(table.set.items.features.to_dense(), [3.0, 7.0, 1.0, 8.0, 3.0, 9.0]);
}

#[test]
fn an_item_without_features_of_its_own_takes_those_of_its_side() {
    let text = "left,right,left.x,right.x\na,b,1,2\n";
    let table = pairs_and_items(text, "id,label\na,1\nb,2\n", Columns::default()).unwrap();
    assert_eq!(feature_names(&table), ["x"]);
    assert!(table.outcomes.is_none(), "prediction needs no outcomes");
}

#[test]
fn equal_rows_of_one_id_count_once() {
    let items = "id,x\na,0\nb,1\na,-0.0\n";
    let table = pairs_and_items("left,right\na,b\n", items, Columns::default()).unwrap();
    assert_eq!(table.set.items.features.to_dense(), [0.0, 1.0]);
}

#[test]
fn weights_and_groups_are_read_and_time_is_read_over() {
    let text = "time,left,right,outcome,weight,group\n\
                monday,a,b,left,2,red\ntuesday,b,c,tie,0.5,blue\n,c,a,right,0,red\n";
    let table = pairs(text).unwrap();
    assert_eq!(table.weights.as_deref().unwrap(), [2.0, 0.5, 0.0]);
    assert_eq!(table.groups.as_deref().unwrap(), [0, 1, 0]);
    assert_eq!(table.set.items.n_items(), 3);
}

#[test]
fn pair_columns_describe_the_comparison() {
    let text = "pair.z,left,right,pair.a,outcome,pair.words,pair.w\n1,a,b,0.5,left,none,2\n-3,b,a,4,tie,some,1\n";
    let columns = Columns { drop: vec!["pair.words".into()], weight: Some("pair.w".into()), ..Columns::default() };
    let table = pairs_with(text, columns).unwrap();
    let context = table.set.context.as_ref().unwrap();
    assert_eq!(context.names, ["z", "a"], "in the order of the file, without what is dropped or has another role");
    assert_eq!(context.features.to_dense(), [1.0, 0.5, -3.0, 4.0]);
    assert_eq!(table.weights.as_deref().unwrap(), [2.0, 1.0]);
    assert_eq!(table.set.select(&[1]).context.unwrap().features.to_dense(), [-3.0, 4.0]);
    assert!(pairs("left,right\na,b\n").unwrap().set.context.is_none());
    let named_so = Columns { label: Some("pair.y".into()), ..Columns::default() };
    assert!(pairs_with("left,right,pair.y\na,b,tie\n", named_so).unwrap().set.context.is_none());
}

#[test]
fn columns_can_be_renamed_and_left_out() {
    let columns = Columns {
        weight: Some("w".into()),
        group: Some("judge".into()),
        label: Some("result".into()),
        id: Some("name".into()),
        drop: vec!["comment".into(), "z".into()],
        ..Columns::default()
    };
    let text = "left,right,result,w,judge,comment\na,b,tie,3,j,hello\n";
    let table = pairs_and_items(text, "name,x,z\na,1,text\nb,2,text\n", columns).unwrap();
    assert_eq!(table.outcomes.as_deref().unwrap(), [Outcome::Tie]);
    assert_eq!(table.weights.as_deref().unwrap(), [3.0]);
    assert_eq!(table.groups.as_deref().unwrap(), [0]);
    assert_eq!(feature_names(&table), ["x"]);

    let given = Columns { label: Some("grade".into()), weight: Some("w".into()), ..Columns::default() };
    let table = items_with("w,x,grade\n1,2,3\n", given).unwrap();
    assert_eq!(table.labels.unwrap(), [3.0]);
    assert_eq!(table.items.feature_names.unwrap(), ["x"]);
}

#[test]
fn a_name_meant_for_the_items_leaves_the_pairs_alone() {
    let columns = Columns { weight: Some("w".into()), ..Columns::default() };
    let table = pairs_and_items("left,right,weight\na,b,3\n", "id,x,w\na,1,1\nb,2,1\n", columns).unwrap();
    assert_eq!(table.weights.unwrap(), [3.0]);
    assert_eq!(table.set.items.feature_names.unwrap(), ["x"]);
}

#[test]
fn dropped_columns_may_hold_anything_and_take_their_meaning_with_them() {
    let text = "left,right,outcome,weight,left.x,right.x\na,b,who knows,-1,text,\n";
    let table = pairs_with(text, dropping(&["outcome", "weight", "left.x", "right.x"])).unwrap();
    assert!(table.outcomes.is_none() && table.weights.is_none() && table.set.items.are_indicators);
}

#[test]
fn every_known_outcome_word_is_read() {
    for (word, outcome) in Outcome::WORDS {
        let table = pairs(format!("left,right,outcome\na,b, {word} \n")).unwrap();
        assert_eq!(table.outcomes.unwrap(), [outcome], "{word}");
    }
}

#[test]
fn blanks_line_ends_quotes_and_a_byte_order_mark_do_not_matter() {
    let plain = pairs("left,right,outcome,weight\na,b,left,1\nb,c,tie,2\n").unwrap();
    for text in [
        "left,right,outcome,weight\r\na,b,left,1\r\nb,c,tie,2\r\n",
        "left,right,outcome,weight\ra,b,left,1\rb,c,tie,2",
        "\u{feff}left,right,outcome,weight\na,b,left,1\nb,c,tie,2",
        "\u{feff}\"left\",\"right\",\"outcome\",\"weight\"\r\n\"a\",\"b\",\"left\",\"1\"\r\n\"b\",\"c\",\"tie\",\"2\"",
        " left , right , outcome , weight \n\n a , b , left , 1 \n\r\n\n b , c , tie , 2 \n\n",
    ] {
        let table = pairs(text).unwrap();
        assert_eq!(ids(&table), ids(&plain), "{text:?}");
        assert_eq!(numbers(&table), numbers(&plain), "{text:?}");
        assert_eq!((table.outcomes, table.weights), (plain.outcomes.clone(), plain.weights.clone()), "{text:?}");
    }
}

#[test]
fn quoted_cells_may_hold_separators_quotes_and_lines() {
    let table = pairs("left,right\n\"a,\"\"1\"\"\",\"b\nc\r\nd\"\n").unwrap();
    assert_eq!(ids(&table), ["a,\"1\"", "b\nc\r\nd"]);
}

#[test]
fn tabs_separate_a_tsv() {
    let folder = Files::new();
    let source = folder.write("pairs.tsv", "left\tright\toutcome\na,1\tb\t0\n");
    let table = read_pairs(&files(source, None, Columns::default())).unwrap();
    assert_eq!(ids(&table), ["a,1", "b"]);
    // The same content under another name, with the format given.
    std::fs::copy(folder.path("pairs.tsv"), folder.path("pairs.data")).unwrap();
    let source = Source::parse(folder.path("pairs.data").to_str().unwrap(), Some(Format::Tsv)).unwrap();
    assert_eq!(ids(&read_pairs(&files(source, None, Columns::default())).unwrap()), ["a,1", "b"]);
}

#[test]
fn numbers_are_read_exactly() {
    let table = items("x\n0.1\n-1e-300\n+5\n.5\n5.\n 123456789012345678 \n1E3\n").unwrap();
    let expected = [0.1, -1e-300, 5.0, 0.5, 5.0, 123456789012345678.0, 1000.0];
    assert_eq!(table.items.features.to_dense(), expected);
}

#[test]
fn precision_is_that_asked_for() {
    let read = |precision| {
        let table = read_items(&Files::new().write("items.csv", "x\n0.1\n7\n"), &Columns::default(), precision);
        table.unwrap().items.features
    };
    assert!(read(Precision::F32).is_f32() && read(Precision::Auto).is_f32() && !read(Precision::F64).is_f32());
    let folder = Files::new();
    let mut wanted = files(folder.write("p.csv", "left.x,right.x\n0.1,0.1000000001\n"), None, Columns::default());
    assert_eq!(read_pairs(&wanted).unwrap().set.items.n_items(), 2);
    wanted.precision = Precision::F32;
    assert_eq!(read_pairs(&wanted).unwrap().set.items.n_items(), 1, "equal in f32 is equal");
    // The years need f64, so that the sides are stored in it too, and differ.
    wanted.pairs = folder.write("q.csv", "left,right,left.x,right.x\na,b,0.1,7\na,b,0.1000000001,7\n");
    wanted.items = Some(folder.write("items.csv", "id,year\na,2001\nb,2002\n"));
    wanted.precision = Precision::Auto;
    assert_eq!(read_pairs(&wanted).unwrap().set.items.n_items(), 3);
}

#[test]
fn item_tables_keep_every_row_in_order() {
    let table = items("x,id,label,y\n3,b,1,4\n1,a,0,2\n3,b,1,4\n").unwrap();
    assert_eq!(table.items.ids.as_deref().unwrap(), ["b", "a", "b"]);
    assert_eq!(table.labels.unwrap(), [1.0, 0.0, 1.0]);
    assert_eq!(table.items.feature_names.as_deref().unwrap(), ["x", "y"]);
    assert_eq!(table.items.features.to_dense(), [3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    assert!(table.source.ends_with("items.csv"));
    let bare = items("x\n1\n").unwrap();
    assert!(bare.items.ids.is_none() && bare.labels.is_none());
}

#[test]
fn an_item_table_of_ids_alone_has_indicators() {
    let table = items("id\nb\na\n").unwrap();
    assert!(table.items.are_indicators);
    assert_eq!(table.items.ids.unwrap(), ["b", "a"]);
}

#[test]
fn sources_know_their_format() {
    let of = |path: &str| Source::parse(path, None).unwrap().format();
    for path in ["a.csv", "a.CSV", "dir.x/a.csv.gz", "a.csv.xz", "a.b.csv.ZST"] {
        assert_eq!(of(path), Format::Csv, "{path}");
    }
    assert_eq!(of("a.tsv.gz"), Format::Tsv);
    assert_eq!(Source::parse("-", Some(Format::Tsv)).unwrap(), Source::Stdin(Format::Tsv));
    assert_eq!(Source::parse("-", Some(Format::Tsv)).unwrap().name(), "standard input");
    assert_eq!(Source::parse("a.csv", Some(Format::Tsv)).unwrap().format(), Format::Tsv);
    assert_eq!((Format::parse("TSV"), Format::parse("xls")), (Some(Format::Tsv), None));
}

#[test]
fn a_wide_table_takes_time_in_proportion() {
    let n = 50_000;
    let join = |cell: &dyn Fn(usize) -> String| (0..n).map(cell).collect::<Vec<_>>().join(",");
    let header = |prefix: &str| join(&|k| format!("{prefix}{k}"));
    let row = join(&|k| (k % 7).to_string());
    let wide_items = format!("id,{}\na,{row}\nb,{row}\n", header("x"));
    let wide_pairs = format!("left,right,{},{},outcome\na,b,{row},{row},left\n", header("left.y"), header("right.y"));
    let started = std::time::Instant::now();
    let table = pairs_and_items(&wide_pairs, &wide_items, Columns::default()).unwrap();
    assert_eq!(table.set.items.features.n_cols(), 2 * n);
    assert_eq!(items(&wide_items).unwrap().items.features.n_cols(), n);
    let drop = (1..n).map(|k| format!("x{k}")).collect();
    let narrow = items_with(&wide_items, Columns { drop, ..Columns::default() }).unwrap();
    assert_eq!(narrow.items.feature_names.unwrap(), ["x0"]);
    assert!(started.elapsed().as_secs_f64() < 2.0, "{:?}", started.elapsed());
}

#[test]
fn a_minus_sign_is_a_minus() {
    let table = pairs("left,right,outcome\na,b,\u{2212}1\na,b,-1\n").unwrap();
    assert_eq!(table.outcomes.unwrap(), [Outcome::Left, Outcome::Left]);
}

#[test]
fn outcomes_that_are_not_wanted_are_read_over() {
    let folder = Files::new();
    let source = folder.write("pairs.csv", "left,right,outcome,winner\na,b,,\nb,a,?,\n");
    let unjudged = PairFiles { with_outcomes: false, ..files(source, None, Columns::default()) };
    let table = read_pairs(&unjudged).unwrap();
    assert_eq!((table.set.n_pairs(), table.outcomes), (2, None));
}

#[test]
fn sides_of_other_names() {
    let named =
        |left: &str, right: &str| Columns { left: Some(left.into()), right: Some(right.into()), ..Columns::default() };
    let table = pairs_with("model_a,model_b,winner\nx,y,model_a\ny,z,tie\n", named("model_a", "model_b")).unwrap();
    assert_eq!((ids(&table), numbers(&table)), (vec!["x", "y", "z"], vec![(0, 1), (1, 2)]));
    says(pairs_with("a,b,outcome\nx,y,left\n", named("a", "c")), &["no column c, named by --right", "columns: a, b"]);
    says(pairs("home,right,outcome\nx,y,left\n"), &["column 2 (right)", "without a column left", "--left COL"]);
}

#[test]
fn headers_in_other_letter_case() {
    let table = pairs("Left,RIGHT,Outcome,Left.x,right.X,Weight\na,b,left,1,2,3\n").unwrap();
    assert_eq!((ids(&table), feature_names(&table)), (vec!["a", "b"], vec!["x"]));
    assert_eq!(table.weights, Some(vec![3.0]));
    // Of items only names that no feature has: a weight may be one.
    let table = items("ID,Label,QID,Weight\na,1,q,70\nb,2,q,80\n").unwrap();
    assert_eq!(table.items.feature_names, Some(vec!["Weight".to_string()]));
    assert_eq!((table.labels, table.items.ids), (Some(vec![1.0, 2.0]), Some(vec!["a".into(), "b".into()])));
    // What is written exactly so goes first, and of two others neither is meant.
    let table = items("Label,label\n1,2\n").unwrap();
    assert_eq!((table.labels, table.items.feature_names), (Some(vec![2.0]), Some(vec!["Label".to_string()])));
    assert_eq!(items("LABEL,Label\n1,2\n").unwrap().labels, None);
}

#[test]
fn the_index_of_pandas_is_no_feature() {
    for name in ["", "Unnamed: 0"] {
        let table = items(&format!("{name},label,x\n0,1,5\n1,2,6\n2,3,7\n")).unwrap();
        assert_eq!(table.items.feature_names, Some(vec!["x".to_string()]), "{name:?}");
        assert!(table.notes.iter().any(|note| note.contains("numbers the rows")), "{:?}", table.notes);
        let table = pairs(format!("{name},left,right,outcome\n0,a,b,left\n1,b,c,tie\n")).unwrap();
        assert_eq!((table.set.n_pairs(), table.notes.len()), (2, 1));
    }
    // Of rows that were shuffled, or left out, the first number may be any.
    let table = items("Unnamed: 0,label,x\n17,1,5\n4,2,6\n").unwrap();
    assert_eq!((table.items.feature_names, table.notes.len()), (Some(vec!["x".to_string()]), 1));
    // Other numbers are a feature.
    let table = items("Unnamed: 0,label\n0.5,1\n8,2\n").unwrap();
    assert_eq!((table.items.feature_names, table.notes), (Some(vec!["Unnamed: 0".to_string()]), Vec::new()));
}

#[test]
fn columns_between_other_separators() {
    let by = |separator| Columns { separator: Some(separator), ..Columns::default() };
    for separator in [';', '|', '\t', ' '] {
        let text = "left,right,outcome\n\"a,b\",c,left\n".replace(',', &separator.to_string());
        let table = pairs_with(&text, by(separator as u8)).unwrap();
        assert_eq!(ids(&table), [format!("a{separator}b").as_str(), "c"], "{separator:?}");
    }
}

#[test]
fn groups_that_would_be_learnt_from_are_told() {
    let notes = |content: &str, columns: Columns| items_with(content, columns).unwrap().notes;
    for name in ["group", "query", "query_id", "Group"] {
        let text = format!("label,{name},x\n1,7,2\n2,8,3\n");
        let found = notes(&text, Columns::default());
        assert!(found.len() == 1 && found[0].contains(&format!("--group {name}")), "{found:?}");
        let given = Columns { group: Some(name.into()), ..Columns::default() };
        assert_eq!(notes(&text, given), Vec::<String>::new());
    }
    assert!(notes("label,sample_weight\n1,2\n", Columns::default())[0].contains("--weight sample_weight"));
    assert_eq!(notes("label,qid,group\n1,a,2\n", Columns::default()), Vec::<String>::new());
    // Words are an error, whose remedy is the same.
    let refused = |content: &str| items(content).unwrap_err().to_string();
    let found = refused("label,group,x\n1,u,2\n2,v,3\n");
    assert!(found.contains("--drop group; if it holds groups, give --group group"), "{found}");
    let found = refused("label,qid,group\n1,a,b\n");
    assert!(found.ends_with("--drop group"), "{found}");
}

#[test]
fn classes_that_differ_in_letter_case_are_told() {
    let folder = Files::new();
    let source = folder.write("items.csv", "label,x\nyes,1\nYes,2\nno,3\nYES,4\n");
    let table = rankwise::io::read_classes(&source, &Columns::default(), Precision::F64).unwrap();
    assert_eq!(table.notes.len(), 1);
    assert!(table.notes[0].starts_with("YES, Yes, yes are 3 classes"), "{:?}", table.notes);
}

/// Names of columns are given for both files, and what is lost is lost in silence.
#[test]
fn what_is_left_out_of_one_table_stays_in_the_other() {
    let (judged, rated) = ("left,right,outcome,weight\na,b,left,2\n", "id,Weight,x\na,1,2\nb,3,4\n");
    let table = pairs_and_items(judged, rated, dropping(&["Weight"])).unwrap();
    assert_eq!((feature_names(&table), &table.weights), (vec!["x"], &Some(vec![2.0])));
    // Left out is what is written so.
    let error =
        says(pairs_and_items(judged, "id,x\na,1\nb,2\n", dropping(&["Weight"])), &["no column Weight", "--drop"]);
    assert!(error.to_string().contains("left, right, outcome, weight"), "{error}");
    // Columns that are read go by letter case only where no file has the very name.
    let label = Columns { label: Some("Result".into()), ..Columns::default() };
    let table = pairs_and_items("left,right,Result\na,b,left\n", "id,result,x\na,1,2\nb,3,4\n", label.clone()).unwrap();
    assert_eq!(feature_names(&table), ["result", "x"]);
    let table = pairs_and_items("left,right,result\na,b,left\n", "id,x\na,1\nb,2\n", label).unwrap();
    assert_eq!(table.outcomes, Some(vec![Outcome::Left]));
}

#[test]
fn letter_case_goes_all_the_way_in_pair_tables() {
    let table = pairs("Left,Right,Outcome,Pair.judge\na,b,left,3\n").unwrap();
    assert_eq!(table.set.context.as_ref().unwrap().names, ["judge"]);
    says(
        pairs("left,right,pair.a,Pair.a\na,b,1,2\n"),
        &["column 4 (Pair.a)", "pair.a means the same", "--drop Pair.a"],
    );
    says(
        pairs("left.x,Left.x,right.x,outcome\n1,2,3,left\n"),
        &["column 2 (Left.x)", "left.x means the same", "--drop Left.x"],
    );
    let hint = "--drop LEFT.x,Right.x";
    let clash = pairs_and_items("left,right,LEFT.x,Right.x\na,b,1,2\n", "id,x\na,1\nb,2\n", Columns::default());
    says(clash, &["items.csv has a feature x", hint]);
    let table =
        pairs_and_items("left,right,LEFT.x,Right.x\na,b,1,2\n", "id,x\na,1\nb,2\n", dropping(&["LEFT.x", "Right.x"]));
    assert_eq!(feature_names(&table.unwrap()), ["x"]);
}

#[test]
fn labels_of_items_of_pairs_are_reserved_as_they_are_written() {
    let table = pairs_and_items(
        "left,right,outcome\na,b,left\n",
        "ID,Label,QID,label,x\na,1,5,?,2\nb,3,6,?,4\n",
        Columns::default(),
    );
    assert_eq!(feature_names(&table.unwrap()), ["Label", "QID", "x"]);
}

#[test]
fn labels_that_would_be_learnt_from_are_told() {
    let given = Columns { label: Some("grade".into()), ..Columns::default() };
    let table = items_with("qid,Label,grade,x\n1,3,2,5\n1,4,1,6\n", given).unwrap();
    assert_eq!(table.items.feature_names, Some(vec!["Label".to_string(), "x".to_string()]));
    assert!(table.notes.len() == 1 && table.notes[0].contains("--drop Label"), "{:?}", table.notes);
    let given = Columns { id: Some("name".into()), group: Some("query".into()), ..Columns::default() };
    let table = items_with("ID,QID,name,query,label\n1,3,a,5,0\n", given).unwrap();
    assert_eq!(table.notes.len(), 2, "{:?}", table.notes);
    // Of two neither is meant, and it is said how to mean one.
    let notes = items("LABEL,Label\n1,2\n").unwrap().notes;
    assert!(notes.len() == 2 && notes[1].contains("give --label Label"), "{notes:?}");
}

#[test]
fn levels_of_an_index_are_no_features() {
    let table = items("label,x,__index_level_0__,__index_level_1__\n1,5,17,b\n2,6,4,a\n").unwrap();
    assert_eq!(table.items.feature_names, Some(vec!["x".to_string()]));
    assert!(
        table.notes.len() == 2 && table.notes[0].contains("__index_level_0__, an index of pandas"),
        "{:?}",
        table.notes
    );
    let named = Columns { id: Some("__index_level_0__".into()), ..Columns::default() };
    let table = items_with("label,x,__index_level_0__\n1,5,17\n2,6,4\n", named).unwrap();
    assert_eq!((table.items.ids, table.notes), (Some(vec!["17".into(), "4".into()]), Vec::new()));
}

/// Models of 0.1 have features that are read as something else by now.
#[test]
fn features_of_a_model_are_what_they_were() {
    use rankwise::io::{read_items_for, read_pairs_for, score_items};
    let names = ["ID", "Label", "QID", "Unnamed: 0", "x"].map(String::from);
    let features = Features::dense(5, (0..20).map(|k| f64::from(k * k % 7)).collect(), Precision::F64).unwrap();
    let known = rankwise::data::Items::new(features, Some(names.to_vec()), None).unwrap();
    let ranking = rankwise::data::Ranking::new(known.clone(), vec![0.0, 1.0, 2.0, 0.0], None).unwrap();
    let scorer = rankwise::RankSvm::new().fit(&ranking).unwrap().model.scorer;
    let rows = (0..4).map(|row| {
        let mut values = [0.0; 5];
        known.features.copy_row(row, &mut values);
        format!("{},{},{},{},{},{row}\n", values[3], values[0], values[1], values[2], values[4])
    });
    let text = "Unnamed: 0,ID,Label,QID,x,label\n".to_string() + &rows.collect::<String>();
    let folder = Files::new();
    let source = folder.write("items.csv", &text);
    let (table, scores) = score_items(&source, &Columns::default(), &[&scorer]).unwrap();
    assert_eq!(scores[0].as_ref().unwrap(), &scorer.scores(&known).unwrap());
    assert_eq!((table.labels, table.notes), (Some(vec![0.0, 1.0, 2.0, 3.0]), Vec::<String>::new()));
    let table = read_items_for(&source, &Columns::default(), &scorer).unwrap();
    assert_eq!(table.items.features.n_cols(), 5);
    let pairs = folder.write("pairs.csv", "left,right,outcome\na,b,left\n");
    let rated = folder.write("rated.csv", "Unnamed: 0,ID,Label,QID,x,id\n1,2,3,4,5,a\n2,3,4,5,6,b\n");
    let table = read_pairs_for(&files(pairs, Some(rated), Columns::default()), &scorer).unwrap();
    assert_eq!(feature_names(&table), ["Unnamed: 0", "ID", "Label", "QID", "x"]);
    // Who reads without the model is told where its features went.
    let table = items(&text).unwrap();
    says(scorer.scores(&table.items), &["features are missing", "a column ID of a table is read as its ids", "--id"]);
    // Columns that the model does not know, and that may be groups, are told.
    let source = folder.write("more.csv", text.replace('\n', ",1\n").replacen(",1\n", ",group\n", 1));
    let table = read_items_for(&source, &Columns::default(), &scorer).unwrap();
    assert!(table.notes.len() == 1 && table.notes[0].contains("the column group is not used"), "{:?}", table.notes);
}
