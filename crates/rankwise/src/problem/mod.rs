//! Data, loss, kernel and C turned into what a solver can eat. The traits here are a solver's only view of the world.

mod bias;
mod class_examples;
mod class_losses;
mod class_rows;
mod compare;
mod crossing;
mod exact;
mod examples;
mod grade_sums;
mod grades;
mod gram;
mod item_qp;
mod item_sums;
mod kernel_sums;
mod pair_planes;
mod pair_rows;
mod pair_sums;
mod rank;
mod rank_planes;
mod ridge;
mod score_map;
mod spread;
pub(crate) mod threshold;
mod together;

pub(crate) use class_examples::{ClassSums, ClassTerms};
pub(crate) use class_losses::ClassLosses;
pub(crate) use compare::{PairProblem, Task};
pub(crate) use exact::Exact;
pub(crate) use examples::{ExampleSums, ExampleTerms};
pub(crate) use grade_sums::GradeSums;
pub(crate) use gram::MOST_COLUMNS as MATRIX_PAIRS;
pub(crate) use item_sums::{ItemSums, Slack, best_bias};
pub(crate) use kernel_sums::KernelSums;
pub(crate) use pair_planes::{JudgedPair, Margin, PairPlanes};
pub(crate) use pair_rows::PairRows;
pub(crate) use pair_sums::{Band, Costs, Hinge, PairPart, PairSums, Rule};
pub(crate) use rank::{Draw, GroupTerms, PairTerms, RankCounts, RankPart, RankSums, Shape, Weighing};
pub(crate) use rank_planes::{LabelledGroup, Pairing, RankPlanes};
pub(crate) use ridge::RidgeProblem;
pub(crate) use score_map::ScoreMap;
pub(crate) use spread::{Answer, Ask, Asked, Parts, Question, Spread, SpreadPairs, SpreadRank};

pub(crate) use together::Together;

use crate::data::Random;
use crate::math::{Real, add_products};

/// Where in its stretch of curvature a pair is drawn: nowhere that whole numbers of pairs often end, so that rounding seldom tells.
const MARK: f64 = 0.381_966_011_250_105;

/// A variable of the dual that touches no item: it says what β may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// β is free: no such variable.
    None,
    /// β = 0, no bias: an unbounded variable without cost.
    Zero,
    /// β ≤ −1: a tie of an item with itself, of infinite weight.
    AtMostMinusOne,
}

/// What the dual says of one pair. A pair has one margin z and one or two dual variables a ∈ [0, upper]:
/// the first pushes z up with label y, the second (the mirror) pushes −z with the same label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dual {
    /// y = ±1, the sign of a in the equality constraint Σ y·a = 0.
    pub(crate) label: f64,
    /// Whether the mirrored variable exists.
    pub(crate) mirrored: bool,
    /// Upper bound of both variables; may be infinite.
    pub(crate) upper: f64,
    /// What both variables add to the diagonal of the quadratic form.
    pub(crate) shift: f64,
}

/// Primal and dual values, and all margins, in f64 from the dual variables alone.
#[derive(Debug, Clone)]
pub(crate) struct Certificate {
    /// z of every pair.
    pub(crate) margins: Vec<f64>,
    /// The best β for these margins.
    pub(crate) beta: f64,
    /// ½‖u‖² + losses at (u, β).
    pub(crate) primal: f64,
    /// The dual value.
    pub(crate) dual: f64,
}

impl Certificate {
    /// (primal − dual)/max(primal, 1e-12)
    pub(crate) fn gap(&self) -> f64 {
        (self.primal - self.dual) / self.primal.max(1e-12)
    }
}

/// The quadratic program over mirrored duals, with coefficient of a pair  t = y·(a − mirror a):
///
///   min ½ Σ t_k t_l K_kl + ½ Σ shift·a² − Σ a    s.t.  0 ≤ a ≤ upper,  Σ y·a = 0 (see [`Anchor`]).
pub(crate) trait MirroredQp: Sync {
    /// One entry per pair.
    fn duals(&self) -> &[Dual];
    /// What β may be.
    fn anchor(&self) -> Anchor;
    /// What a pair adds to the gap at given dual variables, margin and β: loss + its conjugate − a·slack ≥ 0, summed
    /// over both variables. The gap of a feasible point is the sum over pairs (and the anchor's part).
    fn residual(&self, pair: usize, duals: [f64; 2], margin: f64, beta: f64) -> f64;
    /// The values at given dual variables (two per pair) and anchor variable.
    fn certify(&self, duals: &[[f64; 2]], anchor: f64) -> Certificate;
    /// The primal value at u = 0 and its best β: no dual value of a positive semidefinite problem lies above it.
    fn objective_at_zero(&self) -> f64;
    /// Where u = 0 may be the optimum: an answer that beats it by no more than this has not beaten it. Relative to the
    /// objective, and to the ‖u‖² that costs and kernel allow, so that tiny C or features do not pass for a collapse.
    fn collapse_resolution(&self) -> Option<f64>;
}

/// What smooth losses say of given margins, β at its best.
#[derive(Debug, Clone)]
pub(crate) struct PairPoint {
    /// Their sum.
    pub(crate) losses: f64,
    /// The dual variables that belong to the slacks.
    pub(crate) duals: Vec<[f64; 2]>,
    /// The coefficients t = y·(a − mirror a) that the losses ask for.
    pub(crate) coefficients: Vec<f64>,
    /// Curvature of each pair's loss in its margin.
    pub(crate) curvatures: Vec<f64>,
    /// What each pair's margin takes with it of β.
    pub(crate) tilts: Vec<f64>,
    /// The best β.
    pub(crate) beta: f64,
    /// Whether it moves along.
    pub(crate) is_beta_free: bool,
}

/// Losses of pairs with ½‖u‖², as a function of the coefficients of pairs.
pub(crate) trait PairLosses: MirroredQp {
    /// z of every pair for given coefficients.
    fn margins(&self, coefficients: &[f64]) -> Vec<f64>;
    /// The kernel matrix over some of the pairs, row by row; only the lower triangle counts.
    fn block(&self, of: &[u32]) -> Vec<f64>;
    /// Smooth losses, times `ease`, at given margins.
    fn at(&self, margins: &[f64], ease: f64) -> PairPoint;
    /// What to multiply smooth losses with so that they are no steeper than the norm of u; at most 1.
    fn ease(&self) -> f64;
    /// The best β for given margins, and whether it is free to move with them.
    fn best_beta(&self, margins: &[f64]) -> (f64, bool);
    /// Coefficients t = y·(a − mirror a).
    fn coefficients(&self, duals: &[[f64; 2]]) -> Vec<f64>;
}

/// What a sum of losses says at given weights.
#[derive(Debug, Clone, Default)]
pub(crate) struct SumPoint {
    /// Its value, as it is minimised.
    pub(crate) value: f64,
    /// The gradient of `value`; minus it is the weights that the dual variables of the losses make.
    pub(crate) gradient: Vec<f64>,
    /// The value of the loss that is meant; differs from `value` where that is rounded off.
    pub(crate) meant: f64,
    /// What the gap between `meant` + ½‖w‖² and the dual value has beside ½‖w + gradient‖².
    pub(crate) excess: f64,
}

/// A convex function of weights that is a sum over blocks of data, as Newton's method sees it: without ½‖w‖². Every answer
/// is a sum over blocks, each of which keeps where it was sent last; so blocks may be anywhere.
pub(crate) trait BlockSums {
    /// How many weights there are.
    fn dim(&self) -> usize;
    /// Numbers that one product with the data reads.
    fn n_numbers(&self) -> usize;
    /// Sends the blocks to new weights. One read of the data.
    fn go_to(&mut self, weights: &[f64]) -> SumPoint;
    /// Hessian times a vector, where the blocks are. One read.
    fn hessian_times(&mut self, v: &[f64]) -> Vec<f64>;
    /// The same for vectors one after the other.
    fn hessian_times_all(&mut self, vectors: &[f64]) -> Vec<f64> {
        let dim = self.dim().max(1);
        vectors.chunks_exact(dim).flat_map(|v| self.hessian_times(v)).collect()
    }
    /// About the diagonal of the Hessian. One read or two.
    fn hessian_diagonal(&mut self) -> Vec<f64>;
    /// Vectors, one after the other, whose outer products sum to about the Hessian: about `n` of them.
    fn hessian_sketch(&mut self, n: usize) -> Vec<f64>;
    /// Multiplications that such vectors of about `n` take, with their outer products.
    fn sketch_products(&self, n: usize) -> f64 {
        n as f64 * (self.dim() * self.dim()) as f64 / 2.0
    }
    /// The same vectors in the same order, some at a time.
    fn sketch_in_parts(&mut self, n: usize, take: &mut dyn FnMut(&[f64])) {
        take(&self.hessian_sketch(n));
    }
    /// Adds their outer products to the lower triangle of a matrix.
    fn add_sketch(&mut self, n: usize, matrix: &mut [f64]) {
        let dim = self.dim();
        self.sketch_in_parts(n, &mut |vectors| add_products(matrix, vectors, dim));
    }
    /// Makes the blocks ready to try steps in a direction from where they are. One read.
    fn aim(&mut self, direction: &[f64]);
    /// The value after a step of this size in that direction, and its slope there; no read. The Hessian is not defined
    /// until the blocks are sent somewhere.
    fn along(&mut self, step: f64) -> (f64, f64);
    /// What the losses are multiplied with.
    fn set_c(&mut self, c: f64);
    /// The least lead of a better item over a worse one, where the blocks are; of judged pairs with ties, half of what the least
    /// difference of a non-tie is above the largest of a tie.
    fn least_lead(&self) -> f64;
    /// Rounds off the kink of the hinge over this width.
    fn round_off(&mut self, width: f64);
    /// About the same sum over a small share of the data, if there is enough of it.
    fn thinned(&self) -> Option<Box<dyn BlockSums + '_>>;
    /// The inner product of weights in which ‖w‖² and gradients are meant.
    fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        crate::math::dot(a, b)
    }
    /// The square of the norm.
    fn square(&self, a: &[f64]) -> f64 {
        a.iter().map(|x| x * x).sum()
    }
    /// The same weights, without what rounding has made of them on a long way.
    fn refreshed(&self, weights: Vec<f64>) -> Vec<f64> {
        weights
    }
    /// What a sum of losses of scores is, in the space of scores.
    fn in_scores(&mut self) -> Option<&mut dyn ScoreSpace> {
        None
    }
    /// Makes ready for [`BlockSums::eased`] where the blocks are.
    fn ease(&mut self, shift: f64) {
        let _ = shift;
    }
    /// About (I + shift·Hessian)⁻¹ times vectors one after the other, such that it commutes with the Hessian.
    fn eased(&mut self, vectors: &[f64]) -> Vec<f64> {
        vectors.to_vec()
    }
}

/// Losses of scores s = K·a with the norm a·K a: Newton's step as conjugate gradients on scores see it.
pub(crate) trait ScoreSpace {
    /// K·a
    fn scores(&self, coefficients: &[f64]) -> Vec<f64>;
    /// The curvature H of the losses times a change of scores.
    fn curvature_times(&mut self, change: &[f64]) -> Vec<f64>;
    /// Makes ready for the next two where the losses are.
    fn renew(&mut self);
    /// About (I + K·H)⁻¹·v; self-adjoint in the inner product of H.
    fn about_inverse(&mut self, v: &[f64]) -> Vec<f64>;
    /// About a·K a.
    fn about_square(&self, coefficients: &[f64]) -> f64;
}

/// A quadratic function of weights, with ½‖w‖² in it.
pub(crate) trait LeastSquares {
    /// How many weights there are.
    fn dim(&self) -> usize;
    /// The value at given weights, and the gradient. One read.
    fn at(&self, weights: &[f64]) -> (f64, Vec<f64>);
    /// Hessian times a vector. One read.
    fn hessian_times(&self, v: &[f64]) -> Vec<f64>;
    /// The Hessian itself, row by row; only the lower triangle counts.
    fn hessian(&self) -> Vec<f64>;
    /// Its diagonal.
    fn hessian_diagonal(&self) -> Vec<f64>;
    /// Multiplications that forming and factoring the Hessian takes.
    fn hessian_work(&self) -> usize;
}

/// A plane that touches a convex function of weights from below: offset − normal·w.
#[derive(Debug, Clone)]
pub(crate) struct Plane {
    pub(crate) offset: f64,
    pub(crate) normal: Vec<f64>,
}

/// A convex function of weights, at least 0, that is the largest of finitely many planes, as cutting planes see it.
pub(crate) trait Planes: BlockSums {
    /// A plane that touches after a step of this size in the direction aimed at last; 0 is where the blocks are. One read.
    /// `None` where numbers leave their range.
    fn plane(&mut self, step: f64) -> Option<Plane>;
    /// Goes that step, without a read.
    fn settle(&mut self, step: f64);
}

/// What a linear program pays for: a coefficient above 0, one below 0, or as much of one as another loses. All at least 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Column {
    Plus(u32),
    Minus(u32),
    Lead(u32, u32),
}

impl Column {
    /// What a vector over coefficients says of it.
    pub(crate) fn of(self, vector: &[f64]) -> f64 {
        match self {
            Column::Plus(at) => vector[at as usize],
            Column::Minus(at) => -vector[at as usize],
            Column::Lead(plus, minus) => vector[plus as usize] - vector[minus as usize],
        }
    }

    /// Of what coefficients move, what it moves at the most.
    pub(crate) fn scale(self, scales: &[f64]) -> f64 {
        match self {
            Column::Plus(at) | Column::Minus(at) => scales[at as usize],
            Column::Lead(plus, minus) => scales[plus as usize].max(scales[minus as usize]),
        }
    }

    /// Adds so much of it to coefficients.
    pub(crate) fn add_to(self, coefficients: &mut [f64], amount: f64) {
        match self {
            Column::Plus(at) => coefficients[at as usize] += amount,
            Column::Minus(at) => coefficients[at as usize] -= amount,
            Column::Lead(plus, minus) => {
                coefficients[plus as usize] += amount;
                coefficients[minus as usize] -= amount;
            }
        }
    }
}

/// A convex function of coefficients, at least 0, that is the largest of finitely many planes, as a linear program sees it that
/// pays for columns, too.
pub(crate) trait ColumnPlanes {
    /// How many coefficients there are.
    fn dim(&self) -> usize;
    /// The value at coefficients; goes there.
    fn go_to(&mut self, coefficients: &[f64]) -> f64;
    /// Makes ready to try steps in a direction from there.
    fn aim(&mut self, direction: &[f64]);
    /// The value after a step of this size in that direction, and its slope there.
    fn along(&mut self, step: f64) -> (f64, f64);
    /// Planes that touch after such a step, or nearly; `None` where numbers leave their range.
    fn planes(&mut self, step: f64) -> Option<Vec<Plane>>;
    /// Goes that step.
    fn settle(&mut self, step: f64);
    /// How much a unit of each coefficient moves, at the most; above 0.
    fn scales(&self) -> Vec<f64>;
    /// A coefficient that is at least 0 and costs nothing.
    fn free(&self) -> Option<u32>;
    /// The largest of what columns say of prices, and so many columns with the largest.
    fn dearest(&self, prices: &[f64], n: usize) -> (f64, Vec<Column>);
}

/// cost·max(0, margin − lead): the lead is that of one item's score over another's and a multiple of the free coefficient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Term {
    pub(crate) better: u32,
    pub(crate) worse: u32,
    pub(crate) margin: f64,
    pub(crate) of_free: f64,
    pub(crate) cost: f64,
}

/// The same function as a sum of terms that can be listed.
pub(crate) trait ColumnTerms: ColumnPlanes {
    /// How many terms there are.
    fn n_terms(&self) -> u64;
    /// All of them.
    fn terms(&self) -> Vec<Term>;
    /// How many items have scores.
    fn n_items(&self) -> usize;
    /// The scores that coefficients make.
    fn scores(&self, coefficients: &[f64]) -> Vec<f64>;
    /// The slopes in coefficients of what has these slopes in the scores.
    fn slopes(&self, of_scores: &[f64]) -> Vec<f64>;

    /// Numbers from ½ to 1, one for each term, which have nothing to do with one another.
    fn scattered(&self, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..self.n_terms()).map(|_| random.between(0.5, 1.0)).collect()
    }
}

/// Losses of which a solver sees one random term at a time. A term is drawn in proportion to its weight, so that the mean of
/// its slope is the slope of all losses over the sum of their weights.
pub(crate) trait RandomTerms {
    /// Draws a term and looks at it at the weights `scale`·`direction`; whether it has a slope there.
    fn draw(&mut self, direction: &[f64], scale: f64) -> bool;
    /// Adds minus the slope of the drawn term, times a factor, to `direction`, and times another factor to another vector.
    fn descend(&mut self, direction: &mut [f64], factor: f64, other: Option<(&mut [f64], f64)>);
    /// The mean of ‖d‖² over a few random terms with leads d·w.
    fn mean_square(&mut self) -> f64;
}

/// How an item's lacking leads are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClassLoss {
    /// The sum of all.
    WestonWatkins,
    /// The largest.
    CrammerSinger,
}

/// An item that is learnt from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClassItem {
    pub(crate) row: u32,
    pub(crate) class: u32,
    /// The lead that it should have.
    pub(crate) margin: f64,
    /// What its loss is multiplied with, C included.
    pub(crate) cost: f64,
}

/// A primal point and a dual value.
pub(crate) struct ClassPoint {
    /// Of each feature, those of all classes; biases come first.
    pub(crate) weights: Vec<f64>,
    pub(crate) primal: f64,
    pub(crate) dual: f64,
}

impl ClassPoint {
    /// The relative gap.
    pub(crate) fn gap(&self) -> f64 {
        (self.primal - self.dual) / self.primal.max(1e-12)
    }
}

/// Losses of items of several classes, as a method sees them that moves the dual variables of one item at a time.
pub(crate) trait ClassBlocks {
    /// How many items there are.
    fn len(&self) -> usize;
    /// How many classes there are.
    fn n_classes(&self) -> usize;
    /// How lacking leads are put together.
    fn kind(&self) -> ClassLoss;
    /// An item.
    fn item(&self, at: usize) -> ClassItem;
    /// ‖(x, 1)‖² of an item.
    fn square(&self, at: usize) -> f64;
    /// How many weights there are, padding included.
    fn n_weights(&self) -> usize;
    /// A number for every class, and padding: the shape of everything that an item has for each class.
    fn room(&self) -> Vec<f64>;
    /// m − lead of an item over each class; `f64::MIN` for its own class and as padding.
    fn slacks(&self, at: usize, weights: &[f64], out: &mut [f64]);
    /// Adds an item times a number for every class.
    fn add(&self, at: usize, numbers: &[f64], weights: &mut [f64]);
    /// c·loss of an item with these slacks, and its part of the gap.
    fn loss(&self, at: usize, slacks: &[f64], betas: &[f64]) -> (f64, f64);
    /// Weights, primal and dual value, from the dual variables alone: those of an item stand together, that of its own class and
    /// padding being 0.
    fn certify(&self, betas: &[f64]) -> ClassPoint;
    /// The objective at given weights.
    fn primal(&self, weights: &[f64]) -> f64;
    /// Brings items into a random order, another one in every round.
    fn shuffle(&self, items: &mut [u32], round: u64);
}

/// What the dual says of the coefficient of one item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ItemDual {
    /// At most 0; may be infinite where `shift` is not 0.
    pub(crate) low: f64,
    /// At least 0.
    pub(crate) high: f64,
    /// What t adds to the diagonal of the quadratic form.
    pub(crate) shift: f64,
    /// The score at which the loss begins from above, where t < 0.
    pub(crate) below: f64,
    /// The score at which it begins from below, where t > 0; at most `below`.
    pub(crate) above: f64,
}

/// Items sorted by grade, and which of them have a say in which threshold between grades.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GradeRuns {
    /// Where the items of each grade begin; at last, how many items there are.
    pub(crate) starts: Vec<usize>,
    /// Only the two grades beside a threshold have a say in it, and that thresholds are in order is a constraint.
    pub(crate) is_explicit: bool,
}

/// What the dual says of items with grades.
#[derive(Debug, Clone)]
pub(crate) struct GradeDuals {
    pub(crate) runs: GradeRuns,
    /// Of each item, with C.
    pub(crate) costs: Vec<f64>,
    /// Squared hinge instead of hinge.
    pub(crate) is_squared: bool,
}

/// What coefficients and scores of items with grades are worth.
#[derive(Debug, Clone)]
pub(crate) struct GradeWorth {
    /// The thresholds for which the losses are least.
    pub(crate) thresholds: Vec<f64>,
    /// ½ Σ coefficient·score + losses.
    pub(crate) primal: f64,
    /// What the primal value is above the dual one.
    pub(crate) gap: f64,
}

/// What is wished of an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ItemTerm {
    /// The item's row.
    pub(crate) row: u32,
    /// f should be at least this; −∞: no matter.
    pub(crate) low: f64,
    /// f should be at most this; ∞: no matter.
    pub(crate) high: f64,
    /// What the loss is multiplied with, apart from C; above 0.
    pub(crate) cost: f64,
}

impl ItemTerm {
    /// Whether it has bounds on both sides, as a label does and a class does not.
    pub(crate) fn is_tube(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }
}

/// Kernel values over items, as a method sees them that moves many coefficients at a time.
pub(crate) trait ItemProducts {
    /// The precision of values.
    type Value: Real;
    /// Items gathered for products with others.
    type Part;
    /// Multiplications that a value takes, about.
    fn width(&self) -> usize;
    /// Gathers items.
    fn part(&self, items: &[u32]) -> Self::Part;
    /// sums[k] += Σ coefficient·K(item, k-th of the part).
    fn add(&self, items: &[u32], coefficients: &[f64], part: &mut Self::Part, sums: &mut [f64]);
    /// The values among items, row by row, `stride` numbers apart (a multiple of 16).
    fn gram(&self, items: &[u32], stride: usize, out: &mut [Self::Value]);
}

/// Rows of the matrix K over pairs, restricted to the pairs the solver still works on.
pub(crate) trait PairMatrix {
    /// The precision of rows.
    type Value: Real;
    /// K_kk of every pair.
    fn diagonal(&self) -> &[f64];
    /// Which pair stands at each position.
    fn order(&self) -> &[u32];
    /// Drops all positions but `kept` (ascending), then appends pairs.
    fn rearrange(&mut self, kept: &[u32], appended: &[u32]);
    /// Makes sure that the row of a pair is at hand; the row in slot `keep` stays.
    fn load(&mut self, pair: u32, keep: Option<u32>) -> u32;
    /// The row in a slot: one number per position, padded to a multiple of 16.
    fn row(&self, slot: u32) -> &[Self::Value];
}
