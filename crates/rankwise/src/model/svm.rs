//! What is known of the training of classifiers, regressions and machines of grades.

use super::{ClassScheme, Constraints};

/// How much the classes weigh.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeights {
    /// As the items say.
    #[default]
    Equal,
    /// All classes the same: items of a class are multiplied by n/(k·n_class).
    Balanced,
    /// Items of a class are multiplied by its number; classes that are not named by 1.
    Named(Vec<(String, f64)>),
}

impl ClassWeights {
    /// The words that name them in options.
    pub fn text(&self) -> String {
        match self {
            ClassWeights::Equal => String::new(),
            ClassWeights::Balanced => "balanced".into(),
            ClassWeights::Named(named) => {
                named.iter().map(|(class, weight)| format!("{class}={weight}")).collect::<Vec<_>>().join(",")
            }
        }
    }
}

/// What only classifiers, regressions and machines of grades have.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct SvmTraining {
    /// Half the width of the tube of a regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// How more than two classes are told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<ClassScheme>,
    /// How much classes weigh.
    #[serde(default)]
    pub class_weights: ClassWeights,
    /// Items of each class or grade, in the order of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_sizes: Vec<usize>,
    /// Whether items had margins of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_margins: bool,
    /// Which items have a say in a threshold between grades.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Constraints>,
    /// How many bins of labels were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<usize>,
}
