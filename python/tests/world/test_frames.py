import json
import random
import unittest

from trinity_world.frames import MAX_FRAME, PREFIX, FrameError, Read, decode, encode


def reader(data: bytes) -> Read:
    at = 0

    def read(size: int) -> bytes:
        nonlocal at
        if at + size > len(data):
            raise EOFError
        at += size
        return data[at - size : at]

    return read


class Frames(unittest.TestCase):
    def test_random_round_trips(self) -> None:
        rng = random.Random(1)
        for _ in range(200):
            values = [[rng.random(), "ünï\ud83d", None, {"a": [rng.randrange(9)]}] for _ in range(rng.randrange(4))]
            stream = b"".join(encode(json.dumps(value).encode()) for value in values)
            read = reader(stream)
            self.assertEqual([decode(read) for _ in values], values)
            with self.assertRaises(EOFError):
                decode(read)

    def test_junk_is_an_error_of_ours(self) -> None:
        rng = random.Random(2)
        for _ in range(500):
            data = PREFIX.pack(rng.randrange(20)) + rng.randbytes(20)
            try:
                decode(reader(data))
            except (FrameError, EOFError):
                pass

    def test_lengths_are_checked(self) -> None:
        with self.assertRaises(FrameError):
            decode(reader(PREFIX.pack(MAX_FRAME + 1) + b"[]"))
        with self.assertRaises(FrameError):
            encode(bytes(MAX_FRAME + 1))
