"""A sequence classifier: one number for each sequence."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..world import World
from . import jobs
from .model import IsCancelled, Model, plain_rows, stop_if


class RewardModel(Model):
    def __init__(self, spec: dict[str, Any], options: dict[str, Any], world: World):
        super().__init__({**spec, "head": "reward", "lora": None}, options, world, False)
        self.settle()

    def reward(self, tokens: Tensor, lengths: Tensor, token_budget: int, cancelled: IsCancelled) -> Tensor:
        rows = plain_rows(*unpadded(tokens, lengths, self.network.config.pad_token_id))
        out = torch.zeros(len(rows))
        packs, _ = self.rounds(rows, token_budget, False)
        with torch.no_grad(), self.present(), self.ranks.whole(self.network):
            for chosen in packs:
                stop_if(cancelled)
                if chosen:
                    out[chosen] = self.network(self.pack(rows.take(chosen), at_ends=True), jobs.Reward()).float().cpu()
                else:
                    self.idle()
        return self.ranks.sum(out)


def unpadded(tokens: Tensor, lengths: Tensor, pad: int | None) -> tuple[Tensor, Tensor]:
    """Where the end token pads too, Transformers reads the score of a sequence before it; of nothing but padding, at its start."""
    if pad is None or lengths.numel() == 0:
        return tokens, lengths
    kept = []
    for row in tokens.split(lengths.tolist()):
        at = (row != pad).nonzero()
        kept.append(row[: int(at[-1]) + 1 if len(at) else 1])
    return torch.cat(kept), torch.tensor([len(row) for row in kept], dtype=lengths.dtype)
