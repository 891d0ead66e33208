"""Modules that add the gradient of their weight straight to a float32 sum.

Autograd would write it in the type of the weight and then add it to the sum: more memory traffic, and eight bits of it
where the network computes in bfloat16.
"""

from __future__ import annotations

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
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, total: Tensor, bias_total: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight, total, bias_total)
        return F.linear(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, total, bias_total = ctx.saved_tensors
        d = d_out.flatten(0, -2)
        torch.ops.trinity.add_product(total, d, x.flatten(0, -2))
        if bias_total is not None:
            bias_total.add_(d.sum(0, dtype=torch.float32))
        return d_out @ weight, None, None, None, None


class SummingLinear(nn.Linear):
    """Existing modules become one in place. `total`, `bias_total`: where the gradients go."""

    total: Tensor
    bias_total: Tensor | None

    def forward(self, x: Tensor) -> Tensor:
        return _Product.apply(x, self.weight, self.bias, self.total, self.bias_total)


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


def make_summing(network: nn.Module, totals: dict[nn.Parameter, Tensor]) -> set[nn.Parameter]:
    """Lets linear modules and embeddings add to these sums; returns the parameters that are served so."""
    served: set[nn.Parameter] = set()
    for module in network.modules():
        if type(module) is nn.Linear and module.weight in totals:
            bias = module.bias
            if bias is not None and bias not in totals:
                continue
            module.__class__ = SummingLinear
            module.total = totals[module.weight]  # type: ignore[assignment]
            module.bias_total = None if bias is None else totals[bias]  # type: ignore[assignment]
            served |= {module.weight} if bias is None else {module.weight, bias}
        elif type(module) is nn.Embedding and module.weight in totals and module.max_norm is None:
            module.__class__ = SummingEmbedding
            module.total = totals[module.weight]  # type: ignore[assignment]
            served.add(module.weight)
    return served
