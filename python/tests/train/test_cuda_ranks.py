"""Sharded weights over NCCL on the one GPU there is, and state in host memory, against the plain path."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import unittest
from typing import Any

import torch
import torch.distributed as dist

from trinity_torch.train import offload
from trinity_torch.train.open import open_model
from trinity_torch.world import World

from ..models import CLIPPED, batch, never, tiny

LORA = {"rank": 4, "alpha": 8, "targetModules": "all-linear"}


def steps(model: Any, count: int = 3) -> tuple[list[float], list[float]]:
    losses, norms = [], []
    for i in range(count):
        result = model.forward_backward(batch(9, seed=i), CLIPPED, {"tokens": 30.0}, ["logprob"], "row", 40, never)
        model.forward(batch(3), ["logprob"], True, 40, never)
        losses.append(result.loss)
        norms.append(model.optim_step(1e-3, (0.9, 0.95), 1e-8, 0.01, 1.0)[0])
    return losses, norms


@unittest.skipUnless(torch.cuda.is_available(), "no CUDA device")
class CudaRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        dist.init_process_group("cpu:gloo,cuda:nccl", rank=0, world_size=1)
        # a world of one rank that is sharded all the same
        cls.sharded = World(0, 1, 0, torch.device("cuda", 0), dist.new_group(backend="gloo"))

    @classmethod
    def tearDownClass(cls):
        dist.destroy_process_group()

    def test_sharded_weights_learn_as_whole_ones_do(self):
        path = tiny("qwen2")
        for more, options in (
            ({}, {"dtype": "float32", "compile": False}),
            ({}, {"dtype": "bfloat16", "compile": False}),
            ({"gradientCheckpointing": True}, {"dtype": "bfloat16", "compile": True}),
            ({"lora": LORA}, {"dtype": "bfloat16", "compile": False}),
            ({}, {"dtype": "float32", "compile": False, "paramOffload": True}),
            ({}, {"dtype": "float32", "compile": False, "paramOffload": True, "optimizerOffload": True}),
            ({}, {"dtype": "float32", "compile": False, "optimizerOffload": True}),
        ):
            with self.subTest(f"{more} {options}"):
                plain = {key: options[key] for key in ("dtype", "compile")}
                one = open_model("train", {"path": path, **more}, plain, World.alone("cuda"))
                other = open_model("train", {"path": path, **more}, options, self.sharded)
                close = 1e-4 if options["dtype"] == "float32" else 3e-2
                for a, b in zip(steps(one), steps(other)):
                    for x, y in zip(a, b):
                        self.assertLess(abs(x - y), close * max(1, abs(x)))

    def test_a_sharded_state_resumes_to_the_last_bit(self):
        folder = tempfile.mkdtemp(prefix="trinity-torch-")
        self.addCleanup(shutil.rmtree, folder, True)
        path = tiny("qwen2")
        for i, options in enumerate(({}, {"paramOffload": True, "optimizerOffload": True})):
            for world in (self.sharded, World.alone("cuda")):
                dir = os.path.join(folder, f"{i}-{world.control is None}")
                model = open_model("train", {"path": path}, {"compile": False, **options}, world)
                steps(model, 2)
                model.save(dir)
                found = steps(model, 2)
                model.load(dir)
                self.assertEqual(steps(model, 2), found)

    def test_host_memory_gives_the_same_bits(self):
        self.addCleanup(setattr, offload, "BUCKET", offload.BUCKET)
        path = tiny("qwen3")
        for bucket in (1000, 2**25):
            offload.BUCKET = bucket
            for params in (False, True):
                here, away = (
                    open_model("train", {"path": path}, {"compile": False, "paramOffload": params, **options}, World.alone("cuda"))
                    for options in ({}, {"optimizerOffload": True})
                )
                self.assertEqual(steps(away), steps(here))
                self.assertTrue(all(m.is_pinned() for m in (*away.optimizer.masters, *away.optimizer.m)))
                for a, b in zip(here.optimizer.masters, away.optimizer.masters):
                    self.assertTrue(torch.equal(a.cpu(), b))
                away.close()


if __name__ == "__main__":
    unittest.main()
