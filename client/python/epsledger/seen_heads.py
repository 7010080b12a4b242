"""The newest ledger entry that this client has seen in each session."""
from __future__ import annotations

import threading
from typing import Dict

from .process import SurvivesFork
from .transport import Json


class SeenHeads(SurvivesFork):
    """A server that is behind such an entry has lost charges. When it is sent the entry with its tag, it answers
    DATA_LOSS and does not charge twice into the same room. Thread-safe."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._heads: Dict[str, Json] = {}

    def _after_fork(self) -> None:
        self._lock = threading.Lock()

    def remember(self, session: str, answer: Json) -> None:
        """Remembers the entry of an answer, unless a newer one was seen or the answer has no sequence number or
        hash."""
        sequence, entry_hash = int(answer.get("sequence", 0)), answer.get("hash", "")
        if sequence < 1 or not entry_hash:
            return
        # Any budget of a ledger names it.
        head = {"rootBudget": session.split("/sessions/")[0], "sequence": str(sequence), "hash": entry_hash}
        if answer.get("headTag"):  # the server recognizes the entry by it; release 0.1 gives none
            head["tag"] = answer["headTag"]
        with self._lock:
            if int(self._heads.get(session, {}).get("sequence", 0)) < sequence:
                self._heads[session] = head

    def add_to(self, request: Json, session: str) -> None:
        """Sets request["lastSeenHead"], if anything was seen."""
        with self._lock:
            if session in self._heads:
                request["lastSeenHead"] = self._heads[session]
