"""One worker. Trinity starts it; see docs/python-environments.md."""

from __future__ import annotations

import os

from .call_home import call_home
from .life import end, end_with_parent, take_pipes
from .server import Server


def main() -> None:
    source, sink = take_pipes()
    end_with_parent(source)
    # elsewhere, standard output is the log
    if (there := call_home()) is not None:
        source = sink = there

    def read(size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = os.read(source, size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(sink, view) :]

    Server(read, write, end).run()


if __name__ == "__main__":
    main()
