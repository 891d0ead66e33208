"""Several ranks compute what one computes."""

from __future__ import annotations

import unittest
from dataclasses import replace
from typing import Any

import torch

from trinity_torch.errors import Cancelled, WorkerError
from trinity_torch.network.rows import Rows
from trinity_torch.train import graph as loss_graph
from trinity_torch.train.open import open_model
from trinity_torch.train.offload import local
from trinity_torch.train.parallel import Ranks, share
from trinity_torch.world import World

from ..models import CLIPPED, F32, batch, never, node, tiny
from ..ranks import run

SQUARED = {
    "version": 1,
    "nodes": [
        node("score", name="value"),
        node("column", name="advantage", shape="token"),
        node("sub", 0, 1),
        node("mul", 2, 2),
        node("rowSum", 3),
        node("bundleSum", 4),
        node("mul", 5, 5),
        node("total", 6),
    ],
    "loss": 7,
    "metrics": [{"name": "most", "value": 5, "reduce": "max"}, {"name": "rows", "value": 4, "reduce": "mean"}],
}


# of other tokens than those that were drawn
OTHERS = {
    "version": 1,
    "nodes": [
        node("score", name="logprob@other"),
        node("score", name="sum_pi_squared"),
        node("mul", 0, 1),
        node("total", 2),
    ],
    "loss": 3,
    "metrics": [],
}


def whole(x: Any) -> list[float]:
    return (x.full_tensor() if hasattr(x, "full_tensor") else x).detach().flatten().tolist()


def learn(world: World, spec: dict, options: dict, rows: Rows, coupling: str, budget: int, steps: int = 3) -> dict:
    """Everything that comes out of a few steps, as plain numbers."""
    model = open_model("train", spec, {**F32, **options}, world)
    value = spec.get("head") == "value"
    graph, wants = (SQUARED, ["value"]) if value else (CLIPPED, ["logprob", "entropy"])
    if "other" in rows.token_columns:
        graph, wants = OTHERS, ["logprob@other", "sum_pi_squared"]
    found: dict[str, Any] = {"loss": [], "norm": [], "metrics": [], "scores": []}
    for step in range(steps):
        result = model.forward_backward(rows, graph, {"tokens": 30.0}, wants, coupling, budget, never)
        found["loss"].append(result.loss)
        found["metrics"].append({name: m["value"] for name, m in result.metrics.items()})
        found["scores"].append({kind: x.tolist() for kind, x in result.scores.items()})
        if step == 0:
            own = model.optimizer.grads or [p.grad for p in model.optimizer.params]
            found["grads"] = {n: whole(g) for n, g in zip(model.optimizer.names, own)}
        # scoring between the two must not leave old weights behind
        model.forward(rows, wants[:1], True, budget, never)
        norm, applied = model.optim_step(1e-2, (0.9, 0.95), 1e-8, 0.01, 1.0)
        assert applied
        found["norm"].append(norm)
    found["after"] = model.forward(rows, wants[:1], True, budget, never)[wants[0]].tolist()
    found["weights"] = {n: whole(p) for n, p in zip(model.optimizer.names, model.optimizer.params)}
    found["memory"] = model.memory()
    return found


def learn_all(world: World, cases: list[tuple]) -> list[dict]:
    return [learn(world, *case) for case in cases]


def rewards(world: World, spec: dict, options: dict, rows: Rows) -> list[list[float]]:
    model = open_model("reward", spec, {**F32, **options}, world)
    return [model.reward(rows.tokens, rows.lengths, budget, never).tolist() for budget in (1, 20)]


def spoilt(world: World, spec: dict, rows: Rows) -> tuple[float, bool, bool]:
    """A gradient that is not finite on one rank alone."""
    model = open_model("train", spec, F32, world)
    before = [local(p).clone() for p in model.optimizer.params]
    model.forward_backward(rows, CLIPPED, {"tokens": 30.0}, ["logprob"], "row", 20, never)
    if world.rank == 1:
        local(model.optimizer.params[0].grad).view(-1)[0] = float("nan")
    norm, applied = model.optim_step(1e-2, (0.9, 0.95), 1e-8, 0.01, 1.0)
    return norm, applied, all(torch.equal(local(p), x) for p, x in zip(model.optimizer.params, before))


def refused(world: World, spec: dict, options: dict, rows: Rows) -> str:
    try:
        open_model("train", spec, {**F32, **options}, world).forward_backward(
            rows, CLIPPED, {}, ["logprob"], "row", 20, never
        )
    except WorkerError as error:
        return error.code
    return "accepted"


def stopped(world: World, spec: dict, rows: Rows) -> dict:
    """A call that is stopped between two rounds, and the same call again."""
    model = open_model("train", spec, F32, world)
    asked = iter([False, True])
    try:
        model.forward_backward(rows, CLIPPED, {"tokens": 30.0}, ["logprob"], "row", 8, lambda: next(asked))
    except Cancelled:
        model.forward(rows, ["logprob"], True, 20, never)
        result = model.forward_backward(rows, CLIPPED, {"tokens": 30.0}, ["logprob"], "row", 20, never)
        return {"loss": result.loss, "norm": model.optim_step(1e-2, (0.9, 0.95), 1e-8, 0.01, 1.0)[0]}
    return {}


def bases(world: World, spec: dict, rows: Rows) -> dict:
    """Scores without the adapter after steps with it, and those of a model that never had one."""
    model = open_model("train", spec, F32, world)
    model.forward_backward(rows, CLIPPED, {"tokens": 30.0}, ["logprob"], "row", 20, never)
    model.optim_step(1e-2, (0.9, 0.95), 1e-8, 0.01, 1.0)
    base = open_model("score", spec, F32, world)
    return {
        "with": model.forward(rows, ["logprob"], True, 20, never)["logprob"].tolist(),
        "without": model.forward(rows, ["logprob"], False, 20, never)["logprob"].tolist(),
        "base": base.forward(rows, ["logprob"], True, 20, never)["logprob"].tolist(),
    }


def many(world: World, calls: list[tuple]) -> list[Any]:
    return [function(world, *args) for function, *args in calls]


class Parallel(unittest.TestCase):
    def near(self, one: Any, other: Any, delta: float, where: str = "") -> None:
        if isinstance(one, dict):
            self.assertEqual(one.keys(), other.keys(), where)
            for key in one:
                self.near(one[key], other[key], delta, f"{where}.{key}")
        elif isinstance(one, list):
            self.assertEqual(len(one), len(other), where)
            if one and isinstance(one[0], float):
                a, b = torch.tensor(one), torch.tensor(other)
                self.assertLess((a - b).abs().max().item(), delta * max(1.0, a.abs().max().item()), where)
            else:
                for i, (a, b) in enumerate(zip(one, other)):
                    self.near(a, b, delta, f"{where}[{i}]")
        else:
            self.assertAlmostEqual(one, other, delta=delta * max(1.0, abs(one)), msg=where)

    def same(self, case: tuple, found: dict, others: list[dict]) -> None:
        spec, _, *rest = case
        alone = learn(World.alone(), spec, {}, *rest)
        for other in [found, *others]:
            for key in ("loss", "norm", "metrics", "scores", "grads", "after"):
                self.near(alone[key], other[key], 2e-5, key)
            self.near(alone["weights"], other["weights"], 1e-4, "weights")

    def test_one_two_and_two_by_two_ranks_learn_the_same(self):
        lm, tied = {"path": tiny("llama")}, {"path": tiny("qwen2"), "gradientCheckpointing": True}
        lora = {"path": tiny("qwen3"), "lora": {"rank": 4, "alpha": 8, "targetModules": "all-linear"}}
        critic = {"path": tiny("qwen2"), "head": "value", "seed": 3}
        both = {**critic, "lora": {"rank": 2, "alpha": 4, "targetModules": ["q_proj"]}}
        rows, few, one = batch(7), batch(1), batch(1, longest=40, seed=5)
        asking = replace(rows, token_columns={"other": torch.arange(rows.mask.numel()).float() % 13})
        two = [
            (lm, {}, rows, "row", 20),
            (tied, {}, rows, "batch", 20),
            (lora, {}, rows, "row", 20),
            (critic, {}, rows, "bundle", 20),
            (both, {"ulysses": 2}, rows, "bundle", 20),
            (lm, {"ulysses": 2}, rows, "row", 12),
            (lm, {"ulysses": 2}, asking, "row", 12),
            (lm, {"paramOffload": True, "optimizerOffload": True}, few, "row", 20),
        ]
        four = [
            (lm, {"ulysses": 2}, rows, "row", 8),
            # two key heads for four ranks, a row longer than the budget of all of them
            (tied, {"ulysses": 4}, one, "row", 2),
            (tied, {"ulysses": 2}, rows, "batch", 8),
            (critic, {"ulysses": 2}, few, "row", 20),
            (lm, {}, few, "batch", 20),
        ]
        for size, cases in ((2, two), (4, four)):
            answers = run(size, learn_all, cases)
            for i, case in enumerate(cases):
                with self.subTest(f"{size} ranks, case {i}"):
                    self.same(case, answers[0][i], [answer[i] for answer in answers[1:]])

    def test_bfloat16_on_two_ranks_stays_near_one(self):
        case = ({"path": tiny("qwen2")}, {"dtype": "bfloat16"}, batch(7), "row", 20)
        alone, other = learn(World.alone(), *case), run(2, learn, *case)[0]
        for key in ("loss", "norm", "scores"):
            self.near(alone[key], other[key], 0.1, key)

    def test_rewards_adapters_stops_and_refusals(self):
        rows, path = batch(5), tiny("qwen3")
        reward, adapter = {"path": path, "seed": 3}, {"path": path, "lora": {"rank": 4, "alpha": 8, "targetModules": "all-linear"}}
        calls = [
            (rewards, reward, {"ulysses": 2}, rows),
            (rewards, reward, {}, rows),
            (bases, adapter, rows),
            (stopped, {"path": path}, rows),
            (refused, {"path": path}, {}, batch(1)),
            (spoilt, {"path": path}, rows),
        ]
        alone = rewards(World.alone(), reward, {}, rows), bases(World.alone(), adapter, rows), stopped(World.alone(), {"path": path}, rows)
        for by_tokens, by_rows, base, stop, code, (norm, applied, same) in run(2, many, calls):
            self.near(alone[0], by_tokens, 1e-5)
            self.near(alone[0], by_rows, 1e-5)
            self.near(alone[1], base, 1e-4)
            self.near(base["without"], base["base"], 1e-6)
            self.near(alone[2], stop, 1e-5)
            # ranks that have no rows refuse with the others
            self.assertEqual(code, "engine/bad-graph")
            # what is not finite on one rank is applied by none
            self.assertNotEqual(norm, norm)
            self.assertFalse(applied)
            self.assertTrue(same)
        with self.assertRaises(WorkerError) as caught:
            Ranks.of(World.alone(), {"ulysses": 2})
        self.assertEqual(caught.exception.code, "engine/ulysses")


class Sharing(unittest.TestCase):
    def test_every_row_once_and_rounds_are_equally_many(self):
        noise = torch.Generator().manual_seed(0)
        for case in range(40):
            count = int(torch.randint(0, 30, (), generator=noise))
            rows = batch(count, seed=case, longest=60) if count else batch(1).take([])
            for groups, by_bundle in ((1, False), (2, True), (3, False), (8, True)):
                shared = share(rows, 64, by_bundle, groups, 32)
                self.assertEqual(len({len(packs) for packs in shared}), 1)
                given = [row for packs in shared for pack in packs for row in pack]
                self.assertEqual(sorted(given), list(range(count)))
                for packs in shared:
                    for pack in packs:
                        size = int(rows.lengths[pack].sum())
                        units = {int(rows.bundles[row]) for row in pack} if by_bundle else pack
                        self.assertTrue(size <= 64 or len(units) == 1)

    def test_work_is_even(self):
        rows = batch(400, seed=3, longest=200)
        shared = share(rows, 1000, False, 4, 32)
        work = [sum(int(rows.lengths[pack].sum()) for pack in packs) for packs in shared]
        self.assertLess(max(work) / min(work), 1.05)
        self.assertLessEqual(len(shared[0]), -(-max(work) // 1000) + 1)

    def test_metrics_condensed_by_rank_are_those_of_all_parts(self):
        graph = {"metrics": [{"name": r, "value": 0, "reduce": r} for r in ("mean", "sum", "max", "min")]}
        noise = torch.Generator().manual_seed(0)
        parts = [torch.randn(4, 2, dtype=torch.float64, generator=noise).abs() for _ in range(5)]
        parts[1][2:, 1] = 0
        parts[4] = torch.zeros(4, 2, dtype=torch.float64)
        one = loss_graph.merge(graph, parts)
        other = loss_graph.merge(graph, [loss_graph.condense(graph, p) for p in (parts[:2], parts[2:4], parts[4:], [])])
        for name in one:
            self.assertAlmostEqual(one[name]["value"], other[name]["value"], delta=1e-12)
            self.assertAlmostEqual(one[name]["weight"], other[name]["weight"], delta=1e-12)


if __name__ == "__main__":
    unittest.main()
