//! Drawing numbers by weight in constant time (Walker's alias method, Vose's construction).

use super::Random;

/// Places to be drawn, each in proportion to its weight.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    /// Of every place: below which share it stands for itself, and for whom else.
    slots: Vec<(f64, u32)>,
}

impl Alias {
    /// Weights of at least 0, of which one is above 0 and the sum is finite. O(n).
    pub(crate) fn new(weights: &[f64]) -> Self {
        let n = weights.len();
        let mean = weights.iter().sum::<f64>() / n as f64;
        let mut slots: Vec<(f64, u32)> = weights.iter().enumerate().map(|(at, w)| (w / mean, at as u32)).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) = (0..n as u32).partition(|&at| slots[at as usize].0 < 1.0);
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            slots[poor as usize].1 = rich;
            let left = slots[rich as usize].0 - (1.0 - slots[poor as usize].0);
            slots[rich as usize].0 = left;
            if left < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        // What rounding leaves over stands for itself, unless it may not be drawn at all.
        let heaviest = (0..n).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0) as u32;
        for at in large.into_iter().chain(small) {
            slots[at as usize] = if weights[at as usize] > 0.0 { (1.0, at) } else { (0.0, heaviest) };
        }
        Alias { slots }
    }

    /// A place.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let at = random.below(self.slots.len());
        let (share, other) = self.slots[at];
        if random.uniform() < share { at } else { other as usize }
    }

    /// How likely each place is drawn.
    #[cfg(test)]
    pub(crate) fn chances(&self) -> Vec<f64> {
        let mut chances = vec![0.0; self.slots.len()];
        for (at, &(share, other)) in self.slots.iter().enumerate() {
            let share = share.min(1.0);
            chances[at] += share / self.slots.len() as f64;
            chances[other as usize] += (1.0 - share) / self.slots.len() as f64;
        }
        chances
    }
}

#[cfg(test)]
mod tests {
    use super::{Alias, Random};

    #[test]
    fn places_are_drawn_by_weight() {
        let mut random = Random::new(3);
        let hard: [&[f64]; 5] =
            [&[1.0], &[0.0, 1.0], &[1.0, 1.0, 1.0], &[1e-300, 1.0, 0.0, 3.0], &[1e300, 1e-300, 1e299]];
        let soft: Vec<f64> = (0..1000).map(|_| random.uniform().powi(8)).collect();
        for weights in hard.into_iter().chain([soft.as_slice()]) {
            let total: f64 = weights.iter().sum();
            let alias = Alias::new(weights);
            for (weight, chance) in weights.iter().zip(alias.chances()) {
                assert!((weight / total - chance).abs() < 1e-12, "{weights:?}: {chance}");
                assert!(*weight > 0.0 || chance == 0.0, "{weights:?}");
            }
            let n = 20_000;
            let mut seen = vec![0.0; weights.len()];
            (0..n).for_each(|_| seen[alias.draw(&mut random)] += 1.0 / n as f64);
            for (weight, seen) in weights.iter().zip(seen) {
                assert!((weight / total - seen).abs() < 0.02);
            }
        }
    }
}
