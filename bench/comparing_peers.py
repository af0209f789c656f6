"""One run of another tool on comparisons: `comparing_peers.py TASK`, TASK a JSON object, one JSON object on standard output.

A process of its own, so that its peak memory is its own. Seconds do not include the start of Python and imports.
"""

import itertools
import json
import sys
import time

import numpy as np

from common import peak_memory

MOST_TREES, PATIENCE = 2000, 50


def read(path):
    """Features of left, right and the pair, and the class 0, 1, 2 of left, tie, right."""
    import pandas as pd

    table = pd.read_csv(path)
    part = lambda prefix: table[[name for name in table if name.startswith(prefix)]].to_numpy(dtype=float)
    return part("left."), part("right."), part("pair."), table["outcome"].to_numpy() + 1


def arranged(form, left, right, pair):
    differences = [right - left] if form != "sides" else []
    return np.hstack([left, right, *differences, pair])


def trees(task, fit):
    """Every setting of the grid, each stopped early on the validation pairs; the one with the least log-loss there is kept.

    A form is how a pair is laid out: sides; sides and their differences; the same with every pair in both ways round, for training and,
    averaged, for prediction.
    """
    start = time.perf_counter()
    train, valid, test = (read(task[part]) for part in ("train", "valid", "test"))
    parse = time.perf_counter() - start
    tried = []
    best = None
    for form, *setting in itertools.product(task["forms"], *task["grid"].values()):
        setting = dict(zip(task["grid"], setting))
        is_mirrored = form == "both ways"
        matrix = lambda part: arranged(form, *part[:3])
        swapped = lambda part: arranged(form, part[1], part[0], part[2])
        start = time.perf_counter()
        data, classes = matrix(train), train[3]
        if is_mirrored:
            data, classes = np.vstack([data, swapped(train)]), np.r_[classes, 2 - classes]
        predict = fit(task, setting, data, classes, matrix(valid), valid[3])

        def chances(part):
            chances = predict(matrix(part))
            return 0.5 * (chances + predict(swapped(part))[:, ::-1]) if is_mirrored else chances

        found = chances(valid)
        loss = -np.mean(np.log(np.clip(found[np.arange(len(found)), valid[3]], 1e-15, None)))
        seconds = time.perf_counter() - start
        tried.append(seconds)
        if best is None or loss < best["valid_log_loss"]:
            best = {"valid_log_loss": float(loss), "fit": seconds, "setting": {"form": form, **setting}}
            on_test = chances
    np.save(task["probabilities"], on_test(test))
    return {**best, "parse": parse, "all": parse + sum(tried), "n_tried": len(tried), "peak_memory_bytes": peak_memory()}


def lightgbm(task):
    import lightgbm as lgb

    def fit(task, setting, data, classes, valid, valid_classes):
        settings = {"objective": "multiclass", "num_class": 3, "num_threads": task["threads"], "verbosity": -1, **setting}
        pairs = lgb.Dataset(data, classes)
        model = lgb.train(settings, pairs, MOST_TREES, valid_sets=[lgb.Dataset(valid, valid_classes, reference=pairs)],
                          callbacks=[lgb.early_stopping(PATIENCE, verbose=False)])
        return model.predict

    return {**trees(task, fit), "version": f"LightGBM {lgb.__version__}"}


def catboost(task):
    import catboost as cat

    def fit(task, setting, data, classes, valid, valid_classes):
        model = cat.CatBoostClassifier(loss_function="MultiClass", iterations=MOST_TREES, early_stopping_rounds=PATIENCE,
                                       thread_count=task["threads"], verbose=False, allow_writing_files=False, random_seed=0,
                                       **setting)
        model.fit(data, classes, eval_set=(valid, valid_classes))
        return model.predict_proba

    return {**trees(task, fit), "version": f"CatBoost {cat.__version__}"}


def differences(task):
    """LinearSVC or LogisticRegression on explicit differences of the pairs that are no ties, as many as were asked for."""
    import pandas as pd
    import sklearn
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    start = time.perf_counter()
    items = pd.read_csv(task["items"], index_col="id", dtype={"id": str}).astype(np.float32)
    pairs = pd.read_csv(task["pairs"], nrows=task["most"], dtype={"outcome": "category"})
    parse = time.perf_counter() - start
    start = time.perf_counter()
    decided = pairs[pairs["outcome"] != "tie"]
    rows = lambda side: items.index.get_indexer(decided[side])
    features = items.to_numpy()
    data = features[rows("right")] - features[rows("left")]
    signs = np.where(decided["outcome"] == "right", 1, -1)
    build = time.perf_counter() - start
    start = time.perf_counter()
    machine = (LinearSVC(C=task["C"], fit_intercept=False, dual=False, tol=1e-3) if task["machine"] == "LinearSVC"
               else LogisticRegression(C=task["C"], fit_intercept=False, tol=1e-3))
    machine.fit(data, signs)
    return {"parse": parse, "build": build, "train": time.perf_counter() - start, "pairs": len(pairs), "decided": len(decided),
            "peak_memory_bytes": peak_memory(), "version": f"scikit-learn {sklearn.__version__}"}


TOOLS = {"lightgbm": lightgbm, "catboost": catboost, "differences": differences}

if __name__ == "__main__":
    described = json.loads(sys.argv[1])
    print(json.dumps(TOOLS[described["tool"]](described)))
