"""Who called the package: warnings point there, and some of scikit-learn's callers change what outcomes are called."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from types import FrameType
from typing import Any, NamedTuple, Optional

from .exceptions import RankwiseWarning

#: Code that stands between the caller and what warns: the package's own, and that of its context managers.
_OURS = os.path.dirname(__file__) + os.sep
_BETWEEN = contextlib.__file__
#: Packages that call estimators for somebody: a warning at their line would be shown once a session, and tell nobody where.
_FOR_SOMEBODY = ("sklearn", "joblib")
#: What is below everything else in a worker, where nobody's line is.
_OF_WORKERS = ("concurrent", "distributed", "multiprocessing", "threading")
#: Parts of scikit-learn that hand outcomes to an estimator under other numbers, or columns to a class each.
_META = (
    "sklearn.calibration",
    "sklearn.ensemble",
    "sklearn.multiclass",
    "sklearn.multioutput",
    "sklearn.semi_supervised",
)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).split(".")[0]


def _is_machinery(frame: FrameType) -> bool:
    """Whether code of scikit-learn or joblib runs there, and nobody's own."""
    return _package(frame) in _FOR_SOMEBODY or frame.f_code.co_filename == _BETWEEN


def _caller() -> tuple[int, Optional[FrameType]]:
    """The first frame outside of the package, and how far it is from whoever asks."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and (frame.f_code.co_filename.startswith(_OURS) or frame.f_code.co_filename == _BETWEEN):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level, frame


def warn(text: str, kind: type[Warning] = RankwiseWarning) -> None:
    """Warns at the line that called the package, however deep inside the reason was found, and whoever called it for that line."""
    nearest, frame = _caller()
    level = nearest
    while frame is not None and _is_machinery(frame):
        level, frame = level + 1, frame.f_back
    is_worker = frame is None or _package(frame) in _OF_WORKERS
    warnings.warn(text, kind, stacklevel=nearest if is_worker else level)


class MetaEstimator(NamedTuple):
    """A part of scikit-learn that fits estimators for a purpose of its own."""

    name: str
    #: The classes it was given, where they can be seen: not from another process.
    classes: Optional[list[Any]]


def meta_estimator(are_numbers_of_classes: bool) -> Optional[MetaEstimator]:
    """Who fits the estimator and may have numbered its classes anew; None where nobody does.

    Somebody's own code in between, such as a classifier made of a comparer, has given outcomes their meaning. Only numbers of classes,
    which are no outcomes, have come through it as they were.
    """
    name, classes = None, None
    frame = _caller()[1]
    while frame is not None and (are_numbers_of_classes or _is_machinery(frame)):
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith("sklearn."):
            asking, holder = _numbering(module, frame)
            name = name or asking
            found = getattr(holder, "classes_", None)
            classes = classes if found is None else list(found)
        frame = frame.f_back
    return None if name is None else MetaEstimator(name, classes)


def _numbering(module: str, frame: FrameType) -> tuple[Optional[str], Any]:
    """What may number classes anew in this frame of scikit-learn, and what holds the classes it was given."""
    if module.startswith(_META):
        return ".".join(module.split(".")[:2]), frame.f_locals.get("self")
    is_fold = frame.f_code.co_name in ("_fit_and_predict", "cross_val_predict")
    if is_fold and frame.f_locals.get("method", "predict") != "predict":
        return "cross_val_predict of sklearn", frame.f_locals.get("le")
    return None, None
