"""A worker lives exactly as long as the Trinity that started it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

_PR_SET_PDEATHSIG = 1
# How often Trinity gets a sign of life; see pulse.ts.
_BEAT_S = 1.0


def end_with_parent() -> None:
    """
    Standard input is a pipe that never carries data; it closes when Trinity ends, whatever way it ends. On Linux the
    kernel is asked as well, since a thread of ours may wait long for the interpreter.
    """
    # Ctrl-C reaches every process of the terminal; Trinity decides what becomes of its workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    threading.Thread(target=_watch, name="life", daemon=True).start()
    beats = os.environ.pop("TRINITY_TORCH_BEATS", None)
    if beats is not None:
        threading.Thread(target=_beat, args=(int(beats),), name="beat", daemon=True).start()


def _watch() -> None:
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass
    os._exit(0)


def _beat(descriptor: int) -> None:
    try:
        os.set_inheritable(descriptor, False)
        while os.write(descriptor, b"."):
            time.sleep(_BEAT_S)
    except OSError:
        # nobody listens
        pass
