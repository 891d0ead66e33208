"""Modules that become one product, and what computes with it, against the modules as Transformers has them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import unittest
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from trinity_torch.network import blocks, summing
from trinity_torch.network.linear import LeadingLinear
from trinity_torch.network.lora_products import FollowingLora, LeadingFrozen, LeadingLora
from trinity_torch.train.open import open_model
from trinity_torch.train.train_model import TrainModel
from trinity_torch.world import World

from ..models import CLIPPED, FAMILIES, SQUARED, STRETCHED, batch, never, tiny

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# float32, and yet with masters of its own, so that modules sum up by themselves
APART = {"dtype": "float32", "compile": False, "optimizerOffload": True}
ADAPTER = {"rank": 4, "alpha": 8, "targetModules": "all-linear"}


def opened(path: str, options: dict[str, Any], **spec: Any) -> TrainModel:
    return open_model("train", {"path": path, "seed": 1, **spec}, options, World.alone())


def apart(path: str, options: dict[str, Any], **spec: Any) -> TrainModel:
    """With every module by itself."""
    nothing = mock.patch.object(summing, "TOGETHER", ())
    alone = mock.patch.object(summing, "are_adapted", lambda *_: False)
    with nothing, alone:
        return opened(path, options, **spec)


def learned(model: TrainModel, steps: int = 2, count: int = 20, budget: int = 60) -> dict[str, Tensor]:
    """Scores and gradients of some steps, by name, and the scores of the base where there is an adapter."""
    found = {}
    for step in range(steps):
        rows = batch(count, seed=step)
        graph, kind = (CLIPPED, "logprob") if model.kind == "lm" else (SQUARED, "value")
        result = model.forward_backward(rows, graph, {"tokens": 30.0}, [kind], "row", budget, never)
        found[f"{step} {kind}"] = result.scores[kind]
        found.update((f"{step} {name}", g.clone()) for name, g in zip(model.optimizer.names, model.optimizer.gradients()))
        model.optim_step(1e-2, (0.9, 0.999), 1e-8, 0.0, 1.0)
    if model.lora and model.kind == "lm":
        found["base"] = model.forward(batch(count), ["logprob"], False, budget, never)["logprob"]
    return found


def kinds(model: TrainModel) -> set[type]:
    return {type(module) for module in model.network.modules()}


class Same(unittest.TestCase):
    def same(self, ours: TrainModel, theirs: TrainModel, tolerance: float = 2e-4, **more: int) -> None:
        self.assertEqual(list(ours.network.state_dict()), list(theirs.network.state_dict()))
        found, wanted = learned(ours, **more), learned(theirs, **more)
        self.assertEqual(list(found), list(wanted))
        for name, x in wanted.items():
            off = (found[name] - x).norm() / x.norm().clamp(min=1e-6)
            self.assertLess(float(off), tolerance, name)


class Together(Same):
    def test_families(self) -> None:
        for family in FAMILIES:
            with self.subTest(family):
                path = tiny(family)
                ours = opened(path, APART)
                self.assertEqual(LeadingLinear in kinds(ours), family != "phi3")
                whole = {"attention": blocks.Attends, "gate": blocks.Fed}
                has = {name: any(issubclass(kind, one) for kind in kinds(ours)) for name, one in whole.items()}
                self.assertEqual(has["attention"], family in ("llama", "mistral", "qwen2", "windowed"))
                self.assertEqual(has["gate"], family not in ("phi3", "gemma2", "gemma3"))
                self.same(ours, apart(path, APART))

    def test_rotations(self) -> None:
        for name in ("yarn", "dynamic"):
            with self.subTest(name):
                family, more = STRETCHED[name]
                path = tiny(family, **more)
                self.same(opened(path, APART), apart(path, APART))

    def test_checkpointing(self) -> None:
        path = tiny("qwen2")
        self.same(opened(path, APART, gradientCheckpointing=True), apart(path, APART))

    def test_compiled(self) -> None:
        path = tiny("qwen2")
        compiled = mock.patch.object(torch.nn.Module, "compile", lambda layer, **more: _compile(layer, backend="aot_eager", **more))
        for name, spec in {"all": {}, "LoRA": {"lora": ADAPTER}}.items():
            with self.subTest(name), compiled:
                # one pack: attention on the CPU is compiled anew for every number of sequences
                self.same(opened(path, {**APART, "compile": True}, **spec), apart(path, APART, **spec), steps=1, count=2, budget=1000)

    def test_bfloat16_stays_near_float32(self) -> None:
        path = tiny("qwen2")
        for name, spec in {"all": {}, "LoRA": {"lora": ADAPTER}}.items():
            with self.subTest(name):
                self.same(opened(path, {"dtype": "bfloat16", "compile": False}, **spec), opened(path, APART, **spec), 0.2, steps=1)


class Adapters(Same):
    def test_families(self) -> None:
        for family in ("qwen2", "qwen3", "gemma3", "phi3", "qwen3_moe"):
            with self.subTest(family):
                path = tiny(family)
                ours = opened(path, APART, lora=ADAPTER)
                self.assertIn(LeadingLora, kinds(ours))
                self.same(ours, apart(path, APART, lora=ADAPTER))

    def test_some_modules(self) -> None:
        path = tiny("qwen2")
        for targets in (["q_proj", "v_proj"], ["v_proj"], ["up_proj", "o_proj"], ["down_proj"]):
            with self.subTest(targets):
                lora = {**ADAPTER, "targetModules": targets}
                ours = opened(path, APART, lora=lora)
                self.assertEqual(LeadingFrozen in kinds(ours), targets[0] in ("v_proj", "up_proj"))
                self.assertEqual(FollowingLora in kinds(ours), "v_proj" in targets or "up_proj" in targets)
                self.same(ours, apart(path, APART, lora=lora))

    def test_a_head_with_an_adapter(self) -> None:
        path = tiny("llama")
        lora = {**ADAPTER, "targetModules": ["q_proj", "lm_head", "embed_tokens"]}
        self.same(opened(path, APART, lora=lora), apart(path, APART, lora=lora))

    def test_a_critic(self) -> None:
        path = tiny("qwen2")
        model = opened(path, APART, lora=ADAPTER, head="value")
        self.assertIn(LeadingLora, kinds(model))
        self.same(model, apart(path, APART, lora=ADAPTER, head="value"))

    def test_an_adapter_with_checkpointing(self) -> None:
        path = tiny("qwen2")
        given: dict[str, Any] = {"lora": ADAPTER, "gradientCheckpointing": True}
        self.same(opened(path, APART, **given), apart(path, APART, **given))


class Order(unittest.TestCase):
    """The first module computes for the others, so it has to be called first, and on the same input."""

    def test_modules_that_are_called_in_another_order_stay_apart(self) -> None:
        class Otherwise(torch.nn.Module):
            def forward(self, x: Tensor) -> Tensor:
                return self.up_proj(x) * self.gate_proj(x)

        class Across(torch.nn.Module):
            def forward(self, x: Tensor, other: Tensor) -> Tensor:
                return self.q_proj(x) + self.k_proj(other) + self.v_proj(other)

        class Usual(torch.nn.Module):
            def forward(self, x: Tensor) -> Tensor:
                return self.gate_proj(x) * self.up_proj(x)

        three, two = summing.TOGETHER
        self.assertFalse(summing.in_order(Otherwise, two))
        self.assertFalse(summing.in_order(Across, three))
        self.assertTrue(summing.in_order(Usual, two))

    def test_what_comes_behind_a_feed_forward_part_is_not_dropped(self) -> None:
        from transformers.models.llama.modeling_llama import LlamaMLP
        from transformers.models.seed_oss.modeling_seed_oss import SeedOssMLP

        self.assertTrue(blocks._is_fed(LlamaMLP))
        self.assertFalse(blocks._is_fed(SeedOssMLP))


_compile = torch.nn.Module.compile


@unittest.skipUnless(importlib.util.find_spec("triton"), "no triton in this environment")
class Kernels(unittest.TestCase):
    def test_kernels_do_what_their_twins_do(self) -> None:
        done = subprocess.run(
            [sys.executable, "-c", "from tests.network.kernels import check; check('cpu')"],
            cwd=HERE, env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])


if __name__ == "__main__":
    unittest.main()
