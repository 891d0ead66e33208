"""
The parts of a layer. Each goes forward with the sampler's kernels, in its order, and back with the ordinary derivative.

A product and the operation that reads it are one function: what lies between them has no type of its own (see
sampler/product.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..network import attention
from ..network.gate import gated_back
from ..network.linear import add_product
from ..sampler import fused, paged, product
from ..sampler.cache import PAGE
from ..sampler.decoder import Decoder
from . import back
from .layout import Layout

Grads = tuple[Tensor | None, ...]


class Sink:
    """
    Where the gradient of a tensor goes whose rows are those of some parameters: to their float32 sums, or to autograd, which
    gets those of `inputs`.
    """

    def __init__(self, parameters: Sequence[Tensor], totals: dict[Tensor, Tensor]):
        self.parameters = tuple(parameters)
        self.sizes = [p.shape[0] for p in parameters]
        self.totals = [totals.get(p) for p in parameters]
        self.inputs = tuple(p for p, total in zip(self.parameters, self.totals) if total is None)
        first = self.totals[0]
        base = None if first is None else first._base
        together = len(parameters) > 1 and base is not None and all(t is not None and t._base is base for t in self.totals)
        self.whole = base if together and base is not None and base.shape[0] == sum(self.sizes) else None

    def product(self, d: Tensor, x: Tensor) -> Grads:
        """Of a product with x, given the derivative by what it gave."""
        if self.whole is not None:
            add_product(self.whole, d, x)
            return ()
        found: list[Tensor | None] = []
        for p, total, part in zip(self.parameters, self.totals, d.split(self.sizes, 1)):
            if total is not None:
                add_product(total, part, x)
            else:
                found.append((part.t() @ x).to(p.dtype) if p.requires_grad else None)
        return tuple(found)

    def add(self, d: Tensor) -> Grads:
        """The derivative itself, in float32."""
        found: list[Tensor | None] = []
        for p, total, part in zip(self.parameters, self.totals, d.split(self.sizes)):
            if total is not None:
                total.add_(part)
            else:
                found.append(part.to(p.dtype) if p.requires_grad else None)
        return tuple(found)


@dataclass
class Attention:
    """Of layer `number`: what Attend needs besides the hidden states. `by_cudnn`: whose backward pass is used."""

    decoder: Decoder
    number: int
    weights: Sink
    biases: Sink | None
    norms: tuple[Sink, Sink] | None
    by_cudnn: bool

    @property
    def inputs(self) -> list[Tensor]:
        norms = [p for sink in self.norms or () for p in sink.inputs]
        return [*self.weights.inputs, *(self.biases.inputs if self.biases else ()), *norms]


class Attend(torch.autograd.Function):
    """From the hidden states that a layer takes to the attention's output [tokens, heads * size]."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, part: Attention, layout: Layout, *inputs: Tensor) -> Tensor:
        decoder, layer = part.decoder, part.decoder.layers[part.number]
        qkv = product.parts(h, layer.qkv, True)
        keys, values = torch.empty(
            2, layout.pages, decoder.kv, PAGE, decoder.size, dtype=h.dtype, device=h.device
        ).unbind()  # fmt: skip
        q = decoder.queries(part.number, qkv, layout.positions, layout.places, keys, values)
        tokens = h.shape[0]
        # in the order that the backward pass reads them in
        lse = torch.empty(tokens, decoder.heads, dtype=torch.float32, device=h.device)
        if not part.by_cudnn:
            lse = torch.empty(decoder.heads, tokens, dtype=torch.float32, device=h.device).t()
        out = paged.attend(
            q, keys, values, layout.tables, layout.tiles, decoder.scale, window=layer.window, cap=decoder.cap, lse=lse
        )
        raw = None
        if part.norms is not None:
            raw = fused.total(qkv, h.dtype)
            if layer.bias is not None:
                raw = (raw.float() + layer.bias.float()).to(h.dtype)
        ctx.save_for_backward(h, q, layout.packed(keys), layout.packed(values), out, lse, raw)
        ctx.part, ctx.layout = part, layout
        return out.flatten(1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        h, q, k, v, out, lse, raw = ctx.saved_tensors
        part, layout = ctx.part, ctx.layout
        decoder, layer = part.decoder, part.decoder.layers[part.number]
        d_out = grads[0].contiguous().view_as(out)
        d_qkv = back.turned(
            *attend_back(d_out, q, k, v, out, lse, layout, decoder.scale, layer.window, part.by_cudnn),
            decoder.turns[layer.turn], layout.positions,
        )  # fmt: skip
        of_norms: list[Tensor | None] = []
        if part.norms is not None:
            at, size = 0, decoder.size
            for sink, weight, heads in zip(part.norms, (layer.q_norm, layer.k_norm), (decoder.heads, decoder.kv)):
                here = slice(at, at + heads * size)
                x, d = (t[:, here].reshape(-1, size) for t in (raw, d_qkv))
                found, d_weight = back.norm(x, weight, d, None, decoder.eps, decoder.unit)
                d_qkv[:, here] = found.view(-1, heads * size)
                of_norms += sink.add(d_weight)
                at += heads * size
        of_biases = part.biases.add(d_qkv.sum(0, dtype=torch.float32)) if part.biases else ()
        return d_qkv @ layer.qkv, None, None, *part.weights.product(d_qkv, h), *of_biases, *of_norms


def attend_back(
    d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, layout: Layout, scale: float, window: int,
    by_cudnn: bool,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """By queries, keys and values."""
    bounds, longest = layout.bounds, layout.longest
    if by_cudnn and not window:
        return torch.ops.trinity.attend_backward(d_out, q, k, v, out, lse, bounds, longest, scale)
    if q.is_cuda and q.dtype != torch.float32:
        unused = torch.empty(2, dtype=torch.uint64, device=q.device)
        left = window - 1 if window else None
        return torch.ops.aten._flash_attention_backward(
            d_out, q, k, v, out, lse.t(), bounds, bounds, longest, longest, 0.0, True, unused, unused,
            scale=scale, window_size_left=left, window_size_right=None if left is None else 0,
        )  # fmt: skip
    with torch.enable_grad():
        q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
        again = attention.each_sequence(q, k, v, bounds, scale, window or None)
        d_q, d_k, d_v = torch.autograd.grad(again, (q, k, v), d_out)
    return d_q, d_k, d_v


@dataclass
class Step:
    """A product whose result is added to the residual, and the norm of the sum."""

    weight: Tensor
    norm: Tensor
    sink: Sink
    norm_sink: Sink
    eps: float
    unit: float

    @property
    def inputs(self) -> list[Tensor]:
        return [*self.sink.inputs, *self.norm_sink.inputs]


class AddNorm(torch.autograd.Function):
    """The new residual, and its norm."""

    @staticmethod
    def forward(ctx: Any, inner: Tensor, residual: Tensor, step: Step, *inputs: Tensor) -> tuple[Tensor, Tensor]:
        # the sampler adds in place; here the residual before it is still somebody's
        x = residual.clone()
        h = fused.add_norm(product.parts(inner, step.weight, True), x, step.norm, step.eps, step.unit)
        ctx.save_for_backward(inner, x)
        ctx.step = step
        ctx.set_materialize_grads(False)
        return x, h

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Any, ...]:
        inner, x = ctx.saved_tensors
        step = ctx.step
        d_x, d_h = grads
        if d_h is None:
            # a residual that nobody goes on with has no gradient either
            d_h = torch.zeros_like(x)
        d, d_norm = back.norm(x, step.norm, d_h.contiguous(), d_x, step.eps, step.unit)
        of_norm = step.norm_sink.add(d_norm)
        return d @ step.weight, d, None, *step.sink.product(d, inner), *of_norm


class Norm(torch.autograd.Function):
    """`step`: its norm alone."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, sink: Sink, eps: float, unit: float, *inputs: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        ctx.given = weight, sink, eps, unit
        return fused.norm(x, weight, eps, unit)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        (x,) = ctx.saved_tensors
        weight, sink, eps, unit = ctx.given
        d, d_weight = back.norm(x, weight, grads[0].contiguous(), None, eps, unit)
        return d, None, None, None, None, *sink.add(d_weight)


class Gate(torch.autograd.Function):
    """silu(gate) * up of the hidden states' products."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, weight: Tensor, sink: Sink, *inputs: Tensor) -> Tensor:
        parts = product.parts(h, weight, True)
        ctx.save_for_backward(h, fused.total(parts, h.dtype))
        ctx.given = weight, sink
        return fused.gated(parts, h.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        h, both = ctx.saved_tensors
        weight, sink = ctx.given
        d = gated_back(both, grads[0])
        return d @ weight, None, None, *sink.product(d, h)
