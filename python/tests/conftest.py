"""Data and tools that several tests need."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Callable

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def program() -> Path | None:
    """The command line, where it has been built: RANKWISE_BIN, or what cargo has made."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    named = os.environ.get("RANKWISE_BIN")
    found = [Path(named)] if named else [target / profile / "rankwise" for profile in ("debug", "release")]
    return next((path for path in found if path.exists()), None)


@pytest.fixture(scope="session")
def rankwise_cli() -> Callable[..., str]:
    """Runs the command line and tells what it prints."""
    path = program()
    if path is None:
        pytest.skip("the command line is not built; set RANKWISE_BIN, or cargo build")

    def run(*args: object) -> str:
        done = subprocess.run([str(path), *map(str, args)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def ranking() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """300 items of 4 features with grades from -2 to 2, in 20 unsorted groups."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.clip(np.round(X @ [1.0, 2.0, 0.0, -1.0] + 0.5 * rng.normal(size=300)), -2, 2)
    return X, y, rng.integers(0, 20, size=300)


@pytest.fixture
def judged() -> tuple[np.ndarray, np.ndarray]:
    """400 pairs of items of 3 features, with outcomes of which some are ties and some are wrong."""
    rng = np.random.default_rng(1)
    pairs = rng.normal(size=(400, 2, 3))
    margins = (pairs[:, 1] - pairs[:, 0]) @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=400)
    return pairs, np.where(np.abs(margins) < 1.0, 0, np.sign(margins)).astype(int)
