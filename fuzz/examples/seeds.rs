//! Writes `seeds/`: small inputs of every kind, for the targets to begin with. `cargo run --example seeds`, then commit.

#[path = "../../crates/rankwise/tests/formats/published_files.rs"]
mod published_files;
#[path = "../../crates/rankwise/tests/formats/published_games.rs"]
#[allow(dead_code)]
mod published_games;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use published_files::{Log, write_arff, write_battles, write_jpeg_ai, write_letor, write_sushi, write_wmt};
use published_games::{chess_files, football_results};
use rankwise::data::simulate::{Norm, Simulation};
use rankwise::data::{ClassItems, Comparisons, Features, Groups, Items, Precision, Random, Ranking};
use rankwise::io::{Columns, Conversion, Format, Source, convert, model_to_bytes};
use rankwise::{
    CompareRank, CompareSvm, Davidson, Kernel, Loss, Model, OnlineSvm, OrdinalSvm, RankSvm, SvmClassifier, Variant,
};

const ITEMS: [&str; 9] = [
    "2 qid:7 1:0.5 2:3\n0 qid:7 1:0.25 # doc 2\n1 qid:9 2:-4e-3\n",
    "+1 cost:0.5 1:1 3:1e300\r\n-1 cost:2 2:.5\r\n",
    "# a comment\n\n1 1:1\n0 1:0\n",
    "1 qid:a 1:1 2:2\n2 qid:b 1:3\n3 qid:a 2:4\n",
    "1 1:123456789.123456789 1000:5\n",
    "1 qid:1 5:1\n1 qid:1 4:1 5:1\n",
    "1e2 1:1e-400 2:0x1\n",
    "3 2147483647:1\n",
    "\u{feff}1 1:1\n0 1:2 # \u{e9}",
];
const TABLES: [&str; 8] = [
    "id,label,qid,weight,group_weight,margin,x1,x2\na,1,q,1,2,0.5,3,4\nb,0,q,2,2,1,5,6.5\n",
    "label,x\n1,2\n0,-1e-3\n",
    "x,y,g,w,d\na,1,q,2,z\nb,0,q,1,z\n",
    "id\na\nb\n",
    "label,\"x \"\"1\"\"\"\r\n\"1\",\" 2 \"\r\n",
    "label,x\nred,1\nblue,2\nred,3\n",
    "label\tx\n1\t2\n",
    "label,x\n1,1e308\n0,16777217\n",
];
const PAIRS: [&str; 9] = [
    "left,right,outcome\na,b,-1\nb,c,0\nc,a,1\n",
    "left,right,winner,weight,group,time\nx,y,left,2,j,2024-03-01\ny,x,tie,1,k,2024-03-02T10:00:00Z\n",
    "left.x1,left.x2,right.x1,right.x2,outcome\n1,2,3,4,right\n5,6,7,8,tie\n",
    "left,right,left.home,right.home,pair.neutral,outcome\na,b,1,0,0,1-0\nb,a,1,0,1,1/2-1/2\n",
    "left,right,outcome\nm1,m2,model_a\nm2,m1,tie (bothbad)\nm1,m2,b\n",
    "left,right,outcome,time\nw,b,white,1\nb,w,black,2.5\nw,b,draw,3\n",
    "left,right,y,d\na,b,1,q\n",
    "left,right\na,b\nb,a\n",
    "left,right,outcome\n\"a,\"\"b\",c,1\n",
];

fn main() {
    let seeds = Seeds(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("seeds"));
    let scratch = std::env::temp_dir().join(format!("rankwise-seeds-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("a folder");
    let numbers =
        ["0", "-0", "1.5", ".5", "1.", "12345678.87654321 ", "9007199254740993", "0.1234567890123456789", "1e5"];
    seeds.texts("number", &numbers);
    let words = [
        "ndcg@10:trec",
        "precision@5:rel=2",
        "map",
        "kendall_tau",
        "model_a",
        "tie (bothbad)",
        "1/2-1/2",
        "2024-03-01T10:00:00+02:00",
        "nystroem:100",
        "a.csv.gz",
        "err@20",
    ];
    seeds.texts("words", &words);
    seeds.texts("svmlight", &ITEMS);
    for (how, text) in ITEMS.iter().enumerate() {
        seeds.with_head("stream", [0u8, 2, 18, 64][how % 4], text.as_bytes());
        (0..5).for_each(|to| seeds.with_head("convert", to << 1, text.as_bytes()));
    }
    for text in TABLES {
        let head = if text.contains('\t') { 1 } else { 0 };
        seeds.with_head("item_table", if text.starts_with("x,y") { 62 } else { head }, text.as_bytes());
        seeds.with_head("stream", 33, text.as_bytes());
        (0..5).for_each(|to| seeds.with_head("convert", 1 | to << 1, text.as_bytes()));
    }
    for text in PAIRS {
        seeds.with_head("pair_table", if text.contains("y,d") { 24 } else { 0 }, text.as_bytes());
        seeds.with_head("pair_table", 4, text.as_bytes());
        seeds.with_head("pair_table", 2, &[text.as_bytes(), b"\xffid,f\na,1\nb,2\nc,3\nw,0\nx,1\ny,2\n"].concat());
    }
    let run = "1 Q0 d1 1 2.5 t\n1 Q0 d2 2 1e-3 t\n2 Q0 d1 1 0 t\n";
    seeds.add("trec", &[b"1 0 d1 2\n1 0 d3 0\n2 0 d1 1\n\xff", run.as_bytes()].concat());
    archives(&seeds);
    published(&seeds, &scratch);
    blocks_and_parquet(&seeds, &scratch);
    for model in models() {
        seeds.add("model_file", &model_to_bytes(&model).expect("it can be saved"));
    }
    seeds.add("model_file", include_bytes!("../../crates/rankwise/tests/fixtures/model_v1.rwm"));
    let _ = std::fs::remove_dir_all(&scratch);
}

struct Seeds(PathBuf);

impl Seeds {
    fn add(&self, target: &str, content: &[u8]) {
        let folder = self.0.join(target);
        std::fs::create_dir_all(&folder).expect("a folder");
        let number = std::fs::read_dir(&folder).expect("a folder").count();
        std::fs::write(folder.join(format!("{number:03}")), content).expect("a file");
    }

    fn texts(&self, target: &str, texts: &[&str]) {
        texts.iter().for_each(|text| self.add(target, text.as_bytes()));
    }

    fn with_head(&self, target: &str, head: u8, content: &[u8]) {
        self.add(target, &[&[head], content].concat());
    }
}

fn archives(seeds: &Seeds) {
    let text = b"1 1:1\n0 1:2\n1 1:1\n0 1:2\n";
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(text).expect("memory");
    seeds.with_head("decompress", 0, &gz.finish().expect("memory")[2..]);
    // Made by xz and zstd from the same text.
    for (head, tool, magic) in [(1, "xz", 6), (2, "zstd", 4)] {
        let Ok(mut child) = std::process::Command::new(tool)
            .args(["-c", "-"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
        else {
            continue;
        };
        child.stdin.take().expect("a pipe").write_all(text).expect("a pipe");
        let packed = child.wait_with_output().expect("it ends").stdout;
        seeds.with_head("decompress", head, &packed[magic..]);
        seeds.with_head("decompress", 3, &packed);
    }
    seeds.with_head("decompress", 4, text);
    seeds.with_head("decompress", 3, text);
}

fn published(seeds: &Seeds, scratch: &Path) {
    let path = scratch.join("file");
    let read = |path: &Path| std::fs::read(path).expect("it was written");
    write_arff(&path, 5, 2, 3, 1);
    seeds.add("arff", &read(&path));
    seeds.texts("arff", &["@relation r\n@attribute a {x,'y z'}\n@attribute b integer\n@data\nx,1\n'y z',?\n"]);
    write_sushi(scratch, 2, 10, 1);
    let names = ["sushi3.idata", "sushi3.udata", "sushi3b.5000.10.score"];
    seeds.with_head("published", 0, &names.map(|name| read(&scratch.join(name))).join(&0xff));
    write_wmt(&path, 3, 2, 1);
    seeds.with_head("published", 1, &read(&path));
    for (head, log) in [(128 + 2, Log::JsonLines), (128 + 2, Log::JsonArray), (2, Log::Table), (2, Log::Sides)] {
        // 130 % 8 = 2: the same reader.
        write_battles(&path, log, 3, 4, 1);
        seeds.with_head("published", head, &read(&path));
    }
    write_jpeg_ai(&path, 6, 1);
    seeds.with_head("published", 3, &read(&path));
    let (games, ratings) = chess_files(3, 2, 1);
    seeds.with_head("published", 4, games.as_bytes());
    seeds.with_head("published", 5, football_results(2001..=2001, 3, 1, 1).as_bytes());
    seeds.with_head("published", 6, ratings.as_bytes());
    write_letor(scratch, 1, 2, 2, 1);
    let parts: Vec<Vec<u8>> = (1..=5).map(|k| read(&scratch.join(format!("S{k}.txt")))).collect();
    seeds.with_head("published", 7, &parts.join(&0xff));
}

fn blocks_and_parquet(seeds: &Seeds, scratch: &Path) {
    let texts =
        ITEMS.iter().map(|text| (*text, Format::SvmLight)).chain(TABLES.iter().map(|text| (*text, Format::Csv)));
    for (text, format) in texts {
        let (from, to) = (scratch.join("items.txt"), scratch.join("items"));
        std::fs::write(&from, text).expect("a file");
        for (target, format_to) in [("block_file", Format::Blocks), ("parquet", Format::Parquet)] {
            if text.contains("2147483647") || (target == "parquet" && text.contains("1000:5")) {
                continue;
            }
            let how = Conversion { format: Some(format_to), block_bytes: 32, ..Conversion::default() };
            let source = Source::File { path: from.clone(), format };
            if convert(&source, &Columns::default(), &to, &how).is_ok() {
                seeds.add(target, &std::fs::read(&to).expect("it was written"));
            }
        }
    }
}

/// Small models of every kind.
fn models() -> Vec<Model> {
    let pairs = Simulation { norm: Norm::L2, n_pairs: 12, ties: 0.5, noise: 0.1, seed: 1 }.draw().expect("pairs");
    let mut random = Random::new(3);
    let values: Vec<f64> = (0..24).map(|_| (random.normal() * 8.0).round() / 8.0).collect();
    let features = || Features::dense(3, values.clone(), Precision::F32).expect("numbers");
    let items = |names: bool| {
        let names = names.then(|| ["a", "b", "c"].map(String::from).to_vec());
        Items::new(features(), names, None).expect("items")
    };
    let labels: Vec<f64> = (0..8).map(|item| f64::from(item % 3)).collect();
    let groups = Groups::from_ids((0..8).map(|item| (item / 4).to_string()));
    let ranking = Ranking::new(items(true), labels.clone(), Some(groups)).expect("items");
    let single = Ranking::new(items(false), labels.clone(), None).expect("items");
    let classes = ClassItems::of_labels(items(false), &labels).expect("items");
    let players = Items::indicators(["p", "q", "r"].map(String::from).to_vec());
    let table = rankwise::data::PairSet::new(
        players,
        pairs
            .set
            .pairs
            .iter()
            .map(|pair| rankwise::data::Pair { left: pair.left % 3, right: (pair.left + 1) % 3 })
            .collect(),
    )
    .expect("pairs");
    let players = Comparisons::new(table, pairs.outcomes.clone(), None, None).expect("pairs");
    vec![
        CompareSvm::new().fit(&pairs).expect("a model").model,
        CompareSvm::new().loss(Loss::Logistic).fit(&pairs).expect("a model").model,
        CompareSvm::new().kernel(Kernel::rbf(0.5)).fit(&pairs).expect("a model").model,
        CompareRank::new(Variant::Rank).fit(&pairs).expect("a model").model,
        Davidson::new().fit(&players).expect("a model").model,
        RankSvm::new().fit(&ranking).expect("a model").model,
        RankSvm::new().kernel(Kernel::rbf(0.5)).fit(&ranking).expect("a model").model,
        OrdinalSvm::new().fit(&single).expect("a model").model,
        SvmClassifier::new().fit(&classes).expect("a model").model,
        SvmClassifier::new().kernel(Kernel::rbf(0.5)).fit(&classes).expect("a model").model,
        OnlineSvm::new().fit(&ranking).expect("a model").model,
    ]
}
