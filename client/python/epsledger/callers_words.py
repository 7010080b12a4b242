"""Errors of the server in the words of the caller: the arguments of this package's methods, not the API's fields."""
from __future__ import annotations

import contextlib
import re
from typing import Iterator, Mapping

from . import events
from .errors import CallFailed, call_failed

# The server begins with the path of the field, or ends with "exists with another ownCap".
_PATH = re.compile(r"[A-Za-z]\w*(?:\.\w+|\[[^\]]*\])*(?=: )")
_OTHER_FIELD = re.compile(r"(?<= exists with another )\w+")

_KIND_OF_CAP = r"(\.(pureEpsilon|approximateDp|zcdp|gaussianDp|renyi|units)\b)?"
#: The beginnings of paths, as regular expressions, and what the caller calls them.
OF_CREATE_BUDGET = {"budgetId": "name", r"budget\.cap\b" + _KIND_OF_CAP: "cap", r"budget\.": ""}
OF_OPEN = {"sessionId": "session", r"session\.planDelta": "delta", r"session\.plan\.events": "plan",
           r"session\.ownCap\b" + _KIND_OF_CAP: "own_cap", r"session\.": ""}


@contextlib.contextmanager
def callers_words(names: Mapping[str, str] = {}, *, event: object = None) -> Iterator[None]:
    """Raises a CallFailed of its block again, with the field as the caller named it.

    event  what the caller gave as the event. If it is JSON, its fields have the names of the API, and keep them."""
    try:
        yield
    except CallFailed as error:
        said = in_callers_words(error.message, names, keeps_events=isinstance(event, Mapping))
        if said == error.message:
            raise
        raise call_failed(error.code, said) from None


def in_callers_words(message: str, names: Mapping[str, str], *, keeps_events: bool = False) -> str:
    """Returns the server's message about a field with the name of the argument. Kinds of events are named as their
    classes, "poissonSampled.samplingProbability" becomes "PoissonSampled.sampling_probability"."""
    message = _OTHER_FIELD.sub(lambda found: _snake_case(found[0]), message)
    path = _PATH.match(message)
    if path is None:
        return message
    said = path[0]
    for field, name in names.items():
        said, found = re.subn("^" + field, name, said)
        if found:
            break
    parts = said.split(".")
    for at, part in enumerate(parts):
        kind = part[:1].upper() + part[1:]
        if kind in events.__all__ and keeps_events:
            break
        parts[at] = kind if kind in events.__all__ else re.sub(r"^\w+", lambda word: _snake_case(word[0]), part)
    return ".".join(parts) + message[path.end():]


def _snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda found: "_" + found[0].lower(), name)
