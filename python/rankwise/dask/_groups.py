"""Groups that partitions split are brought together, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._parts import Rows

#: What a partition may grow to when groups are brought together, in units of the largest.
_GROWTH = 2.0
#: Bytes up to which it may grow in any case.
_SMALL = 64e6


def _ids(rows: Rows) -> NDArray[Any]:
    """The groups of a partition, each once."""
    ids: NDArray[Any] = np.unique(rows.qid)
    return ids


def _without(rows: Rows, foreign: NDArray[Any], *more: Rows) -> Rows:
    """Rows of other groups than these, with more from elsewhere."""
    own = np.flatnonzero(~np.isin(rows.qid, foreign))
    kept = rows if len(own) == len(rows) else rows.take(own)
    return kept.joined(more) if more else kept


def _only(rows: Rows, wanted: NDArray[Any]) -> Rows:
    return rows.take(np.flatnonzero(np.isin(rows.qid, wanted)))


def _size(rows: Rows) -> tuple[int, int]:
    return len(rows), rows.nbytes


def _counted(n: int) -> str:
    return "1 group is" if n == 1 else f"{n} groups are"


def _count(rows: Rows, wanted: NDArray[Any]) -> int:
    return int(np.isin(rows.qid, wanted).sum())


def together(client: Any, held: list[Any], split_groups: str) -> list[Any]:
    """Partitions that split no group: rows of a group that several have go to the first of them."""
    if len(held) == 1:
        return list(held)
    ids: list[NDArray[Any]] = client.gather(client.map(_ids, held, pure=False))
    if len({"numbers" if part.dtype.kind in "iufb" else part.dtype.kind for part in ids}) > 1:
        kinds = ", ".join(sorted({str(part.dtype) for part in ids}))
        raise ValueError(f"qid is of different kinds in different partitions ({kinds}): give all of them the same kind")
    everything = np.concatenate(ids)
    owners = np.repeat(np.arange(len(ids)), [len(part) for part in ids])
    distinct, places, counts = np.unique(everything, return_inverse=True, return_counts=True)
    if not (counts > 1).any():
        return list(held)
    first = np.full(len(distinct), len(ids))
    np.minimum.at(first, places, owners)
    example = distinct[np.argmax(counts > 1)]
    n_split = int((counts > 1).sum())
    if split_groups == "refuse":
        raise ValueError(
            f"{_counted(n_split)} split between partitions, {example} among them: their pairs would be lost. "
            "split_groups='move' brings them together; sorted by qid, repartition the data where groups end"
        )
    # Which groups of a partition go where.
    moves: dict[tuple[int, int], list[Any]] = {}
    for at in np.flatnonzero(first[places] != owners):
        moves.setdefault((int(owners[at]), int(first[places[at]])), []).append(distinct[places[at]])
    measured = client.gather(client.map(_size, held, pure=False))
    sizes, n_bytes = [size for size, _ in measured], sum(of_part for _, of_part in measured)
    counted = client.gather(
        [client.submit(_count, held[start], np.asarray(groups), pure=False) for (start, _), groups in moves.items()]
    )
    grown = np.asarray(sizes, dtype=float)
    left = np.asarray(sizes)
    for (start, end), n_rows in zip(moves, counted):
        grown[end] += n_rows
        left[start] -= n_rows
    is_large = grown.max() * n_bytes / sum(sizes) > _SMALL
    if is_large and grown.max() > _GROWTH * max(sizes):
        raise ValueError(
            f"{_counted(n_split)} split between partitions; brought together, one partition would have {int(grown.max())} rows, "
            f"where the largest now has {max(sizes)}: sort the data by qid, or shuffle them (frame.shuffle('qid')); a group must "
            "fit into one partition"
        )
    incoming: dict[int, list[Any]] = {}
    foreign: dict[int, list[Any]] = {}
    for (start, end), groups in moves.items():
        incoming.setdefault(end, []).append(client.submit(_only, held[start], np.asarray(groups), pure=False))
        foreign.setdefault(start, []).extend(groups)
    together = list(held)
    for part in set(incoming) | set(foreign):
        gone = np.asarray(foreign.get(part, []), dtype=distinct.dtype)
        together[part] = client.submit(_without, held[part], gone, *incoming.get(part, []), pure=False)
    # The first partition of a group keeps it; one whose rows have all gone is none any more.
    return [rows for rows, n_rows in zip(together, left) if n_rows]
