"""Comparers of items that have names alone: what happens to names that training has not seen."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import rankwise
from rankwise import CompareLP, CompareRank, CompareSVM, Davidson, metrics
from rankwise.exceptions import DataError, MismatchError, ParameterError, RankwiseWarning, UnsupportedError

STRENGTH = dict(zip("abcdefgh", [3.0, 2.0, 1.0, 0.5, 0.0, -0.5, -1.0, -2.0]))
RNG = np.random.default_rng(0)
PAIRS = RNG.choice(list(STRENGTH), size=(300, 2))
PAIRS = PAIRS[PAIRS[:, 0] != PAIRS[:, 1]]
MARGINS = np.array([STRENGTH[right] - STRENGTH[left] for left, right in PAIRS]) + 0.5 * RNG.normal(size=len(PAIRS))
Y = np.where(np.abs(MARGINS) < 1, 0, np.sign(MARGINS)).astype(int)
COMPARERS = {
    "CompareSVM": CompareSVM,
    "CompareSVM, logistic": lambda **params: CompareSVM(loss="logistic", **params),
    "CompareRank": CompareRank,
    "CompareLP": lambda **params: CompareLP(C=1.0, **params),
    "Davidson": Davidson,
}
NEW = np.array([["a", "new"], ["h", "b"], ["other", "new"], ["new", "h"]])


@pytest.fixture(params=COMPARERS)
def comparer(request):
    return COMPARERS[request.param]


def test_a_new_name_is_refused_with_a_remedy(comparer):
    fitted = comparer().fit(PAIRS, Y)
    for ask in (fitted.predict, fitted.margins, fitted.decision_function, lambda pairs: fitted.score(pairs, [0] * 4)):
        with pytest.raises(
            MismatchError, match="2 items were not in the training data: 'new', 'other'.*unknown='nan'.*'average'"
        ):
            ask(NEW)
    with pytest.raises(MismatchError, match="unknown='nan'"):
        fitted.score_items(["a", "new"])
    with pytest.raises(ParameterError, match="unknown = 'skip' is not possible: expected 'error', 'nan' or 'average'"):
        comparer(unknown="skip").fit(PAIRS, Y)


def test_nothing_is_predicted_of_new_names_with_nan(comparer):
    fitted, strict = comparer(unknown="nan").fit(PAIRS, Y), comparer().fit(PAIRS, Y)
    known = [1]
    methods = ["predict", "margins", "decision_function", "thresholds"]
    methods += ["predict_proba"] if hasattr(fitted, "predict_proba") else []
    for method in methods:
        found = np.asarray(getattr(fitted, method)(NEW))
        if method != "thresholds":
            assert np.isnan(np.delete(found, known, axis=0)).all(), method
        np.testing.assert_array_equal(found[known], getattr(strict, method)(NEW[known]))
        np.testing.assert_array_equal(getattr(fitted, method)(PAIRS), getattr(strict, method)(PAIRS))
    assert np.isnan(fitted.score_items(["new", "a"])).tolist() == [True, False]
    assert fitted.predict(PAIRS).dtype == np.int8
    with pytest.warns(RankwiseWarning, match="3 of 4 pairs have nan for what is predicted: they are left out"):
        assert fitted.score(NEW, [0, -1, 0, 0]) == strict.score(NEW[known], [-1])
    with pytest.warns(RankwiseWarning, match="2 of 2 pairs"):
        assert np.isnan(fitted.score(NEW[[0, 2]], [0, 0]))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.margins(NEW), fitted.margins(NEW))


def test_a_new_name_is_the_average_of_all(comparer):
    fitted = comparer(unknown="average").fit(PAIRS, Y)
    scores = fitted.score_items(list(STRENGTH))
    average = scores.mean()
    np.testing.assert_allclose(fitted.score_items(["new", "b"]), [average, scores[1]], atol=1e-12)
    expected = [average - scores[0], scores[1] - scores[7], 0.0, scores[7] - average]
    np.testing.assert_allclose(fitted.margins(NEW), expected, atol=1e-12)
    threshold = fitted.threshold_
    np.testing.assert_array_equal(
        fitted.predict(NEW), np.where(np.abs(expected) <= threshold + 1e-12, 0, np.sign(expected))
    )
    if hasattr(fitted, "predict_proba"):
        chances = fitted.predict_proba(NEW)
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        np.testing.assert_allclose(chances[2, 0], chances[2, 2], atol=1e-12)


def test_the_average_needs_a_linear_machine():
    fitted = CompareSVM(kernel="rbf", unknown="average").fit(PAIRS, Y)
    with pytest.raises(UnsupportedError, match="kernel='linear'"):
        fitted.margins(NEW)
    assert np.isnan(fitted.set_params(unknown="nan").margins(NEW)).sum() == 3


def test_folds_with_new_names_are_no_longer_all_nan():
    pytest.importorskip("sklearn")
    from sklearn.model_selection import KFold, cross_val_score

    # The last fold has names that no other has.
    pairs = np.concatenate([PAIRS, [["x", "a"], ["y", "b"], ["x", "h"]]])
    y = np.concatenate([Y, [0, 1, -1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused = cross_val_score(Davidson(), pairs, y, cv=KFold(4), error_score=np.nan)
    assert np.isnan(refused[3]) and not np.isnan(refused[:3]).any()
    with pytest.warns(RankwiseWarning, match="3 of .* pairs have nan"):
        found = cross_val_score(Davidson(unknown="nan"), pairs, y, cv=KFold(4))
    np.testing.assert_array_equal(found[:3], refused[:3])
    train, test = list(KFold(4).split(pairs))[3]
    assert found[3] == Davidson().fit(pairs[train], y[train]).score(pairs[test[:-3]], y[test[:-3]])
    assert not np.isnan(cross_val_score(Davidson(unknown="average"), pairs, y, cv=KFold(4))).any()


def test_metrics_leave_out_and_count_what_is_not_known():
    fitted = Davidson(unknown="nan").fit(PAIRS, Y)
    pairs, y = np.concatenate([PAIRS, NEW]), np.concatenate([Y, [1, -1, 0, 1]])
    kept = ~np.isnan(fitted.margins(pairs))
    assert (~kept).sum() == 3
    weights = np.linspace(1, 2, len(y))
    for metric, method in (
        (metrics.comparison_zero_one, "predict"), (metrics.comparison_confusion, "predict"),
        (metrics.comparison_accuracy, "margins"), (metrics.comparison_auc, "margins"),
        (metrics.comparison_roc, "margins"), (metrics.comparison_log_loss, "predict_proba"),
        (metrics.comparison_brier, "predict_proba"),
    ):  # fmt: skip
        told = getattr(fitted, method)(pairs)
        with pytest.warns(
            RankwiseWarning, match=f"3 of {len(y)} pairs have nan for what is predicted: they are left out"
        ):
            found = metric(y, told, sample_weight=weights)
        np.testing.assert_equal(found, metric(y[kept], told[kept], sample_weight=weights[kept]))
        with pytest.raises(ValueError, match="nothing is known of any pair"), pytest.warns(RankwiseWarning):
            metric(y[~kept], told[~kept])
    with pytest.warns(RankwiseWarning, match="1 of 3"):
        assert metrics.comparison_auc([0, 1, -1], [0.1, 2.0, -1.0], excess=[-1.0, 1.0, np.nan]) == 1.0


def test_a_loaded_model_of_names_does_not_ask_for_features(tmp_path):
    Davidson().fit(PAIRS, Y).save(tmp_path / "m.safetensors")
    loaded = rankwise.load(tmp_path / "m.safetensors")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded.predict(PAIRS)
        loaded.set_params(unknown="average").predict(NEW)


def test_half_a_character_in_a_name_does_no_harm(tmp_path):
    broken = "x\ud800"  # as wrongly decoded files have them
    rng = np.random.default_rng(0)
    X, words = rng.normal(size=(40, 2)), np.array(["a", broken, "c"], dtype=object)[np.arange(40) % 3]
    machine = rankwise.SVC(class_weight={broken: 2.0}).fit(X, words)
    assert set(machine.predict(X)) <= set(words) and machine.classes_.tolist() == ["a", "c", broken]
    assert rankwise.tune(rankwise.SVC(), X, words, grid={"C": [1.0]}, folds=2).best_estimator_.classes_[2] == broken
    games = [broken, "b", "a", broken], ["b", "a", broken, "a"], ["left", "left", "tie", "right"]
    board = rankwise.rate(*games, C=1, covariates={broken: [1.0, 2.0, 3.0, 5.0]})
    assert broken in board.items and len(board.chances(broken, "b")) == 3
    str(board).encode()
    board._repr_html_().encode()
    with pytest.raises(DataError, match="row 1 has 'x"):
        rankwise.rate(*games[:2], ["left", broken, "tie", "right"], C=1)
    with pytest.raises(ValueError, match="row 0|time"):
        rankwise.rate(*games, C=1, time=[broken] * 4)
    assert (
        0
        <= metrics.item_metric("ndcg@3:trec", np.arange(40) % 3, X[:, 0], ids=[f"{broken} {k}" for k in range(40)])
        <= 1
    )
    rankwise.datasets.save_svmlight(tmp_path / "items.svm", X, np.arange(40), ids=[broken] * 40)
    assert "x\\ud800" in (tmp_path / "items.svm").read_text()


def test_support_items_are_called_what_a_table_calls_its_rows(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 3
    names = np.array([f"doc {k}" for k in range(40)])
    table = pandas.DataFrame(X, columns=["a", "b"], index=names)
    pairs = rng.integers(0, 40, size=(60, 2))
    judged = np.sign(X[pairs[:, 1], 0] - X[pairs[:, 0], 0]).astype(int)
    fitted = [
        rankwise.RankSVM(kernel="rbf").fit(table, y),
        rankwise.OrdinalSVM(kernel="rbf").fit(table, y),
        rankwise.SVC(kernel="rbf").fit(table, y),
        rankwise.SVR(kernel="rbf").fit(table, y.astype(float)),
        rankwise.RankingVectorMachine(kernel="rbf").fit(table, y),
        CompareSVM(kernel="rbf", preprocessor=table).fit(pairs, judged),
        rankwise.tune(
            rankwise.RankSVM(kernel="rbf"), table, y, qid=np.arange(40) % 4, grid={"C": [1.0]}, folds=2
        ).best_estimator_,
    ]
    for machine in fitted:
        np.testing.assert_array_equal(machine.support_names_, names[machine.support_])
        machine.save(tmp_path / "model")
        np.testing.assert_array_equal(rankwise.load(tmp_path / "model").support_names_, machine.support_names_)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(machine)).support_names_, machine.support_names_)
    # Numbers that nobody gave count rows, and an index with a name has been given.
    for plain in (X, pandas.DataFrame(X), pandas.DataFrame(X)[::-1]):
        with pytest.raises(AttributeError, match="index"):
            rankwise.RankSVM(kernel="rbf").fit(plain, y).support_names_
    numbered = pandas.DataFrame(X, index=pandas.Index(range(100, 140), name="document"))
    assert set(rankwise.RankSVM(kernel="rbf").fit(numbered, y).support_names_) <= {str(n) for n in range(100, 140)}
    with pytest.raises(AttributeError, match="kernel"):
        rankwise.RankSVM().fit(table, y).support_names_
    # Half of a character, as wrongly decoded files have them.
    broken = table.set_axis(pandas.Index([f"doc \ud800 {k}" for k in range(40)], dtype=object))
    machine = rankwise.RankSVM(kernel="rbf").fit(broken, y)
    assert machine.support_names_.tolist() == [rf"doc \ud800 {k}" for k in machine.support_]
    by_name = CompareSVM(kernel="rbf").fit(PAIRS, Y)
    assert set(by_name.support_names_) <= set(STRENGTH)


def test_a_search_refuses_what_a_fit_refuses():
    with pytest.raises(ParameterError, match="unknown = 'skip'"):
        rankwise.tune(CompareSVM(unknown="skip"), PAIRS, Y, grid={"C": [1.0]}, folds=2)


def test_a_missing_name_is_told_by_its_row():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="pairs is missing in row 1"):
        Davidson().fit(pandas.DataFrame({"left": ["a", None], "right": ["b", "c"]}), [0, 1])
