//! Pairs of sushis for the comparison figures: sets to learn from, to choose with and to be judged by, with a given share of
//! ties, none of the pairs in two of them.

use rankwise::data::{Comparisons, Outcome, Precision, Random};
use rankwise::io::published::read_sushi;

use crate::commands::pair_trial::Sets;
use crate::commands::reproduce::data_dir::Need;
use crate::commands::reproduce::study::Room;
use crate::exit::{Failure, Run};

/// Pairs to be judged by: more than the paper has, so that they add less noise.
const TEST_PAIRS: usize = 2000;

/// The files.
pub(super) fn needs() -> Vec<Need> {
    let need = |file| Need {
        folder: "sushi",
        file,
        source: "T. Kamishima's SUSHI preference data, www.kamishima.net/sushi",
        licence: "research use; not to be redistributed without permission",
    };
    ["sushi3b.5000.10.score", "sushi3.idata", "sushi3.udata"].map(need).into()
}

/// Pairs by kind.
pub(super) struct SushiPairs {
    pairs: Comparisons,
    ties: Vec<usize>,
    others: Vec<usize>,
}

impl SushiPairs {
    /// Reads them. The published pairs have the better sushi right, always; which side it stands on is drawn here.
    pub(super) fn read(room: &Room) -> Run<Self> {
        let first = needs().into_iter().next().ok_or_else(|| Failure::Fault("no files are known".into()))?;
        let mut pairs = read_sushi(&room.data.folder_of(&first)?)?.pairs(Precision::F64)?;
        let mut random = Random::new(room.seed);
        for (pair, outcome) in pairs.set.pairs.iter_mut().zip(&mut pairs.outcomes) {
            if random.uniform() < 0.5 {
                std::mem::swap(&mut pair.left, &mut pair.right);
                *outcome = outcome.swapped();
            }
        }
        let (ties, others) = (0..pairs.n_pairs()).partition(|&k| pairs.outcomes[k] == Outcome::Tie);
        Ok(SushiPairs { pairs, ties, others })
    }

    /// How many are ties, and how many are not.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.ties.len(), self.others.len())
    }

    /// `n_pairs` to learn from and as many to choose with, this share of them ties; the test pairs do not depend on `n_pairs`.
    pub(super) fn sets(&self, n_pairs: usize, share: f64, seed: u64) -> Run<Sets> {
        let mut random = Random::new(seed);
        let (mut ties, mut others) = (self.ties.clone(), self.others.clone());
        random.shuffle(&mut ties);
        random.shuffle(&mut others);
        let n_ties = |n: usize| (n as f64 * share).round() as usize;
        // Half of the pairs at most are for the test where data are few.
        let n_test = [(ties.len(), share), (others.len(), 1.0 - share)]
            .map(|(n, share)| (0.5 * n as f64 / share.max(1e-9)) as usize)
            .into_iter()
            .fold(TEST_PAIRS, usize::min);
        let mut take = |n: usize| {
            let (n_ties, n_others) = (n_ties(n), n - n_ties(n));
            if n_ties > ties.len() || n_others > others.len() {
                return Err(Failure::Fault(format!(
                    "{n} pairs of which {n_ties} are ties are not left in the data; are the files complete?"
                )));
            }
            let mut numbers: Vec<usize> = ties.drain(..n_ties).chain(others.drain(..n_others)).collect();
            numbers.sort_unstable();
            Ok(self.pairs.select(&numbers))
        };
        let test = take(n_test)?;
        let (validation, train) = (take(n_pairs)?, take(n_pairs)?);
        Ok(Sets { train, validation, test })
    }
}
