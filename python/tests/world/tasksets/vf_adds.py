"""An environment of verifiers with a tool that adds."""

from __future__ import annotations

from collections.abc import Iterable

import verifiers.v1 as vf


class AddToolset(vf.Toolset[vf.ToolsetConfig]):
    @vf.tool
    async def add(self, a: int, b: int) -> int:
        """The sum of two numbers."""
        return a + b


class AddConfig(vf.TaskConfig):
    tools: vf.ToolsetConfig = vf.ToolsetConfig()


class AddData(vf.TaskData):
    answer: str


class AddTask(vf.Task[AddData, vf.State, AddConfig]):
    @classmethod
    def toolsets(cls, config: AddConfig) -> list[vf.Toolset]:
        return [AddToolset(config.tools)]

    @vf.reward
    async def right(self, trace: vf.Trace) -> float:
        return float(trace.last_reply.strip() == self.data.answer)

    @vf.metric
    async def calls(self, trace: vf.Trace) -> float:
        return float(len(trace.tool_messages))


class AddTasksetConfig(vf.TasksetConfig):
    task: AddConfig = AddConfig()


class AddTaskset(vf.Taskset[AddTask, AddTasksetConfig]):
    def load(self) -> Iterable[AddTask]:
        yield AddTask(AddData(prompt="What is 17 + 25?", answer="42"), self.config.task)


__all__ = ["AddTaskset"]

if __name__ == "__main__":
    AddToolset.run()
