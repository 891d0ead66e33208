"""What Transformers computes with a model in float32, the reference of the table of families.

    {"cmd": "run", "model": DIR, "rows": [[…], …], "prompt": […], "steps": 16}  -> logprobs, gradient, greedy
"""

import os
import sys

import torch
from transformers import AutoModelForCausalLM

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peer"))
from protocol import serve  # noqa: E402


def run(model, rows, prompt, steps):
    net = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32, attn_implementation="eager")
    net.config.use_cache = False
    found = []
    for row in rows:
        log_p = net(torch.tensor([row])).logits[0, :-1].log_softmax(-1)
        found.append(log_p.gather(-1, torch.tensor(row[1:])[:, None])[:, 0])
    loss = -torch.cat(found).mean()
    loss.backward()
    gradient = torch.stack([p.grad.norm() for p in net.parameters() if p.grad is not None]).norm().item()
    tokens = list(prompt)
    with torch.no_grad():
        for _ in range(steps):
            tokens.append(int(net(torch.tensor([tokens])).logits[0, -1].argmax()))
    return {"logprobs": [one.tolist() for one in found], "gradient": gradient, "greedy": tokens[len(prompt) :]}


serve({"run": run})
