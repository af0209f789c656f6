"""The Python package beside other packages, end to end: from arrays in memory to scores, the same arrays for everybody.

    python bench/python.py [--only ranking,kernel] [--quick]

ranking    RankSVM beside LinearSVC on explicit pairs and LGBMRanker     tuning    rankwise.tune beside GridSearchCV
kernel     SVC and SVR beside those of scikit-learn                     reading   load_svmlight beside load_svmlight_file
rating     rate beside choix                                            overhead  RankSVM beside the program `rankwise`; imports

Every run is a process of its own (python_tasks.py) on as many cores as it has threads. The data are those of ranking.py, kernel.py and
ratings.py. The script ends with exit status 1 if answers that should agree do not.
"""

import argparse
import functools
import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

import kernel_data
import kernel_objective
import ranking
import ranking_data
import ranking_metrics
import ratings_data
from common import ROOT, call, check_program, memory, processor, row, run_peer, seconds, version_of
from python_tasks import CACHE_MB, LONG, TREES

TOL = 1e-3
CLOSE = 1e-3  # objectives of linear machines
CLOSE_DUAL = 1e-3
CLOSE_ELO = 0.1
MODULES = {"rankwise": "rankwise", "scikit-learn": "sklearn", "lightgbm": "lightgbm", "choix": "choix"}
CS = [float(f"{c:.3g}") for c in np.geomspace(1e-6, 1e-2, 13)]
IMPORTS = ["import numpy", "import rankwise", "from rankwise import RankSVM", "import sklearn", "from sklearn.svm import LinearSVC",
           "import lightgbm"]
# (training, test) of a set by its name in ranking.py; what --quick makes instead has the same recipe.
QUICK = {
    "S1": (lambda: ranking_data.dense(1, 20, 50, 50, ranking_data.EQUAL, 0.5),
           lambda: ranking_data.dense(11, 10, 50, 50, ranking_data.EQUAL, 0.5)),
    "S2": (lambda: ranking_data.dense(2, 50, 100, 136, ranking_data.SKEWED, 0.7),
           lambda: ranking_data.dense(12, 20, 100, 136, ranking_data.SKEWED, 0.7)),
    "S4": (lambda: ranking_data.sparse_groups(4, 20, 100), lambda: ranking_data.sparse_groups(14, 10, 100)),
}
GAMES = [{"seed": 31, "n_items": 100, "n_games": 100_000, "ties": 0.3}, {"seed": 32, "n_items": 1_000, "n_games": 1_000_000, "ties": 0.3}]
QUICK_GAMES = [{"seed": 31, "n_items": 20, "n_games": 5_000, "ties": 0.3}]
CAPTION = (
    "Each tool gets the same numpy or CSR arrays, in a process of its own, after its import, on as many cores as it has threads. Seconds "
    "are wall seconds, the least of {repeats}; what takes more than {long:g} s is run once. *Memory added* is the peak of the process in its "
    "first run less what was in use before it: interpreter, imports and the arrays themselves are not in it. *Times as long* is fit and "
    "predict together against rankwise."
)


class Bench:
    """What a run knows: options, who took part and what went wrong."""

    def __init__(self, options):
        self.options, self.versions, self.problems = options, set(), []

    def path(self, name):
        return self.options.work / f"python_{name}{'_quick' if self.options.quick else ''}"

    def run(self, part, tool, threads=None, **task):
        """What a tool reports with the answer it left; or {"failed": why there is none}."""
        print(f"{part}: {' '.join([tool, *(str(task[key]) for key in ('way', 'machine', 'name') if key in task)])}", file=sys.stderr)
        if importlib.util.find_spec(MODULES[tool]) is None:
            return {"failed": "not installed"}
        answer = self.options.work / "python_answer.npz"
        answer.unlink(missing_ok=True)
        found = run_peer("python_tasks.py", self.options.limit, threads or self.options.threads,
                         {"part": part, "tool": tool, "repeats": self.options.repeats, "answer": str(answer), "tol": TOL, **task})
        if found is None:
            if tool == "rankwise":
                self.problems.append(f"rankwise gave no result in {part}")
            return {"failed": f"no result: failed, or took more than {self.options.limit:g} s"}
        self.versions.add(found["version"])
        if answer.exists():
            with np.load(answer) as kept:
                found |= {name: kept[name] for name in kept}
        return found


def verdict(what, difference, allowed):
    """A sentence; one that disagrees has DIFFER in it."""
    return f"{what} {'agree' if abs(difference) <= allowed else '**DIFFER**'} (relative difference {difference:+.0e})."


def times(one, ours):
    whole = lambda found: found["best"] + found.get("predict", 0.0)
    return "–" if "failed" in ours else f"{whole(one) / whole(ours):.1f}"


def lost(title, found, n_cells):
    return row(title, *["–"] * (n_cells - 2), found["failed"])


# Ranking

@functools.cache
def ranking_arrays(bench, name):
    """(path of the arrays, the training set, test labels and groups) of a set; S2 in single precision."""
    whole = ranking_data.SETS[name.lower()], ranking_data.SETS[f"{name.lower()}t"]
    (items, labels, qid), (test, test_labels, test_qid) = (make() for make in (QUICK[name] if bench.options.quick else whole))
    if name == "S2":
        items, test = items.astype(np.float32), test.astype(np.float32)
    path = bench.path(name.lower()).with_suffix(".npz")
    kernel_data.save_arrays(path, items, labels, test, qid=qid)
    return path, (items, labels, qid), (test_labels, test_qid)


def shape(items, qid):
    n_groups, kind = len(np.unique(qid)), items.dtype
    features = f"{items.shape[1]:,} sparse features, {items.nnz / len(qid):.0f} an item" if hasattr(items, "nnz") else (
        f"{items.shape[1]} features")
    return f"{n_groups:,} groups × {len(qid) // n_groups} items × {features}, {kind}"


def part_ranking(bench):
    from rankwise.metrics import pair_accuracy

    lines = ["## Ranking", ""]
    for name in QUICK:
        path, (items, labels, qid), test = ranking_arrays(bench, name)
        c = ranking.SETS[name][0]
        titles = {"rankwise": "rankwise RankSVM", "scikit-learn": "scikit-learn LinearSVC on explicit pairs",
                  "lightgbm": f"LightGBM LGBMRanker, {TREES} trees"}
        if name != "S1":
            del titles["scikit-learn"]
        lines += [f"### {name}: {shape(items, qid)}", "", f"C {c:g}, squared hinge, tol {TOL:g}.", "",
                  row("tool", "fit s", "predict s", "memory added", "objective", "test pair accuracy", "times as long", "note"),
                  "|---|--:|--:|--:|--:|--:|--:|---|"]
        values, ours = {}, None
        for tool, title in titles.items():
            one = bench.run("ranking", tool, name=name, arrays=str(path), C=c)
            ours = ours or one
            if "failed" in one:
                lines.append(lost(title, one, 8))
                continue
            if "weights" in one:
                values[tool] = ranking_metrics.objective(one["weights"], items @ one["weights"], labels, qid, c, "squared-hinge")
            lines.append(row(title, seconds(one["best"]), seconds(one["predict"]), memory(one["added"]),
                             f"{values[tool]:.6g}" if tool in values else "–", f"{pair_accuracy(test[0], one['scores'], test[1]):.4f}",
                             times(one, ours), ""))
        if len(values) == 2:
            lines += ["", "- " + verdict("The objectives of rankwise and LinearSVC", values["scikit-learn"] / values["rankwise"] - 1, CLOSE)]
        if name != "S1":
            pairs = ranking_metrics.n_pairs(labels, qid)
            lines += ["", f"- LinearSVC is run on S1 alone: here it would get {pairs:,} differences."]
        lines.append("")
    return lines


# Kernel machines

def part_kernel(bench):
    lines = ["## Kernel machines", "", f"RBF kernel, the same C, γ, ε, tol {TOL:g} and {CACHE_MB} MB of cache for both; scikit-learn's machines "
             "use one thread. Primal and dual value from coefficients and bias alone, by one function. tol bounds the relative "
             "duality gap in rankwise, the violation of the optimality conditions in scikit-learn.", ""]
    for name in ("cls10", "reg"):
        problem = (kernel_data.QUICK if bench.options.quick else kernel_data.MADE)[name]()
        path = bench.path(name).with_suffix(".npz")
        kernel_data.save_arrays(path, problem.items, problem.labels, problem.test_items)
        kind = "SVC" if problem.kind == "classify" else "SVR"
        lines += [f"### {problem.title}", "", f"γ {problem.gamma:g}, C {problem.c:g}{f', ε {problem.epsilon:g}' * (kind == 'SVR')}; "
                  f"{len(problem.test_labels):,} items to predict.", "",
                  row("tool", "fit s", "predict s", "memory added", "primal", "dual", "gap", "test error", "times as long", "note"),
                  "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"]
        runs = []
        for tool in ("rankwise", "scikit-learn"):
            one = bench.run("kernel", tool, name=name, arrays=str(path), kind=problem.kind, C=problem.c, gamma=problem.gamma,
                            epsilon=problem.epsilon)
            runs.append(one)
            if "failed" in one:
                lines.append(lost(f"{tool} {kind}", one, 10))
                continue
            one |= kernel_objective.values(problem, one["coefficients"], one["bias"])
            lines.append(row(f"{tool} {kind}", seconds(one["best"]), seconds(one["predict"]), memory(one["added"]), f"{one['primal']:.7g}",
                             f"{one['dual']:.7g}", f"{one['gap']:.1e}", f"{problem.error(one['scores']):.4f}", times(one, runs[0]), ""))
        if not any("failed" in one for one in runs):
            ours, other = runs
            # Primal values need not be close: scikit-learn's tolerance does not bound them.
            said = verdict("Dual values", ours["dual"] / other["dual"] - 1, CLOSE_DUAL)
            said += f" The primal values' relative difference is {ours['primal'] / other['primal'] - 1:+.0e}."
            if ours["gap"] > 2 * TOL:
                said += f" **rankwise's gap DIFFERS from what was asked for**: {ours['gap']:.1e}."
            if kind == "SVC":
                same = np.mean((ours["scores"] > 0) == (other["scores"] > 0))
                said += f" {same:.2%} of the test items get the same class from both."
            else:
                apart = np.sqrt(np.mean((ours["scores"] - other["scores"]) ** 2))
                said += f" Predictions are {apart:.1e} apart (root mean square)."
            lines += ["", f"- {said}"]
        lines.append("")
    return lines


# Choosing parameters

def part_tuning(bench):
    n = 400 if bench.options.quick else 2_000
    problem = kernel_data.classification("tune", n, 1_000)
    arrays = bench.path("tune").with_suffix(".npz")
    kernel_data.save_arrays(arrays, problem.items, problem.labels, problem.test_items)
    ranked, (items, _, qid), _ = ranking_arrays(bench, "S1")
    n_points = len(kernel_data.GRID["C"]) * len(kernel_data.GRID["gamma"])
    processes = f"{bench.options.threads} processes"
    searches = {
        "SVC": (f"SVC, RBF kernel: {n:,} items × 20 features, {n_points} points of C and γ, {kernel_data.FOLDS} folds", arrays,
                {"rankwise": "rankwise.tune", "scikit-learn": f"GridSearchCV of scikit-learn's SVC, {processes}"}),
        "RankSVM": (f"RankSVM: {shape(items, qid)}, {len(CS)} values of C, {kernel_data.FOLDS} folds of whole groups", ranked,
                    {"rankwise": "rankwise.tune", "scikit-learn": f"GridSearchCV of RankSVM, GroupKFold, {processes}"}),
    }
    lines = ["## Choosing parameters", "", "The search and the last fit on all items. Folds are not the same, so the best points may not be. "
             "Score: accuracy, or share of pairs in order, as the tool itself reports it.", ""]
    for machine, (title, path, tools) in searches.items():
        lines += [f"### {title}", "", row("search", "wall s", "best mean score", "chosen", "times as long", "note"),
                  "|---|--:|--:|---|--:|---|"]
        ours = None
        for tool, called in tools.items():
            one = bench.run("tuning", tool, machine=machine, arrays=str(path), Cs=CS)
            ours = ours or one
            if "failed" in one:
                lines.append(lost(called, one, 6))
                continue
            chosen = ", ".join(f"{name} {value:g}" for name, value in one["chosen"].items())
            lines.append(row(called, seconds(one["best"]), f"{one['score']:.4f}", chosen, times(one, ours), ""))
        lines.append("")
    return lines


# Reading text

@functools.cache
def text_of_s2(bench):
    """(text in SVMlight's format, arrays) of S2."""
    from rankwise.datasets import save_svmlight

    path, (items, labels, qid), _ = ranking_arrays(bench, "S2")
    text = bench.path("s2").with_suffix(".svm")
    save_svmlight(text, items, labels, qid)
    return text, path


def part_reading(bench):
    text, path = text_of_s2(bench)
    text.read_bytes()
    size = text.stat().st_size
    lines = ["## Reading text in SVMlight's format", "", f"The items of S2, {memory(size)}, in the page cache.", "",
             row("tool", "wall s", "MB/s", "memory added", "gives", "times as long", "note"), "|---|--:|--:|--:|---|--:|---|"]
    ours, differences = None, []
    for tool, title in (("rankwise", "rankwise.datasets.load_svmlight"), ("scikit-learn", "sklearn.datasets.load_svmlight_file")):
        one = bench.run("reading", tool, file=str(text), arrays=str(path))
        ours = ours or one
        if "failed" in one:
            lines.append(lost(title, one, 7))
            continue
        differences.append(one["difference"] if one["is_same"] else np.inf)
        lines.append(row(title, seconds(one["best"]), f"{size / 1e6 / one['best']:.0f}", memory(one["added"]), one["made"], times(one, ours), ""))
    if differences:
        word = "are those that were written" if max(differences) < 1e-6 else "**DIFFER** from those that were written"
        lines += ["", f"- Labels, groups and features {word} (largest difference of a feature {max(differences):.0e})."]
    return [*lines, ""]


# Ratings

def part_rating(bench):
    # The tool, how it rates, what the row is called, and whose optimum it should find: Davidson's or that of ties as halves.
    rows = [("rankwise", "davidson", {}, "rankwise.rate, Davidson's model, sandwich intervals", "ties"),
            ("rankwise", "halves", {}, "rankwise.rate, ties as half wins, sandwich intervals", "halves"),
            ("choix", "ilsr_pairwise", {}, "choix.ilsr_pairwise, ties as half wins, no intervals", "halves"),
            ("choix", "ilsr_pairwise_dense", {}, "choix.ilsr_pairwise_dense, ties as half wins, no intervals", "halves"),
            ("rankwise", "elo", {}, "rankwise.rate, Elo, intervals by 200 resamples", None),
            ("rankwise", "elo", {"resamples": 2}, "rankwise.rate, Elo, 2 resamples", None)]
    lines = ["## Ratings", "", "From arrays of item numbers and outcomes to ratings; what a tool makes of them first is included. Error: the "
             "largest difference from the optimum of the same model that numpy finds, in Elo points. Order: Spearman's correlation with the "
             "true strengths. *Times as long*: of the same model, against rankwise.", ""]
    for size in QUICK_GAMES if bench.options.quick else GAMES:
        games = ratings_data.draw(**size)
        if not ratings_data.is_finite(games):
            sys.exit("someone won or lost every game: no finite strengths; choose another seed")
        path = bench.path("games").with_suffix(".npz")
        np.savez(path, **games)
        met = ratings_data.cells(games)
        best = {"ties": ratings_data.optimum(met, size["n_items"], True)[0], "halves": ratings_data.optimum(met, size["n_items"], False)[0]}
        lines += [f"### {size['n_games']:,} games of {size['n_items']:,} items, {size['ties']:.0%} ties", "",
                  row("tool", "wall s", "games a second", "memory added", "error", "order", "times as long", "note"),
                  "|---|--:|--:|--:|--:|--:|--:|---|"]
        ours = {}
        for tool, way, more, title, model in rows:
            one = bench.run("rating", tool, way=way, more=more, arrays=str(path))
            if "failed" in one:
                lines.append(lost(title, one, 8))
                continue
            if tool == "rankwise":
                ours.setdefault(model, one)
            ratings = one["ratings"] - one["ratings"].mean()
            error = None if model is None else np.abs(ratings - ratings_data.ELO * best[model]).max()
            note = "" if error is None or error <= CLOSE_ELO else "**DIFFERS from the optimum**" if tool == "rankwise" else "not converged"
            lines.append(row(title, seconds(one["best"]), f"{size['n_games'] / one['best']:,.0f}", memory(one["added"]),
                             "–" if error is None else f"{error:.1e}", f"{spearmanr(ratings, games['r'])[0]:.4f}",
                             times(one, ours[model]) if model in ours else "–", note))
        lines.append("")
    return lines


# Overhead

def part_overhead(bench):
    text, path = text_of_s2(bench)
    c = ranking.SETS["S2"][0]
    blocks, model = bench.path("s2").with_suffix(".rwb"), bench.path("model").with_suffix(".safetensors")
    call(bench.options.program, "convert", text, blocks, "--precision", "f32")
    with np.load(path) as kept:
        about = shape(kept["x"], kept["qid"])
    lines = ["## Overhead", "", f"The same machine on the same numbers ({about}, C {c:g}): `RankSVM.fit` from a numpy array against the "
             f"training seconds of the program, `rankwise train S2.rwb --json`, which has them in a block file; least of "
             f"{bench.options.repeats}. Checks of the array and the numbering of groups are part of `fit`. The program "
             "starts anew each time, as the first fit does; later fits find threads and memory in place.", "",
             row("threads", "program, training s", "RankSVM.fit s", "ratio", "first fit s", "its ratio", "note"),
             "|--:|--:|--:|--:|--:|--:|---|"]
    for threads in sorted({1, bench.options.threads}):
        runs = [call(bench.options.program, "train", blocks, "-o", model, "--C", c, "--tol", TOL, "--threads", threads, cores=threads)
                for _ in range(bench.options.repeats)]
        trained = min(run["seconds"]["train"] for run in runs)
        one = bench.run("ranking", "rankwise", name="S2", arrays=str(path), C=c, threads=threads)
        if "failed" in one:
            lines.append(row(threads, seconds(trained), "–", "–", "–", "–", one["failed"]))
            continue
        with np.load(path) as kept:
            value = ranking_metrics.objective(one["weights"], kept["x"] @ one["weights"], kept["y"], kept["qid"], c, "squared-hinge")
        difference = value / runs[0]["objective"] - 1
        note = "" if abs(difference) < 1e-6 else f"**the objectives DIFFER** by {difference:+.0e}"
        lines.append(row(threads, seconds(trained), seconds(one["best"]), f"{one['best'] / trained:.2f}", seconds(one["first"]),
                         f"{one['first'] / trained:.2f}", note))
    return [*lines, "", *imports(bench)]


def imports(bench):
    lines = ["### Imports", "", "In a fresh process, least of 5, without the start of the interpreter.", "", row("statement", "s"), "|---|--:|"]
    for statement in IMPORTS:
        print(f"overhead: {statement}", file=sys.stderr)
        if importlib.util.find_spec(statement.split()[1].split(".")[0]) is None:
            lines.append(row(f"`{statement}`", "not installed"))
            continue
        clock = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
        spent = [float(subprocess.run([sys.executable, "-c", clock], stdout=subprocess.PIPE, text=True, check=True).stdout) for _ in range(5)]
        lines.append(row(f"`{statement}`", seconds(min(spent))))
    return [*lines, ""]


PARTS = {"ranking": part_ranking, "kernel": part_kernel, "tuning": part_tuning, "reading": part_reading, "rating": part_rating,
         "overhead": part_overhead}


def main():
    names = lambda text: [name for name in text.split(",") if name]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/release/rankwise"), help="default: target/release/rankwise")
    parser.add_argument("--only", type=names, default=list(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, one run of each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="runs of what takes less than 30 s (default 3)")
    parser.add_argument("--limit", type=float, default=900.0, help="the longest time of one process, in seconds (default 900)")
    parser.add_argument("--work", type=Path, default=ROOT / "bench/.data", help="folder for the files made")
    parser.add_argument("--out", type=Path, help="default: bench/results/python.md; of a part of the run, WORK/python.md")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in PARTS]:
        parser.error(f"unknown part {unknown[0]}; there are: {', '.join(PARTS)}")
    if importlib.util.find_spec("rankwise") is None:
        sys.exit("the Python package rankwise is not installed; `cargo xtask bench python` installs it")
    if "overhead" in options.only:
        check_program(options.program)
    if options.quick:
        options.repeats = 1
    is_partial = options.quick or len(options.only) < len(PARTS)
    options.out = options.out or (options.work / "python.md" if is_partial else ROOT / "bench/results/python.md")
    options.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    parts = [line for name in PARTS if name in options.only for line in PARTS[name](bench)]
    program = [f"the program {version_of(options.program)}"] if "overhead" in options.only else []
    lines = ["# The Python package", "",
             f"{processor()}, {os.cpu_count()} cores, {options.threads} threads. {'; '.join([*sorted(bench.versions), *program])}; "
             f"numpy {np.__version__}, Python {platform.python_version()}.", "", CAPTION.format(repeats=options.repeats, long=LONG), ""]
    markdown = "\n".join([*lines, *parts])
    options.out.write_text(markdown)
    print(markdown)
    print(f"written to {options.out}", file=sys.stderr)
    if "DIFFER" in markdown:
        bench.problems.append("answers differ")
    if bench.problems:
        sys.exit("; ".join(bench.problems))


if __name__ == "__main__":
    main()
