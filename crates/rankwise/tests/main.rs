//! The integration tests, one binary.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy.toml exempts test functions, not the helpers beside them"
)]

mod contract;
mod export;
mod formats;
mod layering;
mod oracle;
mod selection;
