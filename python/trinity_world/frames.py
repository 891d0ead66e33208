"""Frames on a byte stream: four bytes of length, little endian, then JSON. Nothing executable crosses the wire."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

PREFIX = struct.Struct("<I")
MAX_FRAME = 64 * 2**20

Read = Callable[[int], bytes]
"""Gives exactly so many bytes, or raises EOFError."""


class FrameError(Exception):
    """The stream is not one of frames; it cannot be mended."""


def encode(text: bytes) -> bytes:
    if len(text) > MAX_FRAME:
        raise FrameError(f"a frame of {len(text)} bytes; the most is {MAX_FRAME}")
    return PREFIX.pack(len(text)) + text


def decode(read: Read) -> Any:
    (length,) = PREFIX.unpack(read(PREFIX.size))
    if length > MAX_FRAME:
        raise FrameError(f"a frame of {length} bytes; the most is {MAX_FRAME}")
    try:
        return json.loads(read(length))
    except ValueError as error:
        raise FrameError(f"a frame is not JSON: {error}") from error
