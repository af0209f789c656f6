"""Kernel machines: rankwise beside scikit-learn, LIBSVM, scikit-learn-intelex and linfa-svm, the same items in the same run.

    python bench/kernel.py [--only cls10,reg] [--quick] [--data DIR]

All minimise  1/2 |w|^2 + C sum loss  with a free bias and the kernel exp(-gamma |x - x'|^2): the hinge to classify, the
epsilon-insensitive loss to regress. kernel_data.py makes the items, kernel_peers.py runs the other tools, one process a run, and
kernel_objective.py computes primal and dual value of every machine from its coefficients. The tolerance of rankwise bounds the relative
duality gap, that of the others the violation of the optimality conditions: so rankwise is run at 1e-3 and at smaller ones, until its
machine is as good as the best of the others, and speed is compared between machines that are as good as each other.

`rank` is a ranking machine with a kernel, `tune` a grid of C and gamma; see the README beside this file.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from safetensors import safe_open
from scipy import sparse

import kernel_data
import ranking_data
import ranking_metrics
from common import ROOT, check_program, memory, on_cores, processor, repeated, row, run_peer, seconds, version_of
from kernel_data import FOLDS, GRID
from kernel_objective import spread_over_copies, values

TOL = 1e-3
LADDER = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
LEVEL, CLOSE = 1e-6, 1e-5
TITLES = {"scikit-learn": "scikit-learn", "libsvm-1": "LIBSVM, 1 thread", "libsvm-2": "LIBSVM, 2 threads",
          "intelex-f64": "scikit-learn-intelex, f64", "intelex-f32": "scikit-learn-intelex, f32", "linfa": "linfa-svm"}
LARGEST_MATRIX = 2e9  # bytes of the kernel matrix that linfa-svm keeps as a whole
CAPTION = (
    "Every tool gets the same items and runs in a process of its own, on as many cores as it has threads; scikit-learn's and linfa-svm's "
    "machines use one of them. LIBSVM, built with OpenMP, is shown with one and with two: two wait busily and suffer from any other "
    "work. Train and predict seconds include neither reading nor, for the others, the start of Python; *predict* of rankwise is the whole "
    "program unless it tells the seconds itself. Peak memory is that of training, for the others with interpreter and imports. "
    "Primal and dual value and their relative gap are computed in double precision from each machine's coefficients and bias, by one "
    "function. *As good as* another machine is one whose primal and dual values are no worse by more than 1e-6 of them."
)


class Unavailable(Exception):
    """What the program cannot do, in its words."""


def program(options, *arguments):
    """(what the program prints with --json, seconds of the whole run)."""
    command = [options.program, *map(str, arguments), "--threads", str(options.threads), "--json"]
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit, preexec_fn=on_cores(options.threads))
    except subprocess.TimeoutExpired:
        raise Unavailable(f"it took more than {options.limit:g} s") from None
    wall = time.perf_counter() - start
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise Unavailable(said[0].removeprefix("error: "))
    return json.loads(done.stdout), wall


def machine_of(problem, path):
    """(a coefficient for each training item, bias, number of support items) of a model file of rankwise."""
    with safe_open(path, framework="numpy") as file:
        texts, names = file.metadata(), set(file.keys())
        coefficients = np.ravel(file.get_tensor("coefficients"))
        if "support" in names:
            support = file.get_tensor("support")
        else:
            starts, columns, stored = (file.get_tensor(f"support_{part}") for part in ("starts", "columns", "values"))
            shape = (len(coefficients), problem.items.shape[1])
            support = sparse.csr_matrix((stored, columns.astype(np.int64), starts.astype(np.int64)), shape)
    classes = json.loads(texts.get("classes", "[-1, 1]"))
    sign = 1.0 if float(classes[1]) > float(classes[0]) else -1.0  # scores are above 0 for the second class
    full, strays = spread_over_copies(problem, support, sign * coefficients)
    if strays:
        raise Unavailable(f"{strays} support items of its model are no training items")
    return full, sign * float(texts.get("bias", 0.0)), len(coefficients)


def predicted(options, model, file, out):
    """Seconds of a prediction: as told, else of the whole program."""
    said, wall = program(options, "predict", model, file, "-o", out)
    return float(said.get("seconds", {}).get("predict", wall))


def rankwise(options, problem, tol):
    """One machine of rankwise; Unavailable where the program has no such method."""
    work = options.work
    model, scores, test = work / "kernel.safetensors", work / "kernel.scores", work / f"{problem.name}t.rwb"
    settings = ["--method", problem.kind, "--kernel", "rbf", "--gamma", problem.gamma, "--C", problem.c, "--tol", tol]
    settings += ["--loss", "hinge"] if problem.kind == "classify" else ["--loss", "epsilon", "--epsilon", problem.epsilon]

    def run():
        said, _ = program(options, "train", work / f"{problem.name}.svm", *settings, "-o", model)
        if said["stop"] != "converged":
            print(f"warning: rankwise on {problem.name} stopped because of {said['stop']}", file=sys.stderr)
        return {"train": float(said["seconds"]["train"]), "predict": predicted(options, model, test, scores),
                "peak_memory_bytes": said["peak_memory_bytes"], "said": said}

    best = repeated(run, options.repeats)
    coefficients, bias, support = machine_of(problem, model)
    found = values(problem, coefficients, bias)
    return {**best, **found, "support": support, "error": problem.error(np.loadtxt(scores)), "tool": f"rankwise, tol {tol:g}", "tol": tol}


def peer(options, problem, tool):
    """One machine of another tool, or a word on why there is none."""
    if tool == "linfa":
        matrix = 8.0 * problem.items.shape[0] ** 2
        if options.linfa is None:
            return "could not be built"
        if sparse.issparse(problem.items):
            return "is not run: it has no sparse items"
        if matrix > LARGEST_MATRIX:
            return f"is not run: its kernel matrix alone would take {memory(matrix)}"
    kept = options.work / "kernel.machine.npz"
    limit = min(options.limit, options.linfa_limit) if tool == "linfa" else options.limit
    task = {"tool": tool, "arrays": str(options.work / f"{problem.name}.npz"), "machine": str(kept), "kind": problem.kind,
            "gamma": problem.gamma, "C": problem.c, "epsilon": problem.epsilon, "tol": TOL, "cache_mb": options.cache_mb,
            "program": options.linfa, "limit": limit}
    # linfa-svm is ended by the process that started it.
    patience = limit + 60 if tool == "linfa" else limit
    threads = 1 if tool == "libsvm-1" else options.threads
    best = repeated(lambda: run_peer("kernel_peers.py", patience, threads, task), options.repeats)
    if best is None or best.get("late"):
        return f"gave no result: it failed, or took more than {limit:g} s"
    with np.load(kept) as machine:
        found = values(problem, machine["coefficients"], float(machine["bias"]))
        error = problem.error(machine["scores"])
    return {**best, **found, "error": error, "tool": TITLES[tool]}


def as_good(one, other):
    return one["primal"] <= other["primal"] * (1 + LEVEL) and one["dual"] >= other["dual"] * (1 - LEVEL)


def run_problem(options, problem):
    """(results, remarks) of one problem."""
    problem.write(options.work)
    peers, mine, remarks = [], [], []
    for tool in options.tools:
        print(f"{problem.name}: {tool}", file=sys.stderr)
        answer = peer(options, problem, tool)
        if isinstance(answer, str):
            remarks.append(f"{TITLES[tool]} {answer}.")
        else:
            peers.append(answer)
    try:
        test = options.work / f"{problem.name}t"
        program(options, "convert", f"{test}.svm", f"{test}.rwb")
        for tol in options.ladder:
            print(f"{problem.name}: rankwise, tol {tol:g}", file=sys.stderr)
            mine.append(rankwise(options, problem, tol))
            if tol < TOL and all(as_good(mine[-1], other) for other in peers):
                break
    except Unavailable as reason:
        remarks.insert(0, f"**rankwise {'ended its ladder' if mine else 'is not available'}**: {reason}.")
    remarks += compared(mine, peers) + agreement(mine)
    return mine + peers, remarks


def compared(mine, peers):
    """A sentence on each of the others: the loosest machine of rankwise that is as good, and how many times faster it is."""
    said = []
    for other in peers if mine else []:
        one = next((one for one in mine if as_good(one, other)), None)
        if one is None:
            said.append(f"**No machine of rankwise is as good as that of {other['tool']}.**")
        else:
            said.append(f"{one['tool']}, is as good as {other['tool']}: {other['train'] / one['train']:.1f} times as fast to train, "
                        f"{other['predict'] / one['predict']:.1f} times to predict, with "
                        f"{one['peak_memory_bytes'] / other['peak_memory_bytes']:.2f} of the memory.")
    return said


def agreement(mine):
    """A sentence on the objectives that rankwise reports; one that disagrees has DIFFER in it."""
    off = [abs(one["said"]["objective"] / one["primal"] - 1.0) for one in mine]
    if not off:
        return []
    loose = [one["tool"] for one in mine if one["gap"] > 2 * one["tol"]]
    said = [f"Objectives that rankwise reports and those computed from its coefficients {'agree' if max(off) <= CLOSE else '**DIFFER**'} "
            f"(largest relative difference {max(off):.0e})."]
    if loose:
        said.append(f"The gaps computed here **DIFFER** from what was asked for: {', '.join(loose)}.")
    return said


def rate(value):
    return f"{value / 1e6:,.0f} M" if value >= 1e7 else f"{value / 1e6:.1f} M" if value >= 1e6 else f"{value:,.0f}"


def table(problem, results):
    error = "test error" if problem.kind == "classify" else "test RMSE"
    lines = [row("tool", "train s", "predict s", "predictions a s", "kernel values a s", "peak memory", "primal", "dual", "gap",
                 "support vectors", error), "|---|" + "--:|" * 10]
    n = problem.test_items.shape[0]
    for one in results:
        lines.append(row(one["tool"], seconds(one["train"]), seconds(one["predict"]), rate(n / one["predict"]),
                         rate(n * one["support"] / one["predict"]), memory(one["peak_memory_bytes"]), f"{one['primal']:.7g}",
                         f"{one['dual']:.7g}", f"{one['gap']:.1e}", f"{one['support']:,}", f"{one['error']:.4f}"))
    return lines


def summary(found):
    """Train · predict seconds of each tool; rankwise at the tolerance where it is as good as all of the others."""
    lines = [row("problem", "rankwise", "its tol", *TITLES.values()), "|---|" + "--:|" * (len(TITLES) + 2)]
    cell = lambda one: f"{seconds(one['train'])} · {seconds(one['predict'])}" if one else "–"
    for problem, results, _ in found:
        peers = {one["tool"]: one for one in results if "tol" not in one}
        mine = [one for one in results if "tol" in one]
        best = next((one for one in mine if all(as_good(one, other) for other in peers.values())), mine[-1] if mine else None)
        lines.append(row(problem.title, cell(best), f"{best['tol']:g}" if best else "–",
                         *(cell(peers.get(title)) for title in TITLES.values())))
    return lines


def ranking(options, n):
    """Items in groups through a kernel, which none of the others does."""
    d, test = 50, "kernel_rankt"
    for name, seed, groups in (("kernel_rank", 1, n // 100), (test, 11, n // 200)):
        items, labels, qid = ranking_data.dense(seed, groups, 100, d, ranking_data.EQUAL, 0.5)
        kernel_data.dump_svmlight_file(items, labels, str(options.work / f"{name}.svm"), zero_based=False, query_id=qid)
    model, scores = options.work / "kernel.safetensors", options.work / "kernel.scores"
    lines = [row("tool", "train s", "predict s", "peak memory", "objective", "gap", "support items", "test pair accuracy"),
             "|---|" + "--:|" * 7]
    for loss, tol in (("squared-hinge", 1e-3), ("squared-hinge", 1e-4), ("hinge", 1e-3)):
        def run():
            said, _ = program(options, "train", options.work / "kernel_rank.svm", "--method", "rank", "--kernel", "rbf",
                              "--gamma", 1.0 / d, "--scale", "standard", "--C", 1.0, "--loss", loss, "--tol", tol,
                              "-o", model)
            return {"train": float(said["seconds"]["train"]),
                    "predict": predicted(options, model, options.work / f"{test}.svm", scores), "said": said}

        print(f"rank: {loss}, tol {tol:g}", file=sys.stderr)
        try:
            one = repeated(run, options.repeats)
        except Unavailable as reason:
            return [f"**rankwise is not available**: {reason}.", ""]
        said = one["said"]
        accuracy = ranking_metrics.pair_accuracy(labels, qid, np.loadtxt(scores))
        lines.append(row(f"rankwise, {said['loss']}, tol {tol:g}", seconds(one["train"]), seconds(one["predict"]),
                         memory(said["peak_memory_bytes"]), f"{said['objective']:.7g}", f"{said['gap']:.1e}",
                         f"{said['support'] or 0:,}", f"{accuracy:.4f}"))
    return [*lines, ""]


def tuning(options, n):
    """(a table of a grid of machines by cross-validation, versions of the others)."""
    problem = kernel_data.classification("kernel_tune", n, 1_000)
    problem.write(options.work)
    lines = [row("tool", "wall s", "least mean error", "C", "gamma", "times as long as rankwise"), "|---|--:|--:|--:|--:|--:|"]
    grid = [option for name, listed in GRID.items() for option in ("--grid", f"{name}={','.join(map(repr, listed))}")]
    remarks, results, versions = [], [], []

    def run():
        said, wall = program(options, "tune", options.work / "kernel_tune.svm", "--method", "classify", "--kernel", "rbf", *grid,
                             "--loss", "hinge", "--folds", FOLDS, "--tol", TOL, "-o", options.work / "kernel.safetensors")
        best, chosen = said["best"]["mean"], said["best"]["params"]
        error = 1.0 - best if said["greater_is_better"] else best
        return {"tool": "rankwise tune", "wall": wall, "error": error, "C": chosen["C"], "gamma": chosen["gamma"]}

    print("tune: rankwise", file=sys.stderr)
    try:
        results.append(repeated(run, options.repeats))
    except Unavailable as reason:
        remarks += ["", f"- **rankwise is not available**: {reason}."]
    for tool, title in (("grid-scikit-learn", "scikit-learn"), ("grid-intelex", "scikit-learn-intelex, f32")):
        if ("intelex-f32" if tool == "grid-intelex" else "scikit-learn") not in options.tools:
            continue
        print(f"tune: {title}", file=sys.stderr)
        task = {"tool": tool, "arrays": str(options.work / "kernel_tune.npz"), "tol": TOL, "cache_mb": 200, "folds": FOLDS,
                "Cs": GRID["C"], "gammas": GRID["gamma"]}
        one = repeated(lambda: run_peer("kernel_peers.py", options.limit, options.threads, task), options.repeats)
        if one is None:
            remarks += ["", f"- {title} gave no result: it failed, or took more than {options.limit:g} s."]
        else:
            results.append({**one, **one["best"], "tool": f"GridSearchCV, {title}, {options.threads} processes"})
            versions.append(one["version"])
    mine = next((one["wall"] for one in results if one["tool"].startswith("rankwise")), None)
    for one in results:
        times = f"{one['wall'] / mine:.1f}" if mine else "–"
        lines.append(row(one["tool"], seconds(one["wall"]), f"{one['error']:.4f}", f"{one['C']:g}", f"{one['gamma']:g}", times))
    return [*lines, *remarks, ""], versions


def parameters(problem):
    epsilon = f", ε {problem.epsilon:g}" if problem.kind == "regress" else ""
    return f"RBF kernel, γ {problem.gamma:.4g}, C {problem.c:g}{epsilon}, tol {TOL:g} unless told."


def compare(options):
    """(the Markdown, does everything agree)."""
    problems = [make() for name, make in options.made.items()]
    for name in options.real:
        problem = kernel_data.REAL[name](options.data)
        if problem is None:
            print(f"warning: {name} is not in {options.data}", file=sys.stderr)
        else:
            problems.append(problem)
    found = [(problem, *run_problem(options, problem)) for problem in problems]
    versions = {one["version"] for _, results, _ in found for one in results if "version" in one}
    extra = []
    if options.rank:
        n = 1_000 if options.quick else 10_000
        about = f"{n:,} items × 50 features in groups of 100, five grades, features standardised, RBF kernel, γ 1/50, C 1."
        extra += ["## Ranking through a kernel", "", f"{about} Objective and gap as reported.", "", *ranking(options, n)]
    if options.tune:
        n = 400 if options.quick else 2_000
        lines, tune_versions = tuning(options, n)
        versions |= set(tune_versions)
        about = (f"{len(GRID['C'])} values of C × {len(GRID['gamma'])} of γ, {FOLDS} folds, {n:,} items × 20 features, tol {TOL:g}. "
                 "rankwise: the whole program, with the last fit and the model file; the others: the search and its last fit. "
                 "Folds are not the same.")
        extra += ["## Tuning", "", about, "", *lines]
    lines = ["# Kernel machines", "",
             f"{processor()}, {os.cpu_count()} cores, {options.threads} threads. "
             f"{'; '.join([version_of(options.program), *sorted(versions)])}; numpy {np.__version__}, Python {platform.python_version()}. "
             f"Made by `{' '.join(['cargo xtask bench kernel', *options.shown])}`.",
             "", f"{CAPTION} The others have a kernel cache of {options.cache_mb:,} MB, rankwise its default.", ""]
    if found:
        about = "Train · predict seconds; rankwise at the tolerance in the next column, where it is as good as all of the others."
        lines += ["## Summary", "", about, "", *summary(found), ""]
    for problem, results, remarks in found:
        lines += [f"## {problem.title}", "", parameters(problem), "", *table(problem, results), ""]
        lines += [f"- {remark}" for remark in remarks] + [""] * bool(remarks)
    markdown = "\n".join(lines + extra)
    return markdown, "DIFFER" not in markdown


def build_linfa(options):
    """The program around linfa-svm, or None where it cannot be built."""
    folder = options.work / "linfa"
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", str(ROOT / "bench/kernel_linfa/Cargo.toml"),
               "--target-dir", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        print(f"warning: linfa-svm cannot be built: {error}", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(f"warning: linfa-svm cannot be built: {done.stderr[-500:]}", file=sys.stderr)
        return None
    return str((folder / "release/kernel-linfa").resolve())


def shown(arguments):
    """The arguments that others would give, too: without places on this machine."""
    kept, places = [], ("--program", "--work", "--out")
    for before, part in zip(["", *arguments], arguments):
        if part not in places and before not in places:
            kept.append("DIR" if before == "--data" else part)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda text: [name for name in text.split(",") if name]
    known = [*kernel_data.MADE, *kernel_data.REAL, "rank", "tune"]
    parser.add_argument("--program", default=str(ROOT / "target/release/rankwise"), help="default: target/release/rankwise")
    parser.add_argument("--only", type=names, help=f"some of {','.join(known)}")
    parser.add_argument("--tools", type=names, default=list(TITLES), help=f"some of {','.join(TITLES)}; rankwise always runs")
    parser.add_argument("--quick", action="store_true", help="small sets, one run of each")
    parser.add_argument("--ladder", type=lambda text: [float(tol) for tol in text.split(",")], default=list(LADDER),
                        help="tolerances of rankwise, the first one the others' (default 1e-3,1e-4,1e-5,1e-6,1e-7)")
    parser.add_argument("--repeats", type=int, default=3, help="runs that count of what takes less than 5 s (default 3)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cache-mb", type=int, default=2000, help="kernel cache of the other tools (default 2000)")
    parser.add_argument("--limit", type=float, default=900.0, help="the longest time of one run, in seconds (default 900)")
    parser.add_argument("--linfa-limit", type=float, default=120.0, help="the longest time of one run of linfa-svm (default 120)")
    parser.add_argument("--work", type=Path, default=ROOT / "bench/.data", help="folder for the generated files")
    parser.add_argument("--data", type=Path, help="folder with libsvm/a9a … and torgo/housing.arff … (or .xz)")
    parser.add_argument("--out", type=Path, help="default: bench/results/kernel.md; of a part of the run, WORK/kernel.md")
    options = parser.parse_args()
    check_program(options.program)
    if unknown := [name for name in options.only or [] if name not in known]:
        parser.error(f"unknown part {unknown[0]}; there are: {', '.join(known)}")
    if unknown := [name for name in options.tools if name not in TITLES]:
        parser.error(f"unknown tool {unknown[0]}; there are: {', '.join(TITLES)}")
    wanted = lambda name: options.only is None or name in options.only
    if options.only and not options.data and any(name in kernel_data.REAL for name in options.only):
        parser.error("the real data need --data DIR")
    partial = options.quick or options.only is not None or len(options.tools) < len(TITLES)
    sets = kernel_data.QUICK if options.quick else kernel_data.MADE
    options.made = {name: make for name, make in sets.items() if wanted(name)}
    options.real = [name for name in kernel_data.REAL if options.data and wanted(name)]
    options.rank, options.tune = wanted("rank"), wanted("tune")
    options.repeats = 1 if options.quick else options.repeats
    options.shown = shown(sys.argv[1:])
    options.work.mkdir(parents=True, exist_ok=True)
    options.linfa = build_linfa(options) if "linfa" in options.tools else None
    options.out = options.out or (options.work / "kernel.md" if partial else ROOT / "bench/results/kernel.md")
    markdown, agrees = compare(options)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(markdown)
    print(markdown)
    print(f"written to {options.out}", file=sys.stderr)
    if not agrees:
        sys.exit("the objectives differ")


if __name__ == "__main__":
    main()
