"""A change of weights that waits for the samplers to come to a point where it may happen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import Cancelled, describe

if TYPE_CHECKING:
    from ..operations import Worker
    from .engine import SampleModel


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
            if in_flight == "abort":
                for job in sampler.scheduler.jobs(begun_only=True):
                    sampler.scheduler.abort(job)
            sampler.scheduler.draining = True
        worker.background.append(self)

    def busy(self) -> bool:
        return True

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
        from ..operations import Answer

        self.worker.answer(self.request, Answer(result))

    def fail(self, error: dict[str, Any]) -> None:
        self._end()
        self.worker.refuse(self.request, error)

    def _end(self) -> None:
        self.worker.background.remove(self)
        for sampler in self.samplers:
            sampler.scheduler.draining = False
