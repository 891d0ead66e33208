"""
Decode steps as CUDA graphs, one for each size of batch. Recording one takes as long as dozens of steps, and while requests come and
go sizes change with every step: so one is recorded only when its size has been asked for a few times, and where one that is not much larger
does as well, when it has been asked for often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar


class Kind(NamedTuple):
    """What a recording depends on beside the size of the batch."""

    apart: bool
    shared: bool
    limited: bool
    needs: int


class Recording(Protocol):
    def replay(self) -> object: ...


R = TypeVar("R", bound=Recording)

# Steps of a size that come before it is recorded; the same where a recording of so many times as many rows, at most, serves it.
BEFORE, SERVED, NEAR = 4, 48, 2
# A recording of so many times as many rows may take longer than a step without one: it cuts no context into pieces.
FAR = 64


class Recorded(Generic[R]):
    def __init__(self, record: Callable[[int, Kind], R]):
        self._record = record
        self._kept: dict[tuple[int, Kind], R] = {}
        self._asked: Counter[tuple[int, Kind]] = Counter()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, batch: int, kind: Kind, fits: Callable[[int], bool]) -> tuple[int, R] | None:
        """
        A recording for `batch` rows and its size, which may be larger: rows that nobody has cost little, and a step without a
        recording costs the most. `fits`: whether one of a larger size has room for these rows. None: there is none.
        """
        found = self._kept.get((batch, kind))
        if found is not None:
            return batch, found
        larger = [size for size, other in self._kept if other == kind and batch < size <= FAR * batch and fits(size)]
        self._asked[batch, kind] += 1
        near = any(size <= NEAR * batch for size in larger)
        if self._asked[batch, kind] > (SERVED if near else BEFORE):
            found = self._kept[batch, kind] = self._record(batch, kind)
            return batch, found
        return (min(larger), self._kept[min(larger), kind]) if larger else None

    def forget(self) -> None:
        """Recordings hold addresses: after a move they are made anew."""
        self._kept.clear()
        self._asked.clear()
