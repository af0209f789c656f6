//! Battles of language models, judged by people or by other models: logs of arenas.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::de::{Deserializer as _, Error as _, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::files::{Lines, Origin};
use super::pairs::{PairRows, PublishedPairs, table_source};
use crate::data::Outcome;
use crate::error::{Error, Place, Result};
use crate::io::source::blame_named;
use crate::io::table::Table;

const ORIGIN: Origin = Origin {
    what: "logs of battles",
    from: "https://huggingface.co/datasets/lmsys/chatbot_arena_conversations, https://github.com/dustalov/llmfao and \
           others",
};

/// What a battle may say of itself: the fields of a log, each by any of its names.
const FIELDS: [&[&str]; 8] = [
    &["model_a", "left"],
    &["model_b", "right"],
    &["winner", "outcome"],
    &["judge", "worker"],
    &["question_id", "prompt"],
    &["language"],
    &["turn"],
    &["tstamp", "timestamp", "time"],
];
/// The ways to group battles, which are the fields from the third on.
const GROUPINGS: [&str; 3] = ["judge", "question", "language"];

/// Reads battles between models: a JSON array, JSON lines or a table, each battle with `model_a`, `model_b` (or `left`,
/// `right`) and `winner`: `model_a`, `model_b`, `tie`, `tie (bothbad)`, `both_bad`, or any other word for an outcome.
/// Other fields are read over but for these, which count where all battles have them: groups are judges (`judge` or
/// `worker`), questions (`question_id` or `prompt`) or languages (`language`); `turn` describes the comparison;
/// `tstamp` is its time.
pub fn read_battles(path: &Path) -> Result<PublishedPairs> {
    blame_named(read_plain(path))
}

fn read_plain(path: &Path) -> Result<PublishedPairs> {
    let mut reader = BufReader::new(ORIGIN.open(path)?.reader);
    let mut battles = Battles { source: path.display().to_string(), ..Battles::default() };
    match first_byte(&mut reader) {
        Some(b'[') => battles.read_array(reader)?,
        Some(b'{') => battles.read_lines(ORIGIN.lines(path)?)?,
        _ => battles.read_table(path)?,
    }
    battles.finish()
}

/// The first byte that is no blank, behind a byte order mark, which is taken off. A failing read fails again, and says
/// so, when the rest is read.
fn first_byte(reader: &mut BufReader<Box<dyn Read>>) -> Option<u8> {
    if reader.fill_buf().ok()?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    reader.fill_buf().ok()?.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

/// A battle, field by field as in [`FIELDS`].
type Battle = [Option<String>; FIELDS.len()];

#[derive(Default)]
struct Battles {
    source: String,
    battles: Vec<Battle>,
    outcomes: Vec<Outcome>,
}

impl Battles {
    fn add(&mut self, battle: Battle, place: Place) -> Result<()> {
        for (field, names) in battle.iter().zip(FIELDS).take(3) {
            if field.is_none() {
                let problem = format!("no {}, nor {}", names[0], names[1]);
                return Err(Error::data(place, problem, "every battle has model_a, model_b and winner"));
            }
        }
        if battle.iter().flatten().any(|text| text.contains('\0')) {
            return Err(Error::data(place, "a NUL byte", "correct it, or take the battle out of the file"));
        }
        let word = battle[2].as_deref().unwrap_or_default();
        let outcome = match word {
            "both_bad" | "bothbad" => Some(Outcome::Tie),
            word => Outcome::parse(word),
        };
        let Some(outcome) = outcome else {
            let problem = format!("the winner is {word:?}, expected model_a, model_b, tie or tie (bothbad)");
            return Err(Error::data(place, problem, "correct it, or take the battle out of the file"));
        };
        self.outcomes.push(outcome);
        self.battles.push(battle);
        Ok(())
    }

    fn add_object(&mut self, object: &Map<String, Value>, place: Place) -> Result<()> {
        let text = |name: &&str| match object.get(*name)? {
            Value::String(text) => Some(text.trim().to_string()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
        };
        self.add(FIELDS.map(|names| names.iter().find_map(text)), place)
    }

    fn read_lines(&mut self, mut lines: Lines) -> Result<()> {
        while let Some((number, line)) = lines.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let place = Place::line(&self.source, number);
            let object = serde_json::from_str(line).map_err(|error| not_json(&error, place.clone()))?;
            self.add_object(&object, place)?;
        }
        Ok(())
    }

    fn read_array(&mut self, reader: impl Read) -> Result<()> {
        let (place, mut failure) = (Place::file(&self.source), None);
        let mut json = serde_json::Deserializer::from_reader(reader);
        let read = json.deserialize_seq(Elements { battles: self, failure: &mut failure }).and_then(|()| json.end());
        match (failure, read) {
            (Some(failure), _) => Err(failure),
            (None, Err(error)) => Err(not_json(&error, place)),
            (None, Ok(())) => Ok(()),
        }
    }

    fn read_table(&mut self, path: &Path) -> Result<()> {
        let mut table = Table::open_published(&table_source(path))?;
        let at = FIELDS.map(|names| names.iter().find_map(|name| table.header.find(name)));
        if let Some(missing) = (0..3).find(|&field| at[field].is_none()) {
            let [first, second] = [0, 1].map(|k| FIELDS[missing][k]);
            let problem = format!("no column {first}, nor {second}; columns: {}", table.header.listing());
            return Err(Error::data(table.header.place(), problem, "every battle has model_a, model_b and winner"));
        }
        while table.next_row()? {
            let mut battle = Battle::default();
            for (field, at) in battle.iter_mut().zip(at) {
                let text = at.map(|column| table.text(column)).transpose()?;
                *field = text.filter(|text| !text.is_empty()).map(String::from);
            }
            self.add(battle, Place::line(&self.source, table.line()))?;
        }
        Ok(())
    }

    fn finish(self) -> Result<PublishedPairs> {
        if self.battles.is_empty() {
            return Err(Error::data(Place::file(self.source), "no battles", "add the data"));
        }
        let all_have = |field: usize| self.battles.iter().all(|battle| battle[field].is_some());
        let groupings: Vec<usize> = (0..GROUPINGS.len()).filter(|k| all_have(3 + k)).collect();
        let turns: Option<Vec<f64>> = self.battles.iter().map(|battle| finite(battle[6].as_deref()?)).collect();
        let times: Option<Vec<String>> = self.battles.iter().map(|battle| battle[7].clone()).collect();
        let mut rows = PairRows::grouped_by(groupings.iter().map(|&k| GROUPINGS[k]));
        for (battle, outcome) in self.battles.iter().zip(self.outcomes) {
            let field = |k: usize| battle[k].as_deref().unwrap_or_default();
            let groups: Vec<&str> = groupings.iter().map(|&k| field(3 + k)).collect();
            rows.add([field(0), field(1)], outcome, &groups);
        }
        let context = turns.map(|turns| (vec!["turn".to_string()], turns));
        let found = rows.finish(None, context)?;
        Ok(match times {
            Some(times) => found.with_times(times),
            None => found,
        })
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn not_json(error: &serde_json::Error, place: Place) -> Error {
    Error::data(place, format!("not a battle in JSON: {error}"), "write an object for each battle")
}

/// Takes the objects of an array in, one at a time: conversations may come with them.
struct Elements<'a> {
    battles: &'a mut Battles,
    failure: &'a mut Option<Error>,
}

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of battles")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> std::result::Result<(), A::Error> {
        for number in 1.. {
            let Some(object) = elements.next_element()? else { break };
            let place = Place::file(format!("{}, battle {number}", self.battles.source));
            if let Err(failure) = self.battles.add_object(&object, place) {
                *self.failure = Some(failure);
                return Err(A::Error::custom("a battle is at fault"));
            }
        }
        Ok(())
    }
}
