"""The weights of a trainer, whole, and a sum that says whether two copies are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from ..checkpoint import experts, state
from ..network import lora
from ..train.train_model import TrainModel

# Places of a checksum.
WORDS = 64


def weights_of(trainer: TrainModel) -> Iterator[tuple[str, Tensor]]:
    """One after the other, whole, by the names of files of Transformers, an adapter merged in. All ranks have to go through them."""
    adapted = {f"{name}.weight": module for name, module in lora.modules(trainer.network)} if trainer.lora else {}
    for name, p in trainer.network.named_parameters():
        if lora.is_adapter(name):
            continue
        weight = whole(p)
        if (module := adapted.get(name)) is not None:
            a, b = (whole(factor) for factor in module.factors())
            weight = module.merged(weight, a, b)
        own, ready = state.hf_name(name), weight.to(trainer.dtype)
        parts = experts.divided(trainer.network.config.model_type, own, ready.shape)
        yield from ((part, of(ready)) for part, of in parts) if parts else [(own, ready)]


def places_of(hf: Any) -> Iterator[tuple[str, Tensor]]:
    """Where the weights above belong in a sampler, in the same order and by the same names."""
    return experts.places(hf.config.model_type, hf.named_parameters())


def whole(p: Tensor) -> Tensor:
    if not isinstance(p, DTensor):
        return p.data
    # shards may wait on the host
    local = p.to_local().to(p.device_mesh.device_type)
    return DTensor.from_local(local, p.device_mesh, p.placements, run_check=False, shape=p.shape, stride=p.stride()).full_tensor()


def checksum_of(tensors: Iterable[Tensor]) -> str:
    """Of the numbers as they lie in memory: sums of their bits by place."""
    sums = torch.stack([_sums(tensor) for tensor in tensors])
    return hashlib.blake2b(sums.cpu().numpy().tobytes(), digest_size=16).hexdigest()


def _sums(tensor: Tensor) -> Tensor:
    """Of words of eight bytes, which the CPU adds up ten times as fast as it widens smaller ones."""
    data = tensor.contiguous().view(-1).view(torch.uint8)
    even = data.numel() // (8 * WORDS) * (8 * WORDS)
    rows, rest = data[:even], data[even:]
    # a view of another tensor may begin between two words
    rows = rows.clone() if rows.storage_offset() % 8 else rows
    sums = rows.view(torch.int64).view(-1, WORDS).sum(0)
    if rest.numel() > 0:
        last = data.new_zeros(8 * WORDS)
        last[: rest.numel()] = rest
        sums += last.view(torch.int64)
    return sums
