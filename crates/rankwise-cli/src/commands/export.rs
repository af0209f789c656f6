//! `export`: a model for another program.

use std::path::Path;

use rankwise::export::{ExportOptions, Target, export};
use rankwise::io;
use serde_json::json;

use super::{check_apart, check_writable, target};
use crate::args::ExportArgs;
use crate::exit::{Failure, Run};
use crate::output::{self, Output};
use crate::text::{Facts, count};

/// Exports.
pub(super) fn run(args: &ExportArgs, output: &Output) -> Run<()> {
    let to_file = target(args.output.as_ref());
    let to = meant(args, to_file)?;
    if to_file.is_none() && output.is_json() {
        return Err(Failure::Usage(
            "--json and the model cannot both go to standard output; name a file to write (-o)".into(),
        ));
    }
    if to_file.is_none() && !to.is_text() {
        return Err(Failure::Usage(format!("{} is no text; name a file to write (-o model.onnx)", to.name())));
    }
    if let Some(path) = to_file {
        check_apart(path, [args.model.as_path()])?;
        check_writable(path)?;
    }
    let model = io::read_model(&args.model)?;
    let mut options = ExportOptions::new().scores(args.scores);
    (options.name, options.store, options.dialect) = (args.name.clone(), args.store.clone(), args.dialect);
    let exported = export(&model, to, &options)?;
    let Some(path) = to_file else {
        exported.notes.iter().for_each(|note| output.warning(note));
        return output.raw(&exported.bytes);
    };
    output::write_file(path, &exported.bytes)?;
    output.summary(
        || {
            json!({
                "output": path.display().to_string(),
                "to": to,
                "bytes": exported.bytes.len(),
                "method": model.training.method,
                "kernel": model.training.kernel.name(),
                "features": model.scorer.n_features,
                "warnings": exported.notes,
            })
        },
        || {
            let mut facts = Facts::default();
            let features = count(model.scorer.n_features, "feature");
            let (method, kernel) = (model.training.method.name(), model.training.kernel.name());
            facts.add("model", format!("{method}, {kernel}, {features}"));
            facts.add("for", to.name());
            exported.notes.iter().for_each(|note| facts.add("note", note.as_str()));
            facts.add("file", format!("{}, {}", path.display(), count(exported.bytes.len(), "byte")));
            facts.to_string()
        },
    )
}

/// Who is to read it: as said, or as the name of the file tells.
fn meant(args: &ExportArgs, to_file: Option<&Path>) -> Run<Target> {
    if let Some(to) = args.to {
        return Ok(to);
    }
    to_file.and_then(Target::of_path).ok_or_else(|| {
        let why = match to_file {
            Some(path) => format!("{}: the name does not end with .onnx, .sql or .json", path.display()),
            None => "standard output has no ending that tells who is to read it".into(),
        };
        let all: Vec<&str> = Target::ALL.iter().map(|target| target.name()).collect();
        Failure::Usage(format!("{why}; add --to, one of {}", all.join(", ")))
    })
}
