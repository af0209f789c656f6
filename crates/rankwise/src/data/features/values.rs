//! Numbers in the precision they are stored in.

use std::ops::Range;

use crate::data::buffer::{Buffer, Shared};
use crate::math::Real;

/// Numbers that somebody owns, in the precision they come in.
#[derive(Debug, Clone)]
pub enum Numbers {
    /// Single precision.
    F32(Shared<f32>),
    /// Double precision.
    F64(Shared<f64>),
}

/// Numbers in the precision they are stored in.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// Single precision.
    F32(Buffer<f32>),
    /// Double precision.
    F64(Buffer<f64>),
}

impl Values {
    pub(super) fn len(&self) -> usize {
        match self {
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
        }
    }

    pub(super) fn select(&self, ranges: impl Iterator<Item = Range<usize>> + Clone) -> Values {
        fn pick<T: Real>(v: &[T], ranges: impl Iterator<Item = Range<usize>> + Clone) -> Buffer<T> {
            let mut out = Vec::with_capacity(ranges.clone().map(|range| range.len()).sum());
            ranges.for_each(|r| out.extend_from_slice(&v[r]));
            out.into()
        }
        match self {
            Values::F32(v) => Values::F32(pick(v, ranges)),
            Values::F64(v) => Values::F64(pick(v, ranges)),
        }
    }
}

impl From<Numbers> for Values {
    fn from(numbers: Numbers) -> Self {
        match numbers {
            Numbers::F32(v) => Values::F32(v.into()),
            Numbers::F64(v) => Values::F64(v.into()),
        }
    }
}

/// A type that numbers are stored in.
pub(crate) trait Stored: Real {
    /// Numbers of this type.
    fn into_values(values: Vec<Self>) -> Values;
}

impl Stored for f32 {
    fn into_values(values: Vec<f32>) -> Values {
        Values::F32(values.into())
    }
}

impl Stored for f64 {
    fn into_values(values: Vec<f64>) -> Values {
        Values::F64(values.into())
    }
}
