//! Scored items, ranked within their groups: as a score a line, a table, a run, JSON.

use std::fmt::Write as _;

use rankwise::data::Groups;
use rankwise::io::{self, ItemTable};
use serde_json::{Value, json};

use super::evaluate::ranked::unfit;
use crate::args::PredictFormat;
use crate::exit::Run;
use crate::text::{csv_field, number};

/// Items with scores and ranks.
pub(super) struct RankedItems<'a> {
    table: &'a ItemTable,
    scores: &'a [f64],
    top: Option<usize>,
    /// The items of every group in turn, the best first; equal scores in the order of the file.
    by_rank: Vec<u32>,
    /// The rank of each item in its group: 1 is the best, and equal scores share the smallest one.
    ranks: Vec<usize>,
    /// What a classifier says of each item.
    classes: Option<Vec<&'a str>>,
}

impl<'a> RankedItems<'a> {
    /// Ranks the items; only the `top` best of each group are wanted.
    pub(super) fn new(table: &'a ItemTable, scores: &'a [f64], top: Option<usize>) -> Self {
        let (mut by_rank, mut ranks) = (Vec::with_capacity(scores.len()), vec![0; scores.len()]);
        let one_group = Groups::single(scores.len());
        for members in table.groups.as_ref().unwrap_or(&one_group).members().iter() {
            let mut order = members.to_vec();
            // Adding 0 makes a positive zero of a negative one: the two are equal, and must not be ordered.
            let score = |item: u32| scores[item as usize] + 0.0;
            order.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
            let mut rank = 0;
            for (position, &item) in order.iter().enumerate() {
                if position == 0 || score(item) != score(order[position - 1]) {
                    rank = position + 1;
                }
                ranks[item as usize] = rank;
            }
            by_rank.extend(order.iter().take(top.unwrap_or(usize::MAX)));
        }
        RankedItems { table, scores, top, by_rank, ranks, classes: None }
    }

    /// The same with what a classifier says of each item.
    pub(super) fn with_classes(mut self, classes: Option<Vec<&'a str>>) -> Self {
        self.classes = classes;
        self
    }

    /// As the user wants them.
    pub(super) fn text(&self, format: PredictFormat) -> Run<String> {
        match format {
            PredictFormat::Scores if self.classes.is_some() => {
                Ok(self.classes.iter().flatten().flat_map(|class| [class, "\n"]).collect())
            }
            PredictFormat::Scores => Ok(self.scores.iter().map(|&score| number(score) + "\n").collect()),
            PredictFormat::Csv => Ok(self.csv()),
            PredictFormat::Trec => self.run(),
        }
    }

    /// All items in the order of the file, or the best of each group.
    fn shown(&self) -> Vec<u32> {
        if self.top.is_some() { self.by_rank.clone() } else { (0..self.scores.len() as u32).collect() }
    }

    /// What the group of an item is called; `None` where the file has no groups.
    fn group(&self, item: u32) -> Option<&str> {
        self.table.groups.as_ref().map(|groups| groups.name(groups.numbers()[item as usize] as usize))
    }

    fn class(&self, item: u32) -> Option<&str> {
        self.classes.as_ref().map(|classes| classes[item as usize])
    }

    fn csv(&self) -> String {
        let group = if self.table.groups.is_some() { ",qid" } else { "" };
        let label = if self.classes.is_some() { ",label" } else { "" };
        let mut text = format!("id{group}{label},score,rank\n");
        for item in self.shown() {
            let id = self.table.items.name(item);
            let (id, score, rank) = (csv_field(&id), number(self.scores[item as usize]), self.ranks[item as usize]);
            text += &id;
            for word in self.group(item).into_iter().chain(self.class(item)) {
                text.push(',');
                text += &csv_field(word);
            }
            // Writing to a string cannot fail.
            let _ = writeln!(text, ",{score},{rank}");
        }
        text
    }

    fn run(&self) -> Run<String> {
        let one_group = Groups::single(self.scores.len());
        let groups = self.table.groups.as_ref().unwrap_or(&one_group);
        let mut run = Vec::new();
        io::write_run(&mut run, groups, self.scores, self.table.items.ids.as_deref(), self.top)
            .map_err(|error| unfit(&self.table.source, error))?;
        // Ids and names are text, and so is what is made of them.
        Ok(String::from_utf8_lossy(&run).into_owned())
    }

    /// The rows of [`RankedItems::csv`].
    pub(super) fn json(&self) -> Value {
        let row = |item: u32| {
            let (score, rank) = (self.scores[item as usize], self.ranks[item as usize]);
            let mut row = json!({ "id": self.table.items.name(item), "score": score, "rank": rank });
            if let Some(group) = self.group(item) {
                row["qid"] = json!(group);
            }
            if let Some(class) = self.class(item) {
                row["label"] = json!(class);
            }
            row
        };
        self.shown().into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use rankwise::data::{Features, Groups, Items, Precision};
    use rankwise::io::ItemTable;

    use super::RankedItems;

    fn table(n: usize, groups: Option<Groups>) -> ItemTable {
        let items = Items::new(Features::dense(1, vec![0.0; n], Precision::F64).unwrap(), None, None).unwrap();
        ItemTable {
            items,
            labels: None,
            words: None,
            margins: None,
            groups,
            weights: None,
            group_weights: None,
            unused_columns: Vec::new(),
            notes: Vec::new(),
            source: "items".into(),
        }
    }

    #[test]
    fn equal_scores_share_the_smallest_rank() {
        let ranked = table(6, None);
        assert_eq!(RankedItems::new(&ranked, &[1.0, 3.0, 3.0, -2.0, 0.0, -0.0], None).ranks, [3, 1, 1, 6, 4, 4]);
        assert_eq!(RankedItems::new(&table(0, None), &[], None).ranks, [0usize; 0]);
    }

    #[test]
    fn ranks_are_those_within_a_group() {
        let table = table(5, Some(Groups::from_ids(["b", "a", "b", "a", "b"])));
        let scores = [1.0, 5.0, -0.0, 7.0, 0.0];
        let all = RankedItems::new(&table, &scores, None);
        assert_eq!((all.ranks, all.by_rank), (vec![1, 2, 2, 1, 2], vec![0, 2, 4, 3, 1]));
        assert_eq!(RankedItems::new(&table, &scores, Some(2)).by_rank, [0, 2, 3, 1]);
    }
}
