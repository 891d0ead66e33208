"""Environments of Gymnasium, with observations and actions as text."""

from __future__ import annotations

import json
from typing import Any

import gymnasium

from .ansi import without_escapes
from .errors import WorldError
from .spaces import NotAnAction, action_reader, listed_actions
from .words import clean, number, observation_text

Env = gymnasium.Env[Any, Any]

_idle: dict[str, list[Env]] = {}
"""Environments that nobody uses, by how they were made: making one may be slow, resetting one should not be."""
_renders: dict[str, bool] = {}


class GymnasiumWorld:
    """`spec`: id, kwargs, text, actions. A row with kwargs of its own has its own environment."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._key = json.dumps(spec, sort_keys=True)
        idle = _idle.setdefault(self._key, [])
        self._own: Env | None = None
        self._shared = idle.pop() if idle else self._make({})
        self._is_sound = True
        self._earned = 0.0
        self._seen = ""
        self._use(self._shared)

    def about(self) -> dict[str, Any]:
        listed = listed_actions(self._env.action_space, self._spec["actions"])
        return {} if listed is None else {"actions": listed}

    def reset(self, episode: dict[str, Any]) -> dict[str, Any]:
        row = episode["row"]
        if self._own is not None:
            self._own.close()
            self._own = None
        if row.get("kwargs"):
            self._own = self._make(row["kwargs"])
        self._use(self._own or self._shared)
        self._is_sound = False
        observation, info = self._env.reset(seed=row.get("seed", episode["seed"]), options=row.get("options"))
        self._is_sound = True
        self._earned = 0.0
        self._seen = self._text(observation)
        return {"observation": self._seen, **_admissible(info)}

    def step(self, action: str) -> dict[str, Any]:
        try:
            value = self._read(action)
        except NotAnAction as error:
            observation = f"{clean(str(error))}\n{self._seen}"
            return {"observation": observation, "reward": 0, "done": False, "metrics": {"valid_action": 0}}
        self._is_sound = False
        observation, reward, terminated, truncated, info = self._env.step(value)
        self._is_sound = True
        self._seen = self._text(observation)
        self._earned += float(reward)
        done = bool(terminated or truncated)
        answer = {"observation": self._seen, "reward": number(reward), "done": done, "metrics": {"valid_action": 1}}
        if done:
            answer["won"] = self._won(info)
        if "action_mask" in info:
            answer.update(_admissible(info))
        return answer

    def close(self) -> None:
        if self._own is not None:
            self._own.close()
        # one that has thrown may be in any state
        if self._is_sound:
            _idle[self._key].append(self._shared)
        else:
            self._shared.close()

    def _use(self, env: Env) -> None:
        self._env = env
        self._draws = env.render_mode == "ansi"
        self._read = action_reader(env.action_space, self._spec["actions"])

    def _make(self, kwargs: dict[str, Any]) -> Env:
        given = {**self._spec["kwargs"], **kwargs}
        name = self._spec["id"]
        try:
            wanted = self._spec["text"] != "observation" and "render_mode" not in given
            if wanted and (self._spec["text"] == "ansi" or _renders_text(name, given)):
                given["render_mode"] = "ansi"
            return gymnasium.make(name, **given)
        except gymnasium.error.Error as error:
            is_unknown = isinstance(error, gymnasium.error.UnregisteredEnv)
            hint = "an id may name the module that registers it: module:id" if is_unknown else None
            raise WorldError("environment/setup", f"Gymnasium cannot make it: {error}", hint) from error

    def _text(self, observation: Any) -> str:
        if not self._draws:
            return observation_text(observation)
        return clean(without_escapes(str(self._env.render()))).strip("\n")

    def _won(self, info: dict[str, Any]) -> bool:
        for name in ("is_success", "success"):
            if name in info:
                return bool(info[name])
        threshold = None if self._env.spec is None else self._env.spec.reward_threshold
        return threshold is not None and self._earned >= threshold


def _renders_text(name: str, kwargs: dict[str, Any]) -> bool:
    if name not in _renders:
        env = gymnasium.make(name, **kwargs)
        _renders[name] = "ansi" in env.metadata.get("render_modes", [])
        env.close()
    return _renders[name]


def _admissible(info: dict[str, Any]) -> dict[str, Any]:
    """Numbers of the actions that the environment says are possible now."""
    mask = info.get("action_mask")
    if mask is None:
        return {}
    return {"admissible": [i for i, is_open in enumerate(mask) if is_open]}


def open_world(spec: dict[str, Any]) -> GymnasiumWorld:
    return GymnasiumWorld(spec)
