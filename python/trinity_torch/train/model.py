"""A network on the device of a rank: what all models have in common."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from .. import clock
from ..errors import Cancelled
from ..network import attention, lora, rotation
from ..network.rows import ALIGN, SIZES, Pack, Rows, device_pack
from ..network.transformer import Network, load
from ..world import World
from . import jobs
from .offload import Guests, held
from .parallel import Ranks

IsCancelled = Callable[[], bool]

# Parameters from which on compiled layers are worth the half minute that compiling them takes.
COMPILED_FROM = 10**8


class Model:
    """A network on the device of this rank."""

    def __init__(
        self,
        spec: dict[str, Any],
        options: dict[str, Any],
        world: World,
        trainable: bool,
        network: Network | None = None,
        lender: Model | None = None,
    ):
        """
        `network`: in float32; read from spec["path"] where it is not given. `lender`: a model whose network this one uses
        as it is, and leaves alone.
        """
        self.spec, self.options, self.world = spec, options, world
        self.kind = spec.get("head") or "lm"
        self.dtype = torch.bfloat16 if options.get("dtype", "bfloat16") == "bfloat16" else torch.float32
        self.ranks = Ranks.of(world, options)
        self.lora: lora.Lora | None = None
        self.guests: Guests | None = None
        self.network: Network
        if lender is not None:
            self.network = lender.network
        else:
            self.network = network or load(spec["path"], self.kind, int(spec.get("seed") or 0), self.widens())
            with clock.part("to the device"):
                self.move_in(trainable)
        config = self.network.config
        count = lambda given: sum(p.numel() for p in given)  # noqa: E731
        named = list(self.network.named_parameters())
        longest = lender.info["maxModelLen"] if lender else rotation.usual_length(config)
        self.info: dict[str, Any] = {
            "architecture": (config.architectures or [type(self.network.hf).__name__])[0],
            "parameters": count(p for n, p in named if not lora.is_adapter(n)),
            "trainableParameters": count(p for _, p in named if p.requires_grad and lender is None),
            "vocabSize": config.vocab_size,
            "maxModelLen": int(spec.get("maxModelLen") or longest),
        }
        rotation.settle(self.network.hf, self.info["maxModelLen"])
        if self.lora is not None and self.lora.note:
            self.info["notes"] = [self.lora.note]

    def widens(self) -> bool:
        """Weights are made float32 where they are computed with: half as much is read, and goes to the device."""
        return self.world.device.type == "cuda" and not self.ranks.several and not self.spec.get("lora")

    def move_in(self, trainable: bool) -> None:
        """The network gets its adapter, and goes to the device where it lies there whole."""
        spec, world = self.spec, self.world
        if spec.get("lora") and trainable:
            self.lora = lora.add(self.network, spec["lora"], int(spec.get("seed") or 0))
            if self.kind == "value":
                self.network.head_module.requires_grad_(True)
            if spec["lora"].get("path"):
                lora.read(self.network, spec["lora"]["path"])
        if not trainable:
            self.network.requires_grad_(False)
        self.ranks.check(self.network.config)
        if not self.ranks.several:
            for p in self.network.parameters():
                if not p.requires_grad:
                    # one by one: in float32 all of them may be more than the device has
                    p.data = p.data.to(world.device).to(self.dtype)
            self.network.to(world.device)
            for p in self.network.parameters():
                if p.requires_grad:
                    p.data = p.data.float()

    def settle(self) -> None:
        """After masters are taken: weights in the type they are computed in, layers compiled, ranks have their shards."""
        for p in self.network.parameters():
            if not (self.ranks.several and p.requires_grad):
                p.data = p.data.to(self.dtype)
        layers = self.network.layers
        if self.spec.get("gradientCheckpointing"):
            self.network.hf.gradient_checkpointing_enable({"use_reentrant": False, "preserve_rng_state": False})
        attention.choose(self.network.hf, layers[0], self.world.device, self.dtype, bool(self.options.get("record")))
        large = self.world.device.type == "cuda" and self.info["parameters"] >= COMPILED_FROM
        if self.options.get("compile", large):
            for layer in layers:
                layer.compile(dynamic=True)
        offload = bool(self.options.get("paramOffload"))
        if self.ranks.several:
            self.ranks.shard(self.network, layers, self.dtype, offload)
        elif offload:
            self.guests = Guests(list(self.network.parameters()), self.world.device)

    def present(self, changed: bool = False) -> AbstractContextManager[None]:
        """While weights are needed on the device."""
        return self.guests.present(changed) if self.guests else nullcontext()

    def memory(self) -> dict[str, int]:
        host = sum(copy.nbytes for copy in self.guests.copies) if self.guests else 0
        if self.ranks.several and self.options.get("paramOffload"):
            host += held(self.network.parameters())
        weights = held(self.network.parameters()) + (host if self.guests else 0)
        report = {"weights": weights, "gradients": 0, "optimizer": 0, "activations": 0, "cache": 0, "host": host}
        if self.world.device.type == "cuda":
            report["activations"] = max(0, torch.cuda.max_memory_allocated() - torch.cuda.memory_allocated())
        return report

    def close(self) -> None:
        self.guests = None
        del self.network
        gc.collect()
        if self.world.device.type == "cuda":
            torch.cuda.empty_cache()

    def pack(self, rows: Rows, at_ends: bool = False, budget: int = 0) -> Pack:
        """`budget`: of tokens, where packs are given one of a few sizes so that they can be recorded."""
        cuda = self.world.device.type == "cuda"
        align = (ALIGN if cuda else 1) * self.ranks.sequence_size
        fixed = self.network.recordings is not None and int(rows.lengths.sum()) <= budget
        if fixed:
            align *= max(1, budget // (SIZES * align))
        pack = device_pack(rows, self.ranks.packing, align, fixed)
        if at_ends:
            pack.at = pack.bounds[1 : len(rows) + 1].long() - 1
        if cuda:
            # a power of two, so that few values are ever seen
            pack.longest = 1 << (pack.longest - 1).bit_length()
        return self.ranks.cut(pack)

    def rounds(self, rows: Rows, token_budget: int, by_bundle: bool) -> tuple[list[list[int]], int]:
        return self.ranks.rounds(rows, token_budget, by_bundle, self.network.config.hidden_size)

    def idle(self) -> Tensor:
        """This rank's part of a round in which it has no rows."""
        one = torch.ones(1, dtype=torch.int32)
        return self.network(self.pack(plain_rows(one - 1, one)), jobs.Idle())


def stop_if(cancelled: IsCancelled) -> None:
    if cancelled():
        raise Cancelled


def plain_rows(tokens: Tensor, lengths: Tensor) -> Rows:
    """Sequences of which nothing is scored."""
    n = lengths.numel()
    nothing = torch.zeros(0, dtype=torch.uint8)
    return Rows(tokens, lengths, lengths.clone(), torch.ones(n), nothing, torch.arange(n, dtype=torch.int32))
