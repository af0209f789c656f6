//! Item tables: one row per item, every column that has no other meaning is a feature.

use std::collections::HashMap;

use super::block_file::BlockFile;
use super::convert::ItemRow;
use super::group_names::GroupNames;
use super::numbering::Numbering;
use super::stream::SeenGroups;
use super::table::{Header, Known, Table, without_prefix};
use super::{Columns, Format, Source, svmlight};
use crate::data::{ClassItems, Features, Groups, Items, Precision, Ranking, ordered_classes};
use crate::error::{Error, Place, Result};

/// The columns of an item table that are never features.
pub(super) const RESERVED: [&str; 6] = ["id", "label", "qid", "weight", "group_weight", "margin"];

/// A file of items, in its order.
#[derive(Debug, Clone)]
pub struct ItemTable {
    /// One item per row of the file, with ids where the file has them.
    pub items: Items,
    /// One label per item, where the file has them and they are numbers.
    pub labels: Option<Vec<f64>>,
    /// One word per item, where labels were read as words.
    pub words: Option<LabelWords>,
    /// The margin that each item should have, where it was read.
    pub margins: Option<Vec<f64>>,
    /// The group of every item, where the file has them.
    pub groups: Option<Groups>,
    /// One weight per item, where the file has them.
    pub weights: Option<Vec<f64>>,
    /// One weight per group (without groups: one for all items), where the file has them.
    pub group_weights: Option<Vec<f64>>,
    /// Columns that are never features and that nothing was read from, such as `margin`; not those left out on purpose.
    pub unused_columns: Vec<String>,
    /// What is to be told of how the file was read.
    pub notes: Vec<String>,
    /// The file as the user named it.
    pub source: String,
}

/// Labels that may be any words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelWords {
    /// The words, in the order they came.
    pub names: Vec<String>,
    /// The number of each item's word.
    pub numbers: Vec<u32>,
}

impl LabelWords {
    /// Classes whose names differ in letter case alone are hardly meant to be several.
    fn doubts(&self) -> Option<String> {
        let mut alike: HashMap<String, Vec<&str>> = HashMap::new();
        self.names.iter().for_each(|name| alike.entry(name.to_lowercase()).or_default().push(name));
        let mut several: Vec<Vec<&str>> = alike.into_values().filter(|names| names.len() > 1).collect();
        several.iter_mut().for_each(|names| names.sort_unstable());
        let first = several.into_iter().min()?;
        Some(format!(
            "{} are {} classes, which differ in letter case alone; write them alike if they are one",
            first.join(", "),
            first.len()
        ))
    }
}

impl ItemTable {
    /// The items with their classes and groups; weights of groups multiply those of their items. An error when the file has no labels.
    pub fn into_classes(self) -> Result<ClassItems> {
        let mut data = match (self.words, self.labels) {
            (Some(words), _) => {
                let (classes, places) = ordered_classes(words.names);
                let labels = words.numbers.iter().map(|&number| places[number as usize]).collect();
                ClassItems::of_numbers(self.items, classes, labels)?
            }
            (None, Some(labels)) => ClassItems::of_labels(self.items, &labels)?,
            (None, None) => {
                return Err(Error::data(
                    Place::file(self.source),
                    "no column label, which says what class each item is of",
                    "add it, or name the column that says so with --label COL",
                ));
            }
        };
        let mut weights = self.weights;
        if let Some(of_groups) = self.group_weights {
            let group = |item: usize| self.groups.as_ref().map_or(0, |groups| groups.numbers()[item] as usize);
            let of_items = weights.unwrap_or_else(|| vec![1.0; data.n_items()]);
            weights = Some(of_items.iter().enumerate().map(|(item, w)| w * of_groups[group(item)]).collect());
        }
        if let Some(weights) = weights {
            data = data.with_weights(weights)?;
        }
        if let Some(margins) = self.margins {
            data = data.with_margins(margins)?;
        }
        match self.groups {
            Some(groups) => data.with_groups(groups),
            None => Ok(data),
        }
    }

    /// The items as ranking data: without groups all may be compared. An error when the file has no labels.
    pub fn into_ranking(self) -> Result<Ranking> {
        let Some(labels) = self.labels else {
            return Err(Error::data(
                Place::file(self.source),
                "no column label, which says how good each item is",
                "add it, or name the column that says so with --label COL",
            ));
        };
        let mut ranking = Ranking::new(self.items, labels, self.groups)?;
        if let Some(weights) = self.weights {
            ranking = ranking.with_weights(weights)?;
        }
        if let Some(weights) = self.group_weights {
            ranking = ranking.with_group_weights(weights)?;
        }
        Ok(ranking)
    }
}

/// Reads items of classes: [`read_items`], but labels may be words, and the column `margin` of a table counts.
pub fn read_classes(source: &Source, columns: &Columns, precision: Precision) -> Result<ItemTable> {
    read_with(source, columns, precision, (true, None))
}

/// Reads items and what is known of them.
///
/// Tables have the columns `id`, `label`, `qid`, `weight`, `group_weight` (all optional) and features; `margin` is read
/// over. A table of ids alone gives indicator features. SVMlight's format has a line
/// `label [qid:GROUP] [cost:WEIGHT] index:value … [# comment]` per item; the comment is the item's id, and features
/// have no names. A block file has decided already how features are stored.
pub fn read_items(source: &Source, columns: &Columns, precision: Precision) -> Result<ItemTable> {
    read_with(source, columns, precision, (false, None))
}

/// Reads items of classes or others for models whose features are known.
pub(super) fn read_for(source: &Source, columns: &Columns, of_classes: bool, known: Known<'_>) -> Result<ItemTable> {
    // In f64, so that a row's score does not depend on the rows around it.
    read_with(source, columns, Precision::F64, (of_classes, known))
}

fn read_with(source: &Source, columns: &Columns, precision: Precision, how: (bool, Known<'_>)) -> Result<ItemTable> {
    source.blame(read_rows(source, columns, precision, how))
}

fn read_rows(
    source: &Source,
    columns: &Columns,
    precision: Precision,
    (of_classes, known): (bool, Known<'_>),
) -> Result<ItemTable> {
    match source.format() {
        Format::SvmLight => return svmlight::read(source, columns, precision),
        Format::Blocks => return open_blocks(source, columns)?.into_table(),
        Format::Csv | Format::Tsv | Format::Parquet => {}
    }
    let table = Table::open_for(source, columns, known)?;
    check_given(columns, &[&table.header])?;
    let roles = if of_classes { Roles::of_classes(&table.header, columns) } else { Roles::all(&table.header, columns) };
    check_items(&table.header, &roles)?;
    let unused_columns = roles.unused(&table.header);
    let mut notes = table.header.notes();
    notes.extend(roles.doubts(&table.header, columns));
    let features_at = feature_columns(&table.header, columns);
    let rows = ItemRows::read(table, &features_at, roles)?;
    let source = rows.source;
    let items = match (rows.feature_names.is_empty(), rows.ids) {
        (true, None) => {
            return Err(Error::data(
                Place::file(source),
                "no feature columns and no column id",
                "give every item features, or an id that the model knows",
            ));
        }
        (true, Some(ids)) => {
            check_distinct(&ids, &rows.lines, &source)?;
            Items::indicators(ids)
        }
        (false, ids) => {
            let features = Features::dense(rows.feature_names.len(), rows.values, precision)?;
            Items::new(features, Some(rows.feature_names), ids)?
        }
    };
    let ItemRows { labels, words, margins, groups, weights, group_weights, .. } = rows;
    let words = words.map(|(known, numbers)| LabelWords { names: known.to_texts(), numbers });
    notes.extend(words.iter().flat_map(LabelWords::doubts));
    let groups = groups.map(GroupNames::finish);
    let group_weights = group_weights.map(|weights| weights.into_iter().map(|(weight, _)| weight).collect());
    Ok(ItemTable { items, labels, words, margins, groups, weights, group_weights, unused_columns, notes, source })
}

/// Reads items to be ranked: [`read_items`], then [`ItemTable::into_ranking`].
pub fn read_ranking(source: &Source, columns: &Columns, precision: Precision) -> Result<Ranking> {
    read_items(source, columns, precision)?.into_ranking()
}

/// Refuses a table that judges pairs.
fn check_items(header: &Header, roles: &Roles) -> Result<()> {
    let has = |name| header.find(name).is_some();
    let has_sides =
        has("left") && has("right") || header.names.iter().any(|name| without_prefix(name, "left.").is_some());
    if roles.label.is_some() || !has_sides || !(has("outcome") || has("winner")) {
        return Ok(());
    }
    Err(Error::data(
        header.place(),
        format!("pairs that were judged where items are expected; columns: {}", header.listing()),
        "give pairs with --pairs FILE, or name the column that says how good each item is with --label COL",
    ))
}

/// Opens a block file, of which no columns can be named.
pub fn open_blocks(source: &Source, columns: &Columns) -> Result<BlockFile> {
    refuse_columns(source, columns, "a block file, whose columns are known")?;
    match source {
        Source::File { path, .. } => BlockFile::open(path),
        Source::Stdin(_) | Source::Copy { .. } => Err(Error::Unsupported {
            problem: format!("{} cannot be read at any place, as a block file is", source.name()),
            remedy: "save it to a file first".into(),
        }),
    }
}

/// Refuses names of columns where none can be named.
pub(super) fn refuse_columns(source: &Source, columns: &Columns, kind: &str) -> Result<()> {
    if columns.separator.is_some() {
        return Err(Error::Unsupported {
            problem: format!("--separator is for tables of text, and {} is {kind}", source.name()),
            remedy: "leave it out".into(),
        });
    }
    match columns.given().next() {
        None => Ok(()),
        Some((option, _)) => Err(Error::Unsupported {
            problem: format!("--{option} names a column, and {} is {kind}", source.name()),
            remedy: "leave it out, or convert the file to CSV".into(),
        }),
    }
}

/// The items that pairs refer to by id.
pub(super) struct Catalogue {
    /// The file as the user named it.
    pub(super) source: String,
    /// Names of the features.
    pub(super) feature_names: Vec<String>,
    values: Vec<f64>,
    ids: Numbering,
    /// The row of each id.
    rows: Vec<usize>,
}

impl Catalogue {
    /// Reads the rows of an item table that has ids. Equal rows of one id count once.
    pub(super) fn read(table: Table, columns: &Columns) -> Result<Self> {
        if find(&table.header, columns.id.as_deref(), "id").is_none() {
            let problem = format!(
                "no column {} to find the items of the pairs by; columns: {}",
                columns.id.as_deref().unwrap_or("id"),
                table.header.listing()
            );
            return Err(Error::data(
                table.header.place(),
                problem,
                "add it, or name the column of the ids with --id COL",
            ));
        }
        let ItemRows { source, feature_names, ids, values, lines, .. } = {
            let id = find(&table.header, columns.id.as_deref(), "id");
            let features_at = catalogue_columns(&table.header, columns, id);
            ItemRows::read(table, &features_at, Roles { id, ..Roles::default() })?
        };
        let n_features = feature_names.len();
        let features_of = |row: usize| &values[row * n_features..][..n_features];
        let (mut known, mut rows) = (Numbering::default(), Vec::new());
        for (row, id) in ids.into_iter().flatten().enumerate() {
            match rows.get(known.number(&id) as usize) {
                Some(&first) if features_of(first) != features_of(row) => {
                    return Err(Error::data(
                        Place::line(source, lines[row]),
                        format!("item {id:?} has other features in line {}", lines[first]),
                        "give every item one row, or write what changes from pair to pair into the columns left.NAME \
                         and right.NAME of the pair table",
                    ));
                }
                Some(_) => {}
                None => rows.push(row),
            }
        }
        Ok(Catalogue { source, feature_names, values, ids: known, rows })
    }

    /// How many items there are.
    pub(super) fn n_items(&self) -> usize {
        self.rows.len()
    }

    /// The item of an id.
    pub(super) fn find(&self, id: &str) -> Option<u32> {
        self.ids.find(id)
    }

    /// The id of an item.
    pub(super) fn id(&self, item: u32) -> &str {
        self.ids.text(item)
    }

    /// The features of an item.
    pub(super) fn features(&self, item: u32) -> &[f64] {
        let n_features = self.feature_names.len();
        &self.values[self.rows[item as usize] * n_features..][..n_features]
    }

    /// The items of the given numbers, in that order.
    pub(super) fn into_items(mut self, items: &[u32], precision: Precision) -> Result<Items> {
        let ids = items.iter().map(|&item| self.id(item).to_string()).collect();
        // Memory is highest while features are there twice.
        self.ids = Numbering::default();
        let rows = items.iter().map(|&item| self.features(item));
        let features = Features::dense_rows(self.feature_names.len(), rows, precision)?;
        Items::new(features, Some(self.feature_names), Some(ids))
    }
}

/// Every name that the user gave must be that of a column in one of the tables.
pub(super) fn check_given(columns: &Columns, headers: &[&Header]) -> Result<()> {
    for (option, name) in columns.given() {
        // What is left out is lost, so that it is named as it is written.
        let find = |header: &&Header| if option == "drop" { header.exactly(name) } else { header.position(name) };
        if headers.iter().any(|header| find(header).is_some()) {
            continue;
        }
        let place = headers.first().map(|header| header.place()).unwrap_or_default();
        let listings: Vec<String> = match headers {
            [only] => vec![format!("columns: {}", only.listing())],
            several => several.iter().map(|h| format!("columns of {}: {}", h.source, h.listing())).collect(),
        };
        let problem = format!("no column {name}, named by --{option}; {}", listings.join("; "));
        return Err(Error::data(place, problem, "give the name of a column"));
    }
    Ok(())
}

/// The column that the user named, or else the one with the usual name.
fn find(header: &Header, given: Option<&str>, usual: &str) -> Option<usize> {
    header.find(given.unwrap_or(usual))
}

/// The same of a usual name that a feature may have in other letter case.
fn find_exactly(header: &Header, given: Option<&str>, usual: &str) -> Option<usize> {
    given.map_or_else(|| header.find_exactly(usual), |given| header.find(given))
}

/// The columns that are no features.
#[derive(Default)]
struct Roles {
    id: Option<usize>,
    label: Option<usize>,
    group: Option<usize>,
    weight: Option<usize>,
    group_weight: Option<usize>,
    margin: Option<usize>,
    /// Labels may be words.
    has_words: bool,
}

impl Roles {
    fn all(header: &Header, columns: &Columns) -> Self {
        Roles {
            id: find(header, columns.id.as_deref(), "id"),
            label: find(header, columns.label.as_deref(), "label"),
            group: find(header, columns.group.as_deref(), "qid"),
            weight: find_exactly(header, columns.weight.as_deref(), "weight"),
            group_weight: header.find_exactly("group_weight"),
            margin: None,
            has_words: false,
        }
    }

    /// The same for items of classes.
    fn of_classes(header: &Header, columns: &Columns) -> Self {
        Roles { margin: header.find_exactly("margin"), has_words: true, ..Roles::all(header, columns) }
    }

    /// The reserved columns that have no role.
    fn unused(&self, header: &Header) -> Vec<String> {
        let used = [self.id, self.label, self.group, self.weight, self.group_weight, self.margin];
        let is_unused = |name: &&str| header.find_exactly(name).is_some_and(|column| !used.contains(&Some(column)));
        RESERVED.into_iter().filter(is_unused).map(String::from).collect()
    }

    /// Features whose names say that they are something else: what is learnt from them would be of no use. Those of a model were
    /// learnt from already.
    fn doubts(&self, header: &Header, columns: &Columns) -> Vec<String> {
        let doubt = |column: usize| {
            let name = &header.names[column];
            match self.meant(name) {
                _ if header.is_own(column) => None,
                Some(meant) if header.is_for_model() => {
                    Some(format!("the column {name} is not used, for the model has no such feature; {meant}"))
                }
                Some(meant) => Some(format!("the column {name} is read as a feature; {meant}, else rename it")),
                None if header.is_for_model() || !may_be_role(name) => None,
                None => Some(format!(
                    "the column {name} is read as a feature; if it is none, leave it out with --drop {name}"
                )),
            }
        };
        feature_columns(header, columns).into_iter().filter_map(doubt).collect()
    }

    /// What to do about a feature whose name says that it is something else, which nothing else is yet.
    fn meant(&self, name: &str) -> Option<String> {
        let taken = [("id", self.id), ("label", self.label), ("group", self.group), ("weight", self.weight)];
        let is_free = |option: &str| taken.iter().all(|&(role, column)| role != option || column.is_none());
        let (_, option, what) = LOOKALIKES.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))?;
        is_free(option).then(|| format!("if it holds {what}, give --{option} {name}"))
    }

    /// A cell of a feature.
    fn feature(&self, table: &Table, column: usize) -> Result<f64> {
        table.feature(column, |name| self.meant(name))
    }
}

/// Names that columns of items have in any letter case, unless another column has them exactly.
pub(super) const ROLES: [&str; 3] = ["id", "label", "qid"];

/// Whether a column of this name has a meaning of its own if no other one is called so exactly.
pub(super) fn may_be_role(name: &str) -> bool {
    ROLES.iter().any(|role| role.eq_ignore_ascii_case(name))
}

/// Names of what is no feature, here in other letter case or elsewhere, the option that says so, and what such a column holds.
const LOOKALIKES: [(&str, &str, &str); 8] = [
    ("id", "id", "ids"),
    ("label", "label", "labels"),
    ("qid", "group", "groups"),
    ("group", "group", "groups"),
    ("group_id", "group", "groups"),
    ("query", "group", "groups"),
    ("query_id", "group", "groups"),
    ("sample_weight", "weight", "weights"),
];

/// The rows of an item table as they are.
struct ItemRows {
    source: String,
    feature_names: Vec<String>,
    ids: Option<Vec<String>>,
    /// Row by row.
    values: Vec<f64>,
    labels: Option<Vec<f64>>,
    words: Option<(Numbering, Vec<u32>)>,
    margins: Option<Vec<f64>>,
    groups: Option<GroupNames>,
    weights: Option<Vec<f64>>,
    /// The weight of each group, and the line that says so.
    group_weights: Option<Vec<(f64, u64)>>,
    /// The line in which each row begins; empty without ids.
    lines: Vec<u64>,
}

/// What is to be told of how a table is read.
pub(super) fn notes(source: &Source, columns: &Columns) -> Result<Vec<String>> {
    let header = Table::open(source, columns)?.header;
    let doubts = Roles::all(&header, columns).doubts(&header, columns);
    Ok(header.notes().into_iter().chain(doubts).collect())
}

/// The names of the features of a table.
pub(super) fn feature_names(source: &Source, columns: &Columns) -> Result<Vec<String>> {
    let header = Table::open(source, columns)?.header;
    check_given(columns, &[&header])?;
    Ok(feature_columns(&header, columns).into_iter().map(|column| header.names[column].clone()).collect())
}

/// Whether all features of a table are stored in single precision, which text has not.
pub(super) fn are_single(source: &Source, columns: &Columns) -> Result<bool> {
    let table = Table::open(source, columns)?;
    Ok(feature_columns(&table.header, columns).into_iter().all(|column| table.is_single(column)))
}

/// Hands over the items of a table one by one.
pub(super) fn for_each(
    source: &Source,
    columns: &Columns,
    must_fit_f32: bool,
    take: &mut dyn FnMut(&ItemRow<'_>) -> Result<()>,
) -> Result<()> {
    let mut table = Table::open(source, columns)?;
    let roles = Roles::all(&table.header, columns);
    let features_at = feature_columns(&table.header, columns);
    let mut values = Vec::with_capacity(features_at.len());
    while table.next_row()? {
        values.clear();
        for &column in &features_at {
            let value = roles.feature(&table, column)?;
            if must_fit_f32 && !(value as f32).is_finite() {
                let problem = format!("{value} is beyond the range of f32");
                return Err(Error::data(table.place(column), problem, "store features in f64"));
            }
            values.push(value);
        }
        take(&ItemRow {
            label: roles.label.map(|column| table.label(column)).transpose()?,
            weight: roles.weight.map(|column| table.weight(column)).transpose()?,
            group: roles.group.map(|column| table.word(column)).transpose()?,
            group_weight: roles.group_weight.map(|column| table.weight(column)).transpose()?,
            id: roles.id.map(|column| table.word(column)).transpose()?,
            columns: None,
            values: &values,
            line: table.text_line(),
        })?;
    }
    Ok(())
}

impl ItemRows {
    fn read(mut table: Table, features_at: &[usize], roles: Roles) -> Result<Self> {
        let mut rows = ItemRows::new(&table.header, features_at, &roles);
        while table.next_row()? {
            if table.n_rows() > u32::MAX as usize {
                let problem = format!("more than {} items", u32::MAX);
                return Err(Error::data(Place::line(rows.source, table.line()), problem, "use fewer"));
            }
            rows.add_row(&table, &roles, features_at)?;
        }
        Ok(rows)
    }

    /// No rows yet.
    fn new(header: &Header, features_at: &[usize], roles: &Roles) -> Self {
        ItemRows {
            source: header.source.clone(),
            feature_names: features_at.iter().map(|&column| header.names[column].clone()).collect(),
            ids: roles.id.map(|_| Vec::new()),
            values: Vec::new(),
            labels: roles.label.filter(|_| !roles.has_words).map(|_| Vec::new()),
            words: roles.label.filter(|_| roles.has_words).map(|_| (Numbering::default(), Vec::new())),
            margins: roles.margin.map(|_| Vec::new()),
            groups: roles.group.map(|_| GroupNames::default()),
            weights: roles.weight.map(|_| Vec::new()),
            group_weights: roles.group_weight.map(|_| Vec::new()),
            lines: Vec::new(),
        }
    }

    fn add_row(&mut self, table: &Table, roles: &Roles, features_at: &[usize]) -> Result<()> {
        self.add(table, roles)?;
        for &column in features_at {
            self.values.push(roles.feature(table, column)?);
        }
        Ok(())
    }

    /// Everything of a row but its features.
    fn add(&mut self, table: &Table, roles: &Roles) -> Result<()> {
        if let (Some(ids), Some(column)) = (&mut self.ids, roles.id) {
            ids.push(table.word(column)?.to_string());
            self.lines.push(table.line());
        }
        if let (Some(labels), Some(column)) = (&mut self.labels, roles.label) {
            labels.push(table.label(column)?);
        }
        if let (Some((known, numbers)), Some(column)) = (&mut self.words, roles.label) {
            let word = table.word(column)?;
            // A number that is none is no class, but a mistake somewhere.
            if word.trim().parse::<f64>().is_ok_and(|number| !number.is_finite()) {
                let problem = format!("the label {word:?} is not finite");
                let remedy = "correct it, or take the row out of the file; a class of that name needs another one";
                return Err(Error::data(table.place(column), problem, remedy));
            }
            // Predictions are lines, and tables are shown.
            if word.chars().any(char::is_control) {
                let problem = format!("the class {word:?} has a line break, a tab or another control character in it");
                return Err(Error::data(table.place(column), problem, "give the class a name that fits into a line"));
            }
            numbers.push(known.number(word));
        }
        if let (Some(margins), Some(column)) = (&mut self.margins, roles.margin) {
            let margin = table.number(column)?;
            if margin <= 0.0 {
                let problem = format!("the margin {margin} is not above 0");
                return Err(Error::data(table.place(column), problem, "give every item a margin above 0, such as 1"));
            }
            margins.push(margin);
        }
        let mut group = 0;
        if let (Some(groups), Some(column)) = (&mut self.groups, roles.group) {
            group = groups.add(table.word(column)?, 1) as usize;
        }
        if let (Some(weights), Some(column)) = (&mut self.weights, roles.weight) {
            weights.push(table.weight(column)?);
        }
        if let (Some(weights), Some(column)) = (&mut self.group_weights, roles.group_weight) {
            let weight = table.weight(column)?;
            match weights.get(group) {
                None => weights.push((weight, table.line())),
                Some(&(first, _)) if first == weight => {}
                Some(&(first, line)) => {
                    let problem = format!("the group's weight is {weight} here and {first} in line {line}");
                    return Err(Error::data(table.place(column), problem, "give all items of a group the same one"));
                }
            }
        }
        Ok(())
    }
}

/// The columns that are features.
fn feature_columns(header: &Header, columns: &Columns) -> Vec<usize> {
    let usual = [(&columns.id, Some("id")), (&columns.label, Some("label")), (&columns.group, Some("qid"))];
    let named = usual.into_iter().chain([(&columns.weight, None)]);
    let named: Vec<Option<usize>> =
        named.map(|(given, usual)| given.as_deref().or(usual).and_then(|name| header.position(name))).collect();
    let is_feature = |&column: &usize| {
        let is_reserved = RESERVED.contains(&header.names[column].as_str());
        !header.is_dropped(column) && !is_reserved && !named.contains(&Some(column))
    };
    (0..header.names.len()).filter(is_feature).collect()
}

/// The columns that are features of items that pairs refer to, of which nothing else is read: only the ids have a meaning in other
/// letter case.
fn catalogue_columns(header: &Header, columns: &Columns, id: Option<usize>) -> Vec<usize> {
    let given = [&columns.label, &columns.group, &columns.weight].map(|given| given.as_deref());
    let is_feature = |&column: &usize| {
        let name = header.names[column].as_str();
        let is_named = RESERVED.contains(&name) || given.contains(&Some(name));
        !header.is_dropped(column) && !is_named && id != Some(column)
    };
    (0..header.names.len()).filter(is_feature).collect()
}

/// The rows of an item table part by part.
pub(super) struct RowStream {
    table: Table,
    roles: Roles,
    features_at: Vec<usize>,
    unused_columns: Vec<String>,
    notes: Vec<String>,
    by_group: bool,
    part_numbers: usize,
    /// The current row of the table is in no part yet.
    is_waiting: bool,
    /// The groups of the parts before this one, and of this one.
    seen: SeenGroups,
    group: Option<String>,
}

impl RowStream {
    pub(super) fn open(source: &Source, columns: &Columns, by_group: bool, part_bytes: usize) -> Result<Self> {
        let table = Table::open(source, columns)?;
        check_given(columns, &[&table.header])?;
        let roles = Roles::all(&table.header, columns);
        let mut notes = table.header.notes();
        notes.extend(roles.doubts(&table.header, columns));
        let roles = Roles { id: None, ..roles };
        let features_at = feature_columns(&table.header, columns);
        let unusable = |problem: &str, remedy: &str| Err(Error::data(table.header.place(), problem, remedy));
        if features_at.is_empty() {
            return unusable("no feature columns", "give every item at least one number");
        }
        if by_group && roles.group.is_none() {
            return unusable(
                "no column qid, so that all items are one group",
                "give groups (--group COL names their column), or leave out --stream, so that the items are read as a whole",
            );
        }
        let unused_columns =
            roles.unused(&table.header).into_iter().filter(|name| name != columns.id.as_deref().unwrap_or("id"));
        Ok(RowStream {
            unused_columns: unused_columns.collect(),
            notes,
            roles,
            features_at,
            by_group,
            part_numbers: (part_bytes / size_of::<f64>()).max(1),
            is_waiting: false,
            seen: SeenGroups::default(),
            group: None,
            table,
        })
    }

    pub(super) fn unused_columns(&self) -> &[String] {
        &self.unused_columns
    }

    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The next items; none after the last ones.
    pub(super) fn next_part(&mut self) -> Result<Option<ItemTable>> {
        let mut rows = ItemRows::new(&self.table.header, &self.features_at, &self.roles);
        let mut n_rows = 0usize;
        while std::mem::take(&mut self.is_waiting) || self.table.next_row()? {
            let is_full = rows.values.len() >= self.part_numbers;
            match self.roles.group.filter(|_| self.by_group) {
                Some(column) => {
                    let name = self.table.word(column)?;
                    if self.group.as_deref() != Some(name) {
                        if is_full {
                            self.is_waiting = true;
                            break;
                        }
                        if !self.seen.add(name) {
                            return Err(SeenGroups::repeated(self.table.place(column), name));
                        }
                        self.group = Some(name.to_string());
                    }
                }
                None if is_full => {
                    self.is_waiting = true;
                    break;
                }
                None => {}
            }
            rows.add_row(&self.table, &self.roles, &self.features_at)?;
            n_rows += 1;
        }
        if n_rows == 0 {
            return Ok(None);
        }
        let ItemRows { source, feature_names, values, labels, groups, weights, group_weights, .. } = rows;
        let features = Features::dense(feature_names.len(), values, Precision::F64)?;
        Ok(Some(ItemTable {
            items: Items::new(features, Some(feature_names), None)?,
            labels,
            words: None,
            margins: None,
            groups: groups.map(GroupNames::finish),
            weights,
            group_weights: group_weights.map(|weights| weights.into_iter().map(|(weight, _)| weight).collect()),
            unused_columns: Vec::new(),
            notes: Vec::new(),
            source,
        }))
    }
}

/// Indicator features are one per id, so that none may be there twice.
fn check_distinct(ids: &[String], lines: &[u64], source: &str) -> Result<()> {
    let mut first_lines = HashMap::new();
    for (id, &line) in ids.iter().zip(lines) {
        if let Some(first) = first_lines.insert(id, line) {
            let problem = format!("item {id:?} is in line {first} already, and has no features to tell the two apart");
            return Err(Error::data(Place::line(source, line), problem, "give every item one row"));
        }
    }
    Ok(())
}

/// Why a column of a pair table cannot be a feature of both tables.
pub(super) fn clash(header: &Header, column: usize, feature: &str, items: &str) -> Error {
    let problem = format!("{items} has a feature {feature} too");
    let hint = header.drop_hint(&header.names[column]);
    Error::data(header.place_of(column), problem, format!("rename one of them, or leave this one out with {hint}"))
}
