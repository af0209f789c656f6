//! What is fitted: a method with random parameters, and the fit.

use std::time::Duration;

use rankwise::data::{Random, Scale};
use rankwise::estimator::Effort;
use rankwise::model::{Balance, ClassScheme, CoefficientSign, Constraints, ThresholdRule, TieRegion};
use rankwise::{
    CompareLp, CompareRank, CompareSvm, Davidson, Fit, Gamma, Kernel, Loss, OneNormRankSvm, OnlineSvm, OrdinalSvm,
    RankSvm, RankingVectorMachine, Result, Ridge, SvmClassifier, SvmRegressor, SwapSvm, Variant,
};

use crate::draw::{Data, classes, comparisons, ranking};

pub(crate) const METHODS: [&str; 14] = [
    "rank",
    "swap",
    "ridge",
    "online",
    "classify",
    "regress",
    "ordinal",
    "rvm",
    "rank-l1",
    "compare",
    "pair-rank",
    "rank2",
    "davidson",
    "compare-lp",
];

/// What no fit of data as small may take. Fits have it as a limit, so that one without an end is told.
pub(crate) const LIMIT: Duration = Duration::from_secs(5);

/// A method and all that may be asked of it; each looks at what it has.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) c: f64,
    pub(crate) loss: Loss,
    pub(crate) kernel: Kernel,
    pub(crate) scale: Scale,
    pub(crate) balance: Balance,
    pub(crate) effort: Effort,
    pub(crate) normalise: bool,
    pub(crate) constraints: Constraints,
    pub(crate) coefficients: CoefficientSign,
    pub(crate) scheme: ClassScheme,
    pub(crate) threshold: ThresholdRule,
    pub(crate) tie_region: TieRegion,
    pub(crate) epsilon: f64,
}

/// Any C that somebody may type; ∞ where there is a hard margin or a hard tube.
fn c(random: &mut Random, method: &str, kernel: Kernel) -> f64 {
    let has_hard = match method {
        "rank" => kernel == Kernel::Linear,
        "compare" | "pair-rank" | "regress" | "classify" => !matches!(kernel, Kernel::Sigmoid { .. }),
        _ => method == "compare-lp",
    };
    match random.below(10) {
        0 if has_hard => f64::INFINITY,
        0..=4 => 10f64.powf(random.between(-12.0, 12.0)),
        _ => 10f64.powf(random.between(-6.0, 6.0)),
    }
}

impl Ask {
    /// A random method with random parameters.
    pub(crate) fn draw(random: &mut Random, number: u64) -> Self {
        let method = METHODS[number as usize % METHODS.len()];
        let losses: &[Loss] = match method {
            "rank" => &Loss::ALL,
            "compare" | "pair-rank" | "rank2" => &[Loss::Hinge, Loss::SquaredHinge, Loss::Logistic],
            "regress" => &Loss::OF_TUBES,
            _ => &Loss::OF_CLASSES,
        };
        let gamma = if random.below(3) == 0 { Gamma::Scale } else { Gamma::Value(random.between(-4.0, 1.0).exp2()) };
        let kernel = match random.below(6) {
            0 => Kernel::Rbf { gamma },
            1 => Kernel::Poly { gamma, coef0: f64::from(random.below(2) as u32), degree: 1 + random.below(3) as u32 },
            2 if random.below(3) == 0 => Kernel::Sigmoid { gamma, coef0: 0.0 },
            _ => Kernel::Linear,
        };
        let kernel = if matches!(method, "ridge" | "online") { Kernel::Linear } else { kernel };
        let mut effort = Effort::default();
        effort.tol = [1e-3, 1e-3, 1e-5, 1e-1][random.below(4)];
        effort.time_limit = Some(LIMIT);
        effort.threads = 1;
        effort.seed = random.below(100) as u64;
        let balances: &[Balance] = match method {
            "compare" => &[Balance::None, Balance::None, Balance::Outcomes],
            "rank" | "swap" | "rvm" | "rank-l1" | "online" => &[Balance::None, Balance::None, Balance::Groups],
            _ => &[Balance::None],
        };
        let balance = balances[random.below(balances.len())];
        Ask {
            method,
            c: c(random, method, kernel),
            loss: losses[random.below(losses.len())],
            kernel,
            scale: [Scale::None, Scale::None, Scale::Standard, Scale::Minmax][random.below(4)],
            balance,
            effort,
            normalise: random.below(4) == 0,
            constraints: [Constraints::Implicit, Constraints::Explicit][random.below(2)],
            coefficients: [CoefficientSign::Signed, CoefficientSign::Nonnegative][random.below(2)],
            scheme: [ClassScheme::Ovo, ClassScheme::Ovr, ClassScheme::CrammerSinger, ClassScheme::WestonWatkins]
                [random.below(4)],
            threshold: if balance == Balance::Outcomes || random.below(2) == 0 {
                ThresholdRule::Refit
            } else {
                ThresholdRule::Model
            },
            tie_region: [TieRegion::Free, TieRegion::Free, TieRegion::Always][random.below(3)],
            epsilon: [0.0, 0.1, 1.0][random.below(3)],
        }
    }

    /// Data for it.
    pub(crate) fn data(&self, random: &mut Random) -> Data {
        match self.method {
            "classify" => Data::Classes(classes(random)),
            "compare" | "pair-rank" | "rank2" | "davidson" | "compare-lp" => Data::Pairs(comparisons(random)),
            _ => Data::Items(ranking(random)),
        }
    }

    pub(crate) fn threads(&self, threads: usize) -> Self {
        let mut ask = self.clone();
        ask.effort.threads = threads;
        ask
    }

    pub(crate) fn fit(&self, data: &Data) -> Result<Fit> {
        let Ask { c, loss, kernel, scale, balance, effort, .. } = self.clone();
        match data {
            Data::Pairs(data) => match self.method {
                "compare" => CompareSvm::new()
                    .c(c)
                    .loss(loss)
                    .kernel(kernel)
                    .scale(scale)
                    .balance(balance)
                    .threshold(self.threshold)
                    .tie_region(self.tie_region)
                    .effort(effort)
                    .fit(data),
                "davidson" => Davidson::new().c(c).kernel(kernel).scale(scale).effort(effort).fit(data),
                "compare-lp" => CompareLp::new().c(c).kernel(kernel).scale(scale).effort(effort).fit(data),
                method => {
                    let variant = if method == "rank2" { Variant::Rank2 } else { Variant::Rank };
                    CompareRank::new(variant).c(c).loss(loss).kernel(kernel).scale(scale).effort(effort).fit(data)
                }
            },
            Data::Classes(data) => SvmClassifier::new()
                .c(c)
                .loss(loss)
                .kernel(kernel)
                .scale(scale)
                .classes(self.scheme)
                .effort(effort)
                .fit(data),
            Data::Items(data) => match self.method {
                "rank" => {
                    RankSvm::new().c(c).loss(loss).kernel(kernel).scale(scale).balance(balance).effort(effort).fit(data)
                }
                "swap" => SwapSvm::new()
                    .c(c)
                    .normalise(self.normalise)
                    .kernel(kernel)
                    .scale(scale)
                    .balance(balance)
                    .effort(effort)
                    .fit(data),
                "ridge" => Ridge::new().c(c).scale(scale).effort(effort).fit(data),
                "online" => OnlineSvm::new()
                    .c(c)
                    .scale(scale)
                    .balance(balance)
                    .steps(Some(500))
                    .certify(true)
                    .effort(effort)
                    .fit(data),
                "regress" => SvmRegressor::new()
                    .c(c)
                    .loss(loss)
                    .kernel(kernel)
                    .scale(scale)
                    .epsilon(self.epsilon)
                    .effort(effort)
                    .fit(data),
                "ordinal" => OrdinalSvm::new()
                    .c(c)
                    .loss(loss)
                    .kernel(kernel)
                    .scale(scale)
                    .constraints(self.constraints)
                    .effort(effort)
                    .fit(data),
                "rvm" => RankingVectorMachine::new()
                    .c(c)
                    .coefficients(self.coefficients)
                    .kernel(kernel)
                    .scale(scale)
                    .balance(balance)
                    .effort(effort)
                    .fit(data),
                _ => OneNormRankSvm::new().c(c).kernel(kernel).scale(scale).balance(balance).effort(effort).fit(data),
            },
        }
    }
}
