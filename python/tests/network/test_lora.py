"""An adapter directory against the same model with the adapter added to its weights by hand."""

from __future__ import annotations

import json
import math
import os
import tempfile
import unittest

import torch
from safetensors.torch import load_file, save_file

from trinity_torch.errors import WorkerError
from trinity_torch.train.open import open_model
from trinity_torch.world import World

from ..models import F32, batch, never, tiny

Q, DOWN = "model.layers.0.self_attn.q_proj", "model.layers.1.mlp.down_proj"
PLAIN = {"peft_type": "LORA", "r": 2, "lora_alpha": 6, "target_modules": ["q_proj", "down_proj"]}
ASKED = {"rank": 32, "alpha": 32, "targetModules": "all-linear"}


def adapter(config, ranks, extra=()):
    folder = tempfile.mkdtemp(prefix="trinity-adapter-")
    tensors = {}
    for module, rank in ranks.items():
        width = 32 if module == Q else 48
        tensors[f"base_model.model.{module}.lora_A.weight"] = torch.randn(rank, width)
        tensors[f"base_model.model.{module}.lora_B.weight"] = torch.randn(32, rank)
    tensors.update({name: torch.zeros(2) for name in extra})
    save_file(tensors, os.path.join(folder, "adapter_model.safetensors"))
    with open(os.path.join(folder, "adapter_config.json"), "w") as file:
        json.dump(config, file)
    return folder, tensors


def trained(path, folder, **more):
    return open_model("train", {"path": path, "lora": {**ASKED, "path": folder}, **more}, F32, World.alone())


def logprobs(model):
    return model.forward(batch(), ["logprob"], True, 100, never)["logprob"]


class Adapters(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def test_the_scale_is_that_of_its_own_file(self):
        patterns = {"rank_pattern": {"down_proj": 5}, "alpha_pattern": {"^" + Q: 1, r"layers\.\d+\.mlp\.down_proj": 10}}
        cases = [
            ({}, {Q: (2, 3.0), DOWN: (2, 3.0)}),
            ({"use_rslora": True}, {Q: (2, 6 / math.sqrt(2)), DOWN: (2, 6 / math.sqrt(2))}),
            (patterns, {Q: (2, 0.5), DOWN: (5, 2.0)}),
        ]
        for change, parts in cases:
            with self.subTest(change):
                path = tiny("qwen3")
                folder, tensors = adapter({**PLAIN, **change}, {name: rank for name, (rank, _) in parts.items()})
                model = trained(path, folder)
                own = logprobs(model)
                self.assertIn("rank 2 instead of 32", model.info["notes"][0])
                saved = tempfile.mkdtemp(prefix="trinity-adapter-")
                model.save(saved)
                again = trained(path, os.path.join(saved, "lora_adapter"))
                self.assertTrue(torch.equal(logprobs(again), own))
                file = os.path.join(path, "model.safetensors")
                weights = load_file(file)
                for name, (_, scale) in parts.items():
                    a, b = (tensors[f"base_model.model.{name}.lora_{x}.weight"] for x in "AB")
                    weights[f"{name}.weight"] += scale * (b @ a)
                save_file(weights, file, {"format": "pt"})
                whole = logprobs(open_model("score", {"path": path}, F32, World.alone()))
                self.assertLess((own - whole).abs().max(), 1e-4)

    def test_another_scale_does_not_resume(self):
        path, saved = tiny("qwen2"), tempfile.mkdtemp(prefix="trinity-adapter-")
        spec = {"rank": 4, "alpha": 8, "targetModules": ["q_proj"]}
        open_model("train", {"path": path, "lora": spec}, F32, World.alone()).save(saved)
        other = open_model("train", {"path": path, "lora": {**spec, "alpha": 16}}, F32, World.alone())
        with self.assertRaisesRegex(WorkerError, "scale 2 .* this model has 4 and 4"):
            other.load(saved)

    def test_numbers_of_the_configuration_keep_their_format(self):
        path, saved, again = tiny("qwen2"), tempfile.mkdtemp(prefix="trinity-adapter-"), tempfile.mkdtemp(prefix="trinity-adapter-")
        spec = {"rank": 4, "alpha": 8, "targetModules": ["q_proj"]}
        for to, given in ((saved, {}), (again, {"path": os.path.join(saved, "lora_adapter")})):
            open_model("train", {"path": path, "lora": {**spec, **given}}, F32, World.alone()).save(to)
            with open(os.path.join(to, "lora_adapter", "adapter_config.json")) as file:
                self.assertRegex(file.read(), r'"lora_alpha": 8,')

    def test_a_head_beside_the_adapter(self):
        path, saved = tiny("qwen2"), tempfile.mkdtemp(prefix="trinity-adapter-")
        fresh = {"path": path, "head": "value", "lora": {**ASKED, "rank": 2}}
        open_model("train", fresh, F32, World.alone()).save(saved)
        folder = os.path.join(saved, "lora_adapter")
        with open(os.path.join(folder, "adapter_config.json")) as file:
            config = json.load(file)
        self.assertEqual((config["task_type"], config["modules_to_save"]), ("TOKEN_CLS", ["score"]))
        trained(path, folder, head="value")
        with self.assertRaisesRegex(WorkerError, "modules_to_save"):
            trained(path, folder)

    def test_what_is_not_computed_here_is_refused_by_name(self):
        cases = [
            ({"use_dora": True}, (), "use_dora"),
            ({"modules_to_save": ["lm_head"]}, (), "modules_to_save \\(lm_head"),
            ({"bias": "all"}, (), "bias: all"),
            ({"init_lora_weights": "pissa"}, (), "pissa"),
            ({"use_new": True}, (), "use_new"),
            ({}, ("base_model.model.model.embed_tokens.lora_embedding_A",), "other half"),
            ({}, ("base_model.model.lm_head.base_layer.weight",), "resized"),
            ({}, ("base_model.model.model.norm.lora_A.weight",), "no module that can have an adapter"),
            ({"r": 3}, (), "rank 2, adapter_config.json says 3"),
            ({"target_modules": ["q_proj", "down_proj", "k_proj"]}, (), "'k_proj'"),
            ({"target_modules": ["q_proj"]}, (), "not among target_modules"),
        ]
        path = tiny("llama")
        for change, extra, message in cases:
            with self.subTest(message):
                folder, _ = adapter({**PLAIN, **change}, {Q: 2, DOWN: 2}, extra)
                with self.assertRaisesRegex(WorkerError, message):
                    trained(path, folder)
        folder, _ = adapter(PLAIN, {Q: 2, DOWN: 2})
        os.remove(os.path.join(folder, "adapter_config.json"))
        with self.assertRaisesRegex(WorkerError, "has no adapter_config.json"):
            trained(path, folder)
