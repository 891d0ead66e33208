"""
Products of some dozens of tokens on Hopper: what few.py says, where the device's copy engine brings the tiles of a weight, as many as there
is room for before the last kernel has ended. A group of four warps multiplies 64 rows by all tokens of a program at once.

Written in Gluon, which is experimental: it is used with the versions of Triton that it was tried with, and elsewhere few.py leaves such
products to the library.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from torch import Tensor

from ..kernels import early, hopper, power, triton, wait_for_last

TRIED = ("3.6.",)
# Rows of a weight that a group of warps takes at a time.
TALL = 64

try:
    from triton.experimental import gluon
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.language.nvidia.hopper import (
        fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait,
    )  # fmt: skip
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
except ImportError:
    gluon = None


@cache
def able() -> bool:
    return gluon is not None and triton.__version__.startswith(TRIED) and hopper()


@cache
def layout(rows: int, columns: int) -> Any:
    return gl.NVMMASharedLayout.get_default_for([rows, columns], gl.bfloat16)


def described(x: Tensor, rows: int, columns: int) -> Any:
    """`x` [rows, columns] as the copy engine sees it, tile by tile; beyond its edges is 0."""
    return TensorDescriptor.from_tensor(x, [rows, columns], layout(rows, columns))


def gated(h: Any, weight: Tensor, eps: float, out: Tensor, wide: int, deep: int, stages: int) -> None:
    """Into `out` what few.Few.gated gives, of a few.Normed. A program takes `wide` tokens and `deep` columns at a time."""
    tokens, width = h.x.shape
    inner, parts = out.shape[1], h.squares.shape[0]
    _fed[(inner // TALL, triton.cdiv(tokens, wide))](
        described(weight, TALL, deep), described(h.x, wide, deep), h.squares, out, tokens, width, inner, eps, parts,
        PARTS=power(parts), TALL=TALL, WIDE=wide, DEEP=deep, STAGES=stages, num_warps=4, **early(),
    )  # fmt: skip


def add(
    given: Tensor, weight: Tensor, x: Tensor, norm: Tensor, found: Any, parts: Tensor, ended: Tensor,
    length: int, pieces: int, wide: int, deep: int, stages: int,
) -> None:  # fmt: skip
    """Into `found` what few.Few.add gives; `length` columns for each of the pieces, whose sums are in `parts` until they are added up."""
    tokens, columns = given.shape
    width = weight.shape[0]
    _added[(width // TALL, triton.cdiv(tokens, wide), pieces)](
        described(weight, TALL, deep), described(given, wide, deep), x, norm, *found, parts, ended, tokens, columns, width, length,
        PIECES=pieces, TALL=TALL, WIDE=wide, DEEP=deep, STAGES=stages, num_warps=4, **early(),
    )  # fmt: skip


if gluon is not None:

    @gluon.jit
    def _bring(weight, place, row, second, column, full, a, b, HALVES: gl.constexpr, there):
        """Asks for a tile of a weight, and for one of its second half."""
        tma.async_copy_global_to_shared(weight, [row, column], full, a.index(place), pred=there)
        if HALVES == 2:
            tma.async_copy_global_to_shared(weight, [second, column], full, b.index(place), pred=there)

    @gluon.jit
    def _product(
        weight, x, row, second, token, begin, steps, squares, tokens, width, eps, parts,
        HALVES: gl.constexpr, PARTS: gl.constexpr, TALL: gl.constexpr, WIDE: gl.constexpr, DEEP: gl.constexpr, STAGES: gl.constexpr,
        PDL: gl.constexpr,
    ):  # fmt: skip
        """
        [TALL, WIDE] twice: rows of a weight from `row` and, of two HALVES, from `second`, by the tokens of `x` from `token`, over so many steps of
        DEEP columns. With PARTS times the factor of each token that its norm still lacks.
        """
        sums: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[gl.num_warps(), 1], instr_shape=[16, WIDE, 16])
        held = gl.allocate_shared_memory(gl.bfloat16, [STAGES, WIDE, DEEP], x.layout)
        a_held = gl.allocate_shared_memory(gl.bfloat16, [STAGES, TALL, DEEP], weight.layout)
        b_held = a_held
        if HALVES == 2:
            b_held = gl.allocate_shared_memory(gl.bfloat16, [STAGES, TALL, DEEP], weight.layout)
        full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
        for i in gl.static_range(STAGES):
            mbarrier.init(full.index(i), count=1)
        fence_async_shared()
        size: gl.constexpr = (HALVES * TALL + WIDE) * DEEP * 2
        # weights are there before the last kernel has ended
        for i in gl.static_range(STAGES):
            mbarrier.expect(full.index(i), size, pred=i < steps)
            _bring(weight, i, row, second, begin + i * DEEP, full.index(i), a_held, b_held, HALVES, i < steps)
        wait_for_last(PDL)
        for i in gl.static_range(STAGES):
            tma.async_copy_global_to_shared(x, [token, begin + i * DEEP], full.index(i), held.index(i), pred=i < steps)
        scale = gl.full([WIDE], 1.0, gl.float32, gl.SliceLayout(0, sums))
        if PARTS > 0:
            many: gl.constexpr = gl.BlockedLayout([1, 1], [2, 16], [gl.num_warps(), 1], [1, 0])
            part = gl.arange(0, PARTS, gl.SliceLayout(1, many))
            known = gl.minimum(token + gl.arange(0, WIDE, gl.SliceLayout(0, many)), tokens - 1)
            each = gl.load(squares + part[:, None] * tokens + known[None, :], mask=(part < parts)[:, None], other=0.0)
            scale = gl.convert_layout(gl.rsqrt(gl.sum(each, 0) / width + eps), gl.SliceLayout(0, sums))
        a = gl.zeros([TALL, WIDE], gl.float32, sums)
        b = gl.zeros([TALL, WIDE], gl.float32, sums)
        for k in range(steps):
            place = k % STAGES
            mbarrier.wait(full.index(place), (k // STAGES) & 1)
            v = held.index(place).permute((1, 0))
            a = warpgroup_mma(a_held.index(place), v, a, is_async=True)
            if HALVES == 2:
                b = warpgroup_mma(b_held.index(place), v, b, is_async=True)
                a, b = warpgroup_mma_wait(num_outstanding=0, deps=[a, b])
            else:
                a = warpgroup_mma_wait(num_outstanding=0, deps=[a])
            there = k + STAGES < steps
            column = begin + (k + STAGES) * DEEP
            mbarrier.expect(full.index(place), size, pred=there)
            _bring(weight, place, row, second, column, full.index(place), a_held, b_held, HALVES, there)
            tma.async_copy_global_to_shared(x, [token, column], full.index(place), held.index(place), pred=there)
        for i in gl.static_range(STAGES):
            mbarrier.invalidate(full.index(i))
        return a * scale[None, :], b * scale[None, :]

    @gluon.jit(do_not_specialize=["tokens"])
    def _fed(
        weight, x, squares, out, tokens, width, inner, eps, parts,
        PARTS: gl.constexpr, TALL: gl.constexpr, WIDE: gl.constexpr, DEEP: gl.constexpr, STAGES: gl.constexpr, PDL: gl.constexpr,
    ):  # fmt: skip
        flat: gl.constexpr = gl.BlockedLayout([8, 1], [8, 4], [1, gl.num_warps()], [0, 1])
        begin = gl.program_id(0) * TALL
        first = gl.program_id(1) * WIDE
        gate, up = _product(
            weight, x, begin, begin + inner, first, 0, width // DEEP, squares, tokens, width, eps, parts,
            2, PARTS, TALL, WIDE, DEEP, STAGES, PDL,
        )  # fmt: skip
        y = gl.convert_layout((gate / (1.0 + gl.exp(-gate)) * up).to(out.dtype.element_ty), flat)
        row = begin + gl.arange(0, TALL, gl.SliceLayout(1, flat))
        token = first + gl.arange(0, WIDE, gl.SliceLayout(0, flat))
        gl.store(out + token.to(gl.int64)[None, :] * inner + row[:, None], y, mask=(token < tokens)[None, :])

    @gluon.jit(do_not_specialize=["tokens"])
    def _added(
        weight, given, x, norm, out, squares, parts, ended, tokens, columns, width, length,
        PIECES: gl.constexpr, TALL: gl.constexpr, WIDE: gl.constexpr, DEEP: gl.constexpr, STAGES: gl.constexpr, PDL: gl.constexpr,
    ):  # fmt: skip
        flat: gl.constexpr = gl.BlockedLayout([4, 1], [16, 2], [1, gl.num_warps()], [0, 1])
        tile = gl.program_id(0)
        # of all tiles of rows and tokens
        one = gl.program_id(1) * gl.num_programs(0) + tile
        piece = gl.program_id(2)
        first = gl.program_id(1) * WIDE
        begin = piece * length
        end = gl.minimum(columns, begin + length)
        sums, _ = _product(
            weight, given, tile * TALL, 0, first, begin, (end - begin) // DEEP, norm, tokens, width, 0.0, 0,
            1, 0, TALL, WIDE, DEEP, STAGES, PDL,
        )  # fmt: skip
        sums = gl.convert_layout(sums, flat)
        at = gl.arange(0, TALL, gl.SliceLayout(1, flat))
        column = gl.arange(0, WIDE, gl.SliceLayout(0, flat))
        last = 1
        if PIECES > 1:
            # the last one of a tile adds up what all have, always in the same order
            mine = parts + one.to(gl.int64) * PIECES * TALL * WIDE + column[None, :] * TALL + at[:, None]
            gl.store(mine + piece * TALL * WIDE, sums)
            gl.thread_barrier()
            last = (gl.atomic_add(ended + one, 1, sem="acq_rel") == PIECES - 1).to(gl.int32)
            if last == 1:
                sums = gl.load(mine, cache_modifier=".cg")
                for other in gl.static_range(1, PIECES):
                    sums += gl.load(mine + other * TALL * WIDE, cache_modifier=".cg")
                gl.store(ended + one, 0)
        if last == 1:
            row = tile * TALL + at
            token = first + column
            there = (token < tokens)[None, :]
            to = gl.minimum(token, tokens - 1).to(gl.int64)[None, :] * width + row[:, None]
            before = gl.load(x + to, mask=there, other=0.0)
            w = gl.load(norm + row).to(gl.float32)
            whole = (sums + before.to(gl.float32)).to(x.dtype.element_ty)
            gl.store(x + to, whole, mask=there)
            v = whole.to(gl.float32)
            gl.store(out + to, (v * w[:, None]).to(out.dtype.element_ty), mask=there)
            gl.store(squares + tile * tokens + token, gl.sum(v * v, 0), mask=token < tokens)
