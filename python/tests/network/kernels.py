"""Kernels of training against their plain twins, on the device given; in Triton's interpreter on the CPU."""

from __future__ import annotations

import torch
from torch import Tensor

from trinity_torch.network import gate, softmax, turn

from ..kernel_checks import near  # with what the interpreter lacks


def check(device: str, dtype: torch.dtype = torch.float32, tolerance: float = 1e-5) -> None:
    check_gate(device, dtype, tolerance)
    check_turn(device, dtype, tolerance)
    check_scores(device)


def check_gate(device: str, dtype: torch.dtype, tolerance: float) -> None:
    torch.manual_seed(0)
    for width in (48, 1100, 2048):
        x, d = torch.randn(5, 2 * width, device=device, dtype=dtype) * 3, torch.randn(5, width, device=device, dtype=dtype)
        wide = x.cpu().double().requires_grad_()
        wanted = gate.gated_plain(wide)
        (by_x,) = torch.autograd.grad(wanted, wide, d.cpu().double())
        near("gate", torch.ops.trinity.gated(x), wanted.detach(), tolerance)
        near("gate back", torch.ops.trinity.gated_backward(x, d), by_x, tolerance)
        near("twin of the gate back", gate.back_plain(x.cpu(), d.cpu()), by_x, tolerance)


def check_turn(device: str, dtype: torch.dtype, tolerance: float) -> None:
    torch.manual_seed(0)
    for heads, kv, size in ((6, 2, 24), (4, 4, 64), (14, 2, 64)):
        x = torch.randn(7, (heads + 2 * kv) * size, device=device, dtype=dtype)
        angles = torch.outer(torch.arange(7.0), torch.rand(size // 2)).repeat(1, 2)
        cos, sin = (f(angles).to(device, dtype) for f in (torch.cos, torch.sin))
        wide = x.cpu().double().requires_grad_()
        far = [y.cpu().double() for y in (cos, sin)]
        wanted = turn.turned_plain(wide, *far, heads, kv)
        d = [torch.randn(7, count, size, device=device, dtype=dtype) for count in (heads, kv, kv)]
        (by_x,) = torch.autograd.grad(wanted, wide, [y.cpu().double() for y in d])
        for name, a, b in zip("qkv", torch.ops.trinity.turned(x, cos, sin, heads, kv), wanted):
            near(f"turned {name}", a, b.detach(), tolerance)
        near("turned back", torch.ops.trinity.turned_backward(*d, cos, sin), by_x, tolerance)
        near("twin of turned back", turn.back_plain(*(y.cpu() for y in d), cos.cpu(), sin.cpu()), by_x, tolerance)


def check_scores(device: str) -> None:
    torch.manual_seed(0)
    for width, dtype in ((61, torch.float32), (9000, torch.float32), (9000, torch.bfloat16)):
        logits = (torch.randn(9, width, device=device) * 3).to(dtype)
        logits[:, 5], logits[2, 7:] = float("-inf"), float("-inf")
        logits[3], logits[4, 9] = 100 * logits[3].sign(), 90.0
        logits[3, 5] = float("-inf")
        targets = torch.randint(6, width, (9,), device=device)
        targets[2] = 6
        heat = torch.rand(9, device=device) + 0.5
        found = softmax.scores(logits, targets, heat)
        wanted = _scores(logits.cpu().double(), targets.cpu(), heat.cpu().double())
        for name, a, b in zip(softmax.Scores._fields, found, wanted):
            near(name, a, b, 2e-5)
        some = softmax.scores(logits[4:5], targets[4:5], heat[4:5])
        assert all(torch.equal(a[4:5], b) for a, b in zip(found, some)), "scores changed with the number of rows"
        logits[1, 20] = float("nan")
        found = softmax.scores(logits, targets, heat)
        assert bool(found.logprob.isnan()[1]) and not bool(found.logprob.isnan()[0]), "what is not a number was lost"


def _scores(logits: Tensor, targets: Tensor, heat: Tensor) -> list[Tensor]:
    log_p = (logits * heat[:, None]).log_softmax(-1)
    p = log_p.exp()
    entropy = -torch.where(p > 0, p * log_p, 0.0).sum(-1)
    return [log_p.gather(1, targets[:, None])[:, 0], entropy, p.square().sum(-1), (logits * heat[:, None]).logsumexp(-1)]
