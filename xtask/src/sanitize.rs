//! `cargo xtask sanitize`: the tests that run unsafe code, with the address sanitizer.

use super::{Outcome, cargo, fuzz, root, step};

pub(super) fn run() -> Outcome {
    let triple = fuzz::host()?;
    let mut test = cargo(&["test", "-p", "rankwise", "--lib", "--target", &triple, "--"]);
    test.args(["math", "features", "terms", "arena", "cache", "buffer", "tiles", "block_file"]);
    // The flag is not stable; the compiler is, and takes it with this word.
    test.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address");
    test.env("CARGO_TARGET_DIR", root().join("target/sanitize"));
    step("address sanitizer", &mut test)
}
