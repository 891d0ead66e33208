"""What a run resumes from, in veRL's layout, and folders of weights for any loader."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from ..errors import WorkerError, describe
from ..network import lora
from ..network.lora_modules import Adapted
from ..world import World
from . import experts, resume
from .block_hash import Hashes, hashed
from .safetensors_file import Entry, write
from .shards import file_name

if TYPE_CHECKING:
    from ..train.score_model import ScoreModel
    from ..train.train_model import TrainModel

T = TypeVar("T")

COPIED = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja",
    "vocab.json", "merges.txt", "tokenizer.model", "generation_config.json",
)


def save(model: TrainModel, folder: str) -> Hashes:
    """Every rank writes its own part, the first one all that belongs to none. Gives the hashes of all large files."""
    world, optimizer = model.world, model.optimizer
    hashes: Hashes = {}

    def own_part() -> None:
        os.makedirs(folder, exist_ok=True)
        for kind, state in (("model", _weights(model)), ("optim", _moments(model)), ("extra_state", _extra(model))):
            _write_torch(os.path.join(folder, file_name(kind, world.size, world.rank)), state, hashes)
        if world.first:
            _write_json(os.path.join(folder, "fsdp_config.json"), {"FSDP_version": 2, "world_size": world.size})

    together(world, own_part)
    _write_weights(model, os.path.join(folder, "huggingface"), hashes, model.spec.get("saveDtype", "float32"))
    if model.lora is None:
        return _of_all_ranks(world, hashes, folder)
    adapter = os.path.join(folder, "lora_adapter")
    config = lora.peft_config(model.lora, model.spec["path"], model.kind == "value")
    named = zip(optimizer.names, optimizer.params, optimizer.masters)
    entries = [_entry(lora.peft_name(hf_name(name)), p, master, world) for name, p, master in named]
    _write_folder(world, adapter, "adapter_model.safetensors", entries, {"adapter_config.json": config}, hashes)
    return _of_all_ranks(world, hashes, folder)


def save_weights(model: ScoreModel, folder: str) -> Hashes:
    hashes: Hashes = {}
    _write_weights(model, folder, hashes)
    return _of_all_ranks(model.world, hashes, folder)


def _of_all_ranks(world: World, own: Hashes, folder: str) -> Hashes:
    """By paths relative to the folder."""
    relative = {os.path.relpath(path, folder): found for path, found in own.items()}
    return {path: found for part in world.gather(relative) for path, found in part.items()}


def _write_weights(model: ScoreModel, folder: str, hashes: Hashes, dtype: str = "float32") -> None:
    """The master weights as `dtype`, or those of a model that is not trained, an adapter merged in, as Transformers names them."""
    world, network = model.world, model.network
    optimizer = getattr(model, "optimizer", None)
    masters = dict(zip(optimizer.names, optimizer.masters)) if optimizer is not None else {}
    adapted = {f"{name}.weight": module for name, module in lora.modules(network)} if model.lora else {}
    # a sampler may have a part of each weight
    split = getattr(model, "split", None)
    entries = []
    for name, p in network.named_parameters():
        if lora.is_adapter(name):
            continue
        entry = split.entry(hf_name(name), p) if split else _entry(hf_name(name), p, masters.get(name), world)
        if (module := adapted.get(name)) is not None:
            entry = _merged(entry, module, [masters.get(name.removesuffix("weight") + part) for part in module.names], world)
        entries.extend(experts.entries(network.config.model_type, entry))
    kept = network.hf.state_dict().keys()
    for name, buffer in network.hf.named_buffers():
        if name in kept:
            entries.append(_entry(name, buffer, None, world))
    with model.present():
        files = {"config.json": _config(model, dtype)}
        _write_folder(world, folder, "model.safetensors", entries, files, hashes, model.spec["path"], getattr(torch, dtype))
    if world.first and model.spec.get("chatTemplate") is not None:
        # a file of its own counts more than the entry in tokenizer_config.json
        with open(os.path.join(folder, "chat_template.jinja"), "w", encoding="utf-8") as file:
            file.write(model.spec["chatTemplate"])


def load(model: TrainModel, folder: str) -> None:
    """Everything is looked at, on every rank, before anything is changed on one."""
    state = together(model.world, lambda: resume.read(model, folder))
    optimizer, world = model.optimizer, model.world
    with model.present(changed=True), model.ranks.whole(model.network):
        for i, saved in enumerate(state.params):
            optimizer.masters[i].copy_(part_of(saved.weight(), optimizer.params[i], world))
        optimizer.make_moments()
        for i, (saved, p) in enumerate(zip(state.params, optimizer.params)):
            for kept, k in ((optimizer.m[i], 0), (optimizer.v[i], 1)):
                kept.zero_() if saved.moments is None else kept.copy_(part_of(saved.moments[k](), p, world))
        optimizer.steps = state.steps
        optimizer.publish()
    model.discard_grad()
    if state.cpu_random is not None:
        torch.set_rng_state(state.cpu_random)
    if state.cuda_random is not None and world.device.type == "cuda":
        torch.cuda.set_rng_state(state.cuda_random, world.device)
    if state.python_random is not None:
        random.setstate(state.python_random)


def together(world: World, work: Callable[[], T]) -> T:
    """The work of all ranks: either all succeed or all raise the same error."""
    if world.control is None:
        return work()
    result, error = None, None
    try:
        result = work()
    except Exception as problem:
        error = describe(problem)
    said = world.agree(error)
    if said is not None:
        raise WorkerError(said["code"], said["message"], said.get("hint"), said.get("path"))
    return cast(T, result)


def hf_name(name: str) -> str:
    """Of a parameter of our network, as Transformers has it."""
    return name.removeprefix("hf.")


def part_of(whole: Tensor, p: Tensor, world: World) -> Tensor:
    """What this rank keeps of it."""
    if not isinstance(p, DTensor):
        return whole
    chunks = whole.chunk(world.size)
    return chunks[world.rank] if world.rank < len(chunks) else whole[:0]


def _sharded(part: Tensor, p: Tensor) -> Tensor:
    """This rank's part of something that is cut as the parameter is."""
    if not isinstance(p, DTensor):
        return part
    return DTensor.from_local(part, p.device_mesh, p.placements, run_check=False, shape=p.shape, stride=p.stride())


def _whole(p: Tensor, master: Tensor | None, world: World) -> Tensor:
    """All ranks take part. `master`: this rank's part of it, where the parameter is trained."""
    if not isinstance(p, DTensor):
        return p if master is None else master
    part = (p.to_local() if master is None else master).to(world.device)
    return cast(DTensor, _sharded(part, p)).full_tensor()


def _entry(name: str, p: Tensor, master: Tensor | None, world: World) -> Entry:
    return Entry(name, p.shape, p.dtype, lambda: _whole(p, master, world))


def _merged(base: Entry, module: Adapted, masters: list[Tensor | None], world: World) -> Entry:
    def data() -> Tensor:
        a, b = (_whole(factor, master, world).to(world.device) for factor, master in zip(module.factors(), masters))
        return module.merged(base.data().to(world.device), a, b)

    return Entry(base.name, base.shape, base.dtype, data)


def _weights(model: TrainModel) -> dict[str, Tensor]:
    """By the names of Transformers; of an adapter, by those of PEFT. A tied head is written under both its names."""
    optimizer = model.optimizer
    trained = {id(p): _sharded(master, p) for p, master in zip(optimizer.params, optimizer.masters)}
    if model.lora is not None:
        return {resume.adapter_name(name): trained[id(p)] for name, p in zip(optimizer.names, optimizer.params)}
    named = model.network.named_parameters(remove_duplicate=False)
    return {hf_name(name): trained[id(p)] for name, p in named if id(p) in trained}


def _moments(model: TrainModel) -> dict[str, Any]:
    optimizer = model.optimizer
    steps = torch.tensor(float(optimizer.steps))
    state = {
        i: {"step": steps.clone(), "exp_avg": _sharded(m, p), "exp_avg_sq": _sharded(v, p)}
        for i, (p, m, v) in enumerate(zip(optimizer.params, optimizer.m, optimizer.v))
    }
    group = {
        **optimizer.settings, "amsgrad": False, "maximize": False, "foreach": None, "capturable": False,
        "differentiable": False, "fused": None, "decoupled_weight_decay": True,
        "params": list(range(len(optimizer.params))),
    }
    return {"state": state, "param_groups": [group]}


def _extra(model: TrainModel) -> dict[str, Any]:
    """Trinity gives the learning rate of every step, so a scheduler's place is the number of steps."""
    steps, lr = model.optimizer.steps, model.optimizer.settings["lr"]
    rng: dict[str, Any] = {"cpu": torch.get_rng_state(), "random": random.getstate()}
    if model.world.device.type == "cuda":
        rng["cuda"] = torch.cuda.get_rng_state(model.world.device)
    scheduler = {"last_epoch": steps, "_step_count": steps + 1, "base_lrs": [lr], "_last_lr": [lr], "lr_lambdas": [None]}
    return {"lr_scheduler": scheduler, "rng": rng}


def _config(model: ScoreModel, dtype: str) -> dict[str, Any]:
    with open(os.path.join(model.spec["path"], "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    config["architectures"] = [type(model.network.hf).__name__]
    if model.kind != "lm":
        config.update(num_labels=1, id2label={"0": "LABEL_0"}, label2id={"LABEL_0": 0})
    for key in ("dtype", "torch_dtype"):
        if key in config:
            config[key] = dtype
    return config


def _write_folder(
    world: World,
    folder: str,
    name: str,
    entries: list[Entry],
    files: dict[str, Any],
    hashes: Hashes,
    model: str | None = None,
    dtype: torch.dtype = torch.float32,
) -> None:
    def prepare() -> None:
        if not world.first:
            return
        os.makedirs(folder, exist_ok=True)
        for file, content in files.items():
            _write_json(os.path.join(folder, file), content)
        for file in COPIED:
            if model is not None and os.path.isfile(source := os.path.join(model, file)):
                shutil.copyfile(source, os.path.join(folder, file))

    together(world, prepare)
    together(world, lambda: write(os.path.join(folder, name) if world.first else None, entries, hashes, dtype))


def _write_torch(path: str, state: Any, hashes: Hashes) -> None:
    with hashed(path, hashes) as file:
        torch.save(state, cast(Any, file))


def _write_json(path: str, content: Any) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
