"""What all pictures have in common: colours, and only the lines that are read."""

from __future__ import annotations

from typing import Any

#: Left, tie, right: blue, nearly black and vermilion (Okabe and Ito).
_COLOURS = {-1: "#0072B2", 0: "#333333", 1: "#D55E00"}
_NAMES = {-1: "left better", 0: "tie", 1: "right better"}
_INK = "#333333"
_FAINT = "#BBBBBB"
#: Curves of equal score are the ground that items and pairs stand on.
_CURVE = "#9C9C9C"
#: More curves than this would be a surface.
_MOST_CURVES = 50
_MAIN = "#0072B2"


def _axes(ax: Any, figsize: tuple[float, float] = (5.6, 4.2)) -> Any:
    """The given axes, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install rankwise[plot]") from None
    if ax is None:
        _, ax = plt.subplots(figsize=figsize, layout="constrained")
    return ax


def _tidy(ax: Any) -> None:
    """Only the lines that are read."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(_FAINT)
    ax.tick_params(color=_FAINT, labelcolor=_INK)
    for label in (ax.xaxis.label, ax.yaxis.label, ax.title):
        label.set_color(_INK)
