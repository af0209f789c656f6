"""Choosing parameters on folds that never split a group, without any configuration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any, Generic, Optional, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _core, _input
from ._base import Machine
from ._callers import warn
from ._comparer import Comparer, _check_unknown
from ._labels import SVC, SVR, OrdinalSVM, _check_classes, class_name
from ._outcomes import outcomes
from ._progress import Tell, bar
from ._rankers import OneNormRankSVM, RankingVectorMachine, RankSVM
from .exceptions import ParameterError

Estimator = TypeVar("Estimator", bound=Machine)

#: The parameters that kernels have.
_OF_KERNELS = {"linear": (), "rbf": ("gamma",), "poly": ("gamma", "degree", "coef0"), "sigmoid": ("gamma", "coef0")}
_NAMES = ("C", "gamma", "degree", "coef0", "epsilon", "kernel", "loss")


@dataclass(frozen=True)
class Tuned(Generic[Estimator]):
    """What a search has found."""

    #: The estimator with the best parameters, fitted to all of the data.
    best_estimator_: Estimator
    #: Its parameters, of those that were searched.
    best_params_: dict[str, Any]
    #: The mean of the metric there, on what was held out.
    best_score_: float
    #: The name of the metric, and whether more of it is better.
    metric_: str
    greater_is_better_: bool
    #: Every point: its parameters, the mean and the metric on every part that was held out.
    points_: list[dict[str, Any]]

    def to_pandas(self) -> Any:
        """Every point as a row."""
        import pandas

        return pandas.DataFrame(
            [
                {**point["params"], "mean": point["mean"], **{f"fold{k}": v for k, v in enumerate(point["folds"])}}
                for point in self.points_
            ]
        )

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.best_params_.items())
        return f"Tuned({chosen}: {self.metric_} {self.best_score_:.4g} over {len(self.points_)} points)"


def tune(
    estimator: Estimator,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    context: Any = None,
    grid: Optional[Mapping[str, Any]] = None,
    folds: int = 5,
    valid: Optional[tuple[Any, ...]] = None,
    metric: Optional[str] = None,
    time_limit: Optional[float] = None,
) -> Tuned[Estimator]:
    """Chooses the parameters of an estimator by a metric on items or pairs that were held out.

    It needs no configuration to respect groups, and is much faster than a search from outside: fits along C start from each
    other, and all fits of one kernel share its values.

    Parameters
    ----------
    estimator : RankSVM, RankingVectorMachine, OneNormRankSVM, OrdinalSVM, SVC, SVR, CompareSVM, CompareRank or Davidson
        It is not changed; parameters that are not searched stay as they are.
    X : array, sparse matrix or table; for comparers pairs
    y : array
        Labels, classes, values or outcomes.
    qid : array, optional
        Groups: folds never split them. For comparers pairs that belong together, such as those of one judge.
    sample_weight : array, optional
    context : array or table, optional
        For comparers, what describes each comparison itself.
    grid : dict, optional
        Lists of values of C, gamma, degree, coef0, epsilon, kernel and loss; ``"0.1:100:4"`` stands for 4 values from 0.1 to 100
        at equal ratios. By default values of C that suit the data and, for rbf, of gamma.
    folds : int, default=5
    valid : tuple (X, y) or (X, y, qid), optional
        Measures on these instead of folds. For comparers groups change nothing there; what describes the comparisons is a fourth
        part, (pairs, y, None, context).
    metric : str, optional
        The names of ``rankwise tune --metric``: 'ndcg@10', 'zero_one', 'rmse', ….
    time_limit : float, optional
        Seconds for the search.

    Returns
    -------
    Tuned
        ``best_estimator_``, ``best_params_``, ``best_score_``, ``points_``.
    """
    if not isinstance(estimator, (RankSVM, RankingVectorMachine, OneNormRankSVM, OrdinalSVM, SVC, SVR, Comparer)):
        raise ParameterError(
            f"estimator = {type(estimator).__name__} is not possible: tune chooses for RankSVM, RankingVectorMachine, OneNormRankSVM, "
            "OrdinalSVM, SVC, SVR, CompareSVM, CompareRank and Davidson; GridSearchCV of scikit-learn for all"
        )
    _check_arguments(estimator, grid, folds, metric, time_limit, context)
    chosen = type(estimator)(**estimator.get_params(deep=False))
    searched = _searched(estimator, grid)
    search = _search(estimator, searched, grid is None, folds, metric, time_limit)
    params = chosen._params()
    with _bar(estimator) as tell:
        if isinstance(chosen, Comparer):
            model, names = _tune_pairs(chosen, params, search, X, y, qid, sample_weight, context, valid, tell)
        else:
            model, names = _tune_items(chosen, params, search, X, y, qid, sample_weight, valid, tell)
    return _told(chosen, model, names, searched)


def _check_arguments(estimator: Machine, grid: Any, folds: Any, metric: Any, time_limit: Any, context: Any) -> None:
    def refuse(name: str, value: Any, expected: str) -> None:
        refused = ParameterError(f"{name} = {value!r} is not possible: expected {expected}")
        refused.name = name
        raise refused

    if grid is not None and not isinstance(grid, Mapping):
        refuse("grid", grid, "a dictionary of lists")
    if not isinstance(folds, (int, np.integer)) or isinstance(folds, bool) or not 2 <= folds <= 2**31:
        refuse("folds", folds, "a whole number of at least 2")
    if metric is not None and not isinstance(metric, str):
        refuse("metric", metric, "the name of a metric")
    if time_limit is not None and (
        isinstance(time_limit, (str, bool)) or not isinstance(time_limit, (int, float, np.number))
    ):
        refuse("time_limit", time_limit, "seconds, or None")
    if context is not None and not isinstance(estimator, Comparer):
        refuse("context", "an array", "none: only comparers have one")


def _numbers(name: str, values: list[Any]) -> list[float]:
    for value in values:
        if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number)):
            raise ParameterError(f"grid[{name!r}] has {value!r}: numbers are needed")
    return [float(value) for value in values]


def _searched(estimator: Machine, grid: Optional[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values of each name in the grid, checked."""
    values: dict[str, list[Any]] = {}
    params = estimator.get_params(deep=False)
    for name, given in (grid or {}).items():
        if name not in _NAMES or name not in params:
            known = ", ".join(known for known in _NAMES if known in params)
            raise ParameterError(
                f"grid = {name!r} is not possible: the names for {type(estimator).__name__} are {known}"
            )
        values[name] = _values(name, given)
    return values


def _values(name: str, given: Any) -> list[Any]:
    if isinstance(given, str) and given.count(":") == 2:
        lo, hi, n = given.split(":")
        try:
            if int(n) > 10_000:
                raise ValueError("at most 10000 values are possible")
            return _core.spaced(float(lo), float(hi), int(n))
        except ValueError as problem:
            raise ParameterError(
                f"grid[{name!r}] = {given!r} is not possible: expected 'lo:hi:n' ({problem})"
            ) from None
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    listed = [value.item() if isinstance(value, np.generic) else value for value in given]
    if not listed:
        raise ParameterError(f"grid[{name!r}] is empty: give at least one value")
    try:
        return list(dict.fromkeys(listed))
    except TypeError:
        raise ParameterError(f"grid[{name!r}] = {given!r} is not possible: expected a list of values") from None


def _search(
    estimator: Machine,
    searched: dict[str, list[Any]],
    usual: bool,
    folds: int,
    metric: Optional[str],
    time_limit: Optional[float],
) -> _core.Search:
    params = estimator.get_params(deep=False)

    def values(name: str) -> list[Any]:
        return searched.get(name, [params[name]])

    kernels = []
    for kernel in values("kernel"):
        if kernel not in _OF_KERNELS:
            raise ParameterError(f"kernel = {kernel!r} is not possible: expected linear, poly, rbf or sigmoid")
        names = _OF_KERNELS[kernel]
        kernels += [{"kernel": kernel, **dict(zip(names, point))} for point in product(*map(values, names))]
    c = None if usual else _numbers("C", values("C"))
    n_points = len(kernels) * len(c or [0]) * len(searched.get("loss", [0])) * len(searched.get("epsilon", [0]))
    if n_points > 10_000:
        raise ParameterError(f"grid has {n_points} points: at most 10000 are possible")
    losses = [str(value) for value in searched.get("loss", [params.get("loss", _loss_of(estimator))])]
    epsilons = _numbers("epsilon", searched["epsilon"]) if "epsilon" in searched else None
    widens = usual and params["gamma"] == "scale"
    return _core.Search(estimator._method, c, kernels, widens, losses, epsilons, int(folds), metric, time_limit)


def _loss_of(estimator: Machine) -> str:
    """The only loss of machines that have no choice."""
    return "logistic" if estimator._method == "davidson" else "hinge"


@contextmanager
def _bar(estimator: Machine) -> Iterator[Tell]:
    asked = bool(estimator.get_params(deep=False).get("verbose"))
    with bar(asked, "tune", " fits") as shown:

        def tell(done: int, _: float, total: float) -> None:
            shown.total = int(total)
            shown.update(done - shown.n)

        yield None if shown is None else tell
        if shown is not None and shown.total is not None:
            shown.update(shown.total - shown.n)


Model = tuple[_core.Model, Optional[list[str]]]


def _unpacked(valid: tuple[Any, ...], most: int = 3) -> tuple[Any, ...]:
    """The parts of what is measured on, so many of them: None for what is not given."""
    if not isinstance(valid, (tuple, list)) or not 2 <= len(valid) <= most:
        more = " or (pairs, y, qid, context)" if most == 4 else ""
        raise ParameterError(f"valid is not possible: expected (X, y) or (X, y, qid){more}")
    return (*valid, None, None)[:most]


def _tune_items(
    estimator: Any,
    params: dict[str, Any],
    search: _core.Search,
    X: Any,
    y: Any,
    qid: Any,
    sample_weight: Any,
    valid: Any,
    tell: Tell,
) -> Model:
    names = estimator._names(X)
    items = _input.items(X)
    n = items.n_items
    groups = _input.groups(qid, n)
    weights = _input.weights(sample_weight, n)
    held = None if valid is None else _unpacked(valid)
    held_items = None if held is None else _input.items(held[0], "valid[0]")
    if held_items is not None and held_items.n_features != items.n_features:
        raise ValueError(
            f"valid[0] has {held_items.n_features} features, X has {items.n_features}: the same are needed"
        )
    held_groups = None if held is None or held_items is None else _input.groups(held[2], held_items.n_items, "valid[2]")

    def measured(labels: Any) -> Any:
        return None if held is None else {"items": held_items, "labels": labels, "groups": held_groups, "weights": None}

    threads = estimator._threads()
    if isinstance(estimator, SVC):
        labels = _input.vector(y, n, "y")
        _check_classes(labels)
        classes, numbers = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError("y has one class only, where SVC needs at least two classes")
        places = None
        if held is not None and held_items is not None:
            places = _places(_input.vector(held[1], held_items.n_items, "valid[1]"), classes)
        if isinstance(estimator.class_weight, dict):
            params["class_weight"] = [(class_name(label), float(w)) for label, w in estimator.class_weight.items()]
        model = _core.tune_classes(
            params, search, items, numbers.astype(np.uint32).ravel(), [class_name(c) for c in classes], groups, weights,
            measured(places), threads, tell,
        )  # fmt: skip
        return estimator._adopt_classes(model, items, X, classes, numbers, weights), names
    else:
        held_y = None if held is None or held_items is None else _input.labels(held[1], held_items.n_items, "valid[1]")
        of_labels = isinstance(estimator, (SVR, OrdinalSVM))
        search_for = _core.tune_labels if of_labels else _core.tune_items
        model = search_for(
            estimator._method,
            params,
            search,
            items,
            _input.labels(y, n),
            groups,
            weights,
            measured(held_y),
            threads,
            tell,
        )
        estimator._has_groups = groups is not None
    return estimator._with_support(model, items, X), names


def _places(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.uint32]:
    places = np.searchsorted(classes, labels)
    unknown = np.flatnonzero(classes[np.minimum(places, len(classes) - 1)] != labels)
    if unknown.size:
        raise ValueError(f"valid[1] has a class that y has not: {labels[unknown[0]]!r} in row {unknown[0]}")
    return places.astype(np.uint32)


def _tune_pairs(
    estimator: Comparer, params: dict[str, Any], search: _core.Search, X: Any, y: Any, qid: Any, sample_weight: Any, context: Any,
    valid: Any, tell: Tell,
) -> Model:  # fmt: skip
    _check_unknown(estimator.unknown)
    pairs, names = estimator._read(X, context, fitting=True)
    n = pairs.n_pairs
    held = None
    if valid is not None:
        held_pairs, held_y, held_groups, held_context = _unpacked(valid, most=4)
        read, _ = estimator._read(held_pairs, held_context)
        if np.ndim(held_groups) > 1:
            raise ParameterError(
                "valid[2] is not possible: expected qid, a group for each pair, or None; what describes the comparisons is valid[3]"
            )
        _input.groups(held_groups, read.n_pairs, "valid[2]")
        if read.items.n_features != pairs.items.n_features and not isinstance(np.asarray(held_pairs).flat[0], str):
            raise ValueError(
                f"valid[0] has {read.items.n_features} features, X has {pairs.items.n_features}: the same are needed"
            )
        held = {"pairs": read, "outcomes": outcomes(held_y, read.n_pairs, "valid[1]"), "weights": None}
    model = _core.tune_pairs(
        estimator._method, params, search, pairs, outcomes(y, n, "y"), _input.groups(qid, n), _input.weights(sample_weight, n), held,
        estimator._threads(), tell,
    )  # fmt: skip
    model = estimator._find_support(model, X)
    estimator.classes_ = np.array([-1, 0, 1])
    return model, names


def _told(
    estimator: Estimator, model: _core.Model, names: Optional[list[str]], searched: dict[str, list[Any]]
) -> Tuned[Estimator]:
    tuning = json.loads(model.tuning() or "{}")
    for text in tuning.get("warnings", []):
        warn(text)
    has_loss = "loss" in estimator.get_params(deep=False)
    points = [_point(point, has_loss) for point in tuning["points"]]
    best = points[tuning["best"]]
    varied = {
        name
        for name in best["params"]
        if name in searched or any(p["params"].get(name) != best["params"][name] for p in points)
    }
    estimator.set_params(**best["params"])
    estimator._adopt(model, names)
    return Tuned(
        best_estimator_=estimator,
        best_params_={name: value for name, value in best["params"].items() if name in varied},
        best_score_=float(best["mean"]),
        metric_=tuning["metric"],
        greater_is_better_=tuning["greater_is_better"],
        points_=points,
    )


def _point(point: dict[str, Any], has_loss: bool) -> dict[str, Any]:
    kernel = point["kernel"]
    params: dict[str, Any] = {"C": point["c"]}
    if has_loss:
        params["loss"] = point["loss"]
    params["kernel"] = kernel["name"]
    params.update({name: kernel[name] for name in _OF_KERNELS[kernel["name"]]})
    if point.get("epsilon") is not None:
        params["epsilon"] = point["epsilon"]
    return {"params": params, "mean": point["mean"], "folds": point["folds"]}
