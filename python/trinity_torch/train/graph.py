"""A loss as data (docs/loss-graph.md), rebuilt from the operations allowed here and differentiated by autograd.

Nothing waits for the device: index tensors are made on the CPU, and numbers come back when the caller asks for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..errors import WorkerError
from ..network.rows import Pick, Rows, owners, put

VERSION = 1
DTYPE = torch.float64

ELEMENTWISE: dict[str, tuple[int, Callable[..., Tensor]]] = {
    "add": (2, torch.add),
    "sub": (2, torch.sub),
    "mul": (2, torch.mul),
    "div": (2, torch.div),
    "neg": (1, torch.neg),
    "exp": (1, torch.exp),
    "log": (1, torch.log),
    "abs": (1, torch.abs),
    "sqrt": (1, torch.sqrt),
    # torch.sign makes 0 of NaN
    "sign": (1, lambda x: torch.where(x.isnan(), x.detach(), torch.sign(x))),
    "pow": (2, torch.pow),
    "sigmoid": (1, torch.sigmoid),
    "logSigmoid": (1, F.logsigmoid),
    "logAddExp": (2, torch.logaddexp),
    # on a tie the gradient goes to the first operand, not half to each
    "min": (2, lambda a, b: torch.where(a <= b, a, b)),
    "max": (2, lambda a, b: torch.where(a >= b, a, b)),
    "clamp": (3, lambda x, low, high: torch.where(x < low, low, torch.where(x > high, high, x))),
    "where": (3, torch.where),
    "lt": (2, torch.lt),
    "le": (2, torch.le),
    "gt": (2, torch.gt),
    "ge": (2, torch.ge),
    "eq": (2, torch.eq),
    "and": (2, torch.logical_and),
    "or": (2, torch.logical_or),
    "not": (1, torch.logical_not),
    "detach": (1, torch.Tensor.detach),
}
REDUCTIONS = {"rowSum": 1, "rowMax": 1, "bundleSum": 1, "groupSum": 1, "groupMax": 1, "total": 1, "toTokens": 1}
# over the order of all active tokens, or of all rows
ORDERS = {"rank": 1, "cumSum": 2}
INPUTS = ("const", "norm", "column", "score", "count")


def check(graph: Any) -> None:
    """Refuses whatever is not a graph of this version: the text comes over a wire."""
    if not isinstance(graph, dict) or graph.get("version") != VERSION:
        raise WorkerError("engine/bad-graph", f"this is not a loss graph of version {VERSION}")
    nodes = graph.get("nodes")
    if not isinstance(nodes, list) or not nodes:
        raise WorkerError("engine/bad-graph", "the loss graph has no nodes")
    for i, node in enumerate(nodes):
        op, operands = node.get("op"), node.get("in", [])
        others = {**REDUCTIONS, **ORDERS}
        wanted = ELEMENTWISE[op][0] if op in ELEMENTWISE else others.get(op, 0)
        if op not in ELEMENTWISE and op not in others and op not in INPUTS:
            raise WorkerError("engine/bad-graph", f"node {i}: unknown operation {op!r}")
        if len(operands) != wanted or not all(isinstance(n, int) and 0 <= n < i for n in operands):
            raise WorkerError("engine/bad-graph", f"node {i} ({op}): wrong operands {operands}")
    places = [graph.get("loss")] + [m.get(k) for m in graph.get("metrics", []) for k in ("value", "weight") if k in m]
    if not all(isinstance(n, int) and 0 <= n < len(nodes) for n in places):
        raise WorkerError("engine/bad-graph", "the loss or a metric points at a node that is not there")


class Guarded(torch.autograd.Function):
    """An element-wise operation whose derivative is 0 where the incoming gradient is 0, even at an infinity or NaN."""

    @staticmethod
    def forward(ctx: Any, op: str, *operands: Tensor) -> Tensor:
        ctx.op = op
        ctx.save_for_backward(*operands)
        return ELEMENTWISE[op][1](*operands)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        needs = ctx.needs_input_grad[1:]
        # a scalar among tokens is spread first: what is guarded is each token's part of its derivative
        shape = torch.broadcast_shapes(*(x.shape for x in ctx.saved_tensors))
        with torch.enable_grad():
            leaves = [
                (x.detach().expand(shape) if need else x.detach()).requires_grad_(need)
                for x, need in zip(ctx.saved_tensors, needs)
            ]
            wanted = [x for x, need in zip(leaves, needs) if need]
            found = iter(torch.autograd.grad(ELEMENTWISE[ctx.op][1](*leaves), wanted, grad, allow_unused=True))
        parts: list[Tensor | None] = []
        for x, need in zip(ctx.saved_tensors, needs):
            part = next(found) if need else None
            parts.append(part if part is None else torch.where(grad == 0, 0.0, part).sum_to_size(x.shape))
        return (None, *parts)


# operations whose derivative multiplies by nothing that can be infinite
SAFE = ("add", "sub", "neg", "min", "max", "clamp", "where")


@lru_cache(maxsize=4096)
def number(value: float, device: torch.device) -> Tensor:
    """Kept on the device: sending it anew, or mixing it in from the CPU, would wait for everything before it."""
    return put(torch.tensor(value, dtype=DTYPE), device)


class Segments:
    """Runs of entries that lie together. Sums are taken in one order, so that they are the same every time."""

    def __init__(self, sizes: Tensor, device: torch.device):
        self.sizes = put(sizes, device)
        self.of = put(owners(sizes), device)

    def sum(self, x: Tensor) -> Tensor:
        return _Sum.apply(x, self)

    def max(self, x: Tensor) -> Tensor:
        return _Max.apply(x, self)

    def spread(self, x: Tensor) -> Tensor:
        return _Spread.apply(x, self)

    def raw_sum(self, x: Tensor) -> Tensor:
        return torch.segment_reduce(x.contiguous(), "sum", lengths=self.sizes, unsafe=True)


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, segments: Segments) -> Tensor:
        ctx.segments = segments
        return segments.raw_sum(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return grads[0][ctx.segments.of], None


class _Max(torch.autograd.Function):
    """Greatest entry of each run, 0 of an empty one. Equal ones share the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, segments: Segments) -> Tensor:
        found = torch.segment_reduce(x.contiguous(), "max", lengths=segments.sizes, unsafe=True)
        found = torch.where(segments.sizes == 0, 0.0, found)
        ctx.segments = segments
        ctx.save_for_backward(x, found)
        return found

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        x, found = ctx.saved_tensors
        segments = ctx.segments
        is_top = x == found[segments.of]
        ties = segments.raw_sum(is_top.to(x.dtype))
        return torch.where(is_top, (grads[0] / ties)[segments.of], 0.0), None


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, segments: Segments) -> Tensor:
        ctx.segments = segments
        return x[segments.of]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return ctx.segments.raw_sum(grads[0]), None


class Families:
    """Rows that belong together, by number: what each row gets of all rows of its family."""

    def __init__(self, numbers: Tensor, device: torch.device):
        order = torch.argsort(numbers, stable=True)
        _, sizes = torch.unique_consecutive(numbers[order], return_counts=True)
        self.order, self.place = put(order, device), put(torch.argsort(order), device)
        self.segments = Segments(sizes, device)

    def sum(self, x: Tensor) -> Tensor:
        return Pick.apply(self.segments.spread(self.segments.sum(Pick.apply(x, self.order))), self.place)

    def max(self, x: Tensor) -> Tensor:
        return Pick.apply(self.segments.spread(self.segments.max(Pick.apply(x, self.order))), self.place)


def descending(x: Tensor) -> Tensor:
    """Places from the greatest on; of equal ones the earlier comes first, and NaN before everything."""
    return torch.argsort(x.detach(), descending=True, stable=True)


def rank(x: Tensor) -> Tensor:
    """How many stand before each, from the greatest on."""
    order = descending(x)
    return torch.empty_like(x).detach().index_copy_(0, order, torch.arange(x.numel(), dtype=x.dtype, device=x.device))


def cumulative(x: Tensor, key: Tensor) -> Tensor:
    """At each: the sum over all whose rank by `key` is not below its own."""
    order = descending(key)
    sums = Pick.apply(x, order).flip(0).cumsum(0).flip(0)
    return Pick.apply(sums, torch.argsort(order))


class Inputs:
    """Active tokens of all rows in one vector."""

    def __init__(self, rows: Rows, device: torch.device):
        active = rows.mask.numpy().astype(bool)
        places = np.flatnonzero(active)
        counts = torch.from_numpy(np.bincount(owners(rows.scored).numpy()[places], minlength=len(rows)))
        self.device = device
        self.counts = put(counts, device, DTYPE)
        # None: all are active
        self.active = None if active.all() else put(torch.from_numpy(places), device)
        self.tokens = Segments(counts, device)
        self.bundles = Families(rows.bundles, device)
        self._groups = torch.arange(len(rows)) if rows.groups is None else rows.groups
        chosen = {name: column.numpy()[places].astype(np.float64) for name, column in rows.token_columns.items()}
        self.token_columns = {name: put(torch.from_numpy(column), device) for name, column in chosen.items()}
        self.row_columns = {name: put(column, device, DTYPE) for name, column in rows.row_columns.items()}

    @cached_property
    def groups(self) -> Families:
        return Families(self._groups, self.device)

    def score(self, scores: Tensor) -> Tensor:
        return scores if self.active is None else Pick.apply(scores, self.active)

    def column(self, name: str, shape: str) -> Tensor:
        if shape == "token" and name in self.token_columns:
            return self.token_columns[name]
        if name not in self.row_columns:
            raise WorkerError("engine/no-column", f"the loss reads the {shape} column '{name}', which the rows do not have")
        column = self.row_columns[name]
        return self.tokens.spread(column) if shape == "token" else column


@dataclass
class Evaluation:
    loss: Tensor
    # by score: derivative of the loss, over all scored tokens; absent where the loss does not depend on it
    grads: dict[str, Tensor]
    # (value, weight) of each metric of the graph, in order; a mean is still a sum here
    metrics: Tensor


def evaluate(
    graph: dict[str, Any], inputs: Inputs, norms: dict[str, float], scores: dict[str, Tensor], backward: bool = True
) -> Evaluation:
    """`scores`: over all scored tokens of the rows that `inputs` was made from."""
    leaves = {kind: x.detach().to(DTYPE).requires_grad_(backward) for kind, x in scores.items()}
    device = inputs.device
    values: list[Tensor] = []
    with torch.enable_grad():
        for node in graph["nodes"]:
            values.append(_value(node, [values[i] for i in node.get("in", [])], inputs, norms, leaves))
    loss = values[graph["loss"]]
    metrics = [_metric(entry, values, inputs) for entry in graph["metrics"]]
    grads: dict[str, Tensor] = {}
    if backward and loss.requires_grad:
        found = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
        grads = {kind: g.float() for kind, g in zip(leaves, found) if g is not None}
    flat = [x for pair in metrics for x in pair]
    stacked = torch.stack(flat).view(-1, 2) if flat else torch.zeros(0, 2, dtype=DTYPE, device=device)
    return Evaluation(loss.detach(), grads, stacked)


def _value(
    node: dict[str, Any], operands: list[Tensor], inputs: Inputs, norms: dict[str, float], leaves: dict[str, Tensor]
) -> Tensor:
    op = node["op"]
    match op:
        case "const":
            return number(float(node["value"]), inputs.device)
        case "norm":
            if node["name"] not in norms:
                raise WorkerError("engine/bad-graph", f"the normalizer '{node['name']}' was not given")
            return number(float(norms[node["name"]]), inputs.device)
        case "score":
            if node["name"] not in leaves:
                raise WorkerError("engine/no-score", f"this model does not give {node['name']}")
            return inputs.score(leaves[node["name"]])
        case "column":
            return inputs.column(node["name"], node["shape"])
        case "count":
            return inputs.counts
        case "rowSum":
            return inputs.tokens.sum(operands[0])
        case "rowMax":
            return inputs.tokens.max(operands[0])
        case "bundleSum":
            return inputs.bundles.sum(operands[0])
        case "groupSum":
            return inputs.groups.sum(operands[0])
        case "groupMax":
            return inputs.groups.max(operands[0])
        case "rank":
            return rank(operands[0])
        case "cumSum":
            return cumulative(operands[0], operands[1])
        case "total":
            return operands[0].sum()
        case "toTokens":
            return inputs.tokens.spread(operands[0])
    if op not in SAFE and op != "detach" and any(x.requires_grad for x in operands):
        return Guarded.apply(op, *operands)
    return ELEMENTWISE[op][1](*operands)


def _metric(entry: dict[str, Any], values: list[Tensor], inputs: Inputs) -> tuple[Tensor, Tensor]:
    value = values[entry["value"]].detach().to(DTYPE)
    one = number(1.0, inputs.device)
    weight = values[entry["weight"]].detach().to(DTYPE) if "weight" in entry else one
    reduce = entry["reduce"]
    if value.ndim == 0 and weight.ndim == 0:
        return (value * weight, weight) if reduce == "mean" else (value, one)
    if reduce == "mean":
        if weight.ndim == 0:
            return value.sum() * weight, weight * value.numel()
        return (value * weight).sum(), weight.sum()
    if reduce == "sum":
        return value.sum(), one
    if value.numel() == 0:
        return one * 0, one * 0
    return (value.max() if reduce == "max" else value.min()), one * value.numel()


def check_inputs(graph: dict[str, Any], rows: Rows, norms: dict[str, float], scores: list[str]) -> None:
    """Refuses what evaluating would refuse. Ranks that have no rows to evaluate must stop with the others."""
    nothing = {kind: torch.zeros(0) for kind in scores}
    evaluate(graph, Inputs(rows.take([]), torch.device("cpu")), norms, nothing, backward=False)


def condense(graph: dict[str, Any], parts: list[Tensor]) -> Tensor:
    """One part that stands for all of these, on the CPU."""
    table = torch.stack(parts).cpu() if parts else torch.zeros(0, len(graph["metrics"]), 2, dtype=DTYPE)
    whole = table.sum(0)
    for i, entry in enumerate(graph["metrics"]):
        seen = table[table[:, i, 1] != 0, i, 0]
        if entry["reduce"] in ("max", "min") and seen.numel() > 0:
            whole[i, 0] = seen.max() if entry["reduce"] == "max" else seen.min()
    return whole


def merge(graph: dict[str, Any], parts: list[Tensor]) -> dict[str, dict[str, Any]]:
    """Metrics of all parts (chunks, micro-batches, ranks) as if everything had been computed at once."""
    table = torch.stack(parts).cpu() if parts else torch.zeros(0, len(graph["metrics"]), 2, dtype=DTYPE)
    merged: dict[str, dict[str, Any]] = {}
    for i, entry in enumerate(graph["metrics"]):
        value, weight, reduce = table[:, i, 0], table[:, i, 1], entry["reduce"]
        seen = weight != 0
        total = float(weight.sum())
        if reduce == "mean":
            number = float(value.sum()) / total if total != 0 else 0.0
        elif reduce == "sum":
            number = float(value.sum())
        else:
            chosen = value[seen]
            number = 0.0 if chosen.numel() == 0 else float(chosen.max() if reduce == "max" else chosen.min())
        merged[entry["name"]] = {"value": number, "weight": total, "reduce": reduce}
    return merged
