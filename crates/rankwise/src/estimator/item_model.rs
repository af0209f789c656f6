//! From machines on items to a model.

use super::common::Effort;
use super::item_machine::{Ground, Machine};
use crate::data::{Features, Items, Scale, Scaler};
use crate::kernel::{Approx, KernelFunction};
use crate::loss::Loss;
use crate::model::{
    Balance, Basis, ClassScheme, LearntFrom, Method, Model, ScoreFunction, Scorer, SvmTraining, ThresholdRule,
    TieBandKind, TieRegion, TieShare, Training,
};
use crate::progress::Stop;

/// What there is to tell of a fit beside its machines.
pub(super) struct ItemRecord<'a> {
    pub(super) method: Method,
    pub(super) loss: Loss,
    pub(super) kernel: KernelFunction,
    pub(super) approx: Option<Approx>,
    pub(super) c: f64,
    pub(super) scale: Scale,
    pub(super) effort: &'a Effort,
    pub(super) svm: SvmTraining,
    /// Items with a weight above 0.
    pub(super) n_items: usize,
    pub(super) warnings: Vec<String>,
}

impl ItemRecord<'_> {
    /// The model that machines make of these items.
    pub(super) fn model(
        self,
        machines: &[Machine],
        ground: &Ground<'_>,
        items: &Items,
        scaler: Option<&Scaler>,
    ) -> Model {
        let mut warnings = self.warnings;
        let gap = Machine::gap_of(machines);
        let stop = machines.iter().map(|m| m.stop).find(|stop| *stop != Stop::Converged).unwrap_or(Stop::Converged);
        warnings.extend(stop.shortfall(gap, self.effort.tol));
        if machines.iter().flat_map(|machine| &machine.numbers).all(|&number| number == 0.0) {
            let numbers = if matches!(ground, Ground::Weights { .. }) { "weights" } else { "coefficients" };
            warnings.push(stop.why_nothing(numbers));
        }
        let (function, support) = function(machines, ground);
        let is_hard = self.c == f64::INFINITY;
        let largest = machines.iter().map(|machine| machine.primal).fold(0.0, f64::max);
        let certificate = match (is_hard, self.kernel.is_positive_definite(), support.is_some()) {
            _ if self.approx.is_some() => "relative duality gap of the machine without approximation",
            _ if self.svm.scheme.is_some_and(ClassScheme::is_joint) => {
                "relative duality gap, in f64 from the dual variables"
            }
            (true, ..) => "relative duality gap of ½‖w‖² where no slack is allowed",
            (_, false, _) => "relative duality gap; no bound, since the kernel is not positive definite",
            (_, _, true) => "relative duality gap, in f64 from the dual variables",
            (_, _, false) => "relative duality gap, in f64 from dual variables of the losses, bias at its best",
        };
        let training = Training {
            method: self.method,
            learnt_from: LearntFrom::Items,
            loss: self.loss,
            kernel: self.kernel,
            approx: self.approx,
            c: self.c,
            tol: self.effort.tol,
            seed: self.effort.seed,
            threshold_rule: ThresholdRule::default(),
            tie_region: TieRegion::default(),
            tie_band: TieBandKind::Constant,
            tie_parameter: None,
            tie_weight: 1.0,
            balance: Balance::None,
            scale: self.scale,
            items: self.n_items,
            features: items.features.n_cols(),
            groups: None,
            groups_dropped: 0,
            pairs: 0,
            ties: 0,
            objective: machines.iter().map(|machine| machine.primal).sum(),
            gap,
            certificate: certificate.into(),
            iterations: machines.iter().map(|machine| machine.steps).sum(),
            stop,
            support,
            support_names: None,
            support_pairs: 0,
            collapsed: false,
            tie_share: TieShare { observed: 0.0, predicted: 0.0 },
            margin: is_hard.then(|| 1.0 / (2.0 * largest).sqrt()).filter(|margin| margin.is_finite()),
            lp_slack: None,
            normalise: false,
            pairs_per_item: None,
            online: None,
            svm: Some(self.svm),
            program: None,
            warnings,
            tuning: None,
        };
        let scorer = Scorer {
            n_features: items.features.n_cols(),
            feature_names: items.feature_names.clone(),
            are_indicators: items.are_indicators,
            scaler: scaler.cloned(),
            function,
        };
        Model {
            scorer,
            threshold: 0.0,
            beta: None,
            no_tie_region: false,
            band: None,
            chances: None,
            classes: None,
            class_rule: None,
            grades: None,
            state: None,
            training,
        }
    }
}

/// The function of the scaled features, and how many support items it has.
fn function(machines: &[Machine], ground: &Ground<'_>) -> (ScoreFunction, Option<usize>) {
    let biases: Vec<f64> = machines.iter().map(|machine| ground.bias_of_model(machine)).collect();
    match (ground, machines) {
        (Ground::Rows { rows: Some((kernel, rows)), .. }, machines) => {
            let numbers: Vec<&[f64]> = machines.iter().map(|machine| machine.numbers.as_slice()).collect();
            expansion(*kernel, rows, &numbers, biases)
        }
        (Ground::Landmarks(described), machines) => {
            let map = described.landmarks();
            let numbers: Vec<Vec<f64>> = machines.iter().map(|machine| map.coefficients(&machine.numbers)).collect();
            expansion(map.kernel, &map.items, &numbers, biases)
        }
        (_, [only]) => {
            let bias = biases.first().copied().unwrap_or(0.0);
            (ScoreFunction::Linear { weights: only.numbers.clone(), bias }, None)
        }
        (_, machines) => {
            let coefficients = machines.iter().flat_map(|machine| machine.numbers.iter().copied()).collect();
            (ScoreFunction::Several { basis: Basis::Features, coefficients, biases }, None)
        }
    }
}

/// Σ coefficient·K(row, ·) + bias of every machine, over the rows that have a coefficient in some.
fn expansion<V: AsRef<[f64]>>(
    kernel: KernelFunction,
    rows: &Features,
    machines: &[V],
    biases: Vec<f64>,
) -> (ScoreFunction, Option<usize>) {
    let is_support = |row: &usize| machines.iter().any(|numbers| numbers.as_ref()[*row] != 0.0);
    let kept: Vec<usize> = (0..rows.n_rows()).filter(is_support).collect();
    let support = rows.select_rows(&kept);
    let columns = machines.iter().flat_map(|numbers| kept.iter().map(|&row| numbers.as_ref()[row]));
    let coefficients: Vec<f64> = columns.collect();
    let n_support = Some(kept.len());
    if let [bias] = biases[..] {
        return (ScoreFunction::Kernel { kernel, support, coefficients, bias }, n_support);
    }
    (ScoreFunction::Several { basis: Basis::Kernel { kernel, support }, coefficients, biases }, n_support)
}
