"""Evaluates a serialised loss graph (docs/loss-graph.md) with PyTorch and lets autograd differentiate it."""

import torch
import torch.nn.functional as F

MAP_OPS = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "neg": torch.neg,
    "exp": torch.exp,
    "log": torch.log,
    "abs": torch.abs,
    "sqrt": torch.sqrt,
    "sigmoid": torch.sigmoid,
    "logSigmoid": F.logsigmoid,
    "logAddExp": torch.logaddexp,
    "min": torch.minimum,
    "max": torch.maximum,
    "clamp": torch.clamp,
    "where": torch.where,
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
    "eq": torch.eq,
    "and": torch.logical_and,
    "or": torch.logical_or,
    "not": torch.logical_not,
    "detach": torch.Tensor.detach,
}


class Guarded(torch.autograd.Function):
    """An element-wise operation whose derivative is 0 where the incoming gradient is 0, even at an infinity or NaN."""

    @staticmethod
    def forward(ctx, op, *operands):
        ctx.op = op
        ctx.save_for_backward(*operands)
        return MAP_OPS[op](*operands)

    @staticmethod
    def backward(ctx, grad):
        with torch.enable_grad():
            leaves = [x.detach().requires_grad_(x.is_floating_point()) for x in ctx.saved_tensors]
            wanted = [x for x in leaves if x.requires_grad]
            found = iter(torch.autograd.grad(MAP_OPS[ctx.op](*leaves), wanted, grad, allow_unused=True))
        parts = [next(found) if x.requires_grad else None for x in leaves]
        return (None, *[p if p is None else torch.where(grad == 0, torch.zeros_like(p), p) for p in parts])


def apply(op, operands):
    operands = torch.broadcast_tensors(*operands)
    smooth = op != "detach" and any(x.requires_grad for x in operands)
    value = MAP_OPS[op](*operands)
    return Guarded.apply(op, *operands) if smooth and value.is_floating_point() else value


class Batch:
    """Active tokens of all rows in one vector, with the row of each."""

    def __init__(self, rows):
        self.rows = rows
        self.mask = torch.tensor([m for row in rows for m in row["mask"]], dtype=torch.bool)
        self.row_of = torch.tensor([r for r, row in enumerate(rows) for m in row["mask"] if m], dtype=torch.long)
        names = {}
        bundles = [names.setdefault(row.get("bundle") or f"row {r}", len(names)) for r, row in enumerate(rows)]
        self.bundle_of = torch.tensor(bundles, dtype=torch.long)

    def column(self, name, shape):
        if shape == "row":
            return torch.tensor([row["columns"][name] for row in self.rows], dtype=torch.float64)
        flat = []
        for row in self.rows:
            value = row["columns"][name]
            flat += value if isinstance(value, list) else [value] * len(row["mask"])
        return torch.tensor(flat, dtype=torch.float64)[self.mask]

    def row_sum(self, x):
        return torch.zeros(len(self.rows), dtype=torch.float64).index_add(0, self.row_of, x)

    def bundle_sum(self, x):
        return torch.zeros(len(self.rows), dtype=torch.float64).index_add(0, self.bundle_of, x)[self.bundle_of]


def evaluate(graph, rows, norms, scores):
    """Returns (loss, gradients by score, metrics by name); scores are float64 leaf tensors over all scored tokens."""
    assert graph["version"] == 1
    batch = Batch(rows)
    leaves = {kind: torch.tensor(values, dtype=torch.float64, requires_grad=True) for kind, values in scores.items()}
    values = []
    for node in graph["nodes"]:
        op, operands = node["op"], [values[i] for i in node.get("in", [])]
        if op == "const":
            value = torch.tensor(node["value"], dtype=torch.float64)
        elif op == "norm":
            value = torch.tensor(norms[node["name"]], dtype=torch.float64)
        elif op == "score":
            value = leaves[node["name"]][batch.mask]
        elif op == "column":
            value = batch.column(node["name"], node["shape"])
        elif op == "count":
            value = batch.row_sum(torch.ones_like(batch.row_of, dtype=torch.float64))
        elif op == "rowSum":
            value = batch.row_sum(operands[0])
        elif op == "bundleSum":
            value = batch.bundle_sum(operands[0])
        elif op == "total":
            value = operands[0].sum()
        elif op == "toTokens":
            value = operands[0][batch.row_of]
        else:
            value = apply(op, operands)
        values.append(value)

    def metric(entry):
        value = values[entry["value"]].detach()
        reduce = entry["reduce"]
        if reduce != "mean":
            return {"sum": torch.sum, "max": torch.max, "min": torch.min}[reduce](value).item()
        weight = values[entry["weight"]] if "weight" in entry else torch.ones_like(value)
        value, weight = torch.broadcast_tensors(value, weight)
        return (value * weight).sum().item() / max(weight.sum().item(), 1e-300)

    loss = values[graph["loss"]]
    loss.backward()
    grads = {k: (x.grad if x.grad is not None else torch.zeros_like(x)).tolist() for k, x in leaves.items()}
    return loss.item(), grads, {entry["name"]: metric(entry) for entry in graph["metrics"]}
