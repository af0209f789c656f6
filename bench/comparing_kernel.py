"""Comparison with ties through a kernel: rankwise beside scikit-learn, the same pairs in the same run.

    python bench/comparing_kernel.py [--program target/release/rankwise] [--sizes 800,5000] [--explicit-max 20000]

Both minimise  1/2 |u|^2 + C [sum over wins max(0, 1 - beta - z) + sum over ties (max(0, 1 + beta + z) + max(0, 1 + beta - z))],
z = u.(phi(right) - phi(left)) pointed at the better side, with the kernel exp(-|x - x'|^2 / 2) and C = 1.

explicit   what one does without a program for it: turn wins into rows of class +1 and each tie into two opposite rows of
           class -1, compute the kernel matrix of all rows with numpy, and give it to SVC(kernel="precomputed").
           It runs in a process of its own, so that its peak memory is its own.
rankwise   `rankwise train` on the pairs as a CSV file.

Data: x, x' uniform in [-3, 3]^2, r(x) = (|x1| + |x2|)^2, a tie when |r(x') - r(x) + noise| <= 1, exactly half ties.
Test error is on 10,000 pairs without noise. Sizes up to 5,000 are run five times and the fastest is shown.
"""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import sklearn
from sklearn.svm import SVC

from common import ROOT, call, check_program, memory, peak_memory, processor, row, seconds, version_of

GAMMA, C, TOL = 0.5, 1.0, 1e-3
TRAIN_SEED, TEST_SEED, NOISE, N_TEST = 20, 21, 0.5, 10_000
BLOCK = 4096
AGREE = 1e-3


def draw_pairs(n, seed, noise):
    """(left, right, outcomes): candidates come in blocks; each kind, tie or not, is taken in order until it is complete."""
    rng = np.random.default_rng(seed)
    missing = {True: n // 2, False: n - n // 2}
    lefts, rights, outcomes = [], [], []
    while any(missing.values()):
        left = rng.uniform(-3.0, 3.0, size=(BLOCK, 2))
        right = rng.uniform(-3.0, 3.0, size=(BLOCK, 2))
        margin = np.abs(right).sum(axis=1) ** 2 - np.abs(left).sum(axis=1) ** 2 + noise * rng.standard_normal(BLOCK)
        outcome = np.sign(margin).astype(int) * (np.abs(margin) > 1.0)
        taken = np.zeros(BLOCK, dtype=bool)
        for is_tie in missing:
            first = np.flatnonzero((outcome == 0) == is_tie)[: missing[is_tie]]
            taken[first] = True
            missing[is_tie] -= len(first)
        lefts.append(left[taken])
        rights.append(right[taken])
        outcomes.append(outcome[taken])
    return np.concatenate(lefts), np.concatenate(rights), np.concatenate(outcomes)


def write_pairs(path, pairs):
    left, right, outcomes = pairs
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["left.x1", "left.x2", "right.x1", "right.x2", "outcome"])
        for a, b, outcome in zip(left.tolist(), right.tolist(), outcomes.tolist()):
            table.writerow([repr(v) for v in (*a, *b)] + [outcome])


def rbf(a, b):
    block = a @ b.T
    block *= 2.0
    block -= (a * a).sum(axis=1)[:, None]
    block -= (b * b).sum(axis=1)
    block *= GAMMA
    return np.exp(block, out=block)


def pair_kernel(worse, better, other_worse, other_better):
    block = rbf(better, other_better)
    block -= rbf(better, other_worse)
    block -= rbf(worse, other_better)
    block += rbf(worse, other_worse)
    return block


def explicit_matrix(worse, better, n_wins):
    """The kernel of the rows (wins, ties, ties mirrored); what mirrors something else is copied, not computed."""
    n = len(worse)
    matrix = np.empty((2 * n - n_wins,) * 2)
    step = max(1, 1_000_000 // n)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        matrix[rows, :n] = pair_kernel(worse[rows], better[rows], worse, better)
    np.negative(matrix[:n, n_wins:n], out=matrix[:n, n:])
    np.negative(matrix[n_wins:n], out=matrix[n:])
    return matrix


def run_explicit(n):
    """The explicit route once, in this process."""
    left, right, outcomes = draw_pairs(n, TRAIN_SEED, NOISE)
    order = np.argsort(outcomes == 0, kind="stable")  # wins first
    left, right, outcomes = left[order], right[order], outcomes[order]
    exchanged = (outcomes < 0)[:, None]
    worse, better = np.where(exchanged, right, left), np.where(exchanged, left, right)
    n_wins = int((outcomes != 0).sum())

    start = time.perf_counter()
    matrix = explicit_matrix(worse, better, n_wins)
    build = time.perf_counter() - start
    signs = np.where(np.arange(len(matrix)) < n_wins, 1.0, -1.0)
    machine = SVC(kernel="precomputed", C=C, tol=TOL, cache_size=500)
    start = time.perf_counter()
    machine.fit(matrix, signs)
    solve = time.perf_counter() - start
    peak = peak_memory()

    signed = np.zeros(len(matrix))  # y_k a_k
    signed[machine.support_] = machine.dual_coef_[0]
    beta = float(machine.intercept_[0])
    margins = matrix @ signed
    norm = float(signed @ margins)
    primal = 0.5 * norm + C * float(np.maximum(0.0, 1.0 - signs * (beta + margins)).sum())
    dual = float(np.abs(signed).sum()) - 0.5 * norm

    pair_signed = signed[:n].copy()  # a mirrored tie counts against its pair
    pair_signed[n_wins:] -= signed[n:]
    support = np.flatnonzero(pair_signed)
    test_left, test_right, test_outcomes = draw_pairs(N_TEST, TEST_SEED, 0.0)
    z = pair_kernel(test_left, test_right, worse[support], better[support]) @ pair_signed[support]
    predicted = np.sign(z).astype(int) * (np.abs(z) > max(0.0, -beta))
    return {
        "build": build,
        "solve": solve,
        "peak_memory_bytes": peak,
        "primal": primal,
        "dual": dual,
        "beta": beta,
        "support_pairs": len(np.flatnonzero((signed[:n] != 0) | np.r_[np.zeros(n_wins, bool), signed[n:] != 0])),
        "test_error": float((predicted != test_outcomes).mean()),
    }


def explicit(n, repeats, threads):
    """The fastest of several runs, each in a fresh process."""
    limit = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    runs = []
    for _ in range(repeats):
        command = [sys.executable, __file__, "--explicit-once", str(n)]
        done = subprocess.run(command, env={**os.environ, **limit}, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"the explicit route failed at {n} pairs (exit {done.returncode}; out of memory?)")
        runs.append(json.loads(done.stdout))
    return min(runs, key=lambda run: run["build"] + run["solve"])


def rankwise(program, loss, train, test, folder, repeats, threads):
    """The fastest of several trainings, and the test error."""
    model = folder / f"comparing_kernel.{loss}.model"
    options = ["--method", "compare", "--loss", loss, "--threshold", "model", "--kernel", "rbf", "--gamma", GAMMA]
    options += ["--C", C, "--tol", TOL, "--threads", threads]
    runs = [call(program, "train", "--pairs", train, "-o", model, *options) for _ in range(repeats)]
    best = min(runs, key=lambda run: run["seconds"]["train"])
    if best["stop"] != "converged":
        print(f"warning: {loss} stopped because of {best['stop']}", file=sys.stderr)
    tested = call(program, "evaluate", model, "--pairs", test, "--metric", "zero_one", "--threads", threads)
    return {**best, "test_error": tested["metrics"]["zero_one"]}


def rankwise_row(n, loss, run):
    return row(f"{n:,}", f"rankwise, {loss}", seconds(run["seconds"]["load"]), seconds(run["seconds"]["train"]),
               memory(run["peak_memory_bytes"]), f"{run['objective']:.3f}", f"{run['gap']:.1e}",
               f"{run['support_pairs']:,}", f"{run['test_error']:.4f}")


def explicit_row(n, run):
    return row(f"{n:,}", "scikit-learn, explicit, hinge", seconds(run["build"]), seconds(run["solve"]),
               memory(run["peak_memory_bytes"]), f"{run['primal']:.3f}", f"{(run['primal'] - run['dual']) / run['primal']:.1e}",
               f"{run['support_pairs']:,}", f"{run['test_error']:.4f}")


def verdict(n, mine, theirs):
    """(does it agree, a sentence about one size)."""
    difference = (mine["objective"] - theirs["primal"]) / theirs["primal"]
    agrees = abs(difference) <= AGREE
    faster = (theirs["build"] + theirs["solve"]) / max(mine["seconds"]["train"], 1e-9)
    smaller = theirs["peak_memory_bytes"] / max(mine["peak_memory_bytes"], 1)
    return agrees, (
        f"- {n:,} pairs: the hinge objectives {'agree' if agrees else '**DIFFER**'} (relative difference {difference:+.1e}, "
        f"allowed {AGREE:g}; scikit-learn's dual value {theirs['dual']:.3f}). "
        f"Build and solve against train: {faster:.1f} times the time, {smaller:.1f} times the memory."
    )


def compare(options):
    """(the Markdown, do all objectives agree)."""
    folder = options.data
    folder.mkdir(parents=True, exist_ok=True)
    test = folder / "comparing_kernel.test.csv"
    write_pairs(test, draw_pairs(N_TEST, TEST_SEED, 0.0))
    lines = [
        "# Comparison with ties through an RBF kernel",
        "",
        f"{processor()}, {os.cpu_count()} cores, {options.threads} threads. {version_of(options.program)}; scikit-learn {sklearn.__version__}, "
        f"numpy {np.__version__}, Python {platform.python_version()}.",
        "",
        "For scikit-learn *before* is the time to build the explicit matrix, for rankwise to read the file; *solve* is the fit.",
        "",
        row("pairs", "route", "before s", "solve s", "peak memory", "objective", "gap", "support pairs", "test error"),
        "|--:|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    remarks, all_agree = [], True
    for n in options.sizes:
        train = folder / f"comparing_kernel.{n}.csv"
        write_pairs(train, draw_pairs(n, TRAIN_SEED, NOISE))
        repeats = options.repeats if n <= 5000 else 1
        theirs = explicit(n, repeats, options.threads) if n <= options.explicit_max else None
        mine = {loss: rankwise(options.program, loss, train, test, folder, repeats, options.threads)
                for loss in ("hinge", "squared-hinge")}
        if theirs:
            lines.append(explicit_row(n, theirs))
            agrees, sentence = verdict(n, mine["hinge"], theirs)
            all_agree &= agrees
            remarks.append(sentence)
        else:
            rows = n + n // 2
            remarks.append(f"- {n:,} pairs: no explicit run; its matrix alone would take {memory(8 * rows * rows)}.")
        lines += [rankwise_row(n, loss, run) for loss, run in mine.items()]
        print(f"{n:,} pairs done", file=sys.stderr)
    return "\n".join([*lines, "", *remarks, ""]), all_agree


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/release/rankwise"), help="default: target/release/rankwise")
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], default=[800, 5000, 20000, 50000])
    parser.add_argument("--explicit-max", type=int, default=20000, help="largest size of the explicit route; 20000 takes 7.5 GB")
    parser.add_argument("--repeats", type=int, default=5, help="runs of sizes up to 5000 (default 5)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path, default=ROOT / "bench/data", help="folder for the generated files")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/comparing_kernel.md")
    parser.add_argument("--explicit-once", type=int, metavar="N", help="run only the explicit route on N pairs and print JSON")
    options = parser.parse_args()
    if options.explicit_once:
        print(json.dumps(run_explicit(options.explicit_once)))
        return
    check_program(options.program)
    markdown, all_agree = compare(options)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(markdown)
    print(markdown)
    if not all_agree:
        sys.exit("the objectives differ")


if __name__ == "__main__":
    main()
