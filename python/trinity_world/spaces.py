"""Actions of a Gymnasium space, read from text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from gymnasium import spaces

MOST_LISTED = 1000
"""Actions of a space that has more are not listed."""

ReadAction = Callable[[str], Any]


class NotAnAction(Exception):
    """The text is no action of the space; the message says what would be one."""


def action_reader(space: spaces.Space[Any], names: Sequence[str]) -> ReadAction:
    """Actions by name or number where they can be counted, as JSON otherwise."""
    if isinstance(space, spaces.Text):
        return lambda text: _held(space, text, text)
    if isinstance(space, spaces.Discrete):
        listed = listed_actions(space, names)
        first, last = int(space.start), int(space.start + space.n) - 1
        known = {name.lower(): first + i for i, name in enumerate(names)}
        expected = f"one of {', '.join(listed)}" if listed else f"a number from {first} to {last}"
        return lambda text: _discrete(first, last, known, expected, text)
    return lambda text: _from_json(space, _json(space, text), text)


def listed_actions(space: spaces.Space[Any], names: Sequence[str]) -> list[str] | None:
    """Texts of all actions in the order of their numbers, where there are not too many."""
    if not isinstance(space, spaces.Discrete) or space.n > MOST_LISTED:
        return None
    numbers = [str(int(space.start) + i) for i in range(int(space.n))]
    return [*names, *numbers[len(names) :]]


def _discrete(first: int, last: int, known: dict[str, int], expected: str, text: str) -> int:
    word = text.strip()
    try:
        value = known.get(word.lower())
        value = int(word) if value is None else value
        if first <= value <= last:
            return value
    except ValueError:
        pass
    raise NotAnAction(f"not an action: expected {expected}")


def _json(space: spaces.Space[Any], text: str) -> Any:
    for form in (text, f"[{text}]"):
        try:
            return json.loads(form)
        except ValueError:
            continue
    raise NotAnAction(f"not an action: expected JSON for {space}")


def _from_json(space: spaces.Space[Any], value: Any, text: str) -> Any:
    """What JSON holds, in the types that the space wants."""
    try:
        return _held(space, _typed(space, value), text)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError):
        raise NotAnAction(f"not an action: expected JSON for {space}") from None


def _typed(space: spaces.Space[Any], value: Any) -> Any:
    if isinstance(space, spaces.Discrete):
        # a list of one is what a bare number in brackets is
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(one, bool) or int(one) != one:
            raise ValueError
        return numpy.int64(one)
    if isinstance(space, (spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)):
        found = numpy.asarray(value, dtype=numpy.float64)
        if numpy.issubdtype(space.dtype, numpy.integer) and not numpy.array_equal(found, numpy.rint(found)):
            raise ValueError
        return found.astype(space.dtype).reshape(space.shape)
    if isinstance(space, spaces.Dict):
        if set(value) != set(space.spaces):
            raise ValueError
        return {key: _typed(inner, value[key]) for key, inner in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        if len(value) != len(space.spaces):
            raise ValueError
        return tuple(_typed(inner, one) for inner, one in zip(space.spaces, value))
    if isinstance(space, spaces.Sequence):
        return tuple(_typed(space.feature_space, one) for one in value)
    return value


def _held(space: spaces.Space[Any], value: Any, text: str) -> Any:
    if not space.contains(value):
        raise NotAnAction(f"not an action: {text.strip()[:200]} is not in {space}")
    return value
