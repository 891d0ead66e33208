"""Stop strings in a text that arrives token by token, also across the borders of tokens."""

from __future__ import annotations

import os
from typing import Any

from ..errors import WorkerError


class Texts:
    """Decodes tokens of a model. Special tokens count: a stop string may be the text of one."""

    def __init__(self, folder: str):
        from tokenizers import Tokenizer

        path = os.path.join(folder, "tokenizer.json")
        if not os.path.isfile(path):
            raise WorkerError("model/tokenizer", "stop strings need the model's tokenizer", "add tokenizer.json", path)
        self._tokenizer: Any = Tokenizer.from_file(path)

    def stopper(self, stops: list[str]) -> StopStrings:
        from tokenizers.decoders import DecodeStream

        stream = DecodeStream(skip_special_tokens=False)
        return StopStrings(stops, lambda token: stream.step(self._tokenizer, token) or "")


class StopStrings:
    def __init__(self, stops: list[str], piece: Any):
        self._stops, self._piece = stops, piece
        self._longest = max(len(stop) for stop in stops)
        self._tail = ""

    def __call__(self, token: int) -> str | None:
        """The stop string that this token completes; of several, the one that begins first."""
        piece = self._piece(token)
        if not piece:
            return None
        text = self._tail + piece
        found = [(text.index(stop), i) for i, stop in enumerate(self._stops) if stop in text]
        self._tail = text[max(0, len(text) - self._longest + 1) :]
        return self._stops[min(found)[1]] if found else None
