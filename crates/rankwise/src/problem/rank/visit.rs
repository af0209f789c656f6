//! The rows of a block while it is visited, wherever they are: products with them, and a look at each.

use rayon::prelude::*;

use crate::data::{Features, Loaded, Rows, StoredRows, runs_of};

/// Items of a group beyond which its rows are shared out among threads, so many at a time.
const MANY_ROWS: usize = 1 << 13;

/// The rows of a block. `numbers` are what the block calls its rows by, or part of them.
#[derive(Clone, Copy)]
pub(super) enum Visit<'a> {
    /// All features are in memory, and a block calls its rows by their numbers there.
    Held(&'a Features),
    /// The rows of the block alone were read.
    Read {
        /// The rows of the block, called 0, 1, 2, …
        loaded: &'a Loaded,
        /// Where they come from.
        all: &'a StoredRows,
    },
    /// The block is too large: rows are read by their numbers in the file, a part at a time.
    Parts(&'a StoredRows),
}

impl<'a> Visit<'a> {
    /// What a block calls its rows by in this visit.
    pub(super) fn numbers<'b>(&self, rows: &'b [u32]) -> &'b [u32]
    where
        'a: 'b,
    {
        match self {
            Visit::Held(_) | Visit::Parts(_) => rows,
            Visit::Read { loaded, .. } => loaded.numbers(),
        }
    }

    fn all(&self) -> Rows<'a> {
        match *self {
            Visit::Held(features) => Rows::Held(features),
            Visit::Read { all, .. } | Visit::Parts(all) => Rows::Stored(all),
        }
    }

    /// How many features rows have.
    pub(super) fn n_cols(&self) -> usize {
        self.all().n_cols()
    }

    /// Rows times weights; many rows on all threads.
    pub(super) fn times(&self, numbers: &[u32], weights: &[f64], out: &mut [f64]) {
        let features = match *self {
            Visit::Held(features) => features,
            Visit::Read { loaded, .. } => &loaded.features,
            Visit::Parts(stored) => return stored_times(stored, numbers, weights, out),
        };
        if numbers.len() < 2 * MANY_ROWS {
            return features.times_rows(numbers, weights, out);
        }
        let parts = numbers.par_chunks(MANY_ROWS).zip(out.par_chunks_mut(MANY_ROWS));
        parts.for_each(|(numbers, out)| features.times_rows(numbers, weights, out));
    }

    /// Adds Σ coefficient·row; many rows on all threads, their sums added in order.
    pub(super) fn add(&self, numbers: &[u32], coefficients: &[f64], sums: &mut [f64]) {
        let add = |numbers: &[u32], coefficients: &[f64], sums: &mut [f64]| match *self {
            Visit::Held(features) => features.add_rows(numbers, coefficients, sums),
            Visit::Read { loaded, .. } => loaded.features.add_rows(numbers, coefficients, sums),
            // Sums grow row by row, so that it does not matter where rows are parted.
            Visit::Parts(stored) => for_each_piece(stored, numbers, |piece, loaded| {
                loaded.features.add_rows(loaded.numbers(), &coefficients[piece], sums);
            }),
        };
        // One vector of sums for each part: parts must be much longer than that.
        let all = self.all();
        let n_stored = all.n_stored() / all.n_rows().max(1) * numbers.len();
        let n_parts = (n_stored / (4 * all.n_cols()).max(1)).clamp(1, 64);
        let length = MANY_ROWS.max(numbers.len().div_ceil(n_parts));
        if numbers.len() < 2 * length {
            return add(numbers, coefficients, sums);
        }
        let parts = numbers.par_chunks(length).zip(coefficients.par_chunks(length));
        let parts: Vec<Vec<f64>> = parts
            .map(|(numbers, coefficients)| {
                let mut sums = vec![0.0; all.n_cols()];
                add(numbers, coefficients, &mut sums);
                sums
            })
            .collect();
        for part in parts {
            sums.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
        }
    }

    /// Calls `each(place, features, row)` for every row in order.
    pub(super) fn for_each(&self, numbers: &[u32], mut each: impl FnMut(usize, &Features, usize)) {
        match *self {
            Visit::Held(features) => {
                numbers.iter().enumerate().for_each(|(at, &row)| each(at, features, row as usize));
            }
            Visit::Read { loaded, .. } => {
                numbers.iter().enumerate().for_each(|(at, &row)| each(at, &loaded.features, row as usize));
            }
            Visit::Parts(stored) => for_each_piece(stored, numbers, |piece, loaded| {
                piece.enumerate().for_each(|(row, at)| each(at, &loaded.features, row));
            }),
        }
    }
}

/// Reads rows a piece at a time: places, and what was read of them.
fn for_each_piece(stored: &StoredRows, rows: &[u32], mut each: impl FnMut(std::ops::Range<usize>, &Loaded)) {
    let mut loaded = Loaded::new();
    for piece in stored.pieces(rows, stored.at_a_time() / 4) {
        if !stored.load(&runs_of(&rows[piece.clone()]), &mut loaded) {
            return;
        }
        each(piece, &loaded);
    }
}

fn stored_times(stored: &StoredRows, rows: &[u32], weights: &[f64], out: &mut [f64]) {
    let mut rest = out;
    let pieces = stored.pieces(rows, stored.at_a_time() / 4).into_iter().map(|piece| {
        let (out, after) = std::mem::take(&mut rest).split_at_mut(piece.len());
        rest = after;
        (&rows[piece], out)
    });
    let pieces: Vec<(&[u32], &mut [f64])> = pieces.collect();
    pieces.into_par_iter().for_each_init(Loaded::new, |loaded, (rows, out)| {
        if stored.load(&runs_of(rows), loaded) {
            loaded.features.times_rows(loaded.numbers(), weights, out);
        }
    });
}

/// Adds the differences of rows to vectors one after the other.
pub(super) fn differences(rows: Rows<'_>, pairs: &[[u32; 2]], out: &mut [f64]) {
    let vectors = out.chunks_exact_mut(rows.n_cols().max(1));
    let mut loaded = Loaded::new();
    for (pair, out) in pairs.iter().zip(vectors) {
        match rows {
            Rows::Held(features) => features.add_rows(pair, &[1.0, -1.0], out),
            Rows::Stored(stored) => {
                if stored.load(&pair.map(|row| row as usize..row as usize + 1), &mut loaded) {
                    loaded.features.add_rows(&[0, 1], &[1.0, -1.0], out);
                }
            }
        }
    }
}
