"""
The two ends of a conversation in `verifiers`: a harness that talks to the model in this very process, and the model
that it talks to, which is Trinity. Both go through the package's own server of model calls, which keeps the trace, the
limits and the stops.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

import httpx
import verifiers.v1.interception.server as interception
from verifiers.v1.clients import Client, EvalClientConfig, resolve_client
from verifiers.v1.configs.harness import HarnessConfig
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.harness import Harness
from verifiers.v1.harnesses.utils.compaction import bound_tool_message
from verifiers.v1.harnesses.utils.mcp import call_mcp, connect_mcp
from verifiers.v1.runtimes import ProgramResult

__all__ = ["ChatHarness"]

ADDRESS = "trinity://model"
"""What stands for an endpoint where the model is the one that Trinity trains."""

CONFIG = EvalClientConfig(base_url=ADDRESS, api_key_var="TRINITY_NO_KEY")

Wire = dict[str, Any]
Ask = Callable[[list[Wire], list[Wire]], Awaitable[str]]
"""Messages and tools → the reply."""

asked: dict[str, Ask] = {}
"""Who answers for the model, by the id of the trace."""

_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)


class ModelClient(Client):
    """Asks Trinity where others would ask an endpoint."""

    async def get_response(
        self,
        dialect: Any,
        body: Wire,
        sampling: Any,
        session_id: str | None = None,
        turn: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        tools = body.get("tools") or []
        text = await asked[session_id or ""](body["messages"], tools)
        raw = completion(text, is_offered=len(tools) > 0)
        response = dialect.parse_response(dialect.validate_response(raw))
        response.raw = raw
        return response


def serve_model() -> None:
    """From now on our address is answered by us; all others as before."""
    model = ModelClient()
    interception.resolve_client = lambda config: model if config.base_url == ADDRESS else resolve_client(config)


def completion(text: str, is_offered: bool) -> Wire:
    """A reply as a chat completion; calls of tools stand in tags, where tools are offered."""
    calls = [call for call in map(_call, _CALL.findall(text)) if call is not None] if is_offered else []
    message: Wire = {"role": "assistant", "content": _CALL.sub("", text).strip() if calls else text}
    if calls:
        message["tool_calls"] = calls
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "trinity",
        "choices": [{"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _call(text: str) -> Wire | None:
    try:
        given = json.loads(text)
        function = {"name": str(given["name"]), "arguments": json.dumps(given.get("arguments", {}))}
    except (ValueError, KeyError):
        return None
    return {"id": f"call_{uuid.uuid4().hex[:16]}", "type": "function", "function": function}


class ChatHarnessConfig(HarnessConfig):
    pass


class ChatHarness(Harness[ChatHarnessConfig]):
    """The package's plain chat loop (its `null` harness), without a process of its own for every episode."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_MCP = True
    SUPPORTS_RESUME = True
    SUPPORTS_TOOL_INTERCEPTION = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
        tool_interception_url: str | None = None,
    ) -> ProgramResult:
        system, prompt = self.resolve_prompt(data)
        messages: list[Wire] = [] if system is None else [{"role": "system", "content": system}]
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages.extend(message_to_wire(message) for message in prompt or [])
        async with AsyncExitStack() as stack:
            post = await stack.enter_async_context(_Poster(secret))
            servers = {name: {"url": url, "timeout": self.config.tool_timeout} for name, url in mcp_urls.items()}
            tools, dispatch, connections = await connect_mcp({"mcpServers": servers}, stack)
            while True:
                status, said = await post(f"{endpoint}/chat/completions", _body(ctx.model, messages, tools))
                if status != 200:
                    # a stop of the rollout is an answer as well: who waits for us looks at the trace first
                    return ProgramResult(1, "", json.dumps(said))
                message = said["choices"][0]["message"]
                messages.append({key: value for key, value in message.items() if value is not None})
                if not message.get("tool_calls"):
                    return ProgramResult(0, "", "")
                for call in message["tool_calls"]:
                    gate = tool_interception_url and await post(tool_interception_url, _gated(call))
                    if gate and gate[1].get("action") == "stop":
                        return ProgramResult(1, "", gate[1]["reason"])
                    if gate and gate[1].get("action") == "deny":
                        messages.append(bound_tool_message(gate[1]["message"]))
                        continue
                    content = await _result(call, dispatch, connections)
                    told = {"role": "tool", "tool_call_id": call["id"], "content": content}
                    messages.append(bound_tool_message({**told, "name": call["function"]["name"]}))


class _Poster:
    """Posts JSON to the package's own server, in this process."""

    def __init__(self, secret: str) -> None:
        # a reply takes as long as it takes
        timeout = httpx.Timeout(None, connect=30)
        self._client = httpx.AsyncClient(timeout=timeout, headers={"Authorization": f"Bearer {secret}"})

    async def __aenter__(self) -> _Poster:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._client.aclose()

    async def __call__(self, url: str, body: Wire) -> tuple[int, Wire]:
        response = await self._client.post(url, json=body)
        return response.status_code, response.json()


def _body(model: str, messages: list[Wire], tools: list[Wire]) -> Wire:
    return {"model": model, "messages": messages, **({"tools": tools} if tools else {})}


def _gated(call: Wire) -> Wire:
    function = call["function"]
    return {"tool_call_id": call["id"], "name": function["name"], "arguments": json.loads(function["arguments"])}


async def _result(call: Wire, dispatch: Any, connections: Any) -> Any:
    name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
    if name not in dispatch:
        return f"error: unknown tool {name!r}"
    if not isinstance(arguments, dict):
        return "error: the arguments of a tool must be a JSON object"
    return await call_mcp(connections, dispatch, name, arguments)
