//! Methods of optimisation; they see the traits of `problem` and nothing else.
