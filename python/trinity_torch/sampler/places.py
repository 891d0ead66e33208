"""
Who has a place in the batch (a slot on the device, and pages of the cache) and who waits for one. Where pages run out, the
sequence that came last gives up its own and waits again, before all that have not begun.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from .cache import PAGE, Pages
from .prefix import find_prefix, remember
from .sequence import Job, Sequence


class Places:
    def __init__(self, pages: Pages, size: int, prefix_caching: bool):
        self.pages, self.size, self.prefix_caching = pages, size, prefix_caching
        self.running: list[Sequence] = []  # in the order in which they joined
        self.resumed: deque[Sequence] = deque()  # begun, but without pages: they go first
        self.fresh: deque[Sequence] = deque()
        self.slots = list(range(size - 1, -1, -1))
        # how often somebody got pages
        self.joined = 0
        # page by slot and column: not on the device yet
        self._tables: dict[tuple[int, int], int] = {}

    @property
    def waiting(self) -> int:
        return len(self.fresh) + len(self.resumed)

    @property
    def begun(self) -> bool:
        return bool(self.running or self.resumed)

    @property
    def free(self) -> int:
        return max(0, self.size - len(self.running) - len(self.resumed))

    def jobs(self, begun_only: bool) -> list[Job]:
        sequences = [*self.running, *self.resumed, *([] if begun_only else self.fresh)]
        return list(dict.fromkeys(sequence.job for sequence in sequences))

    def admit(self, draining: bool) -> Sequence | None:
        """
        Lets the next sequence in when there is room for all that it has to compute. `draining`: only one that has begun.
        """
        queue = self.resumed or (None if draining else self.fresh)
        if not queue:
            return None
        sequence = queue[0]
        if sequence.waits:
            return None
        alone = not self.running
        if not self.slots or (not alone and self._taken() + sequence.fanout > self.size):
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
        self._join(sequence)
        return sequence

    def fork(self, leader: Sequence, copies: list[tuple[int, int]]) -> list[Sequence]:
        """The other samples of a prompt: full pages are shared, the one that all will write into is copied."""
        full = leader.computed // PAGE
        partial = len(leader.pages) > full
        others = []
        for i in range(1, leader.fanout):
            other = Sequence(leader.job, leader.index + i, 1)
            own = self.pages.take() if partial and self.slots else -1
            if not self.slots or (partial and own < 0):
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

    def extend(self, sequence: Sequence, page: int) -> None:
        sequence.pages.append(page)
        self._note_pages(sequence, len(sequence.pages) - 1)

    def remember(self, sequence: Sequence) -> None:
        """Full pages of it may be found by others that begin alike."""
        if self.prefix_caching:
            remember(self.pages, sequence)

    def take_tables(self) -> np.ndarray | None:
        """Slots, columns and pages that the device has to learn of before its next step."""
        if not self._tables:
            return None
        entries = [(slot, column, page) for (slot, column), page in self._tables.items()]
        self._tables.clear()
        return np.asarray(entries, dtype=np.int32).T

    def preempt(self, sequence: Sequence) -> None:
        self.running.remove(sequence)
        self._release(sequence)
        sequence.state = "waiting"
        self.resumed.appendleft(sequence)

    def clear(self) -> None:
        """Everybody gives up pages, and nothing computed so far is found again."""
        for sequence in reversed(list(self.running)):
            self.preempt(sequence)
        self.pages.forget()

    def leave(self, sequence: Sequence) -> None:
        for queue in (self.running, self.resumed, self.fresh):
            if sequence in queue:
                queue.remove(sequence)
        sequence.state = "done"
        self._release(sequence)
        sequence.job.live.discard(sequence)

    def _taken(self) -> int:
        """Batch places that are taken, or will be once the samples of a prompt part."""
        return sum(sequence.fanout for sequence in self.running)

    def _join(self, sequence: Sequence) -> None:
        sequence.state = "running"
        self.joined += 1
        sequence.slot = self.slots.pop()
        self.running.append(sequence)
        self._note_pages(sequence, 0)

    def _note_pages(self, sequence: Sequence, first: int) -> None:
        for column in range(first, len(sequence.pages)):
            self._tables[sequence.slot, column] = sequence.pages[column]

    def _release(self, sequence: Sequence) -> None:
        self.pages.release(sequence.pages)
        sequence.pages = []
        if sequence.slot >= 0:
            self.slots.append(sequence.slot)
        sequence.slot = -1
        sequence.computed = sequence.known = sequence.chain = sequence.launched = 0
