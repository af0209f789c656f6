"""From what users have to lists of delayed partitions."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np


def partitions(values: Any, name: str, chunks: Any = None) -> Optional[list[Any]]:
    """One delayed object per partition; None where nothing is given."""
    if values is None:
        return None
    if isinstance(values, (list, tuple)) and values and all(hasattr(value, "dask") for value in values):
        return list(values)
    if is_dask_array(values):
        if values.ndim > 1 and any(len(of_axis) > 1 for of_axis in values.chunks[1:]):
            values = values.rechunk({axis: -1 for axis in range(1, values.ndim)})
        if chunks is not None and values.chunks[0] != chunks and not (_unknown(chunks) or _unknown(values.chunks[0])):
            if sum(values.chunks[0]) != sum(chunks):
                raise ValueError(f"{name} has {sum(values.chunks[0])} rows for {sum(chunks)} of the data")
            values = values.rechunk({0: chunks})
        return list(values.to_delayed().ravel())
    if is_dask_frame(values):
        return list(values.to_delayed())
    raise TypeError(
        f"{name} is {type(values).__name__}: a Dask array, a Dask data frame or a list of delayed partitions is needed; "
        "dask.array.from_array makes one of an array, and without Dask the machines of rankwise itself take it"
    )


def _unknown(chunks: Any) -> bool:
    return any(np.isnan(size) for size in chunks)


def is_dask_array(values: Any) -> bool:
    return hasattr(values, "dask") and hasattr(values, "rechunk") and hasattr(values, "map_blocks")


def is_dask_frame(values: Any) -> bool:
    return hasattr(values, "map_partitions") and hasattr(values, "to_delayed") and not is_dask_array(values)


def client_of(client: Any) -> Any:
    if client is not None:
        return client
    try:
        from distributed import get_client
    except ImportError:
        raise ImportError(
            "rankwise.dask needs dask and distributed: pip install 'dask[array,dataframe,distributed]'"
        ) from None
    try:
        return get_client()
    except ValueError:
        raise RuntimeError(
            "there is no Dask client: make one first, from dask.distributed import Client; client = Client()"
        ) from None


def aligned(client: Any, held: list[Any], name: str) -> tuple[list[Any], Optional[list[str]]]:
    """Partitions with rows (filters leave some without) and with the same features in the same order, and their names."""
    described = client.gather(client.map(_described, held, pure=False))
    kept = [(rows, what) for rows, what in zip(held, described) if what[1]]
    if not kept:
        raise ValueError(f"{name} has no rows: at least one is needed")
    first, _, width, names = kept[0][1]
    alike = []
    for rows, (number, _, other_width, other_names) in kept:
        if other_width != width:
            raise ValueError(f"partition {number} has {other_width} features, partition {first} has {width}")
        if other_names != names:
            if other_names is None or names is None or sorted(other_names) != sorted(names):
                strange = sorted(set(other_names or []) ^ set(names or []))
                raise ValueError(
                    f"partition {number} has other features than partition {first}: {', '.join(strange[:5])}"
                )
            rows = client.submit(_reordered, rows, names, pure=False)
        alike.append(rows)
    return alike, names


def _described(rows: Any) -> Any:
    return rows.described()


def _reordered(rows: Any, names: list[str]) -> Any:
    return rows.reordered(names)


def same_number(**all_partitions: Optional[list[Any]]) -> int:
    counts = {name: len(partitions) for name, partitions in all_partitions.items() if partitions is not None}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ValueError(f"the data are cut differently ({told} partitions): rechunk or repartition them alike")
    count = next(iter(counts.values()))
    if count == 0:
        raise ValueError("there is no partition: at least one is needed")
    return count


def columns_of(X: Any, *others: Any) -> tuple[Any, ...]:
    """Names of columns as columns, which are then no features."""
    asked = [other for other in others if isinstance(other, str)]
    if not asked:
        return (X, *others)
    if not is_dask_frame(X):
        raise TypeError(f"{asked[0]!r} names a column, but X is no Dask data frame")
    missing = [name for name in asked if name not in X.columns]
    if missing:
        raise ValueError(f"X has no column {missing[0]!r}")
    columns = [X[other] if isinstance(other, str) else other for other in others]
    return (X[[column for column in X.columns if column not in asked]], *columns)


def is_spread(values: Any) -> bool:
    is_list = isinstance(values, (list, tuple)) and bool(values) and all(hasattr(value, "dask") for value in values)
    return is_list or is_dask_array(values) or is_dask_frame(values)
