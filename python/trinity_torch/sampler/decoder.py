"""
The forward pass of the families below over flat batches of tokens.

It reads the very tensors that the modules of Transformers hold: weights that are multiplied with the same input lie one
after the other in one tensor, and the modules' parameters are views of its rows. So a trainer that changes its parameters
in place has changed the sampler's weights as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..network.linear import joined
from . import few, fused, product
from .experts import Experts, feed
from .family import check, turns, windows

if TYPE_CHECKING:
    from .split import Split


@dataclass
class Around:
    """Norms of what a part of a layer takes, and of what it gives."""

    before: Tensor | None
    after: Tensor | None


@dataclass
class Dense:
    """A feed-forward part that every token goes through whole."""

    gate_up: Tensor
    down: Tensor


@dataclass
class Layer:
    attention: Around
    feed: Around
    qkv: Tensor
    bias: Tensor | None
    q_norm: Tensor | None
    k_norm: Tensor | None
    o: Tensor
    fed: Dense | Experts
    turn: str  # which rotation of queries and keys it has
    window: int  # tokens that it sees, its own included; 0: all


class Plain(NamedTuple):
    """A layer whose parts take a norm of `x`, these two, and add to it what they make of that."""

    attention: Tensor
    feed: Tensor
    fed: Dense


# From queries of layer i, its keys and its values to the attention's output [tokens, heads * size].
Attention = Callable[[int, Tensor, Tensor, Tensor], Tensor]


@dataclass
class Pass:
    """
    What a pass over some tokens takes beside them: their positions, the places of their keys and values in the cache, the cache of each
    layer, and how they attend to it.
    """

    positions: Tensor
    places: Tensor
    keys: Tensor
    values: Tensor
    attend: Attention


class Decoder:
    """
    `hf`: a causal language model of Transformers whose parameters have their final type and device. `split`: it is a part of
    one, and other ranks have the others.
    """

    def __init__(self, hf: Any, max_len: int, exact: bool, split: Split | None = None):
        check(hf, max_len)
        config = hf.config
        self.split = split
        self.exact = exact
        self.max_len = max_len
        self.hidden: int = config.hidden_size
        self.heads: int = config.num_attention_heads
        self.kv: int = config.num_key_value_heads
        self.size: int = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        base: Any = hf.base_model
        self.scale: float = base.layers[0].self_attn.scaling
        gemma = config.model_type.startswith("gemma")
        # added to the weights of norms
        self.unit = 1.0 if gemma else 0.0
        self.gelu = gemma
        self.cap: float = (config.attn_logit_softcapping or 0.0) if config.model_type == "gemma2" else 0.0
        self.logit_cap: float = getattr(config, "final_logit_softcapping", None) or 0.0
        self.eps: float = config.rms_norm_eps
        self.vocabulary: int = config.vocab_size
        # every parameter with the place that this decoder reads it from
        self.places: list[tuple[nn.Parameter, Tensor]] = []
        self.embedding = self._own(base.embed_tokens.weight)
        kinds = getattr(config, "layer_types", None) or [""] * config.num_hidden_layers
        self.layers = [self._layer(*one) for one in zip(base.layers, windows(config), kinds)]
        self.last = self._own(base.norm.weight)
        output = hf.get_output_embeddings().weight
        self.head = self.embedding if output is base.embed_tokens.weight else self._own(output)
        self.dtype, self.device = self.embedding.dtype, self.embedding.device
        # as Transformers rounds it
        self.embed_scale = float(torch.tensor(self.hidden**0.5).to(self.dtype)) if gemma else 1.0
        self._plain = [own for layer in self.layers if (own := plain_of(layer)) is not None]
        weights = [w for layer, own in zip(self.layers, self._plain) for w in (layer.qkv, layer.o, own.fed.gate_up, own.fed.down)]
        able = not exact and split is None and not gemma and len(self._plain) == len(self.layers) and few.fits(weights)
        self._few = few.Few(self.device, self.hidden) if able else None
        self.turns = turns(base.rotary_emb, {layer.turn for layer in self.layers}, max_len, self.device, self.dtype)

    def body(self, ids: Tensor, given: Pass) -> Tensor:
        """Hidden states [tokens, hidden] after the last norm."""
        x = F.embedding(ids, self.embedding)
        if self.embed_scale != 1.0:
            x *= self.embed_scale
        return self._body_of_few(self._few, x, given) if self._few is not None and self._few.serves(x) else self._body(x, given)

    def _body(self, x: Tensor, given: Pass) -> Tensor:
        first = self.layers[0].attention.before
        h = x if first is None else fused.norm(x, first, self.eps, self.unit)
        for i, layer in enumerate(self.layers):
            mixed = self._mix(i, product.parts(h, layer.qkv, self.exact), given)
            h = self._add(self._sum(mixed, layer.o), x, layer.attention.after, layer.feed.before)
            following = self.layers[i + 1].attention.before if i + 1 < len(self.layers) else self.last
            h = self._add(self._feed(h, layer.fed), x, layer.feed.after, following)
        return h

    def _mix(self, i: int, qkv: Tensor, given: Pass) -> Tensor:
        keys, values = given.keys[i], given.values[i]
        return given.attend(i, self.queries(i, qkv, given.positions, given.places, keys, values), keys, values)

    def _body_of_few(self, kernels: few.Few, x: Tensor, given: Pass) -> Tensor:
        """The same with fewer kernels."""
        plain = self._plain
        h = kernels.begin(x, plain[0].attention)
        for i, (layer, own) in enumerate(zip(self.layers, plain)):
            keys, values = given.keys[i], given.values[i]
            turn = self.turns[layer.turn]
            if layer.q_norm is None and 2 * turn[0].shape[1] == self.size:
                q = kernels.queries(
                    h, layer.qkv, layer.bias, turn, given.positions, given.places, keys, values, self.heads, self.eps
                )
                mixed = given.attend(i, q, keys, values)
            else:
                before = fused.norm(x, own.attention, self.eps)
                mixed = self._mix(i, product.parts(before, layer.qkv, False), given)
            h = kernels.add(mixed, layer.o, x, own.feed)
            inner = kernels.gated(h, own.fed.gate_up, self.eps)
            following = plain[i + 1].attention if i + 1 < len(plain) else self.last
            h = kernels.add(inner, own.fed.down, x, following)
        return fused.norm(x, self.last, self.eps)

    def _feed(self, h: Tensor, part: Dense | Experts) -> Tensor:
        if isinstance(part, Experts):
            return feed(h, part, self.exact)[None]
        inner = fused.gated(product.parts(h, part.gate_up, self.exact), self.dtype, self.gelu)
        return self._sum(inner, part.down)

    def _add(self, parts: Tensor, x: Tensor, after: Tensor | None, following: Tensor | None) -> Tensor:
        """Adds what a part of a layer gives, or its norm, to `x` in place; what the next part takes."""
        if after is not None:
            parts = fused.norm(fused.total(parts, self.dtype), after, self.eps, self.unit)[None]
        if following is None:
            x += fused.total(parts, self.dtype)
            return x
        return fused.add_norm(parts, x, following, self.eps, self.unit)

    def logits(self, hidden: Tensor) -> Tensor:
        if self.split is None:
            found = product.logits(hidden, self.head, self.exact)
        else:
            found = self.split.join(product.logits(hidden, self.split.rows(self.head), self.exact), self.vocabulary)
        return torch.tanh(found / self.logit_cap) * self.logit_cap if self.logit_cap else found

    def _sum(self, x: Tensor, weight: Tensor) -> Tensor:
        """The product with a weight that ranks have parts of the columns of."""
        own = product.parts(x, weight, self.exact)
        return own if self.split is None else self.split.total(own)

    def queries(self, i: int, qkv: Tensor, positions: Tensor, places: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        layer = self.layers[i]
        q_norm, k_norm = layer.q_norm, layer.k_norm
        if q_norm is not None and k_norm is not None and q_norm.numel() != self.size:
            qkv = self._norm_whole(fused.total(qkv, self.dtype), q_norm, k_norm)[None]
            q_norm = k_norm = None
        turn = self.turns[layer.turn]
        return fused.rope_write(
            qkv, layer.bias, q_norm, k_norm, self.eps, turn, positions, places, keys, values, self.heads, self.unit
        )

    def _norm_whole(self, qkv: Tensor, q_norm: Tensor, k_norm: Tensor) -> Tensor:
        """Queries and keys normed over all their heads together."""
        q, k, v = qkv.split((q_norm.numel(), k_norm.numel(), k_norm.numel()), 1)
        q, k = (fused.norm(x.contiguous(), w, self.eps) for x, w in ((q, q_norm), (k, k_norm)))
        return torch.cat([q, k, v], 1)

    def refresh(self) -> None:
        """Somebody may have given a parameter other memory: its numbers come here, and it reads them from here."""
        for parameter, place in self.places:
            if parameter.data_ptr() != place.data_ptr():
                place.copy_(parameter.data)
                parameter.data = place

    def bytes(self) -> int:
        return sum(place.nbytes for _, place in self.places)

    def _layer(self, layer: Any, window: int, kind: str) -> Layer:
        attention = layer.self_attn
        three = modules(attention, "qkv_proj", "q_proj", "k_proj", "v_proj")
        attention_norms, feed_norms = self._norms(layer)
        return Layer(
            attention_norms,
            feed_norms,
            self._own(*(m.weight for m in three)),
            None if three[0].bias is None else self._own(*(m.bias for m in three)),
            self._norm(attention, "q_norm"),
            self._norm(attention, "k_norm"),
            self._own(attention.o_proj.weight),
            self._fed(layer.mlp),
            kind if getattr(attention, "use_rope", True) else "none",
            window,
        )

    def _fed(self, mlp: Any) -> Dense | Experts:
        if hasattr(mlp, "experts"):
            gate, experts = mlp.gate, mlp.experts
            router, gate_up, down = (self._own(p) for p in (gate.weight, experts.gate_up_proj, experts.down_proj))
            return Experts(router, gate_up, down, gate.top_k, gate.norm_topk_prob)
        halves = modules(mlp, "gate_up_proj", "gate_proj", "up_proj")
        return Dense(self._own(*(m.weight for m in halves)), self._own(mlp.down_proj.weight))

    def _norms(self, layer: Any) -> tuple[Around, Around]:
        norm = lambda name: self._norm(layer, name + "_layernorm")  # noqa: E731
        if not hasattr(layer, "post_feedforward_layernorm"):
            return Around(norm("input"), None), Around(norm("post_attention"), None)
        return Around(norm("input"), norm("post_attention")), Around(norm("pre_feedforward"), norm("post_feedforward"))

    def _norm(self, owner: Any, name: str) -> Tensor | None:
        found = getattr(owner, name, None)
        return None if found is None else self._own(found.weight)

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


def plain_of(layer: Layer) -> Plain | None:
    attention, feeds, fed = layer.attention, layer.feed, layer.fed
    if attention.before is None or feeds.before is None or not isinstance(fed, Dense):
        return None
    return Plain(attention.before, feeds.before, fed) if attention.after is None and feeds.after is None else None


def modules(owner: Any, joint: str, *apart: str) -> list[Any]:
    """The module that holds a product whole, or those that hold its parts."""
    return [getattr(owner, joint)] if hasattr(owner, joint) else [getattr(owner, name) for name in apart]
