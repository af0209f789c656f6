//! A directory to work in, and the program run inside it.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn new(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Checks the exit status.
    #[track_caller]
    pub(crate) fn ends(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "out: {}\nerr: {}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// Checks that it failed with this status, said why on standard error with all of these words, and nothing on
    /// standard output.
    #[track_caller]
    pub(crate) fn fails(self, status: i32, words: &[&str]) -> Self {
        let ran = self.ends(status);
        assert!(ran.err.contains("error: "), "{}", ran.err);
        assert_eq!(ran.out, "");
        words.iter().for_each(|word| assert!(ran.err.contains(word), "no {word:?} in: {}", ran.err));
        ran
    }

    /// The one JSON object on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {:?}", self.out));
        assert!(value.is_object());
        value
    }
}

/// A directory of its own.
pub(crate) struct Room(TempDir);

impl Room {
    pub(crate) fn new() -> Self {
        Room(tempfile::tempdir().unwrap())
    }

    /// With `train.csv` and `test.csv`, 120 pairs each, half of them ties.
    pub(crate) fn with_pairs() -> Self {
        let room = Room::new();
        room.run("simulate --norm l2 --pairs 120 --seed 1 -o train.csv").ends(0);
        room.run("simulate --norm l2 --pairs 120 --seed 2 -o test.csv").ends(0);
        room
    }

    /// With a model besides: `model`, an rbf comparer.
    pub(crate) fn with_model() -> Self {
        let room = Room::with_pairs();
        room.run("train --pairs train.csv --kernel rbf --gamma 0.25 -o model").ends(0);
        room
    }

    /// With a leaderboard: four players known by name alone, in `games.csv`, and the linear model `board`.
    pub(crate) fn with_leaderboard() -> Self {
        let room = Room::new();
        let mut games = String::from("left,right,outcome\n");
        for _ in 0..3 {
            games +=
                "ann,bob,left\nbob,\"c, d\",left\nann,\"c, d\",left\nbob,eve,tie\neve,bob,tie\neve,\"c, d\",left\n";
        }
        room.write("games.csv", &games);
        room.run("train --pairs games.csv --C 10 -o board").ends(0);
        room
    }

    /// With `items.csv` and `pairs.csv`: names that would break a page, long ones, other alphabets.
    pub(crate) fn write_hostile_tables(&self) {
        let names =
            ["<script>alert(1)</script>", "\"a&b\"\"'\"", "量", &"long ".repeat(40), "\u{202e}abc", "]]>", "--><"];
        let mut items = format!("id,{}\n", names.join(","));
        for k in 0..12 {
            let values: Vec<String> = (0..names.len()).map(|f| format!("{}", (k * (f + 3) + f * f) % 11)).collect();
            items += &format!("item <{k}>,{}\n", values.join(","));
        }
        let mut pairs = String::from("left,right,outcome\n");
        for k in 0..60 {
            let (left, right) = (k % 12, (k * 5 + 1) % 12);
            pairs += &format!("item <{left}>,item <{right}>,{}\n", ["left", "tie", "right"][(k * k) % 3]);
        }
        self.write("items.csv", &items);
        self.write("pairs.csv", &pairs);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The names of all files in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The program with words separated by blanks.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rankwise"));
        command.args(words.split_whitespace()).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs it to the end.
    pub(crate) fn run(&self, words: &str) -> Ran {
        Ran::new(self.command(words).output().unwrap())
    }

    /// Runs it with something on standard input.
    pub(crate) fn run_with_input(&self, words: &str, input: &str) -> Ran {
        use std::io::Write;
        let mut command = self.command(words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Ran::new(child.wait_with_output().unwrap())
    }
}
