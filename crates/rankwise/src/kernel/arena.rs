//! Zeroed memory for rows that takes room only where it is written to, in large pages where the system has them: a
//! first touch costs a fault a page, and 4 KiB pages would cost more than the kernel values that go into them.

use bytemuck::{cast_slice, cast_slice_mut};
use memmap2::MmapMut;

use crate::math::Real;

/// Below this, ordinary memory does as well.
const LARGE: usize = 1 << 22;

/// A piece of memory for numbers, all 0 at first.
#[derive(Debug)]
pub(super) enum Arena<T> {
    Mapped(MmapMut),
    Ordinary(Vec<T>),
}

impl<T: Real> Arena<T> {
    /// Room for `len` numbers, or for fewer where memory is scarce, but for no fewer than `least`.
    pub(super) fn new(len: usize, least: usize) -> Self {
        let mut len = len;
        while len * size_of::<T>() >= LARGE {
            if let Ok(map) = MmapMut::map_anon(len * size_of::<T>()) {
                // Advice only: a system that does not take it gives small pages.
                #[cfg(target_os = "linux")]
                let _ = map.advise(memmap2::Advice::HugePage);
                return Arena::Mapped(map);
            }
            if len == least {
                break;
            }
            len = (len / 2).max(least);
        }
        Arena::Ordinary(vec![T::ZERO; len])
    }

    pub(super) fn numbers(&self) -> &[T] {
        match self {
            Arena::Mapped(map) => cast_slice(map),
            Arena::Ordinary(numbers) => numbers,
        }
    }

    pub(super) fn numbers_mut(&mut self) -> &mut [T] {
        match self {
            Arena::Mapped(map) => cast_slice_mut(map),
            Arena::Ordinary(numbers) => numbers,
        }
    }
}
