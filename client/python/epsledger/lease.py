"""Steps charged up front and handed out without asking."""
from __future__ import annotations

import threading
import warnings
from types import TracebackType
from typing import Optional, Type

from .connection import Connection
from .errors import Ended, EpsledgerError, UsedUp, call_failed
from .permit import Permit
from .process import OwnedByProcess
from .transport import Json


class Lease(OwnedByProcess):
    """A block of steps that the ledger durably ACCEPTED as one charge, to be spent without asking the server.

    1. Only Session.lease makes one, from an answer that grants exactly the key, event and count that was asked for. It
       hands out at most that many steps, from however many threads.
    2. Everything was charged when it was acquired. Settling records how much was used and returns nothing to any
       budget: granted = used + wasted. A lost lease counts as spent in full.
    3. After the first settle() it hands out no steps. Leaving a `with` block settles it.

    Thread-safe. A forked child is refused with WrongProcess."""

    def __init__(self, *, connection: Connection, charge: str, answer: Json, event: Json) -> None:
        super().__init__()
        self._connection = connection
        self._charge = charge
        self._sequence = int(answer["sequence"])
        self._lock = threading.Lock()
        self._used = 0
        self._ended = False
        self._settled = False
        #: "budgets/{budget}/sessions/{session}/attempts/{attempt}/leases/{lease}".
        self.name: str = answer["name"]
        #: What was charged, as JSON.
        self.event = event
        self.granted_count = int(answer["grantedCount"])

    @property
    def used_count(self) -> int:
        """Steps handed out."""
        return self._used

    @property
    def steps_left(self) -> int:
        """Steps that step() will still hand out."""
        return 0 if self._ended else self.granted_count - self._used

    def step(self) -> Permit:
        """Returns the permit for one more step, without asking the server: `with lease.step(): ...`.

        UsedUp if all steps are taken, Ended after settle(): the block does not run."""
        self._check_process()
        with self._lock:
            if self._ended:
                raise Ended("%s is settled: acquire another lease" % self.name)
            if self._used >= self.granted_count:
                raise UsedUp("all %d steps of %s are taken: acquire another lease" % (self.granted_count, self.name))
            self._used += 1
        return Permit(charge=self._charge, sequence=self._sequence, event=self.event, count=1)

    def settle(self) -> None:
        """Ends the lease and reports to the ledger how many steps were taken, until the ledger confirms it or the tries
        are used up. Calling again continues to try, and does nothing after a success."""
        self._check_process()
        with self._lock:
            self._ended = True
            if self._settled:
                return
            used = self._used
        answer = self._connection.call("ChargeService/SettleLease", {"name": self.name, "usedCount": str(used)})
        if (answer.get("name") != self.name or not answer.get("settled", False)
                or int(answer.get("usedCount", 0)) != used):
            raise call_failed("INTERNAL", "the server's answer is not one to settling %s: %r" % (self.name, answer))
        self._settled = True

    def __enter__(self) -> "Lease":
        self._check_process()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if not self._is_of_this_process():
            return  # a child that leaves its copy of the block: the parent settles
        try:
            self.settle()
        except EpsledgerError as failure:
            if error is None:
                raise
            warnings.warn("%s is not settled, and so spent in full: %s" % (self.name, failure), stacklevel=2)

    def __repr__(self) -> str:
        return "<lease of %d steps, %d used, %s: %s>" % (
            self.granted_count, self._used,
            "settled" if self._settled else "ended" if self._ended else "%d left" % self.steps_left, self.name)
