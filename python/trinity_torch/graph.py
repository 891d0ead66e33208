"""A loss as data (docs/loss-graph.md), rebuilt from the operations allowed here and differentiated by autograd.

Nothing waits for the device: index tensors are made on the CPU, and numbers come back when the caller asks for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .errors import WorkerError
from .rows import Rows

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
REDUCTIONS = {"rowSum": 1, "bundleSum": 1, "total": 1, "toTokens": 1}
INPUTS = ("const", "norm", "column", "score", "count")
SCORES = ("logprob", "entropy", "value")


def check(graph: Any) -> None:
    """Refuses whatever is not a graph of this version: the text comes over a wire."""
    if not isinstance(graph, dict) or graph.get("version") != VERSION:
        raise WorkerError("engine/bad-graph", f"this is not a loss graph of version {VERSION}")
    nodes = graph.get("nodes")
    if not isinstance(nodes, list) or not nodes:
        raise WorkerError("engine/bad-graph", "the loss graph has no nodes")
    for i, node in enumerate(nodes):
        op, operands = node.get("op"), node.get("in", [])
        wanted = ELEMENTWISE[op][0] if op in ELEMENTWISE else REDUCTIONS.get(op, 0)
        if op not in ELEMENTWISE and op not in REDUCTIONS and op not in INPUTS:
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
        with torch.enable_grad():
            leaves = [x.detach().requires_grad_(need) for x, need in zip(ctx.saved_tensors, needs)]
            wanted = [x for x, need in zip(leaves, needs) if need]
            found = iter(torch.autograd.grad(ELEMENTWISE[ctx.op][1](*leaves), wanted, grad, allow_unused=True))
        parts = [next(found) if need else None for need in needs]
        return (None, *[p if p is None else torch.where(grad == 0, 0.0, p) for p in parts])


# operations whose derivative multiplies by nothing that can be infinite
SAFE = ("add", "sub", "neg", "min", "max", "clamp", "where")


class Segments:
    """Sums over runs of entries that lie together, in one order, so that the result is the same every time."""

    def __init__(self, sizes: Tensor, device: torch.device):
        self.sizes = sizes.to(device)
        self.of = torch.repeat_interleave(torch.arange(sizes.numel()), sizes).to(device)

    def sum(self, x: Tensor) -> Tensor:
        return torch.segment_reduce(x.contiguous(), "sum", lengths=self.sizes, unsafe=True)

    def spread(self, x: Tensor) -> Tensor:
        return x[self.of]


class Inputs:
    """Active tokens of all rows in one vector."""

    def __init__(self, rows: Rows, device: torch.device):
        sizes = rows.scored.long()
        active = rows.mask.bool()
        row_of = torch.repeat_interleave(torch.arange(len(rows)), sizes)
        self.device = device
        self.rows = len(rows)
        self.counts = torch.bincount(row_of[active], minlength=len(rows))
        self.active = active.nonzero()[:, 0].to(device)
        self.tokens = Segments(self.counts, device)
        order = torch.argsort(rows.bundles, stable=True)
        _, sizes_of_bundles = torch.unique_consecutive(rows.bundles[order], return_counts=True)
        self.order, self.place = order.to(device), torch.argsort(order).to(device)
        self.bundles = Segments(sizes_of_bundles, device)
        self.token_columns = {name: column[active].to(device, DTYPE) for name, column in rows.token_columns.items()}
        self.row_columns = {name: column.to(device, DTYPE) for name, column in rows.row_columns.items()}

    def column(self, name: str, shape: str) -> Tensor:
        if shape == "token" and name in self.token_columns:
            return self.token_columns[name]
        if name not in self.row_columns:
            raise WorkerError("engine/no-column", f"the loss reads the {shape} column '{name}', which the rows do not have")
        column = self.row_columns[name]
        return self.tokens.spread(column) if shape == "token" else column

    def bundle_sum(self, x: Tensor) -> Tensor:
        return self.bundles.spread(self.bundles.sum(x[self.order]))[self.place]


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
    stacked = torch.stack([x for pair in metrics for x in pair]).view(-1, 2) if metrics else torch.zeros(0, 2, device=device)
    return Evaluation(loss.detach(), grads, stacked)


def _value(
    node: dict[str, Any], operands: list[Tensor], inputs: Inputs, norms: dict[str, float], leaves: dict[str, Tensor]
) -> Tensor:
    op = node["op"]
    match op:
        case "const":
            return torch.full((), float(node["value"]), dtype=DTYPE, device=inputs.device)
        case "norm":
            if node["name"] not in norms:
                raise WorkerError("engine/bad-graph", f"the normaliser '{node['name']}' was not given")
            return torch.full((), float(norms[node["name"]]), dtype=DTYPE, device=inputs.device)
        case "score":
            if node["name"] not in leaves:
                raise WorkerError("engine/no-score", f"this model gives no {node['name']}")
            return leaves[node["name"]][inputs.active]
        case "column":
            return inputs.column(node["name"], node["shape"])
        case "count":
            return inputs.counts.to(inputs.device, DTYPE)
        case "rowSum":
            return inputs.tokens.sum(operands[0])
        case "bundleSum":
            return inputs.bundle_sum(operands[0])
        case "total":
            return operands[0].sum()
        case "toTokens":
            return inputs.tokens.spread(operands[0])
    if op not in SAFE and op != "detach" and any(x.requires_grad for x in operands):
        operands = list(torch.broadcast_tensors(*operands))
        return Guarded.apply(op, *operands)
    return ELEMENTWISE[op][1](*operands)


def _metric(entry: dict[str, Any], values: list[Tensor], inputs: Inputs) -> tuple[Tensor, Tensor]:
    value = values[entry["value"]].detach().to(DTYPE)
    one = torch.ones((), dtype=DTYPE, device=inputs.device)
    weight = values[entry["weight"]].detach().to(DTYPE) if "weight" in entry else one
    reduce = entry["reduce"]
    if value.ndim == 0 and weight.ndim == 0:
        return (value * weight, weight) if reduce == "mean" else (value, one)
    if reduce == "mean":
        value, weight = torch.broadcast_tensors(value, weight)
        return (value * weight).sum(), weight.sum()
    if reduce == "sum":
        return value.sum(), one
    if value.numel() == 0:
        return torch.zeros_like(one), torch.zeros_like(one)
    return (value.max() if reduce == "max" else value.min()), one * value.numel()


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
