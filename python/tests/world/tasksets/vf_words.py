"""Environments of verifiers for tests: questions in one turn, with a tool, and with a user that asks back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import verifiers.v1 as vf

WORDS = ["tree", "stone", "river"]


class WordData(vf.TaskData):
    word: str


class WordTask(vf.Task[WordData]):
    @vf.reward
    async def right(self, trace: vf.Trace) -> float:
        if trace.last_reply == "raise":
            raise ValueError("bad luck")
        if trace.last_reply == "hang":
            await asyncio.sleep(1000)
        return float(self.data.word[::-1] in trace.last_reply)

    @vf.reward(weight=0.5)
    async def short(self, trace: vf.Trace) -> float:
        return float(len(trace.last_reply) < 20)

    @vf.metric
    async def length(self, trace: vf.Trace) -> float:
        return float(len(trace.last_reply))


class WordConfig(vf.TasksetConfig):
    upper: bool = False


class WordTaskset(vf.Taskset[WordTask, WordConfig]):
    def load(self) -> Iterable[WordTask]:
        for word in WORDS:
            shown = word.upper() if self.config.upper else word
            prompt = f"Spell {shown} backward."
            yield WordTask(WordData(prompt=prompt, system_prompt="You spell.", word=word), self.config.task)


__all__ = ["WordTaskset"]
