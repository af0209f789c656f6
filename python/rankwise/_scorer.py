"""Scorers of scikit-learn that notice when groups get lost on the way to them."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import make_scorer

from ._callers import warn
from ._rankers import scored_without


class RankScorer(type(make_scorer(max))):  # type: ignore[misc]
    """A scorer of ranked items."""

    def _score(self, method_caller: Any, estimator: Any, *args: Any, **given: Any) -> Any:
        if given.get("qid") is None and _has_groups(estimator):
            warn(scored_without(type(estimator).__name__))
        return super()._score(method_caller, estimator, *args, **given)


def _has_groups(estimator: Any) -> bool:
    """Whether a fitted estimator, or the last one inside of it, has learnt from groups."""
    while not hasattr(estimator, "_has_groups"):
        steps = getattr(estimator, "steps", None)
        inside = (
            steps[-1][1] if steps else getattr(estimator, "best_estimator_", getattr(estimator, "estimator_", None))
        )
        if inside is None:
            return False
        estimator = inside
    return bool(estimator._has_groups)


def rank_scorer(score: Any, **how: Any) -> Any:
    """What ``sklearn.metrics.make_scorer`` makes, and warns."""
    scorer = make_scorer(score, **how)
    scorer.__class__ = RankScorer
    return scorer
