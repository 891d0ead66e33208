"""The engine's numbers against plain Transformers and autograd."""

from __future__ import annotations

import json
import os
import tempfile
import unittest

import safetensors.torch
import torch
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

from trinity_torch.checkpoint import state
from trinity_torch.network import head
from trinity_torch.train.open import open_model
from trinity_torch.world import World

from ..models import CLIPPED, F32, FAMILIES, batch, never, tiny


def plain(path, rows, norms):
    """Loss, gradients and scores from one sequence at a time."""
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    at = scored = 0
    loss = torch.zeros((), dtype=torch.float64)
    logprobs, entropies = [], []
    for r in range(len(rows)):
        n, start = int(rows.lengths[r]), int(rows.starts[r])
        ids = rows.tokens[at : at + n].long()
        at += n
        logits = model(ids[None]).logits[0, start - 1 : n - 1].double() / rows.temperatures[r]
        log_p = logits.log_softmax(-1)
        lp = log_p.gather(1, ids[start:, None])[:, 0]
        h = -(log_p.exp() * log_p).sum(-1)
        here = slice(scored, scored + n - start)
        scored += n - start
        mask = rows.mask[here].bool()
        ratio = (lp - rows.token_columns["old"][here]).exp()
        a = rows.token_columns["advantage"][here]
        per = torch.minimum(a * ratio, a * ratio.clamp(0.8, 1.2)) + 0.01 * h
        loss = loss - per[mask].sum() / norms["tokens"]
        logprobs.append(lp)
        entropies.append(h)
    loss.backward()
    return loss.item(), dict(model.named_parameters()), torch.cat(logprobs), torch.cat(entropies)


class Training(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def test_scores_and_gradients_are_those_of_transformers(self):
        for family in FAMILIES:
            with self.subTest(family):
                path, rows, norms = tiny(family), batch(), {"tokens": 30.0}
                loss, params, logprob, entropy = plain(path, rows, norms)
                for budget, chunk in ((1, 2**28), (30, 61 * 128), (10_000, 2**28)):
                    head.CHUNK = chunk
                    model = open_model("train", {"path": path, "seed": 1}, F32, World.alone())
                    result = model.forward_backward(rows, CLIPPED, norms, ["logprob", "entropy"], "row", budget, never)
                    self.assertAlmostEqual(result.loss, loss, delta=1e-5)
                    self.assertLess((result.scores["logprob"] - logprob).abs().max(), 1e-4)
                    self.assertLess((result.scores["entropy"] - entropy).abs().max(), 1e-4)
                    for name, p in zip(model.optimizer.names, model.optimizer.params):
                        other = params[name.removeprefix("hf.")].grad
                        off = (p.grad - other).norm() / other.norm()
                        self.assertLess(off, 1e-4, name)
                    scored = model.forward(rows, ["logprob"], True, budget, never)
                    self.assertLess((scored["logprob"] - logprob).abs().max(), 1e-4)

    def test_experts_are_saved_one_by_one_as_transformers_does(self):
        path = tiny("qwen3_moe")
        model = open_model("train", {"path": path, "seed": 1}, F32, World.alone())
        with tempfile.TemporaryDirectory() as folder:
            state.save_weights(model, folder)
            files = [safetensors.torch.load_file(os.path.join(at, "model.safetensors")) for at in (path, folder)]
        self.assertEqual(files[0].keys(), files[1].keys())
        for name, tensor in files[0].items():
            self.assertTrue(torch.equal(tensor, files[1][name]), name)

    def test_a_loss_over_the_whole_batch_is_the_same_in_one_and_in_many_micro_batches(self):
        path, rows, norms = tiny("qwen3"), batch(), {"tokens": 30.0}
        found = []
        for budget in (20, 10_000):
            model = open_model("train", {"path": path}, F32, World.alone())
            result = model.forward_backward(rows, CLIPPED, norms, ["logprob", "entropy"], "batch", budget, never)
            found.append((result.loss, model.optim_step(0.0, (0.9, 0.99), 1e-8, 0.0, 0.0)[0], result.metrics))
        self.assertAlmostEqual(found[0][0], found[1][0], delta=1e-6)
        self.assertAlmostEqual(found[0][1], found[1][1], delta=1e-5)
        self.assertAlmostEqual(found[0][2]["ratio"]["value"], found[1][2]["ratio"]["value"], delta=1e-6)

    def test_bfloat16_stays_near_float32(self):
        path, rows = tiny("qwen2"), batch(20)
        models = [
            open_model("train", {"path": path}, {"dtype": d, "compile": False}, World.alone())
            for d in ("float32", "bfloat16")
        ]
        one, other = (m.forward(rows, ["logprob"], True, 100, never)["logprob"] for m in models)
        off = (one - other).abs()
        self.assertLess(off.mean(), 2e-2)
        self.assertLess(off.quantile(0.99), 0.1)
        norms = []
        for m in models:
            m.forward_backward(rows, CLIPPED, {"tokens": 50.0}, ["logprob"], "row", 50, never)
            norms.append(m.optim_step(1e-3, (0.9, 0.999), 1e-8, 0.01, 1.0)[0])
        self.assertLess(abs(norms[0] - norms[1]) / norms[0], 0.05)

    def test_steps_are_those_of_adamw(self):
        path, rows = tiny("llama"), batch()
        model = open_model("train", {"path": path}, F32, World.alone())
        twin = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
        adam = torch.optim.AdamW(twin.parameters(), lr=1e-2, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
        for _ in range(5):
            model.forward_backward(rows, CLIPPED, {"tokens": 30.0}, ["logprob"], "row", 40, never)
            for name, p in twin.named_parameters():
                p.grad = dict(zip(model.optimizer.names, model.optimizer.params))["hf." + name].grad.clone()
            norm = torch.nn.utils.clip_grad_norm_(twin.parameters(), 0.1)
            adam.step()
            found, applied = model.optim_step(1e-2, (0.9, 0.95), 1e-8, 0.1, 0.1)
            self.assertTrue(applied)
            self.assertAlmostEqual(found, float(norm), delta=1e-5)
        for name, p in twin.named_parameters():
            mine = dict(zip(model.optimizer.names, model.optimizer.masters))["hf." + name]
            self.assertLess((mine - p).abs().max(), 1e-6, name)

    def test_lora_starts_as_the_base_and_trains_only_itself(self):
        path, rows = tiny("qwen2"), batch()
        lora = {"rank": 4, "alpha": 8, "targetModules": ["q_proj", "down_proj"]}
        base = open_model("score", {"path": path}, F32, World.alone())
        model = open_model("train", {"path": path, "lora": lora}, F32, World.alone())
        before = base.forward(rows, ["logprob"], True, 100, never)["logprob"]
        self.assertTrue(torch.equal(model.forward(rows, ["logprob"], True, 100, never)["logprob"], before))
        for _ in range(3):
            model.forward_backward(rows, CLIPPED, {"tokens": 30.0}, ["logprob"], "row", 40, never)
            model.optim_step(1e-2, (0.9, 0.95), 1e-8, 0.0, 1.0)
        on, off = (model.forward(rows, ["logprob"], a, 100, never)["logprob"] for a in (True, False))
        self.assertTrue(torch.equal(off, before))
        self.assertGreater((on - before).abs().max(), 1e-3)
        self.assertTrue(all(".lora_" in name for name in model.optimizer.names))

    def test_a_critic_and_a_reward_model(self):
        path, rows = tiny("qwen3"), batch()
        critic = open_model("train", {"path": path, "head": "value", "seed": 3}, F32, World.alone())
        squared = {
            "version": 1,
            "nodes": [
                {"op": "score", "name": "value"},
                {"op": "column", "name": "advantage", "shape": "token"},
                {"op": "sub", "in": [0, 1]},
                {"op": "mul", "in": [2, 2]},
                {"op": "total", "in": [3]},
            ],
            "loss": 4,
            "metrics": [],
        }
        losses = []
        for _ in range(6):
            losses.append(critic.forward_backward(rows, squared, {}, ["value"], "row", 40, never).loss)
            critic.optim_step(1e-2, (0.9, 0.95), 1e-8, 0.0, 1.0)
        self.assertLess(losses[-1], losses[0] * 0.9)
        reward = open_model("reward", {"path": path, "seed": 3}, F32, World.alone())
        found = [reward.reward(rows.tokens, rows.lengths, budget, never) for budget in (1, 1000)]
        self.assertLess((found[0] - found[1]).abs().max(), 1e-5)

    def test_a_reward_model_whose_padding_is_an_end_token_reads_the_token_before_it(self):
        path = tiny("qwen3")
        file = os.path.join(path, "config.json")
        with open(file) as text:
            config = json.load(text)
        with open(file, "w") as text:
            json.dump({**config, "pad_token_id": 9, "num_labels": 1}, text)
        model = open_model("reward", {"path": path, "seed": 3}, F32, World.alone())
        theirs = AutoModelForSequenceClassification.from_pretrained(path, dtype=torch.float32)
        theirs.score.weight.data.copy_(model.network.hf.score.weight)
        tokens = [[5, 9, 3, 9, 9], [9, 9], [4, 7]]
        for row in tokens:
            ids = torch.tensor(row, dtype=torch.int32)
            with torch.no_grad():
                expected = theirs(ids[None].long()).logits[0, 0]
            found = model.reward(ids, torch.tensor([len(row)], dtype=torch.int32), 100, never)
            self.assertLess((found[0] - expected).abs(), 1e-5)


if __name__ == "__main__":
    unittest.main()
