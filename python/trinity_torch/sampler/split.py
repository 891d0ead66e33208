"""
One model over several ranks (tensor parallel). Each has some of the heads and some of the inner width of every layer, and the
sum of what they compute is what one alone would have. Embedding and head are whole everywhere; of the logits each computes
some columns. All ranks get the very same logits, so that all draw the same tokens.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM

from ..checkpoint.safetensors_file import Entry
from ..errors import WorkerError
from ..network import attention
from ..network.transformer import Network
from ..world import World

# what a configuration counts per layer, and each rank has a part of
COUNTS = ("num_attention_heads", "num_key_value_heads", "intermediate_size")
# one weight for several products: its parts are not the rows that lie side by side
FUSED = ("qkv_proj", "gate_up_proj")


class Split:
    """`auxiliary`: which of the auxiliary models it is, for errors; None: that of the rollouts."""

    def __init__(self, world: World, auxiliary: int | None = None):
        model = "rollout_model" if auxiliary is None else f"auxiliary_models[{auxiliary}]"
        self.key = f"explorer.{model}.tensor_parallel_size"
        self.world, self.rank, self.size = world, world.rank, world.size
        # of every parameter as it is when it is whole
        self.shapes: dict[str, torch.Size] = {}

    # what ranks compute together

    def sum(self, x: Tensor) -> Tensor:
        """In place."""
        dist.all_reduce(x)
        return x

    def total(self, parts: Tensor) -> Tensor:
        """Of a product in parts (see product.py), over all ranks."""
        return self.sum(parts if parts.shape[0] == 1 else parts.sum(0, keepdim=True))

    def rows(self, weight: Tensor) -> Tensor:
        step = -(-weight.shape[0] // self.size)
        return weight[self.rank * step : (self.rank + 1) * step]

    def join(self, columns: Tensor, width: int) -> Tensor:
        """From the columns of every rank to all of them."""
        step = -(-width // self.size)
        own = nn.functional.pad(columns, (0, step - columns.shape[1])).contiguous()
        found = [torch.empty_like(own) for _ in range(self.size)]
        dist.all_gather(found, own)
        return torch.cat(found, 1)[:, :width].contiguous()

    # weights

    def spread(self, weight: Tensor) -> Tensor:
        """From the first rank to all."""
        dist.broadcast(weight, 0)
        return weight

    def part(self, whole: Any, shape: torch.Size) -> Tensor:
        """Of a weight, or of one that lies in a file, what this rank has: a piece along the axis that is shorter here."""
        given = torch.Size(whole.get_shape() if hasattr(whole, "get_shape") else whole.shape)
        for axis, (all_, own) in enumerate(zip(given, shape)):
            if all_ != own:
                first = self.rank * own
                index = [slice(None)] * axis + [slice(first, first + own)]
                return whole[tuple(index)]
        return whole[:]

    def entry(self, name: str, p: Tensor) -> Entry:
        """The whole of it for a file; all ranks take part."""
        shape = self.shapes[name]
        axis = next((i for i, (all_, own) in enumerate(zip(shape, p.shape)) if all_ != own), None)

        def data() -> Tensor:
            if axis is None:
                return p
            found = [torch.empty_like(p) for _ in range(self.size)]
            dist.all_gather(found, p.detach().contiguous())
            return torch.cat(found, axis)

        return Entry(name, shape, p.dtype, data)

    def read(self, folder: str, places: dict[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
        """From the files of a folder what this rank has of each parameter."""
        from safetensors import safe_open

        where = self._files(folder)
        by_file: dict[str, list[str]] = {}
        for name in places:
            if name not in where:
                raise self._unreadable(folder, f"the weight '{name}' is missing")
            by_file.setdefault(where[name], []).append(name)
        for file, names in by_file.items():
            with safe_open(os.path.join(folder, file), "pt") as held:
                for name in names:
                    whole = held.get_slice(name)
                    self._check(folder, name, torch.Size(whole.get_shape()), places[name].shape)
                    part = self.part(whole, places[name].shape)
                    if not bool(torch.isfinite(part).all()):
                        raise WorkerError("model/not-finite", f"the weight '{name}' holds NaN or infinity", path=folder)
                    yield name, part

    def _check(self, folder: str, name: str, whole: torch.Size, part: torch.Size) -> None:
        cut = [all_ for all_, own in zip(whole, part) if all_ != own]
        fits = len(whole) == len(part) and all(a in (b, b * self.size) for a, b in zip(whole, part)) and len(cut) <= 1
        if not fits or self.shapes.setdefault(name, whole) != whole:
            raise WorkerError(
                "engine/other-model",
                f"the weight '{name}' is {list(whole)}, which is not {self.size} times {list(part)}",
                "the weights are from another kind of model",
                folder,
            )
        if cut and len(whole) == 1 and not name.endswith(".bias"):
            raise self._unsupported(f"a norm over all heads, '{name}'")

    def load(self, path: str, device: torch.device, dtype: torch.dtype) -> Network:
        """This rank's part of a model, read as such: no rank ever holds the whole."""
        if not os.path.isfile(os.path.join(path, "config.json")):
            raise WorkerError("model/missing", f"there is no model in {path}", "give a folder with config.json", path)
        config = AutoConfig.from_pretrained(path)
        self._cut(config)
        with _without_memory():
            hf = AutoModelForCausalLM.from_config(config, attn_implementation=attention.NAME, dtype=torch.float32)
        self._check_modules(hf)
        places = dict(hf.named_parameters())
        owners: dict[int, list[tuple[nn.Module, str]]] = {}
        for module in hf.modules():
            for own, p in module._parameters.items():
                if p is not None:
                    owners.setdefault(id(p), []).append((module, own))
        for name, part in self.read(path, places):
            put = nn.Parameter(part.to(device).to(dtype), requires_grad=False)
            for module, own in owners[id(places[name])]:
                module._parameters[own] = put
        for name, module in hf.named_modules():
            weight = self.shapes.get(f"{name}.weight")
            if isinstance(module, nn.Linear) and weight is not None and weight[1] != module.weight.shape[1]:
                module.register_forward_hook(lambda _module, _given, out: self.sum(out))
        hf.to(device).train()
        return Network(hf, "lm")

    def _cut(self, config: Any) -> None:
        """The configuration of a part."""
        config.head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        for name in COUNTS:
            count = int(getattr(config, name))
            if count % self.size != 0:
                raise WorkerError(
                    "engine/tensor-parallel",
                    f"{name} of this model is {count}, which {self.size} GPUs cannot share evenly",
                    f"set {self.key} to a number that divides {count}",
                    self.key,
                )
            setattr(config, name, count // self.size)

    def _check_modules(self, hf: Any) -> None:
        for name, module in hf.named_modules():
            last = name.rpartition(".")[2]
            if last in FUSED or (last == "experts" and any(True for _ in module.parameters())):
                raise self._unsupported(f"'{name}'")

    def _files(self, folder: str) -> dict[str, str]:
        """The file of each weight."""
        from safetensors import safe_open

        index = os.path.join(folder, "model.safetensors.index.json")
        if os.path.isfile(index):
            with open(index, encoding="utf-8") as file:
                return dict(json.load(file)["weight_map"])
        single = os.path.join(folder, "model.safetensors")
        if not os.path.isfile(single):
            raise self._unreadable(folder, "there is no model.safetensors")
        with safe_open(single, "pt") as held:
            return {name: "model.safetensors" for name in held.keys()}

    def _unsupported(self, what: str) -> WorkerError:
        return WorkerError(
            "engine/unsupported",
            f"the torch sampler cannot split this model over GPUs: it has {what}",
            f"set {self.key} to 1, or use engine_type: vllm",
            self.key,
        )

    def _unreadable(self, folder: str, what: str) -> WorkerError:
        return WorkerError(
            "model/unreadable",
            f"a model over several GPUs is read from safetensors files of Transformers: {what}",
            f"save it as such, or set {self.key} to 1",
            folder,
        )


@contextmanager
def _without_memory() -> Iterator[None]:
    """Parameters of modules made inside have a shape and no numbers; buffers have theirs."""
    plain = nn.Module.register_parameter

    def register(module: nn.Module, name: str, param: nn.Parameter | None) -> None:
        plain(module, name, param)
        if param is not None and param.device.type != "meta":
            module._parameters[name] = nn.Parameter(param.data.to("meta"), requires_grad=False)

    nn.Module.register_parameter = register  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        nn.Module.register_parameter = plain  # type: ignore[method-assign]
