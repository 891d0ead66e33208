"""Whether Triton kernels run here. Each of them has a plain PyTorch twin, which the CPU uses and tests compare with."""

from __future__ import annotations

import os

from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:  # the CPU build of PyTorch comes without it
    triton = None
    tl = None

# Triton's interpreter runs the kernels on the CPU: slowly, to test them
INTERPRETED = triton is not None and os.environ.get("TRITON_INTERPRET") == "1"


def fast(x: Tensor) -> bool:
    return triton is not None and (x.is_cuda or INTERPRETED)


def power(n: int, least: int = 1) -> int:
    """The next power of two."""
    return max(least, 1 << (n - 1).bit_length())
