//! Values that are one of a few words, and small parsers.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use rankwise::data::simulate::Norm;
use rankwise::data::{Precision, Scale};
use rankwise::export::{Dialect, Target};
use rankwise::io::published::{LetorPart, PAIR_SOURCES, ReadPairs};
use rankwise::io::{Format, IndexBase, Queries};
use rankwise::kernel::Gamma;
use rankwise::metrics::{ClassMetric, PairMetric, ValueMetric};
use rankwise::model::{
    Balance, Batch, ClassScheme, ClassWeights, CoefficientSign, Constraints, Method, Schedule, Task, ThresholdRule,
    TieBandKind, TieRegion,
};
use rankwise::rating::{IntervalMethod, KFactor, RatingUnit};
use rankwise::{Approx, Effort, Loss};

/// A kernel's name; its parameters are options of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KernelName {
    /// a·b
    Linear,
    /// (γ·a·b + coef0)^degree
    Poly,
    /// exp(−γ‖a − b‖²)
    Rbf,
    /// tanh(γ·a·b + coef0)
    Sigmoid,
}

impl KernelName {
    /// All of them.
    pub(crate) const ALL: [KernelName; 4] =
        [KernelName::Linear, KernelName::Poly, KernelName::Rbf, KernelName::Sigmoid];

    /// The word on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            KernelName::Linear => "linear",
            KernelName::Poly => "poly",
            KernelName::Rbf => "rbf",
            KernelName::Sigmoid => "sigmoid",
        }
    }

    /// Whether it has a width γ.
    pub(crate) fn has_gamma(self) -> bool {
        self != KernelName::Linear
    }

    /// Whether it has a degree.
    pub(crate) fn has_degree(self) -> bool {
        self == KernelName::Poly
    }

    /// Whether it has a constant.
    pub(crate) fn has_coef0(self) -> bool {
        matches!(self, KernelName::Poly | KernelName::Sigmoid)
    }
}

/// A system of ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemName {
    /// Maximum likelihood with ties.
    Davidson,
    /// Elo.
    Elo,
    /// Glicko.
    Glicko,
    /// Glicko-2.
    Glicko2,
    /// TrueSkill.
    TrueSkill,
}

impl SystemName {
    /// All of them.
    pub(crate) const ALL: [SystemName; 5] =
        [SystemName::Davidson, SystemName::Elo, SystemName::Glicko, SystemName::Glicko2, SystemName::TrueSkill];

    /// The word on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SystemName::Davidson => "davidson",
            SystemName::Elo => "elo",
            SystemName::Glicko => "glicko",
            SystemName::Glicko2 => "glicko2",
            SystemName::TrueSkill => "trueskill",
        }
    }
}

/// A system by its name.
pub(super) fn system() -> impl TypedValueParser<Value = SystemName> {
    one_of(SystemName::ALL.map(|one| (one.name(), one)).to_vec())
}

/// A source of intervals by its name.
pub(super) fn interval_method() -> impl TypedValueParser<Value = IntervalMethod> {
    one_of(IntervalMethod::ALL.map(|one| (one.name(), one)).to_vec())
}

/// A program that reads models by its name.
pub(super) fn target() -> impl TypedValueParser<Value = Target> {
    one_of(Target::ALL.map(|one| (one.name(), one)).to_vec())
}

/// A dialect of SQL by its name.
pub(super) fn dialect() -> impl TypedValueParser<Value = Dialect> {
    one_of(Dialect::ALL.map(|one| (one.name(), one)).to_vec())
}

/// A unit by its name.
pub(super) fn unit() -> impl TypedValueParser<Value = RatingUnit> {
    one_of(RatingUnit::ALL.map(|one| (one.name(), one)).to_vec())
}

/// A number, or `fide`.
pub(super) fn k_factor(typed: &str) -> Result<KFactor, String> {
    match typed.parse() {
        Ok(k) => Ok(KFactor::Constant(k)),
        Err(_) if typed == "fide" => Ok(KFactor::Fide),
        Err(_) => Err("expected a number such as 32, or fide".into()),
    }
}

/// How wide intervals are, or none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Intervals {
    /// There are to be none.
    None,
    /// The share of cases in which they should hold what is true.
    Share(f64),
}

impl Intervals {
    /// The share, if there are to be intervals.
    pub(crate) fn share(self) -> Option<f64> {
        match self {
            Intervals::None => None,
            Intervals::Share(share) => Some(share),
        }
    }

    /// What `--ci` may be given, in every command.
    pub(super) fn parse(typed: &str) -> Result<Self, String> {
        match typed.parse() {
            Ok(share) => Ok(Intervals::Share(share)),
            Err(_) if typed == "none" => Ok(Intervals::None),
            Err(_) => Err("expected a share such as 0.95, or none".into()),
        }
    }
}

/// `ITEM=RATING`; an item's name may contain `=`.
pub(super) fn anchor(typed: &str) -> Result<(String, f64), String> {
    let rating = |text: &str| text.trim().parse::<f64>().ok().filter(|rating| rating.abs() <= 1e9);
    match typed.rsplit_once('=').and_then(|(item, text)| Some((item.trim(), rating(text)?))) {
        Some((item, rating)) if !item.is_empty() => Ok((item.to_string(), rating)),
        _ => Err("expected an item and its rating, such as gpt-4=1000".into()),
    }
}

/// How predictions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PredictFormat {
    /// One score a line.
    Scores,
    /// A table with a header.
    Csv,
    /// A run of the Text Retrieval Conference.
    Trec,
}

/// A data set in the form its makers publish it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Published {
    /// Items in WEKA's format.
    Arff,
    /// Items in folds.
    Letor,
    /// Compared pairs: the word for them, and what reads them.
    Pairs(&'static str, ReadPairs),
}

/// A metric of judged pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetricName {
    /// One number.
    Number(PairMetric),
    /// Judged by predicted outcomes.
    Confusion,
}

impl MetricName {
    /// All of them.
    pub(crate) fn all() -> Vec<Self> {
        PairMetric::ALL.map(MetricName::Number).into_iter().chain([MetricName::Confusion]).collect()
    }

    /// The one of this name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        MetricName::all().into_iter().find(|metric| metric.name() == name)
    }

    /// The word on the command line and in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            MetricName::Number(metric) => metric.name(),
            MetricName::Confusion => "confusion",
        }
    }
}

/// A metric of what is predicted of items one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelMetric {
    /// Of classes.
    Class(ClassMetric),
    /// Of values; `mae` is there for both.
    Value(ValueMetric),
    /// True by predicted classes.
    Confusion,
}

impl LabelMetric {
    /// The one of this name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let class = ClassMetric::ALL.into_iter().find(|metric| metric.name() == name).map(LabelMetric::Class);
        let value = ValueMetric::ALL.into_iter().find(|metric| metric.name() == name).map(LabelMetric::Value);
        class.or(value).or((name == "confusion").then_some(LabelMetric::Confusion))
    }

    /// All words, each once.
    pub(crate) fn names() -> Vec<&'static str> {
        let mut names: Vec<&str> = ClassMetric::ALL.iter().map(|metric| metric.name()).collect();
        names.extend(ValueMetric::ALL.iter().map(|metric| metric.name()).filter(|name| *name != "mae"));
        names.push("confusion");
        names
    }

    /// The word on the command line and in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LabelMetric::Class(metric) => metric.name(),
            LabelMetric::Value(metric) => metric.name(),
            LabelMetric::Confusion => "confusion",
        }
    }
}

/// A parser of the given words, which also lists them in help and in errors.
fn one_of<T: Clone + Send + Sync + 'static>(words: Vec<(&'static str, T)>) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word)).try_map(move |typed| {
        let found = words.iter().find(|(word, _)| *word == typed);
        found.map(|(_, value)| value.clone()).ok_or("unknown word")
    })
}

pub(super) fn method() -> impl TypedValueParser<Value = Method> {
    one_of(Method::ALL.map(|method| (method.name(), method)).to_vec())
}

pub(super) fn loss() -> impl TypedValueParser<Value = Loss> {
    one_of(Loss::ALL.into_iter().chain(Loss::OF_TUBES).map(|loss| (loss.name(), loss)).collect())
}

pub(super) fn class_scheme() -> impl TypedValueParser<Value = ClassScheme> {
    one_of(ClassScheme::ALL.map(|scheme| (scheme.name(), scheme)).to_vec())
}

pub(super) fn constraints() -> impl TypedValueParser<Value = Constraints> {
    one_of([Constraints::Implicit, Constraints::Explicit].map(|kind| (kind.name(), kind)).to_vec())
}

/// `balanced`, or names of classes with numbers.
pub(super) fn class_weights(typed: &str) -> Result<ClassWeights, String> {
    if typed == "balanced" {
        return Ok(ClassWeights::Balanced);
    }
    // Names may contain the sign, numbers do not.
    let entry = |part: &str| {
        let (name, weight) = part.rsplit_once('=')?;
        Some((name.to_string(), weight.trim().parse().ok()?))
    };
    let named: Option<Vec<(String, f64)>> = typed.split(',').map(entry).collect();
    named.map(ClassWeights::Named).ok_or_else(|| "expected NAME=W,… with numbers W, or balanced".into())
}

pub(super) fn kernel() -> impl TypedValueParser<Value = KernelName> {
    one_of(KernelName::ALL.map(|kernel| (kernel.name(), kernel)).to_vec())
}

pub(super) fn coefficients() -> impl TypedValueParser<Value = CoefficientSign> {
    one_of([CoefficientSign::Signed, CoefficientSign::Nonnegative].map(|sign| (sign.name(), sign)).to_vec())
}

pub(super) fn queries() -> impl TypedValueParser<Value = Queries> {
    one_of(vec![("both", Queries::InBoth), ("judged", Queries::Judged)])
}

pub(super) fn predict_format() -> impl TypedValueParser<Value = PredictFormat> {
    one_of(vec![("scores", PredictFormat::Scores), ("csv", PredictFormat::Csv), ("trec", PredictFormat::Trec)])
}

pub(super) fn threshold() -> impl TypedValueParser<Value = ThresholdRule> {
    one_of(vec![("refit", ThresholdRule::Refit), ("model", ThresholdRule::Model)])
}

pub(super) fn tie_region() -> impl TypedValueParser<Value = TieRegion> {
    one_of(vec![("free", TieRegion::Free), ("always", TieRegion::Always)])
}

pub(super) fn task() -> impl TypedValueParser<Value = Task> {
    one_of([Task::Rank, Task::Classify].map(|task| (task.name(), task)).to_vec())
}

pub(super) fn batch() -> impl TypedValueParser<Value = Batch> {
    one_of([Batch::Pair, Batch::Group].map(|batch| (batch.name(), batch)).to_vec())
}

pub(super) fn schedule() -> impl TypedValueParser<Value = Schedule> {
    one_of([Schedule::Inverse, Schedule::Sqrt].map(|schedule| (schedule.name(), schedule)).to_vec())
}

pub(super) fn tie_band() -> impl TypedValueParser<Value = TieBandKind> {
    one_of(vec![("constant", TieBandKind::Constant), ("pair", TieBandKind::Pair)])
}

pub(super) fn balance() -> impl TypedValueParser<Value = Balance> {
    one_of(vec![("none", Balance::None), ("groups", Balance::Groups), ("outcomes", Balance::Outcomes)])
}

pub(super) fn scale() -> impl TypedValueParser<Value = Scale> {
    one_of(vec![("none", Scale::None), ("standard", Scale::Standard), ("minmax", Scale::Minmax)])
}

pub(super) fn precision() -> impl TypedValueParser<Value = Precision> {
    one_of(vec![("auto", Precision::Auto), ("f32", Precision::F32), ("f64", Precision::F64)])
}

pub(super) fn format() -> impl TypedValueParser<Value = Format> {
    one_of(Format::WORDS.to_vec())
}

pub(super) fn published() -> impl TypedValueParser<Value = Published> {
    let pairs = PAIR_SOURCES.iter().map(|&(word, read)| (word, Published::Pairs(word, read)));
    one_of([("arff", Published::Arff), ("letor", Published::Letor)].into_iter().chain(pairs).collect())
}

pub(super) fn letor_part() -> impl TypedValueParser<Value = LetorPart> {
    one_of(LetorPart::ALL.map(|part| (part.name(), part)).to_vec())
}

pub(super) fn index_base() -> impl TypedValueParser<Value = IndexBase> {
    one_of(vec![("0", IndexBase::Zero), ("1", IndexBase::One)])
}

pub(super) fn norm() -> impl TypedValueParser<Value = Norm> {
    one_of(vec![("l1", Norm::L1), ("l2", Norm::L2), ("linf", Norm::Linf)])
}

/// `scale`, or a number.
pub(crate) fn gamma(typed: &str) -> Result<Gamma, String> {
    if typed == "scale" {
        return Ok(Gamma::Scale);
    }
    typed.parse().map(Gamma::Value).map_err(|_| "expected a number above 0, or scale".into())
}

/// A degree of a polynomial, within what kernels take.
pub(crate) fn degree(typed: &str) -> Result<u32, String> {
    let degree = typed.parse().ok().filter(|degree| (1..=64).contains(degree));
    degree.ok_or_else(|| "expected a whole number from 1 to 64".into())
}

/// What stands between columns: a byte, or the word for one that is hard to type.
pub(super) fn separator(typed: &str) -> Result<u8, String> {
    match typed.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        &[byte] if !matches!(byte, b'"' | b'\n' | b'\r' | 0) => Ok(byte),
        _ => Err("expected one character of ASCII that is no quote, such as ';', or the word tab".into()),
    }
}

/// A number of threads that a machine might have.
pub(super) fn threads(typed: &str) -> Result<usize, String> {
    let expected = || format!("expected a whole number from 0 to {}", Effort::MOST_THREADS);
    typed.parse().ok().filter(|&n| n <= Effort::MOST_THREADS).ok_or_else(expected)
}

/// What stands for a kernel's functions.
pub(crate) fn approx(text: &str) -> Result<Approx, String> {
    text.parse().map_err(|_| "expected nystrom:M, such as nystrom:500".into())
}
