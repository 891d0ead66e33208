"""Saved state: what is written, that it resumes exactly, and that what is damaged changes nothing."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import tempfile
import unittest
import zipfile
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoModelForTokenClassification

from trinity_torch.errors import WorkerError
from trinity_torch.train.open import open_model
from trinity_torch.world import World

from ..models import CLIPPED, batch, never, tiny
from ..ranks import run
from ..train.test_parallel import SQUARED, whole

LORA = {"rank": 4, "alpha": 8, "targetModules": ["q_proj", "down_proj"]}
DATA = os.environ.get("TRINITY_TEST_DATA", "")
FIXTURES = os.path.join(DATA, "ckpt_fixtures")
STORIES = os.path.join(DATA, "models/stories260K/hf")


def opened(world: World, spec: dict, dtype: str = "float32", **options: Any) -> Any:
    return open_model("train", spec, {"dtype": dtype, "compile": False, **options}, world)


def steps(model: Any, count: int, seed: int = 1) -> list[float]:
    value = model.kind == "value"
    graph, wants = (SQUARED, ["value"]) if value else (CLIPPED, ["logprob"])
    norms = []
    for i in range(count):
        model.forward_backward(batch(5, seed=seed + i), graph, {"tokens": 30.0}, wants, "row", 20, never)
        norms.append(model.optim_step(1e-2, (0.9, 0.95), 1e-8, 0.01, 1.0)[0])
    return norms


def weights(model: Any) -> dict[str, list[float]]:
    masters = zip(model.optimizer.names, model.optimizer.params, model.optimizer.masters)
    return {name: whole(p if model.ranks.several else master) for name, p, master in masters}


def train_and_save(world: World, spec: dict, options: dict, folder: str) -> tuple[dict, list[float]]:
    """Two steps, saved, and two more to compare a resumed run with."""
    model = opened(world, spec, **options)
    steps(model, 2)
    model.save(folder)
    norms = steps(model, 2, seed=9)
    return weights(model), norms


def resume(world: World, spec: dict, options: dict, folder: str) -> tuple[dict, list[float]]:
    model = opened(world, spec, **options)
    steps(model, 1, seed=50)  # so that there is something to forget
    model.load(folder)
    norms = steps(model, 2, seed=9)
    return weights(model), norms


def resume_all(world: World, cases: list[tuple]) -> list[Any]:
    return [resume(world, *case) for case in cases]


def train_all(world: World, cases: list[tuple]) -> list[Any]:
    return [train_and_save(world, *case) for case in cases]


def save_where_it_cannot(world: World, spec: dict, folder: str) -> list[str]:
    """A file stands where a folder or another file should be; only the first rank finds out."""
    model = opened(world, spec)
    said = []
    for place in ("file/weights", "taken"):
        try:
            model.save_weights(os.path.join(folder, place))
        except (WorkerError, OSError) as error:
            said.append(str(error))
    model.save_weights(os.path.join(folder, "free"))
    return said


class Trap:
    """Makes a folder where it is unpickled without care."""

    def __init__(self, path: str):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


class Checkpoints(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="trinity-torch-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, *parts: str) -> str:
        return os.path.join(self.folder, *parts)

    def near(self, one: tuple, other: tuple) -> None:
        for name, x in one[0].items():
            self.assertLess((torch.tensor(x) - torch.tensor(other[0][name])).abs().max(), 1e-4, name)
        self.assertLess((torch.tensor(one[1]) - torch.tensor(other[1])).abs().max(), 1e-4)

    def test_one_rank_resumes_to_the_last_bit(self):
        specs = [({"path": tiny("llama")}, {}), ({"path": tiny("qwen2"), "lora": LORA}, {"dtype": "bfloat16"})]
        specs.append(({"path": tiny("qwen3"), "head": "value"}, {"optimizerOffload": True, "paramOffload": True}))
        for i, (spec, options) in enumerate(specs):
            with self.subTest(i):
                folder = self.path(str(i))
                self.assertEqual(
                    train_and_save(World.alone(), spec, options, folder), resume(World.alone(), spec, options, folder)
                )

    def test_weights_in_bfloat16_leave_the_state_as_exact(self):
        spec, folder = {"path": tiny("llama"), "saveDtype": "bfloat16"}, self.path("half")
        self.assertEqual(train_and_save(World.alone(), spec, {}, folder), resume(World.alone(), spec, {}, folder))
        saved = load_file(os.path.join(folder, "huggingface", "model.safetensors"))
        self.assertTrue(all(x.dtype == torch.bfloat16 for x in saved.values()))

    def test_state_of_any_number_of_ranks_resumes_on_any_other(self):
        lm, adapter = {"path": tiny("qwen2")}, {"path": tiny("qwen2"), "lora": LORA}
        cases = [(lm, {}), (adapter, {"ulysses": 2})]
        alone = [train_and_save(World.alone(), spec, {}, self.path(f"1-{i}")) for i, (spec, _) in enumerate(cases)]
        two = run(2, train_all, [(spec, o, self.path(f"2-{i}")) for i, (spec, o) in enumerate(cases)])[0]
        four = run(4, train_all, [(lm, {"ulysses": 2}, self.path("4-0"))])[0]
        self.assertEqual(sorted(os.listdir(self.path("2-1"))), sorted([
            *(f"{kind}_world_size_2_rank_{r}.pt" for kind in ("model", "optim", "extra_state") for r in (0, 1)),
            "fsdp_config.json", "huggingface", "lora_adapter",
        ]))
        # the same number: to the last bit; another one: up to the order of sums
        again = run(2, resume_all, [
            (lm, {}, self.path("2-0")), (adapter, {"ulysses": 2}, self.path("2-1")),
            (lm, {}, self.path("1-0")), (adapter, {}, self.path("1-1")), (lm, {"ulysses": 2}, self.path("4-0")),
        ])[0]
        self.assertEqual(again[:2], two)
        for one, other in zip(again[2:], [*alone, four[0]]):
            self.near(one, other)
        for spec, folder, other in ((lm, "2-0", two[0]), (adapter, "2-1", two[1]), (lm, "4-0", four[0])):
            self.near(resume(World.alone(), spec, {}, self.path(folder)), other)
        for i in range(2):
            one, other = (load_file(self.path(f"{n}-{i}", "huggingface", "model.safetensors")) for n in (1, 2))
            self.assertEqual(one.keys(), other.keys())
            for name in one:
                self.assertLess((one[name] - other[name]).abs().max(), 1e-4, name)

    def test_a_disk_that_fails_the_first_rank_is_heard_of_by_all(self):
        os.makedirs(self.path("taken", "model.safetensors"))
        with open(self.path("file"), "w"):
            pass
        for said in run(2, save_where_it_cannot, {"path": tiny("llama")}, self.folder):
            self.assertEqual(len(said), 2)
        self.assertEqual(len(load_file(self.path("free", "model.safetensors"))), 21)

    def test_other_loaders_read_the_weights(self):
        path = tiny("qwen2")
        with open(os.path.join(path, "tokenizer_config.json"), "w") as file:
            file.write("{}")
        model = opened(World.alone(), {"path": path, "lora": LORA, "chatTemplate": "{{ mine }}"}, "bfloat16")
        steps(model, 1)
        model.save(self.path("lora"))
        with open(self.path("lora", "huggingface", "chat_template.jinja")) as file:
            self.assertEqual(file.read(), "{{ mine }}")
        self.assertEqual(
            sorted(os.listdir(self.path("lora", "huggingface"))),
            ["chat_template.jinja", "config.json", "generation_config.json", "model.safetensors", "tokenizer_config.json"],
        )
        merged = load_file(self.path("lora", "huggingface", "model.safetensors"))
        self.assertNotIn("lm_head.weight", merged)
        self.assertTrue(all(x.dtype == torch.float32 for x in merged.values()))
        rows = batch(4)
        expected = model.forward(rows, ["logprob"], True, 100, never)["logprob"]
        again = open_model("score", {"path": self.path("lora", "huggingface")}, {"compile": False}, World.alone())
        self.assertLess((again.forward(rows, ["logprob"], True, 100, never)["logprob"] - expected).abs().max(), 0.15)
        with open(self.path("lora", "huggingface", "config.json")) as file:
            config = json.load(file)
        self.assertEqual(config["architectures"], ["Qwen2ForCausalLM"])
        # the adapter alone, as PEFT has it
        adapter = load_file(self.path("lora", "lora_adapter", "adapter_model.safetensors"))
        stem = "base_model.model.model.layers.1.mlp.down_proj"
        base = AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16).get_parameter("model.layers.1.mlp.down_proj.weight")
        delta = adapter[f"{stem}.lora_B.weight"] @ adapter[f"{stem}.lora_A.weight"] * 2
        self.assertTrue(torch.allclose(merged["model.layers.1.mlp.down_proj.weight"], base.float() + delta, atol=1e-6))
        # a critic
        critic = opened(World.alone(), {"path": path, "head": "value", "seed": 3})
        steps(critic, 1)
        critic.save_weights(self.path("critic"))
        loaded = AutoModelForTokenClassification.from_pretrained(self.path("critic"))
        self.assertEqual(loaded.config.num_labels, 1)
        for name, x in weights(critic).items():
            self.assertEqual(loaded.get_parameter(name.removeprefix("hf.")).detach().flatten().tolist(), x)

    def test_damaged_and_hostile_files_change_nothing(self):
        spec = {"path": tiny("llama")}
        model = opened(World.alone(), spec)
        steps(model, 1)
        model.save(self.path("good"))
        steps(model, 1)
        before = weights(model), [x.clone() for x in model.optimizer.m], model.optimizer.steps
        trap = self.path("trap")
        names = [f"{kind}_world_size_1_rank_0.pt" for kind in ("model", "optim", "extra_state")]

        def spoil(name: str, how: str, file: str) -> None:
            state = torch.load(file, weights_only=True)
            if how == "cut":
                os.truncate(file, os.path.getsize(file) // 2)
            elif how == "gone":
                os.remove(file)
            elif how == "hostile":
                with zipfile.ZipFile(file, "w") as archive:
                    archive.writestr("x/data.pkl", pickle.dumps(Trap(trap), protocol=2))
                    archive.writestr("x/version", "3")
            elif how == "other":
                torch.save([1, 2], file)
            elif "model" in name:
                state["model.norm.weight"] = torch.zeros(5) if how == "shape" else torch.zeros(32, dtype=torch.int64)
                torch.save(state, file)
            elif "optim" in name:
                state["state"][3]["step" if how == "shape" else "exp_avg"] = torch.tensor(0.5)
                torch.save(state, file)
            else:
                state["rng"]["cpu" if how == "shape" else "random"] = torch.zeros(7, dtype=torch.uint8)
                torch.save(state, file)

        for name in names:
            for how in ("cut", "gone", "hostile", "other", "shape", "type"):
                if (how, name) == ("gone", names[2]):
                    continue  # veRL can be told not to write it
                with self.subTest(f"{name} {how}"):
                    folder = self.path(f"{name}-{how}")
                    shutil.copytree(self.path("good"), folder)
                    spoil(name, how, os.path.join(folder, name))
                    with self.assertRaises(WorkerError) as caught:
                        model.load(folder)
                    self.assertEqual(caught.exception.code, "engine/bad-checkpoint")
                    self.assertFalse(os.path.exists(trap))
                    self.assertEqual(weights(model), before[0])
                    self.assertTrue(all(map(torch.equal, model.optimizer.m, before[1])))
                    self.assertEqual(model.optimizer.steps, before[2])
        for folder in (self.path("nothing"), self.path("good", "huggingface")):
            with self.assertRaises(WorkerError):
                model.load(folder)
        with self.assertRaises(WorkerError):
            opened(World.alone(), {**spec, "lora": LORA}).load(self.path("good"))
        model.load(self.path("good"))
        self.assertEqual(model.optimizer.steps, 1)

    def test_a_native_state_goes_on_here(self):
        spec = {"path": tiny("qwen2")}
        model = opened(World.alone(), spec)
        steps(model, 2)
        model.save_weights(self.path("huggingface"))
        moments = {}
        for name, m, v in zip(model.optimizer.names, model.optimizer.m, model.optimizer.v):
            moments |= {f"{name.removeprefix('hf.')}.m": m, f"{name.removeprefix('hf.')}.v": v}
        save_file(moments, self.path("optimizer.safetensors"))
        with open(self.path("native_state.json"), "w") as file:
            json.dump({"version": 1, "steps": 2, "lora": False}, file)
        norms = steps(model, 2, seed=9)
        self.assertEqual((weights(model), norms), resume(World.alone(), spec, {}, self.folder))


@unittest.skipUnless(DATA and os.path.isdir(FIXTURES), "TRINITY_TEST_DATA has no ckpt_fixtures")
class Fixtures(unittest.TestCase):
    def setUp(self):
        self.expected = load_file(os.path.join(FIXTURES, "expected_after1step.safetensors"))

    def check(self, model: Any) -> None:
        found = {name.removeprefix("hf."): torch.tensor(x) for name, x in weights(model).items()}
        for name, x in found.items():
            self.assertTrue(torch.equal(x, self.expected[name].flatten()), name)
        self.assertGreater(len(found), 40)

    def test_two_ranks_of_fsdp2_and_of_distributed_checkpoint(self):
        moments = []
        for name in ("verl_fsdp2_world2_after1step", "torch_dcp_world2_after1step"):
            model = opened(World.alone(), {"path": STORIES})
            model.load(os.path.join(FIXTURES, name))
            self.check(model)
            self.assertEqual(model.optimizer.steps, 1)
            moments.append([*model.optimizer.m, *model.optimizer.v])
        self.assertGreater(sum(float(v.sum()) for v in model.optimizer.v), 0)
        self.assertTrue(all(map(torch.equal, *moments)))

    def test_an_index_that_is_hostile_or_a_piece_that_is_cut_changes_nothing(self):
        model = opened(World.alone(), {"path": STORIES})
        before = weights(model)
        for name in (".metadata", "__1_0.distcp"):
            with tempfile.TemporaryDirectory() as folder:
                shutil.copytree(os.path.join(FIXTURES, "torch_dcp_world2_after1step"), folder, dirs_exist_ok=True)
                with open(os.path.join(folder, name), "wb") as file:
                    pickle.dump(Trap(os.path.join(folder, "trap")), file)
                with self.assertRaises(WorkerError) as caught:
                    model.load(folder)
                self.assertEqual(caught.exception.code, "engine/bad-checkpoint")
                self.assertFalse(os.path.exists(os.path.join(folder, "trap")))
        self.assertEqual(weights(model), before)

    def test_weights_in_one_file_and_in_several(self):
        whole_model = opened(World.alone(), {"path": STORIES})
        for name in ("pytorch_model.bin", "hf_sharded_safetensors"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                source = os.path.join(FIXTURES, name)
                files = [os.path.join(source, x) for x in os.listdir(source)] if os.path.isdir(source) else [source]
                for file in [*files, os.path.join(STORIES, "config.json")]:
                    shutil.copy(file, folder)
                self.assertEqual(weights(opened(World.alone(), {"path": folder})), weights(whole_model))


if __name__ == "__main__":
    unittest.main()
