"""The data of the ranking benchmark: seeded, rounded to 4 decimals, written once as text in SVMlight's format.

S1   100 groups x 100 items x  50 features, five grades of equal size
S2 2,000 groups x 100 items x 136 features, five grades, few of them high
S3 one group of 100,000 items x 20 features, a real target that is not quite linear
S4   200 groups x 100 items, 50,000 sparse features, about 100 in an item, five grades

Each has a test set (`t`) of fresh items for the same true weights. `NAME.txt` has a qid in every line; `NAME.noqid.txt` is the
same without, beside `NAME.noqid.txt.query` with the sizes of the groups, for readers that want it so; `NAME.npz` holds labels and
groups alone.
"""

import numpy as np
from scipy import sparse

EQUAL = (0.2, 0.2, 0.2, 0.2, 0.2)
SKEWED = (0.52, 0.32, 0.13, 0.02, 0.01)
FALLING = (0.3, 0.3, 0.2, 0.12, 0.08)
BLOCK = 20_000


def grades(values, shares):
    cuts = np.quantile(values, np.cumsum(shares)[:-1])
    return np.searchsorted(cuts, values).astype(float)


def true_weights(n_features):
    return np.random.default_rng(1000 + n_features).standard_normal(n_features) / np.sqrt(n_features)


def groups_of(n_groups, per_group):
    return np.repeat(np.arange(1, n_groups + 1), per_group)


def dense(seed, n_groups, per_group, n_features, shares, noise):
    """Normal features, half as much again of the group's own; linear utilities with noise, cut into grades."""
    rng = np.random.default_rng(seed)
    qid = groups_of(n_groups, per_group)
    items = rng.standard_normal((len(qid), n_features))
    items += 0.5 * rng.standard_normal((n_groups, n_features))[qid - 1]
    items = np.round(items, 4)
    utility = items @ true_weights(n_features) + noise * rng.standard_normal(len(qid))
    return items, grades(utility, shares), qid


def one_group_blocks(seed, n, n_features=20):
    """(items, targets) of a group of n, block by block: any n in constant memory.

    The noise is drawn after all features. So one stream draws the features only to get past them, and a second one, of the same
    seed, draws them again while the first goes on with the noise.
    """
    weights = true_weights(n_features)
    features, noise = np.random.default_rng(seed), np.random.default_rng(seed)
    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    for size in sizes:
        noise.standard_normal((size, n_features))
    for size in sizes:
        items = np.round(features.standard_normal((size, n_features)), 4)
        target = items @ weights + 0.2 * np.sin(3 * items[:, 0]) + 0.5 * noise.standard_normal(size)
        yield items, np.round(target, 6)


def one_group(seed, n):
    items, targets = zip(*one_group_blocks(seed, n))
    return np.concatenate(items), np.concatenate(targets), np.ones(n, dtype=int)


def sparse_groups(seed, n_groups, per_group, n_features=50_000, per_item=100):
    """Features as frequent as words are, items of length 1."""
    rng, world = np.random.default_rng(seed), np.random.default_rng(1004)
    weights = world.standard_normal(n_features)
    frequency = 1.0 / (np.arange(n_features) + 50.0)
    reach = np.cumsum(frequency / frequency.sum())
    place = world.permutation(n_features)
    qid = groups_of(n_groups, per_group)
    columns = []
    for _ in qid:
        drawn = np.unique(np.searchsorted(reach, rng.random(4 * per_item)).clip(0, n_features - 1))
        columns.append(np.sort(place[rng.permutation(drawn)[:per_item]]))
    starts = np.concatenate([[0], np.cumsum([len(column) for column in columns])])
    columns = np.concatenate(columns)
    values = np.exp(0.5 * rng.standard_normal(len(columns)))
    length = np.sqrt(np.add.reduceat(values * values, starts[:-1]))
    values = np.round(values / np.repeat(length, np.diff(starts)), 4)
    items = sparse.csr_matrix((values, columns, starts), shape=(len(qid), n_features))
    utility = items @ weights + 0.3 * rng.standard_normal(len(qid))
    return items, grades(utility, FALLING), qid


SETS = {
    "s1": lambda: dense(1, 100, 100, 50, EQUAL, 0.5),
    "s1t": lambda: dense(11, 50, 100, 50, EQUAL, 0.5),
    "s2": lambda: dense(2, 2000, 100, 136, SKEWED, 0.7),
    "s2t": lambda: dense(12, 200, 100, 136, SKEWED, 0.7),
    "s3": lambda: one_group(3, 100_000),
    "s3t": lambda: one_group(13, 20_000),
    "s4": lambda: sparse_groups(4, 200, 100),
    "s4t": lambda: sparse_groups(14, 50, 100),
}


def lines(items, labels, qid):
    """Text, a line per item; ten digits give every value back as it is."""
    prefix = "%.10g" if qid is None else "%.10g qid:%d"
    heads = labels.tolist() if qid is None else list(zip(labels.tolist(), qid.tolist()))
    if sparse.issparse(items):
        starts, columns, values = items.indptr, (items.indices + 1).tolist(), items.data.tolist()
        for i, head in enumerate(heads):
            span = slice(starts[i], starts[i + 1])
            pairs = " ".join("%d:%.10g" % pair for pair in zip(columns[span], values[span]))
            yield f"{prefix % head} {pairs}\n"
    else:
        shape = " ".join([prefix] + [f"{j + 1}:%.10g" for j in range(items.shape[1])]) + "\n"
        for start in range(0, len(heads), BLOCK):
            block = (items[start : start + BLOCK] + 0.0).tolist()
            for head, values in zip(heads[start : start + BLOCK], block):
                yield shape % ((*head, *values) if qid is not None else (head, *values))


def write_lines(path, parts):
    """Only a complete file gets its name."""
    beside = path.with_name(path.name + ".part")
    with open(beside, "w", encoding="ascii") as file:
        for part in parts:
            file.writelines(part)
    beside.rename(path)


def make(name, folder, without_qid=False):
    """The path of NAME.txt, written if it is not there."""
    path, facts, plain = folder / f"{name}.txt", folder / f"{name}.npz", folder / f"{name}.noqid.txt"
    if path.exists() and facts.exists() and (plain.exists() or not without_qid):
        return path
    folder.mkdir(parents=True, exist_ok=True)
    items, labels, qid = SETS[name]()
    np.savez(facts, labels=labels, qid=qid)
    if not path.exists():
        write_lines(path, [lines(items, labels, qid)])
    if without_qid and not plain.exists():
        sizes = np.unique(qid, return_counts=True)[1]
        plain.with_name(plain.name + ".query").write_text("".join(f"{size}\n" for size in sizes))
        write_lines(plain, [lines(items, labels, None)])
    return path


def make_one_group(n, folder):
    """The recipe of S3 at any size."""
    path = folder / f"one_group.{n}.txt"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_lines(path, (lines(items, targets, np.ones(len(targets), int)) for items, targets in one_group_blocks(3, n)))
    return path
