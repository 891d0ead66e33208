"""Colors of a terminal as text that keeps what they say: `[x]` is highlighted, `<red>x</red>` is red."""

from __future__ import annotations

import re

_CODE = re.compile(r"\x1b\[([0-9;]*)m")
_OTHER = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]")
_COLORS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


def without_escapes(text: str) -> str:
    if "\x1b" not in text:
        return text
    pieces: list[str] = []
    color: str | None = None
    is_lit = False
    at = 0
    text = _OTHER.sub("", text)
    for code in _CODE.finditer(text):
        pieces.append(_marked(text[at : code.start()], color, is_lit))
        at = code.end()
        for word in code.group(1).split(";"):
            value = int(word or 0)
            if value == 0:
                color, is_lit = None, False
            elif 30 <= value <= 37 or 90 <= value <= 97:
                color = _COLORS[value % 10]
            elif 40 <= value <= 47 or 100 <= value <= 107 or value == 7:
                is_lit = True
            elif value == 39:
                color = None
            elif value in (27, 49):
                is_lit = False
    pieces.append(_marked(text[at:], color, is_lit))
    return "".join(pieces)


def _marked(text: str, color: str | None, is_lit: bool) -> str:
    if text == "":
        return ""
    inner = text if color is None else f"<{color}>{text}</{color}>"
    return f"[{inner}]" if is_lit else inner
