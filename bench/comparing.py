"""Comparing from pairs with ties: rankwise beside boosted trees on real comparisons, beside scikit-learn on made ones.

    python bench/comparing.py [--data DIR] [--only NAMES] [--tools NAMES] [--quick] [--cached]

The real comparisons (comparing_tasks.py, comparing_quality.py) need --data and are left out without it; the made ones
(comparing_data.py, comparing_speed.py) need nothing. Other tools run in comparing_peers.py, one process a run.
"""

import argparse
import os
import platform
import sys
from pathlib import Path

import numpy as np

from common import ROOT, check_program, processor, version_of
from comparing_quality import FAMILIES, PEERS, quality
from comparing_speed import PARTS as SPEED
from comparing_speed import speed
from comparing_tasks import TASKS

NO_DATA = ("Real comparisons with ties: left out, they need `--data DIR` with the authors' files, which are not ours to give away "
           "(see bench/README.md).")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda text: [name for name in text.split(",") if name]
    tools = ["rankwise", *PEERS]
    known = [*TASKS, *SPEED]
    parser.add_argument("--program", default=str(ROOT / "target/release/rankwise"), help="default: target/release/rankwise")
    parser.add_argument("--data", type=Path, help="folder with jpeg_ai_sdr25, football_international, chess_fide_test, llmfao, wmt15, sushi")
    parser.add_argument("--only", type=names, help=f"some of {','.join(known)}")
    parser.add_argument("--tools", type=names, default=tools, help=f"for the real comparisons, some of {','.join(tools)}")
    parser.add_argument("--families", type=names, help="numbers of rankwise's families from 0, in the order of the table")
    parser.add_argument("--quick", action="store_true", help="two small tasks, small grids, a tenth of the made pairs")
    parser.add_argument("--cached", action="store_true", help="take what an earlier run of the other tools left in WORK")
    parser.add_argument("--seed", type=int, default=0, help="of the division into parts")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=3600.0, help="the longest time of one run of another tool, in seconds")
    parser.add_argument("--family-limit", type=float, default=1800.0, help="the longest search of one family of rankwise, in seconds")
    parser.add_argument("--work", type=Path, default=ROOT / "bench/.data", help="folder for the files made")
    parser.add_argument("--out", type=Path, help="default: bench/results/comparing.md; of a part of the run, WORK/comparing.md")
    options = parser.parse_args()
    check_program(options.program)
    if unknown := [name for name in options.only or [] if name not in known]:
        parser.error(f"unknown part {unknown[0]}; there are: {', '.join(known)}")
    if unknown := [name for name in options.tools if name not in tools]:
        parser.error(f"unknown tool {unknown[0]}; there are: {', '.join(tools)}")
    parts = options.only or (["llmfao", "sushi800", *SPEED] if options.quick else known)
    options.tasks = [name for name in TASKS if name in parts] if options.data else []
    options.speed = [name for name in SPEED if name in parts]
    families = list(FAMILIES)
    options.families = [families[int(number)] for number in options.families] if options.families else families
    partial = options.quick or options.only or not options.data or len(options.tools) < len(tools) or len(options.families) < len(families)
    options.out = options.out or (options.work / "comparing.md" if partial else ROOT / "bench/results/comparing.md")
    options.work.mkdir(parents=True, exist_ok=True)

    found = []
    if options.tasks:
        found.append(quality(options))
    elif not options.data and any(name in parts for name in TASKS):
        print(NO_DATA, file=sys.stderr)
        found.append((["## Real comparisons with ties", "", NO_DATA, ""], []))
    if options.speed:
        found.append(speed(options))
    versions = sorted({version for _, versions in found for version in versions})
    lines = ["# Comparing from pairs with ties", "",
             f"{processor()}, {os.cpu_count()} cores, {options.threads} threads. {'; '.join([version_of(options.program), *versions])}; "
             f"numpy {np.__version__}, Python {platform.python_version()}.", ""]
    markdown = "\n".join([*lines, *(line for part, _ in found for line in part)])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(markdown)
    print(markdown)
    print(f"written to {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
