//! Pair tables: one row per comparison, with the items' ids, their features, or both.

use std::collections::{HashMap, HashSet};

use super::items::{Catalogue, check_given, clash};
use super::numbering::Numbering;
use super::table::{Header, Known, Table, no_separator, without_prefix};
use super::{Columns, Source, Times};
use crate::data::{Comparisons, Context, Features, Items, JudgedPairs, Outcome, Pair, PairSet, Precision};
use crate::error::{Error, Place, Result};

/// Items are numbered in u32, and every pair may bring two of them.
const MAX_PAIRS: usize = (u32::MAX / 2) as usize;

/// A weight is a number of games, and no more than this.
const MAX_GAMES: f64 = 1e12;

/// Where pairs are, and how to read them.
#[derive(Debug, Clone)]
pub struct PairFiles {
    /// The pairs.
    pub pairs: Source,
    /// The features of the items, by id.
    pub items: Option<Source>,
    /// Names of columns, for both files.
    pub columns: Columns,
    /// How features are stored.
    pub precision: Precision,
    /// Whether outcomes are read; if not, their column may hold anything, or not be there.
    pub with_outcomes: bool,
    /// Whether pairs are games: times are read, and nobody plays against itself.
    pub as_games: bool,
}

/// A table of pairs.
#[derive(Debug, Clone)]
pub struct PairTable {
    /// The pairs and the items they name.
    pub set: PairSet,
    /// One outcome per pair, where the file has them and they are wanted.
    pub outcomes: Option<Vec<Outcome>>,
    /// One weight per pair, where the file has them.
    pub weights: Option<Vec<f64>>,
    /// One group number per pair, in order of first appearance, where the file has groups.
    pub groups: Option<Vec<u32>>,
    /// When the pairs were judged, where the file says it and games are wanted.
    pub times: Option<Times>,
    /// How many features, the last ones of the items, belong to the sides of a pair themselves.
    pub n_side_features: usize,
    /// What is to be told of how the file was read.
    pub notes: Vec<String>,
    /// The pairs' file as the user named it.
    pub source: String,
}

impl PairTable {
    /// The pairs as judgments of items that are known already, by their ids; an error when the file has features of its own,
    /// names an item that is not there, or has no outcomes.
    pub fn into_judged(self, items: &Items) -> Result<JudgedPairs> {
        let place = || Place::file(&self.source);
        if !self.set.items.are_indicators || self.set.context.is_some() {
            return Err(Error::data(
                place(),
                "the pairs have features of their own beside those of the labelled items",
                "keep the columns left, right, outcome and weight alone (leave others out with --drop)",
            ));
        }
        let Some(ids) = &items.ids else {
            return Err(Error::data(
                place(),
                "the pairs name items by id, but the labelled items have none",
                "give the items a column id (in SVMlight's format: a comment behind the features)",
            ));
        };
        let mut numbers: HashMap<&str, u32> = HashMap::with_capacity(ids.len());
        for (number, id) in ids.iter().enumerate() {
            if numbers.insert(id, number as u32).is_some() {
                return Err(Error::data(
                    place(),
                    format!("the pairs name items by id, but two labelled items have the id {id:?}"),
                    "give every item an id of its own",
                ));
            }
        }
        let mut known = Vec::with_capacity(self.set.items.n_items());
        for item in 0..self.set.items.n_items() as u32 {
            let name = self.set.items.name(item);
            let Some(&number) = numbers.get(&*name) else {
                return Err(Error::data(
                    place(),
                    format!("item {name:?} is not among the labelled items"),
                    "add it there, or take its pairs out of the file",
                ));
            };
            known.push(number);
        }
        let Some(outcomes) = self.outcomes else { return Err(no_outcomes(self.source)) };
        let renumbered = |p: &Pair| Pair { left: known[p.left as usize], right: known[p.right as usize] };
        Ok(JudgedPairs { pairs: self.set.pairs.iter().map(renumbered).collect(), outcomes, weights: self.weights })
    }

    /// The pairs with what was judged; an error when the file has no outcomes.
    pub fn into_comparisons(self) -> Result<Comparisons> {
        let Some(outcomes) = self.outcomes else { return Err(no_outcomes(self.source)) };
        Comparisons::new(self.set, outcomes, self.weights, self.groups)
    }
}

pub(super) fn no_outcomes(source: String) -> Error {
    Error::data(
        Place::file(source),
        "no column outcome (or winner), which says how each pair was judged",
        "add it, with the words left, tie and right",
    )
}

/// Reads a table of pairs, and the items it names from another table where one is given.
///
/// Columns: `left`, `right` (item ids), `outcome` (or `winner`), `weight`, `group`, `left.NAME` and `right.NAME`
/// (features of the two sides), `pair.NAME` (what is known of the comparison itself, by the name without its prefix);
/// `time` is read over, unless games are wanted. The features of a side are those of its item, then the side's own; without any, every item gets
/// an indicator feature. Items are numbered in order of first appearance, left before right, and equal ones (the same
/// id and the same features) are stored once.
pub fn read_pairs(files: &PairFiles) -> Result<PairTable> {
    read_for(files, None)
}

/// The same for models whose features are known.
pub(super) fn read_for(files: &PairFiles, known: Known<'_>) -> Result<PairTable> {
    let table = files.pairs.blame(read_rows(files, known));
    files.items.iter().fold(table, |table, items| items.blame(table))
}

fn read_rows(files: &PairFiles, known: Known<'_>) -> Result<PairTable> {
    let columns = &files.columns;
    if let (Source::Stdin(_), Some(Source::Stdin(_))) = (&files.pairs, &files.items) {
        return Err(Error::Unsupported {
            problem: "pairs and items cannot both come from standard input".into(),
            remedy: "put one of them into a file".into(),
        });
    }
    let (mut table, item_table) = open(files, known)?;
    let headers: Vec<&Header> = [Some(&table), item_table.as_ref()].into_iter().flatten().map(|t| &t.header).collect();
    check_given(columns, &headers)?;
    let notes = headers.iter().flat_map(|header| header.notes()).collect();
    let layout = Layout::find(&table.header, files)?;
    let catalogue = item_table.map(|items| Catalogue::read(items, columns)).transpose()?;
    if let Some(catalogue) = &catalogue {
        layout.check_features(&table.header, catalogue)?;
    }
    let mut rows = PairRows::new(&layout);
    while table.next_row()? {
        rows.add(&table, &layout, catalogue.as_ref())?;
    }
    let PairRows { sides, context, outcomes, weights, groups, times, .. } = rows;
    let n_side_features = layout.sides.len();
    let feature_names = layout.sides.into_iter().map(|side| side.feature).collect();
    let mut set = sides.into_set(feature_names, catalogue, files.precision)?;
    if !layout.context.is_empty() {
        let names = layout.context.iter().map(|(_, name)| name.clone()).collect();
        let features = Features::dense(layout.context.len(), context, files.precision)?;
        set = set.with_context(Context { features, names })?;
    }
    Ok(PairTable { set, outcomes, weights, groups, times, n_side_features, notes, source: table.header.source })
}

/// Opens the table of pairs, and that of items if there is one.
fn open(files: &PairFiles, known: Known<'_>) -> Result<(Table, Option<Table>)> {
    let PairFiles { pairs, items, columns, .. } = files;
    let has_text = |source: &Source| source.format().delimiter().is_some();
    let is_of_use = has_text(pairs) || items.as_ref().is_some_and(has_text);
    if columns.separator.is_some() && !is_of_use {
        return Err(no_separator(&pairs.name(), "none"));
    }
    let without = Columns { separator: None, ..columns.clone() };
    let columns_of = |source: &Source| if has_text(source) { columns } else { &without };
    let mut table = Table::open(pairs, columns_of(pairs))?;
    let items = items.as_ref().map(|items| Table::open_for(items, columns_of(items), known)).transpose()?;
    let Some(mut items) = items else { return Ok((table, None)) };
    // A name that one table has as it is written is none of the other one in other letter case.
    let given = || columns.given().map(|(_, name)| name);
    let [of_pairs, of_items] =
        [&table, &items].map(|table| given().filter(|name| table.header.exactly(name).is_some()).collect::<Vec<_>>());
    table.header.take_exactly(of_items.into_iter());
    items.header.take_exactly(of_pairs.into_iter());
    Ok((table, Some(items)))
}

/// The two columns of a feature that belongs to the sides.
struct SideFeature {
    feature: String,
    left: usize,
    right: usize,
}

/// What is in which column.
struct Layout {
    ids: Option<[usize; 2]>,
    outcome: Option<usize>,
    weight: Option<usize>,
    group: Option<usize>,
    /// Read for games alone.
    time: Option<usize>,
    /// Whether a pair must have two different items.
    are_games: bool,
    sides: Vec<SideFeature>,
    /// What describes the comparison itself: columns with their names.
    context: Vec<(usize, String)>,
}

impl Layout {
    fn find(header: &Header, files: &PairFiles) -> Result<Self> {
        let columns = &files.columns;
        let find_usual = |name: &str| header.find(name);
        let [left, right] = [columns.left.as_deref().unwrap_or("left"), columns.right.as_deref().unwrap_or("right")];
        let ids = match (find_usual(left), find_usual(right)) {
            (Some(left), Some(right)) => Some([left, right]),
            (None, None) => None,
            (Some(lone), None) => return Err(lone_side(header, lone, right, "right")),
            (None, Some(lone)) => return Err(lone_side(header, lone, left, "left")),
        };
        let outcome = match &columns.label {
            _ if !files.with_outcomes => None,
            Some(name) if find_usual(name).is_some() => find_usual(name),
            _ => match (find_usual("outcome"), find_usual("winner")) {
                (Some(_), Some(winner)) => {
                    return Err(Error::data(
                        header.place_of(winner),
                        "the columns outcome and winner mean the same, expected one of them",
                        "leave one out with --drop winner or --drop outcome",
                    ));
                }
                (outcome, winner) => outcome.or(winner),
            },
        };
        // A name that this table lacks is meant for the table of items.
        let find_given = |given: &Option<String>, usual| given.as_deref().and_then(find_usual).or(find_usual(usual));
        let weight = find_given(&columns.weight, "weight");
        let group = find_given(&columns.group, "group");
        let time = if files.as_games { find_given(&columns.time, "time") } else { None };
        let sides = find_sides(header)?;
        let missing = match (ids, files.items.is_some()) {
            (None, true) => Some("no columns left and right with the ids of the items".to_string()),
            (None, false) if sides.is_empty() => {
                let wanted =
                    "neither columns left and right with item ids nor columns left.NAME and right.NAME with features";
                Some(wanted.to_string())
            }
            _ => None,
        };
        if let Some(missing) = missing {
            let problem = format!("{missing}; columns: {}", header.listing());
            let remedy = if header.find("model_a").and(header.find("model_b")).is_some() {
                "`rankwise convert` turns battles into pairs (--from arena)"
            } else {
                "name the columns of the ids with --left COL --right COL, or rename the columns of the file, or add them"
            };
            return Err(Error::data(header.place(), problem, remedy));
        }
        let has_role = |column: usize| {
            [outcome, weight, group].contains(&Some(column))
                || columns.label.as_deref().and_then(find_usual) == Some(column)
                || ids.is_some_and(|ids| ids.contains(&column))
        };
        let context: Vec<(usize, String)> = (0..header.names.len())
            .filter(|&column| !header.is_dropped(column) && !has_role(column))
            .filter_map(|column| Some((column, without_prefix(&header.names[column], "pair.")?.to_string())))
            .filter(|(_, name)| !name.is_empty())
            .collect();
        check_once(header, context.iter().map(|(column, name)| (*column, name.as_str())))?;
        let layout = Layout { ids, outcome, weight, group, time, are_games: files.as_games, sides, context };
        layout.check_all_known(header, files)?;
        Ok(layout)
    }

    /// A column that means nothing may be a feature with a wrong name: say so instead of reading over it.
    fn check_all_known(&self, header: &Header, files: &PairFiles) -> Result<()> {
        let columns = &files.columns;
        let sides = self.sides.iter().flat_map(|side| [side.left, side.right]);
        let roles = [self.outcome, self.weight, self.group].into_iter().flatten();
        let context = self.context.iter().map(|&(column, _)| column);
        let known: HashSet<usize> = self.ids.into_iter().flatten().chain(roles).chain(sides).chain(context).collect();
        let over = ["time"].into_iter().chain(columns.time.as_deref());
        let outcomes =
            ["outcome", "winner"].into_iter().chain(columns.label.as_deref()).filter(|_| !files.with_outcomes);
        let read_over: HashSet<usize> = over.chain(outcomes).filter_map(|name| header.position(name)).collect();
        let is_unknown =
            |column: &usize| !known.contains(column) && !read_over.contains(column) && !header.is_dropped(*column);
        let unknown: Vec<usize> = (0..header.names.len()).filter(is_unknown).collect();
        let Some(&first) = unknown.first() else { return Ok(()) };
        const KNOWN: &str = "known are left, right, outcome (or winner), weight, group, time, left.NAME with right.NAME, and \
                             pair.NAME";
        let names: Vec<&str> = unknown.iter().map(|&column| header.names[column].as_str()).collect();
        let (place, problem, which) = match names.as_slice() {
            [only] => {
                (header.place_of(first), format!("not a column of a pair table: {KNOWN}"), header.drop_hint(only))
            }
            all => {
                let all = all.join(",");
                let problem = format!("{} columns mean nothing in a pair table ({all}): {KNOWN}", names.len());
                (header.place(), problem, format!("--drop {all}"))
            }
        };
        let pronoun = if names.len() == 1 { "it" } else { "them" };
        Err(Error::data(place, problem, format!("rename {pronoun}, or leave {pronoun} out with {which}")))
    }

    fn check_features(&self, header: &Header, catalogue: &Catalogue) -> Result<()> {
        let known: HashSet<&String> = catalogue.feature_names.iter().collect();
        if let Some(side) = self.sides.iter().find(|side| known.contains(&side.feature)) {
            return Err(clash(header, side.left, &side.feature, &catalogue.source));
        }
        if self.sides.is_empty() && catalogue.feature_names.is_empty() {
            return Err(Error::data(
                Place::file(&catalogue.source),
                "no feature columns",
                "add features, or leave --items out to compare the items by their ids alone",
            ));
        }
        Ok(())
    }
}

/// The features of the two sides, in the order of the left ones.
fn find_sides(header: &Header) -> Result<Vec<SideFeature>> {
    let mut sides = Vec::new();
    for (column, name) in header.names.iter().enumerate().filter(|(column, _)| !header.is_dropped(*column)) {
        let (feature, partner) = match (without_prefix(name, "left."), without_prefix(name, "right.")) {
            (Some(feature), _) if !feature.is_empty() => (feature, format!("right.{feature}")),
            (_, Some(feature)) if !feature.is_empty() => (feature, format!("left.{feature}")),
            _ => continue,
        };
        match header.find(&partner) {
            None => return Err(lone_column(header, column, &partner)),
            Some(right) if without_prefix(name, "left.").is_some() => {
                sides.push(SideFeature { feature: feature.to_string(), left: column, right });
            }
            Some(_) => {}
        }
    }
    check_once(header, sides.iter().map(|side| (side.left, side.feature.as_str())))?;
    Ok(sides)
}

/// Prefixes in other letter case may bring a name twice.
fn check_once<'a>(header: &Header, named: impl Iterator<Item = (usize, &'a str)>) -> Result<()> {
    let mut columns = HashMap::new();
    for (column, name) in named {
        if let Some(first) = columns.insert(name, column) {
            let name = &header.names[column];
            let problem = format!("the column {} means the same", header.names[first]);
            let remedy = format!("rename one of them, or leave this one out with --drop {name}");
            return Err(Error::data(header.place_of(column), problem, remedy));
        }
    }
    Ok(())
}

/// A column of ids for one side alone.
fn lone_side(header: &Header, column: usize, partner: &str, side: &str) -> Error {
    let name = &header.names[column];
    Error::data(
        header.place_of(column),
        format!("column {name} without a column {partner}; columns: {}", header.listing()),
        format!("add {partner}, name the column with --{side} COL, or leave {name} out with --drop {name}"),
    )
}

fn lone_column(header: &Header, column: usize, partner: &str) -> Error {
    let name = &header.names[column];
    Error::data(
        header.place_of(column),
        format!("column {name} without a column {partner}; columns: {}", header.listing()),
        format!("add {partner}, or leave {name} out with --drop {name}"),
    )
}

/// An item of the catalogue that no pair has named yet.
const UNNAMED: u32 = u32::MAX;

/// The two sides of all pairs.
#[derive(Default)]
struct Sides {
    /// The numbers of each pair's ids, left and right; empty without ids.
    ids: Vec<[u32; 2]>,
    /// The ids, without a catalogue.
    known_ids: Numbering,
    /// The catalogue's items that pairs name, in order of first appearance: the ids, with a catalogue.
    named: Vec<u32>,
    /// Where each item of the catalogue is in `named`.
    places: Vec<u32>,
    /// Each side's own features: left, right, left, right, ….
    values: Vec<f64>,
}

impl Sides {
    /// Takes in a side, and returns the number of its id; 0 without ids.
    fn add(
        &mut self,
        table: &Table,
        id_at: Option<usize>,
        features_at: impl Iterator<Item = usize>,
        catalogue: Option<&Catalogue>,
    ) -> Result<u32> {
        let number = match id_at {
            None => 0,
            Some(column) => self.number(table, column, catalogue)?,
        };
        for column in features_at {
            self.values.push(table.number(column)?);
        }
        Ok(number)
    }

    /// The number of the id in a column.
    fn number(&mut self, table: &Table, column: usize, catalogue: Option<&Catalogue>) -> Result<u32> {
        let id = table.word(column)?;
        let Some(catalogue) = catalogue else { return Ok(self.known_ids.number(id)) };
        let item = catalogue.find(id).ok_or_else(|| {
            let problem = format!("item {id:?} is not in {}", catalogue.source);
            Error::data(table.place(column), problem, "add it there, or take the pair out of the file")
        })?;
        if self.places.is_empty() {
            self.places.resize(catalogue.n_items(), UNNAMED);
        }
        let place = &mut self.places[item as usize];
        if *place == UNNAMED {
            *place = self.named.len() as u32;
            self.named.push(item);
        }
        Ok(*place)
    }

    fn into_set(
        self,
        mut own_names: Vec<String>,
        catalogue: Option<Catalogue>,
        precision: Precision,
    ) -> Result<PairSet> {
        let Sides { ids: id_pairs, known_ids, named, places, values } = self;
        drop(places);
        let pairs_of = |numbers: Vec<[u32; 2]>| numbers.into_iter().map(|[left, right]| Pair { left, right }).collect();
        if own_names.is_empty() {
            let items = match catalogue {
                None => Items::indicators(known_ids.to_texts()),
                Some(catalogue) => catalogue.into_items(&named, precision)?,
            };
            return PairSet::new(items, pairs_of(id_pairs));
        }
        // Whether f32 will do is not known before the catalogue's features stand beside these.
        let own_precision = if catalogue.is_some() { Precision::F64 } else { precision };
        let (own, numbers) = Features::dense(own_names.len(), values, own_precision)?.unique_rows();
        let own_pairs = numbers.as_chunks::<2>().0;
        if id_pairs.is_empty() {
            return PairSet::new(Items::new(own, Some(own_names), None)?, pairs_of(own_pairs.to_vec()));
        }
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        let mut distinct: Vec<(u32, u32)> = Vec::new();
        let mut number = |id: u32, own: u32| {
            *known.entry((id, own)).or_insert_with(|| {
                distinct.push((id, own));
                distinct.len() as u32 - 1
            })
        };
        let pairs = id_pairs.iter().zip(own_pairs);
        let pairs = pairs.map(|(ids, own)| Pair { left: number(ids[0], own[0]), right: number(ids[1], own[1]) });
        let pairs = pairs.collect();
        let text = |id: u32| match &catalogue {
            None => known_ids.text(id),
            Some(catalogue) => catalogue.id(named[id as usize]),
        };
        let item_ids = distinct.iter().map(|&(id, _)| text(id).to_string()).collect();
        let Some(catalogue) = catalogue else {
            let rows: Vec<usize> = distinct.iter().map(|&(_, row)| row as usize).collect();
            let items = Items::new(own.select_rows(&rows), Some(own_names), Some(item_ids))?;
            return PairSet::new(items, pairs);
        };
        let mut values = Vec::new();
        for &(id, row) in &distinct {
            values.extend_from_slice(catalogue.features(named[id as usize]));
            let start = values.len();
            values.resize(start + own_names.len(), 0.0);
            own.copy_row(row as usize, &mut values[start..]);
        }
        let mut names = catalogue.feature_names;
        names.append(&mut own_names);
        let features = Features::dense(names.len(), values, precision)?;
        PairSet::new(Items::new(features, Some(names), Some(item_ids))?, pairs)
    }
}

/// The rows read so far.
struct PairRows {
    sides: Sides,
    /// What describes the comparisons themselves, row by row.
    context: Vec<f64>,
    outcomes: Option<Vec<Outcome>>,
    weights: Option<Vec<f64>>,
    groups: Option<Vec<u32>>,
    known_groups: Numbering,
    times: Option<Times>,
}

impl PairRows {
    fn new(layout: &Layout) -> Self {
        PairRows {
            sides: Sides::default(),
            context: Vec::new(),
            outcomes: layout.outcome.map(|_| Vec::new()),
            weights: layout.weight.map(|_| Vec::new()),
            groups: layout.group.map(|_| Vec::new()),
            known_groups: Numbering::default(),
            times: None,
        }
    }

    fn add(&mut self, table: &Table, layout: &Layout, catalogue: Option<&Catalogue>) -> Result<()> {
        if table.n_rows() > MAX_PAIRS {
            let place = Place::line(&table.header.source, table.line());
            return Err(Error::data(place, format!("more than {MAX_PAIRS} pairs"), "use fewer"));
        }
        let [left_id, right_id] = [0, 1].map(|side| layout.ids.map(|ids| ids[side]));
        let left = self.sides.add(table, left_id, layout.sides.iter().map(|side| side.left), catalogue)?;
        let right = self.sides.add(table, right_id, layout.sides.iter().map(|side| side.right), catalogue)?;
        if let Some([_, column]) = layout.ids {
            if layout.are_games && left == right {
                let problem = format!("{:?} is compared with itself", table.word(column)?);
                let remedy = "correct it, or take the row out of the file";
                return Err(Error::data(table.place(column), problem, remedy));
            }
            self.sides.ids.push([left, right]);
        }
        for &(column, _) in &layout.context {
            self.context.push(table.number(column)?);
        }
        if let (Some(outcomes), Some(column)) = (&mut self.outcomes, layout.outcome) {
            outcomes.push(outcome(table, column)?);
        }
        if let (Some(weights), Some(column)) = (&mut self.weights, layout.weight) {
            let weight = table.weight(column)?;
            if layout.are_games && weight > MAX_GAMES {
                let problem = format!(
                    "the weight {weight} stands for more games than there can be, expected at most {MAX_GAMES}"
                );
                return Err(Error::data(
                    table.place(column),
                    problem,
                    "correct it, or divide all weights by the same number",
                ));
            }
            weights.push(weight);
        }
        if let (Some(groups), Some(column)) = (&mut self.groups, layout.group) {
            groups.push(self.known_groups.number(table.word(column)?));
        }
        if let Some(column) = layout.time {
            Times::add(&mut self.times, table, column)?;
        }
        Ok(())
    }
}

fn outcome(table: &Table, column: usize) -> Result<Outcome> {
    let word = table.word(column)?;
    Outcome::parse(word).ok_or_else(|| {
        let known = Outcome::WORDS.map(|(word, _)| word).join(", ");
        let problem = format!("found {word:?}, expected an outcome: one of {known}");
        Error::data(table.place(column), problem, "write left, tie or right, or take the row out of the file")
    })
}
