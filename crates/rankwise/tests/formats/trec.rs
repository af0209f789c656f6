//! Judgments and runs of search engines: what is read, how it is joined, what is refused, what is written.

use std::path::{Path, PathBuf};

use rankwise::data::Groups;
use rankwise::io::{Queries, read_qrels, read_run, write_run};
use rankwise::metrics::{ItemMetric, Ranked};

fn file(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn a_run_is_joined_with_its_judgments() {
    let directory = tempfile::tempdir().unwrap();
    let qrels = file(directory.path(), "qrels", "\u{feff}b 0 d1 2\r\nb 0 d2 0\r\n\r\na\t0\td9  -1\nlost 0 d1 1");
    let run =
        file(directory.path(), "run", "a Q0 d5 7 1.5 tag\nb Q0 d2 1 -2e0 tag\nc Q0 d1 1 1 tag\nb Q0 d7 2 3 tag\n");
    let (qrels, run) = (read_qrels(&qrels).unwrap(), read_run(&run).unwrap());
    let joined = run.judged(&qrels, Queries::InBoth).unwrap();
    let none = f64::NEG_INFINITY;
    assert_eq!(joined.ids, ["d2", "d7", "d1", "d5", "d9"]);
    assert_eq!(joined.labels, [0.0, 0.0, 2.0, 0.0, -1.0]);
    assert_eq!(joined.scores, [-2.0, 3.0, none, 1.5, none]);
    assert_eq!(joined.groups.numbers(), [0, 0, 0, 1, 1]);
    assert_eq!((joined.groups.name(0), joined.groups.name(1), joined.groups.len()), ("b", "a", 2));
    assert_eq!((joined.queries_without_judgments, joined.queries_without_run), (vec!["c".into()], vec!["lost".into()]));
    let all = run.judged(&qrels, Queries::Judged).unwrap();
    assert_eq!((all.groups.len(), all.groups.name(2), all.scores[5]), (3, "lost", none));
    // A query without a run counts 0.
    let value = |joined: &rankwise::io::JudgedRun| {
        let ranked = Ranked::new(&joined.labels, &joined.scores, &joined.groups).unwrap();
        ItemMetric::parse("mrr:trec").unwrap().of(&ranked.with_ids(&joined.ids).unwrap()).unwrap()
    };
    assert_eq!((value(&all).value, value(&all).n_groups), (Some(0.0), 3));
}

#[test]
fn faults_name_line_and_column() {
    let directory = tempfile::tempdir().unwrap();
    for (content, expected) in [
        ("q 0 d1 1\nq 0 d2\n", "qrels, line 2: 3 columns, expected the 4 columns `qid iteration document label`"),
        ("q 0 d1 1 extra\n", "line 1: 5 columns"),
        ("q 0 d1 high\n", "line 1, column 4 (label): `high`, expected a finite number"),
        ("q 0 d1 inf\n", "column 4 (label): `inf`"),
        ("q 0 d1 1\n\nr 0 d1 1\nq 1 d1 0\n", "line 4, column 3 (document): document `d1` of query `q` is in line 1"),
        ("\n \n", "qrels: no documents"),
        ("", "no documents"),
    ] {
        let error = read_qrels(&file(directory.path(), "qrels", content)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    for (content, expected) in [
        ("q 0 d1 1\n", "4 columns, expected the 6 columns `qid Q0 document rank score tag`"),
        ("q Q0 d1 1 NaN tag\n", "line 1, column 5 (score): `NaN`"),
        ("q Q0 d1 1 -inf tag\n", "column 5 (score)"),
    ] {
        let error = read_run(&file(directory.path(), "run", content)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = read_run(&file(directory.path(), "run", b"q Q0 \xff 1 1 tag\n")).unwrap_err().to_string();
    assert!(error.contains("line 1: the line is not UTF-8"), "{error}");
    for (content, expected) in
        [(&b"q Q0 d1 1 1 t\nq Q0 d\x002 2 1 t\n"[..], "line 2: a NUL byte"), (b"\0\0\0", "line 1: a NUL")]
    {
        let error = read_run(&file(directory.path(), "run", content)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = read_qrels(&file(directory.path(), "qrels", b"q 0 d\0 1\n")).unwrap_err().to_string();
    assert!(error.contains("qrels, line 1: a NUL byte"), "{error}");
    let error = read_qrels(&file(directory.path(), "qrels", b"q 0 d 1\nq 0 \xff 1\n")).unwrap_err().to_string();
    assert!(error.contains("qrels, line 2: the line is not UTF-8"), "{error}");
    let error = read_run(Path::new("/no/such/run")).unwrap_err().to_string();
    assert!(error.contains("/no/such/run: cannot open"), "{error}");
    let qrels = read_qrels(&file(directory.path(), "qrels", "1 0 d1 1\n")).unwrap();
    let run = read_run(&file(directory.path(), "run", "q1 Q0 d1 1 1 tag\n")).unwrap();
    for queries in [Queries::InBoth, Queries::Judged] {
        let error = run.judged(&qrels, queries).unwrap_err().to_string();
        assert!(error.contains("none of the 1 judged queries"), "{error}");
    }
}

#[test]
fn a_written_run_reads_back() {
    let groups = Groups::from_ids(["b", "a", "b", "b", "a", "b"]);
    let scores = [0.1 + 0.2, 1.0, -1e-300, 0.0, 2.0, -0.0];
    let ids: Vec<String> = ["u", "v", "w", "x", "y", "z"].map(String::from).to_vec();
    let mut written = Vec::new();
    write_run(&mut written, &groups, &scores, Some(&ids), None).unwrap();
    let text = String::from_utf8(written).unwrap();
    assert_eq!(
        text,
        "b Q0 u 1 0.30000000000000004 rankwise\nb Q0 x 2 0 rankwise\nb Q0 z 3 -0 rankwise\n\
         b Q0 w 4 -1e-300 rankwise\na Q0 y 1 2 rankwise\na Q0 v 2 1 rankwise\n"
    );
    let directory = tempfile::tempdir().unwrap();
    let run = read_run(&file(directory.path(), "run", &text)).unwrap();
    let qrels = read_qrels(&file(directory.path(), "qrels", "b 0 u 1\na 0 v 1\n")).unwrap();
    let joined = run.judged(&qrels, Queries::InBoth).unwrap();
    assert_eq!(joined.scores, [0.1 + 0.2, 0.0, -0.0, -1e-300, 2.0, 1.0]);
    let mut top = Vec::new();
    write_run(&mut top, &Groups::single(3), &[1.0, 3.0, 3.0], None, Some(2)).unwrap();
    assert_eq!(String::from_utf8(top).unwrap(), "1 Q0 2 1 3 rankwise\n1 Q0 3 2 3 rankwise\n");
}

#[test]
fn what_a_run_cannot_hold_is_refused() {
    let refused = |groups: &Groups, scores: &[f64], ids: Option<&[String]>| {
        let mut out = Vec::new();
        let error = write_run(&mut out, groups, scores, ids, None).unwrap_err().to_string();
        assert!(out.is_empty());
        error
    };
    let one = Groups::single(1);
    assert!(refused(&one, &[f64::NAN], None).contains("NaN"));
    assert!(refused(&one, &[f64::NEG_INFINITY], None).contains("finite"));
    assert!(refused(&one, &[1.0, 2.0], None).contains("1 items"));
    assert!(refused(&one, &[1.0], Some(&["a b".into()])).contains("`a b` has a blank"));
    assert!(refused(&one, &[1.0], Some(&[String::new()])).contains("no name"));
    let twice = ["a", "b", "a", "b"].map(String::from);
    let error = refused(&Groups::from_ids(["q", "r", "r", "r"]), &[1.0; 4], Some(&twice));
    assert!(error.contains("the id `b` is there twice in group `r`") && error.contains("ids that differ"), "{error}");
    write_run(&mut Vec::new(), &Groups::from_ids(["q", "q", "r", "r"]), &[1.0; 4], Some(&twice), None).unwrap();
    assert!(refused(&Groups::from_ids(["two words"]), &[1.0], None).contains("`two words`"));
}
