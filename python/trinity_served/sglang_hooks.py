"""What Trinity adds to SGLang's schedulers: seeds that count, log-probs as it defines them, weights of its trainers."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from .arriving import ArrivingWeights, Place

CALL = "trinity "
"""What the format of tensors begins with that are a call of `_METHODS`."""


def register() -> None:
    """Names the hooks; SGLang sets them where it starts."""
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    for target, hook in {
        "sampling.sampling_batch_info.SamplingBatchInfo.from_schedule_batch": _with_seeds,
        "layers.sampler.multinomial_with_seed": _drawn,
        "model_executor.model_runner.ModelRunner.sample": _keeping_logits,
        "layers.sampler.Sampler.forward": _of_kept_logits,
        "layers.logits_processor.LogitsMetadata.from_forward_batch": _with_temperatures,
        "layers.logprob_processor.InputLogprobProcessor.forward": _at_temperatures,
        "model_executor.model_runner_components.weight_updater.WeightUpdater.update_weights_from_tensor": _called,
    }.items():
        HookRegistry.register(f"sglang.srt.{target}", hook, HookType.AROUND)


def _with_seeds(original: Callable[..., Any], cls: type, batch: Any, vocab_size: int) -> Any:
    """The seed of a request counts, as with --enable-deterministic-inference, and with every attention backend."""
    info = original(cls, batch, vocab_size)
    if info.sampling_seed is None:
        given = [request.sampling_params.sampling_seed for request in batch.reqs]
        seeds = [secrets.randbits(31) if seed is None else seed for seed in given]
        info.sampling_seed = torch.tensor(seeds, dtype=torch.int64, device=batch.device)
    return info


def _drawn(original: Callable[..., Tensor], logprobs: Tensor, seed: Tensor, positions: Tensor) -> Tensor:
    """By the seed and the place of each row. SGLang's own way needs a kernel that builds for processors may lack."""
    if logprobs.device.type != "cpu":
        return original(logprobs, seed, positions)
    noise, generator = torch.empty_like(logprobs, dtype=torch.float64), torch.Generator()
    for row, one, place in zip(noise, seed.tolist(), positions.tolist(), strict=True):
        generator.manual_seed((one * 1_000_003 + place) % 2**63)
        row.exponential_(generator=generator)
    return (logprobs.to(torch.float64) - noise.log()).argmax(dim=1, keepdim=True)


_kept: Tensor | None = None
"""Logits before bias and penalties."""


@contextlib.contextmanager
def _keeping(logits: Tensor) -> Iterator[None]:
    global _kept
    _kept = logits
    try:
        yield
    finally:
        _kept = None


def _keeping_logits(original: Callable[..., Any], runner: Any, logits_output: Any, forward_batch: Any) -> Any:
    if not forward_batch.return_logprob:
        return original(runner, logits_output, forward_batch)
    with _keeping(logits_output.next_token_logits.clone()):
        return original(runner, logits_output, forward_batch)


def _of_kept_logits(original: Callable[..., Any], *args: Any, **more: Any) -> Any:
    """SGLang tells log-probs after bias and penalties; those of the model are before."""
    if _kept is not None:
        more.setdefault("logprob_logits", _kept)
    return original(*args, **more)


def _with_temperatures(original: Callable[..., Any], cls: type, forward_batch: Any) -> Any:
    metadata = original(cls, forward_batch)
    info = forward_batch.sampling_info
    if metadata.extend_return_logprob and info is not None:
        metadata.temperature = info.temperatures
    return metadata


def _at_temperatures(original: Callable[..., Any], *args: Any, **more: Any) -> Any:
    """SGLang tells log-probs of a prompt at temperature 1, ours are at that of the request. What is drawn from stays as it is."""
    given = more["logits_metadata"].temperature
    if given is None:
        return original(*args, **more)
    rows = given[more["token_to_seq_idx"]]
    get_logits, begun = more["get_logits_fn"], 0

    def divided(states: Tensor, *args: Any, **more: Any) -> Tensor:
        nonlocal begun
        logits = get_logits(states, *args, **more)
        begun += len(states)
        return logits / rows[begun - len(states) : begun]

    result, sampled = original(*args, **{**more, "get_logits_fn": divided})
    return result, sampled * given


_arriving: ArrivingWeights | None = None


def _called(original: Callable[..., Any], updater: Any, named_tensors: Any, load_format: str | None = None) -> Any:
    """Calls come as the format of tensors that are not there; what they say is the message."""
    if load_format is None or not load_format.startswith(CALL):
        return original(updater, named_tensors=named_tensors, load_format=load_format)
    call = json.loads(load_format.removeprefix(CALL))
    return True, _METHODS[call.pop("method")](updater, **call) or ""


def _join(updater: Any, port: int, rank: int, size: int, seconds: float) -> None:
    """Joins the group that weights travel in."""
    from sglang.srt.runtime_context import get_parallel

    global _arriving
    if _arriving is not None:
        _arriving.close()
    place = Place(torch.device(updater.device), updater.tp_rank, get_parallel().tp_size)
    _arriving = ArrivingWeights(place, port, rank, size, seconds)


def _receive(_: Any, path: str, dtype: str) -> str:
    """Puts the weights aside. Gives their checksum."""
    assert _arriving is not None
    return _arriving.receive(path, getattr(torch, dtype))


def _install(updater: Any) -> None:
    """Takes what has arrived into use."""
    assert _arriving is not None
    updater.get_model().load_weights(iter(_arriving.weights.items()))


def _save(updater: Any, path: str) -> None:
    """Writes the weights that arrived last."""
    assert _arriving is not None
    if updater.tp_rank == 0:
        _arriving.save(path)


_METHODS: dict[str, Callable[..., str | None]] = {
    "join": _join,
    "receive": _receive,
    "install": _install,
    "save": _save,
}
