"""
Feed-forward parts of experts, of which each token goes through a few.

Tokens are sorted by their experts, so that each expert multiplies all of its tokens at once. What a token gets depends on no
other token: its sums along the columns are made in one chain, and its experts are added in the order of their shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..kernels import INTERPRETED, fast, precision, tl, triton
from . import fused, product


@dataclass
class Experts:
    """`router` [experts, hidden], `gate_up` [experts, 2 · inner, hidden], `down` [experts, hidden, inner]."""

    router: Tensor
    gate_up: Tensor
    down: Tensor
    active: int  # experts of a token
    normalized: bool  # their shares add up to 1


@dataclass
class Order:
    """Pairs of token and expert, sorted by expert: `tokens` of each, and which pairs are those of each expert."""

    tokens: Tensor  # [pairs]
    back: Tensor  # [tokens, active]: the places of a token's pairs
    ends: Tensor  # [experts]: where the pairs of each expert end


def feed(x: Tensor, experts: Experts, exact: bool) -> Tensor:
    """What the experts of each token of [tokens, hidden] make of it together."""
    shares, chosen = route(x, experts, exact)
    order = sort(chosen, experts.router.shape[0])
    inner = fused.gated(grouped(x, experts.gate_up, order, order.tokens)[None], x.dtype)
    every = torch.arange(inner.shape[0], device=x.device)
    out = grouped(inner, experts.down, order, every)
    return (out[order.back].float() * shares[..., None]).sum(1).to(x.dtype)


def route(x: Tensor, experts: Experts, exact: bool) -> tuple[Tensor, Tensor]:
    """Shares and numbers [tokens, active] of the experts of each token, the largest share first."""
    logits = fused.total(product.parts(x, experts.router, exact), x.dtype)
    shares, chosen = logits.float().softmax(-1).topk(experts.active, -1)
    if experts.normalized:
        shares = shares / shares.sum(-1, keepdim=True)
    # rounded as Transformers rounds them
    return shares.to(x.dtype).float(), chosen


def sort(chosen: Tensor, experts: int) -> Order:
    tokens, active = chosen.shape
    sorted_, pairs = chosen.flatten().sort(stable=True)
    back = torch.empty_like(pairs)
    back[pairs] = torch.arange(pairs.numel(), device=chosen.device)
    ends = torch.searchsorted(sorted_, torch.arange(experts, device=chosen.device), right=True)
    return Order(pairs // active, back.view(tokens, active), ends)


def grouped(x: Tensor, weights: Tensor, order: Order, rows: Tensor) -> Tensor:
    """Row `rows[i]` of x times the weight of the expert of pair i, for every pair: [pairs, width]."""
    if not fast(x):
        return grouped_plain(x, weights, order, rows)
    experts, width, columns = weights.shape
    pairs = rows.numel()
    tall, wide, deep = (64, 16, 64) if INTERPRETED or pairs <= 64 * experts else (128, 64, 64)
    # an expert has whole tiles of pairs; so many of them at most, however the pairs fall on the experts
    tiles = triton.cdiv(pairs, wide) + min(experts, pairs)
    begins = torch.cat([order.ends.new_zeros(1), order.ends[:-1]])
    last = ((order.ends - begins + wide - 1) // wide).cumsum(0)
    tile = torch.arange(tiles, device=x.device)
    expert = torch.searchsorted(last, tile, right=True).clamp_(max=experts - 1)
    first = begins[expert] + (tile - torch.where(expert > 0, last[expert - 1], 0)) * wide
    end = torch.where(tile < last[-1], order.ends[expert], 0)
    out = torch.empty(pairs, width, dtype=x.dtype, device=x.device)
    given: dict[str, Any] = dict(TALL=tall, WIDE=wide, DEEP=deep, EXACT=precision(x))
    _grouped[(tiles, triton.cdiv(width, tall))](
        x, weights, rows, expert, first, end, out, width, columns, **given, num_warps=4
    )
    return out


def grouped_plain(x: Tensor, weights: Tensor, order: Order, rows: Tensor) -> Tensor:
    out = x.new_empty(rows.numel(), weights.shape[1])
    begin = 0
    for expert, end in enumerate(order.ends.tolist()):
        if end > begin:
            out[begin:end] = x[rows[begin:end]] @ weights[expert].t()
        begin = end
    return out


if triton is not None:

    @triton.jit
    def _grouped(
        x, weights, rows, experts, firsts, ends, out, width, columns,
        TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr, EXACT: tl.constexpr,
    ):  # fmt: skip
        # as in product.py: the weight stands on the left
        tile = tl.program_id(0)
        end = tl.load(ends + tile)
        pair = tl.load(firsts + tile) + tl.arange(0, WIDE)
        there = pair < end
        row = tl.program_id(1) * TALL + tl.arange(0, TALL)
        known = row < width
        w_at = weights + (tl.load(experts + tile).to(tl.int64) * width + row)[:, None] * columns
        x_at = x + tl.load(rows + pair, mask=there, other=0).to(tl.int64)[None, :] * columns
        sums = tl.zeros([TALL, WIDE], tl.float32)
        # a tile that nobody needs has no columns
        for k in range(0, tl.where(tl.load(firsts + tile) < end, columns, 0), DEEP):
            at = k + tl.arange(0, DEEP)
            inside = at < columns
            w = tl.load(w_at + at[None, :], mask=known[:, None] & inside[None, :], other=0.0)
            v = tl.load(x_at + at[:, None], mask=there[None, :] & inside[:, None], other=0.0)
            sums = tl.dot(w, v, sums, input_precision=EXACT)
        to = out + pair.to(tl.int64)[None, :] * width + row[:, None]
        tl.store(to, sums.to(out.dtype.element_ty), mask=known[:, None] & there[None, :])
