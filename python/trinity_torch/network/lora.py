"""Low-rank adapters inside the modules they belong to, named as PEFT names them: fresh ones, and those of a folder."""

from __future__ import annotations

import difflib
import math
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator

import torch
from torch import Tensor, nn

from ..errors import WorkerError
from . import adapter_config
from .lora_modules import KINDS, Adapted, LoraEmbedding, LoraLinear, adapt

if TYPE_CHECKING:
    from .transformer import Network

WEIGHTS = "adapter_model.safetensors"


@dataclass(frozen=True)
class Lora:
    # rank and scale of every module that has an adapter
    modules: dict[str, tuple[int, float]]
    # what adapter_config.json says of it, in PEFT's words
    peft: dict[str, Any]
    # where a saved adapter's own settings count instead of those that were asked for
    note: str | None = None


@dataclass(frozen=True)
class Place:
    """A module that may have an adapter. `layered`: a linear one of the layers; others are adapted where they are named."""

    module: nn.Module
    layered: bool = True


def places(network: Network) -> dict[str, Place]:
    """By the full names that PEFT gives them."""
    inside = {id(m) for layer in network.layers for m in layer.modules() if type(m) is nn.Linear}
    ends = [network.hf.get_input_embeddings()] + ([network.head_module] if network.kind == "lm" else [])
    outside = {id(m) for m in ends if type(m) in KINDS}
    named = [(name.removeprefix("hf."), m) for name, m in network.named_modules()]
    return {name: Place(m, id(m) in inside) for name, m in named if id(m) in inside or id(m) in outside}


def add(network: Network, spec: dict[str, Any], seed: int) -> Lora:
    """Freezes everything and puts adapters into modules: fresh ones, or those of a folder."""
    found = places(network)
    lora = _saved(network, found, spec) if spec.get("path") else _fresh(found, spec)
    for name in lora.modules:
        _refuse_tied(network, name, found[name])
    network.requires_grad_(False)
    noise = torch.Generator().manual_seed(seed)
    for name, place in found.items():
        if name in lora.modules:
            adapt(place.module, *lora.modules[name], noise)
    return lora


def _refuse_tied(network: Network, name: str, place: Place) -> None:
    """An adapter of one end of a tied weight would part the two."""
    if place.layered or network.kind != "lm":
        return
    if network.hf.get_input_embeddings().weight is network.head_module.weight:
        raise WorkerError(
            "engine/lora",
            f"this model ties embed_tokens and lm_head, so '{_short(name)}' can have no adapter",
            "adapt modules of the layers, or use a model with tie_word_embeddings: false",
            "target_modules",
        )


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _fresh(found: dict[str, Place], spec: dict[str, Any]) -> Lora:
    layered = list(dict.fromkeys(_short(name) for name, place in found.items() if place.layered))
    known = layered + [_short(name) for name, place in found.items() if not place.layered]
    chosen = layered if spec["targetModules"] == "all-linear" else list(spec["targetModules"])
    excluded = list(spec.get("excludeModules") or [])
    for name in [*chosen, *excluded]:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = (f"did you mean '{near[0]}'? " if near else "") + f"known: {', '.join(known)}, all-linear"
            raise WorkerError("engine/lora", f"there is no module '{name}' for an adapter", hint, "target_modules")
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
        "lora_alpha": alpha,
        "use_rslora": False,
        "target_modules": targets,
        "rank_pattern": {},
        "alpha_pattern": {},
    }
    return Lora({name: (rank, alpha / rank) for name in found if _short(name) in targets}, peft)


def _saved(network: Network, found: dict[str, Place], spec: dict[str, Any]) -> Lora:
    """The tensors say which modules are adapted; every one of them must belong to such a module."""
    folder, head = spec["path"], network.kind == "value"
    config = adapter_config.read(folder, head)
    path = os.path.join(folder, WEIGHTS)
    shapes = _shapes(path)
    if head:
        for name in ("score.weight", "score.bias"):
            shapes.pop(peft_name(name), None)
    modules = {}
    for name, place in found.items():
        if not place.layered:
            _take_base(path, name, place.module, shapes)
        both = [peft_name(f"{name}.{part}") for part in KINDS[type(place.module)].names]
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
        raise _unfit(path, f"'{name}' belongs to no module that can have an adapter here")
    _check_targets(path, config, list(modules))
    return Lora(modules, config.peft(), _note(spec, config))


def _take_base(path: str, name: str, module: nn.Module, shapes: dict[str, list[int]]) -> None:
    """PEFT saves embeddings and heads that are adapted, beside their adapters: they must be those of the model."""
    from safetensors import safe_open

    own = module.weight
    assert isinstance(own, Tensor)
    for key in (peft_name(f"{name}.base_layer.weight"), peft_name(f"{name}.weight")):
        if shapes.pop(key, None) is None:
            continue
        with safe_open(path, "pt") as file:
            theirs = file.get_tensor(key).float()
        # rounded to 16 bits in one of the files they are still the same
        if theirs.shape != own.shape or bool(((theirs - own).abs() > own.abs() / 128).any()):
            raise _unfit(path, f"'{key}' is not the weight of this model: the embedding was resized or trained")


def _check_targets(path: str, config: adapter_config.AdapterConfig, modules: list[str]) -> None:
    if not modules:
        raise _unfit(path, "holds no adapter of a module")
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


def modules(network: nn.Module) -> Iterator[tuple[str, Adapted]]:
    for name, module in network.named_modules():
        if isinstance(module, LoraLinear | LoraEmbedding):
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
        "model/adapter", f"the adapter does not fit: {what}", "is it an adapter of this model?", path
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
