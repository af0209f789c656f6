//! Items that come part by part: the same groups, and nearly the same model as from the whole.

use std::fmt::Write as _;
use std::time::Duration;

use rankwise::data::{Precision, Ranking, Scale};
use rankwise::estimator::Effort;
use rankwise::io::{Columns, ItemStream, Source, StreamOptions, model_to_bytes, read_ranking};
use rankwise::model::{Balance, Model, Task};
use rankwise::{Error, OnlineSvm, Result, Unwatched};

use super::online::{drawn, exact};

/// A ranking as text in both formats, groups together.
fn texts(data: &Ranking) -> [(&'static str, String); 2] {
    let n_cols = data.items.features.n_cols();
    let (mut lines, mut table) = (String::from("# a comment\n\n"), String::from("qid,label,weight"));
    (0..n_cols).for_each(|k| write!(table, ",f{k}").unwrap());
    table.push('\n');
    for (group, members) in data.groups.members().iter().enumerate() {
        for &item in members {
            let (label, weight) = (data.labels[item as usize], data.weight(item as usize));
            write!(lines, "{label} qid:{group} cost:{weight}").unwrap();
            write!(table, "{group},{label},{weight}").unwrap();
            let mut row = vec![0.0; n_cols];
            data.items.features.copy_row(item as usize, &mut row);
            for (k, value) in row.iter().enumerate() {
                write!(table, ",{value}").unwrap();
                if *value != 0.0 {
                    write!(lines, " {}:{value}", k + 1).unwrap();
                }
            }
            lines.push('\n');
            table.push('\n');
        }
    }
    [("svm", lines), ("csv", table)]
}

fn parts(source: &Source, part_bytes: usize, by_group: bool) -> Result<Vec<Ranking>> {
    let mut options = StreamOptions::new(Columns::default());
    (options.part_bytes, options.by_group) = (part_bytes, by_group);
    let mut stream = ItemStream::open(source, &options)?;
    let mut parts = Vec::new();
    while let Some(part) = stream.next_part()? {
        parts.push(part);
    }
    Ok(parts)
}

fn streamed(svm: &OnlineSvm, parts: &[Ranking]) -> Model {
    let mut run = svm.stream(None).unwrap();
    parts.iter().for_each(|part| run.survey(part).unwrap());
    run.end_survey().unwrap();
    for _ in 0..svm.epochs.unwrap_or(1) {
        parts.iter().for_each(|part| assert!(run.learn(part, &Unwatched).unwrap()));
    }
    parts.iter().for_each(|part| run.measure(part).unwrap());
    run.finish(Vec::new()).unwrap()
}

#[test]
fn parts_are_whole_groups_and_together_the_file() {
    let data = drawn(3, false, true);
    let folder = tempfile::tempdir().unwrap();
    for (extension, text) in texts(&data) {
        let path = folder.path().join(format!("items.{extension}"));
        std::fs::write(&path, text).unwrap();
        let source = Source::parse(path.to_str().unwrap(), None).unwrap();
        let whole = read_ranking(&source, &Columns::default(), Precision::F64).unwrap();
        for part_bytes in [1, 700, 5000, 1 << 20] {
            let parts = parts(&source, part_bytes, true).unwrap();
            assert_eq!(parts.len() > 1, part_bytes < 1 << 20, "{extension} {part_bytes}");
            let mut at = 0;
            for part in &parts {
                for item in 0..part.n_items() {
                    assert_eq!(part.labels[item], whole.labels[at]);
                    assert_eq!(part.weight(item), whole.weight(at));
                    let name = |data: &Ranking, item: usize| {
                        data.groups.name(data.groups.numbers()[item] as usize).to_string()
                    };
                    assert_eq!(name(part, item), name(&whole, at));
                    let (mut a, mut b) = (vec![0.0; 6], vec![0.0; 6]);
                    part.items.features.copy_row(item, &mut a[..part.items.features.n_cols()]);
                    whole.items.features.copy_row(at, &mut b);
                    assert_eq!(a, b);
                    at += 1;
                }
            }
            assert_eq!(at, whole.n_items());
            // Every group is in one part.
            assert_eq!(parts.iter().map(|part| part.groups.len()).sum::<usize>(), whole.groups.len());
        }
        let anywhere = self::parts(&source, 300, false).unwrap();
        assert_eq!(anywhere.iter().map(Ranking::n_items).sum::<usize>(), whole.n_items());
    }
}

#[test]
fn a_stream_learns_what_the_whole_teaches() {
    let data = drawn(9, false, true);
    let folder = tempfile::tempdir().unwrap();
    let best = exact(&data, 0.02, Balance::None).training.objective;
    for (extension, text) in texts(&data) {
        let path = folder.path().join(format!("items.{extension}"));
        std::fs::write(&path, text).unwrap();
        let source = Source::parse(path.to_str().unwrap(), None).unwrap();
        let svm = OnlineSvm::new().c(0.02).epochs(Some(1000)).certify(true);
        let parts = parts(&source, 1500, true).unwrap();
        assert!(parts.len() > 3);
        let model = streamed(&svm, &parts);
        let whole = svm.fit(&data).unwrap().model;
        for training in [&model.training, &whole.training] {
            assert!(training.objective < 1.02 * best, "{extension}: {} {best}", training.objective);
            assert!(training.objective - best <= training.gap * training.objective + 1e-5);
        }
        let counts = |m: &Model| (m.training.items, m.training.groups, m.training.pairs, m.training.iterations);
        assert_eq!(counts(&model), counts(&whole), "{extension}");
        assert_eq!(model_to_bytes(&model).unwrap(), model_to_bytes(&streamed(&svm, &parts)).unwrap());
        // Steps as many as were asked for, whatever the parts.
        let few = streamed(&OnlineSvm::new().c(0.02).steps(Some(777)), &parts);
        assert_eq!(few.training.iterations, 777);
        // Scaling is that of the whole.
        let scaled = OnlineSvm::new().c(0.02).scale(Scale::Standard).epochs(Some(100));
        let (a, b) =
            (streamed(&scaled, &parts).scorer.scaler.unwrap(), scaled.fit(&data).unwrap().model.scorer.scaler.unwrap());
        a.divisor.iter().zip(&b.divisor).for_each(|(a, b)| assert!((a - b).abs() < 1e-6 * b, "{a} {b}"));
    }
}

#[test]
fn what_comes_once_is_learnt_from_once() {
    let parts: Vec<Ranking> = (0..60).map(|seed| drawn(100 + seed % 5, false, false)).collect();
    let svm = OnlineSvm::new().c(0.001);
    let mut run = svm.stream(None).unwrap();
    parts.iter().for_each(|part| assert!(run.learn(part, &Unwatched).unwrap()));
    let model = run.finish(Vec::new()).unwrap();
    assert_eq!((model.training.known_objective(), model.training.known_gap()), (None, None));
    assert_eq!(model.training.items, 60 * 180);
    assert_eq!(model.training.iterations, 60 * 180);
    assert!(!model.training.certificate.contains("--certify"), "it is refused for what comes once");
    for epochs in 1..8 {
        let passes = streamed(&svm.clone().epochs(Some(epochs)), &parts[..7]);
        assert_eq!(passes.training.iterations, epochs * 7 * 180);
    }
    let mut greedy = OnlineSvm::new().c(1e6).stream(None).unwrap();
    parts.iter().for_each(|part| assert!(greedy.learn(part, &Unwatched).unwrap()));
    let warnings = greedy.finish(Vec::new()).unwrap().training.warnings.join("\n");
    assert!(warnings.contains("few steps") && !warnings.contains("--steps"), "{warnings}");
    // The same pairs with the same weight of all: twelve copies of five parts.
    let mut surveyed = svm.clone().certify(true).stream(None).unwrap();
    parts.iter().for_each(|part| surveyed.survey(part).unwrap());
    surveyed.end_survey().unwrap();
    for part in parts.iter().cycle().take(20 * parts.len()) {
        surveyed.learn(part, &Unwatched).unwrap();
    }
    parts.iter().for_each(|part| surveyed.measure(part).unwrap());
    let better = surveyed.finish(Vec::new()).unwrap();
    let objective = |model: &Model| {
        let losses: f64 = parts
            .iter()
            .map(|part| {
                let pairs = crate::oracle::rank_items::Pairs::of(part, Balance::None);
                let w = crate::oracle::rank_items::weights_of(model);
                pairs.objective(w, 0.001, rankwise::Loss::Hinge) - 0.5 * w.iter().map(|w| w * w).sum::<f64>()
            })
            .sum();
        losses + 0.5 * crate::oracle::rank_items::weights_of(model).iter().map(|w| w * w).sum::<f64>()
    };
    assert!(objective(&model) < 1.1 * objective(&better), "{} {}", objective(&model), objective(&better));
}

#[test]
fn streams_say_what_is_wrong_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let source = Source::parse(path.to_str().unwrap(), None).unwrap();
        parts(&source, 1, true).map(|parts| parts.len())
    };
    let fails = |name: &str, text: &str, words: &[&str]| {
        let error = read(name, text).unwrap_err();
        assert!(matches!(error, Error::Data { .. }), "{error}");
        words.iter().for_each(|word| assert!(error.to_string().contains(word), "no {word:?} in {error}"));
    };
    assert!(read("a.svm", "1 qid:1 1:2\n2 qid:1 1:3\n\n# c\n1 qid:2 1:1\n").is_ok());
    assert_eq!(read("a.svm", "1 cost:2 qid:1 1:2\n2 qid:1 1:3").unwrap(), 1);
    fails("a.svm", "1 qid:1 1:2\n1 qid:2 1:2\n\n3 qid:1 1:1\n", &["line 4", "group 1 comes again", "sort"]);
    fails("a.svm", "1 qid:1 1:2\n1 qid:2 1:2\n3 qid:3 1:x\n", &["line 3", "column 11"]);
    fails("a.svm", "1 qid:1 1:2\n1 qid:2 1:nan\n", &["line 2", "finite"]);
    fails("a.svm", "1 1:2\n2 1:2\n", &["no line has a qid", "--stream"]);
    fails("a.svm", "1 qid:1 1:2\n2 qid:2 1:2\n2 1:2\n", &["line 3"]);
    fails("a.svm", "\n# nothing\n", &["no items"]);
    assert_eq!(read("a.csv", "qid,label,x\n1,1,2\n1,2,3\n2,1,1\n").unwrap(), 2);
    fails("a.csv", "qid,label,x\n1,1,2\n2,2,3\n1,1,1\n", &["line 4", "group 1 comes again"]);
    fails("a.csv", "label,x\n1,2\n", &["no column qid"]);
    fails("a.csv", "qid,label,x\n1,1,2\n2,2,oops\n", &["line 3", "oops"]);
    fails("a.csv", "qid,label,id\n1,1,2\n", &["no feature columns"]);
}

#[test]
fn classes_come_in_parts_too() {
    let data = drawn(6, false, false);
    let labels: Vec<f64> = data.labels.iter().map(|&label| if label > 1.0 { 1.0 } else { 0.0 }).collect();
    let data = Ranking { labels, ..data };
    let parts: Vec<Ranking> =
        (0..6).map(|k| data.select(&(k..data.n_items()).step_by(6).collect::<Vec<usize>>())).collect();
    let svm = OnlineSvm::new().task(Task::Classify).c(0.1).epochs(Some(500)).certify(true);
    let (parts, whole) = (streamed(&svm, &parts), svm.fit(&data).unwrap().model);
    assert_eq!(parts.classes, whole.classes);
    assert!((parts.training.objective / whole.training.objective - 1.0).abs() < 0.02);
}

#[test]
fn a_huge_number_of_a_feature_is_refused_before_weights_grow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.svm");
    std::fs::write(&path, "1 qid:1 2147483647:2\n0 qid:1 1:1\n").unwrap();
    let source = Source::parse(path.to_str().unwrap(), None).unwrap();
    let parts = parts(&source, 1 << 20, true).unwrap();
    for scale in [Scale::None, Scale::Standard] {
        let svm = OnlineSvm::new().scale(scale);
        let mut surveyed = svm.stream(None).unwrap();
        let survey = surveyed.survey(&parts[0]).and_then(|()| surveyed.end_survey());
        let once = svm.clone().scale(Scale::None).stream(None).unwrap().learn(&parts[0], &Unwatched).map(|_| ());
        for refused in [survey, once] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains("2147483647, but only 2 numbers are stored"), "{error}");
        }
    }
}

#[test]
fn weights_that_never_moved_say_nothing_of_features() {
    let data = drawn(3, false, false);
    let mut effort = Effort::default();
    effort.time_limit = Some(Duration::ZERO);
    let svm = OnlineSvm::new().effort(effort);
    let mut run = svm.stream(None).unwrap();
    assert!(!run.learn(&data, &Unwatched).unwrap());
    let warnings = run.finish(Vec::new()).unwrap().training.warnings;
    assert!(warnings.iter().any(|warning| warning.contains("after 0 steps")), "{warnings:?}");
    assert!(!warnings.iter().any(|warning| warning.contains("all weights are 0")), "{warnings:?}");
}
