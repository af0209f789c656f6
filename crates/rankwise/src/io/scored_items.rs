//! Items that are read and scored at once, so that of a block file only some of the features are in memory at a time.

use super::items::{open_blocks, read_classes, read_items};
use super::{BlockFile, Columns, Format, ItemTable, Source};
use crate::data::{Items, Precision};
use crate::error::Result;
use crate::model::{ClassVerdicts, Model, Scorer};

/// Reads items and scores them with each of these. Of a block file only some megabytes of features are in memory at a time;
/// in the table they are all 0 then.
pub fn score_items(
    source: &Source,
    columns: &Columns,
    scorers: &[&Scorer],
) -> Result<(ItemTable, Vec<Result<Vec<f64>>>)> {
    if source.format() != Format::Blocks {
        // In f64, so that a row's score does not depend on the rows around it.
        let table = read_items(source, columns, Precision::F64)?;
        let scores = scorers.iter().map(|scorer| scorer.scores(&table.items)).collect();
        return Ok((table, scores));
    }
    let file = open_blocks(source, columns)?;
    file.verify()?;
    let table = file.heads()?;
    let mut scores: Vec<Result<Vec<f64>>> = scorers.iter().map(|_| Ok(Vec::new())).collect();
    for number in 0..file.n_blocks() {
        let items = items_of(&file, number)?;
        for (scorer, scores) in scorers.iter().zip(&mut scores) {
            if let Ok(all) = scores {
                match scorer.scores(&items) {
                    Ok(some) => all.extend(some),
                    Err(error) => *scores = Err(error),
                }
            }
        }
    }
    Ok((table, scores))
}

/// Reads items and says what a classifier makes of them, as [`score_items`] does; labels may be words.
pub fn classify_items(source: &Source, columns: &Columns, model: &Model) -> Result<(ItemTable, ClassVerdicts)> {
    if source.format() != Format::Blocks {
        let table = read_classes(source, columns, Precision::F64)?;
        let verdicts = model.classify(&table.items)?;
        return Ok((table, verdicts));
    }
    let file = open_blocks(source, columns)?;
    file.verify()?;
    let table = file.heads()?;
    let mut verdicts: Option<ClassVerdicts> = None;
    for number in 0..file.n_blocks() {
        let items = items_of(&file, number)?;
        let found = model.classify(&items)?;
        match &mut verdicts {
            None => verdicts = Some(found),
            Some(all) => all.extend(found),
        }
    }
    let nothing = || model.classify(&table.items.select(&[]));
    let verdicts = verdicts.map_or_else(nothing, Ok)?;
    Ok((table, verdicts))
}

/// The items of a block.
fn items_of(file: &BlockFile, number: usize) -> Result<Items> {
    let part = file.part(number)?;
    let ids = Some(part.text.ids).filter(|ids| !ids.is_empty());
    Items::new(part.features, file.feature_names().map(<[String]>::to_vec), ids)
}
