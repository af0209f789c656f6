"""What lives on the workers: the rows of a partition, and the part that is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Callable, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from .. import _comparer, _core, _input, _rankers
from .._base import Array
from .._outcomes import outcomes


@contextmanager
def in_partition(number: int) -> Iterator[None]:
    """Faults in the data of a partition say which one it is."""
    try:
        yield
    except (ValueError, TypeError) as problem:
        if problem.args and isinstance(problem.args[0], str) and not problem.args[0].startswith("partition "):
            problem.args = (f"partition {number}: {problem.args[0]}", *problem.args[1:])
        raise


@dataclass
class Rows:
    """The rows of one partition, as arrays."""

    X: Any
    y: Any
    qid: Any = None
    sample_weight: Any = None
    group_weight: Any = None
    partition: int = 0
    names: Optional[list[str]] = None

    def __post_init__(self) -> None:
        # What came over the network may lie anywhere, and frames have columns; rows are brought into place once, so that the
        # part need not copy them.
        if hasattr(self.X, "iloc"):
            self.names = _input.column_names(self.X)
            self.X = _rows_of_frame(self.X, "X")
        elif _input.is_sparse(self.X):
            self.X = self.X.tocsr()
        else:
            self.X = _input.floats(_input.array_of(self.X, "X"), "X")
        if self.X.ndim != 2:
            raise ValueError(f"X has shape {self.X.shape}: a row of features for each item is needed")
        self.y = None if self.y is None else np.asarray(self.y)
        self.qid = None if self.qid is None else _plain_ids(self.qid)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def described(self) -> tuple[int, int, int, Optional[list[str]]]:
        """Which partition it is, how many rows and features it has, and what these are called."""
        return self.partition, len(self), int(self.X.shape[1]), self.names

    def reordered(self, names: list[str]) -> Rows:
        """The same with features in this order."""
        assert self.names is not None
        places = [self.names.index(name) for name in names]
        return replace(self, X=self.X[:, places], names=names)

    def take(self, rows: NDArray[np.intp]) -> Rows:
        def of(values: Any) -> Any:
            return None if values is None else np.asarray(values)[rows]

        return replace(
            self,
            X=self.X[rows],
            y=of(self.y),
            qid=of(self.qid),
            sample_weight=of(self.sample_weight),
            group_weight=of(self.group_weight),
        )

    def joined(self, others: Sequence[Rows]) -> Rows:
        all_rows = [self, *others]

        def of(name: str) -> Any:
            values = [getattr(rows, name) for rows in all_rows]
            if values[0] is None:
                return None
            if any(_input.is_sparse(value) for value in values):
                import scipy.sparse

                return scipy.sparse.vstack([scipy.sparse.csr_matrix(value) for value in values], format="csr")
            return np.concatenate([np.asarray(value) for value in values])

        columns = ("X", "y", "qid", "sample_weight", "group_weight")
        return replace(self, **{name: of(name) for name in columns})

    @property
    def nbytes(self) -> int:
        return sum(_bytes_of(value) for value in self.__dict__.values())


def _rows_of_frame(frame: Any, name: str) -> NDArray[Any]:
    """The columns of a frame as rows, in single precision if all of them are."""
    _input.check_columns(frame, name)
    for column, kind in zip(frame.columns, frame.dtypes):
        if str(kind) in ("object", "str", "string"):
            try:
                np.asarray(frame[column], dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(
                    f"{name} has the column {column!r} of type {kind}: encode it as numbers, or leave it out"
                ) from None
    is_single = all(kind == np.float32 for kind in frame.dtypes)
    rows: NDArray[Any] = frame.to_numpy(dtype=np.float32 if is_single else np.float64, na_value=np.nan)
    return np.require(rows, requirements=["C", "A"])


def _plain_ids(values: Any) -> NDArray[Any]:
    """Ids of groups that can be compared between partitions: numbers or text."""
    ids = np.asarray(values)
    if ids.dtype.kind != "O":
        return ids
    listed = ids.tolist()
    missing = next((row for row, value in enumerate(listed) if _input.is_missing(value)), None)
    if missing is not None:
        raise ValueError(f"qid is missing in row {missing}: every item needs a group")
    if all(isinstance(value, (int, np.integer)) for value in listed):
        return np.array(listed, dtype=np.int64)
    return np.array([_input.plain_text(value) for value in listed], dtype=np.str_)


def _bytes_of(value: Any) -> int:
    if value is None:
        return 0
    if _input.is_sparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    return int(getattr(value, "nbytes", 0))


class Part:
    """A part of the data with its state, which is made when it is first asked, and again wherever it is sent."""

    def __init__(self, rows: Any, make: Callable[..., _core.Part], arguments: tuple[Any, ...]) -> None:
        self.rows, self.make, self.arguments = rows, make, arguments
        self._state: Optional[_core.Part] = None

    def answer(self, question: bytes, threads: int) -> bytes:
        if self._state is None:
            with in_partition(self.rows.partition):
                self._state = self.make(self.rows, *self.arguments, threads)
        return self._state.answer(question, threads)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_state": None}

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes)


def state_of_items(rows: Rows, number: int, params: dict[str, Any], threads: int) -> _core.Part:
    items = _input.items(rows.X)
    n = items.n_items
    groups = _input.groups(rows.qid, n)
    return _core.Part.of_items(
        params,
        number,
        items,
        _input.labels(rows.y, n),
        groups,
        _weights(rows.sample_weight, n),
        _rankers._group_weights(rows.group_weight, groups, n),
        threads,
    )


@dataclass
class JudgedRows:
    """Judged pairs of one partition."""

    pairs: Any
    y: Any
    sample_weight: Any = None
    items: Any = None
    partition: int = 0
    names: Optional[list[str]] = None

    def described(self) -> tuple[int, int, int, Optional[list[str]]]:
        """Which partition it is, how many pairs and features it has, and what these are called."""
        n_features = self.pairs.shape[2] if self.pairs.ndim == 3 else 0
        return self.partition, len(self), int(n_features), self.names

    def reordered(self, names: list[str]) -> JudgedRows:
        """The same with features in this order."""
        assert self.names is not None
        places = [self.names.index(name) for name in names]
        return replace(self, pairs=self.pairs[:, :, places], names=names)

    @property
    def nbytes(self) -> int:
        return sum(_bytes_of(value) for value in (self.pairs, self.y, self.sample_weight, self.items))

    def __len__(self) -> int:
        return int(self.pairs.shape[0])


def state_of_pairs(rows: JudgedRows, number: int, names: Optional[list[str]], threads: int) -> _core.Part:
    if names is not None:
        left, right = np.searchsorted(np.asarray(names), rows.pairs).T
        # Every part knows all names: a feature each.
        items = _core.Items.named(names)
        pairs = _core.Pairs.of_numbers(items, *(np.require(side, np.int64, ["C", "A"]) for side in (left, right)))
    elif rows.items is not None:
        left, right = (np.require(rows.pairs[:, side], np.int64, ["C", "A"]) for side in (0, 1))
        pairs = _core.Pairs.of_numbers(_input.items(rows.items, "preprocessor"), left, right)
    else:
        pairs = _core.Pairs.of_sides(_comparer._rows_of_sides(rows.pairs))
    n = pairs.n_pairs
    return _core.Part.of_pairs(
        number, pairs, outcomes(rows.y, n, "y", warns=False), _weights(rows.sample_weight, n), threads
    )


def _weights(values: Any, n: int) -> Optional[Array]:
    """Weights of one partition: all of them may be 0, as long as others are not."""
    if values is None or not np.any(np.asarray(values)):
        return None if values is None else np.zeros(n)
    return _input.weights(values, n)


def answer(part: Part, question: bytes, threads: int) -> bytes:
    return part.answer(question, threads)


def add(*answers: bytes) -> bytes:
    return _core.add_answers(list(answers))


def _sized(kind: Any, nbytes: Any) -> None:
    """Tells Dask how much memory a thing takes, so that it stays where it is."""
    from dask.sizeof import sizeof

    sizeof.register(kind, nbytes)


_is_registered = False


def register() -> None:
    global _is_registered
    if not _is_registered:
        for kind in (Rows, Part, JudgedRows):
            _sized(kind, lambda thing: thing.nbytes + 64)
        _is_registered = True
