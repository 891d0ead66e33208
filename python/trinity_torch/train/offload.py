"""Training state that waits in host memory and passes through the device piece by piece."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from ..errors import WorkerError

# Numbers of one bucket: 128 MiB of float32 for each of weights and moments, three buckets on their way at a time.
BUCKET = 2**25
SLOTS = 3


class Locked(mmap.mmap):
    """
    Page-locked memory, unlocked when the last tensor in it is gone. Registered rather than allocated as pinned, because
    that allocator rounds up to a power of two; whole pages of its own, because no page can be registered twice.
    """

    address = 0

    def lock(self, address: int) -> None:
        code = int(torch.cuda.cudart().cudaHostRegister(address, len(self), 0))
        if code != 0:
            gigabytes = len(self) / 1e9
            raise WorkerError("engine/memory", f"{gigabytes:.1f} GB of main memory cannot be locked (CUDA error {code})")
        self.address = address

    def __del__(self) -> None:
        if self.address:
            torch.cuda.cudart().cudaHostUnregister(self.address)


def host_tensors(shapes: list[torch.Size], device: torch.device, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Zeros in one block of host memory, page-locked where that makes copies to the device fast."""
    sizes = [shape.numel() for shape in shapes]
    if device.type == "cuda" and sum(sizes) > 0:
        memory = Locked(-1, sum(sizes) * dtype.itemsize)
        block = torch.frombuffer(memory, dtype=dtype)
        memory.lock(block.data_ptr())
    else:
        block = torch.zeros(sum(sizes), dtype=dtype)
    return [part.view(shape) for part, shape in zip(block.split(sizes), shapes)]


class Guests:
    """Weights that are on the device only while a call needs them; in between the host has them."""

    def __init__(self, params: list[Tensor], device: torch.device):
        self.params = params
        for p in params:
            if not p.data.untyped_storage().resizable():
                # a weight that still lies in its file
                p.data = p.data.clone()
        self.copies = host_tensors([p.shape for p in params], device, params[0].dtype)
        self.calls = 0
        self._leave(True)

    @contextmanager
    def present(self, changed: bool = False) -> Iterator[None]:
        """`changed`: what is done with them changes them."""
        if self.calls == 0:
            self._come()
        self.calls += 1
        try:
            yield
        finally:
            self.calls -= 1
            if self.calls == 0:
                self._leave(changed)

    def _come(self) -> None:
        for p, copy in zip(self.params, self.copies):
            p.data.untyped_storage().resize_(p.nbytes)
            p.data.copy_(copy, non_blocking=True)

    def _leave(self, changed: bool) -> None:
        for p, copy in zip(self.params, self.copies):
            if changed:
                copy.copy_(p.data)
            p.data.untyped_storage().resize_(0)


def held(params: Iterable[Tensor]) -> int:
    """Bytes that the device really has of them."""
    return sum(min(x.nbytes, x.untyped_storage().nbytes()) for x in map(local, params))


@dataclass(frozen=True)
class Piece:
    """Entries a … b of the i-th tensor, seen flat."""

    i: int
    a: int
    b: int

    def of(self, tensors: list[Tensor]) -> Tensor:
        return tensors[self.i].view(-1)[self.a : self.b]

    @property
    def size(self) -> int:
        return self.b - self.a


def buckets(sizes: list[int], limit: int) -> Iterator[list[Piece]]:
    """All entries of tensors of these sizes, in pieces that come to at most `limit`."""
    bucket: list[Piece] = []
    room = limit
    for i, size in enumerate(sizes):
        a = 0
        while a < size:
            b = min(size, a + room)
            bucket.append(Piece(i, a, b))
            room -= b - a
            a = b
            if room == 0:
                yield bucket
                bucket, room = [], limit
    if bucket:
        yield bucket


Work = Callable[[list[Piece], list[list[Tensor]]], None]


def shuttle(columns: list[tuple[list[Tensor], bool]], sizes: list[int], device: torch.device, work: Work) -> None:
    """
    Brings host tensors to the device bucket by bucket, has them worked on in place there, and takes them back.
    `columns`: lists of tensors of these sizes, and whether the work changes them. On a GPU the three go on at once.
    """
    parts = list(buckets(sizes, BUCKET))
    longest = max((sum(piece.size for piece in part) for part in parts), default=0)
    cuda = device.type == "cuda"
    slots = [torch.empty(len(columns), longest, device=device) for _ in range(min(SLOTS, len(parts)))]
    streams = (torch.cuda.Stream(device), torch.cuda.Stream(device)) if cuda else None
    free: list[torch.cuda.Event | None] = [None] * len(slots)
    if streams:
        streams[0].wait_stream(torch.cuda.current_stream(device))
    for n, part in enumerate(parts):
        slot = n % len(slots)
        sides = [list(row.split([piece.size for piece in part] + [longest - sum(p.size for p in part)])) for row in slots[slot]]

        def bring() -> None:
            for (tensors, _), there in zip(columns, sides):
                for piece, x in zip(part, there):
                    x.copy_(piece.of(tensors), non_blocking=True)

        def take_back() -> None:
            for (tensors, changes), there in zip(columns, sides):
                for piece, x in zip(part, there):
                    if changes:
                        piece.of(tensors).copy_(x, non_blocking=True)

        there = [side[: len(part)] for side in sides]
        if not streams:
            bring()
            work(part, there)
            take_back()
            continue
        coming, going = streams
        with torch.cuda.stream(coming):
            if (event := free[slot]) is not None:
                coming.wait_event(event)
            bring()
        torch.cuda.current_stream(device).wait_stream(coming)
        work(part, there)
        going.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(going):
            take_back()
            free[slot] = going.record_event()
    if streams:
        # the slots go back to the allocator, and the host reads what was copied
        for stream in streams:
            stream.synchronize()


def local(x: Tensor) -> Tensor:
    """This rank's part of a sharded tensor."""
    return x.to_local() if isinstance(x, DTensor) else x
