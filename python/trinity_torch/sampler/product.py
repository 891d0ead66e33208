"""
Matrix products whose every number depends on its own row alone, whatever else is in the batch.

A library picks another kernel for another number of rows, and with it another order of additions. Here the order is
fixed: the tensor cores add along the columns in one chain, cut at places that depend on the weight alone. Few rows spread the
cuts over the device and leave the parts to be added by the reader (fused.py); many rows add them where they are.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..kernels import INTERPRETED, early, fast, precision, shared_memory, stages, tl, triton, wait_for_last

# This many programs fill a device: the cuts need not be spread.
ENOUGH = 120
# Tiles of tokens that are computed together before the next ones: what they read stays in the device's cache.
GROUP = 1024
# Up to this many tokens the products below are faster than the library's: all of them, and those whose weight is cut.
VERY_FEW, FEW = 16, 64


def cuts(rows: int, columns: int) -> int:
    """Into how many pieces the columns of a weight are cut, so that a small batch still fills the device."""
    pieces = 1
    while pieces < 8 and -(-rows // 64) * pieces < 90 and columns // (2 * pieces) >= 256:
        pieces *= 2
    return pieces


def parts(x: Tensor, weight: Tensor, exact: bool) -> Tensor:
    """x · weightᵀ as [parts, tokens, rows], to be added up."""
    few = x.shape[0] <= VERY_FEW or (x.shape[0] <= FEW and cuts(*weight.shape) > 1)
    if fast(x) and (exact or (few and x.dtype == torch.bfloat16)):
        return product(x, weight)
    return (one_by_one(x, weight) if exact and not x.is_cuda else x @ weight.t())[None]


def logits(x: Tensor, weight: Tensor, exact: bool) -> Tensor:
    """x · weightᵀ in float32."""
    if exact and fast(x):
        first, *others = product(x, weight, torch.float32)
        for other in others:
            first = first + other
        return first
    if x.is_cuda and x.dtype != torch.float32:
        return torch.mm(x, weight.t(), out_dtype=torch.float32)
    return (one_by_one(x, weight) if exact and not x.is_cuda else x @ weight.t()).float()


def one_by_one(x: Tensor, weight: Tensor) -> Tensor:
    """The exact product of the CPU: each token by itself, at an address as good as any other's."""
    out = x.new_empty(x.shape[0], weight.shape[0])
    for row, to in zip(x, out):
        to.copy_(weight @ row.clone())
    return out


def product(x: Tensor, weight: Tensor, dtype: torch.dtype | None = None, shape: Shape | None = None) -> Tensor:
    """`dtype`: of a sum that is whole; parts are float32."""
    tokens, columns = x.shape
    rows = weight.shape[0]
    tall, wide, deep, warps, most = shape or shape_for(tokens)
    pieces = cuts(rows, columns)
    tiles = triton.cdiv(tokens, wide) * triton.cdiv(rows, tall)
    fold = pieces == 1 or tiles >= ENOUGH
    if fold:
        out = torch.empty(1, tokens, rows, dtype=dtype or x.dtype, device=x.device)
    else:
        out = torch.empty(pieces, tokens, rows, dtype=torch.float32, device=x.device)
    grid = (tiles, 1 if fold else pieces)
    length = triton.cdiv(columns, pieces * 128) * 128
    given: dict[str, Any] = dict(
        FOLD=fold, GROUP=GROUP, TALL=tall, WIDE=wide, DEEP=deep, EXACT=precision(x),
        num_warps=warps, num_stages=stages(most, (tall + wide) * deep * x.dtype.itemsize, 0, shared_memory()), **early(),
    )  # fmt: skip
    _product[grid](weight, x, out, tokens, rows, columns, pieces, length, **given)
    return out


# rows of the weight, tokens, columns of one tile; warps; stages
Shape = tuple[int, int, int, int, int]


def shape_for(tokens: int) -> Shape:
    if INTERPRETED:
        return 64, 16, 64, 4, 2
    if tokens <= 16:
        return 64, 16, 128, 4, 3
    if tokens <= 32:
        return 64, 32, 128, 4, 4
    if tokens <= 64:
        return 64, 64, 128, 4, 4
    if tokens <= 128:
        return 64, 128, 64, 4, 4
    return 128, 128, 64, 8, 4


if triton is not None:

    @triton.jit(do_not_specialize=["tokens"])
    def _product(
        weight, x, out, tokens, rows, columns, pieces, length,
        FOLD: tl.constexpr, GROUP: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr, EXACT: tl.constexpr,
        PDL: tl.constexpr,
    ):  # fmt: skip
        # the weight stands on the left: its 64 rows and more always fill the same instruction, however few tokens there are
        across = tl.cdiv(tokens, WIDE)
        together = GROUP * tl.cdiv(rows, TALL)
        begin = (tl.program_id(0) // together) * GROUP
        size = tl.minimum(across - begin, GROUP)
        place = tl.program_id(0) % together
        row = (place // size) * TALL + tl.arange(0, TALL)
        token = (begin + place % size) * WIDE + tl.arange(0, WIDE)
        column = tl.arange(0, DEEP)
        known = row < rows
        there = token < tokens
        w_at = weight + row.to(tl.int64)[:, None] * columns
        x_at = x + token.to(tl.int64)[None, :] * columns
        first = tl.program_id(1)
        last = first + 1
        if FOLD:
            last = pieces
        wait_for_last(PDL)
        total = tl.zeros([TALL, WIDE], tl.float32)
        for piece in range(first, last):
            sums = tl.zeros([TALL, WIDE], tl.float32)
            end = tl.minimum(columns, (piece + 1) * length)
            for k in range(piece * length, end, DEEP):
                at = k + column
                inside = at < end
                w = tl.load(w_at + at[None, :], mask=known[:, None] & inside[None, :], other=0.0)
                v = tl.load(x_at + at[:, None], mask=there[None, :] & inside[:, None], other=0.0)
                sums = tl.dot(w, v, sums, input_precision=EXACT)
            if FOLD and piece > 0:
                total += sums
            else:
                total = sums
        to = out + (first.to(tl.int64) * tokens + token[None, :]) * rows + row[:, None]
        tl.store(to, total.to(out.dtype.element_ty), mask=known[:, None] & there[None, :])
