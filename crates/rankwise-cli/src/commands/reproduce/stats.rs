//! Means, deviations and Student's t for the tables of studies.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::picture::Series;

/// Mean and standard deviation (of n − 1) of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    pub(super) mean: f64,
    pub(super) sd: f64,
    pub(super) n: usize,
}

impl Summary {
    pub(super) fn of(values: &[f64]) -> Self {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Summary { mean, sd: if n < 2 { 0.0 } else { (squares / (n - 1) as f64).sqrt() }, n }
    }

    /// `12.34 ± 0.56`
    pub(super) fn told(&self, digits: usize) -> String {
        format!("{:.digits$} ± {:.digits$}", self.mean, self.sd)
    }
}

/// What is drawn around a line of means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Around {
    Nothing,
    /// One standard deviation of the numbers.
    Deviation,
    /// One standard error of their mean.
    Error,
}

/// A line of means.
pub(super) fn line_of_means(label: &str, points: &[(f64, Summary)], around: Around) -> Series {
    let band = |&(x, Summary { mean, sd, n }): &(f64, Summary)| {
        let width = match around {
            Around::Nothing => return None,
            Around::Deviation => sd,
            Around::Error => sd / (n as f64).sqrt(),
        };
        Some((x, mean - width, mean + width))
    };
    Series {
        label: label.into(),
        points: points.iter().map(|(x, summary)| (*x, summary.mean)).collect(),
        band: points.iter().filter_map(band).collect(),
    }
}

/// The two-sided p-value of Student's t on paired differences; `None` where all differences are the same.
pub(super) fn paired_p(a: &[f64], b: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let Summary { mean, sd, n } = Summary::of(&differences);
    if n < 2 || sd <= 0.0 {
        return None;
    }
    let t = mean / (sd / (n as f64).sqrt());
    if !t.is_finite() {
        return None;
    }
    let distribution = StudentsT::new(0.0, 1.0, (n - 1) as f64).ok()?;
    Some(2.0 * distribution.cdf(-t.abs()))
}

/// A p-value for people to read.
pub(super) fn told_p(p: Option<f64>) -> String {
    match p {
        None => "–".into(),
        Some(p) if p < 0.001 => "< .001".into(),
        Some(p) => format!("{p:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_p_value_is_students() {
        // Differences 1, 2, 3, 4: t = 2.5/(1.29099/2) = 3.87298 with 3 degrees of freedom.
        let p = paired_p(&[2.0, 4.0, 6.0, 8.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((p - 0.030_466_291_0).abs() < 1e-8, "{p}");
        assert_eq!(paired_p(&[1.0, 2.0], &[0.0, 1.0]), None);
        for hostile in [f64::NAN, f64::INFINITY, 1e308] {
            assert_eq!(paired_p(&[hostile, 1.0, -hostile], &[0.0, 3.0, 1.0]).filter(|p| !p.is_finite()), None);
        }
        let Summary { mean, sd, n } = Summary::of(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!((mean, n), (2.5, 4));
        assert!((sd - 1.290_994_448_735_805_6).abs() < 1e-15);
    }
}
