"""Machines that learn labels themselves: grades, classes, values."""

from __future__ import annotations

import json
from typing import Any, Optional, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from . import _core, _input
from ._base import Array, Machine, only_if
from ._rankers import Gamma, Ranker

Classifier = TypeVar("Classifier", bound="SVC")
Regressor = TypeVar("Regressor", bound="SVR")


class OrdinalSVM(Ranker):
    """Support vector ordinal regression (Chu and Keerthi): grades, the distinct labels, between thresholds on one score.

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the sum of the losses.
    kernel, gamma, degree, coef0
        As for :class:`RankSVM`.
    loss : {'hinge', 'squared-hinge'}, default='hinge'
    constraints : {'implicit', 'explicit'}, default='implicit'
        Every item has a say in every threshold, or only in those beside its grade.
    bins : int, optional
        Puts labels into so many bins of about equal weight first, which are then the grades 1, 2, ….
    scale, tol, max_iter, time_limit, cache_mb, threads, seed, verbose
        As for :class:`RankSVM`.

    Attributes
    ----------
    classes_ : array
        The grades.
    thresholds_ : array
        Between neighbouring grades, on the scores of ``decision_function``.
    """

    _method = "ordinal"

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "linear",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        loss: str = "hinge",
        constraints: str = "implicit",
        bins: Optional[int] = None,
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        cache_mb: int = 512,
        threads: int = 0,
        seed: int = 0,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.constraints = constraints
        self.bins = bins
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.verbose = verbose

    def _grades(self, attribute: str) -> tuple[Array, Array]:
        grades = self._fitted(attribute).grades
        assert grades is not None
        return grades

    @property
    def classes_(self) -> Array:
        """The grades, ascending."""
        return self._grades("classes_")[0]

    @property
    def thresholds_(self) -> Array:
        """Between neighbouring grades."""
        return self._grades("thresholds_")[1]

    def predict(self, X: Any) -> Array:
        """The grade of each item."""
        items = self._items_to_score(X)
        return self._model.grade(items, self._threads())

    def decision_function(self, X: Any) -> Array:
        """One score per item; higher is better."""
        items = self._items_to_score(X)
        return self._model.scores(items, self._threads())

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """The share of pairs that scores put in order, over all pairs of items in one group with different labels."""
        return self._pair_accuracy(self.decision_function(X), y, qid, sample_weight)


class SVC(Machine):
    """Support vector classifier of two or more classes.

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the sum of the losses; ``inf`` asks for a hard margin.
    kernel, gamma, degree, coef0, approx
        As for :class:`RankSVM`; the default kernel is linear.
    loss : {'hinge', 'squared-hinge'}, default='hinge'
    classes : {'ovo', 'ovr', 'crammer-singer', 'weston-watkins'}, default='ovo'
        How more than two classes are told apart: a machine for every pair of them, for each against the rest, or one with
        weights for all of them.
    class_weight : dict or 'balanced', optional
        Multiplies the weights of the items of a class.
    probabilities : bool, default=False
        Whether there is ``predict_proba``, fitted to items that were held out.
    scale, tol, max_iter, time_limit, cache_mb, threads, seed, verbose
        As for :class:`RankSVM`.

    Attributes
    ----------
    classes_ : array
        The classes, in order.
    coef_ : array of shape (n_machines, n_features)
    intercept_ : array of shape (n_machines,)
        Signs, shapes and order are those of ``sklearn.svm.SVC``.
    support_, dual_coef_, support_vectors_, n_support_ : arrays
        The items that scores are made of (kernels), class by class, as in ``sklearn.svm.SVC``. With approx these are the landmarks.
    """

    _method = "classify"
    classes_: NDArray[Any]
    #: Where support items stand in the model, class by class, their classes, and which items of the fit they are.
    _support_classes: Optional[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]]

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "linear",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        approx: Optional[str] = None,
        loss: str = "hinge",
        classes: str = "ovo",
        class_weight: Union[dict[Any, float], str, None] = None,
        probabilities: bool = False,
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        cache_mb: int = 512,
        threads: int = 0,
        seed: int = 0,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approx = approx
        self.loss = loss
        self.classes = classes
        self.class_weight = class_weight
        self.probabilities = probabilities
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.verbose = verbose

    def fit(self: Classifier, X: Any, y: Any, sample_weight: Any = None, margin: Any = None) -> Classifier:
        """Learns from items of classes; classes may be numbers, words or truth values.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_items, n_features)
        y : array of shape (n_items,)
        sample_weight : array of shape (n_items,), optional
        margin : array of shape (n_items,), optional
            The margin that each item should have, instead of 1.
        """
        names = self._names(X)
        items = _input.items(X)
        n = items.n_items
        if y is None:
            raise ValueError("SVC requires y to be passed, but the target y is None: classes are needed")
        labels = _input.vector(y, n, "y")
        _check_classes(labels)
        weights = _input.weights(sample_weight, n)
        margins = None if margin is None else _input.reals(margin, n, "margin")
        classes, numbers = np.unique(labels, return_inverse=True)
        present = np.unique(numbers if weights is None else numbers[weights > 0])
        if len(present) < 2:
            raise ValueError(
                f"y has one class only ({classes[present[0]]!r}), where SVC needs at least two classes (items of weight 0 do not count)"
            )
        params = self._params()
        if isinstance(self.class_weight, dict):
            unknown = [label for label in self.class_weight if label not in classes]
            if unknown:
                raise ValueError(
                    f"class_weight names {unknown[0]!r}, which is no class of y; there are {list(classes)[:10]}"
                )
            params["class_weight"] = [(class_name(label), float(w)) for label, w in self.class_weight.items()]
        called = [class_name(label) for label in classes]
        with self._progress() as tell:
            model = _core.fit_classes(
                params, items, numbers.astype(np.uint32).ravel(), called, weights, margins, self._threads(), tell
            )
            self._end(tell, model)
        return self._adopt(self._adopt_classes(model, items, X, classes, numbers, weights), names)

    @classmethod
    def _of_model(cls: type[Classifier], model: _core.Model, source: str) -> Classifier:
        estimator = super()._of_model(model, source)
        estimator.classes_ = _labels_of_names(model.classes or [])
        return estimator

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each item."""
        items = self._items_to_score(X)
        return self.classes_[self._model.classify(items, self._threads())[0]]

    def decision_function(self, X: Any) -> Array:
        """Of two classes one score per item, above 0 for the second; of more, a score per class, the largest of which wins.

        With probabilities, classes are those that are most probable, and scores of more than two classes are their logarithms.
        """
        items = self._items_to_score(X)
        if len(self.classes_) == 2:
            return self._model.machine_scores(items, self._threads())[:, 0]
        _, scores, chances = self._model.classify(items, self._threads())
        return scores if chances is None else np.log(np.maximum(chances, np.finfo(float).tiny))

    @only_if(lambda classifier: None if classifier.probabilities else "fit with probabilities=True")
    def predict_proba(self, X: Any) -> Array:
        """A probability per item and class. Only with ``probabilities=True``."""
        items = self._items_to_score(X)
        chances = self._model.classify(items, self._threads())[2]
        if chances is None:
            raise ValueError("the model was fitted without probabilities: fit it again with probabilities=True")
        return chances

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of items whose class is predicted right."""
        predicted = self.predict(X)
        labels = _input.vector(y, len(predicted), "y")
        return float(np.average(predicted == labels, weights=_input.weights(sample_weight, len(predicted))))

    def _towards_first(self, attribute: str) -> bool:
        """Whether machines of pairs of classes are told with the first class of a pair on the positive side, as scikit-learn does."""
        self._fitted(attribute)
        return len(self.classes_) > 2 and self.report_["class_scheme"] == "ovo"

    @property
    def coef_(self) -> Array:
        """Weights of features, a row per machine (linear). Of two classes they point to the second; with classes='ovo' of more there
        is a row for each pair of classes, (0, 1), (0, 2), …, (1, 2), …, that points to the first of them."""
        weights = self._raw_weights("coef_")[0]
        return -weights if self._towards_first("coef_") else weights

    @property
    def intercept_(self) -> Array:
        """What each machine adds to its scores."""
        biases = self._biases("intercept_")
        return -biases if self._towards_first("intercept_") else biases

    def _adopt_classes(
        self,
        model: _core.Model,
        items: _core.Items,
        X: Any,
        classes: NDArray[Any],
        numbers: NDArray[Any],
        weights: Optional[Array],
    ) -> _core.Model:
        """Keeps the classes that the model has, and which items of which class its support items are."""
        model = self._with_support(model, items, X)
        kept = np.arange(len(classes))
        if len(model.classes or []) < len(classes):  # those whose items all weigh nothing are left out
            number = {class_name(label): number for number, label in enumerate(classes)}
            kept = np.array([number[name] for name in model.classes or []])
        self.classes_ = classes[kept]
        self._support_classes = None
        if self._support_rows is None:
            return model
        number_of = np.full(len(classes), -1)
        number_of[kept] = np.arange(len(kept))
        of_rows = number_of[numbers.ravel()]

        # Of equal items the first may weigh nothing, or be of another class.
        def first_of(are_meant: NDArray[np.bool_]) -> NDArray[np.int64]:
            order = np.argsort(~are_meant, kind="stable")
            found = model.support_among(_core.Items.dense(items.to_dense()[order], items.names))
            assert found is not None
            return order[found]

        count = np.full(len(of_rows), True) if weights is None else weights > 0
        first = self._support_rows if count[self._support_rows].all() else first_of(count)
        places, owners = _class_by_class(model, of_rows[first])
        assert owners is not None
        rows = first[places]
        for owner in np.unique(owners[of_rows[rows] != owners]):
            mine = owners == owner
            rows[mine] = first_of((of_rows == owner) & count)[places[mine]]
        self._support_classes = places, owners, rows
        return model

    def _support_by_class(self, attribute: str) -> tuple[NDArray[np.intp], Optional[NDArray[np.intp]]]:
        """The places of support items in the model, class by class, and their classes; None where these are not known.

        A copy of an item in another class is an item of its own there, though the model keeps one for both.
        """
        self._support(attribute)
        kept = self.__dict__.get("_support_classes")
        return kept[:2] if kept is not None else _class_by_class(self._model, None)

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of the support items, class by class. Of two classes one row; with classes='ovo' of more, a row for each other
        class, in order: that of the machine that tells the item's class from it. With classes='ovr' and with approx, a row per machine;
        class by class after fit, and not after load."""
        places, classes = self._support_by_class("dual_coef_")
        machines = self._support("dual_coef_")[1][:, places]
        if not self._towards_first("dual_coef_"):
            return machines
        if not _tell_classes(self._model):
            return -machines
        n = len(self.classes_)
        own = np.zeros((n - 1, len(places)))
        for machine, (i, j) in zip(-machines, _pairs_of_classes(n)):
            # Against another class an item of class i is on the positive side, one of class j on the negative.
            own[j - 1, classes == i] = np.maximum(machine[classes == i], 0.0)
            own[i, classes == j] = np.minimum(machine[classes == j], 0.0)
        return own

    @property
    def support_vectors_(self) -> Array:
        """The support items' features, class by class; with classes='ovr' or approx after fit alone, and not after load."""
        vectors: Array = super().support_vectors_[self._support_by_class("support_vectors_")[0]]
        return vectors

    @property
    def support_(self) -> NDArray[np.int64]:
        """The numbers of the support items among those of the fit, class by class; of equal ones of a class the first."""
        rows = super().support_
        places = self._support_by_class("support_")[0]
        kept = self.__dict__.get("_support_classes")
        return rows[places] if kept is None else kept[2].copy()

    @property
    def support_names_(self) -> NDArray[np.str_]:
        """What the support items are called, of equal ones the first, in the order of ``support_vectors_``."""
        return super().support_names_[self._support_by_class("support_names_")[0]]

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """How many support items each class has. With classes='ovr' or approx after fit alone: files do not hold it."""
        classes = self._support_by_class("n_support_")[1]
        if classes is None:
            raise AttributeError(
                "n_support_ is only known after fit, not after load: with classes='ovr' and with approx the file does not say of which "
                "classes support items are"
            )
        return np.bincount(classes[classes >= 0], minlength=len(self.classes_)).astype(np.int32)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        return tags


def _tell_classes(model: _core.Model) -> bool:
    """Whether signs of coefficients tell the classes of support items."""
    report = json.loads(model.description())
    return report.get("approx") is None and (len(model.classes or []) == 2 or report["class_scheme"] == "ovo")


def _pairs_of_classes(n: int) -> zip[tuple[int, int]]:
    return zip(*(side.tolist() for side in np.triu_indices(n, 1)))


def _class_by_class(
    model: _core.Model, of_items: Optional[NDArray[np.intp]]
) -> tuple[NDArray[np.intp], Optional[NDArray[np.intp]]]:
    """The places of support items in the model, class by class, and these classes: by coefficients, or else as they are known of items.

    Landmarks of a class that was left out have the class -1, and come last.
    """
    assert model.support is not None
    coefficients = model.support[1]
    n = len(model.classes or [])
    if _tell_classes(model):
        of_class = np.zeros((n, coefficients.shape[1]), dtype=bool)
        # A machine is positive for the second of its classes.
        for machine, (i, j) in zip(coefficients, _pairs_of_classes(n)):
            of_class[i] |= machine < 0
            of_class[j] |= machine > 0
        classes, places = np.nonzero(of_class)
        return places, classes
    if of_items is None:
        return np.arange(coefficients.shape[1]), None
    classes = of_items
    if json.loads(model.description()).get("approx") is None:
        # Against the rest an item is positive in the machine of its own class, or not in it.
        classes = np.where((coefficients > 0).any(axis=0), coefficients.argmax(axis=0), classes)
    places = np.argsort(np.where(classes < 0, n, classes), kind="stable")
    return places, classes[places]


def _check_classes(labels: NDArray[Any]) -> None:
    if labels.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(labels))
        if bad.size:
            raise ValueError(f"Input y contains NaN or infinity (in row {bad[0]}): every item needs a class")
        if (labels != np.floor(labels)).any():
            raise ValueError(
                "Unknown label type: continuous. y has numbers with fractions, which are values rather than classes: use SVR, or "
                "turn y into classes"
            )
    if labels.dtype.kind in "mMV":
        raise ValueError(f"y has elements of type {labels.dtype}: classes are numbers, words or truth values")
    if labels.dtype.kind == "O":
        missing = [row for row, label in enumerate(labels) if _input.is_missing(label)]
        if missing:
            raise ValueError(f"Input y contains NaN or None (in row {missing[0]}): every item needs a class")
        if len({type(label) for label in labels} & {str, bytes}) and not all(
            isinstance(label, (str, bytes)) for label in labels
        ):
            raise TypeError("y mixes text and numbers: make all classes text, or all numbers")


def class_name(label: Any) -> str:
    """What a class is called in a model file: 1, 1.0 and True have the names that the command line gives them."""
    if isinstance(label, (bool, np.bool_)):
        return str(bool(label))
    if isinstance(label, (float, np.floating)) and float(label).is_integer() and abs(float(label)) < 2**53:
        return str(int(label))
    return _input.plain_text(label)


def _labels_of_names(names: list[str]) -> NDArray[Any]:
    """Classes of a file: names that are all plain numbers are numbers, as on the command line."""
    if names == ["False", "True"]:
        return np.array([False, True])
    for kind in (int, float):
        try:
            labels = np.array([kind(name) for name in names])
        except (ValueError, OverflowError):
            continue
        if np.isfinite(labels).all() and [class_name(label) for label in labels.tolist()] == names:
            return labels
    return np.array(names)


class SVR(Machine):
    """Support vector regression within a tube: ``½‖w‖² + C·Σ c·max(0, |y − f(x)| − ε)``.

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the sum of the losses; ``inf`` asks for a hard tube.
    kernel, gamma, degree, coef0, approx
        As for :class:`RankSVM`; the default kernel is linear.
    loss : {'epsilon', 'squared-epsilon'}, default='epsilon'
    epsilon : float, default=0.1
        How far from a label a value may be without loss.
    scale, tol, max_iter, time_limit, cache_mb, threads, seed, verbose
        As for :class:`RankSVM`.
    """

    _method = "regress"

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "linear",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        approx: Optional[str] = None,
        loss: str = "epsilon",
        epsilon: float = 0.1,
        scale: str = "none",
        tol: float = 1e-3,
        max_iter: Optional[int] = None,
        time_limit: Optional[float] = None,
        cache_mb: int = 512,
        threads: int = 0,
        seed: int = 0,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approx = approx
        self.loss = loss
        self.epsilon = epsilon
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.verbose = verbose

    def fit(self: Regressor, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """Learns from items with values."""
        names = self._names(X)
        items = _input.items(X)
        if y is None:
            raise ValueError("SVR requires y to be passed, but the target y is None: values are needed")
        values = _input.labels(y, items.n_items)
        weights = _input.weights(sample_weight, items.n_items)
        with self._progress() as tell:
            model = _core.fit_items(
                self._method, self._params(), items, values, None, weights, None, None, self._threads(), tell
            )
            self._end(tell, model)
        model = self._with_support(model, items, X)
        return self._adopt(model, names)

    def predict(self, X: Any) -> Array:
        """The value of each item."""
        items = self._items_to_score(X)
        return self._model.scores(items, self._threads())

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², the share of the variance of y that is explained."""
        predicted = self.predict(X)
        values = _input.labels(y, len(predicted))
        weights = _input.weights(sample_weight, len(predicted))
        mean = np.average(values, weights=weights)
        left = np.average((values - predicted) ** 2, weights=weights)
        all_of_it = np.average((values - mean) ** 2, weights=weights)
        if all_of_it == 0.0:
            return 1.0 if left == 0.0 else 0.0
        return float(1.0 - left / all_of_it)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags()
        tags.target_tags.required = True
        return tags
