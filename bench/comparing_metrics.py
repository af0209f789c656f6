"""How well outcomes of pairs were predicted, and how certain a difference between two predictions is.

Everything is computed from the probabilities of left, tie and right, in the same way for every tool; the outcome is the most probable
one unless the tool says otherwise. A tool that moves its threshold trades ties for decisions. Here that order is given by
log P(tie) − log P(the likelier side), and the side by which one is likelier, so that `auc` is what the program's metric of this name is:
the share of (non-tie, tie) in which the non-tie is decided the right way and looks less like a tie than the tie does, equal counts half.
"""

import numpy as np

METRICS = ("zero_one", "auc", "log_loss")
RESAMPLES = 200
SMALLEST = 1e-15


class Judged:
    """Predictions of one tool for the test pairs, with what is needed to weigh pairs anew."""

    def __init__(self, outcomes, probabilities, predicted=None):
        logs = np.log(np.clip(probabilities, SMALLEST, None))
        predicted = np.argmax(probabilities, axis=1) - 1 if predicted is None else predicted
        self.wrong = (predicted != outcomes).astype(float)
        self.loss = -logs[np.arange(len(outcomes)), outcomes + 1]
        # A tool that gives both sides the same chance decides for neither.
        side = np.sign(probabilities[:, 2] - probabilities[:, 0])
        decided = np.maximum(logs[:, 0], logs[:, 2]) - logs[:, 1]
        is_tie = outcomes == 0
        ties = np.flatnonzero(is_tie)
        self.ties = ties[np.argsort(decided[ties], kind="stable")]
        self.others = np.flatnonzero(~is_tie)
        self.right = self.others[side[self.others] == outcomes[self.others]]
        # Of the ties, how many look more like one than each pair that is decided the right way; and that or equally so.
        sorted_ties = decided[self.ties]
        self.below = np.searchsorted(sorted_ties, decided[self.right], side="left")
        self.up_to = np.searchsorted(sorted_ties, decided[self.right], side="right")

    def metrics(self, weights):
        """One value of every metric for each row of weights of the pairs."""
        total = weights.sum(axis=1)
        zero_one, log_loss = (weights @ each / total for each in (self.wrong, self.loss))
        sums = np.zeros((len(weights), len(self.ties) + 1))
        np.cumsum(weights[:, self.ties], axis=1, out=sums[:, 1:])
        beaten = 0.5 * (sums[:, self.below] + sums[:, self.up_to])
        possible = sums[:, -1] * weights[:, self.others].sum(axis=1)
        auc = np.einsum("ij,ij->i", weights[:, self.right], beaten) / possible
        return {"zero_one": zero_one, "auc": auc, "log_loss": log_loss}


def resampled(groups, seed=0, resamples=RESAMPLES):
    """Weights of the pairs: a first row of ones, then how often each pair's group was drawn."""
    _, numbers = np.unique(groups, return_inverse=True)
    n_groups = int(numbers.max()) + 1
    drawn = np.random.default_rng(seed).multinomial(n_groups, np.full(n_groups, 1.0 / n_groups), size=resamples)
    return np.vstack([np.ones(len(numbers)), drawn[:, numbers]])


def values(judged, weights):
    """Every metric: the value on the test pairs, and one for each resample."""
    parts = [judged.metrics(weights[start : start + 50]) for start in range(0, len(weights), 50)]
    return {name: np.concatenate([part[name] for part in parts]) for name in METRICS}


def standard_error(of_one, of_other):
    """Of the difference of two metrics on the same pairs."""
    return float(np.std(of_one[1:] - of_other[1:], ddof=1))
