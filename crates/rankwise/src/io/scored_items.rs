//! Items that are read and scored at once, so that of a block file only some of the features are in memory at a time.

use std::collections::HashSet;

use super::items::{open_blocks, read_for};
use super::{BlockFile, Columns, Format, ItemTable, PairFiles, PairTable, Source, pairs};
use crate::data::Items;
use crate::error::Result;
use crate::model::{ClassVerdicts, Model, Scorer};

/// Reads items and scores them with each of these. Of a block file only some megabytes of features are in memory at a time;
/// in the table they are all 0 then. Where features beyond `most_features` are read over, each model reads over those that it
/// has not.
pub fn score_items(
    source: &Source,
    columns: &Columns,
    scorers: &[&Scorer],
) -> Result<(ItemTable, Vec<Result<Vec<f64>>>)> {
    if source.format() != Format::Blocks {
        let table = read_for(source, columns, false, known(scorers).as_ref())?;
        let may_cut = columns.most_features.is_some();
        let score = |scorer: &&Scorer| match may_cut && is_narrower(scorer, &table.items) {
            true => scorer.scores(&first_features(&table.items, scorer.n_features)?),
            false => scorer.scores(&table.items),
        };
        let scores = scorers.iter().map(score).collect();
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
        let table = read_for(source, columns, true, known(&[&model.scorer]).as_ref())?;
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

/// Reads items as [`super::read_items`] does, in f64, for a model: what is called like one of its features is nothing else.
pub fn read_items_for(source: &Source, columns: &Columns, scorer: &Scorer) -> Result<ItemTable> {
    read_for(source, columns, false, known(&[scorer]).as_ref())
}

/// Reads pairs as [`super::read_pairs`] does, for a model: what is called like one of its features in the table of items is
/// nothing else.
pub fn read_pairs_for(files: &PairFiles, scorer: &Scorer) -> Result<PairTable> {
    pairs::read_for(files, known(&[scorer]).as_ref())
}

/// The names of the features of models, where all have names.
fn known<'a>(scorers: &[&'a Scorer]) -> Option<HashSet<&'a str>> {
    let names = |scorer: &&'a Scorer| scorer.feature_names.as_deref().filter(|_| !scorer.are_indicators);
    let names = scorers.iter().map(names).collect::<Option<Vec<&[String]>>>()?;
    Some(names.into_iter().flatten().map(String::as_str).collect())
}

/// Whether a model without names has fewer features than items without names.
fn is_narrower(scorer: &Scorer, items: &Items) -> bool {
    let has_names = scorer.feature_names.is_some() || items.feature_names.is_some();
    !has_names && scorer.n_features < items.features.n_cols()
}

/// Items without their last features.
fn first_features(items: &Items, n: usize) -> Result<Items> {
    let columns: Vec<Option<usize>> = (0..n).map(Some).collect();
    Items::new(items.features.select_columns(&columns), None, items.ids.clone())
}

/// The items of a block.
fn items_of(file: &BlockFile, number: usize) -> Result<Items> {
    let part = file.part(number)?;
    let ids = Some(part.text.ids).filter(|ids| !ids.is_empty());
    Items::new(part.features, file.feature_names().map(<[String]>::to_vec), ids)
}
