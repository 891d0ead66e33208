"""Runs a function on several ranks at once, each a process of its own on the CPU."""

from __future__ import annotations

import multiprocessing
import os
import socket
import time
import traceback
from collections.abc import Callable
from typing import Any

# the process that ranks are forked from does not have this one's paths
_here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ["PYTHONPATH"] = os.pathsep.join([_here, *filter(None, [os.environ.get("PYTHONPATH")])])
# the slow imports happen once, in the process that the ranks are forked from
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["trinity_torch.train.open", "trinity_torch.checkpoint.state", "tests.models"])


def run(size: int, function: Callable[..., Any], *args: Any, limit_s: float = 60) -> list[Any]:
    """`function(world, *args)` on every rank; what each returns. A rank that hangs or fails fails the test."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    answers = _context.Queue()
    ranks = [_context.Process(target=_rank, args=(r, size, port, answers, function, args)) for r in range(size)]
    for rank in ranks:
        rank.start()
    found: dict[int, Any] = {}
    end = time.monotonic() + limit_s
    try:
        while len(found) < size:
            if time.monotonic() > end:
                raise AssertionError(f"only ranks {sorted(found)} of {size} came to an end within {limit_s} s")
            try:
                rank, ok, result = answers.get(timeout=0.5)
            except Exception:  # nothing yet
                continue
            if not ok:
                raise AssertionError(f"rank {rank}: {result}")
            found[rank] = result
    finally:
        for rank in ranks:
            rank.join(0.5 if len(found) < size else 10)
            if rank.is_alive():
                rank.kill()
    return [found[rank] for rank in range(size)]


def _rank(rank: int, size: int, port: int, answers: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    import torch
    import torch.distributed as dist

    from trinity_torch.world import World

    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank), TRINITY_TORCH_DEVICE="cpu")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    try:
        answers.put((rank, True, function(World.from_environment(), *args)))
    except BaseException:
        answers.put((rank, False, traceback.format_exc()))
    finally:
        answers.close()
        answers.join_thread()
        if dist.is_initialized():
            dist.destroy_process_group()
