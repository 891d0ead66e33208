"""Small models and batches for tests."""

from __future__ import annotations

import os
import tempfile

import torch
from transformers import (
    Gemma2Config, Gemma2ForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM, MistralConfig,
    MistralForCausalLM, Olmo2Config, Olmo2ForCausalLM, Phi3Config, Phi3ForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config,
    Qwen3ForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM, SmolLM3Config, SmolLM3ForCausalLM,
)  # fmt: skip

from trinity_torch.network.rows import Rows

SIZES = dict(
    vocab_size=61, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=128, head_dim=8,
)
# the special tokens of some families lie beyond so small a vocabulary
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
FAMILIES = {
    "llama": (LlamaConfig, LlamaForCausalLM, {}),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM, {"tie_word_embeddings": True}),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM, {}),
    "mistral": (MistralConfig, MistralForCausalLM, {"sliding_window": 9}),
    "windowed": (Qwen2Config, Qwen2ForCausalLM, {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1}),
    "smollm3": (SmolLM3Config, SmolLM3ForCausalLM, {"no_rope_layer_interval": 2, **TOKENS}),
    "olmo2": (Olmo2Config, Olmo2ForCausalLM, TOKENS),
    "phi3": (
        Phi3Config,
        Phi3ForCausalLM,
        {
            "sliding_window": 20,
            "original_max_position_embeddings": 128,
            "rope_parameters": {
                "rope_type": "longrope",
                "rope_theta": 10000.0,
                "partial_rotary_factor": 0.75,
                "short_factor": [1.0, 1.2, 1.5],
                "long_factor": [2.0, 3.0, 4.0],
                "attention_factor": 1.1,
            },
            **TOKENS,
        },
    ),
    "gemma2": (
        Gemma2Config,
        Gemma2ForCausalLM,
        {
            "sliding_window": 9,
            "query_pre_attn_scalar": 5,
            "attn_logit_softcapping": 2.0,
            "final_logit_softcapping": 5.0,
            **TOKENS,
        },
    ),
    "gemma3": (
        Gemma3TextConfig,
        Gemma3ForCausalLM,
        {
            "sliding_window": 9,
            "query_pre_attn_scalar": 5,
            "layer_types": ["sliding_attention", "full_attention"],
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 50000.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
            },
            **TOKENS,
        },
    ),
    "qwen3_moe": (
        Qwen3MoeConfig,
        Qwen3MoeForCausalLM,
        {
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 24,
            "norm_topk_prob": True,
            "mlp_only_layers": [1],
            **TOKENS,
        },
    ),
}


# Rotations that are stretched, each in a family that has it: the family and its configuration.
PHI3_ROPE = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0, 1.1, 1.2, 1.5],
    "long_factor": [2.0, 3.0, 4.0, 5.0],
    "original_max_position_embeddings": 40,
}
STRETCHED = {
    "longrope": ("phi3", {"original_max_position_embeddings": 40, "rope_parameters": PHI3_ROPE}),
    "yarn": (
        "qwen2",
        {
            "rope_parameters": {
                "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32,
            }
        },
    ),
    "dynamic": ("llama", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}}),
}  # fmt: skip

F32 = {"dtype": "float32", "compile": False}


def never() -> bool:
    """No call is cancelled."""
    return False


def small_config(positions: int) -> Qwen2Config:
    """Large enough for every kernel of the sampler."""
    return Qwen2Config(
        vocab_size=1000, hidden_size=256, intermediate_size=512, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=positions, tie_word_embeddings=True,
    )  # fmt: skip


def tiny(family: str, seed: int = 0, **more: object) -> str:
    """A fresh model directory. `more`: of its configuration."""
    config_class, model_class, extra = FAMILIES[family]
    torch.manual_seed(seed)
    model = model_class(config_class(**{**SIZES, **extra, **more}))
    with torch.no_grad():
        for p in model.parameters():
            # wide enough that scores differ visibly between tokens
            p.add_(torch.randn_like(p) * 0.1)
    path = os.path.join(tempfile.mkdtemp(prefix="trinity-torch-"), family)
    model.save_pretrained(path)
    return path


def batch(count: int = 6, seed: int = 1, longest: int = 14, vocabulary: int = 61) -> Rows:
    """Rows of different lengths, starts, masks and temperatures."""
    noise = torch.Generator().manual_seed(seed)
    lengths = torch.randint(3, longest, (count,), generator=noise, dtype=torch.int32)
    starts = torch.tensor([1 + i % int(n - 1) for i, n in enumerate(lengths)], dtype=torch.int32)
    scored = int((lengths - starts).sum())
    return Rows(
        torch.randint(0, vocabulary, (int(lengths.sum()),), generator=noise, dtype=torch.int32),
        lengths,
        starts,
        torch.tensor([1.0 if i % 2 == 0 else 0.7 for i in range(count)]),
        (torch.rand(scored, generator=noise) > 0.2).to(torch.uint8),
        torch.tensor([i // 2 for i in range(count)], dtype=torch.int32),
        {"advantage": torch.randn(scored, generator=noise), "old": -torch.rand(scored, generator=noise) * 4},
        {"reward": torch.randn(count, generator=noise)},
    )


def node(op: str, *operands: int, **more: object) -> dict:
    return {"op": op, **({"in": list(operands)} if operands else {}), **more}


# of a critic whose values should be 0
SQUARED = {
    "version": 1,
    "nodes": [{"op": "score", "name": "value"}, {"op": "mul", "in": [0, 0]}, {"op": "total", "in": [1]}],
    "loss": 2,
    "metrics": [],
}

# clipped policy gradient with a little entropy, as docs/loss-graph.md writes it
CLIPPED = {
    "version": 1,
    "nodes": [
        node("score", name="logprob"),  # 0
        node("column", name="old", shape="token"),
        node("sub", 0, 1),
        node("exp", 2),  # 3 ratio
        node("column", name="advantage", shape="token"),
        node("mul", 4, 3),  # 5
        node("const", value=0.8),
        node("const", value=1.2),
        node("clamp", 3, 6, 7),
        node("mul", 4, 8),
        node("min", 5, 9),  # 10
        node("score", name="entropy"),
        node("const", value=0.01),
        node("mul", 11, 12),
        node("add", 10, 13),
        node("neg", 14),
        node("total", 15),
        node("norm", name="tokens"),
        node("div", 16, 17),
    ],
    "loss": 18,
    "metrics": [
        {"name": "ratio", "value": 3, "reduce": "mean"},
        {"name": "top", "value": 3, "reduce": "max"},
        {"name": "entropy", "value": 11, "reduce": "mean"},
    ],
}
