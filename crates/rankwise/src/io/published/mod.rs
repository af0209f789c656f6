//! Data sets as their makers publish them, one file for each form. Nothing is shipped: a path comes from the user, and what
//! lies there may be compressed (`.gz`, `.xz`, `.zst`).
//!
//! What a loader leaves out of a file (missing values, trap questions, skipped answers) it counts.

mod arff;
mod chess;
mod files;
mod football;
mod games;
mod letor;
mod sushi;

pub use arff::{ArffAttribute, ArffKind, ArffRanking, ArffTable, ArffTarget, ArffValue, read_arff};
pub use chess::{ChessRating, read_chess_games, read_chess_ratings};
pub use football::read_football;
pub use games::PublishedGames;
pub use letor::{LETOR_FOLDS, LetorFold, LetorFolds, LetorPart};
pub use sushi::{SUSHI_FEATURES, Sushi, SushiItem, SushiPerson, read_sushi};
