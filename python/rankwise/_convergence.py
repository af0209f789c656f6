"""The warning that people of scikit-learn know how to catch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .exceptions import RankwiseWarning

if TYPE_CHECKING:
    _Known = UserWarning
else:
    try:
        from sklearn.exceptions import ConvergenceWarning as _Known
    except ImportError:
        _Known = UserWarning


class ConvergenceWarning(RankwiseWarning, _Known):
    """Training ended before the tolerance was met."""
