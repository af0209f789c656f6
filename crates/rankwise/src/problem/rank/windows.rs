//! Which pairs of a group count, and sums over them without ever listing a pair: few grades.
//!
//! With scores s ascending, the pairs (i better, j worse) that lack the margin m are those with j at or behind `low[i]`,
//! or, seen from j, those with i before `high[j]`; both ends move one way only. Sweeping the items in the order of
//! their scores with one running sum per grade gives, for every item, the sum over its worse partners and over its
//! better partners: O(n·grades). More grades than [`MOST_GRADES`] are the business of the label tree.

use rayon::slice::ParallelSliceMut;

use crate::math::wide;

/// The most grades for which running sums win against the label tree.
pub(super) const MOST_GRADES: usize = 16;

/// Items of a group beyond which two threads share its work.
const MANY_ITEMS: usize = 1 << 14;

/// Whether the lead of the better item falls short of the margin. Every evaluator asks this very expression: another one
/// that means the same could round to another answer, and a pair would count for one of its items only. It is
/// monotone in both scores.
#[inline(always)]
pub(super) fn falls_short(margin: f64, better: f64, worse: f64) -> bool {
    (margin - better) + worse > 0.0
}

/// Puts the items of a group in the order of their scores, equal ones by number. `order` holds some order of
/// 0..n already; if it is nearly right, this is quick.
pub(super) fn sort_by_score(scores: &[f64], order: &mut [u32]) {
    let is_before = |a: u32, b: u32| {
        let (x, y) = (scores[a as usize], scores[b as usize]);
        x < y || (x == y && a < b)
    };
    // Insertion as long as it is cheap: between two steps of a solver few items change places.
    let mut moves_left = 4 * order.len();
    for at in 1..order.len() {
        let item = order[at];
        let mut to = at;
        while to > 0 && is_before(item, order[to - 1]) {
            order[to] = order[to - 1];
            to -= 1;
        }
        order[to] = item;
        moves_left = moves_left.saturating_sub(at - to);
        if moves_left == 0 {
            let by_score = |a: &u32, b: &u32| scores[*a as usize].total_cmp(&scores[*b as usize]).then(a.cmp(b));
            match order.len() {
                0..MANY_ITEMS => order.sort_unstable_by(by_score),
                _ => order.par_sort_unstable_by(by_score),
            }
            return;
        }
    }
}

/// The ends of the windows of sorted scores.
pub(super) fn find_windows(margin: f64, sorted: &[f64], low: &mut [u32], high: &mut [u32]) {
    let find_low = || {
        let mut behind = 0;
        for (low, &score) in low.iter_mut().zip(sorted) {
            while behind < sorted.len() && !falls_short(margin, score, sorted[behind]) {
                behind += 1;
            }
            *low = behind as u32;
        }
    };
    let find_high = || {
        let mut before = 0;
        for (high, &score) in high.iter_mut().zip(sorted) {
            while before < sorted.len() && falls_short(margin, sorted[before], score) {
                before += 1;
            }
            *high = before as u32;
        }
    };
    side_by_side(sorted.len(), find_low, find_high);
}

/// Does two things of O(n), of many items on two threads.
fn side_by_side(n: usize, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    if n >= MANY_ITEMS {
        rayon::join(a, b);
    } else {
        a();
        b();
    }
}

/// A group with few grades in the order of its scores.
#[derive(Clone, Copy)]
pub(super) struct Graded<'a> {
    pub(super) grades: &'a [u8],
    pub(super) low: &'a [u32],
    pub(super) high: &'a [u32],
}

impl Graded<'_> {
    /// Sums of x over each item's worse partners, and over its better ones.
    pub(super) fn sums(self, n_grades: usize, x: &[f64], worse: &mut [f64], better: &mut [f64]) {
        let Graded { grades, low, high } = self;
        if n_grades <= 8 {
            side_by_side(
                x.len(),
                || worse_sums::<f64, 8>(grades, low, x, worse),
                || better_sums::<f64, 8>(grades, high, x, better),
            );
        } else {
            side_by_side(
                x.len(),
                || worse_sums::<f64, MOST_GRADES>(grades, low, x, worse),
                || better_sums::<f64, MOST_GRADES>(grades, high, x, better),
            );
        }
    }
}

wide! {
    fn worse_sums<T, const N: usize>(grades: &[u8], low: &[u32], x: &[T], out: &mut [T]) {
        // Entry g is the sum over the grades below g.
        let mut below = [T::ZERO; N];
        let mut next = x.len();
        for at in (0..x.len()).rev() {
            while next > low[at] as usize {
                next -= 1;
                let (grade, value) = (grades[next] as usize, x[next]);
                for (g, below) in below.iter_mut().enumerate() {
                    *below = below.plus(if g > grade { value } else { T::ZERO });
                }
            }
            out[at] = below[grades[at] as usize & (N - 1)];
        }
    }
}

wide! {
    fn better_sums<T, const N: usize>(grades: &[u8], high: &[u32], x: &[T], out: &mut [T]) {
        // Entry g is the sum over the grades above g.
        let mut above = [T::ZERO; N];
        let mut next = 0;
        for at in 0..x.len() {
            while next < high[at] as usize {
                let (grade, value) = (grades[next] as usize, x[next]);
                for (g, above) in above.iter_mut().enumerate() {
                    *above = above.plus(if g < grade { value } else { T::ZERO });
                }
                next += 1;
            }
            out[at] = above[grades[at] as usize & (N - 1)];
        }
    }
}
