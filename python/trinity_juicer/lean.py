"""
Data-Juicer installs the packages that it misses while it works: gigabytes, in the middle of a run, for an operator that
may not need them. Here it says what is missing instead.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any


def install_nothing() -> None:
    from data_juicer.utils.lazy_loader import LazyLoader

    def refuse(_: Any, package: str, *args: Any, **kwargs: Any) -> None:
        raise ImportError(f"Data-Juicer needs {package} for this: {sys.executable} -m pip install {package}")

    LazyLoader._install_package = classmethod(refuse)


def free_what_there_is() -> None:
    """Behind each operator models are freed, for which torch is asked; without torch there are none."""
    if importlib.util.find_spec("torch") is None:
        from data_juicer.ops import base_op

        base_op.free_models = lambda *args, **kwargs: None
