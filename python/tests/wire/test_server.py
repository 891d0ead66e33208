import json
import socket
import threading
import time
import unittest
from typing import Any
from unittest import mock

import torch

from tests.fake import open_fake
from trinity_torch.wire.channel import Channel
from trinity_torch.wire.frames import Frame, decode, encode
from trinity_torch.wire.operations import OPERATIONS, Answer, Request, Worker
from trinity_torch.wire.server import ALL, NEXT, Server
from trinity_torch.world import World

ROWS = {
    "tokens": torch.arange(7, dtype=torch.int32),
    "lengths": torch.tensor([3, 4], dtype=torch.int32),
    "starts": torch.tensor([1, 2], dtype=torch.int32),
    "temperatures": torch.ones(2),
    "mask": torch.ones(4, dtype=torch.uint8),
    "bundles": torch.tensor([0, 1], dtype=torch.int32),
}
FORWARD = {"columns": {}, "wants": ["logprob"], "adapter": True, "tokenBudget": 100}


class Trinity:
    """The other end of the connection."""

    def __init__(self, operations: Any = OPERATIONS) -> None:
        ours, theirs = socket.socketpair()
        ours.settimeout(20)
        self.socket = ours
        self.count = 0
        channel = Channel(theirs, ended=lambda code: None)
        channel.listen()
        self.server = Server(World.alone(), channel, open_fake, operations)
        threading.Thread(target=self.server.run, daemon=True).start()

    def __del__(self) -> None:
        self.socket.close()

    def send(self, header: dict[str, Any], tensors: dict[str, torch.Tensor] | None = None) -> None:
        for piece in encode(header, tensors):
            self.socket.sendall(piece)

    def read(self) -> Frame:
        def exactly(size: int) -> bytearray:
            data = bytearray()
            while len(data) < size:
                data += self.socket.recv(size - len(data))
            return data

        return decode(exactly)

    def start(self, op: str, args: dict[str, Any], tensors: dict[str, torch.Tensor] | None = None) -> int:
        self.count += 1
        self.send({"id": self.count, "op": op, "args": args}, tensors)
        return self.count

    def ask(self, op: str, args: dict[str, Any], tensors: dict[str, torch.Tensor] | None = None) -> Frame:
        number = self.start(op, args, tensors)
        answer = self.read()
        assert answer.header["id"] == number, answer.header
        return answer

    def open(self, path: str = "x", kind: str = "train") -> int:
        return self.ask("open", {"kind": kind, "spec": {"path": path}, "options": {}}).header["result"]["model"]


class Serving(unittest.TestCase):
    def test_a_training_step(self) -> None:
        trinity = Trinity()
        model = trinity.open()
        answer = trinity.ask("forward", {"model": model, **FORWARD}, ROWS)
        self.assertEqual(answer.tensors()["logprob"].tolist(), [0, 0, 1, 1])
        args = {"model": model, **FORWARD, "graph": {}, "norms": {"n": "NaN"}, "coupling": "row"}
        answer = trinity.ask("forwardBackward", args, ROWS)
        self.assertEqual(answer.header["result"]["loss"], 4)
        # not-a-number travels as a word, both ways
        self.assertEqual(answer.header["result"]["metrics"]["norm"]["value"], "NaN")
        step = {"model": model, "lr": 0.5, "betas": [0.9, 0.99], "eps": 1e-8, "weightDecay": 0, "gradClip": 1}
        result = trinity.ask("optimStep", step).header["result"]
        self.assertEqual((result["gradNorm"], result["applied"]), (2, True))
        answer = trinity.ask("forward", {"model": model, **FORWARD}, ROWS)
        self.assertEqual(answer.tensors()["logprob"].tolist(), [-1, -1, 0, 0])

    def test_rewards(self) -> None:
        trinity = Trinity()
        model = trinity.open(kind="reward")
        rows = {"tokens": ROWS["tokens"], "lengths": ROWS["lengths"]}
        answer = trinity.ask("reward", {"model": model, "tokenBudget": 10}, rows)
        self.assertEqual(answer.tensors()["reward"].tolist(), [3, 18])

    def test_every_error_is_one_answer_and_life_goes_on(self) -> None:
        trinity = Trinity()
        expected = {"memory": "engine/memory", "bug": "engine/torch"}
        for path, code in expected.items():
            answer = trinity.ask("forward", {"model": trinity.open(path), **FORWARD}, ROWS).header
            self.assertEqual((answer["ok"], answer["error"]["code"]), (False, code))
        self.assertIn("max_token_len_per_gpu", json.dumps(self.error(trinity, "memory")))
        answer = trinity.ask("open", {"kind": "train", "spec": {"path": "absent"}, "options": {}}).header
        self.assertEqual(answer["error"]["path"], "absent")
        self.assertEqual(trinity.ask("nothing", {}).header["error"]["code"], "engine/request")
        self.assertEqual(trinity.ask("forward", {}).header["error"]["code"], "engine/request")
        model = trinity.open()
        self.assertTrue(trinity.ask("close", {"model": model}).header["ok"])
        self.assertEqual(trinity.ask("memory", {"model": model}).header["error"]["code"], "engine/closed")

    def error(self, trinity: Trinity, path: str) -> Any:
        return trinity.ask("forward", {"model": trinity.open(path), **FORWARD}, ROWS).header["error"]

    def test_a_cancellation_arrives_while_work_runs(self) -> None:
        trinity = Trinity()
        model = trinity.open("slow")
        number = trinity.start("forward", {"model": model, **FORWARD}, ROWS)
        later = trinity.start("memory", {"model": model})
        trinity.send({"cancel": number})
        answer = trinity.read().header
        self.assertEqual((answer["id"], answer["error"]["code"]), (number, "engine/cancelled"))
        self.assertEqual(trinity.read().header["id"], later)

    def test_a_request_that_waits_can_be_cancelled(self) -> None:
        trinity = Trinity()
        model = trinity.open("slow")
        first = trinity.start("forward", {"model": model, **FORWARD}, ROWS)
        second = trinity.start("discardGrad", {"model": model})
        trinity.send({"cancel": second})
        trinity.send({"cancel": first})
        answers = [trinity.read().header for _ in range(2)]
        self.assertEqual([one["id"] for one in answers], [first, second])
        self.assertEqual({one["error"]["code"] for one in answers}, {"engine/cancelled"})


class Counter:
    """Counts up once a step, and answers at three or when it is cancelled."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.running: dict[int, int] = {}
        self.steps: list[list[int]] = []

    def busy(self) -> bool:
        return bool(self.running)

    def gathering(self) -> bool:
        return not any(self.running.values())

    def requests(self) -> set[int]:
        return set(self.running)

    def step(self, cancelled: list[int]) -> None:
        self.steps.append(sorted(self.running))
        for number in list(self.running):
            self.running[number] += 1
            time.sleep(0.001)
            self.worker.send({"event": "token", "request": number, "count": self.running[number]})
            if number in cancelled or self.running[number] == 3:
                self.worker.answer(number, Answer({"count": self.running.pop(number)}))
            elif self.running[number] == 2 and number == 99:
                raise MemoryError("no room")

    def fail(self, error: dict[str, Any]) -> None:
        for number in list(self.running):
            del self.running[number]
            self.worker.refuse(number, error)


def count(worker: Worker, request: Request) -> None:
    if not worker.background:
        worker.background.append(Counter(worker))
    counter = worker.background[0]
    assert isinstance(counter, Counter)
    counter.running[request.id] = request.arg("from")


class Between(unittest.TestCase):
    def test_steps_go_on_between_requests(self) -> None:
        trinity = Trinity({**OPERATIONS, "count": count})
        number = trinity.start("count", {"from": 0})
        seen = [trinity.read().header for _ in range(4)]
        self.assertEqual([one.get("count") for one in seen[:3]], [1, 2, 3])
        self.assertEqual((seen[3]["id"], seen[3]["result"]), (number, {"count": 3}))

    def test_a_first_step_waits_for_what_comes_at_once(self) -> None:
        trinity = Trinity({**OPERATIONS, "count": count})
        before = trinity.count
        for _ in range(20):
            trinity.start("count", {"from": 0})
        for _ in range(20 * 4):
            trinity.read()
        counter = trinity.server.worker.background[0]
        assert isinstance(counter, Counter)
        # a busy machine may need a second one
        self.assertLessEqual(len(counter.steps), 6)
        self.assertGreater(len(counter.steps[0]), 5)
        self.assertEqual(counter.steps[-1][-1], before + 20)

    def test_but_not_for_ever(self) -> None:
        server = Server(World.alone(), None, open_fake)
        self.assertIsNone(server._patience())
        counter = Counter(server.worker)
        server.worker.background.append(counter)
        counter.running[7] = 0
        with mock.patch("trinity_torch.wire.server.time.monotonic") as clock:
            clock.return_value = 100.0
            self.assertEqual(server._patience(), NEXT)
            clock.return_value = 100.0 + ALL - NEXT / 2
            self.assertAlmostEqual(server._patience() or 0, NEXT / 2, 9)
            clock.return_value = 100.0 + 2 * ALL
            self.assertEqual(server._patience(), 0.0)
            # one that has begun waits for nobody, and the next burst is a new one
            counter.running[7] = 1
            self.assertEqual(server._patience(), 0.0)
            counter.running[7] = 0
            self.assertEqual(server._patience(), NEXT)
            counter.running.clear()
            self.assertIsNone(server._patience())

    def test_requests_are_served_while_steps_go_on_and_steps_can_be_cancelled(self) -> None:
        trinity = Trinity({**OPERATIONS, "count": count})
        number = trinity.start("count", {"from": -1_000_000})
        opened = trinity.start("open", {"kind": "train", "spec": {}, "options": {}})
        answers: dict[int, Any] = {}
        while opened not in answers or number not in answers:
            header = trinity.read().header
            if "id" in header:
                answers[header["id"]] = header
                trinity.send({"cancel": number})
        self.assertTrue(answers[number]["ok"])
        self.assertLess(answers[number]["result"]["count"], 0)

    def test_a_failed_step_answers_its_requests(self) -> None:
        trinity = Trinity({**OPERATIONS, "count": count})
        trinity.count = 98
        trinity.start("count", {"from": 0})
        headers = [trinity.read().header for _ in range(3)]
        self.assertEqual(headers[2]["error"]["code"], "engine/memory")
        self.assertTrue(trinity.open() > 0)
