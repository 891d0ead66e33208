"""A model that is trained: it takes whole mini-batches and answers with losses and steps."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..checkpoint import state
from ..checkpoint.block_hash import Hashes
from ..errors import WorkerError
from ..exact.body import Exact
from ..network.rows import Rows, spans
from ..network.transformer import Network
from ..world import World
from . import graph as loss_graph
from . import jobs
from .model import IsCancelled, stop_if
from .optim import Optimizer, Store
from .recording import Recordings
from .score_model import ScoreModel


@dataclass
class Result:
    loss: float
    metrics: dict[str, Any]
    scores: dict[str, Tensor]
    seconds: dict[str, float]


class TrainModel(ScoreModel):
    def __init__(
        self, spec: dict[str, Any], options: dict[str, Any], world: World, network: Network | None = None
    ):
        super().__init__(spec, options, world, True, network)
        store = Store.of(options, self.dtype, world)
        masters = store.masters_of([p for p in self.network.parameters() if p.requires_grad])
        self.settle()
        named = [(name, p) for name, p in self.network.named_parameters() if p.requires_grad]
        self.optimizer = Optimizer(self.network, named, masters, store)
        # `partial`: a call stopped between micro-batches, on top of gradients that were whole
        self.gradient = "none"
        if options.get("exactLogprobs"):
            self.network.exact = Exact.of(self)
        if options.get("record") and world.device.type == "cuda" and store.separate and not store.wandering:
            if self.network.exact is not None:
                raise WorkerError("engine/unsupported", "exact log-probs are not recorded as CUDA graphs", "unset one of the two")
            self.network.recordings = Recordings(self.network, world.device)

    def forward_backward(
        self,
        rows: Rows,
        graph: dict[str, Any],
        norms: dict[str, float],
        wants: list[str],
        coupling: str,
        token_budget: int,
        cancelled: IsCancelled,
    ) -> Result:
        self.check_wanted(wants)
        loss_graph.check(graph)
        rows = rows.asking(wants)
        loss_graph.check_inputs(graph, rows, norms, [*self.scores, *rows.asked])
        self.refuse_partial()
        before, self.gradient = self.gradient, "partial"
        self.touched = False
        try:
            with self.present():
                result = self.learn(rows, jobs.Objective(graph, norms, coupling), wants, token_budget, cancelled)
        except BaseException:
            # a half-added gradient must never be applied; alone it is dropped, so that the call can be repeated
            if before == "none":
                self.discard_grad()
            elif not self.touched:
                self.gradient = before
            raise
        self.gradient = "whole"
        return result

    def learn(
        self, rows: Rows, objective: jobs.Objective, wants: list[str], token_budget: int, cancelled: IsCancelled
    ) -> Result:
        began = time.perf_counter()
        packs, in_all = self.rounds(rows, token_budget, objective.coupling == "bundle")
        if objective.coupling == "batch":
            if in_all > 1:
                return self.learn_whole(rows, objective, wants, packs, token_budget, cancelled)
            # an order of tokens decides ties by their places
            packs = [sorted(pack) for pack in packs]
        parts: list[tuple[list[int], dict[str, Tensor]]] = []
        losses: list[Tensor] = []
        metrics: list[Tensor] = []
        for chosen in packs:
            stop_if(cancelled)
            if not chosen:
                self.idle().backward()
                continue
            taken = rows.take(chosen)
            job = jobs.Learn(taken, objective, self.world.device)
            outcome = self.network(self.pack(taken, budget=token_budget), job)
            self.touched = True
            outcome.surrogate.backward()
            losses.append(outcome.loss.double())
            metrics += outcome.metrics
            parts.append((chosen, outcome.scores))
            # nodes of its graph would keep the stream of this pass, which a recording of the next must not wait for
            del outcome
        launched = time.perf_counter() - began
        scores = self.gather(rows, parts, wants)
        loss = float(self.ranks.sum(torch.stack(losses).sum().cpu() if losses else torch.zeros(()).double()))
        merged = loss_graph.merge(objective.graph, self.ranks.gather(loss_graph.condense(objective.graph, metrics)))
        # work is handed to a GPU and waited for at the end: launch near compute means that the GPU waits for the CPU
        return Result(loss, merged, scores, {"compute": time.perf_counter() - began, "launch": launched})

    def learn_whole(
        self,
        rows: Rows,
        objective: jobs.Objective,
        wants: list[str],
        packs: list[list[int]],
        token_budget: int,
        cancelled: IsCancelled,
    ) -> Result:
        """The loss needs every score at once: all forward passes first, then each micro-batch again with its gradients."""
        began = time.perf_counter()
        scores = self.score_packs(rows, wants, packs, cancelled)
        inputs = loss_graph.Inputs(rows, torch.device("cpu"))
        found = loss_graph.evaluate(objective.graph, inputs, objective.norms, scores)
        for chosen in packs:
            stop_if(cancelled)
            if not chosen:
                self.idle().backward()
                continue
            places = spans(rows.scored, torch.tensor(chosen))
            grads = {kind: grad[places].to(self.world.device) for kind, grad in found.grads.items()}
            surrogate = self.network(self.pack(rows.take(chosen), budget=token_budget), jobs.Pull(grads))
            self.touched = True
            surrogate.backward()
            del surrogate
        merged = loss_graph.merge(objective.graph, [found.metrics])
        return Result(float(found.loss), merged, scores, {"compute": time.perf_counter() - began})

    def optim_step(
        self, lr: float, betas: tuple[float, float], eps: float, weight_decay: float, grad_clip: float
    ) -> tuple[float, bool]:
        self.refuse_partial()
        with self.present(changed=True):
            norm, applied = self.optimizer.step(lr, betas, eps, weight_decay, grad_clip)
        self.gradient = "none"
        return norm, applied

    def discard_grad(self) -> None:
        self.optimizer.discard()
        self.gradient = "none"

    def save(self, folder: str) -> Hashes:
        return state.save(self, folder)

    def load(self, folder: str) -> None:
        state.load(self, folder)

    def save_weights(self, folder: str) -> Hashes:
        return state.save_weights(self, folder)

    def refuse_partial(self) -> None:
        if self.gradient == "partial":
            raise WorkerError(
                "engine/incomplete-gradient",
                "a call stopped halfway and left an incomplete gradient",
                "call discardGrad, then repeat the forwardBackward calls of this step",
                self.spec["path"],
            )

    def follow(self) -> None:
        """Parameters have been given other memory with the same numbers."""
        self.optimizer.follow()
        # recordings read where the weights were
        self.yield_memory()

    def yield_memory(self) -> None:
        """What is kept only to be faster goes: somebody else on this device needs the room."""
        if self.network.recordings is not None:
            self.network.recordings.forget()

    def memory(self) -> dict[str, int]:
        report = super().memory()
        for kind, size in self.optimizer.memory().items():
            report[kind] += size
        return report

    def close(self) -> None:
        del self.optimizer
        super().close()
