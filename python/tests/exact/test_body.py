"""Log-probs of sampler and trainer, bit by bit, and the gradients of a trainer that computes as the sampler does."""

from __future__ import annotations

import unittest
from typing import Any

import torch
from torch import Tensor

from trinity_torch.errors import WorkerError
from trinity_torch.exact.body import FAMILIES
from trinity_torch.network.rows import Rows
from trinity_torch.train.train_model import TrainModel
from trinity_torch.world import World

from ..models import CLIPPED, batch, never, tiny
from ..sampler.test_engine import Desk, prompt, wish

PROMPTS = [tuple(range(1, 40)), (9,) * 33, (4,)]


def exact(dtype: str) -> dict[str, Any]:
    return {"dtype": dtype, "compile": False, "exact": True, "exactLogprobs": True}


def sampled(desk: Desk, sampler: int, temperature: float) -> tuple[Rows, Tensor]:
    """Samples as rows of a trainer, and what the sampler said of their tokens."""
    asked = [
        desk.ask("sample", prompt(*ids), model=sampler, n=1 + i % 2, wish=wish(invT=1 / temperature, maxTokens=20, seedLow=i))
        for i, ids in enumerate(PROMPTS)
    ]
    desk.run()
    rows, starts = [], []
    for ids, number in zip(PROMPTS, asked):
        for tokens in desk.samples(number):
            rows.append([*ids, *tokens])
            starts.append(len(ids))
    lengths, count = torch.tensor([len(row) for row in rows], dtype=torch.int32), len(rows)
    begin = torch.tensor(starts, dtype=torch.int32)
    scored = int((lengths - begin).sum())
    noise = torch.Generator().manual_seed(3)
    found = Rows(
        torch.tensor([token for row in rows for token in row], dtype=torch.int32), lengths, begin,
        torch.full((count,), temperature), torch.ones(scored, dtype=torch.uint8), torch.arange(count, dtype=torch.int32),
        {"advantage": torch.randn(scored, generator=noise), "old": -torch.rand(scored, generator=noise)},
    )  # fmt: skip
    return found, torch.cat([desk.answers[number][1]["logprobs"] for number in asked])


class Equal(unittest.TestCase):
    def test_sampler_and_trainer_give_the_same_bits(self) -> None:
        """Step after step, in packs of any size, with temperatures whose inverse is rounded."""
        for family in (*FAMILIES, "windowed"):
            for dtype in ("float32", "bfloat16") if family == "qwen2" else ("bfloat16",):
                with self.subTest(family=family, dtype=dtype):
                    desk = Desk(exact(dtype))
                    path = tiny(family)
                    trainer = desk.open(path, "train", gradientCheckpointing=family == "qwen3")
                    sampler = desk.open(path, share=trainer, cacheTokens=1024)
                    train = desk.worker.named(trainer)
                    for step, temperature in enumerate((0.7, 1.1)):
                        rows, said = sampled(desk, sampler, temperature)
                        self.assertGreater(said.numel(), 70)
                        for budget in (70, 1000):
                            found = train.forward(rows, ["logprob"], True, budget, never)["logprob"]
                            self.assertEqual(int((found != said).sum()), 0, f"max {(found - said).abs().max()}")
                        learned = train.forward_backward(rows, CLIPPED, {"tokens": 100.0}, ["logprob"], "row", 200, never)
                        self.assertTrue(torch.equal(learned.scores["logprob"], said))
                        norm, applied = train.optim_step(0.01, (0.9, 0.999), 1e-8, 0.0, 1.0)
                        self.assertTrue(applied and norm > 0)
                        desk.ask("transfer", model=trainer, to=[sampler], version=step + 1, inFlight="finish")
                        desk.run()

    def test_a_sampler_with_a_copy_of_its_own(self) -> None:
        desk = Desk(exact("bfloat16"))
        path = tiny("qwen2")
        trainer, sampler = desk.open(path, "train"), desk.open(path, cacheTokens=1024)
        rows, said = sampled(desk, sampler, 0.9)
        found = desk.worker.named(trainer).forward(rows, ["logprob"], True, 1000, never)["logprob"]
        self.assertTrue(torch.equal(found, said))

    def test_without_it_they_differ(self) -> None:
        """Or the tests above would show nothing."""
        desk = Desk({"dtype": "bfloat16", "compile": False})
        path = tiny("qwen2")
        trainer = desk.open(path, "train")
        rows, said = sampled(desk, desk.open(path, share=trainer, cacheTokens=1024), 1.0)
        found = desk.worker.named(trainer).forward(rows, ["logprob"], True, 1000, never)["logprob"]
        self.assertGreater(float((found - said).abs().max()), 0.0)


class Gradients(unittest.TestCase):
    def gradients(self, path: str, options: dict[str, Any], rows: Rows, **spec: Any) -> dict[str, Tensor]:
        model = TrainModel({"path": path, "seed": 1, **spec}, options, World.alone())
        model.forward_backward(rows, CLIPPED, {"tokens": 30.0}, ["logprob"], "row", 40, never)
        return {name: grad.clone() for name, grad in zip(model.optimizer.names, model.optimizer.gradients())}

    def test_gradients_are_those_of_the_ordinary_passes(self) -> None:
        rows = batch(12)
        for family in (*FAMILIES, "windowed"):
            path = tiny(family)
            wanted = self.gradients(path, {"dtype": "float32", "compile": False}, rows)
            for checkpointing in (False, True):
                with self.subTest(family=family, checkpointing=checkpointing):
                    found = self.gradients(path, exact("float32"), rows, gradientCheckpointing=checkpointing)
                    self.assertEqual(found.keys(), wanted.keys())
                    for name, grad in found.items():
                        torch.testing.assert_close(grad, wanted[name], atol=2e-5, rtol=1e-4, msg=lambda m, n=name: f"{n}: {m}")
            with self.subTest(family=family, dtype="bfloat16"):
                # as far from the true gradient as the ordinary passes in bfloat16 are
                for name, off in self.off(self.gradients(path, exact("bfloat16"), rows), wanted).items():
                    self.assertLess(off, 0.1, name)

    def off(self, found: dict[str, Tensor], wanted: dict[str, Tensor]) -> dict[str, float]:
        return {name: float((grad - wanted[name]).norm() / (wanted[name].norm() + 1e-3)) for name, grad in found.items()}


class Refused(unittest.TestCase):
    def test_what_would_not_be_equal(self) -> None:
        lora = {"rank": 2, "alpha": 4, "targetModules": "all-linear"}
        cases = [
            ("qwen2", {"lora": lora}, {}, "LoRA"),
            ("qwen2", {}, {"paramOffload": True}, "param_offload"),
            ("gemma2", {}, {}, "gemma2"),
            ("qwen3_moe", {}, {}, "qwen3_moe"),
        ]
        for family, spec, options, what in cases:
            with self.subTest(what), self.assertRaisesRegex(WorkerError, what) as found:
                TrainModel({"path": tiny(family), "seed": 1, **spec}, {**exact("bfloat16"), **options}, World.alone())
            self.assertEqual(found.exception.code, "engine/unsupported")


if __name__ == "__main__":
    unittest.main()
