"""What is done with one micro-batch: scoring it, or taking the loss and its derivative."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from . import graph as loss_graph
from . import head
from .network import Network
from .rows import Pack, Rows


class Score:
    """Scores by kind, without gradients."""

    def __call__(self, network: Network, pack: Pack) -> dict[str, Tensor]:
        hidden = network.body(pack)[pack.at]
        if network.kind != "lm":
            return {"value": network.values(hidden)}
        logprob, entropy = head.score(hidden, network.head_module.weight, network.targets(pack))
        return {"logprob": logprob, "entropy": entropy}


@dataclass
class Reward:
    """One number per sequence, read at its last token."""

    lengths: list[int]

    def __call__(self, network: Network, pack: Pack) -> Tensor:
        ends = torch.tensor(self.lengths).cumsum(0).to(pack.ids.device) - 1
        return network.values(network.body(pack)[ends])


@dataclass
class Outcome:
    """`surrogate` has the derivative of the loss, not its value."""

    surrogate: Tensor
    loss: Tensor
    metrics: list[Tensor]
    scores: dict[str, Tensor]


@dataclass
class Learn:
    """The loss on the rows of one micro-batch."""

    rows: Rows
    graph: dict[str, Any]
    norms: dict[str, float]
    coupling: str
    device: torch.device
    metrics: list[Tensor] = field(default_factory=list)

    def __call__(self, network: Network, pack: Pack) -> Outcome:
        hidden = network.body(pack)[pack.at]
        if network.kind != "lm":
            values = network.values(hidden)
            found = self._evaluate(self.rows, {"value": values})
            return Outcome(_along(found, {"value": values}), found.loss, self.metrics, {"value": values.detach()})
        weight, targets = network.head_module.weight, network.targets(pack)
        units = self.rows.units(self.coupling == "bundle")
        in_order = [row for unit in units for row in unit] == list(range(len(self.rows)))
        sizes = [sum(pack.scored[row] for row in unit) for unit in units]
        chunks = head.chunk_units(sizes, head.chunk_rows(weight.shape[0])) if in_order else None
        if chunks is None or self.coupling == "batch":
            return self._scored(hidden, weight, targets)
        return self._fused(hidden, weight, targets, [[row for unit in c for row in units[unit]] for c in chunks], pack)

    def _fused(
        self, hidden: Tensor, weight: Tensor, targets: head.Targets, chunks: list[list[int]], pack: Pack
    ) -> Outcome:
        parts = [self.rows if len(chunks) == 1 else self.rows.take(rows) for rows in chunks]
        inputs = [loss_graph.Inputs(part, self.device) for part in parts]
        scores: dict[str, Tensor] = {}

        def loss_of(chunk: int, logprob: Tensor, entropy: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None]:
            found = loss_graph.evaluate(self.graph, inputs[chunk], self.norms, {"logprob": logprob, "entropy": entropy})
            self.metrics.append(found.metrics)
            return found.loss, found.grads.get("logprob"), found.grads.get("entropy")

        sizes = [sum(pack.scored[row] for row in rows) for rows in chunks]
        loss = head.FusedLoss.apply(hidden, weight, targets, sizes, loss_of, scores)
        return Outcome(loss, loss.detach(), self.metrics, scores)

    def _scored(self, hidden: Tensor, weight: Tensor, targets: head.Targets) -> Outcome:
        logprob, entropy = head.Scores.apply(hidden, weight, targets)
        scores = {"logprob": logprob, "entropy": entropy}
        found = self._evaluate(self.rows, scores)
        return Outcome(_along(found, scores), found.loss, self.metrics, {k: x.detach() for k, x in scores.items()})

    def _evaluate(self, rows: Rows, scores: dict[str, Tensor]) -> loss_graph.Evaluation:
        found = loss_graph.evaluate(self.graph, loss_graph.Inputs(rows, self.device), self.norms, scores)
        self.metrics.append(found.metrics)
        return found


@dataclass
class Pull:
    """The backward pass of a micro-batch whose d(loss)/d(score) is known already."""

    grads: dict[str, Tensor]

    def __call__(self, network: Network, pack: Pack) -> Tensor:
        hidden = network.body(pack)[pack.at]
        if network.kind != "lm":
            scores = {"value": network.values(hidden)}
        else:
            logprob, entropy = head.Scores.apply(hidden, network.head_module.weight, network.targets(pack))
            scores = {"logprob": logprob, "entropy": entropy}
        return _along(loss_graph.Evaluation(hidden, self.grads, hidden), scores)


def _along(found: loss_graph.Evaluation, scores: dict[str, Tensor]) -> Tensor:
    """A scalar whose derivative by each score is the given one."""
    zero = next(iter(scores.values())).sum() * 0.0
    return sum(((scores[kind] * grad).sum() for kind, grad in found.grads.items()), zero)
