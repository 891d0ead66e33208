"""Where the processes of one machine find each other: the loopback interface, and no other."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from datetime import timedelta

import torch.distributed as dist

from .errors import WorkerError

HOST = "127.0.0.1"


def local_store(port: int, size: int, master: bool, timeout: timedelta) -> dist.Store:
    """
    A store asks nobody for a password and, left to itself, listens on every interface of the machine. Here the master
    brings a socket that only this machine reaches; and so do the groups that are made with the store.
    """
    for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
        os.environ[name] = "lo0" if sys.platform == "darwin" else "lo"
    if not master:
        return dist.TCPStore(HOST, port, size, False, timeout)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(256)
        store = dist.TCPStore(HOST, port, size, True, timeout, master_listen_fd=listener.fileno())
        # it is the store's from now on
        listener.detach()
    return store


def need_loopback(host: str) -> None:
    """Ranks trust whoever reaches them: they do not talk over a network."""
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        raise WorkerError(
            "engine/machines",
            f"MASTER_ADDR is {host}: the ranks of the torch engine all run on one machine",
            "unset MASTER_ADDR, and use the GPUs of one machine",
            "MASTER_ADDR",
        )
