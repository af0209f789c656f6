"""Every block of Python in the documentation runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "python/README.md", "docs/python.md", "docs/exports.md"]


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run_one_after_the_other(page, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.S)
    assert blocks, page
    for folder in ("examples", "docs"):
        os.symlink(ROOT / folder, tmp_path / folder)
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "module", ["_rankers", "_comparers", "_labels", "_tune", "_rate", "metrics", "datasets", "plot"]
)
def test_examples_of_docstrings_are_true(module):
    import doctest
    import importlib

    found = doctest.testmod(
        importlib.import_module(f"rankwise.{module}"), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert found.failed == 0
