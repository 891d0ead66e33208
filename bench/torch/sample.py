"""
Sampling speed on a GPU: python3 bench/torch/sample.py [--profile] [--tune] [--quick] [--no-peer] [--shape 1.5b]

Checks the kernels first (against their plain twins, and greedy tokens against Transformers), then measures tokens per second at
several batch sizes with a mean context of 512, sampling included, and `transformers.generate` in the same run.
"""

from __future__ import annotations

import argparse
import time
import traceback
from collections.abc import Callable

import numpy as np
import torch
from shapes import SHAPES, config_of, network_of, parameters_of
from torch import Tensor
from transformers import AutoModelForCausalLM

from tests import kernel_checks as checks
from tests.models import small_config
from trinity_torch.sampler import cache, draw, paged, product
from trinity_torch.sampler.decoder import Decoder
from trinity_torch.sampler.runner import Chunk, Runner

BANDWIDTH = 4.3e12  # bytes a second that a plain copy reaches on an H200
CONTEXT = 512


def attempt(name: str, work: Callable[[], str | None]) -> None:
    """A check that fails is said and does not keep the others from being made."""
    began = time.perf_counter()
    try:
        said = work() or "ok"
    except Exception as error:
        if not isinstance(error, AssertionError):
            traceback.print_exc()
        said = f"FAILED: {str(error)[:300]}"
    print(f"check {name}: {said} ({time.perf_counter() - began:.1f} s)", flush=True)


def check_greedy() -> str:
    torch.manual_seed(3)
    hf = AutoModelForCausalLM.from_config(small_config(1024), dtype=torch.float32).cuda().eval()
    for p in hf.parameters():
        p.data += torch.randn_like(p) * 0.05
    prompt = torch.randint(1, 1000, (3, 300), device="cuda")  # 0 would be taken for padding
    with torch.no_grad():
        wanted = hf.generate(prompt, max_new_tokens=24, do_sample=False, pad_token_id=0, eos_token_id=None)[:, 300:]
        for exact in (False, True):
            runner = Runner(Decoder(hf, 1024, exact), 64, 4)
            start(runner, [row.cpu().numpy() for row in prompt], [dict(greedy=1)] * 3, cut=77)
            found = torch.tensor(np.stack([runner.decode(3, 400, False, 0).read()[0] for _ in range(23)], 1))
            same = (found == wanted[:, 1:].cpu()).float().mean().item()
            assert same == 1.0, f"{same:.3f} of the greedy tokens are those of Transformers (exact={exact})"
    return "all greedy tokens are those of Transformers"


def start(runner: Runner, prompts: list[np.ndarray], given: list[dict], cut: int = 0) -> None:
    """Prompts into the cache (in two pieces where `cut` says so), first tokens drawn."""
    used = 0
    for slot, (prompt, fields) in enumerate(zip(prompts, given)):
        runner.write_state([slot], [checks.settings(length=len(prompt) - 1, **fields)])
        count = -(-(len(prompt) + 100) // cache.PAGE)
        runner.write_tables(np.stack([np.full(count, slot), np.arange(count), np.arange(used, used + count)]))
        used += count
        if cut:
            runner.prefill([Chunk(slot, prompt[:cut], 0)], False, 0)
    runner.prefill([Chunk(i, p[cut:], cut, [i]) for i, p in enumerate(prompts)], False, 0)
    runner.write_rows(list(range(len(prompts))), [])


def check_invariance(decoder: Decoder) -> str:
    """The same sequence alone and among others: its tokens and log-probs, bit for bit."""
    noise = np.random.default_rng(5)
    prompts = [noise.integers(0, 1000, n) for n in (300, *noise.integers(20, 400, 69))]
    given = [dict(seed_low=i, inverse_t=1.0) for i in range(70)]
    found = []
    for exact in (True, False):
        decoder.exact = exact
        runs = []
        for count, cut in ((1, 0), (1, 33), (5, 0), (40, 0), (70, 11)):
            runner = Runner(decoder, 70 * 17, 70)
            start(runner, prompts[:count], given[:count], cut)
            runs.append([runner.decode(count, 500, False, 0).read() for _ in range(40)])
            del runner
        tokens = [[step[0][0] for step in run] for run in runs]
        bits = [[step[1][0].tobytes() for step in run] for run in runs]
        same = [t == tokens[0] for t in tokens[1:]], [b == bits[0] for b in bits[1:]]
        found.append(f"exact={exact}: tokens {same[0]}, log-prob bits {same[1]}")
        if exact:
            assert all(same[0]) and all(same[1]), found[-1]
    return "; ".join(found)


class Bench:
    def __init__(self, shape: str):
        torch.manual_seed(0)
        self.shape = shape
        self.hf = network_of(shape, "cuda").hf.to(torch.bfloat16).eval()
        self.decoder = Decoder(self.hf, 2048, False)
        self.weights = self.decoder.bytes()
        self.floor = lambda batch: (self.weights + batch * CONTEXT * self.token_bytes()) / BANDWIDTH

    def token_bytes(self) -> int:
        return 4 * len(self.decoder.layers) * self.decoder.kv * self.decoder.size

    def runner(self, batch: int, steps: int, exact: bool) -> Runner:
        """Sequences of 256 … 768 tokens, whose keys and values are noise."""
        self.decoder.exact = exact
        pages = -(-(768 + steps) // cache.PAGE)
        runner = Runner(self.decoder, batch * pages, batch)
        runner.keys.normal_()
        runner.values.normal_()
        noise = np.random.default_rng(1)
        lengths = noise.integers(256, 769, batch) - steps // 2
        rows = [checks.settings(token=5, length=int(n), seed_low=i) for i, n in enumerate(lengths)]
        runner.write_state(list(range(batch)), rows)
        order = noise.permutation(batch * pages)
        slots, columns = np.divmod(np.arange(batch * pages), pages)
        runner.write_tables(np.stack([slots, columns, order]))
        runner.write_rows(list(range(batch)), [])
        return runner

    def speed(self, batch: int, exact: bool, steps: int = 64, limited: bool = False) -> float:
        """Seconds per step; tokens are read one step late, as the scheduler does."""
        runner = self.runner(batch, steps + 8, exact)
        for _ in range(8):
            runner.decode(batch, 800, limited, 0).read()
        torch.cuda.synchronize()
        began = time.perf_counter()
        last = runner.decode(batch, 800, limited, 0)
        for _ in range(steps - 1):
            step = runner.decode(batch, 800, limited, 0)
            last.read()
            last = step
        tokens, logprobs, _ = last.read()
        spent = (time.perf_counter() - began) / steps
        assert (tokens >= 0).all() and np.isfinite(logprobs).all()
        return spent

    def profile(self, batch: int, exact: bool) -> None:
        runner = self.runner(batch, 32, exact)
        for _ in range(4):
            runner.decode(batch, 800, False, False).read()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as found:
            for _ in range(4):
                runner.decode(batch, 800, False, False)
            torch.cuda.synchronize()
        rows = sorted(found.key_averages(), key=lambda e: -e.device_time_total)[:12]
        print(f"profile at batch {batch}, exact={exact} (ms per step, calls per step)")
        for row in rows:
            print(f"  {row.device_time_total / 4000:7.3f} {row.count / 4:6.1f}  {row.key[:90]}")
        print(f"  {sum(e.device_time_total for e in found.key_averages()) / 4000:7.3f}         all kernels", flush=True)

    def prefill(self, exact: bool, tokens: int = 8192, length: int = 256) -> float:
        """Tokens per second of prompts."""
        self.decoder.exact = exact
        count = tokens // length
        runner = Runner(self.decoder, tokens // cache.PAGE, count)
        pages = length // cache.PAGE
        slots, columns = np.divmod(np.arange(count * pages), pages)
        runner.write_tables(np.stack([slots, columns, np.arange(count * pages)]))
        runner.write_state(list(range(count)), [checks.settings(length=length - 1)] * count)
        chunks = [Chunk(i, np.full(length, 7), 0, [i]) for i in range(count)]
        runner.prefill(chunks, False, False).read()
        began = time.perf_counter()
        for _ in range(3):
            runner.prefill(chunks, False, False).read()
        return 3 * tokens / (time.perf_counter() - began)

    def peer(self, batch: int, new: int = 32) -> float:
        self.hf.config._attn_implementation = "sdpa"
        prompt = torch.randint(0, 1000, (batch, CONTEXT - new // 2), device="cuda")
        given = dict(do_sample=True, temperature=1.0, top_k=0, pad_token_id=0, eos_token_id=None)
        with torch.no_grad():
            self.hf.generate(prompt, max_new_tokens=2, **given)
            torch.cuda.synchronize()
            began = time.perf_counter()
            self.hf.generate(prompt, max_new_tokens=1, **given)
            torch.cuda.synchronize()
            first = time.perf_counter() - began
            began = time.perf_counter()
            self.hf.generate(prompt, max_new_tokens=new + 1, **given)
            torch.cuda.synchronize()
        return batch * new / (time.perf_counter() - began - first)


def timed(work: Callable[[int], Tensor], copies: int) -> float:
    """Microseconds of one call, replayed from a graph over copies that do not fit into the cache together."""
    work(0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(copies):
            work(i)
    graph.replay()
    torch.cuda.synchronize()
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    a.record()
    for _ in range(3):
        graph.replay()
    b.record()
    torch.cuda.synchronize()
    return a.elapsed_time(b) * 1000 / 3 / copies


def tune(shape: str, limit: float = 45.0) -> None:
    """Tiles of the exact product against the library's; attention by rows of keys in flight."""
    hidden, _, heads, kv, inner, _ = SHAPES[shape]
    size = hidden // heads
    weights = {"qkv": ((heads + 2 * kv) * size, hidden), "o": (hidden, hidden), "gate_up": (2 * inner, hidden), "down": (hidden, inner)}
    shapes: dict[int, list[product.Shape]] = {
        16: [(64, 16, 128, 4, 4), (64, 16, 64, 4, 8), (128, 16, 128, 4, 4)],
        64: [(64, 64, 128, 4, 4), (64, 64, 64, 4, 6), (128, 64, 128, 4, 3)],
        256: [(128, 128, 64, 8, 4), (64, 128, 64, 4, 5), (128, 64, 64, 4, 5)],
        1024: [(128, 128, 64, 8, 4), (128, 256, 64, 8, 3)],
    }
    began = time.perf_counter()
    for tokens, tried in shapes.items():
        for name, (rows, columns) in weights.items():
            if time.perf_counter() - began > limit:
                print("tune: out of time")
                return
            copies = max(3, int(150e6 // (rows * columns * 2)))
            held = [torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16) for _ in range(copies)]
            x = torch.randn(tokens, columns, device="cuda", dtype=torch.bfloat16)
            line = [f"library {timed(lambda i: x @ held[i].t(), copies):.1f}"]
            for chosen in tried:
                try:
                    spent = timed(lambda i: product.product(x, held[i], None, chosen), copies)
                    line.append(f"{chosen} {spent:.1f}")
                except Exception as error:
                    line.append(f"{chosen} {type(error).__name__}")
            print(f"tune {name} at {tokens} (us, cuts {product.cuts(rows, columns)}): " + ", ".join(line), flush=True)


def tune_attention(bench: Bench) -> None:
    for batch in (64, 256):
        runner = bench.runner(batch, 8, True)
        decoder = bench.decoder
        q = torch.randn(batch, decoder.heads, decoder.size, device="cuda", dtype=decoder.dtype)
        each = runner.each[:batch]
        tiles = paged.Tiles(each, each, torch.ones_like(each), runner.state[:batch, draw.LENGTH].contiguous(), 1)
        read = batch * CONTEXT * bench.token_bytes() / len(decoder.layers)
        spans = paged.ROOM // batch
        room = torch.empty(batch, spans, decoder.heads, decoder.size + 2, device="cuda")
        line = []
        before = paged.SPAN, paged.KEYS, paged.STAGES, paged.WARPS
        tried = (
            (256, 64, 4, 4), (256, 128, 4, 4), (256, 64, 4, 2), (256, 128, 4, 2), (256, 64, 4, 1), (256, 32, 4, 1), (128, 64, 4, 1),
            (128, 64, 4, 2), (128, 128, 3, 2), (128, 128, 3, 4), (512, 128, 4, 4), (512, 128, 4, 2), (128, 32, 4, 1), (128, 32, 4, 2),
        )  # fmt: skip
        for chosen in tried:
            paged.SPAN, paged.KEYS, paged.STAGES, paged.WARPS = chosen
            for lanes in (1, 2, 4) if batch == 256 else (4, 8):
                given = (room, lanes) if lanes > 1 else (None, 1)
                try:
                    spent = timed(
                        lambda i: paged.attend(q, runner.keys[i], runner.values[i], runner.tables, tiles, 0.1, *given), len(decoder.layers)
                    )
                    line.append(f"{chosen} x{lanes} {spent:.1f} us ({read / spent / 1e6:.2f} TB/s)")
                except Exception as error:
                    line.append(f"{chosen} x{lanes} {type(error).__name__}")
        paged.SPAN, paged.KEYS, paged.STAGES, paged.WARPS = before
        print(f"tune attention at {batch} (span, keys, stages, warps; lanes): " + ", ".join(line), flush=True)
        torch.cuda.empty_cache()


def main() -> None:
    asked = argparse.ArgumentParser()
    for name in ("profile", "tune", "quick", "no-peer", "no-checks"):
        asked.add_argument(f"--{name}", action="store_true")
    asked.add_argument("--shape", default="1.5b")
    asked.add_argument("--batches", default="1,64,256,1024")
    asked.add_argument("--exact", default="no,yes")
    given = asked.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}", flush=True)
    bf16 = torch.bfloat16
    if not given.no_checks:
        attempt("norm, gate, rope", lambda: checks.check_fused("cuda", bf16, 2e-2))
        attempt("product", lambda: checks.check_product("cuda", bf16, 1e-2))
        attempt("attention", lambda: checks.check_attention("cuda", bf16, 2e-2))
        attempt("draw", lambda: checks.check_draw("cuda"))
        attempt("limits", lambda: checks.check_limits("cuda"))
        attempt("greedy", check_greedy)
    bench = Bench(given.shape)
    print(f"{given.shape}: {parameters_of(given.shape) / 1e9:.2f} B parameters, {bench.weights / 1e9:.2f} GB of weights", flush=True)
    if not given.no_checks:
        attempt("batch invariance", lambda: check_invariance(bench.decoder))
    table = []
    for exact in (word == "yes" for word in given.exact.split(",")):
        for batch in (int(word) for word in given.batches.split(",")):
            spent = bench.speed(batch, exact)
            floor = bench.floor(batch)
            table.append(
                f"exact={exact!s:5} batch {batch:5d}: {batch / spent:9.0f} tokens/s, {spent * 1e3:6.2f} ms a step, "
                f"{100 * floor / spent:3.0f} % of the floor ({floor * 1e3:.2f} ms)"
            )
            print(table[-1], flush=True)
            torch.cuda.empty_cache()
        if not given.quick:
            table.append(f"exact={exact!s:5} prompts: {bench.prefill(exact):9.0f} tokens/s")
            top = bench.speed(256, exact, 32, True)
            table.append(f"exact={exact!s:5} batch   256 with the search for top-k / top-p in the graph: {256 / top:9.0f} tokens/s")
            print("\n".join(table[-2:]), flush=True)
    if given.profile:
        for exact in (word == "yes" for word in given.exact.split(",")):
            for batch in (64, 256):
                bench.profile(batch, exact)
    if given.tune:
        tune_attention(bench)
        tune(given.shape)
    if not given.no_peer:
        spent = bench.peer(64)
        table.append(f"transformers.generate at 64: {spent:.0f} tokens/s")
    print("\n".join(["", *table]))


if __name__ == "__main__":
    main()
