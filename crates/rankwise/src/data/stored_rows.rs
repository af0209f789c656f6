//! Rows of features that stay in a file: read when they are needed, ahead of their use, a few at a time.

use std::fmt;
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};

use super::features::{Features, Values};
use super::scale::{ColumnStats, ColumnTally};
use crate::error::{Error, Result};

/// What is read at a time has at least and at most so many bytes.
const LEAST_BYTES: usize = 1 << 20;
const MOST_BYTES: usize = 1 << 23;
/// What is read at a time takes this part of the memory that may be used; twice that is held.
const PART_OF_MEMORY: usize = 32;

/// Rows one after the other, as ranges of numbers of rows.
pub(crate) type Runs = Vec<Range<usize>>;

/// A file of rows, as the rest of the library sees it.
pub(crate) trait RowSource: Send + Sync + fmt::Debug {
    fn n_rows(&self) -> usize;
    fn n_cols(&self) -> usize;
    fn is_sparse(&self) -> bool;
    fn is_f32(&self) -> bool;
    /// How many numbers are stored in all rows.
    fn n_stored(&self) -> usize;
    /// How many numbers of a row are stored.
    fn n_stored_in_row(&self, row: usize) -> usize;
    /// Reads rows, whose memory takes the place of what `into` was. Rows that are not there are an error.
    fn load(&self, runs: &[Range<usize>], into: &mut Features) -> Result<()>;
}

/// Rows that were read.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The rows, in the order in which they were asked for.
    pub(crate) features: Features,
    /// 0, 1, 2, …: their numbers.
    numbers: Vec<u32>,
}

impl Loaded {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Loaded { features: Features::trusted(0, 0, Values::F32(Vec::new().into()), None), numbers: Vec::new() }
    }

    /// The numbers of the rows.
    pub(crate) fn numbers(&self) -> &[u32] {
        &self.numbers[..self.features.n_rows()]
    }
}

/// Rows in a file. A failing read is kept for whoever asked for the whole work; what was to be summed is not defined then.
#[derive(Debug)]
pub(crate) struct StoredRows {
    source: Box<dyn RowSource>,
    /// What is subtracted from the columns of every row.
    shift: Option<Vec<f64>>,
    /// Numbers to read at a time.
    at_a_time: usize,
    /// Bytes that may be used.
    memory: usize,
    /// Asked before every read whether to stop.
    stop: Asked,
    failure: Mutex<Option<Error>>,
}

struct Asked(Box<dyn Fn() -> bool + Send + Sync>);

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asked")
    }
}

impl StoredRows {
    /// Rows of a source; what is held of them at a time is small beside the memory that may be used.
    pub(crate) fn new(source: Box<dyn RowSource>, memory: usize) -> Self {
        let bytes_of_number = if source.is_f32() { 4 } else { 8 } + if source.is_sparse() { 4 } else { 0 };
        let bytes = (memory / PART_OF_MEMORY).clamp(LEAST_BYTES, MOST_BYTES);
        let stop = Asked(Box::new(|| false));
        let at_a_time = bytes / bytes_of_number;
        StoredRows { source, shift: None, at_a_time, memory, stop, failure: Mutex::new(None) }
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.source.n_rows()
    }

    pub(crate) fn n_cols(&self) -> usize {
        self.source.n_cols()
    }

    pub(crate) fn is_sparse(&self) -> bool {
        self.source.is_sparse()
    }

    pub(crate) fn is_f32(&self) -> bool {
        self.source.is_f32()
    }

    pub(crate) fn n_stored(&self) -> usize {
        self.source.n_stored()
    }

    pub(crate) fn n_stored_in_row(&self, row: usize) -> usize {
        self.source.n_stored_in_row(row)
    }

    /// Numbers to read at a time.
    pub(crate) fn at_a_time(&self) -> usize {
        self.at_a_time
    }

    /// Bytes that may be used.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// Subtracts this from the columns of every row that is read from now on.
    pub(super) fn set_shift(&mut self, shift: Option<Vec<f64>>) {
        self.shift = shift;
    }

    /// Asks this before every read.
    pub(super) fn set_stop(&mut self, stop: Box<dyn Fn() -> bool + Send + Sync>) {
        self.stop = Asked(stop);
    }

    fn fail(&self, error: Error) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Whether a read has failed; nothing is read any more then.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Why a read has failed, once.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Reads rows; false if that failed, now or before.
    pub(crate) fn load(&self, runs: &[Range<usize>], into: &mut Loaded) -> bool {
        if self.has_failed() {
            return false;
        }
        if (self.stop.0)() {
            self.fail(Error::Interrupted);
            return false;
        }
        if let Err(error) = self.source.load(runs, &mut into.features) {
            self.fail(error);
            return false;
        }
        if let Some(shift) = &self.shift {
            into.features.subtract(shift);
        }
        let n = into.features.n_rows();
        let known = into.numbers.len();
        into.numbers.extend((known..n).map(|number| number as u32));
        true
    }

    /// Cuts rows into pieces of not too many numbers, each of one row at least: ranges of places in `rows`.
    pub(crate) fn pieces(&self, rows: &[u32], n_numbers: usize) -> Vec<Range<usize>> {
        let (mut pieces, mut start, mut n) = (Vec::new(), 0, 0);
        for (at, &row) in rows.iter().enumerate() {
            let more = self.n_stored_in_row(row as usize).max(1);
            if n + more > n_numbers && at > start {
                pieces.push(start..at);
                (start, n) = (at, 0);
            }
            n += more;
        }
        if start < rows.len() {
            pieces.push(start..rows.len());
        }
        pieces
    }

    /// Reads parts of several lists of rows each, one after the other, and hands each to `each` with its number. While one is
    /// used the next one is read, so that two are in memory; not so with a single thread. Ends early if a read fails.
    pub(crate) fn read_ahead(&self, parts: &[Vec<Runs>], mut each: impl FnMut(usize, &[Loaded])) {
        let load = |lists: &[Runs], loaded: &mut Vec<Loaded>| {
            loaded.resize_with(lists.len(), Loaded::new);
            lists.iter().zip(loaded).all(|(runs, loaded)| self.load(runs, loaded))
        };
        if rayon::current_num_threads() > 1 && parts.len() > 1 {
            let is_done = std::thread::scope(|scope| {
                let (hand_over, handed) = sync_channel::<Vec<Loaded>>(0);
                let (give_back, spare) = sync_channel::<Vec<Loaded>>(2);
                let reader = std::thread::Builder::new().spawn_scoped(scope, move || {
                    for (number, lists) in parts.iter().enumerate() {
                        let mut loaded = match number {
                            0 | 1 => Vec::new(),
                            _ => match spare.recv() {
                                Ok(loaded) => loaded,
                                Err(_) => return,
                            },
                        };
                        if !load(lists, &mut loaded) || hand_over.send(loaded).is_err() {
                            return;
                        }
                    }
                });
                if reader.is_err() {
                    return false; // no thread to be had
                }
                for (number, loaded) in handed.iter().enumerate() {
                    each(number, &loaded);
                    let _ = give_back.send(loaded); // the reader may be done
                }
                true
            });
            if is_done {
                return;
            }
        }
        let mut loaded = Vec::new();
        for (number, lists) in parts.iter().enumerate() {
            if !load(lists, &mut loaded) {
                return;
            }
            each(number, &loaded);
        }
    }

    /// Reads some rows (without a list: all) in order, a few at a time.
    pub(crate) fn scan(&self, some: Option<&[u32]>, mut each: impl FnMut(&Loaded)) -> Result<()> {
        let parts: Vec<Vec<Runs>> = match some {
            Some(rows) => {
                self.pieces(rows, self.at_a_time).into_iter().map(|piece| vec![runs_of(&rows[piece])]).collect()
            }
            None => self.all_pieces().into_iter().map(|piece| vec![vec![piece]]).collect(),
        };
        self.read_ahead(&parts, |_, loaded| loaded.iter().for_each(&mut each));
        self.take_failure().map_or(Ok(()), Err)
    }

    /// All rows in pieces of not too many numbers.
    pub(crate) fn all_pieces(&self) -> Runs {
        let (mut pieces, mut start, mut n) = (Vec::new(), 0, 0);
        for row in 0..self.n_rows() {
            let more = self.n_stored_in_row(row).max(1);
            if n + more > self.at_a_time && row > start {
                pieces.push(start..row);
                (start, n) = (row, 0);
            }
            n += more;
        }
        pieces.push(start..self.n_rows());
        pieces
    }

    /// Per-column summaries of some rows, or of all, perhaps with one weight for each of these: two reads.
    pub(super) fn stats(&self, some: Option<&[u32]>, weights: Option<&[f64]>) -> Result<ColumnStats> {
        let n = some.map_or(self.n_rows(), <[u32]>::len);
        let mut tally = ColumnTally::new(0..n, self.n_cols(), weights);
        let mut first = 0;
        self.scan(some, |loaded| {
            let n_loaded = loaded.features.n_rows();
            tally.add_rows(&loaded.features, 0..n_loaded, first);
            first += n_loaded;
        })?;
        tally.turn();
        first = 0;
        self.scan(some, |loaded| {
            let n_loaded = loaded.features.n_rows();
            tally.add_spread(&loaded.features, 0..n_loaded, first);
            first += n_loaded;
        })?;
        Ok(tally.finish())
    }
}

/// Numbers of rows as ranges.
pub(crate) fn runs_of(rows: &[u32]) -> Runs {
    let runs = rows.chunk_by(|&a, &b| b.checked_sub(1) == Some(a));
    runs.map(|run| run[0] as usize..run[0] as usize + run.len()).collect()
}

/// Rows of features, wherever they are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows<'a> {
    /// In memory.
    Held(&'a Features),
    /// In a file.
    Stored(&'a StoredRows),
}

impl Rows<'_> {
    pub(crate) fn n_rows(self) -> usize {
        match self {
            Rows::Held(features) => features.n_rows(),
            Rows::Stored(rows) => rows.n_rows(),
        }
    }

    pub(crate) fn n_cols(self) -> usize {
        match self {
            Rows::Held(features) => features.n_cols(),
            Rows::Stored(rows) => rows.n_cols(),
        }
    }

    pub(crate) fn n_stored(self) -> usize {
        match self {
            Rows::Held(features) => features.n_stored(),
            Rows::Stored(rows) => rows.n_stored(),
        }
    }

    pub(crate) fn n_stored_in_row(self, row: usize) -> usize {
        match self {
            Rows::Held(features) => features.n_stored_in_row(row),
            Rows::Stored(rows) => rows.n_stored_in_row(row),
        }
    }
}
