"""The manners of scikit-learn: its own checks, searches, pipelines, cross-validation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone, is_classifier, is_regressor  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

import rankwise  # noqa: E402
from rankwise import (  # noqa: E402
    SVC,
    SVR,
    CompareLP,
    CompareRank,
    CompareSVM,
    Davidson,
    OneNormRankSVM,
    OnlineRankSVM,
    OrdinalSVM,
    RankingVectorMachine,
    RankSVM,
    Ridge,
    SwapSVM,
)

WITHIN_TOL = (
    "the answer is within tol of the optimum, not at it; with tol=1e-12 the check passes, as the next test shows"
)
STEPS = "random steps: other items in another order are other steps"
PROBABLE = "with probabilities the most probable class is predicted, and few items of a class make it less probable, whatever its weight"
WEIGHT_CHECKS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
ITEM_ESTIMATORS = [
    RankSVM(), SwapSVM(), Ridge(), RankingVectorMachine(), OneNormRankSVM(), OnlineRankSVM(steps=20_000), OrdinalSVM(), SVC(), SVR(),
    RankSVM(kernel="rbf"), RankSVM(loss="hinge"), RankSVM(loss="logistic"), SVC(kernel="rbf"), SVC(probabilities=True), SVR(kernel="rbf"),
    RankSVM(scale="standard"),
]  # fmt: skip


def expected_failures(estimator):
    if isinstance(estimator, OnlineRankSVM):
        return dict.fromkeys(WEIGHT_CHECKS, STEPS)
    if isinstance(estimator, SVC) and estimator.probabilities:
        return {**dict.fromkeys(WEIGHT_CHECKS, WITHIN_TOL), "check_class_weight_classifiers": PROBABLE}
    if isinstance(estimator, (OrdinalSVM, SVC, SVR)) or estimator.get_params().get("kernel") == "rbf":
        return dict.fromkeys(WEIGHT_CHECKS, WITHIN_TOL)
    return None


COMPARERS = [
    CompareSVM(),
    CompareSVM(kernel="rbf"),
    CompareSVM(loss="logistic"),
    CompareRank(),
    CompareRank(variant="rank2"),
    CompareLP(C=1.0),
    Davidson(),
]


@pytest.mark.parametrize("estimator", ITEM_ESTIMATORS, ids=str)
def test_item_estimators_pass_the_checks_of_scikit_learn(estimator):
    expected = expected_failures(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks=expected, on_fail="raise", on_skip=None)
    statuses = [result["status"] for result in results]
    assert statuses.count("passed") >= 40 and statuses.count("xfail") <= 3


@pytest.mark.parametrize(
    "estimator",
    [
        # The hinge in weights of features ends some 1e-8 away from its optimum.
        OrdinalSVM(loss="squared-hinge", tol=1e-12),
        SVC(tol=1e-12),
        SVR(tol=1e-12),
        RankSVM(kernel="rbf", tol=1e-12),
    ],
    ids=str,
)
@pytest.mark.parametrize("check", WEIGHT_CHECKS)
def test_weights_are_copies_at_the_optimum(estimator, check):
    from sklearn.utils import estimator_checks

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(estimator_checks, check)(type(estimator).__name__, estimator)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_a_search_routes_groups_to_fit_and_score(ranking, routing):
    X, y, qid = ranking
    pipeline = make_pipeline(StandardScaler(), RankSVM())
    cv = GroupKFold(4).set_split_request(groups="qid")
    search = GridSearchCV(pipeline, {"ranksvm__C": [1e-3, 1e-2, 1.0]}, cv=cv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, y, qid=qid)
    # By hand: the same folds, groups passed along.
    for at, C in enumerate([1e-3, 1e-2, 1.0]):
        by_hand = []
        for train, test in GroupKFold(4).split(X, y, groups=qid):
            ranker = clone(pipeline).set_params(ranksvm__C=C)
            ranker.fit(X[train], y[train], qid=qid[train])
            scores = ranker.predict(X[test])
            by_hand.append(rankwise.metrics.pair_accuracy(y[test], scores, qid=qid[test]))
        assert search.cv_results_["mean_test_score"][at] == pytest.approx(np.mean(by_hand), abs=1e-12)


def test_a_search_without_routing_warns_that_groups_get_lost(ranking):
    X, y, qid = ranking
    search = GridSearchCV(RankSVM(), {"C": [0.01, 1.0]}, cv=GroupKFold(3))
    with pytest.warns(rankwise.exceptions.RankwiseWarning, match="scored without"):
        search.fit(X, y, groups=qid, qid=qid)


def test_scoring_with_the_groups_does_not_warn(ranking):
    X, y, qid = ranking
    ranker = RankSVM().fit(X, y, qid=qid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.score(X, y, qid=qid)
        RankSVM().fit(X, y).score(X, y)


def test_weights_are_routed_when_asked_for(ranking, routing):
    X, y, qid = ranking
    weights = np.random.default_rng(5).uniform(0, 2, size=len(y))
    seen = RankSVM().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    search = GridSearchCV(seen, {"C": [1.0]}, cv=KFold(2)).fit(X, y, qid=qid, sample_weight=weights)
    expected = RankSVM().fit(X, y, qid=qid, sample_weight=weights)
    np.testing.assert_array_equal(search.best_estimator_.coef_, expected.coef_)


@pytest.mark.parametrize("comparer", COMPARERS, ids=str)
def test_comparers_are_cross_validated(comparer, judged):
    pairs, y = judged
    accuracy = cross_val_score(comparer, pairs, y, cv=4)
    assert accuracy.shape == (4,) and accuracy.min() > 0.75
    features = pairs.reshape(-1, 3)
    numbers = np.arange(len(features)).reshape(-1, 2)
    by_number = cross_val_score(clone(comparer).set_params(preprocessor=features), numbers, y, cv=4)
    # The kernel's width is that of all items there, and of those of the pairs here.
    np.testing.assert_allclose(by_number, accuracy, atol=0.02)


@pytest.mark.parametrize("comparer", COMPARERS, ids=str)
def test_comparers_have_the_manners_of_estimators(comparer, judged):
    pairs, y = judged
    before = comparer.get_params()
    copy = clone(comparer)
    assert copy.get_params() == before and not hasattr(copy, "n_features_in_") and not hasattr(copy, "coef_")
    with pytest.raises(sklearn.exceptions.NotFittedError):
        copy.predict(pairs)
    unchanged = pairs.copy(), y.copy()
    assert copy.fit(pairs, y) is copy
    np.testing.assert_array_equal(pairs, unchanged[0])
    np.testing.assert_array_equal(y, unchanged[1])
    assert copy.get_params() == before and copy.n_features_in_ == 3 and is_classifier(copy)
    assert set(np.unique(copy.predict(pairs))) <= {-1, 0, 1}
    margins = copy.margins(pairs)
    np.testing.assert_allclose(copy.margins(pairs[:, ::-1]), -margins, atol=1e-12)
    np.testing.assert_array_equal(copy.predict(pairs[:, ::-1]), -copy.predict(pairs))
    np.testing.assert_allclose(copy.score_items(pairs[:, 1]) - copy.score_items(pairs[:, 0]), margins, atol=1e-12)
    np.testing.assert_array_equal(
        copy.predict(pairs), np.where(np.abs(margins) <= copy.threshold_, 0, np.sign(margins))
    )
    again = clone(copy).fit(pairs, y)
    np.testing.assert_array_equal(again.margins(pairs), margins)
    subset = np.random.default_rng(0).permutation(len(y))[:50]
    np.testing.assert_array_equal(copy.margins(pairs[subset]), margins[subset])
    with pytest.raises(ValueError, match="features"):
        copy.predict(pairs[:, :, :2])


def test_probabilities_are_there_exactly_where_machines_have_them(judged):
    pairs, y = judged
    for comparer, has in [
        (Davidson(), True), (CompareSVM(loss="logistic"), True), (CompareSVM(calibrate=True), True), (CompareSVM(), False),
        (CompareRank(), False), (CompareRank(calibrate=True), True), (CompareLP(C=1.0), False),
    ]:  # fmt: skip
        comparer.fit(pairs, y)
        assert hasattr(comparer, "predict_proba") == has, comparer
        if has:
            chances = comparer.predict_proba(pairs)
            assert chances.shape == (400, 3) and (chances >= 0).all()
            np.testing.assert_allclose(chances.sum(axis=1), 1.0)
            agree = comparer.classes_[chances.argmax(axis=1)] == comparer.predict(pairs)
            assert agree.mean() > 0.97, comparer
    assert cross_val_score(Davidson(), pairs, y, scoring="neg_log_loss", cv=3).mean() > -0.8


def test_kinds_of_estimators():
    assert is_classifier(SVC()) and is_regressor(SVR()) and not is_regressor(RankSVM()) and not is_classifier(RankSVM())
