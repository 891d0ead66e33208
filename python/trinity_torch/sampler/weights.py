"""The weights of a trainer, whole, and a sum that says whether two copies are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from ..checkpoint import experts, state
from ..network import lora
from ..train.train_model import TrainModel


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
    sums = []
    for tensor in tensors:
        bits = tensor.contiguous().view(torch.int16 if tensor.element_size() == 2 else torch.int32).flatten()
        sums.append(nn.functional.pad(bits, (0, -bits.numel() % 64)).view(-1, 64).sum(0, dtype=torch.int64))
    return hashlib.blake2b(torch.stack(sums).cpu().numpy().tobytes(), digest_size=16).hexdigest()
