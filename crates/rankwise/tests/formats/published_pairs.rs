//! Published data sets of compared pairs: rankings of translations, battles of models, responses to images.

use std::path::Path;

use rankwise::data::Outcome;
use rankwise::io::published::*;
use rankwise::io::{Columns, read_pairs};

use super::published::real;
use super::published_files::{Log, write_battles, write_jpeg_ai, write_sushi, write_wmt};
use super::{Files, feature_names, files, says, side_features};

fn read(read: ReadPairs, name: &str, text: &str) -> rankwise::Result<PublishedPairs> {
    let folder = Files::new();
    std::fs::write(folder.path(name), text).unwrap();
    read(&folder.path(name))
}

fn names<'a>(pairs: &'a PublishedPairs, grouping: &str) -> Vec<&'a str> {
    let grouping = pairs.groupings.iter().find(|known| known.name == grouping).unwrap();
    grouping.numbers.iter().map(|&number| grouping.names[number as usize].as_str()).collect()
}

fn sides(pairs: &PublishedPairs) -> Vec<[&str; 2]> {
    let set = &pairs.comparisons.set;
    let ids = set.items.ids.as_ref().unwrap();
    set.pairs.iter().map(|pair| [pair.left, pair.right].map(|item| ids[item as usize].as_str())).collect()
}

const WMT: &str = "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID\n";

#[test]
fn wmt_lower_ranks_are_better() {
    let text = format!("{WMT}deu,eng,5,5,j1,a,3,b,4,1\ndeu,eng,5,5,j2,a,3,c,2,1\nfin,eng,5,5,j1,b,1,c,1,2\n");
    let mut found = read(read_wmt, "w.csv", &text).unwrap();
    assert_eq!(found.comparisons.outcomes, [Outcome::Left, Outcome::Right, Outcome::Tie]);
    assert_eq!(sides(&found), [["a", "b"], ["a", "c"], ["b", "c"]]);
    assert_eq!(found.comparisons.groups, Some(vec![0, 0, 1]));
    assert_eq!(names(&found, "segment"), ["deu-eng:5", "deu-eng:5", "fin-eng:5"]);
    assert_eq!(names(&found, "judge"), ["j1", "j2", "j1"]);
    assert!(found.comparisons.set.items.are_indicators && found.warnings().is_empty());
    found.group_by("judge").unwrap();
    assert_eq!(found.comparisons.groups, Some(vec![0, 1, 0]));
    says(found.group_by("moon"), &["\"moon\"", "segment, judge, language"]);
    // Systems that translated alike.
    let found =
        read(read_wmt, "w.csv", &format!("{WMT}deu,eng,5,5,j1,a+b,3,c,4,1\ndeu,eng,6,6,j1,b,3,d,3,1\n")).unwrap();
    assert_eq!(found.comparisons.set.items.feature_names.as_ref().unwrap(), &["a", "b", "c", "d"]);
    assert_eq!(side_features(&found.comparisons)[0], [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
    assert_eq!(sides(&found), [["a+b", "c"], ["b", "d"]]);
    // Three systems a row, one of them without a rank.
    let five = "srclang,trglang,documentId,segmentId,judgeId,system1Id,system2Id,system3Id,system1rank,system2rank,system3rank\n\
                cze,eng,d,7,j,x,y,z,1,-1,2\n";
    let found = read(read_wmt, "w.csv", five).unwrap();
    assert_eq!((sides(&found), &found.comparisons.outcomes[..]), (vec![["x", "z"]], &[Outcome::Left][..]));
    assert_eq!(found.warnings(), ["left out 1 systems without a rank"]);
}

#[test]
fn what_is_wrong_with_wmt_files_is_said() {
    let wmt = |text: &str| read(read_wmt, "w.csv", text);
    says(
        wmt("srclang,trglang,segmentId,judgeID,system1Id,system1rank\nx,y,1,j,a,1\n"),
        &["line 1", "no column system2Id"],
    );
    says(wmt(&WMT.replace("judgeID", "who")), &["line 1", "no column judgeId", "columns: srclang"]);
    says(wmt(&format!("{WMT}deu,eng,5,5,j1,a,x,b,4,1\n")), &["line 2, column 7 (system1rank)", "\"x\""]);
    says(wmt(&format!("{WMT}deu,eng,5,5,j1,,3,b,4,1\n")), &["line 2, column 6 (system1Id)", "empty"]);
    says(wmt(&format!("{WMT}deu,eng,5,5,j1,a,-1,b,4,1\n")), &["no row ranks two systems"]);
    says(wmt("<?xml version=\"1.0\"?>\n"), &["w.csv", "XML", ".csv"]);
    says(read_wmt(Path::new("/nowhere/w.csv")), &["/nowhere/w.csv", "no such file", "statmt"]);
}

#[test]
fn battles_are_the_same_in_every_form() {
    let folder = Files::new();
    let read = |log, name: &str| {
        write_battles(&folder.path(name), log, 5, 60, 4);
        read_battles(&folder.path(name)).unwrap()
    };
    let array = read(Log::JsonArray, "a.json");
    for other in [read(Log::JsonLines, "b.jsonl"), read(Log::Table, "c.csv")] {
        assert_eq!((sides(&array), &array.comparisons.outcomes), (sides(&other), &other.comparisons.outcomes));
        assert_eq!((names(&array, "judge"), &array.times), (names(&other, "judge"), &other.times));
        let turns = |pairs: &PublishedPairs| pairs.comparisons.set.context.as_ref().unwrap().features.to_dense();
        assert_eq!(turns(&array), turns(&other));
        assert_eq!(turns(&other)[..3], [1.0, 2.0, 1.0]);
    }
    assert_eq!(names(&array, "question")[..2], ["q0", "q1"]);
    let llmfao = read(Log::Sides, "d.csv");
    assert_eq!((sides(&array), &array.comparisons.outcomes), (sides(&llmfao), &llmfao.comparisons.outcomes));
    assert_eq!(llmfao.groupings.iter().map(|grouping| grouping.name).collect::<Vec<_>>(), ["judge", "question"]);
    assert!(llmfao.times.is_none() && llmfao.comparisons.set.context.is_none());
    for outcome in Outcome::ALL {
        assert!(array.comparisons.outcomes.contains(&outcome));
    }
}

#[test]
fn what_is_wrong_with_battles_is_said() {
    let one = r#"{"model_a": "x", "model_b": "y", "winner": "both_bad", "judge": null}"#;
    let found = read(read_battles, "b.json", one).unwrap();
    assert_eq!(found.comparisons.outcomes, [Outcome::Tie]);
    assert!(found.groupings.is_empty() && found.comparisons.groups.is_none());
    let marked = read(read_battles, "b.json", &format!("\u{feff} [{one}]")).unwrap();
    assert_eq!(marked.comparisons.outcomes, [Outcome::Tie]);
    let battles = |name: &str, text: &str| read(read_battles, name, text);
    says(
        battles("b.jsonl", &format!("{one}\n{{\"model_a\": \"x\", \"winner\": \"tie\"}}")),
        &["line 2", "no model_b, nor right"],
    );
    says(battles("b.jsonl", &format!("{one}\n{}", one.replace("both_bad", "me"))), &["line 2", "\"me\"", "model_a"]);
    says(battles("b.json", &format!("[{one},{}]", one.replace("both_bad", "me"))), &["b.json, battle 2", "\"me\""]);
    says(battles("b.json", &format!("[{one},")), &["b.json", "JSON"]);
    says(battles("b.json", &format!("[{one}] 7")), &["b.json", "JSON"]);
    says(battles("b.json", "[]"), &["no battles"]);
    says(battles("b.jsonl", &format!("{one}\n{{")), &["line 2", "JSON"]);
    says(battles("b.csv", "model_a,model_b\nx,y\n"), &["line 1", "no column winner, nor outcome"]);
    says(battles("b.csv", "model_a,model_b,winner\nx,,tie\n"), &["line 2", "no model_b"]);
    says(read_battles(Path::new("/nowhere/b.json")), &["/nowhere/b.json", "no such file", "https://"]);
}

#[test]
fn jpeg_responses_name_the_worse_image() {
    let folder = Files::new();
    write_jpeg_ai(&folder.path("j.csv"), 200, 6);
    let found = read_jpeg_ai(&folder.path("j.csv")).unwrap();
    let text = std::fs::read_to_string(folder.path("j.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let kept: Vec<&Vec<&str>> = rows.iter().filter(|row| row[18] == "0" && row[20] != "skip").collect();
    let n_traps = rows.iter().filter(|row| row[18] == "1").count();
    assert_eq!(found.comparisons.n_pairs(), kept.len());
    assert_eq!(found.warnings()[0], format!("left out {n_traps} trap questions"));
    assert_eq!(found.warnings()[1], format!("left out {} skipped questions", rows.len() - kept.len() - n_traps));
    let values = side_features(&found.comparisons);
    assert_eq!(
        found.comparisons.set.items.feature_names.as_ref().unwrap(),
        &["codec=0", "codec=1", "codec=2", "level"]
    );
    for (k, row) in kept.iter().enumerate() {
        let expected = match row[20] {
            "left" => Outcome::Right,
            "right" => Outcome::Left,
            _ => Outcome::Tie,
        };
        assert_eq!((found.comparisons.outcomes[k], sides(&found)[k]), (expected, [row[12], row[13]]));
        assert_eq!((names(&found, "image")[k], names(&found, "worker")[k]), (row[5], row[1]));
        for side in [0, 1] {
            let codec: usize = row[6 + side].parse().unwrap();
            let mut features = [0.0; 4];
            features[codec] = 1.0;
            features[3] = row[9 + side].parse().unwrap();
            assert_eq!(values[k][side], features);
        }
    }
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from));
        read(read_jpeg_ai, "j.csv", &text.replacen(from, to, 1))
    };
    says(changed("response,", "answer,"), &["line 1", "no column response"]);
    says(changed("notsure", "maybe"), &["(response)", "\"maybe\"", "notsure"]);
    says(changed(",BTC,1,1,1,", ",BTC,1,1,1,x"), &["line 2, column 7 (codec_left)", "codec"]);
    let head = text.lines().next().unwrap();
    says(
        read(read_jpeg_ai, "j.csv", &format!("{head}\n{}", text.lines().nth(10).unwrap())),
        &["nothing is left: 1 trap"],
    );
    says(read_jpeg_ai(Path::new("/nowhere/j.csv")), &["/nowhere/j.csv", "no such file", "github.com/jpeg-aic"]);
}

/// What is written reads back as the same pairs.
#[test]
fn tables_of_pairs_read_back() {
    let folder = Files::new();
    write_sushi(&folder.path(""), 8, 12, 2);
    write_wmt(&folder.path("w.csv"), 4, 6, 2);
    write_battles(&folder.path("b.json"), Log::JsonArray, 4, 30, 2);
    write_jpeg_ai(&folder.path("j.csv"), 60, 2);
    for (word, read) in PAIR_SOURCES {
        let input = match *word {
            "sushi" => "",
            "wmt" => "w.csv",
            "arena" => "b.json",
            "jpeg-ai" => "j.csv",
            _ => continue,
        };
        let found = read(&folder.path(input)).unwrap();
        for name in ["out.csv", "out.tsv"] {
            let target = folder.path(name);
            found.write(&target, None).unwrap();
            let source = rankwise::io::Source::parse(target.to_str().unwrap(), None).unwrap();
            let table = read_pairs(&files(source, None, Columns::default())).unwrap();
            if let Some(names) = &found.comparisons.set.items.feature_names {
                assert_eq!(feature_names(&table), names.iter().map(String::as_str).collect::<Vec<_>>(), "{word}");
            }
            let context =
                |set: &rankwise::data::PairSet| set.context.as_ref().map(|c| (c.names.clone(), c.features.to_dense()));
            assert_eq!(context(&table.set), context(&found.comparisons.set));
            let again = table.into_comparisons().unwrap();
            assert_eq!(again.outcomes, found.comparisons.outcomes);
            assert_eq!(again.groups, found.comparisons.groups);
            assert_eq!(side_features(&again), side_features(&found.comparisons));
        }
        says(found.write(&folder.path("out.svm"), None), &["out.svm", "tables", ".csv"]);
    }
}

#[test]
fn real_rankings_of_translations_have_their_ties() {
    let Some(folder) = real("wmt15") else { return };
    let known = [
        ("deu-eng", 19_468, 1_652),
        ("eng-deu", 29_752, 3_384),
        ("eng-fin", 24_399, 3_228),
        ("eng-fre", 22_858, 4_824),
        ("fin-eng", 17_309, 2_333),
        ("fre-eng", 19_375, 2_864),
        ("rus-eng", 23_614, 4_599),
    ];
    for (languages, n_pairs, n_ties) in known {
        let found = read_wmt(&folder.join(format!("wmt15.collapsed.{languages}.csv.xz"))).unwrap();
        assert_eq!((found.comparisons.n_pairs(), found.comparisons.n_ties()), (n_pairs, n_ties), "{languages}");
        assert!(found.left_out.is_empty());
        assert!(languages != "deu-eng" || found.comparisons.set.items.features.n_cols() == 13);
    }
}

#[test]
fn real_battles_have_their_ties() {
    let Some(folder) = real("llmfao") else { return };
    for (judge, n_pairs, n_ties) in [("crowd", 8_931, 3_471), ("gpt4", 3_236, 139), ("gpt3", 3_236, 313)] {
        let found = read_battles(&folder.join(format!("{judge}-comparisons.csv"))).unwrap();
        assert_eq!((found.comparisons.n_pairs(), found.comparisons.n_ties()), (n_pairs, n_ties), "{judge}");
        assert!(judge != "crowd" || found.comparisons.set.items.n_items() == 59);
    }
}

#[test]
fn real_responses_to_images_have_their_ties() {
    let Some(folder) = real("jpeg_ai_sdr25") else { return };
    // Rows, traps, then of the others: skipped, not sure, left, right.
    for (kind, n_rows, traps, skipped, unsure, left, right) in
        [("BTC", 85_200, 6_000, 222, 18_193, 29_371, 31_414), ("PTC", 10_290, 980, 90, 1_937, 3_390, 3_893)]
    {
        let name = format!("JPEG_AIC_SDR_{kind}_JPEG_AI_responses_2025.02.28_v1.csv.xz");
        let found = read_jpeg_ai(&folder.join(name)).unwrap();
        let count = |outcome| found.comparisons.outcomes.iter().filter(|&&known| known == outcome).count();
        assert_eq!(found.comparisons.n_pairs(), n_rows - traps - skipped);
        assert_eq!([Outcome::Tie, Outcome::Right, Outcome::Left].map(count), [unsure, left, right]);
        assert_eq!(found.left_out.iter().map(|rows| rows.n_rows).collect::<Vec<_>>(), [traps, skipped]);
    }
}
