"""rankwise.dask on ten times S2, beside one machine and beside LightGBM's ranker for Dask.

    python bench/cluster.py [--quick] [--repeats 3]

Every partition is S2 with another seed, made on its worker before the clock starts. The script ends with exit status 1 if weights that
should agree do not, if two workers are slower than one, or if a worker takes much more memory than its partitions.
"""

import argparse
import os
import platform
import sys
import time
from pathlib import Path

import numpy as np

import ranking_data
from common import memory, processor, row, seconds

C, TOL, TREES = 1e-6, 1e-3, 100
CLOSE = 1e-8


def partition(number, n_groups):
    """(items, labels, groups) of one partition, in single precision."""
    items, labels, qid = ranking_data.dense(200 + number, n_groups, 100, 136, ranking_data.SKEWED, 0.7)
    return items.astype(np.float32), labels, qid + number * n_groups


def resident(fresh=False):
    """Bytes in use, and the most there ever were since the last fresh start."""
    if fresh:
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            pass
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return tuple(int(status[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))


def prepare():
    """Imports what a fit needs: no part of the seconds nor of the memory of a fit."""
    import rankwise.dask  # noqa: F401
    from rankwise import RankSVM  # noqa: F401


class Cluster:
    """Workers of one thread each, with the partitions on them."""

    def __init__(self, n_workers, n_parts, n_groups):
        import dask
        from dask.distributed import Client, LocalCluster, wait

        self.cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, memory_limit="9GB")
        self.client = Client(self.cluster)
        self.client.run(prepare)
        workers = list(self.client.nthreads())
        parts = [
            self.client.submit(partition, number, n_groups, workers=[workers[number % n_workers]], allow_other_workers=True)
            for number in range(n_parts)
        ]
        wait(parts)
        self.columns = [[dask.delayed(part)[at] for part in parts] for at in range(3)]

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.client.close()
        self.cluster.close()


def one_machine(data, threads, repeats):
    from rankwise import RankSVM

    least = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        machine = RankSVM(C=C, tol=TOL, threads=threads).fit(data[0], data[1], qid=data[2])
        least = min(least, time.perf_counter() - start)
    return least, machine


def spread(n_workers, n_parts, n_groups, repeats):
    """Seconds, the machine, and what the workers' memory grew by during the fit."""
    from rankwise.dask import RankSVM

    with Cluster(n_workers, n_parts, n_groups) as cluster:
        least = float("inf")
        held = cluster.client.run(resident, fresh=True)
        for _ in range(repeats):
            start = time.perf_counter()
            machine = RankSVM(C=C, tol=TOL, client=cluster.client).fit(*cluster.columns[:2], qid=cluster.columns[2])
            least = min(least, time.perf_counter() - start)
        peaks = cluster.client.run(resident)
        added = max(peaks[worker][1] - held[worker][0] for worker in held)
        return least, machine, added


def lightgbm(n_workers, n_parts, n_groups):
    import dask.array as da
    from lightgbm.dask import DaskLGBMRanker

    with Cluster(n_workers, n_parts, n_groups) as cluster:
        n = n_groups * 100
        arrays = [
            da.concatenate([da.from_delayed(part, shape=(n, *shape), dtype=kind) for part in column])
            for column, shape, kind in zip(cluster.columns, [(136,), (), ()], [np.float32, float, int])
        ]
        sizes = da.concatenate(
            [da.from_delayed(part, shape=(n_groups,), dtype=int) for part in [group_sizes(q) for q in cluster.columns[2]]]
        )
        start = time.perf_counter()
        DaskLGBMRanker(n_estimators=TREES, client=cluster.client).fit(arrays[0], arrays[1], group=sizes)
        return time.perf_counter() - start


def group_sizes(qid):
    import dask

    return dask.delayed(lambda ids: np.unique(ids, return_counts=True)[1])(qid)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="ten times a tenth of S2, and no LightGBM")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    n_parts, n_groups = 10, 200 if options.quick else 2000
    size = n_parts * n_groups * 100 * (136 * 4 + 16)

    import dask
    import rankwise

    parts = [partition(number, n_groups) for number in range(n_parts)]
    data = [np.concatenate(values) for values in zip(*parts)]
    del parts
    rows, faults = [], []
    alone = {threads: one_machine(data, threads, options.repeats) for threads in (1, 2)}
    for threads, (took, machine) in alone.items():
        rows.append(row(f"one machine, {threads} thread{'s' * (threads > 1)}", seconds(took), "–", "–", "–", f"{machine.objective_:.6f}"))
    del data
    known = alone[1][1]
    took = {}
    for n_workers in (1, 2):
        took[n_workers], machine, added = spread(n_workers, n_parts, n_groups, options.repeats)
        apart = np.linalg.norm(machine.coef_ - known.coef_) / np.linalg.norm(known.coef_)
        name = f"Dask, {n_workers} worker{'s' * (n_workers > 1)} of 1 thread"
        rows.append(row(name, seconds(took[n_workers]), machine.rounds_, memory(added), f"{apart:.0e}", f"{machine.objective_:.6f}"))
        if apart > CLOSE:
            faults.append(f"weights of {n_workers} workers are {apart:.1e} from those of one machine")
        if added > 0.5 * size / n_workers:
            faults.append(f"a worker of {n_workers} took {memory(added)} beside its partitions of {memory(size / n_workers)}")
    if took[2] >= took[1]:
        faults.append(f"two workers took {took[2]:.2f} s, one {took[1]:.2f} s")
    if not options.quick:
        try:
            import lightgbm as tool

            rows.append(row(f"LightGBM {tool.__version__} DaskLGBMRanker, {TREES} trees, 2 workers of 1 thread", seconds(lightgbm(2, n_parts, n_groups)), "–", "–", "–", "–"))
        except Exception as problem:  # its own exceptions of all kinds
            rows.append(row(f"LightGBM DaskLGBMRanker: {type(problem).__name__}", "–", "–", "–", "–", "–"))
    text = [
        "# On a Dask cluster",
        "",
        f"{processor()}, {os.cpu_count()} cores. rankwise {rankwise.__version__}, dask {dask.__version__}, Python {platform.python_version()}.",
        "",
        f"Ten times S2: {n_parts * n_groups * 100:,} items of 136 features in float32, {n_parts * n_groups:,} groups, {memory(size)} in {n_parts} partitions that are on "
        f"the workers before the clock starts. C {C:g}, squared hinge, tol {TOL:g}; wall seconds of `fit`, the least of {options.repeats}. *Memory added*: the most that a "
        "worker had during the fits, less its partitions. *Apart*: the distance of the weights from those of one machine, relative.",
        "",
        row("", "fit s", "rounds", "memory added", "apart", "objective"),
        row("---", "--:", "--:", "--:", "--:", "--:"),
        *rows,
        "",
        *[f"- **{fault}**" for fault in faults],
        *([] if faults else ["- Two workers are faster than one, weights agree, and no worker holds more than its partitions."]),
        f"- Seconds of one worker over those of two: {took[1] / took[2]:.2f}. With both cores busy, the client shares them with the workers.",
    ]
    print("\n".join(text))
    if not options.quick:
        (Path(__file__).parent / "results" / "cluster.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
