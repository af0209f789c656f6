//! The SUSHI preference data: 5000 people scored ten of a hundred sushis each.

use std::path::Path;
use std::str::FromStr;

use super::files::{Lines, Origin};
use super::pairs::{Grouping, PublishedPairs};
use crate::data::{Comparisons, Features, Items, Outcome, Pair, PairSet, Precision};
use crate::error::{Error, Place, Result};
use crate::io::source::blame_named;

const ORIGIN: Origin =
    Origin { what: "the SUSHI Preference Data Sets", from: "https://www.kamishima.net/sushi/ (sushi3-2016.zip)" };

/// Scores that every person gave.
const SCORES: usize = 10;

/// What is known of a sushi, then of a person: the features of [`Sushi::pairs`].
pub const SUSHI_FEATURES: [&str; 14] = [
    "style",
    "major_group",
    "minor_group",
    "oiliness",
    "eaten",
    "price",
    "sold",
    "gender",
    "age",
    "time",
    "childhood_latitude",
    "childhood_longitude",
    "home_latitude",
    "home_longitude",
];

/// Latitude and longitude of the prefectural offices, in degrees, by the codes of the data set: Hokkaido, Aomori,
/// Iwate, ….
#[rustfmt::skip]
const PREFECTURES: [[f64; 2]; 47] = [
    [43.06, 141.35], [40.82, 140.74], [39.70, 141.15], [39.72, 140.10], [38.27, 140.87], [38.24, 140.36],
    [37.75, 140.47], [37.90, 139.02], [36.34, 140.45], [36.57, 139.88], [36.39, 139.06], [35.86, 139.65],
    [35.61, 140.12], [35.69, 139.69], [35.45, 139.64], [35.66, 138.57], [34.98, 138.38], [36.65, 138.18],
    [35.18, 136.91], [35.39, 136.72], [36.70, 137.21], [36.59, 136.63], [36.07, 136.22], [35.00, 135.87],
    [34.73, 136.51], [35.02, 135.76], [34.69, 135.52], [34.69, 135.83], [34.23, 135.17], [34.69, 135.18],
    [34.66, 133.93], [34.40, 132.46], [35.50, 134.24], [35.47, 133.05], [34.19, 131.47], [33.84, 132.77],
    [34.34, 134.04], [34.07, 134.56], [33.56, 133.53], [33.61, 130.42], [32.74, 129.87], [33.25, 130.30],
    [32.79, 130.74], [31.56, 130.56], [31.91, 131.42], [33.24, 131.61], [26.21, 127.68],
];

/// Where a prefecture is: latitude and longitude. Foreign countries (code 47) are the mean of the prefectures, so that
/// they are nowhere far away; another code is nowhere.
fn coordinates(prefecture: usize) -> Option<[f64; 2]> {
    let mean = |k: usize| PREFECTURES.iter().map(|place| place[k]).sum::<f64>() / PREFECTURES.len() as f64;
    match prefecture {
        47 => Some([mean(0), mean(1)]),
        code => PREFECTURES.get(code).copied(),
    }
}

/// A sushi.
#[derive(Debug, Clone)]
pub struct SushiItem {
    /// Its name, in Japanese.
    pub name: String,
    /// Style (0: roll), major group (0: seafood), minor group (0 to 11), oiliness (0: oily, to 4), how often it is
    /// eaten (to 3), price, how often it is sold (to 1).
    pub features: [f64; 7],
}

/// Somebody who was asked.
#[derive(Debug, Clone)]
pub struct SushiPerson {
    /// The person's number in the data set.
    pub id: u32,
    /// Gender (1: female), age group (0: 15 to 19, to 5: from 60 on), seconds spent on the questionnaire, latitude and
    /// longitude of where they grew up, then of where they live.
    pub features: [f64; 7],
    /// The sushis that they scored, ascending, each with its score from 0 (disliked) to 4 (preferred).
    pub scores: Vec<(u32, u8)>,
}

/// The data set.
#[derive(Debug, Clone)]
pub struct Sushi {
    /// The sushis, by their numbers.
    pub items: Vec<SushiItem>,
    /// Who was asked, in the order of the files.
    pub people: Vec<SushiPerson>,
}

/// Reads `sushi3.idata`, `sushi3.udata` and `sushi3b.5000.10.score` from a directory, each perhaps compressed.
pub fn read_sushi(directory: &Path) -> Result<Sushi> {
    blame_named(read_plain(directory))
}

fn read_plain(directory: &Path) -> Result<Sushi> {
    let open = |name: &str| ORIGIN.lines(&ORIGIN.find(directory, name)?);
    let (sushis, people, scores) = (open("sushi3.idata")?, open("sushi3.udata")?, open("sushi3b.5000.10.score")?);
    let items = read_items(sushis)?;
    let mut people = read_people(people)?;
    read_scores(scores, items.len(), &mut people)?;
    Ok(Sushi { items, people })
}

/// The pairs of [`Sushi::pairs`], straight from the directory; groups are people (`person`).
pub(super) fn sushi_pairs(directory: &Path) -> Result<PublishedPairs> {
    let sushi = read_sushi(directory)?;
    let Comparisons { set, outcomes, groups, .. } = sushi.pairs(Precision::F64)?;
    let names = sushi.people.iter().map(|person| person.id.to_string()).collect();
    PublishedPairs::new(set, outcomes, vec![Grouping { name: "person", names, numbers: groups.unwrap_or_default() }])
}

impl Sushi {
    /// The pairs that were made of the scores: every person's ten sushis, the lowest score first (equal scores by
    /// number), in twos, first with second, third with fourth, …. Scores that are equal are a tie.
    ///
    /// The right item is thus **never the worse one**: outcomes are ties or [`Outcome::Right`]. Whoever wants both
    /// signs exchanges the sides of some pairs.
    ///
    /// An item is a sushi seen by a person and has the features of both, [`SUSHI_FEATURES`]; its id is `person:sushi`.
    /// A group is a person.
    pub fn pairs(&self, precision: Precision) -> Result<Comparisons> {
        let (mut values, mut ids, mut pairs, mut outcomes, mut groups) = (vec![], vec![], vec![], vec![], vec![]);
        for (group, person) in (0..).zip(&self.people) {
            let mut scores = person.scores.clone();
            scores.sort_by_key(|&(item, score)| (score, item));
            for [left, right] in scores.as_chunks::<2>().0 {
                let number = ids.len() as u32;
                for (item, _) in [left, right] {
                    values.extend(self.items[*item as usize].features);
                    values.extend(person.features);
                    ids.push(format!("{}:{item}", person.id));
                }
                pairs.push(Pair { left: number, right: number + 1 });
                outcomes.push(if left.1 == right.1 { Outcome::Tie } else { Outcome::Right });
                groups.push(group);
            }
        }
        let features = Features::dense(SUSHI_FEATURES.len(), values, precision)?;
        let names = SUSHI_FEATURES.map(String::from).to_vec();
        let set = PairSet::new(Items::new(features, Some(names), Some(ids))?, pairs)?;
        Comparisons::new(set, outcomes, None, Some(groups))
    }
}

/// The cells of a line.
struct Cells<'a> {
    place: Place,
    cells: Vec<&'a str>,
}

impl<'a> Cells<'a> {
    fn of(place: Place, line: &'a str, expected: usize) -> Result<Self> {
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        if cells.len() != expected {
            let problem = format!("found {} columns apart by tabs, expected {expected}", cells.len());
            return Err(Error::data(place, problem, "fetch the file again, as it was published"));
        }
        Ok(Cells { place, cells })
    }

    fn fault(&self, at: usize, name: &str, expected: &str) -> Error {
        let problem = format!("found {:?}, expected {expected}", self.cells[at]);
        Error::data(self.place.clone().column(at + 1, name), problem, "fetch the file again, as it was published")
    }

    fn number(&self, at: usize, name: &str) -> Result<f64> {
        let number = self.cells[at].parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| self.fault(at, name, "a finite number"))
    }

    fn code<T: FromStr>(&self, at: usize, name: &str) -> Result<T> {
        self.cells[at].parse().map_err(|_| self.fault(at, name, "a whole number from 0 on"))
    }

    fn prefecture(&self, at: usize, name: &str) -> Result<[f64; 2]> {
        coordinates(self.code(at, name)?).ok_or_else(|| self.fault(at, name, "a prefecture from 0 to 47"))
    }
}

/// Some copies begin with a comment and a blank line.
fn is_data(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

fn read_items(mut lines: Lines) -> Result<Vec<SushiItem>> {
    let source = lines.source();
    let mut items = Vec::new();
    while let Some((number, line)) = lines.next_line()? {
        if !is_data(line) {
            continue;
        }
        let cells = Cells::of(Place::line(&source, number), line, 9)?;
        if cells.code::<usize>(0, "item")? != items.len() {
            return Err(cells.fault(0, "item", &format!("{}, as items are in their order", items.len())));
        }
        let mut features = [0.0; 7];
        for (k, feature) in features.iter_mut().enumerate() {
            *feature = cells.number(k + 2, SUSHI_FEATURES[k])?;
        }
        items.push(SushiItem { name: cells.cells[1].to_string(), features });
    }
    none_is_a_fault(&items, &source)?;
    Ok(items)
}

fn read_people(mut lines: Lines) -> Result<Vec<SushiPerson>> {
    let source = lines.source();
    let mut people = Vec::new();
    while let Some((number, line)) = lines.next_line()? {
        if !is_data(line) {
            continue;
        }
        let cells = Cells::of(Place::line(&source, number), line, 11)?;
        let [gender, age, time] = [1, 2, 3].map(|at| cells.number(at, SUSHI_FEATURES[6 + at]));
        let childhood = cells.prefecture(4, "childhood prefecture")?;
        let home = cells.prefecture(7, "home prefecture")?;
        people.push(SushiPerson {
            id: cells.code(0, "person")?,
            features: [gender?, age?, time?, childhood[0], childhood[1], home[0], home[1]],
            scores: Vec::with_capacity(SCORES),
        });
    }
    none_is_a_fault(&people, &source)?;
    Ok(people)
}

fn read_scores(mut lines: Lines, n_items: usize, people: &mut [SushiPerson]) -> Result<()> {
    let source = lines.source();
    let n_people = people.len();
    let mut rows = people.iter_mut();
    let mut n_rows = 0;
    while let Some((number, line)) = lines.next_line()? {
        if !is_data(line) {
            continue;
        }
        let place = || Place::line(&source, number);
        let wrong =
            |place, problem: String| Error::data(place, problem, "fetch the files again, as they were published");
        let Some(person) = rows.next() else {
            return Err(wrong(place(), format!("more rows than the {n_people} people of sushi3.udata")));
        };
        n_rows += 1;
        let mut n_cells = 0;
        for (item, cell) in (0..).zip(line.split_ascii_whitespace()) {
            n_cells += 1;
            match cell {
                "-1" => {}
                "0" | "1" | "2" | "3" | "4" => person.scores.push((item, cell.as_bytes()[0] - b'0')),
                _ => {
                    let place = place().column(item as usize + 1, "");
                    return Err(wrong(place, format!("found {cell:?}, expected a score from 0 to 4, or -1")));
                }
            }
        }
        if n_cells != n_items {
            let problem = format!("found {n_cells} columns, expected {n_items}, one for each sushi of sushi3.idata");
            return Err(wrong(place(), problem));
        }
        if person.scores.len() != SCORES {
            return Err(wrong(place(), format!("found {} scores, expected {SCORES}", person.scores.len())));
        }
    }
    if n_rows < n_people {
        let problem = format!("{n_rows} rows, expected {n_people}, one for each person of sushi3.udata");
        return Err(Error::data(lines.place(), problem, "fetch the files again, as they were published"));
    }
    Ok(())
}

fn none_is_a_fault<T>(found: &[T], source: &str) -> Result<()> {
    if found.is_empty() {
        return Err(Error::data(Place::file(source), "the file has no rows", "fetch it again, as it was published"));
    }
    Ok(())
}
