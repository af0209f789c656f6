//! Tables of items to be ranked: labels, groups and weights.

use rankwise::io::{Columns, read_items, read_ranking};

use super::*;

const TABLE: &str = "id,label,qid,weight,group_weight,margin,x,y\n\
                     a,1,q 1,1,2,9,0.5,1\n\
                     b,0,q2,0,0.5,9,1.5,2\n\
                     c,-1e300,q 1,0.25,2,9,2.5,3\n";

#[test]
fn every_column_has_its_meaning() {
    let table = items(TABLE).unwrap();
    assert_eq!(table.items.feature_names.as_deref(), Some(&["x".to_string(), "y".to_string()][..]));
    assert_eq!(table.items.features.to_dense(), [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]);
    let groups = table.groups.as_ref().unwrap();
    assert_eq!((groups.numbers(), groups.name(0), groups.name(1)), (&[0, 1, 0][..], "q 1", "q2"));
    let ranking = table.into_ranking().unwrap();
    assert_eq!(ranking.labels, [1.0, 0.0, -1e300]);
    assert_eq!(ranking.weights, Some(vec![1.0, 0.0, 0.25]));
    assert_eq!(ranking.group_weights, Some(vec![2.0, 0.5]));
    assert_eq!(ranking.items.ids.unwrap(), ["a", "b", "c"]);
}

#[test]
fn reserved_columns_that_nothing_reads_are_told() {
    assert_eq!(items(TABLE).unwrap().unused_columns, ["margin"]);
    assert!(items("label,margin,x\n1,wide,1\n").unwrap().labels.is_some());
    assert!(items_with(TABLE, dropping(&["margin"])).unwrap().unused_columns.is_empty());
    let columns = |label: &str| Columns { label: Some(label.into()), ..Columns::default() };
    assert!(items_with("label,x\n1,1\n", columns("label")).unwrap().unused_columns.is_empty());
    let table = items_with("label,margin,x\n1,2,1\n", columns("margin")).unwrap();
    assert_eq!((table.labels, table.unused_columns), (Some(vec![2.0]), vec!["label".to_string()]));
}

#[test]
fn columns_may_have_other_names() {
    let content = "grade\tquery\timportance\tx\n1\ta\t2\t7\n0\tb\t3\t8\n";
    let columns = Columns {
        label: Some("grade".into()),
        group: Some("query".into()),
        weight: Some("importance".into()),
        ..Columns::default()
    };
    let source = Files::new();
    let ranking = read_ranking(&source.write("items.tsv", content), &columns, Precision::Auto).unwrap();
    assert_eq!((ranking.labels, ranking.groups.len()), (vec![1.0, 0.0], 2));
    assert_eq!(ranking.weights, Some(vec![2.0, 3.0]));
    assert_eq!(ranking.items.features.n_cols(), 1);
}

#[test]
fn labels_alone_make_one_group() {
    let ranking = items("label,x\n1,1\n2,2\n").unwrap().into_ranking().unwrap();
    assert_eq!(ranking.groups.numbers(), [0, 0]);
    assert!(ranking.weights.is_none() && ranking.group_weights.is_none());
    let weighted = items("label,group_weight,x\n1,3,1\n2,3,2\n").unwrap().into_ranking().unwrap();
    assert_eq!(weighted.group_weights, Some(vec![3.0]));
    let one = items("label,qid,x\n1,alone,1\n").unwrap().into_ranking().unwrap();
    assert_eq!((one.n_items(), one.groups.len()), (1, 1));
}

#[test]
fn without_labels_there_is_nothing_to_rank_by() {
    let table = items("qid,x\na,1\na,2\n").unwrap();
    assert!(table.labels.is_none());
    says(table.into_ranking(), &["items.csv", "no column label", "--label COL"]);
}

#[test]
fn what_is_wrong_has_a_place() {
    let cases: [(&str, &[&str]); 6] = [
        ("label,x\nhigh,1\n", &["line 2, column 1 (label)", "\"high\"", "expected a number"]),
        ("label,x\nnan,1\n", &["line 2, column 1 (label)", "finite number"]),
        ("label,qid,x\n1,,1\n", &["line 2, column 2 (qid)", "an empty cell"]),
        ("label,weight,x\n1,1,1\n1,-0.5,1\n", &["line 3, column 2 (weight)", "-0.5 is negative"]),
        ("label,group_weight,x\n1,-1,1\n", &["line 2, column 2 (group_weight)", "negative"]),
        (
            "label,qid,group_weight,x\n1,a,1,1\n1,b,2,1\n\n1,a,3,1\n",
            &["line 5, column 3 (group_weight)", "the group's weight is 3 here and 1 in line 2"],
        ),
    ];
    for (content, parts) in cases {
        says(items(content), parts);
    }
}

#[test]
fn ids_alone_still_are_indicators() {
    let table = items("id,label,qid\na,1,q\nb,2,q\n").unwrap();
    assert!(table.items.are_indicators);
    assert_eq!(table.into_ranking().unwrap().labels, [1.0, 2.0]);
}

#[test]
fn items_of_pairs_read_over_labels_and_weights() {
    let pairs = "left,right,outcome\na,b,left\n";
    let items = "id,label,qid,weight,group_weight,x\na,?,,-1,many,1\nb,?,,-1,many,2\n";
    let table = pairs_and_items(pairs, items, Columns::default()).unwrap();
    assert_eq!(feature_names(&table), ["x"]);
}

#[test]
fn a_dropped_column_has_no_meaning() {
    let table = items_with(TABLE, dropping(&["qid", "weight", "group_weight", "label"])).unwrap();
    assert!(table.labels.is_none() && table.groups.is_none() && table.weights.is_none());
    assert!(table.group_weights.is_none());
    let folder = Files::new();
    let source = folder.write("items.csv", TABLE);
    assert_eq!(read_items(&source, &dropping(&["x"]), Precision::F64).unwrap().items.features.n_cols(), 1);
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_name() {
    let table = items("\u{feff}label, \u{feff}x\n1,2\n").unwrap();
    assert_eq!((table.labels, table.items.feature_names), (Some(vec![1.0]), Some(vec!["x".to_string()])));
    says(items(" \u{feff}\n1\n"), &["line 1, column 1", "without a name"]);
}

/// What is a feature in one file is one in the next.
#[test]
fn converting_keeps_features_whose_names_mean_something() {
    use rankwise::io::{Conversion, Converted, Source, convert};
    let folder = Files::new();
    let to = |source: &Source, columns: &Columns, name: &str| -> (Source, Converted) {
        let told = convert(source, columns, &folder.path(name), &Conversion::default()).unwrap();
        (Source::parse(folder.path(name).to_str().unwrap(), None).unwrap(), told)
    };
    let usual = Columns::default();
    let source = folder.write("a.csv", "ID,QID,name,query,grade,Label\n1,2,a,q,1,8\n3,4,b,q,2,9\n");
    let columns = Columns {
        id: Some("name".into()),
        group: Some("query".into()),
        label: Some("grade".into()),
        ..Columns::default()
    };
    // The names of columns that are there are not taken for features.
    let (blocks, told) = to(&source, &columns, "a.rwb");
    assert_eq!(told.features, 3);
    let (table, _) = to(&blocks, &usual, "b.csv");
    let names = |source: &Source| read_items(source, &Columns::default(), Precision::F64).unwrap().items.feature_names;
    assert_eq!(names(&table).unwrap(), ["ID", "QID", "Label"]);
    // Without them a feature would be taken for one.
    let source = folder.write("c.csv", "id,ID,qid,QID,label,Label,ID_,x\na,1,q,2,0,3,4,5\n");
    let columns = dropping(&["id", "qid", "label"]);
    let (blocks, told) = to(&source, &columns, "c.rwb");
    assert!(!told.warnings.iter().any(|warning| warning.contains("is called")), "{told:?}");
    for (source, columns) in [(&blocks, &usual), (&source, &columns)] {
        let (table, told) = to(source, columns, "d.csv");
        assert_eq!(names(&table).unwrap(), ["ID__", "QID_", "Label_", "ID_", "x"]);
        let called: Vec<&String> = told.warnings.iter().filter(|warning| warning.contains("is called")).collect();
        assert!(called.len() == 3 && called[0].contains("the feature ID is called ID__"), "{told:?}");
    }
}
