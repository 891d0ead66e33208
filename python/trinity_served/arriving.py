"""Weights that a trainer of Trinity broadcasts, on their way into the workers of a server."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from trinity_torch.sampler.link import Link, pieces
from trinity_torch.sampler.weights import checksum_of


def shapes_of(path: str) -> dict[str, torch.Size]:
    """The parameters of a model of Transformers, in the order in which a trainer sends them."""
    from transformers import AutoConfig, AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(path))
    return {name: p.shape for name, p in model.named_parameters()}


class Place(NamedTuple):
    """Where a worker of a server is."""

    device: torch.device
    rank: int
    """Among the workers of its server, of which there are `workers`."""
    workers: int


class ArrivingWeights:
    """
    The first worker of a server is member `rank` of the group; the others get the weights from it. They wait in main
    memory: the device has no room for a second copy, and those in use stay until everybody has the new ones.
    """

    def __init__(self, place: Place, port: int, rank: int, size: int, seconds: float):
        self.weights: dict[str, Tensor] = {}
        self._place = place
        self._shapes: dict[str, torch.Size] | None = None
        self._link = Link(port, rank, size, place.device, seconds) if place.rank == 0 else None

    def receive(self, path: str, dtype: torch.dtype) -> str:
        self._shapes = self._shapes or shapes_of(path)
        arrived = {}
        for name, shape in self._shapes.items():
            weight = torch.empty(shape, dtype=dtype, device=self._place.device)
            for piece in pieces(weight):
                if self._link is not None:
                    self._link.broadcast(piece)
                if self._place.workers > 1:
                    dist.broadcast(piece, src=0)
            arrived[name] = weight.cpu()
        self.weights = arrived
        return checksum_of(arrived.values())

    def save(self, path: str) -> None:
        from safetensors.torch import save_file

        save_file(self.weights, path, metadata={"format": "pt"})

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
