"""Machines that are linear programs, beside HiGHS on the same programs written out in full."""

import argparse
import datetime
import sys
from pathlib import Path

import numpy as np

from common import ROOT, call, check_program, memory, processor, row, run_peer, seconds, version_of

TOL = 1e-4
LIMIT = 60
FULL_RVM = 300
GAMMA = 1.0


def write_ranking(path, n):
    """Five features, a curved truth, noise of a fifth of its spread."""
    random = np.random.default_rng(n)
    x, w = random.random((n, 5)), random.random(5)
    truth = np.exp(-((x - w) ** 2).sum(1))
    y = truth + 0.2 * truth.std() * random.normal(size=n)
    np.savetxt(path, np.column_stack([y, x]), delimiter=",", fmt="%.9g", header="label,a,b,c,d,e", comments="")


def write_pairs(path, n, d, noise):
    """Half of the pairs are ties; without noise, pairs near the threshold are left out."""
    random = np.random.default_rng(n + d)
    left, right, w = random.random((n, d)), random.random((n, d)), random.random(d) - 0.5
    z = (right - left) @ w
    z = z + noise * z.std() * random.normal(size=n)
    cut = np.median(np.abs(z))
    keep = np.abs(np.abs(z) / cut - 1) > (0.1 if noise == 0 else 0)
    outcome = np.where(np.abs(z) <= cut, 0, np.sign(z))
    names = [f"left.x{k}" for k in range(d)] + [f"right.x{k}" for k in range(d)] + ["outcome"]
    table = np.column_stack([left, right, outcome])[keep]
    np.savetxt(path, table, delimiter=",", fmt=["%.7g"] * (2 * d) + ["%d"], header=",".join(names), comments="")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--program", default=str(ROOT / "target/release/rankwise"))
    arguments.add_argument("--quick", action="store_true", help="small problems alone")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--data", default=str(ROOT / "bench/.data"), help="where files are generated")
    arguments.add_argument("--out", default=str(ROOT / "bench/results/programs.md"))
    options = arguments.parse_args()
    check_program(options.program)
    folder = Path(options.data)
    folder.mkdir(parents=True, exist_ok=True)
    disagreements, vectors, comparers = [], [], []

    def trained(*words, tol=TOL):
        words = [*words, "--tol", tol, "--threads", options.threads, "-o", folder / "programs.model"]
        runs = [call(options.program, "train", *words, cores=options.threads) for _ in range(3)]
        return sorted(runs, key=lambda run: run["seconds"]["train"])[1]

    def agree(name, ours, peer, sign=1):
        # The full program is solved to the end; rankwise is within its tolerance of that.
        if peer is not None and peer["status"] == 0 and not (
            -1e-6 <= sign * (ours / peer["objective"] - 1) <= 1.5 * TOL
        ):
            disagreements.append(f"{name}: {ours} and {peer['objective']}")

    for n in (100, 200) if options.quick else (100, 200, FULL_RVM, 1000, 2000, 5000):
        file = folder / f"programs_rank_{n}.csv"
        write_ranking(file, n)
        big_c = 1000.0 / n**2
        common = [file, "--kernel", "rbf", "--gamma", GAMMA, "--C", big_c]
        ours = trained(*common, "--method", "rvm")
        pairs = trained(*common, "--method", "rank-l1")
        svm = trained(*common, "--loss", "hinge", tol=1e-3)
        peer = None
        if n <= FULL_RVM:
            task = {"tool": "HiGHS", "kind": "rvm", "file": str(file), "gamma": GAMMA, "C": big_c, "method": "highs"}
            peer = run_peer("programs_peer.py", LIMIT, options.threads, task)
            agree(f"rvm {n}", ours["objective"], peer)
        vectors.append((n, ours, pairs, svm, peer))

    sizes = [(2000, 20)] if options.quick else [(2000, 20), (20000, 50), (100000, 50)]
    for n, d in sizes:
        for name, noise, big_c in (("separable", 0.0, None), ("not separable", 0.3, None), ("C = 1", 0.3, 1.0)):
            file = folder / f"programs_pairs_{n}_{noise}.csv"
            write_pairs(file, n, d, noise)
            words = ["--pairs", file, "--method", "compare-lp", *(["--C", big_c] if big_c else [])]
            ours = trained(*words, tol=1e-3 if big_c else TOL)
            kind = "hard" if big_c is None else "soft"
            task = {"tool": "HiGHS", "kind": kind, "file": str(file), "C": big_c, "method": "highs"}
            peer = run_peer("programs_peer.py", LIMIT, options.threads, task)
            if name == "separable":
                agree(f"{name} {n}", ours["objective"], peer, sign=-1)
            elif name == "not separable" and peer is not None and (peer["objective"] > 1e-9) != ours["separable"]:
                disagreements.append(f"{name} {n}")
            elif name == "C = 1" and peer is not None and not -1e-6 <= ours["objective"] / peer["objective"] - 1 <= 2e-3:
                disagreements.append(f"{name} {n}: {ours['objective']} and {peer['objective']}")
            comparers.append((n, d, name, ours, peer))

    told = lambda peer, key, text: "–" if peer is None else text(peer[key])
    lines = [
        "# Linear programs", "",
        f"{version_of(options.program)}, {datetime.date.today()}, {processor()}, {options.threads} threads. HiGHS by scipy's `linprog` on the "
        f"program in full, without reading the file, at most {LIMIT} s (–: not done by then, or not tried).", "",
        f"## Ranking Vector Machine: one group, RBF (γ = {GAMMA:g}), C = 1000/n², to a gap of {TOL:g}", "",
        row("items", "pairs", "rvm s", "ranking vectors", "objective", "gap", "HiGHS s", "its objective", "its memory", "rank-l1 s", "its pairs",
            "ranking SVM (hinge, 1e-3) s", "support items"),
        row(*["--:"] * 13),
    ]
    for n, ours, pairs, svm, peer in vectors:
        lines.append(row(
            f"{n:,}", f"{ours['pairs']:,}", seconds(ours["seconds"]["train"]), ours["support"], f"{ours['objective']:.5f}", f"{ours['gap']:.1e}",
            told(peer, "seconds", seconds), told(peer, "objective", lambda value: f"{value:.5f}"), told(peer, "memory", memory),
            seconds(pairs["seconds"]["train"]), pairs["support_pairs"], seconds(svm["seconds"]["train"]), svm["support"]))
    lines += ["", f"## Comparison: pairs with ties (`compare-lp`), to a gap of {TOL:g} (with C: 1e-3)", "",
              row("pairs", "features", "problem", "rankwise s", "answer", "gap", "HiGHS s", "its answer"),
              row("--:", "--:", "---", "--:", "--:", "--:", "--:", "--:")]
    for n, d, name, ours, peer in comparers:
        is_model = ours["model"] is not None
        lines.append(row(
            f"{n:,}", d, name, seconds(ours["seconds"]["train"]), f"{ours['objective']:.6g}" if is_model else "not separable",
            f"{ours['gap']:.1e}" if is_model else "proven", told(peer, "seconds", seconds),
            told(peer, "objective", lambda value: f"{value:.6g}" if value > 1e-9 else f"μ = {value:.3g}")))
    text = "\n".join(lines) + "\n"
    print(text)
    Path(folder / "programs.md" if options.quick else options.out).write_text(text)
    if disagreements:
        sys.exit("objectives differ: " + "; ".join(disagreements))


main()
