"""Whether Triton kernels run here. Each of them has a plain PyTorch twin, which the CPU uses and tests compare with."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

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



@cache
def early() -> dict[str, bool]:
    """
    How kernels are started: where the device can, while the one before them still runs. Each waits for that one before it reads
    what it has written.
    """
    able = triton is not None and not INTERPRETED and torch.cuda.is_available() and torch.cuda.get_device_capability() >= (9, 0)
    able = able and hasattr(getattr(tl.extra, "cuda", None), "gdc_wait")
    return {"PDL": able, **({"launch_pdl": True} if able else {})}


# Bytes of a weight that a small kernel asks the memory for, for the product after it: about what arrives while it runs.
AHEAD = 12 << 20
# Rows of a batch up to which products ask for their weights themselves (product.py), and beyond which arithmetic binds them.
VERY_FEW, MANY = 16, 256


def ahead(weight: Tensor | None, rows: int, otherwise: Tensor) -> dict[str, Any]:
    """The next product's weight for a kernel that can ask for it (`fetch`); `otherwise`: any tensor."""
    if weight is None or not early()["PDL"] or not VERY_FEW < rows <= MANY or weight.data_ptr() % 16 != 0:
        return {"ahead": otherwise, "ahead_bytes": 0}
    return {"ahead": weight, "ahead_bytes": min(AHEAD, weight.nbytes) // 16 * 16}


def fast(x: Tensor) -> bool:
    return triton is not None and (x.is_cuda or INTERPRETED)


def power(n: int, least: int = 1) -> int:
    """The next power of two."""
    return max(least, 1 << (n - 1).bit_length())


if triton is not None:

    @triton.jit
    def wait_for_last(PDL: tl.constexpr):
        """The next kernel may start; this one goes on when the last one has ended."""
        if PDL:
            tl.extra.cuda.gdc_launch_dependents()
            tl.extra.cuda.gdc_wait()

    @triton.jit
    def fetch(memory, size, program, programs, PDL: tl.constexpr):
        """Brings `size` bytes into the device's cache, this program its share of them; nobody waits for it."""
        if PDL:
            if size > 0:
                each = tl.cdiv(size, programs * 128 * 16) * 16
                begin = (program * 128 + tl.arange(0, 128)) * each
                begin = tl.where(begin < size, begin, 0)
                tl.inline_asm_elementwise(
                    "cp.async.bulk.prefetch.L2.global [$1], $2; mov.u32 $0, 0;", "=r,l,r",
                    [memory.to(tl.int64) + begin, tl.minimum(each, size - begin)], dtype=tl.int32, is_pure=False, pack=1,
                )  # fmt: skip
