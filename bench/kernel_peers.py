"""One run of another kernel machine: `kernel_peers.py TASK`, TASK a JSON object, one JSON object on standard output.

A process of its own, so that its peak memory is its own (the interpreter and what the tool imports included). Seconds include
neither the start of Python, imports, reading of files nor the change of arrays into what the tool takes. Peak memory is taken when the
machine stands, before anything is scored. Coefficients, bias and scores of the test items go to a file.
"""

import importlib.metadata
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from common import peak_memory
from kernel_data import load_arrays


def timed(run):
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


def result(task, n, train, predict, peak, version, support, coefficients, bias, scores):
    """Keeps the machine, one coefficient for each training item, and tells the seconds."""
    full = np.zeros(n)
    full[support] = coefficients
    np.savez(task["machine"], coefficients=full, bias=float(bias), scores=np.asarray(scores, dtype=float))
    return {"train": train, "predict": predict, "peak_memory_bytes": peak, "version": version}


def estimator(task, module, items, labels, test, version):
    """SVC or SVR of scikit-learn or of what takes its place."""
    settings = {"kernel": "rbf", "gamma": task["gamma"], "C": task["C"], "tol": task["tol"], "cache_size": task["cache_mb"]}
    if task["kind"] == "classify":
        machine = module.SVC(**settings)
        score = lambda: machine.decision_function(test)
    else:
        machine = module.SVR(**settings, epsilon=task["epsilon"])
        score = lambda: machine.predict(test)
    _, train = timed(lambda: machine.fit(items, labels))
    peak = peak_memory()
    scores, predict = timed(score)
    coefficients = machine.dual_coef_
    coefficients = coefficients.toarray() if sparse.issparse(coefficients) else np.asarray(coefficients)
    return result(task, len(labels), train, predict, peak, version, machine.support_, coefficients.ravel(), machine.intercept_[0],
                  np.ravel(scores))


def scikit_learn(task):
    import sklearn
    from sklearn import svm

    items, labels, test = load_arrays(task["arrays"])
    return estimator(task, svm, items, labels, test, f"scikit-learn {sklearn.__version__}")


def intelex(task):
    """Dense rows: it was slightly faster on them than on sparse ones, for a9a and w8a, too."""
    from sklearnex import set_config, svm

    set_config(allow_sklearn_after_onedal=False)
    items, labels, test = load_arrays(task["arrays"])
    kind = np.float32 if task["tool"].endswith("f32") else np.float64
    items, test = (np.ascontiguousarray(part.toarray() if sparse.issparse(part) else part, dtype=kind) for part in (items, test))
    version = f"scikit-learn-intelex {importlib.metadata.version('scikit-learn-intelex')}"
    return estimator(task, svm, items, labels.astype(kind), test, version)


def libsvm(task):
    """As many threads as OMP_NUM_THREADS says, where it was built with OpenMP."""
    from ctypes import c_double

    from libsvm.svm import libsvm as library
    from libsvm.svm import svm_parameter, svm_problem
    from libsvm.svmutil import svm_train

    items, labels, test = load_arrays(task["arrays"])
    items, test = sparse.csr_matrix(items), sparse.csr_matrix(test)
    settings = f"-q -t 2 -g {task['gamma']!r} -c {task['C']!r} -e {task['tol']!r} -m {task['cache_mb']}"
    settings += " -s 0" if task["kind"] == "classify" else f" -s 3 -p {task['epsilon']!r}"
    problem, parameter = svm_problem(labels, items), svm_parameter(settings)
    rows = svm_problem(np.zeros(test.shape[0]), test)
    model, train = timed(lambda: svm_train(problem, parameter))
    peak = peak_memory()
    value, scores = (c_double * 1)(), np.zeros(test.shape[0])

    def score():
        for i in range(len(scores)):
            library.svm_predict_values(model, rows.x[i], value)
            scores[i] = value[0]

    _, predict = timed(score)
    # The class of the first item is its positive one.
    sign = 1.0 if task["kind"] == "regress" or model.get_labels()[0] > 0 else -1.0
    support = np.array(model.get_sv_indices()) - 1
    coefficients = np.array(model.get_sv_coef()).ravel()
    version = f"libsvm-official {importlib.metadata.version('libsvm-official')}"
    return result(task, len(labels), train, predict, peak, version, support, sign * coefficients, -sign * model.rho[0], sign * scores)


def linfa(task):
    """The program in `kernel_linfa`, built by the benchmark."""
    items, labels, test = load_arrays(task["arrays"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, array in (("x", items), ("y", labels), ("t", test)):
            np.ascontiguousarray(array, dtype="<f8").tofile(folder / file)
        described = json.dumps({**task, "features": items.shape[1]})
        try:
            done = subprocess.run([task["program"], described, name], capture_output=True, text=True, timeout=task["limit"])
        except subprocess.TimeoutExpired:
            return {"late": True}
        if done.returncode != 0:
            sys.exit(done.stderr)
        said = json.loads(done.stdout)
        coefficients, scores = (np.fromfile(folder / file, dtype="<f8") for file in ("coefficients", "scores"))
    return result(task, len(labels), said["train"], said["predict"], said["peak_memory_bytes"], "linfa-svm 0.8.1",
                  np.arange(len(labels)), coefficients, said["bias"], scores)


def grid(task):
    """GridSearchCV over C and gamma; the worker processes stand before the clock starts."""
    import joblib
    from sklearn.model_selection import GridSearchCV

    if task["tool"] == "grid-intelex":
        from sklearnex import svm

        version = f"scikit-learn-intelex {importlib.metadata.version('scikit-learn-intelex')}"
    else:
        from sklearn import svm

        version = f"scikit-learn {importlib.metadata.version('scikit-learn')}"
    items, labels, _ = load_arrays(task["arrays"])
    if task["tool"] == "grid-intelex":
        items, labels = items.astype(np.float32), labels.astype(np.float32)
    points = {"C": task["Cs"], "gamma": task["gammas"]}
    machine = svm.SVC(kernel="rbf", tol=task["tol"], cache_size=task["cache_mb"])
    search = GridSearchCV(machine, points, cv=task["folds"], n_jobs=task["threads"])
    joblib.Parallel(n_jobs=task["threads"])(joblib.delayed(warm)(svm.SVC) for _ in range(4 * task["threads"]))
    _, wall = timed(lambda: search.fit(items, labels))
    errors = 1.0 - search.cv_results_["mean_test_score"]
    return {"wall": wall, "error": float(errors.min()), "best": search.best_params_, "version": version,
            "peak_memory_bytes": peak_memory()}


def warm(machine):
    time.sleep(0.2)
    machine().fit([[0.0], [1.0]], [0, 1])


TOOLS = {"scikit-learn": scikit_learn, "libsvm-1": libsvm, "libsvm-2": libsvm, "intelex-f64": intelex, "intelex-f32": intelex,
         "linfa": linfa, "grid-scikit-learn": grid, "grid-intelex": grid}

if __name__ == "__main__":
    described = json.loads(sys.argv[1])
    print(json.dumps(TOOLS[described["tool"]](described)))
