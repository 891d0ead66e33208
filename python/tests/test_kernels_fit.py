"""How many stages of a pipeline fit into what a device has."""

from __future__ import annotations

import unittest

from trinity_torch.kernels import stages

H200, A100, CONSUMER = 232448, 166912, 101376
# keys and values of 128 tokens with heads of 128 numbers in bfloat16, and 16 queries
STAGE, OTHER = 2 * 128 * 128 * 2, 16 * 128 * 2


class Stages(unittest.TestCase):
    def test_as_many_as_fit(self):
        found = [stages(4, STAGE, OTHER, room) for room in (H200, A100, CONSUMER)]
        self.assertEqual(found, [4, 3, 2])

    def test_one_at_least(self):
        self.assertEqual(stages(4, STAGE, OTHER, 1024), 1)

    def test_no_more_than_asked_for(self):
        self.assertEqual(stages(2, 16, 0, H200), 2)


if __name__ == "__main__":
    unittest.main()
