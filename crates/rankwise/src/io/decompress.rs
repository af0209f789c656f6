//! Transparent decompression of `.gz`, `.xz` and `.zst`, by the bytes a file begins with.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::error::{Error, Place, Result};

/// How much memory an archive may ask for: far more than any preset does, far less than a hostile header can claim.
const XZ_MEMORY_KIB: u32 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Xz,
    Zstd,
}

impl Compression {
    const ALL: [Compression; 3] = [Compression::Gzip, Compression::Xz, Compression::Zstd];
    const LONGEST_MAGIC: u64 = 6;

    pub(super) fn extension(self) -> &'static str {
        match self {
            Compression::Gzip => "gz",
            Compression::Xz => "xz",
            Compression::Zstd => "zst",
        }
    }

    /// Whether a file that starts like this is such an archive.
    fn begins(self, start: &[u8]) -> bool {
        match self {
            Compression::Gzip => start.starts_with(b"\x1f\x8b"),
            Compression::Xz => start.starts_with(b"\xfd7zXZ\0"),
            // The second form is a frame to skip, with which parallel compressors begin.
            Compression::Zstd => matches!(start, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]),
        }
    }

    pub(super) fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        Self::ALL.into_iter().find(|compression| extension.eq_ignore_ascii_case(compression.extension()))
    }
}

/// Decompressed bytes.
pub(super) struct Decompressed {
    pub(super) reader: Box<dyn Read>,
    /// What a failing read was trying to do, for its error.
    pub(super) action: &'static str,
}

/// The decompressed bytes of a source, which are the bytes themselves when they are not compressed.
pub(super) fn reader(mut raw: Box<dyn Read>, path: &Path) -> Result<Decompressed> {
    let failed = |source| Error::Io { path: path.to_path_buf(), action: "read", source };
    let start = peek(&mut raw, Compression::LONGEST_MAGIC).map_err(failed)?;
    let found = Compression::ALL.into_iter().find(|compression| compression.begins(&start));
    if let (Some(named), None, false) = (Compression::of_path(path), found, start.is_empty()) {
        return Err(Error::data(
            Place::file(path.display().to_string()),
            format!("the file does not begin like a .{} archive", named.extension()),
            "compress it again, or name it by what is in it",
        ));
    }
    let bytes = BufReader::with_capacity(1 << 16, io::Cursor::new(start).chain(raw));
    let reader: Box<dyn Read> = match found {
        None => Box::new(bytes),
        Some(Compression::Gzip) => Box::new(Plainly(MultiGzDecoder::new(bytes))),
        Some(Compression::Xz) => Box::new(Plainly(XzReader::new_mem_limit(bytes, true, XZ_MEMORY_KIB))),
        Some(Compression::Zstd) => Box::new(Plainly(ZstdReader::new(bytes))),
    };
    Ok(Decompressed { reader, action: if found.is_some() { "decompress" } else { "read" } })
}

/// All decompressed bytes of an archive, up to a number of them.
#[cfg(fuzzing)]
pub fn all_bytes(archive: Vec<u8>, name: &str, at_most: u64) -> Result<Vec<u8>> {
    let path = Path::new(name);
    let Decompressed { reader, action } = reader(Box::new(io::Cursor::new(archive)), path)?;
    let mut bytes = Vec::new();
    match reader.take(at_most).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(source) => Err(Error::Io { path: path.into(), action, source }),
    }
}

/// A decoder whose errors are sentences.
struct Plainly<R>(R);

impl<R: Read> Read for Plainly<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(plain)
    }
}

fn plain(error: io::Error) -> io::Error {
    if let Some(code) = system_code(&error) {
        return io::Error::from_raw_os_error(code);
    }
    let sentence = match error.kind() {
        io::ErrorKind::Interrupted => return error,
        io::ErrorKind::OutOfMemory => "the archive needs too much memory; compress it again with a usual preset",
        io::ErrorKind::Unsupported => "the archive is of an unusual kind; compress it again with a usual preset",
        _ => "the archive is damaged or truncated; fetch it again",
    };
    io::Error::new(error.kind(), sentence)
}

/// What the system said, if it was the system that failed; decoders wrap it.
fn system_code(error: &io::Error) -> Option<i32> {
    let mut inner = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    let mut code = error.raw_os_error();
    while let (None, Some(cause)) = (code, inner) {
        code = cause.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
        inner = cause.source();
    }
    code
}

/// The first bytes, fewer at the end of the input.
pub(super) fn peek(reader: &mut dyn Read, n: u64) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    reader.take(n).read_to_end(&mut start)?;
    Ok(start)
}

/// All frames of a zstd archive one after the other, checksums verified.
struct ZstdReader<R> {
    source: R,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(source: R) -> Self {
        ZstdReader { source, decoder: FrameDecoder::new(), is_in_frame: false }
    }

    fn start_frame(&mut self) -> io::Result<()> {
        match self.decoder.reset(&mut self.source) {
            Ok(()) => self.is_in_frame = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let skipped = io::copy(&mut (&mut self.source).take(length.into()), &mut io::sink())?;
                if skipped < length.into() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(error @ FrameDecoderError::WindowSizeTooBig { .. }) => {
                return Err(io::Error::new(io::ErrorKind::OutOfMemory, error));
            }
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
        Ok(())
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.is_in_frame = false;
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stored), Some(found)) if stored != found => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum does not fit the content"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_in_frame {
                if self.source.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.start_frame()?;
            } else if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            } else if self.decoder.is_finished() {
                self.end_frame()?;
            } else {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            }
        }
    }
}
