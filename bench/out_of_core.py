"""Training on data larger than memory: a block file of some GB, in memory and from the disk."""

import argparse
import datetime
import sys
import time
from pathlib import Path

import numpy as np

from common import ROOT, call, check_program, memory, processor, row, seconds, version_of

FEATURES = 136
ITEMS_OF_GROUP = 100
TOL = {"squared-hinge": 1e-6, "hinge": 1e-3}
DISTINCT_GROUPS = 3000
LEVELS = 1000  # distinct numbers, so that text is made from ready pieces


def write_text(path, n_groups):
    """LETOR lines: numbers with three digits, five grades from a linear function with noise. Groups repeat under other names,
    because making text takes much longer than reading it."""
    random = np.random.default_rng(7)
    weights = random.normal(size=FEATURES)
    pieces = np.array(
        [[f" {column + 1}:{level / LEVELS:.3f}" for level in range(LEVELS)] for column in range(FEATURES)], dtype=object
    )
    spread = np.sqrt((weights**2).sum() / 12)
    known = []
    with open(path, "w", buffering=1 << 22) as out:
        for group in range(n_groups):
            if group < DISTINCT_GROUPS:
                levels = random.integers(LEVELS, size=(ITEMS_OF_GROUP, FEATURES))
                scores = (levels / LEVELS - 0.5) @ weights + spread * random.normal(size=ITEMS_OF_GROUP)
                grades = np.clip(np.round(2 + scores / spread), 0, 4).astype(int)
                texts = pieces[np.arange(FEATURES), levels]
                known.append([(f"{grade} qid:", "".join(text) + "\n") for grade, text in zip(grades, texts)])
            name = str(group)
            out.write("".join(start + name + rest for start, rest in known[group % DISTINCT_GROUPS]))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--program", default=str(ROOT / "target/release/rankwise"))
    arguments.add_argument("--gb", type=float, default=4.0, help="size of the block file")
    arguments.add_argument("--memory-mb", type=int, default=512)
    arguments.add_argument("--limit-mb", type=int, default=600, help="what the peak memory must stay below")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--data", default=str(ROOT / "bench/.data"), help="where files are generated")
    arguments.add_argument("--keep", action="store_true", help="keep the generated files")
    arguments.add_argument("--out", default=str(ROOT / "bench/results/out_of_core.md"))
    options = arguments.parse_args()
    check_program(options.program)
    folder = Path(options.data)
    folder.mkdir(parents=True, exist_ok=True)
    n_groups = round(options.gb * 1e9 / (4 * FEATURES * ITEMS_OF_GROUP))
    text, blocks = folder / "out_of_core.letor", folder / "out_of_core.rwb"
    models = [folder / "out_of_core.memory", folder / "out_of_core.disk"]
    try:
        if not text.exists() and not blocks.exists():
            print(f"writing {n_groups * ITEMS_OF_GROUP} items as text", flush=True)
            write_text(text, n_groups)
        threads = ["--threads", options.threads]
        converted = None
        if not blocks.exists():
            print("converting", flush=True)
            converted = call(options.program, "convert", text, blocks, *threads)
            converted["text"] = text.stat().st_size
        if not options.keep:
            text.unlink(missing_ok=True)
        rows, runs = [], {}
        for loss in ["squared-hinge", "hinge"]:
            for name, model, limit in zip(["memory", "disk"], models, [[], ["--memory-mb", options.memory_mb]]):
                print(f"{loss}, {name}", flush=True)
                started = time.monotonic()
                run = call(options.program, "train", blocks, "--loss", loss, "--C", 1e-6, "--tol", TOL[loss], "-o", model, *limit, *threads)
                run["wall"] = time.monotonic() - started
                run["bytes"] = model.read_bytes()
                runs[loss, name] = run
                rows.append(
                    row(
                        loss,
                        "in memory" if name == "memory" else f"on the disk, `--memory-mb {options.memory_mb}`",
                        seconds(run["seconds"]["load"]),
                        seconds(run["seconds"]["train"]),
                        run["iterations"],
                        repr(run["objective"]),
                        memory(run["peak_memory_bytes"]),
                    )
                )
    finally:
        if not options.keep:
            for path in [text, blocks, *models]:
                path.unlink(missing_ok=True)
    some = runs["squared-hinge", "memory"]
    faults = []
    for loss in ["squared-hinge", "hinge"]:
        in_memory, on_disk = runs[loss, "memory"], runs[loss, "disk"]
        difference = abs(in_memory["objective"] - on_disk["objective"]) / in_memory["objective"]
        if difference > 1e-9:
            faults.append(f"{loss}: objectives differ by {difference:.1e}")
        if in_memory["bytes"] != on_disk["bytes"]:
            faults.append(f"{loss}: the models are not the same bytes")
        if on_disk["peak_memory_bytes"] >= options.limit_mb * 1e6:
            faults.append(f"{loss}: {memory(on_disk['peak_memory_bytes'])} of memory")
    lines = [
        "# Data larger than memory",
        "",
        f"{version_of(options.program)}, {processor()}, {options.threads} threads, {datetime.date.today()}. "
        f"{some['items']:,} items × {FEATURES} features in {some['groups']:,} groups, five grades, "
        f"{some['pairs']:,} pairs ({DISTINCT_GROUPS:,} groups, repeated); stored dense in f32, {memory(4 * FEATURES * n_groups * ITEMS_OF_GROUP)}. "
        f"C = 1e-6, tolerance {TOL['squared-hinge']} for the squared hinge and {TOL['hinge']} for the hinge. "
        "Reading includes the comparison of all checksums. The file is in the system's cache as far as that reaches.",
        "",
        row("loss", "features", "reading s", "training s", "steps", "objective", "peak memory"),
        row("---", "---", "--:", "--:", "--:", "--:", "--:"),
        *rows,
        "",
    ]
    if converted:
        lines += [
            f"Conversion from {memory(converted['text'])} of text: {seconds(converted['seconds'])} s, peak memory "
            f"{memory(converted['peak_memory_bytes'])}.",
            "",
        ]
    lines += ["Models byte for byte the same: " + ("yes." if not faults else "no: " + "; ".join(faults) + "."), ""]
    Path(options.out).write_text("\n".join(lines))
    print("\n".join(lines))
    if faults:
        sys.exit(1)


if __name__ == "__main__":
    main()
