"""The memory of the sampler's cache, given to the trainer and taken back, on a GPU."""

from __future__ import annotations

import os
import tempfile
import time
import unittest
from typing import Any

import torch
from transformers import Qwen2ForCausalLM

from trinity_torch.errors import WorkerError
from trinity_torch.sampler.pool import Pool, can_sleep, free_bytes
from trinity_torch.train.open import open_model
from trinity_torch.wire.operations import Worker
from trinity_torch.world import World

from ..models import CLIPPED, batch, never, small_config
from .test_engine import Desk, prompt, wish

GIB = 2**30


def plan(training: int) -> dict[str, Any]:
    return {"standing": 0, "training": training, "scoring": 0, "rollout": 0, "phases": []}


def small() -> str:
    torch.manual_seed(3)
    path = os.path.join(tempfile.mkdtemp(prefix="trinity-torch-"), "small")
    Qwen2ForCausalLM(small_config(512)).save_pretrained(path)
    return path


class CudaDesk(Desk):
    def __init__(self, **options: Any) -> None:
        super().__init__({"dtype": "bfloat16", "compile": False, **options})
        self.worker = Worker(World.alone("cuda"), open_model, self._heard)


@unittest.skipUnless(torch.cuda.is_available(), "no CUDA device")
class CudaPool(unittest.TestCase):
    device = torch.device("cuda")

    def setUp(self) -> None:
        torch.zeros(1, device=self.device)
        torch.cuda.empty_cache()
        self.assertTrue(can_sleep(self.device))

    def test_a_recorded_graph_outlives_a_sleep(self) -> None:
        before, total = torch.cuda.mem_get_info()
        size = min(48 * GIB, before // 2)
        pool = Pool.sleeping(size, self.device)
        numbers = pool.bytes.view(torch.int32)
        address = numbers.data_ptr()
        self.assertTrue(numbers.is_cuda)
        self.assertEqual(int(numbers[:1000].abs().max()), 0)
        self.assertGreaterEqual(before - torch.cuda.mem_get_info()[0], size)
        step = torch.ones((), dtype=torch.int32, device=self.device)
        ends = (numbers[:4096], numbers[-4096:])
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for part in ends:
                part.add_(step)
        graph.replay()
        graph.replay()
        self.assertEqual([int(part.sum()) for part in ends], [8192, 8192])
        for turn in range(3):
            asleep = time.perf_counter()
            pool.sleep()
            asleep = time.perf_counter() - asleep
            self.assertEqual((pool.awake, pool.held), (False, 0))
            # somebody else has the memory, and fills it with what must not be seen later
            free = torch.cuda.mem_get_info()[0]
            self.assertGreater(free, before - GIB)
            other = torch.empty(free - 2 * GIB, dtype=torch.uint8, device=self.device)
            other.fill_(255)
            del other
            # PyTorch still keeps it: waking has to make it let go
            awake = time.perf_counter()
            pool.wake()
            torch.cuda.synchronize()
            awake = time.perf_counter() - awake
            self.assertEqual((pool.awake, numbers.data_ptr()), (True, address))
            self.assertEqual([int(part.abs().max()) for part in (*ends, numbers[size // 8 : size // 8 + 4096])], [0, 0, 0])
            graph.replay()
            self.assertEqual([int(part.sum()) for part in ends], [4096, 4096])
            print(f"{size / GIB:.1f} GiB: asleep in {asleep * 1e3:.1f} ms, awake in {awake * 1e3:.1f} ms")
        del graph, ends, part, numbers, pool
        torch.cuda.empty_cache()
        self.assertGreater(torch.cuda.mem_get_info()[0], before - GIB)

    def test_no_room_to_wake_is_an_error_and_not_the_end(self) -> None:
        pool = Pool.sleeping(4 * GIB, self.device)
        pool.sleep()
        free = torch.cuda.mem_get_info()[0]
        other = torch.zeros(free - 2 * GIB, dtype=torch.uint8, device=self.device)
        with self.assertRaisesRegex(WorkerError, "does not fit after training") as caught:
            pool.wake()
        self.assertEqual((caught.exception.code, pool.awake), ("engine/memory", False))
        del other
        pool.wake()
        pool.bytes.fill_(3)
        self.assertEqual(int(pool.bytes[-1]), 3)

    def test_samples_are_those_of_a_cache_that_never_sleeps(self) -> None:
        path = small()
        for eager in (True, False):
            with self.subTest(eager=eager):
                self.take_turns(path, eager)

    def test_steps_are_recorded_anew_when_tables_have_moved(self) -> None:
        """Greedy steps are recorded; then a request with a bias makes the tables of biases, and every record is dropped."""
        desk = CudaDesk(eager=False)
        model = desk.open(small(), maxBatch=8)
        plain = desk.ask("sample", prompt(1, 2, 3), model=model, n=1, wish=wish(greedy=True))
        desk.run()
        biased = desk.ask("sample", prompt(1, 2, 3), model=model, n=2, wish=wish(biased=[7], bias=[50.0], maxTokens=4))
        again = desk.ask("sample", prompt(1, 2, 3), model=model, n=1, wish=wish(greedy=True))
        desk.run()
        self.assertEqual(desk.samples(biased), [[7] * 4] * 2)
        self.assertEqual(desk.samples(again), desk.samples(plain))
        desk.ask("close", model=model)

    def take_turns(self, path: str, eager: bool) -> None:
        """A sampler whose cache sleeps while the trainer computes, beside one with weights and a cache of its own."""
        desk = CudaDesk(eager=eager, memory=plan(training=2**50))
        trainer = desk.open(path, "train")
        one = desk.open(path, share=trainer, maxBatch=64)
        desk.options = {**desk.options, "shareStorage": False, "memory": plan(training=0)}
        other = desk.open(path, share=trainer, maxBatch=64)
        model, train = desk.worker.named(one), desk.worker.named(trainer)
        self.assertTrue(model.shared and model.pool.can_sleep)
        self.assertFalse(desk.worker.named(other).pool.can_sleep)
        seen = set()
        for version in range(4):
            found = []
            for sampler in (one, other):
                numbers = [
                    desk.ask("sample", prompt(*range(i, i + 40)), model=sampler, n=4, wish=wish(seedLow=i, maxTokens=60))
                    for i in range(8)
                ]
                desk.run()
                found.append([(desk.samples(n), desk.answers[n][1]["logprobs"].tolist()) for n in numbers])
            self.assertEqual(found[0], found[1])
            seen.add(str(found[0]))
            self.assertEqual((model.pool.awake, model.pool.sleeps), (True, version))
            desk.worker.make_room(gradients=True)
            self.assertFalse(model.pool.awake)
            # the trainer has all there is, and leaves it behind
            # (in pieces: what outlives a turn in the memory of one must not keep all of it)
            count = free_bytes(self.device) // GIB - 2
            junk = [torch.full((GIB,), 255, dtype=torch.uint8, device=self.device) for _ in range(count)]
            del junk
            train.forward_backward(batch(24), CLIPPED, {"tokens": 100.0}, ["logprob"], "row", 120, never)
            train.optim_step(0.01, (0.9, 0.999), 1e-8, 0.0, 1.0)
            desk.ask("transfer", model=trainer, to=[one, other], version=version, inFlight="finish")
            desk.run()
        self.assertEqual(len(seen), 4)
        for handle in (one, other, trainer):
            desk.ask("close", model=handle)


if __name__ == "__main__":
    unittest.main()
