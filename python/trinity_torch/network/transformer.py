"""A model of Transformers over packed sequences, with the head that its scores come from."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import safetensors
import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)
from transformers.utils import logging as transformers_logging

from .. import clock
from ..errors import WorkerError
from . import attention, head
from .lora_modules import LoraLinear
from .rows import Pack, Pick

if TYPE_CHECKING:
    from ..train.recording import Recordings

KINDS = {
    "lm": AutoModelForCausalLM,
    "value": AutoModelForTokenClassification,
    "reward": AutoModelForSequenceClassification,
}


class Network(nn.Module):
    """`lm`: log-prob and entropy of tokens. `value`, `reward`: one number per hidden state."""

    # Transformers' classes say nothing that a type checker could use
    hf: Any

    def __init__(self, hf: nn.Module, kind: str):
        super().__init__()
        self.hf = hf
        self.kind = kind
        self.logit_scale = _logit_scale(hf.config) if kind == "lm" else 1.0
        # computes the layers in place of Transformers' modules, see exact/body.py
        self.exact: Any = None
        self.logit_cap: float = getattr(hf.config, "final_logit_softcapping", None) or 0.0
        # of passes with gradients, see train/recording.py
        self.recordings: Recordings | None = None

    @property
    def config(self) -> Any:
        return self.hf.config

    @property
    def layers(self) -> list[nn.Module]:
        names = set(self.hf._no_split_modules or [])
        return [module for module in self.hf.modules() if type(module).__name__ in names]

    @property
    def head_module(self) -> nn.Linear:
        return self.hf.get_output_embeddings() if self.kind == "lm" else self.hf.score

    def head_of(self, hidden: Tensor) -> head.Head:
        """What logits of these hidden states are computed with."""
        module = self.head_module
        if isinstance(module, LoraLinear) and module.active:
            return head.Head(module.weight, None, module.low(hidden), module.lora_B.weight)
        return head.Head(module.weight, getattr(module, "total", None))

    def body(self, pack: Pack) -> Tensor:
        """Hidden states [T, size] after the last norm."""
        if self.exact is not None:
            return self.exact.hidden(pack, self.hf.get_input_embeddings()(pack.ids)[0])
        if self.recordings is not None and pack.fixed and torch.is_grad_enabled():
            found = self.recordings.hidden(pack)
            if found is not None:
                return found
        return self.hidden_of(pack, input_ids=pack.ids)

    def hidden_of(self, pack: Pack, **inputs: Tensor) -> Tensor:
        """`inputs`: ids of tokens, or their embeddings."""
        out = self.hf.base_model(
            **inputs,
            position_ids=pack.positions,
            use_cache=False,
            bounds=pack.bounds,
            longest=pack.longest,
            sequence_group=pack.share.group if pack.share else None,
        )
        return out.last_hidden_state.squeeze(0)

    def scored(self, pack: Pack) -> Tensor:
        """Of them, those that scores are taken from."""
        return Pick.apply(self.body(pack), pack.at)

    def targets(self, pack: Pack) -> head.Targets:
        inverse = pack.inverse_temperature * self.logit_scale
        return head.Targets(pack.targets, inverse, pack.others, self.logit_cap, self.exact and self.exact.logits)

    def values(self, hidden: Tensor) -> Tensor:
        """In float32: a critic's regression needs more than eight bits."""
        score = self.head_module
        bias = None if score.bias is None else score.bias.float()
        return nn.functional.linear(hidden.float(), score.weight.float(), bias)[:, 0]

    def forward(self, pack: Pack, job: Any) -> Any:
        """Everything runs inside this call, because sharded weights are whole only here. See train/jobs.py."""
        return job(self, pack)


def load(path: str, kind: str, seed: int, narrow: bool = False) -> Network:
    """
    In float32 on the CPU, whatever the files hold: these are the master weights. `narrow`: parameters may stay as small as
    they are in the files, for somebody who widens them elsewhere.
    """
    if not os.path.isfile(os.path.join(path, "config.json")):
        raise WorkerError(
            "model/missing", f"there is no model in {path}", "give a folder with config.json and weights", path
        )
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    torch.manual_seed(seed)
    try:
        with clock.part("reading"):
            hf = _read(path, kind, torch.bfloat16) if narrow and kind == "lm" and is_narrow(path) else None
            # what is computed from the configuration has to be float32 in any case
            if hf is None or any(b.is_floating_point() and b.dtype != torch.float32 for b in hf.buffers()):
                hf = _read(path, kind, torch.float32)
    except WorkerError:
        raise
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # Transformers raises a dozen kinds of errors for a folder it cannot read
        first = str(error).strip().split("\n")[0]
        raise WorkerError(
            "model/unreadable",
            f"Transformers cannot load this model: {type(error).__name__}: {first}",
            "is the folder complete, and does this version of Transformers know the architecture?",
            path,
        ) from error
    with clock.part("checking"):
        _check_finite(hf, path)
    for module in hf.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    hf.train()
    network = Network(hf, kind)
    if kind == "lm" and network.head_module.bias is not None:
        raise WorkerError("engine/unsupported", "a language-model head with bias is not supported", path=path)
    return network


def _read(path: str, kind: str, dtype: torch.dtype) -> Any:
    extra = {} if kind == "lm" else {"num_labels": 1}
    config = AutoConfig.from_pretrained(path, **extra)
    return KINDS[kind].from_pretrained(
        path, config=config, dtype=dtype, attn_implementation=attention.NAME, local_files_only=True
    )


def is_narrow(path: str) -> bool:
    """Every weight in the files is bfloat16."""
    whole, index = (os.path.join(path, name) for name in ("model.safetensors", "model.safetensors.index.json"))
    if os.path.isfile(whole):
        files = [whole]
    elif os.path.isfile(index):
        with open(index, encoding="utf-8") as file:
            files = [os.path.join(path, name) for name in set(json.load(file)["weight_map"].values())]
    else:
        return False
    types: set[str] = set()
    for name in files:
        with safetensors.safe_open(name, framework="pt") as opened:
            types.update(opened.get_slice(key).get_dtype() for key in opened.keys())
    return types == {"BF16"}


def _logit_scale(config: Any) -> float:
    if getattr(config, "logits_scaling", None):
        return 1.0 / float(config.logits_scaling)
    return float(getattr(config, "logit_scale", None) or 1.0)


def _check_finite(hf: nn.Module, path: str) -> None:
    for name, p in hf.named_parameters():
        # a finite sum has finite parts only, and takes a twentieth of the time; one of finite parts may still overflow
        if not bool(torch.isfinite(p.sum())) and not bool(torch.isfinite(p).all()):
            raise WorkerError("model/not-finite", f"the weight '{name}' holds NaN or infinity", path=path)
