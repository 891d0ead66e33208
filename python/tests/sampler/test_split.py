"""One sampler over several ranks: tokens and log-probs are those of one process."""

from __future__ import annotations

import os
import tempfile
import unittest
from dataclasses import replace
from typing import Any

import torch

from trinity_torch.errors import WorkerError
from trinity_torch.sampler.split import Split
from trinity_torch.world import World

from .. import ranks
from ..models import F32, batch, never, tiny
from .test_engine import Desk, prompt, wish


# an odd vocabulary, tied and not; biases; norms of queries and keys; windows, scaled embeddings and norms behind
KINDS = ("llama", "qwen2", "qwen3", "gemma3")


def work(world: World, models: list[tuple[str, str]], folder: str) -> list[dict[str, Any]]:
    return [said(world, *paths, os.path.join(folder, f"{i}_{world.size}")) for i, paths in enumerate(models)]


def said(world: World, path: str, other: str, folder: str) -> dict[str, Any]:
    """What a sampler says of this and that, with the weights of one folder, then of another."""
    desk = Desk(F32, world)
    model = desk.open(path, cacheTokens=2048, maxBatch=8)
    sampler = desk.worker.named(model)
    wishes = [wish(greedy=True), wish(seedLow=7, topK=20, reshaped=True), wish(invT=0.7, minTokens=4, banned=[3], ends=[3])]
    numbers: list[int] = []

    def ask() -> None:
        for i, one in enumerate(wishes):
            given = prompt(*range(1, 4 + 9 * i))
            numbers.append(desk.ask("sample", given, model=model, n=2, wish=one, promptLogprobs=True))
        desk.run()

    ask()
    scores = sampler.forward(batch(), ["logprob"], True, 1000, never)["logprob"]
    loaded = desk.ask("loadWeights", model=model, dir=other, version=3, inFlight="finish")
    desk.run()
    desk.result(loaded)
    ask()
    desk.result(desk.ask("saveWeights", model=model, dir=folder))
    tensors = [desk.answers[number][1] for number in numbers]
    return {
        "info": sampler.info,
        "samples": [desk.samples(number) for number in numbers],
        "numbers": torch.cat([scores, *(one[kind] for one in tensors for kind in ("logprobs", "promptLogprobs"))]).tolist(),
    }


class Splits(unittest.TestCase):
    def test_tokens_and_logprobs_are_those_of_one_process(self) -> None:
        from safetensors.torch import load_file

        models = [(tiny(kind), tiny(kind, seed=5)) for kind in KINDS]
        with tempfile.TemporaryDirectory() as folder:
            alone = work(World.alone(), models, folder)
            for found in ranks.run(2, work, models, folder):
                for ours, theirs, kind in zip(found, alone, KINDS, strict=True):
                    self.assertEqual(ours["info"], theirs["info"], kind)
                    self.assertEqual(ours["samples"], theirs["samples"], kind)
                    numbers = (torch.tensor(one["numbers"]) for one in (ours, theirs))
                    torch.testing.assert_close(*numbers, atol=2e-5, rtol=0, equal_nan=True)
            for i in range(len(KINDS)):
                one, two = (load_file(os.path.join(folder, f"{i}_{n}", "model.safetensors")) for n in (1, 2))
                self.assertEqual(one.keys(), two.keys())
                for name, weight in one.items():
                    self.assertTrue(torch.equal(weight, two[name]), name)

    def test_a_size_that_does_not_divide_the_heads_is_refused_with_the_key(self) -> None:
        with self.assertRaisesRegex(WorkerError, "num_attention_heads of this model is 4, which 3 GPUs") as caught:
            Split(replace(World.alone(), size=3)).load(tiny("qwen2"), torch.device("cpu"), torch.float32)
        self.assertEqual(caught.exception.path, "explorer.rollout_model.tensor_parallel_size")

    def test_what_cannot_be_split_is_refused(self) -> None:
        world = replace(World.alone(), size=2)
        for kind, what in (("phi3", "qkv_proj'"), ("olmo2", "a norm over all heads")):
            with self.assertRaisesRegex(WorkerError, what) as caught:
                Split(world, 1).load(tiny(kind), torch.device("cpu"), torch.float32)
            self.assertEqual(caught.exception.path, "explorer.auxiliary_models[1].tensor_parallel_size")

    def test_weights_of_another_kind_of_model_are_refused(self) -> None:
        split = Split(replace(World.alone(), size=2))
        places = {"lm_head.weight": torch.empty(61, 30)}
        with self.assertRaisesRegex(WorkerError, r"lm_head.weight' is \[61, 32\]"):
            list(split.read(tiny("llama"), places))
        with self.assertRaisesRegex(WorkerError, "the weight 'absent' is missing"):
            list(split.read(tiny("llama"), {"absent": torch.empty(1)}))
