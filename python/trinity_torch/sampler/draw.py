"""
Drawing tokens. What a draw needs lies in one row of `state` per sequence, so that steps follow each other on the device
without the host: drawing writes the token there, which the next step reads.

The order is: repetition penalty and bans on the logits, temperature, then the limits of limits.py. The random number of a
draw is a pure function of (seed, sample, position): nothing else in the batch can change it. The token is the first one up to
which the weights add up to more than that part of their sum, so two passes over the logits suffice: one sums up blocks, one
looks into the block that is meant.
"""

from __future__ import annotations

import torch
from torch import Tensor

from . import limits
from .kernels import fast, power, tl, triton

# Fields of a row of `state` (int32; those marked f hold the bits of a float32). The kernels have the numbers.
TOKEN, LENGTH, MADE, GREEDY, INVERSE_T, TOP_K, TOP_P, MIN_P, PENALTY = range(9)  # f: INVERSE_T, TOP_P, MIN_P, PENALTY
SEED_LOW, SEED_HIGH, INDEX, MIN_TOKENS, BANS, FIRST_BAN = 9, 10, 11, 12, 13, 14
MAX_BANS = 34
WIDTH = FIRST_BAN + MAX_BANS

# Tokens that are summed up together.
BLOCK = 4096


def draw(logits: Tensor, state: Tensor, seen: Tensor | None, slots: Tensor, rows: Tensor, out: Tensor, limited: bool) -> None:
    """
    One token for each of `slots` from the row of logits that `rows` names. `out` int32 [3, draws]: token (-1: the logits are
    not finite), bits of its log-prob under the model, bits of its log-prob under what it was drawn from.
    `seen` [slots, vocabulary]: tokens that a penalty applies to. `limited`: some draw may have top-k, top-p or min-p.
    A negative slot draws nothing.
    """
    if not fast(logits):
        draw_plain(logits, state, seen, slots, rows, out)
        return
    count, vocabulary = slots.numel(), logits.shape[1]
    blocks = triton.cdiv(vocabulary, BLOCK)
    sums = torch.empty(count, blocks, 5, dtype=torch.float32, device=logits.device)
    mask = logits if seen is None else seen
    bounds = torch.empty(count, 2, dtype=torch.float32, device=logits.device)
    if limited:
        limits.search(logits, state, seen, slots, rows, bounds)
    given = dict(WIDTH=WIDTH, SEEN=seen is not None, LIMITED=limited, BLOCK=BLOCK, num_warps=8)
    _sums[(count, blocks)](logits, state, mask, slots, rows, bounds, sums, vocabulary, **given)
    _pick[(count,)](
        logits, state, mask, slots, rows, bounds, sums, out, count, vocabulary, blocks, BLOCKS=power(blocks), **given
    )


def draw_plain(logits: Tensor, state: Tensor, seen: Tensor | None, slots: Tensor, rows: Tensor, out: Tensor) -> None:
    real = slots >= 0
    held = state[slots[real].long()]
    raw = logits[rows[real].long()].float()
    inverse = as_float(held[:, INVERSE_T])[:, None]
    adjusted = adjust(raw, held, None if seen is None else seen[slots[real].long()])
    z = adjusted * inverse
    kept = limits.keep_plain(z, held)
    z = z.masked_fill(~kept, float("-inf"))
    greedy = held[:, GREEDY, None] != 0
    peak = z.max(-1, keepdim=True).values
    weight = (z - torch.where(peak.isfinite(), peak, 0.0)).double().exp()
    total = weight.cumsum(-1)
    over = (total > uniform_plain(held)[:, None] * total[:, -1:]) & (weight > 0)
    # argmax: the first of equal ones
    token = torch.where(greedy[:, 0], adjusted.argmax(-1), over.int().argmax(-1))
    pick = token[:, None]
    model = raw * inverse
    whole = model.logsumexp(-1)
    logprob = model.gather(1, pick)[:, 0] - whole
    drawn = torch.where(greedy[:, 0], 0.0, z.gather(1, pick)[:, 0] - z.logsumexp(-1))
    fine = whole.isfinite() & (peak[:, 0] > float("-inf"))
    token = torch.where(fine, token, -1).int()
    found = torch.stack([token, logprob.float().view(torch.int32), drawn.float().view(torch.int32)])
    out[:, real] = found
    where = slots[real].long()
    state[where, TOKEN] = token
    state[where, LENGTH] += 1
    state[where, MADE] += 1
    if seen is not None:
        seen[where[fine], token[fine].long()] = 1


def adjust(raw: Tensor, held: Tensor, seen: Tensor | None) -> Tensor:
    """Penalty and bans."""
    out = raw.clone()
    if seen is not None:
        penalty = as_float(held[:, PENALTY])[:, None]
        out = torch.where(seen != 0, torch.where(raw > 0, raw / penalty, raw * penalty), raw)
    for i, row in enumerate(held.tolist()):
        if row[MADE] < row[MIN_TOKENS]:
            out[i, row[FIRST_BAN : FIRST_BAN + row[BANS]]] = float("-inf")
    return out


def as_float(bits: Tensor) -> Tensor:
    return bits.contiguous().view(torch.float32)


def uniform_plain(held: Tensor) -> Tensor:
    """In [0, 1), with 53 bits, as the kernel makes it."""
    wide = held.long() & 0xFFFFFFFF
    zero = torch.zeros_like(wide[:, 0])
    words = philox_plain(wide[:, SEED_LOW], wide[:, SEED_HIGH], [zero, wide[:, INDEX], wide[:, MADE], zero])
    return ((words[0] >> 5).double() * 2.0**26 + (words[1] >> 6).double()) * 2.0**-53


def philox_plain(low: Tensor, high: Tensor, counters: list[Tensor]) -> list[Tensor]:
    """Philox 4x32, ten rounds; unsigned 32-bit numbers held in int64."""
    c = list(torch.broadcast_tensors(*counters, low)[:4])
    mask = 0xFFFFFFFF

    def product(a: Tensor, b: int) -> tuple[Tensor, Tensor]:
        """High and low half of a 32 x 32 bit product, by 16 bits, because int64 has a sign."""
        bottom = a * (b & 0xFFFF)
        upper = a * (b >> 16) + (bottom >> 16)
        return upper >> 16, ((upper & 0xFFFF) << 16) | (bottom & 0xFFFF)

    for _ in range(10):
        high_b, low_b = product(c[2], 0xCD9E8D57)
        high_a, low_a = product(c[0], 0xD2511F53)
        c = [high_b ^ c[1] ^ low, low_b, high_a ^ c[3] ^ high, low_a]
        low, high = (low + 0x9E3779B9) & mask, (high + 0xBB67AE85) & mask
    return c


if triton is not None:
    from .limits import adjusted

    @triton.jit
    def _kept(base, at, inside, row, mask, slot, bounds, draw, inverse, vocabulary, SEEN: tl.constexpr, LIMITED: tl.constexpr):
        """Logits / T under the model, and under what is drawn from."""
        raw = tl.load(base + at, mask=inside, other=float("-inf"))
        z = adjusted(raw, at, inside, row, mask, slot, vocabulary, SEEN) * inverse
        if LIMITED:
            least = tl.load(bounds + 2 * draw)
            last = tl.load(bounds + 2 * draw + 1).to(tl.int32, bitcast=True)
            z = tl.where((z > least) | ((z == least) & (at <= last)), z, float("-inf"))
        return raw * inverse, z

    @triton.jit
    def _sums(
        logits, state, mask, slots, rows, bounds, sums, vocabulary,
        WIDTH: tl.constexpr, SEEN: tl.constexpr, LIMITED: tl.constexpr, BLOCK: tl.constexpr,
    ):  # fmt: skip
        draw = tl.program_id(0)
        block = tl.program_id(1)
        slot = tl.load(slots + draw).to(tl.int64)
        if slot >= 0:
            base = logits + tl.load(rows + draw).to(tl.int64) * vocabulary
            row = state + slot * WIDTH
            inverse = tl.load(row + 4).to(tl.float32, bitcast=True)
            at = block * BLOCK + tl.arange(0, BLOCK)
            model, z = _kept(base, at, at < vocabulary, row, mask, slot, bounds, draw, inverse, vocabulary, SEEN, LIMITED)
            top = tl.max(model, 0)
            # what is not finite makes a sum that is not
            mass = tl.sum(tl.exp(model - tl.where(top == float("-inf"), 0.0, top)), 0)
            shaped = tl.load(row + 2) < tl.load(row + 12)
            if SEEN or LIMITED:
                shaped = slot >= 0
            drawn_top = top
            drawn_mass = mass
            if shaped:
                drawn_top = tl.max(z, 0)
                drawn_mass = tl.sum(tl.exp(z - tl.where(drawn_top == float("-inf"), 0.0, drawn_top)), 0)
            first = tl.min(tl.where(z == drawn_top, at, 2147483647), 0)
            to = sums + (draw * tl.num_programs(1) + block) * 5
            tl.store(to, top)
            tl.store(to + 1, mass)
            tl.store(to + 2, drawn_top)
            tl.store(to + 3, drawn_mass)
            tl.store(to + 4, first.to(tl.float32, bitcast=True))

    @triton.jit
    def _pick(
        logits, state, mask, slots, rows, bounds, sums, out, count, vocabulary, blocks,
        BLOCKS: tl.constexpr, WIDTH: tl.constexpr, SEEN: tl.constexpr, LIMITED: tl.constexpr, BLOCK: tl.constexpr,
    ):  # fmt: skip
        draw = tl.program_id(0)
        slot = tl.load(slots + draw).to(tl.int64)
        if slot >= 0:
            base = logits + tl.load(rows + draw).to(tl.int64) * vocabulary
            row = state + slot * WIDTH
            inverse = tl.load(row + 4).to(tl.float32, bitcast=True)
            made = tl.load(row + 2)
            lane = tl.arange(0, BLOCKS)
            there = lane < blocks
            here = sums + (draw * blocks + lane) * 5
            top = tl.load(here, mask=there, other=float("-inf"))
            most = tl.max(top, 0)
            mass = tl.load(here + 1, mask=there, other=0.0)
            whole = most + tl.log(tl.sum(mass * tl.exp(top - most), 0))
            top = tl.load(here + 2, mask=there, other=float("-inf"))
            peak = tl.max(top, 0)
            floor = tl.where(peak == float("-inf"), 0.0, peak)
            mass = tl.load(here + 3, mask=there, other=0.0) * tl.exp(top - floor)
            total = tl.sum(mass, 0)
            if tl.load(row + 3) != 0:
                block = tl.min(tl.where((top == peak) & there, lane, BLOCKS), 0)
                at_best = sums + (draw * blocks + tl.minimum(block, blocks - 1)) * 5
                token = tl.load(at_best + 4).to(tl.int32, bitcast=True)
                drawn = peak * 0.0
            else:
                seed = (tl.load(row + 10).to(tl.int64) << 32) | (tl.load(row + 9).to(tl.int64) & 0xFFFFFFFF)
                zero = made * 0
                r0, r1, r2, r3 = tl.philox(seed, zero, tl.load(row + 11), made, zero)
                high = (r0.to(tl.uint32, bitcast=True) >> 5).to(tl.float64)
                low = (r1.to(tl.uint32, bitcast=True) >> 6).to(tl.float64)
                goal = (high * 67108864.0 + low) * 1.1102230246251565e-16 * total.to(tl.float64)
                upto = tl.cumsum(mass.to(tl.float64), 0)
                some = mass > 0
                # rounding may leave a little past the end: then the last one that is possible is meant
                last = tl.max(tl.where(some, lane, 0), 0)
                block = tl.minimum(tl.min(tl.where((upto > goal) & some, lane, BLOCKS), 0), last)
                before = tl.sum(tl.where(lane < block, mass.to(tl.float64), 0.0), 0)
                at = block * BLOCK + tl.arange(0, BLOCK)
                _, z = _kept(base, at, at < vocabulary, row, mask, slot, bounds, draw, inverse, vocabulary, SEEN, LIMITED)
                weight = tl.exp(z - floor)
                left = (goal - before).to(tl.float32)
                over = (tl.cumsum(weight, 0) > left) & (weight > 0)
                final = tl.max(tl.where(weight > 0, at, -1), 0)
                token = tl.minimum(tl.min(tl.where(over, at, 2147483647), 0), final)
                chosen = tl.sum(tl.where(at == token, z, 0.0), 0)
                drawn = chosen - (floor + tl.log(total))
            fine = (tl.abs(whole) < float("inf")) & (peak > float("-inf")) & (token >= 0) & (token < vocabulary)
            token = tl.where(fine, token, -1)
            logprob = tl.load(base + tl.maximum(token, 0)) * inverse - whole
            tl.store(out + draw, token)
            tl.store(out + count + draw, logprob.to(tl.int32, bitcast=True))
            tl.store(out + 2 * count + draw, drawn.to(tl.int32, bitcast=True))
            tl.store(row, token)
            tl.store(row + 1, tl.load(row + 1) + 1)
            tl.store(row + 2, made + 1)
            if SEEN:
                tl.store(mask + slot * vocabulary + tl.maximum(token, 0), 1, mask=fine)
