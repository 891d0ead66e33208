"""The connection of rank 0 with Trinity. A thread of its own reads, so that a cancellation arrives while work runs."""

from __future__ import annotations

import os
import queue
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import WorkerError
from .frames import Frame, Header, decode, encode
from .incoming import Incoming

if TYPE_CHECKING:
    import torch

# Bytes of a frame that is put together to be sent at once.
SMALL = 1 << 16


class Channel:
    """`ended` is called with an exit code when the connection has ended: a worker has nothing to live for then."""

    def __init__(self, connection: socket.socket, ended: Callable[[int], None] = os._exit) -> None:
        self._socket = connection
        self._ended = ended
        self._writing = threading.Lock()
        # None: something was cancelled
        self._requests: queue.Queue[Frame | None] = queue.Queue()
        self._cancelled: set[int] = set()
        self._guard = threading.Lock()

    @staticmethod
    def connect(address: str) -> Channel:
        host, port = address.rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), timeout=30)
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Channel(connection)

    def listen(self) -> None:
        threading.Thread(target=self._listen, name="frames", daemon=True).start()

    def send(self, header: Header, tensors: Mapping[str, torch.Tensor] | None = None) -> None:
        pieces = encode(plain(header), tensors)
        if sum(len(piece) for piece in pieces) <= SMALL:
            pieces = [b"".join(pieces)]
        with self._writing:
            for piece in pieces:
                self._socket.sendall(piece)

    def next(self, patience: float | None) -> Frame | None:
        """The next request. None: there is none after so many seconds (None: for ever), or something was cancelled."""
        try:
            return self._requests.get(patience is None or patience > 0, patience)
        except queue.Empty:
            return None

    def is_cancelled(self, request: int) -> bool:
        with self._guard:
            return request in self._cancelled

    def take_cancelled(self, among: set[int]) -> list[int]:
        """Those of `among` that were cancelled; each is told once."""
        with self._guard:
            found = sorted(self._cancelled & among)
            self._cancelled -= among
        return found

    def forget(self, request: int) -> None:
        with self._guard:
            self._cancelled.discard(request)

    def _listen(self) -> None:
        incoming = Incoming(self._socket)
        try:
            while True:
                self._take(decode(incoming.read))
        except (EOFError, ConnectionError):
            self._ended(0)
        except BaseException as error:
            # a stream that is out of step cannot be mended
            sys.stderr.write(f"trinity_torch: {error}\n")
            sys.stderr.flush()
            self._ended(72)

    def _take(self, frame: Frame) -> None:
        header = frame.header
        if "cancel" in header:
            with self._guard:
                self._cancelled.add(header["cancel"])
            self._requests.put(None)
            return
        if not isinstance(header.get("id"), int) or not isinstance(header.get("op"), str):
            raise WorkerError("engine/frame", "a request without id or op")
        self._requests.put(frame)


def plain(value: Any) -> Any:
    """JSON has no NaN and no infinities: they travel as the words that JavaScript's Number() reads."""
    if isinstance(value, float):
        if value != value:
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        return value
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value
