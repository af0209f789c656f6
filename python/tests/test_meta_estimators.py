"""Comparers within scikit-learn's meta-estimators: right, or refused with a sentence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import BaseEstimator, ClassifierMixin, clone  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score  # noqa: E402
from sklearn.multiclass import OneVsRestClassifier  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402
from sklearn.utils.validation import validate_data  # noqa: E402

from rankwise import CompareLP, CompareRank, CompareSVM, Davidson  # noqa: E402
from rankwise.exceptions import DataError, RankwiseWarning  # noqa: E402

COMPARERS = [CompareSVM(), CompareSVM(loss="logistic"), CompareRank(), CompareLP(C=1.0), Davidson()]
WITH_CHANCES = [CompareSVM(loss="logistic"), CompareSVM(calibrate=True), Davidson()]


def drawn(n, seed):
    rng = np.random.default_rng(seed)
    pairs = rng.normal(size=(n, 2, 3))
    margins = (pairs[:, 1] - pairs[:, 0]) @ [1.0, -2.0, 0.5] + 0.2 * rng.normal(size=n)
    return pairs, np.where(np.abs(margins) < 1, 0, np.sign(margins)).astype(int)


PAIRS, Y = drawn(400, 0)
NEW, TRUE = drawn(400, 1)
ITEMS = np.concatenate([PAIRS, NEW]).reshape(-1, 3)
NUMBERS, NEW_NUMBERS = np.arange(1600).reshape(2, 400, 2)


def by_number(comparer):
    return clone(comparer).set_params(preprocessor=ITEMS)


@pytest.fixture(autouse=True)
def no_word():
    """What works does so without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RankwiseWarning)
        yield


def is_as_good(found, comparer):
    direct = clone(comparer).fit(PAIRS, Y).predict(NEW)
    assert set(np.unique(found)) <= {-1, 0, 1}
    assert (found == TRUE).mean() > (direct == TRUE).mean() - 0.06 and (found == direct).mean() > 0.9


def are_chances(chances, classes):
    assert chances.shape == (400, 3) and (chances >= 0).all() and list(classes) == [-1, 0, 1]
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert (np.asarray(classes)[chances.argmax(axis=1)] == TRUE).mean() > 0.8
    assert ((chances - (TRUE[:, None] == classes)) ** 2).sum(axis=1).mean() < 0.3  # thirds have 2/3


@pytest.mark.parametrize("comparer", COMPARERS, ids=str)
def test_the_decision_has_a_column_for_every_class(comparer):
    comparer = clone(comparer).fit(PAIRS, Y)
    decision, margins = comparer.decision_function(NEW), comparer.margins(NEW)
    assert comparer.classes_.tolist() == [-1, 0, 1] and decision.shape == (400, 3)
    if hasattr(comparer, "predict_proba"):
        np.testing.assert_allclose(np.exp(decision), comparer.predict_proba(NEW), atol=1e-12)
        assert (comparer.classes_[decision.argmax(axis=1)] == comparer.predict(NEW)).mean() > 0.95
    else:
        threshold = comparer.threshold_
        np.testing.assert_allclose(
            decision,
            np.column_stack([-margins - threshold, threshold - np.abs(margins), margins - threshold]),
            atol=1e-12,
        )
        np.testing.assert_array_equal(comparer.classes_[decision.argmax(axis=1)], comparer.predict(NEW))
    np.testing.assert_allclose(comparer.decision_function(NEW[:, ::-1]), decision[:, ::-1], atol=1e-9)


def test_a_margin_on_the_threshold_is_a_tie_in_every_column():
    comparer = CompareSVM().fit(PAIRS[:, :, :1], np.sign(np.round(PAIRS[:, 1, 0] - PAIRS[:, 0, 0])).astype(int))
    near = comparer.threshold_ / comparer.coef_[0] * (1 + np.arange(-200, 201) * 2.0**-53)
    right = np.unique(np.concatenate([near, -near, [0.0]]))[:, None]
    pairs = np.stack([np.zeros_like(right), right], axis=1)
    margins, predicted = comparer.margins(pairs), comparer.predict(pairs)
    on_it = np.abs(margins) == comparer.threshold_
    assert (margins[on_it] < 0).any() and (margins[on_it] > 0).any() and (predicted[on_it] == 0).all()
    np.testing.assert_array_equal(comparer.classes_[comparer.decision_function(pairs).argmax(axis=1)], predicted)
    without = CompareSVM(threshold="model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        without.fit(PAIRS[Y != 0], Y[Y != 0])
    same = np.repeat(PAIRS[:3, :1], 2, axis=1)
    assert (
        without.classes_[without.decision_function(same).argmax(axis=1)].tolist()
        == without.predict(same).tolist()
        == [0] * 3
    )


def test_a_tie_band_moves_the_columns_of_each_pair():
    context = np.random.default_rng(2).uniform(1, 2, size=(400, 1))
    comparer = CompareSVM(tie_band="pair").fit(PAIRS, Y, context=context)
    decision, thresholds = comparer.decision_function(NEW, context), comparer.thresholds(NEW, context)
    assert np.ptp(thresholds) > 0
    np.testing.assert_allclose(decision[:, 2], comparer.margins(NEW, context) - thresholds, atol=1e-9)
    np.testing.assert_array_equal(comparer.classes_[decision.argmax(axis=1)], comparer.predict(NEW, context))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("comparer", COMPARERS, ids=str)
def test_calibrated_comparers_tell_all_three_outcomes(comparer, ensemble, method):
    found = CalibratedClassifierCV(comparer, method=method, ensemble=ensemble, cv=3).fit(PAIRS, Y)
    are_chances(found.predict_proba(NEW), found.classes_)
    is_as_good(found.predict(NEW), comparer)


@pytest.mark.parametrize("comparer", COMPARERS, ids=str)
def test_comparers_vote_bag_boost_and_stack(comparer):
    is_as_good(VotingClassifier([("a", comparer), ("b", Davidson())]).fit(PAIRS, Y).predict(NEW), comparer)
    machine = by_number(comparer)
    bag = BaggingClassifier(machine, n_estimators=5, random_state=0).fit(NUMBERS, Y)
    is_as_good(bag.predict(NEW_NUMBERS), comparer)
    are_chances(bag.predict_proba(NEW_NUMBERS), bag.classes_)
    stack = StackingClassifier([("a", comparer), ("b", Davidson())], final_estimator=LogisticRegression(), cv=3)
    is_as_good(stack.fit(PAIRS, Y).predict(NEW), comparer)
    are_chances(stack.predict_proba(NEW), stack.classes_)
    inner = StackingClassifier(
        [("a", GridSearchCV(comparer, {"C": [0.1, 1.0]}, cv=3))], final_estimator=LogisticRegression(), cv=3
    )
    is_as_good(inner.fit(PAIRS, Y).predict(NEW), comparer)


@pytest.mark.parametrize("comparer", WITH_CHANCES, ids=str)
def test_comparers_with_probabilities_vote_softly(comparer):
    votes = VotingClassifier([("a", comparer), ("b", Davidson())], voting="soft").fit(PAIRS, Y)
    are_chances(votes.predict_proba(NEW), votes.classes_)
    is_as_good(votes.predict(NEW), comparer)
    boosted = AdaBoostClassifier(by_number(comparer), n_estimators=2).fit(NUMBERS, Y)
    assert (boosted.predict(NEW_NUMBERS) == TRUE).mean() > 0.7


@pytest.mark.parametrize("comparer", [CompareSVM(), *WITH_CHANCES], ids=str)
def test_predictions_of_folds_are_those_of_fits_by_hand(comparer):
    from sklearn.model_selection import StratifiedKFold

    for method in ("predict", "decision_function", *(["predict_proba"] if comparer is not COMPARERS[0] else [])):
        if not hasattr(comparer, method):
            continue
        found = cross_val_predict(comparer, PAIRS, Y, cv=4, method=method)
        by_hand = np.empty_like(found)
        for train, test in StratifiedKFold(4).split(PAIRS, Y):
            by_hand[test] = getattr(clone(comparer).fit(PAIRS[train], Y[train]), method)(PAIRS[test])
        np.testing.assert_array_equal(found, by_hand)


def test_words_are_not_numbered_in_the_order_of_the_alphabet():
    words = np.array(["left", "tie", "right"])[Y + 1]
    pair = [("a", Davidson())]
    for machine in (
        VotingClassifier(pair), StackingClassifier(pair, cv=3), CalibratedClassifierCV(Davidson(), cv=3),
        BaggingClassifier(by_number(Davidson())), OneVsRestClassifier(Davidson()),
    ):  # fmt: skip
        X = NUMBERS if isinstance(machine, BaggingClassifier) else PAIRS
        with pytest.raises(DataError, match="left, right, tie.*needs the numbers -1, 0 and 1|y has 0, 1, where"):
            machine.fit(X, words)
    with pytest.raises(DataError, match="left, right, tie"):
        cross_val_predict(Davidson(), PAIRS, words, method="predict_proba")


def test_two_outcomes_numbered_anew_are_refused():
    two = Y != 0
    pair = [("a", Davidson())]
    for machine in (
        VotingClassifier(pair), StackingClassifier(pair, cv=3), CalibratedClassifierCV(Davidson(), cv=3),
        BaggingClassifier(by_number(Davidson())),
    ):  # fmt: skip
        X = NUMBERS if isinstance(machine, BaggingClassifier) else PAIRS
        with pytest.raises(DataError, match="y has -1, 1, where .* all of them"):
            machine.fit(X[two], Y[two])
    with pytest.raises(DataError, match="y has -1, 1, where cross_val_predict"):
        cross_val_predict(Davidson(), PAIRS[two], Y[two], method="predict_proba")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no pair is a tie
        assert cross_val_score(CompareSVM(), PAIRS[two], Y[two], cv=3, scoring="accuracy").min() > 0.9
        assert set(cross_val_predict(CompareSVM(), PAIRS[two], Y[two], cv=3)) == {-1, 1}


def test_outcomes_that_a_person_numbers_from_0_are_refused():
    with pytest.raises(DataError, match="has 2; expected -1"):
        CompareSVM().fit(PAIRS, Y + 1)
    with pytest.raises(DataError, match="y has 0, 1, 2, where"):
        VotingClassifier([("a", CompareSVM())]).fit(PAIRS, Y + 1)


def test_groups_and_contexts_are_routed_to_comparers():
    rng = np.random.default_rng(3)
    groups, context = rng.integers(0, 8, size=400), rng.uniform(1, 2, size=(400, 1))
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_val_score(CompareSVM(), PAIRS, Y, cv=GroupKFold(4), params={"groups": groups})
        described = {"groups": groups, "context": context}
        banded = cross_val_score(CompareSVM(tie_band="pair"), PAIRS, Y, cv=GroupKFold(4), params=described)
    by_hand, with_context = [], []
    for train, test in GroupKFold(4).split(PAIRS, Y, groups):
        fitted = CompareSVM().fit(PAIRS[train], Y[train], groups=groups[train])
        by_hand.append(fitted.score(PAIRS[test], Y[test]))
        fitted = CompareSVM(tie_band="pair").fit(PAIRS[train], Y[train], context=context[train], groups=groups[train])
        with_context.append(fitted.score(PAIRS[test], Y[test], context=context[test]))
    assert found.tolist() == by_hand and banded.tolist() == with_context


class OfRows(ClassifierMixin, BaseEstimator):
    """A classifier of two or three classes: a comparer that judges each row against a row of zeros."""

    def __init__(self, comparer=None):
        self.comparer = comparer

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        sklearn.utils.multiclass.check_classification_targets(y)
        self.classes_, places = np.unique(y, return_inverse=True)
        if not 2 <= len(self.classes_) <= 3:
            raise ValueError(f"{len(self.classes_)} class: two or three classes are needed")
        signs = places - 1 if len(self.classes_) == 3 else 2 * places - 1
        self.comparer_ = clone(self.comparer).fit(self._pairs(X), signs)
        return self

    def _pairs(self, X):
        return np.stack([np.zeros_like(X), X], axis=1)

    def decision_function(self, X):
        sklearn.utils.validation.check_is_fitted(self)
        pairs = self._pairs(validate_data(self, X, reset=False))
        return (self.comparer_.decision_function if len(self.classes_) == 3 else self.comparer_.margins)(pairs)

    def predict(self, X):
        decision = self.decision_function(X)
        return self.classes_[decision.argmax(axis=1) if decision.ndim == 2 else (decision > 0).astype(int)]


class OfWords(ClassifierMixin, BaseEstimator):
    """A classifier of rows that hold two items: a comparer, which it tells itself what its classes mean."""

    signs = {"left": -1, "tie": 0, "right": 1, 10: -1, 11: 0, 12: 1, 0: -1, 1: 0, 2: 1}

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.of_signs_ = {self.signs[label]: label for label in self.classes_.tolist()}
        self.comparer_ = Davidson().fit(X.reshape(-1, 2, 3), np.array([self.signs[label] for label in y.tolist()]))
        return self

    def predict_proba(self, X):
        order = [self.signs[label] + 1 for label in self.classes_.tolist()]
        return self.comparer_.predict_proba(X.reshape(-1, 2, 3))[:, order]

    def predict(self, X):
        return np.array([self.of_signs_[sign] for sign in self.comparer_.predict(X.reshape(-1, 2, 3)).tolist()])


@pytest.mark.parametrize("called", [["left", "tie", "right"], [10, 11, 12], [0, 1, 2]], ids=str)
def test_classifiers_made_of_comparers_say_themselves_what_outcomes_mean(called):
    rows, new, labels = PAIRS.reshape(-1, 6), NEW.reshape(-1, 6), np.array(called)[Y + 1]
    found = CalibratedClassifierCV(OfWords(), cv=3).fit(rows, labels)
    assert (found.predict(new) == np.array(called)[TRUE + 1]).mean() > 0.9
    assert cross_val_score(OfWords(), rows, labels, cv=3).min() > 0.9
    two = Y != 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no pair is a tie
        CalibratedClassifierCV(OfWords(), cv=3).fit(rows[two], labels[two])
    if called == [0, 1, 2]:
        for machine in (
            VotingClassifier([("a", OfWords())]), StackingClassifier([("a", OfWords())], cv=3), BaggingClassifier(OfWords(), 3),
        ):  # fmt: skip
            assert (machine.fit(rows, labels).predict(new) == TRUE + 1).mean() > 0.9


class HandsOn(ClassifierMixin, BaseEstimator):
    """What stands between scikit-learn and a comparer, and changes nothing: a pipeline of another library."""

    def fit(self, X, y):
        self.comparer_ = Davidson().fit(X, y)
        self.classes_ = self.comparer_.classes_
        return self

    def predict(self, X):
        return self.comparer_.predict(X)


def test_numbers_of_classes_are_undone_through_the_hands_of_others():
    is_as_good(VotingClassifier([("a", HandsOn())]).fit(PAIRS, Y).predict(NEW), Davidson())


OF_CURVES = [
    kind(kernel="rbf", C=100.0, **more)
    for kind, more in ((CompareSVM, {}), (CompareSVM, {"loss": "logistic"}), (Davidson, {}))
]


@pytest.mark.parametrize("comparer", OF_CURVES, ids=str)
def test_comparers_pass_the_checks_of_classifiers(comparer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = {"check_dtype_object": "it asks for four classes, where comparers have three"}
        results = check_estimator(OfRows(comparer), expected_failed_checks=expected, on_fail="raise", on_skip=None)
    assert sum(r["status"] == "passed" for r in results) >= 45


def test_where_nobody_can_see_what_was_numbered_it_is_told():
    joblib = pytest.importorskip("joblib")
    pair = [("a", Davidson()), ("b", CompareSVM())]
    # As in other processes: the caller of the meta-estimator is out of sight.
    with (
        joblib.parallel_backend("threading", n_jobs=2),
        pytest.warns(RankwiseWarning, match="0 is taken for -1.*wrong where it holds words"),
    ):
        votes = VotingClassifier(pair, n_jobs=2).fit(PAIRS, Y)
    is_as_good(votes.predict(NEW), Davidson())
    two = Y != 0
    with (
        joblib.parallel_backend("threading", n_jobs=2),
        pytest.raises(DataError, match="y has 0, 1, where sklearn.ensemble"),
    ):
        VotingClassifier(pair, n_jobs=2).fit(PAIRS[two], Y[two])
