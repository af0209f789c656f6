//! What only machines that are linear programs have.

/// Whether coefficients may be below 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoefficientSign {
    /// Of either sign.
    #[default]
    Signed,
    /// At least 0.
    Nonnegative,
}

impl CoefficientSign {
    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            CoefficientSign::Signed => "signed",
            CoefficientSign::Nonnegative => "nonnegative",
        }
    }
}

/// What is known of the training of a linear program.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ProgramTraining {
    /// Whether coefficients of items may be below 0; `None` where they are of pairs, or of features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coefficients: Option<CoefficientSign>,
    /// Up to this C nothing is learnt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_c: Option<f64>,
}
