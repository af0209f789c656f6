//! A file in pieces of whole lines.

use std::io::{self, Read};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Memory grows from here to what is wanted, so that a small file costs little.
const SMALL_FILE: usize = 1 << 12;

/// Bytes, of which the first are text; the memory is kept.
#[derive(Debug, Default)]
pub(super) struct Piece {
    bytes: Vec<u8>,
    len: usize,
}

impl Piece {
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn append(&mut self, text: &[u8]) {
        if self.bytes.len() < self.len + text.len() {
            self.bytes.resize(self.len + text.len(), 0);
        }
        self.bytes[self.len..][..text.len()].copy_from_slice(text);
        self.len += text.len();
    }

    /// Reads on up to a length; less only at the end.
    fn fill(&mut self, source: &mut dyn Read, goal: usize) -> io::Result<()> {
        while self.len < goal {
            if self.bytes.len() == self.len {
                self.bytes.resize(goal.min(self.len.max(SMALL_FILE) * 2), 0);
            }
            let end = goal.min(self.bytes.len());
            match source.read(&mut self.bytes[self.len..end]) {
                Ok(0) => break,
                Ok(n) => self.len += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// What remains of a file.
pub(super) struct Pieces {
    source: Box<dyn Read>,
    size: usize,
    /// What was read beyond the last line end.
    rest: Piece,
    is_at_start: bool,
    is_at_end: bool,
}

impl Pieces {
    /// Pieces of at most `size` bytes, unless a line is longer.
    pub(super) fn new(source: Box<dyn Read>, size: usize) -> Self {
        Pieces { source, size: size.max(1), rest: Piece::default(), is_at_start: true, is_at_end: false }
    }

    /// The next lines; false if there are none. Where a piece ends depends on the text alone.
    pub(super) fn next(&mut self, piece: &mut Piece) -> io::Result<bool> {
        if piece.bytes.len() > 4 * self.size {
            *piece = Piece::default();
        }
        piece.len = 0;
        if self.is_at_start {
            self.is_at_start = false;
            piece.fill(&mut self.source, BYTE_ORDER_MARK.len())?;
            if piece.text() == BYTE_ORDER_MARK {
                piece.len = 0;
            }
        }
        piece.append(self.rest.text());
        self.rest.len = 0;
        let mut n_searched = 0;
        let mut goal = self.size.max(piece.len);
        loop {
            if !self.is_at_end {
                piece.fill(&mut self.source, goal)?;
                self.is_at_end = piece.len < goal;
            }
            if self.is_at_end {
                return Ok(piece.len > 0);
            }
            if let Some(n) = piece.text()[n_searched..].iter().rposition(|&byte| byte == b'\n') {
                let end = n_searched + n + 1;
                self.rest.append(&piece.bytes[end..piece.len]);
                piece.len = end;
                return Ok(true);
            }
            n_searched = piece.len;
            goal = piece.len + self.size.max(piece.len / 2);
        }
    }
}
