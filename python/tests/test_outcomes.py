"""What stands for outcomes: numbers and words, never truth values, and 0 with 1 alone not without a word."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")

import matplotlib.pyplot as plt

from rankwise import CompareLP, CompareRank, CompareSVM, Davidson, metrics, plot, rate, tune
from rankwise.exceptions import DataError, RankwiseWarning


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


COMPARERS = [CompareSVM(), CompareRank(), CompareLP(C=1.0), Davidson()]
WORDS = {-1: "model_a", 0: "draw", 1: "Right "}


def by_left_and_right(y):
    """Everything that takes outcomes, by name."""
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(len(y), 2, 2))
    left, right = (list(map(str, side)) for side in rng.integers(0, 5, (2, len(y))) + [[0], [5]])
    margins, chances = np.linspace(-1, 1, len(y)), np.full((len(y), 3), 1 / 3)
    comparer = CompareSVM(max_iter=5).fit(pairs, np.resize([-1, 0, 1], len(y)))
    return {
        "rate": lambda: rate(left, right, y, C=1),
        "tune": lambda: tune(CompareSVM(), pairs, y, grid={"C": [1.0]}, folds=2),
        "score": lambda: comparer.score(pairs, y),
        **{
            f"{type(c).__name__}.fit": lambda c=c: type(c)(**c.get_params()).fit(pairs, y)  # fresh ones
            for c in COMPARERS
        },
        "comparison_zero_one": lambda: metrics.comparison_zero_one(y, np.sign(margins)),
        "comparison_confusion": lambda: metrics.comparison_confusion(y, np.sign(margins)),
        "comparison_accuracy": lambda: metrics.comparison_accuracy(y, margins),
        "comparison_auc": lambda: metrics.comparison_auc(y, margins),
        "comparison_auc_baseline": lambda: metrics.comparison_auc_baseline(y),
        "comparison_roc": lambda: metrics.comparison_roc(y, margins),
        "comparison_log_loss": lambda: metrics.comparison_log_loss(y, chances),
        "comparison_brier": lambda: metrics.comparison_brier(y, chances),
        "plot.roc": lambda: plot.roc(y, margins),
        "plot.margins": lambda: plot.margins(y, margins),
        "plot.calibration": lambda: plot.calibration(y, chances),
        "plot.level_curves": lambda: plot.level_curves(comparer, pairs=pairs, outcomes=y, resolution=5),
    }


NAMES = list(by_left_and_right([0, 1, -1]))


def called(name, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = by_left_and_right(y)[name]
    return call


@pytest.mark.parametrize("name", NAMES)
def test_0_and_1_without_minus_1_do_not_pass_in_silence(name):
    for y in ([0, 1] * 10, np.array([0.0, 1.0] * 10), ["0", "1"] * 10):
        with pytest.warns(
            UserWarning, match="0 and 1 but no -1: 0 is a tie and 1 says that right is better.*numpy.where"
        ):
            called(name, y)()
    for y in ([0, 1, -1, 0] * 5, ["tie", "right"] * 10):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            called(name, y)()
        assert not [w for w in seen if "but no -1" in str(w.message)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [list, tuple, lambda y: np.array(y, dtype=object)])
@pytest.mark.parametrize("y", [[True, False] * 10, [True, 1, 0, -1] * 5, [1, np.True_, 0, -1] * 5])
def test_truth_values_are_refused(name, y, kind):
    y = kind(y)
    with pytest.raises(DataError, match=r"row . has (np.)?True.*numpy.where\(.*, 'left', 'right'\)"):
        called(name, y)()


@pytest.mark.parametrize("name", NAMES)
def test_words_say_what_numbers_do(name):
    numbers = [-1, 0, 1, 1, 0, -1, 1, -1, 0, 1] * 2
    for words in ([WORDS[n] for n in numbers], np.array([WORDS[n] for n in numbers]), [str(n) for n in numbers]):
        of_words, of_numbers = called(name, words)(), called(name, numbers)()
        if name.endswith(".fit"):
            np.testing.assert_array_equal(of_words.coef_, of_numbers.coef_)
        elif name == "rate":
            np.testing.assert_array_equal(of_words.ratings, of_numbers.ratings)
        elif name == "tune":
            assert of_words.best_score_ == of_numbers.best_score_
        elif not name.startswith("plot"):
            np.testing.assert_equal(of_words, of_numbers)
    with pytest.raises(DataError, match="row 1 has 'won'; known are left, tie, right"):
        called(name, ["left", "won"] * 10)()


def test_truth_values_are_no_predictions():
    for predicted in ([True, 0, -1], np.array([True, False, True])):
        for metric in (metrics.comparison_zero_one, metrics.comparison_confusion):
            with pytest.raises(DataError, match="outcomes: row 0 has (np.)?True"):
                metric([-1, 0, 1], predicted)


def test_what_is_predicted_may_lack_minus_1():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RankwiseWarning)
        assert metrics.comparison_zero_one([-1, 0, 1], [0, 0, 1]) == pytest.approx(1 / 3)


def test_missing_outcomes_are_no_outcomes():
    pandas = pytest.importorskip("pandas")
    for y in ([1.0, np.nan], pandas.Series(["left", None]), pandas.array([True, None], dtype="boolean")):
        with pytest.raises(ValueError, match="row [01] has"):
            CompareSVM().fit(np.zeros((2, 2, 1)), y)


def test_outcomes_come_in_columns_of_any_kind():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    words = ["left", "tie", "right", "right", "tie", "left"]
    pairs = np.random.default_rng(0).normal(size=(6, 2, 2))
    expected = CompareSVM().fit(pairs, words).coef_
    games = list("abcabc"), list("bcabca")
    board = rate(*games, words, C=1)
    for column in (
        pandas.Series(words, dtype="string"), pandas.Series(words, dtype="category"), polars.Series(words),
        polars.Series(words, dtype=polars.Categorical), pyarrow.array(words), pyarrow.chunked_array([words]), np.array(words, dtype="S"),
    ):  # fmt: skip
        np.testing.assert_array_equal(CompareSVM().fit(pairs, column).coef_, expected)
        np.testing.assert_array_equal(rate(*games, column, C=1).ratings, board.ratings)
    truth = [True, False] * 3
    for column in (pandas.Series(truth, dtype="boolean"), polars.Series(truth), pyarrow.array(truth)):
        for call in (lambda: CompareSVM().fit(pairs, column), lambda: rate(*games, column, C=1)):
            with pytest.raises(DataError, match="row 0 has True"):
                call()
