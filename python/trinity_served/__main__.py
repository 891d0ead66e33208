"""python -m trinity_served MODULE ARGS: runs a server as `python -m MODULE ARGS` does, for as long as Trinity lives."""

from __future__ import annotations

import runpy
import sys

from trinity_world.life import end_with_parent, take_pipes

# processes that the server starts import this file again
if __name__ == "__main__":
    source, _ = take_pipes()
    end_with_parent(source)
    module = sys.argv[1]
    sys.argv = [module, *sys.argv[2:]]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
