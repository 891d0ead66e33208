"""Training speed of the torch engine on one GPU: python3 bench/torch/train.py [--shape 1.5b] [--profile] …

MFU = 6 · N · tokens/s ÷ 990e12, with --lora 4 · N: a frozen weight has no gradient. N counts a tied head once, recomputation is not
counted, the optimizer step is apart.
All tokens are scored, so the head does its full work.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import torch
from bound import PEAK, bound
from shapes import SHAPES, config_of, network_of, operations_of, rows_of
from trinity_torch.network import cudnn_attention, head
from trinity_torch.network.rows import Rows
from trinity_torch.train.score_model import ScoreModel
from trinity_torch.train.train_model import TrainModel
from trinity_torch.world import World


def node(op: str, *operands: int, **more: object) -> dict:
    return {"op": op, **({"in": list(operands)} if operands else {}), **more}


# the clipped objective of PPO and GRPO with its usual metrics
GRAPH = {
    "version": 1,
    "nodes": [
        node("score", name="logprob"),
        node("column", name="old", shape="token"),
        node("sub", 0, 1),
        node("const", value=-20),
        node("const", value=20),
        node("clamp", 2, 3, 4),
        node("exp", 5),
        node("column", name="advantage", shape="token"),
        node("neg", 7),
        node("mul", 8, 6),
        node("const", value=0.8),
        node("const", value=1.28),
        node("clamp", 6, 10, 11),
        node("mul", 8, 12),
        node("max", 9, 13),
        node("total", 14),
        node("norm", name="tokens"),
        node("div", 15, 16),
        node("gt", 13, 9),
        node("const", value=1),
        node("const", value=0),
        node("where", 18, 19, 20),
        node("neg", 5),
    ],
    "loss": 17,
    "metrics": [
        {"name": "pg_clipfrac", "value": 21, "reduce": "mean"},
        {"name": "ppo_kl", "value": 22, "reduce": "mean"},
        {"name": "pg_loss", "value": 17, "reduce": "sum"},
    ],
}


def timed(work, repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def host_work(model: TrainModel, rows: Rows, tokens: int) -> float:
    """
    Seconds that the CPU itself takes to hand over a call: every pack alone, to a GPU that has nothing to do. In a whole call the
    CPU also waits, for a free place in the GPU's queue.
    """
    seconds = 0.0
    for chosen in rows.packs(tokens, False):
        torch.cuda.synchronize()
        found = model.forward_backward(rows.take(chosen), GRAPH, {"tokens": 1e6}, ["logprob"], "row", tokens, lambda: False)
        seconds += found.seconds["launch"]
    return seconds


def ours(name: str, args: argparse.Namespace) -> None:
    spec: dict = {"path": name, "gradientCheckpointing": args.checkpointing}
    if args.lora:
        spec["lora"] = {"rank": args.lora, "alpha": 2 * args.lora, "targetModules": "all-linear"}
    began = time.perf_counter()
    options = {"dtype": "bfloat16", "optimizerOffload": args.offload, "record": args.record}
    model = TrainModel(spec, options, World.alone("cuda"), network_of(name, "cuda"))
    vocabulary = config_of(name).vocab_size
    batches = [rows_of(args.micro * args.tokens, vocabulary, seed) for seed in range(2)]
    norms = {"tokens": float(args.micro * args.tokens)}

    def step(i: int):
        return model.forward_backward(batches[i % len(batches)], GRAPH, norms, ["logprob"], "row", args.tokens, lambda: False)

    for i in range(4 * len(batches)):
        # sizes of packs are recorded when they come for the third time
        step(i)
    model.optim_step(1e-6, (0.9, 0.999), 1e-8, 0.01, 1.0)
    torch.cuda.synchronize()
    warm = time.perf_counter() - began
    if model.network.recordings is not None:
        recorded, model.network.recordings = model.network.recordings, None
        step(0)
        plain = [step(i) for i in range(args.repeats)]
        model.network.recordings = recorded
        unrecorded = statistics.median(one.seconds["compute"] for one in plain)
        print(json.dumps({"unrecorded": round(unrecorded, 3), "launch": round(statistics.median(one.seconds["launch"] / one.seconds["compute"] for one in plain), 2)}), flush=True)
    torch.cuda.reset_peak_memory_stats()
    turn = iter(range(10**6))
    found = []
    seconds = timed(lambda: found.append(step(next(turn))), args.repeats)
    launch = statistics.median(one.seconds["launch"] / one.seconds["compute"] for one in found)
    # of the batch that the bound is asked for
    first = statistics.median(one.seconds["compute"] for one in found[:: len(batches)])
    tokens = statistics.mean(int(rows.lengths.sum()) for rows in batches)
    packs = statistics.mean(len(rows.packs(args.tokens, False)) for rows in batches)
    peak = torch.cuda.max_memory_allocated()
    host = statistics.mean(host_work(model, rows, args.tokens) for rows in batches) / seconds
    optim = timed(lambda: model.optim_step(1e-6, (0.9, 0.999), 1e-8, 0.01, 1.0), 3)
    import torch._dynamo as dynamo

    compiled = dynamo.utils.counters["stats"].get("unique_graphs", 0)
    rate = tokens / seconds
    print(
        json.dumps(
            {
                "engine": "trinity", "shape": name, "tokens_per_s": round(rate),
                "seconds": round(seconds, 3), "mfu": round(operations_of(name, args.lora) * rate / PEAK, 4), "ms_per_micro": round(seconds / packs * 1e3, 1),
                "fill": round(tokens / packs / args.tokens, 3), "optim_ms": round(optim * 1e3, 1),
                "peak_gb": round(peak / 1e9, 1), "graphs": compiled, "warm_s": round(warm, 1), "launch": round(launch, 2), "host": round(host, 3), "lora": args.lora,
                "recordings": 0 if model.network.recordings is None else len(model.network.recordings),
                "checkpointing": args.checkpointing,
            }
        ),
        flush=True,
    )
    if args.profile:
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
            step(0)
            torch.cuda.synchronize()
        table = found.key_averages()
        print(table.table(sort_by="self_cuda_time_total", row_limit=32, max_name_column_width=70))
        print(table.table(sort_by="self_cpu_time_total", row_limit=25, max_name_column_width=50))
    if args.host:
        import cProfile
        import pstats

        torch.cuda.synchronize()
        with cProfile.Profile() as found:
            step(1)
        pstats.Stats(found).sort_stats("tottime").print_stats(25)
    model.close()
    if args.bound:
        torch.cuda.empty_cache()
        bound(name, batches[0], args.tokens, args.lora, first)


def peer(name: str, compiled: bool, tokens: int) -> None:
    """Transformers on 8 sequences of one length, its own attention; the head in chunks when compiled."""
    from transformers import AutoModelForCausalLM

    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(config_of(name), dtype=torch.bfloat16, attn_implementation="sdpa")
    model.train()
    n = tokens // 8
    ids = torch.randint(0, config_of(name).vocab_size, (8, n), device="cuda")
    advantage = torch.randn(8 * n, device="cuda")
    if compiled:
        model.model = torch.compile(model.model)

    def step() -> None:
        for p in model.parameters():
            p.grad = None
        if compiled:
            hidden = model.model(input_ids=ids).last_hidden_state[:, :-1].reshape(-1, model.config.hidden_size)
            targets = head.Targets(ids[:, 1:].reshape(-1), torch.ones(8 * (n - 1), device="cuda"))
            logprob, *_ = head.Scores.apply(hidden, model.lm_head.weight, None, None, None, targets)
        else:
            logits = model(input_ids=ids).logits[:, :-1].float()
            logprob = logits.log_softmax(-1).gather(-1, ids[:, 1:, None]).flatten()
        (-logprob * advantage[: logprob.numel()]).mean().backward()

    for _ in range(2):
        step()
    rate = 8 * n / timed(step)
    mfu = operations_of(name) * rate / PEAK
    print(json.dumps({"peer": "transformers" + (" compiled" if compiled else ""), "tokens_per_s": round(rate), "mfu": round(mfu, 4)}), flush=True)


def accuracy(model: str, tokens: int) -> None:
    """Log-probs in bfloat16 against those of Transformers in float32: of a shape with random weights, or of a folder."""
    from transformers import AutoModelForCausalLM

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if model in SHAPES:
        network, spec = network_of(model, device), {"path": model}
        twin = network_of(model, device).hf
        twin.set_attn_implementation("sdpa")
    else:
        network, spec = None, {"path": model}
        twin = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32, attn_implementation="sdpa").to(device)
    vocabulary = twin.config.vocab_size
    rows = rows_of(tokens, vocabulary, longest=512)
    if model not in SHAPES:
        # what the model itself says, not noise
        noise, sizes = torch.Generator(device).manual_seed(1), rows.lengths.tolist()
        torch.manual_seed(1)
        begin = torch.randint(0, vocabulary, (len(sizes), 1), device=device, generator=noise)
        said = twin.generate(begin, min_new_tokens=max(sizes) - 1, max_new_tokens=max(sizes) - 1, do_sample=True, top_k=0, top_p=1.0, temperature=1.0)
        rows.tokens = torch.cat([row[:n] for row, n in zip(said, sizes)]).int().cpu()

    def transformers() -> torch.Tensor:
        found = []
        with torch.no_grad():
            for row in rows.tokens.split(rows.lengths.tolist()):
                ids = row.long().to(device)
                logits = twin(input_ids=ids[None]).logits[0, :-1].float()
                found.append(logits.log_softmax(-1).gather(-1, ids[1:, None])[:, 0].cpu())
        return torch.cat(found)

    wanted = transformers()
    twin.to(torch.bfloat16)
    peer = transformers()
    del twin
    ours = ScoreModel(spec, {"dtype": "bfloat16"}, World.alone(device), network=network)
    found = ours.forward(rows, ["logprob"], True, tokens, lambda: False)["logprob"]
    for name, scores in (("trinity", found), ("transformers", peer)):
        off = (scores - wanted).abs()
        mean, p99, most = off.mean().item(), off.quantile(0.99).item(), off.max().item()
        print(json.dumps({"accuracy": model, "bfloat16": name, "tokens": off.numel(), "mean": round(mean, 5), "p99": round(p99, 5), "max": round(most, 4)}), flush=True)


def ceilings(name: str, tokens: int) -> None:
    """Rates of the products that the step is made of, and of attention."""
    config = config_of(name)
    h, i = config.hidden_size, config.intermediate_size
    heads, kv = config.num_attention_heads, config.num_key_value_heads
    size = h // heads
    shapes = {"8192^3": (8192, 8192, 8192), "qkv": (tokens, (heads + 2 * kv) * size, h), "o": (tokens, h, h), "gate+up": (tokens, 2 * i, h), "up": (tokens, i, h), "down": (tokens, h, i), "d_up": (h, i, tokens), "d_down": (i, h, tokens), "head": (2048, config.vocab_size, h)}
    found = {}
    for label, (m, n, k) in shapes.items():
        a, b = torch.randn(m, k, device="cuda", dtype=torch.bfloat16), torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
        for _ in range(3):
            a @ b.t()
        t = timed(lambda: [a @ b.t() for _ in range(10)]) / 10
        found[label] = round(2 * m * n * k / t / 1e12)
    a, b = torch.randn(2048, h, device="cuda", dtype=torch.bfloat16), torch.randn(config.vocab_size, h, device="cuda", dtype=torch.bfloat16)
    t = timed(lambda: [torch.mm(a, b.t(), out_dtype=torch.float32) for _ in range(5)]) / 5
    found["head f32"] = round(2 * 2048 * config.vocab_size * h / t / 1e12)
    print("TFLOP/s", json.dumps(found), flush=True)

    lengths = rows_of(tokens, 100).lengths
    bounds = torch.cat([torch.zeros(1, dtype=torch.int32), lengths.cumsum(0).int()]).cuda()
    total, longest = int(lengths.sum()), int(lengths.max())
    q = torch.randn(total, heads, size, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    k, v = (torch.randn(total, kv, size, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(2))
    flops = 4 * heads * size * float((lengths.double() ** 2).sum()) / 2

    def flash(q, k, v):
        return torch.ops.aten._flash_attention_forward(q, k, v, bounds, bounds, longest, longest, 0.0, True, False)[0]

    def cudnn(q, k, v):
        return cudnn_attention.attend(q, k, v, bounds, longest, size**-0.5)

    document = torch.repeat_interleave(torch.arange(len(lengths)), lengths.long()).cuda()
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    flexible = torch.compile(flex_attention)

    def mask():
        return create_block_mask(lambda b, h, i, j: (document[i] == document[j]) & (i >= j), None, None, total, total)

    blocks = mask()

    def flex(q, k, v):
        return flexible(*(x.transpose(0, 1)[None] for x in (q, k, v)), block_mask=blocks, enable_gqa=True)[0].transpose(0, 1)

    reference = flash(q, k, v).double()
    report = {}
    for label, attend in {"flash": flash, "cudnn": cudnn, "flex": flex}.items():
        try:
            began = time.perf_counter()
            off = float((attend(q, k, v).double() - reference).norm() / reference.norm())

            def both():
                out = attend(q, k, v)
                torch.autograd.grad(out, (q, k, v), out)

            both()
            first = time.perf_counter() - began
            forward = timed(lambda: [attend(q, k, v) for _ in range(10)]) / 10
            whole = timed(lambda: [both() for _ in range(10)]) / 10
            report[label] = {"ms": round(forward * 1e3, 3), "with_backward": round(whole * 1e3, 3), "tflops": round(flops / forward / 1e12), "off": f"{off:.1e}", "first_s": round(first, 2)}
        except Exception as error:  # what this build cannot do
            report[label] = f"{type(error).__name__}: {str(error)[:200]}"
    print("attention", json.dumps(report), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="1.5b")
    parser.add_argument("--tokens", type=int, default=8192, help="tokens of one micro-batch")
    parser.add_argument("--micro", type=int, default=8, help="micro-batches of one call")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--lora", type=int, default=0)
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--offload", action="store_true")
    parser.add_argument("--record", action="store_true", help="passes as CUDA graphs, and beside them those that are not")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--host", action="store_true", help="where the time of the CPU goes")
    parser.add_argument("--peer", choices=["eager", "compiled"])
    parser.add_argument("--bound", action="store_true", help="the parts of a step alone, added up")
    parser.add_argument("--ceilings", action="store_true")
    parser.add_argument("--accuracy", help="a shape, or the folder of a model")
    chosen = parser.parse_args()
    if chosen.accuracy:
        accuracy(chosen.accuracy, chosen.tokens)
    elif chosen.ceilings:
        ceilings(chosen.shape, chosen.tokens)
    elif chosen.peer:
        peer(chosen.shape, chosen.peer == "compiled", chosen.tokens)
    else:
        ours(chosen.shape, chosen)
