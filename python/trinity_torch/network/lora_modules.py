"""Modules with a low-rank adapter. Existing ones become one in place, so that the names of weights stay; names are PEFT's."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Factor(nn.Module):
    """A weight of its own name; the linear module it belongs to uses it."""

    def __init__(self, rows: int, columns: int, like: Tensor):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(rows, columns, dtype=like.dtype, device=like.device))


class LoraLinear(nn.Linear):
    """weight + scale · B·A; A: [rank, in], B: [out, rank]."""

    names: ClassVar = ("lora_A.weight", "lora_B.weight")
    lora_A: Factor
    lora_B: Factor
    scale: float
    active: bool

    def forward(self, x: Tensor) -> Tensor:
        y = super().forward(x)
        return y + F.linear(self.low(x), self.lora_B.weight) if self.active else y

    def low(self, x: Tensor) -> Tensor:
        """What B is multiplied by."""
        return self.scale * F.linear(x, self.lora_A.weight)

    def adapt(self, rank: int, noise: torch.Generator) -> None:
        self.lora_A = Factor(rank, self.in_features, self.weight)
        self.lora_B = Factor(self.out_features, rank, self.weight)
        # a new adapter changes nothing: B is zero
        bound = 1 / math.sqrt(self.in_features)
        self.lora_A.weight.data.copy_(torch.empty(rank, self.in_features).uniform_(-bound, bound, generator=noise))

    def factors(self) -> tuple[Tensor, Tensor]:
        return self.lora_A.weight, self.lora_B.weight

    def merged(self, weight: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return weight.float() + self.scale * (b.float() @ a.float())


class LoraEmbedding(nn.Embedding):
    """weight + scale · (B·A)ᵀ; A: [rank, tokens], B: [size, rank]."""

    names: ClassVar = ("lora_embedding_A", "lora_embedding_B")
    lora_embedding_A: nn.Parameter
    lora_embedding_B: nn.Parameter
    scale: float
    active: bool

    def forward(self, ids: Tensor) -> Tensor:
        y = super().forward(ids)
        if not self.active:
            return y
        low = F.embedding(ids, self.lora_embedding_A.t(), self.padding_idx)
        return y + self.scale * F.linear(low, self.lora_embedding_B)

    def adapt(self, rank: int, noise: torch.Generator) -> None:
        # a new adapter changes nothing: A is zero
        self.lora_embedding_A = nn.Parameter(self.weight.new_zeros(rank, self.num_embeddings))
        first = torch.empty(self.embedding_dim, rank).normal_(generator=noise)
        self.lora_embedding_B = nn.Parameter(first.to(self.weight))

    def factors(self) -> tuple[Tensor, Tensor]:
        return self.lora_embedding_A, self.lora_embedding_B

    def merged(self, weight: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return weight.float() + self.scale * (b.float() @ a.float()).t()


Adapted = LoraLinear | LoraEmbedding
KINDS: dict[type[nn.Module], type[Adapted]] = {nn.Linear: LoraLinear, nn.Embedding: LoraEmbedding}


def adapt(module: nn.Module, rank: int, scale: float, noise: torch.Generator) -> None:
    module.__class__ = KINDS[type(module)]
    assert isinstance(module, LoraLinear | LoraEmbedding)
    module.scale, module.active = scale, True
    module.adapt(rank, noise)
