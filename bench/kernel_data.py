"""The problems of the kernel benchmark: made anew with fixed seeds, or read from a folder of real data.

cls10, cls50   10,000 or 50,000 items x 20 features, two classes in eight clusters each, 2 % of the labels turned; 10,000 to test
reg            10,000 items x 10 features, a curved function of five of them with noise; 2,000 to test

Real data (`DIR`): the sets of LIBSVM's page as they are, `DIR/libsvm/a9a`, `a9a.t`, `w8a`, and Torgo's regression sets as ARFF,
`DIR/torgo/housing.arff`, `cpu.act.arff`, `cal.housing.arff`; all of them plain or `.xz`. What is not there is left out.
"""

import lzma
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file, make_classification

TEST_SHARE, SPLIT_SEED = 0.2, 8
GRID = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [0.01, 0.03, 0.1, 0.3]}
FOLDS = 5


@dataclass
class Problem:
    """Training and test rows with the parameters of the machine; sparse rows are CSR."""

    name: str
    title: str
    kind: str  # classify (labels -1, 1) or regress
    items: object
    labels: np.ndarray
    test_items: object
    test_labels: np.ndarray
    gamma: float
    c: float
    epsilon: float = 0.0

    def error(self, scores):
        """Share of wrong classes, or root mean squared error."""
        if self.kind == "classify":
            return float((np.where(scores > 0.0, 1.0, -1.0) != self.test_labels).mean())
        return float(np.sqrt(np.mean((scores - self.test_labels) ** 2)))

    def write(self, folder):
        """Text for rankwise, arrays for the others."""
        for suffix, items, labels in (("", self.items, self.labels), ("t", self.test_items, self.test_labels)):
            dump_svmlight_file(items, labels, str(folder / f"{self.name}{suffix}.svm"), zero_based=False)
        save_arrays(folder / f"{self.name}.npz", self.items, self.labels, self.test_items, yt=self.test_labels)


def save_arrays(path, items, labels, test_items, **more):
    arrays = {"y": labels, **more}
    for name, items in (("x", items), ("t", test_items)):
        if sparse.issparse(items):
            arrays |= {f"{name}_data": items.data, f"{name}_indices": items.indices, f"{name}_indptr": items.indptr,
                       f"{name}_shape": items.shape}
        else:
            arrays[name] = items
    np.savez(path, **arrays)


def load_arrays(path):
    """(items, labels, test items) as `save_arrays` left them."""
    with np.load(path) as kept:
        def rows(name):
            if name in kept:
                return kept[name]
            return sparse.csr_matrix((kept[f"{name}_data"], kept[f"{name}_indices"], kept[f"{name}_indptr"]), kept[f"{name}_shape"])

        return rows("x"), kept["y"], rows("t")


def two_classes(n, n_test=10_000):
    items, classes = make_classification(n + n_test, 20, n_informative=8, n_redundant=4, n_clusters_per_class=8, class_sep=1.0,
                                         flip_y=0.02, random_state=5)
    items = np.round((items - items.mean(axis=0)) / items.std(axis=0), 4)
    labels = np.where(classes == 1, 1.0, -1.0)
    return items[:n], labels[:n], items[n:], labels[n:]


def classification(name, n, n_test=10_000):
    title = f"C-SVC, {n:,} items × 20 features"
    return Problem(name, title, "classify", *two_classes(n, n_test), gamma=0.1, c=1.0)


def regression(name="reg", n=10_000, n_test=2_000):
    rng = np.random.default_rng(6)
    x = np.round(rng.uniform(-1.0, 1.0, (n + n_test, 10)), 4)
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * x[:, 3] ** 2 + 0.3 * x[:, 4]
    y = np.round(y + 0.1 * rng.standard_normal(n + n_test), 6)
    return Problem(name, f"ε-SVR, {n:,} items × 10 features", "regress", x[:n], y[:n], x[n:], y[n:], gamma=0.3, c=10.0, epsilon=0.1)


def found(path):
    """The plain or the compressed file, or None."""
    packed = path.with_name(path.name + ".xz")
    return path if path.exists() else packed if packed.exists() else None


def opened(path):
    return lzma.open(path, "rb") if path.suffix == ".xz" else open(path, "rb")


def read_svmlight(path, n_features):
    with opened(path) as file:
        items, labels = load_svmlight_file(file, n_features=n_features)
    return sparse.csr_matrix(items), np.where(labels > 0, 1.0, -1.0)


def read_arff(path):
    """All columns as numbers; the last one is the target."""
    with opened(path) as file:
        lines = [line.strip().rstrip(",") for line in file.read().decode("latin-1").splitlines()]
    begin = next(i for i, line in enumerate(lines) if line.lower().startswith("@data"))
    table = np.array([line.split(",") for line in lines[begin + 1 :] if line and not line.startswith("%")], dtype=float)
    return table[:, :-1], table[:, -1]


def split(n):
    order = np.random.default_rng(SPLIT_SEED).permutation(n)
    held_out = round(TEST_SHARE * n)
    return np.sort(order[held_out:]), np.sort(order[:held_out])


def a9a(folder):
    train, test = found(folder / "libsvm/a9a"), found(folder / "libsvm/a9a.t")
    if not train or not test:
        return None
    parts = (*read_svmlight(train, 123), *read_svmlight(test, 123))
    return Problem("a9a", f"a9a, C-SVC, {parts[0].shape[0]:,} items × 123 sparse features", "classify", *parts, gamma=0.05, c=1.0)


def w8a(folder):
    path = found(folder / "libsvm/w8a")
    if not path:
        return None
    items, labels = read_svmlight(path, 300)
    train, test = split(len(labels))
    return Problem("w8a", f"w8a, C-SVC, {len(train):,} items × 300 sparse features", "classify", items[train], labels[train],
                   items[test], labels[test], gamma=0.05, c=5.0)


def torgo(folder, name, file):
    path = found(folder / f"torgo/{file}.arff")
    if not path:
        return None
    items, labels = read_arff(path)
    train, test = split(len(labels))
    centre, spread = items[train].mean(axis=0), items[train].std(axis=0)
    items = np.round((items - centre) / np.where(spread > 0, spread, 1.0), 6)
    labels = np.round((labels - labels[train].mean()) / labels[train].std(), 6)
    d = items.shape[1]
    return Problem(name, f"{file}, ε-SVR, {len(train):,} items × {d} features", "regress", items[train], labels[train],
                   items[test], labels[test], gamma=1.0 / d, c=10.0, epsilon=0.1)


MADE = {
    "cls10": lambda: classification("cls10", 10_000),
    "reg": regression,
    "cls50": lambda: classification("cls50", 50_000),
}
QUICK = {
    "cls10": lambda: classification("cls10", 1_000, 1_000),
    "reg": lambda: regression(n=1_000, n_test=500),
}
REAL = {
    "a9a": a9a,
    "w8a": w8a,
    "housing": lambda folder: torgo(folder, "housing", "housing"),
    "cpuact": lambda folder: torgo(folder, "cpuact", "cpu.act"),
    "calhousing": lambda folder: torgo(folder, "calhousing", "cal.housing"),
}
