"""One run of another tool on ranking data: `ranking_peers.py TASK`, TASK a JSON object, one JSON object on standard output.

A process of its own, so that its peak memory is its own (the interpreter and what the tool imports included). Seconds do not
include the start of Python and imports. Peak memory is taken when the model stands, before anything is measured.
"""

import json
import sys
import time

import numpy as np
from scipy import sparse

from common import peak_memory


def read(path):
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(path, query_id=True)


def read_only(task):
    """scikit-learn's reader."""
    import sklearn.datasets  # noqa: F401

    start = time.perf_counter()
    read(task["train"])
    return {"parse": time.perf_counter() - start, "peak_memory_bytes": peak_memory()}


def explicit_pairs(items, labels, qid):
    """Differences of all pairs of a group with different labels, every other one turned round, and their classes."""
    from ranking_metrics import groups

    better, worse = [], []
    for rows in groups(qid):
        i, j = np.nonzero(labels[rows][:, None] > labels[rows])
        better.append(rows[i])
        worse.append(rows[j])
    better, worse = np.concatenate(better), np.concatenate(worse)
    signs = np.where(np.arange(len(better)) % 2 == 0, 1.0, -1.0)
    first, second = np.where(signs > 0, better, worse), np.where(signs > 0, worse, better)
    if sparse.issparse(items) and items.nnz > 0.5 * np.prod(items.shape):
        items = items.toarray()
    return items[first] - items[second], signs


def linear_svc(task):
    """LinearSVC on explicit pairs: the loosest tolerance of those given whose objective is close to the one aimed at."""
    import sklearn
    from sklearn.svm import LinearSVC

    from ranking_metrics import objective

    start = time.perf_counter()
    items, labels, qid = read(task["train"])
    parse = time.perf_counter() - start
    start = time.perf_counter()
    differences, signs = explicit_pairs(items, labels, qid)
    build = time.perf_counter() - start
    for tol in task["tols"]:
        machine = LinearSVC(loss="squared_hinge", C=task["C"], fit_intercept=False, dual=False, tol=tol, max_iter=1000)
        start = time.perf_counter()
        machine.fit(differences, signs)
        fit = time.perf_counter() - start
        peak = peak_memory()
        weights = machine.coef_[0]
        value = objective(weights, items @ weights, labels, qid, task["C"], "squared-hinge")
        if value <= task["aim"] * (1.0 + task["close"]):
            break
    del differences
    test, _, _ = read_as_wide(task["test"], items.shape[1])
    np.save(task["scores"], test @ weights)
    return {"parse": parse, "build": build, "train": build + fit, "peak_memory_bytes": peak, "objective": value, "tol": tol,
            "version": f"scikit-learn {sklearn.__version__}"}


def read_as_wide(path, n_features):
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(path, query_id=True, n_features=n_features)


def lightgbm(task):
    """lambdarank, all settings but the number of trees and threads as they come; reading includes binning."""
    import lightgbm as lgb

    settings = {"objective": "lambdarank", "num_threads": task["threads"], "verbosity": -1}
    start = time.perf_counter()
    train = lgb.Dataset(task["train"], params=settings).construct()
    parse = time.perf_counter() - start
    start = time.perf_counter()
    model = lgb.train(settings, train, num_boost_round=max(task["trees"]))
    fit = time.perf_counter() - start
    peak = peak_memory()
    start = time.perf_counter()
    keep_scores(task, lambda trees, path: model.predict(path, num_iteration=trees, predict_disable_shape_check=True))
    return {"parse": parse, "train": fit, "score": time.perf_counter() - start, "peak_memory_bytes": peak,
            "version": f"LightGBM {lgb.__version__}"}


def xgboost(task):
    """rank:pairwise, all settings but the number of trees and threads as they come."""
    import warnings

    import xgboost as xgb

    warnings.filterwarnings("ignore", message=".*Text file input.*")
    start = time.perf_counter()
    train = text_matrix(xgb, task["train"], task["threads"])
    parse = time.perf_counter() - start
    start = time.perf_counter()
    model = xgb.train({"objective": "rank:pairwise", "nthread": task["threads"]}, train, num_boost_round=max(task["trees"]))
    fit = time.perf_counter() - start
    peak = peak_memory()
    start = time.perf_counter()
    matrices = {}

    def scores(trees, path):
        if path not in matrices:
            matrices[path] = text_matrix(xgb, path, task["threads"])
        return model.predict(matrices[path], iteration_range=(0, trees))

    keep_scores(task, scores)
    return {"parse": parse, "train": fit, "score": time.perf_counter() - start, "peak_memory_bytes": peak,
            "version": f"XGBoost {xgb.__version__}"}


def text_matrix(xgb, path, threads):
    return xgb.DMatrix(f"{path}?format=libsvm&indexing_mode=1", nthread=threads)


def keep_scores(task, scores):
    """`scores` holds a file name for each number of trees and each file to score."""
    for trees, files in zip(task["trees"], task["scores"]):
        for path, out in zip(task["tests"], files):
            np.save(out, np.asarray(scores(trees, path), dtype=float))


TOOLS = {"read": read_only, "linear-svc": linear_svc, "lightgbm": lightgbm, "xgboost": xgboost}

if __name__ == "__main__":
    described = json.loads(sys.argv[1])
    print(json.dumps(TOOLS[described["tool"]](described)))
