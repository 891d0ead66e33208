"""
Log-probs of sampler and trainer with `trainer.exact_logprobs`: python3 bench/torch/equal.py [--shape 1.5b] [--profile]

Samples, scores the samples with the trainer, counts the numbers that are not the same; trains three steps and does so after each; then
the speed of both sides with the option and without it, in the same run.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from typing import Any

import numpy as np
import torch
from shapes import SHAPES, network_of, rows_of
from train import GRAPH
from transformers import AutoModelForCausalLM, LlamaConfig

from trinity_torch.network import attention
from trinity_torch.network.rows import Rows
from trinity_torch.network.transformer import Network
from trinity_torch.sampler.engine import SampleModel
from trinity_torch.train.train_model import TrainModel
from trinity_torch.wire.operations import Request
from trinity_torch.world import World

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"
# prompts, tokens of each, new tokens; tokens of a micro-batch
COUNT, LENGTH, NEW, BUDGET = (64, 256, 256, 8192) if CUDA else (5, 20, 12, 64)
BEGAN = time.perf_counter()


def say(**line: Any) -> None:
    print(json.dumps({**line, "at": round(time.perf_counter() - BEGAN, 1)}), flush=True)


def sync() -> None:
    if CUDA:
        torch.cuda.synchronize()


def wish(**given: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "greedy": False, "invT": 1.0, "topK": 0, "topP": 1.0, "minP": 0.0, "penalty": 1.0, "presence": 0.0, "frequency": 0.0,
        "biased": [], "bias": [], "seedLow": 5, "seedHigh": 0, "maxTokens": 20, "minTokens": 0, "banned": [], "ends": [],
        "stopIds": [], "top": 0, "reshaped": False,
    }  # fmt: skip
    return {**fields, **given}


class Ear:
    """Hears what a sampler answers."""

    def __init__(self) -> None:
        self.answers: dict[int, Any] = {}
        self.background: list[Any] = []

    def send(self, *_: Any) -> None:
        pass

    def answer(self, number: int, answer: Any) -> None:
        self.answers[number] = answer

    def refuse(self, number: int, error: Any) -> None:
        raise RuntimeError(str(error))

    def models(self) -> list[Any]:
        return []


def small_llama() -> Network:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=32000, hidden_size=512, intermediate_size=1408, num_hidden_layers=6, num_attention_heads=8,
        num_key_value_heads=4, max_position_embeddings=4096,
    )  # fmt: skip
    with torch.device(DEVICE):
        hf = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation=attention.NAME)
    return Network(hf.train(), "lm")


def far(found: torch.Tensor, said: torch.Tensor) -> dict[str, Any]:
    off = (found - said).abs()
    return {"tokens": off.numel(), "unequal": int((found != said).sum()), "mean": off.mean().item(), "max": off.max().item()}


class Bench:
    """A trainer, and a sampler that reads its weights."""

    def __init__(self, name: str, network: Network, exact: bool):
        self.name, self.exact, self.vocabulary = name, exact, network.config.vocab_size
        options = {"dtype": "bfloat16", "exact": exact, "exactLogprobs": exact, **({} if CUDA else {"compile": False})}
        spec = {"path": name, "maxModelLen": 4096, "cacheTokens": 2**18 if CUDA else 4096, "maxBatch": 1024 if CUDA else 16}
        self.trainer = TrainModel(spec, options, World.alone(DEVICE), network)
        self.sampler = SampleModel(spec, options, World.alone(DEVICE), self.trainer)

    def sample(self, temperature: float, count: int, length: int, new: int, seed: int) -> tuple[Rows, torch.Tensor, float]:
        """Samples as rows of a trainer, what the sampler says of their tokens, and seconds."""
        noise = np.random.default_rng(seed)
        prompts = [noise.integers(0, self.vocabulary, length).astype(np.int32) for _ in range(count)]
        self.sampler.worker = ear = Ear()  # type: ignore[assignment]
        for i, ids in enumerate(prompts):
            args = {"n": 1, "wish": wish(invT=1 / temperature, maxTokens=new, seedLow=seed + i)}
            self.sampler.sample(Request(i, "sample", args, {"prompt": torch.from_numpy(ids)}, lambda: False))
        sync()
        began = time.perf_counter()
        while self.sampler.busy():
            self.sampler.step([])
        sync()
        spent = time.perf_counter() - began
        answers = [ear.answers[i].tensors for i in range(count)]
        rows = [np.concatenate([ids, one["tokens"].numpy()]).astype(np.int32) for ids, one in zip(prompts, answers)]
        lengths = torch.tensor([len(row) for row in rows], dtype=torch.int32)
        scored = int(lengths.sum()) - count * length
        random = torch.Generator().manual_seed(1)
        columns = {"old": torch.zeros(scored), "advantage": torch.randn(scored, generator=random)}
        found = Rows(
            torch.from_numpy(np.concatenate(rows)), lengths, torch.full_like(lengths, length), torch.full((count,), temperature),
            torch.ones(scored, dtype=torch.uint8), torch.arange(count, dtype=torch.int32), columns, {},
        )  # fmt: skip
        return found, torch.cat([one["logprobs"] for one in answers]), spent

    def score(self, rows: Rows) -> torch.Tensor:
        return self.trainer.forward(rows, ["logprob"], True, BUDGET, lambda: False)["logprob"]

    def learn(self, rows: Rows) -> Any:
        norms = {"tokens": float(rows.lengths.sum())}
        return self.trainer.forward_backward(rows, GRAPH, norms, ["logprob"], "row", BUDGET, lambda: False)

    def compare(self, temperature: float) -> None:
        rows, said, _ = self.sample(temperature, COUNT, LENGTH, NEW, 7)
        say(model=self.name, exact=self.exact, temperature=temperature, **far(self.score(rows), said))

    def steps(self) -> None:
        """After every step its weights are sampled with; scores with and without gradients."""
        for step in range(3):
            rows, said, _ = self.sample(1.0, COUNT // 4, LENGTH // 2, NEW // 4, 100 + step)
            off = far(self.score(rows), said)
            learned = self.learn(rows)
            unequal = int((learned.scores["logprob"] != said).sum())
            norm, applied = self.trainer.optim_step(1e-4, (0.9, 0.999), 1e-8, 0.0, 1.0)
            assert applied and norm > 0
            self.sampler.take_from(self.trainer)
            self.sampler.install(step + 1)
            self.sampler.scheduler.places.pages.forget()
            say(model=self.name, exact=self.exact, step=step + 1, **off, unequal_while_training=unequal)

    def sampling(self, count: int) -> None:
        self.sample(1.0, count, LENGTH, NEW, 30)
        self.sampler.scheduler.places.pages.forget()
        _, said, spent = self.sample(1.0, count, LENGTH, NEW, 31)
        say(model=self.name, exact=self.exact, sequences=count, sampled_tokens_per_s=round(said.numel() / spent))

    def training(self, micro: int = 4) -> None:
        lengths = {} if CUDA else {"shortest": 8, "longest": 32}
        batches = [rows_of(micro * BUDGET, self.vocabulary, seed, **lengths) for seed in range(3)]
        for rows in [*batches, *batches]:
            self.learn(rows)
        rates, launches = [], []
        for rows in batches:
            sync()
            began = time.perf_counter()
            found = self.learn(rows)
            sync()
            rates.append(int(rows.lengths.sum()) / (time.perf_counter() - began))
            launches.append(found.seconds["launch"] / found.seconds["compute"])
        self.trainer.discard_grad()
        peak = round(torch.cuda.max_memory_allocated() / 1e9, 1) if CUDA else 0
        say(
            model=self.name, exact=self.exact, trained_tokens_per_s=round(float(np.median(rates))),
            launch=round(float(np.median(launches)), 2), peak_gb=peak,
        )  # fmt: skip

    def profile(self) -> None:
        rows = rows_of(BUDGET, self.vocabulary, 5)
        self.learn(rows)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as found:
            self.learn(rows)
            sync()
        self.trainer.discard_grad()
        events = sorted(found.key_averages(), key=lambda e: -e.device_time_total)
        print(f"profile, exact={self.exact}: ms, calls; all {sum(e.device_time_total for e in events) / 1e3:.1f}")
        for event in events[:32]:
            print(f"  {event.device_time_total / 1e3:8.2f} {event.count:6d}  {event.key[:100]}", flush=True)

    def close(self) -> None:
        self.sampler.close()
        self.trainer.close()
        gc.collect()
        if CUDA:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--shape", default="1.5b" if CUDA else "tiny", choices=list(SHAPES))
    asked.add_argument("--sequences", default="64,256,1024" if CUDA else "5", help="of the measured rollouts")
    asked.add_argument("--profile", action="store_true")
    given = asked.parse_args()
    for exact in (True, False):
        models = [("llama", small_llama)] if exact else []
        for name, make in [*models, (given.shape, lambda: network_of(given.shape, DEVICE))]:
            bench = Bench(name, make(), exact)
            for temperature in (1.0, 0.7):
                bench.compare(temperature)
            if exact:
                bench.steps()
            if name == given.shape:
                for count in given.sequences.split(","):
                    bench.sampling(int(count))
                bench.training()
                if given.profile and CUDA:
                    bench.profile()
            bench.close()


if __name__ == "__main__":
    main()
