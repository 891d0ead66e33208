"""
What each step computes. Sequences join and leave at any step; prompts are computed in pieces between the others' new
tokens. A step is started before the one before it is looked at: a sample that turns out to have ended has then drawn one
token too many, which is dropped. A sequence that had to give up its place is computed again later: its tokens are kept,
and the numbers come out the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import WorkerError
from . import shape
from .cache import PAGE
from .common import Group, groups_of, narrowed
from .places import Places
from .runner import Chunk, Result, Runner
from .sequence import Job, Sequence

# Prompt tokens of one step. Fewer would keep those who wait for a next token waiting less, and all together longer.
PREFILL = 8192
# Steps of prompts alone, one after the other, while others wait for their next tokens.
PROMPTS_FIRST = 4


@dataclass
class Launch:
    """A step under way: who draws, in the order of its results."""

    drawers: list[Sequence]
    result: Result
    scored: list[tuple[Job, int, int]]
    top: dict[int, tuple[list[int], list[float]]]


class Scheduler:
    def __init__(
        self,
        runner: Runner,
        places: Places,
        max_queue: float,
        done: Callable[[Job], None],
        failed: Callable[[Job, WorkerError], None],
    ):
        self.runner, self.places, self.max_queue = runner, places, max_queue
        self.done, self.failed = done, failed
        self.version = -1
        # while set, no new request begins: those that have begun are being finished
        self.draining = False
        # while set, nothing is computed
        self.held = False
        self.prompt_tokens = self.cached_tokens = self.sampled_tokens = 0
        self._under_way: deque[Launch] = deque()
        # the sequences of the last decode step, how many had joined by then, and what they have in common
        self._drawers: list[Sequence] = []
        self._joined = -1
        self._groups: list[Group] = []
        # steps since the last one of new tokens
        self._without = 0

    @property
    def drained(self) -> bool:
        """Nothing that has begun is left."""
        return not self.places.begun and not self._under_way

    def busy(self) -> bool:
        if self.held or self._waiting():
            return False
        return not self.drained or (bool(self.places.fresh) and not self.draining)

    def gathering(self) -> bool:
        """There are requests, and none has begun."""
        return self.drained and self.busy()

    def _waiting(self) -> bool:
        """Nothing can go on before Trinity has said what the next tokens may be."""
        begun = [*self.places.running, *self.places.resumed]
        return bool(begun) and not self._under_way and all(sequence.waits for sequence in begun)

    def enqueue(self, job: Job) -> None:
        fresh = self.places.fresh
        if len(fresh) >= self.max_queue + self.places.free:
            raise WorkerError(
                "engine/busy", f"{len(fresh)} requests are already waiting", "send it again later, or raise maxQueue"
            )
        fresh.append(Sequence(job, 0, job.n))

    def step(self) -> None:
        if self.held:
            return
        before = len(self._under_way)
        # a step takes nearly as long for a few as for many: new tokens wait a while for those whose prompts come next
        if self._prefill() and self._without < PROMPTS_FIRST:
            self._without += 1
        else:
            self._without = 0
            self._decode()
        # making room may have looked at some of them already
        for _ in range(min(before, len(self._under_way))):
            self._absorb(self._under_way.popleft())

    def settle(self) -> None:
        """Waits for every step under way."""
        while self._under_way:
            self._absorb(self._under_way.popleft())

    def abort(self, job: Job) -> None:
        """Ends every sample of a request with what it has."""
        self.settle()
        for sequence in list(job.live):
            self._finish(sequence, "abort", None)

    def fail(self, job: Job) -> None:
        """Ends a request without samples; somebody else says why."""
        for sequence in list(job.live):
            self.places.leave(sequence)

    def restart(self) -> None:
        """Everybody gives up pages, and nothing computed so far is found again."""
        self.settle()
        self.places.clear()

    def drop(self) -> None:
        """After a step that failed nothing on the device can be relied on."""
        self._under_way.clear()
        self.places.take_tables()
        self.places.clear()
        self._joined = -1

    # new tokens

    def _decode(self) -> None:
        drawers = []
        longest = 0
        for sequence in list(self.places.running):
            if sequence.state != "running" or sequence.launched == 0 or sequence.launched >= sequence.job.wish.maxTokens:
                continue
            if sequence.waits:
                continue
            if sequence.computed >= len(sequence.pages) * PAGE:
                page = self._room_for(sequence)
                if page < 0:
                    continue
                self.places.extend(sequence, page)
            drawers.append(sequence)
        # making room may have sent away some that were in already
        drawers = [sequence for sequence in drawers if sequence.state == "running"]
        if not drawers:
            return
        self._write_tables()
        limited, needs = False, self._shape(drawers)
        for sequence in drawers:
            limited = limited or sequence.job.wish.limited
            sequence.computed += 1
            sequence.launched += 1
            longest = max(longest, sequence.computed)
        rows = [sequence.slot for sequence in drawers]
        if drawers != self._drawers or self.places.joined != self._joined:
            self._groups = self._common(drawers)
            self.runner.write_rows(rows, self._groups)
            self._drawers, self._joined = drawers, self.places.joined
        top = any(sequence.top is not None for sequence in drawers)
        result = self.runner.decode(len(rows), longest, limited, needs, keep_logits=top)
        self._under_way.append(Launch(drawers, result, [], self._top(drawers, list(range(len(drawers))))))

    def _common(self, drawers: list[Sequence]) -> list[Group]:
        """What they begin with in common. Looking for it takes a while: where some have only left, it is what it was."""
        attending = self.runner.attending
        if not attending.can_share:
            return []
        if self.places.joined == self._joined and set(drawers) <= set(self._drawers):
            return narrowed(self._groups, self._drawers, drawers, attending.worth)
        return groups_of(drawers, attending.members, attending.worth)

    def _begin_shape(self, sequence: Sequence) -> None:
        """What its draws need beside its state, as its tokens so far make it."""
        job, shaping = sequence.job, self.runner.shaping
        wish, size = job.wish, len(job.prompt)
        if wish.needs & shape.BIAS:
            shaping.begin_bias(sequence.slot, wish.biased, wish.bias)
        if wish.needs & shape.USED:
            shaping.begin_used(sequence.slot, job.prompt, np.asarray(sequence.tokens[size:], dtype=np.int32))

    def _shape(self, drawers: list[Sequence]) -> int:
        """What has to be done to the logits of the next draws; hands over their masks."""
        needs = 0
        masks = {}
        for sequence in drawers:
            needs |= sequence.job.needs_at(sequence.launched or sequence.made)
            if sequence.job.guide is not None:
                masks[sequence.slot] = sequence.job.guide.mask(sequence)
        if masks:
            self.runner.shaping.mask(masks)
        return needs

    def _room_for(self, sequence: Sequence) -> int:
        """A page for the next token, if need be from those who came later; -1 when the sequence itself had to go."""
        while True:
            page = self.places.pages.take()
            if page >= 0:
                return page
            if self._under_way:
                # somebody may have ended meanwhile
                self.settle()
                if sequence.state != "running":
                    return -1
                continue
            last = self.places.running[-1]
            self.places.preempt(last)
            if last is sequence:
                return -1

    # prompts

    def _prefill(self) -> bool:
        """Whether some begin to draw, and there are more prompts than a step computes."""
        budget = PREFILL
        chunks: list[Chunk] = []
        drawers: list[Sequence] = []
        scored: list[tuple[Job, int, int]] = []
        copies: list[tuple[int, int]] = []
        states: list[list[int]] = []
        limited = False
        waiting = deque(sequence for sequence in self.places.running if sequence.launched == 0)
        while budget > 0:
            sequence = waiting.popleft() if waiting else self._admit()
            if sequence is None:
                break
            size = min(budget, len(sequence.tokens) - sequence.computed)
            budget -= size
            chunk = self._chunk(sequence, size, scored)
            chunks.append(chunk)
            self.places.remember(sequence)
            if sequence.computed == len(sequence.tokens):
                parts = [sequence, *self.places.fork(sequence, copies)]
                chunk.draws = [part.slot for part in parts]
                wish = sequence.job.wish
                guided = sequence.job.guide is not None
                states += [wish.row(part.index, part.computed - 1, part.made, guided) for part in parts]
                limited = limited or wish.limited
                drawers += parts
        if not chunks:
            return False
        self._write_tables()
        if states:
            self.runner.write_state([part.slot for part in drawers], states)
        for part in drawers:
            self._begin_shape(part)
        needs = self._shape(drawers)
        for part in drawers:
            part.launched = part.made + 1
        result = self.runner.prefill(chunks, limited, needs)
        rows = [row for row, chunk in enumerate(c for c in chunks if c.draws) for _ in chunk.draws]
        self._under_way.append(Launch(drawers, result, scored, self._top(drawers, rows)))
        if copies:
            # the leader's last page is as the prompt left it until the next new token is written
            self.runner.copy_pages([a for a, _ in copies], [b for _, b in copies])
        return budget == 0 and bool(drawers) and bool(waiting or self.places.waiting)

    def _chunk(self, sequence: Sequence, size: int, scored: list[tuple[Job, int, int]]) -> Chunk:
        job, start = sequence.job, sequence.computed
        tokens = np.asarray(sequence.tokens[start : start + size], dtype=np.int32)
        chunk = Chunk(sequence.slot, tokens, start, inverse_t=job.wish.invT)
        if job.prompt_logprobs is not None and not job.prompt_scored:
            chunk.targets = job.prompt[start + 1 : start + size + 1]
            scored.append((job, start + 1, len(chunk.targets)))
            if start + size + 1 >= len(job.prompt):
                job.prompt_scored = True
        sequence.computed += size
        return chunk

    def _admit(self) -> Sequence | None:
        sequence = self.places.admit(self.draining)
        if sequence is not None and not (job := sequence.job).started:
            job.started = True
            job.cached = sequence.computed
            self.prompt_tokens += len(job.prompt)
            self.cached_tokens += sequence.computed
        return sequence

    def _write_tables(self) -> None:
        entries = self.places.take_tables()
        if entries is not None:
            self.runner.write_tables(entries)

    # results

    def _absorb(self, launch: Launch) -> None:
        tokens, logprobs, drawn = (values.tolist() for values in launch.result.read())
        if launch.result.scores is not None:
            at = 0
            for job, position, count in launch.scored:
                assert job.prompt_logprobs is not None
                job.prompt_logprobs[position : position + count] = launch.result.scores[at : at + count].numpy()
                at += count
        for i, sequence in enumerate(launch.drawers):
            if sequence.state != "running":
                continue
            job = sequence.job
            if tokens[i] < 0:
                self.fail(job)
                self.failed(job, not_finite() if tokens[i] == -1 else nothing_to_draw(sequence.made))
                continue
            if sequence.top is not None:
                sequence.top.append(launch.top[i])
            ending = sequence.append(tokens[i], logprobs[i], drawn[i], self.version)
            self.sampled_tokens += 1
            if len(sequence.tokens) % PAGE == 0:
                self.places.remember(sequence)
            if job.on_token is not None:
                job.on_token(sequence, tokens[i], logprobs[i])
            if ending is not None:
                self._finish(sequence, *ending)

    def _top(self, drawers: list[Sequence], rows: list[int]) -> dict[int, tuple[list[int], list[float]]]:
        wanted = [i for i, sequence in enumerate(drawers) if sequence.top is not None]
        if not wanted:
            return {}
        most = max(drawers[i].job.wish.top for i in wanted)
        ids, logprobs = self.runner.top([rows[i] for i in wanted], [drawers[i].job.wish.invT for i in wanted], most)
        counts = [drawers[i].job.wish.top for i in wanted]
        return {i: (ids[k, :n].tolist(), logprobs[k, :n].tolist()) for k, (i, n) in enumerate(zip(wanted, counts))}

    def _finish(self, sequence: Sequence, finish: str, stopped_by: str | int | None) -> None:
        if sequence.state == "done":
            return
        self.places.leave(sequence)
        job = sequence.job
        # samples that have not parted yet end together
        for i in range(sequence.fanout):
            job.samples[sequence.index + i] = sequence.sample(finish, stopped_by)
        if not job.live:
            self.done(job)


def not_finite() -> WorkerError:
    return WorkerError(
        "engine/not-finite",
        "the model produces logits that are not finite",
        "its weights are damaged or training has diverged; go back to an earlier checkpoint",
    )


def nothing_to_draw(made: int) -> WorkerError:
    return WorkerError(
        "engine/no-token",
        f"no token may follow the {made} tokens of the answer",
        "allow at least one, for example an end token; minTokens keeps end tokens away",
    )
