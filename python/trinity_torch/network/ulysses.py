"""Ulysses: the tokens of one micro-batch over several ranks, which change over to heads for the attention."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from .rows import Pack, put


@dataclass(frozen=True)
class Share:
    """This rank's part of the scored tokens of a micro-batch: `places` of `total`."""

    group: dist.ProcessGroup
    places: slice
    total: int

    def whole(self, scores: dict[str, Tensor]) -> dict[str, Tensor]:
        """Scores of all ranks' tokens, without gradients, from those of each."""
        found = {}
        for kind, own in scores.items():
            found[kind] = torch.zeros(self.total, dtype=own.dtype, device=own.device)
            found[kind][self.places] = own.detach()
            dist.all_reduce(found[kind], group=self.group)
        return found


def cut(pack: Pack, group: dist.ProcessGroup, device: torch.device) -> Pack:
    """Of a pack on the CPU, the part that this rank computes. Bounds stay those of the whole, as attention sees it."""
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    tokens = pack.ids.shape[1] // size
    first = rank * tokens
    # scored tokens lie in the order of their positions
    low, high = (int(x) for x in torch.searchsorted(pack.at, pack.at.new_tensor([first, first + tokens])))
    here, scored = slice(first, first + tokens), slice(low, high)
    return replace(
        pack,
        ids=put(pack.ids[:, here], device),
        positions=put(pack.positions[:, here], device),
        bounds=put(pack.bounds, device),
        at=put(pack.at[scored] - first, device),
        targets=put(pack.targets[scored], device),
        others={kind: put(ids[scored], device) for kind, ids in pack.others.items()},
        inverse_temperature=put(pack.inverse_temperature[scored], device),
        share=Share(group, scored, pack.at.numel()),
    )


class Exchange(torch.autograd.Function):
    """The i-th part of every rank goes to rank i; its derivative goes the same way back."""

    @staticmethod
    def forward(ctx: Any, parts: Tensor, group: dist.ProcessGroup) -> Tensor:
        ctx.group = group
        return _exchange(parts, group)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return _exchange(grads[0], ctx.group), None


def _exchange(parts: Tensor, group: dist.ProcessGroup) -> Tensor:
    out = torch.empty_like(parts, memory_format=torch.contiguous_format)
    dist.all_to_all_single(out, parts.contiguous(), group=group)
    return out


@torch.compiler.disable
def to_heads(q: Tensor, k: Tensor, v: Tensor, group: dist.ProcessGroup) -> tuple[Tensor, Tensor, Tensor]:
    """[own tokens, all heads, size] → [all tokens, own heads, size], in one exchange."""
    ranks = dist.get_world_size(group)
    copies = ranks // math.gcd(ranks, k.shape[1])
    if copies > 1:
        k, v = (x.repeat_interleave(copies, dim=1) for x in (k, v))
    parts = [x.unflatten(1, (ranks, -1)).transpose(0, 1) for x in (q, k, v)]
    shapes = [part.shape[2:] for part in parts]
    mixed = Exchange.apply(torch.cat([part.flatten(2) for part in parts], dim=2), group).flatten(0, 1)
    q, k, v = (x.unflatten(1, shape) for x, shape in zip(mixed.split([shape.numel() for shape in shapes], dim=1), shapes))
    return q, k, v


@torch.compiler.disable
def to_tokens(out: Tensor, group: dist.ProcessGroup) -> Tensor:
    """[all tokens, own heads, size] → [own tokens, all heads, size]."""
    ranks = dist.get_world_size(group)
    return Exchange.apply(out.unflatten(0, (ranks, -1)), group).transpose(0, 1).flatten(1, 2)
