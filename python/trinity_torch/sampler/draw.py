"""
Drawing tokens. What a draw needs lies in one row of `state` per sequence, so that steps follow each other on the device
without the host: drawing writes the token there, which the next step reads.

The order is: what shape.py does to the logits, temperature, then the limits of limits.py. Three random numbers draw a token: the first
which part of the vocabulary it is from, the second which run of that part, the third which one of that run. They are a pure function of
(seed, sample, position): nothing else in the batch can change them. Each looks up sums in float32, so within a run a token of less than
1e-7 of it is drawn too often or never.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..kernels import early, fast, power, tl, triton, wait_for_last
from ..network import softmax
from . import limits
from . import shape as shapes

# Fields of a row of `state` (int32; those marked f hold the bits of a float32). The kernels have the numbers.
TOKEN, LENGTH, MADE, GREEDY, INVERSE_T, TOP_K, TOP_P, MIN_P, PENALTY = range(9)  # f: INVERSE_T, TOP_P, MIN_P, PENALTY
SEED_LOW, SEED_HIGH, INDEX, MIN_TOKENS, BANS, PRESENCE, FREQUENCY, NEEDS, FIRST_BAN = range(9, 18)  # f: PRESENCE, FREQUENCY
MAX_BANS = 34
WIDTH = FIRST_BAN + MAX_BANS

# Tokens of a part of the vocabulary, and of a run.
PART, RUN = 8192, 64
# draws whose logits are copied at a time
SCORED = 1024


def draw(
    logits: Tensor, state: Tensor, shaping: shapes.Shaping, slots: Tensor, rows: Tensor, out: Tensor, limited: bool, needs: int
) -> None:
    """
    One token for each of `slots` from the row of logits that `rows` names. `out` int32 [3, draws]: token (-1: the logits are
    not finite, -2: nothing may be drawn), bits of its log-prob under the model, bits of its log-prob under what it was drawn from.
    `limited`: some draw may have top-k, top-p or min-p. `needs`: what is done to the logits (shape.py). A negative slot draws
    nothing.
    """
    if not fast(logits):
        draw_plain(logits, state, shaping, slots, rows, out, needs)
        return
    count, vocabulary = slots.numel(), logits.shape[1]
    parts = triton.cdiv(vocabulary, PART)
    found = torch.empty(count, parts, 6, dtype=torch.float32, device=logits.device)
    shaped, from_rows = logits, rows
    if needs:
        shaped = shapes.shape(logits, state, shaping, slots, rows, needs)
        from_rows = torch.arange(count, dtype=torch.int32, device=logits.device)
    bounds = torch.empty(count, 2, dtype=torch.float32, device=logits.device)
    if limited:
        limits.search(shaped, state, slots, from_rows, bounds)
    # sums and products stay two operations, or a draw's last bits would depend on what others of the batch ask for
    same = dict(WIDTH=WIDTH, SHAPED=needs != 0, LIMITED=limited, PART=PART, num_warps=8, enable_fp_fusion=False, **early())
    _weigh[(count, parts)](logits, shaped, state, slots, rows, bounds, found, vocabulary, **same)
    _pick[(count,)](
        logits, shaped, state, slots, rows, bounds, found, shaping.used, out, count, vocabulary, parts,
        COUNTED=bool(needs & shapes.USED), PARTS=power(parts), RUN=RUN, **same,
    )  # fmt: skip


def score(logits: Tensor, state: Tensor, slots: Tensor, rows: Tensor | None, out: Tensor) -> None:
    """
    Log-probs under the model of the tokens in `out`, once more: by the kernel that a trainer scores them with, so that theirs have the
    same bits. `rows` None: draw i is from row i.
    """
    inverse = as_float(state[slots.clamp(min=0).long(), INVERSE_T])
    tokens = out[0].clamp(min=0).long()
    for a in range(0, slots.numel(), SCORED):
        b = min(slots.numel(), a + SCORED)
        given = logits[a:b] if rows is None else logits.index_select(0, rows[a:b].long())
        found = softmax.scores(given, tokens[a:b], inverse[a:b]).logprob
        out[1, a:b] = found.view(torch.int32)


def draw_plain(
    logits: Tensor, state: Tensor, shaping: shapes.Shaping, slots: Tensor, rows: Tensor, out: Tensor, needs: int
) -> None:
    real = slots >= 0
    held = state[slots[real].long()]
    raw = logits[rows[real].long()].float()
    inverse = as_float(held[:, INVERSE_T])[:, None]
    adjusted = shapes.shape_plain(logits, state, shaping, slots[real], rows[real], needs) if needs else raw
    z = adjusted * inverse
    kept = limits.keep_plain(z, held)
    z = z.masked_fill(~kept, float("-inf"))
    greedy = held[:, GREEDY, None] != 0
    # the first of equal ones
    token = torch.where(greedy[:, 0], adjusted.argmax(-1), pick_plain(z, *uniforms_plain(held)))
    pick = token[:, None]
    model = raw * inverse
    whole = model.logsumexp(-1)
    logprob = model.gather(1, pick)[:, 0] - whole
    drawn = torch.where(greedy[:, 0], 0.0, z.gather(1, pick)[:, 0] - z.logsumexp(-1))
    some = torch.where(greedy, adjusted, z).gather(1, pick)[:, 0] > float("-inf")
    fine = whole.isfinite() & some
    token = torch.where(fine, token, torch.where(some | ~whole.isfinite(), -1, -2)).int()
    found = torch.stack([token, logprob.float().view(torch.int32), drawn.float().view(torch.int32)])
    out[:, real] = found
    where = slots[real].long()
    state[where, TOKEN] = token
    state[where, LENGTH] += 1
    state[where, MADE] += 1
    if needs & shapes.USED:
        counted = fine & (held[:, NEEDS] & shapes.USED != 0)
        shaping.used[where[counted], token[counted].long()] += 2


def as_float(bits: Tensor) -> Tensor:
    return bits.contiguous().view(torch.float32)


def uniforms_plain(held: Tensor) -> list[Tensor]:
    wide = held.long() & 0xFFFFFFFF
    none = torch.zeros_like(wide[:, INDEX])
    words = philox_plain(wide[:, SEED_LOW], wide[:, SEED_HIGH], [none, wide[:, INDEX], wide[:, MADE], none])
    return [((bits.to(torch.float32) + 0.5) * 2.0**-32).clamp(max=1 - 2.0**-24) for bits in words[:3]]


def pick_plain(z: Tensor, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
    count, vocabulary = z.shape
    held = torch.nn.functional.pad(z, (0, -vocabulary % PART), value=float("-inf")).view(count, -1, PART)
    top = held.amax(-1)
    p = (held - top.clamp(min=-3e38)[..., None]).exp()
    part = step_plain(p.sum(-1) * (top - top.amax(-1, keepdim=True)).exp().nan_to_num(), first)
    each = torch.arange(count, device=z.device)
    runs = p[each, part].view(count, -1, RUN)
    run = step_plain(runs.sum(-1), second)
    inside = step_plain(runs[each, run], third)
    return (part * PART + run * RUN + inside).clamp(max=vocabulary - 1)


def step_plain(weights: Tensor, where: Tensor) -> Tensor:
    """On which of these weights, laid side by side, the place `where` (0 … 1) of their sum falls."""
    ends = weights.cumsum(-1)
    there = (ends > where[:, None] * ends.amax(-1, keepdim=True)) & (weights > 0)
    last = weights.shape[-1] - 1 - (weights > 0).flip(-1).int().argmax(-1)
    return torch.where(there.any(-1), there.int().argmax(-1), last)


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

    @triton.jit
    def _rows(logits, shaped, rows, draw, vocabulary, SHAPED: tl.constexpr):
        """Logits of the model, and those that are drawn from."""
        raw = logits + tl.load(rows + draw).to(tl.int64) * vocabulary
        own = raw
        if SHAPED:
            own = shaped + draw.to(tl.int64) * vocabulary
        return raw, own

    @triton.jit
    def _drawable(shaped, at, inside, inverse, bounds, LIMITED: tl.constexpr):
        """Of some tokens, logits that are drawn from."""
        zy = tl.load(shaped + at, mask=inside, other=float("-inf")) * inverse
        if LIMITED:
            least = tl.load(bounds)
            last_tie = tl.load(bounds + 1).to(tl.int32, bitcast=True)
            zy = tl.where((zy > least) | ((zy == least) & (at <= last_tie)), zy, float("-inf"))
        return zy

    @triton.jit
    def _mass(z):
        """The largest of some logits, and the sum of their exponents as if that were 0. NaN if one of them is."""
        top = tl.max(z, 0)
        return top, tl.sum(tl.exp(z - tl.where(top == float("-inf"), 0.0, top)), 0)

    @triton.jit
    def _all(top, mass):
        """The same of several sums."""
        most = tl.max(top, 0)
        weights = mass * tl.exp(top - tl.where(most == float("-inf"), 0.0, most))
        return most, weights

    @triton.jit
    def _step(weights, at, where):
        """On which of these weights, laid side by side, the place `where` (0 … 1) of their sum falls."""
        ends = tl.cumsum(weights, 0)
        first = tl.min(tl.where((ends > where * tl.max(ends, 0)) & (weights > 0), at, 2147483647), 0)
        return tl.minimum(first, tl.max(tl.where(weights > 0, at, 0), 0))

    @triton.jit
    def _uniform(bits):
        u = (bits.to(tl.uint32, bitcast=True).to(tl.float32) + 0.5) * 2.3283064365386963e-10
        return tl.minimum(tl.max(u, 0), 0.99999994)

    @triton.jit
    def _weigh(
        logits, shaped, state, slots, rows, bounds, found, vocabulary,
        WIDTH: tl.constexpr, SHAPED: tl.constexpr, LIMITED: tl.constexpr, PART: tl.constexpr, PDL: tl.constexpr,
    ):  # fmt: skip
        """Of each part of the vocabulary: how likely it is under the model, under what is drawn from, and its largest logit."""
        wait_for_last(PDL)
        draw = tl.program_id(0)
        part = tl.program_id(1)
        slot = tl.load(slots + draw).to(tl.int64)
        if slot >= 0:
            row = state + slot * WIDTH
            inverse = tl.load(row + 4).to(tl.float32, bitcast=True)
            raw, own = _rows(logits, shaped, rows, draw, vocabulary, SHAPED)
            at = part * PART + tl.arange(0, PART)
            inside = at < vocabulary
            y = tl.load(raw + at, mask=inside, other=float("-inf"))
            top, mass = _mass(y * inverse)
            to = found + (draw * tl.num_programs(1) + part) * 6
            tl.store(to, top)
            tl.store(to + 1, mass)
            if SHAPED or LIMITED:
                top, mass = _mass(_drawable(own, at, inside, inverse, bounds + 2 * draw, LIMITED))
            tl.store(to + 2, top)
            tl.store(to + 3, mass)
            if tl.load(row + 3) != 0:
                if SHAPED:
                    y = tl.load(own + at, mask=inside, other=float("-inf"))
                most = tl.max(y, 0)
                tl.store(to + 4, most)
                tl.store(to + 5, tl.min(tl.where(y == most, at, 2147483647), 0).to(tl.float32, bitcast=True))

    @triton.jit(do_not_specialize=["count"])
    def _pick(
        logits, shaped, state, slots, rows, bounds, found, used, out, count, vocabulary, parts,
        WIDTH: tl.constexpr, SHAPED: tl.constexpr, LIMITED: tl.constexpr, COUNTED: tl.constexpr, PART: tl.constexpr, PARTS: tl.constexpr,
        RUN: tl.constexpr, PDL: tl.constexpr,
    ):  # fmt: skip
        wait_for_last(PDL)
        draw = tl.program_id(0)
        slot = tl.load(slots + draw).to(tl.int64)
        if slot >= 0:
            row = state + slot * WIDTH
            inverse = tl.load(row + 4).to(tl.float32, bitcast=True)
            raw, own = _rows(logits, shaped, rows, draw, vocabulary, SHAPED)
            part = tl.arange(0, PARTS)
            there = part < parts
            at = found + (draw * parts + part) * 6
            most, weights = _all(tl.load(at, mask=there, other=float("-inf")), tl.load(at + 1, mask=there, other=0.0))
            whole = most + tl.log(tl.sum(weights, 0))
            top = tl.load(at + 2, mask=there, other=float("-inf"))
            most, weights = _all(top, tl.load(at + 3, mask=there, other=0.0))
            drawn_whole = most + tl.log(tl.sum(weights, 0))
            some = most > float("-inf")
            greedy = tl.load(row + 3) != 0
            if greedy:
                best = tl.load(at + 4, mask=there, other=float("-inf"))
                most = tl.max(best, 0)
                some = most > float("-inf")
                token = tl.load(at + 5, mask=there, other=0.0).to(tl.int32, bitcast=True)
                chosen = tl.min(tl.where((best == most) & there, token, 2147483647), 0)
            else:
                seed = (tl.load(row + 10).to(tl.int64) << 32) | (tl.load(row + 9).to(tl.int64) & 0xFFFFFFFF)
                none = part * 0
                first, second, third, _ = tl.philox(seed, none, none + tl.load(row + 11), none + tl.load(row + 2), none)
                from_part = _step(weights, part, _uniform(first))
                tokens = from_part * PART + tl.arange(0, PART)
                z = _drawable(own, tokens, tokens < vocabulary, inverse, bounds + 2 * draw, LIMITED)
                p = tl.exp(z - tl.max(tl.where(part == from_part, top, float("-inf")), 0))
                runs = tl.reshape(p, [PART // RUN, RUN])
                run = tl.arange(0, PART // RUN)
                from_run = _step(tl.sum(runs, 1), run, _uniform(second))
                inside = tl.sum(tl.where((run == from_run)[:, None], runs, 0.0), 0)
                chosen = from_part * PART + from_run * RUN + _step(inside, tl.arange(0, RUN), _uniform(third))
            chosen = tl.minimum(chosen, vocabulary - 1)
            model = tl.load(raw + chosen) * inverse
            drawn = tl.where(greedy, 0.0, tl.load(own + chosen) * inverse - drawn_whole)
            finite = tl.abs(whole) < float("inf")
            fine = finite & some
            chosen = tl.where(fine, chosen, tl.where(finite, -2, -1))
            tl.store(out + draw, chosen)
            tl.store(out + count + draw, (model - whole).to(tl.int32, bitcast=True))
            tl.store(out + 2 * count + draw, drawn.to(tl.int32, bitcast=True))
            tl.store(row, chosen)
            tl.store(row + 1, tl.load(row + 1) + 1)
            tl.store(row + 2, tl.load(row + 2) + 1)
            if COUNTED:
                place = used + slot * vocabulary + tl.where(fine, chosen, 0)
                counted = fine & (tl.load(row + 16) & 2 != 0)
                tl.store(place, tl.load(place, mask=counted, other=0) + 2, mask=counted)
