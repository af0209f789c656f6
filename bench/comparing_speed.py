"""How fast and in how much memory made comparisons are learnt: many pairs of many items, many pairs of few, and steps pair by pair.

`rankwise train` from tables of items and pairs; scikit-learn on explicit differences of the decided pairs, which it needs as a matrix,
on as many pairs as that is sensible for.
"""

import sys

import comparing_data
import ranking_data
from common import call, memory, row, run_peer, seconds

PAIR_BYTES = 9  # two item numbers and an outcome
LARGE = {"n_items": 100_000, "n_features": 50, "n_pairs": 10_000_000}
LARGE_QUICK = {"n_items": 10_000, "n_features": 50, "n_pairs": 1_000_000}
FEW = {"n_items": 500, "n_features": 20, "n_pairs": 200_000}
FEW_QUICK = {"n_items": 200, "n_features": 20, "n_pairs": 20_000}
LARGE_SECONDS, LARGE_MEMORY, FEW_SECONDS = 20.0, 1.5, 3.0
LARGE_C, FEW_C = 1e-5, 1e-3
MOST_EXPLICIT = 1_000_000
SOFIA = "sofia-ml's steps on S2, about 0.5 million a second, are quoted from another run, not measured here."
ONLINE = {"S2": 1e-5, "S4": 0.1}


def train(options, *arguments):
    answer = call(options.program, "train", *arguments, "--threads", options.threads, "-o", options.work / "comparing.safetensors",
                  cores=options.threads)
    if answer["stop"] != "converged":
        print(f"warning: training stopped because of {answer['stop']}: {' '.join(map(str, arguments))}", file=sys.stderr)
    return answer


def explicit(options, machine, c, item_file, pair_file, most):
    return run_peer("comparing_peers.py", options.limit, options.threads,
                    {"tool": "differences", "machine": machine, "C": c, "items": str(item_file), "pairs": str(pair_file), "most": most})


def shape(of):
    return f"{of['n_pairs']:,} pairs of {of['n_items']:,} items × {of['n_features']} features"


def answer_row(name, pairs, answer):
    load, train = answer["seconds"]["load"], answer["seconds"]["train"]
    return row(name, f"{pairs:,}", seconds(load), seconds(train), seconds(load + train), memory(answer["peak_memory_bytes"]),
               answer["iterations"])


def explicit_row(name, found):
    whole = found["parse"] + found["build"] + found["train"]
    return row(name, f"{found['pairs']:,}", seconds(found["parse"]), seconds(found["build"] + found["train"]), seconds(whole),
               memory(found["peak_memory_bytes"]), "–")


def wanted(what, value, limit, text):
    return f"- {what}: {text(value)}, wanted at most {text(limit)}: {'kept' if value <= limit else '**MISSED**'}."


HEADER = [row("route", "pairs", "read s", "train s", "both s", "peak memory", "iterations"), "|---|--:|--:|--:|--:|--:|--:|"]


def large(options):
    """(Markdown lines, versions)."""
    size = LARGE_QUICK if options.quick else LARGE
    item_file, pair_file = comparing_data.make(f"large{size['n_pairs']}", options.work, 40, **size)
    answer = train(options, "--pairs", pair_file, "--items", item_file, "--method", "compare", "--loss", "squared-hinge", "--C", LARGE_C,
                   "--tol", 1e-3)
    lines = [f"### {shape(size)}", "", "Squared hinge, tol 1e-3.", "", *HEADER, answer_row("rankwise, compare", size["n_pairs"], answer)]
    versions = []
    for machine in ("LinearSVC", "LogisticRegression"):
        found = explicit(options, machine, LARGE_C, item_file, pair_file, MOST_EXPLICIT // (10 if options.quick else 1))
        if found:
            lines.append(explicit_row(f"{machine} on differences", found))
            versions.append(found["version"])
    data = size["n_items"] * size["n_features"] * 4 + size["n_pairs"] * PAIR_BYTES
    both = answer["seconds"]["load"] + answer["seconds"]["train"]
    lines += ["", f"The data are {memory(data)}: features in f32, {PAIR_BYTES} bytes a pair."]
    if not options.quick:
        lines += [wanted("Reading and training", both, LARGE_SECONDS, lambda value: f"{value:.1f} s"),
                  wanted("Peak memory over data", answer["peak_memory_bytes"] / data, LARGE_MEMORY, lambda value: f"{value:.2f}")]
    return [*lines, ""], versions


def few(options):
    size = FEW_QUICK if options.quick else FEW
    item_file, pair_file = comparing_data.make(f"few{size['n_pairs']}", options.work, 50, **size)
    routes = {
        "linear, features": ["--items", item_file],
        "linear, an indicator an item": [],
        "RBF, features": ["--items", item_file, "--kernel", "rbf"],
    }
    lines, versions, slowest = [f"### {shape(size)}", "", "Squared hinge, tol 1e-3.", "", *HEADER], [], 0.0
    for name, settings in routes.items():
        answer = train(options, "--pairs", pair_file, *settings, "--method", "compare", "--loss", "squared-hinge", "--C", FEW_C)
        slowest = max(slowest, answer["seconds"]["load"] + answer["seconds"]["train"])
        lines.append(answer_row(f"rankwise, compare, {name}", size["n_pairs"], answer))
    found = explicit(options, "LinearSVC", FEW_C, item_file, pair_file, size["n_pairs"])
    if found:
        lines.append(explicit_row("LinearSVC on differences", found))
        versions.append(found["version"])
    if not options.quick:
        lines += ["", wanted("The slowest of ours", slowest, FEW_SECONDS, lambda value: f"{value:.1f} s")]
    return [*lines, ""], versions


def online(options):
    """Steps of one pair a second, from the iterations that the program reports; reading does not count."""
    lines = ["### One pair a step", "", row("set", "steps", "train s", "million steps a second"), "|---|--:|--:|--:|"]
    for name, c in ONLINE.items():
        if options.quick and name != "S4":
            continue
        ranking_data.make(name.lower(), options.work, without_qid=True)
        answer = train(options, options.work / f"{name.lower()}.txt", "--method", "online", "--batch", "pair", "--C", c)
        steps, spent = answer["iterations"], answer["seconds"]["train"]
        lines.append(row(name, f"{steps:,}", seconds(spent), f"{steps / spent / 1e6:.2f}"))
    return [*lines, "", SOFIA, ""], []


PARTS = {"large": large, "few": few, "online": online}


def speed(options):
    lines, versions = ["## Made comparisons", ""], set()
    for name in options.speed:
        found, tools = PARTS[name](options)
        lines += found
        versions |= set(tools)
        print(f"{name} done", file=sys.stderr)
    return lines, sorted(versions)
