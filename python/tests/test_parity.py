"""Names and defaults are the same in Rust, in the shell and in Python."""

from __future__ import annotations

import inspect
import re

import pytest

import rankwise
from rankwise import _core

CLASSES = {
    "rank": rankwise.RankSVM,
    "swap": rankwise.SwapSVM,
    "ridge": rankwise.Ridge,
    "rvm": rankwise.RankingVectorMachine,
    "rank-l1": rankwise.OneNormRankSVM,
    "online": rankwise.OnlineRankSVM,
    "ordinal": rankwise.OrdinalSVM,
    "classify": rankwise.SVC,
    "regress": rankwise.SVR,
    "compare": rankwise.CompareSVM,
    "compare-rank": rankwise.CompareRank,
    "compare-lp": rankwise.CompareLP,
    "davidson": rankwise.Davidson,
}
#: What only Python has: where progress goes, where a fit starts, where features of pairs are, what new names are.
OF_PYTHON = {"warm_start", "verbose", "preprocessor", "unknown"}
#: What is said in other words: the class is the task, the method is the variant.
IN_OTHER_WORDS = {"task", "variant"}


@pytest.mark.parametrize("method", CLASSES)
def test_python_has_the_names_and_defaults_of_rust(method):
    signature = inspect.signature(CLASSES[method].__init__).parameters
    python = {
        name: parameter.default for name, parameter in signature.items() if name != "self" and name not in OF_PYTHON
    }
    rust = _core.defaults()[method]
    if method == "online":
        assert rust.pop("task") == "rank"
    assert python == rust
    assert all(type(python[name]) is type(rust[name]) for name in python)


def options(text: str) -> dict[str, tuple[str, list[str]]]:
    """Every option of a help text: what it says of its default, and the values it lists."""
    found = {}
    for part in re.split(r"\n\s+(?=(?:-\w, )?--[A-Za-z])", text):
        head = re.match(r"\s*(?:-\w, )?--([A-Za-z0-9-]+)", part)
        if head is None:
            continue
        told = " ".join(part.split())
        default = re.search(r"\[default: ([^\]]+)\]", told)
        values = re.search(r"\[possible values: ([^\]]+)\]", told)
        found[head.group(1)] = (
            default.group(1) if default else "",
            re.split(r",\s*", values.group(1)) if values else [],
        )
    return found


def shell_default(name: str, method: str, told: str) -> object:
    """The default of an option as a value, from the words of the help text."""
    if told in ("no limit", "all pairs", "the whole kernel", "labels are grades", ""):
        return None
    if name == "loss":
        words = {"classify": "hinge", "ordinal": "hinge", "regress": "epsilon"}
        assert told == "squared-hinge; classify and ordinal hinge; regress epsilon"
        return words.get(method, "squared-hinge")
    if name == "epochs":
        assert told.startswith("10, for few data more")
        return None
    try:
        return float(told)
    except ValueError:
        return told


@pytest.mark.parametrize("method", CLASSES)
def test_the_shell_has_the_names_and_defaults_of_rust(method, rankwise_cli):
    shell = options(rankwise_cli("train", "--help"))
    for name, default in _core.defaults()[method].items():
        if name in IN_OTHER_WORDS:
            continue
        option = name.replace("_", "-")
        if name == "average":
            assert default is True and "no-average" in shell
            continue
        assert option in shell, f"--{option}"
        if isinstance(default, bool):
            assert default is False  # options without a value are off by default
        elif method == "compare-lp" and name == "C":
            assert default == float("inf")  # "without --C a test whether pairs are separable"
        elif name not in ("class_weight", "steps"):
            assert shell_default(name, method, shell[option][0]) == default, name
        values = shell[option][1]
        if isinstance(default, str) and values:
            assert default in values


@pytest.mark.parametrize(
    "name",
    [
        "loss",
        "kernel",
        "balance",
        "scale",
        "threshold",
        "tie_region",
        "tie_band",
        "classes",
        "constraints",
        "coefficients",
        "batch",
        "schedule",
    ],
)
def test_the_shell_knows_the_words_of_python(name, rankwise_cli, ranking, judged):
    values = options(rankwise_cli("train", "--help"))[name.replace("_", "-")][1]
    assert len(values) >= 2
    holders = [kind for method, kind in CLASSES.items() if name in _core.defaults()[method]]
    accepted = set()
    few = {True: (judged[0][:60], judged[1][:60]), False: (ranking[0][:60], ranking[1][:60])}
    for kind in holders:
        data = few[kind.__module__.endswith("_comparers")]
        for value in values:
            try:
                kind(**{"C": 1.0, name: value}).fit(*data)
            except ValueError as refused:
                # Words that another machine has are refused with the words that are known.
                assert name in str(refused) or "epsilon" in str(refused) or "loss" in str(refused), refused
            else:
                accepted.add(value)
        with pytest.raises(ValueError, match=name):
            kind(**{name: "nonsense"}).fit(*data)
    assert accepted == set(values)


def test_every_method_of_the_shell_has_an_estimator(rankwise_cli):
    methods = options(rankwise_cli("train", "--help"))["method"][1]
    assert set(methods) == (set(CLASSES) - {"compare-rank"}) | {"rank", "rank2"}
