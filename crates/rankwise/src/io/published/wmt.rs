//! Rankings of machine translations by people, as the Conference on Machine Translation (WMT) publishes them.

use std::path::Path;

use super::files::Origin;
use super::pairs::{Numbers, PairRows, PublishedPairs, table_source};
use crate::data::Outcome;
use crate::error::{Error, Result};
use crate::io::decompress::peek;
use crate::io::numbering::Numbering;
use crate::io::source::blame_named;
use crate::io::table::{Header, Table};

const ORIGIN: Origin = Origin {
    what: "rankings of translations (wmt15.collapsed.deu-eng.csv and the like)",
    from: "the manual evaluation of WMT, https://www.statmt.org/wmt15/results.html",
};

/// A system that did not get a rank.
const UNRANKED: f64 = -1.0;

/// Reads rankings of translation systems, a table with the columns `srclang`, `trglang`, `segmentId`, `judgeId`, and
/// `systemKId`, `systemKrank` for two or more systems; others are read over. Every two systems of a row are a pair, the
/// lower rank is better, and equal ranks are a tie. Systems without a rank (-1) are left out and counted.
///
/// Systems have no features but their ids. Collapsed files write `A+B` for what several systems translated alike: then
/// every system is a feature, and such a translation is shared out among its systems (1/2 each, 1/3 each, …), so that a
/// linear model has one weight for each system. Groups are segments (`segment`: language pair and sentence), or judges
/// (`judge`), or pairs of languages (`language`).
pub fn read_wmt(path: &Path) -> Result<PublishedPairs> {
    blame_named(read_plain(path))
}

fn read_plain(path: &Path) -> Result<PublishedPairs> {
    let mut bytes = ORIGIN.open(path)?;
    let start = peek(&mut bytes.reader, 16).unwrap_or_default();
    if String::from_utf8_lossy(&start).trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        return Err(Error::Unsupported {
            problem: format!("{}: XML, expected a table of rankings", path.display()),
            remedy: "take the .csv files of the same data, one for each pair of languages".into(),
        });
    }
    let mut table = Table::open_published(&table_source(path))?;
    let layout = Layout::find(&table.header)?;
    let mut rows = PairRows::grouped_by(["segment", "judge", "language"]);
    let mut n_unranked = 0;
    while table.next_row()? {
        let mut ranked = Vec::with_capacity(layout.systems.len());
        for &[id, rank] in &layout.systems {
            let value = table.label(rank)?;
            if value == UNRANKED {
                n_unranked += 1;
            } else {
                ranked.push((table.word(id)?, value));
            }
        }
        let language = format!("{}-{}", table.word(layout.languages[0])?, table.word(layout.languages[1])?);
        let segment = format!("{language}:{}", table.word(layout.segment)?);
        let groups = [segment.as_str(), table.word(layout.judge)?, language.as_str()];
        for (k, &(left, left_rank)) in ranked.iter().enumerate() {
            for &(right, right_rank) in &ranked[k + 1..] {
                rows.add([left, right], Outcome::of_margin(left_rank - right_rank, 0.0), &groups);
            }
        }
    }
    if rows.len() == 0 {
        return Err(Error::data(table.header.place(), "no row ranks two systems", "take a file with rankings"));
    }
    let shares = shares(&rows.ids());
    Ok(rows.finish(shares, None)?.with_left_out("systems without a rank", n_unranked))
}

/// Every system's share in every translation; none where each translation has one system.
fn shares(ids: &[String]) -> Option<Numbers> {
    let mut systems = Numbering::default();
    let of_ids: Vec<Vec<u32>> =
        ids.iter().map(|id| id.split('+').map(|system| systems.number(system)).collect()).collect();
    if of_ids.iter().all(|systems| systems.len() == 1) {
        return None;
    }
    let mut values = vec![0.0; ids.len() * systems.len()];
    for (row, shared) in values.chunks_exact_mut(systems.len()).zip(&of_ids) {
        shared.iter().for_each(|&system| row[system as usize] += 1.0 / shared.len() as f64);
    }
    Some((systems.to_texts(), values))
}

/// What is in which column.
struct Layout {
    languages: [usize; 2],
    segment: usize,
    judge: usize,
    /// The id and the rank of every system.
    systems: Vec<[usize; 2]>,
}

impl Layout {
    fn find(header: &Header) -> Result<Self> {
        // Years differ in the case of letters.
        let find = |name: &str| header.names.iter().position(|known| known.eq_ignore_ascii_case(name));
        let need = |name: &str| {
            find(name).ok_or_else(|| {
                let problem = format!("no column {name}; columns: {}", header.listing());
                let remedy = format!("expected {}", ORIGIN.what);
                Error::data(header.place(), problem, remedy)
            })
        };
        let mut systems = Vec::new();
        for number in 1.. {
            let names = [format!("system{number}Id"), format!("system{number}rank")];
            if number > 2 && find(&names[0]).is_none() {
                break;
            }
            systems.push([need(&names[0])?, need(&names[1])?]);
        }
        Ok(Layout {
            languages: [need("srclang")?, need("trglang")?],
            segment: need("segmentId")?,
            judge: need("judgeId")?,
            systems,
        })
    }
}
