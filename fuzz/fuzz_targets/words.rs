//! Whatever is typed for a metric, an outcome, a time, a format, a kernel's γ or a file: an answer or an error, no panic.
#![no_main]

use rankwise::data::{Date, Outcome};
use rankwise::io::{Format, Source, Times};
use rankwise::metrics::ItemMetric;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(metric) = ItemMetric::parse(text) {
        let name = metric.to_string();
        assert_eq!(ItemMetric::parse(&name).expect("its own name").to_string(), name);
    }
    if let Some(outcome) = Outcome::parse(text) {
        assert_eq!(Outcome::parse(outcome.name()), Some(outcome));
    }
    if let Some((time, _)) = Times::parse(text) {
        assert!(time.is_finite());
    }
    let _ = Date::parse(text).map(|date| date.number());
    let _ = text.parse::<rankwise::Approx>();
    let _ = Format::parse(text);
    let _ = Source::parse(text, None).map(|source| source.name());
});
