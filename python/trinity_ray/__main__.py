"""The driver. Trinity starts it and tells it by lines on standard input what to place; see docs/cluster.md."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

from trinity_world.life import end, end_with_parent, take_pipes

from .errors import RayError, describe


class Driver:
    """Every request is answered, each in a thread of its own: room may be long in coming."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._writing = threading.Lock()
        self._cluster: Any = None

    def take(self, line: str) -> None:
        request = json.loads(line)
        if "id" in request:
            threading.Thread(target=self._answer, args=(request,), daemon=True).start()

    def _answer(self, request: dict[str, Any]) -> None:
        try:
            result = self._do(request["method"], request["params"])
        except Exception as error:
            result = {"failed": describe(error)}
        text = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})
        with self._writing:
            os.write(self._sink, f"{text}\n".encode())

    def _do(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "connect":
            from .cluster import Cluster

            self._cluster = Cluster(**params)
            return self._cluster.describe()
        if self._cluster is None:
            raise RayError("ray/driver", "nothing is connected")
        if method not in ("describe", "room", "run", "close", "timeline"):
            raise RayError("ray/driver", f"no method {method}")
        return getattr(self._cluster, method)(**params) or {}


def main() -> None:
    source, sink = take_pipes()
    end_with_parent(source)
    driver = Driver(sink)
    with os.fdopen(source, encoding="utf-8") as lines:
        for line in lines:
            driver.take(line)
    end()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit("trinity_ray is started by Trinity (cluster.ray_address); there is nothing to run by hand")
    main()
