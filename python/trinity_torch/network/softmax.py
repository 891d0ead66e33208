"""Log-prob and entropy of rows of logits, and their derivative: plain PyTorch, and one pass per row in Triton on a GPU."""

from __future__ import annotations

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:  # the CPU build of PyTorch comes without it
    triton = None


def scores(logits: Tensor, targets: Tensor, inverse_temperature: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of each row: log-prob of its target, entropy, log of the partition sum; all at that row's temperature."""
    if logits.is_cuda and triton is not None:
        rows = logits.shape[0]
        out = torch.empty(3, rows, dtype=torch.float32, device=logits.device)
        if rows:
            _scores[(rows,)](logits, targets, inverse_temperature, out, rows, logits.shape[1], logits.stride(0), BLOCK=4096)
        return out[0], out[1], out[2]
    z = logits.float() * inverse_temperature[:, None]
    partition = z.logsumexp(-1)
    p = (z - partition[:, None]).exp()
    # a token that cannot be drawn (logit -inf) adds nothing to the entropy
    entropy = partition - torch.where(p > 0, p * z, 0.0).sum(-1)
    return z.gather(1, targets[:, None])[:, 0] - partition, entropy, partition


def backward(
    logits: Tensor,
    targets: Tensor,
    inverse_temperature: Tensor,
    entropy: Tensor,
    partition: Tensor,
    d_logprob: Tensor | None,
    d_entropy: Tensor | None,
    dtype: torch.dtype,
) -> Tensor:
    """d(loss)/d(logits) from d(loss)/d(log-prob) and d(loss)/d(entropy)."""
    if logits.is_cuda and triton is not None:
        out = torch.empty(logits.shape, dtype=dtype, device=logits.device)
        rows = logits.shape[0]
        if rows:
            _backward[(rows,)](
                logits, targets, inverse_temperature, entropy, partition,
                d_logprob if d_logprob is not None else entropy,
                d_entropy if d_entropy is not None else entropy,
                out, logits.shape[1], logits.stride(0),
                LOGPROB=d_logprob is not None, ENTROPY=d_entropy is not None, BLOCK=4096,
            )
        return out
    log_p = logits.float() * inverse_temperature[:, None] - partition[:, None]
    p = log_p.exp()
    d = torch.zeros_like(p)
    if d_logprob is not None:
        d -= p * d_logprob[:, None]
        d.scatter_add_(1, targets[:, None], d_logprob[:, None])
    if d_entropy is not None:
        d -= torch.where(p > 0, p * (log_p + entropy[:, None]), 0.0) * d_entropy[:, None]
    # a row without any gradient stays 0, whatever its logits are
    used = torch.zeros_like(entropy, dtype=torch.bool)
    for given in (d_logprob, d_entropy):
        if given is not None:
            used |= given != 0
    return torch.where(used[:, None], d * inverse_temperature[:, None], 0.0).to(dtype)


if triton is not None:

    @triton.jit
    def _scores(logits, targets, inverse, out, rows, width, stride, BLOCK: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        t = tl.load(inverse + row)
        base = logits + row * stride
        top = tl.full([BLOCK], float("-inf"), tl.float32)
        total = tl.zeros([BLOCK], tl.float32)
        weighted = tl.zeros([BLOCK], tl.float32)
        for start in range(0, width, BLOCK):
            at = start + tl.arange(0, BLOCK)
            z = tl.load(base + at, mask=at < width, other=float("-inf")).to(tl.float32) * t
            higher = tl.maximum(top, z)
            some = higher > float("-inf")
            keep = tl.where(some, tl.exp(top - higher), 1.0)
            e = tl.where(some, tl.exp(z - higher), 0.0)
            total = total * keep + e
            weighted = weighted * keep + tl.where(e > 0, e * z, 0.0)
            top = higher
        most = tl.max(top, 0)
        scale = tl.where(top > float("-inf"), tl.exp(top - most), 0.0)
        mass = tl.sum(total * scale, 0)
        partition = most + tl.log(mass)
        target = tl.load(targets + row)
        tl.store(out + row, tl.load(base + target).to(tl.float32) * t - partition)
        tl.store(out + rows + row, partition - tl.sum(weighted * scale, 0) / mass)
        tl.store(out + 2 * rows + row, partition)

    @triton.jit
    def _backward(
        logits, targets, inverse, entropies, partitions, d_logprobs, d_entropies, out, width, stride,
        LOGPROB: tl.constexpr, ENTROPY: tl.constexpr, BLOCK: tl.constexpr,
    ):
        row = tl.program_id(0).to(tl.int64)
        t = tl.load(inverse + row)
        partition = tl.load(partitions + row)
        target = tl.load(targets + row)
        g = 0.0
        h = 0.0
        entropy = 0.0
        if LOGPROB:
            g = tl.load(d_logprobs + row)
        if ENTROPY:
            h = tl.load(d_entropies + row)
            entropy = tl.load(entropies + row)
        used = (g != 0.0) | (h != 0.0)
        for start in range(0, width, BLOCK):
            at = start + tl.arange(0, BLOCK)
            z = tl.load(logits + row * stride + at, mask=at < width, other=float("-inf")).to(tl.float32)
            log_p = z * t - partition
            p = tl.exp(log_p)
            d = -p * g + tl.where(at == target, g, 0.0)
            if ENTROPY:
                d -= tl.where(p > 0, p * (log_p + entropy), 0.0) * h
            d = tl.where(used, d * t, 0.0)
            tl.store(out + row * width + at, d.to(out.dtype.element_ty), mask=at < width)
