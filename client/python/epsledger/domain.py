"""Domains of the fields of events. Each checks a value, returns it in the form that is kept, and reads and writes it in
proto3 JSON. All errors have one form: "Gaussian.noise_multiplier: got 0, want in (0, inf)"."""
from __future__ import annotations

import math
import numbers
import re
import reprlib
import typing
from typing import Any, ClassVar, List, NoReturn, Optional, Sequence, Tuple

# The server's bounds (accounting/event/validation.h).
MAX_COUNT = 1 << 53  # exact as a double
MAX_POINTS = 10_000  # points of a table
MAX_TEXT_BYTES = 1_024


def refuse(field: str, got: object, want: str) -> NoReturn:
    """Raises ValueError "<field>: got <got>, want <want>"."""
    raise ValueError("%s: got %s, want %s" % (field, got, want))


def as_list(path: str, value: object) -> Sequence[object]:
    if not isinstance(value, (list, tuple)):
        refuse(path, reprlib.repr(value), "a list")
    return value


class Scalar:
    """A domain whose values need no conversion in JSON."""

    def keep(self, field: str, value: object) -> Any:
        raise NotImplementedError

    def write(self, value: Any) -> Any:
        return value

    def read(self, path: str, value: object) -> Any:
        return value


class Interval(Scalar):
    """An interval of doubles: "(0, inf)". given: in JSON the number must be there, also if it is 0."""

    def __init__(self, interval: str, *, given: bool = False) -> None:
        self.absent: Optional[float] = None if given else 0.0
        lower, upper = (float(end) for end in interval[1:-1].split(","))
        self.text, self.lower, self.upper = interval, lower, upper
        self.lower_closed, self.upper_closed = interval[0] == "[", interval[-1] == "]"

    def keep(self, field: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            refuse(field, reprlib.repr(value), "a number in " + self.text)
        try:
            x = float(value)
        except OverflowError:
            x = math.inf
        above = x >= self.lower if self.lower_closed else x > self.lower
        below = x <= self.upper if self.upper_closed else x < self.upper
        if not (above and below):
            refuse(field, x, "in " + self.text)
        return x

    def write(self, value: float) -> object:
        """JSON has no number for infinity; proto3 JSON writes it as a text."""
        return "Infinity" if value == math.inf else value

    def read(self, path: str, value: object) -> object:
        """Proto3 JSON also writes doubles as strings, for example "Infinity"; its null is a field that is not there."""
        if value is None:
            refuse(path, "nothing", "a number in " + self.text)
        if isinstance(value, str):
            if not re.fullmatch(r"NaN|-?(Infinity|[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)", value):
                refuse(path, reprlib.repr(value), "a number in " + self.text)
            return float(value)
        return value


class Range(Scalar):
    """Whole numbers from `lower` to 2**53."""

    absent: ClassVar[int] = 0

    def __init__(self, lower: int) -> None:
        self.lower = lower
        self.text = "a whole number in [%d, 2^53]" % lower

    def keep(self, field: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            refuse(field, reprlib.repr(value), self.text)
        whole = int(value)
        if not self.lower <= whole <= MAX_COUNT:
            refuse(field, whole, self.text)
        return whole

    def write(self, value: int) -> str:
        return str(value)

    def read(self, path: str, value: object) -> object:
        """Proto3 JSON writes 64-bit numbers as strings and takes both."""
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value):
            return int(value)
        return value


class Text(Scalar):
    """Up to 1,024 bytes of UTF-8."""

    absent: ClassVar[str] = ""

    def keep(self, field: str, value: object) -> str:
        if not isinstance(value, str):
            refuse(field, reprlib.repr(value), "a text")
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            refuse(field, reprlib.repr(value), "a text that UTF-8 can write")
        if size > MAX_TEXT_BYTES:
            refuse(field, "%d bytes" % size, "at most %d" % MAX_TEXT_BYTES)
        return value


class Choice(Scalar):
    """One of several names, as proto3 JSON writes an enumeration."""

    absent: ClassVar[str] = "KIND_UNSPECIFIED"

    def __init__(self, *names: str) -> None:
        self.names = names
        self.text = "one of " + ", ".join(names)

    def keep(self, field: str, value: object) -> str:
        if not isinstance(value, str) or value not in self.names:
            refuse(field, value if isinstance(value, str) else reprlib.repr(value), self.text)
        return value


class Flag(Scalar):
    """True or False."""

    absent: ClassVar[bool] = False

    def keep(self, field: str, value: object) -> bool:
        if not isinstance(value, bool):
            refuse(field, reprlib.repr(value), "True or False")
        return value


class Table:
    """`least` to 10,000 numbers, each in the interval."""

    absent: ClassVar[Tuple[float, ...]] = ()

    def __init__(self, interval: str, *, least: int = 1) -> None:
        self.each, self.least = Interval(interval), least

    def keep(self, field: str, value: object) -> Tuple[float, ...]:
        try:
            values = tuple(typing.cast(Sequence[object], value))
        except TypeError:
            refuse(field, reprlib.repr(value), "a sequence of numbers")
        if not self.least <= len(values) <= MAX_POINTS:
            refuse(field, "%d points" % len(values), "%d to %d points" % (self.least, MAX_POINTS))
        return tuple(self.each.keep("%s[%d]" % (field, i), x) for i, x in enumerate(values))

    def write(self, value: Tuple[float, ...]) -> List[float]:
        return list(value)

    def read(self, path: str, value: object) -> Tuple[object, ...]:
        return tuple(self.each.read("%s[%d]" % (path, i), x) for i, x in enumerate(as_list(path, value)))
