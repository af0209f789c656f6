"""Methods of fitted estimators for every partition, when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._partitions import is_dask_array


def as_one(values: Any) -> Any:
    """All partitions as one thing to compute."""
    import dask

    if isinstance(values, (list, tuple)) and values and hasattr(values[0], "dask"):
        return dask.delayed(_stacked, pure=False)(list(values))
    return values


def _stacked(values: list[Any]) -> Any:
    return np.concatenate([np.asarray(value) for value in values])


def _plain(estimator: Any) -> Any:
    """The estimator without its client, if it has one, which cannot travel."""
    params = estimator.get_params(deep=False)
    if "client" not in params:
        return estimator
    alone = type(estimator)(**{**params, "client": None, "threads": 1})
    alone.__dict__.update({name: value for name, value in estimator.__dict__.items() if name not in params})
    return alone


def lazily(estimator: Any, method: str, X: Any, kind: Any, width: int = 0) -> Any:
    """A method of a fitted estimator, for every partition when it is asked for."""
    import dask

    estimator._check_is_fitted()
    estimator = _plain(estimator)
    if isinstance(X, (list, tuple)):
        return [dask.delayed(_called, pure=False)(part, estimator, method, kind, width) for part in X]
    if is_dask_array(X):
        if any(len(of_axis) > 1 for of_axis in X.chunks[1:]):
            X = X.rechunk({axis: -1 for axis in range(1, X.ndim)})
        drop, new, chunks = list(range(1, X.ndim)), None, None
        if width:
            drop, new, chunks = list(range(1, X.ndim)), [1], (X.chunks[0], (width,))
        return X.map_blocks(
            _called,
            estimator,
            method,
            kind,
            width,
            dtype=kind,
            drop_axis=drop,
            new_axis=new,
            chunks=chunks,
            meta=np.empty((0,) * (2 if width else 1), dtype=kind),
        )
    if width:
        return X.map_partitions(
            _called_frame, estimator, method, kind, meta={name: kind for name in ("left", "tie", "right")}
        )
    return X.map_partitions(_called_series, estimator, method, kind, meta=(method, kind))


def _called(part: Any, estimator: Any, method: str, kind: Any, width: int) -> Any:
    if part.shape[0] == 0:
        return np.empty((0, width) if width else 0, dtype=kind)
    # With unknown='nan' some partitions have nan and others do not: all of them are of one type.
    return np.asarray(getattr(estimator, method)(part)).astype(kind, copy=False)


def _called_series(part: Any, estimator: Any, method: str, kind: Any) -> Any:
    import pandas

    return pandas.Series(_called(part, estimator, method, kind, 0), index=part.index, name=method)


def _called_frame(part: Any, estimator: Any, method: str, kind: Any) -> Any:
    import pandas

    found = _called(part, estimator, method, kind, 3)
    return pandas.DataFrame(found, index=part.index, columns=["left", "tie", "right"])
