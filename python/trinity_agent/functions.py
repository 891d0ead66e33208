"""Functions that a configuration names: `file.py:name` or `package.module:name`."""

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any


@cache
def function_named(name: str) -> Callable[..., Any]:
    place, _, attribute = name.rpartition(":")
    if not place:
        raise ValueError(f"'{name}' names no function: write file.py:function or package.module:function")
    function = getattr(_module(place), attribute, None)
    if not callable(function):
        raise ValueError(f"there is no function '{attribute}' in {place}")
    found: Callable[..., Any] = function
    return found


@cache
def _module(place: str) -> ModuleType:
    if not place.endswith(".py"):
        return importlib.import_module(place)
    path = Path(place).resolve()
    # what lies beside it can be imported from it, as when it is run
    sys.path.insert(0, str(path.parent))
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{place} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def taken(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Of what is given, what the function has parameters for."""
    parameters = inspect.signature(function).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        return given
    return {name: value for name, value in given.items() if name in parameters}
