"""Bias, penalties and masks, against Transformers' logits and plain arithmetic; with too little memory, and by request."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from ..models import tiny
from .test_engine import Desk, prompt, wish

VOCABULARY = 61
Allowed = Callable[[int, list[int]], "list[int] | None"]
SHAPES: list[dict[str, Any]] = [
    {"biased": [3, 40], "bias": [2.5, -100.0]},
    {"presence": 1.5},
    {"frequency": -0.6},
    {"penalty": 1.3, "presence": -0.5, "frequency": 0.4, "biased": [7], "bias": [1.0], "invT": 1.6},
]


def words(tokens: list[int]) -> np.ndarray:
    bits = np.zeros(-(-VOCABULARY // 32) * 32, dtype=np.uint8)
    bits[tokens] = 1
    return np.packbits(bits, bitorder="little").view(np.int32)


def masks(found: list[list[int] | None]) -> tuple[list[bool], dict[str, torch.Tensor]]:
    there = [words(one) for one in found if one is not None]
    joined = np.concatenate(there) if there else np.zeros(0, dtype=np.int32)
    return [one is not None for one in found], {"masks": torch.from_numpy(joined)}


class Guided(Desk):
    """A desk that says what may come next."""

    def __init__(self, allowed: Allowed) -> None:
        super().__init__()
        self.allowed = allowed
        self.answered = 0

    def sample(self, model: int, ids: tuple[int, ...], n: int, **given: Any) -> int:
        masked, tensors = masks([self.allowed(i, []) for i in range(n)])
        return self.ask("sample", {**prompt(*ids), **tensors}, model=model, n=n, wish=wish(reshaped=True, **given), masked=masked)

    def settle(self, model: int) -> None:
        said: dict[tuple[int, int], list[int]] = {}
        while True:
            self.run()
            fresh, self.answered = self.events[self.answered :], len(self.events)
            if not fresh:
                return
            for event in fresh:
                for index, token in zip(event["samples"], event["tokens"]):
                    said.setdefault((event["request"], index), []).append(token)
                places = [(i, len(said[event["request"], i])) for i in event.get("asks", [])]
                masked, tensors = masks([self.allowed(i, said[event["request"], i]) for i, _ in places])
                if places:
                    self.ask("allow", tensors, model=model, request=event["request"], places=places, masked=masked)


class Shape(unittest.TestCase):
    def test_what_is_drawn_from_is_what_arithmetic_makes_of_the_logits(self) -> None:
        path = tiny("llama")
        hf = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
        desk = Desk()
        model = desk.open(path, cacheTokens=2048)
        ids = (3, 5, 7, 5)
        for given in SHAPES:
            number = desk.ask("sample", prompt(*ids), model=model, n=3, wish=wish(reshaped=True, maxTokens=15, **given))
            desk.run()
            tensors = desk.answers[number][1]
            for k, tokens in enumerate(desk.samples(number)):
                log_p = hf(torch.tensor([[*ids, *tokens]])).logits[0]
                for i, token in enumerate(tokens):
                    y = log_p[len(ids) - 1 + i].tolist()
                    inverse = given.get("invT", 1.0)
                    raw = torch.tensor(y) * inverse
                    for t, bias in zip(given.get("biased", []), given.get("bias", [])):
                        y[t] += bias
                    for t in {*ids, *tokens[:i]}:
                        y[t] = y[t] / given.get("penalty", 1.0) if y[t] > 0 else y[t] * given.get("penalty", 1.0)
                    for t in set(tokens[:i]):
                        y[t] -= given.get("presence", 0.0) + given.get("frequency", 0.0) * tokens[:i].count(t)
                    drawn = (torch.tensor(y) * inverse).log_softmax(-1)[token]
                    at = k * 15 + i
                    self.assertAlmostEqual(float(tensors["drawn"][at]), float(drawn), delta=2e-5)
                    self.assertAlmostEqual(float(tensors["logprobs"][at]), float(raw.log_softmax(-1)[token]), delta=2e-5)

    def test_company_and_memory_change_nothing(self) -> None:
        path = tiny("qwen2")
        cases = [((i, 2, 3) * (1 + 6 * i), given) for i, given in enumerate([*SHAPES, {}])]
        alone = {}
        for tokens, size in ((4096, 1), (4096, 16), (192, 16)):
            desk = Desk()
            model = desk.open(path, cacheTokens=tokens, maxBatch=size)
            numbers = [
                desk.ask("sample", prompt(*ids), model=model, n=2, wish=wish(maxTokens=40, seedLow=i, **given))
                for i, (ids, given) in enumerate(cases)
            ]
            desk.run()
            for i, number in enumerate(numbers):
                self.assertEqual(desk.samples(number), alone.setdefault(i, desk.samples(number)))

    def test_masks_are_kept_by_every_sample_also_where_pages_run_out(self) -> None:
        def allowed(index: int, made: list[int]) -> list[int] | None:
            return None if index == 2 else [10 + index, 20 + len(made) % 30]

        found = []
        for tokens in (4096, 160):
            desk = Guided(allowed)
            model = desk.open(tiny("llama"), cacheTokens=tokens, maxBatch=8)
            free = desk.ask("sample", prompt(1, 2), model=model, n=2, wish=wish(maxTokens=30))
            number = desk.sample(model, (4,) * 20, 3, maxTokens=40)
            desk.settle(model)
            samples = desk.samples(number)
            for index, sample in enumerate(samples[:2]):
                self.assertTrue(all(token in (10 + index, 20 + i % 30) for i, token in enumerate(sample)))
            self.assertGreater(len(set(samples[2])), 10)
            found.append((samples, desk.samples(free)))
            places = desk.worker.named(model).scheduler.places
            self.assertEqual((places.pages.used, len(places.running)), (0, 0))
        self.assertEqual(found[0], found[1])

    def test_a_sample_that_waits_for_a_mask_can_be_ended(self) -> None:
        desk = Guided(lambda index, made: [5])
        model = desk.open(tiny("llama"), cacheTokens=1024)
        number = desk.sample(model, (1, 2), 1, maxTokens=9)
        desk.run()
        self.assertNotIn(number, desk.answers)
        for one in desk.worker.background:
            self.assertFalse(one.busy())
            one.step([number])
        self.assertEqual((desk.samples(number), desk.result(number)["samples"][0]["finish"]), ([[5]], "abort"))

    def test_nothing_to_draw_is_told(self) -> None:
        desk = Guided(lambda index, made: [])
        model = desk.open(tiny("llama"), cacheTokens=1024)
        number = desk.sample(model, (1, 2), 2, maxTokens=9)
        desk.settle(model)
        self.assertEqual(desk.answers[number][0]["error"]["code"], "engine/no-token")


if __name__ == "__main__":
    unittest.main()
