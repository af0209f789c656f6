"""Warnings point at the line that called rankwise: elsewhere they are told once a session, or to nobody."""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")

import rankwise
from rankwise import datasets, metrics, plot, rate, tune
from rankwise.exceptions import ConvergenceWarning, RankwiseWarning

HERE = __file__
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.round(X @ [1.0, 2.0, -1.0] + RNG.normal(size=60))
QID = np.repeat(np.arange(6), 10)
SIDES = RNG.normal(size=(60, 2, 3))
SIGNS = np.sign(np.round(SIDES[:, 1, 0] - SIDES[:, 0, 0] + 0.3 * RNG.normal(size=60))).astype(int)
COLUMN = Y[:, None]
CLASSES = (Y > 0).astype(int)

ITEMS = [
    rankwise.RankSVM, rankwise.SwapSVM, rankwise.Ridge, rankwise.RankingVectorMachine, rankwise.OneNormRankSVM, rankwise.OnlineRankSVM,
    rankwise.OrdinalSVM, rankwise.SVC, rankwise.SVR,
]  # fmt: skip
COMPARERS = [rankwise.CompareSVM, rankwise.CompareRank, rankwise.CompareLP, rankwise.Davidson]


def frame_of(values):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(values, columns=list("abc"))


def made(kind):
    return kind(C=1.0) if kind is rankwise.CompareLP else kind()


def calls():
    """A call that warns, for every estimator and function that can, each on a line of this file."""
    found = {}
    for kind in ITEMS:
        labels = CLASSES if kind is rankwise.SVC else Y
        fitted = made(kind).fit(X, labels)
        groups = {} if kind in (rankwise.SVC, rankwise.SVR) else {"qid": QID}
        of_groups = made(kind).fit(X, labels, **groups)
        found[f"{kind.__name__}.fit"] = lambda kind=kind, labels=labels: made(kind).fit(X, labels[:, None])
        found[f"{kind.__name__}.predict"] = lambda fitted=fitted: fitted.predict(frame_of(X))
        found[f"{kind.__name__}.score"] = lambda fitted=fitted: fitted.score(frame_of(X), labels)
        if groups:
            found[f"{kind.__name__}.score without groups"] = lambda it=of_groups, labels=labels: it.score(X, labels)
        if "max_iter" in kind().get_params() and kind not in (rankwise.Ridge, rankwise.OnlineRankSVM):
            found[f"{kind.__name__}.fit, not converged"] = lambda kind=kind, labels=labels: kind(
                max_iter=1, tol=1e-12
            ).fit(X, labels)
    online = rankwise.OnlineRankSVM().fit(X, Y)
    found["OnlineRankSVM.partial_fit"] = lambda: online.partial_fit(X, COLUMN)
    graded, told = rankwise.OrdinalSVM().fit(X, Y), rankwise.SVC(probabilities=True).fit(X, CLASSES)
    found["OrdinalSVM.decision_function"] = lambda: graded.decision_function(frame_of(X))
    found["SVC.decision_function"] = lambda: told.decision_function(frame_of(X))
    found["SVC.predict_proba"] = lambda: told.predict_proba(frame_of(X))
    numbers = np.arange(120).reshape(60, 2)
    flat = SIDES.reshape(120, 3)
    for kind in COMPARERS:
        fitted = made(kind).set_params(preprocessor=flat).fit(numbers, SIGNS)
        named = made(kind).set_params(preprocessor=flat).fit(numbers, SIGNS).set_params(preprocessor=frame_of(flat))
        found[f"{kind.__name__}.fit"] = lambda kind=kind: made(kind).fit(SIDES, SIGNS[:, None])
        found[f"{kind.__name__}.fit, 0 and 1"] = lambda kind=kind: made(kind).fit(SIDES, np.abs(SIGNS))
        found[f"{kind.__name__}.score"] = lambda fitted=fitted: fitted.score(numbers, np.abs(SIGNS))
        for method in ("predict", "margins", "decision_function", "thresholds"):
            found[f"{kind.__name__}.{method}"] = lambda named=named, method=method: getattr(named, method)(numbers)
        found[f"{kind.__name__}.score_items"] = lambda fitted=fitted: fitted.score_items(frame_of(flat))
        if hasattr(named, "predict_proba"):
            found[f"{kind.__name__}.predict_proba"] = lambda named=named: named.predict_proba(numbers)
        if kind is not rankwise.CompareLP:
            found[f"{kind.__name__}.fit, not converged"] = lambda kind=kind: kind(max_iter=1, tol=1e-12).fit(
                SIDES, SIGNS
            )
    found["rate"] = lambda: rate(["a", "c"], ["b", "d"], [-1, -1])
    found["rate, 0 and 1"] = lambda: rate(["a", "b"], ["b", "a"], [0, 1], C=1)
    found["tune"] = lambda: tune(rankwise.RankSVM(max_iter=1, tol=1e-12), X, Y, qid=QID, grid={"C": [1.0]}, folds=2)
    found["tune, 0 and 1"] = lambda: tune(rankwise.CompareSVM(), SIDES, np.abs(SIGNS), grid={"C": [1.0]}, folds=2)
    found["item_metric"] = lambda: metrics.item_metric("ndcg", np.abs(COLUMN), Y)
    found["per_group"] = lambda: metrics.per_group("kendall_tau", COLUMN, Y, QID)
    for name in ("pair_accuracy", "swapped_pairs", "concordance", "kendall_tau", "kendall_tau_a", "spearman"):
        found[name] = lambda name=name: getattr(metrics, name)(COLUMN, Y)
    for name in ("ndcg", "mean_average_precision", "mrr", "err", "precision"):
        found[name] = lambda name=name: getattr(metrics, name)(np.abs(COLUMN), Y)
    for name in ("zero_one", "confusion", "accuracy", "auc", "roc"):
        found[f"comparison_{name}"] = lambda name=name: getattr(metrics, f"comparison_{name}")(np.abs(SIGNS), SIGNS)
    for name in ("log_loss", "brier"):
        chances = np.full((60, 3), 1 / 3)
        found[f"comparison_{name}"] = lambda name=name: getattr(metrics, f"comparison_{name}")(np.abs(SIGNS), chances)
    found["comparison_auc_baseline"] = lambda: metrics.comparison_auc_baseline(np.abs(SIGNS))
    found["plot.roc"] = lambda: plot.roc(np.abs(SIGNS), Y)
    found["plot.margins"] = lambda: plot.margins(np.abs(SIGNS), Y)
    found["plot.calibration"] = lambda: plot.calibration(np.abs(SIGNS), np.full((60, 3), 1 / 3))
    found["load_items"] = lambda: datasets.load_items(FILES["items.csv"])
    found["load_published"] = lambda: datasets.load_published("arff", FILES["table.arff"])
    return found


FILES = {
    "items.csv": "label,margin,x\n1,2,3\n2,1,4\n",
    "table.arff": "@relation r\n@attribute x numeric\n@attribute y numeric\n@data\n1,2\n?,1\n3,1\n",
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    CALLS = calls()


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_points_at_the_caller(name, monkeypatch, tmp_path):
    for file, text in list(FILES.items()):
        (tmp_path / file).write_text(text)
        monkeypatch.setitem(FILES, file, tmp_path / file)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        CALLS[name]()
    assert seen, "no warning, so that nothing is tested"
    assert {w.filename for w in seen} == {HERE}, [(w.filename, w.lineno, str(w.message)) for w in seen]


def test_a_warning_is_told_once_a_place_and_not_once_a_session():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            rate(["a", "b"], ["b", "a"], [0, 1], C=1)
        rate(["a", "b"], ["b", "a"], [0, 1], C=1)
    told = [w.lineno for w in seen if "but no -1" in str(w.message)]
    assert len(told) == len(set(told)) == 2


def test_a_warning_under_scikit_learn_points_at_who_called_it():
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import cross_val_score

    fitted = rankwise.RankSVM().fit(X, Y, qid=QID)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        permutation_importance(fitted, X, Y, n_repeats=2)
        cross_val_score(rankwise.CompareRank(), SIDES, (SIGNS > 0.5).astype(int))
    ours = [w for w in seen if issubclass(w.category, RankwiseWarning)]
    assert [w.filename for w in ours] == [HERE] * len(ours)
    assert len({w.lineno for w in ours}) == 2


def test_a_warning_in_a_worker_points_at_no_line_of_the_pool():
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    from sklearn.model_selection import cross_val_score

    with joblib.parallel_config(backend="threading"), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        cross_val_score(rankwise.CompareRank(), SIDES, (SIGNS > 0.5).astype(int), cv=2, n_jobs=2)
    ours = {w.filename for w in seen if issubclass(w.category, RankwiseWarning)}
    assert ours and all("sklearn" in file for file in ours), ours


def test_a_bar_that_cannot_be_shown_warns_the_caller(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        rankwise.RankSVM(verbose=True).fit(X, Y)
        tune(rankwise.RankSVM(verbose=True), X, Y, qid=QID, grid={"C": [1.0]}, folds=2)
    assert [w.filename for w in seen if "tqdm" in str(w.message)] == [HERE] * 2


def test_nobody_counts_frames_by_hand():
    package = Path(rankwise.__file__).parent
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "warn" and path.name != "_callers.py":
                raise AssertionError(f"{path}:{node.lineno} warns by itself: _callers.warn knows where")


def test_kinds_of_warnings_are_kept():
    with pytest.warns(ConvergenceWarning):
        rankwise.RankSVM(max_iter=1, tol=1e-12).fit(X, Y)
    assert issubclass(ConvergenceWarning, RankwiseWarning)
