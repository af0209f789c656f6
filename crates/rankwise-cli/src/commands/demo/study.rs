//! Which trials there are, and what their means say: the paper's Figures 4 and 5 as numbers.

use rankwise::data::simulate::Norm;
use rankwise::metrics::PairMetric;
use rankwise::model::Method;
use serde::Serialize;

use super::trial::{Found, Job, run_all};
use crate::commands::pair_trial::{Draw, GRID_VALUES, METHODS, Measured, Settings};
use crate::exit::{Failure, Run};

/// The table: so many pairs of this kind.
pub(super) const TABLE_NORM: Norm = Norm::L1;
pub(super) const TABLE_PAIRS: usize = 400;
/// The level curves: as many pairs as in the paper's figure.
pub(super) const CURVES_PAIRS: usize = 100;
/// The share of ties wherever it does not vary.
pub(super) const TIES: f64 = 0.5;

/// What is tried.
#[derive(Debug, Clone)]
pub(super) struct Study {
    pub(super) seed: u64,
    /// Draws that a mean is taken over.
    pub(super) n_trials: usize,
    /// Ranking functions of the figures.
    pub(super) norms: Vec<Norm>,
    /// Numbers of training pairs, Figure 4.
    pub(super) sizes: Vec<usize>,
    /// Shares of ties, Figure 5; may be empty.
    pub(super) shares: Vec<f64>,
    /// Values of C, and of γ.
    n_grid: usize,
}

/// All trials with what came out.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) study: Study,
    jobs: Vec<Job>,
    found: Vec<Found>,
}

/// A point of a figure: a mean over trials, and one standard deviation to either side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Point {
    pub(super) norm: &'static str,
    pub(super) n: usize,
    pub(super) ties: f64,
    /// A method, `true` (the function the pairs were drawn from) or `constant` (always the same answer).
    pub(super) method: &'static str,
    pub(super) mean: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Whether compare errs least and rank most, by the means of Figure 4 over all sizes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Order {
    pub(super) norm: &'static str,
    pub(super) compare: f64,
    pub(super) rank2: f64,
    pub(super) rank: f64,
    #[serde(rename = "true")]
    pub(super) truth: f64,
    /// compare < rank2 < rank.
    pub(super) holds: bool,
    /// Numbers of pairs where it holds, and where it does not.
    pub(super) holds_at: Vec<usize>,
    pub(super) fails_at: Vec<usize>,
}

impl Order {
    /// Whether it holds, in words.
    pub(super) fn verdict(&self) -> String {
        let yes = if self.holds { "yes" } else { "no" };
        format!("{yes}, at {} of {} sizes", self.holds_at.len(), self.holds_at.len() + self.fails_at.len())
    }
}

/// Which method has the largest AUC, by the means of Figure 5 over all shares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct AucOrder {
    pub(super) norm: &'static str,
    pub(super) compare: f64,
    pub(super) rank2: f64,
    pub(super) rank: f64,
    #[serde(rename = "true")]
    pub(super) truth: f64,
    pub(super) constant: f64,
    /// compare has the largest.
    pub(super) holds: bool,
}

pub(super) fn name(norm: Norm) -> &'static str {
    match norm {
        Norm::L1 => "l1",
        Norm::L2 => "l2",
        Norm::Linf => "linf",
    }
}

impl Study {
    /// One ranking function, few trials.
    pub(super) fn short(seed: u64, n_trials: Option<usize>) -> Self {
        let (norms, sizes) = (vec![TABLE_NORM], vec![50, 100, 200, 400]);
        Study { seed, n_trials: n_trials.unwrap_or(4), norms, sizes, shares: Vec::new(), n_grid: GRID_VALUES }
    }

    /// Three ranking functions, more pairs, more trials, and ties from few to many.
    pub(super) fn full(seed: u64, n_trials: Option<usize>) -> Self {
        Study {
            seed,
            n_trials: n_trials.unwrap_or(8),
            norms: vec![Norm::L1, Norm::L2, Norm::Linf],
            sizes: vec![50, 100, 200, 400, 800],
            shares: vec![0.1, 0.3, 0.5, 0.7, 0.9],
            n_grid: GRID_VALUES,
        }
    }

    /// The draw of the table; the level curves' is the same with fewer pairs.
    pub(super) fn table_draw(&self) -> Draw {
        Draw { norm: TABLE_NORM, n_pairs: TABLE_PAIRS, ties: TIES, seed: self.seed, trial: 0 }
    }

    pub(super) fn table_job(&self, method: Method, settings: Settings) -> Job {
        Job { draw: self.table_draw(), method, settings, metric: PairMetric::ZeroOne }
    }

    pub(super) fn curves_job(&self, method: Method) -> Job {
        let job = self.table_job(method, Settings::Paper);
        Job { draw: Draw { n_pairs: CURVES_PAIRS, ..job.draw }, ..job }
    }

    /// The table's trial with rankwise's defaults, and others like it.
    fn defaults_jobs(&self, method: Method) -> impl Iterator<Item = Job> {
        let job = self.table_job(method, Settings::Defaults);
        (0..self.n_trials).map(move |trial| Job { draw: Draw { trial, ..job.draw }, ..job })
    }

    /// Trials of a point of Figure 4.
    fn error_jobs(&self, norm: Norm, n_pairs: usize, method: Method) -> impl Iterator<Item = Job> {
        self.trials(norm, n_pairs, TIES, method, PairMetric::ZeroOne)
    }

    /// Trials of a point of Figure 5.
    fn auc_jobs(&self, norm: Norm, ties: f64, method: Method) -> impl Iterator<Item = Job> {
        self.trials(norm, TABLE_PAIRS, ties, method, PairMetric::Auc)
    }

    fn trials(
        &self,
        norm: Norm,
        n_pairs: usize,
        ties: f64,
        method: Method,
        metric: PairMetric,
    ) -> impl Iterator<Item = Job> + use<> {
        let seed = self.seed;
        let draw = move |trial| Draw { norm, n_pairs, ties, seed, trial };
        (0..self.n_trials).map(move |trial| Job { draw: draw(trial), method, settings: Settings::Paper, metric })
    }

    /// Every trial once.
    fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for method in METHODS {
            jobs.push(self.table_job(method, Settings::Paper));
            jobs.extend(self.defaults_jobs(method));
            jobs.push(self.curves_job(method));
            for &norm in &self.norms {
                self.sizes.iter().for_each(|&n| jobs.extend(self.error_jobs(norm, n, method)));
                self.shares.iter().for_each(|&ties| jobs.extend(self.auc_jobs(norm, ties, method)));
            }
        }
        let mut distinct: Vec<Job> = Vec::with_capacity(jobs.len());
        for job in jobs {
            if !distinct.contains(&job) {
                distinct.push(job);
            }
        }
        distinct
    }

    /// Runs everything.
    pub(super) fn run(self, shows_progress: bool) -> Run<Results> {
        let jobs = self.jobs();
        let found = run_all(&jobs, self.n_grid, shows_progress)?;
        Ok(Results { study: self, jobs, found })
    }
}

impl Results {
    /// What came out of a job.
    pub(super) fn of(&self, job: &Job) -> Run<&Found> {
        let place = self.jobs.iter().position(|other| other == job);
        place.and_then(|at| self.found.get(at)).ok_or_else(|| Failure::Fault("a trial of the demo is missing".into()))
    }

    /// Warnings of the searches, each once.
    pub(super) fn warnings(&self) -> Vec<String> {
        let n = self.found.iter().filter(|found| !found.warnings.is_empty()).count();
        let first = self.found.iter().flat_map(|found| &found.warnings).next();
        first
            .map(|first| format!("{n} of {} searches warned, the first: {first}", self.found.len()))
            .into_iter()
            .collect()
    }

    /// Mean test error of every method with rankwise's defaults, on as many pairs as the table's.
    pub(super) fn defaults_mean(&self) -> Run<[f64; 3]> {
        let mut means = [0.0; 3];
        for (mean_error, method) in means.iter_mut().zip(METHODS) {
            let values = self.values(self.study.defaults_jobs(method), |found| found.test.error)?;
            *mean_error = mean(values.into_iter());
        }
        Ok(means)
    }

    /// Test error by norm, size and method.
    pub(super) fn figure4(&self) -> Run<Vec<Point>> {
        let study = &self.study;
        let places = study.norms.iter().flat_map(|&norm| study.sizes.iter().map(move |&n| (norm, n, TIES)));
        self.points(places, |found| found.error, |(norm, n, _), method| study.error_jobs(norm, n, method).collect())
    }

    /// Test AUC by norm, share of ties and method.
    pub(super) fn figure5(&self) -> Run<Vec<Point>> {
        let study = &self.study;
        let shares =
            study.norms.iter().flat_map(|&norm| study.shares.iter().map(move |&ties| (norm, TABLE_PAIRS, ties)));
        self.points(shares, |found| found.auc, |(norm, _, ties), method| study.auc_jobs(norm, ties, method).collect())
    }

    /// The points of a figure: at every place all methods, the true function and the constant answer.
    fn points(
        &self,
        places: impl Iterator<Item = (Norm, usize, f64)>,
        value: impl Fn(&Measured) -> f64,
        jobs: impl Fn((Norm, usize, f64), Method) -> Vec<Job>,
    ) -> Run<Vec<Point>> {
        let mut points = Vec::new();
        for place in places {
            let (norm, n, ties) = place;
            let mut add = |name, method, of: &dyn Fn(&Found) -> Measured| {
                let values = self.values(jobs(place, method).into_iter(), |found| value(&of(found)))?;
                points.push(Point::of(norm, n, ties, name, &values));
                Run::Ok(())
            };
            METHODS.iter().try_for_each(|&method| add(method.name(), method, &|found| found.test))?;
            add("true", METHODS[0], &|found| found.beside.truth)?;
            add("constant", METHODS[0], &|found| found.beside.constant)?;
        }
        Ok(points)
    }

    fn values(&self, jobs: impl Iterator<Item = Job>, value: impl Fn(&Found) -> f64) -> Run<Vec<f64>> {
        jobs.map(|job| self.of(&job).map(&value)).collect()
    }
}

impl Point {
    fn of(norm: Norm, n: usize, ties: f64, method: &'static str, values: &[f64]) -> Self {
        let mean = mean(values.iter().copied());
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if values.len() > 1 { (squares / (values.len() - 1) as f64).sqrt() } else { 0.0 };
        Point { norm: name(norm), n, ties, method, mean, low: mean - deviation, high: mean + deviation }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
    sum / n
}

/// The mean of a line of a figure.
fn level(points: &[Point], norm: &str, method: &str) -> f64 {
    mean(points.iter().filter(|point| point.norm == norm && point.method == method).map(|point| point.mean))
}

/// The norms of a figure in their order.
pub(super) fn norms(points: &[Point]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = points.iter().map(|point| point.norm).collect();
    names.dedup();
    names
}

/// The claim of Figure 4 for every norm.
pub(super) fn orders(figure4: &[Point]) -> Vec<Order> {
    let order = |norm| {
        let of = |method| level(figure4, norm, method);
        let (compare, rank2, rank) = (of("compare"), of("rank2"), of("rank"));
        let at = |n: usize, method: &str| {
            let is_it = |point: &&Point| point.norm == norm && point.n == n && point.method == method;
            figure4.iter().find(is_it).map_or(f64::NAN, |point| point.mean)
        };
        let sizes = figure4.iter().filter(|point| point.norm == norm && point.method == "compare").map(|point| point.n);
        let (holds_at, fails_at) =
            sizes.partition(|&n| at(n, "compare") < at(n, "rank2") && at(n, "rank2") < at(n, "rank"));
        let holds = compare < rank2 && rank2 < rank;
        Order { norm, compare, rank2, rank, truth: of("true"), holds, holds_at, fails_at }
    };
    norms(figure4).into_iter().map(order).collect()
}

/// The claim of Figure 5 for every norm.
pub(super) fn auc_orders(figure5: &[Point]) -> Vec<AucOrder> {
    let order = |norm| {
        let of = |method| level(figure5, norm, method);
        let (compare, rank2, rank) = (of("compare"), of("rank2"), of("rank"));
        let holds = compare > rank2 && compare > rank;
        AucOrder { norm, compare, rank2, rank, truth: of("true"), constant: of("constant"), holds }
    };
    norms(figure5).into_iter().map(order).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A full study in miniature.
    pub(in crate::commands::demo) fn tiny() -> Study {
        Study {
            seed: 7,
            n_trials: 2,
            norms: vec![Norm::L1, Norm::Linf],
            sizes: vec![20, 40],
            shares: vec![0.3, 0.8],
            n_grid: 2,
        }
    }

    #[test]
    fn every_trial_has_its_own_seeds_and_methods_share_them() {
        let study = Study { n_trials: 5, ..tiny() };
        let jobs = |method| study.error_jobs(Norm::L1, 50, method).map(|job| job.draw.seeds()).collect::<Vec<_>>();
        let mut seeds = jobs(Method::Rank).concat();
        assert_eq!(jobs(Method::Compare).concat(), seeds);
        assert_eq!(seeds[..3], [7, 8, 9]);
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 15);
    }

    #[test]
    fn the_figures_have_a_point_for_everything() {
        let results = tiny().run(false).unwrap();
        let (figure4, figure5) = (results.figure4().unwrap(), results.figure5().unwrap());
        assert_eq!((figure4.len(), figure5.len()), (2 * 2 * 5, 2 * 2 * 5));
        for point in figure4.iter().chain(&figure5) {
            assert!(point.low <= point.mean && point.mean <= point.high, "{point:?}");
            assert!((0.0..=1.0).contains(&point.mean), "{point:?}");
        }
        assert!(figure4.iter().any(|point| point.low < point.high), "two draws differ");
        // A point is the mean of its trials, each of which can be run alone.
        let job = results.study.auc_jobs(Norm::Linf, 0.8, Method::Rank2);
        let values: Vec<f64> =
            run_all(&job.collect::<Vec<_>>(), 2, false).unwrap().iter().map(|f| f.test.auc).collect();
        let point = figure5.iter().find(|p| p.norm == "linf" && p.ties == 0.8 && p.method == "rank2").unwrap();
        assert_eq!(point.mean, (values[0] + values[1]) / 2.0);
        assert!((point.high - point.mean - (values[0] - values[1]).abs() / 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(orders(&figure4).iter().map(|order| order.norm).collect::<Vec<_>>(), ["l1", "linf"]);
        assert_eq!(auc_orders(&figure5).len(), 2);
    }

    #[test]
    fn an_order_that_does_not_hold_is_said_to() {
        let figure = |compare: f64, rank2: f64, rank: f64| {
            let at = |method, mean| Point { norm: "l2", n: 50, ties: 0.5, method, mean, low: mean, high: mean };
            vec![at("rank", rank), at("rank2", rank2), at("compare", compare), at("true", 0.05), at("constant", 0.5)]
        };
        for (errors, holds) in [((0.1, 0.2, 0.3), true), ((0.2, 0.1, 0.3), false), ((0.1, 0.3, 0.2), false)] {
            let figure = figure(errors.0, errors.1, errors.2);
            assert_eq!(orders(&figure)[0].holds, holds, "{errors:?}");
            let verdict = if holds { "yes, at 1 of 1 sizes" } else { "no, at 0 of 1 sizes" };
            assert_eq!(orders(&figure)[0].verdict(), verdict, "{errors:?}");
            assert!(!auc_orders(&figure)[0].holds, "{errors:?}");
        }
        assert!(!orders(&figure(0.1, 0.1, 0.2))[0].holds, "equal is not less");
        assert!(auc_orders(&figure(0.9, 0.8, 0.85))[0].holds);
    }
}
