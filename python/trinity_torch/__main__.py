"""One worker. Trinity starts it with everything it needs in the environment; see docs/torch-engine.md."""

from __future__ import annotations

import os
import platform
import re
import sys
import traceback
from importlib import metadata
from typing import TYPE_CHECKING, Any

from . import PROTOCOL, __version__, clock
from .errors import WorkerError, describe
from .life import end_with_parent
from .wire.channel import Channel

if TYPE_CHECKING:
    from .wire.operations import OpenModel
    from .world import World

FLOORS = {"torch": (2, 11), "transformers": (5, 0)}
START_EXIT = 73


def main(open_model: OpenModel | None = None) -> None:
    end_with_parent()
    address = os.environ.get("TRINITY_TORCH_CONNECT")
    token = os.environ.pop("TRINITY_TORCH_TOKEN", "")
    if address is None and os.environ.get("RANK", "0") == "0":
        sys.exit("trinity_torch is started by Trinity (trainer.trainer_type: torch); there is nothing to run by hand")
    channel = Channel.connect(address) if address is not None else None
    if channel is not None:
        # at once: Trinity turns away who is silent
        channel.send({"event": "token", "token": token})
    try:
        with clock.whole("started"):
            check_versions()
            # after the connection stands: torch takes seconds to import, or fails to
            with clock.part("torch"):
                from .wire.server import Server
                from .world import World
            with clock.part("device"):
                world = World.from_environment()
            server = Server(world, channel, open_model)
            if channel is not None:
                channel.send(hello(world))
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        if channel is not None:
            channel.send({"event": "failed", "error": describe(error)})
        sys.exit(START_EXIT)
    known = ", ".join(f"{name} {version}" for name, version in versions().items())
    print(f"rank {world.rank} of {world.size} on {world.device}: {known}", flush=True)
    if channel is not None:
        channel.listen()
    if open_model is None:
        prepare()
    server.run()


def prepare() -> None:
    """What opening a model takes seconds to import, while Trinity still looks at the model."""
    try:
        with clock.whole("imported"):
            from .train.open import open_model  # noqa: F401
    except Exception:
        # it comes again where it belongs: into the answer to a request
        pass


def hello(world: World) -> dict[str, Any]:
    return {
        "event": "hello",
        "protocol": PROTOCOL,
        "versions": versions(),
        "device": device(world),
        "world": world.size,
    }


def versions() -> dict[str, str]:
    found = {name: _version(name) or "" for name in FLOORS}
    return {"python": platform.python_version(), **found, "trinity_torch": __version__}


def device(world: World) -> dict[str, Any]:
    if world.device.type != "cuda":
        return {"type": world.device.type, "name": platform.processor() or platform.machine(), "memory": 0}
    import torch

    known = torch.cuda.get_device_properties(world.device)
    return {"type": "cuda", "name": known.name, "memory": known.total_memory}


def check_versions() -> None:
    for name, floor in FLOORS.items():
        wanted = ".".join(map(str, floor))
        found = _version(name)
        if found is None:
            raise WorkerError(
                "engine/python-package",
                f"{sys.executable} has no {name}",
                "run: trinity setup torch (or set TRINITY_PYTHON to a Python that has it)",
            )
        if _numbers(found) < floor:
            raise WorkerError(
                "engine/version",
                f"{name} {found} is too old: {wanted} or newer is needed",
                f"run: trinity setup torch, or {sys.executable} -m pip install '{name}>={wanted}'",
                path=sys.executable,
            )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


if __name__ == "__main__":
    main()
