"""Task families of reasoning-gym, which make their questions and judge the answers themselves."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

from reasoning_gym.composite import CompositeConfig, CompositeDataset, DatasetSpec
from reasoning_gym.dataset import ProceduralDataset
from reasoning_gym.factory import CURRICULA, DATASETS, create_curriculum, create_dataset

from .errors import WorldError
from .words import clean, number

KEPT = 256
"""Families in memory: many rows may have seeds and configurations of their own."""

AGAIN = "That answer is not right. Answer again."


class ReasoningGymWorld:
    """`spec`: datasets (name, weight, config, difficulty), size, seed, attempts; `truth`: tell the answer as well."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        for one in spec["datasets"]:
            _check_name(one["name"])
        if len(spec["datasets"]) > 0:
            self._made({})
        self._dataset: ProceduralDataset | None = None
        self._entry: dict[str, Any] = {}
        self._attempt = 0

    def about(self) -> dict[str, Any]:
        return {}

    def reset(self, episode: dict[str, Any]) -> dict[str, Any]:
        row = episode["row"]
        self._dataset = self._made(row)
        index = row.get("index", episode["seed"]) % len(self._dataset)
        self._entry = self._dataset[index]
        self._attempt = 0
        told = {"observation": clean(self._entry["question"])}
        return {**told, **self._truth(index)} if self._spec.get("truth") else told

    def step(self, action: str) -> dict[str, Any]:
        self._attempt += 1
        score, metrics = self._score(action)
        won = score >= 1
        done = won or self._attempt >= self._spec["attempts"]
        return {
            "observation": "" if done else AGAIN,
            "reward": number(score) if done else 0,
            "score": number(score),
            "done": done,
            "won": won,
            "metrics": metrics,
        }

    def close(self) -> None:
        pass

    def _score(self, answer: str) -> tuple[float, dict[str, int]]:
        """The package's own judgment. Where it stumbles over an answer, that is not a right one."""
        assert self._dataset is not None
        try:
            return float(self._dataset.score_answer(answer, self._entry)), {"judge_failed": 0}
        except Exception:  # some families parse answers without care
            traceback.print_exc(file=sys.stderr)
            return 0.0, {"judge_failed": 1}

    def _parts(self, row: dict[str, Any]) -> list[tuple[str, float]]:
        """The family that a row names, or the mix; the row's level and configuration count for all of it."""
        parts = self._spec["datasets"]
        if "name" in row:
            alone = {"name": row["name"], "weight": 1, "difficulty": None, "config": {}}
            parts = [next((one for one in parts if one["name"] == row["name"]), alone)]
        level, config = row.get("difficulty"), row.get("config", {})
        found = []
        for one in parts:
            difficulty = one["difficulty"] if level is None else level
            found.append((_part(one["name"], difficulty, {**one["config"], **config}), one["weight"]))
        return found

    def _made(self, row: dict[str, Any]) -> ProceduralDataset:
        parts = self._parts(row)
        size, seed = row.get("size", self._spec["size"]), row.get("seed", self._spec["seed"])
        if len(parts) == 0:
            raise WorldError(
                "environment/row",
                "the row has no column 'name', and no family is given",
                "name families with the argument 'dataset', or one in each row",
            )
        return _made(parts[0][0], size, seed) if len(parts) == 1 else _mixed(tuple(parts), size, seed)

    def _truth(self, index: int) -> dict[str, Any]:
        """What makes this very question again, as columns of a row."""
        name = self._entry["metadata"]["source_dataset"]
        dataset = self._dataset.datasets[name] if isinstance(self._dataset, CompositeDataset) else self._dataset
        assert dataset is not None
        made = {"name": name, "index": index, "seed": dataset.seed, "size": len(dataset)}
        return {"row": made, "answer": self._entry["answer"]}


def _part(name: str, difficulty: int | None, config: dict[str, Any]) -> str:
    """A family and how it is set up, as a text that can be looked up."""
    return json.dumps([name, difficulty, config], sort_keys=True)


@functools.lru_cache(KEPT)
def _made(part: str, size: int, seed: int) -> ProceduralDataset:
    name, difficulty, config = json.loads(part)
    given = _config(name, difficulty, {"size": size, "seed": seed, **config})
    return _refused_in_words(name, lambda: create_dataset(name, **given))


@functools.lru_cache(KEPT)
def _mixed(parts: tuple[tuple[str, float], ...], size: int, seed: int) -> ProceduralDataset:
    specs = []
    for text, weight in parts:
        name, difficulty, config = json.loads(text)
        specs.append(DatasetSpec(name, weight, _config(name, difficulty, config)))
    mix = CompositeConfig(size=size, seed=seed, datasets=specs)
    return _refused_in_words("the mix", lambda: CompositeDataset(mix))


def _refused_in_words(what: str, make: Callable[[], ProceduralDataset]) -> ProceduralDataset:
    """The package checks its configurations by assertions."""
    try:
        return make()
    except (AssertionError, TypeError, ValueError) as error:
        raise WorldError(
            "environment/setup",
            f"{what} cannot be set up: {error}",
            "change 'config', 'difficulty', 'size' or 'seed'",
        ) from error


def _config(name: str, difficulty: int | None, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a family: those of a level of its curriculum, then what is given."""
    _check_name(name)
    known = {field.name for field in dataclasses.fields(DATASETS[name][1])}
    for key in given:
        if key not in known:
            raise WorldError(
                "environment/setup",
                f"{name} has no argument '{key}'",
                f"it has: {', '.join(sorted(known))}",
            )
    if difficulty is None:
        return given
    if name not in CURRICULA:
        raise WorldError(
            "environment/setup", f"{name} has no levels of difficulty", "set it up with 'config' instead"
        )
    curriculum = create_curriculum(name)
    curriculum.set_global_level(difficulty)
    level = vars(curriculum.generate_configuration())
    return {key: given.get(key, level[key]) for key in level if key in given or key not in ("size", "seed")}


def _check_name(name: str) -> None:
    if name in DATASETS:
        return
    near = difflib.get_close_matches(name, DATASETS, 1)
    hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(sorted(DATASETS))}"
    raise WorldError("environment/setup", f"there is no family '{name}'", hint)


def open_world(spec: dict[str, Any]) -> ReasoningGymWorld:
    return ReasoningGymWorld(spec)
