"""
The forward pass of the families below over flat batches of tokens.

It reads the very tensors that the modules of Transformers hold: weights that are multiplied with the same input lie one
after the other in one tensor, and the modules' parameters are views of its rows. So a trainer that changes its parameters
in place has changed the sampler's weights as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..errors import WorkerError
from ..network.linear import joined
from ..network.lora_modules import LoraLinear
from . import fused, product

if TYPE_CHECKING:
    from .split import Split

FAMILIES = ("llama", "qwen2", "qwen3", "mistral", "smollm3")
ROPES = ("default", "linear", "llama3", "yarn")


@dataclass
class Layer:
    before: Tensor  # norm
    qkv: Tensor
    bias: Tensor | None
    q_norm: Tensor | None
    k_norm: Tensor | None
    o: Tensor
    after: Tensor  # norm
    gate_up: Tensor
    down: Tensor
    turned: bool  # whether queries and keys are rotated
    window: int  # tokens that it sees, its own included; 0: all


# From [q; k; v] of a layer (by number) to the attention's output [tokens, heads * size].
Attend = Callable[[int, Tensor], Tensor]


class Decoder:
    """
    `hf`: a causal language model of Transformers whose parameters have their final type and device. `split`: it is a part of
    one, and other ranks have the others.
    """

    def __init__(self, hf: Any, max_len: int, exact: bool, split: Split | None = None):
        check(hf)
        config = hf.config
        self.split = split
        self.exact = exact
        self.max_len = max_len
        self.hidden: int = config.hidden_size
        self.heads: int = config.num_attention_heads
        self.kv: int = config.num_key_value_heads
        self.size: int = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self.scale = self.size**-0.5
        self.eps: float = config.rms_norm_eps
        self.vocabulary: int = config.vocab_size
        # every parameter with the place that this decoder reads it from
        self.places: list[tuple[nn.Parameter, Tensor]] = []
        base: Any = hf.base_model
        self.embedding = self._own(base.embed_tokens.weight)
        self.layers = [self._layer(layer, window) for layer, window in zip(base.layers, windows(config))]
        self.last = self._own(base.norm.weight)
        output = hf.get_output_embeddings().weight
        self.head = self.embedding if output is base.embed_tokens.weight else self._own(output)
        self.dtype, self.device = self.embedding.dtype, self.embedding.device
        angles = torch.outer(torch.arange(max_len, dtype=torch.float32), base.rotary_emb.inv_freq.float().cpu())
        strength = float(getattr(base.rotary_emb, "attention_scaling", 1.0))
        # in the type of the model, as Transformers rounds them
        put = lambda x: (x * strength).to(self.device, self.dtype).contiguous()  # noqa: E731
        self.turn: tuple[Tensor, Tensor] = (put(angles.cos()), put(angles.sin()))
        # for layers without positions
        still = (torch.ones_like(self.turn[0]), torch.zeros_like(self.turn[1]))
        self.still: tuple[Tensor, Tensor] = self.turn if all(layer.turned for layer in self.layers) else still

    def body(self, ids: Tensor, attend: Attend) -> Tensor:
        """Hidden states [tokens, hidden] after the last norm."""
        x = F.embedding(ids, self.embedding)
        h = fused.norm(x, self.layers[0].before, self.eps)
        for i, layer in enumerate(self.layers):
            mixed = attend(i, product.parts(h, layer.qkv, self.exact))
            h = fused.add_norm(self._sum(mixed, layer.o), x, layer.after, self.eps)
            inner = fused.gated(product.parts(h, layer.gate_up, self.exact), self.dtype)
            following = self.layers[i + 1].before if i + 1 < len(self.layers) else self.last
            h = fused.add_norm(self._sum(inner, layer.down), x, following, self.eps)
        return h

    def logits(self, hidden: Tensor) -> Tensor:
        if self.split is None:
            return product.logits(hidden, self.head, self.exact)
        return self.split.join(product.logits(hidden, self.split.rows(self.head), self.exact), self.vocabulary)

    def _sum(self, x: Tensor, weight: Tensor) -> Tensor:
        """The product with a weight that ranks have parts of the columns of."""
        own = product.parts(x, weight, self.exact)
        return own if self.split is None else self.split.total(own)

    def queries(self, i: int, qkv: Tensor, positions: Tensor, places: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        layer = self.layers[i]
        turn = self.turn if layer.turned else self.still
        return fused.rope_write(
            qkv, layer.bias, layer.q_norm, layer.k_norm, self.eps, turn, positions, places, keys, values, self.heads
        )

    def refresh(self) -> None:
        """Somebody may have given a parameter other memory: its numbers come here, and it reads them from here."""
        for parameter, place in self.places:
            if parameter.data_ptr() != place.data_ptr():
                place.copy_(parameter.data)
                parameter.data = place

    def bytes(self) -> int:
        return sum(place.nbytes for _, place in self.places)

    def _layer(self, layer: Any, window: int) -> Layer:
        attention, mlp = layer.self_attn, layer.mlp
        three = [attention.q_proj, attention.k_proj, attention.v_proj]
        return Layer(
            self._own(layer.input_layernorm.weight),
            self._own(*(m.weight for m in three)),
            None if three[0].bias is None else self._own(*(m.bias for m in three)),
            self._own(attention.q_norm.weight) if hasattr(attention, "q_norm") else None,
            self._own(attention.k_norm.weight) if hasattr(attention, "k_norm") else None,
            self._own(attention.o_proj.weight),
            self._own(layer.post_attention_layernorm.weight),
            self._own(mlp.gate_proj.weight, mlp.up_proj.weight),
            self._own(mlp.down_proj.weight),
            bool(getattr(attention, "use_rope", True)),
            window,
        )

    def _own(self, *parameters: nn.Parameter) -> Tensor:
        """One tensor that holds the rows of all of them, and that they become views of."""
        first = parameters[0].data
        whole = joined(parameters) if len(parameters) > 1 else first
        at = 0
        for parameter in parameters:
            rows = parameter.shape[0]
            parameter.data = whole[at : at + rows]
            self.places.append((parameter, parameter.data))
            at += rows
        return whole


def windows(config: Any) -> list[int]:
    """Of each layer how many tokens it sees; 0: all."""
    layers, window = config.num_hidden_layers, getattr(config, "sliding_window", None) or 0
    if config.model_type == "mistral":
        return [window] * layers
    types = getattr(config, "layer_types", None) or ["full_attention"] * layers
    return [window if kind == "sliding_attention" else 0 for kind in types]


def check(hf: Any) -> None:
    """Refuses what this decoder would compute wrongly."""
    config = hf.config

    def refuse(what: str) -> None:
        raise WorkerError(
            "engine/unsupported",
            f"the torch sampler does not know {what}",
            f"models of these families can be sampled: {', '.join(FAMILIES)}; others can be trained and scored",
        )

    kind = config.model_type
    if kind not in FAMILIES:
        refuse(f"models of type '{kind}' (it knows {', '.join(FAMILIES)})")
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    if rope.get("rope_type", "default") not in ROPES:
        refuse(f"rotary embeddings of type '{rope['rope_type']}' (it knows {', '.join(ROPES)})")
    for layer_type in getattr(config, "layer_types", None) or []:
        if layer_type not in ("full_attention", "sliding_attention"):
            refuse(f"layers of type '{layer_type}'")
    if config.hidden_act != "silu":
        refuse(f"the activation '{config.hidden_act}'")
    layer = hf.base_model.layers[0]
    if layer.self_attn.o_proj.bias is not None or layer.mlp.down_proj.bias is not None:
        refuse("biases in the attention's output or the feed-forward part")
    for module in (layer.self_attn.q_proj, layer.mlp.up_proj):
        if not isinstance(module, nn.Linear) or isinstance(module, LoraLinear):
            refuse(f"linear modules of type {type(module).__name__}")
