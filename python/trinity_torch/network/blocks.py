"""Modules of Transformers that take products of several modules whole, where these are one product (linear.py)."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from torch import Tensor, nn
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from .gate import gated
from .turn import turned

# What a feed-forward part computes, in the source of its class.
FED = "self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))"
SILU = ("SiLU", "SiLUActivation")
# Attention of nothing but products, a rotation of whole heads and the attention itself; the window that each has.
ATTENTION = {
    "LlamaAttention": lambda module: None,
    "MistralAttention": lambda module: getattr(module.config, "sliding_window", None),
    "Qwen2Attention": lambda module: module.sliding_window,
}


class Fed:
    """Of a feed-forward part whose gate_proj leads."""

    def forward(self: Any, x: Tensor) -> Tensor:
        both = self.gate_proj.whole(x)
        return self.down_proj(gated(both.flatten(0, -2)).unflatten(0, x.shape[:-1]))


class Attends:
    """Of an attention whose q_proj leads."""

    def forward(
        self: Any,
        hidden_states: Tensor,
        position_embeddings: tuple[Tensor, Tensor],
        attention_mask: Any = None,
        past_key_values: Any = None,
        **more: Any,
    ) -> tuple[Tensor, None]:
        cos, sin = position_embeddings
        heads, kv = (m.out_features // self.head_dim for m in (self.q_proj, self.k_proj))
        three = turned(self.q_proj.whole(hidden_states).flatten(0, 1), cos[0], sin[0], heads, kv)
        attend = ALL_ATTENTION_FUNCTIONS[self.config._attn_implementation]
        q, k, v = (x.transpose(0, 1)[None] for x in three)
        out, _ = attend(self, q, k, v, attention_mask, scaling=self.scaling, sliding_window=self.window, **more)
        return self.o_proj(out.flatten(2)), None


@cache
def _made(how: Any, kind: Any) -> Any:
    """The same class for all layers, so that they are compiled once."""
    return type(kind.__name__, (how, kind), {})


def take_whole(parent: nn.Module) -> None:
    """A module whose modules are one product now takes it as it is, where it is known how to."""
    kind: Any = type(parent)
    found: type | None = None
    if hasattr(parent, "gate_proj"):
        silu = type(getattr(parent, "act_fn", None)).__name__ in SILU
        found = Fed if silu and _is_fed(kind) else None
    elif kind.__name__ in ATTENTION and _turns_whole_heads(parent.config):
        found = Attends
        parent.window = ATTENTION[kind.__name__](parent)
    if found is not None:
        parent.__class__ = _made(found, kind)


def _is_fed(kind: Any) -> bool:
    """It computes that and nothing behind it."""
    text = "".join(inspect.getsource(kind.forward).split())
    wanted = "".join(FED.split())
    return text.endswith((f"return{wanted}", f"down_proj={wanted}returndown_proj"))


def _turns_whole_heads(config: Any) -> bool:
    rope = getattr(config, "rope_parameters", None) or {}
    return rope.get("partial_rotary_factor", 1.0) == 1.0 and getattr(config, "partial_rotary_factor", 1.0) == 1.0
