"""Failures as Trinity shows them: what, where, how to fix it."""

from __future__ import annotations


class RayError(Exception):
    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


def describe(error: BaseException) -> dict[str, str | None]:
    if isinstance(error, RayError):
        return {"code": error.code, "message": str(error), "hint": error.hint}
    first = str(error).strip().split("\n")[0][:300]
    return {"code": "ray/failed", "message": f"{type(error).__name__}: {first}", "hint": None}
