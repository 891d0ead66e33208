"""Forms with files, as a browser or fetch sends them."""

from __future__ import annotations

import re

from .errors import Refused


def fields_of(content_type: str, body: bytes) -> dict[str, bytes]:
    boundary = re.search(r'boundary="?([^";]+)"?', content_type)
    if not content_type.startswith("multipart/form-data") or boundary is None:
        raise Refused(400, "the body must be multipart/form-data")
    fields: dict[str, bytes] = {}
    for part in body.split(b"--" + boundary[1].encode())[1:-1]:
        head, found, data = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]*)"', head)
        if not found or name is None:
            raise Refused(400, "a part of the form has no name")
        # the line break before the next boundary is not the part's
        fields[name[1].decode()] = data[:-2]
    return fields
