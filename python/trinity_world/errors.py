"""What went wrong in a world, in the form that Trinity shows: code, what, how to fix it, and where in Python."""

from __future__ import annotations

import os
import traceback
from typing import Any

_LINES = 10
_LONGEST = 300


class WorldError(Exception):
    """An error with a cause that is known here. `code` is `area/what`, as in the rest of Trinity."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


def describe(error: BaseException) -> dict[str, Any]:
    """The JSON of an answer's error. `trace`: the last lines of the traceback, for what nobody expected."""
    if isinstance(error, WorldError):
        known: dict[str, Any] = {"code": error.code, "message": str(error)}
        return known if error.hint is None else {**known, "hint": error.hint}
    lines = "".join(traceback.format_exception(error)).rstrip().splitlines()
    what = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1][:_LONGEST]
    return {
        "code": "environment/failed",
        "message": what + _place(error),
        "trace": [line[:_LONGEST] for line in lines[-_LINES:]],
    }


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    return f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno}, in {frames[-1].name})"
