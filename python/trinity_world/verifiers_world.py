"""
Environments of `verifiers` 0.4. The package plays the episode, tools, users and judges included; whenever it asks the
model, that is what the world shows, and the reply is the action.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from importlib.metadata import version
from typing import Any

try:
    import verifiers.v1 as vf
    from verifiers.v1.configs.agent import AgentConfig

    from . import verifiers_chat as chat
except ImportError as missing:
    raise ImportError(f"verifiers 0.4 or newer is needed, this is {version('verifiers')}: {missing}") from missing

from .errors import WorldError
from .words import clean, number

HARNESS = "trinity_world_chat"
Wire = dict[str, Any]


class Served:
    """An environment and its tasks, shared by all episodes that are set up alike."""

    def __init__(self, spec: dict[str, Any]) -> None:
        kind = vf.env_config_type(spec["id"], spec["env"])
        roles = [name for name, field in kind.model_fields.items() if isinstance(field.default, AgentConfig)]
        ours = [name for name in roles if "client" not in spec["agents"].get(name, {})]
        if len(ours) != 1:
            raise WorldError(
                "environment/setup",
                f"the model can play one role, and the environment leaves it {', '.join(ours) or 'none'}",
                "give every other role an endpoint: agents: {role: {model: …, client: {base_url: …, api_key_var: …}}}",
            )
        (self.role,) = ours
        common: Wire = {"harness": {"id": HARNESS}, "runtime": {"type": "subprocess"}}
        agents = {name: {**common, **spec["agents"].get(name, {})} for name in roles}
        agents[self.role]["max_turns"] = spec["max_turns"]
        config = {"id": spec["env"], "taskset": {"id": spec["id"], **spec["taskset"]}, **agents}
        self.env = vf.load_environment(vf.resolve_env_config(config))
        self.context = vf.ModelContext(model="trinity", client=chat.CONFIG)
        self._tasks: list[Any] = []
        self._more: Iterator[Any] = iter(self.env.taskset)

    async def start(self) -> Served:
        # left open: it ends with this process
        await self.env.serving().__aenter__()
        return self

    def task(self, index: int) -> Any:
        for one in self._more:
            self._tasks.append(one)
            if len(self._tasks) > index:
                break
        if not self._tasks:
            raise WorldError("environment/setup", "the environment has no tasks")
        return self._tasks[index % len(self._tasks)]


class Episode:
    """One run of the package, which waits for a reply whenever it has asked."""

    def __init__(self, served: Served, task: Any, timeout: float) -> None:
        self._role = served.role
        self._timeout = timeout
        self._traces: list[str] = []
        self._known: list[Wire] = []
        self._asked: asyncio.Queue[tuple[list[Wire], list[Wire]]] = asyncio.Queue()
        self._reply: asyncio.Future[str] | None = None
        self._run = asyncio.create_task(served.env.run_episode(task, served.context, on_trace=self._minted))

    async def begin(self) -> Wire:
        found = await self._next()
        if found is None:
            raise WorldError("environment/unsupported", "the episode was over before the model was asked")
        messages, tools = found
        system = [_text(one["content"]) for one in messages if one["role"] == "system"]
        rules = "\n\n".join([*system, *([_tool_rules(tools)] if tools else [])])
        seen = _seen([one for one in messages if one["role"] != "system"])
        return {"observation": seen, **({"goal": rules} if rules else {})}

    async def step(self, reply: str) -> Wire:
        if self._reply is None:
            raise WorldError("environment/unsupported", "nobody waits for a reply")
        self._reply.set_result(reply)
        before = len(self._known)
        found = await self._next()
        if found is None:
            return self._outcome()
        messages, _ = found
        # what was said, then the reply, then what is new
        if len(messages) < before + 2 or messages[before]["role"] != "assistant":
            self.cancel()
            raise WorldError(
                "environment/unsupported",
                "the environment rewrites what was said, or begins another conversation",
                "an episode must be one conversation that grows: no compaction, and one run of the model's role",
            )
        return {"observation": _seen(messages[before + 1 :]), "reward": 0, "done": False}

    def cancel(self) -> None:
        for trace in self._traces:
            chat.asked.pop(trace, None)
        self._run.cancel()

    def _minted(self, trace: Any) -> None:
        chat.asked[trace.id] = self._ask
        self._traces.append(trace.id)

    async def _ask(self, messages: list[Wire], tools: list[Wire]) -> str:
        self._reply = asyncio.get_running_loop().create_future()
        self._asked.put_nowait((messages, tools))
        return await self._reply

    async def _next(self) -> tuple[list[Wire], list[Wire]] | None:
        """The next question to the model; None: the episode is over."""
        asking = asyncio.create_task(self._asked.get())
        done, _ = await asyncio.wait({asking, self._run}, timeout=self._timeout, return_when=asyncio.FIRST_COMPLETED)
        if asking in done:
            found = asking.result()
            self._known = found[0]
            return found
        asking.cancel()
        if not done:
            self.cancel()
            raise WorldError("environment/timeout", f"the environment asked nothing within {self._timeout:g} s")
        return None

    def _outcome(self) -> Wire:
        episode = self._run.result()
        self.cancel()
        errors = [*episode.errors, *(error for trace in episode.traces for error in trace.errors)]
        if not episode.ok:
            told = f"{errors[-1].type}: {errors[-1].message}" if errors else "no reason given"
            raise WorldError("environment/failed", f"the episode failed: {told}")
        named = {trace.agent.name: trace for trace in episode.traces if trace.agent is not None}
        trace = named.get(self._role, episode.traces[0])
        parts = {name: part.score for name, part in trace.rewards.items() if part is not None}
        numbers = {**parts, **trace.metrics}
        metrics = {name: float(value) for name, value in numbers.items() if value is not None and math.isfinite(value)}
        return {
            "observation": "",
            "reward": number(trace.reward),
            "done": True,
            "won": trace.reward >= 1,
            "metrics": metrics,
        }


class VerifiersWorld:
    """`spec`: id, taskset, env, agents, max_turns, timeout."""

    def __init__(self, spec: dict[str, Any], served: Served) -> None:
        self._served = served
        self._timeout = spec["timeout"]
        self._episode: Episode | None = None

    def about(self) -> Wire:
        return {}

    def reset(self, episode: Wire) -> Future[Wire]:
        return _in_loop(self._reset(episode["row"].get("index", episode["seed"])))

    def step(self, action: str) -> Future[Wire]:
        return _in_loop(self._step(action))

    def close(self) -> None:
        _in_loop(self._end())

    async def _reset(self, index: int) -> Wire:
        await self._end()
        self._episode = Episode(self._served, self._served.task(index), self._timeout)
        return await self._episode.begin()

    async def _step(self, action: str) -> Wire:
        if self._episode is None:
            raise WorldError("environment/order", "a step before reset")
        return await self._episode.step(action)

    async def _end(self) -> None:
        if self._episode is not None:
            self._episode.cancel()
        self._episode = None


def _seen(messages: list[Wire]) -> str:
    return "\n\n".join(_shown(message) for message in messages)


def _shown(message: Wire) -> str:
    text = _text(message.get("content"))
    if message["role"] == "tool":
        return f"<tool_response>\n{text}\n</tool_response>"
    return text if message["role"] == "user" else f"{message['role']}: {text}"


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return clean(content or "")
    if any(part.get("type") != "text" for part in content):
        raise WorldError("environment/unsupported", "the environment shows more than text, which the model cannot see")
    return clean("\n".join(part["text"] for part in content))


def _tool_rules(tools: list[Wire]) -> str:
    listed = "\n".join(json.dumps(tool.get("function", tool), ensure_ascii=False) for tool in tools)
    return (
        "You can use these tools. Each line describes one:\n"
        f"<tools>\n{listed}\n</tools>\n"
        "To use one, write its name and its arguments as JSON: "
        '<tool_call>{"name": "…", "arguments": {…}}</tool_call>. '
        "What it returns comes in <tool_response>. A reply without a call is your answer."
    )


_loop: asyncio.AbstractEventLoop | None = None
_served: dict[str, Served] = {}


def _in_loop(work: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Everything of the package happens in one loop, in a thread of its own."""
    global _loop
    if _loop is None:
        _loop = asyncio.new_event_loop()
        threading.Thread(target=_loop.run_forever, name="verifiers", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, _loop)


def open_world(spec: dict[str, Any]) -> VerifiersWorld:
    key = json.dumps(spec, sort_keys=True)
    if key not in _served:
        sys.modules[HARNESS] = chat
        chat.serve_model()
        try:
            _served[key] = _in_loop(_serve(spec)).result()
        except (ModuleNotFoundError, ValueError, TypeError, AttributeError) as error:
            raise WorldError("environment/setup", f"cannot be set up: {error}") from error
    return VerifiersWorld(spec, _served[key])


async def _serve(spec: dict[str, Any]) -> Served:
    return await Served(spec).start()
