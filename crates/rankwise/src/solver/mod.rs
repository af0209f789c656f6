//! Methods of optimisation; they see the traits of `problem` and nothing else of the world.

mod aim;
pub(crate) mod newton;
mod scan;
pub(crate) mod smo;
