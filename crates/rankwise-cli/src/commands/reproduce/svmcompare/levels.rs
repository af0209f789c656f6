//! Figure 3: level curves of what rank, rank2 and compare learn from the same 100 pairs, half of them ties.

use rankwise::data::simulate::Norm;
use rankwise::data::{Features, Groups, Items, Precision, Random, Scale};
use rankwise::metrics::{ItemMetric, PairMetric, Ranked};
use rankwise::model::Model;

use super::{MACHINES, Machine};
use crate::commands::curves;
use crate::commands::pair_trial::{Chosen, Draw, GRID_VALUES, Trial};
use crate::commands::reproduce::stats::{Summary, paired_p, told_p};
use crate::commands::reproduce::study::{
    Claim, Findings, Found, Paper, Patient, Prepared, Room, Study, Task, Values, row, values,
};
use crate::exit::Run;
use crate::page::Table;
use crate::picture::Sheet;

const PAIRS: usize = 100;
/// Points at which a learnt function is held beside the true one.
const POINTS: usize = 2000;

/// The study.
pub(in crate::commands::reproduce) struct Figure3;

impl Study for Figure3 {
    fn name(&self) -> &'static str {
        "svmcompare-fig3"
    }

    fn title(&self) -> &'static str {
        "Level curves of learnt ranking functions (Figure 3)"
    }

    fn paper(&self) -> Paper {
        Paper::Comparison
    }

    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>> {
        Ok(Box::new(Curves { seed: room.seed, n_draws: room.pick(2, 20), n_grid: room.pick(4, GRID_VALUES) }))
    }
}

/// The study as it is run.
struct Curves {
    seed: u64,
    n_draws: usize,
    n_grid: usize,
}

impl Curves {
    fn draw(&self, trial: usize) -> Draw {
        Draw { norm: Norm::L1, n_pairs: PAIRS, ties: 0.5, seed: self.seed, trial }
    }

    fn learn(&self, at: usize, machine: Machine) -> Run<Chosen> {
        let Machine { method, settings, .. } = machine;
        let (metric, scale) = (PairMetric::ZeroOne, Scale::None);
        let trial = Trial { method, settings, metric, n_grid: self.n_grid, is_linear: false, scale, seed: self.seed };
        trial.run(&self.draw(at).sets()?, &Patient)
    }

    /// How well the learnt function orders points that the true one orders.
    fn closeness(&self, at: usize, model: &Model) -> Run<f64> {
        let mut random = Random::new(self.seed.wrapping_add(at as u64));
        let points: Vec<[f64; 2]> =
            (0..POINTS).map(|_| [random.between(-3.0, 3.0), random.between(-3.0, 3.0)]).collect();
        let labels: Vec<f64> = points.iter().map(|&point| Norm::L1.rank(point)).collect();
        let features = Features::dense(2, points.concat(), Precision::F64)?;
        let scores = model.scorer.scores(&Items::new(features, model.scorer.feature_names.clone(), None)?)?;
        let groups = Groups::single(POINTS);
        let tau = ItemMetric::parse("kendall_tau")?.of(&Ranked::new(&labels, &scores, &groups)?)?;
        Ok(tau.value.unwrap_or(0.0))
    }

    fn trial(&self, at: usize, machine: Machine) -> Run<Values> {
        let chosen = self.learn(at, machine)?;
        Ok(values([
            ("kendall_tau", self.closeness(at, &chosen.model)?),
            ("error", chosen.test.error),
            ("C", chosen.c),
            ("gamma", chosen.gamma.unwrap_or(f64::NAN)),
        ]))
    }
}

fn key(at: usize, machine: Machine) -> String {
    format!("draw {at} | {}", machine.name)
}

impl Prepared for Curves {
    fn tasks(&self) -> Vec<Task<'_>> {
        let each = (0..self.n_draws).flat_map(|at| MACHINES.map(|machine| (at, machine)));
        each.map(|(at, machine)| Task::new(key(at, machine), 1.0, move || self.trial(at, machine))).collect()
    }

    fn tell(&self, found: &Found) -> Run<Findings> {
        let all = |machine: Machine, name: &str| {
            (0..self.n_draws).map(|at| found.get(&key(at, machine), name)).collect::<Run<Vec<f64>>>()
        };
        let mut rows = Vec::new();
        let mut taus = Vec::new();
        let mut csv = Vec::new();
        for (machine, says) in MACHINES.iter().zip(["does not recover r", "closer to r", "closer to r", "–"]) {
            let (tau, error) = (all(*machine, "kendall_tau")?, all(*machine, "error")?);
            rows.push(row([machine.name, says, &Summary::of(&tau).told(3), &Summary::of(&error).told(3)]));
            for at in 0..self.n_draws {
                let mut line = vec![at.to_string(), machine.name.to_string()];
                line.extend(found.all(&key(at, *machine))?.iter().map(|value| value.1.to_string()));
                csv.push(line);
            }
            taus.push(tau);
        }
        let mean = |k: usize| Summary::of(&taus[k]).mean;
        let p = |k: usize| told_p(paired_p(&taus[k], &taus[0]));
        let mut panels = vec![(String::new(), curves::pairs("fig3-pairs", &self.draw(0).sets()?.train))];
        for (machine, name) in MACHINES.into_iter().zip(["fig3-rank", "fig3-rank2", "fig3-compare"]) {
            let chosen = self.learn(0, machine)?;
            panels.push((String::new(), curves::learnt(name, machine.name, &chosen.model)?));
        }
        Ok(Findings {
            lead: format!(
                "How close to the true function they come, by Kendall's τ with it: compare {:.3}, rank2 {:.3}, rank {:.3}.",
                mean(2), mean(1), mean(0)
            ),
            beside: Table {
                caption: format!("How well {POINTS} points are ordered as the true function does (Kendall's τ), and the test error, over {} draws of {PAIRS} pairs", self.n_draws),
                header: row(["", "paper", "ours: τ", "ours: test error"]),
                rows,
                is_words: false,
            },
            claims: vec![
                Claim::new(format!("compare recovers r better than rank (by the means; p {})", p(2)), mean(2) > mean(0)),
                Claim::new(format!("rank2 recovers r better than rank (by the means; p {})", p(1)), mean(1) > mean(0)),
            ],
            notes: vec!["The paper shows one draw and no numbers. Dashed diamonds are levels of the true function; blue curves are those of a machine, one for each diamond, at the middle score along it.".into()],
            tables: Vec::new(),
            picture: Sheet { name: "svmcompare-fig3", title: "Level curves".into(), n_columns: 4, panels }.draw(),
            caption: "The first draw: its pairs (an arrow points to the better item, a plain line is a tie), and what rank, rank2 and compare learnt from them.".into(),
            numbers: (row(["draw", "machine", "kendall_tau", "error", "C", "gamma"]), csv),
        })
    }
}
