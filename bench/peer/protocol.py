"""One JSON object per line in, one per line out. The process lives on between commands, so that a benchmark can
interleave runs of this peer with runs of the product and pays for loading and warming up only once."""

import json
import os
import sys
import traceback


def serve(handlers):
    """Calls handlers[cmd](**rest) for each line; {"cmd": "quit"} or the end of input ends the process."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries may print, even from C; only answers go out
    sys.stdout = sys.stderr
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            command = json.loads(line)
            name = command.pop("cmd")
            if name == "quit":
                return
            if name not in handlers:
                raise ValueError(f"unknown cmd '{name}'; known: {', '.join(handlers)}, quit")
            answer = {"ok": True, **handlers[name](**command)}
        except Exception as error:  # a benchmark must see every failure
            traceback.print_exc(file=sys.stderr)
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()
