"""Types: the stubs say what the binary has, the package passes mypy, and so does a program that uses it."""

from __future__ import annotations

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
from rankwise import CompareSVM, RankSVM, tune

ranker = RankSVM(C=0.1).fit(np.eye(3), [1, 2, 3], qid=["a", "a", "b"])
reveal_type(ranker)
reveal_type(ranker.predict(np.eye(3)))
reveal_type(CompareSVM().fit(np.zeros((1, 2, 3)), [0]).threshold_)
reveal_type(tune(ranker, np.eye(3), [1, 2, 3]).best_estimator_)
"""


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
    revealed = [line.split("note: ")[1] for line in done.stdout.splitlines() if "Revealed" in line]
    for text, expected in zip(revealed, ["RankSVM", "float64", "float", "RankSVM"]):
        assert expected in text, text
    assert len(revealed) == 4
