//! Files: what is read and written.

mod model_file;
mod output;
