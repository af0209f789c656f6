"""The ranking benchmark on LETOR data that the user has: five folds, chosen on validation, measured on test."""

import lzma
import statistics
import sys
import time

import numpy as np

import ranking_metrics
from common import call, row, seconds

COLLECTIONS = {"OHSUMED (LETOR 2)": "ohsumed_letor2", "MQ2008 (LETOR 4)": "mq2008"}
TITLES = {"lightgbm": "LightGBM, lambdarank", "xgboost": "XGBoost, rank:pairwise"}
TREES = [50, 100, 200, 400]
ALIKE = 1e-9


def part_text(folder, k):
    """The k-th fifth of a collection, comments left out: not every reader knows them."""
    plain, packed = folder / f"S{k + 1}.txt", folder / f"S{k + 1}.txt.xz"
    if plain.exists():
        text = plain.read_text()
    elif packed.exists():
        text = lzma.open(packed, "rt").read()
    else:
        sys.exit(f"neither {plain} nor {packed} is there; expected are S1 to S5, the five parts of the collection")
    lines = (line.split("#")[0].rstrip() for line in text.splitlines())
    return [line for line in lines if line]


def write_part(path, lines):
    """With qids, and without them beside the sizes of the groups."""
    path.write_text("\n".join(lines) + "\n")
    heads = [line.split(None, 2) for line in lines]
    plain = path.with_name(path.stem + ".noqid.txt")
    plain.write_text("".join(f"{label} {rest}\n" for label, _, rest in heads))
    qids = [qid for _, qid, _ in heads]
    starts = [i for i, qid in enumerate(qids) if i == 0 or qid != qids[i - 1]]
    sizes = np.diff([*starts, len(qids)])
    plain.with_name(plain.name + ".query").write_text("".join(f"{size}\n" for size in sizes))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return np.array([float(label) for label, _, _ in heads]), groups


def write_fold(options, source, k):
    """Parts k, k+1, k+2 train, the next validates, the one after tests; (paths, labels and groups) by role."""
    parts = [part_text(source, (k + i) % 5) for i in range(5)]
    roles = {"train": parts[0] + parts[1] + parts[2], "valid": parts[3], "test": parts[4]}
    paths = {role: options.work / f"letor.{role}.txt" for role in roles}
    return paths, {role: write_part(paths[role], lines) for role, lines in roles.items()}


def tuned(options, paths, facts, loss):
    """`rankwise tune` over its own grid of C; its metrics must be those of the script."""
    model, scores = options.work / "letor.safetensors", options.work / "letor.scores"
    start = time.perf_counter()
    call(options.program, "tune", paths["train"], "--valid", paths["valid"], "--metric", "map:letor", "--scale", "standard",
         "--loss", loss, "-o", model, "--threads", 2)
    wall = time.perf_counter() - start
    names = ["map:letor", "ndcg@10:letor"]
    metrics = call(options.program, "evaluate", model, paths["test"], "--metric", ",".join(names))["metrics"]
    call(options.program, "predict", model, paths["test"], "-o", scores)
    told = [metrics[name] for name in names]
    if not np.allclose(told, ranking_metrics.letor(*facts["test"], np.loadtxt(scores)), rtol=ALIKE, atol=ALIKE):
        sys.exit(f"rankwise evaluate says {told}, the script measures {ranking_metrics.letor(*facts['test'], np.loadtxt(scores))}")
    return {"seconds": wall, "map": told[0], "ndcg": told[1]}


def boosted(options, peer, tool, paths, facts):
    """400 trees once; how many of them to use is chosen by the metric on validation."""
    named = lambda role: str(paths[role].with_name(paths[role].stem + ".noqid.txt") if tool == "lightgbm" else paths[role])
    kept = [[str(options.work / f"letor.{trees}.{role}.npy") for role in ("valid", "test")] for trees in TREES]
    run = peer(options, 2, tool=tool, train=named("train"), tests=[named("valid"), named("test")], trees=TREES, scores=kept)
    if run is None:
        return None
    _, best = max((ranking_metrics.letor(*facts["valid"], np.load(valid))[0], -i) for i, (valid, _) in enumerate(kept))
    found = ranking_metrics.letor(*facts["test"], np.load(kept[-best][1]))
    return {"seconds": run["parse"] + run["train"] + run["score"], "map": found[0], "ndcg": found[1]}


def real_data(options, peer):
    lines = ["## LETOR collections", "",
             "Means over five folds: trained on three fifths, chosen by MAP on one, measured on one; MAP and NDCG@10 as the LETOR scripts "
             "count. rankwise: `tune --scale standard` over its own grid of C, the whole program. Boosted trees: default settings, "
             "50, 100, 200 or 400 trees, reading, one training and scoring without the start of Python. Two threads.", "",
             row("collection", "tool", "MAP", "NDCG@10", "seconds per fold"), "|---|---|--:|--:|--:|"]
    for title, name in COLLECTIONS.items():
        runs = {}
        for k in range(5):
            paths, facts = write_fold(options, options.data / name, k)
            for loss in ("squared-hinge", "hinge", "logistic"):
                runs.setdefault(f"rankwise, {loss}", []).append(tuned(options, paths, facts, loss))
            for tool, named in TITLES.items():
                if tool in options.tools:
                    runs.setdefault(named, []).append(boosted(options, peer, tool, paths, facts))
        for tool, folds in runs.items():
            if None in folds:
                failed = sum(fold is None for fold in folds)
                lines.append(row(title, tool, "–", "–", f"no result on {failed} of 5 folds (limit {options.limit:g} s)"))
                continue
            mean = lambda key: statistics.mean(fold[key] for fold in folds)
            lines.append(row(title, tool, f"{mean('map'):.4f}", f"{mean('ndcg'):.4f}", seconds(mean("seconds"))))
        print(f"{title} done", file=sys.stderr)
    for path in options.work.glob("letor.*"):
        path.unlink()
    return [*lines, ""]
