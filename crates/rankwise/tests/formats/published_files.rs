//! Small files in the forms in which data sets are published, drawn from a seed: nothing of the data sets themselves.
#![allow(dead_code, reason = "each of the binaries that include this file needs some of it")]

use std::fmt::Write as _;
use std::path::Path;

use rankwise::data::Random;

/// Writes an ARFF file of a regression with everything that real ones have: comments, quotes, CRLF, commas at the ends
/// of rows. Attributes are `x1` … `xN`, the nominal `kind of thing` (`red`, `'deep blue'`, `green`) and the target `y`,
/// which depends on all of them. Every `every_missing`-th row has a `?`; 0: none.
pub(crate) fn write_arff(path: &Path, n_rows: usize, n_numeric: usize, every_missing: usize, seed: u64) {
    let mut random = Random::new(seed);
    let mut text = String::from("% made up, 100 % of it\r\n\r\n@RELATION 'made up'\r\n");
    (1..=n_numeric).for_each(|k| write!(text, "@attribute x{k} {}\r\n", ["numeric", "REAL"][k % 2]).unwrap());
    text += "@Attribute 'kind of thing' {red, 'deep blue', green}  % three words\r\n@attribute y real\r\n\r\n@DATA\r\n";
    for row in 1..=n_rows {
        let mut y = 0.1 * random.normal();
        for k in 1..=n_numeric {
            let x = (1000.0 * random.normal()).round() / 1000.0;
            y += x / k as f64;
            if every_missing > 0 && k == 1 && row % every_missing == 0 {
                text += "?,"
            } else {
                write!(text, "{x},").unwrap()
            }
        }
        let kind = random.below(3);
        y += [0.0, 1.0, -1.0][kind];
        write!(text, "{}, {y:.6},\r\n", ["red", "'deep blue'", "green"][kind]).unwrap();
        if row % 10 == 0 {
            text += "% a comment among the rows\r\n\r\n";
        }
    }
    std::fs::write(path, text).unwrap();
}

/// Writes `sushi3.idata`, `sushi3.udata` and `sushi3b.5000.10.score` of made-up people and `n_items` (at least 10)
/// sushis. People like what is oily and cheap.
pub(crate) fn write_sushi(directory: &Path, n_people: usize, n_items: usize, seed: u64) {
    let mut random = Random::new(seed);
    let mut items =
        String::from("#name style major-group minor-group heaviness frequence-eaten price frequence-sold\n\n");
    let mut worth = Vec::new();
    for item in 0..n_items {
        let [oiliness, eaten, price, sold] = [4.0, 3.0, 5.0, 1.0].map(|top| top * random.uniform());
        let minor = random.below(12);
        let (style, major) = (random.below(2), usize::from(minor > 8));
        writeln!(items, "{item}\t寿司{item}\t{style}\t{major}\t{minor}\t{oiliness}\t{eaten}\t{price}\t{sold}").unwrap();
        worth.push(eaten - oiliness / 2.0 - price / 2.0);
    }
    let (mut people, mut scores) = (String::new(), String::new());
    for person in 0..n_people {
        let [born, home] = [0, 1].map(|_| random.below(48));
        let moved = u8::from(born != home);
        let (gender, age, time) = (random.below(2), random.below(6), 100 + random.below(900));
        writeln!(people, "{}\t{gender}\t{age}\t{time}\t{born}\t0\t0\t{home}\t0\t0\t{moved}", 100 + person).unwrap();
        let mut order: Vec<usize> = (0..n_items).collect();
        random.shuffle(&mut order);
        let mut row = vec!["-1".to_string(); n_items];
        for &item in &order[..10] {
            let score = (2.5 + worth[item] + 0.5 * random.normal()).round().clamp(0.0, 4.0);
            row[item] = (score as u8).to_string();
        }
        writeln!(scores, "{}", row.join(" ")).unwrap();
    }
    for (name, text) in [("sushi3.idata", items), ("sushi3.udata", people), ("sushi3b.5000.10.score", scores)] {
        std::fs::write(directory.join(name), text).unwrap();
    }
}

/// Writes `S1.txt` … `S5.txt`: labels 0 to 2, queries numbered on through the parts, documents with ids.
pub(crate) fn write_letor(directory: &Path, n_queries: usize, n_documents: usize, n_features: usize, seed: u64) {
    let mut random = Random::new(seed);
    for part in 0..5 {
        let mut text = String::new();
        for query in 1..=n_queries {
            for document in 0..n_documents {
                let x: Vec<f64> = (0..n_features).map(|_| (random.uniform() * 1000.0).round() / 1000.0).collect();
                let worth = 2.0 * x[0] + x[n_features - 1] + 0.5 * random.uniform();
                write!(text, "{} qid:{}", (worth * 0.85) as u8, part * n_queries + query).unwrap();
                (1..).zip(&x).for_each(|(k, x)| write!(text, " {k}:{x:.6}").unwrap());
                writeln!(text, " #docid = {part}-{query}-{document}").unwrap();
            }
        }
        std::fs::write(directory.join(format!("S{}.txt", part + 1)), text).unwrap();
    }
}

/// Writes a table of WMT rankings, two systems a row: `n_systems` systems of which later ones are better, `n_sentences`
/// sentences, three judges.
pub(crate) fn write_wmt(path: &Path, n_systems: usize, n_sentences: usize, seed: u64) {
    let mut random = Random::new(seed);
    let mut text = String::from(
        "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID\n",
    );
    for sentence in 0..n_sentences {
        let rank = |system: usize, random: &mut Random| {
            (4.0 - 3.0 * system as f64 / n_systems as f64 + random.normal()).round().clamp(1.0, 5.0)
        };
        let ranks: Vec<f64> = (0..n_systems).map(|system| rank(system, &mut random)).collect();
        for a in 0..n_systems {
            for b in a + 1..n_systems {
                let judge = sentence % 3;
                writeln!(
                    text,
                    "deu,eng,{sentence},{sentence},judge{judge},system-{a},{},system-{b},{},{sentence}",
                    ranks[a], ranks[b]
                )
                .unwrap();
            }
        }
    }
    std::fs::write(path, text).unwrap();
}

/// The form of a log of battles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Log {
    /// `[{…}, {…}]`
    JsonArray,
    /// `{…}` a line
    JsonLines,
    /// `model_a,model_b,winner,…`
    Table,
    /// `left,right,winner,…`, the form of LLMFAO
    Sides,
}

/// Writes battles between `n_models` models of which later ones are better.
pub(crate) fn write_battles(path: &Path, log: Log, n_models: usize, n_battles: usize, seed: u64) {
    let mut random = Random::new(seed);
    let mut rows = Vec::new();
    for k in 0..n_battles {
        let a = random.below(n_models);
        let b = (a + 1 + random.below(n_models - 1)) % n_models;
        let margin = b as f64 - a as f64 + random.normal();
        let winner = match (margin.abs() < 1.0, margin > 0.0, log == Log::Sides) {
            (true, _, true) => "tie",
            (true, ..) => ["tie", "tie (bothbad)"][k % 2],
            (_, true, true) => "right",
            (_, true, false) => "model_b",
            (_, false, true) => "left",
            (_, false, false) => "model_a",
        };
        let (judge, turn, time) = (k % 7, 1 + k % 2, 1_682_351_591.5 + k as f64);
        rows.push(match log {
            Log::JsonArray | Log::JsonLines => format!(
                "{{\"question_id\": \"q{k}\", \"model_a\": \"model {a}\", \"model_b\": \"model {b}\", \"winner\": \"{winner}\", \
                 \"judge\": \"user {judge}\", \"conversation_a\": [{{\"role\": \"user\"}}], \"turn\": {turn}, \
                 \"language\": \"English\", \"tstamp\": {time}}}"
            ),
            Log::Table => format!("model {a},model {b},{winner},user {judge},{turn},English,{time}"),
            Log::Sides => format!("{k},{},{a},{b},{judge},{winner},model {a},model {b}", k % 5),
        });
    }
    let text = match log {
        Log::JsonArray => format!("[\n{}\n]\n", rows.join(",\n")),
        Log::JsonLines => rows.join("\n"),
        Log::Table => "model_a,model_b,winner,judge,turn,language,tstamp\n".to_string() + &rows.join("\n"),
        Log::Sides => "id,prompt,model_x,model_y,worker,winner,left,right\n".to_string() + &rows.join("\n"),
    };
    std::fs::write(path, text).unwrap();
}

/// Writes responses of JPEG AIC: codecs 0 (the reference) to 2 on three images, levels to 5; every tenth question is a
/// trap, every seventeenth was skipped.
pub(crate) fn write_jpeg_ai(path: &Path, n_questions: usize, seed: u64) {
    let mut random = Random::new(seed);
    let mut text = String::from(
        "assignment,worker,method,task,question_id,img_num,codec_left,codec_right,codec_pivot,dlevel_left,dlevel_right,\
         dlevel_pivot,img_left,img_right,img_pivot,is_same,is_cross,is_bias,is_trap,question_order,response,\
         submission_time,response_time,reload_count,resolution\n",
    );
    for k in 1..=n_questions {
        let mut side = || {
            let codec = random.below(3);
            (codec, if codec == 0 { 0 } else { 1 + random.below(5) })
        };
        let (image, left, right) = (k % 3, side(), side());
        let more = (right.1 as f64) - (left.1 as f64) + random.normal();
        let response = match (k % 17, more.abs() < 0.7) {
            (0, _) => "skip",
            (_, true) => "notsure",
            _ => ["left", "right"][usize::from(more > 0.0)],
        };
        let name = |(codec, level): (usize, usize)| format!("BTC_{image:05}_codec{codec}_{level:02}.png");
        writeln!(
            text,
            "a{k},{},BTC,1,{k},{image},{},{},0,{},{},0,{},{},BTC_{image:05}_0ref_00.png,1,0,0,{},{k},{response},\
             2024-12-09T01:53:47.007Z,2515,0,1920x1080",
            k % 4,
            left.0,
            right.0,
            left.1,
            right.1,
            name(left),
            name(right),
            u8::from(k % 10 == 0)
        )
        .unwrap();
    }
    std::fs::write(path, text).unwrap();
}
