"""Rankers: items with labels in groups."""

from __future__ import annotations

from typing import Any, ClassVar, Optional, TypeVar, Union

import numpy as np

from . import _core, _input
from ._base import Array, Machine
from ._callers import warn

Self = TypeVar("Self", bound="Ranker")
Gamma = Union[float, str]


class Ranker(Machine):
    """Learns scores that put the items of each group in the order of their labels."""

    #: Whether fits may start from the model before.
    _starts: ClassVar[bool] = False
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, Any]] = {"qid": True}

    def fit(self: Self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None, group_weight: Any = None) -> Self:
        """Learns from items with labels.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_items, n_features)
            float32 and float64 arrays in C order and CSR matrices are not copied.
        y : array of shape (n_items,)
            Labels: of two items in a group the one with the larger label is better.
        qid : array of shape (n_items,), optional
            The group of each item: any values, in any order. Without it all items are compared with each other.
        sample_weight : array of shape (n_items,), optional
            A pair has the product of the weights of its two items.
        group_weight : array of shape (n_items,), optional
            The weight of each item's group, the same for all items of a group.
        """
        return self._fit(X, y, qid, sample_weight, group_weight, self._start(), self._params())

    def _start(self) -> Optional[_core.Model]:
        """Where the fit may begin: linear machines at the one before, if asked."""
        params = self.get_params(deep=False)
        may = self._starts and params.get("warm_start") and params.get("kernel", "linear") == "linear"
        return self._model if may and self.__sklearn_is_fitted__() and self._model.weights is not None else None

    def _fit(
        self: Self,
        X: Any,
        y: Any,
        qid: Any,
        sample_weight: Any,
        group_weight: Any,
        start: Optional[_core.Model],
        params: dict[str, Any],
    ) -> Self:
        names = self._names(X)
        items = _input.items(X)
        if items.n_items < 2:
            raise ValueError(
                f"Found array with 1 sample(s) while {type(self).__name__} needs at least two items to compare"
            )
        labels = self._labels(y, items.n_items)
        groups = _groups(qid, items.n_items)
        weights = _input.weights(sample_weight, items.n_items)
        of_groups = _group_weights(group_weight, groups, items.n_items)
        with self._progress() as tell:
            model = _core.fit_items(
                self._method, params, items, labels, groups, weights, of_groups, start, self._threads(), tell
            )
            self._end(tell, model)
        model = self._with_support(model, items, X)
        self._has_groups = groups is not None
        return self._adopt(model, names)

    def _labels(self, y: Any, n: int) -> Array:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: labels are needed"
            )
        return _input.labels(y, n)

    def predict(self, X: Any) -> Array:
        """One score per item; higher is better. Scores of different groups are not comparable."""
        items = self._items_to_score(X)
        return self._model.scores(items, self._threads())

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """The share of pairs that are in order, over all pairs of items in one group with different labels."""
        return self._pair_accuracy(self.predict(X), y, qid, sample_weight)

    def _pair_accuracy(self, scores: Array, y: Any, qid: Any, sample_weight: Any) -> float:
        from .metrics import pair_accuracy

        if qid is None and getattr(self, "_has_groups", False):
            warn(scored_without(type(self).__name__))
        return float(pair_accuracy(y, scores, qid=qid, sample_weight=sample_weight))


def scored_without(name: str) -> str:
    """What is said of an estimator that knows groups and is measured as if there were none."""
    return (
        f"{name} was fitted with qid and is scored without: pairs of items in different groups count, too. "
        "Pass qid to score; in a search of scikit-learn call sklearn.set_config(enable_metadata_routing=True) first, "
        "or use rankwise.tune, which knows groups"
    )


def _groups(qid: Any, n: int) -> Optional[_core.Groups]:
    if qid is not None:
        sizes = _input.array_of(qid, "qid")
        if sizes.ndim == 1 and len(sizes) != n and sizes.dtype.kind in "iu" and int(sizes.sum()) == n:
            raise ValueError(
                f"qid has {len(sizes)} entries for {n} items, whose sum is {n}: these seem to be sizes of groups. "
                "One id per item is needed: qid = numpy.repeat(numpy.arange(len(sizes)), sizes)"
            )
    return _input.groups(qid, n)


def _group_weights(values: Any, groups: Optional[_core.Groups], n: int) -> Optional[Array]:
    """One weight per group, from one per item."""
    rows = _input.weights(values, n, "group_weight")
    if rows is None:
        return None
    if groups is None:
        raise ValueError("group_weight is given without qid: there is one group only")
    numbers = groups.numbers
    of_groups = np.zeros(len(groups))
    of_groups[numbers] = rows
    differs = np.flatnonzero(of_groups[numbers] != rows)
    if differs.size:
        raise ValueError(
            f"group_weight has different weights within one group (row {differs[0]}): give all its items the same"
        )
    return of_groups


class RankSVM(Ranker):
    """Ranking SVM: ½‖r‖² + C·Σ c·ℓ(1 − (r(xᵢ) − r(xⱼ))) over the pairs of a group with yᵢ > yⱼ.

    No pair is ever formed: time grows with the number of items, not with that of pairs (but for the logistic loss).

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the sum of the losses of pairs; ``inf`` asks for a hard margin (linear only).
    loss : {'squared-hinge', 'hinge', 'logistic'}, default='squared-hinge'
    kernel : {'linear', 'poly', 'rbf', 'sigmoid'}, default='linear'
    gamma : float or 'scale', default='scale'
        Width of poly, rbf and sigmoid; 'scale' is 1/(features × variance).
    degree : int, default=3
        Degree of poly.
    coef0 : float, default=0.0
        Constant of poly and sigmoid.
    approx : str, optional
        'nystrom:M' takes the functions that M items span for those of the kernel.
    balance : {'none', 'groups'}, default='none'
        'groups' makes all groups weigh the same.
    pairs_per_item : int, optional
        Only so many random partners of each item make pairs with it.
    scale : {'none', 'standard', 'minmax'}, default='none'
        Scaling of features, learnt in fit and kept in the model.
    tol : float, default=1e-3
        The relative duality gap at which to stop.
    max_iter : int, optional
    time_limit : float, optional
        Seconds.
    cache_mb : int, default=512
        Memory for kernel values.
    threads : int, default=0
        0 means all. Results do not depend on it.
    seed : int, default=0
    warm_start : bool, default=False
        Linear machines start from the model of the fit before, such as that of another C.
    verbose : bool, default=False
        Shows progress by tqdm.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Weights of features (linear).
    support_, dual_coef_, support_vectors_ : arrays
        The items that scores are made of (kernels).
    n_iter_, gap_, objective_, report_
        How training went.
    n_features_in_, feature_names_in_
        What it was fitted on.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise import RankSVM
    >>> X = np.array([[0.1, 3.0], [0.5, 1.0], [0.9, 2.0], [0.2, 7.0], [0.4, 6.0]])
    >>> ranker = RankSVM(C=100).fit(X, [0, 1, 2, 0, 1], qid=["a", "a", "a", "b", "b"])
    >>> ranker.score(X, [0, 1, 2, 0, 1], qid=["a", "a", "a", "b", "b"])
    1.0
    """

    _method = "rank"
    _starts = True

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared-hinge",
        kernel: str = "linear",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        approx: Optional[str] = None,
        balance: str = "none",
        pairs_per_item: Optional[int] = None,
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        cache_mb: int = 512,
        threads: int = 0,
        seed: int = 0,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approx = approx
        self.balance = balance
        self.pairs_per_item = pairs_per_item
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start
        self.verbose = verbose

    @classmethod
    def _can_hold(cls, model: _core.Model) -> bool:
        return model.method == "rank" and not model.is_of_pairs


class SwapSVM(Ranker):
    """The structural SVM whose loss is the number of swapped pairs: ½‖w‖² + C·ξ, by its cutting planes.

    It equals ``RankSVM(loss='hinge')`` at 4·C, with half its scores.

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the slack.
    normalise : bool, default=False
        Divides the number of swapped pairs by that of all pairs.
    balance, kernel, gamma, degree, coef0, scale, tol, max_iter, time_limit, cache_mb, threads, seed, warm_start, verbose
        As for :class:`RankSVM`.
    """

    _method = "swap"
    _starts = True

    def __init__(
        self,
        C: float = 1.0,
        *,
        normalise: bool = False,
        balance: str = "none",
        kernel: str = "linear",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        cache_mb: int = 512,
        threads: int = 0,
        seed: int = 0,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.normalise = normalise
        self.balance = balance
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start
        self.verbose = verbose


class Ridge(Ranker):
    """Least squares on the labels: ½‖w‖² + C·Σ c·(y − w·x − b)², the baseline of rankers.

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the sum of squares.
    scale, tol, max_iter, time_limit, cache_mb, threads, seed, verbose
        As for :class:`RankSVM`.
    """

    _method = "ridge"

    def __init__(
        self,
        C: float = 1.0,
        *,
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        cache_mb: int = 512,
        threads: int = 0,
        seed: int = 0,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.verbose = verbose


class RankingVectorMachine(Ranker):
    """The Ranking Vector Machine: Σ|aᵢ| + C·Σ c·max(0, 1 − (r(xᵢ) − r(xⱼ))), r(x) = Σ aᵢ·K(xᵢ, x), few aᵢ not 0.

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the sum of the losses of pairs; finite.
    coefficients : {'signed', 'nonnegative'}, default='signed'
        Nonnegative ones cannot reverse a ranking.
    kernel, gamma, degree, coef0, balance, scale, tol, max_iter, time_limit, cache_mb, threads, seed, verbose
        As for :class:`RankSVM`.
    """

    _method = "rvm"

    def __init__(
        self,
        C: float = 1.0,
        *,
        coefficients: str = "signed",
        kernel: str = "linear",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        balance: str = "none",
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        cache_mb: int = 512,
        threads: int = 0,
        seed: int = 0,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.coefficients = coefficients
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.balance = balance
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.verbose = verbose


class OneNormRankSVM(Ranker):
    """The 1-norm ranking SVM: r(x) = Σ aᵢⱼ·(K(xᵢ, x) − K(xⱼ, x)) over pairs, a ≥ 0, Σ aᵢⱼ + C·Σ losses; few aᵢⱼ not 0.

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the sum of the losses of pairs; finite.
    kernel, gamma, degree, coef0, balance, scale, tol, max_iter, time_limit, cache_mb, threads, seed, verbose
        As for :class:`RankSVM`.
    """

    _method = "rank-l1"

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "linear",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        balance: str = "none",
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        cache_mb: int = 512,
        threads: int = 0,
        seed: int = 0,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.balance = balance
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.verbose = verbose


class OnlineRankSVM(Ranker):
    """Ranking SVM with the hinge by random steps, for data that are too many for anything else or keep coming.

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the sum of the losses of pairs.
    batch : {'pair', 'group'}, default='pair'
        What a step looks at.
    schedule : {'inverse', 'sqrt'}, default='inverse'
        How steps get smaller.
    average : bool, default=True
        Weights are an average over the steps, later ones counting more, rather than the last ones.
    steps, epochs : int, optional
        How many steps, or passes of as many steps as items (groups). By default 10 passes, for few data more;
        in ``partial_fit`` one.
    certify : bool, default=False
        Computes the duality gap at the end.
    balance, scale, tol, max_iter, time_limit, cache_mb, threads, seed, warm_start, verbose
        As for :class:`RankSVM`; ``max_iter`` and ``cache_mb`` do not count here.
    """

    _method = "online"
    _starts = True
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {"qid": True}

    def __init__(
        self,
        C: float = 1.0,
        *,
        batch: str = "pair",
        schedule: str = "inverse",
        average: bool = True,
        steps: Optional[int] = None,
        epochs: Optional[int] = None,
        certify: bool = False,
        balance: str = "none",
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        cache_mb: int = 512,
        threads: int = 0,
        seed: int = 0,
        warm_start: bool = False,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.batch = batch
        self.schedule = schedule
        self.average = average
        self.steps = steps
        self.epochs = epochs
        self.certify = certify
        self.balance = balance
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start
        self.verbose = verbose

    def partial_fit(
        self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None, group_weight: Any = None
    ) -> OnlineRankSVM:
        """Goes on learning from more items, from where the last call stopped; groups must come whole.

        One pass over them unless ``steps`` or ``epochs`` say otherwise. C counts the pairs of the call.
        """
        start = None
        if self.__sklearn_is_fitted__():
            start = self._model
            self._items_to_score(X)
        params = self._params()
        if params["steps"] is None and params["epochs"] is None:
            params["epochs"] = 1
        return self._fit(X, y, qid, sample_weight, group_weight, start, params)
