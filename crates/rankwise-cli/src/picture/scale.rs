//! Scales: from numbers to pixels, linear or logarithmic, with ticks at 1, 2, 5 · 10ᵏ.

use super::svg::text_width;

/// Beyond this, numbers are drawn at the edge: differences of two of them still are numbers.
const LARGEST: f64 = 1e300;

/// From numbers to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    is_log: bool,
    low: f64,
    high: f64,
    pixels: (f64, f64),
}

/// A place on a scale with what stands there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

impl Scale {
    /// A linear scale that holds the finite ones of the values.
    pub(crate) fn linear(values: impl IntoIterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            let value = value.clamp(-LARGEST, LARGEST);
            (low, high) = (low.min(value), high.max(value));
        }
        let size = low.abs().max(high.abs());
        if low > high {
            (low, high) = (0.0, 1.0);
        } else if high - low <= 1e-9 * size || high - low < 1e-290 {
            // Nothing varies that could be told apart.
            let around = if size < 1e-280 { 1.0 } else { 0.5 * size };
            (low, high) = (low - around, high + around);
        }
        Scale { is_log: false, low, high, pixels: (0.0, 1.0) }
    }

    /// A logarithmic scale that holds the finite values above 0.
    pub(crate) fn log(values: impl IntoIterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|value| value.is_finite() && *value > 0.0) {
            let value = value.clamp(1.0 / LARGEST, LARGEST);
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        } else if high <= low * (1.0 + 1e-9) {
            (low, high) = (low / 3.0, high * 3.0);
        }
        Scale { is_log: true, low, high, pixels: (0.0, 1.0) }
    }

    /// Linear or logarithmic.
    pub(super) fn of(is_log: bool, values: impl IntoIterator<Item = f64>) -> Self {
        if is_log { Scale::log(values) } else { Scale::linear(values) }
    }

    /// Widened to the next ticks.
    pub(super) fn rounded(self, n_ticks: usize) -> Self {
        if self.is_log {
            return self;
        }
        let step = self.step(n_ticks);
        let (low, high) = ((self.low / step).floor() * step, (self.high / step).ceil() * step);
        if low.is_finite() && high.is_finite() { Scale { low, high, ..self } } else { self }
    }

    /// Spread over these pixels.
    pub(crate) fn over(self, from: f64, to: f64) -> Self {
        Scale { pixels: (from, to), ..self }
    }

    pub(super) fn low(&self) -> f64 {
        self.low
    }

    pub(super) fn high(&self) -> f64 {
        self.high
    }

    /// The pixel of a number; beyond the ends, the end. `None` for NaN, and on a logarithmic scale for what is not
    /// above 0.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        let share = self.share(value)?.clamp(0.0, 1.0);
        Some(self.pixels.0 + share * (self.pixels.1 - self.pixels.0))
    }

    /// The same, beyond the ends, too: lines that leave the picture keep their slope.
    pub(super) fn beyond(&self, value: f64) -> Option<f64> {
        Some(self.pixels.0 + self.share(value)? * (self.pixels.1 - self.pixels.0))
    }

    /// 0 at the low end, 1 at the high one.
    fn share(&self, value: f64) -> Option<f64> {
        if value.is_nan() || (self.is_log && value <= 0.0) {
            return None;
        }
        Some(if self.is_log {
            (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
        } else {
            // Halves, so that the difference of the largest numbers is one.
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        })
    }

    /// Ticks, as many as stand side by side in `room` pixels; none whose label would stick out far.
    pub(super) fn ticks_across(&self, room: f64) -> Vec<Tick> {
        let fits = |ticks: &[Tick]| {
            let places: Vec<(f64, f64)> =
                ticks.iter().filter_map(|tick| Some((self.at(tick.value)?, text_width(&tick.label) / 2.0))).collect();
            places.windows(2).all(|w| (w[1].0 - w[0].0).abs() >= w[0].1 + w[1].1 + 10.0)
        };
        let most = ((room / 45.0) as usize).clamp(2, 9);
        let mut ticks = (1..=most).rev().map(|n| self.ticks(n)).find(|ticks| fits(ticks)).unwrap_or_default();
        let (first, last) = (self.pixels.0 - 14.0, self.pixels.1 + 14.0);
        ticks.retain(|tick| {
            let half = text_width(&tick.label) / 2.0;
            self.at(tick.value).is_some_and(|at| at - half >= first && at + half <= last)
        });
        ticks
    }

    /// About `n` ticks, at most 2·`n` + 1.
    pub(super) fn ticks(&self, n: usize) -> Vec<Tick> {
        if self.is_log { self.log_ticks(n) } else { self.linear_ticks(n) }
    }

    /// 1, 2 or 5 times a power of 10, so that about `n` of them fill the scale.
    fn step(&self, n: usize) -> f64 {
        step_of((self.high / 2.0 - self.low / 2.0) * 2.0, n)
    }

    fn linear_ticks(&self, n: usize) -> Vec<Tick> {
        let step = self.step(n);
        let slack = 1e-6;
        let (first, last) = ((self.low / step - slack).ceil(), (self.high / step + slack).floor());
        let count = (last - first).clamp(0.0, 2.0 * n as f64) as usize;
        let tick = |k: usize| {
            let multiple = first + k as f64;
            let value = multiple * step;
            Tick { value, label: label(value, step) }
        };
        (0..=count).map(tick).filter(|tick| tick.value.is_finite()).collect()
    }

    fn log_ticks(&self, n: usize) -> Vec<Tick> {
        let (low, high) = (self.low.log10(), self.high.log10());
        let (first, last) = ((low - 1e-9).ceil() as i32, (high + 1e-9).floor() as i32);
        let power = |k: i32| 10f64.powi(k);
        if last - first < 2 {
            // Within two decades: 1, 2, 5 where there is room, else whatever a linear scale would show.
            let within = |value: &f64| (self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9)).contains(value);
            let fine = (first - 1..=last).flat_map(|k| [1.0, 2.0, 5.0].map(|m| m * power(k)));
            let fine: Vec<f64> = fine.filter(within).collect();
            if fine.len() >= 2 {
                let keep = fine.len().div_ceil(n.max(1));
                return fine.into_iter().step_by(keep).map(|value| Tick { value, label: plain(value) }).collect();
            }
            return Scale { is_log: false, ..*self }.linear_ticks(n);
        }
        let stride = ((last - first) as usize + 1).div_ceil(n.max(1)).max(1);
        let are_plain = first >= -3 && last <= 5;
        (first..=last)
            .step_by(stride)
            .map(|k| Tick { value: power(k), label: if are_plain { plain(power(k)) } else { power_label(k) } })
            .collect()
    }
}

/// 1, 2 or 5 times a power of 10, so that about `n` of them make up `span`.
pub(super) fn step_of(span: f64, n: usize) -> f64 {
    let rough = span / n.max(1) as f64;
    if !(rough > 0.0 && rough.is_finite()) {
        return 1.0;
    }
    let power = 10f64.powi(rough.log10().floor() as i32);
    let factor = rough / power;
    let nice = if factor <= 1.0 + 1e-9 {
        1.0
    } else if factor <= 2.0 + 1e-9 {
        2.0
    } else if factor <= 5.0 + 1e-9 {
        5.0
    } else {
        10.0
    };
    let step = nice * power;
    if step > 0.0 && step.is_finite() { step } else { rough }
}

/// A multiple of `step` with the digits that the step has.
fn label(value: f64, step: f64) -> String {
    let size = value.abs();
    if size < step * 1e-6 {
        return "0".into();
    }
    if size >= 1e6 || step < 1e-5 {
        // Digits from the number's first down to the step's.
        let digits = (size.log10().floor() - step.log10().floor()).clamp(0.0, 6.0) as usize;
        return signed(&short_exponent(&format!("{value:.digits$e}")));
    }
    let digits = (-(step * 1.000_001).log10().floor()).clamp(0.0, 9.0) as usize;
    signed(&format!("{value:.digits$}"))
}

/// A number in few digits.
pub(super) fn plain(value: f64) -> String {
    if value.is_nan() {
        return "–".into();
    }
    let size = value.abs();
    if size == 0.0 {
        "0".into()
    } else if size.is_infinite() {
        signed(if value > 0.0 { "∞" } else { "-∞" })
    } else if (1e-3..1e5).contains(&size) {
        let digits = (2.0 - size.log10().floor()).clamp(0.0, 5.0) as usize;
        let text = format!("{value:.digits$}");
        signed(if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text })
    } else {
        signed(&short_exponent(&format!("{value:.2e}")))
    }
}

/// `1.50e6` is `1.5e6`.
fn short_exponent(text: &str) -> String {
    match text.split_once('e') {
        Some((number, exponent)) if number.contains('.') => {
            format!("{}e{exponent}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text.into(),
    }
}

fn signed(text: &str) -> String {
    text.replace('-', "−")
}

fn power_label(k: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => char::from_u32(0x2070 + c.to_digit(10).unwrap_or(0)).unwrap_or(c),
    };
    format!("10{}", k.to_string().chars().map(digit).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_step_by_1_2_5() {
        let ticks = |low, high, n| Scale::linear([low, high]).ticks(n);
        assert_eq!(labels(&ticks(0.0, 1.0, 5)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&ticks(-3.0, 3.0, 6)), ["−3", "−2", "−1", "0", "1", "2", "3"]);
        assert_eq!(labels(&ticks(0.0, 830.0, 4)), ["0", "500"]);
        assert_eq!(labels(&ticks(0.0, 2e7, 4)), ["0", "5e6", "1e7", "1.5e7", "2e7"]);
        assert_eq!(labels(&ticks(0.0, 3e-7, 3)), ["0", "1e−7", "2e−7", "3e−7"]);
    }

    #[test]
    fn log_ticks_are_powers_of_ten() {
        assert_eq!(labels(&Scale::log([50.0, 2000.0]).ticks(6)), ["50", "100", "200", "500", "1000", "2000"]);
        assert_eq!(labels(&Scale::log([1.0, 1e4]).ticks(6)), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(labels(&Scale::log([1e-6, 1e6]).ticks(5)), ["10⁻⁶", "10⁻³", "10⁰", "10³", "10⁶"]);
        let half = Scale::log([10.0, 1000.0]).over(0.0, 100.0).at(100.0).unwrap();
        assert!((half - 50.0).abs() < 1e-9);
    }

    #[test]
    fn hostile_numbers_still_have_a_scale() {
        let max = f64::MAX;
        let cases: [&[f64]; 10] = [
            &[],
            &[f64::NAN],
            &[f64::INFINITY, f64::NEG_INFINITY],
            &[0.0, 0.0],
            &[7.0; 3],
            &[1e300, -1e300],
            &[max, -max],
            &[5e-324, 0.0],
            &[1.0, 1.0 + f64::EPSILON],
            &[1e-300, 1e300],
        ];
        for values in cases {
            for is_log in [false, true] {
                for n in [1, 4, 9] {
                    let scale = Scale::of(is_log, values.iter().copied()).over(0.0, 300.0);
                    assert!(scale.low < scale.high, "{values:?}");
                    for scale in [scale, scale.rounded(n)] {
                        let ticks = scale.ticks(n);
                        assert!(ticks.len() <= 2 * n + 1, "{values:?}: {ticks:?}");
                        let places: Vec<f64> = ticks.iter().map(|tick| scale.at(tick.value).unwrap()).collect();
                        assert!(places.iter().all(|p| (0.0..=300.0).contains(p)), "{values:?}: {ticks:?}");
                        assert!(places.windows(2).all(|w| w[0] < w[1]), "{values:?}: {ticks:?}");
                        for &value in values {
                            let at = scale.at(value);
                            assert!(at.is_none_or(|at| (0.0..=300.0).contains(&at)), "{values:?}: {value}");
                        }
                        let across = scale.ticks_across(300.0);
                        assert!(across.len() <= 19, "{across:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn plain_numbers_are_short() {
        let cases = [(0.0, "0"), (-0.0, "0"), (0.125, "0.125"), (-12.5, "−12.5"), (1234.0, "1234"), (1e-9, "1e−9")];
        cases.iter().for_each(|&(value, text)| assert_eq!(plain(value), text));
        assert_eq!((plain(f64::NAN), plain(f64::INFINITY)), ("–".into(), "∞".into()));
    }
}
