"""What :func:`rankwise.rate` returns: items in rank order, and how sure that is."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from . import _input
from .exceptions import ParameterError, RankwiseError

if TYPE_CHECKING:
    from collections.abc import Hashable

    import pandas

    from . import _core

#: Lines of the table that is printed.
_LINES = 50
#: Characters of a name in it.
_LONGEST = 40


class Effect(NamedTuple):
    """What helps a side beside its rating, for one unit of it; NaN where the games cannot tell."""

    value: float
    standard_error: float
    lower: float
    upper: float


@dataclass(frozen=True, repr=False, eq=False)
class Leaderboard:
    """Items in rank order: parts by size, within a part by rating. Arrays have one entry per item; NaN is nothing known.

    Attributes
    ----------
    items : list
        The ids, best first.
    ratings, standard_errors, lower, upper : ndarray of float
        The rating of each, its standard error and the ends of its interval.
    compare_lower, compare_upper : ndarray of float
        The same interval without the doubt about where the average lies, which all items share; ranks go by it.
    rank_lower, rank_upper : ndarray of int
        The best and the worst rank that the intervals allow, among items that can be compared.
    n_games, wins, ties, losses : ndarray of float
        How its games ended, by weight.
    parts : ndarray of int
        Items of different parts have no chain of games between them: ratings cannot be compared.
    scales : ndarray of int
        Ratings with equal numbers can be compared; 0 is without a rating.
    effects : dict of str to Effect
        What else helps a side: the covariates, and with ``side=True`` being the ``"first side"``.
    tie_parameter : float
        Davidson's ν: how probable ties are among equals, ν : 1 against each of both wins.
    system, unit : str
        How ratings were found, and what they are told in.
    level, ci_method
        The share of cases in which intervals should hold the truth, and where they come from; None and ``"none"`` with ``ci=None``.
    details : dict
        What only this system has to say, by the names of the command line's JSON.
    warnings : tuple of str
        What you should know before you believe it.
    """

    items: list[Any]
    ratings: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    compare_lower: NDArray[np.float64]
    compare_upper: NDArray[np.float64]
    rank_lower: NDArray[np.int64]
    rank_upper: NDArray[np.int64]
    n_games: NDArray[np.float64]
    wins: NDArray[np.float64]
    ties: NDArray[np.float64]
    losses: NDArray[np.float64]
    parts: NDArray[np.int64]
    scales: NDArray[np.int64]
    part_sizes: tuple[int, ...]
    effects: dict[str, Effect]
    tie_parameter: float
    system: str
    unit: str
    level: float | None
    ci_method: str
    details: dict[str, Any]
    warnings: tuple[str, ...]
    _facts: dict[str, Any] = field(repr=False)
    _numbers: dict[Any, int] = field(repr=False)
    _chances: _core.Chances | None = field(repr=False, default=None)

    @classmethod
    def _of(cls, board: _core.Board, ids: list[Any], warnings: tuple[str, ...]) -> Leaderboard:
        columns, facts = board.columns(), board.facts()
        order = columns.pop("player").tolist()
        for column in columns.values():
            column.flags.writeable = False
        facts["warnings"] = list(warnings)
        common = (
            "system",
            "unit",
            "games",
            "items",
            "ties",
            "tie_parameter",
            "ci",
            "effects",
            "parts",
            "warnings",
        )
        effects = {
            effect["name"]: Effect(*(_real(effect[name]) for name in ("value", "se", "low", "high")))
            for effect in facts["effects"]
        }
        return cls(
            items=[ids[number] for number in order],
            ratings=columns["rating"],
            standard_errors=columns["se"],
            lower=columns["low"],
            upper=columns["high"],
            compare_lower=columns["compare_low"],
            compare_upper=columns["compare_high"],
            rank_lower=columns["rank_low"],
            rank_upper=columns["rank_high"],
            n_games=columns["games"],
            wins=columns["wins"],
            ties=columns["ties"],
            losses=columns["losses"],
            parts=columns["part"],
            scales=columns["scale"],
            part_sizes=tuple(facts["parts"]),
            effects=effects,
            tie_parameter=facts["tie_parameter"],
            system=facts["system"],
            unit=facts["unit"],
            level=facts["ci"]["level"],
            ci_method=facts["ci"]["method"],
            details={name: value for name, value in facts.items() if name not in common},
            warnings=warnings,
            _facts=facts,
            _numbers=dict(zip(ids, range(len(ids)))),
            _chances=board.pair_chances(),
        )

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def chances(self, left: list[Any] | NDArray[Any], right: list[Any] | NDArray[Any]) -> NDArray[np.float64]: ...
    @overload
    def chances(self, left: Hashable, right: Hashable) -> tuple[float, float, float]: ...
    def chances(self, left: Any, right: Any) -> Any:
        """Probabilities that left wins, that nobody does and that right wins, when no side has an advantage.

        Parameters
        ----------
        left, right : ids, or lists (arrays) of ids
            Items of the leaderboard.

        Returns
        -------
        tuple of float, or ndarray of shape (n, 3)
            NaN where the games tell nothing of the difference.
        """
        if self._chances is None:
            raise RankwiseError("chances were not kept in copies made by rankwise 0.1: call rate again")
        if isinstance(left, (list, np.ndarray)) and isinstance(right, (list, np.ndarray)):
            if len(left) != len(right):
                raise ParameterError(
                    f"left has {len(left)} items and right {len(right)}: one of each per pair is needed"
                )
            sides = [np.array([self._number(item) for item in list(side)], dtype=np.uint32) for side in (left, right)]
            return self._chances.of_pairs(sides[0], sides[1]).reshape(-1, 3)
        found = self._chances.of(self._number(left), self._number(right))
        return (np.nan, np.nan, np.nan) if found is None else found

    def _number(self, item: Any) -> int:
        try:
            return self._numbers[item]
        except (KeyError, TypeError):
            shown = ", ".join(map(repr, self.items[:5])) + (", ..." if len(self.items) > 5 else "")
            raise ParameterError(f"{item!r} is no item of the leaderboard: its items are {shown}") from None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python objects, by the names that ``rankwise rate --json`` has; None is nothing known."""
        columns = {
            "item": self.items,
            "rating": _known(self.ratings),
            "se": _known(self.standard_errors),
            "low": _known(self.lower),
            "high": _known(self.upper),
            "compare_low": _known(self.compare_lower),
            "compare_high": _known(self.compare_upper),
            "rank_low": self.rank_lower.tolist(),
            "rank_high": self.rank_upper.tolist(),
            "part": self.parts.tolist(),
            "scale": [scale or None for scale in self.scales.tolist()],
            "games": self.n_games.tolist(),
            "wins": self.wins.tolist(),
            "ties": self.ties.tolist(),
            "losses": self.losses.tolist(),
        }
        lines = [dict(zip(columns, line)) for line in zip(*columns.values())]
        return {**self._facts, "leaderboard": lines}

    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a row per item, in rank order."""
        import pandas

        return pandas.DataFrame(
            {
                "item": self.items,
                "rating": self.ratings,
                "standard_error": self.standard_errors,
                "lower": self.lower,
                "upper": self.upper,
                "rank_lower": self.rank_lower,
                "rank_upper": self.rank_upper,
                "n_games": self.n_games,
                "wins": self.wins,
                "ties": self.ties,
                "losses": self.losses,
                "part": self.parts,
                "scale": self.scales,
            }
        )

    def rank_ranges(self) -> list[str]:
        """The ranks that the intervals allow, as text: ``1`` or ``2–4``."""
        ends = zip(self.rank_lower.tolist(), self.rank_upper.tolist())
        return [str(best) if best == worst else f"{best}–{worst}" for best, worst in ends]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Header and lines, cut after so many."""
        n = min(len(self), _LINES)
        has_scales = len(self.part_sizes) > 1 or bool((self.scales > 1).any())
        told = [_told(self.unit)(values[:n]) for values in (self.ratings, self.lower, self.upper)]
        counts = [
            [f"{value:g}" for value in values[:n].tolist()]
            for values in (self.n_games, self.wins, self.ties, self.losses)
        ]
        scales = [[str(scale or "–") for scale in self.scales[:n].tolist()]] if has_scales else []
        names = [_short(_input.plain_text(item)) for item in self.items[:n]]
        columns = [names, *scales, self.rank_ranges()[:n], *told, *counts]
        header = [
            "item",
            *(["scale"] if has_scales else []),
            "rank",
            "rating",
            "low",
            "high",
            "games",
            "won",
            "tied",
            "lost",
        ]
        return header, [list(line) for line in zip(*columns)]

    def _remarks(self) -> list[str]:
        n_more = len(self) - _LINES
        remarks = [f"… and {n_more} more"] if n_more > 0 else []
        # What online systems add for a side is points, whatever ratings are told in.
        unit = self.unit if self.system == "davidson" else "elo"
        word = "points" if unit == "elo" else "in logarithms of odds"
        for name, effect in self.effects.items():
            value, low, high = (
                _told(unit)(np.array([number]))[0] for number in (effect.value, effect.lower, effect.upper)
            )
            if np.isnan(effect.value):
                remarks.append(f"{name}: the games cannot tell")
            else:
                remarks.append(f"{name}: {value} {word}" + ("" if np.isnan(effect.lower) else f" ({low} to {high})"))
        return remarks

    def __repr__(self) -> str:
        header, lines = self._table()
        widths = [max(map(len, column)) for column in zip(header, *lines)]

        def line(cells: list[str]) -> str:
            padded = [
                cells[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:])),
            ]
            return "  ".join(padded).rstrip()

        return "\n".join([line(header), *map(line, lines), *self._remarks()])

    def _repr_html_(self) -> str:
        header, lines = self._table()

        def row(cells: list[str], tag: str) -> str:
            align = ["left"] + ["right"] * (len(cells) - 1)
            made = (
                f'<{tag} style="text-align: {side}">{html.escape(cell)}</{tag}>' for side, cell in zip(align, cells)
            )
            return f"<tr>{''.join(made)}</tr>"

        body = "".join(row(cells, "td") for cells in lines)
        remarks = "".join(f"<p>{html.escape(text)}</p>" for text in self._remarks())
        return f"<table><thead>{row(header, 'th')}</thead><tbody>{body}</tbody></table>{remarks}"


def _real(value: float | None) -> float:
    return np.nan if value is None else value


def _known(values: NDArray[np.float64]) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]


def _told(unit: str) -> Any:
    """Numbers for people to read: points need no decimals, logarithms do."""
    digits = 0 if unit == "elo" else 3

    def words(values: NDArray[np.float64]) -> list[str]:
        # + 0: nothing is −0
        rounded = (round(value, digits) + 0.0 for value in values.tolist())
        return ["–" if value != value else f"{value:.{digits}f}".replace("-", "−") for value in rounded]

    return words


def _short(name: str) -> str:
    """A name without what would break its line, cut where it would make it too long."""
    name = "".join(c for c in name if c.isprintable())
    return name if len(name) <= _LONGEST else name[:_LONGEST] + "…"
