"""Groups that partitions split are brought together, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _input
from ._parts import Rows

#: What a partition may grow to when groups are brought together, in units of the largest.
_GROWTH = 2.0


def _ids(rows: Rows) -> NDArray[Any]:
    """The groups of a partition, each once."""
    ids = rows.qid
    if ids is None:
        return np.zeros(min(1, len(rows)), dtype=np.int64)
    if ids.dtype.kind == "O":
        ids = np.array([_input.plain_text(value) for value in ids.tolist()], dtype=np.str_)
    return np.unique(ids)


def _without(rows: Rows, foreign: NDArray[Any], *more: Rows) -> Rows:
    """Rows of other groups than these, with more from elsewhere."""
    own = np.flatnonzero(~np.isin(_plain_ids(rows), foreign))
    kept = rows if len(own) == len(rows) else rows.take(own)
    return kept.joined(more) if more else kept


def _only(rows: Rows, wanted: NDArray[Any]) -> Rows:
    return rows.take(np.flatnonzero(np.isin(_plain_ids(rows), wanted)))


def _plain_ids(rows: Rows) -> NDArray[Any]:
    if rows.qid.dtype.kind == "O":
        return np.array([_input.plain_text(value) for value in rows.qid.tolist()], dtype=np.str_)
    return np.asarray(rows.qid)


def _count(rows: Rows, wanted: NDArray[Any]) -> int:
    return int(np.isin(_plain_ids(rows), wanted).sum())


def together(client: Any, held: list[Any], split_groups: str) -> list[Any]:
    """Partitions that split no group: rows of a group that several have go to the first of them."""
    if len(held) == 1:
        return list(held)
    ids: list[NDArray[Any]] = client.gather(client.map(_ids, held, pure=False))
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
            f"{n_split} groups are split between partitions, {example!r} among them: their pairs would be lost. "
            "split_groups='move' brings them together; sorted by qid, repartition the data where groups end"
        )
    # Which groups of a partition go where.
    moves: dict[tuple[int, int], list[Any]] = {}
    for at in np.flatnonzero(first[places] != owners):
        moves.setdefault((int(owners[at]), int(first[places[at]])), []).append(distinct[places[at]])
    sizes = client.gather(client.map(len, held, pure=False))
    counted = client.gather(
        [client.submit(_count, held[start], np.asarray(groups), pure=False) for (start, _), groups in moves.items()]
    )
    grown = np.asarray(sizes, dtype=float)
    for (_, end), n_rows in zip(moves, counted):
        grown[end] += n_rows
    if grown.max() > _GROWTH * max(sizes):
        raise ValueError(
            f"{n_split} groups are split between partitions; brought together, one partition would have {int(grown.max())} rows, "
            f"where the largest now has {max(sizes)}: shuffle the data by qid first (frame.shuffle('qid')), or make larger partitions"
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
    return together
