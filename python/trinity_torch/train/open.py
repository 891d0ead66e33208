"""Opens a model of any kind."""

from __future__ import annotations

from typing import Any

from ..errors import WorkerError
from ..world import World
from .model import Model
from .reward_model import RewardModel
from .score_model import ScoreModel
from .train_model import TrainModel


def open_model(
    kind: str, spec: dict[str, Any], options: dict[str, Any], world: World, trainer: TrainModel | None = None
) -> Model:
    """`trainer`: whose weights a sampler samples with."""
    match kind:
        case "train":
            return TrainModel(spec, options, world)
        case "score":
            return ScoreModel({**spec, "lora": None}, options, world)
        case "reward":
            return RewardModel(spec, options, world)
        case "sample":
            from ..sampler.engine import SampleModel

            return SampleModel(spec, options, world, trainer)
    raise WorkerError("engine/unsupported", f"this worker cannot open a model for '{kind}'")
