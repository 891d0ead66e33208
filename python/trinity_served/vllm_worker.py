"""A part of each of vLLM's workers (`--worker-extension-cls`): log-probs as Trinity defines them, weights of its trainers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding
from vllm.v1.sample.sampler import Sampler
from vllm.v1.worker.gpu_model_runner import GPUModelRunner

from .arriving import ArrivingWeights, Place

_temperature: Tensor | float | None = None
"""By which the logits are divided before the next softmax for log-probs."""


@contextlib.contextmanager
def _dividing(temperature: Tensor | float | None) -> Iterator[None]:
    global _temperature
    _temperature = temperature
    try:
        yield
    finally:
        _temperature = None


def _install() -> None:
    """
    vLLM gives log-probs either before the temperature or after truncation. Trinity's are those of the model at the
    temperature: after the former, before the latter.
    """
    forward, log_softmax, of_prompts = Sampler.forward, Sampler.compute_logprobs, GPUModelRunner._get_prompt_logprobs_dict

    def at_temperature(logits: Tensor) -> Tensor:
        if _temperature is None:
            return log_softmax(logits)
        return log_softmax(logits.to(torch.float32) / _temperature)

    def of_samples(self: Sampler, logits: Tensor, sampling_metadata: Any, *args: Any, **more: Any) -> Any:
        given = sampling_metadata.temperature
        # greedy: as at temperature 1
        scale = None if given is None else torch.where(given < 1e-5, 1.0, given).unsqueeze(1)
        with _dividing(scale):
            return forward(self, logits, sampling_metadata, *args, **more)

    def one_by_one(self: GPUModelRunner, hidden_states: Tensor, num_scheduled_tokens: dict[str, int]) -> dict[str, Any]:
        wanted, found = self.num_prompt_logprobs, {}
        try:
            for request in list(wanted):
                self.num_prompt_logprobs = {request: wanted[request]}
                params = self.requests[request].sampling_params if request in self.requests else None
                with _dividing(params.temperature if params and params.temperature >= 1e-5 else None):
                    found.update(of_prompts(self, hidden_states, num_scheduled_tokens))
                if request not in self.num_prompt_logprobs:
                    del wanted[request]
        finally:
            self.num_prompt_logprobs = wanted
        return found

    Sampler.forward = of_samples
    Sampler.compute_logprobs = staticmethod(at_temperature)
    GPUModelRunner._get_prompt_logprobs_dict = one_by_one


_install()


class TrinityWorker:
    """Methods that `/collective_rpc` calls in every worker of a server. What it hands over is text."""

    model_runner: Any
    device: torch.device
    rank: int
    parallel_config: Any
    _arriving: ArrivingWeights | None = None

    def trinity_reload(self, path: str) -> None:
        """Takes the weights of a folder into use."""
        self.model_runner.reload_weights(weights_path=path)
        self._mend_tied()

    def trinity_join(self, port: str, rank: str, size: str, seconds: str) -> None:
        """Joins the group that weights travel in."""
        if self._arriving is not None:
            self._arriving.close()
        place = Place(self.device, self.rank, self.parallel_config.world_size)
        self._arriving = ArrivingWeights(place, int(port), int(rank), int(size), float(seconds))

    def trinity_receive(self, path: str, dtype: str) -> str:
        """Puts the weights aside. Gives their checksum."""
        assert self._arriving is not None
        return self._arriving.receive(path, getattr(torch, dtype))

    def trinity_install(self) -> None:
        """Takes what has arrived into use."""
        assert self._arriving is not None
        self.model_runner.reload_weights(weights_iterator=iter(self._arriving.weights.items()))
        self._mend_tied()

    def _mend_tied(self) -> None:
        """
        A head that shares the weights of the embedding is passed over when vLLM reloads, and on processors it has a packed
        copy of its own: of the older ones.
        """
        model = self.model_runner.get_model()
        tables = {type(module): module for module in model.modules() if isinstance(module, VocabParallelEmbedding)}
        head, embedding = tables.get(ParallelLMHead), tables.get(VocabParallelEmbedding)
        if head is None or embedding is None or not self.model_runner.model_config.hf_config.tie_word_embeddings:
            return
        head.weight = embedding.weight
        head.quant_method.process_weights_after_loading(head)

    def trinity_save(self, path: str) -> None:
        """Writes the weights that arrived last."""
        assert self._arriving is not None
        if self.rank == 0:
            self._arriving.save(path)
