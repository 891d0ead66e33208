"""
Frames on a byte stream: a 16-byte prefix (magic, header length, payload length), a JSON header, raw tensors.

Nothing executable crosses the wire, and no length is believed before it has been checked. This module does not import
torch until a tensor is asked for, so that a worker can say what is wrong with its torch.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from ..errors import WorkerError

if TYPE_CHECKING:
    import torch

MAGIC = b"TRT1"
PREFIX = struct.Struct("<4sIQ")
MAX_HEADER = 64 * 2**20
MAX_PAYLOAD = 8 * 2**30
ALIGN = 8

BYTES = {"i32": 4, "f32": 4, "u8": 1, "i64": 8, "f64": 8}
_TORCH = {"i32": "int32", "f32": "float32", "u8": "uint8", "i64": "int64", "f64": "float64"}
_NAMES = {f"torch.{torch_name}": name for name, torch_name in _TORCH.items()}

Header = dict[str, Any]


@dataclass
class Frame:
    """`payload` belongs to the frame alone: the tensors of `tensors()` are views of it."""

    header: Header
    payload: bytearray

    def tensors(self) -> dict[str, torch.Tensor]:
        import torch

        found: dict[str, torch.Tensor] = {}
        at = 0
        for spec in self.header.get("tensors", []):
            name, dtype, shape = spec["name"], spec["dtype"], tuple(spec["shape"])
            count = prod(shape)
            kind = getattr(torch, _TORCH[dtype])
            if count == 0:
                found[name] = torch.empty(shape, dtype=kind)
            else:
                found[name] = torch.frombuffer(self.payload, dtype=kind, count=count, offset=at).view(shape)
            at += _padded(count * BYTES[dtype])
        return found


def encode(header: Header, tensors: Mapping[str, torch.Tensor] | None = None) -> list[bytes | memoryview]:
    """Pieces to be written one after the other; tensors are not copied."""
    specs: list[Header] = []
    pieces: list[bytes | memoryview] = []
    total = 0
    for name, tensor in (tensors or {}).items():
        dtype = _NAMES.get(str(tensor.dtype))
        if dtype is None:
            raise WorkerError("engine/frame", f"tensor '{name}' has the type {tensor.dtype}, which frames do not carry")
        specs.append({"name": name, "dtype": dtype, "shape": list(tensor.shape)})
        size = tensor.numel() * BYTES[dtype]
        if size > 0:
            pieces.append(tensor.detach().cpu().contiguous().numpy().data.cast("B"))
        pad = _padded(size) - size
        if pad > 0:
            pieces.append(bytes(pad))
        total += size + pad
    # bare NaN is not JSON: numbers that may be non-finite travel as tensors or as text
    text = json.dumps({**header, "tensors": specs}, allow_nan=False, separators=(",", ":")).encode()
    _check_lengths(len(text), total)
    return [PREFIX.pack(MAGIC, len(text), total) + text, *pieces]


def decode(read: Callable[[int], bytearray]) -> Frame:
    """Reads one frame. `read(n)` gives exactly n bytes, or raises EOFError."""
    magic, header_length, payload_length = PREFIX.unpack(bytes(read(PREFIX.size)))
    if magic != MAGIC:
        raise _bad(f"a frame begins with {magic!r}")
    _check_lengths(header_length, payload_length)
    try:
        header = json.loads(bytes(read(header_length)))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise _bad(f"the header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise _bad("the header is not an object")
    # checked before the payload is allocated
    if _tensor_bytes(header.get("tensors", [])) != payload_length:
        raise _bad("the tensors of the header do not fill the payload")
    return Frame(header, read(payload_length))


def _tensor_bytes(specs: Any) -> int:
    if not isinstance(specs, list):
        raise _bad("tensors is not a list")
    total = 0
    names: set[str] = set()
    for spec in specs:
        if not isinstance(spec, dict) or not isinstance(spec.get("name"), str) or spec["name"] in names:
            raise _bad("a tensor has no unique name")
        names.add(spec["name"])
        shape = spec.get("shape")
        if spec.get("dtype") not in BYTES or not isinstance(shape, list) or not all(_is_length(n) for n in shape):
            raise _bad(f"tensor '{spec['name']}' has no type and shape")
        total += _padded(prod(shape) * BYTES[spec["dtype"]])
        if total > MAX_PAYLOAD:
            raise _bad("the tensors are too large")
    return total


def _is_length(n: Any) -> bool:
    return isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= MAX_PAYLOAD


def _padded(size: int) -> int:
    return (size + ALIGN - 1) // ALIGN * ALIGN


def _check_lengths(header: int, payload: int) -> None:
    if header > MAX_HEADER or payload > MAX_PAYLOAD:
        raise _bad(f"a frame of {header} + {payload} bytes is over the limits of {MAX_HEADER} + {MAX_PAYLOAD}")


def _bad(message: str) -> WorkerError:
    return WorkerError("engine/frame", message, "are Trinity and trinity_torch from the same release?")
