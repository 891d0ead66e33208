"""The attention of a sampler's steps: by which kernels, over which pieces of the context, with which memory between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from ..kernels import fast
from . import flash, paged
from .common import Group
from .decoder import Attention, Decoder
from .paged import Tiles


class Attending:
    """`put`: brings numbers to the device. `slots`: the most rows of a batch."""

    def __init__(self, decoder: Decoder, tables: Tensor, slots: int, put: Callable[[np.ndarray], Tensor]):
        self.decoder, self.tables, self.put = decoder, tables, put
        self.group = decoder.heads // decoder.kv
        self.flash = not decoder.exact and fast(tables)
        members = flash.members(self.group)
        # a group of one is none
        self.can_share = self.flash and members > 1 and slots > 1
        self.members = members
        self.slots = slots
        zeros = lambda *shape: torch.zeros(*shape, dtype=torch.int32, device=tables.device)  # noqa: E731
        if self.can_share:
            self._common = flash.Common(zeros(slots), zeros(slots // 2), zeros(slots // 2), zeros(slots // 2, members))
        self._room: Tensor | None = None

    def worth(self, saved: int) -> bool:
        """Reading so many tokens less is worth a kernel more: what rows read at the same time comes from a cache anyway."""
        decoder = self.decoder
        return self.can_share and saved * 2 * decoder.kv * decoder.size * decoder.dtype.itemsize >= flash.WORTH

    def share(self, groups: list[Group]) -> None:
        """What the rows of the next steps have in common."""
        tokens = np.zeros(self.slots, dtype=np.int32)
        each = np.zeros((self.slots // 2, 2), dtype=np.int32)
        rows = np.full((self.slots // 2, self.members), -1, dtype=np.int32)
        for i, group in enumerate(groups):
            each[i] = group.slot, group.tokens
            rows[i, : len(group.rows)] = group.rows
            tokens[group.rows] = group.tokens
        common = self._common
        for held, given in ((common.tokens, tokens), (common.slot, each[:, 0]), (common.length, each[:, 1]), (common.rows, rows)):
            held.copy_(self.put(given))

    def apart(self, batch: int, longest: int) -> bool:
        """Whether spans are computed apart from each other, where the order of sums is fixed."""
        several = paged.lanes_of(batch, self.decoder.kv) > 1
        return not self.flash and several and -(-longest // paged.SPAN) <= paged.ROOM // batch

    def tokens(self, batch: int, tiles: Tiles, apart: bool, shared: bool) -> Attention:
        """Of one new token each."""
        decoder, tables = self.decoder, self.tables
        layers, scale, cap = decoder.layers, decoder.scale, decoder.cap
        heads, kv, size = decoder.heads, decoder.kv, decoder.size
        if self.flash:
            pieces = flash.Pieces.of(batch, heads, kv, size, shared, self._room_of())
            common = self._common.cut(batch) if shared else None
            return lambda i, q, keys, values: flash.attend_tokens(
                q, keys, values, tables, tiles, scale, pieces, common, layers[i].window, cap
            ).flatten(1)
        lanes, room = paged.lanes_of(batch, kv), None
        if apart:
            spans = paged.ROOM // batch
            room = self._room_of()[: batch * spans * heads * (size + 2)].view(batch, spans, heads, size + 2)
        return lambda i, q, keys, values: paged.attend(
            q, keys, values, tables, tiles, scale, room, lanes, layers[i].window, cap
        ).flatten(1)

    def tile_tokens(self, sizes: np.ndarray) -> int:
        """Of a prompt. Without kernels the shape of a product decides its bits: one that is to be exact has one shape."""
        if self.flash:
            return flash.prompt_tokens(self.group, self.decoder.size * self.decoder.dtype.itemsize)
        if fast(self.tables):
            return paged.tile_tokens(self.group)
        return 1 if self.decoder.exact else int(sizes.max())

    def prompts(self, tiles: Tiles) -> Attention:
        decoder, tables = self.decoder, self.tables
        attend = flash.attend_prompts if self.flash else paged.attend
        return lambda i, q, keys, values: attend(
            q, keys, values, tables, tiles, decoder.scale, window=decoder.layers[i].window, cap=decoder.cap
        ).flatten(1)

    def _room_of(self) -> Tensor:
        """Memory that recorded steps share: it stays where it is, so it is as large as any of them needs."""
        if self._room is None:
            heads, kv, size = self.decoder.heads, self.decoder.kv, self.decoder.size
            if self.flash:
                most = max(flash.Pieces.numbers(batch, heads, kv, size, True) for batch in range(1, self.slots + 1))
            else:
                most = paged.ROOM * heads * (size + 2)
            self._room = torch.empty(most, dtype=torch.float32, device=self.tables.device)
        return self._room
