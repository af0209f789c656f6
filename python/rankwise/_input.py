"""From what users have to what the compiled part takes: arrays are checked and, where their layout allows, not copied."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._callers import warn
from .exceptions import ParameterError, RankwiseWarning


def is_sparse(X: Any) -> bool:
    """Whether it is a matrix or an array of scipy.sparse."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def is_table(X: Any) -> bool:
    """Whether it is a table with named columns: of pandas, polars, pyarrow or another library that speaks Arrow."""
    if isinstance(X, np.ndarray) or len(getattr(X, "shape", (0, 0))) != 2:
        return False
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "iloc")


def array_of(values: Any, name: str) -> NDArray[Any]:
    """An array; masked entries are missing ones."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        first = tuple(int(k) for k in np.argwhere(np.ma.getmaskarray(values))[0])
        raise ValueError(f"{name} has masked entries, the first at {first}: fill them in, or leave their rows out")
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} is no array: {problem}") from None


def floats(X: NDArray[Any], name: str = "X") -> NDArray[Any]:
    """float32 or float64 in C order: the array itself if it is that already."""
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{name} has numbers of type {X.dtype}: take their real parts")
    if X.dtype.kind in "OSU":
        X = _numbers_of_objects(X, name)
    elif X.dtype.kind not in "fiub":
        raise ValueError(f"{name} has elements of type {X.dtype}: numbers are needed")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float32 if X.dtype == np.float16 else np.float64)
    return np.require(X, requirements=["C", "A"])


def _numbers_of_objects(X: NDArray[Any], name: str) -> NDArray[Any]:
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as problem:
        kind = TypeError if isinstance(problem, TypeError) else ValueError
        raise kind(
            f"{name} has elements that are no numbers ({problem}): encode them as numbers, or leave them out"
        ) from None


def labels(values: Any, n: Optional[int], name: str = "y") -> NDArray[np.float64]:
    """One float64 per item, finite, and different wherever the labels given are: whole numbers keep apart up to 2**53."""
    given = vector(values, n, name)
    array = reals(given, n, name)
    if given.dtype.kind == "f":
        return array
    for row in np.flatnonzero(np.abs(array) >= 2.0**53):
        is_float = isinstance(given[row], (float, np.floating))
        label = given[row].decode("utf-8", "replace") if isinstance(given[row], bytes) else str(given[row])
        if not is_float and label.strip().lstrip("+-").isdecimal():
            raise ValueError(
                f"{name} = {label} in row {row} is beyond 2**53: neighbouring whole numbers are one number in float64; "
                "subtract a constant, or number the values"
            )
    return array


def reals(values: Any, n: Optional[int], name: str) -> NDArray[np.float64]:
    """One float64 per item, finite."""
    array = vector(values, n, name)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{name} has numbers of type {array.dtype}")
    if array.dtype.kind in "mMV":
        raise ValueError(f"{name} has elements of type {array.dtype}: numbers are needed")
    if array.dtype.kind not in "fiub":
        array = _numbers_of_objects(array, name)
    array = np.require(array, np.float64, ["C", "A"])
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        what = "NaN" if np.isnan(array[bad[0]]) else "infinity"
        raise ValueError(f"Input {name} contains {what} (in row {bad[0]}): finite numbers are needed")
    return array


def vector(values: Any, n: Optional[int], name: str) -> NDArray[Any]:
    """An array of one dimension, with one entry per item."""
    if is_sparse(values):
        raise TypeError(f"{name} is a sparse matrix: a dense array of one dimension is needed; call .toarray()")
    array = array_of(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        warn(f"A column-vector {name} was passed when a 1d array was expected", _conversion(RankwiseWarning))
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {array.shape} instead")
    if n is not None and len(array) != n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {name} has {len(array)} entries, expected {n}"
        )
    return array


def _conversion(otherwise: type[Warning]) -> type[Warning]:
    try:
        from sklearn.exceptions import DataConversionWarning
    except ImportError:
        return otherwise
    return DataConversionWarning  # type: ignore[no-any-return]


def column_names(X: Any) -> Optional[list[str]]:
    """The names of a table's columns, if all of them are text."""
    columns = getattr(X, "column_names", None)  # Arrow's own tables
    if columns is None:
        columns = getattr(X, "columns", None)
    if columns is None:
        columns = getattr(getattr(X, "schema", None), "names", None)
    if columns is None:
        return None
    names = list(columns)
    if not names:
        return None
    are_text = [isinstance(name, str) for name in names]
    twice = (
        next((name for k, name in enumerate(names) if name in names[:k]), None)
        if len(set(names)) < len(names)
        else None
    )
    if twice is not None:
        raise ValueError(f"X has two columns that are called {twice!r}: give each a name of its own")
    if all(are_text):
        return [str(name) for name in names]
    if any(are_text):
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{sorted({type(name).__name__ for name in names})} as feature name / column name types. "
            "Convert them: X.columns = X.columns.astype(str)"
        )
    return None


def row_names(X: Any) -> Any:
    """What the rows of a frame of pandas are called, if its index has a name or holds words; numbers alone count rows."""
    index = getattr(X, "index", None)
    if not hasattr(X, "iloc") or index is None:
        return None
    return index if index.name is not None or index.dtype.kind in "OTU" else None


def items(X: Any, name: str = "X") -> _core.Items:
    """Rows of features from an array, a sparse matrix or a table."""
    try:
        return _items(X, name)
    except ParameterError as refused:
        if name == "X" or refused.name != "X":
            raise
        renamed = ParameterError(str(refused).replace("X = ", f"{name} = ", 1))
        renamed.name = name
        raise renamed from None


def _items(X: Any, name: str) -> _core.Items:
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):  # a lazy frame of polars
        X = X.collect()
    if is_sparse(X):
        return _sparse(X, name)
    if is_table(X):
        return _table(X, name)
    array = array_of(X, name)
    if array.ndim == 0:
        raise ValueError(
            f"Expected 2D array, got scalar array instead: {name} = {array!r}. Reshape your data: a row per item."
        )
    if array.ndim == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array instead: {name} has shape {array.shape}. "
            "Reshape your data: array.reshape(-1, 1) for one feature, array.reshape(1, -1) for one item."
        )
    if array.ndim != 2:
        raise ValueError(f"Found array with dim {array.ndim}, while dim <= 2 is required: {name} has a row per item.")
    array = floats(array, name)
    check_shape(array.shape, name)
    return _core.Items.dense(array)


def check_shape(shape: tuple[int, ...], name: str) -> None:
    """At least one item, at least one feature."""
    if shape[0] == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required: {name} has no rows."
        )
    if shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required: {name} has no columns."
        )


def _sparse(X: Any, name: str) -> _core.Items:
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array, got a sparse array of shape {X.shape} instead: {name}")
    check_shape(X.shape, name)
    rows = X.tocsr()
    if len(rows.indptr) != X.shape[0] + 1:
        raise ValueError(
            f"{name} has {len(rows.indptr)} row starts for {X.shape[0]} rows: one more than rows is needed"
        )
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is X else rows
        rows.sum_duplicates()
    starts, columns = rows.indptr, rows.indices
    if starts.dtype not in (np.int32, np.int64) or columns.dtype not in (np.int32, np.int64):
        starts, columns = starts.astype(np.int64), columns.astype(np.int64)
    return _core.Items.sparse(
        X.shape[1],
        np.require(starts, requirements=["C", "A"]),
        np.require(columns, requirements=["C", "A"]),
        floats(rows.data, name),
    )


def _table(X: Any, name: str) -> _core.Items:
    names = column_names(X)
    if hasattr(X, "shape"):
        check_shape(X.shape, name)
    if hasattr(X, "iloc"):
        check_columns(X, name)
        kinds = set(X.dtypes)
        if len(kinds) == 1 and str(next(iter(kinds))) in ("float32", "float64"):
            array = X.to_numpy()
            if array.flags.c_contiguous:  # one block of rows already
                return _core.Items.dense(array, names)
    if hasattr(X, "__arrow_c_stream__") and (names is not None or not hasattr(X, "iloc")):
        try:
            items = _core.Items.table(_without_index(X))
        except ImportError:
            pass  # pandas needs pyarrow for this
        except ParameterError:
            raise
        except Exception as problem:  # each library has exceptions of its own
            raise ValueError(f"{name}: the table cannot be read: {problem}") from problem
        else:
            check_shape((items.n_items, items.n_features), name)
            return items
    return _core.Items.dense(floats(np.asarray(X), name), names)


def check_columns(X: Any, name: str) -> None:
    """Refuses columns of pandas that are no numbers, whatever they may be converted to."""
    for column, kind in zip(X.columns, X.dtypes):
        of_numpy = getattr(kind, "numpy_dtype", kind)
        if getattr(of_numpy, "kind", getattr(kind, "kind", "O")) not in "fiubO" or str(kind).startswith(
            ("period", "category")
        ):
            raise ValueError(f"{name} has the column {column!r} of type {kind}: encode it as numbers, or leave it out")


def _without_index(X: Any) -> Any:
    """A frame of pandas as a table of its columns alone: an index with names would become columns."""
    if not hasattr(X, "iloc"):
        return X
    import pyarrow

    return pyarrow.Table.from_pandas(X, preserve_index=False)


def groups(qid: Any, n: int, name: str = "qid") -> Optional[_core.Groups]:
    """Which items belong together, from ids of any kind in any order."""
    if qid is None:
        return None
    if (
        isinstance(qid, (list, tuple))
        and any(not isinstance(value, str) for value in qid)
        and any(isinstance(value, str) for value in qid)
    ):
        mixed = np.empty(len(qid), dtype=object)  # 1 and "1" are two groups
        mixed[:] = qid
        qid = mixed
    ids = vector(qid, n, name)
    if ids.dtype.kind in "iu" and ids.dtype != np.uint64:
        return _core.Groups.of_integers(np.require(ids, np.int64, ["C", "A"]))
    if ids.dtype.kind == "f" and (ids == np.floor(ids)).all() and (np.abs(ids) < 2**53).all():
        return _core.Groups.of_integers(ids.astype(np.int64))
    known: dict[Any, int] = {}
    numbers = np.empty(len(ids), dtype=np.uint32)
    for row, value in enumerate(ids.tolist()):
        if is_missing(value):
            raise ValueError(f"{name} is missing in row {row}: every item needs a group")
        try:
            numbers[row] = known.setdefault(value, len(known))
        except TypeError:
            raise ValueError(
                f"{name} has {type(value).__name__} in row {row}: numbers, words or the like are needed"
            ) from None
    return _core.Groups.of_numbers(numbers, [plain_text(value) for value in known])


def known_rows(*columns: Any) -> Optional[NDArray[np.bool_]]:
    """Which pairs have something predicted, if not all of them have: those without are left out, and counted."""
    given = [np.asarray(values) for values in columns if values is not None]
    missing = [np.isnan(values).reshape(len(values), -1).any(axis=1) for values in given]
    unknown: NDArray[np.bool_] = np.logical_or.reduce(missing)
    if not unknown.any():
        return None
    warn(f"{int(unknown.sum())} of {len(unknown)} pairs have nan for what is predicted: they are left out")
    return ~unknown


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


def plain_text(value: Any) -> str:
    """A name as text that any file can hold."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def weights(values: Any, n: int, name: str = "sample_weight") -> Optional[NDArray[np.float64]]:
    """One weight per item: at least 0, and not all of them 0. A number is that of every item."""
    if values is None:
        return None
    given = array_of(values, name)
    if given.ndim == 0:
        given = np.full(n, given)
    if given.ndim != 1:
        raise ValueError(
            f"{name} must be 1D array or scalar, got an array of shape {given.shape}: one weight per item is needed"
        )
    if len(given) != n:
        raise ValueError(f"{name}.shape == {given.shape}, expected ({n},): one weight per item is needed")
    array = reals(given, n, name)
    below = np.flatnonzero(array < 0)
    if below.size:
        raise ValueError(
            f"{name} has negative values (row {below[0]}: {array[below[0]]}): weights of at least 0 are needed"
        )
    if not array.any():
        raise ValueError(f"{name}: all weights are zero, so nothing is left to learn from")
    return array


def item_numbers(pairs: NDArray[Any]) -> NDArray[Any]:
    """Numbers of the items of pairs: whole ones, also as objects, as tables have them where some might be missing."""
    if pairs.dtype.kind == "O":
        values = pairs.ravel().tolist()
        wrong = next(
            (k for k, value in enumerate(values) if type(value) is bool or not isinstance(value, (int, np.integer))),
            None,
        )
        if wrong is not None:
            raise ValueError(
                f"pairs has {values[wrong]!r} in row {wrong // 2}: with preprocessor whole numbers are needed"
            )
        if all(-(2**63) <= value < 2**63 for value in values):
            pairs = pairs.astype(np.int64)
    if pairs.dtype.kind not in "iu":
        raise ValueError(f"pairs has elements of type {pairs.dtype}: with preprocessor whole numbers are needed")
    return pairs


def names(values: Any, name: str, per_row: int = 1) -> NDArray[np.str_]:
    """Names of items as text, so many of them in a row of what was given."""
    array = array_of(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}: a name per item is needed")
    for row, value in enumerate(array.tolist()):
        if isinstance(value, str):
            continue
        if isinstance(value, (list, tuple, dict, set)) or hasattr(value, "__array__") and np.ndim(value) > 0:
            raise ValueError(
                f"{name} has a {type(value).__name__} where the name of an item is expected: features in the cells of a table are given as "
                f"an array, numpy.array({name}.to_numpy().tolist())"
            )
        if is_missing(value):
            raise ValueError(f"{name} is missing in row {row // per_row}: every item needs a name")
    return np.array(
        [plain_text(value.decode() if isinstance(value, bytes) else value) for value in array.tolist()], dtype=np.str_
    )


def named_items(values: Any, name: str = "X") -> _core.Items:
    """Items that are known by their names alone."""
    return _core.Items.named(names(values, name).tolist())
