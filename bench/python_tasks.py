"""One run of one tool from arrays: `python_tasks.py TASK`, TASK a JSON object, one JSON object on standard output.

A process of its own, in which the arrays stand and the tool is imported before the clock starts. `first` and `best` are wall seconds
of the first run and of the fastest one, `added` the bytes by which the first one raised the memory of the process at its peak.
Answers (scores, weights, coefficients, ratings) go to a file, for python.py to compare.
"""

import importlib.metadata
import json
import sys
import warnings

import numpy as np
from scipy import sparse

from common import fresh_peak, peak_memory
from kernel_data import FOLDS, GRID, load_arrays
from kernel_peers import timed, warm

LONG = 30.0  # seconds after which nothing is repeated
TREES = 100
CACHE_MB = 512


def measured(task, work):
    """(what the first run gave, how long it and the fastest one took and what it added to the memory)."""
    before = fresh_peak()
    result, first = timed(work)
    added = peak_memory() - before
    more = task["repeats"] - 1 if first <= LONG else 0
    best = min([first, *(timed(work)[1] for _ in range(more))])
    return result, {"first": first, "best": best, "added": added}


def answered(task, figures, **arrays):
    np.savez(task["answer"], **arrays)
    return figures


# Ranking: fit and score.

def ranking(task):
    items, labels, test = load_arrays(task["arrays"])
    with np.load(task["arrays"]) as kept:
        qid = kept["qid"]
    fit, scores, weights = {"rankwise": rank_svm, "scikit-learn": linear_svc, "lightgbm": lgbm_ranker}[task["tool"]](
        task, items, labels, qid)
    machine, figures = measured(task, fit)
    found, scoring = measured(task, lambda: scores(machine, test))
    figures["predict"] = scoring["best"]
    own = weights(machine)
    return answered(task, figures, scores=found, **({} if own is None else {"weights": own}))


def rank_svm(task, items, labels, qid):
    from rankwise import RankSVM

    return (lambda: RankSVM(C=task["C"], tol=task["tol"], threads=task["threads"]).fit(items, labels, qid=qid),
            lambda machine, test: machine.predict(test), lambda machine: machine.coef_)


def linear_svc(task, items, labels, qid):
    """The same objective on the differences of all pairs, which are a part of the fit."""
    from sklearn.svm import LinearSVC

    from ranking_peers import explicit_pairs

    def fit():
        machine = LinearSVC(C=task["C"], tol=task["tol"], fit_intercept=False, dual=False)
        return machine.fit(*explicit_pairs(items, labels, qid))

    return fit, lambda machine, test: test @ machine.coef_[0], lambda machine: machine.coef_[0]


def lgbm_ranker(task, items, labels, qid):
    """All settings but the number of trees as they come; the items of a group stand together."""
    from lightgbm import LGBMRanker

    sizes = np.unique(qid, return_counts=True)[1]
    return (lambda: LGBMRanker(n_estimators=TREES, n_jobs=task["threads"], verbosity=-1).fit(items, labels, group=sizes),
            lambda machine, test: machine.predict(test), lambda machine: None)


# Kernel machines.

def kernel(task):
    items, labels, test = load_arrays(task["arrays"])
    settings = {"kernel": "rbf", "C": task["C"], "gamma": task["gamma"], "tol": task["tol"]}
    if task["kind"] == "regress":
        settings["epsilon"] = task["epsilon"]
    if task["tool"] == "rankwise":
        import rankwise as module

        settings |= {"threads": task["threads"], "cache_mb": CACHE_MB}
    else:
        from sklearn import svm as module

        settings["cache_size"] = CACHE_MB
    kind = module.SVC if task["kind"] == "classify" else module.SVR
    score = (lambda machine, rows: machine.decision_function(rows)) if task["kind"] == "classify" else (
        lambda machine, rows: machine.predict(rows))
    machine, figures = measured(task, lambda: kind(**settings).fit(items, labels))
    found, scoring = measured(task, lambda: score(machine, test))
    figures["predict"] = scoring["best"]
    coefficients = np.zeros(len(labels))
    coefficients[machine.support_] = np.ravel(machine.dual_coef_)
    return answered(task, figures, scores=np.ravel(found), coefficients=coefficients, bias=bias(task, machine, items, score))


def bias(task, machine, items, score):
    """What is added to all scores: what a few of them have beyond the kernel's part."""
    from sklearn.metrics.pairwise import rbf_kernel

    rows = items[:100]
    part = rbf_kernel(rows, machine.support_vectors_, gamma=task["gamma"]) @ np.ravel(machine.dual_coef_)
    return float(np.median(np.ravel(score(machine, rows)) - part))


# Choosing parameters; worker processes of joblib stand before the clock starts.

def tuning(task):
    items, labels, _ = load_arrays(task["arrays"])
    with np.load(task["arrays"]) as kept:
        qid = kept["qid"] if "qid" in kept else None
    search = (own_search if task["tool"] == "rankwise" else grid_search)(task, items, labels, qid)
    found, figures = measured(task, search)
    return {**figures, "score": float(found.best_score_), "chosen": {name: float(v) for name, v in found.best_params_.items()}}


def own_search(task, items, labels, qid):
    import rankwise

    if task["machine"] == "SVC":
        machine = rankwise.SVC(kernel="rbf", tol=task["tol"], threads=task["threads"])
        return lambda: rankwise.tune(machine, items, labels, grid=GRID, folds=FOLDS, metric="accuracy")
    machine = rankwise.RankSVM(tol=task["tol"], threads=task["threads"])
    return lambda: rankwise.tune(machine, items, labels, qid=qid, grid={"C": task["Cs"]}, folds=FOLDS, metric="pair_accuracy")


def grid_search(task, items, labels, qid):
    import joblib
    import sklearn
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.svm import SVC

    processes = {"n_jobs": task["threads"]}
    joblib.Parallel(**processes)(joblib.delayed(warm)(SVC) for _ in range(4 * task["threads"]))
    if task["machine"] == "SVC":
        machine = SVC(kernel="rbf", tol=task["tol"], cache_size=CACHE_MB)
        return lambda: GridSearchCV(machine, GRID, cv=FOLDS, **processes).fit(items, labels)
    from rankwise import RankSVM

    sklearn.set_config(enable_metadata_routing=True)
    machine = RankSVM(tol=task["tol"], threads=1)
    return lambda: GridSearchCV(machine, {"C": task["Cs"]}, cv=GroupKFold(FOLDS), **processes).fit(items, labels, qid=qid, groups=qid)


# Reading text.

def reading(task):
    if task["tool"] == "rankwise":
        from rankwise.datasets import load_svmlight

        found, figures = measured(task, lambda: load_svmlight(task["file"]))
        parts = found.X, found.y, found.qid
    else:
        from sklearn.datasets import load_svmlight_file

        parts, figures = measured(task, lambda: load_svmlight_file(task["file"], query_id=True))
    items, labels, qid = parts
    items = items.toarray() if sparse.issparse(items) else items
    with np.load(task["arrays"]) as kept:
        is_same = np.array_equal(labels, kept["y"]) and np.array_equal(qid, kept["qid"])
        difference = float(np.abs(items - kept["x"]).max())
    return {**figures, "is_same": is_same, "difference": difference, "made": f"{kind_of(parts[0])}, {parts[0].dtype}"}


def kind_of(items):
    return items.format.upper() if sparse.issparse(items) else "dense"


# Ratings.

def rating(task):
    with np.load(task["arrays"]) as kept:
        games = {name: kept[name] for name in ("left", "right", "outcome", "r")}
    left, right, outcome, n = games["left"], games["right"], games["outcome"], len(games["r"])
    if task["tool"] == "rankwise":
        import rankwise
        from ratings_data import halves

        settings = {"threads": task["threads"]}

        def rate():
            if task["way"] == "halves":
                *sides, weight = halves(games)
                return rankwise.rate(*sides, weight=weight, **settings)
            return rankwise.rate(left, right, outcome, system=task["way"], **settings, **task["more"])

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Without ties among the rows, their parameter is at its bound.
            board, figures = measured(task, rate)
        ratings = np.zeros(n)
        ratings[np.asarray(board.items)] = board.ratings
    else:
        import choix
        from ratings_data import ELO
        from ratings_peers import twice, wins_matrix

        ways = {"ilsr_pairwise": lambda: choix.ilsr_pairwise(n, twice(left, right, outcome), alpha=0.0),
                "ilsr_pairwise_dense": lambda: choix.ilsr_pairwise_dense(wins_matrix(left, right, outcome, n), alpha=0.0)}
        strengths, figures = measured(task, ways[task["way"]])
        ratings = ELO * strengths
    return answered(task, figures, ratings=ratings)


def version(tool):
    if tool == "rankwise":
        import rankwise

        return rankwise.__version__
    return importlib.metadata.version(tool)


PARTS = {"ranking": ranking, "kernel": kernel, "tuning": tuning, "reading": reading, "rating": rating}

if __name__ == "__main__":
    described = json.loads(sys.argv[1])
    reported = PARTS[described["part"]](described)
    print(json.dumps({**reported, "version": f"{described['tool']} {version(described['tool'])}"}))
