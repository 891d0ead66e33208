"""
What requests do to logits before a token is drawn: bias, penalties (repetition, frequency, presence), bans, and masks of
allowed tokens, in this order. Temperature and limits come afterward. A step without any of these never comes here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from ..kernels import fast, tl, triton

# What a draw needs, as bits. A recorded step has the parts that one of its draws needs.
BIAS, USED, BANS, MASK = 1, 2, 4, 8

# Fields of a row of state, as in draw.py; the kernel has the numbers.
_MADE, _PENALTY, _MIN_TOKENS, _BANS, _PRESENCE, _FREQUENCY, _NEEDS, _FIRST_BAN = 2, 8, 12, 13, 14, 15, 16, 17


class Shaping:
    """
    Rows by slot, for as many slots as have asked. `used`: 1 for a token of the prompt, + 2 for every time it was drawn.
    `masks`: whether there is one, then a bit for every token. `moved` is called when something has a new address.
    """

    def __init__(self, vocabulary: int, device: torch.device, put: Callable[[np.ndarray], Tensor], moved: Callable[[], None]):
        self.vocabulary, self.device, self.put, self.moved = vocabulary, device, put, moved
        words = 1 + -(-vocabulary // 32)
        self.bias = torch.zeros(0, vocabulary, dtype=torch.float32, device=device)
        self.used = torch.zeros(0, vocabulary, dtype=torch.int32, device=device)
        self.masks = torch.zeros(0, words, dtype=torch.int32, device=device)

    def begin_bias(self, slot: int, tokens: list[int], values: list[float]) -> None:
        self.bias = self._reach(self.bias, slot)
        self.bias[slot] = 0
        ids = self.put(np.asarray(tokens, dtype=np.int32)).long()
        self.bias[slot, ids] = self.put(np.asarray(values, dtype=np.float32).view(np.int32)).view(torch.float32)

    def begin_used(self, slot: int, prompt: np.ndarray, drawn: np.ndarray) -> None:
        self.used = self._reach(self.used, slot)
        counts = 2 * np.bincount(drawn, minlength=self.vocabulary)
        counts[prompt] += 1
        self.used[slot] = self.put(counts.astype(np.int32))

    def mask(self, masks: dict[int, np.ndarray | None]) -> None:
        """The masks of the next draw by slot; None: any token."""
        self.masks = self._reach(self.masks, max(masks))
        rows = np.zeros((len(masks), self.masks.shape[1]), dtype=np.int32)
        for row, mask in zip(rows, masks.values()):
            if mask is not None:
                row[0], row[1:] = 1, mask
        self.masks.index_copy_(0, self.put(np.asarray(list(masks))).long(), self.put(rows))

    def _reach(self, table: Tensor, slot: int) -> Tensor:
        if slot < len(table):
            return table
        larger = torch.zeros(max(slot + 1, 2 * len(table)), table.shape[1], dtype=table.dtype, device=self.device)
        larger[: len(table)] = table
        self.moved()
        return larger


def shape(logits: Tensor, state: Tensor, shaping: Shaping, slots: Tensor, rows: Tensor, needs: int) -> Tensor:
    """One row for each draw: the logits that its slot draws from."""
    if not fast(logits):
        return shape_plain(logits, state, shaping, slots, rows, needs)
    vocabulary = logits.shape[1]
    out = torch.empty(slots.numel(), vocabulary, dtype=torch.float32, device=logits.device)
    _shape[(slots.numel(), triton.cdiv(vocabulary, 2048))](
        logits, state, shaping.bias, shaping.used, shaping.masks, slots, rows, out, vocabulary, shaping.masks.shape[1],
        WIDTH=state.shape[1], BIASED=bool(needs & BIAS), COUNTED=bool(needs & USED), BANNED=bool(needs & BANS),
        MASKED=bool(needs & MASK), BLOCK=2048, num_warps=4,
    )  # fmt: skip
    return out


def shape_plain(logits: Tensor, state: Tensor, shaping: Shaping, slots: Tensor, rows: Tensor, needs: int) -> Tensor:
    out = logits[rows.long()].float()
    for i, slot in enumerate(slots.tolist()):
        if slot < 0:
            continue
        y, held = out[i], state[slot].tolist()
        needed = needs & held[_NEEDS]
        penalty, presence, frequency = (_float(held[field]) for field in (_PENALTY, _PRESENCE, _FREQUENCY))
        if needed & BIAS:
            y += shaping.bias[slot]
        if needed & USED:
            used = shaping.used[slot]
            y.copy_(torch.where(used != 0, torch.where(y > 0, y / penalty, y * penalty), y))
            y -= frequency * (used >> 1).float()
            y -= presence * (used > 1).float()
        if needed & BANS and held[_MADE] < held[_MIN_TOKENS]:
            y[held[_FIRST_BAN : _FIRST_BAN + held[_BANS]]] = float("-inf")
        if needed & MASK and shaping.masks[slot, 0]:
            ids = torch.arange(len(y), device=y.device)
            allowed = shaping.masks[slot, 1 + ids // 32] >> (ids % 32) & 1
            y.masked_fill_(allowed == 0, float("-inf"))
    return out


def _float(bits: int) -> float:
    return float(np.asarray(bits, dtype=np.int32).view(np.float32))


if triton is not None:

    @triton.jit
    def _shape(
        logits, state, bias, used, masks, slots, rows, out, vocabulary, words,
        WIDTH: tl.constexpr, BIASED: tl.constexpr, COUNTED: tl.constexpr, BANNED: tl.constexpr, MASKED: tl.constexpr,
        BLOCK: tl.constexpr,
    ):  # fmt: skip
        draw = tl.program_id(0)
        slot = tl.load(slots + draw).to(tl.int64)
        if slot >= 0:
            row = state + slot * WIDTH
            needs = tl.load(row + 16)
            at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
            inside = at < vocabulary
            y = tl.load(logits + tl.load(rows + draw).to(tl.int64) * vocabulary + at, mask=inside, other=float("-inf")).to(tl.float32)
            if BIASED:
                if needs & 1 != 0:
                    y += tl.load(bias + slot * vocabulary + at, mask=inside, other=0.0)
            if COUNTED:
                if needs & 2 != 0:
                    penalty = tl.load(row + 8).to(tl.float32, bitcast=True)
                    presence = tl.load(row + 14).to(tl.float32, bitcast=True)
                    frequency = tl.load(row + 15).to(tl.float32, bitcast=True)
                    known = tl.load(used + slot * vocabulary + at, mask=inside, other=0)
                    y = tl.where(known != 0, tl.where(y > 0, y / penalty, y * penalty), y)
                    y -= frequency * (known >> 1).to(tl.float32)
                    y -= tl.where(known > 1, presence, 0.0)
            if BANNED:
                if (needs & 4 != 0) & (tl.load(row + 2) < tl.load(row + 12)):
                    for i in range(0, tl.load(row + 13)):
                        y = tl.where(at == tl.load(row + 17 + i), float("-inf"), y)
            if MASKED:
                mask = masks + slot * words
                guided = needs & 8 != 0
                if tl.load(mask, mask=guided, other=0) != 0:
                    word = tl.load(mask + 1 + at // 32, mask=inside, other=0)
                    y = tl.where((word >> (at % 32)) & 1 != 0, y, float("-inf"))
            tl.store(out + draw.to(tl.int64) * vocabulary + at, y, mask=inside)
