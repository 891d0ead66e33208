"""A rotation of positions that depends on how long sequences are, made one that does not."""

from __future__ import annotations

from typing import Any

from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from ..errors import WorkerError


def usual_length(config: Any) -> int:
    """The longest sequence of a model where nobody says one: of a longrope, what its short factors are for."""
    original = _original(config)
    return config.max_position_embeddings if original is None else min(original, config.max_position_embeddings)


def settle(hf: Any, longest: int) -> None:
    """
    Transformers takes the factors of a longrope that the longest sequence of each call asks for, and one sequence would get other scores
    in other company. Here all have those of the longest sequence that there may be.
    """
    original = _original(hf.config)
    if original is None:
        return
    rotary = hf.base_model.rotary_emb
    long = longest > original
    settled = getattr(rotary, "settled_long", long)
    if settled != long:
        raise WorkerError(
            "engine/max-model-len",
            f"max_model_len of {longest} asks for other factors of the longrope than the model that is shared has",
            f"give both a max_model_len on the same side of {original}",
        )
    rotary.settled_long = long
    found, _ = ROPE_INIT_FUNCTIONS["longrope"](hf.config, rotary.inv_freq.device, seq_len=longest)
    rotary.inv_freq.copy_(found)
    rotary.original_inv_freq.copy_(found)
    rotary.long_inv_freq = found


def _original(config: Any) -> int | None:
    """Of a longrope, the length from which on its long factors count."""
    rope = getattr(config, "rope_parameters", None) or {}
    return int(rope["original_max_position_embeddings"]) if rope.get("rope_type") == "longrope" else None
