"""
Attention over pages of keys and values, the same for prompts and for single new tokens.

Queries come in tiles: some consecutive tokens of one sequence, with all the query heads that share a key/value head. The
context is cut into spans of fixed length, each summed up by itself; spans are then joined in their order. So the bits of
a result depend on the sequence alone: not on the batch, not on how its prompt was cut, not on where the spans were computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..kernels import fast, power, precision, shared_memory, stages, tl, triton

SPAN = 256
# keys that a program takes at a time (fewer where a head has more than 256 bytes), in a pipeline of so many stages
KEYS, STAGES, WARPS = 128, 4, 4
# Rows (tokens x heads) of a tile. 16 is one instruction of the tensor cores, and what a new token needs.
ROWS = 16
# Programs that fill the device, and that leave it evenly.
PROGRAMS = 1024
# Spans of all sequences that can be computed apart from each other; beyond, one program joins them as it goes.
ROOM = 8192
# exponents are taken to the base of two
LOG2E = 1.4426950408889634


@dataclass
class Tiles:
    """Which queries lie where. `slot`: row of the tables of pages; `count` 0: nothing here."""

    slot: Tensor
    first: Tensor
    count: Tensor
    position: Tensor
    longest: int  # tokens of a tile, at most

    def __len__(self) -> int:
        return int(self.slot.numel())


def lanes_of(batch: int, kv: int, most: int = 64, programs: int = PROGRAMS) -> int:
    """Programs that share the context of a sequence, so that few sequences fill the device as well."""
    return max(1, min(most, programs // (batch * kv)))


def tile_tokens(group: int, rows: int = ROWS) -> int:
    return max(1, rows // group)


def attend(
    q: Tensor,
    keys: Tensor,
    values: Tensor,
    tables: Tensor,
    tiles: Tiles,
    scale: float,
    room: Tensor | None = None,
    lanes: int = 1,
    window: int = 0,
    cap: float = 0.0,
    lse: Tensor | None = None,
) -> Tensor:
    """
    q [tokens, heads, size] → the same shape. `room` [tiles, spans, heads, size + 2]: spans are computed by `lanes` programs
    and joined by a second kernel. `window`: tokens that a query sees, its own included; 0: all.
    `cap`: scores become cap · tanh(score / cap); 0: they stay. `lse` [tokens, heads], where nothing is joined: gets the
    logarithms of the sums of exponents, which a derivative needs; kernels only.
    """
    if not fast(q):
        return attend_plain(q, keys, values, tables, tiles, scale, window, cap)
    heads, size = q.shape[1:]
    kv, page = keys.shape[1:3]
    group = heads // kv
    rows = power(tiles.longest * group, ROWS)
    out = torch.empty_like(q)
    apart = room is not None
    wide = power(size, 16)
    head = wide * q.dtype.itemsize
    keys_at_once = max(16, min(KEYS, KEYS * 256 // head))
    sums = out if lse is None else lse
    _attend[(len(tiles), kv, lanes if apart else 1)](
        q, keys, values, tables, tiles.slot, tiles.first, tiles.count, tiles.position, out, room if room is not None else out,
        scale * LOG2E * (2.0 / cap if cap else 1.0), tables.stride(0), room.shape[1] if room is not None else 0, kv, window, cap * LOG2E,
        sums, sums.stride(0), sums.stride(1), LSE=lse is not None, CAPPED=cap > 0, WINDOW=window > 0, GROUP=group, SIZE=size, WIDE=wide, PAGE=page, ROWS=rows, KEYS=keys_at_once, SPAN=SPAN, APART=apart,
        EXACT=precision(q), num_warps=WARPS,
        num_stages=stages(STAGES, 2 * keys_at_once * head, rows * (head + keys_at_once * q.dtype.itemsize), shared_memory())
        if q.dtype != torch.float32
        else 1,
    )  # fmt: skip
    if room is not None:
        _join[(len(tiles), heads)](
            room, tiles.count, tiles.position, out, heads, room.shape[1], SIZE=size, WIDE=wide, SPAN=SPAN, num_warps=1
        )
    return out


def attend_plain(
    q: Tensor, keys: Tensor, values: Tensor, tables: Tensor, tiles: Tiles, scale: float, window: int = 0,
    cap: float = 0.0,
) -> Tensor:  # fmt: skip
    out = torch.zeros_like(q)
    page = keys.shape[2]
    group = q.shape[1] // keys.shape[1]
    for slot, first, count, position in zip(*(x.tolist() for x in (tiles.slot, tiles.first, tiles.count, tiles.position))):
        if count == 0:
            continue
        end = position + count
        pages = tables[slot, : -(-end // page)].long()
        k, v = (x[pages].transpose(1, 2).reshape(-1, x.shape[1], x.shape[3])[:end].transpose(0, 1) for x in (keys, values))
        here = q[first : first + count].transpose(0, 1).unflatten(0, (-1, group)).float()
        scores = here @ k[:, None].float().transpose(-1, -2) * scale
        if cap > 0:
            scores = cap * torch.tanh(scores / cap)
        at = torch.arange(end)
        if count > 1:
            scores.masked_fill_(at[None, :] > at[position:, None], float("-inf"))
        if window > 0:
            scores.masked_fill_(at[None, :] <= at[position:, None] - window, float("-inf"))
        found = scores.softmax(-1) @ v[:, None].float()
        out[first : first + count] = found.flatten(0, 1).transpose(0, 1).to(q.dtype)
    return out


if triton is not None:

    @triton.jit
    def _attend(
        q, keys, values, tables, tile_slot, tile_first, tile_count, tile_position, out, room,
        scale, stride, spans, kv, window, cap, lse, lse_token, lse_head,
        LSE: tl.constexpr, CAPPED: tl.constexpr, WINDOW: tl.constexpr, GROUP: tl.constexpr, SIZE: tl.constexpr, WIDE: tl.constexpr, PAGE: tl.constexpr, ROWS: tl.constexpr,
        KEYS: tl.constexpr, SPAN: tl.constexpr, APART: tl.constexpr, EXACT: tl.constexpr,
    ):  # fmt: skip
        tile = tl.program_id(0).to(tl.int64)
        chosen = tl.program_id(1)
        lane = tl.program_id(2)
        count = tl.load(tile_count + tile)
        position = tl.load(tile_position + tile)
        end = position + count
        if count > 0 and lane * SPAN < end:
            table = tables + tl.load(tile_slot + tile).to(tl.int64) * stride
            first = tl.load(tile_first + tile).to(tl.int64)
            heads = kv * GROUP
            row = tl.arange(0, ROWS)
            token = row // GROUP
            head = chosen * GROUP + row % GROUP
            real = token < count
            d = tl.arange(0, WIDE)
            fits = d < SIZE
            at = ((first + token) * heads + head)[:, None] * SIZE + d[None, :]
            query = tl.load(q + at, mask=real[:, None] & fits[None, :], other=0.0)
            sees = position + token
            all_top = tl.full([ROWS], float("-inf"), tl.float32)
            all_mass = tl.zeros([ROWS], tl.float32)
            all_sums = tl.zeros([ROWS, WIDE], tl.float32)
            for span in range(lane, tl.cdiv(end, SPAN), tl.num_programs(2)):
                top = tl.full([ROWS], float("-inf"), tl.float32)
                mass = tl.zeros([ROWS], tl.float32)
                sums = tl.zeros([ROWS, WIDE], tl.float32)
                stop = tl.minimum(end, (span + 1) * SPAN)
                for start in range(span * SPAN, stop, KEYS):
                    key = start + tl.arange(0, KEYS)
                    inside = key < stop
                    page = tl.load(table + key // PAGE, mask=inside, other=0).to(tl.int64)
                    base = ((page * kv + chosen) * PAGE + key % PAGE) * SIZE
                    k = tl.load(keys + base[None, :] + d[:, None], mask=inside[None, :] & fits[:, None], other=0.0)
                    v = tl.load(values + base[:, None] + d[None, :], mask=inside[:, None] & fits[None, :], other=0.0)
                    s = tl.dot(query, k, input_precision=EXACT) * scale
                    if CAPPED:
                        # tanh x is 1 - 2 / (e^2x + 1)
                        s = cap - 2.0 * cap / (tl.exp2(s) + 1.0)
                    s = tl.where((key[None, :] <= sees[:, None]) & inside[None, :], s, float("-inf"))
                    if WINDOW:
                        s = tl.where(key[None, :] > sees[:, None] - window, s, float("-inf"))
                    higher = tl.maximum(top, tl.max(s, 1))
                    floor = tl.where(higher == float("-inf"), 0.0, higher)
                    p = tl.exp2(s - floor[:, None])
                    keep = tl.exp2(top - floor)
                    mass = tl.fma(mass, keep, tl.sum(p, 1))
                    sums = tl.dot(p.to(v.dtype), v, sums * keep[:, None], input_precision=EXACT)
                    top = higher
                if APART:
                    to = room + ((tile * spans + span) * heads + head) * (SIZE + 2)
                    alone = row < GROUP
                    tl.store(to[:, None] + d[None, :], sums, mask=alone[:, None] & fits[None, :])
                    tl.store(to + SIZE, top, mask=alone)
                    tl.store(to + SIZE + 1, mass, mask=alone)
                else:
                    higher = tl.maximum(all_top, top)
                    floor = tl.where(higher == float("-inf"), 0.0, higher)
                    old = tl.exp2(all_top - floor)
                    new = tl.exp2(top - floor)
                    all_mass = tl.fma(mass, new, all_mass * old)
                    all_sums = tl.fma(sums, tl.broadcast_to(new[:, None], [ROWS, WIDE]), all_sums * old[:, None])
                    all_top = higher
            if not APART:
                found = all_sums / tl.where(real, all_mass, 1.0)[:, None]
                tl.store(out + at, found.to(out.dtype.element_ty), mask=real[:, None] & fits[None, :])
                if LSE:
                    # back to the base of e
                    whole = (all_top + tl.log2(tl.where(real, all_mass, 1.0))) * 0.6931471805599453
                    tl.store(lse + (first + token) * lse_token + head * lse_head, whole, mask=real)

    @triton.jit
    def _join(room, tile_count, tile_position, out, heads, spans, SIZE: tl.constexpr, WIDE: tl.constexpr, SPAN: tl.constexpr):
        # tiles of one token; the same chain as above
        tile = tl.program_id(0).to(tl.int64)
        head = tl.program_id(1)
        if tl.load(tile_count + tile) > 0:
            d = tl.arange(0, WIDE)
            fits = d < SIZE
            all_top = float("-inf")
            all_mass = 0.0
            all_sums = tl.zeros([WIDE], tl.float32)
            for span in range(0, tl.load(tile_position + tile) // SPAN + 1):
                at = room + ((tile * spans + span) * heads + head) * (SIZE + 2)
                sums = tl.load(at + d, mask=fits, other=0.0)
                top = tl.load(at + SIZE)
                mass = tl.load(at + SIZE + 1)
                higher = tl.maximum(all_top, top)
                floor = tl.where(higher == float("-inf"), 0.0, higher)
                old = tl.exp2(all_top - floor)
                new = tl.exp2(top - floor)
                all_mass = tl.fma(mass, new, all_mass * old)
                all_sums = tl.fma(sums, tl.zeros([WIDE], tl.float32) + new, all_sums * old)
                all_top = higher
            found = all_sums / all_mass
            tl.store(out + (tile * heads + head) * SIZE + d, found.to(out.dtype.element_ty), mask=fits)
