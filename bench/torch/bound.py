"""What a training step can reach at most: its parts alone, on the same shapes and layouts, added up.

Products and attention are measured, replayed from a CUDA graph on random numbers; what is bound by memory is counted in bytes and
divided by the rate of a copy that is measured beside them.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

import torch
from ceilings import copy_rate
from shapes import config_of, operations_of
from torch import Tensor
from trinity_torch.network import cudnn_attention, head
from trinity_torch.network.linear import add_product
from trinity_torch.network.lora_products import adapted, adapted_back
from trinity_torch.network.rows import Rows, device_pack

PEAK = 990e12
# more than the cache of the device holds
ENOUGH = 256 * 2**20


def replayed(works: list[Callable[[], object]], seconds: float = 0.06) -> float:
    """Seconds that each of them takes, one after the other and again and again."""
    for work in works:
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    rounds = max(1, 8 // len(works))
    with torch.cuda.graph(graph):
        for _ in range(rounds):
            for work in works:
                work()
    times = []
    began = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - began < seconds:
        a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        a.record()
        graph.replay()
        b.record()
        b.synchronize()
        times.append(a.elapsed_time(b) / 1e3)
    del graph
    return statistics.median(times) / rounds / len(works)


def turns(make: Callable[[], Callable[[], object]], size: int) -> float:
    """The same for one kind of work on buffers of `size` bytes, in turns on so many of them that none is still in the cache."""
    return replayed([make() for _ in range(max(1, min(8, -(-ENOUGH // max(1, size)))))])


def noise(*shape: int) -> Tensor:
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def products(name: str, tokens: int, rank: int) -> dict[str, tuple[float, float]]:
    """Seconds and operations of each product of one layer on so many tokens, both ways."""
    config = config_of(name)
    h, inner, heads, kv = config.hidden_size, config.intermediate_size, config.num_attention_heads, config.num_key_value_heads
    size = h // heads
    found: dict[str, tuple[float, float]] = {}
    # columns of each module of a product
    shapes = {"qkv": (h, [heads * size, kv * size, kv * size]), "o": (h, [h]), "gate_up": (h, [inner, inner]), "down": (inner, [h])}
    for label, (k, parts) in shapes.items():
        n = sum(parts)
        flops = 2.0 * tokens * n * k
        held = 2 * (tokens * (n + k) + n * k)
        bias = noise(n) if label == "qkv" else None

        def forward() -> Callable[[], object]:
            x, w = noise(tokens, k), noise(n, k)
            return lambda: torch.nn.functional.linear(x, w, bias)

        def by_x() -> Callable[[], object]:
            d, w = noise(tokens, n), noise(n, k)
            return lambda: d @ w

        def by_weight() -> Callable[[], object]:
            d, x, total = noise(tokens, n), noise(tokens, k), torch.zeros(n, k, device="cuda")
            return lambda: add_product(total, d, x)

        found[label] = (turns(forward, held), flops)
        found[f"{label} by x"] = (turns(by_x, held), flops)
        if not rank:
            found[f"{label} by weight"] = (turns(by_weight, held + 2 * n * k), flops)
            continue

        def low_rank(back: bool) -> Callable[[], Callable[[], object]]:
            def make() -> Callable[[], object]:
                x, w, d = noise(tokens, k), noise(n, k), noise(tokens, n)
                a, b = noise(rank * len(parts), k), [noise(columns, rank) for columns in parts]
                places = [sum(parts[:i]) for i in range(len(parts))]
                totals = [torch.zeros_like(p, dtype=torch.float32) for p in (a, *b)]
                low = noise(tokens, rank * len(parts))

                def both() -> None:
                    _, d_low = adapted_back(d, w, a, b, places, 2.0)
                    add_product(totals[0], d_low, x)
                    for i, (columns, place) in enumerate(zip(parts, places)):
                        add_product(totals[1 + i], d[:, place : place + columns], low[:, rank * i : rank * (i + 1)])

                return both if back else lambda: adapted(x, w, bias, a, b, places, 2.0)

            return make

        for way, base in ((False, label), (True, f"{label} by x")):
            found[f"{base}, adapters"] = (max(0.0, turns(low_rank(way), held) - found[base][0]), 0.0)
    return found


def head_products(name: str, rank: int) -> tuple[dict[str, tuple[float, float]], int]:
    """Of one chunk of tokens, and how many tokens it has."""
    config = config_of(name)
    h, vocabulary = config.hidden_size, config.vocab_size
    rows = head.chunk_rows(vocabulary) // 128 * 128
    x, w, d = noise(rows, h), noise(vocabulary, h), noise(rows, vocabulary)
    flops = 2.0 * rows * vocabulary * h
    works: dict[str, Callable[[], object]] = {
        "head": lambda: torch.mm(x, w.t(), out_dtype=torch.float32),
        "head by x": lambda: d @ w,
    }
    if not rank:
        total = torch.zeros(vocabulary, h, device="cuda")
        works["head by weight"] = lambda: add_product(total, d, x)
    return {label: (replayed([work]), flops) for label, work in works.items()}, rows


def attention(name: str, rows: Rows, budget: int) -> float:
    """Seconds of all layers, both ways, over all packs of these rows."""
    config = config_of(name)
    heads, kv = config.num_attention_heads, config.num_key_value_heads
    size = config.hidden_size // heads
    work = lambda chosen: float((rows.lengths[chosen].double() ** 2).sum())  # noqa: E731
    packs = rows.packs(budget, False)
    some = packs[:2]
    seconds = 0.0
    on = cudnn_attention._on(torch.device("cuda", torch.cuda.current_device()))
    for chosen in some:
        pack = device_pack(rows.take(chosen), torch.device("cuda"), 256, True)
        tokens, longest = pack.ids.shape[1], 1 << (pack.longest - 1).bit_length()
        q, d = noise(tokens, heads, size), noise(tokens, heads, size)
        k, v = noise(tokens, kv, size), noise(tokens, kv, size)
        out, stats = on.forward(q, k, v, pack.bounds, longest, size**-0.5)

        def both() -> None:
            on.forward(q, k, v, pack.bounds, longest, size**-0.5)
            on.backward(d, q, k, v, out, stats, pack.bounds, longest, size**-0.5)

        seconds += replayed([both])
        cudnn_attention.forget(on.device)
    return seconds * config.num_hidden_layers * sum(map(work, packs)) / sum(map(work, some))


def memory(name: str, rank: int) -> dict[str, float]:
    """Bytes for one token: every operand read once, every result written once."""
    config = config_of(name)
    h, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    size = h // config.num_attention_heads
    width = h + 2 * config.num_key_value_heads * size
    return {
        "gate": layers * 2.0 * 8 * inner,
        # x and what is added to it give x and its norm; on the way back x and two derivatives give one
        "norms": layers * 2.0 * 2 * (4 + 4) * h,
        "rotation": layers * 2.0 * 4 * width,
        "biases": 0.0 if rank else layers * 2.0 * width,
        "vocabulary": (4.0 + 4 + 2) * config.vocab_size,
        "embedding": 2.0 * 2 * h + (0.0 if rank else 10.0 * h),
    }


def bound(name: str, rows: Rows, budget: int, rank: int = 0, measured: float | None = None) -> dict[str, object]:
    """`measured`: seconds of the whole step on these rows, said beside it."""
    count = int(rows.lengths.sum())
    layers = config_of(name).num_hidden_layers
    packs = rows.packs(budget, False)
    tokens = -(-count // len(packs) // 128) * 128
    of_layers = products(name, tokens, rank)
    torch.cuda.empty_cache()
    of_head, chunk = head_products(name, rank)
    torch.cuda.empty_cache()
    rate = copy_rate()
    seconds = {
        "layers": sum(s for s, _ in of_layers.values()) * layers * count / tokens,
        "head": sum(s for s, _ in of_head.values()) * count / chunk,
        "attention": attention(name, rows, budget),
    }
    seconds.update((label, size * count / rate) for label, size in memory(name, rank).items())
    operations = operations_of(name, rank) * count
    whole = sum(seconds.values())
    rates = {label: round(flops / s / 1e12) if flops else f"+{s * 1e3:.2f} ms" for label, (s, flops) in {**of_layers, **of_head}.items()}
    found: dict[str, object] = {
        "bound": name, "lora": rank, "tokens": count, "budget": budget, "ms": {label: round(s * 1e3, 1) for label, s in seconds.items()},
        "sum_ms": round(whole * 1e3, 1), "mfu": round(operations / whole / PEAK, 4), "copy_tb_s": round(rate / 1e12, 2), "tflops": rates,
    }  # fmt: skip
    if measured is not None:
        found |= {"measured_ms": round(measured * 1e3, 1), "measured_mfu": round(operations / measured / PEAK, 4), "of_bound": round(whole / measured, 3)}
    print(json.dumps(found), flush=True)
    return found
