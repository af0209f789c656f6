"""Fits on a Dask cluster: the answers of one machine, wherever data are cut and whatever is lost."""

from __future__ import annotations

import os
import signal
import time
import warnings

import numpy as np
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402

import rankwise  # noqa: E402
from rankwise import datasets  # noqa: E402
from rankwise.dask import CompareSVM, Davidson, RankSVM, evaluate  # noqa: E402
from rankwise.dask._cluster import Cluster  # noqa: E402
from rankwise.dask._parts import Part  # noqa: E402
from rankwise.exceptions import RankwiseWarning  # noqa: E402


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit="2GB"
    ) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def items(n_groups=200, n_features=6, seed=1, kind=np.float64):
    random = np.random.default_rng(seed)
    sizes = random.integers(2, 25, n_groups)
    qid = np.repeat(np.arange(n_groups), sizes)
    X = random.normal(size=(len(qid), n_features)).astype(kind)
    y = np.clip(np.round(X @ random.normal(size=n_features) + random.normal(size=len(qid))), -2, 2)
    return X, y, qid


def cuts(qid, k, whole=True):
    """Sizes of k partitions, which end where groups do, or anywhere."""
    ends = [at * len(qid) // k for at in range(1, k)]
    if whole:
        ends = [int(np.searchsorted(qid, qid[end])) for end in ends]
    return tuple(np.diff([0, *ends, len(qid)]).tolist())


def close(a, b, tolerance=1e-6):
    return np.linalg.norm(a - b) <= tolerance * np.linalg.norm(b)


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("whole", [True, False])
def test_a_ranking_in_partitions_is_that_of_one_machine(client, k, whole):
    X, y, qid = items()
    sizes = cuts(qid, k, whole)
    arrays = [da.from_array(values, chunks=(sizes, *values.shape[1:])) for values in (X, y, qid)]
    for params in ({}, {"C": 10.0, "scale": "standard"}, {"loss": "hinge"}, {"balance": "groups"}):
        alone = rankwise.RankSVM(**params).fit(X, y, qid=qid)
        spread = RankSVM(client=client, **params).fit(arrays[0], arrays[1], qid=arrays[2])
        assert close(spread.coef_, alone.coef_), params
        assert abs(spread.objective_ / alone.objective_ - 1) < 1e-9
        assert spread.report_["pairs"] == alone.report_["pairs"]
        assert spread.report_["groups"] == alone.report_["groups"]
    assert RankSVM(client=client).fit(arrays[0], arrays[1], qid=arrays[2]).rounds_ <= 50


def test_rows_of_split_groups_move_or_are_refused(client, monkeypatch):
    from rankwise.dask import _groups

    X, y, _ = items(n_groups=40)
    # Groups whose rows are everywhere.
    qid = np.array([f"group {k % 40}" for k in range(len(y))], dtype=object)
    weights = np.linspace(0.5, 2, len(y))
    sizes = cuts(np.arange(len(y)), 4)
    arrays = [da.from_array(values, chunks=(sizes, *values.shape[1:])) for values in (X, y, qid, weights)]
    with pytest.raises(ValueError, match="40 groups are split between partitions.*split_groups='move'"):
        RankSVM(split_groups="refuse").fit(arrays[0], arrays[1], qid=arrays[2])
    alone = rankwise.RankSVM(tol=1e-12).fit(X, y, qid=qid)
    # All of it is little: one partition may have it.
    assert close(RankSVM(tol=1e-12).fit(arrays[0], arrays[1], qid=arrays[2]).coef_, alone.coef_, 1e-7)
    monkeypatch.setattr(_groups, "_SMALL", 0)
    with pytest.raises(ValueError, match="one partition would have .* sort the data by qid, or shuffle them"):
        RankSVM().fit(arrays[0], arrays[1], qid=arrays[2])
    with pytest.raises(ValueError, match="without qid all items are one group"):
        RankSVM().fit(arrays[0], arrays[1])
    # Some of them are.
    sorted_rows = np.argsort(qid, kind="stable")
    sizes = cuts(np.arange(len(y)), 5)
    arrays = [da.from_array(values[sorted_rows], chunks=(sizes, *values.shape[1:])) for values in (X, y, qid, weights)]
    with pytest.raises(ValueError, match="split"):
        RankSVM(split_groups="refuse").fit(*arrays[:2], qid=arrays[2])
    spread = RankSVM().fit(*arrays[:2], qid=arrays[2], sample_weight=arrays[3])
    X, y, qid, weights = (values[sorted_rows] for values in (X, y, qid, weights))
    alone = rankwise.RankSVM().fit(X, y, qid=qid, sample_weight=weights)
    assert close(spread.coef_, alone.coef_)


def test_frames_and_delayed_partitions_are_taken(client):
    X, y, qid = items(n_groups=60)
    names = [f"x{k}" for k in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names).assign(label=y, query=qid)
    alone = rankwise.RankSVM().fit(frame[names], y, qid=qid)
    spread = RankSVM().fit(dd.from_pandas(frame, npartitions=3), "label", qid="query")
    assert close(spread.coef_, alone.coef_)
    assert list(spread.feature_names_in_) == names
    cut = dd.from_pandas(frame, npartitions=3)
    by_columns = RankSVM().fit(cut[names], cut["label"], qid=cut["query"])
    assert (by_columns.coef_ == spread.coef_).all()
    scores = cut[names].map_partitions(len)  # the frame is still what it was
    assert int(scores.compute().sum()) == len(frame)
    predicted = spread.predict(cut[names])
    assert (predicted.compute().to_numpy() == alone.__class__.predict(spread, frame[names])).all()

    halves = [slice(0, 400), slice(400, None)]
    delayed = [[dask.delayed(lambda rows: rows)(values[half]) for half in halves] for values in (X, y, qid)]
    from_delayed = RankSVM().fit(delayed[0], delayed[1], qid=delayed[2])
    assert close(from_delayed.coef_, alone.coef_)
    parts = dask.compute(*from_delayed.predict(delayed[0]))
    assert np.allclose(np.concatenate(parts), X @ alone.coef_, rtol=1e-6)


def test_sparse_and_single_precision_partitions(client):
    import scipy.sparse

    X, y, qid = items(n_groups=50, kind=np.float32)
    X[X < 0.3] = 0
    sizes = cuts(qid, 3)
    ends = np.cumsum([0, *sizes])
    rows = [slice(a, b) for a, b in zip(ends, ends[1:])]
    sparse = [dask.delayed(scipy.sparse.csr_matrix)(X[part]) for part in rows]
    labels, groups = ([dask.delayed(np.asarray)(values[part]) for part in rows] for values in (y, qid))
    alone = rankwise.RankSVM().fit(scipy.sparse.csr_matrix(X), y, qid=qid)
    assert close(RankSVM().fit(sparse, labels, qid=groups).coef_, alone.coef_)
    dense = da.from_array(X, chunks=(sizes, X.shape[1]))
    spread = RankSVM().fit(dense, da.from_array(y, chunks=(sizes,)), qid=da.from_array(qid, chunks=(sizes,)))
    assert close(spread.coef_, rankwise.RankSVM().fit(X, y, qid=qid).coef_)


@pytest.mark.parametrize("k", [1, 2, 7])
def test_pairs_in_partitions_are_those_of_one_machine(client, k):
    pairs, y = datasets.simulate_pairs(n_pairs=2000, seed=3)
    chunks = tuple(np.diff([at * 2000 // k for at in range(k + 1)]).tolist())
    spread_pairs, spread_y = da.from_array(pairs, chunks=(chunks, 2, 2)), da.from_array(y, chunks=(chunks,))
    for spread_kind, kind, params in [
        (CompareSVM, rankwise.CompareSVM, {}),
        (CompareSVM, rankwise.CompareSVM, {"loss": "logistic", "C": 10.0}),
        (CompareSVM, rankwise.CompareSVM, {"threshold": "model", "scale": "standard"}),
        (Davidson, rankwise.Davidson, {}),
    ]:
        alone = kind(**params).fit(pairs, y)
        spread = spread_kind(**params).fit(spread_pairs, spread_y)
        assert close(spread.coef_, alone.coef_), params
        assert abs(spread.threshold_ - alone.threshold_) < 1e-7
        assert abs(spread.beta_ - alone.beta_) < 1e-7 * (1 + abs(alone.beta_))
        assert (spread.predict(spread_pairs).compute() == alone.predict(pairs)).all()
        assert np.allclose(spread.margins(spread_pairs).compute(), alone.margins(pairs), atol=1e-6)
        assert spread.score(spread_pairs, spread_y) == alone.score(pairs, y)
        if params.get("loss") == "logistic":
            likely = spread.predict_proba(spread_pairs).compute()
            assert np.allclose(likely, alone.predict_proba(pairs), atol=1e-6)
    chances = spread.predict_proba(spread_pairs)
    assert chances.shape == (2000, 3)
    assert np.allclose(chances.compute(), alone.predict_proba(pairs), atol=1e-6)
    assert not hasattr(CompareSVM(), "predict_proba")


def test_pairs_as_numbers_names_and_tables(client):
    random = np.random.default_rng(5)
    X = random.normal(size=(30, 3))
    numbers = random.integers(0, 30, (600, 2))
    margins = (X[numbers[:, 1]] - X[numbers[:, 0]]) @ [1.0, 2.0, -1.0] + random.normal(size=600)
    y = np.where(np.abs(margins) < 0.8, 0, np.sign(margins)).astype(int)
    chunks = (200, 150, 250)
    outcomes = da.from_array(y, chunks=(chunks,))
    alone = rankwise.CompareSVM(preprocessor=X).fit(numbers, y)
    spread = CompareSVM(preprocessor=X).fit(da.from_array(numbers, chunks=(chunks, 2)), outcomes)
    assert close(spread.coef_, alone.coef_)
    assert abs(spread.threshold_ - alone.threshold_) < 1e-7

    names = np.array([f"player {k}" for k in range(30)], dtype=object)[numbers]
    alone = rankwise.Davidson(C=2.0).fit(names, y)
    frame = pd.DataFrame(names, columns=["left", "right"]).assign(outcome=y)
    spread = Davidson(C=2.0).fit(dd.from_pandas(frame, npartitions=4), "outcome")
    players = [f"player {k}" for k in range(30)]
    assert np.allclose(spread.score_items(players), alone.score_items(players), atol=1e-6)
    assert list(spread.feature_names_in_) == sorted(players)

    table = pd.DataFrame(
        {
            f"{side}.{name}": X[numbers[:, at], k]
            for at, side in enumerate(("left", "right"))
            for k, name in enumerate("abc")
        }
    )
    cut = dd.from_pandas(table.assign(outcome=y), npartitions=3)
    spread = CompareSVM().fit(cut, "outcome")
    alone = rankwise.CompareSVM().fit(X[numbers], y)
    assert close(spread.coef_, alone.coef_)
    assert list(spread.feature_names_in_) == ["a", "b", "c"]
    predicted = spread.predict(cut[list(table.columns)]).compute().to_numpy()
    assert (predicted == alone.predict(X[numbers])).all()


def test_partitions_without_rows_or_weights_do_no_harm(client):
    X, y, qid = items(n_groups=60)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(label=y, query=qid, weight=1.0)
    cut = dd.from_pandas(frame, npartitions=4)
    third = frame["query"] < 15
    alone = rankwise.RankSVM().fit(frame.loc[third, list("abcdef")], y[third], qid=qid[third])
    filtered = RankSVM().fit(cut[cut["query"] < 15], "label", qid="query", sample_weight="weight")
    assert close(filtered.coef_, alone.coef_)
    cut["weight"] = (cut["query"] < 15).astype(float)
    weighted = RankSVM().fit(cut, "label", qid="query", sample_weight="weight")
    assert close(weighted.coef_, alone.coef_)
    with pytest.raises(ValueError, match="X has no rows"):
        RankSVM().fit(cut[cut["query"] < 0], "label", qid="query")
    predicted = filtered.predict(cut[cut["query"] < 15][list("abcdef")])
    assert len(predicted.compute()) == third.sum()

    pairs, outcomes = datasets.simulate_pairs(n_pairs=300, seed=3)
    weights = np.r_[np.ones(100), np.zeros(200)]
    alone = rankwise.CompareSVM().fit(pairs[:100], outcomes[:100])
    arrays = [da.from_array(v, chunks=(100, *v.shape[1:])) for v in (pairs, outcomes, weights)]
    assert close(CompareSVM().fit(*arrays).coef_, alone.coef_)
    with pytest.raises(ValueError, match="weight"):
        CompareSVM().fit(arrays[0], arrays[1], da.zeros(300, chunks=100))


def test_metrics_are_exact_wherever_partitions_are_cut(client):
    X, y, qid = items(n_groups=80)
    y += 2
    sizes = cuts(qid, 5, whole=False)
    arrays = [da.from_array(values, chunks=(sizes, *values.shape[1:])) for values in (X, y, qid)]
    spread = RankSVM().fit(*arrays[:2], qid=arrays[2])
    found = evaluate(spread, *arrays[:2], qid=arrays[2], metric=["ndcg@10", "pair_accuracy", "err@10"])
    scores = np.asarray(spread.predict(X))
    for name, value in found.items():
        assert value == pytest.approx(rankwise.metrics.item_metric(name, y, scores, qid), rel=1e-12)
    assert spread.score(*arrays[:2], qid=arrays[2]) == pytest.approx(found["pair_accuracy"], rel=1e-12)
    alone = rankwise.RankSVM().fit(X, y, qid=qid)
    assert evaluate(alone, *arrays[:2], qid=arrays[2])["ndcg@10"] == pytest.approx(found["ndcg@10"], rel=1e-9)


def test_what_is_wrong_is_said(client):
    X, y, qid = items(n_groups=30)
    sizes = cuts(qid, 3)
    arrays = [da.from_array(values, chunks=(sizes, *values.shape[1:])) for values in (X, y, qid)]
    with pytest.raises(TypeError, match="X is ndarray: a Dask array"):
        RankSVM().fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="cut differently"):
        RankSVM().fit([dask.delayed(X)], [dask.delayed(y), dask.delayed(y)], qid=[dask.delayed(qid)])
    with pytest.raises(ValueError, match="C = 0 is not possible|C = 0.0 is not possible"):
        RankSVM(C=0.0).fit(*arrays[:2], qid=arrays[2])
    with pytest.raises(rankwise.exceptions.UnsupportedError, match="hard margin"):
        RankSVM(C=np.inf).fit(*arrays[:2], qid=arrays[2])
    with pytest.raises(ValueError, match="partition 1: X = NaN or infinity in row 7, column 2"):
        broken = X.copy()
        broken[sizes[0] + 7, 2] = np.nan
        RankSVM().fit(da.from_array(broken, chunks=(sizes, X.shape[1])), arrays[1], qid=arrays[2])
    with pytest.raises(ValueError, match="partition 1: y has 3 rows"):
        RankSVM().fit(
            [dask.delayed(X), dask.delayed(X)], [dask.delayed(y), dask.delayed(y[:3])], qid=[dask.delayed(qid)] * 2
        )
    with pytest.raises(ValueError, match="no group has two different labels"):
        RankSVM().fit(arrays[0], da.zeros_like(arrays[1]), qid=arrays[2])


def test_columns_are_matched_by_name_in_every_partition(client):
    X, y, qid = items(n_groups=40)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    end = int(np.searchsorted(qid, 20))
    halves = [slice(0, end), slice(end, None)]
    labels, groups = ([dask.delayed(np.asarray)(values[half]) for half in halves] for values in (y, qid))
    orders = [list("abcdef"), list("fedcba")]
    parts = [dask.delayed(pd.DataFrame)(frame[half][order]) for half, order in zip(halves, orders)]
    spread = RankSVM().fit(parts, labels, qid=groups)
    assert close(spread.coef_, rankwise.RankSVM().fit(X, y, qid=qid).coef_)
    assert list(spread.feature_names_in_) == list("abcdef")
    renamed = [parts[0], dask.delayed(pd.DataFrame)(frame[halves[1]].rename(columns={"a": "z"}))]
    with pytest.raises(ValueError, match="partition 1 has other features than partition 0: a, z"):
        RankSVM().fit(renamed, labels, qid=groups)
    with pytest.raises(ValueError, match="partition 1 has 5 features, partition 0 has 6"):
        RankSVM().fit([parts[0], dask.delayed(np.asarray)(X[halves[1], :5])], labels, qid=groups)
    with pytest.raises(ValueError, match="partition 1: X has the column 'b' of type (object|str)"):
        words = frame[halves[1]].astype({"b": object}).assign(b="x")
        RankSVM().fit([parts[0], dask.delayed(pd.DataFrame)(words)], labels, qid=groups)
    table = pd.DataFrame(
        {
            f"{side}.{name}": X[k::2][:200, at]
            for k, side in enumerate(("left", "right"))
            for at, name in enumerate("abc")
        }
    )
    outcomes = np.sign(np.round(table["right.a"] - table["left.a"])).astype(int).to_numpy()
    sides = [
        dask.delayed(pd.DataFrame)(table[:100]),
        dask.delayed(pd.DataFrame)(table[100:][list(table.columns)[::-1]]),
    ]
    judged = [dask.delayed(np.asarray)(outcomes[:100]), dask.delayed(np.asarray)(outcomes[100:])]
    spread = CompareSVM().fit(sides, judged)
    alone = rankwise.CompareSVM().fit(table.to_numpy().reshape(-1, 2, 3), outcomes)
    assert close(spread.coef_, alone.coef_)


def test_groups_are_the_same_whatever_their_type(client):
    X, y, qid = items(n_groups=30)
    cut = [slice(0, 200), slice(200, None)]  # within a group
    alone = rankwise.RankSVM().fit(X, y, qid=qid)

    def parts(values):
        return [dask.delayed(np.asarray)(values[part]) for part in cut]

    objects = [dask.delayed(np.asarray)(qid[cut[0]]), dask.delayed(np.asarray)(qid[cut[1]].astype(object))]
    floats = [dask.delayed(np.asarray)(qid[cut[0]]), dask.delayed(np.asarray)(qid[cut[1]].astype(float))]
    for mixed in (objects, floats):
        assert close(RankSVM().fit(parts(X), parts(y), qid=mixed).coef_, alone.coef_)
    for first, second in (("str", "int"), ("int", "str")):
        mixed = [
            dask.delayed(np.asarray)(qid[cut[0]].astype(first)),
            dask.delayed(np.asarray)(qid[cut[1]].astype(second)),
        ]
        with pytest.raises(ValueError, match="qid is of different kinds"):
            RankSVM().fit(parts(X), parts(y), qid=mixed)
    import scipy.sparse

    mixed = [dask.delayed(np.asarray)(X[cut[0]]), dask.delayed(scipy.sparse.coo_matrix)(X[cut[1]])]
    assert close(RankSVM().fit(mixed, parts(y), qid=parts(qid)).coef_, alone.coef_)


def test_a_client_is_never_copied(client):
    import copy
    import pickle

    from sklearn.base import clone

    X, y, qid = items(n_groups=30)
    arrays = [da.from_array(values, chunks=(300, *values.shape[1:])) for values in (X, y, qid)]
    machine = RankSVM(C=0.5, client=client).fit(*arrays[:2], qid=arrays[2])
    for twin in (clone(machine), copy.deepcopy(machine)):
        assert twin.client is client and twin.C == 0.5
    alone = pickle.loads(pickle.dumps(machine))
    assert alone.client is None and (alone.predict(X) == machine.predict(X)).all()


def test_a_failed_fit_leaves_nothing_on_the_cluster(client):
    X, y, qid = items(n_groups=30)
    X[100, 0] = np.inf
    arrays = [da.from_array(values, chunks=(100, *values.shape[1:])) for values in (X, y, qid)]
    for _ in range(3):
        with pytest.raises(ValueError):
            RankSVM(client=client).fit(*arrays[:2], qid=arrays[2])
    for _ in range(100):  # workers hear of it a little later
        keys = [str(key) for keys in client.has_what().values() for key in keys]
        if not any(key.startswith("rankwise-") for key in keys):
            return
        time.sleep(0.1)
    pytest.fail(f"still there: {keys}")


def test_partitions_without_rows_have_predictions_of_the_right_shape(client):
    pairs, outcomes = datasets.simulate_pairs(n_pairs=300, seed=4)
    arrays = [da.from_array(values, chunks=(100, *values.shape[1:])) for values in (pairs, outcomes)]
    machine = Davidson().fit(*arrays)
    some = arrays[0][da.from_array(np.arange(300) < 150, chunks=100)]
    assert machine.predict_proba(some).compute().shape == (150, 3)
    assert machine.predict(some).compute().dtype == np.int8


def test_warm_starts_and_files_work_as_usual(client, tmp_path):
    X, y, qid = items(n_groups=100)
    sizes = cuts(qid, 3)
    arrays = [da.from_array(values, chunks=(sizes, *values.shape[1:])) for values in (X, y, qid)]
    machine = RankSVM(C=1.0, warm_start=True).fit(*arrays[:2], qid=arrays[2])
    first = machine.rounds_
    machine.fit(*arrays[:2], qid=arrays[2])
    assert machine.rounds_ < first
    machine.save(tmp_path / "model")
    assert (rankwise.load(tmp_path / "model").coef_ == machine.coef_).all()


def read(number, n_rows, n_features):
    """A partition that any worker can make again."""
    random = np.random.default_rng(number)
    X = random.normal(size=(n_rows, n_features)).astype(np.float32)
    return X, np.round(X[:, 0] + random.normal(size=n_rows)), np.arange(n_rows) // 20 + number * n_rows


def columns(n_parts, n_rows, n_features):
    parts = [dask.delayed(read, pure=True)(number, n_rows, n_features) for number in range(n_parts)]
    return [[part[at] for part in parts] for at in range(3)]


def test_a_lost_worker_takes_nothing_with_it(monkeypatch):
    whole = [np.concatenate(values) for values in zip(*(read(number, 2000, 8) for number in range(6)))]
    alone = rankwise.RankSVM(C=0.1).fit(whole[0], whole[1], qid=whole[2])
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            asked, killed = Cluster.ask, []

            def ask(self, question):
                if self.rounds == 4 and not killed:
                    victim = next(iter(client.run(os.getpid).values()))
                    killed.append(victim)
                    os.kill(victim, signal.SIGKILL)
                return asked(self, question)

            monkeypatch.setattr(Cluster, "ask", ask)
            X, y, qid = columns(6, 2000, 8)
            spread = RankSVM(C=0.1, client=client).fit(X, y, qid=qid)
            assert killed and spread.rounds_ > 4
    assert close(spread.coef_, alone.coef_)


def test_no_worker_holds_more_than_its_partitions(client, monkeypatch):
    held = []

    def parts_of(dask_worker):
        return sorted(key for key, value in dask_worker.data.items() if isinstance(value, Part)), sum(
            getattr(value, "nbytes", 0) for value in dask_worker.data.values()
        )

    asked = Cluster.ask

    def ask(self, question):
        answer = asked(self, question)
        held.append(self.client.run(parts_of))
        return answer

    monkeypatch.setattr(Cluster, "ask", ask)
    X, y, qid = columns(6, 5000, 20)
    RankSVM(client=client).fit(X, y, qid=qid)
    whole = 6 * 5000 * (20 * 4 + 8 + 8)
    for workers in held[1:]:
        keys = [key for parts, _ in workers.values() for key in parts]
        assert len(keys) == len(set(keys)) == 6  # every part on one worker
        for parts, n_bytes in workers.values():
            assert n_bytes <= 1.05 * whole * len(parts) / 6  # rows are not kept beside the parts


def test_a_search_of_scikit_learn_runs_on_the_cluster(client):
    import joblib
    from sklearn.model_selection import GridSearchCV, GroupKFold

    X, y, qid = items(n_groups=40)
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            rankwise.RankSVM(threads=1), {"C": [0.01, 1.0]}, cv=GroupKFold(3).set_split_request(groups="qid")
        )
        here = search.fit(X, y, qid=qid).cv_results_["mean_test_score"]
        with joblib.parallel_config(backend="dask"):
            there = search.fit(X, y, qid=qid).cv_results_["mean_test_score"]
    assert (here == there).all()


def test_outcomes_on_a_cluster_are_read_as_on_one_machine(client):
    pairs, y = datasets.simulate_pairs(n_pairs=300, seed=3)
    alone = rankwise.Davidson().fit(pairs, y)
    spread_pairs = da.from_array(pairs, chunks=(100, 2, 2))
    # No partition has all outcomes.
    order = np.argsort(y, kind="stable")
    words = np.array(["left", "tie", "right"])[y[order] + 1]
    by_words = Davidson().fit(da.from_array(pairs[order], chunks=(100, 2, 2)), da.from_array(words, chunks=100))
    assert np.allclose(by_words.coef_, alone.coef_, rtol=1e-5)
    decision = by_words.decision_function(spread_pairs)
    assert decision.shape == (300, 3) and by_words.classes_.tolist() == [-1, 0, 1]
    assert np.allclose(decision.compute(), alone.decision_function(pairs), atol=1e-6)
    for judged in (np.abs(y), np.abs(y).astype(str)):
        with pytest.warns(RankwiseWarning, match="y holds 0 and 1 but no -1"):
            Davidson().fit(spread_pairs, da.from_array(judged, chunks=100))
    with pytest.raises(ValueError, match="partition .: y: row 0 has (np.)?(True|False)"):
        Davidson().fit(spread_pairs, da.from_array(y > 0, chunks=100))


def test_comparers_are_scored_on_frames(client):
    rng = np.random.default_rng(0)
    pairs, weights = rng.normal(size=(300, 2, 2)), np.linspace(0.1, 3.0, 300)
    margins = (pairs[:, 1] - pairs[:, 0]) @ [1.0, -3.0] + 1.5 * rng.normal(size=300)
    y = np.where(np.abs(margins) < 1, 0, np.sign(margins)).astype(int)
    names = [f"{side}.{name}" for side in ("left", "right") for name in ("a", "b")]
    frame = pd.DataFrame(pairs.reshape(300, 4), columns=names).assign(judged=y, weight=weights)[::-1]
    # Numbers of rows that repeat tell nothing of who belongs to whom.
    frame.index = np.arange(300) % 7
    parts = [dask.delayed(frame.iloc[rows]) for rows in (slice(0, 120), slice(120, 300))]
    spread = dd.from_delayed(parts, meta=frame.iloc[:0])
    for kind, alone in ((CompareSVM, rankwise.CompareSVM), (Davidson, rankwise.Davidson)):
        machine = kind().fit(spread[names], spread["judged"], sample_weight=spread["weight"])
        expected = alone().fit(pairs, y, sample_weight=weights).score(pairs, y, sample_weight=weights)
        assert machine.score(spread[names], spread["judged"], spread["weight"]) == pytest.approx(expected, abs=1e-9)
        assert 0.5 < expected < 0.95 and expected != machine.score(spread[names], spread["judged"])
        columns = spread[[*names, "judged", "weight"]]
        assert machine.score(columns, "judged", "weight") == pytest.approx(expected, abs=1e-9)
        # Columns are known by their names.
        here, other = frame[names], frame[names[::-1]]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for method in ("predict", "margins", "decision_function"):
                told = np.asarray(getattr(machine, method)(here))
                np.testing.assert_array_equal(getattr(machine, method)(other), told)
                there = getattr(machine, method)(dd.from_pandas(other.reset_index(drop=True), npartitions=2))
                np.testing.assert_array_equal(there.compute(), told)
        with pytest.raises(ValueError, match="unseen at fit time:\n- z\n.*now missing:\n- b"):
            machine.predict(here.rename(columns=lambda name: name.replace(".b", ".z")))
    named = pd.DataFrame({"l": list("abca") * 10, "r": list("bcab") * 10})
    known = Davidson(unknown="nan").fit(
        dd.from_pandas(named, npartitions=2), dd.from_pandas(pd.Series([-1, -1, 0, 1] * 10), npartitions=2)
    )
    new = pd.DataFrame({"l": ["a", "a", "b"], "r": ["z", "b", "c"]})
    judged = pd.Series(["left", "tie", "left"])
    with pytest.warns(RankwiseWarning, match="1 of 3 pairs have nan"):
        found = known.score(dd.from_pandas(new, npartitions=1), dd.from_pandas(judged, npartitions=1))
    with pytest.warns(RankwiseWarning, match="1 of 3 pairs have nan"):
        assert found == known.score(new, judged)


def test_names_that_training_has_not_seen_on_a_cluster(client):
    names = np.array([["a", "b"], ["b", "c"], ["c", "a"], ["a", "b"]] * 10, dtype=object)
    y = np.array([-1, -1, 0, 1] * 10)
    new = da.from_array(np.array([["a", "z"], ["a", "b"]], dtype=object), chunks=(1, 2))
    for unknown in ("nan", "average"):
        alone = rankwise.Davidson(unknown=unknown).fit(names, y)
        spread = Davidson(unknown=unknown).fit(da.from_array(names, chunks=(20, 2)), da.from_array(y, chunks=20))
        for method in ("predict", "margins", "predict_proba"):
            found = getattr(spread, method)(new).compute()
            assert np.allclose(found, getattr(alone, method)(new.compute()), atol=1e-6, equal_nan=True), (
                unknown,
                method,
            )
        predicted = spread.predict(new)
        kinds = {kind.dtype for kind in client.gather(client.compute(list(predicted.to_delayed())))}
        assert kinds == {predicted.dtype}, "a partition is of another type than the array"
    with pytest.raises(ValueError, match="unknown = 'skip'"):
        Davidson(unknown="skip").fit(da.from_array(names, chunks=(20, 2)), da.from_array(y, chunks=20))
