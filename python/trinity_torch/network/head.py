"""The language-model head fused with what is asked of its distributions. Logits exist for one chunk of tokens at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from . import softmax
from .linear import add_product

# Logits of one chunk, in numbers. 2 ** 29 is 2 GiB in float32: about 3,500 tokens over a vocabulary of 152,000.
CHUNK = 2**29
# What every head gives, in the order of softmax.Scores.
KINDS = ("logprob", "entropy", "sum_pi_squared")


@dataclass
class Targets:
    ids: Tensor
    inverse_temperature: Tensor
    # by name of the score: other tokens whose log-probs are asked for
    others: dict[str, Tensor] = field(default_factory=dict)
    # logits become cap · tanh(logit / cap) before anything else; 0: they stay
    cap: float = 0.0
    # the product of hidden states and the weight of the head, where it is not the usual one
    product: Callable[[Tensor, Tensor], Tensor] | None = None

    def cut(self, a: int, b: int) -> Targets:
        others = {kind: ids[a:b] for kind, ids in self.others.items()}
        return Targets(self.ids[a:b], self.inverse_temperature[a:b], others, self.cap, self.product)

    @property
    def kinds(self) -> list[str]:
        return [*KINDS, *self.others]

    def table(self) -> Tensor | None:
        """The other tokens side by side."""
        return torch.stack(list(self.others.values()), 1) if self.others else None

    def pulls(self, grads: dict[str, Tensor | None]) -> softmax.Pulls:
        given = [grads.get(kind) for kind in self.others]
        some = next((x for x in given if x is not None), None)
        others = None if some is None else torch.stack([torch.zeros_like(some) if x is None else x for x in given], 1)
        logprob, entropy, squares = (grads.get(kind) for kind in KINDS)
        return softmax.Pulls(logprob, entropy, squares, others)


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


def logits_of(hidden: Tensor, head: Head, targets: Targets) -> Tensor:
    """Always float32: rounding logits to bfloat16 would cost more than everything before them."""
    cap = targets.cap
    if targets.product is not None:
        logits = targets.product(hidden, head.weight)
    elif hidden.is_cuda and hidden.dtype != torch.float32:
        logits = torch.mm(hidden, head.weight.t(), out_dtype=torch.float32)
    else:
        logits = (hidden @ head.weight.t()).float()
    if head.low is not None and head.factor is not None:
        logits.addmm_(head.low.float(), head.factor.float().t())
    return logits.div_(cap).tanh_().mul_(cap) if cap else logits


def through_cap(d: Tensor, logits: Tensor, cap: float) -> Tensor:
    """From the derivative by capped logits to that by the logits themselves; `logits`: the capped ones, which are used up."""
    return d * (1.0 - logits.div_(cap).square_()).to(d.dtype) if cap else d


def named(logits: Tensor, found: softmax.Scores, targets: Targets) -> dict[str, Tensor]:
    """Scores by name."""
    out = dict(zip(KINDS, found))
    table = targets.table()
    if table is not None:
        others = softmax.others(logits, table, targets.inverse_temperature, found.partition)
        out.update(zip(targets.others, others.t().contiguous()))
    return out


def score(hidden: Tensor, head: Head, targets: Targets) -> dict[str, Tensor]:
    """Scores by name, without gradients."""
    parts: list[dict[str, Tensor]] = []
    for a, b in _cuts(hidden.shape[0], chunk_rows(head.weight.shape[0])):
        part = targets.cut(a, b)
        logits = logits_of(hidden[a:b], head.cut(a, b), part)
        parts.append(named(logits, softmax.scores(logits, part.ids, part.inverse_temperature), part))
        del logits
    return {kind: torch.cat([one[kind] for one in parts]) for kind in targets.kinds}


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


# Given the scores of units a … b, the loss on them and its derivative by those that it depends on.
LossOf = Callable[[int, dict[str, Tensor]], tuple[Tensor, dict[str, Tensor]]]


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
        for kind in targets.kinds:
            out[kind] = torch.empty(hidden.shape[0], dtype=torch.float32, device=hidden.device)
        a = 0
        for chunk, size in enumerate(sizes):
            b = a + size
            part = targets.cut(a, b)
            logits = logits_of(hidden[a:b], head.cut(a, b), part)
            found = softmax.scores(logits, part.ids, part.inverse_temperature)
            scores = named(logits, found, part)
            loss, grads = loss_of(chunk, scores)
            pulls = part.pulls({**grads})
            d = softmax.backward(logits, part.ids, part.inverse_temperature, found, pulls, hidden.dtype, part.table())
            d = through_cap(d, logits, part.cap)
            del logits
            sums.add(a, b, d)
            for kind, values in scores.items():
                out[kind][a:b] = values
            total += loss
            a = b
        ctx.grads = sums.grads()
        return total.float()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        # the caller differentiates the loss itself: grad is 1
        grads, ctx.grads = ctx.grads, None
        return *grads, None, None, None, None


class Scores(torch.autograd.Function):
    """Scores, in the order of targets.kinds, whose derivative is taken later: logits are made again in the backward pass."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        weight_total: Tensor | None,
        low: Tensor | None,
        factor: Tensor | None,
        targets: Targets,
    ) -> tuple[Tensor, ...]:
        scores = score(hidden, Head(weight, weight_total, low, factor), targets)
        ctx.save_for_backward(hidden, weight, low, factor)
        ctx.targets, ctx.weight_total = targets, weight_total
        # a score that the loss does not read costs nothing on the way back
        ctx.set_materialize_grads(False)
        return tuple(scores.values())

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        hidden, weight, low, factor = ctx.saved_tensors
        pulls = ctx.targets.pulls(dict(zip(ctx.targets.kinds, grads)))
        head = Head(weight, ctx.weight_total, low, factor)
        sums = Sums(hidden, head, ctx.needs_input_grad[1])
        for a, b in _cuts(hidden.shape[0], chunk_rows(weight.shape[0])):
            part = ctx.targets.cut(a, b)
            logits = logits_of(hidden[a:b], head.cut(a, b), part)
            found = softmax.scores(logits, part.ids, part.inverse_temperature)
            d = softmax.backward(
                logits, part.ids, part.inverse_temperature, found, pulls.cut(a, b), hidden.dtype, part.table()
            )
            d = through_cap(d, logits, part.cap)
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
