"""Experts in files: each has matrices of its own there, where Transformers holds those of all of them in one parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import torch
from torch import Tensor

from .safetensors_file import Entry

# families whose files are known to be so
FAMILIES = ("qwen3_moe",)


def divided(family: str, name: str, whole: torch.Size) -> list[tuple[str, Callable[[Tensor], Tensor]]]:
    """The tensors that a parameter is in files, and how each is taken from it; none: it is the same there."""
    prefix, _, last = name.rpartition(".")
    if family not in FAMILIES or not prefix.endswith(".mlp.experts"):
        return []
    half = whole[1] // 2
    parts = {
        "gate_up_proj": [("gate_proj", slice(0, half)), ("up_proj", slice(half, None))],
        "down_proj": [("down_proj", slice(None))],
    }[last]

    def taken(expert: int, rows: slice) -> Callable[[Tensor], Tensor]:
        return lambda whole: whole[expert, rows]

    each = range(whole[0])
    return [(f"{prefix}.{expert}.{part}.weight", taken(expert, rows)) for expert in each for part, rows in parts]


def places(family: str, parameters: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
    """Of parameters, the tensors that they are in files: views, in the order in which files have them."""
    for name, p in parameters:
        parts = divided(family, name, p.shape)
        yield from ((part, of(p.data)) for part, of in parts) if parts else [(name, p.data)]


def entries(family: str, entry: Entry) -> list[Entry]:
    """Of a file, in place of one that is divided there. The whole is put together once, and kept until its last part is written."""
    parts = divided(family, entry.name, entry.shape)
    held: list[Tensor] = []

    def take(number: int, of: Callable[[Tensor], Tensor]) -> Tensor:
        if number == 0:
            held.append(entry.data())
        part = of(held[0]).contiguous()
        if number == len(parts) - 1:
            held.clear()
        return part

    def one(number: int, name: str, of: Callable[[Tensor], Tensor]) -> Entry:
        shape = of(torch.empty(entry.shape, device="meta")).shape
        return Entry(name, shape, entry.dtype, lambda: take(number, of))

    return [one(i, name, of) for i, (name, of) in enumerate(parts)] or [entry]
