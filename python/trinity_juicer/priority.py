"""Which tasks come first: scores out of what the operators have measured, weighed and ordered."""

from __future__ import annotations

import random
from typing import Any

from .errors import Refused

# by what was measured: whether more of it is better, and its range (none: that of the data)
Measure = tuple[bool, tuple[float, float] | None]
_UNIT = (0.0, 1.0)
SCORES: dict[str, dict[str, Measure]] = {
    "quality_score": {
        "alnum_ratio": (True, _UNIT),
        "char_rep_ratio": (False, _UNIT),
        "flagged_words_ratio": (False, _UNIT),
        "special_char_ratio": (False, _UNIT),
        "stopwords_ratio": (True, _UNIT),
        "word_rep_ratio": (False, _UNIT),
        "llm_quality_score": (True, _UNIT),
    },
    "difficulty_score": {
        "perplexity": (True, None),
        "lang_score": (False, _UNIT),
        "llm_difficulty_score": (True, _UNIT),
    },
}
_UNKNOWN = 0.5
_WEIGHTS = {"usage_frequency", "quality", "difficulty", "diversity"}


def scores_of(stats: list[dict[str, Any]]) -> dict[str, list[float]]:
    """A score for each row, as the mean of what was measured, each between 0 and 1; only where something was."""
    found: dict[str, list[float]] = {}
    for score, measures in SCORES.items():
        columns = [_scaled([row.get(name) for row in stats], *how) for name, how in measures.items()]
        known = [column for column in columns if column is not None]
        if known:
            found[score] = [sum(values) / len(values) for values in zip(*known, strict=True)]
    return found


def _scaled(values: list[Any], up: bool, bounds: tuple[float, float] | None) -> list[float] | None:
    if not values or any(not isinstance(value, (int, float)) for value in values):
        return None
    low, high = bounds or (min(values), max(values))
    width = (high - low) or 1.0
    shares = [min(1.0, max(0.0, (value - low) / width)) for value in values]
    return shares if up else [1 - share for share in shares]


def priorities(rows: list[dict[str, Any]], scores: dict[str, list[float]], weights: dict[str, float]) -> list[float]:
    unknown = sorted(set(weights) - _WEIGHTS)
    if unknown:
        raise Refused(400, f"priority_weights: {', '.join(unknown)} is not known; there are {', '.join(sorted(_WEIGHTS))}")
    quality = scores.get("quality_score", [_UNKNOWN] * len(rows))
    difficulty = scores.get("difficulty_score", [_UNKNOWN] * len(rows))
    used = [float(row.get("consumed_cnt") or 0) for row in rows]
    return [
        weights.get("usage_frequency", 0) * used[i]
        + weights.get("quality", 0) * quality[i]
        + weights.get("difficulty", 0) * difficulty[i]
        for i in range(len(rows))
    ]


def ordered(priority: list[float], method: str, args: dict[str, Any], top_k: int) -> list[int]:
    """Numbers of rows: the most important first, as many as wanted."""
    rows = list(range(len(priority)))
    if method == "shuffle":
        random.Random(args.get("seed", 42)).shuffle(rows)
    elif method in ("sort", "folding"):
        # equal ones stay as they were
        rows.sort(key=lambda row: -priority[row])
    elif method != "keep":
        raise Refused(400, f"order_method '{method}' is not known; there are keep, shuffle, sort, folding")
    chosen = rows[:top_k] if top_k > 0 else rows
    if method == "folding":
        layers = max(1, int(args.get("folding_layers", 3)))
        chosen = [row for layer in range(layers) for row in chosen[layer::layers]]
    return chosen
