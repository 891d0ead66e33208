import json
import threading
import unittest
from concurrent.futures import Future
from typing import Any
from unittest import mock

from trinity_world import server
from trinity_world.errors import WorldError
from trinity_world.frames import PREFIX


class Echo:
    """Says what it is told; `fail`, `known`, `later` and `odd` are told apart."""

    later: Future[dict[str, Any]]

    def about(self) -> dict[str, Any]:
        return {"actions": ["a"]}

    def reset(self, episode: dict[str, Any]) -> dict[str, Any]:
        return {"observation": json.dumps(episode)}

    def step(self, action: str) -> Any:
        if action == "fail":
            raise KeyError("gone")
        if action == "known":
            raise WorldError("environment/known", "not here", "look there")
        if action == "odd":
            return {"observation": "", "reward": float("nan")}
        if action == "later":
            Echo.later = Future()
            return Echo.later
        return {"observation": action}

    def close(self) -> None:
        pass


class Serving(unittest.TestCase):
    def setUp(self) -> None:
        self.written: list[bytes] = []
        self.server = server.Server(lambda size: b"", self.written.append, lambda: None)
        self.server._opens["echo"] = lambda spec: Echo()
        self.server.serve([[0, "open", 1, {"kind": "echo", "spec": {}}]])
        self.written.clear()

    def answers(self) -> list[Any]:
        found = [json.loads(frame[PREFIX.size :]) for frame in self.written]
        self.written.clear()
        return found

    def test_a_batch_is_answered_in_one_write(self) -> None:
        self.server.serve([[n, "step", 1, f"word {n}"] for n in range(50)])
        self.assertEqual(self.answers(), [[[n, 1, {"observation": f"word {n}"}] for n in range(50)]])

    def test_failures_stay_with_their_calls(self) -> None:
        with mock.patch("sys.stderr"):
            self.server.serve([[n, "step", 1, word] for n, word in enumerate(["fail", "known", "odd", "ok"])])
        answers = {number: (is_ok, result) for frame in self.answers() for number, is_ok, result in frame}
        self.assertEqual([answers[n][0] for n in range(4)], [0, 0, 0, 1])
        self.assertRegex(answers[0][1]["message"], r"^KeyError: 'gone' \(test_server\.py:\d+, in step\)$")
        self.assertIn("test_server.py", "\n".join(answers[0][1]["trace"]))
        self.assertEqual(answers[1][1], {"code": "environment/known", "message": "not here", "hint": "look there"})
        self.assertIn("ValueError", answers[2][1]["message"])

    def test_an_answer_that_is_too_long_is_refused_alone(self) -> None:
        with mock.patch.object(server, "MAX_ANSWER", 100):
            self.server.serve([[1, "step", 1, "x" * 200], [2, "step", 1, "short"]])
        (long,), (short,) = self.answers()
        self.assertEqual((long[1], long[2]["code"]), (0, "environment/too-large"))
        self.assertEqual(short, [2, 1, {"observation": "short"}])

    def test_what_comes_later_is_answered_then(self) -> None:
        self.server.serve([[1, "step", 1, "later"], [2, "step", 1, "now"]])
        self.assertEqual(self.answers(), [[[2, 1, {"observation": "now"}]]])
        thread = threading.Thread(target=lambda: Echo.later.set_result({"observation": "then"}))
        thread.start()
        thread.join()
        self.assertEqual(self.answers(), [[[1, 1, {"observation": "then"}]]])

    def test_a_kind_that_cannot_be_imported_says_how_to_get_it(self) -> None:
        with mock.patch.dict(server.KINDS, {"reasoning_gym": "no_such_module"}), mock.patch("sys.stderr"):
            self.server.serve([[1, "open", 2, {"kind": "reasoning_gym", "spec": {}}]])
        (((_, is_ok, error),),) = self.answers()
        self.assertEqual((is_ok, error["code"]), (0, "environment/python-package"))
        self.assertIn("pip install reasoning-gym", error["hint"])
