//! `convert`: items from one format into another.

use std::path::Path;
use std::time::Instant;

use rankwise::io::{self, Conversion};
use serde_json::json;

use super::train::peak_memory;
use super::{check_apart, check_writable, table, target};
use crate::args::ConvertArgs;
use crate::exit::{Failure, Run};
use crate::interrupt::{self, Shield};
use crate::output::Output;
use crate::plan;
use crate::text::{Facts, count};

/// Converts.
pub(super) fn run(args: &ConvertArgs, output: &Output) -> Run<()> {
    let (source, columns) = plan::item_source(&args.input, args.format.format, &args.columns)?;
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
    if to_file.is_some() {
        check_writable(path)?;
    }
    output.note(|| "converting".into());
    let started = Instant::now();
    let how = Conversion {
        precision: args.precision,
        format: args.output_format,
        memory: usize::try_from(args.memory_mb << 20).unwrap_or(usize::MAX),
        stop: &interrupt::is_requested,
        ..Conversion::default()
    };
    let shield = Shield::up();
    let converted = io::convert(&source, &columns, path, &how);
    drop(shield);
    interrupt::check()?;
    let converted = converted.map_err(of_pipe)?;
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

/// Whoever reads standard output may have seen enough.
fn of_pipe(error: rankwise::Error) -> Failure {
    match error {
        rankwise::Error::Io { action: "write", source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe => {
            Failure::ClosedPipe
        }
        error => error.into(),
    }
}
