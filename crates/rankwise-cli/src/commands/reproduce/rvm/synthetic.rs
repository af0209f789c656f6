//! Items at random places, ranked by a random function; machines learn the ranking with the C that suits the test items best.

use rankwise::Fit;
use rankwise::data::{Features, Items, Precision, Random, Ranking};
use rankwise::kernel::{Gamma, Kernel};

use super::super::study::{Found, Values, values};
use super::{Machine, accuracy, is_cut_short, powers, seed_of};
use crate::exit::{Failure, Run};

/// Features of an item.
const N_FEATURES: usize = 5;
/// Items to test on.
const N_TEST: usize = 50;
/// γ of the RBF kernel, which the paper does not tell.
pub(super) const GAMMA: f64 = 1.0;

/// What items are ranked by, and the kernel that machines use for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    /// w·x
    Linear,
    /// exp(−‖w − x‖)²
    Rbf,
}

impl Truth {
    pub(super) const ALL: [Truth; 2] = [Truth::Linear, Truth::Rbf];

    pub(super) fn key(self) -> &'static str {
        match self {
            Truth::Linear => "linear",
            Truth::Rbf => "rbf",
        }
    }

    /// In headings.
    pub(super) fn label(self) -> &'static str {
        match self {
            Truth::Linear => "linear",
            Truth::Rbf => "RBF",
        }
    }

    pub(super) fn kernel(self) -> Kernel {
        match self {
            Truth::Linear => Kernel::Linear,
            Truth::Rbf => Kernel::Rbf { gamma: Gamma::Value(GAMMA) },
        }
    }

    fn value(self, w: &[f64], x: &[f64]) -> f64 {
        let pairs = || w.iter().zip(x);
        match self {
            Truth::Linear => pairs().map(|(w, x)| w * x).sum(),
            Truth::Rbf => (-pairs().map(|(w, x)| (w - x).powi(2)).sum::<f64>().sqrt()).exp().powi(2),
        }
    }
}

/// One draw of everything that is random.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    pub(super) truth: Truth,
    /// Items to learn from.
    pub(super) m: usize,
    pub(super) repeat: usize,
    /// Neighbours in the order to be learnt that change places.
    pub(super) n_switches: usize,
}

impl Draw {
    /// Says all that the numbers depend on, beside the seed.
    pub(super) fn key(&self, machine: Machine) -> String {
        let Draw { truth, m, repeat, n_switches } = self;
        let noise = if *n_switches == 0 { String::new() } else { format!(" switches={n_switches}") };
        format!("{} m={m}{noise} repeat={repeat} {}", truth.key(), machine.key())
    }

    /// Items to learn from and items to test on. The number of switches changes nothing else, and those of a smaller number are
    /// among those of a larger one.
    pub(super) fn data(&self, seed: u64) -> Run<(Ranking, Ranking)> {
        let mut random = Random::new(seed_of(seed, &[self.truth as usize, self.m, self.repeat]));
        let w: Vec<f64> = (0..N_FEATURES).map(|_| random.uniform()).collect();
        let mut items = |n: usize| -> Run<(Items, Vec<f64>)> {
            let x: Vec<f64> = (0..n * N_FEATURES).map(|_| random.uniform()).collect();
            let labels = x.chunks(N_FEATURES).map(|x| self.truth.value(&w, x)).collect();
            Ok((Items::new(Features::dense(N_FEATURES, x, Precision::F64)?, None, None)?, labels))
        };
        let (train, labels) = items(self.m)?;
        let (test, test_labels) = items(N_TEST)?;
        let mut order: Vec<usize> = (0..self.m).collect();
        order.sort_by(|&a, &b| labels[a].total_cmp(&labels[b]));
        let mut picked: Vec<usize> = (0..self.m).collect();
        random.shuffle(&mut picked);
        for &place in picked.iter().take(self.n_switches) {
            let neighbour = if place + 1 < self.m { place + 1 } else { place - 1 };
            order.swap(place, neighbour);
        }
        let mut ranks = vec![0.0; self.m];
        order.iter().enumerate().for_each(|(rank, &item)| ranks[item] = rank as f64);
        Ok((Ranking::new(train, ranks, None)?, Ranking::new(test, test_labels, None)?))
    }

    /// Steps that a fit may take: few items get as many as they need.
    fn max_iter(&self) -> u64 {
        if self.m <= 200 { 20_000 } else { 500 }
    }

    /// Every C, from the smallest: the first that is the best on the test items, as the paper chooses it.
    pub(super) fn search(&self, machine: Machine, seed: u64) -> Run<Values> {
        let (train, test) = self.data(seed)?;
        let mut best: Option<(f64, f64, Fit)> = None;
        let (mut n_fits, mut n_cut) = (0u32, 0u32);
        for c in powers(-5..=5) {
            let fit = machine.fit(&train, self.truth.kernel(), c, self.max_iter())?;
            n_fits += 1;
            if is_cut_short(&fit) {
                n_cut += 1;
                continue;
            }
            let share = accuracy(&fit.model, &test)?.unwrap_or(0.0);
            if best.as_ref().is_none_or(|(most, ..)| share > *most) {
                best = Some((share, c, fit));
            }
            if share >= 1.0 {
                break; // no other C can be better
            }
        }
        let Some((share, c, fit)) = best else {
            return Err(Failure::Fault(format!("{}: no fit came to its end", self.key(machine))));
        };
        let (vectors, pairs) = machine.vectors(&fit.model, &train)?;
        Ok(values([
            ("accuracy", share),
            ("C", c),
            ("vectors", vectors as f64),
            ("support_pairs", pairs as f64),
            ("fits", n_fits.into()),
            ("cut_short", n_cut.into()),
        ]))
    }

    /// Seconds of a fit with this C: the median of three.
    pub(super) fn time(&self, machine: Machine, c: f64, seed: u64) -> Run<f64> {
        let (train, _) = self.data(seed)?;
        let mut seconds = Vec::new();
        for _ in 0..3 {
            seconds.push(machine.fit(&train, self.truth.kernel(), c, self.max_iter())?.seconds);
        }
        seconds.sort_by(f64::total_cmp);
        Ok(seconds[1])
    }
}

/// A number of all draws, one for each.
pub(super) fn numbers<'a>(
    draws: impl IntoIterator<Item = &'a Draw>,
    machine: Machine,
    found: &Found,
    name: &str,
) -> Run<Vec<f64>> {
    draws.into_iter().map(|draw| found.get(&draw.key(machine), name)).collect()
}

/// What all studies of this kind have to say of how they were done.
pub(super) fn notes(draws: &[Draw], found: &Found) -> Run<Vec<String>> {
    let (mut n_fits, mut n_cut) = (0.0, 0.0);
    for machine in Machine::ALL {
        n_fits += numbers(draws, machine, found, "fits")?.iter().sum::<f64>();
        n_cut += numbers(draws, machine, found, "cut_short")?.iter().sum::<f64>();
    }
    let cut = match n_cut > 0.0 {
        true => format!(
            " {n_cut} of {n_fits} fits, with large C, used up the steps that a fit may take (500 for more than 200 items); they are not chosen."
        ),
        false => format!(" All {n_fits} fits came to their end."),
    };
    Ok(vec![
        format!(
            "C is the best of 10⁻⁵, 10⁻⁴, …, 10⁵ on the test items themselves, as in the paper: all accuracies are too good by a little, for all machines alike. Of equally good ones the smallest is taken; where all test pairs are right, larger ones are not tried.{cut}"
        ),
        format!(
            "The paper does not tell γ of the RBF kernel: {GAMMA} here, for all machines. Weights w are uniform on [0, 1]⁵ like the items. Of exp(−‖w − x‖)² only the order matters, which is that of the distances from w."
        ),
        "The RVM is printed with coefficients a ≥ 0; with coefficients of either sign its function is more flexible, and reversing a ranking reverses it. Both are shown. The ranking SVM is the hinge over all pairs, at its optimum (relative gap 10⁻³), not SVM-light.".into(),
    ])
}
