"""What a sequence finds in the cache, and what it leaves there for others."""

from __future__ import annotations

import numpy as np

from .cache import PAGE, Pages
from .sequence import Sequence


def find_prefix(pages: Pages, sequence: Sequence) -> None:
    """Takes over the known pages of its beginning. The last token is always computed: its logits are needed."""
    tokens = np.asarray(sequence.tokens, dtype=np.int32)
    for at in range(0, len(tokens) - PAGE, PAGE):
        found = pages.find(sequence.chain, tokens[at : at + PAGE].tobytes())
        if found is None:
            break
        page, sequence.chain = found
        pages.keep(page)
        sequence.pages.append(page)
        sequence.known += 1
        sequence.computed += PAGE


def remember(pages: Pages, sequence: Sequence) -> None:
    """Makes its full pages known, as far as their tokens have been seen."""
    end = min(sequence.computed, len(sequence.tokens))
    while (sequence.known + 1) * PAGE <= end:
        at = sequence.known * PAGE
        tokens = np.asarray(sequence.tokens[at : at + PAGE], dtype=np.int32).tobytes()
        sequence.chain = pages.remember(sequence.pages[sequence.known], sequence.chain, tokens)
        sequence.known += 1
