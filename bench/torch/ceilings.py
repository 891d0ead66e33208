"""What this device can do for a model: python3 bench/torch/ceilings.py MODEL_DIR ROWS,ROWS,…

One line of JSON: `copy`, bytes a second of a large copy (read and written); `steps`, seconds of all matrix products of one
decode step with so many rows, with the weights where no cache holds them; `prompts`, the same of one token among 8,192 of
prompts, without the head; `rate`, operations a second of the latter.
"""

import json
import os
import sys
import time

import torch

CUDA = torch.cuda.is_available()
DEVICE, DTYPE = ("cuda", torch.bfloat16) if CUDA else ("cpu", torch.float32)
PROMPTS = 8192 if CUDA else 256


def seconds(work, repeats=5):
    """Of one call, the best of some; on a GPU replayed from a graph, so that nothing waits for the CPU."""
    work()
    if CUDA:
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        work = graph.replay
        work()
        torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        if CUDA:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return min(times)


def copy_rate():
    """Bytes a second, read and written."""
    size = 2**32 if CUDA else 2**26
    source = torch.randint(0, 255, (size,), dtype=torch.uint8, device=DEVICE).view(torch.int32)
    target = torch.empty_like(source)
    # by a kernel: a plain copy in a graph is left to the copy engine, which is slower
    return 2 * size / seconds(lambda: torch.bitwise_not(source, out=target))


def main(folder, rows):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    hidden, inner, heads, kv = (
        config[k] for k in ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads")
    )
    size = config.get("head_dim") or hidden // heads
    shapes = [((heads + 2 * kv) * size, hidden), (hidden, heads * size), (2 * inner, hidden), (hidden, inner)]

    def noise(*shape):
        return torch.randn(*shape, device=DEVICE, dtype=DTYPE)

    layers = [[noise(*shape) for shape in shapes] for _ in range(config["num_hidden_layers"])]
    head = noise(config["vocab_size"], hidden)

    def products(count, with_head):
        given = {width: noise(count, width) for _, width in shapes}

        def work():
            for layer in layers:
                for weight in layer:
                    given[weight.shape[1]] @ weight.t()
            if with_head:
                given[hidden] @ head.t()

        return seconds(work)

    whole = products(PROMPTS, False)
    operations = 2 * PROMPTS * sum(a * b for a, b in shapes) * len(layers)
    found = {"copy": copy_rate(), "prompts": whole / PROMPTS, "rate": operations / whole}
    found["steps"] = {count: products(count, True) for count in rows}
    found["device"] = torch.cuda.get_device_name() if CUDA else "cpu"
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], [int(word) for word in sys.argv[2].split(",")])
