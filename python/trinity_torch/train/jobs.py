"""What is done with one micro-batch: scoring it, or taking the loss and its derivative."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from ..network import head
from ..network.rows import Pack, Rows
from ..network.transformer import Network
from . import graph as loss_graph


class Score:
    """Scores by kind, without gradients."""

    def __call__(self, network: Network, pack: Pack) -> dict[str, Tensor]:
        hidden = network.scored(pack)
        if network.kind != "lm":
            return _whole(pack, {"value": network.values(hidden)})
        return _whole(pack, head.score(hidden, network.head_of(hidden), network.targets(pack)))


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


@dataclass(frozen=True)
class Objective:
    """A loss as it comes over the wire, with the normalizers of the whole mini-batch."""

    graph: dict[str, Any]
    norms: dict[str, float]
    coupling: str


@dataclass
class Learn:
    """The loss on the rows of one micro-batch."""

    rows: Rows
    objective: Objective
    device: torch.device
    metrics: list[Tensor] = field(default_factory=list)

    def __call__(self, network: Network, pack: Pack) -> Outcome:
        hidden = network.scored(pack)
        chunks = self._chunks(network, pack)
        if chunks is None:
            return self._scored(pack, _scores(network, pack, hidden))
        return self._fused(network, hidden, chunks, pack)

    def _chunks(self, network: Network, pack: Pack) -> list[list[int]] | None:
        """Rows whose logits exist together; None: the loss cannot be taken in parts, or is not of logits."""
        coupling = self.objective.coupling
        if network.kind != "lm" or coupling == "batch" or pack.share:
            return None
        units = self.rows.units(coupling == "bundle")
        if [row for unit in units for row in unit] != list(range(len(self.rows))):
            return None
        sizes = [sum(pack.scored[row] for row in unit) for unit in units]
        chunks = head.chunk_units(sizes, head.chunk_rows(network.head_module.weight.shape[0]))
        return None if chunks is None else [[row for unit in chunk for row in units[unit]] for chunk in chunks]

    def _fused(self, network: Network, hidden: Tensor, chunks: list[list[int]], pack: Pack) -> Outcome:
        parts = [self.rows if len(chunks) == 1 else self.rows.take(rows) for rows in chunks]
        inputs = [loss_graph.Inputs(part, self.device) for part in parts]
        scores: dict[str, Tensor] = {}

        def loss_of(chunk: int, scores: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
            found = self._evaluate(inputs[chunk], scores)
            return found.loss, found.grads

        sizes = [sum(pack.scored[row] for row in rows) for rows in chunks]
        loss = head.FusedLoss.apply(hidden, *network.head_of(hidden), network.targets(pack), sizes, loss_of, scores)
        return Outcome(loss, loss.detach(), self.metrics, scores)

    def _scored(self, pack: Pack, scores: dict[str, Tensor]) -> Outcome:
        whole = _whole(pack, scores)
        found = self._evaluate(loss_graph.Inputs(self.rows, self.device), whole)
        return Outcome(_along(pack, found.grads, scores), found.loss, self.metrics, whole)

    def _evaluate(self, inputs: loss_graph.Inputs, scores: dict[str, Tensor]) -> loss_graph.Evaluation:
        found = loss_graph.evaluate(self.objective.graph, inputs, self.objective.norms, scores)
        self.metrics.append(found.metrics)
        return found


@dataclass
class Pull:
    """The backward pass of a micro-batch whose d(loss)/d(score) is known already."""

    grads: dict[str, Tensor]

    def __call__(self, network: Network, pack: Pack) -> Tensor:
        scores = _scores(network, pack, network.scored(pack))
        return _along(pack, self.grads, scores)


def _scores(network: Network, pack: Pack, hidden: Tensor) -> dict[str, Tensor]:
    """With gradients."""
    if network.kind != "lm":
        return {"value": network.values(hidden)}
    targets = network.targets(pack)
    return dict(zip(targets.kinds, head.Scores.apply(hidden, *network.head_of(hidden), targets)))


def _whole(pack: Pack, scores: dict[str, Tensor]) -> dict[str, Tensor]:
    """Scores of the whole micro-batch, where other ranks have parts of it; without gradients."""
    return pack.share.whole(scores) if pack.share else {kind: x.detach() for kind, x in scores.items()}


def _along(pack: Pack, grads: dict[str, Tensor], scores: dict[str, Tensor]) -> Tensor:
    """A scalar whose derivative by each score is the given one. `grads`: of the whole micro-batch."""
    here = pack.share.places if pack.share else slice(None)
    zero = next(iter(scores.values())).sum() * 0.0
    return sum(((scores[kind] * grad[here]).sum() for kind, grad in grads.items()), zero)
