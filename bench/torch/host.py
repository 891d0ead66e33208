"""What the CPU does for a decode step of the sampler: python3 bench/torch/host.py [--profile] [--ends]

The scheduler with a runner that computes nothing. A GPU waits wherever this takes longer than the step itself: on an H200 the 1.5B
shape takes 5.7 ms with 512 sequences. --ends: answers end at different times, as real ones do.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

from trinity_torch.sampler.cache import PAGE, Pages  # noqa: E402
from trinity_torch.sampler.places import Places  # noqa: E402
from trinity_torch.sampler.scheduler import Scheduler  # noqa: E402
from trinity_torch.sampler.sequence import Job, Wish  # noqa: E402

END = 7


class Nothing:
    """A runner that draws tokens without a model."""

    attending = SimpleNamespace(can_share=False)

    def __init__(self, ends: bool):
        self.noise = np.random.default_rng(1)
        # an answer of 300 tokens, in the mean
        self.least = 1 / 300 if ends else 0.0

    def __getattr__(self, name: str) -> Any:
        return lambda *given: None

    def decode(self, count: int, *given: Any, **more: Any) -> Any:
        tokens = np.where(self.noise.random(count) < self.least, END, 5).astype(np.int32)
        numbers = np.full(count, -1.5, dtype=np.float32)
        return SimpleNamespace(read=lambda: (tokens, numbers, numbers), scores=None)

    def prefill(self, chunks: list[Any], *given: Any) -> Any:
        return self.decode(sum(len(chunk.draws) for chunk in chunks))


def run(prompts: int, answers: int, prompt: int, response: int, ends: bool) -> tuple[int, float]:
    """Steps, and seconds."""
    done: list[Job] = []
    pages = Pages((prompt + response) * prompts * answers // PAGE + 4096)
    scheduler = Scheduler(Nothing(ends), Places(pages, 1024, True), 1e9, done.append, lambda *given: None)
    wish = Wish.of(
        dict(
            greedy=False, invT=1.0, topK=0, topP=1.0, minP=0.0, penalty=1.0, presence=0.0, frequency=0.0, biased=[], bias=[], seedLow=1,
            seedHigh=2, maxTokens=response, minTokens=0, banned=[], ends=[END] if ends else [], stopIds=[], top=0, reshaped=False,
        )  # fmt: skip
    )
    noise = np.random.default_rng(0)
    for i in range(prompts):
        scheduler.enqueue(Job(i, noise.integers(0, 1000, prompt - i % 9).astype(np.int32), answers, wish))
    steps = 0
    began = time.perf_counter()
    while scheduler.busy():
        scheduler.step()
        steps += 1
    spent = time.perf_counter() - began
    assert len(done) == prompts
    assert ends or all(len(s.tokens) == response for job in done for s in job.samples if s is not None)
    return steps, spent


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("--profile", action="store_true")
    asked.add_argument("--ends", action="store_true")
    given = asked.parse_args()
    for prompts, answers in ((1, 1), (64, 1), (16, 8), (64, 8)):
        best = min((run(prompts, answers, 256, 512, given.ends) for _ in range(3)), key=lambda found: found[1])
        print(f"{prompts * answers:4d} sequences: {1e6 * best[1] / best[0]:6.0f} us a step", flush=True)
    if given.profile:
        with cProfile.Profile() as found:
            run(64, 8, 256, 512, given.ends)
        pstats.Stats(found).sort_stats("tottime").print_stats(18)
