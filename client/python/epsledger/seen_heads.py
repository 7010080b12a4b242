"""The newest ledger entry that this client has seen in each session."""
from __future__ import annotations

import base64
import threading
from typing import Dict, Optional, Tuple

from .process import SurvivesFork
from .transport import Json

_HASH_BYTES = 32


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
        sequence, entry_hash = _entry(answer)
        if not entry_hash:
            return
        # Any budget of a ledger names it.
        head = {"rootBudget": session.split("/sessions/")[0], "sequence": str(sequence), "hash": entry_hash}
        if answer.get("headTag"):  # the server recognizes the entry by it; release 0.1 gives none
            head["tag"] = answer["headTag"]
        with self._lock:
            if int(self._heads.get(session, {}).get("sequence", 0)) < sequence:
                self._heads[session] = head

    def contradiction(self, session: str, answer: Json, sent: Optional[Json]) -> Optional[str]:
        """Returns how the entry of an answer contradicts what was seen; None if it does not, or has no hash.

        A fork: it has the sequence number of the newest entry, and another hash. The ledger went back: it is not after
        `sent`, the head that a new key, or an attempt, was sent with; an older key may have an older entry (None)."""
        sequence, entry_hash = _entry(answer)
        if not entry_hash:
            return None
        with self._lock:
            seen = self._heads.get(session)
        if seen is not None and int(seen["sequence"]) == sequence and seen["hash"] != entry_hash:
            return ("a fork of the ledger: entry %d has the hash %s here, and had %s before; have the operator compare the "
                    "server with its backups" % (sequence, entry_hash, seen["hash"]))
        if sent is not None and sequence <= int(sent["sequence"]):
            return ("the ledger went back: the new entry has number %d, after entry %s was seen; have the operator compare "
                    "the server with its backups" % (sequence, sent["sequence"]))
        return None

    def add_to(self, request: Json, session: str) -> None:
        """Sets request["lastSeenHead"], if anything was seen."""
        with self._lock:
            if session in self._heads:
                request["lastSeenHead"] = self._heads[session]


def _entry(answer: Json) -> Tuple[int, str]:
    """Returns the sequence number and the hash of an answer; the hash is "" if one of them is none."""
    sequence, entry_hash = int(answer.get("sequence", 0)), str(answer.get("hash", ""))
    try:
        is_hash = sequence >= 1 and len(base64.b64decode(entry_hash, validate=True)) == _HASH_BYTES
    except ValueError:
        is_hash = False
    return sequence, entry_hash if is_hash else ""
