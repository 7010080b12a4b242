"""Server-sent events (HTML Living Standard, 9.2), as /v1/events sends them for one resource."""
from __future__ import annotations

import json
from typing import Iterator, List, Protocol

from .transport import Json, RpcError


class Lines(Protocol):
    """What can be read by lines."""

    def readline(self) -> bytes:
        """One line with its end; b"" at the end of all."""


def read_changes(stream: Lines) -> Iterator[Json]:
    """Yields the LedgerChange of each event until the stream ends; for a bookmark one without a change, for a comment {}.
    Raises RpcError with what the last event says, or INTERNAL for what is no event."""
    kind, last_id, data = "", "", []  # type: str, str, List[str]
    for line in iter(stream.readline, b""):
        text = line.decode(errors="replace").rstrip("\r\n")
        field, _, value = text.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            kind = value
        elif field == "id":
            last_id = value
        elif field == "data":
            data.append(value)
        elif text.startswith(":"):
            yield {}
        elif not text:
            if kind:
                yield _change(kind, last_id, "\n".join(data))
            kind, last_id, data = "", "", []


def _change(kind: str, last_id: str, data: str) -> Json:
    if kind == "bookmark":  # its id is "budgets/people:12"
        return {"sequence": last_id.rpartition(":")[2]}
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise RpcError("INTERNAL", "an event %r of the stream is no JSON object: %r" % (kind, data[:80]))
    if kind == "end":
        code = str(message.get("code", "UNKNOWN")).upper().replace("CANCELED", "CANCELLED")
        raise RpcError(code, str(message.get("message", "the stream ended")))
    message.pop("watched", None)
    return message
