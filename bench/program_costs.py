"""Linear programs at every cost: small random problems, each at C from 1e-12 to 1e12, beside HiGHS on the same programs.

Every fit must end within a limit, and where C lies within 1e-6 to 1e6 its objective must be HiGHS's optimum."""

import argparse
import collections
import datetime
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import highspy
import numpy as np

from common import ROOT, check_program, processor, row, version_of

LIMIT = 2.0
NEAR = 1e-6
TOL = 1e-7
ALL_COSTS = [10.0**k for k in range(-12, 13)]


def features(random, n):
    """Normal numbers, integers, lattices; copies, constant and zero columns, columns of other sizes."""
    d = int(random.integers(1, 7))
    kind = random.integers(4)
    x = random.normal(size=(n, d))
    if kind == 1:
        x = random.integers(-3, 4, size=(n, d)).astype(float)
    elif kind == 2:
        x = random.integers(0, 2, size=(n, d)) * 3.0
    if random.random() < 0.4:
        copied = random.integers(n, size=n // 3)
        x[n - len(copied) :] = x[copied]
    if random.random() < 0.2:
        x[:, 0] = random.integers(2)
    if random.random() < 0.2:
        x[:, -1] *= 10.0 ** random.integers(-3, 4)
    return x


def kernel(random, x):
    """The words that ask for a kernel, and its values."""
    gamma, coef0, degree = 10.0 ** random.integers(-2, 1), float(random.integers(2)), int(random.integers(1, 4))
    match random.integers(4):
        case 0:
            return ["linear"], x @ x.T
        case 1:
            return ["poly", "--gamma", gamma, "--coef0", coef0, "--degree", degree], (gamma * x @ x.T + coef0) ** degree
        case 2:
            return ["sigmoid", "--gamma", gamma, "--coef0", coef0], np.tanh(gamma * x @ x.T + coef0)
    distance = ((x[:, None] - x[None]) ** 2).sum(2)
    return ["rbf", "--gamma", gamma], np.exp(-gamma * distance)


def ranking(random, folder, method):
    """A file of items, the words of its training, and its program: leads, columns, margins."""
    n = int(random.integers(5, 61))
    x = features(random, n)
    labels = random.integers(0, random.integers(2, 6), size=n).astype(float)
    labels[:2] = 0, 1
    groups = random.integers(0, random.integers(1, 5), size=n)
    groups[:2] = 0
    # Groups of one label teach nothing, and their items are no columns.
    taught = np.array([len(set(labels[groups == group])) > 1 for group in groups])
    x, labels, groups = x[taught], labels[taught], groups[taught]
    words, k = kernel(random, x)
    with open(folder / "items.csv", "w") as file:
        file.write("qid,label," + ",".join(f"x{at}" for at in range(x.shape[1])) + "\n")
        for line in zip(groups, labels, x):
            file.write(f"{line[0]},{line[1]}," + ",".join(repr(float(value)) for value in line[2]) + "\n")
    better, worse = np.where((labels[:, None] > labels[None]) & (groups[:, None] == groups[None]))
    leads = k[better] - k[worse]
    words = [folder / "items.csv", "--method", method, "--kernel", *words]
    if method == "rank-l1":
        return words, leads[:, better] - leads[:, worse], np.ones(len(better)), None
    if random.random() < 0.3:
        return [*words, "--coefficients", "nonnegative"], leads, np.ones(len(better)), None
    return words, np.hstack([leads, -leads]), np.ones(len(better)), None


def comparison(random, folder):
    """The same of pairs with ties; the free column makes the region of ties larger for nothing."""
    n_pairs = int(random.integers(5, 61))
    d = int(random.integers(1, 20) if random.random() < 0.7 else random.integers(60, 200))
    left, right = random.normal(size=(n_pairs, d)), random.normal(size=(n_pairs, d))
    if random.random() < 0.4:
        left, right = left.round(), right.round()
    if random.random() < 0.3:
        left[n_pairs // 2 :], right[n_pairs // 2 :] = left[: n_pairs - n_pairs // 2], right[: n_pairs - n_pairs // 2]
    outcome = random.integers(-1, 2, size=n_pairs)
    outcome[:2] = 0, 1
    with open(folder / "pairs.csv", "w") as file:
        names = [f"{side}.x{at}" for side in ("left", "right") for at in range(d)]
        file.write(",".join([*names, "outcome"]) + "\n")
        for line in zip(left, right, outcome):
            numbers = [repr(float(value)) for value in np.concatenate(line[:2])]
            file.write(",".join([*numbers, str(line[2])]) + "\n")
    step = right - left
    ties = step[outcome == 0]
    others = step[outcome != 0] * outcome[outcome != 0, None]
    leads = np.vstack([others, ties, -ties])
    margins = np.concatenate([np.full(len(others), 2.0), np.zeros(2 * len(ties))])
    free = np.where(margins > 0, -1.0, 1.0)
    return ["--pairs", folder / "pairs.csv", "--method", "compare-lp"], np.hstack([leads, -leads]), margins, free


def optima(columns, margins, free, costs):
    """max Σ margin·y over 0 ≤ y ≤ C with no column worth more than 1: HiGHS on the dual, whose bounds alone have C in them."""
    sizes = np.abs(columns).max(0, initial=0)
    used = sizes > 0
    rows, bounds = (columns[:, used] / sizes[used]).T, 1 / sizes[used]
    if free is not None:
        rows, bounds = np.vstack([rows, free]), np.append(bounds, 0.0)
    n = len(margins)
    found = []
    for cost in costs:
        # In units of y in which numbers are neither all tiny nor all huge.
        positive = bounds[bounds > 0]
        unit = min(cost, np.exp(np.log(positive).mean())) if len(positive) else cost
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("time_limit", 20.0)
        for tolerance in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            solver.setOptionValue(tolerance, 1e-10)
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = n, len(rows)
        program.col_cost_ = -margins
        program.col_lower_, program.col_upper_ = np.zeros(n), np.full(n, cost / unit)
        program.row_lower_, program.row_upper_ = np.full(len(rows), -highspy.kHighsInf), bounds / unit
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        present = rows != 0
        program.a_matrix_.start_ = np.concatenate([[0], present.sum(1).cumsum()])
        program.a_matrix_.index_ = np.nonzero(present)[1]
        program.a_matrix_.value_ = rows[present]
        solver.passModel(program)
        solver.run()
        is_optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        point = solver.getSolution()
        found.append(certain(columns, margins, free, cost, used, np.array(point.col_value) * unit, np.array(point.row_dual)) if is_optimal else None)
    return found


def certain(columns, margins, free, cost, used, y, duals):
    """A lower and an upper bound of the optimum from HiGHS's answer, in extended precision: its tolerances are absolute."""
    exact = columns.astype(np.longdouble)
    y = np.clip(y, 0, cost).astype(np.longdouble)
    if free is not None and free @ y > 0:
        y[free > 0] *= -(y[free < 0] @ free[free < 0]) / (y[free > 0] @ free[free > 0])
    low = margins @ y / max(1, (y @ exact).max(initial=0))
    x = np.zeros(columns.shape[1], np.longdouble)
    x[used] = np.abs(duals[: used.sum()]) / np.abs(columns[:, used]).max(0)
    leads = exact @ x + (0 if free is None else free * abs(duals[-1]))
    return float(low), float(x.sum() + cost * np.maximum(0, margins - leads).sum())


def trained(program, words, cost, tol, more=()):
    words = [program, "train", *words, "--C", repr(cost), "--tol", tol, "--threads", 1, "--json", "-o", "/dev/null", *more]
    started = time.perf_counter()
    try:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=30)
    except subprocess.TimeoutExpired:
        return None, 30.0
    took = time.perf_counter() - started
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nexit {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout), took


def told(number, options):
    """Everything about one problem."""
    random = np.random.default_rng([options.seed, number])
    method = ["rvm", "rvm", "rank-l1", "compare-lp"][number % 4]
    folder = Path(options.data) / f"program_costs_{number % 64}"
    folder.mkdir(parents=True, exist_ok=True)
    words, columns, margins, free = comparison(random, folder) if method == "compare-lp" else ranking(random, folder, method)
    words = [*words, "--precision", "f64"]
    most = options.compared if columns.size < 200_000 else 2
    known = [cost for cost in ALL_COSTS if 1e-6 <= cost <= 1e6]
    chosen = sorted(random.choice(known, size=min(most, len(known)), replace=False))
    optimum = dict(zip(chosen, optima(columns, margins, free, chosen)))
    scale = [] if random.random() < 0.5 else ["--scale", ["standard", "minmax"][random.integers(2)]]
    slowest, furthest, findings, n, n_compared, n_unsure = 0.0, 0.0, [], 0, 0, 0
    for cost in ALL_COSTS:
        runs = [(trained(options.program, words, cost, TOL), optimum.get(cost))]
        if scale:
            runs.append((trained(options.program, words, cost, 1e-3, scale), None))
        for (fit, took), peer in runs:
            n += 1
            what = f"problem {number}: {method} {' '.join(map(str, words[1:]))} C = {cost:g}"
            if fit is None or fit["seconds"]["train"] > LIMIT:
                findings.append(f"{what}: {took:.1f} s")
            if fit is None:
                continue
            slowest = max(slowest, fit["seconds"]["train"])
            if peer is None:
                continue
            (low, high), ours, gap = peer, fit["objective"], fit["gap"]
            n_compared += 1
            if high - low > NEAR * high:
                n_unsure += 1
            elif not low * (1 - NEAR) <= ours <= high * (1 + NEAR):
                findings.append(f"{what}: {ours} with gap {gap:.1e}, HiGHS {low} to {high} ({ours / high - 1:.1e})")
            else:
                furthest = max(furthest, abs(ours / high - 1))
            if ours * (1 - gap) > high * (1 + NEAR):
                findings.append(f"{what}: {ours} with gap {gap:.1e}, but HiGHS has {high}")
    return method, n, slowest, findings, n_compared, n_unsure, furthest


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--program", default=str(ROOT / "target/release/rankwise"))
    arguments.add_argument("--problems", type=int, default=2000)
    arguments.add_argument("--first", type=int, default=0, help="the number of the first problem")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--jobs", type=int, default=2, help="problems side by side")
    arguments.add_argument("--compared", type=int, default=13, help="costs at which HiGHS solves a problem, too")
    arguments.add_argument("--data", default=str(ROOT / "bench/.data"), help="where files are generated")
    arguments.add_argument("--out", default=str(ROOT / "bench/results/program_costs.md"))
    options = arguments.parse_args()
    check_program(options.program)
    tallies, findings = collections.defaultdict(lambda: [0, 0, 0.0, 0, 0, 0.0]), []
    with ThreadPoolExecutor(options.jobs) as pool:
        numbers = range(options.first, options.first + options.problems)
        for method, n, slowest, found, compared, unsure, furthest in pool.map(lambda number: told(number, options), numbers):
            tally = tallies[method]
            for at, more in ((0, 1), (1, n), (3, compared), (4, unsure)):
                tally[at] += more
            tally[2], tally[5] = max(tally[2], slowest), max(tally[5], furthest)
            findings += found
            for finding in found:
                print(finding, flush=True)
    lines = [
        "# Linear programs at every cost", "",
        f"{version_of(options.program)}, {datetime.date.today()}, {processor()}, one thread a fit. Each problem at 25 costs from 1e-12 to 1e12, to a gap of "
        f"{TOL:g}, half of them scaled besides; HiGHS solves the same program where C is within 1e-6 to 1e6; it is unsure where its own primal and dual "
        f"point, measured in extended precision, are further apart than {NEAR:g}.", "",
        row("method", "problems", "fits", "slowest s", "compared", "HiGHS unsure", "largest difference"),
        row("---", *["--:"] * 6),
    ]
    for method, (n_problems, n, slowest, compared, unsure, furthest) in sorted(tallies.items()):
        lines.append(row(method, f"{n_problems:,}", f"{n:,}", f"{slowest:.2f}", f"{compared:,}", unsure, f"{furthest:.1e}"))
    lines += ["", f"Findings (more than {LIMIT:g} s, or an objective off by more than {NEAR:g}): {len(findings)}.", *(f"- {text}" for text in findings)]
    text = "\n".join(lines) + "\n"
    print(text)
    Path(options.out).write_text(text)
    if findings:
        sys.exit(f"{len(findings)} findings")


if __name__ == "__main__":
    main()
