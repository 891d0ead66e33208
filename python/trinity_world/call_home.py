"""How a worker on another machine finds Trinity."""

from __future__ import annotations

import json
import os
import socket


def call_home() -> int | None:
    """A connection to the address that the environment names; None: frames go by the pipes."""
    address = os.environ.pop("TRINITY_WORLD_CONNECT", None)
    token = os.environ.pop("TRINITY_WORLD_TOKEN", "")
    if address is None:
        return None
    host, port = address.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(f"{json.dumps({'token': token})}\n".encode())
    return connection.detach()
