//! The step of one item of several classes: its best variables while all others stand still.

use crate::math::wide;

/// Variables that are looked at together.
const LANES: usize = 8;
/// Steps of the search for one number.
const MOST_STEPS: usize = 200;

wide! {
    /// t = β + Σβ + slack/A for every class, Σβ, and the largest t.
    pub(super) fn aims<T>(slacks: &[T], betas: &[T], over_square: T, targets: &mut [T]) -> (T, T) {
        let mut sums = [T::ZERO; LANES];
        for betas in betas.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                sums[lane] = sums[lane].plus(betas[lane]);
            }
        }
        let sum = sums.iter().fold(T::ZERO, |sum, lane| sum.plus(*lane));
        let mut most = [T::LOWEST; LANES];
        let pairs = slacks.as_chunks::<LANES>().0.iter().zip(betas.as_chunks::<LANES>().0);
        for (targets, (slacks, betas)) in targets.as_chunks_mut::<LANES>().0.iter_mut().zip(pairs) {
            for lane in 0..LANES {
                targets[lane] = slacks[lane].times_plus::<FMA>(over_square, betas[lane].plus(sum));
                most[lane] = most[lane].at_least(targets[lane]);
            }
        }
        (sum, most.iter().fold(T::LOWEST, |most, lane| most.at_least(*lane)))
    }
}

wide! {
    /// β = min(max(0, t − level), cap), what that takes away from each β, and Σβ.
    pub(super) fn turn<T>(targets: &[T], level: T, cap: T, betas: &mut [T], numbers: &mut [T]) -> T {
        let mut sums = [T::ZERO; LANES];
        let pairs = targets.as_chunks::<LANES>().0.iter().zip(betas.as_chunks_mut::<LANES>().0);
        for (numbers, (targets, betas)) in numbers.as_chunks_mut::<LANES>().0.iter_mut().zip(pairs) {
            for lane in 0..LANES {
                let beta = targets[lane].minus(level).at_least(T::ZERO);
                let beta = if beta < cap { beta } else { cap };
                numbers[lane] = betas[lane].minus(beta);
                betas[lane] = beta;
                sums[lane] = sums[lane].plus(beta);
            }
        }
        sums.iter().fold(T::ZERO, |sum, lane| sum.plus(*lane))
    }
}

wide! {
    /// Σ min(max(0, t − level), cap), how many of these are neither 0 nor the cap, and how many are the cap.
    fn boxes<T>(targets: &[T], level: T, cap: T) -> (T, T, T) {
        let (mut sums, mut free, mut capped) = ([T::ZERO; LANES], [T::ZERO; LANES], [T::ZERO; LANES]);
        for targets in targets.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                let beta = targets[lane].minus(level);
                let is_capped = beta >= cap;
                let is_free = beta > T::ZERO && beta < cap;
                let beta = if is_capped { cap } else { beta.at_least(T::ZERO) };
                sums[lane] = sums[lane].plus(beta);
                free[lane] = free[lane].plus(if is_free { T::ONE } else { T::ZERO });
                capped[lane] = capped[lane].plus(if is_capped { T::ONE } else { T::ZERO });
            }
        }
        let mut all = (T::ZERO, T::ZERO, T::ZERO);
        for lane in 0..LANES {
            all = (all.0.plus(sums[lane]), all.1.plus(free[lane]), all.2.plus(capped[lane]));
        }
        all
    }
}

/// S = Σ min(max(0, target − S), cap), from a guess.
pub(super) fn level_of_boxes(targets: &[f64], guess: f64, cap: f64) -> f64 {
    let (mut low, mut high) = (0.0, cap * targets.len() as f64);
    // What is free and what is at its cap only shrinks as the level grows, so that counts tell the sets.
    let mut level = guess.clamp(low, high);
    let (mut sum, mut free, mut capped) = boxes(targets, level, cap);
    for _ in 0..MOST_STEPS {
        if sum == level {
            break;
        } else if sum > level {
            low = level;
        } else {
            high = level;
        }
        let newton = level + (sum - level) / (free + 1.0);
        // Its way may lead back and forth between two corners.
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        let (next_sum, next_free, next_capped) = boxes(targets, next, cap);
        let is_same = (free, capped) == (next_free, next_capped);
        (level, sum, free, capped) = (next, next_sum, next_free, next_capped);
        if (is_same && next == newton) || low >= high {
            break;
        }
    }
    level
}

/// S with S = Σ max(0, target − S) where that is at most the bound, else the level at which Σ max(0, target − level) is the bound.
/// Both sums are convex: Newton's steps come from one side, and stop where no target is passed any more. `most` is the largest target.
pub(super) fn level_of_sum(targets: &[f64], most: f64, bound: f64, room: &mut [f64]) -> f64 {
    // Neither level is below any of these: the largest target alone makes the sum too large there. Few targets are above.
    let least = (0.5 * most).max(most - bound).max(0.0);
    let mut n = 0;
    for &target in targets {
        room[n] = target;
        n += usize::from(target > least);
    }
    let above = |level: f64| {
        let mut found = (0.0, 0.0);
        for target in &room[..n] {
            let more = target - level;
            found = if more > 0.0 { (found.0 + more, found.1 + 1.0) } else { found };
        }
        found
    };
    let mut level = least;
    for _ in 0..MOST_STEPS {
        let (sum, count) = above(level);
        let next = level + (sum - level) / (count + 1.0);
        if next <= level {
            break;
        }
        level = next;
    }
    if level <= bound {
        return level;
    }
    for _ in 0..MOST_STEPS {
        let (sum, count) = above(level);
        if count == 0.0 {
            break;
        }
        let next = level + (sum - bound) / count;
        if next <= level {
            break;
        }
        level = next;
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    /// What was found fulfils what was asked.
    #[test]
    fn levels_solve_their_equations() {
        let mut random = Random::new(3);
        for _ in 0..500 {
            let n = 8 * (1 + random.below(3));
            let targets: Vec<f64> = (0..n).map(|_| random.normal() * 3.0).collect();
            let most = targets.iter().copied().fold(f64::MIN, f64::max);
            let cap = random.between(0.01, 4.0);
            let level = level_of_boxes(&targets, random.between(-1.0, 9.0), cap);
            let sum: f64 = targets.iter().map(|t| (t - level).clamp(0.0, cap)).sum();
            assert!((sum - level).abs() < 1e-12, "{targets:?} {cap}: {sum} {level}");
            let level = level_of_sum(&targets, most, cap, &mut vec![0.0; n]);
            let sum: f64 = targets.iter().map(|t| (t - level).max(0.0)).sum();
            let is_free = (sum - level).abs() < 1e-12 && sum <= cap;
            assert!(is_free || ((sum - cap).abs() < 1e-12 && level >= cap), "{targets:?} {cap}: {sum} {level}");
        }
    }
}
