"""Texts to tokens with the package tokenizers (Rust), the peer of the tokenizer's benchmark.

    {"cmd": "open", "tokenizer": FILE, "texts": FILE}  -> texts
    {"cmd": "run", "repeat": 1}  -> tokens

`texts` is a JSON list. One call for each text, as a rollout makes them: batches would be spread over threads.
"""

import json

from protocol import serve
from tokenizers import Tokenizer

state = {}


def open_files(tokenizer, texts):
    state["tokenizer"] = Tokenizer.from_file(tokenizer)
    with open(texts) as file:
        state["texts"] = json.load(file)
    return {"texts": len(state["texts"])}


def run(repeat=1):
    encode = state["tokenizer"].encode
    return {"tokens": sum(len(encode(text, add_special_tokens=False).ids) for _ in range(repeat) for text in state["texts"])}


if __name__ == "__main__":
    serve({"open": open_files, "run": run})
