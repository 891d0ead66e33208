"""A Ray cluster as Trinity uses it: nodes, room on them, and keepers in that room."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from typing import Any

import ray
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy

from .errors import RayError
from .keeper import PACKAGES, Keeper

# How long room may be in coming.
_ROOM_S = 120.0
# The processes of a node that goes down do not all end at once.
_NEWS_S = 3.0


class Cluster:
    def __init__(self, address: str, namespace: str, env: dict[str, str]) -> None:
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        modules = [os.path.join(root, name) for name in PACKAGES]
        try:
            ray.init(
                address=address,
                namespace=namespace or None,
                runtime_env={"py_modules": modules, "env_vars": env},
                log_to_driver=False,
                logging_level="ERROR",
            )
        except Exception as error:
            first = str(error).strip().split("\n")[0][:300]
            raise RayError(
                "ray/unreachable",
                f"there is no Ray at '{address}': {first}",
                "start it (ray start --head), or correct cluster.ray_address; local uses this machine alone",
            ) from error
        self._groups: dict[str, PlacementGroup] = {}
        self._rooms: dict[str, list[Any]] = {}
        # nodes of the rooms that are to be spread: with Ray's own strategy for that it is a matter of chance
        self._spread: dict[str, str] = {}
        self._lock = threading.Lock()
        # of this run: an earlier one may not have ended yet
        self._mark = uuid.uuid4().hex[:6]

    def describe(self) -> dict[str, Any]:
        """The nodes that are alive, and the address of this machine as they see it."""
        nodes = [
            {
                "id": node["NodeID"],
                "address": node["NodeManagerAddress"],
                "name": node.get("NodeName") or node["NodeManagerAddress"],
                "cpus": node["Resources"].get("CPU", 0),
                "gpus": node["Resources"].get("GPU", 0),
            }
            for node in ray.nodes()
            if node["Alive"]
        ]
        here = ray.get_runtime_context().get_node_id()
        # a machine may have more addresses than the one by which Ray knows it
        host = next((node["address"] for node in nodes if node["id"] == here), ray.util.get_node_ip_address())
        return {"version": ray.__version__, "host": host, "nodes": nodes}

    def room(
        self, room: str, group: str, of: int, index: int, programs: int, gpu: bool, devices: int = 1, spread: bool = False
    ) -> dict[str, Any]:
        """
        One bundle of a placement group, for programs that share a node. Bundles of a group are packed onto few nodes.
        `spread`: on the node that has the fewest, beside whatever is there. Gives the node, and a port that is free there.
        """
        bundle = {"CPU": float(programs), **({"GPU": float(programs * devices)} if gpu else {})}
        if spread:
            keeper = ray.remote(num_cpus=0, scheduling_strategy=self._next_node(room))(Keeper)
        else:
            placed = self._group(group, [bundle] * of)
            strategy = PlacementGroupSchedulingStrategy(placed, placement_group_bundle_index=index)
            keeper = ray.remote(num_cpus=1, num_gpus=devices if gpu else 0, scheduling_strategy=strategy)(Keeper)
        names = [f"{group}_{index}_{rank}-{self._mark}-{room}" for rank in range(programs)]
        keepers = [keeper.options(name=name).remote() for name in names]
        with self._lock:
            self._rooms[room] = keepers
        try:
            nodes = ray.get([keeper.node.remote() for keeper in keepers], timeout=_ROOM_S)
        except ray.exceptions.GetTimeoutError as error:
            # of a node that was lost, and no other took its place
            raise self._no_room(group, [bundle] * of) from error
        known = {node["id"]: node["address"] for node in self.describe()["nodes"]}
        found = [{**node, "address": known.get(node["id"], node["address"])} for node in nodes]
        return {"nodes": found, "port": ray.get(keepers[0].free_port.remote())}

    def run(self, room: str, rank: int, work: dict[str, Any]) -> dict[str, Any]:
        """Until the worker has ended. What it wrote and how it ended goes to Trinity directly."""
        keeper = self._rooms[room][rank]
        node = work["node"]
        try:
            return ray.get(keeper.run.remote(work))
        except ray.exceptions.RayTaskError as error:
            return {"lost": f"could not be run on node {node['name']}: {str(error.cause)[:300]}"}
        except ray.exceptions.RayError as error:
            where = f"node {node['name']} ({node['address']})"
            if _is_gone(node["id"]):
                return {"lost": f"was lost with {where}"}
            return {"lost": f"was lost on {where}: {str(error).strip().splitlines()[0][:200]}"}

    def close(self, room: str) -> None:
        with self._lock:
            keepers = self._rooms.pop(room, [])
            self._spread.pop(room, None)
        for keeper in keepers:
            ray.kill(keeper)

    def timeline(self, path: str) -> None:
        ray.timeline(filename=path)

    def _group(self, name: str, bundles: list[dict[str, float]]) -> PlacementGroup:
        with self._lock:
            known = self._groups.get(name)
            if known is None:
                known = placement_group(bundles, strategy="PACK", name=f"{name}-{self._mark}")
                self._groups[name] = known
        if not known.wait(_ROOM_S):
            with self._lock:
                self._groups.pop(name, None)
            remove_placement_group(known)
            raise self._no_room(name, bundles)
        return known

    def _next_node(self, room: str) -> NodeAffinitySchedulingStrategy:
        """The one with the fewest rooms of this kind."""
        nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"] and _answers(node)]
        with self._lock:
            taken = list(self._spread.values())
            node = min(nodes, key=taken.count)
            self._spread[room] = node
        return NodeAffinitySchedulingStrategy(node, soft=False)

    def _no_room(self, name: str, bundles: list[dict[str, float]]) -> RayError:
        nodes = self.describe()["nodes"]
        have = "; ".join(f"{node['name']} {node['cpus']:g} CPU, {node['gpus']:g} GPU" for node in nodes)
        each = ", ".join(f"{count:g} {what}" for what, count in bundles[0].items())
        return RayError(
            "ray/no-room",
            f"Ray found no room for {name} within {_ROOM_S:g} s: {len(bundles)} × ({each}), each on one node",
            f"the cluster has {have}; ask for less, add nodes, or end what else runs there",
        )


def _is_gone(node: str) -> bool:
    """Whether nobody answers there any more. Ray itself says so only after a minute without signs of life."""
    until = time.monotonic() + _NEWS_S
    while time.monotonic() < until:
        known = next((one for one in ray.nodes() if one["NodeID"] == node and one["Alive"]), None)
        if known is None:
            return True
        if not _answers(known):
            return True
        time.sleep(0.5)
    return False


def _answers(node: dict[str, Any]) -> bool:
    try:
        socket.create_connection((node["NodeManagerAddress"], node["NodeManagerPort"]), _NEWS_S).close()
    except OSError:
        return False
    return True
