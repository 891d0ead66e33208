"""Passes that are recorded as CUDA graphs give the bits of those that are not."""

from __future__ import annotations

import unittest

import torch

from trinity_torch.train.open import open_model
from trinity_torch.train.recording import BEFORE
from trinity_torch.train.train_model import TrainModel
from trinity_torch.world import World

from ..models import CLIPPED, SQUARED, batch, never, tiny

WIDE = {"hidden_size": 128, "intermediate_size": 256, "head_dim": 32}
BUDGET = 256


def opened(path: str, record: bool, compiled: bool = False, **spec: object) -> TrainModel:
    """`record` False: the same packs and the same attention, by passes that are not recorded."""
    options = {"dtype": "bfloat16", "compile": compiled, "record": True}
    model = open_model("train", {"path": path, **spec}, options, World.alone("cuda"))
    model.network.recordings._failed = not record
    return model


def learned(model: TrainModel, steps: int = 4) -> list[torch.Tensor]:
    """Losses, scores and gradients of some steps, each of several packs, and the weights at the end."""
    found: list[torch.Tensor] = []
    for step in range(steps):
        rows = batch(90, seed=step, longest=40)
        kind = "logprob" if model.kind == "lm" else "value"
        result = model.forward_backward(rows, CLIPPED if kind == "logprob" else SQUARED, {"tokens": 100.0}, [kind], "row", BUDGET, never)
        found += [torch.tensor(result.loss), result.scores[kind], *(g.cpu().clone() for g in model.optimizer.gradients())]
        model.optim_step(1e-2, (0.9, 0.999), 1e-8, 0.0, 1.0)
    return found + [p.detach().cpu() for p in model.network.parameters()]


@unittest.skipUnless(torch.cuda.is_available(), "no CUDA device")
class CudaRecording(unittest.TestCase):
    def setUp(self):
        torch.use_deterministic_algorithms(True, warn_only=True)

    def tearDown(self):
        torch.use_deterministic_algorithms(False)

    def check(self, path: str, compiled: bool = False, recorded: bool = True, **spec: object) -> None:
        plain, again = (learned(opened(path, False, compiled, **spec)) for _ in range(2))
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(plain, again)), "not even two plain runs are alike")
        model = opened(path, True, compiled, **spec)
        found = learned(model)
        assert model.network.recordings is not None
        self.assertEqual(len(model.network.recordings) > 0, recorded)
        for i, (a, b) in enumerate(zip(found, plain)):
            self.assertTrue(torch.equal(a, b), f"{i}: {(a.double() - b.double()).abs().max()}")

    def test_compiled_layers(self):
        # two compilations may sum in other orders, so both kinds of passes are those of one model
        model = opened(tiny("qwen2", **WIDE), True, compiled=True)
        recordings = model.network.recordings
        assert recordings is not None
        rows = batch(90, longest=40)

        def once() -> list[torch.Tensor]:
            result = model.forward_backward(rows, CLIPPED, {"tokens": 100.0}, ["logprob"], "row", BUDGET, never)
            found = [torch.tensor(result.loss), result.scores["logprob"], *(g.cpu().clone() for g in model.optimizer.gradients())]
            model.discard_grad()
            return found

        recordings._failed = True
        plain = once()
        recordings._failed = False
        for _ in range(BEFORE + 1):
            found = once()
        self.assertGreater(len(recordings), 0)
        for a, b in zip(found, plain):
            self.assertTrue(torch.equal(a, b))

    def test_every_way_of_training(self):
        path = tiny("qwen2", **WIDE)
        adapter = {"rank": 4, "alpha": 8, "targetModules": "all-linear"}
        for name, spec in {
            "plain": {}, "checkpointing": {"gradientCheckpointing": True}, "LoRA": {"lora": adapter}, "critic": {"head": "value"},
        }.items():  # fmt: skip
            with self.subTest(name):
                self.check(path, **spec)

    def test_families(self):
        for family in ("llama", "qwen3", "mistral", "gemma3", "olmo2", "smollm3"):
            with self.subTest(family):
                self.check(tiny(family, **WIDE))

    def test_what_waits_for_the_device_is_not_recorded(self):
        # scores are capped one sequence at a time, whose bounds the host asks for
        self.check(tiny("gemma2", **WIDE), recorded=False)

    def test_memory_is_given_back_and_taken_again(self):
        model = opened(tiny("qwen2", **WIDE), True)
        rows = batch(90, longest=40)
        once = lambda: model.forward_backward(rows, CLIPPED, {"tokens": 100.0}, ["logprob"], "row", BUDGET, never)  # noqa: E731
        for _ in range(BEFORE + 1):
            wanted = once()
        recordings = model.network.recordings
        assert recordings is not None
        self.assertGreater(len(recordings), 0)
        held = torch.cuda.memory_reserved()
        model.yield_memory()
        torch.cuda.empty_cache()
        self.assertEqual(len(recordings), 0)
        self.assertLess(torch.cuda.memory_reserved(), held)
        found = once()
        self.assertGreater(len(recordings), 0)
        self.assertTrue(torch.equal(found.scores["logprob"], wanted.scores["logprob"]))


if __name__ == "__main__":
    unittest.main()
