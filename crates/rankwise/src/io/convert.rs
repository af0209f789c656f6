//! Items from one format into another, without ever having all of them in memory.
//!
//! `input → survey (what there is, how to store it) → input again → sink`. A block file has the items of a group together:
//! where the input has not, items go by way of files on the disk (`regroup`).

mod input;
#[cfg(feature = "parquet")]
mod parquet_file;
mod regroup;
mod sink;
mod survey;
mod text;

use std::path::Path;

use input::Input;
pub(super) use input::ItemRow;
use sink::Sink;
use survey::Survey;

use super::block_file::Shape;
use super::output::write_atomically;
use super::{Columns, Format, Source};
use crate::data::{Precision, Ranking};
use crate::error::{Error, Result};

/// How items are converted.
#[derive(Clone, Copy)]
pub struct Conversion<'a> {
    /// How features are stored in a block file.
    pub precision: Precision,
    /// What is written; `None`: what the name of the file says.
    pub format: Option<Format>,
    /// Bytes to be used for items that have to be put together.
    pub memory: usize,
    /// Bytes of a block of a block file; what is damaged or read at once, and larger only by the rest of a group.
    pub block_bytes: usize,
    /// Asked now and then; says yes when the work is to end, which is [`Error::Interrupted`] then.
    pub stop: &'a dyn Fn() -> bool,
}

impl Default for Conversion<'_> {
    fn default() -> Self {
        Conversion {
            precision: Precision::Auto,
            format: None,
            memory: 512 << 20,
            block_bytes: 8 << 20,
            stop: &|| false,
        }
    }
}

/// What was converted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// Items.
    pub items: usize,
    /// Features.
    pub features: usize,
    /// Groups; without any all items are one.
    pub groups: usize,
    /// Whether a block file has compressed rows; `None` for other formats.
    pub is_sparse: Option<bool>,
    /// Whether a block file has features in f32; `None` for other formats.
    pub is_f32: Option<bool>,
    /// Whether groups did not stand together and were put together.
    pub regrouped: bool,
    /// What got lost.
    pub warnings: Vec<String>,
}

/// Converts a file of items (SVMlight's format, CSV, TSV, Parquet, block file) into another one, which appears complete or not at
/// all. Reads the input twice, once to know what there is; standard input is copied to the disk first.
///
/// Block files keep everything. Text keeps every number: reading it again gives the same ones. SVMlight's format has no names
/// of features and no weights of groups.
pub fn convert(source: &Source, columns: &Columns, target: &Path, how: &Conversion<'_>) -> Result<Converted> {
    let format = match how.format {
        Some(format) => format,
        None => Format::of_target(target)?,
    };
    let directory = directory_of(target);
    let input = Input::open(source, columns, directory, how, format)?;
    source.blame(convert_input(&input, target, format, how))
}

/// Writes items that are in memory, known as `name`, as [`convert`] does. Features of a name that means something else in a
/// table of items (`weight`, `label`, …) get a `_` behind it, and a warning says so.
pub fn convert_ranking(ranking: &Ranking, name: &str, target: &Path, how: &Conversion<'_>) -> Result<Converted> {
    let format = how.format.map_or_else(|| Format::of_target(target), Ok)?;
    convert_input(&Input::held(ranking, name, how, format), target, format, how)
}

/// The directory that a file is in.
fn directory_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn convert_input(input: &Input<'_>, target: &Path, format: Format, how: &Conversion<'_>) -> Result<Converted> {
    let directory = directory_of(target);
    let mut survey = Survey::of(input, how, format)?;
    let shape = survey.shape(input, how.precision, format)?;
    sink::check(format, &shape)?;
    // Of what is in memory all files are to have the same names; a block file has any.
    let has_names = format.is_table() || format == Format::Blocks && input.is_held();
    let renamed = if has_names { survey.rename(&shape) } else { Vec::new() };
    let must_regroup = format == Format::Blocks && !survey.is_grouped();
    let mut failure = None;
    let written = write_atomically(target, |out| {
        let mut write = || -> Result<()> {
            let mut sink = Sink::new(format, out, target, shape, survey.feature_names(), how.block_bytes)?;
            let mut last_group = None;
            let mut push = |number: usize, group: usize, row: &ItemRow<'_>| {
                let begins_group = last_group.replace(group) != Some(group);
                sink.push(number, begins_group, row)
            };
            if must_regroup {
                regroup::for_each(input, &survey, directory, how, &mut push)?;
            } else {
                survey.for_each_again(input, &mut push)?;
            }
            if sink.finish()? { Ok(()) } else { Err(crate::data::rows_are_gone(&input.name())) }
        };
        write().map_err(|error| {
            failure = Some(error);
            std::io::Error::other("the conversion has failed")
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    written?;
    let is_blocks = format == Format::Blocks;
    Ok(Converted {
        items: shape.n_items,
        features: shape.n_features,
        groups: shape.n_groups,
        is_sparse: is_blocks.then_some(shape.is_sparse),
        is_f32: is_blocks.then_some(shape.is_f32),
        regrouped: must_regroup,
        warnings: input.notes()?.into_iter().chain(sink::losses(format, &shape)).chain(renamed).collect(),
    })
}

/// The error of a file that is written.
fn failed(target: &Path) -> impl Fn(std::io::Error) -> Error {
    move |source| Error::Io { path: target.to_path_buf(), action: "write", source }
}
