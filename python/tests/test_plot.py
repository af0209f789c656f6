"""Pictures: what is drawn is what the data say."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection, PathCollection

from rankwise import plot, rate


@pytest.fixture(autouse=True)
def closed() -> Any:
    yield
    plt.close("all")


class Comparer:
    """Scores that are twice the first feature plus the second one."""

    threshold_ = 1.0
    n_features_in_ = 2

    def score_items(self, X: Any) -> Any:
        return 2 * X[:, 0] + X[:, 1]

    def predict(self, X: Any) -> Any:
        raise AssertionError("comparers predict outcomes of pairs, not scores")


class Ranker:
    feature_names_in_ = np.array(["age", "price", "size"])
    n_features_in_ = 3

    def predict(self, X: Any) -> Any:
        assert X.shape[1] == 3
        return X[:, 0] + 10 * X[:, 1]


def curves(ax: Any) -> Any:
    (found,) = (made for made in ax.collections if type(made).__name__ == "QuadContourSet")
    return found


def pairs(n: int = 200, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    margins = random.normal(size=n).round(2)
    noisy = margins + 0.5 * random.normal(size=n)
    return np.where(np.abs(noisy) < 0.5, 0, np.sign(noisy)).astype(int), margins


def test_curves_of_a_comparer_are_its_threshold_apart() -> None:
    ax = plot.level_curves(Comparer(), limits=(-1, 1, -1, 1))
    # Scores go from −3 to 3.
    assert curves(ax).levels.tolist() == [-3, -2, -1, 0, 1, 2, 3]
    # Along the curve of 1, the score is 1.
    (vertices,) = (path.vertices for path, level in zip(curves(ax).get_paths(), curves(ax).levels) if level == 1)
    assert 2 * vertices[:, 0] + vertices[:, 1] == pytest.approx(np.ones(len(vertices)))
    assert "ties" in ax.get_title(loc="left") and "threshold 1" in ax.get_title(loc="left")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 0", "feature 1")
    assert ax.get_xlim() == (-1, 1)


def test_a_small_threshold_does_not_paint_it_black() -> None:
    comparer = Comparer()
    comparer.threshold_ = 0.01
    ax = plot.level_curves(comparer, limits=(-1, 1, -1, 1))
    assert 4 <= len(curves(ax).levels) <= 15 and ax.get_title(loc="left") == ""


def test_curves_of_other_estimators_and_features() -> None:
    items = np.array([[0.0, 1.0, 5.0], [2.0, 3.0, 7.0]])
    ax = plot.level_curves(Ranker(), items=items, features=(0, 2), levels=[1.0, 20.5, 21.0])
    # The feature that is not drawn is held at its mean, 2: scores are 20 + the first feature.
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "size")
    assert curves(ax).levels.tolist() == [1.0, 20.5, 21.0]
    drawn = dict(zip(curves(ax).levels.tolist(), curves(ax).get_paths()))
    assert len(drawn[1.0].vertices) == 0
    assert drawn[20.5].vertices[:, 0] == pytest.approx(0.5)
    points = [made for made in ax.collections if type(made) is PathCollection]
    assert np.asarray(points[0].get_offsets()).tolist() == [[0, 5], [2, 7]]
    with pytest.raises(TypeError, match="has no scores"):
        plot.level_curves(object())
    with pytest.raises(ValueError, match="limits"):
        plot.level_curves(Comparer(), limits=(1, 0, 0, 1))
    with pytest.raises(ValueError, match="pairs has shape"):
        plot.level_curves(Comparer(), pairs=np.zeros((3, 2)))


def test_pairs_are_segments_by_outcome() -> None:
    random = np.random.default_rng(1)
    sides = random.normal(size=(30, 2, 2))
    outcomes = np.arange(30) % 3 - 1
    ax = plot.level_curves(Comparer(), pairs=sides, outcomes=outcomes)
    made = {lines.get_label(): lines for lines in ax.collections if type(lines) is LineCollection}
    assert set(made) == {"left better", "tie", "right better"}
    for name, sign in (("left better", -1), ("tie", 0), ("right better", 1)):
        assert np.array(made[name].get_segments()) == pytest.approx(sides[outcomes == sign])
    assert len({str(lines.get_color()) for lines in made.values()}) == 3
    ends = [spots.get_offsets() for spots in ax.collections if type(spots) is PathCollection]
    assert np.asarray(ends[0]) == pytest.approx(sides[outcomes == -1, 0])
    assert np.asarray(ends[1]) == pytest.approx(sides[outcomes == 1, 1])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["left better", "tie", "right better"]
    # In greyscale markers tell the sides.
    assert [line.get_marker() for line in ax.get_legend().get_lines()] == ["o", "", "s"]


def test_the_roc_curve_is_that_of_all_thresholds() -> None:
    y, margins = pairs()
    ax = plot.roc(y, margins, label="linear")
    (line,) = ax.get_lines()
    x, height = line.get_data()
    # Every threshold, one by one.
    expected = {(0.0, 0.0)}
    for threshold in [*np.abs(margins), -1]:
        said = np.where(np.abs(margins) <= threshold, 0, np.sign(margins))
        expected.add((float(np.mean(said[y == 0] != 0)), float(np.mean(said[y != 0] == y[y != 0]))))
    for point in zip(x, height):
        assert min(abs(point[0] - a) + abs(point[1] - b) for a, b in expected) < 1e-12
    assert x[0] == height[0] == 0 and x[-1] == 1
    assert height[-1] == pytest.approx(np.mean(np.sign(margins[y != 0]) == y[y != 0]))
    area = float(np.sum(np.diff(x) * (height[1:] + height[:-1]) / 2))
    assert ax.get_legend().get_texts()[0].get_text() == f"linear (AUC {area:.3f})"
    again = plot.roc(y, -margins, ax=ax)
    assert again is ax and len(ax.get_lines()) == 2
    styles = {(made.get_color(), made.get_linestyle()) for made in ax.get_lines()}
    assert len(styles) == 2
    with pytest.raises(ValueError, match="needs ties"):
        plot.roc([1, -1], [0.5, 0.2])


def banded() -> tuple[Any, Any, Any]:
    """Pairs with thresholds of their own."""
    y, margins = pairs(200)
    widths = np.random.default_rng(4).uniform(0.0, 2.0, size=200)
    return y, margins, widths


def test_a_roc_curve_of_tie_bands_moves_all_of_them() -> None:
    from rankwise import metrics

    y, margins, widths = banded()
    excess = np.abs(margins) - widths
    ax = plot.roc(y, margins, excess=excess)
    _, false_positives, true_positives = metrics.comparison_roc(y, margins, excess=excess)
    np.testing.assert_array_equal(ax.get_lines()[0].get_data(), (false_positives, true_positives))
    area = metrics.comparison_auc(y, margins, excess=excess)
    assert ax.get_legend().get_texts()[0].get_text() == f"AUC {area:.3f}"
    assert area != metrics.comparison_auc(y, margins)


def test_margins_of_tie_bands_are_in_units_of_their_thresholds() -> None:
    y, margins, widths = banded()
    widths[:3] = 0.0
    edges = [-1e9, -1.0, np.nextafter(1.0, 2), 1e9]
    ax = plot.margins(y, margins, widths, bins=edges)
    ties = np.abs(margins) <= widths
    for patch, sign in zip([p for p in ax.patches if p.get_label() and "(" in str(p.get_label())], (-1, 0, 1)):
        left, middle, right = patch.get_data().values
        assert middle == ties[y == sign].sum()
        assert left == (~ties & (margins < 0))[y == sign].sum() and right == (~ties & (margins > 0))[y == sign].sum()
    assert "in thresholds of the pairs" in ax.get_xlabel() and ax.texts[0].get_text() == "±1"
    with pytest.raises(ValueError, match="threshold has -1.0 in row 2"):
        plot.margins(y, margins, np.where(np.arange(200) == 2, -1.0, widths))
    with pytest.raises(ValueError, match="threshold has 3 entries, expected 200"):
        plot.margins(y, margins, [1.0, 2.0, 3.0])


def test_weights_move_the_roc_curve() -> None:
    y, margins = pairs(60)
    weights = np.arange(60) % 3
    by_weight = plot.roc(y, margins, sample_weight=weights).get_lines()[0].get_data()
    twice = np.repeat(np.arange(60), weights)
    by_copies = plot.roc(y[twice], margins[twice]).get_lines()[0].get_data()
    assert np.interp(np.linspace(0, 1, 50), *by_weight) == pytest.approx(
        np.interp(np.linspace(0, 1, 50), *by_copies), abs=0.02
    )
    assert by_weight[1][-1] == pytest.approx(by_copies[1][-1])


def test_margins_are_counted_by_outcome() -> None:
    y, margins = pairs()
    ax = plot.margins(y, margins, 0.4, bins=10)
    edges = np.histogram_bin_edges(margins, 10)
    steps = [patch for patch in ax.patches if type(patch).__name__ == "StepPatch" and not patch.get_fill()]
    assert len(steps) == 3
    for patch, sign in zip(steps, (-1, 0, 1)):
        found = patch.get_data()
        assert found.values.tolist() == np.histogram(margins[y == sign], edges)[0].tolist()
        assert found.edges == pytest.approx(edges)
    assert [line.get_xdata()[0] for line in ax.get_lines()] == [-0.4, 0.4]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == [
        f"{name} ({(y == sign).sum()})" for name, sign in (("left better", -1), ("tie", 0), ("right better", 1))
    ]
    assert "±0.4" in [text.get_text() for text in ax.texts]
    with pytest.raises(ValueError, match="threshold"):
        plot.margins(y, margins, -1)
    with pytest.raises(ValueError, match=f"y has {len(y) - 1} entries"):
        plot.margins(y[:-1], margins, 1)
    with pytest.raises(ValueError, match="y: row 0 has 'up'; known are"):
        plot.margins(["up"] * len(margins), margins, 1)


def some_board(n: int = 12) -> Any:
    random = np.random.default_rng(0)
    left = random.integers(n, size=600)
    right = (left + random.integers(1, n, size=600)) % n
    d = (right - left) / 4 + random.logistic(size=600)
    return rate([f"model {k}" for k in left], [f"model {k}" for k in right], np.where(np.abs(d) < 0.5, 0, np.sign(d)))


def test_a_leaderboard_has_the_best_on_top() -> None:
    board = some_board()
    ax = plot.leaderboard(board, top=8)
    assert [text.get_text() for text in ax.get_yticklabels()] == board.items[:8]
    low, high = ax.get_ylim()
    assert high < 0 and low > 7  # downwards
    (dots,) = ax.get_lines()
    assert dots.get_xdata() == pytest.approx(board.ratings[:8])
    assert dots.get_ydata().tolist() == list(range(8))
    (spans,) = (made for made in ax.collections if type(made) is LineCollection)
    ends = np.array([[a[0], b[0]] for a, b in spans.get_segments()])
    assert ends == pytest.approx(np.column_stack([board.lower[:8], board.upper[:8]]))
    texts = [text.get_text() for text in ax.texts]
    assert texts[:8] == board.rank_ranges()[:8]
    assert "8 of 12 items" in texts and "95 % intervals" in ax.get_xlabel()
    assert len(plot.leaderboard(board, top=None).get_yticklabels()) == 12


@pytest.mark.filterwarnings("ignore::rankwise.exceptions.RankwiseWarning")
def test_a_leaderboard_shows_one_scale_only() -> None:
    board = rate(["a", "b", "a", "x", "y"], ["b", "a", "b", "y", "x"], [-1, -1, 0, -1, -1])
    assert board.scales.tolist() == [1, 1, 2, 2]
    assert [text.get_text() for text in plot.leaderboard(board).get_yticklabels()] == board.items[:2]
    with pytest.raises(ValueError, match="no item has a finite rating"):
        plot.leaderboard(rate(["a"], ["b"], [-1]))


def test_calibration_shows_shares_that_came_true() -> None:
    random = np.random.default_rng(0)
    chances = random.dirichlet([2, 1, 2], size=400)
    y = np.array([random.choice([-1, 0, 1], p=p) for p in chances])
    ax = plot.calibration(y, chances, n_bins=4)
    _, sides, ties = ax.get_lines()
    order = np.argsort(chances[:, 1])
    blocks = order.reshape(4, 100)
    assert ties.get_xdata() == pytest.approx(chances[:, 1][blocks].mean(axis=1))
    assert ties.get_ydata() == pytest.approx((y == 0)[blocks].mean(axis=1))
    assert len(sides.get_xdata()) == 4
    error = np.abs(ties.get_xdata() - ties.get_ydata()).mean()
    assert ax.get_legend().get_texts()[1].get_text() == f"ties (error {error:.3f})"
    with pytest.raises(ValueError, match="probabilities has shape"):
        plot.calibration(y, chances[:, :2])
    with pytest.raises(ValueError, match="numbers from 0 to 1"):
        plot.calibration(y, chances * 2)


def test_given_axes_are_used_and_returned() -> None:
    y, margins = pairs()
    _, ax = plt.subplots()
    assert plot.margins(y, margins, 0.1, ax=ax) is ax
    assert plot.level_curves(Comparer(), ax=ax) is ax
    n_figures = len(plt.get_fignums())
    assert n_figures == 1


def test_without_matplotlib_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "import rankwise.plot\n"
        "try: rankwise.plot.roc([0, 1], [0.1, 0.5])\n"
        "except ImportError as error: print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install rankwise[plot]" in ran.stdout, ran.stderr


def test_importing_it_loads_no_matplotlib() -> None:
    code = "import sys, rankwise.plot; print(sorted({'matplotlib', 'pandas', 'sklearn', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
