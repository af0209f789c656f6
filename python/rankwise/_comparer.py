"""What all comparers share: pairs that were judged left better, no difference, or right better, and what is said of others."""

from __future__ import annotations

from typing import Any, Callable, ClassVar, Optional, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from . import _core, _input
from ._base import Array, Machine, only_if
from ._outcomes import outcomes, to_learn
from .exceptions import MismatchError, ParameterError, UnsupportedError

Self = TypeVar("Self", bound="Comparer")
Preprocessor = Union[None, Any, Callable[[NDArray[np.int64]], Any]]


class Comparer(Machine):
    """Learns scores, and when a difference of scores does not matter.

    Pairs are an array of shape (n, 2, features), or of shape (n, 2) with item numbers and ``preprocessor=X``, the features of the
    items (or a function that makes features of item numbers), or of shape (n, 2) with names of items, which then have no features:
    every item gets a score of its own. ``pairs[:, 0]`` is left, ``pairs[:, 1]`` right. Outcomes are -1
    (left is better), 0 (no difference) and 1 (right is better).
    """

    preprocessor: Preprocessor
    #: Pickles of 0.1 have none.
    unknown: str = "error"
    classes_: NDArray[np.int64]
    _own_params: ClassVar[frozenset[str]] = Machine._own_params | {"unknown"}
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": True, "context": True}
    __metadata_request__score: ClassVar[dict[str, Any]] = {"context": True}
    __metadata_request__predict: ClassVar[dict[str, Any]] = {"context": True}
    __metadata_request__predict_proba: ClassVar[dict[str, Any]] = {"context": True}
    __metadata_request__decision_function: ClassVar[dict[str, Any]] = {"context": True}

    def fit(self: Self, pairs: Any, y: Any, sample_weight: Any = None, context: Any = None, groups: Any = None) -> Self:
        """Learns from judged pairs.

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2, n_features), or (n_pairs, 2) with item numbers and ``preprocessor``
        y : array of shape (n_pairs,)
            -1 left is better, 0 no difference, 1 right is better; or words: left, tie, right; a, b; model_a, model_b; 1-0, ….
        sample_weight : array of shape (n_pairs,), optional
        context : array or table of shape (n_pairs, n_columns), optional
            What describes the comparison itself (judge, prompt length), for ``tie_band='pair'``.
        groups : array of shape (n_pairs,), optional
            Pairs that belong together (judgments of one judge): they are never split where pairs are held out.
        """
        _check_unknown(self.unknown)
        self.__dict__.pop("_n_context", None)
        read, names = self._read(pairs, context, fitting=True)
        n = read.n_pairs
        signs, classes = to_learn(y, n)
        weights = _input.weights(sample_weight, n)
        with self._progress() as tell:
            model = _core.fit_pairs(
                self._method,
                self._params(),
                read,
                signs,
                weights,
                _input.groups(groups, n, "groups"),
                self._threads(),
                tell,
            )
            self._end(tell, model)
        model = self._find_support(model, pairs)
        self.classes_ = classes
        return self._adopt(model, names)

    def _find_support(self, model: _core.Model, pairs: Any) -> _core.Model:
        self._support_rows = None
        if model.support is None or model.is_of_names:
            return model
        items = np.asarray(pairs)
        if items.ndim == 3:
            sides = _input.floats(items, "pairs").reshape(-1, items.shape[2])
            return self._with_support(model, _input.items(sides), sides)
        if callable(self.preprocessor):
            return model
        return self._with_support(model, _input.items(self.preprocessor, "preprocessor"), self.preprocessor)

    def _read(self, pairs: Any, context: Any, fitting: bool = False) -> tuple[_core.Pairs, Optional[list[str]]]:
        """Pairs as the compiled part has them, and the names of features."""
        names = None
        array = _input.array_of(pairs, "pairs")
        if array.ndim == 3:
            if array.shape[1] != 2:
                raise ValueError(
                    f"pairs has shape {array.shape}: (n, 2, features) is needed, the two sides of each pair"
                )
            if array.shape[0] == 0 or array.shape[2] == 0:
                raise ValueError(f"pairs has shape {array.shape}: at least one pair and one feature are needed")
            array = _input.floats(array, "pairs")
            read = _core.Pairs.of_sides(_rows_of_sides(array))
        elif array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "OUS" and self.preprocessor is None:
            items, places = self._of_names(_input.names(array.ravel(), "pairs", 2), fitting)
            left, right = np.require(places.reshape(-1, 2).T, np.int64, ["C", "A"])
            read = _core.Pairs.of_numbers(items, left, right)
        elif array.ndim == 2 and array.shape[1] == 2:
            if self.preprocessor is None:
                raise ValueError(
                    f"pairs has shape {array.shape}: item numbers need {type(self).__name__}(preprocessor=X), the features of the items; "
                    "without it pairs have shape (n, 2, features)"
                )
            array = _input.item_numbers(array)
            if array.shape[0] == 0:
                raise ValueError("pairs has no rows: at least one pair is needed")
            read, names = self._looked_up(array)
        else:
            raise ValueError(
                f"pairs has shape {array.shape}: (n, 2, features) is needed, or (n, 2) with item numbers and preprocessor"
            )
        if context is not None:
            described = _input.items(context, "context")
            if described.n_items != read.n_pairs:
                raise ValueError(
                    f"context has {described.n_items} rows for {read.n_pairs} pairs: one per pair is needed"
                )
            width = getattr(self, "_n_context", None)
            if fitting:
                self._n_context = described.n_features
            elif width is not None and described.n_features != width:
                raise ValueError(
                    f"context has {described.n_features} columns, but {type(self).__name__} is expecting {width}"
                )
            columns = _input.column_names(context) if _input.is_table(context) else None
            read = read.with_context(described, columns or [f"context{k}" for k in range(described.n_features)])
        return read, names

    def _of_names(self, names: NDArray[np.str_], fitting: bool) -> tuple[_core.Items, NDArray[np.int64]]:
        """Items that have names alone, and which of them each name is."""
        distinct, places = np.unique(names, return_inverse=True)
        if fitting or not self.__sklearn_is_fitted__() or not self._model.is_of_names:
            return _core.Items.named(distinct.tolist()), places
        known = self._model.feature_names or []
        number = dict(zip(known, range(len(known))))
        new = [name for name in distinct.tolist() if name not in number]
        if not new:
            return _core.Items.named(distinct.tolist()), places
        if self.unknown not in ("nan", "average"):
            _check_unknown(self.unknown)
            shown = ", ".join(map(repr, new[:5])) + (", …" if len(new) > 5 else "")
            raise MismatchError(
                f"{len(new)} items were not in the training data: {shown}; leave them out, train with pairs that contain them, or set "
                "unknown='nan' (nothing is predicted for them) or unknown='average' (they have the mean score)"
            )
        is_average = self.unknown == "average"
        if is_average and self._model.weights is None:
            raise UnsupportedError("unknown='average' needs kernel='linear': choose that, or unknown='nan'")
        # What stands for a new name: the average of all items, or any of them, whose scores nobody will see.
        stands_in = len(known) if is_average else 0
        numbers = np.array([number.get(name, stands_in) for name in distinct.tolist()], dtype=np.int64)
        return _core.Items.named(known, average=is_average), numbers[places]

    def _are_unseen(self, names: Any) -> Optional[NDArray[np.bool_]]:
        """Which names nothing is predicted for; None where that is not asked for."""
        if self.unknown != "nan" or not self._model.is_of_names:
            return None
        array = _input.array_of(names, "pairs")
        return ~np.isin(_input.names(array.ravel(), "pairs"), self._model.feature_names or []).reshape(array.shape)

    def _looked_up(self, numbers: NDArray[Any]) -> tuple[_core.Pairs, Optional[list[str]]]:
        if callable(self.preprocessor):
            distinct, places = np.unique(numbers, return_inverse=True)
            rows, numbers = self.preprocessor(distinct), places.reshape(numbers.shape)
            items = _input.items(rows, "preprocessor")
            if items.n_items != len(distinct):
                raise ValueError(
                    f"preprocessor made {items.n_items} rows of {len(distinct)} item numbers: one row each is needed"
                )
        else:
            rows = self.preprocessor
            items = _input.items(rows, "preprocessor")
        left, right = (np.require(numbers[:, side], np.int64, ["C", "A"]) for side in (0, 1))
        return _core.Pairs.of_numbers(items, left, right), self._names(rows)

    def _judged(self, pairs: Any, context: Any) -> Any:
        self._check_is_fitted()
        read, names = self._read(pairs, context)
        if read.items.n_features != self.n_features_in_ and not self._model.is_of_names:
            raise ValueError(
                f"pairs has {read.items.n_features} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
            )
        if not self._model.is_of_names:
            self._check_names(names)
        judged = self._model.judge(read, self._threads())
        unseen = self._are_unseen(pairs)
        if unseen is None or not unseen.any():
            return judged
        margins, signs, thresholds, chances = judged
        at, signs = unseen.any(axis=1), signs.astype(np.float64)
        for values in (margins, signs, thresholds, chances):
            if values is not None:
                values[at] = np.nan
        return margins, signs, thresholds, chances

    def predict(self, pairs: Any, context: Any = None) -> NDArray[Any]:
        """The outcome of each pair: -1, 0 or 1; nan for names that training has not seen, with ``unknown='nan'``."""
        signs: NDArray[Any] = self._judged(pairs, context)[1]
        return signs + np.int8(self.classes_[1])

    def margins(self, pairs: Any, context: Any = None) -> Array:
        """The margin of each pair: score of right less score of left."""
        return self._judged(pairs, context)[0]  # type: ignore[no-any-return]

    def decision_function(self, pairs: Any, context: Any = None) -> Array:
        """How much speaks for left, no difference and right: three columns, in the order of ``classes_``.

        Of machines with probabilities these are their logarithms. Of others, with the margin m and the threshold τ of a pair, they are
        ``-m - τ``, ``τ - |m|`` and ``m - τ``, of which the largest is what is predicted (predictions go by the threshold in either case, and where
        that was chosen by its error, they are not always what is most probable). The margin itself is in :meth:`margins`.
        """
        margins, signs, thresholds, chances = self._judged(pairs, context)
        if chances is not None:
            return np.log(np.maximum(chances, np.finfo(float).tiny))  # type: ignore[no-any-return]
        threshold = self.threshold_ if thresholds is None else thresholds
        columns = np.column_stack([-margins - threshold, threshold - np.abs(margins), margins - threshold])
        # On the threshold two columns are equal, of which argmax takes the first.
        at, chosen = np.arange(len(columns)), np.nan_to_num(signs).astype(np.intp) + 1
        wrong = columns.argmax(axis=1) != chosen
        columns[at[wrong], chosen[wrong]] = np.nextafter(columns[wrong].max(axis=1), np.inf)
        return columns

    def thresholds(self, pairs: Any, context: Any = None) -> Array:
        """For each pair, the difference that does not matter: the same for all unless ``tie_band='pair'``."""
        margins, _, thresholds, _ = self._judged(pairs, context)
        return np.full(len(margins), self.threshold_) if thresholds is None else thresholds

    def score_items(self, X: Any) -> Array:
        """One score per item; higher is better. Of a machine that was fitted to names, one per name."""
        self._check_is_fitted()
        if not self._model.is_of_names:
            return self._model.scores(self._items_to_score(X), self._threads())
        items, places = self._of_names(_input.names(X, "X"), fitting=False)
        scores = self._model.scores(items, self._threads())[places]
        unseen = self._are_unseen(X)
        return scores if unseen is None else np.where(unseen, np.nan, scores)

    def _why_no_chances(self) -> Optional[str]:
        """What to do to have probabilities; None where there are some."""
        return "choose Davidson, or CompareSVM(loss='logistic')"

    @only_if(lambda comparer: comparer._why_no_chances())
    def predict_proba(self, pairs: Any, context: Any = None) -> Array:
        """Probabilities of left, no difference and right: three per pair. Only where the machine has them."""
        chances = self._judged(pairs, context)[3]
        if chances is None:
            raise ValueError("the model was fitted without probabilities: fit it again")
        return chances  # type: ignore[no-any-return]

    def score(self, pairs: Any, y: Any, sample_weight: Any = None, context: Any = None) -> float:
        """The share of pairs whose outcome is predicted right."""
        predicted = self.predict(pairs, context)
        return _share_right(predicted, self._outcomes(y, len(predicted)), sample_weight)

    def _outcomes(self, y: Any, n: int) -> NDArray[Any]:
        """Outcomes by the numbers that predictions have."""
        if self.classes_[1] == 0:
            return outcomes(y, n, "y")
        # As in the fit: numbered anew.
        return outcomes(_input.vector(y, n, "y") - 1, n, "y", warns=False) + 1

    @property
    def threshold_(self) -> float:
        """Differences of scores up to this do not matter; with a tie band its mean in training."""
        return self._fitted("threshold_").threshold

    @property
    def beta_(self) -> Optional[float]:
        """β of the comparison machine: its own threshold is −β before scores are divided by it. None for rankers."""
        return self._fitted("beta_").beta

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        tags.input_tags.three_d_array = True
        tags.input_tags.two_d_array = self.preprocessor is not None
        tags.input_tags.sparse = False
        return tags

    @classmethod
    def _of_model(cls: type[Self], model: _core.Model, source: str) -> Self:
        estimator = super()._of_model(model, source)
        estimator.classes_ = np.array([-1, 0, 1])
        return estimator


def _rows_of_sides(pairs: NDArray[Any]) -> _core.Items:
    """Left and right sides as rows, one after the other."""
    rows = pairs.reshape(-1, pairs.shape[2])
    try:
        return _input.items(rows, "pairs")
    except ParameterError:
        bad = np.argwhere(~np.isfinite(pairs))
        if not len(bad):
            raise
        pair, side, feature = bad[0]
        where = f"pair {pair}, {('left', 'right')[side]} side, feature {feature}"
        raise ParameterError(f"pairs has {pairs[pair, side, feature]} at {where}: finite numbers are needed") from None


def _share_right(predicted: NDArray[Any], judged: NDArray[Any], sample_weight: Any) -> float:
    """The share of outcomes that are predicted, of those for which something is; nan if that is none."""
    weights = _input.weights(sample_weight, len(predicted))
    known = _input.known_rows(predicted)
    if known is not None:
        predicted, judged, weights = predicted[known], judged[known], None if weights is None else weights[known]
    if len(predicted) == 0 or (weights is not None and not weights.any()):
        return float("nan")
    return float(np.average(predicted == judged, weights=weights))


def _check_unknown(unknown: Any) -> None:
    if unknown not in ("error", "nan", "average"):
        refused = ParameterError(f"unknown = {unknown!r} is not possible: expected 'error', 'nan' or 'average'")
        refused.name = "unknown"
        raise refused
