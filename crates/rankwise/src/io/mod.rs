//! Files: tables of pairs and items, model files.

mod model_file;
mod output;
mod tensor_file;

pub use model_file::{model_from_bytes, model_to_bytes, read_model, write_model};
pub use output::write_atomically;
