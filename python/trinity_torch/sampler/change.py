"""A change of weights that waits for the samplers to come to a point where it may happen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import Cancelled, WorkerError, describe

if TYPE_CHECKING:
    from ..wire.operations import Answer, Worker
    from .engine import SampleModel


class Hold:
    """A sampler that waits between two steps while weights come from another process."""

    def __init__(self, worker: Worker, request: int, sampler: SampleModel, in_flight: str):
        self.worker, self.request, self.sampler, self.in_flight = worker, request, sampler, in_flight
        self.reached = False
        begin(sampler, in_flight)
        worker.background.append(self)

    @staticmethod
    def of(worker: Worker, sampler: SampleModel) -> Hold:
        for one in worker.background:
            if isinstance(one, Hold) and one.sampler is sampler:
                return one
        raise WorkerError("engine/request", "the sampler is not held")

    def busy(self) -> bool:
        return not self.reached

    def gathering(self) -> bool:
        return False

    def requests(self) -> set[int]:
        return set() if self.reached else {self.request}

    def step(self, cancelled: list[int]) -> None:
        if self.reached:
            return
        if self.request in cancelled:
            self.fail(describe(Cancelled()))
        elif self.in_flight != "finish" or self.sampler.scheduler.drained:
            self.sampler.scheduler.settle()
            self.sampler.scheduler.held = self.reached = True
            self.worker.answer(self.request, answer())

    def fail(self, error: dict[str, Any]) -> None:
        self.end(None)
        self.worker.refuse(self.request, error)

    def end(self, version: int | None) -> dict[str, Any]:
        sampler, scheduler = self.sampler, self.sampler.scheduler
        if version is not None:
            scheduler.restart()
            sampler.take(sampler.arrived.items())
            sampler.install(version)
        sampler.arrived = {}
        scheduler.held = scheduler.draining = False
        self.worker.background.remove(self)
        return {"checksum": sampler.checksum()} if version is not None else {}


class Change:
    """
    All samplers get the new weights, or every one stays as it was. Requests that have begun are finished first, go on with
    the new weights (computed again from their first token on), or end with what they have.
    """

    def __init__(
        self,
        worker: Worker,
        request: int,
        samplers: list[SampleModel],
        version: int,
        in_flight: str,
        put: Callable[[SampleModel], None],
    ):
        self.worker, self.request, self.samplers = worker, request, samplers
        self.version, self.in_flight, self.put = version, in_flight, put
        self.began = time.perf_counter()
        for sampler in samplers:
            begin(sampler, in_flight)
        worker.background.append(self)

    def busy(self) -> bool:
        return True

    def gathering(self) -> bool:
        return False

    def requests(self) -> set[int]:
        return {self.request}

    def step(self, cancelled: list[int]) -> None:
        if self.request in cancelled:
            self.fail(describe(Cancelled()))
            return
        if self.in_flight == "finish" and not all(sampler.scheduler.drained for sampler in self.samplers):
            return
        for sampler in self.samplers:
            sampler.scheduler.restart()
        for sampler in self.samplers:
            self.put(sampler)
        checksums = {sampler.checksum() for sampler in self.samplers}
        for sampler in self.samplers:
            sampler.install(self.version)
        self._end()
        result = {"ms": (time.perf_counter() - self.began) * 1000, "checksum": " ".join(sorted(checksums))}
        self.worker.answer(self.request, answer(result))

    def fail(self, error: dict[str, Any]) -> None:
        self._end()
        self.worker.refuse(self.request, error)

    def _end(self) -> None:
        self.worker.background.remove(self)
        for sampler in self.samplers:
            sampler.scheduler.draining = False


def begin(sampler: SampleModel, in_flight: str) -> None:
    """From now on no request begins."""
    if in_flight == "abort":
        for job in sampler.scheduler.places.jobs(begun_only=True):
            sampler.scheduler.abort(job)
    sampler.scheduler.draining = True


def answer(result: dict[str, Any] | None = None) -> Answer:
    from ..wire.operations import Answer

    return Answer(result or {})
