"""Models as Trinity sees them: they take whole mini-batches and answer with scores, losses and steps."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..checkpoint import state
from ..checkpoint.block_hash import Hashes
from ..errors import Cancelled, WorkerError
from ..network import attention, lora
from ..network.rows import ALIGN, Pack, Rows, device_pack, spans
from ..network.transformer import Network, load
from ..world import World
from . import graph as loss_graph
from . import jobs
from .offload import Guests, held
from .optim import Optimizer, Store
from .parallel import Ranks

IsCancelled = Callable[[], bool]

# Parameters from which on compiled layers are worth the half minute that compiling them takes.
COMPILED_FROM = 10**8


class Model:
    """A network on the device of this rank."""

    def __init__(
        self,
        spec: dict[str, Any],
        options: dict[str, Any],
        world: World,
        trainable: bool,
        network: Network | None = None,
        lender: Model | None = None,
    ):
        """
        `network`: in float32; read from spec["path"] where it is not given. `lender`: a model whose network this one uses
        as it is, and leaves alone.
        """
        self.spec, self.options, self.world = spec, options, world
        self.kind = spec.get("head") or "lm"
        self.dtype = torch.bfloat16 if options.get("dtype", "bfloat16") == "bfloat16" else torch.float32
        self.ranks = Ranks.of(world, options)
        self.lora: lora.Lora | None = None
        self.guests: Guests | None = None
        self.network: Network
        if lender is not None:
            self.network = lender.network
        else:
            self.network = network or load(spec["path"], self.kind, int(spec.get("seed") or 0))
            self.move_in(trainable)
        config = self.network.config
        count = lambda given: sum(p.numel() for p in given)  # noqa: E731
        named = list(self.network.named_parameters())
        longest = lender.info["maxModelLen"] if lender else config.max_position_embeddings
        self.info: dict[str, Any] = {
            "architecture": (config.architectures or [type(self.network.hf).__name__])[0],
            "parameters": count(p for n, p in named if not lora.is_adapter(n)),
            "trainableParameters": count(p for _, p in named if p.requires_grad and lender is None),
            "vocabSize": config.vocab_size,
            "maxModelLen": int(spec.get("maxModelLen") or longest),
        }
        if self.lora is not None and self.lora.note:
            self.info["notes"] = [self.lora.note]

    def move_in(self, trainable: bool) -> None:
        """The network gets its adapter, and goes to the device where it lies there whole."""
        spec, world = self.spec, self.world
        if spec.get("lora") and trainable:
            self.lora = lora.add(self.network, spec["lora"], int(spec.get("seed") or 0))
            if self.kind == "value":
                self.network.head_module.requires_grad_(True)
            if spec["lora"].get("path"):
                lora.read(self.network, spec["lora"]["path"])
        if not trainable:
            self.network.requires_grad_(False)
        self.ranks.check(self.network.config)
        if not self.ranks.several:
            for p in self.network.parameters():
                if not p.requires_grad:
                    # one by one: in float32 all of them may be more than the device has
                    p.data = p.data.to(world.device).to(self.dtype)
            self.network.to(world.device)

    def settle(self) -> None:
        """After masters are taken: weights in the type they are computed in, layers compiled, ranks have their shards."""
        for p in self.network.parameters():
            if not (self.ranks.several and p.requires_grad):
                p.data = p.data.to(self.dtype)
        layers = self.network.layers
        if self.spec.get("gradientCheckpointing"):
            self.network.hf.gradient_checkpointing_enable({"use_reentrant": False})
        attention.choose(self.network.hf, layers[0], self.world.device, self.dtype)
        large = self.world.device.type == "cuda" and self.info["parameters"] >= COMPILED_FROM
        if self.options.get("compile", large):
            for layer in layers:
                layer.compile(dynamic=True)
        offload = bool(self.options.get("paramOffload"))
        if self.ranks.several:
            self.ranks.shard(self.network, layers, self.dtype, offload)
        elif offload:
            self.guests = Guests(list(self.network.parameters()), self.world.device)

    def present(self, changed: bool = False) -> AbstractContextManager[None]:
        """While weights are needed on the device."""
        return self.guests.present(changed) if self.guests else nullcontext()

    def memory(self) -> dict[str, int]:
        host = sum(copy.nbytes for copy in self.guests.copies) if self.guests else 0
        if self.ranks.several and self.options.get("paramOffload"):
            host += held(self.network.parameters())
        weights = held(self.network.parameters()) + (host if self.guests else 0)
        report = {"weights": weights, "gradients": 0, "optimizer": 0, "activations": 0, "cache": 0, "host": host}
        if self.world.device.type == "cuda":
            report["activations"] = max(0, torch.cuda.max_memory_allocated() - torch.cuda.memory_allocated())
        return report

    def close(self) -> None:
        self.guests = None
        del self.network
        gc.collect()
        if self.world.device.type == "cuda":
            torch.cuda.empty_cache()

    def pack(self, rows: Rows, at_ends: bool = False) -> Pack:
        cuda = self.world.device.type == "cuda"
        pack = device_pack(rows, self.ranks.packing, (ALIGN if cuda else 1) * self.ranks.sequence_size)
        if at_ends:
            pack.at = pack.bounds[1 : len(rows) + 1].long() - 1
        if cuda:
            # a power of two, so that few values are ever seen
            pack.longest = 1 << (pack.longest - 1).bit_length()
        return self.ranks.cut(pack)

    def rounds(self, rows: Rows, token_budget: int, by_bundle: bool) -> tuple[list[list[int]], int]:
        return self.ranks.rounds(rows, token_budget, by_bundle, self.network.config.hidden_size)

    def idle(self) -> Tensor:
        """This rank's part of a round in which it has no rows."""
        one = torch.ones(1, dtype=torch.int32)
        return self.network(self.pack(plain_rows(one - 1, one)), jobs.Idle())


class ScoreModel(Model):
    def __init__(
        self,
        spec: dict[str, Any],
        options: dict[str, Any],
        world: World,
        trainable: bool = False,
        network: Network | None = None,
        lender: Model | None = None,
    ):
        super().__init__(spec, options, world, trainable, network, lender)
        if not trainable and lender is None:
            self.settle()

    def forward(
        self, rows: Rows, wants: list[str], adapter: bool, token_budget: int, cancelled: IsCancelled
    ) -> dict[str, Tensor]:
        self.check_wanted(wants)
        packs, _ = self.rounds(rows, token_budget, False)
        with self.present(), lora.switched(self.network, adapter) if self.lora else nullcontext():
            return self.score_packs(rows, wants, packs, cancelled)

    def score_packs(
        self, rows: Rows, wants: list[str], packs: list[list[int]], cancelled: IsCancelled
    ) -> dict[str, Tensor]:
        parts: list[tuple[list[int], dict[str, Tensor]]] = []
        with torch.no_grad(), self.ranks.whole(self.network):
            for chosen in packs:
                stop_if(cancelled)
                if chosen:
                    parts.append((chosen, self.network(self.pack(rows.take(chosen)), jobs.Score())))
                else:
                    self.idle()
        return self.gather(rows, parts, wants)

    def gather(self, rows: Rows, parts: list[tuple[list[int], dict[str, Tensor]]], wants: list[str]) -> dict[str, Tensor]:
        """Scores of all packs in the order of the rows, on the CPU. This is where the device is waited for."""
        placed = lambda kind: rows.place([(chosen, scores[kind].float().cpu()) for chosen, scores in parts])  # noqa: E731
        return {kind: self.ranks.sum(placed(kind)) for kind in wants}

    @property
    def scores(self) -> list[str]:
        return ["logprob", "entropy"] if self.kind == "lm" else ["value"]

    def check_wanted(self, wants: list[str]) -> None:
        for kind in wants:
            if kind not in self.scores:
                other = "value" if kind == "value" else "lm"
                raise WorkerError(
                    "engine/no-score",
                    f"a model with the head '{self.kind}' does not give {kind}",
                    f"open it with head: '{other}'",
                    self.spec["path"],
                )


@dataclass
class Result:
    loss: float
    metrics: dict[str, Any]
    scores: dict[str, Tensor]
    seconds: dict[str, float]


class TrainModel(ScoreModel):
    def __init__(
        self, spec: dict[str, Any], options: dict[str, Any], world: World, network: Network | None = None
    ):
        super().__init__(spec, options, world, True, network)
        store = Store.of(options, self.dtype, world)
        masters = store.masters_of([p for p in self.network.parameters() if p.requires_grad])
        self.settle()
        named = [(name, p) for name, p in self.network.named_parameters() if p.requires_grad]
        self.optimizer = Optimizer(self.network, named, masters, store)
        # `partial`: a call stopped between micro-batches, on top of gradients that were whole
        self.gradient = "none"

    def forward_backward(
        self,
        rows: Rows,
        graph: dict[str, Any],
        norms: dict[str, float],
        wants: list[str],
        coupling: str,
        token_budget: int,
        cancelled: IsCancelled,
    ) -> Result:
        self.check_wanted(wants)
        loss_graph.check(graph)
        loss_graph.check_inputs(graph, rows, norms, self.scores)
        self.refuse_partial()
        before, self.gradient = self.gradient, "partial"
        self.touched = False
        try:
            with self.present():
                result = self.learn(rows, jobs.Objective(graph, norms, coupling), wants, token_budget, cancelled)
        except BaseException:
            # a half-added gradient must never be applied; alone it is dropped, so that the call can be repeated
            if before == "none":
                self.discard_grad()
            elif not self.touched:
                self.gradient = before
            raise
        self.gradient = "whole"
        return result

    def learn(
        self, rows: Rows, objective: jobs.Objective, wants: list[str], token_budget: int, cancelled: IsCancelled
    ) -> Result:
        began = time.perf_counter()
        packs, in_all = self.rounds(rows, token_budget, objective.coupling == "bundle")
        if objective.coupling == "batch":
            if in_all > 1:
                return self.learn_whole(rows, objective, wants, packs, cancelled)
            # an order of tokens decides ties by their places
            packs = [sorted(pack) for pack in packs]
        parts: list[tuple[list[int], dict[str, Tensor]]] = []
        losses: list[Tensor] = []
        metrics: list[Tensor] = []
        for chosen in packs:
            stop_if(cancelled)
            if not chosen:
                self.idle().backward()
                continue
            taken = rows.take(chosen)
            job = jobs.Learn(taken, objective, self.world.device)
            outcome = self.network(self.pack(taken), job)
            self.touched = True
            outcome.surrogate.backward()
            losses.append(outcome.loss.double())
            metrics += outcome.metrics
            parts.append((chosen, outcome.scores))
        launched = time.perf_counter() - began
        scores = self.gather(rows, parts, wants)
        loss = float(self.ranks.sum(torch.stack(losses).sum().cpu() if losses else torch.zeros(()).double()))
        merged = loss_graph.merge(objective.graph, self.ranks.gather(loss_graph.condense(objective.graph, metrics)))
        # work is handed to a GPU and waited for at the end: launch near compute means that the GPU waits for the CPU
        return Result(loss, merged, scores, {"compute": time.perf_counter() - began, "launch": launched})

    def learn_whole(
        self,
        rows: Rows,
        objective: jobs.Objective,
        wants: list[str],
        packs: list[list[int]],
        cancelled: IsCancelled,
    ) -> Result:
        """The loss needs every score at once: all forward passes first, then each micro-batch again with its gradients."""
        began = time.perf_counter()
        scores = self.score_packs(rows, self.scores, packs, cancelled)
        inputs = loss_graph.Inputs(rows, torch.device("cpu"))
        found = loss_graph.evaluate(objective.graph, inputs, objective.norms, scores)
        for chosen in packs:
            stop_if(cancelled)
            if not chosen:
                self.idle().backward()
                continue
            places = spans(rows.scored, torch.tensor(chosen))
            grads = {kind: grad[places].to(self.world.device) for kind, grad in found.grads.items()}
            surrogate = self.network(self.pack(rows.take(chosen)), jobs.Pull(grads))
            self.touched = True
            surrogate.backward()
        merged = loss_graph.merge(objective.graph, [found.metrics])
        wanted = {kind: scores[kind] for kind in wants}
        return Result(float(found.loss), merged, wanted, {"compute": time.perf_counter() - began})

    def optim_step(
        self, lr: float, betas: tuple[float, float], eps: float, weight_decay: float, grad_clip: float
    ) -> tuple[float, bool]:
        self.refuse_partial()
        with self.present(changed=True):
            norm, applied = self.optimizer.step(lr, betas, eps, weight_decay, grad_clip)
        self.gradient = "none"
        return norm, applied

    def discard_grad(self) -> None:
        self.optimizer.discard()
        self.gradient = "none"

    def save(self, folder: str) -> Hashes:
        return state.save(self, folder)

    def load(self, folder: str) -> None:
        state.load(self, folder)

    def save_weights(self, folder: str) -> Hashes:
        return state.save_weights(self, folder)

    def refuse_partial(self) -> None:
        if self.gradient == "partial":
            raise WorkerError(
                "engine/incomplete-gradient",
                "a call stopped halfway and left an incomplete gradient",
                "call discardGrad, then repeat the forwardBackward calls of this step",
                self.spec["path"],
            )

    def memory(self) -> dict[str, int]:
        report = super().memory()
        for kind, size in self.optimizer.memory().items():
            report[kind] += size
        return report

    def close(self) -> None:
        del self.optimizer
        super().close()


class RewardModel(Model):
    def __init__(self, spec: dict[str, Any], options: dict[str, Any], world: World):
        super().__init__({**spec, "head": "reward", "lora": None}, options, world, False)
        self.settle()

    def reward(self, tokens: Tensor, lengths: Tensor, token_budget: int, cancelled: IsCancelled) -> Tensor:
        rows = plain_rows(*unpadded(tokens, lengths, self.network.config.pad_token_id))
        out = torch.zeros(len(rows))
        packs, _ = self.rounds(rows, token_budget, False)
        with torch.no_grad(), self.present(), self.ranks.whole(self.network):
            for chosen in packs:
                stop_if(cancelled)
                if chosen:
                    out[chosen] = self.network(self.pack(rows.take(chosen), at_ends=True), jobs.Reward()).float().cpu()
                else:
                    self.idle()
        return self.ranks.sum(out)


def stop_if(cancelled: IsCancelled) -> None:
    if cancelled():
        raise Cancelled


def unpadded(tokens: Tensor, lengths: Tensor, pad: int | None) -> tuple[Tensor, Tensor]:
    """Where the end token pads too, Transformers reads the score of a sequence before it; of nothing but padding, at its start."""
    if pad is None or lengths.numel() == 0:
        return tokens, lengths
    kept = []
    for row in tokens.split(lengths.tolist()):
        at = (row != pad).nonzero()
        kept.append(row[: int(at[-1]) + 1 if len(at) else 1])
    return torch.cat(kept), torch.tensor([len(row) for row in kept], dtype=lengths.dtype)


def plain_rows(tokens: Tensor, lengths: Tensor) -> Rows:
    """Sequences of which nothing is scored."""
    n = lengths.numel()
    nothing = torch.zeros(0, dtype=torch.uint8)
    return Rows(tokens, lengths, lengths.clone(), torch.ones(n), nothing, torch.arange(n, dtype=torch.int32))


def open_model(
    kind: str, spec: dict[str, Any], options: dict[str, Any], world: World, trainer: TrainModel | None = None
) -> Model:
    """`trainer`: whose weights a sampler samples with."""
    match kind:
        case "train":
            return TrainModel(spec, options, world)
        case "score":
            return ScoreModel({**spec, "lora": None}, options, world)
        case "reward":
            return RewardModel(spec, options, world)
        case "sample":
            from ..sampler.engine import SampleModel

            return SampleModel(spec, options, world, trainer)
    raise WorkerError("engine/unsupported", f"this worker cannot open a model for '{kind}'")
