//! Files: tables of pairs and items, model files.
