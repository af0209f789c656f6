"""What all estimators share: parameters, fitted attributes, files, and the manners of scikit-learn, which may be absent."""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import MethodType
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Optional, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from . import _core, _input
from ._callers import warn
from ._convergence import ConvergenceWarning
from ._progress import Tell, bar
from .exceptions import MismatchError, RankwiseWarning

if TYPE_CHECKING:

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class NotFittedError(ValueError, AttributeError): ...

else:
    try:
        from sklearn.base import BaseEstimator
        from sklearn.exceptions import NotFittedError
    except ImportError:
        from ._without_sklearn import BaseEstimator, NotFittedError

Path = Union[str, "os.PathLike[str]"]
Array = NDArray[np.float64]
Self = TypeVar("Self", bound="Machine")
Method = TypeVar("Method", bound=Callable[..., Any])


class only_if:
    """A method that is there only if the estimator says so: scikit-learn asks by ``hasattr`` what an estimator can do."""

    def __init__(self, why_not: Callable[[Any], Optional[str]]) -> None:
        self.why_not = why_not

    def __call__(self, method: Method) -> Method:
        self.method = method
        self.__doc__ = method.__doc__
        return self  # type: ignore[return-value]  # to readers of types, the method itself

    def __get__(self, estimator: Any, kind: Any = None) -> Any:
        if estimator is None:
            return self.method
        why_not = self.why_not(estimator)
        if why_not is not None:
            raise AttributeError(f"{type(estimator).__name__} has no {self.method.__name__}: {why_not}")
        return MethodType(self.method, estimator)


class Machine(BaseEstimator):
    """An estimator over a machine of the compiled part."""

    #: What the command line calls the method.
    _method: ClassVar[str]
    #: Parameters that are this layer's own business.
    _own_params: ClassVar[frozenset[str]] = frozenset({"warm_start", "verbose", "preprocessor"})

    if TYPE_CHECKING:
        # What all of them have, so that types of models from files say so.
        def predict(self, X: Any, /) -> NDArray[Any]: ...
        def score(self, X: Any, y: Any, /) -> float: ...

    _model: _core.Model
    _has_groups: bool
    _support_rows: Optional[NDArray[np.int64]]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    # Fitting

    def _params(self) -> dict[str, Any]:
        """The parameters of the machine itself."""
        return {name: value for name, value in self.get_params(deep=False).items() if name not in self._own_params}

    def _threads(self) -> int:
        threads = self.get_params(deep=False)["threads"]
        # Any other number is refused with the rest of the parameters.
        return int(threads) if isinstance(threads, (int, np.integer)) and 0 <= threads <= _core.MOST_THREADS else 0

    def _adopt(self: Self, model: _core.Model, names: Optional[list[str]]) -> Self:
        """Takes over a fitted model, and says what the user should know of it."""
        self._model = model
        self.n_features_in_ = model.n_features
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        for text in model.warnings:
            kind = ConvergenceWarning if text.startswith("not converged") else RankwiseWarning
            warn(text, kind)
        return self

    @contextmanager
    def _progress(self) -> Iterator[Tell]:
        """Who is told how far training is: a bar of tqdm, if asked."""
        asked = bool(self.get_params(deep=False).get("verbose"))
        with bar(asked, type(self).__name__, " iterations") as shown:

            def tell(iterations: int, gap: float, tol: float) -> None:
                shown.update(iterations - shown.n)
                shown.set_postfix_str(f"gap {gap:.1e}, until {tol:.0e}")

            yield None if shown is None else tell

    def _end(self, tell: Tell, model: _core.Model) -> None:
        """Says where training ended, beyond what was told on the way."""
        if tell is not None:
            ended = json.loads(model.description())
            gap = float("nan") if ended["gap"] is None else float(ended["gap"])
            tell(int(ended["iterations"]), gap, float(self.get_params(deep=False)["tol"]))

    def _with_support(self, model: _core.Model, items: _core.Items, X: Any) -> _core.Model:
        """Finds the model's support items among those of the fit, and calls them what the rows of ``X`` are called."""
        self._support_rows = model.support_among(items)
        called = _input.row_names(X)
        if self._support_rows is None or called is None:
            return model
        return model.with_support_names([_input.plain_text(called[row]) for row in self._support_rows])

    # Reading data

    def _names(self, X: Any) -> Optional[list[str]]:
        return _input.column_names(X) if _input.is_table(X) else None

    def _items_to_score(self, X: Any) -> _core.Items:
        """Items whose features are those of the fit, in number and by name."""
        self._check_is_fitted()
        if not self._model.is_of_names:
            self._check_names(self._names(X))
        items = _input.named_items(X) if self._model.is_of_names else _input.items(X)
        if items.n_features != self.n_features_in_ and not self._model.is_of_names:
            raise ValueError(
                f"X has {items.n_features} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
            )
        return items

    def _check_names(self, names: Optional[list[str]]) -> None:
        known = getattr(self, "feature_names_in_", None)
        if names is None and known is None:
            return
        kind = type(self).__name__
        if known is None:
            warn(f"X has feature names, but {kind} was fitted without feature names", UserWarning)
        elif names is None:
            warn(f"X does not have valid feature names, but {kind} was fitted with feature names", UserWarning)
        elif list(known) != names:
            missing = [name for name in known if name not in set(names)]
            unseen = [name for name in names if name not in set(known)]
            text = "The feature names should match those that were passed during fit.\n"
            if unseen:
                text += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in unseen[:5])
                text += "- ...\n" if len(unseen) > 5 else ""
            if missing:
                text += "Feature names seen at fit time, yet now missing:\n" + "".join(
                    f"- {name}\n" for name in missing[:5]
                )
                text += "- ...\n" if len(missing) > 5 else ""
            if not missing and not unseen:
                text += "Feature names must be in the same order as they were in fit.\n"
            raise ValueError(text)

    # Fitted attributes

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
            )

    def _fitted(self, attribute: str) -> _core.Model:
        """The model, for an attribute that only fitted estimators have."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"{type(self).__name__} has no attribute {attribute!r} before it is fitted")
        return self._model

    @property
    def report_(self) -> dict[str, Any]:
        """What there is to know of the model: the keys of ``rankwise train --json``."""
        report: dict[str, Any] = json.loads(self._fitted("report_").description())
        return report

    @property
    def n_iter_(self) -> int:
        """Steps of the solver."""
        return int(json.loads(self._fitted("n_iter_").description())["iterations"])

    @property
    def gap_(self) -> float:
        """(primal − dual)/primal at the model: how far from the optimum it is at most. NaN where nobody computed it."""
        gap = json.loads(self._fitted("gap_").description())["gap"]
        return float("nan") if gap is None else float(gap)

    @property
    def objective_(self) -> float:
        """The primal value at the model. NaN where nobody computed it."""
        objective = json.loads(self._fitted("objective_").description())["objective"]
        return float("nan") if objective is None else float(objective)

    def _raw_weights(self, attribute: str) -> tuple[Array, Array]:
        """Weights of features as they come in, a row per machine, and what is added: any scaling is folded in."""
        model = self._fitted(attribute)
        weights, biases = model.weights, model.biases
        if weights is None:
            raise AttributeError(f"{attribute} is only available with kernel='linear'")
        if model.scaling is not None:
            shift, divisor = model.scaling
            weights = weights / divisor
            biases = biases - weights @ shift
        return weights, biases

    def _biases(self, attribute: str) -> Array:
        """What is added to the scores of each machine."""
        model = self._fitted(attribute)
        return model.biases if model.weights is None else self._raw_weights(attribute)[1]

    @property
    def coef_(self) -> Array:
        """Weights of features, of linear machines: scores are ``X @ coef_ + intercept_``, whatever the scaling."""
        weights: Array = self._raw_weights("coef_")[0][0]
        return weights

    @property
    def intercept_(self) -> Any:
        """What is added to all scores."""
        return float(self._biases("intercept_")[0])

    def _support(self, attribute: str) -> tuple[_core.Items, Array]:
        support = self._fitted(attribute).support
        if support is None:
            raise AttributeError(f"{attribute} is only available where a kernel makes scores from items")
        return support

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of the support items, a row per machine."""
        return self._support("dual_coef_")[1]

    @property
    def support_vectors_(self) -> Array:
        """The support items' features."""
        rows = self._support("support_vectors_")[0].to_dense()
        if self._model.scaling is not None:
            shift, divisor = self._model.scaling
            rows = rows * divisor + shift
        return rows

    @property
    def support_(self) -> NDArray[np.int64]:
        """The numbers of the support items among those of the fit; of equal ones the first."""
        self._support("support_")
        found: Optional[NDArray[np.int64]] = self.__dict__.get("_support_rows")
        if found is None:
            raise AttributeError("support_ is only known after fit, not after load")
        return found

    @property
    def support_names_(self) -> NDArray[np.str_]:
        """What the support items are called: names of a table's index that has a name or holds words, or ids of a file."""
        self._support("support_names_")
        names = self._model.support_names
        if names is None:
            raise AttributeError(
                "support_names_ is only known where items have names: give a table whose index has a name or holds words"
            )
        return np.asarray(names, dtype=np.str_)

    # Files

    def save(self, path: Path) -> None:
        """Writes the model file that the command line reads, too."""
        self._check_is_fitted()
        self._model.save(os.fspath(path))

    def export(
        self,
        path: Path,
        to: Optional[str] = None,
        *,
        name: Optional[str] = None,
        store: Optional[str] = None,
        dialect: Optional[str] = None,
        scores: bool = False,
    ) -> None:
        """Writes the model for another program, as ``rankwise export`` does.

        Parameters
        ----------
        path : str or path
            The file to write; it appears complete or not at all.
        to : {'onnx', 'onnx-ml', 'solr', 'elasticsearch', 'opensearch', 'liblinear', 'libsvm', 'sql', 'json'}, optional
            Who is to read it; without it the ending of the file's name tells: ``.onnx``, ``.sql`` or ``.json``.
        name : str, optional
            What a search engine calls the model, or the graph of ONNX.
        store : str, optional
            The feature store of Solr.
        dialect : {'ansi', 'mysql', 'bigquery'}, optional
            How a database wants names quoted.
        scores : bool, default=False
            Scores of items instead of what follows from them: outcomes of pairs, classes, grades (ONNX and SQL).

        Examples
        --------
        >>> from rankwise import RankSVM
        >>> ranker = RankSVM().fit([[0.0], [1.0]], [0, 1])
        >>> ranker.export("ranker.onnx")  # doctest: +SKIP
        >>> ranker.export("ranker.json", to="solr", name="hotels")  # doctest: +SKIP
        """
        self._check_is_fitted()
        self._model.export_to(os.fspath(path), to, name, store, dialect, scores)

    def to_onnx(self, path: Optional[Path] = None, float32: bool = False, scores: bool = False) -> bytes:
        """The bytes of an ONNX file, which ``onnxruntime.InferenceSession`` takes.

        Parameters
        ----------
        path : str or path, optional
            Writes the file, too.
        float32 : bool, default=False
            Numbers in float32 and the operators of ``ai.onnx.ml``, instead of float64 and core operators.
        scores : bool, default=False
            Scores of items instead of outcomes of pairs, classes or grades.
        """
        self._check_is_fitted()
        to = "onnx-ml" if float32 else "onnx"
        if path is not None:
            self.export(path, to, scores=scores)
        return self._model.export(to, scores=scores)

    @only_if(lambda machine: machine._why_no_sql())
    def to_sql(self, dialect: str = "ansi", scores: bool = False) -> str:
        """An expression for a database, of a linear model; NULL where a feature is NULL.

        Rankers and regressions give the score, from columns with the names of features; comparers the outcome -1, 0 or 1 of two rows
        that the query calls "left" and "right"; classifiers of two classes and models of grades the label.

        Parameters
        ----------
        dialect : {'ansi', 'mysql', 'bigquery'}, default='ansi'
            How names are quoted.
        scores : bool, default=False
            The score of a row, whatever the machine.
        """
        self._check_is_fitted()
        return self._model.export("sql", dialect=dialect, scores=scores).decode().rstrip("\n")

    def _why_no_sql(self) -> Optional[str]:
        """Why there is no expression; None where there is one, and before the fit."""
        if self.__sklearn_is_fitted__() and self._model.weights is None:
            return "it is only available with kernel='linear'"
        return None

    @classmethod
    def load(cls: type[Self], path: Path) -> Self:
        """A fitted estimator from a model file, of whichever face of rankwise."""
        return cls._of_model(_core.Model.load(os.fspath(path)), os.fspath(path))

    @classmethod
    def _of_model(cls: type[Self], model: _core.Model, source: str) -> Self:
        if not cls._can_hold(model):
            raise MismatchError(
                f"{source} holds a model of method {model.method}, which is not {cls.__name__}'s; use rankwise.load(path)"
            )
        described = json.loads(model.description())
        described["classes"] = described.get("class_scheme") or "ovo"
        described["variant"] = model.method
        described["threshold"] = described.get("threshold_rule")
        described["probabilities"] = bool(described.get("probabilities"))
        described["calibrate"] = described["probabilities"] and described.get("loss") != "logistic"
        if described.get("C") == "inf":
            described["C"] = float("inf")
        known = set(inspect.signature(cls.__init__).parameters) - {"self"}
        estimator = cls(**{name: value for name, value in described.items() if name in known and value is not None})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator._adopt(model, model.feature_names)
        estimator._has_groups = (described.get("groups") or 1) > 1
        return estimator

    @classmethod
    def _can_hold(cls, model: _core.Model) -> bool:
        return model.method == cls._method

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
