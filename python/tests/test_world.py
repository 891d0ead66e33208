"""Which way tensors travel between ranks."""

from __future__ import annotations

import os
import unittest
from contextlib import ExitStack
from unittest import mock

from trinity_torch.world import World

RANK = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}


def backends(kind: str) -> list[str]:
    """Of the groups that a rank makes, without making them: there may be no GPU here."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {**RANK, "TRINITY_TORCH_DEVICE": kind}))
        for name in ("local_store", "stay_here", "torch.cuda.set_device"):
            stack.enter_context(mock.patch(f"trinity_torch.world.{name}"))
        world = stack.enter_context(mock.patch("trinity_torch.world.dist.init_process_group"))
        control = stack.enter_context(mock.patch("trinity_torch.world.dist.new_group"))
        World.from_environment()
        return [world.call_args.args[0], control.call_args.kwargs["backend"]]


class Backend(unittest.TestCase):
    def test_ranks_on_gpus_use_nccl_and_gloo_for_what_is_offloaded(self) -> None:
        self.assertEqual(backends("cuda"), ["cpu:gloo,cuda:nccl", "gloo"])

    def test_ranks_on_processors_use_gloo(self) -> None:
        self.assertEqual(backends("cpu"), ["gloo", "gloo"])
