//! Numbers in memory of one's own, or in memory that somebody else keeps alive.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use bytemuck::Pod;
use bytes::Bytes;

use crate::error::{Error, Result};

/// Numbers that somebody owns and nobody changes; a clone is another view of the same memory.
pub struct Shared<T> {
    /// Aligned for `T`, a whole number of them.
    bytes: Bytes,
    of: PhantomData<T>,
}

/// An owner of numbers as an owner of bytes.
struct Owner<T, O> {
    owner: O,
    of: PhantomData<T>,
}

impl<T: Pod, O: AsRef<[T]>> AsRef<[u8]> for Owner<T, O> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(self.owner.as_ref())
    }
}

impl<T: Pod + Send + Sync> Shared<T> {
    /// The numbers that `owner` shows now; it lives until the last clone is gone.
    pub fn from_owner(owner: impl AsRef<[T]> + Send + Sync + 'static) -> Result<Self> {
        Self::of_bytes(Bytes::from_owner(Owner { owner, of: PhantomData }))
    }

    fn of_bytes(bytes: Bytes) -> Result<Self> {
        match bytemuck::try_cast_slice::<u8, T>(&bytes) {
            Ok(_) => Ok(Shared { bytes, of: PhantomData }),
            Err(problem) => Err(Error::parameter(
                "memory",
                format!("{} bytes that cannot be seen as numbers ({problem})", bytes.len()),
                format!("whole numbers of {} bytes at an address aligned to {}", size_of::<T>(), align_of::<T>()),
            )),
        }
    }
}

impl<T: Pod + Send + Sync> From<Vec<T>> for Shared<T> {
    fn from(numbers: Vec<T>) -> Self {
        // The memory of a `Vec<T>` is aligned for `T`.
        Shared { bytes: Bytes::from_owner(Owner { owner: numbers, of: PhantomData }), of: PhantomData }
    }
}

impl<T: Pod> Deref for Shared<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // Checked when it was made, and the address does not change.
        bytemuck::try_cast_slice(&self.bytes).unwrap_or_default()
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared { bytes: self.bytes.clone(), of: PhantomData }
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

/// Numbers, whoever owns them.
#[derive(Clone)]
pub(crate) enum Buffer<T> {
    /// Memory of its own.
    Owned(Vec<T>),
    /// Memory of somebody else.
    Shared(Shared<T>),
}

impl<T: Pod> Buffer<T> {
    /// The numbers, to be changed: a copy if somebody else owns them.
    pub(crate) fn make_mut(&mut self) -> &mut [T] {
        if let Buffer::Shared(shared) = self {
            *self = Buffer::Owned(shared.to_vec());
        }
        match self {
            Buffer::Owned(numbers) => numbers,
            Buffer::Shared(_) => &mut [],
        }
    }

    /// The numbers in memory of one's own: a copy if somebody else owns them.
    pub(crate) fn into_vec(self) -> Vec<T> {
        match self {
            Buffer::Owned(numbers) => numbers,
            Buffer::Shared(numbers) => numbers.to_vec(),
        }
    }

    /// Memory to be written over: none if somebody else owns it.
    pub(crate) fn into_memory(self) -> Vec<T> {
        match self {
            Buffer::Owned(numbers) => numbers,
            Buffer::Shared(_) => Vec::new(),
        }
    }
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Buffer::Owned(Vec::new())
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(numbers: Vec<T>) -> Self {
        Buffer::Owned(numbers)
    }
}

impl<T> From<Shared<T>> for Buffer<T> {
    fn from(numbers: Shared<T>) -> Self {
        Buffer::Shared(numbers)
    }
}

impl<T> FromIterator<T> for Buffer<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Self {
        Buffer::Owned(numbers.into_iter().collect())
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Buffer::Owned(numbers) => numbers,
            Buffer::Shared(numbers) => numbers,
        }
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    struct Lent(Arc<Vec<f64>>);

    impl AsRef<[f64]> for Lent {
        fn as_ref(&self) -> &[f64] {
            &self.0
        }
    }

    #[test]
    fn clones_view_the_same_memory_and_the_last_one_frees_it() {
        let numbers = Arc::new(vec![1.0, 2.0, 3.0]);
        let shared = Shared::from_owner(Lent(numbers.clone())).unwrap();
        let clone = shared.clone();
        assert_eq!(shared.as_ptr(), numbers.as_ptr());
        assert_eq!(clone.as_ptr(), numbers.as_ptr());
        drop(shared);
        assert_eq!(&clone[..], &numbers[..]);
        assert_eq!(Arc::strong_count(&numbers), 2);
        drop(clone);
        assert_eq!(Arc::strong_count(&numbers), 1);
    }

    #[test]
    fn memory_that_is_not_aligned_or_ends_within_a_number_is_an_error() {
        let bytes = Bytes::from_owner(Shared::<u64>::from(vec![0, 1, 2]).bytes);
        assert!(Shared::<u64>::of_bytes(bytes.clone()).is_ok());
        assert!(Shared::<u64>::of_bytes(bytes.slice(4..20)).is_err());
        assert!(Shared::<u64>::of_bytes(bytes.slice(0..20)).is_err());
        assert!(Shared::<u32>::of_bytes(bytes.slice(4..20)).is_ok());
        let error = Shared::<f32>::of_bytes(bytes.slice(1..9)).unwrap_err().to_string();
        assert!(error.contains("aligned to 4"), "{error}");
    }

    #[test]
    fn no_numbers_can_be_shared() {
        assert!(Shared::<f64>::from_owner(Vec::new()).unwrap().is_empty());
        assert!(Shared::<u32>::from(Vec::new()).is_empty());
    }

    #[test]
    fn a_change_copies_what_somebody_else_owns() {
        let shared = Shared::from(vec![1.0f32, 2.0]);
        let mut buffer = Buffer::from(shared.clone());
        buffer.make_mut()[0] = 5.0;
        assert_eq!((&buffer[..], &shared[..]), (&[5.0, 2.0][..], &[1.0, 2.0][..]));
        assert!(Buffer::from(shared).into_memory().is_empty());
        assert_eq!(buffer.into_memory(), [5.0, 2.0]);
    }
}
