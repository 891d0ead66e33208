"""Hashes of files that are made while they are written."""

from __future__ import annotations

import hashlib
import os
import tempfile
import unittest
from typing import Any

import torch

from trinity_torch.checkpoint.block_hash import BLOCK, Hashes, hashed
from trinity_torch.world import World

from ..models import tiny
from ..ranks import run


def hash_of(path: str) -> dict[str, Any]:
    """By the definition, from the whole content."""
    with open(path, "rb") as file:
        content = file.read()
    blocks = [hashlib.sha256(content[at : at + BLOCK]).digest() for at in range(0, max(1, len(content)), BLOCK)]
    top = blocks[0] if len(blocks) == 1 else hashlib.sha256(b"".join(blocks)).digest()
    return {"size": len(content), "sha256": top.hex()}


def save(world: World, path: str, folder: str) -> Any:
    from trinity_torch.train.open import open_model

    model = open_model("train", {"path": path, "head": "lm", "seed": 1}, {}, world)
    return model.save(folder)


class BlockHashes(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_any_size_however_it_is_cut(self) -> None:
        for size in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 6 * BLOCK + 77):
            content = os.urandom(size)
            for piece in (1_000_003, BLOCK, 3 * BLOCK + 5):
                hashes: Hashes = {}
                path = os.path.join(self.folder, "file")
                with hashed(path, hashes) as file:
                    for at in range(0, size, piece):
                        given = bytearray(content[at : at + piece])
                        self.assertEqual(file.write(given), len(given))
                        given[:] = bytes(len(given))
                with open(path, "rb") as written:
                    self.assertEqual(written.read(), content)
                self.assertEqual(hashes, {path: hash_of(path)})

    def test_what_torch_writes(self) -> None:
        state = {"a": torch.randn(2_000_000), "b": torch.zeros(0), "c": torch.arange(3)}
        hashes: Hashes = {}
        path = os.path.join(self.folder, "state.pt")
        with hashed(path, hashes) as file:
            torch.save(state, file)  # type: ignore[arg-type]
        self.assertEqual(hashes, {path: hash_of(path)})
        self.assertTrue(torch.equal(torch.load(path, weights_only=True)["a"], state["a"]))

    def test_a_file_that_could_not_be_written_has_none(self) -> None:
        hashes: Hashes = {}
        with self.assertRaises(ZeroDivisionError), hashed(os.path.join(self.folder, "file"), hashes) as file:
            file.write(b"abc")
            raise ZeroDivisionError
        self.assertEqual(hashes, {})

    def test_every_large_file_of_a_checkpoint_of_two_ranks(self) -> None:
        path = tiny("qwen2")
        folder = os.path.join(self.folder, "actor")
        first, second = run(2, save, path, folder)
        self.assertEqual(first, second)
        parts = [f"{kind}_world_size_2_rank_{rank}.pt" for kind in ("model", "optim", "extra_state") for rank in (0, 1)]
        self.assertEqual(sorted(first), sorted([*parts, "huggingface/model.safetensors"]))
        for name, found in first.items():
            self.assertEqual(found, hash_of(os.path.join(folder, name)), name)


if __name__ == "__main__":
    unittest.main()
