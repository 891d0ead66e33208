"""What a worker can say went wrong, in the form that Trinity shows: code, what, where, how to fix it."""

from __future__ import annotations

from typing import Any

MEMORY_HINT = (
    "lower trainer.max_token_len_per_gpu, set trainer.trainer_config.actor_rollout_ref.model."
    "enable_gradient_checkpointing, or offload with trainer.trainer_config.actor_rollout_ref.actor."
    "fsdp_config.param_offload and .optimizer_offload"
)

TIMEOUT_KEY = "trainer.trainer_config.actor_rollout_ref.nccl_timeout"


class WorkerError(Exception):
    """An error with a cause that is known here. `code` is `area/what`, as in the rest of Trinity."""

    def __init__(self, code: str, message: str, hint: str | None = None, path: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.path = path


class Cancelled(Exception):
    """The caller no longer wants the answer: raised between micro-batches when `cancelled()` is true."""


def describe(error: BaseException) -> dict[str, Any]:
    """The JSON of an answer's `error`. `fatal`: this process is of no use afterward."""
    if isinstance(error, WorkerError):
        return _fields(error.code, str(error), error.hint, error.path)
    if isinstance(error, Cancelled):
        return _fields("engine/cancelled", "the call was cancelled")
    if is_memory(error):
        return _fields("engine/memory", f"out of memory: {_first_line(error)}", MEMORY_HINT)
    if isinstance(error, ImportError):
        return _fields(
            "engine/python-package",
            f"a Python package cannot be imported: {_first_line(error)}",
            "run: trinity setup torch",
        )
    if is_late(error):
        return _fields(
            "engine/worker-hung",
            f"the other ranks did not come within the time limit: {_first_line(error)}",
            f"see the workers' logs; raise {TIMEOUT_KEY} if they are only slow",
            TIMEOUT_KEY,
        )
    if is_device_lost(error):
        found = _fields("engine/device", f"the device failed: {_first_line(error)}", "see the worker's log")
        return {**found, "fatal": True}
    return _fields("engine/torch", f"{type(error).__name__}: {_first_line(error)}", "see the worker's log")


def is_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and ("not enough memory" in text or "can't allocate memory" in text)


def is_late(error: BaseException) -> bool:
    """A collective operation took longer than ranks wait for each other."""
    return isinstance(error, RuntimeError) and "Timed out waiting" in str(error)


def is_device_lost(error: BaseException) -> bool:
    """After these every further call on the device fails as well."""
    return type(error).__name__ == "AcceleratorError" or (isinstance(error, RuntimeError) and "CUDA error:" in str(error))


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _fields(code: str, message: str, hint: str | None = None, path: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"code": code, "message": message}
    if hint is not None:
        found["hint"] = hint
    if path is not None:
        found["path"] = path
    return found
