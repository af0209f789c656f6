"""Models from files, whoever wrote them."""

from __future__ import annotations

import os

from . import _core
from ._base import Machine, Path
from ._comparers import CompareLP, CompareRank, CompareSVM, Davidson
from ._labels import SVC, SVR, OrdinalSVM
from ._rankers import OneNormRankSVM, OnlineRankSVM, RankingVectorMachine, RankSVM, Ridge, SwapSVM
from .exceptions import MismatchError

_ALL: tuple[type[Machine], ...] = (
    RankSVM, SwapSVM, Ridge, RankingVectorMachine, OneNormRankSVM, OnlineRankSVM, OrdinalSVM, SVC, SVR, CompareSVM,
    CompareRank, CompareLP, Davidson,
)  # fmt: skip


def load(path: Path) -> Machine:
    """A fitted estimator from a model file, such as one of ``rankwise train``."""
    model = _core.Model.load(os.fspath(path))
    for kind in _ALL:
        if kind._can_hold(model):
            return kind._of_model(model, os.fspath(path))
    raise MismatchError(f"{os.fspath(path)} holds a model of method {model.method}, which has no estimator here")
