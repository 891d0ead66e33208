"""Which recorded step serves a batch."""

from __future__ import annotations

import unittest

from trinity_torch.sampler.recorded import BEFORE, SERVED, Kind, Recorded

PLAIN = Kind(False, False, False, 0)


class Graph:
    def __init__(self, batch: int, kind: Kind):
        self.batch, self.kind = batch, kind

    def replay(self) -> None:
        raise AssertionError("nobody replays here")


class Recordings(unittest.TestCase):
    def setUp(self) -> None:
        self.recorded = Recorded(Graph)
        self.fits = lambda size: True

    def ask(self, batch: int, times: int = 1, kind: Kind = PLAIN) -> int | None:
        """The size of what serves the last of so many steps."""
        found = None
        for _ in range(times):
            found = self.recorded.find(batch, kind, self.fits)
        if found is None:
            return None
        size, graph = found
        self.assertEqual((graph.batch, graph.kind), (size, kind))
        return size

    def test_a_size_is_recorded_when_it_has_come_some_times(self):
        self.assertIsNone(self.ask(64, BEFORE))
        self.assertEqual(self.ask(64), 64)
        self.assertEqual(len(self.recorded), 1)

    def test_until_then_the_next_larger_one_serves(self):
        for size in (384, 512):
            self.ask(size, BEFORE + 1)
        self.assertEqual(self.ask(320), 384)
        self.assertEqual(self.ask(448), 512)
        self.assertEqual(self.ask(320, SERVED - 1), 384)
        self.assertEqual(self.ask(320), 320)

    def test_even_one_that_is_much_larger(self):
        self.ask(512, BEFORE + 1)
        self.assertEqual(self.ask(8), 512)
        self.assertIsNone(self.ask(4))
        self.assertEqual(self.ask(8, BEFORE), 8)

    def test_but_no_smaller_one(self):
        self.ask(64, BEFORE + 1)
        self.assertIsNone(self.ask(96))

    def test_nor_one_that_has_no_room(self):
        self.ask(64, BEFORE + 1)
        self.assertEqual(self.ask(48), 64)
        self.fits = lambda size: size < 64
        self.assertIsNone(self.ask(48))
        self.assertEqual(self.ask(64), 64)

    def test_nor_one_of_another_kind(self):
        self.ask(64, BEFORE + 1)
        self.assertIsNone(self.ask(64, 1, PLAIN._replace(limited=True)))

    def test_after_a_move_all_are_made_anew(self):
        self.ask(64, BEFORE + 1)
        self.recorded.forget()
        self.assertEqual(len(self.recorded), 0)
        self.assertIsNone(self.ask(64))


if __name__ == "__main__":
    unittest.main()
