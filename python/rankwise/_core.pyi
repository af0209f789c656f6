"""The compiled part of rankwise: private, and checked against the binary by the tests."""

import os
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__version__: str
MOST_THREADS: int
__all__ = [
    "MOST_THREADS",
    "Board",
    "Chances",
    "Groups",
    "Items",
    "JudgedPairs",
    "Model",
    "Pairs",
    "Part",
    "RankedItems",
    "Search",
    "__version__",
    "add_answers",
    "check_spread",
    "defaults",
    "fit_classes",
    "fit_items",
    "fit_pairs",
    "fit_spread",
    "item_metric_direction",
    "load_arff",
    "load_items",
    "load_letor",
    "load_pairs",
    "load_published_pairs",
    "outcome_words",
    "parse_outcome",
    "parse_times",
    "published_pairs",
    "rate",
    "reliability",
    "save_items",
    "simulate_pairs",
    "spaced",
    "tune_classes",
    "tune_items",
    "tune_labels",
    "tune_pairs",
]

_Path = str | os.PathLike[str]
_Reals = NDArray[np.float64]
_Tell = Callable[[int, float, float], object]

@final
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
    @staticmethod
    def named(names: Sequence[str], average: bool = False) -> Items: ...
    @property
    def n_items(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def is_f32(self) -> bool: ...
    def to_dense(self) -> _Reals: ...

@final
class Groups:
    @staticmethod
    def of_integers(ids: NDArray[np.int64]) -> Groups: ...
    @staticmethod
    def of_numbers(numbers: NDArray[np.uint32], names: Sequence[str]) -> Groups: ...
    @property
    def numbers(self) -> NDArray[np.uint32]: ...
    def __len__(self) -> int: ...

@final
class Pairs:
    @staticmethod
    def of_numbers(items: Items, left: NDArray[np.int64], right: NDArray[np.int64]) -> Pairs: ...
    @staticmethod
    def of_sides(rows: Items) -> Pairs: ...
    def with_context(self, context: Items, names: Sequence[str]) -> Pairs: ...
    @property
    def n_pairs(self) -> int: ...
    @property
    def n_items(self) -> int: ...
    @property
    def items(self) -> Items: ...

@final
class Model:
    @staticmethod
    def load(path: _Path) -> Model: ...
    def save(self, path: _Path) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def export(
        self,
        to: str,
        name: str | None = None,
        store: str | None = None,
        dialect: str | None = None,
        scores: bool = False,
    ) -> bytes: ...
    def export_to(
        self,
        path: _Path,
        to: str | None = None,
        name: str | None = None,
        store: str | None = None,
        dialect: str | None = None,
        scores: bool = False,
    ) -> None: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def description(self) -> str: ...
    def tuning(self) -> str | None: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def stop(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def is_of_pairs(self) -> bool: ...
    @property
    def is_of_names(self) -> bool: ...
    @property
    def n_features(self) -> int: ...
    @property
    def feature_names(self) -> list[str] | None: ...
    @property
    def threshold(self) -> float: ...
    @property
    def beta(self) -> float | None: ...
    @property
    def classes(self) -> list[str] | None: ...
    @property
    def grades(self) -> tuple[_Reals, _Reals] | None: ...
    @property
    def weights(self) -> _Reals | None: ...
    @property
    def biases(self) -> _Reals: ...
    @property
    def scaling(self) -> tuple[_Reals, _Reals] | None: ...
    @property
    def support(self) -> tuple[Items, _Reals] | None: ...
    @property
    def support_names(self) -> list[str] | None: ...
    def with_support_names(self, names: Sequence[str]) -> Model: ...
    def support_among(self, items: Items) -> NDArray[np.int64] | None: ...
    def scores(self, items: Items, threads: int = 0) -> _Reals: ...
    def machine_scores(self, items: Items, threads: int = 0) -> _Reals: ...
    def classify(self, items: Items, threads: int = 0) -> tuple[NDArray[np.uint32], _Reals, _Reals | None]: ...
    def grade(self, items: Items, threads: int = 0) -> _Reals: ...
    def judge(
        self, pairs: Pairs, threads: int = 0
    ) -> tuple[_Reals, NDArray[np.int8], _Reals | None, _Reals | None]: ...

@final
class Search:
    def __new__(
        cls,
        method: str,
        c: Sequence[float] | None,
        kernels: Sequence[dict[str, Any]],
        widens: bool,
        losses: Sequence[str],
        epsilons: Sequence[float] | None,
        folds: int,
        metric: str | None,
        time_limit: float | None,
    ) -> Search: ...

def fit_items(
    method: str,
    params: dict[str, Any],
    items: Items,
    labels: _Reals,
    groups: Groups | None = None,
    weights: _Reals | None = None,
    group_weights: _Reals | None = None,
    start: Model | None = None,
    threads: int = 0,
    on_progress: _Tell | None = None,
) -> Model: ...
def fit_classes(
    params: dict[str, Any],
    items: Items,
    labels: NDArray[np.uint32],
    classes: Sequence[str],
    weights: _Reals | None = None,
    margins: _Reals | None = None,
    threads: int = 0,
    on_progress: _Tell | None = None,
) -> Model: ...
def fit_pairs(
    method: str,
    params: dict[str, Any],
    pairs: Pairs,
    outcomes: NDArray[np.int8],
    weights: _Reals | None = None,
    groups: Groups | None = None,
    threads: int = 0,
    on_progress: _Tell | None = None,
) -> Model: ...
def defaults() -> dict[str, dict[str, Any]]: ...
def spaced(lo: float, hi: float, n: int) -> list[float]: ...
def tune_items(
    method: str,
    params: dict[str, Any],
    search: Search,
    items: Items,
    labels: _Reals,
    groups: Groups | None = None,
    weights: _Reals | None = None,
    valid: dict[str, Any] | None = None,
    threads: int = 0,
    on_progress: _Tell | None = None,
) -> Model: ...
def tune_labels(
    method: str,
    params: dict[str, Any],
    search: Search,
    items: Items,
    labels: _Reals,
    groups: Groups | None = None,
    weights: _Reals | None = None,
    valid: dict[str, Any] | None = None,
    threads: int = 0,
    on_progress: _Tell | None = None,
) -> Model: ...
def tune_classes(
    params: dict[str, Any],
    search: Search,
    items: Items,
    labels: NDArray[np.uint32],
    classes: Sequence[str],
    groups: Groups | None = None,
    weights: _Reals | None = None,
    valid: dict[str, Any] | None = None,
    threads: int = 0,
    on_progress: _Tell | None = None,
) -> Model: ...
def tune_pairs(
    method: str,
    params: dict[str, Any],
    search: Search,
    pairs: Pairs,
    outcomes: NDArray[np.int8],
    groups: Groups | None = None,
    weights: _Reals | None = None,
    valid: dict[str, Any] | None = None,
    threads: int = 0,
    on_progress: _Tell | None = None,
) -> Model: ...

# metrics

@final
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

@final
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

# rating
@final
class Board:
    def columns(self) -> dict[str, NDArray[Any]]: ...
    def facts(self) -> dict[str, Any]: ...
    def pair_chances(self) -> Chances: ...

@final
class Chances:
    def __new__(
        cls,
        ratings: NDArray[np.float64],
        deviations: NDArray[np.float64],
        scales: NDArray[np.int64],
        slope: float,
        blur: float,
        factor: float,
        ties: float,
    ) -> Chances: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def of(self, left: int, right: int) -> tuple[float, float, float] | None: ...
    def of_pairs(self, left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.float64]: ...

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
def reliability(
    outcomes: NDArray[np.int8], chances: NDArray[np.float64], of_ties: bool, n_bins: int
) -> tuple[list[tuple[float, float, float, float, float]], float] | None: ...

# spread

@final
class Part:
    @staticmethod
    def of_items(
        params: dict[str, Any],
        number: int,
        items: Items,
        labels: NDArray[np.float64],
        groups: Groups | None = None,
        weights: NDArray[np.float64] | None = None,
        group_weights: NDArray[np.float64] | None = None,
        threads: int = 0,
    ) -> Part: ...
    @staticmethod
    def of_pairs(
        number: int,
        pairs: Pairs,
        outcomes: NDArray[np.int8],
        weights: NDArray[np.float64] | None = None,
        threads: int = 0,
    ) -> Part: ...
    def answer(self, question: bytes, threads: int = 0) -> bytes: ...

def add_answers(answers: list[bytes]) -> bytes: ...
def check_spread(method: str, params: dict[str, Any]) -> None: ...
def fit_spread(
    method: str,
    params: dict[str, Any],
    ask: Callable[[bytes], bytes],
    names: list[str] | None = None,
    are_indicators: bool = False,
    start: Model | None = None,
    threads: int = 0,
    on_progress: Callable[[int, float, float], None] | None = None,
) -> Model: ...
