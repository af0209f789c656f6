"""What the benchmarks share: the machine, the program, and how figures are written."""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHORT = 5.0


def peak_memory():
    """The high-water mark of this process in bytes."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def fresh_peak():
    """Lets the high-water mark start again from what is in use now, where the system can, and tells it in bytes."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass
    return peak_memory()


def on_cores(n):
    """Keeps a child process to n cores, where the system can: a tool may use more threads than it was told to."""
    if n is None or not hasattr(os, "sched_setaffinity"):
        return None
    return lambda: os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n])


def call(program, *arguments, cores=None):
    """What the program prints with --json."""
    command = [program, *map(str, arguments), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=on_cores(cores))
    if done.returncode != 0:
        sys.exit(f"{program} {' '.join(map(str, arguments))}\nexit {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def run_peer(script, limit, threads, task):
    """What one run of another tool reports; None, and a word on standard error, if it fails or takes longer than `limit` seconds."""
    limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [sys.executable, str(ROOT / "bench" / script), json.dumps({**task, "threads": threads})]
    try:
        done = subprocess.run(command, env={**os.environ, **limits}, capture_output=True, text=True, timeout=limit,
                              preexec_fn=on_cores(threads))
    except subprocess.TimeoutExpired:
        print(f"warning: {task['tool']} took more than {limit} s", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(f"warning: {task['tool']} failed (exit {done.returncode}) on {task}: {done.stderr[-500:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def repeated(run, wanted):
    """Medians of every number over `wanted` runs after a first one, or the first alone if it takes long."""
    start = time.perf_counter()
    first = run()
    if first is None or wanted <= 1 or time.perf_counter() - start > SHORT:
        return first
    runs = [run() for _ in range(wanted)]
    median = lambda key: statistics.median(one[key] for one in runs)
    return {key: median(key) if isinstance(value, float) else value for key, value in first.items()}


def version_of(program):
    return subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True).stdout.strip() or "rankwise"


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def check_program(program):
    if not os.access(program, os.X_OK):
        sys.exit(f"{program} is not a program; build it with `cargo build --release` or name it with --program")


def seconds(value):
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def memory(n_bytes):
    return f"{n_bytes / 1e9:.2f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"
