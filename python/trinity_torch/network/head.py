"""The language-model head fused with log-prob and entropy. Logits exist for one chunk of tokens at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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


def chunk_rows(vocabulary: int) -> int:
    return max(128, CHUNK // vocabulary)


def logits_of(hidden: Tensor, weight: Tensor) -> Tensor:
    """Always float32: rounding logits to bfloat16 would cost more than everything before them."""
    if hidden.is_cuda and hidden.dtype != torch.float32:
        return torch.mm(hidden, weight.t(), out_dtype=torch.float32)
    return (hidden @ weight.t()).float()


def score(hidden: Tensor, weight: Tensor, targets: Targets) -> tuple[Tensor, Tensor]:
    """Log-prob and entropy without gradients."""
    logprob, entropy = [], []
    for a, b in _cuts(hidden.shape[0], chunk_rows(weight.shape[0])):
        part = targets.cut(a, b)
        lp, h, _ = softmax.scores(logits_of(hidden[a:b], weight), part.ids, part.inverse_temperature)
        logprob.append(lp)
        entropy.append(h)
    return torch.cat(logprob), torch.cat(entropy)


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
        targets: Targets,
        sizes: list[int],
        loss_of: LossOf,
        out: dict[str, Tensor],
    ) -> Tensor:
        """`weight_total`: where the gradient of the weight is added to, in place of being handed to autograd."""
        d_hidden = torch.empty_like(hidden)
        d_weight = _weight_sum(ctx, weight, weight_total)
        total = torch.zeros((), dtype=torch.float64, device=hidden.device)
        logprob = torch.empty(hidden.shape[0], dtype=torch.float32, device=hidden.device)
        entropy = torch.empty_like(logprob)
        a = 0
        for chunk, size in enumerate(sizes):
            b = a + size
            part = targets.cut(a, b)
            logits = logits_of(hidden[a:b], weight)
            lp, h, partition = softmax.scores(logits, part.ids, part.inverse_temperature)
            loss, d_lp, d_h = loss_of(chunk, lp, h)
            d = softmax.backward(logits, part.ids, part.inverse_temperature, h, partition, d_lp, d_h, hidden.dtype)
            del logits
            d_hidden[a:b] = d @ weight
            if d_weight is not None:
                add_product(d_weight, d, hidden[a:b])
            logprob[a:b], entropy[a:b] = lp, h
            total += loss
            a = b
        out["logprob"], out["entropy"] = logprob, entropy
        ctx.grads = d_hidden, None if weight_total is not None else d_weight
        return total.float()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        # the caller differentiates the loss itself: grad is 1
        d_hidden, d_weight = ctx.grads
        ctx.grads = None
        return d_hidden, d_weight, None, None, None, None, None


class Scores(torch.autograd.Function):
    """Log-prob and entropy whose derivative is taken later: logits are made again in the backward pass."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, weight_total: Tensor | None, targets: Targets
    ) -> tuple[Tensor, Tensor]:
        logprob, entropy = score(hidden, weight, targets)
        ctx.save_for_backward(hidden, weight)
        ctx.targets, ctx.weight_total = targets, weight_total
        return logprob, entropy

    @staticmethod
    def backward(ctx: Any, d_logprob: Tensor | None, d_entropy: Tensor | None) -> tuple[Tensor | None, ...]:
        hidden, weight = ctx.saved_tensors
        weight_total = ctx.weight_total
        d_hidden = torch.empty_like(hidden)
        d_weight = _weight_sum(ctx, weight, weight_total)
        for a, b in _cuts(hidden.shape[0], chunk_rows(weight.shape[0])):
            part = ctx.targets.cut(a, b)
            logits = logits_of(hidden[a:b], weight)
            _, h, partition = softmax.scores(logits, part.ids, part.inverse_temperature)
            d = softmax.backward(
                logits, part.ids, part.inverse_temperature, h, partition,
                None if d_logprob is None else d_logprob[a:b].contiguous(),
                None if d_entropy is None else d_entropy[a:b].contiguous(),
                hidden.dtype,
            )
            del logits
            d_hidden[a:b] = d @ weight
            if d_weight is not None:
                add_product(d_weight, d, hidden[a:b])
        return d_hidden, None if weight_total is not None else d_weight, None, None


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


def _weight_sum(ctx: Any, weight: Tensor, total: Tensor | None) -> Tensor | None:
    if not ctx.needs_input_grad[1]:
        return None
    return torch.zeros_like(weight, dtype=torch.float32) if total is None else total


def _cuts(total: int, step: int) -> list[tuple[int, int]]:
    return [(a, min(total, a + step)) for a in range(0, total, step)] or [(0, 0)]
