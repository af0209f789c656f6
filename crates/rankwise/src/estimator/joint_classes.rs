//! Machines that learn weights for all classes at once.

use std::borrow::Cow;

use super::SvmClassifier;
use super::class_machines::Lesson;
use super::item_machine::{Aim, Ground, Machine};
use super::item_start::Start;
use crate::data::{Features, Scaler};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::loss::Loss;
use crate::model::ClassScheme;
use crate::problem::{ClassItem, ClassLoss, ClassLosses};
use crate::progress::Stop;
use crate::solver::Limits;
use crate::solver::class_descent::{self, ClassAnswer};

/// By which C grows, from the smallest share of it, and how well the smaller ones are answered.
const GROWTH: f64 = 10.0;
const SMALLER: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
const COARSE: f64 = 1e-2;

impl SvmClassifier {
    /// Refuses what such machines do not have.
    pub(super) fn check_joint(&self) -> Result<()> {
        let problem = match self {
            _ if !self.classes.is_joint() => return Ok(()),
            _ if self.kernel != Kernel::Linear => "is linear: it has no kernels",
            _ if self.loss != Loss::Hinge => "has the hinge alone",
            _ if !self.c.is_finite() => "has no hard margin",
            _ if self.probabilities => "has no probabilities",
            _ => return Ok(()),
        };
        Err(Error::Unsupported {
            problem: format!("--classes {} {problem}", self.classes.name()),
            remedy: "choose --classes ovo or ovr, or leave that out".into(),
        })
    }

    /// A machine for every class, of two classes one: f of the second less f of the first. Values and steps are those of all,
    /// told of the first machine.
    pub(super) fn joint_machines(
        &self,
        lesson: &Lesson<'_>,
        factors: &[f64],
        ground: &Ground<'_>,
        aim: Aim<'_>,
        last: &[Machine],
    ) -> Result<Vec<Machine>> {
        let Ground::Weights { features, shift, scaler } = ground else {
            return Err(Error::parameter("kernel", "a kernel", format!("linear for {}", self.classes.name())));
        };
        let centre = Centre::new(features.n_cols(), shift.as_deref(), *scaler);
        let scaled = centre.scaled(features)?;
        let n_classes = lesson.classes.len();
        let item = |item: usize| ClassItem {
            row: item as u32,
            class: lesson.labels[item],
            margin: lesson.margins.map_or(1.0, |margins| margins[item]),
            cost: aim.c * lesson.weights[item] * factors[lesson.labels[item] as usize],
        };
        let items: Vec<ClassItem> = lesson.learnt().map(item).filter(|item| item.cost > 0.0).collect();
        let kind = match self.classes {
            ClassScheme::CrammerSinger => ClassLoss::CrammerSinger,
            _ => ClassLoss::WestonWatkins,
        };
        // Variables grow with their bounds.
        let start =
            last.first().map(|machine| machine.start.weights()).filter(|of| of.len() == items.len() * n_classes);
        let start = start.map(|start| start.into_iter().map(|beta| beta * aim.c).collect());
        let of_c = |factor: f64| {
            let items = items.iter().map(|item| ClassItem { cost: factor * item.cost, ..*item }).collect();
            ClassLosses::new(&scaled, items, n_classes, kind, self.effort.seed)
        };
        let losses = of_c(1.0);
        let mut answer = class_descent::minimise(&losses, start, None, aim.limits);
        if answer.stop == Stop::Stalled {
            answer = by_growing(&of_c, answer, aim.limits);
        }
        let mut parts: Vec<_> = (0..n_classes).map(|class| losses.of_class(&answer.point.weights, class)).collect();
        if let [first, second] = &parts[..] {
            let weights = second.0.iter().zip(&first.0).map(|(second, first)| second - first).collect();
            parts = vec![(weights, second.1 - first.1)];
        }
        let mut shares: Vec<f64> = answer.betas;
        shares.iter_mut().for_each(|beta| *beta /= aim.c);
        let machine = |(at, (numbers, bias)): (usize, (Vec<f64>, f64))| {
            let is_first = at == 0;
            Machine {
                bias: centre.bias_here(&numbers, bias),
                numbers,
                primal: if is_first { answer.point.primal } else { 0.0 },
                dual: if is_first { answer.point.dual } else { 0.0 },
                steps: if is_first { answer.steps } else { 0 },
                stop: answer.stop,
                start: Start::of_weights(if is_first { std::mem::take(&mut shares) } else { Vec::new() }),
                claim: None,
            }
            .checked()
        };
        parts.into_iter().enumerate().map(machine).collect()
    }
}

/// A C that is too large to begin with, from smaller ones: weights and variables of each are where the next begins.
fn by_growing<'a>(of_c: &dyn Fn(f64) -> ClassLosses<'a>, stuck: ClassAnswer, limits: Limits<'_>) -> ClassAnswer {
    let mut last: Option<ClassAnswer> = None;
    let mut steps = stuck.steps;
    for factor in SMALLER {
        let is_last = factor == 1.0;
        let limits = Limits {
            tol: if is_last { limits.tol } else { limits.tol.max(COARSE) },
            max_iter: limits.max_iter.saturating_sub(steps),
            ..limits
        };
        let (start, known) = match last {
            Some(ClassAnswer { betas, point, .. }) => {
                (Some(betas.into_iter().map(|beta| beta * GROWTH).collect()), Some(point.weights))
            }
            None => (None, None),
        };
        let found = class_descent::minimise(&of_c(factor), start, known.as_deref(), limits);
        steps += found.steps;
        let is_over = !matches!(found.stop, Stop::Converged | Stop::Stalled);
        if is_last && found.point.gap() < stuck.point.gap() {
            return ClassAnswer { steps, ..found };
        }
        if is_over {
            return ClassAnswer { steps, stop: found.stop, ..stuck };
        }
        last = Some(found);
    }
    ClassAnswer { steps, ..stuck }
}

/// From features as a ground has them to those that a penalised bias is meant for: as they are, or scaled.
struct Centre {
    shift: Vec<f64>,
    divisor: Vec<f64>,
}

impl Centre {
    fn new(n_cols: usize, subtracted: Option<&[f64]>, scaler: Option<&Scaler>) -> Self {
        let shift = (0..n_cols).map(|at| {
            scaler.map_or(0.0, |scaler| scaler.shift[at]) - subtracted.map_or(0.0, |subtracted| subtracted[at])
        });
        let divisor = scaler.map_or_else(|| vec![1.0; n_cols], |scaler| scaler.divisor.clone());
        Centre { shift: shift.collect(), divisor }
    }

    fn scaled<'f>(&self, features: &'f Features) -> Result<Cow<'f, Features>> {
        if self.shift.iter().all(|shift| *shift == 0.0) && self.divisor.iter().all(|divisor| *divisor == 1.0) {
            return Ok(Cow::Borrowed(features));
        }
        Scaler { shift: self.shift.clone(), divisor: self.divisor.clone() }.apply(features).map(Cow::Owned)
    }

    /// The bias that belongs to the features of the ground.
    fn bias_here(&self, weights: &[f64], bias: f64) -> f64 {
        weights
            .iter()
            .zip(&self.shift)
            .zip(&self.divisor)
            .fold(bias, |sum, ((w, shift), divisor)| sum - w * (shift / divisor))
    }
}
