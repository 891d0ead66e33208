"""What is read of a model's files."""

from __future__ import annotations

import os
import unittest
from typing import Any
from unittest import mock

import safetensors.torch
import torch
from transformers import AutoModelForCausalLM

from trinity_torch.errors import WorkerError
from trinity_torch.network import transformer
from trinity_torch.network.transformer import is_narrow, load
from trinity_torch.train.model import Model
from trinity_torch.train.open import open_model
from trinity_torch.world import World

from ..models import F32, FAMILIES, tiny

BF16 = {"dtype": "bfloat16", "compile": False}


def narrow(family: str) -> str:
    path = tiny(family)
    AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16).save_pretrained(path)
    return path


def numbers(model: Any) -> dict[str, torch.Tensor]:
    """Everything that a model computes with."""
    network = model.network
    found = {**dict(network.named_parameters()), **{f"buffer {name}": b for name, b in network.named_buffers()}}
    masters = getattr(model, "optimizer", None)
    return {**found, **({f"master {name}": x for name, x in zip(masters.names, masters.masters)} if masters else {})}


class Finite(unittest.TestCase):
    def change(self, value: float, everywhere: bool = False) -> str:
        path = tiny("llama")
        file = os.path.join(path, "model.safetensors")
        weights = safetensors.torch.load_file(file)
        name = "model.layers.1.mlp.down_proj.weight"
        weights[name].view(-1)[0 if everywhere else -1 :] = value
        safetensors.torch.save_file(weights, file, {"format": "pt"})
        return path

    def test_what_is_not_finite_is_refused(self) -> None:
        for value in (float("nan"), float("inf"), float("-inf")):
            with self.subTest(value), self.assertRaises(WorkerError) as caught:
                load(self.change(value), "lm", 0)
            self.assertEqual(caught.exception.code, "model/not-finite")
            self.assertIn("down_proj", str(caught.exception))

    def test_a_sum_may_overflow(self) -> None:
        load(self.change(3e38, everywhere=True), "lm", 0)


class Narrow(unittest.TestCase):
    def test_which_files_are(self) -> None:
        self.assertTrue(is_narrow(narrow("llama")))
        self.assertFalse(is_narrow(tiny("llama")))
        path = narrow("qwen3")
        AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16).save_pretrained(path, max_shard_size="4KB")
        os.remove(os.path.join(path, "model.safetensors"))
        self.assertTrue(is_narrow(path))

    def test_every_bit_is_the_same(self) -> None:
        """As on a GPU, where they are widened there."""
        for family in FAMILIES:
            path = narrow(family)
            for kind, options in (("train", BF16), ("train", F32), ("score", BF16), ("score", F32)):
                with self.subTest(f"{family} {kind} {options['dtype']}"):
                    spec = {"path": path, "seed": 1}
                    plain = open_model(kind, spec, options, World.alone())
                    with mock.patch.object(Model, "widens", lambda _: True):
                        found = open_model(kind, spec, options, World.alone())
                    wide, own = numbers(plain), numbers(found)
                    self.assertEqual(list(wide), list(own))
                    for name, x in wide.items():
                        self.assertEqual(x.dtype, own[name].dtype, name)
                        self.assertTrue(torch.equal(x, own[name]), name)

    def test_they_are_read_as_they_are(self) -> None:
        path = narrow("qwen2")
        with mock.patch.object(transformer, "_read", wraps=transformer._read) as read:
            dtypes = {p.dtype for p in load(path, "lm", 0, narrow=True).parameters()}
        self.assertEqual((dtypes, read.call_count), ({torch.bfloat16}, 1))
        # a head that is not in the files is drawn, and drawn in float32
        self.assertEqual({p.dtype for p in load(path, "value", 0, narrow=True).parameters()}, {torch.float32})
