"""
Attention over pages, as fast as it goes. Where bits must not depend on the batch, paged.py serves instead.

The keys that a query sees are cut into even pieces, as many as fill the device; what the pieces give is joined. Keys that several
sequences begin with are read once for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from ..kernels import INTERPRETED, early, let_next, power, precision, shared_memory, stages, tl, triton, wait, wait_for_last
from .paged import LOG2E, Tiles, lanes_of


class Pace(NamedTuple):
    """Keys that a program takes at a time, stages of its pipeline, warps."""

    keys: int
    stages: int
    warps: int


# Of one new token, whose keys are cut into pieces or, where there are many tokens, are not; of what sequences share; of a prompt.
SINGLE, WHOLE, SHARED, PROMPT = Pace(64, 3, 2), Pace(32, 3, 1), Pace(64, 3, 4), Pace(128, 3, 8)
# Rows (tokens x heads) of a tile of a prompt, and of sequences that share something.
PROMPT_ROWS, SHARED_ROWS = 128, 64
# Bytes of a head beyond which a tile of a prompt has half as many rows.
WIDE = 256
# Programs for new tokens of all sequences, so that few of them fill the device as well; for what groups of them share.
SINGLES, GROUPS = 512, 1536
# Bytes of a layer that sequences must have in common for it to be worth while.
WORTH = 80e6


def prompt_tokens(group: int, head: int) -> int:
    """Tokens of a prompt that one tile takes; `head`: bytes of one."""
    rows = PROMPT_ROWS if head <= WIDE else PROMPT_ROWS // 2
    return max(1, (32 if INTERPRETED else rows) // group)


def members(group: int) -> int:
    """Sequences that one tile takes, of those that share something."""
    return min(16, SHARED_ROWS // group)


@dataclass
class Common:
    """
    What sequences begin with in common. `tokens` [batch]: of each, 0 for nothing. For each group of them: `slot`, whose
    table of pages is read, `length`, 0 where there is no group, and `rows` [groups, members] of the batch, -1 for nobody.
    """

    tokens: Tensor
    slot: Tensor
    length: Tensor
    rows: Tensor

    def cut(self, batch: int) -> Common:
        """Of the first rows of a batch, where all groups are."""
        groups = max(1, batch // 2)
        return Common(self.tokens[:batch], self.slot[:groups], self.length[:groups], self.rows[:groups])


@dataclass
class Pieces:
    """Into how many the keys of a sequence are cut, and those of a group; where their sums go until they are joined."""

    own: int
    common: int
    room: Tensor | None

    @staticmethod
    def counts(batch: int, kv: int, common: bool) -> tuple[int, int]:
        """A group has several sequences, so it is cut into more; where one program joins them, into 1, 2 or 4, each a kernel of its own."""
        own, more = lanes_of(batch, kv, 32, SINGLES), lanes_of(batch, kv, 32, GROUPS) if common else 0
        return own, 1 << (more.bit_length() - 1) if own == 1 and more else more

    @staticmethod
    def numbers(batch: int, heads: int, kv: int, size: int, common: bool) -> int:
        """That `room` must hold."""
        own, more = Pieces.counts(batch, kv, common)
        return batch * (own + more) * heads * (size + 2) if own + more > 1 else 0

    @staticmethod
    def of(batch: int, heads: int, kv: int, size: int, common: bool, room: Tensor) -> Pieces:
        own, more = Pieces.counts(batch, kv, common)
        count = Pieces.numbers(batch, heads, kv, size, common)
        return Pieces(own, more, room[:count].view(batch, own + more, heads, size + 2) if count else None)


def attend_tokens(
    q: Tensor, keys: Tensor, values: Tensor, tables: Tensor, tiles: Tiles, scale: float, pieces: Pieces,
    common: Common | None = None, window: int = 0, cap: float = 0.0,
) -> Tensor:  # fmt: skip
    """
    One new token for each sequence: q [batch, heads, size] → the same shape. The arguments are those of paged.attend. With a
    `window` nothing is read in common: what sequences begin with may lie outside of it.
    """
    common = None if window else common
    batch, heads, size = q.shape
    kv, page = keys.shape[1:3]
    group, wide = heads // kv, power(size, 16)
    out = torch.empty_like(q)
    room = out if pieces.room is None else pieces.room
    inverse = scale * LOG2E * (2.0 / cap if cap else 1.0)
    same = dict(CAPPED=cap > 0, GROUP=group, SIZE=size, WIDE=wide, PAGE=page, EXACT=precision(q), **early())
    begins = tiles.position if common is None else common.tokens
    lanes = pieces.own + pieces.common
    apart = pieces.own > 1
    single = shared = pace(SINGLE if apart else WHOLE, q, group)
    if common is not None:
        # `_single` must be the next kernel: by the time it starts, all of these have seen that what lies before them has ended
        many = common.rows.shape[1]
        shared = pace(SHARED, q, many * group)
        _shared[(common.slot.numel(), kv, pieces.common)](
            q, keys, values, tables, common.slot, common.length, common.rows, tiles.position, room,
            inverse, tables.stride(0), lanes, pieces.own, kv, cap * LOG2E,
            MEMBERS=many, ROWS=power(many * group, 16), **same, **shared,
        )  # fmt: skip
    _single[(batch, kv, pieces.own)](
        q, keys, values, tables, tiles.slot, tiles.count, tiles.position, begins, out, room,
        inverse, tables.stride(0), lanes, kv, window, cap * LOG2E,
        COMMON=common is not None, PIECES=0 if apart else pieces.common, COMMON_KEYS=shared["KEYS"], APART=apart, WINDOW=window > 0,
        ROWS=power(group, 16), **same, **single,
    )  # fmt: skip
    if apart:
        _join[(batch, heads)](
            room, tiles.count, tiles.position, begins, out, heads, pieces.own, pieces.common, window,
            COMMON=common is not None, WINDOW=window > 0, OWN_KEYS=single["KEYS"], COMMON_KEYS=shared["KEYS"], SIZE=size, WIDE=wide,
            LANES=4 if lanes <= 4 else 16 if lanes <= 16 else power(lanes), num_warps=4, **early(),
        )  # fmt: skip
    return out


def attend_prompts(
    q: Tensor, keys: Tensor, values: Tensor, tables: Tensor, tiles: Tiles, scale: float, window: int = 0, cap: float = 0.0
) -> Tensor:
    """Tiles of at most `prompt_tokens` tokens."""
    heads, size = q.shape[1:]
    kv, page = keys.shape[1:3]
    group = heads // kv
    out = torch.empty_like(q)
    _prompt[(len(tiles), kv)](
        q, keys, values, tables, tiles.slot, tiles.first, tiles.count, tiles.position, out,
        scale * LOG2E * (2.0 / cap if cap else 1.0), tables.stride(0), kv, window, cap * LOG2E,
        CAPPED=cap > 0, WINDOW=window > 0, GROUP=group, SIZE=size, WIDE=power(size, 16), PAGE=page,
        ROWS=power(tiles.longest * group, 16), EXACT=precision(q), **pace(PROMPT, q, tiles.longest * group),
    )  # fmt: skip
    return out


def pace(given: Pace, q: Tensor, rows: int) -> dict[str, int]:
    """How a kernel with tiles of so many rows is started: with as many stages as fit, and fewer keys where two would not."""
    if q.dtype == torch.float32:
        return {"KEYS": 32, "num_warps": given.warps, "num_stages": 1}
    high, row, keys = power(rows, 16), power(q.shape[-1], 16) * q.dtype.itemsize, given.keys
    while True:
        stage = 2 * keys * row
        # beside queries: how much each has of each key, or, where the tensor cores read keys while others come, one stage more
        other = high * row + (high * keys * q.dtype.itemsize if high < 64 else stage)
        count = stages(given.stages, stage, other, shared_memory())
        if count > 1 or keys == 32:
            return {"KEYS": keys, "num_warps": given.warps, "num_stages": count}
        keys //= 2


if triton is not None:

    @triton.jit
    def _nothing(ROWS: tl.constexpr, WIDE: tl.constexpr):
        """What `_over` begins with."""
        return tl.full([ROWS], float("-inf"), tl.float32), tl.zeros([ROWS], tl.float32), tl.zeros([ROWS, WIDE], tl.float32)

    @triton.jit
    def _over(
        query, sees, table, begin, end, chosen, keys, values, scale, kv, window, cap, top, mass, sums,
        MASKED: tl.constexpr, AHEAD: tl.constexpr, CAPPED: tl.constexpr, WINDOW: tl.constexpr, SIZE: tl.constexpr, WIDE: tl.constexpr,
        PAGE: tl.constexpr, KEYS: tl.constexpr, EXACT: tl.constexpr,
    ):  # fmt: skip
        """
        Adds keys begin … end to the largest score, the sum of exponents and the weighted sum of values of each row. Not MASKED: every row
        sees all of them, and KEYS divides how many there are. AHEAD: pages are looked up a step before they are read, which pays where
        a step computes much. Keys are read past the cache of a multiprocessor, which may not know what was written a moment ago.
        """
        d = tl.arange(0, WIDE)
        if AHEAD:
            key = begin + tl.arange(0, KEYS)
            page = tl.load(table + key // PAGE, mask=key < end, other=0)
        for start in range(begin, end, KEYS):
            key = start + tl.arange(0, KEYS)
            inside = key < end
            if AHEAD:
                here = page
                page = tl.load(table + (key + KEYS) // PAGE, mask=key + KEYS < end, other=0)
            else:
                here = tl.load(table + key // PAGE, mask=inside, other=0)
            base = ((here.to(tl.int64) * kv + chosen) * PAGE + key % PAGE) * SIZE
            if MASKED or WIDE != SIZE:
                k = tl.load(keys + base[None, :] + d[:, None], mask=inside[None, :] & (d < SIZE)[:, None], other=0.0, cache_modifier=".cg")
                v = tl.load(values + base[:, None] + d[None, :], mask=inside[:, None] & (d < SIZE)[None, :], other=0.0, cache_modifier=".cg")
            else:
                k = tl.load(keys + base[None, :] + d[:, None], cache_modifier=".cg")
                v = tl.load(values + base[:, None] + d[None, :], cache_modifier=".cg")
            s = tl.dot(query, k, input_precision=EXACT)
            if CAPPED:
                # tanh x is 1 - 2 / (e^2x + 1)
                s = cap - 2.0 * cap / (tl.exp2(s * scale) + 1.0)
            if MASKED:
                s = tl.where((key[None, :] <= sees[:, None]) & inside[None, :], s, float("-inf"))
            if WINDOW:
                s = tl.where(key[None, :] > sees[:, None] - window, s, float("-inf"))
            # a capped score has its scale; of the others only the largest of a row gets it by itself
            factor = 1.0 if CAPPED else scale
            higher = tl.maximum(top, tl.max(s, 1) * factor)
            floor = tl.where(higher == float("-inf"), 0.0, higher)
            p = tl.exp2(s * factor - floor[:, None])
            keep = tl.exp2(top - floor)
            mass = mass * keep + tl.sum(p, 1)
            sums = tl.dot(p.to(v.dtype), v, sums * keep[:, None], input_precision=EXACT)
            top = higher
        return top, mass, sums

    @triton.jit
    def _put(room, at, rows, sums, top, mass, SIZE: tl.constexpr, WIDE: tl.constexpr):
        """The sums of a piece."""
        d = tl.arange(0, WIDE)
        to = room + at * (SIZE + 2)
        tl.store(to[:, None] + d[None, :], sums, mask=rows[:, None] & (d < SIZE)[None, :])
        tl.store(to + SIZE, top, mask=rows)
        tl.store(to + SIZE + 1, mass, mask=rows)

    @triton.jit
    def _own(one, counts, positions, begins, window, COMMON: tl.constexpr, WINDOW: tl.constexpr):
        """Whether row `one` has a sequence, and which keys are read for it alone. All of it is known since the step began."""
        end = tl.load(positions + one) + 1
        begin = 0
        if COMMON:
            begin = tl.load(begins + one)
        if WINDOW:
            begin = tl.maximum(0, end - window)
        return tl.load(counts + one) > 0, begin, end

    @triton.jit
    def _piece(size, count, KEYS: tl.constexpr):
        """Keys of each of so many even pieces; the last ones may be empty."""
        return tl.cdiv(tl.cdiv(size, KEYS), count) * KEYS

    @triton.jit
    def _with(room, at, rows, top, mass, sums, SIZE: tl.constexpr, WIDE: tl.constexpr):
        """What `_put` left of a piece joined with another."""
        d = tl.arange(0, WIDE)
        held = room + at * (SIZE + 2)
        other = tl.load(held + SIZE, mask=rows, other=float("-inf"))
        more = tl.load(held + SIZE + 1, mask=rows, other=0.0)
        found = tl.load(held[:, None] + d[None, :], mask=rows[:, None] & (d < SIZE)[None, :], other=0.0)
        higher = tl.maximum(top, other)
        keep = tl.exp2(top - higher)
        share = tl.exp2(other - higher)
        return higher, mass * keep + more * share, sums * keep[:, None] + found * share[:, None]

    @triton.jit(do_not_specialize=["lanes"])
    def _single(
        q, keys, values, tables, slots, counts, positions, begins, out, room, scale, stride, lanes, kv, window, cap,
        COMMON: tl.constexpr, PIECES: tl.constexpr, COMMON_KEYS: tl.constexpr, APART: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr,
        CAPPED: tl.constexpr, WINDOW: tl.constexpr, GROUP: tl.constexpr, SIZE: tl.constexpr, WIDE: tl.constexpr, PAGE: tl.constexpr,
        EXACT: tl.constexpr, PDL: tl.constexpr,
    ):  # fmt: skip
        """
        COMMON: `_shared` was started right before and may still run; where a row has one program, that joins the PIECES that it leaves.
        """
        one = tl.program_id(0)
        chosen = tl.program_id(1)
        lane = tl.program_id(2)
        there_is_one, begin, end = _own(one, counts, positions, begins, window, COMMON, WINDOW)
        common = begin
        table = tables + tl.load(slots + one).to(tl.int64) * stride
        let_next(PDL)
        piece = _piece(end - begin, tl.num_programs(2), KEYS)
        begin += lane * piece
        row = tl.arange(0, ROWS)
        real = row < GROUP
        head = chosen * GROUP + row
        d = tl.arange(0, WIDE)
        at = (one.to(tl.int64) * kv * GROUP + head)[:, None] * SIZE + d[None, :]
        there = real[:, None] & (d < SIZE)[None, :]
        mine = (one.to(tl.int64) * lanes + lane) * kv * GROUP + head
        top, mass, sums = _nothing(ROWS, WIDE)
        if not COMMON:
            wait(PDL)
        if there_is_one & (begin < end):
            query = tl.load(q + at, mask=there, other=0.0, cache_modifier=".cg")
            sees = tl.zeros([ROWS], tl.int32) + (end - 1)
            top, mass, sums = _over(
                query, sees, table, begin, tl.minimum(end, begin + piece), chosen, keys, values, scale, kv, window, cap, top, mass, sums,
                True, False, CAPPED, WINDOW, SIZE, WIDE, PAGE, KEYS, EXACT,
            )  # fmt: skip
            if APART:
                _put(room, mine, real, sums, top, mass, SIZE, WIDE)
        if COMMON:
            wait(PDL)
        if not APART:
            if there_is_one:
                if COMMON:
                    each = _piece(common, PIECES, COMMON_KEYS)
                    for other in tl.static_range(PIECES):
                        some = real & (other * each < common)
                        top, mass, sums = _with(room, mine + (1 + other) * kv * GROUP, some, top, mass, sums, SIZE, WIDE)
                found = sums / tl.where(real, mass, 1.0)[:, None]
                tl.store(out + at, found.to(out.dtype.element_ty), mask=there)

    @triton.jit(do_not_specialize=["lanes", "first"])
    def _shared(
        q, keys, values, tables, slots, lengths, rows, positions, room, scale, stride, lanes, first, kv, cap,
        MEMBERS: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, CAPPED: tl.constexpr,
        GROUP: tl.constexpr, SIZE: tl.constexpr, WIDE: tl.constexpr, PAGE: tl.constexpr, EXACT: tl.constexpr, PDL: tl.constexpr,
    ):  # fmt: skip
        here = tl.program_id(0)
        chosen = tl.program_id(1)
        lane = tl.program_id(2)
        # known since the step began
        end = tl.load(lengths + here)
        table = tables + tl.load(slots + here).to(tl.int64) * stride
        row = tl.arange(0, ROWS)
        member = row // GROUP
        who = tl.load(rows + here * MEMBERS + member, mask=member < MEMBERS, other=-1)
        piece = _piece(end, tl.num_programs(2), KEYS)
        begin = lane * piece
        # in this order: the next kernel starts when what lies before this one is there
        wait(PDL)
        let_next(PDL)
        if begin < end:
            real = who >= 0
            one = tl.where(real, who, 0).to(tl.int64)
            head = chosen * GROUP + row % GROUP
            d = tl.arange(0, WIDE)
            at = (one * kv * GROUP + head)[:, None] * SIZE + d[None, :]
            query = tl.load(q + at, mask=real[:, None] & (d < SIZE)[None, :], other=0.0)
            sees = tl.load(positions + one)
            # all of it lies before the new tokens; only the last keys of a page may lie behind the end
            top, mass, sums = _nothing(ROWS, WIDE)
            top, mass, sums = _over(
                query, sees, table, begin, tl.minimum(end, begin + piece), chosen, keys, values, scale, kv, 0, cap, top, mass, sums,
                True, True, CAPPED, False, SIZE, WIDE, PAGE, KEYS, EXACT,
            )  # fmt: skip
            _put(room, (one * lanes + first + lane) * kv * GROUP + head, real, sums, top, mass, SIZE, WIDE)

    @triton.jit(do_not_specialize=["own", "common"])
    def _join(
        room, counts, positions, begins, out, heads, own, common, window,
        COMMON: tl.constexpr, WINDOW: tl.constexpr, OWN_KEYS: tl.constexpr, COMMON_KEYS: tl.constexpr, SIZE: tl.constexpr,
        WIDE: tl.constexpr, LANES: tl.constexpr, PDL: tl.constexpr,
    ):  # fmt: skip
        one = tl.program_id(0).to(tl.int64)
        head = tl.program_id(1)
        there_is_one, begin, end = _own(one, counts, positions, begins, window, COMMON, WINDOW)
        wait_for_last(PDL)
        if there_is_one:
            # pieces that there are
            lane = tl.arange(0, LANES)
            piece = _piece(end - begin, own, OWN_KEYS)
            there = (lane < own) & (begin + lane * piece < end)
            if COMMON:
                piece = _piece(begin, common, COMMON_KEYS)
                there = there | ((lane >= own) & (lane < own + common) & ((lane - own) * piece < begin))
            d = tl.arange(0, WIDE)
            at = room + ((one * (own + common) + lane) * heads + head) * (SIZE + 2)
            top = tl.load(at + SIZE, mask=there, other=float("-inf"))
            mass = tl.load(at + SIZE + 1, mask=there, other=0.0)
            sums = tl.load(at[:, None] + d[None, :], mask=there[:, None] & (d < SIZE)[None, :], other=0.0)
            share = tl.exp2(top - tl.max(top, 0))
            found = tl.sum(sums * share[:, None], 0) / tl.sum(mass * share, 0)
            tl.store(out + (one * heads + head) * SIZE + d, found.to(out.dtype.element_ty), mask=d < SIZE)

    @triton.jit
    def _prompt(
        q, keys, values, tables, slots, firsts, counts, positions, out, scale, stride, kv, window, cap,
        CAPPED: tl.constexpr, WINDOW: tl.constexpr, GROUP: tl.constexpr, SIZE: tl.constexpr, WIDE: tl.constexpr, PAGE: tl.constexpr,
        ROWS: tl.constexpr, KEYS: tl.constexpr, EXACT: tl.constexpr,
    ):  # fmt: skip
        # the longest first: they end last
        tile = tl.num_programs(0) - 1 - tl.program_id(0)
        chosen = tl.program_id(1)
        count = tl.load(counts + tile)
        if count > 0:
            position = tl.load(positions + tile)
            table = tables + tl.load(slots + tile).to(tl.int64) * stride
            row = tl.arange(0, ROWS)
            token = row // GROUP
            real = token < count
            head = chosen * GROUP + row % GROUP
            d = tl.arange(0, WIDE)
            at = ((tl.load(firsts + tile).to(tl.int64) + token) * kv * GROUP + head)[:, None] * SIZE + d[None, :]
            there = real[:, None] & (d < SIZE)[None, :]
            query = tl.load(q + at, mask=there, other=0.0)
            sees = position + token
            begin = 0
            if WINDOW:
                begin = tl.maximum(0, position - window + 1) // KEYS * KEYS
            # every row sees the keys before the tile's first token
            middle = begin + (tl.maximum(position - begin, 0) // KEYS) * KEYS
            top, mass, sums = _nothing(ROWS, WIDE)
            top, mass, sums = _over(
                query, sees, table, begin, middle, chosen, keys, values, scale, kv, window, cap, top, mass, sums,
                False, True, CAPPED, WINDOW, SIZE, WIDE, PAGE, KEYS, EXACT,
            )  # fmt: skip
            top, mass, sums = _over(
                query, sees, table, middle, position + count, chosen, keys, values, scale, kv, window, cap, top, mass, sums,
                True, True, CAPPED, WINDOW, SIZE, WIDE, PAGE, KEYS, EXACT,
            )  # fmt: skip
            found = sums / tl.where(real, mass, 1.0)[:, None]
            tl.store(out + at, found.to(out.dtype.element_ty), mask=there)
