"""Arrays are not copied: what fitting and predicting add to the memory of the process is measured."""

from __future__ import annotations

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="the peak of memory is not told here")

MEASURE = """
import resource, warnings
import numpy as np
import rankwise
import sklearn  # what imports take is not what fits take
from rankwise import RankSVM, SVR, SVC, CompareSVM, OnlineRankSVM, Davidson
from rankwise.metrics import pair_accuracy
warnings.simplefilter("ignore")

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

RankSVM().fit(np.eye(4), [1, 2, 3, 4])
n, p = {n}, {p}
{data}
before = peak()
{work}
print(int((peak() - before) / bytes_of_data * 100))
"""
DENSE = """
X = np.empty((n, p), dtype=np.{dtype})
rng = np.random.default_rng(0)
for start in range(0, n, 10000):
    X[start:start + 10000] = rng.standard_normal((min(10000, n - start), p), dtype=np.{dtype})
y = np.round(X[:, 0] + X[:, 1])
qid = np.arange(n) // 100
bytes_of_data = X.nbytes
"""
SPARSE = """
import scipy.sparse
k = 20
columns = (np.arange(n)[:, None] * 7 + np.arange(k) * (p // k)) % p
columns.sort(axis=1)
X = scipy.sparse.csr_matrix((np.random.default_rng(0).standard_normal(n * k), columns.ravel().astype(np.{index}), (np.arange(n + 1) * k).astype(np.{index})), shape=(n, p))
X.indices, X.indptr = X.indices.astype(np.{index}), X.indptr.astype(np.{index})
del columns
y = np.round(X @ np.random.default_rng(1).standard_normal(p))
qid = np.arange(n) // 100
X.has_canonical_format
bytes_of_data = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
"""


def added(data: str, work: str, n: int, p: int) -> int:
    """By how many percent of the data the peak of memory rose."""
    code = MEASURE.format(data=data, work=work, n=n, p=p)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_a_gigabyte_is_not_copied():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    n, p = 1_250_000, 200  # 1 GB in f32
    assert added(DENSE.format(dtype="float32"), "RankSVM(C=1e-6, tol=0.1).fit(X, y, qid=qid).predict(X)", n, p) < 25


FITS = [
    ("RankSVM(C=1e-5, tol=0.1).fit(X, y, qid=qid).score(X, y, qid=qid)", DENSE.format(dtype="float64")),
    ("SVR(C=1e-4, tol=0.1, max_iter=3).fit(X, y).predict(X)", DENSE.format(dtype="float32")),
    ("OnlineRankSVM(steps=1000).fit(X, y, qid=qid).predict(X)", DENSE.format(dtype="float32")),
    (
        "CompareSVM(C=1e-4, tol=0.1).fit(X.reshape(n // 2, 2, p), np.sign(np.round(X[1::2, 0] - X[::2, 0])))",
        DENSE.format(dtype="float32"),
    ),
    ("RankSVM(C=1e-5, tol=0.1).fit(X, y, qid=qid).predict(X)", SPARSE.format(index="int32")),
]


@pytest.mark.parametrize(("work", "data"), FITS)
def test_arrays_are_not_copied(work, data):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("scipy", reason="scipy is not installed")
    # Beside the data there are a few numbers per item.
    assert added(data, work, 200_000, 200) < 35


def test_wide_indices_take_a_quarter():
    pytest.importorskip("scipy", reason="scipy is not installed")
    # Columns of 64 bits are narrowed, which takes 4 of 16 bytes a number.
    work = "RankSVM(C=1e-5, tol=0.1).fit(X, y, qid=qid).predict(X)"
    assert added(SPARSE.format(index="int64"), work, 400_000, 200) < 45
