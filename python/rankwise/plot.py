"""Pictures with matplotlib (``pip install rankwise[plot]``). Every function takes ``ax`` and returns the Axes it drew on.

What colour tells, something else tells too: dashes, markers, places. Colours can be told apart with any eyes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _input, _outcomes
from ._plot_style import _COLOURS, _CURVE, _FAINT, _INK, _MAIN, _MOST_CURVES, _NAMES, _axes, _tidy
from .metrics import _judged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._leaderboard import Leaderboard

__all__ = ["calibration", "leaderboard", "level_curves", "margins", "roc"]


def level_curves(
    estimator: Any,
    *,
    items: Any = None,
    pairs: Any = None,
    outcomes: Any = None,
    features: tuple[int, int] = (0, 1),
    limits: tuple[float, float, float, float] | None = None,
    resolution: int = 200,
    levels: int | Sequence[float] | None = None,
    ax: Any = None,
) -> Any:
    """Curves of equal score of a fitted estimator of two features.

    The curves of a comparer are its threshold apart, so that the scores of items between neighbours differ by no more than that:
    they are ties.

    Parameters
    ----------
    estimator : fitted estimator
        With ``score_items`` (comparers), ``predict`` or ``decision_function``. Features beyond the two that are drawn are
        held at their means over `items` or `pairs`, or at 0.
    items : array-like of shape (n_items, n_features), optional
        Items to draw.
    pairs : array-like of shape (n_pairs, 2, n_features), optional
        Pairs to draw, as segments from left to right.
    outcomes : array-like of shape (n_pairs,), optional
        -1, 0, 1 or words: how the pairs were judged.
    features : (int, int), default=(0, 1)
        The features along both axes.
    limits : (x0, x1, y0, y1), optional
        What is shown; by default where the items and pairs are, or from -3 to 3.
    resolution : int, default=200
        Points along each axis at which scores are computed.
    levels : int or sequence of float, optional
        How many curves about, or at which scores; by default the threshold apart for comparers, as long as that makes at most 50.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = _axes(ax, (5.4, 4.6))
    points = None if items is None else _rows(items, "items")
    sides = None if pairs is None else np.asarray(pairs, dtype=np.float64)
    if sides is not None and (sides.ndim != 3 or sides.shape[1] != 2):
        raise ValueError(
            f"pairs has shape {sides.shape}: two items with features each are needed, (n_pairs, 2, n_features)"
        )
    known = [
        rows for rows in (points, None if sides is None else sides.reshape(-1, sides.shape[2])) if rows is not None
    ]
    seen = np.concatenate(known) if known else None
    x, y = features
    if limits is None:
        limits = _limits(None if seen is None else seen[:, [x, y]])
    x0, x1, y0, y1 = limits
    if not (bool(np.isfinite(limits).all()) and x0 < x1 and y0 < y1):
        raise ValueError(f"limits = {limits!r} is not possible: expected (x0, x1, y0, y1) with x0 < x1 and y0 < y1")
    if resolution < 2:
        raise ValueError(f"resolution = {resolution} is not possible: expected at least 2 points")
    n_features = int(getattr(estimator, "n_features_in_", 0)) or (2 if seen is None else seen.shape[1])
    n_features = max(n_features, x + 1, y + 1)
    at_x, at_y = np.linspace(x0, x1, resolution), np.linspace(y0, y1, resolution)
    grid = np.zeros((resolution * resolution, n_features))
    if seen is not None:
        grid[:] = seen.mean(axis=0)
    grid[:, x], grid[:, y] = (values.ravel() for values in np.meshgrid(at_x, at_y))
    scores, threshold = _scores(estimator, grid)
    heights = scores.reshape(resolution, resolution)
    at = _levels(heights, threshold, levels)
    if len(at):
        width = 1.0 if len(at) <= 20 else 0.7
        curves = ax.contour(at_x, at_y, heights, levels=at, colors=_CURVE, linewidths=width, linestyles="solid")
        texts = ax.clabel(
            curves,
            curves.levels[:: 1 + (len(at) - 1) // 6],
            fmt="%.3g",
            fontsize=8,
            colors="#5A5A5A",
            zorder=1,
        )
        for text in texts or ():
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.8})
    if sides is not None:
        _segments(ax, sides[:, :, [x, y]], outcomes)
    if points is not None:
        ax.scatter(points[:, x], points[:, y], s=14, facecolor="white", edgecolor=_INK, linewidth=0.8, zorder=3)
    ax.set_xlim(x0, x1)
    ax.set_ylim(y0, y1)
    names = _feature_names(estimator, items)
    ax.set_xlabel(names.get(x, f"feature {x}"))
    ax.set_ylabel(names.get(y, f"feature {y}"))
    if levels is None and threshold is not None and len(at) > 1:
        step = at[1] - at[0]
        if np.isclose(step, threshold):
            ax.set_title(
                f"Items between neighbouring curves are ties (threshold {threshold:.3g})",
                fontsize=9.5,
                loc="left",
            )
    _tidy(ax)
    return ax


def _rows(X: Any, name: str) -> NDArray[np.float64]:
    return np.asarray(_input.items(X, name).to_dense())


def _feature_names(estimator: Any, items: Any) -> dict[int, str]:
    names = getattr(estimator, "feature_names_in_", None)
    if names is None and _input.is_table(items):
        names = _input.column_names(items)
    return dict(enumerate(map(str, names))) if names is not None else {}


def _limits(points: NDArray[np.float64] | None) -> tuple[float, float, float, float]:
    if points is None or len(points) == 0:
        return (-3.0, 3.0, -3.0, 3.0)
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.where(high > low, 0.06 * (high - low), 1.0)
    return (
        float(low[0] - room[0]),
        float(high[0] + room[0]),
        float(low[1] - room[1]),
        float(high[1] + room[1]),
    )


def _scores(estimator: Any, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], float | None]:
    """Scores, and the threshold of comparers."""
    for method in ("score_items", "decision_function", "predict"):
        if hasattr(estimator, method):
            scores = np.asarray(getattr(estimator, method)(X))
            if scores.ndim != 1 or scores.dtype.kind not in "fiub":
                continue  # several classes, or words
            threshold = getattr(estimator, "threshold_", None) if method == "score_items" else None
            return scores.astype(np.float64), None if threshold is None else float(threshold)
    raise TypeError(
        f"{type(estimator).__name__} has no scores: a fitted estimator with score_items, decision_function or predict is needed"
    )


def _levels(heights: NDArray[np.float64], threshold: float | None, levels: Any) -> NDArray[np.float64]:
    low, high = float(heights.min()), float(heights.max())
    if levels is not None and not isinstance(levels, (int, np.integer)):
        return np.unique(np.asarray(levels, dtype=np.float64))
    if not high > low:
        return np.array([])
    if levels is None and threshold is not None and threshold > 0 and (high - low) / threshold <= _MOST_CURVES:
        first, last = np.ceil(low / threshold), np.floor(high / threshold)
        if last > first:
            return threshold * np.arange(first, last + 1)
    from matplotlib.ticker import MaxNLocator

    nbins = 12 if levels is None else int(levels)
    ticks: NDArray[np.float64] = np.asarray(MaxNLocator(nbins=nbins).tick_values(low, high), dtype=np.float64)
    return ticks[(ticks > low) & (ticks < high)]


def _segments(ax: Any, sides: NDArray[np.float64], outcomes: Any) -> None:
    """A line from left to right; a dot at the better end."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    signs = None if outcomes is None else _outcomes.outcomes(outcomes, len(sides), "outcomes")
    if signs is None:
        ax.add_collection(LineCollection(list(sides), colors=_MAIN, linewidths=1.1, zorder=2))
        return
    handles = {}
    markers = {-1: "o", 0: "", 1: "s"}
    alpha = float(np.clip(60 / max(len(sides), 1), 0.25, 1.0))  # many lines must not hide the curves
    for sign in (0, -1, 1):
        of = sides[signs == sign]
        if len(of) == 0:
            continue
        colour, dashes = _COLOURS[sign], (0, (2, 1.5)) if sign == 0 else "solid"
        name = _NAMES[sign]
        lines = LineCollection(
            list(of), colors=colour, linewidths=1.2, linestyles=[dashes], label=name, alpha=alpha, zorder=2
        )
        ax.add_collection(lines)
        if sign != 0:
            end = of[:, 0] if sign == -1 else of[:, 1]
            ax.scatter(end[:, 0], end[:, 1], s=13, color=colour, marker=markers[sign], zorder=3)
        style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.2}
        handles[sign] = Line2D([], [], label=name, marker=markers[sign], markersize=3.6, **style)
    made = [handles[sign] for sign in (-1, 0, 1) if sign in handles]
    ax.legend(handles=made, frameon=False, fontsize=9, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.13))


def roc(
    y: Any,
    margins: Any,
    *,
    excess: Any = None,
    sample_weight: Any = None,
    label: str | None = None,
    ax: Any = None,
    **line: Any,
) -> Any:
    """The ROC curve of comparisons, when the threshold moves from ∞ to 0.

    False positives are ties that are not predicted as ties, true positives are the other pairs whose predicted outcome is right. The
    curve ends at (1, share of right signs): that is the largest area there can be.

    Parameters
    ----------
    y : array-like of shape (n_pairs,)
        -1, 0, 1 or words: how the pairs were judged.
    margins : array-like of shape (n_pairs,)
        score(right) - score(left), as ``margins`` of a comparer gives them.
    excess : array-like of shape (n_pairs,), optional
        Where every pair has a threshold of its own: how far it is beyond that,
        ``np.abs(margins) - comparer.thresholds(pairs, context)``. The curve is drawn by this and not by the size of margins.
    sample_weight : array-like, optional
        How much each pair counts.
    label : str, optional
        What the curve is called in the legend, where the area stands too.
    ax : matplotlib.axes.Axes, optional
        Where to draw; several curves may share one.
    **line
        Passed on to ``Axes.plot``: color, linestyle ...

    Returns
    -------
    matplotlib.axes.Axes
    """
    pairs = _judged(y, _input.reals(margins, None, "margins"), sample_weight, excess)
    curve = pairs.roc()
    if curve is None:
        raise ValueError("y: an ROC curve needs ties and pairs that are none")
    _, false_positives, true_positives = curve
    area = pairs.metric("auc")
    ax = _axes(ax, (4.6, 4.4))
    n_before = len(ax.get_lines())
    styles = ["solid", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (5, 1.5, 1.5, 1.5))]
    colours = [_MAIN, "#D55E00", "#009E73", "#CC79A7"]
    line = {"color": colours[n_before % 4], "linestyle": styles[n_before % 4], "linewidth": 1.8, **line}
    text = f"AUC {area:.3f}" if label is None else f"{label} (AUC {area:.3f})"
    ax.plot(false_positives, true_positives, label=text, clip_on=False, zorder=3, **line)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.set_xlabel("false positives: ties judged different")
    ax.set_ylabel("true positives: other pairs judged correctly")
    ax.legend(frameon=False, fontsize=9, loc="lower right")
    _tidy(ax)
    return ax


def margins(
    y: Any,
    margins: Any,
    threshold: float | Sequence[float] | NDArray[np.float64] = 0.0,
    *,
    bins: int | Sequence[float] | None = None,
    ax: Any = None,
) -> Any:
    """How margins are spread, by outcome, with the threshold on both sides.

    Parameters
    ----------
    y : array-like of shape (n_pairs,)
        -1, 0, 1 or words: how the pairs were judged.
    margins : array-like of shape (n_pairs,)
        score(right) - score(left).
    threshold : float or array-like of shape (n_pairs,), default=0
        Margins between -threshold and threshold are predicted as ties. Where each pair has a threshold of its own, as
        ``comparer.thresholds(pairs, context)`` gives them, margins are drawn in units of it: ties are between -1 and 1.
    bins : int or sequence of float, optional
        Bins of the histogram, the same for all outcomes; by default 10 to 40 of them, the more the more pairs there are.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
    """
    values = _input.reals(margins, None, "margins")
    signs = _outcomes.outcomes(y, len(values), "y")
    if len(values) == 0:
        raise ValueError("margins has no rows: at least one pair is needed")
    has_band = np.ndim(threshold) > 0
    values, width = _in_units(values, threshold) if has_band else (values, float(np.asarray(threshold)))
    if not width >= 0:
        raise ValueError(f"threshold = {threshold} is not possible: expected a number of at least 0")
    ax = _axes(ax, (5.8, 3.6))
    if bins is None:
        bins = int(np.clip(np.sqrt(len(values)), 10, 40))
    edges = np.histogram_bin_edges(values, bins=bins)
    dashes = {-1: "solid", 0: (0, (4, 1.5)), 1: "solid"}
    for sign in (-1, 0, 1):
        of = values[signs == sign]
        if len(of) == 0:
            continue
        heights, _ = np.histogram(of, edges)
        colour = _COLOURS[sign]
        name = f"{_NAMES[sign]} ({len(of):,})"
        ax.stairs(heights, edges, fill=True, color=colour, alpha=0.22, linewidth=0)
        ax.stairs(heights, edges, color=colour, linewidth=1.5, linestyle=dashes[sign], label=name)
    if width > 0:
        for at in (-width, width):
            ax.axvline(at, color=_INK, linewidth=0.9, linestyle=(0, (1, 2)))
        ax.annotate(
            f"±{width:.3g}", (width, 1), xycoords=("data", "axes fraction"), xytext=(4, -2),
            textcoords="offset points", va="top", fontsize=9, color=_INK,
        )  # fmt: skip
    else:
        ax.axvline(0, color=_INK, linewidth=0.9, linestyle=(0, (1, 2)))
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(bottom=0)
    ax.set_xlabel(f"margin: score(right) − score(left){', in thresholds of the pairs' if has_band else ''}")
    ax.set_ylabel("pairs")
    ax.legend(frameon=False, fontsize=9, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), borderaxespad=0.2)
    _tidy(ax)
    return ax


def _in_units(margins: NDArray[np.float64], thresholds: Any) -> tuple[NDArray[np.float64], float]:
    """Margins in units of the thresholds that their pairs have. Where that is 0, no margin but 0 is a tie: they are put far out."""
    widths = _input.reals(thresholds, len(margins), "threshold")
    wrong = np.flatnonzero(widths < 0)
    if wrong.size:
        raise ValueError(f"threshold has {widths[wrong[0]]} in row {wrong[0]}: numbers of at least 0 are needed")
    if not widths.any():
        return margins, 0.0
    values = np.divide(margins, widths, out=np.zeros_like(margins), where=widths > 0)
    has_none = (widths == 0) & (margins != 0)
    values[has_none] = np.sign(margins[has_none]) * max(2.0, float(np.abs(values).max()))
    return values, 1.0


def leaderboard(board: Leaderboard, *, top: int | None = 25, ax: Any = None) -> Any:
    """Ratings with their intervals, best on top, and the ranks that these allow at the side.

    Parameters
    ----------
    board : Leaderboard
        What :func:`rankwise.rate` returned.
    top : int, optional, default=25
        How many items; None means all. Items without a rating are left out.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
    """
    from ._leaderboard import _short

    rated = np.flatnonzero(~np.isnan(board.ratings))
    if len(rated) == 0:
        raise ValueError("board: no item has a finite rating; rate(..., C=1) gives all of them one")
    # Ratings on different scales have nothing to do with each other: one picture is about one of them.
    on_scale = rated[board.scales[rated] == board.scales[rated[0]]]
    if top is not None and top < 1:
        raise ValueError(f"top = {top} is not possible: expected at least 1, or None for all")
    shown = on_scale[: len(on_scale) if top is None else top]
    n = len(shown)
    ax = _axes(ax, (6.4, 1.1 + 0.27 * n))
    at = np.arange(n)
    ratings, low, high = board.ratings[shown], board.lower[shown], board.upper[shown]
    has_ends = ~np.isnan(low) & ~np.isnan(high)
    ax.hlines(at[has_ends], low[has_ends], high[has_ends], color=_MAIN, linewidth=2.4, alpha=0.45, zorder=2)
    ax.plot(ratings, at, "o", color=_MAIN, markersize=5.5, markeredgecolor="white", markeredgewidth=0.8, zorder=3)
    ax.set_yticks(at, [_short(_input.plain_text(board.items[k])) for k in shown])
    ax.set_ylim(n - 0.4, -0.6)
    ranges = board.rank_ranges()
    for row, k in zip(at, shown):
        ax.annotate(
            ranges[k], (1, row), xycoords=("axes fraction", "data"), xytext=(8, 0), textcoords="offset points",
            va="center", fontsize=9, color=_INK, annotation_clip=False,
        )  # fmt: skip
    ax.annotate(
        "rank",
        (1, 1),
        xycoords="axes fraction",
        xytext=(8, 3),
        textcoords="offset points",
        fontsize=9,
        color=_INK,
    )
    ax.set_axisbelow(True)
    ax.grid(axis="x", color="#E6E6E6", linewidth=0.8)
    unit = "400 points are odds of 10 : 1" if board.unit == "elo" else "in the system's own unit"
    ends = f", {100 * board.level:g} % intervals" if board.level is not None and has_ends.any() else ""
    ax.set_xlabel(f"rating ({unit}){ends}")
    if n < len(board):
        ax.annotate(
            f"{n} of {len(board)} items", (0, 1), xycoords="axes fraction", xytext=(0, 3), textcoords="offset points",
            fontsize=9, color=_INK,
        )  # fmt: skip
    _tidy(ax)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def calibration(y: Any, probabilities: Any, *, n_bins: int = 10, ax: Any = None) -> Any:
    """Whether probabilities mean what they say: predicted ones beside the shares that came true, with 95 % intervals.

    Parameters
    ----------
    y : array-like of shape (n_pairs,)
        -1, 0, 1 or words: how the pairs were judged.
    probabilities : array-like of shape (n_pairs, 3)
        Of left, tie and right, as ``predict_proba`` of a comparer gives them.
    n_bins : int, default=10
        Bins of about equal weight.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
    """
    chances = np.require(probabilities, np.float64, ["C", "A"])
    if chances.ndim != 2 or chances.shape[1] != 3:
        raise ValueError(
            f"probabilities has shape {chances.shape}: those of left, tie and right are needed, (n_pairs, 3)"
        )
    if not (np.isfinite(chances).all() and (chances >= 0).all() and (chances <= 1).all()):
        raise ValueError("probabilities has numbers that are none: expected numbers from 0 to 1")
    if len(chances) == 0:
        raise ValueError("probabilities has no rows: at least one pair is needed")
    if n_bins < 1:
        raise ValueError(f"n_bins = {n_bins} is not possible: expected at least 1")
    signs = _outcomes.outcomes(y, len(chances), "y")
    ax = _axes(ax, (4.6, 4.4))
    ax.plot([0, 1], [0, 1], color=_FAINT, linewidth=1, zorder=1)
    for of_ties, name, colour, marker, style in (
        (False, "left and right", _MAIN, "o", "solid"),
        (True, "ties", "#D55E00", "s", (0, (4, 1.5))),
    ):
        found = _core.reliability(signs, chances.ravel(), of_ties, n_bins)
        if found is None:
            continue
        bins, error = np.array(found[0]), found[1]
        predicted, observed, low, high = bins[:, :4].T
        ax.vlines(predicted, low, high, color=colour, linewidth=1.2, alpha=0.5, zorder=2)
        ax.plot(
            predicted, observed, color=colour, marker=marker, markersize=4.5, linewidth=1.3, linestyle=style,
            label=f"{name} (error {error:.3f})", zorder=3,
        )  # fmt: skip
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("share that came true")
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    _tidy(ax)
    return ax
