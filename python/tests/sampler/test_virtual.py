"""The driver's calls behind memory that comes and goes, with a driver that only pretends."""

from __future__ import annotations

import ctypes
import unittest
from typing import Any
from unittest import mock

import torch

from trinity_torch.errors import WorkerError
from trinity_torch.sampler import pool as pools
from trinity_torch.sampler.virtual import Driver, Virtual, missing

STEP = 2 << 20


class Library:
    """The driver's calls, with what a device would hold; `broken` gives the code of the next calls by name."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.broken: dict[str, list[int]] = {}
        self.reserved: dict[int, int] = {}
        self.blocks: dict[int, int] = {}
        self.mapped: dict[int, int] = {}
        self.open: set[int] = set()
        self._next = 7

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> int:
            self.calls.append(name)
            codes = self.broken.get(name)
            code = codes.pop(0) if codes else 0
            if code == 0:
                getattr(self, f"_{name}")(*args)
            return code

        if not name.startswith("cu"):
            raise AttributeError(name)
        return call

    def cuGetErrorName(self, code: int, text: Any) -> int:
        text._obj.value = b"CUDA_ERROR_TEST"
        return 0

    def _cuDeviceGetAttribute(self, found: Any, which: int, device: int) -> None:
        found._obj.value = 1 if which == 102 else 0

    def _cuMemGetAllocationGranularity(self, found: Any, kind: Any, option: int) -> None:
        assert (kind._obj.type, kind._obj.location.type, kind._obj.location.id) == (1, 1, 3)
        found._obj.value = STEP

    def _cuMemAddressReserve(self, address: Any, size: Any, *rest: Any) -> None:
        address._obj.value = 1 << 40
        self.reserved[1 << 40] = size.value

    def _cuMemCreate(self, handle: Any, size: Any, kind: Any, flags: Any) -> None:
        self._next += 1
        handle._obj.value = self._next
        self.blocks[self._next] = size.value

    def _cuMemMap(self, address: Any, size: Any, offset: Any, handle: Any, flags: Any) -> None:
        assert self.blocks[handle.value] == size.value and address.value not in self.mapped
        self.mapped[address.value] = handle.value

    def _cuMemSetAccess(self, address: Any, size: Any, access: Any, count: Any) -> None:
        assert (access._obj.location.id, access._obj.flags, count.value) == (3, 3, 1)
        self.open.add(self.mapped[address.value])

    def _cuMemUnmap(self, address: Any, size: Any) -> None:
        self.open.discard(self.mapped.pop(address.value))

    def _cuMemRelease(self, handle: Any) -> None:
        assert handle.value not in self.mapped.values()
        del self.blocks[handle.value]

    def _cuMemAddressFree(self, address: Any, size: Any) -> None:
        assert self.reserved.pop(address.value) == size.value and not self.mapped


class Calls(unittest.TestCase):
    def setUp(self) -> None:
        self.library = Library()
        self.driver = Driver(self.library)
        self.block: Virtual | None = Virtual(5 * STEP - 17, 3, self.driver)

    def test_memory_comes_and_goes_behind_one_address(self) -> None:
        block, library = self.block, self.library
        assert block is not None
        self.assertEqual((block.size, block.mapped, library.blocks), (5 * STEP, False, {}))
        for _ in range(3):
            block.map()
            self.assertEqual(list(library.blocks.values()), [5 * STEP])
            self.assertEqual((library.mapped[block.address], len(library.open)), (*library.blocks, 1))
            block.unmap()
            self.assertEqual((library.blocks, library.mapped, library.open), ({}, {}, set()))
        self.assertEqual(library.calls.count("cuMemAddressReserve"), 1)
        seen = block.__cuda_array_interface__
        self.assertEqual((seen["shape"], seen["data"]), ((5 * STEP,), (1 << 40, False)))
        block.map()
        del block, seen
        self.block = None
        self.assertEqual((library.blocks, library.reserved), ({}, {}))

    def test_a_failed_call_leaves_nothing_behind_and_says_its_name(self) -> None:
        block, library = self.block, self.library
        assert block is not None
        for name in ("cuMemCreate", "cuMemMap", "cuMemSetAccess"):
            library.broken = {name: [801]}
            with self.assertRaisesRegex(WorkerError, rf"{name} failed: CUDA error 801 \(CUDA_ERROR_TEST\)") as caught:
                block.map()
            self.assertEqual(caught.exception.code, "engine/device")
            self.assertEqual((library.blocks, library.mapped, block.mapped), ({}, {}, False))
        block.map()
        library.broken = {"cuMemUnmap": [1]}
        with self.assertRaisesRegex(WorkerError, "cuMemUnmap"):
            block.unmap()
        self.assertTrue(block.mapped and library.mapped)
        library.broken = {"cuMemRelease": [1]}
        with self.assertRaisesRegex(WorkerError, "cuMemRelease"):
            block.unmap()
        self.assertFalse(block.mapped or library.mapped)

    def test_no_memory_is_tried_again_once_PyTorch_has_let_go(self) -> None:
        block, library = self.block, self.library
        assert block is not None
        library.broken = {"cuMemCreate": [2]}
        with mock.patch("trinity_torch.sampler.virtual.release") as release:
            block.map()
            release.assert_called_once()
        block.unmap()
        library.broken = {"cuMemCreate": [2, 2]}
        with self.assertRaises(WorkerError) as caught:
            block.map()
        self.assertEqual((caught.exception.code, block.mapped), ("engine/memory", False))

    def test_says_what_is_missing(self) -> None:
        self.assertIsNone(missing(3, self.driver))
        self.library.broken = {"cuDeviceGetAttribute": [100]}
        self.assertRegex(missing(3, self.driver) or "", "cuDeviceGetAttribute failed: CUDA error 100")
        with mock.patch.object(self.library, "_cuDeviceGetAttribute", lambda found, *_: setattr(found._obj, "value", 0)):
            self.assertRegex(missing(3, self.driver) or "", "no virtual memory")
        with mock.patch.object(ctypes, "CDLL", side_effect=OSError("libcuda.so.1: cannot open")):
            self.assertRegex(missing(0) or "", "cannot open")


class Log(unittest.TestCase):
    def test_a_device_without_such_memory_is_told_of_once(self) -> None:
        with (
            mock.patch.object(pools, "missing", lambda device: "no such call"),
            mock.patch.object(pools, "_told", False),
            mock.patch("builtins.print") as said,
        ):
            for _ in range(2):
                self.assertFalse(pools.can_sleep(torch.device("cuda", 0)))
        said.assert_called_once()
        self.assertIn("no such call", said.call_args.args[0])


if __name__ == "__main__":
    unittest.main()
