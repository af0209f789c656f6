"""What the ranking benchmark measures, written out plainly and the same for every tool."""

import numpy as np

BLOCK = 512


def groups(qid):
    """The rows of each group, in the order of the file."""
    order = np.argsort(qid, kind="stable")
    cuts = np.flatnonzero(np.diff(qid[order])) + 1
    return np.split(order, cuts)


def pair_accuracy(labels, qid, scores):
    """Share of the pairs of different labels that are in order, pooled over groups; equal scores are wrong."""
    right = total = 0
    for rows in groups(qid):
        label, score = labels[rows], scores[rows]
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            better = label[part, None] > label
            total += np.count_nonzero(better)
            right += np.count_nonzero(better & (score[part, None] > score))
    return right / total


def ndcg(labels, qid, scores, k=10):
    """Gain 2^label - 1, discount 1/log2(1 + rank), equal scores averaged, groups without gain left out."""
    values = []
    for rows in groups(qid):
        gains = 2.0 ** labels[rows] - 1.0
        discounts = np.where(np.arange(len(rows)) < k, 1.0 / np.log2(np.arange(len(rows)) + 2.0), 0.0)
        best = np.sort(gains)[::-1] @ discounts
        if best > 0.0:
            _, run, size = np.unique(-scores[rows], return_inverse=True, return_counts=True)
            mean_gain = np.bincount(run, weights=gains) / size
            values.append(np.repeat(mean_gain, size) @ discounts / best)
    return float(np.mean(values))


def letor(labels, qid, scores, k=10):
    """(MAP, NDCG@k) as the LETOR scripts count: equal scores in the order of the file, groups with nothing to find are 0,
    discount 1 at ranks 1 and 2, then 1/log2(rank), and NDCG@k of a group of fewer than k items is 0."""
    precisions, gains_found = [], []
    for rows in groups(qid):
        label = labels[rows][np.argsort(-scores[rows], kind="stable")]
        relevant = label >= 1
        ranks = np.arange(1, len(label) + 1)
        found = relevant.sum()
        precisions.append((relevant.cumsum() / ranks)[relevant].sum() / found if found else 0.0)
        if len(label) < k or not found:
            gains_found.append(0.0)
            continue
        discounts = 1.0 / np.maximum(1.0, np.log2(ranks[:k]))
        best = (2.0 ** np.sort(label)[::-1][:k] - 1.0) @ discounts
        gains_found.append((2.0 ** label[:k] - 1.0) @ discounts / best)
    return float(np.mean(precisions)), float(np.mean(gains_found))


def objective(weights, scores, labels, qid, c, loss):
    """1/2 |w|^2 + C * sum over the pairs of a group with label_i > label_j of loss(1 - (score_i - score_j))."""
    total = 0.0
    for rows in groups(qid):
        label, score = labels[rows], scores[rows]
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            margins = (score[part, None] - score)[label[part, None] > label]
            if loss == "squared-hinge":
                total += (np.maximum(0.0, 1.0 - margins) ** 2).sum()
            elif loss == "hinge":
                total += np.maximum(0.0, 1.0 - margins).sum()
            else:
                total += np.logaddexp(0.0, -margins).sum()
    return float(0.5 * weights @ weights + c * total)


def n_pairs(labels, qid):
    total = 0
    for rows in groups(qid):
        sizes = np.unique(labels[rows], return_counts=True)[1]
        total += (len(rows) ** 2 - int((sizes**2).sum())) // 2
    return total
