"""
The small operations between matrix products, one kernel each.

A product may come in parts [parts, tokens, width] that are still to be added up (see product.py): whoever reads it does so,
and rounds the sum to the type of the model.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..kernels import early, fast, power, tl, triton, wait_for_last

# Heads of a token that a program turns.
HEADS = 16


def total(parts: Tensor, dtype: torch.dtype) -> Tensor:
    """The parts added up, always in the same order."""
    first, *others = parts
    for other in others:
        first = first + other
    return first.to(dtype)


def norm(x: Tensor, weight: Tensor, eps: float, unit: float = 0.0) -> Tensor:
    """RMS norm of [tokens, width], times `unit` + weight."""
    if not fast(x):
        return norm_plain(x, weight, eps, unit)
    out = torch.empty_like(x)
    width = x.shape[1]
    _norm[(x.shape[0],)](
        x, x, weight, out, x.shape[0], width, eps, unit, PARTS=1, ADD=False, BLOCK=power(width), num_warps=4, **early()
    )
    return out


def add_norm(parts: Tensor, residual: Tensor, weight: Tensor, eps: float, unit: float = 0.0) -> Tensor:
    """Adds to `residual` in place, and gives the norm of the sum."""
    if not fast(residual):
        residual += parts.sum(0).to(residual.dtype)
        return norm_plain(residual, weight, eps, unit)
    tokens, width = residual.shape
    out = torch.empty_like(residual)
    _norm[(tokens,)](
        parts, residual, weight, out, tokens, width, eps, unit, PARTS=parts.shape[0], ADD=True, BLOCK=power(width), num_warps=4, **early()
    )
    return out


def norm_plain(x: Tensor, weight: Tensor, eps: float, unit: float = 0.0) -> Tensor:
    v = x.float()
    return (v * torch.rsqrt(v.square().mean(-1, keepdim=True) + eps) * (unit + weight.float())).to(x.dtype)


def gated(parts: Tensor, dtype: torch.dtype, gelu: bool = False) -> Tensor:
    """silu(gate) * up, where gate and up are the halves of the last dimension; `gelu`: that by tanh in place of silu."""
    count, tokens, width = parts.shape
    if not fast(parts):
        return gated_plain(parts, dtype, gelu)
    out = torch.empty(tokens, width // 2, dtype=dtype, device=parts.device)
    _gated[(tokens, triton.cdiv(width // 2, 1024))](
        parts, out, tokens, width // 2, PARTS=count, GELU=gelu, BLOCK=1024, num_warps=4, **early()
    )
    return out


def gated_plain(parts: Tensor, dtype: torch.dtype, gelu: bool = False) -> Tensor:
    gate, up = parts.sum(0).to(dtype).float().chunk(2, -1)
    F = torch.nn.functional
    return ((F.gelu(gate, approximate="tanh") if gelu else F.silu(gate)) * up).to(dtype)


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
    unit: float = 0.0,
) -> Tensor:
    """
    Queries [tokens, heads, size] of the product [q; k; v], turned by their positions; keys and values go into the pages
    [pages, kv heads, page, size]. `turn`: of the pairs of each head that are turned, from its start; the rest stays. `places`: page * page size + slot of each token, -1: nowhere.
    """
    _, kv, page, size = keys.shape
    count, tokens, width = parts.shape
    cos, sin = turn
    if not fast(keys):
        return rope_write_plain(parts, bias, q_norm, k_norm, eps, turn, positions, places, keys, values, heads, unit)
    out = torch.empty(tokens, heads, size, dtype=keys.dtype, device=keys.device)
    none = keys
    _rope_write[(tokens, triton.cdiv(heads + 2 * kv, HEADS))](
        parts, none if bias is None else bias, none if q_norm is None else q_norm, none if k_norm is None else k_norm,
        cos, sin, positions, places, keys, values, out, eps, unit, tokens, width, heads, kv,
        PARTS=count, PAGE=page, SIZE=size, PAIRS=cos.shape[1], HALF=power(cos.shape[1]), REST=power(max(1, size - 2 * cos.shape[1])),
        BIAS=bias is not None, NORM=q_norm is not None, HEADS=HEADS, num_warps=4, **early(),
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
    unit: float = 0.0,
) -> Tensor:
    _, kv, page, _ = keys.shape
    q, k, v = split_heads(parts, bias, q_norm, k_norm, eps, heads, kv, keys.dtype, unit)
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
    unit: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values by head, with bias and norm, not turned yet."""
    x = parts.sum(0).to(dtype)
    if bias is not None:
        x = (x.float() + bias.float()).to(dtype)
    x = x.view(x.shape[0], heads + 2 * kv, -1)
    q, k, v = x.split((heads, kv, kv), 1)
    if q_norm is not None and k_norm is not None:
        q, k = norm_plain(q, q_norm, eps, unit), norm_plain(k, k_norm, eps, unit)
    return q, k, v


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of [tokens, heads, size], with cos and sin [tokens, pairs]."""
    pairs = cos.shape[-1]
    a, b, rest = x.float().split((pairs, pairs, x.shape[-1] - 2 * pairs), -1)
    c, s = cos.float()[:, None], sin.float()[:, None]
    return torch.cat([a * c - b * s, b * c + a * s, rest], -1).to(x.dtype)


if triton is not None:

    @triton.jit(do_not_specialize=["tokens"])
    def _norm(
        x, residual, weight, out, tokens, width, eps, unit,
        PARTS: tl.constexpr, ADD: tl.constexpr, BLOCK: tl.constexpr, PDL: tl.constexpr,
    ):  # fmt: skip
        token = tl.program_id(0).to(tl.int64)
        at = tl.arange(0, BLOCK)
        inside = at < width
        here = token * width + at
        w = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
        wait_for_last(PDL)
        if ADD:
            v = tl.load(x + here, mask=inside, other=0.0).to(tl.float32)
            for part in tl.static_range(1, PARTS):
                v += tl.load(x + tl.cast(part, tl.int64) * tokens * width + here, mask=inside, other=0.0).to(tl.float32)
            v = v.to(out.dtype.element_ty).to(tl.float32)
            v += tl.load(residual + here, mask=inside, other=0.0).to(tl.float32)
            v = v.to(out.dtype.element_ty)
            tl.store(residual + here, v, mask=inside)
            v = v.to(tl.float32)
        else:
            v = tl.load(x + here, mask=inside, other=0.0).to(tl.float32)
        scale = tl.rsqrt(tl.sum(v * v, 0) / width + eps)
        tl.store(out + here, (v * scale * (unit + w)).to(out.dtype.element_ty), mask=inside)

    @triton.jit(do_not_specialize=["tokens"])
    def _gated(x, out, tokens, width, PARTS: tl.constexpr, GELU: tl.constexpr, BLOCK: tl.constexpr, PDL: tl.constexpr):
        wait_for_last(PDL)
        token = tl.program_id(0).to(tl.int64)
        at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        inside = at < width
        here = x + token * 2 * width + at
        gate = tl.load(here, mask=inside, other=0.0).to(tl.float32)
        up = tl.load(here + width, mask=inside, other=0.0).to(tl.float32)
        for _ in tl.static_range(1, PARTS):
            here += tl.cast(tokens, tl.int64) * 2 * width
            gate += tl.load(here, mask=inside, other=0.0).to(tl.float32)
            up += tl.load(here + width, mask=inside, other=0.0).to(tl.float32)
        gate = gate.to(out.dtype.element_ty).to(tl.float32)
        up = up.to(out.dtype.element_ty).to(tl.float32)
        slope = gate
        if GELU:
            # (1 + tanh x) / 2 is the sigmoid of 2 x
            slope = 1.5957691216057308 * (gate + 0.044715 * gate * gate * gate)
        y = gate / (1.0 + tl.exp(-slope)) * up
        tl.store(out + token * width + at, y.to(out.dtype.element_ty), mask=inside)

    @triton.jit(do_not_specialize=["tokens"])
    def _rope_write(
        x, bias, q_norm, k_norm, cos, sin, positions, places, keys, values, out, eps, unit, tokens, width, heads, kv,
        PARTS: tl.constexpr, PAGE: tl.constexpr, SIZE: tl.constexpr, PAIRS: tl.constexpr, HALF: tl.constexpr, REST: tl.constexpr, BIAS: tl.constexpr,
        NORM: tl.constexpr, HEADS: tl.constexpr, PDL: tl.constexpr,
    ):  # fmt: skip
        token = tl.program_id(0).to(tl.int64)
        # some heads at a time: first those of queries, then those of keys and of values
        head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
        there = head < heads + 2 * kv
        half: tl.constexpr = PAIRS
        whole: tl.constexpr = 2 * PAIRS == SIZE
        at = tl.arange(0, HALF)
        inside = there[:, None] & (at < half)[None, :]
        # what is behind the pairs
        more = tl.arange(0, REST)
        left = there[:, None] & (more < SIZE - 2 * PAIRS)[None, :]
        first = (head * SIZE)[:, None] + at[None, :]
        position = tl.load(positions + token).to(tl.int64)
        place = tl.load(places + token).to(tl.int64)
        c = tl.load(cos + position * half + at, mask=at < half, other=0.0).to(tl.float32)[None, :]
        s = tl.load(sin + position * half + at, mask=at < half, other=0.0).to(tl.float32)[None, :]
        wait_for_last(PDL)
        a = tl.zeros([HEADS, HALF], tl.float32)
        b = tl.zeros([HEADS, HALF], tl.float32)
        for part in tl.static_range(0, PARTS):
            here = x + (tl.cast(part, tl.int64) * tokens + token) * width + first
            a += tl.load(here, mask=inside, other=0.0).to(tl.float32)
            b += tl.load(here + half, mask=inside, other=0.0).to(tl.float32)
        a = a.to(out.dtype.element_ty).to(tl.float32)
        b = b.to(out.dtype.element_ty).to(tl.float32)
        behind = (head * SIZE)[:, None] + 2 * half + more[None, :]
        if not whole:
            z = tl.zeros([HEADS, REST], tl.float32)
            for part in tl.static_range(0, PARTS):
                here = x + (tl.cast(part, tl.int64) * tokens + token) * width + behind
                z += tl.load(here, mask=left, other=0.0).to(tl.float32)
            z = z.to(out.dtype.element_ty).to(tl.float32)
            if BIAS:
                z += tl.load(bias + behind, mask=left, other=0.0).to(tl.float32)
                z = z.to(out.dtype.element_ty).to(tl.float32)
        if BIAS:
            a += tl.load(bias + first, mask=inside, other=0.0).to(tl.float32)
            b += tl.load(bias + first + half, mask=inside, other=0.0).to(tl.float32)
            a = a.to(out.dtype.element_ty).to(tl.float32)
            b = b.to(out.dtype.element_ty).to(tl.float32)
        turned = (head < heads + kv)[:, None]
        if NORM:
            squares = tl.sum(a * a, 1) + tl.sum(b * b, 1)
            if not whole:
                squares += tl.sum(z * z, 1)
            scale = tl.rsqrt(squares / SIZE + eps)[:, None]
            mine = (head < heads)[:, None]
            weight = tl.where(mine, tl.load(q_norm + at, mask=at < half, other=0.0)[None, :], tl.load(k_norm + at, mask=at < half, other=0.0)[None, :])
            normed = a * scale * (unit + weight.to(tl.float32))
            a = tl.where(turned, normed.to(out.dtype.element_ty).to(tl.float32), a)
            weight = tl.where(
                mine, tl.load(q_norm + half + at, mask=at < half, other=0.0)[None, :], tl.load(k_norm + half + at, mask=at < half, other=0.0)[None, :]
            )
            normed = b * scale * (unit + weight.to(tl.float32))
            b = tl.where(turned, normed.to(out.dtype.element_ty).to(tl.float32), b)
            if not whole:
                tail = more < SIZE - 2 * PAIRS
                weight = tl.where(
                    mine,
                    tl.load(q_norm + 2 * half + more, mask=tail, other=0.0)[None, :],
                    tl.load(k_norm + 2 * half + more, mask=tail, other=0.0)[None, :],
                )
                z = tl.where(turned, z * scale * (unit + weight.to(tl.float32)), z)
        a, b = tl.where(turned, a * c - b * s, a), tl.where(turned, b * c + a * s, b)
        # queries go out, keys and values into their page
        queries = (head < heads)[:, None]
        to = out + (token * heads + head)[:, None] * SIZE
        tl.store(to + at[None, :], a.to(out.dtype.element_ty), mask=inside & queries)
        tl.store(to + half + at[None, :], b.to(out.dtype.element_ty), mask=inside & queries)
        page = ((place // PAGE) * kv + (head - heads) % kv) * PAGE + place % PAGE
        for_keys = (place >= 0) & (head >= heads) & (head < heads + kv)
        for_values = (place >= 0) & (head >= heads + kv)
        to = page[:, None] * SIZE
        tl.store(keys + to + at[None, :], a.to(out.dtype.element_ty), mask=inside & for_keys[:, None])
        tl.store(keys + to + half + at[None, :], b.to(out.dtype.element_ty), mask=inside & for_keys[:, None])
        tl.store(values + to + at[None, :], a.to(out.dtype.element_ty), mask=inside & for_values[:, None])
        tl.store(values + to + half + at[None, :], b.to(out.dtype.element_ty), mask=inside & for_values[:, None])
        if not whole:
            to_rest = page[:, None] * SIZE + 2 * half + more[None, :]
            here = out + (token * heads + head)[:, None] * SIZE + 2 * half + more[None, :]
            tl.store(here, z.to(out.dtype.element_ty), mask=left & queries)
            tl.store(keys + to_rest, z.to(out.dtype.element_ty), mask=left & for_keys[:, None])
            tl.store(values + to_rest, z.to(out.dtype.element_ty), mask=left & for_values[:, None])
