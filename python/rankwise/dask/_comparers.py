"""Comparers on a cluster."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from .. import _comparer, _comparers, _core, _input
from .._base import only_if
from .._outcomes import found_in, read, warn_without_left
from ._cluster import Cluster, OnCluster
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
from ._parts import JudgedRows, in_partition, register, state_of_pairs


class _Comparer(OnCluster, _comparer.Comparer):
    """What comparers on a cluster share."""

    client: Any
    rounds_: int

    def fit(self: Any, pairs: Any, y: Any, sample_weight: Any = None, context: Any = None, groups: Any = None) -> Any:
        """Learns from judged pairs.

        Parameters
        ----------
        pairs : Dask array of shape (n_pairs, 2, n_features), Dask data frame, or list of delayed partitions of these
            Or of shape (n_pairs, 2): item numbers with ``preprocessor=X``, or names of items without features. A data frame has
            two columns (numbers or names of items), or columns ``left.NAME`` and ``right.NAME`` for every feature.
        y, sample_weight : the same kinds, cut alike
            -1 left is better, 0 no difference, 1 right is better. Of a data frame, names of its columns.
        context, groups : None
            Of one machine alone: what they are for (``tie_band='pair'``, held-out pairs) is not there on a cluster.
        """
        if context is not None or groups is not None:
            raise ValueError("context and groups are not used on a cluster: leave them out")
        import dask

        _comparer._check_unknown(self.unknown)
        params = self._params()
        _core.check_spread(self._method, params)
        client = client_of(self.client)
        if y is None:
            raise ValueError("y is None: outcomes are needed, -1 (left), 0 (no difference) or 1 (right)")
        pairs, y, sample_weight = columns_of(pairs, y, sample_weight)
        chunks = pairs.chunks[0] if is_dask_array(pairs) else None
        parts = partitions(pairs, "pairs")
        judged, weights = partitions(y, "y", chunks), partitions(sample_weight, "sample_weight", chunks)
        count = same_number(pairs=parts, y=judged, sample_weight=weights)
        assert parts is not None and judged is not None
        preprocessor = self.preprocessor
        if preprocessor is not None and not callable(preprocessor):
            if not hasattr(preprocessor, "shape"):
                preprocessor = _input.array_of(preprocessor, "preprocessor")
            preprocessor = client.scatter(preprocessor, hash=False)
        rows = [
            dask.delayed(_judged_rows, pure=False)(
                number, parts[number], judged[number], None if weights is None else weights[number], preprocessor
            )
            for number in range(count)
        ]
        held, names = aligned(client, client.compute(rows), "pairs")
        kinds, seen = zip(*client.gather(client.map(_kind, held, pure=False)))
        warn_without_left(set().union(*seen), "y")
        if len(set(kinds)) > 1:
            raise ValueError(f"pairs are not of one kind in all partitions: {', '.join(sorted(set(kinds)))}")
        known: Optional[list[str]] = None
        if kinds[0] == "names":
            known = sorted(set().union(*client.gather(client.map(_names_in, held, pure=False))))
        elif self.preprocessor is not None and _input.is_table(self.preprocessor):
            names = _input.column_names(self.preprocessor)
        with Cluster(client) as cluster, self._progress() as tell:
            cluster.place(held, state_of_pairs, known)
            held.clear()
            model = _core.fit_spread(
                self._method, params, cluster.ask, known or names, known is not None, None, self._threads(), tell
            )
            self._end(tell, model)
        self.rounds_ = cluster.rounds
        self.classes_ = np.array([-1, 0, 1])
        return self._adopt(model, known or names)

    def _read(self, pairs: Any, context: Any, fitting: bool = False) -> tuple[_core.Pairs, Optional[list[str]]]:
        if not hasattr(pairs, "columns"):
            return super()._read(pairs, context, fitting)
        names = _side_names(list(pairs.columns))
        known = [] if names is None else list(getattr(self, "feature_names_in_", []))
        if names is not None and sorted(names) == sorted(known):
            names = known  # the order of the fit, whatever that of the columns
        read, found = super()._read(_sides(pairs, names), context, fitting)
        return read, found if names is None else names

    def predict(self, pairs: Any, context: Any = None) -> Any:
        """Outcomes: lazy and partition by partition for what Dask has, an array for an array."""
        return (
            lazily(self, "predict", pairs, np.float64 if self.unknown == "nan" else np.int8)
            if is_spread(pairs)
            else super().predict(pairs, context)
        )

    def margins(self, pairs: Any, context: Any = None) -> Any:
        """Margins: lazy and partition by partition for what Dask has, an array for an array."""
        return lazily(self, "margins", pairs, np.float64) if is_spread(pairs) else super().margins(pairs, context)

    def decision_function(self, pairs: Any, context: Any = None) -> Any:
        """Columns of left, no difference and right: lazy and partition by partition for what Dask has."""
        if is_spread(pairs):
            return lazily(self, "decision_function", pairs, np.float64, width=3)
        return super().decision_function(pairs, context)

    @only_if(lambda comparer: comparer._why_no_chances())
    def predict_proba(self, pairs: Any, context: Any = None) -> Any:
        """Probabilities of left, no difference and right: lazy and partition by partition for what Dask has."""
        if is_spread(pairs):
            return lazily(self, "predict_proba", pairs, np.float64, width=3)
        return self._judged(pairs, context)[3]

    def score_items(self, X: Any) -> Any:
        """Scores of items: lazy and partition by partition for what Dask has, an array for an array."""
        return lazily(self, "score_items", X, np.float64) if is_spread(X) else super().score_items(X)

    def score(self, pairs: Any, y: Any, sample_weight: Any = None, context: Any = None) -> float:
        """The share of pairs whose outcome is predicted right."""
        if not is_spread(pairs):
            return super().score(pairs, y, sample_weight, context)
        pairs, y, sample_weight = columns_of(pairs, y, sample_weight)
        predicted, y, weights = client_of(self.client).compute(
            [as_one(values) for values in (self.predict(pairs), y, sample_weight)], sync=True
        )
        return _comparer._share_right(predicted, self._outcomes(y, len(predicted)), weights)


def _judged_rows(number: int, pairs: Any, y: Any, sample_weight: Any, preprocessor: Any) -> JudgedRows:
    """One partition, checked; of the items only those that it needs."""
    register()
    with in_partition(number):
        names = _side_names(list(pairs.columns)) if hasattr(pairs, "columns") else None
        if _input.is_sparse(pairs):
            raise ValueError(
                "pairs is a sparse matrix: arrays of shape (n, 2, features) are needed, or item numbers and preprocessor"
            )
        pairs = _sides(pairs) if hasattr(pairs, "columns") else _input.array_of(pairs, "pairs")
        for name, values in (("y", y), ("sample_weight", sample_weight)):
            if values is not None and len(values) != len(pairs):
                raise ValueError(f"{name} has {len(values)} rows for {len(pairs)} pairs")
        y = np.asarray(y)
        sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        if pairs.ndim == 3 and pairs.shape[1] == 2:
            return JudgedRows(_input.floats(pairs, "pairs"), y, sample_weight, partition=number, names=names)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(
                f"pairs has shape {pairs.shape}: (n, 2, features) is needed, or (n, 2) with item numbers and preprocessor"
            )
        if preprocessor is None:
            if pairs.dtype.kind not in "OUS":
                raise ValueError(
                    f"pairs has shape {pairs.shape}: item numbers need preprocessor=X, the features of the items"
                )
            words = _input.names(pairs.ravel(), "pairs", 2).reshape(-1, 2)
            return JudgedRows(words, y, sample_weight, partition=number)
        pairs = _input.item_numbers(pairs)
        used, places = np.unique(pairs, return_inverse=True)
        items = _items_of(used, preprocessor)
        return JudgedRows(places.reshape(pairs.shape), y, sample_weight, items, partition=number)


def _items_of(used: NDArray[Any], preprocessor: Any) -> Any:
    """The features of some items."""
    if callable(preprocessor):
        return preprocessor(used)
    if used.size and not 0 <= used[0] <= used[-1] < preprocessor.shape[0]:
        raise ValueError(
            f"pairs has the item numbers {used[0]} to {used[-1]}, where preprocessor has {preprocessor.shape[0]} rows"
        )
    if hasattr(preprocessor, "iloc"):
        return preprocessor.iloc[used]
    return preprocessor.tocsr()[used] if _input.is_sparse(preprocessor) else np.asarray(preprocessor)[used]


def _kind(rows: JudgedRows) -> tuple[str, set[int]]:
    """What its pairs are, and the numbers that stand for outcomes."""
    with in_partition(rows.partition):
        signs, are_numbers = read(rows.y, len(rows), "y")
        seen = found_in(signs) if are_numbers else set()
    if rows.items is not None:
        return "item numbers", seen
    return ("sides" if rows.pairs.ndim == 3 else "names"), seen


def _names_in(rows: JudgedRows) -> set[str]:
    return set(np.unique(rows.pairs).tolist())


def _side_names(columns: list[Any]) -> Optional[list[str]]:
    names = [str(column)[5:] for column in columns if str(column).startswith("left.")]
    return names or None


def _sides(frame: Any, names: Optional[list[str]] = None) -> NDArray[Any]:
    """Pairs of a table: two columns, or those of both sides, with features in this order."""
    names = names or _side_names(list(frame.columns))
    if names is None:
        if frame.shape[1] != 2:
            raise ValueError(
                f"pairs has {frame.shape[1]} columns: two are needed (left, right), or left.NAME and right.NAME for every feature"
            )
        return np.asarray(frame)
    columns = [f"{side}.{name}" for side in ("left", "right") for name in names]
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(f"pairs has no column {missing[0]!r}")
    more = [column for column in frame.columns if column not in set(columns)]
    if more:
        raise ValueError(f"pairs has the column {more[0]!r}, which is of neither side: leave it out")
    sides: NDArray[Any] = frame[columns].to_numpy().reshape(len(frame), 2, len(names))
    return sides


class CompareSVM(_Comparer, _comparers.CompareSVM):
    """:class:`rankwise.CompareSVM` (linear) on a Dask cluster.

    With a scaling, items that several partitions have count once in each of these; without one, cutting changes nothing.

    Parameters
    ----------
    C, loss, threshold, tie_region, tie_weight, balance, preprocessor, unknown, scale, tol, max_iter, time_limit, seed, verbose
        As for :class:`rankwise.CompareSVM`.
    client : distributed.Client, optional
        The cluster; by default the one that was made last.
    """

    _own_params = _comparers.CompareSVM._own_params | {"client"}
    # What one machine can also do.
    calibrate = False

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared-hinge",
        threshold: str = "refit",
        tie_region: str = "free",
        tie_weight: float = 1.0,
        balance: str = "none",
        preprocessor: _comparer.Preprocessor = None,
        unknown: str = "error",
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        threads: int = 0,
        seed: int = 0,
        verbose: bool = False,
        client: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.threshold = threshold
        self.tie_region = tie_region
        self.tie_weight = tie_weight
        self.balance = balance
        self.preprocessor = preprocessor
        self.unknown = unknown
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.threads = threads
        self.seed = seed
        self.verbose = verbose
        self.client = client


class Davidson(_Comparer, _comparers.Davidson):
    """:class:`rankwise.Davidson` (linear) on a Dask cluster.

    Parameters
    ----------
    C, preprocessor, unknown, scale, tol, max_iter, time_limit, seed, verbose
        As for :class:`rankwise.Davidson`.
    client : distributed.Client, optional
        The cluster; by default the one that was made last.
    """

    _own_params = _comparers.Davidson._own_params | {"client"}

    def __init__(
        self,
        C: float = 1.0,
        *,
        preprocessor: _comparer.Preprocessor = None,
        unknown: str = "error",
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        threads: int = 0,
        seed: int = 0,
        verbose: bool = False,
        client: Any = None,
    ) -> None:
        self.C = C
        self.preprocessor = preprocessor
        self.unknown = unknown
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.threads = threads
        self.seed = seed
        self.verbose = verbose
        self.client = client
