//! Methods of optimisation; they see the traits of `problem` and nothing else of the world.

mod aim;
mod scan;
pub(crate) mod smo;
