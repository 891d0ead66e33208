"""JSON-RPC over standard input and output, a line each: `rollout` runs an agent, a cancelled one is stopped."""

import asyncio
import json
import os
import sys
import traceback
from typing import Any, TextIO

from trinity_agent.rollout import roll_out

MOST_LINE = 1 << 28


async def serve(answers: TextIO) -> None:
    reader = asyncio.StreamReader(limit=MOST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running: dict[int, asyncio.Task[None]] = {}

    async def answer(number: int, params: dict[str, Any]) -> None:
        said: dict[str, Any]
        try:
            said = {"result": await roll_out(params)}
        except Exception as error:
            traceback.print_exc()
            said = {"error": {"code": -32000, "message": f"{type(error).__name__}: {error}"}}
        finally:
            running.pop(number, None)
        answers.write(json.dumps({"jsonrpc": "2.0", "id": number, **said}) + "\n")
        answers.flush()

    while line := await reader.readline():
        message = json.loads(line)
        params = message.get("params", {})
        if message["method"] == "rollout":
            running[message["id"]] = asyncio.create_task(answer(message["id"], params))
        elif message["method"] == "notifications/cancelled" and params["requestId"] in running:
            running[params["requestId"]].cancel()


if __name__ == "__main__":
    # what agents print must not come between the answers
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    asyncio.run(serve(own))
    # threads that hang do not hold the process
    os._exit(0)
