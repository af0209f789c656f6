"""Several classes told apart at once, linear: `rankwise train --classes crammer-singer` beside LinearSVC, the same files in one run.

    python bench/classes.py [--program target/release/rankwise] [--only digits,letters,words]

Both minimise Crammer and Singer's objective with C = 1, the bias a penalised weight of a constant feature. LinearSVC (LIBLINEAR, one
thread) runs at one tolerance after the other, its objective computed from its weights. rankwise runs at its default tolerance, 1e-3, and
at 1e-4: `seconds.train` of `train --json`. Against each run of rankwise stands the fastest run of LinearSVC whose objective is at most
1e-4 of it above.
"""

import argparse
import os
import platform
import sys
from pathlib import Path

import numpy as np
import sklearn
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file, load_digits

from common import ROOT, call, check_program, processor, row, run_peer, seconds, version_of

BIG_C, CLOSE, LIMIT, PASSES = 1.0, 1e-4, 60, 5000
TOLS = (1e-3, 1e-4)
PEER_TOLS = (0.1, 0.07, 0.05, 0.04, 0.03, 0.02, 0.015, 0.01, 0.007, 0.005, 0.003, 0.002, 1e-3, 5e-4, 2e-4, 1e-4)


def digits():
    found = load_digits()
    return found.data / 16, found.target


def letters():
    random = np.random.default_rng(0)
    labels = random.integers(0, 26, 8000)
    x = random.normal(size=(26, 16))[labels] + random.normal(size=(8000, 16))
    return np.round((x - x.mean(axis=0)) / x.std(axis=0), 6), labels


def words():
    """Texts of 50 words, 12 of them from the 500 of their class, the others rather common ones; rows of length 1."""
    random = np.random.default_rng(0)
    n, n_words, n_classes, long = 5000, 20000, 20, 50
    labels = random.integers(0, n_classes, n)
    own = [random.permutation(n_words)[:500] for _ in range(n_classes)]
    columns = np.empty((n, long), dtype=np.int32)
    for at, label in enumerate(labels):
        some = random.choice(own[label], 12, replace=False)
        others = np.setdiff1d((n_words * random.random(150) ** 2).astype(int), some)
        columns[at] = np.sort(np.concatenate([some, random.permutation(others)[: long - 12]]))
    values = random.random((n, long)) + 0.1
    values = np.round(values / np.linalg.norm(values, axis=1, keepdims=True), 6)
    return csr_matrix((values.ravel(), columns.ravel(), np.arange(0, n * long + 1, long)), shape=(n, n_words)), labels


SETS = {"digits": digits, "letters": letters, "words": words}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/release/rankwise"), help="default: target/release/rankwise")
    parser.add_argument("--only", default=",".join(SETS), help="sets, by default all")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each, the fastest counts (default 5)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path, default=ROOT / "bench/data", help="folder for the generated files")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/classes.md")
    options = parser.parse_args()
    check_program(options.program)
    options.data.mkdir(parents=True, exist_ok=True)
    lines, problems = [], []
    for name in options.only.split(","):
        x, labels = SETS[name]()
        file = options.data / f"classes.{name}.txt"
        dump_svmlight_file(x, labels, str(file), zero_based=False)
        size = f"{x.shape[0]} × {x.shape[1]}, {labels.max() + 1}"
        task = {"tool": "LinearSVC", "file": str(file), "is_sparse": name == "words", "C": BIG_C, "tols": PEER_TOLS,
                "repeats": options.repeats, "passes": PASSES}
        peers = (run_peer("classes_peer.py", LIMIT, 1, task) or {"runs": []})["runs"]
        for tol in TOLS:
            train = ["train", file, "--method", "classify", "--classes", "crammer-singer", "--C", BIG_C, "--tol", tol]
            train += ["--threads", options.threads, "-o", options.data / "classes.model"]
            runs = [call(options.program, *train) for _ in range(options.repeats)]
            ours = min(runs, key=lambda run: run["seconds"]["train"])
            value, took = ours["objective"], ours["seconds"]["train"]
            as_good = [peer for peer in peers if peer["objective"] <= (1 + CLOSE) * value]
            peer = min(as_good, key=lambda run: run["seconds"], default=None)
            if peer is None:
                problems.append(f"{name}: LinearSVC did not reach {value:.2f}")
            else:
                lines.append(row(name, size, f"LinearSVC, tol {peer['tol']:g}", seconds(peer["seconds"]), f"{peer['objective']:.2f}", "", 1.0))
            faster = "" if peer is None else f"{peer['seconds'] / took:.1f}"
            lines.append(row(name, size, f"rankwise, tol {tol:g}", seconds(took), f"{value:.2f}", f"{ours['gap']:.1e}", faster))
            if peers and value > (1 + tol) * min(peer["objective"] for peer in peers):
                problems.append(f"{name}: rankwise's {value:.2f} is not within {tol:g} of the best objective")
    markdown = "\n".join([
        "# Several classes at once",
        "",
        f"Crammer and Singer's linear machine, C = {BIG_C:g}. {processor()}, {os.cpu_count()} cores, {options.threads} threads (LinearSVC: 1). "
        f"{version_of(options.program)}; scikit-learn {sklearn.__version__}, numpy {np.__version__}, Python {platform.python_version()}. Each "
        f"run of rankwise stands below the fastest one of LinearSVC whose objective is at most {CLOSE:g} of it above.",
        "",
        row("set", "items × features, classes", "tool", "solve s", "objective", "gap", "times faster"),
        "|---|---|---|--:|--:|--:|--:|",
        *lines,
        "",
        "Objectives agree within the tolerance." if not problems else "**" + "; ".join(problems) + "**",
        "",
    ])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(markdown)
    print(markdown)
    if problems:
        sys.exit("; ".join(problems))


if __name__ == "__main__":
    main()
