//! A model in the words of other programs: ONNX, search engines, LIBLINEAR, LIBSVM, SQL, JSON.
//!
//! ```
//! use rankwise::data::simulate::{Norm, Simulation};
//! use rankwise::export::{ExportOptions, Target, export};
//! use rankwise::CompareSvm;
//!
//! let pairs = Simulation { norm: Norm::L2, n_pairs: 100, ties: 0.5, noise: 0.25, seed: 1 }.draw()?;
//! let model = CompareSvm::new().fit(&pairs)?.model;
//! let sql = export(&model, Target::Sql, &ExportOptions::default())?;
//! assert!(String::from_utf8_lossy(&sql.bytes).starts_with("CASE WHEN ABS("));
//! # Ok::<(), rankwise::Error>(())
//! ```

mod json;
mod liblinear;
mod libsvm;
mod linear;
mod onnx;
mod search_engine;
mod sql;

use std::path::Path;

use crate::error::{Error, Result};
use crate::model::{LearntFrom, Model};

/// Who is to read the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Target {
    /// ONNX, its core operators, numbers in f64: every model, to the last few digits.
    Onnx,
    /// ONNX with the operators of `ai.onnx.ml`, numbers in f32.
    OnnxMl,
    /// A `LinearModel` of Solr.
    Solr,
    /// A `model/linear` of the learning-to-rank plugin of Elasticsearch.
    Elasticsearch,
    /// The same for OpenSearch.
    Opensearch,
    /// The text of a LIBLINEAR model.
    Liblinear,
    /// The text of a LIBSVM model.
    Libsvm,
    /// An expression for a database.
    Sql,
    /// Weights and rules of a linear model as plain JSON.
    Json,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 9] = [
        Target::Onnx,
        Target::OnnxMl,
        Target::Solr,
        Target::Elasticsearch,
        Target::Opensearch,
        Target::Liblinear,
        Target::Libsvm,
        Target::Sql,
        Target::Json,
    ];

    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            Target::Onnx => "onnx",
            Target::OnnxMl => "onnx-ml",
            Target::Solr => "solr",
            Target::Elasticsearch => "elasticsearch",
            Target::Opensearch => "opensearch",
            Target::Liblinear => "liblinear",
            Target::Libsvm => "libsvm",
            Target::Sql => "sql",
            Target::Json => "json",
        }
    }

    /// What the ending of a file's name tells, where it does: `.onnx`, `.sql`, `.json`.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "onnx" => Some(Target::Onnx),
            "sql" => Some(Target::Sql),
            "json" => Some(Target::Json),
            _ => None,
        }
    }

    /// Whether what is written is text.
    pub fn is_text(self) -> bool {
        !matches!(self, Target::Onnx | Target::OnnxMl)
    }
}

impl std::str::FromStr for Target {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Target::ALL.into_iter().find(|target| target.name() == name);
        found.ok_or_else(|| Error::parameter("to", name, format!("one of {}", names(&Target::ALL.map(Target::name)))))
    }
}

/// How a database wants names and words quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dialect {
    /// `"name"`, as the standard says: PostgreSQL, SQLite, DuckDB, Oracle, SQL Server, Snowflake.
    #[default]
    Ansi,
    /// `` `name` ``: MySQL and MariaDB.
    Mysql,
    /// `` `name` `` with backslashes: BigQuery.
    Bigquery,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 3] = [Dialect::Ansi, Dialect::Mysql, Dialect::Bigquery];

    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Ansi => "ansi",
            Dialect::Mysql => "mysql",
            Dialect::Bigquery => "bigquery",
        }
    }
}

impl std::str::FromStr for Dialect {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Dialect::ALL.into_iter().find(|dialect| dialect.name() == name);
        found.ok_or_else(|| {
            Error::parameter("dialect", name, format!("one of {}", names(&Dialect::ALL.map(Dialect::name))))
        })
    }
}

fn names(all: &[&str]) -> String {
    all.join(", ")
}

/// What there is to choose; what does not apply to a target is refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ExportOptions {
    /// What a search engine calls the model, or the graph of ONNX; `None`: `rankwise`.
    pub name: Option<String>,
    /// The feature store of Solr; `None`: Solr's own default.
    pub store: Option<String>,
    /// How a database wants names quoted; `None`: as the standard says.
    pub dialect: Option<Dialect>,
    /// Scores of items instead of what follows from them: outcomes of pairs, classes, grades. ONNX and SQL.
    pub scores: bool,
}

impl ExportOptions {
    /// Nothing chosen.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`ExportOptions::name`].
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets [`ExportOptions::store`].
    pub fn store(mut self, store: impl Into<String>) -> Self {
        self.store = Some(store.into());
        self
    }

    /// Sets [`ExportOptions::dialect`].
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Sets [`ExportOptions::scores`].
    pub fn scores(mut self, scores: bool) -> Self {
        self.scores = scores;
        self
    }

    /// Refuses what does not apply.
    fn check(&self, to: Target) -> Result<()> {
        use Target::{Elasticsearch, Onnx, OnnxMl, Opensearch, Solr, Sql};
        let given = [
            ("name", self.name.is_some(), matches!(to, Onnx | OnnxMl | Solr | Elasticsearch | Opensearch)),
            ("store", self.store.is_some(), to == Solr),
            ("dialect", self.dialect.is_some(), to == Sql),
            ("scores", self.scores, matches!(to, Onnx | OnnxMl | Sql)),
        ];
        match given.iter().find(|(_, is_given, applies)| *is_given && !applies) {
            Some((name, ..)) => Err(Error::Unsupported {
                problem: format!("--{name} does not apply to {}", to.name()),
                remedy: format!("leave out --{name}"),
            }),
            None => {
                let names = [("name", &self.name), ("store", &self.store)];
                let is_empty = |name: &Option<String>| name.as_ref().is_some_and(|name| name.trim().is_empty());
                match names.into_iter().find(|(_, name)| is_empty(name)) {
                    Some((name, _)) => Err(Error::parameter(name, "\"\"", "a name that is not empty")),
                    None => Ok(()),
                }
            }
        }
    }

    fn name_or_default(&self) -> &str {
        self.name.as_deref().unwrap_or("rankwise")
    }
}

/// A model as another program reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// What of the model the other program does not know.
    pub notes: Vec<String>,
}

/// Writes a model for another program. Models that it cannot express are refused, with what to do instead.
pub fn export(model: &Model, to: Target, options: &ExportOptions) -> Result<Exported> {
    options.check(to)?;
    model.check().map_err(|problem| Error::Unsupported {
        problem: format!("the model contradicts itself: {problem}"),
        remedy: "train it again".into(),
    })?;
    let bytes = match to {
        Target::Onnx | Target::OnnxMl => onnx::write(model, to == Target::OnnxMl, options)?,
        Target::Solr => search_engine::solr(model, options)?.into_bytes(),
        Target::Elasticsearch | Target::Opensearch => search_engine::plugin(model, to, options)?.into_bytes(),
        Target::Liblinear => liblinear::write(model)?.into_bytes(),
        Target::Libsvm => libsvm::write(model)?.into_bytes(),
        Target::Sql => sql::write(model, options)?.into_bytes(),
        Target::Json => json::write(model)?.into_bytes(),
    };
    Ok(Exported { bytes, notes: notes(model, to) })
}

/// What a model says of what it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A score of an item, or its value.
    Score,
    /// The outcome of a pair.
    Outcome,
    /// The class of an item.
    Class,
    /// The grade of an item.
    Grade,
}

impl Kind {
    fn of(model: &Model) -> Self {
        if model.classes.is_some() {
            Kind::Class
        } else if model.grades.is_some() {
            Kind::Grade
        } else if model.training.learnt_from != LearntFrom::Items {
            Kind::Outcome
        } else {
            Kind::Score
        }
    }
}

/// What gets lost.
fn notes(model: &Model, to: Target) -> Vec<String> {
    let mut notes = Vec::new();
    let is_engine = matches!(to, Target::Solr | Target::Elasticsearch | Target::Opensearch);
    let holds_scores = is_engine || matches!(to, Target::Liblinear | Target::Libsvm);
    match Kind::of(model) {
        Kind::Outcome if holds_scores && model.band.is_some() => {
            notes.push(format!(
                "{} gives scores of items alone: which differences are ties depends on the pair, and stays here",
                to.name()
            ));
        }
        Kind::Outcome if holds_scores => notes.push(format!(
            "{} gives scores of items alone: a pair whose scores differ by at most {} is a tie",
            to.name(),
            model.threshold
        )),
        Kind::Grade if holds_scores => {
            notes.push(format!("{} gives scores alone, not grades: the thresholds between them stay here", to.name()));
        }
        Kind::Class if to == Target::Libsvm => {
            let n_classes = model.classes.as_ref().map_or(0, Vec::len);
            if n_classes > 2 {
                notes.push("of classes with as many votes libsvm takes the first, rankwise the one with the larger sum of scores".into());
            } else if model.class_rule.as_ref().is_some_and(|rule| rule.sigmoids.is_some()) {
                notes.push("with -b 1 libsvm decides by probabilities, as rankwise does; without, by scores".into());
            }
        }
        _ => {}
    }
    let has_constant = || linear::Linear::single(model, to).is_ok_and(|(_, bias)| bias != 0.0);
    if is_engine && has_constant() {
        notes.push(format!("{} knows no constant: differences of scores are the same, scores are not", to.name()));
    }
    if model.scorer.feature_names.is_none() && (is_engine || matches!(to, Target::Sql | Target::Json)) {
        notes.push("the model knows no names of features: they are called f1, f2, …".into());
    }
    notes
}

/// The name of the method, for messages.
fn method_of(model: &Model) -> &'static str {
    model.training.method.name()
}

/// Names of features, `f1` and so on where there are none; equal names are refused.
fn feature_names(model: &Model) -> Result<Vec<String>> {
    let Some(names) = &model.scorer.feature_names else {
        return Ok((1..=model.scorer.n_features).map(|at| format!("f{at}")).collect());
    };
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::Unsupported {
            problem: format!("two features of the model are called {:?}", pair[0]),
            remedy: "give every feature a name of its own in the data, and train again".into(),
        }),
        None => Ok(names.clone()),
    }
}

/// The shortest text that reads back as the same number.
fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".into()
    } else if (1e-5..1e16).contains(&size) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}
