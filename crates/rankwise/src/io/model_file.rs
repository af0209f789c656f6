//! The model file: a fitted model as safetensors, tensors for numbers and metadata for the rest.
//!
//! | metadata | |
//! |---|---|
//! | `format` | `rankwise/1` |
//! | `method`, `kernel`, `training` | the method's name; the kernel and the training summary as JSON, with the search that chose the parameters as its `tuning` |
//! | `n_features`, `feature_names`, `are_indicators` | how an item is read; names as JSON, absent without names |
//! | `threshold`, `beta`, `no_tie_region` | τ; β, absent for rankers; `true` or `false` |
//! | `bias` | what the model adds to all scores; absent where that is 0 |
//! | `chances`, `band` | how margins become probabilities; the base of a tie band and the names of the comparison's columns: JSON, absent without them |
//! | `classes`, `class_rule`, `state` | the classes of a classifier; how its machines are put together and become probabilities; steps, spread and last bias of random steps; as JSON, absent elsewhere |
//! | `sha256` | over all of the other metadata and all tensors |
//!
//! | tensor | type and shape | |
//! |---|---|---|
//! | `weights` | f64 \[features\] | linear models |
//! | `coefficients` | f64 \[support items\] | kernel models, with either |
//! | `support` | f32 or f64 \[support items, features\] | dense support items, or |
//! | `support_starts`, `support_columns`, `support_values` | u64 \[support items + 1\], u32 \[stored\], f32 or f64 \[stored\] | sparse ones |
//! | `machine_coefficients`, `machine_biases` | f64 \[machines, features or support items\], f64 \[machines\] | classifiers of several machines; with a kernel, over support items |
//! | `landmark_factor` | f64 \[landmarks, landmarks\] | models on landmarks: these are the support items, `weights` has theirs behind those of the features |
//! | `band_mean`, `band_difference`, `band_context` | f64 \[weights\], f64 \[weights\], f64 \[columns\] | with a tie band |
//! | `band_shift`, `band_divisor` | f64 \[columns\] | with scaled columns of the comparison |
//! | `grades`, `thresholds`, `label_cuts` | f64 \[grades\], f64 \[grades − 1\], f64 \[grades − 1\] | machines of grades: labels, thresholds of scores, and cuts of labels that were put into bins |
//! | `last_weights` | f64 \[features\] | where random steps stopped |
//! | `scaler_shift`, `scaler_divisor` | f64 \[features\] | with scaling |
//!
//! Reading trusts nothing: see [`read_model`].

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use safetensors::Dtype;
use serde::de::DeserializeOwned;

use super::tensor_file::{Fault, Tensor, TensorFile, header_length, to_json};
use super::write_atomically;
use crate::data::{Features, Scaler, Values};
use crate::error::{self, Error};
use crate::model::{Basis, GradeRule, Landmarks, Model, OnlineState, ScoreFunction, Scorer, TieBand, Training};

const FORMAT: &str = "rankwise/1";
/// Columns of sparse rows are numbered in 32 bits.
const MAX_FEATURES: u64 = 1 << 32;

/// Writes a model file, complete or not at all. The same model gives the same bytes.
pub fn write_model(path: &Path, model: &Model) -> error::Result<()> {
    let bytes = model_to_bytes(model)?;
    write_atomically(path, |out| out.write_all(&bytes))
}

/// Reads a model file.
///
/// A file that is not a model, of an unknown version, truncated, changed since it was written, or that contradicts
/// itself is [`Error::ModelFile`]; memory is bounded by a small multiple of the file's size whatever the file claims.
pub fn read_model(path: &Path) -> error::Result<Model> {
    let failed = |action| move |source| Error::Io { path: path.to_path_buf(), action, source };
    let mut file = File::open(path).map_err(failed("open"))?;
    let mut bytes = Vec::new();
    // A look at the beginning spares reading all of a huge file that is something else.
    file.by_ref().take(9).read_to_end(&mut bytes).map_err(failed("read"))?;
    header_length(&bytes).map_err(|fault| refusal(path, fault))?;
    file.read_to_end(&mut bytes).map_err(failed("read"))?;
    model_from_bytes(path, &bytes)
}

/// The bytes of a model file. The same model gives the same bytes.
pub fn model_to_bytes(model: &Model) -> error::Result<Vec<u8>> {
    encode(model).map_err(|problem| Error::Numeric {
        problem: format!("the model cannot be saved: {problem}"),
        remedy: "train it again; scaling the features or a smaller C keeps numbers in range".into(),
    })
}

/// Reads the bytes of a model file as [`read_model`] does; `path` is for messages only.
pub fn model_from_bytes(path: &Path, bytes: &[u8]) -> error::Result<Model> {
    decode(bytes).map_err(|fault| refusal(path, fault))
}

fn refusal(path: &Path, fault: Fault) -> Error {
    Error::ModelFile { path: path.to_path_buf(), problem: fault.problem, remedy: fault.remedy.into() }
}

fn encode(model: &Model) -> Result<Vec<u8>, String> {
    model.check()?;
    let scorer = &model.scorer;
    let mut file = TensorFile::default();
    let mut text = |name: &str, text: String| file.texts.insert(name.into(), text);
    text("format", FORMAT.into());
    text("method", model.training.method.name().into());
    text("kernel", to_json(&scorer.function.kernel())?);
    text("training", to_json(&model.training)?);
    text("n_features", scorer.n_features.to_string());
    text("are_indicators", scorer.are_indicators.to_string());
    text("no_tie_region", model.no_tie_region.to_string());
    // Debug is the shortest form that reads back exactly, with an exponent where Display would write 300 zeros.
    text("threshold", format!("{:?}", model.threshold));
    if let Some(beta) = model.beta {
        text("beta", format!("{beta:?}"));
    }
    if let ScoreFunction::Linear { bias, .. } | ScoreFunction::Kernel { bias, .. } = scorer.function
        && bias != 0.0
    {
        text("bias", format!("{bias:?}"));
    }
    if let Some(names) = &scorer.feature_names {
        text("feature_names", to_json(names)?);
    }
    if let Some(chances) = &model.chances {
        text("chances", to_json(chances)?);
    }
    if let Some(classes) = &model.classes {
        text("classes", to_json(classes)?);
    }
    if let Some(rule) = &model.class_rule {
        text("class_rule", to_json(rule)?);
    }
    if let Some(OnlineState { steps, spread, bias, .. }) = model.state {
        text("state", to_json(&StateText { steps, spread, bias })?);
    }
    if let Some(band) = &model.band {
        text("band", to_json(&BandText { base: band.base, context: band.context_names.clone() })?);
    }

    let mut tensor = |name: &str, shape: Vec<usize>, (dtype, data): (Dtype, Vec<u8>)| {
        file.tensors.insert(name.into(), Tensor { dtype, shape, data: Cow::Owned(data) })
    };
    if let Some(scaler) = &scorer.scaler {
        tensor("scaler_shift", vec![scaler.shift.len()], f64_bytes(&scaler.shift));
        tensor("scaler_divisor", vec![scaler.divisor.len()], f64_bytes(&scaler.divisor));
    }
    if let Some(band) = &model.band {
        tensor("band_mean", vec![band.mean.len()], f64_bytes(&band.mean));
        tensor("band_difference", vec![band.difference.len()], f64_bytes(&band.difference));
        tensor("band_context", vec![band.context.len()], f64_bytes(&band.context));
        if let Some(scaler) = &band.context_scaler {
            tensor("band_shift", vec![scaler.shift.len()], f64_bytes(&scaler.shift));
            tensor("band_divisor", vec![scaler.divisor.len()], f64_bytes(&scaler.divisor));
        }
    }
    if let Some(rule) = &model.grades {
        tensor("grades", vec![rule.grades.len()], f64_bytes(&rule.grades));
        tensor("thresholds", vec![rule.thresholds.len()], f64_bytes(&rule.thresholds));
        if let Some(cuts) = &rule.cuts {
            tensor("label_cuts", vec![cuts.len()], f64_bytes(cuts));
        }
    }
    if let Some(state) = &model.state {
        tensor("last_weights", vec![state.weights.len()], f64_bytes(&state.weights));
    }
    let support = match &scorer.function {
        ScoreFunction::Linear { weights, .. } => {
            tensor("weights", vec![weights.len()], f64_bytes(weights));
            None
        }
        ScoreFunction::Kernel { support, coefficients, .. } => {
            tensor("coefficients", vec![coefficients.len()], f64_bytes(coefficients));
            Some(support)
        }
        ScoreFunction::Several { basis, coefficients, biases } => {
            let each = coefficients.len() / biases.len().max(1);
            tensor("machine_coefficients", vec![biases.len(), each], f64_bytes(coefficients));
            tensor("machine_biases", vec![biases.len()], f64_bytes(biases));
            match basis {
                Basis::Features => None,
                Basis::Kernel { support, .. } => Some(support),
            }
        }
        ScoreFunction::Landmarks { map, weights } => {
            tensor("weights", vec![weights.len()], f64_bytes(weights));
            tensor("landmark_factor", vec![map.len(), map.len()], f64_bytes(&map.factor));
            Some(&map.items)
        }
    };
    if let Some(support) = support {
        let values = match support.values() {
            Values::F32(v) => (Dtype::F32, v.iter().flat_map(|v| v.to_le_bytes()).collect()),
            Values::F64(v) => f64_bytes(v),
        };
        match support.sparse_rows() {
            None => {
                tensor("support", vec![support.n_rows(), support.n_cols()], values);
            }
            Some((starts, columns)) => {
                let start_bytes = starts.iter().flat_map(|&s| (s as u64).to_le_bytes()).collect();
                let column_bytes = columns.iter().flat_map(|c| c.to_le_bytes()).collect();
                tensor("support_starts", vec![starts.len()], (Dtype::U64, start_bytes));
                tensor("support_columns", vec![columns.len()], (Dtype::U32, column_bytes));
                tensor("support_values", vec![columns.len()], values);
            }
        }
    }
    file.to_bytes()
}

/// What of a tie band is no tensor.
#[derive(serde::Serialize, serde::Deserialize)]
struct BandText {
    base: f64,
    context: Vec<String>,
}

/// What of the state of random steps is no tensor.
#[derive(serde::Serialize, serde::Deserialize)]
struct StateText {
    steps: u64,
    spread: f64,
    bias: f64,
}

fn f64_bytes(values: &[f64]) -> (Dtype, Vec<u8>) {
    (Dtype::F64, values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

fn decode(bytes: &[u8]) -> Result<Model, Fault> {
    let mut file = TensorFile::from_bytes(bytes)?;
    // The version first: a newer one may compute its checksum in another way.
    match file.texts.get("format").map(String::as_str) {
        Some(FORMAT) => {}
        Some(other) if other.starts_with("rankwise/") => {
            return Err(Fault::newer(format!("its format is {other:?}, this version of rankwise reads {FORMAT:?}")));
        }
        Some(other) => return Err(Fault::foreign(format!("its format is {other:?}, expected {FORMAT:?}"))),
        None => return Err(Fault::foreign("it is a safetensors file without a format entry, no model of rankwise")),
    }
    file.verify()?;
    let mut entries = Entries(file);
    entries.text("format")?;

    let training: Training = entries.json("training")?;
    let method = entries.text("method")?;
    if method != training.method.name() {
        let trained = training.method.name();
        return Err(Fault::damaged(format!("its method is {method:?}, but it was trained by {trained:?}")));
    }
    let n_features = entries.parsed::<u64>("n_features", "a number")?;
    if n_features > MAX_FEATURES {
        return Err(Fault::damaged(format!("it claims {n_features} features, {MAX_FEATURES} are possible")));
    }
    let n_features = usize::try_from(n_features)
        .map_err(|_| Fault::damaged(format!("its {n_features} features do not fit into memory")))?;
    let scaler = if entries.has_tensor("scaler_shift") || entries.has_tensor("scaler_divisor") {
        Some(Scaler { shift: entries.f64s("scaler_shift")?, divisor: entries.f64s("scaler_divisor")? })
    } else {
        None
    };
    let function = if entries.has_tensor("landmark_factor") {
        let kernel = entries.json("kernel")?;
        let items = entries.support(n_features)?;
        let factor = entries.f64s_of("landmark_factor", 2)?;
        let map = Landmarks { kernel, items, factor };
        ScoreFunction::Landmarks { map, weights: entries.f64s("weights")? }
    } else if entries.has_tensor("machine_biases") {
        entries.several(n_features)?
    } else if entries.has_tensor("weights") {
        let function = ScoreFunction::Linear { weights: entries.f64s("weights")?, bias: entries.bias()? };
        if entries.json_like("kernel", function.kernel())? != function.kernel() {
            return Err(Fault::damaged("it has the weights of a linear model, but another kernel"));
        }
        function
    } else {
        ScoreFunction::Kernel {
            kernel: entries.json("kernel")?,
            support: entries.support(n_features)?,
            coefficients: entries.f64s("coefficients")?,
            bias: entries.bias()?,
        }
    };
    let band = if entries.has_text("band") { Some(entries.band()?) } else { None };
    let state = if entries.has_text("state") { Some(entries.state()?) } else { None };
    let grades = if entries.has_tensor("grades") { Some(entries.grades()?) } else { None };
    let model = Model {
        band,
        state,
        grades,
        classes: if entries.has_text("classes") { Some(entries.json("classes")?) } else { None },
        class_rule: if entries.has_text("class_rule") { Some(entries.json("class_rule")?) } else { None },
        chances: if entries.has_text("chances") { Some(entries.json("chances")?) } else { None },
        threshold: entries.parsed("threshold", "a number")?,
        beta: if entries.has_text("beta") { Some(entries.parsed("beta", "a number")?) } else { None },
        no_tie_region: entries.parsed("no_tie_region", "true or false")?,
        scorer: Scorer {
            n_features,
            feature_names: if entries.has_text("feature_names") { Some(entries.json("feature_names")?) } else { None },
            are_indicators: entries.parsed("are_indicators", "true or false")?,
            scaler,
            function,
        },
        training,
    };
    entries.check_empty()?;
    model.check().map_err(Fault::damaged)?;
    Ok(model)
}

/// The entries of a file that were not used yet.
struct Entries<'a>(TensorFile<'a>);

impl Entries<'_> {
    fn grades(&mut self) -> Result<GradeRule, Fault> {
        let (grades, thresholds) = (self.f64s("grades")?, self.f64s("thresholds")?);
        let cuts = if self.has_tensor("label_cuts") { Some(self.f64s("label_cuts")?) } else { None };
        Ok(GradeRule { grades, thresholds, cuts })
    }

    fn has_text(&self, name: &str) -> bool {
        self.0.texts.contains_key(name)
    }

    fn has_tensor(&self, name: &str) -> bool {
        self.0.tensors.contains_key(name)
    }

    fn text(&mut self, name: &str) -> Result<String, Fault> {
        self.0.texts.remove(name).ok_or_else(|| Fault::damaged(format!("its entry {name:?} is missing")))
    }

    fn parsed<T: std::str::FromStr>(&mut self, name: &str, expected: &str) -> Result<T, Fault> {
        let text = self.text(name)?;
        text.parse().map_err(|_| Fault::damaged(format!("its entry {name:?} is {text:?}, expected {expected}")))
    }

    /// Words that this version does not know (a method, a kernel) are likely those of a later one.
    fn json<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, Fault> {
        let text = self.text(name)?;
        let unread = |error| Fault::newer(format!("its entry {name:?} cannot be read: {error}"));
        serde_json::from_str(&text).map_err(unread)
    }

    fn bias(&mut self) -> Result<f64, Fault> {
        if self.has_text("bias") { self.parsed("bias", "a number") } else { Ok(0.0) }
    }

    /// Several machines over features or support items.
    fn several(&mut self, n_features: usize) -> Result<ScoreFunction, Fault> {
        let kernel = self.json("kernel")?;
        let has_support = self.has_tensor("support") || self.has_tensor("support_starts");
        let basis = if has_support {
            Basis::Kernel { kernel, support: self.support(n_features)? }
        } else if kernel == Basis::Features.kernel() {
            Basis::Features
        } else {
            return Err(Fault::damaged("its machines have a kernel, but its tensor \"support\" is missing"));
        };
        let biases = self.f64s("machine_biases")?;
        let tensor = self.tensor("machine_coefficients", 2)?;
        of_type("machine_coefficients", &tensor, Dtype::F64)?;
        if tensor.shape[0] != biases.len() {
            return Err(Fault::damaged(format!("{} machines have {} biases", tensor.shape[0], biases.len())));
        }
        Ok(ScoreFunction::Several { basis, coefficients: numbers(&tensor.data, f64::from_le_bytes), biases })
    }

    fn state(&mut self) -> Result<OnlineState, Fault> {
        let StateText { steps, spread, bias } = self.json("state")?;
        Ok(OnlineState { steps, spread, bias, weights: self.f64s("last_weights")? })
    }

    /// [`Entries::json`] of the type of `_like`.
    fn json_like<T: DeserializeOwned>(&mut self, name: &str, _like: T) -> Result<T, Fault> {
        self.json(name)
    }

    fn tensor(&mut self, name: &str, n_dimensions: usize) -> Result<Tensor<'_>, Fault> {
        let tensor = self.0.tensors.remove(name);
        let tensor = tensor.ok_or_else(|| Fault::damaged(format!("its tensor {name:?} is missing")))?;
        if tensor.shape.len() == n_dimensions {
            Ok(tensor)
        } else {
            Err(Fault::damaged(format!(
                "its tensor {name:?} has {} dimensions, expected {n_dimensions}",
                tensor.shape.len()
            )))
        }
    }

    fn band(&mut self) -> Result<TieBand, Fault> {
        let BandText { base, context } = self.json("band")?;
        let context_scaler = if self.has_tensor("band_shift") || self.has_tensor("band_divisor") {
            Some(Scaler { shift: self.f64s("band_shift")?, divisor: self.f64s("band_divisor")? })
        } else {
            None
        };
        Ok(TieBand {
            base,
            mean: self.f64s("band_mean")?,
            difference: self.f64s("band_difference")?,
            context: self.f64s("band_context")?,
            context_names: context,
            context_scaler,
        })
    }

    fn f64s(&mut self, name: &str) -> Result<Vec<f64>, Fault> {
        self.f64s_of(name, 1)
    }

    fn f64s_of(&mut self, name: &str, n_dimensions: usize) -> Result<Vec<f64>, Fault> {
        let tensor = self.tensor(name, n_dimensions)?;
        of_type(name, &tensor, Dtype::F64)?;
        Ok(numbers(&tensor.data, f64::from_le_bytes))
    }

    fn values(&mut self, name: &str, n_dimensions: usize) -> Result<(Vec<usize>, Values), Fault> {
        let tensor = self.tensor(name, n_dimensions)?;
        let values = if tensor.dtype == Dtype::F32 {
            Values::F32(numbers(&tensor.data, f32::from_le_bytes).into())
        } else {
            of_type(name, &tensor, Dtype::F64)?;
            Values::F64(numbers(&tensor.data, f64::from_le_bytes).into())
        };
        Ok((tensor.shape, values))
    }

    fn support(&mut self, n_features: usize) -> Result<Features, Fault> {
        let refused = |error: Error| Fault::damaged(format!("its support items cannot be used: {error}"));
        if self.has_tensor("support") {
            let (shape, values) = self.values("support", 2)?;
            let support = Features::dense_stored(shape[1], values).map_err(refused)?;
            if support.n_rows() != shape[0] {
                return Err(Fault::damaged(format!("it claims {} support items without features", shape[0])));
            }
            return Ok(support);
        }
        let starts = self.tensor("support_starts", 1)?;
        of_type("support_starts", &starts, Dtype::U64)?;
        let starts = numbers(&starts.data, u64::from_le_bytes)
            .into_iter()
            .map(usize::try_from)
            .collect::<Result<Vec<usize>, _>>()
            .map_err(|_| Fault::damaged("its support items do not fit into memory"))?;
        let columns = self.tensor("support_columns", 1)?;
        of_type("support_columns", &columns, Dtype::U32)?;
        let columns = numbers(&columns.data, u32::from_le_bytes);
        let (_, values) = self.values("support_values", 1)?;
        Features::sparse_stored(n_features, starts, columns, values).map_err(refused)
    }

    /// What this version does not know might change the scores.
    fn check_empty(&self) -> Result<(), Fault> {
        match self.0.texts.keys().chain(self.0.tensors.keys()).next() {
            None => Ok(()),
            Some(name) => Err(Fault::newer(format!("this version of rankwise does not know its entry {name:?}"))),
        }
    }
}

fn of_type(name: &str, tensor: &Tensor<'_>, expected: Dtype) -> Result<(), Fault> {
    if tensor.dtype == expected {
        Ok(())
    } else {
        Err(Fault::damaged(format!("its tensor {name:?} has type {}, expected {expected}", tensor.dtype)))
    }
}

fn numbers<T, const N: usize>(data: &[u8], from: impl Fn([u8; N]) -> T) -> Vec<T> {
    data.as_chunks::<N>().0.iter().map(|chunk| from(*chunk)).collect()
}
