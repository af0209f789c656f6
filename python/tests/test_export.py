"""What other programs make of exported models is what the models themselves say."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess

import numpy as np
import pytest

import rankwise
from rankwise import _input
from rankwise.exceptions import ParameterError

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

KERNELS = {
    "linear": {},
    "poly": {"kernel": "poly", "gamma": 0.05, "coef0": 1.0, "degree": 2},
    "rbf": {"kernel": "rbf", "gamma": 0.2},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.1, "coef0": 0.2},
}
SCALES = ["none", "standard", "minmax"]


def run(data: bytes, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    """What onnxruntime computes, after the checker of ONNX has seen the file."""
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_inputs()] == list(inputs)
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, inputs)))


def near(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Equal up to a part of the largest number."""
    assert found.shape == expected.shape
    worst = np.abs(found - expected).max() / np.abs(expected).max()
    assert worst <= tolerance, worst


def items(n: int = 1000, width: int = 5, seed: int = 0) -> np.ndarray:
    """Items of features far from 0 and of different sizes, a fifth of them copies of others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width)) * np.linspace(0.5, 2.0, width) + np.linspace(-1.0, 3.0, width)
    X[-n // 5 :] = X[rng.integers(0, n // 2, size=n // 5)]
    return X


def graded(n: int = 160, n_grades: int = 4, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = items(n, seed=seed)
    value = X @ [1.0, -1.0, 0.5, 0.3, 0.0] + np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n)
    places = np.searchsorted(np.quantile(value, np.linspace(0, 1, n_grades + 1)[1:-1]), value)
    return X, places


def judged(n: int = 200, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    pairs = items(2 * n, seed=seed).reshape(n, 2, 5)
    value = lambda X: X @ [1.0, -1.0, 0.5, 0.3, 0.0] + np.sin(2 * X[:, 0])  # noqa: E731
    margin = value(pairs[:, 1]) - value(pairs[:, 0]) + 0.3 * rng.normal(size=n)
    return pairs, np.where(np.abs(margin) < 1.0, 0, np.sign(margin)).astype(int)


def new_pairs(n: int = 1000) -> np.ndarray:
    """Pairs of which a tenth have two sides that are the same."""
    pairs = items(2 * n, seed=5).reshape(n, 2, 5)
    pairs[: n // 10, 1] = pairs[: n // 10, 0]
    return pairs


def copies_tie(scores: np.ndarray, X: np.ndarray) -> None:
    _, place = np.unique(X, axis=0, return_inverse=True)
    first = np.zeros(place.max() + 1)
    first[place] = scores
    assert np.array_equal(first[place], scores)


RANKERS = {
    "rank": lambda **k: rankwise.RankSVM(**k),
    "rank hinge": lambda **k: rankwise.RankSVM(loss="hinge", **k),
    "rvm": lambda **k: rankwise.RankingVectorMachine(**k),
    "rank-l1": lambda **k: rankwise.OneNormRankSVM(**k),
}
LINEAR_RANKERS = {
    "swap": lambda **k: rankwise.SwapSVM(**k),
    "ridge": lambda **k: rankwise.Ridge(**k),
    "online": lambda **k: rankwise.OnlineRankSVM(epochs=3, **k),
}


def rankers() -> list[tuple[str, str]]:
    with_kernels = [(method, kernel) for method in RANKERS for kernel in KERNELS if kernel != "sigmoid"]
    return with_kernels + [(method, "linear") for method in LINEAR_RANKERS]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("method", "kernel"), rankers())
@pytest.mark.filterwarnings("ignore")
def test_a_ranker_scores_as_it_does_here(method, kernel, scale):
    X, y = graded(40 if method == "rank-l1" else 160)
    ranker = (RANKERS | LINEAR_RANKERS)[method](scale=scale, **KERNELS[kernel]).fit(X, y)
    new = items()
    expected = ranker.predict(new)
    scores = run(ranker.to_onnx(), features=new)["score"]
    near(scores, expected, 1e-12)
    copies_tie(scores, new)
    single = new.astype(np.float32)
    scores = run(ranker.to_onnx(float32=True), features=single)["score"]
    assert scores.dtype == np.float32
    near(scores.astype(float), ranker.predict(single), 1e-5)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_regression_has_values(kernel, scale):
    X, y = graded()
    machine = rankwise.SVR(scale=scale, **KERNELS[kernel]).fit(X, y + 0.1 * X[:, 0])
    near(run(machine.to_onnx(), features=items())["value"], machine.predict(items()), 1e-12)
    single = items().astype(np.float32)
    found = run(machine.to_onnx(float32=True), features=single)["value"]
    near(found.astype(float), machine.predict(single), 1e-5)


@pytest.mark.parametrize("labels", [[0, 1, 2, 3], [0.5, 1.5, 2.0, 7.0]])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_an_ordinal_machine_has_grades_and_scores(kernel, scale, labels):
    X, places = graded()
    machine = rankwise.OrdinalSVM(scale=scale, **KERNELS[kernel]).fit(X, np.asarray(labels)[places])
    new = items()
    found = run(machine.to_onnx(), features=new)
    near(found["score"], machine.decision_function(new), 1e-12)
    assert found["label"].dtype == (np.int64 if labels[0] == 0 else np.float64)
    assert np.array_equal(found["label"], machine.predict(new))
    found = run(machine.to_onnx(float32=True), features=new.astype(np.float32))
    near(found["score"].astype(float), machine.decision_function(new.astype(np.float32)), 1e-5)


def scores_of(machine: rankwise.SVC, X: np.ndarray) -> np.ndarray:
    """Scores of classes even where probabilities decide, as `rankwise predict --scores` prints them."""
    return machine._model.classify(_input.items(X))[1]


WORDS = {2: ["no", "yes"], 4: ["bad", "good", "so-so", "Übel"]}


def classifiers() -> list[tuple[str, int, str, bool]]:
    """Machines that learn all classes at once are linear and have no probabilities."""
    joint = [("linear", n, classes, False) for n in (2, 4) for classes in ("crammer-singer", "weston-watkins")]
    return joint + [(k, n, c, p) for k in KERNELS for n in (2, 4) for c in ("ovo", "ovr") for p in (False, True)]


@pytest.mark.parametrize(("kernel", "n_classes", "classes", "probabilities"), classifiers())
@pytest.mark.filterwarnings("ignore")
def test_a_classifier_has_labels_scores_and_probabilities(kernel, n_classes, classes, probabilities):
    X, places = graded(n_grades=n_classes)
    for labels, scale in [(WORDS[n_classes], "standard"), (list(range(n_classes)), "none")]:
        machine = rankwise.SVC(classes=classes, probabilities=probabilities, scale=scale, **KERNELS[kernel])
        machine.fit(X, np.asarray(labels)[places])
        new = items()
        found = run(machine.to_onnx(), features=new)
        near(found["scores"], scores_of(machine, new), 1e-12)
        assert list(found["label"]) == list(machine.predict(new))
        assert (found["label"].dtype == np.int64) == (labels[0] == 0)
        assert ("probabilities" in found) == probabilities
        if probabilities:
            assert np.abs(found["probabilities"] - machine.predict_proba(new)).max() < 1e-12
        single = new.astype(np.float32)
        found = run(machine.to_onnx(float32=True), features=single)
        scores = scores_of(machine, single)
        # A vote that a score near 0 gives may go either way in float32.
        is_near = np.abs(found["scores"] - scores).max(axis=1) <= 1e-5 * np.abs(scores).max()
        assert is_near.mean() > (0.99 if classes == "ovo" and n_classes > 2 else 0.9999)
        assert (found["label"] == machine.predict(single)).mean() > 0.99
        if probabilities:
            assert np.abs(found["probabilities"] - machine.predict_proba(single)).max() < 2e-5


def test_classes_that_are_far_apart_have_sure_probabilities_everywhere():
    rng = np.random.default_rng(0)
    X = np.repeat(np.arange(3), 40)[:, None] * 9.0 + rng.normal(size=(120, 2))
    machine = rankwise.SVC(probabilities=True, C=10).fit(X, np.repeat(["a", "b", "c"], 40))
    new = rng.normal(size=(300, 2)) * 40
    found = run(machine.to_onnx(), features=new)
    assert np.abs(found["probabilities"] - machine.predict_proba(new)).max() < 1e-12
    assert list(found["label"]) == list(machine.predict(new))


COMPARERS = {
    "compare": lambda **k: rankwise.CompareSVM(**k),
    "hinge": lambda **k: rankwise.CompareSVM(loss="hinge", threshold="model", **k),
    "logistic": lambda **k: rankwise.CompareSVM(loss="logistic", **k),
    "calibrated": lambda **k: rankwise.CompareSVM(calibrate=True, **k),
    "band": lambda **k: rankwise.CompareSVM(tie_band="pair", **k),
    "calibrated band": lambda **k: rankwise.CompareSVM(tie_band="pair", calibrate=True, **k),
    "logistic band": lambda **k: rankwise.CompareSVM(loss="logistic", tie_band="pair", **k),
    "davidson": lambda **k: rankwise.Davidson(**k),
    "davidson band": lambda **k: rankwise.Davidson(tie_band="pair", **k),
    "rank": lambda **k: rankwise.CompareRank(variant="rank", **k),
    "rank2": lambda **k: rankwise.CompareRank(variant="rank2", **k),
    "compare-lp": lambda **k: rankwise.CompareLP(C=1.0, **k),
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel != "sigmoid"])
@pytest.mark.parametrize("method", COMPARERS)
@pytest.mark.filterwarnings("ignore")
def test_a_comparer_has_margins_outcomes_and_probabilities(method, kernel, scale):
    pairs, y = judged()
    comparer = COMPARERS[method](scale=scale, **KERNELS[kernel]).fit(pairs, y)
    new = new_pairs()
    left, right = np.ascontiguousarray(new[:, 0]), np.ascontiguousarray(new[:, 1])
    found = run(comparer.to_onnx(), left=left, right=right)
    near(found["margin"], comparer.margins(new), 1e-12)
    assert found["outcome"].dtype == np.int64
    assert np.array_equal(found["outcome"], comparer.predict(new))
    same = slice(0, len(new) // 10)
    assert not found["margin"][same].any()
    if "band" in method:
        thresholds = comparer.thresholds(new)
        assert np.abs(found["threshold"] - thresholds).max() <= 1e-12 * max(1.0, thresholds.max())
    assert ("probabilities" in found) == hasattr(comparer, "predict_proba")
    if "probabilities" in found:
        assert np.abs(found["probabilities"] - comparer.predict_proba(new)).max() < 1e-12

    single = new.astype(np.float32)
    found = run(comparer.to_onnx(float32=True), left=single[:, 0].copy(), right=single[:, 1].copy())
    near(found["margin"].astype(float), comparer.margins(single), 1e-5)
    assert (found["outcome"] == comparer.predict(single)).mean() > 0.998
    assert not found["outcome"][same].any() or "band" in method

    scores = run(comparer.to_onnx(scores=True), features=left)["score"]
    near(scores, comparer.score_items(left), 1e-12)
    copies_tie(scores, left)


@pytest.mark.parametrize("names", [None, ["judge", "length of the answer"]])
def test_a_tie_band_sees_what_describes_the_comparison(names):
    pandas = pytest.importorskip("pandas")
    pairs, y = judged()
    rng = np.random.default_rng(3)
    context, new = rng.normal(size=(len(y), 2)) + 4, rng.normal(size=(1000, 2)) + 4
    given = context if names is None else pandas.DataFrame(context, columns=names)
    comparer = rankwise.CompareSVM(tie_band="pair", scale="standard").fit(pairs, y, context=given)
    told = new if names is None else pandas.DataFrame(new, columns=names)
    sides = new_pairs()
    data = comparer.to_onnx()
    found = run(data, left=sides[:, 0].copy(), right=sides[:, 1].copy(), pair=new)
    assert np.array_equal(found["outcome"], comparer.predict(sides, told))
    near(found["threshold"], comparer.thresholds(sides, told), 1e-12)
    metadata = {entry.key: entry.value for entry in onnx.load_from_string(data).metadata_props}
    assert json.loads(metadata["pair_names"]) == (names or ["context0", "context1"])


def test_a_margin_that_is_the_threshold_is_a_tie_and_the_next_one_is_not():
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(200, 2, 1))
    margin = pairs[:, 1, 0] - pairs[:, 0, 0]
    comparer = rankwise.CompareSVM().fit(pairs, np.where(np.abs(margin) < 0.7, 0, np.sign(margin)).astype(int))
    # With one feature and the other side 0 a margin is one product: numbers whose product is the threshold itself.
    weight, threshold = comparer.coef_[0], comparer.threshold_
    near_it = threshold / weight * (1 + np.arange(-400, 401) * 2.0**-53)
    right = np.unique(np.concatenate([near_it, -near_it]))[:, None]
    new = np.stack([np.zeros_like(right), right], axis=1)
    margins = comparer.margins(new)
    assert (np.abs(margins) == threshold).any() and (np.abs(margins) > threshold).any()
    found = run(comparer.to_onnx(), left=new[:, 0].copy(), right=right)
    assert np.array_equal(found["margin"], margins)
    assert np.array_equal(found["outcome"], comparer.predict(new))
    assert not found["outcome"][np.abs(margins) == threshold].any()


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_data_far_from_zero_keep_their_digits(offset):
    X, y = graded()
    for machine in (rankwise.RankSVM(kernel="rbf", gamma=0.2), rankwise.RankSVM(scale="standard")):
        machine.fit(X + offset, y)
        new = items() + offset
        near(run(machine.to_onnx(), features=new)["score"], machine.predict(new), 1e-12)


def test_sparse_items_and_leaderboards_are_exported_too():
    scipy = pytest.importorskip("scipy.sparse")
    X, y = graded()
    X = np.where(np.abs(X) > 1.5, X, 0.0)
    for options in KERNELS.values():
        if options.get("kernel") == "sigmoid":
            continue
        machine = rankwise.RankSVM(scale="standard", **options).fit(scipy.csr_matrix(X), y)
        near(run(machine.to_onnx(), features=X)["score"], machine.predict(scipy.csr_matrix(X)), 1e-12)
    names = np.array([["ann", "bob"], ["bob", "eve"], ["ann", "eve"], ["eve", "ann"]] * 5)
    board = rankwise.Davidson().fit(names, [-1, -1, -1, 0] * 5)
    found = run(board.to_onnx(), left=np.eye(3)[[0, 1]], right=np.eye(3)[[1, 2]])
    expected = board.margins(np.array([["ann", "bob"], ["bob", "eve"]]))
    near(found["margin"], expected, 1e-12)
    with pytest.raises(ValueError, match="names alone"):
        board.to_sql()


def test_an_onnx_file_says_what_it_is():
    pandas = pytest.importorskip("pandas")
    X, y = graded()
    names = ["price", "distance", "größe", 'a "b"', "e,f"]
    ranker = rankwise.RankSVM().fit(pandas.DataFrame(X, columns=names), y)
    model = onnx.load_from_string(ranker.to_onnx())
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(metadata["feature_names"]) == names
    assert (metadata["method"], metadata["rankwise_version"]) == ("rank", rankwise.__version__)
    assert all(name in model.doc_string for name in names)
    pairs, outcomes = judged()
    comparer = rankwise.CompareSVM().fit(pairs, outcomes)
    metadata = {entry.key: entry.value for entry in onnx.load_from_string(comparer.to_onnx()).metadata_props}
    assert float(metadata["threshold"]) == comparer.threshold_


def test_files_are_told_by_their_ending_and_options_that_do_not_apply_are_refused(tmp_path):
    X, y = graded()
    ranker = rankwise.RankSVM().fit(X, y)
    ranker.export(tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == ranker.to_onnx(tmp_path / "n.onnx")
    assert (tmp_path / "n.onnx").exists()
    ranker.export(tmp_path / "m.sql")
    assert (tmp_path / "m.sql").read_text().rstrip("\n") == ranker.to_sql()
    with pytest.raises(ParameterError, match="to = None"):
        ranker.export(tmp_path / "m.bin")
    with pytest.raises(ParameterError, match="to = pmml.*onnx.*libsvm"):
        ranker.export(tmp_path / "m.bin", to="pmml")
    with pytest.raises(ValueError, match="store does not apply to onnx"):
        ranker.export(tmp_path / "m.bin", to="onnx", store="s")
    with pytest.raises(ParameterError, match="dialect"):
        ranker.to_sql(dialect="oracle")
    assert not (tmp_path / "m.bin").exists()
    curved = rankwise.RankSVM(kernel="rbf").fit(X, y)
    assert not hasattr(curved, "to_sql") and hasattr(ranker, "to_sql")
    with pytest.raises(ValueError, match="kernel"):
        curved.export(tmp_path / "m.json", to="solr")
    with pytest.raises(ValueError, match="not fitted"):
        rankwise.RankSVM().to_onnx()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("to", ["solr", "elasticsearch", "opensearch", "json"])
def test_a_search_engine_orders_as_the_model_does(tmp_path, to, scale):
    pandas = pytest.importorskip("pandas")
    X, y = graded()
    names = [f"feature {k}" for k in range(5)]
    ranker = rankwise.RankSVM(scale=scale).fit(pandas.DataFrame(X, columns=names), y)
    options = {} if to == "json" else {"name": "hotels"}
    ranker.export(tmp_path / "model", to=to, **options)
    told = json.loads((tmp_path / "model").read_text())
    if to == "solr":
        assert told["class"] == "org.apache.solr.ltr.model.LinearModel" and told["name"] == "hotels"
        weights = told["params"]["weights"]
        assert [feature["name"] for feature in told["features"]] == names
    elif to == "json":
        weights = dict(zip(told["features"], told["machines"][0]["weights"]))
    else:
        assert told["model"]["name"] == "hotels" and told["model"]["model"]["type"] == "model/linear"
        weights = told["model"]["model"]["definition"]
    new = pandas.DataFrame(items(), columns=names)
    scores = sum(new[name].to_numpy() * weight for name, weight in weights.items())
    expected = ranker.predict(new)
    near(scores - scores[0], expected - expected[0], 1e-12)
    if to == "json":
        near(scores + told["machines"][0]["bias"], expected, 1e-12)


def sqlite(expression: str, columns: list[str], X: np.ndarray) -> list:
    table = sqlite3.connect(":memory:")
    quoted = [f'"{name}"'.replace('"', '""')[1:-1] for name in columns]
    table.execute(f"create table items ({', '.join(quoted)})")
    table.executemany(f"insert into items values ({', '.join('?' * len(columns))})", X.tolist())
    return [row[0] for row in table.execute(f"select {expression} from items order by rowid")]


def test_a_database_takes_many_features():
    random = np.random.default_rng(3)
    X = random.normal(size=(60, 1500))
    ranker = rankwise.RankSVM(C=0.01).fit(X, np.arange(60) % 3)
    names = [f"f{k}" for k in range(1, 1501)]
    near(np.array(sqlite(ranker.to_sql(), names, X)), ranker.predict(X), 1e-12)


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf"}])
def test_numbers_that_single_precision_does_not_reach_are_refused(params):
    X, y = graded()
    for factor in (1e-150, 1e150):
        machine = rankwise.SVR(scale="standard", **params).fit(X * [factor, 1, 1, 1, 1], y)
        with pytest.raises(ValueError, match="f32 does not reach"):
            machine.to_onnx(float32=True)
        machine.to_onnx()


@pytest.mark.parametrize("scale", SCALES)
def test_a_database_scores_classifies_and_compares_as_the_model_does(scale):
    pandas = pytest.importorskip("pandas")
    X, y = graded()
    names = ["price", "is it; drop table items --", "f 3", "größe", "order"]
    frame, new = pandas.DataFrame(X, columns=names), pandas.DataFrame(items(), columns=names)
    ranker = rankwise.RankSVM(scale=scale).fit(frame, y)
    near(np.array(sqlite(ranker.to_sql(), names, new.to_numpy())), ranker.predict(new), 1e-12)
    ordinal = rankwise.OrdinalSVM(scale=scale).fit(frame, y)
    assert sqlite(ordinal.to_sql(), names, new.to_numpy()) == list(ordinal.predict(new))
    for probabilities in (False, True):
        words = np.where(y > 1, "it's", "no")
        machine = rankwise.SVC(scale=scale, probabilities=probabilities).fit(frame, words)
        assert sqlite(machine.to_sql(), names, new.to_numpy()) == list(machine.predict(new))
    with pytest.raises(ValueError, match="one score"):
        rankwise.SVC().fit(frame, y).to_sql()
    pairs, outcomes = judged()
    numbers = np.arange(len(pairs) * 2).reshape(-1, 2)
    both = pandas.DataFrame(pairs.reshape(-1, 5), columns=names)
    sides = new_pairs()
    machines = [
        rankwise.CompareSVM(scale=scale, preprocessor=both),
        rankwise.CompareSVM(scale=scale, tie_band="pair", preprocessor=both),
        rankwise.Davidson(scale=scale, tie_band="pair", preprocessor=both),
    ]
    for machine in machines:
        machine.fit(numbers, outcomes)
        table = sqlite3.connect(":memory:")
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        for side in range(2):
            table.execute(f"create table side{side} ({columns})")
            table.executemany(f"insert into side{side} values (?, ?, ?, ?, ?)", sides[:, side].tolist())
            table.execute(f"insert into side{side} values (1, 2, NULL, 4, 5)")
        query = (
            f'select {machine.to_sql()} from side0 as "left" join side1 as "right" on "left".rowid = "right".rowid '
            'order by "left".rowid'
        )
        found = [row[0] for row in table.execute(query)]
        machine.preprocessor = sides.reshape(-1, 5)
        with pytest.warns(UserWarning, match="feature names"):
            expected = machine.predict(np.arange(len(sides) * 2).reshape(-1, 2))
        assert found == [*expected, None]


def libsvm_lines(X: np.ndarray, y: np.ndarray) -> str:
    rows = (
        "{} {}".format(label, " ".join(f"{k + 1}:{v!r}" for k, v in enumerate(row.tolist())))
        for label, row in zip(y, X)
    )
    return "\n".join(rows) + "\n"


def predicted(program: str, folder, model_text: str, X: np.ndarray, *options: str) -> list[str]:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not on the path (apt-get install liblinear-tools libsvm-tools)")
    (folder / "model").write_text(model_text)
    (folder / "data").write_text(libsvm_lines(X, np.zeros(len(X), int)))
    subprocess.run([path, *options, "data", "model", "out"], cwd=folder, check=True, capture_output=True)
    return (folder / "out").read_text().splitlines()


@pytest.mark.parametrize("kernel", KERNELS)
def test_svm_predict_gives_the_values_of_the_model(tmp_path, kernel):
    X, y = graded()
    new = items()
    # svm-predict prints six digits.
    machine = rankwise.SVR(scale="standard" if kernel == "linear" else "none", **KERNELS[kernel]).fit(X, y)
    machine.export(tmp_path / "m", to="libsvm")
    found = predicted("svm-predict", tmp_path, (tmp_path / "m").read_text(), new)
    near(np.array(found, float), machine.predict(new), 2e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_svm_predict_gives_the_classes_of_the_model(tmp_path, kernel, n_classes):
    X, y = graded(n_grades=n_classes)
    # Copies of items in several classes, which a model holds once.
    X, y = np.concatenate([X, X[:20], X[:20]]), np.concatenate([y, (y[:20] + 1) % n_classes, y[:20]])
    new = items()
    machine = rankwise.SVC(scale="standard" if kernel == "linear" else "none", **KERNELS[kernel]).fit(X, y - 1)
    machine.export(tmp_path / "m", to="libsvm")
    found = np.array(predicted("svm-predict", tmp_path, (tmp_path / "m").read_text(), new), int)
    scores = machine.decision_function(new)
    if n_classes > 2:
        # Among classes of as many votes LIBSVM takes the first, the model the larger sum of scores.
        votes = np.round(scores)
        is_clear = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
        assert is_clear.mean() > 0.9
        assert np.array_equal(found[is_clear], machine.predict(new)[is_clear])
        first = np.argmax(votes, axis=1)
        assert np.array_equal(found, machine.classes_[first])
    else:
        assert np.array_equal(found, machine.predict(new))


def test_svm_predict_gives_the_probabilities_of_two_classes(tmp_path):
    X, y = graded(n_grades=2)
    machine = rankwise.SVC(kernel="rbf", gamma=0.2, probabilities=True).fit(X, y)
    machine.export(tmp_path / "m", to="libsvm")
    found = predicted("svm-predict", tmp_path, (tmp_path / "m").read_text(), items(), "-b", "1")
    assert found[0] == "labels 0 1"
    chances = np.array([line.split()[1:] for line in found[1:]], float)
    assert np.abs(chances - machine.predict_proba(items())).max() < 2e-5


@pytest.mark.parametrize("scale", SCALES)
def test_liblinear_predict_says_what_the_model_says(tmp_path, scale):
    X, y = graded()
    new = items()
    program = "liblinear-predict"

    def tell(machine, *options):
        machine.export(tmp_path / "m", to="liblinear")
        return predicted(program, tmp_path, (tmp_path / "m").read_text(), new, *options)

    for machine in (rankwise.RankSVM(scale=scale), rankwise.SVR(scale=scale), rankwise.Ridge(scale=scale)):
        machine.fit(X, y)
        near(np.array(tell(machine), float), machine.predict(new), 2e-5)
    for classes in ("ovr", "crammer-singer", "weston-watkins"):
        machine = rankwise.SVC(classes=classes, scale=scale).fit(X, y + 3)
        assert np.array_equal(np.array(tell(machine), int), machine.predict(new))
    two = (y > 1) * 5 - 2
    machine = rankwise.SVC(scale=scale).fit(X, two)
    assert np.array_equal(np.array(tell(machine), int), machine.predict(new))
    for labels, options in ((two, {}), (y, {"classes": "ovr"})):
        machine = rankwise.SVC(scale=scale, probabilities=True, **options).fit(X, labels)
        found = tell(machine, "-b", "1")
        head = [int(word) for word in found[0].split()[1:]]
        rows = np.array([line.split() for line in found[1:]], float)
        order = [head.index(label) for label in machine.classes_]
        assert np.abs(rows[:, 1:][:, order] - machine.predict_proba(new)).max() < 2e-5
        assert np.array_equal(rows[:, 0].astype(int), machine.predict(new))


@pytest.mark.parametrize(
    ("machine", "to", "words"),
    [
        (rankwise.SVC(), "liblinear", "classes='ovr'"),
        (rankwise.SVC(classes="ovr"), "libsvm", "classes"),
        (rankwise.SVC(kernel="rbf", scale="standard"), "libsvm", "scal"),
        (rankwise.RankSVM(kernel="rbf"), "liblinear", "kernel"),
        (rankwise.SVC(), "solr", "classes"),
        (rankwise.SVC(probabilities=True), "libsvm", "probabilities"),
        (rankwise.RankSVM(kernel="rbf"), "json", "kernel"),
    ],
)
def test_what_another_program_cannot_hold_is_refused_with_what_to_do(tmp_path, machine, to, words):
    X, y = graded()
    machine.fit(X, y)
    with pytest.raises(ValueError, match=re.compile(words)):
        machine.export(tmp_path / "m", to=to)
    assert not list(tmp_path.iterdir())
    if to in ("liblinear", "libsvm"):
        with pytest.raises(ValueError, match="whole numbers"):
            rankwise.SVC(classes="ovr").fit(X, np.array(["a", "b", "c", "d"])[y]).export(tmp_path / "m", to=to)
