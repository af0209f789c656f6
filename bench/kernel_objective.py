"""Primal and dual value of a kernel machine in double precision, from its coefficients and bias alone.

    P = 1/2 |w|^2 + C sum loss,   loss = max(0, 1 - y f(x)) to classify, max(0, |y - f(x)| - epsilon) to regress,
    D = sum y c - 1/2 |w|^2 to classify, sum y c - epsilon sum |c| - 1/2 |w|^2 to regress,

with f(x) = sum c k(x_i, x) + bias and |w|^2 = sum c_i c_j k(x_i, x_j). For D the coefficients are first made feasible (0 <= y c <= C or
|c| <= C, and sum c = 0), so that P - D bounds the distance to the optimum whatever precision the machine was computed in.
"""

import numpy as np
from scipy import sparse

BLOCK_VALUES = 1 << 24


def dense(items):
    return items.toarray() if sparse.issparse(items) else np.asarray(items, dtype=float)


def feasible(problem, coefficients):
    """The nearest thing to the coefficients that the dual problem allows."""
    if problem.kind == "classify":
        c = problem.labels * np.clip(problem.labels * coefficients, 0.0, problem.c)
    else:
        c = np.clip(coefficients, -problem.c, problem.c)
    up, down = c[c > 0].sum(), -c[c < 0].sum()
    if up > down:
        c[c > 0] *= down / up
    elif down > up:
        c[c < 0] *= up / down
    return c


def values(problem, coefficients, bias):
    """P, D, their relative gap and the number of support items; `coefficients` has one for each training item."""
    support = np.flatnonzero(coefficients)
    allowed = feasible(problem, coefficients)
    items, y = dense(problem.items), problem.labels
    at_support = items[support]
    both = np.stack([coefficients[support], allowed[support]], axis=1)
    squares, support_squares = (items * items).sum(axis=1), (at_support * at_support).sum(axis=1)
    scores = np.zeros((len(items), 2))
    step = max(1, BLOCK_VALUES // max(1, len(support)))
    for start in range(0, len(items), step):
        rows = slice(start, start + step)
        kernel = items[rows] @ at_support.T
        kernel *= 2.0
        kernel -= squares[rows, None]
        kernel -= support_squares
        np.minimum(kernel, 0.0, out=kernel)
        kernel *= problem.gamma
        scores[rows] = np.exp(kernel, out=kernel) @ both
    norm, allowed_norm = float(coefficients @ scores[:, 0]), float(allowed @ scores[:, 1])
    f = scores[:, 0] + bias
    if problem.kind == "classify":
        losses = np.maximum(0.0, 1.0 - y * f)
    else:
        losses = np.maximum(0.0, np.abs(y - f) - problem.epsilon)
    primal = 0.5 * norm + problem.c * float(losses.sum())
    dual = float(y @ allowed) - problem.epsilon * float(np.abs(allowed).sum()) - 0.5 * allowed_norm
    return {"primal": primal, "dual": dual, "gap": (primal - dual) / max(primal, 1e-300), "support": len(support)}


def spread_over_copies(problem, support_items, support_coefficients):
    """(a coefficient for each training item, those that belong to no training item).

    A support item may stand for several training items with the same features. Its coefficient is dealt out to them so that D is
    largest: each takes its share where D rises most. Where coefficients of such items cancel, there is no support item: 0 is dealt out.
    """
    key = lambda row: np.ascontiguousarray(row, dtype=np.float32).tobytes()
    copies = {}
    for i, row in enumerate(dense(problem.items) + 0.0):
        copies.setdefault(key(row), []).append(i)
    totals, strays = {}, 0
    for row, total in zip(dense(support_items) + 0.0, support_coefficients):
        if key(row) in copies:
            totals[key(row)] = totals.get(key(row), 0.0) + total
        else:
            strays += 1
    coefficients = np.zeros(len(problem.labels))
    for row, rows in copies.items():
        total = totals.get(row, 0.0)
        coefficients[rows] = total if len(rows) == 1 else dealt(problem, problem.labels[rows], total)
    return coefficients, strays


def dealt(problem, y, total):
    """Parts that add up to `total` and make  sum y c - epsilon sum |c|  largest within the bounds."""
    c = problem.c
    if problem.kind == "classify":
        parts = np.where(y > 0, 0.0, -c)
        pieces = [(label, i) for i, label in enumerate(y)]
    else:
        parts = np.full(len(y), -c)
        pieces = [(label + problem.epsilon, i) for i, label in enumerate(y)]
        pieces += [(label - problem.epsilon, i) for i, label in enumerate(y)]
    missing = total - parts.sum()
    for _, i in sorted(pieces, key=lambda piece: -piece[0]):
        step = min(c, missing)
        if step <= 0.0:
            break
        parts[i] += step
        missing -= step
    return parts
