"""Low-rank adapters inside the linear modules they belong to, named as PEFT names them."""

from __future__ import annotations

import difflib
import math
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Iterator

import torch
from torch import Tensor, nn

from ..errors import WorkerError

A, B = "lora_A.weight", "lora_B.weight"


@dataclass(frozen=True)
class Lora:
    rank: int
    alpha: float
    targets: tuple[str, ...]

    @property
    def scale(self) -> float:
        return self.alpha / self.rank


class Factor(nn.Module):
    """A weight of its own name; the linear module it belongs to uses it."""

    def __init__(self, rows: int, columns: int, like: Tensor):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(rows, columns, dtype=like.dtype, device=like.device))


class LoraLinear(nn.Linear):
    """A linear module with its adapter. Existing modules become one in place, so that the names of weights stay."""

    lora_A: Factor
    lora_B: Factor
    scale: float
    active: bool

    def forward(self, x: Tensor) -> Tensor:
        y = super().forward(x)
        if not self.active:
            return y
        return y + self.scale * nn.functional.linear(nn.functional.linear(x, self.lora_A.weight), self.lora_B.weight)

    def merged(self) -> Tensor:
        return self.weight.float() + self.scale * (self.lora_B.weight.float() @ self.lora_A.weight.float())


def add(network: nn.Module, layers: list[nn.Module], spec: dict[str, Any], seed: int) -> Lora:
    """Freezes everything and puts adapters into the linear modules of the layers."""
    found = [(name, m) for layer in layers for name, m in layer.named_modules() if type(m) is nn.Linear]
    known = list(dict.fromkeys(name.rsplit(".", 1)[-1] for name, _ in found))
    chosen = known if spec["targetModules"] == "all-linear" else list(spec["targetModules"])
    excluded = list(spec.get("excludeModules") or [])
    for name in [*chosen, *excluded]:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = (f"did you mean '{near[0]}'? " if near else "") + f"known: {', '.join(known)}, all-linear"
            raise WorkerError("engine/lora", f"there is no linear module '{name}'", hint, "target_modules")
    targets = tuple(name for name in known if name in chosen and name not in excluded)
    if not targets:
        raise WorkerError("engine/lora", "no module is left for the adapter", path="target_modules")
    rank, alpha = spec["rank"], spec["alpha"]
    if not isinstance(rank, int) or rank < 1:
        raise WorkerError("engine/lora", f"rank is {rank}", "use a whole number from 1", "rank")
    if not alpha > 0:
        raise WorkerError("engine/lora", f"alpha is {alpha}", path="alpha")
    lora = Lora(rank, float(alpha), targets)
    network.requires_grad_(False)
    noise = torch.Generator().manual_seed(seed)
    for name, linear in found:
        if name.rsplit(".", 1)[-1] not in targets:
            continue
        linear.__class__ = LoraLinear
        assert isinstance(linear, LoraLinear)
        linear.lora_A = Factor(rank, linear.in_features, linear.weight)
        linear.lora_B = Factor(linear.out_features, rank, linear.weight)
        linear.scale, linear.active = lora.scale, True
        # a new adapter changes nothing: B is zero
        bound = 1 / math.sqrt(linear.in_features)
        first = torch.empty(rank, linear.in_features).uniform_(-bound, bound, generator=noise)
        linear.lora_A.weight.data.copy_(first)
    return lora


def modules(network: nn.Module) -> Iterator[tuple[str, LoraLinear]]:
    for name, module in network.named_modules():
        if isinstance(module, LoraLinear):
            yield name, module


def read(network: nn.Module, folder: str) -> None:
    """Takes over an adapter as PEFT writes it, and the head if it was trained with one."""
    from safetensors import SafetensorError, safe_open

    path = os.path.join(folder, "adapter_model.safetensors")
    try:
        with safe_open(path, "pt") as file:
            known = set(file.keys())
            for name, p in network.named_parameters():
                if not p.requires_grad:
                    continue
                saved = peft_name(name.removeprefix("hf."))
                if saved not in known:
                    if not is_adapter(name):
                        continue
                    raise _unfit(path, f"has no '{saved}'")
                found = file.get_tensor(saved)
                if found.shape != p.shape:
                    raise _unfit(path, f"'{saved}' has the shape {list(found.shape)}, this adapter {list(p.shape)}")
                p.data.copy_(found)
    except (OSError, SafetensorError) as error:
        raise _unfit(path, f"cannot be read: {error}") from error


def _unfit(path: str, what: str) -> WorkerError:
    return WorkerError(
        "model/adapter", f"the adapter does not fit: {what}", "is it of this model, with this rank and modules?", path
    )


@contextmanager
def switched(network: nn.Module, on: bool) -> Iterator[None]:
    """Without its adapters the network is the base model."""
    for _, module in modules(network):
        module.active = on
    try:
        yield
    finally:
        for _, module in modules(network):
            module.active = True


def is_adapter(name: str) -> bool:
    return ".lora_" in name


def peft_name(name: str) -> str:
    return f"base_model.model.{name}"


def peft_config(lora: Lora, base: str) -> dict[str, Any]:
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": lora.rank,
        "lora_alpha": lora.alpha,
        "lora_dropout": 0.0,
        "target_modules": list(lora.targets),
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "use_rslora": False,
        "modules_to_save": None,
    }
