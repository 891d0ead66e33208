from __future__ import annotations

import random
import socket
import threading
import unittest

from trinity_torch.wire.incoming import ROOM, Incoming


class Counted:
    """A socket that says how often it was asked."""

    def __init__(self, connection: socket.socket):
        self.connection, self.calls = connection, 0

    def recv_into(self, view: memoryview) -> int:
        self.calls += 1
        return self.connection.recv_into(view)


class Reading(unittest.TestCase):
    def setUp(self) -> None:
        self.ours, theirs = socket.socketpair()
        self.addCleanup(self.ours.close)
        self.addCleanup(theirs.close)
        self.counted = Counted(theirs)
        self.incoming = Incoming(self.counted)  # type: ignore[arg-type]

    def test_bytes_of_any_size_come_as_they_were_sent(self) -> None:
        rng = random.Random(1)
        sizes = [rng.choice([0, 1, rng.randrange(100), rng.randrange(ROOM), ROOM, ROOM + rng.randrange(3 * ROOM)]) for _ in range(60)]
        sent = rng.randbytes(sum(sizes))
        sender = threading.Thread(target=self.ours.sendall, args=(sent,))
        sender.start()
        self.assertEqual(b"".join(self.incoming.read(size) for size in sizes), sent)
        sender.join()

    def test_what_came_together_takes_one_call(self) -> None:
        self.ours.sendall(bytes(range(100)))
        self.assertEqual([self.incoming.read(10)[0] for _ in range(10)], list(range(0, 100, 10)))
        self.assertEqual(self.counted.calls, 1)

    def test_an_end_within_something_is_said(self) -> None:
        self.ours.sendall(b"abc")
        self.ours.close()
        self.assertEqual(self.incoming.read(2), b"ab")
        with self.assertRaises(EOFError):
            self.incoming.read(2)


if __name__ == "__main__":
    unittest.main()
