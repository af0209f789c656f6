//! Table 2: three queries of OHSUMED, cross-validated over the documents of each.

use rankwise::data::{Precision, Random, Ranking};
use rankwise::io::published::{LetorFolds, LetorPart};
use rankwise::kernel::{Gamma, Kernel};

use super::super::data_dir::Need;
use super::super::stats::Summary;
use super::super::study::{Claim, Findings, Found, Paper, Prepared, Room, Study, Task, Values, row, values};
use super::{Machine, accuracy, is_cut_short, powers, seed_of};
use crate::exit::{Failure, Run};
use crate::page::Table;
use crate::picture::{Axis, Cloud, Picture, Scatter, Sheet};
use crate::text::{count, number};

const FILES: [&str; 5] = ["S1.txt", "S2.txt", "S3.txt", "S4.txt", "S5.txt"];
const N_FOLDS: usize = 3;
/// Steps that a fit may take.
const MOST_STEPS: u64 = 1000;

/// Sizes of the paper's queries.
const SIZES: [usize; 3] = [134, 128, 182];
/// A difference of accuracies that is none.
const COMPARABLE: f64 = 0.02;

/// Accuracy, seconds and vectors as printed; the signed machine is not in the paper.
fn printed(machine: Machine, is_rbf: bool, query: usize) -> Option<[f64; 3]> {
    let rows = match (machine, is_rbf) {
        (Machine::Vectors, false) => [[0.5484, 0.23, 1.4], [0.6730, 0.41, 3.83], [0.6611, 1.94, 1.99]],
        (Machine::Vectors, true) => [[0.5055, 0.85, 4.3], [0.6637, 0.41, 2.83], [0.6723, 4.71, 1.0]],
        (Machine::Svm, false) => [[0.5621, 1.02, 92.0], [0.6723, 1.03, 101.66], [0.6588, 4.24, 156.55]],
        (Machine::Svm, true) => [[0.5490, 3.05, 92.0], [0.6762, 3.50, 102.0], [0.6710, 55.08, 156.66]],
        (Machine::SignedVectors, _) => return None,
    };
    Some(rows[query])
}

/// The study.
pub(in super::super) struct Table2;

impl Study for Table2 {
    fn name(&self) -> &'static str {
        "rvm-table2"
    }

    fn title(&self) -> &'static str {
        "The Ranking Vector Machine and the ranking SVM on three queries of OHSUMED (Table 2)"
    }

    fn paper(&self) -> Paper {
        Paper::Tutorial
    }

    fn needs(&self) -> Vec<Need> {
        let need = |file| Need {
            folder: "ohsumed_letor2",
            file,
            source: "LETOR 2.0 (Microsoft Research), mirrored at github.com/marcosfpr/ranklibpp",
            licence: "research use",
        };
        FILES.map(need).into()
    }

    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>> {
        // (number of the query, its documents), over all files.
        let mut queries: Vec<(u64, Ranking)> = Vec::new();
        let mut n_of_size = [0; SIZES.len()];
        let folder = room.data.folder_of(&self.needs()[0])?;
        let parts = LetorFolds::read(&folder)?;
        for fold in 1..=FILES.len() {
            // Every part is the test of one fold.
            let data = parts.part(fold, LetorPart::Test, Precision::F64)?;
            for (group, items) in data.groups.members().iter().enumerate() {
                let name = data.groups.name(group);
                let number: u64 = name.trim().parse().map_err(|_| {
                    Failure::Fault(format!("{}: found qid {name:?}, expected a number", folder.display()))
                })?;
                SIZES.iter().zip(&mut n_of_size).filter(|(size, _)| **size == items.len()).for_each(|(_, n)| *n += 1);
                let items: Vec<usize> = items.iter().map(|&item| item as usize).collect();
                queries.push((number, data.select(&items)));
                // Only the first ones are needed.
                queries.sort_by_key(|query| query.0);
                queries.truncate(SIZES.len());
            }
        }
        if queries.len() < SIZES.len() {
            return Err(Failure::Fault(format!(
                "the files have {} queries, and the table needs {}; take the files as LETOR 2.0 has them",
                queries.len(),
                SIZES.len()
            )));
        }
        let whole = powers(-6..=6);
        let c = room.pick(vec![1e-2, 1.0], whole.clone());
        let gamma = room.pick(vec![1e-4, 1e-2], whole);
        let n_repeats = room.pick(1, 3);
        Ok(Box::new(Trials { seed: room.seed, queries, n_of_size, c, gamma, n_repeats }))
    }
}

struct Trials {
    seed: u64,
    queries: Vec<(u64, Ranking)>,
    /// How many queries of all files have the sizes of the paper's.
    n_of_size: [usize; SIZES.len()],
    /// Values of C.
    c: Vec<f64>,
    /// Values of γ.
    gamma: Vec<f64>,
    n_repeats: usize,
}

/// A cell of the table, in one repeat.
#[derive(Debug, Clone, Copy)]
struct Cell {
    query: usize,
    is_rbf: bool,
    machine: Machine,
    repeat: usize,
}

/// Accuracy, seconds and vectors of the two machines of the paper.
struct Both {
    query: usize,
    is_rbf: bool,
    rvm: [f64; 3],
    svm: [f64; 3],
}

impl Cell {
    fn key(&self) -> String {
        let Cell { query, machine, repeat, .. } = self;
        format!("query={} {} repeat={repeat} {}", query + 1, self.kernel_name(), machine.key())
    }

    fn timed(&self) -> String {
        format!("time {}", self.key())
    }

    fn kernel_name(&self) -> &'static str {
        if self.is_rbf { "rbf" } else { "linear" }
    }

    fn kernel(&self, gamma: f64) -> Kernel {
        if self.is_rbf { Kernel::Rbf { gamma: Gamma::Value(gamma) } } else { Kernel::Linear }
    }
}

impl Trials {
    fn cells(&self) -> impl Iterator<Item = Cell> {
        let n = (self.queries.len(), self.n_repeats);
        (0..n.0).flat_map(move |query| {
            [false, true].into_iter().flat_map(move |is_rbf| {
                Machine::ALL
                    .into_iter()
                    .flat_map(move |machine| (0..n.1).map(move |repeat| Cell { query, is_rbf, machine, repeat }))
            })
        })
    }

    /// Documents to learn from and to test on, for every fold; the same for all machines.
    fn folds(&self, query: usize, repeat: usize) -> Vec<(Ranking, Ranking)> {
        let data = &self.queries[query].1;
        let mut order: Vec<usize> = (0..data.n_items()).collect();
        Random::new(seed_of(self.seed, &[query, repeat])).shuffle(&mut order);
        let part = |fold: usize, is_test: bool| {
            let own = order.iter().enumerate().filter(|(at, _)| (at % N_FOLDS == fold) == is_test);
            data.select(&own.map(|(_, &item)| item).collect::<Vec<_>>())
        };
        (0..N_FOLDS).map(|fold| (part(fold, false), part(fold, true))).collect()
    }

    /// The best point of the grid by cross-validation, its accuracy there, and the vectors of its model on all documents.
    fn search(&self, cell: Cell) -> Run<Values> {
        let folds = self.folds(cell.query, cell.repeat);
        let gammas: &[f64] = if cell.is_rbf { &self.gamma } else { &[1.0] };
        let mut best: Option<(f64, f64, f64)> = None;
        let (mut n_fits, mut n_cut) = (0u32, 0u32);
        for &gamma in gammas {
            for &c in &self.c {
                let (mut shares, mut is_whole) = (Vec::new(), true);
                for (train, test) in &folds {
                    let fit = cell.machine.fit(train, cell.kernel(gamma), c, MOST_STEPS)?;
                    n_fits += 1;
                    if is_cut_short(&fit) {
                        (is_whole, n_cut) = (false, n_cut + 1);
                    }
                    shares.extend(accuracy(&fit.model, test)?);
                }
                let mean = Summary::of(&shares).mean;
                if !is_whole {
                    break; // a larger C needs more steps
                }
                if best.is_none_or(|(most, ..)| mean > most) {
                    best = Some((mean, c, gamma));
                }
            }
        }
        let Some((mean, c, gamma)) = best else {
            return Err(Failure::Fault(format!("{}: no point of the grid came to its end", cell.key())));
        };
        let data = &self.queries[cell.query].1;
        let fit = cell.machine.fit(data, cell.kernel(gamma), c, MOST_STEPS)?;
        let (vectors, pairs) = cell.machine.vectors(&fit.model, data)?;
        Ok(values([
            ("accuracy", mean),
            ("C", c),
            ("gamma", if cell.is_rbf { gamma } else { f64::NAN }),
            ("vectors", vectors as f64),
            ("support_pairs", pairs as f64),
            ("fits", n_fits.into()),
            ("cut_short", n_cut.into()),
        ]))
    }

    /// Seconds of training on all documents with the chosen point: the median of three.
    fn time(&self, cell: Cell, found: &Found) -> Run<f64> {
        let (c, gamma) = (found.get(&cell.key(), "C")?, found.get(&cell.key(), "gamma")?);
        let mut seconds = Vec::new();
        for _ in 0..3 {
            seconds.push(cell.machine.fit(&self.queries[cell.query].1, cell.kernel(gamma), c, MOST_STEPS)?.seconds);
        }
        seconds.sort_by(f64::total_cmp);
        Ok(seconds[1])
    }

    /// Means of accuracy, seconds and vectors over the repeats.
    fn ours(&self, query: usize, is_rbf: bool, machine: Machine, found: &Found) -> Run<[f64; 3]> {
        let mean = |name: &str| -> Run<f64> {
            let own = (0..self.n_repeats).map(|repeat| Cell { query, is_rbf, machine, repeat });
            let numbers = own.map(|cell| match name {
                "seconds" => found.get(&cell.timed(), name),
                _ => found.get(&cell.key(), name),
            });
            Ok(Summary::of(&numbers.collect::<Run<Vec<_>>>()?).mean)
        };
        Ok([mean("accuracy")?, mean("seconds")?, mean("vectors")?])
    }

    fn claims(&self, found: &Found) -> Run<Vec<Claim>> {
        let mut both = Vec::new();
        for query in 0..self.queries.len() {
            for is_rbf in [false, true] {
                let [rvm, svm] =
                    [Machine::Vectors, Machine::Svm].map(|machine| self.ours(query, is_rbf, machine, found));
                both.push(Both { query, is_rbf, rvm: rvm?, svm: svm? });
            }
        }
        let all = |holds: fn(&Both) -> bool| both.iter().all(holds);
        Ok(vec![
            Claim::new(
                "query 1: the ranking SVM is a little more accurate than the RVM",
                all(|of| of.query != 0 || of.svm[0] > of.rvm[0]),
            ),
            Claim::new(
                format!("queries 2 and 3: the accuracies do not differ (by more than {COMPARABLE})"),
                all(|of| of.query == 0 || (of.rvm[0] - of.svm[0]).abs() <= COMPARABLE),
            ),
            Claim::new(
                "the RVM has significantly fewer vectors (at least ten times fewer)",
                all(|of| 10.0 * of.rvm[2] <= of.svm[2]),
            ),
            Claim::new(
                "query 3, RBF: the RVM outperforms the ranking SVM with fewer vectors",
                all(|of| of.query != 2 || !of.is_rbf || (of.rvm[0] > of.svm[0] && of.rvm[2] < of.svm[2])),
            ),
            Claim::new("the RVM trains in less time", all(|of| of.rvm[1] < of.svm[1])),
        ])
    }

    fn picture(&self, found: &Found) -> Run<Picture> {
        let names = ["query-1", "query-2", "query-3"];
        let mut panels = Vec::new();
        for (query, (qid, data)) in self.queries.iter().enumerate() {
            let mut clouds = Vec::new();
            for machine in Machine::ALL {
                let ours = [false, true].map(|is_rbf| self.ours(query, is_rbf, machine, found));
                let mut points = Vec::new();
                for numbers in ours {
                    let [share, _, vectors] = numbers?;
                    points.push((vectors, share));
                }
                clouds.push(Cloud { label: machine.label().into(), points });
            }
            for (machine, label) in [(Machine::Vectors, "paper, RVM"), (Machine::Svm, "paper, SVM")] {
                let points = [false, true].into_iter().filter_map(|is_rbf| printed(machine, is_rbf, query));
                clouds.push(Cloud { label: label.into(), points: points.map(|[share, _, n]| (n, share)).collect() });
            }
            let shares = || clouds.iter().flat_map(|cloud| &cloud.points).map(|point| point.1);
            let (low, high) = (shares().fold(1.0, f64::min), shares().fold(0.0, f64::max));
            let scatter = Scatter {
                name: names[query],
                title: format!("Query {qid}"),
                description: "Accuracy against the number of vectors, linear and RBF.".into(),
                x: Axis::log("vectors").with(&[0.8, 300.0]),
                y: Axis::linear("accuracy").with(&[low - 0.005, high + 0.005]),
                clouds,
                strokes: Vec::new(),
            };
            panels.push((format!("query {qid}, {} documents", data.n_items()), scatter.draw()));
        }
        Ok(Sheet { name: "rvm-table2", title: self.title().into(), n_columns: 2, panels }.draw())
    }

    fn title(&self) -> &'static str {
        Table2.title()
    }

    fn notes(&self, found: &Found) -> Run<Vec<String>> {
        let (mut n_fits, mut n_cut) = (0.0, 0.0);
        for cell in self.cells() {
            n_fits += found.get(&cell.key(), "fits")?;
            n_cut += found.get(&cell.key(), "cut_short")?;
        }
        let sizes: Vec<String> =
            self.queries.iter().map(|(qid, data)| format!("{} (qid {qid})", data.n_items())).collect();
        let others: Vec<String> = SIZES.iter().zip(self.n_of_size).map(|(size, n)| format!("{n} of {size}")).collect();
        Ok(vec![
            format!(
                "The paper's three queries have 134, 128 and 182 documents. The first three of these files have {}; of all queries, {} documents. Its ranking SVM has 92, 102 and 156.66 vectors, though, which is two thirds of 138, 153 and 235, the first three queries of LETOR 2.0, to the digit: so the documents are most likely these, all of those that a fold learns from are vectors, and the printed sizes count something else.",
                sizes.join(", "),
                others.join(", ")
            ),
            format!(
                "Accuracy is the share of pairs of different relevance in the right order, over the documents held out, mean of three folds; C and γ are the best of {} by that same accuracy, as the paper's “highest performance” is, which is too good by a little. The folds of a repeat are the same for all machines. Features are taken as they are; the paper says nothing of scaling.",
                match self.c.len() {
                    13 => "10⁻⁶, …, 10⁶".to_string(),
                    n => format!("{n} values each"),
                }
            ),
            "Time and vectors are of the model with the chosen C and γ on all documents of the query (the paper's numbers of vectors look like those of folds, two thirds of ours). Times are medians of three fits on one thread with nothing beside them; the paper's are of another machine (a Pentium IV) and other programs. Vectors are items: those with a coefficient, and for the linear ranking SVM those in a pair whose lead is at most 1.001.".into(),
            format!("{n_cut} of {n_fits} fits used up the steps that a fit may take ({MOST_STEPS}); their C is not chosen, and no larger one is tried with that γ."),
            "The print of the paper's row “SVM, linear” is hard to read for query 1: its time may be another, and so may its 92 vectors.".into(),
        ])
    }
}

impl Prepared for Trials {
    fn tasks(&self) -> Vec<Task<'_>> {
        let of_cell = |cell: Cell| {
            let effort = if cell.is_rbf { self.gamma.len() as f64 } else { 1.0 };
            let time = move |found: &Found| Ok(values([("seconds", self.time(cell, found)?)]));
            [Task::new(cell.key(), effort, move || self.search(cell)), Task::alone(cell.timed(), 0.1, time)]
        };
        self.cells().flat_map(of_cell).collect()
    }

    fn tell(&self, found: &Found) -> Run<Findings> {
        let (mut rows, mut claims_of_best) = (Vec::new(), Vec::new());
        for query in 0..self.queries.len() {
            for is_rbf in [false, true] {
                for machine in Machine::ALL {
                    let ours = self.ours(query, is_rbf, machine, found)?;
                    let paper = printed(machine, is_rbf, query);
                    let shown = |at: usize, digits: usize| -> [String; 2] {
                        [
                            paper.map_or("–".into(), |paper| format!("{:.digits$}", paper[at])),
                            format!("{:.digits$}", ours[at]),
                        ]
                    };
                    let kernel = if is_rbf { "RBF" } else { "linear" };
                    let mut cells = vec![format!("query {}, {kernel}, {}", query + 1, machine.label())];
                    cells.extend(shown(0, 4));
                    cells.push(paper.map_or("–".into(), |paper| format!("{:.2}", paper[1])));
                    cells.push(format!("{:.4}", ours[1]));
                    cells.extend(shown(2, 2));
                    rows.push(cells);
                    if machine != Machine::SignedVectors {
                        claims_of_best.push((machine, ours));
                    }
                }
            }
        }
        let mean = |machine: Machine, at: usize| {
            let own: Vec<f64> = claims_of_best.iter().filter(|of| of.0 == machine).map(|of| of.1[at]).collect();
            Summary::of(&own).mean
        };
        let lead = format!(
            "Over the three queries and both kernels the RVM orders {:.4} of the pairs rightly with {:.1} vectors, the ranking SVM {:.4} with {:.1}.",
            mean(Machine::Vectors, 0),
            mean(Machine::Vectors, 2),
            mean(Machine::Svm, 0),
            mean(Machine::Svm, 2)
        );
        let mut lines = Vec::new();
        for cell in self.cells() {
            let (qid, data) = &self.queries[cell.query];
            let mut line = row([&qid.to_string(), &data.n_items().to_string(), cell.kernel_name(), cell.machine.key()]);
            line.push(cell.repeat.to_string());
            line.extend(found.all(&cell.key())?.iter().map(|value| number(value.1)));
            line.push(number(found.get(&cell.timed(), "seconds")?));
            lines.push(line);
        }
        let columns = row([
            "qid",
            "documents",
            "kernel",
            "machine",
            "repeat",
            "accuracy",
            "C",
            "gamma",
            "vectors",
            "support_pairs",
            "fits",
            "cut_short",
            "seconds",
        ]);
        let header = row(["", "accuracy, paper", "accuracy", "seconds, paper", "seconds", "vectors, paper", "vectors"]);
        Ok(Findings {
            lead,
            beside: Table { caption: format!("Means of {}", count(self.n_repeats, "repeat")), header, rows, is_words: false },
            claims: self.claims(found)?,
            notes: self.notes(found)?,
            tables: Vec::new(),
            picture: self.picture(found)?,
            caption: "Accuracy against the number of vectors; each machine has a mark for the linear and one for the RBF kernel.".into(),
            numbers: (columns, lines),
        })
    }
}
