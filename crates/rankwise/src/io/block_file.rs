//! Block files (`.rwb`): items in binary blocks that are read a part at a time, each with a checksum.
//!
//! `header | block | block | … | index | footer`, little endian, every array of a block at a multiple of 64 bytes. A block
//! has whole groups; only a group that is larger than a block goes on in the next ones.

mod items;
mod layout;
mod positioned;
mod reader;
mod rows;
mod writer;

pub(super) use items::BlockStream;
pub use reader::BlockFile;
pub(super) use reader::RowPart;
pub(super) use writer::{BlockWriter, NewRow};

pub(super) use layout::Shape;
