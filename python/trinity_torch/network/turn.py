"""
From the one product of queries, keys and values to each of them, queries and keys turned by their positions: one kernel each way,
with twins in plain PyTorch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..kernels import fast, tl, triton

# Pairs of numbers that one program turns.
BLOCK = 1024


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """As Transformers does it."""
    a, b = x.chunk(2, -1)
    return x * cos[:, None] + torch.cat([-b, a], -1) * sin[:, None]


def turned_plain(x: Tensor, cos: Tensor, sin: Tensor, heads: int, kv: int) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = x.unflatten(1, (heads + 2 * kv, -1)).split([heads, kv, kv], 1)
    return _rotated(q, cos, sin), _rotated(k, cos, sin), v.contiguous()


def back_plain(d_q: Tensor, d_k: Tensor, d_v: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return torch.cat([_rotated(d_q, cos, -sin), _rotated(d_k, cos, -sin), d_v], 1).flatten(1)


def _turned_op(x: Tensor, cos: Tensor, sin: Tensor, heads: int, kv: int) -> tuple[Tensor, Tensor, Tensor]:
    if not fast(x):
        return turned_plain(x, cos, sin, heads, kv)
    tokens, size = x.shape[0], cos.shape[1]
    q, k, v = (x.new_empty(tokens, count, size) for count in (heads, kv, kv))
    _start(x.contiguous(), q, k, v, cos, sin, back=False)
    return q, k, v


def _back_op(d_q: Tensor, d_k: Tensor, d_v: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    if not fast(d_q):
        return back_plain(d_q, d_k, d_v, cos, sin)
    tokens, heads, size = d_q.shape
    out = d_q.new_empty(tokens, (heads + 2 * d_k.shape[1]) * size)
    _start(out, d_q.contiguous(), d_k.contiguous(), d_v.contiguous(), cos, sin, back=True)
    return out


def _start(x: Tensor, q: Tensor, k: Tensor, v: Tensor, cos: Tensor, sin: Tensor, back: bool) -> None:
    tokens, heads, size = q.shape
    if tokens:
        pairs = tokens * x.shape[1] // 2
        _turn[(triton.cdiv(pairs, BLOCK),)](
            x, q, k, v, cos.contiguous(), sin.contiguous(), pairs,
            HEADS=heads, KV=k.shape[1], SIZE=size, BACK=back, BLOCK=BLOCK, num_warps=4,
        )  # fmt: skip


_library = torch.library.Library("trinity", "FRAGMENT")
_library.define("turned(Tensor x, Tensor cos, Tensor sin, int heads, int kv) -> (Tensor, Tensor, Tensor)")
_library.define("turned_backward(Tensor d_q, Tensor d_k, Tensor d_v, Tensor cos, Tensor sin) -> Tensor")
_library.impl("turned", _turned_op, "CompositeExplicitAutograd")
_library.impl("turned_backward", _back_op, "CompositeExplicitAutograd")
_library.impl(
    "turned",
    lambda x, cos, sin, heads, kv: tuple(x.new_empty(x.shape[0], count, cos.shape[1]) for count in (heads, kv, kv)),
    "Meta",
)
_library.impl(
    "turned_backward",
    lambda d_q, d_k, d_v, cos, sin: d_q.new_empty(d_q.shape[0], (d_q.shape[1] + 2 * d_k.shape[1]) * d_q.shape[2]),
    "Meta",
)


class _Turned(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor, heads: int, kv: int) -> tuple[Tensor, Tensor, Tensor]:
        ctx.save_for_backward(cos, sin)
        return torch.ops.trinity.turned(x, cos, sin, heads, kv)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        return torch.ops.trinity.turned_backward(*grads, *ctx.saved_tensors), None, None, None, None


def turned(x: Tensor, cos: Tensor, sin: Tensor, heads: int, kv: int) -> tuple[Tensor, Tensor, Tensor]:
    """
    x: [tokens, (heads + 2 · kv) · size]; cos, sin: [tokens, size], whose halves are alike. Queries, keys and values, each
    [tokens, its heads, size].
    """
    return _Turned.apply(x, cos, sin, heads, kv)


if triton is not None:

    @triton.jit
    def _turn(
        x, q, k, v, cos, sin, pairs, HEADS: tl.constexpr, KV: tl.constexpr, SIZE: tl.constexpr, BACK: tl.constexpr, BLOCK: tl.constexpr
    ):  # fmt: skip
        ALL: tl.constexpr = HEADS + 2 * KV
        HALF: tl.constexpr = SIZE // 2
        each = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = each < pairs
        at = each % HALF
        row = each // HALF
        head = row % ALL
        token = row // ALL
        is_q = inside & (head < HEADS)
        is_k = inside & (head >= HEADS) & (head < HEADS + KV)
        is_v = inside & (head >= HEADS + KV)
        whole = x + row * SIZE + at
        of_q = q + (token * HEADS + head) * SIZE + at
        of_k = k + (token * KV + head - HEADS) * SIZE + at
        of_v = v + (token * KV + head - HEADS - KV) * SIZE + at
        if BACK:
            a = tl.load(of_q, mask=is_q, other=0.0).to(tl.float32)
            a += tl.load(of_k, mask=is_k, other=0.0).to(tl.float32)
            a += tl.load(of_v, mask=is_v, other=0.0).to(tl.float32)
            b = tl.load(of_q + HALF, mask=is_q, other=0.0).to(tl.float32)
            b += tl.load(of_k + HALF, mask=is_k, other=0.0).to(tl.float32)
            b += tl.load(of_v + HALF, mask=is_v, other=0.0).to(tl.float32)
        else:
            a = tl.load(whole, mask=inside, other=0.0).to(tl.float32)
            b = tl.load(whole + HALF, mask=inside, other=0.0).to(tl.float32)
        c = tl.load(cos + token * SIZE + at, mask=inside, other=0.0).to(tl.float32)
        s = tl.load(sin + token * SIZE + at, mask=inside, other=0.0).to(tl.float32)
        if BACK:
            s = -s
        first = tl.where(is_v, a, a * c - b * s).to(x.dtype.element_ty)
        second = tl.where(is_v, b, b * c + a * s).to(x.dtype.element_ty)
        if BACK:
            tl.store(whole, first, mask=inside)
            tl.store(whole + HALF, second, mask=inside)
        else:
            tl.store(of_q, first, mask=is_q)
            tl.store(of_q + HALF, second, mask=is_q)
            tl.store(of_k, first, mask=is_k)
            tl.store(of_k + HALF, second, mask=is_k)
            tl.store(of_v, first, mask=is_v)
            tl.store(of_v + HALF, second, mask=is_v)
