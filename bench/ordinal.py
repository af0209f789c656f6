"""Items with grades, RBF kernel: `rankwise train --method ordinal` beside Chu and Keerthi's own programs, the same items in one run.

    python bench/ordinal.py [--program target/release/rankwise] [--sizes 2000]

n items of 8 features, 5 grades of equal size of a bent function with noise, C = 1, K = exp(-0.5 |x - z|^2), hinge. The authors' C
programs run as skordinal wraps them (`SVOR`, one thread, their own stopping rule at 1e-3): seconds of `fit`. rankwise: `seconds.train`
of `train --json` with two threads, at its default tolerance 1e-3 and at 1e-4. The objective of the authors' answer is computed from its
scores s and thresholds: the norm is s K^-1 s.
"""

import argparse
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from skordinal.classifiers import SVOR

from common import ROOT, call, check_program, processor, row, seconds, version_of

GAMMA, FEATURES, GRADES, CLOSE = 0.5, 8, 5, 1e-3


def draw(n):
    random = np.random.default_rng(0)
    x = np.round(random.normal(size=(n, FEATURES)), 6)
    value = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + x[:, 3] + 0.5 * random.normal(size=n)
    return x, 1 + (GRADES * np.argsort(np.argsort(value))) // n


def objective(x, grades, scores, thresholds, is_explicit):
    squares = (x * x).sum(axis=1)
    kernel = np.exp(-GAMMA * np.maximum(0.0, squares[:, None] + squares - 2.0 * x @ x.T))
    norm = scores @ np.linalg.solve(kernel + 1e-10 * np.eye(len(x)), scores)
    lower = np.arange(1, GRADES)
    signs = np.where(grades[:, None] > lower, 1.0, -1.0)
    losses = np.maximum(0.0, 1.0 - signs * (scores[:, None] - thresholds))
    if is_explicit:
        losses *= (grades[:, None] == lower) | (grades[:, None] == lower + 1)
    return 0.5 * norm + losses.sum()


def authors(x, grades, constraints, repeats):
    fits = []
    for _ in range(repeats):
        start = time.perf_counter()
        model = SVOR(C=1.0, kernel="rbf", gamma=GAMMA, constraints=constraints).fit(x, grades)
        fits.append(time.perf_counter() - start)
    scores = np.asarray(model.predict_projection(x)).ravel()
    return min(fits), objective(x, grades, scores, np.asarray(model.thresholds_), constraints == "explicit")


def rankwise(options, path, constraints, tol):
    train = ["train", path, "--method", "ordinal", "--constraints", constraints, "--kernel", "rbf", "--gamma", GAMMA]
    train += ["--tol", tol, "--threads", options.threads, "-o", options.data / "ordinal.model"]
    answers = [call(options.program, *train) for _ in range(options.repeats)]
    return min(answers, key=lambda answer: answer["seconds"]["train"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/release/rankwise"), help="default: target/release/rankwise")
    parser.add_argument("--sizes", default="2000")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each, the fastest counts (default 3)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path, default=ROOT / "bench/data", help="folder for the generated files")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/ordinal.md")
    options = parser.parse_args()
    check_program(options.program)
    options.data.mkdir(parents=True, exist_ok=True)
    lines, agrees = [], True
    for n in map(int, options.sizes.split(",")):
        x, grades = draw(n)
        path = options.data / f"ordinal.{n}.csv"
        header = ",".join(["label", *(f"x{at}" for at in range(FEATURES))])
        np.savetxt(path, np.column_stack([grades, x]), fmt="%.6g", delimiter=",", header=header, comments="")
        for constraints in ("explicit", "implicit"):
            theirs, their_objective = authors(x, grades, constraints, options.repeats)
            lines.append(row(n, constraints, "the authors' program", seconds(theirs), f"{their_objective:.2f}", "", 1.0))
            for tol in (1e-3, 1e-4):
                ours = rankwise(options, path, constraints, tol)
                agrees &= abs(ours["objective"] / their_objective - 1.0) <= CLOSE
                train = ours["seconds"]["train"]
                lines.append(row(n, constraints, f"rankwise, tol {tol:g}", seconds(train), f"{ours['objective']:.2f}",
                                 f"{ours['gap']:.1e}", f"{theirs / train:.1f}"))
    markdown = "\n".join([
        "# Grades",
        "",
        f"Items of {FEATURES} features with {GRADES} grades, RBF kernel, C = 1. {processor()}, {os.cpu_count()} cores, {options.threads} threads (the "
        f"authors' program: 1). {version_of(options.program)}; skordinal {version('skordinal')}, numpy {np.__version__}, "
        f"Python {platform.python_version()}.",
        "",
        row("items", "constraints", "tool", "solve s", "objective", "gap", "times faster"),
        "|--:|---|---|--:|--:|--:|--:|",
        *lines,
        "",
        f"Objectives {'agree' if agrees else '**DIFFER**'} within {CLOSE:g}.",
        "",
    ])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(markdown)
    print(markdown)
    if not agrees:
        sys.exit("the objectives differ")


if __name__ == "__main__":
    main()
