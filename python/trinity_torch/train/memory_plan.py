"""The memory that a whole job is planned to take on a device. Trinity computes it; here it is compared with what there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ..errors import WorkerError

GIB = 2**30
# Of a device, what stays free for what nobody plans, unless somebody asks for more.
RESERVE = 0.1


def room_of(free: int, total: int, own: int, share: float) -> int:
    """
    Bytes that this process may still take, who has `own` of the device already: up to its share of all memory, whatever others
    have, so that several can have shares of one device; and no more than there is.
    """
    return min(int(total * share) - own, free - int(total * min(RESERVE, 1 - share)))


@dataclass(frozen=True)
class Phase:
    """Bytes of everything that lies on the device at a time. `share`: of all its memory, what may be filled then."""

    name: str
    bytes: int
    share: float
    hint: str


@dataclass(frozen=True)
class MemoryPlan:
    """
    Bytes that stay as long as the models are open, and on top of them while a trainer computes gradients, while anybody
    computes without them, and while a sampler samples (less its cache).
    """

    standing: int
    training: int
    scoring: int
    rollout: int
    phases: tuple[Phase, ...] = ()

    @staticmethod
    def of(options: dict[str, Any]) -> MemoryPlan | None:
        given = options.get("memory")
        if given is None:
            return None
        phases = tuple(Phase(one["name"], int(one["bytes"]), float(one["share"]), one["hint"]) for one in given["phases"])
        standing, training, scoring, rollout = (int(given[name]) for name in ("standing", "training", "scoring", "rollout"))
        return MemoryPlan(standing, training, scoring, rollout, phases)

    def check(self, device: torch.device) -> None:
        """Refuses what will not fit. Asked before anything is there."""
        if device.type == "cuda":
            self.compare(*torch.cuda.mem_get_info(device))

    def compare(self, free: int, total: int) -> None:
        for phase in self.phases:
            room = room_of(free, total, 0, phase.share)
            if phase.bytes <= room:
                continue
            limit = "" if phase.share == 1 else f", of which {phase.share:.0%} may be filled"
            raise WorkerError(
                "engine/memory",
                f"{phase.name} needs about {phase.bytes / GIB:.1f} GiB of GPU memory: {free / GIB:.1f} of "
                f"{total / GIB:.1f} GiB are free{limit}",
                phase.hint,
            )
