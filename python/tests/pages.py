"""Pages of the documentation: what is in their fences, run one after the other, beside the output that a page shows.

Comments in a line of their own right above a fence say what it is besides:

    <!-- output -->          what the block before it prints; … stands for anything in a line, alone on a line for any lines
    <!-- fails -->           the block ends with an error, whose message is its output
    <!-- file: NAME -->      the block is written to this file
    <!-- needs: COMMAND -->  not run where the program has no such command
    <!-- not run: WHY -->    not run at all

A picture below ``<!-- picture: FILE -->`` is the one that the blocks before it leave in this file.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Fences that are run.
RUN = {"sh", "python"}
#: Fences that are looked at: data, output, notation.
SHOWN = {"text", "csv", "json", "toml", "sql", "xml"}
#: Lines of a shell that change the machine, or take long: never run.
LEFT_OUT = ("cargo ", "pip ", "git ")

#: Runs blocks in order in one process; tells what each of them printed.
DRIVER = r"""
import contextlib, io, json, os, subprocess, sys, traceback
names = {"__name__": "__main__"}
told = []
for block in json.load(sys.stdin):
    kind, text = block["kind"], block["text"]
    if kind == "file":
        with open(block["name"], "w", encoding="utf-8") as file:
            file.write(text)
        told.append([0, ""])
    elif kind == "sh":
        done = subprocess.run(["sh", "-euc", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        told.append([done.returncode, done.stdout])
    else:
        out, status = io.StringIO(), 0
        try:
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * (block["line"] - 1) + text, block["page"], "exec"), names)
        except Exception as e:
            status = 1
            out.write(f"{type(e).__name__}: {e}\n" if block["fails"] else traceback.format_exc())
        told.append([status, out.getvalue()])
    if (told[-1][0] != 0) != block["fails"]:
        break
json.dump(told, sys.stdout)
"""


class PageError(AssertionError):
    """A page says what is not so."""


@dataclass
class Block:
    """A fence of a page."""

    page: str
    line: int  #: of the first line within
    language: str
    text: str
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def kind(self) -> str:
        """`sh`, `python`, `file`, `output`, or `` where there is nothing to do."""
        if "file" in self.marks:
            return "file"
        if "output" in self.marks:
            return "output"
        return self.language if self.language in RUN and "not run" not in self.marks else ""


MARK = re.compile(r"^<!-- (output|fails|file|needs|not run)(?:: (.*))? -->$")
FENCE = re.compile(r"^(```+)(.*)$")


def blocks_of(page: str, text: str) -> list[Block]:
    """The fences of a page, in order."""
    found: list[Block] = []
    marks: dict[str, str] = {}
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        mark, fence = MARK.match(line), FENCE.match(line)
        if mark:
            marks[mark[1]] = mark[2] or ""
        elif fence:
            end = next((k for k in range(at, len(lines)) if lines[k] == fence[1]), None)
            if end is None:
                raise PageError(f"{page}:{at} opens a fence that nothing closes")
            body = "".join(f"{row}\n" for row in lines[at:end])
            found.append(Block(page, at + 1, fence[2], body, marks))
            marks, at = {}, end + 1
        elif line.strip():
            if marks:
                raise PageError(f"{page}:{at} stands between a mark and its fence")
    return found


def check_languages(blocks: list[Block]) -> None:
    """No fence that looks like something to run and is run by nobody."""
    for block in blocks:
        if not (block.language in RUN | SHOWN or block.language.startswith("{")):
            raise PageError(f"{block.where}: nobody runs a block of {block.language!r}")
        if block.marks.get("not run") == "":
            raise PageError(f"{block.where}: say why it is not run")


def script(text: str) -> str:
    """What is run of a shell block."""
    joined = text.replace("\\\n", "\\\0").split("\n")
    return "\n".join(line for line in joined if not line.startswith(LEFT_OUT)).replace("\0", "\n")


def run(page: str, blocks: list[Block], folder: Path, program: Path, commands: set[str]) -> list[tuple[Block, str]]:
    """Runs a page in a folder; gives every block of output with what was printed there."""
    bin_dir = folder / ".bin"
    bin_dir.mkdir()
    (bin_dir / "rankwise").symlink_to(program)
    does = [b for b in blocks if b.kind in RUN | {"file"} and b.marks.get("needs", "train") in commands]
    wanted = [
        {
            "page": page,
            "line": b.line,
            "kind": b.kind,
            "text": script(b.text) if b.kind == "sh" else b.text,
            "fails": "fails" in b.marks,
            "name": b.marks.get("file"),
        }
        for b in does
    ]
    here = {**os.environ, "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}", "MPLBACKEND": "Agg", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", DRIVER], input=json.dumps(wanted), capture_output=True, text=True, cwd=folder, env=here
    )
    if done.returncode != 0:
        raise PageError(f"{page}: {done.stderr}")
    told = json.loads(done.stdout)
    for block, (status, printed) in zip(does, told):
        if (status != 0) != ("fails" in block.marks):
            raise PageError(f"{block.where} ends with status {status}:\n{printed}\n{done.stderr}")
    printed_by = {block.line: printed for block, (_, printed) in zip(does, told)}
    shown, before = [], None
    for block in blocks:
        if block.kind == "output":
            if before is None:
                raise PageError(f"{block.where} is the output of nothing")
            if before.line in printed_by:
                shown.append((block, printed_by[before.line]))
        elif block.kind in RUN:
            before = block
    return shown


def is_as_shown(shown: str, printed: str) -> bool:
    """Whether what was printed is what a page shows, … standing for anything."""

    def one(line: str) -> str:
        return r"[^\n]*".join(re.escape(part.rstrip() if k == 0 else part) for k, part in enumerate(line.split("…")))

    wanted = "".join(
        r"(?:[^\n]*\n)*?" if line.strip() == "…" else one(line) + r"[ \t]*\n" for line in tidy(shown).splitlines()
    )
    return re.fullmatch(wanted, tidy(printed)) is not None


def tidy(text: str) -> str:
    """Lines without blanks at their ends, and no empty ones around them."""
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n")) + "\n"


PICTURE = re.compile(r"^<!-- picture: (\S+) -->\n!\[[^\]]*\]\(([^)]+)\)$", re.M)


def pictures_of(page: str, text: str) -> list[tuple[str, Path]]:
    """The files that a page makes and shows: what it makes, and what it shows."""
    return [(made, (ROOT / page).parent / shown) for made, shown in PICTURE.findall(text)]


def is_same_picture(one: str, other: str) -> bool:
    """Whether two pictures have the same parts with the same words; places may differ in a last digit."""
    return re.sub(r'"[^"]*"', '""', one) == re.sub(r'"[^"]*"', '""', other)


#: What differs from run to run, or from machine to machine, in what the program prints.
VARIES = [
    (re.compile(r"^(time +).*$", re.M), r"\1…"),
    (re.compile(r"^(gap +)\S+", re.M), r"\1…"),
    (re.compile(r"after \d+ iterations"), "after … iterations"),
    (re.compile(r"(\d\.\d{5})\d{5,}"), r"\1…"),
]


def masked(printed: str) -> str:
    for what, to in VARIES:
        printed = what.sub(to, printed)
    return tidy(printed)


def rewritten(text: str, shown: list[tuple[Block, str]]) -> str:
    """A page whose outputs are what was printed; those that are right already stay as they are."""
    lines = text.split("\n")
    for block, printed in reversed(shown):
        if not is_as_shown(block.text, printed):
            first = block.line - 1
            lines[first : first + block.text.count("\n")] = masked(printed).rstrip("\n").split("\n")
    return "\n".join(lines)
