//! What the targets share: files in memory, what errors must say, when two reads are the same, how much memory there is.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rankwise::data::{Comparisons, Features};
use rankwise::io::{Format, ItemTable, Source};
use rankwise::{Error, Result};

/// No input of a few kilobytes may make a reader ask for more than this at once, nor hold four times as much in all.
static MOST_AT_ONCE: AtomicUsize = AtomicUsize::new(64 << 20);

/// The system's allocator, which ends the process where an input asks for too much.
struct Bounded;

static HELD: AtomicUsize = AtomicUsize::new(0);

fn count(more: usize) {
    let held = HELD.fetch_add(more, Relaxed) + more;
    let most = MOST_AT_ONCE.load(Relaxed);
    if more > most || held > 4 * most {
        HELD.store(0, Relaxed); // what is told of it needs memory, too
        eprintln!("an input asked for {more} bytes, {held} in all");
        std::process::abort();
    }
}

// SAFETY: everything is the system's allocator's; numbers are counted besides.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size().min(HELD.load(Relaxed)), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        HELD.fetch_sub(layout.size().min(HELD.load(Relaxed)), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;

/// Makes this thread the only one: an input is read in microseconds, which is what waking another thread takes.
pub fn alone() {
    static START: Once = Once::new();
    START.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        pool.build_global().expect("no pool was made before");
    });
}

/// Lets readers ask for this much at once, as long as they do not use it: libFuzzer looks at that.
pub fn may_ask_for(bytes: usize) {
    MOST_AT_ONCE.store(bytes, Relaxed);
}

/// A folder in memory, of this process: readers read paths.
fn folder() -> PathBuf {
    let parent = std::env::var_os("RANKWISE_FUZZ_DIR").map(PathBuf::from).unwrap_or_else(|| "/dev/shm".into());
    let parent = if parent.is_dir() { parent } else { std::env::temp_dir() };
    let folder = parent.join(format!("rankwise-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

thread_local! {
    static FOLDER: PathBuf = folder();
    static FILES: RefCell<HashMap<String, (File, PathBuf)>> = RefCell::default();
}

/// The path of a file that is not there yet, or of one to be written over.
pub fn path(name: &str) -> PathBuf {
    FOLDER.with(|folder| folder.join(name))
}

/// A file of this name with this content; files stay open, which is what takes the time.
pub fn file(name: &str, content: &[u8]) -> PathBuf {
    FILES.with_borrow_mut(|files| {
        let (file, path) = files.entry(name.into()).or_insert_with(|| {
            let path = path(name);
            std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder can be made");
            (File::create(&path).expect("a file can be made"), path)
        });
        file.set_len(content.len() as u64).expect("there is room");
        file.write_all_at(content, 0).expect("there is room");
        path.clone()
    })
}

/// The same as a source.
pub fn source(name: &str, content: &[u8], format: Format) -> Source {
    Source::File { path: file(name, content), format }
}

/// Splits an input at the first byte that no text has.
pub fn halves(input: &[u8]) -> (&[u8], Option<&[u8]>) {
    match input.iter().position(|&byte| byte == 0xff) {
        Some(at) => (&input[..at], Some(&input[at + 1..])),
        None => (input, None),
    }
}

/// An error is said in words and names a line that the text has.
pub fn check<T>(result: Result<T>, text: &[u8]) -> Option<T> {
    let error = match result {
        Ok(value) => return Some(value),
        Err(error) => error,
    };
    assert!(!error.to_string().is_empty());
    if let Error::Data { place, .. } = &error {
        let n_lines = 1 + text.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count() as u64;
        if let Some(line) = place.line {
            assert!((1..=n_lines).contains(&line), "line {line} of {n_lines}: {error}");
        }
        assert!(place.column.as_ref().is_none_or(|(column, _)| *column >= 1), "{error}");
    }
    None
}

/// The entries other than 0 of all rows.
fn entries(features: &Features) -> Vec<(usize, usize, u64)> {
    let mut found = Vec::new();
    for row in 0..features.n_rows() {
        features.for_each_in_row(row, |column, value| {
            assert!(value.is_finite() && column < features.n_cols());
            if value != 0.0 {
                found.push((row, column, value.to_bits()));
            }
        });
    }
    found
}

fn bits(numbers: Option<&Vec<f64>>) -> Option<Vec<u64>> {
    numbers.map(|numbers| numbers.iter().map(|number| (number + 0.0).to_bits()).collect())
}

/// The group of every item by name.
fn groups(table: &ItemTable) -> Option<Vec<String>> {
    let groups = table.groups.as_ref()?;
    Some(groups.numbers().iter().map(|&group| groups.name(group as usize).to_string()).collect())
}

/// Two tables have the same items, whatever their features are stored in.
pub fn assert_same_items(a: &ItemTable, b: &ItemTable) {
    assert_eq!(a.items.n_items(), b.items.n_items());
    assert_eq!(entries(&a.items.features), entries(&b.items.features));
    assert_eq!(bits(a.labels.as_ref()), bits(b.labels.as_ref()));
    assert_eq!(bits(a.weights.as_ref()), bits(b.weights.as_ref()));
    assert_eq!(groups(a), groups(b));
}

/// Every item's weight, that of its group included.
pub fn total_weights(table: &ItemTable) -> Vec<u64> {
    let group = |item: usize| table.groups.as_ref().map_or(0, |groups| groups.numbers()[item] as usize);
    let of_group = |item: usize| table.group_weights.as_ref().map_or(1.0, |weights| weights[group(item)]);
    let of_item = |item: usize| table.weights.as_ref().map_or(1.0, |weights| weights[item]);
    (0..table.items.n_items()).map(|item| (of_item(item) * of_group(item) + 0.0).to_bits()).collect()
}

/// Groups by the order in which they come.
fn renumbered(groups: Option<&Vec<u32>>) -> Option<Vec<usize>> {
    let mut seen: HashMap<u32, usize> = HashMap::new();
    groups.map(|groups| {
        let number = |&group: &u32| {
            let next = seen.len();
            *seen.entry(group).or_insert(next)
        };
        groups.iter().map(number).collect()
    })
}

/// Two tables have the same pairs.
pub fn assert_same_pairs(a: &Comparisons, b: &Comparisons) {
    let sides = |data: &Comparisons| -> Vec<(Option<String>, Vec<u64>)> {
        let (items, n) = (&data.set.items, data.set.items.features.n_cols());
        let side = |item: u32| {
            let mut row = vec![0.0; n];
            items.features.copy_row(item as usize, &mut row);
            let id = items.ids.as_ref().map(|ids| ids[item as usize].clone());
            (id, row.iter().map(|value| (value + 0.0).to_bits()).collect())
        };
        data.set.pairs.iter().flat_map(|pair| [side(pair.left), side(pair.right)]).collect()
    };
    assert_eq!(sides(a), sides(b));
    assert_eq!(a.outcomes, b.outcomes);
    assert_eq!(bits(a.weights.as_ref()), bits(b.weights.as_ref()));
    assert_eq!(renumbered(a.groups.as_ref()), renumbered(b.groups.as_ref()));
    let context = |data: &Comparisons| {
        data.set.context.as_ref().map(|context| (context.names.clone(), entries(&context.features)))
    };
    assert_eq!(context(a), context(b));
}
