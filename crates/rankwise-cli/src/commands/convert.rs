//! `convert`: items from one format into another, and data sets as they were published.

use std::path::Path;
use std::time::Instant;

use rankwise::data::Precision;
use rankwise::io::published::{self, ArffTarget, LetorFolds, LetorPart, PublishedPairs, ReadPairs};
use rankwise::io::{self, Conversion, Converted, Format};
use serde_json::json;

use super::train::peak_memory;
use super::{check_apart, check_writable, table, target};
use crate::args::ConvertArgs;
use crate::exit::{Failure, Run};
use crate::interrupt::{self, Shield};
use crate::output::Output;
use crate::plan::{self, ConvertPlan};
use crate::text::{Facts, count};

/// Converts.
pub(super) fn run(args: &ConvertArgs, output: &Output) -> Run<()> {
    let plan = plan::convert(args)?;
    let to_file = target(Some(&args.output));
    if to_file.is_none() {
        if args.output_format.is_none() {
            return Err(Failure::Usage(
                "standard output has no extension to tell its format by; add --output-format csv, tsv or svmlight"
                    .into(),
            ));
        }
        if output.is_json() {
            return Err(Failure::Usage(
                "--json and the items cannot both go to standard output; name a file to write".into(),
            ));
        }
    }
    let path = to_file.unwrap_or(Path::new("/dev/stdout"));
    check_apart(path, [table(&args.input)])?;
    check_outside(path, Path::new(&args.input))?;
    if to_file.is_some() {
        check_writable(path)?;
    }
    output.note(|| "converting".into());
    let started = Instant::now();
    let how = Conversion {
        precision: args.precision.unwrap_or_default(),
        format: args.output_format,
        memory: usize::try_from(args.memory_mb.unwrap_or(512) << 20).unwrap_or(usize::MAX),
        stop: &interrupt::is_requested,
        ..Conversion::default()
    };
    let shield = Shield::up();
    let converted = match &plan {
        ConvertPlan::Pairs { path: input, read, group } => {
            let written = write_pairs(input, *read, group.as_deref(), path, args.output_format);
            drop(shield);
            interrupt::check()?;
            return tell_pairs(&written?, to_file, started, output);
        }
        ConvertPlan::Items { source, columns } => io::convert(source, columns, path, &how),
        ConvertPlan::Arff { path: input, target, drop } => write_arff(input, target.as_deref(), drop, path, &how),
        ConvertPlan::Letor { directory, fold, part } => write_letor(directory, *fold, *part, path, &how),
    };
    drop(shield);
    interrupt::check()?;
    let converted = converted?;
    converted.warnings.iter().for_each(|warning| output.warning(warning));
    let Some(path) = to_file else { return Ok(()) };

    let seconds = started.elapsed().as_secs_f64();
    let bytes = path.metadata().map(|found| found.len()).ok();
    let precision = converted.is_f32.map(|is_f32| if is_f32 { "f32" } else { "f64" });
    output.summary(
        || {
            json!({
                "output": path.display().to_string(),
                "bytes": bytes,
                "items": converted.items,
                "features": converted.features,
                "groups": converted.groups,
                "precision": precision,
                "sparse": converted.is_sparse,
                "regrouped": converted.regrouped,
                "seconds": seconds,
                "peak_memory_bytes": peak_memory(),
                "threads": rayon::current_num_threads(),
                "warnings": converted.warnings,
            })
        },
        || {
            let mut facts = Facts::default();
            let [items, features, groups] =
                [(converted.items, "item"), (converted.features, "feature"), (converted.groups, "group")]
                    .map(|(n, noun)| count(n, noun));
            facts.add("data", format!("{items}, {features}, {groups}"));
            if let (Some(precision), Some(is_sparse)) = (precision, converted.is_sparse) {
                facts.add("stored", format!("{precision}, {}", if is_sparse { "sparse" } else { "dense" }));
            }
            if converted.regrouped {
                facts.add("groups", "did not stand together and were put together");
            }
            facts.add("time", format!("{seconds:.2} s"));
            facts.add("file", path.display().to_string());
            facts.to_string()
        },
    )
}

/// The items of an ARFF file.
fn write_arff(
    input: &Path,
    target: Option<&str>,
    drop: &[String],
    output: &Path,
    how: &Conversion<'_>,
) -> rankwise::Result<Converted> {
    let table = published::read_arff(input)?.without(drop)?;
    let found = table.to_ranking(target.map_or(ArffTarget::Last, ArffTarget::Named), Precision::F64)?;
    let mut converted = io::convert_ranking(&found.ranking, &table.source, output, how)?;
    if found.n_incomplete > 0 {
        converted.warnings.push(format!("left out {} with missing values", count(found.n_incomplete, "row")));
    }
    Ok(converted)
}

/// A part of a fold, as wide as the widest part.
fn write_letor(
    directory: &Path,
    fold: usize,
    part: LetorPart,
    output: &Path,
    how: &Conversion<'_>,
) -> rankwise::Result<Converted> {
    let fold = LetorFolds::read(directory)?.fold(fold, Precision::F64)?;
    let ranking = match part {
        LetorPart::Train => fold.train,
        LetorPart::Validation => fold.validation,
        LetorPart::Test => fold.test,
    };
    io::convert_ranking(&ranking, &directory.display().to_string(), output, how)
}

/// The pairs of a data set, written.
fn write_pairs(
    input: &Path,
    read: ReadPairs,
    group: Option<&str>,
    output: &Path,
    format: Option<Format>,
) -> rankwise::Result<PublishedPairs> {
    let mut pairs = read(input)?;
    if let Some(group) = group {
        pairs.group_by(group)?;
    }
    pairs.write(output, format)?;
    Ok(pairs)
}

/// What was written of pairs.
fn tell_pairs(pairs: &PublishedPairs, to_file: Option<&Path>, started: Instant, output: &Output) -> Run<()> {
    let warnings = pairs.warnings();
    warnings.iter().for_each(|warning| output.warning(warning));
    let Some(path) = to_file else { return Ok(()) };
    let seconds = started.elapsed().as_secs_f64();
    let data = &pairs.comparisons;
    let n_features = if data.set.items.are_indicators { 0 } else { data.set.items.features.n_cols() };
    let grouping = pairs.grouping();
    output.summary(
        || {
            json!({
                "output": path.display().to_string(),
                "bytes": path.metadata().map(|found| found.len()).ok(),
                "pairs": data.n_pairs(),
                "ties": data.n_ties(),
                "items": data.set.items.n_items(),
                "features": n_features,
                "groups": grouping.map(|grouping| grouping.names.len()),
                "grouped_by": grouping.map(|grouping| grouping.name),
                "seconds": seconds,
                "peak_memory_bytes": peak_memory(),
                "threads": rayon::current_num_threads(),
                "warnings": warnings,
            })
        },
        || {
            let mut facts = Facts::default();
            let [pairs, ties, items] =
                [(data.n_pairs(), "pair"), (data.n_ties(), "tie"), (data.set.items.n_items(), "item")]
                    .map(|(n, noun)| count(n, noun));
            let features = match n_features {
                0 => "no features but ids".to_string(),
                n => count(n, "feature"),
            };
            facts.add("data", format!("{pairs}, {ties}, {items}, {features}"));
            if let Some(grouping) = grouping {
                facts.add("groups", format!("{}, by {}", grouping.names.len(), grouping.name));
            }
            facts.add("time", format!("{seconds:.2} s"));
            facts.add("file", path.display().to_string());
            facts.to_string()
        },
    )
}

/// Refuses to write over a file of the directory that is read.
fn check_outside(output: &Path, input: &Path) -> Run<()> {
    match (output.canonicalize(), input.canonicalize()) {
        (Ok(file), Ok(directory)) if directory.is_dir() && file.is_file() && file.starts_with(&directory) => {
            Err(Failure::Usage(format!(
                "{}: writing there might destroy the input {}; name another file to write",
                output.display(),
                input.display()
            )))
        }
        _ => Ok(()),
    }
}
