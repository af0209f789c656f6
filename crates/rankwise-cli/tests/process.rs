//! The program among others: standard input, closed pipes, Ctrl-C.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Stdio};
use std::time::{Duration, Instant};

use crate::room::Room;

#[test]
fn pairs_from_standard_input() {
    let room = Room::with_pairs();
    let text = room.read("train.csv");
    room.run("train --pairs train.csv -o a").ends(0);
    room.run_with_input("train --pairs - --format csv -o b", &text).ends(0);
    room.run_with_input("train --pairs - --input-format tsv -o c", &text.replace(',', "\t")).ends(0);
    assert_eq!(room.bytes("a"), room.bytes("b"));
    assert_eq!(room.bytes("a"), room.bytes("c"));
    let from_file = room.run("predict a --pairs train.csv").ends(0).out;
    assert_eq!(room.run_with_input("predict a --pairs - --input-format csv", &text).ends(0).out, from_file);
    let from_file = room.run("evaluate a --pairs train.csv").ends(0).out;
    assert_eq!(room.run_with_input("evaluate a --pairs - --format csv", &text).ends(0).out, from_file);
    let items = room.run_with_input("predict a - --input-format csv", "x1,x2\n1,2\n3,4\n").ends(0).out;
    assert_eq!(items.lines().count(), 2);
}

#[test]
fn faults_of_standard_input_are_placed_there() {
    let room = Room::new();
    let ran = room.run_with_input("train --pairs - --format csv -o m", "left.x,right.x,outcome\n1,2,perhaps\n");
    ran.fails(1, &["standard input", "line 2", "perhaps"]);
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let room = Room::new();
    for words in ["simulate --pairs 20000", "completions zsh", "simulate --pairs 20000 --json"] {
        let mut child = room.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut start = [0; 10];
        child.stdout.as_mut().unwrap().read_exact(&mut start).unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{words}");
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{words}");
    }
}

/// Starts the program, waits until it says `word`, sends Ctrl-C, and waits for the end.
#[cfg(unix)]
pub(crate) fn interrupt(mut child: Child, word: &str) -> (Option<i32>, String, Duration) {
    let mut reader: BufReader<ChildStderr> = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains(word) {
        assert_ne!(reader.read_line(&mut said).unwrap(), 0, "ended after {said:?}");
    }
    std::thread::sleep(Duration::from_millis(100));
    let started = Instant::now();
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    reader.read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said, started.elapsed())
}

#[cfg(unix)]
#[test]
fn ctrl_c_while_reading_ends_at_once() {
    let room = Room::new();
    let mut command = room.command("train --pairs - --format csv -o m -v");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Held open, so that the program waits for more.
    let _stdin = child.stdin.take();
    let (status, said, took) = interrupt(child, "reading");
    assert_eq!(status, Some(130), "{said}");
    assert!(said.ends_with("interrupted\n"), "{said}");
    assert!(took < Duration::from_secs(2));
    assert!(room.names().is_empty());
}

#[cfg(unix)]
#[test]
fn ctrl_c_while_training_writes_no_model() {
    let room = Room::new();
    room.run("simulate --pairs 2000 --noise 2 -o pairs.csv").ends(0);
    let words = "train --pairs pairs.csv --kernel rbf --gamma 4 --loss hinge --C 1e7 --tol 1e-15 -o m -v";
    let child = room.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (status, said, took) = interrupt(child, "training");
    assert_eq!(status, Some(130), "{said}");
    assert!(said.ends_with("interrupted\n"), "{said}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(room.names(), ["pairs.csv"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_while_tuning_writes_nothing_and_is_heard_at_once() {
    let room = Room::new();
    room.run("simulate --pairs 2000 --noise 2 -o pairs.csv").ends(0);
    let words =
        "tune --pairs pairs.csv --kernel rbf --gamma 4 --loss hinge --grid C=1e6,1e7 --tol 1e-15 -o m --table t -v";
    let child = room.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (status, said, took) = interrupt(child, "tuning");
    assert_eq!(status, Some(130), "{said}");
    assert!(said.ends_with("interrupted\n"), "{said}");
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_eq!(room.names(), ["pairs.csv"]);
}

#[test]
fn a_closed_pipe_ends_convert_and_named_streams_quietly() {
    let room = Room::new();
    room.run("simulate --pairs 2000 -o pairs.csv").ends(0);
    room.run("train --pairs pairs.csv -o model").ends(0);
    let mut items = "label,x1,x2\n".to_string();
    (0..30_000).for_each(|k| items += &format!("{},{k},{}\n", k % 3, k * 7 % 11));
    room.write("items.csv", &items);
    for words in [
        "convert items.csv - --output-format csv",
        "convert items.csv - --output-format tsv",
        "convert items.csv - --output-format svmlight",
        "convert items.csv - --output-format rwb",
        "predict model items.csv",
        "predict model items.csv -o /dev/stdout",
    ] {
        let mut child = room.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut start = [0; 10];
        child.stdout.as_mut().unwrap().read_exact(&mut start).unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{words}");
        assert_eq!(ended.status.code(), Some(0), "{words}");
    }
}

#[test]
fn as_many_threads_as_everywhere_else() {
    let room = Room::new();
    room.run("simulate --threads 4097").fails(2, &["from 0 to 4096"]);
}
