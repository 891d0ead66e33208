"""Requests one after the other, on every rank; between them, steps of what goes on in the background."""

from __future__ import annotations

import gc
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .. import clock
from ..errors import Cancelled, WorkerError, describe, is_memory
from ..world import World
from .channel import Channel
from .frames import Frame
from .operations import OPERATIONS, Answer, Operation, OpenModel, Request, Worker

FATAL_EXIT = 71
# only because another rank has ended; see src/engine/torch/failure.ts
ALONE_EXIT = 72
# Seconds. Requests often come many at once: a first step waits for the next of them, and so long at most: the others come while it runs.
NEXT, ALL = 0.001, 0.004


class Server:
    """`channel`: on rank 0 the connection with Trinity, None elsewhere."""

    def __init__(
        self,
        world: World,
        channel: Channel | None,
        open_model: OpenModel | None = None,
        operations: Mapping[str, Operation] = OPERATIONS,
    ) -> None:
        self.world = world
        self.channel = channel
        self.operations = operations
        # since when a first step waits
        self._since: float | None = None
        self.worker = Worker(world, open_model or _open_model, channel.send if channel is not None else None)

    def run(self) -> None:
        while True:
            try:
                self.turn()
            except Exception:
                # ranks agree on all errors of their work: what comes this far is that they cannot speak with each other
                if self.world.size == 1:
                    raise
                traceback.print_exc(file=sys.stderr)
                sys.stderr.flush()
                os._exit(ALONE_EXIT)

    def turn(self) -> None:
        frame = self.world.share_frame(self._next() if self.channel is not None else None)
        if "step" in frame.header:
            self._step(frame.header["step"])
        else:
            self._serve(frame)

    def _next(self) -> Frame:
        """A request, or a step of the background when nobody asks for anything."""
        assert self.channel is not None
        frame = self.channel.next(self._patience())
        if frame is not None:
            return frame
        self._since = None
        under_way = set[int]().union(*(one.requests() for one in self.worker.background))
        return Frame({"step": self.channel.take_cancelled(under_way)}, bytearray())

    def _patience(self) -> float | None:
        """Seconds to wait for a request before the background goes on; None: there is nothing to go on with."""
        busy = [one for one in self.worker.background if one.busy()]
        if not busy or not all(one.gathering() for one in busy):
            self._since = None
            return 0.0 if busy else None
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        return max(0.0, min(NEXT, self._since + ALL - now))

    def _serve(self, frame: Frame) -> None:
        header = frame.header
        number, op = header["id"], header["op"]

        def cancelled() -> bool:
            return self.world.share_flag(self.channel is not None and self.channel.is_cancelled(number))

        def work() -> Answer | None:
            if op not in self.operations:
                raise WorkerError("engine/request", f"there is no operation '{op}'")
            # a sampling request that is cancelled has an answer all the same
            if op != "sample" and cancelled():
                raise Cancelled
            return self.operations[op](self.worker, Request(number, op, header.get("args", {}), frame.tensors(), cancelled))

        answer, error = self._together(work)
        if error is not None:
            self.worker.refuse(number, error)
        elif answer is not None:
            self.worker.answer(number, answer)
        if self.channel is not None and (answer is not None or error is not None):
            self.channel.forget(number)
        if error is not None and error.get("fatal"):
            os._exit(FATAL_EXIT)

    def _step(self, cancelled: list[int]) -> None:
        for one in list(self.worker.background):
            _, error = self._together(partial(one.step, cancelled))
            if error is not None:
                one.fail(error)

    def _together(self, work: Callable[[], Answer | None]) -> tuple[Answer | None, dict[str, Any] | None]:
        """Runs this rank's part and hears how the others fared: either all succeed or all have the same error."""
        answer, error = None, None
        try:
            answer = work()
        except Exception as problem:
            error = describe(problem)
            if not isinstance(problem, (Cancelled, WorkerError)):
                traceback.print_exc(file=sys.stderr)
                sys.stderr.flush()
            if is_memory(problem):
                # frames of the traceback hold what filled the memory
                traceback.clear_frames(problem.__traceback__)
        if error is not None and error["code"] == "engine/memory":
            _release()
        return answer, self.world.agree(error)


def _open_model(kind: str, spec: dict[str, Any], options: dict[str, Any], world: World, trainer: Any = None) -> Any:
    # Transformers takes seconds to import and may be broken: its error belongs into an answer
    with clock.part("imports"):
        from ..train.open import open_model

    return open_model(kind, spec, options, world, trainer)


def _release() -> None:
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
