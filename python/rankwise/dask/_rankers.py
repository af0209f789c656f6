"""Rankers on a cluster."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from .. import _core, _rankers
from ._cluster import Cluster, OnCluster
from ._groups import together
from ._lazy import as_one, lazily
from ._partitions import (
    aligned,
    client_of,
    columns_of,
    is_dask_array,
    is_spread,
    partitions,
    same_number,
)
from ._parts import Rows, in_partition, register, state_of_items


class RankSVM(OnCluster, _rankers.RankSVM):
    """:class:`rankwise.RankSVM` (linear) on a Dask cluster.

    Parameters
    ----------
    C, loss, balance, scale, tol, max_iter, time_limit, seed, warm_start, verbose
        As for :class:`rankwise.RankSVM`.
    split_groups : {'move', 'refuse'}, default='move'
        What to do where partitions split groups: bring the rows of a group together in the first partition that has some, or
        raise a ValueError. Either way no pair is lost.
    client : distributed.Client, optional
        The cluster; by default the one that was made last.

    Attributes
    ----------
    rounds_ : int
        How many times all parts were asked.
    coef_, n_iter_, gap_, objective_, report_
        As for :class:`rankwise.RankSVM`.
    """

    _own_params = _rankers.RankSVM._own_params | {"split_groups", "client"}

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared-hinge",
        balance: str = "none",
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        threads: int = 0,
        seed: int = 0,
        warm_start: bool = False,
        verbose: bool = False,
        split_groups: str = "move",
        client: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.balance = balance
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start
        self.verbose = verbose
        self.split_groups = split_groups
        self.client = client

    def fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None, group_weight: Any = None) -> RankSVM:
        """Learns from items with labels.

        Parameters
        ----------
        X : Dask array, Dask data frame, or list of delayed partitions
            Features, an item a row. Of a data frame, ``y``, ``qid`` and the weights may be names of columns, which are then
            no features.
        y, qid, sample_weight, group_weight : the same kinds, cut alike
            As for :meth:`rankwise.RankSVM.fit`.
        """
        if self.split_groups not in ("move", "refuse"):
            raise ValueError(f"split_groups = {self.split_groups!r} is not possible: expected 'move' or 'refuse'")
        params = self._params()
        _core.check_spread(self._method, params)
        client = client_of(self.client)
        held, names = _held_items(client, X, y, qid, sample_weight, group_weight)
        if qid is None and len(held) > 1:
            raise ValueError(
                f"without qid all items are one group, which {len(held)} partitions would split: give qid, or make one partition "
                "(X.rechunk(-1), frame.repartition(npartitions=1))"
            )
        rows = together(client, held, self.split_groups) if qid is not None else list(held)
        held.clear()
        with Cluster(client) as cluster, self._progress() as tell:
            cluster.place(rows, state_of_items, params)
            rows.clear()  # parts keep what they need of them
            model = _core.fit_spread(
                self._method, params, cluster.ask, names, False, self._start(), self._threads(), tell
            )
            self._end(tell, model)
        self.rounds_ = cluster.rounds
        self._has_groups = qid is not None
        return self._adopt(model, names)

    def predict(self, X: Any) -> Any:
        """Scores: lazy and partition by partition for what Dask has, an array for an array."""
        return lazily(self, "predict", X, np.float64) if is_spread(X) else super().predict(X)

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """The share of pairs that are in order, over all pairs of items in one group with different labels."""
        if not is_spread(X):
            return super().score(X, y, qid, sample_weight)
        X, y, qid, sample_weight = columns_of(X, y, qid, sample_weight)
        scores, y, qid, sample_weight = client_of(self.client).compute(
            [as_one(values) for values in (self.predict(X), y, qid, sample_weight)], sync=True
        )
        return self._pair_accuracy(scores, y, qid, sample_weight)


def _held_items(
    client: Any, X: Any, y: Any, qid: Any, sample_weight: Any, group_weight: Any
) -> tuple[list[Any], Optional[list[str]]]:
    """The partitions as rows on the workers, and the names of features."""
    import dask

    if y is None:
        raise ValueError("y is None: labels are needed")
    X, y, qid, sample_weight, group_weight = columns_of(X, y, qid, sample_weight, group_weight)
    chunks = X.chunks[0] if is_dask_array(X) else None
    parts = partitions(X, "X")
    given = {"y": y, "qid": qid, "sample_weight": sample_weight, "group_weight": group_weight}
    others = {name: partitions(values, name, chunks) for name, values in given.items()}
    count = same_number(X=parts, **others)
    assert parts is not None
    rows = [
        dask.delayed(_rows, pure=False)(
            number, parts[number], **{name: values[number] for name, values in others.items() if values is not None}
        )
        for number in range(count)
    ]
    return aligned(client, client.compute(rows), "X")


def _rows(number: int, X: Any, **others: Any) -> Rows:
    """One partition, checked."""
    register()
    with in_partition(number):
        n = X.shape[0]
        for name, values in others.items():
            if len(values) != n:
                raise ValueError(f"{name} has {len(values)} rows for {n} of X")
        return Rows(X, **others, partition=number)


def evaluate(
    ranker: Any, X: Any, y: Any, qid: Any = None, *, metric: str | Sequence[str] = "ndcg@10", sample_weight: Any = None
) -> dict[str, float]:
    """Metrics of a fitted ranker on data of a cluster.

    Items are scored where they are; labels, scores and groups, a few bytes each, are brought together, so that every metric
    is exact wherever partitions are cut.

    Parameters
    ----------
    ranker : estimator
        Of this module or of rankwise itself.
    X, y, qid, sample_weight
        As for :meth:`RankSVM.fit`.
    metric : str or list of str
        Names that :func:`rankwise.metrics.item_metric` knows.
    """
    from ..metrics import item_metric

    names = [metric] if isinstance(metric, str) else list(metric)
    if not is_spread(X):
        scores = ranker.predict(X)
        return {name: item_metric(name, y, scores, qid, sample_weight=sample_weight) for name in names}
    X, y, qid, sample_weight = columns_of(X, y, qid, sample_weight)
    given = [as_one(values) for values in (lazily(ranker, "predict", X, np.float64), y, qid, sample_weight)]
    scores, labels, groups, weights = client_of(getattr(ranker, "client", None)).compute(given, sync=True)
    return {name: item_metric(name, labels, scores, groups, sample_weight=weights) for name in names}
