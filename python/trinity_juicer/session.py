"""What one client wants done, once for its tasks or again and again for batches of experiences."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
from data_juicer.core.data import NestedDataset
from data_juicer.utils.constant import Fields

from . import operators
from .errors import Refused
from .priority import ordered, priorities, scores_of

datasets.disable_progress_bars()

_OUTPUT = "output.jsonl"
_KINDS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet"}


def version() -> str:
    from importlib.metadata import version as of

    return of("py-data-juicer")


class Session:
    def __init__(self, asked: dict[str, Any]) -> None:
        self._kind = asked.get("pipeline_type", "experience")
        if self._kind not in ("task", "experience"):
            raise Refused(400, f"pipeline_type must be task or experience, not {self._kind!r}")
        if asked.get("executor_type", "default") != "default":
            raise Refused(400, "this service has the default executor alone; start one of your own for another")
        self._asked = asked
        self._pairs = operators.process_list(asked.get("operators"), asked.get("config_path"))
        fields = asked.get("target_fields") or []
        default = fields[0] if fields else "text"
        self._text_key = default if self._kind == "task" else "response_text"
        # wrong names and arguments are told now, and not by the first batch
        self._ops = operators.load(self._pairs, self._text_key, max(1, int(asked.get("np") or 1)))

    def experiences(self, stream: bytes) -> tuple[bytes, dict[str, float]]:
        try:
            table = pa.ipc.open_stream(stream).read_all()
        except pa.ArrowInvalid as error:
            raise Refused(400, f"arrow_data is no Arrow stream: {error}") from error
        before = NestedDataset(datasets.Dataset(table))
        after = self._run(before)
        result = after.with_format("arrow")[:]
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, result.schema) as writer:
            writer.write_table(result)
        return sink.getvalue().to_pybytes(), _metrics(len(before), _stats(after))

    def tasks(self) -> dict[str, float]:
        output = self._asked.get("output_dir")
        if not output:
            raise Refused(400, "output_dir is missing: where are the tasks to be written?")
        before = NestedDataset(_read(self._asked.get("inputs") or []))
        missing = [name for name in self._asked.get("target_fields") or [] if name not in before.column_names]
        if missing:
            raise Refused(400, f"the inputs have no field {', '.join(missing)}; they have {', '.join(before.column_names)}")
        after = self._run(before)
        stats = _stats(after)
        rows = after.remove_columns([name for name in after.column_names if name.startswith("__dj__")]).to_list()
        scores = scores_of(stats)
        priority = priorities(rows, scores, self._asked.get("priority_weights") or {})
        order = ordered(
            priority,
            self._asked.get("order_method") or "sort",
            self._asked.get("order_args") or {},
            int(self._asked.get("top_k") or -1),
        )
        for name, values in {**scores, "priority": priority}.items() if self._asked.get("priority_weights") else []:
            for row, value in zip(rows, values, strict=True):
                row[name] = value
        _write(Path(output), [rows[i] for i in order])
        return {**_metrics(len(before), stats), "written_count": len(order)}

    def _run(self, dataset: Any) -> Any:
        for op in self._ops:
            # more processes than rows only take time
            op.num_proc = max(1, min(op.num_proc or 1, len(dataset)))
        return operators.run(self._ops, dataset)


def _read(inputs: list[str]) -> Any:
    files = [file for path in inputs for file in _files(Path(path))]
    if not files:
        raise Refused(400, f"there are no .jsonl, .json, .csv or .parquet files in {', '.join(inputs) or 'inputs'}")
    kinds = {_KINDS[file.suffix] for file in files}
    if len(kinds) > 1:
        raise Refused(400, f"the inputs are of several kinds: {', '.join(sorted(kinds))}")
    try:
        return datasets.load_dataset(kinds.pop(), data_files=[str(file) for file in files], split="train")
    except Exception as error:
        raise Refused(400, f"cannot read {', '.join(map(str, files))}: {error}") from error


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.suffix in _KINDS)
    if not path.exists():
        raise Refused(400, f"there is no file {path}")
    if path.suffix not in _KINDS:
        raise Refused(400, f"{path} is none of {', '.join(_KINDS)}")
    return [path]


def _write(folder: Path, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # whole or not at all
    unfinished = folder / f".{_OUTPUT}"
    with open(unfinished, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    os.replace(unfinished, folder / _OUTPUT)


def _stats(dataset: Any) -> list[dict[str, Any]]:
    if Fields.stats not in dataset.column_names:
        return [{}] * len(dataset)
    return [row or {} for row in dataset[Fields.stats]]


def _metrics(before: int, stats: list[dict[str, Any]]) -> dict[str, float]:
    """How many went in and out, and the means of what was measured."""
    metrics: dict[str, float] = {"input_count": before, "output_count": len(stats)}
    for name in stats[0] if stats else []:
        values = [row.get(name) for row in stats]
        numbers = [value for value in values if isinstance(value, (int, float)) and value == value]
        if numbers and len(numbers) == len(values):
            metrics[f"{name}/mean"] = sum(numbers) / len(numbers)
    return metrics
