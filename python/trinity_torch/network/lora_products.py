"""Modules with adapters in training: one product for those with the same input, and gradients added straight to float32 sums."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .linear import FollowingLinear, add_product, join, joined
from .lora_modules import LoraLinear


def adapted(
    x: Tensor, weight: Tensor, bias: Tensor | None, a: Tensor, b: Sequence[Tensor], places: Sequence[int], scale: float
) -> tuple[Tensor, Tensor]:
    """
    x: [tokens, in]. The product with the frozen weight, and with adapter i's share in the columns from places[i] on; and what
    the B are multiplied by, side by side.
    """
    y = F.linear(x, weight, bias)
    low = x.new_empty(x.shape[0], a.shape[0]).addmm_(x, a.t(), beta=0, alpha=scale)
    rank = 0
    for factor, place in zip(b, places):
        rows, width = factor.shape
        y[:, place : place + rows].addmm_(low[:, rank : rank + width], factor.t())
        rank += width
    return y, low


def adapted_back(
    d: Tensor, weight: Tensor, a: Tensor, b: Sequence[Tensor], places: Sequence[int], scale: float
) -> tuple[Tensor, Tensor]:
    """By x, and by the product of x and A."""
    low = d.new_empty(d.shape[0], a.shape[0])
    rank = 0
    for factor, place in zip(b, places):
        rows, width = factor.shape
        low[:, rank : rank + width].addmm_(d[:, place : place + rows], factor, beta=0, alpha=scale)
        rank += width
    return (d @ weight).addmm_(low, a), low


_library = torch.library.Library("trinity", "FRAGMENT")
_library.define("adapted(Tensor x, Tensor weight, Tensor? bias, Tensor a, Tensor[] b, int[] places, float scale) -> (Tensor, Tensor)")
_library.define("adapted_backward(Tensor d, Tensor weight, Tensor a, Tensor[] b, int[] places, float scale) -> (Tensor, Tensor)")
_library.impl("adapted", adapted, "CompositeExplicitAutograd")
_library.impl("adapted_backward", adapted_back, "CompositeExplicitAutograd")
_library.impl(
    "adapted",
    lambda x, weight, bias, a, b, places, scale: (x.new_empty(x.shape[0], weight.shape[0]), x.new_empty(x.shape[0], a.shape[0])),
    "Meta",
)
_library.impl(
    "adapted_backward",
    lambda d, weight, a, b, places, scale: (d.new_empty(d.shape[0], weight.shape[1]), d.new_empty(d.shape[0], a.shape[0])),
    "Meta",
)


class _Product(torch.autograd.Function):
    """`owner`: a parameter, which makes the result depend on what is trained. `more`: the B, then their sums."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        a: Tensor,
        total: Tensor,
        owner: Tensor,
        places: tuple[int, ...],
        scale: float,
        *more: Tensor,
    ) -> Tensor:
        flat = x.flatten(0, -2)
        y, low = torch.ops.trinity.adapted(flat, weight, bias, a, more[: len(places)], places, scale)
        ctx.save_for_backward(x, low, weight, a, total, *more)
        ctx.places, ctx.scale = places, scale
        return y.view(*x.shape[:-1], y.shape[-1])

    @staticmethod
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:
        x, low, weight, a, total, *more = ctx.saved_tensors
        places, count = ctx.places, len(ctx.places)
        d = d_out.flatten(0, -2)
        d_x, d_low = torch.ops.trinity.adapted_backward(d, weight, a, more[:count], places, ctx.scale)
        add_product(total, d_low, x.flatten(0, -2))
        rank = 0
        for factor, sum_of, place in zip(more[:count], more[count:], places):
            rows, width = factor.shape
            add_product(sum_of, d[:, place : place + rows], low[:, rank : rank + width])
            rank += width
        return d_x.view(x.shape), *([None] * (7 + 2 * count))


class _Leads(nn.Linear):
    """The first of one or more modules that take the same input; some of them have adapters, of one scale."""

    # weight, bias, the A of all adapters, its sum
    joint: tuple[Tensor, Tensor | None, Tensor, Tensor]
    # the B, then their sums
    more: list[Tensor]
    # first column of each adapter's part
    places: tuple[int, ...]
    sizes: list[int]
    others: list[Any]
    # those that have one, which are on or off at the same time
    adapters: list[LoraLinear]

    def whole(self, x: Tensor) -> Tensor:
        weight, bias, a, total = self.joint
        adapter = self.adapters[0]
        if not adapter.active:
            return F.linear(x, weight, bias)
        return _Product.apply(x, weight, bias, a, total, adapter.lora_A.weight, self.places, adapter.scale, *self.more)

    def forward(self, x: Tensor) -> Tensor:
        own, *parts = self.whole(x).split(self.sizes, dim=-1)
        for other, part in zip(self.others, parts):
            other.ready = part
        return own


class LeadingLora(_Leads, LoraLinear):
    """It has an adapter itself."""


class LeadingFrozen(_Leads):
    """It has none."""


class FollowingLora(LoraLinear):
    forward = FollowingLinear.forward


def make_joint(linear: Sequence[nn.Linear], totals: dict[Tensor, Tensor]) -> None:
    """One product of modules with the same input, whose frozen weights must stay where they are. Adds the sums that it needs."""
    adapters = [m for m in linear if isinstance(m, LoraLinear)]
    first = [m.lora_A.weight for m in adapters]
    total = torch.zeros_like(joined(first), dtype=torch.float32)
    totals.update(zip(first, total.split([p.shape[0] for p in first])))
    second = [m.lora_B.weight for m in adapters]
    totals.update((p, torch.zeros_like(p, dtype=torch.float32)) for p in second)
    biases = [m.bias for m in linear if m.bias is not None]
    ends = list(accumulate(m.out_features for m in linear))
    # Any: they are about to become other classes
    lead: Any = linear[0]
    lead.joint = (join([m.weight for m in linear]), join(biases) if biases else None, join(first), total)
    lead.more = [*second, *(totals[p] for p in second)]
    lead.places = tuple(end - m.out_features for m, end in zip(linear, ends) if isinstance(m, LoraLinear))
    lead.sizes = [m.out_features for m in linear]
    # plain lists: as modules they have their parent already
    object.__setattr__(lead, "others", list(linear[1:]))
    object.__setattr__(lead, "adapters", adapters)
    for other in linear[1:]:
        other.__class__ = FollowingLora if isinstance(other, LoraLinear) else FollowingLinear
        other.ready = None  # type: ignore[assignment]
    lead.__class__ = LeadingLora if isinstance(lead, LoraLinear) else LeadingFrozen
