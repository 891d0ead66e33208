"""Weights from the process of a trainer to those of samplers, by a process group of their own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import Tensor

from ..errors import WorkerError
from ..store import local_store, stay_here
from .weights import checksum_of, places_of, weights_of

if TYPE_CHECKING:
    from ..train.train_model import TrainModel
    from ..wire.operations import Worker
    from .engine import SampleModel

# Bytes that travel in one piece.
PIECE = 2**28


class Link:
    """Member `rank` of `size`; 0 is the trainer. No wait in it is longer than `seconds`."""

    def __init__(self, port: int, rank: int, size: int, device: torch.device, seconds: float):
        timeout = timedelta(seconds=seconds)
        self.rank, self.device, self._timeout = rank, device, timeout
        stay_here()
        store = local_store(port, size, rank == 0, timeout)
        store.set_timeout(timeout)
        self._store = store
        self._group: Any
        if device.type == "cuda":
            options = dist.ProcessGroupNCCL.Options()
            options._timeout = timeout
            self._group = dist.ProcessGroupNCCL(store, rank, size, options)
        else:
            self._group = dist.ProcessGroupGloo(store, rank, size, timeout)

    def broadcast(self, tensor: Tensor) -> None:
        """From the trainer to all others."""
        options = dist.BroadcastOptions()
        options.rootRank, options.rootTensor = 0, 0
        self._group.broadcast([tensor], options).wait(self._timeout)

    def close(self) -> None:
        if self.device.type == "cuda":
            self._group.abort()
        del self._group, self._store


def send(worker: Worker, trainer: TrainModel) -> str:
    """Every rank takes part in making weights whole; the first one sends them."""
    link = worker.link

    def sent() -> Iterator[Tensor]:
        for _, weight in weights_of(trainer):
            weight = weight.to(trainer.world.device).contiguous()
            if worker.world.first:
                for piece in pieces(weight):
                    link.broadcast(piece)
            yield weight

    with torch.no_grad(), trainer.present():
        if worker.world.first:
            _need(link)
        checksum = checksum_of(sent())
    return checksum


def receive(worker: Worker, sampler: SampleModel) -> str:
    """The weights are put aside: they are used once everybody has them. Ranks of a sampler keep their parts of what the first gets."""
    link, split, world = worker.link, sampler.split, worker.world
    if world.first:
        _need(link)
    arrived: dict[str, Tensor] = {}

    def received() -> Iterator[Tensor]:
        for name, place in places_of(sampler.network.hf):
            weight = place.new_empty(split.shapes[name]) if split else torch.empty_like(place)
            problem = _take(link, weight) if world.first else None
            # the others must not wait for what never comes
            if not world.share_flag(problem is None):
                raise problem or WorkerError("engine/link", "the weights did not arrive")
            arrived[name] = split.part(split.spread(weight), place.shape).clone() if split else weight
            yield weight

    checksum = checksum_of(received())
    sampler.arrived = arrived
    return checksum


def _take(link: Link, weight: Tensor) -> Exception | None:
    try:
        for piece in pieces(weight):
            link.broadcast(piece)
    except Exception as problem:
        return problem
    return None


def pieces(tensor: Tensor) -> tuple[Tensor, ...]:
    return tensor.view(-1).split(PIECE // tensor.element_size())


def _need(link: Link | None) -> None:
    if link is None:
        raise WorkerError("engine/request", "this process is not in a group for weight transfers")
