"""The language-model head fused with log-prob and entropy. Logits exist for one chunk of tokens at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from . import softmax
from .linear import add_product

# Logits of one chunk, in numbers. 2 ** 29 is 2 GiB in float32: about 3,500 tokens over a vocabulary of 152,000.
CHUNK = 2**29


@dataclass
class Targets:
    ids: Tensor
    inverse_temperature: Tensor

    def cut(self, a: int, b: int) -> Targets:
        return Targets(self.ids[a:b], self.inverse_temperature[a:b])


class Head(NamedTuple):
    """
    The weight of the head. `total`: where its gradient is added to, in place of being handed to autograd. `low`, `factor`:
    an adapter's share of the logits is low · factorᵀ; autograd knows where `low` comes from.
    """

    weight: Tensor
    total: Tensor | None = None
    low: Tensor | None = None
    factor: Tensor | None = None

    def cut(self, a: int, b: int) -> Head:
        return Head(self.weight, self.total, None if self.low is None else self.low[a:b], self.factor)


def chunk_rows(vocabulary: int) -> int:
    return max(128, CHUNK // vocabulary)


def logits_of(hidden: Tensor, head: Head) -> Tensor:
    """Always float32: rounding logits to bfloat16 would cost more than everything before them."""
    if hidden.is_cuda and hidden.dtype != torch.float32:
        logits = torch.mm(hidden, head.weight.t(), out_dtype=torch.float32)
    else:
        logits = (hidden @ head.weight.t()).float()
    if head.low is not None and head.factor is not None:
        logits.addmm_(head.low.float(), head.factor.float().t())
    return logits


def score(hidden: Tensor, head: Head, targets: Targets) -> tuple[Tensor, Tensor]:
    """Log-prob and entropy without gradients."""
    logprob, entropy = [], []
    for a, b in _cuts(hidden.shape[0], chunk_rows(head.weight.shape[0])):
        part = targets.cut(a, b)
        lp, h, _ = softmax.scores(logits_of(hidden[a:b], head.cut(a, b)), part.ids, part.inverse_temperature)
        logprob.append(lp)
        entropy.append(h)
    return torch.cat(logprob), torch.cat(entropy)


class Sums:
    """Gradients of what logits are computed from, chunk by chunk. `trained`: the weight itself is."""

    def __init__(self, hidden: Tensor, head: Head, trained: bool):
        self.hidden, self.head = hidden, head
        self.d_hidden = torch.empty_like(hidden)
        self.d_weight: Tensor | None = None
        if trained:
            self.d_weight = torch.zeros_like(head.weight, dtype=torch.float32) if head.total is None else head.total
        self.d_low = None if head.low is None else torch.empty_like(head.low)
        self.d_factor = None if head.factor is None else torch.zeros_like(head.factor, dtype=torch.float32)

    def add(self, a: int, b: int, d: Tensor) -> None:
        """`d`: the derivative by the logits of tokens a … b."""
        head = self.head
        self.d_hidden[a:b] = d @ head.weight
        if self.d_weight is not None:
            add_product(self.d_weight, d, self.hidden[a:b])
        if head.low is not None and head.factor is not None and self.d_low is not None and self.d_factor is not None:
            self.d_low[a:b] = d @ head.factor
            add_product(self.d_factor, d, head.low[a:b])

    def grads(self) -> tuple[Tensor | None, ...]:
        """By hidden states, weight, its sum, low and factor."""
        d_weight = self.d_weight if self.head.total is None else None
        return self.d_hidden, d_weight, None, self.d_low, self.d_factor


# Given log-prob and entropy of units a … b, the loss on them and its derivative by both (None: not used).
LossOf = Callable[[int, Tensor, Tensor], tuple[Tensor, Tensor | None, Tensor | None]]


class FusedLoss(torch.autograd.Function):
    """Loss of hidden states, where every chunk of tokens holds whole units of what the loss couples.

    The derivative is taken chunk by chunk while the logits are there, so nothing is computed twice.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        weight_total: Tensor | None,
        low: Tensor | None,
        factor: Tensor | None,
        targets: Targets,
        sizes: list[int],
        loss_of: LossOf,
        out: dict[str, Tensor],
    ) -> Tensor:
        head = Head(weight, weight_total, low, factor)
        sums = Sums(hidden, head, ctx.needs_input_grad[1])
        total = torch.zeros((), dtype=torch.float64, device=hidden.device)
        logprob = torch.empty(hidden.shape[0], dtype=torch.float32, device=hidden.device)
        entropy = torch.empty_like(logprob)
        a = 0
        for chunk, size in enumerate(sizes):
            b = a + size
            part = targets.cut(a, b)
            logits = logits_of(hidden[a:b], head.cut(a, b))
            lp, h, partition = softmax.scores(logits, part.ids, part.inverse_temperature)
            loss, d_lp, d_h = loss_of(chunk, lp, h)
            d = softmax.backward(logits, part.ids, part.inverse_temperature, h, partition, d_lp, d_h, hidden.dtype)
            del logits
            sums.add(a, b, d)
            logprob[a:b], entropy[a:b] = lp, h
            total += loss
            a = b
        out["logprob"], out["entropy"] = logprob, entropy
        ctx.grads = sums.grads()
        return total.float()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        # the caller differentiates the loss itself: grad is 1
        grads, ctx.grads = ctx.grads, None
        return *grads, None, None, None, None


class Scores(torch.autograd.Function):
    """Log-prob and entropy whose derivative is taken later: logits are made again in the backward pass."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        weight_total: Tensor | None,
        low: Tensor | None,
        factor: Tensor | None,
        targets: Targets,
    ) -> tuple[Tensor, Tensor]:
        logprob, entropy = score(hidden, Head(weight, weight_total, low, factor), targets)
        ctx.save_for_backward(hidden, weight, low, factor)
        ctx.targets, ctx.weight_total = targets, weight_total
        return logprob, entropy

    @staticmethod
    def backward(ctx: Any, d_logprob: Tensor | None, d_entropy: Tensor | None) -> tuple[Tensor | None, ...]:
        hidden, weight, low, factor = ctx.saved_tensors
        head = Head(weight, ctx.weight_total, low, factor)
        sums = Sums(hidden, head, ctx.needs_input_grad[1])
        for a, b in _cuts(hidden.shape[0], chunk_rows(weight.shape[0])):
            part = ctx.targets.cut(a, b)
            logits = logits_of(hidden[a:b], head.cut(a, b))
            _, h, partition = softmax.scores(logits, part.ids, part.inverse_temperature)
            d = softmax.backward(
                logits, part.ids, part.inverse_temperature, h, partition,
                None if d_logprob is None else d_logprob[a:b].contiguous(),
                None if d_entropy is None else d_entropy[a:b].contiguous(),
                hidden.dtype,
            )
            del logits
            sums.add(a, b, d)
        return *sums.grads(), None


def chunk_units(sizes: list[int], limit: int) -> list[list[int]] | None:
    """Unit numbers of each chunk of at most `limit` tokens; None when a single unit is longer than 4 chunks."""
    chunks: list[list[int]] = []
    room = 0
    for unit, size in enumerate(sizes):
        if size > 4 * limit:
            return None
        if not chunks or size > room:
            chunks.append([])
            room = limit
        chunks[-1].append(unit)
        room -= size
    return chunks


def _cuts(total: int, step: int) -> list[tuple[int, int]]:
    return [(a, min(total, a + step)) for a in range(0, total, step)] or [(0, 0)]
