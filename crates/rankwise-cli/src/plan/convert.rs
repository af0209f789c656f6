//! What `convert` reads: a file of items, or a data set as it was published.

use std::path::{Path, PathBuf};

use rankwise::io::published::{LetorPart, ReadPairs};
use rankwise::io::{Columns, Source};

use super::{item_source, refuse};
use crate::args::{ConvertArgs, Published};
use crate::exit::{Failure, Run};

/// What is converted.
pub(crate) enum ConvertPlan {
    /// A file of items.
    Items { source: Source, columns: Columns },
    /// An ARFF file; its target, if it is not the last attribute, and the attributes to leave out.
    Arff { path: PathBuf, target: Option<String>, drop: Vec<String> },
    /// A part of a fold.
    Letor { directory: PathBuf, fold: usize, part: LetorPart },
    /// Compared pairs, and what to group them by.
    Pairs { path: PathBuf, read: ReadPairs, group: Option<String> },
}

/// What was asked for.
pub(crate) fn convert(args: &ConvertArgs) -> Run<ConvertPlan> {
    let from = match args.from {
        None if args.format.format.is_none() && is_arff(&args.input) => Some(Published::Arff),
        from => from,
    };
    if !matches!(from, Some(Published::Letor)) {
        let typed = [("--fold", args.fold.is_some()), ("--part", args.part.is_some())];
        refuse(&typed, "data without folds", "give --from letor")?;
    }
    let Some(from) = from else {
        let (source, columns) = item_source(&args.input, args.format.format, &args.columns)?;
        return Ok(ConvertPlan::Items { source, columns });
    };
    let path = PathBuf::from(&args.input);
    if args.input == "-" {
        return Err(Failure::Usage("--from reads a file or a directory, not standard input; save it first".into()));
    }
    let columns = &args.columns;
    let word = match from {
        Published::Arff => "arff",
        Published::Letor => "letor",
        Published::Pairs(word, _) => word,
    };
    let [is_arff, is_letor] = [matches!(from, Published::Arff), matches!(from, Published::Letor)];
    let is_pairs = !is_arff && !is_letor;
    let typed = [
        ("--format", args.format.format.is_some()),
        ("--id", columns.id.is_some()),
        ("--weight", columns.weight.is_some()),
        ("--index-base", columns.index_base.is_some()),
        ("--separator", columns.separator.is_some()),
        ("--label", !is_arff && columns.label.is_some()),
        ("--drop", !is_arff && !columns.drop.is_empty()),
        ("--group", !is_pairs && columns.group.is_some()),
        ("--precision", is_pairs && args.precision.is_some()),
        ("--memory-mb", is_pairs && args.memory_mb.is_some()),
    ];
    refuse(&typed, &format!("--from {word}, which knows its columns"), "convert the file that comes out of this")?;
    Ok(match from {
        Published::Arff => ConvertPlan::Arff { path, target: columns.label.clone(), drop: columns.drop.clone() },
        Published::Letor => match (args.fold, args.part) {
            (Some(fold), Some(part)) => ConvertPlan::Letor { directory: path, fold, part },
            _ => {
                return Err(Failure::Usage(
                    "--from letor takes one part of one fold: add --fold 1 to 5, and --part train, validation or test; \
                     a single file in this format is converted without --from"
                        .into(),
                ));
            }
        },
        Published::Pairs(_, read) => ConvertPlan::Pairs { path, read, group: columns.group.clone() },
    })
}

/// Whether the name of a file says that it is ARFF, compressed or not.
fn is_arff(typed: &str) -> bool {
    let path = Path::new(typed);
    let has = |path: &Path, wanted: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(wanted));
    let is_compressed = ["gz", "xz", "zst"].iter().any(|ending| has(path, ending));
    has(path, "arff") || is_compressed && has(&path.with_extension(""), "arff")
}
