//! Parameters of machines by name: read from Python, and told to it as they are by default.
//!
//! Names and defaults are those of the library; one list of fields per machine serves both directions.

use std::time::Duration;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyString};
use rankwise::model::ClassWeights;
use rankwise::{
    Approx, CompareLp, CompareRank, CompareSvm, Davidson, Effort, Error, Gamma, Kernel, Loss, OneNormRankSvm,
    OnlineSvm, OrdinalSvm, RankSvm, RankingVectorMachine, Ridge, SvmClassifier, SvmRegressor, SwapSvm, Variant,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::errors::exception;

/// Goes through the fields of a machine.
pub(crate) struct Fields<'py> {
    dict: Bound<'py, PyDict>,
    /// Whether fields take values from the dictionary; else they are put into it.
    reads: bool,
}

impl<'py> Fields<'py> {
    /// Fields that take values from a dictionary, where it has them.
    pub(crate) fn of(dict: &Bound<'py, PyDict>) -> Self {
        Fields { dict: dict.clone(), reads: true }
    }

    fn refuse<T>(&self, name: &'static str, value: &Bound<'_, PyAny>, expected: &str) -> PyResult<T> {
        let value = value.repr().map_or_else(|_| "?".to_string(), |text| text.to_string());
        Err(exception(self.dict.py(), &Error::parameter(name, value, expected)))
    }

    /// One field: `read` makes its value of what Python has, `tell` the other way.
    fn field<T>(
        &self,
        name: &'static str,
        field: &mut T,
        expected: &str,
        read: impl Fn(&Bound<'py, PyAny>) -> Option<T>,
        tell: impl Fn(&T) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        // C has a name of its own, in formulas and everywhere else.
        let name = if name == "c" { "C" } else { name };
        if !self.reads {
            return self.dict.set_item(name, tell(field)?);
        }
        if let Some(value) = self.dict.get_item(name)? {
            match read(&value) {
                Some(found) => *field = found,
                None => return self.refuse(name, &value, expected),
            }
        }
        Ok(())
    }

    fn python<T: IntoPyObject<'py>>(&self, value: T) -> PyResult<Bound<'py, PyAny>> {
        value.into_bound_py_any(self.dict.py())
    }

    fn number(&self, name: &'static str, field: &mut f64) -> PyResult<()> {
        self.field(name, field, "a number", real, |value| self.python(*value))
    }

    fn flag(&self, name: &'static str, field: &mut bool) -> PyResult<()> {
        self.field(name, field, "True or False", truth, |value| self.python(*value))
    }

    fn whole<T: TryFrom<u64> + TryInto<u64> + Copy>(&self, name: &'static str, field: &mut T) -> PyResult<()> {
        let read = |value: &Bound<'py, PyAny>| whole(value).and_then(|n| T::try_from(n).ok());
        self.field(name, field, "a whole number of at least 0", read, |value| self.python((*value).try_into().ok()))
    }

    /// A whole number, or None for no limit.
    fn limit<T: TryFrom<u64> + TryInto<u64> + Copy>(&self, name: &'static str, field: &mut Option<T>) -> PyResult<()> {
        let read = |value: &Bound<'py, PyAny>| match value.is_none() {
            true => Some(None),
            false => whole(value).and_then(|n| T::try_from(n).ok()).map(Some),
        };
        let tell = |value: &Option<T>| self.python(value.and_then(|value| value.try_into().ok()));
        self.field(name, field, "a whole number, or None", read, tell)
    }

    /// One of several words.
    fn word<T: Serialize + DeserializeOwned>(&self, name: &'static str, field: &mut T) -> PyResult<()> {
        let expected = known_words::<T>();
        let read = |value: &Bound<'py, PyAny>| {
            let word: String = value.extract().ok()?;
            serde_json::from_value(Value::String(word)).ok()
        };
        let tell = |value: &T| match serde_json::to_value(value) {
            Ok(Value::String(word)) => self.python(word),
            _ => Err(PyTypeError::new_err(format!("{name} is no word"))),
        };
        self.field(name, field, &expected, read, tell)
    }

    /// A loss, of those that a machine has.
    fn loss_among(&self, name: &'static str, field: &mut Loss, known: &'static [Loss]) -> PyResult<()> {
        let read = |value: &Bound<'py, PyAny>| loss_of(&value.extract::<String>().ok()?, known);
        self.field(name, field, &told(known), read, |loss| self.python(loss.name()))
    }

    fn loss_of_order(&self, name: &'static str, field: &mut Loss) -> PyResult<()> {
        self.loss_among(name, field, &Loss::ALL)
    }

    fn loss_of_classes(&self, name: &'static str, field: &mut Loss) -> PyResult<()> {
        self.loss_among(name, field, &Loss::OF_CLASSES)
    }

    fn loss_of_values(&self, name: &'static str, field: &mut Loss) -> PyResult<()> {
        self.loss_among(name, field, &Loss::OF_TUBES)
    }

    fn kernel(&self, _: &str, kernel: &mut Kernel) -> PyResult<()> {
        self.of_kernel(kernel)
    }

    /// The kernel, whose parameters are fields of their own.
    pub(crate) fn of_kernel(&self, kernel: &mut Kernel) -> PyResult<()> {
        let mut name = kernel.name().to_string();
        let (mut gamma, mut degree, mut coef0) = (Gamma::Scale, 3u32, 0.0);
        let words = "linear, poly, rbf or sigmoid";
        let read = |value: &Bound<'py, PyAny>| {
            value.extract::<String>().ok().filter(|name| ["linear", "poly", "rbf", "sigmoid"].contains(&name.as_str()))
        };
        self.field("kernel", &mut name, words, read, |name| self.python(name.as_str()))?;
        let read = |value: &Bound<'py, PyAny>| match value.extract::<String>() {
            Ok(word) => (word == "scale").then_some(Gamma::Scale),
            Err(_) => real(value).map(Gamma::Value),
        };
        let tell = |gamma: &Gamma| match gamma {
            Gamma::Scale => self.python("scale"),
            Gamma::Value(value) => self.python(*value),
        };
        self.field("gamma", &mut gamma, "a number above 0, or 'scale'", read, tell)?;
        self.whole("degree", &mut degree)?;
        self.number("coef0", &mut coef0)?;
        *kernel = match name.as_str() {
            "poly" => Kernel::Poly { gamma, coef0, degree },
            "rbf" => Kernel::Rbf { gamma },
            "sigmoid" => Kernel::Sigmoid { gamma, coef0 },
            _ => Kernel::Linear,
        };
        Ok(())
    }

    fn approx(&self, name: &'static str, approx: &mut Option<Approx>) -> PyResult<()> {
        let read = |value: &Bound<'py, PyAny>| match value.is_none() {
            true => Some(None),
            false => value.extract::<String>().ok().and_then(|text| text.parse().ok()).map(Some),
        };
        let tell = |approx: &Option<Approx>| self.python(approx.map(|approx| approx.to_string()));
        self.field(name, approx, "'nystrom:M' with M from 1 to 20000, or None", read, tell)
    }

    fn effort(&self, _: &str, effort: &mut Effort) -> PyResult<()> {
        self.number("tol", &mut effort.tol)?;
        self.limit("max_iter", &mut effort.max_iter)?;
        let read = |value: &Bound<'py, PyAny>| match value.is_none() {
            true => Some(None),
            false => real(value).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).map(Some),
        };
        let tell = |limit: &Option<Duration>| self.python(limit.map(|limit| limit.as_secs_f64()));
        self.field("time_limit", &mut effort.time_limit, "seconds, or None", read, tell)?;
        let mut cache_mb = effort.cache_mb as u64;
        self.whole("cache_mb", &mut cache_mb)?;
        effort.cache_mb = usize::try_from(cache_mb).unwrap_or(usize::MAX);
        // Only checked: threads are those that the fit is run on.
        let mut threads = effort.threads as u64;
        let read = |value: &Bound<'py, PyAny>| whole(value).filter(|&threads| threads <= Effort::MOST_THREADS as u64);
        let expected = format!("a whole number from 0 (all) to {}", Effort::MOST_THREADS);
        self.field("threads", &mut threads, &expected, read, |value| self.python(*value))?;
        self.whole("seed", &mut effort.seed)
    }

    fn class_weight(&self, name: &'static str, weights: &mut ClassWeights) -> PyResult<()> {
        let read = |value: &Bound<'py, PyAny>| {
            if value.is_none() {
                return Some(ClassWeights::Equal);
            }
            if let Ok(word) = value.extract::<String>() {
                return (word == "balanced").then_some(ClassWeights::Balanced);
            }
            value.extract().ok().map(ClassWeights::Named)
        };
        let tell = |weights: &ClassWeights| match weights {
            ClassWeights::Equal => self.python(None::<f64>),
            ClassWeights::Balanced => self.python("balanced"),
            ClassWeights::Named(named) => self.python(named.clone()),
        };
        self.field(name, weights, "None, 'balanced' or a weight for each class", read, tell)
    }
}

/// A float, or anything that says it is one; no truth values and no text.
fn real(value: &Bound<'_, PyAny>) -> Option<f64> {
    if value.is_instance_of::<PyBool>() || value.is_instance_of::<PyString>() {
        return None;
    }
    match value.cast::<PyFloat>() {
        Ok(number) => Some(number.value()),
        Err(_) => value.extract().ok(),
    }
}

/// A whole number, also of numpy or as a float without a fraction.
fn whole(value: &Bound<'_, PyAny>) -> Option<u64> {
    if value.is_instance_of::<PyBool>() {
        return None;
    }
    value.extract().ok().or_else(|| {
        let number = real(value)?;
        (number >= 0.0 && number.fract() == 0.0 && number <= 2f64.powi(53)).then_some(number as u64)
    })
}

fn truth(value: &Bound<'_, PyAny>) -> Option<bool> {
    value.extract::<bool>().ok()
}

/// The loss of that name among those that a machine has.
pub(crate) fn loss_of(name: &str, known: &[Loss]) -> Option<Loss> {
    known.iter().copied().find(|loss| loss.name() == name)
}

/// The names of losses.
pub(crate) fn told(known: &[Loss]) -> String {
    known.iter().map(|loss| format!("'{}'", loss.name())).collect::<Vec<_>>().join(", ")
}

/// The words that a type knows, as its reader lists them.
fn known_words<T: DeserializeOwned>() -> String {
    let refusal = serde_json::from_value::<T>(Value::String(String::new())).err().map(|e| e.to_string());
    let words = refusal.as_deref().and_then(|text| text.split("expected ").nth(1)).unwrap_or("another word");
    words.trim_start_matches("one of ").replace('`', "'")
}

/// A machine whose parameters have names.
pub(crate) trait Named: Sized {
    /// The machine with its default parameters.
    fn usual() -> Self;
    /// Goes through its fields.
    fn fields(&mut self, fields: &Fields<'_>) -> PyResult<()>;

    /// The machine with the parameters of a dictionary.
    fn read(params: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut machine = Self::usual();
        machine.fields(&Fields::of(params))?;
        Ok(machine)
    }

    /// Its parameters as they are by default.
    fn told(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        Self::usual().fields(&Fields { dict: dict.clone(), reads: false })?;
        Ok(dict)
    }
}

/// Machines with their fields, each by the method of [`Fields`] that reads it. Names are those of the fields, but for `c`.
macro_rules! named {
    ($($machine:ty = $usual:expr => { $($how:ident $field:ident),* $(,)? })*) => {
        $(impl Named for $machine {
            fn usual() -> Self {
                $usual
            }
            fn fields(&mut self, fields: &Fields<'_>) -> PyResult<()> {
                $(fields.$how(stringify!($field), &mut self.$field)?;)*
                Ok(())
            }
        })*
    };
}

named! {
    RankSvm = RankSvm::new() => {
        number c, loss_of_order loss, kernel kernel, approx approx, word balance,
        limit pairs_per_item, word scale, effort effort,
    }
    SwapSvm = SwapSvm::new() => {
        number c, flag normalise, word balance, kernel kernel, word scale, effort effort,
    }
    Ridge = Ridge::new() => { number c, word scale, effort effort }
    RankingVectorMachine = RankingVectorMachine::new() => {
        number c, word coefficients, kernel kernel, word balance, word scale, effort effort,
    }
    OneNormRankSvm = OneNormRankSvm::new() => {
        number c, kernel kernel, word balance, word scale, effort effort,
    }
    OnlineSvm = OnlineSvm::new() => {
        word task, word batch, word schedule, flag average, number c,
        word balance, word scale, limit steps, limit epochs, flag certify,
        effort effort,
    }
    OrdinalSvm = OrdinalSvm::new() => {
        number c, kernel kernel, loss_of_classes loss, word constraints, limit bins,
        word scale, effort effort,
    }
    SvmClassifier = SvmClassifier::new() => {
        number c, kernel kernel, approx approx, loss_of_classes loss, word classes, class_weight class_weight,
        flag probabilities, word scale, effort effort,
    }
    SvmRegressor = SvmRegressor::new() => {
        number c, kernel kernel, approx approx, loss_of_values loss, number epsilon, word scale,
        effort effort,
    }
    CompareSvm = CompareSvm::new() => {
        number c, kernel kernel, approx approx, loss_of_order loss, word threshold,
        word tie_region, word tie_band, number tie_weight, word balance,
        flag calibrate, word scale, effort effort,
    }
    CompareRank = CompareRank::new(Variant::Rank) => {
        word variant, number c, kernel kernel, approx approx, loss_of_order loss, number tie_weight,
        flag calibrate, word scale, effort effort,
    }
    CompareLp = CompareLp::new() => {
        number c, kernel kernel, number tie_weight, word scale, effort effort,
    }
    Davidson = Davidson::new() => {
        number c, kernel kernel, approx approx, word tie_band, word scale, effort effort,
    }
}

/// The parameters of every machine as they are by default, by the name of its method.
#[pyfunction]
pub(crate) fn defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("rank", RankSvm::told(py)?)?;
    all.set_item("swap", SwapSvm::told(py)?)?;
    all.set_item("ridge", Ridge::told(py)?)?;
    all.set_item("rvm", RankingVectorMachine::told(py)?)?;
    all.set_item("rank-l1", OneNormRankSvm::told(py)?)?;
    all.set_item("online", OnlineSvm::told(py)?)?;
    all.set_item("ordinal", OrdinalSvm::told(py)?)?;
    all.set_item("classify", SvmClassifier::told(py)?)?;
    all.set_item("regress", SvmRegressor::told(py)?)?;
    all.set_item("compare", CompareSvm::told(py)?)?;
    all.set_item("compare-rank", CompareRank::told(py)?)?;
    all.set_item("compare-lp", CompareLp::told(py)?)?;
    all.set_item("davidson", Davidson::told(py)?)?;
    Ok(all)
}
