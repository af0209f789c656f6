//! What `--grid NAME=VALUES` means: lists and ranges of values, each name at most once.

use rankwise::Loss;
use rankwise::kernel::Gamma;
use rankwise::selection::log_spaced;

use crate::args::{KernelName, choice};
use crate::exit::{Failure, Run};

/// More points than anybody waits for.
const MAX_POINTS: usize = 10_000;
const NAMES: [&str; 7] = ["C", "gamma", "degree", "coef0", "epsilon", "kernel", "loss"];

/// The values typed for each name; `None`: not typed.
#[derive(Debug, Default)]
pub(super) struct TypedGrid {
    pub(super) c: Option<Vec<f64>>,
    pub(super) gamma: Option<Vec<Gamma>>,
    pub(super) degree: Option<Vec<u32>>,
    pub(super) coef0: Option<Vec<f64>>,
    pub(super) epsilon: Option<Vec<f64>>,
    pub(super) kernel: Option<Vec<KernelName>>,
    pub(super) loss: Option<Vec<Loss>>,
}

impl TypedGrid {
    /// Reads all that was typed.
    pub(super) fn parse(typed: &[String]) -> Run<Self> {
        let mut grid = TypedGrid::default();
        for entry in typed {
            let Some((name, text)) = entry.split_once('=') else {
                return usage(format!("--grid {entry}: expected NAME=VALUES, such as C=0.1:100:4"));
            };
            let values = Values { name, text };
            match name {
                "C" | "c" => fill(&mut grid.c, name, values.numbers(Values::log_range)?)?,
                "gamma" => fill(&mut grid.gamma, name, values.gammas()?)?,
                "degree" => fill(&mut grid.degree, name, values.degrees()?)?,
                "coef0" => fill(&mut grid.coef0, name, values.numbers(Values::no_range)?)?,
                "epsilon" => fill(&mut grid.epsilon, name, values.numbers(Values::log_range)?)?,
                "kernel" => fill(&mut grid.kernel, name, values.words(&KernelName::ALL, KernelName::name)?)?,
                "loss" => {
                    fill(&mut grid.loss, name, values.words(&[&Loss::ALL[..], &Loss::OF_TUBES].concat(), Loss::name)?)?
                }
                _ => return usage(format!("--grid {name}: unknown name; the names are {}", NAMES.join(", "))),
            }
        }
        Ok(grid)
    }
}

/// Refuses more points than are possible.
pub(super) fn check_count(n_points: usize) -> Run<()> {
    if n_points <= MAX_POINTS {
        return Ok(());
    }
    usage(format!("--grid: these are {n_points} points; at most {MAX_POINTS} are possible: use fewer values"))
}

fn usage<T>(text: String) -> Run<T> {
    Err(Failure::Usage(text))
}

fn fill<T: PartialEq>(place: &mut Option<Vec<T>>, name: &str, values: Vec<T>) -> Run<()> {
    if place.is_some() {
        return usage(format!("--grid {name} is given twice; put all of its values into one list, with commas"));
    }
    check_count(values.len())?;
    let mut distinct: Vec<T> = Vec::with_capacity(values.len());
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    *place = Some(distinct);
    Ok(())
}

/// What stands behind a name.
#[derive(Clone, Copy)]
struct Values<'a> {
    name: &'a str,
    text: &'a str,
}

/// `lo:hi:n`
type Range<'a> = (&'a str, &'a str, usize);

impl<'a> Values<'a> {
    fn fault<T>(self, problem: impl std::fmt::Display) -> Run<T> {
        usage(format!("--grid {}={}: {problem}", self.name, self.text))
    }

    /// The parts between commas.
    fn parts(self) -> Run<Vec<&'a str>> {
        if self.text.trim().is_empty() {
            return self.fault("no values; give at least one");
        }
        let parts: Vec<&str> = self.text.split(',').map(str::trim).collect();
        if parts.iter().any(|part| part.is_empty()) {
            return self.fault("there is an empty value between the commas; leave it out");
        }
        Ok(parts)
    }

    /// The three parts of a range, or `None` for a single value.
    fn range(self, part: &'a str) -> Run<Option<Range<'a>>> {
        let fields: Vec<&str> = part.split(':').collect();
        match fields[..] {
            [_] => Ok(None),
            [lo, hi, n] => match n.parse() {
                Ok(n) if n > MAX_POINTS => {
                    self.fault(format!("{part} is {n} values; at most {MAX_POINTS} are possible"))
                }
                Ok(n) if n >= 2 => Ok(Some((lo, hi, n))),
                _ => self.fault(format!("in {part}, the number of values is {n:?}; expected a whole number from 2 on")),
            },
            _ => self.fault(format!("{part} is no range; expected lo:hi:n, such as 0.1:100:4")),
        }
    }

    fn number(self, text: &str) -> Run<f64> {
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => self.fault(format!("{text:?} is not a finite number")),
        }
    }

    fn check_order(self, lo: f64, hi: f64, (lo_text, hi_text, n): Range<'_>) -> Run<()> {
        if hi < lo {
            return self
                .fault(format!("the range goes from {lo_text} down to {hi_text}: write {hi_text}:{lo_text}:{n}"));
        }
        if hi == lo {
            return self.fault(format!("the range from {lo_text} to {hi_text} is one value: write {lo_text}"));
        }
        Ok(())
    }

    fn log_range(self, range: Range<'_>) -> Run<Vec<f64>> {
        let (lo, hi) = (self.number(range.0)?, self.number(range.1)?);
        if lo <= 0.0 || hi <= 0.0 {
            return self.fault(format!("values of {} must be above 0", self.name));
        }
        self.check_order(lo, hi, range)?;
        Ok(log_spaced(lo, hi, range.2)?)
    }

    fn no_range(self, _: Range<'_>) -> Run<Vec<f64>> {
        self.fault(format!("{} has no ranges, since it may be 0 or below; list its values with commas", self.name))
    }

    fn numbers(self, of_range: fn(Self, Range<'_>) -> Run<Vec<f64>>) -> Run<Vec<f64>> {
        let mut values = Vec::new();
        for part in self.parts()? {
            match self.range(part)? {
                Some(range) => values.extend(of_range(self, range)?),
                None => values.push(self.number(part)?),
            }
        }
        Ok(values)
    }

    fn gammas(self) -> Run<Vec<Gamma>> {
        let mut values = Vec::new();
        for part in self.parts()? {
            match self.range(part)? {
                Some(range) => values.extend(self.log_range(range)?.into_iter().map(Gamma::Value)),
                None => match choice::gamma(part) {
                    Ok(gamma) => values.push(gamma),
                    Err(problem) => return self.fault(format!("{part:?}: {problem}")),
                },
            }
        }
        Ok(values)
    }

    fn degrees(self) -> Run<Vec<u32>> {
        let whole = |text: &str| match choice::degree(text) {
            Ok(number) => Ok(number),
            Err(problem) => self.fault(format!("{text:?}: {problem}")),
        };
        let mut values = Vec::new();
        for part in self.parts()? {
            let Some(range) = self.range(part)? else {
                values.push(whole(part)?);
                continue;
            };
            let (lo, hi) = (whole(range.0)?, whole(range.1)?);
            self.check_order(f64::from(lo), f64::from(hi), range)?;
            let (span, steps) = (hi - lo, range.2 as u32 - 1);
            if span % steps != 0 {
                return self.fault(format!("{part} does not give whole numbers; list them with commas"));
            }
            values.extend((0..=steps).map(|k| lo + k * (span / steps)));
        }
        Ok(values)
    }

    fn words<T: Copy>(self, all: &[T], name: fn(T) -> &'static str) -> Run<Vec<T>> {
        let find = |part: &str| match all.iter().find(|&&word| name(word) == part) {
            Some(&word) => Ok(word),
            None => {
                let known = all.iter().map(|&word| name(word)).collect::<Vec<_>>().join(", ");
                self.fault(format!("{part:?} is unknown; the words are {known}"))
            }
        };
        self.parts()?.into_iter().map(find).collect()
    }
}

#[cfg(test)]
mod tests {
    use rankwise::data::Random;

    use super::TypedGrid;

    /// Whatever is typed has an answer or an error, and an answer has no more values than are possible.
    #[test]
    fn any_text_is_answered() {
        let words =
            ["C", "c", "gamma", "degree", "coef0", "epsilon", "kernel", "loss", "=", ":", ",", "1", "0", "-", "e", "."];
        let more = [
            "1e3",
            "1e-3",
            "1e308",
            "1e-320",
            "inf",
            "nan",
            "scale",
            "rbf",
            "hinge",
            "10000",
            "10001",
            "99999999999",
            "é",
            " ",
        ];
        let words: Vec<&str> = words.into_iter().chain(more).collect();
        let mut random = Random::new(3);
        let mut n_answers = 0;
        for round in 0..20_000 {
            let mut text = if round % 2 == 0 { "C=".to_string() } else { String::new() };
            (0..random.below(9)).for_each(|_| text += words[random.below(words.len())]);
            if let Ok(grid) = TypedGrid::parse(&[text]) {
                n_answers += 1;
                let numbers = [grid.c, grid.coef0, grid.epsilon];
                assert!(numbers.iter().flatten().all(|values| values.len() <= super::MAX_POINTS && !values.is_empty()));
            }
        }
        assert!(n_answers > 300, "{n_answers}");
    }
}
