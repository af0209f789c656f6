//! A classifier, a regression or a machine of grades: what a search over their parameters needs of any.

use super::{Effort, Fit, OrdinalSvm, SvmClassifier, SvmRegressor};
use crate::data::{ClassItems, Ranking, Scale};
use crate::error::{Error, Result};
use crate::kernel::{Approx, Kernel};
use crate::loss::Loss;
use crate::model::Method;
use crate::progress::Watch;

/// A method that learns the labels of items themselves.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelEstimator {
    /// Classes.
    Classify(SvmClassifier),
    /// Values.
    Regress(SvmRegressor),
    /// Grades.
    Ordinal(OrdinalSvm),
}

/// Items with the labels that such a method learns.
#[derive(Debug, Clone, Copy)]
pub enum LabelData<'a> {
    /// Classes.
    Classes(&'a ClassItems),
    /// Values, or grades; their order within groups does not matter.
    Values(&'a Ranking),
}

impl LabelEstimator {
    /// The method.
    pub fn method(&self) -> Method {
        match self {
            LabelEstimator::Classify(_) => Method::Classify,
            LabelEstimator::Regress(_) => Method::Regress,
            LabelEstimator::Ordinal(_) => Method::Ordinal,
        }
    }

    /// C.
    pub fn c(&self) -> f64 {
        match self {
            LabelEstimator::Classify(svm) => svm.c,
            LabelEstimator::Regress(svm) => svm.c,
            LabelEstimator::Ordinal(svm) => svm.c,
        }
    }

    /// Kernel and loss, and of a regression ε.
    pub fn shape(&self) -> (Kernel, Loss, Option<f64>) {
        match self {
            LabelEstimator::Classify(svm) => (svm.kernel, svm.loss, None),
            LabelEstimator::Regress(svm) => (svm.kernel, svm.loss, Some(svm.epsilon)),
            LabelEstimator::Ordinal(svm) => (svm.kernel, svm.loss, None),
        }
    }

    /// The same with other parameters; `epsilon` is that of a regression.
    #[must_use]
    pub fn shaped(self, c: f64, kernel: Kernel, loss: Loss, epsilon: Option<f64>) -> Self {
        match self {
            LabelEstimator::Classify(svm) => svm.c(c).kernel(kernel).loss(loss).into(),
            LabelEstimator::Regress(svm) => {
                let epsilon = epsilon.unwrap_or(svm.epsilon);
                svm.c(c).kernel(kernel).loss(loss).epsilon(epsilon).into()
            }
            LabelEstimator::Ordinal(svm) => svm.c(c).kernel(kernel).loss(loss).into(),
        }
    }

    /// The scaling of features.
    pub fn scale(&self) -> Scale {
        match self {
            LabelEstimator::Classify(svm) => svm.scale,
            LabelEstimator::Regress(svm) => svm.scale,
            LabelEstimator::Ordinal(svm) => svm.scale,
        }
    }

    /// What stands for the functions of a kernel.
    pub fn approx(&self) -> Option<Approx> {
        match self {
            LabelEstimator::Classify(svm) => svm.approx,
            LabelEstimator::Regress(svm) => svm.approx,
            LabelEstimator::Ordinal(_) => None,
        }
    }

    /// How much work a fit may do.
    pub fn effort(&self) -> &Effort {
        match self {
            LabelEstimator::Classify(svm) => &svm.effort,
            LabelEstimator::Regress(svm) => &svm.effort,
            LabelEstimator::Ordinal(svm) => &svm.effort,
        }
    }

    /// How much work a fit may do, to be changed.
    pub fn effort_mut(&mut self) -> &mut Effort {
        match self {
            LabelEstimator::Classify(svm) => &mut svm.effort,
            LabelEstimator::Regress(svm) => &mut svm.effort,
            LabelEstimator::Ordinal(svm) => &mut svm.effort,
        }
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        match self {
            LabelEstimator::Classify(svm) => svm.check(),
            LabelEstimator::Regress(svm) => svm.check(),
            LabelEstimator::Ordinal(svm) => svm.check(),
        }
    }

    /// Fits a model while `watch` looks on, and perhaps stops it. Classifiers need classes, the others values.
    pub fn fit_watched(&self, data: LabelData<'_>, watch: &dyn Watch) -> Result<Fit> {
        match (self, data) {
            (LabelEstimator::Classify(svm), LabelData::Classes(data)) => svm.fit_watched(data, watch),
            (LabelEstimator::Regress(svm), LabelData::Values(data)) => svm.fit_watched(data, watch),
            (LabelEstimator::Ordinal(svm), LabelData::Values(data)) => svm.fit_watched(data, watch),
            _ => Err(self.of_other(data)),
        }
    }

    /// The error that the labels are those of the other method.
    pub(crate) fn of_other(&self, data: LabelData<'_>) -> Error {
        let name = |is_class: bool| if is_class { "classes" } else { "values" };
        let wanted = format!("{} for {}", name(self.method() == Method::Classify), self.method().name());
        Error::parameter("data", name(matches!(data, LabelData::Classes(_))), wanted)
    }
}

impl From<SvmClassifier> for LabelEstimator {
    fn from(svm: SvmClassifier) -> Self {
        LabelEstimator::Classify(svm)
    }
}

impl From<SvmRegressor> for LabelEstimator {
    fn from(svm: SvmRegressor) -> Self {
        LabelEstimator::Regress(svm)
    }
}

impl From<OrdinalSvm> for LabelEstimator {
    fn from(svm: OrdinalSvm) -> Self {
        LabelEstimator::Ordinal(svm)
    }
}

impl<'a> From<&'a ClassItems> for LabelData<'a> {
    fn from(data: &'a ClassItems) -> Self {
        LabelData::Classes(data)
    }
}

impl<'a> From<&'a Ranking> for LabelData<'a> {
    fn from(data: &'a Ranking) -> Self {
        LabelData::Values(data)
    }
}
