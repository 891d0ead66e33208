"""An environment of verifiers in which a user asks three times, and says what was wrong."""

from __future__ import annotations

from collections.abc import Iterable

import verifiers.v1 as vf


class AskTask(vf.Task[vf.TaskData]):
    @vf.reward
    async def thanks(self, trace: vf.Trace) -> float:
        return sum("please" in (message.content or "") for message in trace.assistant_messages) / 3


class AskTaskset(vf.Taskset[AskTask, vf.TasksetConfig]):
    def load(self) -> Iterable[AskTask]:
        yield AskTask(vf.TaskData(prompt=None, description="politeness"), self.config.task)


class AskConfig(vf.EnvConfig):
    guest: vf.AgentConfig = vf.AgentConfig()


class AskEnv(vf.Env[AskConfig]):
    async def run(self, task: AskTask, agents: vf.Agents) -> None:
        async with agents.guest.interaction(task) as guest:
            said = "What do you want?"
            for _ in range(3):
                segment = await guest.turn(said)
                if segment.terminated:
                    return
                said = "Good." if "please" in segment.last_reply else "Say it nicely."


__all__ = ["AskEnv", "AskTaskset"]
