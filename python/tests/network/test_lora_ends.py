"""Adapters of the embedding and the head: against plain autograd over Transformers, and against PEFT where it is installed."""

from __future__ import annotations

import importlib.util
import os
import tempfile
import unittest
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from trinity_torch.errors import WorkerError
from trinity_torch.network import head, lora
from trinity_torch.network.rows import Rows
from trinity_torch.sampler.weights import weights_of
from trinity_torch.train.open import open_model
from trinity_torch.train.score_model import ScoreModel
from trinity_torch.train.train_model import TrainModel
from trinity_torch.world import World

from ..models import F32, batch, never, node, tiny

TARGETS = ["embed_tokens", "lm_head", "q_proj"]
SPEC = {"rank": 3, "alpha": 6, "targetModules": TARGETS}
SURPRISE = {
    "version": 1,
    "nodes": [node("score", name="logprob"), node("column", name="advantage", shape="token"), node("mul", 0, 1),
              node("score", name="entropy"), node("add", 2, 3), node("total", 4), node("neg", 5)],
    "loss": 6,
    "metrics": [],
}  # fmt: skip
EMBEDDING = "model.embed_tokens"


def opened(base: str, **spec: Any) -> TrainModel:
    model = open_model("train", {"path": base, "lora": {**SPEC, **spec}}, F32, World.alone())
    assert isinstance(model, TrainModel)
    return model


def stir(model: TrainModel) -> None:
    """A new adapter changes nothing: give both factors something to say."""
    with torch.no_grad():
        for p, master in zip(model.optimizer.params, model.optimizer.masters):
            master.copy_(torch.randn_like(p) * 0.3)
            p.copy_(master)


def learn(model: TrainModel, coupling: str = "row") -> dict[str, torch.Tensor]:
    """Gradients by the names of Transformers."""
    model.forward_backward(batch(), SURPRISE, {}, ["logprob"], coupling, 30 if coupling == "batch" else 1000, never)
    found = {name.removeprefix("hf."): grad.clone() for name, grad in zip(model.optimizer.names, model.optimizer.gradients())}
    model.discard_grad()
    return found


def reference(weights: Any, rows: Rows) -> torch.Tensor:
    """The loss by plain arithmetic: `weights(ids)` gives the logits of a sequence."""
    loss = torch.zeros(())
    at = token = 0
    for i, (length, start) in enumerate(zip(rows.lengths.tolist(), rows.starts.tolist())):
        ids = rows.tokens[at : at + length].long()
        scored = length - start
        log_p = (weights(ids[None])[0] / rows.temperatures[i]).log_softmax(-1)[start - 1 : -1]
        active = rows.mask[token : token + scored].bool()
        taken = log_p.gather(1, ids[start:, None])[:, 0] * rows.token_columns["advantage"][token : token + scored]
        loss = loss - (taken - (log_p.exp() * log_p).sum(-1))[active].sum()
        at, token = at + length, token + scored
    return loss


class Ends(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(0)

    def test_a_new_adapter_changes_nothing_and_off_is_the_base(self) -> None:
        path = tiny("llama")
        model = opened(path)
        base = open_model("score", {"path": path}, F32, World.alone())
        assert isinstance(base, ScoreModel)
        wanted = base.forward(batch(), ["logprob"], True, 100, never)["logprob"]
        self.assertTrue(torch.equal(model.forward(batch(), ["logprob"], True, 100, never)["logprob"], wanted))
        self.assertEqual(model.info["trainableParameters"], 2 * 3 * (61 + 32) + 2 * 3 * (32 + 32))
        stir(model)
        on, off = (model.forward(batch(), ["logprob"], one, 100, never)["logprob"] for one in (True, False))
        self.assertTrue(torch.equal(off, wanted))
        self.assertGreater((on - wanted).abs().max(), 0.1)

    def test_gradients_are_those_of_autograd(self) -> None:
        path = tiny("llama")
        model = opened(path, targetModules=["embed_tokens", "lm_head"])
        stir(model)
        hf = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
        factors = {
            name.removeprefix("hf."): p.detach().clone().requires_grad_(True)
            for name, p in zip(model.optimizer.names, model.optimizer.params)
        }

        def logits(ids: torch.Tensor) -> torch.Tensor:
            a, b = factors[f"{EMBEDDING}.lora_embedding_A"], factors[f"{EMBEDDING}.lora_embedding_B"]
            x = hf.model.embed_tokens(ids) + 2 * a.t()[ids] @ b.t()
            hidden = hf.model(inputs_embeds=x).last_hidden_state
            a, b = factors["lm_head.lora_A.weight"], factors["lm_head.lora_B.weight"]
            return hf.lm_head(hidden) + 2 * (hidden @ a.t()) @ b.t()

        reference(logits, batch()).backward()
        for coupling in ("row", "batch"):
            for limit in (head.CHUNK, 61 * 5):
                head.CHUNK, kept = limit, head.CHUNK
                found = learn(model, coupling)
                head.CHUNK = kept
                for name, p in factors.items():
                    assert p.grad is not None
                    torch.testing.assert_close(found[name], p.grad, atol=2e-5, rtol=1e-4)

    def test_a_sampler_and_any_loader_get_the_merged_weights(self) -> None:
        path, saved = tiny("qwen3"), tempfile.mkdtemp(prefix="trinity-adapter-")
        model = opened(path)
        stir(model)
        own = model.forward(batch(), ["logprob"], True, 100, never)["logprob"]
        model.save(saved)
        whole = open_model("score", {"path": os.path.join(saved, "huggingface")}, F32, World.alone())
        again = opened(path, path=os.path.join(saved, "lora_adapter"))
        for other in (whole, again):
            assert isinstance(other, ScoreModel)
            self.assertLess((other.forward(batch(), ["logprob"], True, 100, never)["logprob"] - own).abs().max(), 2e-5)
        merged = load_file(os.path.join(saved, "huggingface", "model.safetensors"))
        for name, weight in weights_of(model):
            torch.testing.assert_close(weight, merged[name])
        resumed = opened(path)
        resumed.load(saved)
        self.assertTrue(torch.equal(resumed.forward(batch(), ["logprob"], True, 100, never)["logprob"], own))

    def test_tied_ends_are_refused(self) -> None:
        for name in ("embed_tokens", "lm_head"):
            with self.assertRaisesRegex(WorkerError, f"ties embed_tokens and lm_head, so '{name}'"):
                opened(tiny("qwen2"), targetModules=[name])
        open_model("train", {"path": tiny("qwen2"), "head": "value", "lora": {**SPEC, "targetModules": ["embed_tokens"]}}, F32, World.alone())


@unittest.skipUnless(importlib.util.find_spec("peft"), "no peft in this environment")
class Peft(unittest.TestCase):
    def test_adapters_of_peft_mean_the_same_here_and_ours_there(self) -> None:
        import peft

        torch.manual_seed(0)
        path, folder, saved = tiny("llama"), *(tempfile.mkdtemp(prefix="trinity-adapter-") for _ in range(2))
        base = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
        config = peft.LoraConfig(r=3, lora_alpha=5, target_modules=TARGETS, use_rslora=True, rank_pattern={"lm_head": 4})
        wrapped = peft.get_peft_model(base, config)
        with torch.no_grad():
            for p in wrapped.parameters():
                if p.requires_grad:
                    p.copy_(torch.randn_like(p) * 0.3)
        wrapped.save_pretrained(folder)
        # PEFT saves the embedding beside its adapter
        self.assertTrue(any("base_layer" in name for name in load_file(os.path.join(folder, lora.WEIGHTS))))
        model = opened(path, path=folder)
        loss = reference(lambda ids: wrapped(ids).logits, batch())
        loss.backward()
        theirs = {name.replace("base_model.model.", "", 1): p.grad for name, p in wrapped.named_parameters() if p.requires_grad}
        found = learn(model)
        self.assertEqual(len(found), len(theirs))
        for name, grad in theirs.items():
            torch.testing.assert_close(found[name.replace(".default", "")], grad, atol=2e-5, rtol=1e-4)
        model.save(saved)
        again = peft.PeftModel.from_pretrained(
            AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32), os.path.join(saved, "lora_adapter")
        )
        for name, p in again.state_dict().items():
            torch.testing.assert_close(p, wrapped.state_dict()[name])
        # an embedding that was trained as well is another model
        tensors = load_file(os.path.join(folder, lora.WEIGHTS))
        tensors[f"base_model.model.{EMBEDDING}.base_layer.weight"] += F.one_hot(torch.tensor(3), 32).float()
        save_file(tensors, os.path.join(folder, lora.WEIGHTS))
        with self.assertRaisesRegex(WorkerError, "resized or trained"):
            opened(path, path=folder)


if __name__ == "__main__":
    unittest.main()
