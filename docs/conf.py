"""How the pages become a site: `cargo xtask docs` gathers them in one folder, of which this file is a part, and runs Sphinx there."""

from __future__ import annotations

import posixpath
import re

import rankwise
from pygments.lexers.special import TextLexer

project = "rankwise"
author = "the rankwise contributors"
copyright = "the rankwise contributors, MIT OR Apache-2.0"
version = release = rankwise.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton"]
root_doc = "index"
exclude_patterns = ["reproduction/head.md", "examples/**"]
highlight_language = "none"
pygments_style, pygments_dark_style = "friendly", "native"

# Pages: headings have the anchors that GitHub gives them, so that links hold in both places.
myst_heading_anchors = 4
nitpicky = True

# Docstrings say types in words; signatures stay short.
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
add_module_names = False

html_theme = "furo"
html_title = "rankwise"
html_logo = "_static/rankwise.svg"
html_favicon = "_static/rankwise.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
copybutton_exclude = ".linenos, .gp, .go"
# Output is to be looked at, not to be copied.
copybutton_selector = "div.highlight-sh pre, div.highlight-python pre"

LINK = re.compile(r"(\]\()([^()\s#:]+)(#[^()\s]*)?(\))")


def home_of(path: str) -> str:
    """Where the site has a file of the repository."""
    return {"README.md": "index.md"}.get(path, path.removeprefix("docs/"))


def links(app, name: str, source: list[str]) -> None:
    """Links lead from file to file of the repository; here pages have other places."""
    of_repository = name in ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG") or name.startswith("bench/")
    folder = posixpath.dirname(name if of_repository else f"docs/{name}")

    def moved(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[2]))
        return f"{link[1]}/{home_of(path)}{link[3] or ''}{link[4]}"

    parts = re.split(r"(^```.*?^```$|`[^`\n]+`)", source[0], flags=re.S | re.M)
    source[0] = "".join(part if k % 2 else LINK.sub(moved, part) for k, part in enumerate(parts))


def optional(app, name: str, source: list[str]) -> None:
    """Pages that not every version has stand in lists as NAME*; without them the line is left out."""
    here = posixpath.dirname(name)
    there = {posixpath.relpath(page, here or ".") for page in app.env.found_docs}

    def kept(line: str) -> bool:
        return not re.fullmatch(r"[\w-]+\*", line) or any(page.startswith(line[:-1]) for page in there)

    if "{toctree}" in source[0]:
        source[0] = "\n".join(filter(kept, source[0].split("\n")))


def measured(app, name: str, source: list[str]) -> None:
    """The tables of figures are pages below the one that says how they were made."""
    if name == "bench/README":
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\nresults/*\n```\n"


def setup(app) -> None:
    app.connect("source-read", links)
    app.connect("source-read", optional)
    app.connect("source-read", measured)
    app.add_lexer("csv", TextLexer)
