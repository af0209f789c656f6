//! Learning from features that stay in a file: the same model, byte for byte, as from features in memory.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rankwise::data::{Precision, Random, Scale};
use rankwise::io::{BlockFile, Columns, Conversion, Source, convert, model_to_bytes, read_ranking};
use rankwise::model::Balance;
use rankwise::{Error, Loss, RankSvm, Unwatched};

/// So little that little is read at a time.
const MEMORY: usize = 32 << 20;

/// Data on the disk.
struct Stored {
    folder: tempfile::TempDir,
}

/// What data look like.
#[derive(Clone, Copy)]
struct Recipe {
    group_sizes: &'static [usize],
    n_groups: usize,
    n_features: usize,
    /// Distinct labels; 0: all different.
    n_labels: usize,
    is_sparse: bool,
    /// Added to the first feature.
    offset: f64,
    /// The second feature of every item that weighs anything.
    constant: Option<f64>,
    is_weighted: bool,
    precision: Precision,
}

impl Default for Recipe {
    fn default() -> Self {
        Recipe {
            group_sizes: &[1, 7, 30, 55],
            n_groups: 900,
            n_features: 20,
            n_labels: 4,
            is_sparse: false,
            offset: 0.0,
            constant: None,
            is_weighted: false,
            precision: Precision::Auto,
        }
    }
}

impl Stored {
    fn new(recipe: Recipe) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random::new(17);
        let weights: Vec<f64> = (0..recipe.n_features).map(|_| random.normal()).collect();
        let mut text = String::from("qid,label,weight,group_weight");
        (0..recipe.n_features).for_each(|k| write!(text, ",f{k}").unwrap());
        text += "\n";
        let mut lines = String::new();
        for group in 0..recipe.n_groups {
            let group_weight = if recipe.is_weighted { [1.0, 0.0, 2.5][group % 3] } else { 1.0 };
            for _ in 0..recipe.group_sizes[group % recipe.group_sizes.len()] {
                let draw =
                    |random: &mut Random| if recipe.is_sparse && random.below(12) > 0 { 0.0 } else { random.normal() };
                let mut row: Vec<f64> = (0..recipe.n_features).map(|_| draw(&mut random)).collect();
                let score = row.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>() + random.normal();
                let label = match recipe.n_labels {
                    0 => score,
                    n => ((score / 3.0 + 0.5).clamp(0.0, 1.0) * (n - 1) as f64).round(),
                };
                row[0] += recipe.offset;
                let weight = if recipe.is_weighted { random.below(4) as f64 * 0.5 } else { 1.0 };
                row[1] = recipe.constant.filter(|_| weight > 0.0).unwrap_or(row[1]);
                if recipe.is_sparse {
                    write!(lines, "{label} qid:{group} cost:{weight}").unwrap();
                    for (k, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                        write!(lines, " {}:{x}", k + 1).unwrap();
                    }
                } else {
                    write!(lines, "{group},{label},{weight},{group_weight}").unwrap();
                    row.iter().for_each(|x| write!(lines, ",{x}").unwrap());
                }
                lines += "\n";
            }
        }
        let name = if recipe.is_sparse { "data.svm" } else { "data.csv" };
        let text = if recipe.is_sparse { lines } else { text + &lines };
        std::fs::write(folder.path().join(name), text).unwrap();
        let source = Source::parse(&folder.path().join(name).to_string_lossy(), None).unwrap();
        let how = Conversion { precision: recipe.precision, block_bytes: 100_000, ..Conversion::default() };
        let converted = convert(&source, &Columns::default(), &folder.path().join("data.rwb"), &how).unwrap();
        assert_eq!(converted.is_sparse, Some(recipe.is_sparse));
        Stored { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("data.rwb")
    }

    /// Fits both ways, with several numbers of threads.
    fn check(&self, svm: &RankSvm) {
        let source = Source::parse(&self.path().to_string_lossy(), None).unwrap();
        let data = read_ranking(&source, &Columns::default(), Precision::Auto).unwrap();
        let in_memory = svm.fit(&data);
        for threads in [1, 2, 3] {
            let mut data = BlockFile::open(&self.path()).unwrap().into_stored(MEMORY).unwrap();
            let stored = svm.clone().threads(threads).fit_stored(&mut data, None, &Unwatched);
            match (&in_memory, stored) {
                (Ok(in_memory), Ok(stored)) => {
                    assert_eq!(in_memory.model.training, stored.model.training);
                    assert_eq!(model_to_bytes(&in_memory.model).unwrap(), model_to_bytes(&stored.model).unwrap());
                }
                (in_memory, stored) => assert_eq!(
                    in_memory.as_ref().err().map(ToString::to_string),
                    stored.err().map(|error| error.to_string())
                ),
            }
        }
    }
}

#[test]
fn every_loss_and_option() {
    let stored = Stored::new(Recipe { is_weighted: true, ..Recipe::default() });
    for loss in Loss::ALL {
        stored.check(&RankSvm::new().loss(loss).c(0.01));
        stored.check(&RankSvm::new().loss(loss).c(0.3).balance(Balance::Groups).scale(Scale::Standard).tol(1e-6));
    }
    stored.check(&RankSvm::new().scale(Scale::Minmax));
    stored.check(&RankSvm::new().c(f64::INFINITY));
}

#[test]
fn every_way_of_storing() {
    Stored::new(Recipe { precision: Precision::F64, ..Recipe::default() }).check(&RankSvm::new().c(0.01));
    let sparse = Stored::new(Recipe { is_sparse: true, n_features: 300, n_groups: 150, ..Recipe::default() });
    sparse.check(&RankSvm::new().c(0.01));
    sparse.check(&RankSvm::new().c(0.01).loss(Loss::Hinge).scale(Scale::Standard).tol(1e-2));
    // Far from zero: features are moved before they are used.
    let far = Stored::new(Recipe { offset: 1e7, ..Recipe::default() });
    assert!(!BlockFile::open(&far.path()).unwrap().is_f32());
    far.check(&RankSvm::new().c(0.01));
    far.check(&RankSvm::new().c(0.01).scale(Scale::Standard));
    // A constant that is far from zero is stored in any way.
    for is_weighted in [false, true] {
        let recipe = Recipe { constant: Some(1e7), is_weighted, precision: Precision::F32, ..Recipe::default() };
        let constant = Stored::new(recipe);
        assert!(BlockFile::open(&constant.path()).unwrap().is_f32());
        constant.check(&RankSvm::new().c(1e6));
        constant.check(&RankSvm::new().c(1e6).scale(Scale::Minmax));
    }
    let sparse = Recipe { is_sparse: true, constant: Some(1e7), n_features: 300, n_groups: 50, ..Recipe::default() };
    Stored::new(sparse).check(&RankSvm::new().c(1e6));
}

#[test]
fn groups_larger_than_what_is_read_at_a_time() {
    for n_labels in [3, 0] {
        let stored = Stored::new(Recipe { group_sizes: &[30_000, 9, 400], n_groups: 3, n_labels, ..Recipe::default() });
        stored.check(&RankSvm::new().c(1e-6));
        stored.check(&RankSvm::new().c(1e-6).loss(Loss::Hinge));
    }
}

#[test]
fn a_start_from_a_share_of_the_data() {
    // Large enough to be thinned, and the large group item by item.
    let group_sizes: &[usize] = &[60, 12_000, 60, 60, 60, 60, 60, 60];
    let stored = Stored::new(Recipe { group_sizes, n_groups: 160, n_features: 6, ..Recipe::default() });
    let file = BlockFile::open(&stored.path()).unwrap();
    assert!(file.n_stored() > 1 << 20 && file.n_blocks() > 10);
    stored.check(&RankSvm::new().c(1e-5));
}

#[test]
fn a_fit_starts_where_another_one_ended() {
    let stored = Stored::new(Recipe::default());
    let source = Source::parse(&stored.path().to_string_lossy(), None).unwrap();
    let data = read_ranking(&source, &Columns::default(), Precision::Auto).unwrap();
    let first = RankSvm::new().c(0.001).fit(&data).unwrap().model;
    let svm = RankSvm::new().c(0.01).scale(Scale::Standard);
    let in_memory = svm.fit_from(&data, Some(&first), &Unwatched).unwrap().model;
    let mut on_disk = BlockFile::open(&stored.path()).unwrap().into_stored(MEMORY).unwrap();
    // Twice: what one fit did to the data, another one does not see.
    for _ in 0..2 {
        let model = svm.fit_stored(&mut on_disk, Some(&first), &Unwatched).unwrap().model;
        assert_eq!(model_to_bytes(&in_memory).unwrap(), model_to_bytes(&model).unwrap());
    }
}

#[test]
fn too_little_memory_is_told_before_the_work() {
    let stored = Stored::new(Recipe::default());
    let mut data = BlockFile::open(&stored.path()).unwrap().into_stored(1 << 19).unwrap();
    let error = RankSvm::new().fit_stored(&mut data, None, &Unwatched).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("--memory-mb"), "{error}");
}

#[test]
fn whoever_asks_stops_it_within_a_read() {
    let stored = Stored::new(Recipe::default());
    for n_reads in [0, 1, 7, 20] {
        let mut data = BlockFile::open(&stored.path()).unwrap().into_stored(MEMORY).unwrap();
        let n = std::sync::atomic::AtomicUsize::new(0);
        data.stop_when(move || n.fetch_add(1, std::sync::atomic::Ordering::SeqCst) >= n_reads);
        let fitted = RankSvm::new().tol(1e-9).fit_stored(&mut data, None, &Unwatched);
        assert!(matches!(fitted, Err(Error::Interrupted)), "{n_reads}");
    }
}

/// Cuts the file off, or writes over it.
fn spoil(path: &Path, length: Option<u64>) {
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    match length {
        Some(length) => file.set_len(length).unwrap(),
        None => {
            let n = file.metadata().unwrap().len() as usize;
            std::io::Write::write_all(&mut &file, &vec![0xff; n]).unwrap();
        }
    }
}

#[test]
fn a_file_that_changes_under_the_work_is_an_error() {
    for (is_sparse, length) in [(false, Some(70_000)), (true, Some(70_000)), (false, None), (true, None)] {
        let recipe = Recipe { is_sparse, n_features: if is_sparse { 300 } else { 20 }, ..Recipe::default() };
        let stored = Stored::new(Recipe { n_groups: 150, ..recipe });
        let mut data = BlockFile::open(&stored.path()).unwrap().into_stored(MEMORY).unwrap();
        spoil(&stored.path(), length);
        for threads in [1, 2] {
            match RankSvm::new().threads(threads).fit_stored(&mut data, None, &Unwatched) {
                Err(error @ Error::Data { .. }) => assert!(error.to_string().contains("has changed"), "{error}"),
                // Numbers that are none.
                Err(Error::Numeric { .. }) => assert!(!is_sparse && length.is_none()),
                other => panic!("{other:?}"),
            }
        }
    }
}
