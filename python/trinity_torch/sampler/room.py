"""How much of the device's memory the cache takes, and whether the trainer can do beside it."""

from __future__ import annotations

from typing import Any

import torch

from ..errors import WorkerError
from ..train.memory_plan import GIB, MemoryPlan, room_of
from ..train.train_model import TrainModel
from .cache import PAGE, Shape
from .decoder import Decoder
from .pool import free_bytes

# Most memory that a cache takes on the CPU unless told otherwise.
CPU_CACHE = 2**31


def pages_of(
    decoder: Decoder, max_batch: int, options: dict[str, Any], trainer: TrainModel | None, sleeps: bool
) -> int:
    """
    As many as fit into the memory, at least one whole sequence, at most a full batch of them. `sleeps`: the trainer's
    activations come when the cache is gone.
    """
    whole = -(-decoder.max_len // PAGE)
    page = Shape(len(decoder.layers), 1, decoder.kv, decoder.size, decoder.dtype).bytes
    if decoder.device.type != "cuda":
        return max(whole, min(CPU_CACHE // page, whole * max_batch))
    room = _room(decoder.device, options, trainer, sleeps)
    if room < whole * page:
        raise WorkerError(
            "engine/memory",
            f"one sequence of {decoder.max_len} tokens needs {whole * page / GIB:.1f} GiB of cache, "
            f"{max(0, room) / GIB:.1f} GiB are left",
            "lower max_model_len, or raise explorer.rollout_model.gpu_memory_utilization",
        )
    return min(room // page, whole * max_batch)


def _room(device: torch.device, options: dict[str, Any], trainer: TrainModel | None, sleeps: bool) -> int:
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info(device)
    own = torch.cuda.memory_reserved(device)
    room = room_of(free, total, own, float(options.get("memoryFraction") or 0.9))
    plan = MemoryPlan.of(options)
    if plan is not None:
        # models that are opened later, and moments, which come with the first step
        room -= max(0, plan.standing - torch.cuda.memory_allocated(device)) + plan.rollout
        return room if trainer is None or sleeps else room - plan.training
    if trainer is None:
        return room
    room -= trainer.optimizer.to_come()
    # what is left is halved between the cache and activations of which nothing is known
    return room if sleeps else min(room, (free - trainer.optimizer.to_come()) // 2)


def fits_beside(
    device: torch.device, options: dict[str, Any], trainers: list[TrainModel], gradients: bool, live: bool
) -> bool:
    """A computation, with gradients or without, finds memory enough beside the cache. `live`: samples are under way."""
    plan = MemoryPlan.of(options)
    if plan is None:
        # nothing is known: passes without gradients are small beside having to compute samples again
        return live and not gradients
    to_come = sum(one.optimizer.to_come() for one in trainers)
    return free_bytes(device) >= (plan.training + to_come if gradients else plan.scoring)
