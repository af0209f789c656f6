"""What goes in: every kind of array and table, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import rankwise
from rankwise import SVC, SVR, CompareSVM, OrdinalSVM, RankSVM, _core, _input, metrics, rate
from rankwise.exceptions import ParameterError


def same(X, ranking, **fit):
    """Whether a fit on X is that on the plain array."""
    plain, y, qid = ranking
    expected = RankSVM(C=0.1).fit(plain, y, qid=qid)
    found = RankSVM(C=0.1).fit(X, y, qid=qid)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
    np.testing.assert_allclose(found.predict(X), expected.predict(plain), rtol=1e-9, atol=1e-12)
    return found


def test_arrays_of_every_layout(ranking):
    X = ranking[0]
    wide = np.zeros((300, 8))
    wide[:, ::2] = X
    for view in (np.asfortranarray(X), wide[:, ::2], X.tolist(), X[::-1][::-1], np.ascontiguousarray(X.T).T):
        same(view, ranking)
    whole = np.round(X * 10)
    for kind in (np.int8, np.int64, np.uint16, object, np.float16):
        data = np.abs(whole) if kind is np.uint16 else whole
        same(data.astype(kind), (data.astype(float), *ranking[1:]))
    readonly = X.copy()
    readonly.setflags(write=False)
    same(readonly, ranking)
    odd = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not odd.flags.aligned
    same(odd, ranking)
    same(X.astype(X.dtype.newbyteorder()), ranking)


def test_precision_is_kept(ranking):
    X = ranking[0]
    assert _input.items(X.astype(np.float32)).is_f32 and not _input.items(X).is_f32
    single = RankSVM(C=0.1).fit(X.astype(np.float32), *ranking[1:])
    np.testing.assert_allclose(single.coef_, RankSVM(C=0.1).fit(X, *ranking[1:]).coef_, rtol=1e-3)


def test_sparse_matrices_of_every_kind(ranking):
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    X, y, qid = ranking
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    data = (X, y, qid)
    rows = sparse.csr_matrix(X)
    for matrix in (rows, sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_matrix(X), sparse.lil_matrix(X)):
        same(matrix, data)
    for index in (np.int32, np.int64):
        matrix = sparse.csr_matrix(X)
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        same(matrix, data)
    shuffled = sparse.csr_matrix(
        (rows.data[::-1].copy(), rows.indices[::-1].copy(), (rows.nnz - rows.indptr[::-1]).astype(np.int32)),
        shape=rows.shape,
    )
    assert not shuffled.has_sorted_indices
    before = shuffled.indices.copy()
    same(shuffled, (X[::-1], y, qid))
    np.testing.assert_array_equal(shuffled.indices, before)  # the caller's matrix stays as it was
    wrong = sparse.csr_matrix(X)
    wrong.indices[0] = 77
    with pytest.raises((ValueError, IndexError)):
        RankSVM().fit(wrong, y)
    single = sparse.csr_matrix(X.astype(np.float32))
    assert _input.items(single).is_f32


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_go_in_by_name(ranking, library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    X, y, qid = ranking
    columns = {name: X[:, k] for k, name in enumerate(["price", "stars", "distance", "reviews"])}
    table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    found = same(table, ranking)
    assert found.feature_names_in_.tolist() == list(columns)
    names = list(columns)[::-1]
    other = table.select(names) if library != "pandas" else table[names]
    with pytest.raises(ValueError, match="same order"):
        found.predict(other)
    with pytest.warns(UserWarning, match="valid feature names"):
        found.predict(X)
    mixed = {
        "whole": np.arange(300),
        "small": np.arange(300, dtype=np.uint8),
        "truth": X[:, 0] > 0,
        "single": X[:, 1].astype(np.float32),
    }
    table = module.table(mixed) if library == "pyarrow" else module.DataFrame(mixed)
    rows = np.column_stack([np.asarray(column, dtype=float) for column in mixed.values()])
    np.testing.assert_array_equal(_input.items(table).to_dense(), rows)
    singles = {name: column.astype(np.float32) for name, column in columns.items()}
    table = module.table(singles) if library == "pyarrow" else module.DataFrame(singles)
    assert _input.items(table).is_f32


@pytest.mark.parametrize("library", ["polars", "pyarrow", "pandas"])
def test_faults_of_tables_name_the_column(library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    make = module.table if library == "pyarrow" else module.DataFrame
    with pytest.raises((ValueError, TypeError), match="name"):
        RankSVM().fit(make({"price": [1.0, 2.0, 3.0], "name": ["a", "b", "c"]}), [1, 2, 3])
    if library != "pandas":
        with pytest.raises(ValueError, match="price.*row 1"):
            RankSVM().fit(make({"price": [1.0, None, 3.0], "stars": [1.0, 2.0, 3.0]}), [1, 2, 3])


def test_chunks_of_a_table_are_one_table():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parts = [pa.table({"a": np.arange(k, k + 700.0), "b": np.arange(700)}) for k in (0, 700, 1400)]
    rows = _input.items(pa.concat_tables(parts)).to_dense()
    np.testing.assert_array_equal(rows, np.column_stack([np.arange(2100.0), np.tile(np.arange(700.0), 3)]))
    sliced = _input.items(pa.concat_tables(parts).slice(650, 900)).to_dense()
    np.testing.assert_array_equal(sliced, rows[650:1550])


def test_an_index_of_pandas_is_no_feature(ranking):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}, index=pd.Index(["x", "y"], name="id"))
    items = _input.items(frame)
    assert items.n_features == 2 and items.names == ["a", "b"]
    # One block of rows is not copied.
    block = np.ascontiguousarray(np.random.default_rng(0).normal(size=(50, 3)))
    same(pd.DataFrame(ranking[0], columns=list("abcd")), ranking)
    assert _input.items(pd.DataFrame(block, columns=list("abc"), copy=False)).n_items == 50


X3 = np.arange(12.0).reshape(6, 2)
Y3 = np.array([0, 1, 2, 0, 1, 2])
NAN = X3.copy()
NAN[2, 1] = np.nan
INF = X3.astype(np.float32)
INF[0, 0] = np.inf
REFUSED = [
    (lambda: RankSVM().fit(X3[:, 0], Y3), "2D"),
    (lambda: RankSVM().fit(X3[None], Y3), "dim"),
    (lambda: RankSVM().fit(5.0, Y3), "X"),
    (lambda: RankSVM().fit(X3[:0], Y3[:0]), "X"),
    (lambda: RankSVM().fit(X3[:, :0], Y3), "X"),
    (lambda: RankSVM().fit(NAN, Y3), "X.*NaN|NaN.*X|X = NaN"),
    (lambda: RankSVM().fit(INF, Y3), "X.*inf"),
    (lambda: RankSVM().fit(X3 + 1j, Y3), "X"),
    (lambda: RankSVM().fit(np.array([["a", "b"]] * 6), Y3), "X"),
    (lambda: RankSVM().fit(np.array([[{}, 1]] * 6, dtype=object), Y3), "X"),
    (lambda: RankSVM().fit(X3, Y3[:-1]), "y"),
    (lambda: RankSVM().fit(X3, [0, 1, np.nan, 0, 1, 2]), "y.*NaN"),
    (lambda: RankSVM().fit(X3, list("abcdef")), "y"),
    (lambda: RankSVM().fit(X3, None), "y"),
    (lambda: RankSVM().fit(X3, np.zeros((6, 2))), "y"),
    (lambda: RankSVM().fit(X3, Y3, qid=[1, 2, 3]), "qid"),
    (lambda: RankSVM().fit(X3, Y3, qid=[3, 3]), "qid.*sizes"),
    (lambda: RankSVM().fit(X3, Y3, qid=[1, 2, None, 1, 2, 3]), "qid"),
    (lambda: RankSVM().fit(X3, Y3, qid=[1, 2, np.nan, 1, 2, 3]), "qid"),
    (lambda: RankSVM().fit(X3, Y3, sample_weight=[1, 1, -1, 1, 1, 1]), "sample_weight"),
    (lambda: RankSVM().fit(X3, Y3, sample_weight=[1, 1]), "sample_weight"),
    (lambda: RankSVM().fit(X3, Y3, sample_weight=[1, 1, np.nan, 1, 1, 1]), "sample_weight"),
    (lambda: RankSVM().fit(X3, Y3, sample_weight=np.zeros(6)), "sample_weight"),
    (lambda: RankSVM().fit(X3, np.ones(6)), "labels"),
    (lambda: RankSVM(C=-1).fit(X3, Y3), "C"),
    (lambda: RankSVM(C="1").fit(X3, Y3), "C"),
    (lambda: RankSVM(C=None).fit(X3, Y3), "C"),
    (lambda: RankSVM(tol=0).fit(X3, Y3), "tol"),
    (lambda: RankSVM(kernel="rfb").fit(X3, Y3), "kernel.*linear"),
    (lambda: RankSVM(loss="squared_hinge").fit(X3, Y3), "loss.*squared-hinge"),
    (lambda: RankSVM(gamma="auto", kernel="rbf").fit(X3, Y3), "gamma"),
    (lambda: RankSVM(max_iter=-5).fit(X3, Y3), "max_iter"),
    (lambda: RankSVM(max_iter=1.5).fit(X3, Y3), "max_iter"),
    (lambda: RankSVM(threads=-1).fit(X3, Y3), "threads"),
    (lambda: RankSVM(threads=10**9).fit(X3, Y3), "threads"),
    (lambda: RankSVM(seed=-1).fit(X3, Y3), "seed"),
    (lambda: RankSVM(time_limit=-1).fit(X3, Y3), "time_limit"),
    (lambda: RankSVM(cache_mb=10**12).fit(X3, Y3), "cache_mb"),
    (lambda: RankSVM(approx="nystrom").fit(X3, Y3), "approx"),
    (lambda: RankSVM(degree=1000, kernel="poly").fit(X3, Y3), "degree"),
    (lambda: RankSVM(C=np.inf, kernel="rbf").fit(X3, Y3), "kernel"),
    (lambda: SVC().fit(X3, np.ones(6)), "class"),
    (lambda: SVC().fit(X3, [0, 1, 0, 1, 0, 0.5]), "y"),
    (lambda: SVC().fit(X3, [0, 1, 0, 1, 0, None]), "y"),
    (lambda: SVC(class_weight={9: 1.0}).fit(X3, Y3), "class_weight"),
    (lambda: SVC(class_weight="even").fit(X3, Y3), "class_weight"),
    (lambda: SVC(classes="all").fit(X3, Y3), "classes"),
    (lambda: SVR(epsilon=-1).fit(X3, Y3), "epsilon"),
    (lambda: OrdinalSVM(bins=1).fit(X3, Y3), "bins"),
    (lambda: OrdinalSVM().fit(X3, np.zeros(6)), "grade|label"),
    (lambda: CompareSVM().fit(X3, Y3), "pairs.*preprocessor"),
    (lambda: CompareSVM().fit(X3.reshape(2, 3, 2), [0, 1]), "pairs"),
    (lambda: CompareSVM().fit(X3.reshape(3, 2, 2), [0, 1]), "y"),
    (lambda: CompareSVM().fit(X3.reshape(3, 2, 2), [0, 1, 2]), "y.*row 2"),
    (lambda: CompareSVM().fit(X3.reshape(3, 2, 2), None), "y"),
    (lambda: CompareSVM().fit(NAN.reshape(3, 2, 2), [0, 1, -1]), "pairs"),
    (lambda: CompareSVM().fit(np.empty((0, 2, 2)), []), "pairs"),
    (lambda: CompareSVM(preprocessor=X3).fit([[0, 1], [2, 6]], [0, 1]), r"pairs.*row 1"),
    (lambda: CompareSVM(preprocessor=X3).fit([[0, 1], [2, -1]], [0, 1]), r"pairs.*row 1"),
    (lambda: CompareSVM(preprocessor=X3).fit([[0.5, 1], [2, 1]], [0, 1]), "pairs"),
    (lambda: CompareSVM(preprocessor=lambda k: X3[:1]).fit([[0, 1], [2, 1]], [0, 1]), "preprocessor"),
    (lambda: CompareSVM(tie_weight=-1).fit(X3.reshape(3, 2, 2), [0, 1, -1]), "tie_weight"),
    (lambda: CompareSVM(threshold=1.0).fit(X3.reshape(3, 2, 2), [0, 1, -1]), "threshold"),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(REFUSED)))
def test_bad_input_is_a_value_error_that_names_the_argument(at):
    fit, match = REFUSED[at]
    with pytest.raises((ValueError, TypeError), match=f"(?s){match}") as caught:
        fit()
    if at not in (9,):  # objects that are no numbers at all
        assert isinstance(caught.value, ValueError), repr(caught.value)
    assert "--" not in str(caught.value)


def masked(values):
    array = np.ma.array(values, dtype=float)
    array[2] = np.ma.masked
    return array


MISSING = [
    (lambda: RankSVM().fit(masked(X3), Y3), "X.*masked"),
    (lambda: RankSVM().fit(X3, masked(Y3)), "y.*masked"),
    (lambda: RankSVM().fit(X3, Y3, qid=masked(Y3)), "qid.*masked"),
    (lambda: RankSVM().fit(X3, Y3, sample_weight=masked(Y3 + 1)), "sample_weight.*masked"),
    (lambda: SVC().fit(X3, masked(Y3)), "y.*masked"),
    (lambda: CompareSVM().fit(masked(X3).reshape(3, 2, 2), [0, 1, -1]), "pairs.*masked"),
    (lambda: rankwise.metrics.pair_accuracy(masked(Y3), Y3), "y.*masked"),
    (lambda: RankSVM().fit(X3, np.array(["2020", "NaT"] * 3, "M8[D]")), "y.*datetime"),
    (lambda: SVC().fit(X3, np.array(["2020", "NaT"] * 3, "M8[D]")), "y.*datetime"),
    (lambda: RankSVM().fit(X3, Y3, qid=[[1]] * 3 + [["a", 2]] * 3), "qid"),
    (lambda: RankSVM().fit(X3, Y3, qid=np.array([{}, {}, 1, 2, 3, 4], dtype=object)), "qid.*row 0"),
    (lambda: CompareSVM().fit(NAN.reshape(3, 2, 2), [0, 1, -1]), "pairs has nan at pair 1, left side, feature 1"),
    (lambda: CompareSVM().fit(X3.reshape(3, 2, 2), [0, 1, -1], context=NAN[:3]), "context"),
    (lambda: CompareSVM(preprocessor=NAN).fit([[0, 1], [1, 2]], [0, 1]), "preprocessor"),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(MISSING)))
def test_what_is_missing_is_said_and_never_made_up(at):
    fit, match = MISSING[at]
    with pytest.raises(ValueError, match=f"(?s){match}"):
        fit()


def test_groups_that_print_alike_are_not_one():
    numbers = _input.groups([1, "1", 1, "1"], 4).numbers
    np.testing.assert_array_equal(numbers, [0, 1, 0, 1])
    assert len(_input.groups(["\ud800", "a", "a", "b"], 4)) == 3


def test_odd_columns_of_tables_are_refused_by_name():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pl = pytest.importorskip("polars", reason="polars is not installed")
    for column in (
        pd.period_range("2020", periods=3, freq="M"), [1j, 2j, 3j], pd.Categorical(["a", "b", "a"]), pd.to_datetime(["2020", "2021", "2022"]), ["x", "y", "z"],
    ):  # fmt: skip
        with pytest.raises(ValueError, match="odd"):
            RankSVM().fit(pd.DataFrame({"fine": [1.0, 2.0, 3.0], "odd": column}), [1, 2, 3])
    with pytest.raises(ValueError, match="X"):
        RankSVM().fit(pl.DataFrame({"fine": [1.0, 2.0, 3.0], "odd": [None, None, None]}), [1, 2, 3])
    twice = pd.DataFrame(np.ones((3, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match="two columns.*'a'"):
        RankSVM().fit(twice, [1, 2, 3])
    lazy = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 0.0, 2.0]}).lazy()
    np.testing.assert_array_equal(RankSVM().fit(lazy, [1, 2, 3]).coef_, RankSVM().fit(lazy.collect(), [1, 2, 3]).coef_)
    nullable = pd.DataFrame(
        {"a": pd.array([1, 2, 4], dtype="Int64"), "b": pd.array([True, False, True], dtype="boolean")}
    )
    assert RankSVM().fit(nullable, [1, 2, 3]).n_features_in_ == 2
    nullable.loc[1, "a"] = pd.NA
    with pytest.raises(ValueError, match="a.*row 1"):
        RankSVM().fit(nullable, [1, 2, 3])
    with pytest.raises(ValueError, match="qid.*row 1"):
        RankSVM().fit(X3, Y3, qid=pd.Series(["a", pd.NA] * 3, dtype="string"))


def test_row_starts_of_a_sparse_matrix_are_those_of_its_rows():
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    matrix = sparse.csr_matrix(X3)
    matrix.indptr = np.append(matrix.indptr, matrix.indptr[-1])
    with pytest.raises(ValueError, match="X.*row starts"):
        RankSVM().fit(matrix, Y3)


def test_a_parameter_error_knows_its_name():
    with pytest.raises(ParameterError) as caught:
        RankSVM(C=-1).fit(X3, Y3)
    assert caught.value.name == "C"


def test_hostile_numbers_do_no_harm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    for y in (np.where(np.arange(40) % 2, 1e300, -1e300), np.arange(40) * 1e-300):
        assert RankSVM().fit(X, y).coef_.shape == (3,)
    same_rows = np.ones((1000, 2))
    assert np.abs(RankSVM().fit(same_rows, np.arange(1000)).predict(same_rows)).max() == 0
    with pytest.raises(ValueError):
        RankSVM(kernel="poly", degree=60).fit(X * 1e200, np.arange(40)).predict(X * 1e200)
    only_ties = CompareSVM().fit(X[:20].reshape(10, 2, 3), np.zeros(10))
    assert (only_ties.predict(X[:20].reshape(10, 2, 3)) == 0).all()
    no_ties = CompareSVM().fit(X[:20].reshape(10, 2, 3), np.tile([-1, 1], 5))
    assert no_ties.threshold_ == 0 and no_ties.beta_ is None


def test_the_models_of_others_are_refused(tmp_path):
    (tmp_path / "m").write_bytes(b"\x10\0\0\0\0\0\0\0{}garbage")
    with pytest.raises(rankwise.exceptions.ModelFileError):
        rankwise.load(tmp_path / "m")
    with pytest.raises(OSError) as caught:
        rankwise.load(tmp_path / "absent")
    assert isinstance(caught.value, rankwise.exceptions.FileError)
    with pytest.raises(ValueError):
        _core.Model.from_bytes(b"")
    with pytest.raises(OSError):
        RankSVM().fit(X3, Y3).save(tmp_path / "no" / "such" / "folder")


def test_labels_that_float64_would_merge_are_refused():
    x = np.arange(4.0).reshape(-1, 1)
    negative, unsigned = np.array([0, 1, 2, -(2**60)]), np.array([0, 1, 2, 2**63], dtype=np.uint64)
    for y in ([2**53, 2**53 + 1, 2**53, 2**53 + 1], negative, unsigned):
        with pytest.raises(ValueError, match=r"beyond 2\*\*53.*subtract a constant"):
            rankwise.RankSVM().fit(x, y)
    # numpy has only objects for numbers of Python this large, or where there is a None or a number of another kind beside them.
    objects = np.array([2**53, 2**53 + 1, 2**53, 2**53 + 1], dtype=object)
    for y in (
        objects,
        [0, 1, 2, 2**70],
        np.array(["9007199254740993", "1", "2", "3"]),
        objects.astype(str).astype("S"),
    ):
        for call in (
            lambda: rankwise.RankSVM().fit(x, y), lambda: SVR().fit(x, y), lambda: OrdinalSVM().fit(x, y),
            lambda: metrics.pair_accuracy(y, x[:, 0]), lambda: rankwise.tune(RankSVM(), x, y, qid=[0, 0, 1, 1], folds=2),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=r"y = \d+ in row \d is beyond 2\*\*53.*subtract a constant"):
                call()
    for y in ([2**52, 2**52 + 1, 2**52 + 2, 2**52], [0.0, 1e300, 1.0, 2.0], np.array([0, 1e20, 1, 2], dtype=object)):
        rankwise.RankSVM(scale="minmax").fit(x, y)


def test_other_numbers_than_labels_may_be_large():
    now = 1_700_000_000_000_000_000
    times = now + 3_600_000_000_000 * np.arange(6)
    games = list("abcabc"), list("bcabca"), [-1, -1, 0, 1, 0, 1]
    for time in (times, times.astype(object), times.astype(np.uint64)):
        board = rate(*games, time=time, system="elo", ci=None)
        np.testing.assert_array_equal(board.ratings, rate(*games, system="elo", ci=None).ratings)
    sides = {"since": (times, np.full(6, now))}
    assert np.isfinite(rate(*games, C=1.0, covariates=sides).ratings).all()
    x = np.arange(6.0).reshape(-1, 1)
    assert _input.weights(np.full(6, 2**60), 6).tolist() == [2.0**60] * 6
    assert metrics.pair_accuracy(x[:, 0], times) == 1.0


def test_features_in_the_cells_of_a_table_are_not_taken_for_names():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    features = np.arange(12.0).reshape(3, 2, 2)
    arrays = [list(side) for side in features.transpose(1, 0, 2)]
    lists = features.transpose(1, 0, 2).tolist()
    frames = [pandas.DataFrame({"l": cells[0], "r": cells[1]}) for cells in (arrays, lists)]
    for frame in (*frames, polars.DataFrame({"l": lists[0], "r": lists[1]})):
        with pytest.raises(
            ValueError, match=r"pairs has a (ndarray|list) where the name.*numpy.array\(pairs.to_numpy\(\).tolist\(\)\)"
        ):
            CompareSVM().fit(frame, [0, 1, -1])
        np.testing.assert_array_equal(np.array(frame.to_numpy().tolist()), features)
    for frame in (pandas.DataFrame({"e": lists[0]}), polars.DataFrame({"e": lists[0]})):
        with pytest.raises(ValueError, match=r'X = column "e" of lists is not possible.*numpy.stack\(column\)'):
            RankSVM().fit(frame, [0, 1, 2])
        np.testing.assert_array_equal(np.stack(frame["e"]), features[:, 0])


def test_decimals_are_numbers_and_other_columns_have_plain_names():
    from decimal import Decimal

    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    values = [Decimal("1.50"), Decimal("-2.253"), Decimal("123456789012.345")]
    for table in (polars.DataFrame({"a": values}), pyarrow.table({"a": pyarrow.array(values)})):
        assert _input.items(table).to_dense().ravel().tolist() == [1.5, -2.253, 123456789012.345]
    for column, name in (
        (["x", "y", "z"], "text"),
        (polars.Series(["x", "y", "z"], dtype=polars.Categorical), "categories"),
        (polars.Series([1, 2, 3]).cast(polars.Date), "dates"),
        (polars.Series([1, 2, 3]).cast(polars.Datetime), "dates"),
    ):
        with pytest.raises(ParameterError, match=f'column "a" of {name} is not possible'):
            RankSVM().fit(polars.DataFrame({"a": column}), [0, 1, 2])


ANY_LOSS = ["hinge", "squared-hinge", "logistic", "squared", "epsilon", "squared-epsilon"]


@pytest.mark.parametrize(
    "kind", [RankSVM, OrdinalSVM, SVC, SVR, CompareSVM, rankwise.CompareRank], ids=lambda kind: kind.__name__
)
def test_the_losses_that_are_listed_are_those_there_are(kind):
    rng = np.random.default_rng(0)
    is_comparer = issubclass(kind, (CompareSVM, rankwise.CompareRank))
    data = rng.normal(size=(40, 2, 2) if is_comparer else (40, 2)), rng.integers(-1, 2, size=40)
    qid = {"qid": np.arange(40) // 4}
    with pytest.raises(ParameterError, match="loss = 'huber' is not possible") as refused:
        kind(loss="huber").fit(*data)
    with pytest.raises(ParameterError) as in_search:
        rankwise.tune(kind(), *data, **qid, grid={"loss": ["huber"]})
    assert str(in_search.value) == str(refused.value) and "variant" not in str(refused.value)
    listed = str(refused.value).split("expected ")[1].replace("'", "").split(", ")
    for loss in ANY_LOSS:
        if loss in listed:
            kind(loss=loss).fit(*data)
            rankwise.tune(kind(), *data, **qid, grid={"loss": [loss], "C": [0.1]}, folds=2)
        else:
            with pytest.raises(ParameterError, match=f"loss = '{loss}' is not possible"):
                kind(loss=loss).fit(*data)


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    from rankwise import datasets

    for read in (rankwise.load, RankSVM.load, datasets.load_items, datasets.load_pairs, datasets.load_svmlight):
        with pytest.raises(FileNotFoundError, match="absent"):
            read(tmp_path / "absent")  # nor an ending that tells a format
        with pytest.raises(FileNotFoundError, match="absent.csv") as caught:
            read(tmp_path / "absent.csv")
        assert isinstance(caught.value, (rankwise.exceptions.FileError, rankwise.exceptions.RankwiseError))
        assert caught.value.errno == 2
    with pytest.raises(FileNotFoundError):
        RankSVM().fit(X3, Y3).save(tmp_path / "no" / "such" / "folder")
    with pytest.raises(OSError) as caught:
        rankwise.load(tmp_path)
    assert not isinstance(caught.value, FileNotFoundError)


def test_item_numbers_may_come_in_columns_that_could_have_gaps():
    pandas = pytest.importorskip("pandas")
    numbers, X = np.array([[0, 1], [2, 1], [3, 0], [1, 3]]), np.arange(8.0).reshape(4, 2) ** 2
    expected = CompareSVM(preprocessor=X).fit(numbers, [1, -1, -1, 0]).coef_
    columns = pandas.DataFrame(numbers, columns=["l", "r"]).convert_dtypes()
    of_numpy = np.array(list(numbers.ravel()), dtype=object).reshape(4, 2)
    for given in (columns, of_numpy):
        np.testing.assert_array_equal(CompareSVM(preprocessor=X).fit(given, [1, -1, -1, 0]).coef_, expected)
    for wrong, told in (
        (pandas.NA, "<NA> in row 1"),
        (2.5, "2.5 in row 1"),
        (True, "True in row 1"),
        (2**64, "type object"),
    ):
        objects = numbers.astype(object)
        objects[1, 0] = wrong
        with pytest.raises(ValueError, match=f"pairs has .*{told}.*: with preprocessor whole numbers are needed"):
            CompareSVM(preprocessor=X).fit(objects, [1, -1, -1, 0])
