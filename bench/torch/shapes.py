"""Shapes of published models with random weights, and batches for them."""

from __future__ import annotations

import os
import sys

import torch
from transformers import AutoModelForCausalLM, Qwen2Config

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

from trinity_torch.network import attention  # noqa: E402
from trinity_torch.network.rows import Rows  # noqa: E402
from trinity_torch.network.transformer import Network  # noqa: E402

# hidden, layers, heads, kv heads, intermediate, tied
SHAPES = {
    "0.5b": (896, 24, 14, 2, 4864, True),
    "1.5b": (1536, 28, 12, 2, 8960, True),
    "7b": (3584, 28, 28, 4, 18944, False),
    "tiny": (128, 2, 4, 2, 192, True),
}
VOCABULARY = 151936


def config_of(name: str) -> Qwen2Config:
    hidden, layers, heads, kv, intermediate, tied = SHAPES[name]
    return Qwen2Config(
        vocab_size=VOCABULARY if name != "tiny" else 512,
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv,
        max_position_embeddings=32768,
        tie_word_embeddings=tied,
        rope_theta=1e6,
    )


def network_of(name: str, device: str) -> Network:
    torch.manual_seed(0)
    with torch.device(device):
        hf = AutoModelForCausalLM.from_config(config_of(name), dtype=torch.float32, attn_implementation=attention.NAME)
    hf.train()
    return Network(hf, "lm")


def parameters_of(name: str) -> int:
    """A tied head counts once."""
    hidden, layers, heads, kv, intermediate, tied = SHAPES[name]
    size = hidden // heads
    layer = hidden * (heads + 2 * kv) * size + (heads + 2 * kv) * size + hidden * hidden + 3 * hidden * intermediate + 2 * hidden
    vocabulary = config_of(name).vocab_size
    return layers * layer + hidden + vocabulary * hidden * (1 if tied else 2)


def operations_of(name: str, lora: int = 0) -> int:
    """Of training on one token; a frozen weight has no gradient."""
    return (4 if lora else 6) * parameters_of(name)


def rows_of(tokens: int, vocabulary: int, seed: int = 1, shortest: int = 128, longest: int = 2048) -> Rows:
    """About `tokens` tokens in rows of varying lengths; every token but the first is scored."""
    noise = torch.Generator().manual_seed(seed)
    lengths: list[int] = []
    while sum(lengths) < tokens:
        n = int(torch.randint(shortest, longest + 1, (1,), generator=noise))
        lengths.append(min(n, tokens - sum(lengths)) if tokens - sum(lengths) > shortest else n)
    sizes = torch.tensor(lengths, dtype=torch.int32)
    scored = int(sizes.sum()) - len(lengths)
    return Rows(
        torch.randint(0, vocabulary, (int(sizes.sum()),), generator=noise, dtype=torch.int32),
        sizes,
        torch.ones_like(sizes),
        torch.ones(len(lengths)),
        torch.ones(scored, dtype=torch.uint8),
        torch.arange(len(lengths), dtype=torch.int32),
        {"old": -torch.rand(scored, generator=noise) * 2 - 11, "advantage": torch.randn(scored, generator=noise)},
        {},
    )
