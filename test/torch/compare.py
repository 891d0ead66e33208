"""
Reads cases from standard input, evaluates each graph as the torch workers do and each formula by hand, and writes the
numbers to standard output.
"""

import json
import sys
from pathlib import Path

import torch
from losses import total

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))

from trinity_torch.network.rows import Rows  # noqa: E402
from trinity_torch.train.graph import Inputs, check, evaluate, merge  # noqa: E402


def rows_of(rows):
    """As they come over the wire: a column is one number per row, or one per scored token."""
    scored = torch.tensor([len(row["mask"]) for row in rows], dtype=torch.int32)
    names = {}
    bundles = [names.setdefault(row.get("bundle") or f"row {r}", len(names)) for r, row in enumerate(rows)]
    groups = [names.setdefault(f"group {row.get('group') or r}", len(names)) for r, row in enumerate(rows)]
    token_columns, row_columns = {}, {}
    for name in rows[0]["columns"] if rows else []:
        given = [row["columns"][name] for row in rows]
        if not any(isinstance(value, list) for value in given):
            row_columns[name] = torch.tensor(given, dtype=torch.float32)
            continue
        spread = [v if isinstance(v, list) else [v] * len(row["mask"]) for v, row in zip(given, rows)]
        token_columns[name] = torch.tensor([x for part in spread for x in part], dtype=torch.float32)
    return Rows(
        torch.zeros(int(scored.sum()) + len(rows), dtype=torch.int32),
        scored + 1,
        torch.ones_like(scored),
        torch.ones(len(rows)),
        torch.tensor([m for row in rows for m in row["mask"]], dtype=torch.uint8),
        torch.tensor(bundles, dtype=torch.int32),
        token_columns,
        row_columns,
        torch.tensor(groups, dtype=torch.int32),
    )


def by_worker(graph, rows, norms, scores):
    check(graph)
    given = {kind: torch.tensor(values, dtype=torch.float64) for kind, values in scores.items()}
    found = evaluate(graph, Inputs(rows_of(rows), torch.device("cpu")), norms, given)
    grads = {kind: found.grads.get(kind, torch.zeros_like(x)).tolist() for kind, x in given.items()}
    metrics = {name: metric["value"] for name, metric in merge(graph, [found.metrics]).items()}
    return {"loss": found.loss.item(), "grads": grads, "metrics": metrics}


results = []
for case in json.load(sys.stdin):
    result = {"graph": by_worker(case["graph"], case["rows"], case["norms"], case["scores"])}
    if "formula" in case:
        loss, grads = total(case["formula"], case["rows"], case["scores"])
        result["formula"] = {"loss": loss, "grads": grads}
    results.append(result)
json.dump(results, sys.stdout)
