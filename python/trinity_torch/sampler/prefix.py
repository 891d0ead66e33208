"""What a sequence finds in the cache, and what it leaves there for others."""

from __future__ import annotations

import numpy as np

from .cache import PAGE, Pages
from .sequence import Sequence


def find_prefix(pages: Pages, sequence: Sequence) -> None:
    """Takes over the known pages of its beginning. The last token is always computed: its logits are needed."""
    for at in range(0, len(sequence.tokens) - PAGE, PAGE):
        found = pages.find(sequence.chain, page_of(sequence, at))
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
        tokens = page_of(sequence, sequence.known * PAGE)
        sequence.chain = pages.remember(sequence.pages[sequence.known], sequence.chain, tokens)
        sequence.known += 1


def page_of(sequence: Sequence, at: int) -> bytes:
    """Its tokens from there, as many as a page holds, as the cache knows them."""
    prompt = sequence.job.prompt
    if at + PAGE <= len(prompt):
        return prompt[at : at + PAGE].tobytes()
    return np.asarray(sequence.tokens[at : at + PAGE], dtype=np.int32).tobytes()
