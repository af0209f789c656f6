//! The studies of the SVMcompare paper.

pub(super) mod fig6;
