"""
Device memory behind addresses that stay: CUDA's virtual memory calls, made through the driver's own library.

What is recorded in a CUDA graph are addresses. They are reserved once; the memory behind them can be given back and taken
anew, so that a graph is still right when it is replayed after somebody else has used the memory in between.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any

import torch
from torch import Tensor

from ..errors import WorkerError

OUT_OF_MEMORY = 2
# of cuda.h
_SUPPORTED = 102
_PINNED, _ON_DEVICE, _READ_WRITE, _RECOMMENDED = 1, 1, 3, 1


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _Kind(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", _Location),
        ("windows", ctypes.c_void_p),
        ("compression", ctypes.c_ubyte),
        ("rdma", ctypes.c_ubyte),
        ("usage", ctypes.c_ushort),
        ("reserved", ctypes.c_ubyte * 4),
    ]


class _Access(ctypes.Structure):
    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


class Driver:
    """Calls by name. `library`: the driver's, unless a test has another."""

    def __init__(self, library: Any = None):
        self._library = ctypes.CDLL("libcuda.so.1") if library is None else library

    def call(self, name: str, *args: Any) -> None:
        code = int(getattr(self._library, name)(*args))
        if code == OUT_OF_MEMORY:
            raise WorkerError("engine/memory", f"GPU memory is used up ({name}: error {code})")
        if code != 0:
            raise WorkerError("engine/device", f"{name} failed: CUDA error {code}{self._named(code)}", "see the worker's log")

    def _named(self, code: int) -> str:
        text = ctypes.c_char_p()
        self._library.cuGetErrorName(code, ctypes.byref(text))
        return f" ({text.value.decode()})" if text.value else ""


def missing(device: int, driver: Driver | None = None) -> str | None:
    """Why these calls cannot be made for this device; None: they can."""
    found = ctypes.c_int(0)
    try:
        driver = driver or Driver()
        driver.call("cuDeviceGetAttribute", ctypes.byref(found), _SUPPORTED, device)
    except (OSError, AttributeError, WorkerError) as error:
        return str(error)
    return None if found.value else "the device has no virtual memory management"


class Virtual:
    """
    A block of bytes. Tensors made of it keep it, and the last one gone, everything is given back. Whoever unmaps it has to
    see to it that no kernel reads or writes it before it is mapped again.
    """

    def __init__(self, size: int, device: int, driver: Driver | None = None):
        self._driver = driver or Driver()
        self._location = _Location(_ON_DEVICE, device)
        self._kind = _Kind(type=_PINNED, location=self._location)
        self._handle: int | None = None
        self.address = self.size = 0
        step = ctypes.c_size_t(0)
        self._driver.call("cuMemGetAllocationGranularity", ctypes.byref(step), ctypes.byref(self._kind), _RECOMMENDED)
        rounded = -(-size // step.value) * step.value
        address = ctypes.c_uint64(0)
        no_wish = (ctypes.c_size_t(0), ctypes.c_uint64(0), ctypes.c_uint64(0))
        self._driver.call("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(rounded), *no_wish)
        self.address, self.size = address.value, rounded

    @property
    def mapped(self) -> bool:
        return self._handle is not None

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": (self.size,), "typestr": "|u1", "data": (self.address, False), "strides": None, "version": 3}

    def tensor(self) -> Tensor:
        """All of it. It has to be mapped, or PyTorch does not find out which device the addresses belong to."""
        return torch.as_tensor(self, device=torch.device("cuda", self._location.id))

    def map(self) -> None:
        """What it holds afterward is anything. An error leaves it unmapped."""
        handle = self._create()
        try:
            self._driver.call("cuMemMap", *self._range, ctypes.c_size_t(0), ctypes.c_uint64(handle), ctypes.c_uint64(0))
            try:
                access = _Access(self._location, _READ_WRITE)
                self._driver.call("cuMemSetAccess", *self._range, ctypes.byref(access), ctypes.c_size_t(1))
            except WorkerError:
                self._driver.call("cuMemUnmap", *self._range)
                raise
        except WorkerError:
            self._driver.call("cuMemRelease", ctypes.c_uint64(handle))
            raise
        self._handle = handle

    def unmap(self) -> None:
        """An error of the first call leaves it mapped."""
        wait()
        self._driver.call("cuMemUnmap", *self._range)
        handle, self._handle = self._handle, None
        self._driver.call("cuMemRelease", ctypes.c_uint64(handle or 0))

    @property
    def _range(self) -> tuple[ctypes.c_uint64, ctypes.c_size_t]:
        return ctypes.c_uint64(self.address), ctypes.c_size_t(self.size)

    def _create(self) -> int:
        handle = ctypes.c_uint64(0)
        args = (ctypes.byref(handle), ctypes.c_size_t(self.size), ctypes.byref(self._kind), ctypes.c_uint64(0))
        try:
            self._driver.call("cuMemCreate", *args)
        except WorkerError as error:
            if error.code != "engine/memory":
                raise
            # PyTorch keeps what it has freed
            release()
            self._driver.call("cuMemCreate", *args)
        return handle.value

    def __del__(self) -> None:
        # a process that ends gives back everything by itself
        if self.address and not sys.is_finalizing():
            if self.mapped:
                self.unmap()
            self._driver.call("cuMemAddressFree", *self._range)


def wait() -> None:
    """For everything that the device has been given to do."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def release() -> None:
    """What PyTorch keeps of the device's memory without using it."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
