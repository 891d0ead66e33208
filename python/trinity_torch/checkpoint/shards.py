"""State that ranks saved each for itself (veRL's FSDP layout), put together again for any number of ranks."""

from __future__ import annotations

import json
import logging
import os
import re
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor, Replicate, Shard

from ..errors import WorkerError

# says on every load that the groups of the saving ranks are not here, which is no news
logging.getLogger("torch.distributed.device_mesh").setLevel(logging.ERROR)


def file_name(kind: str, size: int, rank: int) -> str:
    return f"{kind}_world_size_{size}_rank_{rank}.pt"


def bad(path: str, what: str, hint: str | None = None) -> WorkerError:
    return WorkerError("engine/bad-checkpoint", what, hint, path)


def saved_size(folder: str) -> int | None:
    """How many ranks saved; None: this is no such checkpoint."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    sizes = {int(found[1]) for found in (re.fullmatch(r"model_world_size_(\d{1,6})_rank_\d+\.pt", name) for name in names) if found}
    config = os.path.join(folder, "fsdp_config.json")
    if len(sizes) > 1 and os.path.isfile(config):
        try:
            with open(config, encoding="utf-8") as file:
                sizes &= {json.load(file)["world_size"]}
        except (ValueError, KeyError, TypeError) as error:
            raise bad(config, f"cannot be read: {error}") from error
    if len(sizes) > 1:
        raise bad(folder, f"holds the state of several numbers of ranks: {', '.join(map(str, sorted(sizes)))}")
    return next(iter(sizes), None)


def read_all(folder: str, kind: str, size: int) -> list[Any]:
    """What each rank saved. Tensors stay in the files until they are used; nothing in them is executed."""
    return [read(os.path.join(folder, file_name(kind, size, rank))) for rank in range(size)]


def read(path: str) -> Any:
    if not os.path.isfile(path):
        raise bad(path, "a part of the checkpoint is missing", "was it copied completely?")
    try:
        with torch.serialization.safe_globals(_numpy_classes()):
            return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except MemoryError:
        raise
    except Exception as error:  # a file that is damaged or hostile fails in any of a dozen ways
        first = (str(error).strip().splitlines() or [""])[0]
        raise bad(path, f"cannot be read: {type(error).__name__}: {first}") from error


def _numpy_classes() -> list[Any]:
    """veRL keeps numpy's random state beside the others; its two releases name this function differently."""
    import numpy

    rebuild = numpy.zeros(0).__reduce__()[0]
    names = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")
    return [*((rebuild, name) for name in names), numpy.ndarray, numpy.dtype, type(numpy.dtype("uint32"))]


@dataclass(frozen=True)
class Parts:
    """One tensor: what each rank saved of it, and how that was cut."""

    parts: list[Tensor]
    # sizes of the grid of ranks, which rank stands where in it, and the dimension that each axis of the grid cuts
    grid: tuple[int, ...]
    ranks: tuple[int, ...]
    cuts: tuple[int | None, ...]
    shape: torch.Size

    def whole(self) -> Tensor:
        parts = [self.parts[rank] for rank in self.ranks]
        for count, cut in zip(reversed(self.grid), reversed(self.cuts)):
            groups = [parts[i : i + count] for i in range(0, len(parts), count)]
            parts = [group[0] if cut is None else torch.cat(group, dim=cut) for group in groups]
        return parts[0].float()


def parts_of(saved: list[Any], path: str, name: str) -> Parts:
    """Everything is looked at, so that putting it together later cannot fail."""
    if not all(isinstance(x, Tensor) and x.dtype.is_floating_point and x.layout == torch.strided for x in saved):
        raise bad(path, f"'{name}' is not a tensor of numbers on every rank")
    found = _cut_of(saved, path, name) if isinstance(saved[0], DTensor) else None
    if found is None:
        if any(isinstance(x, DTensor) for x in saved) or len(saved) > 1:
            raise bad(path, f"'{name}' was cut in a way that the file does not describe")
        found = Parts(list(saved), (1,), (0,), (None,), saved[0].shape)
    try:
        # on tensors without data: the same operations, at no cost
        shape = Parts([x.to("meta") for x in found.parts], found.grid, found.ranks, found.cuts, found.shape).whole().shape
    except Exception as error:
        raise bad(path, f"the parts of '{name}' do not fit together: {error}") from error
    if shape != found.shape:
        raise bad(path, f"the parts of '{name}' come to {list(shape)} instead of {list(found.shape)}")
    return found


def _cut_of(saved: list[Any], path: str, name: str) -> Parts:
    try:
        spec = saved[0]._spec
        ranks = spec.mesh.mesh
        grid = tuple(ranks.shape)
        order = tuple(int(rank) for rank in ranks.flatten())
        placements = tuple(spec.placements)
        same = all(x._spec.placements == spec.placements and x.shape == saved[0].shape for x in saved)
        parts = [x._local_tensor for x in saved]
    except Exception as error:  # attributes of a hostile object may be anything
        raise bad(path, f"'{name}' is not a sharded tensor: {error}") from error
    known = all(isinstance(p, Replicate) or type(p) is Shard for p in placements)
    if not same or not known or len(placements) != len(grid) or sorted(order) != list(range(len(saved))):
        raise bad(path, f"'{name}' was cut in a way that is not known here: {placements}")
    return Parts(parts, grid, order, tuple(p.dim if isinstance(p, Shard) else None for p in placements), saved[0].shape)
