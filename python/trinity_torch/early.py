"""What can begin while torch is being imported."""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any


def begin_device() -> None:
    """The driver sets up a device in about a second, and needs no torch for it; what torch would do first is then done."""
    if os.environ.get("TRINITY_TORCH_DEVICE") != "cuda":
        return
    # as torch sets it: the driver reads it once
    os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")
    threading.Thread(target=retain, args=(int(os.environ.get("LOCAL_RANK", "0")),), name="device", daemon=True).start()


def retain(ordinal: int, library: Any = None) -> bool:
    """The context that torch will use too. Whatever is wrong with the device, torch says it better."""
    try:
        driver = ctypes.CDLL("libcuda.so.1") if library is None else library
    except OSError:
        return False
    device, context = ctypes.c_int(), ctypes.c_void_p()
    return bool(
        driver.cuInit(0) == 0
        and driver.cuDeviceGet(ctypes.byref(device), ordinal) == 0
        and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    )
