//! Section 1.3 of the lecture: subgradient steps on one pair at a time, with lengths ~1/t and ~1/√t.

use rankwise::data::{Features, Groups, Items, Precision, Random, Ranking};
use rankwise::model::Schedule;
use rankwise::{Effort, Loss, OnlineSvm, RankSvm};

use super::stats::Summary;
use super::study::{Claim, Findings, Found, Paper, Patient, Prepared, Room, Study, Task, Values, row, values};
use crate::exit::Run;
use crate::page::Table;
use crate::picture::{Axis, LineChart, Picture, Series, Sheet};
use crate::text::{number, rounded};

const N_ITEMS: usize = 300;
const N_GROUPS: usize = 6;
const N_FEATURES: usize = 10;
const N_GRADES: usize = 5;
/// Standard deviation of what is added to scores of standard deviation √10 before they become grades.
const NOISE: f64 = 1.0;
const C: [f64; 2] = [0.01, 1.0];
/// The relative gap of the optimum that all is measured from.
const TOL: f64 = 1e-9;
/// An excess of the objective that is as good as none.
const NEAR: f64 = 0.01;

/// The study.
pub(super) struct Online;

impl Study for Online {
    fn name(&self) -> &'static str {
        "online"
    }

    fn title(&self) -> &'static str {
        "Online ranking: steps ~1/t and ~1/√t, against the optimum"
    }

    fn paper(&self) -> Paper {
        Paper::Online
    }

    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>> {
        // Half powers of ten.
        let last = room.pick(8, 12);
        let steps = (4..=last).map(|half: i32| 10f64.powf(0.5 * f64::from(half)).round() as u64).collect();
        Ok(Box::new(Runs { data: draw(room.seed)?, steps, seed: room.seed, n_seeds: room.pick(2, 5) }))
    }
}

/// Items in groups, graded by a linear function with noise.
fn draw(seed: u64) -> Run<Ranking> {
    let mut random = Random::new(seed);
    let w: Vec<f64> = (0..N_FEATURES).map(|_| random.normal()).collect();
    let x: Vec<f64> = (0..N_ITEMS * N_FEATURES).map(|_| random.normal()).collect();
    let score = |x: &[f64]| x.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>();
    let scores: Vec<f64> = x.chunks(N_FEATURES).map(|x| score(x) + NOISE * random.normal()).collect();
    // Grades are equally large.
    let mut order: Vec<usize> = (0..N_ITEMS).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let mut labels = vec![0.0; N_ITEMS];
    order.iter().enumerate().for_each(|(rank, &item)| labels[item] = (rank * N_GRADES / N_ITEMS) as f64);
    let groups = Groups::from_ids((0..N_ITEMS).map(|item| (item % N_GROUPS).to_string()));
    let items = Items::new(Features::dense(N_FEATURES, x, Precision::F64)?, None, None)?;
    Ok(Ranking::new(items, labels, Some(groups))?)
}

/// A way to make steps.
#[derive(Debug, Clone, Copy)]
struct Way {
    schedule: Schedule,
    average: bool,
}

impl Way {
    const ALL: [Way; 4] = [
        Way { schedule: Schedule::Inverse, average: true },
        Way { schedule: Schedule::Inverse, average: false },
        Way { schedule: Schedule::Sqrt, average: true },
        Way { schedule: Schedule::Sqrt, average: false },
    ];

    fn label(self) -> String {
        let length = if self.schedule == Schedule::Inverse { "1/t" } else { "1/√t" };
        format!("{length}, {}", if self.average { "averaged" } else { "last" })
    }

    fn key(self) -> String {
        format!("{} {}", self.schedule.name(), if self.average { "average" } else { "last" })
    }
}

struct Runs {
    data: Ranking,
    steps: Vec<u64>,
    seed: u64,
    n_seeds: usize,
}

fn key(c: f64, way: Way, seed: usize) -> String {
    format!("C={c} {} seed={seed}", way.key())
}

fn optimum(c: f64) -> String {
    format!("C={c} optimum")
}

impl Runs {
    fn best(&self, c: f64) -> Run<Values> {
        let svm = RankSvm::new().loss(Loss::Hinge).c(c).tol(TOL).threads(1);
        let training = svm.fit_from(&self.data, None, &Patient)?.model.training;
        Ok(values([("objective", training.objective), ("gap", training.gap)]))
    }

    /// The objective after so many steps, from the beginning each time.
    fn go(&self, c: f64, way: Way, seed: usize) -> Run<Values> {
        let mut effort = Effort::default();
        (effort.threads, effort.seed) = (1, self.seed.wrapping_mul(1000).wrapping_add(seed as u64));
        let svm = OnlineSvm::new().c(c).schedule(way.schedule).average(way.average).effort(effort);
        let after = |&steps: &u64| -> Run<(String, f64)> {
            let fit = svm.clone().steps(Some(steps)).fit_from(&self.data, None, &Patient)?;
            Ok((steps.to_string(), fit.model.training.objective))
        };
        self.steps.iter().map(after).collect()
    }

    /// By how much the objective is above the optimum, relative to it, seed by seed.
    fn excess(&self, c: f64, way: Way, steps: u64, found: &Found) -> Run<Vec<f64>> {
        let best = found.get(&optimum(c), "objective")?;
        let of = |seed| Ok((found.get(&key(c, way, seed), &steps.to_string())? - best) / best);
        (0..self.n_seeds).map(of).collect()
    }

    fn mean(&self, c: f64, way: Way, steps: u64, found: &Found) -> Run<f64> {
        Ok(Summary::of(&self.excess(c, way, steps, found)?).mean)
    }

    fn last(&self) -> u64 {
        self.steps[self.steps.len() - 1]
    }

    fn picture(&self, found: &Found) -> Run<Picture> {
        let mut panels = Vec::new();
        for (at, c) in C.into_iter().enumerate() {
            let mut series = Vec::new();
            for way in Way::ALL {
                let (mut points, mut band) = (Vec::new(), Vec::new());
                for &steps in &self.steps {
                    let excess = self.excess(c, way, steps, found)?;
                    let (low, high) = excess.iter().fold((f64::INFINITY, 0.0f64), |(l, h), e| (l.min(*e), h.max(*e)));
                    points.push((steps as f64, Summary::of(&excess).mean));
                    band.push((steps as f64, low, high));
                }
                series.push(Series { label: way.label(), points, band });
            }
            let chart = LineChart {
                name: if at == 0 { "small-c" } else { "large-c" },
                title: format!("Excess of the objective, C = {c}"),
                description: "How far the objective is above the optimum, against the number of steps.".into(),
                x: Axis::log("steps"),
                y: Axis::log("excess of the objective, relative"),
                series,
                reference: None,
            };
            panels.push((format!("C = {c}"), chart.draw()));
        }
        Ok(Sheet { name: "online", title: Online.title().into(), n_columns: 2, panels }.draw())
    }
}

impl Prepared for Runs {
    fn tasks(&self) -> Vec<Task<'_>> {
        let mut tasks = Vec::new();
        for c in C {
            tasks.push(Task::new(optimum(c), 1.0, move || self.best(c)));
            for way in Way::ALL {
                tasks.extend(
                    (0..self.n_seeds).map(|seed| Task::new(key(c, way, seed), 1.0, move || self.go(c, way, seed))),
                );
            }
        }
        tasks
    }

    fn tell(&self, found: &Found) -> Run<Findings> {
        let (earlier, last) = (self.steps[self.steps.len() - 3], self.last());
        let whole: Vec<u64> = self.steps.iter().step_by(2).copied().collect();
        let (mut rows, mut lines, mut claims, mut gaps) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for c in C {
            let gap = found.get(&optimum(c), "gap")?;
            gaps.push(format!(
                "{} with a relative gap of {gap:.0e} for C = {c}",
                rounded(found.get(&optimum(c), "objective")?)
            ));
            for way in Way::ALL {
                let printed = match (way.schedule, way.average) {
                    (_, true) => "–",
                    (Schedule::Inverse, _) => "the faster rate",
                    (Schedule::Sqrt, _) => "no regret",
                };
                let mut cells = vec![format!("C = {c}, {}", way.label()), printed.into()];
                for &steps in &whole {
                    cells.push(format!("{:.2e}", self.mean(c, way, steps, found)?));
                }
                rows.push(cells);
                for seed in 0..self.n_seeds {
                    for &steps in &self.steps {
                        let objective = found.get(&key(c, way, seed), &steps.to_string())?;
                        let best = found.get(&optimum(c), "objective")?;
                        let mut line = row([&number(c), way.schedule.name(), if way.average { "yes" } else { "no" }]);
                        line.extend([seed.to_string(), steps.to_string()]);
                        line.extend([objective, best, gap, (objective - best) / best].map(number));
                        lines.push(line);
                    }
                }
            }
        }
        let end = |c: f64, schedule: Schedule, average: bool| self.mean(c, Way { schedule, average }, last, found);
        for c in C {
            let faster = |average| {
                Ok::<_, crate::exit::Failure>(end(c, Schedule::Inverse, average)? < end(c, Schedule::Sqrt, average)?)
            };
            claims.push(Claim::new(
                format!("C = {c}: steps of 1/t are the faster ones (less excess after {last} steps, averaged and not)"),
                faster(true)? && faster(false)?,
            ));
            let mut converge = true;
            for way in Way::ALL {
                let (before, after) = (self.mean(c, way, earlier, found)?, self.mean(c, way, last, found)?);
                converge &= after < before && (!way.average || after <= NEAR);
            }
            claims.push(Claim::new(
                format!("C = {c}: both converge (after {last} steps averages have an excess of at most {NEAR}, and all have less than after {earlier})"),
                converge,
            ));
        }
        let mut header = row(["steps", "lecture"]);
        header.extend(whole.iter().map(u64::to_string));
        let columns =
            row(["C", "schedule", "averaged", "seed", "steps", "objective", "optimum", "optimum_gap", "excess"]);
        let c = C[1];
        Ok(Findings {
            lead: format!(
                "After {last} steps on C = {c} the objective is above the optimum by {:.1e} of it with steps ~1/t and averaging, by {:.1e} with ~1/√t; without averaging by {:.1e} and {:.1e}.",
                end(c, Schedule::Inverse, true)?,
                end(c, Schedule::Sqrt, true)?,
                end(c, Schedule::Inverse, false)?,
                end(c, Schedule::Sqrt, false)?
            ),
            beside: Table { caption: format!("Excess of the objective over the optimum, relative, mean of {} seeds", self.n_seeds), header, rows, is_words: false },
            claims,
            notes: vec![
                format!("Data: {N_ITEMS} items in {N_GROUPS} groups, {N_FEATURES} normal features, {N_GRADES} equally large grades of a linear score with noise of standard deviation {NOISE}. The lecture has no data of its own."),
                format!("The optimum is that of the same objective ½‖w‖² + C·Σ hinge over all pairs, found by RankSvm: {}. The lecture's λ/2·‖w‖² + Σ hinge is this divided by C, λ = 1/C.", gaps.join(", ")),
                "Steps are 1/(D² + λt) and 1/(D² + λ + D·√(λt)) with λ = 1/(C·number of pairs) and D² the mean squared length of differences: the lecture's ~1/t and ~1/√t, kept from being huge at the beginning. A step looks at one random pair. An average weighs later steps more; the lecture does not average.".into(),
                "Until about D²/λ steps both lengths are nearly constant and the same: the larger C, the later the difference shows.".into(),
            ],
            tables: Vec::new(),
            picture: self.picture(found)?,
            caption: "How far the objective is above the optimum, relative to it; lines are means over seeds, bands from the least to the most.".into(),
            numbers: (columns, lines),
        })
    }
}
