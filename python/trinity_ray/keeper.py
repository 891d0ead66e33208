"""Runs one worker on a node, and carries what it says to Trinity and back, encrypted."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import importlib.util
import json
import os
import signal
import socket
import ssl
import sys
from collections.abc import Coroutine
from typing import Any

# What keepers and workers import on the nodes.
PACKAGES = ("trinity_ray", "trinity_torch", "trinity_served", "trinity_world")
_PIECE = 1 << 20
_CONNECT_S = 30.0
_AGAIN_S = 0.2
_SETTLE_S = 5.0
HOST = "127.0.0.1"


class Keeper:
    """An actor of Ray. It ends its worker when Trinity goes away, and goes away with Ray."""

    def node(self) -> dict[str, Any]:
        import ray

        context = ray.get_runtime_context()
        return {
            "id": context.get_node_id(),
            "address": ray.util.get_node_ip_address(),
            "name": socket.gethostname(),
            "gpus": [int(one) for one in ray.get_gpu_ids()],
        }

    def free_port(self) -> int:
        with socket.socket() as listener:
            listener.bind((HOST, 0))
            return int(listener.getsockname()[1])

    def run(self, work: dict[str, Any]) -> dict[str, Any]:
        return asyncio.run(Watch(work).run())


class Watch:
    """
    `work`: python (default this one), module and args of `python -m`, env, cwd; `harbor`: where Trinity is found and what shows that it is Trinity
    and that we are ours; `beats`, `reaches`, `meets`: variables for the descriptor of signs of life, for the address at
    which the worker finds Trinity, and for the port at which it finds another worker.
    """

    def __init__(self, work: dict[str, Any]) -> None:
        self._work = work
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._tls.minimum_version = ssl.TLSVersion.TLSv1_3
        # the one certificate that is trusted was made for this run: its name says nothing more
        self._tls.check_hostname = False
        self._tls.load_verify_locations(cadata=work["harbor"]["certificate"])
        self._bridges: set[asyncio.Task[None]] = set()

    async def run(self) -> dict[str, Any]:
        reader, writer = await self._connect("control")
        process, beats = await self._start()
        self._say(writer, {"pid": process.pid})
        tasks = [asyncio.create_task(self._carry(process, writer)), asyncio.create_task(self._hear(reader, process))]
        if beats is not None:
            tasks.append(asyncio.create_task(self._count(beats, writer)))
        code = await _end_of(process)
        await asyncio.wait(tasks[:1], timeout=2)
        end = {"code": code, "signal": None} if code >= 0 else {"code": None, "signal": signal.Signals(-code).name}
        self._say(writer, {"exit": end})
        for task in [*tasks, *self._bridges]:
            task.cancel()
        try:
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        except OSError:
            pass
        return {"exit": end}

    async def _start(self) -> tuple[asyncio.subprocess.Process, int | None]:
        work = self._work
        env = {**os.environ, **work["env"], "PYTHONDONTWRITEBYTECODE": "1"}
        # another Python has packages of its own: it only gets ours
        paths = _folders() if work.get("python") else [path for path in sys.path if path]
        env["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [work["env"].get("PYTHONPATH")])])
        if work.get("reaches") is not None:
            bridge = await asyncio.start_server(self._bridge, HOST, 0)
            env[work["reaches"]] = f"{HOST}:{bridge.sockets[0].getsockname()[1]}"
        if work.get("meets") is not None:
            peers = await asyncio.start_server(self._meet, HOST, 0)
            env[work["meets"]] = str(peers.sockets[0].getsockname()[1])
        beats = sign = None
        if work.get("beats") is not None:
            beats, sign = os.pipe()
            env[work["beats"]] = str(sign)
        process = await asyncio.create_subprocess_exec(
            *(work.get("python") or sys.executable, "-u", "-m", work["module"], *work["args"]),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=env,
            cwd=work["cwd"] if os.path.isdir(work["cwd"]) else None,
            pass_fds=() if sign is None else (sign,),
            start_new_session=True,
        )
        if sign is not None:
            os.close(sign)
        return process, beats

    async def _connect(self, role: str, ticket: str | None = None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        harbor = self._work["harbor"]
        opening = asyncio.open_connection(harbor["host"], harbor["port"], ssl=self._tls, limit=_PIECE)
        reader, writer = await asyncio.wait_for(opening, _CONNECT_S)
        hello = {"token": harbor["token"], "worker": self._work["worker"], "role": role, "ticket": ticket}
        self._say(writer, hello)
        return reader, writer

    @staticmethod
    def _say(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
        writer.write(f"{json.dumps(message)}\n".encode())

    async def _carry(self, process: asyncio.subprocess.Process, writer: asyncio.StreamWriter) -> None:
        """What the worker writes."""
        assert process.stdout is not None
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while piece := await process.stdout.read(1 << 16):
            self._say(writer, {"text": decoder.decode(piece)})
            await writer.drain()

    async def _hear(self, reader: asyncio.StreamReader, process: asyncio.subprocess.Process) -> None:
        """What Trinity wants; a connection that ends is its end."""
        assert process.stdin is not None
        try:
            while line := await reader.readline():
                wish = json.loads(line)
                if wish.get("do") == "dial":
                    self._keep(self._dial(wish["port"], wish["ticket"], wish["waits"]))
                elif wish.get("do") == "leave":
                    process.stdin.close()
                else:
                    break
        except (OSError, ValueError):
            pass
        _kill(process.pid)

    async def _count(self, beats: int, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        pipe = os.fdopen(beats, "rb", buffering=0)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        while await reader.read(256):
            self._say(writer, {"beat": True})

    async def _bridge(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The worker has come to the address that stands for Trinity's."""
        self._keep(self._join("data", reader, writer))

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """It has come to the port that stands for another worker's."""
        self._keep(self._join("peer", reader, writer))

    async def _dial(self, port: int, ticket: str, waits: bool) -> None:
        """Somebody elsewhere wants to reach a port of this node. Whoever is to listen there may still be starting."""
        while True:
            try:
                reader, writer = await asyncio.open_connection(HOST, port, limit=_PIECE)
                break
            except OSError:
                if not waits:
                    _, far = await self._connect("dialed", ticket)
                    return far.close()
                await asyncio.sleep(_AGAIN_S)
        await self._join("dialed", reader, writer, ticket)

    async def _join(
        self, role: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ticket: str | None = None
    ) -> None:
        try:
            far_reader, far_writer = await self._connect(role, ticket)
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        except OSError:
            writer.close()

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        """As long as the worker."""
        task = asyncio.create_task(work)
        self._bridges.add(task)
        task.add_done_callback(self._bridges.discard)


async def _end_of(process: asyncio.subprocess.Process) -> int:
    """
    Of the worker itself: what it has started may hold its pipes for longer, and asyncio waits for these too. Those that
    watch standard input end when it closes.
    """
    loop = asyncio.get_running_loop()
    with contextlib.suppress(ChildProcessError):
        await loop.run_in_executor(None, os.waitid, os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert process.stdin is not None
    process.stdin.close()
    waiting = asyncio.create_task(process.wait())
    await asyncio.wait([waiting], timeout=_SETTLE_S)
    waiting.cancel()
    # asyncio has seen the end by now, whoever holds the pipes
    return process.returncode if process.returncode is not None else -int(signal.SIGKILL)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    finally:
        writer.close()


def _folders() -> list[str]:
    """That hold our packages on this node: Ray has a folder for each."""
    found = [importlib.util.find_spec(name) for name in PACKAGES]
    return [os.path.dirname(os.path.dirname(spec.origin)) for spec in found if spec and spec.origin]


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
