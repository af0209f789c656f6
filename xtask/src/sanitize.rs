//! `cargo xtask sanitize`: the tests that run unsafe code, with the address sanitizer.

use super::{Outcome, cargo, fuzz, root, step};

/// Tests whose names have one of these in them reach every unsafe place of the library but the Python package.
const REACHING: [&str; 9] = ["math", "features", "terms", "arena", "cache", "buffer", "tiles", "block_file", "online"];

pub(super) fn run() -> Outcome {
    let triple = fuzz::host()?;
    let mut test = cargo(&["test", "-p", "rankwise", "--lib", "--target", &triple, "--"]);
    test.args(REACHING);
    // The flag is not stable; the compiler is, and takes it with this word.
    test.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address");
    if std::env::var_os("CARGO_TARGET_DIR").is_none() {
        test.env("CARGO_TARGET_DIR", root().join("target/sanitize"));
    }
    step("address sanitizer", &mut test)
}
