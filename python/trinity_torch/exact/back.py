"""Derivatives of the sampler's small operations, one kernel each, with twins in plain PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor

from ..kernels import fast, power, tl, triton

# programs of the norm's kernel, each of which sums over its rows
PROGRAMS = 528


def norm(x: Tensor, weight: Tensor, d: Tensor, more: Tensor | None, eps: float, unit: float = 0.0) -> tuple[Tensor, Tensor]:
    """By x and by the weight (float32) of an RMS norm of [rows, width]; `more` is added to the first."""
    if not fast(x):
        return norm_plain(x, weight, d, more, eps, unit)
    rows, width = x.shape
    programs = min(PROGRAMS, rows)
    out = torch.empty_like(x)
    sums = torch.empty(programs, width, dtype=torch.float32, device=x.device)
    _norm[(programs,)](
        x, weight, d, x if more is None else more, out, sums, rows, width, programs, eps, unit,
        MORE=more is not None, BLOCK=power(width), num_warps=4,
    )  # fmt: skip
    return out, sums.sum(0)


def norm_plain(
    x: Tensor, weight: Tensor, d: Tensor, more: Tensor | None, eps: float, unit: float = 0.0
) -> tuple[Tensor, Tensor]:
    v, given = x.float(), d.float()
    scale = torch.rsqrt(v.square().mean(-1, keepdim=True) + eps)
    unscaled = v * scale
    pulled = given * (unit + weight.float())
    out = scale * (pulled - unscaled * (pulled * unscaled).mean(-1, keepdim=True))
    if more is not None:
        out = out + more.float()
    return out.to(x.dtype), (given * unscaled).sum(0)


def turned(d_q: Tensor, d_k: Tensor, d_v: Tensor, turn: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
    """From queries, keys and values [tokens, heads, size] back to [q; k; v] of each token, before they were turned."""
    if not fast(d_q):
        return turned_plain(d_q, d_k, d_v, turn, positions)
    tokens, heads, size = d_q.shape
    kv = d_k.shape[1]
    out = torch.empty(tokens, (heads + 2 * kv) * size, dtype=d_q.dtype, device=d_q.device)
    given = [x.contiguous() for x in (d_q, d_k, d_v)]
    _turned[(tokens,)](
        *given, *turn, positions, out, heads, kv, HEADS=power(heads + 2 * kv), HALF=size // 2, WIDE=power(size // 2), num_warps=4
    )
    return out


def turned_plain(d_q: Tensor, d_k: Tensor, d_v: Tensor, turn: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
    c, s = (x[positions.long()].float()[:, None] for x in turn)

    def back(x: Tensor) -> Tensor:
        a, b = x.float().chunk(2, -1)
        return torch.cat([a * c + b * s, b * c - a * s], -1).to(x.dtype)

    return torch.cat([back(d_q), back(d_k), d_v], 1).flatten(1)


if triton is not None:

    @triton.jit
    def _norm(
        x, weight, d, more, out, sums, rows, width, programs, eps, unit, MORE: tl.constexpr, BLOCK: tl.constexpr
    ):  # fmt: skip
        first = tl.program_id(0)
        at = tl.arange(0, BLOCK)
        inside = at < width
        w = unit + tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
        total = tl.zeros([BLOCK], tl.float32)
        for row in range(first, rows, programs):
            here = tl.cast(row, tl.int64) * width + at
            v = tl.load(x + here, mask=inside, other=0.0).to(tl.float32)
            given = tl.load(d + here, mask=inside, other=0.0).to(tl.float32)
            scale = tl.rsqrt(tl.sum(v * v, 0) / width + eps)
            unscaled = v * scale
            pulled = given * w
            found = scale * (pulled - unscaled * (tl.sum(pulled * unscaled, 0) / width))
            if MORE:
                found += tl.load(more + here, mask=inside, other=0.0).to(tl.float32)
            tl.store(out + here, found.to(out.dtype.element_ty), mask=inside)
            total += given * unscaled
        tl.store(sums + tl.cast(first, tl.int64) * width + at, total, mask=inside)

    @triton.jit
    def _turned(
        d_q, d_k, d_v, cos, sin, positions, out, heads, kv, HEADS: tl.constexpr, HALF: tl.constexpr, WIDE: tl.constexpr
    ):  # fmt: skip
        token = tl.program_id(0).to(tl.int64)
        head = tl.arange(0, HEADS)[:, None]
        at = tl.arange(0, WIDE)[None, :]
        size: tl.constexpr = 2 * HALF
        is_q = head < heads
        is_k = (head >= heads) & (head < heads + kv)
        is_v = (head >= heads + kv) & (head < heads + 2 * kv)
        inside = at < HALF
        from_q = d_q + (token * heads + head) * size + at
        from_k = d_k + (token * kv + head - heads) * size + at
        from_v = d_v + (token * kv + head - heads - kv) * size + at
        a = tl.load(from_q, mask=inside & is_q, other=0.0).to(tl.float32)
        a += tl.load(from_k, mask=inside & is_k, other=0.0).to(tl.float32)
        a += tl.load(from_v, mask=inside & is_v, other=0.0).to(tl.float32)
        b = tl.load(from_q + HALF, mask=inside & is_q, other=0.0).to(tl.float32)
        b += tl.load(from_k + HALF, mask=inside & is_k, other=0.0).to(tl.float32)
        b += tl.load(from_v + HALF, mask=inside & is_v, other=0.0).to(tl.float32)
        position = tl.load(positions + token).to(tl.int64)
        c = tl.load(cos + position * HALF + at, mask=inside, other=0.0).to(tl.float32)
        s = tl.load(sin + position * HALF + at, mask=inside, other=0.0).to(tl.float32)
        turned_a = tl.where(is_v, a, a * c + b * s)
        turned_b = tl.where(is_v, b, b * c - a * s)
        to = out + (token * (heads + 2 * kv) + head) * size + at
        some = inside & (head < heads + 2 * kv)
        tl.store(to, turned_a.to(out.dtype.element_ty), mask=some)
        tl.store(to + HALF, turned_b.to(out.dtype.element_ty), mask=some)
