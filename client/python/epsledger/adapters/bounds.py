"""Bounds that `Session.guarantees` does not have."""
from __future__ import annotations

import math
from typing import Any, Dict, Sequence, Tuple

from ..events import CountedEvent
from ..session import Session
from .relations import relation_of


def upper_bound(session: Session, events: Sequence[CountedEvent], query: Dict[str, Any], unknown: float, *,
                kinds: Tuple[str, ...] = ("UPPER_BOUND",)) -> float:
    """Returns the upper bound that answers `query` about `events` under the session's relation, or `unknown` where there
    is none. Charges nothing."""
    answer = session._connection.call("AccountingService/Compute", {
        "accountant": "BEST", "neighboringRelation": relation_of(session),
        "events": [counted.to_json() for counted in events], "query": query})
    upper = float(answer.get("upper", math.nan))
    return upper if answer.get("kind") in kinds and upper >= 0 else unknown
