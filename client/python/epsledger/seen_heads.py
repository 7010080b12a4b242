"""The newest entry of the ledger that each session was told of."""
from __future__ import annotations

import threading
from typing import Dict

from .process import SurvivesFork
from .transport import Json


class SeenHeads(SurvivesFork):
    """A server that is behind one has lost charges: told of it, with the tag that it was given out with, it answers
    DATA_LOSS and does not charge twice into the same room. Thread-safe."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._heads: Dict[str, Json] = {}

    def _after_fork(self) -> None:
        self._lock = threading.Lock()

    def remember(self, session: str, answer: Json) -> None:
        """Of an answer with a sequence number and a hash; forgotten if a newer one was seen or it has none."""
        sequence, entry_hash = int(answer.get("sequence", 0)), answer.get("hash", "")
        if sequence < 1 or not entry_hash:
            return
        # Any budget of a ledger names it.
        head = {"rootBudget": session.split("/sessions/")[0], "sequence": str(sequence), "hash": entry_hash}
        if answer.get("headTag"):  # by which the server knows it again; one of release 0.1 has none
            head["tag"] = answer["headTag"]
        with self._lock:
            if int(self._heads.get(session, {}).get("sequence", 0)) < sequence:
                self._heads[session] = head

    def add_to(self, request: Json, session: str) -> None:
        """Sets request["lastSeenHead"], if anything was seen."""
        with self._lock:
            if session in self._heads:
                request["lastSeenHead"] = self._heads[session]
