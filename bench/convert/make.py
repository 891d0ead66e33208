"""A checkpoint of about a gigabyte in float32: make.py DIR MEGABYTES writes DIR/bin (pytorch_model.bin) and DIR/fsdp (two ranks)."""

import os
import sys

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM


def shards(state, ranks):
    """Rows of every tensor dealt to the ranks, as FSDP saves them where each has its own."""
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor, Shard

    for rank in range(ranks):
        torch.distributed.init_process_group("fake", rank=rank, world_size=ranks)
        mesh = DeviceMesh("cpu", list(range(ranks)), mesh_dim_names=("fsdp",))
        parts = {}
        for name, value in state.items():
            rows = value.chunk(ranks)
            own = rows[rank].clone() if rank < len(rows) else value[:0].clone()
            parts[name] = DTensor.from_local(own, mesh, [Shard(0)], run_check=False, shape=value.shape, stride=value.stride())
        yield rank, parts
        torch.distributed.destroy_process_group()


def main(folder, megabytes):
    from torch.testing._internal.distributed.fake_pg import FakeStore  # noqa: F401  registers the group that talks to nobody

    vocabulary = 60_000
    hidden = 1024
    layers = max(1, round((int(megabytes) * 1e6 / 4 - vocabulary * hidden) / 12.6e6))
    config = Qwen2Config(
        vocab_size=vocabulary, hidden_size=hidden, intermediate_size=2816, num_hidden_layers=layers, num_attention_heads=16,
        num_key_value_heads=16, tie_word_embeddings=True, architectures=["Qwen2ForCausalLM"],
    )  # fmt: skip
    torch.manual_seed(0)
    state = Qwen2ForCausalLM(config).state_dict()
    state.pop("lm_head.weight")
    for name in ("bin", "fsdp"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        config.save_pretrained(os.path.join(folder, name))
    torch.save(state, os.path.join(folder, "bin", "pytorch_model.bin"))
    real = torch.distributed.init_process_group
    torch.distributed.init_process_group = lambda *a, **k: real(*a, store=FakeStore(), **k)
    for rank, parts in shards(state, 2):
        torch.save(parts, os.path.join(folder, "fsdp", f"model_world_size_2_rank_{rank}.pt"))


main(*sys.argv[1:])
