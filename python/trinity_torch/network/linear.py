"""Modules that add the gradient of their weight straight to a float32 sum.

Autograd would write it in the type of the weight and then add it to the sum: more memory traffic, and eight bits of it
where the network computes in bfloat16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_library = torch.library.Library("trinity", "DEF")
_library.define("add_product(Tensor(a!) total, Tensor d, Tensor x) -> ()")


def _add_product(total: Tensor, d: Tensor, x: Tensor) -> None:
    if d.is_cuda and d.dtype != torch.float32:
        torch.ops.aten.addmm.dtype_out(total, d.t(), x, torch.float32, out=total)
    else:
        total.addmm_(d.t().float(), x.float())


_library.impl("add_product", _add_product, "CompositeExplicitAutograd")
_library.impl("add_product", lambda total, d, x: None, "Meta")


def add_product(total: Tensor, d: Tensor, x: Tensor) -> None:
    """total += dᵀ · x in float32, whatever the operands are. An operation of its own, so that a compiler leaves it whole."""
    torch.ops.trinity.add_product(total, d, x)


class _Product(torch.autograd.Function):
    """`owner`: where the weight is no parameter, one that makes the result depend on what is trained."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        total: Tensor,
        bias_total: Tensor | None,
        owner: Tensor | None,
    ) -> Tensor:
        ctx.save_for_backward(x, weight, total, bias_total)
        return F.linear(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, total, bias_total = ctx.saved_tensors
        d = d_out.flatten(0, -2)
        torch.ops.trinity.add_product(total, d, x.flatten(0, -2))
        if bias_total is not None:
            bias_total.add_(d.sum(0, dtype=torch.float32))
        return d_out @ weight, None, None, None, None, None


class SummingLinear(nn.Linear):
    """Existing modules become one in place. `total`, `bias_total`: where the gradients go."""

    total: Tensor
    bias_total: Tensor | None

    def forward(self, x: Tensor) -> Tensor:
        return _Product.apply(x, self.weight, self.bias, self.total, self.bias_total, None)


class LeadingLinear(nn.Linear):
    """The first of several modules that take the same input: it computes one product for all of them."""

    joint: tuple[Tensor, Tensor | None, Tensor, Tensor | None]
    sizes: list[int]
    others: list[FollowingLinear]

    def whole(self, x: Tensor) -> Tensor:
        """The results of all, side by side."""
        return _Product.apply(x, *self.joint, self.weight)

    def forward(self, x: Tensor) -> Tensor:
        own, *parts = self.whole(x).split(self.sizes, dim=-1)
        for other, part in zip(self.others, parts):
            other.ready = part
        return own


class FollowingLinear(nn.Linear):
    ready: Tensor | None

    def forward(self, x: Tensor) -> Tensor:
        ready, self.ready = self.ready, None
        assert ready is not None, "called before the module that computes for it"
        return ready


class _Lookup(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, ids: Tensor, weight: Tensor, total: Tensor, padding: int | None) -> Tensor:
        ctx.save_for_backward(ids)
        # not saved as an operand: a tied head adds to it between the two passes
        ctx.total, ctx.padding = total, padding
        return F.embedding(ids, weight)

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor | None, ...]:
        (ids,) = ctx.saved_tensors
        rows = d.flatten(0, -2).float()
        if ctx.padding is not None:
            rows = torch.where((ids.flatten() == ctx.padding)[:, None], 0.0, rows)
        # sorted by row inside, so that the sum is the same every time
        ctx.total.index_put_((ids.flatten(),), rows, accumulate=True)
        return None, None, None, None


class SummingEmbedding(nn.Embedding):
    total: Tensor

    def forward(self, ids: Tensor) -> Tensor:
        return _Lookup.apply(ids, self.weight, self.total, self.padding_idx)


def joined(parameters: Sequence[Tensor]) -> Tensor:
    """One tensor with the rows of all of them: a view where they lie one after the other in memory, else a copy."""
    first = parameters[0].data
    end = first.data_ptr()
    for parameter in parameters:
        if parameter.data_ptr() != end or not parameter.data.is_contiguous():
            return torch.cat([p.data for p in parameters])
        end += parameter.nbytes
    storage = first.untyped_storage()
    if end > storage.data_ptr() + storage.nbytes():
        return torch.cat([p.data for p in parameters])
    rows = sum(p.shape[0] for p in parameters)
    return first.as_strided((rows, *first.shape[1:]), first.stride(), first.storage_offset())


def join(parameters: Sequence[Tensor]) -> Tensor:
    """The same; the parameters become views of it."""
    whole = joined(parameters)
    for parameter, part in zip(parameters, whole.split([p.shape[0] for p in parameters])):
        parameter.data = part
    return whole
