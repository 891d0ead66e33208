"""Training with PyTorch and Transformers, the peer of the native engine's training benchmark.

    {"cmd": "open", "model": DIR, "threads": 2, "seed": 0, "attention": "sdpa"}  -> parameters
    {"cmd": "run", "batch": 16, "length": 128, "steps": 3}  -> seconds, tokens_per_s, loss

One step: forward, log-prob of every next token, mean negative log-prob, backward, clip to norm 1, AdamW. f32 throughout,
full sequences without padding, random tokens; nothing is recompiled or copied between steps.
"""

import time

import torch
from protocol import serve
from transformers import AutoModelForCausalLM

state = {}


def open_model(model, threads=2, seed=0, attention="sdpa", lr=1e-5):
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    net = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32, attn_implementation=attention)
    net.config.use_cache = False
    net.train()
    state["net"] = net
    # foreach is the fastest choice that a CPU has without fused kernels being assumed
    state["optimizer"] = torch.optim.AdamW(net.parameters(), lr=lr, betas=(0.9, 0.999), weight_decay=0.01, foreach=True)
    return {"parameters": sum(p.numel() for p in net.parameters()), "torch": torch.__version__, "threads": threads}


def step(tokens):
    net, optimizer = state["net"], state["optimizer"]
    optimizer.zero_grad(set_to_none=True)
    logits = net(tokens).logits
    vocabulary = logits.shape[-1]
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].reshape(-1, vocabulary), tokens[:, 1:].reshape(-1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def run(batch, length, steps=1, seed=1):
    random = torch.Generator().manual_seed(seed)
    vocabulary = state["net"].config.vocab_size
    data = [torch.randint(vocabulary, (batch, length), generator=random) for _ in range(steps)]
    start = time.perf_counter()
    for tokens in data:
        loss = step(tokens)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "tokens_per_s": batch * length * steps / seconds, "loss": loss}


if __name__ == "__main__":
    serve({"open": open_model, "run": run})
