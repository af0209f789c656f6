"""Parts on the workers of a cluster, and how they are asked."""

from __future__ import annotations

import uuid
from typing import Any

from ..exceptions import RankwiseError
from ._parts import Part, add, answer, register

#: Answers that are added at a time, on a worker.
_AT_A_TIME = 8


class Cluster:
    """Parts on the workers of a cluster, and how they are asked."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.name = f"rankwise-{uuid.uuid4().hex[:12]}"
        self.rounds = 0
        self.parts: list[Any] = []
        self.threads = 1

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *problem: object) -> None:
        """Lets go of the parts, whoever else still knows this."""
        self.parts.clear()

    def place(self, rows: list[Any], make: Any, *arguments: Any) -> None:
        """Makes a part of every partition, where that is."""
        numbered = range(len(rows))
        self.parts = self.client.map(
            made, rows, numbered, make=make, arguments=arguments, key=f"{self.name}-part", pure=False
        )
        threads = sum(self.client.nthreads().values())
        self.threads = max(1, threads // max(1, len(rows)))

    def ask(self, question: bytes) -> bytes:
        """Brings a question to all parts; answers are added in the order of the parts, some at a time."""
        self.rounds += 1
        answers = self.client.map(
            answer,
            self.parts,
            question=question,
            threads=self.threads,
            key=f"{self.name}-answer-{self.rounds}",
            pure=False,
        )
        level = 0
        while len(answers) > 1:
            level += 1
            runs = [answers[at : at + _AT_A_TIME] for at in range(0, len(answers), _AT_A_TIME)]
            answers = [
                self.client.submit(add, *run, key=f"{self.name}-sum-{self.rounds}-{level}-{at}", pure=False)
                for at, run in enumerate(runs)
            ]
        summed: bytes = self.result(answers[0])
        return summed

    def result(self, future: Any) -> Any:
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        try:
            return future.result()
        except (FutureCancelledError, KilledWorker) as problem:
            raise RankwiseError(
                f"a part of the data was lost with its worker and cannot be made again ({problem}): "
                "give data that Dask can read or compute again, or workers with more memory"
            ) from problem


def made(rows: Any, number: int, make: Any, arguments: tuple[Any, ...]) -> Part:
    register()
    return Part(rows, make, (number, *arguments))
