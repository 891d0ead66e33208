"""Weights from the process of a trainer to those of samplers on other machines, through Trinity, who encrypts them."""

from __future__ import annotations

import json
import os
import socket

import torch
from torch import Tensor

from ..errors import WorkerError


class StreamLink:
    """
    Member `rank` of `size`, as a Link is; bytes instead of a process group, which would trust whoever reaches it. They
    come and go at the address by which this worker found Trinity.
    """

    def __init__(self, channel: str, rank: int, size: int, device: torch.device, seconds: float):
        self.rank, self.device = rank, device
        host, port = os.environ["TRINITY_TORCH_CONNECT"].rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=seconds)
        hello = {"channel": channel, "rank": rank, "size": size}
        self._socket.sendall(f"{json.dumps(hello)}\n".encode())
        # everybody is there
        if self._read(memoryview(bytearray(1))) != 1:
            raise _gone()

    def broadcast(self, tensor: Tensor) -> None:
        """From the trainer to all others."""
        if self.rank == 0:
            self._socket.sendall(_bytes(tensor.detach().to("cpu").contiguous()))
            return
        arrived = tensor if tensor.device.type == "cpu" else torch.empty_like(tensor, device="cpu")
        data = _bytes(arrived)
        if self._read(data) != len(data):
            raise _gone()
        if arrived is not tensor:
            tensor.copy_(arrived)

    def close(self) -> None:
        self._socket.close()

    def _read(self, into: memoryview) -> int:
        at = 0
        while at < len(into):
            count = self._socket.recv_into(into[at:])
            if count == 0:
                break
            at += count
        return at


def _bytes(tensor: Tensor) -> memoryview:
    """The memory of a contiguous tensor of any type, also of those that numpy has none for."""
    return tensor.view(-1).view(torch.uint8).numpy().data


def _gone() -> WorkerError:
    return WorkerError("engine/link", "the others of a weight transfer have gone away")
