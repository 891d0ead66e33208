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
from . import adapter_config

WEIGHTS = "adapter_model.safetensors"
A, B = "lora_A.weight", "lora_B.weight"


@dataclass(frozen=True)
class Lora:
    # rank and scale of every module that has an adapter
    modules: dict[str, tuple[int, float]]
    # what adapter_config.json says of it, in PEFT's words
    peft: dict[str, Any]
    # where a saved adapter's own settings count instead of those that were asked for
    note: str | None = None


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


def add(network: nn.Module, layers: list[nn.Module], spec: dict[str, Any], seed: int, head: bool = False) -> Lora:
    """Freezes everything and puts adapters into the linear modules of the layers: fresh ones, or those of a folder."""
    inside = {id(m) for layer in layers for m in layer.modules() if type(m) is nn.Linear}
    found = {name.removeprefix("hf."): m for name, m in network.named_modules() if id(m) in inside}
    lora = _saved(found, spec, head) if spec.get("path") else _fresh(found, spec)
    network.requires_grad_(False)
    noise = torch.Generator().manual_seed(seed)
    for name, linear in found.items():
        if name not in lora.modules:
            continue
        rank, scale = lora.modules[name]
        linear.__class__ = LoraLinear
        assert isinstance(linear, LoraLinear)
        linear.lora_A = Factor(rank, linear.in_features, linear.weight)
        linear.lora_B = Factor(linear.out_features, rank, linear.weight)
        linear.scale, linear.active = scale, True
        # a new adapter changes nothing: B is zero
        bound = 1 / math.sqrt(linear.in_features)
        first = torch.empty(rank, linear.in_features).uniform_(-bound, bound, generator=noise)
        linear.lora_A.weight.data.copy_(first)
    return lora


def _fresh(found: dict[str, nn.Module], spec: dict[str, Any]) -> Lora:
    known = list(dict.fromkeys(name.rsplit(".", 1)[-1] for name in found))
    chosen = known if spec["targetModules"] == "all-linear" else list(spec["targetModules"])
    excluded = list(spec.get("excludeModules") or [])
    for name in [*chosen, *excluded]:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = (f"did you mean '{near[0]}'? " if near else "") + f"known: {', '.join(known)}, all-linear"
            raise WorkerError("engine/lora", f"there is no linear module '{name}'", hint, "target_modules")
    targets = [name for name in known if name in chosen and name not in excluded]
    if not targets:
        raise WorkerError("engine/lora", "no module is left for the adapter", path="target_modules")
    rank, alpha = spec["rank"], spec["alpha"]
    if not isinstance(rank, int) or rank < 1:
        raise WorkerError("engine/lora", f"rank is {rank}", "use a whole number, 1 or more", "rank")
    if not alpha > 0:
        raise WorkerError("engine/lora", f"alpha is {alpha}", path="alpha")
    peft = {
        "r": rank,
        "lora_alpha": float(alpha),
        "use_rslora": False,
        "target_modules": targets,
        "rank_pattern": {},
        "alpha_pattern": {},
    }
    return Lora({name: (rank, alpha / rank) for name in found if name.rsplit(".", 1)[-1] in targets}, peft)


def _saved(found: dict[str, nn.Module], spec: dict[str, Any], head: bool) -> Lora:
    """The tensors say which modules are adapted; every one of them must belong to such a module."""
    folder = spec["path"]
    config = adapter_config.read(folder, head)
    path = os.path.join(folder, WEIGHTS)
    shapes = _shapes(path)
    if head:
        for name in ("score.weight", "score.bias"):
            shapes.pop(peft_name(name), None)
    modules = {}
    for name in found:
        both = [peft_name(f"{name}.{part}") for part in (A, B)]
        here = [key for key in both if key in shapes]
        if len(here) == 1:
            raise _unfit(path, f"has '{here[0]}' without its other half")
        if here:
            rank, _ = modules[name] = config.of(name)
            if shapes[both[0]][0] != rank:
                raise _unfit(path, f"'{both[0]}' has rank {shapes[both[0]][0]}, adapter_config.json says {rank}")
            for key in both:
                del shapes[key]
    for name in shapes:
        raise _unfit(path, f"'{name}' belongs to no linear module of the layers of this model")
    _check_targets(path, config, list(modules))
    return Lora(modules, config.peft(), _note(spec, config))


def _check_targets(path: str, config: adapter_config.AdapterConfig, modules: list[str]) -> None:
    if not modules:
        raise _unfit(path, "holds no adapter of a linear module")
    targets = config.places.get("target_modules")
    if not isinstance(targets, list):
        return
    fits = lambda module, target: module == target or module.endswith(f".{target}")  # noqa: E731
    for target in targets:
        if not any(fits(module, target) for module in modules):
            raise _unfit(path, f"target_modules names '{target}', which has no tensors")
    for module in modules:
        if not any(fits(module, target) for target in targets):
            raise _unfit(path, f"'{module}' is not among target_modules")


def _note(spec: dict[str, Any], config: adapter_config.AdapterConfig) -> str | None:
    parts = []
    if spec["rank"] != config.rank:
        parts.append(f"rank {config.rank} instead of {spec['rank']}")
    if spec["alpha"] != config.alpha:
        parts.append(f"alpha {config.alpha:g} instead of {spec['alpha']:g}")
    if config.rslora:
        parts.append("alpha / √rank as its scale (rsLoRA)")
    asked, own = spec["targetModules"], config.places.get("target_modules")
    if asked != "all-linear" and isinstance(own, list) and sorted(asked) != sorted(own):
        parts.append(f"the modules {', '.join(own)}")
    return f"the adapter in {spec['path']} has {', '.join(parts)}: its own settings are used" if parts else None


def _shapes(path: str) -> dict[str, list[int]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            return {name: file.get_slice(name).get_shape() for name in file.keys()}
    except (OSError, SafetensorError) as error:
        raise _unfit(path, f"cannot be read: {error}") from error


def modules(network: nn.Module) -> Iterator[tuple[str, LoraLinear]]:
    for name, module in network.named_modules():
        if isinstance(module, LoraLinear):
            yield name, module


def read(network: nn.Module, folder: str) -> None:
    """Takes over an adapter as PEFT writes it, and the head if it was trained with one."""
    from safetensors import SafetensorError, safe_open

    path = os.path.join(folder, WEIGHTS)
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
        "model/adapter", f"the adapter does not fit: {what}", "is it from this model, with linear modules of its layers only?", path
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


def peft_config(lora: Lora, base: str, head: bool) -> dict[str, Any]:
    """A head that was trained beside the adapter is a module that PEFT saves whole."""
    return {
        "peft_type": "LORA",
        "task_type": "TOKEN_CLS" if head else "CAUSAL_LM",
        "base_model_name_or_path": base,
        **lora.peft,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "modules_to_save": ["score"] if head else None,
    }


def check_scales(lora: Lora, folder: str, head: bool) -> None:
    """The same numbers under another scale are another model."""
    saved = adapter_config.read(folder, head)
    for module, own in lora.modules.items():
        was = saved.of(module)
        if was[0] != own[0] or not math.isclose(was[1], own[1], rel_tol=1e-6):
            raise WorkerError(
                "engine/bad-checkpoint",
                f"the adapter was saved with rank {was[0]} and scale {was[1]:g} for {module}, this model has {own[0]} and {own[1]:g}",
                "set lora_rank and lora_alpha, or the path of the adapter, as they were",
                saved.path,
            )
