"""Several ranks: weights sharded over all of them, rows shared out among them, results put together again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, FSDPModule, MixedPrecisionPolicy, OffloadPolicy, fully_shard

from ..errors import WorkerError
from ..network import ulysses
from ..network.rows import Pack, Rows
from ..world import World


@dataclass(frozen=True)
class Ranks:
    """`sequence_size` ranks share the tokens of each micro-batch; groups of them share the rows."""

    world: World
    sequence_size: int = 1
    sequence: dist.ProcessGroup | None = None

    @staticmethod
    def of(world: World, options: dict[str, Any]) -> Ranks:
        if options.get("split"):
            # all ranks compute all rows, each with its part of the weights: to the rows they are one
            return Ranks(replace(world, rank=0, size=1, control=None))
        size = int(options.get("ulysses") or 1)
        if size < 1 or world.size % size != 0:
            raise WorkerError(
                "engine/ulysses",
                f"{world.size} ranks cannot be cut into groups of {size}",
                "trainer.ulysses_sequence_parallel_size must divide the number of the trainer's GPUs",
                "ulysses_sequence_parallel_size",
            )
        return Ranks(world, size, _sequence_group(world, size) if size > 1 else None)

    @property
    def several(self) -> bool:
        return self.world.control is not None

    @property
    def row_groups(self) -> int:
        return self.world.size // self.sequence_size

    @property
    def row_group(self) -> int:
        return self.world.rank // self.sequence_size

    @property
    def speaks(self) -> bool:
        """Ranks that share tokens have the same results: the first of them gives them."""
        return self.world.rank % self.sequence_size == 0

    def check(self, config: Any) -> None:
        heads = int(getattr(config, "num_attention_heads", 1))
        if heads % self.sequence_size != 0:
            raise WorkerError(
                "engine/ulysses",
                f"{heads} attention heads cannot be shared by {self.sequence_size} ranks",
                "trainer.ulysses_sequence_parallel_size must divide the number of attention heads",
                "ulysses_sequence_parallel_size",
            )

    def shard(self, network: nn.Module, layers: list[nn.Module], dtype: torch.dtype, offload: bool) -> None:
        """Every rank keeps its part of each weight in the type it has now; weights are whole, in `dtype`, while used."""
        policy = MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=torch.float32, cast_forward_inputs=False)
        cuda = self.world.device.type == "cuda"
        away = CPUOffloadPolicy(pin_memory=cuda) if offload else OffloadPolicy()
        mesh = world_mesh(self.world.device.type, self.world.size)
        for module in [*layers, network]:
            fully_shard(module, mesh=mesh, mp_policy=policy, offload_policy=away)
        for module in network.modules():
            if isinstance(module, FSDPModule):
                # the loss is a sum over all rows, so gradients are summed, never averaged
                module.set_gradient_divide_factor(1.0)
                module.set_force_sum_reduction_for_comms(True)
                if hasattr(module, "set_reduce_scatter_unused_params"):
                    # an expert that no token of this rank went to has no gradient here, but one elsewhere
                    module.set_reduce_scatter_unused_params(True)

    @contextmanager
    def whole(self, network: nn.Module) -> Iterator[None]:
        """For passes without a backward one: weights that stay whole after them would not see the next step."""
        try:
            yield
        finally:
            if isinstance(network, FSDPModule):
                network.reshard()

    def rounds(self, rows: Rows, token_budget: int, by_bundle: bool, width: int) -> tuple[list[list[int]], int]:
        """
        This rank's micro-batches by row numbers, and how many there are in all. Every rank has equally many, because
        all take part in each exchange of weights: one without rows computes an empty micro-batch.
        """
        if not self.several:
            packs = rows.packs(token_budget, by_bundle)
            return packs, len(packs)
        shared = share(rows, token_budget * self.sequence_size, by_bundle, self.row_groups, width)
        return shared[self.row_group], sum(bool(pack) for packs in shared for pack in packs)

    @property
    def packing(self) -> torch.device:
        """Where packs are made: what is cut is cut before it goes to the device."""
        return self.world.device if self.sequence is None else torch.device("cpu")

    def cut(self, pack: Pack) -> Pack:
        return pack if self.sequence is None else ulysses.cut(pack, self.sequence, self.world.device)

    def sum(self, x: Tensor) -> Tensor:
        """Over all ranks, each part once. On the CPU."""
        if self.several:
            x = x if self.speaks else torch.zeros_like(x)
            dist.all_reduce(x, group=self.world.control)
        return x

    def gather(self, x: Tensor) -> list[Tensor]:
        """Of every rank that speaks. On the CPU."""
        if not self.several:
            return [x]
        found = [torch.empty_like(x) for _ in range(self.world.size)]
        dist.all_gather(found, x.contiguous(), group=self.world.control)
        return found[:: self.sequence_size]


@cache
def world_mesh(device: str, size: int) -> DeviceMesh:
    return init_device_mesh(device, (size,), mesh_dim_names=("fsdp",))


def _sequence_group(world: World, size: int) -> dist.ProcessGroup:
    return _grid(world.device.type, world.size, size).get_group("sp")


@cache
def _grid(device: str, size: int, sequence_size: int) -> DeviceMesh:
    return init_device_mesh(device, (size // sequence_size, sequence_size), mesh_dim_names=("dp", "sp"))


def share(rows: Rows, token_budget: int, by_bundle: bool, groups: int, width: int) -> list[list[list[int]]]:
    """Micro-batches of each group of ranks: even work in all, and about even work in each round."""
    lengths = rows.lengths.tolist()
    units = rows.units(by_bundle)
    # the attention of a row of 12 · width tokens costs as much as everything else
    cost = [sum(n * (1 + n / (12 * width)) for n in (lengths[row] for row in unit)) for unit in units]
    size = [sum(lengths[row] for row in unit) for unit in units]
    load = [0.0] * groups
    packs: list[list[list[int]]] = [[] for _ in range(groups)]
    for unit in sorted(range(len(units)), key=lambda unit: -cost[unit]):
        group = min(range(groups), key=lambda group: load[group])
        load[group] += cost[unit]
        fits = (pack for pack in packs[group] if sum(size[u] for u in pack) + size[unit] <= token_budget)
        pack = next(fits, None)
        if pack is None:
            packs[group].append(pack := [])
        pack.append(unit)
    rounds = max(len(own) for own in packs)
    shared = []
    for own in packs:
        own.sort(key=lambda pack: -sum(cost[unit] for unit in pack))
        filled = [[row for unit in sorted(pack) for row in units[unit]] for pack in own]
        shared.append(filled + [[] for _ in range(rounds - len(own))])
    return shared
