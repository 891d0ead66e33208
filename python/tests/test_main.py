import unittest
from unittest import mock

from trinity_torch import __main__ as main
from trinity_torch.errors import MEMORY_HINT, Cancelled, WorkerError, describe


class Versions(unittest.TestCase):
    def check(self, **found: str | None) -> WorkerError | None:
        with mock.patch.object(main, "_version", lambda name: found.get(name)):
            try:
                main.check_versions()
            except WorkerError as error:
                return error
        return None

    def test_floors(self) -> None:
        self.assertIsNone(self.check(torch="2.11.0+cu130", transformers="5.0.0"))
        self.assertIsNone(self.check(torch="3.0.0", transformers="10.2"))
        for found in [{"torch": "2.9.1+cu128"}, {"torch": "2.11", "transformers": "4.57.3"}]:
            error = self.check(**found)
            assert error is not None
            self.assertEqual(error.code, "engine/version")
            self.assertIn("trinity setup torch", error.hint or "")

    def test_missing(self) -> None:
        error = self.check(torch="2.11.0")
        assert error is not None
        self.assertEqual(error.code, "engine/python-package")
        self.assertIn("transformers", str(error))


class Descriptions(unittest.TestCase):
    def test_every_kind(self) -> None:
        import torch

        told = {
            "engine/memory": [MemoryError(), torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("not enough memory")],
            "engine/cancelled": [Cancelled()],
            "engine/python-package": [ImportError("libcudart.so.13")],
            "engine/device": [RuntimeError("CUDA error: unspecified launch failure\nmore")],
            "engine/torch": [ZeroDivisionError("x"), RuntimeError("shapes do not match")],
            "a/b": [WorkerError("a/b", "m", "h", "p")],
        }
        for code, errors in told.items():
            for error in errors:
                found = describe(error)
                self.assertEqual((code, found.get("fatal", False)), (found["code"], code == "engine/device"))
                self.assertNotIn("\n", found["message"])
        self.assertEqual(describe(MemoryError())["hint"], MEMORY_HINT)
        self.assertEqual(describe(WorkerError("a/b", "m", "h", "p")), {"code": "a/b", "message": "m", "hint": "h", "path": "p"})


class Preparing(unittest.TestCase):
    def test_what_cannot_be_imported_is_told_later(self) -> None:
        with mock.patch.dict("sys.modules", {"trinity_torch.train.open": None}), mock.patch("builtins.print") as said:
            main.prepare()
        said.assert_not_called()
