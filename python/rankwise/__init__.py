"""Learn to **rank** and to **compare** with support vector machines. Ties are data.

Rankers take items with labels in groups, comparers take pairs that were judged left better (-1), no difference (0) or right
better (1)::

    from rankwise import CompareSVM, RankSVM

    ranker = RankSVM(C=0.1).fit(X, y, qid=qid)
    scores = ranker.predict(X_new)

    comparer = CompareSVM(kernel="rbf").fit(pairs, outcomes)  # pairs: (n, 2, features)
    comparer.predict(pairs_new)  # -1, 0, 1

Everything is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._core import __version__

if TYPE_CHECKING:
    from . import dask, datasets, exceptions, metrics, plot
    from ._comparers import CompareLP, CompareRank, CompareSVM, Davidson
    from ._labels import SVC, SVR, OrdinalSVM
    from ._load import load
    from ._rankers import OneNormRankSVM, OnlineRankSVM, RankingVectorMachine, RankSVM, Ridge, SwapSVM
    from ._rate import rate
    from ._tune import tune

#: Where each public name lives.
_HOMES = {
    "CompareLP": "_comparers",
    "CompareRank": "_comparers",
    "CompareSVM": "_comparers",
    "Davidson": "_comparers",
    "OneNormRankSVM": "_rankers",
    "OnlineRankSVM": "_rankers",
    "OrdinalSVM": "_labels",
    "RankSVM": "_rankers",
    "RankingVectorMachine": "_rankers",
    "Ridge": "_rankers",
    "SVC": "_labels",
    "SVR": "_labels",
    "SwapSVM": "_rankers",
    "load": "_load",
    "rate": "_rate",
    "tune": "_tune",
}
_MODULES = ("dask", "datasets", "exceptions", "metrics", "plot")

__all__ = [
    "SVC",
    "SVR",
    "CompareLP",
    "CompareRank",
    "CompareSVM",
    "Davidson",
    "OneNormRankSVM",
    "OnlineRankSVM",
    "OrdinalSVM",
    "RankSVM",
    "RankingVectorMachine",
    "Ridge",
    "SwapSVM",
    "__version__",
    "dask",
    "datasets",
    "exceptions",
    "load",
    "metrics",
    "plot",
    "rate",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found = importlib.import_module(f".{name}", __name__)
    elif name in _HOMES:
        found = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
