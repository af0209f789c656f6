"""Comparers: pairs of items that were judged left better, no difference, or right better."""

from __future__ import annotations

from typing import Optional

from . import _core
from ._comparer import Comparer, Preprocessor
from ._rankers import Gamma


class CompareSVM(Comparer):
    """The support vector comparison machine, which learns from ties.

    With z the lead of the better side: ½‖u‖² + C·[Σ_non-ties c·ℓ(1 − β − z) + Σ_ties c·(ℓ(1 + β + z) + ℓ(1 + β − z))].

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the sum of the losses of pairs; ``inf`` asks for a hard margin.
    kernel, gamma, degree, coef0, approx
        As for :class:`RankSVM`.
    loss : {'squared-hinge', 'hinge', 'logistic'}, default='squared-hinge'
        'logistic' is the model of Rao and Kupper, which has probabilities.
    threshold : {'refit', 'model'}, default='refit'
        Chooses the difference that does not matter by its error, or keeps the machine's own.
    tie_region : {'free', 'always'}, default='free'
        'always' forbids the answer that there are no ties.
    tie_band : {'constant', 'pair'}, default='constant'
        'pair' lets the difference that does not matter depend on the pair.
    tie_weight : float, default=1.0
        Multiplies the weights of ties.
    balance : {'none', 'outcomes'}, default='none'
        'outcomes' makes the non-ties weigh twice the ties.
    calibrate : bool, default=False
        Probabilities, fitted to margins of pairs that were held out.
    preprocessor : array, sparse matrix, table or function, optional
        Features of the items, where pairs are item numbers.
    unknown : {'error', 'nan', 'average'}, default='error'
        What to do with names that training has not seen, where items have names alone: refuse them, predict nan (``score`` and the
        metrics leave such pairs out, and say how many), or take them for an item whose score is the mean of all that are known.
    scale, tol, max_iter, time_limit, cache_mb, threads, seed, verbose
        As for :class:`RankSVM`.

    Attributes
    ----------
    threshold_, beta_ : float
        The difference that does not matter; β.
    coef_, support_, dual_coef_, support_vectors_, n_iter_, gap_, objective_, report_
        As for :class:`RankSVM`.

    Examples
    --------
    >>> from rankwise import CompareSVM
    >>> from rankwise.datasets import simulate_pairs
    >>> pairs, y = simulate_pairs(n_pairs=400, seed=1)
    >>> comparer = CompareSVM(C=10, kernel="rbf", gamma=0.5).fit(pairs, y)
    >>> new, outcomes = simulate_pairs(n_pairs=400, seed=2)
    >>> comparer.score(new, outcomes) > 0.8
    True
    """

    _method = "compare"

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "linear",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        approx: Optional[str] = None,
        loss: str = "squared-hinge",
        threshold: str = "refit",
        tie_region: str = "free",
        tie_band: str = "constant",
        tie_weight: float = 1.0,
        balance: str = "none",
        calibrate: bool = False,
        preprocessor: Preprocessor = None,
        unknown: str = "error",
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
        self.threshold = threshold
        self.tie_region = tie_region
        self.tie_band = tie_band
        self.tie_weight = tie_weight
        self.balance = balance
        self.calibrate = calibrate
        self.preprocessor = preprocessor
        self.unknown = unknown
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.verbose = verbose

    def _why_no_chances(self) -> Optional[str]:
        return None if self.calibrate or self.loss == "logistic" else "choose loss='logistic' or calibrate=True"


class CompareRank(Comparer):
    """Ranking SVM on pairs, then the threshold of the least error: the baselines of :class:`CompareSVM`.

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the sum of the losses of pairs.
    variant : {'rank', 'rank2'}, default='rank'
        'rank' learns from the non-ties alone; 'rank2' takes each tie as two opposite pairs.
    kernel, gamma, degree, coef0, approx, loss, tie_weight, calibrate, preprocessor, unknown
        As for :class:`CompareSVM`.
    scale, tol, max_iter, time_limit, cache_mb, threads, seed, verbose
        As for :class:`RankSVM`.
    """

    _method = "compare-rank"

    def __init__(
        self,
        C: float = 1.0,
        *,
        variant: str = "rank",
        kernel: str = "linear",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        approx: Optional[str] = None,
        loss: str = "squared-hinge",
        tie_weight: float = 1.0,
        calibrate: bool = False,
        preprocessor: Preprocessor = None,
        unknown: str = "error",
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
        self.variant = variant
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approx = approx
        self.loss = loss
        self.tie_weight = tie_weight
        self.calibrate = calibrate
        self.preprocessor = preprocessor
        self.unknown = unknown
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.verbose = verbose

    def _why_no_chances(self) -> Optional[str]:
        return None if self.calibrate else "choose calibrate=True"

    @classmethod
    def _can_hold(cls, model: _core.Model) -> bool:
        return model.method in ("rank", "rank2") and model.is_of_pairs


class CompareLP(Comparer):
    """The comparison machine as a linear program: without slack a test whether pairs are linearly separable, with slack a comparer
    of few features or items.

    Parameters
    ----------
    C : float, default=inf
        Multiplies the sum of the losses of pairs. ``inf``: no losses; if pairs are not separable, ``fit`` raises
        :class:`rankwise.exceptions.NotSeparableError`, which is proven.
    kernel, gamma, degree, coef0, tie_weight, preprocessor, unknown
        As for :class:`CompareSVM`.
    scale, tol, max_iter, time_limit, cache_mb, threads, seed, verbose
        As for :class:`RankSVM`.
    """

    _method = "compare-lp"

    def __init__(
        self,
        C: float = float("inf"),
        *,
        kernel: str = "linear",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tie_weight: float = 1.0,
        preprocessor: Preprocessor = None,
        unknown: str = "error",
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
        self.tie_weight = tie_weight
        self.preprocessor = preprocessor
        self.unknown = unknown
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.verbose = verbose


class Davidson(Comparer):
    """Davidson's model: P(left) : P(tie) : P(right) = e^(r_left) : ν·e^((r_left + r_right)/2) : e^(r_right), r learnt from features.

    Parameters
    ----------
    C : float, default=1.0
        Multiplies the sum of the negative log-likelihoods.
    kernel, gamma, degree, coef0, approx, tie_band, preprocessor, unknown
        As for :class:`CompareSVM`.
    scale, tol, max_iter, time_limit, cache_mb, threads, seed, verbose
        As for :class:`RankSVM`.
    """

    _method = "davidson"

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "linear",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        approx: Optional[str] = None,
        tie_band: str = "constant",
        preprocessor: Preprocessor = None,
        unknown: str = "error",
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
        self.tie_band = tie_band
        self.preprocessor = preprocessor
        self.unknown = unknown
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_mb = cache_mb
        self.threads = threads
        self.seed = seed
        self.verbose = verbose

    def _why_no_chances(self) -> Optional[str]:
        return None
