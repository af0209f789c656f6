"""Training does not stand in Python's way: other threads go on, Ctrl-C ends it, forks and any number of threads are fine."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import rankwise
from rankwise import SVC, CompareSVM, OnlineRankSVM, RankSVM


def hard_problem(n: int = 6000):
    """Items on which a kernel machine works for many seconds."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 20)), rng.integers(0, 5, size=n).astype(float)


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import rankwise

rng = np.random.default_rng(0)
X, y = rng.normal(size=(6000, 20)), rng.integers(0, 5, size=6000).astype(float)
pairs, outcomes = rng.normal(size=(20000, 2, 10)), rng.integers(-1, 2, size=20000)

def press():
    time.sleep({delay})
    pressed.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

pressed = []
rankwise.SVC().fit(X[:50], y[:50])  # everything is loaded
threading.Thread(target=press, daemon=True).start()
try:
    {work}
    print("finished")
except KeyboardInterrupt:
    print("stopped after", time.monotonic() - pressed[0])
# The interpreter is sound afterwards, and nothing stands in its way.
again = time.monotonic()
print(rankwise.RankSVM().fit(X[:100], y[:100]).coef_.shape)
print("again after", time.monotonic() - again)
"""
LONG = [
    "rankwise.RankSVM(kernel='rbf', C=1e3, tol=1e-9).fit(X, y)",
    "rankwise.SVC(kernel='rbf', C=1e6, tol=1e-9, gamma=5.0).fit(X, y)",
    "rankwise.CompareSVM(kernel='rbf', C=1e4, tol=1e-9, loss='hinge').fit(pairs, outcomes)",
    "rankwise.OnlineRankSVM(steps=10**12).fit(X, y)",
    "rankwise.RankingVectorMachine(kernel='rbf', C=1e3, tol=1e-9).fit(X, y)",
    "rankwise.tune(rankwise.SVC(kernel='rbf', C=1e4), X, y)",
    "rankwise.rate(rng.integers(0, 3000, 200000), rng.integers(3000, 6000, 200000), rng.integers(-1, 2, 200000), "
    "ci_method='bootstrap', resamples=5000)",
    "rankwise.rate(rng.integers(0, 3000, 200000), rng.integers(3000, 6000, 200000), rng.integers(-1, 2, 200000), "
    "system='elo', resamples=20000)",
]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("work", LONG)
def test_ctrl_c_ends_training_within_a_second(work):
    code = INTERRUPTED.format(delay=1.0, work=work)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    first, *rest = done.stdout.splitlines()
    assert first.startswith("stopped after"), (done.stdout, done.stderr)
    assert float(first.split()[-1]) < 1.0
    assert rest[0] == "(20,)" and float(rest[1].split()[-1]) < 2.0, rest


def test_other_threads_go_on_during_training():
    X, y = hard_problem()
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    started = time.monotonic()
    _limited(X, y)
    ended = time.monotonic()
    stop.set()
    ticker.join()
    during = [t for t in ticks if started <= t <= ended]
    assert ended - started > 0.8
    assert np.diff(during).max() < 0.3 and len(during) > 30


def _limited(X, y):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        RankSVM(kernel="rbf", C=1e3, tol=1e-12, time_limit=1.5).fit(X, y)


def test_fits_of_several_python_threads_do_not_disturb_each_other(ranking):
    X, y, qid = ranking
    expected = RankSVM(kernel="rbf").fit(X, y, qid=qid).predict(X)
    found = [None] * 6

    def fit(k):
        found[k] = RankSVM(kernel="rbf").fit(X, y, qid=qid).predict(X)

    threads = [threading.Thread(target=fit, args=(k,)) for k in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all((scores == expected).all() for scores in found)


@pytest.mark.parametrize(
    "machine", [RankSVM(kernel="rbf"), RankSVM(loss="hinge"), SVC(kernel="rbf"), OnlineRankSVM(steps=5000)], ids=str
)
def test_the_number_of_threads_changes_nothing(machine, ranking):
    X, y, _ = ranking
    one, three, all_of_them = (machine.set_params(threads=n).fit(X, y)._model.to_bytes() for n in (1, 3, 0))
    assert one == three == all_of_them


def _in_child(queue, X, y):
    queue.put(RankSVM().fit(X, y).coef_)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork here")
def test_a_forked_child_can_train(ranking):
    X, y, _ = ranking
    expected = RankSVM().fit(X, y).coef_  # the parent's threads are running by now
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue, X, y))
    child.start()
    np.testing.assert_array_equal(queue.get(timeout=30), expected)
    child.join(timeout=30)
    assert child.exitcode == 0


def test_progress_is_shown_when_asked(capsys):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    X, y = hard_problem(1500)
    RankSVM(kernel="rbf", C=10, verbose=True).fit(X, y)
    shown = capsys.readouterr().err
    assert "RankSVM" in shown and "iterations" in shown
    RankSVM(kernel="rbf").fit(X[:50], y[:50])
    assert capsys.readouterr().err == ""


def test_an_error_of_whoever_looks_on_ends_the_fit():
    from rankwise import _core, _input

    X, y = hard_problem()

    def complain(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        _core.fit_items("rank", {"kernel": "rbf", "C": 1e3, "tol": 1e-12}, _input.items(X), y, on_progress=complain)


def run(code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=180,
        env={**os.environ, **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_takes_little_time_and_loads_little():
    code = """
    import time
    started = time.perf_counter()
    import rankwise
    seconds = time.perf_counter() - started
    import sys
    heavy = {"sklearn", "scipy", "pandas", "polars", "matplotlib", "pyarrow"} & set(sys.modules)
    print(seconds, sorted(heavy))
    """
    times, heavy = zip(*(run(code).split(maxsplit=1) for _ in range(3)))
    assert min(map(float, times)) < 0.2
    assert all(text.strip() == "[]" for text in heavy)


def test_everything_works_without_scikit_learn():
    told = run(
        """
        import sys
        sys.modules["sklearn"] = None  # as if it were not installed
        import pickle, warnings
        import numpy as np
        import rankwise
        from rankwise import CompareSVM, RankSVM, SVC, SVR, tune

        rng = np.random.default_rng(0)
        X = rng.normal(size=(100, 3)); y = np.round(X[:, 0]); qid = np.repeat(np.arange(10), 10)
        ranker = RankSVM(C=0.5).fit(X, y, qid=qid)
        print(ranker)
        print(ranker.score(X, y, qid=qid) > 0.8, ranker.get_params()["C"], ranker.set_params(C=2.0).C)
        try:
            RankSVM().predict(X)
        except ValueError as error:
            print("not fitted" in str(error))
        try:
            ranker.set_params(D=1)
        except ValueError as error:
            print("D" in str(error))
        print(SVC().fit(X, y > 0).score(X, y > 0) > 0.8, SVR().fit(X, y).score(X, y) > 0.5)
        pairs = rng.normal(size=(100, 2, 3)); outcome = np.sign(np.round(pairs[:, 1, 0] - pairs[:, 0, 0]))
        comparer = CompareSVM().fit(pairs, outcome)
        print(comparer.score(pairs, outcome) > 0.7, hasattr(comparer, "predict_proba"))
        print((pickle.loads(pickle.dumps(comparer)).predict(pairs) == comparer.predict(pairs)).all())
        print(type(tune(RankSVM(), X, y, qid=qid).best_estimator_).__name__)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            RankSVM(C=100, max_iter=1, tol=1e-9).fit(X, y)
        print(caught[0].category is rankwise.exceptions.ConvergenceWarning)
        """
    )
    assert told.split() == [
        "RankSVM(C=0.5)",
        "True",
        "0.5",
        "2.0",
        "True",
        "True",
        "True",
        "True",
        "True",
        "False",
        "True",
        "RankSVM",
        "True",
    ]


def test_every_public_name_is_there():
    for name in rankwise.__all__:
        assert getattr(rankwise, name) is not None
    assert set(dir(rankwise)) >= set(rankwise.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        rankwise.nonsense  # noqa: B018


def test_comparers_are_not_disturbed_by_seeds(judged):
    pairs, y = judged
    a, b = (CompareSVM(kernel="rbf", seed=3).fit(pairs, y)._model.to_bytes() for _ in range(2))
    assert a == b


def test_threads_of_other_fits_do_not_stay_for_ever(ranking):
    X, y, _ = ranking
    code = """
    import threading, os
    import numpy as np
    from rankwise import RankSVM
    X = np.random.default_rng(0).normal(size=(50, 3)); y = np.round(X[:, 0])
    for threads in (1, 2, 3, 4, 5, 6, 7, 8, 16, 32):
        RankSVM(threads=threads).fit(X, y)
    import time; time.sleep(0.5)
    print(len(os.listdir("/proc/self/task")))
    """
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("threads are not listed here")
    assert int(run(code)) < 60


def test_bars_end_where_the_work_ended(monkeypatch):
    auto = pytest.importorskip("tqdm.auto", reason="tqdm is not installed")
    made = []

    class Seen(auto.tqdm):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            made.append(self)

    monkeypatch.setattr(auto, "tqdm", Seen)
    rng = np.random.default_rng(0)
    X, pairs = rng.normal(size=(200, 3)), rng.normal(size=(200, 2, 3))
    y, outcomes = np.round(X @ [1.0, 2.0, -1.0]), rng.integers(-1, 2, size=200)
    for machine, data in (
        (RankSVM(loss="hinge"), (X, y)), (OnlineRankSVM(), (X, y)), (rankwise.OrdinalSVM(kernel="rbf"), (X, y)), (SVC(kernel="rbf"), (X, y)),
        (rankwise.SVR(), (X, y)), (CompareSVM(kernel="rbf"), (pairs, outcomes)), (rankwise.Davidson(), (pairs, outcomes)),
    ):  # fmt: skip
        machine.set_params(verbose=True).fit(*data)
        assert made[-1].n == machine.n_iter_, machine
        assert made[-1].postfix.startswith(f"gap {machine.gap_:.1e}"), machine
    rankwise.tune(CompareSVM(verbose=True), pairs, outcomes, grid={"C": [0.1, 1.0]}, folds=3)
    assert made[-1].n == made[-1].total
