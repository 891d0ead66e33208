"""The sampler as a whole, on the CPU: against Transformers, against itself in other company, and with too little memory."""

from __future__ import annotations

import os
import unittest
from typing import Any
from unittest import mock

import torch
from transformers import AutoModelForCausalLM

from trinity_torch.sampler import draw, limits, scheduler
from trinity_torch.sampler.runner import Runner
from trinity_torch.sampler.weights import checksum_of, places_of, weights_of
from trinity_torch.train.open import open_model
from trinity_torch.wire.operations import OPERATIONS, Answer, Request, Worker
from trinity_torch.world import World

from ..kernel_checks import settings, shaping_of
from ..models import CLIPPED, F32, FAMILIES, STRETCHED, batch, never, tiny


class Desk:
    """A worker without a connection: answers and events are kept."""

    def __init__(self, options: dict[str, Any] = F32, world: World | None = None) -> None:
        self.options = options
        self.worker = Worker(world or World.alone(), open_model, self._heard)
        self.answers: dict[int, tuple[dict[str, Any], dict[str, torch.Tensor]]] = {}
        self.events: list[dict[str, Any]] = []
        self._number = 0

    def _heard(self, header: dict[str, Any], tensors: Any = None) -> None:
        if "event" in header:
            self.events.append(header)
        else:
            assert header["id"] not in self.answers
            self.answers[header["id"]] = (header, tensors or {})

    def ask(self, op: str, tensors: Any = None, **args: Any) -> int:
        self._number += 1
        found = OPERATIONS[op](self.worker, Request(self._number, op, args, tensors or {}, never))
        if isinstance(found, Answer):
            self.worker.answer(self._number, found)
        return self._number

    def run(self, cancelled: dict[int, list[int]] | None = None, steps: int = 10_000) -> None:
        for i in range(steps):
            busy = [one for one in self.worker.background if one.busy()]
            if not busy:
                return
            for one in list(self.worker.background):
                one.step((cancelled or {}).get(i, []))

    def result(self, number: int) -> dict[str, Any]:
        header, _ = self.answers[number]
        assert header["ok"], header
        return header["result"]

    def open(self, path: str, kind: str = "sample", share: int | None = None, **spec: Any) -> int:
        extra = {} if share is None else {"shareWith": share}
        return self.result(self.ask("open", kind=kind, spec={"path": path, "seed": 1, **spec}, options=self.options, **extra))["model"]

    def samples(self, number: int) -> list[list[int]]:
        tokens = self.answers[number][1]["tokens"].tolist()
        out = []
        for one in self.result(number)["samples"]:
            out.append(tokens[: one["length"]])
            tokens = tokens[one["length"] :]
        return out


def wish(**given: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "greedy": False, "invT": 1.0, "topK": 0, "topP": 1.0, "minP": 0.0, "penalty": 1.0,
        "presence": 0.0, "frequency": 0.0, "biased": [], "bias": [], "seedLow": 5, "seedHigh": 0,
        "maxTokens": 20, "minTokens": 0, "banned": [], "ends": [], "stopIds": [], "top": 0, "reshaped": False,
    }  # fmt: skip
    return {**fields, **given}


def prompt(*ids: int) -> dict[str, torch.Tensor]:
    return {"prompt": torch.tensor(ids, dtype=torch.int32)}


class Sampling(unittest.TestCase):
    def setUp(self) -> None:
        self.desk = Desk()

    def ask(self, model: int, ids: tuple[int, ...], n: int = 1, more: dict[str, Any] | None = None, **given: Any) -> int:
        return self.desk.ask("sample", prompt(*ids), model=model, n=n, wish=wish(**given), **(more or {}))

    def test_greedy_tokens_and_logprobs_are_those_of_transformers(self) -> None:
        for family in FAMILIES:
            with self.subTest(family):
                self.compare(tiny(family), [(3, 5, 7), tuple(range(1, 50)), (9,) * 33])

    def test_stretched_rotations_are_those_of_transformers(self) -> None:
        """Beyond the original length of the model; and short sequences of a model whose sequences are short."""
        for name, (family, rope) in STRETCHED.items():
            with self.subTest(name):
                path = tiny(family, **rope)
                self.compare(path, [tuple(i % 60 for i in range(90))], maxModelLen=128)
                self.compare(path, [(3, 5, 7)], maxModelLen=40)

    def test_the_choice_of_a_longrope_is_one_for_all(self) -> None:
        family, rope = STRETCHED["longrope"]
        path = tiny(family, **rope)
        short, long = (self.desk.open(path, cacheTokens=640, maxModelLen=longest) for longest in (40, 128))
        numbers = [self.ask(model, (3, 5, 7), greedy=True) for model in (short, long)]
        self.desk.run()
        found = [self.desk.answers[number][1]["logprobs"] for number in numbers]
        self.assertGreater((found[0] - found[1]).abs().max().item(), 1e-3)
        # without a word of it, the short factors
        self.assertEqual(self.desk.worker.named(self.desk.open(path, cacheTokens=640)).info["maxModelLen"], 40)

    def test_what_it_was_opened_from_is_not_read_again(self) -> None:
        own, other = tiny("llama", seed=1), tiny("llama", seed=2)
        model = self.desk.open(own, cacheTokens=640)
        sampler = self.desk.worker.named(model)
        first = sampler.checksum()

        def loads(folder: str) -> int:
            with mock.patch.object(sampler, "load", wraps=sampler.load) as load:
                number = self.desk.ask("loadWeights", model=model, dir=folder, version=3, inFlight="finish")
            self.desk.run()
            self.assertEqual(self.desk.result(number)["checksum"], sampler.checksum())
            self.assertEqual(sampler.scheduler.version, 3)
            return load.call_count

        self.assertEqual((loads(own), sampler.checksum()), (0, first))
        self.assertEqual(loads(other), 1)
        self.assertNotEqual(sampler.checksum(), first)
        # it has others now
        self.assertEqual((loads(own), sampler.checksum()), (1, first))
        # a file that was written again may hold anything
        model = self.desk.open(own, cacheTokens=640)
        sampler = self.desk.worker.named(model)
        os.utime(os.path.join(own, "model.safetensors"), ns=(1, 1))
        self.assertEqual(loads(own), 1)
        # and what a trainer has need not be what is in its files
        trainer = self.desk.open(own, kind="train")
        for share in ({"shareStorage": False}, {}):
            self.desk.options = {**F32, **share}
            model = self.desk.open(own, share=trainer, cacheTokens=640)
            sampler = self.desk.worker.named(model)
            self.assertEqual(loads(own), 1)

    def test_experts_arrive_one_by_one(self) -> None:
        own, other = tiny("qwen3_moe", seed=1), tiny("qwen3_moe", seed=2)
        first, second = (self.desk.worker.named(self.desk.open(path, cacheTokens=640)) for path in (own, other))
        self.assertNotEqual(first.checksum(), second.checksum())
        first.take(first.load(other).items())
        self.assertEqual(first.checksum(), second.checksum())
        trainer = self.desk.worker.named(self.desk.open(own, kind="train"))
        sent = [(name, weight.shape) for name, weight in weights_of(trainer)]
        self.assertEqual(sent, [(name, place.shape) for name, place in places_of(first.network.hf)])
        self.assertIn("model.layers.0.mlp.experts.3.up_proj.weight", dict(sent))
        first.take_from(trainer)
        self.assertEqual(first.checksum(), checksum_of(weight for _, weight in weights_of(trainer)))

    def compare(self, path: str, prompts: list[tuple[int, ...]], **spec: Any) -> None:
        hf = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
        model = self.desk.open(path, cacheTokens=640, **spec)
        numbers = [self.ask(model, p, greedy=True, top=3, more={"promptLogprobs": True}) for p in prompts]
        self.desk.run()
        for ids, number in zip(prompts, numbers):
            (found,) = self.desk.samples(number)
            tensors = self.desk.answers[number][1]
            whole = torch.tensor([[*ids, *found]])
            log_p = hf(whole).logits[0].log_softmax(-1)
            self.assertEqual(found, log_p[len(ids) - 1 : -1].argmax(-1).tolist())
            at = torch.arange(len(ids) - 1, whole.shape[1] - 1)
            wanted = log_p[at, whole[0, len(ids) :]]
            torch.testing.assert_close(tensors["logprobs"], wanted, atol=1e-5, rtol=0)
            top = log_p[at].topk(3)
            torch.testing.assert_close(tensors["topLogprobs"].view(-1, 3), top.values, atol=1e-5, rtol=0)
            scored = tensors["promptLogprobs"]
            self.assertTrue(scored[0].isnan())
            torch.testing.assert_close(scored[1:], log_p[torch.arange(len(ids) - 1), torch.tensor(ids[1:])], atol=1e-5, rtol=0)

    def test_company_memory_and_order_change_nothing(self) -> None:
        path = tiny("qwen2")
        alone = {}
        cases = [((1, 2, 3), 2), (tuple(range(40)), 3), ((4,) * 32, 2), (tuple(range(5, 25)), 1), ((7, 8), 4)]
        for i, (ids, n) in enumerate(cases):
            model = self.desk.open(path, cacheTokens=2048)
            number = self.ask(model, ids, n, seedLow=i, maxTokens=40)
            self.desk.run()
            alone[i] = self.desk.samples(number)
            self.assertEqual(len({tuple(one) for one in alone[i]}), n)
        # few pages: sequences give theirs up and are computed again
        for tokens, batch_size, caching in ((4096, 16, True), (160, 16, True), (160, 16, False), (512, 2, True)):
            with self.subTest(tokens=tokens, batch=batch_size, caching=caching):
                model = self.desk.open(path, cacheTokens=tokens, maxBatch=batch_size, prefixCaching=caching)
                numbers = [self.ask(model, ids, n, seedLow=i, maxTokens=40) for i, (ids, n) in enumerate(cases)]
                self.desk.run()
                for i, number in enumerate(numbers):
                    self.assertEqual(self.desk.samples(number), alone[i])
                stats = self.desk.result(numbers[-1])["stats"]
                places = self.desk.worker.named(model).scheduler.places
                self.assertEqual((places.pages.used, len(places.running), len(places.slots)), (0, 0, batch_size))
                self.assertEqual(stats["sampledTokens"], sum(40 * n for _, n in cases))

    def test_a_conversation_costs_its_new_turn_only(self) -> None:
        model = self.desk.open(tiny("llama"), cacheTokens=1024)
        ids = tuple(i % 60 for i in range(70))
        first = self.ask(model, ids, greedy=True, maxTokens=30)
        self.desk.run()
        self.assertEqual(self.desk.result(first)["cachedTokens"], 0)
        second = self.ask(model, (*ids, *self.desk.samples(first)[0], 1, 2), greedy=True)
        self.desk.run()
        self.assertEqual(self.desk.result(second)["cachedTokens"], 96)

    def test_ends_bans_and_stops(self) -> None:
        model = self.desk.open(tiny("llama"), cacheTokens=1024)
        plain = self.ask(model, (3, 5, 7), greedy=True, maxTokens=10)
        self.desk.run()
        (tokens,) = self.desk.samples(plain)
        third = tokens[2]
        at = tokens.index(third) + 1
        ends = self.ask(model, (3, 5, 7), greedy=True, ends=[third])
        stops = self.ask(model, (3, 5, 7), greedy=True, stopIds=[third])
        later = self.ask(model, (3, 5, 7), greedy=True, stopIds=[third], minTokens=6, banned=[third], maxTokens=8)
        self.desk.run()
        self.assertEqual(self.desk.samples(ends)[0], tokens[:at])
        self.assertEqual([s["finish"] for s in self.desk.result(ends)["samples"]], ["stop"])
        self.assertEqual(self.desk.result(stops)["samples"][0]["stoppedBy"], third)
        self.assertNotIn(third, self.desk.samples(later)[0][:6])
        self.assertGreaterEqual(len(self.desk.samples(later)[0]), 7)

    def test_stop_strings_across_the_borders_of_tokens(self) -> None:
        from tokenizers import Tokenizer, decoders, models

        path = tiny("llama")
        words = {f"w{i} " if i % 2 else f"<{i}>": i for i in range(61)}
        tokenizer = Tokenizer(models.WordLevel(words, unk_token="<0>"))
        tokenizer.decoder = decoders.Fuse()
        tokenizer.save(os.path.join(path, "tokenizer.json"))
        model = self.desk.open(path, cacheTokens=1024)
        plain = self.ask(model, (3, 5, 7), greedy=True, maxTokens=12)
        self.desk.run()
        (tokens,) = self.desk.samples(plain)
        names = {i: word for word, i in words.items()}
        text = [names[token] for token in tokens]
        # the end of the third token and the beginning of the fourth
        stop = text[2][1:] + text[3][:1]
        at = next(n for n in range(1, 13) if stop in "".join(text[:n]))
        number = self.ask(model, (3, 5, 7), 1, {"stop": ["not there", stop]}, greedy=True, maxTokens=12)
        later = self.ask(model, (3, 5, 7), 1, {"stop": [stop]}, greedy=True, maxTokens=12, minTokens=at + 1)
        self.desk.run()
        self.assertEqual(self.desk.samples(number)[0], tokens[:at])
        (sample,) = self.desk.result(number)["samples"]
        self.assertEqual((sample["finish"], sample["stoppedBy"]), ("stop", stop))
        self.assertGreater(len(self.desk.samples(later)[0]), at)

    def test_streams_and_aborts(self) -> None:
        model = self.desk.open(tiny("llama"), cacheTokens=1024)
        number = self.ask(model, (1, 2), 2, {"stream": True}, maxTokens=60)
        waiting = self.ask(model, (1, 2), maxTokens=60)
        self.desk.run({9: [number, waiting]})
        for one, count in ((number, 2), (waiting, 1)):
            self.assertEqual([s["finish"] for s in self.desk.result(one)["samples"]], ["abort"] * count)
        seen: list[list[int]] = [[], []]
        for event in self.desk.events:
            for index, token in zip(event["samples"], event["tokens"]):
                seen[index].append(token)
        self.assertEqual(seen, self.desk.samples(number))
        self.assertGreater(len(seen[0]), 4)

    def test_draws_follow_the_distribution(self) -> None:
        torch.manual_seed(0)
        logits = (torch.randn(1, 40) * 2).expand(1, 40)
        count = 20_000
        fields = dict(inverse_t=1.25, top_k=12, top_p=0.95)
        rows = [settings(seed_low=i // 50, index=i % 50 // 5, made=i % 5, **fields) for i in range(count)]
        state = torch.tensor(rows, dtype=torch.int32)
        out = torch.zeros(3, count, dtype=torch.int32)
        which = torch.arange(count, dtype=torch.int32)
        with mock.patch.object(draw, "PART", 16), mock.patch.object(draw, "RUN", 4):
            draw.draw_plain(logits, state, shaping_of(0, 40, "cpu"), which, torch.zeros_like(which), out, 0)
        z = logits[0] * 1.25
        kept = limits.keep_plain(z[None], state[:1])[0]
        p = z.masked_fill(~kept, float("-inf")).softmax(-1)
        found = torch.bincount(out[0].long(), minlength=40) / count
        self.assertEqual(float(found[~kept].sum()), 0.0)
        # five standard deviations
        self.assertTrue(bool(((found - p).abs() <= 5 * (p * (1 - p) / count).sqrt() + 1e-9).all()))
        torch.testing.assert_close(out[2].view(torch.float32), p.log()[out[0].long()], atol=1e-5, rtol=0)

    def steps(self, prompts: list[int], before: list[int] | None = None) -> list[int]:
        """Rows of each step of new tokens, 0 for one of prompts, which computes 8 tokens; prompts of so many tokens, after those that have begun."""
        desk, order = Desk(), list[int]()
        model = desk.open(tiny("llama"), cacheTokens=1024, maxBatch=8)
        decode, prefill = Runner.decode, Runner.prefill

        def noted(self: Runner, rows: int, *more: Any, **named: Any) -> Any:
            order.append(rows)
            return decode(self, rows, *more, **named)

        def begun(self: Runner, *given: Any) -> Any:
            order.append(0)
            return prefill(self, *given)

        def ask(sizes: list[int], tokens: int) -> list[int]:
            return [desk.ask("sample", prompt(*range(1, n + 1)), model=model, n=1, wish=wish(maxTokens=tokens, seedLow=n)) for n in sizes]

        with mock.patch.object(scheduler, "PREFILL", 8), mock.patch.object(Runner, "decode", noted), mock.patch.object(Runner, "prefill", begun):
            numbers = ask(before or [], 9)
            desk.run(steps=2)
            order.clear()
            numbers += ask(prompts, 3)
            desk.run()
        self.assertEqual([len(desk.samples(number)[0]) for number in numbers], [9] * len(before or []) + [3] * len(prompts))
        return order

    def test_those_that_come_together_draw_together(self) -> None:
        """A prompt a step: the first new tokens wait for a few of the others, and not for all of many."""
        self.assertEqual(self.steps([8] * 5), [0] * 5 + [5, 5])
        self.assertEqual(self.steps([8] * 8), [0] * 5 + [5, 0, 0, 0, 8, 3])

    def test_nobody_waits_for_a_long_prompt(self) -> None:
        self.assertEqual(self.steps([30], before=[4, 3])[:8], [0, 2, 0, 2, 0, 2, 0, 3])

    def test_a_full_queue_refuses(self) -> None:
        model = self.desk.open(tiny("llama"), cacheTokens=1024, maxBatch=1, maxQueue=1)
        for _ in range(2):
            self.ask(model, (1, 2))
        with self.assertRaisesRegex(Exception, "already waiting"):
            self.ask(model, (1, 2))
        self.desk.run()
        self.assertEqual(len(self.desk.answers), 3)

    def test_weights_of_a_trainer(self) -> None:
        path = tiny("qwen2")
        rows, norms = batch(), {"tokens": 30.0}
        cases = [
            (True, "finish", 1, "float32"),
            (True, "continue", 2, "bfloat16"),
            (False, "continue", 2, "float32"),
            (False, "abort", 1, "bfloat16"),
        ]
        for share, in_flight, spans, dtype in cases:
            self.desk = Desk({"dtype": dtype, "compile": False})
            with self.subTest(share=share, in_flight=in_flight, dtype=dtype):
                trainer = self.desk.open(path, "train")
                sampler = self.desk.open(path, share=trainer if share else None, cacheTokens=1024)
                train = self.desk.worker.named(trainer)
                number = self.ask(sampler, (1, 2, 3), maxTokens=40, greedy=True)
                self.desk.run(steps=10)
                train.forward_backward(rows, CLIPPED, norms, ["logprob"], "row", 1000, never)
                train.optim_step(0.05, (0.9, 0.999), 1e-8, 0.0, 1.0)
                moved = self.desk.ask("transfer", model=trainer, to=[sampler], version=7, inFlight=in_flight)
                later = self.ask(sampler, (1, 2, 3), maxTokens=5, greedy=True)
                self.desk.run()
                (sample,) = self.desk.result(number)["samples"]
                self.assertEqual(len(sample["versions"]), spans)
                self.assertEqual(sample["finish"], "abort" if in_flight == "abort" else "length")
                self.assertEqual(self.desk.result(later)["samples"][0]["versions"], [{"version": 7, "from": 0}])
                own = self.desk.worker.named(sampler)
                theirs = train.forward(rows, ["logprob"], True, 1000, never)["logprob"]
                torch.testing.assert_close(own.forward(rows, ["logprob"], True, 1000, never)["logprob"], theirs)
                again = self.desk.ask("transfer", model=trainer, to=[sampler], version=8, inFlight="finish")
                self.desk.run()
                self.assertEqual(self.desk.result(again)["checksum"], self.desk.result(moved)["checksum"])
                shares = own.decoder.head.data_ptr() == train.network.head_module.weight.data_ptr()
                self.assertEqual(shares, share)
                # what it samples is what the new weights say
                hf = train.network.hf
                ids = [1, 2, 3]
                for token in self.desk.samples(later)[0] if dtype == "float32" else []:
                    bounds = torch.tensor([0, len(ids)], dtype=torch.int32)
                    out = hf(torch.tensor([ids]), position_ids=torch.arange(len(ids))[None], use_cache=False, bounds=bounds, longest=len(ids))
                    self.assertEqual(int(out.logits[0, -1].argmax()), token)
                    ids.append(token)


if __name__ == "__main__":
    unittest.main()
