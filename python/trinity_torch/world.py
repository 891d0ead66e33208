"""The ranks of one engine, and what they tell each other beside the arithmetic."""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from .store import HOST, local_store, need_loopback, speak_from, stay_here
from .wire.frames import Frame

# A rank waits for the next request as long as it takes; Trinity ends groups that hang.
_FOREVER = timedelta(days=3650)
# How long ranks wait for each other at the beginning.
_MEETING = timedelta(minutes=30)
# How long ranks wait for each other inside the arithmetic.
_COLLECTIVE = timedelta(seconds=float(os.environ.get("TRINITY_TORCH_TIMEOUT", "600")))
# How long a rank that failed waits for the others before it takes the group down with it.
GRACE_S = float(os.environ.get("TRINITY_TORCH_GRACE", "60"))
FAILED_EXIT = 70
# What such a rank says last; Trinity looks for it in the rank's log.
FAILED_MARK = "trinity-torch-failed "


@dataclass(frozen=True)
class World:
    """`control` is a gloo group of all ranks, apart from the groups of the arithmetic; None: there is one rank."""

    rank: int
    size: int
    local_rank: int
    device: torch.device
    control: dist.ProcessGroup | None = None

    @staticmethod
    def alone(device: str = "cpu") -> World:
        return World(0, 1, 0, torch.device(device))

    @staticmethod
    def from_environment() -> World:
        rank, size = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        local = int(os.environ.get("LOCAL_RANK", "0"))
        kind = os.environ.get("TRINITY_TORCH_DEVICE", "cuda" if torch.cuda.is_available() else "cpu")
        device = torch.device(kind, local) if kind == "cuda" else torch.device(kind)
        if kind == "cuda":
            torch.cuda.set_device(device)
        if size == 1:
            return World(rank, size, local, device)
        need_loopback(os.environ.get("MASTER_ADDR", HOST))
        # where the ranks are on several nodes: the address of this one
        node = os.environ.get("TRINITY_TORCH_NODE")
        if node is None:
            stay_here()
        else:
            speak_from(node)
        store = local_store(int(os.environ["MASTER_PORT"]), size, rank == 0, _MEETING)
        # CPU tensors by gloo beside NCCL, so that offloaded parameters can be reduced as well
        backend = "cpu:gloo,cuda:nccl" if kind == "cuda" else "gloo"
        dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=_COLLECTIVE)
        control = dist.new_group(backend="gloo", timeout=_FOREVER)
        return World(rank, size, local, device, control)

    @property
    def first(self) -> bool:
        return self.rank == 0

    def share_frame(self, frame: Frame | None) -> Frame:
        """Rank 0 gives a frame, every rank gets it."""
        if self.control is None:
            assert frame is not None
            return frame
        text = bytearray(json.dumps(frame.header).encode()) if frame is not None else bytearray()
        sizes = torch.tensor([len(text), len(frame.payload) if frame is not None else 0], dtype=torch.int64)
        dist.broadcast(sizes, 0, group=self.control)
        if frame is None:
            text, payload = bytearray(int(sizes[0])), bytearray(int(sizes[1]))
        else:
            payload = frame.payload
        for data in (text, payload):
            if len(data) > 0:
                dist.broadcast(torch.frombuffer(data, dtype=torch.uint8), 0, group=self.control)
        return frame if frame is not None else Frame(json.loads(bytes(text)), payload)

    def share_flag(self, flag: bool) -> bool:
        """What rank 0 says, on every rank. All ranks must ask equally often."""
        if self.control is None:
            return flag
        said = torch.tensor([1 if flag else 0], dtype=torch.uint8)
        dist.broadcast(said, 0, group=self.control)
        return bool(said.item())

    def gather(self, value: Any) -> list[Any]:
        """What every rank says, on every rank; JSON."""
        said: list[Any] = [value] * self.size
        if self.control is not None:
            _gather_json(said, value, self.control)
        return said

    def agree(self, error: dict[str, Any] | None) -> dict[str, Any] | None:
        """
        Every rank says how its part went; all get the first error, or None. A rank that failed while the others wait for
        it inside the arithmetic can never be joined by them: it says why and ends, and Trinity ends the rest.
        """
        if self.control is None:
            return error
        timer = None
        if error is not None:
            timer = threading.Timer(GRACE_S, _give_up, (self.rank, error))
            timer.daemon = True
            timer.start()
        said: list[Any] = [None] * self.size
        _gather_json(said, error, self.control)
        if timer is not None:
            timer.cancel()
        errors = [one for one in said if one is not None]
        own = [one for one in errors if one["code"] != "engine/cancelled"]
        return (own or errors or [None])[0]


def _gather_json(into: list[Any], value: Any, group: dist.ProcessGroup) -> None:
    """As all_gather_object, without pickle."""
    text = json.dumps(value).encode()
    size = torch.tensor([len(text)], dtype=torch.int64)
    sizes = [torch.zeros(1, dtype=torch.int64) for _ in into]
    dist.all_gather(sizes, size, group=group)
    longest = max(int(n) for n in sizes)
    mine = torch.zeros(longest, dtype=torch.uint8)
    mine[: len(text)] = torch.frombuffer(bytearray(text), dtype=torch.uint8)
    all_texts = [torch.zeros(longest, dtype=torch.uint8) for _ in into]
    dist.all_gather(all_texts, mine, group=group)
    for i, (n, data) in enumerate(zip(sizes, all_texts, strict=True)):
        into[i] = json.loads(bytes(data[: int(n)].tolist()))


def _give_up(rank: int, error: dict[str, Any]) -> None:
    sys.stderr.write(f"\n{FAILED_MARK}{json.dumps({**error, 'rank': rank})}\n")
    sys.stderr.flush()
    os._exit(FAILED_EXIT)
