"""Mechanism events as proto3 JSON: what is sent, and whether an answer is about it."""
from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping  # typing's is slow to ask
from typing import Any, Protocol, Union

from .errors import invalid
from .transport import Json


class HasToJson(Protocol):
    """An event of epsledger.events, or anything that describes itself the same way."""

    def to_json(self) -> Mapping[str, Any]:
        """The proto3 JSON of an epsledger.v1.MechanismEvent."""


#: An event, or its JSON: {"gaussian": {"noiseMultiplier": 1.1}}.
EventLike = Union[HasToJson, Mapping[str, Any]]


def event_json(event: EventLike, field: str = "event") -> Json:
    """Returns a copy of the event's JSON. InvalidArgument, naming `field`, if it is not an event; the server knows the
    domains."""
    described = event if isinstance(event, Mapping) else getattr(event, "to_json", lambda: None)()
    if not isinstance(described, Mapping) or not described:
        raise invalid(field, event, "an event of epsledger.events, or its JSON")
    copy: Json = plain_json(described, field)
    return copy


def plain_json(value: Any, field: str) -> Any:
    """Returns a copy that is JSON: numbers of every type as int or float, and non-finite ones by their proto3 names.
    InvalidArgument names the value that is not JSON."""
    if isinstance(value, Mapping):
        return {str(name): plain_json(inner, "%s.%s" % (field, name) if field else str(name))
                for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(inner, "%s[%d]" % (field, at)) for at, inner in enumerate(value)]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        if math.isfinite(number):
            return number
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    raise invalid(field, value, "a number, a text, a list or an object")


def is_same_event(asked: Any, answered: Any) -> bool:
    """Returns true if both are the JSON of one event, however numbers, names and defaults are written."""
    if asked == answered:  # as most answers are
        return True
    if isinstance(asked, Mapping) and isinstance(answered, Mapping):
        ours = {_lower_camel(name): value for name, value in asked.items()}
        theirs = {_lower_camel(name): value for name, value in answered.items()}
        return all(is_same_event(ours.get(name), theirs.get(name)) for name in ours.keys() | theirs.keys())
    if isinstance(asked, (list, tuple)) and isinstance(answered, (list, tuple)):
        return len(asked) == len(answered) and all(map(is_same_event, asked, answered))
    if asked is None or answered is None:
        return _is_default(asked) and _is_default(answered)
    if isinstance(asked, str) and isinstance(answered, str):
        return False
    try:
        return bool(_number(asked) == _number(answered))
    except (TypeError, ValueError):
        return False


def count_json(count: int, field: str = "count") -> str:
    """Returns a count of uses, in [1, 2^53], as JSON. InvalidArgument names `field`."""
    if isinstance(count, bool) or not isinstance(count, numbers.Integral) or not 1 <= count <= 2**53:
        raise invalid(field, count, "an integer in [1, 2^53]")
    return str(int(count))


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise TypeError
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"-?\d+", value) else float(value)
    return value


def _is_default(value: Any) -> bool:
    return not isinstance(value, Mapping) and value in (None, 0, "", "0", [])


def _lower_camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found.group(1).upper(), name) if "_" in name else name
