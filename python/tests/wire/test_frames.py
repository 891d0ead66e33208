import json
import random
import struct
import unittest
from collections.abc import Callable

import torch

from trinity_torch.errors import WorkerError
from trinity_torch.wire.frames import MAX_HEADER, MAX_PAYLOAD, PREFIX, Frame, decode, encode

DTYPES = [torch.int32, torch.float32, torch.uint8, torch.int64, torch.float64]


def reader(data: bytes) -> Callable[[int], bytearray]:
    at = 0

    def read(size: int) -> bytearray:
        nonlocal at
        if at + size > len(data):
            raise EOFError
        at += size
        return bytearray(data[at - size : at])

    return read


def whole(header: dict, tensors: dict | None = None) -> bytes:
    return b"".join(bytes(piece) for piece in encode(header, tensors))


def raw(header: object, payload: bytes = b"", claimed: int | None = None) -> bytes:
    text = json.dumps(header).encode()
    return PREFIX.pack(b"TRT1", len(text), len(payload) if claimed is None else claimed) + text + payload


class Frames(unittest.TestCase):
    def test_random_round_trips(self) -> None:
        rng = random.Random(1)
        for _ in range(200):
            tensors = {}
            for i in range(rng.randrange(5)):
                shape = [rng.randrange(5) for _ in range(rng.randrange(4))]
                tensors[f"t{i}"] = (torch.rand(shape) * 100).to(rng.choice(DTYPES))
            header = {"id": rng.randrange(10**9), "text": "".join(chr(rng.randrange(32, 0x2FFF)) for _ in range(9))}
            frame = decode(reader(whole(header, tensors)))
            found = frame.tensors()
            self.assertEqual(list(found), list(tensors))
            for name, tensor in tensors.items():
                self.assertEqual(found[name].dtype, tensor.dtype)
                self.assertTrue(torch.equal(found[name], tensor))
            self.assertEqual({k: v for k, v in frame.header.items() if k != "tensors"}, header)

    def test_values_are_bits(self) -> None:
        given = torch.tensor([float("nan"), float("-inf"), -0.0, 1e-45])
        found = decode(reader(whole({}, {"x": given}))).tensors()["x"]
        self.assertTrue(torch.equal(found.view(torch.int32), given.view(torch.int32)))

    def test_truncated_anywhere(self) -> None:
        data = whole({"id": 1}, {"x": torch.arange(5)})
        for end in range(len(data)):
            with self.assertRaises(EOFError):
                decode(reader(data[:end]))

    def test_lying_lengths_allocate_nothing(self) -> None:
        asked: list[int] = []
        for header, payload in [(MAX_HEADER + 1, 0), (2**32 - 1, 0), (2, MAX_PAYLOAD + 1), (2, 2**64 - 1)]:
            data = struct.pack("<4sIQ", b"TRT1", header, payload) + b"{}"
            read = reader(data)

            def spy(size: int, read: Callable[[int], bytearray] = read) -> bytearray:
                asked.append(size)
                return read(size)

            with self.assertRaises(WorkerError):
                decode(spy)
        self.assertEqual(max(asked), PREFIX.size)

    def test_hostile_headers(self) -> None:
        x = {"name": "x", "dtype": "f32", "shape": [2]}
        bad = [
            [],
            {"tensors": {}},
            {"tensors": [x]},
            {"tensors": [x, x]},
            {"tensors": [{**x, "shape": [2**40, 2**40]}]},
            {"tensors": [{**x, "shape": [-2]}]},
            {"tensors": [{**x, "shape": [True]}]},
            {"tensors": [{**x, "shape": 2}]},
            {"tensors": [{**x, "dtype": "object"}]},
            {"tensors": [{**x, "name": 3}]},
        ]
        for header in bad:
            with self.subTest(header=header), self.assertRaises(WorkerError) as caught:
                decode(reader(raw(header, b"\0" * 16)))
            self.assertEqual(caught.exception.code, "engine/frame")
        for text in [b"\xff\xfe", b"{", b"[" * 100_000, b"nul"]:
            with self.assertRaises(WorkerError):
                decode(reader(PREFIX.pack(b"TRT1", len(text), 0) + text))

    def test_random_noise_is_refused_or_ends(self) -> None:
        rng = random.Random(2)
        for _ in range(500):
            with self.assertRaises((WorkerError, EOFError)):
                decode(reader(rng.randbytes(rng.randrange(64))))

    def test_refuses_what_it_cannot_carry(self) -> None:
        with self.assertRaises(WorkerError):
            encode({}, {"x": torch.zeros(2, dtype=torch.bfloat16)})
        with self.assertRaises(ValueError):
            encode({"x": float("nan")})

    def test_tensors_are_views(self) -> None:
        frame = decode(reader(whole({}, {"x": torch.arange(3)})))
        self.assertIsInstance(frame, Frame)
        frame.tensors()["x"][0] = 7
        self.assertEqual(frame.payload[0], 7)
