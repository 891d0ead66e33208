"""Sampling with vLLM on a GPU, the peer of bench/rollouts.

    {"cmd": "open", "model": DIR, "length": 8448, "sequences": 512}  -> versions, seconds
    {"cmd": "run", "prompts": 64, "answers": 8, "prompt": 256, "response": 512, "turns": 1, "added": 0, "seed": 1,
     "logprobs": true, "flat": true}  -> seconds, tokens, cached

Prompts are random tokens and nothing ends an answer. Temperature 1; with `logprobs` the log-prob of every drawn token
is delivered, as reinforcement learning needs it, `flat` in the form that costs vLLM least. With more than one turn each
answer is followed by `added` tokens and asked about again, all sessions turn by turn, which the prefix cache is for.
`tokens` counts drawn tokens, `cached` prompt tokens that were found in the cache.
"""

import os
import random
import time

# In this process (with a process of its own it was within 15 %); FlashInfer's sampler would be compiled at the first use.
os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
os.environ.setdefault("VLLM_USE_FLASHINFER_SAMPLER", "0")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")

import torch
import vllm
from protocol import serve
from vllm import LLM, SamplingParams

state = {}


def open_model(model, length, sequences=512, share=0.85, eager=False):
    begin = time.perf_counter()
    state["llm"] = LLM(
        model=model,
        skip_tokenizer_init=True,
        dtype="bfloat16",
        max_model_len=length,
        gpu_memory_utilization=share,
        max_num_seqs=sequences,
        enable_prefix_caching=True,
        enforce_eager=eager,
    )
    state["vocabulary"] = state["llm"].llm_engine.model_config.get_vocab_size()
    versions = {"vllm": vllm.__version__, "torch": torch.__version__}
    return {"seconds": time.perf_counter() - begin, **versions}


def run(prompts, answers, prompt, response, turns=1, added=0, seed=1, logprobs=True, flat=True):
    llm = state["llm"]
    drawn = random.Random(seed)

    def noise(count):
        return [drawn.randrange(state["vocabulary"]) for _ in range(count)]

    contexts = [noise(prompt) for _ in range(prompts)]
    params = SamplingParams(
        n=answers,
        temperature=1.0,
        max_tokens=response,
        ignore_eos=True,
        logprobs=0 if logprobs else None,
        flat_logprobs=flat,
        detokenize=False,
    )
    more = [[noise(added) for _ in contexts] for _ in range(turns - 1)]
    tokens = cached = 0
    begin = time.perf_counter()
    for turn in range(turns):
        found = llm.generate([{"prompt_token_ids": one} for one in contexts], params, use_tqdm=False)
        tokens += sum(len(one.token_ids) for request in found for one in request.outputs)
        cached += sum(request.num_cached_tokens or 0 for request in found)
        if logprobs:
            assert all(len(one.logprobs) == response for request in found for one in request.outputs)
        if turn + 1 < turns:
            said = [list(request.outputs[0].token_ids) for request in found]
            contexts = [old + new + ask for old, new, ask in zip(contexts, said, more[turn])]
    return {"seconds": time.perf_counter() - begin, "tokens": tokens, "cached": cached}


if __name__ == "__main__":
    serve({"open": open_model, "run": run})
