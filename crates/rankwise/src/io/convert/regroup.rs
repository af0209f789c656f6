//! Items whose groups do not stand together, put together by way of the disk.
//!
//! Groups in the order of their first items are parted into buckets that fit the memory. Every item is written to the file
//! of its bucket, and each bucket is read, put in the order of its groups and passed on. A group that is larger than the
//! memory has a bucket of its own, whose items are in order already.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use super::input::{Input, ItemRow};
use super::survey::Survey;
use super::{Conversion, failed};
use crate::error::{Error, Result};

/// More files at a time would be more than systems like.
const MOST_BUCKETS: usize = 200;

/// An item on its way, with its number and that of its group.
#[derive(Debug, Default)]
struct Parked {
    number: usize,
    group: usize,
    label: Option<f64>,
    weight: Option<f64>,
    group_weight: Option<f64>,
    name: Option<String>,
    id: Option<String>,
    columns: Option<Vec<u32>>,
    values: Vec<f64>,
}

/// Hands over every item, groups one after the other.
pub(super) fn for_each(
    input: &Input<'_>,
    survey: &Survey,
    directory: &Path,
    how: &Conversion<'_>,
    take: &mut dyn FnMut(usize, usize, &ItemRow<'_>) -> Result<()>,
) -> Result<()> {
    let total: usize = survey.groups().iter().map(|group| group.bytes).sum();
    let most = (how.memory / 4).max(1 << 20).max(total / MOST_BUCKETS);
    // The bucket of each group, and how many groups each bucket has.
    let (mut bucket_of, mut sizes, mut n_bytes) = (Vec::new(), Vec::new(), usize::MAX);
    for group in survey.groups() {
        if n_bytes.saturating_add(group.bytes) > most {
            sizes.push(0usize);
            n_bytes = 0;
        }
        n_bytes += group.bytes;
        bucket_of.push(sizes.len() - 1);
        *sizes.last_mut().unwrap_or(&mut 0) += 1;
    }
    let failed = failed(directory);
    let new_file = |_: &usize| tempfile::tempfile_in(directory).map(|file| BufWriter::with_capacity(1 << 16, file));
    let mut files: Vec<BufWriter<File>> = sizes.iter().map(new_file).collect::<io::Result<_>>().map_err(&failed)?;
    survey.for_each_again(input, &mut |number, group, row| {
        park(&mut files[bucket_of[group]], number, group, row).map_err(&failed)
    })?;
    for (file, size) in files.into_iter().zip(sizes) {
        let mut file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.rewind().map_err(&failed)?;
        let mut file = BufReader::with_capacity(1 << 16, file);
        let mut waiting = Vec::new();
        while let Some(parked) = unpark(&mut file).map_err(&failed)? {
            if (how.stop)() {
                return Err(Error::Interrupted);
            }
            match size {
                1 => parked.hand_over(take)?,
                _ => waiting.push(parked),
            }
        }
        waiting.sort_by_key(|parked| parked.group);
        waiting.iter().try_for_each(|parked| parked.hand_over(take))?;
    }
    Ok(())
}

impl Parked {
    fn hand_over(&self, take: &mut dyn FnMut(usize, usize, &ItemRow<'_>) -> Result<()>) -> Result<()> {
        let row = ItemRow {
            label: self.label,
            weight: self.weight,
            group: self.name.as_deref(),
            group_weight: self.group_weight,
            id: self.id.as_deref(),
            columns: self.columns.as_deref(),
            values: &self.values,
            line: None,
        };
        take(self.number, self.group, &row)
    }
}

fn park(out: &mut impl Write, number: usize, group: usize, row: &ItemRow<'_>) -> io::Result<()> {
    out.write_all(&(number as u64).to_le_bytes())?;
    out.write_all(&(group as u64).to_le_bytes())?;
    for number in [row.label, row.weight, row.group_weight] {
        // What is there is finite.
        out.write_all(&number.unwrap_or(f64::NAN).to_le_bytes())?;
    }
    for text in [row.group, row.id] {
        out.write_all(&text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes())?;
        out.write_all(text.unwrap_or_default().as_bytes())?;
    }
    out.write_all(&row.columns.map_or(u64::MAX, |columns| columns.len() as u64).to_le_bytes())?;
    out.write_all(bytemuck::cast_slice(row.columns.unwrap_or_default()))?;
    out.write_all(&(row.values.len() as u64).to_le_bytes())?;
    out.write_all(bytemuck::cast_slice(row.values))
}

fn unpark(file: &mut impl Read) -> io::Result<Option<Parked>> {
    let mut first = [0; 8];
    if file.read(&mut first[..1])? == 0 {
        return Ok(None);
    }
    file.read_exact(&mut first[1..])?;
    let mut next = || -> io::Result<[u8; 8]> {
        let mut bytes = [0; 8];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    let group = u64::from_le_bytes(next()?) as usize;
    let mut number = || next().map(|bytes| Some(f64::from_le_bytes(bytes)).filter(|number| !number.is_nan()));
    let (label, weight, group_weight) = (number()?, number()?, number()?);
    let name = text(file)?;
    let id = text(file)?;
    let columns = match length(file)? {
        None => None,
        Some(n) => {
            let mut columns = vec![0u32; n];
            file.read_exact(bytemuck::cast_slice_mut(&mut columns))?;
            Some(columns)
        }
    };
    let mut values = vec![0.0; length(file)?.unwrap_or(0)];
    file.read_exact(bytemuck::cast_slice_mut(&mut values))?;
    let number = u64::from_le_bytes(first) as usize;
    Ok(Some(Parked { number, group, label, weight, group_weight, name, id, columns, values }))
}

fn length(file: &mut impl Read) -> io::Result<Option<usize>> {
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes)?;
    Ok(Some(u64::from_le_bytes(bytes)).filter(|&n| n != u64::MAX).map(|n| n as usize))
}

fn text(file: &mut impl Read) -> io::Result<Option<String>> {
    let Some(n) = length(file)? else { return Ok(None) };
    let mut bytes = vec![0; n];
    file.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map(Some).map_err(io::Error::other)
}
