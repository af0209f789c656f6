//! Figure 10: what accuracy is lost where neighbours in the order to be learnt have changed places.

use super::super::stats::{Around, Summary, line_of_means};
use super::super::study::{Claim, Findings, Found, Paper, Prepared, Room, Study, Task, row};
use super::Machine;
use super::synthetic::{Draw, Truth, notes, numbers};
use crate::exit::Run;
use crate::page::Table;
use crate::picture::{Axis, LineChart, Picture, Sheet};
use crate::text::number;

/// Items to learn from.
const M: usize = 100;
const WHOLE: (&[usize], usize) = (&[0, 5, 10, 20, 30, 40, 50], 30);
const QUICK: (&[usize], usize) = (&[0, 10, 30], 2);
/// Losses of accuracy that differ by no more are comparable.
const COMPARABLE: f64 = 0.03;

/// The study.
pub(in super::super) struct Noise;

impl Study for Noise {
    fn name(&self) -> &'static str {
        "rvm-fig10"
    }

    fn title(&self) -> &'static str {
        "Sensitivity of the Ranking Vector Machine and the ranking SVM to noise (Figure 10)"
    }

    fn paper(&self) -> Paper {
        Paper::Tutorial
    }

    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>> {
        let (switches, n_repeats) = room.pick(QUICK, WHOLE);
        let mut draws = Vec::new();
        for truth in Truth::ALL {
            for &n_switches in switches {
                draws.extend((0..n_repeats).map(|repeat| Draw { truth, m: M, repeat, n_switches }));
            }
        }
        Ok(Box::new(Trials { seed: room.seed, switches, n_repeats, draws }))
    }
}

struct Trials {
    seed: u64,
    switches: &'static [usize],
    n_repeats: usize,
    draws: Vec<Draw>,
}

impl Trials {
    fn of(&self, truth: Truth, k: usize) -> impl Iterator<Item = &Draw> {
        self.draws.iter().filter(move |draw| draw.truth == truth && draw.n_switches == k)
    }

    fn accuracies(&self, truth: Truth, k: usize, machine: Machine, found: &Found) -> Run<Vec<f64>> {
        numbers(self.of(truth, k), machine, found, "accuracy")
    }

    /// What is lost of the accuracy without noise, in every repeat.
    fn losses(&self, truth: Truth, k: usize, machine: Machine, found: &Found) -> Run<Vec<f64>> {
        let [clean, noisy] = [0, k].map(|k| self.accuracies(truth, k, machine, found));
        Ok(clean?.iter().zip(noisy?).map(|(clean, noisy)| clean - noisy).collect())
    }

    /// The mean losses of a machine, k by k.
    fn curve(&self, truth: Truth, machine: Machine, found: &Found) -> Run<Vec<f64>> {
        let mean = |&k: &usize| Ok(Summary::of(&self.losses(truth, k, machine, found)?).mean);
        self.switches.iter().map(mean).collect()
    }

    fn picture(&self, found: &Found) -> Run<Picture> {
        let mut panels = Vec::new();
        for truth in Truth::ALL {
            let mut series = Vec::new();
            for machine in Machine::ALL {
                let at = |&k: &usize| Ok((k as f64, Summary::of(&self.losses(truth, k, machine, found)?)));
                let points = self.switches.iter().map(at).collect::<Run<Vec<_>>>()?;
                series.push(line_of_means(machine.label(), &points, Around::Error));
            }
            let chart = LineChart {
                name: if truth == Truth::Linear { "linear" } else { "rbf" },
                title: format!("Lost accuracy, {}", truth.label()),
                description: "Accuracy without noise less accuracy with it, against the number of switches.".into(),
                x: Axis::linear("switches of neighbours (k)"),
                y: Axis::linear("lost accuracy").with(&[0.0]),
                series,
                reference: None,
            };
            panels.push((format!("F* and kernel {}", truth.label()), chart.draw()));
        }
        Ok(Sheet { name: "rvm-fig10", title: "Sensitivity to noise".into(), n_columns: 2, panels }.draw())
    }
}

impl Prepared for Trials {
    fn tasks(&self) -> Vec<Task<'_>> {
        let of_draw = |draw: &'_ Draw| {
            let draw = *draw;
            Machine::ALL.map(|machine| Task::new(draw.key(machine), 1.0, move || draw.search(machine, self.seed)))
        };
        self.draws.iter().flat_map(of_draw).collect()
    }

    fn tell(&self, found: &Found) -> Run<Findings> {
        let mut rows = Vec::new();
        for truth in Truth::ALL {
            for &k in self.switches {
                let printed = if k == 0 { "" } else { "moderately less, alike for both" };
                let mut cells = vec![format!("{}, k = {k}", truth.label()), printed.into()];
                for machine in Machine::ALL {
                    let accuracy = Summary::of(&self.accuracies(truth, k, machine, found)?).mean;
                    let lost = Summary::of(&self.losses(truth, k, machine, found)?).mean;
                    cells.push(format!("{accuracy:.4} ({:+.4})", 0.0 - lost));
                }
                rows.push(cells);
            }
        }
        let mut header = row(["F*", "paper"]);
        header.extend(Machine::ALL.map(|machine| machine.label().to_string()));
        let (mut claims, mut widest) = (Vec::new(), 0.0f64);
        for truth in Truth::ALL {
            let name = truth.label();
            let [rvm, svm] = [Machine::Vectors, Machine::Svm].map(|machine| self.curve(truth, machine, found));
            let (rvm, svm) = (rvm?, svm?);
            let apart = rvm.iter().zip(&svm).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            widest = widest.max(apart);
            let is_less = |curve: &[f64]| curve.last().is_some_and(|last| *last > 0.0);
            claims.push(Claim::new(format!("{name}: accuracies decrease with noise"), is_less(&rvm) && is_less(&svm)));
            claims.push(Claim::new(
                format!("{name}: the sensitivities are comparable (losses differ by at most {COMPARABLE} at every k)"),
                apart <= COMPARABLE,
            ));
        }
        let mut lines = Vec::new();
        for draw in &self.draws {
            for machine in Machine::ALL {
                let Draw { truth, repeat, n_switches, .. } = draw;
                let mut line = row([truth.key(), &n_switches.to_string(), &repeat.to_string(), machine.key()]);
                line.extend(found.all(&draw.key(machine))?.iter().map(|value| number(value.1)));
                lines.push(line);
            }
        }
        let columns = row([
            "truth",
            "switches",
            "repeat",
            "machine",
            "accuracy",
            "C",
            "vectors",
            "support_pairs",
            "fits",
            "cut_short",
        ]);
        let mut told = vec![
            format!(
                "k random items of the {M} in the order to be learnt change places with the next one (the last with the one before it), one after the other. The values of k are ours: the paper's text has none. Repeats: {}; all k see the same items, and the switches of a smaller k are among those of a larger one. Test items are in their true order.",
                self.n_repeats
            ),
            "Each switch moves two items by one place, so that nearly all of the 4,950 pairs stay in their true order: this noise is mild.".into(),
        ];
        told.extend(notes(&self.draws, found)?);
        told.push("The values of the paper's figure are not in its text; the column has what it says in words.".into());
        Ok(Findings {
            lead: format!(
                "The mean losses of accuracy through noise of RVM and ranking SVM differ by at most {widest:.4}."
            ),
            beside: Table {
                caption: format!(
                    "Accuracy with {M} items to learn from, and its change from k = 0; C chosen on the test items"
                ),
                header,
                rows,
                is_words: true,
            },
            claims,
            notes: told,
            tables: Vec::new(),
            picture: self.picture(found)?,
            caption: "Accuracy without noise less accuracy with it; bands are one standard error of the mean.".into(),
            numbers: (columns, lines),
        })
    }
}
