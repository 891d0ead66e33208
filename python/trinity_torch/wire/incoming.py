"""
The bytes that come from a socket, read as many at a time as there are. A thread that reads has to wait for its turn after each call,
while another one computes: the fewer calls, the sooner requests that came together are all there.
"""

from __future__ import annotations

import socket

ROOM = 1 << 18


class Incoming:
    def __init__(self, connection: socket.socket):
        self._socket = connection
        self._held = memoryview(bytearray(ROOM))
        self._from = self._to = 0

    def read(self, size: int) -> bytearray:
        """Exactly so many bytes; EOFError where the connection ends before."""
        data = bytearray(size)
        view, at = memoryview(data), 0
        while at < size:
            if self._from < self._to:
                count = min(size - at, self._to - self._from)
                view[at : at + count] = self._held[self._from : self._from + count]
                self._from += count
                at += count
            elif size - at >= ROOM:
                # what is large goes where it belongs at once
                at += self._receive(view[at:])
            else:
                self._from, self._to = 0, self._receive(self._held)
        return data

    def _receive(self, into: memoryview) -> int:
        count = self._socket.recv_into(into)
        if count == 0:
            raise EOFError
        return count
