"""
The small operations between matrix products, one kernel each.

A product may come in parts [parts, tokens, width] that are still to be added up (see product.py): whoever reads it does so,
and rounds the sum to the type of the model.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .kernels import fast, power, tl, triton


def norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """RMS norm of [tokens, width]."""
    if not fast(x):
        return norm_plain(x, weight, eps)
    out = torch.empty_like(x)
    width = x.shape[1]
    _norm[(x.shape[0],)](x, x, weight, out, x.shape[0], width, 1, eps, ADD=False, BLOCK=power(width), num_warps=4)
    return out


def add_norm(parts: Tensor, residual: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Adds to `residual` in place, and gives the norm of the sum."""
    if not fast(residual):
        residual += parts.sum(0).to(residual.dtype)
        return norm_plain(residual, weight, eps)
    tokens, width = residual.shape
    out = torch.empty_like(residual)
    _norm[(tokens,)](
        parts, residual, weight, out, tokens, width, parts.shape[0], eps, ADD=True, BLOCK=power(width), num_warps=4
    )
    return out


def norm_plain(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    v = x.float()
    return (v * torch.rsqrt(v.square().mean(-1, keepdim=True) + eps) * weight.float()).to(x.dtype)


def gated(parts: Tensor, dtype: torch.dtype) -> Tensor:
    """silu(gate) * up, where gate and up are the halves of the last dimension."""
    count, tokens, width = parts.shape
    if not fast(parts):
        return gated_plain(parts, dtype)
    out = torch.empty(tokens, width // 2, dtype=dtype, device=parts.device)
    _gated[(tokens, triton.cdiv(width // 2, 1024))](parts, out, tokens, width // 2, count, BLOCK=1024, num_warps=4)
    return out


def gated_plain(parts: Tensor, dtype: torch.dtype) -> Tensor:
    gate, up = parts.sum(0).to(dtype).float().chunk(2, -1)
    return (torch.nn.functional.silu(gate) * up).to(dtype)


def rope_write(
    parts: Tensor,
    bias: Tensor | None,
    q_norm: Tensor | None,
    k_norm: Tensor | None,
    eps: float,
    turn: tuple[Tensor, Tensor],
    positions: Tensor,
    places: Tensor,
    keys: Tensor,
    values: Tensor,
    heads: int,
) -> Tensor:
    """
    Queries [tokens, heads, size] of the product [q; k; v], turned by their positions; keys and values go into the pages
    [pages, kv heads, page, size]. `places`: page * page size + slot of each token, -1: nowhere.
    """
    _, kv, page, size = keys.shape
    count, tokens, width = parts.shape
    cos, sin = turn
    if not fast(keys):
        return rope_write_plain(parts, bias, q_norm, k_norm, eps, turn, positions, places, keys, values, heads)
    out = torch.empty(tokens, heads, size, dtype=keys.dtype, device=keys.device)
    none = keys
    _rope_write[(tokens, heads + 2 * kv)](
        parts, none if bias is None else bias, none if q_norm is None else q_norm, none if k_norm is None else k_norm,
        cos, sin, positions, places, keys, values, out, eps, tokens, width, count, heads, kv,
        PAGE=page, SIZE=size, HALF=power(size // 2), BIAS=bias is not None, NORM=q_norm is not None, num_warps=1,
    )  # fmt: skip
    return out


def rope_write_plain(
    parts: Tensor,
    bias: Tensor | None,
    q_norm: Tensor | None,
    k_norm: Tensor | None,
    eps: float,
    turn: tuple[Tensor, Tensor],
    positions: Tensor,
    places: Tensor,
    keys: Tensor,
    values: Tensor,
    heads: int,
) -> Tensor:
    _, kv, page, _ = keys.shape
    q, k, v = split_heads(parts, bias, q_norm, k_norm, eps, heads, kv, keys.dtype)
    cos, sin = (x[positions.long()] for x in turn)
    some = places >= 0
    at = places[some].long()
    keys[at // page, :, at % page] = rotate(k, cos, sin)[some]
    values[at // page, :, at % page] = v[some]
    return rotate(q, cos, sin)


def split_heads(
    parts: Tensor,
    bias: Tensor | None,
    q_norm: Tensor | None,
    k_norm: Tensor | None,
    eps: float,
    heads: int,
    kv: int,
    dtype: torch.dtype,
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values by head, with bias and norm, not turned yet."""
    x = parts.sum(0).to(dtype)
    if bias is not None:
        x = (x.float() + bias.float()).to(dtype)
    x = x.view(x.shape[0], heads + 2 * kv, -1)
    q, k, v = x.split((heads, kv, kv), 1)
    if q_norm is not None and k_norm is not None:
        q, k = norm_plain(q, q_norm, eps), norm_plain(k, k_norm, eps)
    return q, k, v


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of [tokens, heads, size], with cos and sin [tokens, size / 2]."""
    a, b = x.float().chunk(2, -1)
    c, s = cos.float()[:, None], sin.float()[:, None]
    return torch.cat([a * c - b * s, b * c + a * s], -1).to(x.dtype)


if triton is not None:

    @triton.jit
    def _norm(x, residual, weight, out, tokens, width, parts, eps, ADD: tl.constexpr, BLOCK: tl.constexpr):
        token = tl.program_id(0).to(tl.int64)
        at = tl.arange(0, BLOCK)
        inside = at < width
        here = token * width + at
        if ADD:
            v = tl.load(x + here, mask=inside, other=0.0).to(tl.float32)
            for part in range(1, parts):
                v += tl.load(x + tl.cast(part, tl.int64) * tokens * width + here, mask=inside, other=0.0).to(tl.float32)
            v = v.to(out.dtype.element_ty).to(tl.float32)
            v += tl.load(residual + here, mask=inside, other=0.0).to(tl.float32)
            v = v.to(out.dtype.element_ty)
            tl.store(residual + here, v, mask=inside)
            v = v.to(tl.float32)
        else:
            v = tl.load(x + here, mask=inside, other=0.0).to(tl.float32)
        scale = tl.rsqrt(tl.sum(v * v, 0) / width + eps)
        w = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(out + here, (v * scale * w).to(out.dtype.element_ty), mask=inside)

    @triton.jit
    def _gated(x, out, tokens, width, parts, BLOCK: tl.constexpr):
        token = tl.program_id(0).to(tl.int64)
        at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        inside = at < width
        here = x + token * 2 * width + at
        gate = tl.load(here, mask=inside, other=0.0).to(tl.float32)
        up = tl.load(here + width, mask=inside, other=0.0).to(tl.float32)
        for part in range(1, parts):
            here += tl.cast(tokens, tl.int64) * 2 * width
            gate += tl.load(here, mask=inside, other=0.0).to(tl.float32)
            up += tl.load(here + width, mask=inside, other=0.0).to(tl.float32)
        gate = gate.to(out.dtype.element_ty).to(tl.float32)
        up = up.to(out.dtype.element_ty).to(tl.float32)
        y = gate / (1.0 + tl.exp(-gate)) * up
        tl.store(out + token * width + at, y.to(out.dtype.element_ty), mask=inside)

    @triton.jit
    def _rope_write(
        x, bias, q_norm, k_norm, cos, sin, positions, places, keys, values, out, eps, tokens, width, parts, heads, kv,
        PAGE: tl.constexpr, SIZE: tl.constexpr, HALF: tl.constexpr, BIAS: tl.constexpr, NORM: tl.constexpr,
    ):  # fmt: skip
        token = tl.program_id(0).to(tl.int64)
        head = tl.program_id(1)
        half: tl.constexpr = SIZE // 2
        at = tl.arange(0, HALF)
        inside = at < half
        here = x + token * width + head * SIZE + at
        a = tl.load(here, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(here + half, mask=inside, other=0.0).to(tl.float32)
        for part in range(1, parts):
            here += tl.cast(tokens, tl.int64) * width
            a += tl.load(here, mask=inside, other=0.0).to(tl.float32)
            b += tl.load(here + half, mask=inside, other=0.0).to(tl.float32)
        a = a.to(out.dtype.element_ty).to(tl.float32)
        b = b.to(out.dtype.element_ty).to(tl.float32)
        if BIAS:
            a += tl.load(bias + head * SIZE + at, mask=inside, other=0.0).to(tl.float32)
            b += tl.load(bias + head * SIZE + half + at, mask=inside, other=0.0).to(tl.float32)
            a = a.to(out.dtype.element_ty).to(tl.float32)
            b = b.to(out.dtype.element_ty).to(tl.float32)
        if head < heads + kv:
            if NORM:
                scale = tl.rsqrt((tl.sum(a * a, 0) + tl.sum(b * b, 0)) / SIZE + eps)
                weight = k_norm
                if head < heads:
                    weight = q_norm
                a = a * scale * tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
                b = b * scale * tl.load(weight + half + at, mask=inside, other=0.0).to(tl.float32)
                a = a.to(out.dtype.element_ty).to(tl.float32)
                b = b.to(out.dtype.element_ty).to(tl.float32)
            position = tl.load(positions + token).to(tl.int64)
            c = tl.load(cos + position * half + at, mask=inside, other=0.0).to(tl.float32)
            s = tl.load(sin + position * half + at, mask=inside, other=0.0).to(tl.float32)
            a, b = a * c - b * s, b * c + a * s
        if head < heads:
            to = out + (token * heads + head) * SIZE + at
            tl.store(to, a.to(out.dtype.element_ty), mask=inside)
            tl.store(to + half, b.to(out.dtype.element_ty), mask=inside)
        else:
            place = tl.load(places + token).to(tl.int64)
            if place >= 0:
                chosen = (head - heads) % kv
                base = keys
                if head >= heads + kv:
                    base = values
                to = base + (((place // PAGE) * kv + chosen) * PAGE + place % PAGE) * SIZE + at
                tl.store(to, a.to(out.dtype.element_ty), mask=inside)
                tl.store(to + half, b.to(out.dtype.element_ty), mask=inside)
