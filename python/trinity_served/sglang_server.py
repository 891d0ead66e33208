"""SGLang's own server with Trinity's hooks in all of its processes: those that it starts import this file again."""

from __future__ import annotations

import os
import sys

from trinity_served import sglang_hooks

sglang_hooks.register()

if __name__ == "__main__":
    from sglang.launch_server import run_server
    from sglang.srt.plugins import load_plugins
    from sglang.srt.server_args import prepare_server_args
    from sglang.srt.utils import kill_process_tree

    load_plugins()
    try:
        run_server(prepare_server_args(sys.argv[1:]))
    finally:
        kill_process_tree(os.getpid(), include_parent=False)
