"""Types: the stubs say what the binary has, the package passes mypy, and so does a program that uses it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="mypy is not installed")
PACKAGE = Path(__file__).resolve().parents[1]


def mypy(folder: Path, *args: str) -> None:
    # From another folder, so that it is the installed package that is looked at.
    config = ["--mypy-config-file" if "stubtest" in args[0] else "--config-file", str(PACKAGE / "pyproject.toml")]
    done = subprocess.run(
        [sys.executable, "-m", *args, *config], capture_output=True, text=True, timeout=300, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_describe_the_binary(tmp_path):
    mypy(tmp_path, "mypy.stubtest", "rankwise._core", "--ignore-disjoint-bases")


def test_the_package_is_typed(tmp_path):
    mypy(tmp_path, "mypy", "-p", "rankwise", "--strict")


PROGRAM = """
import numpy as np
from rankwise import SVC, CompareSVM, Davidson, RankSVM, load, rate, tune

ranker = RankSVM(C=0.1).fit(np.eye(3), [1, 2, 3], qid=["a", "a", "b"])
reveal_type(ranker)
reveal_type(ranker.predict(np.eye(3)))
reveal_type(CompareSVM().fit(np.zeros((1, 2, 3)), [0]).threshold_)
reveal_type(tune(ranker, np.eye(3), [1, 2, 3]).best_estimator_)
pairs = np.zeros((1, 2, 3))
reveal_type(load("model.safetensors").predict(np.eye(3)))
reveal_type(load("model.safetensors").score(np.eye(3), [1, 2, 3]))
reveal_type(CompareSVM.load("model.safetensors").margins(pairs))
reveal_type(Davidson().fit(pairs, ["tie"]).predict_proba(pairs))
reveal_type(Davidson().fit(pairs, ["tie"]).decision_function(pairs))
reveal_type(SVC(probabilities=True).fit(np.eye(3), [1, 2, 3]).predict_proba(np.eye(3)))
reveal_type(CompareSVM().fit(pairs, [0]).predict(pairs))
reveal_type(CompareSVM().to_sql())
board = rate(["a"], ["b"], ["tie"])
reveal_type(board.chances("a", "b"))
reveal_type(board.chances(1, (2, 3)))
reveal_type(board.chances(["a"], np.array(["b"])))
left, tie, right = board.chances("a", "b")
total: float = left + tie + right
"""
#: What each line that reveals a type must say, to mypy and to pyright.
REVEALED = [
    "RankSVM", "float64", "float", "RankSVM", "ndarray", "float", "float64", "float64", "float64", "float64", "ndarray", "str",
    "tuple[float, float, float]", "tuple[float, float, float]", "float64",
]  # fmt: skip


def test_a_program_that_uses_it_is_typed(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "program.py")],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
    is_revealed(re.findall(r'Revealed type is "(.*)"', done.stdout))


def is_revealed(types: list[str]) -> None:
    assert len(types) == len(REVEALED), types
    for line, (found, expected) in enumerate(zip(types, REVEALED)):
        plain = found.replace("builtins.", "")
        assert expected in plain and "Any" not in plain.replace("dtype[Any]", "").replace("ndarray[Any,", "").replace("tuple[Any, ...]", ""), (
            line, found,
        )  # fmt: skip


def test_a_program_that_uses_it_is_typed_for_pyright_too(tmp_path):
    pytest.importorskip("pyright", reason="pyright is not installed")
    (tmp_path / "program.py").write_text("# pyright: strict, reportUnknownMemberType=false\n" + PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(tmp_path / "program.py")],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    is_revealed(re.findall(r'Type of ".*" is "(.*)"', done.stdout))
