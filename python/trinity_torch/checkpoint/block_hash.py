"""SHA-256 of files as they are written, block by block in threads; src/file/block-hash.ts does the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, BinaryIO

BLOCK = 4 << 20
# Blocks in memory at one time.
AT_ONCE = 4

# path → size and hash, as the answer to Trinity has it
Hashes = dict[str, dict[str, Any]]


class HashedFile:
    """A file to be written from its beginning to its end. Threads hash what the disk is meanwhile given."""

    def __init__(self, file: BinaryIO, threads: ThreadPoolExecutor) -> None:
        self._file = file
        self._threads = threads
        self._part = bytearray()
        self._blocks: list[Future[bytes]] = []
        self._size = 0

    def write(self, data: Any) -> int:
        """Anything that has bytes; they may change afterward."""
        view = memoryview(data)
        if view.nbytes == 0:
            return 0
        view = view.cast("B")
        for at in range(0, len(view), BLOCK):
            piece = view[at : at + BLOCK]
            self._take(piece)
            self._file.write(piece)
        return len(view)

    def flush(self) -> None:
        self._file.flush()

    def fileno(self) -> int:
        return self._file.fileno()

    def digest(self) -> dict[str, Any]:
        if self._part or self._size == 0:
            self._add(bytes(self._part))
        blocks = [block.result() for block in self._blocks]
        top = blocks[0] if len(blocks) == 1 else hashlib.sha256(b"".join(blocks)).digest()
        return {"size": self._size, "sha256": top.hex()}

    def _take(self, piece: memoryview) -> None:
        self._size += len(piece)
        room = BLOCK - len(self._part)
        self._part += piece[:room]
        if len(self._part) == BLOCK:
            self._add(self._part)
            self._part = bytearray(piece[room:])

    def _add(self, block: bytes | bytearray) -> None:
        if len(self._blocks) >= AT_ONCE:
            self._blocks[-AT_ONCE].result()
        self._blocks.append(self._threads.submit(_sha256, block))


def _sha256(block: bytes | bytearray) -> bytes:
    return hashlib.sha256(block).digest()


@contextmanager
def hashed(path: str, hashes: Hashes) -> Iterator[HashedFile]:
    """Opens a file to be written. Once it is on the disk, `hashes` says what was written."""
    with ThreadPoolExecutor(AT_ONCE) as threads, open(path, "wb") as file:
        out = HashedFile(file, threads)
        yield out
        file.flush()
        os.fsync(file.fileno())
        hashes[path] = out.digest()
