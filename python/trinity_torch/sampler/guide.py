"""
Masks of the samples of a request: which tokens may come next. Trinity has seen all tokens of a sample before it sends the
next mask, so such a sample is drawn a token at a time, and waits in between.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .sequence import Sequence

# a bit for every token; None: any token
Mask = np.ndarray | None


class Guide:
    """`first`: the mask of each sample's first token."""

    def __init__(self, first: list[Mask]):
        # how many tokens the sample has at the draw that the mask belongs to
        self._masks = {index: (0, mask) for index, mask in enumerate(first)}
        self._asked = dict.fromkeys(self._masks, 0)

    def give(self, index: int, made: int, mask: Mask) -> None:
        self._masks[index] = (made, mask)

    def ready(self, sequence: Sequence) -> bool:
        """Its next draw has a mask."""
        return self._masks[sequence.index][0] == (sequence.launched or sequence.made)

    def mask(self, sequence: Sequence) -> Mask:
        return self._masks[sequence.index][1]

    def questions(self, live: Iterable[Sequence]) -> list[int]:
        """Samples that have a token more than when they were last asked for."""
        found = sorted(one.index for one in live if self._asked[one.index] < one.made)
        self._asked.update({one.index: one.made for one in live})
        return found


def masks_of(words: np.ndarray, present: list[bool]) -> list[Mask]:
    """Masks one after the other, without those that are not there."""
    rows = iter(words.reshape(sum(present), -1)) if any(present) else iter(())
    return [next(rows) if there else None for there in present]
