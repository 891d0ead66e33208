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
        hidden = network.scored(pack)
        if network.kind != "lm":
            return _whole(pack, {"value": network.values(hidden)})
        logprob, entropy = head.score(hidden, network.head_module.weight, network.targets(pack))
        return _whole(pack, {"logprob": logprob, "entropy": entropy})


class Idle:
    """Nothing, by way of every weight: what a rank without rows computes while the others compute theirs."""

    def __call__(self, network: Network, pack: Pack) -> Tensor:
        zero = network.body(pack).sum() * 0.0
        return sum((p.sum() * 0.0 for p in network.head_module.parameters() if p.requires_grad), zero)


class Reward:
    """One number per sequence, of a pack that is read at its last tokens."""

    def __call__(self, network: Network, pack: Pack) -> Tensor:
        return _whole(pack, {"reward": network.values(network.scored(pack))})["reward"]


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
        hidden = network.scored(pack)
        if network.kind != "lm":
            return self._scored(pack, {"value": network.values(hidden)})
        weight, targets = network.head_module.weight, network.targets(pack)
        units = self.rows.units(self.coupling == "bundle")
        in_order = [row for unit in units for row in unit] == list(range(len(self.rows)))
        sizes = [sum(pack.scored[row] for row in unit) for unit in units]
        chunks = head.chunk_units(sizes, head.chunk_rows(weight.shape[0])) if in_order else None
        if chunks is None or self.coupling == "batch" or pack.share:
            logprob, entropy = head.Scores.apply(hidden, weight, network.head_total, targets)
            return self._scored(pack, {"logprob": logprob, "entropy": entropy})
        by_row = [[row for unit in chunk for row in units[unit]] for chunk in chunks]
        return self._fused(network, hidden, targets, by_row, pack)

    def _fused(
        self, network: Network, hidden: Tensor, targets: head.Targets, chunks: list[list[int]], pack: Pack
    ) -> Outcome:
        parts = [self.rows if len(chunks) == 1 else self.rows.take(rows) for rows in chunks]
        inputs = [loss_graph.Inputs(part, self.device) for part in parts]
        scores: dict[str, Tensor] = {}

        def loss_of(chunk: int, logprob: Tensor, entropy: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None]:
            found = loss_graph.evaluate(self.graph, inputs[chunk], self.norms, {"logprob": logprob, "entropy": entropy})
            self.metrics.append(found.metrics)
            return found.loss, found.grads.get("logprob"), found.grads.get("entropy")

        sizes = [sum(pack.scored[row] for row in rows) for rows in chunks]
        loss = head.FusedLoss.apply(
            hidden, network.head_module.weight, network.head_total, targets, sizes, loss_of, scores
        )
        return Outcome(loss, loss.detach(), self.metrics, scores)

    def _scored(self, pack: Pack, scores: dict[str, Tensor]) -> Outcome:
        whole = _whole(pack, scores)
        found = loss_graph.evaluate(self.graph, loss_graph.Inputs(self.rows, self.device), self.norms, whole)
        self.metrics.append(found.metrics)
        return Outcome(_along(pack, found.grads, scores), found.loss, self.metrics, whole)


@dataclass
class Pull:
    """The backward pass of a micro-batch whose d(loss)/d(score) is known already."""

    grads: dict[str, Tensor]

    def __call__(self, network: Network, pack: Pack) -> Tensor:
        hidden = network.scored(pack)
        if network.kind != "lm":
            scores = {"value": network.values(hidden)}
        else:
            logprob, entropy = head.Scores.apply(
                hidden, network.head_module.weight, network.head_total, network.targets(pack)
            )
            scores = {"logprob": logprob, "entropy": entropy}
        return _along(pack, self.grads, scores)


def _whole(pack: Pack, scores: dict[str, Tensor]) -> dict[str, Tensor]:
    """Scores of the whole micro-batch, where other ranks have parts of it; without gradients."""
    return pack.share.whole(scores) if pack.share else {kind: x.detach() for kind, x in scores.items()}


def _along(pack: Pack, grads: dict[str, Tensor], scores: dict[str, Tensor]) -> Tensor:
    """A scalar whose derivative by each score is the given one. `grads`: of the whole micro-batch."""
    here = pack.share.places if pack.share else slice(None)
    zero = next(iter(scores.values())).sum() * 0.0
    return sum(((scores[kind] * grad[here]).sum() for kind, grad in grads.items()), zero)
