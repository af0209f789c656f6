"""Data: simulated ones, and files of all kinds that rankwise reads.

``simulate_pairs``, ``simulate_ranking``; ``load_svmlight``, ``load_items``, ``load_pairs``, ``load_published``;
``save_svmlight``. Files may be compressed (``.gz``, ``.xz``, ``.zst``); what is wrong in one is a
:class:`~rankwise.exceptions.DataError` that says in which line and column.
"""

from __future__ import annotations

import errno
import operator
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _core, _input
from ._callers import warn
from .exceptions import DataError, MissingFileError, ParameterError

__all__ = [
    "ItemData",
    "PairData",
    "load_items",
    "load_pairs",
    "load_published",
    "load_svmlight",
    "save_svmlight",
    "simulate_pairs",
    "simulate_ranking",
]

Path = Union[str, "os.PathLike[str]"]


def _summary(data: Any) -> str:
    """Shapes instead of numbers."""
    parts = []
    for field in fields(data):
        value = getattr(data, field.name)
        if value is None:
            continue
        shape = getattr(value, "shape", None)
        what = f"{len(value)} names" if shape is None else f"{value.dtype}{list(shape)}"
        kind = "sparse " if _input.is_sparse(value) else ""
        parts.append(f"{field.name}: {kind}{what}")
    return f"{type(data).__name__}({', '.join(parts)})"


@dataclass(frozen=True, eq=False, repr=False)
class ItemData:
    """Items and what is known of them; ``None`` is what a file does not have.

    Attributes
    ----------
    X : array or CSR matrix (n, features)
        Features: dense or sparse, whichever takes less memory.
    y : array of n, optional
        Labels.
    qid : array of n, optional
        The group of each item: whole numbers where all ids are such, else strings.
    weight : array of n, optional
        Weights of items.
    group_weight : array, optional
        One weight per group, in the order in which groups first appear.
    margin : array of n, optional
        The margin that each item should have, where classes were read.
    ids : array of n strings, optional
        What the items are called: comments, in SVMlight's format, and ``#n`` for line n without one.
    feature_names : list of str, optional
        What the features are called.
    """

    X: Any
    y: NDArray[Any] | None = None
    qid: NDArray[Any] | None = None
    weight: NDArray[np.float64] | None = None
    group_weight: NDArray[np.float64] | None = None
    margin: NDArray[np.float64] | None = None
    ids: NDArray[np.object_] | None = None
    feature_names: list[str] | None = None

    def __repr__(self) -> str:
        return _summary(self)


@dataclass(frozen=True, eq=False, repr=False)
class PairData:
    """Pairs and what is known of them; ``None`` is what a file does not have.

    Comparers take ``data.pairs`` with ``preprocessor=data.X``.

    Attributes
    ----------
    pairs : array (n, 2) of int64
        Rows of ``X``: the left and the right item of each pair.
    X : array or CSR matrix (items, features)
        Features of the items. Items without features have an indicator each: feature k says "this is item k".
    y : array of n int8, optional
        -1 (left is better), 0 (tie) or 1 (right is better).
    weight : array of n, optional
        Weights of pairs.
    group : array of n, optional
        The group of each pair: of tables by number, in the order of first appearance; of published data by name.
    context : array or CSR matrix (n, columns), optional
        What is known of each comparison itself.
    time : array of n strings, optional
        When pairs were judged, where published data say it.
    ids : array of strings, optional
        What the items are called.
    feature_names, context_names : list of str, optional
        What the columns of ``X`` and ``context`` are called.
    """

    pairs: NDArray[np.int64]
    X: Any
    y: NDArray[np.int8] | None = None
    weight: NDArray[np.float64] | None = None
    group: NDArray[Any] | None = None
    context: Any | None = None
    time: NDArray[np.object_] | None = None
    ids: NDArray[np.object_] | None = None
    feature_names: list[str] | None = None
    context_names: list[str] | None = None

    @property
    def left(self) -> NDArray[Any]:
        """What the left items are called; their numbers, if they have no names."""
        return self.pairs[:, 0] if self.ids is None else self.ids[self.pairs[:, 0]]

    @property
    def right(self) -> NDArray[Any]:
        """What the right items are called; their numbers, if they have no names."""
        return self.pairs[:, 1] if self.ids is None else self.ids[self.pairs[:, 1]]

    def __repr__(self) -> str:
        return _summary(self)


def simulate_pairs(
    norm: str = "l1", n_pairs: int = 400, ties: float = 0.5, noise: float = 0.25, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Pairs whose items are ranked by the square of a norm; differences of at most 1 are ties.

    The same numbers as ``rankwise simulate`` on the command line.

    Parameters
    ----------
    norm : {"l1", "l2", "linf"}
        The norm whose square ranks.
    n_pairs : int
        How many pairs.
    ties : float
        The share of ties, met exactly.
    noise : float
        Standard deviation of the noise on the difference.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    pairs : array (n_pairs, 2, 2)
        Left and right items, each a point of the plane.
    y : array of n_pairs int8
        -1 (left is better), 0 (tie) or 1 (right is better).

    Examples
    --------
    >>> from rankwise.datasets import simulate_pairs
    >>> pairs, y = simulate_pairs(n_pairs=10, ties=0.3)
    >>> pairs.shape, int((y == 0).sum())
    ((10, 2, 2), 3)
    """
    rows, y = _core.simulate_pairs(
        str(norm),
        _whole(n_pairs, "n_pairs", 1, 2**31 - 1),
        _real(ties, "ties"),
        _real(noise, "noise"),
        _whole(seed, "seed", 0, 2**64 - 1),
    )
    return rows.reshape(-1, 2, 2), y


def simulate_ranking(
    n_groups: int = 100,
    n_items: int = 20,
    n_features: int = 10,
    n_grades: int = 5,
    noise: float = 0.25,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Items in groups with grades that a linear function of their features gives them.

    Features are standard normal; an item's utility is a random unit vector times its features, plus noise. Grades cut the utilities
    of all items into parts: the higher the grade, the fewer items have it, as with judged documents.

    Parameters
    ----------
    n_groups, n_items, n_features : int
        How many groups, items of a group, features of an item.
    n_grades : int
        Grades are 0, ..., n_grades - 1.
    noise : float
        Standard deviation of the noise; that of the utility is 1.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    X : array (n_groups * n_items, n_features)
    y : array of float64
        Grades.
    qid : array of int64
        The group of each item.

    Examples
    --------
    >>> from rankwise.datasets import simulate_ranking
    >>> X, y, qid = simulate_ranking(n_groups=3, n_items=4, n_features=2)
    >>> X.shape, qid.tolist()
    ((12, 2), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    """
    n_groups, n_items = _whole(n_groups, "n_groups", 1), _whole(n_items, "n_items", 1)
    n_features, n_grades = _whole(n_features, "n_features", 1), _whole(n_grades, "n_grades", 1)
    noise = _real(noise, "noise")
    if not (noise >= 0 and np.isfinite(noise)):
        raise ParameterError(f"noise = {noise} is not possible: expected a finite standard deviation of at least 0")
    random = np.random.Generator(np.random.PCG64(_whole(seed, "seed", 0)))
    n = n_groups * n_items
    direction = random.standard_normal(n_features)
    direction /= np.linalg.norm(direction)
    X = random.standard_normal((n, n_features))
    # Summed in column order, which is the same on every machine, as a matrix product is not.
    utility = np.zeros(n)
    for column, share in enumerate(direction):
        utility += share * X[:, column]
    utility += noise * random.standard_normal(n)
    # Of n_grades grades the lowest has n_grades parts of all items, the highest one.
    shares = np.arange(n_grades, 0, -1, dtype=np.float64)
    ends = np.rint(n * np.cumsum(shares) / shares.sum()).astype(np.int64)
    ranks = np.empty(n, dtype=np.int64)
    ranks[np.argsort(utility, kind="stable")] = np.arange(n)
    y = np.searchsorted(ends, ranks, side="right").astype(np.float64)
    return X, y, np.repeat(np.arange(n_groups, dtype=np.int64), n_items)


def load_svmlight(path: Path, *, n_features: int | None = None, index_base: int = 1, dtype: Any = None) -> ItemData:
    """Items in SVMlight's format, in which LETOR data come: ``label [qid:GROUP] [cost:WEIGHT] index:value ... [# comment]``.

    Parameters
    ----------
    path : path
        A file of any name, compressed or not.
    n_features : int, optional
        How many features there are, if more than the file shows.
    index_base : {1, 0}
        The number of the first feature.
    dtype : {None, float32, float64}
        How features are stored; ``None``: float32 where that keeps distinct numbers of a column apart (decimals of up to six
        digits) and no column's size exceeds its spread a thousandfold, else float64.

    Returns
    -------
    ItemData

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rankwise.datasets import load_svmlight
    >>> file = pathlib.Path(tempfile.mkdtemp(), "items.svm")
    >>> _ = file.write_text("2 qid:7 1:0.5 2:1 # first\\n0 qid:7 2:-1 # second\\n")
    >>> data = load_svmlight(file)
    >>> data.X.tolist(), data.y.tolist(), data.qid.tolist(), data.ids.tolist()
    ([[0.5, 1.0], [0.0, -1.0]], [2.0, 0.0], [7, 7], ['first', 'second'])
    """
    found = _core.load_items(_file(path), "svmlight", _columns(), _base(index_base), _precision(dtype))
    return _item_data(found, dtype, n_features)


def load_items(
    path: Path,
    *,
    label: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    id: str | None = None,
    drop: Sequence[str] = (),
    separator: str | None = None,
    format: str | None = None,
    index_base: int = 1,
    n_features: int | None = None,
    classes: bool = False,
    dtype: Any = None,
) -> ItemData:
    """A file of items: a table, SVMlight's format, a block file or an ARFF file, by its extension.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.svm``, ``.svmlight``, ``.letor``, ``.txt``, ``.dat``, each also compressed; ``.rwb``, ``.arff``, and
        ``.parquet`` where rankwise was built with it.
    label, group, weight, id : str, optional
        Columns of a table that are not called ``label``, ``qid``, ``weight`` and ``id``.
    drop : sequence of str
        Columns to leave out.
    separator : str, optional
        What stands between columns, if neither commas (``.csv``) nor tabs (``.tsv``): one character, or ``"tab"``.
    format : {"csv", "tsv", "svmlight", "rwb", "parquet"}, optional
        The format of a file whose name does not tell it.
    index_base : {1, 0}
        The number of the first feature in SVMlight's format.
    n_features : int, optional
        How many features there are in SVMlight's format, if more than the file shows.
    classes : bool
        Labels are classes, which may be words; the column ``margin`` is read.
    dtype : {None, float32, float64}
        As of :func:`load_svmlight`.

    Returns
    -------
    ItemData
    """
    file = _file(path)
    if format is None and _is_arff(file):
        _refuse("ARFF files", group=group, weight=weight, id=id, separator=separator, n_features=n_features)
        return _item_data(_core.load_arff(file, label, _names(drop), _precision(dtype)), dtype)
    columns = _columns(label=label, group=group, weight=weight, id=id, drop=drop, separator=separator)
    found = _core.load_items(file, format, columns, _base(index_base), _precision(dtype), bool(classes))
    if found["feature_names"] is not None:
        _refuse("tables", n_features=n_features)
    return _item_data(found, dtype, n_features)


def load_pairs(
    path: Path,
    items: Path | None = None,
    *,
    label: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    id: str | None = None,
    left: str | None = None,
    right: str | None = None,
    drop: Sequence[str] = (),
    separator: str | None = None,
    format: str | None = None,
    dtype: Any = None,
) -> PairData:
    """A table of pairs, with the items' ids (``left``, ``right``), their features (``left.NAME``, ``right.NAME``) or both.

    Equal items (the same id and the same features) are one row of ``X``, in the order of first appearance.

    Parameters
    ----------
    path : path
        ``.csv`` or ``.tsv``, perhaps compressed.
    items : path, optional
        A table with the features of the items, by their ids.
    label, group, weight, id : str, optional
        Columns that are not called ``outcome`` (or ``winner``), ``group``, ``weight`` and, in the table of items, ``id``.
    left, right : str, optional
        Columns of the ids that are not called ``left`` and ``right``: ``home`` and ``away``, ``model_a`` and ``model_b``.
    drop : sequence of str
        Columns to leave out.
    separator : str, optional
        What stands between columns, if neither commas (``.csv``) nor tabs (``.tsv``): one character, or ``"tab"``.
    format : {"csv", "tsv"}, optional
        The format of a file of pairs whose name does not tell it.
    dtype : {None, float32, float64}
        As of :func:`load_svmlight`.

    Returns
    -------
    PairData

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rankwise.datasets import load_pairs
    >>> file = pathlib.Path(tempfile.mkdtemp(), "pairs.csv")
    >>> _ = file.write_text("left,right,outcome\\na,b,left\\nb,c,tie\\n")
    >>> data = load_pairs(file)
    >>> data.pairs.tolist(), data.y.tolist(), data.ids.tolist()
    ([[0, 1], [1, 2]], [-1, 0], ['a', 'b', 'c'])
    """
    columns = _columns(
        label=label, group=group, weight=weight, id=id, drop=drop, left=left, right=right, separator=separator
    )
    item_file = None if items is None else _file(items, "items")
    return _pair_data(_core.load_pairs(_file(path), item_file, format, columns, _precision(dtype)), dtype)


@overload
def load_published(
    name: Literal["arff", "letor"],
    path: Path,
    *,
    label: str | None = None,
    drop: Sequence[str] = (),
    fold: int | None = None,
    part: str | None = None,
    dtype: Any = None,
) -> ItemData: ...
@overload
def load_published(
    name: Literal["sushi", "wmt", "arena", "battles", "jpeg-ai", "jpeg_ai", "chess", "football"],
    path: Path,
    *,
    group: str | None = None,
    dtype: Any = None,
) -> PairData: ...
@overload
def load_published(
    name: str,
    path: Path,
    *,
    group: str | None = None,
    label: str | None = None,
    drop: Sequence[str] = (),
    fold: int | None = None,
    part: str | None = None,
    dtype: Any = None,
) -> ItemData | PairData: ...
def load_published(
    name: str,
    path: Path,
    *,
    group: str | None = None,
    label: str | None = None,
    drop: Sequence[str] = (),
    fold: int | None = None,
    part: str | None = None,
    dtype: Any = None,
) -> ItemData | PairData:
    """A data set as its makers publish it. What is left out of it (missing values, trap questions, ...) is a warning.

    Parameters
    ----------
    name : {"arff", "letor", "sushi", "wmt", "arena", "jpeg-ai", "chess", "football"}
        Items of an ARFF file or of a fold of LETOR data; pairs of the SUSHI preferences, the WMT translation task, battles of
        language models, JPEG AI, chess games, international football.
    path : path
        A file or a directory, as ``name`` has it.
    group : str, optional
        What pairs are grouped by, where there are several ways; an unknown one lists them.
    label, drop : str, sequence of str
        Of ARFF files: the attribute to be learnt, by default the last one; attributes to leave out.
    fold, part : int, {"train", "validation", "test"}
        Of LETOR data; by default 1 and "train".
    dtype : {None, float32, float64}
        As of :func:`load_svmlight`.

    Returns
    -------
    ItemData or PairData
    """
    known = ["arff", "letor", *_core.published_pairs()]
    word = {"battles": "arena"}.get(name, name.replace("_", "-")) if isinstance(name, str) else name
    if word not in known:
        raise ParameterError(f"name = {name!r} is not possible: expected one of {', '.join(known)}")
    is_pairs = word not in ("arff", "letor")
    if not is_pairs:
        _refuse(f"{word} data", group=group)
    if word != "arff":
        _refuse(f"{word} data", label=label, drop=drop or None)
    if word != "letor":
        _refuse("data without folds", fold=fold, part=part)
    file, storage = _path(path), _precision(dtype)
    _refuse_parquet(file)
    number = _whole(1 if fold is None else fold, "fold", 1, 5)
    try:
        if word == "arff":
            return _item_data(_core.load_arff(file, label, _names(drop), storage), dtype)
        if word == "letor":
            return _item_data(_core.load_letor(file, number, "train" if part is None else part, storage), dtype)
        return _pair_data(_core.load_published_pairs(word, file, group), dtype)
    except DataError as fault:
        if os.path.exists(file):
            raise
        raise _missing(str(fault)) from None  # which says where the data come from


def save_svmlight(path: Path, X: Any, y: Any, qid: Any = None, *, sample_weight: Any = None, ids: Any = None) -> None:
    """Writes items in SVMlight's format, complete or not at all; :func:`load_svmlight` reads the same numbers.

    Parameters
    ----------
    path : path
        The file to write. It is not compressed, whatever its name.
    X : array, sparse matrix or table (n, features)
        Features; the first one has the number 1.
    y : array of n numbers
        Labels.
    qid : array of n ids, optional
        The group of each item.
    sample_weight : array of n numbers, optional
        Weights of items.
    ids : array of n strings, optional
        What the items are called: the comments.
    """
    items = _input.items(X)
    n = items.n_items
    names = None if ids is None else [_input.plain_text(item) for item in _input.vector(ids, n, "ids").tolist()]
    _core.save_items(
        _path(path),
        "svmlight",
        items,
        _input.labels(y, n),
        _input.groups(qid, n),
        _input.weights(sample_weight, n),
        names,
    )


def _path(path: Any, name: str = "path") -> str:
    try:
        return os.fsdecode(path)
    except TypeError:
        raise TypeError(f"{name} = {path!r} is no path: expected a string or a pathlib.Path") from None


def _file(path: Any, name: str = "path") -> str:
    """The path of something to read, which is there."""
    file = _path(path, name)
    if file != "-" and not os.path.exists(file):
        raise _missing(f"{file}: no such file or directory")
    return file


def _missing(text: str) -> MissingFileError:
    missing = MissingFileError(text)
    missing.errno = errno.ENOENT
    return missing


def _refuse_parquet(file: str) -> None:
    """Says of a Parquet file what it is, where text is expected."""
    try:
        with open(file, "rb") as opened:
            is_parquet = opened.read(4) == b"PAR1"
    except OSError:
        return  # whoever reads it says why it cannot be read
    if is_parquet:
        raise DataError(
            f"{file} is a Parquet file, expected the files that the makers of the data publish, which are text: read it with "
            "pandas.read_parquet, and hand its columns to rankwise.rate or an estimator"
        )


def _is_arff(file: str) -> bool:
    stem, extension = os.path.splitext(file.lower())
    return extension == ".arff" or (extension in (".gz", ".xz", ".zst") and stem.endswith(".arff"))


def _whole(value: Any, name: str, least: int, most: int | None = None) -> int:
    range_ = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    try:
        number = operator.index(value)
    except TypeError:
        raise ParameterError(f"{name} = {value!r} is not possible: expected {range_}") from None
    if number < least or (most is not None and number > most):
        raise ParameterError(f"{name} = {number} is not possible: expected {range_}")
    return number


def _real(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} = {value!r} is not possible: expected a number") from None


def _base(index_base: Any) -> int:
    return _whole(index_base, "index_base", 0, 1)


def _precision(dtype: Any) -> str:
    if dtype is None:
        return "auto"
    try:
        word = {"float32": "f32", "float64": "f64"}.get(np.dtype(dtype).name)
    except TypeError:
        word = None
    if word is None:
        raise ParameterError(f"dtype = {dtype!r} is not possible: expected None, float32 or float64")
    return word


def _names(drop: Any) -> list[str]:
    names = [drop] if isinstance(drop, str) else list(drop if drop is not None else ())
    for name in names:
        _check_name(name, "drop")
    return names


def _check_name(name: Any, argument: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{argument} = {name!r} is no name of a column: expected a string")


def _columns(
    label: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    id: str | None = None,
    drop: Any = (),
    left: str | None = None,
    right: str | None = None,
    separator: Any = None,
) -> dict[str, Any]:
    named = {"label": label, "group": group, "weight": weight, "id": id, "left": left, "right": right}
    for argument, name in named.items():
        if name is not None:
            _check_name(name, argument)
    return {**named, "drop": _names(drop), "separator": _separator(separator)}


def _separator(separator: Any) -> int | None:
    if separator is None:
        return None
    if separator in ("tab", "\\t"):  # as on the command line, and as messages name it
        return ord("\t")
    if not isinstance(separator, str) or len(separator) != 1 or ord(separator) > 127 or separator in '"\n\r\0':
        raise ParameterError(
            f"separator = {separator!r} is not possible: expected one character of ASCII that is no quote, such as ';', or the word tab"
        )
    return ord(separator)


def _refuse(where: str, **given: Any) -> None:
    """Refuses arguments that mean nothing there."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(f"{name} = {value!r} is not possible: {where} have no such choice; leave it out")


def _warn(found: dict[str, Any]) -> None:
    for text in found["warnings"]:
        warn(text)


def _matrix(parts: dict[str, Any], dtype: Any = None, n_features: int | None = None) -> Any:
    """An array, or compressed rows, in the memory that the numbers are in."""
    (n_rows, n_cols), values, rows = parts["shape"], parts["values"], parts["rows"]
    width = n_cols if n_features is None else _whole(n_features, "n_features", 1)
    if width < n_cols:
        raise ParameterError(f"n_features = {width} is not possible: the file has features up to number {n_cols}")
    if dtype is not None:
        values = values.astype(dtype, copy=False)
    if rows is None:
        dense = values.reshape(n_rows, n_cols)
        return dense if width == n_cols else np.pad(dense, ((0, 0), (0, width - n_cols)))
    from scipy.sparse import csr_matrix

    starts, columns = rows[0].view(np.int64), rows[1].view(np.int32)
    if len(values) <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)  # few, and scipy wants one type for both
    matrix = csr_matrix((values, columns, starts), shape=(n_rows, width), copy=False)
    matrix.has_canonical_format = True
    return matrix


def _texts(texts: list[str] | None) -> NDArray[np.object_] | None:
    return None if texts is None else np.array(texts, dtype=object)


def _ids_of_groups(found: Any) -> NDArray[Any] | None:
    """Whole numbers as they are; names by their numbers."""
    if not isinstance(found, tuple):
        return found  # type: ignore[no-any-return]
    names, numbers = found
    return np.array(names, dtype=object)[numbers]


def _item_data(found: dict[str, Any], dtype: Any, n_features: int | None = None) -> ItemData:
    _warn(found)
    y = found["y"]
    if found["words"] is not None:
        names, numbers = found["words"]
        y = np.array(names)[numbers]
    return ItemData(
        X=_matrix(found["X"], dtype, n_features),
        y=y,
        qid=_ids_of_groups(found["qid"]),
        weight=found["weight"],
        group_weight=found["group_weight"],
        margin=found["margin"],
        ids=_texts(found["ids"]),
        feature_names=found["feature_names"],
    )


def _pair_data(found: dict[str, Any], dtype: Any) -> PairData:
    _warn(found)
    context = found["context"]
    return PairData(
        pairs=found["pairs"].reshape(-1, 2),
        X=_matrix(found["X"], dtype),
        y=found["y"],
        weight=found["weight"],
        group=_ids_of_groups(found["group"]),
        context=None if context is None else _matrix(context, dtype),
        time=_texts(found["time"]),
        ids=_texts(found["ids"]),
        feature_names=found["feature_names"],
        context_names=found["context_names"],
    )
