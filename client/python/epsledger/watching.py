"""The changes of a ledger, as they happen."""
from __future__ import annotations

import contextlib
import dataclasses
import datetime
import random
import re
import threading
import time
from typing import Callable, Generator, Optional

from .connection import Connection
from .errors import Ended, call_failed, invalid
from .names import checked_id
from .series import time_of
from .transport import Json, RpcError

_KINDS = {"budget": "budget", "session": "session", "attempt": "attempt", "charge": "charge", "lease": "lease",
          "refusedSession": "refused_session"}


@dataclasses.dataclass(frozen=True)
class Change:
    """One entry of the ledger."""

    #: Its position in the root budget's ledger.
    sequence: int
    time: Optional[datetime.datetime]
    #: "budget", "session", "attempt", "charge", "lease", "refused_session" (a plan that did not fit), or "" for one that
    #: this version does not know.
    kind: str
    #: The name of what changed: "budgets/{budget}/sessions/{session}/attempts/{attempt}/charges/{charge}", ...
    name: str
    #: The JSON of the epsledger.v1.Charge, ...; a budget or a session as it was when the server sent it.
    message: Json

    @classmethod
    def from_json(cls, message: Json) -> "Change":
        """Reads an epsledger.v1.LedgerChange."""
        field = next((field for field in _KINDS if isinstance(message.get(field), dict)), "")
        changed = message.get(field, {})
        return cls(sequence=int(message.get("sequence", 0)), time=time_of(message.get("time")), kind=_KINDS.get(field, ""),
                   name=changed.get("name", ""), message=changed)

    def __str__(self) -> str:
        decision = self.message.get("decision", "")
        return "%d: %s %s%s" % (self.sequence, self.kind or "change", self.name, ", " + decision if decision else "")


def resource_name(name: str) -> str:
    """Returns "budgets/people" for "people", and the name itself of a budget or session. InvalidArgument for others."""
    parts = name.split("/") if isinstance(name, str) else []
    if len(parts) == 1:
        parts = ["budgets", *parts]
    if len(parts) not in (2, 4) or parts[::2] != ["budgets", "sessions"][:len(parts) // 2]:
        raise invalid("name", name, "\"people\", \"budgets/people\" or \"budgets/people/sessions/first-run\"")
    for part in parts[1::2]:
        checked_id("name", part)
    return "/".join(parts)


class Ending:
    """Ends a watch from another thread, at once."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # set() may be called by the garbage collector, anywhere
        self._is_set = False
        self._end_wait: Callable[[], None] = lambda: None

    @property
    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        with self._lock:
            self._is_set = True
            end_wait = self._end_wait
        end_wait()

    def ends_by(self, end_wait: Callable[[], None]) -> None:
        """Tells what ends the present wait."""
        with self._lock:
            self._end_wait = end_wait
            if not self._is_set:
                return
        end_wait()


def watch(connection: Connection, resource: str, after: int,
          ending: Optional[Ending] = None) -> Generator[Change, None, None]:
    """Yields the changes of a budget or session after entry `after`, each once and in order, without an end.

    A stream that breaks is opened again after the last change. Raises what the server says for good, the last error
    after the time of Retry without a sign of life, and Ended after the connection was closed or `ending` was set."""
    if isinstance(after, bool) or not isinstance(after, int) or not 0 <= after < 2**63:
        raise invalid("after", after, "the sequence number of an entry, 0 or more")
    return _changes(connection, resource, after, ending or Ending())


def _sequence_of(message: Json) -> int:
    text = str(message.get("sequence", "0"))
    if not re.fullmatch("[0-9]{1,19}", text):
        raise RpcError("INTERNAL", "the sequence number of a change: got %r" % text[:80])
    return int(text)


def _changes(connection: Connection, resource: str, after: int,
             ending: Ending) -> Generator[Change, None, None]:
    def check_open() -> None:
        connection.check_open()
        if ending.is_set:
            raise Ended("the watch is closed")

    retry = connection.retry
    deadline, backoff = None, retry.initial_backoff
    while True:
        check_open()
        error = RpcError("UNAVAILABLE", "the stream of changes ended")
        try:
            stream = connection.transport.watch(resource, after, retry.call_timeout, ending.ends_by)
            with contextlib.closing(stream):
                for message in stream:
                    check_open()
                    connection.reached = True
                    deadline, backoff = None, retry.initial_backoff
                    known, after = after, max(after, _sequence_of(message))
                    if after > known and len(message.keys() - {"sequence", "time"}) > 0:
                        yield Change.from_json(message)
        except RpcError as failed:
            error = failed
        if not error.is_worth_retrying:
            raise call_failed(error.code, error.message)
        now, wait = time.monotonic(), max(random.uniform(backoff / 2, backoff), error.retry_delay)
        if deadline is None:
            patience = retry.overall_timeout
            deadline = now + (patience if connection.reached else min(patience, retry.first_contact_timeout))
        if now + wait > deadline:
            raise call_failed(error.code, error.message)
        time.sleep(wait)
        backoff = min(2 * backoff, retry.max_backoff)
