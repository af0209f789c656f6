"""Ratings and leaderboards from games: rankwise beside evalica, choix, arena-rank, elote, openskill and trueskill.

    python bench/ratings.py [--quick] [--only million,items,battles] [--tools rankwise,choix,...] [--limit SECONDS]

Games are made by ratings_data.py; other tools run in ratings_peers.py, one process a run, on the same games.
"""

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

import ratings_data as made
from common import ROOT, check_program, on_cores, processor, row, seconds, version_of

SHORT, REPEATS = 5.0, 3
CONVERGED = 0.1  # Elo points
BOOTSTRAP_SECONDS = 5.0
RESAMPLES = 1000
SIZES = {
    "million": dict(seed=1, n_items=1000, n_games=1_000_000, ties=0.25),
    "items": dict(seed=2, n_items=10_000, n_games=1_000_000, ties=0.2, zipf=0.8),
    "battles": dict(seed=3, n_items=100, n_games=100_000, ties=0.3),
}
QUICK = {
    "million": dict(seed=1, n_items=100, n_games=20_000, ties=0.25),
    "items": dict(seed=2, n_items=500, n_games=50_000, ties=0.2, zipf=0.8),
    "battles": dict(seed=3, n_items=30, n_games=10_000, ties=0.3),
}
ONE_BY_ONE = {
    "Elo": ["evalica.elo", "evalica.elo, compiled part alone", "elote Elo"],
    "Glicko": ["elote Glicko"],
    "Glicko-2": ["elote Glicko-2"],
    "TrueSkill": ["trueskill", "elote TrueSkill"],
    "Weng and Lin's": ["openskill PlackettLuce", "openskill BradleyTerryFull"],
}
OURS = {"Elo": "elo", "Glicko": "glicko", "Glicko-2": "glicko2", "TrueSkill": "trueskill"}
TOOLS = ["rankwise", "evalica", "choix", "arena-rank", "elote", "openskill", "trueskill"]


class Bench:
    """What a run knows: options, the files of games, who took part and what went wrong."""

    def __init__(self, options):
        self.options = options
        self.versions = set()
        self.problems = []

    def takes_part(self, tool):
        return any(tool.startswith(name) for name in self.options.tools)

    def games(self, name):
        """The games of a part, and the files for rankwise and for the others."""
        size = (QUICK if self.options.quick else SIZES)[name]
        games = made.draw(**size)
        if not made.is_finite(games):
            sys.exit(f"{name}: someone won or lost every game: no finite strengths; choose another seed")
        stem = self.options.work / f"ratings_{name}{'_quick' if self.options.quick else ''}"
        np.savez(f"{stem}.npz", **games)
        made.write(f"{stem}.csv", games)
        return size, games, stem

    def peer(self, tool, stem, **task):
        """What one run of another tool reports and its answer; or why there is none, in a word or two."""
        task = {"tool": tool, "games": f"{stem}.npz", "budget": self.options.limit, "answer": str(self.options.work / "ratings_answer.npy"),
                "threads": self.options.threads, **task}
        limits = {name: str(self.options.threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        command = [sys.executable, str(ROOT / "bench/ratings_peers.py"), json.dumps(task)]
        # A session of its own: whoever takes too long is ended with all processes that it started. The longer limit is for those who
        # stop by themselves, and for what comes before rating.
        child = subprocess.Popen(command, env={**os.environ, **limits}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 start_new_session=True, preexec_fn=on_cores(self.options.threads))
        try:
            out, err = child.communicate(timeout=self.options.limit + 60)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return {"failed": f"> {self.options.limit:.0f} s"}
        if child.returncode != 0:
            said = (err.strip().splitlines() or ["nothing said"])[-1]
            print(f"warning: {tool}: exit {child.returncode}: {said}", file=sys.stderr)
            return {"failed": f"failed (exit {child.returncode}: {said[:120]})"}
        report = json.loads(out.splitlines()[-1])
        self.versions.add(report.pop("version"))
        report["answer"] = np.load(task["answer"])
        return report

    def ours(self, *arguments, limit=None):
        """What `rankwise rate` reports, or why it does not."""
        command = [self.options.program, "rate", *map(str, arguments), "--threads", str(self.options.threads), "--json"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit or self.options.limit,
                                  preexec_fn=on_cores(self.options.threads))
        except subprocess.TimeoutExpired:
            return {"failed": f"> {limit or self.options.limit:.0f} s"}
        if done.returncode == 2 and "rate" in done.stderr and "subcommand" in done.stderr:
            return {"failed": "this program has no command `rate`"}
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["nothing said"])[0]
            return {"failed": f"failed (exit {done.returncode}: {said[:120]})"}
        found = json.loads(done.stdout)
        return {"seconds": float(found["seconds"]["rate"]), "intervals": float(found["seconds"].get("intervals") or 0.0),
                "prepare": float(found["seconds"]["load"]), "found": found}

    def steady(self, run):
        """Medians of the seconds over a few runs after the first, or the first alone if it takes long."""
        first = run()
        if "failed" in first or first["seconds"] + first["prepare"] > SHORT or self.options.quick:
            return first
        runs = [one for one in (run() for _ in range(REPEATS)) if "failed" not in one]
        return {key: statistics.median(one[key] for one in runs) if isinstance(value, float) and runs else value
                for key, value in first.items()}


def by_item(found, n, key):
    """A column of the leaderboard in the order of item numbers."""
    column = np.full(n, np.nan)
    for line in found["leaderboard"]:
        column[int(line["item"][1:])] = line[key]
    return column


def million(bench):
    """One game after the other."""
    size, games, stem = bench.games("million")
    lines = [f"## One game after the other: {size['n_games']:,} games of {size['n_items']:,} players, {size['ties']:.0%} ties", "",
             "Seconds for all games, without reading files. Order: Spearman's correlation of the ratings with the true strengths; "
             "systems and their settings differ, so it only shows that everybody did the job.", "",
             row("system", "tool", "seconds", "games a second", "order", "note"), "|---|---|--:|--:|--:|---|"]

    def told(system, tool, found, answer):
        if "failed" in found:
            lines.append(row(system, tool, "–", "–", "–", found["failed"]))
            return
        done = found.get("games", size["n_games"])
        share = size["n_games"] / done
        note = "" if share == 1 else f"{done:,} games in {seconds(found['seconds'])} s; × {share:.1f}"
        order = f"{spearmanr(answer, games['r'])[0]:.4f}"
        lines.append(row(system, tool, seconds(found["seconds"] * share), f"{done / found['seconds']:,.0f}", order, note))

    for system, tools in ONE_BY_ONE.items():
        if bench.takes_part("rankwise") and system in OURS:
            found = bench.steady(lambda: bench.ours("--pairs", f"{stem}.csv", "--system", OURS[system]))
            told(system, "rankwise", found, None if "failed" in found else by_item(found["found"], size["n_items"], "rating"))
        for tool in filter(bench.takes_part, tools):
            found = bench.steady(lambda: bench.peer(tool, stem, ties=size["ties"]))
            told(system, tool, found, found.get("answer"))
            print(f"million: {tool} done", file=sys.stderr)
    return [*lines, ""]


def items(bench):
    """Maximum likelihood: everybody's answer is put into the likelihood of its own model, beside the optimum of that model."""
    size, games, stem = bench.games("items")
    met = made.cells(games)
    n = size["n_items"]
    best = {True: made.optimum(met, n, True), False: made.optimum(met, n, False)}
    made.write_halves(f"{stem}_halves.csv", games)
    fewest = np.bincount(np.concatenate([games["left"], games["right"]]), minlength=n).min()
    lines = [f"## Maximum likelihood: {size['n_games']:,} games of {n:,} items, {size['ties']:.0%} ties", "",
             f"Item k appears in proportion to k^−{size['zipf']:g}; the rarest has {fewest} games. Two models: Davidson's, which has a parameter for "
             "ties; and Bradley and Terry's with a tie as half a win for either side (rankwise and choix get it as weights or counts of ½). "
             "Excess: negative log-likelihood of the tool's answer in that model less the least possible one. Error: the largest difference "
             f"from the optimum in Elo points; above {CONVERGED:g} it is called not converged. Prepare: what the tool does with arrays (rankwise: "
             "the file) before it rates.", "",
             row("model", "tool", "prepare s", "seconds", "excess", "error", "note"), "|---|---|--:|--:|--:|--:|---|"]

    def told(with_ties, tool, found, r, nu, note="", is_ours=False):
        model = "Davidson" if with_ties else "ties as halves"
        if "failed" in found:
            lines.append(row(model, tool, "–", "–", "–", "–", found["failed"]))
            return
        excess = error = np.inf
        if np.isfinite(r).all():
            best_r, _, least = best[with_ties]
            r = r - r.mean()
            excess = made.likelihood(met, r, np.log(nu) if with_ties else None)[0] - least
            error = made.ELO * np.abs(r - best_r).max()
        if "iterations" in found:
            note = f"{found['iterations']} iterations; {note}".rstrip("; ")
        if not error <= CONVERGED:
            note = f"**not converged**; {note}".rstrip("; ")
            if is_ours:
                bench.problems.append(f"items: {tool}, {model}: largest error {error:.3g} Elo points")
        lines.append(row(model, tool, seconds(found["prepare"]), seconds(found["seconds"]), f"{excess:.1e}", f"{error:.1e}", note))

    for with_ties in (True, False):
        if bench.takes_part("rankwise"):
            file = f"{stem}.csv" if with_ties else f"{stem}_halves.csv"
            found = bench.steady(lambda: bench.ours("--pairs", file, "--system", "davidson"))
            r, nu = None, None
            if "failed" not in found:
                r, nu = by_item(found["found"], n, "rating") / made.ELO, found["found"]["tie_parameter"]
            told(with_ties, "rankwise", found, r, nu, is_ours=True)
        if with_ties:
            peers = [("evalica newman", "evalica", {"method": "newman", "settings": {}}, "as it comes"),
                     ("evalica newman", "evalica", {"method": "newman", "settings": {"tolerance": 1e-3}}, "tolerance 1e-3")]
        else:
            peers = [("evalica bradley_terry", "evalica", {"method": "bradley_terry", "settings": {}}, "as it comes"),
                     ("evalica bradley_terry", "evalica", {"method": "bradley_terry", "settings": {"tolerance": 1e-3}}, "tolerance 1e-3"),
                     ("arena-rank", "arena-rank", {"settings": {}}, "as it comes"),
                     ("arena-rank", "arena-rank", {"settings": {"ftol": 0.0, "max_iter": 10_000}}, "ftol 0, max_iter 10000"),
                     ("choix ilsr_pairwise_dense", "choix ilsr", {}, "as it comes"),
                     ("choix opt_pairwise, BFGS", "choix opt", {"method": "BFGS"}, ""),
                     ("choix opt_pairwise, Newton-CG", "choix opt", {"method": "Newton-CG"}, "")]
        for name, tool, task, note in peers:
            if bench.takes_part(tool):
                found = bench.steady(lambda: bench.peer(tool, stem, **task))
                told(with_ties, name, found, found.get("answer"), found.get("nu"), note)
                print(f"items: {name} done", file=sys.stderr)
    return [*lines, ""]


def battles(bench):
    """Intervals: seconds for the leaderboard with intervals, and their widths beside those of a sandwich computed in numpy."""
    size, games, stem = bench.games("battles")
    met = made.cells(games)
    n = size["n_items"]
    widths = {}
    for with_ties in (True, False):
        r, ln_nu, _ = made.optimum(met, n, with_ties)
        widths[with_ties] = 2 * 1.959963984540054 * made.sandwich(met, r, ln_nu)
    lines = [f"## Intervals: {size['n_games']:,} battles of {n} items, {size['ties']:.0%} ties, 95 %", "",
             "Seconds for fit and intervals. Width: median of the tool's intervals over those of the sandwich of the same model in numpy, and the "
             "range of that ratio. rankwise's model is Davidson's, that of the others Bradley and Terry's with ties as halves.", "",
             row("tool", "intervals", "prepare s", "seconds", "width", "from – to", "note"), "|---|---|--:|--:|--:|---|---|"]

    def told(tool, kind, found, answer, with_ties, took, note=""):
        if "failed" in found:
            lines.append(row(tool, kind, "–", "–", "–", "–", found["failed"]))
            return
        ratio = answer / widths[with_ties]
        lines.append(row(tool, kind, seconds(found["prepare"]), seconds(took), f"{np.median(ratio):.3f}",
                         f"{ratio.min():.3f} – {ratio.max():.3f}", note))

    resamples = 100 if bench.options.quick else RESAMPLES
    if bench.takes_part("rankwise"):
        for kind in ("sandwich", "bootstrap"):
            settings = ["--resamples", resamples] if kind == "bootstrap" else []
            found = bench.steady(lambda: bench.ours("--pairs", f"{stem}.csv", "--system", "davidson", "--ci", 0.95, "--ci-method", kind, *settings))
            answer, took, note = None, None, ""
            if "failed" not in found:
                answer = (by_item(found["found"], n, "high") - by_item(found["found"], n, "low")) / made.ELO
                took = found["seconds"] + found["intervals"]
                if kind == "bootstrap" and not bench.options.quick and took > BOOTSTRAP_SECONDS:
                    note = f"**wanted at most {BOOTSTRAP_SECONDS:g} s**"
                    bench.problems.append(f"battles: the bootstrap took {took:.2f} s")
            told("rankwise", f"{kind}, {resamples:,} resamples" if settings else kind, found, answer, True, took, note)
    peers = [("arena-rank", "arena-rank intervals", {"method": "sandwich", "resamples": 0}),
             ("arena-rank", "arena-rank intervals", {"method": "bootstrap", "resamples": max(resamples // 10, 20)}),
             ("evalica.bootstrap of bradley_terry", "evalica.bootstrap", {"resamples": resamples, "settings": {}}),
             ("evalica bradley_terry in a loop", "evalica loop", {"resamples": resamples, "settings": {}}),
             ("choix ilsr_pairwise_dense in a loop", "choix loop", {"resamples": resamples})]
    for name, tool, task in peers:
        if not bench.takes_part(tool):
            continue
        found = bench.steady(lambda: bench.peer(tool, stem, **task))
        done = found.get("resamples", task["resamples"])
        is_sandwich = task.get("method") == "sandwich"
        kind, note, took = "sandwich", "", found.get("seconds")
        if not is_sandwich:
            kind = f"percentile bootstrap, {resamples:,} resamples"
            if "failed" not in found and done != resamples:
                note = f"{done:,} resamples in {seconds(took)} s; × {resamples / done:g}"
                took = took * resamples / done
        told(name, kind, found, found.get("answer"), False, took, note)
        print(f"battles: {name}, {kind} done", file=sys.stderr)
    return [*lines, "",
            "evalica's own default is the BCa bootstrap, which fits anew with every single game left out; percentiles are asked for instead. Loops "
            "draw counts of every (left, right, outcome), so that a fit sees at most 3 n² rows. arena-rank's bootstrap is started with "
            "`spawn`: with `fork`, Python's default on Linux until 3.13, its processes hang.", ""]


PARTS = {"million": million, "items": items, "battles": battles}


def main():
    names = lambda text: [name for name in text.split(",") if name]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/release/rankwise"), help="default: target/release/rankwise")
    parser.add_argument("--only", type=names, default=list(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--tools", type=names, default=TOOLS, help=f"some of {','.join(TOOLS)}")
    parser.add_argument("--quick", action="store_true", help="few games, one run of each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300.0, help="the longest time of one run of another tool, in seconds")
    parser.add_argument("--work", type=Path, default=ROOT / "bench/.data", help="folder for the files made")
    parser.add_argument("--out", type=Path, help="default: bench/results/ratings.md; of a part of the run, WORK/ratings.md")
    options = parser.parse_args()
    for what, asked, known in (("part", options.only, PARTS), ("tool", options.tools, TOOLS)):
        if unknown := [name for name in asked if name not in known]:
            parser.error(f"unknown {what} {unknown[0]}; there are: {', '.join(known)}")
    if "rankwise" in options.tools:
        check_program(options.program)
    is_partial = options.quick or len(options.only) < len(PARTS) or len(options.tools) < len(TOOLS)
    options.out = options.out or (options.work / "ratings.md" if is_partial else ROOT / "bench/results/ratings.md")
    options.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    parts = [line for name in PARTS if name in options.only for line in PARTS[name](bench)]
    program = [version_of(options.program)] if "rankwise" in options.tools else []
    lines = ["# Ratings and leaderboards", "",
             f"{processor()}, {os.cpu_count()} cores, {options.threads} threads for everybody (most of the others use one). "
             f"{'; '.join([*program, *sorted(bench.versions)])}; numpy {np.__version__}, Python {platform.python_version()}. What takes less than "
             f"{SHORT:g} s is run {REPEATS + 1} times and the medians of the last {REPEATS} count. Limit: {options.limit:g} s.", ""]
    markdown = "\n".join([*lines, *parts])
    options.out.write_text(markdown)
    print(markdown)
    print(f"written to {options.out}", file=sys.stderr)
    if bench.problems:
        sys.exit("; ".join(bench.problems))


if __name__ == "__main__":
    main()
