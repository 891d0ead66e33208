"""One rollout of an agent: the workflow function, then the judge where there is one."""

import asyncio
import inspect
import logging
from collections.abc import Callable
from functools import cache
from typing import Any

from trinity_agent.functions import function_named, taken


@cache
def http_client() -> Any:
    """One for all: a client of its own for each model takes longer to make than an answer."""
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=256)
    return httpx.AsyncClient(timeout=None, limits=limits, trust_env=False)


def chat_model(address: dict[str, str]) -> Any:
    """A model of AgentScope that asks one of Trinity's."""
    from agentscope.model import OpenAIChatModel

    return OpenAIChatModel(
        model_name=address["model"],
        api_key=address["api_key"],
        stream=False,
        client_kwargs={"base_url": address["base_url"], "http_client": http_client()},
    )


async def roll_out(params: dict[str, Any]) -> dict[str, Any]:
    """`{"reward": number or null, "metrics": {…}}`."""
    task = params["task"]
    others = {name: chat_model(address) for name, address in params["auxiliary_models"].items()}
    shared = {"auxiliary_models": others, "logger": logging.getLogger("trinity_agent")}
    model = chat_model(params["model"])
    output = await _called(function_named(params["workflow_func"]), task=task, model=model, **shared)
    reward, metrics = _read(output)
    if params.get("judge_func"):
        response = getattr(output, "response", output)
        judge = function_named(params["judge_func"])
        reward, judged = _read(await _called(judge, task=task, response=response, **shared))
        metrics |= judged
    return {"reward": reward, "metrics": metrics}


async def _called(function: Callable[..., Any], **given: Any) -> Any:
    arguments = taken(function, given)
    if inspect.iscoroutinefunction(function):
        return await function(**arguments)
    # others go on meanwhile
    result = await asyncio.to_thread(function, **arguments)
    return await result if inspect.isawaitable(result) else result


def _read(output: Any) -> tuple[float | None, dict[str, float]]:
    """Of a number, or of an object with `reward` and `metrics`."""
    reward = getattr(output, "reward", output)
    metrics = getattr(output, "metrics", None) or {}
    return (float(reward) if isinstance(reward, (int, float)) else None), {k: float(v) for k, v in metrics.items()}
