"""A model that samples, as Trinity sees it: many requests at once, answered as they end, worked on between other requests."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from ..checkpoint import state
from ..checkpoint.block_hash import Hashes
from ..errors import WorkerError, describe
from ..network import lora, rotation
from ..network.transformer import Network, load
from ..train.score_model import ScoreModel
from ..train.train_model import TrainModel
from ..world import World
from . import draw
from .cache import PAGE, Pages
from .decoder import Decoder
from .guide import Guide, Mask, masks_of
from .places import Places
from .pool import can_sleep
from .room import fits_beside, pages_of
from .runner import Runner
from .scheduler import Scheduler
from .sequence import Job, Sample, Sequence, Wish
from .split import Split
from .stop import Texts
from .weights import checksum_of, places_of, weights_of

if TYPE_CHECKING:
    from ..wire.operations import Answer, Request, Worker

MAX_BATCH = {"cuda": 1024, "cpu": 256}
MAX_QUEUE = 4096


class SampleModel(ScoreModel):
    """`trainer`: sample with its weights; without a copy where they lie here whole, unquantized and unadapted."""

    def __init__(self, spec: dict[str, Any], options: dict[str, Any], world: World, trainer: TrainModel | None = None):
        self.split = Split(world, spec.get("auxiliary")) if world.size > 1 else None
        if self.split is not None and trainer is not None:
            raise WorkerError("engine/unsupported", "a trainer of several ranks shares no sampler", "give samplers GPUs of their own")
        if trainer is not None:
            options = {**options, "dtype": "bfloat16" if trainer.dtype == torch.bfloat16 else "float32"}
        # sampling and training take turns, and so may the cache and activations
        together = trainer is not None and options.get("shareStorage") is not False
        self.trainer = trainer if trainer is not None and together and can_share(trainer) else None
        # of the files whose weights these are, before they are read; None: those of nobody's files, or ranks would have to agree
        self.source = stamps(spec["path"]) if trainer is None and self.split is None else None
        options = {**options, "compile": False, "split": self.split is not None}
        super().__init__({**spec, "lora": None, "head": "lm"}, options, world, network=self._part_of(spec, options), lender=self.trainer)
        if self.split is not None:
            self.info["parameters"] = sum(shape.numel() for shape in self.split.shapes.values())
        self.decoder = Decoder(self.network.hf, self.info["maxModelLen"], bool(options.get("exact")), self.split)
        if self.trainer is not None:
            self.trainer.follow()
        elif trainer is not None:
            self.take_from(trainer)
        max_batch = int(spec.get("maxBatch") or MAX_BATCH[world.device.type])
        sleeps = together and can_sleep(world.device)
        given = spec.get("cacheTokens")
        most = lambda: pages_of(self.decoder, max_batch, options, trainer, sleeps)  # noqa: E731
        # ranks of a sampler do the same steps, so none may have room for more than the others
        self.cache_pages = min(world.gather(state.together(world, most))) if given is None else max(1, int(given) // PAGE)
        # steps in which ranks wait for each other are not recorded
        graphs = not options.get("eager") and self.split is None
        runner = Runner(self.decoder, self.cache_pages, max_batch, graphs=graphs, sleeps=sleeps)
        self.pool = runner.pool
        queue = spec.get("maxQueue")
        self.scheduler = Scheduler(
            runner,
            Places(Pages(self.cache_pages), max_batch, spec.get("prefixCaching") is not False),
            float("inf") if queue == "Infinity" else MAX_QUEUE if queue is None else queue,
            self._done,
            lambda job, error: self._refuse(job, describe(error)),
        )
        self._texts: Texts | None = None
        self._jobs: dict[int, Job] = {}
        self._events: dict[int, list[tuple[int, int, float]]] = {}
        self.worker: Worker | None = None
        # weights that have arrived and are not in use yet
        self.arrived: dict[str, Tensor] = {}

    @property
    def shared(self) -> bool:
        return self.trainer is not None

    # requests

    def sample(self, request: Request) -> None:
        """The answer comes when all samples have ended."""
        args = request.args
        wish = Wish.of(args["wish"])
        if len(wish.banned) > draw.MAX_BANS:
            raise WorkerError(
                "engine/bad-request",
                f"{len(wish.banned)} end and stop tokens must not be drawn before minTokens",
                f"this sampler takes {draw.MAX_BANS}: use fewer stopTokenIds, or no minTokens",
                "stopTokenIds",
            )
        prompt = request.tensors["prompt"].numpy().astype(np.int32)
        stops = list(args.get("stop") or [])
        new_stopper = None
        if stops:
            texts = self._texts = self._texts or Texts(self.spec["path"])
            new_stopper = lambda: texts.stopper(stops)  # noqa: E731
        guided = args.get("masked")
        guide = Guide(masks_of(request.tensors["masks"].numpy(), guided)) if guided is not None else None
        scores = np.full(len(prompt), np.nan, dtype=np.float32) if args.get("promptLogprobs") else None
        told = self._token if args.get("stream") or guide is not None else None
        job = Job(request.id, prompt, int(args["n"]), wish, scores, new_stopper, told, guide)
        self.scheduler.enqueue(job)
        self._jobs[request.id] = job

    def allow(self, number: int, places: list[tuple[int, int]], masks: list[Mask]) -> None:
        """What samples of a request may go on with, by index and number of tokens; one that has ended needs nothing."""
        job = self._jobs.get(number)
        if job is not None and job.guide is not None:
            for (index, made), mask in zip(places, masks):
                job.guide.give(index, made, mask)

    def busy(self) -> bool:
        return self.scheduler.busy()

    def gathering(self) -> bool:
        return self.scheduler.gathering()

    def requests(self) -> set[int]:
        return set(self._jobs)

    def step(self, cancelled: list[int]) -> None:
        for number in cancelled:
            if number in self._jobs:
                self.scheduler.abort(self._jobs[number])
        if self.scheduler.busy():
            self.wake()
        with torch.no_grad():
            self.scheduler.step()
        self._send_tokens()

    def wake(self) -> None:
        """The cache sleeps where a trainer needed its memory: what the trainer still has of it comes back first."""
        if not self.pool.awake:
            for trainer in self.trainers():
                trainer.yield_memory()
            self.pool.wake()

    def trainers(self) -> list[TrainModel]:
        return [model for model in self.worker.models() if isinstance(model, TrainModel)] if self.worker else []

    def cede(self, gradients: bool, anyway: bool) -> bool:
        """
        Somebody on this device is about to compute much: where that does not fit beside the cache, or `anyway`, the cache
        makes room. Samples under way keep their tokens and are computed again later, as when pages run out.
        """
        if not self.pool.can_sleep or not self.pool.awake:
            return False
        if not anyway and fits_beside(self.world.device, self.options, self.trainers(), gradients, bool(self._jobs)):
            return False
        self.scheduler.restart()
        self.pool.sleep()
        return True

    def fail(self, error: dict[str, Any]) -> None:
        self.scheduler.drop()
        # without a cache nobody can begin either
        for job in self.scheduler.places.jobs(begun_only=self.pool.awake):
            self.scheduler.fail(job)
            self._refuse(job, error)

    def stats(self) -> dict[str, int]:
        scheduler, places = self.scheduler, self.scheduler.places
        return {
            "running": len(places.running),
            "waiting": places.waiting,
            "cacheTokensUsed": places.pages.used * PAGE,
            "cacheTokens": self.cache_pages * PAGE,
            "promptTokens": scheduler.prompt_tokens,
            "cachedTokens": scheduler.cached_tokens,
            "sampledTokens": scheduler.sampled_tokens,
        }

    def memory(self) -> dict[str, int]:
        report = super().memory()
        if self.shared:
            report["weights"] = 0
        return {**report, "cache": self.pool.held}

    def close(self) -> None:
        """Requests end with what they have."""
        for job in self.scheduler.places.jobs(begun_only=False):
            self.scheduler.abort(job)
        self._send_tokens()
        if self.worker is not None and self in self.worker.background:
            self.worker.background.remove(self)
        del self.scheduler, self.decoder, self.pool
        super().close()

    # weights

    def save_weights(self, folder: str) -> Hashes:
        return state.save_weights(self, folder)

    def take_from(self, trainer: TrainModel) -> None:
        """The trainer's weights as they are now, an adapter merged in."""
        if self.trainer is trainer:
            self.decoder.refresh()
            return
        with torch.no_grad(), trainer.present():
            self.take(weights_of(trainer))

    def _part_of(self, spec: dict[str, Any], options: dict[str, Any]) -> Network | None:
        """This rank's part of the model; None: there is one rank."""
        split = self.split
        if split is None:
            return None
        dtype = torch.bfloat16 if options.get("dtype", "bfloat16") == "bfloat16" else torch.float32
        return state.together(split.world, lambda: split.load(spec["path"], split.world.device, dtype))

    def check_fit(self, other: Network) -> None:
        theirs = {name: tuple(p.shape) for name, p in other.hf.named_parameters() if not lora.is_adapter(name)}
        if theirs != {name: tuple(p.shape) for name, p in self.network.hf.named_parameters()}:
            raise WorkerError(
                "engine/other-model",
                "the weights are from another kind of model",
                "sampler and trainer must be opened from the same kind of model",
                self.spec["path"],
            )

    def load(self, folder: str) -> dict[str, Tensor]:
        if self.split is not None:
            return dict(self.split.read(folder, dict(self.network.hf.named_parameters())))
        network = load(folder, "lm", 0)
        self.check_fit(network)
        return dict(places_of(network.hf))

    def holds(self, folder: str) -> bool:
        """Its weights are those of this folder, which has not changed since they were read."""
        return self.source is not None and self.source == stamps(folder)

    def take(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """Copies weights into place, one by one: some are made only when they are asked for."""
        self.source = None
        if self.shared:
            self._part()
        places = dict(places_of(self.network.hf))
        with torch.no_grad():
            for name, weight in weights:
                places[name].copy_(weight)
        self.decoder.refresh()

    def install(self, version: int) -> None:
        """Afterward every token is computed with the weights that are in place now."""
        self.scheduler.version = version

    def checksum(self) -> str:
        return checksum_of(place for _, place in places_of(self.network.hf))

    def _part(self) -> None:
        """Weights from elsewhere must not reach the trainer: from now on the sampler has its own."""
        network = load(self.spec["path"], "lm", 0).to(self.world.device, self.dtype)
        network.requires_grad_(False)
        rotation.settle(network.hf, self.info["maxModelLen"])
        self.network, self.trainer = network, None
        self.decoder = Decoder(network.hf, self.info["maxModelLen"], self.decoder.exact)
        self.scheduler.runner.use(self.decoder)

    # answers

    def _token(self, sequence: Sequence, token: int, logprob: float) -> None:
        self._events.setdefault(sequence.job.id, []).append((sequence.index, token, logprob))

    def _send_tokens(self) -> None:
        for number in list(self._events):
            self._send_tokens_of(number)

    def _send_tokens_of(self, number: int) -> None:
        drawn = self._events.pop(number, [])
        if drawn and self.worker is not None:
            samples, tokens, logprobs = (list(column) for column in zip(*drawn))
            event = {"event": "tokens", "request": number, "samples": samples, "tokens": tokens, "logprobs": logprobs}
            job = self._jobs.get(number)
            asks = job.guide.questions(job.live) if job is not None and job.guide is not None else []
            if asks:
                event["asks"] = asks
            self.worker.send(event)

    def _done(self, job: Job) -> None:
        self._jobs.pop(job.id, None)
        if self.worker is None:
            return
        self._send_tokens_of(job.id)
        samples = [sample for sample in job.samples if sample is not None]
        self.worker.answer(job.id, answer_of(job, samples, self.stats()))

    def _refuse(self, job: Job, error: dict[str, Any]) -> None:
        self._jobs.pop(job.id, None)
        self._events.pop(job.id, None)
        if self.worker is not None:
            self.worker.refuse(job.id, error)


def can_share(trainer: TrainModel) -> bool:
    """Its compute weights lie on this device, whole, as they are."""
    return trainer.lora is None and trainer.guests is None and not trainer.ranks.several and trainer.kind == "lm"


def stamps(folder: str) -> list[tuple[str, int, int, int]]:
    """Of the files of a model: where each is, how large, and when it was written."""
    if not os.path.isdir(folder):
        return []
    files = [entry for entry in os.scandir(folder) if entry.is_file()]
    known = [(os.path.realpath(entry.path), entry.stat()) for entry in files]
    return sorted((path, stat.st_ino, stat.st_size, stat.st_mtime_ns) for path, stat in known)


def answer_of(job: Job, samples: list[Sample], stats: dict[str, int]) -> Answer:
    from ..wire.operations import Answer

    def join(lists: list[list[Any]], dtype: torch.dtype) -> Tensor:
        # far faster than a tensor makes one of a list
        whole = array("i" if dtype == torch.int32 else "f")
        for one in lists:
            whole.fromlist(one)
        return torch.frombuffer(whole, dtype=dtype) if whole else torch.empty(0, dtype=dtype)

    described = [
        {
            "length": len(s.tokens),
            "finish": s.finish,
            "versions": s.versions,
            **({} if s.stopped_by is None else {"stoppedBy": s.stopped_by}),
        }
        for s in samples
    ]
    tensors = {
        "tokens": join([s.tokens for s in samples], torch.int32),
        "logprobs": join([s.logprobs for s in samples], torch.float32),
    }
    if job.wish.reshaped:
        tensors["drawn"] = join([s.drawn or [] for s in samples], torch.float32)
    if job.wish.top > 0:
        tensors["topTokens"] = join([ids for s in samples for ids, _ in s.top or []], torch.int32)
        tensors["topLogprobs"] = join([values for s in samples for _, values in s.top or []], torch.float32)
    if job.prompt_logprobs is not None:
        tensors["promptLogprobs"] = torch.from_numpy(job.prompt_logprobs)
    return Answer({"samples": described, "cachedTokens": job.cached, "stats": stats}, tensors)
