//! Leaderboards from games.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use rankwise::Error;
use rankwise::data::{Covariates, Game, Games, Outcome};
use rankwise::io::{TimeUnit, Times};
use rankwise::rating::{
    Advantage, DavidsonRating, Estimate, IntervalMethod, KFactor, Leaderboard, LeaderboardPlan, Level, OnlineRating,
    PairChances, RatingSystem, RatingUnit, Standing, System, SystemFacts,
};

use crate::errors::{exception, in_python, raise};
use crate::fit::reals;
use crate::input::outcomes;
use crate::run::run;

/// −1, 0 or 1 of a word that files may have for an outcome.
#[pyfunction]
fn parse_outcome(word: &str) -> Option<i8> {
    Outcome::parse(word).map(Outcome::sign)
}

/// The words that files may have for outcomes.
#[pyfunction]
fn outcome_words() -> Vec<&'static str> {
    Outcome::WORDS.iter().map(|&(word, _)| word).collect()
}

/// Days since 1970-01-01 of dates, or numbers as they are; all of one kind. An error names the row.
#[pyfunction]
fn parse_times<'py>(py: Python<'py>, words: Vec<String>) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let mut numbers = Vec::with_capacity(words.len());
    let mut unit = None;
    for (row, word) in words.iter().enumerate() {
        let found = Times::parse(word.trim()).filter(|(_, found)| unit.is_none_or(|unit| unit == *found));
        let Some((number, found)) = found else {
            let expected = match unit {
                None => "a date such as 2024-03-01 or 2024-03-01T18:30:00, or a number",
                Some(TimeUnit::Days) => "a date such as 2024-03-01, as in the rows before",
                Some(TimeUnit::Numbers) => "a number, as in the rows before",
            };
            return Err(PyValueError::new_err(format!("time: row {row} has {word:?}; expected {expected}")));
        };
        unit = Some(found);
        numbers.push(number);
    }
    Ok(PyArray1::from_vec(py, numbers))
}

/// Settings by the names of the command line, where they were given.
struct Settings<'a, 'py>(&'a Bound<'py, PyDict>);

impl<'py> Settings<'_, 'py> {
    fn get<T: for<'a> FromPyObject<'a, 'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.0.get_item(name)?.filter(|value| !value.is_none()) else { return Ok(None) };
        let read = value.extract::<T>().map(Some);
        read.map_err(|_| PyValueError::new_err(format!("{name} = {value} is not possible: it is of another type")))
    }

    fn has(&self, name: &str) -> PyResult<bool> {
        Ok(self.0.get_item(name)?.is_some_and(|value| !value.is_none()))
    }

    fn word<T: Copy>(&self, name: &'static str, known: &[T], called: fn(T) -> &'static str) -> PyResult<Option<T>> {
        let Some(word) = self.get::<String>(name)? else { return Ok(None) };
        let found = known.iter().copied().find(|&one| called(one) == word);
        let all = || known.iter().map(|&one| called(one)).collect::<Vec<_>>().join(", ");
        let refused =
            || exception(self.0.py(), &Error::parameter(name, format!("'{word}'"), format!("one of {}", all())));
        found.map_or_else(|| Err(refused()), |found| Ok(Some(found)))
    }

    fn refuse(&self, name: &str, with: &str, remedy: &str) -> PyErr {
        let error = Error::Unsupported { problem: format!("{name} is not for {with}"), remedy: remedy.into() };
        exception(self.0.py(), &error)
    }

    fn plan(&self) -> PyResult<LeaderboardPlan> {
        let py = self.0.py();
        // None is no interval at all.
        let ci: Option<f64> = self.get("ci")?;
        let level = ci.map(Level::new).transpose().map_err(|_| {
            let expected = "a number between 0 and 1, such as 0.95, or None for no intervals";
            exception(py, &Error::parameter("ci", ci.unwrap_or_default(), expected))
        })?;
        let (system, method) = self.system()?;
        let resamples: Option<u64> = self.get("resamples")?;
        for name in ["ci_method", "resamples"] {
            if level.is_none() && self.has(name)? {
                return Err(self.refuse(name, "ci=None", "leave one of them out"));
            }
        }
        if let Some(n) = resamples.filter(|n| !(2..=1_000_000).contains(n)) {
            return Err(exception(py, &Error::parameter("resamples", n, "a number from 2 to 1000000")));
        }
        let n_resamples = resamples.map_or(system.usual_resamples(), |n| n as usize);
        let unit = self.word("unit", &RatingUnit::ALL, RatingUnit::name)?.unwrap_or(RatingUnit::Elo);
        let seed = self.get("seed")?.unwrap_or(0);
        Ok(LeaderboardPlan { system, method, level, n_resamples, unit, seed })
    }

    fn system(&self) -> PyResult<(RatingSystem, IntervalMethod)> {
        const NAMES: [&str; 5] = ["davidson", "elo", "glicko", "glicko2", "trueskill"];
        let name = self.word("system", &NAMES, |name| name)?.unwrap_or(NAMES[0]);
        let with = format!("system='{name}'");
        let method = self.word("ci_method", &IntervalMethod::ALL, IntervalMethod::name)?;
        let has_resamples = self.has("resamples")?;
        if let Some(method) = method.filter(|&method| has_resamples && method != IntervalMethod::Bootstrap) {
            let with = format!("ci_method='{}'", method.name());
            return Err(self.refuse("resamples", &with, "leave one of them out"));
        }
        // Who asks for resamples asks for a bootstrap.
        let method = method.or(has_resamples.then_some(IntervalMethod::Bootstrap));
        let has_side = self.get("side")?.unwrap_or(false);
        let Some(mut system) = System::named(name) else {
            for name in ["k", "period"] {
                if self.has(name)? {
                    return Err(self.refuse(name, &with, "choose system='elo'"));
                }
            }
            if method == Some(IntervalMethod::Own) {
                return Err(self.refuse("ci_method='own'", &with, "choose ci_method='sandwich'"));
            }
            let mut rating = DavidsonRating::new();
            (rating.c, rating.half_life, rating.has_side) = (self.get("C")?, self.get("half_life")?, has_side);
            return Ok((RatingSystem::Davidson(rating), method.unwrap_or(IntervalMethod::Sandwich)));
        };
        for name in ["C", "half_life"] {
            if self.has(name)? {
                return Err(self.refuse(name, &with, "choose system='davidson'"));
            }
        }
        let is_elo = matches!(system, System::Elo { .. });
        if method == Some(IntervalMethod::Sandwich) || (method == Some(IntervalMethod::Own) && is_elo) {
            let asked = format!("ci_method='{}'", method.map_or("", IntervalMethod::name));
            return Err(self.refuse(&asked, &with, "choose ci_method='bootstrap'"));
        }
        if self.has("k")? {
            if !is_elo {
                return Err(self.refuse("k", &with, "choose system='elo'"));
            }
            system = System::Elo { k: self.k()? };
        }
        let advantage = if has_side { Advantage::Fitted } else { Advantage::None };
        let rating = OnlineRating::new(system).advantage(advantage).period(self.get("period")?);
        let default = if is_elo { IntervalMethod::Bootstrap } else { IntervalMethod::Own };
        Ok((RatingSystem::Online(rating), method.unwrap_or(default)))
    }

    fn k(&self) -> PyResult<KFactor> {
        if let Ok(Some(word)) = self.get::<String>("k") {
            let refused = || {
                let expected = "a number above 0 such as 32, or 'fide'";
                exception(self.0.py(), &Error::parameter("k", format!("'{word}'"), expected))
            };
            return if word == "fide" { Ok(KFactor::Fide) } else { Err(refused()) };
        }
        Ok(KFactor::Constant(self.get("k")?.unwrap_or(32.0)))
    }
}

/// A leaderboard.
#[pyclass(frozen, module = "rankwise._core")]
pub(crate) struct Board {
    board: Leaderboard,
    n_games: usize,
    n_ties: usize,
}

/// Rates items by games between them. Items are numbers of `names`; without times, rows are in order of time.
#[pyfunction]
#[pyo3(signature = (names, left, right, outcomes, settings, weights=None, groups=None, times=None, neutral=None, covariates=None, anchor=None, threads=0))]
#[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
fn rate(
    py: Python<'_>,
    names: Vec<String>,
    left: PyReadonlyArray1<'_, u32>,
    right: PyReadonlyArray1<'_, u32>,
    outcomes: PyReadonlyArray1<'_, i8>,
    settings: &Bound<'_, PyDict>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    groups: Option<PyReadonlyArray1<'_, u32>>,
    times: Option<PyReadonlyArray1<'_, f64>>,
    neutral: Option<PyReadonlyArray1<'_, bool>>,
    covariates: Option<(Vec<String>, PyReadonlyArray1<'_, f64>)>,
    anchor: Option<(u32, f64)>,
    threads: usize,
) -> PyResult<Board> {
    let plan = Settings(settings).plan()?;
    let outcomes = self::outcomes(outcomes.as_slice()?).map_err(raise(py))?;
    let (left, right) = (left.as_slice()?, right.as_slice()?);
    let (weights, times) = (reals(weights)?, reals(times)?);
    let neutral = neutral.as_ref().map(|neutral| neutral.as_slice()).transpose()?;
    let n = outcomes.len();
    let lengths = [Some(left.len()), Some(right.len()), weights.as_ref().map(Vec::len), times.as_ref().map(Vec::len)];
    if lengths.into_iter().flatten().chain(neutral.map(<[bool]>::len)).any(|len| len != n) {
        return Err(PyValueError::new_err("arrays of games differ in length"));
    }
    let game = |k: usize| Game {
        time: times.as_ref().map_or(k as f64, |times| times[k]),
        left: left[k],
        right: right[k],
        outcome: outcomes[k],
        is_neutral: neutral.is_some_and(|neutral| neutral[k]),
        weight: weights.as_ref().map_or(1.0, |weights| weights[k]),
    };
    let list: Vec<Game> = (0..n).map(game).collect();
    let groups = groups.map(|groups| groups.as_slice().map(<[u32]>::to_vec)).transpose()?;
    let covariates = match covariates {
        Some((names, differences)) => Some(Covariates { names, differences: differences.as_slice()?.to_vec() }),
        None => None,
    };
    run(py, threads, None, move |watch| {
        let games = Games::with(names, list, groups, covariates)?;
        let mut board = plan.rate_watched(&games, watch)?;
        if let Some((player, rating)) = anchor {
            let name = || games.players.get(player as usize).cloned().unwrap_or_default();
            let expected = "an item with a finite rating; choose another one, or give C";
            let n_others = board.anchor(player, rating).ok_or_else(|| Error::parameter("anchor", name(), expected))?;
            if n_others > 0 {
                let name = name();
                board.warnings.push(format!(
                    "--anchor moves the ratings that can be compared with {name}; {n_others} others keep theirs"
                ));
            }
        }
        let n_games = games.games.iter().filter(|game| game.weight > 0.0).count();
        Ok(Board { board, n_games, n_ties: games.n_ties() })
    })
}

#[pymethods]
impl Board {
    /// Columns of the leaderboard, best first; NaN and 0 stand for nothing.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let lines = &self.board.standings;
        let columns = PyDict::new(py);
        let real = |name: &str, number: &dyn Fn(&Standing) -> Option<f64>| {
            let numbers = lines.iter().map(|line| number(line).unwrap_or(f64::NAN));
            columns.set_item(name, PyArray1::from_iter(py, numbers))
        };
        let whole = |name: &str, number: &dyn Fn(&Standing) -> usize| {
            columns.set_item(name, PyArray1::from_iter(py, lines.iter().map(|line| number(line) as i64)))
        };
        whole("player", &|line| line.player as usize)?;
        real("rating", &|line| line.estimate.rating)?;
        real("se", &|line| line.estimate.error)?;
        real("low", &|line| line.estimate.interval.map(|ends| ends[0]))?;
        real("high", &|line| line.estimate.interval.map(|ends| ends[1]))?;
        real("compare_low", &|line| line.estimate.for_comparing().map(|ends| ends[0]))?;
        real("compare_high", &|line| line.estimate.for_comparing().map(|ends| ends[1]))?;
        whole("rank_low", &|line| line.ranks[0])?;
        whole("rank_high", &|line| line.ranks[1])?;
        whole("part", &|line| line.part as usize + 1)?;
        whole("scale", &|line| line.scale.map_or(0, |scale| scale as usize + 1))?;
        real("games", &|line| Some(line.record.games()))?;
        real("wins", &|line| Some(line.record.wins))?;
        real("ties", &|line| Some(line.record.ties))?;
        real("losses", &|line| Some(line.record.losses))?;
        Ok(columns)
    }

    /// Everything else, by the names of JSON.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let board = &self.board;
        let facts = PyDict::new(py);
        facts.set_item("system", board.system)?;
        facts.set_item("unit", board.unit.name())?;
        facts.set_item("games", self.n_games)?;
        facts.set_item("items", board.standings.len())?;
        facts.set_item("ties", self.n_ties)?;
        facts.set_item("tie_parameter", board.tie_parameter)?;
        let ci = PyDict::new(py);
        ci.set_item("level", board.intervals.level)?;
        ci.set_item("method", board.intervals.name())?;
        ci.set_item("resamples", board.intervals.n_resamples)?;
        ci.set_item("groups", board.intervals.n_groups)?;
        ci.set_item("draws", board.intervals.n_draws)?;
        facts.set_item("ci", ci)?;
        let effect = |(name, effect): &(String, Estimate)| {
            let told = PyDict::new(py);
            told.set_item("name", name)?;
            told.set_item("value", effect.rating)?;
            told.set_item("se", effect.error)?;
            told.set_item("low", effect.interval.map(|ends| ends[0]))?;
            told.set_item("high", effect.interval.map(|ends| ends[1]))?;
            Ok(told)
        };
        facts.set_item("effects", board.effects.iter().map(effect).collect::<PyResult<Vec<_>>>()?)?;
        facts.set_item("parts", &board.parts.part_sizes)?;
        match board.facts {
            SystemFacts::Davidson {
                c,
                half_life,
                log_likelihood,
                gradient,
                is_converged,
                iterations,
                is_separable,
            } => {
                facts.set_item("C", c)?;
                facts.set_item("half_life", half_life)?;
                facts.set_item("log_likelihood", log_likelihood)?;
                facts.set_item("gradient", gradient)?;
                facts.set_item("converged", is_converged)?;
                facts.set_item("iterations", iterations)?;
                facts.set_item("separable", is_separable)?;
            }
            SystemFacts::Online { period, n_periods, margin_scale } => {
                facts.set_item("period", period)?;
                facts.set_item("periods", n_periods)?;
                facts.set_item("margin_scale", margin_scale)?;
            }
        }
        let warnings: Vec<String> = board.warnings.iter().map(|text| in_python(text)).collect();
        facts.set_item("warnings", warnings)?;
        Ok(facts)
    }

    /// Chances of all pairs.
    fn pair_chances(&self) -> Chances {
        Chances(self.board.pair_chances.clone())
    }
}

/// Chances of any two items of a leaderboard, which copies of it keep.
#[pyclass(frozen, module = "rankwise._core")]
pub(crate) struct Chances(PairChances);

/// What chances are made from: ratings, deviations, scales (−1 is none), slope, blur, the factor of margins, ν.
type Kept<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, f64, f64, f64, f64);

#[pymethods]
impl Chances {
    #[new]
    fn new(
        ratings: PyReadonlyArray1<'_, f64>,
        deviations: PyReadonlyArray1<'_, f64>,
        scales: PyReadonlyArray1<'_, i64>,
        slope: f64,
        blur: f64,
        factor: f64,
        ties: f64,
    ) -> PyResult<Self> {
        let [ratings, deviations] = [ratings.as_slice()?.to_vec(), deviations.as_slice()?.to_vec()];
        let scales: Vec<Option<u32>> = scales.as_slice()?.iter().map(|&scale| u32::try_from(scale).ok()).collect();
        if ratings.len() != scales.len() || deviations.len() != scales.len() {
            return Err(PyValueError::new_err("arrays of items differ in length"));
        }
        let chances = rankwise::rating::Chances { scale: factor, side: 0.0, ties };
        Ok(Chances(PairChances { ratings, deviations, scales, slope, blur, chances }))
    }

    /// For pickle.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, Kept<'py>) {
        let (py, known) = (slf.py(), &slf.get().0);
        let scales = known.scales.iter().map(|scale| scale.map_or(-1, i64::from));
        let kept = (
            PyArray1::from_slice(py, &known.ratings),
            PyArray1::from_slice(py, &known.deviations),
            PyArray1::from_iter(py, scales),
            known.slope,
            known.blur,
            known.chances.scale,
            known.chances.ties,
        );
        (slf.get_type(), kept)
    }

    /// Win, tie and loss of the first of two items against the second, on neutral ground; `None` where nothing is known.
    fn of(&self, left: u32, right: u32) -> Option<(f64, f64, f64)> {
        self.0.of(left, right).map(|[left, tie, right]| (left, tie, right))
    }

    /// The chances of many pairs, three numbers each; NaN where nothing is known.
    fn of_pairs<'py>(
        &self,
        py: Python<'py>,
        left: PyReadonlyArray1<'py, u32>,
        right: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let pairs = left.as_slice()?.iter().zip(right.as_slice()?);
        let all = pairs.flat_map(|(&left, &right)| self.0.of(left, right).unwrap_or([f64::NAN; 3]));
        Ok(PyArray1::from_vec(py, all.collect()))
    }
}

/// Adds what is here to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Board>()?;
    module.add_class::<Chances>()?;
    module.add_function(wrap_pyfunction!(parse_outcome, module)?)?;
    module.add_function(wrap_pyfunction!(outcome_words, module)?)?;
    module.add_function(wrap_pyfunction!(parse_times, module)?)?;
    module.add_function(wrap_pyfunction!(rate, module)?)
}
