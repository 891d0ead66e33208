"""What a world says and earns, as text and numbers that JSON can hold."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy

DIGITS = 6
"""Of numbers in observations: more is noise to a reader."""


def observation_text(value: Any) -> str:
    """What is seen, as a model reads it: text as it is, everything else as JSON."""
    if isinstance(value, (int, numpy.integer)):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return clean(value) if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)


def clean(text: str) -> str:
    """Halves of characters, as broken decoders leave them, cannot be sent."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def plain(value: Any) -> Any:
    """Arrays as lists, numbers of libraries as numbers."""
    if isinstance(value, numpy.ndarray):
        return plain(value.tolist())
    if isinstance(value, numpy.generic):
        return plain(value.item())
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {clean(str(key)): plain(one) for key, one in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    return observation_text(value) if isinstance(value, (str, bytes)) else clean(str(value))


def number(value: Any) -> float | str:
    """JSON has no NaN and no infinities: they travel as the words that JavaScript's Number() reads."""
    found = float(value)
    if math.isfinite(found):
        return found
    return "NaN" if math.isnan(found) else "Infinity" if found > 0 else "-Infinity"
