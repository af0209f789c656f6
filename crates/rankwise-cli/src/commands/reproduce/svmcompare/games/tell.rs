//! What the numbers of the study say.

use rankwise::Loss;

use super::super::super::stats::{Summary, paired_p};
use super::super::super::study::{Claim, Findings, Found, row};
use super::history::{FEATURES, RATINGS};
use super::machine::{Family, Machine, Reach, Sight, of_column};
use super::{Ready, SHOWN_LOSS, Set, key, wide};
use crate::exit::Run;
use crate::page::Table;
use crate::picture::{Picture, Sheet, Strip, Strips};
use crate::text::{count, number};

/// Kinds of rows of the picture, as the paper's caption has them, and ours.
const KINDS: [&str; 5] = [
    "always the same answer",
    "a rating itself",
    "machine on Elo and Glicko",
    "machine on all features",
    "linear machine, four years",
];

/// What is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judge {
    Constant,
    Elo,
    Glicko,
    Machine(Machine),
}

/// The AUC of somebody in each period of a set.
struct Line {
    judge: Judge,
    aucs: Vec<f64>,
}

impl Line {
    fn mean(&self) -> f64 {
        Summary::of(&self.aucs).mean
    }
}

impl Judge {
    fn kind(self) -> usize {
        match self {
            Judge::Constant => 0,
            Judge::Elo | Judge::Glicko => 1,
            Judge::Machine(Machine { reach: Reach::Years, .. }) => 4,
            Judge::Machine(Machine { sight: Sight::Ratings, .. }) => 2,
            Judge::Machine(_) => 3,
        }
    }

    fn label(self) -> String {
        match self {
            Judge::Constant => "same answer".into(),
            Judge::Elo => "Elo".into(),
            Judge::Glicko => "Glicko".into(),
            Judge::Machine(Machine { family, sight, reach: Reach::Months, .. }) => {
                format!("{}, {}", family.name(), sight.name())
            }
            Judge::Machine(Machine { family, sight, reach: Reach::Years, .. }) => {
                format!("{}, {}, four years", family.name(), sight.name())
            }
        }
    }
}

/// All lines of a set.
struct Lines<'a> {
    set: &'a Set,
    lines: Vec<Line>,
}

impl<'a> Lines<'a> {
    fn of(ready: &'a Ready, set: &'a Set, found: &Found) -> Run<Self> {
        let mut lines = Vec::new();
        let column = |at: usize| set.periods.iter().map(move |period| of_column(&set.seen, &period.test, at));
        let elo = column(RATINGS[0]).collect::<Run<Vec<_>>>()?;
        let glicko = column(RATINGS[1]).collect::<Run<Vec<_>>>()?;
        lines.push(Line { judge: Judge::Constant, aucs: elo.iter().map(|auc| auc.1).collect() });
        lines.push(Line { judge: Judge::Elo, aucs: elo.iter().map(|auc| auc.0).collect() });
        lines.push(Line { judge: Judge::Glicko, aucs: glicko.iter().map(|auc| auc.0).collect() });
        for machine in ready.all_machines(set) {
            let periods = set.periods_of(&machine).iter();
            let aucs = periods.map(|period| found.get(&key(set, period, &machine), "test_auc")).collect::<Run<_>>()?;
            lines.push(Line { judge: Judge::Machine(machine), aucs });
        }
        Ok(Lines { set, lines })
    }

    /// Whom the picture shows.
    fn shown(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| !matches!(line.judge, Judge::Machine(Machine { loss: Loss::Hinge, .. })))
    }

    fn get(&self, judge: Judge) -> Option<&Line> {
        self.lines.iter().find(|line| line.judge == judge && !line.aucs.is_empty())
    }
}

/// A sentence of the paper: the first is above the second.
struct Statement {
    text: String,
    family: Family,
    below: Below,
}

#[derive(Clone, Copy)]
enum Below {
    Rating(Judge),
    /// The same machine on the two ratings.
    Ratings,
}

fn statements() -> Vec<Statement> {
    let mut all = Vec::new();
    for family in [Family::Linear, Family::Polynomial] {
        let name = family.name();
        for rating in [Judge::Elo, Judge::Glicko] {
            let text = format!("{name} machines on all features are above {}", rating.label());
            all.push(Statement { text, family, below: Below::Rating(rating) });
        }
        let text = format!("{name} machines on all features are above those on Elo and Glicko");
        all.push(Statement { text, family, below: Below::Ratings });
    }
    all
}

impl Statement {
    /// Both lines, for a loss and a reach.
    fn lines<'a>(&self, lines: &'a Lines<'_>, loss: Loss, reach: Reach) -> Option<(&'a Line, &'a Line)> {
        let machine = |sight| Judge::Machine(Machine { family: self.family, sight, loss, reach });
        let below = match self.below {
            Below::Rating(judge) => judge,
            Below::Ratings => machine(Sight::Ratings),
        };
        Some((lines.get(machine(Sight::All))?, lines.get(below)?))
    }

    fn holds(&self, lines: &Lines<'_>) -> bool {
        self.lines(lines, SHOWN_LOSS, Reach::Months).is_some_and(|(above, below)| above.mean() > below.mean())
    }

    /// Both means, and how sure their order is.
    fn told(&self, lines: &Lines<'_>, loss: Loss, reach: Reach) -> String {
        let Some((above, below)) = self.lines(lines, loss, reach) else { return "–".into() };
        let sure = match paired_p(&above.aucs, &below.aucs) {
            None => String::new(),
            Some(p) if p < 0.01 => " (p < 0.01)".into(),
            Some(p) => format!(" (p {p:.2})"),
        };
        format!("{:.3} / {:.3}{sure}", above.mean(), below.mean())
    }
}

pub(super) fn findings(ready: &Ready, found: &Found) -> Run<Findings> {
    let sets = ready.sets.iter().map(|set| Lines::of(ready, set, found)).collect::<Run<Vec<_>>>()?;
    let football = &sets[0];
    let statements = statements();
    let rows = statements.iter().map(|statement| {
        vec![
            statement.text.clone(),
            "yes".into(),
            statement.told(football, SHOWN_LOSS, Reach::Months),
            statement.told(football, Loss::Hinge, Reach::Months),
            statement.told(football, SHOWN_LOSS, Reach::Years),
        ]
    });
    let beside = Table {
        caption: "Football: mean test AUC of the two, and p of a paired t-test over the periods".into(),
        header: row(["above / below", "paper", "ours", "ours, hinge", "ours, four years to learn from"]),
        rows: rows.collect(),
        is_words: true,
    };
    let mut claims: Vec<Claim> =
        statements.iter().map(|statement| Claim::new(statement.text.clone(), statement.holds(football))).collect();
    let n_tie_years = football.set.periods.iter().filter(|period| ties_are_most(football.set, &period.test)).count();
    claims.push(Claim::new(
        "a tie is the most common outcome of the games to be judged in every period",
        n_tie_years == football.set.periods.len(),
    ));
    let tables = sets.iter().filter(|lines| !lines.set.periods.is_empty()).map(periods_table).collect();
    Ok(Findings {
        lead: lead(football, &claims),
        beside,
        claims,
        notes: notes(ready, &sets, found, n_tie_years)?,
        tables,
        picture: picture(&sets),
        caption: format!(
            "Test AUC, a mark for each period ({}); the upright line is the mean. Machines have rankwise's squared \
             hinge.",
            football.set.periods.iter().map(|period| period.name.as_str()).collect::<Vec<_>>().join(", ")
        ),
        numbers: numbers(&sets, found)?,
    })
}

fn ties_are_most(set: &Set, games: &[usize]) -> bool {
    let mut counts = [0; 3];
    games.iter().for_each(|&at| counts[set.seen[at].game.outcome as usize] += 1);
    counts[1] > counts[0].max(counts[2])
}

fn lead(football: &Lines<'_>, claims: &[Claim]) -> String {
    let mean = |judge| football.get(judge).map_or(f64::NAN, Line::mean);
    let linear = |sight| {
        let machine = Machine { family: Family::Linear, sight, loss: SHOWN_LOSS, reach: Reach::Months };
        mean(Judge::Machine(machine))
    };
    format!(
        "International football over {}: Elo alone has a mean AUC of {:.3}, Glicko {:.3}, a linear machine on both \
         {:.3}, on all 16 features {:.3}. Football bears out {} of {} statements that the paper makes of chess. With the games of \
         four years to learn from instead of four months, the machine on both ratings has {:.3}, the one on all \
         features {:.3}.",
        count(football.set.periods.len(), "year"),
        mean(Judge::Elo),
        mean(Judge::Glicko),
        linear(Sight::Ratings),
        linear(Sight::All),
        claims.iter().filter(|claim| claim.holds).count(),
        claims.len(),
        mean(Judge::Machine(wide(Sight::Ratings))),
        mean(Judge::Machine(wide(Sight::All))),
    )
}

fn notes(ready: &Ready, sets: &[Lines<'_>], found: &Found, n_tie_years: usize) -> Run<Vec<String>> {
    let (football, chess) = (&ready.sets[0], &ready.sets[1]);
    let sizes = |part: fn(&super::Period) -> usize| {
        let all: Vec<usize> = football.periods.iter().map(part).collect();
        format!("{} to {}", all.iter().min().unwrap_or(&0), all.iter().max().unwrap_or(&0))
    };
    let skipped: Vec<String> = football.counts.skipped.iter().map(i64::to_string).collect();
    let passed_over = if skipped.is_empty() {
        String::new()
    } else {
        format!(" Passed over, because too little was played in spring: {}.", skipped.join(", "))
    };
    let mut notes = vec![
        format!(
            "The paper's eight years are not in the published test part of the chess data, which has {} games of \
             three months, {} of them ties, by {} players; {} rows that are marked as spurious are left out. Its \
             first month serves as history, the second is learnt from, the third judged. The paper's filter (ten \
             games in the training part) leaves {} of the {} games to learn from that are nobody's first, and {} of \
             {} to judge: {}. Football carries the figure.",
            chess.counts.games,
            chess.counts.ties,
            chess.counts.players,
            chess.counts.left_out,
            chess.counts.printed[0],
            chess.counts.whole[0],
            chess.counts.printed[1],
            chess.counts.whole[1],
            if chess.periods.is_empty() { "too few to measure anything" } else { "one period, and a small one" },
        ),
        format!(
            "Football: {} matches, {} of them ties, by {} teams{}. The years are the last {} whole ones with enough \
             matches: January to April to learn from ({} matches), May to December to judge ({}).{passed_over}",
            football.counts.games,
            football.counts.ties,
            football.counts.players,
            match football.counts.left_out {
                0 => String::new(),
                n => format!("; {n} still to be played are left out"),
            },
            football.periods.len(),
            sizes(|period| period.train.len()),
            sizes(|period| period.test.len()),
        ),
        format!(
            "As printed, the filter asks for ten games in the first four months. National teams play a handful: in \
             all years together it would leave {} of the {} matches to learn from that are nobody's first, and {} of {} to \
             judge. So teams need ten matches before May instead; first matches are left out as printed.",
            football.counts.printed[0], football.counts.whole[0], football.counts.printed[1], football.counts.whole[1],
        ),
        "Elo starts from 1200 with the K of the chess federation (25 in the first 30 games, then 15, 10 from 2400 \
         on); for chess from the published ratings, players that are not among them from the lowest. Glicko starts \
         from 1500 (chess: from the same ratings) with deviation 350, and c = 15 a month. Both move after every \
         game. Games of the same day (chess: of the same month, whose order is not published) are looked at before \
         any of them counts."
            .into(),
        format!(
            "Features of a side: {}. The paper names all but three, which are ours: Glicko's deviation, and mean \
             points and change of Elo over the last ten games. On neutral ground nobody has the first move.",
            FEATURES.join(", ")
        ),
        format!(
            "C is one of {}; degrees 1 to {} of the kernel (x·y/p + 1)^degree, p the number of features; γ of the \
             Gaussian one of 0.1, 1 and 10. Features are standardised with the training games, which the paper does \
             not say; its tiny values of C look made for features as they are. The best mean AUC over the splits \
             counts; of equals, the largest C.",
            if ready.search.is_quick {
                "10⁻⁴, 10⁻² and 1 (quick)"
            } else {
                "10⁻²⁰, 10⁻¹⁸, …, 1, as printed, and 10², which is ours"
            },
            if ready.search.is_quick { 2 } else { 4 },
        ),
        hinge_note(ready, found)?,
        "Four years to learn from are ours, and were tried after four months had been looked at, as the only other \
         length: they say whether there is something to learn, which a few hundred matches may be too few for, and \
         belong to no statement of the paper. Their training games overlap from year to year, so that p is a little \
         small."
            .into(),
        format!(
            "Always the same answer has an AUC of half the share of the more common side among the games with a \
             winner. In the paper a tie is the most common outcome of every set; here it is in {n_tie_years} of {}.",
            football.periods.len()
        ),
    ];
    if let Some(chess) = sets.get(1).filter(|lines| !lines.set.periods.is_empty()) {
        let told: Vec<String> =
            chess.shown().map(|line| format!("{} {:.3}", line.judge.label(), line.mean())).collect();
        notes.push(format!("Chess, one period: {}.", told.join("; ")));
    }
    Ok(notes)
}

/// What became of a loss, over all machines that were chosen: how many of them collapsed, and how many points of the
/// grid order no validation game.
struct Fate {
    machines: usize,
    collapsed: usize,
    points: f64,
    flat: f64,
}

impl Fate {
    fn of(ready: &Ready, found: &Found, loss: Loss) -> Run<Self> {
        let mut fate = Fate { machines: 0, collapsed: 0, points: 0.0, flat: 0.0 };
        for set in &ready.sets {
            for machine in ready.all_machines(set).iter().filter(|machine| machine.loss == loss) {
                for period in set.periods_of(machine) {
                    let get = |name| found.get(&key(set, period, machine), name);
                    fate.machines += 1;
                    fate.collapsed += usize::from(get("collapsed")? > 0.0);
                    fate.points += get("points")?;
                    fate.flat += get("flat_points")?;
                }
            }
        }
        Ok(fate)
    }
}

fn hinge_note(ready: &Ready, found: &Found) -> Run<String> {
    let (hinge, shown) = (Fate::of(ready, found, Loss::Hinge)?, Fate::of(ready, found, SHOWN_LOSS)?);
    Ok(format!(
        "The paper's loss is the hinge, whose best u may be 0: then all margins are equal, and the AUC is 0. It is \
         for {} of the {} machines that were chosen, and {} of {} points of the grid order no validation game at \
         all. With rankwise's squared hinge it is for {} of {}, and {} of {}. So the figure has the squared hinge, and \
         by it the statements hold or do not; the hinge is in the tables.",
        hinge.collapsed,
        hinge.machines,
        hinge.flat,
        hinge.points,
        shown.collapsed,
        shown.machines,
        shown.flat,
        shown.points,
    ))
}

fn periods_table(lines: &Lines<'_>) -> Table {
    let mut header = row(["", "loss"]);
    header.extend(lines.set.periods.iter().map(|period| period.name.clone()));
    header.push("mean ± sd".into());
    let of = |line: &Line| {
        let (label, loss) = match line.judge {
            Judge::Machine(machine) => (line.judge.label(), machine.loss.name()),
            _ => (line.judge.label(), ""),
        };
        let mut cells = vec![label, loss.into()];
        cells.extend(line.aucs.iter().map(|auc| format!("{auc:.3}")));
        cells.push(Summary::of(&line.aucs).told(3));
        cells
    };
    Table {
        caption: format!("Test AUC of every period, {}", lines.set.name),
        header,
        rows: lines.lines.iter().map(of).collect(),
        is_words: false,
    }
}

fn picture(sets: &[Lines<'_>]) -> Picture {
    let names = ["fig6-football", "fig6-chess"];
    let panels = sets.iter().zip(names).filter(|(lines, _)| !lines.set.periods.is_empty()).map(|(lines, name)| {
        let mut shown: Vec<&Line> = lines.shown().collect();
        shown.sort_by_key(|line| line.judge.kind());
        let strip =
            |line: &&Line| Strip { label: line.judge.label(), kind: line.judge.kind(), values: line.aucs.clone() };
        let n_kinds = shown.last().map_or(0, |line| line.judge.kind() + 1);
        let heading = match lines.set.periods.len() {
            1 => format!("{}, one period", lines.set.name),
            n => format!("{}, {n} periods", lines.set.name),
        };
        let picture = Strips {
            name,
            title: format!("Test AUC, {}", lines.set.name),
            axis: "test AUC".into(),
            kinds: KINDS[..n_kinds].iter().map(|kind| (*kind).to_string()).collect(),
            strips: shown.iter().map(strip).collect(),
        };
        (heading, picture.draw())
    });
    let title = "Test AUC of ratings and machines".to_string();
    Sheet { name: "svmcompare-fig6", title, n_columns: 2, panels: panels.collect() }.draw()
}

fn numbers(sets: &[Lines<'_>], found: &Found) -> Run<(Vec<String>, Vec<Vec<String>>)> {
    let measured = ["c", "degree", "gamma", "validation_auc", "flat_points", "points", "collapsed", "converged"];
    let mut header =
        row(["data", "period", "model", "features", "loss", "learns_from", "train_games", "test_games", "test_auc"]);
    header.extend(measured.map(String::from));
    let mut rows = Vec::new();
    for lines in sets {
        for line in &lines.lines {
            let own = match &line.judge {
                Judge::Machine(machine) => lines.set.periods_of(machine),
                _ => &lines.set.periods,
            };
            for (period, &auc) in own.iter().zip(&line.aucs) {
                let mut cells = vec![lines.set.name.to_string(), period.name.clone()];
                let words = match line.judge {
                    Judge::Machine(machine) => [
                        machine.family.name(),
                        machine.sight.name(),
                        machine.loss.name(),
                        lines.set.learns_from(&machine),
                    ]
                    .map(String::from),
                    judge => [judge.label(), String::new(), String::new(), String::new()],
                };
                cells.extend(words);
                cells.extend([period.train.len().to_string(), period.test.len().to_string(), number(auc)]);
                for name in measured {
                    let value = match &line.judge {
                        Judge::Machine(machine) => found.get(&key(lines.set, period, machine), name)?,
                        _ => f64::NAN,
                    };
                    cells.push(if value.is_nan() { String::new() } else { number(value) });
                }
                rows.push(cells);
            }
        }
    }
    Ok((header, rows))
}
