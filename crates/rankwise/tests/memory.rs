//! What fits and scores allocate beside the features: no linear machine copies them. A binary of its own, for it counts what the
//! whole process allocates.
#![allow(clippy::unwrap_used, reason = "clippy.toml exempts test functions, not the helpers beside them")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rankwise::data::{ClassItems, Comparisons, Features, Groups, Items, Numbers, Outcome, PairSet, Random, Ranking};
use rankwise::{
    CompareRank, CompareSvm, Davidson, Effort, Fit, OnlineSvm, OrdinalSvm, RankSvm, Result, Ridge, SvmClassifier,
    SvmRegressor, SwapSvm, Variant,
};

/// The system's allocator, with the bytes in use and the most of them.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn took(n_bytes: usize) {
    let now = IN_USE.fetch_add(n_bytes, Relaxed) + n_bytes;
    PEAK.fetch_max(now, Relaxed);
}

// SAFETY: all calls go to the system's allocator as they come.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: what the caller promises is what is asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Both may be there for a while.
        took(new_size);
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes in use at once during `work` beyond those before it.
fn peak_of<R>(work: impl FnOnce() -> R) -> (usize, R) {
    let before = IN_USE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = work();
    (PEAK.load(Relaxed).saturating_sub(before), result)
}

/// Numbers of a row. What machines need grows with the number of items (some 100 bytes each) and with the square of the number
/// of features (vectors that stand for a Hessian): a copy of the features is much beside either.
const N_COLS: usize = 136;
const N_BYTES: usize = 40 << 20;

/// Uniform numbers, quickly.
fn draws(n: usize) -> impl Iterator<Item = f64> {
    let mut random = Random::new(1);
    let few: Vec<f64> = (0..4099).map(|_| random.uniform()).collect();
    // The period of both is longer than any matrix here.
    (0..n).map(move |k| few[k % 4099] + 0.01 * few[(k / 7) % 4091])
}

fn features(kind: &str) -> Features {
    match kind {
        "dense f32" => {
            let n = N_BYTES / 4 / (2 * N_COLS) * 2 * N_COLS;
            let values: Vec<f32> = draws(n).map(|x| x as f32).collect();
            Features::dense_shared(N_COLS, Numbers::F32(values.into()))
        }
        "dense f64" => {
            let n = N_BYTES / 8 / (2 * N_COLS) * 2 * N_COLS;
            Features::dense_shared(N_COLS, Numbers::F64(draws(n).collect::<Vec<f64>>().into()))
        }
        _ => {
            // Every third of 408 columns.
            let n = N_BYTES / 12 / (2 * N_COLS) * 2 * N_COLS;
            let starts: Vec<usize> = (0..=n / N_COLS).map(|row| row * N_COLS).collect();
            let columns: Vec<u32> = (0..n).map(|at| (3 * (at % N_COLS) + (at / N_COLS) % 3) as u32).collect();
            let values = Numbers::F64(draws(n).collect::<Vec<f64>>().into());
            Features::sparse_shared(3 * N_COLS, starts.into(), columns.into(), values)
        }
    }
    .unwrap()
}

fn effort() -> Effort {
    let mut effort = Effort::default();
    // Some buffers are there once for each thread.
    (effort.tol, effort.max_iter, effort.threads) = (0.3, Some(3), 2);
    effort
}

/// Fits and scores within a quarter of the bytes of the features.
fn check(name: &str, items: &Items, fit: impl FnOnce() -> Result<Fit>) -> Vec<String> {
    let (of_fit, fit) = peak_of(fit);
    let fit = fit.unwrap();
    let (of_scores, scores) = peak_of(|| fit.model.scorer.scores(items));
    assert_eq!(scores.unwrap().len(), items.n_items());
    let share = |bytes: usize| bytes as f64 / N_BYTES as f64;
    let too_much = |what: &str, bytes| (share(bytes) > 0.25).then(|| format!("{name}, {what}: {:.2}", share(bytes)));
    [too_much("fit", of_fit), too_much("scores", of_scores)].into_iter().flatten().collect()
}

#[test]
fn linear_machines_make_no_copy_of_features() {
    let mut copies = Vec::new();
    // What threads and tables take once is taken by now.
    rayon_is_ready();
    for kind in ["dense f32", "dense f64", "sparse"] {
        let features = features(kind);
        let n = features.n_rows();
        let name = |machine: &str| format!("{machine} on {kind}");
        let mut random = Random::new(2);
        let labels: Vec<f64> = (0..n).map(|_| random.below(4) as f64).collect();
        let items = Items::new(features.clone(), None, None).unwrap();
        let classes: Vec<f64> = labels.iter().map(|label| f64::from(*label > 1.0)).collect();
        let classes = ClassItems::of_labels(items.clone(), &classes).unwrap();
        let groups = Groups::from_numbers(
            (0..n).map(|row| (row / 100) as u32).collect(),
            (0..n.div_ceil(100)).map(|group| group.to_string()).collect(),
        );
        let data = Ranking::new(items.clone(), labels, Some(groups.unwrap())).unwrap();
        copies.extend(check(&name("RankSvm"), &items, || RankSvm::new().effort(effort()).fit(&data)));
        copies.extend(check(&name("SwapSvm"), &items, || SwapSvm::new().effort(effort()).fit(&data)));
        copies.extend(check(&name("Ridge"), &items, || Ridge::new().effort(effort()).fit(&data)));
        let online = OnlineSvm::new().steps(Some(10_000)).effort(effort());
        copies.extend(check(&name("OnlineSvm"), &items, || online.fit(&data)));
        copies.extend(check(&name("SvmClassifier"), &items, || SvmClassifier::new().effort(effort()).fit(&classes)));
        copies.extend(check(&name("SvmRegressor"), &items, || SvmRegressor::new().effort(effort()).fit(&data)));
        // It keeps 160 bytes of an item at times: no copy, but more than a quarter of so short a row.
        if kind != "dense f32" {
            copies.extend(check(&name("OrdinalSvm"), &items, || OrdinalSvm::new().effort(effort()).fit(&data)));
        }
        drop((data, classes, items));

        let set = PairSet::from_alternating(features, None).unwrap();
        let items = set.items.clone();
        assert_eq!(items.n_items(), n, "all rows differ");
        let outcomes = (0..n / 2).map(|_| Outcome::ALL[random.below(3)]).collect();
        let data = Comparisons::new(set, outcomes, None, None).unwrap();
        copies.extend(check(&name("CompareSvm"), &items, || CompareSvm::new().effort(effort()).fit(&data)));
        let rank = CompareRank::new(Variant::Rank).effort(effort());
        copies.extend(check(&name("CompareRank"), &items, || rank.fit(&data)));
        copies.extend(check(&name("Davidson"), &items, || Davidson::new().effort(effort()).fit(&data)));
    }
    assert!(copies.is_empty(), "more than a quarter of the features beside them: {copies:#?}");
}

fn rayon_is_ready() {
    let items = Items::new(Features::dense_f32(1, vec![0.0, 1.0]).unwrap(), None, None).unwrap();
    Ridge::new().fit(&Ranking::new(items, vec![0.0, 1.0], None).unwrap()).unwrap();
}
