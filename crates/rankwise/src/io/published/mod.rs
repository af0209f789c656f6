//! Data sets as their makers publish them, one file for each form. Nothing is shipped: a path comes from the user, and
//! what lies there may be compressed (`.gz`, `.xz`, `.zst`).
//!
//! What a loader leaves out of a file (missing values, trap questions, skipped answers) it counts.

mod arff;
mod battles;
mod chess;
mod files;
mod football;
mod games;
mod jpeg_ai;
mod letor;
mod pairs;
mod sushi;
mod wmt;

pub use arff::{ArffAttribute, ArffKind, ArffRanking, ArffTable, ArffTarget, ArffValue, read_arff};
pub use battles::read_battles;
pub use chess::{ChessRating, read_chess_games, read_chess_ratings};
pub use files::find_file;
pub use football::read_football;
pub use games::PublishedGames;
pub use jpeg_ai::read_jpeg_ai;
pub use letor::{LETOR_FOLDS, LetorFold, LetorFolds, LetorPart};
pub use pairs::{Grouping, LeftOut, PAIR_SOURCES, PublishedPairs, ReadPairs};
use sushi::sushi_pairs;
pub use sushi::{SUSHI_FEATURES, Sushi, SushiItem, SushiPerson, read_sushi};
pub use wmt::read_wmt;
