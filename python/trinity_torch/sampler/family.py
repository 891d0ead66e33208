"""What the families of models differ in, as their configurations say it, and which of them the decoder computes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..errors import WorkerError
from ..network.lora_modules import LoraLinear

FAMILIES = ("gemma2", "gemma3_text", "llama", "mistral", "olmo2", "phi3", "qwen2", "qwen3", "qwen3_moe", "smollm3")
ROPES = ("default", "linear", "dynamic", "llama3", "yarn", "longrope")


def windows(config: Any) -> list[int]:
    """Of each layer how many tokens it sees; 0: all."""
    layers, window = config.num_hidden_layers, getattr(config, "sliding_window", None) or 0
    if config.model_type in ("mistral", "phi3", "qwen3_moe"):
        # masked alike in all layers; Qwen3-MoE has none where it is not used
        return [window] * layers
    types = getattr(config, "layer_types", None) or ["full_attention"] * layers
    return [window if kind == "sliding_attention" else 0 for kind in types]


# Cosines and sines [positions, pairs] by the kind of layer.
Turns = dict[str, tuple[Tensor, Tensor]]


def turns(rotary: Any, kinds: set[str], positions: int, device: torch.device, dtype: torch.dtype) -> Turns:
    """`none`: layers without positions. Others may have a rotation of their own."""
    found: Turns = {}
    for kind in sorted(kinds - {"none"}):
        own = f"{kind}_" if hasattr(rotary, f"{kind}_inv_freq") else ""
        # a dynamic rotation that was last used on long sequences has other frequencies until the next call
        inv_freq = getattr(rotary, f"{own}original_inv_freq", None)
        inv_freq = getattr(rotary, f"{own}inv_freq") if inv_freq is None else inv_freq
        angles = torch.outer(torch.arange(positions, dtype=torch.float32), inv_freq.float().cpu())
        strength = float(getattr(rotary, f"{own}attention_scaling", 1.0))
        # in the type of the model, as Transformers rounds them
        cos, sin = ((x * strength).to(device, dtype).contiguous() for x in (angles.cos(), angles.sin()))
        found[kind] = (cos, sin)
    if "none" in kinds:
        cos, sin = next(iter(found.values()))
        found["none"] = (torch.ones_like(cos), torch.zeros_like(sin))
    return found


def check(hf: Any, max_len: int) -> None:
    """Refuses what the decoder would compute wrongly."""
    config = hf.config

    def refuse(what: str, hint: str | None = None) -> None:
        families = f"models of these families can be sampled: {', '.join(FAMILIES)}; others can be trained and scored"
        raise WorkerError("engine/unsupported", f"the torch sampler does not know {what}", hint or families)

    kind = config.model_type
    if kind not in FAMILIES:
        refuse(f"models of type '{kind}' (it knows {', '.join(FAMILIES)})")
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    for one in [rope, *(value for value in rope.values() if isinstance(value, dict))]:
        name = one.get("rope_type", "default")
        if name not in ROPES:
            refuse(f"rotary embeddings of type '{name}' (it knows {', '.join(ROPES)})")
        most = config.max_position_embeddings
        if name == "dynamic" and max_len > most:
            refuse(f"how a dynamic rotation stretches ({max_len} tokens)", f"set max_model_len to {most} or less")
    for layer_type in getattr(config, "layer_types", None) or []:
        if layer_type not in ("full_attention", "sliding_attention"):
            refuse(f"layers of type '{layer_type}'")
    activation = getattr(config, "hidden_activation", None) or config.hidden_act
    if activation != ("gelu_pytorch_tanh" if kind.startswith("gemma") else "silu"):
        refuse(f"the activation '{activation}'")
    if getattr(config, "use_bidirectional_attention", False):
        refuse("attention in both directions")
    layer = hf.base_model.layers[0]
    # experts are parameters without modules, and have no biases
    linear = [layer.self_attn.o_proj] + ([] if hasattr(layer.mlp, "experts") else [layer.mlp.down_proj])
    if any(module.bias is not None for module in linear):
        refuse("biases in the attention's output or the feed-forward part")
    for module in linear:
        if not isinstance(module, nn.Linear) or isinstance(module, LoraLinear):
            refuse(f"linear modules of type {type(module).__name__}")
