//! What holds of every fit, whatever the method, kernel or loss: each test is a list of fits and a law.

mod certificate;
mod collapse;
mod degenerate;
mod invariance;
mod limits;
mod online;
mod online_classes;
mod online_stream;
mod programs;
mod rank_items;
mod ranking_metrics;
mod ranking_significance;
mod regressions;
mod row_order;
mod shared;
mod spread;
mod stored;
