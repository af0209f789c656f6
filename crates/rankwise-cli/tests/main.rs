//! The program as its users see it: what they type, what comes back, how it ends.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod both;
mod browser;
mod convert;
mod data;
mod demo;
mod evaluate;
mod evaluate_items;
mod evaluate_run;
mod examples;
mod export;
mod hard_pairs;
mod help;
mod inspect;
mod item_methods;
mod joint_classes;
mod kernel_items;
mod killed;
mod online;
mod ordinal;
mod predict;
mod probabilities;
mod process;
mod programs;
mod published;
#[path = "../../rankwise/tests/formats/published_files.rs"]
mod published_files;
#[path = "../../rankwise/tests/formats/published_games.rs"]
mod published_games;
mod rank_items;
mod rate;
mod rate_page;
mod readme;
mod report;
mod report_items;
mod report_tuning;
mod reproduce;
mod reproduce_games;
mod reproduce_rvm;
mod room;
mod simulate;
mod svm;
mod train;
mod tune;
mod tune_items;
mod tune_labels;
mod tune_usage;
mod usage;
