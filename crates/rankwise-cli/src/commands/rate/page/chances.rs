//! Who beats whom: the chances that the ratings give, beside what happened.

use std::collections::HashMap;

use rankwise::data::Outcome;
use rankwise::rating::Standing;

use super::{Board, plain};
use crate::page::{Cell, Page};
use crate::picture::shortened;
use crate::text::rounded;

/// Items in the matrix.
const ITEMS: usize = 20;
/// Names beside and above it are cut to about so many pixels.
const NAME: f64 = 120.0;

/// Adds the matrix.
pub(super) fn section(page: &mut Page, board: &Board<'_>) {
    let lines = &board.shown()[..board.shown().len().min(ITEMS)];
    if lines.len() < 2 {
        return;
    }
    page.section("Who beats whom");
    let ground = if board.found.effects.is_empty() { "" } else { ", when no side has an advantage," };
    page.paragraph(&format!(
        "Each cell is about the item of its row against the item of its column. Large: the chance of winning that the \
         ratings give{ground} and below it that of a tie. Last: games won – tied – lost."
    ));
    if lines.len() < board.found.standings.len() {
        page.paragraph(&format!("Only the first {} items are in it.", lines.len()));
    }
    let met = Met::new(board, lines);
    let cells: Vec<Vec<Cell>> =
        lines.iter().map(|row| lines.iter().map(|one| cell(board, &met, row, one)).collect()).collect();
    if cells.iter().flatten().any(|cell| matches!(cell, Cell::Apart(_))) {
        page.paragraph("A dash: the games do not say how these two compare.");
    }
    let name = |line: &Standing| {
        let whole = plain(board.name(line));
        (shortened(&whole, NAME), whole)
    };
    let names: Vec<(String, String)> = lines.iter().map(name).collect();
    page.matrix(
        "Chances of winning, and games so far; the stronger the colour, the likelier a win",
        "row \\ column",
        &names,
        &cells,
    );
}

fn cell(board: &Board<'_>, met: &Met, row: &Standing, column: &Standing) -> Cell {
    if row.player == column.player {
        return Cell::Itself;
    }
    let record = met.record(row.player, column.player);
    let record = record.map_or("never met".into(), |counts| counts.map(rounded).join("–"));
    let chances = (row.part == column.part).then(|| board.found.chances(row.player, column.player)).flatten();
    match chances {
        Some([win, tie, _]) => Cell::Share(win, share(win), vec![format!("tie {}", share(tie)), record]),
        None => Cell::Apart(vec![record]),
    }
}

/// A chance in whole percent; what is not certain never looks so.
fn share(chance: f64) -> String {
    match 100.0 * chance {
        percent if percent > 0.0 && percent < 0.5 => "<1 %".into(),
        percent if (99.5..100.0).contains(&percent) => ">99 %".into(),
        percent => format!("{percent:.0} %"),
    }
}

/// How the games between the items of the matrix ended.
struct Met(HashMap<(u32, u32), [f64; 3]>);

impl Met {
    fn new(board: &Board<'_>, lines: &[Standing]) -> Self {
        let mut is_in = vec![false; board.games.players.len()];
        lines.iter().for_each(|line| is_in[line.player as usize] = true);
        let mut counts: HashMap<(u32, u32), [f64; 3]> = HashMap::new();
        for game in board.games.games.iter().filter(|game| game.weight > 0.0) {
            if is_in[game.left as usize] && is_in[game.right as usize] {
                let (pair, outcome) = match game.left < game.right {
                    true => ((game.left, game.right), game.outcome),
                    false => ((game.right, game.left), game.outcome.swapped()),
                };
                let at = match outcome {
                    Outcome::Left => 0,
                    Outcome::Tie => 1,
                    Outcome::Right => 2,
                };
                counts.entry(pair).or_default()[at] += game.weight;
            }
        }
        Met(counts)
    }

    /// Won, tied and lost by the first one; `None` if the two never met.
    fn record(&self, first: u32, second: u32) -> Option<[f64; 3]> {
        let [won, tied, lost] = *self.0.get(&(first.min(second), first.max(second)))?;
        Some(if first < second { [won, tied, lost] } else { [lost, tied, won] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_certain_does_not_look_so() {
        let chances = [0.0, 1e-9, 0.004, 0.006, 0.5, 0.994, 0.996, 1.0];
        assert_eq!(chances.map(share), ["0 %", "<1 %", "<1 %", "1 %", "50 %", "99 %", ">99 %", "100 %"]);
    }
}
