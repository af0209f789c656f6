"""Comparisons made with a fixed seed, as fast as they can be written: a table of items and a table of pairs of them.

Features are normal and kept to 4 decimals. The better item is the one with the higher score after noise; scores that are closer
than a band after noise are a tie. The band is set so that about a quarter of the pairs are ties.
"""

import numpy as np

BLOCK = 500_000
WORDS = ("left", "tie", "right")
TIE_SHARE = 0.25


def words_table():
    """The bytes of an outcome at the end of a line, and which of them count."""
    width = max(map(len, WORDS)) + 1
    padded = [f"{word}\n".ljust(width).encode() for word in WORDS]
    letters = np.frombuffer(b"".join(padded), dtype=np.uint8).reshape(len(WORDS), width)
    return letters, letters != ord(" ")


def digits(numbers, width):
    """The decimal digits of whole numbers, as letters, with leading zeros."""
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=numbers.dtype)
    return (numbers[:, None] // powers % 10 + ord("0")).astype(np.uint8)


def items(seed, n_items, n_features):
    """Features and true scores."""
    rng = np.random.default_rng(seed)
    features = np.round(rng.standard_normal((n_items, n_features)), 4).astype(np.float32)
    weights = np.random.default_rng(seed + 1).standard_normal(n_features) / np.sqrt(n_features)
    return features, features @ weights


def blocks(seed, scores, n_pairs, noise=0.5):
    """(left, right, outcome) in blocks; an item never meets itself."""
    rng = np.random.default_rng(seed + 2)
    spread = np.sqrt(2.0 * scores.var() + noise**2)
    band = 0.3186 * spread  # a quarter of a normal distribution lies within
    for start in range(0, n_pairs, BLOCK):
        size = min(BLOCK, n_pairs - start)
        left = rng.integers(0, len(scores), size)
        right = (left + rng.integers(1, len(scores), size)) % len(scores)
        margin = scores[right] - scores[left] + noise * rng.standard_normal(size)
        yield left, right, np.sign(margin).astype(int) * (np.abs(margin) > band)


def write_items(path, features):
    """`id` and the features x0, x1, …"""
    n_items, n_features = features.shape
    width = len(str(n_items - 1))
    header = ",".join(["id", *(f"x{k}" for k in range(n_features))])
    with path.open("w") as file:
        file.write(f"{header}\n")
        for start in range(0, n_items, 10_000):
            rows = features[start : start + 10_000]
            line = "i%0" + str(width) + "d," + ",".join(["%.4g"] * n_features)
            file.write("\n".join(line % (start + k, *row) for k, row in enumerate(rows.tolist())) + "\n")


def write_pairs(path, pairs, n_items):
    """`left`, `right`, `outcome`, a block of lines at a time."""
    width = len(str(n_items - 1))
    endings, counts = words_table()
    with path.open("wb") as file:
        file.write(b"left,right,outcome\n")
        for left, right, outcomes in pairs:
            lines = np.empty((len(left), 2 * width + 4 + endings.shape[1]), dtype=np.uint8)
            lines[:, [0, width + 2]] = ord("i")
            lines[:, [width + 1, 2 * width + 3]] = ord(",")
            lines[:, 1 : width + 1] = digits(left, width)
            lines[:, width + 3 : 2 * width + 3] = digits(right, width)
            lines[:, 2 * width + 4 :] = endings[outcomes + 1]
            kept = np.ones(lines.shape, dtype=bool)
            kept[:, 2 * width + 4 :] = counts[outcomes + 1]
            file.write(lines[kept].tobytes())


def make(name, folder, seed, n_items, n_features, n_pairs):
    """(items file, pairs file), written unless they are there."""
    item_file, pair_file = folder / f"{name}.items.csv", folder / f"{name}.pairs.csv"
    if not (item_file.exists() and pair_file.exists()):
        features, scores = items(seed, n_items, n_features)
        write_items(item_file, features)
        unfinished = pair_file.with_suffix(".part")
        write_pairs(unfinished, blocks(seed, scores, n_pairs), n_items)
        unfinished.rename(pair_file)
    return item_file, pair_file
