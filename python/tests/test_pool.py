"""Memory that comes and goes by phase, with a driver and a device that only pretend."""

from __future__ import annotations

import ctypes
import unittest
from typing import Any
from unittest import mock

import torch

from trinity_torch.errors import WorkerError
from trinity_torch.memory_plan import MemoryPlan
from trinity_torch.operations import OPERATIONS, Request, Worker
from trinity_torch.sampler import pool as pools
from trinity_torch.sampler.pool import Pool
from trinity_torch.sampler.virtual import Driver, Virtual, missing
from trinity_torch.world import World

from .fake import FakeModel
from .models import CLIPPED, F32, batch, never, tiny
from .test_sampler import Desk, prompt, wish

STEP = 2 << 20


class Library:
    """The driver's calls, with what a device would hold; `broken` gives the code of the next calls by name."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.broken: dict[str, list[int]] = {}
        self.reserved: dict[int, int] = {}
        self.blocks: dict[int, int] = {}
        self.mapped: dict[int, int] = {}
        self.open: set[int] = set()
        self._next = 7

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> int:
            self.calls.append(name)
            codes = self.broken.get(name)
            code = codes.pop(0) if codes else 0
            if code == 0:
                getattr(self, f"_{name}")(*args)
            return code

        if not name.startswith("cu"):
            raise AttributeError(name)
        return call

    def cuGetErrorName(self, code: int, text: Any) -> int:
        text._obj.value = b"CUDA_ERROR_TEST"
        return 0

    def _cuDeviceGetAttribute(self, found: Any, which: int, device: int) -> None:
        found._obj.value = 1 if which == 102 else 0

    def _cuMemGetAllocationGranularity(self, found: Any, kind: Any, option: int) -> None:
        assert (kind._obj.type, kind._obj.location.type, kind._obj.location.id) == (1, 1, 3)
        found._obj.value = STEP

    def _cuMemAddressReserve(self, address: Any, size: Any, *rest: Any) -> None:
        address._obj.value = 1 << 40
        self.reserved[1 << 40] = size.value

    def _cuMemCreate(self, handle: Any, size: Any, kind: Any, flags: Any) -> None:
        self._next += 1
        handle._obj.value = self._next
        self.blocks[self._next] = size.value

    def _cuMemMap(self, address: Any, size: Any, offset: Any, handle: Any, flags: Any) -> None:
        assert self.blocks[handle.value] == size.value and address.value not in self.mapped
        self.mapped[address.value] = handle.value

    def _cuMemSetAccess(self, address: Any, size: Any, access: Any, count: Any) -> None:
        assert (access._obj.location.id, access._obj.flags, count.value) == (3, 3, 1)
        self.open.add(self.mapped[address.value])

    def _cuMemUnmap(self, address: Any, size: Any) -> None:
        self.open.discard(self.mapped.pop(address.value))

    def _cuMemRelease(self, handle: Any) -> None:
        assert handle.value not in self.mapped.values()
        del self.blocks[handle.value]

    def _cuMemAddressFree(self, address: Any, size: Any) -> None:
        assert self.reserved.pop(address.value) == size.value and not self.mapped


class Calls(unittest.TestCase):
    def setUp(self) -> None:
        self.library = Library()
        self.driver = Driver(self.library)
        self.block: Virtual | None = Virtual(5 * STEP - 17, 3, self.driver)

    def test_memory_comes_and_goes_behind_one_address(self) -> None:
        block, library = self.block, self.library
        assert block is not None
        self.assertEqual((block.size, block.mapped, library.blocks), (5 * STEP, False, {}))
        for _ in range(3):
            block.map()
            self.assertEqual(list(library.blocks.values()), [5 * STEP])
            self.assertEqual((library.mapped[block.address], len(library.open)), (*library.blocks, 1))
            block.unmap()
            self.assertEqual((library.blocks, library.mapped, library.open), ({}, {}, set()))
        self.assertEqual(library.calls.count("cuMemAddressReserve"), 1)
        seen = block.__cuda_array_interface__
        self.assertEqual((seen["shape"], seen["data"]), ((5 * STEP,), (1 << 40, False)))
        block.map()
        del block, seen
        self.block = None
        self.assertEqual((library.blocks, library.reserved), ({}, {}))

    def test_a_failed_call_leaves_nothing_behind_and_says_its_name(self) -> None:
        block, library = self.block, self.library
        assert block is not None
        for name in ("cuMemCreate", "cuMemMap", "cuMemSetAccess"):
            library.broken = {name: [801]}
            with self.assertRaisesRegex(WorkerError, rf"{name} failed: CUDA error 801 \(CUDA_ERROR_TEST\)") as caught:
                block.map()
            self.assertEqual(caught.exception.code, "engine/device")
            self.assertEqual((library.blocks, library.mapped, block.mapped), ({}, {}, False))
        block.map()
        library.broken = {"cuMemUnmap": [1]}
        with self.assertRaisesRegex(WorkerError, "cuMemUnmap"):
            block.unmap()
        self.assertTrue(block.mapped and library.mapped)
        library.broken = {"cuMemRelease": [1]}
        with self.assertRaisesRegex(WorkerError, "cuMemRelease"):
            block.unmap()
        self.assertFalse(block.mapped or library.mapped)

    def test_no_memory_is_tried_again_once_PyTorch_has_let_go(self) -> None:
        block, library = self.block, self.library
        assert block is not None
        library.broken = {"cuMemCreate": [2]}
        with mock.patch("trinity_torch.sampler.virtual.release") as release:
            block.map()
            release.assert_called_once()
        block.unmap()
        library.broken = {"cuMemCreate": [2, 2]}
        with self.assertRaises(WorkerError) as caught:
            block.map()
        self.assertEqual((caught.exception.code, block.mapped), ("engine/memory", False))

    def test_says_what_is_missing(self) -> None:
        self.assertIsNone(missing(3, self.driver))
        self.library.broken = {"cuDeviceGetAttribute": [100]}
        self.assertRegex(missing(3, self.driver) or "", "cuDeviceGetAttribute failed: CUDA error 100")
        with mock.patch.object(self.library, "_cuDeviceGetAttribute", lambda found, *_: setattr(found._obj, "value", 0)):
            self.assertRegex(missing(3, self.driver) or "", "no virtual memory")
        with mock.patch.object(ctypes, "CDLL", side_effect=OSError("libcuda.so.1: cannot open")):
            self.assertRegex(missing(0) or "", "cannot open")


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
        with self.assertRaisesRegex(WorkerError, "finds no room after training: full") as caught:
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


class Log(unittest.TestCase):
    def test_a_device_without_such_memory_is_told_of_once(self) -> None:
        with (
            mock.patch.object(pools, "missing", lambda device: "no such call"),
            mock.patch.object(pools, "_told", False),
            mock.patch("builtins.print") as said,
        ):
            for _ in range(2):
                self.assertFalse(pools.can_sleep(torch.device("cuda", 0)))
        said.assert_called_once()
        self.assertIn("no such call", said.call_args.args[0])


if __name__ == "__main__":
    unittest.main()
