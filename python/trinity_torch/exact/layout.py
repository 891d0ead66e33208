"""Where the tokens of a pack lie in pages, as the sampler's attention wants them. All of it is worked out on the device."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..kernels import fast
from ..network.rows import Pack
from ..sampler import paged
from ..sampler.cache import PAGE


@dataclass
class Layout:
    """Every sequence begins with a page of its own. `places`: page * page size + slot of each token."""

    bounds: Tensor
    longest: int
    positions: Tensor
    places: Tensor
    tables: Tensor
    tiles: paged.Tiles
    pages: int

    def packed(self, pages: Tensor) -> Tensor:
        """[tokens, kv heads, size] of [pages, kv heads, page, size]."""
        return pages.transpose(1, 2).reshape(-1, pages.shape[1], pages.shape[3]).index_select(0, self.places)


def layout_of(pack: Pack, group: int) -> Layout:
    """`group`: query heads of a key head."""
    bounds = pack.bounds.long()
    total, rows = pack.ids.shape[1], bounds.numel() - 1
    device = bounds.device
    lengths = bounds.diff()
    pages_of = (lengths + PAGE - 1) // PAGE
    first_page = pages_of.cumsum(0) - pages_of
    at = torch.arange(total, device=device)
    # the first sequence that ends behind a token; some have no tokens
    row = torch.searchsorted(bounds[1:].contiguous(), at, right=True)
    positions = at - bounds[row]
    columns = torch.arange(-(-pack.longest // PAGE), device=device)
    # without kernels every token is a tile: the shape of a product decides its bits there
    per_tile = paged.tile_tokens(group) if fast(bounds) else 1
    tiles_of = (lengths + per_tile - 1) // per_tile
    ends = tiles_of.cumsum(0)
    # as many tiles as there can be; those behind the last are empty
    tile = torch.arange(total // per_tile + rows, device=device)
    owner = torch.searchsorted(ends, tile, right=True).clamp(max=rows - 1)
    offset = (tile - (ends - tiles_of)[owner]) * per_tile
    count = (lengths[owner] - offset).clamp(0, per_tile)
    owners, begins, counts, offsets = (x.int() for x in (owner, bounds[owner] + offset, count, offset))
    return Layout(
        pack.bounds,
        pack.longest,
        positions.int(),
        first_page[row] * PAGE + positions,
        (first_page[:, None] + columns).int(),
        paged.Tiles(owners, begins, counts, offsets, per_tile),
        total // PAGE + rows,
    )
