"""
What each step computes. Sequences join and leave at any step; prompts are computed in pieces between the others' new
tokens. A step is started before the one before it is looked at: a sample that turns out to have ended has then drawn one
token too many, which is dropped. When pages run out, the sequence that came last gives up its own and is computed again
later: its tokens are kept, and the numbers come out the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import WorkerError
from .cache import PAGE, Pages
from .prefix import find_prefix, remember
from .runner import Chunk, Result, Runner
from .sequence import Job, Sequence

# Prompt tokens of one step: many when nobody waits for a next token, few enough not to be felt much when somebody does.
PREFILL_ALONE, PREFILL_BESIDE = 8192, 2048


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
        pages: Pages,
        max_batch: int,
        max_queue: float,
        prefix_caching: bool,
        done: Callable[[Job], None],
        failed: Callable[[Job, WorkerError], None],
    ):
        self.runner, self.pages = runner, pages
        self.max_batch, self.max_queue, self.prefix_caching = max_batch, max_queue, prefix_caching
        self.done, self.failed = done, failed
        self.version = -1
        # while set, no new request begins: those that have begun are being finished
        self.draining = False
        # while set, nothing is computed
        self.held = False
        self.prompt_tokens = self.cached_tokens = self.sampled_tokens = 0
        self.running: list[Sequence] = []  # in the order in which they joined
        self.resumed: deque[Sequence] = deque()  # begun, but without pages: they go first
        self.fresh: deque[Sequence] = deque()
        self._under_way: deque[Launch] = deque()
        self._slots = list(range(max_batch - 1, -1, -1))
        self._rows: list[int] = []
        # page by slot and column: not on the device yet
        self._tables: dict[tuple[int, int], int] = {}

    @property
    def waiting(self) -> int:
        return len(self.fresh) + len(self.resumed)

    @property
    def drained(self) -> bool:
        """Nothing that has begun is left."""
        return not self.running and not self.resumed and not self._under_way

    def busy(self) -> bool:
        return not self.held and bool(self.running or self.resumed or self._under_way or (self.fresh and not self.draining))

    def enqueue(self, job: Job) -> None:
        places = max(0, self.max_batch - len(self.running) - len(self.resumed))
        if len(self.fresh) >= self.max_queue + places:
            raise WorkerError(
                "engine/busy", f"{len(self.fresh)} requests are waiting already", "send it again later, or raise maxQueue"
            )
        self.fresh.append(Sequence(job, 0, job.n))

    def step(self) -> None:
        if self.held:
            return
        before = len(self._under_way)
        beside = self._decode()
        self._prefill(beside)
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

    def fail(self, job: Job, error: WorkerError) -> None:
        """Ends a request without an answer."""
        for sequence in list(job.live):
            self._leave(sequence)
        self.failed(job, error)

    def jobs(self, begun_only: bool) -> list[Job]:
        sequences = [*self.running, *self.resumed, *([] if begun_only else self.fresh)]
        return list(dict.fromkeys(sequence.job for sequence in sequences))

    def restart(self) -> None:
        """Everybody gives up pages, and nothing computed so far is found again."""
        self.settle()
        for sequence in reversed(list(self.running)):
            self._preempt(sequence)
        self.pages.forget()

    def drop(self) -> None:
        """After a step that failed nothing on the device can be relied on."""
        self._under_way.clear()
        self._tables.clear()
        for sequence in reversed(list(self.running)):
            self._preempt(sequence)
        self.pages.forget()
        self._rows = []

    # new tokens

    def _decode(self) -> bool:
        drawers = []
        longest = 0
        for sequence in list(self.running):
            if sequence.state != "running" or sequence.launched == 0 or sequence.launched >= sequence.job.wish.maxTokens:
                continue
            if sequence.computed >= len(sequence.pages) * PAGE:
                page = self._room_for(sequence)
                if page < 0:
                    continue
                sequence.pages.append(page)
                self._note_pages(sequence, len(sequence.pages) - 1)
            drawers.append(sequence)
        # making room may have sent away some that were in already
        drawers = [sequence for sequence in drawers if sequence.state == "running"]
        if not drawers:
            return False
        self._write_tables()
        limited = penalised = False
        for sequence in drawers:
            wish = sequence.job.wish
            limited = limited or wish.limited
            penalised = penalised or wish.penalty != 1
            sequence.computed += 1
            sequence.launched += 1
            longest = max(longest, sequence.computed)
        rows = [sequence.slot for sequence in drawers]
        if rows != self._rows:
            self.runner.write_rows(rows)
            self._rows = rows
        top = any(sequence.top is not None for sequence in drawers)
        result = self.runner.decode(len(rows), longest, limited, penalised, keep_logits=top)
        self._under_way.append(Launch(drawers, result, [], self._top(drawers, list(range(len(drawers))))))
        return True

    def _room_for(self, sequence: Sequence) -> int:
        """A page for the next token, if need be from those who came later; -1 when the sequence itself had to go."""
        while True:
            page = self.pages.take()
            if page >= 0:
                return page
            if self._under_way:
                # somebody may have ended meanwhile
                self.settle()
                if sequence.state != "running":
                    return -1
                continue
            last = self.running[-1]
            self._preempt(last)
            if last is sequence:
                return -1

    # prompts

    def _prefill(self, beside: bool) -> bool:
        budget = PREFILL_BESIDE if beside else PREFILL_ALONE
        chunks: list[Chunk] = []
        drawers: list[Sequence] = []
        scored: list[tuple[Job, int, int]] = []
        copies: list[tuple[int, int]] = []
        states: list[list[int]] = []
        limited = penalised = False
        waiting = deque(sequence for sequence in self.running if sequence.launched == 0)
        while budget > 0:
            sequence = waiting.popleft() if waiting else self._admit()
            if sequence is None:
                break
            size = min(budget, len(sequence.tokens) - sequence.computed)
            budget -= size
            chunk = self._chunk(sequence, size, scored)
            chunks.append(chunk)
            if self.prefix_caching:
                remember(self.pages, sequence)
            if sequence.computed == len(sequence.tokens):
                parts = [sequence, *self._fork(sequence, copies)]
                chunk.draws = [part.slot for part in parts]
                wish = sequence.job.wish
                states += [wish.row(part.index, part.computed - 1, part.made) for part in parts]
                limited, penalised = limited or wish.limited, penalised or wish.penalty != 1
                for part in parts:
                    part.launched = part.made + 1
                    if wish.penalty != 1:
                        self.runner.mark_seen(part.slot, np.asarray(part.tokens))
                drawers += parts
        if not chunks:
            return False
        self._write_tables()
        if states:
            self.runner.write_state([part.slot for part in drawers], states)
        result = self.runner.prefill(chunks, limited, penalised)
        rows = [row for row, chunk in enumerate(c for c in chunks if c.draws) for _ in chunk.draws]
        self._under_way.append(Launch(drawers, result, scored, self._top(drawers, rows)))
        if copies:
            # the leader's last page is as the prompt left it until the next step
            self.runner.copy_pages([a for a, _ in copies], [b for _, b in copies])
        return True

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
        """Lets the next sequence in when there is room for all that it has to compute."""
        queue = self.resumed or (None if self.draining else self.fresh)
        if not queue:
            return None
        sequence = queue[0]
        alone = not self.running
        if not self._slots or (not alone and self._places() + sequence.fanout > self.max_batch):
            return None
        job = sequence.job
        # a prompt whose tokens are to be scored is computed
        if self.prefix_caching and (job.prompt_logprobs is None or job.prompt_scored):
            find_prefix(self.pages, sequence)
        missing = -(-len(sequence.tokens) // PAGE) - len(sequence.pages)
        # one page in a hundred stays free for those who run, or they would soon throw the newcomer out again
        spare = 0 if alone else -(-self.pages.size // 100)
        if missing + spare > self.pages.available:
            self._release(sequence)
            return None
        sequence.pages += [self.pages.take() for _ in range(missing)]
        queue.popleft()
        if not job.started:
            job.started = True
            job.cached = sequence.computed
            self.prompt_tokens += len(job.prompt)
            self.cached_tokens += sequence.computed
        self._join(sequence)
        return sequence

    def _join(self, sequence: Sequence) -> None:
        sequence.state = "running"
        sequence.slot = self._slots.pop()
        self.running.append(sequence)
        self._note_pages(sequence, 0)

    def _note_pages(self, sequence: Sequence, first: int) -> None:
        """The device learns of pages before the next step."""
        for column in range(first, len(sequence.pages)):
            self._tables[sequence.slot, column] = sequence.pages[column]

    def _write_tables(self) -> None:
        if self._tables:
            entries = [(slot, column, page) for (slot, column), page in self._tables.items()]
            self.runner.write_tables(np.asarray(entries, dtype=np.int32).T)
            self._tables.clear()

    def _places(self) -> int:
        """Batch places that are taken, or will be once the samples of a prompt part."""
        return sum(sequence.fanout for sequence in self.running)

    def _fork(self, leader: Sequence, copies: list[tuple[int, int]]) -> list[Sequence]:
        """The other samples of a prompt: full pages are shared, the one that all will write into is copied."""
        full = leader.computed // PAGE
        partial = len(leader.pages) > full
        others = []
        for i in range(1, leader.fanout):
            other = Sequence(leader.job, leader.index + i, 1)
            own = self.pages.take() if partial and self._slots else -1
            if not self._slots or (partial and own < 0):
                self.resumed.append(other)
                continue
            for page in leader.pages[:full]:
                self.pages.keep(page)
            other.pages = leader.pages[:full]
            if partial:
                copies.append((leader.pages[full], own))
                other.pages.append(own)
            other.computed, other.known, other.chain = leader.computed, leader.known, leader.chain
            self._join(other)
            others.append(other)
        leader.fanout = 1
        return others

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
                self.fail(job, not_finite())
                continue
            if sequence.top is not None:
                sequence.top.append(launch.top[i])
            ending = sequence.append(tokens[i], logprobs[i], drawn[i], self.version)
            self.sampled_tokens += 1
            if self.prefix_caching and len(sequence.tokens) % PAGE == 0:
                remember(self.pages, sequence)
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

    # leaving

    def _preempt(self, sequence: Sequence) -> None:
        assert not self._under_way
        self.running.remove(sequence)
        self._release(sequence)
        sequence.state = "waiting"
        self.resumed.appendleft(sequence)

    def _release(self, sequence: Sequence) -> None:
        self.pages.release(sequence.pages)
        sequence.pages = []
        if sequence.slot >= 0:
            self._slots.append(sequence.slot)
        sequence.slot = -1
        sequence.computed = sequence.known = sequence.chain = sequence.launched = 0

    def _leave(self, sequence: Sequence) -> None:
        for place in (self.running, self.resumed, self.fresh):
            if sequence in place:
                place.remove(sequence)
        sequence.state = "done"
        self._release(sequence)
        sequence.job.live.discard(sequence)

    def _finish(self, sequence: Sequence, finish: str, stopped_by: str | int | None) -> None:
        if sequence.state == "done":
            return
        self._leave(sequence)
        job = sequence.job
        # samples that have not parted yet end together
        for i in range(sequence.fanout):
            job.samples[sequence.index + i] = sequence.sample(finish, stopped_by)
        if not job.live:
            self.done(job)


def not_finite() -> WorkerError:
    return WorkerError(
        "engine/not-finite",
        "the model gives logits that are not finite",
        "its weights are damaged or training has diverged; go back to an earlier checkpoint",
    )
