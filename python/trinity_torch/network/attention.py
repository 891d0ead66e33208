"""Attention over sequences that lie end to end in one row, as an attention function of Transformers."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AttentionInterface

from . import cudnn_attention, ulysses

NAME = "trinity"
# the same with cuDNN's kernels, for models that they serve
CUDNN_NAME = "trinity_cudnn"


def packed_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    bounds: Tensor | None = None,
    longest: int = 0,
    sequence_group: dist.ProcessGroup | None = None,
    by_cudnn: bool = False,
    **_: Any,
) -> tuple[Tensor, None]:
    """
    query, key, value: [1, heads, T, size]; a token sees the tokens before it between the same two bounds. Ranks of a
    sequence group have T tokens each of the sequences that the bounds are of.
    """
    assert bounds is not None, "the model was called without the bounds of its sequences"
    # not x[0], whose way back would be a copy
    q, k, v = (x.squeeze(0).transpose(0, 1) for x in (query, key, value))
    if sequence_group is not None:
        q, k, v = ulysses.to_heads(q, k, v, sequence_group)
    if softcap is not None:
        # no kernel of PyTorch caps scores
        out = each_sequence(q, k, v, bounds, scaling, sliding_window, softcap)
    elif by_cudnn and sliding_window is None and scaling is not None:
        out = cudnn_attention.attend(q, k, v, bounds, longest, scaling)
    elif q.is_cuda and q.dtype in (torch.bfloat16, torch.float16):
        left = None if sliding_window is None else sliding_window - 1
        out = torch.ops.aten._flash_attention_forward(
            q, k, v, bounds, bounds, longest, longest, 0.0, True, False,
            scale=scaling, window_size_left=left, window_size_right=None if left is None else 0,
        )[0]
    else:
        out = each_sequence(q, k, v, bounds, scaling, sliding_window)
    if sequence_group is not None:
        out = ulysses.to_tokens(out, sequence_group)
    return out[None], None


def each_sequence(
    q: Tensor, k: Tensor, v: Tensor, bounds: Tensor, scaling: float | None, window: int | None, cap: float | None = None
) -> Tensor:
    """The same, one sequence at a time: where there is no kernel for it, as on the CPU, in float32, with capped scores."""
    ends = bounds.tolist()
    parts = []
    for a, b in zip(ends, ends[1:]):
        if a == b:
            continue
        qs, ks, vs = (x[a:b].transpose(0, 1)[None] for x in (q, k, v))
        mask = None
        if cap is not None or (window is not None and window < b - a):
            at = torch.arange(b - a, device=q.device)
            mask = (at[:, None] >= at) & (at[:, None] - at < (window or b - a))
        if cap is not None:
            assert mask is not None
            parts.append(capped(qs[0], ks[0], vs[0], mask, scaling or q.shape[-1] ** -0.5, cap).transpose(0, 1))
            continue
        parts.append(
            F.scaled_dot_product_attention(
                qs, ks, vs, attn_mask=mask, is_causal=mask is None, scale=scaling, enable_gqa=True
            )[0].transpose(0, 1)
        )
    return torch.cat(parts)


def capped(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float, cap: float) -> Tensor:
    """[heads, T, size], of k and v fewer heads: scores become cap · tanh(score / cap)."""
    k, v = (x.repeat_interleave(q.shape[0] // k.shape[0], 0) for x in (k, v))
    scores = torch.tanh(q @ k.transpose(1, 2) * (scale / cap)) * cap
    return scores.float().masked_fill(~mask, float("-inf")).softmax(-1).to(q.dtype) @ v


# Parameters of a layer from which on cuDNN's attention is the faster one. Starting it takes the CPU 0.1 ms longer than PyTorch's,
# and a GPU has the layers of small models computed before the CPU has started them.
CUDNN_FROM = 30_000_000


def choose(hf: Any, layer: nn.Module, device: torch.device, dtype: torch.dtype, recorded: bool = False) -> None:
    """The fastest attention for a model of such layers, before they are compiled. `recorded`: starting it takes no time."""
    if not recorded and sum(p.numel() for p in layer.parameters()) < CUDNN_FROM:
        return
    config = hf.config.get_text_config()
    heads = config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    if cudnn_attention.usable(device, dtype, heads, getattr(config, "num_key_value_heads", None) or heads, size):
        hf.set_attn_implementation(CUDNN_NAME)


AttentionInterface.register(NAME, packed_attention)
AttentionInterface.register(CUDNN_NAME, partial(packed_attention, by_cudnn=True))
