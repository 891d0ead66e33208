import unittest
from typing import Any
from unittest import mock

from trinity_torch import early


class Library:
    """A driver that writes down what it is asked."""

    def __init__(self, **codes: int):
        self.codes, self.calls = codes, list[tuple[str, Any]]()

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> int:
            self.calls.append((name, args[-1]))
            return self.codes.get(name, 0)

        return call


class Device(unittest.TestCase):
    def test_the_context_of_the_right_device(self) -> None:
        driver = Library()
        self.assertTrue(early.retain(3, driver))
        self.assertEqual([name for name, _ in driver.calls], ["cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain"])
        self.assertEqual(driver.calls[1][1], 3)

    def test_what_is_wrong_is_left_to_torch(self) -> None:
        driver = Library(cuInit=100)
        self.assertFalse(early.retain(0, driver))
        self.assertEqual(len(driver.calls), 1)
        with mock.patch("ctypes.CDLL", side_effect=OSError):
            self.assertFalse(early.retain(0))

    def test_only_where_there_is_to_be_one(self) -> None:
        for kind, begun in (("cpu", 0), ("cuda", 1)):
            with mock.patch.dict("os.environ", TRINITY_TORCH_DEVICE=kind, LOCAL_RANK="2"), mock.patch("threading.Thread") as thread:
                early.begin_device()
            self.assertEqual(thread.call_count, begun)
        self.assertEqual(thread.call_args.kwargs["args"], (2,))
