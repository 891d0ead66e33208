"""What a row of logits says of its distribution, and the derivative: plain PyTorch, and one pass per row in Triton on a GPU."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..kernels import fast, tl, triton


class Scores(NamedTuple):
    """Of each row: log-prob of its target, entropy, Σp², log of the partition sum; all at that row's temperature."""

    logprob: Tensor
    entropy: Tensor
    squares: Tensor
    partition: Tensor


class Pulls(NamedTuple):
    """d(loss)/d(score) of each row; None: the loss does not depend on it. `others`: one for each of its other tokens."""

    logprob: Tensor | None = None
    entropy: Tensor | None = None
    squares: Tensor | None = None
    others: Tensor | None = None

    def cut(self, a: int, b: int) -> Pulls:
        return Pulls(*(None if x is None else x[a:b].contiguous() for x in self))


def scores(logits: Tensor, targets: Tensor, inverse_temperature: Tensor) -> Scores:
    if fast(logits):
        rows = logits.shape[0]
        out = torch.empty(4, rows, dtype=torch.float32, device=logits.device)
        if rows:
            _scores[(rows,)](
                logits, targets, inverse_temperature, out, rows, logits.shape[1], logits.stride(0), DEEP=8, WIDE=512, num_warps=4
            )  # fmt: skip
        return Scores(out[0], out[1], out[2], out[3])
    z = logits.float() * inverse_temperature[:, None]
    partition = z.logsumexp(-1)
    p = (z - partition[:, None]).exp()
    # a token that cannot be drawn (logit -inf) adds nothing to the entropy
    entropy = partition - torch.where(p > 0, p * z, 0.0).sum(-1)
    return Scores(z.gather(1, targets[:, None])[:, 0] - partition, entropy, p.square().sum(-1), partition)


def others(logits: Tensor, ids: Tensor, inverse_temperature: Tensor, partition: Tensor) -> Tensor:
    """Log-probs of some tokens of each row: `ids` is [rows, n]."""
    return logits.gather(1, ids).float() * inverse_temperature[:, None] - partition[:, None]


def backward(
    logits: Tensor,
    targets: Tensor,
    inverse_temperature: Tensor,
    found: Scores,
    pulls: Pulls,
    dtype: torch.dtype,
    ids: Tensor | None = None,
) -> Tensor:
    """d(loss)/d(logits). `ids`: the tokens that `pulls.others` is by."""
    d_logprob, d_entropy, d_squares, d_others = pulls
    # of every log-prob of a row p·(its pull) goes off all tokens
    together = d_logprob if d_others is None else d_others.sum(1) + (0.0 if d_logprob is None else d_logprob)
    if fast(logits):
        out = torch.empty(logits.shape, dtype=dtype, device=logits.device)
        rows = logits.shape[0]
        if rows:
            none = found.partition
            _backward[(rows,)](
                logits, targets, inverse_temperature, found.entropy, found.squares, found.partition,
                none if d_logprob is None else d_logprob,
                none if together is None else together,
                none if d_entropy is None else d_entropy,
                none if d_squares is None else d_squares,
                out, logits.shape[1], logits.stride(0),
                LOGPROB=d_logprob is not None, TOGETHER=together is not None, ENTROPY=d_entropy is not None,
                SQUARES=d_squares is not None, BLOCK=4096,
            )
        return _give(out, ids, d_others, inverse_temperature)
    log_p = logits.float() * inverse_temperature[:, None] - found.partition[:, None]
    p = log_p.exp()
    d = torch.zeros_like(p)
    if together is not None:
        d -= p * together[:, None]
    if d_logprob is not None:
        d.scatter_add_(1, targets[:, None], d_logprob[:, None])
    if d_entropy is not None:
        d -= torch.where(p > 0, p * (log_p + found.entropy[:, None]), 0.0) * d_entropy[:, None]
    if d_squares is not None:
        d += 2 * p * (p - found.squares[:, None]) * d_squares[:, None]
    # a row without any gradient stays 0, whatever its logits are
    used = torch.zeros_like(found.partition, dtype=torch.bool)
    for given in (d_logprob, together, d_entropy, d_squares):
        if given is not None:
            used |= given != 0
    d = torch.where(used[:, None], d * inverse_temperature[:, None], 0.0).to(dtype)
    return _give(d, ids, d_others, inverse_temperature)


def _give(d: Tensor, ids: Tensor | None, d_others: Tensor | None, inverse_temperature: Tensor) -> Tensor:
    if ids is None or d_others is None:
        return d
    return d.scatter_add_(1, ids, (d_others * inverse_temperature[:, None]).to(d.dtype))


if triton is not None:

    @triton.jit
    def _scores(logits, targets, inverse, out, rows, width, stride, DEEP: tl.constexpr, WIDE: tl.constexpr):
        """
        Every lane keeps sums of its own column, by the greatest number that it has seen, which it looks up once for DEEP numbers. In
        powers of two, which the device has. The lowest number to begin with is finite: nothing is ever infinity less infinity.
        """
        row = tl.program_id(0).to(tl.int64)
        t = tl.load(inverse + row) * 1.4426950408889634
        base = logits + row * stride
        top = tl.full([WIDE], -1e30, tl.float32)
        total = tl.zeros([WIDE], tl.float32)
        weighted = tl.zeros([WIDE], tl.float32)
        squares = tl.zeros([WIDE], tl.float32)
        step = tl.arange(0, DEEP)[:, None] * WIDE + tl.arange(0, WIDE)[None, :]
        for start in range(0, width, DEEP * WIDE):
            at = start + step
            z = tl.load(base + at, mask=at < width, other=float("-inf")).to(tl.float32) * t
            higher = tl.maximum(top, tl.max(z, 0))
            keep = tl.exp2(top - higher)
            e = tl.exp2(z - higher[None, :])
            total = total * keep + tl.sum(e, 0)
            weighted = weighted * keep + tl.sum(e * tl.maximum(z, -1e30), 0)
            squares = squares * keep * keep + tl.sum(e * e, 0)
            top = higher
        most = tl.max(top, 0)
        scale = tl.exp2(top - most)
        mass = tl.sum(total * scale, 0)
        partition = most + tl.log2(mass)
        target = tl.load(targets + row)
        tl.store(out + row, (tl.load(base + target).to(tl.float32) * t - partition) * 0.6931471805599453)
        tl.store(out + rows + row, (partition - tl.sum(weighted * scale, 0) / mass) * 0.6931471805599453)
        tl.store(out + 2 * rows + row, tl.sum(squares * scale * scale, 0) / mass / mass)
        tl.store(out + 3 * rows + row, partition * 0.6931471805599453)

    @triton.jit
    def _backward(
        logits, targets, inverse, entropies, square_sums, partitions, d_logprobs, d_all, d_entropies, d_squares, out, width, stride,
        LOGPROB: tl.constexpr, TOGETHER: tl.constexpr, ENTROPY: tl.constexpr, SQUARES: tl.constexpr, BLOCK: tl.constexpr,
    ):
        row = tl.program_id(0).to(tl.int64)
        t = tl.load(inverse + row)
        partition = tl.load(partitions + row)
        target = tl.load(targets + row)
        g = 0.0
        a = 0.0
        h = 0.0
        s = 0.0
        entropy = 0.0
        squares = 0.0
        if LOGPROB:
            g = tl.load(d_logprobs + row)
        if TOGETHER:
            a = tl.load(d_all + row)
        if SQUARES:
            s = tl.load(d_squares + row)
            squares = tl.load(square_sums + row)
        if ENTROPY:
            h = tl.load(d_entropies + row)
            entropy = tl.load(entropies + row)
        used = (g != 0.0) | (a != 0.0) | (h != 0.0) | (s != 0.0)
        for start in range(0, width, BLOCK):
            at = start + tl.arange(0, BLOCK)
            z = tl.load(logits + row * stride + at, mask=at < width, other=float("-inf")).to(tl.float32)
            log_p = z * t - partition
            p = tl.exp(log_p)
            d = -p * a + tl.where(at == target, g, 0.0)
            if ENTROPY:
                d -= tl.where(p > 0, p * (log_p + entropy), 0.0) * h
            if SQUARES:
                d += 2 * p * (p - squares) * s
            d = tl.where(used, d * t, 0.0)
            tl.store(out + row * width + at, d.to(out.dtype.element_ty), mask=at < width)
