//! From slopes of pairs to slopes of features: by item first where items repeat, straight from the rows where they do not.

use std::ops::Range;

use rayon::prelude::*;

use super::{MOST_BLOCKS, PairSums, ROWS_A_TASK};
use crate::problem::BlockSums;

/// Slopes of a block, collected by item or already by feature.
struct Slopes {
    /// u, then v of means: by item or by feature.
    main: [Vec<f64>; 2],
    distances: Vec<f64>,
    context: Vec<f64>,
}

impl PairSums<'_> {
    /// Σ over pairs of dz·(better − worse), dz and db of a pair from `slopes`, and of db·s.
    pub(super) fn combine(&self, slopes: impl Fn(usize) -> (f64, f64) + Sync) -> Vec<f64> {
        let d = self.n_columns();
        let (by_item, has_band) = (self.items_repeat, self.band.is_some());
        let length = if by_item { self.features.n_rows() } else { d };
        let parts = self.visit(|range| {
            let mut out = Slopes {
                main: [vec![0.0; length], vec![0.0; if has_band { length } else { 0 }]],
                distances: vec![0.0; if has_band { d } else { 0 }],
                context: vec![0.0; self.n_context()],
            };
            let mut chunk = Chunk::default();
            for start in range.clone().step_by(ROWS_A_TASK) {
                let chunk_range = start..(start + ROWS_A_TASK).min(range.end);
                self.add_slopes(chunk_range, &slopes, &mut chunk, &mut out);
            }
            out
        });
        let mut total: Option<Slopes> = None;
        for part in parts {
            match &mut total {
                None => total = Some(part),
                Some(total) => total.add(&part),
            }
        }
        let Some(total) = total else { return vec![0.0; self.dim()] };
        let mut out = vec![0.0; self.dim()];
        for (at, slopes) in total.main.iter().enumerate().filter(|(_, slopes)| !slopes.is_empty()) {
            let out = &mut out[at * d..][..d];
            if by_item { self.add_items(slopes, out) } else { out.copy_from_slice(slopes) }
        }
        if has_band {
            out[2 * d..3 * d].copy_from_slice(&total.distances);
            out[3 * d..].copy_from_slice(&total.context);
        }
        out
    }

    fn add_slopes(
        &self,
        range: Range<usize>,
        slopes: &(impl Fn(usize) -> (f64, f64) + Sync),
        chunk: &mut Chunk,
        out: &mut Slopes,
    ) {
        chunk.clear();
        let has_band = self.band.is_some();
        for k in range.clone() {
            let (dz, db) = slopes(k);
            let (worse, better) = self.ends(k);
            if self.items_repeat {
                out.main[0][better] += dz;
                out.main[0][worse] -= dz;
                if has_band {
                    out.main[1][better] += 0.5 * db;
                    out.main[1][worse] += 0.5 * db;
                }
            } else {
                chunk.rows.extend([better as u32, worse as u32]);
                chunk.margins.extend([dz, -dz]);
                if has_band {
                    chunk.means.extend([0.5 * db; 2]);
                }
            }
            if has_band {
                chunk.offsets.push(db);
            }
        }
        if !self.items_repeat {
            self.features.add_rows(&chunk.rows, &chunk.margins, &mut out.main[0]);
        }
        if let Some(band) = &self.band {
            if !self.items_repeat {
                self.features.add_rows(&chunk.rows, &chunk.means, &mut out.main[1]);
            }
            self.features.add_distances(&self.pairs[range.clone()], &chunk.offsets, &mut out.distances);
            if let Some(context) = &band.context {
                let rows: Vec<u32> = range.map(|k| k as u32).collect();
                context.add_rows(&rows, &chunk.offsets, &mut out.context);
            }
        }
    }

    /// `out` += Σ slope·row over items.
    fn add_items(&self, slopes: &[f64], out: &mut [f64]) {
        let n_blocks = (self.rows.len() / ROWS_A_TASK).clamp(1, MOST_BLOCKS);
        let size = self.rows.len().div_ceil(n_blocks).max(1);
        let parts: Vec<Vec<f64>> = self
            .rows
            .par_chunks(size)
            .map(|rows| {
                let mut part = vec![0.0; out.len()];
                let coefficients: Vec<f64> = rows.iter().map(|&row| slopes[row as usize]).collect();
                self.features.add_rows(rows, &coefficients, &mut part);
                part
            })
            .collect();
        parts.into_iter().for_each(|part| out.iter_mut().zip(part).for_each(|(out, part)| *out += part));
    }
}

/// Slopes of some pairs on their way to features.
#[derive(Default)]
struct Chunk {
    rows: Vec<u32>,
    margins: Vec<f64>,
    means: Vec<f64>,
    offsets: Vec<f64>,
}

impl Chunk {
    fn clear(&mut self) {
        self.rows.clear();
        self.margins.clear();
        self.means.clear();
        self.offsets.clear();
    }
}

impl Slopes {
    fn add(&mut self, other: &Slopes) {
        let add = |sum: &mut Vec<f64>, part: &[f64]| sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        add(&mut self.main[0], &other.main[0]);
        add(&mut self.main[1], &other.main[1]);
        add(&mut self.distances, &other.distances);
        add(&mut self.context, &other.context);
    }
}
