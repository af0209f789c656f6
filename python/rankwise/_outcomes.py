"""Outcomes of comparisons, from whatever says them: -1, 0 and 1, or words."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from . import _core, _input
from ._callers import meta_estimator, warn
from .exceptions import DataError

Signs = NDArray[np.int8]
#: The numbers that outcomes have here.
_OWN = np.array([-1, 0, 1])
#: What Python takes for 0 and 1.
_TRUTH = {bool, np.bool_}


def outcomes(values: Any, n: Optional[int], name: str, warns: bool = True) -> Signs:
    """-1 (left is better), 0 (no difference) or 1 (right is better) per pair, of numbers or words.

    Numbers that are 0 and 1 alone often mean something else, which is told unless they are not for people to choose.
    """
    signs, are_numbers = read(values, n, name)
    if warns and are_numbers:
        warn_without_left(found_in(signs), name)
    return signs


def read(values: Any, n: Optional[int], name: str) -> tuple[Signs, bool]:
    """The outcomes, and whether all that says them are numbers."""
    array = array_of(values, n, name)
    if array.dtype.kind in "iuf":
        return _of_numbers(array, name), True
    if array.dtype.kind in "bOSUT":
        return _of_words(array.tolist(), name)
    return _of_numbers(_input.reals(array, n, name), name), True


def array_of(values: Any, n: Optional[int], name: str) -> NDArray[Any]:
    """One entry per pair; truth values in a list stay what they are."""
    if isinstance(values, (list, tuple)) and not _TRUTH.isdisjoint(map(type, values)):
        listed = np.empty(len(values), dtype=object)
        listed[:] = values
        values = listed
    return _input.vector(values, n, name)


def found_in(signs: Signs) -> set[int]:
    return {sign for sign in (-1, 0, 1) if (signs == sign).any()}


def warn_without_left(found: set[int], name: str) -> None:
    """Says what 0 and 1 mean where there is no -1 beside them."""
    if found == {0, 1}:
        warn(
            f"{name} holds 0 and 1 but no -1: 0 is a tie and 1 says that right is better. If they mean something else, say it in words: "
            f"numpy.where({name} == 1, 'left', 'right') where 1 says that left is better, numpy.where({name} == 1, 'right', 'left') where "
            "0 does; the words 'tie' and 'right' keep the meaning without this warning"
        )


def _of_numbers(array: NDArray[Any], name: str) -> Signs:
    is_known = (array == -1) | (array == 0) | (array == 1)
    if not is_known.all():
        row = int(np.flatnonzero(~is_known)[0])
        raise DataError(
            f"{name}: row {row} has {array[row]}; expected -1 (left), 0 (tie) or 1 (right), or words such as left, tie, right"
        )
    return np.require(array, np.int8, ["C", "A"])


def _of_words(words: list[Any], name: str) -> tuple[Signs, bool]:
    """The outcomes, and whether all of the words are numbers."""
    # Before anything else: to Python, True is equal to 1.
    if not _TRUTH.isdisjoint(map(type, words)):
        truth = next(row for row, word in enumerate(words) if isinstance(word, (bool, np.bool_)))
        raise DataError(
            f"{name}: row {truth} has {words[truth]!r}, which does not say who is better: give words, such as "
            f"numpy.where({name}, 'left', 'right') where True says that left is better; known are {_known()}"
        )
    signs: dict[Any, int] = {}
    are_numbers = True
    for word in dict.fromkeys(words):
        text = word.decode("utf-8", "replace") if isinstance(word, bytes) else _input.plain_text(word)
        sign = _core.parse_outcome(text)
        if sign is None:
            same = (other is word or (type(other) is type(word) and other == word) for other in words)
            raise DataError(f"{name}: row {list(same).index(True)} has {word!r}; known are {_known()}")
        signs[word] = sign
        are_numbers = are_numbers and text.strip().lstrip("+").removesuffix(".0") in ("0", "1")
    return np.fromiter(map(signs.__getitem__, words), dtype=np.int8, count=len(words)), are_numbers


def _known() -> str:
    return ", ".join(_core.outcome_words())


def to_learn(y: Any, n: int) -> tuple[Signs, NDArray[np.int64]]:
    """Outcomes, and the numbers that predictions are to have for left, tie and right.

    Meta-estimators of scikit-learn may number -1, 0 and 1 anew from 0 on, and want those numbers back.
    """
    if y is None:
        raise ValueError("y is None: outcomes are needed, -1 (left), 0 (no difference) or 1 (right)")
    array = _input.array_of(y, "y")
    is_numbered = array.dtype.kind in "iuf" and bool((array == 2).any() and np.isin(array, (0, 1, 2)).all())
    asking = meta_estimator(is_numbered)
    if asking is None or array.ndim != 1:
        return outcomes(y, n, "y"), _OWN
    seen = np.unique(array).tolist()
    given = seen if asking.classes is None else asking.classes
    keeps = asking.name == "sklearn.calibration"  # hands on outcomes as they are, and fails if one of them is missing
    if -1 in seen and not keeps:
        return outcomes(y, n, "y"), _OWN
    if given != [-1, 0, 1] and not (is_numbered and asking.classes is None):
        raise DataError(
            f"y has {', '.join(map(str, given[:5]))}, where {asking.name} needs the numbers -1, 0 and 1 for comparers, all of them: it "
            "numbers others anew, and words in the order of the alphabet; fit the comparer itself where y has fewer"
        )
    if keeps and not is_numbered:
        return outcomes(y, n, "y"), _OWN
    if not is_numbered:
        raise DataError(
            f"{asking.name} numbers outcomes anew, and hands on {seen}, so that nobody can tell left (-1), tie (0) and right (1) apart: "
            "use folds that have all of them"
        )
    if asking.classes is None:
        warn(
            f"{asking.name} numbers outcomes anew: 0 is taken for -1 (left), 1 for 0 (tie), 2 for 1 (right). That is right where y holds "
            "-1, 0 and 1, and wrong where it holds words, which are put in the order of the alphabet"
        )
    return outcomes(_input.vector(y, n, "y").astype(np.int64) - 1, n, "y", warns=False), np.array([0, 1, 2])
