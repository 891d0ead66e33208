"""The gate of a feed-forward part, whose two halves come out of one product: one kernel each way, with twins in plain PyTorch."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..kernels import fast, tl, triton

# Numbers that one program computes: 16 bytes of bfloat16 for each of its threads.
BLOCK = 1024


def gated_plain(x: Tensor) -> Tensor:
    gate, up = x.chunk(2, -1)
    return F.silu(gate) * up


def back_plain(x: Tensor, d: Tensor) -> Tensor:
    gate, up = x.float().chunk(2, -1)
    given, share = d.float(), torch.sigmoid(gate)
    return torch.cat([given * up * share * (1.0 + gate * (1.0 - share)), given * gate * share], -1).to(x.dtype)


def _gated_op(x: Tensor) -> Tensor:
    if not fast(x):
        return gated_plain(x)
    tokens, width = x.shape[0], x.shape[1] // 2
    x = x.contiguous()
    out = x.new_empty(tokens, width)
    if tokens:
        pieces = triton.cdiv(width, BLOCK)
        _gated[(tokens * pieces,)](x, out, width, pieces, BLOCK=BLOCK, num_warps=4)
    return out


def gated_back(x: Tensor, d: Tensor) -> Tensor:
    """Of silu(gate) * up by both, side by side as in x."""
    if not fast(x):
        return back_plain(x, d)
    tokens, width = d.shape
    x, d = x.contiguous(), d.contiguous()
    out = torch.empty_like(x)
    if tokens:
        pieces = triton.cdiv(width, BLOCK)
        _back[(tokens * pieces,)](x, d, out, width, pieces, BLOCK=BLOCK, num_warps=4)
    return out


_library = torch.library.Library("trinity", "FRAGMENT")
_library.define("gated(Tensor x) -> Tensor")
_library.define("gated_backward(Tensor x, Tensor d) -> Tensor")
_library.impl("gated", _gated_op, "CompositeExplicitAutograd")
_library.impl("gated_backward", gated_back, "CompositeExplicitAutograd")
_library.impl("gated", lambda x: x.new_empty(x.shape[0], x.shape[1] // 2), "Meta")
_library.impl("gated_backward", lambda x, d: x.new_empty(x.shape), "Meta")


class _Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.ops.trinity.gated(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return torch.ops.trinity.gated_backward(x, grads[0])


def gated(x: Tensor) -> Tensor:
    """silu(gate) * up of [tokens, 2 · width], whose halves they are."""
    return _Gated.apply(x)


if triton is not None:

    @triton.jit
    def _gated(x, out, width, pieces, BLOCK: tl.constexpr):
        program = tl.program_id(0)
        token = (program // pieces).to(tl.int64)
        at = (program % pieces) * BLOCK + tl.arange(0, BLOCK)
        inside = at < width
        here = x + token * 2 * width + at
        gate = tl.load(here, mask=inside, other=0.0).to(tl.float32)
        up = tl.load(here + width, mask=inside, other=0.0).to(tl.float32)
        found = gate / (1.0 + tl.exp(-gate)) * up
        tl.store(out + token * width + at, found.to(out.dtype.element_ty), mask=inside)

    @triton.jit
    def _back(x, d, out, width, pieces, BLOCK: tl.constexpr):
        program = tl.program_id(0)
        token = (program // pieces).to(tl.int64)
        at = (program % pieces) * BLOCK + tl.arange(0, BLOCK)
        inside = at < width
        here = token * 2 * width + at
        gate = tl.load(x + here, mask=inside, other=0.0).to(tl.float32)
        up = tl.load(x + here + width, mask=inside, other=0.0).to(tl.float32)
        given = tl.load(d + token * width + at, mask=inside, other=0.0).to(tl.float32)
        share = 1.0 / (1.0 + tl.exp(-gate))
        by_gate = given * up * share * (1.0 + gate * (1.0 - share))
        by_up = given * gate * share
        tl.store(out + here, by_gate.to(out.dtype.element_ty), mask=inside)
        tl.store(out + here + width, by_up.to(out.dtype.element_ty), mask=inside)
