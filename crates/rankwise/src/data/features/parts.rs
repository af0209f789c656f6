//! A matrix taken apart: its memory, for somebody else to own.

use super::{Features, Layout, Values};

/// Numbers in memory of one's own, in the precision they are stored in.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnedNumbers {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

/// What [`Features`] are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureParts {
    /// How many items there are.
    pub n_rows: usize,
    /// How many features an item has.
    pub n_cols: usize,
    /// The stored numbers, row by row.
    pub values: OwnedNumbers,
    /// Row starts and columns of compressed sparse rows; `None` where all numbers are stored.
    pub sparse_rows: Option<(Vec<usize>, Vec<u32>)>,
}

impl Features {
    /// Takes the matrix apart. Memory is handed over; numbers that somebody else owns are copied.
    pub fn into_parts(self) -> FeatureParts {
        FeatureParts {
            n_rows: self.n_rows,
            n_cols: self.n_cols,
            values: match self.values {
                Values::F32(values) => OwnedNumbers::F32(values.into_vec()),
                Values::F64(values) => OwnedNumbers::F64(values.into_vec()),
            },
            sparse_rows: match self.layout {
                Layout::Dense => None,
                Layout::Sparse { starts, columns } => Some((starts.into_vec(), columns.into_vec())),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Numbers, Precision, Shared};

    #[test]
    fn memory_of_its_own_is_handed_over_and_that_of_others_copied() {
        let values = vec![1.0f32, 2.0, 3.0, 4.0];
        let at = values.as_ptr();
        let parts = Features::dense_f32(2, values).unwrap().into_parts();
        assert_eq!((parts.n_rows, parts.n_cols, &parts.sparse_rows), (2, 2, &None));
        let OwnedNumbers::F32(found) = parts.values else { panic!("f32 stays f32") };
        assert_eq!(found.as_ptr(), at);

        let shared = Shared::from(vec![5.0f64, 6.0]);
        let parts = Features::dense_shared(1, Numbers::F64(shared.clone())).unwrap().into_parts();
        assert_eq!(parts.values, OwnedNumbers::F64(shared.to_vec()));
    }

    #[test]
    fn parts_make_the_same_matrix_again() {
        let sparse = Features::sparse(4, vec![0, 2, 2, 3], vec![0, 3, 1], vec![1.0, -2.0, 0.5]).unwrap();
        let dense = sparse.to_dense();
        let parts = sparse.into_parts();
        let (Some((starts, columns)), OwnedNumbers::F64(values)) = (parts.sparse_rows, parts.values) else {
            panic!("sparse f64 stays so")
        };
        let again = Features::sparse(parts.n_cols, starts, columns, values).unwrap();
        assert_eq!(again.to_dense(), dense);
        let wide = Features::dense(4, dense.clone(), Precision::F64).unwrap().into_parts();
        assert_eq!((wide.n_rows, wide.values), (3, OwnedNumbers::F64(dense)));
    }
}
