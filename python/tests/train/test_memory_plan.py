"""How much of a device is a process's to take."""

from __future__ import annotations

import unittest

from trinity_torch.train.memory_plan import GIB, room_of


class Rooms(unittest.TestCase):
    def room(self, free: int, own: int, share: float) -> float:
        return round(room_of(free * GIB, 100 * GIB, own * GIB, share) / GIB, 3)

    def test_alone_it_is_the_share_less_what_is_there(self) -> None:
        self.assertEqual(self.room(100, 0, 0.9), 90)
        self.assertEqual(self.room(80, 20, 0.9), 70)
        self.assertEqual(self.room(80, 20, 0.5), 30)
        self.assertEqual(self.room(100, 0, 1.0), 100)

    def test_several_have_their_shares_of_one_device(self) -> None:
        self.assertEqual(self.room(60, 0, 0.4), 40)
        # and never more than there is, less a reserve
        self.assertEqual(self.room(40, 0, 0.4), 30)
        self.assertEqual(self.room(60, 0, 0.9), 50)
        self.assertLess(self.room(5, 0, 0.9), 0)
