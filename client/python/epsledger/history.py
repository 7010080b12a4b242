"""What was charged to a session, as the ledger has it."""
from __future__ import annotations

from typing import List

from .events import CountedEvent
from .session import Session


def charged_history(session: Session) -> List[CountedEvent]:
    """The accepted charges of all attempts of the session, leases in full, in the order of first use."""
    answer = session._connection.call("SessionService/GetSessionHistory", {"name": session.name})
    return [CountedEvent.from_json(counted, path="history[%d]" % i)
            for i, counted in enumerate(answer.get("history", []))]
