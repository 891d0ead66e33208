"""The attention of a sampler's steps: by which kernels, over which pieces of the context, with which memory between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from ..kernels import fast
from . import flash, paged
from .common import Group
from .decoder import Decoder
from .paged import Tiles

# From queries of layer i, its keys and its values to the attention's output [tokens, heads * size].
Attention = Callable[[int, Tensor, Tensor, Tensor], Tensor]


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
        """Reading so many tokens less is worth two more kernels: what rows read at the same time comes from a cache anyway."""
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
        common.tokens.copy_(self.put(tokens), non_blocking=True)
        common.slot.copy_(self.put(each[:, 0]), non_blocking=True)
        common.length.copy_(self.put(each[:, 1]), non_blocking=True)
        common.rows.copy_(self.put(rows), non_blocking=True)

    def apart(self, batch: int, longest: int) -> bool:
        """Whether spans are computed apart from each other, where the order of sums is fixed."""
        return not self.flash and self.lanes(batch) > 1 and -(-longest // paged.SPAN) <= paged.ROOM // batch

    def lanes(self, batch: int) -> int:
        """Programs that share the context of a sequence, so that few sequences fill the device as well."""
        return max(1, min(64, 1024 // (batch * self.decoder.kv)))

    def tokens(self, batch: int, tiles: Tiles, apart: bool, shared: bool) -> Attention:
        """Of one new token each."""
        decoder, tables = self.decoder, self.tables
        layers, scale, cap = decoder.layers, decoder.scale, decoder.cap
        heads, kv, size = decoder.heads, decoder.kv, decoder.size
        if self.flash:
            whole, cut = (flash.Pieces.of(batch, heads, kv, size, one, self._room_of()) for one in (shared, False))
            common = self._common.cut(batch) if shared else None

            def attend(i: int, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
                window = layers[i].window
                # where a layer sees little, what sequences share may lie outside of it
                pieces, shares = (whole, common) if window == 0 else (cut, None)
                return flash.attend_tokens(q, keys, values, tables, tiles, scale, pieces, shares, window, cap).flatten(1)

            return attend
        room = None
        if apart:
            spans = paged.ROOM // batch
            room = self._room_of()[: batch * spans * heads * (size + 2)].view(batch, spans, heads, size + 2)
        return lambda i, q, keys, values: paged.attend(
            q, keys, values, tables, tiles, scale, room, self.lanes(batch), layers[i].window, cap
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
            decoder = self.decoder
            sizes = decoder.heads, decoder.kv, decoder.size
            most = max(flash.Pieces.numbers(batch, *sizes, True) for batch in range(1, self.slots + 1))
            if not self.flash:
                most = paged.ROOM * decoder.heads * (decoder.size + 2)
            self._room = torch.empty(most, dtype=torch.float32, device=self.tables.device)
        return self._room
