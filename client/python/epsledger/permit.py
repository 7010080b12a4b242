"""The proof of an accepted charge."""
from __future__ import annotations

import threading
from types import TracebackType
from typing import Optional, Type

from .errors import UsedUp
from .process import OwnedByProcess
from .transport import Json


class Permit(OwnedByProcess):
    """The proof that the ledger durably ACCEPTED one charge; `with permit:` is one of its uses.

    1. Only a session or a lease makes one, from an answer that accepts exactly the key, event and count that was asked
       for.
    2. A charge of count n allows n `with` blocks; one more raises UsedUp before the block.
    3. Dropping a permit returns nothing: what is charged stays charged.

    Thread-safe. A forked child is refused with WrongProcess."""

    def __init__(self, *, charge: str, sequence: int, event: Json, count: int) -> None:
        super().__init__()
        #: "budgets/{budget}/sessions/{session}/attempts/{attempt}/charges/{charge}".
        self.charge = charge
        #: The charge's position in the root budget's ledger.
        self.sequence = sequence
        #: What was charged, as JSON.
        self.event = event
        self.count = count
        self._uses_left = count
        self._lock = threading.Lock()

    @property
    def uses_left(self) -> int:
        """Uses that were charged and have not begun."""
        return self._uses_left

    def __enter__(self) -> "Permit":
        self._check_process()
        with self._lock:
            if self._uses_left < 1:
                raise UsedUp("the %s of %s: charge again before the next release"
                             % ("use" if self.count == 1 else "%d uses" % self.count, self.charge))
            self._uses_left -= 1
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        """What was released stays charged, whatever happened in the block."""

    def __repr__(self) -> str:
        return "<permit for %d of %d uses of %s, entry %d of the ledger>" % (
            self._uses_left, self.count, self.charge, self.sequence)
