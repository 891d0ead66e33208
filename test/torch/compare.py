"""Reads cases from standard input, evaluates each graph and each formula, writes the numbers to standard output."""

import json
import sys

from graph import evaluate
from losses import total

results = []
for case in json.load(sys.stdin):
    graph_loss, graph_grads, metrics = evaluate(case["graph"], case["rows"], case["norms"], case["scores"])
    result = {"graph": {"loss": graph_loss, "grads": graph_grads, "metrics": metrics}}
    if "formula" in case:
        loss, grads = total(case["formula"], case["rows"], case["scores"])
        result["formula"] = {"loss": loss, "grads": grads}
    results.append(result)
json.dump(results, sys.stdout)
