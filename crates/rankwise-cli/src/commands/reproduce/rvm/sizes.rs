//! Figures 7, 8 and 9: accuracy, training time and number of vectors against the number of items to learn from.

use super::super::stats::{Around, Summary, line_of_means};
use super::super::study::{Claim, Findings, Found, Paper, Prepared, Room, Study, Task, row, values};
use super::Machine;
use super::synthetic::{Draw, Truth, notes, numbers};
use crate::exit::Run;
use crate::page::Table;
use crate::picture::{Axis, LineChart, Picture, Sheet};
use crate::text::number;

/// Sizes with their repeats. The paper stops at 200.
const WHOLE: [(usize, usize); 8] =
    [(40, 30), (80, 30), (120, 30), (160, 30), (200, 30), (400, 10), (1000, 5), (2000, 3)];
const QUICK: [(usize, usize); 2] = [(40, 3), (80, 3)];
/// The largest size of the paper.
const PRINTED: usize = 200;
/// From this size on the paper's two machines are told to be the same.
const SAME_FROM: usize = 120;
/// A difference of accuracies that is trivial.
const TRIVIAL: f64 = 0.02;

/// Which number is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Shown {
    Accuracy,
    Seconds,
    Vectors,
}

impl Shown {
    fn column(self) -> &'static str {
        match self {
            Shown::Accuracy => "accuracy",
            Shown::Seconds => "seconds",
            Shown::Vectors => "vectors",
        }
    }

    /// As people read it.
    fn told(self, numbers: &[f64]) -> String {
        let summary = Summary::of(numbers);
        match self {
            Shown::Accuracy => summary.told(4),
            Shown::Seconds => format!("{:.4}", summary.mean),
            Shown::Vectors => format!("{:.1}", summary.mean),
        }
    }

    /// What the paper says of a size.
    fn printed(self, truth: Truth, m: usize) -> &'static str {
        match (self, truth) {
            _ if m > PRINTED => "not run",
            (Shown::Accuracy, _) if m < SAME_FROM => "SVM better",
            (Shown::Accuracy, _) => "difference trivial",
            (Shown::Seconds, Truth::Linear) => "SVM much faster",
            (Shown::Seconds, Truth::Rbf) => "RVM significantly faster",
            (Shown::Vectors, _) => "RVM significantly fewer",
        }
    }
}

/// The study.
pub(in super::super) struct Sizes(pub(in super::super) Shown);

impl Study for Sizes {
    fn name(&self) -> &'static str {
        match self.0 {
            Shown::Accuracy => "rvm-fig7",
            Shown::Seconds => "rvm-fig8",
            Shown::Vectors => "rvm-fig9",
        }
    }

    fn journal(&self) -> &'static str {
        "rvm-sizes"
    }

    fn title(&self) -> &'static str {
        match self.0 {
            Shown::Accuracy => "Accuracy of the Ranking Vector Machine and the ranking SVM (Figure 7)",
            Shown::Seconds => "Training time of the Ranking Vector Machine and the ranking SVM (Figure 8)",
            Shown::Vectors => "Vectors of the Ranking Vector Machine and the ranking SVM (Figure 9)",
        }
    }

    fn paper(&self) -> Paper {
        Paper::Tutorial
    }

    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>> {
        let sizes = room.pick(QUICK.to_vec(), WHOLE.to_vec());
        let repeats = |truth| {
            sizes.iter().flat_map(move |&(m, n)| (0..n).map(move |repeat| Draw { truth, m, repeat, n_switches: 0 }))
        };
        let draws = Truth::ALL.into_iter().flat_map(repeats).collect();
        Ok(Box::new(Trials { study: Sizes(self.0), seed: room.seed, sizes: sizes.clone(), draws }))
    }
}

/// All draws of a run.
struct Trials {
    study: Sizes,
    seed: u64,
    /// Sizes with their repeats.
    sizes: Vec<(usize, usize)>,
    draws: Vec<Draw>,
}

impl Trials {
    fn of(&self, truth: Truth, m: usize) -> impl Iterator<Item = &Draw> {
        self.draws.iter().filter(move |draw| draw.truth == truth && draw.m == m)
    }

    /// The number that is shown, of all repeats.
    fn shown(&self, truth: Truth, m: usize, machine: Machine, found: &Found) -> Run<Vec<f64>> {
        match self.study.0 {
            Shown::Seconds => self.of(truth, m).map(|draw| found.get(&timed(draw, machine), "seconds")).collect(),
            shown => numbers(self.of(truth, m), machine, found, shown.column()),
        }
    }

    fn mean(&self, truth: Truth, m: usize, machine: Machine, found: &Found) -> Run<f64> {
        Ok(Summary::of(&self.shown(truth, m, machine, found)?).mean)
    }

    /// A claim about the two machines' means (RVM as printed, ranking SVM) at some sizes; `None` where none of them was run.
    fn claim(
        &self,
        truth: Truth,
        found: &Found,
        text: String,
        sizes: impl Fn(usize) -> bool,
        holds: impl Fn(f64, f64) -> bool,
    ) -> Run<Option<Claim>> {
        let (mut is_so, mut n_sizes) = (true, 0);
        for (m, _) in self.sizes.iter().filter(|(m, _)| sizes(*m)) {
            let [rvm, svm] = [Machine::Vectors, Machine::Svm].map(|machine| self.mean(truth, *m, machine, found));
            is_so &= holds(rvm?, svm?);
            n_sizes += 1;
        }
        Ok((n_sizes > 0).then(|| Claim::new(format!("{}: {text}", truth.label()), is_so)))
    }

    fn claims(&self, found: &Found) -> Run<Vec<Claim>> {
        let smallest = self.sizes[0].0;
        let mut claims = Vec::new();
        for truth in Truth::ALL {
            match (self.study.0, truth) {
                (Shown::Accuracy, _) => {
                    let text = format!("the ranking SVM is more accurate where items are few (m = {smallest})");
                    claims.push(self.claim(truth, found, text, |m| m == smallest, |rvm, svm| svm > rvm)?);
                    let text = format!("the difference becomes trivial (at most {TRIVIAL} from m = {SAME_FROM} on)");
                    let is_trivial = |rvm: f64, svm: f64| (rvm - svm).abs() <= TRIVIAL;
                    claims.push(self.claim(truth, found, text, |m| m >= SAME_FROM, is_trivial)?);
                }
                (Shown::Seconds, Truth::Linear) => {
                    let text = format!("the ranking SVM trains much faster (at least twice as fast, m ≤ {PRINTED})");
                    claims.push(self.claim(truth, found, text, |m| m <= PRINTED, |rvm, svm| 2.0 * svm <= rvm)?);
                }
                (Shown::Seconds, Truth::Rbf) => {
                    let text = format!("the RVM trains significantly faster (at least twice as fast, m ≤ {PRINTED})");
                    claims.push(self.claim(truth, found, text, |m| m <= PRINTED, |rvm, svm| 2.0 * rvm <= svm)?);
                }
                (Shown::Vectors, _) => {
                    let text = "the RVM has significantly fewer vectors (at least three times fewer at every m)".into();
                    claims.push(self.claim(truth, found, text, |_| true, |rvm, svm| 3.0 * rvm <= svm)?);
                    let text =
                        format!("an order of magnitude fewer (at least ten times fewer from m = {SAME_FROM} on)");
                    claims.push(self.claim(truth, found, text, |m| m >= SAME_FROM, |rvm, svm| 10.0 * rvm <= svm)?);
                }
            }
        }
        Ok(claims.into_iter().flatten().collect())
    }

    fn lead(&self, found: &Found) -> Run<String> {
        let at = |truth, m| -> Run<[f64; 3]> {
            let [rvm, signed, svm] = Machine::ALL.map(|machine| self.mean(truth, m, machine, found));
            Ok([rvm?, signed?, svm?])
        };
        let last = self.sizes[self.sizes.len() - 1].0;
        let m = if last >= PRINTED { PRINTED } else { last };
        let ([rvm, _, svm], [rbf_rvm, _, rbf_svm]) = (at(Truth::Linear, m)?, at(Truth::Rbf, m)?);
        Ok(match self.study.0 {
            Shown::Accuracy => format!(
                "With {m} items the RVM orders {rvm:.4} of the test pairs rightly and the ranking SVM {svm:.4} (linear), {rbf_rvm:.4} and {rbf_svm:.4} (RBF)."
            ),
            Shown::Seconds => format!(
                "With {m} items the RVM trains in {:.1} ms and the ranking SVM in {:.1} ms (linear), {:.1} and {:.1} ms (RBF).",
                1e3 * rvm,
                1e3 * svm,
                1e3 * rbf_rvm,
                1e3 * rbf_svm
            ),
            Shown::Vectors => format!(
                "With {m} items the RVM's function is made of {rvm:.1} of them, the ranking SVM's of {svm:.1} (linear); {rbf_rvm:.1} and {rbf_svm:.1} (RBF)."
            ),
        })
    }

    fn own_notes(&self, found: &Found) -> Run<Vec<String>> {
        let mut list = Vec::new();
        match self.study.0 {
            Shown::Accuracy => list.push(
                "Accuracy is the share of the 1,225 pairs of the 50 test items in the right order. Bands are one standard error of the mean.".into(),
            ),
            Shown::Seconds => list.push(
                "Times are medians of three fits with the chosen C on one thread with nothing beside them, without the search for C. The paper's are of SVM-light, which works on all m²/2 pairs, and of a general solver for linear programs; here neither machine ever forms the pairs: the ranking SVM takes O(m²) time a step for the kernel and O(m log m) for the pairs, and the RVM's program is solved by planes and columns as they are needed. So the paper's claim about time is one about programs, not about machines. The chosen C differ, and with them the work.".into(),
            ),
            Shown::Vectors => {
                let svm: Vec<Vec<f64>> = Truth::ALL
                    .iter()
                    .map(|&truth| {
                        let m = self.sizes[self.sizes.len() - 1].0.min(PRINTED);
                        numbers(self.of(truth, m), Machine::Svm, found, "support_pairs")
                    })
                    .collect::<Run<_>>()?;
                let [linear, rbf] = [0, 1].map(|at| Summary::of(&svm[at]).mean);
                list.push(format!(
                    "Vectors are items. RVM: items with a coefficient; RBF ranking SVM: items with a coefficient; linear ranking SVM, whose function is a vector of 5 weights: items in a pair whose lead is at most {}. SVM-light counts what its dual has, which are pairs: {linear:.0} pairs (linear) and {rbf:.0} (RBF) have such a lead with {} items; column support_pairs of the csv file has them all. The linear RVM needs no more items than features.",
                    super::SUPPORTING_LEAD,
                    self.sizes[self.sizes.len() - 1].0.min(PRINTED)
                ));
            }
        }
        if self.study.0 == Shown::Seconds && self.sizes.iter().any(|(m, _)| *m > PRINTED) {
            list.push(format!(
                "With more than {PRINTED} items a fit may take 500 steps instead of 20,000. The largest C, which are the dearest, use them up and are not chosen there: times of the ranking SVM below and above {PRINTED} items are not of the same C."
            ));
        }
        let sizes: Vec<String> = self.sizes.iter().map(|(m, n)| format!("{n} at m = {m}")).collect();
        list.push(format!(
            "Repeats, each with its own w, items and test items: {}. The paper has 30 for m = 40, …, 200 and stops there, because its ranking SVM was too slow.",
            sizes.join(", ")
        ));
        Ok(list)
    }

    fn picture(&self, found: &Found) -> Run<Picture> {
        let mut panels = Vec::new();
        for truth in Truth::ALL {
            let mut series = Vec::new();
            for machine in Machine::ALL {
                let at = |&(m, _): &(usize, usize)| Ok((m as f64, Summary::of(&self.shown(truth, m, machine, found)?)));
                let points = self.sizes.iter().map(at).collect::<Run<Vec<_>>>()?;
                let around = if self.study.0 == Shown::Accuracy { Around::Error } else { Around::Nothing };
                series.push(line_of_means(machine.label(), &points, around));
            }
            let y = match self.study.0 {
                Shown::Accuracy => Axis::linear("accuracy"),
                Shown::Seconds => Axis::log("seconds"),
                Shown::Vectors => Axis::log("vectors").with(&[1.0]),
            };
            let ticks: Vec<f64> = self.sizes.iter().map(|size| size.0 as f64).filter(|m| *m != 160.0).collect();
            let chart = LineChart {
                name: if truth == Truth::Linear { "linear" } else { "rbf" },
                title: format!("{}, {}", self.study.title(), truth.label()),
                description: format!("{} against the number of items to learn from.", self.study.0.column()),
                x: Axis::log("items to learn from (m)").ticked(ticks),
                y,
                series,
                reference: None,
            };
            panels.push((format!("F* and kernel {}", truth.label()), chart.draw()));
        }
        Ok(Sheet { name: self.study.name(), title: self.study.title().into(), n_columns: 2, panels }.draw())
    }
}

/// The key of the task that times a fit.
fn timed(draw: &Draw, machine: Machine) -> String {
    format!("time {}", draw.key(machine))
}

impl Prepared for Trials {
    fn tasks(&self) -> Vec<Task<'_>> {
        let mut tasks = Vec::new();
        for draw in &self.draws {
            for machine in Machine::ALL {
                let effort = (draw.m as f64).powf(1.7);
                tasks.push(Task::new(draw.key(machine), effort, move || draw.search(machine, self.seed)));
                if self.study.0 == Shown::Seconds {
                    let time = move |found: &Found| {
                        let c = found.get(&draw.key(machine), "C")?;
                        Ok(values([("seconds", draw.time(machine, c, self.seed)?)]))
                    };
                    tasks.push(Task::alone(timed(draw, machine), 0.3 * effort, time));
                }
            }
        }
        tasks
    }

    fn tell(&self, found: &Found) -> Run<Findings> {
        let shown = self.study.0;
        let mut rows = Vec::new();
        for truth in Truth::ALL {
            for &(m, n) in &self.sizes {
                let name = format!("{}, m = {m}", truth.label());
                let mut cells = vec![name, n.to_string(), shown.printed(truth, m).to_string()];
                for machine in Machine::ALL {
                    cells.push(shown.told(&self.shown(truth, m, machine, found)?));
                }
                rows.push(cells);
            }
        }
        let mut header = row(["F*", "repeats", "paper"]);
        header.extend(Machine::ALL.map(|machine| machine.label().to_string()));
        let caption = match shown {
            Shown::Accuracy => "Accuracy, mean ± standard deviation; C chosen on the test items",
            Shown::Seconds => "Seconds of training with the chosen C on one thread, mean",
            Shown::Vectors => "Number of vectors with the chosen C, mean",
        };
        let mut columns =
            row(["truth", "m", "repeat", "machine", "accuracy", "C", "vectors", "support_pairs", "fits", "cut_short"]);
        if shown == Shown::Seconds {
            columns.push("seconds".into());
        }
        let mut lines = Vec::new();
        for draw in &self.draws {
            for machine in Machine::ALL {
                let mut line = row([draw.truth.key(), &draw.m.to_string(), &draw.repeat.to_string(), machine.key()]);
                line.extend(found.all(&draw.key(machine))?.iter().map(|value| number(value.1)));
                if shown == Shown::Seconds {
                    line.push(number(found.get(&timed(draw, machine), "seconds")?));
                }
                lines.push(line);
            }
        }
        let mut told = self.own_notes(found)?;
        told.extend(notes(&self.draws, found)?);
        told.push("The values of the paper's figure are not in its text; the column has what it says in words.".into());
        Ok(Findings {
            lead: self.lead(found)?,
            beside: Table { caption: caption.into(), header, rows, is_words: true },
            claims: self.claims(found)?,
            notes: told,
            tables: Vec::new(),
            picture: self.picture(found)?,
            caption: format!(
                "{} against the number of items to learn from, over both kinds of ranking functions.",
                self.study.title()
            ),
            numbers: (columns, lines),
        })
    }
}
