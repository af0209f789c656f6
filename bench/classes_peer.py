"""LinearSVC telling all classes apart at once, at several tolerances: prints seconds of `fit` and the objectives of its answers as JSON."""

import json
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.svm import LinearSVC


def objective(x, labels, model, big_c):
    """The bias is the weight of a constant feature; the labels are 0, 1, 2, …"""
    scores = x @ model.coef_.T + model.intercept_
    at = np.arange(len(labels))
    own = scores[at, labels]
    scores[at, labels] = -np.inf
    losses = np.maximum(0.0, 1.0 - own + scores.max(axis=1))
    return 0.5 * ((model.coef_**2).sum() + (model.intercept_**2).sum()) + big_c * losses.sum()


def main():
    task = json.loads(sys.argv[1])
    x, labels = load_svmlight_file(task["file"])
    labels = labels.astype(int)
    if task["is_sparse"]:
        x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    else:
        x = x.toarray()
    runs = []
    for tol in task["tols"]:
        fits = []
        for _ in range(task["repeats"]):
            model = LinearSVC(C=task["C"], multi_class="crammer_singer", intercept_scaling=1, tol=tol, max_iter=task["passes"], random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                started = time.perf_counter()
                model.fit(x, labels)
                fits.append(time.perf_counter() - started)
        runs.append({"tol": tol, "seconds": min(fits), "objective": float(objective(x, labels, model, task["C"]))})
    print(json.dumps({"runs": runs}))


main()
