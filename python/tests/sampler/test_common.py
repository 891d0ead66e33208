"""Which sequences begin with the same pages."""

from __future__ import annotations

import random
import unittest
from types import SimpleNamespace
from typing import Any

from trinity_torch.sampler.cache import PAGE
from trinity_torch.sampler.common import groups_of, narrowed, shared_pages


def sequence(slot: int, pages: list[int], job: Any = None, prompt: int = 0) -> Any:
    """`prompt`: tokens of its job's prompt."""
    return SimpleNamespace(slot=slot, pages=pages, job=job or SimpleNamespace(prompt=[0] * prompt))


def any_worth(saved: int) -> bool:
    return saved > 0


class Common(unittest.TestCase):
    def test_samples_of_a_prompt_are_a_group(self):
        job = SimpleNamespace(prompt=[0] * (3 * PAGE + 5))
        drawers = [sequence(7 + i, [1, 2, 3, 10 + i], job) for i in range(4)] + [sequence(20, [50, 51])]
        (group,) = groups_of(drawers, 10, any_worth)
        self.assertEqual((group.slot, group.tokens, sorted(group.rows)), (7, 3 * PAGE, [0, 1, 2, 3]))

    def test_a_group_has_at_most_so_many_members(self):
        drawers = [sequence(i, [1, 2, 10 + i]) for i in range(7)]
        sizes = [len(group.rows) for group in groups_of(drawers, 3, any_worth)]
        self.assertEqual(sizes, [3, 3])

    def test_those_with_more_in_common_stay_together(self):
        # all begin with one page; two pairs have twenty more
        long = [list(range(base, base + 20)) for base in (100, 200)]
        drawers = [sequence(i, [1, *long[i % 2], 300 + i]) for i in range(4)]
        found = {frozenset(group.rows): group.tokens for group in groups_of(drawers, 10, any_worth)}
        self.assertEqual(found, {frozenset({0, 2}): 21 * PAGE, frozenset({1, 3}): 21 * PAGE})

    def test_little_is_not_worth_it(self):
        drawers = [sequence(i, [1, 2, 10 + i]) for i in range(4)]
        self.assertEqual(groups_of(drawers, 10, lambda saved: saved >= 6 * PAGE + 1), [])
        self.assertEqual(len(groups_of(drawers, 10, lambda saved: saved >= 6 * PAGE)), 1)

    def test_when_some_have_left_the_others_stay_together(self):
        drawers = [sequence(i, [1, 2, 10 + i]) for i in range(4)] + [sequence(7, [50, 60]), sequence(8, [50, 61])]
        groups = groups_of(drawers, 10, any_worth)
        left = [drawers[i] for i in (1, 3, 4)]
        (group,) = narrowed(groups, drawers, left, any_worth)
        self.assertEqual((group.slot, group.tokens, sorted(group.rows)), (1, 2 * PAGE, [0, 1]))
        self.assertEqual(narrowed(groups, drawers, left, lambda saved: saved > 2 * PAGE), [])
        self.assertEqual(narrowed(groups, drawers, left[1:], any_worth), [])

    def test_the_page_that_is_written_is_never_shared(self):
        a, b = sequence(0, [1, 2, 3]), sequence(1, [1, 2, 3])
        self.assertEqual(shared_pages(a, b), 2)

    def test_groups_hold_what_is_equal_and_no_row_twice(self):
        noise = random.Random(3)
        for _ in range(200):
            drawers = []
            for slot in range(noise.randrange(2, 30)):
                begins = [noise.randrange(2) for _ in range(noise.randrange(1, 6))]
                # a page belongs to one place of one chain
                pages = [int("1" + "".join(map(str, begins[: i + 1]))) for i in range(len(begins))]
                drawers.append(sequence(slot, [1, *pages, 10**9 + slot]))
            seen: set[int] = set()
            for group in groups_of(drawers, noise.randrange(2, 9), any_worth):
                self.assertGreater(len(group.rows), 1)
                self.assertFalse(seen & set(group.rows))
                seen |= set(group.rows)
                count = group.tokens // PAGE
                self.assertEqual(len({tuple(drawers[row].pages[:count]) for row in group.rows}), 1)
                self.assertIn(group.slot, [drawers[row].slot for row in group.rows])


if __name__ == "__main__":
    unittest.main()
