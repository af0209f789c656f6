"""Bars of tqdm, for those who ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, Optional

from ._callers import warn

#: Told where a work stands: iterations, gap and tolerance; of a search fits that are done, nothing, and all fits.
Tell = Optional[Callable[[int, float, float], None]]


@contextmanager
def bar(is_shown: bool, what: str, unit: str) -> Iterator[Any]:
    """A bar, or None if nobody wants one or tqdm is not there."""
    if not is_shown:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        warn("progress is shown by tqdm, which is not installed: pip install tqdm")
        yield None
        return
    with tqdm(desc=what, unit=unit) as shown:
        yield shown
