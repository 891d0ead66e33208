"""A sum that says whether two copies of weights are the same."""

import unittest

import torch

from trinity_torch.sampler.weights import checksum_of


class Checksum(unittest.TestCase):
    def test_every_number_counts_by_its_place(self) -> None:
        for dtype, size in ((torch.bfloat16, 1003), (torch.float32, 512), (torch.float32, 7), (torch.bfloat16, 1)):
            with self.subTest(f"{dtype} {size}"):
                x = torch.arange(1, size + 1).to(dtype)
                for at in {0, size // 2, size - 1}:
                    other = x.clone()
                    other[at] = -other[at]
                    self.assertNotEqual(checksum_of([other]), checksum_of([x]))
                if size > 1:
                    self.assertNotEqual(checksum_of([x.flip(0)]), checksum_of([x]))

    def test_of_the_same_numbers_wherever_they_lie(self) -> None:
        whole = torch.randn(40, 33).to(torch.bfloat16)
        for part in (whole[1:], whole[3:, 1:], whole.t()):
            self.assertEqual(checksum_of([part]), checksum_of([part.clone(memory_format=torch.contiguous_format)]))
        self.assertNotEqual(checksum_of([whole[:1], whole[1:2]]), checksum_of([whole[1:2], whole[:1]]))
