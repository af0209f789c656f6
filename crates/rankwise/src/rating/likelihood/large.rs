//! Variances where players are too many for a matrix.
//!
//! With M(t) = A + t·B, the variance A⁻¹·B·A⁻¹ is −d/dt M(t)⁻¹ at t = 0, and where B has the pattern of A (no groups), everything is
//! computed once with numbers that carry their slope by t. The variance of the rating of a player against an average c is
//!
//! (M⁻¹)_kk − 2·(M⁻¹·c)_k + cᵀ·M⁻¹·c,
//!
//! and effects with θ add a few numbers to it. If everybody can be solved for, the diagonal of M⁻¹ comes with it, and all of this is
//! exact. Where a core is left, the part that does not depend on the core is exact, and so is what a player of the core knows from
//! its own games if its opponents' ratings are given. The rest, a small part where players met several others, is the mean
//! over random draws of the core's ratings (Sidén, Lindgren, Bolin and Villani, *Efficient covariance approximations for large
//! sparse precision matrices*, 2018): y with the variance A⁻¹, x with A⁻¹·B·A⁻¹. For p = w·x and q = w(t)·y it adds
//! mean p² − 2·q·dq/dt.

use rayon::prelude::*;

use super::State;
use super::core::Core;
use super::curvature::{border, corner};
use super::pattern::Pattern;
use super::reduced::Reduced;
use super::sloped::{Number, Sloped};
use super::slopes::{CellSlopes, Likelihood};
use super::spread::Signs;
use crate::data::mix;
use crate::error::Result;
use crate::math::{cholesky, solve_lower, solve_upper};
use crate::progress::{Watch, keep_going};

/// Pairs of draws that go along each other: y, then x.
const PAIRS: usize = 4;
const LANES: usize = 2 * PAIRS;
/// Random draws of the core's ratings.
pub(super) const N_CORE_DRAWS: usize = 32;
/// Draws of which that many parts are made at a time.
const AT_ONCE: usize = 4;
/// How precisely draws are solved for, and what is exact.
const ROUGH: f64 = 3e-3;
const FINE: f64 = 1e-8;
/// Averages that ratings are told against: plain, and by games.
const AVERAGES: usize = 2;

/// Variances of ratings against both averages, and of effects and θ: if the model holds, and whether or not it does.
pub(super) struct LargeVariances {
    pub(super) ratings: [Vec<Sloped>; AVERAGES],
    pub(super) extra: Vec<Sloped>,
}

/// The equations, and what is known of the players in the order of solving.
struct Large<'a> {
    reduced: Reduced<'a, Sloped>,
    core: Core<'a>,
    /// The tier of every place, and how many tiers there are.
    tier_of: Vec<u32>,
    n_tiers: usize,
    /// The share of each place in the averages of its tier.
    averages: [Vec<f64>; AVERAGES],
}

impl State {
    /// All variances, of which `squares` are the squared slopes of the games of each cell by d, by d and θ, and by θ.
    pub(super) fn large_variances(
        &self,
        pattern: &Pattern,
        curvatures: &[CellSlopes],
        squares: &[[f64; 3]],
        watch: &dyn Watch,
    ) -> Result<LargeVariances> {
        let likelihood = self.likelihood(&self.counts);
        let of_squares =
            |&[dd, d_theta, theta_theta]: &[f64; 3]| CellSlopes { dd, d_theta, theta_theta, ..CellSlopes::default() };
        let by_t: Vec<CellSlopes> = squares.iter().map(of_squares).collect();
        let large = Large::new(self, pattern, curvatures, &by_t);
        let mut ratings = large.without_border(self, &by_t, curvatures, watch)?;
        let extra = large.add_border(&likelihood, curvatures, &by_t, &mut ratings);
        let by_player = |by_place: Vec<Sloped>| {
            let mut by_player = by_place.clone();
            pattern.order.iter().zip(by_place).for_each(|(&player, value)| by_player[player as usize] = value);
            by_player
        };
        Ok(LargeVariances { ratings: ratings.map(by_player), extra })
    }
}

fn both(value: Vec<f64>, slope: &[f64]) -> Vec<Sloped> {
    value.into_iter().zip(slope).map(|(value, &slope)| Sloped { value, slope }).collect()
}

impl<'a> Large<'a> {
    fn new(state: &State, pattern: &'a Pattern, curvatures: &[CellSlopes], by_t: &[CellSlopes]) -> Self {
        let weight = |cell: usize| Sloped { value: curvatures[cell].dd, slope: by_t[cell].dd };
        let beyond = Sloped { value: state.ridge, slope: state.ridge };
        let reduced = Reduced::new(pattern, curvatures.len(), weight, beyond);
        let core = Core::new(&reduced, Vec::new(), Vec::new());
        let mut tier_of = vec![0u32; pattern.n_players()];
        for (number, tier) in (0..).zip(&state.tiers) {
            tier.iter().for_each(|&player| tier_of[player as usize] = number);
        }
        let in_order = |of: &dyn Fn(u32) -> f64| pattern.order.iter().map(|&player| of(player)).collect::<Vec<f64>>();
        let shares = state.shares();
        let plain = in_order(&|player| 1.0 / state.tiers[tier_of[player as usize] as usize].len() as f64);
        let averages = [plain, in_order(&|player| shares[player as usize])];
        let tier_of = pattern.order.iter().map(|&player| tier_of[player as usize]).collect();
        Large { reduced, core, tier_of, n_tiers: state.tiers.len(), averages }
    }

    fn n_solved(&self) -> usize {
        self.reduced.pattern.n_solved
    }

    /// The sum over each tier.
    fn sums<V: Number>(&self, of: impl Iterator<Item = V>) -> Vec<V> {
        let mut sums = vec![V::default(); self.n_tiers];
        self.tier_of.iter().zip(of).for_each(|(&tier, value)| sums[tier as usize] += value);
        sums
    }

    /// Solves for x, without the border; with its slope.
    fn solve(&self, x: &mut [Sloped]) {
        let n_solved = self.n_solved();
        self.reduced.forward(x, |a, b| a * b, |a, b| a + b);
        let core = &mut x[n_solved..];
        let mut values: Vec<[f64; 1]> = core.iter().map(|x| [x.value]).collect();
        self.core.solve(&mut values, FINE);
        // (A + t·B)·(x + t·y) = b + t·c, so that A·y = c − B·x.
        let slope = |(at, x): (usize, &Sloped)| {
            let others = self.reduced.around(at).map(|(other, weight)| weight.slope * values[other][0]);
            [x.slope - self.reduced.pivots[n_solved + at].slope * values[at][0] + others.sum::<f64>()]
        };
        let mut slopes: Vec<[f64; 1]> = core.par_iter().enumerate().map(slope).collect();
        self.core.solve(&mut slopes, FINE);
        for (x, ([value], [slope])) in core.iter_mut().zip(values.iter().zip(&slopes)) {
            *x = Sloped { value: *value, slope: *slope };
        }
        self.reduced.backward(x, |a, b| a * b, |a, b| a + b);
    }

    /// The variances of ratings as if effects and θ were known.
    fn without_border(
        &self,
        state: &State,
        by_t: &[CellSlopes],
        curvatures: &[CellSlopes],
        watch: &dyn Watch,
    ) -> Result<[Vec<Sloped>; AVERAGES]> {
        let n_solved = self.n_solved();
        let mut diagonal = self.reduced.inverse_diagonal();
        for (own, pivot) in diagonal[n_solved..].iter_mut().zip(&self.reduced.pivots[n_solved..]) {
            *own = Sloped::constant(1.0) / *pivot;
        }
        // What the averages are of the core, if everybody else goes along.
        let mut of_core: [Vec<Sloped>; AVERAGES] = [Vec::new(), Vec::new()];
        let mut found: [Vec<Sloped>; AVERAGES] = [diagonal.clone(), diagonal];
        for ((average, found), of_core) in self.averages.iter().zip(&mut found).zip(&mut of_core) {
            let mut known: Vec<Sloped> = average.iter().map(|&share| Sloped::constant(share)).collect();
            self.reduced.forward(&mut known, |a, b| a * b, |a, b| a + b);
            *of_core = known.split_off(n_solved);
            known.resize(average.len(), Sloped::default());
            self.reduced.backward(&mut known, |a, b| a * b, |a, b| a + b);
            let squares = known.iter().zip(average).map(|(&known, &share)| known * Sloped::constant(share));
            let squares = self.sums(squares);
            // A player of the core has nothing in common with the average but its own share.
            for (at, &share) in of_core.iter().enumerate() {
                known[n_solved + at] = share / self.reduced.pivots[n_solved + at];
            }
            for ((found, known), &tier) in found.iter_mut().zip(&known).zip(&self.tier_of) {
                *found = *found - *known - *known + squares[tier as usize];
            }
        }
        let n_parts = if self.core_is_empty() { 0 } else { N_CORE_DRAWS / PAIRS };
        for start in (0..n_parts).step_by(AT_ONCE) {
            let drawn = |part: usize| {
                keep_going(watch, part * PAIRS)?;
                Ok(self.drawn(state, curvatures, by_t, part, &of_core))
            };
            let parts: Result<Vec<_>> = (start..(start + AT_ONCE).min(n_parts)).into_par_iter().map(drawn).collect();
            for part in parts? {
                for (found, part) in found.iter_mut().zip(part) {
                    found.par_iter_mut().zip(part).for_each(|(found, part)| *found += part);
                }
            }
        }
        Ok(found)
    }

    fn core_is_empty(&self) -> bool {
        self.reduced.pattern.n_core() == 0
    }

    /// Slopes of all games with random signs, in lanes: of variance A, and of variance B.
    fn draw(&self, state: &State, curvatures: &[CellSlopes], by_t: &[CellSlopes], part: usize) -> Vec<[f64; LANES]> {
        let mut by_player = vec![[0.0; LANES]; self.reduced.pattern.n_players()];
        let mut signs = Signs::new(mix(0x5eed, part as u64));
        let lanes = |signs: &mut Signs, [a, b]: [f64; 2]| {
            let mut lanes = [0.0; LANES];
            for pair in 0..PAIRS {
                let sign = signs.next();
                (lanes[pair], lanes[PAIRS + pair]) = (sign * a, sign * b);
            }
            lanes
        };
        for (cell, &[first, second]) in state.cells.players.iter().enumerate() {
            let drawn = lanes(&mut signs, [curvatures[cell].dd.sqrt(), by_t[cell].dd.sqrt()]);
            by_player[first as usize].iter_mut().zip(drawn).for_each(|(x, drawn)| *x += drawn);
            by_player[second as usize].iter_mut().zip(drawn).for_each(|(x, drawn)| *x -= drawn);
        }
        if state.ridge > 0.0 {
            for x in &mut by_player {
                let drawn = lanes(&mut signs, [state.ridge.sqrt(); 2]);
                x.iter_mut().zip(drawn).for_each(|(x, drawn)| *x += drawn);
            }
        }
        self.reduced.pattern.order.iter().map(|&player| by_player[player as usize]).collect()
    }

    /// What a part of the draws adds to the variances of every place.
    fn drawn(
        &self,
        state: &State,
        curvatures: &[CellSlopes],
        by_t: &[CellSlopes],
        part: usize,
        of_core: &[Vec<Sloped>; AVERAGES],
    ) -> [Vec<Sloped>; AVERAGES] {
        let n_solved = self.n_solved();
        let mut x = self.draw(state, curvatures, by_t, part);
        let plus = |a: [f64; LANES], b: [f64; LANES]| std::array::from_fn(|lane| a[lane] + b[lane]);
        self.reduced.forward(&mut x, |a, b| b.map(|b| a.value * b), plus);
        let mut core = x.split_off(n_solved);
        drop(x);
        self.core.solve(&mut core, ROUGH);
        // What everybody is thought to be from the core alone, and the slope of that.
        let mut thought: Vec<[Sloped; LANES]> = vec![[Sloped::default(); LANES]; n_solved];
        thought.extend(core.iter().map(|x| x.map(Sloped::constant)));
        self.reduced.backward(
            &mut thought,
            |a, b| b.map(|b| a * b),
            |a, b| std::array::from_fn(|lane| a[lane] + b[lane]),
        );
        let averages = of_core.each_ref().map(|of_core| {
            let mut averages = vec![[Sloped::default(); LANES]; self.n_tiers];
            for ((&share, x), &tier) in of_core.iter().zip(&core).zip(&self.tier_of[n_solved..]) {
                let average = &mut averages[tier as usize];
                average.iter_mut().zip(x).for_each(|(sum, &x)| *sum += share * Sloped::constant(x));
            }
            averages
        });
        thought[n_solved..].par_iter_mut().enumerate().for_each(|(at, thought)| {
            let mut sum = [Sloped::default(); LANES];
            for (other, weight) in self.reduced.around(at) {
                (0..LANES).for_each(|lane| sum[lane] += weight * Sloped::constant(core[other][lane]));
            }
            *thought = sum.map(|sum| sum / self.reduced.pivots[n_solved + at]);
        });
        averages.map(|averages| {
            let of_place = |(thought, &tier): (&[Sloped; LANES], &u32)| {
                let average = &averages[tier as usize];
                let mut sum = Sloped::default();
                for pair in 0..PAIRS {
                    let y = thought[pair] - average[pair];
                    let x = thought[PAIRS + pair].value - average[PAIRS + pair].value;
                    sum += Sloped { value: y.value * y.value, slope: 2.0 * y.value * y.slope - x * x };
                }
                sum * Sloped::constant(1.0 / N_CORE_DRAWS as f64)
            };
            thought.par_iter().zip(&self.tier_of).map(of_place).collect()
        })
    }

    /// Adds what effects and θ make of ratings; their own variances.
    fn add_border(
        &self,
        likelihood: &Likelihood<'_>,
        curvatures: &[CellSlopes],
        by_t: &[CellSlopes],
        ratings: &mut [Vec<Sloped>; AVERAGES],
    ) -> Vec<Sloped> {
        let n_extra = likelihood.n_extra();
        let order = &self.reduced.pattern.order;
        let row = |k: usize| {
            let row = both(border(likelihood, curvatures, k), &border(likelihood, by_t, k));
            order.iter().map(|&player| row[player as usize]).collect::<Vec<Sloped>>()
        };
        let rows: Vec<Vec<Sloped>> = (0..n_extra).map(row).collect();
        let solved: Vec<Vec<Sloped>> = rows
            .iter()
            .map(|row| {
                let mut row = row.clone();
                self.solve(&mut row);
                row
            })
            .collect();
        let mut left = both(corner(likelihood, curvatures), &corner(likelihood, by_t));
        for (k, row) in rows.iter().enumerate() {
            for (l, solved) in solved.iter().enumerate() {
                let product = row.iter().zip(solved).fold(Sloped::default(), |sum, (&a, &b)| sum + a * b);
                left[k * n_extra + l] = left[k * n_extra + l] - product;
            }
        }
        let inverse = inverse(&left, n_extra);
        for (ratings, average) in ratings.iter_mut().zip(&self.averages) {
            let of_tiers: Vec<Vec<Sloped>> = solved
                .iter()
                .map(|solved| self.sums(solved.iter().zip(average).map(|(&x, &share)| x * Sloped::constant(share))))
                .collect();
            ratings.par_iter_mut().enumerate().for_each(|(at, rating)| {
                let tier = self.tier_of[at] as usize;
                let asked = |k: usize| solved[k][at] - of_tiers[k][tier];
                for k in 0..n_extra {
                    (0..n_extra).for_each(|l| *rating += asked(k) * inverse[k * n_extra + l] * asked(l));
                }
            });
        }
        (0..n_extra).map(|k| inverse[k * n_extra + k]).collect()
    }
}

/// The inverse of a small matrix S, and its slope −S⁻¹·dS·S⁻¹.
fn inverse(matrix: &[Sloped], n: usize) -> Vec<Sloped> {
    let mut factor: Vec<f64> = matrix.iter().map(|x| x.value).collect();
    cholesky(&mut factor, n, f64::MIN_POSITIVE);
    let column = |k: usize| {
        let mut column = vec![0.0; n];
        column[k] = 1.0;
        solve_lower(&factor, n, &mut column);
        solve_upper(&factor, n, &mut column);
        column
    };
    let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
    let mut found = Vec::with_capacity(n * n);
    for a in &columns {
        for (l, b) in columns.iter().enumerate() {
            let rows = matrix.chunks_exact(n).zip(a);
            let slope = rows.map(|(row, a)| a * row.iter().zip(b).map(|(x, b)| x.slope * b).sum::<f64>());
            found.push(Sloped { value: a[l], slope: -slope.sum::<f64>() });
        }
    }
    found
}
