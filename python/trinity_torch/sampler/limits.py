"""
Which tokens may be drawn at all: min-p, then top-k, then top-p on what top-k left; of equally likely tokens the lower ids stay.

What stays is everything above a bound, and of those that equal it the ids up to some last one. The kernel finds both
by bisection over the bit patterns of floats, because sorting a vocabulary costs more than drawing from it many times.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..kernels import tl, triton

# as in draw.py
_INVERSE_T, _TOP_K, _TOP_P, _MIN_P, _GREEDY = 4, 5, 6, 7, 3


def keep_plain(z: Tensor, held: Tensor) -> Tensor:
    """True for the tokens that stay. z: logits as shape.py leaves them / temperature; held: rows of state."""
    top_k, greedy = held[:, _TOP_K, None], held[:, _GREEDY, None] != 0
    top_p, min_p = (held[:, field].contiguous().view(torch.float32)[:, None] for field in (_TOP_P, _MIN_P))
    ordered, order = z.sort(dim=-1, descending=True, stable=True)
    weight = (ordered - ordered[:, :1]).exp()
    stay = weight >= min_p
    stay &= (top_k <= 0) | (torch.arange(z.shape[1], device=z.device) < top_k)
    weight = torch.where(stay, weight, 0.0)
    before = weight.double().cumsum(-1) - weight
    stay &= (top_p >= 1) | (before < top_p.double() * weight.double().sum(-1, keepdim=True))
    return torch.zeros_like(stay).scatter_(1, order, stay) | greedy


def search(logits: Tensor, state: Tensor, slots: Tensor, rows: Tensor, bounds: Tensor) -> None:
    """Fills `bounds` [draws, 2]: the bound, and the bits of the last id that may equal it."""
    _search[(slots.numel(),)](
        logits, state, slots, rows, bounds, logits.shape[1], WIDTH=state.shape[1], BLOCK=4096, num_warps=8
    )


if triton is not None:

    @triton.jit
    def _rank(z):
        """Whole numbers in the order of floats; its own inverse on bits."""
        bits = z.to(tl.int32, bitcast=True)
        return tl.where(bits >= 0, bits, bits ^ 0x7FFFFFFF)

    @triton.jit
    def _tally(base, vocabulary, inverse, peak, bound, low, tie, BLOCK: tl.constexpr):
        """Number and weight of tokens of rank `bound` and more, among those that (low, tie) let stay."""
        count = tl.zeros([BLOCK], tl.int32)
        mass = tl.zeros([BLOCK], tl.float32)
        for start in range(0, vocabulary, BLOCK):
            at = start + tl.arange(0, BLOCK)
            inside = at < vocabulary
            z = tl.load(base + at, mask=inside, other=float("-inf")) * inverse
            rank = _rank(z)
            stays = (rank >= bound) & ((rank > low) | ((rank == low) & (at <= tie))) & (z > float("-inf"))
            count += stays.to(tl.int32)
            mass += tl.where(stays, tl.exp(z - peak), 0.0)
        return tl.sum(count, 0), tl.sum(mass, 0)

    @triton.jit
    def _last_tie(base, vocabulary, inverse, bound, allowed, BLOCK: tl.constexpr):
        """The id of the token that is number `allowed` of those of rank `bound`."""
        low = 0
        high = vocabulary - 1
        while low < high:
            middle = (low + high) // 2
            count = tl.zeros([BLOCK], tl.int32)
            for start in range(0, middle + 1, BLOCK):
                at = start + tl.arange(0, BLOCK)
                inside = at <= middle
                z = tl.load(base + at, mask=inside, other=float("-inf")) * inverse
                count += ((_rank(z) == bound) & inside).to(tl.int32)
            if tl.sum(count, 0) >= allowed:
                high = middle
            else:
                low = middle + 1
        return low

    @triton.jit
    def _search(
        logits, state, slots, rows, bounds, vocabulary, WIDTH: tl.constexpr, BLOCK: tl.constexpr
    ):
        draw = tl.program_id(0)
        slot = tl.load(slots + draw).to(tl.int64)
        if slot >= 0:
            row = state + slot * WIDTH
            inverse = tl.load(row + 4).to(tl.float32, bitcast=True)
            top_k = tl.load(row + 5)
            top_p = tl.load(row + 6).to(tl.float32, bitcast=True)
            min_p = tl.load(row + 7).to(tl.float32, bitcast=True)
            low = tl.full([], -2139095041, tl.int32)  # the rank of -inf
            tie = vocabulary
            if ((top_k > 0) | (top_p < 1.0) | (min_p > 0.0)) & (tl.load(row + 3) == 0):
                base = logits + tl.load(rows + draw).to(tl.int64) * vocabulary
                highest = tl.full([BLOCK], float("-inf"), tl.float32)
                for start in range(0, vocabulary, BLOCK):
                    at = start + tl.arange(0, BLOCK)
                    inside = at < vocabulary
                    highest = tl.maximum(highest, tl.load(base + at, mask=inside, other=float("-inf")) * inverse)
                peak = tl.max(highest, 0)
                best = _rank(peak)
                if min_p > 0.0:
                    low = _rank(peak + tl.log(min_p))
                if top_k > 0:
                    count, mass = _tally(base, vocabulary, inverse, peak, low, low, tie, BLOCK)
                    if count > top_k:
                        a = low.to(tl.int64)
                        b = best.to(tl.int64)
                        while a < b:
                            middle = a + (b - a + 1) // 2
                            bound = middle.to(tl.int32)
                            count, mass = _tally(base, vocabulary, inverse, peak, bound, low, tie, BLOCK)
                            if count >= top_k:
                                a = middle
                            else:
                                b = middle - 1
                        bound = a.to(tl.int32)
                        count, mass = _tally(base, vocabulary, inverse, peak, bound, low, tie, BLOCK)
                        if count > top_k:
                            above, mass = _tally(base, vocabulary, inverse, peak, bound + 1, low, tie, BLOCK)
                            tie = _last_tie(base, vocabulary, inverse, bound, top_k - above, BLOCK)
                        low = bound
                if top_p < 1.0:
                    count, mass = _tally(base, vocabulary, inverse, peak, low, low, tie, BLOCK)
                    goal = mass * top_p
                    a = low.to(tl.int64)
                    b = best.to(tl.int64)
                    while a < b:
                        middle = a + (b - a + 1) // 2
                        bound = middle.to(tl.int32)
                        count, mass = _tally(base, vocabulary, inverse, peak, bound, low, tie, BLOCK)
                        if mass >= goal:
                            a = middle
                        else:
                            b = middle - 1
                    bound = a.to(tl.int32)
                    count, mass = _tally(base, vocabulary, inverse, peak, bound, low, tie, BLOCK)
                    above, more = _tally(base, vocabulary, inverse, peak, bound + 1, low, tie, BLOCK)
                    each = (mass - more) / (count - above).to(tl.float32)
                    allowed = tl.maximum(tl.ceil((goal - more) / each), 1.0).to(tl.int32)
                    if allowed < count - above:
                        tie = _last_tie(base, vocabulary, inverse, bound, allowed, BLOCK)
                    low = bound
            bits = tl.where(low >= 0, low, low ^ 0x7FFFFFFF)
            tl.store(bounds + 2 * draw, bits.to(tl.float32, bitcast=True))
            tl.store(bounds + 2 * draw + 1, tie.to(tl.float32, bitcast=True))
