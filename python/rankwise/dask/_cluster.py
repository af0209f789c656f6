"""Parts on the workers of a cluster, and how they are asked."""

from __future__ import annotations

import uuid
from contextlib import suppress
from copy import deepcopy
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
        self.asked: list[Any] = []
        self.threads = 1

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: object, problem: object, where: object) -> None:
        """Lets go of the parts, whoever else still knows this; a traceback knows what was asked last."""
        if kind is not None:
            with suppress(Exception):  # the client itself may be what is broken
                self.client.cancel([*self.parts, *self.asked], force=True)
        self.parts.clear()
        self.asked.clear()

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
        self.asked = list(answers)
        level = 0
        while len(answers) > 1:
            level += 1
            runs = [answers[at : at + _AT_A_TIME] for at in range(0, len(answers), _AT_A_TIME)]
            answers = [
                self.client.submit(add, *run, key=f"{self.name}-sum-{self.rounds}-{level}-{at}", pure=False)
                for at, run in enumerate(runs)
            ]
            self.asked.extend(answers)
        summed: bytes = self.result(answers[0])
        self.asked.clear()
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


class OnCluster:
    """An estimator that knows a client: which is never copied, and stays behind where the estimator travels."""

    def __sklearn_clone__(self) -> Any:
        return type(self)(**self.get_params(deep=False))  # type: ignore[attr-defined]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "client": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        new = type(self).__new__(type(self))
        memo[id(self)] = new
        for name, value in self.__dict__.items():
            new.__dict__[name] = value if name == "client" else deepcopy(value, memo)
        return new
