"""A mini-batch as it crosses the wire, and the packed micro-batches that a device computes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from .ulysses import Share

# In the name of a score: log-probs of the tokens in a column.
OTHER = "@"


@dataclass
class Rows:
    """Rows one after the other. Row r scores its tokens starts[r] … lengths[r] - 1; all tensors are on the CPU."""

    tokens: Tensor
    lengths: Tensor
    starts: Tensor
    temperatures: Tensor
    mask: Tensor
    bundles: Tensor
    # by name: one number per scored token, or one per row
    token_columns: dict[str, Tensor] = field(default_factory=dict)
    row_columns: dict[str, Tensor] = field(default_factory=dict)
    # numbers of tasks; None: every row is one by itself
    groups: Tensor | None = None
    # scores that are of other tokens, whose ids stand in the column that comes after the @
    asked: tuple[str, ...] = ()

    @staticmethod
    def from_tensors(tensors: dict[str, Tensor], columns: dict[str, str]) -> Rows:
        def named(shape: str) -> dict[str, Tensor]:
            return {name: tensors[f"column:{name}"] for name, kind in columns.items() if kind == shape}

        return Rows(
            tensors["tokens"],
            tensors["lengths"],
            tensors["starts"],
            tensors["temperatures"],
            tensors["mask"],
            tensors["bundles"],
            named("token"),
            named("row"),
            tensors.get("groups"),
        )

    def __len__(self) -> int:
        return int(self.lengths.numel())

    @property
    def scored(self) -> Tensor:
        """Scored tokens of each row."""
        return self.lengths - self.starts

    def take(self, chosen: list[int]) -> Rows:
        rows = torch.tensor(chosen, dtype=torch.long)
        tokens = spans(self.lengths, rows)
        scored = spans(self.scored, rows)
        return Rows(
            pick(self.tokens, tokens),
            self.lengths[rows],
            self.starts[rows],
            self.temperatures[rows],
            pick(self.mask, scored),
            self.bundles[rows],
            {name: pick(column, scored) for name, column in self.token_columns.items()},
            {name: column[rows] for name, column in self.row_columns.items()},
            None if self.groups is None else self.groups[rows],
            self.asked,
        )

    def asking(self, wants: list[str]) -> Rows:
        """The same rows, of which these scores are wanted."""
        return replace(self, asked=tuple(kind for kind in wants if OTHER in kind))

    def others(self) -> dict[str, np.ndarray]:
        """Ids by score; where a token takes no part there may be anything in a column."""
        active = self.mask.numpy() != 0
        found = {}
        for kind in self.asked:
            name = kind.partition(OTHER)[2]
            column = self.token_columns.get(name)
            if column is None:
                column = torch.from_numpy(np.repeat(self.row_columns[name].numpy(), self.scored.numpy()))
            found[kind] = np.where(active, column.numpy(), 0).astype(np.int64)
        return found

    def packs(self, token_budget: int, by_bundle: bool) -> list[list[int]]:
        """
        Row numbers of each micro-batch. The longest rows (or bundles) come first, each goes where it fits and least room
        is left, so that few tokens of the budget stay unused; one that is longer than the budget goes alone.
        """
        lengths = self.lengths.tolist()
        units = self.units(by_bundle)
        sizes = [sum(lengths[row] for row in unit) for unit in units]
        packs: list[list[int]] = []
        rooms: list[int] = []
        for u in sorted(range(len(units)), key=lambda u: -sizes[u]):
            fitting = [p for p, room in enumerate(rooms) if room >= sizes[u]]
            if fitting:
                best = min(fitting, key=lambda p: rooms[p])
            else:
                best = len(packs)
                packs.append([])
                rooms.append(token_budget)
            packs[best] += units[u]
            rooms[best] -= sizes[u]
        return packs

    def units(self, by_bundle: bool) -> list[list[int]]:
        """What must stay together: single rows, or bundles in the order of their first rows."""
        if not by_bundle:
            return [[row] for row in range(len(self))]
        units: dict[int, list[int]] = {}
        for row, bundle in enumerate(self.bundles.tolist()):
            units.setdefault(bundle, []).append(row)
        return list(units.values())

    def place(self, parts: list[tuple[list[int], Tensor]]) -> Tensor:
        """Scores of packs, given with their row numbers, in the order of the whole batch."""
        whole = torch.zeros(int(self.scored.sum()), dtype=torch.float32)
        for rows, values in parts:
            whole[spans(self.scored, torch.tensor(rows, dtype=torch.long))] = values
        return whole


def owners(sizes: Tensor) -> Tensor:
    """[2, 0, 1] → [0, 0, 2]. By NumPy: PyTorch takes a hundred times as long for this on the CPU."""
    return torch.from_numpy(np.repeat(np.arange(sizes.numel()), sizes.numpy()))


def spans(sizes: Tensor, rows: Tensor) -> Tensor:
    """Positions of the entries of `rows`, where row r holds sizes[r] consecutive entries."""
    width = sizes.numpy().astype(np.int64)
    chosen = width[rows.numpy()]
    # first entry of each chosen row, less the number of entries that come before it here
    shift = (width.cumsum() - width)[rows.numpy()] - (chosen.cumsum() - chosen)
    return torch.from_numpy(np.arange(chosen.sum()) + np.repeat(shift, chosen))


def pick(x: Tensor, at: Tensor) -> Tensor:
    return torch.from_numpy(x.numpy()[at.numpy()])


def put(x: Tensor, device: torch.device, dtype: torch.dtype | None = None) -> Tensor:
    """To the device without waiting for it."""
    x = x if dtype is None else x.to(dtype)
    return x.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else x


class Pick(torch.autograd.Function):
    """Entries at places that are all different: the way back needs no sums."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.size = x.shape
        return x.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (places,) = ctx.saved_tensors
        return grads[0].new_zeros(ctx.size).index_copy_(0, places, grads[0]), None


@dataclass
class Pack:
    """One micro-batch on the device: sequences end to end, then padding that is a sequence of its own."""

    ids: Tensor  # [1, T]
    positions: Tensor  # [1, T]
    bounds: Tensor  # first position of every sequence, and T
    longest: int
    at: Tensor  # position whose hidden state predicts the i-th scored token
    targets: Tensor
    inverse_temperature: Tensor
    scored: list[int]  # scored tokens of each row
    fixed: bool = False  # of a size that other packs have too
    share: Share | None = None  # ids, positions, at, targets, others and temperatures are one rank's part of it
    others: dict[str, Tensor] = field(default_factory=dict)  # by score: other tokens whose log-probs are asked for


# Lengths are rounded up to this, so that matrix products keep their fast shapes.
ALIGN = 128
# Of packs of fixed sizes: how many sizes there are up to the budget, and the fewest sequences that one has room for.
SIZES = 32
SEQUENCES = 16


def device_pack(rows: Rows, device: torch.device, align: int = ALIGN, fixed: bool = False) -> Pack:
    """`fixed`: the number of sequences is rounded up too, to a power of two; those that are not there have no tokens."""
    # NumPy throughout: these are small, and PyTorch would start threads for each of them
    lengths, sizes = rows.lengths.numpy().astype(np.int64), rows.scored.numpy().astype(np.int64)
    total = int(lengths.sum())
    padded = -(-total // align) * align
    ends = lengths.cumsum()
    first = ends - lengths
    row_of = np.repeat(np.arange(len(rows)), sizes)
    # place of every scored token
    here = np.arange(len(row_of)) + (first + rows.starts.numpy() - (sizes.cumsum() - sizes))[row_of]

    ids = np.zeros(padded, dtype=np.int64)
    ids[:total] = rows.tokens.numpy()
    positions = np.arange(padded)
    positions[:total] -= np.repeat(first, lengths)
    bounds = [0, *ends.tolist()]
    if padded > total:
        # padding is cut into pieces no longer than the longest row: it must not set the size of the attention
        piece = max(int(lengths.max()), 1) if len(rows) else padded
        bounds += [*range(total + piece, padded, piece), padded]
        positions[total:] = (positions[total:] - total) % piece
    longest = int(np.diff(bounds).max())
    if fixed:
        sequences = max(SEQUENCES, 1 << (len(bounds) - 2).bit_length())
        bounds += [padded] * (sequences + 1 - len(bounds))
    heat = (1.0 / rows.temperatures.numpy()).astype(np.float32)

    def sent(x: np.ndarray) -> Tensor:
        return put(torch.from_numpy(x), device)

    return Pack(
        sent(ids[None]),
        sent(positions[None]),
        sent(np.array(bounds, dtype=np.int32)),
        longest,
        sent(here - 1),
        sent(ids[here]),
        sent(heat[row_of]),
        sizes.tolist(),
        fixed,
        others={kind: sent(ids) for kind, ids in rows.others().items()},
    )
