"""A worker lives exactly as long as the Trinity that started it, and so does everything that it starts."""

from __future__ import annotations

import os
import select
import signal


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
    Trinity ends, and then ends the whole group. A thread would not do: code that never gives the interpreter away would
    keep it waiting.
    """
    # Ctrl-C reaches every process of the terminal; Trinity decides what becomes of its workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    group = os.getpgrp()
    # started by hand, the group is somebody else's
    if group != os.getpid() or os.fork() != 0:
        return
    for standard in range(3):
        os.close(standard)
    watch = select.poll()
    watch.register(source, 0)
    try:
        watch.poll()
    finally:
        os.killpg(group, signal.SIGKILL)


def end() -> None:
    """Ends this process and all that it has started, at once."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
