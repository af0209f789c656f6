//! The dual of machines that tell several classes apart at once, item by item: the variables of one item go to their best values
//! while all others stand still.
//!
//! With A = ‖(x, 1)‖², S = Σβ and lead_k before the step, the derivative for β_k over A is S + β_k − t_k with
//! t_k = β_k + S − (lead_k − m)/A of before. So β_k = min(max(0, t_k − S), c), or β_k = max(0, t_k − S − θ) with θ ≥ 0 where Σβ
//! would be above c: one unknown number, found on a function with as many corners as there are classes.
//!
//! A pass over all items is followed by passes over those that still matter. Now and then, and once the gap that a pass has summed up
//! is small enough, weights and dual value are computed anew from the dual variables, and the primal value there and at the mean of
//! the weights on the way; only these end the search.

use super::Limits;
use super::class_step::{aims, level_of_boxes, level_of_sum, turn};
use crate::problem::{ClassBlocks, ClassItem, ClassLoss, ClassPoint};
use crate::progress::Stop;

/// Passes over items that matter before all are looked at again.
const MOST_INNER: usize = 30;
/// Passes after which the way that they went is gone on.
const GO_ON: usize = 8;
/// Items whose part of the gap is below this share of their even part of the tolerance do not matter.
const EVEN_SHARE: f64 = 0.3;
/// Until what share of the gap of all items those that matter are worked on.
const GOAL: f64 = 0.1;
/// A pass that found this share of the gap that is asked for calls for a certificate; so do as many steps as there are items, so often.
const ENOUGH: f64 = 0.7;
const LOOK: u64 = 10;
/// Items between two looks at the clock, and the weights that these may be about.
const ITEMS_AT_A_TIME: usize = 1 << 12;
const WEIGHTS_AT_A_TIME: usize = 1 << 24;
/// A gap that has not fallen by this share after so many certificates and items hardly falls any more.
const LEAST_FALL: f64 = 0.2;
const PATIENT_LOOKS: usize = 50;
const PATIENCE: u64 = 1 << 20;

/// Where a search ended.
pub(crate) struct ClassAnswer {
    pub(crate) point: ClassPoint,
    /// Of every item one for each class.
    pub(crate) betas: Vec<f64>,
    /// Items that were looked at.
    pub(crate) steps: u64,
    pub(crate) stop: Stop,
}

/// Searches from given variables (within their bounds), or from 0; `known` are weights that the answer is to be no worse than.
pub(crate) fn minimise(
    losses: &impl ClassBlocks,
    start: Option<Vec<f64>>,
    known: Option<&[f64]>,
    limits: Limits<'_>,
) -> ClassAnswer {
    let n = losses.len();
    let (k, stride) = (losses.n_classes(), losses.room().len());
    let mut betas = vec![0.0; n * stride];
    for (to, from) in betas.chunks_exact_mut(stride).zip(start.iter().flat_map(|start| start.chunks_exact(k))) {
        to[..k].copy_from_slice(from);
    }
    let mut search = Search {
        losses,
        weights: vec![0.0; losses.n_weights()],
        betas,
        slacks: losses.room(),
        numbers: losses.room(),
        targets: losses.room(),
    };
    let mut all: Vec<u32> = (0..n as u32).collect();
    let (mut steps, mut since, mut looks) = (0_u64, 0, 0);
    let mut gap_then = f64::INFINITY;
    let mut next_look = LOOK * n as u64;
    let mut best = losses.certify(&search.betas);
    let mut best_betas = search.betas.clone();
    search.weights.clone_from(&best.weights);
    if let Some(known) = known {
        let primal = losses.primal(known);
        if primal < best.primal {
            (best.primal, best.weights) = (primal, known.to_vec());
        }
    }
    let mut stop = (best.gap() <= limits.tol).then_some(Stop::Converged);
    let mut before = (search.betas.clone(), search.weights.clone());
    let mut mean = Mean::default();
    while stop.is_none() {
        let bound = limits.tol * best.primal;
        let even = EVEN_SHARE * bound / n as f64;
        losses.shuffle(&mut all, steps);
        let mut pass = search.pass(&all, even, &mut steps, limits);
        mean.add(&search.weights);
        let goal = (GOAL * pass.gap).max(ENOUGH * bound);
        for inner in 1..=MOST_INNER {
            if pass.gap <= goal || pass.matter.is_empty() || pass.stop.is_some() {
                break;
            }
            losses.shuffle(&mut pass.matter, steps);
            pass = search.pass(&pass.matter, even, &mut steps, limits);
            mean.add(&search.weights);
            if inner % GO_ON == 0 {
                search.go_on(&mut before);
            }
        }
        stop = pass.stop;
        search.go_on(&mut before);
        if pass.gap > ENOUGH * bound && steps < next_look && stop.is_none() {
            continue;
        }
        next_look = steps + LOOK * n as u64;
        let mut point = losses.certify(&search.betas);
        search.weights.clone_from(&point.weights);
        // Steps go back and forth: the mean of where they were is often better than where they are.
        let primal = losses.primal(&mean.weights);
        if primal < point.primal {
            (point.primal, point.weights) = (primal, std::mem::take(&mut mean.weights));
        }
        mean = Mean::default();
        if point.dual > best.dual {
            best.dual = point.dual;
            best_betas.clone_from(&search.betas);
        }
        if point.primal < best.primal {
            (best.primal, best.weights) = (point.primal, point.weights);
        }
        looks += 1;
        if best.gap() <= limits.tol {
            stop = Some(Stop::Converged);
        } else if best.gap() < (1.0 - LEAST_FALL) * gap_then {
            (gap_then, since, looks) = (best.gap(), steps, 0);
        } else if looks >= PATIENT_LOOKS && steps - since >= PATIENCE {
            stop = stop.or(Some(Stop::Stalled));
        }
    }
    let betas = best_betas.chunks_exact(stride).flat_map(|of_item| &of_item[..k]).copied().collect();
    ClassAnswer { point: best, betas, steps, stop: stop.unwrap_or(Stop::Converged) }
}

/// The mean of weights.
#[derive(Default)]
struct Mean {
    weights: Vec<f64>,
    count: f64,
}

impl Mean {
    fn add(&mut self, weights: &[f64]) {
        self.count += 1.0;
        if self.weights.is_empty() {
            self.weights = weights.to_vec();
            return;
        }
        let share = 1.0 / self.count;
        self.weights.iter_mut().zip(weights).for_each(|(mean, weight)| *mean += share * (weight - *mean));
    }
}

/// What a pass over some items found.
struct Pass {
    /// The items that still matter.
    matter: Vec<u32>,
    /// The parts of the gap that they had.
    gap: f64,
    stop: Option<Stop>,
}

struct Search<'a, B: ClassBlocks> {
    losses: &'a B,
    weights: Vec<f64>,
    betas: Vec<f64>,
    slacks: Vec<f64>,
    numbers: Vec<f64>,
    targets: Vec<f64>,
}

impl<B: ClassBlocks> Search<'_, B> {
    /// Moves the variables of these items, one after the other.
    fn pass(&mut self, items: &[u32], even: f64, steps: &mut u64, limits: Limits<'_>) -> Pass {
        let mut pass = Pass { matter: Vec::new(), gap: 0.0, stop: None };
        let at_a_time = (WEIGHTS_AT_A_TIME / self.weights.len().max(1)).clamp(1, ITEMS_AT_A_TIME);
        for some in items.chunks(at_a_time) {
            pass.stop = limits.reached(*steps, f64::NAN);
            if pass.stop.is_some() {
                break;
            }
            for &at in some {
                let part = self.step(at as usize, even);
                pass.gap += part;
                if part > even {
                    pass.matter.push(at);
                }
            }
            *steps += some.len() as u64;
        }
        pass
    }

    /// Goes on in the direction in which the last round went, as far as that is better and possible: where the dual is nearly flat,
    /// rounds are small steps of one long way. `before` is where the last round began, and will be where the next one does.
    fn go_on(&mut self, before: &mut (Vec<f64>, Vec<f64>)) {
        let losses = self.losses;
        let k = self.slacks.len();
        let (mut slope, mut square) = (0.0, 0.0);
        for (now, before) in self.weights.iter().zip(&before.1) {
            let change = now - before;
            slope -= now * change;
            square += change * change;
        }
        let mut most = f64::INFINITY;
        let pairs = |at: usize| (at * k..(at + 1) * k, losses.item(at));
        for (range, ClassItem { margin, cost, .. }) in (0..losses.len()).map(pairs) {
            let (now, before) = (&self.betas[range.clone()], &before.0[range]);
            // Most items stand still.
            if now == before {
                continue;
            }
            let (mut sum, mut total) = (0.0, 0.0);
            for (now, before) in now.iter().zip(before) {
                let change = now - before;
                (sum, total) = (sum + change, total + now);
                if change < 0.0 {
                    most = most.min(now / -change);
                } else if change > 0.0 && losses.kind() == ClassLoss::WestonWatkins {
                    most = most.min((cost - now) / change);
                }
            }
            if sum > 0.0 && losses.kind() == ClassLoss::CrammerSinger {
                most = most.min((cost - total).max(0.0) / sum);
            }
            slope += margin * sum;
        }
        let step = (slope / square).min(most);
        if step.is_finite() && step > 0.0 {
            for (range, ClassItem { cost, .. }) in (0..losses.len()).map(pairs) {
                let (now, before) = (&mut self.betas[range.clone()], &before.0[range]);
                if now != before {
                    let change =
                        |(now, before): (&mut f64, &f64)| *now = (*now + step * (*now - before)).clamp(0.0, cost);
                    now.iter_mut().zip(before).for_each(change);
                }
            }
            for (now, before) in self.weights.iter_mut().zip(&before.1) {
                *now += step * (*now - before);
            }
        }
        before.0.clone_from(&self.betas);
        before.1.clone_from(&self.weights);
    }

    /// Moves the variables of one item, unless its part of the gap is at most `even`; that part before the step.
    fn step(&mut self, at: usize, even: f64) -> f64 {
        let losses = self.losses;
        let k = self.slacks.len();
        losses.slacks(at, &self.weights, &mut self.slacks);
        let betas = &mut self.betas[at * k..][..k];
        let (_, gap) = losses.loss(at, &self.slacks, betas);
        if gap <= even {
            return gap.max(0.0);
        }
        let ClassItem { class, cost, .. } = losses.item(at);
        let (before, most) = aims(&self.slacks, betas, 1.0 / losses.square(at), &mut self.targets);
        let level = match losses.kind() {
            ClassLoss::WestonWatkins => level_of_boxes(&self.targets, before, cost),
            ClassLoss::CrammerSinger => level_of_sum(&self.targets, most, cost, &mut self.numbers),
        };
        let mut sum = turn(&self.targets, level, cost, betas, &mut self.numbers);
        if losses.kind() == ClassLoss::CrammerSinger && sum > cost {
            // Rounding: the sum must not be above its bound.
            let share = cost / sum;
            let mut total = 0.0;
            for (number, beta) in self.numbers.iter_mut().zip(betas.iter_mut()) {
                *number += (1.0 - share) * *beta;
                *beta *= share;
                total += *beta;
            }
            sum = total;
        }
        self.numbers[class as usize] = sum - before;
        losses.add(at, &self.numbers, &mut self.weights);
        gap
    }
}
