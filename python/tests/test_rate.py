"""rate: the same numbers as the program, whatever the games come in."""

from __future__ import annotations

import copy
import csv
import inspect
import json
import math
import os
import pickle
import re
import subprocess
import warnings
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwise import rate
from rankwise.exceptions import DataError, ParameterError, RankwiseWarning, UnsupportedError

SYSTEMS = ["davidson", "elo", "glicko", "glicko2", "trueskill"]


def program() -> str:
    """The program, or a reason why the test is skipped."""
    given = os.environ.get("RANKWISE_BIN")
    if given:
        return given
    root = Path(__file__).resolve().parents[2]
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    found = [path for path in (target / "debug" / "rankwise", target / "release" / "rankwise") if path.exists()]
    if not found:
        pytest.skip("the program is not built: run cargo build, or set RANKWISE_BIN")
    return str(max(found, key=lambda path: path.stat().st_mtime))


class Games:
    """Random games of players of known strength, with all that a file may say of them."""

    def __init__(self, n: int = 400, n_players: int = 12, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        strength = np.linspace(-1.2, 1.2, n_players)
        names = np.array([f"p{k:02}" for k in random.permutation(n_players)])
        left = random.integers(n_players, size=n)
        right = (left + random.integers(1, n_players, size=n)) % n_players
        d = strength[right] - strength[left] - 0.3 + random.logistic(size=n)
        self.left, self.right = names[left].tolist(), names[right].tolist()
        self.outcome = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
        self.weight = random.integers(1, 4, size=n) / 2
        self.group = random.integers(15, size=n)
        self.time = np.datetime64("2024-01-01T00:00:00") + np.sort(random.integers(0, 9 * 10**6, size=n)).astype(
            "timedelta64[s]"
        )
        self.length = (random.normal(size=n).round(3), random.normal(size=n).round(3))
        self.neutral = random.random(n) < 0.3

    def columns(self, *names: str) -> dict[str, Any]:
        """Columns of a file with these names besides who plays."""
        known = {
            "weight": self.weight.tolist(),
            "group": [f"judge {k}" for k in self.group],
            "time": [str(time) for time in self.time],
            "left.length": self.length[0].tolist(),
            "right.length": self.length[1].tolist(),
            "pair.neutral": self.neutral.astype(int).tolist(),
        }
        words = np.array(["left", "tie", "right"])[self.outcome + 1].tolist()
        return {
            "left": self.left,
            "right": self.right,
            "outcome": words,
            **{name: known[name] for name in names},
        }


def told_by_program(columns: dict[str, Any], options: str, folder: Path) -> dict[str, Any]:
    path = folder / "games.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))
    ran = subprocess.run(
        [program(), "rate", "--pairs", str(path), "--json", *options.split()],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def without_texts(told: dict[str, Any]) -> dict[str, Any]:
    """What the program and the package both tell, warnings as their number."""
    kept = {name: value for name, value in told.items() if name not in ("threads", "seconds", "chances")}
    kept["warnings"] = len(kept["warnings"])
    if kept["tie_parameter"] == "inf":
        kept["tie_parameter"] = math.inf
    return kept


CASES = [
    ("--system davidson", {}, ()),
    ("--system davidson --side --half-life 30 --ci 0.9", {"side": True, "half_life": 30, "ci": 0.9}, ("time", "weight", "pair.neutral")),
    ("--system davidson --C 0.5 --unit own", {"C": 0.5, "unit": "own"}, ("weight",)),
    ("--system davidson", {}, ("group", "left.length", "right.length")),
    ("--ci-method bootstrap --resamples 50 --seed 7", {"ci_method": "bootstrap", "resamples": 50, "seed": 7}, ("weight",)),
    ("--resamples 40", {"resamples": 40}, ("group",)),
    ("--system elo --resamples 64 --seed 3", {"system": "elo", "resamples": 64, "seed": 3}, ("weight", "time")),
    ("--system elo --k 12.5 --side --resamples 20", {"system": "elo", "k": 12.5, "side": True, "resamples": 20}, ()),
    ("--system elo --k fide --anchor p03=1000 --resamples 20", {"system": "elo", "k": "fide", "anchor": ("p03", 1000), "resamples": 20}, ()),
    ("--system glicko --period 7", {"system": "glicko", "period": 7.0}, ("time",)),
    ("--system glicko --ci-method bootstrap --resamples 30", {"system": "glicko", "ci_method": "bootstrap", "resamples": 30}, ("group",)),
    ("--system glicko2 --ci 0.8", {"system": "glicko2", "ci": 0.8}, ("time", "weight")),
    ("--system glicko2 --resamples 20", {"system": "glicko2", "resamples": 20}, ()),
    ("--system trueskill --unit own --side", {"system": "trueskill", "unit": "own", "side": True}, ("time", "pair.neutral")),
    ("--system trueskill --resamples 20 --seed 1", {"system": "trueskill", "resamples": 20, "seed": 1}, ("left.length", "right.length")),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::rankwise.exceptions.RankwiseWarning")
@pytest.mark.parametrize(
    ("options", "settings", "names"), CASES, ids=[f"{k}: {case[0]}" for k, case in enumerate(CASES)]
)
def test_numbers_are_those_of_the_program_to_the_last_digit(
    options: str, settings: Any, names: Any, tmp_path: Path
) -> None:
    games = Games()
    expected = told_by_program(games.columns(*names), options, tmp_path)
    data: dict[str, dict[str, Any]] = {
        "weight": {"weight": games.weight},
        "group": {"group": games.group},
        "time": {"time": games.time},
        "left.length": {"covariates": {"length": games.length}},
        "right.length": {},
        "pair.neutral": {"neutral": games.neutral},
    }
    given = {key: value for name in names for key, value in data[name].items()}
    board = rate(games.left, games.right, games.outcome, **given, **settings)
    assert without_texts(board.to_dict()) == without_texts(expected)
    for pair in expected["chances"]:
        assert board.chances(pair["left"], pair["right"]) == (pair["p_left"], pair["p_tie"], pair["p_right"])
    assert board.items == [line["item"] for line in expected["leaderboard"]]
    assert board.ratings.tolist() == [line["rating"] for line in expected["leaderboard"]]


def test_names_and_defaults_are_those_of_the_program() -> None:
    text = subprocess.run([program(), "rate", "--help"], capture_output=True, text=True).stdout
    options: dict[str, Any] = {}
    for part in re.split(r"\n +(?:-\w, )?--", text)[1:]:
        option = re.match(r"[\w-]+", part)
        assert option
        default = re.search(r"\[default: ([^\];,]*)", re.sub(r"\s+", " ", part))
        options[option.group().replace("-", "_")] = default and default.group(1)
    # What is about files, printing or comparing systems.
    of_files = {
        "help", "pairs", "items", "id", "label", "drop", "index_base", "format", "output", "chances", "top", "json", "quiet",
        "verbose", "backtest", "split", "left", "right", "separator",
    }  # fmt: skip
    parameters = inspect.signature(rate).parameters
    of_arrays = {"left", "right", "outcome", "neutral", "covariates"}
    assert set(options) - of_files == set(parameters) - of_arrays
    defaults = {name: parameters[name].default for name in set(options) - of_files}
    for name, value in defaults.items():
        if value not in (None, False):
            assert str(value) == options[name], name
    # Where the default depends on the system, none is told; the numbers are compared above and here.
    told = {name for name, value in defaults.items() if value is None and options[name] is not None}
    assert told == {"weight", "group", "time", "k", "period", "ci_method", "resamples"}
    games = Games(60)
    quiet: dict[str, Any] = {"system": "elo", "resamples": 200}
    assert (
        rate(games.left, games.right, games.outcome, k=32, **quiet).to_dict()
        == rate(games.left, games.right, games.outcome, system="elo").to_dict()
    )


def test_elo_by_hand() -> None:
    games = Games(150)
    ratings = dict.fromkeys([*games.left, *games.right], 1500.0)
    for left, right, outcome in zip(games.left, games.right, games.outcome):
        expected = 1 / (1 + 10 ** ((ratings[right] - ratings[left]) / 400))
        change = 32 * ((1 - outcome) / 2 - expected)
        ratings[left] += change
        ratings[right] -= change
    board = rate(games.left, games.right, games.outcome, system="elo", resamples=200)
    assert board.ratings == pytest.approx([ratings[item] for item in board.items], abs=1e-9)
    assert board.items == sorted(ratings, key=lambda item: -ratings[item])


def test_davidson_expects_the_points_that_were_made() -> None:
    games = Games()
    board = rate(games.left, games.right, games.outcome, weight=games.weight)
    made, expected, ties = dict.fromkeys(board.items, 0.0), dict.fromkeys(board.items, 0.0), 0.0
    for left, right, outcome, weight in zip(games.left, games.right, games.outcome, games.weight):
        p_left, p_tie, p_right = board.chances(left, right)
        assert p_left + p_tie + p_right == pytest.approx(1)
        made[left] += weight * (1 - outcome) / 2
        made[right] += weight * (1 + outcome) / 2
        expected[left] += weight * (p_left + p_tie / 2)
        expected[right] += weight * (p_right + p_tie / 2)
        ties += weight * (p_tie - (outcome == 0))
    assert list(made.values()) == pytest.approx(list(expected.values()), abs=1e-6)
    assert ties == pytest.approx(0, abs=1e-6)
    # 400 points are odds of ten to one.
    left, _, right = board.chances(board.items[0], board.items[-1])
    assert 400 * math.log10(left / right) == pytest.approx(board.ratings[0] - board.ratings[-1])
    count = sum(games.weight[[side == board.items[0] for side in games.left]]) + sum(
        games.weight[[side == board.items[0] for side in games.right]]
    )
    assert board.n_games[0] == count == board.wins[0] + board.ties[0] + board.losses[0]


@pytest.mark.parametrize("system", SYSTEMS)
def test_tables_of_all_libraries_say_what_arrays_say(system: str) -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    games = Games(200)
    columns = games.columns("weight", "time", "group") | {"time": games.time.astype("datetime64[ms]")}
    expected = rate(
        games.left,
        games.right,
        games.outcome,
        weight=games.weight,
        time=games.time,
        group=games.group,
        system=system,
    )
    frame = pandas.DataFrame(columns)
    frame["left"] = frame["left"].astype("category")
    tables = [
        frame,
        polars.DataFrame(columns),
        polars.DataFrame(columns).lazy(),
        pyarrow.table(pandas.DataFrame(columns)),
    ]
    tables.append(pandas.DataFrame(columns).rename(columns={"outcome": "winner"}))
    for table in tables:
        assert rate(table, system=system).to_dict() == expected.to_dict()
    renamed = pandas.DataFrame(columns).rename(columns={"group": "judge"})
    assert rate(renamed, group="judge", system=system).to_dict() == expected.to_dict()
    with pytest.raises(DataError, match="no column outcome or winner; its columns are left, right"):
        rate(pandas.DataFrame({"left": [1], "right": [2]}))


def test_columns_of_effects_are_found_in_tables() -> None:
    pandas = pytest.importorskip("pandas")
    games = Games(200)
    by_table = rate(pandas.DataFrame(games.columns("left.length", "right.length", "pair.neutral")), side=True)
    differences = games.length[0] - games.length[1]
    by_arrays = rate(
        games.left,
        games.right,
        games.outcome,
        covariates={"length": differences},
        neutral=games.neutral,
        side=True,
    )
    assert list(by_table.effects) == list(by_arrays.effects) == ["first side", "length"]
    assert by_table.effects == by_arrays.effects
    assert by_table.effects["length"].lower < by_table.effects["length"].value < by_table.effects["length"].upper


@pytest.mark.parametrize("system", ["davidson", "glicko"])
def test_ids_of_any_kind(system: str) -> None:
    games = Games(200)
    expected = rate(games.left, games.right, games.outcome, system=system)
    both = sorted({*games.left, *games.right})
    # Whatever has the same order of names.
    for ids in (
        [object() for _ in both],
        [(name, 1) for name in both],
        list(range(10, 10 + len(both))),
        [name.encode() for name in both],
    ):
        of = dict(zip(both, ids))
        board = rate(
            [of[name] for name in games.left],
            [of[name] for name in games.right],
            games.outcome,
            system=system,
        )
        assert board.ratings.tolist() == expected.ratings.tolist()
        assert board.items == [of[name] for name in expected.items]
    for array in (np.array(games.left), np.array(games.left, dtype=object)):
        assert rate(array, games.right, games.outcome, system=system).to_dict() == expected.to_dict()
    assert all(
        type(item) is int for item in rate(np.array([1, 2, 3]), np.array([2, 3, 1]), [-1, -1, 0], system=system).items
    )


@pytest.mark.parametrize("spread", [1, 7, 10**15])
def test_integers_are_numbered_as_they_appear(spread: int) -> None:
    random = np.random.default_rng(2)
    left = random.integers(-30, 30, size=500)
    right = left + random.integers(1, 5, size=500)
    outcome = random.integers(-1, 2, size=500)
    # Lists go another way than arrays.
    by_list = rate((left * spread).tolist(), (right * spread).tolist(), outcome, C=1.0)
    for kind in (np.int64, np.int32, np.uint64):
        shift = 0 if kind is not np.uint64 else 30
        if spread > 10**9 and kind is np.int32:
            continue
        by_array = rate(((left + shift) * spread).astype(kind), ((right + shift) * spread).astype(kind), outcome, C=1.0)
        assert by_array.ratings.tolist() == by_list.ratings.tolist()
        assert [item - shift * spread for item in by_array.items] == by_list.items


def test_words_of_outcomes() -> None:
    games = Games(120)
    expected = rate(games.left, games.right, games.outcome).to_dict()
    for words in (
        ["left", "tie", "right"],
        ["model_a", "tie (bothbad)", "model_b"],
        ["1-0", "1/2-1/2", "0-1"],
        ["A", " Tie ", "B"],
        [-1.0, 0.0, 1.0],
    ):
        said = [words[outcome + 1] for outcome in games.outcome]
        assert rate(games.left, games.right, said).to_dict() == expected
        assert rate(games.left, games.right, np.array(said, dtype=object)).to_dict() == expected
    with pytest.raises(ValueError, match=r"outcome: row 2 has 'won'; known are left, tie, right"):
        rate(["a", "b", "a"], ["b", "a", "b"], ["left", "tie", "won"])
    with pytest.raises(ValueError, match=r"outcome: row 1 has 2; expected -1 \(left\), 0 \(tie\) or 1 \(right\)"):
        rate(["a", "b", "a"], ["b", "a", "b"], [0, 2, 1])
    with pytest.raises(ValueError, match="row 1 has nan"):
        rate(["a", "b"], ["b", "a"], [0, math.nan])
    with pytest.raises(ValueError, match="row 0 has True"):
        rate(["a", "b"], ["b", "a"], [True, False])


def test_times_of_any_kind() -> None:
    games = Games(150)
    start = datetime(2024, 1, 1)
    minutes = [7 * k // 2 for k in range(150)]
    dates = [start + timedelta(minutes=k) for k in minutes]
    kinds = [
        [date.isoformat() for date in dates],
        [date.isoformat(sep=" ") + "Z" for date in dates],
        dates,
        np.array(dates, dtype="datetime64[ms]"),
        np.array(dates, dtype="datetime64[ns]"),
    ]
    order = np.random.default_rng(0).permutation(150)
    expected = None
    for kind in kinds:
        board = rate(games.left, games.right, games.outcome, time=kind, system="glicko", period=0.01)
        expected = expected or board.to_dict()
        assert board.to_dict() == expected
    days = [19723 + (k * 60) / 86400 for k in minutes]
    assert rate(games.left, games.right, games.outcome, time=days, system="glicko", period=0.01).to_dict() == expected
    with pytest.warns(RankwiseWarning, match="games were put in order of time"):
        mixed = rate(
            np.array(games.left)[order], np.array(games.right)[order], games.outcome[order], time=np.array(days)[order],
            system="glicko", period=0.01,
        )  # fmt: skip
    assert dict(zip(mixed.items, mixed.ratings)) == pytest.approx(dict(zip(board.items, board.ratings)))
    with pytest.raises(ValueError, match='time: row 1 has "soon"; expected a date'):
        rate(["a", "b"], ["b", "a"], [0, 1], time=["2024-01-01", "soon"])
    with pytest.raises(ValueError, match="time is missing in row 1"):
        rate(["a", "b"], ["b", "a"], [0, 1], time=np.array(["2024-01-01", "NaT"], dtype="datetime64[s]"))


def test_without_times_rows_are_in_order() -> None:
    games = Games(100)
    for system in SYSTEMS[1:]:
        by_row = rate(games.left, games.right, games.outcome, system=system)
        assert (
            by_row.to_dict() == rate(games.left, games.right, games.outcome, time=range(100), system=system).to_dict()
        )
        turned = rate(games.left[::-1], games.right[::-1], games.outcome[::-1], system=system)
        assert dict(zip(turned.items, turned.ratings)) != pytest.approx(dict(zip(by_row.items, by_row.ratings)))


def test_what_the_games_cannot_tell_is_said_in_words_of_python() -> None:
    with pytest.warns(RankwiseWarning, match="C=1 gives finite ratings") as told:
        board = rate(["a", "a", "b"], ["b", "c", "c"], [-1, -1, -1])
    assert board.warnings == tuple(str(warning.message) for warning in told)
    assert np.isnan(board.ratings).all() and board.rank_ranges() == ["1–3"] * 3
    assert all(math.isnan(chance) for chance in board.chances("a", "b"))
    assert "–" in repr(board)
    with pytest.warns(RankwiseWarning, match="2 parts without a game between them"):
        board = rate(["a", "b", "x", "y", "a"], ["b", "a", "y", "x", "b"], [-1, -1, -1, -1, 0])
    assert board.part_sizes == (2, 2) and board.parts.tolist() == [1, 1, 2, 2]
    assert np.isnan(board.chances("a", "x")).all()
    with pytest.warns(RankwiseWarning, match="leave the groups out if games are independent"):
        rate(["a", "b", "a"], ["b", "a", "b"], [-1, -1, 0], group=["one"] * 3)
    with pytest.warns(RankwiseWarning, match="resamples=100 would do"):
        rate(["a", "b", "a"], ["b", "a", "b"], [-1, -1, 0], resamples=20)
    for call in told:
        assert "--" not in str(call.message)
        assert call.filename == __file__


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"system": "chess"}, ParameterError, "system = 'chess' is not possible: expected one of davidson, elo, glicko, glicko2, trueskill"),
    ({"C": 1.0, "system": "elo"}, UnsupportedError, "C is not for system='elo'; choose system='davidson'"),
    ({"half_life": 1.0, "system": "glicko"}, UnsupportedError, "half_life"),
    ({"k": 20}, UnsupportedError, "k is not for system='davidson'"),
    ({"k": 20, "system": "glicko2"}, UnsupportedError, "k is not for system='glicko2'"),
    ({"k": "uscf", "system": "elo"}, ParameterError, "k = 'uscf' is not possible"),
    ({"k": -1, "system": "elo"}, ParameterError, "k = -1 is not possible"),
    ({"period": 3}, UnsupportedError, "period"),
    ({"period": 0, "system": "elo"}, ParameterError, "period = 0"),
    ({"C": -1}, ParameterError, "C = -1"),
    ({"C": "much"}, ValueError, "C = much"),
    ({"half_life": 0}, ParameterError, "half_life = 0"),
    ({"ci": 1}, ParameterError, "ci = 1 is not possible"),
    ({"ci_method": "own"}, UnsupportedError, "ci_method='own' is not for system='davidson'"),
    ({"ci_method": "own", "system": "elo"}, UnsupportedError, "choose ci_method='bootstrap'"),
    ({"ci_method": "sandwich", "system": "trueskill"}, UnsupportedError, "choose ci_method='bootstrap'"),
    ({"ci_method": "guess"}, ParameterError, "expected one of sandwich, bootstrap, own"),
    ({"ci_method": "sandwich", "resamples": 10}, UnsupportedError, "resamples"),
    ({"resamples": 1}, ParameterError, "resamples = 1"),
    ({"unit": "fide"}, ParameterError, "expected one of elo, own"),
    ({"seed": -1}, ValueError, "seed = -1"),
    ({"anchor": ("z", 1000)}, ParameterError, "expected one of the items, 'a', 'b'"),
    ({"anchor": "a"}, ParameterError, "anchor = 'a' is not possible"),
    ({"anchor": ("a", math.inf)}, ParameterError, "anchor"),
    ({"weight": [1, -1, 1]}, ValueError, "weight has negative values"),
    ({"weight": [0, 0, 0]}, ValueError, "weight"),
    ({"weight": [1, 1]}, ValueError, "weight"),
    ({"weight": [1, math.nan, 1]}, ValueError, "weight contains NaN"),
    ({"group": [1, 2]}, ValueError, "group has 2 entries"),
    ({"time": [1, 2, math.inf]}, ValueError, "time contains infinity"),
    ({"covariates": {"length": [1, 2]}}, ValueError, "length"),
    ({"neutral": [True]}, ValueError, "neutral"),
    ({"group": ["a", None, "b"]}, ValueError, "group is missing in row 1"),
    ({"group": [1.0, 2.0, math.nan]}, ValueError, "group is missing in row 2"),
    ({"weight": "importance"}, ParameterError, "weight = 'importance' is not possible: expected one entry per game"),
    ({"threads": -1}, ParameterError, "threads = -1"),
    ({"threads": 10**6}, ParameterError, "threads = 1000000"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "error", "text"), BAD, ids=[str(case[0]) for case in BAD])
def test_bad_arguments_are_named(given: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)) as raised:
        rate(["a", "b", "a"], ["b", "a", "b"], [-1, -1, 0], **given)
    assert isinstance(raised.value, ValueError)


def test_bad_games_are_named() -> None:
    with pytest.raises(ValueError, match="left is missing in row 1"):
        rate(["a", None], ["b", "a"], [0, 1])
    with pytest.raises(ValueError, match="right is missing in row 0"):
        rate([1.0, 2.0], [math.nan, 1.0], [0, 1])
    with pytest.raises(ValueError, match=r"the same item in row 1 \('b'\)"):
        rate(["a", "b"], ["b", "b"], [0, 1])
    with pytest.raises(ValueError, match="left has 2 entries and right 1"):
        rate(["a", "b"], ["b"], [0, 1])
    with pytest.raises(ValueError, match="outcome has 1 entries, expected 2"):
        rate(["a", "b"], ["b", "a"], [0])
    with pytest.raises(ValueError, match="outcome is missing"):
        rate(["a"], ["b"])
    with pytest.raises(ValueError, match="at least one game"):
        rate([], [], [])
    with pytest.raises(ValueError, match="ids cannot be told apart"):
        rate([["a"]], [["b"]], [0])
    with pytest.raises(ValueError, match="expected one id per game"):
        rate("ab", "ba", [0, 1])
    with pytest.raises(ValueError, match="'z' is no item of the leaderboard"):
        rate(["a", "b", "a"], ["b", "a", "b"], [-1, -1, 0]).chances("a", "z")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankwiseWarning)
        with pytest.raises(ValueError, match="anchor = a is not possible: expected an item with a finite rating"):
            rate(["a", "a"], ["b", "b"], [-1, -1], anchor=("a", 1000))


def test_missing_entries_of_pandas_are_named() -> None:
    pandas = pytest.importorskip("pandas")
    ids = pandas.Series(["a", "b", pandas.NA], dtype="string")
    with pytest.raises(ValueError, match="left is missing in row 2"):
        rate(ids, ["b", "a", "b"], [0, 1, -1])
    with pytest.raises(ValueError, match="outcome: row 2 has <NA>; known are left"):
        rate(["a", "b", "a"], ["b", "a", "b"], pandas.Series(["left", "right", pandas.NA], dtype="string"))
    whole = rate(["a", "b", "a"], ["b", "a", "b"], pandas.Series([-1, -1, 0], dtype="Int64"))
    assert whole.to_dict() == rate(["a", "b", "a"], ["b", "a", "b"], [-1, -1, 0]).to_dict()


def test_groups_are_resampled_alike_whatever_they_are_called() -> None:
    games = Games(200)
    boards = [
        rate(games.left, games.right, games.outcome, group=names, resamples=200, seed=5)
        for names in (games.group, 0.5 - games.group, [f"judge {k}" for k in games.group])
    ]
    assert boards[0].to_dict() == boards[1].to_dict() == boards[2].to_dict()


def test_threads_change_nothing() -> None:
    games = Games(300)
    for system in SYSTEMS:
        one, many = (
            rate(games.left, games.right, games.outcome, system=system, resamples=200, threads=n) for n in (1, 3)
        )
        assert one.to_dict() == many.to_dict()


def test_a_leaderboard_is_readable_and_cannot_be_changed() -> None:
    games = Games()
    board = rate(games.left, games.right, games.outcome, side=True, anchor=("p03", 1000.0))
    lines = repr(board).splitlines()
    assert lines[0].split() == ["item", "rank", "rating", "low", "high", "games", "won", "tied", "lost"]
    assert len(lines) == 1 + 12 + 1 and len({len(line) for line in lines[:-1]}) == 1
    cells = lines[1].split()
    assert cells[0] == board.items[0] and cells[2] == f"{board.ratings[0]:.0f}" and cells[5] == f"{board.n_games[0]:g}"
    assert lines[-1].startswith("first side: ") and "points (" in lines[-1]
    assert board.ratings[board.items.index("p03")] == 1000.0
    with pytest.raises(AttributeError):
        board.ratings = board.lower  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        board.ratings[0] = 0
    escaped = rate(["<b>", "c", "<b>"], ["c", "<b>", "c"], [-1, -1, 0])._repr_html_()
    assert escaped.startswith("<table>") and "&lt;b&gt;" in escaped and "<b>" not in escaped
    many = rate(list(range(60)), [*range(1, 60), 0], [-1] * 60)
    assert len(repr(many).splitlines()) == 52 and repr(many).endswith("… and 10 more")


def test_frames_copies_and_chances_of_many() -> None:
    pandas = pytest.importorskip("pandas")
    games = Games()
    board = rate(games.left, games.right, games.outcome)
    frame = board.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame["item"].tolist() == board.items
    assert frame["upper"].to_numpy() == pytest.approx(board.upper)
    first, last = board.items[0], board.items[-1]
    both = board.chances([first, last], [last, first])
    assert both.shape == (2, 3) and both[0].tolist() == list(board.chances(first, last))
    assert both[1].tolist() == pytest.approx(both[0, ::-1])
    json.dumps(board.to_dict())


def test_covariates_may_be_a_table() -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    rng = np.random.default_rng(0)
    games = list("abc") * 40, list("bca") * 40, rng.integers(-1, 2, size=120)
    columns = {"rest": rng.normal(size=120), "white": rng.integers(0, 2, size=120)}
    expected = rate(*games, covariates=columns, C=1).effects
    assert set(expected) == {"rest", "white"}
    frames = [pandas.DataFrame(columns), polars.DataFrame(columns), polars.LazyFrame(columns), pyarrow.table(columns)]
    for table in frames:
        assert rate(*games, covariates=table, C=1).effects == expected, type(table)
    for wrong in (np.ones((120, 2)), pandas.Series(np.ones(120)), [1.0] * 120):
        with pytest.raises(ParameterError, match="covariates is a .*expected a mapping of names to arrays.*or a table"):
            rate(*games, covariates=wrong, C=1)


def test_copies_of_leaderboards_keep_their_chances() -> None:
    games = Games()
    for system in ("davidson", "elo", "glicko", "glicko2", "trueskill"):
        board = rate(games.left, games.right, games.outcome, system=system)
        pairs = (board.items, board.items[::-1])
        for made in (pickle.loads(pickle.dumps(board)), copy.copy(board), copy.deepcopy(board)):
            assert made.to_dict() == board.to_dict() and repr(made) == repr(board)
            assert made.chances(*pairs).tolist() == board.chances(*pairs).tolist()
            assert made.chances(board.items[0], board.items[1]) == board.chances(board.items[0], board.items[1])


def test_no_intervals_were_asked_for() -> None:
    games = Games()
    for system in ("davidson", "elo", "trueskill"):
        board = rate(games.left, games.right, games.outcome, system=system, ci=None)
        assert board.level is None and board.ci_method == "none"
        assert (
            np.isfinite(board.ratings).all() and np.isnan(board.lower).all() and np.isnan(board.standard_errors).all()
        )
    with pytest.raises(Exception, match="ci=None"):
        rate(games.left, games.right, games.outcome, ci=None, resamples=10)


def test_a_score_left_in_the_table_is_no_board_of_zeros() -> None:
    left, right, outcome = list("aabcab"), list("bbcaca"), [-1, -1, -1, -1, -1, 0]
    goals = [2, 2, 1, 1, 3, 0]
    plain = rate(left, right, outcome, C=1)
    with pytest.warns(RankwiseWarning, match="left out: the effect of goals"):
        board = rate(left, right, outcome, C=1, covariates={"goals": goals})
    assert board.ratings.tolist() == plain.ratings.tolist() and board.ratings[0] > 10
    with pytest.warns(RankwiseWarning, match="left out: the effect of first side"):
        rate(left, right, outcome, C=1, side=True)


def test_no_rating_is_given_only_where_none_is() -> None:
    with pytest.warns(RankwiseWarning, match="no rating is given; C=1 gives finite ratings"):
        rate(["a", "b", "d"], ["b", "c", "c"], [-1, 0, -1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        board = rate(["a", "b", "d"], ["b", "c", "c"], [-1, 0, -1], C=1)
    assert np.isfinite(board.ratings).all()
