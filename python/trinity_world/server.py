"""Takes calls for many worlds at once and answers them, a batch at a time."""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from importlib import import_module
from typing import Any, Protocol

from .errors import WorldError, describe
from .frames import FrameError, Read, decode, encode

Answer = dict[str, Any]


class World(Protocol):
    """One episode at a time, many after another. What takes long and waits for others may be a Future."""

    def about(self) -> Answer:
        """What is said once, when it is opened."""

    def reset(self, episode: Answer) -> Answer | Future[Answer]: ...

    def step(self, action: str) -> Answer | Future[Answer]: ...

    def close(self) -> None: ...


Open = Callable[[dict[str, Any]], World]

KINDS = {name: f"trinity_world.{name}_world" for name in ("gymnasium", "reasoning_gym", "verifiers")}
"""Modules with a function `open_world`, imported when first asked for."""

MAX_ANSWER = 16 * 2**20
FLUSH_BYTES = 4 * 2**20
FLUSH_SECONDS = 0.02
"""A slow call does not hold back the answers of those before it for longer."""

_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class Server:
    """`write` takes all bytes it is given. `ended` is called when the stream has."""

    def __init__(self, read: Read, write: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._read = read
        self._write = write
        self._ended = ended
        self._batches: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()
        self._worlds: dict[int, World] = {}
        self._opens: dict[str, Open] = {}
        self._guard = threading.Lock()
        self._answers: list[list[Any]] = []
        self._size = 0

    def run(self) -> None:
        threading.Thread(target=self._listen, name="frames", daemon=True).start()
        while True:
            self.serve(self._batches.get())

    def serve(self, calls: list[Any]) -> None:
        """All calls of a batch, in order; their answers leave together unless that takes long."""
        began = time.monotonic()
        for number, op, slot, given in calls:
            self._call(number, op, slot, given)
            if time.monotonic() - began > FLUSH_SECONDS or self._size > FLUSH_BYTES:
                self.flush()
                began = time.monotonic()
        self.flush()

    def flush(self) -> None:
        with self._guard:
            answers, self._answers, self._size = self._answers, [], 0
            if answers:
                for text in _texts(answers):
                    self._write(encode(text.encode()))

    def _listen(self) -> None:
        try:
            while True:
                self._batches.put(decode(self._read))
        except EOFError:
            pass
        except FrameError as error:
            print(f"trinity_world: {error}", file=sys.stderr, flush=True)
        finally:
            self._ended()

    def _call(self, number: int, op: str, slot: int, given: Any) -> None:
        try:
            result = self._do(op, slot, given)
        except BaseException as error:  # whatever an environment raises belongs to its call alone
            self._fail(number, error)
            return
        if isinstance(result, Future):
            result.add_done_callback(lambda done: self._late(number, done))
        else:
            self._answer(number, True, result)

    def _do(self, op: str, slot: int, given: Any) -> Answer | Future[Answer]:
        if op == "open":
            world = self._open(given["kind"])(given["spec"])
            self._worlds[slot] = world
            return world.about()
        if op == "close":
            found = self._worlds.pop(slot, None)
            if found is not None:
                found.close()
            return {}
        world = self._worlds[slot]
        return world.reset(given) if op == "reset" else world.step(given)

    def _open(self, kind: str) -> Open:
        if kind not in self._opens:
            try:
                self._opens[kind] = import_module(KINDS[kind]).open_world
            except ImportError as error:
                traceback.print_exc()
                raise WorldError(
                    "environment/python-package",
                    f"{sys.executable} cannot import what '{kind}' needs: {error}",
                    f"{sys.executable} -m pip install {kind.replace('_', '-')}, or name another Python with 'python'",
                ) from error
        return self._opens[kind]

    def _late(self, number: int, done: Future[Answer]) -> None:
        error = done.exception()
        if error is None:
            self._answer(number, True, done.result())
        else:
            self._fail(number, error)
        self.flush()

    def _fail(self, number: int, error: BaseException) -> None:
        if not isinstance(error, WorldError):
            traceback.print_exception(error)
        self._answer(number, False, describe(error))

    def _answer(self, number: int, is_ok: bool, result: Answer) -> None:
        with self._guard:
            self._answers.append([number, 1 if is_ok else 0, result])
            self._size += len(result.get("observation", ""))


def _texts(answers: list[list[Any]]) -> list[str]:
    """One list of all answers; where one of them cannot be sent, or is long, one list each."""
    try:
        text = _json(answers)
        if len(text) <= MAX_ANSWER:
            return [text]
    except (TypeError, ValueError):
        pass
    return [_alone(number, answer) for number, *answer in answers]


def _alone(number: int, answer: list[Any]) -> str:
    try:
        text = _json([[number, *answer]])
    except (TypeError, ValueError) as error:
        return _json([[number, 0, describe(error)]])
    if len(text) <= MAX_ANSWER:
        return text
    told = {"code": "environment/too-large", "message": f"an answer of {len(text) >> 20} MiB cannot be sent"}
    return _json([[number, 0, told]])
