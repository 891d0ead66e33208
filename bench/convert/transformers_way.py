"""The same by PyTorch and Transformers: transformers_way.py DIR OUT loads a directory with pytorch_model.bin, or joins two ranks of FSDP, and saves it as bf16."""

import os
import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM

folder, out = sys.argv[1:]
first = os.path.join(folder, "model_world_size_2_rank_0.pt")
if os.path.exists(first):
    ranks = [torch.load(os.path.join(folder, f"model_world_size_2_rank_{rank}.pt"), weights_only=False) for rank in range(2)]
    state = {name: torch.cat([rank[name]._local_tensor.to(torch.bfloat16) for rank in ranks]) for name in ranks[0]}
    del ranks
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder), dtype=torch.bfloat16)
    model.save_pretrained(out, state_dict=state)
else:
    AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).save_pretrained(out)
