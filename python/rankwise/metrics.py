"""How good scores and judgments of pairs are: exact with ties, by the library's own metrics.

**Items**: ``y`` are labels (higher is better), ``scores`` what a ranker predicts, ``qid`` the group of each item in any order;
without ``qid`` all items are one group. Metrics of pairs are pooled over all pairs, the others are means over groups. Groups in
which labels leave nothing to measure are left out; where no group is left, the value is ``nan``.

``pair_accuracy``, ``swapped_pairs``, ``concordance``, ``kendall_tau``, ``kendall_tau_a``, ``spearman``, ``ndcg``,
``mean_average_precision``, ``mrr``, ``err``, ``precision``; any of them by the name it has on the command line: ``item_metric``,
``per_group``; for scikit-learn: ``make_scorer``.

**Comparisons**: ``y`` says how pairs were judged, -1 (left is better), 0 (tie) or 1 (right is better); a margin is
score(right) - score(left).

Pairs for which ``nan`` is predicted are left out, and a warning says how many.

``comparison_zero_one``, ``comparison_confusion``, ``comparison_accuracy``, ``comparison_auc``, ``comparison_auc_baseline``,
``comparison_roc``, ``comparison_log_loss``, ``comparison_brier``.
"""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core, _input, _outcomes

__all__ = [
    "RocCurve",
    "comparison_accuracy",
    "comparison_auc",
    "comparison_auc_baseline",
    "comparison_brier",
    "comparison_confusion",
    "comparison_log_loss",
    "comparison_roc",
    "comparison_zero_one",
    "concordance",
    "err",
    "item_metric",
    "kendall_tau",
    "kendall_tau_a",
    "make_scorer",
    "mean_average_precision",
    "mrr",
    "ndcg",
    "pair_accuracy",
    "per_group",
    "precision",
    "spearman",
    "swapped_pairs",
]


def _numbers(values: Any, n: int | None, name: str, may_be_nan: bool = False) -> NDArray[np.float64]:
    """One float64 per entry; anything but NaN, unless that says that nothing is known."""
    array = _input.vector(values, n, name)
    if array.dtype.kind not in "fiubO":
        raise ValueError(f"{name} has elements of type {array.dtype}: numbers are needed")
    try:
        array = np.require(array, np.float64, ["C", "A"])
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} has elements that are no numbers: {problem}") from None
    missing = np.flatnonzero(np.isnan(array))
    if missing.size and not may_be_nan:
        raise ValueError(f"Input {name} contains NaN (in row {missing[0]}): numbers are needed")
    return array


def _not_empty(array: NDArray[Any], name: str) -> None:
    if array.size == 0:
        raise ValueError(f"{name} has no entries: at least one is needed")


def _ranked(
    y: Any, scores: Any, qid: Any, sample_weight: Any = None, group_weight: Any = None, ids: Any = None
) -> _core.RankedItems:
    labels = _input.labels(y, None)
    _not_empty(labels, "y")
    n = len(labels)
    names = None if ids is None else [_input.plain_text(item) for item in _input.vector(ids, n, "ids").tolist()]
    groups = _input.groups(qid, n)
    weights = _input.weights(group_weight, 1 if groups is None else len(groups), "group_weight")
    if groups is not None and weights is not None:
        by_number = np.empty_like(weights)
        by_number[_first_items(groups)[0]] = weights
        weights = by_number
    return _core.RankedItems(
        labels, _numbers(scores, n, "scores"), groups, _input.weights(sample_weight, n), weights, names
    )


def _first_items(groups: _core.Groups) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The numbers of groups in the order in which they first appear, and the first item of each."""
    _, first = np.unique(groups.numbers, return_index=True)
    order = np.argsort(first)
    return order, first[order]


def item_metric(
    name: str,
    y: Any,
    scores: Any,
    qid: Any = None,
    *,
    sample_weight: Any = None,
    group_weight: Any = None,
    ids: Any = None,
) -> float:
    """Any metric of ranked items by the name it has on the command line.

    Parameters
    ----------
    name : str
        Such as ``"ndcg@10"``, ``"ndcg@10:lightgbm"`` or ``"map:rel=2"``.
    y : array of n numbers
        Labels; higher is better.
    scores : array of n numbers
        What a ranker predicts. ``-inf`` says that an item was judged but not retrieved.
    qid : array of n ids, optional
        The group of each item, in any order; without it all items are one group.
    sample_weight : array of n numbers, optional
        Items of weight 0 are absent. Metrics of pairs weigh a pair by the product of its two items' weights, ``spearman`` weighs
        items; metrics of ranks know no other weights.
    group_weight : array, optional
        One weight per group, in the order in which groups first appear.
    ids : array of n strings, optional
        What the items are called; ``:trec`` orders equal scores by them.

    Returns
    -------
    float
        ``nan`` where no group has a value.

    Examples
    --------
    >>> from rankwise.metrics import item_metric
    >>> item_metric("pair_accuracy", [2, 1, 0, 0, 1], [0.9, 0.1, 0.3, 0.5, 0.7], qid=[7, 7, 7, 8, 8])
    0.75
    """
    return _ranked(y, scores, qid, sample_weight, group_weight, ids).metric(name)


def per_group(
    name: str, y: Any, scores: Any, qid: Any, *, sample_weight: Any = None, ids: Any = None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """A metric of ranked items in every group.

    Parameters are those of :func:`item_metric`.

    Returns
    -------
    groups : array
        The ids of ``qid``, in the order in which they first appear.
    values : array of float64
        One value per group; ``nan`` where the metric is not defined.

    Examples
    --------
    >>> from rankwise.metrics import per_group
    >>> groups, values = per_group("mrr", [1, 0, 0, 1], [2, 1, 2, 1], qid=["b", "b", "a", "a"])
    >>> [str(group) for group in groups], values.tolist()
    (['b', 'a'], [1.0, 0.5])
    """
    groups = _input.groups(qid, len(_input.vector(y, None, "y")))
    if groups is None:
        raise ValueError("qid is None: without groups there is one value, that of item_metric")
    values = _ranked(y, scores, qid, sample_weight, None, ids).per_group(name)
    numbers, items = _first_items(groups)
    return _input.vector(qid, None, "qid")[items], values[numbers]


def pair_accuracy(y: Any, scores: Any, qid: Any = None, *, sample_weight: Any = None) -> float:
    """Share of the pairs of different labels whose scores have the same order; equal scores are wrong. Pooled over all pairs.

    Parameters are those of :func:`item_metric`.

    Examples
    --------
    >>> from rankwise.metrics import pair_accuracy
    >>> pair_accuracy([0, 1, 2], [0.1, 0.2, 0.2])
    0.6666666666666666
    """
    return item_metric("pair_accuracy", y, scores, qid, sample_weight=sample_weight)


def swapped_pairs(y: Any, scores: Any, qid: Any = None, *, sample_weight: Any = None) -> float:
    """1 - :func:`pair_accuracy`; less is better."""
    return item_metric("swapped_pairs", y, scores, qid, sample_weight=sample_weight)


def concordance(y: Any, scores: Any, qid: Any = None, *, sample_weight: Any = None) -> float:
    """:func:`pair_accuracy` with one half for equal scores: the c-index; with two labels the area under the ROC curve."""
    return item_metric("concordance", y, scores, qid, sample_weight=sample_weight)


def kendall_tau(y: Any, scores: Any, qid: Any = None, *, sample_weight: Any = None) -> float:
    """Kendall's tau-b, mean over groups; 0 in groups whose scores are all equal."""
    return item_metric("kendall_tau", y, scores, qid, sample_weight=sample_weight)


def kendall_tau_a(y: Any, scores: Any, qid: Any = None, *, sample_weight: Any = None) -> float:
    """Kendall's tau-a, (concordant - discordant) / all pairs; mean over groups."""
    return item_metric("kendall_tau_a", y, scores, qid, sample_weight=sample_weight)


def spearman(y: Any, scores: Any, qid: Any = None, *, sample_weight: Any = None) -> float:
    """Spearman's correlation of ranks, equal ones sharing their mean rank; mean over groups."""
    return item_metric("spearman", y, scores, qid, sample_weight=sample_weight)


def ndcg(
    y: Any,
    scores: Any,
    qid: Any = None,
    k: int | None = None,
    preset: str | None = None,
    *,
    sample_weight: Any = None,
    ids: Any = None,
) -> float:
    """Normalised discounted cumulative gain, mean over groups.

    Gain 2**label - 1, discount 1/log2(1 + rank); equal scores are averaged over all orders; groups without gain are left out.

    Parameters
    ----------
    y, scores, qid, sample_weight, ids
        As of :func:`item_metric`.
    k : int, optional
        How many ranks count; all without it.
    preset : {"sklearn", "lightgbm", "xgboost", "letor", "trec"}, optional
        Gives the numbers of that tool, for equal scores and groups without gain, too.

    Examples
    --------
    >>> from rankwise.metrics import ndcg
    >>> round(ndcg([3, 2, 0], [0.1, 0.9, 0.2]), 6), ndcg([3, 2, 0], [3, 2, 1], k=10)
    (0.730929, 1.0)
    """
    name = "ndcg" if k is None else f"ndcg@{_ranks(k)}"
    return item_metric(_with_preset(name, preset), y, scores, qid, sample_weight=sample_weight, ids=ids)


def mean_average_precision(
    y: Any,
    scores: Any,
    qid: Any = None,
    *,
    rel: float = 1.0,
    preset: str | None = None,
    sample_weight: Any = None,
    ids: Any = None,
) -> float:
    """Mean over groups of the average precision (``map`` on the command line); groups without a relevant item are left out.

    Parameters
    ----------
    y, scores, qid, sample_weight, ids
        As of :func:`item_metric`.
    rel : float
        Items of this label and above are relevant.
    preset : {"letor", "trec"}, optional
        Gives the numbers of that tool.
    """
    name = _with_preset(f"map:{_relevant(rel)}", preset)
    return item_metric(name, y, scores, qid, sample_weight=sample_weight, ids=ids)


def mrr(
    y: Any,
    scores: Any,
    qid: Any = None,
    *,
    rel: float = 1.0,
    preset: str | None = None,
    sample_weight: Any = None,
    ids: Any = None,
) -> float:
    """Mean over groups of 1/rank of the first relevant item, 0 where there is none.

    Parameters
    ----------
    y, scores, qid, sample_weight, ids
        As of :func:`item_metric`.
    rel : float
        Items of this label and above are relevant.
    preset : {"trec"}, optional
        Gives the numbers of that tool.
    """
    name = _with_preset(f"mrr:{_relevant(rel)}", preset)
    return item_metric(name, y, scores, qid, sample_weight=sample_weight, ids=ids)


def err(y: Any, scores: Any, qid: Any = None, k: int = 10, *, sample_weight: Any = None) -> float:
    """Expected reciprocal rank of the first ``k`` ranks (at most 1000), mean over groups; the largest label of all sets the scale."""
    return item_metric(f"err@{_ranks(k)}", y, scores, qid, sample_weight=sample_weight)


def precision(
    y: Any,
    scores: Any,
    qid: Any = None,
    k: int = 10,
    rel: float = 1.0,
    *,
    preset: str | None = None,
    sample_weight: Any = None,
    ids: Any = None,
) -> float:
    """Share of relevant items among the first ``k`` ranks, mean over groups.

    Parameters
    ----------
    y, scores, qid, sample_weight, ids
        As of :func:`item_metric`.
    k : int
        How many ranks count.
    rel : float
        Items of this label and above are relevant.
    preset : {"letor", "trec"}, optional
        Gives the numbers of that tool.
    """
    name = _with_preset(f"precision@{_ranks(k)}:{_relevant(rel)}", preset)
    return item_metric(name, y, scores, qid, sample_weight=sample_weight, ids=ids)


def _ranks(k: Any) -> int:
    try:
        number = operator.index(k)
    except TypeError:
        raise ValueError(f"k = {k!r} is not possible: expected a whole number of ranks from 1 on") from None
    if number < 1:
        raise ValueError(f"k = {number} is not possible: expected a whole number of ranks from 1 on")
    return number


def _relevant(rel: Any) -> str:
    try:
        number = float(rel)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"rel = {rel!r} is not possible: expected a finite label")
    return f"rel={number!r}"


def _with_preset(name: str, preset: str | None) -> str:
    if preset is None:
        return name
    known = {"ndcg": ("sklearn", "lightgbm", "xgboost", "letor", "trec"), "mrr": ("trec",)}
    metric = name.split("@")[0].split(":")[0]
    presets = known.get(metric, ("letor", "trec"))
    if preset not in presets:
        raise ValueError(f"preset = {preset!r} is not possible: {metric} knows {', '.join(presets)}")
    return f"{name}:{preset}"


class _Score:
    """A metric as a function of scikit-learn, which may be pickled."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = name

    def __call__(self, y: Any, scores: Any, qid: Any = None, sample_weight: Any = None, ids: Any = None) -> float:
        return item_metric(self.name, y, scores, qid, sample_weight=sample_weight, ids=ids)

    def __repr__(self) -> str:
        return f"rankwise.metrics.{self.name}"


def make_scorer(name: str) -> Any:
    """A scorer of scikit-learn for a metric of ranked items.

    It scores what ``predict`` says, knows in which direction the metric is better, and asks for ``qid`` wherever metadata routing
    is enabled (``sklearn.set_config(enable_metadata_routing=True)``); without routing scikit-learn hands no groups to scorers, and
    all items of a fold are one group, of which a warning tells if the estimator was fitted with groups. Ask for weights with ``.set_score_request(qid=True, sample_weight=True)``.

    Parameters
    ----------
    name : str
        As of :func:`item_metric`.

    Returns
    -------
    scorer
        For ``scoring=`` of ``GridSearchCV``, ``cross_validate`` and the like.

    Examples
    --------
    >>> import sklearn
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from rankwise.metrics import make_scorer
    >>> scorer = make_scorer("ndcg@10")
    >>> with sklearn.config_context(enable_metadata_routing=True):  # doctest: +SKIP
    ...     search = GridSearchCV(ranker.set_fit_request(qid=True), grid, scoring=scorer, cv=GroupKFold(5))
    ...     search.fit(X, y, qid=qid, groups=qid)
    """
    greater_is_better = _core.item_metric_direction(name)
    import sklearn

    from ._scorer import rank_scorer

    methods = ("decision_function", "predict")
    scorer = rank_scorer(_Score(name), greater_is_better=greater_is_better, response_method=methods)
    requests = {"qid": True}
    if "trec" in name.split(":"):
        requests["ids"] = True
    # Asked for now, so that a scorer made before routing was enabled does not leave the groups out later.
    with sklearn.config_context(enable_metadata_routing=True):
        return scorer.set_score_request(**requests)


class RocCurve(NamedTuple):
    """A curve of :func:`comparison_roc`, from everything a tie to nothing a tie."""

    thresholds: NDArray[np.float64]
    false_positive_rate: NDArray[np.float64]
    true_positive_rate: NDArray[np.float64]


def _signs(y: Any, n: int | None, name: str, warns: bool = True) -> NDArray[np.int8]:
    """-1, 0 and 1, at least one of them."""
    array = _outcomes.outcomes(y, n, name, warns)
    _not_empty(array, name)
    return array


def _judged(
    y: Any,
    margins: Any,
    sample_weight: Any,
    excess: Any = None,
    probabilities: Any = None,
    name: str = "margins",
) -> _core.JudgedPairs:
    outcomes = _signs(y, None, "y")
    n = len(outcomes)
    margins = np.zeros(n) if margins is None else _numbers(margins, n, name, may_be_nan=True)
    excess = None if excess is None else _numbers(excess, n, "excess", may_be_nan=True)
    chances = None if probabilities is None else _chances(probabilities, n)
    weights = _input.weights(sample_weight, n)
    known = _input.known_rows(margins, excess, chances)
    if known is None:
        return _core.JudgedPairs(outcomes, margins, 0.0, excess, chances, weights)
    if not known.any():
        raise ValueError(f"{name}: nothing is known of any pair, so there is nothing to measure")
    rows = (None if values is None else values[known] for values in (excess, chances, weights))
    return _core.JudgedPairs(outcomes[known], margins[known], 0.0, *rows)


def _chances(probabilities: Any, n: int) -> NDArray[np.float64]:
    try:
        array = np.require(probabilities, np.float64, ["C", "A"])
    except (TypeError, ValueError) as problem:
        raise ValueError(f"probabilities are no numbers: {problem}") from None
    if array.shape != (n, 3):
        raise ValueError(
            f"probabilities have shape {array.shape}, expected ({n}, 3): a row per pair with P(left), P(tie) and P(right)"
        )
    is_right = ((array >= 0) & (array <= 1)).all(axis=1) & (np.abs(array.sum(axis=1) - 1) <= 1e-4)
    wrong = np.flatnonzero(~is_right & ~np.isnan(array).all(axis=1))
    if wrong.size:
        raise ValueError(
            f"probabilities in row {wrong[0]} are {array[wrong[0]].tolist()}: expected numbers from 0 to 1 that sum to 1"
        )
    return array


def comparison_zero_one(y: Any, outcomes: Any, *, sample_weight: Any = None) -> float:
    """Share of pairs whose predicted outcome is wrong; less is better.

    Parameters
    ----------
    y : array of n
        How pairs were judged: -1 (left), 0 (tie) or 1 (right).
    outcomes : array of n
        What is predicted: -1, 0 or 1.
    sample_weight : array of n numbers, optional
        Weights of pairs.

    Examples
    --------
    >>> from rankwise.metrics import comparison_zero_one
    >>> comparison_zero_one([-1, 0, 1, 1], [-1, 0, 0, -1])
    0.5
    """
    return _predicted(y, outcomes, sample_weight).metric("zero_one")


def comparison_confusion(y: Any, outcomes: Any, *, sample_weight: Any = None) -> NDArray[np.float64]:
    """Weights by judged (row) and predicted (column) outcome, in the order -1, 0, 1.

    Parameters are those of :func:`comparison_zero_one`.

    Examples
    --------
    >>> from rankwise.metrics import comparison_confusion
    >>> comparison_confusion([-1, 0, 1, 1], [-1, 0, 0, -1])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [1., 1., 0.]])
    """
    return _predicted(y, outcomes, sample_weight).confusion()


def _predicted(y: Any, outcomes: Any, sample_weight: Any) -> _core.JudgedPairs:
    n = len(_input.vector(y, None, "y"))
    given = _outcomes.array_of(outcomes, n, "outcomes")
    unknown = np.isnan(given) if given.dtype.kind == "f" else np.zeros(n, dtype=bool)
    # An outcome is a margin of its sign.
    signs = _signs(np.where(unknown, 0, given) if unknown.any() else given, n, "outcomes", warns=False)
    return _judged(y, np.where(unknown, np.nan, signs), sample_weight, name="outcomes")


def comparison_accuracy(y: Any, margins: Any, *, sample_weight: Any = None) -> float:
    """Share of the non-ties whose margin has the right sign (``pair_accuracy`` of pairs on the command line).

    Parameters
    ----------
    y : array of n
        How pairs were judged: -1 (left), 0 (tie) or 1 (right).
    margins : array of n numbers
        score(right) - score(left), as ``margins`` of a comparer says it.
    sample_weight : array of n numbers, optional
        Weights of pairs.

    Returns
    -------
    float
        ``nan`` where all pairs are ties.
    """
    return _judged(y, margins, sample_weight).metric("pair_accuracy")


def comparison_auc(y: Any, margins: Any, *, excess: Any = None, sample_weight: Any = None) -> float:
    """Area under the curve that moving the threshold draws: wrong non-ties among the ties, right ones among the non-ties.

    Parameters
    ----------
    y, margins, sample_weight
        As of :func:`comparison_accuracy`.
    excess : array of n numbers, optional
        Where every pair has a threshold of its own: how far it is beyond that.

    Returns
    -------
    float
        At most :func:`comparison_accuracy`; ``nan`` without ties, or where all pairs are ties.

    Examples
    --------
    >>> from rankwise.metrics import comparison_auc
    >>> comparison_auc([-1, 0, 1, 1], [-2.0, 0.5, 1.5, -0.1])
    0.6666666666666666
    """
    return _judged(y, margins, sample_weight, excess).metric("auc")


def comparison_auc_baseline(y: Any, *, sample_weight: Any = None) -> float:
    """:func:`comparison_auc` of a constant prediction: half the larger share of left or right among the non-ties."""
    return _judged(y, None, sample_weight).metric("auc_baseline")


def comparison_roc(y: Any, margins: Any, *, excess: Any = None, sample_weight: Any = None) -> RocCurve:
    """The curve whose area is :func:`comparison_auc`; arrays without entries where that is ``nan``.

    Parameters are those of :func:`comparison_auc`.
    """
    curve = _judged(y, margins, sample_weight, excess).roc()
    return RocCurve(*(curve if curve is not None else (np.empty(0), np.empty(0), np.empty(0))))


def comparison_log_loss(y: Any, probabilities: Any, *, sample_weight: Any = None) -> float:
    """Mean of -log P(judged outcome); a probability below 1e-15 counts as 1e-15. Less is better.

    Parameters
    ----------
    y : array of n
        How pairs were judged: -1 (left), 0 (tie) or 1 (right).
    probabilities : array (n, 3)
        P(left), P(tie), P(right), as ``predict_proba`` says them.
    sample_weight : array of n numbers, optional
        Weights of pairs.
    """
    return _judged(y, None, sample_weight, probabilities=probabilities).metric("log_loss")


def comparison_brier(y: Any, probabilities: Any, *, sample_weight: Any = None) -> float:
    """Mean of the squared differences of the three probabilities from what was judged, summed: 0 to 2. Less is better.

    Parameters are those of :func:`comparison_log_loss`.
    """
    return _judged(y, None, sample_weight, probabilities=probabilities).metric("brier")
