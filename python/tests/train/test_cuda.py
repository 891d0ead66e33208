"""What only runs on a GPU against its plain twin."""

from __future__ import annotations

import unittest

import torch

from trinity_torch.network import attention, cudnn_attention, softmax
from trinity_torch.network.linear import add_product
from trinity_torch.train import graph as loss_graph
from trinity_torch.train.open import open_model
from trinity_torch.world import World

from ..models import CLIPPED, batch, never, node, tiny



def off(found: torch.Tensor, reference: torch.Tensor) -> float:
    return float(((found.double() - reference.double()).norm() / reference.double().norm()).detach())


@unittest.skipUnless(torch.cuda.is_available(), "no CUDA device")
class Cuda(unittest.TestCase):
    def test_scores_of_logits_and_their_derivative(self):
        for width, dtype in ((61, torch.float32), (151936, torch.float32), (9000, torch.bfloat16)):
            logits = (torch.randn(37, width, device="cuda") * 3).to(dtype)
            logits[:, 5] = float("-inf")
            targets = torch.randint(6, width, (37,), device="cuda")
            heat = torch.rand(37, device="cuda") + 0.5
            found = softmax.scores(logits, targets, heat)
            plain = softmax.scores(logits.cpu(), targets.cpu(), heat.cpu())
            for a, b in zip(found, plain):
                self.assertLess(off(a.cpu(), b), 1e-5)
            d_lp, d_h, d_s = (torch.randn(37, device="cuda") for _ in range(3))
            ids, d_others = torch.randint(6, width, (37, 4), device="cuda"), torch.randn(37, 4, device="cuda")
            for d in (d_lp, d_h, d_s, d_others):
                d[3] = 0
            for given in ((d_lp, d_h, d_s, d_others), (d_lp,), (None, d_h), (None, None, d_s), (None, None, None, d_others)):
                pulls = softmax.Pulls(*given)
                mine = softmax.backward(logits, targets, heat, found, pulls, torch.float32, ids)
                there = softmax.Pulls(*(None if x is None else x.cpu() for x in pulls))
                theirs = softmax.backward(logits.cpu(), targets.cpu(), heat.cpu(), plain, there, torch.float32, ids.cpu())
                self.assertLess(off(mine.cpu(), theirs), 1e-5)
                self.assertEqual(float(mine[3].abs().max()), 0.0)

    def check_attention(self, window: int | None, by_cudnn: bool) -> None:
        bounds = torch.tensor([0, 1, 130, 131, 400, 512], dtype=torch.int32, device="cuda")
        q = torch.randn(1, 8, 512, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        k, v = (torch.randn(1, 2, 512, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in "kv")
        out, _ = attention.packed_attention(
            torch.nn.Module(), q, k, v, None, scaling=0.2, sliding_window=window, bounds=bounds, longest=512, by_cudnn=by_cudnn
        )
        grads = torch.autograd.grad(out.float().square().sum(), (q, k, v))
        twins = [x.detach().float().requires_grad_() for x in (q, k, v)]
        parts = (x[0].transpose(0, 1) for x in twins)
        plain = attention.each_sequence(*parts, bounds, 0.2, window)
        self.assertLess(off(out[0], plain), 1e-2)
        for mine, other in zip(grads, torch.autograd.grad(plain.square().sum(), twins)):
            self.assertLess(off(mine, other), 2e-2)

    def test_attention_over_packed_sequences(self):
        for window in (None, 64):
            self.check_attention(window, by_cudnn=False)

    def test_attention_by_cudnn(self):
        if not cudnn_attention.usable(torch.device("cuda"), torch.bfloat16, 8, 2, 64):
            self.skipTest("nvidia-cudnn-frontend is not installed, or this card is too old for it")
        for window in (None, 64):
            self.check_attention(window, by_cudnn=True)

    def test_one_plan_serves_packs_of_about_the_same_size(self):
        device = torch.device("cuda")
        if not cudnn_attention.usable(device, torch.bfloat16, 4, 4, 128):
            self.skipTest("nvidia-cudnn-frontend is not installed, or this card is too old for it")
        kept = cudnn_attention._on(torch.zeros(1, device=device).device)
        made = set()
        for seed in range(6):
            torch.manual_seed(seed)
            cuts = (torch.randperm(1000)[: 8 + seed % 4] + 1).sort().values.tolist()
            bounds = torch.tensor([0, *cuts, 1024], dtype=torch.int32, device=device)
            # k and v are parts of one tensor, as a fused projection makes them
            q, kv = torch.randn(1024, 4, 128, device=device, dtype=torch.bfloat16), torch.randn(1024, 8, 128, device=device, dtype=torch.bfloat16)
            k, v = kv.split(4, dim=1)
            twins = [x.detach().float().requires_grad_() for x in (q, k, v)]
            ours = [x.detach().requires_grad_() for x in (q, k, v)]
            out = cudnn_attention.attend(*ours, bounds, 1024, 0.1)
            plain = attention.each_sequence(*twins, bounds, 0.1, None)
            self.assertLess(off(out, plain), 1e-2)
            for mine, other in zip(torch.autograd.grad(out.sum(), ours), torch.autograd.grad(plain.sum(), twins)):
                self.assertLess(off(mine, other), 2e-2)
            made.add(len(kept.plans))
        self.assertEqual(len(made), 1)

    def test_the_head_adds_up_in_float32(self):
        hidden = torch.randn(700, 64, device="cuda", dtype=torch.bfloat16)
        total = torch.zeros(300, 64, device="cuda")
        plain = torch.zeros(300, 64, device="cuda", dtype=torch.float64)
        for _ in range(5):
            d = torch.randn(700, 300, device="cuda", dtype=torch.bfloat16)
            add_product(total, d, hidden)
            plain += d.double().t() @ hidden.double()
        self.assertLess(off(total, plain), 1e-5)

    def test_a_loss_graph_is_evaluated_as_on_the_cpu(self):
        nodes = [
            node("score", name="logprob"),  # 0
            node("score", name="entropy"),
            node("const", value=0.3),
            node("column", name="advantage", shape="token"),
            node("column", name="reward", shape="row"),  # 4
            node("sub", 0, 2),
            node("logAddExp", 5, 3),
            node("sigmoid", 6),
            node("lt", 7, 2),
            node("const", value=2),
            node("where", 8, 2, 9),  # 10 both constant
            node("where", 8, 2, 7),
            node("clamp", 11, 2, 9),
            node("rowSum", 12),
            node("count"),
            node("div", 13, 9),  # 15
            node("mul", 15, 14),
            node("bundleSum", 16),
            node("toTokens", 17),
            node("mul", 18, 1),
            node("mul", 19, 10),
            node("norm", name="n"),
            node("div", 20, 21),
            node("total", 22),
            node("abs", 23),  # 24
        ]
        graph = {"version": 1, "nodes": nodes, "loss": 24, "metrics": [
            {"name": "a", "value": 7, "reduce": "mean", "weight": 10},
            {"name": "b", "value": 9, "reduce": "mean"},
            {"name": "c", "value": 15, "reduce": "min"},
            {"name": "d", "value": 24, "reduce": "sum"},
        ]}
        loss_graph.check(graph)
        rows = batch(9)
        count = int(rows.scored.sum())
        scores = {"logprob": -torch.rand(count) * 3, "entropy": torch.rand(count)}
        found = []
        for device in ("cpu", "cuda"):
            inputs = loss_graph.Inputs(rows, torch.device(device))
            given = {kind: x.to(device) for kind, x in scores.items()}
            result = loss_graph.evaluate(graph, inputs, {"n": 7.0}, given)
            found.append((result.loss.cpu(), result.grads, loss_graph.merge(graph, [result.metrics])))
        self.assertAlmostEqual(float(found[0][0]), float(found[1][0]), delta=1e-10)
        for kind in scores:
            self.assertLess(off(found[1][1][kind].cpu(), found[0][1][kind]), 1e-6)
        for name, entry in found[0][2].items():
            self.assertAlmostEqual(entry["value"], found[1][2][name]["value"], delta=1e-10)

    def test_the_engine_on_the_device_gives_the_numbers_of_the_cpu(self):
        path, rows, norms = tiny("qwen2"), batch(24), {"tokens": 100.0}
        found = {}
        for device, dtype, compiled in (("cpu", "float32", False), ("cuda", "float32", False), ("cuda", "bfloat16", True)):
            options = {"dtype": dtype, "compile": compiled}
            model = open_model("train", {"path": path}, options, World.alone(device))
            result = model.forward_backward(rows, CLIPPED, norms, ["logprob"], "row", 120, never)
            found[device, dtype] = result, model.optim_step(1e-3, (0.9, 0.999), 1e-8, 0.0, 1.0)[0]
        one, norm = found["cpu", "float32"]
        for key, tolerance in ((("cuda", "float32"), 1e-4), (("cuda", "bfloat16"), 3e-2)):
            other, other_norm = found[key]
            self.assertLess((one.scores["logprob"] - other.scores["logprob"]).abs().mean(), tolerance)
            self.assertLess(abs(one.loss - other.loss), tolerance * max(1, abs(one.loss)))
            self.assertLess(abs(norm - other_norm) / norm, tolerance * 3)


if __name__ == "__main__":
    unittest.main()
