"""Ranking from items: rankwise beside scikit-learn, LightGBM and XGBoost, the same files in the same run.

    python bench/ranking.py [--only S1,S2] [--quick] [--slow] [--full] [--data DIR]

rankwise    `rankwise train` on a text file, squared hinge, hinge and logistic loss.
LinearSVC   the same squared hinge objective on explicit pairs, where those fit into memory.
LightGBM    lambdarank, 100 trees.      XGBoost    rank:pairwise, 100 trees.
            They minimise something else and can learn curved relations; their accuracy stands beside.

The data are made by ranking_data.py, accuracy is measured by ranking_metrics.py, other tools run in ranking_peers.py, one process
a run, on as many cores as it has threads. What takes less than 5 seconds is run four times: the first warms caches, the medians of
the others count.
"""

import argparse
import json
import os
import platform
import struct
import sys
import time
from pathlib import Path

import numpy as np

import ranking_data
import ranking_metrics
from common import ROOT, call, check_program, memory, processor, repeated, row, run_peer, seconds, version_of
from ranking_letor import TITLES, real_data

# C by set: of squared hinge, and of hinge and logistic. It multiplies a sum over pairs, so more pairs want less.
SETS = {"S1": (1e-4, 1e-3), "S2": (1e-5, 1e-4), "S3": (1e-8, None), "S4": (0.1, 0.1)}
SHAPES = {
    "S1": "100 groups × 100 items × 50 features, 5 grades",
    "S2": "2,000 groups × 100 items × 136 features, 5 grades",
    "S3": "1 group × 100,000 items × 20 features, real labels",
    "S4": "200 groups × 100 items, 50,000 sparse features, 5 grades",
}
TREES = 100
CLOSE = 1e-6
SHORT_ONE_THREAD = 30.0
LARGEST_LIGHTGBM_GROUP = 10_000
SUMMARY = (
    "Reading and training · share of test pairs in order. Each tool with one or two threads, whichever was faster; rankwise: squared "
    "hinge, default tolerance; 100 trees; – was not run."
)
CAPTION = (
    "Every tool reads the same data from text, in a process of its own, on as many cores as it has threads. Seconds of the others do "
    "not include the start of Python and imports; their peak memory does. *File to model* is the whole program for rankwise, reading "
    "and training for the others. rankwise, squared-hinge, and LinearSVC minimise the same objective; boosted trees minimise something "
    "else, may learn curved relations and rank better or worse: their accuracy stands beside. The data favour linear scores: labels "
    "come from a linear function with noise, in S3 with a curve added. NDCG@10 is rankwise's default: gain 2^label − 1, equal scores "
    "averaged; one function measures all tools."
)


def rankwise(options, name, loss, c, tol, threads):
    """Training in a process of its own; `wall` is all of it, from the file to the written model."""
    folder = options.work
    model, scores = folder / "ranking.safetensors", folder / "ranking.scores"

    def run():
        start = time.perf_counter()
        answer = call(options.program, "train", folder / f"{name.lower()}.txt", "-o", model, "--loss", loss, "--C", c,
                      "--tol", tol, "--threads", threads, cores=threads)
        wall = time.perf_counter() - start
        if answer["stop"] != "converged":
            print(f"warning: {name} {loss} stopped because of {answer['stop']}", file=sys.stderr)
        return {"parse": answer["seconds"]["load"], "train": answer["seconds"]["train"], "wall": wall,
                "peak_memory_bytes": answer["peak_memory_bytes"], "objective": answer["objective"]}

    best = repeated(run, options.repeats)
    call(options.program, "predict", model, folder / f"{name.lower()}t.txt", "-o", scores)
    return {**best, "tool": f"rankwise, {loss}, tol {tol:g}", "threads": threads, **accuracy(options, name, np.loadtxt(scores)),
            "check": recomputed(options, name, loss, c, model) if name != "S3" else None}


def recomputed(options, name, loss, c, model):
    """The objective from the weights in the model file and the scores of the training items."""
    scores = options.work / "ranking.scores"
    call(options.program, "predict", model, options.work / f"{name.lower()}.txt", "-o", scores)
    raw = model.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    begin, end = json.loads(raw[8 : 8 + length])["weights"]["data_offsets"]
    weights = np.frombuffer(raw[8 + length + begin : 8 + length + end], dtype="<f8")
    labels, qid = facts(options, name.lower())
    return ranking_metrics.objective(weights, np.loadtxt(scores), labels, qid, c, loss)


def facts(options, name):
    with np.load(options.work / f"{name}.npz") as kept:
        return kept["labels"], kept["qid"]


def accuracy(options, name, scores):
    labels, qid = facts(options, f"{name.lower()}t")
    graded = labels.min() >= 0
    return {"pair_accuracy": ranking_metrics.pair_accuracy(labels, qid, scores),
            "ndcg": ranking_metrics.ndcg(labels, qid, scores) if graded else None}


def peer(options, threads, **task):
    return run_peer("ranking_peers.py", options.limit, threads, task)


def trees(options, tool, name, threads):
    """LightGBM wants groups in a file of their own, XGBoost reads qids."""
    suffix = ".noqid.txt" if tool == "lightgbm" else ".txt"
    train, test = (str(options.work / f"{one}{suffix}") for one in (name.lower(), f"{name.lower()}t"))
    kept = str(options.work / "ranking.scores.npy")
    run = lambda: peer(options, threads, tool=tool, train=train, tests=[test], trees=[TREES], scores=[[kept]])
    best = repeated(run, options.repeats)
    if best is None:
        return None
    return {**best, "tool": f"{TITLES[tool]}, {TREES} trees", "threads": threads, **accuracy(options, name, np.load(kept))}


def linear_svc(options, name, c, aim):
    kept = str(options.work / "ranking.scores.npy")
    path = str(options.work / name.lower())
    run = lambda: peer(options, 1, tool="linear-svc", train=f"{path}.txt", test=f"{path}t.txt", scores=kept, C=c,
                       tols=[1e-3, 1e-4, 1e-5, 1e-6, 1e-7], aim=aim, close=CLOSE)
    best = repeated(run, options.repeats)
    if best is None:
        return None
    return {**best, "tool": f"LinearSVC on explicit pairs, squared-hinge, tol {best['tol']:g}", "threads": 1,
            **accuracy(options, name, np.load(kept))}


def explicit_fits(options, name, labels, qid):
    """(whether to form pairs, why not). S4's pairs take 4 GB and a minute."""
    pairs = ranking_metrics.n_pairs(labels, qid)
    if name == "S1" or (name == "S4" and options.slow):
        return True, ""
    if name == "S4":
        return False, f"LinearSVC on the {pairs:,} explicit pairs takes 4 GB and a minute: only with `--slow`."
    width = {"S2": 136, "S3": 20}[name]
    return False, f"LinearSVC is not run: {pairs:,} explicit pairs are {memory(pairs * width * 8)} of differences."


def run_set(options, name):
    """(results, remarks) of one set."""
    c, other_c = SETS[name]
    small = name.lower()
    for part in (small, f"{small}t"):
        ranking_data.make(part, options.work, without_qid=name != "S3")
        (options.work / f"{part}.txt").read_bytes()
    labels, qid = facts(options, small)
    results, remarks = [], []
    machines = [("squared-hinge", c, 1e-3), ("squared-hinge", c, 1e-6)]
    if other_c is not None:
        machines += [("hinge", other_c, 1e-3), ("logistic", other_c, 1e-3)]
    for loss, c_of_loss, tol in machines:
        results += [rankwise(options, name, loss, c_of_loss, tol, threads) for threads in (1, 2)]
    fits, why_not = explicit_fits(options, name, labels, qid)
    if fits and "linear-svc" in options.tools:
        aim = next(result["objective"] for result in results if result["tool"].endswith("tol 1e-06"))
        explicit = linear_svc(options, name, c, aim)
        results.append(explicit)
        if explicit is None:
            remarks.append(f"**LinearSVC gave no result**: it failed, or took more than {options.limit:g} s.")
    elif why_not:
        remarks.append(why_not)
    for tool in ("lightgbm", "xgboost"):
        if tool not in options.tools:
            continue
        if tool == "lightgbm" and name == "S3":
            remarks.append(f"LightGBM is not run: its groups hold at most {LARGEST_LIGHTGBM_GROUP:,} items, its labels are whole.")
            continue
        two = trees(options, tool, name, 2)
        slow = two is None or two["parse"] + two["train"] > SHORT_ONE_THREAD
        one = trees(options, tool, name, 1) if options.slow or not slow else None
        results += [one, two]
        if two is None:
            remarks.append(f"**{TITLES[tool]} gave no result** with two threads: it failed, or took more than {options.limit:g} s.")
        elif one is None:
            remarks.append(f"{TITLES[tool]} is shown with two threads only.")
    results = [result for result in results if result]
    if "read" in options.tools:
        path = str(options.work / f"{small}.txt")
        read = repeated(lambda: peer(options, 1, tool="read", train=path), options.repeats)
        if read:
            results.append({**read, "tool": "scikit-learn, load_svmlight_file", "threads": 1, "train": None})
    remarks += agreement(results)
    print(f"{name} done", file=sys.stderr)
    return results, remarks


def agreement(results):
    """Sentences on the objectives; one that disagrees has DIFFER in it."""
    said = []
    checks = [abs(one["check"] / one["objective"] - 1.0) for one in results if one.get("check")]
    if checks:
        word = "agree" if max(checks) <= CLOSE else "**DIFFER**"
        said.append(f"Objectives that rankwise reports and those computed from its weights {word} (largest relative difference "
                    f"{max(checks):.0e}).")
    tight = next((one for one in results if one["tool"] == "rankwise, squared-hinge, tol 1e-06"), None)
    explicit = next((one for one in results if one["tool"].startswith("LinearSVC")), None)
    if tight and explicit:
        difference = explicit["objective"] / tight["objective"] - 1.0
        word = "agree" if abs(difference) <= 2 * CLOSE else "**DIFFER**"
        said.append(f"The objectives of LinearSVC and rankwise at tol 1e-6 {word} (relative difference {difference:+.0e}); "
                    f"of LinearSVC's training {seconds(explicit['build'])} s are the forming of pairs.")
    return said


def number(value, digits):
    return "–" if value is None else f"{value:.{digits}f}"


def set_table(results):
    lines = [row("tool", "threads", "read s", "train s", "file to model s", "peak memory", "objective", "test pair accuracy",
                 "test NDCG@10"), "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for one in results:
        if one["train"] is None:
            continue
        whole = one.get("wall") or one["parse"] + one["train"]
        value = f"{one['objective']:.7g}" if one.get("objective") is not None else "–"
        lines.append(row(one["tool"], one["threads"], seconds(one["parse"]), seconds(one["train"]), seconds(whole),
                         memory(one["peak_memory_bytes"]), value, number(one["pair_accuracy"], 4), number(one["ndcg"], 4)))
    return lines


def summary(by_set):
    """The table of the project's README: each tool with the number of threads that suits it better."""
    starts = {"rankwise": "rankwise, squared-hinge, tol 0.001", "LinearSVC, explicit pairs": "LinearSVC", "LightGBM": "LightGBM",
              "XGBoost": "XGBoost"}
    lines = [row("items", *starts), "|---|" + "--:|" * len(starts)]
    for name, (results, _) in by_set.items():
        cells = []
        for start in starts.values():
            found = [one for one in results if one["tool"].startswith(start)]
            one = min(found, key=lambda one: one["parse"] + one["train"], default=None)
            cells.append(f"{seconds(one['parse'] + one['train'])} s · {one['pair_accuracy']:.4f}" if one else "–")
        lines.append(row(SHAPES[name], *cells))
    return lines


def reading(options, by_set):
    """How fast the text becomes numbers, from the runs above."""
    readers = {"rankwise": "rankwise, squared-hinge, tol 0.001", "XGBoost, DMatrix": "XGBoost",
               "LightGBM, Dataset (with binning)": "LightGBM", "scikit-learn, load_svmlight_file": "scikit-learn"}
    lines = [row("reader", "threads", *(f"{name} MB/s" for name in by_set)), "|---|--:|" + "--:|" * len(by_set)]
    for reader, start in readers.items():
        for threads in (1, 2):
            cells = []
            for name, (results, _) in by_set.items():
                one = next((one for one in results if one["tool"].startswith(start) and one["threads"] == threads), None)
                suffix = ".noqid.txt" if start == "LightGBM" else ".txt"
                size = (options.work / f"{name.lower()}{suffix}").stat().st_size if one else 0
                cells.append(f"{size / 1e6 / one['parse']:.0f}" if one else "–")
            if set(cells) != {"–"}:
                lines.append(row(reader, threads, *cells))
    sizes = ", ".join(f"{name} {memory((options.work / f'{name.lower()}.txt').stat().st_size)}" for name in by_set)
    return [*lines, "", f"Text: {sizes}. From the runs above; the files are in the page cache."]


def scaling(options):
    """The recipe of S3 at growing size, with C times the number of pairs constant."""
    lines = [row("items", "pairs", "threads", "read s", "train s", "train µs per item", "iterations", "peak memory"),
             "|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for n in options.sizes:
        existed = (options.work / f"one_group.{n}.txt").exists()
        path = ranking_data.make_one_group(n, options.work)
        path.open("rb").read(1)
        for threads in (1, 2):
            def run():
                answer = call(options.program, "train", path, "-o", options.work / "ranking.safetensors", "--C",
                              SETS["S3"][0] * (1e5 / n) ** 2, "--threads", threads, cores=threads)
                return {"load": answer["seconds"]["load"], "train": answer["seconds"]["train"],
                        "peak": answer["peak_memory_bytes"], "iterations": answer["iterations"], "pairs": answer["pairs"]}

            one = repeated(run, options.repeats)
            lines.append(row(f"{n:,}", f"{one['pairs']:.3g}", threads, seconds(one["load"]), seconds(one["train"]),
                             f"{1e6 * one['train'] / n:.2f}", one["iterations"], memory(one["peak"])))
        if not existed and not options.keep:
            path.unlink()
        print(f"{n:,} items done", file=sys.stderr)
    return lines


def compare(options):
    """(the Markdown, does everything agree)."""
    by_set = {name: run_set(options, name) for name in options.only}
    versions = sorted({one["version"] for results, _ in by_set.values() for one in results if "version" in one})
    lines = ["# Ranking from items", "",
             f"{processor()}, {os.cpu_count()} cores. {'; '.join([version_of(options.program), *versions])}; "
             f"numpy {np.__version__}, Python {platform.python_version()}.", "", CAPTION, ""]
    if by_set:
        lines += ["## Summary", "", SUMMARY, "", *summary(by_set), ""]
    for name, (results, remarks) in by_set.items():
        c, other_c = SETS[name]
        other = f", of hinge and logistic {other_c:g}" if other_c is not None else ""
        lines += [f"## {name}: {SHAPES[name]}", "", f"C of squared hinge {c:g}{other}.", "", *set_table(results), ""]
        lines += [f"- {remark}" for remark in remarks] + [""] * bool(remarks)
    if by_set:
        lines += ["## Reading text", "", *reading(options, by_set), ""]
    if options.sizes:
        lines += ["## One group, growing", "", "rankwise, squared hinge, default tolerance, the recipe of S3, C ∝ 1/items².", "",
                  *scaling(options), ""]
    if options.data:
        lines += real_data(options, peer)
    markdown = "\n".join(lines)
    return markdown, "DIFFER" not in markdown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda text: [name for name in text.split(",") if name]
    parser.add_argument("--program", default=str(ROOT / "target/release/rankwise"), help="default: target/release/rankwise")
    parser.add_argument("--only", type=names, help="some of S1,S2,S3,S4,scaling,real")
    parser.add_argument("--tools", type=names, default=["linear-svc", "lightgbm", "xgboost", "read"],
                        help="some of linear-svc,lightgbm,xgboost,read (scikit-learn's reader); rankwise always runs")
    parser.add_argument("--quick", action="store_true", help="S1 and S4, one run of each")
    parser.add_argument("--slow", action="store_true", help="also LinearSVC on S4 (4 GB), and one thread for whatever is slow")
    parser.add_argument("--full", action="store_true", help="scaling up to 10^7 items (2.2 GB of text)")
    parser.add_argument("--keep", action="store_true", help="keep the files of scaling")
    parser.add_argument("--repeats", type=int, default=3, help="runs that count of what takes less than 5 s (default 3)")
    parser.add_argument("--limit", type=float, help="the longest time of one run of another tool, in seconds (default 900, with --quick 120)")
    parser.add_argument("--work", type=Path, default=ROOT / "bench/.data", help="folder for the generated files")
    parser.add_argument("--data", type=Path, help="folder with ohsumed_letor2/S1..S5.txt and mq2008/S1..S5.txt (or .xz)")
    parser.add_argument("--out", type=Path, help="default: bench/results/ranking.md; of a part of the run, WORK/ranking.md")
    options = parser.parse_args()
    check_program(options.program)
    known = [*SETS, "scaling", "real"]
    partial = options.quick or options.only is not None or len(options.tools) < 4
    parts = options.only or (["S1", "S4"] if options.quick else known)
    if unknown := [part for part in parts if part not in known]:
        parser.error(f"unknown part {unknown[0]}; there are: {', '.join(known)}")
    if options.only and "real" in parts and not options.data:
        parser.error("the real data need --data DIR")
    if options.quick:
        options.repeats = 1
    options.limit = options.limit or (120.0 if options.quick else 900.0)
    options.work.mkdir(parents=True, exist_ok=True)
    options.only = [name for name in SETS if name in parts]
    options.sizes = ([10**5, 10**6] + [10**7] * options.full) if "scaling" in parts else []
    options.data = options.data if "real" in parts else None
    options.out = options.out or (options.work / "ranking.md" if partial else ROOT / "bench/results/ranking.md")
    markdown, agrees = compare(options)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(markdown)
    print(markdown)
    print(f"written to {options.out}", file=sys.stderr)
    if not agrees:
        sys.exit("the objectives differ")


if __name__ == "__main__":
    main()
