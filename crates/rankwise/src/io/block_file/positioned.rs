//! Reads at a place of a file, as numbers, by many threads at a time.

use std::borrow::Cow;
use std::fs::File;
use std::io;

use bytemuck::Pod;

/// A number as it is in the file.
pub(super) trait Little: Pod + Send + Sync {
    /// On machines that keep the large end first: turns the bytes around.
    fn turned(self) -> Self;
}

macro_rules! little {
    ($($T:ty),*) => {
        $(impl Little for $T {
            fn turned(self) -> Self {
                <$T>::from_le_bytes(self.to_ne_bytes())
            }
        })*
    };
}
little!(u8, u32, f32, f64);

/// Fills `out` from a place of the file on.
pub(super) fn read_numbers<T: Little>(file: &File, offset: u64, out: &mut [T]) -> io::Result<()> {
    read_exact(file, offset, bytemuck::cast_slice_mut(out))?;
    if cfg!(target_endian = "big") {
        out.iter_mut().for_each(|number| *number = number.turned());
    }
    Ok(())
}

/// The bytes of numbers as they are in the file.
pub(super) fn little_bytes<T: Little>(numbers: &[T]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "big") {
        let turned: Vec<T> = numbers.iter().map(|number| number.turned()).collect();
        return Cow::Owned(bytemuck::cast_slice(&turned).to_vec());
    }
    Cow::Borrowed(bytemuck::cast_slice(numbers))
}

#[cfg(unix)]
pub(super) fn read_exact(file: &File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(windows)]
pub(super) fn read_exact(file: &File, mut offset: u64, mut out: &mut [u8]) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !out.is_empty() {
        match file.seek_read(out, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                out = &mut out[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
