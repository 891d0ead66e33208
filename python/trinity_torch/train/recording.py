"""Forward and backward pass of a network's layers as CUDA graphs.

A GPU that computes a layer faster than the CPU starts its kernels waits for the CPU. Packs of one size ask for the same kernels
every time: these are recorded once and then started by two calls. Kernels, operands and their order are those of the passes
that are not recorded, so the results are the same to the last bit.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter, OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..capture import capturing
from ..network import cudnn_attention
from ..network.rows import Pack

if TYPE_CHECKING:
    from ..network.transformer import Network

# What a recording depends on: tokens and sequences of a pack, and the longest sequence that it may have.
Key = tuple[int, int, int]

# Packs of a size that come before it is recorded: they compile and plan what recording must find ready.
BEFORE = 2
# Sizes whose recordings are kept. They share their memory, so this is about the time that recording takes.
KEPT = 16


class Recording:
    """Both passes over packs of one size."""

    def __init__(self, network: Network, embeds: Tensor, pack: Pack, pool: Any):
        self.embeds = embeds.detach().clone().requires_grad_(embeds.requires_grad)
        self.pack = replace(pack, positions=pack.positions.clone(), bounds=pack.bounds.clone())
        self._forward, self._backward = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        # where sequences begin is worked out inside the recording, from the bounds of the pack it is replayed for
        cudnn_attention.forget(embeds.device)
        try:
            with capturing(self._forward, pool):
                hidden = network.hidden_of(self.pack, inputs_embeds=self.embeds)
            self.d_hidden = torch.empty_like(hidden)
            with capturing(self._backward, pool):
                torch.autograd.backward(hidden, self.d_hidden)
        finally:
            cudnn_attention.forget(embeds.device)
        self.hidden, self.d_embeds = hidden.detach(), self.embeds.grad
        self.embeds = self.embeds.detach()

    def forward(self, embeds: Tensor, pack: Pack) -> Tensor:
        self.embeds.copy_(embeds)
        self.pack.positions.copy_(pack.positions)
        self.pack.bounds.copy_(pack.bounds)
        self._forward.replay()
        return self.hidden.detach()

    def backward(self, d_hidden: Tensor) -> Tensor | None:
        """By the embeddings; the gradients of weights are added to their sums."""
        self.d_hidden.copy_(d_hidden)
        self._backward.replay()
        return self.d_embeds


class _Replay(torch.autograd.Function):
    """`anchor`: makes the result depend on something that is trained, where the embeddings are not."""

    @staticmethod
    def forward(ctx: Any, embeds: Tensor, anchor: Tensor, recording: Recording, pack: Pack) -> Tensor:
        ctx.recording = recording
        return recording.forward(embeds, pack)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        return ctx.recording.backward(grads[0]), None, None, None


class Recordings:
    """Of one network. Its trained weights must stay where they are, and their gradients must go to sums of their own."""

    def __init__(self, network: Network, device: torch.device):
        # not a module of the network's own: it would be its parent and its child
        self._network = network
        self._anchor = torch.zeros((), device=device, requires_grad=True)
        self._seen: Counter[Key] = Counter()
        self._kept: OrderedDict[Key, Recording] = OrderedDict()
        self._pool: Any = None
        self._failed = False

    def __len__(self) -> int:
        return len(self._kept)

    def hidden(self, pack: Pack) -> Tensor | None:
        """
        Hidden states of a pack, with gradients; None: packs of its size are not recorded (yet). The backward pass must come
        before the next pack.
        """
        key = (pack.ids.shape[1], pack.bounds.numel(), pack.longest)
        if key not in self._kept and (self._failed or self._seen[key] < BEFORE):
            self._seen[key] += 1
            return None
        embeds = self._network.hf.get_input_embeddings()(pack.ids)
        recording = self._kept.get(key) or self._record(key, embeds, pack)
        if recording is None:
            return None
        self._kept.move_to_end(key)
        return _Replay.apply(embeds, self._anchor, recording, pack)

    def forget(self) -> None:
        """Gives back their memory: somebody else needs it, or weights get another place. The next packs record anew."""
        self._kept.clear()
        self._pool = None
        gc.collect()

    def _record(self, key: Key, embeds: Tensor, pack: Pack) -> Recording | None:
        while len(self._kept) >= KEPT:
            self._kept.popitem(last=False)
        if self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()
        try:
            recording = self._kept[key] = Recording(self._network, embeds, pack, self._pool)
        except Exception as error:  # an operation that waits for the device, or no memory for it: the plain passes do without
            self._failed = True
            self.forget()
            reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
            print(f"training is not recorded as CUDA graphs: {reason[:300]}", file=sys.stderr, flush=True)
            return None
        return recording
