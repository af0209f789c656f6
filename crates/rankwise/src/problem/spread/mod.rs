//! Sums over parts of data that are somewhere else: on other threads, processes or machines.
//!
//! Every part gets the same question and says what the sum has of it; answers are added in a fixed order. A question says all that
//! a part must know, the weights included, so that a part which was lost and made again from its data gives the same answer.
//! Features are as they come in: what divides them is the business of who asks.

mod pairs;
mod rank;

use std::cell::RefCell;

pub(crate) use pairs::{Spread, SpreadPairs};
pub(crate) use rank::SpreadRank;

use crate::data::{Features, Precision};
use crate::error::{Error, Place, Result};

/// What a part is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ask {
    /// What there is.
    Survey,
    /// Value and gradient at weights.
    Point,
    /// Hessian times a direction.
    Times,
    /// About the Hessian's diagonal.
    Diagonal,
    /// How much curvature there is.
    Curved,
    /// The Hessian from some pairs.
    Sketch,
    /// Value and slope after a step in a direction; of pairs also slopes in β, at several of them.
    Along,
    /// Some of the data.
    Thinned,
    /// Of pairs: what is to be told of the answer.
    Facts,
    /// Of pairs: how large differences are, from the smallest to the largest, in some places.
    Sizes,
    /// Of pairs: how the error moves between sizes at which a difference may cease to matter.
    Moves,
    /// Of pairs: all sizes within bounds, with how the error moves there.
    Within,
}

impl Ask {
    const ALL: [Ask; 12] = [
        Ask::Survey,
        Ask::Point,
        Ask::Times,
        Ask::Diagonal,
        Ask::Curved,
        Ask::Sketch,
        Ask::Along,
        Ask::Thinned,
        Ask::Facts,
        Ask::Sizes,
        Ask::Moves,
        Ask::Within,
    ];
}

/// A question, whole in itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) ask: Ask,
    /// Where the sum is looked at.
    pub(crate) weights: Vec<f64>,
    /// Where to from there; may be empty.
    pub(crate) direction: Vec<f64>,
    /// What else it takes.
    pub(crate) numbers: Vec<f64>,
}

impl Question {
    /// As bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.ask as u8];
        put_lists(&mut bytes, [&self.weights, &self.direction, &self.numbers]);
        bytes
    }

    /// From bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (&first, rest) = bytes.split_first().ok_or_else(broken)?;
        let ask = *Ask::ALL.get(usize::from(first)).ok_or_else(broken)?;
        let [weights, direction, numbers] = take_lists(rest)?;
        Ok(Question { ask, weights, direction, numbers })
    }
}

/// What one part says, or several together.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answer {
    /// Numbers that are added.
    pub(crate) sums: Vec<f64>,
    /// Numbers of which the largest counts.
    pub(crate) most: Vec<f64>,
    /// Numbers that are listed, part by part.
    pub(crate) list: Vec<f64>,
}

impl Answer {
    /// As bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_lists(&mut bytes, [&self.sums, &self.most, &self.list]);
        bytes
    }

    /// From bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let [sums, most, list] = take_lists(bytes)?;
        Ok(Answer { sums, most, list })
    }

    /// Takes in what the parts after this one say.
    pub(crate) fn add(&mut self, other: &Answer) -> Result<()> {
        if self.sums.len() != other.sums.len() || self.most.len() != other.most.len() {
            return Err(broken());
        }
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, part)| *sum += part);
        self.most.iter_mut().zip(&other.most).for_each(|(most, part)| *most = most.max(*part));
        self.list.extend_from_slice(&other.list);
        Ok(())
    }
}

/// Whoever brings a question to all parts, and their answers back, added in the order of the parts.
pub(crate) trait Parts {
    fn ask(&self, question: &Question) -> Result<Answer>;
}

/// Numbers that may be brought together to start from.
const MOST_GATHERED: u64 = 1 << 22;

/// Parts that are asked until something goes wrong; after that, nothing they say means anything.
pub(crate) struct Asked<'a> {
    parts: &'a dyn Parts,
    failure: RefCell<Option<Error>>,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(parts: &'a dyn Parts) -> Self {
        Asked { parts, failure: RefCell::new(None) }
    }

    /// The answer, if there was one, of so many sums.
    fn ask(&self, n_sums: usize, question: &Question) -> Option<Answer> {
        if self.failure.borrow().is_some() {
            return None;
        }
        let answer = self.parts.ask(question).and_then(|answer| match answer.sums.len() == n_sums {
            true => Ok(answer),
            false => Err(broken()),
        });
        match answer {
            Ok(answer) => Some(answer),
            Err(problem) => {
                *self.failure.borrow_mut() = Some(problem);
                None
            }
        }
    }

    /// What went wrong, if anything did.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        self.failure.borrow_mut().take()
    }
}

/// What a part says to a question that makes no sense to it.
pub(crate) fn misunderstood() -> Error {
    Error::Mismatch {
        problem: "a part was asked what it cannot answer".into(),
        remedy: "use the same version of rankwise on all machines".into(),
    }
}

fn broken() -> Error {
    Error::data(
        Place::file("parts"),
        "a message between parts cannot be read",
        "use the same version of rankwise on all machines",
    )
}

fn put_lists<const N: usize>(bytes: &mut Vec<u8>, lists: [&[f64]; N]) {
    bytes.reserve_exact(lists.iter().map(|list| 8 + 8 * list.len()).sum());
    for list in lists {
        bytes.extend((list.len() as u64).to_le_bytes());
        list.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    }
}

fn take_lists<const N: usize>(mut bytes: &[u8]) -> Result<[Vec<f64>; N]> {
    let mut lists = std::array::from_fn(|_| Vec::new());
    for list in &mut lists {
        let (head, rest) = bytes.split_first_chunk::<8>().ok_or_else(broken)?;
        let n_bytes = usize::try_from(u64::from_le_bytes(*head)).ok().and_then(|n| n.checked_mul(8));
        let (numbers, rest) = n_bytes.and_then(|n| rest.split_at_checked(n)).ok_or_else(broken)?;
        *list = numbers.as_chunks::<8>().0.iter().map(|number| f64::from_le_bytes(*number)).collect();
        bytes = rest;
    }
    if bytes.is_empty() { Ok(lists) } else { Err(broken()) }
}

/// Lists a row of features: how many numbers are stored and where, or −1 and all of them.
pub(crate) fn put_row(features: &Features, row: usize, out: &mut Vec<f64>) {
    if !features.is_sparse() {
        out.push(-1.0);
        features.for_each_in_row(row, |_, value| out.push(value));
        return;
    }
    let at = out.len();
    out.push(0.0);
    features.for_each_in_row(row, |column, value| out.extend([column as f64, value]));
    out[at] = ((out.len() - at) / 2) as f64;
}

/// Rows that were listed, on their way to features.
pub(crate) struct ListedRows {
    n_cols: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl ListedRows {
    pub(crate) fn new(n_cols: usize) -> Self {
        ListedRows { n_cols, starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// Takes the next row; `None` if it is not whole.
    pub(crate) fn take(&mut self, numbers: &mut impl Iterator<Item = f64>) -> Option<()> {
        let n = numbers.next()?;
        let is_dense = n < 0.0;
        for at in 0..if is_dense { self.n_cols } else { n as usize } {
            self.columns.push(if is_dense { at as u32 } else { numbers.next()? as u32 });
            self.values.push(numbers.next()?);
        }
        self.starts.push(self.values.len());
        Some(())
    }

    pub(crate) fn features(self) -> Option<Features> {
        let ListedRows { n_cols, starts, columns, values } = self;
        let is_dense = values.len() == (starts.len() - 1) * n_cols;
        match is_dense {
            true => Features::dense(n_cols, values, Precision::F64).ok(),
            false => Features::sparse(n_cols, starts, columns, values).ok(),
        }
    }
}

/// Where the lower triangle of a matrix stands in a list of its rows.
fn triangle(matrix: &[f64], dim: usize) -> Vec<f64> {
    (0..dim).flat_map(|row| matrix[row * dim..=row * dim + row].iter().copied()).collect()
}

/// The sum of outer products of vectors one after the other: the rows of its lower triangle.
pub(crate) fn products(dim: usize, vectors: impl FnOnce(&mut dyn FnMut(&[f64]))) -> Vec<f64> {
    let mut matrix = vec![0.0; dim * dim];
    vectors(&mut |vectors| crate::math::add_products(&mut matrix, vectors, dim));
    triangle(&matrix, dim)
}

/// A matrix from such rows, with its columns and rows divided.
fn from_triangle(rows: &[f64], dim: usize, factor: f64, divisor: impl Fn(usize) -> f64, matrix: &mut [f64]) {
    let mut rows = rows.iter();
    for row in 0..dim {
        for column in 0..=row {
            let value = rows.next().copied().unwrap_or(0.0);
            matrix[row * dim + column] += factor * value / (divisor(row) * divisor(column));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Ask, Question};

    #[test]
    fn messages_come_back_as_they_were() {
        for ask in Ask::ALL {
            let numbers = vec![f64::NAN.copysign(1.0), -0.0, f64::MIN_POSITIVE, f64::INFINITY];
            let question = Question { ask, weights: vec![1.5], direction: Vec::new(), numbers };
            let back = Question::from_bytes(&question.to_bytes()).unwrap();
            assert_eq!(back.to_bytes(), question.to_bytes());
            assert_eq!(back.ask, ask);
        }
        let answer = Answer { sums: vec![1.0, 2.0], most: vec![3.0], list: vec![4.0] };
        assert_eq!(Answer::from_bytes(&answer.to_bytes()).unwrap(), answer);
    }

    #[test]
    fn broken_messages_are_refused() {
        let bytes =
            Question { ask: Ask::Along, weights: vec![1.0], direction: vec![2.0], numbers: vec![3.0] }.to_bytes();
        (0..bytes.len()).for_each(|end| assert!(Question::from_bytes(&bytes[..end]).is_err()));
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(Question::from_bytes(&longer).is_err());
        assert!(Question::from_bytes(&[99]).is_err());
        let mut huge = bytes;
        huge[1..9].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(Question::from_bytes(&huge).is_err());
    }

    #[test]
    fn answers_are_added_each_in_its_way() {
        let mut all = Answer { sums: vec![1.0], most: vec![1.0], list: vec![1.0] };
        all.add(&Answer { sums: vec![2.0], most: vec![-2.0], list: vec![2.0, 3.0] }).unwrap();
        assert_eq!(all, Answer { sums: vec![3.0], most: vec![1.0], list: vec![1.0, 2.0, 3.0] });
        assert!(all.add(&Answer::default()).is_err());
    }
}
