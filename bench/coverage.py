"""How often the intervals of a leaderboard hold the truth: made leaderboards, `rankwise rate` on each, and a count.

    python bench/coverage.py [--leaderboards 500] [--quick] [--reference-only]

Games are dealt out by Davidson's model with known strengths, the same in every leaderboard of a setting. With judges, each of them
likes each item a little more or less than the others do, so that the games of one judge go together; then no Davidson model
is true, and the truth is the one nearest to the average over all judges there could be, which is what more and more
judges would lead to. A sandwich computed here in numpy stands beside rankwise's as a check of the making.

Ends with exit status 1 if the coverage of the first setting is more than two points from 95 %.
"""

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import ratings_data as made
from common import ROOT, check_program, processor, row, version_of

LEVEL, QUANTILE, ALLOWED = 0.95, 1.959963984540054, 0.02
LIMIT = 60
TIES = 0.3
SETTINGS = {
    "2,000 games": dict(n_games=2000),
    "200 games": dict(n_games=200),
    "2,000 games, uneven appearances": dict(n_games=2000, zipf=1.0),
    "2,000 games of 50 judges, `group` given": dict(n_games=2000, judges=50, taste=0.7, is_told=True),
    "2,000 games of 50 judges, not told": dict(n_games=2000, judges=50, taste=0.7, is_told=False),
}
MAIN = next(iter(SETTINGS))
N_ITEMS = 20
METHODS = ("sandwich", "bootstrap")


class Setting:
    """Strengths, who meets whom how often, and the truth that intervals should hold."""

    def __init__(self, seed, n_games, zipf=0.0, judges=None, taste=0.0, is_told=False):
        random = np.random.default_rng(seed)
        self.r = random.normal(size=N_ITEMS)
        self.r -= self.r.mean()
        self.n_games, self.judges, self.taste, self.is_told = n_games, judges, taste, is_told
        popular = np.arange(1.0, N_ITEMS + 1) ** -zipf
        meet = np.triu(np.outer(popular, popular), 1)
        self.first, self.second = np.nonzero(meet)
        self.share = meet[self.first, self.second] / meet.sum()
        d = self.r[self.first] - self.r[self.second]
        weights = np.round(self.share / self.share.min()).astype(int)
        self.nu = made.nu_for(np.repeat(d, weights), TIES)
        self.truth = self.r if judges is None else self.nearest(d)

    def nearest(self, d):
        """Davidson's model nearest to the average over judges, whose leads are normal around d with variance 2 taste²."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        average = sum(weight * made.chances(d + np.sqrt(2) * self.taste * node, self.nu) for node, weight in zip(nodes, weights / weights.sum()))
        met = self.first, self.second, 1e4 * self.share[:, None] * average
        return made.optimum(met, N_ITEMS, True)[0]

    def draw(self, seed):
        """Games of one leaderboard, and the judge of each."""
        random = np.random.default_rng(seed)
        pair = random.choice(len(self.share), self.n_games, p=self.share)
        is_turned = random.uniform(size=self.n_games) < 0.5
        left = np.where(is_turned, self.second[pair], self.first[pair])
        right = np.where(is_turned, self.first[pair], self.second[pair])
        d = self.r[left] - self.r[right]
        judge = None
        if self.judges:
            likes = self.taste * random.normal(size=(self.judges, N_ITEMS))
            judge = random.integers(0, self.judges, self.n_games)
            d = d + likes[judge, left] - likes[judge, right]
        cumulated = np.cumsum(made.chances(d, self.nu), axis=1)
        outcome = (random.uniform(size=self.n_games)[:, None] > cumulated[:, :2]).sum(axis=1) - 1
        return {"left": left, "right": right, "outcome": outcome, "r": self.r}, judge


def write(path, games, judge):
    names = ["left", "right", "outcome"] + (["group"] if judge is not None else [])
    columns = [[f"i{k}" for k in games["left"]], [f"i{k}" for k in games["right"]], made.WORDS[games["outcome"] + 1]]
    columns += [[f"judge{k}" for k in judge]] if judge is not None else []
    path.write_text("\n".join(",".join(cells) for cells in [names, *zip(*columns)]) + "\n")


def reference(games, judge):
    """Ends of the intervals by a sandwich over games or judges, in natural units; no factor for small samples."""
    if not made.is_finite(games):
        return None
    met = made.cells(games)
    r, ln_nu, _ = made.optimum(met, N_ITEMS, True)
    m = len(games["left"])
    p = made.chances(r[games["left"]] - r[games["right"]], np.exp(ln_nu))
    by_d = -games["outcome"] / 2 - (p[:, 0] - p[:, 2]) / 2
    scores = np.zeros((m, N_ITEMS + 1))
    scores[np.arange(m), games["left"]] = by_d
    scores[np.arange(m), games["right"]] = -by_d
    scores[:, -1] = (games["outcome"] == 0) - p[:, 1]
    curve = np.stack([(1 - p[:, 1] - (p[:, 0] - p[:, 2]) ** 2) / 4, -(p[:, 0] - p[:, 2]) * p[:, 1] / 2, p[:, 1] * (1 - p[:, 1])])
    rows = np.zeros((m, N_ITEMS))
    rows[np.arange(m), games["left"]], rows[np.arange(m), games["right"]] = 1, -1
    A = np.zeros((N_ITEMS + 1,) * 2)
    A[:-1, :-1] = rows.T @ (curve[0][:, None] * rows)
    A[:-1, -1] = A[-1, :-1] = rows.T @ curve[1]
    A[-1, -1] = curve[2].sum()
    if judge is not None:
        scores = np.stack([scores[judge == one].sum(axis=0) for one in np.unique(judge)])
    inverse = np.linalg.pinv(A)
    error = np.sqrt(np.diag(inverse @ scores.T @ scores @ inverse))[:-1]
    return r - QUANTILE * error, r + QUANTILE * error


def rated(options, path, method):
    """Ends of the intervals by rankwise in natural units; None where it has no answer for some item."""
    settings = ["--resamples", str(options.resamples)] if method == "bootstrap" else []
    command = [options.program, "rate", "--pairs", str(path), "--system", "davidson", "--ci", str(LEVEL), "--ci-method", method, *settings,
               "--threads", "1", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        print(f"warning: {path}: more than {LIMIT} s", file=sys.stderr)
        return None
    if done.returncode == 2:
        raise RuntimeError(f"{' '.join(command)}\nexit 2: {done.stderr.strip()}")
    if done.returncode != 0:
        print(f"warning: {path}: exit {done.returncode}: {done.stderr.strip()[:200]}", file=sys.stderr)
        return None
    ends = np.full((2, N_ITEMS), np.nan)
    for line in json.loads(done.stdout)["leaderboard"]:
        low, high = line["low"], line["high"]
        ends[:, int(line["item"][1:])] = (np.nan if low is None else low, np.nan if high is None else high)
    return ends / made.ELO if np.isfinite(ends).all() else None


def leaderboard(options, setting, name, number):
    """For each way to intervals, their ends on one leaderboard."""
    games, judge = setting.draw([list(SETTINGS).index(name), number])
    known = judge if setting.is_told else None
    found = {"in numpy": reference(games, known)}
    if not options.reference_only:
        path = options.work / f"coverage_{os.getpid()}_{number}.csv"
        write(path, games, known)
        try:
            found = {**{method: rated(options, path, method) for method in METHODS}, **found}
        finally:
            path.unlink()
    return found


def counted(found, truth):
    """A row's numbers: coverage and its standard error over leaderboards, worst item, too low and too high, median width."""
    answers = np.array([ends for ends in found if ends is not None])
    if not len(answers):
        return None
    low, high = answers[:, 0], answers[:, 1]
    holds = (low <= truth) & (truth <= high)
    of_boards = holds.mean(axis=1)
    return {"coverage": holds.mean(), "error": of_boards.std(ddof=1) / np.sqrt(len(of_boards)) if len(of_boards) > 1 else np.nan,
            "worst": holds.mean(axis=0).min(), "below": (high < truth).mean(), "above": (low > truth).mean(),
            "width": made.ELO * np.median(high - low), "unanswered": len(found) - len(answers)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/release/rankwise"), help="default: target/release/rankwise")
    parser.add_argument("--leaderboards", type=int, default=500)
    parser.add_argument("--resamples", type=int, default=1000, help="of each bootstrap")
    parser.add_argument("--quick", action="store_true", help="50 leaderboards, 200 resamples")
    parser.add_argument("--reference-only", action="store_true", help="the sandwich in numpy alone, without the program")
    parser.add_argument("--threads", type=int, default=2, help="leaderboards at a time")
    parser.add_argument("--work", type=Path, default=ROOT / "bench/.data", help="folder for the files made")
    parser.add_argument("--out", type=Path, help="default: bench/results/coverage.md; of a part of the run, WORK/coverage.md")
    options = parser.parse_args()
    if options.quick:
        options.leaderboards, options.resamples = 50, 200
    if not options.reference_only:
        check_program(options.program)
    is_partial = options.quick or options.reference_only or options.leaderboards < 500
    options.out = options.out or (options.work / "coverage.md" if is_partial else ROOT / "bench/results/coverage.md")
    options.work.mkdir(parents=True, exist_ok=True)

    program = "" if options.reference_only else f"{version_of(options.program)}, "
    lines = ["# How often intervals hold the truth", "",
             f"{program}{processor()}. {options.leaderboards} leaderboards of {N_ITEMS} items a setting, strengths normal with a standard deviation of "
             f"1 ({made.ELO:.0f} Elo points), {TIES:.0%} ties; `rankwise rate --system davidson --ci {LEVEL:g}`, the bootstrap with "
             f"{options.resamples:,} resamples. Wanted: {LEVEL:.0%}. ±: one standard error over leaderboards. Below, above: the interval ends "
             "below the truth, begins above it. Worst item: the least covered of the items; its standard error is "
             f"{100 * np.sqrt(LEVEL * (1 - LEVEL) / options.leaderboards):.1f} points. Judges: each likes each item by 0.7 (standard deviation) more or less "
             "than the others do.", "",
             row("setting", "intervals", "coverage %", "worst item %", "below %", "above %", "median width, Elo", "no answer"),
             "|---|---|--:|--:|--:|--:|--:|--:|"]
    problems = []
    for name, known in SETTINGS.items():
        setting = Setting(1, **known)
        one = lambda number: leaderboard(options, setting, name, number)
        try:
            boards = [one(0)]  # alone: if the program does not understand what is asked, it says so at once
        except RuntimeError as problem:
            sys.exit(str(problem))
        with ThreadPoolExecutor(options.threads) as pool:
            boards += pool.map(one, range(1, options.leaderboards))
        for method in boards[0]:
            found = counted([board[method] for board in boards], setting.truth)
            if found is None:
                lines.append(row(name, method, "–", "–", "–", "–", "–", len(boards)))
            else:
                percent = lambda key: f"{100 * found[key]:.1f}"
                lines.append(row(name, method, f"{percent('coverage')} ± {percent('error')}", percent("worst"), percent("below"), percent("above"),
                                 f"{found['width']:.0f}", found["unanswered"]))
            # Fewer leaderboards than usual miss by chance.
            if name == MAIN and (found is None or found["unanswered"]
                                 or abs(found["coverage"] - LEVEL) > ALLOWED + (3 * found["error"] if is_partial else 0)):
                problems.append(f"{name}, {method}: {'no answers' if found is None else lines[-1]}")
        print(f"{name} done", file=sys.stderr)
    text = "\n".join(lines) + "\n"
    options.out.write_text(text)
    print(text)
    print(f"written to {options.out}", file=sys.stderr)
    if problems:
        sys.exit("coverage is not within two points of 95 %: " + "; ".join(problems))


if __name__ == "__main__":
    main()
