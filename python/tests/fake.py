"""Models that do no arithmetic worth the name, for tests of everything around them; also a worker made of them."""

import os
import signal
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from trinity_torch.errors import Cancelled, WorkerError


class FakeModel:
    """Scores of row r are r, its weight is one number, and `spec` may ask for trouble."""

    gradient = "none"

    def __init__(self, kind: str, spec: dict[str, Any], world: Any) -> None:
        self.kind, self.spec, self.world = kind, spec, world
        self.info = {
            "architecture": "Fake",
            "parameters": 1,
            "trainableParameters": 1,
            "vocabSize": 20,
            "maxModelLen": spec.get("maxModelLen") or 64,
        }
        self.weight, self.grad = 0.0, 0.0
        self.times = 0

    def memory(self) -> dict[str, int]:
        return {"weights": 4, "gradients": 0, "optimizer": 0, "activations": 0, "cache": 0}

    def close(self) -> None: ...

    def forward(self, rows: Any, wants: list[str], adapter: bool, budget: int, cancelled: Callable[[], bool]) -> dict:
        self.trouble(cancelled)
        scored = rows.lengths - rows.starts
        values = torch.repeat_interleave(torch.arange(len(rows)).float(), scored) + self.weight
        return {kind: values for kind in wants}

    def forward_backward(self, rows: Any, graph: dict, norms: dict, wants: list, *rest: Any) -> Any:
        scores = self.forward(rows, wants, True, *rest[1:])
        self.grad += float(len(rows))
        metrics = {"norm": {"value": sum(norms.values()), "weight": 1.0, "reduce": "mean"}}
        return SimpleNamespace(loss=float(rows.mask.sum()), metrics=metrics, scores=scores, seconds={})

    def optim_step(self, lr: float, betas: list, eps: float, decay: float, clip: float) -> tuple[float, bool]:
        self.trouble(lambda: False, "step")
        norm, self.grad = self.grad, 0.0
        self.weight -= lr * norm
        return norm, True

    def discard_grad(self) -> None:
        self.grad = 0.0

    def save(self, dir: str) -> None:
        os.makedirs(dir)
        with open(os.path.join(dir, "weight"), "w") as file:
            file.write(str(self.weight))

    def load(self, dir: str) -> None:
        with open(os.path.join(dir, "weight")) as file:
            self.weight = float(file.read())

    save_weights = save

    def reward(self, tokens: torch.Tensor, lengths: torch.Tensor, budget: int, cancelled: Callable) -> torch.Tensor:
        return torch.stack([part.sum() for part in tokens.float().split(lengths.tolist())])

    def trouble(self, cancelled: Callable[[], bool], when: str = "") -> None:
        """`path` is `kind`, `later:kind` (from the second time on) or `step:kind`, and `@rank` for one rank alone."""
        wanted, _, rest = str(self.spec.get("path", "")).rpartition(":")
        kind, _, where = rest.partition("@")
        self.times += when == ""
        if wanted != ("later" if wanted == "later" and when == "" and self.times > 1 else when):
            return
        if where and int(where) != self.world.rank:
            if kind in ("stop", "late"):
                torch.distributed.barrier()
            return
        if kind == "uneven":
            if self.world.rank != 1:
                torch.distributed.barrier()
            kind = "memory"
        if kind == "memory":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        if kind == "slow":
            for _ in range(2000):
                if cancelled():
                    raise Cancelled
                time.sleep(0.01)
        if kind == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if kind in ("deaf", "late"):
            time.sleep(1000)
        if kind == "die":
            print("about to die", flush=True)
            os._exit(9)
        if kind == "bug":
            raise ZeroDivisionError("a fault of ours")
        if kind == "lost":
            raise RuntimeError("CUDA error: an illegal memory access was encountered")


def open_fake(kind: str, spec: dict[str, Any], options: dict[str, Any], world: Any) -> FakeModel:
    if spec.get("path") == "absent":
        raise WorkerError("engine/model", "there is no such model", "name one that exists", "absent")
    return FakeModel(kind, {**spec, "options": options}, world)


if __name__ == "__main__":
    from trinity_torch.__main__ import main

    main(open_fake)
