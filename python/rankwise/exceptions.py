"""What can go wrong, each kind with an exception of its own, all of them :class:`RankwiseError`.

Arguments of a wrong type or shape are refused as numpy and scikit-learn do: by a plain ValueError or TypeError that names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from ._convergence import ConvergenceWarning

__all__ = [
    "ConvergenceWarning",
    "DataError",
    "FileError",
    "MismatchError",
    "MissingFileError",
    "ModelFileError",
    "NotRankableError",
    "NotSeparableError",
    "NumericError",
    "ParameterError",
    "RankwiseError",
    "RankwiseWarning",
    "SearchError",
    "UnsupportedError",
]


class RankwiseError(Exception):
    """Anything that rankwise refuses."""


class FileError(RankwiseError, OSError):
    """A file cannot be opened, read or written; ``errno`` says why, where the system did."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no file (or folder) of that name."""


class DataError(RankwiseError, ValueError):
    """The data are at fault: where, what was found, and what to do about it.

    ``file``, ``line`` and ``column`` (both counted from 1) say where, as far as it is known.
    """

    file: str = ""
    line: Optional[int] = None
    column: Optional[int] = None


class ModelFileError(RankwiseError, ValueError):
    """A model file cannot be used."""


class MismatchError(RankwiseError, ValueError):
    """The model and the data do not fit together."""


class ParameterError(RankwiseError, ValueError):
    """A parameter or an argument is out of its range; ``name`` says which."""

    name: str = ""


class UnsupportedError(RankwiseError, ValueError):
    """Two options that cannot be had together."""


class NotRankableError(RankwiseError, ValueError):
    """A hard margin was asked for where there is none."""


class NotSeparableError(RankwiseError, ValueError):
    """A hard margin or a hard tube was asked for where there is none."""


class SearchError(RankwiseError, ValueError):
    """A search over parameters ended without a single point to choose."""


class NumericError(RankwiseError, ValueError):
    """Numbers left the range of floating point."""


class RankwiseWarning(UserWarning):
    """What rankwise wants its user to know."""


def __getattr__(name: str) -> Any:
    # It derives from scikit-learn's warning of the same name, whose import takes a second.
    if name == "ConvergenceWarning":
        from ._convergence import ConvergenceWarning

        return ConvergenceWarning
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
