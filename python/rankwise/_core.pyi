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

# metrics

class RankedItems:
    def __new__(
        cls,
        labels: NDArray[np.float64],
        scores: NDArray[np.float64],
        groups: Groups | None = None,
        weights: NDArray[np.float64] | None = None,
        group_weights: NDArray[np.float64] | None = None,
        ids: Sequence[str] | None = None,
    ) -> RankedItems: ...
    def metric(self, name: str) -> float: ...
    def per_group(self, name: str) -> NDArray[np.float64]: ...

class JudgedPairs:
    def __new__(
        cls,
        judged: NDArray[np.int8],
        margins: NDArray[np.float64],
        threshold: float = 0.0,
        excess: NDArray[np.float64] | None = None,
        chances: NDArray[np.float64] | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> JudgedPairs: ...
    def metric(self, name: str) -> float: ...
    def confusion(self) -> NDArray[np.float64]: ...
    def roc(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None: ...

def item_metric_direction(name: str) -> bool: ...

# datasets

def simulate_pairs(
    norm: str, n_pairs: int, ties: float, noise: float, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.int8]]: ...
def load_items(
    path: str,
    format: str | None,
    columns: dict[str, Any],
    index_base: int,
    precision: str,
    classes: bool = False,
) -> dict[str, Any]: ...
def load_pairs(
    path: str, items: str | None, format: str | None, columns: dict[str, Any], precision: str
) -> dict[str, Any]: ...
def load_arff(path: str, label: str | None, drop: Sequence[str], precision: str) -> dict[str, Any]: ...
def load_letor(directory: str, fold: int, part: str, precision: str) -> dict[str, Any]: ...
def published_pairs() -> list[str]: ...
def load_published_pairs(name: str, path: str, group: str | None) -> dict[str, Any]: ...
def save_items(
    path: str,
    format: str,
    items: Items,
    labels: NDArray[np.float64],
    groups: Groups | None = None,
    weights: NDArray[np.float64] | None = None,
    ids: Sequence[str] | None = None,
) -> list[str]: ...
