"""A worker lives exactly as long as the Trinity that started it, and so does everything that it starts."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time

_MARK = "TRINITY_WORLD_WORKER"
"""In the environment of all that a worker starts: some libraries give their children a session of their own."""


def take_pipes() -> tuple[int, int]:
    """
    The two ends that frames come and go by. Standard input and output of everything else are nothing and the log: what
    an environment's code prints or reads must not end up among the frames.
    """
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


def end_with_parent(source: int) -> None:
    """
    A process of ours that does nothing but wait for the other end of the pipe to close, which it does whatever way
    Trinity ends, and then ends what the worker is and has started. A thread would not do: code that never gives the
    interpreter away would keep it waiting.
    """
    # Ctrl-C reaches every process of the terminal; Trinity decides what becomes of its workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = os.getpid()
    os.environ[_MARK] = str(worker)
    # started by hand, the group is somebody else's
    if os.getpgrp() != worker or os.fork() != 0:
        return
    # not killed together with the worker: there may be more to end
    os.setsid()
    for standard in range(3):
        os.close(standard)
    watch = select.poll()
    watch.register(source, 0)
    try:
        watch.poll()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker, signal.SIGKILL)
        end_marked(worker)
        os._exit(0)


# Seconds before each look: what is just being started has no environment that can be read yet.
_LOOKS = (0.0, 0.1, 0.5, 2.0)


def end_marked(worker: int) -> None:
    """Ends what the worker has started, wherever it is by now."""
    mark = f"{_MARK}={worker}".encode()
    for pause in _LOOKS:
        time.sleep(pause)
        _end_seen(mark)


def _end_seen(mark: bytes) -> None:
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/environ", "rb") as environment:
                if mark in environment.read().split(b"\0"):
                    os.kill(int(name), signal.SIGKILL)


def end() -> None:
    """Ends this process and the others of its group, at once."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
