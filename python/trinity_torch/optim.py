"""AdamW on float32 master weights, and the float32 gradients that micro-batches add up to."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Optimizer:
    """
    Where the network computes in bfloat16, its parameters are copies: masters and gradients are kept here in float32,
    and every parameter's gradient is added to them as soon as the backward pass has made it.
    """

    def __init__(self, named: list[tuple[str, nn.Parameter]], masters: list[Tensor] | None):
        """`masters`: of each parameter, in float32; None: the parameters are float32 themselves."""
        self.names = [name for name, _ in named]
        self.params = [p for _, p in named]
        self.separate = masters is not None
        self.masters: list[Tensor] = masters if masters is not None else list(self.params)
        self.grads: list[Tensor] | None = None
        fused = all(p.is_cuda for p in self.params)
        self.adam = torch.optim.AdamW(self.masters, lr=0.0, fused=fused)
        if self.separate:
            for i, p in enumerate(self.params):
                p.register_post_accumulate_grad_hook(lambda p, i=i: self._add(i, p))

    def _add(self, i: int, p: Tensor) -> None:
        if self.grads is None:
            self.grads = [torch.zeros_like(master) for master in self.masters]
        self.grads[i].add_(p.grad)
        p.grad = None

    def gradients(self) -> list[Tensor]:
        """Of every master, zero where nothing was added."""
        if self.separate:
            return self.grads or [torch.zeros_like(master) for master in self.masters]
        return [p.grad if p.grad is not None else torch.zeros_like(p) for p in self.params]

    def discard(self) -> None:
        self.grads = None
        for p in self.params:
            p.grad = None

    def keep(self) -> list[Tensor]:
        """A copy of the gradients, to come back to."""
        return [g.clone() for g in self.gradients()]

    def step(self, lr: float, betas: tuple[float, float], eps: float, weight_decay: float, clip: float) -> tuple[float, bool]:
        """Norm of the whole gradient before clipping, and whether it was applied: one that is not finite never is."""
        grads = self.gradients()
        norm = float(self.norm(grads))
        if not norm < float("inf"):
            self.discard()
            return norm, False
        if clip > 0 and norm > clip:
            torch._foreach_mul_(grads, clip / (norm + 1e-6))
        for master, grad in zip(self.masters, grads):
            master.grad = grad
        for group in self.adam.param_groups:
            group.update(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay)
        self.adam.step()
        for master in self.masters:
            master.grad = None
        self.discard()
        self.publish()
        return norm, True

    def norm(self, grads: list[Tensor]) -> Tensor:
        return torch.linalg.vector_norm(torch.stack([x.double() for x in torch._foreach_norm(grads)]))

    def publish(self) -> None:
        """Masters to the copies that the network computes with."""
        if self.separate:
            with torch.no_grad():
                torch._foreach_copy_(self.params, self.masters)

    def moments(self) -> int:
        return sum(x.nbytes for state in self.adam.state.values() for x in state.values() if isinstance(x, Tensor))
