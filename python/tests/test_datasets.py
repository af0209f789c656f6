"""Simulations and files, against the command line, scikit-learn and readers of a few lines."""

from __future__ import annotations

import csv
import doctest
import errno
import gzip
import os
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwise import datasets
from rankwise.exceptions import DataError, FileError, ParameterError, RankwiseWarning, UnsupportedError

scipy_sparse = pytest.importorskip("scipy.sparse")


@pytest.fixture(scope="module")
def program() -> str:
    """The command line."""
    given = os.environ.get("RANKWISE_BIN")
    root = Path(__file__).resolve().parents[2]
    targets = [Path(os.environ.get("CARGO_TARGET_DIR", root / "target")), root / "target"]
    found = [target / kind / "rankwise" for target in targets for kind in ("debug", "release")]
    for path in [Path(given)] if given else found:
        if path.is_file():
            return str(path)
    pytest.skip("no program rankwise: set RANKWISE_BIN, or build it with cargo build")


@pytest.fixture(scope="module")
def published() -> Path:
    """Where the published data are."""
    given = os.environ.get("RANKWISE_DATA")
    if not given:
        pytest.skip("no published data: set RANKWISE_DATA to the directory they are in")
    return Path(given)


def in_data(directory: Path, name: str) -> Path:
    if not (directory / name).exists():
        pytest.skip(f"{name} is not in RANKWISE_DATA")
    return directory / name


def run(program: str, *arguments: str) -> None:
    subprocess.run([program, *arguments], check=True, timeout=120, capture_output=True)


def dense(X: Any) -> Any:
    return X.toarray() if scipy_sparse.issparse(X) else X


# Simulations


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_simulated_pairs_are_those_of_the_command_line(program: str, tmp_path: Path, norm: str) -> None:
    file = tmp_path / "pairs.csv"
    options = ["--norm", norm, "--pairs", "57", "--ties", "0.3", "--noise", "0.5", "--seed", "9"]
    run(program, "simulate", *options, "--output", str(file))
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    columns = ["left.x1", "left.x2", "right.x1", "right.x2"]
    expected = np.array([[float(row[name]) for name in columns] for row in rows]).reshape(-1, 2, 2)
    pairs, y = datasets.simulate_pairs(norm, n_pairs=57, ties=0.3, noise=0.5, seed=9)
    assert y.dtype == np.int8
    assert np.array_equal(pairs, expected)
    assert y.tolist() == [int(row["outcome"]) for row in rows]
    read = datasets.load_pairs(file, dtype=np.float64)
    assert np.array_equal(read.X[read.pairs], pairs)
    assert np.array_equal(read.y, y)
    assert read.feature_names == ["x1", "x2"]


def test_simulated_pairs_have_the_share_of_ties_and_follow_the_norm() -> None:
    pairs, y = datasets.simulate_pairs("linf", n_pairs=200, ties=0.25, noise=0.0)
    assert (y == 0).sum() == 50
    difference = np.diff(np.abs(pairs).max(axis=2) ** 2, axis=1)[:, 0]
    assert np.array_equal(y, np.where(np.abs(difference) <= 1, 0, np.sign(difference)))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"norm": "l3"}, "norm"),
        ({"n_pairs": 0}, "n_pairs"),
        ({"ties": 1.5}, "ties"),
        ({"noise": -1.0}, "noise"),
        ({"noise": "much"}, "noise"),
        ({"n_pairs": 2.5}, "n_pairs"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_arguments_of_simulations_are_named(given: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name} = "):
        datasets.simulate_pairs(**given)


def test_simulated_rankings_are_the_same_for_ever_and_can_be_learnt() -> None:
    X, y, qid = datasets.simulate_ranking(30, 20, 5, n_grades=4, noise=0.0, seed=3)
    again = datasets.simulate_ranking(30, 20, 5, n_grades=4, noise=0.0, seed=3)
    assert all(np.array_equal(a, b) for a, b in zip((X, y, qid), again))
    assert X.shape == (600, 5)
    assert np.bincount(qid).tolist() == [20] * 30
    assert np.bincount(y.astype(int)).tolist() == [240, 180, 120, 60]
    assert not np.array_equal(X, datasets.simulate_ranking(30, 20, 5, seed=4)[0])
    # Without noise the grades are a monotone function of one direction.
    weights = np.linalg.lstsq(X, y - y.mean(), rcond=None)[0]
    from rankwise.metrics import pair_accuracy

    assert pair_accuracy(y, X @ weights, qid) > 0.95
    assert datasets.simulate_ranking(2, 3, 1, n_grades=1)[1].tolist() == [0.0] * 6
    with pytest.raises(ParameterError, match="n_grades = 0"):
        datasets.simulate_ranking(n_grades=0)
    with pytest.raises(ParameterError, match="noise = nan"):
        datasets.simulate_ranking(noise=float("nan"))


# SVMlight's format


def random_matrix(density: float, n: int = 300, p: int = 40, seed: int = 0) -> Any:
    return scipy_sparse.random(n, p, density=density, format="csr", random_state=seed)


@pytest.mark.parametrize("density", [0.05, 0.95])
def test_items_are_those_that_scikit_learn_reads(tmp_path: Path, density: float) -> None:
    sklearn = pytest.importorskip("sklearn.datasets")
    X = random_matrix(density)
    random = np.random.default_rng(1)
    y, qid = random.integers(0, 5, X.shape[0]), np.sort(random.integers(0, 30, X.shape[0]))
    file = tmp_path / "items.txt"
    sklearn.dump_svmlight_file(X, y, str(file), zero_based=False, query_id=qid)
    expected, labels, groups = sklearn.load_svmlight_file(str(file), query_id=True, zero_based=False)
    data = datasets.load_svmlight(file, dtype=np.float64)
    assert scipy_sparse.issparse(data.X) == (density < 0.5)
    assert np.array_equal(dense(data.X), expected.toarray())
    assert np.array_equal(data.y, labels)
    assert np.array_equal(data.qid, groups)
    assert data.qid is not None and data.qid.dtype == np.int64
    assert data.weight is None and data.ids is None
    half = datasets.load_svmlight(file, dtype="float32")
    assert half.X.dtype == np.float32
    assert np.array_equal(dense(half.X), expected.toarray().astype(np.float32))
    # Numbers of 17 digits are kept; those of few are the same in half of the memory.
    assert datasets.load_svmlight(file).X.dtype == np.float64
    X.data = X.data.round(4)
    sklearn.dump_svmlight_file(X, y, str(file), zero_based=False, query_id=qid)
    assert datasets.load_svmlight(file).X.dtype == np.float32
    assert "X: " in repr(data) and "qid: int64[300]" in repr(data)


def test_compressed_rows_are_sound_and_may_be_changed(tmp_path: Path) -> None:
    file = tmp_path / "items.svm"
    file.write_text("1 2:3 900:4\n0\n2 1:5\n")
    X = datasets.load_svmlight(file).X
    assert scipy_sparse.issparse(X)
    X.check_format(full_check=True)
    assert X.shape == (3, 900)
    assert X.indices.dtype == X.indptr.dtype == np.int32
    X.data[:] *= 2
    assert (X @ np.ones(900)).tolist() == [14, 0, 10]


def test_dense_arrays_own_their_memory(tmp_path: Path) -> None:
    file = tmp_path / "items.svm"
    file.write_text("1 1:3 2:4\n0 1:1 2:2\n")
    data = datasets.load_svmlight(file)
    X = data.X
    del data
    assert X.flags.c_contiguous and X.flags.writeable and X.flags.aligned
    X += 1
    assert X.tolist() == [[4, 5], [2, 3]]


def test_groups_weights_and_comments_are_read(tmp_path: Path) -> None:
    file = tmp_path / "items.svm.gz"
    with gzip.open(file, "wt") as text:
        text.write("2 qid:b cost:0.5 1:1 # first item\n0 qid:a 1:2\n1 qid:b 1:3 # third\n")
    data = datasets.load_svmlight(file)
    assert data.qid is not None and data.qid.tolist() == ["b", "a", "b"]
    assert data.weight is not None and data.weight.tolist() == [0.5, 1, 1]
    assert data.ids is not None and data.ids.tolist() == ["first item", "#2", "third"]


def test_the_number_of_features_may_be_more_than_the_file_shows(tmp_path: Path) -> None:
    for text in ("1 1:3 2:4\n0 1:1 2:2\n", "1 1:3\n0 500:2\n0\n"):
        file = tmp_path / "items.svm"
        file.write_text(text)
        narrow = datasets.load_svmlight(file)
        wide = datasets.load_svmlight(file, n_features=777)
        assert wide.X.shape == (narrow.X.shape[0], 777)
        assert np.array_equal(dense(wide.X)[:, : narrow.X.shape[1]], dense(narrow.X))
        assert dense(wide.X)[:, narrow.X.shape[1] :].sum() == 0
        with pytest.raises(ParameterError, match="n_features = 1 is not possible"):
            datasets.load_svmlight(file, n_features=1)


def test_features_may_be_counted_from_zero(tmp_path: Path) -> None:
    file = tmp_path / "items.dat"
    file.write_text("1 0:3 1:4\n0 0:1 1:2\n")
    assert datasets.load_svmlight(file, index_base=0).X.tolist() == [[3, 4], [1, 2]]
    with pytest.raises(DataError):
        datasets.load_svmlight(file)
    with pytest.raises(ParameterError, match="index_base = 2"):
        datasets.load_svmlight(file, index_base=2)


def test_faults_say_file_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "broken.svm"
    file.write_text("1 qid:1 1:2\n0 qid:1 1:x\n")
    with pytest.raises(DataError, match=r"broken\.svm, line 2, column 11") as caught:
        datasets.load_svmlight(file)
    assert isinstance(caught.value, ValueError)
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(file), 2, 11)
    table = tmp_path / "broken.csv"
    table.write_text("label,a,b\n1,2,3\n1,2,oops\n")
    with pytest.raises(DataError, match=r"broken\.csv, line 3, column 3 \(b\)") as caught:
        datasets.load_items(table)
    assert (caught.value.line, caught.value.column) == (3, 3)


def test_a_missing_file_is_an_oserror(tmp_path: Path) -> None:
    readers = [
        datasets.load_svmlight,
        datasets.load_items,
        datasets.load_pairs,
        lambda p: datasets.load_published("wmt", p),
    ]
    for read in readers:
        with pytest.raises(FileError, match="nowhere") as caught:
            read(tmp_path / "nowhere.csv")  # type: ignore[operator]
        assert isinstance(caught.value, FileNotFoundError)
        assert caught.value.errno == errno.ENOENT


@pytest.mark.parametrize("name", ["arff", "letor", "sushi", "wmt", "arena", "jpeg-ai", "chess", "football"])
def test_a_parquet_file_is_called_one(name: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["model_a"]}).to_parquet(tmp_path / "train.parquet")
    with pytest.raises(DataError, match="train.parquet is a Parquet file.*pandas.read_parquet"):
        datasets.load_published(name, tmp_path / "train.parquet")


def test_wrong_arguments_of_loaders_are_named(tmp_path: Path) -> None:
    file = tmp_path / "items.csv"
    file.write_text("label,a\n1,2\n")
    with pytest.raises(ParameterError, match="dtype = 'int8'"):
        datasets.load_items(file, dtype="int8")
    with pytest.raises(ParameterError, match="dtype"):
        datasets.load_svmlight(file, dtype="number")
    with pytest.raises(ParameterError, match='format = "xml".*csv'):
        datasets.load_items(file, format="xml")
    with pytest.raises(TypeError, match="path = 3"):
        datasets.load_items(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="label = 3"):
        datasets.load_items(file, label=3)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="nothing"):
        datasets.load_items(file, drop=["nothing"])
    with pytest.raises(ParameterError, match="n_features = 5"):
        datasets.load_items(file, n_features=5)
    (tmp_path / "items.xyz").write_text("label,a\n1,2\n")
    with pytest.raises(ValueError, match=r"\.xyz"):
        datasets.load_items(tmp_path / "items.xyz")


@pytest.mark.parametrize("density", [0.1, 1.0])
def test_written_items_are_read_as_the_same_numbers(tmp_path: Path, density: float) -> None:
    X = random_matrix(density)
    random = np.random.default_rng(2)
    y, qid = random.standard_normal(300), random.integers(0, 9, 300)
    weight, ids = random.random(300), [f"item {k}" for k in range(300)]
    file = tmp_path / "out.svm"
    datasets.save_svmlight(file, X if density < 1 else X.toarray(), y, qid, sample_weight=weight, ids=ids)
    data = datasets.load_svmlight(file, dtype=np.float64, n_features=X.shape[1])
    assert np.array_equal(dense(data.X), X.toarray())
    for found, expected in ((data.y, y), (data.qid, qid), (data.weight, weight), (data.ids, ids)):
        assert found is not None and np.array_equal(found, expected)
    datasets.save_svmlight(file, X, y)
    data = datasets.load_svmlight(file)
    assert data.qid is None and data.weight is None and data.ids is None
    with pytest.raises(ValueError, match="y has 2 entries"):
        datasets.save_svmlight(file, X, [1, 2])
    names = np.array(["a", "b#", "c"])[qid % 3]
    with pytest.raises(DataError, match='the group "b#"'):
        datasets.save_svmlight(file, X, y, names)
    with pytest.raises(DataError, match="more than one line"):
        datasets.save_svmlight(file, X, y, ids=["two\nlines"] * 300)
    assert datasets.load_svmlight(file).qid is None  # nothing was written over
    with pytest.raises(FileError, match="nowhere"):
        datasets.save_svmlight(tmp_path / "nowhere" / "out.svm", X, y)


# Tables


def test_tables_of_items_by_their_columns(tmp_path: Path) -> None:
    text = "id,grade,query,a,w,b,skip\nx,2,q1,0.5,1,7,?\ny,0,q1,1.5,2,8,?\nz,1,q2,2.5,3,9,?\n"
    for name, separator in (("items.csv", ","), ("items.tsv", "\t")):
        file = tmp_path / name
        file.write_text(text.replace(",", separator))
        data = datasets.load_items(str(file), label="grade", group="query", weight="w", drop=["skip"], dtype=float)
        assert data.X.tolist() == [[0.5, 7], [1.5, 8], [2.5, 9]]
        assert data.feature_names == ["a", "b"]
        assert data.y is not None and data.y.tolist() == [2, 0, 1]
        assert data.qid is not None and data.qid.tolist() == ["q1", "q1", "q2"]
        assert data.weight is not None and data.weight.tolist() == [1, 2, 3]
        assert data.ids is not None and data.ids.tolist() == ["x", "y", "z"]


def test_group_weights_come_once_per_group(tmp_path: Path) -> None:
    file = tmp_path / "items.csv"
    file.write_text("label,qid,group_weight,a\n1,7,2,1\n0,7,2,3\n1,3,5,4\n")
    data = datasets.load_items(file)
    assert data.qid is not None and data.qid.tolist() == [7, 7, 3]
    assert data.group_weight is not None and data.group_weight.tolist() == [2, 5]


def test_classes_may_be_words(tmp_path: Path) -> None:
    file = tmp_path / "items.csv"
    file.write_text("label,a,margin\nspam,1,1\nham,2,2\nspam,3,1\n")
    data = datasets.load_items(file, classes=True)
    assert data.y is not None and data.y.tolist() == ["spam", "ham", "spam"]
    assert data.margin is not None and data.margin.tolist() == [1, 2, 1]
    with pytest.raises(DataError, match="line 2, column 1"):
        datasets.load_items(file)


def test_columns_that_are_not_read_are_told(tmp_path: Path) -> None:
    file = tmp_path / "items.csv"
    file.write_text("label,a,margin\n1,1,1\n0,2,2\n")
    with pytest.warns(RankwiseWarning, match="margin") as caught:
        datasets.load_items(file)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        datasets.load_items(file, drop="margin")


def test_block_files_are_read(program: str, tmp_path: Path) -> None:
    text, blocks = tmp_path / "items.csv", tmp_path / "items.rwb"
    text.write_text("id,label,qid,a,b\nx,2,q1,0.5,7\ny,0,q1,1.5,8\nz,1,q2,2.5,9\n")
    run(program, "convert", str(text), str(blocks))
    expected, data = datasets.load_items(text), datasets.load_items(blocks, dtype=np.float64)
    assert data.X.dtype == np.float64
    for name in ("X", "y", "qid", "ids"):
        assert np.array_equal(getattr(data, name), getattr(expected, name)), name
    assert data.feature_names == ["a", "b"]


def test_pairs_name_items_of_another_table(tmp_path: Path) -> None:
    pairs, items = tmp_path / "pairs.csv", tmp_path / "items.csv"
    pairs.write_text("left,right,verdict,weight,group,pair.night\nc,a,left,1,x,0\na,b,tie,2,y,1\nb,c,right,3,x,1\n")
    items.write_text("name,size,price\na,1,10\nb,2,20\nc,3,30\nd,4,40\n")
    data = datasets.load_pairs(pairs, items, label="verdict", id="name")
    assert data.ids is not None and data.ids.tolist() == ["c", "a", "b"]
    assert data.X[data.pairs].tolist() == [[[3, 30], [1, 10]], [[1, 10], [2, 20]], [[2, 20], [3, 30]]]
    assert data.pairs.dtype == np.int64
    assert data.y is not None and data.y.tolist() == [-1, 0, 1]
    assert data.weight is not None and data.weight.tolist() == [1, 2, 3]
    assert data.group is not None and data.group.tolist() == [0, 1, 0]
    assert data.context is not None and data.context.tolist() == [[0], [1], [1]]
    assert (data.feature_names, data.context_names) == (["size", "price"], ["night"])


def test_pairs_of_ids_alone_have_indicators(tmp_path: Path) -> None:
    file = tmp_path / "games.csv"
    file.write_text("left,right\na,b\nb,c\n")
    data = datasets.load_pairs(file)
    assert data.y is None
    assert data.X.toarray().tolist() == np.eye(3).tolist()
    assert data.feature_names == ["a", "b", "c"]
    file.write_text("left,right,outcome\na,b,left\nb,c,perhaps\n")
    with pytest.raises(DataError, match=r"line 3, column 3 \(outcome\)"):
        datasets.load_pairs(file)


# Published data


def test_an_unknown_data_set_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="name = 'susi'.*arff, letor, sushi, wmt, arena, jpeg-ai, chess, football"):
        datasets.load_published("susi", tmp_path)
    with pytest.raises(ParameterError, match="fold = 2"):
        datasets.load_published("sushi", tmp_path, fold=2)
    with pytest.raises(ParameterError, match="group = 'judge'"):
        datasets.load_published("letor", tmp_path, group="judge")
    with pytest.raises(ParameterError, match="fold = 6"):
        datasets.load_published("letor", tmp_path, fold=6)
    with pytest.raises(ParameterError, match='part = "dev".*validation'):
        datasets.load_published("letor", tmp_path, part="dev")


def test_attributes_of_an_arff_file(tmp_path: Path) -> None:
    file = tmp_path / "data.arff"
    file.write_text(
        "@relation r\n@attribute a numeric\n@attribute c {x,y}\n@attribute t numeric\n@data\n1,x,5\n?,y,6\n3,y,7\n"
    )
    with pytest.warns(RankwiseWarning, match="left out 1 rows with missing values"):
        data = datasets.load_items(file)
    assert data.feature_names == ["a", "c=x", "c=y"]
    assert data.X.tolist() == [[1, 1, 0], [3, 0, 1]]
    assert data.y is not None and data.y.tolist() == [5, 7]
    assert data.qid is None
    with pytest.warns(RankwiseWarning):
        data = datasets.load_published("arff", file, label="a", drop=["t"])
    assert data.y is not None and data.y.tolist() == [1, 3]
    with pytest.raises(DataError, match="nothing"):
        datasets.load_published("arff", file, label="nothing")


def table(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("sushi", "sushi"),
        ("wmt", "wmt15"),
        ("battles", "llmfao/crowd-comparisons.csv"),
        ("jpeg_ai", "jpeg_ai_sdr25"),
        ("chess", "chess_fide_test"),
        ("football", "football_international"),
    ],
)
def test_published_pairs_are_those_that_convert_writes(
    program: str, published: Path, tmp_path: Path, name: str, where: str
) -> None:
    path = in_data(published, where)
    word = {"battles": "arena", "jpeg_ai": "jpeg-ai"}.get(name, name)
    if path.is_dir() and word == "wmt":
        path = min(path.glob("*.csv.xz"))
    elif path.is_dir() and word in ("chess", "football", "jpeg-ai"):
        path = next(p for p in sorted(path.glob("*.csv.xz")) if "PTC" not in p.name)
    out = tmp_path / "pairs.csv"
    run(program, "convert", "--from", word, str(path), str(out))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankwiseWarning)
        data = datasets.load_published(name, path)
    assert isinstance(data, datasets.PairData)
    rows = table(out)
    assert data.y is not None and data.y.tolist() == [int(row["outcome"]) for row in rows]
    assert data.ids is not None
    assert data.ids[data.pairs].tolist() == [[row["left"].strip(), row["right"].strip()] for row in rows]
    if data.group is not None:
        assert [str(group) for group in data.group.tolist()] == [row["group"] for row in rows]
    if data.time is not None:
        assert data.time.tolist() == [row["time"] for row in rows]
    if "left." + (data.feature_names or [""])[0] in rows[0]:
        sides = [
            [[float(row[f"{side}.{f}"]) for f in data.feature_names or ()] for side in ("left", "right")]
            for row in rows
        ]
        assert np.array_equal(dense(data.X)[data.pairs], np.array(sides))


def test_a_grouping_may_be_chosen(published: Path) -> None:
    path = min(in_data(published, "wmt15").glob("*.csv.xz"))
    with pytest.raises(ValueError, match="'?\"?moon\"?'?.*they can by"):
        datasets.load_published("wmt", path, group="moon")


def test_parts_of_letor_folds_are_joined(published: Path) -> None:
    directory = in_data(published, "mq2008")
    parts = [datasets.load_svmlight(directory / f"S{k}.txt.xz", dtype=np.float64) for k in range(1, 6)]
    data = datasets.load_published("letor", directory, fold=2, part="train", dtype=np.float64)
    chosen = [parts[k] for k in (1, 2, 3)]
    assert np.array_equal(dense(data.X), np.vstack([dense(part.X) for part in chosen]))
    assert np.array_equal(data.y, np.concatenate([part.y for part in chosen if part.y is not None]))
    assert np.array_equal(data.qid, np.concatenate([part.qid for part in chosen if part.qid is not None]))
    assert data.ids is not None and data.ids[0].startswith("GX")
    test = datasets.load_published("letor", directory, fold=2, part="test", dtype=np.float64)
    assert np.array_equal(dense(test.X), dense(parts[0].X))


def test_real_letor_data_are_what_scikit_learn_reads(published: Path, tmp_path: Path) -> None:
    sklearn = pytest.importorskip("sklearn.datasets")
    lzma = pytest.importorskip("lzma")
    source = in_data(published, "mq2008") / "S1.txt.xz"
    plain = tmp_path / "S1.txt"
    plain.write_bytes(lzma.open(source).read())
    X, y, qid = sklearn.load_svmlight_file(str(plain), query_id=True, zero_based=False)
    data = datasets.load_svmlight(source, dtype=np.float64, n_features=X.shape[1])
    assert np.array_equal(dense(data.X), X.toarray())
    assert np.array_equal(data.y, y)
    assert np.array_equal(data.qid, qid)


def test_all_public_names_are_described() -> None:
    assert datasets.__doc__ is not None
    for name in datasets.__all__:
        assert getattr(datasets, name).__doc__, name
        assert name in datasets.__doc__ or name.endswith("Data"), name


def test_examples_say_what_happens() -> None:
    pytest.importorskip("sklearn")
    found = doctest.testmod(datasets)
    assert found.attempted > 0
    assert found.failed == 0


def test_tables_of_others_are_read(tmp_path):
    games = tmp_path / "games.csv"
    games.write_text(";home;away;Outcome\n0;a;b;left\n1;b;c;tie\n")
    with pytest.raises(DataError, match="separator=';'"):
        datasets.load_pairs(games)
    with pytest.warns(RankwiseWarning, match="numbers the rows"):
        data = datasets.load_pairs(games, left="home", right="away", separator=";")
    assert data.pairs.tolist() == [[0, 1], [1, 2]] and data.y.tolist() == [-1, 0]
    for wrong in (";;", '"', "", 59):
        with pytest.raises(ParameterError, match="separator"):
            datasets.load_pairs(games, separator=wrong)
    # What the message says to do is possible.
    for name, separator in (("games.csv", "tab"), ("games.csv", "\t"), ("games.csv", "\\t")):
        games = tmp_path / name
        games.write_text("left\tright\toutcome\na\tb\tleft\nb\tc\ttie\n")
        with pytest.raises(DataError, match="separator='tab'"):
            datasets.load_pairs(games)
        assert datasets.load_pairs(games, separator=separator).y.tolist() == [-1, 0]
    items = tmp_path / "items.csv"
    items.write_text("label|group|x\n1|7|2\n2|7|3\n")
    with pytest.warns(RankwiseWarning, match="group='group'"):
        found = datasets.load_items(items, separator="|")
    assert found.X.shape == (2, 2)


def test_a_separator_is_refused_where_nothing_is_separated(tmp_path):
    pandas = pytest.importorskip("pandas")
    (tmp_path / "items.svm").write_text("1 qid:1 1:2\n2 qid:1 1:3\n")
    (tmp_path / "items.arff").write_text("@relation r\n@attribute x numeric\n@attribute y numeric\n@data\n1,2\n")
    datasets.load_items(tmp_path / "items.svm")
    for separator in (";", "tab"):
        with pytest.raises(UnsupportedError, match="separator is for tables of text, and .*items.svm.*leave it out"):
            datasets.load_items(tmp_path / "items.svm", separator=separator)
        with pytest.raises(ParameterError, match="separator = '.*' is not possible: ARFF files have no such choice"):
            datasets.load_items(tmp_path / "items.arff", separator=separator)
    table = pandas.DataFrame(
        {"label": [1.0, 2.0], "x": [1.0, 2.0], "left": ["a", "b"], "right": ["b", "c"], "outcome": ["left", "tie"]}
    )
    table.to_parquet(tmp_path / "table.parquet")
    for load in (datasets.load_items, datasets.load_pairs):
        with pytest.raises(UnsupportedError, match="separator is for|built without"):
            load(tmp_path / "table.parquet", separator=";")
