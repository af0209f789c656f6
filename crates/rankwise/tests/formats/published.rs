//! Data sets as their makers publish them: small ones made up here, and the real ones where `RANKWISE_DATA` names the
//! directory that has them.

use std::io::Write;
use std::path::{Path, PathBuf};

use rankwise::data::{Outcome, Precision, Ranking};
use rankwise::io::published::*;

use super::published_files::{write_arff, write_letor, write_sushi};
use super::{Files, says, side_features};

/// A folder of the real data; says so where there is none.
pub(super) fn real(folder: &str) -> Option<PathBuf> {
    let Some(data) = std::env::var_os("RANKWISE_DATA") else {
        // Straight to standard error: what a passing test prints is not shown.
        std::io::stderr().write_all(b"skipped: RANKWISE_DATA is not set\n").unwrap();
        return None;
    };
    Some(Path::new(&data).join(folder))
}

fn arff(text: &str) -> rankwise::Result<ArffTable> {
    let folder = Files::new();
    std::fs::write(folder.path("a.arff"), text).unwrap();
    read_arff(&folder.path("a.arff"))
}

fn row(ranking: &Ranking, item: usize) -> Vec<f64> {
    let mut row = vec![0.0; ranking.items.features.n_cols()];
    ranking.items.features.copy_row(item, &mut row);
    row
}

#[test]
fn arff_with_every_trap() {
    let table = arff(
        "\u{feff}% first\r\n\r\n  @Relation \"a 'b' %c\" % d\r\n@ATTRIBUTE 'x, \\'1' Numeric\r\n\
         @attribute ln(a/b)\tinteger %e\r\n@attribute k{ a , 'b,c', \"d }\", '' }\n@attribute t REAL\n%\n@data %now\n\
         1,-.5,a,3\r\n\r\n% between\n +2e1 , 2. , 'b,c' , ?\n?,3,\"d }\",1,\r\n4,4,'',2 % behind\n",
    )
    .unwrap();
    assert_eq!(table.relation, "a 'b' %c");
    let names: Vec<&str> = table.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    assert_eq!(names, ["x, '1", "ln(a/b)", "k", "t"]);
    assert_eq!(table.attributes[2].kind, ArffKind::Nominal(["a", "b,c", "d }", ""].map(String::from).to_vec()));
    use ArffValue::{Missing, Number, Word};
    let rows: Vec<&[ArffValue]> = table.rows().collect();
    assert_eq!(rows[0], [Number(1.0), Number(-0.5), Word(0), Number(3.0)]);
    assert_eq!(rows[1], [Number(20.0), Number(2.0), Word(1), Missing]);
    assert_eq!(rows[2], [Missing, Number(3.0), Word(2), Number(1.0)]);
    assert_eq!((rows[3], table.n_rows()), (&[Number(4.0), Number(4.0), Word(3), Number(2.0)][..], 4));

    let found = table.to_ranking(ArffTarget::Last, Precision::F64).unwrap();
    assert_eq!((found.n_incomplete, found.target.as_str()), (2, "t"));
    assert_eq!(found.ranking.labels, [3.0, 2.0]);
    let names = found.ranking.items.feature_names.as_ref().unwrap();
    assert_eq!(names, &["x, '1", "ln(a/b)", "k=a", "k=b,c", "k=d }", "k="]);
    assert_eq!(row(&found.ranking, 1), [4.0, 4.0, 0.0, 0.0, 0.0, 1.0]);
    assert!(!found.ranking.groups.are_given());
    let first = table.to_ranking(ArffTarget::First, Precision::F64).unwrap();
    assert_eq!((first.ranking.labels, first.n_incomplete), (vec![1.0, 4.0], 2));
    let named = table.to_ranking(ArffTarget::Named("ln(a/b)"), Precision::F64).unwrap();
    assert_eq!(named.ranking.labels, [-0.5, 4.0]);
}

#[test]
fn what_is_wrong_with_an_arff_file_is_said() {
    let head = "@relation r\n@attribute a numeric\n@attribute k {u,v}\n@attribute t numeric\n@data\n";
    let with = |row: &str| arff(&format!("{head}1,u,2\n{row}\n"));
    says(with("1,u"), &["a.arff, line 7, column 3 (t)", "2 values, expected 3", "?"]);
    says(with("1,u,2,3"), &["line 7, column 4", "too many values, expected 3"]);
    says(with("1,u,2,,"), &["line 7, column 4", "too many values"]);
    says(with("1,w,2"), &["line 7, column 2 (k)", "\"w\"", "one of u, v"]);
    says(with("x,u,2"), &["line 7, column 1 (a)", "\"x\"", "a finite number"]);
    for bad in ["NaN", "inf", "1e999"] {
        says(with(&format!("1,u,{bad}")), &["line 7, column 3 (t)", bad, "finite"]);
    }
    says(with("1,,2"), &["line 7, column 2 (k)", "an empty value", "?"]);
    says(with("{0 1, 1 u}"), &["line 7, column 1", "sparse", "dense"]);
    says(with("1,'u,2"), &["line 7, column 2", "quote"]);
    says(with("1,'u'x,2"), &["line 7, column 2", "behind the closing quote"]);
    says(with("1,u\0,2"), &["line 7", "NUL"]);
    says(arff(head), &["line 5", "no rows"]);
    says(arff("@relation r\n@attribute a numeric\n"), &["a.arff", "no line @data"]);
    says(arff("@relation r\n@data\n1\n"), &["line 2", "no @attribute"]);
    says(arff("a,b\n1,2\n"), &["line 1", "\"a,b\"", "ARFF"]);
    says(arff("@attribute a numeric\n@attribute a real\n@data\n1,2\n"), &["line 2", "\"a\"", "line 1"]);
    for kind in ["string", "DATE \"yyyy\"", "relational"] {
        says(arff(&format!("@attribute a {kind}\n@data\n")), &["line 1", "\"a\"", "take the attribute out"]);
    }
    says(arff("@attribute a\n@data\n"), &["line 1", "unknown type"]);
    says(arff("@attribute a {u,v\n@data\n"), &["line 1", "not closed"]);
    says(arff("@attribute a {}\n@data\n"), &["line 1", "empty"]);
    says(arff("@attribute a {u,u}\n@data\n"), &["line 1", "twice"]);
    says(arff("@attribute\n@data\n"), &["line 1", "without a name"]);
    says(read_arff(Path::new("/nowhere/a.arff")), &["/nowhere/a.arff", "no such file", "WEKA"]);

    let table = with("?,u,1").unwrap();
    let ranking = |target| table.to_ranking(target, Precision::F64);
    says(ranking(ArffTarget::Named("k")), &["\"k\"", "nominal"]);
    says(ranking(ArffTarget::Named("z")), &["\"z\"", "a, k, t"]);
    says(table.without(&["z".into()]), &["\"z\"", "a, k, t"]);
    says(table.without(&["a".into(), "k".into(), "t".into()]), &["no attribute is left"]);
    let without = table.without(&["a".into()]).unwrap().to_ranking(ArffTarget::Last, Precision::F64).unwrap();
    assert_eq!((without.n_incomplete, without.ranking.items.features.to_dense()), (0, vec![1.0, 0.0, 1.0, 0.0]));
    let none = arff("@attribute a numeric\n@attribute t numeric\n@data\n?,1\n").unwrap();
    says(none.to_ranking(ArffTarget::Last, Precision::F64), &["none of the 1 rows"]);
    let lone = arff("@attribute t numeric\n@data\n1\n").unwrap();
    says(lone.to_ranking(ArffTarget::Last, Precision::F64), &["only attribute"]);
    let twice = arff("@attribute k=u numeric\n@attribute k {u}\n@attribute t numeric\n@data\n1,u,1\n").unwrap();
    says(twice.to_ranking(ArffTarget::Last, Precision::F64), &["two features", "k=u"]);
}

#[test]
fn arff_made_up() {
    let folder = Files::new();
    write_arff(&folder.path("a.arff"), 60, 3, 20, 1);
    let table = read_arff(&folder.path("a.arff")).unwrap();
    let found = table.to_ranking(ArffTarget::Last, Precision::Auto).unwrap();
    assert_eq!((table.n_rows(), found.n_incomplete, found.ranking.n_items()), (60, 3, 57));
    assert_eq!(found.ranking.items.features.n_cols(), 6);
}

#[test]
fn sushi_pairs_are_neighbours_in_the_order_of_scores() {
    let folder = Files::new();
    write_sushi(&folder.path(""), 30, 14, 3);
    let sushi = read_sushi(&folder.path("")).unwrap();
    assert_eq!((sushi.items.len(), sushi.people.len()), (14, 30));
    let pairs = sushi.pairs(Precision::F64).unwrap();
    assert_eq!(pairs.n_pairs(), 150);
    assert!(pairs.n_ties() > 0 && pairs.n_ties() < 150);
    assert!(!pairs.outcomes.contains(&Outcome::Left));
    // Slowly: the smallest score that is left, the first of equal ones.
    let sides = side_features(&pairs);
    for (person, known) in sushi.people.iter().enumerate() {
        let mut left = known.scores.clone();
        let mut next = || {
            let at = (0..left.len()).min_by_key(|&at| left[at].1).unwrap();
            left.remove(at)
        };
        for (k, sides) in sides.iter().enumerate().skip(5 * person).take(5) {
            let [first, second] = [next(), next()];
            assert_eq!(pairs.outcomes[k], if first.1 == second.1 { Outcome::Tie } else { Outcome::Right });
            assert_eq!(pairs.groups.as_ref().unwrap()[k], person as u32);
            for (side, (item, _)) in sides.iter().zip([first, second]) {
                let expected = [sushi.items[item as usize].features, known.features].concat();
                assert_eq!(side, &expected);
            }
        }
    }
}

#[test]
fn what_is_wrong_with_the_sushi_files_is_said() {
    let folder = Files::new();
    let directory = folder.path("");
    let read = || read_sushi(&directory);
    says(read(), &["no file sushi3.idata", ".xz", "kamishima"]);
    says(read_sushi(Path::new("/nowhere")), &["/nowhere", "no such directory", "kamishima"]);
    write_sushi(&directory, 3, 12, 3);
    let change = |name: &str, from: &str, to: &str, parts: &[&str]| {
        let text = std::fs::read_to_string(folder.path(name)).unwrap();
        assert!(text.contains(from));
        std::fs::write(folder.path(name), text.replacen(from, to, 1)).unwrap();
        says(read(), parts);
        std::fs::write(folder.path(name), text).unwrap();
    };
    read().unwrap();
    change("sushi3.idata", "\n1\t", "\n7\t", &["sushi3.idata, line 4, column 1 (item)", "\"7\"", "expected 1"]);
    change("sushi3.idata", "寿司2\t", "寿司2\tx\t", &["sushi3.idata, line 5", "10 columns", "expected 9"]);
    change("sushi3.idata", "寿司0\t", "寿司0\tnan", &["line 3, column 3 (style)", "a finite number"]);
    let first = std::fs::read_to_string(folder.path("sushi3.udata")).unwrap();
    let born = first.split('\t').nth(4).unwrap().to_string();
    change("sushi3.udata", &format!("\t{born}\t0\t0"), "\t48\t0\t0", &["sushi3.udata, line 1, column 5", "0 to 47"]);
    change("sushi3.udata", "100\t", "x\t", &["sushi3.udata, line 1, column 1 (person)", "whole number"]);
    change("sushi3b.5000.10.score", "-1", "5", &["score, line 1, column", "\"5\"", "0 to 4"]);
    change("sushi3b.5000.10.score", "-1 ", "", &["line 1", "11 columns", "12"]);
    change("sushi3b.5000.10.score", "-1", "1", &["line 1", "11 scores", "10"]);
    let scores = std::fs::read_to_string(folder.path("sushi3b.5000.10.score")).unwrap();
    let last = scores.lines().last().unwrap();
    change("sushi3b.5000.10.score", last, "", &["2 rows", "3"]);
    // An empty file has no line to be named.
    change("sushi3b.5000.10.score", &scores, "", &["score: 0 rows", "3"]);
    change("sushi3b.5000.10.score", last, &format!("{last}\n{last}"), &["line 4", "more rows than the 3 people"]);
}

#[test]
fn letor_parts_make_folds() {
    let folder = Files::new();
    let directory = folder.path("");
    write_letor(&directory, 2, 4, 3, 5);
    // The last feature of S4 is never written, and it ends without a line end.
    let s4 = std::fs::read_to_string(folder.path("S4.txt")).unwrap();
    let cut: Vec<String> = s4.lines().map(|line| line[..line.find(" 3:").unwrap()].to_string()).collect();
    std::fs::write(folder.path("S4.txt"), cut.join("\n")).unwrap();
    let folds = LetorFolds::read(&directory).unwrap();
    let queries = |ranking: &Ranking| -> Vec<String> {
        (0..ranking.groups.len()).map(|group| ranking.groups.name(group).to_string()).collect()
    };
    for k in 1..=5 {
        let fold = folds.fold(k, Precision::F64).unwrap();
        let expected = |parts: &[usize]| -> Vec<String> {
            parts
                .iter()
                .map(|part| (k + part - 1) % 5)
                .flat_map(|s| [2 * s + 1, 2 * s + 2])
                .map(|q| q.to_string())
                .collect()
        };
        assert_eq!(queries(&fold.train), expected(&[0, 1, 2]));
        assert_eq!(queries(&fold.validation), expected(&[3]));
        assert_eq!(queries(&fold.test), expected(&[4]));
        assert_eq!((fold.train.n_items(), fold.validation.n_items(), fold.test.n_items()), (24, 8, 8));
        for part in [&fold.train, &fold.validation, &fold.test] {
            assert_eq!(part.items.features.n_cols(), 3);
        }
    }
    // Folds that somebody made of the parts are the same ones, by either name of their files.
    let made = Files::new();
    let text = |k: usize| {
        let text = std::fs::read_to_string(folder.path(&format!("S{}.txt", (k - 1) % 5 + 1))).unwrap();
        text.trim_end().to_string() + "\n"
    };
    for k in 1..=5 {
        let fold = made.path(&format!("Fold{k}"));
        std::fs::create_dir(&fold).unwrap();
        let names = if k == 2 { ["trainingset", "validationset", "testset"] } else { ["train", "vali", "test"] };
        let texts = [[text(k), text(k + 1), text(k + 2)].concat(), text(k + 3), text(k + 4)];
        for (name, text) in names.iter().zip(texts) {
            std::fs::write(fold.join(format!("{name}.txt")), text).unwrap();
        }
    }
    let same = LetorFolds::read(&made.path("")).unwrap();
    for k in 1..=5 {
        let [a, b] = [&folds, &same].map(|folds| folds.fold(k, Precision::F64).unwrap());
        for (a, b) in [(a.train, b.train), (a.validation, b.validation), (a.test, b.test)] {
            assert_eq!((&a.labels, queries(&a), &a.items.ids), (&b.labels, queries(&b), &b.items.ids));
            assert_eq!(a.items.features.to_dense(), b.items.features.to_dense());
        }
    }
}

#[test]
fn what_is_wrong_with_letor_folds_is_said() {
    let folder = Files::new();
    let directory = folder.path("");
    says(LetorFolds::read(&directory), &["no file S1.txt", "microsoft"]);
    write_letor(&directory, 2, 4, 3, 5);
    says(LetorFolds::read(&folder.path("S1.txt")), &["S1.txt", "a file", "expected the directory"]);
    let folds = LetorFolds::read(&directory).unwrap();
    for k in [0, 6] {
        says(folds.fold(k, Precision::F64), &["fold", "from 1 to 5"]);
    }
    let text = std::fs::read_to_string(folder.path("S2.txt")).unwrap();
    std::fs::write(folder.path("S2.txt"), text.replacen(" 2:", " 2;", 1)).unwrap();
    says(folds.fold(1, Precision::F64), &["S2.txt, line 1"]);
    let bare: Vec<String> = text.lines().map(|line| line.replacen("qid:", "9:", 1)).collect();
    std::fs::write(
        folder.path("S2.txt"),
        bare.join("\n").replace(" 1:", " 10:").replace(" 2:", " 11:").replace(" 3:", " 12:"),
    )
    .unwrap();
    says(folds.fold(1, Precision::F64), &["qid"]);
    std::fs::remove_file(folder.path("S3.txt")).unwrap();
    says(LetorFolds::read(&directory), &["no file S3.txt"]);
    std::fs::create_dir(folder.path("Fold1")).unwrap();
    std::fs::write(folder.path("Fold1/train.txt"), "1 1:1\n").unwrap();
    says(LetorFolds::read(&directory), &["Fold1", "no file vali.txt there, nor validationset.txt"]);
}

#[test]
fn real_arff_files_have_their_rows() {
    let Some(folder) = real("torgo") else { return };
    // File, attributes beside the target, complete rows, incomplete ones, mean of the target.
    let known = [
        ("diabetes.numeric.arff", 2, 43, 0, 4.7465),
        ("pyrim.arff", 27, 74, 0, 0.6593),
        ("servo.arff", 4, 167, 0, 1.3897),
        ("triazines.arff", 60, 186, 0, 0.6519),
        ("wisconsin.arff", 32, 194, 0, 46.938),
        ("machine.cpu.arff", 6, 209, 0, 105.62),
        ("autompg.arff", 7, 392, 6, f64::NAN),
        ("housing.arff", 13, 506, 0, 22.5328),
        ("stock.arff", 9, 950, 0, 46.994),
        ("abalone.arff", 8, 4177, 0, 9.9337),
        ("bank8FM.arff.xz", 8, 8192, 0, 0.16152),
        ("bank32nh.arff.xz", 32, 8192, 0, 0.08362),
    ];
    for (name, n_attributes, n_rows, n_incomplete, mean) in known {
        let table = read_arff(&folder.join(name)).unwrap();
        let found = table.to_ranking(ArffTarget::Last, Precision::Auto).unwrap();
        assert_eq!(table.attributes.len(), n_attributes + 1, "{name}");
        assert_eq!((found.ranking.n_items(), found.n_incomplete), (n_rows, n_incomplete), "{name}");
        let average = found.ranking.labels.iter().sum::<f64>() / n_rows as f64;
        assert!(mean.is_nan() || (average / mean - 1.0).abs() < 1e-3, "{name}: {average}");
    }
    let space = read_arff(&folder.join("space_ga.arff.xz")).unwrap();
    let found = space.to_ranking(ArffTarget::First, Precision::Auto).unwrap();
    assert_eq!((found.ranking.n_items(), found.target.as_str()), (3107, "ln(VOTES/POP)"));
}

#[test]
fn real_sushi_has_its_ties() {
    let Some(folder) = real("sushi") else { return };
    let sushi = read_sushi(&folder).unwrap();
    assert_eq!((sushi.people.len(), sushi.items.len()), (5000, 100));
    let pairs = sushi.pairs(Precision::F64).unwrap();
    assert_eq!((pairs.n_pairs(), pairs.n_ties()), (25_000, 17_832));
    assert_eq!(pairs.outcomes.iter().filter(|&&outcome| outcome == Outcome::Right).count(), 7_168);
}

#[test]
fn real_letor_folds_have_their_documents() {
    for (name, documents, queries, features) in [("ohsumed_letor2", 16_140, 106, 25), ("mq2008", 15_211, 784, 46)] {
        let Some(folder) = real(name) else { return };
        let folds = LetorFolds::read(&folder).unwrap();
        let fold = folds.fold(1, Precision::Auto).unwrap();
        let parts = [&fold.train, &fold.validation, &fold.test];
        assert_eq!(parts.map(|part| part.n_items()).iter().sum::<usize>(), documents);
        assert_eq!(parts.map(|part| part.groups.len()).iter().sum::<usize>(), queries);
        assert!(parts.iter().all(|part| part.items.features.n_cols() == features));
        if name == "mq2008" {
            assert_eq!(parts.map(|part| part.n_items()), [2933 + 3635 + 3062, 2707, 2874]);
            assert_eq!(parts.map(|part| part.groups.len()), [157 * 3, 157, 156]);
        }
    }
}

#[test]
fn a_feature_of_a_large_number_takes_no_memory_for_those_before_it() {
    let folder = Files::new();
    for part in 1..=5 {
        let last = if part == 5 { " 2000000000:1" } else { "" };
        folder.write(&format!("S{part}.txt"), format!("1 qid:{part} 1:1 2:2{last}\n0 qid:{part} 1:0.5 2:1\n"));
    }
    let fold = LetorFolds::read(&folder.path("")).unwrap().fold(1, Precision::Auto).unwrap();
    for part in [&fold.train, &fold.validation, &fold.test] {
        assert_eq!(part.items.features.n_cols(), 2_000_000_000);
        assert_eq!(
            part.items.features.n_stored(),
            if part.n_items() == 6 { 12 } else { part.items.features.n_stored() }
        );
    }
    let mut row = Vec::new();
    fold.train.items.features.for_each_in_row(1, |column, value| row.push((column, value)));
    assert_eq!(row, [(0, 0.5), (1, 1.0)]);
}
