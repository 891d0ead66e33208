"""
Memory of the key/value cache, which a sampler beside a trainer has only while it samples.

Asleep, the memory is the trainer's; the addresses stay, so that recorded decode steps are still right. Nothing may be read
or written then, and what was in it is gone.
"""

from __future__ import annotations

import sys
import time
from typing import Protocol

import torch
from torch import Tensor

from ..errors import WorkerError
from .virtual import Virtual, missing


class Memory(Protocol):
    """Bytes that can be taken away and brought back under the same addresses."""

    @property
    def mapped(self) -> bool: ...

    def map(self) -> None: ...

    def unmap(self) -> None: ...

    def tensor(self) -> Tensor: ...


class Pool:
    """`memory` None: plain memory of PyTorch, which never sleeps."""

    def __init__(self, size: int, device: torch.device, memory: Memory | None = None):
        self.size, self._memory = size, memory
        self.sleeps = 0
        self._since = 0.0
        if memory is None:
            self.bytes = torch.zeros(size, dtype=torch.uint8, device=device)
            return
        memory.map()
        self.bytes = memory.tensor()[:size]
        self.bytes.zero_()

    @staticmethod
    def sleeping(size: int, device: torch.device) -> Pool:
        """One that can sleep, on a device that has such memory."""
        return Pool(size, device, Virtual(size, _index(device)))

    @property
    def can_sleep(self) -> bool:
        return self._memory is not None

    @property
    def awake(self) -> bool:
        return self._memory is None or self._memory.mapped

    @property
    def held(self) -> int:
        """Bytes that it takes now."""
        return self.size if self.awake else 0

    def sleep(self) -> None:
        if self._memory is None or not self.awake:
            return
        self._memory.unmap()
        self.sleeps += 1
        self._since = time.perf_counter()

    def wake(self) -> None:
        """Every byte is zero afterward. An error means that it sleeps on."""
        if self._memory is None or self.awake:
            return
        began = time.perf_counter()
        try:
            self._memory.map()
        except WorkerError as error:
            if error.code != "engine/memory":
                raise
            raise WorkerError(
                "engine/memory",
                f"the sampler's cache of {self.size / 2**30:.1f} GiB does not fit after training: {error}",
                "lower explorer.rollout_model.gpu_memory_utilization",
            ) from error
        # what a masked place holds must be finite, or it would reach the sums it is masked from
        self.bytes.zero_()
        took, slept = (time.perf_counter() - began) * 1e3, began - self._since
        _say(f"cache: {self.size / 2**20:.0f} MiB back in {took:.0f} ms; for {slept:.1f} s they were the trainer's")


_told = False


def can_sleep(device: torch.device) -> bool:
    """Whether pools of this device can sleep. If not, the log says so once."""
    global _told
    if device.type != "cuda":
        return False
    why = missing(_index(device))
    if why is not None and not _told:
        _told = True
        _say(f"cache: it keeps its memory while the trainer computes, because {why}")
    return why is None


def free_bytes(device: torch.device) -> int:
    """What PyTorch could still get of the device's memory, with what it keeps without using it."""
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


def _index(device: torch.device) -> int:
    return torch.cuda.current_device() if device.index is None else device.index


def _say(text: str) -> None:
    """In the worker's log."""
    print(text, file=sys.stderr, flush=True)
