"""A model that scores given tokens: a reference, a teacher, and what every trained model can do as well."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor

from ..errors import WorkerError
from ..network import head, lora
from ..network.rows import OTHER, Rows
from ..network.transformer import Network
from ..world import World
from . import jobs
from .model import IsCancelled, Model, stop_if


class ScoreModel(Model):
    def __init__(
        self,
        spec: dict[str, Any],
        options: dict[str, Any],
        world: World,
        trainable: bool = False,
        network: Network | None = None,
        lender: Model | None = None,
    ):
        super().__init__(spec, options, world, trainable, network, lender)
        if not trainable and lender is None:
            self.settle()

    def forward(
        self, rows: Rows, wants: list[str], adapter: bool, token_budget: int, cancelled: IsCancelled
    ) -> dict[str, Tensor]:
        self.check_wanted(wants)
        rows = rows.asking(wants)
        packs, _ = self.rounds(rows, token_budget, False)
        with self.present(), lora.switched(self.network, adapter) if self.lora else nullcontext():
            return self.score_packs(rows, wants, packs, cancelled)

    def score_packs(
        self, rows: Rows, wants: list[str], packs: list[list[int]], cancelled: IsCancelled
    ) -> dict[str, Tensor]:
        parts: list[tuple[list[int], dict[str, Tensor]]] = []
        with torch.no_grad(), self.ranks.whole(self.network):
            for chosen in packs:
                stop_if(cancelled)
                if chosen:
                    parts.append((chosen, self.network(self.pack(rows.take(chosen)), jobs.Score())))
                else:
                    self.idle()
        return self.gather(rows, parts, wants)

    def gather(self, rows: Rows, parts: list[tuple[list[int], dict[str, Tensor]]], wants: list[str]) -> dict[str, Tensor]:
        """Scores of all packs in the order of the rows, on the CPU. This is where the device is waited for."""
        placed = lambda kind: rows.place([(chosen, scores[kind].float().cpu()) for chosen, scores in parts])  # noqa: E731
        return {kind: self.ranks.sum(placed(kind)) for kind in wants}

    @property
    def scores(self) -> list[str]:
        return list(head.KINDS) if self.kind == "lm" else ["value"]

    def check_wanted(self, wants: list[str]) -> None:
        for kind in wants:
            if kind not in self.scores and not (self.kind == "lm" and OTHER in kind):
                other = "value" if kind == "value" else "lm"
                raise WorkerError(
                    "engine/no-score",
                    f"a model with the head '{self.kind}' does not give {kind}",
                    f"open it with head: '{other}'",
                    self.spec["path"],
                )
