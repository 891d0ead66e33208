"""The ranks of one engine listen on the loopback interface alone."""

from __future__ import annotations

import os
import socket
import sys
import unittest
from datetime import timedelta
from unittest import mock

import torch
import torch.distributed as dist

from trinity_torch.errors import WorkerError
from trinity_torch.store import LOOPBACK as LOOPBACK_NAME
from trinity_torch.store import interface_of, local_store, need_loopback, speak_from
from trinity_torch.world import World

from .ranks import run

LISTEN = "0A"
# as the kernel writes 127.0.0.1 and ::1
LOOPBACK = {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}


def listening() -> list[str]:
    """Addresses that sockets of this process listen on, as /proc/net has them."""
    own = set()
    for fd in os.listdir("/proc/self/fd"):
        try:
            own.add(os.readlink(f"/proc/self/fd/{fd}"))
        except OSError:
            continue
    found = []
    for name in ("tcp", "tcp6"):
        with open(f"/proc/self/net/{name}", encoding="ascii") as table:
            for line in table.readlines()[1:]:
                fields = line.split()
                if fields[3] == LISTEN and f"socket:[{fields[9]}]" in own:
                    found.append(fields[1])
    return found


def look(world: World) -> list[str]:
    dist.all_reduce(torch.ones(3))
    world.agree(None)
    return listening()


@unittest.skipUnless(sys.platform == "linux", "reads /proc")
class Stores(unittest.TestCase):
    def test_two_ranks_listen_on_loopback_alone(self) -> None:
        first, second = run(2, look)
        # the store and gloo on the first, gloo on the second
        self.assertGreaterEqual(len(first), 2)
        self.assertGreaterEqual(len(second), 1)
        for address in [*first, *second]:
            self.assertIn(address.split(":")[0], LOOPBACK, address)

    def test_another_address_of_the_machine_is_not_answered(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        store = local_store(port, 1, True, timedelta(seconds=5))
        store.set("a", "b")
        self.assertEqual(store.get("a"), b"b")
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), timeout=2)

    def test_other_machines_are_refused(self) -> None:
        for host in ("127.0.0.1", "localhost", "::1"):
            need_loopback(host)
        for host in ("10.0.0.7", "0.0.0.0", "node-1", "", "localhost.example.com"):
            with self.assertRaises(WorkerError) as caught:
                need_loopback(host)
            self.assertEqual(caught.exception.code, "engine/machines")

    def test_ranks_of_several_nodes_speak_over_the_interface_of_their_address(self) -> None:
        self.assertEqual(interface_of("127.0.0.1"), LOOPBACK_NAME)
        with self.assertRaises(WorkerError) as caught:
            # reserved: nobody has it
            interface_of("240.0.0.1")
        self.assertEqual(caught.exception.code, "engine/machines")
        with mock.patch.dict(os.environ, {"GLOO_SOCKET_IFNAME": "tunnel", "NCCL_SOCKET_IFNAME": ""}):
            speak_from("127.0.0.1")
            self.assertEqual(os.environ["GLOO_SOCKET_IFNAME"], "tunnel")
            self.assertEqual(os.environ["NCCL_SOCKET_IFNAME"], LOOPBACK_NAME)


if __name__ == "__main__":
    unittest.main()
