"""Safetensors files written tensor by tensor: a whole model in float32 need not fit in memory once more."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from torch import Tensor

from .block_hash import Hashes, hashed

TYPES = {
    torch.float32: "F32",
    torch.bfloat16: "BF16",
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


def write(path: str | None, entries: list[Entry], hashes: Hashes, dtype: torch.dtype = torch.float32) -> None:
    """
    The file is hashed as it is written. `path`: None on ranks that only help to make the data. Numbers that are not whole are written as `dtype`. Whatever goes
    wrong with the file, all data is asked for: the other ranks are giving their parts.
    """
    dtypes = [dtype if entry.dtype.is_floating_point else entry.dtype for entry in entries]
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for entry, own in zip(entries, dtypes):
        size = entry.shape.numel() * own.itemsize
        header[entry.name] = {"dtype": TYPES[own], "shape": list(entry.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file, problem = None, None
    with ExitStack() as opened:
        try:
            if path is not None:
                file = opened.enter_context(hashed(path, hashes))
                file.write(len(text).to_bytes(8, "little") + text)
        except OSError as error:
            problem = error
        for entry, own in zip(entries, dtypes):
            data = entry.data()
            try:
                if file is not None and problem is None:
                    file.write(data.detach().to("cpu", own).contiguous().reshape(-1).view(torch.uint8).numpy().data)
            except OSError as error:
                problem = error
        try:
            opened.close()
        except OSError as error:
            problem = problem or error
    if problem is not None:
        raise problem
