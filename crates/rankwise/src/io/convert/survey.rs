//! What a file of items has, found by reading it once: enough to decide how to store it.

use std::collections::HashMap;

use super::input::{Input, ItemRow};
use super::{Conversion, Shape};
use crate::data::{Precision, RowRanges, rows_are_gone};
use crate::error::{Error, Place, Result};
use crate::io::Format;
use crate::io::items::RESERVED;
use crate::io::table::{is_index_name, is_level_name};

/// Whether a format stores numbers in f32 or f64, and no text.
pub(super) fn is_stored(format: Format) -> bool {
    matches!(format, Format::Blocks | Format::Parquet)
}

/// A group.
#[derive(Debug, Default)]
pub(super) struct GroupFacts {
    /// Bytes that its rows take in memory, about.
    pub(super) bytes: usize,
    /// Its weight, and the line that says so.
    weight: Option<(f64, Option<u64>)>,
}

/// What was found.
pub(super) struct Survey {
    n_items: usize,
    width: usize,
    /// Numbers other than 0, and those that are so in f32.
    n_nonzero: usize,
    n_nonzero_f32: usize,
    n_labels: usize,
    has_groups: bool,
    has_weights: bool,
    has_ids: bool,
    has_group_weights: bool,
    names: Option<Vec<String>>,
    numbers: HashMap<String, usize>,
    groups: Vec<GroupFacts>,
    /// Whether the items of every group stand together.
    is_grouped: bool,
    ranges: RowRanges,
}

/// The number of the group of every item, in their order.
struct GroupOf<'a> {
    numbers: &'a HashMap<String, usize>,
    last: Option<(String, usize)>,
}

impl GroupOf<'_> {
    fn of(&mut self, name: &str) -> Option<usize> {
        match &self.last {
            Some((last, number)) if last == name => Some(*number),
            _ => {
                let number = *self.numbers.get(name)?;
                self.last = Some((name.to_string(), number));
                Some(number)
            }
        }
    }
}

impl Survey {
    /// Reads all items once.
    pub(super) fn of(input: &Input<'_>, how: &Conversion<'_>, format: Format) -> Result<Self> {
        let mut survey = Survey {
            n_items: 0,
            width: 0,
            n_nonzero: 0,
            n_nonzero_f32: 0,
            n_labels: 0,
            has_groups: false,
            has_weights: false,
            has_ids: false,
            has_group_weights: false,
            names: input.feature_names()?,
            numbers: HashMap::new(),
            groups: Vec::new(),
            is_grouped: true,
            ranges: RowRanges::default(),
        };
        survey.width = survey.names.as_ref().map_or(0, Vec::len).max(input.known_width());
        let is_decided = how.precision != Precision::Auto || input.is_f32().is_some();
        let must_see_ranges = !is_decided && is_stored(format);
        let name = input.name();
        let mut last = usize::MAX;
        input.for_each(&mut |row| {
            last = survey.add(row, last, must_see_ranges, &name)?;
            Ok(())
        })?;
        if survey.n_items == 0 {
            let remedy = "write label, qid:GROUP and index:value …";
            return Err(Error::data(Place::file(name), "no items, expected a line for each", remedy));
        }
        Ok(survey)
    }

    /// Takes an item in; `last` is the group of the one before. Its group.
    fn add(&mut self, row: &ItemRow<'_>, last: usize, must_see_ranges: bool, source: &str) -> Result<usize> {
        if self.n_items == u32::MAX as usize {
            let problem = format!("more than {} items", u32::MAX);
            return Err(Error::data(Place { line: row.line, ..Place::file(source) }, problem, "use fewer"));
        }
        self.n_items += 1;
        self.n_labels += usize::from(row.label.is_some());
        self.has_groups |= row.group.is_some();
        self.has_weights |= row.weight.is_some();
        self.has_group_weights |= row.group_weight.is_some();
        self.has_ids |= row.id.is_some();
        let width = match row.columns {
            None => row.values.len(),
            Some(columns) => columns.last().map_or(0, |&last| last as usize + 1),
        };
        self.width = self.width.max(width);
        self.n_nonzero += row.values.iter().filter(|&&value| value != 0.0).count();
        self.n_nonzero_f32 += row.values.iter().filter(|&&value| value as f32 != 0.0).count();
        if must_see_ranges {
            self.ranges.add(row.columns, row.values);
        }
        let number = self.group_number(row.group.unwrap_or_default());
        self.is_grouped &= number == last || number + 1 == self.groups.len() && self.groups[number].bytes == 0;
        let facts = &mut self.groups[number];
        facts.bytes += 128 + row.id.map_or(0, str::len) + row.values.len() * if row.columns.is_some() { 12 } else { 8 };
        if let Some(weight) = row.group_weight {
            let (first, line) = *facts.weight.get_or_insert((weight, row.line));
            if first != weight {
                let line = line.map_or_else(String::new, |line| format!(" in line {line}"));
                return Err(Error::data(
                    Place { line: row.line, ..Place::file(source) },
                    format!("the group's weight is {weight} here and {first}{line}"),
                    "give all items of a group the same one",
                ));
            }
        }
        Ok(number)
    }

    fn group_number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.groups.len();
        self.numbers.insert(name.to_string(), number);
        self.groups.push(GroupFacts::default());
        number
    }

    /// Whether the items of every group stand together.
    pub(super) fn is_grouped(&self) -> bool {
        self.is_grouped
    }

    /// The groups in the order of their first items.
    pub(super) fn groups(&self) -> &[GroupFacts] {
        &self.groups
    }

    pub(super) fn feature_names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Gives names that mean something else in a table another one; says which.
    pub(super) fn rename(&mut self, shape: &Shape) -> Vec<String> {
        let has = [("id", shape.has_ids), ("label", shape.has_labels), ("qid", shape.has_groups)];
        let is_headless = !has.iter().any(|(_, has)| *has) && !shape.has_weights && !shape.has_group_weights;
        let Some(names) = &mut self.names else { return Vec::new() };
        let mut warnings = Vec::new();
        for at in 0..names.len() {
            let name = names[at].clone();
            let is_alike = |other: &&String| other.eq_ignore_ascii_case(&name);
            let is_role = has.iter().any(|(role, has)| !has && role.eq_ignore_ascii_case(&name));
            let is_taken = RESERVED.contains(&name.as_str())
                || is_role && names.iter().filter(is_alike).count() == 1
                || is_level_name(&name)
                || is_headless && at == 0 && is_index_name(&name);
            if is_taken {
                let mut free = format!("{name}_");
                while names.contains(&free) {
                    free.push('_');
                }
                warnings.push(format!("the feature {name} is called {free}: {name} means something else in tables"));
                names[at] = free;
            }
        }
        warnings
    }

    /// How everything is stored: as when the file is read into memory. As text, numbers stay what they are.
    pub(super) fn shape(&self, input: &Input<'_>, precision: Precision, format: Format) -> Result<Shape> {
        let is_f32 = match (precision, input.is_f32()) {
            (Precision::F32, _) if is_stored(format) => true,
            (Precision::F64, _) => false,
            (_, Some(is_f32)) => is_f32,
            (_, None) if is_stored(format) => self.ranges.fit_f32(),
            // Numbers of f32 have few digits as such: 0.1, not 0.10000000149011612.
            (_, None) => input.are_single()?,
        };
        let n_nonzero = if is_f32 { self.n_nonzero_f32 } else { self.n_nonzero };
        let is_sparse = match input.blocks() {
            Some(file) => file.is_sparse(),
            None => {
                let size = if is_f32 { 4 } else { 8 };
                let dense = self.n_items.saturating_mul(self.width).saturating_mul(size);
                let sparse = n_nonzero * (4 + size) + 8 * (self.n_items + 1);
                input.may_be_sparse() && (self.width == 0 || dense > sparse)
            }
        };
        if self.width == 0 && !input.may_be_sparse() && input.blocks().is_none() {
            return Err(Error::data(
                Place::file(input.name()),
                "no feature columns, so that there is nothing to store",
                "give every item features",
            ));
        }
        Ok(Shape {
            n_items: self.n_items,
            n_features: self.width,
            n_groups: self.groups.len(),
            n_stored: if is_sparse { n_nonzero } else { self.n_items * self.width },
            is_sparse,
            is_f32,
            has_labels: self.n_labels == self.n_items,
            has_groups: self.has_groups,
            has_weights: self.has_weights,
            has_group_weights: self.has_group_weights,
            has_ids: self.has_ids,
            has_names: self.names.is_some(),
        })
    }

    /// Reads all items again, with their numbers and those of their groups.
    pub(super) fn for_each_again(
        &self,
        input: &Input<'_>,
        take: &mut dyn FnMut(usize, usize, &ItemRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut group_of = GroupOf { numbers: &self.numbers, last: None };
        let mut number = 0;
        input.for_each(&mut |row| {
            let gone = || rows_are_gone(&input.name());
            let group = group_of.of(row.group.unwrap_or_default()).ok_or_else(gone)?;
            let fits = match row.columns {
                None => row.values.len() <= self.width,
                Some(columns) => columns.last().is_none_or(|&last| (last as usize) < self.width),
            };
            if !fits {
                return Err(gone());
            }
            number += 1;
            take(number - 1, group, row)
        })
    }
}
