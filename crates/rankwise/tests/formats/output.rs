//! Files appear complete or not at all.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::io;
use std::path::Path;

use rankwise::Error;
use rankwise::io::{write_atomically, write_together};

fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The error names the user's path and says why.
#[track_caller]
fn fails(path: &Path, reason: &str) {
    match write_atomically(path, |out| out.write_all(b"new")) {
        Err(error @ Error::Io { .. }) => {
            let message = error.to_string();
            assert!(message.starts_with(&format!("{}: cannot write: ", path.display())), "{message}");
            assert!(message.contains(reason), "{message:?} does not say {reason:?}");
            assert!(!message.contains(".rankwise-"), "{message:?} names the temporary file");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_new_file_and_an_old_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    write_atomically(&path, |out| out.write_all(b"old and long")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old and long");
    write_atomically(&path, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names_in(directory.path()), ["f"]);
}

#[test]
fn an_error_leaves_everything_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let (old, new) = (directory.path().join("old"), directory.path().join("new"));
    fs::write(&old, "old").unwrap();
    for path in [&old, &new] {
        let error = write_atomically(path, |out| {
            out.write_all(&[0; 100_000])?;
            Err(io::Error::other("no more"))
        })
        .unwrap_err();
        assert_eq!(error.to_string(), format!("{}: cannot write: no more", path.display()));
        assert_eq!(names_in(directory.path()), ["old"]);
        assert_eq!(fs::read(&old).unwrap(), b"old");
    }
}

#[test]
fn a_panic_leaves_everything_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    let result = std::panic::catch_unwind(|| write_atomically(&path, |_| panic!("expected by the test")));
    assert!(result.is_err());
    assert!(names_in(directory.path()).is_empty());
}

#[test]
fn impossible_targets() {
    let directory = tempfile::tempdir().unwrap();
    fails(directory.path(), "it is a directory");
    fails(&directory.path().join("absent/f"), "there is no directory");
    fails(Path::new(""), "does not name a file");
    fails(Path::new("absent/"), "does not name a file");
    fs::write(directory.path().join("f"), "old").unwrap();
    fails(&directory.path().join("f/g"), "");
    assert_eq!(names_in(directory.path()), ["f"]);
    #[cfg(target_os = "linux")]
    {
        fails(Path::new("/proc/rankwise.rwm"), "no file can be created in /proc");
        fails(Path::new("/dev/full"), "space");
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn permissions_are_those_of_any_file() {
        let directory = tempfile::tempdir().unwrap();
        let (usual, ours) = (directory.path().join("usual"), directory.path().join("ours"));
        fs::write(&usual, "").unwrap();
        write_atomically(&ours, |out| out.write_all(b"x")).unwrap();
        assert_eq!(mode(&ours), mode(&usual));
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o640)).unwrap();
        write_atomically(&ours, |out| out.write_all(b"y")).unwrap();
        assert_eq!(mode(&ours), 0o640, "an existing file keeps its permissions");
    }

    #[test]
    fn a_protected_file_or_directory_is_respected() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        if fs::OpenOptions::new().write(true).open(&path).is_ok() {
            return; // the administrator may write everywhere
        }
        fails(&path, "denied");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o555)).unwrap();
        fails(&directory.path().join("g"), "no file can be created");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(names_in(directory.path()), ["f"]);
    }

    #[test]
    fn a_link_is_followed() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let (target, link) = (inner.join("target"), directory.path().join("link"));
        fs::write(&target, "old").unwrap();
        symlink(&target, &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names_in(&inner), ["target"]);
    }

    #[test]
    fn a_pipe_is_written_through() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        if !std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
            return;
        }
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write_atomically(&pipe, |out| out.write_all(b"through")).unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert_eq!(names_in(directory.path()), ["pipe"]);
        write_atomically(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}

#[test]
fn files_that_belong_together_are_all_new_or_all_old() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("a"), "old").unwrap();
    fs::create_dir(path("c")).unwrap();
    let error = write_together(&[(path("a"), "new"), (path("b"), "new"), (path("c"), "new")]).unwrap_err();
    assert!(error.to_string().starts_with(&format!("{}: cannot write: ", path("c").display())), "{error}");
    assert_eq!(fs::read(path("a")).unwrap(), b"old");
    assert_eq!(names_in(directory.path()), ["a", "c"]);
    write_together(&[(path("a"), "new"), (path("b"), "new")]).unwrap();
    assert_eq!([fs::read(path("a")).unwrap(), fs::read(path("b")).unwrap()], [b"new", b"new"]);
    assert_eq!(names_in(directory.path()), ["a", "b", "c"]);
}
