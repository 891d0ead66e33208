"""Reads cases from standard input, evaluates each graph and each formula, writes the numbers to standard output."""

import json
import sys

from graph import evaluate
from losses import total

results = []
for case in json.load(sys.stdin):
    graph_loss, graph_grads, metrics = evaluate(case["graph"], case["rows"], case["norms"], case["scores"])
    loss, grads = total(case["formula"], case["rows"], case["scores"])
    results.append(
        {"graph": {"loss": graph_loss, "grads": graph_grads, "metrics": metrics}, "formula": {"loss": loss, "grads": grads}}
    )
json.dump(results, sys.stdout)
