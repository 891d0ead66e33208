"""
Steps on the device. The host says which sequences are computed; tokens, positions and random numbers follow from what
lies on the device, so the next step can start before the host has seen the last one's tokens.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from ..capture import capturing
from ..kernels import early, fast, tl, triton, wait_for_last
from ..network import softmax
from . import draw
from .attending import Attending
from .cache import PAGE, Shape
from .common import Group
from .decoder import Decoder, Pass
from .paged import Tiles
from .pool import Pool
from .recorded import Kind, Recorded
from .shape import Shaping

LADDER = (1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024)

# Integers in the 16 bytes that the beginning of a kernel's argument is a multiple of, or not.
EVEN = 4


@dataclass
class Chunk:
    """Tokens `start` … of a sequence. `draws`: slots that draw from the last one."""

    slot: int
    tokens: np.ndarray
    start: int
    draws: list[int] = field(default_factory=list)
    targets: np.ndarray | None = None  # tokens that follow, to be scored
    inverse_t: float = 1.0


class Result:
    """What a step has drawn, once the device has come to it."""

    def __init__(self, out: Tensor, count: int, event: torch.cuda.Event | None):
        self._out, self._count, self._event = out, count, event
        self.scores: Tensor | None = None
        self.top: tuple[Tensor, Tensor] | None = None

    def ready(self) -> bool:
        return self._event is None or self._event.query()

    def read(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tokens, log-probs under the model, log-probs under what they were drawn from."""
        if self._event is not None:
            self._event.synchronize()
        out = self._out.numpy()
        numbers = out.view(np.float32)
        n = self._count
        return out[0, :n].copy(), numbers[1, :n].copy(), numbers[2, :n].copy()


class Runner:
    """`graphs`: record decode steps once for each size of batch, and replay them. `sleeps`: the cache's memory can."""

    def __init__(self, decoder: Decoder, pages: int, slots: int, graphs: bool = True, sleeps: bool = False):
        device = decoder.device
        self.decoder, self.device, self.slots = decoder, device, slots
        shape = Shape(len(decoder.layers), pages, decoder.kv, decoder.size, decoder.dtype)
        self.pool = (Pool.sleeping if sleeps else Pool)(shape.bytes, device)
        self.keys, self.values = shape.cut(self.pool.bytes)
        self.state = torch.zeros(slots, draw.WIDTH, dtype=torch.int32, device=device)
        self.tables = torch.zeros(slots, -(-decoder.max_len // PAGE), dtype=torch.int32, device=device)
        self.rows = torch.full((slots,), -1, dtype=torch.int32, device=device)
        self.each = torch.arange(slots, dtype=torch.int32, device=device)
        self.out = torch.zeros(3, slots, dtype=torch.int32, device=device)
        self.logits: Tensor | None = None
        self._recorded = Recorded(self._capture)
        self.shaping = Shaping(decoder.vocabulary, device, self.put, self._forget)
        self.graphs = graphs and device.type == "cuda"
        self._pool = torch.cuda.graph_pool_handle() if self.graphs else None
        self.attending = Attending(decoder, self.tables, slots, self.put)
        self._shared = False

    # what the host writes

    def put(self, values: np.ndarray | list[int]) -> Tensor:
        given = torch.from_numpy(np.ascontiguousarray(values, dtype=np.int32))
        return given.pin_memory().to(self.device, non_blocking=True) if self.device.type == "cuda" else given

    def put_rows(self, rows: np.ndarray) -> list[Tensor]:
        """Each row begins where kernels like numbers to: else the length would decide which variant of a kernel is compiled."""
        count = rows.shape[1]
        return [row[:count] for row in self.put(np.pad(rows, ((0, 0), (0, -count % EVEN))))]

    def write_state(self, slots: list[int], rows: list[list[int]]) -> None:
        self.state.index_copy_(0, self.put(slots).long(), self.put(np.asarray(rows)))

    def write_tables(self, entries: np.ndarray) -> None:
        """Rows of slots, columns and pages; no place twice."""
        three = self.put(entries)
        self.tables.index_put_((three[0].long(), three[1].long()), three[2])

    def write_rows(self, slots: list[int], groups: list[Group]) -> None:
        """The sequences of the decode steps that follow, and which of them have their beginning in common."""
        self.rows[: len(slots)] = self.put(slots)
        self.rows[len(slots) :] = -1
        self._shared = bool(groups)
        if groups:
            self.attending.share(groups)

    def copy_pages(self, sources: list[int], targets: list[int]) -> None:
        two = self.put(np.asarray([sources, targets])).long()
        for cache in (self.keys, self.values):
            cache.index_copy_(1, two[1], cache.index_select(1, two[0]))

    # steps

    def decode(self, count: int, longest: int, limited: bool, needs: int, keep_logits: bool = False) -> Result:
        """One token for each of the first `count` rows; `longest`: of their contexts, with the new token."""
        if not self.graphs or keep_logits:
            self.logits = self._decode(count, False, self._shared, limited, needs)
            return self._result(count)
        batch = min(next(size for size in (*LADDER, self.slots) if size >= count), self.slots)
        kind = Kind(self.attending.apart(batch, longest), self._shared, limited, needs)
        found = self._recorded.find(batch, kind, lambda size: self.attending.apart(size, longest) == kind.apart)
        if found is None:
            self._decode(batch, *kind)
        else:
            batch, graph = found
            graph.replay()
        return self._result(count, self.out_of(batch))

    def out_of(self, batch: int) -> Tensor:
        return self.out.view(-1)[: 3 * batch].view(3, batch)

    def _capture(self, batch: int, kind: Kind) -> torch.cuda.CUDAGraph:
        began = time.perf_counter()
        # a first run outside, with nobody in it, compiles what has to be compiled
        rows = self.rows.clone()
        self.rows.fill_(-1)
        self._decode(batch, *kind)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with capturing(graph, self._pool):
            self._decode(batch, *kind)
        self.rows.copy_(rows)
        print(f"recorded a decode step of {batch} in {time.perf_counter() - began:.2f} s", flush=True)
        return graph

    def _decode(self, batch: int, apart: bool, shared: bool, limited: bool, needs: int) -> Tensor:
        ids, positions, places, counts = begin(self.rows[:batch], self.state, self.tables)
        rows = self.rows[:batch]
        tiles = Tiles(rows, self.each[:batch], counts, positions, 1)
        attend = self.attending.tokens(batch, tiles, apart, shared)
        logits = self.decoder.logits(self.decoder.body(ids, Pass(positions, places, self.keys, self.values, attend)))
        out = self.out_of(batch)
        draw.draw(logits, self.state, self.shaping, rows, self.each[:batch], out, limited, needs)
        if self.decoder.exact:
            draw.score(logits, self.state, rows, None, out)
        return logits

    def prefill(self, chunks: list[Chunk], limited: bool, needs: int) -> Result:
        """Pieces of prompts, and the first tokens after those that end here."""
        starts = np.asarray([c.start for c in chunks], dtype=np.int32)
        sizes = np.asarray([len(c.tokens) for c in chunks], dtype=np.int32)
        slots = np.asarray([c.slot for c in chunks], dtype=np.int32)
        firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        per_tile = self.attending.tile_tokens(sizes)
        tiles_of = -(-sizes // per_tile)
        owner = np.repeat(np.arange(len(chunks)), tiles_of)
        offset = (np.arange(len(owner)) - np.repeat(np.cumsum(tiles_of) - tiles_of, tiles_of)) * per_tile
        tile = np.stack([
            slots[owner], firsts[owner] + offset, np.minimum(per_tile, sizes[owner] - offset), starts[owner] + offset,
        ])  # fmt: skip
        of = np.repeat(np.arange(len(chunks)), sizes)
        position = np.arange(int(sizes.sum())) - firsts[of] + starts[of]
        ids, positions, slot = self.put_rows(np.stack([np.concatenate([c.tokens for c in chunks]), position, slots[of]]))
        where = self.tables[slot.long(), (positions // PAGE).long()] * PAGE + positions % PAGE
        slot_of, first_of, count_of, position_of = self.put_rows(tile)
        attend = self.attending.prompts(Tiles(slot_of, first_of, count_of, position_of, per_tile))
        hidden = self.decoder.body(ids.long(), Pass(positions, where, self.keys, self.values, attend))
        ending = [i for i, c in enumerate(chunks) if c.draws]
        count = sum(len(chunks[i].draws) for i in ending)
        out = torch.zeros(3, count, dtype=torch.int32, device=self.device)
        if ending:
            last = self.put(firsts[ending] + sizes[ending] - 1).long()
            self.logits = self.decoder.logits(hidden[last])
            pairs = [(s, row) for row, i in enumerate(ending) for s in chunks[i].draws]
            who, rows = self.put_rows(np.asarray(pairs).T)
            draw.draw(self.logits, self.state, self.shaping, who, rows, out, limited, needs)
            if self.decoder.exact:
                draw.score(self.logits, self.state, who, rows, out)
        scores = self._scores(hidden, chunks, firsts)
        result = self._result(count, out)
        result.scores = scores
        return result

    def _scores(self, hidden: Tensor, chunks: list[Chunk], firsts: np.ndarray) -> Tensor | None:
        """Log-probs of known next tokens, all chunks one after the other; on the host, and rare: it is waited for."""
        parts = []
        for chunk, first in zip(chunks, firsts.tolist()):
            if chunk.targets is None:
                continue
            for a in range(0, len(chunk.targets), 512):
                targets = self.put(chunk.targets[a : a + 512]).long()
                logits = self.decoder.logits(hidden[first + a : first + a + len(targets)])
                scale = torch.full((len(targets),), chunk.inverse_t, device=self.device)
                parts.append(softmax.scores(logits, targets, scale)[0])
        return torch.cat(parts).float().cpu() if parts else None

    def top(self, rows: list[int], inverse_t: list[float], most: int) -> tuple[Tensor, Tensor]:
        """Ids and log-probs of the likeliest tokens of some rows of the last step's logits; equal ones by id."""
        assert self.logits is not None
        z = self.logits[torch.tensor(rows, device=self.device)]
        z = z * torch.tensor(inverse_t, device=self.device)[:, None]
        values, ids = z.sort(dim=-1, descending=True, stable=True)
        return ids[:, :most].cpu(), (values[:, :most] - z.logsumexp(-1, keepdim=True)).cpu()

    def _result(self, count: int, out: Tensor | None = None) -> Result:
        out = self.out_of(count) if out is None else out
        if self.device.type != "cuda":
            return Result(out.clone(), count, None)
        host = torch.empty(out.shape, dtype=torch.int32, pin_memory=True)
        host.copy_(out, non_blocking=True)
        event = torch.cuda.Event()
        event.record()
        return Result(host, count, event)

    def use(self, decoder: Decoder) -> None:
        """The same kind of model in other memory."""
        self.decoder = self.attending.decoder = decoder
        self._forget()

    def _forget(self) -> None:
        """Records hold addresses. The memory they shared went with the last of them."""
        self._recorded.forget()
        if self.graphs:
            self._pool = torch.cuda.graph_pool_handle()


def begin(rows: Tensor, state: Tensor, tables: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Ids, positions and places of the new tokens, and 1 where there is a sequence."""
    if fast(rows):
        count = rows.numel()
        out = torch.empty(4, count + -count % EVEN, dtype=torch.int32, device=rows.device)
        _begin[(count,)](rows, state, tables, out, out.stride(0), tables.stride(0), WIDTH=draw.WIDTH, PAGE=PAGE, num_warps=1, **early())
        return out[0, :count], out[1, :count], out[2, :count], out[3, :count]
    real = rows >= 0
    held = state[rows.clamp(min=0).long()]
    ids = torch.where(real, held[:, draw.TOKEN].clamp(min=0), 0)
    positions = torch.where(real, held[:, draw.LENGTH], 0)
    page = tables[rows.clamp(min=0).long(), (positions // PAGE).long()]
    places = torch.where(real, page * PAGE + positions % PAGE, -1)
    return ids, positions, places, real.int()


if triton is not None:

    @triton.jit(do_not_specialize=["apart"])
    def _begin(rows, state, tables, out, apart, stride, WIDTH: tl.constexpr, PAGE: tl.constexpr, PDL: tl.constexpr):
        wait_for_last(PDL)
        i = tl.program_id(0)
        slot = tl.load(rows + i).to(tl.int64)
        real = slot >= 0
        held = state + tl.where(real, slot, 0) * WIDTH
        token = tl.where(real, tl.maximum(tl.load(held), 0), 0)
        position = tl.where(real, tl.load(held + 1), 0)
        page = tl.load(tables + tl.where(real, slot, 0) * stride + position // PAGE)
        tl.store(out + i, token)
        tl.store(out + apart + i, position)
        tl.store(out + 2 * apart + i, tl.where(real, page * PAGE + position % PAGE, -1))
        tl.store(out + 3 * apart + i, real.to(tl.int32))
