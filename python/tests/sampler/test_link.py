"""Weights from the processes of a trainer to those of samplers, over gloo."""

from __future__ import annotations

import socket
import threading
import unittest
from typing import Any

import torch

from trinity_torch.sampler.weights import checksum_of

from ..models import CLIPPED, batch, tiny
from .test_engine import Desk, never, prompt, wish


class Links(unittest.TestCase):
    """Members are threads here; src/engine/torch/link.test.ts has processes."""

    def setUp(self) -> None:
        path = tiny("qwen2")
        self.desks = [Desk(), Desk(), Desk()]
        self.models = [desk.open(path, kind, **({} if kind == "train" else {"cacheTokens": 512})) for desk, kind in zip(self.desks, ("train", "sample", "sample"))]
        train = self.desks[0].worker.named(self.models[0])
        train.forward_backward(batch(), CLIPPED, {"tokens": 30.0}, ["logprob"], "row", 1000, never)
        train.optim_step(0.05, (0.9, 0.999), 1e-8, 0.0, 1.0)

    def together(self, work: Any) -> list[Any]:
        found: list[Any] = [None] * 3

        def one(i: int) -> None:
            try:
                found[i] = work(i)
            except Exception as error:  # noqa: BLE001
                found[i] = error

        threads = [threading.Thread(target=one, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        return found

    def link(self, seconds: float = 20) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        found = self.together(lambda i: self.desks[i].ask("link", port=port, rank=i, size=3, seconds=seconds))
        self.assertTrue(all(isinstance(one, int) for one in found), found)

    def test_all_have_the_trainers_weights_under_a_version(self) -> None:
        self.link()
        trainer, *samplers = self.desks
        number = samplers[0].ask("sample", prompt(1, 2, 3), model=self.models[1], n=1, wish=wish(greedy=True, maxTokens=40))
        samplers[0].run(steps=8)
        holds = [desk.ask("hold", model=model, inFlight="continue") for desk, model in zip(samplers, self.models[1:])]
        for desk, held in zip(samplers, holds):
            desk.run()
            desk.result(held)
        numbers = self.together(lambda i: self.desks[i].ask("receiveWeights" if i else "sendWeights", model=self.models[i]))
        sums = {desk.result(n)["checksum"] for desk, n in zip(self.desks, numbers)}
        self.assertEqual(len(sums), 1)
        theirs = trainer.worker.named(self.models[0])
        for desk, model in zip(samplers, self.models[1:]):
            sampler = desk.worker.named(model)
            self.assertNotEqual(checksum_of(sampler.decoder.layers[0].o), checksum_of(theirs.network.hf.model.layers[0].self_attn.o_proj.weight.data))
            self.assertEqual({desk.result(desk.ask("commit", model=model, version=4))["checksum"]}, sums)
            for (name, p), q in zip(theirs.network.hf.named_parameters(), sampler.network.hf.parameters()):
                self.assertTrue(torch.equal(p, q), name)
        samplers[0].run()
        (sample,) = samplers[0].result(number)["samples"]
        self.assertEqual([span["version"] for span in sample["versions"]], [-1, 4])

    def test_a_member_that_is_missing_costs_the_time_limit_and_nothing_else(self) -> None:
        self.link(seconds=2)
        desk, model = self.desks[1], self.models[1]
        before = checksum_of(p.data for p in desk.worker.named(model).network.hf.parameters())
        desk.ask("hold", model=model, inFlight="finish")
        desk.run()
        found = self.together(lambda i: self.desks[i].ask("receiveWeights", model=self.models[i]) if i == 1 else None)
        self.assertIsInstance(found[1], Exception)
        desk.ask("commit", model=model)
        self.assertEqual(checksum_of(p.data for p in desk.worker.named(model).network.hf.parameters()), before)
        number = desk.ask("sample", prompt(1, 2), model=model, n=1, wish=wish())
        desk.run()
        self.assertEqual(desk.result(number)["samples"][0]["versions"], [{"version": -1, "from": 0}])


if __name__ == "__main__":
    unittest.main()
