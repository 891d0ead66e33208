"""Where the ranks of one engine find each other, and over which interface they speak."""

from __future__ import annotations

import ipaddress
import fcntl
import os
import socket
import struct
import sys
from datetime import timedelta

import torch.distributed as dist

from .errors import WorkerError

HOST = "127.0.0.1"
LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"
_SIOCGIFADDR = 0x8915
# Of gloo and NCCL: the interface that they listen on and speak over.
_VARIABLES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


def stay_here() -> None:
    """Ranks of one machine trust whoever reaches them: nobody else does."""
    for name in _VARIABLES:
        os.environ[name] = LOOPBACK


def speak_from(address: str) -> None:
    """Ranks of several machines: over the interface of that address, unless the node says which (a tunnel, a faster net)."""
    for name in _VARIABLES:
        if not os.environ.get(name):
            os.environ[name] = interface_of(address)


def interface_of(address: str) -> str:
    if ipaddress.ip_address(address).is_loopback:
        return LOOPBACK
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            try:
                found = fcntl.ioctl(asked, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue
            if socket.inet_ntoa(found[20:24]) == address:
                return name
    raise WorkerError(
        "engine/machines",
        f"no network interface of this node has the address {address}, by which Ray knows it",
        "start Ray there with GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME set to the interface that the nodes share",
        "cluster.ray_address",
    )


def local_store(port: int, size: int, master: bool, timeout: timedelta) -> dist.Store:
    """
    A store asks nobody for a password and, left to itself, listens on every interface of the machine. Here the master
    brings a socket that only this machine reaches. Ranks on other machines reach it through Trinity.
    """
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
