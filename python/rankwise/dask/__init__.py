"""Learning on a Dask cluster: data that do not fit on one machine.

The machines are those of rankwise itself, with the same answer but for rounding. Every partition becomes a part that stays
on its worker; what travels is a few numbers for each feature, some dozens of times. A worker that is lost takes no result with it:
Dask makes its parts again from the data, and they answer as before.

Data are Dask arrays, Dask data frames, or lists of delayed partitions::

    from dask.distributed import Client
    from rankwise.dask import RankSVM

    client = Client()
    ranker = RankSVM(C=0.1).fit(frame[features], frame["label"], qid=frame["qid"])
    scores = ranker.predict(frame[features])  # lazy, partition by partition
"""

from __future__ import annotations

from ._comparers import CompareSVM, Davidson
from ._rankers import RankSVM, evaluate

__all__ = ["CompareSVM", "Davidson", "RankSVM", "evaluate"]
