"""Every block of the documentation runs, and prints what the pages say.

``RANKWISE_WRITE_DOCS=1`` writes what is printed into the pages instead of comparing; look at the difference then.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pages
import pytest
from conftest import program
from pages import ROOT

#: Pages whose blocks of both kinds are run here. Those of the README for a shell are run by the tests in Rust.
DOCS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
#: Studies of hours, each with tests of its own; their names are looked up.
STUDIES = {"docs/reproduction.md", "docs/reproduction/head.md"}


def commands() -> set[str]:
    told = subprocess.run([str(program()), "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  ([a-z]+) ", told.split("Commands:")[1].split("\n\n")[0], flags=re.M))


@pytest.mark.parametrize("page", [page for page in DOCS if page not in STUDIES])
def test_a_page_runs_and_prints_what_it_says(page, tmp_path):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = pages.blocks_of(page, text)
    pages.check_languages(blocks)
    for name in re.findall(r"<!-- file: (\S+) -->", text):
        assert f"`{name}`:" in text, f"{page} does not say what {name} is called"
    if not any(block.kind in pages.RUN for block in blocks):
        return
    if program() is None:
        pytest.skip("the command line is not built; set RANKWISE_BIN, or cargo build")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("out"))
    shown = pages.run(page, blocks, tmp_path, program(), commands())
    if os.environ.get("RANKWISE_WRITE_DOCS"):
        (ROOT / page).write_text(pages.rewritten(text, shown), encoding="utf-8")
        for made, picture in pages.pictures_of(page, text):
            shutil.copy(tmp_path / made, picture)
    else:
        for made, picture in pages.pictures_of(page, text):
            assert pages.is_same_picture((tmp_path / made).read_text("utf-8"), picture.read_text("utf-8")), picture
        for block, printed in shown:
            assert pages.is_as_shown(block.text, printed), f"{block.where} shows something else than:\n{printed}"


@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_the_python_of_a_readme_runs(page, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.S)
    assert blocks, page
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("out"))
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "page", ["README.md", "python/README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "bench/README.md"]
)
def test_other_pages_have_no_fence_that_nobody_runs(page):
    blocks = pages.blocks_of(page, (ROOT / page).read_text(encoding="utf-8"))
    # The Rust of the README is an example of the library's documentation.
    pages.check_languages([block for block in blocks if (page, block.language) != ("README.md", "rust")])


@pytest.mark.parametrize("page", sorted(STUDIES))
def test_the_studies_of_a_page_are_there(page, rankwise_cli):
    known = {line for line in rankwise_cli("reproduce", "--list").splitlines() if not line.startswith(" ")}
    named = re.findall(r"^rankwise reproduce ([a-z][\w-]*)", (ROOT / page).read_text(encoding="utf-8"), flags=re.M)
    assert named and set(named) <= known


def test_every_public_name_has_a_place_in_the_reference():
    import rankwise

    reference = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs/api").glob("*.md"))
    for name in set(rankwise.__all__) - {"__version__"}:
        assert re.search(rf"^\.\. auto(class|function|module):: rankwise\.{name}$", reference, flags=re.M), name


def page_of(*parts: str) -> list[pages.Block]:
    return pages.blocks_of("page.md", "\n".join(parts))


def test_a_page_with_wrong_output_is_found(tmp_path):
    blocks = page_of("```python", "print('a', 1.5)", "```", "", "<!-- output -->", "```text", "a 1.6", "```")
    [(block, printed)] = pages.run("page.md", blocks, tmp_path, tmp_path / "none", {"train"})
    assert not pages.is_as_shown(block.text, printed)
    assert pages.is_as_shown("a …5\n", printed) and pages.is_as_shown("…\n", printed)
    assert not pages.is_as_shown("a …6\n", printed) and not pages.is_as_shown("a\n…\n", printed)
    assert "a 1.5\n```" in pages.rewritten(
        "\n".join(["```python", "", "```", "", "<!-- output -->", "```text", "a 1.6", "```"]), [(block, printed)]
    )


def test_a_page_that_fails_is_found_and_one_that_should_fail_and_does_not(tmp_path):
    for k, blocks in enumerate(
        [
            page_of("```sh", "true", "false", "true", "```"),
            page_of("```python", "1/0", "```"),
            page_of("<!-- fails -->", "```sh", "true", "```"),
            page_of("<!-- fails -->", "```python", "pass", "```"),
        ]
    ):
        folder = tmp_path / str(k)
        folder.mkdir()
        with pytest.raises(pages.PageError, match="page.md:2|page.md:3"):
            pages.run("page.md", blocks, folder, tmp_path / "none", {"train"})


def test_pictures_are_told_apart_by_their_parts():
    page = "x\n\n<!-- picture: out/a.svg -->\n![curves](b.svg)\n"
    assert pages.pictures_of("docs/x.md", page) == [("out/a.svg", ROOT / "docs/b.svg")]
    assert pages.is_same_picture('<g d="1"/><text>1</text>', '<g d="2"/><text>1</text>')
    assert not pages.is_same_picture('<g d="1"/><text>1</text>', '<g d="1"/><text>2</text>')


def test_fences_that_nobody_runs_are_found():
    for language in ["bash", "python3", "rust", ""]:
        with pytest.raises(pages.PageError, match="nobody runs"):
            pages.check_languages(page_of(f"```{language}", "```"))
    with pytest.raises(pages.PageError, match="say why"):
        pages.check_languages(page_of("<!-- not run -->", "```sh", "```"))
    with pytest.raises(pages.PageError, match="closes"):
        page_of("```sh", "``")
    with pytest.raises(pages.PageError, match="between a mark"):
        page_of("<!-- output -->", "words", "```text", "```")


def test_a_shell_block_is_run_but_for_installations():
    assert pages.script("cargo x \\\n  y\nrankwise a \\\n  b\npip z\n") == "rankwise a \\\n  b\n"


@pytest.mark.parametrize(
    "module", ["_rankers", "_comparers", "_labels", "_tune", "_rate", "metrics", "datasets", "plot"]
)
def test_examples_of_docstrings_are_true(module):
    import doctest
    import importlib

    found = doctest.testmod(
        importlib.import_module(f"rankwise.{module}"), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert found.failed == 0
