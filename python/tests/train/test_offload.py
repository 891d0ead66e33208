"""State in host memory: the same numbers, other places."""

from __future__ import annotations

import unittest

import torch

from trinity_torch.train import offload
from trinity_torch.train.open import open_model
from trinity_torch.world import World

from ..models import CLIPPED, batch, never, tiny

LORA = {"rank": 4, "alpha": 8, "targetModules": ["q_proj", "down_proj"]}


def opened(spec: dict, **options):
    return open_model("train", spec, {"compile": False, **options}, World.alone())


def steps(model, count: int = 2) -> list:
    found = []
    for i in range(count):
        result = model.forward_backward(batch(5, seed=i), CLIPPED, {"tokens": 30.0}, ["logprob"], "row", 20, never)
        found += [result.loss, result.scores["logprob"].tolist()]
        found += model.optim_step(1e-2, (0.9, 0.95), 1e-8, 0.01, 1.0)
    return found


class Offload(unittest.TestCase):
    def setUp(self):
        self.bucket, offload.BUCKET = offload.BUCKET, 1500  # smaller than most weights, larger than some
        self.addCleanup(setattr, offload, "BUCKET", self.bucket)

    def test_state_in_host_memory_gives_the_same_bits(self):
        adapter = {"path": tiny("qwen3"), "lora": LORA}
        # weights that leave the device are not joined into larger products, so these two pairs differ in the last bits
        for spec, dtype, params in (({"path": tiny("qwen2")}, "bfloat16", False), (adapter, "bfloat16", True)):
            with self.subTest(f"{dtype} {params}"):
                here, away = (opened(spec, dtype=dtype, paramOffload=params, optimizerOffload=m) for m in (False, True))
                self.assertEqual(steps(here), steps(away))
                for kind in ("masters", "m", "v"):
                    pairs = zip(getattr(here.optimizer, kind), getattr(away.optimizer, kind))
                    self.assertTrue(all(torch.equal(a, b) for a, b in pairs), kind)

    def test_in_float32_every_mode_is_near_the_plain_one(self):
        spec = {"path": tiny("llama")}
        plain = opened(spec, dtype="float32")
        steps(plain)
        for params, moments in ((True, False), (False, True), (True, True)):
            model = opened(spec, dtype="float32", paramOffload=params, optimizerOffload=moments)
            steps(model)
            for a, b in zip(plain.optimizer.masters, model.optimizer.masters):
                self.assertLess((a - b).abs().max(), 1e-4)

    def test_memory_says_where_things_are(self):
        spec = {"path": tiny("qwen2")}
        count = opened(spec).info["parameters"]
        plain, moments, params = (opened(spec, dtype="bfloat16", **o) for o in ({}, {"optimizerOffload": True}, {"paramOffload": True}))
        for model in (plain, moments, params):
            steps(model, 1)
            report = model.memory()
            # copies in bfloat16, masters, gradients and two moments in float32
            self.assertEqual(report["weights"], count * 6)
            self.assertEqual(report["gradients"], count * 4)
            self.assertEqual(report["optimizer"], count * 8)
        self.assertEqual([m.memory()["host"] for m in (plain, moments, params)], [0, count * 12, count * 2])
        self.assertEqual(sum(p.untyped_storage().nbytes() for p in params.network.parameters()), 0)
        with params.present():
            self.assertEqual(params.memory()["weights"], count * 8)

    def test_a_model_that_only_scores_leaves_too(self):
        path, rows = tiny("qwen2"), batch(4)
        here, away = (
            open_model("score", {"path": path}, {"compile": False, "paramOffload": on}, World.alone()) for on in (False, True)
        )
        found = [model.forward(rows, ["logprob"], True, 20, never)["logprob"].tolist() for model in (here, away, away)]
        self.assertEqual(found[1:], found[:1] * 2)
        self.assertEqual(sum(p.untyped_storage().nbytes() for p in away.network.parameters()), 0)

    def test_buckets_hold_every_entry_once(self):
        for sizes, limit in (([5, 0, 7, 1], 4), ([3], 100), ([], 2), ([8, 8], 8)):
            found = list(offload.buckets(sizes, limit))
            entries = [(p.i, x) for bucket in found for p in bucket for x in range(p.a, p.b)]
            self.assertEqual(entries, [(i, x) for i, size in enumerate(sizes) for x in range(size)])
            self.assertTrue(all(0 < sum(p.size for p in bucket) <= limit for bucket in found))


class Recompute(unittest.TestCase):
    def test_gradient_checkpointing_gives_the_same_gradient(self):
        path, grads = tiny("llama"), []
        for on in (False, True):
            model = opened({"path": path, "gradientCheckpointing": on}, dtype="float32")
            self.assertEqual(model.network.hf.is_gradient_checkpointing, on)
            model.forward_backward(batch(), CLIPPED, {"tokens": 30.0}, ["logprob"], "row", 40, never)
            grads.append([g.clone() for g in model.optimizer.gradients()])
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(*grads)))
        self.assertGreater(sum(float(g.abs().sum()) for g in grads[0]), 0)


if __name__ == "__main__":
    unittest.main()
