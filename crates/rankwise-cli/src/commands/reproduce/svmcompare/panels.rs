//! Figures 4 and 5: test error against the number of pairs, AUC against the share of ties, for three simulated ranking
//! functions and the sushi data.

use rankwise::data::Scale;
use rankwise::data::simulate::Norm;
use rankwise::metrics::PairMetric;

use super::sushi::{self, SushiPairs};
use super::{MACHINES, Machine};
use crate::commands::pair_trial::{Beside, Draw, GRID_VALUES, Measured, Sets, Trial};
use crate::commands::reproduce::data_dir::Need;
use crate::commands::reproduce::stats::{Around, Summary, line_of_means, paired_p, told_p};
use crate::commands::reproduce::study::{
    Claim, Findings, Found, Paper, Patient, Prepared, Room, Study, Task, Values, row, values,
};
use crate::exit::Run;
use crate::page::Table;
use crate::picture::{Axis, LineChart, Picture, Sheet};

/// Figure 4.
pub(in crate::commands::reproduce) struct Figure4;

impl Study for Figure4 {
    fn name(&self) -> &'static str {
        "svmcompare-fig4"
    }

    fn title(&self) -> &'static str {
        "Test error against the number of training pairs (Figure 4)"
    }

    fn paper(&self) -> Paper {
        Paper::Comparison
    }

    fn needs(&self) -> Vec<Need> {
        sushi::needs()
    }

    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>> {
        let sizes = room.pick(vec![50, 100], vec![50, 100, 200, 400, 800]);
        let points = sizes.into_iter().map(|n| Point { n_pairs: n, share: 0.5 }).collect();
        Ok(Box::new(Panels::new(room, Figure::Error, points)?))
    }
}

/// Figure 5.
pub(in crate::commands::reproduce) struct Figure5;

impl Study for Figure5 {
    fn name(&self) -> &'static str {
        "svmcompare-fig5"
    }

    fn title(&self) -> &'static str {
        "AUC against the share of ties (Figure 5)"
    }

    fn paper(&self) -> Paper {
        Paper::Comparison
    }

    fn needs(&self) -> Vec<Need> {
        sushi::needs()
    }

    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>> {
        let n_pairs = room.pick(100, 400);
        let shares = room.pick(vec![0.1, 0.9], vec![0.1, 0.3, 0.5, 0.7, 0.9]);
        let points = shares.into_iter().map(|share| Point { n_pairs, share }).collect();
        Ok(Box::new(Panels::new(room, Figure::Auc, points)?))
    }
}

/// Which figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Error,
    Auc,
}

/// A place on the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    n_pairs: usize,
    share: f64,
}

/// Where pairs come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Simulated(Norm),
    Sushi { is_scaled: bool },
}

impl Source {
    const ALL: [Source; 5] = [
        Source::Simulated(Norm::L1),
        Source::Simulated(Norm::L2),
        Source::Simulated(Norm::Linf),
        Source::Sushi { is_scaled: true },
        Source::Sushi { is_scaled: false },
    ];

    fn name(self) -> &'static str {
        match self {
            Source::Simulated(Norm::L1) => "l1",
            Source::Simulated(Norm::L2) => "l2",
            Source::Simulated(Norm::Linf) => "linf",
            Source::Sushi { is_scaled: true } => "sushi",
            Source::Sushi { is_scaled: false } => "sushi-unscaled",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Source::Simulated(Norm::L1) => "r(x) = ‖x‖₁²",
            Source::Simulated(Norm::L2) => "r(x) = ‖x‖₂²",
            Source::Simulated(Norm::Linf) => "r(x) = ‖x‖∞²",
            Source::Sushi { is_scaled: true } => "sushi, features scaled",
            Source::Sushi { is_scaled: false } => "sushi, features as they are",
        }
    }
}

/// A figure with its data.
struct Panels {
    figure: Figure,
    points: Vec<Point>,
    sushi: SushiPairs,
    n_trials: usize,
    n_grid: usize,
    seed: u64,
}

impl Panels {
    fn new(room: &Room, figure: Figure, points: Vec<Point>) -> Run<Self> {
        let (n_trials, n_grid) = (room.pick(2, 4), room.pick(4, GRID_VALUES));
        Ok(Panels { figure, points, sushi: SushiPairs::read(room)?, n_trials, n_grid, seed: room.seed })
    }

    fn sets(&self, source: Source, point: Point, trial: usize) -> Run<Sets> {
        match source {
            Source::Simulated(norm) => {
                Draw { norm, n_pairs: point.n_pairs, ties: point.share, seed: self.seed, trial }.sets()
            }
            Source::Sushi { .. } => self.sushi.sets(point.n_pairs, point.share, self.seed.wrapping_add(trial as u64)),
        }
    }

    fn trial(&self, source: Source, point: Point, trial: usize, machine: Machine) -> Run<Values> {
        let sets = self.sets(source, point, trial)?;
        let metric = match self.figure {
            Figure::Error => PairMetric::ZeroOne,
            Figure::Auc => PairMetric::Auc,
        };
        // The simulated features have one scale by construction; those of sushis and people have not.
        let scale = if source == (Source::Sushi { is_scaled: true }) { Scale::Standard } else { Scale::None };
        let Machine { method, settings, .. } = machine;
        let trial = Trial { method, settings, metric, n_grid: self.n_grid, is_linear: false, scale, seed: self.seed };
        let chosen = trial.run(&sets, &Patient)?;
        let beside = match source {
            Source::Simulated(norm) => Beside::on(&sets.test, norm)?,
            Source::Sushi { .. } => {
                let none = Measured { error: f64::NAN, auc: f64::NAN };
                Beside { truth: none, constant: Measured::constant(&sets.test)? }
            }
        };
        Ok(values([
            ("error", chosen.test.error),
            ("auc", chosen.test.auc),
            ("C", chosen.c),
            ("gamma", chosen.gamma.unwrap_or(f64::NAN)),
            ("validation", chosen.validation),
            ("true_error", beside.truth.error),
            ("true_auc", beside.truth.auc),
            ("constant_error", beside.constant.error),
            ("constant_auc", beside.constant.auc),
        ]))
    }

    fn key(&self, source: Source, point: Point, trial: usize, machine: Machine) -> String {
        let Point { n_pairs, share } = point;
        format!("{} | {n_pairs} pairs | {share} ties | {trial} | {}", source.name(), machine.name)
    }

    /// What a figure's axis is.
    fn x(&self, point: Point) -> f64 {
        match self.figure {
            Figure::Error => point.n_pairs as f64,
            Figure::Auc => point.share,
        }
    }

    /// The numbers of all trials at a point.
    fn of(&self, found: &Found, source: Source, point: Point, machine: Machine, name: &str) -> Run<Summary> {
        let value = |trial| found.get(&self.key(source, point, trial, machine), name);
        Ok(Summary::of(&(0..self.n_trials).map(value).collect::<Run<Vec<_>>>()?))
    }

    fn level(&self, found: &Found, source: Source, machine: usize, name: &str) -> Run<f64> {
        let means = self.points.iter().map(|&point| Ok(self.of(found, source, point, MACHINES[machine], name)?.mean));
        let means = means.collect::<Run<Vec<_>>>()?;
        Ok(Summary::of(&means).mean)
    }

    /// Errors of a machine in all trials of all sizes.
    fn every(&self, found: &Found, source: Source, machine: usize) -> Run<Vec<f64>> {
        let trials = self.points.iter().flat_map(|&point| (0..self.n_trials).map(move |trial| (point, trial)));
        trials.map(|(point, trial)| found.get(&self.key(source, point, trial, MACHINES[machine]), "error")).collect()
    }

    fn panel(&self, found: &Found, source: Source) -> Run<Picture> {
        let (name, truth) = match self.figure {
            Figure::Error => ("error", "true_error"),
            Figure::Auc => ("auc", "true_auc"),
        };
        let mut series = Vec::new();
        let mut line = |label: &str, machine: Machine, name: &str, around: Around| -> Run<()> {
            let of = |&point: &Point| Ok((self.x(point), self.of(found, source, point, machine, name)?));
            let points = self.points.iter().map(of).collect::<Run<Vec<_>>>()?;
            series.push(line_of_means(label, &points, around));
            Ok(())
        };
        for machine in MACHINES {
            line(machine.name, machine, name, Around::Deviation)?;
        }
        if matches!(source, Source::Simulated(_)) {
            line("the true function", MACHINES[0], truth, Around::Nothing)?;
        }
        let picture_name = match (self.figure, source.name()) {
            (Figure::Error, "l1") => "fig4-l1",
            (Figure::Error, "l2") => "fig4-l2",
            (Figure::Error, "linf") => "fig4-linf",
            (Figure::Error, "sushi") => "fig4-sushi",
            (Figure::Error, _) => "fig4-unscaled",
            (Figure::Auc, "l1") => "fig5-l1",
            (Figure::Auc, "l2") => "fig5-l2",
            (Figure::Auc, "linf") => "fig5-linf",
            (Figure::Auc, "sushi") => "fig5-sushi",
            (Figure::Auc, _) => "fig5-unscaled",
        };
        let ticks = self.points.iter().map(|&point| self.x(point)).collect();
        // Errors on sushis are all far from 0, which would only flatten the lines.
        let least: &[f64] = if matches!(source, Source::Simulated(_)) { &[0.0] } else { &[] };
        let (x, y) = match self.figure {
            Figure::Error => (Axis::log("training pairs").ticked(ticks), Axis::linear("test error").with(least)),
            Figure::Auc => (Axis::linear("share of ties").ticked(ticks), Axis::linear("test AUC")),
        };
        let description = format!("{} lines with bands of one standard deviation.", series.len());
        let title = source.heading().to_string();
        Ok(LineChart { name: picture_name, title, description, x, y, series, reference: None }.draw())
    }

    fn claims(&self, found: &Found) -> Run<Vec<Claim>> {
        let mut claims = Vec::new();
        for source in Source::ALL {
            let heading = source.heading();
            match self.figure {
                Figure::Error => {
                    let level = |machine| self.level(found, source, machine, "error");
                    let (rank, rank2, compare) = (level(0)?, level(1)?, level(2)?);
                    let p = told_p(paired_p(&self.every(found, source, 2)?, &self.every(found, source, 0)?));
                    claims.push(Claim::new(
                        format!("{heading}: compare errs least, then rank2, then rank (means over all sizes: {compare:.3}, {rank2:.3}, {rank:.3}; compare against rank p {p})"),
                        compare < rank2 && rank2 < rank,
                    ));
                }
                Figure::Auc => {
                    let last = self.points[self.points.len() - 1];
                    let first = self.points[0];
                    let at = |point, machine: usize| {
                        Ok::<_, crate::exit::Failure>(self.of(found, source, point, MACHINES[machine], "auc")?.mean)
                    };
                    let (rank, rank2, compare) = (at(last, 0)?, at(last, 1)?, at(last, 2)?);
                    let spread_of = |point, compare| -> Run<f64> {
                        let three = [at(point, 0)?, at(point, 1)?, at(point, compare)?];
                        Ok(three.iter().fold(0.0f64, |m, v| m.max(*v)) - three.iter().fold(1.0f64, |m, v| m.min(*v)))
                    };
                    if matches!(source, Source::Sushi { .. } | Source::Simulated(Norm::L2)) {
                        for (machine, whose) in [(2, ""), (3, ", compare with rankwise's defaults")] {
                            let apart = self.points.iter().map(|&point| spread_of(point, machine));
                            let widest = apart.collect::<Run<Vec<_>>>()?.into_iter().fold(0.0, f64::max);
                            let ours = if machine == 2 { "" } else { "(ours) " };
                            claims.push(Claim::new(
                                format!("{ours}{heading}{whose}: AUC is about the same for all (at most .03 apart; here {widest:.3})"),
                                widest <= 0.03,
                            ));
                        }
                    } else {
                        claims.push(Claim::new(
                            format!("{heading}, mostly ties ({}): compare and rank2 beat rank ({compare:.3}, {rank2:.3}, {rank:.3})", last.share),
                            compare > rank && rank2 > rank,
                        ));
                        let apart = spread_of(first, 2)?;
                        claims.push(Claim::new(
                            format!(
                                "{heading}, few ties ({}): all perform similarly (at most .03 apart; here {apart:.3})",
                                first.share
                            ),
                            apart <= 0.03,
                        ));
                        let apart = (compare - rank2).abs();
                        claims.push(Claim::new(format!("{heading}: rank2 and compare perform similarly at {} ties (at most .03 apart; here {apart:.3})", last.share), apart <= 0.03));
                    }
                }
            }
        }
        Ok(claims)
    }

    /// What the figure shows: for Figure 4 where the paper's order is found, for Figure 5 what most ties do.
    fn lead(&self, found: &Found) -> Run<String> {
        if self.figure == Figure::Auc {
            let last = self.points[self.points.len() - 1];
            let mean = |machine: usize| -> Run<f64> {
                let of = |source: &Source| Ok(self.of(found, *source, last, MACHINES[machine], "auc")?.mean);
                let simulated = Source::ALL.iter().filter(|source| matches!(source, Source::Simulated(_)));
                Ok(Summary::of(&simulated.map(of).collect::<Run<Vec<_>>>()?).mean)
            };
            return Ok(format!(
                "With a share of {} ties compare has an AUC of {:.3}, rank2 of {:.3} and rank of {:.3} (mean of the three simulated functions).",
                last.share,
                mean(2)?,
                mean(1)?,
                mean(0)?
            ));
        }
        let (mut so, mut not) = (Vec::new(), Vec::new());
        for source in Source::ALL {
            let level = |machine| self.level(found, source, machine, "error");
            let list = if level(2)? < level(1)? && level(1)? < level(0)? { &mut so } else { &mut not };
            list.push(source.heading());
        }
        let order = "compare errs least, then rank2, then rank";
        Ok(match (so.is_empty(), not.is_empty()) {
            (_, true) => format!("Everywhere {order}."),
            (true, _) => format!("Nowhere it is so that {order}."),
            _ => format!("For {} {order}; not for {}.", so.join(", "), not.join(", ")),
        })
    }

    fn notes(&self) -> Vec<String> {
        let (ties, others) = self.sushi.counts();
        let mut notes = vec![
            format!("Sushi: {ties} ties and {others} other pairs (the paper: 17,832 and 7,168), made of each person's ten scores in order, neighbours paired; which side the better sushi stands on is drawn. The paper does not say whether features were scaled: once they are standardised by the training pairs, once taken as they are; then the seconds that a person took outweigh all else, and little is learnt."),
            "Lines of rank, rank2 and compare have the paper's settings (hinge; compare with its own threshold 1). The fourth line is compare as rankwise does it by itself: squared hinge, threshold fitted to held-out margins.".into(),
            format!("C and γ are chosen on validation pairs among {0} × {0} points (the paper: 10 × 10); {1} draws. Test pairs are 5,000 (simulated) and 2,000 (sushi) rather than n, so that they add less noise; the paper prints no numbers, so its figure is compared by what its text says.", self.n_grid, self.n_trials),
        ];
        let last = self.points[self.points.len() - 1];
        notes.push(match self.figure {
            Figure::Error => "The true function has its own threshold, 1. Half of the pairs are ties by choice, more than chance would give, so that a wider tie region errs less, and a machine that learns its own can err less than the true function. On sushi the features tell little: always the same answer errs on half of the pairs.".into(),
            Figure::Auc => format!("On sushi the paper's compare falls behind where one kind of pair outnumbers the other: the optimum of its hinge then is next to the constant answer (u near 0, β near 1 or −1, where the common kind costs nothing whatever u is), and what is left of u orders little. The squared hinge of rankwise's defaults does not do that. With a share of {} ties rank has only {} pairs to learn from.", last.share, (last.n_pairs as f64 * (1.0 - last.share)).round()),
        });
        notes
    }
}

impl Prepared for Panels {
    fn tasks(&self) -> Vec<Task<'_>> {
        let mut tasks = Vec::new();
        for source in Source::ALL {
            for &point in &self.points {
                for trial in 0..self.n_trials {
                    for machine in MACHINES {
                        let n = point.n_pairs as f64;
                        let work = move || self.trial(source, point, trial, machine);
                        tasks.push(Task::new(self.key(source, point, trial, machine), n * n, work));
                    }
                }
            }
        }
        tasks
    }

    fn tell(&self, found: &Found) -> Run<Findings> {
        let (name, truth, constant) = match self.figure {
            Figure::Error => ("error", "true_error", "constant_error"),
            Figure::Auc => ("auc", "true_auc", "constant_auc"),
        };
        let mut rows = Vec::new();
        let mut panels = Vec::new();
        let mut csv = Vec::new();
        for source in Source::ALL {
            panels.push((source.heading().to_string(), self.panel(found, source)?));
            for &point in &self.points {
                let mut cells = vec![source.heading().to_string(), self.x(point).to_string()];
                for machine in MACHINES {
                    cells.push(self.of(found, source, point, machine, name)?.told(3));
                    for trial in 0..self.n_trials {
                        let mut line = vec![source.name().into(), point.n_pairs.to_string(), point.share.to_string()];
                        line.extend([trial.to_string(), machine.name.to_string()]);
                        let all = found.all(&self.key(source, point, trial, machine))?;
                        line.extend(all.iter().map(|value| value.1.to_string()));
                        csv.push(line);
                    }
                }
                for beside in [truth, constant] {
                    let mean = self.of(found, source, point, MACHINES[0], beside)?.mean;
                    cells.push(if mean.is_nan() { "–".into() } else { format!("{mean:.3}") });
                }
                rows.push(cells);
            }
        }
        let claims = self.claims(found)?;
        let x = if self.figure == Figure::Error { "pairs" } else { "ties" };
        let mut header = row(["r", x]);
        header.extend(MACHINES.iter().map(|machine| machine.name.to_string()));
        header.extend(["the true function".into(), "constant".into()]);
        let (file, title, what) = match self.figure {
            Figure::Error => ("svmcompare-fig4", "Test error against training pairs", "Test error"),
            Figure::Auc => ("svmcompare-fig5", "AUC against the share of ties", "Test AUC"),
        };
        let columns = ["source", "pairs", "ties", "trial", "machine", "error", "auc", "C", "gamma", "validation"];
        let mut names = row(columns);
        names.extend(row(["true_error", "true_auc", "constant_error", "constant_auc"]));
        Ok(Findings {
            lead: self.lead(found)?,
            beside: Table {
                caption: format!(
                    "{what}, mean ± standard deviation over {} draws (the paper prints lines only)",
                    self.n_trials
                ),
                header,
                rows,
                is_words: false,
            },
            claims,
            notes: self.notes(),
            tables: Vec::new(),
            picture: Sheet { name: file, title: title.into(), n_columns: 2, panels }.draw(),
            caption: format!("{what}: lines are means over {} draws, bands one standard deviation.", self.n_trials),
            numbers: (names, csv),
        })
    }
}
