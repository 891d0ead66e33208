"""The states that a model can resume from. All that is said here is found before the model is touched."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..network import lora
from . import dcp
from .shards import Parts, bad, parts_of, read_all, saved_size

if TYPE_CHECKING:
    from ..train.train_model import TrainModel

Data = Callable[[], Tensor]


@dataclass(frozen=True)
class SavedParam:
    """Whole tensors in float32, read when they are asked for. `moments`: both, where there has been a step."""

    weight: Data
    moments: tuple[Data, Data] | None


@dataclass
class State:
    params: list[SavedParam]
    steps: int
    cpu_random: Tensor | None = None
    cuda_random: Tensor | None = None
    python_random: tuple[Any, ...] | None = None


def read(model: TrainModel, folder: str) -> State:
    adapter = os.path.join(folder, "lora_adapter")
    if model.lora is not None and os.path.isfile(os.path.join(adapter, "adapter_config.json")):
        lora.check_scales(model.lora, adapter, model.kind == "value")
    size = saved_size(folder)
    if size is not None:
        return _read_shards(model, folder, size)
    if os.path.isfile(os.path.join(folder, "native_state.json")):
        return _read_native(model, folder)
    if os.path.isfile(os.path.join(folder, dcp.INDEX)):
        return _read_dcp(model, dcp.Folder(folder))
    raise bad(folder, "there is no state here to resume from", "a checkpoint has files like model_world_size_1_rank_0.pt")


def adapter_name(name: str) -> str:
    """Of a trained parameter in a model that PEFT wraps."""
    stem, _, last = name.removeprefix("hf.").rpartition(".")
    if last.startswith("lora_embedding_"):
        return f"base_model.model.{stem}.{last}.default"
    kept = "" if lora.is_adapter(name) else "modules_to_save."
    return f"base_model.model.{stem}.{kept}default.{last}"


def _names(model: TrainModel, name: str) -> list[str]:
    plain = name.removeprefix("hf.")
    return [adapter_name(name), lora.peft_name(plain)] if model.lora is not None else [plain]


def _read_shards(model: TrainModel, folder: str, size: int) -> State:
    weights = read_all(folder, "model", size)
    optim = read_all(folder, "optim", size)
    path = os.path.join(folder, f"model_world_size_{size}_rank_*.pt")
    if not all(isinstance(part, dict) for part in weights):
        raise bad(path, "does not hold weights by name")
    params: list[SavedParam] = []
    steps = set()
    states = [_states(part, len(model.optimizer.params), folder) for part in optim]
    for i, (name, p) in enumerate(zip(model.optimizer.names, model.optimizer.params)):
        known = next((known for known in _names(model, name) if known in weights[0]), None)
        if known is None:
            hint = "was it saved with the same model, head and LoRA setting?"
            raise bad(path, f"there is no weight '{_names(model, name)[0]}'", hint)
        weight = _tensor([part.get(known) for part in weights], p.shape, path, known)
        moments = None
        if states[0]:
            own = [state.get(i, {}) for state in states]
            found = [_tensor([s.get(k) for s in own], p.shape, folder, f"{k} of {known}") for k in ("exp_avg", "exp_avg_sq")]
            moments = found[0].whole, found[1].whole
            steps |= {_step(s, folder) for s in own}
        params.append(SavedParam(weight.whole, moments))
    if len(steps) > 1:
        raise bad(folder, f"parameters have taken different numbers of steps: {sorted(steps)}")
    return _with_random(State(params, steps.pop() if steps else 0), model, folder, size)


def _tensor(saved: list[Any], shape: torch.Size, path: str, name: str) -> Parts:
    parts = parts_of(saved, path, name)
    if parts.shape != shape:
        raise bad(path, f"'{name}' has the shape {list(parts.shape)}, the model wants {list(shape)}")
    return parts


def _states(optim: Any, count: int, folder: str) -> dict[int, dict[str, Any]]:
    """By the number of the parameter."""
    try:
        groups, state = optim["param_groups"], optim["state"]
        numbers = [number for group in groups for number in group["params"]]
        if len(numbers) != count or (state and sorted(state) != sorted(numbers)):
            raise bad(folder, f"the optimizer's state covers {len(numbers)} parameters, the model trains {count}")
        return {i: dict(state[number]) for i, number in enumerate(numbers)} if state else {}
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise bad(folder, f"the optimizer's state is not one of AdamW: {error!r}") from error


def _step(state: dict[str, Any], folder: str) -> int:
    try:
        step = float(state["step"])
        if step == int(step) and 0 < step < 2**53:
            return int(step)
    except (TypeError, KeyError, ValueError, OverflowError, RuntimeError):
        pass
    raise bad(folder, f"the optimizer's state has no number of steps: {state.get('step')!r}")


def _with_random(state: State, model: TrainModel, folder: str, size: int) -> State:
    from .shards import file_name, read as read_file

    path = os.path.join(folder, file_name("extra_state", size, model.world.rank % size))
    if not os.path.isfile(path):
        return state
    extra = read_file(path)
    rng = extra.get("rng") if isinstance(extra, dict) else None
    if not isinstance(rng, dict):
        raise bad(path, "holds no random states")
    state.cpu_random, state.cuda_random = (_random_bytes(rng.get(kind), path) for kind in ("cpu", "cuda"))
    if state.cpu_random is not None and state.cpu_random.numel() != torch.get_rng_state().numel():
        raise bad(path, "its random state is not one of this version of PyTorch")
    state.python_random = _python_random(rng.get("random"), path)
    return state


def _random_bytes(saved: Any, path: str) -> Tensor | None:
    if saved is not None and not (isinstance(saved, Tensor) and saved.dtype == torch.uint8 and saved.ndim == 1):
        raise bad(path, "its random state is not made of bytes")
    return None if saved is None else saved.clone()


def _python_random(saved: Any, path: str) -> tuple[Any, ...] | None:
    import random

    if saved is None:
        return None
    try:
        random.Random().setstate(saved)
    except (TypeError, ValueError, OverflowError) as error:
        raise bad(path, f"its random state is not Python's: {error}") from error
    return saved


def _read_native(model: TrainModel, folder: str) -> State:
    """What the native engine saves: weights for any loader, and both moments by name."""
    from safetensors import SafetensorError, safe_open

    path = os.path.join(folder, "native_state.json")
    adapter = model.lora is not None
    try:
        with open(path, encoding="utf-8") as file:
            native = json.load(file)
        if native["version"] != 1 or native["lora"] != adapter or not isinstance(native["steps"], int):
            raise bad(path, "is not from a model like this one", "was it saved with the same LoRA setting?")
        inside = ("lora_adapter", "adapter_model.safetensors") if adapter else ("huggingface", "model.safetensors")
        weights = safe_open(os.path.join(folder, *inside), "pt")
        moments = safe_open(os.path.join(folder, "optimizer.safetensors"), "pt")
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise bad(folder, f"cannot be read: {type(error).__name__}: {error}") from error

    def data(file: Any, name: str, shape: torch.Size) -> Data:
        try:
            found = file.get_slice(name).get_shape()
        except SafetensorError as error:
            raise bad(folder, f"there is no '{name}'", "was it saved with the same model and head?") from error
        if list(found) != list(shape):
            raise bad(folder, f"'{name}' has the shape {found}, the model wants {list(shape)}")
        return lambda: file.get_tensor(name).float()

    params = []
    for name, p in zip(model.optimizer.names, model.optimizer.params):
        plain = name.removeprefix("hf.")
        m, v = (data(moments, f"{plain}.{slot}", p.shape) for slot in "mv")
        weight = data(weights, lora.peft_name(plain) if adapter else plain, p.shape)
        params.append(SavedParam(weight, (m, v) if native["steps"] > 0 else None))
    return State(params, native["steps"])


def _read_dcp(model: TrainModel, folder: dcp.Folder) -> State:
    """The model's state under `model`, the optimizer's by the names of parameters under `optim`."""
    params = []
    steps = set()
    for name, p in zip(model.optimizer.names, model.optimizer.params):
        known = next((n for n in _names(model, name) if f"model.{n}" in folder.tensors), _names(model, name)[0])
        state = f"optim.state.{known}"
        moments = (folder.data(f"{state}.exp_avg", p.shape), folder.data(f"{state}.exp_avg_sq", p.shape))
        steps.add(_step({"step": folder.number(f"{state}.step")}, folder.path))
        params.append(SavedParam(folder.data(f"model.{known}", p.shape), moments))
    if len(steps) != 1:
        raise bad(folder.path, f"parameters have taken different numbers of steps: {sorted(steps)}")
    return State(params, steps.pop())
