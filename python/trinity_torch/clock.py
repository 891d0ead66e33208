"""Where the time goes until a model is open, for the worker's log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_seconds: dict[str, float] = {}


@contextmanager
def part(name: str) -> Iterator[None]:
    """What happens inside counts as this part of what is going on."""
    began = time.perf_counter()
    try:
        yield
    finally:
        _seconds[name] = _seconds.get(name, 0.0) + time.perf_counter() - began


@contextmanager
def whole(name: str) -> Iterator[None]:
    """Says at the end how long it took, and its parts."""
    _seconds.clear()
    began = time.perf_counter()
    yield
    total = time.perf_counter() - began
    other = total - sum(_seconds.values())
    parts = ", ".join(f"{part} {seconds:.2f}" for part, seconds in {**_seconds, "other": other}.items())
    print(f"{name} in {total:.2f} s: {parts}", flush=True)
