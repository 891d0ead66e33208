"""An environment that does what it is told, good and bad: gymnasium.make("tests.world.faulty:Faulty-v0")."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import gymnasium
from gymnasium import spaces


class Faulty(gymnasium.Env[Any, str]):
    metadata = {"render_modes": []}

    def __init__(self) -> None:
        self.action_space = spaces.Text(200, charset=frozenset(map(chr, range(32, 127))))
        self.observation_space = spaces.Text(10**9)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        if options and "sleep" in options:
            time.sleep(options["sleep"])
        return f"seed {seed}", {}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        word, _, rest = action.partition(" ")
        seen, reward = action, 0.0
        if word == "raise":
            raise ValueError(f"bad {rest}")
        if word == "quit":
            sys.exit(3)
        if word == "die":
            print("about to die", file=sys.stderr, flush=True)
            os._exit(9)
        if word == "hang":
            time.sleep(1000)
        if word == "spin":
            # in C, without ever giving the interpreter away
            sum(range(10**15))
        if word == "sleep":
            time.sleep(float(rest))
        if word == "print":
            print("hello", flush=True)
            os.write(1, b"\x05\x00\x00\x00hello")
            subprocess.run(["echo", "from a child"], check=True)
        if word == "input":
            seen = repr(sys.stdin.read())
        if word == "child":
            # with a session of its own, as some libraries start their helpers
            seen = str(subprocess.Popen(["sleep", "1000"], start_new_session=True).pid)
        if word == "reward":
            reward = float(rest)
        if word == "huge":
            seen = "x" * int(rest)
        if word == "half":
            seen = "half \ud83d"
        if word == "bytes":
            return b"\xff\xfe bytes", reward, False, False, {}
        if word == "noise":
            sys.stderr.buffer.write(b"\xff\xfe noise\n")
            sys.stderr.flush()
        return seen, reward, word == "end", False, {"success": rest == "well"}


gymnasium.register("Faulty-v0", entry_point=Faulty, disable_env_checker=True)
