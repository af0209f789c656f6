"""How well real comparisons with ties are predicted: rankwise beside boosted trees that see both sides, and what choosing took.

Every method is chosen by its log-loss on the validation pairs. `best of ours` is the family of rankwise with the least log-loss there;
its seconds are those of all families, because it was chosen among them.
"""

import json
import sys
import time

import numpy as np
import pandas as pd

import comparing_metrics as metrics
import comparing_tasks
from common import call, row, run_peer, seconds

TITLES = {
    "jpeg": "JPEG-AI: which of two pictures is more distorted", "football": "Football between nations", "chess": "Chess",
    "llmfao": "LLMFAO: answers of chatbots", "wmt15": "WMT15: translations into French", "sushi": "Sushi, all pairs",
    "sushi800": "Sushi, 800 training pairs, half of them ties",
}
PEERS = {
    "lightgbm": ("LightGBM", {"learning_rate": [0.05, 0.1], "num_leaves": [7, 31]}),
    "catboost": ("CatBoost", {"learning_rate": [0.1], "depth": [4, 6]}),
}
FORMS = ("differences", "both ways")
# Name, whether shared columns stand on the sides, options. Widths of kernels are multiples of 1/columns of a side.
FAMILIES = {
    "compare, logistic": (False, ["--loss", "logistic", "--scale", "standard"]),
    "compare, logistic, band by pair": (False, ["--loss", "logistic", "--tie-band", "pair", "--scale", "standard"]),
    "davidson, band by pair": (False, ["--method", "davidson", "--tie-band", "pair", "--scale", "standard"]),
    "davidson, RBF, band by pair": (True, ["--method", "davidson", "--kernel", "rbf", "--tie-band", "pair", "--scale", "standard"]),
    "davidson, RBF, band by pair, unscaled": (True, ["--method", "davidson", "--kernel", "rbf", "--tie-band", "pair"]),
}
LINEAR_C, RBF_C = "1e-3:1:4", "1e-2:10:4"
# γ: of scaled features over their number, of others as it is.
WIDTHS, UNSCALED_WIDTHS = (0.25, 1.0), (0.1, 0.5)
QUICK_C, QUICK_WIDTHS = "1e-2:1:2", 1
CAPTION = (
    "Test pairs; errors and AUC in %. ± is one standard error of the difference to the best of ours on the same pairs, from "
    f"{metrics.RESAMPLES} resamples of whole groups. *All s* is reading, tuning and the last fit; *fit s* the chosen setting alone. "
    "Trees learn three classes from both sides' columns and what they share, optionally with differences, optionally with every pair in "
    "both ways round, and stop early; learning rate, size and layout are chosen. Two threads for everything. AUC: wrong decisions among "
    "ties against right ones among non-ties, moving the threshold."
)


def ours(options, folder, family):
    """Tuned on the validation pairs: (figures, probabilities on the test pairs, predicted outcomes); None if that fails."""
    on_sides, settings = FAMILIES[family]
    part = lambda name: folder / f"{name}{'.sides' if on_sides else ''}.csv"
    model, predictions = options.work / "comparing.safetensors", options.work / "comparing.predictions.csv"
    is_kernel = "rbf" in settings
    grid = ["--grid", f"C={QUICK_C if options.quick else RBF_C if is_kernel else LINEAR_C}"]
    if is_kernel:
        columns = sum(name.startswith("left.") for name in part("train").open().readline().split(","))
        widths = [width / columns for width in WIDTHS] if "--scale" in settings else UNSCALED_WIDTHS
        widths = widths[-QUICK_WIDTHS:] if options.quick else widths
        grid += ["--grid", "gamma=" + ",".join(f"{width:.6g}" for width in widths)]
    method = [] if "--method" in settings else ["--method", "compare"]
    start = time.perf_counter()
    try:
        answer = call(options.program, "tune", "--pairs", part("train"), "--valid", part("valid"), *method, *settings, *grid, "--metric", "log_loss", "--threads", options.threads, "--time-limit", options.family_limit,
                      "-o", model)
    except SystemExit as failure:
        print(f"warning: {failure}", file=sys.stderr)
        return None
    wall = time.perf_counter() - start
    call(options.program, "predict", model, "--pairs", part("test"), "--format", "csv", "-o", predictions)
    table = pd.read_csv(predictions)
    signs = table["outcome"].map({"left": -1, "tie": 0, "right": 1}).to_numpy()
    chances = table[["p_left", "p_tie", "p_right"]].to_numpy()
    # Undefined points have no mean.
    measured = [point["mean"] for point in answer["points"] if point["mean"] is not None]
    name = f"rankwise, {family}"
    if answer["stopped_after"] is not None:
        name += f" ({answer['stopped_after']} of {len(answer['points'])} points in {options.family_limit:g} s)"
    figures = {"name": name, "valid_log_loss": min(measured), "all": wall, "fit": answer["seconds"]["train"],
               "setting": answer["best"]}
    return figures, chances, signs


def trees(options, folder, tool):
    """The same of another tool; with --cached what an earlier run has left."""
    title, grid = PEERS[tool]
    kept, probabilities = folder / f"{tool}.json", folder / f"{tool}.npy"
    if options.quick:
        grid = {name: values[-1:] for name, values in grid.items()}
    forms = FORMS[-1:] if options.quick else FORMS
    wanted = {"grid": grid, "forms": list(forms)}
    found = json.loads(kept.read_text()) if options.cached and kept.exists() and probabilities.exists() else {}
    is_cached = found.get("wanted") == wanted
    if not is_cached:
        files = {part: str(folder / f"{part}.csv") for part in comparing_tasks.PARTS}
        found = run_peer("comparing_peers.py", options.limit, options.threads,
                         {"tool": tool, **files, **wanted, "probabilities": str(probabilities)})
        if found is None:
            return None
        kept.write_text(json.dumps({**found, "wanted": wanted}))
    return {**found, "name": title, "is_cached": is_cached}, np.load(probabilities), None


def run_task(options, name):
    """(facts of the task, results of every method with figures and resampled metrics)."""
    folder = options.work / "comparing" / name
    start = time.perf_counter()
    task = comparing_tasks.make(name, options.data, options.work / "comparing", options.seed)
    outcomes, groups = task.outcomes[task.rows["test"]], task.groups[task.rows["test"]]
    print(f"{name}: files written in {time.perf_counter() - start:.1f} s", file=sys.stderr)
    weights = metrics.resampled(groups)
    results, failed = [], []

    def add(name_of_method, found, is_ours):
        if found is None:
            failed.append(name_of_method)
            return
        figures, probabilities, predicted = found
        judged = metrics.Judged(outcomes, probabilities, predicted)
        results.append({**figures, "is_ours": is_ours, "values": metrics.values(judged, weights)})
        print(f"{name}: {figures['name']} done in {figures['all']:.1f} s", file=sys.stderr)

    if "rankwise" in options.tools:
        for family in options.families:
            add(f"rankwise, {family}", ours(options, folder, family), True)
    for tool in PEERS:
        if tool in options.tools:
            add(PEERS[tool][0], trees(options, folder, tool), False)
    common = np.bincount(task.outcomes[task.rows["train"]] + 1, minlength=3).argmax() - 1
    facts = {"name": name, "failed": failed, "sizes": {part: len(task.rows[part]) for part in comparing_tasks.PARTS}, "ties": np.mean(outcomes == 0),
             "majority": np.mean(outcomes != common), "all_ours": sum(one["all"] for one in results if one["is_ours"])}
    return facts, results


def best_of_ours(results):
    return min((one for one in results if one["is_ours"]), key=lambda one: one["valid_log_loss"], default=None)


def cell(one, name, reference):
    """A metric, with the standard error of its difference to the reference."""
    value, scale, digits = one["values"][name], 1.0 if name == "log_loss" else 100.0, 3 if name == "log_loss" else 1
    text = f"{scale * value[0]:.{digits}f}"
    if reference is None or reference is one:
        return text
    error = metrics.standard_error(value, reference["values"][name])
    return f"{text} ± {scale * error:.{digits}f}"


def task_table(facts, results):
    sizes = facts["sizes"]
    reference = best_of_ours(results)
    lines = [f"### {TITLES[facts['name']]}", "",
             f"{sizes['train']:,} training, {sizes['valid']:,} validation and {sizes['test']:,} test pairs; {100 * facts['ties']:.0f} % of "
             f"the test pairs are ties; the outcome most frequent in training errs in {100 * facts['majority']:.1f} %.", "",
             row("method", "error %", "AUC %", "log-loss", "validation log-loss", "all s", "fit s"), "|---|--:|--:|--:|--:|--:|--:|"]
    for one in results:
        mark = "**" if one is reference else ""
        lines.append(row(f"{mark}{one['name']}{mark}", *(cell(one, name, reference) for name in metrics.METRICS),
                         f"{one['valid_log_loss']:.3f}", seconds(one["all"]), seconds(one["fit"])))
    if facts["failed"]:
        lines += ["", f"**No result**, failed or out of time, and its seconds are not counted: {'; '.join(facts['failed'])}."]
    return [*lines, ""]


def verdict(ours, other, name):
    """`level` within one standard error, else who is better."""
    sign = 1.0 if name == "auc" else -1.0
    gain = sign * (ours["values"][name][0] - other["values"][name][0])
    error = metrics.standard_error(ours["values"][name], other["values"][name])
    return "level" if abs(gain) <= error else "better" if gain > 0 else "worse"


def summary(tasks):
    """A row a task: error · AUC · log-loss of the best of ours and of trees, and who wins."""
    lines = [row("task", "best of ours", *(title for title, _ in PEERS.values()), "ours beside LightGBM", "all s: ours, LightGBM, CatBoost"),
             "|---|--:|--:|--:|---|--:|"]
    for facts, results in tasks:
        reference = best_of_ours(results)
        named = {one["name"]: one for one in results}
        others = [named.get(title) for title, _ in PEERS.values()]
        short = lambda one: "–" if one is None else " · ".join(cell(one, name, None) for name in metrics.METRICS)
        light = others[0]
        judged = "–"
        if reference and light:
            words = [verdict(reference, light, name) for name in metrics.METRICS]
            judged = words[0] if len(set(words)) == 1 else ", ".join(
                f"{word} in {label}" for word, label in zip(words, ("error", "AUC", "log-loss")))
        times = [facts["all_ours"] if reference else None, *(one and one["all"] for one in others)]
        lines.append(row(facts["name"], short(reference), *map(short, others), judged,
                         ", ".join("–" if one is None else seconds(one) for one in times)))
    return lines


def quality(options):
    """(Markdown lines, versions of the other tools)."""
    tasks = [run_task(options, name) for name in options.tasks]
    versions = sorted({one["version"] for _, results in tasks for one in results if "version" in one})
    lines = ["## Real comparisons with ties", "", CAPTION, "", *summary(tasks), "",
             "Error % · AUC % · log-loss. *Level*: within one standard error of the difference. Seconds of ours are those of all families "
             "tried, because the best is chosen among them.", ""]
    if any(one.get("is_cached") for _, results in tasks for one in results):
        lines += ["**Some seconds of the other tools are those of an earlier run** (`--cached`), perhaps on a busier machine: read them with care.", ""]
    for facts, results in tasks:
        lines += task_table(facts, results)
    return lines, versions
