"""Which sequences of a batch begin with the same pages of the cache, so that attention can read these once for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .cache import PAGE
from .sequence import Sequence


@dataclass
class Group:
    """Rows of the batch whose first `tokens` lie in the same pages; `slot`: of one of them."""

    slot: int
    tokens: int
    rows: list[int]


def groups_of(drawers: list[Sequence], members: int, worth: Callable[[int], bool]) -> list[Group]:
    """Groups of at most `members`; none where what they save, in tokens that are not read again, is not worth it."""
    alike: dict[int, list[int]] = {}
    for row, sequence in enumerate(drawers):
        alike.setdefault(sequence.pages[0], []).append(row)
    alike = {page: rows for page, rows in alike.items() if len(rows) > 1}
    # at most, if all of the shortest were shared
    most = sum((len(rows) - 1) * min(len(drawers[row].pages) for row in rows) for rows in alike.values())
    if not worth(most * PAGE):
        return []
    return _if_worth([group for rows in alike.values() for group in _cut(drawers, rows, members)], worth)


def narrowed(groups: list[Group], before: list[Sequence], drawers: list[Sequence], worth: Callable[[int], bool]) -> list[Group]:
    """The groups of other rows, as far as their members still draw: nobody has joined since."""
    rows = {id(sequence): row for row, sequence in enumerate(drawers)}
    found = []
    for group in groups:
        left = [rows[id(before[row])] for row in group.rows if id(before[row]) in rows]
        if len(left) > 1:
            found.append(Group(drawers[left[0]].slot, group.tokens, left))
    return _if_worth(found, worth)


def _if_worth(groups: list[Group], worth: Callable[[int], bool]) -> list[Group]:
    return groups if worth(sum(group.tokens * (len(group.rows) - 1) for group in groups)) else []


def _cut(drawers: list[Sequence], rows: list[int], members: int) -> list[Group]:
    """Neighbors in the order of their pages have most in common: each joins the group before it where that saves more."""
    rows = sorted(rows, key=lambda row: drawers[row].pages)
    groups: list[Group] = []
    held: list[int] = []
    pages = 0
    for row in rows:
        both = shared_pages(drawers[held[-1]], drawers[row]) if held else 0
        common = min(pages, both) if len(held) > 1 else both
        if held and len(held) < members and common * len(held) >= pages * (len(held) - 1) and common > 0:
            held.append(row)
            pages = common
            continue
        _close(groups, drawers, held, pages)
        held, pages = [row], 0
    _close(groups, drawers, held, pages)
    return groups


def _close(groups: list[Group], drawers: list[Sequence], held: list[int], pages: int) -> None:
    if len(held) > 1:
        groups.append(Group(drawers[held[0]].slot, pages * PAGE, held))


def shared_pages(a: Sequence, b: Sequence) -> int:
    """Full pages that two sequences begin with in common. The page that is written into is never shared."""
    if a.job is b.job:
        full = len(a.job.prompt) // PAGE
        if a.pages[:full] == b.pages[:full]:
            return full
    low, high = 0, min(len(a.pages), len(b.pages)) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if a.pages[:middle] == b.pages[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
