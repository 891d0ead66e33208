"""
Who uses which page of the key/value cache, and which tokens a page holds.

A full page is known by its tokens and the chain of pages before it, so that another sequence with the same beginning finds
it. Pages that nobody uses stay known until their memory is needed, the longest unused first. Names are exact: the tokens
themselves are the key, not a hash of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

PAGE = 32

# A chain by name: the chain before, and the tokens of its last page.
Key = tuple[int, bytes]


class Pages:
    def __init__(self, size: int):
        self.size = size
        self._free = list(range(size - 1, -1, -1))
        self._users = [0] * size
        # of known pages: their key, and the name of the chain that ends with them
        self._key: dict[int, Key] = {}
        self._chain: dict[int, int] = {}
        self._known: dict[Key, int] = {}
        # known pages without users, longest unused first
        self._idle: dict[int, None] = {}
        self._chains = 0

    @property
    def available(self) -> int:
        return len(self._free) + len(self._idle)

    @property
    def used(self) -> int:
        return self.size - self.available

    def take(self) -> int:
        """A page for one user, or -1 when all are in use."""
        if self._free:
            page = self._free.pop()
        elif self._idle:
            page = next(iter(self._idle))
            del self._idle[page]
            self._forget_page(page)
        else:
            return -1
        self._users[page] = 1
        return page

    def keep(self, page: int) -> None:
        """One user more."""
        if self._users[page] == 0:
            del self._idle[page]
        self._users[page] += 1

    def release(self, pages: list[int]) -> None:
        """One user less of each. The end of a chain is forgotten before its beginning: it is worth less."""
        for page in reversed(pages):
            self._users[page] -= 1
            if self._users[page] > 0:
                continue
            if page in self._chain:
                self._idle[page] = None
            else:
                self._free.append(page)

    def find(self, chain: int, tokens: bytes) -> tuple[int, int] | None:
        """The page that holds these tokens behind the chain, and the chain that ends with it."""
        page = self._known.get((chain, tokens))
        return None if page is None else (page, self._chain[page])

    def remember(self, page: int, chain: int, tokens: bytes) -> int:
        """Makes a full page known, and gives the name of the chain that ends with it."""
        key = (chain, tokens)
        known = self._known.get(key)
        if known is not None:
            # somebody computed the same at the same time: theirs serves for finding, ours for its sequence alone
            return self._chain[known]
        self._chains += 1
        self._known[key] = page
        self._key[page] = key
        self._chain[page] = self._chains
        return self._chains

    def forget(self) -> None:
        """Nothing computed so far may be found again: the weights changed."""
        self._free += self._idle
        self._idle.clear()
        self._known.clear()
        self._key.clear()
        self._chain.clear()

    def _forget_page(self, page: int) -> None:
        del self._known[self._key.pop(page)]
        del self._chain[page]


@dataclass(frozen=True)
class Shape:
    """Of keys and of values, each [layers, pages, kv heads, page, size]."""

    layers: int
    pages: int
    kv: int
    size: int
    dtype: torch.dtype

    @property
    def bytes(self) -> int:
        return 2 * self.layers * self.pages * self.kv * PAGE * self.size * self.dtype.itemsize

    def cut(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values in so many bytes, which have to be zero: what a masked place holds must be finite."""
        keys, values = memory.view(self.dtype).view(2, self.layers, self.pages, self.kv, PAGE, self.size)
        return keys, values
