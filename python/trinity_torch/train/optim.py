"""AdamW on float32 master weights, and the float32 gradients that micro-batches add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.optim.adam import adam

from ..network.summing import make_summing
from ..world import World
from .offload import Piece, host_tensors, local, shuttle


@dataclass(frozen=True)
class Store:
    """
    Where training state is kept. `separate`: the network computes with copies of the masters; else its parameters, whole
    or this rank's shards, are float32 and their own masters. `masters`, `moments`: these wait in host memory.
    """

    device: torch.device
    separate: bool = False
    masters: bool = False
    moments: bool = False
    ranks: int = 1
    # the weights that the network computes with leave the device between calls
    wandering: bool = False

    @staticmethod
    def of(options: dict[str, Any], dtype: torch.dtype, world: World) -> Store:
        params, moments = bool(options.get("paramOffload")), bool(options.get("optimizerOffload"))
        if world.control is not None:
            return Store(world.device, False, params, moments, world.size)
        separate = params or moments or dtype != torch.float32
        return Store(world.device, separate, moments, moments, wandering=params)

    def masters_of(self, params: list[nn.Parameter]) -> list[Tensor] | None:
        if not self.separate:
            return None
        if not self.masters:
            return [p.detach().clone() for p in params]
        masters = host_tensors([p.shape for p in params], self.device)
        for master, p in zip(masters, params):
            master.copy_(p.detach())
        return masters


class Optimizer:
    """
    With separate masters, gradients are summed here in float32: most modules add theirs by themselves (linear.py), every
    other parameter's gradient is added as soon as the backward pass has made it. All tensors are this rank's own part.
    """

    def __init__(
        self, network: nn.Module, named: list[tuple[str, nn.Parameter]], masters: list[Tensor] | None, store: Store
    ):
        """`masters`: of each parameter, in float32, where they are separate."""
        self.names = [name for name, _ in named]
        self.params = [p for _, p in named]
        self.store = store
        self.masters = masters if masters is not None else [local(p.detach()) for p in self.params]
        self.grads: list[Tensor] = []
        # both moments, once there has been a step
        self.m: list[Tensor] = []
        self.v: list[Tensor] = []
        self.steps = 0
        # of the last step
        self.settings: dict[str, Any] = {"lr": 0.0, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0}
        if store.separate:
            self.grads, served = make_summing(network, self.params, not store.wandering)
            for p, total in zip(self.params, self.grads):
                if p not in served:
                    p.register_post_accumulate_grad_hook(lambda p, total=total: _move(p, total))

    def follow(self) -> None:
        """Parameters have been given other memory with the same numbers."""
        if not self.store.separate:
            self.masters = [local(p.detach()) for p in self.params]

    def _zeros(self) -> list[Tensor]:
        return [torch.zeros(master.shape, dtype=torch.float32, device=self.store.device) for master in self.masters]

    def gradients(self) -> list[Tensor]:
        """Of every master, zero where nothing was added."""
        if self.store.separate:
            return self.grads
        found = [p.grad for p in self.params]
        return [torch.zeros_like(x) if g is None else local(g) for g, x in zip(found, self.masters)]

    def discard(self) -> None:
        if self.grads:
            torch._foreach_zero_(self.grads)
        for p in self.params:
            p.grad = None

    def step(self, lr: float, betas: tuple[float, float], eps: float, weight_decay: float, clip: float) -> tuple[float, bool]:
        """Norm of the whole gradient before clipping, and whether it was applied: one that is not finite never is."""
        grads = self.gradients()
        norm = self.norm(grads)
        if not norm < float("inf"):
            self.discard()
            return norm, False
        if clip > 0 and norm > clip:
            torch._foreach_mul_(grads, clip / (norm + 1e-6))
        self.make_moments()
        numbers: dict[str, Any] = {"lr": lr, "beta1": betas[0], "beta2": betas[1], "eps": eps, "weight_decay": weight_decay}
        with torch.no_grad():
            self._update(grads, numbers)
        self.steps += 1
        self.settings = {"lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay}
        self.discard()
        return norm, True

    def make_moments(self) -> None:
        if not self.m:
            shapes = [master.shape for master in self.masters]
            make = (lambda: host_tensors(shapes, self.store.device)) if self.store.moments else self._zeros
            self.m, self.v = make(), make()

    def to_come(self) -> int:
        """Bytes of the device that the first step will take for good."""
        return 0 if self.m or self.store.moments else 8 * sum(master.numel() for master in self.masters)

    def _update(self, grads: list[Tensor], numbers: dict[str, Any]) -> None:
        store = self.store
        if not store.masters and not store.moments:
            self._adam(self.masters, grads, self.m, self.v, numbers)
            self.publish()
            return
        # what is on the host passes through the device; the rest is used where it is
        columns = [(self.masters, True)] if store.masters else []
        columns += [(self.m, True), (self.v, True)] if store.moments else []
        grads_away = store.masters and not store.separate
        columns += [(grads, False)] if grads_away else []

        def work(pieces: list[Piece], there: list[list[Tensor]]) -> None:
            sides = iter(there)
            here = lambda tensors: [piece.of(tensors) for piece in pieces]  # noqa: E731
            masters = next(sides) if store.masters else here(self.masters)
            m, v = (next(sides), next(sides)) if store.moments else (here(self.m), here(self.v))
            self._adam(masters, next(sides) if grads_away else here(grads), m, v, numbers)
            if store.separate:
                torch._foreach_copy_(here([p.data for p in self.params]), masters)

        shuttle(columns, [master.numel() for master in self.masters], store.device, work)

    def _adam(
        self, masters: list[Tensor], grads: list[Tensor], m: list[Tensor], v: list[Tensor], numbers: dict[str, Any]
    ) -> None:
        fused = all(x.is_cuda for x in masters)
        where = self.store.device if fused else torch.device("cpu")
        steps = list(torch.full((len(masters),), float(self.steps), device=where).unbind())
        adam(
            masters, grads, m, v, [], steps,
            fused=fused, decoupled_weight_decay=True, amsgrad=False, maximize=False, **numbers,
        )

    def norm(self, grads: list[Tensor]) -> float:
        """Over all ranks: on none of them is a gradient applied that is not finite on another."""
        held = [g for g in grads if g.numel() > 0]
        norms = torch.stack([x.double() for x in torch._foreach_norm(held)]) if held else torch.zeros(1).double()
        if self.store.ranks == 1:
            return float(torch.linalg.vector_norm(norms))
        total = norms.square().sum().to(self.store.device)
        dist.all_reduce(total)
        return float(total.sqrt())

    def publish(self) -> None:
        """Masters to the copies that the network computes with."""
        if self.store.separate:
            with torch.no_grad():
                torch._foreach_copy_([p.data for p in self.params], self.masters)

    def memory(self) -> dict[str, int]:
        """Bytes of what is kept here, and how many of them are in host memory instead of the device's."""
        own = self.masters if self.store.separate else []
        grads = self.grads if self.store.separate else [local(p.grad) for p in self.params if p.grad is not None]
        count = lambda tensors: sum(x.nbytes for x in tensors)  # noqa: E731
        moments = count(self.m) + count(self.v)
        # gradients of weights that wait on the host wait there too, unless they are summed here
        away = count(own) + (0 if self.store.separate else count(grads))
        host = (away if self.store.masters else 0) + (moments if self.store.moments else 0)
        return {"weights": count(own), "gradients": count(grads), "optimizer": moments, "host": host}


def _move(p: Tensor, total: Tensor) -> None:
    assert p.grad is not None
    total.add_(p.grad)
    p.grad = None
