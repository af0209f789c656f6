//! Items of any format, one by one and as often as it takes.

use std::io;
use std::path::{Path, PathBuf};

use super::Conversion;
use super::survey::is_stored;
use crate::data::{Precision, Ranking};
use crate::error::{Error, Place, Result};
use crate::io::block_file::{BlockFile, RowPart};
use crate::io::{Columns, Format, IndexBase, Source, items, svmlight};

/// Items between two questions whether to stop.
const ITEMS_AT_A_TIME: usize = 256;

/// An item with what its file says of it.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct ItemRow<'a> {
    pub(in super::super) label: Option<f64>,
    pub(in super::super) weight: Option<f64>,
    pub(in super::super) group: Option<&'a str>,
    pub(in super::super) group_weight: Option<f64>,
    pub(in super::super) id: Option<&'a str>,
    /// Columns of the values, ascending; `None`: the first ones.
    pub(in super::super) columns: Option<&'a [u32]>,
    pub(in super::super) values: &'a [f64],
    /// The line it begins in, where lines are known.
    pub(in super::super) line: Option<u64>,
}

/// What takes an item.
pub(in super::super) type Take<'a> = &'a mut dyn FnMut(&ItemRow<'_>) -> Result<()>;

/// A file of items that can be read again, or items in memory.
pub(super) struct Input<'a> {
    source: Source,
    columns: &'a Columns,
    held: Option<&'a Ranking>,
    stop: &'a dyn Fn() -> bool,
    must_fit_f32: bool,
    blocks: Option<BlockFile>,
    /// Goes away with the input.
    _copy: Option<tempfile::TempPath>,
}

impl<'a> Input<'a> {
    /// Makes ready; what can be read once only is copied to the directory.
    pub(super) fn open(
        source: &Source,
        columns: &'a Columns,
        directory: &Path,
        how: &Conversion<'a>,
        format: Format,
    ) -> Result<Self> {
        let blocks = match source {
            Source::File { format: Format::Blocks, .. } => {
                let file = items::open_blocks(source, columns)?;
                file.verify()?;
                Some(file)
            }
            _ => None,
        };
        if source.format() == Format::SvmLight {
            svmlight::check_columns(source, columns)?;
        }
        let (source, copy) =
            if source.can_read_again() { (source.clone(), None) } else { copied(source, directory, how)? };
        let must_fit_f32 = how.precision == Precision::F32 && is_stored(format);
        Ok(Input { source, columns, held: None, stop: how.stop, must_fit_f32, blocks, _copy: copy })
    }

    /// Items in memory, which messages call `name`.
    pub(super) fn held(ranking: &'a Ranking, name: &str, how: &Conversion<'a>, format: Format) -> Self {
        const NO_COLUMNS: &Columns = &Columns {
            left: None,
            right: None,
            id: None,
            weight: None,
            group: None,
            time: None,
            label: None,
            drop: Vec::new(),
            separator: None,
            index_base: IndexBase::One,
            most_features: None,
        };
        Input {
            source: Source::Copy { path: PathBuf::new(), name: name.into(), format: Format::Csv },
            columns: NO_COLUMNS,
            held: Some(ranking),
            stop: how.stop,
            must_fit_f32: how.precision == Precision::F32 && is_stored(format),
            blocks: None,
            _copy: None,
        }
    }

    /// What to call it in messages.
    pub(super) fn name(&self) -> String {
        self.source.name()
    }

    /// A block file has decided how features are stored.
    pub(super) fn blocks(&self) -> Option<&BlockFile> {
        self.blocks.as_ref()
    }

    /// Whether features are in f32, where that is decided: by a block file, or because they are in memory so.
    pub(super) fn is_f32(&self) -> Option<bool> {
        let of_held = || self.held.as_ref().filter(|held| held.items.features.is_f32()).map(|_| true);
        self.blocks.as_ref().map(BlockFile::is_f32).or_else(of_held)
    }

    /// Whether items are in memory.
    pub(super) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Whether columns have types, and those of all features are of f32.
    pub(super) fn are_single(&self) -> Result<bool> {
        match self.held.is_none() && self.source.format() == Format::Parquet {
            true => items::are_single(&self.source, self.columns),
            false => Ok(false),
        }
    }

    /// How many features there are, as far as it is known before reading.
    pub(super) fn known_width(&self) -> usize {
        match (&self.held, &self.blocks) {
            (Some(held), _) => held.items.features.n_cols(),
            (None, Some(file)) => file.n_features(),
            (None, None) => 0,
        }
    }

    /// Whether features are stored compressed if that is smaller: where a file may leave zeros out.
    pub(super) fn may_be_sparse(&self) -> bool {
        match &self.held {
            Some(held) => held.items.features.is_sparse(),
            None => self.source.format() == Format::SvmLight,
        }
    }

    /// Names of features, where there are any.
    pub(super) fn feature_names(&self) -> Result<Option<Vec<String>>> {
        if let Some(held) = &self.held {
            return Ok(held.items.feature_names.clone());
        }
        match &self.blocks {
            Some(file) => Ok(file.feature_names().map(<[String]>::to_vec)),
            None if self.source.format() == Format::SvmLight => Ok(None),
            None => items::feature_names(&self.source, self.columns).map(Some),
        }
    }

    /// What is to be told of how it is read.
    pub(super) fn notes(&self) -> Result<Vec<String>> {
        let is_table = self.held.is_none() && self.source.format().is_table();
        if is_table { items::notes(&self.source, self.columns) } else { Ok(Vec::new()) }
    }

    /// Every item in the order of the file.
    pub(super) fn for_each(&self, take: Take<'_>) -> Result<()> {
        let mut n = 0usize;
        let mut each = |row: &ItemRow<'_>| {
            if n.is_multiple_of(ITEMS_AT_A_TIME) && (self.stop)() {
                return Err(Error::Interrupted);
            }
            n += 1;
            take(row)
        };
        if let Some(held) = &self.held {
            return for_each_held(held, self.must_fit_f32, &self.name(), &mut each);
        }
        match &self.blocks {
            Some(file) => for_each_of_blocks(file, &mut each),
            None if self.source.format() == Format::SvmLight => {
                svmlight::for_each(&self.source, self.columns, self.must_fit_f32, &mut each)
            }
            None => items::for_each(&self.source, self.columns, self.must_fit_f32, &mut each),
        }
    }
}

fn for_each_of_blocks(file: &BlockFile, take: Take<'_>) -> Result<()> {
    for number in 0..file.n_blocks() {
        let RowPart { features, labels, weights, runs, group_weights, text } = file.part(number)?;
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let (mut run, mut left) = (0, runs.first().copied().unwrap_or(0));
        for at in 0..features.n_rows() {
            while left == 0 && run < runs.len() {
                run += 1;
                left = runs.get(run).copied().unwrap_or(0);
            }
            left = left.saturating_sub(1);
            columns.clear();
            values.clear();
            features.for_each_in_row(at, |column, value| {
                columns.push(column as u32);
                values.push(value);
            });
            take(&ItemRow {
                label: labels.get(at).copied(),
                weight: weights.get(at).copied(),
                group: text.groups.get(run).map(String::as_str),
                group_weight: group_weights.get(run).copied(),
                id: text.ids.get(at).map(String::as_str),
                columns: features.is_sparse().then_some(&columns),
                values: &values,
                line: None,
            })?;
        }
    }
    Ok(())
}

fn for_each_held(ranking: &Ranking, must_fit_f32: bool, name: &str, take: Take<'_>) -> Result<()> {
    let features = &ranking.items.features;
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for (item, &label) in ranking.labels.iter().enumerate() {
        columns.clear();
        values.clear();
        features.for_each_in_row(item, |column, value| {
            columns.push(column as u32);
            values.push(value);
        });
        if let Some(value) = values.iter().find(|&&value| must_fit_f32 && !(value as f32).is_finite()) {
            let problem = format!("{value} is beyond the range of f32");
            return Err(Error::data(Place::file(name), problem, "store features in f64"));
        }
        let group = ranking.groups.numbers()[item] as usize;
        take(&ItemRow {
            label: Some(label),
            weight: ranking.weights.as_ref().map(|weights| weights[item]),
            group: ranking.groups.are_given().then(|| ranking.groups.name(group)),
            group_weight: ranking.group_weights.as_ref().map(|weights| weights[group]),
            id: ranking.items.ids.as_ref().map(|ids| ids[item].as_str()),
            columns: features.is_sparse().then_some(&columns),
            values: &values,
            line: None,
        })?;
    }
    Ok(())
}

/// A copy of a source on the disk, decompressed, under the name of the source.
fn copied(source: &Source, directory: &Path, how: &Conversion<'_>) -> Result<(Source, Option<tempfile::TempPath>)> {
    let name = source.name();
    if source.format() == Format::Blocks {
        return Err(Error::Unsupported {
            problem: format!("{name} cannot be read at any place, as a block file is"),
            remedy: "save it to a file first".into(),
        });
    }
    let failed = |source| Error::Io { path: PathBuf::from(&name), action: "copy to the disk", source };
    let mut file = tempfile::Builder::new().prefix(".rankwise-").tempfile_in(directory).map_err(failed)?;
    let mut text = source.open()?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        if (how.stop)() {
            return Err(Error::Interrupted);
        }
        match text.reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => io::Write::write_all(&mut file, &buffer[..n]).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(Error::Io { path: PathBuf::from(&name), action: text.action, source }),
        }
    }
    let path = file.into_temp_path();
    Ok((Source::Copy { path: path.to_path_buf(), name, format: source.format() }, Some(path)))
}
