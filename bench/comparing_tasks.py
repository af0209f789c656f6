"""Seven real sets of comparisons with ties, made from the files their authors publish; none of them is ours to give away.

    python bench/comparing_tasks.py DATA OUT [--only NAMES] [--seed N]

| name | pair | features of a side | shared by both sides | divided by | group |
|---|---|---|---|---|---|
| jpeg | two distorted pictures, which one is worse | codec, level, both | picture | worker | worker |
| football | two national teams, left is listed first | strength and form before the match | kind of match, year | year | month |
| chess | two players, left has white | strength and habits before the month | – | month | white |
| llmfao | two chatbots on a prompt | which bot | prompt | comparison | comparison |
| wmt15 | two translations | which system | judge | sentence | sentence |
| sushi | two kinds of sushi | 7 properties | 7 of the person | person | person |
| sushi800 | the same: 800 pairs to train on, half of them ties | | | | |

Writes OUT/NAME/{train,valid,test}.csv with columns left.x*, right.x*, pair.c*, outcome (-1, 0, 1) and group; and the same as
*.sides.csv, where what both sides share stands on each of them instead of in pair.c*, so that a kernel can join it with an item.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from comparing_places import COORDINATES, ELSEWHERE
from comparing_sports import before_each_match, before_each_month

PARTS = ("train", "valid", "test")
MOST = {"train": 20_000, "valid": 8_000, "test": 20_000}
SHARES = (0.5, 0.25)


@dataclass
class Task:
    left: np.ndarray
    right: np.ndarray
    shared: np.ndarray
    outcomes: np.ndarray
    groups: np.ndarray
    rows: dict

    def columns(self, part, shared_on_sides=False):
        """The table of one part, column by column."""
        rows = self.rows[part]
        left, right, shared = (values[rows] for values in (self.left, self.right, self.shared))
        table = {}
        for side, values in (("left", left), ("right", right)):
            table |= {f"{side}.x{k}": column for k, column in enumerate(values.T)}
            if shared_on_sides:
                table |= {f"{side}.c{k}": column for k, column in enumerate(shared.T)}
        if not shared_on_sides:
            table |= {f"pair.c{k}": column for k, column in enumerate(shared.T)}
        return table | {"outcome": self.outcomes[rows], "group": self.groups[rows]}


def finish(seed, left, right, shared, outcomes, groups, parts):
    """Parts that are too large are thinned at random."""
    rows = {}
    for name, part in zip(PARTS, parts):
        if len(part) > MOST[name]:
            part = np.sort(np.random.default_rng(seed + 99).choice(part, MOST[name], replace=False))
        rows[name] = part
    as_floats = lambda values: np.asarray(values, dtype=float)
    return Task(as_floats(left), as_floats(right), as_floats(shared), np.asarray(outcomes, dtype=int), np.asarray(groups), rows)


def indicators(values, known=None):
    """A column for each known value, by default all there are in ascending order; other values get zeros."""
    known = pd.Index(sorted(pd.unique(pd.Series(values))) if known is None else known)
    return (known.get_indexer(values)[:, None] == np.arange(len(known))).astype(float)


def by_group(groups, seed):
    """Half of the groups to train on, a quarter to choose on, the rest to test on."""
    numbers, distinct = pd.factorize(pd.Series(groups))
    shuffled = np.random.default_rng(seed).permutation(len(distinct))
    place = np.empty_like(shuffled)
    place[shuffled] = np.arange(len(shuffled))
    cuts = [int(len(distinct) * share) for share in np.cumsum(SHARES)]
    part = np.searchsorted(cuts, place, side="right")[numbers]
    return [np.flatnonzero(part == k) for k in range(3)]


def jpeg(data, seed):
    table = pd.read_csv(data / "jpeg_ai_sdr25/JPEG_AIC_SDR_BTC_JPEG_AI_responses_2025.02.28_v1.csv.xz")
    table = table[(table["is_trap"] == 0) & (table["response"] != "skip")].reset_index(drop=True)
    seen = {side: list(zip(table[f"codec_{side}"], table[f"dlevel_{side}"])) for side in ("left", "right")}
    distortions = pd.MultiIndex.from_tuples(sorted({*seen["left"], *seen["right"]}))
    picture = indicators(table["img_num"])

    def side(name):
        codec = indicators(table[f"codec_{name}"], range(7))
        level = table[f"dlevel_{name}"].to_numpy()[:, None] / 10.0
        distortion = indicators(pd.MultiIndex.from_tuples(seen[name]), distortions)
        return np.hstack([codec, level, codec[:, 1:] * level, distortion, picture * level])

    outcomes = table["response"].map({"left": -1, "notsure": 0, "right": 1})
    workers = table["worker"].to_numpy()
    return finish(seed, side("left"), side("right"), picture, outcomes, workers, by_group(workers, seed))


def football(data, seed):
    """Matches from 1990 to 2013, to 2017, and since; what is known of a team comes from all its matches before."""
    table = pd.read_csv(data / "football_international/results.csv.xz", parse_dates=["date"])
    table = table.dropna(subset=["home_score"]).sort_values("date", kind="stable").reset_index(drop=True)
    at_home = (~table["neutral"].astype(bool)).to_numpy(dtype=float)
    goals = table[["home_score", "away_score"]].to_numpy(dtype=float)
    left, right = before_each_match(table["home_team"], table["away_team"], goals, at_home, table["date"])
    left, right = np.column_stack([left, at_home]), np.column_stack([right, np.zeros(len(table))])
    is_friendly = table["tournament"] == "Friendly"
    is_qualifier = table["tournament"].str.contains("qualif", case=False)
    year = table["date"].dt.year.to_numpy()
    shared = np.column_stack([is_friendly, is_qualifier, (year - 2000) / 20.0, at_home])
    periods = np.searchsorted([1990, 2014, 2018], year, side="right")
    parts = [np.flatnonzero(periods == k) for k in (1, 2, 3)]
    outcomes = np.sign(goals[:, 1] - goals[:, 0])
    return finish(seed, left, right, shared, outcomes, table["date"].dt.strftime("%Y%m"), parts)


def chess(data, seed):
    """Train and choose on one month, test on the next; what is known of a player comes from earlier months."""
    games = pd.read_csv(data / "chess_fide_test/primary_test_solution.csv.xz")
    games = games[games["WhiteScore"] >= 0].reset_index(drop=True)
    known = pd.read_csv(data / "chess_fide_test/initial_ratings.csv").set_index("Player")
    white, black = before_each_month(games, known)
    month = games["MonthID"].to_numpy()
    shuffled = np.random.default_rng(seed).permutation(np.flatnonzero(month == 134))
    cut = int(0.7 * len(shuffled))
    parts = [shuffled[:cut], shuffled[cut:], np.flatnonzero(month == 135)]
    outcomes = np.sign(0.5 - games["WhiteScore"])
    return finish(seed, white, black, np.zeros((len(games), 0)), outcomes, games["WhitePlayer"], parts)


def llmfao(data, seed):
    table = pd.read_csv(data / "llmfao/crowd-comparisons.csv")
    bots = sorted({*table["left"], *table["right"]})
    outcomes = table["winner"].map({"left": -1, "tie": 0, "right": 1})
    groups = table["id"].to_numpy()
    return finish(seed, indicators(table["left"], bots), indicators(table["right"], bots), indicators(table["prompt"]), outcomes,
                  groups, by_group(groups, seed))


def wmt15(data, seed):
    """Systems that wrote the same sentence stand as one side, each of them with an equal part."""
    table = pd.read_csv(data / "wmt15/wmt15.collapsed.eng-fre.csv.xz")
    table = table[(table["system1rank"] > 0) & (table["system2rank"] > 0)].reset_index(drop=True)
    shared_by = [table[f"system{side}Id"].astype(str).str.split("+") for side in (1, 2)]
    systems = pd.Index(sorted({system for side in shared_by for systems in side for system in systems}))

    def side(lists):
        """Mean of the indicators of the systems of each row."""
        row, counts = np.arange(len(lists)), lists.str.len().to_numpy()
        values = np.zeros((len(lists), len(systems)))
        np.add.at(values, (np.repeat(row, counts), systems.get_indexer(lists.explode())), np.repeat(1.0 / counts, counts))
        return values

    outcomes = np.sign(table["system1rank"] - table["system2rank"])  # a low rank is a good one
    groups = table["segmentId"].to_numpy()
    return finish(seed, *map(side, shared_by), indicators(table["judgeID"]), outcomes, groups, by_group(groups, seed))


def sushi_pairs(scores):
    """Ten scored kinds of each person in ascending order, two neighbours a pair, sides by lot: left, right, person, outcome."""
    n_persons = len(scores)
    scored = np.nonzero(scores >= 0)[1].reshape(n_persons, 10)
    given = np.take_along_axis(scores, scored, axis=1)
    order = np.argsort(given, axis=1, kind="stable")
    kinds = np.take_along_axis(scored, order, axis=1).reshape(-1, 2)
    given = np.take_along_axis(given, order, axis=1).reshape(-1, 2)
    turned = np.random.default_rng(7).random(len(kinds)) < 0.5
    kinds[turned], given[turned] = kinds[turned, ::-1], given[turned, ::-1]
    return kinds[:, 0], kinds[:, 1], np.repeat(np.arange(n_persons), 5), np.sign(given[:, 1] - given[:, 0])


def sushi(data, seed, n_pairs=None):
    """With `n_pairs` as many of them to train and choose on, half of them ties, and a test set of half ties."""
    folder = data / "sushi"
    kinds = pd.read_csv(folder / "sushi3.idata", sep="\t", comment="#", header=None).iloc[:, 2:9].to_numpy(dtype=float)
    persons = pd.read_csv(folder / "sushi3.udata", sep="\t", header=None).to_numpy()
    scores = pd.read_csv(folder / "sushi3b.5000.10.score.xz", sep=" ", header=None).to_numpy(dtype=float)
    left, right, person, outcomes = sushi_pairs(scores)
    places = np.array([*COORDINATES, ELSEWHERE])
    place = lambda column: places[np.minimum(persons[:, column], len(COORDINATES))]
    of_person = np.column_stack([persons[:, 1], persons[:, 2], np.log(np.maximum(persons[:, 3], 1)), place(4), place(7)])
    parts = by_group(person, seed)
    if n_pairs:
        rng = np.random.default_rng(seed + 5)
        parts = [half_ties(rng, rows, outcomes, most) for rows, most in zip(parts, (n_pairs, n_pairs, MOST["test"]))]
    return finish(seed, kinds[left], kinds[right], of_person[person], outcomes, person, parts)


def half_ties(rng, rows, outcomes, most):
    ties, others = rows[outcomes[rows] == 0], rows[outcomes[rows] != 0]
    n = min(most // 2, len(ties), len(others))
    return np.concatenate([rng.choice(ties, n, replace=False), rng.choice(others, n, replace=False)])


def sushi800(data, seed):
    return sushi(data, seed, n_pairs=800)


TASKS = {task.__name__: task for task in (jpeg, football, chess, llmfao, wmt15, sushi, sushi800)}


def make(name, data, out, seed=0):
    """Writes the files of a task and returns it."""
    task = TASKS[name](Path(data), seed)
    folder = Path(out) / name
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        for suffix, on_sides in (("", False), (".sides", True)):
            table = pd.DataFrame(task.columns(part, on_sides))
            table.to_csv(folder / f"{part}{suffix}.csv", index=False, float_format="%.7g")
    return task


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(TASKS), help="names with commas between")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in options.only:
        task = make(name, options.data, options.out, options.seed)
        print(name, *(f"{part} {len(task.rows[part])}" for part in PARTS))


if __name__ == "__main__":
    main()
