"""What estimators learn, against definitions written out and other tools; their attributes, files and starts."""

from __future__ import annotations

import pickle
import warnings
from copy import deepcopy

import numpy as np
import pytest

import rankwise
from rankwise import (
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
from rankwise.exceptions import ConvergenceWarning, MismatchError, NotSeparableError, RankwiseWarning

ITEMS = [
    RankSVM(C=0.1), RankSVM(kernel="rbf", scale="standard"), RankSVM(loss="hinge", C=0.01), SwapSVM(C=0.01), Ridge(), RankingVectorMachine(C=0.1, kernel="rbf"),
    OneNormRankSVM(C=0.1), OnlineRankSVM(C=0.01, steps=20_000), OrdinalSVM(), OrdinalSVM(kernel="rbf"), SVC(), SVC(kernel="rbf", probabilities=True),
    SVC(classes="crammer-singer"), SVR(), SVR(kernel="poly", scale="minmax"), RankSVM(kernel="rbf", approx="nystrom:20"),
]  # fmt: skip
PAIRS = [
    CompareSVM(),
    CompareSVM(kernel="rbf", scale="standard"),
    CompareSVM(loss="logistic", tie_band="pair"),
    CompareRank(variant="rank2"),
    CompareLP(C=1.0),
    Davidson(),
]


def pairs_of(y, qid, weights=None):
    """All pairs (better, worse) of one group, and their weights, one by one."""
    weights = np.ones(len(y)) if weights is None else weights
    better, worse = np.nonzero((y[:, None] > y[None, :]) & (qid[:, None] == qid[None, :]))
    return better, worse, weights[better] * weights[worse]


@pytest.mark.parametrize("loss", ["squared-hinge", "hinge", "logistic"])
def test_a_ranker_minimises_its_objective(ranking, loss):
    X, y, qid = ranking
    weights = np.random.default_rng(3).uniform(0.5, 2, size=len(y))
    ranker = RankSVM(C=0.05, loss=loss, tol=1e-8).fit(X, y, qid=qid, sample_weight=weights)
    better, worse, c = pairs_of(y, qid, weights)

    def objective(w):
        t = 1 - (X[better] - X[worse]) @ w
        losses = {"squared-hinge": np.maximum(t, 0) ** 2, "hinge": np.maximum(t, 0), "logistic": np.logaddexp(0, t - 1)}
        return 0.5 * w @ w + 0.05 * (c * losses[loss]).sum()

    found = objective(ranker.coef_)
    assert ranker.objective_ == pytest.approx(found, rel=1e-10)
    assert ranker.gap_ <= 1e-8
    rng = np.random.default_rng(0)
    for scale in (1e-1, 1e-3):
        assert all(objective(ranker.coef_ + scale * rng.normal(size=4)) >= found * (1 - 1e-9) for _ in range(50))
    np.testing.assert_allclose(ranker.predict(X), X @ ranker.coef_, atol=1e-12)


def test_groups_may_come_in_any_order_and_be_called_anything(ranking):
    X, y, qid = ranking
    expected = RankSVM().fit(X, y, qid=qid).coef_
    words = np.array(["q" + "abcdefghijklmnopqrst"[q] for q in qid])
    order = np.argsort(qid, kind="stable")
    for ids in (
        words,
        words.astype(object),
        list(words),
        qid.astype(float),
        qid.astype(np.uint64),
        qid.astype(np.int8),
        qid + 0.5,
    ):
        np.testing.assert_allclose(RankSVM().fit(X, y, qid=ids).coef_, expected, rtol=1e-9)
    np.testing.assert_allclose(
        RankSVM(tol=1e-9).fit(X[order], y[order], qid=qid[order]).coef_,
        RankSVM(tol=1e-9).fit(X, y, qid=qid).coef_,
        rtol=1e-5,
    )
    assert np.abs(RankSVM().fit(X, y).coef_ - expected).max() > 1e-3  # without groups other pairs count


def test_group_weights_multiply_those_of_pairs(ranking):
    X, y, qid = ranking
    by_group = np.where(qid < 10, 4.0, 1.0)
    weighted = RankSVM(tol=1e-9).fit(X, y, qid=qid, group_weight=by_group).coef_
    by_item = RankSVM(tol=1e-9).fit(X, y, qid=qid, sample_weight=np.sqrt(by_group)).coef_
    np.testing.assert_allclose(weighted, by_item, rtol=1e-5)
    with pytest.raises(ValueError, match="group_weight"):
        RankSVM().fit(X, y, qid=qid, group_weight=np.arange(len(y)) + 1.0)
    with pytest.raises(ValueError, match="group_weight"):
        RankSVM().fit(X, y, group_weight=by_group)


def test_swapped_pairs_equal_the_hinge_at_four_times_c(ranking):
    X, y, qid = ranking
    swap, rank = (
        SwapSVM(C=0.01, tol=1e-7).fit(X, y, qid=qid),
        RankSVM(C=0.04, loss="hinge", tol=1e-7).fit(X, y, qid=qid),
    )
    assert 4 * swap.objective_ == pytest.approx(rank.objective_, rel=1e-5)
    np.testing.assert_allclose(2 * swap.coef_, rank.coef_, rtol=1e-2)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_classifier_and_regression_equal_those_of_scikit_learn(ranking, kernel):
    svm = pytest.importorskip("sklearn.svm", reason="scikit-learn is not installed")
    X, y, _ = ranking
    same = {"C": 2.0, "kernel": kernel, "gamma": 0.3, "coef0": 1.0, "tol": 1e-7}
    two = (y > 0).astype(int)
    ours, theirs = SVC(**same).fit(X, two), svm.SVC(**same).fit(X, two)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
    assert abs(len(ours.support_) - len(theirs.support_)) <= 6 if kernel != "linear" else True
    ours, theirs = SVR(epsilon=0.2, **same).fit(X, y), svm.SVR(epsilon=0.2, **same).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=5e-3)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-3)
    weights = np.random.default_rng(1).uniform(0, 3, size=len(y))
    ours, theirs = SVC(**same).fit(X, two, sample_weight=weights), svm.SVC(**same).fit(X, two, sample_weight=weights)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=5e-3)
    ours = SVC(class_weight={0: 1.0, 1: 5.0}, **same).fit(X, two)
    theirs = svm.SVC(class_weight={0: 1.0, 1: 5.0}, **same).fit(X, two)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=5e-3)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [3, 7], [-1.0, 1.0]])
def test_classes_come_back_as_they_were(ranking, labels, tmp_path):
    X, y, _ = ranking
    given = np.array(labels)[(y > 0).astype(int)]
    classifier = SVC().fit(X, given)
    assert classifier.classes_.tolist() == labels and classifier.predict(X).dtype == given.dtype
    assert classifier.score(X, given) > 0.9
    classifier.save(tmp_path / "m.safetensors")
    loaded = rankwise.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.decision_function(X), classifier.decision_function(X))
    if labels != [False, True]:
        assert loaded.classes_.tolist() == labels


def test_grades_lie_between_thresholds(ranking):
    X, y, _ = ranking
    machine = OrdinalSVM(C=10).fit(X, y)
    assert machine.classes_.tolist() == [-2, -1, 0, 1, 2] and np.all(np.diff(machine.thresholds_) >= 0)
    places = (machine.decision_function(X)[:, None] >= machine.thresholds_).sum(axis=1)
    np.testing.assert_array_equal(machine.predict(X), machine.classes_[places])
    assert np.abs(machine.predict(X) - y).mean() < 0.3
    assert OrdinalSVM(bins=3).fit(X, X[:, 0]).classes_.tolist() == [1, 2, 3]


def test_the_comparison_machine_minimises_its_objective(judged):
    pairs, y = judged
    machine = CompareSVM(C=0.5, threshold="model", tol=1e-9).fit(pairs, y)
    beta = machine.beta_
    u = -beta * machine.coef_
    z = (pairs[:, 1] - pairs[:, 0]) @ u
    lead, ties = (z * y)[y != 0], z[y == 0]
    losses = (np.maximum(1 - beta - lead, 0) ** 2).sum() + (
        np.maximum(1 + beta + ties, 0) ** 2 + np.maximum(1 + beta - ties, 0) ** 2
    ).sum()
    assert machine.objective_ == pytest.approx(0.5 * u @ u + 0.5 * losses, rel=1e-9)
    assert machine.threshold_ == 1.0 and beta < 0


def test_pairs_as_numbers_as_sides_and_by_a_function_are_the_same(judged):
    pairs, y = judged
    features = pairs.reshape(-1, 3)
    numbers = np.arange(800).reshape(-1, 2)
    expected = CompareSVM(kernel="rbf", gamma=0.2).fit(pairs, y)
    asked = []

    def look_up(items):
        asked.append(items)
        return features[items]

    for preprocessor in (features, features.tolist(), look_up):
        found = CompareSVM(kernel="rbf", gamma=0.2, preprocessor=preprocessor).fit(numbers, y)
        np.testing.assert_allclose(found.margins(numbers), expected.margins(pairs), atol=1e-9)
        np.testing.assert_array_equal(found.predict(numbers), expected.predict(pairs))
    assert len(asked) == 3
    np.testing.assert_array_equal(features[expected.support_], expected.support_vectors_)
    K = np.exp(-0.2 * ((features[:, None] - expected.support_vectors_[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(expected.score_items(features), K @ expected.dual_coef_[0], atol=1e-9)


def test_context_describes_the_comparison(judged):
    pairs, _ = judged
    rng = np.random.default_rng(0)
    lenient = rng.integers(0, 2, size=len(pairs))
    margins = (pairs[:, 1] - pairs[:, 0]) @ [1.0, -2.0, 0.5]
    y = np.where(np.abs(margins) < np.where(lenient, 3.0, 0.3), 0, np.sign(margins))
    context = lenient[:, None].astype(float)
    machine = CompareSVM(loss="logistic", tie_band="pair", C=10).fit(pairs, y, context=context)
    assert (
        machine.score(pairs, y, context=context) > CompareSVM(loss="logistic", C=10).fit(pairs, y).score(pairs, y) + 0.1
    )
    thresholds = machine.thresholds(pairs, context=context)
    assert thresholds[lenient == 1].mean() > 3 * thresholds[lenient == 0].mean()
    with pytest.raises(ValueError, match="context"):
        machine.fit(pairs, y, context=context[:-1])


def test_a_linear_program_says_whether_pairs_are_separable(judged):
    pairs, y = judged
    with pytest.raises(NotSeparableError):
        CompareLP().fit(pairs, y)
    margins = (pairs[:, 1] - pairs[:, 0]) @ [1.0, -2.0, 0.5]
    apart = np.abs(np.abs(margins) - 1) > 0.2
    clean = np.where(np.abs(margins) < 1, 0, np.sign(margins))[apart]
    machine = CompareLP().fit(pairs[apart], clean)
    assert machine.score(pairs[apart], clean) == 1.0 and machine.report_["margin"] > 0


@pytest.mark.parametrize("estimator", ITEMS, ids=str)
def test_items_survive_files_pickles_and_copies(estimator, ranking, tmp_path):
    X, y, _ = ranking
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
    expected = estimator.predict(X)
    for copy in (
        pickle.loads(pickle.dumps(estimator)),
        through_file(estimator, tmp_path),
        type(estimator).load(tmp_path / "model.safetensors"),
    ):
        np.testing.assert_array_equal(copy.predict(X), expected)
        assert (
            type(copy) is type(estimator)
            and copy.n_features_in_ == 4
            and copy.gap_ == pytest.approx(estimator.gap_, nan_ok=True)
        )
        if hasattr(estimator, "predict_proba"):
            np.testing.assert_array_equal(copy.predict_proba(X), estimator.predict_proba(X))
    if not isinstance(estimator, CompareSVM):
        with pytest.raises(MismatchError, match="CompareSVM"):
            CompareSVM.load(tmp_path / "model.safetensors")


@pytest.mark.parametrize("estimator", PAIRS, ids=str)
def test_comparers_survive_files_and_pickles(estimator, judged, tmp_path):
    pairs, y = judged
    estimator.fit(pairs, y)
    for copy in (pickle.loads(pickle.dumps(estimator)), through_file(estimator, tmp_path)):
        np.testing.assert_array_equal(copy.margins(pairs), estimator.margins(pairs))
        np.testing.assert_array_equal(copy.predict(pairs), estimator.predict(pairs))
        assert (
            type(copy) is type(estimator) and copy.threshold_ == estimator.threshold_ and copy.beta_ == estimator.beta_
        )


@pytest.mark.parametrize("estimator", [*ITEMS, *PAIRS], ids=str)
def test_what_0_1_pickled_is_read(estimator, ranking, judged):
    X, y, _ = ranking
    X, y = judged if estimator in PAIRS else (X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sklearn_clone(estimator).fit(X, y)
    old = deepcopy(fitted)
    for name in ("unknown", "_support_classes"):  # which 0.1 did not have
        old.__dict__.pop(name, None)
    old = pickle.loads(pickle.dumps(old))
    np.testing.assert_array_equal(old.predict(X), fitted.predict(X))
    assert old.score(X, y) == fitted.score(X, y) and repr(old) == repr(fitted)
    assert old.get_params() == fitted.get_params()
    for attribute in ("support_", "n_support_", "dual_coef_", "coef_"):
        assert hasattr(old, attribute) == hasattr(fitted, attribute)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(sklearn_clone(old).fit(X, y).predict(X), fitted.predict(X))
    if estimator in PAIRS:
        np.testing.assert_array_equal(old.margins(X), fitted.margins(X))
        named = type(estimator)(C=1.0).fit([["a", "b"], ["b", "c"]] * 3, [-1, 0, -1, 1, -1, 0])
        del named.unknown
        assert named.score_items(["a"]).shape == (1,) and named.predict([["a", "b"]]).shape == (1,)
        with pytest.raises(MismatchError, match="were not in the training data"):
            named.predict([["a", "z"]])


def sklearn_clone(estimator):
    return type(estimator)(**estimator.get_params())


def through_file(estimator, folder):
    estimator.save(folder / "model.safetensors")
    return rankwise.load(folder / "model.safetensors")


def test_loaded_estimators_have_the_parameters_of_the_file(judged, tmp_path):
    pairs, y = judged
    params = {
        "C": 3.0,
        "kernel": "poly",
        "gamma": 0.5,
        "degree": 2,
        "coef0": 1.0,
        "scale": "standard",
        "threshold": "model",
        "seed": 7,
    }
    loaded = through_file(CompareSVM(**params).fit(pairs, y), tmp_path)
    assert {name: loaded.get_params()[name] for name in params} == params


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_a_classifier_has_the_coefficients_of_scikit_learn(ranking, kernel, n_classes):
    svm = pytest.importorskip("sklearn.svm", reason="scikit-learn is not installed")
    X, y, _ = ranking
    X, y = X[:120], np.clip(y[:120], 0, n_classes - 1) if n_classes < 4 else np.clip(y[:120] + 1, 0, 3)
    y = np.array(["b", "a", "d", "c"])[y.astype(int)]  # an order of classes that is not that of the items
    same = {"C": 0.5, "kernel": kernel, "gamma": 0.3, "coef0": 1.0, "tol": 1e-10}
    theirs = svm.SVC(**same).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a gap of 1e-10 is beyond what sums of floats can tell here
        ours = SVC(**same).fit(X, y)
    assert ours.classes_.tolist() == theirs.classes_.tolist() and len(ours.classes_) == n_classes
    n_machines = n_classes * (n_classes - 1) // 2
    assert ours.intercept_.shape == theirs.intercept_.shape == (n_machines,)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-5)
    if kernel == "linear":
        assert ours.coef_.shape == (n_machines, 4)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=5e-5)
        return
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=2e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_copies_of_an_item_in_two_classes_are_support_items_of_both(ranking, n_classes):
    X, y, _ = ranking
    X, y = (
        np.concatenate([X[:60], X[:20]]),
        np.concatenate([np.clip(y[:60], 0, n_classes - 1), np.arange(20) % n_classes]),
    )
    machine = SVC(kernel="rbf", gamma=0.3, C=3.0, tol=1e-8).fit(X, y)
    assert (
        machine.n_support_.sum()
        == len(machine.support_)
        == machine.dual_coef_.shape[1]
        == len(machine.support_vectors_)
    )
    K = np.exp(-0.3 * ((X[:, None] - machine.support_vectors_[None]) ** 2).sum(axis=2))
    at = np.repeat(np.arange(n_classes), machine.n_support_)
    scores = []
    for i, j in zip(*np.triu_indices(n_classes, 1)):
        row = np.zeros(len(at)) if n_classes > 2 else machine.dual_coef_[0]
        if n_classes > 2:
            row[at == i], row[at == j] = machine.dual_coef_[j - 1, at == i], machine.dual_coef_[i, at == j]
        scores.append(K @ row + machine.intercept_[len(scores)])
    if n_classes == 2:
        np.testing.assert_allclose(scores[0], machine.decision_function(X), atol=1e-9)
        return
    won = np.zeros((len(X), 3))
    for (i, j), score in zip(((0, 1), (0, 2), (1, 2)), scores):
        won[np.arange(len(X)), np.where(score > 0, i, j)] += 1
    assert (won[np.arange(len(X)), machine.predict(X).astype(int)] == won.max(axis=1)).all()


def repeated(ranking):
    """Items of three classes, some of them copies in another class, and weights of which some are 0."""
    X, y, _ = ranking
    X, y = X[:120], np.array(["c", "a", "b"])[np.clip(y[:120] + 1, 0, 2).astype(int)]
    weights = np.ones(160)
    weights[:20] = 0.0
    return np.concatenate([X, X[:40]]), np.concatenate([y, np.roll(y[:40], 7)]), weights


@pytest.mark.parametrize("more", [{}, {"approx": "nystrom:30"}, {"scale": "standard"}], ids=str)
@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_support_items_are_told_class_by_class(ranking, scheme, n_classes, more, weighted, tmp_path):
    X, y, weights = repeated(ranking)
    y = np.where((n_classes == 2) & (y == "c"), "a", y)
    given = {"sample_weight": weights} if weighted else {}
    sparse = pytest.importorskip("scipy.sparse")
    for items in (X, X.astype(np.float32), sparse.csr_matrix(X)):
        machine = SVC(kernel="rbf", gamma=0.3, C=1.0, classes=scheme, **more).fit(items, y, **given)
        assert len(machine.support_) == machine.n_support_.sum() == machine.dual_coef_.shape[1]
        for rows, label in zip(np.split(machine.support_, np.cumsum(machine.n_support_)[:-1]), machine.classes_):
            assert len(rows) and set(y[rows]) == {label}
        np.testing.assert_allclose(X[machine.support_], machine.support_vectors_, atol=1e-6)
        if weighted and not more:
            assert weights[machine.support_].all()
        for again in (pickle.loads(pickle.dumps(machine)), deepcopy(machine)):
            for attribute in ("support_", "n_support_", "dual_coef_", "support_vectors_"):
                np.testing.assert_array_equal(getattr(again, attribute), getattr(machine, attribute))
        loaded = through_file(machine, tmp_path)
        assert sorted(loaded.support_vectors_.tolist()) == sorted(machine.support_vectors_.tolist())
        if "approx" in more or (scheme == "ovr" and n_classes == 3):
            with pytest.raises(AttributeError, match="n_support_ is only known after fit, not after load"):
                loaded.n_support_
        else:
            np.testing.assert_array_equal(loaded.n_support_, machine.n_support_)
            np.testing.assert_array_equal(loaded.dual_coef_, machine.dual_coef_)
    if scheme == "ovr" and n_classes == 3 and not more:
        K = np.exp(-0.3 * ((X[:, None] - machine.support_vectors_[None]) ** 2).sum(axis=2))
        scores = K @ machine.dual_coef_.T + machine.intercept_
        np.testing.assert_allclose(scores, machine.decision_function(X), atol=1e-6)


def test_an_item_against_the_rest_need_not_be_a_support_item_of_its_own_class():
    # The last one is far on its own side, and holds only the machine of another class.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.clip(np.round(X[:, 0] + X[:, 1]), -1, 1).astype(int)
    machine = SVC(kernel="rbf", classes="ovr").fit(X, y)
    np.testing.assert_array_equal(y[machine.support_], np.repeat(machine.classes_, machine.n_support_))
    assert not (machine.dual_coef_ > 0).any(axis=0).all()


@pytest.mark.parametrize("scheme", ["crammer-singer", "weston-watkins"])
def test_linear_schemes_have_no_support_items(ranking, scheme):
    X, y, _ = ranking
    machine = SVC(classes=scheme).fit(X, y)
    for attribute in ("support_", "n_support_", "support_vectors_", "dual_coef_", "support_names_"):
        with pytest.raises(AttributeError, match=f"{attribute} is only available where a kernel"):
            getattr(machine, attribute)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_search_has_the_classes_and_support_items_of_a_fit(ranking, kernel):
    X, y, weights = repeated(ranking)
    weights[y == "a"] = 0.0
    machine = SVC(kernel=kernel, C=1.0, gamma=0.3)
    found = rankwise.tune(machine, X, y, sample_weight=weights, grid={"C": [1.0]}, folds=2).best_estimator_
    machine.fit(X, y, sample_weight=weights)
    assert found.classes_.tolist() == machine.classes_.tolist() == ["b", "c"]
    np.testing.assert_array_equal(found.predict(X), machine.predict(X))
    if kernel == "rbf":
        np.testing.assert_array_equal(found.support_, machine.support_)
        np.testing.assert_array_equal(found.n_support_, machine.n_support_)


@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_weights_are_those_of_features_as_they_come_in(ranking, scale):
    X, y, qid = ranking
    X = X * [1.0, 100.0, 0.01, 5.0] + [3.0, -7.0, 0.0, 1.0]
    ranker = RankSVM(scale=scale).fit(X, y, qid=qid)
    np.testing.assert_allclose(X @ ranker.coef_ + ranker.intercept_, ranker.predict(X), atol=1e-9)
    classifier = SVC(scale=scale).fit(X, y)
    votes = X @ classifier.coef_.T + classifier.intercept_
    assert classifier.coef_.shape == (10, 4) and votes.shape == (300, 10)
    first, second = np.triu_indices(5, 1)
    won = np.zeros((300, 5))
    for machine, vote in enumerate(votes.T):
        won[np.arange(300), np.where(vote > 0, first[machine], second[machine])] += 1
    predicted = np.searchsorted(classifier.classes_, classifier.predict(X))
    assert (won[np.arange(300), predicted] == won.max(axis=1)).all()
    value = SVR(scale=scale).fit(X, y)
    np.testing.assert_allclose(X @ value.coef_ + value.intercept_, value.predict(X), atol=1e-9)


def test_kernel_scores_are_sums_over_support_items(ranking):
    X, y, qid = ranking
    for machine in (
        RankSVM(kernel="rbf", gamma=0.2),
        RankingVectorMachine(kernel="rbf", gamma=0.2, C=0.1),
        OneNormRankSVM(kernel="rbf", gamma=0.2, C=0.1),
    ):
        machine.fit(X, y, qid=qid)
        np.testing.assert_array_equal(X[machine.support_], machine.support_vectors_)
        K = np.exp(-0.2 * ((X[:, None] - X[machine.support_][None]) ** 2).sum(axis=2))
        np.testing.assert_allclose(K @ machine.dual_coef_[0], machine.predict(X), atol=1e-8)
        assert not hasattr(machine, "coef_") and machine.report_["support"] == len(machine.support_)
    scaled = RankSVM(kernel="rbf", scale="standard").fit(X, y, qid=qid)
    np.testing.assert_allclose(X[scaled.support_], scaled.support_vectors_, atol=1e-12)
    assert not hasattr(RankSVM().fit(X, y), "support_")


def test_too_few_iterations_are_a_warning(ranking):
    X, y, qid = ranking
    with pytest.warns(ConvergenceWarning, match="not converged"):
        ranker = RankSVM(C=100, max_iter=1, tol=1e-9).fit(X, y, qid=qid)
    assert ranker.gap_ > 1e-9 and ranker.report_["stop"] == "max_iter"
    with pytest.warns(ConvergenceWarning):
        SVC(kernel="rbf", C=1e4, max_iter=1, tol=1e-9).fit(X, y > 0)
    assert issubclass(ConvergenceWarning, RankwiseWarning)
    sklearn = pytest.importorskip("sklearn.exceptions", reason="scikit-learn is not installed")
    assert issubclass(ConvergenceWarning, sklearn.ConvergenceWarning)


def test_a_warm_start_takes_fewer_steps_and_ends_at_the_same_place(ranking):
    X, y, qid = ranking
    for kind in (RankSVM, SwapSVM):
        cold = kind(C=0.1, tol=1e-6).fit(X, y, qid=qid)
        warm = kind(C=0.1, tol=1e-6, warm_start=True).fit(X, y, qid=qid)
        before = warm.n_iter_
        warm.fit(X, y, qid=qid)
        assert warm.n_iter_ < before
        assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-5)


def test_a_stream_of_groups_is_learnt_part_by_part(ranking):
    X, y, qid = ranking
    whole = RankSVM(C=0.01, loss="hinge").fit(X, y, qid=qid)
    online = OnlineRankSVM(C=0.01)
    for _ in range(30):
        for part in range(4):
            rows = qid % 4 == part
            assert online.partial_fit(X[rows], y[rows], qid=qid[rows]) is online
    assert online.n_iter_ == (qid % 4 == 3).sum()  # those of the last call
    assert online.score(X, y, qid=qid) > whole.score(X, y, qid=qid) - 0.02
    first = OnlineRankSVM(C=0.01).partial_fit(X, y, qid=qid)
    np.testing.assert_array_equal(first.coef_, OnlineRankSVM(C=0.01, epochs=1).fit(X, y, qid=qid).coef_)
    with pytest.raises(ValueError, match="features"):
        first.partial_fit(X[:, :3], y, qid=qid)


def test_the_command_line_gives_the_same_scores_to_the_last_bit(ranking, judged, tmp_path, rankwise_cli):
    X, y, qid = ranking
    rows = "".join(
        f"{label:g},{group}," + ",".join(map(repr, map(float, row))) + "\n" for label, group, row in zip(y, qid, X)
    )
    (tmp_path / "items.csv").write_text("label,qid,a,b,c,d\n" + rows)
    for options in (
        ["--C", "0.1"],
        ["--kernel", "rbf", "--scale", "standard"],
        ["--method", "regress", "--kernel", "poly"],
    ):
        rankwise_cli(
            "train", tmp_path / "items.csv", "--precision", "f64", "-o", tmp_path / "shell.safetensors", *options
        )
        told = rankwise_cli("predict", tmp_path / "shell.safetensors", tmp_path / "items.csv")
        loaded = rankwise.load(tmp_path / "shell.safetensors")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the array has no names
            np.testing.assert_array_equal(loaded.predict(X), np.array(told.split(), dtype=float))
        assert loaded.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    # The other way round: trained here, used there.
    RankSVM(kernel="rbf", gamma=0.1).fit(X, y, qid=qid).save(tmp_path / "python.safetensors")
    told = rankwise_cli("predict", tmp_path / "python.safetensors", tmp_path / "items.csv")
    np.testing.assert_array_equal(
        np.array(told.split(), dtype=float), rankwise.load(tmp_path / "python.safetensors").predict(X)
    )
    pairs, outcomes = judged
    header = "left.a,left.b,left.c,right.a,right.b,right.c,outcome\n"
    lines = "".join(
        ",".join(map(repr, map(float, pair.ravel()))) + f",{outcome}\n" for pair, outcome in zip(pairs, outcomes)
    )
    (tmp_path / "pairs.csv").write_text(header + lines)
    for method in ("compare", "davidson", "rank2"):
        rankwise_cli(
            "train",
            "--pairs",
            tmp_path / "pairs.csv",
            "--precision",
            "f64",
            "--method",
            method,
            "-o",
            tmp_path / "pairs.safetensors",
        )
        told = rankwise_cli("predict", tmp_path / "pairs.safetensors", "--pairs", tmp_path / "pairs.csv").splitlines()
        columns = told[0].split(",")
        margins = np.array([float(line.split(",")[columns.index("margin")]) for line in told[1:]])
        loaded = rankwise.load(tmp_path / "pairs.safetensors")
        np.testing.assert_array_equal(loaded.margins(pairs), margins)


def test_fits_here_and_on_the_command_line_are_the_same(ranking, tmp_path, rankwise_cli):
    X, y, qid = ranking
    rows = "".join(
        f"{label:g},{group}," + ",".join(map(repr, map(float, row))) + "\n" for label, group, row in zip(y, qid, X)
    )
    (tmp_path / "items.csv").write_text("label,qid,a,b,c,d\n" + rows)
    for options, machine in (
        (["--C", "0.1"], RankSVM(C=0.1)), (["--method", "ordinal"], OrdinalSVM()), (["--method", "rvm"], RankingVectorMachine()),
        (["--method", "classify", "--kernel", "rbf"], SVC(kernel="rbf")),
    ):  # fmt: skip
        rankwise_cli(
            "train", tmp_path / "items.csv", "--precision", "f64", "-o", tmp_path / "shell.safetensors", *options
        )
        fit = machine.fit(X, y, qid=qid) if hasattr(machine, "_starts") else machine.fit(X, y)
        assert fit.objective_ == rankwise.load(tmp_path / "shell.safetensors").objective_, options


def test_tune_chooses_what_the_command_line_chooses(ranking, judged, tmp_path, rankwise_cli):
    import json

    X, y, qid = ranking
    rows = "".join(
        f"{label:g},{group}," + ",".join(map(repr, map(float, row))) + "\n" for label, group, row in zip(y, qid, X)
    )
    (tmp_path / "items.csv").write_text("label,qid,a,b,c,d\n" + rows)
    shell = json.loads(
        rankwise_cli("tune", tmp_path / "items.csv", "--precision", "f64", "--json", "-o", tmp_path / "m.safetensors")
    )
    found = rankwise.tune(RankSVM(), X, y, qid=qid)
    assert found.best_params_["C"] == pytest.approx(shell["best"]["params"]["C"])
    assert [p["mean"] for p in found.points_] == pytest.approx([p["mean"] for p in shell["points"]])
    assert found.best_estimator_.C == found.best_params_["C"] and found.metric_ == "pair_accuracy"
    pairs, outcomes = judged
    tuned = rankwise.tune(CompareSVM(), pairs, outcomes, grid={"C": "0.01:10:4", "kernel": ["linear", "rbf"]}, folds=3)
    assert len(tuned.points_) == 8 and tuned.best_score_ == min(p["mean"] for p in tuned.points_)
    assert tuned.best_estimator_.score(pairs, outcomes) > 0.85


def test_tune_measures_on_validation_data_and_knows_every_machine(ranking, judged):
    X, y, qid = ranking
    train, test = qid < 14, qid >= 14
    valid = (X[test], y[test], qid[test])
    for machine, metric in [
        (RankSVM(), "kendall_tau"),
        (RankingVectorMachine(), None),
        (OneNormRankSVM(), None),
        (OrdinalSVM(), "mae"),
        (SVC(), None),
        (SVR(kernel="rbf"), "r2"),
    ]:
        grid = {"C": [0.01, 1.0], **({"epsilon": [0.1, 0.5]} if isinstance(machine, SVR) else {})}
        tuned = rankwise.tune(machine, X[train], y[train], qid=qid[train], valid=valid, grid=grid, metric=metric)
        chosen = tuned.best_estimator_
        assert type(chosen) is type(machine) and chosen is not machine and not hasattr(machine, "n_features_in_")
        best = max if tuned.greater_is_better_ else min
        assert tuned.best_score_ == best(p["mean"] for p in tuned.points_)
        if metric is None and isinstance(machine, RankingVectorMachine):
            assert chosen.score(*valid[:2], qid=valid[2]) == pytest.approx(tuned.best_score_, abs=1e-9)
    with pytest.raises(ValueError, match="grid"):
        rankwise.tune(RankSVM(), X, y, qid=qid, grid={"gama": [1]})
    with pytest.raises(ValueError, match="metric"):
        rankwise.tune(SVC(), X, y, metric="rmse")
    with pytest.raises(ValueError, match="metric"):
        rankwise.tune(CompareSVM(), *judged, metric="log_loss")
    with pytest.raises(ValueError, match="estimator"):
        rankwise.tune(Ridge(), X, y)
    with pytest.raises(ValueError, match="folds"):
        rankwise.tune(RankSVM(), X, y, qid=qid, folds=1)


@pytest.mark.parametrize("labels", [["01", "1"], ["1_0", "10"], ["1", "1.0"], ["nan", "inf"], ["a", "1"]])
def test_words_that_look_like_numbers_stay_apart(labels, ranking, tmp_path):
    X, y, _ = ranking
    given = np.array(labels)[(y > 0).astype(int)]
    classifier = SVC().fit(X, given)
    classifier.save(tmp_path / "m.safetensors")
    loaded = rankwise.load(tmp_path / "m.safetensors")
    assert loaded.classes_.tolist() == classifier.classes_.tolist()
    assert loaded.score(X, given) == classifier.score(X, given) > 0.8


def test_items_without_features_have_names(tmp_path, rankwise_cli):
    rng = np.random.default_rng(0)
    strength = dict(zip("abcdef", [3.0, 2.0, 1.0, 0.0, -1.0, -2.0]))
    pairs = rng.choice(list(strength), size=(300, 2))
    margins = np.array([strength[right] - strength[left] for left, right in pairs]) + 0.5 * rng.normal(size=300)
    y = np.where(np.abs(margins) < 1, 0, np.sign(margins)).astype(int)
    for machine in (CompareSVM(), Davidson(), CompareRank()):
        machine.fit(pairs, y)
        scores = machine.score_items(["a", "c", "f", "a"])
        assert scores[0] > scores[1] > scores[2] and scores[0] == scores[3]
        np.testing.assert_allclose(
            machine.margins(pairs), machine.score_items(pairs[:, 1]) - machine.score_items(pairs[:, 0])
        )
        assert machine.score(pairs, y) > 0.7
        copy = pickle.loads(pickle.dumps(machine))
        np.testing.assert_array_equal(copy.predict(pairs.astype(object)), machine.predict(pairs))
        with pytest.raises(MismatchError, match="z"):
            machine.predict([["a", "z"]])
    (tmp_path / "pairs.csv").write_text(
        "left,right,outcome\n" + "".join(f"{a},{b},{o}\n" for (a, b), o in zip(pairs, y))
    )
    rankwise_cli("train", "--pairs", tmp_path / "pairs.csv", "-o", tmp_path / "m.safetensors")
    loaded = rankwise.load(tmp_path / "m.safetensors")
    np.testing.assert_allclose(loaded.margins(pairs), CompareSVM().fit(pairs, y).margins(pairs), atol=0.05)


def test_tune_refuses_what_it_cannot_use(ranking, judged):
    X, y, qid = ranking
    few = {"C": [1.0]}
    refused = [
        (lambda: rankwise.tune(RankSVM(), X, y, qid=qid, grid={"C": "1:10:100000000000"}), "grid"),
        (lambda: rankwise.tune(RankSVM(), X, y, qid=qid, grid=few, valid=(X[:, :2], y, qid)), "valid.*2 features"),
        (
            lambda: rankwise.tune(CompareSVM(), *judged, grid=few, valid=(judged[0][:, :, :2], judged[1])),
            "valid.*2 features",
        ),
        (lambda: rankwise.tune(RankSVM(), X, y, qid=qid, grid=few, context=X), "context"),
        (lambda: rankwise.tune(RankSVM(), X, y, qid=qid, grid=[1]), "grid"),
        (lambda: rankwise.tune(RankSVM(), X, y, qid=qid, grid={"C": [None]}), "C"),
        (lambda: rankwise.tune(RankSVM(), X, y, qid=qid, grid={"C": [[1]]}), "C"),
        (lambda: rankwise.tune(RankSVM(), X, y, qid=qid, grid={"C": ["x"]}), "C"),
        (lambda: rankwise.tune(RankSVM(), X, y, qid=qid, folds=2.7), "folds"),
        (lambda: rankwise.tune(RankSVM(), X, y, qid=qid, folds=2**70), "folds"),
        (lambda: rankwise.tune(RankSVM(), X, y, qid=qid, metric=3), "metric"),
        (lambda: rankwise.tune(RankSVM(), X, y, qid=qid, time_limit="x"), "time_limit"),
    ]
    for work, match in refused:
        with pytest.raises(ValueError, match=match):
            work()


def test_fits_of_other_shapes_follow_each_other(ranking, judged):
    X, y, qid = ranking
    ranker = RankSVM(kernel="rbf", warm_start=True).fit(X, y, qid=qid)
    ranker.set_params(kernel="linear").fit(X, y, qid=qid).fit(X, y, qid=qid)
    np.testing.assert_allclose(ranker.objective_, RankSVM().fit(X, y, qid=qid).objective_, rtol=1e-2)
    pairs, outcomes = judged
    context = np.ones((len(pairs), 2))
    context[::2] = 0
    machine = CompareSVM(loss="logistic", tie_band="pair").fit(pairs, outcomes, context=context)
    with pytest.raises(ValueError, match="context has 5 columns"):
        machine.predict(pairs, context=np.ones((len(pairs), 5)))
    for unfitted in (
        lambda: CompareSVM().score_items(X),
        lambda: CompareSVM().predict(pairs),
        lambda: RankSVM().predict(X),
    ):
        with pytest.raises(ValueError, match="not fitted"):
            unfitted()


def test_messages_speak_python(ranking):
    X, y, qid = ranking
    with pytest.warns(RankwiseWarning, match="scale='standard'"):
        RankSVM().fit(X * [1, 1000, 1, 1], y, qid=qid)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RankSVM().fit(X * [1, 1000, 1, 1], y, qid=qid)
    assert not any("--" in str(warning.message) for warning in caught)


def test_a_loaded_ranker_knows_that_it_has_groups(ranking, tmp_path):
    X, y, qid = ranking
    loaded = through_file(RankSVM().fit(X, y, qid=qid), tmp_path)
    with pytest.warns(RankwiseWarning, match="scored without"):
        loaded.score(X, y)


def test_a_comparers_search_takes_the_groups_of_its_validation_data_for_groups(judged):
    pairs, y = judged
    few, groups = {"C": [0.1, 1.0]}, np.arange(200) % 7
    train, held = (pairs[:200], y[:200]), (pairs[200:], y[200:])
    plain = rankwise.tune(CompareSVM(), *train, grid=few, valid=held)
    for qid in (groups, groups.astype(str), None):
        tuned = rankwise.tune(CompareSVM(), *train, grid=few, valid=(*held, qid))
        assert tuned.points_ == plain.points_ and tuned.best_params_ == plain.best_params_
    context = np.random.default_rng(0).uniform(1, 2, size=(400, 1))
    banded = CompareSVM(tie_band="pair")
    tuned = rankwise.tune(
        banded, *train, context=context[:200], grid={"C": [1.0]}, valid=(*held, groups, context[200:])
    )
    alone = CompareSVM(tie_band="pair").fit(*train, context=context[:200])
    missed = 1 - alone.score(*held, context=context[200:])
    assert tuned.metric_ == "zero_one" and tuned.best_score_ == pytest.approx(missed, abs=1e-12)
    with pytest.raises(rankwise.exceptions.ParameterError, match=r"valid\[2\].*qid.*valid\[3\]"):
        rankwise.tune(banded, *train, context=context[:200], grid=few, valid=(*held, context[200:]))
    with pytest.raises(ValueError, match=r"valid\[2\] has 199 entries"):
        rankwise.tune(CompareSVM(), *train, grid=few, valid=(*held, groups[1:]))
    with pytest.raises(ValueError, match="expected"):
        rankwise.tune(CompareSVM(), *train, grid=few, valid=(*held, groups, None, None))
