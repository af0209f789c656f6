"""Games for ratings.py, made with fixed seeds by Davidson's model, and that model's likelihood and optimum in numpy.

A cell is an unordered pair of items (first < second) with its counts of games that the first won, tied and lost. With
d = r_first - r_second the chances of a game are e^(d/2) : nu : e^(-d/2); where ties count as half a win for either side there is
no nu, and a tie pulls nowhere.
"""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, cg

ELO = 400 / np.log(10)
WORDS = np.array(["left", "tie", "right"])


def chances(d, nu):
    """P(left), P(tie), P(right) by columns."""
    parts = np.stack([np.exp(d / 2), np.full(len(d), nu), np.exp(-d / 2)], axis=1)
    return parts / parts.sum(axis=1, keepdims=True)


def nu_for(d, share):
    """The nu with which that share of games is tied on average."""
    low, high = 1e-6, 1e6
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if chances(d, middle)[:, 1].mean() < share else (low, middle)
    return np.sqrt(low * high)


def draw(seed, n_items, n_games, ties, spread=1.0, zipf=0.0):
    """Left, right, outcome (-1, 0, 1) of every game and the true strengths; item k appears in proportion to (k + 1)^-zipf."""
    random = np.random.default_rng(seed)
    r = spread * random.normal(size=n_items)
    r -= r.mean()
    popular = np.cumsum(np.arange(1.0, n_items + 1) ** -zipf)
    pick = lambda n: np.minimum(np.searchsorted(popular, random.uniform(0, popular[-1], n)), n_items - 1)
    left, right = pick(n_games), pick(n_games)
    while (same := np.flatnonzero(left == right)).size:
        right[same] = pick(same.size)
    d = r[left] - r[right]
    cumulated = np.cumsum(chances(d, nu_for(d, ties)), axis=1)
    outcome = (random.uniform(size=n_games)[:, None] > cumulated[:, :2]).sum(axis=1) - 1
    return {"left": left.astype(np.int32), "right": right.astype(np.int32), "outcome": outcome.astype(np.int8), "r": r}


def is_finite(games):
    """Whether the strengths that explain the games best are finite: everyone is linked to everyone by wins, and by losses."""
    left, right, outcome = games["left"], games["right"], games["outcome"]
    wins = np.concatenate([np.stack([left, right])[:, outcome <= 0], np.stack([right, left])[:, outcome >= 0]], axis=1)
    n = len(games["r"])
    graph = coo_matrix((np.ones(wins.shape[1]), (wins[0], wins[1])), shape=(n, n)).tocsr()
    return connected_components(graph, connection="strong")[0] == 1


def write(path, games):
    """A table of pairs: left, right, outcome."""
    lines = zip(games["left"].tolist(), games["right"].tolist(), WORDS[games["outcome"] + 1].tolist())
    with open(path, "w") as file:
        file.write("left,right,outcome\n")
        file.writelines(f"i{a},i{b},{word}\n" for a, b, word in lines)


def write_halves(path, games):
    """The same with every tie as half a win for either side."""
    lines = zip(games["left"].tolist(), games["right"].tolist(), games["outcome"].tolist())
    with open(path, "w") as file:
        file.write("left,right,outcome,weight\n")
        for a, b, outcome in lines:
            if outcome:
                file.write(f"i{a},i{b},{'left' if outcome < 0 else 'right'},1\n")
            else:
                file.write(f"i{a},i{b},left,0.5\ni{a},i{b},right,0.5\n")


def halves(games):
    """(left, right, outcome, weight) with every tie as half a win for either side."""
    tied = games["outcome"] == 0
    left, right = (np.concatenate([games[side], games[side][tied]]) for side in ("left", "right"))
    outcome = np.concatenate([np.where(tied, -1, games["outcome"]), np.ones(tied.sum(), dtype=int)])
    weight = np.concatenate([np.where(tied, 0.5, 1.0), np.full(tied.sum(), 0.5)])
    return left, right, outcome, weight


def cells(games):
    """(first, second, counts of first won, tied, second won) of every pair of items that met."""
    n = len(games["r"])
    left, right = games["left"].astype(np.int64), games["right"].astype(np.int64)
    is_turned = left > right
    kind = np.where(is_turned, -games["outcome"], games["outcome"]) + 1
    first, second = np.minimum(left, right), np.maximum(left, right)
    pairs, where = np.unique(first * n + second, return_inverse=True)
    counts = np.bincount(where * 3 + kind, minlength=3 * len(pairs)).reshape(-1, 3).astype(float)
    return pairs // n, pairs % n, counts


def likelihood(met, r, ln_nu):
    """Negative log-likelihood, slopes in r and ln nu, and the curvatures (dd, d ln nu, ln nu ln nu) of every cell. Ties are halves for
    ln_nu None."""
    first, second, counts = met
    d = r[first] - r[second]
    logs = np.stack([d / 2, np.full(len(d), -np.inf if ln_nu is None else ln_nu), -d / 2], axis=1)
    most = logs.max(axis=1)
    total = most + np.log(np.exp(logs - most[:, None]).sum(axis=1))
    p = np.exp(logs - total[:, None])
    n = counts.sum(axis=1)
    value = n @ total - (counts[:, 0] - counts[:, 2]) @ d / 2 - (0.0 if ln_nu is None else ln_nu * counts[:, 1].sum())
    lead = p[:, 0] - p[:, 2]
    by_d = n * lead / 2 - (counts[:, 0] - counts[:, 2]) / 2
    slope = np.bincount(first, by_d, len(r)) - np.bincount(second, by_d, len(r))
    by_nu = n @ p[:, 1] - counts[:, 1].sum()
    curves = n * (p[:, 0] + p[:, 2] - lead**2) / 4, -n * lead * p[:, 1] / 2, n @ (p[:, 1] * (1 - p[:, 1]))
    return value, slope, by_nu, curves


def optimum(met, n_items, with_ties):
    """Strengths (sum 0), ln nu and the least negative log-likelihood, by Newton's method with conjugate gradients."""
    first, second, _ = met
    x = np.zeros(n_items + with_ties)
    ln_nu = lambda x: x[-1] if with_ties else None
    for _ in range(100):
        value, slope, by_nu, (dd, mixed, nunu) = likelihood(met, x[:n_items], ln_nu(x))
        gradient = np.append(slope, by_nu) if with_ties else slope
        if np.abs(gradient).max() < 1e-7:
            break
        cross = np.bincount(first, mixed, n_items) - np.bincount(second, mixed, n_items)
        diagonal = np.bincount(first, dd, n_items) + np.bincount(second, dd, n_items)

        def times(v):
            lead = dd * (v[first] - v[second])
            product = np.bincount(first, lead, n_items) - np.bincount(second, lead, n_items)
            return np.append(product + cross * v[-1], cross @ v[:n_items] + nunu * v[-1]) if with_ties else product

        scale = 1 / (np.append(diagonal, nunu) if with_ties else diagonal)
        size = len(x)
        step, _ = cg(LinearOperator((size, size), times), -gradient, rtol=1e-8, maxiter=2000,
                     M=LinearOperator((size, size), lambda v: scale * v))
        length = 1.0
        while likelihood(met, (x + length * step)[:n_items], ln_nu(x + length * step))[0] > value + 1e-9 * abs(value) and length > 1e-6:
            length /= 2
        x = x + length * step
        x[:n_items] -= x[:n_items].mean()
    else:
        raise AssertionError(f"no optimum found: largest slope {np.abs(gradient).max()}")
    return x[:n_items], ln_nu(x), value


def sandwich(met, r, ln_nu):
    """Standard errors of r (sum 0) over games drawn anew: A^-1 B A^-1, A the curvature, B the sum of squared slopes of the games."""
    first, second, counts = met
    n = len(r)
    with_ties = ln_nu is not None
    _, _, _, (dd, mixed, nunu) = likelihood(met, r, ln_nu)
    p = chances(r[first] - r[second], np.exp(ln_nu) if with_ties else 0.0)
    A, B = np.zeros((n + with_ties,) * 2), np.zeros((n + with_ties,) * 2)

    def add(matrix, dd, dn, nn):
        np.add.at(matrix, (first, first), dd)
        np.add.at(matrix, (second, second), dd)
        np.add.at(matrix, (first, second), -dd)
        np.add.at(matrix, (second, first), -dd)
        if with_ties:
            cross = np.bincount(first, dn, n) - np.bincount(second, dn, n)
            matrix[:n, n] += cross
            matrix[n, :n] += cross
            matrix[n, n] += nn

    add(A, dd, mixed, nunu)
    for outcome in range(3):
        by_d = (1 - outcome) / 2 - (p[:, 0] - p[:, 2]) / 2
        by_nu = (outcome == 1) - p[:, 1]
        c = counts[:, outcome]
        add(B, c * by_d**2, c * by_d * by_nu, c @ by_nu**2)
    inverse = np.linalg.pinv(A)
    return np.sqrt(np.diag(inverse @ B @ inverse))[:n]
