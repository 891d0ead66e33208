"""Writes a model directory in a published shape with random weights: python3 bench/torch/make.py SHAPE FOLDER

Its tokenizer has one token per byte, so that prompts have as many tokens as letters; the rest of the vocabulary are words
that a sample may hold and no text is cut into.
"""

import json
import os
import sys

import torch
from shapes import config_of
from transformers import AutoModelForCausalLM

SPECIAL = ["<|end|>", "<|user|>", "<|assistant|>"]
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def byte_letters() -> list[str]:
    """A printable letter for each byte, as byte-level vocabularies have them."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    letters = {byte: chr(byte) for byte in shown} | {byte: chr(256 + i) for i, byte in enumerate(hidden)}
    return [letters[byte] for byte in range(256)]


def write_tokenizer(folder: str, size: int) -> None:
    known = [*SPECIAL, *byte_letters()]
    vocabulary = [*known, *(f"word{i}" for i in range(size - len(known)))]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [{"id": i, "content": s, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for i, s in enumerate(SPECIAL)],
        "normalizer": None, "pre_tokenizer": level, "post_processor": None, "decoder": level,
        "model": {"type": "BPE", "vocab": {token: i for i, token in enumerate(vocabulary)}, "merges": []},
    }  # fmt: skip
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": SPECIAL[0], "chat_template": TEMPLATE}
    for name, content in (("tokenizer.json", tokenizer), ("tokenizer_config.json", config)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(content, file)


if __name__ == "__main__":
    shape, folder = sys.argv[1:3]
    torch.manual_seed(0)
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = AutoModelForCausalLM.from_config(config_of(shape), dtype=torch.bfloat16)
    model.config.eos_token_id = 0
    model.save_pretrained(folder)
    write_tokenizer(folder, model.config.vocab_size)
    print(os.path.abspath(folder))
