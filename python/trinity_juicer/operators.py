"""Operators of Data-Juicer, out of a list or out of one of its configuration files."""

from __future__ import annotations

from typing import Any

from data_juicer.ops import OPERATORS

from .errors import Refused


def process_list(operators: Any, config_path: str | None) -> list[tuple[str, dict[str, Any]]]:
    """Each operator is `{name: arguments}` or `{name: …, args: …}`; a file has them under `process`."""
    if config_path:
        operators = _read(config_path).get("process")
    if not isinstance(operators, list) or not operators:
        raise Refused(400, f"there are no operators{f' in {config_path}' if config_path else ''}")
    return [_pair(one) for one in operators]


def _pair(one: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(one, str):
        return one, {}
    if isinstance(one, dict) and isinstance(one.get("name"), str):
        return one["name"], one.get("args") or {}
    if isinstance(one, dict) and len(one) == 1:
        ((name, args),) = one.items()
        return str(name), args or {}
    raise Refused(400, f"{one!r} is no operator: write {{name: arguments}}")


def _read(path: str) -> dict[str, Any]:
    import yaml

    try:
        with open(path, encoding="utf-8") as file:
            config = yaml.safe_load(file)
    except (OSError, yaml.YAMLError) as error:
        raise Refused(400, f"cannot read the Data-Juicer configuration {path}: {error}") from error
    return config if isinstance(config, dict) else {}


def load(pairs: list[tuple[str, dict[str, Any]]], text_key: str, processes: int) -> list[Any]:
    """`text_key`: the column that an operator reads which names none."""
    ops = []
    for name, args in pairs:
        if name not in OPERATORS.modules:
            raise Refused(400, f"Data-Juicer has no operator '{name}'{_nearest(name)}")
        try:
            ops.append(OPERATORS.modules[name](**{"text_key": text_key, "num_proc": processes, **args}))
        except Exception as error:
            raise Refused(400, f"the operator '{name}' refuses its arguments: {error}") from error
    return ops


def _nearest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, OPERATORS.modules, n=1)
    return f": did you mean '{near[0]}'?" if near else ""


def run(ops: list[Any], dataset: Any) -> Any:
    for op in ops:
        if len(dataset) > 0:
            dataset = op.run(dataset)
    return dataset
