"""The sampler's cache and the trainer by turns, with memory that only pretends to go."""

from __future__ import annotations

import unittest
from typing import Any
from unittest import mock

import torch

from trinity_torch.errors import WorkerError
from trinity_torch.sampler.pool import Pool
from trinity_torch.train.memory_plan import MemoryPlan
from trinity_torch.wire.operations import OPERATIONS, Request, Worker
from trinity_torch.world import World

from ..fake import FakeModel
from ..models import CLIPPED, F32, batch, never, tiny
from .test_engine import Desk, prompt, wish


class Poisoned:
    """Memory on the CPU that is full of NaN while it is not mapped, as after somebody else has used it."""

    def __init__(self, size: int):
        self.data = torch.zeros(size, dtype=torch.uint8)
        self.mapped = False
        self.trouble: WorkerError | None = None

    def map(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.mapped = True

    def unmap(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.mapped = False
        self.data.fill_(255)

    def tensor(self) -> torch.Tensor:
        assert self.mapped
        return self.data


def poisoned(size: int, device: torch.device) -> Pool:
    return Pool(size, device, Poisoned(size))


class States(unittest.TestCase):
    def test_what_comes_back_is_zero(self) -> None:
        pool = poisoned(100, torch.device("cpu"))
        pool.bytes.fill_(7)
        pool.wake()
        self.assertEqual((pool.sleeps, int(pool.bytes.min())), (0, 7))
        for turn in (1, 2):
            pool.sleep()
            pool.sleep()
            self.assertEqual((pool.sleeps, pool.awake, pool.held, int(pool.bytes.min())), (turn, False, 0, 255))
            pool.wake()
            self.assertEqual((pool.awake, pool.held, int(pool.bytes.max())), (True, 100, 0))

    def test_plain_memory_stays(self) -> None:
        pool = Pool(100, torch.device("cpu"))
        pool.bytes.fill_(7)
        pool.sleep()
        self.assertEqual((pool.can_sleep, pool.awake, pool.sleeps, int(pool.bytes.min())), (False, True, 0, 7))


class Phases(unittest.TestCase):
    """A sampler on a trainer's weights whose cache can sleep: the same samples as from one whose cache cannot."""

    PLAN = {"standing": 0, "training": 5000, "scoring": 1000, "rollout": 0, "phases": []}

    def setUp(self) -> None:
        self.path = tiny("qwen2")
        self.free = 0
        for target, new in (
            ("trinity_torch.sampler.engine.can_sleep", lambda device: self.sleeps),
            ("trinity_torch.sampler.runner.Pool.sleeping", poisoned),
            ("trinity_torch.sampler.room.free_bytes", lambda device: self.free),
        ):
            patch = mock.patch(target, new)
            patch.start()
            self.addCleanup(patch.stop)

    def open(self, sleeps: bool, **options: Any) -> None:
        self.sleeps = sleeps
        self.desk = Desk({**F32, **options})
        self.trainer = self.desk.open(self.path, "train")
        self.sampler = self.desk.open(self.path, share=self.trainer, cacheTokens=1024)
        self.model = self.desk.worker.named(self.sampler)

    def sample(self, seed: int = 5, **given: Any) -> int:
        return self.desk.ask("sample", prompt(*range(40)), model=self.sampler, n=2, wish=wish(seedLow=seed, maxTokens=40, **given))

    def train(self) -> None:
        rows = batch()
        names = {name: getattr(rows, name) for name in ("tokens", "lengths", "starts", "temperatures", "mask", "bundles")}
        tensors = {**names, **{f"column:{name}": column for name, column in rows.token_columns.items()}}
        columns = {name: "token" for name in rows.token_columns}
        self.desk.ask(
            "forwardBackward", tensors, model=self.trainer, columns=columns, graph=CLIPPED, norms={"tokens": 30.0}, wants=["logprob"],
            coupling="row", tokenBudget=1000,
        )  # fmt: skip
        self.desk.ask("optimStep", model=self.trainer, lr=0.02, betas=(0.9, 0.999), eps=1e-8, weightDecay=0.0, gradClip=1.0)

    def steps(self) -> list[list[list[int]]]:
        found = []
        for version in range(3):
            number = self.sample()
            self.desk.run()
            found.append(self.desk.samples(number))
            self.train()
            self.desk.ask("transfer", model=self.trainer, to=[self.sampler], version=version, inFlight="finish")
            self.desk.run()
        return found

    def test_sampling_and_training_by_turns(self) -> None:
        self.open(sleeps=False)
        wanted = self.steps()
        self.assertEqual((self.model.pool.sleeps, len({str(one) for one in wanted})), (0, 3))
        self.open(sleeps=True)
        self.assertEqual(self.steps(), wanted)
        self.assertEqual((self.model.pool.sleeps, self.model.pool.awake, self.model.memory()["cache"]), (3, False, 0))
        self.sample()
        self.desk.run()
        self.assertEqual(self.model.memory()["cache"], self.model.pool.size)
        self.desk.ask("close", model=self.sampler)

    def test_samples_under_way_go_on_afterwards(self) -> None:
        found = []
        for sleeps in (False, True):
            self.open(sleeps)
            number = self.sample(greedy=True)
            self.desk.run(steps=9)
            # no step of the optimizer: the weights are those that the samples began with
            self.desk.worker.make_room(gradients=True)
            self.assertEqual(self.model.pool.awake, not sleeps)
            late = self.sample(seed=8)
            self.desk.run()
            found.append((self.desk.samples(number), self.desk.samples(late)))
            self.assertTrue(self.model.pool.awake)
        self.assertEqual(found[0], found[1])

    def test_passes_without_gradients_leave_samples_under_way_alone(self) -> None:
        self.open(sleeps=True)
        self.sample()
        self.desk.run(steps=5)
        self.desk.worker.make_room(gradients=False)
        self.assertTrue(self.model.pool.awake)
        self.desk.run()
        self.desk.worker.make_room(gradients=False)
        self.assertFalse(self.model.pool.awake)

    def test_stays_where_the_plan_fits_beside_it(self) -> None:
        self.open(sleeps=True, memory=self.PLAN)
        moments = 8 * self.model.trainer.info["trainableParameters"]
        self.free = 5000 + moments
        self.train()
        self.assertEqual(self.model.pool.sleeps, 0)
        self.free = 5000
        self.train()
        self.assertEqual(self.model.pool.sleeps, 0)
        self.free = 4999
        self.desk.worker.make_room(gradients=False)
        self.assertEqual(self.model.pool.sleeps, 0)
        self.train()
        self.assertEqual(self.model.pool.sleeps, 1)

    def test_nothing_is_remembered_across_a_sleep(self) -> None:
        self.open(sleeps=True)
        for wanted in (0, 32):
            number = self.sample()
            self.desk.run()
            self.assertEqual(self.desk.result(number)["cachedTokens"], wanted)
        self.desk.worker.make_room(gradients=True)
        number = self.sample()
        self.desk.run()
        self.assertEqual(self.desk.result(number)["cachedTokens"], 0)

    def test_a_cache_that_cannot_wake_refuses_all_that_wait(self) -> None:
        self.open(sleeps=True)
        self.desk.worker.make_room(gradients=True)
        memory = self.model.pool._memory
        memory.trouble = WorkerError("engine/memory", "full")
        numbers = [self.sample(), self.sample()]
        with self.assertRaisesRegex(WorkerError, "does not fit after training: full") as caught:
            self.desk.run(steps=1)
        self.model.fail({"code": caught.exception.code, "message": str(caught.exception)})
        for number in numbers:
            self.assertEqual(self.desk.answers[number][0]["error"]["code"], "engine/memory")
        self.assertFalse(self.model.busy())
        memory.trouble = None
        number = self.sample()
        self.desk.run()
        self.assertEqual([len(one) for one in self.desk.samples(number)], [40, 40])

    def test_a_cache_that_cannot_sleep_stops_the_training(self) -> None:
        self.open(sleeps=True)
        self.model.pool._memory.trouble = WorkerError("engine/device", "cuMemUnmap failed")
        with self.assertRaisesRegex(WorkerError, "cuMemUnmap"):
            self.train()
        self.assertTrue(self.model.pool.awake)
        self.assertEqual(self.desk.worker.named(self.trainer).gradient, "none")

    def test_a_plan_that_was_wrong_is_made_up_for(self) -> None:
        self.open(sleeps=True, memory=self.PLAN)
        self.free = 2**40
        train = self.desk.worker.named(self.trainer)
        real = train.learn
        tries: list[bool] = []

        def learn(*args: Any) -> Any:
            tries.append(self.model.pool.awake)
            if self.model.pool.awake:
                train.touched = True
                raise torch.OutOfMemoryError("CUDA out of memory")
            return real(*args)

        with mock.patch.object(train, "learn", learn):
            self.train()
            self.assertEqual((tries, self.model.pool.sleeps), ([True, False], 1))
            # what was added to a gradient that was there before cannot be taken away
            self.model.pool.wake()
            train.gradient = "whole"
            with self.assertRaisesRegex(torch.OutOfMemoryError, "CUDA out of memory"):
                self.train()
            self.assertEqual(tries, [True, False, True])

    def test_turns_need_a_trainer_that_waits(self) -> None:
        self.open(sleeps=True, shareStorage=False)
        self.assertFalse(self.model.pool.can_sleep)
        alone = self.desk.worker.named(self.desk.open(self.path, cacheTokens=64))
        self.assertFalse(alone.pool.can_sleep)


class Plans(unittest.TestCase):
    def test_what_does_not_fit_is_refused_with_what_to_change(self) -> None:
        gib = 2**30
        phases = [
            {"name": "training", "bytes": 60 * gib, "share": 1, "hint": "lower this"},
            {"name": "rollout", "bytes": 50 * gib, "share": 0.75, "hint": "lower that"},
        ]
        plan = MemoryPlan.of({"memory": {"standing": 1, "training": 2, "scoring": 3, "rollout": 4, "phases": phases}})
        assert plan is not None
        self.assertEqual((plan.standing, plan.training, plan.scoring, plan.rollout), (1, 2, 3, 4))
        plan.check(torch.device("cpu"))
        plan.compare(79 * gib, 80 * gib)
        for free, total, name, hint in ((59, 80, "training", "lower this"), (62, 64, "rollout", "lower that")):
            with self.assertRaisesRegex(WorkerError, f"{name} needs about .* {free}.0 of {total}.0 GiB are free") as caught:
                plan.compare(free * gib, total * gib)
            self.assertEqual((caught.exception.code, caught.exception.hint), ("engine/memory", hint))
        self.assertIsNone(MemoryPlan.of({}))

    def test_the_first_model_is_not_opened_where_all_of_them_do_not_fit(self) -> None:
        opened: list[str] = []

        def open_model(kind: str, spec: dict[str, Any], *rest: Any) -> Any:
            opened.append(kind)
            return FakeModel(kind, spec, None)

        worker = Worker(World(0, 1, 0, torch.device("cuda", 0)), open_model)
        phases = [{"name": "training", "bytes": 60, "share": 1, "hint": "lower this"}]
        plan = {"standing": 1, "training": 2, "scoring": 3, "rollout": 4, "phases": phases}
        request = Request(1, "open", {"kind": "train", "spec": {}, "options": {"memory": plan}}, {}, never)
        with mock.patch.object(torch.cuda, "mem_get_info", lambda device: (59, 80)), self.assertRaises(WorkerError) as caught:
            OPERATIONS["open"](worker, request)
        self.assertEqual((caught.exception.code, opened), ("engine/memory", []))
        with mock.patch.object(torch.cuda, "mem_get_info", lambda device: (60, 80)):
            OPERATIONS["open"](worker, request)
        # the others have been counted then
        with mock.patch.object(torch.cuda, "mem_get_info", lambda device: (20, 80)):
            OPERATIONS["open"](worker, request)
        self.assertEqual(opened, ["train", "train"])


if __name__ == "__main__":
    unittest.main()
