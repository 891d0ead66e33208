"""
Layers for few tokens, four kernels each beside attention. With few tokens a product is as fast as its weight is read, and every kernel beside it
costs as much as a tenth of that: so products do themselves what lies between them.

A product that ends a part of a layer adds to `x`, and leaves for the next one what a norm makes of the sum but for one factor
per token (`Normed`): the mean square is known only when all columns are there. Products are linear, so the next one takes that
factor at its end.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..kernels import INTERPRETED, early, fast, power, shared_memory, stages, tl, triton, wait_for_last
from . import bulk

# More tokens than this are as well served by the library's products; with those of bulk.py, where a model is so wide at most.
MOST = 32
WIDTHS = {1536: 128, 2048: 64}
# Programs that a device works on at once, one of several tokens each.
PROGRAMS = 132


class Plan(NamedTuple):
    """
    Rows of a weight, tokens and columns that a program takes at a time, warps, stages, in how many pieces columns are summed, columns that
    are read before the last kernel has ended, and whether it is for bulk.py.
    """

    tall: int
    wide: int
    deep: int
    warps: int
    stages: int
    pieces: int = 1
    first: int = 0
    bulk: bool = False


class Normed(NamedTuple):
    """`x` [tokens, width] times the weight of a norm, and of each token sums of squares [parts, tokens] of its `x`."""

    x: Tensor
    squares: Tensor


def fits(weights: list[Tensor]) -> bool:
    """Whether weights have shapes that the kernels below can do with: they look at no edges."""
    return all(w.shape[0] % 64 == 0 and w.shape[1] % 64 == 0 for w in weights)


def most_of(width: int) -> int:
    """Tokens up to which the kernels below are the fastest."""
    return next((most for widest, most in WIDTHS.items() if width <= widest), MOST) if bulk.able() else MOST


def divisor(size: int, most: int) -> int:
    """The largest power of two up to `most` that divides `size`."""
    return min(most, size & -size)


def plan(kind: str, tokens: int, rows: int, columns: int) -> Plan:
    """`kind`: turn, gate or add. `rows`: that programs share; of a product in halves, those of one half."""
    wide = power(tokens, 16)
    if INTERPRETED:
        several, first = (2, 128) if kind == "add" else (1, 0)
        return Plan(divisor(rows, 16), min(wide, 32), divisor(columns, 64), 4, 2, several, first)
    if tokens == 1:
        # all of a row at once, unless it is long
        return Plan(divisor(rows, 4), 1, power(min(columns, 2048)), 4, 3)
    if tokens > MOST:
        return plan_of_some(kind, tokens, rows, columns)
    if kind == "turn":
        return Plan(divisor(rows, 32), wide, divisor(columns, 128), 4, 4)
    if kind == "gate":
        return Plan(divisor(rows, 32), wide, divisor(columns, 64), 4, 6 if tokens <= 16 else 3)
    tall, deep = divisor(rows, 64), divisor(columns, 128)
    return Plan(tall, wide, deep, 4, 4, pieces_of(columns // deep, max(1, PROGRAMS * tall // rows)))


def plan_of_some(kind: str, tokens: int, rows: int, columns: int) -> Plan:
    """The same of dozens of tokens. As many programs as the device takes at once; what they read should stay small."""
    up_to_64, deep = tokens <= 64, divisor(columns, 128)
    if kind == "turn":
        return Plan(divisor(rows, 32), 16 if up_to_64 else 32, deep, 4, 4, 1, 256)
    if kind == "gate":
        return Plan(bulk.TALL, 64, deep, 4, 2 * 128 // deep, bulk=True) if up_to_64 else Plan(bulk.TALL, 128, 64, 4, 3, bulk=True)
    if columns < 2 * rows:
        return Plan(divisor(rows, 64), 32, deep, 4, 4, 2 if up_to_64 else 1, 256)
    most = PROGRAMS * bulk.TALL // (rows if up_to_64 else 2 * rows)
    return Plan(bulk.TALL, 64, deep, 4, 5 * 128 // deep, pieces_of(columns // deep, max(1, most)), bulk=True)


def pieces_of(steps: int, most: int) -> int:
    """So many that all run at once, and none is without work."""
    each = -(-steps // most)
    return -(-steps // each)


def launch(given: Plan, columns: int, halves: int, x: Tensor) -> dict[str, int | bool]:
    """`columns`: that one program sums up."""
    high, first = halves * given.tall, given.first or given.deep
    column = (high + given.wide) * x.element_size()
    # what is read first has a place of its own, and where a group of warps multiplies, what it reads while the next columns come
    other = column * (first + (given.deep if high >= 64 else 0))
    count = stages(given.stages, column * given.deep, other, shared_memory())
    more = 0 if columns <= first else count
    return dict(
        TALL=given.tall, WIDE=given.wide, DEEP=given.deep, FIRST=first, STAGES=more, num_warps=given.warps, num_stages=count, **early()
    )  # fmt: skip


class Few:
    """`width`: of the model."""

    def __init__(self, device: torch.device, width: int):
        self.most = most_of(width)
        # of each group of programs, how many have ended; the last of them puts it back to 0
        self.ended = torch.zeros(width * self.most // 16, dtype=torch.int32, device=device)

    def serves(self, x: Tensor) -> bool:
        """Whether so many tokens are for the kernels below."""
        return x.shape[0] <= self.most and fast(x) and (x.dtype == torch.bfloat16 or INTERPRETED)

    def begin(self, x: Tensor, norm: Tensor) -> Normed:
        """Of what enters the first layer; in as many parts as `add` leaves, so that one kernel takes both."""
        tokens, width = x.shape
        parts = width // plan("add", tokens, width, width).tall
        found = Normed(torch.empty_like(x), torch.empty(parts, tokens, dtype=torch.float32, device=x.device))
        _begin[(tokens,)](x, norm, *found, tokens, width, parts, BLOCK=power(width), PARTS=power(parts), num_warps=4, **early())
        return found

    def queries(
        self, h: Normed, weight: Tensor, bias: Tensor | None, turn: tuple[Tensor, Tensor], positions: Tensor, places: Tensor,
        keys: Tensor, values: Tensor, heads: int, eps: float,
    ) -> Tensor:  # fmt: skip
        """What fused.rope_write gives, of heads that are turned whole and not normed."""
        _, kv, page, size = keys.shape
        tokens, width = h.x.shape
        out = torch.empty(tokens, heads, size, dtype=keys.dtype, device=keys.device)
        given = plan("turn", tokens, size // 2, width)
        _turned[(weight.shape[0] // (2 * given.tall), triton.cdiv(tokens, given.wide))](
            weight, h.x, h.squares, weight if bias is None else bias, *turn, positions, places, keys, values, out,
            tokens, width, heads, kv, eps, h.squares.shape[0],
            PARTS=power(h.squares.shape[0]), BIAS=bias is not None, SIZE=size, PAGE=page, **launch(given, width, 2, h.x),
        )  # fmt: skip
        return out

    def gated(self, h: Normed, weight: Tensor, eps: float) -> Tensor:
        """silu(gate) * up."""
        tokens, width = h.x.shape
        inner = weight.shape[0] // 2
        out = torch.empty(tokens, inner, dtype=h.x.dtype, device=h.x.device)
        given = plan("gate", tokens, inner, width)
        if given.bulk:
            bulk.gated(h, weight, eps, out, given.wide, given.deep, given.stages)
            return out
        _fed[(inner // given.tall, triton.cdiv(tokens, given.wide))](
            weight, h.x, h.squares, out, tokens, width, inner, eps, h.squares.shape[0],
            PARTS=power(h.squares.shape[0]), **launch(given, width, 2, h.x),
        )  # fmt: skip
        return out

    def add(self, given: Tensor, weight: Tensor, x: Tensor, norm: Tensor) -> Normed:
        """Adds a product to `x` in place. `norm`: of what follows."""
        tokens, columns = given.shape
        width = weight.shape[0]
        how = plan("add", tokens, width, columns)
        length = -(-columns // how.deep // how.pieces) * how.deep
        tiles, across = width // how.tall, triton.cdiv(tokens, how.wide)
        room = how.pieces * across * how.wide * width if how.pieces > 1 else 1
        parts = torch.empty(room, dtype=torch.float32, device=x.device)
        found = Normed(torch.empty_like(x), torch.empty(tiles, tokens, dtype=torch.float32, device=x.device))
        if how.bulk:
            bulk.add(given, weight, x, norm, found, parts, self.ended, length, how.pieces, how.wide, how.deep, how.stages)
            return found
        _added[(tiles, across, how.pieces)](
            weight, given, x, norm, *found, parts, self.ended, tokens, columns, width, length, how.pieces,
            SEVERAL=how.pieces > 1, **launch(how, length, 1, given),
        )  # fmt: skip
        return found


if triton is not None:

    @triton.jit(do_not_specialize=["tokens"])
    def _begin(x, norm, out, squares, tokens, width, parts, BLOCK: tl.constexpr, PARTS: tl.constexpr, PDL: tl.constexpr):
        wait_for_last(PDL)
        token = tl.program_id(0).to(tl.int64)
        at = tl.arange(0, BLOCK)
        v = tl.load(x + token * width + at, mask=at < width, other=0.0).to(tl.float32)
        w = tl.load(norm + at, mask=at < width, other=0.0).to(tl.float32)
        tl.store(out + token * width + at, (v * w).to(out.dtype.element_ty), mask=at < width)
        # the sum, and nothing more
        part = tl.arange(0, PARTS)
        tl.store(squares + part * tokens + token, tl.where(part == 0, tl.sum(v * v, 0), 0.0), mask=part < parts)

    @triton.jit
    def _first(weight, row, begin, end, columns, FIRST: tl.constexpr):
        """The first columns of these rows: weights can be read before the last kernel has ended."""
        at = begin + tl.arange(0, FIRST)
        return tl.load(weight + row.to(tl.int64)[:, None] * columns + at[None, :], mask=(at < end)[None, :], other=0.0)

    @triton.jit
    def _product(
        first, weight, x, row, token, begin, end, columns,
        TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr, FIRST: tl.constexpr, STAGES: tl.constexpr,
    ):  # fmt: skip
        """
        [TALL, WIDE]: these rows of the weight by these tokens, over columns begin … end; beyond `first`, what `_first` gives, whole steps of
        DEEP where there are several tokens. STAGES 0: there is nothing beyond.
        """
        at = tl.arange(0, DEEP)
        early = begin + tl.arange(0, FIRST)
        w_at = weight + row.to(tl.int64)[:, None] * columns + at[None, :]
        if WIDE == 1:
            # one token needs no tensor core, whose results come late
            each = first.to(tl.float32) * tl.load(x + early, mask=early < end, other=0.0).to(tl.float32)[None, :]
            if STAGES > 0:
                for k in tl.range(begin + FIRST, end, DEEP, num_stages=STAGES):
                    inside = k + at < end
                    w = tl.load(w_at + k, mask=inside[None, :], other=0.0)
                    each += w.to(tl.float32) * tl.load(x + k + at, mask=inside, other=0.0).to(tl.float32)[None, :]
            return tl.sum(each, 1)[:, None]
        else:
            x_of = x + token.to(tl.int64)[None, :] * columns
            v = tl.load(x_of + early[:, None], mask=(early < end)[:, None], other=0.0)
            sums = tl.zeros([TALL, WIDE], tl.float32)
            if STAGES > 0:
                x_at = x_of + at[:, None]
                for k in range(begin + FIRST, end, DEEP):
                    sums = tl.dot(tl.load(w_at + k), tl.load(x_at + k), sums, input_precision="ieee")
            return tl.dot(first, v, sums, input_precision="ieee")

    @triton.jit
    def _scale(squares, token, tokens, width, eps, parts, PARTS: tl.constexpr, WIDE: tl.constexpr):
        """The factor of each token that its norm still lacks."""
        part = tl.arange(0, PARTS)
        if WIDE == 1:
            each = tl.load(squares + part, mask=part < parts, other=0.0)[:, None]
        else:
            each = tl.load(squares + part[:, None] * tokens + token[None, :], mask=(part < parts)[:, None], other=0.0)
        return tl.rsqrt(tl.sum(each, 0) / width + eps)

    @triton.jit
    def _rows(begin, distance, TALL: tl.constexpr):
        """TALL rows of each half of a weight; the halves are so far from each other."""
        both = tl.arange(0, 2 * TALL)
        return begin + (both // TALL) * distance + both % TALL

    @triton.jit
    def _halves(both, TALL: tl.constexpr, WIDE: tl.constexpr):
        """What a product with such rows, [2 * TALL, WIDE], gives for each half."""
        return tl.split(tl.permute(tl.reshape(both, [2, TALL, WIDE]), [1, 2, 0]))

    @triton.jit(do_not_specialize=["tokens"])
    def _turned(
        weight, x, squares, bias, cos, sin, positions, places, keys, values, out, tokens, width, heads, kv, eps, parts,
        PARTS: tl.constexpr, BIAS: tl.constexpr, SIZE: tl.constexpr, PAGE: tl.constexpr,
        TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr, FIRST: tl.constexpr, STAGES: tl.constexpr, PDL: tl.constexpr,
    ):  # fmt: skip
        half: tl.constexpr = SIZE // 2
        # some places of one head, and those that they turn with
        head = tl.program_id(0) // (half // TALL)
        begin = (tl.program_id(0) % (half // TALL)) * TALL
        at = begin + tl.arange(0, TALL)
        row = _rows(head * SIZE + begin, half, TALL)
        token = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
        there = (token < tokens)[None, :]
        known = tl.minimum(token, tokens - 1)
        first = _first(weight, row, 0, width, width, FIRST)
        position = tl.load(positions + known).to(tl.int64)[None, :] * half + at[:, None]
        c = tl.load(cos + position).to(tl.float32)
        s = tl.load(sin + position).to(tl.float32)
        place = tl.load(places + known).to(tl.int64)
        more = tl.zeros([2 * TALL], tl.float32)
        if BIAS:
            more = tl.load(bias + row).to(tl.float32)
        wait_for_last(PDL)
        scale = _scale(squares, known, tokens, width, eps, parts, PARTS, WIDE)
        sums = _product(first, weight, x, row, known, 0, width, width, 2 * TALL, WIDE, DEEP, FIRST, STAGES)
        a, b = _halves(sums * scale[None, :] + more[:, None], TALL, WIDE)
        if head < heads + kv:
            a, b = a * c - b * s, b * c + a * s
        a = a.to(out.dtype.element_ty)
        b = b.to(out.dtype.element_ty)
        if head < heads:
            to = out + (known.to(tl.int64) * heads + head)[None, :] * SIZE + at[:, None]
            tl.store(to, a, mask=there)
            tl.store(to + half, b, mask=there)
        else:
            page = ((place // PAGE) * kv + (head - heads) % kv) * PAGE + place % PAGE
            spot = page[None, :] * SIZE + at[:, None]
            kept = there & (place >= 0)[None, :]
            if head < heads + kv:
                tl.store(keys + spot, a, mask=kept)
                tl.store(keys + spot + half, b, mask=kept)
            else:
                tl.store(values + spot, a, mask=kept)
                tl.store(values + spot + half, b, mask=kept)

    @triton.jit(do_not_specialize=["tokens"])
    def _fed(
        weight, x, squares, out, tokens, width, inner, eps, parts,
        PARTS: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr, FIRST: tl.constexpr, STAGES: tl.constexpr, PDL: tl.constexpr,
    ):  # fmt: skip
        begin = tl.program_id(0) * TALL
        row = _rows(begin, inner, TALL)
        token = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
        known = tl.minimum(token, tokens - 1)
        first = _first(weight, row, 0, width, width, FIRST)
        wait_for_last(PDL)
        scale = _scale(squares, known, tokens, width, eps, parts, PARTS, WIDE)
        sums = _product(first, weight, x, row, known, 0, width, width, 2 * TALL, WIDE, DEEP, FIRST, STAGES)
        gate, up = _halves(sums * scale[None, :], TALL, WIDE)
        y = gate / (1.0 + tl.exp(-gate)) * up
        to = out + known.to(tl.int64)[None, :] * inner + (begin + tl.arange(0, TALL))[:, None]
        tl.store(to, y.to(out.dtype.element_ty), mask=(token < tokens)[None, :])

    @triton.jit(do_not_specialize=["tokens", "pieces"])
    def _added(
        weight, given, x, norm, out, squares, parts, ended, tokens, columns, width, length, pieces,
        SEVERAL: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr, FIRST: tl.constexpr, STAGES: tl.constexpr, PDL: tl.constexpr,
    ):  # fmt: skip
        tile = tl.program_id(0)
        # of all tiles of rows and tokens
        one = tl.program_id(1) * tl.num_programs(0) + tile
        piece = tl.program_id(2)
        row = tile * TALL + tl.arange(0, TALL)
        column = tl.arange(0, WIDE)
        token = tl.program_id(1) * WIDE + column
        known = tl.minimum(token, tokens - 1)
        begin = piece * length
        end = tl.minimum(columns, begin + length)
        there = (token < tokens)[None, :]
        to = known.to(tl.int64)[None, :] * width + row[:, None]
        first = _first(weight, row, begin, end, columns, FIRST)
        w = tl.load(norm + row).to(tl.float32)
        wait_for_last(PDL)
        if WIDE == 1:
            before = tl.load(x + row)[:, None]
        else:
            before = tl.load(x + to, mask=there, other=0.0)
        sums = _product(first, weight, given, row, known, begin, end, columns, TALL, WIDE, DEEP, FIRST, STAGES)
        last = 1
        if SEVERAL:
            # the last one of a tile adds up what all have, always in the same order
            at = tl.arange(0, TALL)[:, None] * WIDE + column[None, :]
            mine = parts + one.to(tl.int64) * pieces * TALL * WIDE + at
            tl.store(mine + piece * TALL * WIDE, sums)
            tl.debug_barrier()
            last = (tl.atomic_add(ended + one, 1, sem="acq_rel") == pieces - 1).to(tl.int32)
            if last == 1:
                sums = tl.load(mine, cache_modifier=".cg")
                for other in range(1, pieces):
                    sums += tl.load(mine + other * TALL * WIDE, cache_modifier=".cg")
                tl.store(ended + one, 0)
        if last == 1:
            whole = (sums + before.to(tl.float32)).to(x.dtype.element_ty)
            tl.store(x + to, whole, mask=there)
            v = whole.to(tl.float32)
            tl.store(out + to, (v * w[:, None]).to(out.dtype.element_ty), mask=there)
            tl.store(squares + tile * tokens + token, tl.sum(v * v, 0), mask=token < tokens)
