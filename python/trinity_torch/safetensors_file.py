"""Safetensors files written tensor by tensor: a whole model in float32 need not fit in memory once more."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

TYPES = {
    torch.float32: "F32",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


@dataclass(frozen=True)
class Entry:
    """`data` is asked for once, on every rank: several may have to put it together."""

    name: str
    shape: torch.Size
    dtype: torch.dtype
    data: Callable[[], Tensor]


def write(path: str | None, entries: list[Entry]) -> None:
    """`path`: None on ranks that only help to make the data. Numbers that are not whole are written as float32."""
    dtypes = [torch.float32 if entry.dtype.is_floating_point else entry.dtype for entry in entries]
    if path is None:
        for entry in entries:
            entry.data()
        return
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for entry, dtype in zip(entries, dtypes):
        size = entry.shape.numel() * dtype.itemsize
        header[entry.name] = {"dtype": TYPES[dtype], "shape": list(entry.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    problem: OSError | None = None
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for entry, dtype in zip(entries, dtypes):
            data = entry.data()
            if problem is None:
                try:
                    file.write(data.detach().to("cpu", dtype).contiguous().reshape(-1).view(torch.uint8).numpy().data)
                except OSError as error:
                    # the other ranks are still giving their parts
                    problem = error
        if problem is not None:
            raise problem
        file.flush()
        os.fsync(file.fileno())
