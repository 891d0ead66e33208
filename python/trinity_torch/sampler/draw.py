"""
Drawing tokens. What a draw needs lies in one row of `state` per sequence, so that steps follow each other on the device
without the host: drawing writes the token there, which the next step reads.

The order is: what shape.py does to the logits, temperature, then the limits of limits.py. A token is drawn as
the winner of a race (the largest of log-prob + Gumbel noise), the noise being a pure function of (seed, sample, position,
token): nothing else in the batch can change it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..kernels import NVIDIA, early, fast, tl, triton, wait_for_last
from ..network import softmax
from . import limits
from . import shape as shapes

# Fields of a row of `state` (int32; those marked f hold the bits of a float32). The kernels have the numbers.
TOKEN, LENGTH, MADE, GREEDY, INVERSE_T, TOP_K, TOP_P, MIN_P, PENALTY = range(9)  # f: INVERSE_T, TOP_P, MIN_P, PENALTY
SEED_LOW, SEED_HIGH, INDEX, MIN_TOKENS, BANS, PRESENCE, FREQUENCY, NEEDS, FIRST_BAN = range(9, 18)  # f: PRESENCE, FREQUENCY
MAX_BANS = 34
WIDTH = FIRST_BAN + MAX_BANS

CHUNKS = 16
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
    parts = torch.empty(count, CHUNKS, 8, dtype=torch.float32, device=logits.device)
    shaped, from_rows = logits, rows
    if needs:
        shaped = shapes.shape(logits, state, shaping, slots, rows, needs)
        from_rows = torch.arange(count, dtype=torch.int32, device=logits.device)
    bounds = torch.empty(count, 2, dtype=torch.float32, device=logits.device)
    if limited:
        limits.search(shaped, state, slots, from_rows, bounds)
    _race[(count, CHUNKS)](
        logits, shaped, state, slots, rows, bounds, parts, vocabulary, triton.cdiv(vocabulary, CHUNKS * 2048) * 2048,
        WIDTH=WIDTH, SHAPED=needs != 0, LIMITED=limited, CHUNKS=CHUNKS, BLOCK=2048, QUICK=NVIDIA, num_warps=4, **early(),
    )  # fmt: skip
    _finish[(count,)](
        parts, state, shaping.used, slots, out, count, vocabulary, WIDTH=WIDTH, RESHAPED=needs != 0 or limited,
        COUNTED=bool(needs & shapes.USED), CHUNKS=CHUNKS, num_warps=1, **early(),
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
    race = torch.where(greedy, adjusted, z - noise_plain(held, logits.shape[1]))
    token = race.argmax(-1)  # the first of equal ones
    pick = token[:, None]
    model = raw * inverse
    whole = model.logsumexp(-1)
    logprob = model.gather(1, pick)[:, 0] - whole
    drawn = torch.where(greedy[:, 0], 0.0, z.gather(1, pick)[:, 0] - z.logsumexp(-1))
    some = race.gather(1, pick)[:, 0] > float("-inf")
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


def noise_plain(held: Tensor, vocabulary: int) -> Tensor:
    """Logarithms of exponential random numbers, as the kernel makes them."""
    groups = torch.arange(-(-vocabulary // 4), device=held.device, dtype=torch.int64)[None]
    wide = held.long() & 0xFFFFFFFF
    counters = [groups, wide[:, INDEX, None], wide[:, MADE, None], torch.zeros_like(groups)]
    words = philox_plain(wide[:, SEED_LOW, None], wide[:, SEED_HIGH, None], counters)
    # the order in which the kernel interleaves the four
    bits = torch.stack([words[0], words[2], words[1], words[3]], -1).flatten(1)[:, :vocabulary]
    u = ((bits.to(torch.float32) + 0.5) * 2.0**-32).clamp(max=1 - 2.0**-24)
    small = u * (1.0 + u * (0.5 + u * (1.0 / 3.0)))
    return torch.where(u < 0.01, small, -torch.log(1.0 - u)).log()


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
    def quick_log(x, QUICK: tl.constexpr):
        """Within 2e-7, by one instruction: what noise is made of need not be more exact."""
        if QUICK:
            two = tl.inline_asm_elementwise("lg2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
            return two * 0.6931471805599453
        else:
            return tl.log(x)

    @triton.jit
    def _race(
        logits, shaped, state, slots, rows, bounds, parts, vocabulary, length,
        WIDTH: tl.constexpr, SHAPED: tl.constexpr, LIMITED: tl.constexpr, CHUNKS: tl.constexpr, BLOCK: tl.constexpr,
        QUICK: tl.constexpr, PDL: tl.constexpr,
    ):  # fmt: skip
        wait_for_last(PDL)
        draw = tl.program_id(0)
        chunk = tl.program_id(1)
        slot = tl.load(slots + draw).to(tl.int64)
        if slot >= 0:
            base = logits + tl.load(rows + draw).to(tl.int64) * vocabulary
            other = shaped + draw.to(tl.int64) * vocabulary
            row = state + slot * WIDTH
            inverse = tl.load(row + 4).to(tl.float32, bitcast=True)
            greedy = tl.load(row + 3) != 0
            seed = (tl.load(row + 10).to(tl.int64) << 32) | (tl.load(row + 9).to(tl.int64) & 0xFFFFFFFF)
            sample = tl.load(row + 11)
            made = tl.load(row + 2)
            least = float("-inf")
            last_tie = vocabulary
            if LIMITED:
                least = tl.load(bounds + 2 * draw)
                last_tie = tl.load(bounds + 2 * draw + 1).to(tl.int32, bitcast=True)
            top = tl.full([BLOCK], float("-inf"), tl.float32)
            mass = tl.zeros([BLOCK], tl.float32)
            drawn_top = tl.full([BLOCK], float("-inf"), tl.float32)
            drawn_mass = tl.zeros([BLOCK], tl.float32)
            best = tl.full([BLOCK], float("-inf"), tl.float32)
            winner = tl.full([BLOCK], 2147483647, tl.int32)
            lane = tl.arange(0, BLOCK)
            group = tl.arange(0, BLOCK // 4)
            begin = chunk * length
            for start in range(begin, tl.minimum(begin + length, vocabulary), BLOCK):
                at = start + lane
                inside = at < vocabulary
                raw = tl.load(base + at, mask=inside, other=float("-inf"))
                y = raw
                if SHAPED:
                    y = tl.load(other + at, mask=inside, other=float("-inf"))
                z = raw * inverse
                # a NaN wins every comparison below, so that it is seen in the end
                higher = tl.maximum(top, z, propagate_nan=tl.PropagateNan.ALL)
                floor = tl.where(higher == float("-inf"), 0.0, higher)
                mass = mass * tl.exp(top - floor) + tl.exp(z - floor)
                top = higher
                zy = y * inverse
                if LIMITED:
                    zy = tl.where((zy > least) | ((zy == least) & (at <= last_tie)), zy, float("-inf"))
                if SHAPED or LIMITED:
                    higher = tl.maximum(drawn_top, zy)
                    floor = tl.where(higher == float("-inf"), 0.0, higher)
                    drawn_mass = drawn_mass * tl.exp(drawn_top - floor) + tl.exp(zy - floor)
                    drawn_top = higher
                score = y
                if not greedy:
                    c = start // 4 + group
                    zero = c * 0
                    r0, r1, r2, r3 = tl.philox(seed, c, zero + sample, zero + made, zero)
                    bits = tl.reshape(tl.join(tl.join(r0, r1), tl.join(r2, r3)), [BLOCK])
                    u = (bits.to(tl.uint32, bitcast=True).to(tl.float32) + 0.5) * 2.3283064365386963e-10
                    u = tl.minimum(u, 0.99999994)
                    small = u * (1.0 + u * (0.5 + u * 0.3333333333333333))
                    score = zy - quick_log(tl.where(u < 0.01, small, -quick_log(1.0 - u, QUICK)), QUICK)
                wins = score > best
                best = tl.where(wins, score, best)
                winner = tl.where(wins, at, winner)
            first = tl.max(best, 0)
            token = tl.min(tl.where(best == first, winner, 2147483647), 0)
            most = tl.max(top, 0)
            floor = tl.where(most == float("-inf"), 0.0, most)
            to = parts + (draw * CHUNKS + chunk) * 8
            tl.store(to, first)
            tl.store(to + 1, token.to(tl.float32, bitcast=True))
            tl.store(to + 2, most)
            tl.store(to + 3, tl.sum(mass * tl.exp(top - floor), 0))
            most = tl.max(drawn_top, 0)
            floor = tl.where(most == float("-inf"), 0.0, most)
            tl.store(to + 4, most)
            tl.store(to + 5, tl.sum(drawn_mass * tl.exp(drawn_top - floor), 0))
            found = token < vocabulary
            raw = tl.load(base + tl.where(found, token, 0))
            y = raw
            if SHAPED:
                y = tl.load(other + tl.where(found, token, 0))
            tl.store(to + 6, raw * inverse)
            tl.store(to + 7, y * inverse)

    @triton.jit(do_not_specialize=["count"])
    def _finish(
        parts, state, used, slots, out, count, vocabulary,
        WIDTH: tl.constexpr, RESHAPED: tl.constexpr, COUNTED: tl.constexpr, CHUNKS: tl.constexpr,
        PDL: tl.constexpr,
    ):  # fmt: skip
        wait_for_last(PDL)
        draw = tl.program_id(0)
        slot = tl.load(slots + draw).to(tl.int64)
        if slot >= 0:
            at = parts + (draw * CHUNKS + tl.arange(0, CHUNKS)) * 8
            score = tl.load(at)
            token = tl.load(at + 1).to(tl.int32, bitcast=True)
            best = tl.max(score, 0)
            chosen = tl.min(tl.where(score == best, token, 2147483647), 0)
            mine = token == chosen
            model = tl.sum(tl.where(mine, tl.load(at + 6), 0.0), 0)
            shaped = tl.sum(tl.where(mine, tl.load(at + 7), 0.0), 0)
            top = tl.load(at + 2)
            most = tl.max(top, 0)
            whole = most + tl.log(tl.sum(tl.load(at + 3) * tl.exp(top - most), 0))
            top = tl.load(at + 4)
            drawn_most = tl.max(top, 0)
            floor = tl.where(drawn_most == float("-inf"), 0.0, drawn_most)
            drawn = model - whole
            if RESHAPED:
                drawn = shaped - (drawn_most + tl.log(tl.sum(tl.load(at + 5) * tl.exp(top - floor), 0)))
            row = state + slot * WIDTH
            if tl.load(row + 3) != 0:
                drawn = 0.0
            finite = tl.abs(whole) < float("inf")
            fine = finite & (best > float("-inf"))
            chosen = tl.where(fine, chosen, tl.where(finite & (best == float("-inf")), -2, -1))
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
