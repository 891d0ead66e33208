"""Sampling with transformers.generate, the peer of the native engine's sampling benchmark.

    {"cmd": "open", "model": DIR, "threads": 2, "attention": "sdpa", "dtype": "float32"}  -> parameters
    {"cmd": "run", "batch": 64, "prompt": 32, "new": 32}  -> seconds, tokens_per_s

All prompts have the same length (no padding work), end tokens do not stop, temperature 1 without truncation, key/value
cache on. tokens_per_s counts new tokens only. With "logprobs": true the log-probs of the drawn tokens are computed as
well (generate keeps the logits of every step for that): what a reinforcement-learning sampler has to deliver.
"""

import time

import torch
from protocol import serve
from transformers import AutoModelForCausalLM

state = {}


def open_model(model, threads=2, seed=0, attention="sdpa", dtype="float32"):
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    net = AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, dtype), attn_implementation=attention).eval()
    state["net"] = net
    return {"parameters": sum(p.numel() for p in net.parameters()), "torch": torch.__version__, "threads": threads}


def run(batch, prompt, new, seed=1, logprobs=False):
    net = state["net"]
    random = torch.Generator().manual_seed(seed)
    tokens = torch.randint(net.config.vocab_size, (batch, prompt), generator=random)
    start = time.perf_counter()
    with torch.inference_mode():
        out = net.generate(
            tokens,
            attention_mask=torch.ones_like(tokens),
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            min_new_tokens=new,
            max_new_tokens=new,
            eos_token_id=None,
            pad_token_id=0,
            use_cache=True,
            return_dict_in_generate=logprobs,
            output_logits=logprobs,
        )
        if logprobs:
            drawn = out.sequences[:, prompt:]
            logits = torch.stack(out.logits, dim=1)
            torch.log_softmax(logits, -1).gather(-1, drawn[..., None])
            made = drawn.shape[1]
        else:
            made = out.shape[1] - prompt
    seconds = time.perf_counter() - start
    assert made == new, f"{made} tokens instead of {new}"
    return {"seconds": seconds, "tokens_per_s": batch * new / seconds}


if __name__ == "__main__":
    serve({"open": open_model, "run": run})
