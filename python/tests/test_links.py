"""Links between the pages of the repository lead somewhere: files are there, and so are headings. No network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import ROOT

FOLDERS = ["docs", "bench", "examples", "python"]
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [*ROOT.glob("*.md"), *(found for folder in FOLDERS for found in (ROOT / folder).rglob("*.md"))]
    if not {".venv", ".data", "data", "out", "target"} & set(path.relative_to(ROOT).parts)
)
#: [words](target) and ![words](target)
LINK = re.compile(r"\]\(([^()\s]+(?:\([^()\s]*\))?[^()\s]*)\)")


def prose(text: str) -> str:
    """A page without its code."""
    return re.sub(r"`[^`\n]+`", "", re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M))


def anchors(text: str) -> set[str]:
    """The names that headings get: small letters, digits, - and _, blanks as -, the second of a name with -1."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M), flags=re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(next(n for k in range(1000) if (n := f"{name}-{k}" if k else name) not in found))
    return found


def broken(page: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere."""
    wrong = []
    for target in LINK.findall(prose(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        to = (page.parent / name).resolve() if name else page
        if not to.exists():
            wrong.append(target)
        elif anchor and to.suffix == ".md" and anchor not in anchors(to.read_text(encoding="utf-8")):
            wrong.append(target)
    return wrong


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_somewhere(page):
    path = ROOT / page
    if path.name == "head.md":  # stands in a page one folder up
        path = path.parent.parent / path.name
    assert broken(path, (ROOT / page).read_text(encoding="utf-8")) == []


def test_the_pages_that_matter_are_looked_at():
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/index.md", "bench/README.md"]:
        assert page in PAGES


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a.md").write_text("# Head: it's `--C`\n", encoding="utf-8")
    page = tmp_path / "b.md"
    good = "[x](a.md) [x](a.md#head-its---c) ![x](https://nowhere) `[x](none.md)` [x](#y)\n\n## y\n\n```text\n[x](none)\n```\n"
    page.write_text(good, encoding="utf-8")
    assert broken(page, good) == []
    assert broken(page, "[x](none.md) [x](a.md#heads) ![x](a.svg) [x](#z)") == ["none.md", "a.md#heads", "a.svg", "#z"]
