"""Whether Triton kernels run here. Each of them has a plain PyTorch twin, which the CPU uses and tests compare with."""

from __future__ import annotations

import os
from functools import cache

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:  # the CPU build of PyTorch comes without it
    triton = None
    tl = None

# Triton's interpreter runs the kernels on the CPU: slowly, to test them
INTERPRETED = triton is not None and os.environ.get("TRITON_INTERPRET") == "1"
# kernels may hold instructions of NVIDIA's devices
NVIDIA = triton is not None and not INTERPRETED and torch.version.hip is None


@cache
def capability() -> tuple[int, int]:
    """Of an NVIDIA device; (0, 0) where there is none, or its instructions cannot be used."""
    return torch.cuda.get_device_capability() if NVIDIA and torch.cuda.is_available() else (0, 0)


def hopper() -> bool:
    """Whether the device is one: groups of warps multiply there, and its copy engine brings tiles."""
    return capability()[0] == 9


@cache
def early() -> dict[str, bool]:
    """
    How kernels are started: where the device can, while the one before them still runs. Each waits for that one before it reads
    what it has written.
    """
    able = capability() >= (9, 0)
    able = able and hasattr(getattr(tl.extra, "cuda", None), "gdc_wait")
    return {"PDL": able, **({"launch_pdl": True} if able else {})}


@cache
def shared_memory() -> int:
    """Bytes that a program may have beside its registers: 227 KiB on an H200, 99 on many others."""
    if INTERPRETED:
        return 1 << 30
    return int(triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())["max_shared_mem"])


def stages(most: int, stage: int, other: int, room: int) -> int:
    """Of a pipeline each of whose stages but one holds `stage` bytes, beside `other`: as many as there is room for."""
    return max(1, min(most, 1 + (room - other) // stage))


def fast(x: Tensor) -> bool:
    return triton is not None and (x.is_cuda or INTERPRETED)


def precision(x: Tensor) -> str:
    """Of the products of a kernel with such operands."""
    return "ieee" if x.dtype == torch.float32 else "tf32"


def power(n: int, least: int = 1) -> int:
    """The next power of two."""
    return max(least, 1 << (n - 1).bit_length())


if triton is not None:

    @triton.jit
    def let_next(PDL: tl.constexpr):
        """The next kernel may start, where all programs have come here."""
        if PDL:
            tl.extra.cuda.gdc_launch_dependents()

    @triton.jit
    def wait(PDL: tl.constexpr):
        """Until the last kernel has ended."""
        if PDL:
            tl.extra.cuda.gdc_wait()

    @triton.jit
    def wait_for_last(PDL: tl.constexpr):
        """
        The next kernel may start; this one goes on when the last one has ended. What lies before this line may read only what none of
        the kernels of this step writes: weights, and what is known when a step begins (its embedding is a kernel that nobody overtakes).
        A kernel may turn the two around: then the next one may read what lies before this one, and waits only for what this one writes.
        """
        let_next(PDL)
        wait(PDL)

else:
    wait_for_last = let_next = wait = None
