"""Shared by the callbacks of training loops: one charge before each step, and a stop after the last one that fits."""
from __future__ import annotations

from typing import Optional

from ..errors import invalid
from ..event_json import EventLike
from ..session import Session


class ChargedSteps:
    """Charges one event of a session before each step of a loop.

    1. charge() returns only after an ACCEPTED charge.
    2. has_room() is a hint for ending a loop well: False if no further step fits now, and session.exhausted is then the
       refusal that the next step would get. Others may charge in between; then charge() raises."""

    def __init__(self, session: Optional[Session], event: EventLike) -> None:
        self._session = session
        self._event = event
        self._fit = 0  # how many further steps fitted at the last question

    def charge(self, count: int = 1) -> None:
        """Charges `count` steps. Raises as Session.charge does."""
        self._the_session().charge(self._event, count=count)
        self._fit -= count

    def has_room(self, count: int = 1) -> bool:
        """Returns whether `count` further steps fit. Asks the server only when its last answer is used up."""
        if self._fit < count:
            # For more than the count in the question, the answer may be too low, and a block may hold more than
            # single steps.
            session = self._the_session()
            preview = session.preview(self._event, count=count)
            self._fit = max(preview.steps_that_fit, count if preview else 0)
            if self._fit < count and preview.refusal is not None:
                session._end_loop(preview.refusal)
        return self._fit >= count

    def _the_session(self) -> Session:
        if self._session is None:
            raise invalid("session", None, "the session, on rank 0 and wherever there are no ranks")
        return self._session
