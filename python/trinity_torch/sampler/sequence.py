"""A request in hand, and the samples it consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import draw, shape
from .guide import Guide

# The stop string that a token completes, or None.
Stopper = Callable[[int], "str | None"]
OnToken = Callable[["Sequence", int, float], None]


@dataclass(frozen=True)
class Wish:
    """What a request asks for, checked and worked out by Trinity (src/engine/checked-request.ts)."""

    greedy: bool
    invT: float
    topK: int
    topP: float
    minP: float
    penalty: float
    presence: float
    frequency: float
    biased: list[int]
    bias: list[float]
    seedLow: int
    seedHigh: int
    maxTokens: int
    minTokens: int
    banned: list[int]
    ends: frozenset[int]
    stopIds: frozenset[int]
    top: int
    reshaped: bool

    @staticmethod
    def of(given: dict[str, Any]) -> Wish:
        sets = {name: frozenset(given[name]) for name in ("ends", "stopIds")}
        # as a trainer works it out, whose temperatures are float32
        inverse = float(np.float32(1) / np.float32(1 / given["invT"]))
        return Wish(**{**{name: given[name] for name in Wish.__dataclass_fields__}, **sets, "invT": inverse})

    @property
    def limited(self) -> bool:
        return not self.greedy and (self.topK > 0 or self.topP < 1 or self.minP > 0)

    @property
    def needs(self) -> int:
        """What is done to its logits (shape.py)."""
        counted = self.penalty != 1 or self.presence != 0 or self.frequency != 0
        needs = (shape.BIAS if self.biased else 0) | (shape.USED if counted else 0)
        return needs | (shape.BANS if self.banned else 0)

    def needs_at(self, made: int) -> int:
        """The same at the draw after so many."""
        return self.needs if made < self.minTokens else self.needs & ~shape.BANS

    def row(self, index: int, length: int, made: int, guided: bool) -> list[int]:
        """The state of a sequence of this request before its next draw."""
        needs = self.needs | (shape.MASK if guided else 0)
        floats = np.asarray(
            [self.invT, self.topP, self.minP, self.penalty, self.presence, self.frequency], dtype=np.float32
        ).view(np.int32).tolist()  # fmt: skip
        row = [0, length, made, int(self.greedy), floats[0], self.topK, *floats[1:4], self.seedLow, self.seedHigh, index]
        row += [self.minTokens, len(self.banned), *floats[4:], needs, *self.banned]
        return row + [0] * (draw.WIDTH - len(row))


@dataclass(eq=False)
class Job:
    id: int
    prompt: np.ndarray
    n: int
    wish: Wish
    prompt_logprobs: np.ndarray | None = None
    new_stopper: Callable[[], Stopper] | None = None
    on_token: OnToken | None = None
    guide: Guide | None = None
    live: set[Sequence] = field(default_factory=set)
    samples: list[Sample | None] = field(default_factory=list)
    prompt_scored: bool = False
    # some of it was computed: it belongs to the weights of that time
    started: bool = False
    cached: int = 0

    def __post_init__(self) -> None:
        self.samples = [None] * self.n

    def needs_at(self, made: int) -> int:
        return self.wish.needs_at(made) | (shape.MASK if self.guide is not None else 0)


@dataclass
class Sample:
    tokens: list[int]
    logprobs: list[float]
    drawn: list[float] | None
    top: list[tuple[list[int], list[float]]] | None
    finish: str
    stopped_by: str | int | None
    versions: list[dict[str, int]]


class Sequence:
    """One sample on its way. Until a prompt is computed, its samples are one sequence of that `fanout`."""

    __slots__ = (
        "job", "index", "fanout", "tokens", "logprobs", "drawn", "top", "versions", "stopper",
        "state", "slot", "pages", "computed", "launched", "known", "chain",
    )  # fmt: skip

    def __init__(self, job: Job, index: int, fanout: int):
        self.job, self.index, self.fanout = job, index, fanout
        self.tokens: list[int] = job.prompt.tolist()
        self.logprobs: list[float] = []
        self.drawn: list[float] | None = [] if job.wish.reshaped else None
        self.top: list[tuple[list[int], list[float]]] | None = [] if job.wish.top > 0 else None
        self.versions: list[dict[str, int]] = []
        self.stopper = job.new_stopper() if job.new_stopper else None
        self.state = "waiting"
        self.slot = -1
        self.pages: list[int] = []
        # tokens whose keys and values are in the cache once the steps under way are done
        self.computed = 0
        # draws that are done or under way
        self.launched = 0
        # full pages that have a name, and the chain that ends with the last of them
        self.known = 0
        self.chain = 0
        job.live.add(self)

    @property
    def made(self) -> int:
        return len(self.logprobs)

    @property
    def waits(self) -> bool:
        """Trinity has not said yet what its next token may be."""
        return self.job.guide is not None and not self.job.guide.ready(self)

    def append(self, token: int, logprob: float, drawn: float, version: int) -> tuple[str, str | int | None] | None:
        """Takes a token; says how the sample ends with it, or None to go on."""
        wish = self.job.wish
        if not self.versions or self.versions[-1]["version"] != version:
            self.versions.append({"version": version, "from": self.made})
        self.tokens.append(token)
        self.logprobs.append(logprob)
        if self.drawn is not None:
            self.drawn.append(drawn)
        # fed with every token, also while too short to stop: a character may lie across the border
        stop = self.stopper(token) if self.stopper else None
        if token in wish.ends:
            return "stop", None
        if token in wish.stopIds:
            return "stop", token
        if stop is not None and self.made >= wish.minTokens:
            return "stop", stop
        return ("length", None) if self.made >= wish.maxTokens else None

    def sample(self, finish: str, stopped_by: str | int | None) -> Sample:
        tokens = self.tokens[len(self.job.prompt) :]
        return Sample(tokens, self.logprobs, self.drawn, self.top, finish, stopped_by, self.versions)
