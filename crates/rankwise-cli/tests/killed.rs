//! Whatever ends a command, and whenever: a file that it writes is the one from before or the new one, whole, and nothing
//! stands in the way of the next run.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rankwise::data::Random;

use crate::room::Room;

/// Runs of each command that are killed, at times spread over how long it takes; a third of them where it takes long.
const KILLS: u32 = 12;
const LONG: Duration = Duration::from_secs(1);
const BEFORE: &[u8] = b"what was here before\n";
/// What files are called until they are whole.
const UNFINISHED: &str = ".rankwise-";

/// A command, and what it writes. The pages of `demo` are written over those of a demo alone.
struct Job {
    words: &'static str,
    files: &'static [&'static str],
}

impl Job {
    fn replaces(&self) -> bool {
        !self.words.starts_with("demo")
    }
}

const JOBS: [Job; 20] = [
    job("train --pairs train.csv --kernel rbf --gamma 0.5 -o a.model", &["a.model"]),
    job("train items.svm -o b.model", &["b.model"]),
    job("tune items.svm --method rank --grid C=0.01:10:4 --folds 3 -o c.model", &["c.model"]),
    job("predict model --pairs test.csv -o predicted.csv", &["predicted.csv"]),
    job("predict ranker items.svm --format trec -o run.txt", &["run.txt"]),
    job("convert items.svm out.rwb", &["out.rwb"]),
    job("convert items.svm out.csv", &["out.csv"]),
    job("convert items.svm out.tsv", &["out.tsv"]),
    job("convert mixed.csv out.svm", &["out.svm"]),
    job("convert mixed.csv mixed.rwb", &["mixed.rwb"]),
    job("convert out-items.rwb back.svm", &["back.svm"]),
    job("report model --pairs test.csv -o report.html", &["report.html"]),
    job("report ranker items.svm -o items.html", &["items.html"]),
    job("simulate --norm l1 --pairs 20000 -o simulated.csv", &["simulated.csv"]),
    job("rate --pairs games.csv --system elo -o board.csv", &["board.csv"]),
    job("rate --pairs games.csv --system davidson -o board.html", &["board.html"]),
    job("export model --to onnx -o model.onnx", &["model.onnx"]),
    job("export ranker --to sql -o ranker.sql", &["ranker.sql"]),
    job(
        "demo --seeds 1 --out demo",
        &["demo/rankwise-demo.html", "demo/train.csv", "demo/validation.csv", "demo/test.csv"],
    ),
    job(
        "reproduce online --quick --fresh --out studies",
        &["studies/online.csv", "studies/online.svg", "studies/online.html", "studies/online.md"],
    ),
];

const fn job(words: &'static str, files: &'static [&'static str]) -> Job {
    Job { words, files }
}

/// A room with all that the commands read.
fn room() -> Room {
    let room = Room::with_model();
    let mut random = Random::new(5);
    let (mut lines, mut mixed, mut games) =
        (String::new(), "id,qid,label,x1,x2\n".to_string(), "left,right,outcome\n".to_string());
    for item in 0..1500 {
        let [x, y] = [random.normal(), random.normal()];
        let label = (x + 0.5 * random.normal()).round().clamp(-1.0, 1.0) + 1.0;
        lines += &format!("{label} qid:{} 1:{x} 2:{y} # item-{item}\n", item / 15);
        mixed += &format!("i{item},q{},{label},{x},{y}\n", item % 40);
        games += &format!("p{},p{},{}\n", random.below(20), 20 + random.below(20), ["left", "tie", "right"][item % 3]);
    }
    room.write("items.svm", &lines);
    room.write("mixed.csv", &mixed);
    room.write("games.csv", &games);
    room.run("train items.svm -o ranker").ends(0);
    room.run("convert items.svm out-items.rwb").ends(0);
    room
}

fn spawn(room: &Room, words: &str) -> Child {
    room.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs a job to its end: what it writes, and how long it takes.
fn undisturbed(room: &Room, job: &Job) -> (BTreeMap<&'static str, Vec<u8>>, Duration) {
    let started = Instant::now();
    room.run(job.words).ends(0);
    let took = started.elapsed();
    (job.files.iter().map(|&name| (name, room.bytes(name))).collect(), took)
}

/// Every file is the one from before, if there was one, or the new one; says how many are new.
#[track_caller]
fn check(room: &Room, job: &Job, new: &BTreeMap<&str, Vec<u8>>, how: &str) -> usize {
    let mut n_new = 0;
    for &name in job.files {
        if !job.replaces() && !room.path(name).exists() {
            continue;
        }
        let found = room.bytes(name);
        let is_new = found == new[name];
        let is_old = job.replaces() && found == BEFORE;
        assert!(is_new || is_old, "{}: {how}: {name} has {} bytes that are neither", job.words, found.len());
        n_new += usize::from(is_new);
    }
    n_new
}

/// All files, those in folders too.
fn names(room: &Room) -> Vec<String> {
    let inside = |folder: &str| std::fs::read_dir(room.path(folder)).into_iter().flatten().flatten();
    let in_folder = |folder: &str| {
        inside(folder).map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy())).collect::<Vec<_>>()
    };
    let names = room.names();
    names.iter().flat_map(|name| in_folder(name)).chain(names.iter().cloned()).collect()
}

fn is_unfinished(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| name.starts_with(UNFINISHED))
}

/// Files that were not finished.
fn unfinished(room: &Room) -> Vec<String> {
    names(room).into_iter().filter(|name| is_unfinished(name)).collect()
}

fn begin(room: &Room, job: &Job) {
    for name in job.files {
        if job.replaces() {
            std::fs::write(room.path(name), BEFORE).unwrap();
        } else {
            let _ = std::fs::remove_file(room.path(name));
        }
    }
}

#[cfg(unix)]
#[test]
fn killed_commands_leave_old_files_or_new_ones() {
    let room = room();
    let mut random = Random::new(11);
    for job in &JOBS {
        let (new, took) = undisturbed(&room, job);
        let known = names(&room);
        let (mut n_killed, mut n_new) = (0, 0);
        for kill in 0..if took < LONG { KILLS } else { KILLS / 3 } {
            begin(&room, job);
            let mut child = spawn(&room, job.words);
            // Files are written at the end: half of the kills are for the last third.
            let share: f64 = if kill % 2 == 0 { random.uniform() } else { random.between(0.65, 1.05) };
            std::thread::sleep(took.mul_f64(share));
            let _ = child.kill();
            n_killed += usize::from(child.wait().unwrap().code().is_none());
            n_new += check(&room, job, &new, "killed");
        }
        // Whatever lies about has a name that tells what it is, and hinders nobody: a journal that --fresh has put aside, too.
        let left: Vec<String> = names(&room).into_iter().filter(|name| !known.contains(name)).collect();
        let is_told = |name: &String| is_unfinished(name) || name.ends_with(".journal.old");
        assert!(left.iter().all(is_told), "{}: {left:?}", job.words);
        begin(&room, job);
        let (again, _) = undisturbed(&room, job);
        assert!(again == new, "{}: another answer after kills", job.words);
        println!(
            "{}: {:.2} s, {n_killed} killed, {n_new} new files, {} unfinished",
            job.words,
            took.as_secs_f64(),
            left.len()
        );
        unfinished(&room).iter().for_each(|name| std::fs::remove_file(room.path(name)).unwrap());
    }
}

/// A study that is killed again and again comes to the same end, and every run goes on where the one before was.
#[cfg(unix)]
#[test]
fn killed_studies_go_on() {
    let room = Room::new();
    let study = job(
        "reproduce rvm-fig7 --quick --out studies",
        &["studies/rvm-fig7.csv", "studies/rvm-fig7.svg", "studies/rvm-fig7.html", "studies/rvm-fig7.md"],
    );
    let (whole, took) = undisturbed(&room, &study);
    std::fs::remove_dir_all(room.path("studies")).unwrap();
    let mut random = Random::new(13);
    let mut n_killed = 0;
    loop {
        let mut child = spawn(&room, study.words);
        // Longer from run to run, so that it ends on a machine of any speed.
        std::thread::sleep(took.mul_f64(random.between(0.1, 0.3) + 0.1 * f64::from(n_killed)));
        let _ = child.kill();
        match child.wait().unwrap().code() {
            None => n_killed += 1,
            Some(code) => break assert_eq!(code, 0, "{}", study.words),
        }
    }
    assert!(n_killed > 0);
    for &name in study.files {
        assert!(room.bytes(name) == whole[name], "{name} differs after {n_killed} kills");
    }
}

#[cfg(unix)]
#[test]
fn signals_that_ask_to_end_leave_nothing_unfinished() {
    let room = room();
    let mut random = Random::new(12);
    for job in &JOBS {
        let (new, took) = undisturbed(&room, job);
        for signal in ["-INT", "-TERM"] {
            begin(&room, job);
            let mut child = spawn(&room, job.words);
            std::thread::sleep(took.mul_f64(random.between(0.3, 0.9)));
            let _ = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
            let status = child.wait().unwrap();
            // Too late is no fault; before the program listens, the signal itself ends it.
            let is_sound = matches!(status.code(), Some(0 | 130) | None);
            assert!(is_sound, "{} {signal}: {status}", job.words);
            let n_new = check(&room, job, &new, signal);
            assert!(status.code() != Some(0) || n_new == job.files.len(), "{} {signal}", job.words);
            assert!(
                unfinished(&room).is_empty() || status.code().is_none(),
                "{} {signal}: {:?}",
                job.words,
                unfinished(&room)
            );
        }
    }
}

/// Standard output that takes nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_told() {
    let room = room();
    for words in [
        "simulate --pairs 20000",
        "predict model --pairs test.csv",
        "evaluate model --pairs test.csv",
        "inspect model",
        "inspect model --json",
        "rate --pairs games.csv",
        "completions bash",
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = room.command(words).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{words}: {said}");
        assert!(said.contains("error: ") && said.contains("space") && !said.contains("panicked"), "{words}: {said}");
    }
    let said = room.run("simulate --pairs 20000 -o /dev/full").ends(1).err;
    assert!(said.contains("error: ") && said.contains("space"), "{said}");
}

/// A disk that is full: what was there stays, and nothing is left beside it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_keeps_the_old_file() {
    let room = room();
    let disk = room.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = |words: &[&str]| {
        let ran = std::process::Command::new(words[0]).args(&words[1..]).arg(&disk).stderr(Stdio::null()).status();
        ran.is_ok_and(|status| status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs"]) {
        let _ = writeln!(std::io::stderr(), "skipped: no file system of 16 kB can be mounted here");
        return;
    }
    let outcome = std::panic::catch_unwind(|| {
        for words in [
            "simulate --pairs 20000 -o disk/out.csv",
            "convert items.svm disk/out --output-format rwb",
            "convert items.svm disk/out --output-format csv",
            "convert mixed.csv disk/out --output-format rwb",
            "predict ranker items.svm -o disk/out",
            "report model --pairs test.csv -o disk/out",
            "rate --pairs games.csv -o disk/out.html",
        ] {
            let name = words.split(' ').find(|word| word.starts_with("disk/out")).unwrap();
            std::fs::write(room.path(name), BEFORE).unwrap();
            let said = room.run(words).ends(1).err;
            assert!(said.contains("error: ") && said.contains("space"), "{words}: {said}");
            assert_eq!(room.bytes(name), BEFORE, "{words}");
            let names: Vec<String> = std::fs::read_dir(&disk)
                .unwrap()
                .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            assert_eq!(names, [name.trim_start_matches("disk/")], "{words}");
            std::fs::remove_file(room.path(name)).unwrap();
        }
        // Files that belong together: what has room alone is not left behind without the others.
        for words in [
            "report model --pairs test.csv -o disk/page.html --svg disk",
            "demo --seeds 1 --out disk",
            "rate --pairs games.csv -o disk/board.csv -o disk/board.html",
        ] {
            let said = room.run(words).ends(1).err;
            assert!(said.contains("error: ") && said.contains("space"), "{words}: {said}");
            assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 0, "{words}");
        }
    });
    assert!(mount(&["umount"]));
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}
