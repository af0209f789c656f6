//! Kernel rows over pairs, straight from the two sides.

use rayon::prelude::*;

use super::KernelFunction;
use super::block::{LANES, Packed, WORK_A_TASK, dots, finish, kernel_row};
use crate::math::{Real, wide};

/// Pairs of items in panels: rows of the four-term kernel K(r, b) − K(r, a) − K(l, b) + K(l, a) over pairs (a, b), for
/// a pair (l, r). For linear kernels that is a product of differences, which are then stored instead.
#[derive(Debug)]
pub(crate) enum PackedPairs<T> {
    /// Both sides.
    Sides {
        /// a of every pair
        left: Packed<T>,
        /// b of every pair
        right: Packed<T>,
    },
    /// b − a of every pair.
    Differences(Packed<T>),
}

wide! {
    fn four_term_row<T>(kernel: &KernelFunction, sides: (&Packed<T>, &Packed<T>), query: (&[T], T, &[T], T), first: usize, out: &mut [T]) {
        let (left, right) = sides;
        let (l, l_norm, r, r_norm) = query;
        for (p, out) in out.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let panel = right.panel(first + p);
            let [rb, lb] = dots::<T, FMA, 2>(panel, [r, l]);
            let rb = finish::<T, FMA>(kernel, rb, r_norm, panel.norms);
            let lb = finish::<T, FMA>(kernel, lb, l_norm, panel.norms);
            let panel = left.panel(first + p);
            let [ra, la] = dots::<T, FMA, 2>(panel, [r, l]);
            let ra = finish::<T, FMA>(kernel, ra, r_norm, panel.norms);
            let la = finish::<T, FMA>(kernel, la, l_norm, panel.norms);
            for lane in 0..LANES {
                out[lane] = rb[lane].minus(lb[lane]).minus(ra[lane].minus(la[lane]));
            }
        }
    }
}

impl<T: Real> PackedPairs<T> {
    /// The pairs (left, right) among packed items.
    pub(crate) fn new(kernel: &KernelFunction, items: &Packed<T>, left: &[u32], right: &[u32]) -> Self {
        if *kernel == KernelFunction::Linear {
            let mut other = vec![T::ZERO; items.d];
            let mut row = vec![T::ZERO; items.d];
            return PackedPairs::Differences(Packed::new(left.len(), items.d, |k, out| {
                items.copy_item(right[k] as usize, &mut row);
                items.copy_item(left[k] as usize, &mut other);
                out.iter_mut().zip(&row).zip(&other).for_each(|((out, r), l)| *out = r.to_f64() - l.to_f64());
            }));
        }
        PackedPairs::Sides { left: items.select(left.iter().copied()), right: items.select(right.iter().copied()) }
    }

    /// The row of a pair of items from position `first` (a multiple of [`LANES`]) on; `out` has a multiple of LANES.
    pub(crate) fn row(
        &self,
        kernel: &KernelFunction,
        items: &Packed<T>,
        (left, right): (u32, u32),
        first: usize,
        out: &mut [T],
    ) {
        let (mut l, mut r) = (vec![T::ZERO; items.d], vec![T::ZERO; items.d]);
        let l_norm = items.copy_item(left as usize, &mut l);
        let r_norm = items.copy_item(right as usize, &mut r);
        if matches!(self, PackedPairs::Differences(_)) {
            r.iter_mut().zip(&l).for_each(|(r, l)| *r = r.minus(*l));
        }
        let fill = |first: usize, out: &mut [T]| match self {
            PackedPairs::Sides { left, right } => {
                four_term_row(kernel, (left, right), (&l, l_norm, &r, r_norm), first / LANES, out);
            }
            PackedPairs::Differences(packed) => kernel_row(kernel, packed, &r, T::ZERO, first / LANES, out),
        };
        if out.len() * items.d.max(8) <= WORK_A_TASK {
            fill(first, out);
        } else {
            let task_len = (WORK_A_TASK / items.d.max(8)).next_multiple_of(LANES);
            out.par_chunks_mut(task_len).enumerate().for_each(|(task, out)| fill(first + task * task_len, out));
        }
    }
}
