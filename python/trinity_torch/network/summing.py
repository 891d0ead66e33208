"""Which modules of a network add up their gradients by themselves, and which of them become one product."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from .blocks import take_whole
from .linear import FollowingLinear, LeadingLinear, SummingEmbedding, SummingLinear, join, joined
from .lora_modules import LoraLinear
from .lora_products import make_joint

# modules of one parent that are always called in this order on the same input
TOGETHER = (("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"))


def groups(network: nn.Module) -> Iterator[tuple[nn.Module, list[nn.Linear]]]:
    """Linear modules of which one product can be made, as far as their shapes go, and their parents."""
    for parent in network.modules():
        for names in TOGETHER:
            members = [getattr(parent, name, None) for name in names]
            linear: list[nn.Linear] = [m for m in members if m is not None and type(m) in (nn.Linear, LoraLinear)]
            alike = len({(m.in_features, m.bias is None) for m in linear}) == 1
            kind: Any = type(parent)
            if len(linear) == len(names) and alike and in_order(kind, names):
                yield parent, linear


@cache
def in_order(kind: Any, names: tuple[str, ...]) -> bool:
    """A module of this kind calls them in this order on the same input: the first computes for the others."""
    try:
        text = inspect.getsource(kind.forward)
    except (OSError, TypeError):
        return False
    calls = [re.search(rf"self\.{name}\((\w+)\)", text) for name in names]
    found = [call for call in calls if call is not None]
    places = [call.start() for call in found]
    return len(found) == len(names) and places == sorted(places) and len({call[1] for call in found}) == 1


def are_trained(linear: Sequence[nn.Linear], trained: set[Tensor]) -> bool:
    """All of the weights, and all of the biases or none."""
    plain = all(type(m) is nn.Linear and m.weight in trained for m in linear)
    return plain and len({m.bias is None or m.bias not in trained for m in linear}) == 1


def are_adapted(linear: Sequence[nn.Linear], trained: set[Tensor]) -> bool:
    """Some of them, by one scale, and nothing else of them is trained."""
    adapters = [m for m in linear if isinstance(m, LoraLinear)]
    frozen = not any(p in trained for m in linear for p in (m.weight, m.bias))
    learn = all(p in trained for m in adapters for p in m.factors())
    return frozen and learn and len({m.scale for m in adapters}) == 1


def make_summing(network: nn.Module, params: Sequence[Tensor], together: bool) -> tuple[list[Tensor], set[Tensor]]:
    """
    Float32 sums for the gradients of these parameters, and which of them their modules now add to by themselves. With
    `together` modules that take the same input become one product; their parameters must then stay where they are.
    """
    trained = set(params)
    totals: dict[Tensor, Tensor] = {}
    for parent, linear in list(groups(network)) if together else []:
        if are_trained(linear, trained):
            _join(linear, totals)
        elif are_adapted(linear, trained):
            make_joint(linear, totals)
        else:
            continue
        take_whole(parent)
    for layer in getattr(network, "layers", []) if together else []:
        # only those of the layers: what a head computes is its own
        for module in layer.modules():
            if type(module) is LoraLinear and are_adapted([module], trained):
                make_joint([module], totals)
    served = set(totals)
    for p in params:
        if p not in totals:
            totals[p] = torch.zeros_like(p, dtype=torch.float32)
    for module in network.modules():
        if type(module) is nn.Linear and module.weight in totals:
            bias = module.bias
            if bias is not None and bias not in totals:
                continue
            module.__class__ = SummingLinear
            module.total = totals[module.weight]
            module.bias_total = None if bias is None else totals[bias]
            served |= {module.weight} if bias is None else {module.weight, bias}
        elif type(module) is nn.Embedding and module.weight in totals and module.max_norm is None:
            module.__class__ = SummingEmbedding
            module.total = totals[module.weight]
            served.add(module.weight)
    return [totals[p] for p in params], served


def _join(linear: Sequence[nn.Linear], totals: dict[Tensor, Tensor]) -> None:
    weights = [m.weight for m in linear]
    biases = [m.bias for m in linear if m.bias is not None]
    sums = []
    for members in (weights, biases):
        total = torch.zeros_like(joined(members), dtype=torch.float32) if members else None
        sums.append(total)
        if total is not None:
            totals.update(zip(members, total.split([p.shape[0] for p in members])))
    # Any: they are about to become other classes
    lead: Any = linear[0]
    others: list[Any] = list(linear[1:])
    lead.__class__ = LeadingLinear
    lead.joint = (join(weights), join(biases) if biases else None, *sums)
    lead.sizes = [m.out_features for m in linear]
    for other in others:
        other.__class__ = FollowingLinear
        other.ready = None
    # a plain list: as modules they have their parent already
    object.__setattr__(lead, "others", others)
