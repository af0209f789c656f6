"""The compiled part of rankwise."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

# Machines and models are not described yet.
def __getattr__(name: str) -> Any: ...

# input

class Items:
    @staticmethod
    def dense(array: NDArray[Any], names: Sequence[str] | None = None) -> Items: ...
    @staticmethod
    def sparse(
        n_cols: int,
        starts: NDArray[Any],
        columns: NDArray[Any],
        values: NDArray[Any],
        names: Sequence[str] | None = None,
    ) -> Items: ...
    @staticmethod
    def table(stream: Any) -> Items: ...
    @property
    def n_items(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def is_f32(self) -> bool: ...
    def to_dense(self) -> NDArray[np.float64]: ...

class Groups:
    @staticmethod
    def of_integers(ids: NDArray[np.int64]) -> Groups: ...
    @staticmethod
    def of_numbers(numbers: NDArray[Any], names: Sequence[str]) -> Groups: ...
    @property
    def numbers(self) -> NDArray[np.uint32]: ...
    def __len__(self) -> int: ...

# rating
class Board:
    def columns(self) -> dict[str, NDArray[Any]]: ...
    def facts(self) -> dict[str, Any]: ...
    def chances(self, left: int, right: int) -> tuple[float, float, float] | None: ...
    def chances_of(self, left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.float64]: ...

def parse_outcome(word: str) -> int | None: ...
def outcome_words() -> list[str]: ...
def parse_times(words: list[str]) -> NDArray[np.float64]: ...
def rate(
    names: list[str],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    outcomes: NDArray[np.int8],
    settings: dict[str, Any],
    weights: NDArray[np.float64] | None = None,
    groups: NDArray[np.uint32] | None = None,
    times: NDArray[np.float64] | None = None,
    neutral: NDArray[np.bool_] | None = None,
    covariates: tuple[list[str], NDArray[np.float64]] | None = None,
    anchor: tuple[int, float] | None = None,
    threads: int = 0,
) -> Board: ...

# plot
def roc_curve(
    outcomes: NDArray[np.int8],
    margins: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float] | None: ...
def reliability(
    outcomes: NDArray[np.int8], chances: NDArray[np.float64], of_ties: bool, n_bins: int
) -> tuple[list[tuple[float, float, float, float, float]], float] | None: ...
