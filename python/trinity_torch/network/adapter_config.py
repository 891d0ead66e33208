"""What adapter_config.json says that decides what an adapter computes. Whatever is not computed here is refused by name."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass
from typing import Any

from ..errors import WorkerError

# Say where the adapter lies: written back as they were.
PLACES = ("target_modules", "exclude_modules", "layers_to_transform", "layers_pattern")

# Say who made the adapter and how it was trained, or are read below: they change nothing that is computed.
HARMLESS = {
    *PLACES, "peft_type", "task_type", "auto_mapping", "peft_version", "base_model_name_or_path", "revision", "inference_mode",
    "lora_dropout", "r", "lora_alpha", "use_rslora", "rank_pattern", "alpha_pattern", "megatron_core", "qalora_group_size",
    "eva_config", "init_lora_weights", "bias", "modules_to_save",
}  # fmt: skip

# These only draw the first values; the others (PiSSA, OLoRA, …) change the weights of the base model too.
PLAIN_STARTS = (True, False, "gaussian", "orthogonal", "eva")

MERGE = "merge the adapter into its model with PEFT (merge_and_unload) and start from that model"


@dataclass(frozen=True)
class AdapterConfig:
    path: str
    rank: int
    alpha: float
    rslora: bool
    rank_pattern: dict[str, int]
    alpha_pattern: dict[str, float]
    places: dict[str, Any]

    def of(self, module: str) -> tuple[int, float]:
        """Rank and scale of a module. Patterns are over the end of its name; the first that fits counts."""
        rank = self._by_pattern(self.rank_pattern, module, self.rank)
        alpha = self._by_pattern(self.alpha_pattern, module, self.alpha)
        return int(rank), alpha / (math.sqrt(rank) if self.rslora else rank)

    def _by_pattern(self, patterns: dict[str, Any], module: str, otherwise: float) -> float:
        for pattern, value in patterns.items():
            try:
                if re.match(rf"(.*\.)?({pattern})$", module):
                    return float(value)
            except re.error as error:
                raise _wrong(self.path, f"'{pattern}' is not a pattern: {error}") from error
        return otherwise

    def peft(self) -> dict[str, Any]:
        return {
            "r": self.rank,
            "lora_alpha": self.alpha,
            "use_rslora": self.rslora,
            "rank_pattern": self.rank_pattern,
            "alpha_pattern": self.alpha_pattern,
            **self.places,
        }


def read(folder: str, head: bool) -> AdapterConfig:
    """`head`: the model has a score head, which the adapter may bring along."""
    path = os.path.join(folder, "adapter_config.json")
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError as error:
        hint = "without it the scale of the adapter is unknown; save it again with PEFT: model.save_pretrained(…)"
        raise WorkerError("model/adapter", f"{folder} has no adapter_config.json", hint, folder) from error
    except (OSError, ValueError) as error:
        raise _wrong(path, f"cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise _wrong(path, "is not a JSON object")
    _refuse(found, path, head)
    rank: Any = found.get("r")
    alpha: Any = found.get("lora_alpha")
    patterns = [found.get(key) or {} for key in ("rank_pattern", "alpha_pattern")]
    if not isinstance(rank, int) or rank < 1 or not _positive(alpha):
        raise _wrong(path, f"r is {rank!r}, lora_alpha {alpha!r}")
    if not all(isinstance(p, dict) and all(_positive(v) for v in p.values()) for p in patterns):
        raise _wrong(path, "a pattern is not a table of numbers above 0")
    # lora_alpha too: 16 must not become 16.0
    places = {key: found[key] for key in (*PLACES, "lora_alpha") if key in found}
    return AdapterConfig(path, rank, float(alpha), bool(found.get("use_rslora")), patterns[0], patterns[1], places)


def _refuse(found: dict[str, Any], path: str, head: bool) -> None:
    def unsupported(what: str, hint: str = MERGE) -> WorkerError:
        return WorkerError("model/adapter", f"{path}: {what} cannot be used here", hint, path)

    if found.get("peft_type") != "LORA":
        raise unsupported(f"peft_type {found.get('peft_type')!r}")
    if found.get("use_dora"):
        raise unsupported("DoRA (use_dora)")
    saved = found.get("modules_to_save") or []
    extra = [str(n) for n in ([saved] if isinstance(saved, str) else saved) if not (head and n in ("score", "classifier"))]
    if extra:
        raise unsupported(f"modules_to_save ({', '.join(extra)})")
    if (found.get("bias") or "none") != "none":
        raise unsupported(f"bias: {found['bias']}")
    start = found.get("init_lora_weights", True)
    if start is not None and start not in PLAIN_STARTS:
        raise unsupported(f"init_lora_weights: {start}", "convert it to a plain LoRA adapter with PEFT")
    for key, value in found.items():
        if key not in HARMLESS and value not in (None, False, {}, []):
            raise unsupported(f"'{key}' ({json.dumps(value)})")


def _positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


def _wrong(path: str, what: str) -> WorkerError:
    return WorkerError("model/adapter", f"{path}: {what}", path=path)
