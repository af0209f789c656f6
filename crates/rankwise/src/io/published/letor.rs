//! The folds of LETOR: five parts `S1` … `S5`, or the folds that were made of them.

use std::path::{Path, PathBuf};

use super::files::{Origin, find_file};
use crate::data::{Precision, Ranking};
use crate::error::{Error, Place, Result};
use crate::io::source::blame_named;
use crate::io::{Format, IndexBase, ItemTable, Source, svmlight};

const ORIGIN: Origin = Origin {
    what: "the folds of LETOR data",
    from: "https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/",
};

/// Folds of every LETOR data set.
pub const LETOR_FOLDS: usize = 5;

/// What the files of a fold are called, in the order of [`LetorPart::ALL`].
const FILES: [[&str; 2]; 3] =
    [["train.txt", "trainingset.txt"], ["vali.txt", "validationset.txt"], ["test.txt", "testset.txt"]];

/// A part of a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetorPart {
    /// To learn from.
    Train,
    /// To choose parameters on.
    Validation,
    /// To measure on.
    Test,
}

impl LetorPart {
    /// All parts.
    pub const ALL: [LetorPart; 3] = [LetorPart::Train, LetorPart::Validation, LetorPart::Test];

    /// `train`, `validation` or `test`.
    pub fn name(self) -> &'static str {
        ["train", "validation", "test"][self as usize]
    }
}

/// A fold.
#[derive(Debug, Clone)]
pub struct LetorFold {
    /// To learn from.
    pub train: Ranking,
    /// To choose parameters on.
    pub validation: Ranking,
    /// To measure on.
    pub test: Ranking,
}

/// The folds of a data set: which files they are made of.
#[derive(Debug, Clone)]
pub struct LetorFolds {
    directory: PathBuf,
    /// Of every fold and part, the files one after the other.
    files: Vec<[Vec<PathBuf>; 3]>,
}

impl LetorFolds {
    /// Finds the files of a directory: `S1.txt` … `S5.txt`, or `Fold1` … `Fold5` with `train.txt`, `vali.txt` and
    /// `test.txt` (of older releases `trainingset.txt`, `validationset.txt`, `testset.txt`), each perhaps compressed.
    ///
    /// Of the five parts, fold k learns from S_k, S_k+1 and S_k+2, has S_k+3 for validation and S_k+4 for the test;
    /// behind S5 comes S1.
    pub fn read(directory: &Path) -> Result<Self> {
        ORIGIN.check_directory(directory)?;
        let has_folds = (1..=LETOR_FOLDS).any(|k| directory.join(format!("Fold{k}")).is_dir());
        let files = if has_folds { folds(directory)? } else { parts(directory)? };
        Ok(LetorFolds { directory: directory.into(), files })
    }

    /// Reads all of fold k, from 1 to 5. All parts have as many features as the widest one.
    pub fn fold(&self, k: usize, precision: Precision) -> Result<LetorFold> {
        let [mut train, mut validation, mut test] = LetorPart::ALL.map(|part| self.part(k, part, precision));
        let mut parts = [&mut train, &mut validation, &mut test];
        let width =
            parts.iter().filter_map(|part| Some(part.as_ref().ok()?.items.features.n_cols())).max().unwrap_or(0);
        parts.iter_mut().filter_map(|part| part.as_mut().ok()).for_each(|part| widen(part, width));
        Ok(LetorFold { train: train?, validation: validation?, test: test? })
    }

    /// Reads one part of fold k, from 1 to 5.
    pub fn part(&self, k: usize, part: LetorPart, precision: Precision) -> Result<Ranking> {
        let fold = k.checked_sub(1).and_then(|k| self.files.get(k));
        let fold = fold.ok_or_else(|| Error::parameter("fold", k, format!("a fold from 1 to {LETOR_FOLDS}")))?;
        let sources: Vec<Source> = fold[part as usize].iter().map(|path| source(path)).collect();
        blame_named(joined(&sources, &self.directory, precision))?.into_ranking()
    }
}

/// Several files as if they were one.
fn joined(sources: &[Source], directory: &Path, precision: Precision) -> Result<ItemTable> {
    if let [only] = sources {
        return svmlight::read_joined(sources, &only.name(), IndexBase::One, precision);
    }
    let name = directory.display().to_string();
    svmlight::read_joined(sources, &name, IndexBase::One, precision).map_err(|error| {
        // Lines of the whole say nothing to the reader of a part: the part at fault says it by itself.
        let of_part = |source: &Source| {
            svmlight::read_joined(std::slice::from_ref(source), &source.name(), IndexBase::One, precision).err()
        };
        sources.iter().find_map(of_part).unwrap_or(error)
    })
}

fn source(path: &Path) -> Source {
    Source::File { path: path.into(), format: Format::SvmLight }
}

/// Adds features that are 0 everywhere, as files of this format need not write them.
fn widen(ranking: &mut Ranking, width: usize) {
    let features = &mut ranking.items.features;
    if features.n_cols() < width {
        *features = features.widened(width);
    }
}

fn parts(directory: &Path) -> Result<Vec<[Vec<PathBuf>; 3]>> {
    let found: Vec<PathBuf> =
        (1..=LETOR_FOLDS).map(|k| ORIGIN.find(directory, &format!("S{k}.txt"))).collect::<Result<_>>()?;
    let part = |k: usize| found[k % LETOR_FOLDS].clone();
    let fold = |k| [vec![part(k), part(k + 1), part(k + 2)], vec![part(k + 3)], vec![part(k + 4)]];
    Ok((0..LETOR_FOLDS).map(fold).collect())
}

fn folds(directory: &Path) -> Result<Vec<[Vec<PathBuf>; 3]>> {
    let mut all = Vec::new();
    for k in 1..=LETOR_FOLDS {
        let fold = directory.join(format!("Fold{k}"));
        let mut files: [Vec<PathBuf>; 3] = Default::default();
        for (part, names) in files.iter_mut().zip(FILES) {
            let found = names.iter().find_map(|name| find_file(&fold, name)).ok_or_else(|| {
                let problem = format!("no file {} there, nor {}", names[0], names[1]);
                let remedy = format!("{} come from {}", ORIGIN.what, ORIGIN.from);
                Error::data(Place::file(fold.display().to_string()), problem, remedy)
            })?;
            part.push(found);
        }
        all.push(files);
    }
    Ok(all)
}
