//! The items of a block file: all in memory, or with their features left in the file.

use super::layout::{Array, fault, impossible};
use super::reader::{Block, BlockFile};
use super::rows::BlockRows;
use crate::data::{Features, Groups, Items, RowSource, StoredHeads, StoredRanking, Values};
use crate::error::{Error, Place, Result};
use crate::io::ItemTable;

impl BlockFile {
    /// The group that each run belongs to begins where its first run does: ends of groups, and a weight for each, of some
    /// blocks of which the first begins a group.
    fn groups(&self, blocks: &[Block]) -> Result<(Vec<u32>, Option<Vec<f64>>)> {
        let (mut ends, mut weights) = (Vec::<u32>::new(), Vec::new());
        let mut end = 0u32;
        for block in blocks {
            let runs: Vec<u32> = self.array(block, Array::Runs)?;
            let of_runs: Vec<f64> = self.array(block, Array::GroupWeights)?;
            for (at, n) in runs.into_iter().enumerate() {
                end = end.checked_add(n).ok_or_else(|| crate::data::rows_are_gone(&self.name))?;
                if at == 0 && block.entry.goes_on {
                    ends.pop();
                    if self.shape.has_group_weights && weights.last() != of_runs.first() {
                        return Err(impossible(&self.name, "the weight of a group"));
                    }
                } else {
                    weights.extend(of_runs.get(at));
                }
                ends.push(end);
            }
        }
        if end as usize != n_items(blocks) {
            return Err(crate::data::rows_are_gone(&self.name));
        }
        Ok((ends, self.shape.has_group_weights.then_some(weights)))
    }

    /// Names of groups, and ids.
    fn names_and_ids(&self, blocks: &[Block]) -> Result<(Vec<String>, Vec<String>)> {
        let (mut names, mut ids) = (Vec::<String>::new(), Vec::new());
        for block in blocks {
            let text = self.text(block)?;
            let mut of_runs = text.groups.into_iter();
            if block.entry.goes_on && self.shape.has_groups && of_runs.next() != names.last().cloned() {
                return Err(impossible(&self.name, "the name of a group"));
            }
            names.extend(of_runs);
            ids.extend(text.ids);
        }
        Ok((names, ids))
    }

    fn some(&self, has: bool, blocks: &[Block], array: Array) -> Result<Option<Vec<f64>>> {
        Ok(if has { Some(self.arrays(blocks, array)?) } else { None })
    }

    /// Everything but the features, which are all 0 in the table; verify first.
    pub(in super::super) fn heads(&self) -> Result<ItemTable> {
        let starts = vec![0; self.shape.n_items + 1];
        let nothing = Values::F32(Vec::new().into());
        let features =
            Features::trusted(self.shape.n_items, self.shape.n_features, nothing, Some((starts, Vec::new())));
        self.table_with(features, &self.blocks)
    }

    fn table_with(&self, features: Features, blocks: &[Block]) -> Result<ItemTable> {
        let (ends, group_weights) = self.groups(blocks)?;
        let (names, ids) = self.names_and_ids(blocks)?;
        let groups = self.shape.has_groups.then(|| {
            let mut numbers = Vec::with_capacity(features.n_rows());
            ends.iter().enumerate().for_each(|(group, &end)| numbers.resize(end as usize, group as u32));
            Groups::trusted(numbers, names)
        });
        let ids = self.shape.has_ids.then_some(ids);
        Ok(ItemTable {
            items: Items::new(features, self.feature_names().map(<[String]>::to_vec), ids)?,
            labels: self.some(self.shape.has_labels, blocks, Array::Labels)?,
            words: None,
            margins: None,
            groups,
            weights: self.some(self.shape.has_weights, blocks, Array::Weights)?,
            group_weights,
            unused_columns: Vec::new(),
            notes: Vec::new(),
            source: self.name.clone(),
        })
    }

    /// All items in memory; verifies the file.
    pub(in super::super) fn into_table(self) -> Result<ItemTable> {
        self.verify()?;
        let mut table = self.heads()?;
        let all = 0..self.shape.n_items;
        BlockRows::new(self)?.load(std::slice::from_ref(&all), &mut table.items.features)?;
        Ok(table)
    }

    /// Items to be ranked whose features stay in the file, with `memory` bytes to be used; verifies the file.
    pub fn into_stored(self, memory: usize) -> Result<StoredRanking> {
        self.verify()?;
        if !self.shape.has_labels {
            return Err(Error::data(
                Place::file(self.name),
                "no labels, which say how good each item is",
                "convert a file that has them",
            ));
        }
        if self.shape.n_items == 0 {
            return Err(fault(&self.name, "no items", "convert a file that has some"));
        }
        let (group_ends, group_weights) = self.groups(&self.blocks)?;
        let heads = StoredHeads {
            feature_names: self.feature_names().map(<[String]>::to_vec),
            labels: self.arrays(&self.blocks, Array::Labels)?,
            group_ends,
            weights: self.some(self.shape.has_weights, &self.blocks, Array::Weights)?,
            group_weights,
        };
        Ok(StoredRanking::trusted(Box::new(BlockRows::new(self)?), heads, memory))
    }
}

/// A block file read part by part.
pub(in super::super) struct BlockStream {
    file: BlockFile,
    next: usize,
}

impl BlockStream {
    /// Of a file that was verified.
    pub(in super::super) fn new(file: BlockFile) -> Self {
        BlockStream { file, next: 0 }
    }

    /// The items of the next block, with all of its last group; none after the last ones.
    pub(in super::super) fn next_part(&mut self) -> Result<Option<ItemTable>> {
        let file = &self.file;
        let Some(first) = file.blocks.get(self.next) else { return Ok(None) };
        let n_more = file.blocks[self.next + 1..].iter().take_while(|block| block.entry.goes_on).count();
        let blocks = &file.blocks[self.next..=self.next + n_more];
        let mut features = file.block_features(first)?;
        for block in &blocks[1..] {
            features = features.stacked(&file.block_features(block)?);
        }
        self.next += blocks.len();
        file.table_with(features, blocks).map(Some)
    }
}

fn n_items(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block.entry.n_items as usize).sum()
}
