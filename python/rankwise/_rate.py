"""Leaderboards from games: :func:`rate` and what it returns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _input
from ._callers import warn
from ._leaderboard import Leaderboard
from ._outcomes import outcomes
from .exceptions import DataError, ParameterError

__all__ = ["Leaderboard", "rate"]

#: Columns of a table that are taken by themselves, as in files; the first of the names that is there.
_COLUMNS = {"weight": ("weight",), "group": ("group",), "time": ("time",), "neutral": ("pair.neutral",)}


def rate(
    left: Any,
    right: Any = None,
    outcome: Any = None,
    *,
    weight: Any = None,
    group: Any = None,
    time: Any = None,
    neutral: Any = None,
    covariates: Any = None,
    system: str = "davidson",
    C: float | None = None,
    half_life: float | None = None,
    side: bool = False,
    k: float | str | None = None,
    period: float | None = None,
    ci: float | None = 0.95,
    ci_method: str | None = None,
    resamples: int | None = None,
    anchor: tuple[Hashable, float] | None = None,
    unit: str = "elo",
    threads: int = 0,
    seed: int = 0,
) -> Leaderboard:
    """Rate items by games between them: a leaderboard with intervals.

    Parameters
    ----------
    left, right : array-like of ids
        Who was compared, row by row; ids of any kind. Instead of `left` a table (pandas, polars, Arrow) with the columns
        ``left``, ``right``, ``outcome`` (or ``winner``), and where there are any ``weight``, ``group``, ``time``,
        ``pair.neutral`` and effects ``left.NAME`` with ``right.NAME``; `weight`, `group` and `time` may then name columns.
    outcome : array-like
        -1 (left better), 0 (tie), 1 (right better), or words: left, tie, right; a, b; model_a, model_b; 1-0, 0-1, 1/2-1/2 ...
    weight : array-like, optional
        How many games a row stands for.
    group : array-like, optional
        Who judged, say: games of one group are not independent.
    time : array-like, optional
        Numbers, dates or text such as 2024-03-01; without it, rows are in order of time. Dates are counted in days.
    neutral : array-like of bool, optional
        Where being named first is no advantage (for `side`).
    covariates : mapping of str to array-like, or table, optional
        What else differs between the sides: left minus right, or a pair (left, right) of arrays. davidson fits an effect of each.
    system : {"davidson", "elo", "glicko", "glicko2", "trueskill"}, default="davidson"
        How ratings are found. davidson maximises the likelihood, ties included; the others go through the games in order.
    C : float, optional
        davidson: minimise ½‖ratings‖² + C·(-log likelihood) instead of the likelihood alone.
    half_life : float, optional
        davidson: after so much time (days, where times are dates) a game counts half.
    side : bool, default=False
        Fit what being named first is worth: home, the white pieces, the first answer.
    k : float or "fide", optional
        elo: how far a game may move a rating; 32 unless given.
    period : float, optional
        Other systems than davidson: games within so much time count as played at once.
    ci : float or None, default=0.95
        The share of cases in which intervals should hold what is true; None for no intervals, which saves their time.
    ci_method : {"sandwich", "bootstrap", "own"}, optional
        Where intervals come from; unless given, sandwich for davidson, bootstrap for elo, own for the others.
    resamples : int, optional
        Resamples of the bootstrap; 1000 for davidson, 200 for the others unless given.
    anchor : (id, rating), optional
        Move all ratings so that this item has this one.
    unit : {"elo", "own"}, default="elo"
        elo: 400 points are odds of 10 : 1; own: the system's own (davidson: logarithms of odds; trueskill: μ from 25).
    threads : int, default=0
        Threads to use; 0 means all. Results do not depend on it.
    seed : int, default=0
        Seed of whatever is random.

    Returns
    -------
    Leaderboard
        Items in rank order with ratings, intervals and ranges of ranks.

    Examples
    --------
    >>> from rankwise import rate
    >>> board = rate(["a", "b", "c", "b"], ["b", "c", "a", "a"], ["left", "left", "left", "tie"])
    >>> board.items
    ['a', 'b', 'c']
    >>> left, tie, right = board.chances("a", "c")
    """
    others = _by_name(covariates)
    given = {"weight": weight, "group": group, "time": time, "neutral": neutral}
    if hasattr(left, "collect_schema") and hasattr(left, "collect") and not hasattr(left, "__arrow_c_stream__"):
        left = left.collect()  # a lazy frame of polars
    if _input.is_table(left) and right is None and outcome is None:
        left, right, outcome, given, found = _columns(left, given)
        others = {**found, **others}
    elif right is None or outcome is None:
        missing = "right" if right is None else "outcome"
        raise ParameterError(f"{missing} is missing: give left, right and outcome, or a table that has these columns")
    if not (isinstance(threads, (int, np.integer)) and threads >= 0):
        raise ParameterError(f"threads = {threads!r} is not possible: expected a number of threads, or 0 for all")
    ids, numbers = _numbered(left, right)
    n = len(numbers[0])
    if n == 0:
        raise DataError("left has no rows: at least one game is needed")
    same = np.flatnonzero(numbers[0] == numbers[1])
    if same.size:
        raise DataError(
            f"left and right are the same item in row {same[0]} ({ids[numbers[0][same[0]]]!r}): a game has two sides"
        )
    signs = outcomes(outcome if isinstance(outcome, (list, tuple)) else _array(outcome, "outcome"), n, "outcome")
    weights = None if given["weight"] is None else _input.weights(_array(given["weight"], "weight"), n, "weight")
    times = _times(given["time"], n)
    effects = _effects(others, n)
    settings = {
        "system": system, "C": C, "half_life": half_life, "side": bool(side), "k": k, "period": period, "ci": ci,
        "ci_method": ci_method, "resamples": resamples, "unit": unit, "seed": seed,
    }  # fmt: skip
    anchored = None if anchor is None else _anchor(anchor, ids)
    board = _core.rate(
        [_input.plain_text(item) for item in ids],
        numbers[0],
        numbers[1],
        signs,
        settings,
        weights=weights,
        groups=_groups(given["group"], n),
        times=times,
        neutral=_neutral(given["neutral"], n),
        covariates=effects,
        anchor=anchored,
        threads=threads,
    )
    found_warnings = _input_warnings(times, effects, system) + [
        # There is no file of which a column could be dropped.
        text.replace(" (drop='group')", "")
        for text in board.facts()["warnings"]
    ]
    for text in found_warnings:
        warn(text)
    return Leaderboard._of(board, ids, tuple(found_warnings))


def _columns(table: Any, given: dict[str, Any]) -> tuple[Any, Any, Any, dict[str, Any], dict[str, Any]]:
    """The columns of a table, by the names they have in files."""
    # Arrow's tables have lists of columns where others have names.
    of_arrow = getattr(table, "column_names", None)
    names = of_arrow if isinstance(of_arrow, list) else _input.column_names(table) or []
    known = set(names)

    def first(*choices: str) -> Any:
        for name in choices:
            if name in known:
                return table[name]
        raise DataError(f"the table has no column {' or '.join(choices)}; its columns are {', '.join(names)}")

    taken = dict(given)
    for name, choices in _COLUMNS.items():
        if isinstance(taken[name], str):
            taken[name] = first(taken[name])
        elif taken[name] is None and choices[0] in known:
            taken[name] = table[choices[0]]
    effects = {}
    for name in names:
        if name.startswith("left.") and "right." + name[5:] in known:
            effects[name[5:]] = (_list(table[name]), _list(table["right." + name[5:]]))
    return first("left"), first("right"), first("outcome", "winner"), taken, effects


def _list(values: Any) -> list[Any]:
    """Python's own objects, from whatever holds them."""
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def _numbered(left: Any, right: Any) -> tuple[list[Any], tuple[NDArray[np.uint32], NDArray[np.uint32]]]:
    """Distinct ids in the order they appear in, row by row, and the number of each side's."""
    if all(isinstance(side, np.ndarray) and side.ndim == 1 and side.dtype.kind in "iu" for side in (left, right)):
        found = _numbered_integers(left, right)
        if found is not None:
            return found
    sides = []
    for name, values in (("left", left), ("right", right)):
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") and not isinstance(values, Iterable):
            raise ParameterError(f"{name} = {values!r} is not possible: expected one id per game")
        sides.append(_list(values))
    if len(sides[0]) != len(sides[1]):
        raise DataError(f"left has {len(sides[0])} entries and right {len(sides[1])}: one of each per game is needed")
    try:
        distinct = dict.fromkeys(itertools.chain.from_iterable(zip(*sides)))
    except TypeError as problem:
        raise ParameterError(f"left, right: ids cannot be told apart ({problem}); use text or numbers") from None
    ids = list(distinct)
    for bad in ids:
        if _is_missing(bad):
            for name, side in zip(("left", "right"), sides):
                row = next((row for row, value in enumerate(side) if value is bad), None)
                if row is not None:
                    raise DataError(f"{name} is missing in row {row}: a game has two sides")
    number = dict(zip(ids, range(len(ids)))).__getitem__
    first, second = (np.fromiter(map(number, side), dtype=np.uint32, count=len(side)) for side in sides)
    return ids, (first, second)


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and math.isnan(value))
    )


def _numbered_integers(
    left: NDArray[Any], right: NDArray[Any]
) -> tuple[list[Any], tuple[NDArray[np.uint32], NDArray[np.uint32]]] | None:
    """The same of whole numbers that are close together, by a table of them; else None."""
    if len(left) != len(right) or len(left) == 0:
        return None
    low, high = min(int(left.min()), int(right.min())), max(int(left.max()), int(right.max()))
    if high - low > 4 * len(left) or not -(2**63) <= low <= high < 2**63:
        return None
    both = np.column_stack([left.astype(np.int64), right.astype(np.int64)]).ravel() - low
    first = np.full(high - low + 1, len(both), dtype=np.int64)
    # Backwards, so that the first appearance is what stays.
    first[both[::-1]] = np.arange(len(both) - 1, -1, -1)
    ids = np.argsort(first, kind="stable")[: int((first < len(both)).sum())]
    number = np.zeros(high - low + 1, dtype=np.uint32)
    number[ids] = np.arange(len(ids), dtype=np.uint32)
    numbers = number[both]
    return (ids + low).tolist(), (
        np.require(numbers[0::2], requirements=["C", "A"]),
        np.require(numbers[1::2], requirements=["C", "A"]),
    )


def _array(values: Any, name: str) -> Any:
    """An array, from columns of any kind of table too."""
    if isinstance(values, (str, bytes)):
        raise ParameterError(
            f"{name} = {values!r} is not possible: expected one entry per game, or the name of a column of a table"
        )
    if hasattr(values, "to_numpy") and not hasattr(values, "to_pylist"):  # Arrow's own give up rather than copy
        return values.to_numpy()
    return np.asarray(values)


def _groups(group: Any, n: int) -> NDArray[np.uint32] | None:
    """Numbers in the order groups appear in: resamples are drawn by them."""
    if group is None:
        return None
    ids = _input.vector(_array(group, "group"), n, "group").tolist()
    known: dict[Any, int] = dict(zip(dict.fromkeys(ids), itertools.count()))
    if any(map(_is_missing, known)):
        row = next(row for row, value in enumerate(ids) if _is_missing(value))
        raise DataError(f"group is missing in row {row}: every game needs one, or none")
    return np.fromiter(map(known.__getitem__, ids), dtype=np.uint32, count=n)


def _neutral(neutral: Any, n: int) -> NDArray[np.bool_] | None:
    if neutral is None:
        return None
    return np.ascontiguousarray(_input.reals(_array(neutral, "neutral"), n, "neutral") != 0)


def _times(time: Any, n: int) -> NDArray[np.float64] | None:
    """Numbers as they are; days since 1970-01-01 of dates."""
    if time is None:
        return None
    array = _input.vector(_array(time, "time"), n, "time")
    if array.dtype.kind == "M":
        missing = np.flatnonzero(np.isnat(array))
        if missing.size:
            raise DataError(f"time is missing in row {missing[0]}: every game needs one, or none")
        days = array.astype("datetime64[D]")
        # Days and seconds apart: sums of both in one float64 would lose digits of the day's time.
        seconds = (array - days) / np.timedelta64(1, "s")
        return np.require(days.astype(np.int64) + seconds / 86_400.0, np.float64, ["C", "A"])
    if array.dtype.kind in "iufb":
        return _input.reals(array, n, "time")
    return _core.parse_times([_word(value) for value in array.tolist()])


def _word(value: Any) -> str:
    return str(value.isoformat()) if hasattr(value, "isoformat") else _input.plain_text(value)


def _by_name(covariates: Any) -> dict[str, Any]:
    """Columns by name, of a mapping or a table."""
    if covariates is None:
        return {}
    if hasattr(covariates, "collect_schema") and not hasattr(covariates, "__arrow_c_stream__"):
        covariates = covariates.collect()  # a lazy frame of polars
    if _input.is_table(covariates):
        return {name: covariates[name] for name in _input.column_names(covariates) or []}
    if not isinstance(covariates, Mapping):
        raise ParameterError(
            f"covariates is a {type(covariates).__name__}: expected a mapping of names to arrays, such as {{'rest': rest}}, or a table"
        )
    return dict(covariates)


def _effects(covariates: Mapping[str, Any], n: int) -> tuple[list[str], NDArray[np.float64]] | None:
    if not covariates:
        return None
    columns = []
    for name, values in covariates.items():
        if isinstance(values, (tuple, list)) and len(values) == 2 and np.ndim(values[0]) == 1:
            left, right = (_input.reals(_array(value, name), n, f"covariates[{name!r}]") for value in values)
            columns.append(left - right)
        else:
            columns.append(_input.reals(_array(values, name), n, f"covariates[{name!r}]"))
    return [_input.plain_text(name) for name in covariates], np.ascontiguousarray(np.column_stack(columns)).ravel()


def _anchor(anchor: Any, ids: list[Any]) -> tuple[int, float]:
    try:
        item, rating = anchor
        rating = float(rating)
    except (TypeError, ValueError):
        raise ParameterError(
            f"anchor = {anchor!r} is not possible: expected an item and its rating, such as ('a', 1000)"
        ) from None
    if not abs(rating) <= 1e9:
        raise ParameterError(f"anchor = {anchor!r} is not possible: expected a rating of at most 1e9")
    if item not in ids:
        shown = ", ".join(map(repr, ids[:5])) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
        raise ParameterError(f"anchor = {anchor!r} is not possible: expected one of the items, {shown}")
    return ids.index(item), rating


def _input_warnings(times: NDArray[np.float64] | None, effects: Any, system: str) -> list[str]:
    """What of the games was of no use, and what was put in order."""
    if system == "davidson":
        return []
    found = []
    if times is not None:
        n_late = int((np.diff(times) < 0).sum())
        if n_late:
            found.append(
                f"{n_late} of {len(times)} rows are earlier than the row before them; games were put in order of time"
            )
    if effects is not None:
        names = ", ".join(effects[0])
        found.append(f"not used: the columns of {names} (system='davidson' fits their effects)")
    return found
