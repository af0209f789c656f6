"""Metrics against scipy, scikit-learn and slow twins that follow the definitions word by word."""

from __future__ import annotations

import doctest
import itertools
import math
import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from rankwise import metrics
from rankwise.exceptions import ParameterError, RankwiseWarning

ITEM_FUNCTIONS = [
    metrics.pair_accuracy,
    metrics.swapped_pairs,
    metrics.concordance,
    metrics.kendall_tau,
    metrics.kendall_tau_a,
    metrics.spearman,
    metrics.ndcg,
    metrics.mean_average_precision,
    metrics.mrr,
    metrics.err,
    metrics.precision,
]


def random_items(
    seed: int, n: int = 60, n_groups: int = 6, n_labels: int = 4, n_scores: int = 6
) -> tuple[Any, Any, Any]:
    """Labels and scores with many ties, groups in no order."""
    random = np.random.default_rng(seed)
    y = random.integers(0, n_labels, n).astype(float)
    scores = random.integers(0, n_scores, n) / 4
    return y, scores, random.integers(0, n_groups, n)


def in_groups(y: Any, scores: Any, qid: Any) -> list[tuple[Any, Any]]:
    return [(y[qid == group], scores[qid == group]) for group in np.unique(qid)]


def pair_counts(y: Any, scores: Any, weight: Any) -> tuple[float, float, float, float]:
    """Weights of concordant, discordant and score-tied pairs of different labels, and of all pairs."""
    concordant = discordant = tied = everything = 0.0
    for i, j in itertools.combinations(range(len(y)), 2):
        w = weight[i] * weight[j]
        everything += w
        if y[i] == y[j]:
            continue
        sign = (y[i] - y[j]) * (scores[i] - scores[j])
        concordant += w * (sign > 0)
        discordant += w * (sign < 0)
        tied += w * (sign == 0)
    return concordant, discordant, tied, everything


def mean_over_orders(y: Any, scores: Any, of_order: Any) -> float:
    """The mean of a metric over all orders of the items that have descending scores."""
    by_score = sorted(range(len(y)), key=lambda i: -scores[i])
    runs = [list(run) for _, run in itertools.groupby(by_score, key=lambda i: scores[i])]
    values = [
        of_order([y[i] for run in order for i in run])
        for order in itertools.product(*map(itertools.permutations, runs))
    ]
    return float(np.mean(values))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_of_pairs_are_what_counting_all_pairs_gives(seed: int, weighted: bool) -> None:
    y, scores, qid = random_items(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    counts = [pair_counts(y[qid == g], scores[qid == g], weight[qid == g]) for g in np.unique(qid)]
    c, d, t, _ = map(sum, zip(*counts))
    given = {"sample_weight": weight} if weighted else {}
    assert metrics.pair_accuracy(y, scores, qid, **given) == pytest.approx(c / (c + d + t))
    assert metrics.swapped_pairs(y, scores, qid, **given) == pytest.approx((d + t) / (c + d + t))
    assert metrics.concordance(y, scores, qid, **given) == pytest.approx((c + t / 2) / (c + d + t))
    tau_a = [(c - d) / total for c, d, t, total in counts if c + d + t > 0]
    assert metrics.kendall_tau_a(y, scores, qid, **given) == pytest.approx(np.mean(tau_a))


@pytest.mark.parametrize("seed", range(5))
def test_correlations_are_the_means_of_scipys_over_groups(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    y, scores, qid = random_items(seed)
    lists = in_groups(y, scores, qid)
    assert metrics.kendall_tau(y, scores, qid) == pytest.approx(
        np.mean([stats.kendalltau(*pair).statistic for pair in lists])
    )
    assert metrics.spearman(y, scores, qid) == pytest.approx(
        np.mean([stats.spearmanr(*pair).statistic for pair in lists])
    )


@pytest.mark.parametrize("k", [None, 1, 3, 100])
def test_ndcg_as_scikit_learn_counts_it(k: int | None) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    y, scores, qid = random_items(3)
    expected = np.mean([sklearn.ndcg_score([a], [b], k=k) for a, b in in_groups(y, scores, qid)])
    assert metrics.ndcg(y, scores, qid, k, preset="sklearn") == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_concordance_of_two_labels_is_the_area_under_the_roc_curve(seed: int) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    y, scores, _ = random_items(seed, n_labels=2)
    assert metrics.concordance(y, scores) == pytest.approx(sklearn.roc_auc_score(y, scores))


@pytest.mark.parametrize("seed", range(4))
def test_metrics_of_ranks_are_means_over_all_orders_of_equal_scores(seed: int) -> None:
    y, scores, qid = random_items(seed, n=24, n_groups=4, n_scores=4)
    top = 2 ** y.max()
    k, rel = 3, 2

    def dcg(labels: Any) -> float:
        return float(sum((2**g - 1) / math.log2(rank + 2) for rank, g in enumerate(labels[:k])))

    def average_precision(labels: Any) -> float:
        hits = [rank for rank, g in enumerate(labels, 1) if g >= rel]
        return float(np.mean([number / rank for number, rank in enumerate(hits, 1)]))

    def reciprocal_rank(labels: Any) -> float:
        return next((1 / rank for rank, g in enumerate(labels, 1) if g >= rel), 0.0)

    def expected_reciprocal_rank(labels: Any) -> float:
        total, unsatisfied = 0.0, 1.0
        for rank, g in enumerate(labels[:k], 1):
            chance = (2**g - 1) / top
            total += unsatisfied * chance / rank
            unsatisfied *= 1 - chance
        return total

    lists = in_groups(y, scores, qid)
    with_gain = [pair for pair in lists if pair[0].max() > 0]
    expected = np.mean([mean_over_orders(a, b, dcg) / dcg(sorted(a, reverse=True)) for a, b in with_gain])
    assert metrics.ndcg(y, scores, qid, k) == pytest.approx(expected)
    relevant = [pair for pair in lists if (pair[0] >= rel).any()]
    expected = np.mean([mean_over_orders(*pair, average_precision) for pair in relevant])
    assert metrics.mean_average_precision(y, scores, qid, rel=rel) == pytest.approx(expected)
    expected = np.mean([mean_over_orders(*pair, reciprocal_rank) for pair in lists])
    assert metrics.mrr(y, scores, qid, rel=rel) == pytest.approx(expected)
    expected = np.mean([mean_over_orders(*pair, expected_reciprocal_rank) for pair in lists])
    assert metrics.err(y, scores, qid, k) == pytest.approx(expected)
    expected = np.mean(
        [mean_over_orders(*pair, lambda o: np.mean([g >= rel for g in o[:k]] + [0] * (k - len(o)))) for pair in lists]
    )
    assert metrics.precision(y, scores, qid, k, rel) == pytest.approx(expected)


@pytest.mark.parametrize("function", ITEM_FUNCTIONS)
def test_groups_may_be_of_any_kind_and_in_any_order(function: Any) -> None:
    y, scores, qid = random_items(7)
    expected = function(y, scores, qid)
    names = np.array(["zebra", "ant", "", "Ä", "b b", "c"])[qid]
    order = np.argsort(qid, kind="stable")
    assert function(y, scores, names) == expected
    assert function(y, scores, names.tolist()) == expected
    assert function(y, scores, qid + 0.5) == pytest.approx(expected, rel=1e-14)
    assert function(y[order], scores[order], qid[order]) == pytest.approx(expected, rel=1e-14)
    assert function(y, scores) != expected


def test_tools_differ_where_they_order_equal_scores() -> None:
    y, scores = [0, 1], [1.0, 1.0]
    assert metrics.ndcg(y, scores, preset="lightgbm") == pytest.approx(1 / math.log2(3))
    assert metrics.ndcg(y, scores) == pytest.approx((1 + 1 / math.log2(3)) / 2)
    assert metrics.ndcg(y, scores, preset="trec", ids=["a", "b"]) == 1
    assert metrics.ndcg(y, scores, preset="trec", ids=["b", "a"]) == pytest.approx(1 / math.log2(3))
    assert metrics.mrr(y, scores, preset="trec", ids=["b", "a"]) == 0.5
    assert metrics.ndcg([0, 0], scores, preset="xgboost") == 1
    with pytest.raises(ValueError, match="ids"):
        metrics.ndcg(y, scores, preset="trec")


def test_any_metric_has_its_name() -> None:
    y, scores, qid = random_items(11)
    named = {
        "ndcg@10:lightgbm": metrics.ndcg(y, scores, qid, k=10, preset="lightgbm"),
        "map:rel=2": metrics.mean_average_precision(y, scores, qid, rel=2),
        "precision@5:rel=2.5": metrics.precision(y, scores, qid, k=5, rel=2.5),
        "swapped_pairs": metrics.swapped_pairs(y, scores, qid),
    }
    for name, expected in named.items():
        assert metrics.item_metric(name, y, scores, qid) == expected


def test_group_weights_are_in_the_order_of_first_appearance() -> None:
    y, scores = [0, 1, 0, 1], [0.0, 1.0, 1.0, 0.0]
    for qid in (["b", "b", "a", "a"], [2.5, 2.5, 1.5, 1.5], [9, 9, 3, 3]):
        assert metrics.item_metric("kendall_tau", y, scores, qid, group_weight=[3, 1]) == 0.5
        groups, values = metrics.per_group("kendall_tau", y, scores, qid)
        assert (groups.tolist(), values.tolist()) == ([qid[0], qid[2]], [1.0, -1.0])


def test_what_no_group_defines_is_nan() -> None:
    assert math.isnan(metrics.pair_accuracy([1, 1], [1, 2]))
    assert math.isnan(metrics.ndcg([0, 0, 0], [1, 2, 3]))
    _, values = metrics.per_group("kendall_tau", [1, 1, 0, 1], [1, 2, 3, 4], [0, 0, 1, 1])
    assert math.isnan(values[0])
    assert values[1] == 1


def test_what_was_not_retrieved_has_no_rank() -> None:
    assert metrics.mrr([0, 1], [0.5, -math.inf]) == 0
    assert metrics.pair_accuracy([0, 1], [-math.inf, 0.5]) == 1


@pytest.mark.parametrize("function", ITEM_FUNCTIONS)
def test_wrong_arguments_are_named(function: Any) -> None:
    with pytest.raises(ValueError, match="scores contains NaN .in row 1"):
        function([0, 1], [1, math.nan])
    with pytest.raises(ValueError, match="y contains NaN .in row 0"):
        function([math.nan, 1], [1, 2])
    with pytest.raises(ValueError, match="scores has 3 entries, expected 2"):
        function([0, 1], [1, 2, 3])
    with pytest.raises(ValueError, match="qid has 1 entries, expected 2"):
        function([0, 1], [1, 2], [1])
    with pytest.raises(ValueError, match="y has no entries"):
        function([], [])
    with pytest.raises(ValueError, match="sample_weight"):
        function([0, 1], [1, 2], sample_weight=[1, -1])
    with pytest.raises(ValueError, match="scores should be a 1d array"):
        function([0, 1], [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="scores"):
        function([0, 1], ["a", "b"])


def test_wrong_choices_are_named_with_what_would_do() -> None:
    y, scores = [0, 1], [0, 1]
    with pytest.raises(ParameterError, match=r"metric = `ndgc`.*ndcg@K"):
        metrics.item_metric("ndgc", y, scores)
    with pytest.raises(ValueError, match="k = 0"):
        metrics.ndcg(y, scores, k=0)
    with pytest.raises(ValueError, match="k = 2.5"):
        metrics.precision(y, scores, k=2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rel = inf"):
        metrics.mrr(y, scores, rel=math.inf)
    with pytest.raises(ValueError, match="preset = 'lightgbm'.*letor, trec"):
        metrics.mean_average_precision(y, scores, preset="lightgbm")
    with pytest.raises(ValueError, match="labels of at least 0"):
        metrics.ndcg([-1, 1], scores)
    with pytest.raises(ValueError, match="group_weight"):
        metrics.item_metric("mrr", y, scores, [1, 2], group_weight=[1])
    with pytest.raises(ValueError, match="qid is None"):
        metrics.per_group("mrr", y, scores, None)


# Comparisons


def random_pairs(seed: int, n: int = 80) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    return random.integers(-1, 2, n), random.integers(-5, 6, n) / 4, random.integers(0, 4, n).astype(float)


def rates(y: Any, margins: Any, weight: Any, threshold: float) -> tuple[float, float]:
    """False and true positive rate of a threshold, as Table 3 of the paper has them. Below 0 nothing is a tie, margins of 0 are wrong."""
    predicted = np.where(np.abs(margins) <= threshold, 0, np.where(margins == 0, 2, np.sign(margins)))
    tie = y == 0
    return (
        float(weight[tie & (predicted != 0)].sum() / weight[tie].sum()),
        float(weight[~tie & (predicted == y)].sum() / weight[~tie].sum()),
    )


@pytest.mark.parametrize("seed", range(5))
def test_auc_is_the_area_under_the_rates_of_all_thresholds(seed: int) -> None:
    y, margins, weight = random_pairs(seed)
    thresholds = [math.inf, *sorted(set(np.abs(margins)), reverse=True), -1.0]
    points = [rates(y, margins, weight, threshold) for threshold in thresholds]
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in itertools.pairwise(points))
    assert metrics.comparison_auc(y, margins, sample_weight=weight) == pytest.approx(area)
    curve = metrics.comparison_roc(y, margins, sample_weight=weight)
    steps, heights = np.diff(curve.false_positive_rate), curve.true_positive_rate
    assert (steps * (heights[1:] + heights[:-1]) / 2).sum() == pytest.approx(area)
    for threshold, *found in zip(*curve):
        assert tuple(found) == pytest.approx(rates(y, margins, weight, threshold))
    not_tie = y != 0
    accuracy = weight[not_tie & (np.sign(margins) == y)].sum() / weight[not_tie].sum()
    assert metrics.comparison_accuracy(y, margins, sample_weight=weight) == pytest.approx(accuracy)
    share = max(weight[y == 1].sum(), weight[y == -1].sum()) / weight[not_tie].sum()
    assert metrics.comparison_auc_baseline(y, sample_weight=weight) == pytest.approx(share / 2)


def test_thresholds_of_pairs_move_together() -> None:
    y, margins = [0, 1, -1, 0], [1.0, 2.0, -3.0, 4.0]
    # Beyond their own thresholds both non-ties come before both ties.
    assert metrics.comparison_auc(y, margins, excess=[-1.0, 2.0, 3.0, 0.5]) == 1
    assert metrics.comparison_auc(y, margins) == 0.5


@pytest.mark.parametrize("seed", range(3))
def test_outcomes_and_probabilities_as_scikit_learn_counts_them(seed: int) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    y, margins, weight = random_pairs(seed)
    outcomes = np.sign(margins).astype(int)
    table = sklearn.confusion_matrix(y, outcomes, labels=[-1, 0, 1], sample_weight=weight)
    assert metrics.comparison_confusion(y, outcomes, sample_weight=weight) == pytest.approx(table)
    assert metrics.comparison_confusion(y, outcomes).sum() == len(y)
    expected = sklearn.zero_one_loss(y, outcomes, sample_weight=weight)
    assert metrics.comparison_zero_one(y, outcomes, sample_weight=weight) == pytest.approx(expected)
    chances = np.random.default_rng(seed).dirichlet([1, 2, 1], len(y))
    expected = sklearn.log_loss(y, chances, labels=[-1, 0, 1], sample_weight=weight)
    assert metrics.comparison_log_loss(y, chances, sample_weight=weight) == pytest.approx(expected)
    misses = ((chances - (y[:, None] == [-1, 0, 1])) ** 2).sum(axis=1)
    assert metrics.comparison_brier(y, chances, sample_weight=weight) == pytest.approx(
        np.average(misses, weights=weight)
    )
    assert metrics.comparison_brier(y, chances) == pytest.approx(misses.mean())


def test_comparisons_without_ties_have_no_auc() -> None:
    assert math.isnan(metrics.comparison_auc([1, -1], [1.0, 2.0]))
    assert math.isnan(metrics.comparison_auc_baseline([0, 0]))
    assert math.isnan(metrics.comparison_accuracy([0, 0], [1.0, 2.0]))
    assert [len(part) for part in metrics.comparison_roc([1, -1], [1.0, 2.0])] == [0, 0, 0]


def test_wrong_arguments_of_comparisons_are_named() -> None:
    with pytest.raises(ValueError, match="y: row 1 has 2; expected -1"):
        metrics.comparison_auc([0, 2], [1, 2])
    with pytest.raises(ValueError, match="margins has 1 entries, expected 2"):
        metrics.comparison_auc([0, 1], [1])
    with pytest.raises(ValueError, match="outcomes: row 0 has 0.5; expected -1"):
        metrics.comparison_zero_one([0, 1], [0.5, 1])
    with pytest.raises(ValueError, match="outcomes has 3 entries, expected 2"):
        metrics.comparison_confusion([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="y has no entries"):
        metrics.comparison_auc_baseline([])
    with pytest.raises(ValueError, match=r"probabilities have shape \(2, 2\)"):
        metrics.comparison_brier([0, 1], [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match="probabilities in row 1"):
        metrics.comparison_log_loss([0, 1], [[0.2, 0.3, 0.5], [0.2, 0.3, 0.6]])
    with pytest.raises(ValueError, match="probabilities in row 0"):
        metrics.comparison_log_loss([0], [[math.nan, 0.5, 0.5]])


# scikit-learn


def make_ranker() -> Any:
    """A ranker whose scores are a column, or its negative: which one is a parameter to search for."""
    base = pytest.importorskip("sklearn.base")

    class ByColumn(base.RegressorMixin, base.BaseEstimator):  # type: ignore[misc,name-defined]
        def __init__(self, column: int = 0) -> None:
            self.column = column

        def fit(self, X: Any, y: Any, qid: Any = None) -> Any:
            self.fitted_ = True
            return self

        def predict(self, X: Any) -> Any:
            return X[:, self.column]

    return ByColumn()


@pytest.mark.parametrize("name", ["ndcg@5", "swapped_pairs", "kendall_tau"])
@pytest.mark.parametrize("made_before_routing", [False, True])
def test_a_search_scores_folds_by_their_groups(name: str, made_before_routing: bool) -> None:
    sklearn = pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV, GroupKFold

    y, scores, qid = random_items(5, n=120, n_groups=12)
    # The second column is the labels with an offset by group, which ruins the order across groups alone.
    X = np.column_stack([scores, y + 100.0 * qid])
    scorer = metrics.make_scorer(name) if made_before_routing else None
    sklearn.set_config(enable_metadata_routing=True)
    try:
        scorer = scorer if scorer is not None else metrics.make_scorer(name)
        ranker = make_ranker().set_fit_request(qid=True)
        search = GridSearchCV(ranker, {"column": [0, 1]}, scoring=scorer, cv=GroupKFold(4))
        search.fit(X, y, qid=qid, groups=qid)
    finally:
        sklearn.set_config(enable_metadata_routing=False)
    assert search.best_params_ == {"column": 1}
    sign = -1 if name == "swapped_pairs" else 1
    assert search.best_score_ == pytest.approx(0 if sign < 0 else 1)
    folds = [test for _, test in GroupKFold(4).split(X, y, qid)]
    expected = sign * np.mean([metrics.item_metric(name, y[t], scores[t], qid[t]) for t in folds])
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(expected)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_scorer_that_gets_no_groups_of_an_estimator_that_had_some_says_so(wrapped: bool) -> None:
    sklearn = pytest.importorskip("sklearn")
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline

    from rankwise import RankSVM

    y, scores, qid = random_items(5, n=120, n_groups=12)
    X = np.column_stack([scores, y])
    ranker = RankSVM().fit(X, y, qid=qid)
    asked = "ranksvm__qid" if wrapped else "qid"
    machine = make_pipeline(RankSVM()) if wrapped else RankSVM()
    fitted = make_pipeline(ranker) if wrapped else ranker
    scorer = metrics.make_scorer("ndcg@5")
    for call in (
        lambda: scorer(fitted, X, y),
        lambda: cross_val_score(machine, X, y, cv=2, scoring=scorer, params={asked: qid}),
        lambda: cross_val_score(machine, X, y, cv=2, scoring={"a": scorer}["a"], params={asked: qid}),
        lambda: permutation_importance(fitted, X, y, scoring=scorer, n_repeats=1),
        lambda: permutation_importance(fitted, X, y, scoring={"a": scorer, "b": scorer}, n_repeats=1),
        lambda: permutation_importance(fitted, X, y, n_repeats=1),
        lambda: scorer(GridSearchCV(machine, {}, cv=2, scoring=scorer).fit(X, y, **{asked: qid}), X, y),
    ):
        with pytest.warns(RankwiseWarning, match="was fitted with qid and is scored without"):
            call()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scorer(RankSVM().fit(X, y), X, y)
        with sklearn.config_context(enable_metadata_routing=True):
            assert scorer(fitted, X, y, qid=qid) == metrics.ndcg(y, ranker.predict(X), qid, k=5)


def test_a_scorer_may_be_called_pickled_and_printed() -> None:
    sklearn = pytest.importorskip("sklearn")
    y, scores, qid = random_items(5)
    scorer = metrics.make_scorer("swapped_pairs")
    ranker = make_ranker().fit(scores[:, None], y)
    expected = -metrics.swapped_pairs(y, scores, qid)
    with sklearn.config_context(enable_metadata_routing=True):
        assert scorer(ranker, scores[:, None], y, qid=qid) == expected
        assert pickle.loads(pickle.dumps(scorer))(ranker, scores[:, None], y, qid=qid) == expected
    assert scorer(ranker, scores[:, None], y) == -metrics.swapped_pairs(y, scores)
    assert "swapped_pairs" in repr(scorer)
    with pytest.raises(ParameterError, match="metric"):
        metrics.make_scorer("accuracy")


def test_the_module_does_without_scikit_learn() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None; sys.modules['scipy'] = None\n"
        "from rankwise import metrics, datasets\n"
        "assert metrics.ndcg([1, 0], [2, 1]) == 1.0\n"
        "assert len(datasets.simulate_pairs(n_pairs=3)[1]) == 3\n"
        "assert 'pandas' not in sys.modules and 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_all_public_names_are_described() -> None:
    assert metrics.__doc__ is not None
    for name in metrics.__all__:
        assert getattr(metrics, name).__doc__, name
        assert name in metrics.__doc__ or name == "RocCurve", name


def test_examples_say_what_happens() -> None:
    pytest.importorskip("sklearn")
    found = doctest.testmod(metrics)
    assert found.attempted > 0
    assert found.failed == 0
